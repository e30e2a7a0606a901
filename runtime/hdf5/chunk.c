/* chunk.c -- locations of the chunks of an HDF5 dataset. See object.h; specification III.A (trees) and IV.A.2.i (which
 * index).
 *
 * Most indices number the chunks of the largest possible extent, the last axis fastest; the extensible array takes the
 * unlimited axis as the slowest.
 */
#include "hdf5/object.h"

#include <string.h>

#define MOST_BYTES ((uint64_t)1 << 32) /* of a chunk, as in HDF5 */

uint64_t fit_h5_chunk_bytes(const struct fit_h5_dataset *d)
{
    uint64_t n = d->type.size;
    for (int i = 0; i < d->space.rank; i++) {
        if (!d->part[i] || n >= MOST_BYTES / d->part[i])
            return 0;
        n *= d->part[i];
    }
    return n;
}

/* ---- trees ----------------------------------------------------------------------------------- */

struct trees {
    const struct fit_h5_bytes *f;
    const struct fit_h5_dataset *d;
    fit_h5_on_chunk *on;
    void *user;
};

/* Version 1: bytes, mask of skipped filters, offsets in elements (and one within the element). */
static int on_key(void *user, const unsigned char *record, size_t n, struct fit_error *err)
{
    const struct trees *t = user;
    struct fit_h5_cursor c = fit_h5_cursor(record, n);
    struct fit_h5_place p = {.bytes = fit_h5_take(&c, 4)};
    (void)err;
    p.skipped = (unsigned)fit_h5_take(&c, 4);
    for (int i = 0; i < t->d->space.rank; i++)
        p.at[i] = fit_h5_take(&c, 8) / t->d->part[i];
    fit_h5_skip(&c, 8);
    p.address = fit_h5_take_address(t->f, &c);
    if (p.address != FIT_H5_NOWHERE)
        t->on(t->user, &p);
    return 0;
}

/* Version 2: address, with filters bytes and mask of skipped ones, offsets in chunks. */
static int on_record(void *user, const unsigned char *record, size_t n, struct fit_error *err)
{
    const struct trees *t = user;
    const size_t plain = t->f->wide + 8 * (size_t)t->d->space.rank;
    struct fit_h5_cursor c = fit_h5_cursor(record, n);
    struct fit_h5_place p = {.address = fit_h5_take_address(t->f, &c)};
    if (t->d->nfilter) {
        if (n < plain + 5 || n > plain + 12) {
            fit_h5_damaged(t->f, "the index of chunks", t->d->address, err);
            return 1;
        }
        p.bytes = fit_h5_take(&c, (unsigned)(n - plain - 4));
        p.skipped = (unsigned)fit_h5_take(&c, 4);
    } else {
        p.bytes = fit_h5_chunk_bytes(t->d);
    }
    for (int i = 0; i < t->d->space.rank; i++)
        p.at[i] = fit_h5_take(&c, 8);
    if (c.bad) {
        fit_h5_damaged(t->f, "the index of chunks", t->d->address, err);
        return 1;
    }
    if (p.address != FIT_H5_NOWHERE)
        t->on(t->user, &p);
    return 0;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* The grid position of chunk k; 0: there is no such chunk. */
static int place_of(const struct fit_h5_numbered *a, uint64_t k, struct fit_h5_place *p)
{
    if (k >= a->most)
        return 0;
    for (int i = 0; i < a->d->space.rank; i++) {
        p->at[a->axis[i]] = k / a->down[i];
        k %= a->down[i];
    }
    return 1;
}

void fit_h5_numbered(const struct fit_h5_numbered *a, uint64_t k, const unsigned char *element,
                     size_t n)
{
    struct fit_h5_cursor c = fit_h5_cursor(element, n);
    struct fit_h5_place p = {.address = fit_h5_take_address(a->f, &c)};
    if (a->d->nfilter) {
        p.bytes = fit_h5_take(&c, (unsigned)(n - a->f->wide - 4));
        p.skipped = (unsigned)fit_h5_take(&c, 4);
    } else {
        p.bytes = fit_h5_chunk_bytes(a->d);
    }
    if (!c.bad && p.address != FIT_H5_NOWHERE && place_of(a, k, &p))
        a->on(a->user, &p);
}

/* Fills axis, down and most; 0: the extent is impossible. */
static int number(struct fit_h5_numbered *a)
{
    const struct fit_h5_dataset *d = a->d;
    const int rank = d->space.rank;
    int first = 0;
    uint64_t chunks = 1;
    for (int i = 0; i < rank && d->index == FIT_H5_GROWING_ARRAY; i++)
        if (d->space.most[i] == FIT_H5_NOWHERE)
            first = i;
    for (int i = 0; i < rank; i++)
        a->axis[i] = i == 0 ? first : i <= first ? i - 1 : i;
    for (int i = rank - 1; i >= 0; i--) {
        uint64_t most = d->space.most[a->axis[i]], part = d->part[a->axis[i]];
        uint64_t n = most ? (most - 1) / part + 1 : 0;
        a->down[i] = chunks;
        if (i == 0 && most == FIT_H5_NOWHERE)
            n = UINT64_MAX / chunks;
        if (!n || n > UINT64_MAX / chunks)
            return 0;
        chunks *= n;
    }
    a->most = chunks;
    return 1;
}

/* All chunks of the extent, consecutively, whether they were written or not. */
static enum fit_status implicit(const struct fit_h5_numbered *a, struct fit_error *err)
{
    const uint64_t bytes = fit_h5_chunk_bytes(a->d);
    if (a->d->address > a->f->size || a->most > (a->f->size - a->d->address) / bytes)
        return fit_h5_damaged(a->f, "a dataset", a->d->address, err);
    for (uint64_t k = 0; k < a->most; k++) {
        struct fit_h5_place p = {.address = a->d->address + k * bytes, .bytes = bytes};
        if (place_of(a, k, &p))
            a->on(a->user, &p);
    }
    return FIT_OK;
}

enum fit_status fit_h5_chunks(struct fit_h5_bytes *f, const struct fit_h5_dataset *d,
                              fit_h5_on_chunk *on, void *user, struct fit_error *err)
{
    struct trees t = {.f = f, .d = d, .on = on, .user = user};
    struct fit_h5_numbered a = {.f = f, .d = d, .on = on, .user = user};
    const uint64_t bytes = fit_h5_chunk_bytes(d);
    if (d->address == FIT_H5_NOWHERE)
        return FIT_OK; /* nothing was written */
    if (!bytes)
        return fit_h5_refuse(err, "chunks of 4 GB or more");
    if ((d->index != FIT_H5_INDEX_TREE && d->index != FIT_H5_INDEX_TREE2 && !number(&a)))
        return fit_h5_damaged(f, "the index of chunks", d->address, err);
    switch (d->index) {
    case FIT_H5_SINGLE:
        on(user, &(struct fit_h5_place){.address = d->address,
                                        .bytes = d->nfilter ? d->single_bytes : bytes,
                                        .skipped = d->single_skipped});
        return FIT_OK;
    case FIT_H5_IMPLICIT: return implicit(&a, err);
    case FIT_H5_FIXED_ARRAY: return fit_h5_fixed_array(&a, err);
    case FIT_H5_GROWING_ARRAY: return fit_h5_growing_array(&a, err);
    case FIT_H5_INDEX_TREE2: return fit_h5_tree2(f, d->address, on_record, &t, err);
    case FIT_H5_INDEX_TREE:
    default:
        return fit_h5_tree(f, d->address, 1, 16 + 8 * (unsigned)d->space.rank, on_key, &t, err);
    }
}
