/* derived_profile.h -- profile likelihood of a derived quantity h(theta) of several parameters.
 *
 * The least cost with h held at v is that of the minimum of
 *
 *     cost(theta) + 1/2 s^2 L ((h(theta) - v) / e)^2,      s^2 the variance of residuals, e the standard error of h,
 *
 * at v' = h(theta) there: whatever has the same h and a lower cost would have been a lower minimum (a penalty whose
 * minima are on the profile for any weight L: Courant, Bull. Am. Math. Soc. 49 (1943) 1).  So the points (v', rise) are
 * exact, and v is chosen for v' to come where it is wanted; L is large enough for minima of a bent valley to stay near.
 *
 * Linear parameters are eliminated for every theta, and so must have no part in h.
 */
#pragma once

#include "leastsquares/fit_impl.h"

/* After fit_derived_errors(), variance as there; d: place in res->derived.  The objective is left at some other point.
 * out->text says why there is none.  FIT_ERR_MEMORY, or FIT_ERR_INTERRUPTED. */
enum fit_status fit_derived_profile(struct fit_ls *f, size_t d, double variance, struct fit_likelihood *out);
