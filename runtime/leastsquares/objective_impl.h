/* objective_impl.h -- shared by the parts of the objective: objective_setup.c makes it, objective.c evaluates the
 * sum of squares, loss.c robust costs. All are described in objective.h. */
#pragma once

#include "leastsquares/objective.h"
#include "leastsquares/robust_loss.h"

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

/* Sums of fit_objective_newton(): those of robust_loss.h, then those of `moments` from first[0] on, then those of
 * `normal` from first[1] on.  */
static inline size_t fit_objective_newton_size(const struct fit_objective *o, size_t first[2])
{
    first[0] = (FIT_RHO_SUMS + 7) / 8 * 8;
    first[1] = first[0] + (o->ngroup * fit_objective_moments(o->nlinear) + 7) / 8 * 8;
    return first[1] + fit_objective_normal_size(o);
}

/* ---- objective.c ----------------------------------------------------------------------------- */

/* Doubles of all matrices A. */
size_t fit_objective_matrices(const struct fit_objective *o);
/* A and b from `moment`, and the shrinkage. */
void fit_objective_assemble(struct fit_objective *o);
/* u, state, lin and ssr from A and b.  FIT_EVAL_REJECT when they are not finite. */
enum fit_eval fit_objective_solve(struct fit_objective *o);
/* Contribution of shrinkage to the cost at u. */
double fit_objective_penalty(const struct fit_objective *o);
/* B and g from sums of a kernel's `normal`, where the linear parameters are those of A and b; du: difference to the
 * ones of the sums (nu, or NULL: none). Sets hessian and cross. */
void fit_objective_reduce(struct fit_objective *o, const double *sum, const double *du, double *B, double *g);

/* Sums of the tile in the form of kernels (fit_tile.sum) from its values and weights; acc: 24 ngroup doubles of
 * scratch.
 */
void fit_objective_tile_sums(const struct fit_objective *o, const struct fit_tile *t, double *acc, double *sum);
