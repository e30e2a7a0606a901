/* derived.h -- errors of derived quantities h(theta, lin): var h = g^T C g, with the gradient g and any covariance C
 * that the fit reports.
 *
 * Where parameters of h have no error because the data do not determine them, h may still be determined: when g is
 * orthogonal to every undetermined direction (estimable functions: Searle, Linear Models (1971), section 5.4), or, near
 * a value at which some cannot be distinguished, when g lies in the span of the gradients of the combinations that
 * remain determined there. Otherwise there is no error, and a reason.
 */
#pragma once

#include "errors/profile.h"
#include "leastsquares/fit_types.h"

/* Values and gradients at res->theta, res->lin.  Memory: res->derived. */
enum fit_status fit_derived_values(const struct fit_kernel *kernel, const struct fit_layout *layout,
                                   struct fit_result *res, struct fit_error *err);

/* std, std_robust and reason of each, after all errors of parameters (profile.h) are final. */
enum fit_status fit_derived_errors(const struct fit_kernel *kernel, const struct fit_layout *layout,
                                   struct fit_result *res, struct fit_error *err);

/* Intervals of 68 and 95 %, with the width that fit_profile_interval() gives to those of parameters. For a monotonic
 * function of one parameter they are the images of that parameter's, also where it has no standard error (the
 * likelihood does not depend on the parametrisation: Cox & Hinkley, Theoretical Statistics (1974), section 9.3); for
 * others those of std. */
enum fit_interval_kind fit_derived_interval(const struct fit_result *r, const struct fit_derived_value *d,
                                            double lower[2], double upper[2]);
