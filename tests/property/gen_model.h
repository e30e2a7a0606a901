/* gen_model.h -- random models, as text of the model language.
 *
 * Pair models are sums of products of functions of integrals, of per-frame factors and of angles;
 * row models are sums of decays and oscillations of a covariate.  Everything stays finite inside
 * the bounds: exponents are small, denominators and arguments of logarithms positive.
 */
#ifndef GEN_MODEL_H
#define GEN_MODEL_H

#include "generator/base/memory.h"
#include "property/random.h"

/* Text of a model called `name`, in the arena.  rows: a table model. */
char *gen_model(struct hg_arena *a, struct random *r, const char *name, int rows);

#endif
