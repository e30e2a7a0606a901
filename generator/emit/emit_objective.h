/* emit_objective.h -- from an objective to the text of its phases (fit/functional.h). */
#pragma once

#include <stdio.h>

#include "model/objective.h"

void hg_emit_objective(struct hg_model *m, FILE *out);

/* The same phases, of values and slopes, for accelerators (fit/gpu_functional.h). */
void hg_emit_objective_gpu(struct hg_model *m, FILE *out);
