/* descent.h -- minimisation of a bound objective by an optimizer of the table. */
#pragma once

#include <stdatomic.h>

#include "functional/functional.h"
#include "optimize/optimize.h"

struct fit_descent_options {
    const char *optimizer, *state; /* NULL: the default; no state is kept */
    size_t maxiter, memory, maxls;
    double ftol, gtol, learning_rate;
};

struct fit_descent {
    struct fit_bound *bound;
    const atomic_int *interrupt; /* ends the run; or NULL */
    const char *identity;        /* one line that identifies this problem in state files */
    size_t n, *place;            /* what the optimizer sees: these elements of x */
    double *full, *gradient;     /* x of the objective and its slopes, all of it */
    double *x;                   /* n */
    struct fit_optimize_result result;
};

/* Minimises x; result. FIT_ERR_CONFIG: the optimizer does not suit this objective. */
enum fit_status fit_descend(struct fit_descent *d, const struct fit_descent_options *o, struct fit_error *err);

/* J at x; full, gradient and the terms of the objective are those of x. */
double fit_descent_conclude(struct fit_descent *d);
