/* speckle_kernel.h -- a two-time model in coordinates in which the noise of speckles is white: a kernel made around
 * another one, and its data.
 *
 * Frames are taken together in blocks (speckle_blocks.h).  Of values, model and derivatives the means over the pairs
 * between two blocks are whitened (speckle_whiten.h) and make the rows of a table, n (n + 1) / 2 of each group, with
 * errors of 1: half of the cost that is least where
 *
 *     sum W_p (c2 - model) = 0,     W_p = Ct^-1 (dC/dp + diag d_p) Ct^-1
 *
 * with Ct held.  The kernel has the parameters of the other one, and all that is done with least squares can be done
 * with it: bounds, profiles, posteriors.  The intercept is a linear parameter like others.
 *
 * Means over pairs are those of a few pairs; what that changes is taken away by the data, which are what the residuals
 * at a reference, summed over all pairs, add to the model there.
 */
#ifndef FIT_SPECKLE_KERNEL_H
#define FIT_SPECKLE_KERNEL_H

#include "errors/scores.h"
#include "errors/speckle_blocks.h"

struct fit_speckle_reference {
    const struct fit_objective *obj; /* at the reference: after value and normal there */
    const struct fit_scores *scores; /* of obj, with fields */
    const double *theta, *lin;       /* the reference; lin in the units of the data, perhaps not that of obj */
    struct fit_speckle_noise *noise; /* ngroup: with contrast of the reference; numbers become more exact
                                        (speckle_likelihood.h) */
    int threads;
};

struct fit_speckle_kernel {
    struct fit_kernel kernel;
    struct fit_dataset *ds;
    size_t n, frames;
    struct fit_speckle_private *private_;
};

/* *out, to be freed.  What the reference borrows must live as long.  FIT_ERR_MEMORY; FIT_ERR_NUMERIC: the noise has no
 * positive definite covariance. */
enum fit_status fit_speckle_kernel_new(const struct fit_speckle_reference *at, struct fit_speckle_kernel **out,
                                       struct fit_error *err);
void fit_speckle_kernel_free(struct fit_speckle_kernel *k);

/* Weights of the values of group g in the equations of the fit at theta and lin (ngroup x nlinear), of all nparam +
 * nlinear parameters: field[P] n x n, as struct fit_speckle_fields wants them; ws: of the kernel, prepared with
 * derivatives.  room: fit_speckle_weights_room() doubles. */
void fit_speckle_weights(const struct fit_speckle_kernel *k, const double *ws, const double *lin, size_t g,
                         double *room, double *field);
size_t fit_speckle_weights_room(const struct fit_speckle_kernel *k);

#endif
