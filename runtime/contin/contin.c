/* contin.c -- a distribution, from data to intervals: see contin.h. */
#include "contin/contin_impl.h"
#include "math/special.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PART = 0.95;
void contin_result_free(struct contin_result *r)
{
    free(r->x);
    *r = (struct contin_result){0};
}

static enum fit_status result_new(const struct contin_problem *p, struct contin_result *r, struct fit_error *err)
{
    const size_t n = p->n, nc = p->ncurve;
    *r = (struct contin_result){.n = n, .ncurve = nc};
    double *at = calloc(4 * n + 4 * nc, sizeof *at);
    if (!at)
        return fit_no_memory(err, "the distribution");
    r->x = at;
    r->lower = at + n;
    r->upper = at + 2 * n;
    r->average = at + 3 * n;
    r->contrast = at + 4 * n;
    r->contrast_error = r->contrast + nc;
    r->baseline = r->contrast + 2 * nc;
    r->baseline_error = r->contrast + 3 * nc;
    for (size_t k = 0; k < n; k++)
        r->lower[k] = r->upper[k] = r->average[k] = NAN;
    for (size_t c = 0; c < nc; c++)
        r->contrast_error[c] = r->baseline_error[c] = NAN;
    r->alpha_range[0] = r->alpha_range[1] = NAN;
    return FIT_OK;
}

static double total(size_t n, const double *x)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += x[k];
    return sum;
}

static double contrast_of(const struct contin_problem *p, const double *x, double A)
{
    const double s = total(p->n, x);
    return A * (p->power == 2 ? s * s : s);
}

static double deviation(size_t n, const double *v)
{
    double mean = 0, square = 0;
    for (size_t k = 0; k < n; k++)
        mean += v[k] / (double)n;
    for (size_t k = 0; k < n; k++)
        square += (v[k] - mean) * (v[k] - mean);
    return n > 1 ? sqrt(square / (double)(n - 1)) : NAN;
}

/* Reduces the draws, rows of `stride`, to their summaries. v: room for one column. */
struct drawn {
    const struct contin_problem *p;
    const double *draw;
    size_t n, stride;
    double *v;
};

/* Summaries of the draws at every point, combined with those of the earlier draws that assumed nothing outside the
 * modes (first: there are none yet). The interval is extended to the solution: where that is 0, all draws of a
 * density truncated to x >= 0 are above it. */
static void band(const struct drawn *d, const double *x, int first, struct contin_result *r)
{
    const size_t n = d->p->n;
    const double all = total(n, x);
    for (size_t k = 0; k < n; k++) {
        double range[2];
        r->average[k] = 0;
        for (size_t t = 0; t < d->n; t++) {
            d->v[t] = d->draw[t * d->stride + k] / total(n, d->draw + t * d->stride);
            r->average[k] += d->v[t] / (double)d->n;
        }
        qsort(d->v, d->n, sizeof *d->v, fit_ascending);
        contin_interval(d->n, d->v, PART, 1, range);
        r->lower[k] = fmin(range[0], first ? x[k] / all : r->lower[k]);
        r->upper[k] = fmax(range[1], first ? x[k] / all : r->upper[k]);
    }
}

static void contrasts(const struct drawn *d, struct contin_result *r)
{
    const size_t n = d->p->n;
    for (size_t c = 0; c < d->p->ncurve; c++) {
        for (size_t t = 0; t < d->n; t++)
            d->v[t] = contrast_of(d->p, d->draw + t * d->stride, d->draw[t * d->stride + n + d->p->ncurve + c]);
        r->contrast_error[c] = deviation(d->n, d->v);
        for (size_t t = 0; t < d->n; t++)
            d->v[t] = d->draw[t * d->stride + n + c];
        r->baseline_error[c] = d->p->free_baseline ? deviation(d->n, d->v) : 0;
    }
}

/* One number of a mode over the draws; which: 0 mean, 1 weight, 2 width; `number`: that of the solution, to which
 * the interval is extended as in the band, and its ends. */
static void peak_interval(const struct drawn *d, const struct contin_peak *p, int which, double number[3])
{
    double *range = number + 1;
    size_t m = 0;
    if (isnan(number[0]))
        return;
    for (size_t t = 0; t < d->n; t++) {
        double value[3];
        contin_peak_moments(p, d->p->n, d->p->u, d->draw + t * d->stride, &value[0], &value[1], &value[2]);
        if (isfinite(value[which]))
            d->v[m++] = value[which];
    }
    qsort(d->v, m, sizeof *d->v, fit_ascending);
    contin_interval(m, d->v, PART, 0, range);
    range[0] = fmin(range[0], number[0]);
    range[1] = fmax(range[1], number[0]);
}

static void modes(const struct drawn *d, struct contin_result *r)
{
    for (size_t k = 0; k < r->npeak; k++) {
        peak_interval(d, &r->peak[k], 0, r->peak[k].mean);
        peak_interval(d, &r->peak[k], 1, r->peak[k].weight);
        peak_interval(d, &r->peak[k], 2, r->peak[k].width);
    }
}

static void strengths(const struct drawn *d, struct contin_result *r)
{
    for (size_t t = 0; t < d->n; t++)
        d->v[t] = d->draw[t * d->stride + d->stride - 2];
    qsort(d->v, d->n, sizeof *d->v, fit_ascending);
    r->alpha_range[0] = d->v[(size_t)(0.025 * (double)d->n)];
    r->alpha_range[1] = d->v[(size_t)(0.975 * (double)d->n)];
}

