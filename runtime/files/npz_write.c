/* npz_write.c -- NPY 1.0 inside a stored ZIP (PKWARE APPNOTE 6.3, sections 4.3.7, 4.3.12, 4.3.16);
 * see npz_write.h. */
#include "files/npz_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { LOCAL = 30, CENTRAL = 46, END = 22, HEAD = 256 };

static void fail(struct fit_npz_writer *w, const char *what)
{
    if (w->error.status == FIT_OK)
        fit_fail(&w->error, FIT_ERR_IO, "%s: %s", w->path, what);
}

void fit_npz_create(struct fit_npz_writer *w, const char *path)
{
    *w = (struct fit_npz_writer){.path = path, .f = fopen(path, "wb")};
    if (!w->f)
        fail(w, strerror(errno));
}

static void put(struct fit_npz_writer *w, const void *bytes, size_t n)
{
    if (w->error.status == FIT_OK && fwrite(bytes, 1, n, w->f) != n)
        fail(w, strerror(errno));
}

/* Writes little-endian numbers of two or four bytes at an address. */
static void set(unsigned char *at, int bytes, uint32_t value)
{
    for (int b = 0; b < bytes; b++)
        at[b] = (unsigned char)(value >> (8 * b));
}

/* The fields that local headers and directory entries share, from "version needed" on. */
static void set_common(unsigned char *at, const struct fit_npz_member *m)
{
    set(at, 2, 20);
    set(at + 8, 2, 0x21); /* 1980-01-01: the same content gives the same bytes */
    set(at + 10, 4, m->crc);
    set(at + 14, 4, m->size);
    set(at + 18, 4, m->size);
    set(at + 22, 2, (uint32_t)strlen(m->name));
}

static void put_member(struct fit_npz_writer *w, const char *name, const char *descr,
                       const char *shape, const void *data, size_t size)
{
    unsigned char local[LOCAL] = {'P', 'K', 3, 4};
    char head[HEAD];
    if (w->error.status != FIT_OK)
        return;
    long offset = ftell(w->f);
    if (w->n == FIT_NPZ_MEMBERS || offset < 0 || size > UINT32_MAX / 2 || offset > INT32_MAX) {
        fail(w, "too large for an npz file");
        return;
    }
    struct fit_npz_member *m = &w->member[w->n++];
    memset(head, ' ', sizeof head);
    memcpy(head, "\x93NUMPY\x01", 7);
    head[7] = 0;
    int n = snprintf(head + 10, sizeof head - 10,
                     "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape);
    size_t total = ((size_t)(10 + n + 1) + 63) / 64 * 64;
    head[10 + n] = ' ';
    head[total - 1] = '\n';
    set((unsigned char *)head + 8, 2, (uint32_t)(total - 10));
    snprintf(m->name, sizeof m->name, "%.50s.npy", name);
    m->offset = (uint32_t)offset;
    m->size = (uint32_t)(total + size);
    uLong crc = crc32(0, (const Bytef *)head, (uInt)total);
    m->crc = (uint32_t)(size ? crc32(crc, data, (uInt)size) : crc);
    set_common(local + 4, m);
    put(w, local, LOCAL);
    put(w, m->name, strlen(m->name));
    put(w, head, total);
    put(w, data, size);
}

void fit_npz_put(struct fit_npz_writer *w, const char *name, int rank, const size_t *dims,
                 const double *value)
{
    char shape[128] = "";
    size_t n = 1, at = 0;
    for (int k = 0; k < rank; k++) {
        at += (size_t)snprintf(shape + at, sizeof shape - at, "%zu,", dims[k]);
        n *= dims[k];
    }
    put_member(w, name, "<f8", shape, value, n * sizeof *value);
}

void fit_npz_put_names(struct fit_npz_writer *w, const char *name, size_t n,
                       const char *const *text)
{
    size_t longest = 1;
    char descr[32], shape[32];
    for (size_t k = 0; k < n; k++)
        longest = strlen(text[k]) > longest ? strlen(text[k]) : longest;
    unsigned char *wide = calloc(n * longest + 1, 4);
    if (!wide) {
        fail(w, "out of memory");
        return;
    }
    for (size_t k = 0; k < n; k++)
        for (size_t c = 0; text[k][c]; c++)
            wide[4 * (k * longest + c)] = (unsigned char)text[k][c];
    snprintf(descr, sizeof descr, "<U%zu", longest);
    snprintf(shape, sizeof shape, "%zu,", n);
    put_member(w, name, descr, shape, wide, 4 * n * longest);
    free(wide);
}

enum fit_status fit_npz_finish(struct fit_npz_writer *w, struct fit_error *err)
{
    unsigned char end[END] = {'P', 'K', 5, 6};
    long begin = w->f ? ftell(w->f) : -1;
    for (size_t k = 0; k < w->n; k++) {
        unsigned char entry[CENTRAL] = {'P', 'K', 1, 2, 20};
        set_common(entry + 6, &w->member[k]);
        set(entry + 42, 4, w->member[k].offset);
        put(w, entry, CENTRAL);
        put(w, w->member[k].name, strlen(w->member[k].name));
    }
    long stop = w->f ? ftell(w->f) : -1;
    set(end + 8, 2, (uint32_t)w->n);
    set(end + 10, 2, (uint32_t)w->n);
    set(end + 12, 4, (uint32_t)(stop - begin));
    set(end + 16, 4, (uint32_t)begin);
    put(w, end, END);
    if (w->f && fclose(w->f) != 0)
        fail(w, strerror(errno));
    w->f = NULL;
    return w->error.status == FIT_OK ? FIT_OK
                                     : fit_fail(err, w->error.status, "%s", w->error.message);
}
