/* pathfinder.h -- a start for chains where least squares gave none.
 *
 * Single-path Pathfinder (Zhang, Carpenter, Gelman & Vehtari 2022): L-BFGS from a point towards the
 * mode; at every iterate a normal approximation from the secant pairs; the one with the largest
 * evidence lower bound wins.
 */
#pragma once

#include "base/status.h"
#include "sampler/target.h"

#include <stdint.h>

struct fit_pathfinder_options {
    uint64_t seed;
    size_t chain;          /* handed to the target, and part of the key of the random numbers */
    size_t max_iterations; /* 200 when 0 */
    size_t history;        /* secant pairs; 6 when 0 */
    size_t elbo_draws;     /* 10 when 0 */
};

/* From q[n].  mean[n], covariance (n x n): the best approximation; mode[n]: last point of the
 * path; draw[n]: one draw from the approximation; elbo: its evidence lower bound.
 * FIT_ERR_NUMERIC: no finite density at q, or no step improved it. */
struct fit_pathfinder {
    double *mean, *covariance, *mode, *draw;
    double elbo;
    size_t iterations, evaluations;
};
enum fit_status fit_pathfinder_run(const struct fit_target *t, const double *q,
                                   const struct fit_pathfinder_options *opt,
                                   struct fit_pathfinder *out, struct fit_error *err);
