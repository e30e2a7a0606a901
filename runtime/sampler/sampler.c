/* sampler.c -- several chains in parallel, and their draws.
 *
 * Chains are independent, so neither the number of threads nor the length of a slice can change a draw. */
#include "sampler/sampler.h"

#include "base/arena.h"
#include "base/clock.h"
#include "common/sha256.h"
#include "machine/team.h"
#include "ranks/ranks.h"

#include <stdlib.h>
#include <string.h>

struct fit_sampler {
    const struct fit_target *target;
    struct fit_sampler_options opt;
    size_t n;
    struct fit_chain **chain;
    double *draws;                /* chains x draws x n */
    struct fit_draw_stats *stats; /* chains x draws */
    enum fit_status *status;      /* of the running slice, one per chain */
    struct fit_error *error;
    size_t *before; /* draws of each chain before the running slice */
    struct fit_arena storage;
};

/* ---- making ---------------------------------------------------------------------------------- */

enum fit_status fit_sampler_new(const struct fit_target *target,
                                const struct fit_sampler_options *opt, struct fit_sampler **out,
                                struct fit_error *err)
{
    struct fit_sampler *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s)
        return fit_no_memory(err, "draws of the chains");
    s->target = target;
    s->opt = *opt;
    s->n = target->n;
    if (s->opt.chains == 0)
        s->opt.chains = 4;
    size_t nc = s->opt.chains, nd = s->opt.draws;
    s->chain = fit_take(&s->storage, nc, sizeof *s->chain);
    s->draws = fit_take(&s->storage, nc * nd * s->n, sizeof *s->draws);
    s->stats = fit_take(&s->storage, nc * nd, sizeof *s->stats);
    s->status = fit_take(&s->storage, nc, sizeof *s->status);
    s->error = fit_take(&s->storage, nc, sizeof *s->error);
    s->before = fit_take(&s->storage, nc, sizeof *s->before);
    int room = !s->storage.failed;
    for (size_t c = 0; room && c < nc; c++)
        room = (s->chain[c] = fit_chain_new(s->n, c, &s->opt.chain)) != NULL;
    if (!room) {
        fit_sampler_free(s);
        return fit_no_memory(err, "draws of the chains");
    }
    *out = s;
    return FIT_OK;
}

void fit_sampler_free(struct fit_sampler *s)
{
    if (!s)
        return;
    for (size_t c = 0; s->chain && c < s->opt.chains; c++)
        fit_chain_free(s->chain[c]);
    fit_arena_free(&s->storage);
    free(s);
}

/* ---- starting points ------------------------------------------------------------------------- */

enum { TRIES = 10, HALVINGS = 60 };

/* q <- mode + spread L xi with a log density not too far below that of the mode; the spread is halved after every
 * ten failed trials. */
static enum fit_status disperse(struct fit_sampler *s, size_t chain, const double *mode,
                                double lp_mode, const struct fit_metric *shape, double *q,
                                struct fit_error *err)
{
    size_t n = s->n;
    struct fit_rng r = {.seed = s->opt.chain.seed, .chain = (uint32_t)chain};
    r = fit_rng_for(&r, FIT_RNG_START);
    double spread = 2, lowest = lp_mode - (5 * (double)n + 50);
    for (int k = 0; k < TRIES * HALVINGS; k++) {
        double lp;
        fit_rng_next_normals(&r, n, q);
        fit_metric_position(shape, q, q);
        for (size_t i = 0; i < n; i++)
            q[i] = mode[i] + spread * q[i];
        enum fit_eval answer = fit_target_eval(s->target, chain, q, &lp, NULL);
        if (answer == FIT_EVAL_STOP)
            return fit_fail(err, FIT_ERR_INTERRUPTED, "chain %zu: stopped at its start", chain);
        if (answer == FIT_EVAL_OK && lp > lowest)
            return FIT_OK;
        if (k % TRIES == TRIES - 1)
            spread /= 2;
    }
    return fit_fail(err, FIT_ERR_NUMERIC,
                    "chain %zu: no starting point around the mode has a finite log density", chain);
}

