/* prior.c -- densities, distribution functions and quantiles; see prior.h.
 *
 * Probabilities are differences of distribution functions, taken from the side where they are small.
 */
#include "model/prior.h"

#include <math.h>

#include "math/special.h"

static const double SQRT_2 = 1.41421356237309504880, HALF_PI = 1.57079632679489661923;
static const double LOG_SQRT_2_PI = 0.91893853320467274178;

/* ---- the standard normal ------------------------------------------------------------------------------- */

/* P(x < z < y), x <= y. */
static double normal_between(double x, double y)
{
    if (x > 0)
        return 0.5 * (erfc(x / SQRT_2) - erfc(y / SQRT_2));
    return 0.5 * (erfc(-y / SQRT_2) - erfc(-x / SQRT_2));
}

/* z with P(x < Z < z) = part P(x < Z < y). */
static double normal_part(double x, double y, double part)
{
    if (x > 0)
        return -normal_part(-y, -x, 1 - part);
    double below = 0.5 * erfc(-x / SQRT_2), z = fit_normal_quantile(below + part * normal_between(x, y));
    return fmin(fmax(z, x), y);
}

/* ---- tanh of a normal ---------------------------------------------------------------------------------- */

/* r of x = m + h tanh((r - m)/h); *slope <- dr/dx = h^2 / ((x - lower)(upper - x)) */
static double line_of(const struct fit_prior *p, double x, double *slope)
{
    double h = 0.5 * (p->upper - p->lower), below = x - p->lower, above = p->upper - x;
    *slope = h * h / (below * above);
    return 0.5 * (p->lower + p->upper) + 0.5 * h * log(below / above); /* atanh t = log((1 + t)/(1 - t)) / 2 */
}

static double bounded_of(const struct fit_prior *p, double r)
{
    double h = 0.5 * (p->upper - p->lower), m = 0.5 * (p->lower + p->upper);
    return m + h * tanh((r - m) / h);
}

/* ---- kinds ---------------------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    int numbers, positive;
} about[] = {
#define ABOUT(KIND, word, name, numbers, positive, usage) [FIT_PRIOR_##KIND] = {word, numbers, positive},
    FIT_PRIORS(ABOUT)
    [FIT_PRIOR_TANH_NORMAL] = {"tanh_normal", 2, 0},
    [FIT_PRIOR_JEFFREYS] = {"jeffreys", 0, 1},
};

const char *fit_prior_word(enum fit_prior_kind kind)
{
    return about[kind].word;
}

int fit_prior_numbers(enum fit_prior_kind kind)
{
    return about[kind].numbers;
}

/* ---- kinds by their distribution function -------------------------------------------------------------- */

static int is_normal(enum fit_prior_kind k)
{
    return k == FIT_PRIOR_NORMAL || k == FIT_PRIOR_TRUNCATED_NORMAL;
}

/* Where the kind lives. */
static double least(const struct fit_prior *p)
{
    return about[p->kind].positive ? fmax(p->lower, 0) : p->lower;
}

/* The distribution function without truncation, for kinds that are not normal. */
static double cdf(const struct fit_prior *p, double x)
{
    switch (p->kind) {
    case FIT_PRIOR_HALF_NORMAL: return erf(x / (p->b * SQRT_2));
    case FIT_PRIOR_EXPONENTIAL: return -expm1(-x / p->b);
    case FIT_PRIOR_HALF_CAUCHY: return isinf(x) ? 1 : atan(x / p->b) / HALF_PI;
    case FIT_PRIOR_BETA_SCALED: return fit_beta_cdf((x - p->lower) / (p->upper - p->lower), p->a, p->b);
    case FIT_PRIOR_LOG_UNIFORM: return log(x / p->lower) / log(p->upper / p->lower);
    case FIT_PRIOR_LAPLACE: return x < p->a ? 0.5 * exp((x - p->a) / p->b) : 1 - 0.5 * exp((p->a - x) / p->b);
    case FIT_PRIOR_NONE:
        return isfinite(p->lower) && isfinite(p->upper) ? (x - p->lower) / (p->upper - p->lower) : NAN;
    case FIT_PRIOR_NORMAL:
    case FIT_PRIOR_TRUNCATED_NORMAL:
    case FIT_PRIOR_LOG_NORMAL:
    case FIT_PRIOR_TANH_NORMAL:
    case FIT_PRIOR_JEFFREYS:
        break; /* not by this function */
    }
    return NAN;
}

