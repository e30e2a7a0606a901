/* rate.c -- coordinates of rates, see rate.h.  Derivatives by dual numbers with three directions (u, v, E): the
 * formulas are short and the logarithm of the Jacobian needs theirs once more. */
#include "rate.h"

#include <math.h>

static const double MARGIN = 1e-6; /* of a width, kept from a bound by fit_rate_of; as in coordinate.c */

struct dual {
    double x, d[3];
};

static struct dual constant(double x)
{
    return (struct dual){x, {0, 0, 0}};
}

static struct dual variable(double x, int k)
{
    struct dual y = constant(x);
    y.d[k] = 1;
    return y;
}

/* a p + b q with numbers a, b. */
static struct dual combine(double a, struct dual p, double b, struct dual q)
{
    struct dual y = {a * p.x + b * q.x, {0, 0, 0}};
    for (int k = 0; k < 3; k++)
        y.d[k] = a * p.d[k] + b * q.d[k];
    return y;
}

static struct dual add(struct dual p, struct dual q)
{
    return combine(1, p, 1, q);
}

static struct dual sub(struct dual p, struct dual q)
{
    return combine(1, p, -1, q);
}

static struct dual mul(struct dual p, struct dual q)
{
    struct dual y = combine(q.x, p, p.x, q);
    y.x = p.x * q.x;
    return y;
}

/* f(p) with the slope of f there. */
static struct dual chain(double f, double slope, struct dual p)
{
    struct dual y = {f, {0, 0, 0}};
    for (int k = 0; k < 3; k++)
        y.d[k] = slope * p.d[k];
    return y;
}

static struct dual inverse(struct dual p)
{
    return isinf(p.x) ? constant(0) : chain(1 / p.x, -1 / (p.x * p.x), p);
}

static struct dual exponential(struct dual p)
{
    double e = exp(p.x);
    return chain(e, e, p);
}

static struct dual logarithm(struct dual p)
{
    return chain(log(p.x), 1 / p.x, p);
}

static struct dual larger(struct dual p, struct dual q)
{
    return p.x >= q.x ? p : q;
}

static struct dual smaller(struct dual p, struct dual q)
{
    return p.x <= q.x ? p : q;
}

/* factor p + q where factor may be infinite: then no dependence is left. */
static struct dual bound_of(double factor, struct dual c, double offset)
{
    return isinf(factor) || isinf(offset) ? constant(factor + offset) : combine(factor, c, 1, constant(offset));
}

/* Lowest and highest rate at tref. */
static void rates_between(const struct fit_rate_map *m, struct dual c, struct dual *low, struct dual *high)
{
    *low = larger(constant(0), bound_of(m->lower[0], c, m->lower[1]));
    *high = bound_of(m->upper[0], c, m->upper[1]);
}

/* Smallest and largest part of the power in the rate T. */
static void parts_between(const struct fit_rate_map *m, struct dual c, struct dual T, struct dual *low, struct dual *high)
{
    *low = larger(bound_of(m->lower[0], c, 0), isinf(m->upper[1]) ? constant(-INFINITY) : sub(T, constant(m->upper[1])));
    *high = smaller(bound_of(m->upper[0], c, 0), isinf(m->lower[1]) ? constant(INFINITY) : sub(T, constant(m->lower[1])));
}

/* y(w) = low + scale / (e^-w + scale / (high - low)), which is low + scale e^w far from high; *log_slope += log dy/dw. */
static struct dual between(struct dual low, struct dual high, struct dual scale, struct dual w, struct dual *log_slope)
{
    struct dual sum = add(exponential(combine(-1, w, 0, w)), mul(scale, inverse(sub(high, low))));
    *log_slope = add(*log_slope, sub(combine(1, logarithm(scale), -2, logarithm(sum)), w));
    return add(low, mul(scale, inverse(sum)));
}

/* w of y >= 0. */
static double within(double low, double high, double scale, double y)
{
    double above = fmax(y - low, MARGIN * fmin(high - low, y));
    double below = isinf(high) ? INFINITY : fmax(high - y, MARGIN * (high - low));
    return log(above / scale) - (isinf(high) ? 0 : log(below / (above + below)));
}

static double held(double x, double lower, double upper)
{
    return fmin(fmax(x, lower), upper);
}

static int all_finite(const struct fit_rate_point *p)
{
    double sum = p->amplitude + p->offset + p->log_slope;
    for (int k = 0; k < 3; k++)
        sum += p->d_amplitude[k] + p->d_offset[k] + p->d_log_slope[k];
    return isfinite(sum);
}

int fit_rate_at(const struct fit_rate_map *m, double u, double v, double exponent, struct fit_rate_point *p)
{
    struct dual c = exponential(combine(m->log_tref, variable(exponent, FIT_RATE_E), 0, constant(0)));
    struct dual log_slope = constant(0), low, high, A, C;
    rates_between(m, c, &low, &high);
    if (!(low.x < high.x))
        return 0;
    struct dual T = between(low, high, constant(1), variable(u, FIT_RATE_U), &log_slope);
    if (m->fixed[0]) {
        A = constant(m->lower[0]);
        C = sub(T, mul(A, c));
    } else if (m->fixed[1]) {
        C = constant(m->lower[1]);
        A = mul(sub(T, C), inverse(c));
    } else {
        parts_between(m, c, T, &low, &high);
        struct dual S = between(low, high, T, variable(v, FIT_RATE_V), &log_slope);
        A = mul(S, inverse(c));
        C = sub(T, S);
    }
    if (!m->fixed[0])
        log_slope = sub(log_slope, logarithm(c));
    *p = (struct fit_rate_point){held(A.x, m->lower[0], m->upper[0]), held(C.x, m->lower[1], m->upper[1]), log_slope.x,
                                 {A.d[0], A.d[1], A.d[2]}, {C.d[0], C.d[1], C.d[2]},
                                 {log_slope.d[0], log_slope.d[1], log_slope.d[2]}};
    return all_finite(p);
}

int fit_rate_of(const struct fit_rate_map *m, double amplitude, double offset, double exponent, double *u, double *v)
{
    struct dual c = constant(exp(exponent * m->log_tref)), low, high;
    double T = amplitude * c.x + offset;
    rates_between(m, c, &low, &high);
    *u = *v = 0;
    if (!(T > 0) || !(low.x < high.x))
        return 0;
    *u = within(low.x, high.x, 1, T);
    if (!m->fixed[0] && !m->fixed[1]) {
        parts_between(m, c, constant(T), &low, &high);
        *v = within(low.x, high.x, T, amplitude * c.x);
    }
    return isfinite(*u) && isfinite(*v);
}
