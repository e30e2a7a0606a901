/* optimize.h -- minimisation of a smooth function of many variables: problem, options, work space and result.
 *
 *     struct fit_optimize_options opt = fit_optimize_defaults();
 *     struct fit_optimize *o;
 *     if (fit_optimize_new(&o, &fit_optimize_lbfgsb, n, &opt, err) != FIT_OK) ...
 *     double *x = start;
 *     struct fit_optimize_result result;
 *     if (fit_optimize_run(o, &problem, x, &result, err) != FIT_OK) ...       x, result.f, result.end
 *     fit_optimize_free(o);
 *
 * The methods are the rows of optimizers/registry.h, where they are found by name; this header declares those that need
 * only value and gradient. A work space may be used for any number of runs, one at a time; a run allocates nothing.
 * Every run with the same problem, start and options gives the same bits, on every machine with the same objective:
 * sums have a fixed order.
 *
 * This room is independent of data, models, threads and clocks.
 */
#pragma once

#include "base/status.h"

#include <stddef.h>

/* ---- problem ---------------------------------------------------------------------------------- */

/* A function that fails with FIT_ERR_NUMERIC, or returns a value or gradient element that is not finite, says "not
 * here": line searches treat the value as +infinity and turn back. Any other failure ends the run, which returns it. */
struct fit_optimize_problem {
    size_t n;
    const double *lower, *upper; /* n each, infinite where there is none; NULL: no bounds at all */
    void *context;               /* first argument of the functions */
    enum fit_status (*value_gradient)(void *context, const double *x, double *f, double *g, struct fit_error *err);
    /* For least squares only, f = 1/2 r.r: value alone (or NULL: value_gradient is called), and f, J^T J (n x n) and
     * J^T r, which is the gradient; J = dr/dx. */
    enum fit_status (*value)(void *context, const double *x, double *f, struct fit_error *err);
    enum fit_status (*normal)(void *context, const double *x, double *f, double *JtJ, double *Jtr,
                              struct fit_error *err);
    const char *identity; /* one line that identifies the problem, kept in state files and compared; NULL: "" */
};

/* ---- options ---------------------------------------------------------------------------------- */

/* Progress of a run, reported after every iteration. */
struct fit_optimize_report {
    size_t iteration, nfev;
    double f, gradient_max, gradient_norm; /* as in the result */
    double step;                           /* factor of the direction, or the learning rate */
    const double *x;                       /* n */
};

struct fit_optimize_options {
    size_t maxiter;       /* 200 */
    double ftol;          /* 1e-6: (f before - f) / max(|f before|, |f|, 1); first-order methods: its modulus */
    double gtol;          /* 1e-6: largest element of the gradient, without elements that bounds block */
    size_t ftol_repeats;  /* so many iterations in a row must pass the test of ftol; 0: 1, first-order methods 5 */
    size_t memory;        /* 50: pairs of steps and changes of the gradient that L-BFGS keeps; 2 memory n doubles */
    size_t maxls;         /* 40: evaluations of one line search */
    double learning_rate; /* 1e-2: first-order methods */
    int accept_last;      /* 1: lbfgs-bt accepts the last trial although the value has not fallen */
    int fixed;            /* 1: exactly maxiter iterations, without tests of ftol and gtol */
    int (*watch)(void *user, const struct fit_optimize_report *r); /* nonzero: stop; or NULL */
    void *watch_user;
    const char *state_file; /* state.h: a run continues from this file, and writes it; NULL: none */
    size_t state_every;     /* iterations between two writings; 0: at the end of the run only */
};
struct fit_optimize_options fit_optimize_defaults(void);

/* ---- result ----------------------------------------------------------------------------------- */

enum fit_optimize_end {
    FIT_OPTIMIZE_GTOL,       /* the gradient is below gtol */
    FIT_OPTIMIZE_FTOL,       /* the value changes by less than ftol, or falls no further within its rounding */
    FIT_OPTIMIZE_MAXITER,    /* not converged: iterations used up */
    FIT_OPTIMIZE_LINESEARCH, /* not converged: no step along the steepest descent lowers the value enough */
    FIT_OPTIMIZE_NONFINITE,  /* not converged: no finite value at the start or at a step */
    FIT_OPTIMIZE_USER_STOP   /* not converged: watch() wished the end */
};

static inline int fit_optimize_converged(enum fit_optimize_end e)
{
    return e <= FIT_OPTIMIZE_FTOL;
}

/* "gtol", "ftol", "maxiter", "linesearch_failed", "nonfinite", "user_stop". */
const char *fit_optimize_end_name(enum fit_optimize_end e);

struct fit_optimize_result {
    enum fit_optimize_end end;
    const char *reason;     /* one sentence, static */
    double f;               /* at the x that is returned */
    double gradient_max;    /* largest element of the gradient there, without elements that bounds block */
    double gradient_norm;   /* Euclidean norm of the same */
    size_t nit, nfev, ngev; /* iterations, values and gradients, including those of line searches and earlier runs */
    size_t resumed;         /* iterations in the state file from which the run continued; 0: a new run */
};

/* ---- methods and runs ------------------------------------------------------------------------- */

struct fit_optimize_method; /* method.h */
struct fit_optimize;

extern const struct fit_optimize_method fit_optimize_lbfgsb, fit_optimize_lbfgs, fit_optimize_lbfgs_bt;
extern const struct fit_optimize_method fit_optimize_adam, fit_optimize_adamw, fit_optimize_sgd, fit_optimize_rmsprop;

/* A work space for problems of n variables. FIT_ERR_CONFIG: an invalid option (a memory or maxls of 0, negative
 * tolerances), or one that the method does not support; FIT_ERR_MEMORY. opt is copied, its texts are not. */
enum fit_status fit_optimize_new(struct fit_optimize **o, const struct fit_optimize_method *method, size_t n,
                                 const struct fit_optimize_options *opt, struct fit_error *err);
void fit_optimize_free(struct fit_optimize *o);

/* Minimises from x, which is projected into the bounds; on return x is where result->f was computed. FIT_OK: there
 * is a result, whatever its end. FIT_ERR_CONFIG: bounds or functions that do not suit the method, crossed bounds, a
 * state file of another problem; FIT_ERR_DATA, FIT_ERR_IO: of the state file; any status of the problem's functions. */
enum fit_status fit_optimize_run(struct fit_optimize *o, const struct fit_optimize_problem *problem, double *x,
                                 struct fit_optimize_result *result, struct fit_error *err);
