/* fine.c -- curves that follow from the parameters, on a fine grid of times, on which they look smooth: steps
 * between frames are divided until none is longer than 2 % of the time (a logarithmic axis) or than a part of a
 * frame period (for oscillations). */
#include "results/results.h"

#include <math.h>

enum { MOST_PIECES = 40 };
static const double LONGEST = 0.02; /* step along ln t */

int fit_results_has_curves(const struct fit_results *r)
{
    return r->kernel->curves && r->kernel->ncurve && r->kernel->space == FIT_PAIRS;
}

/* Number of pieces into which the step from frame i to the next is divided. */
static size_t pieces(const struct fit_layout *l, size_t i)
{
    const double least = l->ntime < 600 ? 4 : l->ntime < 3000 ? 2 : 1, t = l->time[i];
    const double want = t > 0 ? ceil(log(l->time[i + 1] / t) / LONGEST) : 1;
    return t > 0 ? (size_t)fmin(MOST_PIECES, fmax(least, want)) : 1; /* before the first frame models are truncated */
}

/* Point k of n between two frames: equal ratios, or equal steps from t = 0. */
static double between(double a, double b, size_t k, size_t n)
{
    const double u = (double)k / (double)n;
    return a > 0 ? a * pow(b / a, u) : a + (b - a) * u;
}

int fit_results_fine(const struct fit_results *r, struct fit_layout *fine, struct fit_arena *a)
{
    const struct fit_layout *l = &r->ds->layout;
    size_t n = 1;
    if (!fit_results_has_curves(r) || l->ntime < 2)
        return 0;
    for (size_t i = 0; i + 1 < l->ntime; i++)
        n += pieces(l, i);
    double *t = fit_take(a, n, sizeof *t);
    if (a->failed)
        return 0;
    *fine = *l;
    fine->time = t;
    fine->ntime = 0;
    for (size_t i = 0; i + 1 < l->ntime; i++)
        for (size_t k = 0, m = pieces(l, i); k < m; k++)
            t[fine->ntime++] = k ? between(l->time[i], l->time[i + 1], k, m) : l->time[i];
    t[fine->ntime++] = l->time[l->ntime - 1];
    return 1;
}
