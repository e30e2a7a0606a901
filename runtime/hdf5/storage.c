/* storage.c -- how the values of an HDF5 dataset are stored.  See object.h; specification
 * IV.A.2.f-g (fill values), i (layout), l (filters).
 */
#include "hdf5/object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char damaged_text[] = "%s: a dataset is damaged";

enum fit_status fit_h5_dataset_look(const struct fit_h5_header *h, struct fit_h5_dataset *d, struct fit_error *err)
{
    *d = (struct fit_h5_dataset){.address = FIT_H5_NOWHERE};
    enum fit_status st = fit_h5_type_read(h->file, fit_h5_message(h, FIT_H5_TYPE), &d->type, err);
    return st == FIT_OK ? fit_h5_space_read(h->file, fit_h5_message(h, FIT_H5_SPACE), &d->space, err) : st;
}

void fit_h5_dataset_free(struct fit_h5_dataset *d)
{
    free(d->compact);
    free(d->fill);
    d->compact = d->fill = NULL;
}

static enum fit_status copy(const struct fit_h5_bytes *f, const unsigned char *from, size_t n,
                            unsigned char **to, struct fit_error *err)
{
    if (!(*to = malloc(n ? n : 1)))
        return fit_no_memory(err, f->name);
    memcpy(*to, from, n);
    return FIT_OK;
}

/* ---- layout ---------------------------------------------------------------------------------- */

/* Extents of a chunk, `wide` bytes each; the last one is the size of an element. */
static int take_part(struct fit_h5_cursor *c, struct fit_h5_dataset *d, unsigned axes,
                     unsigned wide)
{
    if (axes != (unsigned)d->space.rank + 1 || wide < 1 || wide > 8)
        return 0;
    for (int i = 0; i < d->space.rank; i++)
        d->part[i] = (size_t)fit_h5_take(c, wide);
    uint64_t item = fit_h5_take(c, wide);
    return item == d->type.size || c->bad;
}

static int take_index(const struct fit_h5_bytes *f, struct fit_h5_cursor *c,
                      struct fit_h5_dataset *d)
{
    enum { PLAIN_EDGES = 1, FILTERED = 2 };
    unsigned flags = (unsigned)fit_h5_take(c, 1), axes = (unsigned)fit_h5_take(c, 1),
             wide = (unsigned)fit_h5_take(c, 1);
    d->plain_edges = (flags & PLAIN_EDGES) != 0;
    if (!take_part(c, d, axes, wide))
        return 0;
    d->index = (enum fit_h5_index)fit_h5_take(c, 1);
    switch (d->index) {
    case FIT_H5_SINGLE:
        if (flags & FILTERED) {
            d->single_bytes = fit_h5_take_size(f, c);
            d->single_skipped = (unsigned)fit_h5_take(c, 4);
        }
        break;
    case FIT_H5_IMPLICIT: break;
    case FIT_H5_FIXED_ARRAY: fit_h5_skip(c, 1); break;
    case FIT_H5_GROWING_ARRAY: fit_h5_skip(c, 5); break;
    case FIT_H5_INDEX_TREE2: fit_h5_skip(c, 6); break;
    case FIT_H5_INDEX_TREE:
    default: return 0;
    }
    d->address = fit_h5_take_address(f, c);
    return 1;
}

enum { COMPACT, CONTIGUOUS, CHUNKED, VIRTUAL };

/* Versions 1 and 2. */
static int take_old_layout(const struct fit_h5_bytes *f, struct fit_h5_cursor *c,
                           struct fit_h5_dataset *d, const unsigned char **compact)
{
    unsigned axes = (unsigned)fit_h5_take(c, 1), class = (unsigned)fit_h5_take(c, 1);
    fit_h5_skip(c, 5);
    if (class != COMPACT)
        d->address = fit_h5_take_address(f, c);
    d->storage = class == COMPACT      ? FIT_H5_COMPACT
                 : class == CONTIGUOUS ? FIT_H5_CONTIGUOUS
                                       : FIT_H5_CHUNKED;
    d->index = FIT_H5_INDEX_TREE;
    if (class == CHUNKED)
        return take_part(c, d, axes, 4);
    fit_h5_skip(c, 4 * (size_t)axes);
    if (class == COMPACT) {
        d->ncompact = (size_t)fit_h5_take(c, 4);
        *compact = fit_h5_skip(c, d->ncompact);
    }
    return class <= CHUNKED;
}

