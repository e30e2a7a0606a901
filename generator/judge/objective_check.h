/* objective_check.h -- checks of an objective: slopes and second derivatives of its formulas against dual numbers. */
#pragma once

#include <stdio.h>

#include "base/diag.h"
#include "model/objective.h"

/* Checks every formula (arrays that are kept, sums, terms) at random points: the compiler's slopes, and those of its
 * tangent, against the dual numbers of the interpreter, in extended precision. Reports failures through d and a
 * summary to out. 1: all agree. */
int hg_objective_prove(struct hg_model *m, struct hg_diag *d, FILE *out);
