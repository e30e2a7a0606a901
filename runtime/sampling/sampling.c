/* sampling.c -- least-squares fit, mode, chains or importance draws, complete draws; see sampling.h. */
#include "sampling/sampling_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "data/share.h"
#include "machine/team.h"
#include "machine/topology.h"
#include "model/derived.h"
#include "ranks/ranks.h"
#include "sampler/laplace.h"
#include "sampler/psis.h"

/* Data-parallel evaluations pay from this many values for each thread; below, chains run in parallel. */
static const double VALUES_PER_THREAD = 2e5;

static size_t or_else(size_t x, size_t otherwise)
{
    return x ? x : otherwise;
}

/* ---- the posterior ------------------------------------------------------------------------------------- */

/* Of many data: groups of ranks, as many as there can be of one size with as many chains each, whose sums a group
 * shares: the fewer ranks meet, the less it takes.  1: all ranks share the sums of every chain. */
static size_t groups_of_ranks(const struct fit_sampling_run *m, const struct fit_posterior_setup *given)
{
    size_t n = fit_ranks_size(), rest = m->s->chains; /* their greatest common divisor */
    if (m->opt->method != FIT_SAMPLING_NUTS || fit_dataset_streamed(given->ds) || fit_dataset_divided(given->ds))
        return 1;
    while (rest) {
        const size_t left = n % rest;
        n = rest;
        rest = left;
    }
    return n;
}

/* Built about the point of a checkpoint if there is one: the target is then the same to the bit. */
enum fit_status fit_sampling_open(struct fit_sampling_run *m, const struct fit_posterior_setup *given,
                                      struct fit_error *err)
{
    struct fit_posterior_setup setup = *given;
    if (m->resumed) {
        setup.theta = m->checkpoint.theta;
        setup.lin = m->checkpoint.lin;
        setup.sigma = m->checkpoint.sigma;
        m->plain_rates = (uint64_t)m->checkpoint.plain_rates;
    }
    m->plain_rates |= setup.plain_rates;
    setup.plain_rates = m->plain_rates;
    int threads = m->opt->threads > 0 ? m->opt->threads : fit_topology_threads();
    size_t chains = m->opt->method == FIT_SAMPLING_NUTS ? m->s->chains : (size_t)threads;
    double count = (double)given->ds->npoint;
    /* with a device, chains that wait for it at the same time are one launch */
    const int device = fit_objective_on_device(given->kernel, given->ds, threads);
    if (device && (size_t)threads < chains)
        threads = (int)chains;
    m->side_by_side = ((threads > 1) | (fit_ranks_size() > 1)) && (device || count < VALUES_PER_THREAD * threads);
    m->groups = m->side_by_side ? 1 : groups_of_ranks(m, given);
    m->apart = m->side_by_side || m->groups > 1;
    setup.chains = m->side_by_side ? chains : 1;
    setup.threads = m->side_by_side ? 1 : threads;
    setup.interrupt = m->opt->interrupt;
    m->s->threads = threads;
    return fit_posterior_new(&setup, &m->p, err);
}

/* ---- passes over the data, of all ranks ------------------------------------------------------------------ */

static int in_groups(const struct fit_sampling_run *m)
{
    return m->groups > 1 && m->groups < fit_ranks_size() && fit_ranks_shared();
}

void fit_sampling_part(struct fit_sampling_run *m)
{
    m->parted = m->apart && fit_ranks_shared();
    m->at_parting = fit_posterior_passes(m->p);
}

enum fit_status fit_sampling_share(struct fit_sampling_run *m, struct fit_error *err)
{
    if (!in_groups(m))
        return FIT_OK;
    fit_ranks_group(m->groups);
    const enum fit_status st = fit_posterior_group(m->p, err);
    fit_ranks_ungroup();
    return fit_ranks_agree_status(st, err);
}

/* Passes since the parting; those of a group are counted once. */
static double passes_apart(const struct fit_sampling_run *m)
{
    const size_t each = in_groups(m) ? fit_ranks_size() / m->groups : 1;
    return fit_ranks_rank() % each == 0 ? fit_posterior_passes(m->p) - m->at_parting : 0;
}

double fit_sampling_passes(const struct fit_sampling_run *m)
{
    const double own = fit_posterior_passes(m->p);
    return own - m->at_opening + m->passes_of_others +
           (m->parted ? fit_ranks_total(passes_apart(m)) - (own - m->at_parting) : 0);
}

