/* functions.c -- the functions of one argument: their table, made from ops.def, and their values as doubles. These are
 * rounded from more digits and are the same on every machine, whatever its mathematical library.
 */
#include "graph/functions.h"

#include <float.h>
#include <math.h>

#include "base/diag.h"
#include "graph/incomplete.h"
#include "graph/real.h"
#include "graph/special.h"

/* Is the function one of those that <math.h> has as long double, accurate to a few units in the last place? */
static int is_elementary(enum hg_op f)
{
    return f <= HG_ERFC && LDBL_MANT_DIG > DBL_MANT_DIG + 9;
}

/* A double is nearest to a value when both ends of the value's interval round to it. */
static int is_settled(long double y)
{
    return isfinite(y) && (double)(y * (1 - 0x1p-59L)) == (double)(y * (1 + 0x1p-59L)) && fabsl(y) > 0x1p-1000L;
}

double hg_value(enum hg_op f, double x)
{
    if (is_elementary(f)) {
        long double y, slope;
        hg_eval_function(f, x, &y, &slope);
        if (is_settled(y))
            return (double)y;
    }
    return hg_ext_round(hg_ext_function(f, hg_ext(x)));
}

double hg_value_pow(double a, double b)
{
    const long double y = powl(a, b);
    if (LDBL_MANT_DIG > DBL_MANT_DIG + 9 && is_settled(y))
        return (double)y;
    return hg_ext_round(hg_ext_pow(hg_ext(a), hg_ext(b)));
}

double hg_value_atan2(double y, double x)
{
    return hg_ext_round(hg_ext_atan2(hg_ext(y), hg_ext(x)));
}

/* --- the table ------------------------------------------------------------------------------------------- */

#define RISING 1, NAN, NAN
#define BETWEEN(low, high) 0, low, high
#define ANY 0, -INFINITY, INFINITY
#define ROW(name, language, argument, scalar, vector, symmetry, ...) \
    [HG_##name] = {language, HG_##argument, scalar, vector, HG_##symmetry, __VA_ARGS__},

static const struct hg_function function[HG_NOP] = {
#define FUNCTION(name, text, language, argument, scalar, vector, value, slope, extended, symmetry, ...) \
    ROW(name, language, argument, scalar, vector, symmetry, __VA_ARGS__)
#include "graph/ops.def"
};

const struct hg_function *hg_function(enum hg_op op)
{
    return function[op].scalar ? &function[op] : NULL;
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
