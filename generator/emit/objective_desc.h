/* objective_desc.h -- the description of an objective as C tables. */
#pragma once

#include <stdio.h>

#include "model/objective.h"

/* Values, slopes; tangents along a direction, tangents of slopes. */
enum hg_objective_pass { HG_FORWARD, HG_BACKWARD, HG_TANGENT, HG_SECOND, HG_OBJECTIVE_PASSES };
extern const char *const hg_objective_pass_name[HG_OBJECTIVE_PASSES];

struct hg_objective_phase {
    const char *name, *function;
    enum fit_phase_kind kind;
    uint64_t need;
    enum fit_unit_kind unit;
    uint32_t axis, operation, work, nsum, *sum;
};

struct hg_objective_phases {
    struct hg_objective_phase *phase;
    uint32_t n;
    size_t room;
};

/* The comment at the head of the file. */
void hg_objective_head(const struct hg_model *m, FILE *out);

/* Tables, then const struct fit_functional FIT_KERNEL_SYMBOL. */
void hg_objective_desc(const struct hg_model *m, const struct hg_objective_phases phases[HG_OBJECTIVE_PASSES],
                       FILE *out);
