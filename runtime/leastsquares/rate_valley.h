/* rate_valley.h -- curved steps along the valleys of rates r(t) = A t^E + C and A exp(E (t - s)) + C (kernel.h, struct
 * fit_rate).
 *
 * Data determine a rate at the times they cover, not A, E and C: a change of E without effect on the data changes A and
 * C along a curve, which is unbounded near E = 0. A straight step soon leaves the valley. Here steps are curved: the
 * rate at two times of the measurement takes the values that the straight step predicts to first order, and A and C
 * follow from these at the new E. To first order the curved step equals the straight one.
 */
#pragma once

#include "fit/kernel.h"

/* Curves the step from x to trial (nparam each). A parameter that is fixed (lower = upper), or put on a bound by the
 * step, stays: then the other of A and C keeps the rate at one time. Where the bounds leave no room the step stays
 * straight. */
void fit_valley_bend(const struct fit_kernel *kernel, const struct fit_layout *l, const double *lower,
                     const double *upper, const double *x, double *trial);

/* The step from x to trial, whose parameter `which` (A, E or C of the rate) keeps its value in trial: the other two
 * follow from the rate at both times as predicted by the straight step. Nothing is done for other parameters, or
 * where one of the other two is fixed or would leave its bounds. */
void fit_valley_hold(const struct fit_kernel *kernel, const struct fit_layout *l, const double *lower,
                     const double *upper, const double *x, size_t which, double *trial);

/* The same for trial = sum weight[i] point[i], with weights that add up to 1: the rate of `which` (-1: none) at both
 * times is the same sum of those of the points, and so is every other rate whose amplitude and offset can vary, with
 * the exponent of trial. */
struct fit_valley_mix {
    size_t n;
    const double *const *point, *weight;
};
void fit_valley_mixed(const struct fit_kernel *kernel, const struct fit_layout *l, const double *lower,
                      const double *upper, struct fit_valley_mix mix, long which, double *trial);

/* x with another exponent of one rate, in out, which contains a copy of x; A and C, moved inside their bounds, keep
 * the rate at both times as far as these allow. 0: they would be infinite. */
int fit_valley_point(const struct fit_rate *r, const struct fit_layout *l, const double *lower, const double *upper,
                     const double *x, double exponent, double *out);

/* The values of a rate at both times, and the largest and least over the measurement (all[2]). */
void fit_valley_values(const struct fit_rate *r, const struct fit_layout *l, const double *x, double value[2],
                       double all[2]);

/* As fit_valley_point, with these values at both times. */
int fit_valley_from(const struct fit_rate *r, const struct fit_layout *l, const double *lower, const double *upper,
                    const double value[2], double exponent, double *out);
