/* coordinate.c -- transforms between bounded parameters and coordinates without bounds. */
#include "math/coordinate.h"

#include <math.h>

static const double MARGIN = 1e-6; /* fraction of the width that fit_coordinate_of keeps from a bound */

struct fit_coordinate fit_coordinate_for(double lower, double upper)
{
    int lo = isfinite(lower), hi = isfinite(upper);
    enum fit_coordinate_kind kind = lo && hi ? FIT_COORDINATE_INTERVAL
                                    : lo     ? FIT_COORDINATE_ABOVE
                                    : hi     ? FIT_COORDINATE_BELOW
                                             : FIT_COORDINATE_IDENTITY;
    if (lo && hi && lower > 0 && upper / lower >= 100)
        kind = FIT_COORDINATE_LOG_INTERVAL;
    return (struct fit_coordinate){kind, lower, upper};
}

static double at_log_interval(const struct fit_coordinate *c, double q, double *slope, double *log_slope, double *bend)
{
    struct fit_coordinate inner = {FIT_COORDINATE_INTERVAL, log(c->lower), log(c->upper)};
    double d, log_d, bend_inner, x = exp(fit_coordinate_at(&inner, q, &d, &log_d, &bend_inner));
    x = fmin(fmax(x, c->lower), c->upper);
    if (slope)
        *slope = x * d;
    if (log_slope)
        *log_slope = log(x) + log_d;
    if (bend)
        *bend = d + bend_inner;
    return x;
}

double fit_coordinate_at(const struct fit_coordinate *c, double q, double *slope, double *log_slope, double *bend)
{
    double x = q, d = 1, log_d = 0, b = 0, e, width = c->upper - c->lower;
    switch (c->kind) {
    case FIT_COORDINATE_LOG_INTERVAL: return at_log_interval(c, q, slope, log_slope, bend);
    case FIT_COORDINATE_ABOVE:
    case FIT_COORDINATE_BELOW:
        e = exp(q);
        x = c->kind == FIT_COORDINATE_ABOVE ? c->lower + e : c->upper - e;
        d = c->kind == FIT_COORDINATE_ABOVE ? e : -e;
        log_d = q;
        b = 1;
        break;
    case FIT_COORDINATE_INTERVAL:
        /* s and 1 - s from e^-|q|, so that neither loses digits */
        e = exp(-fabs(q));
        x = q >= 0 ? c->upper - width * (e / (1 + e)) : c->lower + width * (e / (1 + e));
        if (fabs(q) < 1) /* near 0, for bounds -a and a, x must not lose digits either */
            x = 0.5 * (c->lower + c->upper) + 0.5 * width * tanh(0.5 * q);
        d = width * e / ((1 + e) * (1 + e));
        log_d = log(width) - fabs(q) - 2 * log1p(e);
        b = (q >= 0 ? -1 : 1) * (1 - e) / (1 + e); /* 1 - 2 s */
        break;
    default: break;
    }
    if (slope)
        *slope = d;
    if (log_slope)
        *log_slope = log_d;
    if (bend)
        *bend = b;
    return x;
}

double fit_coordinate_of(const struct fit_coordinate *c, double x)
{
    double width = c->upper - c->lower, margin = fmin(MARGIN * width, fmax(fabs(x), 1)), low, high;
    switch (c->kind) {
    case FIT_COORDINATE_ABOVE: return log(fmax(x - c->lower, MARGIN * (1 + fabs(c->lower))));
    case FIT_COORDINATE_BELOW: return log(fmax(c->upper - x, MARGIN * (1 + fabs(c->upper))));
    case FIT_COORDINATE_INTERVAL:
        low = fmax(x - c->lower, margin);
        high = fmax(c->upper - x, margin);
        x -= 0.5 * (c->lower + c->upper);
        return fabs(x) < 0.2 * width ? 2 * atanh(2 * x / width) : log(low / high);
    case FIT_COORDINATE_LOG_INTERVAL:
        width = log(c->upper / c->lower);
        low = fmax(log(x / c->lower), MARGIN * width);
        high = fmax(log(c->upper / x), MARGIN * width);
        return log(low / high);
    default: return x;
    }
}
