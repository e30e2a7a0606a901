/* terms.h -- functions of a pair and a group as sums of products whose factors separate the two:
 *
 *     x_c = sum_f C_cf F_f,    C: of the pair alone;  F: what varies with the group.
 *
 * Sums over the groups then are sums of few fields F, which the functions x_c share; the coefficients multiply these
 * sums once.
 */
#pragma once

#include "graph/expr.h"

struct hg_term {
    uint32_t channel, field;
    hg_id coefficient; /* does not vary with the group */
};

struct hg_terms {
    struct hg_expr *e;
    hg_id *field; /* [nfield] */
    uint32_t nfield;
    struct hg_term *term;
    uint32_t nterm;
    size_t field_room, term_room;
};

/* Adds the terms of x, the function of channel c. A sum of many products is one field by itself. */
void hg_terms_add(struct hg_terms *t, uint32_t c, hg_id x);
