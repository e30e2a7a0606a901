/* mode.c -- the mode of a posterior, from the least-squares result next to it or from several starts.
 *
 * Newton's method with the Hessian from differences of gradients (laplace.h). Where the density is not concave the
 * magnitude of a negative curvature counts, so that every step goes uphill (saddle-free Newton: Dauphin et al., NeurIPS
 * 27, 2933, 2014); no coordinate moves farther than its largest plausible standard deviation. A step is halved until
 * the density grows (Nocedal & Wright 2006, section 3.4).
 *
 * Several starts: Pathfinder (pathfinder.h) from each, Newton's method from the end of its path; the best is the one
 * with the largest mass by the normal approximation there, log p + 1/2 log |covariance|.
 */
#include "posterior/mode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/linalg.h"
#include "sampler/laplace.h"
#include "sampler/pathfinder.h"

enum { MOST_STEPS = 40, MOST_HALVINGS = 30 };
static const double CLOSE = 1e-3;  /* of a standard deviation: near enough to the mode */
static const double NEAR = 0.3;    /* the same, where rounding or a corner of the density stops before */
static const double FAR = 5;       /* standard deviations between two modes */
static const double WEAKEST = 1e-8; /* smallest eigenvalue, of the largest, as in laplace.c */
static const double STRETCH = 30;  /* steps of differences are made for deviations at most this times the conditional */

struct newton {
    const struct fit_target *target;
    const double *widest;
    size_t n, weak;
    double *hessian, *ignored, *vector, *value, *work, *unit; /* of the Hessian */
    double *g, *step, *trial, *spread;
    double lp, square; /* at the present point; square of the next step in standard deviations */
    double log_root;   /* 1/2 log |covariance| */
};

/* covariance <- inverse of the Hessian in which every eigenvalue (in units that make the diagonal 1) counts by its
 * magnitude, and no eigenvector is longer than `widest` in any coordinate.  weak <- eigenvalues raised for that. */
static int invert(struct newton *w, double *covariance)
{
    size_t n = w->n;
    for (size_t k = 0; k < n; k++)
        w->unit[k] = 1 / sqrt(fmax(fabs(w->hessian[k * n + k]), 1 / (w->widest[k] * w->widest[k])));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            w->vector[i * n + j] = w->hessian[i * n + j] * w->unit[i] * w->unit[j];
    if (fit_eigen(n, w->vector, w->value, w->work) != 0)
        return 0;
    double largest = fmax(fabs(w->value[0]), fabs(w->value[n - 1]));
    memset(covariance, 0, n * n * sizeof *covariance);
    w->weak = 0;
    w->log_root = 0;
    for (size_t k = 0; k < n; k++) {
        const double *v = w->vector + k * n;
        double length = 1 / sqrt(fmax(fabs(w->value[k]), WEAKEST * largest)), longest = INFINITY;
        for (size_t i = 0; i < n; i++)
            longest = fmin(longest, w->widest[i] / fabs(v[i] * w->unit[i])); /* infinite where v[i] is 0 */
        w->weak += w->value[k] <= WEAKEST * largest || length > longest;
        length = fmin(length, longest);
        w->log_root += log(length * w->unit[k]);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                covariance[i * n + j] += length * length * v[i] * w->unit[i] * v[j] * w->unit[j];
    }
    return 1;
}

static enum fit_status curvature(struct newton *w, const double *q, double *covariance, struct fit_error *err)
{
    size_t n = w->n;
    struct fit_hessian h = {w->hessian, w->ignored, NULL, 0};
    enum fit_status st = fit_hessian_at(w->target, q, w->spread, &h, err);
    if (st != FIT_OK)
        return st;
    if (!invert(w, covariance))
        return fit_fail(err, FIT_ERR_NUMERIC, "the Hessian of the posterior has no eigenvalues");
    for (size_t i = 0; i < n; i++)
        w->spread[i] = fmin(sqrt(covariance[i * n + i]), STRETCH * w->unit[i]);
    return FIT_OK;
}

/* step <- covariance g, at most `widest` in every coordinate; square <- g . covariance g. */
static void newton_step(struct newton *w, const double *covariance)
{
    size_t n = w->n;
    double part = 1;
    w->square = 0;
    for (size_t i = 0; i < n; i++) {
        w->step[i] = 0;
        for (size_t j = 0; j < n; j++)
            w->step[i] += covariance[i * n + j] * w->g[j];
        w->square += w->g[i] * w->step[i];
        part = fmin(part, w->widest[i] / fabs(w->step[i]));
    }
    for (size_t i = 0; i < n; i++)
        w->step[i] *= part;
}

/* Moves q uphill along the step; 0: no part of the step does. */
static int climb(struct newton *w, double *q)
{
    double part = 1, next;
    for (int k = 0; k < MOST_HALVINGS; k++, part *= 0.5) {
        for (size_t i = 0; i < w->n; i++)
            w->trial[i] = q[i] + part * w->step[i];
        if (fit_target_eval(w->target, 0, w->trial, &next, NULL) != FIT_EVAL_OK || !(next > w->lp))
            continue;
        memcpy(q, w->trial, w->n * sizeof *q);
        return fit_target_eval(w->target, 0, q, &w->lp, w->g) == FIT_EVAL_OK;
    }
    return 0;
}

static enum fit_status iterate(struct newton *w, double *q, double *covariance, struct fit_error *err)
{
    if (fit_target_eval(w->target, 0, q, &w->lp, w->g) != FIT_EVAL_OK)
        return fit_fail(err, FIT_ERR_NUMERIC, "the posterior has no finite gradient at a start");
    for (int k = 0; k < MOST_STEPS; k++) {
        enum fit_status st = curvature(w, q, covariance, err);
        if (st != FIT_OK)
            return st;
        newton_step(w, covariance);
        if (!(w->square > CLOSE * CLOSE) || !climb(w, q))
            break;
    }
    return FIT_OK;
}

