/* covariance.h -- errors, correlations and what the data do not determine, from J^T J at the
 * optimum. */
#ifndef FIT_COVARIANCE_H
#define FIT_COVARIANCE_H

#include "objective.h"

struct fit_covariance_spec {
    const struct fit_objective *obj; /* after value and normal at theta */
    const double *theta, *lower, *upper; /* nparam */
    const double *B;                 /* nparam x nparam, from fit_objective_normal() */
    double variance;                 /* (J^T J)^-1 is multiplied by it */
};

/* Fills in res: std, covariance, correlation, at_bound, scale, eigenvalue, eigenvector, neigen,
 * nnull. Arrays of res are there and zero.  FIT_ERR_MEMORY, or FIT_ERR_NUMERIC when J^T J is not
 * finite. */
enum fit_status fit_covariance(const struct fit_covariance_spec *spec, struct fit_result *res,
                               struct fit_error *err);

#endif
