/* ranks_share.c -- whole matrices: each rank reads some of them, and stores of all of them the values of its tiles.
 *
 * Each rank reads some of the matrices as a whole, compares them with the file's own diagonal means and finds their
 * means.  Where values lie in the file as they are, each rank then reads of the others' matrices the rows of its tiles.
 * Where they have to be expanded, ranks read one matrix each in rounds; the upper triangles of the round go from those
 * who have read them to all, who put what belongs to their tiles.  The values, and so their bits, are those that one
 * process would have put.
 */
#include "input/measurement_impl.h"

#include "base/clock.h"
#include "data/share.h"
#include "input/source_impl.h"
#include "ranks/ranks.h"

#include <math.h>
#include <string.h>

struct round {
    struct loading *l;
    void *triangle, *told; /* n (n - 1) / 2 numbers: to be sent, received */
    double *other;         /* a matrix that was told */
    double *look;          /* of each matrix of the round (of all matrices, where rows are read), LOOK numbers */
    size_t *count;
    struct fit_h5_raw_set *set; /* rows are read of */
    struct fit_plane *plane;    /* ngroup; NULL: matrices go from rank to rank */
    struct fit_arena storage;
};

/* Of a matrix; SINGLE: its values are those of single precision; LOWER: the file holds its lower half. */
enum { MEAN, BAD, BLANK, SINGLE, LOWER, LOOK };

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
    enum fit_half half;
    enum fit_status st = fit_source_read_known(l->src, l->index[g], l->matrix, &half, err);
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
    look[LOWER] = half == FIT_HALF_LOWER;
    return st;
}

/* ---- rows of the file ------------------------------------------------------------------------------------ */

/* Planes of all matrices, when every rank can read rows of them at no more cost than the values have. */
static enum fit_status open_planes(struct round *x, struct fit_error *err)
{
    const struct loading *l = x->l;
    const size_t ng = l->m->ngroup;
    const char *why = NULL;
    struct fit_plane *plane = fit_take(&x->storage, ng, sizeof *plane);
    enum fit_status st = plane ? fit_h5_raw_new(0, &x->set, err) : fit_no_memory(err, "data");
    int plain = 1;
    for (size_t g = 0; g < ng && st == FIT_OK && plain; g++) {
        st = fit_source_plane(l->src, x->set, l->index[g], 0, &plane[g], &why, err);
        plain = st == FIT_OK && !why && !plane[g].last && !fit_h5_raw_compressed(plane[g].raw);
    }
    st = fit_ranks_agree_status(st, err);
    x->plane = st == FIT_OK && fit_ranks_least(plain) > 0 ? plane : NULL;
    return st;
}

/* The tiles [k, end) that begin with the same row, and the box of the file that they want. */
static struct fit_rect box_of(const struct loading *l, size_t k, size_t *end)
{
    const struct fit_dataset *ds = l->m->dataset;
    const struct fit_tile *t = ds->tile;
    const size_t i0 = t[k].i0, first = t[k].j0 > i0 + 1 ? t[k].j0 : i0 + 1;
    size_t i1 = t[k].i1, j1 = t[k].j1;
    for (*end = k; *end < ds->last && t[*end].i0 == i0; ++*end) {
        i1 = t[*end].i1 > i1 ? t[*end].i1 : i1;
        j1 = t[*end].j1;
    }
    return (struct fit_rect){l->row + l->frame[i0], l->row + l->frame[i1 - 1] + 1, l->row + l->frame[first],
                             l->row + l->frame[j1 - 1] + 1};
}

