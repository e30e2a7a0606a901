/* one_shard.c -- one shard: its posterior, its chains, complete draws, their mean and precision.
 *
 * Everything here is a function of the data, the options and the shard's number; nothing depends on threads, nor on the
 * shards done before.
 */
#include "consensus/consensus_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "machine/team.h"
#include "sampler/diagnostics.h"
#include "sampler/sampler.h"
#include "posterior/mode.h"

static const double SLICE = 0.2; /* s between looks at the clock */

static double given(double x, double otherwise)
{
    return x > 0 ? x : otherwise;
}

/* ---- z ------------------------------------------------------------------------------------------------- */

static int sampled_sigma(const struct fit_collapsed *c)
{
    return c->variance == FIT_VARIANCE_UNIT || c->variance == FIT_VARIANCE_SHARED;
}

size_t fit_consensus_count(const struct fit_posterior *p)
{
    const struct fit_collapsed *c = fit_posterior_collapsed(p);
    size_t n = p->n + (sampled_sigma(c) ? c->nunit : 0);
    for (size_t u = 0; u < c->o->nu; u++)
        n += !c->explicit_[u];
    return n;
}

/* Between z behind its coordinates q and (lin, sigma): put = 1 writes z, 0 writes lin and sigma. */
static void exchange(const struct fit_posterior *p, double *z, double *lin, double *sigma, int put)
{
    const struct fit_collapsed *c = fit_posterior_collapsed(p);
    const struct fit_objective *o = c->o;
    size_t n = p->n;
    for (size_t u = 0; u < o->nu; u++) {
        if (c->explicit_[u])
            continue;
        for (size_t e = 0; e < o->ngroup * o->nlinear; e++) {
            if (o->map[e] != (int)u)
                continue;
            if (put)
                z[n] = lin[e];
            else
                lin[e] = z[n];
        }
        n++;
    }
    for (size_t g = 0; sampled_sigma(c) && g < o->ngroup; g++) {
        if (put)
            z[n + c->unit[g]] = log(sigma[g]);
        else
            sigma[g] = exp(z[n + c->unit[g]]);
    }
}

enum fit_eval fit_consensus_parameters(struct fit_posterior *full, size_t chain, const double *z, struct fit_rng *rng,
                                       double *theta, double *lin, double *sigma)
{
    enum fit_eval e = fit_posterior_draw(full, chain, z, rng, theta, lin, sigma);
    if (e == FIT_EVAL_OK)
        exchange(full, (double *)(uintptr_t)z, lin, sigma, 0); /* only read */
    return e;
}

/* Seeds of the chains of a shard's attempt: distinct from those of all other shards and of other seeds. */
static uint64_t shard_seed(uint64_t seed, size_t shard, unsigned attempt)
{
    uint32_t word[4];
    fit_rng_words(seed, (uint64_t)2 << 32 | FIT_RNG_SHARD, shard * (FIT_CONSENSUS_RETRIES + 1) + attempt, word);
    return (uint64_t)word[0] << 32 | word[1];
}

/* ---- chains -------------------------------------------------------------------------------------------- */

struct shard_run {
    struct fit_consensus_run *c;
    size_t number;
    struct fit_dataset *ds;
    struct fit_posterior *p;
    struct fit_sampler *sampler;
    double *q, *covariance; /* mode and inverse Hessian there */
    double *z;              /* chains x draws x nz */
    struct fit_arena storage;
};

/* Starts from the mode of the whole, with standard deviations multiplied by the root of the number of shards. */
static enum fit_status find_mode(struct shard_run *r, double *scale, double *widest, struct fit_error *err)
{
    const struct fit_consensus_run *c = r->c;
    size_t n = c->out->nq;
    struct fit_mode_ask ask = {scale, widest, 0};
    struct fit_mode mode = {.q = r->q, .covariance = r->covariance};
    memcpy(r->q, c->mode, n * sizeof *r->q);
    fit_mode_scales(c->full, NULL, c->mode, scale, widest);
    for (size_t i = 0; i < n; i++)
        scale[i] = fmin(sqrt((double)c->out->nshard * c->covariance[i * n + i]), 1);
    return fit_mode_find(&r->p->target, &ask, &mode, err);
}

static enum fit_status open_shard(struct shard_run *r, struct fit_error *err)
{
    struct fit_consensus_run *c = r->c;
    const struct fit_consensus *out = c->out;
    size_t n = out->nq, rows = out->chains * out->draws;
    enum fit_status st = fit_shards_open(c->shards, r->number, c->setup->kernel->nlinear, &r->ds, err);
    if (st != FIT_OK)
        return st;
    c->out->shard[r->number].npoint = r->ds->npoint;
    struct fit_posterior_setup setup = *c->setup;
    setup.ds = r->ds;
    setup.temper = 1 / (double)out->nshard;
    setup.like = c->full;
    setup.chains = c->inner > 1 ? out->chains : 1;
    setup.threads = 1;
    setup.interrupt = c->opt.interrupt;
    st = fit_posterior_new(&setup, &r->p, err);
    double *location, *scale;
    FIT_TAKE_DOUBLES(&r->storage, n, &r->q, &location, &scale);
    FIT_TAKE_DOUBLES(&r->storage, n * n, &r->covariance);
    FIT_TAKE_DOUBLES(&r->storage, rows * out->nz, &r->z);
    if (st == FIT_OK && r->storage.failed)
        st = fit_no_memory(err, NULL);
    return st == FIT_OK ? find_mode(r, location, scale, err) : st;
}