void fit_sampling_join(struct fit_sampling_run *m)
{
    m->passes_of_others = fit_sampling_passes(m) + m->at_opening - fit_posterior_passes(m->p);
    m->parted = 0;
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static enum fit_status allocate(struct fit_sampling_run *m, struct fit_error *err)
{
    struct fit_samples *s = m->s;
    struct fit_arena *a = &s->storage_;
    size_t n = s->chains * s->draws, d = s->ncoordinate;
    s->x = fit_take(a, n * s->ncolumn, sizeof *s->x);
    s->q = fit_take(a, n * d, sizeof *s->q);
    s->lp = fit_take(a, n, sizeof *s->lp);
    s->column = fit_take(a, s->ncolumn, sizeof *s->column);
    s->covariance = fit_take(a, s->ncolumn * s->ncolumn, sizeof *s->covariance);
    if (s->method != FIT_SAMPLING_NUTS)
        s->log_weight = fit_take(a, n, sizeof *s->log_weight);
    if (s->method == FIT_SAMPLING_NUTS) {
        s->stats = fit_take(a, n, sizeof *s->stats);
        s->health = fit_take(a, s->chains, sizeof *s->health);
        s->inverse_metric = fit_take(a, s->chains * d * d, sizeof *s->inverse_metric);
    }
    if (a->failed)
        return fit_fail(err, FIT_ERR_MEMORY, "posterior: no memory for %zu draws of %zu numbers", n, s->ncolumn);
    return FIT_OK;
}

void fit_samples_free(struct fit_samples *s)
{
    fit_consensus_free(s->consensus);
    fit_arena_free(&s->storage_);
    *s = (struct fit_samples){0};
}

/* ---- complete draws ------------------------------------------------------------------------------------ */

/* Linear parameters and noise of the draws of one chain, in their order; chain k uses lane k. */
static void complete_chain(void *user, size_t chain)
{
    struct fit_sampling_run *m = user;
    struct fit_samples *s = m->s;
    for (size_t k = 0; k < s->draws; k++) {
        size_t at = chain * s->draws + k;
        double *x = s->x + at * s->ncolumn;
        struct fit_rng rng = {.seed = s->seed, .chain = (uint32_t)chain, .iteration = (uint32_t)k,
                              .purpose = FIT_RNG_CONDITIONAL};
        if (fit_posterior_draw(m->p, chain, s->q + at * s->ncoordinate, &rng, x, x + s->nparam,
                               x + s->nparam + s->ngroup * s->nlinear) != FIT_EVAL_OK)
            for (size_t c = 0; c < s->ncolumn; c++)
                x[c] = NAN;
    }
}

static void complete_turn(void *user, size_t chain, size_t thread)
{
    (void)thread;
    complete_chain(user, chain);
}

/* Where ranks have chains of their own they complete them alone: else they would meet for every draw. */
static void complete_draws(struct fit_sampling_run *m)
{
    struct fit_samples *s = m->s;
    const int together = m->side_by_side && s->method == FIT_SAMPLING_NUTS;
    const struct fit_team team = {together ? s->threads : 1, FIT_TEAM_NEXT};
    if (!m->apart || in_groups(m) || !fit_ranks_shared()) {
        fit_team_run(team, s->chains, complete_turn, m);
        return;
    }
    fit_sampling_part(m);
    fit_ranks_run(team, s->chains, complete_turn, m);
    fit_ranks_spread(s->x, s->chains, s->draws * s->ncolumn * sizeof *s->x);
    fit_sampling_join(m);
}

/* ---- Laplace ------------------------------------------------------------------------------------------- */

enum fit_status fit_samples_resample(struct fit_samples *s, const struct fit_laplace *l, struct fit_error *err)
{
    FIT_OWNED size_t *pick = malloc(s->draws * sizeof *pick);
    if (!pick)
        return fit_no_memory(err, "posterior");
    struct fit_rng rng = {.seed = s->seed, .purpose = FIT_RNG_RESAMPLE};
    fit_importance_resample(l->draws, l->log_weight, s->draws, fit_rng_next_uniform(&rng), pick);
    for (size_t k = 0; k < s->draws; k++) {
        memcpy(s->q + k * s->ncoordinate, l->q + pick[k] * s->ncoordinate, s->ncoordinate * sizeof *s->q);
        s->lp[k] = l->lp[pick[k]];
        s->log_weight[k] = l->log_weight[pick[k]];
    }
    s->pareto_k = l->k;
    s->log_evidence = l->log_evidence;
    s->weight_ess = l->ess;
    s->gradients += (double)l->evaluations;
    s->complete = 1;
    return FIT_OK;
}

double fit_sampling_deadline(const struct fit_sampling_run *m)
{
    return m->opt->max_seconds > 0 ? m->begin + m->opt->max_seconds : 0;
}

static void save_draws(void *user, const unsigned char *state, size_t size, int all)
{
    fit_sampling_save(user, (unsigned char *)(uintptr_t)state, size, all); /* only read */
}

static enum fit_status run_laplace(struct fit_sampling_run *m, struct fit_error *err)
{
    struct fit_samples *s = m->s;
    struct fit_laplace l = {0};
    struct fit_laplace_options lo = {.seed = s->seed, .draws = s->draws, .threads = m->side_by_side ? s->threads : 1,
                                     .divided = m->side_by_side,
                                     .deadline = fit_sampling_deadline(m),
                                     .state = m->resumed ? m->checkpoint.state : NULL, .state_size = m->checkpoint.size,
                                     .save = m->opt->checkpoint ? save_draws : NULL, .save_user = m,
                                     .save_seconds = m->opt->checkpoint_seconds};
    double begin = fit_seconds();
    fit_sampling_part(m);
    enum fit_status st = fit_laplace_run(&m->p->target, s->mode, s->mode_covariance, &lo, &l, err);
    fit_sampling_join(m);
    s->resumed = (double)l.resumed;
    if (st == FIT_ERR_INTERRUPTED && m->opt->checkpoint && !s->checkpoint_error[0]) {
        size_t n = strlen(err->message);
        snprintf(err->message + n, sizeof err->message - n, "; --resume goes on from here");
    }
    if (st == FIT_OK)
        st = fit_samples_resample(s, &l, err);
    s->seconds.sampling = fit_seconds() - begin;
    fit_laplace_free(&l);
    return st;
}

static enum fit_status run_method(struct fit_sampling_run *m, struct fit_error *err)
{
    double begin = fit_seconds();
    if (m->s->method == FIT_SAMPLING_NUTS)
        return fit_sampling_chains(m, err);
    if (m->s->method == FIT_SAMPLING_LAPLACE && (m->s->nmode < 2 || m->resumed))
        return run_laplace(m, err);
    enum fit_status st =
        m->s->method == FIT_SAMPLING_LAPLACE ? fit_sampling_laplace_modes(m, err) : fit_sampling_consensus(m, err);
    m->s->seconds.sampling = fit_seconds() - begin;
    return st;
}

/* ---- all ----------------------------------------------------------------------------------------------- */

/* The mode of the checkpoint. */
static enum fit_status take_mode(struct fit_sampling_run *m, struct fit_error *err)
{
    struct fit_samples *s = m->s;
    size_t n = m->p->n;
    if (m->checkpoint.ncoordinate != n)
        return fit_fail(err, FIT_ERR_DATA, "%s: %zu coordinates where this posterior has %zu", m->opt->checkpoint,
                        m->checkpoint.ncoordinate, n);
    memcpy(s->mode, m->checkpoint.mode, n * sizeof *s->mode);
    memcpy(s->mode_covariance, m->checkpoint.covariance, n * n * sizeof *s->mode_covariance);
    s->weak = (size_t)m->checkpoint.weak;
    s->starts = (size_t)m->checkpoint.starts;
    s->other_mass = m->checkpoint.other_mass;
    memcpy(s->other_text, m->checkpoint.other_text, sizeof s->other_text);
    memcpy(s->start_text, m->checkpoint.start_text, sizeof s->start_text);
    return FIT_OK;
}

static enum fit_status find_mode(struct fit_sampling_run *m, const struct fit_posterior_setup *setup,
                                 const struct fit_result *fit, struct fit_error *err)
{
    struct fit_samples *s = m->s;
    size_t n = m->p->n;
    double begin = fit_seconds();
    s->ncoordinate = n;
    s->nbound = m->p->nbound;
    s->mode = fit_take(&s->storage_, n, sizeof *s->mode);
    s->mode_covariance = fit_take(&s->storage_, n * n, sizeof *s->mode_covariance);
    s->coordinate_name = fit_take(&s->storage_, n, sizeof *s->coordinate_name);
    enum fit_status st = s->storage_.failed ? fit_no_memory(err, "posterior") : FIT_OK;
    if (st == FIT_OK)
        st = m->resumed ? take_mode(m, err) : fit_sampling_mode(m, setup, fit, err);
    if (st == FIT_OK)
        st = fit_sampling_find_modes(m, fit, err);
    for (size_t i = 0; st == FIT_OK && i < n; i++)
        memcpy(s->coordinate_name[i], m->p->coordinate[i].name, sizeof *s->coordinate_name);
    s->seconds.mode = fit_seconds() - begin;
    m->at_opening = m->resumed ? fit_posterior_passes(m->p) : 0;
    return st;
}

/* Target acceptance. Along a single coordinate trees of two points already make a U-turn; with 0.85 their steps are
 * so short that the draws stay correlated, with 0.7 one and a half to two times as many draws for each gradient are
 * effective (tests/e2e/test_posteriordb.c, --table), without divergences. Levels of a hierarchy have narrow regions. */
static double default_acceptance(const struct fit_posterior *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->coordinate[i].kind == FIT_POSTERIOR_LEVEL)
            return 0.95;
    return p->n == 1 ? 0.7 : 0.85;
}

