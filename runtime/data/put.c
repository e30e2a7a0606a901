/* put.c -- values of matrices into the tiles of a dataset.
 *
 * Takes whole matrices (fit_dataset_put), or views of boxes that were read from a file (put_tile,
 * fit_dataset_put_groups); gives y and w of tiles in the order of dataset.c, with the same bits in both cases: the
 * value minus the reference of its group, and 1 / sigma^2.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "data/dataset_impl.h"
#include "data/share.h"
#include "data/tile_arithmetic.h"
#include "machine/team.h"

#include <math.h>

#define L FIT_LANES
#if defined(__GNUC__)
#define FETCH(p) __builtin_prefetch(p)
#else
#define FETCH(p) ((void)(p))
#endif

enum { ROWS_AHEAD = 6, LINE = 64 /* bytes of a cache line */ };

static const struct fit_team everyone = {FIT_TEAM_ALL, FIT_TEAM_SHARE}, alone = {1, FIT_TEAM_SHARE};

static size_t ceil_div(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

int fit_dataset_counts(double y, const double *sigma, size_t at)
{
    if (!isfinite(y))
        return 0;
    if (!sigma)
        return 1;
    double w =
        1 / (sigma[at] * sigma[at]); /* 0 or infinite for errors beyond 1e-154 .. 1e154, and NaN */
    return sigma[at] > 0 && isfinite(w) && w > 0;
}

struct rows {
    const struct fit_layout *l;
    const double *m, *sigma;
    double *sum;   /* nframe */
    size_t *count; /* nframe */
};

static void survey_row(void *user, size_t i, size_t thread)
{
    const struct rows *r = user;
    const struct fit_layout *l = r->l;
    size_t base = (size_t)l->frame[i] * l->ntime, c = 0;
    double s = 0;
    (void)thread;
    for (size_t j = i + 1; j < l->nframe; j++) {
        size_t at = base + l->frame[j];
        if (fit_dataset_counts(r->m[at], r->sigma, at)) {
            s += r->m[at];
            c++;
        }
    }
    r->sum[i] = s;
    r->count[i] = c;
}

/* Mean of the values that count and number of those that do not, over i < j; row sums are added in order. */
static enum fit_status survey(const struct fit_dataset *ds, const double *m, const double *sigma,
                              double *mean, size_t *bad, struct fit_error *err)
{
    FIT_SCRATCH(a);
    const struct fit_layout *l = &ds->layout;
    size_t n = l->nframe, count = 0;
    double *row = fit_take(&a, n, sizeof *row), total = 0;
    size_t *good = fit_take(&a, n, sizeof *good);
    if (a.failed)
        return fit_no_memory(err, "data");
    struct rows all = {l, m, sigma, row, good};
    fit_team_run(n >= FIT_FRAMES_PARALLEL ? everyone : alone, n, survey_row, &all);
    for (size_t i = 0; i < n; i++) {
        total += row[i];
        count += good[i];
    }
    *mean = count ? total / (double)count : 0;
    *bad = n * (n - 1) / 2 - count;
    return FIT_OK;
}

/* One vector of 8 columns from 8 b on, of row i; lanes outside i < j < j1 become zero. */
static void put_block(const struct fit_layout *l, const struct fit_values *v,
                      const struct fit_tile *t, size_t i, size_t b, double *y, double *w)
{
    size_t row = l->frame[i] - v->row;
    for (size_t lane = 0; lane < L; lane++) {
        size_t j = b * L + lane;
        y[lane] = 0;
        if (w)
            w[lane] = 0;
        if (j <= i || j >= t->j1)
            continue;
        size_t column = l->frame[j] - v->column;
        double value = fit_view_get(&v->y, row, column), sigma = 0;
        if (v->has_sigma)
            sigma = fit_view_get(&v->sigma, row, column);
        int ok = v->clean || fit_dataset_counts(value, v->has_sigma ? &sigma : NULL, 0);
        y[lane] = ok ? value - v->reference : 0;
        if (w)
            w[lane] = !ok ? 0 : v->has_sigma ? 1 / (sigma * sigma) : 1;
    }
}

/* A row of the tile from block `b` to `end`, of adjacent values that all count: the blocks at its ends may have
 * lanes outside. */
static void put_row(const struct fit_layout *l, const struct fit_values *v, const struct fit_tile *t,
                    size_t i, size_t b, size_t end, double *y)
{
    const size_t stride = l->ngroup * L;
    const double reference = v->reference;
    if (b * L <= i) {
        put_block(l, v, t, i, b++, y, NULL);
        y += stride;
    }
    size_t whole = t->j1 / L > b ? t->j1 / L - b : 0;
    ptrdiff_t from = (ptrdiff_t)(l->frame[i] - v->row) * v->y.row;
    if (whole)
        from += (ptrdiff_t)(l->frame[b * L] - v->column);
    ptrdiff_t item = v->y.single ? (ptrdiff_t)sizeof(float) : (ptrdiff_t)sizeof(double);
    const char *ahead = (const char *)v->y.value + item * (from + ROWS_AHEAD * v->y.row);
    for (size_t k = 0; k < whole * L * (size_t)item && i + ROWS_AHEAD < t->i1; k += LINE)
        FETCH(ahead + k); /* rows are too far apart for the hardware prefetcher */
    if (v->y.single)
        fit_lanes_widen((const float *)v->y.value + from, whole, reference, stride, y);
    for (size_t k = 0; !v->y.single && k < whole; k++)
        for (size_t lane = 0; lane < L; lane++)
            y[k * stride + lane] = ((const double *)v->y.value + from)[k * L + lane] - reference;
    if (b + whole < end)
        put_block(l, v, t, i, b + whole, y + whole * stride, NULL);
}

int fit_values_plain(const struct fit_dataset *ds, const struct fit_values *v)
{
    return v->clean && ds->private_->contiguous && v->y.column == 1 && !(v->y.baseline > 0);
}

static void put_tile(const struct fit_dataset *ds, const struct fit_values *v,
                          const struct fit_tile *t, double *y, double *w)
{
    const struct fit_layout *l = &ds->layout;
    const size_t stride = l->ngroup * L;
    int quick = !w && fit_values_plain(ds, v);
    size_t at = v->g * L;
    for (size_t i = t->i0; i < t->i1; i++) {
        size_t b = (t->j0 > i + 1 ? t->j0 : i + 1) / L, end = ceil_div(t->j1, L);
        if (quick)
            put_row(l, v, t, i, b, end, y + at);
        for (size_t k = 0; !quick && k < end - b; k++)
            put_block(l, v, t, i, b + k, y + at + k * stride, w ? w + at + k * stride : NULL);
        at += (end - b) * stride;
    }
}

/* Row by row with the group running fastest, as in the tile: writes are contiguous, and every group continues
 * reading in its matrix. */
static void put_plain(const struct fit_layout *l, const struct fit_values *v, const struct fit_tile *t,
                      const float **from, const double *reference, double *y)
{
    const size_t stride = l->ngroup * L;
    for (size_t i = t->i0; i < t->i1; i++) {
        size_t b = (t->j0 > i + 1 ? t->j0 : i + 1) / L, end = ceil_div(t->j1, L);
        if (b * L <= i) {
            for (size_t g = 0; g < l->ngroup; g++)
                put_block(l, &v[g], t, i, b, y + g * L, NULL);
            b++;
            y += stride;
        }
        size_t whole = t->j1 / L > b ? t->j1 / L - b : 0;
        for (size_t g = 0; whole && g < l->ngroup; g++)
            from[g] = (const float *)v[g].y.value + (ptrdiff_t)(l->frame[i] - v[g].row) * v[g].y.row +
                      (l->frame[b * L] - v[g].column);
        const struct fit_lanes_gather x = {from, reference, l->ngroup, whole, v->y.row};
        fit_lanes_gather(&x, y);
        y += whole * stride;
        if (b + whole < end) {
            for (size_t g = 0; g < l->ngroup; g++)
                put_block(l, &v[g], t, i, b + whole, y + g * L, NULL);
            y += stride;
        }
    }
}

void fit_dataset_put_groups(const struct fit_dataset *ds, const struct fit_values *v,
                            const struct fit_tile *t, double *y, double *w)
{
    FIT_SCRATCH(a);
    size_t n = ds->layout.ngroup;
    const float **from = fit_take(&a, n, sizeof *from);
    double *reference = fit_take(&a, n, sizeof *reference);
    int plain = !a.failed && n > 1;
    for (size_t g = 0; plain && g < n; g++) {
        plain = !w && fit_values_plain(ds, &v[g]) && v[g].y.single && v[g].y.row == v[0].y.row;
        reference[g] = v[g].reference;
    }
    if (plain)
        put_plain(&ds->layout, v, t, from, reference, y);
    for (size_t g = 0; !plain && g < n; g++)
        put_tile(ds, &v[g], t, y, w);
}

/* Lanes that count get the weight 1. */
static void weigh_tile(void *user, size_t turn, size_t thread)
{
    const struct fit_dataset *ds = user;
    const size_t k = ds->first + turn;
    const struct fit_layout *l = &ds->layout;
    const struct fit_tile *t = &ds->tile[k];
    double *w = ds->private_->w.data + ds->private_->offset[k];
    (void)thread;
    for (size_t i = t->i0; i < t->i1; i++) {
        size_t b = (t->j0 > i + 1 ? t->j0 : i + 1) / L, end = ceil_div(t->j1, L);
        for (; b < end; b++, w += l->ngroup * L)
            for (size_t c = 0; c < l->ngroup * L; c++) {
                size_t j = b * L + c % L;
                w[c] = j > i && j < t->j1;
            }
    }
}

/* Weights are allocated when the first one differs from 1. */
enum fit_status fit_dataset_need_weights(struct fit_dataset *ds, struct fit_error *err)
{
    struct fit_dataset_private *p = ds->private_;
    if (p->w.data)
        return FIT_OK;
    enum fit_status st = fit_dataset_block_new(&p->w, p->ndouble, err);
    if (st != FIT_OK)
        return st;
    fit_dataset_point_tiles(ds);
    fit_team_run(everyone, ds->last - ds->first, weigh_tile, ds);
    return FIT_OK;
}

struct putting {
    const struct fit_dataset *ds;
    const struct fit_values *v;
    size_t first; /* tile */
};

static void put_turn(void *user, size_t turn, size_t thread)
{
    const struct putting *x = user;
    const struct fit_dataset_private *p = x->ds->private_;
    const size_t k = x->first + turn;
    (void)thread;
    put_tile(x->ds, x->v, &x->ds->tile[k], p->y.data + p->offset[k],
                         p->w.data ? p->w.data + p->offset[k] : NULL);
}

/* Values of the tiles [first, last). */
static void put_tiles(struct fit_dataset *ds, const struct fit_values *v, size_t first, size_t last)
{
    struct putting all = {ds, v, first};
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_DECODE);
    fit_team_run(ds->layout.nframe >= FIT_FRAMES_PARALLEL ? everyone : alone, last - first, put_turn, &all);
    fit_clock_enter(was);
    ds->private_->put[v->g] = 1;
}

