/* speckle_errors.h -- the effect of speckle noise on the errors of a fit, and the test of fit under it.
 *
 * Errors: H^-1 S H^-1, H = J^T W J and S the covariance of the scores J^T W r (speckle/noise.h), groups independent.
 *
 * Test of fit: B_k = sum of weighted residuals over bins of lag and age, of each group and of all together. With X =
 * phi^T W J, the field of a bin without the part that the fit absorbs is P_k = phi_k - sum_p (X H^-1)_kp J_p, Q =
 * Cov[P_k, P_l], and B^T Q^+ B is distributed as chi2 with rank Q degrees of freedom (a score test: Rao, Proc. Camb.
 * Phil. Soc. 44 (1948) 50).
 */
#pragma once

#include "errors/scores.h"

struct fit_speckle_kernel;

/* Probability of the test of fit below which residuals are not such noise, and the name of that case. */
#define FIT_SPECKLE_MISFIT 1e-4
#define FIT_SPECKLE_NOT_THESE "their structure is not that of speckle noise of the model"

enum fit_speckle_verdict {
    FIT_SPECKLE_NONE,  /* not applicable: `why` */
    FIT_SPECKLE_COARSE, /* correlations are shorter than the blocks of frames by which scores are summed */
    FIT_SPECKLE_WHITE, /* values that share a frame are not correlated */
    FIT_SPECKLE_NOISE  /* S is that of speckles */
};

struct fit_speckle_errors {
    enum fit_speckle_verdict verdict;
    const char *why;
    int well;  /* 1: blocks of frames resolve the decay well enough for errors */
    double *S; /* ngroup x P x P: covariance of the scores of each group, over (theta, lin); to be freed */
};

/* Could the closed form apply to this model's noise? */
int fit_speckle_possible(const struct fit_objective *obj);

/* obj, scores (with fields) at the optimum, or near it; D: H^-1 over (theta, unknowns), 0 where one is held;
 * variance: of weighted residuals; linear: 1 without a robust loss. Fills res->speckle and res->speckle_test.
 * FIT_ERR_MEMORY.
 *
 * At efficient estimates, made: the fit absorbs their equations with derivatives F and independent rows u: D is the
 * covariance of the estimates, and F^T u replaces the scores J^T W r. shift: the difference from the residuals of
 * scores to these estimates. */
struct fit_speckle_spec {
    struct fit_objective *obj;
    const struct fit_scores *scores;
    const double *D;
    double variance;
    int linear;
    struct fit_noise_model noise_model;
    const struct fit_speckle_kernel *made; /* NULL: least squares */
    const double *shift;                   /* ngroup x P: parameters, less those of the residuals; NULL: 0 */
};
enum fit_status fit_speckle_errors(const struct fit_speckle_spec *spec, struct fit_result *res,
                                   struct fit_speckle_errors *out, struct fit_error *err);