static double inverse_cdf(const struct fit_prior *p, double part)
{
    switch (p->kind) {
    case FIT_PRIOR_HALF_NORMAL: return p->b * fit_normal_quantile(0.5 + 0.5 * part);
    case FIT_PRIOR_EXPONENTIAL: return -p->b * log1p(-part);
    case FIT_PRIOR_HALF_CAUCHY: return p->b * tan(part * HALF_PI);
    case FIT_PRIOR_BETA_SCALED:
        return p->lower + (p->upper - p->lower) * fit_beta_quantile(part, p->a, p->b);
    case FIT_PRIOR_LOG_UNIFORM: return p->lower * pow(p->upper / p->lower, part);
    case FIT_PRIOR_LAPLACE: return part < 0.5 ? p->a + p->b * log(2 * part) : p->a - p->b * log(2 * (1 - part));
    case FIT_PRIOR_NONE: return p->lower + part * (p->upper - p->lower);
    case FIT_PRIOR_NORMAL:
    case FIT_PRIOR_TRUNCATED_NORMAL:
    case FIT_PRIOR_LOG_NORMAL:
    case FIT_PRIOR_TANH_NORMAL:
    case FIT_PRIOR_JEFFREYS:
        break;
    }
    return NAN;
}

static double mass(const struct fit_prior *p)
{
    double x = least(p), y = p->upper;
    if (p->kind == FIT_PRIOR_TANH_NORMAL)
        return 1;
    if (is_normal(p->kind))
        return normal_between((x - p->a) / p->b, (y - p->a) / p->b);
    if (p->kind == FIT_PRIOR_LOG_NORMAL)
        return normal_between((log(x) - p->a) / p->b, (log(y) - p->a) / p->b);
    return cdf(p, y) - cdf(p, x);
}

/* Log of the normalisation of the density without truncation. */
static double log_constant(const struct fit_prior *p)
{
    double width = p->upper - p->lower;
    switch (p->kind) {
    case FIT_PRIOR_NORMAL:
    case FIT_PRIOR_TRUNCATED_NORMAL:
    case FIT_PRIOR_TANH_NORMAL:
    case FIT_PRIOR_LOG_NORMAL: return LOG_SQRT_2_PI + log(p->b);
    case FIT_PRIOR_HALF_NORMAL: return LOG_SQRT_2_PI + log(0.5 * p->b);
    case FIT_PRIOR_EXPONENTIAL: return log(p->b);
    case FIT_PRIOR_HALF_CAUCHY: return log(HALF_PI * p->b);
    case FIT_PRIOR_BETA_SCALED:
        return fit_log_gamma(p->a) + fit_log_gamma(p->b) - fit_log_gamma(p->a + p->b) + (p->a + p->b - 1) * log(width);
    case FIT_PRIOR_LOG_UNIFORM: return log(log(p->upper / p->lower));
    case FIT_PRIOR_LAPLACE: return log(2 * p->b);
    case FIT_PRIOR_NONE: return isfinite(width) ? log(width) : 0;
    case FIT_PRIOR_JEFFREYS: break;
    }
    return 0;
}

static int numbers_fit(const struct fit_prior *p)
{
    if (!(p->lower < p->upper))
        return 0;
    switch (p->kind) {
    case FIT_PRIOR_NONE: return 1;
    case FIT_PRIOR_JEFFREYS: return p->upper > 0;
    case FIT_PRIOR_LOG_UNIFORM: return p->lower > 0 && isfinite(p->upper);
    case FIT_PRIOR_BETA_SCALED: return p->a > 0 && p->b > 0 && isfinite(p->upper - p->lower);
    case FIT_PRIOR_TANH_NORMAL:
        return isfinite(p->a) && p->b > 0 && isfinite(p->b) && isfinite(p->upper - p->lower);
    default: return isfinite(p->a) && p->b > 0 && isfinite(p->b) && least(p) < p->upper;
    }
}

int fit_prior_init(struct fit_prior *p, enum fit_prior_kind kind, double a, double b, double lower, double upper)
{
    *p = (struct fit_prior){.kind = kind, .a = a, .b = b, .lower = isnan(lower) ? -INFINITY : lower,
                            .upper = isnan(upper) ? INFINITY : upper};
    if (!numbers_fit(p))
        return 0;
    p->proper = kind != FIT_PRIOR_JEFFREYS && (kind != FIT_PRIOR_NONE || isfinite(p->upper - p->lower));
    double m = p->proper ? mass(p) : 1;
    p->log_norm = log_constant(p) + log(m);
    return m > 0;
}

