/* likelihood.h -- profile likelihoods: how well the data know one parameter, without the paraboloid.
 *
 * For values v of a parameter, on both sides of its best value, chi2 is minimised over all others; its rise above the
 * least, in units of the noise, is the profile.  Where it reaches the square of the quantile of Student's t (normal,
 * when the noise is known or the data are many) the interval of 68 or 95 % ends (Venzon & Moolgavkar, Appl. Statist.
 * 37 (1988) 87; Bates & Watts (1988), section 6.1).  Unlike standard errors these intervals bend with the valley,
 * stop at bounds, and are open where the data exclude nothing.
 *
 * A best value on a bound gives one-sided limits toward the inside, with the one-sided quantiles (0.68: 0.468 and
 * 0.95: 1.645 standard deviations; Self & Liang, J. Am. Stat. Assoc. 82 (1987) 605).
 */
#ifndef FIT_LIKELIHOOD_H
#define FIT_LIKELIHOOD_H

#include "fit_impl.h"

/* After the errors of a fit, variance as there; `which`: place in the full vector.  The objective is left at some
 * other point.  FIT_ERR_MEMORY, or FIT_ERR_INTERRUPTED. */
enum fit_status fit_likelihood_curve(struct fit_job *f, size_t which, double variance, struct fit_likelihood *out);

/* Ends of the intervals alone, by fewer points (lower, upper, open_*, lower_cost; no curve to draw, no words).
 * visit, unless NULL: called at every point of the profile below the limit of 95 %, with the objective there. */
typedef void fit_likelihood_fn(void *user, const double *theta);
enum fit_status fit_likelihood_ends(struct fit_job *f, size_t which, double variance, fit_likelihood_fn *visit,
                                    void *user, struct fit_likelihood *out);

/* 1 when the interval of 95 % of a nonlinear parameter that is not on a bound ends nearer than `far` from its best value
 * toward side (+1, -1), by as few points as that takes; else 0. */
int fit_likelihood_ends_within(struct fit_job *f, size_t which, double variance, double side, double far);

/* Of the root of the rise, 68 and 95 %: Student's t where the noise comes from the residuals. */
void fit_likelihood_limits(const struct fit_job *f, int one_sided, double limit[2]);

#endif
