/* slopes.c -- functions and their slopes in the numbers of the interpreter (real.h), made from ops.def. */
#include "base/diag.h"
#include "graph/functions.h"
#include "graph/incomplete.h"
#include "graph/polygamma.h"
#include "graph/real.h"
#include "graph/special.h"

/* By Taylor series near 0: x^2 < 1, 21 terms reach 1e-49. */
hg_real real_sinc(hg_real x, int k)
{
    if (real_abs(x) < 1) {
        /* sum_n (-1)^n x^(2n-k) (2n)!/((2n-k)! (2n+1)!) */
        hg_real sum = 0, c = 1, power = 1; /* x^(2n-k) */
        for (int n = 0; n < 21; n++) {
            if (n)
                c *= -1 / ((hg_real)(2 * n) * (2 * n + 1));
            if (2 * n < k)
                continue;
            hg_real f = 1;
            for (int m = 0; m < k; m++)
                f *= 2 * n - m;
            if (2 * n == k || 2 * n == k + 1)
                power = 2 * n == k ? 1 : x;
            else
                power *= x * x;
            sum += c * f * power;
        }
        return sum;
    }
    hg_real s = real_sin(x), c = real_cos(x), s0 = s / x, s1 = (c - s0) / x, s2 = -s0 - 2 * s1 / x;
    switch (k) {
    case 0: return s0;
    case 1: return s1;
    case 2: return s2;
    default: return -s1 - 2 * s2 / x + 2 * s1 / (x * x);
    }
}

hg_real real_logistic(hg_real x)
{
    return x >= 0 ? 1 / (1 + real_exp(-x)) : real_exp(x) / (1 + real_exp(x));
}

/* The k-th derivative of log Gamma; its third one and those before have values in extended precision. */
static hg_real real_polygamma(int k, hg_real x)
{
#ifdef HG_WIDE
    static const enum hg_op of[] = {HG_LGAMMA, HG_DIGAMMA, HG_TRIGAMMA, HG_TETRAGAMMA};
    if (k < 4)
        return real_function(of[k], x);
#endif
    return hg_polygamma(k, (long double)x);
}

void hg_eval_function(enum hg_op f, hg_real x, hg_real *value, hg_real *slope)
{
    hg_real y;
    switch (f) {
#define FUNCTION(name, text, language, argument, scalar, vector, value_of, slope_of, ...) \
    case HG_##name:                                                                       \
        y = (value_of);                                                                   \
        *value = y;                                                                       \
        *slope = (slope_of);                                                              \
        break;
#include "graph/ops.def"
    default: hg_bug("eval: no function %s", hg_op_text[f]);
    }
}

/* --- functions of an order -------------------------------------------------------------------------------- */

#define OF(f, n) real_of(hg_ext_##f(n, x[0]))

hg_real hg_many_slope(enum hg_op op, const struct hg_ext *operand, uint32_t by)
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

/* The errors that fit/vmath.h states for w and its derivatives: 5e-15 of the value; 3e-14, 6e-13 of it and 0.01 (1 +
 * |z|)^-4. */
static hg_real faddeeva_error(int n, const struct hg_ext *x, hg_real y)
{
    const hg_real a = real_of(x[0]), b = real_of(x[1]), s = 1 + real_sqrt(a * a + b * b);
    const hg_real amplitude = 0.01L / (s * s * s * s);
    return n == 0 ? 45 * real_abs(y) : (n == 1 ? 270 : 5400) * (real_abs(y) + amplitude);
}

/* 6e-15 of the value for exponents as large as the shape; derivatives by the shape may pass through 0. */
static hg_real gamma_error(int n, const struct hg_ext *x, hg_real y)
{
    const hg_real rest = n < 2 ? 0 : real_of(hg_ext_incomplete_gamma(1, x[0], x[1], 0));
    return (n ? 400 : 60) * (real_abs(y) + real_abs(rest));
}

hg_real hg_many_error(enum hg_op op, const struct hg_ext *operand, hg_real y)
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