/* Those that are normal in x, log x, or the tanh coordinate: adds to the value; 0: on a bound. */
static int normal_log(const struct fit_prior *p, double x, double *value, double *slope)
{
    double z, slope_r;
    if (p->kind == FIT_PRIOR_TANH_NORMAL) {
        z = (line_of(p, x, &slope_r) - p->a) / p->b;
        if (!isfinite(slope_r))
            return 0;
        *value += log(slope_r) - 0.5 * z * z;
        *slope = 1 / (p->upper - x) - 1 / (x - p->lower) - z / p->b * slope_r;
    } else if (p->kind == FIT_PRIOR_LOG_NORMAL) {
        z = (log(x) - p->a) / p->b;
        *value -= 0.5 * z * z + log(x);
        *slope = -(z / p->b + 1) / x;
    } else {
        z = (x - (p->kind == FIT_PRIOR_HALF_NORMAL ? 0 : p->a)) / p->b;
        *value -= 0.5 * z * z;
        *slope = -z / p->b;
    }
    return 1;
}

double fit_prior_log(const struct fit_prior *p, double x, double *slope)
{
    double z, value = -p->log_norm, d = 0;
    if (!(x >= least(p) && x <= p->upper))
        return -INFINITY;
    switch (p->kind) {
    case FIT_PRIOR_NORMAL:
    case FIT_PRIOR_TRUNCATED_NORMAL:
    case FIT_PRIOR_HALF_NORMAL:
    case FIT_PRIOR_TANH_NORMAL:
    case FIT_PRIOR_LOG_NORMAL:
        if (!normal_log(p, x, &value, &d))
            return -INFINITY;
        break;
    case FIT_PRIOR_EXPONENTIAL:
    case FIT_PRIOR_LAPLACE:
        z = (x - (p->kind == FIT_PRIOR_LAPLACE ? p->a : 0)) / p->b;
        value -= fabs(z);
        d = -copysign(1 / p->b, z);
        break;
    case FIT_PRIOR_HALF_CAUCHY:
        z = x / p->b;
        value -= log1p(z * z);
        d = -2 * z / (p->b * (1 + z * z));
        break;
    case FIT_PRIOR_BETA_SCALED:
        value += (p->a - 1) * log(x - p->lower) + (p->b - 1) * log(p->upper - x);
        d = (p->a - 1) / (x - p->lower) - (p->b - 1) / (p->upper - x);
        break;
    case FIT_PRIOR_JEFFREYS:
    case FIT_PRIOR_LOG_UNIFORM:
        value -= log(x);
        d = -1 / x;
        break;
    case FIT_PRIOR_NONE: break;
    }
    if (slope)
        *slope = d;
    return value;
}

void fit_prior_slopes(const struct fit_prior *p, double x, double *by_a, double *by_b)
{
    double z;
    *by_a = 0;
    switch (p->kind) {
    case FIT_PRIOR_NORMAL:
    case FIT_PRIOR_LOG_NORMAL:
        z = ((p->kind == FIT_PRIOR_NORMAL ? x : log(x)) - p->a) / p->b;
        *by_a = z / p->b;
        *by_b = (z * z - 1) / p->b;
        break;
    case FIT_PRIOR_HALF_NORMAL:
        z = x / p->b;
        *by_b = (z * z - 1) / p->b;
        break;
    case FIT_PRIOR_EXPONENTIAL: *by_b = (x / p->b - 1) / p->b; break;
    case FIT_PRIOR_HALF_CAUCHY:
        z = x / p->b;
        *by_b = (2 * z * z / (1 + z * z) - 1) / p->b;
        break;
    default: *by_b = NAN;
    }
}

double fit_prior_quantile(const struct fit_prior *p, double part)
{
    if (!p->proper)
        return NAN;
    if (p->kind == FIT_PRIOR_TANH_NORMAL)
        return bounded_of(p, p->a + p->b * fit_normal_quantile(part));
    double x = least(p), y = p->upper;
    if (is_normal(p->kind))
        return p->a + p->b * normal_part((x - p->a) / p->b, (y - p->a) / p->b, part);
    if (p->kind == FIT_PRIOR_LOG_NORMAL)
        return exp(p->a + p->b * normal_part((log(x) - p->a) / p->b, (log(y) - p->a) / p->b, part));
    double below = cdf(p, x);
    return fmin(fmax(inverse_cdf(p, below + part * (cdf(p, y) - below)), x), y);
}
