/* objective_impl.h -- sizes that the two parts of the objective share: objective_setup.c makes it,
 * objective.c evaluates it.  Both are described in objective.h. */
#ifndef FIT_OBJECTIVE_IMPL_H
#define FIT_OBJECTIVE_IMPL_H

#include "objective.h"

/* Unknowns of block k. */
static inline size_t fit_objective_block(const struct fit_objective *o, size_t k)
{
    return o->block_first[k + 1] - o->block_first[k];
}

/* Sums that `moments` of a kernel gives for one group: M (upper triangle), v, s. */
static inline size_t fit_objective_moments(size_t nlinear)
{
    return nlinear * (nlinear + 1) / 2 + nlinear + 1;
}

/* Sums that `normal` of a kernel gives: H (upper triangle), J^T r, C. */
static inline size_t fit_objective_normal_size(const struct fit_objective *o)
{
    size_t p = o->nparam;
    return p * (p + 1) / 2 + p + o->ngroup * o->nlinear * p;
}

#endif
