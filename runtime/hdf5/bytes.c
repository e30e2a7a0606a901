/* bytes.c -- an HDF5 file as bytes.  See bytes.h.
 *
 * Superblock: specification II.A; checksums: lookup3 (Jenkins 2006, "hashlittle"), as everywhere in
 * the newer structures of the format.
 */
#define _DEFAULT_SOURCE /* pread, nanoseconds of struct stat */
#include "hdf5/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WALK_LEAST ((uint64_t)1 << 20)
#define WALK_TIMES 8 /* links, types and spaces are read again for every query about a dataset */
#define BLOCK_MOST ((uint64_t)1 << 28)
enum { SUPERBLOCK = 100 /* bytes of the longest */ };

static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Reads n bytes of the file; fewer at its end, or on an error in errno. */
static size_t read_at(int fd, uint64_t at, size_t n, void *to)
{
    unsigned char *p = to;
    size_t done = 0;
    errno = 0;
    while (done < n) {
        ssize_t got = pread(fd, p + done, n - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

enum fit_status fit_h5_bytes_check(const struct fit_h5_bytes *f, struct fit_error *err)
{
    struct stat now;
    if (stat(f->name, &now) != 0)
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: has disappeared; a file must stay as it is while a fit reads from it",
                        f->name);
    if (now.st_ino == f->seen.node && now.st_dev == f->seen.device && now.st_size == f->seen.size &&
        now.st_mtim.tv_sec == f->seen.seconds && now.st_mtim.tv_nsec == f->seen.nanoseconds)
        return FIT_OK;
    return fit_fail(err, FIT_ERR_DATA,
                    "%s: was changed while the fit read from it (%lld bytes at the beginning, %lld "
                    "now); it must stay as it is until the fit is over",
                    f->name, (long long)f->seen.size, (long long)now.st_size);
}

enum fit_status fit_h5_broken(const struct fit_h5_bytes *f, struct fit_error *err, const char *format, ...)
{
    char what[512];
    va_list ap;
    va_start(ap, format);
    vsnprintf(what, sizeof what, format, ap);
    va_end(ap);
    enum fit_status st = fit_h5_bytes_check(f, err);
    return st != FIT_OK ? st : fit_fail(err, FIT_ERR_DATA, "%s: %s; the file may be truncated", f->name, what);
}

enum fit_status fit_h5_damaged(const struct fit_h5_bytes *f, const char *what, uint64_t address,
                               struct fit_error *err)
{
    return fit_h5_broken(f, err, "%s at byte %llu cannot be read: it is damaged", what, (unsigned long long)address);
}

enum fit_status fit_h5_refuse(struct fit_error *err, const char *format, ...)
{
    char what[160];
    va_list ap;
    va_start(ap, format);
    vsnprintf(what, sizeof what, format, ap);
    va_end(ap);
    return fit_fail(err, FIT_ERR_UNSUPPORTED, "%s", what);
}

enum fit_status fit_h5_refused(const struct fit_h5_bytes *f, const char *path, enum fit_status st,
                               struct fit_error *err)
{
    struct fit_error what = err ? *err : (struct fit_error){.status = st};
    return st != FIT_ERR_UNSUPPORTED
               ? st
               : fit_fail(err, st, "%s: %s cannot be read: %.200s", f->name, path, what.message);
}

enum fit_status fit_h5_get(const struct fit_h5_bytes *f, const char *what, uint64_t address,
                           size_t n, void *to, struct fit_error *err)
{
    if (address > f->size || n > f->size - address)
        return fit_h5_damaged(f, what, address, err);
    if (read_at(f->fd, f->base + address, n, to) == n)
        return FIT_OK;
    int why = errno;
    enum fit_status st = fit_h5_bytes_check(f, err);
    return st != FIT_OK ? st
                        : fit_fail(err, why ? FIT_ERR_IO : FIT_ERR_DATA,
                                   "%s: %s cannot be read (%s); the file may be truncated", f->name,
                                   what, why ? strerror(why) : "end of the file");
}

void fit_h5_walk(struct fit_h5_bytes *f)
{
    f->left = f->size > UINT64_MAX / (2 * WALK_TIMES) ? UINT64_MAX
                                                      : WALK_LEAST + WALK_TIMES * f->size;
}

enum fit_status fit_h5_block(struct fit_h5_bytes *f, const char *what, uint64_t address, uint64_t n,
                             unsigned char **block, struct fit_error *err)
{
    *block = NULL;
    if (address > f->size || n > f->size - address || n > BLOCK_MOST || n > f->left)
        return fit_h5_damaged(f, what, address, err);
    f->left -= n;
    unsigned char *p = malloc(n ? n : 1);
    if (!p)
        return fit_no_memory(err, f->name);
    enum fit_status st = fit_h5_get(f, what, address, n, p, err);
    if (st == FIT_OK)
        *block = p;
    else
        free(p);
    return st;
}

int fit_h5_signed(struct fit_h5_cursor *c, const char *name)
{
    const unsigned char *p = fit_h5_skip(c, 4);
    return p && memcmp(p, name, 4) == 0;
}

/* ---- checksums ------------------------------------------------------------------------------- */

static uint32_t turn(uint32_t x, int k)
{
    return x << k | x >> (32 - k);
}

static uint32_t word(const unsigned char *p, size_t n)
{
    uint32_t v = 0;
    for (size_t k = n < 4 ? n : 4; k--;)
        v = v << 8 | p[k];
    return v;
}

static uint32_t lookup3(const unsigned char *p, size_t n)
{
    uint32_t a = 0xdeadbeef + (uint32_t)n, b = a, c = a;
    for (; n > 12; n -= 12, p += 12) {
        a += word(p, 4), b += word(p + 4, 4), c += word(p + 8, 4);
        a -= c, a ^= turn(c, 4), c += b;
        b -= a, b ^= turn(a, 6), a += c;
        c -= b, c ^= turn(b, 8), b += a;
        a -= c, a ^= turn(c, 16), c += b;
        b -= a, b ^= turn(a, 19), a += c;
        c -= b, c ^= turn(b, 4), b += a;
    }
    if (!n)
        return c;
    a += word(p, n);
    b += n > 4 ? word(p + 4, n - 4) : 0;
    c += n > 8 ? word(p + 8, n - 8) : 0;
    c ^= b, c -= turn(b, 14);
    a ^= c, a -= turn(c, 11);
    b ^= a, b -= turn(a, 25);
    c ^= b, c -= turn(b, 16);
    a ^= c, a -= turn(c, 4);
    b ^= a, b -= turn(a, 14);
    c ^= b, c -= turn(b, 24);
    return c;
}

int fit_h5_sum_is_right(const unsigned char *block, size_t n)
{
#ifdef FIT_FUZZ /* a fuzzer does not find checksums */
    (void)lookup3(block, n >= 4 ? n - 4 : 0);
    return n >= 4;
#else
    return n >= 4 && lookup3(block, n - 4) == word(block + n - 4, 4);
#endif
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The superblock is at byte 0, 512, 1024, 2048, ...; -1: nowhere. */
static int64_t find_superblock(int fd, uint64_t size)
{
    unsigned char seen[8];
    for (uint64_t at = 0; at < size; at = at ? 2 * at : 512)
        if (read_at(fd, at, sizeof seen, seen) == sizeof seen && !memcmp(seen, signature, 8))
            return (int64_t)at;
    return -1;
}

/* Opens a regular file; never waits for the other end of a pipe. */
static int open_regular(const char *file, struct stat *seen)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && (fstat(fd, seen) != 0 || !S_ISREG(seen->st_mode))) {
        int why = S_ISDIR(seen->st_mode) ? EISDIR : EINVAL;
        close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

int fit_h5_bytes_is(const char *file)
{
    struct stat seen = {0};
    int fd = open_regular(file, &seen);
    if (fd < 0)
        return 0;
    int yes = find_superblock(fd, (uint64_t)seen.st_size) >= 0;
    close(fd);
    return yes;
}

/* What the superblock tells. */
struct told {
    unsigned version, flags;
    uint64_t base, end, root, extension;
};

static void read_old(struct fit_h5_bytes *f, struct fit_h5_cursor *c, struct told *t)
{
    fit_h5_skip(c, 4);
    f->wide = (unsigned)fit_h5_take(c, 1);
    f->wide_size = (unsigned)fit_h5_take(c, 1);
    fit_h5_skip(c, t->version == 1 ? 13 : 9);
    if (f->wide > 8 || f->wide_size > 8) {
        c->bad = 1;
        return;
    }
    t->base = fit_h5_take_address(f, c);
    fit_h5_take_address(f, c);
    t->end = fit_h5_take_address(f, c);
    fit_h5_take_address(f, c);
    fit_h5_take_size(f, c); /* name of the root group: this width in files, that of an address by III.C */
    t->root = fit_h5_take_address(f, c);
}

static void read_new(struct fit_h5_bytes *f, struct fit_h5_cursor *c, struct told *t)
{
    const unsigned char *begin = c->at - 9;
    f->wide = (unsigned)fit_h5_take(c, 1);
    f->wide_size = (unsigned)fit_h5_take(c, 1);
    t->flags = (unsigned)fit_h5_take(c, 1);
    if (f->wide > 8 || f->wide_size > 8) {
        c->bad = 1;
        return;
    }
    t->base = fit_h5_take_address(f, c);
    t->extension = fit_h5_take_address(f, c);
    t->end = fit_h5_take_address(f, c);
    t->root = fit_h5_take_address(f, c);
    fit_h5_skip(c, 4);
    if (!c->bad && !fit_h5_sum_is_right(begin, (size_t)(c->at - begin)))
        c->bad = 1;
}

static enum fit_status read_superblock(struct fit_h5_bytes *f, struct fit_error *err)
{
    enum { WRITTEN_TO = 1 | 4 };
    unsigned char block[SUPERBLOCK];
    size_t n = read_at(f->fd, f->base, sizeof block, block);
    struct fit_h5_cursor c = fit_h5_cursor(block, n);
    struct told t = {.extension = FIT_H5_NOWHERE};
    fit_h5_skip(&c, 8);
    t.version = (unsigned)fit_h5_take(&c, 1);
    if (t.version > 3)
        return fit_h5_refuse(err, "superblock of version %u; 0 to 3 are known", t.version);
    if (t.version < 2)
        read_old(f, &c, &t);
    else
        read_new(f, &c, &t);
    if (c.bad || f->wide < 2 || f->wide_size < 2 || t.end < t.base)
        return fit_fail(err, FIT_ERR_IO,
                        "%s: cannot be opened as HDF5 (damaged superblock); is the file complete?",
                        f->name);
    if (t.end - t.base > f->size)
        return fit_fail(err, FIT_ERR_IO,
                        "%s: cannot be opened as HDF5 (truncated: %llu bytes of %llu); is the file "
                        "complete?",
                        f->name, (unsigned long long)(f->base + f->size),
                        (unsigned long long)(f->base + t.end - t.base));
    if (t.version == 3 && t.flags & WRITTEN_TO)
        return fit_fail(err, FIT_ERR_IO,
                        "%s: cannot be opened as HDF5 (a program writes to it, or ended before it "
                        "was closed; h5clear -s mends that); is the file complete?",
                        f->name);
    f->root = t.root;
    f->extension = t.extension;
    return FIT_OK;
}

static void note_stamp(struct fit_h5_bytes *f, const struct stat *s)
{
    f->seen.device = s->st_dev;
    f->seen.node = s->st_ino;
    f->seen.size = s->st_size;
    f->seen.seconds = s->st_mtim.tv_sec;
    f->seen.nanoseconds = s->st_mtim.tv_nsec;
}

enum fit_status fit_h5_bytes_open(const char *file, struct fit_h5_bytes **out,
                                  struct fit_error *err)
{
    struct fit_h5_bytes *f = calloc(1, sizeof *f);
    struct stat seen = {0};
    enum fit_status st = FIT_OK;
    *out = NULL;
    if (!f || !(f->name = strdup(file))) {
        free(f);
        return fit_no_memory(err, file);
    }
    f->users = 1;
    f->shared = FIT_H5_NOWHERE;
    f->first = f;
    f->fd = open_regular(file, &seen);
    int64_t at = f->fd >= 0 ? find_superblock(f->fd, (uint64_t)seen.st_size) : -1;
    if (f->fd < 0) {
        st = fit_fail(err, FIT_ERR_IO, "%s: cannot be opened (%s)", file,
                      errno == EINVAL ? "it is no regular file" : strerror(errno));
    } else if (at < 0) {
        st = fit_fail(err, FIT_ERR_IO,
                      "%s: cannot be opened as HDF5 (no signature); is the file complete?", file);
    } else {
        note_stamp(f, &seen);
        f->base = (uint64_t)at;
        f->size = (uint64_t)seen.st_size - f->base;
        st = read_superblock(f, err);
    }
    if (st == FIT_OK)
        *out = f;
    else
        fit_h5_bytes_close(f);
    return st;
}

struct fit_h5_bytes *fit_h5_bytes_keep(struct fit_h5_bytes *f)
{
    f->users++;
    return f;
}

void fit_h5_bytes_close(struct fit_h5_bytes *f)
{
    if (!f || --f->users)
        return;
    while (f->linked) {
        struct fit_h5_bytes *l = f->linked;
        f->linked = l->next;
        l->first = l; /* a set of datasets may still read from it */
        fit_h5_bytes_close(l);
    }
    fit_h5_groups_free(f->groups);
    fit_notes_free(&f->notes);
    if (f->fd >= 0)
        close(f->fd);
    free(f->name);
    free(f);
}
