/* functions.c -- the functions of one argument: their table, made of ops.def, and the values of those that <math.h>
 * lacks.
 */
#include "graph/functions.h"

#include <math.h>

#include "base/diag.h"
#include "graph/incomplete.h"
#include "graph/polygamma.h"
#include "graph/special.h"

/* k-th derivative of sin(x)/x: series below 1/2, quotients above, as fit/vmath.h */
double hg_sinc(double x, int k)
{
    if (fabs(x) < 0.5) {
        double xx = x * x, sum = 0, term = k == 1 ? -x : k == 2 ? -1 : 1;
        for (int n = (k + 1) / 2; n < 12; n++) {
            sum += term / (2 * n + 1);
            term *= -xx / ((2.0 * n + 2 - k) * (2.0 * n + 1 - k));
        }
        return sum;
    }
    double s = sin(x) / x;
    if (k == 0)
        return s;
    double d = (cos(x) - s) / x;
    return k == 1 ? d : -s - 2 * d / x;
}

/* The same, k = 0, 1, 2, 3, by Taylor series near 0 (x^2 < 1: 14 terms reach 1e-22). */
long double hg_sincl(long double x, int k)
{
    if (fabsl(x) < 1.0L) {
        /* sum_n (-1)^n x^(2n-k) (2n)!/((2n-k)! (2n+1)!) */
        long double sum = 0, power, c = 1;
        for (int n = 0; n < 16; n++) {
            if (n)
                c *= -1.0L / ((2.0L * n) * (2.0L * n + 1));
            if (2 * n < k)
                continue;
            long double f = 1;
            for (int m = 0; m < k; m++)
                f *= 2.0L * n - m;
            power = powl(x, 2 * n - k);
            sum += c * f * power;
        }
        return sum;
    }
    long double s = sinl(x), c = cosl(x), s0 = s / x, s1 = (c - s0) / x, s2 = -s0 - 2 * s1 / x;
    switch (k) {
    case 0: return s0;
    case 1: return s1;
    case 2: return s2;
    default: return -s1 - 2 * s2 / x + 2 * s1 / (x * x);
    }
}

long double hg_logisticl(long double x)
{
    return x >= 0 ? 1 / (1 + expl(-x)) : expl(x) / (1 + expl(x));
}

long double hg_long(enum hg_op f, long double x)
{
    return hg_ext_function(f, hg_ext(x)).hi;
}

/* --- the table ------------------------------------------------------------------------------------------- */

#define FUNCTION(name, text, language, argument, scalar, vector, value, ...) \
    static double value_of_##name(double x)                                  \
    {                                                                        \
        return value;                                                        \
    }
#include "graph/ops.def"

#define RISING 1, NAN, NAN
#define BETWEEN(low, high) 0, low, high
#define ANY 0, -INFINITY, INFINITY
#define ROW(name, language, argument, scalar, vector, symmetry, ...) \
    [HG_##name] = {language, HG_##argument, scalar, vector, value_of_##name, HG_##symmetry, __VA_ARGS__},

static const struct hg_function function[HG_NOP] = {
#define FUNCTION(name, text, language, argument, scalar, vector, value, long_value, slope, extended, symmetry, ...) \
    ROW(name, language, argument, scalar, vector, symmetry, __VA_ARGS__)
#include "graph/ops.def"
};

const struct hg_function *hg_function(enum hg_op op)
{
    return function[op].value ? &function[op] : NULL;
}

/* --- functions of an order -------------------------------------------------------------------------------- */

static const struct hg_many many[HG_NOP] = {
#define MANY(name, text, nargs, most, extended, slope, error, shown, tex) [HG_##name] = {text, nargs, most, shown, tex},
#define OP(...)
#include "graph/ops.def"
};

const struct hg_many *hg_many(enum hg_op op)
{
    return many[op].name ? &many[op] : NULL;
}

struct hg_ext hg_many_value(enum hg_op op, const struct hg_ext *operand)
{
    const int n = (int)operand[0].hi;
    const struct hg_ext *x = operand + 1;
    switch (op) {
#define MANY(name, text, nargs, most, extended, ...) \
    case HG_##name: return extended;
#define OP(...)
#include "graph/ops.def"
    default: hg_bug("no function %s of an order", hg_op_text[op]);
    }
}

long double hg_many_slope(enum hg_op op, const struct hg_ext *operand, uint32_t by)
{
    const int n = (int)operand[0].hi;
    const uint32_t k = by - 1;
    const struct hg_ext *x = operand + 1;
    (void)k;
    switch (op) {
#define MANY(name, text, nargs, most, extended, slope, ...) \
    case HG_##name: return by ? (slope) : 0;
#define OP(...)
#include "graph/ops.def"
    default: hg_bug("no function %s of an order", hg_op_text[op]);
    }
}

/* What fit/vmath.h tells of w and its derivatives: 5e-15 of the value; 3e-14, 6e-13 of it and 0.01 (1 + |z|)^-4. */
static long double faddeeva_error(int n, const struct hg_ext *x, long double y)
{
    const long double s = 1 + hypotl(x[0].hi, x[1].hi), amplitude = 0.01L / (s * s * s * s);
    return n == 0 ? 45 * fabsl(y) : (n == 1 ? 270 : 5400) * (fabsl(y) + amplitude);
}

/* 6e-15 of the value, of exponents as large as the shape; derivatives by the shape may pass through 0. */
static long double gamma_error(int n, const struct hg_ext *x, long double y)
{
    const long double rest = n < 2 ? 0 : hg_ext_incomplete_gamma(1, x[0], x[1], 0).hi;
    return (n ? 400 : 60) * (fabsl(y) + fabsl(rest));
}

long double hg_many_error(enum hg_op op, const struct hg_ext *operand, long double y)
{
    const int n = (int)operand[0].hi;
    const struct hg_ext *x = operand + 1;
    (void)n;
    (void)x;
    (void)y;
    switch (op) {
#define MANY(name, text, nargs, most, extended, slope, error, ...) \
    case HG_##name: return error;
#define OP(...)
#include "graph/ops.def"
    default: return 0;
    }
}
