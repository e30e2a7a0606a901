/* quadrature.c -- nodes and weights, computed in long double: 11 bits more than are kept.
 *
 * Gauss rules by Newton's method on the three-term recurrences of orthonormal polynomials p_0, p_1, ...; the weight of
 * a zero x of p_n is 1 / sum_{k<n} p_k(x)^2 (Christoffel; Golub & Welsch, Math. Comp. 23 (1969) 221). That sum has no
 * cancellation. Starting points: for Legendre Tricomi's (Abramowitz, Stegun 22.16.6); for Hermite bisection between
 * zeros, which are separated by counting signs in the recurrence (Sturm). Double exponential: Takahasi & Mori, Publ.
 * RIMS 9 (1974) 721; x = 1/(1 + exp(-pi sinh t)) in (0, 1) is written so that the distance from 0 keeps all its digits.
 */
#include "graph/quadrature.h"

#include <math.h>

static const long double pi = 3.14159265358979323846264338327950288L;

/* --- Gauss ---------------------------------------------------------------------------------------------- */

/* x p_k = b_{k+1} p_{k+1} + b_k p_{k-1}, for the even weights 1 on [-1, 1] and exp(-x^2/2). */
static long double coefficient(enum hg_rule_kind rule, uint32_t k)
{
    const long double n = k;
    return rule == HG_LEGENDRE ? n / sqrtl(4 * n * n - 1) : sqrtl(n);
}

struct polynomial {
    long double value, slope; /* of p_n */
    long double squares;      /* sum of p_k^2, k < n */
    uint32_t above;           /* zeros of p_n above x */
};

static struct polynomial polynomial(enum hg_rule_kind rule, uint32_t n, long double x)
{
    struct polynomial p = {.value = 1};
    long double before = 0, slope_before = 0, b = 0;
    for (uint32_t k = 0; k < n; k++) {
        const long double next = coefficient(rule, k + 1);
        const long double value = (x * p.value - b * before) / next;
        const long double slope = (p.value + x * p.slope - b * slope_before) / next;
        p.squares += p.value * p.value;
        p.above += (value < 0) != (p.value < 0);
        before = p.value, slope_before = p.slope;
        p.value = value, p.slope = slope, b = next;
    }
    return p;
}

/* The k-th zero from above. */
static long double zero(enum hg_rule_kind rule, uint32_t n, uint32_t k)
{
    long double x = cosl(pi * (k + 0.75L) / (n + 0.5L)), lo = 0, hi = 2 * sqrtl(n) + 1;
    for (int turn = 0; rule == HG_HERMITE && turn < 14 + (int)log2l(n); turn++) {
        x = 0.5L * (lo + hi);
        *(polynomial(rule, n, x).above > k ? &lo : &hi) = x;
    }
    for (int turn = 0; turn < 60; turn++) {
        const struct polynomial p = polynomial(rule, n, x);
        const long double step = p.value / p.slope;
        x -= step;
        if (fabsl(step) <= 2e-19L * (1 + fabsl(x)))
            break;
    }
    return x;
}

/* Zeros are symmetric; in ascending order. */
static void gauss(enum hg_rule_kind rule, uint32_t n, double *x, double *w)
{
    for (uint32_t k = 0; k < (n + 1) / 2; k++) {
        const long double at = 2 * k + 1 == n ? 0 : zero(rule, n, k), weight = 1 / polynomial(rule, n, at).squares;
        x[n - 1 - k] = (double)(rule == HG_LEGENDRE ? 0.5L + 0.5L * at : at);
        x[k] = (double)(rule == HG_LEGENDRE ? 0.5L - 0.5L * at : 0 - at);
        w[k] = w[n - 1 - k] = (double)weight;
    }
}

/* --- double exponential ----------------------------------------------------------------------------------- */

/* Where the rule ends: there weights are below 2^-53 of their sum, or the integrand must be negligible. */
static long double last_of(enum hg_rule_kind rule)
{
    return rule == HG_TANH_SINH ? 3.9L : rule == HG_EXP_SINH ? 4.0L : 3.3L;
}

static void double_exponential(enum hg_rule_kind rule, uint32_t n, double *x, double *w)
{
    const long double T = last_of(rule), h = n > 1 ? 2 * T / (n - 1) : 2 * T;
    for (uint32_t k = 0; k < n; k++) {
        const long double t = n > 1 ? -T + h * k : 0, s = 0.5L * pi * sinhl(t), ds = 0.5L * pi * coshl(t);
        long double at, slope;
        if (rule == HG_TANH_SINH) {
            at = 1 / (1 + expl(-2 * s));
            slope = 2 * ds * at / (1 + expl(2 * s));
        } else if (rule == HG_EXP_SINH) {
            at = expl(s);
            slope = ds * at;
        } else {
            at = sinhl(s);
            slope = ds * coshl(s);
        }
        x[k] = (double)at;
        w[k] = (double)(h * slope);
    }
}

/* ---------------------------------------------------------------------------------------------------------- */

const char *hg_rule_name(enum hg_rule_kind rule)
{
    static const char *const name[HG_NRULES] = {[HG_COUNT] = "a count",
                                                [HG_LEGENDRE] = "Gauss and Legendre",
                                                [HG_HERMITE] = "Gauss and Hermite",
                                                [HG_TANH_SINH] = "the double exponential rule from 0 to 1",
                                                [HG_EXP_SINH] = "the double exponential rule from 0 to infinity",
                                                [HG_SINH_SINH] =
                                                    "the double exponential rule from -infinity to infinity",
                                                [HG_MIDPOINT] = "the midpoint rule from 0 to 1"};
    return name[rule];
}

void hg_rule_nodes(enum hg_rule_kind rule, uint32_t n, double first, double *x, double *w)
{
    switch (rule) {
    case HG_LEGENDRE:
    case HG_HERMITE: gauss(rule, n, x, w); return;
    case HG_TANH_SINH:
    case HG_EXP_SINH:
    case HG_SINH_SINH: double_exponential(rule, n, x, w); return;
    default: break;
    }
    for (uint32_t k = 0; k < n; k++) {
        const int count = rule == HG_COUNT;
        x[k] = count ? first + k : (k + 0.5) / n;
        w[k] = count ? 1 : 1.0 / n;
    }
}
