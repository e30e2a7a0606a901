/* correction.c -- the consensus of shards, corrected with all data, beside the exact posterior.
 *
 * The combination N(mu, C) of consensus.h is wrong where the posteriors of shards are not normal. As the proposal of an
 * importance sampler it does no harm: draws of a t distribution around mu with scale C (laplace.h) are weighted with
 * the density of all data, and the shape k of the weights' tail says whether that works. When it does not, one more
 * proposal is made from the weighted draws.
 *
 * The exact posterior, for comparison: Laplace with importance weights around the mode; when these fail and NUTS with
 * all data would be about as much work as the shards, NUTS. Work is counted, not timed: the numbers are the same on
 * every machine.
 */
#include "sampling/sampling_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "ranks/ranks.h"
#include "sampler/laplace.h"
#include "sampler/metric.h"

/* Evaluations for the exact posterior: a minute or so; or as many as for the shards. */
static const double MOST_VALUES = 5e10;

/* Mean and deviation of the nonlinear parameters over draws q with log weights lw (NULL: equal). */
static enum fit_status theta_moments(const struct fit_posterior *p, size_t draws, const double *q, const double *lw,
                                     double *mean, double *sd, struct fit_error *err)
{
    size_t n = p->setup.kernel->nparam;
    double *theta = malloc((n + 1) * sizeof *theta), equal = -log((double)draws);
    if (!theta)
        return fit_no_memory(err, "consensus");
    memset(mean, 0, n * sizeof *mean);
    memset(sd, 0, n * sizeof *sd);
    for (int second = 0; second < 2; second++)
        for (size_t k = 0; k < draws; k++) {
            double w = exp(lw ? lw[k] : equal);
            fit_posterior_theta(p, q + k * p->n, theta);
            for (size_t i = 0; i < n; i++) {
                double e = theta[i] - mean[i];
                if (second)
                    sd[i] += w * e * e;
                else
                    mean[i] += w * theta[i];
            }
        }
    for (size_t i = 0; i < n; i++)
        sd[i] = sqrt(sd[i]);
    free(theta);
    return FIT_OK;
}

/* The part of the combination that concerns q: location and scale (nq, nq x nq). */
static void marginal(const struct fit_consensus *c, double *location, double *scale)
{
    memcpy(location, c->mean, c->nq * sizeof *location);
    for (size_t i = 0; i < c->nq; i++)
        for (size_t j = 0; j < c->nq; j++)
            scale[i * c->nq + j] = c->covariance[i * c->nz + j];
}

/* theta_mean, theta_sd of the combination, from normal draws of q. */
static enum fit_status uncorrected(const struct fit_posterior *p, struct fit_samples *s, const double *location,
                                   const double *scale, struct fit_error *err)
{
    enum { DRAWS = 4000 };
    size_t n = p->n;
    FIT_OWNED double *q = malloc((DRAWS * n + 2 * n * n) * sizeof *q);
    enum fit_status st = q ? FIT_OK : fit_no_memory(err, "consensus");
    if (st != FIT_OK)
        return st;
    struct fit_metric shape = {n, 1, q + DRAWS * n, q + DRAWS * n + n * n};
    if (fit_metric_covariance(&shape, scale) != 0)
        st = fit_fail(err, FIT_ERR_NUMERIC, "consensus: the combined covariance is not positive definite");
    for (size_t k = 0; st == FIT_OK && k < DRAWS; k++) {
        struct fit_rng rng = {.seed = s->seed, .chain = 2, .iteration = (uint32_t)k, .purpose = FIT_RNG_SHARD};
        fit_rng_next_normals(&rng, n, q + k * n);
        fit_metric_position(&shape, q + k * n, q + k * n);
        for (size_t i = 0; i < n; i++)
            q[k * n + i] += location[i];
    }
    if (st == FIT_OK)
        st = theta_moments(p, DRAWS, q, NULL, s->consensus->theta_mean, s->consensus->theta_sd, err);
    return st;
}

/* The samples are the kept draws. */
static enum fit_status as_they_are(struct fit_posterior *p, struct fit_samples *s, struct fit_error *err)
{
    struct fit_consensus *c = s->consensus;
    c->raw = s->complete = 1;
    for (size_t k = 0; k < s->draws; k++) {
        const double *z = c->kept + k * c->nz;
        double *x = s->x + k * s->ncolumn;
        struct fit_rng rng = {.seed = s->seed, .iteration = (uint32_t)k, .purpose = FIT_RNG_CONDITIONAL};
        memcpy(s->q + k * c->nq, z, c->nq * sizeof *z);
        if (fit_target_eval(&p->target, 0, z, &s->lp[k], NULL) != FIT_EVAL_OK ||
            fit_consensus_parameters(p, 0, z, &rng, x, x + s->nparam, x + s->nparam + s->ngroup * s->nlinear) !=
                FIT_EVAL_OK)
            return fit_fail(err, FIT_ERR_NUMERIC, "consensus: a combined draw has no density");
    }
    return theta_moments(p, s->draws, s->q, NULL, c->theta_mean, c->theta_sd, err);
}

/* q, lp <- weighted draws around the combination. */
static enum fit_status correct(struct fit_sampling_run *m, const double *location, const double *scale,
                               struct fit_error *err)
{
    struct fit_posterior *p = m->p;
    struct fit_samples *s = m->s;
    struct fit_consensus *c = s->consensus;
    struct fit_laplace l = {0};
    struct fit_laplace_options lo = {.seed = s->seed, .draws = s->draws, .threads = m->side_by_side ? s->threads : 1,
                                     .no_refit = 1, .deadline = fit_sampling_deadline(m)};
    enum fit_status st = fit_laplace_run(&p->target, location, scale, &lo, &l, err);
    if (st != FIT_OK)
        return st;
    c->k = l.k;
    c->ess = l.ess;
    if (!(l.k < l.threshold)) {
        fit_laplace_free(&l);
        lo.no_refit = 0;
        st = fit_laplace_run(&p->target, location, scale, &lo, &l, err);
    }
    if (st == FIT_OK)
        st = fit_samples_resample(s, &l, err);
    fit_laplace_free(&l);
    return st;
}