/* What a look has found, into v and the data set. */
static enum fit_status take_look(struct fit_dataset *ds, const struct fit_matrix_look *look, struct fit_values *v,
                                 struct fit_error *err)
{
    v->clean = !(look->bad > 0) && !v->has_sigma;
    v->reference = ds->reference[v->g] = ds->private_->center ? look->mean : 0;
    return v->clean ? FIT_OK : fit_dataset_need_weights(ds, err);
}

/* A matrix that was looked at, into the tiles whose values can be had here. */
static enum fit_status put_known(struct fit_dataset *ds, size_t g, const double *matrix, const double *sigma,
                                 const struct fit_matrix_look *look, struct fit_error *err)
{
    const ptrdiff_t wide = (ptrdiff_t)ds->layout.ntime;
    struct fit_values v = {.y = {.value = matrix, .row = wide, .column = 1},
                           .sigma = {.value = sigma, .row = wide, .column = 1},
                           .has_sigma = sigma != NULL,
                           .g = g};
    const enum fit_status st = take_look(ds, look, &v, err);
    if (st == FIT_OK)
        put_tiles(ds, &v, ds->first, ds->last);
    return st;
}

enum fit_status fit_share_put(struct fit_dataset *ds, size_t g, const struct fit_share_box *box,
                              const struct fit_matrix_look *look, struct fit_error *err)
{
    struct fit_values v = {.y = box->y, .row = box->row, .column = box->column, .g = g};
    const enum fit_status st = take_look(ds, look, &v, err);
    if (st == FIT_OK)
        put_tiles(ds, &v, box->first, box->last);
    return st;
}

