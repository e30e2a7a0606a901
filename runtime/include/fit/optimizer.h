/* optimizer.h -- an optimizer of one's own, as a C function in a shared library.
 *
 *     #include <fit/optimizer.h>
 *     int descend(const struct fit_optimizer_call *c, double *x)
 *     {
 *         double f, g[100];
 *         for (size_t k = 0; k < c->maxiter; k++) {
 *             if (c->value_gradient(c->context, x, &f, g) != 0) return FIT_OPTIMIZER_FAILED;
 *             if (c->iteration(c->context, x, f, g)) return FIT_OPTIMIZER_LIMIT;
 *             ...
 *         }
 *         return FIT_OPTIMIZER_LIMIT;
 *     }
 *
 * compiled with `cc -shared -fPIC -o descend.so descend.c` and named "descend.so:descend".  The function minimises from
 * x and leaves there the best x that it found; value and gradient there are computed once more, and the test of gtol is
 * ours.  Every call has its own context: the function may be called from several threads. */
#ifndef FIT_OPTIMIZER_H
#define FIT_OPTIMIZER_H

#include <stddef.h>

struct fit_optimizer_call {
    size_t size;                 /* of this structure: later members may be added */
    size_t n;                    /* variables */
    const double *lower, *upper; /* n each, may be infinite; NULL: no bounds */
    size_t maxiter;
    double ftol, gtol, learning_rate;
    void *context; /* first argument of the functions */
    /* Value and gradient at x.  0; 1: not finite there, f is infinite; 2: the run is over, return at once. */
    int (*value_gradient)(void *context, const double *x, double *f, double *g);
    /* To be told after every iteration.  Nonzero: return. */
    int (*iteration)(void *context, const double *x, double f, const double *g);
};

enum { FIT_OPTIMIZER_CONVERGED, FIT_OPTIMIZER_LIMIT, FIT_OPTIMIZER_FAILED };

typedef int fit_optimizer_function(const struct fit_optimizer_call *call, double *x);

#endif
