/* rate_coordinates.c -- coordinates of rates, see rate_coordinates.h. Derivatives by dual numbers with a direction
 * for each coordinate: the formulas are short and the gradient of the log Jacobian needs their second derivatives. */
#include "posterior/rate_coordinates.h"

#include <math.h>
#include <stddef.h>

static const double SHARP = 8;     /* of the corner of log T at its upper bound, which moves with E and X */
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

static struct dual softplus(struct dual v)
{
    double e = exp(-fabs(v.x));
    return chain(fmax(v.x, 0) + log1p(e), (v.x > 0 ? 1 : e) / (1 + e), v);
}

/* T(u) = low + (e^(-n u) + (high - low)^-n)^(-1/n), n = SHARP: low + e^u but for the last third before high;
 * *log_slope += log dT/du.  */
static struct dual rate_between(struct dual low, struct dual high, struct dual u, struct dual *log_slope)
{
    struct dual minus_u = combine(-1, u, 0, u), log_t = u;
    if (!isinf(high.x)) {
        struct dual gap = add(logarithm(sub(high, low)), minus_u); /* log T is u - softplus(-n gap) / n */
        log_t = sub(u, combine(1 / SHARP, softplus(combine(-SHARP, gap, 0, gap)), 0, u));
        *log_slope = sub(*log_slope, softplus(combine(-SHARP, gap, 0, gap)));
    }
    *log_slope = add(*log_slope, log_t);
    return add(low, exponential(log_t));
}