/* Chains first, first + step, ... */
static enum fit_status start_chains(struct fit_sampler *s, const struct fit_sampler_start *start,
                                    size_t first, size_t step, const struct fit_metric *shape, double *q,
                                    struct fit_error *err)
{
    double lp = 0;
    enum fit_status st = FIT_OK;
    if (!start->points) {
        enum fit_eval answer = fit_target_eval(s->target, 0, start->mode, &lp, NULL);
        if (answer == FIT_EVAL_STOP)
            return fit_fail(err, FIT_ERR_INTERRUPTED, "stopped before the first chain");
        if (answer != FIT_EVAL_OK)
            return fit_fail(err, FIT_ERR_NUMERIC, "the log density at the mode is not finite");
    }
    for (size_t c = first; c < s->opt.chains && st == FIT_OK; c += step) {
        if (start->points)
            memcpy(q, start->points + c * s->n, s->n * sizeof *q);
        else
            st = disperse(s, c, start->mode, lp, shape, q, err);
        if (st == FIT_OK)
            st = fit_chain_start(s->chain[c], s->target, q, start->covariance, err);
    }
    return st;
}

enum fit_status fit_sampler_start(struct fit_sampler *s, const struct fit_sampler_start *start,
                                  struct fit_error *err)
{
    size_t n = s->n, nm = fit_metric_size(n, start->covariance != NULL);
    FIT_OWNED double *block = calloc(2 * nm + 2 * n, sizeof *block);
    if (!block)
        return fit_no_memory(err, "starting points");
    struct fit_metric shape = {n, start->covariance != NULL, block, block + nm};
    double *one = block + 2 * nm, *q = one + n;
    for (size_t k = 0; k < n; k++)
        one[k] = 1;
    enum fit_status st = FIT_OK;
    const size_t nmode = start->nmode > 1 ? start->nmode : 1;
    for (size_t k = 0; k < nmode && k < s->opt.chains && st == FIT_OK; k++) {
        struct fit_sampler_start one_mode = *start;
        if (k > 0) {
            one_mode.mode += k * n;
            one_mode.covariance += k * n * n;
        }
        if (!start->covariance)
            fit_metric_diagonal(&shape, one);
        else if (fit_metric_covariance(&shape, one_mode.covariance) != 0)
            st = fit_fail(err, FIT_ERR_NUMERIC, "the covariance at the mode is not positive definite");
        if (st == FIT_OK)
            st = start_chains(s, &one_mode, k, nmode, &shape, q, err);
    }
    return st;
}

/* ---- running --------------------------------------------------------------------------------- */

static size_t total_iterations(const struct fit_sampler *s)
{
    return s->opt.chain.warmup + s->opt.draws;
}

static int complete(const struct fit_sampler *s, size_t c)
{
    return fit_chain_iteration(s->chain[c]) >= total_iterations(s);
}

/* One iteration of chain c; stores its draw. */
static void advance(struct fit_sampler *s, size_t c)
{
    struct fit_draw_stats stats;
    size_t at = fit_chain_iteration(s->chain[c]), warmup = s->opt.chain.warmup;
    s->status[c] = fit_chain_step(s->chain[c], s->target, &stats, &s->error[c]);
    if (s->status[c] != FIT_OK || at < warmup)
        return;
    size_t row = c * s->opt.draws + at - warmup;
    memcpy(s->draws + row * s->n, fit_chain_q(s->chain[c]), s->n * sizeof *s->draws);
    s->stats[row] = stats;
}

/* Chains first, first + step, .. in turn, one iteration each, until the time is over or all are complete. */
static void slice_in_turn(struct fit_sampler *s, size_t first, size_t step, double end)
{
    int busy = 1;
    while (busy) {
        busy = 0;
        for (size_t c = first; c < s->opt.chains; c += step) {
            if (complete(s, c))
                continue;
            advance(s, c);
            if (s->status[c] != FIT_OK)
                return;
            busy = 1;
        }
        fit_ranks_agree();
        if (fit_ranks_seconds() >= end)
            return;
    }
}

struct slice {
    struct fit_sampler *s;
    double seconds;
};

static void slice_chain(void *user, size_t c, size_t thread)
{
    struct slice *x = user;
    double end = fit_ranks_seconds() + x->seconds;
    (void)thread;
    while (!complete(x->s, c)) {
        advance(x->s, c);
        if (x->s->status[c] != FIT_OK || fit_ranks_seconds() >= end)
            break;
    }
}

