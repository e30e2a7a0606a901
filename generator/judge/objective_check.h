/* objective_check.h -- proofs of an objective: slopes and second derivatives of its formulas against dual numbers. */
#pragma once

#include <stdio.h>

#include "base/diag.h"
#include "model/objective.h"

/* Every formula (arrays that are kept, sums, terms) at random points: the slopes that the compiler has found, and those
 * of its tangent, against the dual numbers of the interpreter, in extended precision.  Reports failures through d and a
 * summary to out.  1: all hold. */
int hg_objective_prove(struct hg_model *m, struct hg_diag *d, FILE *out);