static int take_layout(const struct fit_h5_bytes *f, struct fit_h5_cursor *c, unsigned version,
                       struct fit_h5_dataset *d, const unsigned char **compact)
{
    switch ((unsigned)fit_h5_take(c, 1)) {
    case COMPACT:
        d->storage = FIT_H5_COMPACT;
        d->ncompact = (size_t)fit_h5_take(c, 2);
        *compact = fit_h5_skip(c, d->ncompact);
        return 1;
    case CONTIGUOUS:
        d->storage = FIT_H5_CONTIGUOUS;
        d->address = fit_h5_take_address(f, c);
        return 1;
    case CHUNKED:
        d->storage = FIT_H5_CHUNKED;
        if (version > 3)
            return take_index(f, c, d);
        d->index = FIT_H5_INDEX_TREE;
        unsigned axes = (unsigned)fit_h5_take(c, 1);
        d->address = fit_h5_take_address(f, c);
        return take_part(c, d, axes, 4);
    default: return 0;
    }
}

int fit_h5_is_virtual(const struct fit_h5_header *h)
{
    const struct fit_h5_message *m = fit_h5_message(h, FIT_H5_LAYOUT);
    return !m->shared && m->n > 1 && m->body[0] > 2 && m->body[1] == VIRTUAL;
}

static enum fit_status read_layout(const struct fit_h5_bytes *f, const struct fit_h5_message *m,
                                   struct fit_h5_dataset *d, struct fit_error *err)
{
    struct fit_h5_cursor c = fit_h5_cursor(m->body, m->n);
    const unsigned char *compact = NULL;
    unsigned version = (unsigned)fit_h5_take(&c, 1);
    if (version > 5)
        return fit_h5_refuse(err, "layout of version %u", version);
    if (version > 2 && m->n > 1 && m->body[1] == VIRTUAL) { /* see fit_h5_is_virtual */
        d->storage = FIT_H5_VIRTUAL;
        return fit_h5_refuse(err, "virtual dataset");
    }
    int good = !m->shared && version >= 1 && (version < 3 ? take_old_layout(f, &c, d, &compact)
                                            : take_layout(f, &c, version, d, &compact));
    if (!good || c.bad)
        return fit_fail(err, FIT_ERR_DATA, damaged_text, f->name);
    return compact ? copy(f, compact, d->ncompact, &d->compact, err) : FIT_OK;
}

/* ---- filters and fill values ----------------------------------------------------------------- */

/* "filter 32008 (bitshuffle; see ...)": the name as in the file, at most 40 printable characters. */
static enum fit_status refuse_filter(int filter, const unsigned char *name, size_t n, struct fit_error *err)
{
    static const struct {
        int filter;
        const char *name;
    } known[] = {{4, "szip"},    {5, "nbit"},           {6, "scaleoffset"}, {307, "bzip2"},  {32001, "Blosc"},
                 {FIT_H5_LZ4, "LZ4"}, {FIT_H5_BITSHUFFLE, "bitshuffle"}, {32013, "zfp"}, {FIT_H5_ZSTD, "Zstandard"},
                 {32026, "Blosc2"}};
    char text[41];
    size_t k = 0;
    for (; name && k < n && k + 1 < sizeof text && name[k] >= ' ' && name[k] < 127 && name[k] != ';'; k++)
        text[k] = (char)name[k];
    text[k] = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (filter == known[i].filter)
            snprintf(text, sizeof text, "%s", known[i].name);
    return fit_h5_refuse(err, *text ? "filter %d (%s)" : "filter %d", filter, text);
}

/* Filters that fit_h5_expand reverses: one compressor, and shuffle before it. */
static enum fit_status weigh_filters(const struct fit_h5_dataset *d, struct fit_error *err)
{
    int compressors = 0;
    for (int i = 0; i < d->nfilter; i++) {
        if ((d->filter[i] == FIT_H5_SHUFFLE || d->filter[i] == FIT_H5_BITSHUFFLE) && compressors)
            return fit_h5_refuse(err, "shuffling of what is compressed");
        compressors += fit_h5_compresses(d, i);
    }
    return compressors > 1 ? fit_h5_refuse(err, "two compressions, one of the other") : FIT_OK;
}

/* Whether filter.c undoes it. */
static int is_known(const struct fit_h5_dataset *d, unsigned k)
{
    enum { INSIDE = 4, LZ4 = 2, ZSTD };
    const uint32_t inside = d->parameter[k][INSIDE];
    switch (d->filter[k]) {
    case FIT_H5_DEFLATE:
    case FIT_H5_SHUFFLE:
    case FIT_H5_FLETCHER:
    case FIT_H5_LZF:
    case FIT_H5_LZ4: return 1;
    case FIT_H5_ZSTD: return fit_plugin_zstd_known();
    case FIT_H5_BITSHUFFLE: return !inside || inside == LZ4 || (inside == ZSTD && fit_plugin_zstd_known());
    default: return 0;
    }
}

