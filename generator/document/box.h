/* box.h -- typeset formulas: a tree of boxes, from which html.c writes MathML and latex.c LaTeX.
 *
 * A box is made once and lives in the arena.  Letters carry both spellings, "α" and "\alpha".
 */
#pragma once

#include <stdint.h>

#include "model/model.h"
#include "model/written.h"

enum hg_box_kind {
    HG_BOX_ROW,    /* children side by side */
    HG_BOX_LETTER, /* one letter, italic */
    HG_BOX_WORD,   /* a name of several letters, a function, a unit: upright */
    HG_BOX_NUMBER,
    HG_BOX_SIGN,   /* a binary operator or a relation, with space around */
    HG_BOX_PREFIX, /* a sign before its operand */
    HG_BOX_THIN,   /* thin space: between factors, before units and dt */
    HG_BOX_COMMA,
    HG_BOX_TEXT,   /* words in a formula: "if", "otherwise" */
    HG_BOX_SUB,    /* base, subscript */
    HG_BOX_SUP,    /* base, superscript */
    HG_BOX_SUBSUP, /* base, subscript, superscript */
    HG_BOX_OVER,   /* base with an accent, text: dot hat bar tilde */
    HG_BOX_FRACTION,
    HG_BOX_ROOT,
    HG_BOX_FENCE,    /* child between "(" ")", "|" "|": text, tex: both delimiters, two letters */
    HG_BOX_INTEGRAL, /* the large sign `text`, lower, upper; the operand stands beside it */
    HG_BOX_CASES     /* value, condition, value, condition, ... */
};

struct hg_box {
    enum hg_box_kind kind;
    const char *text, *tex;
    uint32_t n;
    const struct hg_box *const *child;
};

/* A formula in pieces between which a line may be broken: the left-hand side, then "= a", "+ b", ...
 */
struct hg_formula {
    const struct hg_box *left;
    const struct hg_box *const *piece;
    uint32_t n;
};

const struct hg_box *hg_box(struct hg_arena *a, enum hg_box_kind kind, const char *text,
                            const char *tex, uint32_t n, const struct hg_box *const *child);

/* 1 when parentheses around it must grow. */
int hg_box_tall(const struct hg_box *b);

/* An estimate of the width in letters. */
double hg_box_width(const struct hg_box *b);

/* --- names, units and numbers (typeset_name.c) --- */

/* A name of the model: D0_ref is D with the subscript 0, ref; gamma_dot is a gamma with a dot. */
const struct hg_box *hg_typeset_name(struct hg_arena *a, const char *name);

/* A unit such as "angstrom^2/s", upright: Å² s⁻¹.  NULL for "1". */
const struct hg_box *hg_typeset_unit(struct hg_arena *a, const char *unit);

/* 0.5, 1.5 x 10^-7, 1/3, 2 pi: see number() there.  Without a sign: give the absolute value. */
const struct hg_box *hg_typeset_number(struct hg_arena *a, double x);

/* The same with its sign; infinities. */
const struct hg_box *hg_typeset_value(struct hg_arena *a, double x);

/* --- formulas (typeset.c) --- */

/* A parameter, setting, axis or column as formulas show it: with its axis as a subscript. */
const struct hg_box *hg_typeset_symbol(struct hg_model *m, const struct hg_symbol_decl *s);

/* "c2(phi, t1, t2) = ..." for the mean of a variant: left is the observed quantity. */
void hg_typeset_mean(struct hg_model *m, hg_wid mean, struct hg_formula *f);

/* "D(t) = ..." for a named part; a part without a name is shown as `name`. */
void hg_typeset_part(struct hg_model *m, hg_wid part, const char *name, struct hg_formula *f);

/* "d part / d theta = ...": a derivative made by hg_written_diff; part 0: of the mean.  many: the
 * parameter stands for several and is called theta. */
void hg_typeset_slope(struct hg_model *m, hg_wid part, hg_wid slope, hg_id node, int many,
                      struct hg_formula *f);

/* "D(t)", the name of a part. */
const struct hg_box *hg_typeset_name_of(struct hg_model *m, hg_wid part);

/* 1 when the formula, or one of its parts, has the word (op: with FUNCTION, else 0). */
int hg_typeset_uses(struct hg_model *m, hg_wid root, enum hg_word what, enum hg_op op);
