/* nlsq.h -- trust-region minimisation of a sum of squares inside a box: problem, options, work space and result.
 *
 *     struct fit_nlsq *s = fit_nlsq_new(n);
 *     enum fit_nlsq_end end = fit_nlsq_run(s, &problem, &options, x);
 *     ... x, s->cost, s->gradient ...
 *     fit_nlsq_free(s);
 *
 * Every step minimises the Gauss-Newton model g.p - 1/2 p.B p exactly over the intersection of the box and the
 * ellipsoid |D p| <= delta (Levenberg-Marquardt parameter found by safeguarded secant; for each trial value a small
 * quadratic program, linalg.h). Bounds are met exactly and left freely; there is no interior path with slow progress.
 * D: column norms of J, never decreasing (More 1978). Accepting and resizing as in More (1978) and Conn, Gould & Toint
 * (2000).
 *
 * "Distance to the minimum in standard errors" is sqrt(2 predicted reduction / s^2), s^2 the variance of the residuals:
 * 1 means that the fit is off by one standard error in some direction.
 *
 * This file is independent of data, models, threads and clocks.
 */
#pragma once

#include <stddef.h>

#include "fit/kernel.h" /* enum fit_eval */

struct fit_nlsq_problem {
    size_t n;
    const double *lower, *upper; /* n; may be infinite; lower = upper holds a parameter */
    double dof;                  /* points minus parameters, at least 1 */
    double noise;                /* variance of residuals (1: absolute weights); 0: unknown */
    void *user;
    /* Cost 1/2 sum r^2 at x and an estimate of its rounding error. */
    enum fit_eval (*value)(void *user, const double *x, double *cost, double *error);
    /* B = J^T J (n x n) and g = J^T r (r = data - model) at the x of the last value. */
    enum fit_eval (*normal)(void *user, const double *x, double *B, double *g);
    /* g alone, at the x of the last value, at a fraction of the price; or NULL. */
    enum fit_eval (*gradient)(void *user, const double *x, double *g);
    /* Curves the step from x to trial inside the bounds, without a change to first order; or NULL. */
    void (*bend)(void *user, const double *lower, const double *upper, const double *x, double *trial);
    int likelihood; /* 1: the cost is a negative log likelihood, up to a constant: its unit is 1 */
};

/* Progress of a run, reported before every iteration, and the reply. */
struct fit_nlsq_report {
    size_t iteration;
    double cost, step, gradient; /* as in struct fit_nlsq */
};
enum fit_nlsq_answer { FIT_NLSQ_GO_ON, FIT_NLSQ_STOP, FIT_NLSQ_TIME_IS_UP };

struct fit_nlsq_options {
    size_t max_iterations;
    double ftol;  /* relative change of the cost; 1e-13 and less: continues while the gradient falls, because the
                   * cost cannot resolve more */
    double xtol;  /* step relative to the size of the parameters */
    double gtol;  /* distance to the minimum in standard errors */
    int brief;    /* at max_iterations no derivatives are taken: gradient is one step old */
    int curved;   /* 1: also second derivatives, where the cost falls by far more or less than B predicts (nlsq.c) */
    const double *curvature; /* n x n, to begin with, as in struct fit_nlsq; or NULL */
    const double *near;      /* n x n, or NULL: B of a nearby point, used while it makes progress (nlsq.c); s->B is
                              * that one where no other was computed */
    const double *known;     /* cost at the start and its rounding error, where value() was last called there; or
                              * NULL */
    enum fit_nlsq_answer (*watch)(void *user, const struct fit_nlsq_report *r); /* or NULL */
    void *watch_user;
};

enum fit_nlsq_end {
    FIT_NLSQ_GRADIENT,    /* the gradient promises less than gtol */
    FIT_NLSQ_COST,        /* the cost cannot be lowered by more than ftol of itself */
    FIT_NLSQ_STEP,        /* steps have become shorter than xtol */
    FIT_NLSQ_LIMIT,       /* of iterations or time */
    FIT_NLSQ_FAILED,      /* no finite cost at the start (cost is NaN), or no step lowers the cost */
    FIT_NLSQ_STOPPED      /* by watch(), value() or normal() */
};

static inline int fit_nlsq_converged(enum fit_nlsq_end e)
{
    return e <= FIT_NLSQ_STEP;
}

/* Another optimizer for such a problem (optimizers/minimiser.h). */
struct fit_minimiser {
    void *user;
    const char *name;
    /* Minimises from x inside the box; x: the best point found; says why it ended. `end`: LIMIT where it did not
     * converge. */
    const char *(*run)(void *user, const struct fit_nlsq_problem *p, const struct fit_nlsq_options *opt, double *x,
                       size_t *iterations, enum fit_nlsq_end *end);
};

struct fit_nlsq_work;

/* Result of the last run, and work space. */
struct fit_nlsq {
    size_t n;
    enum fit_nlsq_end end;
    const char *reason; /* one sentence, static */
    double cost, error;
    double gradient; /* distance to the minimum, in standard errors */
    double first;    /* the same at the start of the run */
    double step;     /* length of the last accepted step, in standard errors */
    size_t iterations, accepted, evaluations;
    int current;     /* 1: the last evaluated value was that of the result */
    const double *curvature; /* n x n: second derivatives of the cost that B omits, where the run needed them;
                              * otherwise NULL. Until the next run. */
    double *B, *g;   /* where derivatives were computed last: at the result, or one step before it */
    struct fit_nlsq_work *work;
};

/* For problems of at most n parameters. NULL: out of memory. */
struct fit_nlsq *fit_nlsq_new(size_t n);
void fit_nlsq_free(struct fit_nlsq *s);

/* Minimises from x (moved into the box); x is the best point found. */
enum fit_nlsq_end fit_nlsq_run(struct fit_nlsq *s, const struct fit_nlsq_problem *p,
                               const struct fit_nlsq_options *opt, double *x);
