/* emit_gradient.h -- the adjoint numbers of a pair, arranged for the sum over groups: see emit_gradient.c. */
#pragma once

#include "emit/emit.h"

/* a_c of a channel gets  coefficient * (sum over groups of a field). */
struct hg_adjoint_term {
    uint32_t channel, field;
    hg_id coefficient; /* does not vary with the group */
};

struct hg_adjoint {
    struct hg_emit *em;
    hg_id *field; /* [nfield] */
    uint32_t nfield;
    struct hg_adjoint_term *term;
    uint32_t nterm;
    size_t field_room, term_room;
};

/* Fills *x, whose member em is given. Roots of the function, all separated and factored together; seeds are leaves.
 * The first nlinear + 1 are the basis functions and the rest. */
hg_id *hg_adjoint_arrange(struct hg_adjoint *x, uint32_t *nroot);
