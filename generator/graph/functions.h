/* functions.h -- what ops.def states about the functions of one argument. */
#pragma once

#include "graph/expr.h"
#include "graph/extended.h"

enum hg_argument { HG_PLAIN, HG_ANGLE, HG_KEEP }; /* a number; a number or degrees; anything, whose unit it keeps */
enum hg_symmetry { HG_NEITHER, HG_EVEN, HG_ODD };

struct hg_function {
    const char *language;       /* name for models, or NULL */
    enum hg_argument argument;
    const char *scalar, *vector; /* in emitted C: of doubles; behind fit_v, of vectors */
    enum hg_symmetry symmetry;
    int rising;
    double lowest, highest;     /* range of its values; NaN when it is increasing: that of its argument */
    const char *shown, *tex;    /* on the page of a model; NULL: in its own way */
    int power;                  /* f^2(x) is written for f(x)^2 */
};

/* By operation; NULL for those that are not functions of one argument. */
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

/* Its value. */
struct hg_ext hg_many_value(enum hg_op op, const struct hg_ext *operand);

/* The double nearest to a function of one argument, to a^b, to the angle of (x, y): the same on every machine. */
double hg_value(enum hg_op f, double x);
double hg_value_pow(double a, double b);
double hg_value_atan2(double y, double x);
