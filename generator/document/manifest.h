/* manifest.h -- a model described for programs (JSON) and a configuration to start from (YAML). */
#pragma once

#include <stdio.h>

#include "judge/analysis.h"

/* JSON: name, hash, formula, parameters with units, bounds and priors, settings, axes, columns, curves,
 * unidentifiable combinations (if they were searched for), variants. An infinite bound and a missing default are
 * null. */
void hg_manifest_json(struct hg_model *m, const struct hg_analysis *found, FILE *out);

/* YAML: a configuration of homodyne-NAME with every parameter at its start; values to be supplied are marked FILL
 * IN. */
void hg_manifest_yaml(struct hg_model *m, FILE *out);