/* Sizes and settings of a run. */
static void describe(struct fit_samples *s, const struct fit_posterior_setup *setup,
                     const struct fit_sampling_options *opt)
{
    const int nuts = opt->method == FIT_SAMPLING_NUTS;
    *s = (struct fit_samples){.method = opt->method,
                              .nparam = setup->kernel->nparam,
                              .nlinear = setup->kernel->nlinear,
                              .ngroup = setup->ds->layout.ngroup,
                              .pareto_k = NAN,
                              .log_evidence = NAN,
                              .weight_ess = NAN,
                              .chains = nuts ? or_else(opt->chains, 4) : 1,
                              .warmup = nuts ? or_else(opt->warmup, 300) : 0,
                              .draws = or_else(opt->draws, nuts ? 1000 : 2000),
                              .seed = opt->seed,
                              .max_depth = opt->max_depth ? opt->max_depth : 10};
    s->nsampled = s->nparam + s->ngroup * (s->nlinear + 1);
    s->ncolumn = s->nsampled + fit_derived_count(setup->kernel, s->ngroup);
    s->dense = nuts && !opt->diagonal;
}

/* Derived quantities of every draw. */
static enum fit_status derive(struct fit_samples *s, const struct fit_posterior *p, struct fit_error *err)
{
    const struct fit_kernel *k = p->setup.kernel;
    FIT_OWNED double *room = malloc((k->nderived + 1) * sizeof *room);
    if (!room)
        return fit_no_memory(err, "posterior");
    for (size_t d = 0; s->ncolumn > s->nsampled && d < s->chains * s->draws; d++) {
        double *x = s->x + d * s->ncolumn;
        fit_derived_all(k, &p->setup.ds->layout, x, x + s->nparam, room, x + s->nsampled);
    }
    return FIT_OK;
}