/* Chain c as it is with rank `from`, which has gone on with it: its state and its new draws. */
static enum fit_status take_chain(struct fit_sampler *s, size_t c, size_t from, struct fit_error *err)
{
    const size_t size = fit_chain_state_size(s->chain[c]);
    const size_t row = c * s->opt.draws + s->before[c];
    FIT_OWNED unsigned char *state = malloc(size);
    if (!state)
        return fit_no_memory(err, "draws of the chains");
    fit_chain_state_save(s->chain[c], state);
    fit_ranks_copy(from, state, size);
    enum fit_status st = from == fit_ranks_rank() ? FIT_OK : fit_chain_state_load(s->chain[c], state, size, err);
    const size_t rows = st == FIT_OK ? fit_sampler_count(s, c) - s->before[c] : 0;
    fit_ranks_copy(from, s->draws + row * s->n, rows * s->n * sizeof *s->draws);
    fit_ranks_copy(from, s->stats + row, rows * sizeof *s->stats);
    return st;
}

static enum fit_status slice_together(struct fit_sampler *s, double seconds, struct fit_error *err)
{
    struct slice x = {s, seconds};
    const struct fit_team team = {s->opt.threads, FIT_TEAM_NEXT};
    if (!s->opt.divided || !fit_ranks_shared()) {
        fit_team_run(team, s->opt.chains, slice_chain, &x);
        return FIT_OK;
    }
    for (size_t c = 0; c < s->opt.chains; c++)
        s->before[c] = fit_sampler_count(s, c);
    fit_ranks_run(team, s->opt.chains, slice_chain, &x);
    fit_ranks_spread(s->status, s->opt.chains, sizeof *s->status);
    fit_ranks_spread(s->error, s->opt.chains, sizeof *s->error);
    enum fit_status st = FIT_OK;
    for (size_t c = 0; c < s->opt.chains && st == FIT_OK; c++)
        st = take_chain(s, c, fit_ranks_owner(c), err);
    return st;
}

/* Each group of ranks goes on with its chains; then all ranks have all of them. */
static enum fit_status slice_groups(struct fit_sampler *s, double seconds, struct fit_error *err)
{
    const size_t n = s->opt.groups;
    for (size_t c = 0; c < s->opt.chains; c++)
        s->before[c] = fit_sampler_count(s, c);
    const size_t group = fit_ranks_group(n);
    slice_in_turn(s, group, n, fit_ranks_seconds() + seconds);
    fit_ranks_ungroup();
    enum fit_status st = FIT_OK;
    for (size_t c = 0; c < s->opt.chains && st == FIT_OK; c++) {
        const size_t from = fit_ranks_leader(n, c % n);
        fit_ranks_copy(from, &s->status[c], sizeof s->status[c]);
        if (s->status[c] != FIT_OK)
            fit_ranks_copy(from, &s->error[c], sizeof s->error[c]);
        st = take_chain(s, c, from, err);
    }
    return st;
}

enum fit_status fit_sampler_run(struct fit_sampler *s, const struct fit_sampler_watch *watch,
                                struct fit_error *err)
{
    double total;
    while (fit_sampler_done(s, &total) < total) {
        double seconds = watch ? watch->seconds : 1e300;
        for (size_t c = 0; c < s->opt.chains; c++)
            s->status[c] = FIT_OK;
        enum fit_status st = FIT_OK;
        if (s->opt.groups && fit_ranks_shared())
            st = slice_groups(s, seconds, err);
        else if (s->opt.threads > 1 || s->opt.divided)
            st = slice_together(s, seconds, err);
        else
            slice_in_turn(s, 0, 1, fit_ranks_seconds() + seconds);
        if (st != FIT_OK)
            return st;
        for (size_t c = 0; c < s->opt.chains; c++)
            if (s->status[c] != FIT_OK)
                return fit_fail(err, s->status[c], "%s", s->error[c].message);
        if (watch && watch->watch && watch->watch(watch->user, s))
            return fit_fail(err, FIT_ERR_INTERRUPTED, "sampling was stopped");
    }
    return FIT_OK;
}

/* ---- looking --------------------------------------------------------------------------------- */

size_t fit_sampler_chains(const struct fit_sampler *s)
{
    return s->opt.chains;
}

size_t fit_sampler_count(const struct fit_sampler *s, size_t chain)
{
    size_t done = fit_chain_iteration(s->chain[chain]), warmup = s->opt.chain.warmup;
    return done > warmup ? done - warmup : 0;
}

const double *fit_sampler_draws(const struct fit_sampler *s, size_t chain)
{
    return s->draws + chain * s->opt.draws * s->n;
}

const struct fit_draw_stats *fit_sampler_stats(const struct fit_sampler *s, size_t chain)
{
    return s->stats + chain * s->opt.draws;
}

const struct fit_chain *fit_sampler_chain(const struct fit_sampler *s, size_t chain)
{
    return s->chain[chain];
}

