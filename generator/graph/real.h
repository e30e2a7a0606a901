/* real.h -- the numbers of the reference interpreter, and functions of them.
 *
 * The interpreter (eval.c, marcher.c, slopes.c) is compiled twice. By default its numbers are long doubles with the
 * functions of <math.h>: fast, for checks of a model. With HG_WIDE they have 113 bits everywhere, on x86 as the
 * compiler's own __float128, and functions come from extended.h: numbers written into files are then rounded from far
 * more digits than a double has, and have the same bytes on every machine (emit_check.c). The two have names of their
 * own: hg_eval_run is hg_wide_eval_run there.
 */
#pragma once

#include <math.h>

#include "graph/extended.h"

#ifdef HG_WIDE

#if defined __x86_64__ || defined __i386__
__extension__ typedef __float128 hg_real;
#else
typedef long double hg_real;
#endif

#define hg_num hg_wide_num
#define hg_eval hg_wide_eval
#define hg_eval_new hg_wide_eval_new
#define hg_eval_free hg_wide_eval_free
#define hg_eval_run hg_wide_eval_run
#define hg_eval_along hg_wide_eval_along
#define hg_eval_seed hg_wide_eval_seed
#define hg_eval_pair hg_wide_eval_pair
#define hg_eval_get hg_wide_eval_get
#define hg_eval_function hg_wide_eval_function
#define hg_marcher hg_wide_marcher
#define hg_marcher_new hg_wide_marcher_new
#define hg_marcher_free hg_wide_marcher_free
#define hg_marcher_get hg_wide_marcher_get
#define hg_marcher_leaf hg_wide_marcher_leaf
#define hg_many_slope hg_wide_many_slope
#define hg_many_error hg_wide_many_error
#define real_sinc hg_wide_sinc
#define real_logistic hg_wide_logistic
#define hg_emit_check hg_wide_emit_check

static inline hg_real real_of(struct hg_ext x)
{
    return (hg_real)x.hi + x.lo;
}

static inline struct hg_ext real_ext(hg_real x)
{
    const struct hg_ext r = {(long double)x, 0};
    return isfinite(r.hi) ? (struct hg_ext){r.hi, (long double)(x - r.hi)} : r;
}

static inline hg_real real_function(enum hg_op f, hg_real x)
{
    return real_of(hg_ext_function(f, real_ext(x)));
}

static inline hg_real real_power(hg_real a, hg_real b)
{
    return real_of(hg_ext_pow(real_ext(a), real_ext(b)));
}

static inline hg_real real_atan2(hg_real y, hg_real x)
{
    return real_of(hg_ext_atan2(real_ext(y), real_ext(x)));
}

static inline hg_real real_abs(hg_real x)
{
    return x < 0 ? -x : x;
}

/* As fmax and fmin: of a number and a NaN, the number. */
static inline hg_real real_max(hg_real a, hg_real b)
{
    return a >= b || isnan(b) ? a : b;
}

static inline hg_real real_min(hg_real a, hg_real b)
{
    return a <= b || isnan(b) ? a : b;
}

#define real_sqrt(x) real_power(x, 0.5L)
#define real_exp(x) real_function(HG_EXP, x)
#define real_log(x) real_function(HG_LOG, x)
#define real_expm1(x) real_function(HG_EXPM1, x)
#define real_log1p(x) real_function(HG_LOG1P, x)
#define real_sin(x) real_function(HG_SIN, x)
#define real_cos(x) real_function(HG_COS, x)
#define real_tan(x) real_function(HG_TAN, x)
#define real_asin(x) real_function(HG_ASIN, x)
#define real_acos(x) real_function(HG_ACOS, x)
#define real_atan(x) real_function(HG_ATAN, x)
#define real_sinh(x) real_function(HG_SINH, x)
#define real_cosh(x) real_function(HG_COSH, x)
#define real_tanh(x) real_function(HG_TANH, x)
#define real_asinh(x) real_function(HG_ASINH, x)
#define real_erf(x) real_function(HG_ERF, x)
#define real_erfc(x) real_function(HG_ERFC, x)
#define real_exprel(k, x) real_of(hg_ext_exprel(k, real_ext(x)))
#define real_erfcx(k, x) real_of(hg_ext_erfcx(k, real_ext(x)))
#define REAL_2_ROOT_PI ((hg_real)0x906eba8214db689p-59L - 0xa38add6025004f3p-121L)
#define REAL_ROOT_PI_2 (1 / REAL_2_ROOT_PI)

#else

typedef long double hg_real;

static inline hg_real real_of(struct hg_ext x)
{
    return x.hi;
}

static inline struct hg_ext real_ext(hg_real x)
{
    return hg_ext(x);
}

/* The number nearest to a function that <math.h> lacks. */
static inline hg_real real_function(enum hg_op f, hg_real x)
{
    return hg_ext_function(f, hg_ext(x)).hi;
}

#define real_power powl
#define real_atan2 atan2l
#define real_abs fabsl
#define real_max fmaxl
#define real_min fminl
#define real_sqrt sqrtl
#define real_exp expl
#define real_log logl
#define real_expm1 expm1l
#define real_log1p log1pl
#define real_sin sinl
#define real_cos cosl
#define real_tan tanl
#define real_asin asinl
#define real_acos acosl
#define real_atan atanl
#define real_sinh sinhl
#define real_cosh coshl
#define real_tanh tanhl
#define real_asinh asinhl
#define real_erf erfl
#define real_erfc erfcl
#define real_exprel(k, x) hg_ext_exprel(k, hg_ext(x)).hi
#define real_erfcx(k, x) hg_ext_erfcx(k, hg_ext(x)).hi
#define REAL_2_ROOT_PI 1.128379167095512573896L
#define REAL_ROOT_PI_2 0.886226925452758013649L

#endif

/* sin(x)/x and its k-th derivative, k <= 3; 1/(1 + e^-x). */
hg_real real_sinc(hg_real x, int k);
hg_real real_logistic(hg_real x);

/* The slope of a function of an order by the operand k >= 1; the error of the double form, besides two ulp of its
 * value y. */
hg_real hg_many_slope(enum hg_op op, const struct hg_ext *operand, uint32_t k);
hg_real hg_many_error(enum hg_op op, const struct hg_ext *operand, hg_real y);

/* y = f(x) and its slope, for the functions of one argument, HG_EXP .. HG_SIGN. */
void hg_eval_function(enum hg_op f, hg_real x, hg_real *y, hg_real *slope);
