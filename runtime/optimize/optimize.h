/* optimize.h -- the minimum of a smooth function of many variables: problem, options, work space and result.
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
 * nothing but value and gradient.  A work space may be used for any number of runs, one at a time; a run takes no
 * storage.  The same bits come from every run with the same problem, start and options, on every machine of the same
 * objective: sums have a fixed order.
 *
 * Nothing here knows data, models, threads or clocks.
 */
#pragma once

#include "base/status.h"

#include <stddef.h>

/* ---- problem ---------------------------------------------------------------------------------- */

/* A function that fails with FIT_ERR_NUMERIC, and one that gives a value or a gradient with an element that is not
 * finite, says "not here": line searches take the value for +infinity and turn back.  Any other failure ends the run,
 * and is what the run returns. */
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
    const char *identity; /* one line that says which problem it is, kept in state files and compared; NULL: "" */
};

/* ---- options ---------------------------------------------------------------------------------- */

/* What a run has come to, told after every iteration. */
struct fit_optimize_report {
    size_t iteration, nfev;
    double f, gradient_max, gradient_norm; /* as in the result */
    double step;                           /* factor of the direction, or the learning rate */
    const double *x;                       /* n */
};

struct fit_optimize_options {
    size_t maxiter;       /* 200 */
    double ftol;          /* 1e-6: (f before - f) / max(|f before|, |f|, 1); first-order methods: its modulus */
    double gtol;          /* 1e-6: largest element of the gradient, without what bounds hold back */
    size_t ftol_repeats;  /* so many iterations in a row must pass the test of ftol; 0: 1, first-order methods 5 */
    size_t memory;        /* 50: pairs of steps and changes of the gradient that L-BFGS keeps; 2 memory n doubles */
    size_t maxls;         /* 40: evaluations of one line search */
    double learning_rate; /* 1e-2: first-order methods */
    int accept_last;      /* 1: lbfgs-bt takes the last trial although the value has not fallen */
    int fixed;            /* 1: exactly maxiter iterations, without tests of ftol and gtol */
    int (*watch)(void *user, const struct fit_optimize_report *r); /* nonzero: stop; or NULL */
    void *watch_user;
    const char *state_file; /* state.h: a run that goes on where this file ends, and writes it; NULL: none */
    size_t state_every;     /* iterations between two writings; 0: at the end of the run only */
};
struct fit_optimize_options fit_optimize_defaults(void);

/* ---- result ----------------------------------------------------------------------------------- */

enum fit_optimize_end {
    FIT_OPTIMIZE_GTOL,       /* the gradient is below gtol */
    FIT_OPTIMIZE_FTOL,       /* the value changes by less than ftol, or falls no further within its rounding */
    FIT_OPTIMIZE_MAXITER,    /* not converged: iterations used up */
    FIT_OPTIMIZE_LINESEARCH, /* not converged: no step along the steepest descent lowers the value enough */
    FIT_OPTIMIZE_NONFINITE,  /* not converged: no finite value at the start or where a step leads */
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
    double gradient_max;    /* largest element of the gradient there, without what bounds hold back */
    double gradient_norm;   /* Euclidean norm of the same */
    size_t nit, nfev, ngev; /* iterations, values and gradients, those of line searches and earlier runs included */
    size_t resumed;         /* iterations of the state file that the run went on from; 0: it began anew */
};

/* ---- methods and runs ------------------------------------------------------------------------- */

struct fit_optimize_method; /* method.h */
struct fit_optimize;

extern const struct fit_optimize_method fit_optimize_lbfgsb, fit_optimize_lbfgs, fit_optimize_lbfgs_bt;
extern const struct fit_optimize_method fit_optimize_adam, fit_optimize_adamw, fit_optimize_sgd, fit_optimize_rmsprop;

/* A work space for problems of n variables.  FIT_ERR_CONFIG: an option that is none (a memory or maxls of 0, negative
 * tolerances), or one that the method cannot have; FIT_ERR_MEMORY.  opt is copied, its texts are not. */
enum fit_status fit_optimize_new(struct fit_optimize **o, const struct fit_optimize_method *method, size_t n,
                                 const struct fit_optimize_options *opt, struct fit_error *err);
void fit_optimize_free(struct fit_optimize *o);

/* Minimises from x, which is moved between the bounds; on return x is where result->f was computed.  FIT_OK: there is a
 * result, whatever its end.  FIT_ERR_CONFIG: bounds or functions that do not suit the method, crossed bounds, a state
 * file of another problem; FIT_ERR_DATA, FIT_ERR_IO: of the state file; what the problem's functions returned. */
enum fit_status fit_optimize_run(struct fit_optimize *o, const struct fit_optimize_problem *problem, double *x,
                                 struct fit_optimize_result *result, struct fit_error *err);
