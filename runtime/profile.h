/* profile.h -- errors of a fit held against the cost itself.
 *
 * Standard errors take the cost for a paraboloid.  Where parameters replace one another only nearly (D0 and
 * D_offset for an exponent near 0) its valley bends or widens, or a bound stops the fit halfway along it, and
 * they are too small, be it by hundreds.  Where the derivative by a parameter vanishes at the minimum and not beside it
 * (an angle along which the flow is measured) they are too large.  What is told instead rests on the profile likelihood
 * (likelihood.h; Bates & Watts, Nonlinear Regression Analysis (1988), section 6.1):
 *
 *     a standard error is told when the interval of 95 % of the profile reaches, on either side, no further than
 *     MUCH = 2 times as far as that of the paraboloid, and on one of them at least half as far; else there is none, and
 *     the interval stands in its place.
 *
 * All are looked at.  First by two values of the cost, two standard errors away along the paraboloid's axis; where these
 * are not about 4 above the least in units of the noise, or a parameter stands on a bound, is open over the box, or has
 * no such error, by a fit with the parameter held where the interval would have to end, 2 x 1.96 standard errors away:
 * chi2 must rise there by 1.96^2 (of the 15 that the paraboloid has); and where it has risen as much half as far away as
 * the interval should end, by a fit there.  Where one of these says no, the ends of the profile's intervals are found.
 * Every point of these that lies inside the interval of 95 % also tells of all other parameters, contrasts too,
 * how far they may be off.  A sketch of the cost (sketch.h) leads the way on these looks.
 *
 * Parameters without a standard error because they stand on a bound, or near a value at which the model cannot
 * tell them from others (degeneracy.h), get these intervals as well; not those of which the model determines nothing
 * anywhere.
 */
#ifndef FIT_PROFILE_H
#define FIT_PROFILE_H

#include "fit_impl.h"

/* After fit_covariance(), fit_degeneracies() and the robust errors, variance as there: fills profile and interval of
 * f->res; keeps the paraboloid's errors in std_curvature, and takes those that do not hold out of std, std_robust and
 * the covariances.  With a robust loss: of the sum of squares that touches its cost at the minimum.  The objective is
 * left at some other point.
 * A lower cost met on the way is left in f->better (f->met_better = 1). */
enum fit_status fit_profile_errors(struct fit_job *f, double variance);

/* Intervals of 68 and 95 % of place k of the full vector, whatever its error: those of the paraboloid, inside the bounds,
 * where it holds, else of the profile likelihood, with NaN for an end that the data do not set. */
enum fit_interval_kind {
    FIT_INTERVAL_NONE, /* held, or not looked at: all ends NaN */
    FIT_INTERVAL_CURVATURE,
    FIT_INTERVAL_PROFILE
};
enum fit_interval_kind fit_profile_interval(const struct fit_result *r, size_t k, double lower[2], double upper[2]);

/* What these arrays hold when the profile is not looked at. */
void fit_profile_none(struct fit_result *r);

#endif
