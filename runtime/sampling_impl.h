/* sampling_impl.h -- the parts of sampling.c. */
#ifndef FIT_SAMPLING_IMPL_H
#define FIT_SAMPLING_IMPL_H

#include "sampling.h"

/* Maximum of the target near q[n] by Newton's method with halved steps: q <- the mode, covariance (n x n) <- the
 * inverse of the Hessian there, *weak <- directions without curvature.  scale[n]: standard deviations, roughly.
 * FIT_ERR_NUMERIC: no finite gradient at the start. */
enum fit_status fit_mode_find(const struct fit_target *t, double *q, const double *scale, double *covariance,
                              size_t *weak, struct fit_error *err);

/* Fills column, covariance, health, worst_*, verdict from x, q, lp and stats. */
enum fit_status fit_samples_summarise(struct fit_samples *s, const struct fit_posterior *p,
                                      const struct fit_sampling_options *opt, struct fit_error *err);

#endif
