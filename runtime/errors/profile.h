/* profile.h -- errors of a fit held against the cost itself.
 *
 * Standard errors take the cost for a paraboloid.  Where parameters replace one another only nearly (D0 and
 * D_offset for an exponent near 0) its valley bends or widens, or a bound stops the fit halfway along it, and
 * they are too small, be it by hundreds.  Where the derivative by a parameter vanishes at the minimum and not beside it
 * (an angle along which the flow is measured) they are too large.  What is told instead rests on the profile likelihood
 * (likelihood.h; Bates & Watts, Nonlinear Regression Analysis (1988), section 6.1):
 *
 *     a standard error is told when the interval of 95 % of the profile reaches, on either side, no further than
 *     MUCH = 1.5 times as far as that of the paraboloid (tables: 4 times), and on one of them at least that part of it;
 *     and when no other minimum is as low as 3 sigma (tables: 95 %) and farther away than 3 standard errors.  Else
 * there is none, and the interval, of several parts perhaps, stands in its place.
 *
 * All are looked at.  First by two values of the cost, two standard errors away along the paraboloid's axis, and where
 * these are much more than 4 above the least in units of the noise by a fit there.  For nonlinear parameters a sketch
 * of the cost (thin_profile.h) is asked; its curvature along the axis is made that of the data by values close to the
 * minimum, and two values of the data tell whether it is to be trusted.  Where the rise is not about 4 the ends of the
 * profile's intervals are found.  Then a survey (survey.h) looks for valleys and minima elsewhere.  Every point that is
 * met inside an interval of 95 % tells of all other parameters, contrasts too, how far they may be off (evidence.h):
 * what it speaks against is looked at again.  Each profile learns from those before it but for the last few, which may
 * be on their way at the same time (crew.h); which these are does not depend on the number of threads.
 *
 * Parameters without a standard error because they stand on a bound, or near a value at which the model cannot
 * tell them from others (degeneracy.h), get these intervals as well; not those of which the model determines nothing
 * anywhere.
 */
#pragma once

#include "leastsquares/fit_impl.h"

/* Times as far as the paraboloid's interval, or as little: its error does not hold. */
#define FIT_PROFILE_MUCH 1.5

/* After fit_covariance(), fit_degeneracies() and the robust errors, variance as there: fills profile and interval of
 * f->res; keeps the paraboloid's errors in std_curvature, paraboloid and paraboloid_robust, and takes those that do not
 * hold out of std, std_robust and the covariances.  With a robust loss: of the sum of squares that touches its cost at
 * the minimum.  The objective is left at some other point. A lower cost met on the way is left in f->better
 * (f->found_lower = 1). */
enum fit_status fit_profile_errors(struct fit_ls *f, double variance);

enum fit_interval_kind {
    FIT_INTERVAL_NONE, /* held, or not looked at: all ends NaN */
    FIT_INTERVAL_CURVATURE,
    FIT_INTERVAL_PROFILE
};
/* NULL, "curvature", "profile" */
const char *fit_interval_word(enum fit_interval_kind kind);

/* Intervals of 68 and 95 % of place k of the full vector, whatever its error: those of the paraboloid, inside the
 * bounds, where it holds, else of the profile likelihood, with NaN for an end that the data do not set.  Where
 * residuals share noise they are as much wider as the robust error is; there are none where that is not known. */
enum fit_interval_kind fit_profile_interval(const struct fit_result *r, size_t k, double lower[2], double upper[2]);

/* Takes the error of place e out of std, std_robust and the covariances. */
void fit_profile_withhold(struct fit_result *r, size_t e);

/* The largest of interval[].wider. */
double fit_profile_widest(const struct fit_result *r);

/* What these arrays hold when the profile is not looked at. */
void fit_profile_none(struct fit_result *r);
