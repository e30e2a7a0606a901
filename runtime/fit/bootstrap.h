/* bootstrap.h -- errors and intervals from fits to replicated data.
 *
 *   parametric  values of the model at the result, plus independent normal noise of the standard deviation of the
 *               residuals: the assumptions of standard errors without their linearisation (Efron 1979).
 *   block       the data themselves, weighted. Clusters of successive frames are drawn with replacement, as many as
 *               there are; with n_a the number of times that cluster a was drawn, a pair of frames of the clusters a
 *               and b has the weight (n_a + n_b) / 2, inside one cluster (1 + n_a) / 2, and the shift of the result is
 *               doubled, because weights 1 + (n_a - 1) + (n_b - 1) could be negative. Noise that frames share is drawn
 *               with them. The variance is that of the sums S_c of sandwich.h, without the second sum: for noise of
 *               single pairs it is twice too large (errors by sqrt(2)), and less so the more the noise is that of
 *               frames. Products n_a n_b, the pigeonhole bootstrap (Owen, Ann. Appl. Statist. 1 (2007) 386), would
 *               make it three times too large. Rows of a table: single rows are drawn, or blocks of `length`
 *               neighbours.
 *
 * Every replicate is a separate fit that starts from the result. Random numbers are a function of seed, replicate and
 * position (rng.h), and replicates are fitted in parallel, each by one thread: the same bits for any number of threads.
 */
#pragma once

#include "leastsquares/fit_types.h"

struct fit_bootstrap_spec {
    enum fit_bootstrap_kind kind;
    size_t n;      /* replicates, at least 2 */
    uint64_t seed;
    size_t length; /* frames of a cluster; 0: as the robust errors had them, or 1; rows of a block; 0: 1 */
    int joint;     /* 1: the same clusters for all groups */
    int threads;   /* 0: one per core */
    double most_mb; /* for replicas of the data */
};

struct fit_bootstrap {
    enum fit_bootstrap_kind kind;
    size_t n, good, nfull; /* replicates; those that converged */
    size_t length;         /* block: frames, or rows, of a cluster */
    double *draw;          /* good x nfull: theta, then lin; in the order of replicates */
    double *mean, *std;    /* nfull; NaN where a parameter was held */
    double *quantile;      /* nfull x 4: 2.5, 16, 84, 97.5 % */
    double seconds;
    struct fit_arena storage_;
};

/* options: those of the fit that led to res. FIT_ERR_CONFIG for streamed data, FIT_ERR_INTERRUPTED, FIT_ERR_MEMORY,
 * FIT_ERR_NUMERIC when fewer than half of the replicates converge. */
enum fit_status fit_bootstrap(const struct fit_kernel *kernel, const struct fit_dataset *ds,
                              const struct fit_options *options, const struct fit_result *res,
                              const struct fit_bootstrap_spec *spec, struct fit_bootstrap *out, struct fit_error *err);
void fit_bootstrap_free(struct fit_bootstrap *b);
