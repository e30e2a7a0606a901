/* rate.c -- coordinates of rates, see rate.h.  Derivatives by dual numbers with a direction for each coordinate: the
 * formulas are short and the logarithm of the Jacobian needs theirs once more. */
#include "rate.h"

#include <math.h>
#include <stddef.h>

static const double MARGIN = 1e-6; /* of a width, kept from a bound by fit_rate_of; as in coordinate.c */

struct dual {
    double x, d[FIT_RATE_COORDINATES];
};

static struct dual constant(double x)
{
    return (struct dual){.x = x};
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
    struct dual y = constant(a * p.x + b * q.x);
    for (int k = 0; k < FIT_RATE_COORDINATES; k++)
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
    struct dual y = constant(f);
    for (int k = 0; k < FIT_RATE_COORDINATES; k++)
        y.d[k] = slope * p.d[k];
    return y;
}

static struct dual inverse(struct dual p)
{
    return isinf(p.x) ? constant(0) : chain(1 / p.x, -1 / (p.x * p.x), p);
}

/* Out of range: 0 or infinity, on which nothing depends. */
static struct dual exponential(struct dual p)
{
    double e = exp(p.x);
    return isinf(e) || e == 0 ? constant(e) : chain(e, e, p);
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

/* p + q, and p - q, with a number q, where either may be infinite: then no dependence is left. */
static struct dual offset_by(struct dual p, double q)
{
    return isinf(p.x) || isinf(q) ? constant(p.x + q) : add(p, constant(q));
}

/* A number times p; infinite times anything above 0 is infinite. */
static struct dual times(double a, struct dual p)
{
    return a == 0 ? constant(0) : isinf(a) || isinf(p.x) ? constant(a * p.x) : combine(a, p, 0, p);
}

/* T(u): low + 1 / (e^-u + 1 / (high - low)), which is low + e^u far from high; *log_slope += log dT/du. */
static struct dual rate_between(struct dual low, struct dual high, struct dual u, struct dual *log_slope)
{
    struct dual room = isinf(high.x) ? constant(0) : inverse(sub(high, low));
    struct dual sum = add(exponential(combine(-1, u, 0, u)), room);
    *log_slope = sub(*log_slope, add(combine(2, logarithm(sum), 0, sum), u));
    return add(low, inverse(sum));
}

static double of_rate_between(double low, double high, double T)
{
    double above = fmax(T - low, MARGIN * fmin(high - low, T));
    double below = isinf(high) ? INFINITY : fmax(high - T, MARGIN * (high - low));
    return log(above) - (isinf(high) ? 0 : log(below / (above + below)));
}

static struct dual softplus(struct dual v)
{
    double e = exp(-fabs(v.x));
    return chain(fmax(v.x, 0) + log1p(e), (v.x > 0 ? 1 : e) / (1 + e), v);
}

/* Per 1 of softplus: twice the harmonic mean of T and the width R. */
static struct dual scale_of(struct dual T, struct dual R)
{
    return isinf(R.x) ? combine(2, T, 0, T) : mul(combine(2, T, 0, T), inverse(add(constant(1), mul(T, inverse(R)))));
}

/* S(v) = low + R (1 - (1 + e^v)^(-scale / R)), R = high - low; *log_slope += log dS/dv. */
static struct dual part_between(struct dual low, struct dual high, struct dual T, struct dual v, struct dual *log_slope)
{
    struct dual L = softplus(v), R = isinf(high.x) ? constant(INFINITY) : sub(high, low), scale = scale_of(T, R);
    *log_slope = add(*log_slope, sub(logarithm(scale), softplus(combine(-1, v, 0, v))));
    if (isinf(R.x))
        return add(low, mul(scale, L));
    struct dual a = mul(mul(scale, inverse(R)), L);
    *log_slope = sub(*log_slope, a);
    return add(low, mul(R, chain(-expm1(-a.x), exp(-a.x), a)));
}

static double of_part_between(double low, double high, double T, double S)
{
    double R = high - low, scale = scale_of(constant(T), constant(R)).x, above = fmax(S - low, MARGIN * fmin(R, S));
    double L = isinf(R) ? above / scale : -log(fmax(1 - above / R, MARGIN)) * R / scale;
    return L > 30 ? L : log(expm1(L)); /* e^-30: below the last digit */
}

/* ---- the rate and its varying part --------------------------------------------------------------------- */

/* What stands beside u and v in the formulas of T and S. */
struct around {
    struct dual A, E, X; /* A or X, whichever S does not give */
};

struct parts {
    struct dual T, S;
};

static int part_is_fixed(const struct fit_rate_map *m)
{
    return m->fixed[FIT_RATE_A] && (!m->by_shift || m->fixed[FIT_RATE_X]);
}

/* Smallest and largest part S, whatever the rate. */
static void limits(const struct fit_rate_map *m, const struct around *at, struct dual *low, struct dual *high)
{
    const struct fit_coordinate *A = &m->part[FIT_RATE_A], *X = &m->part[FIT_RATE_X];
    if (!m->by_shift) {
        struct dual c = exponential(mul(at->E, sub(constant(m->reference), at->X)));
        *low = times(A->lower, c);
        *high = times(A->upper, c);
        return;
    }
    double sign = at->E.x > 0 ? 1 : -1, first = sign > 0 ? X->upper : X->lower, last = sign > 0 ? X->lower : X->upper;
    *low = isinf(first) ? constant(0) : mul(at->A, exponential(times(m->reference - first, at->E)));
    struct dual e = isinf(last) ? constant(INFINITY) : exponential(times(m->reference - last, at->E));
    *high = isinf(e.x) ? e : mul(at->A, e);
}

/* 0: there is no rate above 0. */
static int parts_at(const struct fit_rate_map *m, const struct around *at, struct dual u, struct dual v, struct parts *p,
                    struct dual *log_slope)
{
    const struct fit_coordinate *C = &m->part[FIT_RATE_C];
    struct dual low, high;
    limits(m, at, &low, &high);
    struct dual T0 = larger(constant(0), offset_by(low, C->lower)), T1 = offset_by(high, C->upper);
    if (!(T0.x < T1.x))
        return 0;
    p->T = rate_between(T0, T1, u, log_slope);
    if (part_is_fixed(m)) {
        p->S = low;
    } else if (m->fixed[FIT_RATE_C]) {
        p->S = sub(p->T, constant(C->lower));
    } else {
        low = larger(low, offset_by(p->T, -C->upper));
        high = smaller(high, offset_by(p->T, -C->lower));
        p->S = part_between(low, high, p->T, v, log_slope);
    }
    return 1;
}

/* w of E = 0; NaN: the bounds exclude it. */
static double centre(const struct fit_coordinate *E)
{
    return E->lower < 0 && E->upper > 0 ? fit_coordinate_of(E, 0) : NAN;
}

/* k of rate.h. */
static int share_at(const struct fit_rate_map *m, struct dual u, struct dual v, struct dual *k)
{
    struct around at = {constant(m->start[FIT_RATE_A]), constant(m->start[FIT_RATE_E]), constant(m->start[FIT_RATE_X])};
    struct dual unused = constant(0);
    struct parts p;
    *k = constant(1);
    if (isnan(centre(&m->part[FIT_RATE_E])))
        return 1;
    if (!parts_at(m, &at, u, v, &p, &unused))
        return 0;
    *k = mul(p.S, inverse(p.T));
    return k->x > 0;
}

/* ---- there --------------------------------------------------------------------------------------------- */

int fit_rate_uses(const struct fit_rate_map *m, int coordinate)
{
    switch (coordinate) {
    case FIT_RATE_V: return !part_is_fixed(m) && !m->fixed[FIT_RATE_C];
    case FIT_RATE_Y: return !m->fixed[FIT_RATE_E];
    case FIT_RATE_Z: return !m->fixed[FIT_RATE_A] && !m->fixed[FIT_RATE_X];
    default: return 1;
    }
}

/* A parameter by a coordinate of its own. */
static struct dual own(const struct fit_coordinate *c, struct dual w, struct dual *log_slope)
{
    double slope, log_d, bend, x = fit_coordinate_at(c, w.x, &slope, &log_d, &bend);
    *log_slope = add(*log_slope, chain(log_d, bend, w));
    return chain(x, slope, w);
}

static int exponent_at(const struct fit_rate_map *m, struct dual u, struct dual v, struct dual y, struct dual *E,
                       struct dual *log_slope)
{
    const struct fit_coordinate *c = &m->part[FIT_RATE_E];
    double w0 = centre(c);
    struct dual k;
    if (m->fixed[FIT_RATE_E]) {
        *E = constant(c->lower);
        return 1;
    }
    if (!share_at(m, u, v, &k))
        return 0;
    *E = own(c, offset_by(mul(y, inverse(k)), isnan(w0) ? 0 : w0), log_slope);
    *log_slope = sub(*log_slope, logarithm(k));
    return 1;
}

/* What remains of A and X from S; *log_slope += log |d(A or X) / dS|. */
static int solve(const struct fit_rate_map *m, struct around *at, struct dual S, struct dual *log_slope)
{
    struct dual lambda = constant(m->reference);
    if (part_is_fixed(m))
        return 1;
    if (m->by_shift) {
        if (at->E.x == 0)
            return 0;
        at->X = sub(lambda, mul(sub(logarithm(S), logarithm(at->A)), inverse(at->E)));
        *log_slope = sub(*log_slope, add(chain(log(fabs(at->E.x)), 1 / at->E.x, at->E), logarithm(S)));
    } else {
        struct dual log_c = mul(at->E, sub(lambda, at->X));
        at->A = mul(S, exponential(combine(-1, log_c, 0, log_c)));
        *log_slope = sub(*log_slope, log_c);
    }
    return 1;
}

/* Rounding may leave a bound by its last digit. */
static void put(struct fit_rate_point *p, const struct fit_rate_map *m, int part, struct dual x)
{
    p->part[part] = fmin(fmax(x.x, m->part[part].lower), m->part[part].upper);
    for (int k = 0; k < FIT_RATE_COORDINATES; k++)
        p->d_part[part][k] = x.d[k];
}

static int all_finite(const struct fit_rate_point *p)
{
    double sum = p->log_slope;
    for (int n = 0; n < FIT_RATE_PARTS; n++)
        sum += p->part[n];
    for (int k = 0; k < FIT_RATE_COORDINATES; k++) {
        sum += p->d_log_slope[k];
        for (int n = 0; n < FIT_RATE_PARTS; n++)
            sum += p->d_part[n][k];
    }
    return isfinite(sum);
}

int fit_rate_at(const struct fit_rate_map *m, const double q[FIT_RATE_COORDINATES], struct fit_rate_point *p)
{
    struct dual u = variable(q[FIT_RATE_U], FIT_RATE_U), log_slope = constant(0);
    struct dual v = fit_rate_uses(m, FIT_RATE_V) ? variable(q[FIT_RATE_V], FIT_RATE_V) : constant(0);
    struct dual y = fit_rate_uses(m, FIT_RATE_Y) ? variable(q[FIT_RATE_Y], FIT_RATE_Y) : constant(0);
    struct around at = {constant(m->part[FIT_RATE_A].lower), constant(0), constant(m->part[FIT_RATE_X].lower)};
    struct parts r;
    if (fit_rate_uses(m, FIT_RATE_Z)) {
        struct dual z = variable(q[FIT_RATE_Z], FIT_RATE_Z);
        *(m->by_shift ? &at.A : &at.X) = own(&m->part[m->by_shift ? FIT_RATE_A : FIT_RATE_X], z, &log_slope);
    }
    if (!exponent_at(m, u, v, y, &at.E, &log_slope) || !parts_at(m, &at, u, v, &r, &log_slope) ||
        !solve(m, &at, r.S, &log_slope))
        return 0;
    put(p, m, FIT_RATE_A, at.A);
    put(p, m, FIT_RATE_C, m->fixed[FIT_RATE_C] ? constant(m->part[FIT_RATE_C].lower) : sub(r.T, r.S));
    put(p, m, FIT_RATE_E, at.E);
    put(p, m, FIT_RATE_X, at.X);
    p->log_slope = log_slope.x;
    for (int k = 0; k < FIT_RATE_COORDINATES; k++)
        p->d_log_slope[k] = log_slope.d[k];
    return all_finite(p);
}

/* ---- and back ------------------------------------------------------------------------------------------ */

int fit_rate_of(const struct fit_rate_map *m, const double part[FIT_RATE_PARTS], double q[FIT_RATE_COORDINATES])
{
    const struct fit_coordinate *C = &m->part[FIT_RATE_C], *E = &m->part[FIT_RATE_E];
    struct around at = {constant(part[FIT_RATE_A]), constant(part[FIT_RATE_E]), constant(part[FIT_RATE_X])};
    struct dual low, high, k;
    double S = part[FIT_RATE_A] * exp(part[FIT_RATE_E] * (m->reference - part[FIT_RATE_X])), T = S + part[FIT_RATE_C];
    double w0 = centre(E);
    for (int n = 0; n < FIT_RATE_COORDINATES; n++)
        q[n] = 0;
    if (fit_rate_uses(m, FIT_RATE_Z)) { /* inside its bounds, and so are those that follow from it */
        int n = m->by_shift ? FIT_RATE_A : FIT_RATE_X;
        q[FIT_RATE_Z] = fit_coordinate_of(&m->part[n], part[n]);
        double x = fit_coordinate_at(&m->part[n], q[FIT_RATE_Z], NULL, NULL, NULL);
        *(m->by_shift ? &at.A : &at.X) = constant(x);
    }
    limits(m, &at, &low, &high);
    double T0 = fmax(0, low.x + C->lower), T1 = high.x + C->upper;
    if (!(T > 0) || !(T0 < T1) || (m->by_shift && part[FIT_RATE_E] == 0))
        return 0;
    q[FIT_RATE_U] = of_rate_between(T0, T1, T);
    if (fit_rate_uses(m, FIT_RATE_V))
        q[FIT_RATE_V] = of_part_between(fmax(low.x, T - C->upper), fmin(high.x, T - C->lower), T, S);
    if (fit_rate_uses(m, FIT_RATE_Y)) {
        if (!share_at(m, constant(q[FIT_RATE_U]), constant(q[FIT_RATE_V]), &k))
            return 0;
        q[FIT_RATE_Y] = (fit_coordinate_of(E, part[FIT_RATE_E]) - (isnan(w0) ? 0 : w0)) * k.x;
    }
    return isfinite(q[FIT_RATE_U]) && isfinite(q[FIT_RATE_V]) && isfinite(q[FIT_RATE_Y]) && isfinite(q[FIT_RATE_Z]);
}