double fit_sampler_done(const struct fit_sampler *s, double *total)
{
    double done = 0;
    for (size_t c = 0; c < s->opt.chains; c++)
        done += fit_chain_iteration(s->chain[c]);
    *total = (double)(s->opt.chains * total_iterations(s));
    return done;
}

/* ---- the whole as bytes ---------------------------------------------------------------------- */

/* The states of the chains one after the other, each with its own checksum; then for each chain its draws and their
 * statistics, as in memory; then a checksum of these. The states say how many there are. */
static size_t states_size(const struct fit_sampler *s)
{
    size_t total = 0;
    for (size_t c = 0; c < s->opt.chains; c++)
        total += fit_chain_state_size(s->chain[c]);
    return total;
}

size_t fit_sampler_state_size(const struct fit_sampler *s)
{
    size_t rows = 0;
    for (size_t c = 0; c < s->opt.chains; c++)
        rows += fit_sampler_count(s, c);
    return states_size(s) + rows * (s->n * sizeof *s->draws + sizeof *s->stats) + SHA256_BYTES;
}

static void digest(const unsigned char *from, const unsigned char *to,
                   unsigned char out[SHA256_BYTES])
{
    struct sha256 h;
    sha256_init(&h);
    sha256_update(&h, from, (size_t)(to - from));
    sha256_final(&h, out);
}

void fit_sampler_state_save(const struct fit_sampler *s, unsigned char *buffer)
{
    unsigned char *at = buffer;
    for (size_t c = 0; c < s->opt.chains; c++) {
        fit_chain_state_save(s->chain[c], at);
        at += fit_chain_state_size(s->chain[c]);
    }
    for (size_t c = 0; c < s->opt.chains; c++) {
        size_t rows = fit_sampler_count(s, c);
        memcpy(at, fit_sampler_draws(s, c), rows * s->n * sizeof *s->draws);
        at += rows * s->n * sizeof *s->draws;
        memcpy(at, fit_sampler_stats(s, c), rows * sizeof *s->stats);
        at += rows * sizeof *s->stats;
    }
    digest(buffer, at, at);
}

/* Restores the chains; their states determine the rows that follow. */
static enum fit_status load_chains(struct fit_sampler *s, const unsigned char *at, struct fit_error *err)
{
    for (size_t c = 0; c < s->opt.chains; c++) {
        size_t one = fit_chain_state_size(s->chain[c]);
        enum fit_status st = fit_chain_state_load(s->chain[c], at, one, err);
        if (st != FIT_OK)
            return st;
        if (fit_chain_iteration(s->chain[c]) > total_iterations(s))
            return fit_fail(err, FIT_ERR_DATA,
                            "chain %zu: the saved state has %u iterations of %zu", c,
                            (unsigned)fit_chain_iteration(s->chain[c]), total_iterations(s));
        at += one;
    }
    return FIT_OK;
}

enum fit_status fit_sampler_state_load(struct fit_sampler *s, const unsigned char *buffer,
                                       size_t size, struct fit_error *err)
{
    const size_t states = states_size(s);
    unsigned char sum[SHA256_BYTES];
    if (size < states + SHA256_BYTES)
        return fit_fail(err, FIT_ERR_DATA,
                        "the saved state has %zu bytes where these settings (chains, "
                        "coordinates) make at least %zu",
                        size, states + SHA256_BYTES);
    digest(buffer, buffer + size - SHA256_BYTES, sum);
    if (memcmp(sum, buffer + size - SHA256_BYTES, SHA256_BYTES) != 0)
        return fit_fail(err, FIT_ERR_DATA, "the saved state is damaged (checksum)");
    enum fit_status st = load_chains(s, buffer, err);
    if (st != FIT_OK)
        return st;
    if (size != fit_sampler_state_size(s))
        return fit_fail(err, FIT_ERR_DATA, "the saved state has %zu bytes where the draws of its chains make %zu",
                        size, fit_sampler_state_size(s));
    const unsigned char *at = buffer + states;
    for (size_t c = 0; c < s->opt.chains; c++) {
        size_t rows = fit_sampler_count(s, c), row = c * s->opt.draws;
        memcpy(s->draws + row * s->n, at, rows * s->n * sizeof *s->draws);
        at += rows * s->n * sizeof *s->draws;
        memcpy(s->stats + row, at, rows * sizeof *s->stats);
        at += rows * sizeof *s->stats;
    }
    return FIT_OK;
}
