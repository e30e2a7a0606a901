/* consensus_impl.h -- the parts of consensus.c. */
#pragma once

#include <pthread.h>

#include "consensus/consensus.h"
#include "consensus/shard.h"

/* One call of fit_consensus_run. */
struct fit_consensus_run {
    const struct fit_posterior_setup *setup;
    const struct fit_posterior *full;
    const double *mode, *covariance;
    struct fit_consensus_options opt;
    struct fit_shards *shards;
    struct fit_consensus *out;
    double *mean;      /* nshard x nz */
    double *precision; /* nshard x nz x nz: L_s */
    double *kept;      /* nshard x keep x nz */
    int inner;         /* chains of a shard at the same time */
    double begin, saved;
    int divided;       /* ranks have shards each */
    enum fit_status *status; /* nshard */
    struct fit_error *error;

    pthread_mutex_t lock;  /* for what follows, and for reading results of shards that are done */
    unsigned char *finished; /* nshard */
    size_t ndone;
    int stop, late; /* no more work: by the time limit, when late */
    int failed;     /* no more shards are begun; those under way are finished, so that the error is always the same */
    struct fit_arena storage;
};

/* Division and room for results, where setup, full, mode, covariance and opt are set; inner is chosen later. To be
 * closed also after an error. */
enum fit_status fit_consensus_open(struct fit_consensus_run *c, struct fit_error *err);
void fit_consensus_close(struct fit_consensus_run *c);

/* Draws of a shard: mean, precision, report and kept of that number. */
enum fit_status fit_consensus_shard(struct fit_consensus_run *c, size_t number, struct fit_error *err);

/* Numbers of z. */
size_t fit_consensus_count(const struct fit_posterior *p);

/* mean, covariance, kept, heterogeneity, distances of the result from those of all shards.  FIT_ERR_NUMERIC: their
 * precisions together are singular. */
enum fit_status fit_consensus_combine(struct fit_consensus_run *c, struct fit_error *err);

/* inverse <- a^-1 (a symmetric, positive definite), by way of a unit diagonal.  Both n x n, not the same; a is
 * destroyed.  unit: n.  Nonzero: a is not positive definite. */
int fit_consensus_invert(size_t n, double *a, double *inverse, double *unit);

/* 1 when no more work is to be done: time is over, or *interrupt. Any thread. */
int fit_consensus_halted(struct fit_consensus_run *c);

/* Turns of shards first, ..., first + n - 1 in their order, divided between the ranks (divided.c); afterwards every
 * rank has the results of all, and knows whether one was stopped. */
struct fit_consensus_round {
    struct fit_consensus_run *c;
    void (*shard)(void *c, size_t turn, size_t thread);
    size_t first, n;
};
enum fit_status fit_consensus_round(struct fit_consensus_round *r, int threads, struct fit_error *err);

/* ---- finished shards as bytes (state.c) --------------------------------------------------------- */

size_t fit_consensus_state_size(const struct fit_consensus_run *c);
void fit_consensus_state_save(struct fit_consensus_run *c, unsigned char *state); /* under the lock */
/* FIT_ERR_DATA: of another division. */
enum fit_status fit_consensus_state_load(struct fit_consensus_run *c, const unsigned char *state, size_t size,
                                         struct fit_error *err);
