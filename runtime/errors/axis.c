/* axis.c -- see axis.h. */
#include "errors/axis.h"

#include "leastsquares/rate_valley.h"
#include "math/linalg.h"

#include <math.h>
#include <string.h>

/* For rates of which k is the amplitude or the offset: all members take the straight step, then the other two follow
 * from the rate that this step predicts (fit_valley_hold). */
static void hold_rates(const struct fit_ls *f, size_t k, const double *straight, double *theta)
{
    for (size_t i = 0; i < f->kernel->nrate; i++) {
        const struct fit_rate *r = &f->kernel->rate[i];
        if (k != r->amplitude && k != r->offset)
            continue;
        const size_t member[3] = {r->amplitude, r->exponent, r->offset};
        for (int m = 0; m < 3; m++)
            theta[member[m]] = straight[member[m]];
        fit_valley_hold(f->kernel, &f->ds->layout, f->lower, f->upper, f->res->theta, k, theta);
    }
}

static void point_nonlinear(struct fit_ls *f, size_t k, double v, double *theta)
{
    const size_t n = f->p;
    const double *best = f->res->theta;
    double *move = f->axis, *low = move + n, *high = low + n, *none = high + n, *work = none + n;
    for (size_t l = 0; l < n; l++) {
        low[l] = l == k ? v - best[l] : f->lower[l] - best[l];
        high[l] = l == k ? v - best[l] : f->upper[l] - best[l];
        none[l] = 0;
    }
    if (fit_boxqp(&(struct fit_box){n, f->B, f->g, low, high, none}, move, f->axis_state, work) < 0)
        memset(move, 0, n * sizeof *move);
    for (size_t l = 0; l < n; l++)
        theta[l] = fmin(fmax(best[l] + move[l], f->lower[l]), f->upper[l]);
    theta[k] = v;
    memcpy(move, theta, n * sizeof *move); /* the straight step */
    fit_valley_bend(f->kernel, &f->ds->layout, f->lower, f->upper, best, theta);
    hold_rates(f, k, move, theta);
}

static void point_linear(struct fit_ls *f, size_t e, double v, double *theta)
{
    const struct fit_result *r = f->res;
    const double *row = r->covariance + e * r->nfull, part = (v - r->lin[e - f->p]) / row[e];
    int known = row[e] > 0;
    for (size_t l = 0; l < f->p; l++)
        known &= isfinite(row[l]) != 0;
    for (size_t l = 0; l < f->p; l++)
        theta[l] = fmin(fmax(r->theta[l] + (known ? part * row[l] : 0), f->lower[l]), f->upper[l]);
    fit_valley_bend(f->kernel, &f->ds->layout, f->lower, f->upper, r->theta, theta);
}

void fit_axis_point(struct fit_ls *f, size_t e, double v, double *theta)
{
    if (e < f->p)
        point_nonlinear(f, e, v, theta);
    else
        point_linear(f, e, v, theta);
}