/* Medians of the drawn strength and noise. */
static void middle(struct contin_work *w, const double *draw, size_t n, double *v)
{
    const size_t stride = contin_stride(w);
    for (size_t which = 0; which < 2; which++) {
        for (size_t t = 0; t < n; t++)
            v[t] = draw[t * stride + stride - 2 + which];
        qsort(v, n, sizeof *v, fit_ascending);
        if (which)
            w->lambda = v[n / 2];
        else
            w->alpha = v[n / 2];
    }
}

/* The points of the modes. */
static void support_of(const struct contin_result *r, unsigned char *support)
{
    memset(support, 0, r->n);
    for (size_t k = 0; k < r->npeak; k++)
        for (size_t i = r->peak[k].first; i <= r->peak[k].last; i++)
            support[i] = 1;
}

/* Draws three times. The first draws, over the non-zero points of the solution, determine the smoothing strength.
 * (Empty regions of a distribution are perfectly smooth and would bias the strength in its modes.) The second, about
 * the minimum with that strength, are for the modes, given that there is nothing outside them. The third, over all
 * points, are for the band: a prior that allows a little everywhere, and nowhere less than 0, takes weight from the
 * modes, the more so the more points the grid has; the band therefore covers both. Both use the strengths of the
 * first draws. */
static enum fit_status draws(struct contin_work *w, struct contin_result *r, struct fit_error *err)
{
    const struct contin_problem *p = w->p;
    const size_t n = p->draws, stride = contin_stride(w);
    double *draw = calloc(n * (stride + 2), sizeof *draw);
    unsigned char *support = calloc(p->n, 1);
    const struct drawn d = {p, draw, n, stride, draw ? draw + n * stride : NULL};
    double *alpha = p->smoothing == CONTIN_EVIDENCE && draw ? d.v + n : NULL;
    enum fit_status st = draw && support ? FIT_OK : fit_no_memory(err, "the errors of the distribution");
    if (st == FIT_OK && alpha) {
        for (size_t k = 0; k < p->n; k++)
            support[k] = w->now.x[k] > 0;
        struct contin_run run = {.n = n, .warm = n / 4, .support = support};
        if ((st = contin_draw(w, &run, draw, err)) == FIT_OK) {
            for (size_t t = 0; t < n; t++)
                alpha[t] = draw[t * stride + stride - 2];
            strengths(&d, r);
            middle(w, draw, n, d.v);
            st = contin_minimum(w, err);
        }
    }
    contin_find_peaks(p->n, p->u, w->now.x, r);
    support_of(r, support);
    struct contin_run run = {.n = n, .warm = n / 10, .stream = 1, .support = support, .alpha = alpha};
    if (st == FIT_OK && (st = contin_draw(w, &run, draw, err)) == FIT_OK) {
        contrasts(&d, r);
        modes(&d, r);
        band(&d, w->now.x, 1, r);
        run = (struct contin_run){.n = n, .warm = n / 10, .stream = 2, .alpha = alpha};
        st = contin_draw(w, &run, draw, err);
    }
    if (st == FIT_OK) {
        r->ndraw = n;
        band(&d, w->now.x, 0, r);
    }
    free(support);
    free(draw);
    return st;
}

static enum fit_status finish(struct contin_work *w, struct contin_result *r, struct fit_error *err)
{
    const struct contin_problem *p = w->p;
    const size_t n = p->n;
    memcpy(r->x, w->now.x, n * sizeof *r->x);
    for (size_t c = 0; c < p->ncurve; c++) {
        r->contrast[c] = contrast_of(p, w->now.x, w->now.A[c]);
        r->baseline[c] = w->now.b[c];
    }
    r->alpha = w->alpha;
    r->lambda = w->lambda;
    r->nvalue = w->nvalue;
    r->chi2 = w->lambda * contin_misfit(w, &w->now);
    r->roughness = contin_roughness(n, r->x);
    if (!r->ndraw)
        contin_find_peaks(n, p->u, r->x, r);
    double *S = calloc(2 * n * n, sizeof *S);
    enum fit_status st = S ? contin_inverse(w, 0, S, &r->determined, S + n * n, err) : fit_no_memory(err, NULL);
    if (st == FIT_ERR_NUMERIC) { /* only this number is lost */
        r->determined = NAN;
        st = FIT_OK;
    }
    free(S);
    return st;
}

enum fit_status contin_solve(const struct contin_problem *p, struct contin_result *r, struct fit_error *err)
{
    struct contin_work w;
    enum fit_status st = result_new(p, r, err);
    if (st == FIT_OK)
        st = contin_work_new(&w, p, err);
    else
        return st;
    if (st == FIT_OK && p->smoothing != CONTIN_FIXED)
        w.alpha = 1;
    if (st == FIT_OK && (p->smoothing != CONTIN_FIXED || !p->curve[0].sigma))
        st = contin_first_strength(&w, err);
    if (st == FIT_OK && p->smoothing == CONTIN_LCURVE)
        st = contin_lcurve(&w, r, err);
    if (st == FIT_OK)
        st = contin_minimum(&w, err);
    if (st == FIT_OK && p->draws > 1)
        st = draws(&w, r, err);
    if (st == FIT_ERR_NUMERIC && p->draws > 1 && p->smoothing != CONTIN_EVIDENCE && total(p->n, w.now.x) > 0) {
        r->ndraw = 0; /* a solution without errors */
        st = FIT_OK;
    }
    if (st == FIT_OK)
        st = finish(&w, r, err);
    if (st == FIT_OK && r->ndraw && !isnan(r->determined))
        st = contin_lognormal(&w, r, err);
    contin_work_free(&w);
    if (st != FIT_OK)
        contin_result_free(r);
    return st;
}
