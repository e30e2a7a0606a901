/* sandwich.h -- errors that are valid for any noise.
 *
 * (J^T W J)^-1 assumes independent errors of all values. Those of pairs of frames are not independent: pairs that share
 * a frame, or frames so close that they see the same speckles, have correlated errors, and there are far more pairs
 * than independent pieces of information. The sandwich
 *     H^-1 J H^-1,   H = J^T W J,   J = sum of g_d g_e^T over all values d, e whose errors may be correlated
 * (g the scores, scores.h) is consistent for any such noise (Huber 1967; White, Econometrica 48 (1980) 817).
 *   Pairs: d and e count when they have a cluster of successive frames in common (dyadic clusters: Fafchamps &
 *     Gubert, J. Dev. Econ. 83 (2007) 326; Cameron & Miller 2014; Aronow, Samii & Assenova, Political Analysis 23
 *     (2015) 564). The number of frames in a cluster follows from the correlation of the scores (Andrews,
 *     Econometrica 59 (1991) 817, eq. 6.4 for Bartlett's weights, to which clusters at all positions are equivalent).
 *   Rows of a table: HC3 (MacKinnon & White, J. Econometrics 29 (1985) 305).
 */
#pragma once

#include "errors/scores.h"

struct fit_sandwich_spec {
    struct fit_objective *obj;           /* after value and normal at theta */
    const double *theta, *lower, *upper; /* nparam */
    const double *B;                     /* nparam x nparam, from fit_objective_normal() */
    double variance;                     /* as in covariance.h */
    struct fit_score_loss loss;
    double curve;                        /* robust loss: mean of psi'; else 1 */
    const char *aliased;                 /* parameter that the frames cannot distinguish from its aliases; NULL: none */
    size_t length;                       /* frames of a cluster; 0: from the scores */
    struct fit_noise_model noise_model;
    int joint;                           /* 1: clusters of frames of all groups together */
};

/* After fit_covariance(): fills res->std_robust, covariance_robust, robust and residual. NaN where the standard
 * error is NaN, 0 where it is 0. FIT_ERR_MEMORY, FIT_ERR_NUMERIC. */
enum fit_status fit_sandwich(const struct fit_sandwich_spec *spec, struct fit_result *res, struct fit_error *err);

/* 1: residuals share so much noise that the standard errors are invalid. */
int fit_sandwich_shared(const struct fit_robust *r);
