/* bytes.h -- an HDF5 file as bytes: opening, reading at addresses, numbers of the format.
 *
 * Files are read here without the HDF5 library, which trusts what it reads (a damaged file ends it in a
 * crash, and a link or a plugin takes it elsewhere).  What is read is bounded: an address lies
 * inside the file, and a walk over the structure of a file (fit_h5_walk) reads no more than a few
 * times its size, however its parts refer to one another.
 *
 * Format: HDF5 File Format Specification 3.0; the sections are named where they are used.
 */
#pragma once

#include "base/notes.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

#define FIT_H5_NOWHERE UINT64_MAX /* the undefined address */

struct fit_h5_bytes {
    char *name;
    int fd, users;
    int starved; /* memory ran out where that could not be told (fit_h5_starved) */
    int alone;   /* no other file is opened, libhdf5 is not asked */
    struct fit_h5_bytes *first;        /* the file whose links led here; itself, when it was opened by name */
    struct fit_h5_bytes *linked, *next; /* files to which links led, of the first */
    int told;                          /* of a linked file: there is a note on it */
    struct fit_notes notes;            /* of the first */
    struct fit_h5_groups *groups;      /* links of the groups that were asked last (groups.c), or NULL */
    struct fit_h5_library *asked;      /* datasets that libhdf5 reads (library.h), of the first */
    uint64_t base;            /* place of the superblock: addresses count from there */
    uint64_t size;            /* bytes from there to the end */
    unsigned wide, wide_size; /* bytes of an address, of a size */
    uint64_t root, extension; /* headers of the root group and of what the superblock has no room for */
    uint64_t shared;          /* table of shared messages (shared.c), or FIT_H5_NOWHERE */
    unsigned shared_lists;    /* entries of it */
    uint64_t left;            /* bytes that the walk may still read */
    struct {
        uint64_t device, node;
        int64_t size, seconds, nanoseconds;
    } seen; /* when it was opened */
};

/* 1 when the file begins like an HDF5 file (it may still be damaged). */
int fit_h5_bytes_is(const char *file);

/* FIT_ERR_IO when it is not there, not HDF5, not complete or being written. */
enum fit_status fit_h5_bytes_open(const char *file, struct fit_h5_bytes **f, struct fit_error *err);

void fit_h5_groups_free(struct fit_h5_groups *groups);

/* One more user; close for each. */
struct fit_h5_bytes *fit_h5_bytes_keep(struct fit_h5_bytes *f);
void fit_h5_bytes_close(struct fit_h5_bytes *f);

/* FIT_ERR_DATA when the name no longer leads to the file that was opened, as it was. */
enum fit_status fit_h5_bytes_check(const struct fit_h5_bytes *f, struct fit_error *err);

/* n bytes at an address; from any thread.  what: for the message ("/c2"). */
enum fit_status fit_h5_get(const struct fit_h5_bytes *f, const char *what, uint64_t address,
                           size_t n, void *to, struct fit_error *err);

/* A walk begins: fit_h5_block counts what it reads from here on. */
void fit_h5_walk(struct fit_h5_bytes *f);

/* n bytes of the structure of the file, for the caller to free. */
enum fit_status fit_h5_block(struct fit_h5_bytes *f, const char *what, uint64_t address, uint64_t n,
                             unsigned char **block, struct fit_error *err);

/* The message that `what` (a B-tree) at an address is not what it should be. */
enum fit_status fit_h5_damaged(const struct fit_h5_bytes *f, const char *what, uint64_t address,
                               struct fit_error *err);
enum fit_status fit_h5_broken(const struct fit_h5_bytes *f, struct fit_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* FIT_ERR_UNSUPPORTED: a sound file may hold this, but it is not understood.  The message is only what it is ("virtual
 * dataset"), without the file. */
enum fit_status fit_h5_refuse(struct fit_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The whole message of that, for those who asked for a path; another status passes. */
enum fit_status fit_h5_refused(const struct fit_h5_bytes *f, const char *path, enum fit_status st,
                               struct fit_error *err);

/* 1 when the last 4 of n bytes are the checksum of those before them. */
int fit_h5_sum_is_right(const unsigned char *block, size_t n);

/* Bytes to be taken one after the other.  What would reach beyond the end is 0 and sets bad. */
struct fit_h5_cursor {
    const unsigned char *at, *end;
    int bad;
};

static inline struct fit_h5_cursor fit_h5_cursor(const unsigned char *at, size_t n)
{
    return (struct fit_h5_cursor){at, at + n, 0};
}

static inline size_t fit_h5_left(const struct fit_h5_cursor *c)
{
    return (size_t)(c->end - c->at);
}

static inline const unsigned char *fit_h5_skip(struct fit_h5_cursor *c, uint64_t n)
{
    const unsigned char *p = c->at;
    if (n > fit_h5_left(c)) {
        c->bad = 1;
        c->at = c->end;
        return NULL;
    }
    c->at += n;
    return p;
}

/* A number of n <= 8 bytes, the lowest first. */
static inline uint64_t fit_h5_take(struct fit_h5_cursor *c, unsigned n)
{
    const unsigned char *p = fit_h5_skip(c, n);
    uint64_t v = 0;
    for (unsigned k = n; p && k--;)
        v = v << 8 | p[k];
    return v;
}

/* An address; all bits set, in whatever width, is FIT_H5_NOWHERE. */
static inline uint64_t fit_h5_take_address(const struct fit_h5_bytes *f, struct fit_h5_cursor *c)
{
    uint64_t v = fit_h5_take(c, f->wide);
    return f->wide < 8 && v == (UINT64_C(1) << 8 * f->wide) - 1 ? FIT_H5_NOWHERE : v;
}

static inline uint64_t fit_h5_take_size(const struct fit_h5_bytes *f, struct fit_h5_cursor *c)
{
    return fit_h5_take(c, f->wide_size);
}

/* 1 when the next bytes are those of the signature; they are taken. */
int fit_h5_signed(struct fit_h5_cursor *c, const char *signature);

/* floor(log2(v)), 0 for v = 0. */
static inline unsigned fit_h5_log2(uint64_t v)
{
    unsigned n = 0;
    while (v >>= 1)
        n++;
    return n;
}
