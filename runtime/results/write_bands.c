/* write_bands.c -- fit.h5: 95 % bands of the posterior, for curves, cuts and rows of tables.
 *
 *     /entry/curves/D_q025, D_q975          quantiles of the curve at each time
 *     /entry/cuts/g2_q025, g2_q975          of the mean of the data, averaged like g2_model
 *     /entry/data/model_q025, model_q975    of the mean of each row, if there are few
 *
 * They are pointwise, and of the mean: they do not include the noise. The model of a draw is computed at single points:
 * for cuts at the pair of frames in the middle of the age, at lags of a logarithmic grid, between which the band is
 * interpolated. The values kept there are differences to least squares, which vary less over a range of ages than the
 * model does.
 */
#include "hdf5/h5_writer.h"
#include "data/file_times.h"
#include "results/results.h"

#include "data/quantiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 300, LAGS = 48, MOST_ROWS = 5000, MOST_VALUES = 4000000 };

struct bands {
    const struct fit_results *r;
    size_t ndraw; /* that are used, evenly spaced among all */
    double *ws, *lin;
    size_t n; /* points */
    uint32_t *i, *j, *g;
    double *best;       /* n: least squares */
    double *mean;       /* n x ndraw: minus least squares */
    double *low, *high; /* n */
};

static const double *draw_of(const struct bands *b, size_t d)
{
    const struct fit_samples *s = b->r->samples;
    return s->x + d * (s->chains * s->draws) / b->ndraw * s->ncolumn;
}

/* Quantiles of m values for each of n places; value: n x m, reordered. */
static void quantiles(double *value, size_t n, size_t m, double *low, double *high)
{
    for (size_t k = 0; k < n; k++) {
        low[k] = fit_percentile(value + k * m, m, 2.5);
        high[k] = fit_percentile(value + k * m, m, 97.5);
    }
}

/* ---- means at points ------------------------------------------------------------------------- */

static int evaluate(struct bands *b, const double *theta, const double *lin, double *mean)
{
    const struct fit_kernel *k = b->r->kernel;
    const struct fit_layout *l = &b->r->ds->layout;
    const size_t m = l->ngroup * k->nlinear;
    for (size_t e = 0; e < m; e++)
        b->lin[e] = lin[e];
    if (k->prepare(l, theta, 0, b->ws) != FIT_EVAL_OK)
        return 0;
    const struct fit_points list = {b->n, b->i, k->space == FIT_PAIRS ? b->j : NULL, b->g};
    k->points(l, b->ws, b->lin, &list, mean, NULL);
    return 1;
}

/* A draw at which the model has no finite value is replaced by least squares. */
static enum fit_status bands_of_points(struct bands *b, struct fit_error *err)
{
    const struct fit_results *r = b->r;
    FIT_OWNED double *mean = malloc((b->n + 1) * sizeof *mean);
    if (!mean)
        return fit_no_memory(err, "fit.h5, bands of the posterior");
    if (!evaluate(b, r->fit->theta, r->fit->lin, b->best))
        memset(b->best, 0, b->n * sizeof *b->best);
    for (size_t d = 0; d < b->ndraw; d++) {
        const double *x = draw_of(b, d);
        const int good = evaluate(b, x, x + r->kernel->nparam, mean);
        for (size_t k = 0; k < b->n; k++)
            b->mean[k * b->ndraw + d] = good && isfinite(mean[k]) ? mean[k] - b->best[k] : 0;
    }
    quantiles(b->mean, b->n, b->ndraw, b->low, b->high);
    return FIT_OK;
}

static int open_points(struct bands *b, size_t n, struct fit_arena *a)
{
    const struct fit_kernel *k = b->r->kernel;
    const struct fit_layout *l = &b->r->ds->layout;
    b->i = fit_take(a, n, sizeof *b->i);
    b->j = fit_take(a, n, sizeof *b->j);
    b->g = fit_take(a, n, sizeof *b->g);
    b->best = fit_take(a, n, sizeof *b->best);
    b->low = fit_take(a, n, sizeof *b->low);
    b->high = fit_take(a, n, sizeof *b->high);
    b->mean = fit_take(a, n * b->ndraw, sizeof *b->mean);
    b->ws = fit_take(a, k->workspace(l), sizeof *b->ws);
    b->lin = fit_take(a, l->ngroup * k->nlinear, sizeof *b->lin);
    return !a->failed;
}

/* ---- cuts ------------------------------------------------------------------------------------ */

