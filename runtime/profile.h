/* profile.h -- errors of a fit held against the cost itself.
 *
 * Standard errors take the cost for a paraboloid.  Where parameters replace one another only nearly (D0 and
 * D_offset for an exponent near 0) its valley bends or widens, or a bound stops the fit halfway along it, and
 * they are too small.  Of a strongly correlated parameter two values of the cost are looked at, two standard
 * errors away on the valley's axis; where they are not 4 above the least in units of the noise -- or for all
 * parameters when one stands on a bound or is open over the box -- the fit is repeated with the parameter held
 * four standard errors away: chi2 must rise by 16.  Where it rises by less than 0.7 of that, the
 * profile error is widened until it does (likelihood profile: Bates & Watts, Nonlinear Regression Analysis (1988),
 * section 6.1); where the profile stays flat up to a bound of the parameter, it is not determined.
 */
#ifndef FIT_PROFILE_H
#define FIT_PROFILE_H

#include "fit_impl.h"

/* After fit_covariance(), variance as there: fills f->res->profile; std and covariance stay those of the
 * paraboloid.  For pairs of frames, least squares only.  The objective is left at some other point. */
enum fit_status fit_profile_errors(struct fit_job *f, double variance);

#endif
