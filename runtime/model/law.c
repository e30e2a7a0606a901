/* law.c -- draws by transformation and rejection; exact up to rounding.
 *
 * Poisson: products of uniforms below 10; above, transformed rejection with squeeze, PTRS (Hormann, Insurance: Math.
 * and Econ. 12 (1993) 39). Negative binomial: Poisson with a gamma-distributed mean, as for speckle (Goodman 1985,
 * section 9.2). Binomial: by the median of the uniforms, a beta variate, until few trials are left (Relles, J. Am.
 * Stat. Assoc. 67 (1972) 612; Ahrens & Dieter, Computing 12 (1974) 223). */
#include "model/law.h"

#include "math/special.h"

#include <math.h>

enum { FEW_TRIALS = 32 };
static const double SMALL_MEAN = 10;

int fit_law_known(enum fit_law law)
{
    return law != FIT_LAW_OTHER;
}

int fit_law_tests(enum fit_law law)
{
    return law == FIT_LAW_POISSON || law == FIT_LAW_NEGATIVE_BINOMIAL || law == FIT_LAW_BINOMIAL ||
           law == FIT_LAW_EXPONENTIAL;
}

double fit_law_deviation(enum fit_law law, double mean, const double *arg)
{
    double s2;
    switch (law) {
    case FIT_LAW_GAUSSIAN: return arg[0];
    case FIT_LAW_STUDENT_T: return arg[1] > 2 ? arg[0] * sqrt(arg[1] / (arg[1] - 2)) : arg[0];
    case FIT_LAW_LAPLACE: return sqrt(2) * arg[0];
    case FIT_LAW_LOG_NORMAL: /* about the median */
        s2 = arg[0] * arg[0];
        return fabs(mean) * sqrt(exp(2 * s2) - 2 * exp(0.5 * s2) + 1);
    case FIT_LAW_EXPONENTIAL: return fabs(mean);
    case FIT_LAW_GAMMA: return fabs(mean) / sqrt(arg[0]);
    case FIT_LAW_POISSON: return sqrt(mean);
    case FIT_LAW_NEGATIVE_BINOMIAL: return sqrt(mean + mean * mean / arg[0]);
    case FIT_LAW_BINOMIAL: return sqrt(mean * (1 - mean / arg[0]));
    default: return 1;
    }
}

/* ---- counts ---------------------------------------------------------------------------------------- */

static double poisson_small(double mean, struct fit_rng *rng)
{
    double least = exp(-mean), product = 1, k = 0;
    for (;; k++) {
        product *= fit_rng_next_uniform(rng);
        if (product <= least)
            return k;
    }
}

static double poisson(double mean, struct fit_rng *rng)
{
    if (!(mean >= 0) || isinf(mean))
        return NAN;
    if (mean < SMALL_MEAN)
        return poisson_small(mean, rng);
    double log_mean = log(mean), b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
    double inverse = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        double u = fit_rng_next_uniform(rng) - 0.5, v = fit_rng_next_uniform(rng), us = 0.5 - fabs(u);
        double k = floor((2 * a / us + b) * u + mean + 0.43);
        if (us >= 0.07 && v <= v_r)
            return k;
        if (k < 0 || (us < 0.013 && v > us))
            continue;
        if (log(v) + log(inverse) - log(a / (us * us) + b) <= k * log_mean - mean - fit_log_gamma(k + 1))
            return k;
    }
}

static double binomial(double trials, double p, struct fit_rng *rng)
{
    double count = 0, n = trials;
    if (!(n >= 0) || n > 0x1p53 || floor(n) < n || !(p >= 0) || p > 1)
        return NAN;
    while (n > FEW_TRIALS) { /* the i-th smallest of n uniforms is x: beta (i, n + 1 - i) */
        double i = floor(0.5 * (n + 1)), g = fit_rng_next_gamma(rng, i), h = fit_rng_next_gamma(rng, n + 1 - i);
        double x = g / (g + h);
        if (x <= p) {
            count += i;
            n -= i;
            p = x < 1 ? (p - x) / (1 - x) : 0;
        } else {
            n = i - 1;
            p /= x;
        }
    }
    for (; n > 0; n--)
        count += fit_rng_next_uniform(rng) < p;
    return count;
}

/* ---- values ---------------------------------------------------------------------------------------- */

static double normal(struct fit_rng *rng)
{
    double z;
    fit_rng_next_normals(rng, 1, &z);
    return z;
}

double fit_law_draw(enum fit_law law, double mean, const double *arg, struct fit_rng *rng)
{
    double z, u;
    switch (law) {
    case FIT_LAW_GAUSSIAN: return mean + arg[0] * normal(rng);
    case FIT_LAW_STUDENT_T:
        z = normal(rng);
        return mean + arg[0] * z / sqrt(fit_rng_next_gamma(rng, 0.5 * arg[1]) / (0.5 * arg[1]));
    case FIT_LAW_LAPLACE:
        u = fit_rng_next_uniform(rng) - 0.5;
        return mean - arg[0] * copysign(log1p(-2 * fabs(u)), u);
    case FIT_LAW_LOG_NORMAL: return mean * exp(arg[0] * normal(rng));
    case FIT_LAW_EXPONENTIAL: return -mean * log(fit_rng_next_uniform(rng));
    case FIT_LAW_GAMMA: return mean / arg[0] * fit_rng_next_gamma(rng, arg[0]);
    case FIT_LAW_POISSON: return poisson(mean, rng);
    case FIT_LAW_NEGATIVE_BINOMIAL: return poisson(mean / arg[0] * fit_rng_next_gamma(rng, arg[0]), rng);
    case FIT_LAW_BINOMIAL: return binomial(arg[0], mean / arg[0], rng);
    default: return NAN;
    }
}
