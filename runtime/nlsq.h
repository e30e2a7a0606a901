/* nlsq.h -- trust-region minimisation of a sum of squares inside a box.
 *
 * Every step minimises the Gauss-Newton model g.p - 1/2 p.B p exactly over the intersection of the
 * box and the ellipsoid |D p| <= delta (Levenberg-Marquardt parameter found by safeguarded secant;
 * for each trial value a small quadratic program, linalg.h).  Bounds are met exactly and left
 * again freely; there is no interior path to creep along.  D: column norms of J, never decreasing
 * (More 1978).  Accepting and resizing as in More (1978) and Conn, Gould & Toint (2000).
 *
 * "Distance to the minimum in standard errors" is sqrt(2 predicted reduction / s^2), s^2 the
 * variance of the residuals: 1 means that the fit is off by one standard error in some direction.
 */
#ifndef FIT_NLSQ_H
#define FIT_NLSQ_H

#include "fit.h"

struct fit_nlsq_problem {
    size_t n;
    const double *lower, *upper; /* n; lower = upper holds a parameter */
    double dof;                  /* points minus parameters, at least 1 */
    double noise;                /* variance of residuals (1: absolute weights); 0: unknown */
    void *user;
    /* Cost 1/2 sum r^2 at x and how far rounding may have moved it. */
    enum fit_eval (*value)(void *user, const double *x, double *cost, double *error);
    /* B = J^T J (n x n) and g = J^T r (r = data - model) at the x of the last value. */
    enum fit_eval (*normal)(void *user, const double *x, double *B, double *g);
    /* Bends the step from x to trial inside the bounds, to first order leaving it as it is; or NULL. */
    void (*bend)(void *user, const double *lower, const double *upper, const double *x, double *trial);
    int likelihood; /* 1: the cost is a negative log likelihood, up to a constant: its unit is 1 */
};

struct fit_nlsq_options {
    size_t max_iterations;
    int brief;               /* at max_iterations no derivatives are taken: gradient is one step old */
    int curved;              /* 1: second derivatives, too, where B does not keep its promises (nlsq.c) */
    double ftol, xtol, gtol; /* as in fit_options */
    double deadline;         /* on the clock of fit_seconds(); 0: none */
    double began;            /* for fit_progress.seconds */
    const double *curvature; /* n x n, to begin with, as in struct fit_nlsq; or NULL */
    const double *known;     /* cost at the start and how far rounding may have moved it, where value() was last called
                                there; or NULL */
    fit_progress_fn *progress;
    void *progress_user;
};

/* Result of the last run, and work space. */
struct fit_nlsq {
    size_t n;
    enum fit_word word; /* never FIT_AT_BOUND */
    const char *reason; /* one sentence, static */
    double cost, error;
    double gradient; /* distance to the minimum, in standard errors */
    double first;    /* the same at the start of the run */
    double step;     /* length of the last accepted step, in standard errors */
    size_t iterations, accepted, evaluations;
    int current;     /* 1: the last value asked for was that of the result */
    const double *curvature; /* n x n: second derivatives of the cost that B leaves out, where the run needed them; else
                                NULL.  Until the next run. */
    double *B, *g;   /* where derivatives were taken last: at the result, or one step before it */
    double *work;
};

/* For problems of at most n parameters.  NULL when memory is out. */
struct fit_nlsq *fit_nlsq_new(size_t n);
void fit_nlsq_free(struct fit_nlsq *s);

/* Minimises from x (moved into the box); x is the best point found.  The word says how it ended;
 * FIT_FAILED with cost NaN: no finite value at the start. */
enum fit_word fit_nlsq_run(struct fit_nlsq *s, const struct fit_nlsq_problem *p,
                           const struct fit_nlsq_options *opt, double *x);

#endif
