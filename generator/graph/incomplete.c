/* incomplete.c -- incomplete gamma functions and their derivatives by the shape.
 *
 * The series and the continued fraction of fit/vmath_incomplete.h, in numbers that carry their Taylor coefficients in
 * a.
 */
#include "graph/incomplete.h"

#include <math.h>

typedef struct hg_ext ext;

enum { ORDERS = 4, PARTS = 600, SEEN = 64 };

/* f(a + d) = c[0] + c[1] d + c[2] d^2 + c[3] d^3 */
struct jet {
    ext c[ORDERS];
};

static ext add(ext a, ext b)
{
    return hg_ext_add(a, b);
}

static ext mul(ext a, ext b)
{
    return hg_ext_mul(a, b);
}

static ext minus(ext a)
{
    return (ext){-a.hi, -a.lo};
}

static ext times(ext a, long double b)
{
    return mul(a, hg_ext(b));
}

static struct jet jet_times(struct jet f, struct jet g)
{
    struct jet r = {{{0, 0}}};
    for (int k = 0; k < ORDERS; k++)
        for (int j = 0; j <= k; j++)
            r.c[k] = add(r.c[k], mul(f.c[j], g.c[k - j]));
    return r;
}

static struct jet jet_inverse(struct jet f)
{
    struct jet r = {{{0, 0}}};
    r.c[0] = hg_ext_div(hg_ext(1), f.c[0]);
    for (int k = 1; k < ORDERS; k++) {
        for (int j = 1; j <= k; j++)
            r.c[k] = add(r.c[k], mul(f.c[j], r.c[k - j]));
        r.c[k] = minus(mul(r.c[k], r.c[0]));
    }
    return r;
}

/* 1 + x/(a+1) + x^2/((a+1)(a+2)) + ... */
static struct jet series(ext a, ext x)
{
    struct jet term = {{{1, 0}}}, sum = term;
    for (int k = 1; k < 20000; k++) {
        const ext r = hg_ext_div(hg_ext(1), add(a, hg_ext(k))), xr = mul(x, r);
        int done = 1;
        for (int n = ORDERS - 1; n >= 0; n--) { /* times x/(a + k + d) */
            ext c = term.c[0];
            for (int j = 1; j <= n; j++)
                c = hg_ext_sub(term.c[j], mul(c, r));
            term.c[n] = mul(c, xr);
        }
        for (int n = 0; n < ORDERS; n++) {
            sum.c[n] = add(sum.c[n], term.c[n]);
            done &= fabsl(term.c[n].hi) <= 0x1p-130L * fabsl(sum.c[n].hi);
        }
        if (done)
            break;
    }
    return sum;
}

/* a/(x+1-a - 1(1-a)/(x+3-a - ...)), from the far end, with so many terms that those omitted are negligible. */
static struct jet fraction(ext a, ext x)
{
    const struct jet shape = {{a, hg_ext(1)}};
    struct jet r = {{add(x, hg_ext_sub(hg_ext(2 * PARTS + 1), a)), hg_ext(-1)}};
    for (int k = PARTS; k > 0; k--) {
        const struct jet top = {{times(hg_ext_sub(hg_ext(k), a), k), hg_ext(-k)}};
        const struct jet part = jet_times(top, jet_inverse(r));
        r = (struct jet){{add(x, hg_ext_sub(hg_ext(2 * k - 1), a)), hg_ext(-1)}};
        for (int n = 0; n < ORDERS; n++)
            r.c[n] = hg_ext_sub(r.c[n], part.c[n]);
    }
    return jet_times(shape, jet_inverse(r));
}

/* x^(a - less) e^-x / Gamma(a + 1 - less): the exponential of its logarithm, whose derivatives are polygammas */
static struct jet front(ext a, ext x, int less)
{
    const ext b = add(a, hg_ext(1 - less)), l = hg_ext_function(HG_LOG, x);
    const ext g1 = hg_ext_sub(l, hg_ext_function(HG_DIGAMMA, b)), g2 = minus(hg_ext_function(HG_TRIGAMMA, b));
    const ext g3 = minus(hg_ext_function(HG_TETRAGAMMA, b)), square = mul(g1, g1);
    const ext g0 = hg_ext_sub(hg_ext_sub(mul(hg_ext_sub(a, hg_ext(less)), l), x), hg_ext_function(HG_LGAMMA, b));
    const ext f = hg_ext_function(HG_EXP, g0);
    const ext third = add(add(mul(square, g1), times(mul(g1, g2), 3)), g3);
    return (struct jet){{f, mul(f, g1), mul(f, times(add(square, g2), 0.5L)), hg_ext_div(mul(f, third), hg_ext(6))}};
}

static ext factorial_times(ext c, int n)
{
    return times(c, n == 3 ? 6 : n == 2 ? 2 : 1);
}

/* The shapes of fit/vmath_incomplete.h; other shapes have no value. */
static int outside(ext a, ext x)
{
    return !(x.hi >= 0) || !(a.hi >= 0.1 && a.hi <= 1000);
}

ext hg_ext_gamma_density(int n, ext a, ext x)
{
    const long double at_0 = n > 0 || a.hi > 1 ? 0 : a.hi < 1 ? INFINITY : 1;
    if (outside(a, x))
        return hg_ext(NAN);
    if (x.hi == 0 || isinf(x.hi))
        return hg_ext(x.hi > 0 ? 0 : at_0);
    return factorial_times(front(a, x, 1).c[n], n);
}

/* P, or Q where x > a + 1, from the last values: callers request derivatives one by one. */
static const struct jet *smaller(ext a, ext x)
{
    static struct {
        ext a, x;
        struct jet value;
    } seen[SEEN];
    int power;
    const size_t at = (size_t)(0x1p30L * fabsl(frexpl(x.hi + 0.618L * a.hi, &power))) % SEEN;
    if (seen[at].a.hi != a.hi || seen[at].a.lo != a.lo || seen[at].x.hi != x.hi || seen[at].x.lo != x.lo) {
        seen[at].a = a;
        seen[at].x = x;
        seen[at].value = jet_times(front(a, x, 0), x.hi > a.hi + 1 ? fraction(a, x) : series(a, x));
    }
    return &seen[at].value;
}

ext hg_ext_incomplete_gamma(int n, ext a, ext x, int upper)
{
    if (outside(a, x))
        return hg_ext(NAN);
    if (x.hi == 0 || isinf(x.hi))
        return hg_ext(n > 0 || (x.hi > 0) == upper ? 0 : 1);
    const ext c = factorial_times(smaller(a, x)->c[n], n);
    if ((x.hi > a.hi + 1) == upper)
        return c;
    return n ? minus(c) : hg_ext_sub(hg_ext(1), c);
}
