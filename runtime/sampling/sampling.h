/* sampling.h -- from a least-squares fit to a sample of the posterior, with its diagnostics.
 *
 *     mode of the posterior (Newton, from the fit)  ->  laplace: draws of a t approximation, importance weights
 *                                                   ->  nuts: chains around the mode
 *                                                   ->  consensus: chains for each shard, their combination
 *                                                       (consensus.h), importance weights with all data
 *     -> complete draws: nonlinear parameters, linear ones and noise of every group -> convergence -> verdict
 *
 * Columns of a draw, nsampled = nparam + ngroup nlinear + ngroup, and those that follow from them:
 *     theta[nparam]; lin[g * nlinear + q] in the units of the data; sigma[g] (1 when weights are 1/variance);
 *     the values of derived quantities (model/derived.h).
 */
#pragma once

#include "consensus/consensus.h"
#include "leastsquares/fit_types.h"
#include "posterior/posterior.h"
#include "sampler/diagnostics.h"
#include "sampler/sampler.h"

enum fit_sampling_method { FIT_SAMPLING_LAPLACE, FIT_SAMPLING_NUTS, FIT_SAMPLING_CONSENSUS };

enum fit_verdict {
    FIT_VERDICT_GOOD,       /* converged; use it */
    FIT_VERDICT_DOUBTFUL,   /* a few divergences, a bound touched, errors of means above 5 % of the deviations */
    FIT_VERDICT_FAILED      /* not converged: do not use the numbers */
};

enum fit_resume {
    FIT_RESUME_NO,
    FIT_RESUME_UNFINISHED, /* a checkpoint of another run, a damaged or a finished one is written over */
    FIT_RESUME       /* a checkpoint of another run is an error */
};

enum fit_sampling_end {
    FIT_SAMPLING_COMPLETE,  /* every draw that was asked for is there */
    FIT_SAMPLING_TIME,      /* ended by max_seconds */
    FIT_SAMPLING_STOPPED    /* ended by *interrupt or the progress function */
};

struct fit_chain_progress {
    size_t iteration; /* complete ones, warm-up included */
    size_t draws;
    double step;
    double divergences; /* after the warm-up */
    double accept;      /* mean over the draws; NaN: none yet */
    const struct fit_draw_stats *stats; /* of the draws */
};

/* Reported between slices of sampling, on the calling thread. */
struct fit_sampling_progress {
    double done, total; /* iterations of all chains, warm-up included */
    double resumed;     /* of them, made by an earlier run */
    double seconds;     /* since sampling began */
    double step;        /* mean step size of the chains */
    double divergences; /* after the warm-up */
    double gradients;
    size_t chains, warmup;
    const struct fit_chain_progress *chain;
};
typedef int fit_sampling_progress_fn(void *user, const struct fit_sampling_progress *p); /* nonzero: stop */

struct fit_sampling_options {
    enum fit_sampling_method method;
    size_t chains, warmup, draws; /* 4, 300, 1000 when 0; others: draws in all, 2000 when 0 */
    double target_accept;         /* when 0: 0.85, and 0.7 for a single coordinate */
    unsigned max_depth;           /* 10 when 0 */
    int diagonal;                 /* 1: diagonal metric */
    uint64_t seed;
    int threads;                  /* 0: the default of tile_sums.h */
    double max_seconds;           /* 0: no limit; chains end with the draws so far, other methods without a result */
    double max_r_hat, min_ess, max_divergence_rate, min_bfmi; /* for the verdict; 1.01, 400, 0, 0.3 when 0 */

    /* Checkpoints of chains: the file (NULL: none) is written every checkpoint_seconds (60 when 0), at ends of
     * adaptation windows and when sampling ends; resume: continue from it if it exists. The draws are then those of
     * a run that was never interrupted. */
    const char *checkpoint;
    double checkpoint_seconds;
    enum fit_resume resume;
    const char *run_id;   /* of the run that writes the file; NULL: not told */
    const char *identity; /* what the file must agree with: see checkpoint.h, fit_sampling_identity */

    struct fit_consensus_options consensus; /* of that method: seed, threads, keep, progress, interrupt are set here */
    int uncorrected; /* consensus: 1: the combination draw by draw, as it is: for studies of its bias */

    fit_sampling_progress_fn *progress;
    void *progress_user;
    const atomic_int *interrupt;
};

struct fit_column_summary {
    struct fit_convergence c;      /* mean, sd, R-hat, effective sizes, errors */
    double q025, q05, median, q95, q975;
    double mcse_median;
    double sd_robust, q025_robust, q975_robust; /* for correlated noise: of x_robust; NaN: the fit has no such errors */
    int heavy; /* 1: a tail without variance, sd is no measure (k of the tail above 0.5); 2: nor is the mean (0.7) */
    int constant;                  /* 1: fixed; the rest is its value and NaN */
    unsigned prior_from[2]; /* as in struct fit_posterior_level; then a or b of the prior is NaN */
    struct fit_prior prior;
    double contraction;            /* 1 - (sd / prior sd)^2 by the quantiles of the prior; NaN: improper */
    double near_lower, near_upper; /* part of the draws within sd/4 of a bound */
};

/* 1 where the prior is at least as informative as the data; far below 0 quartiles do not represent that prior; NaN:
 * unknown. */
static inline int fit_prior_decides(double contraction)
{
    return contraction < 0.5 && contraction > -0.5;
}

