/* efficient.h -- efficient estimates: pairs of frames weighted by their joint information.
 *
 * Least squares weights all pairs equally, although pairs within a correlation time repeat one another. Their
 * covariance is known (speckle/noise.h), and with the weights of speckle_kernel.h errors are smaller, by up to a half.
 * The fit starts from least squares; the covariance of the noise is evaluated at these estimates, then at the first
 * efficient ones. Errors follow from the covariance of the weighted sums, with all its terms: they are valid even if
 * the weights are not optimal.
 *
 * The difference of the two estimates is compared with its own covariance (Hausman, Econometrica 46 (1978) 1251): for a
 * wrong model they differ by more than chance. Least squares is represented by one Gauss-Newton step from the efficient
 * estimates, with all covariances there, because the fit itself ends far away in flat valleys more often than any
 * covariance predicts.
 */
#pragma once

#include "errors/speckle_kernel.h"
#include "leastsquares/fit_impl.h"

/* After a fit by least squares, errors included: applies struct fit_options.estimator. The result either becomes
 * that of the efficient estimates (values, errors, intervals, chi2 there) or stays as it is with the reason; values
 * and errors of the other estimates are kept. FIT_ERR_CONFIG when efficient estimates are requested and impossible;
 * FIT_ERR_MEMORY, FIT_ERR_INTERRUPTED. */
enum fit_status fit_efficient(struct fit_ls *f);

/* The equations at the efficient estimates, from which a posterior is sampled: kernel and data of a table with unit
 * errors (errors/speckle_kernel.h), and the linear parameters that groups share (struct fit_options.linear_class). */
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

/* Standard errors (nfull each) of least squares and of efficient estimates under speckle noise with known numbers,
 * at the result *r of a fit to values without noise: those of a planned experiment. NaN where there are none. noise:
 * count and shot of every group. FIT_ERR_CONFIG: the model cannot have speckle noise; FIT_ERR_MEMORY. */
struct fit_efficient_plan {
    const struct fit_kernel *kernel;
    const struct fit_dataset *ds;
    const struct fit_options *opt;
    const struct fit_result *r;
    struct fit_noise_model noise;
};
enum fit_status fit_efficient_errors(const struct fit_efficient_plan *plan, double *plain, double *efficient,
                                     struct fit_error *err);
