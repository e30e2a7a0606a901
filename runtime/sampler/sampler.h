/* sampler.h -- several chains, their draws, and their serialisation for a checkpoint.
 *
 *     fit_sampler_new(&target, &(struct fit_sampler_options){.chains = 4, .draws = 1000, ...}, ...)
 *     fit_sampler_start(s, &(struct fit_sampler_start){.mode = q, .covariance = V}, err)
 *         or fit_sampler_state_load(s, bytes, size, err)
 *     fit_sampler_run(s, &(struct fit_sampler_watch){...}, err)
 *     fit_sampler_draws(s, 0), fit_sampler_stats(s, 0), diagnostics.h
 */
#pragma once

#include "sampler/chain.h"

struct fit_sampler_options {
    struct fit_chain_options chain; /* for all chains */
    size_t chains;                  /* 4 when 0 */
    size_t draws;                   /* of each chain, after the warm-up */
    int threads; /* chains that run at the same time; 0 or 1: one iteration of each in turn, for
                    targets that are threaded inside.  Does not change a bit of the result. */
    int divided;                    /* the ranks of a run have chains each (ranks/ranks.h), instead of all together
                                       one after the other */
    size_t groups;                  /* divided: more than 0: so many groups of ranks have chains each, for a target
                                       that a group shares */
};

struct fit_sampler;

/* target is borrowed until fit_sampler_free. */
enum fit_status fit_sampler_new(const struct fit_target *target,
                                const struct fit_sampler_options *opt, struct fit_sampler **s,
                                struct fit_error *err);
void fit_sampler_free(struct fit_sampler *s);

struct fit_sampler_start {
    const double *mode;       /* n */
    const double *covariance; /* n x n at the mode, or NULL: unit step around the mode, metric from
                                 gradients */
    size_t nmode;             /* 0 or 1: one; else mode and covariance (not NULL) hold so many, one after the other:
                                 chain c begins in mode c mod nmode */
    const double *points;     /* chains x n, or NULL: mode + 2 L xi (L L^T = covariance), redrawn
                                 when the log density is 5 n + 50 or more below that at the mode */
};
enum fit_status fit_sampler_start(struct fit_sampler *s, const struct fit_sampler_start *start,
                                  struct fit_error *err);

/* Called between slices of the work, on the calling thread; the state may be saved in it.  A
 * nonzero answer ends the run. */
struct fit_sampler_watch {
    int (*watch)(void *user, const struct fit_sampler *s);
    void *user;
    double seconds; /* length of a slice; 0: one iteration of every chain */
};

/* Continues until every chain has its draws. FIT_OK; FIT_ERR_INTERRUPTED: the target or the watch stopped it; the
 * draws so far are there, and it may be run again. watch may be NULL. */
enum fit_status fit_sampler_run(struct fit_sampler *s, const struct fit_sampler_watch *watch,
                                struct fit_error *err);

/* Draws of a chain so far (at most opt.draws), row by row, n numbers each; and their statistics. */
size_t fit_sampler_count(const struct fit_sampler *s, size_t chain);
const double *fit_sampler_draws(const struct fit_sampler *s, size_t chain);
const struct fit_draw_stats *fit_sampler_stats(const struct fit_sampler *s, size_t chain);
const struct fit_chain *fit_sampler_chain(const struct fit_sampler *s, size_t chain);
size_t fit_sampler_chains(const struct fit_sampler *s);
/* Complete iterations of all chains, and how many there will be. */
double fit_sampler_done(const struct fit_sampler *s, double *total);

/* Chains and their draws as bytes, as in chain.h; state_size grows during the run. After an error of load the
 * sampler can only be loaded or started again, or freed. */
size_t fit_sampler_state_size(const struct fit_sampler *s);
void fit_sampler_state_save(const struct fit_sampler *s, unsigned char *buffer);
enum fit_status fit_sampler_state_load(struct fit_sampler *s, const unsigned char *buffer,
                                       size_t size, struct fit_error *err);
