/* likelihood.h -- profile likelihoods: how well the data determine one parameter, without the quadratic approximation.
 *
 * For values v of a parameter, on both sides of its best value, chi2 is minimised over all others; its rise above the
 * minimum, in units of the noise, is the profile. The interval of 68 or 95 % ends where it reaches the square of the
 * quantile of Student's t (normal, when the noise is known or the data are many; Venzon & Moolgavkar, Appl. Statist. 37
 * (1988) 87; Bates & Watts (1988), section 6.1). Unlike standard errors these intervals follow a curved valley, stop at
 * bounds, and are open where the data exclude nothing.
 *
 * Where the profile rises above the limit and falls below it again, or another minimum is as low, the interval is a
 * union; each part of it is followed from the lowest known point in it.
 *
 * A best value on a bound gives one-sided limits toward the inside, with the one-sided quantiles (0.68: 0.468 and 0.95:
 * 1.645 standard deviations; Self & Liang, J. Am. Stat. Assoc. 82 (1987) 605).
 */
#pragma once

#include "leastsquares/evidence.h"
#include "leastsquares/fit_impl.h"

/* After the errors of a fit, variance as there; `which`: index in the full vector. The objective is left at another
 * point. FIT_ERR_MEMORY, or FIT_ERR_INTERRUPTED. */
enum fit_status fit_likelihood_curve(struct fit_ls *f, size_t which, double variance, struct fit_evidence *evidence,
                                     struct fit_likelihood *out);

/* Only the ends of the intervals, by fewer points (lower, upper, open_*, part, lower_cost; no curve to draw, no
 * words). evidence: starts for the fits, points whose values the intervals must contain; every point of the profile
 * below the 95 % limit is added. */
enum fit_status fit_likelihood_ends(struct fit_ls *f, size_t which, double variance, struct fit_evidence *evidence,
                                    struct fit_likelihood *out);

/* Updates the intervals with later evidence: an interval around each point of the evidence that lies outside all,
 * merged where they meet. */
enum fit_status fit_likelihood_extend(struct fit_ls *f, size_t which, double variance, struct fit_evidence *evidence,
                                      struct fit_likelihood *out);

/* Limits of the square root of the rise, 68 and 95 %: Student's t where the noise comes from the residuals. */
void fit_likelihood_limits(const struct fit_ls *f, int one_sided, double limit[2]);
