/* pathfinder.c -- a normal approximation found on the way to the mode.
 *
 * The path is that of L-BFGS on f = -lp.  Its inverse Hessian is written out, n x n: the matrix
 * that the two-loop recursion multiplies with (Nocedal & Wright 2006, equation 7.19) from a
 * diagonal that is itself updated by each secant pair (Gilbert & Lemarechal 1989; Zhang et al.
 * 2022, algorithm 2). Parameters are few here, and the matrix is wanted anyway: at an iterate x
 * with gradient g of lp the approximation is N(x + H g, H). */
#include "sampler/pathfinder.h"

#include "base/arena.h"
#include "math/linalg.h"
#include "math/rng.h"
#include "sampler/metric.h"

#include <math.h>
#include <string.h>

struct path {
    const struct fit_target *target;
    const struct fit_pathfinder_options *opt;
    struct fit_pathfinder *out;
    size_t n, history, pairs, oldest;
    double *x, *g, *trial_x, *trial_g, *direction, *alpha;
    double *s, *y; /* history x n */
    double *H;     /* n x n */
    struct fit_metric shape;
    double *centre, *draw;
    double lp, trial_lp;
    size_t iteration;
    int stop;
};

/* 0 when the density has a finite value at q. */
static int evaluate(struct path *p, const double *q, double *lp, double *g)
{
    enum fit_eval answer = fit_target_eval(p->target, p->opt->chain, q, lp, g);
    p->out->evaluations++;
    p->stop |= answer == FIT_EVAL_STOP;
    return answer != FIT_EVAL_OK;
}

/* ---- inverse Hessian ------------------------------------------------------------------------- */

/* H <- (I - s y^T / b) H (I - y s^T / b) + s s^T / b,  b = y.s;  v: n. */
static void bfgs_update(size_t n, double *H, const double *s, const double *y, double *v)
{
    double b = fit_dot(n, y, s);
    for (size_t i = 0; i < n; i++)
        v[i] = fit_dot(n, H + i * n, y);
    double c = (1 + fit_dot(n, y, v) / b) / b;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            H[i * n + j] += c * s[i] * s[j] - (v[i] * s[j] + s[i] * v[j]) / b;
}

static void inverse_hessian(struct path *p)
{
    size_t n = p->n;
    memset(p->H, 0, n * n * sizeof *p->H);
    for (size_t k = 0; k < n; k++)
        p->H[k * n + k] = p->alpha[k];
    for (size_t k = 0; k < p->pairs; k++) {
        size_t at = (p->oldest + k) % p->history;
        bfgs_update(n, p->H, p->s + at * n, p->y + at * n, p->centre);
    }
}

/* The step from x to trial_x as a new secant pair, if the curvature along it is positive. */
static void add_pair(struct path *p)
{
    size_t n = p->n, at = (p->oldest + p->pairs) % p->history;
    double *s = p->s + at * n, *y = p->y + at * n, a = 0, c = 0;
    double *new_s = p->direction, *new_y = p->centre;
    for (size_t k = 0; k < n; k++) {
        new_s[k] = p->trial_x[k] - p->x[k];
        new_y[k] = p->g[k] - p->trial_g[k]; /* gradients of -lp */
        a += new_y[k] * new_y[k] * p->alpha[k];
        c += new_s[k] * new_s[k] / p->alpha[k];
    }
    double b = fit_dot(n, new_s, new_y);
    if (!(b > 1e-12 * fit_dot(n, new_y, new_y)))
        return;
    for (size_t k = 0; k < n; k++) {
        double r = new_s[k] / p->alpha[k];
        p->alpha[k] = b / (a / p->alpha[k] + new_y[k] * new_y[k] - a / c * r * r);
    }
    memcpy(s, new_s, n * sizeof *s);
    memcpy(y, new_y, n * sizeof *y);
    if (p->pairs < p->history)
        p->pairs++;
    else
        p->oldest = (p->oldest + 1) % p->history;
}

/* ---- one iterate ----------------------------------------------------------------------------- */

/* ELBO of N(x + H g, H) at the present point; kept when it is the best so far. */
static void approximate(struct path *p)
{
    size_t n = p->n, draws = p->opt->elbo_draws ? p->opt->elbo_draws : 10;
    if (fit_metric_covariance(&p->shape, p->H) != 0)
        return;
    double elbo = 0, log_norm = 0.5 * (double)n * log(2 * 3.14159265358979324);
    struct fit_rng r = {.seed = p->opt->seed,
                        .chain = (uint32_t)p->opt->chain,
                        .iteration = (uint32_t)p->iteration};
    r = fit_rng_for(&r, FIT_RNG_PATHFINDER);
    for (size_t k = 0; k < n; k++) {
        p->centre[k] = p->x[k] + fit_dot(n, p->H + k * n, p->g);
        log_norm += log(p->shape.factor[k * n + k]);
    }
    for (size_t i = 0; i < draws; i++) {
        double lp;
        fit_rng_next_normals(&r, n, p->draw);
        double r2 = fit_dot(n, p->draw, p->draw);
        fit_metric_position(&p->shape, p->draw, p->draw);
        for (size_t k = 0; k < n; k++)
            p->draw[k] += p->centre[k];
        if (evaluate(p, p->draw, &lp, NULL) != 0)
            return; /* part of the approximation is where the density is undefined */
        elbo += (lp + 0.5 * r2 + log_norm) / (double)draws;
    }
    if (elbo > p->out->elbo) {
        p->out->elbo = elbo;
        memcpy(p->out->mean, p->centre, n * sizeof *p->centre);
        memcpy(p->out->covariance, p->H, n * n * sizeof *p->H);
        memcpy(p->out->draw, p->draw, n * sizeof *p->draw);
    }
}