/* Convergence of the worst coordinate; mean of its effective draws. */
static enum fit_status examine(struct shard_run *r, struct fit_shard_report *report, struct fit_error *err)
{
    const struct fit_consensus *out = r->c->out;
    FIT_OWNED const double **chain = malloc(out->chains * sizeof *chain);
    enum fit_status st = chain ? FIT_OK : fit_no_memory(err, NULL);
    report->r_hat = 0;
    report->ess = INFINITY;
    report->divergences = 0;
    for (size_t k = 0; k < out->chains && st == FIT_OK; k++) {
        const struct fit_draw_stats *stats = fit_sampler_stats(r->sampler, k);
        report->gradients += fit_chain_warmup_gradients(fit_sampler_chain(r->sampler, k));
        for (size_t d = 0; d < out->draws; d++) {
            report->divergences += stats[d].divergent;
            report->gradients += stats[d].n_gradient;
        }
    }
    for (size_t i = 0; i < out->nq && st == FIT_OK; i++) {
        struct fit_convergence v;
        for (size_t k = 0; k < out->chains; k++)
            chain[k] = fit_sampler_draws(r->sampler, k) + i;
        st = fit_convergence(&(struct fit_draws){out->chains, out->draws, chain, out->nq}, &v, err);
        report->r_hat = v.r_hat <= report->r_hat ? report->r_hat : v.r_hat; /* NaN stays */
        double ess = fmin(v.ess_bulk, v.ess_mean);
        report->ess = ess >= report->ess ? report->ess : ess;
    }
    return st;
}

static int admitted(const struct fit_consensus_run *c, const struct fit_shard_report *r)
{
    double n = (double)(c->out->chains * c->out->draws), d = (double)c->out->nz;
    return r->r_hat < given(c->opt.max_r_hat, 1.05) && r->ess >= given(c->opt.min_ess, 100) && r->ess > d + 12 &&
           r->divergences <= given(c->opt.max_divergence_rate, 0.05) * n;
}

static int watch(void *user, const struct fit_sampler *sampler)
{
    (void)sampler;
    return fit_consensus_halted(user);
}

/* Attempt number k: a higher target of acceptance and a longer warm-up each time. */
static enum fit_status sample_shard(struct shard_run *r, unsigned k, struct fit_error *err)
{
    struct fit_consensus_run *c = r->c;
    const struct fit_consensus *out = c->out;
    struct fit_sampler_options so = {
        .chain = {.seed = shard_seed(c->opt.seed, r->number, k),
                  .warmup = (uint32_t)(out->warmup << k),
                  .target_accept = fmin(given(c->opt.target_accept, 0.85) + 0.05 * k, k ? 0.95 : 1),
                  .max_depth = c->opt.max_depth ? c->opt.max_depth : 10,
                  .schedule = FIT_SCHEDULE_FISHER, .diagonal = c->opt.diagonal},
        .chains = out->chains, .draws = out->draws, .threads = c->inner};
    struct fit_sampler_watch w = {watch, c, SLICE};
    fit_sampler_free(r->sampler);
    r->sampler = NULL;
    enum fit_status st = fit_sampler_new(&r->p->target, &so, &r->sampler, err);
    if (st == FIT_OK)
        st = fit_sampler_start(r->sampler, &(struct fit_sampler_start){.mode = r->q, .covariance = r->covariance}, err);
    return st == FIT_OK ? fit_sampler_run(r->sampler, &w, err) : st;
}

static enum fit_status converge(struct shard_run *r, struct fit_shard_report *report, struct fit_error *err)
{
    for (unsigned k = 0; k <= FIT_CONSENSUS_RETRIES; k++) {
        enum fit_status st = sample_shard(r, k, err);
        if (st == FIT_OK)
            st = examine(r, report, err);
        if (st != FIT_OK || admitted(r->c, report))
            return st;
        report->retries += k < FIT_CONSENSUS_RETRIES;
    }
    return fit_fail(err, FIT_ERR_NUMERIC,
                    "%zu points do not determine the parameters well enough to be sampled, after %d attempts: R-hat"
                    " %.3f, %.0f effective draws, %.0f divergences; give fewer shards, or --method nuts, which needs"
                    " none", report->npoint, FIT_CONSENSUS_RETRIES + 1, report->r_hat, report->ess,
                    report->divergences);
}

/* ---- complete draws ------------------------------------------------------------------------------------ */

struct completion {
    struct shard_run *r;
    enum fit_eval *answer; /* chains */
    double *room;          /* chains x width */
    size_t width;
};

