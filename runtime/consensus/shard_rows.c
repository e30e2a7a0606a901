/* shard_rows.c -- shards of rows of tiles, or of vectors of rows of a table; see shard.h.
 *
 * A shard's tiles are parts of the whole's; layout, tables and numbering of frames are the same. Their values are those
 * of the whole, or copies where the whole's stay in their file: the tiles of which the shard has a part are read once.
 */
#include "consensus/shard_impl.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 32 }; /* pieces of a shard, at least: for mixing lags; more only make evaluations slower */

static int is_table(const struct fit_dataset *ds)
{
    return ds->layout.nrow > 0;
}

/* Rows of a tile that go into one piece. */
static size_t piece_rows(const struct fit_dataset *ds, const struct fit_tile *t, size_t nshard)
{
    double wanted = (double)ds->npoint / (double)(nshard * ROUNDS);
    size_t across = is_table(ds) ? 1 : (t->j1 - t->j0) * ds->layout.ngroup, unit = is_table(ds) ? FIT_LANES : 1;
    size_t rows = (size_t)(wanted / (double)across) / unit * unit;
    return rows < unit ? unit : rows;
}

static size_t first_column(const struct fit_tile *t, size_t i)
{
    return t->j0 > i + 1 ? t->j0 : i + 1;
}

/* Lag of the middle of a piece, in frames; for tables group and place. */
static double place_of(const struct fit_dataset *ds, const struct fit_tile *t, size_t i0, size_t i1)
{
    double i = 0.5 * (double)(i0 + i1 - 1), first = (double)t->j0 > i + 1 ? (double)t->j0 : i + 1;
    return is_table(ds) ? (double)i0 : 0.5 * (first + (double)t->j1 - 1) - i;
}

static double values_of(const struct fit_dataset *ds, const struct fit_tile *t, size_t i0, size_t i1)
{
    double n = 0;
    if (is_table(ds))
        return (double)(i1 - i0);
    for (size_t i = i0; i < i1; i++)
        n += (double)((t->j1 - first_column(t, i)) * ds->layout.ngroup);
    return n;
}

size_t fit_shard_cut_rows(const struct fit_dataset *ds, size_t nshard, struct fit_shard_piece *piece)
{
    size_t n = 0;
    for (size_t k = 0; k < ds->ntile; k++) {
        const struct fit_tile *t = &ds->tile[k];
        size_t rows = piece_rows(ds, t, nshard);
        for (size_t i = t->i0; i < t->i1; i += rows, n++) {
            size_t end = i + rows < t->i1 ? i + rows : t->i1;
            if (piece)
                piece[n] = (struct fit_shard_piece){.tile = (uint32_t)k,
                                                    .first = (uint32_t)i,
                                                    .end = (uint32_t)end,
                                                    .count = values_of(ds, t, i, end),
                                                    .place = place_of(ds, t, i, end)};
        }
    }
    return n;
}

/* The tile of a piece, a part of `whole` with its values, and their sums. */
static struct fit_tile tile_of(const struct fit_dataset *ds, const struct fit_tile *whole,
                               const struct fit_shard_piece *x, double *sum)
{
    struct fit_tile t = *whole;
    size_t at = is_table(ds) ? x->first - whole->i0
                             : fit_tile_offset(&ds->layout, whole, x->first, first_column(whole, x->first), 0);
    at = at / FIT_LANES * FIT_LANES;
    t.i0 = x->first;
    t.i1 = x->end;
    t.y = whole->y + at;
    t.w = whole->w ? whole->w + at : NULL;
    t.sum = sum;
    return t;
}

/* A view: the dataset, and what it has for itself. */
struct view {
    struct fit_dataset ds;
    struct fit_dataset_private own; /* in use when the values are copies */
    struct fit_arena storage;
};

void fit_shard_close_rows(struct fit_dataset *view)
{
    struct view *v = (struct view *)view;
    if (view->private_ == &v->own) {
        fit_pages_free(&v->own.y);
        fit_pages_free(&v->own.w);
    }
    fit_arena_free(&v->storage);
    free(v);
}

static void count(struct fit_dataset *v, const struct fit_tile *t, double *sum)
{
    for (size_t g = 0; g < v->layout.ngroup; g++) {
        size_t have = fit_tile_sum(&v->layout, t, g, sum + 3 * g);
        v->npoint_group[g] += have;
        v->npoint += have;
    }
}

