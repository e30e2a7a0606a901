/* formula.h -- an expression of the graph as a reader would write it, in one line of text. */
#pragma once

#include "graph/expr.h"

/* "v0 cos(phi + phi0)"; lives in the arena of the graph. */
const char *hg_formula(const struct hg_expr *e, hg_id id);

/* The same in the language of models, with subexpressions by their names in the model: "D0 * ts^alpha + D_offset". */
const char *hg_formula_code(const struct hg_expr *e, hg_id id);