/* z of the draws of a chain. */
static void complete_chain(void *user, size_t chain, size_t thread)
{
    struct completion *x = user;
    struct shard_run *r = x->r;
    const struct fit_consensus *out = r->c->out;
    const struct fit_kernel *k = r->p->setup.kernel;
    double *theta = x->room + chain * x->width, *lin = theta + k->nparam,
           *sigma = lin + r->ds->layout.ngroup * k->nlinear;
    (void)thread;
    for (size_t d = 0; d < out->draws && x->answer[chain] == FIT_EVAL_OK; d++) {
        const double *q = fit_sampler_draws(r->sampler, chain) + d * out->nq;
        double *z = r->z + (chain * out->draws + d) * out->nz;
        struct fit_rng rng = {.seed = shard_seed(r->c->opt.seed, r->number, 0), .chain = (uint32_t)chain,
                              .iteration = (uint32_t)d, .purpose = FIT_RNG_CONDITIONAL};
        x->answer[chain] = fit_posterior_draw(r->p, chain, q, &rng, theta, lin, sigma);
        memcpy(z, q, out->nq * sizeof *z);
        exchange(r->p, z, lin, sigma, 1);
    }
}

static enum fit_status complete(struct shard_run *r, struct fit_error *err)
{
    FIT_SCRATCH(a);
    const struct fit_consensus *out = r->c->out;
    const struct fit_kernel *k = r->p->setup.kernel;
    struct completion x = {.r = r, .width = k->nparam + r->ds->layout.ngroup * (k->nlinear + 1) + FIT_LANES};
    enum fit_status st = FIT_OK;
    x.answer = fit_take(&a, out->chains, sizeof *x.answer);
    x.room = fit_take(&a, out->chains * x.width, sizeof *x.room);
    if (!a.failed)
        fit_team_run((struct fit_team){r->c->inner, FIT_TEAM_NEXT}, out->chains, complete_chain, &x);
    else
        st = fit_no_memory(err, NULL);
    for (size_t chain = 0; chain < out->chains && st == FIT_OK; chain++)
        if (x.answer[chain] != FIT_EVAL_OK)
            st = x.answer[chain] == FIT_EVAL_STOP ? fit_fail(err, FIT_ERR_INTERRUPTED, "stopped")
                                                  : fit_fail(err, FIT_ERR_INTERNAL, "no density at a draw");
    return st;
}

/* ---- mean and precision -------------------------------------------------------------------------------- */

/* Mean and L_s of a shard, and the draws that are kept. */
static enum fit_status summarise(struct shard_run *r, double ess, struct fit_error *err)
{
    struct fit_consensus_run *c = r->c;
    size_t n = c->out->nz, rows = c->out->chains * c->out->draws, keep = c->opt.keep;
    double *mean = c->mean + r->number * n, *precision = c->precision + r->number * n * n;
    FIT_OWNED double *square = calloc(n * n + 2 * n, sizeof *square);
    if (!square)
        return fit_no_memory(err, NULL);
    double *unit = square + n * n, *e = unit + n;
    memset(mean, 0, n * sizeof *mean);
    for (size_t k = 0; k < rows; k++)
        for (size_t i = 0; i < n; i++)
            mean[i] += r->z[k * n + i] / (double)rows;
    for (size_t k = 0; k < rows; k++) {
        for (size_t i = 0; i < n; i++)
            e[i] = r->z[k * n + i] - mean[i];
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++)
                square[i * n + j] += e[i] * e[j];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            square[i * n + j] = square[j * n + i] = square[i * n + j] / (double)(rows - 1);
    int bad = fit_consensus_invert(n, square, precision, unit);
    double shrink = (ess - (double)n - 2) / (ess - 1);
    for (size_t i = 0; i < n * n; i++)
        precision[i] *= shrink;
    for (size_t k = 0; k < keep; k++)
        memcpy(c->kept + (r->number * keep + k) * n, r->z + k * rows / keep * n, n * sizeof *r->z);
    return bad ? fit_fail(err, FIT_ERR_NUMERIC, "the draws do not vary in some direction") : FIT_OK;
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

enum fit_status fit_consensus_shard(struct fit_consensus_run *c, size_t number, struct fit_error *err)
{
    struct shard_run r = {.c = c, .number = number};
    struct fit_shard_report *report = &c->out->shard[number];
    double begin = fit_seconds();
    *report = (struct fit_shard_report){.distance = NAN, .p = NAN};
    enum fit_status st = open_shard(&r, err);
    if (st == FIT_OK)
        st = converge(&r, report, err);
    if (st == FIT_OK)
        st = complete(&r, err);
    if (st == FIT_OK)
        st = summarise(&r, fmin(report->ess, (double)(c->out->chains * c->out->draws)), err);
    report->passes = r.p ? fit_posterior_passes(r.p) : 0;
    report->seconds = fit_seconds() - begin;
    fit_sampler_free(r.sampler);
    fit_posterior_free(r.p);
    fit_shards_close(c->shards, r.ds);
    fit_arena_free(&r.storage);
    return st;
}