static enum fit_status look_at(const struct fit_dataset *ds, const double *matrix, const double *sigma,
                               struct fit_matrix_look *look, struct fit_error *err)
{
    size_t bad = 0;
    const enum fit_status st = survey(ds, matrix, sigma, &look->mean, &bad, err);
    look->bad = (double)bad;
    return st;
}

enum fit_status fit_dataset_look(const struct fit_dataset *ds, const double *matrix, struct fit_matrix_look *look,
                                 struct fit_error *err)
{
    return look_at(ds, matrix, NULL, look, err);
}

enum fit_status fit_dataset_put_looked(struct fit_dataset *ds, size_t g, const double *matrix,
                                       const struct fit_matrix_look *look, struct fit_error *err)
{
    return put_known(ds, g, matrix, NULL, look, err);
}

enum fit_status fit_dataset_put(struct fit_dataset *ds, size_t g, const double *matrix,
                                const double *sigma, struct fit_error *err)
{
    struct fit_dataset_private *p = ds->private_;
    struct fit_matrix_look look;
    if (ds->layout.nrow > 0 || p->finished || !p->y.data || g >= ds->layout.ngroup)
        return fit_fail(err, FIT_ERR_INTERNAL, "data: matrix %zu cannot be put here", g);
    if (p->any_put && (sigma != NULL) != ds->weighted)
        return fit_fail(err, FIT_ERR_USAGE,
                        "data: matrix %zu %s errors, the others %s; give them for all or for none",
                        g + 1, sigma ? "has" : "has no", sigma ? "have none" : "have them");
    ds->weighted = sigma != NULL;
    p->any_put = 1;
    const enum fit_status st = look_at(ds, matrix, sigma, &look, err);
    return st == FIT_OK ? put_known(ds, g, matrix, sigma, &look, err) : st;
}
