/* spread.h -- how well the data determine an image: standard deviations of its pixels.
 *
 * The density is exp(-s J) over the intensities I (over x itself with --no-log) and over the other unknown arrays;
 * regularizers are the prior. s makes the weights of data terms those of their likelihood: a term of n complex rows has
 * -log L = n chi2, of n real ones n chi2 / 2, so that s = (sum of these) / (sum of weights). Closures of one time share
 * visibilities, and several terms may use the same data: notes report both.
 *
 * laplace: the inverse of s d2J, with exact second derivatives by I at the image: d2J/dI2 = (d2J/dx2 - dJ/dx) / I_i I_k
 * for x = ln I. Maps of other planes (Q, U, V, alpha) follow from it by their exact tangents. nuts: draws.
 */
#pragma once

#include "base/progress_line.h"
#include "imaging/minimise.h"
#include "imaging/planes.h"

struct fit_imaging_spread {
    int is_nuts;
    double scale;                            /* s */
    size_t noutput;                          /* planes, as fit_imaging_outputs has them */
    double *mean[FIT_IMAGING_OUTPUTS];       /* n pixels each; nuts only */
    double *sd[FIT_IMAGING_OUTPUTS];         /* n pixels each; 0 for known pixels */
    double away;                             /* laplace: distance to the minimum, in standard deviations */
    size_t ndraw, chains;                    /* nuts: all draws, chain after chain */
    double *draw;                            /* ndraw x n: intensities */
    double r_hat, ess, divergent;            /* nuts: the worst pixel; draws that end so */
    struct fit_arena arena;
};

/* At r->x of the last call of fit_imaging_conclude. FIT_ERR_NUMERIC: the matrix is not positive definite there;
 * FIT_ERR_CONFIG: too many unknowns; FIT_ERR_INTERRUPTED. */
enum fit_status fit_imaging_laplace(struct fit_imaging_run *r, struct fit_progress_view *view,
                                    struct fit_imaging_spread *out, struct fit_error *err);

/* After fit_imaging_laplace, whose standard deviations are the starting widths of chains; without them if it failed
 * with FIT_ERR_NUMERIC. Replaces planes. */
enum fit_status fit_imaging_nuts(struct fit_imaging_run *r, const struct fit_imaging_options *o,
                                 struct fit_progress_view *view, struct fit_imaging_spread *out,
                                 struct fit_error *err);