/* Room for the values of n pieces, whose tiles need not have values yet. */
static enum fit_status room_for_copies(struct view *v, const struct fit_shards_private *p, const size_t *list, size_t n,
                                       struct fit_error *err)
{
    size_t total = 0;
    for (size_t k = 0; k < n; k++) {
        const struct fit_shard_piece *x = &p->piece[list[k]];
        struct fit_tile t = p->ds->tile[x->tile];
        t.i0 = x->first;
        t.i1 = x->end;
        total += fit_tile_doubles(&p->ds->layout, &t);
    }
    v->own = *p->ds->private_;
    v->own.stream = NULL;
    v->own.y = v->own.w = (struct fit_pages){0};
    v->own.ndouble = total;
    v->ds.private_ = &v->own;
    enum fit_status st = fit_dataset_block_new(&v->own.y, total, err);
    return st == FIT_OK && fit_shard_weights(p->ds) ? fit_dataset_block_new(&v->own.w, total, err) : st;
}

/* The pieces, read tile by tile, in the order of the data. */
static enum fit_status copy_pieces(struct view *v, const struct fit_shards_private *p, const size_t *list, size_t n,
                                   double *sum, struct fit_error *err)
{
    size_t at = 0, ng = p->ds->layout.ngroup;
    enum fit_status st = room_for_copies(v, p, list, n, err);
    FIT_SCRATCH(a);
    double *buffer = st == FIT_OK ? fit_take(&a, fit_dataset_buffer(p->ds), sizeof *buffer) : NULL;
    struct fit_tile own;
    const struct fit_tile *whole = NULL;
    if (st == FIT_OK && !buffer)
        st = fit_no_memory(err, "tile");
    for (size_t k = 0; st == FIT_OK && k < n; k++) {
        const struct fit_shard_piece *x = &p->piece[list[k]];
        if (k == 0 || x->tile != p->piece[list[k - 1]].tile)
            whole = fit_dataset_single(p->ds, x->tile, buffer, &own);
        if (!whole) {
            st = fit_dataset_status(p->ds, err);
            break;
        }
        struct fit_tile t = tile_of(p->ds, whole, x, sum + k * ng * 3);
        size_t size = fit_tile_doubles(&p->ds->layout, &t);
        memcpy(v->own.y.data + at, t.y, size * sizeof *t.y);
        t.y = v->own.y.data + at;
        if (t.w) {
            memcpy(v->own.w.data + at, t.w, size * sizeof *t.w);
            t.w = v->own.w.data + at;
        }
        v->ds.tile[k] = t;
        count(&v->ds, &t, sum + k * ng * 3);
        at += size;
    }
    return st;
}

enum fit_status fit_shard_open_rows(const struct fit_shards_private *p, const size_t *list, size_t n,
                                    struct fit_dataset **out, struct fit_error *err)
{
    size_t ng = p->ds->layout.ngroup;
    struct view *v = calloc(1, sizeof *v);
    *out = NULL;
    if (!v)
        return fit_no_memory(err, "shards");
    struct fit_tile *tile = fit_take(&v->storage, n, sizeof *tile);
    double *sum = fit_take(&v->storage, n * ng * 3, sizeof *sum);
    size_t *counts = fit_take(&v->storage, ng, sizeof *counts);
    if (v->storage.failed) {
        fit_shard_close_rows(&v->ds);
        return fit_fail(err, FIT_ERR_MEMORY, "no memory for %zu pieces", n);
    }
    v->ds = *p->ds;
    v->ds.tile = tile;
    v->ds.ntile = v->ds.last = n;
    v->ds.common = 0;
    v->ds.npoint_group = counts;
    v->ds.npoint = v->ds.ndropped = 0;
    if (fit_dataset_streamed(p->ds)) {
        enum fit_status st = copy_pieces(v, p, list, n, sum, err);
        if (st != FIT_OK) {
            fit_shard_close_rows(&v->ds);
            return st;
        }
    }
    for (size_t k = 0; k < n && !fit_dataset_streamed(p->ds); k++) {
        const struct fit_shard_piece *x = &p->piece[list[k]];
        tile[k] = tile_of(p->ds, &p->ds->tile[x->tile], x, sum + k * ng * 3);
        count(&v->ds, &tile[k], sum + k * ng * 3);
    }
    *out = &v->ds;
    return FIT_OK;
}
