/* sampling_impl.h -- the parts of sampling.c. */
#pragma once

#include "sampler/checkpoint.h"
#include "sampling/sampling.h"

/* One call of fit_sample. */
struct fit_sampling_run {
    const struct fit_sampling_options *opt;
    struct fit_posterior *p;
    struct fit_samples *s;
    int side_by_side;     /* chains at the same time, each on a thread */
    int apart;            /* ranks have chains, or draws, each */
    size_t groups;        /* 1, or so many groups of ranks have chains each */
    uint64_t plain_rates; /* of fit_posterior_setup */
    double begin;
    int parted;           /* chains, draws are divided between ranks now */
    double at_parting, passes_of_others;
    double at_opening; /* passes before the sampling of a resumed run, whose checkpoint counts the first ones */
    double *other;   /* nother coordinates: where the search for the mode ended elsewhere; NULL: nowhere */
    size_t nother;

    /* chains: chains.c */
    struct fit_sampler *sampler;
    struct fit_checkpoint checkpoint; /* what was read; empty when nothing was */
    int resumed;
    struct fit_chain_progress *chain;
    size_t windows; /* ends of windows that all chains have passed */
    double saved;   /* clock at the last checkpoint */
    int timed_out;
};

/* Between the two calls, with apart, ranks evaluate the density separately. Passes over the data of all ranks so
 * far; while they are separate this is a meeting (ranks/ranks.h). With those of the checkpoint they are the passes of a
 * run that was never interrupted: what is made again is counted once. */
void fit_sampling_part(struct fit_sampling_run *m);
void fit_sampling_join(struct fit_sampling_run *m);
double fit_sampling_passes(const struct fit_sampling_run *m);

/* Groups of ranks that have chains each get to know their shares of the sums; nothing where there are none. */
enum fit_status fit_sampling_share(struct fit_sampling_run *m, struct fit_error *err);

/* Reads the checkpoint when the options say so and there is one; errors of fit_checkpoint_read. */
enum fit_status fit_sampling_resume(struct fit_sampling_run *m,
                                    const struct fit_posterior_setup *setup, struct fit_error *err);

/* Chains from the mode or from the checkpoint; fills q, lp, stats, inverse_metric, draws, end.
 * FIT_ERR_INTERRUPTED: ended during the warm-up. */
enum fit_status fit_sampling_chains(struct fit_sampling_run *m, struct fit_error *err);
void fit_sampling_close(struct fit_sampling_run *m);

/* Writes a checkpoint if one is wanted: the point of the posterior, its mode, and size bytes of state (NULL: there
 * was no memory for it). The reason of a failure is in checkpoint_error of the samples. */
void fit_sampling_save(struct fit_sampling_run *m, unsigned char *state, size_t size, int finished);

/* A posterior at the setup's point, or at the checkpoint's, with plain_rates of the run. */
enum fit_status fit_sampling_open(struct fit_sampling_run *m, const struct fit_posterior_setup *given,
                                  struct fit_error *err);

/* mode, mode_covariance, weak, starts and start_text of the samples, next to the fit (NULL: there is none) or from
 * several starts; opens the posterior again when its rates need plain coordinates. */
enum fit_status fit_sampling_mode(struct fit_sampling_run *m, const struct fit_posterior_setup *setup,
                                  const struct fit_result *fit, struct fit_error *err);

/* nmode, modes, mode_covariances of the samples: modes.c. */
enum fit_status fit_sampling_find_modes(struct fit_sampling_run *m, const struct fit_result *fit,
                                        struct fit_error *err);

/* laplace, with several modes: draws from all of them. */
enum fit_status fit_sampling_laplace_modes(struct fit_sampling_run *m, struct fit_error *err);

/* nuts, with several modes, when the draws are complete: combines those of chains that stay in their modes. */
enum fit_status fit_samples_weigh(struct fit_sampling_run *m, struct fit_error *err);

/* Fills x_robust, covariance_robust and the robust fields of the columns; fit: NULL when there is none. */
enum fit_status fit_samples_robust(struct fit_samples *s, const struct fit_result *fit, struct fit_error *err);

/* Moves draws to one side of exact mirrors, and sets mirror_text, folded ... */
enum fit_status fit_samples_mirrors(struct fit_samples *s, const struct fit_posterior *p, struct fit_error *err);

/* The end of max_seconds, on the clock of fit_seconds(); 0: no limit. */
double fit_sampling_deadline(const struct fit_sampling_run *m);

/* Equally weighted draws q, lp of s by systematic resampling of l, and the diagnostics of the weights. */
struct fit_laplace;
enum fit_status fit_samples_resample(struct fit_samples *s, const struct fit_laplace *l, struct fit_error *err);

/* The method consensus, given mode, mode_covariance and room for the draws: consensus, q, lp, pareto_k, ...; and x
 * where the combination is not to be corrected. */
enum fit_status fit_sampling_consensus(struct fit_sampling_run *m, struct fit_error *err);

/* Fills column, covariance, health, worst_*, verdict from x, q, lp and stats. */
enum fit_status fit_samples_summarise(struct fit_samples *s, const struct fit_posterior *p,
                                      const struct fit_sampling_options *opt,
                                      struct fit_error *err);