enum { FIT_MODES = 8 }; /* of a posterior that are told apart, at most */

struct fit_samples {
    enum fit_sampling_method method;
    size_t nparam, nlinear, ngroup, nsampled, ncolumn, ncoordinate;
    size_t chains, draws, warmup;  /* draws of each chain: the fewest of all when it was ended early */
    enum fit_sampling_end end;
    int complete;                  /* 1: end is FIT_SAMPLING_COMPLETE */
    double *x;                     /* chains x draws x ncolumn */
    double *q;                     /* chains x draws x ncoordinate */
    double *lp;                    /* chains x draws: log density in coordinates */
    double *log_weight;            /* laplace, consensus: draws, log of the normalised weight of the proposal that a
                                      draw is a copy of; else NULL */
    struct fit_draw_stats *stats;  /* chains x draws; NULL but for nuts */
    struct fit_chain_health *health; /* chains; NULL but for nuts */
    struct fit_column_summary *column; /* ncolumn */
    char (*coordinate_name)[64];   /* ncoordinate */
    double *mode, *mode_covariance;  /* ncoordinate, squared: of the normal approximation at the mode */
    size_t nmode;                  /* modes that are known, the first is `mode` (modes.c); 0: not looked for */
    double *modes, *mode_covariances; /* nmode x those */
    double mode_part[FIT_MODES];   /* of the mass */
    double mode_k;                 /* nuts: tail of the weights by which they were found */
    double mode_missed;            /* nuts: fraction of the mass in modes without a chain */
    int modes_apart;               /* nuts: chains stay in their modes; draws were combined by mode_part */
    char modes_text[320];          /* "w 1.1 (31 %), 5.18 (69 %)" */
    struct fit_convergence *within; /* ncolumn: modes_apart: of the draws within their modes */
    double *covariance;            /* ncolumn x ncolumn of the draws */
    double *x_robust, *covariance_robust; /* as x and covariance, for correlated noise (widen.c), NaN where
                                             the fit has no such errors; NULL: it has none at all */
    double *inverse_metric;        /* nuts: chains x ncoordinate^2 (dense) or chains x ncoordinate */
    double pareto_k, log_evidence; /* laplace, consensus; NaN for nuts */
    double weight_ess;             /* laplace, consensus */
    struct fit_consensus *consensus; /* NULL but for that method */
    size_t starts;                 /* from which the mode was looked for; above 1: Pathfinder was needed */
    char start_text[160];          /* why; "" when there was one */
    size_t weak;                   /* directions of the Hessian that the posterior does not determine */
    size_t nbound;                 /* linear parameters sampled because a bound is near */
    char mirror_text[400];         /* of mirror images (mirror.c), or "" */
    int mirror_apart, mirror_missed; /* 1: chains are in different images; another image has a share of the mass */
    size_t folded;                 /* draws that were replaced by their mirror image in x, but not in q */
    double other_mass; /* part of the mass in another mode that was found, by normal approximations; 0: none */
    char other_text[200];          /* where that is */
    size_t outside;                /* draws of integrated linear parameters outside their bounds */

    double worst_r_hat, least_ess, divergences, saturated, least_bfmi; /* of all columns and chains */
    size_t worst_column;           /* of worst R-hat */
    char divergence_text[128]; /* where divergences are: "where D0 is high (mean 2.1 sd above that of all draws)", or ""
                                */
    enum fit_verdict verdict;
    char verdict_text[1024];       /* one or a few sentences, in words */
    double gradients, passes;
    uint64_t seed;
    int threads;
    int dense;                     /* metric */
    double target_accept;
    unsigned max_depth;
    double resumed;                /* iterations of all chains, draws, shards that come from a checkpoint */
    char begun_anew[640];          /* why the checkpoint that was there was not gone on with, or "" */
    char checkpoint_error[256];    /* why the last checkpoint could not be written, or "" */
    struct {
        double mode, warmup, sampling, summary, total;
    } seconds;
    struct fit_arena storage_;
};

/* fit: the least-squares result at the setup's point, for scales of the coordinates, or NULL. setup->chains and
 * ->threads are chosen here. FIT_OK also when the verdict is bad or it was ended early after some draws;
 * FIT_ERR_INTERRUPTED before that (there is a checkpoint if the chains had begun). */
enum fit_status fit_sample(const struct fit_posterior_setup *setup, const struct fit_result *fit,
                           const struct fit_sampling_options *opt, struct fit_samples *out,
                           struct fit_error *err);
void fit_samples_free(struct fit_samples *s);

/* The lines of struct fit_sampling_options.identity.  data: SHA-256 of the file.  NULL: out of memory; the caller
 * frees. */
char *fit_sampling_identity(const struct fit_posterior_setup *setup, const struct fit_sampling_options *opt,
                            const char *data);

/* "D0", "contrast[2]", "sigma[0]", "half_life"; without [] when there is one group.  name: at least 64 characters. */
void fit_samples_name(const struct fit_kernel *k, size_t ngroup, size_t column, char *name);

/* "complete", "time_limit", "interrupted" */
const char *fit_sampling_end_word(enum fit_sampling_end e);
const char *fit_sampling_method_word(enum fit_sampling_method m); /* "nuts", "laplace", "consensus" */
const char *fit_verdict_word(enum fit_verdict v); /* "good", "doubtful", "failed" */
enum fit_verdict fit_verdict_find(const char *word); /* doubtful, for any other word */
