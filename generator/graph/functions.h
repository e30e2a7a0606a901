/* functions.h -- what ops.def says of the functions of one argument. */
#pragma once

#include "graph/expr.h"

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

/* sin(x)/x and its k-th derivative: of double as fit/vmath.h has them, and in extended precision. */
double hg_sinc(double x, int k);
long double hg_sincl(long double x, int k);
long double hg_logisticl(long double x);

/* The long double nearest to a function that <math.h> lacks, from its value in extended precision (extended.h). */
long double hg_long(enum hg_op f, long double x);
