/* extended.h -- numbers with about twice the digits of a long double (x86: 128 bits, 38 digits).
 *
 * They are the reference of accuracy.c. A number is an unevaluated sum hi + lo, |lo| <= ulp(hi)/2. Sums and products
 * use exact transformations (Knuth 1969, section 4.2.2; Dekker 1971); functions use reduction and Taylor series, or one
 * step of Newton's method from the long double value. The relative error is below 2^-115 on x86, except for sines,
 * cosines and tangents near their zeros (absolute 2^-115 |x|), erfc and erfcx (2^-90), and the derivatives of erfcx
 * (2^-80). NaN and infinities are in hi; lo is then 0.
 */
#pragma once

#include <math.h>

#include "graph/expr.h"

struct hg_ext {
    long double hi, lo;
};

static inline struct hg_ext hg_ext(long double x)
{
    return (struct hg_ext){x, 0};
}

/* The nearest double; hi alone, rounded twice, may miss it. */
static inline double hg_ext_round(struct hg_ext x)
{
    const double d = (double)x.hi;
    return isfinite(d) ? d + (double)((x.hi - d) + x.lo) : d;
}

struct hg_ext hg_ext_add(struct hg_ext a, struct hg_ext b);
struct hg_ext hg_ext_sub(struct hg_ext a, struct hg_ext b);
struct hg_ext hg_ext_mul(struct hg_ext a, struct hg_ext b);
struct hg_ext hg_ext_div(struct hg_ext a, struct hg_ext b);
struct hg_ext hg_ext_pow(struct hg_ext a, struct hg_ext b);
struct hg_ext hg_ext_atan2(struct hg_ext y, struct hg_ext x);

/* The k-th derivative of (e^x - 1)/x, and of e^(x^2) erfc(x), k <= 3. */
struct hg_ext hg_ext_exprel(int k, struct hg_ext x);
struct hg_ext hg_ext_erfcx(int k, struct hg_ext x);

/* The functions of one argument, HG_EXP .. HG_SIGN. */
struct hg_ext hg_ext_function(enum hg_op f, struct hg_ext x);
