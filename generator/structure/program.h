/* program.h -- the results of the passes, as lists of roots (dump.h). */
#pragma once

#include "graph/dump.h"
#include "structure/form.h"

/* After load and rewrite: the mean, the log density. */
struct hg_root *hg_model_roots(const struct hg_model *m, const struct hg_variant *v, uint32_t *n);

/* After plan: scalars (LOCALs), basis functions b, rest, channels m, tables U of each channel and parameter. */
struct hg_root *hg_plan_roots(const struct hg_plan *p, uint32_t *n);

/* After separate and factor: basis functions, rest, channels, cores of the cross moments. */
struct hg_root *hg_form_roots(const struct hg_form *f, uint32_t *n);
