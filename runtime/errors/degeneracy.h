/* degeneracy.h -- tests at the result of a fit the degeneracies that the compiler found in a model (fit/kernel.h). */
#pragma once

#include "leastsquares/fit_types.h"

/* Fills in res->degenerate, reason, variance and the combinations, and withholds the errors (NaN in std, covariance
 * and correlation) of the parameters that a degeneracy concerns. res is otherwise complete. variance: factor of the
 * inverse of res->normal_matrix. FIT_ERR_MEMORY, or FIT_ERR_NUMERIC when the matrix is not finite. */
enum fit_status fit_degeneracies(const struct fit_kernel *kernel, const struct fit_layout *layout,
                                 double variance, struct fit_result *res, struct fit_error *err);
