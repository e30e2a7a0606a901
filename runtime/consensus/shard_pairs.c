/* shard_pairs.c -- shards of few pairs as data sets of their own; see shard.h.
 *
 * Row i of the triangle has n - 1 - i pairs (i, j).  With s = ceil((n - 1 - i) / 8), piece c of s holds
 * j = i + 1 + c, i + 1 + c + s, i + 1 + c + 2 s, ...: at most 8 pairs, one vector of the kernels.
 *
 * Kernels take two frames by their numbers in a list of used frames, which need not increase from piece to piece.
 * A shard of m pieces lists the frames i of its pieces, then, in the vector 8 k after them, the frames j of piece k.
 * Its tile k is row k times that vector.  Chunks are of one frame, panels of one vector: exponentials are
 * centred at frame i and at the first frame j, no factor is above 1 when they decay.
 */
#include "consensus/shard_impl.h"

#include <string.h>

static size_t strides(size_t n, size_t i)
{
    return (n - 1 - i + FIT_LANES - 1) / FIT_LANES;
}

size_t fit_shard_cut_pairs(const struct fit_dataset *ds, struct fit_shard_piece *piece)
{
    size_t nframe = ds->layout.nframe, n = 0;
    for (size_t i = 0; i + 1 < nframe; i++) {
        size_t stride = strides(nframe, i);
        for (size_t c = 0; c < stride; c++, n++)
            if (piece)
                piece[n] = (struct fit_shard_piece){
                    .row = (uint32_t)i,
                    .first = (uint32_t)(i + 1 + c),
                    .end = (uint32_t)nframe,
                    .stride = (uint32_t)stride,
                    .count = (double)((nframe - 1 - i - c + stride - 1) / stride * ds->layout.ngroup),
                    .place = ((double)c + 0.5) / (double)stride};
    }
    return n;
}

/* Frames of n pieces: rows, then the vectors of columns; the last frame of each repeats to its end. */
static void list_frames(const struct fit_shards_private *p, const size_t *list, size_t n, size_t rows, uint32_t *frame)
{
    const uint32_t *of = p->ds->layout.frame;
    for (size_t k = 0; k < rows; k++)
        frame[k] = of[p->piece[list[k < n ? k : n - 1]].row];
    for (size_t k = 0; k < n; k++) {
        const struct fit_shard_piece *x = &p->piece[list[k]];
        uint32_t *to = frame + rows + k * FIT_LANES, j = x->first;
        for (size_t lane = 0; lane < FIT_LANES; lane++) {
            to[lane] = of[j];
            j += j + x->stride < x->end ? x->stride : 0;
        }
    }
}

static size_t lanes_of(const struct fit_shard_piece *x)
{
    return (x->end - x->first + x->stride - 1) / x->stride;
}

/* Values of one lane of a piece, which begin at `at` in tile t; y, w (or NULL): ngroup vectors. */
static void take_lane(const struct fit_tile *t, size_t at, size_t ng, double *y, double *w)
{
    for (size_t g = 0; g < ng; g++) {
        y[g * FIT_LANES] = t->y[at + g * FIT_LANES];
        if (w)
            w[g * FIT_LANES] = t->w[at + g * FIT_LANES];
    }
}

/* Values of a piece that are in tile t (with its values); y, w (or NULL): ngroup vectors. */
static void take_from(const struct fit_dataset *ds, const struct fit_shard_piece *x, size_t tile,
                      const struct fit_tile *t, double *y, double *w)
{
    size_t lane = 0;
    for (size_t j = x->first; j < x->end; j += x->stride, lane++) {
        if (fit_dataset_tile_of(ds, x->row, j) != &ds->tile[tile])
            continue;
        take_lane(t, fit_tile_offset(&ds->layout, t, x->row, j, 0), ds->layout.ngroup, y + lane, w ? w + lane : NULL);
    }
}

/* All values of the pieces from a file: the tiles with a part of them are read once. */
static enum fit_status read_values(struct fit_dataset *v, const struct fit_shards_private *p, const size_t *list,
                                   size_t n, struct fit_error *err)
{
    const struct fit_dataset *ds = p->ds;
    struct fit_dataset_private *own = v->private_;
    size_t vectors = ds->layout.ngroup * FIT_LANES;
    FIT_SCRATCH(a);
    double *buffer = fit_take(&a, fit_dataset_buffer(ds), sizeof *buffer);
    if (!buffer)
        return fit_no_memory(err, "tile");
    for (size_t k = 0; k < ds->ntile; k++) {
        const struct fit_tile *t = NULL;
        struct fit_tile room;
        for (size_t m = 0; m < n; m++) {
            const struct fit_shard_piece *x = &p->piece[list[m]];
            if (x->row < ds->tile[k].i0 || x->row >= ds->tile[k].i1)
                continue;
            if (!t && !(t = fit_dataset_single(ds, k, buffer, &room)))
                return fit_dataset_status(ds, err);
            take_from(ds, x, k, t, own->y.data + m * vectors, own->w.data ? own->w.data + m * vectors : NULL);
        }
    }
    return FIT_OK;
}

