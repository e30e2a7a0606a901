/* special.h -- quantiles, probabilities, lgamma and sorting, as needed by statistics. */
#pragma once

#include <stddef.h>

#define FIT_LOG_2_PI 1.8378770664093454836 /* log(2 pi) */

/* Quantile p of the standard normal, relative error 1e-15; -inf and inf at 0 and 1. */
double fit_normal_quantile(double p);

/* Regularised incomplete beta function I_x(a, b) for a, b > 0, and the x at which it equals p; about 1e-13. */
double fit_beta_cdf(double x, double a, double b);
double fit_beta_quantile(double p, double a, double b);

/* log |Gamma(x)|, like lgamma(), which however writes the sign of Gamma to a global that threads share. */
double fit_log_gamma(double x);

/* Quantile of Student's t that is exceeded with probability 0 < p < 1/2, for dof > 0 degrees of freedom (infinite:
 * normal), 1e-8. */
double fit_student_quantile(double p, double dof);

/* Probability that chi^2 with n degrees of freedom exceeds x. */
double fit_chi2_tail(double x, double n);

/* index[n] <- the order in which x ascends; equal elements keep their order. Not for NaN. */
void fit_sort_index(size_t n, const double *x, size_t *index);

/* Of two doubles, for qsort(). */
int fit_ascending(const void *a, const void *b);
