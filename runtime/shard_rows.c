/* shard_rows.c -- shards with the storage of the whole: rows of tiles, or vectors of rows of a table; see shard.h.
 *
 * A shard's tiles are parts of the whole's; layout, tables and numbering of frames stay as they are.
 */
#include "shard_impl.h"

#include <stdlib.h>

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

/* The tile of a piece, its values and their sums. */
static struct fit_tile tile_of(const struct fit_dataset *ds, const struct fit_shard_piece *x, double *sum)
{
    const struct fit_tile *whole = &ds->tile[x->tile];
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

void fit_shard_close_rows(struct fit_dataset *view)
{
    if (view->tile)
        free((double *)(uintptr_t)view->tile[0].sum);
    free(view->tile);
    free(view->npoint_group);
    free(view);
}

enum fit_status fit_shard_open_rows(const struct fit_shards_private *p, const size_t *list, size_t n,
                                    struct fit_dataset **out, struct fit_error *err)
{
    size_t ng = p->ds->layout.ngroup;
    struct fit_dataset *v = calloc(1, sizeof *v);
    struct fit_tile *tile = calloc(n, sizeof *tile);
    double *sum = calloc(n * ng * 3, sizeof *sum);
    size_t *count = calloc(ng, sizeof *count);
    *out = NULL;
    if (!v || !tile || !sum || !count) {
        free(v);
        free(tile);
        free(sum);
        free(count);
        return fit_fail(err, FIT_ERR_MEMORY, "no memory for %zu pieces", n);
    }
    *v = *p->ds;
    v->tile = tile;
    v->ntile = n;
    v->npoint_group = count;
    v->npoint = v->ndropped = 0;
    for (size_t k = 0; k < n; k++) {
        tile[k] = tile_of(p->ds, &p->piece[list[k]], sum + k * ng * 3);
        for (size_t g = 0; g < ng; g++) {
            size_t have = fit_tile_sum(&v->layout, &tile[k], g, sum + (k * ng + g) * 3);
            count[g] += have;
            v->npoint += have;
        }
    }
    *out = v;
    return FIT_OK;
}
