/* own_optimizer.c -- an optimizer as a user writes it in C: steepest descent, halving steps; and one that gives up. */
#include "fit/optimizer.h"

#include <math.h>

fit_optimizer_function descend, give_up;

enum { MOST = 64 };

static double length(size_t n, const double *g)
{
    double most = 0;
    for (size_t k = 0; k < n; k++)
        most = fmax(most, fabs(g[k]));
    return most;
}

int descend(const struct fit_optimizer_call *c, double *x)
{
    double f, g[MOST], ft, gt[MOST], xt[MOST], step = 1;
    if (c->n > MOST || c->value_gradient(c->context, x, &f, g) != 0)
        return FIT_OPTIMIZER_FAILED;
    for (size_t k = 0; k < c->maxiter && length(c->n, g) > c->gtol; k++, step *= 1.5) {
        for (int how = 1; how || !(ft < f); step /= 2) {
            for (size_t j = 0; j < c->n; j++)
                xt[j] = x[j] - step * g[j];
            how = c->value_gradient(c->context, xt, &ft, gt);
            if (how == 2 || step < 1e-30)
                return FIT_OPTIMIZER_FAILED;
        }
        step *= 2;
        f = ft;
        for (size_t j = 0; j < c->n; j++)
            x[j] = xt[j], g[j] = gt[j];
        if (c->iteration(c->context, x, f, g))
            return FIT_OPTIMIZER_LIMIT;
    }
    return length(c->n, g) > c->gtol ? FIT_OPTIMIZER_LIMIT : FIT_OPTIMIZER_CONVERGED;
}

int give_up(const struct fit_optimizer_call *c, double *x)
{
    (void)c;
    (void)x;
    return FIT_OPTIMIZER_FAILED;
}