/* Rows of matrix g, at which another rank has looked. */
static enum fit_status put_rows(struct round *x, size_t g, struct fit_error *err)
{
    struct loading *l = x->l;
    struct fit_dataset *ds = l->m->dataset;
    const double *seen = x->look + g * LOOK;
    struct fit_plane plane = x->plane[g];
    enum fit_status st = FIT_OK;
    plane.lower = seen[LOWER] > 0;
    for (size_t k = ds->first, end; k < ds->last && st == FIT_OK; k = end) {
        const struct fit_rect box = box_of(l, k, &end);
        if ((st = fit_plane_read(&plane, &box, x->other, err)) != FIT_OK)
            break;
        const struct fit_share_box rows = {fit_plane_view(&plane, &box, x->other), box.r0 - l->row, box.c0 - l->row,
                                           k, end};
        st = fit_share_put(ds, g, &rows, &(struct fit_matrix_look){seen[MEAN], seen[BAD]}, err);
    }
    return st;
}

/* Own matrices as a whole, then rows of the others. */
static enum fit_status by_rows(struct round *x, int *blank, struct fit_error *err)
{
    const size_t size = fit_ranks_size(), rank = fit_ranks_rank(), ng = x->l->m->ngroup;
    enum fit_status st = FIT_OK;
    int mine = 0;
    for (size_t g = rank; g < ng && st == FIT_OK && !mine; g += size) {
        double *look = x->look + g * LOOK;
        st = read_own(x, g, look, err);
        mine = look[BLANK] > 0;
        if (st == FIT_OK && !mine)
            st = fit_dataset_put_looked(x->l->m->dataset, g, x->l->matrix,
                                        &(struct fit_matrix_look){look[MEAN], look[BAD]}, err);
    }
    if ((st = fit_ranks_agree_status(st, err)) != FIT_OK)
        return st;
    fit_ranks_spread(x->look, ng, LOOK * sizeof *x->look);
    for (size_t g = 0; g < ng; g++)
        *blank |= x->look[g * LOOK + BLANK] > 0;
    for (size_t g = 0; g < ng && st == FIT_OK && !*blank; g++)
        st = g % size == rank ? FIT_OK : put_rows(x, g, err);
    return fit_ranks_agree_status(st, err);
}

/* ---- matrices from rank to rank -------------------------------------------------------------------------- */

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
    if (st == FIT_OK && from + rank < ng)
        look[SINGLE] = pack(x->l->matrix, x->l->m->ntime, x->triangle);
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

static enum fit_status by_rounds(struct round *x, int *blank, struct fit_error *err)
{
    const size_t n = x->l->m->ntime, size = fit_ranks_size();
    x->triangle = fit_take_unset(&x->storage, n * n / 2 + 1, sizeof(double));
    x->told = fit_take_unset(&x->storage, n * n / 2 + 1, sizeof(double));
    x->count = fit_take(&x->storage, size, sizeof *x->count);
    enum fit_status st = fit_ranks_agree_status(x->storage.failed ? fit_no_memory(err, "data") : FIT_OK, err);
    for (size_t from = 0; from < x->l->m->ngroup && st == FIT_OK && !*blank; from += size)
        st = one_round(x, from, blank, err);
    return st;
}

enum fit_status fit_loading_by_ranks(struct loading *l, int *done, struct fit_error *err)
{
    const size_t size = fit_ranks_size(), n = l->m->file_frames, ng = l->m->ngroup;
    struct round x = {.l = l};
    int blank = 0;
    *done = 0;
    x.other = fit_take_unset(&x.storage, n * n, sizeof *x.other);
    x.look = fit_take(&x.storage, (size > ng ? size : ng) * LOOK, sizeof *x.look);
    enum fit_status st = x.storage.failed ? fit_no_memory(err, "data") : fit_loading_dataset(l, 0, err);
    st = fit_ranks_agree_status(st, err);
    if (st == FIT_OK)
        st = open_planes(&x, err);
    if (st == FIT_OK)
        st = x.plane ? by_rows(&x, &blank, err) : by_rounds(&x, &blank, err);
    *done = st == FIT_OK && !blank;
    fit_h5_raw_free(x.set);
    fit_arena_free(&x.storage);
    return st;
}