/* Evaluates the draws, if there are any. */
static enum fit_status summarise(struct fit_sampling_run *m, const struct fit_result *fit, struct fit_error *err)
{
    struct fit_samples *s = m->s;
    fit_posterior_uninterruptible(m->p);
    if (!s->consensus || !s->consensus->raw)
        complete_draws(m);
    enum fit_status st = derive(s, m->p, err);
    if (st == FIT_OK)
        st = fit_samples_weigh(m, err);
    if (st == FIT_OK)
        st = fit_samples_mirrors(s, m->p, err);
    if (st == FIT_OK) /* of draws that were folded */
        st = derive(s, m->p, err);
    if (st == FIT_OK)
        st = fit_samples_summarise(s, m->p, m->opt, err);
    if (st == FIT_OK)
        st = fit_samples_robust(s, fit, err);
    s->passes = fit_sampling_passes(m) + m->checkpoint.passes + (s->consensus ? s->consensus->passes : 0);
    return st;
}

enum fit_status fit_sample(const struct fit_posterior_setup *setup, const struct fit_result *fit,
                           const struct fit_sampling_options *opt, struct fit_samples *s, struct fit_error *err)
{
    describe(s, setup, opt);
    struct fit_sampling_run m = {.opt = opt, .s = s, .begin = fit_ranks_seconds()};
    enum fit_status st = fit_sampling_resume(&m, setup, err);
    if (st == FIT_OK)
        st = fit_sampling_open(&m, setup, err);
    if (st == FIT_OK)
        s->target_accept = opt->target_accept > 0 ? opt->target_accept : default_acceptance(m.p);
    if (st == FIT_OK)
        st = find_mode(&m, setup, fit, err);
    if (st == FIT_OK)
        st = allocate(&m, err);
    if (st == FIT_OK)
        st = run_method(&m, err);
    const double begin = fit_seconds();
    if (st == FIT_OK)
        st = summarise(&m, fit, err);
    s->seconds.summary = fit_seconds() - begin;
    s->seconds.total = fit_ranks_seconds() - m.begin + m.checkpoint.seconds;
    fit_sampling_close(&m);
    fit_posterior_free(m.p);
    if (st != FIT_OK)
        fit_samples_free(s);
    return st;
}
