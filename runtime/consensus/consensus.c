/* consensus.c -- all shards, in parallel or one after the other, and their combination; see consensus.h.
 *
 * Shards run in parallel, the longest first (LPT; Graham 1969), each on one thread, or one after the other with their
 * chains in parallel when there are fewer shards than threads need. The result does not depend on which.
 */
#include "base/clock.h"
#include "consensus/consensus_impl.h"
#include "machine/topology.h"
#include "ranks/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "machine/team.h"

static const double SAVE_SECONDS = 60;
enum { ROUND = 2 }; /* shards of a thread between two meetings of ranks */

/* ---- shards -------------------------------------------------------------------------------------------- */

int fit_consensus_halted(struct fit_consensus_run *c)
{
    int late = c->opt.max_seconds > 0 && fit_ranks_seconds() - c->begin > c->opt.max_seconds;
    int stop = late || (c->opt.interrupt && *c->opt.interrupt);
    pthread_mutex_lock(&c->lock);
    c->late |= late;
    c->stop |= stop;
    stop = c->stop;
    pthread_mutex_unlock(&c->lock);
    return stop;
}

static void report(struct fit_consensus_run *c)
{
    pthread_mutex_lock(&c->lock);
    size_t done = c->ndone;
    pthread_mutex_unlock(&c->lock);
    if (c->opt.progress && c->opt.progress(c->opt.progress_user, done, c->out->nshard)) {
        pthread_mutex_lock(&c->lock);
        c->stop = 1;
        pthread_mutex_unlock(&c->lock);
    }
}

/* Passes the present state to the caller's save. */
static void save(struct fit_consensus_run *c)
{
    if (!c->opt.save)
        return;
    size_t size = fit_consensus_state_size(c);
    unsigned char *state = malloc(size);
    pthread_mutex_lock(&c->lock);
    if (state)
        fit_consensus_state_save(c, state);
    int all = c->ndone == c->out->nshard;
    pthread_mutex_unlock(&c->lock);
    c->opt.save(c->opt.save_user, state, size, all);
    free(state);
    c->saved = fit_ranks_seconds();
}

static int save_is_due(const struct fit_consensus_run *c)
{
    return fit_ranks_seconds() - c->saved > (c->opt.save_seconds > 0 ? c->opt.save_seconds : SAVE_SECONDS);
}

static void one_shard(void *user, size_t turn, size_t thread)
{
    struct fit_consensus_run *c = user;
    size_t k = c->shards->order[turn];
    if (c->finished[k])
        return;
    if (thread == 0) { /* the one that has called */
        report(c);
        if (!c->divided && save_is_due(c))
            save(c);
    }
    pthread_mutex_lock(&c->lock);
    int failed = c->failed;
    pthread_mutex_unlock(&c->lock);
    if (failed || fit_consensus_halted(c))
        return;
    c->status[k] = fit_consensus_shard(c, k, &c->error[k]);
    pthread_mutex_lock(&c->lock);
    c->finished[k] = c->status[k] == FIT_OK;
    c->ndone += c->finished[k];
    c->failed |= !c->finished[k];
    pthread_mutex_unlock(&c->lock);
}

/* The error of the first shard that has one, in the order in which they are begun. */
static enum fit_status outcome(const struct fit_consensus_run *c, struct fit_error *err)
{
    size_t n = c->out->nshard;
    for (size_t turn = 0; turn < n; turn++) {
        size_t k = c->shards->order[turn];
        if (c->status[k] != FIT_OK && c->status[k] != FIT_ERR_INTERRUPTED)
            return fit_fail(err, c->status[k], "consensus: shard %zu of %zu: %s", k + 1, n, c->error[k].message);
    }
    if (c->ndone < n)
        return fit_fail(err, FIT_ERR_INTERRUPTED,
                        "consensus: ended %s with %zu of %zu shards done, and none may be"
                        " left out%s",
                        c->late ? "by the time limit" : "by a signal", c->ndone, n,
                        c->opt.save ? "; --resume goes on from here" : "");
    return FIT_OK;
}

/* The ranks have shards each, in rounds after which the results are combined and saved. */
static enum fit_status run_divided(struct fit_consensus_run *c, int side_by_side, struct fit_error *err)
{
    const size_t n = c->out->nshard, most = ROUND * fit_ranks_size() * (side_by_side ? (size_t)c->opt.threads : 1);
    enum fit_status st = FIT_OK;
    for (size_t first = 0; first < n && st == FIT_OK && !c->failed && !fit_consensus_halted(c); first += most) {
        struct fit_consensus_round r = {c, one_shard, first, first + most < n ? most : n - first};
        st = fit_consensus_round(&r, side_by_side ? c->opt.threads : 1, err);
        if (st == FIT_OK && save_is_due(c))
            save(c);
    }
    return st;
}

