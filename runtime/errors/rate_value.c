/* rate_value.c -- see rate_value.h. */
#include "errors/rate_value.h"

#include <math.h>
#include <string.h>

#include "leastsquares/covariance.h"

/* A relative component of a gradient along an undetermined direction below this is rounding. */
static const double ALONG = 1e-3;
/* Amplitude and offset with a stronger correlation than this are meaningless by themselves. */
static const double TIED = 0.99;
enum { TIMES = 48 };

static int is_free(const struct fit_result *r, size_t k)
{
    return r->upper[k] > r->lower[k];
}

/* Do the data fail to determine the three parameters? */
static int needed(const struct fit_result *r, const struct fit_rate *x)
{
    const size_t member[3] = {x->amplitude, x->exponent, x->offset};
    for (int k = 0; k < 3; k++)
        if (isnan(r->std[member[k]]))
            return 1;
    return fabs(r->correlation[x->amplitude * r->nfull + x->offset]) > TIED;
}

static double std_of(const struct fit_spread *s, const double *gradient, double variance)
{
    return sqrt(variance * fit_spread_variance(s, gradient, ALONG));
}

/* The rate at time t (in its unit) and its standard error. */
static double value_at(const struct fit_rate *x, const struct fit_spread *s, double variance,
                       const struct fit_result *r, double t, double *gradient, double *std)
{
    double A = r->theta[x->amplitude], power = pow(t, r->theta[x->exponent]);
    memset(gradient, 0, r->nparam * sizeof *gradient);
    gradient[x->amplitude] = power;
    gradient[x->exponent] = A * power * log(t);
    gradient[x->offset] = 1;
    *std = std_of(s, gradient, variance);
    return A * power + r->theta[x->offset];
}

static double slope_at(const struct fit_rate *x, const struct fit_spread *s, double variance,
                       const struct fit_result *r, double t, double *gradient, double *std)
{
    double A = r->theta[x->amplitude], E = r->theta[x->exponent], power = pow(t, E);
    memset(gradient, 0, r->nparam * sizeof *gradient);
    gradient[x->amplitude] = E * power;
    gradient[x->exponent] = A * power * (1 + E * log(t));
    *std = std_of(s, gradient, variance);
    return A * E * power;
}

/* Evaluates the rate at the time of the measurement where it is known best. */
static void tell(const struct fit_rate *x, const struct fit_layout *l, const struct fit_spread *s, double variance,
                 const struct fit_result *r, double *gradient, struct fit_rate_value *out)
{
    double first = fmax(l->time[0], l->step) / x->time, last = l->time[l->ntime - 1] / x->time, best = INFINITY,
           at = first;
    for (int k = 0; k <= TIMES; k++) {
        double t = first * pow(last / first, (double)k / TIMES), std;
        value_at(x, s, variance, r, t, gradient, &std);
        if (std < best) {
            best = std;
            at = t;
        }
    }
    *out = (struct fit_rate_value){.amplitude = x->amplitude, .exponent = x->exponent, .offset = x->offset,
                                   .time = at * x->time, .needed = needed(r, x)};
    out->value = value_at(x, s, variance, r, at, gradient, &out->std);
    out->slope = slope_at(x, s, variance, r, at, gradient, &out->slope_std);
}

/* A combination that remains determined at the exponent 0 is the rate at the time 1. It is omitted when its error
 * exceeds its size, as when all measured times are far from 1: the rate at the best time is then more informative. */
static void drop_vague(const struct fit_kernel *k, const struct fit_rate *x, struct fit_result *r)
{
    for (size_t n = 0; n < r->ndegenerate; n++) {
        const struct fit_degeneracy *d = &k->degeneracy[r->degenerate[n].which];
        if (d->kind != FIT_DEGENERATE_AT_VALUE || d->condition != (long)x->exponent)
            continue;
        for (size_t c = d->first; c < d->first + d->ncombination; c++)
            if (r->combination_std[c] > fabs(r->combination[c]))
                r->combination[c] = r->combination_std[c] = NAN;
    }
}

enum fit_status fit_rate_values(const struct fit_kernel *kernel, const struct fit_layout *layout, double variance,
                                struct fit_result *res, struct fit_error *err)
{
    FIT_SCRATCH(a);
    struct fit_spread spread;
    unsigned char *free_ = fit_take(&a, res->nparam, sizeof *free_);
    double *gradient = fit_take(&a, res->nparam, sizeof *gradient);
    fit_spread_new(&spread, res->nparam, &a);
    res->nrate = 0;
    if (a.failed)
        return fit_no_memory(err, "fit, rates");
    for (size_t k = 0; k < kernel->nrate && kernel->space == FIT_PAIRS; k++) {
        const struct fit_rate *x = &kernel->rate[k];
        if (x->kind != FIT_RATE_POWER || !is_free(res, x->amplitude) || !is_free(res, x->exponent) ||
            !is_free(res, x->offset))
            continue;
        for (size_t i = 0; i < res->nparam; i++)
            free_[i] = is_free(res, i) && res->at_bound[i] == 0;
        free_[x->amplitude] = free_[x->exponent] = free_[x->offset] = 1;
        if (fit_spread_set(&spread, res, free_))
            return fit_fail(err, FIT_ERR_NUMERIC, "fit: J^T J is not finite at the optimum");
        struct fit_rate_value *told = &res->rate[res->nrate++];
        tell(x, layout, &spread, variance, res, gradient, told);
        if (told->needed && told->std > 0)
            drop_vague(kernel, x, res);
    }
    return FIT_OK;
}
