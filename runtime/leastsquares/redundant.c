/* redundant.c -- redundant parameters, which a fit may hold without loss.
 *
 * Of two parameters that enter only as one combination, as f0 and f2 in f0 exp(-f1 f2), one may have any value: every
 * value of the mean is reached with the other. If both are free, they run far along the orbit, and there the valleys of
 * the other parameters are too strongly curved for a descent: at f2 = -1600 a change of f1 by 1e-3 changes the mean
 * fivefold, unless f0 follows. The compiler's choice of the two (fit_degeneracy.held) is therefore held at its start
 * during the search for minima.
 *
 * It is released where bounds make a difference: when another parameter of the orbit ends on one.
 */
#include "leastsquares/fit_impl.h"

#include <math.h>
#include <string.h>

static int is_free(const struct fit_ls *f, size_t k)
{
    return f->upper[k] > f->lower[k];
}

/* Can the others compensate with parameter `held` at its start? gradient: of the combination there. */
static int others_serve(const struct fit_ls *f, const struct fit_degeneracy *d, const double *gradient)
{
    for (size_t i = 0; i < d->nparam; i++) {
        size_t k = d->param[i];
        if ((int)k == d->held)
            continue;
        if (k >= f->p || !is_free(f, k) || (d->ncombination && !(fabs(gradient[k]) > 0 && isfinite(gradient[k]))))
            return 0;
    }
    return 1;
}

enum fit_status fit_ls_hold(struct fit_ls *f)
{
    const struct fit_kernel *kernel = f->kernel;
    size_t n = kernel->ncombination;
    memcpy(f->open_lower, f->lower, f->p * sizeof *f->lower);
    memcpy(f->open_upper, f->upper, f->p * sizeof *f->upper);
    FIT_SCRATCH(a);
    double *value = fit_take(&a, n, sizeof *value), *gradient = fit_take(&a, n * f->p, sizeof *gradient);
    if (a.failed)
        return fit_no_memory(f->err, "fit");
    if (kernel->combine)
        kernel->combine(&f->ds->layout, f->start, value, gradient);
    for (size_t i = 0; i < kernel->ndegeneracy; i++) {
        const struct fit_degeneracy *d = &kernel->degeneracy[i];
        if (d->held < 0 || !is_free(f, (size_t)d->held) || !others_serve(f, d, gradient + d->first * f->p))
            continue;
        f->lower[d->held] = f->upper[d->held] = f->start[d->held];
    }
    return FIT_OK;
}

int fit_ls_held_is_needed(const struct fit_ls *f, const double *theta)
{
    for (size_t i = 0; i < f->kernel->ndegeneracy; i++) {
        const struct fit_degeneracy *d = &f->kernel->degeneracy[i];
        if (d->held < 0 || is_free(f, (size_t)d->held) || !(f->open_upper[d->held] > f->open_lower[d->held]))
            continue;
        for (size_t m = 0; m < d->nparam; m++) {
            size_t k = d->param[m];
            if ((int)k != d->held && fit_ls_on_bound(f, k, theta))
                return 1;
        }
    }
    return 0;
}

void fit_ls_release(struct fit_ls *f)
{
    memcpy(f->lower, f->open_lower, f->p * sizeof *f->lower);
    memcpy(f->upper, f->open_upper, f->p * sizeof *f->upper);
}
