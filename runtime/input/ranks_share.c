/* ranks_share.c -- whole matrices, of which each rank reads some and holds of all what its tiles need.
 *
 * In every round each rank reads one matrix, compares it with the file's own diagonal means and finds its mean; then
 * the upper triangles of the round go from those who have read them to all, who put what belongs to their tiles.  The
 * values, and so their bits, are those that one process would have put.
 */
#include "input/measurement_impl.h"

#include "base/clock.h"
#include "ranks/ranks.h"

#include <string.h>

struct round {
    struct loading *l;
    double *triangle, *other; /* what is told: n (n - 1) / 2; a matrix that was told */
    double *look;             /* of each rank: mean, bad, blank frames */
    size_t *count;
    struct fit_arena storage;
};

enum { LOOK = 3 };

/* The upper triangle of an n x n matrix, or back to rows [first, last) of it. */
static void pack(const double *m, size_t n, double *triangle)
{
    for (size_t i = 0; i < n; i++, triangle += n - i)
        memcpy(triangle, m + i * n + i + 1, (n - i - 1) * sizeof *m);
}

static void unpack(const double *triangle, size_t n, size_t first, size_t last, double *m)
{
    for (size_t i = 0; i < last; i++, triangle += n - i)
        if (i >= first)
            memcpy(m + i * n + i + 1, triangle, (n - i - 1) * sizeof *m);
}

/* Blank frames of l->matrix, of which none stays marked. */
static size_t count_blank(struct loading *l)
{
    const size_t n = fit_loading_find_blank(l);
    for (size_t i = 0; n && i < l->m->ntime; i++)
        l->out[i] = l->out[i] == 2 ? 0 : l->out[i];
    return n;
}

/* Matrix g, read by this rank. */
static enum fit_status read_own(struct round *x, size_t g, double look[LOOK], struct fit_error *err)
{
    struct loading *l = x->l;
    struct fit_matrix_look seen = {0};
    enum fit_status st = fit_source_read_upper(l->src, l->index[g], l->matrix, err);
    if (st == FIT_OK)
        st = fit_loading_check_mapping(l, g, err);
    if (st != FIT_OK)
        return st;
    fit_loading_cut(l, l->matrix);
    look[2] = (double)count_blank(l);
    if (!(look[2] > 0))
        st = fit_dataset_look(l->m->dataset, l->matrix, &seen, err);
    look[0] = seen.mean;
    look[1] = seen.bad;
    pack(l->matrix, l->m->ntime, x->triangle);
    return st;
}

/* Matrix g, which rank r has read. */
static enum fit_status put(struct round *x, size_t g, size_t r, struct fit_error *err)
{
    struct loading *l = x->l;
    struct fit_dataset *ds = l->m->dataset;
    const size_t n = l->m->ntime;
    const int own = r == fit_ranks_rank(), any = ds->first < ds->last;
    const struct fit_matrix_look look = {x->look[r * LOOK], x->look[r * LOOK + 1]};
    double *triangle = own ? x->triangle : x->other + n * n;
    fit_ranks_copy(r, triangle, n * (n - 1) / 2 * sizeof *triangle);
    if (!own && any)
        unpack(triangle, n, l->frame[ds->tile[ds->first].i0], l->frame[ds->tile[ds->last - 1].i1 - 1] + 1, x->other);
    return fit_dataset_put_looked(ds, g, own ? l->matrix : x->other, &look, err);
}

static enum fit_status one_round(struct round *x, size_t from, int *blank, struct fit_error *err)
{
    const size_t size = fit_ranks_size(), rank = fit_ranks_rank(), ng = x->l->m->ngroup;
    double look[LOOK] = {0};
    enum fit_status st = from + rank < ng ? read_own(x, from + rank, look, err) : FIT_OK;
    if ((st = fit_ranks_agree_status(st, err)) != FIT_OK)
        return st;
    for (size_t r = 0; r < size; r++)
        x->count[r] = LOOK;
    fit_ranks_gather(look, x->count, x->look);
    for (size_t r = 0; r < size; r++)
        *blank |= x->look[r * LOOK + 2] > 0;
    for (size_t r = 0; r < size && from + r < ng && !*blank && st == FIT_OK; r++)
        st = put(x, from + r, r, err);
    return fit_ranks_agree_status(st, err);
}

enum fit_status fit_loading_by_ranks(struct loading *l, int *done, struct fit_error *err)
{
    const size_t size = fit_ranks_size(), n = l->m->ntime;
    struct round x = {.l = l};
    int blank = 0;
    *done = 0;
    x.triangle = fit_take_unset(&x.storage, n * n / 2 + 1, sizeof *x.triangle);
    x.other = fit_take_unset(&x.storage, n * n + n * n / 2 + 1, sizeof *x.other);
    x.look = fit_take(&x.storage, size * LOOK, sizeof *x.look);
    x.count = fit_take(&x.storage, size, sizeof *x.count);
    enum fit_status st = x.storage.failed ? fit_no_memory(err, "data") : fit_loading_dataset(l, 0, err);
    st = fit_ranks_agree_status(st, err);
    for (size_t from = 0; from < l->m->ngroup && st == FIT_OK && !blank; from += size)
        st = one_round(&x, from, &blank, err);
    *done = st == FIT_OK && !blank;
    fit_arena_free(&x.storage);
    return st;
}
