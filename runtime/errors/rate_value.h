/* rate_value.h -- the information of the data on a rate r(t) = A t^E + C when they do not determine A, E and C.
 *
 * Near E = 0 any two of the three compensate for the third; the rate itself at a time of the measurement, and its slope
 * along ln t, remain determined:
 *     r = A s + C,   dr/dln t = A E s,   s = t^E.
 * They are reported at the time at which the error of r is smallest. Errors by the propagation of J^T J through
 * generalised inverses, as in degeneracy.c: NaN where undetermined directions contribute.
 */
#pragma once

#include "leastsquares/fit_types.h"

/* Fills res->rate, one for each power rate of a kernel of pairs with three free parameters (nrate of them), from
 * normal_matrix, eigenvalues, errors and profiles of *res.  variance: as for the covariance. */
enum fit_status fit_rate_values(const struct fit_kernel *kernel, const struct fit_layout *layout, double variance,
                                struct fit_result *res, struct fit_error *err);
