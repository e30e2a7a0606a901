/* efficient.h -- efficient estimates: pairs of frames weighed by what they tell beside one another.
 *
 * Least squares weigh all pairs the same, though pairs within a correlation time repeat one another.  How they do is
 * known (speckle/noise.h), and with the weights of speckle_kernel.h errors are smaller, by up to a half.  The fit
 * begins at that of least squares; the covariance of the noise is held at these estimates, then at the first efficient
 * ones.  Errors follow from the covariance of the weighted sums, all terms of it: the weights need not be the best ones
 * for errors to hold.
 *
 * The difference of both estimates is held against its own covariance (Hausman, Econometrica 46 (1978) 1251): of a
 * model that does not quite hold they differ by more than chance allows.  Of least squares the step is taken for it
 * that leads to them from the efficient estimates (Gauss and Newton), with all covariances there: the fit itself ends
 * far away in flat valleys, more often than any covariance tells.
 */
#pragma once

#include "errors/speckle_kernel.h"
#include "leastsquares/fit_impl.h"

/* After a fit by least squares, errors included: what struct fit_options.estimator wants.  The result either becomes
 * that of the efficient estimates (values, errors, intervals, chi2 there) or stays as it is with the reason; of the
 * estimates that it has not it keeps values and errors.  FIT_ERR_CONFIG when efficient estimates are asked for and
 * cannot be had; FIT_ERR_MEMORY, FIT_ERR_INTERRUPTED. */
enum fit_status fit_efficient(struct fit_ls *f);

/* The equations at the efficient estimates, as what a posterior is sampled of: kernel and data of a table with errors
 * of 1 (errors/speckle_kernel.h), and the linear parameters that groups share (struct fit_options.linear_class). */
struct fit_efficient_table {
    struct fit_speckle_kernel *made;
    size_t *linear_class;
    struct fit_arena storage_;
};

/* *r: efficient estimates of a fit of kernel to ds with these options; kernel and ds are borrowed.  To be freed.
 * FIT_ERR_MEMORY, FIT_ERR_NUMERIC. */
enum fit_status fit_efficient_table(const struct fit_kernel *kernel, const struct fit_dataset *ds,
                                    const struct fit_options *opt, const struct fit_result *r,
                                    struct fit_efficient_table *out, struct fit_error *err);
void fit_efficient_table_free(struct fit_efficient_table *t);

/* Standard errors (nfull each) of least squares and of efficient estimates under speckle noise with known numbers, at
 * the result *r of a fit to values without noise: what an experiment would have.  NaN where there are none.  noise:
 * count and shot of every group.  FIT_ERR_CONFIG: the model's noise cannot be that of speckles; FIT_ERR_MEMORY. */
struct fit_efficient_plan {
    const struct fit_kernel *kernel;
    const struct fit_dataset *ds;
    const struct fit_options *opt;
    const struct fit_result *r;
    struct fit_noise_model noise;
};
enum fit_status fit_efficient_errors(const struct fit_efficient_plan *plan, double *plain, double *efficient,
                                     struct fit_error *err);