/* A step along the direction with sufficient increase and curvature, by bisection (Lewis & Overton
 * 2013, algorithm 2.6).  Returns nonzero when there is none. */
static int line_search(struct path *p)
{
    const double c1 = 1e-4, c2 = 0.9;
    size_t n = p->n;
    double low = 0, high = INFINITY, t = 1, slope = fit_dot(n, p->g, p->direction);
    for (int k = 0; k < 60 && !p->stop; k++) {
        for (size_t i = 0; i < n; i++)
            p->trial_x[i] = p->x[i] + t * p->direction[i];
        if (evaluate(p, p->trial_x, &p->trial_lp, p->trial_g) != 0 ||
            p->trial_lp < p->lp + c1 * t * slope)
            high = t;
        else if (fit_dot(n, p->trial_g, p->direction) > c2 * slope)
            low = t;
        else
            return 0;
        t = isinf(high) ? 2 * low : 0.5 * (low + high);
    }
    return 1;
}

enum { CONVERGED = 1, STUCK };

/* 0, CONVERGED or STUCK. */
static int iterate(struct path *p)
{
    const double small = 1e-8; /* predicted increase of lp, twice */
    size_t n = p->n;
    for (size_t k = 0; k < n; k++)
        p->direction[k] = fit_dot(n, p->H + k * n, p->g);
    if (fit_dot(n, p->direction, p->g) < small)
        return CONVERGED;
    if (line_search(p) != 0)
        return STUCK;
    add_pair(p);
    memcpy(p->x, p->trial_x, n * sizeof *p->x);
    memcpy(p->g, p->trial_g, n * sizeof *p->g);
    p->lp = p->trial_lp;
    inverse_hessian(p);
    approximate(p);
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static enum fit_status follow(struct path *p, const double *q, struct fit_error *err)
{
    size_t n = p->n, most = p->opt->max_iterations ? p->opt->max_iterations : 200;
    memcpy(p->x, q, n * sizeof *p->x);
    p->out->elbo = -INFINITY;
    p->out->evaluations = 0;
    if (evaluate(p, p->x, &p->lp, p->g) != 0 && !p->stop)
        return fit_fail(err, FIT_ERR_NUMERIC,
                        "Pathfinder: the log density at the starting point is not finite");
    double length = sqrt(fit_dot(n, p->g, p->g));
    for (size_t k = 0; k < n; k++)
        p->alpha[k] = length > 0 ? 1 / length : 1; /* a first step of length 1 */
    inverse_hessian(p);
    int end = 0;
    while (end == 0 && p->iteration < most && !p->stop) {
        p->iteration++;
        end = iterate(p);
    }
    memcpy(p->out->mode, p->x, n * sizeof *p->x);
    p->out->iterations = p->iteration;
    if (p->stop)
        return fit_fail(err, FIT_ERR_INTERRUPTED, "Pathfinder was stopped");
    if (isinf(p->out->elbo))
        return fit_fail(err, FIT_ERR_NUMERIC,
                        "Pathfinder: no approximation in %zu iterations; the log density may be "
                        "unbounded, or the starting point a maximum",
                        p->iteration);
    return FIT_OK;
}

enum fit_status fit_pathfinder_run(const struct fit_target *t, const double *q,
                                   const struct fit_pathfinder_options *opt,
                                   struct fit_pathfinder *out, struct fit_error *err)
{
    size_t n = t->n, history = opt->history ? opt->history : 6;
    struct path p = {.target = t, .opt = opt, .out = out, .n = n, .history = history};
    FIT_SCRATCH(a);
    p.shape = (struct fit_metric){n, 1, NULL, NULL};
    FIT_TAKE_DOUBLES(&a, n, &p.x, &p.g, &p.trial_x, &p.trial_g, &p.direction, &p.alpha, &p.centre, &p.draw);
    FIT_TAKE_DOUBLES(&a, history * n, &p.s, &p.y);
    FIT_TAKE_DOUBLES(&a, n * n, &p.H, &p.shape.inverse, &p.shape.factor);
    return a.failed ? fit_no_memory(err, "Pathfinder") : follow(&p, q, err);
}
