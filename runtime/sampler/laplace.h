/* laplace.h -- normal approximation at a mode, and draws from it with importance weights.
 *
 * Proposal: multivariate t with 7 degrees of freedom, located at the mode, with the inverse of the
 * Hessian as scale; weights smoothed (psis.h).  One refit of location and scale to the weighted
 * draws when the shape k is above 0.5.
 */
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "sampler/target.h"

#include <stdint.h>

/* Hessian of -log density at q by central differences of the gradient, 2 n evaluations.
 * scale[n]: standard deviations, roughly; steps are 1e-3 of them.  hessian: n x n, symmetric.
 * covariance: its inverse, n x n; eigenvalues (of the matrix scaled to a unit diagonal) below 1e-8
 * of the largest are raised to that; weak <- how many; direction[n] (may be NULL) <- the
 * eigenvector of the smallest one.  FIT_ERR_NUMERIC: no finite gradient at a step. */
struct fit_hessian {
    double *hessian, *covariance, *direction;
    size_t weak;
};
enum fit_status fit_hessian_at(const struct fit_target *t, const double *q, const double *scale,
                               struct fit_hessian *h, struct fit_error *err);

struct fit_laplace_options {
    uint64_t seed;
    size_t draws; /* S: 2000 when 0 */
    int divided;  /* 1: draws are divided between the ranks of a run (ranks/ranks.h) */
    int threads;  /* evaluations at the same time, each with its own `chain` number; 0 or 1: one */
    int no_refit; /* 1: the first proposal stands */
    double deadline; /* of fit_seconds(): FIT_ERR_INTERRUPTED when it comes before the last draw; 0: none */

    /* Densities found so far, as bytes, passed to save (NULL: not needed) on the calling thread every save_seconds
     * (60 when 0), when the run is interrupted, and at its end (all: 1). state: such bytes of a run with the same
     * target, mode and options, which is continued with the same results; NULL: from the beginning. */
    void (*save)(void *user, const unsigned char *state, size_t size, int all);
    void *save_user;
    double save_seconds;
    const unsigned char *state;
    size_t state_size;
};

struct fit_laplace {
    size_t n, draws;
    double *q;                 /* draws x n, row by row */
    double *lp;                /* log density; -infinity where rejected */
    double *log_weight;        /* smoothed, normalised */
    double *location;          /* n: of the proposal used */
    double *scale;             /* n x n */
    double k, threshold;       /* shape of the tail; reliable when k < threshold */
    double ess;                /* effective number of draws */
    double log_evidence;       /* log of the mean weight (before smoothing): it lacks the same constants as the
                                * density (collapsed.h) */
    double *mean, *covariance; /* n, n x n: weighted moments */
    size_t rejected, evaluations;
    size_t resumed; /* densities that come from opt->state */
    int refits;
    struct fit_arena storage_;
};

/* FIT_ERR_DATA: opt->state is of another number of draws or coordinates. */
enum fit_status fit_laplace_run(const struct fit_target *t, const double *mode,
                                const double *covariance, const struct fit_laplace_options *opt,
                                struct fit_laplace *out, struct fit_error *err);
/* density[nq] <- log density of the proposal of a run (its location and scale) at nq points q, row by row.
 * FIT_ERR_MEMORY; FIT_ERR_NUMERIC: no scale. */
enum fit_status fit_laplace_density(const struct fit_laplace *l, size_t nq, const double *q, double *density,
                                    struct fit_error *err);

void fit_laplace_free(struct fit_laplace *l);
