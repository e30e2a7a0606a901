/* words.h -- names for temporaries and tables, made from the model's own words. */
#pragma once

#include "graph/expr.h"

/* A name that describes the node: minus_q_sq, exp_J_ref, delay_over_tau, fraction_sum. NULL when no word of the
 * model would describe it. known (may be NULL): the names that nodes have at the point where the new one is used, or
 * NULL. */
const char *hg_words(const struct hg_expr *e, hg_id id, const char *(*known)(const void *user, hg_id id),
                     const void *user);
