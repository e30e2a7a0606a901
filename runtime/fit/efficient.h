/* efficient.h -- efficient estimates: pairs of frames weighed by what they tell beside one another.
 *
 * Least squares weigh all pairs the same, though pairs within a correlation time repeat one another.  How they do is
 * known (speckle_noise.h), and with the weights of speckle_kernel.h errors are smaller, by up to a half.  The fit
 * begins at that of least squares; the covariance of the noise is held at these estimates, then at the first efficient
 * ones.  Errors follow from the covariance of the weighted sums, all terms of it: the weights need not be the best ones
 * for errors to hold.
 *
 * The difference of both estimates is held against its own covariance (Hausman, Econometrica 46 (1978) 1251): of a
 * model that does not quite hold they differ by more than chance allows.
 */
#pragma once

#include "leastsquares/fit_impl.h"

/* After a fit by least squares, errors included: what struct fit_options.estimator wants.  The result either becomes
 * that of the efficient estimates (values, errors, intervals, chi2 there) or stays as it is with the reason; of the
 * estimates that it has not it keeps values and errors.  FIT_ERR_CONFIG when efficient estimates are asked for and
 * cannot be had; FIT_ERR_MEMORY, FIT_ERR_INTERRUPTED. */
enum fit_status fit_efficient(struct fit_ls *f);
