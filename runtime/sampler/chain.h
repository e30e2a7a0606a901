/* chain.h -- one Markov chain: its state, its adaptation, and its serialisation.
 *
 * A chain is a function of (target, options, start): the random numbers of iteration i are those at (seed, chain,
 * purpose, i), see rng.h. A chain that is saved, loaded and continued therefore gives the bytes of one that was never
 * interrupted, and chains may run in any order and on any thread.
 */
#pragma once

#include "base/status.h"
#include "sampler/nuts.h"
#include "sampler/warmup.h"

struct fit_chain_options {
    uint64_t seed;
    uint32_t warmup;      /* iterations of adaptation; may be 0 */
    double target_accept; /* (0, 1); 0.85 when 0 */
    unsigned max_depth;   /* 10 when 0 */
    enum fit_schedule schedule;
    int diagonal; /* 1: diagonal metric; 0: dense */
};

struct fit_chain;

/* NULL when memory is out. */
struct fit_chain *fit_chain_new(size_t n, size_t number, const struct fit_chain_options *opt);
void fit_chain_free(struct fit_chain *c);

/* Puts the chain at q[n] and finds the first step size.  covariance: n x n estimate of the target's
 * covariance for the first metric, or NULL (then 1 / |gradient| at q).
 * FIT_ERR_NUMERIC: no finite density at q; FIT_ERR_INTERRUPTED. */
enum fit_status fit_chain_start(struct fit_chain *c, const struct fit_target *target,
                                const double *q, const double *covariance, struct fit_error *err);

/* One iteration, warm-up first.  FIT_OK or FIT_ERR_INTERRUPTED (then nothing has changed). */
enum fit_status fit_chain_step(struct fit_chain *c, const struct fit_target *target,
                               struct fit_draw_stats *stats, struct fit_error *err);

/* Where it is. */
uint32_t fit_chain_iteration(const struct fit_chain *c); /* complete iterations, warm-up included */
const double *fit_chain_q(const struct fit_chain *c);
const struct fit_metric *fit_chain_metric(const struct fit_chain *c);
double fit_chain_step_size(const struct fit_chain *c); /* of the next iteration */
double fit_chain_warmup_gradients(const struct fit_chain *c);

/* The state as bytes (little-endian, with a version, a length and a SHA-256).  save writes
 * fit_chain_state_size() bytes.  load puts them into a chain made with the same n, number and
 * options; FIT_ERR_DATA, the chain unchanged, says what does not agree. */
size_t fit_chain_state_size(const struct fit_chain *c);
void fit_chain_state_save(const struct fit_chain *c, unsigned char *buffer);
enum fit_status fit_chain_state_load(struct fit_chain *c, const unsigned char *buffer, size_t size,
                                     struct fit_error *err);
