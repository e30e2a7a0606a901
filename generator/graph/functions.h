/* functions.h -- what ops.def says of the functions of one argument. */
#pragma once

#include "graph/expr.h"
#include "graph/extended.h"

enum hg_argument { HG_PLAIN, HG_ANGLE, HG_KEEP }; /* a number; a number or degrees; anything, whose unit it keeps */
enum hg_symmetry { HG_NEITHER, HG_EVEN, HG_ODD };

struct hg_function {
    const char *language;       /* name for models, or NULL */
    enum hg_argument argument;
    const char *scalar, *vector; /* in emitted C: of doubles; behind fit_v, of vectors */
    double (*value)(double x);
    enum hg_symmetry symmetry;
    int rising;
    double lowest, highest;     /* of its values; NaN when it rises: those of its argument */
    const char *shown, *tex;    /* on the page of a model; NULL: in its own way */
    int power;                  /* f^2(x) is written for f(x)^2 */
};

/* By operation; NULL for those that are no function of one argument. */
const struct hg_function *hg_function(enum hg_op op);

/* A function of an order, its first operand, and of one or two arguments. */
struct hg_many {
    const char *name; /* in models; emitted as fit_<name>, fit_v<name> */
    uint32_t nargs;   /* with the order */
    int most;         /* order that a model may have */
    const char *shown, *tex;
};

/* By operation; NULL for those that are none. */
const struct hg_many *hg_many(enum hg_op op);

/* Its value; its slope by the operand k >= 1; what the double form may be wrong by, besides two ulp
 * of its value y. */
struct hg_ext hg_many_value(enum hg_op op, const struct hg_ext *operand);
long double hg_many_slope(enum hg_op op, const struct hg_ext *operand, uint32_t k);
long double hg_many_error(enum hg_op op, const struct hg_ext *operand, long double y);

/* sin(x)/x and its k-th derivative: of double as fit/vmath.h has them, and in extended precision. */
double hg_sinc(double x, int k);
long double hg_sincl(long double x, int k);
long double hg_logisticl(long double x);

/* The long double nearest to a function that <math.h> lacks, from its value in extended precision (extended.h). */
long double hg_long(enum hg_op f, long double x);