/* The first few parameters of a filter, and padding. */
static void take_parameters(struct fit_h5_cursor *c, size_t n, size_t more, uint32_t *to)
{
    for (size_t k = 0; k < n && k < FIT_H5_PARAMETERS; k++)
        to[k] = (uint32_t)fit_h5_take(c, 4);
    fit_h5_skip(c, 4 * ((n < FIT_H5_PARAMETERS ? 0 : n - FIT_H5_PARAMETERS) + more));
}

static enum fit_status read_filters(const struct fit_h5_bytes *f, const struct fit_h5_message *m,
                                    struct fit_h5_dataset *d, struct fit_error *err)
{
    enum { NAMED = 256 };
    struct fit_h5_cursor c = fit_h5_cursor(m->body, m->n);
    struct fit_error why = {.status = FIT_OK};
    unsigned version = (unsigned)fit_h5_take(&c, 1);
    unsigned n = (unsigned)fit_h5_take(&c, 1);
    if (m->shared)
        return fit_h5_damaged(f, "a shared list of filters", 0, err);
    if (version > 2)
        return fit_h5_refuse(err, "filters of version %u", version);
    if (version == 1)
        fit_h5_skip(&c, 6);
    for (unsigned k = 0; k < n && n <= FIT_H5_FILTERS_MOST; k++) {
        d->filter[k] = (int)fit_h5_take(&c, 2);
        size_t named = version == 1 || d->filter[k] >= NAMED ? (size_t)fit_h5_take(&c, 2) : 0;
        fit_h5_skip(&c, 2);
        size_t values = (size_t)fit_h5_take(&c, 2);
        const unsigned char *name = fit_h5_skip(&c, version == 1 ? (named + 7) / 8 * 8 : named);
        take_parameters(&c, values, version == 1 ? values & 1 : 0, d->parameter[k]);
        if (!c.bad && why.status == FIT_OK && !is_known(d, k))
            refuse_filter(d->filter[k], name, named, &why);
    }
    d->nfilter = (int)n;
    if (c.bad || version < 1 || n > FIT_H5_FILTERS_MOST)
        return fit_fail(err, FIT_ERR_DATA, damaged_text, f->name);
    return why.status == FIT_OK ? weigh_filters(d, err) : fit_h5_refuse(err, "%s", why.message);
}

static enum fit_status read_fill(const struct fit_h5_bytes *f, const struct fit_h5_header *h,
                                 struct fit_h5_dataset *d, struct fit_error *err)
{
    const struct fit_h5_message *m = fit_h5_message(h, FIT_H5_FILL);
    const struct fit_h5_message *old = fit_h5_message(h, FIT_H5_OLD_FILL);
    if (!m && !old)
        return FIT_OK;
    if ((m ? m : old)->shared)
        return fit_h5_damaged(f, "a shared fill value", 0, err);
    struct fit_h5_cursor c = m ? fit_h5_cursor(m->body, m->n) : fit_h5_cursor(old->body, old->n);
    int defined = 1;
    if (m) {
        unsigned version = (unsigned)fit_h5_take(&c, 1);
        if (version >= 3) {
            defined = fit_h5_take(&c, 1) >> 5 & 1;
        } else {
            fit_h5_skip(&c, 2);
            defined = fit_h5_take(&c, 1) != 0 || version == 1;
        }
    }
    size_t n = defined ? (size_t)fit_h5_take(&c, 4) : 0;
    const unsigned char *value = fit_h5_skip(&c, n);
    return !c.bad && n == d->type.size ? copy(f, value, n, &d->fill, err) : FIT_OK;
}

enum fit_status fit_h5_dataset_read(const struct fit_h5_header *h, struct fit_h5_dataset *d, struct fit_error *err)
{
    const struct fit_h5_message *filters = fit_h5_message(h, FIT_H5_FILTERS);
    enum fit_status st = fit_h5_dataset_look(h, d, err);
    if (st == FIT_OK && fit_h5_message(h, FIT_H5_EXTERNAL))
        st = fit_h5_refuse(err, "values in other files (external storage)");
    if (st == FIT_OK)
        st = read_layout(h->file, fit_h5_message(h, FIT_H5_LAYOUT), d, err);
    if (st == FIT_OK)
        st = read_fill(h->file, h, d, err);
    if (st == FIT_OK && filters)
        st = read_filters(h->file, filters, d, err);
    if (st != FIT_OK && st != FIT_ERR_UNSUPPORTED)
        fit_h5_dataset_free(d);
    return st;
}
