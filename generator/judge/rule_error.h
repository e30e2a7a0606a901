/* rule_error.h -- the error of integrals and averages, which are sums over the nodes of a rule.
 *
 * The mean is evaluated in extended precision with the rules of the model and with rules of 2 n + 1 nodes, at its
 * random parameter sets and its tests; the difference is the error of the former, if it decreases with n. It is
 * reported relative to the mean there (not below 1e-6 of the largest of the same set). At the worst point nodes are
 * doubled until the error is below the bound, which gives the sufficient number.
 */
#pragma once

#include <stdio.h>

#include "base/diag.h"
#include "judge/sample_points.h"

#define HG_RULE_BOUND 1e-8

struct hg_rule_error {
    int any;      /* the mean has such sums */
    double worst; /* relative */
    uint32_t sample, place, places; /* where; of how many */
    unsigned factor; /* sufficient multiple of the nodes; 1: they suffice, 0: not found */
    uint32_t nodes;  /* of the largest rule */
    struct hg_places *box;
};

/* Lives in the arena. */
const struct hg_rule_error *hg_rule_error(struct hg_model *m, hg_id mean, struct hg_places *box);

/* Prints a line of text; a warning where the error is above the bound. */
void hg_rule_error_print(const struct hg_rule_error *r, const char *prefix, FILE *out);
void hg_rule_error_warn(const struct hg_rule_error *r, const struct hg_model *m, struct hg_diag *d);
