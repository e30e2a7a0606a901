/* speckle_kernel.h -- the efficient equations of a two-time model as a small table: a kernel around another one, and
 * its data.
 *
 * Frames are combined into blocks (speckle/blocks.h). With the covariance Ct of the frames evaluated at a reference,
 * the information on the parameters p of group g is in the sums over pairs
 *
 *     u_p = sum W_p (c2 - model),     W_p = Ct^-1 (dC/dp + diag d_p) Ct^-1     (speckle/whiten.h)
 *
 * whose covariance S is known, with all its terms (speckle/covariance.c). Rows of the table are S^-1/2 u, as many for
 * each group as it has parameters (fewer where the effects of these are not distinct); their errors are 1. The sum of
 * squares u^T S^-1 u of all groups is that of the generalised method of moments (Hansen, Econometrica 50 (1982) 1029),
 * and everything that works for least squares works for the kernel: bounds, profiles, posteriors. It has the parameters
 * of the other one; the intercept is a linear parameter like others.
 *
 * The model is evaluated at one pair of frames between two blocks. The data correct for this approximation: they are
 * the model there plus the residuals at the reference, summed over all pairs.
 */
#pragma once

#include "errors/scores.h"
#include "speckle/blocks.h"

struct fit_speckle_reference {
    const struct fit_objective *obj; /* at the reference: after its value, prepared for derivatives */
    const struct fit_scores *scores; /* of obj, with fields */
    const double *lin;               /* ngroup x nlinear, in the units of the data, perhaps not those of obj */
    struct fit_speckle_noise *noise; /* ngroup: with contrast of the reference; numbers become more exact
                                        (speckle/likelihood.h) */
    struct fit_noise_model given; /* of it */
    const double *share; /* nparam + nlinear: fraction of each that the residuals of a group have absorbed; 0: it is
                          * held */
    int threads;
};

struct fit_speckle_kernel {
    struct fit_kernel kernel;
    struct fit_dataset *ds;
    size_t n, frames;
    /* Of each group, P x P over its parameters (theta, lin):
     * derivatives of the rows; covariance of the rows with the sums of least squares, sum of dmean/dp (c2 - model) over
     * all pairs; covariance of these. */
    double *slope, *cross, *plain;
    struct fit_speckle_private *private_;
};

/* *out, to be freed. What the reference borrows must live as long. FIT_ERR_MEMORY; FIT_ERR_NUMERIC: the covariance
 * of the noise is not positive definite. */
enum fit_status fit_speckle_kernel_new(const struct fit_speckle_reference *at, struct fit_speckle_kernel **out,
                                       struct fit_error *err);
void fit_speckle_kernel_free(struct fit_speckle_kernel *k);