/* Lags of the grid, in frames, 1 .. nlag; returns their number. */
static size_t lags(size_t nlag, size_t lag[LAGS])
{
    size_t n = 0;
    for (size_t k = 0; k < LAGS; k++) {
        const size_t at = (size_t)lround(pow((double)nlag, (double)k / (LAGS - 1)));
        if (n == 0 || at > lag[n - 1])
            lag[n++] = at;
    }
    return n;
}

/* The used frame nearest to frame `at` of the time grid. */
static uint32_t used_frame(const struct fit_layout *l, double at)
{
    size_t lo = 0, hi = l->nframe - 1;
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        if ((double)l->frame[mid] < at - 0.25)
            lo = mid + 1;
        else
            hi = mid;
    }
    return (uint32_t)lo;
}

/* The pair in the middle of age a at this lag, or the nearest one among the frames, of a file with ntime of them. */
static void pair_of(const struct fit_layout *l, size_t ntime, size_t a, size_t lag, uint32_t *i, uint32_t *j)
{
    const double middle = (double)ntime * (2 * (double)a + 1) / FIT_MAPS_AGES; /* sum of both frames */
    lag = lag < ntime ? lag : ntime - 1;                                     /* no data are there */
    const double last = (double)(ntime - 1 - lag);
    const double first = fmin(last, fmax(0, floor((middle - (double)lag) / 2)));
    *i = used_frame(l, first);
    *j = used_frame(l, first + (double)lag);
}

/* The band of one cut at all lags, from that at the lags of the grid. */
static void spread_cut(const double *grid, const size_t *lag, size_t n, const double *model,
                       size_t nlag, double *out)
{
    for (size_t k = 0, at = 0; k < nlag; k++) {
        while (at + 2 < n && lag[at + 1] < k + 1)
            at++;
        const size_t next = at + 1 < n ? at + 1 : at;
        const double part =
            next > at ? ((double)(k + 1) - (double)lag[at]) / (double)(lag[next] - lag[at]) : 0;
        out[k] = model[k] + grid[at] + part * (grid[next] - grid[at]);
    }
}

static void put_cuts(struct fit_h5r *w, const struct bands *b, const size_t *lag, size_t n)
{
    static const char *const path[] = {"/entry/cuts/g2_q025", "/entry/cuts/g2_q975"};
    static const char *const scale[] = {"/entry/cuts/phi", "/entry/cuts/age", "/entry/cuts/tau"};
    const struct fit_maps *m = b->r->maps;
    const size_t dims[3] = {m->ngroup, FIT_MAPS_AGES, m->nlag};
    double *out = malloc((dims[0] * dims[1] * dims[2] + 1) * sizeof *out);
    if (!out)
        fit_h5r_no_memory(w, path[0]);
    for (size_t side = 0; out && side < 2; side++) {
        const double *grid = side ? b->high : b->low;
        for (size_t cut = 0; cut < m->ngroup * FIT_MAPS_AGES; cut++)
            spread_cut(grid + cut * n, lag, n, m->g2_model + cut * m->nlag, m->nlag,
                       out + cut * m->nlag);
        const struct fit_h5_array a = {
            .type = FIT_H5_F64, .rank = 3, .dims = dims, .value = out, .deflate = 1};
        fit_h5r_array(w, path[side], &a, "1");
        for (unsigned k = 0; k < 3; k++)
            fit_h5r_attach(w, path[side], k, scale[k]);
    }
    free(out);
}