/* The values of a piece from the storage of the whole; y, w (or NULL): ngroup vectors. */
static void take_values(const struct fit_dataset *ds, const struct fit_shard_piece *x, double *y, double *w)
{
    size_t lane = 0;
    for (size_t j = x->first; j < x->end; j += x->stride, lane++) {
        const struct fit_tile *t = fit_dataset_tile_of(ds, x->row, j);
        take_lane(t, fit_tile_offset(&ds->layout, t, x->row, j, 0), ds->layout.ngroup, y + lane, w ? w + lane : NULL);
    }
}

static enum fit_status allocate(struct fit_dataset *v, const struct fit_dataset *ds, size_t n, size_t nframe,
                                struct fit_error *err)
{
    const struct fit_layout *l = &ds->layout;
    struct fit_dataset_private *p = v->private_;
    size_t ng = l->ngroup;
    v->tile = fit_take(&p->storage, n, sizeof *v->tile);
    v->ntile = v->last = n;
    p->frame = fit_take(&p->storage, nframe, sizeof *p->frame);
    p->sum = fit_take(&p->storage, n * ng * 3, sizeof *p->sum);
    p->time = fit_take_copy(&p->storage, l->time, l->ntime, sizeof *l->time);
    p->setting = fit_take_copy(&p->storage, l->setting, ds->private_->nsetting, sizeof *l->setting);
    p->coord = fit_take(&p->storage, ds->private_->naxis, sizeof *p->coord);
    for (size_t a = 0; p->coord && a < ds->private_->naxis; a++, p->naxis++)
        p->coord[a] = fit_take_copy(&p->storage, l->coord[a], ng, sizeof *l->coord[a]);
    if (p->storage.failed)
        return fit_fail(err, FIT_ERR_MEMORY, "no memory for %zu pieces", n);
    p->nsetting = ds->private_->nsetting;
    p->ndouble = p->largest = n * ng * FIT_LANES;
    enum fit_status st = fit_dataset_block_new(&p->y, p->ndouble, err);
    return st == FIT_OK && fit_shard_weights(ds) ? fit_dataset_block_new(&p->w, p->ndouble, err) : st;
}

static void fill(struct fit_dataset *v, const struct fit_shards_private *p, const size_t *list, size_t n, size_t rows)
{
    struct fit_dataset_private *own = v->private_;
    struct fit_layout *l = &v->layout;
    size_t vectors = l->ngroup * FIT_LANES;
    for (size_t k = 0; k < n; k++) {
        double *y = own->y.data + k * vectors, *w = own->w.data ? own->w.data + k * vectors : NULL;
        double *sum = own->sum + k * l->ngroup * 3;
        size_t j0 = rows + k * FIT_LANES, lanes = lanes_of(&p->piece[list[k]]);
        if (!fit_dataset_streamed(p->ds))
            take_values(p->ds, &p->piece[list[k]], y, w);
        v->tile[k] = (struct fit_tile){.i0 = k, .i1 = k + 1, .j0 = j0, .j1 = j0 + lanes, .y = y, .w = w, .sum = sum};
        for (size_t g = 0; g < l->ngroup; g++) {
            size_t have = fit_tile_sum(l, &v->tile[k], g, sum + 3 * g);
            v->npoint_group[g] += have;
            v->npoint += have;
        }
    }
}

enum fit_status fit_shard_open_pairs(const struct fit_shards_private *p, const size_t *list, size_t n,
                                     struct fit_dataset **out, struct fit_error *err)
{
    const struct fit_dataset *ds = p->ds;
    size_t rows = (n + FIT_LANES - 1) / FIT_LANES * FIT_LANES, nframe = rows + n * FIT_LANES;
    struct fit_dataset *v = fit_dataset_alloc(ds->layout.ngroup);
    *out = NULL;
    enum fit_status st = v ? allocate(v, ds, n, nframe, err) : fit_no_memory(err, NULL);
    if (st != FIT_OK) {
        fit_dataset_free(v);
        return st;
    }
    struct fit_dataset_private *own = v->private_;
    list_frames(p, list, n, rows, own->frame);
    v->layout = ds->layout;
    v->layout.time = own->time;
    v->layout.setting = own->setting;
    v->layout.coord = (const double *const *)own->coord;
    v->layout.frame = own->frame;
    v->layout.nframe = nframe;
    v->layout.panel = FIT_LANES;
    v->layout.chunk = 1;
    v->weighted = ds->weighted;
    memcpy(v->reference, ds->reference, ds->layout.ngroup * sizeof *v->reference);
    own->finished = 1;
    if (fit_dataset_streamed(ds))
        st = read_values(v, p, list, n, err);
    if (st != FIT_OK) {
        fit_dataset_free(v);
        return st;
    }
    fill(v, p, list, n, rows);
    *out = v;
    return FIT_OK;
}