static enum fit_status exact_by_nuts(struct fit_sampling_run *m, struct fit_error *err)
{
    const struct fit_sampling_options *opt = m->opt;
    const struct fit_posterior *p = m->p;
    struct fit_consensus *c = m->s->consensus;
    struct fit_samples other = {0};
    struct fit_sampling_options o = {.method = FIT_SAMPLING_NUTS, .seed = opt->seed, .threads = opt->threads,
                                     .interrupt = opt->interrupt};
    if (fit_sampling_deadline(m) > 0)
        o.max_seconds = fmax(fit_sampling_deadline(m) - fit_ranks_seconds(), 1e-6);
    enum fit_status st = fit_sample(&p->setup, NULL, &o, &other, err);
    if (st != FIT_OK)
        return st;
    for (size_t k = 0; k < other.nparam; k++) {
        c->exact_mean[k] = other.column[k].c.mean;
        c->exact_sd[k] = other.column[k].constant ? 0 : other.column[k].c.sd;
    }
    c->exact = other.complete && other.verdict != FIT_VERDICT_FAILED ? "nuts" : NULL;
    fit_samples_free(&other);
    return st;
}

/* exact_mean, exact_sd, exact. */
static enum fit_status find_exact(struct fit_sampling_run *m, struct fit_error *err)
{
    enum { NUTS_PASSES = 4 * 1300 * 7 * 3 }; /* chains, iterations, gradients of each, evaluations in a gradient */
    struct fit_posterior *p = m->p;
    struct fit_samples *s = m->s;
    struct fit_consensus *c = s->consensus;
    struct fit_laplace l = {0};
    struct fit_laplace_options lo = {.seed = s->seed + 1, .draws = s->draws,
                                     .threads = m->side_by_side ? s->threads : 1,
                                     .deadline = fit_sampling_deadline(m)};
    for (size_t k = 0; k < s->nparam; k++)
        c->exact_mean[k] = c->exact_sd[k] = NAN;
    enum fit_status st = fit_laplace_run(&p->target, s->mode, s->mode_covariance, &lo, &l, err);
    c->exact_k = st == FIT_OK ? l.k : NAN;
    if (st == FIT_OK && l.k < l.threshold) {
        c->exact = "laplace";
        st = theta_moments(p, l.draws, l.q, l.log_weight, c->exact_mean, c->exact_sd, err);
    } else if (st == FIT_OK && (NUTS_PASSES <= c->passes || NUTS_PASSES * (double)p->setup.ds->npoint <= MOST_VALUES)) {
        st = exact_by_nuts(m, err);
    }
    fit_laplace_free(&l);
    if (st != FIT_ERR_INTERRUPTED)
        return st;
    if (m->opt->interrupt && *m->opt->interrupt) /* the draws are there, only their comparison is not */
        s->end = FIT_SAMPLING_STOPPED;
    return FIT_OK;
}

static int shards_done(void *user, size_t done, size_t all)
{
    const struct fit_sampling_run *m = user;
    struct fit_sampling_progress r = {.done = (double)done, .total = (double)all, .resumed = m->s->resumed,
                                      .seconds = fit_ranks_seconds() - m->begin};
    return m->opt->progress && m->opt->progress(m->opt->progress_user, &r);
}

static void save_shards(void *user, const unsigned char *state, size_t size, int all)
{
    fit_sampling_save(user, (unsigned char *)(uintptr_t)state, size, all); /* only read */
}

static struct fit_consensus_options options(struct fit_sampling_run *m)
{
    struct fit_consensus_options o = m->opt->consensus;
    o.seed = m->opt->seed;
    o.threads = m->s->threads;
    o.keep = m->opt->uncorrected ? m->s->draws : 0;
    o.max_seconds = m->opt->max_seconds > 0 ? fmax(m->opt->max_seconds - (fit_ranks_seconds() - m->begin), 1e-6) : 0;
    o.progress = shards_done;
    o.progress_user = m;
    o.interrupt = m->opt->interrupt;
    o.state = m->resumed ? m->checkpoint.state : NULL;
    o.state_size = m->checkpoint.size;
    o.save = m->opt->checkpoint ? save_shards : NULL;
    o.save_user = m;
    o.save_seconds = m->opt->checkpoint_seconds;
    return o;
}

enum fit_status fit_sampling_consensus(struct fit_sampling_run *m, struct fit_error *err)
{
    const struct fit_sampling_options *opt = m->opt;
    struct fit_posterior *p = m->p;
    struct fit_samples *s = m->s;
    struct fit_consensus_options o = options(m);
    size_t n = p->n;
    FIT_OWNED double *location = malloc((n * n + n) * sizeof *location);
    if (!location)
        return fit_no_memory(err, "consensus");
    double *scale = location + n;
    enum fit_status st = fit_consensus_run(&p->setup, p, s->mode, s->mode_covariance, &o, &s->consensus, err);
    if (st == FIT_OK) {
        s->gradients = s->consensus->gradients;
        s->resumed = (double)s->consensus->resumed;
        marginal(s->consensus, location, scale);
        st = opt->uncorrected ? as_they_are(p, s, err) : uncorrected(p, s, location, scale, err);
    }
    if (st == FIT_OK && !opt->uncorrected)
        st = correct(m, location, scale, err);
    if (st == FIT_OK && !opt->uncorrected)
        st = find_exact(m, err);
    return st;
}
