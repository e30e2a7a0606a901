/* check.h -- checks before code is written: derivatives against dual numbers, the model's own test points. */
#pragma once

#include <stdio.h>

#include "base/diag.h"
#include "model/model.h"

/* Evaluates the variant at the model's random parameter sets and test points.  Reports failures through d and
 * a summary to out.  hessian: second derivatives as well.  Returns 1 when everything holds. */
int hg_check(struct hg_model *m, const struct hg_variant *v, int hessian, struct hg_diag *d, FILE *out);
