/* consensus.h -- consensus Monte Carlo: the posterior of the whole from those of its parts (Scott et al. 2016).
 *
 * With K shards y_s that are independent given the parameters z,
 *
 *     p(z | y) ~ prod_s p_s(z),      p_s(z) ~ p(z)^(1/K) p(y_s | z),
 *
 * exactly, when z are all parameters: nonlinear ones, linear ones and noise levels.  Each p_s is sampled by its own
 * chains in the coordinates q of posterior.h, linear parameters and noise integrated out, and these are then drawn
 * given q: draws of all z.  The prior's power covers every term: priors and Jacobians of the coordinates
 * (posterior.h, temper) and the priors of what is integrated out (collapsed.h).
 *
 * Combination, exact for normal p_s only: with means mu_s and covariances S_s of the draws of z, n_s effective ones,
 *
 *     L_s = (n_s - d - 2)/(n_s - 1) S_s^-1,   L = sum L_s,   mu = L^-1 sum L_s mu_s,   z | y ~ N(mu, L^-1)
 *
 * (the factor makes the precision unbiased, Anderson 2003, section 7.7).  Draw by draw: z = L^-1 sum L_s z_s keeps
 * some of the skewness, and for one shard it is the sample itself.
 *
 *     Q = sum (mu_s - mu)^T L_s (mu_s - mu)  ~ chi2 with (K - 1) d degrees of freedom
 *
 * when the shards are parts of one population.  What is not normal stays as a bias: of order sqrt(K / n) standard
 * deviations for n points in a shard, however much data there are.  correction.c corrects it.
 */
#pragma once

#include "posterior/posterior.h"

enum { FIT_CONSENSUS_RETRIES = 2, FIT_CONSENSUS_WORST = 3 };

struct fit_consensus_options {
    size_t shards, most_points;       /* shard.h; 0: by the rule */
    int flow;
    size_t chains, warmup, draws;     /* of every shard: 4, 500, 1500 when 0 */
    int adapt;                        /* 1: fewer iterations for shards below 10 000 points */
    size_t least_warmup, least_draws; /* then not fewer than these; 100, 200 when 0 */
    double target_accept;             /* 0.85 when 0 */
    unsigned max_depth;
    int diagonal;
    double max_r_hat, min_ess, max_divergence_rate; /* a shard is admitted with these: 1.05, 100, 0.05 when 0 */
    uint64_t seed;
    int threads;
    double max_seconds;               /* 0: no limit; else FIT_ERR_INTERRUPTED when they are over */
    size_t keep;                      /* draws of the combination, draw by draw; 0: none */
    int (*progress)(void *user, size_t done, size_t all); /* on the calling thread; nonzero: stop; or NULL */
    void *progress_user;
    const atomic_int *interrupt;

    /* Results of finished shards, from which a run can continue: of an earlier one with the same setup and options
     * (NULL: none), and a function for those of this one, called every save_seconds and at the end, on the calling
     * thread (state NULL: there was no memory). The result has the bits of an uninterrupted run. */
    const unsigned char *state;
    size_t state_size;
    void (*save)(void *user, const unsigned char *state, size_t size, int all);
    void *save_user;
    double save_seconds;
};

struct fit_shard_report {
    size_t npoint;
    double r_hat, ess, divergences, gradients, passes, seconds;
    unsigned retries;
    double distance, p; /* chi2 of the distance from all others together, nz degrees of freedom; NaN for one shard */
};

/* z: the coordinates q; linear parameters that are integrated out, in the order of unknowns, in the units of the
 * data; log sigma of units when the variance is integrated out. */
struct fit_consensus {
    size_t nshard, nq, nz;
    size_t chains, warmup, draws;   /* of a shard */
    struct fit_shard_report *shard; /* nshard */
    double *mean, *covariance;      /* nz, nz x nz: mu and L^-1 */
    double *kept;                   /* keep x nz, or NULL */
    double heterogeneity, freedom, p; /* Q */
    size_t nworst, worst[FIT_CONSENSUS_WORST]; /* shards with the smallest p, where it is below 1e-3 / nshard */
    size_t retries;                 /* of all shards */
    size_t resumed;                 /* shards that come from the state */
    double gradients, passes, seconds;

    /* By correction.c.  nparam numbers each: nonlinear parameters of the combination without correction,
     * and of the exact posterior; NaN when that was too dear. */
    double *theta_mean, *theta_sd, *exact_mean, *exact_sd;
    const char *exact;              /* "laplace", "nuts", or NULL */
    double exact_k;                 /* of Laplace's weights */
    double k, ess;                  /* of the combination as a proposal for the exact posterior */
    int raw;                        /* 1: the samples are the kept draws, not corrected */
    struct fit_arena storage_;
};

/* full: the posterior of all data; setup: its setup. mode and covariance: of full, in its coordinates.
 * FIT_ERR_NUMERIC: a shard that did not converge in three attempts, each with a higher target acceptance and a
 * longer warm-up (the shard is named; none is ever left out); FIT_ERR_INTERRUPTED. */
enum fit_status fit_consensus_run(const struct fit_posterior_setup *setup, const struct fit_posterior *full,
                                  const double *mode, const double *covariance,
                                  const struct fit_consensus_options *opt, struct fit_consensus **c,
                                  struct fit_error *err);
void fit_consensus_free(struct fit_consensus *c);

/* A complete draw of the parameters from z[nz]: theta, lin, sigma as from fit_posterior_draw(), with the integrated
 * ones from z. */
enum fit_eval fit_consensus_parameters(struct fit_posterior *full, size_t chain, const double *z, struct fit_rng *rng,
                                       double *theta, double *lin, double *sigma);