enum fit_status fit_mode_find(const struct fit_target *t, const struct fit_mode_ask *ask, struct fit_mode *mode,
                              struct fit_error *err)
{
    size_t n = t->n;
    FIT_SCRATCH(a);
    struct newton w = {.target = t, .widest = ask->widest, .n = n};
    FIT_TAKE_DOUBLES(&a, n * n, &w.hessian, &w.ignored, &w.vector);
    FIT_TAKE_DOUBLES(&a, n, &w.value, &w.unit, &w.g, &w.step, &w.trial, &w.spread);
    FIT_TAKE_DOUBLES(&a, fit_eigen_work(n), &w.work);
    if (a.failed)
        return fit_no_memory(err, "posterior");
    memcpy(w.spread, ask->scale, n * sizeof *w.spread);
    enum fit_status st = iterate(&w, mode->q, mode->covariance, err);
    mode->weak = w.weak;
    mode->found = st == FIT_OK && w.square < NEAR * NEAR;
    mode->log_mass = w.lp + w.log_root;
    return st;
}

/* From a start along a Pathfinder path to the mode near its end. */
static enum fit_status follow(const struct fit_target *t, const double *start, size_t k, const struct fit_mode_ask *ask,
                              struct fit_mode *mode, double *room, struct fit_error *err)
{
    size_t n = t->n;
    struct fit_pathfinder path = {.mean = room, .draw = room + n, .mode = mode->q, .covariance = mode->covariance};
    memcpy(mode->q, start, n * sizeof *start);
    struct fit_pathfinder_options o = {.seed = ask->seed + k, .elbo_draws = 1};
    enum fit_status st = fit_pathfinder_run(t, start, &o, &path, err);
    if (st != FIT_OK && st != FIT_ERR_NUMERIC) /* a path without an approximation still has an end */
        return st;
    return fit_mode_find(t, ask, mode, err);
}

double fit_mode_log_root(const struct fit_mode *mode, size_t n, double *room)
{
    double sum = 0;
    memcpy(room, mode->covariance, n * n * sizeof *room);
    if (fit_cholesky(n, room, 1e-15) != 0)
        return -INFINITY;
    for (size_t i = 0; i < n; i++)
        sum += log(room[i * n + i]);
    return sum;
}

int fit_mode_far(const struct fit_mode *mode, const double *q, size_t n, double *room)
{
    double *factor = room, *x = room + n * n, square = 0;
    memcpy(factor, mode->covariance, n * n * sizeof *factor);
    if (fit_cholesky(n, factor, 1e-15) != 0)
        return -1;
    for (size_t i = 0; i < n; i++) { /* factor x = q - mode */
        x[i] = q[i] - mode->q[i];
        for (size_t j = 0; j < i; j++)
            x[i] -= factor[i * n + j] * x[j];
        x[i] /= factor[i * n + i];
        square += x[i] * x[i];
    }
    return square > FAR * FAR;
}

static void copy_mode(struct fit_mode *to, const struct fit_mode *from, size_t n)
{
    memcpy(to->q, from->q, n * sizeof *to->q);
    memcpy(to->covariance, from->covariance, n * n * sizeof *to->covariance);
    to->weak = from->weak;
    to->found = from->found;
    to->log_mass = from->log_mass;
}

enum fit_status fit_mode_search(const struct fit_target *t, size_t nstart, const double *start,
                                const struct fit_mode_ask *ask, struct fit_mode *best, double *other,
                                double *other_mass, struct fit_error *err)
{
    size_t n = t->n;
    double *room = malloc((2 * n * n + 4 * n + (nstart + 1) * (n + 1)) * sizeof *room);
    struct fit_error why;
    if (!room)
        return fit_no_memory(err, "posterior");
    struct fit_mode next = {.q = room + n * n, .covariance = room};
    double *work = room + n * n + n, *mass = work + n * n + 3 * n, *end = mass + nstart + 1;
    enum fit_status st = FIT_OK;
    mass[nstart] = -INFINITY; /* where the caller was before: another mode now, perhaps */
    if (best->log_mass > -INFINITY && best->found) {
        mass[nstart] = best->log_mass;
        memcpy(end + nstart * n, best->q, n * sizeof *end);
    }
    for (size_t k = 0; k < nstart && st != FIT_ERR_INTERRUPTED; k++) {
        st = follow(t, start + k * n, k, ask, &next, work, &why);
        mass[k] = st == FIT_OK && next.found ? next.log_mass : -INFINITY;
        memcpy(end + k * n, next.q, n * sizeof *end);
        if (st == FIT_OK && (!(best->log_mass > -INFINITY) || next.log_mass > best->log_mass))
            copy_mode(best, &next, n);
    }
    *other_mass = -INFINITY;
    for (size_t k = 0; k <= nstart && st != FIT_ERR_INTERRUPTED; k++)
        if (mass[k] > *other_mass && fit_mode_far(best, end + k * n, n, work) == 1) {
            *other_mass = mass[k];
            memcpy(other, end + k * n, n * sizeof *other);
        }
    free(room);
    if (st == FIT_ERR_INTERRUPTED)
        return fit_fail(err, st, "%s", why.message);
    return best->log_mass > -INFINITY
               ? FIT_OK
               : fit_fail(err, FIT_ERR_NUMERIC, "no start of the posterior has a finite density");
}
