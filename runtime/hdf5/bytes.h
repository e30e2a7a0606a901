/* bytes.h -- an HDF5 file as bytes: opening, reading at addresses, numbers of the format.
 *
 * Files are read here without the HDF5 library, which trusts its input (a damaged file crashes it, and a link or a
 * plugin redirects it). All reading is bounded: an address lies inside the file, and a walk over the structure of a
 * file (fit_h5_walk) reads at most a few times its size, however its parts refer to one another.
 *
 * Format: HDF5 File Format Specification 3.0; sections are cited where they are used.
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
    int starved; /* memory ran out where the call could not report it (fit_h5_starved) */
    int alone;   /* no other file is opened, and libhdf5 is not used */
    struct fit_h5_bytes *first;        /* the file whose links led here; itself, when it was opened by name */
    struct fit_h5_bytes *linked, *next; /* linked files, kept by the first file */
    int told;                          /* of a linked file: a note names it */
    struct fit_notes notes;            /* of the first */
    struct fit_h5_groups *groups;      /* links of recently queried groups (groups.c), or NULL */
    struct fit_h5_library *asked;      /* datasets that libhdf5 reads (library.h), kept by the first file */
    uint64_t base;            /* position of the superblock: addresses count from there */
    uint64_t size;            /* bytes from there to the end */
    unsigned wide, wide_size; /* bytes of an address, of a size */
    uint64_t root, extension; /* headers of the root group and of the superblock extension */
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

/* FIT_ERR_IO when it is missing, not HDF5, incomplete or being written. */
enum fit_status fit_h5_bytes_open(const char *file, struct fit_h5_bytes **f, struct fit_error *err);

void fit_h5_groups_free(struct fit_h5_groups *groups);

/* One more user; close for each. */
struct fit_h5_bytes *fit_h5_bytes_keep(struct fit_h5_bytes *f);
void fit_h5_bytes_close(struct fit_h5_bytes *f);

/* FIT_ERR_DATA when the name no longer refers to the opened file, unchanged. */
enum fit_status fit_h5_bytes_check(const struct fit_h5_bytes *f, struct fit_error *err);

/* n bytes at an address; from any thread.  what: for the message ("/c2"). */
enum fit_status fit_h5_get(const struct fit_h5_bytes *f, const char *what, uint64_t address,
                           size_t n, void *to, struct fit_error *err);

/* Begins a walk: fit_h5_block counts the bytes it reads from here on. */
void fit_h5_walk(struct fit_h5_bytes *f);

/* n bytes of the structure of the file, for the caller to free. */
enum fit_status fit_h5_block(struct fit_h5_bytes *f, const char *what, uint64_t address, uint64_t n,
                             unsigned char **block, struct fit_error *err);

/* The message that `what` (a B-tree) at an address is invalid. */
enum fit_status fit_h5_damaged(const struct fit_h5_bytes *f, const char *what, uint64_t address,
                               struct fit_error *err);
enum fit_status fit_h5_broken(const struct fit_h5_bytes *f, struct fit_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* FIT_ERR_UNSUPPORTED: a valid file may contain this, but it is not supported. The message is only its name
 * ("virtual dataset"), without the file. */
enum fit_status fit_h5_refuse(struct fit_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Completes that message for a query by path; passes on any other status. */
enum fit_status fit_h5_refused(const struct fit_h5_bytes *f, const char *path, enum fit_status st,
                               struct fit_error *err);

/* 1 when the last 4 of n bytes are the checksum of those before them. */
int fit_h5_sum_is_right(const unsigned char *block, size_t n);

/* Bytes to be read in sequence. Reads beyond the end give 0 and set bad. */
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

/* A number of n <= 8 bytes, little-endian. */
static inline uint64_t fit_h5_take(struct fit_h5_cursor *c, unsigned n)
{
    const unsigned char *p = fit_h5_skip(c, n);
    uint64_t v = 0;
    for (unsigned k = n; p && k--;)
        v = v << 8 | p[k];
    return v;
}

/* An address; all bits set, in any width, is FIT_H5_NOWHERE. */
static inline uint64_t fit_h5_take_address(const struct fit_h5_bytes *f, struct fit_h5_cursor *c)
{
    uint64_t v = fit_h5_take(c, f->wide);
    return f->wide < 8 && v == (UINT64_C(1) << 8 * f->wide) - 1 ? FIT_H5_NOWHERE : v;
}

static inline uint64_t fit_h5_take_size(const struct fit_h5_bytes *f, struct fit_h5_cursor *c)
{
    return fit_h5_take(c, f->wide_size);
}

/* 1 when the next bytes are those of the signature, which are then consumed. */
int fit_h5_signed(struct fit_h5_cursor *c, const char *signature);

/* floor(log2(v)), 0 for v = 0. */
static inline unsigned fit_h5_log2(uint64_t v)
{
    unsigned n = 0;
    while (v >>= 1)
        n++;
    return n;
}
