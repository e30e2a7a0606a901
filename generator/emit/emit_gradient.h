/* emit_gradient.h -- the adjoint numbers of a pair, arranged for the sum over groups: see emit_gradient.c. */
#pragma once

#include "emit/emit.h"
#include "structure/terms.h"

/* Fills *x, of which e is given, with the adjoint numbers a_c of the channels as sums over fields. Returns the roots of
 * the function, all separated and factored together; seeds are leaves. The first nlinear + 1 are the basis functions
 * and the rest. */
hg_id *hg_adjoint_arrange(struct hg_emit *em, struct hg_terms *x, uint32_t *nroot);