static enum fit_status cuts(struct fit_h5r *w, struct bands *b, struct fit_error *err)
{
    const struct fit_maps *m = b->r->maps;
    size_t lag[LAGS], n = lags(m->nlag, lag);
    FIT_SCRATCH(a);
    b->n = m->ngroup * FIT_MAPS_AGES * n;
    if (!open_points(b, b->n, &a))
        return fit_no_memory(err, "fit.h5, bands of the posterior");
    for (size_t k = 0; k < b->n; k++) {
        b->g[k] = (uint32_t)(k / n / FIT_MAPS_AGES);
        pair_of(&b->r->ds->layout, fit_dataset_group_time(b->r->ds, b->g[k]).ntime, k / n % FIT_MAPS_AGES, lag[k % n],
                &b->i[k], &b->j[k]);
    }
    enum fit_status st = bands_of_points(b, err);
    if (st == FIT_OK)
        put_cuts(w, b, lag, n);
    return st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static enum fit_status rows(struct fit_h5r *w, struct bands *b, struct fit_error *err)
{
    static const char *const path[] = {"/entry/data/model_q025", "/entry/data/model_q975"};
    const struct fit_dataset *ds = b->r->ds;
    const struct fit_maps *m = b->r->maps;
    FIT_SCRATCH(a);
    b->n = 0;
    double *out = fit_take(&a, m->n, sizeof *out);
    if (!open_points(b, m->n, &a))
        return fit_no_memory(err, "fit.h5, bands of the posterior");
    for (size_t t = 0; t < ds->ntile; t++)
        for (size_t i = ds->tile[t].i0; i < ds->tile[t].i1 && b->n < m->n; i++) {
            b->i[b->n] = (uint32_t)i;
            b->g[b->n++] = (uint32_t)ds->tile[t].group;
        }
    enum fit_status st = bands_of_points(b, err);
    for (size_t side = 0; st == FIT_OK && side < 2; side++) {
        for (size_t k = 0; k < m->n; k++)
            out[k] = NAN;
        for (size_t k = 0; k < b->n; k++) {
            const size_t row = ds->row ? ds->row[b->i[k]] : b->i[k];
            if (row < m->n)
                out[row] = (double)m->model[row] + (side ? b->high : b->low)[k];
        }
        fit_h5r_reals(w, path[side], 1, &m->n, out, NULL);
    }
    return st;
}

/* ---- curves ---------------------------------------------------------------------------------- */

static enum fit_status curves(struct fit_h5r *w, const struct bands *b, const struct fit_layout *l, const char *folder,
                              struct fit_error *err)
{
    FIT_SCRATCH(a);
    static const char *const end[] = {"q025", "q975"};
    const struct fit_kernel *k = b->r->kernel;
    const size_t n = l->ntime, all = k->ncurve * n;
    size_t m = b->ndraw;
    while (m > 100 && m * all > MOST_VALUES)
        m /= 2;
    double *one = fit_take(&a, all, sizeof *one), *value = fit_take(&a, all * m, sizeof *value);
    double *side = fit_take(&a, 2 * all, sizeof *side);
    char path[128], scale[64];
    if (a.failed)
        return fit_no_memory(err, "fit.h5, bands of the curves");
    for (size_t d = 0; d < m; d++) {
        k->curves(l, draw_of(b, d * b->ndraw / m), one, NULL);
        for (size_t e = 0; e < all; e++)
            value[e * m + d] = one[e];
    }
    quantiles(value, all, m, side, side + all);
    snprintf(scale, sizeof scale, "%s/t", folder);
    for (size_t c = 0; c < k->ncurve; c++)
        for (size_t s = 0; s < 2; s++) {
            snprintf(path, sizeof path, "%s/%s_%s", folder, k->curve[c].name, end[s]);
            fit_h5r_reals(w, path, 1, &n, side + s * all + c * n, k->curve[c].unit);
            fit_h5r_attach(w, path, 0, scale);
        }
    return FIT_OK;
}

static enum fit_status all_curves(struct fit_h5r *w, const struct bands *b, struct fit_error *err)
{
    FIT_SCRATCH(a);
    struct fit_layout fine;
    enum fit_status st = curves(w, b, &b->r->ds->layout, "/entry/curves", err);
    if (st == FIT_OK && fit_results_fine(b->r, &fine, &a))
        st = curves(w, b, &fine, "/entry/curves_fine", err);
    return st;
}

/* ---------------------------------------------------------------------------------------------- */

enum fit_status fit_write_bands(struct fit_h5r *w, const struct fit_results *r,
                                struct fit_error *err)
{
    const struct fit_samples *s = r->samples;
    const struct fit_kernel *k = r->kernel;
    if (!s || s->chains * s->draws < 40) /* too few for such quantiles */
        return FIT_OK;
    struct bands b = {.r = r, .ndraw = s->chains * s->draws < DRAWS ? s->chains * s->draws : DRAWS};
    enum fit_status st = FIT_OK;
    if (fit_results_has_curves(r))
        st = all_curves(w, &b, err);
    if (st == FIT_OK && r->maps && k->space == FIT_PAIRS && r->maps->nlag > 1)
        st = cuts(w, &b, err);
    if (st == FIT_OK && r->maps && k->space == FIT_ROWS && r->maps->n <= MOST_ROWS)
        st = rows(w, &b, err);
    return st;
}