static double of_rate_between(double low, double high, double T)
{
    double above = fmax(T - low, MARGIN * fmin(high - low, T)), u = log(above);
    if (isinf(high))
        return u;
    above = fmin(above, (1 - MARGIN) * (high - low));
    return log(above) - log(-expm1(SHARP * log(above / (high - low)))) / SHARP;
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

struct parts {
    struct dual T, S;
};

static int has_shift(const struct fit_rate_map *m)
{
    return !m->fixed[FIT_RATE_X];
}

/* exp(E (lambda - X)) for X at a bound; 0 or infinite when that is. */
static struct dual factor(const struct fit_rate_map *m, struct dual E, double X)
{
    if (isinf(X))
        return constant(E.x == 0 ? 1 : (E.x > 0) == (X < 0) ? INFINITY : 0);
    return exponential(times(m->reference - X, E));
}

/* Smallest and largest part S, whatever the rate. */
static void limits(const struct fit_rate_map *m, struct dual E, struct dual *low, struct dual *high)
{
    const struct fit_coordinate *A = &m->part[FIT_RATE_A], *X = &m->part[FIT_RATE_X];
    struct dual a = factor(m, E, X->lower), b = factor(m, E, X->upper);
    *low = times(A->lower, smaller(a, b));
    *high = times(A->upper, larger(a, b));
}

/* 0: no rate above 0 is possible. */
static int parts_at(const struct fit_rate_map *m, struct dual E, struct dual u, struct dual v, struct parts *p,
                    struct dual *log_slope)
{
    const struct fit_coordinate *C = &m->part[FIT_RATE_C];
    struct dual low, high;
    limits(m, E, &low, &high);
    struct dual T0 = larger(constant(0), offset_by(low, C->lower)), T1 = offset_by(high, C->upper);
    if (!(T0.x < T1.x))
        return 0;
    p->T = rate_between(T0, T1, u, log_slope);
    if (m->fixed[FIT_RATE_A]) {
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

/* ---- the exponent -------------------------------------------------------------------------------------- */

/* w of E = 0; NaN: the bounds exclude it. */
static double centre(const struct fit_coordinate *E)
{
    return E->lower < 0 && E->upper > 0 ? fit_coordinate_of(E, 0) : NAN;
}

/* k of rate_coordinates.h. */
static int share_at(const struct fit_rate_map *m, struct dual u, struct dual v, struct dual *k)
{
    struct dual unused = constant(0);
    struct parts p;
    *k = constant(1);
    if (isnan(centre(&m->part[FIT_RATE_E])))
        return 1;
    if (!parts_at(m, constant(m->start[FIT_RATE_E]), u, v, &p, &unused))
        return 0;
    *k = mul(p.S, inverse(p.T));
    return k->x > 0;
}

/* Limit of w up to which exponents count as near 0 beside a shift. */
static double near_zero(const struct fit_rate_map *m)
{
    double slope, w0 = centre(&m->part[FIT_RATE_E]);
    fit_coordinate_at(&m->part[FIT_RATE_E], isnan(w0) ? 0 : w0, &slope, NULL, NULL);
    return 1 / (m->width * slope);
}

static int exponent_at(const struct fit_rate_map *m, struct dual u, struct dual v, struct dual y, struct dual *E,
                       struct dual *log_slope)
{
    const struct fit_coordinate *c = &m->part[FIT_RATE_E];
    double w0 = centre(c), slope, log_d, bend;
    struct dual k, w = y;
    if (m->fixed[FIT_RATE_E]) {
        *E = constant(c->lower);
        return 1;
    }
    if (!share_at(m, u, v, &k))
        return 0;
    if (has_shift(m) && !isnan(w0)) {
        double near = near_zero(m);
        w = chain(near * sinh(y.x), near * cosh(y.x), y);
        *log_slope = add(*log_slope, chain(log(near * cosh(y.x)), tanh(y.x), y));
    }
    w = offset_by(mul(w, inverse(k)), isnan(w0) ? 0 : w0);
    double x = fit_coordinate_at(c, w.x, &slope, &log_d, &bend);
    *E = chain(x, slope, w);
    *log_slope = add(*log_slope, sub(chain(log_d, bend, w), logarithm(k)));
    return 1;
}

/* ---- the shift ----------------------------------------------------------------------------------------- */

/* 1 / h of rate_coordinates.h. */
static struct dual stretch_of(const struct fit_rate_map *m, struct dual E)
{
    double r = hypot(E.x, 1 / m->width);
    return chain(r, E.x / r, E);
}

/* (X - lambda) / h at which A = bound, for an exponent above 0; without end where that is or E is 0. */
static struct dual shift_at(struct dual S, double bound, struct dual E, struct dual stretch, double end)
{
    if (bound == 0 || isinf(bound) || E.x == 0)
        return constant(end);
    struct dual x = mul(mul(sub(constant(log(bound)), logarithm(S)), stretch), inverse(E));
    return fabs(x.x) < 1e15 ? x : constant(end);
}

/* Bounds of b = (X - lambda) / h. */
static void shift_between(const struct fit_rate_map *m, struct dual S, struct dual E, struct dual stretch,
                          struct dual *low, struct dual *high)
{
    const struct fit_coordinate *A = &m->part[FIT_RATE_A], *X = &m->part[FIT_RATE_X];
    double first = E.x > 0 ? A->lower : A->upper, last = E.x > 0 ? A->upper : A->lower;
    *low = larger(times(X->lower - m->reference, stretch), shift_at(S, first, E, stretch, -INFINITY));
    *high = smaller(times(X->upper - m->reference, stretch), shift_at(S, last, E, stretch, INFINITY));
}

/* b(z) = z - softplus(z - high) + softplus(low - z): z between bounds that are far, and never beyond them. */
static double bent(double low, double high, double z)
{
    return z - (isinf(high) ? 0 : softplus(constant(z - high)).x) + (isinf(low) ? 0 : softplus(constant(low - z)).x);
}

static double logistic(double x)
{
    double e = exp(-fabs(x));
    return (x > 0 ? 1 : e) / (1 + e);
}

/* The same with derivatives; *log_slope += log db/dz. */
static struct dual shift_of(struct dual low, struct dual high, struct dual z, struct dual *log_slope)
{
    struct dual b = z, above = isinf(high.x) ? constant(0) : sub(z, high),
                below = isinf(low.x) ? constant(0) : sub(low, z);
    double up = 0, down = 0;
    if (!isinf(high.x)) {
        b = sub(b, softplus(above));
        up = logistic(above.x);
    }
    if (!isinf(low.x)) {
        b = add(b, softplus(below));
        down = logistic(below.x);
    }
    /* d log(1 - up - down), with 1 - up as the logistic of the opposite, which keeps its digits */
    double rest = (isinf(high.x) ? 1 : logistic(-above.x)) - down;
    struct dual d = combine(-up * (isinf(high.x) ? 1 : logistic(-above.x)) / rest, above,
                            -down * (isinf(low.x) ? 1 : logistic(-below.x)) / rest, below);
    *log_slope = add(*log_slope, chain(log(rest), 1, d));
    b.x = fmin(fmax(b.x, low.x), high.x);
    return b;
}

/* z of b, by bisection: needed for starting points only. */
static double of_shift(double low, double high, double b)
{
    double margin = MARGIN * fmin(high - low, 1), below = b - 1, above = b + 1;
    b = fmin(fmax(b, low + margin), high - margin);
    for (int k = 0; k < 60 && bent(low, high, below) > b; k++)
        below -= ldexp(1, k);
    for (int k = 0; k < 60 && bent(low, high, above) < b; k++)
        above += ldexp(1, k);
    for (int k = 0; k < 200 && above - below > 1e-15 * fabs(above); k++) {
        double middle = 0.5 * (below + above);
        *(bent(low, high, middle) < b ? &below : &above) = middle;
    }
    return 0.5 * (below + above);
}

/* ---- there --------------------------------------------------------------------------------------------- */

int fit_rate_uses(const struct fit_rate_map *m, int coordinate)
{
    switch (coordinate) {
    case FIT_RATE_V: return !m->fixed[FIT_RATE_A] && !m->fixed[FIT_RATE_C];
    case FIT_RATE_Y: return !m->fixed[FIT_RATE_E];
    case FIT_RATE_Z: return has_shift(m);
    default: return 1;
    }
}

/* X from z; *log_slope += log dX/dz. */
static struct dual shift(const struct fit_rate_map *m, struct dual S, struct dual E, struct dual z,
                         struct dual *log_slope)
{
    struct dual stretch = stretch_of(m, E), low, high;
    if (!has_shift(m))
        return constant(m->part[FIT_RATE_X].lower);
    shift_between(m, S, E, stretch, &low, &high);
    struct dual b = shift_of(low, high, z, log_slope);
    *log_slope = sub(*log_slope, logarithm(stretch));
    return add(constant(m->reference), mul(b, inverse(stretch)));
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

static struct dual coordinate(const struct fit_rate_map *m, const double *q, int k)
{
    return fit_rate_uses(m, k) ? variable(q[k], k) : constant(0);
}

int fit_rate_at(const struct fit_rate_map *m, const double q[FIT_RATE_COORDINATES], struct fit_rate_point *p)
{
    struct dual u = coordinate(m, q, FIT_RATE_U), v = coordinate(m, q, FIT_RATE_V), log_slope = constant(0), E;
    struct parts r;
    if (!exponent_at(m, u, v, coordinate(m, q, FIT_RATE_Y), &E, &log_slope) || !parts_at(m, E, u, v, &r, &log_slope))
        return 0;
    struct dual X = shift(m, r.S, E, coordinate(m, q, FIT_RATE_Z), &log_slope), A = constant(m->part[FIT_RATE_A].lower);
    if (!m->fixed[FIT_RATE_A]) {
        struct dual log_c = mul(E, sub(constant(m->reference), X));
        A = mul(r.S, exponential(combine(-1, log_c, 0, log_c)));
        log_slope = sub(log_slope, log_c);
    }
    put(p, m, FIT_RATE_A, A);
    put(p, m, FIT_RATE_C, m->fixed[FIT_RATE_C] ? constant(m->part[FIT_RATE_C].lower) : sub(r.T, r.S));
    put(p, m, FIT_RATE_E, E);
    put(p, m, FIT_RATE_X, X);
    p->log_slope = log_slope.x;
    for (int k = 0; k < FIT_RATE_COORDINATES; k++)
        p->d_log_slope[k] = log_slope.d[k];
    return all_finite(p);
}

/* ---- and back ------------------------------------------------------------------------------------------ */

static int exponent_of(const struct fit_rate_map *m, double E, double *q)
{
    const struct fit_coordinate *c = &m->part[FIT_RATE_E];
    double w0 = centre(c);
    struct dual k;
    if (!share_at(m, constant(q[FIT_RATE_U]), constant(q[FIT_RATE_V]), &k))
        return 0;
    q[FIT_RATE_Y] = (fit_coordinate_of(c, E) - (isnan(w0) ? 0 : w0)) * k.x;
    if (has_shift(m) && !isnan(w0))
        q[FIT_RATE_Y] = asinh(q[FIT_RATE_Y] / near_zero(m));
    return 1;
}

int fit_rate_of(const struct fit_rate_map *m, const double part[FIT_RATE_PARTS], double q[FIT_RATE_COORDINATES])
{
    const struct fit_coordinate *C = &m->part[FIT_RATE_C];
    struct dual E = constant(part[FIT_RATE_E]), low, high;
    double S = part[FIT_RATE_A] * exp(E.x * (m->reference - part[FIT_RATE_X])), T = S + part[FIT_RATE_C];
    for (int n = 0; n < FIT_RATE_COORDINATES; n++)
        q[n] = 0;
    limits(m, E, &low, &high);
    double T0 = fmax(0, low.x + C->lower), T1 = high.x + C->upper;
    if (!(T > 0) || !(S > 0) || !(T0 < T1))
        return 0;
    q[FIT_RATE_U] = of_rate_between(T0, T1, T);
    if (fit_rate_uses(m, FIT_RATE_V))
        q[FIT_RATE_V] = of_part_between(fmax(low.x, T - C->upper), fmin(high.x, T - C->lower), T, S);
    if (fit_rate_uses(m, FIT_RATE_Y) && !exponent_of(m, E.x, q))
        return 0;
    if (has_shift(m)) {
        struct dual stretch = stretch_of(m, E);
        shift_between(m, constant(S), E, stretch, &low, &high);
        q[FIT_RATE_Z] = of_shift(low.x, high.x, (part[FIT_RATE_X] - m->reference) * stretch.x);
    }
    return isfinite(q[FIT_RATE_U]) && isfinite(q[FIT_RATE_V]) && isfinite(q[FIT_RATE_Y]) && isfinite(q[FIT_RATE_Z]);
}
