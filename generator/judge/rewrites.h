/* rewrites.h -- rules that change how an expression is computed but not its value.
 *
 * A rule is a pattern and its replacement, written as in a model, with a, b, c for any expression:
 *     {"expm1", "exp(a) - 1", "expm1(a)", source}
 * In a sum a pattern may be part of the terms and have a common factor: y + 2 q exp(x) - 2 q. In a product it may be
 * part of the factors, to an integer power: sin(x)^2/x^2. Functions that occur only in replacements:
 *     exprel(a) = (e^a - 1)/a    log1prel(a) = log(1 + a)/a    sinhc(a) = sinh(a)/a    series near 0, where they are 1
 * The rules hold where both sides are finite; stability.c finds out whether one helps.
 */
#pragma once

#include "graph/expr.h"

enum { HG_RULE_VARIABLES = 3 };

struct hg_rule {
    const char *name, *from, *to, *source;
};

extern const struct hg_rule hg_rule[];
extern const uint32_t hg_nrule;

/* The node with rule k applied, 0 when it does not match. bind: the values of a, b, c (0: not used). */
hg_id hg_rule_apply(struct hg_expr *e, uint32_t k, hg_id node, hg_id bind[HG_RULE_VARIABLES]);

/* A pattern or a replacement as an expression of given a, b, c. */
hg_id hg_rule_build(struct hg_expr *e, const char *text, const hg_id bind[HG_RULE_VARIABLES]);
