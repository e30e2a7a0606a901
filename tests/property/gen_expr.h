/* gen_expr.h -- random expressions, as recipes that can be built in two ways and shrunk.
 *
 * A recipe is a list of steps, each an operation on earlier steps; the last one is the root.  Built
 * raw it gives the graph as it was drawn, built by the simplifying constructors it gives what a
 * model would give. Every operation of ops.def that a model can make occurs.  Domains are kept by
 * wrapping operands: log(1 + x^2), exp(x / sqrt(1 + x^2)), sign(x + c).
 */
#ifndef GEN_EXPR_H
#define GEN_EXPR_H

#include "generator/graph/expr.h"
#include "property/random.h"

enum { RECIPE_MOST = 40, RECIPE_PARAMETERS = 3 };

/* What a step varies with; operands of one step are scalars or of its own kind. */
enum recipe_kind { KIND_SCALAR, KIND_TIME, KIND_POINT };

struct recipe_step {
    enum hg_op op;
    enum recipe_kind kind;
    uint32_t nargs, arg[4]; /* earlier steps */
    uint32_t ref;           /* leaves */
    double value;           /* CONST; offset or exponent of wrapped operands */
};

struct recipe {
    struct recipe_step step[RECIPE_MOST];
    uint32_t n;
};

/* How an operand is made legal for an operation. */
enum recipe_guard {
    GUARD_NONE,     /* x */
    GUARD_BOUNDED,  /* 0.9 x / sqrt(1 + x^2) */
    GUARD_POSITIVE, /* 1 + x^2 */
    GUARD_OFFSET,   /* x + value: away from the place where the operation is not smooth */
    GUARD_MADE      /* not made by models: only by later passes */
};
extern const enum recipe_guard recipe_guard[HG_NOP];

/* Draws a recipe of at most `size` steps.  rows: over columns of a table instead of pairs of
 * frames. first: parameters below it are not used. */
void recipe_draw(struct recipe *r, struct random *random, uint32_t size, int rows, uint32_t first);

/* Builds it; id of the root.  at[k], when given, is the node of step k. */
hg_id recipe_build(const struct recipe *r, struct hg_expr *e, int raw, hg_id *at);

/* One wrapped operation on given operands (what recipe_build does for a step). */
hg_id recipe_apply(struct hg_expr *e, int raw, enum hg_op op, uint32_t n, const hg_id *arg,
                   double value);

/* Makes the recipe smaller while `fails` says that it still fails. */
void recipe_shrink(struct recipe *r, int (*fails)(const struct recipe *, void *), void *user);

#endif
