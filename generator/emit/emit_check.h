/* emit_check.h -- reference values of a model, against which a fitter checks its kernels after the build. */
#pragma once

#include <stdio.h>

#include "model/model.h"

/* Writes the file that `homodyne-NAME selfcheck` reads: words separated by blanks, numbers as C writes them with %a.
 *
 *     homodyne-selfcheck 1
 *     model NAME variant NAME hash SHA-256
 *     sizes nparam nlinear nsetting naxis ncolumn ngroup ntime nframe nrow npoint nset
 *     setting ..  coord (naxis x ngroup) ..  step s  time ..  frame ..  column (ncolumn x nrow) ..
 *     then nset times:  theta ..  lin (ngroup x nlinear) ..
 *     and npoint lines: i j g, then mean, d mean / d theta_k, d mean / d lin_q: each a value and
 *     the error that rounding in double may cause (see eval.h)
 *     then  hessian n,  n 0 when second derivatives were not requested, else a direction (as for
 *     kernel.h's `direction`) and n lines: number of the point, the second derivative along the
 *     direction, the packed second derivatives: each a value and an error
 *
 * For a noise distribution there follow density and the same for the log density, with second derivatives at all
 * points; the measured values are the numbers of its column.
 *
 * Points are all pairs i < j of the used frames for all groups (group by group, i by i), or all rows. Parameters are
 * the starts and some of the model's random() sets.
 *
 * hg_wide_emit_check: the same from numbers with 113 bits (graph/real.h), whose bytes are the same on every machine. */
void hg_wide_emit_check(struct hg_model *m, const struct hg_variant *v, int hessian, FILE *out);
void hg_emit_check(struct hg_model *m, const struct hg_variant *v, int hessian, FILE *out);
