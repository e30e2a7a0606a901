/* typeset_private.h -- shared by typeset.c (expressions) and typeset_formula.c (whole formulas). */
#pragma once

#include "document/box.h"

struct typeset {
    struct hg_model *m;
    struct hg_arena *a;
    const struct hg_box *time; /* the argument in place of t: t itself, t1 or t2 */
    hg_wid root;               /* shown as its formula although it has a name */
    hg_id many;                /* parameter called theta; 0: none */
    int script;                /* inside an exponent */
    uint32_t boxes;
};

enum level { SUM_LEVEL, PRODUCT_LEVEL, ATOM_LEVEL };

/* A list of boxes that grows. */
struct row {
    struct hg_arena *a;
    const struct hg_box **item;
    uint32_t n;
    size_t room;
};

/* Factors of a product: numbers multiplied into one coefficient, everything else in order. */
struct product {
    double coefficient;
    struct row factor;
    enum level *level; /* of each factor */
    size_t room;
};

/* Terms of a sum, with what each was made from. */
struct sum {
    struct row box;
    int *negative;
    hg_wid *term;
    size_t room, term_room;
};

const struct hg_box *typeset_leaf(struct typeset *t, enum hg_box_kind kind, const char *text, const char *tex);
const struct hg_box *typeset_two(struct typeset *t, enum hg_box_kind kind, const struct hg_box *x,
                                 const struct hg_box *y);
void typeset_put(struct row *r, const struct hg_box *b);
const struct hg_box *typeset_row(struct typeset *t, const struct row *r);
const struct hg_box *typeset_fence(struct typeset *t, const char *pair, const struct hg_box *inside);
const struct hg_box *typeset_minus(struct typeset *t, int prefix);
const struct hg_box *typeset_pair_time(struct typeset *t, int second);
const struct hg_box *typeset_declared(struct typeset *t, const struct hg_symbol_decl *s);
const struct hg_box *typeset_symbol(struct typeset *t, hg_id node);
const struct hg_box *typeset_part_name(struct typeset *t, hg_wid id);
const struct hg_box *typeset_partial(struct typeset *t, const struct hg_box *of, const struct hg_box *by);
const struct hg_box *typeset_call(struct typeset *t, const struct hg_box *name, const struct hg_box *argument);
int typeset_shown_by_name(const struct typeset *t, hg_wid id);
struct product typeset_product_of(struct typeset *t, hg_wid id);
struct sum typeset_sum_of(struct typeset *t, hg_wid id);
