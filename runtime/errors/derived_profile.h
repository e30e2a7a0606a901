/* derived_profile.h -- profile likelihood of a derived quantity h(theta) of several parameters.
 *
 * The minimum of
 *
 *     cost(theta) + 1/2 s^2 L ((h(theta) - v) / e)^2,      s^2 the variance of residuals, e the standard error of h,
 *
 * has the lowest cost for its own value v' = h(theta): any point with the same h and a lower cost would have been a
 * lower minimum (a penalty whose minima are on the profile for any weight L: Courant, Bull. Am. Math. Soc. 49 (1943)
 * 1). The points (v', rise) are therefore exact, and v is chosen to bring v' where it is wanted; L is large enough to
 * keep the minima of a curved valley close.
 *
 * Linear parameters are eliminated for every theta, and must therefore not occur in h.
 */
#pragma once

#include "leastsquares/fit_impl.h"

/* After fit_derived_errors(), variance as there; d: index in res->derived. The objective is left at another point.
 * out->text says why there is none. FIT_ERR_MEMORY, or FIT_ERR_INTERRUPTED. */
enum fit_status fit_derived_profile(struct fit_ls *f, size_t d, double variance, struct fit_likelihood *out);
