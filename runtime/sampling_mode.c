/* sampling_mode.c -- the mode of a posterior, from the least-squares result next to it.
 *
 * Newton's method with the Hessian from differences of gradients (laplace.h); eigenvalues that are too small or
 * negative are raised there, so that every step goes uphill.  A step is halved until the density grows
 * (Nocedal & Wright 2006, section 3.4).
 */
#include "sampling_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "laplace.h"

enum { MOST_STEPS = 12, MOST_HALVINGS = 30 };
static const double CLOSE = 1e-3; /* of a standard deviation: near enough to the mode */

/* step <- covariance g; returns g . step, the square of its length in standard deviations. */
static double newton_step(size_t n, const double *covariance, const double *g, double *step)
{
    double square = 0;
    for (size_t i = 0; i < n; i++) {
        step[i] = 0;
        for (size_t j = 0; j < n; j++)
            step[i] += covariance[i * n + j] * g[j];
        square += g[i] * step[i];
    }
    return square;
}

/* Moves q uphill along step; 0: no part of the step does. */
static int climb(const struct fit_target *t, double *q, double *trial, const double *step, double *lp, double *g)
{
    double part = 1, next;
    for (int k = 0; k < MOST_HALVINGS; k++, part *= 0.5) {
        for (size_t i = 0; i < t->n; i++)
            trial[i] = q[i] + part * step[i];
        if (fit_target_eval(t, 0, trial, &next, NULL) != FIT_EVAL_OK || !(next > *lp))
            continue;
        memcpy(q, trial, t->n * sizeof *q);
        return fit_target_eval(t, 0, q, lp, g) == FIT_EVAL_OK;
    }
    return 0;
}

enum fit_status fit_mode_find(const struct fit_target *t, double *q, const double *scale, double *covariance,
                              size_t *weak, struct fit_error *err)
{
    size_t n = t->n;
    double *room = malloc((n * n + 4 * n) * sizeof *room), lp;
    if (!room)
        return fit_fail(err, FIT_ERR_MEMORY, "posterior: out of memory");
    double *hessian = room, *g = hessian + n * n, *step = g + n, *trial = step + n, *spread = trial + n;
    struct fit_hessian h = {hessian, covariance, NULL, 0};
    enum fit_status st = FIT_OK;
    memcpy(spread, scale, n * sizeof *spread);
    if (fit_target_eval(t, 0, q, &lp, g) != FIT_EVAL_OK)
        st = fit_fail(err, FIT_ERR_NUMERIC, "the posterior has no finite gradient at the least-squares result");
    for (int k = 0; st == FIT_OK && k < MOST_STEPS; k++) {
        if ((st = fit_hessian_at(t, q, spread, &h, err)) != FIT_OK)
            break;
        for (size_t i = 0; i < n; i++)
            spread[i] = sqrt(covariance[i * n + i]);
        double square = newton_step(n, covariance, g, step);
        if (!(square > CLOSE * CLOSE) || !climb(t, q, trial, step, &lp, g))
            break;
    }
    *weak = h.weak;
    free(room);
    return st;
}
