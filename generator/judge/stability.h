/* stability.h -- improves and measures the accuracy of a model: rewrites where they help, a measurement, a verdict.
 *
 * Every rule of rewrites.h is tried at every node of the mean. A candidate is a function of the expressions that its
 * variables stand for. Both forms and their slopes are compared with extended precision at the values that these take
 * over the declared box (sample_points.h): at all points, at 0 and near it if the box extends there, and where the
 * value vanishes between two points. The rule is applied when
 *   the worst error becomes 4 times smaller (or a value that was not finite becomes finite),
 *   no output or derivative of the model gets worse by more than a factor 1.5 and 2 ulp,
 *   and the innermost loop contains no additional function, unless an output or a derivative improves; expressions
 *   computed from tables over frames stay so unless the model exceeds its bound.
 * Then the worst error of each output is measured (accuracy.h) and compared with the bound.
 */
#pragma once

#include <stdio.h>

#include "judge/analysis.h"

/* Rewrites v->mean, fills found->accuracy; prints candidates to `explain` (may be NULL). Returns 0 when errors were
 * reported. */
int hg_stability(struct hg_model *m, struct hg_variant *v, struct hg_analysis *found, struct hg_diag *d, FILE *explain);

/* Worst errors of the pattern of a rule and of its replacement, as functions of a, b, c and with their slopes by
 * those of the set `wanted` (bits), at given values (n x HG_RULE_VARIABLES), near zeros between them and at 0 if
 * they extend there. Infinite where one form is not finite and the other is. Returns 0 when the replacement, or one
 * of its slopes, is worse than the pattern by more than a factor 2 and 4 ulp. */
struct hg_rule;
int hg_rule_measure(const struct hg_rule *r, uint32_t nvariable, unsigned wanted, uint32_t n, const double *value,
                     double *before, double *after);