static enum fit_status run_all(struct fit_consensus_run *c, struct fit_error *err)
{
    size_t threads = (size_t)c->opt.threads, n = c->out->nshard;
    int side_by_side = n >= threads * fit_ranks_size() || n >= c->out->chains;
    enum fit_status st = FIT_OK;
    c->inner = side_by_side ? 1 : c->opt.threads;
    c->saved = fit_ranks_seconds();
    if (c->opt.state)
        st = fit_consensus_state_load(c, c->opt.state, c->opt.state_size, err);
    if (st != FIT_OK)
        return st;
    c->out->resumed = c->ndone;
    c->divided = fit_ranks_shared();
    if (c->divided)
        st = run_divided(c, side_by_side, err);
    else if (side_by_side)
        fit_team_run((struct fit_team){c->opt.threads, FIT_TEAM_NEXT}, n, one_shard, c);
    for (size_t k = 0; !c->divided && !side_by_side && k < n; k++) /* their chains are the turns of a team */
        one_shard(c, k, 0);
    save(c);
    return st == FIT_OK ? outcome(c, err) : st;
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

void fit_consensus_free(struct fit_consensus *c)
{
    if (!c)
        return;
    fit_arena_free(&c->storage_);
    free(c);
}

static enum fit_status allocate(struct fit_consensus_run *c, size_t nparam, struct fit_error *err)
{
    struct fit_consensus *out = c->out;
    struct fit_arena *result = &out->storage_, *a = &c->storage;
    size_t k = out->nshard, n = out->nz;
    out->shard = fit_take(result, k, sizeof *out->shard);
    FIT_TAKE_DOUBLES(result, n, &out->mean);
    FIT_TAKE_DOUBLES(result, n * n, &out->covariance);
    FIT_TAKE_DOUBLES(result, c->opt.keep * n, &out->kept);
    FIT_TAKE_DOUBLES(result, nparam, &out->theta_mean, &out->theta_sd, &out->exact_mean, &out->exact_sd);
    FIT_TAKE_DOUBLES(a, k * n, &c->mean);
    FIT_TAKE_DOUBLES(a, k * n * n, &c->precision);
    FIT_TAKE_DOUBLES(a, k * c->opt.keep * n, &c->kept);
    c->status = fit_take(a, k, sizeof *c->status);
    c->error = fit_take(a, k, sizeof *c->error);
    c->finished = fit_take(a, k, sizeof *c->finished);
    if (result->failed || a->failed)
        return fit_fail(err, FIT_ERR_MEMORY, "consensus: no memory for %zu shards of %zu parameters", k, n);
    return FIT_OK;
}

/* Numbers of shards and iterations. */
static void plan(struct fit_consensus_run *c)
{
    struct fit_consensus *out = c->out;
    const struct fit_consensus_options *o = &c->opt;
    const struct fit_dataset *ds = c->setup->ds;
    size_t warmup = o->warmup ? o->warmup : 500, draws = o->draws ? o->draws : 1500;
    struct fit_shard_rule rule = {ds->npoint, ds->layout.ngroup, o->flow, warmup + draws, o->shards, o->most_points};
    out->nq = c->full->n;
    out->nz = fit_consensus_count(c->full);
    out->nshard = fit_shard_count(&rule);
    size_t points = ds->npoint / out->nshard, params = out->nq + c->setup->kernel->nlinear + 1;
    out->chains = o->chains ? o->chains : 4;
    out->warmup = o->adapt ? fit_shard_iterations(warmup, o->least_warmup ? o->least_warmup : 100, 20, params, points)
                           : warmup;
    out->draws = o->adapt ? fit_shard_iterations(draws, o->least_draws ? o->least_draws : 200, 50, params, points)
                          : draws;
}

static void add_up(struct fit_consensus_run *c)
{
    struct fit_consensus *out = c->out;
    for (size_t k = 0; k < out->nshard; k++) {
        out->retries += out->shard[k].retries;
        out->gradients += out->shard[k].gradients;
        out->passes += out->shard[k].passes * (double)out->shard[k].npoint / (double)c->setup->ds->npoint;
    }
    out->seconds = fit_ranks_seconds() - c->begin;
}

enum fit_status fit_consensus_open(struct fit_consensus_run *c, struct fit_error *err)
{
    c->begin = fit_ranks_seconds();
    c->opt.threads = c->opt.threads > 0 ? c->opt.threads : fit_topology_threads();
    pthread_mutex_init(&c->lock, NULL);
    c->out = calloc(1, sizeof *c->out);
    if (!c->out)
        return fit_no_memory(err, "consensus");
    plan(c);
    enum fit_status st = fit_shards_new(c->setup->ds, c->out->nshard, c->opt.seed, &c->shards, err);
    return st == FIT_OK ? allocate(c, c->setup->kernel->nparam, err) : st;
}

void fit_consensus_close(struct fit_consensus_run *c)
{
    pthread_mutex_destroy(&c->lock);
    fit_shards_free(c->shards);
    fit_consensus_free(c->out);
    fit_arena_free(&c->storage);
}

enum fit_status fit_consensus_run(const struct fit_posterior_setup *setup, const struct fit_posterior *full,
                                  const double *mode, const double *covariance,
                                  const struct fit_consensus_options *opt, struct fit_consensus **result,
                                  struct fit_error *err)
{
    struct fit_consensus_run c = {
        .setup = setup, .full = full, .mode = mode, .covariance = covariance, .opt = *opt};
    *result = NULL;
    enum fit_status st = fit_consensus_open(&c, err);
    if (st == FIT_OK)
        st = run_all(&c, err);
    if (st == FIT_OK)
        st = fit_consensus_combine(&c, err);
    if (st == FIT_OK) {
        add_up(&c);
        *result = c.out;
        c.out = NULL;
    }
    fit_consensus_close(&c);
    return st;
}
