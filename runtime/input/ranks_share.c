/* ranks_share.c -- whole matrices: each rank reads some of them, and stores of all of them the values of its tiles.
 *
 * In every round each rank reads one matrix, compares it with the file's own diagonal means and finds its mean. Then
 * the ranks that have read a matrix send its upper triangle to all, and each stores the values of its tiles. The
 * values, and so their bits, are the same as in a single process.
 */
#include "input/measurement_impl.h"

#include "base/clock.h"
#include "ranks/ranks.h"

#include <math.h>
#include <string.h>

struct round {
    struct loading *l;
    void *triangle, *told; /* n (n - 1) / 2 numbers: to be sent, received */
    double *other;         /* a matrix that was told */
    double *look;          /* of each rank, LOOK numbers */
    size_t *count;
    struct fit_arena storage;
};

enum { MEAN, BAD, BLANK, SINGLE, LOOK }; /* of a matrix; SINGLE: its values are single-precision numbers */

static int is_single(double v)
{
    return (double)(float)v == v || isnan(v);
}

/* The upper triangle of an n x n matrix. Returns 1 if single precision holds it exactly, and stores it in that form. */
static int pack(const double *m, size_t n, void *triangle)
{
    float *single = triangle;
    double *full = triangle;
    int exact = 1;
    for (size_t i = 0; i < n && exact; i++)
        for (size_t j = i + 1; j < n; j++) {
            exact &= is_single(m[i * n + j]);
            *single++ = (float)m[i * n + j];
        }
    for (size_t i = 0; i < n && !exact; i++, full += n - i)
        memcpy(full, m + i * n + i + 1, (n - i - 1) * sizeof *m);
    return exact;
}

/* Rows [first, last) of the matrix. */
static void unpack(const void *triangle, int single, size_t n, size_t first, size_t last, double *m)
{
    for (size_t i = first; i < last; i++) {
        const size_t at = i * (2 * n - i - 1) / 2, count = n - i - 1;
        double *to = m + i * n + i + 1;
        if (!single)
            memcpy(to, (const double *)triangle + at, count * sizeof *to);
        for (size_t k = 0; single && k < count; k++)
            to[k] = (double)((const float *)triangle)[at + k];
    }
}

/* Counts the blank frames of l->matrix and removes their marks. */
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
    look[BLANK] = (double)count_blank(l);
    if (!(look[BLANK] > 0))
        st = fit_dataset_look(l->m->dataset, l->matrix, &seen, err);
    look[MEAN] = seen.mean;
    look[BAD] = seen.bad;
    look[SINGLE] = pack(l->matrix, l->m->ntime, x->triangle);
    return st;
}

/* Matrix g, which rank r has read. */
static enum fit_status put(struct round *x, size_t g, size_t r, struct fit_error *err)
{
    struct loading *l = x->l;
    struct fit_dataset *ds = l->m->dataset;
    const size_t n = l->m->ntime;
    const int own = r == fit_ranks_rank(), any = ds->first < ds->last;
    const double *seen = x->look + r * LOOK;
    const int single = seen[SINGLE] > 0;
    void *triangle = own ? x->triangle : x->told;
    fit_ranks_copy(r, triangle, n * (n - 1) / 2 * (single ? sizeof(float) : sizeof(double)));
    if (!own && any)
        unpack(triangle, single, n, l->frame[ds->tile[ds->first].i0], l->frame[ds->tile[ds->last - 1].i1 - 1] + 1,
               x->other);
    return fit_dataset_put_looked(ds, g, own ? l->matrix : x->other, &(struct fit_matrix_look){seen[MEAN], seen[BAD]},
                                  err);
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
        *blank |= x->look[r * LOOK + BLANK] > 0;
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
    x.triangle = fit_take_unset(&x.storage, n * n / 2 + 1, sizeof(double));
    x.told = fit_take_unset(&x.storage, n * n / 2 + 1, sizeof(double));
    x.other = fit_take_unset(&x.storage, n * n, sizeof *x.other);
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
