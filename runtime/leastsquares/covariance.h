/* covariance.h -- errors, correlations and undetermined directions, from J^T J at the optimum. */
#pragma once

#include "leastsquares/objective.h"

struct fit_covariance_spec {
    const struct fit_objective *obj; /* after value and normal at theta */
    const double *theta, *lower, *upper; /* nparam */
    const double *B;                 /* nparam x nparam, from fit_objective_normal() */
    double variance;                 /* (J^T J)^-1 is multiplied by it */
};

/* Fills in res: std, covariance, correlation, at_bound, scale, eigenvalue, eigenvector, neigen, nnull, overwriting
 * these arrays. FIT_ERR_MEMORY, or FIT_ERR_NUMERIC when J^T J is not finite. */
enum fit_status fit_covariance(const struct fit_covariance_spec *spec, struct fit_result *res,
                               struct fit_error *err);

/* The spread of some nonlinear parameters that the data allow: eigenvectors of res->normal_matrix over them. */
struct fit_spread {
    size_t p, m, null;      /* all parameters; free ones; undetermined directions */
    size_t *index;          /* m */
    double *V, *w, *d;      /* rows: eigenvectors of the matrix scaled by 1/(d_i d_j); eigenvalues; scale */
    double *work;
};

void fit_spread_new(struct fit_spread *s, size_t p, struct fit_arena *a); /* of storage from a */

/* The spread of the parameters marked in free[p].  Returns 0, or 1 when the matrix is not finite. */
int fit_spread_set(struct fit_spread *s, const struct fit_result *res, const unsigned char *free);

/* g^T S^- g for a gradient over all parameters (components of parameters that are not free do not count): NaN when
 * more than `along` of g (in standard errors) is along undetermined directions. */
double fit_spread_variance(const struct fit_spread *s, const double *gradient, double along);
