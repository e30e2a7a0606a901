/* chains.c -- the chains of a sampling run: started at the mode or continued from a checkpoint, monitored, saved, and
 * their draws collected.
 *
 * A chain is a function of its options, its target and its start (chain.h), and a checkpoint contains the point about
 * which the target was built, the mode and the chains; the draws therefore do not depend on when a run was ended, how
 * often, or with how many threads it continues.
 */
#include "base/clock.h"
#include "ranks/ranks.h"
#include "sampling/sampling_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double SLICE = 0.1; /* s between looks at the clock */
static const double CHECKPOINT_SECONDS = 60;
enum { FEWEST_DRAWS = 4 }; /* of a chain, for any statistics */

/* ---- checkpoints ----------------------------------------------------------------------------- */

/* The chains begin anew, although there is a checkpoint. What another run has not finished may be hours of work: it is
 * kept under another name. */
static void begin_anew(struct fit_sampling_run *m, enum fit_status why, const char *words)
{
    const char *path = m->opt->checkpoint;
    char kept[1200], *text = m->s->begun_anew;
    const int keep = why == FIT_ERR_USAGE && m->checkpoint.finished == 0;
    const size_t n = sizeof m->s->begun_anew;
    snprintf(kept, sizeof kept, "%s.before", path);
    int failed = keep && fit_ranks_rank() == 0 && rename(path, kept) != 0;
    fit_ranks_copy(0, &failed, sizeof failed);
    snprintf(text, n, "%.500s; sampling began anew%s", words,
             failed ? ", and writes over it" : keep ? "; posterior.checkpoint.before is what that run had done" : "");
}

enum fit_status fit_sampling_resume(struct fit_sampling_run *m,
                                    const struct fit_posterior_setup *setup, struct fit_error *err)
{
    const struct fit_sampling_options *o = m->opt;
    struct fit_checkpoint *c = &m->checkpoint;
    if (o->resume == FIT_RESUME_NO || !o->checkpoint)
        return FIT_OK;
    int there = access(o->checkpoint, F_OK) == 0;
    fit_ranks_copy(0, &there, sizeof there);
    if (!there)
        return FIT_OK;
    enum fit_status st = fit_checkpoint_read(o->checkpoint, o->identity ? o->identity : "", c, err);
    if (o->resume == FIT_RESUME_UNFINISHED && (st != FIT_OK || c->finished != 0)) {
        if (st != FIT_OK)
            begin_anew(m, st, err ? err->message : "");
        fit_checkpoint_free(c);
        return FIT_OK;
    }
    if (st == FIT_ERR_USAGE && err) {
        const size_t n = strlen(err->message);
        snprintf(err->message + n, sizeof err->message - n,
                 "; give the same data, model and settings, or begin anew without --resume");
    }
    if (st != FIT_OK)
        return st;
    if (c->nparam != m->s->nparam || c->nlin != m->s->ngroup * m->s->nlinear ||
        c->ngroup != m->s->ngroup)
        return fit_fail(
            err, FIT_ERR_DATA,
            "%s: %zu + %zu parameters of %zu groups, where model and data have %zu + %zu"
            " of %zu",
            o->checkpoint, c->nparam, c->nlin, c->ngroup, m->s->nparam,
            m->s->ngroup * m->s->nlinear, setup->ds->layout.ngroup);
    m->resumed = 1;
    return FIT_OK;
}

/* A failure is reported, and does not end the run. */
void fit_sampling_save(struct fit_sampling_run *m, unsigned char *state, size_t size, int finished)
{
    const struct fit_posterior_setup *setup = &m->p->setup;
    struct fit_samples *s = m->s;
    struct fit_error err = {.status = FIT_OK};
    if (!m->opt->checkpoint)
        return;
    if (!state) {
        snprintf(s->checkpoint_error, sizeof s->checkpoint_error, "%.200s: out of memory", m->opt->checkpoint);
        return;
    }
    struct fit_checkpoint c = {.nparam = s->nparam,
                               .nlin = s->ngroup * s->nlinear,
                               .ngroup = s->ngroup,
                               .ncoordinate = s->ncoordinate,
                               .theta = (double *)setup->theta,
                               .lin = (double *)setup->lin,
                               .sigma = (double *)setup->sigma,
                               .mode = s->mode,
                               .covariance = s->mode_covariance,
                               .weak = (double)s->weak,
                               .plain_rates = (double)m->plain_rates,
                               .starts = (double)s->starts,
                               .seconds = fit_ranks_seconds() - m->begin + m->checkpoint.seconds,
                               .passes = fit_sampling_passes(m) + m->checkpoint.passes,
                               .other_mass = s->other_mass,
                               .finished = finished,
                               .state = state,
                               .size = size};
    snprintf(c.run, sizeof c.run, "%s", m->opt->run_id ? m->opt->run_id : "");
    memcpy(c.other_text, s->other_text, sizeof c.other_text);
    memcpy(c.start_text, s->start_text, sizeof c.start_text);
    if (fit_ranks_rank() == 0)
        fit_checkpoint_write(m->opt->checkpoint, m->opt->identity ? m->opt->identity : "", &c, &err);
    snprintf(s->checkpoint_error, sizeof s->checkpoint_error, "%.250s", err.message);
    m->saved = fit_ranks_seconds();
}

static void save(struct fit_sampling_run *m)
{
    double total, done = fit_sampler_done(m->sampler, &total);
    if (!m->opt->checkpoint)
        return;
    const size_t size = fit_sampler_state_size(m->sampler);
    FIT_OWNED unsigned char *state = malloc(size);
    if (state)
        fit_sampler_state_save(m->sampler, state);
    fit_sampling_save(m, state, size, done >= total);
}

/* Ends of adaptation windows, that of the warm-up included, that every chain has passed. */
static size_t windows_passed(const struct fit_sampling_run *m)
{
    struct fit_windows w;
    uint32_t least = UINT32_MAX;
    size_t n = 0;
    fit_windows_plan(&w, FIT_SCHEDULE_FISHER, m->s->warmup, 1);
    for (size_t k = 0; k < m->s->chains; k++) {
        uint32_t at = fit_chain_iteration(fit_sampler_chain(m->sampler, k));
        least = at < least ? at : least;
    }
    for (uint32_t k = 0; k < w.n; k++)
        n += least > w.end[k];
    return n + (least >= m->s->warmup);
}

static void save_when_due(struct fit_sampling_run *m)
{
    double every = m->opt->checkpoint_seconds > 0 ? m->opt->checkpoint_seconds : CHECKPOINT_SECONDS;
    size_t passed = windows_passed(m);
    if (passed > m->windows || fit_ranks_seconds() - m->saved >= every)
        save(m);
    m->windows = passed;
}

/* ---- progress -------------------------------------------------------------------------------- */

static void report(struct fit_sampling_run *m, const struct fit_sampler *sampler,
                   struct fit_sampling_progress *r)
{
    size_t chains = m->s->chains;
    *r = (struct fit_sampling_progress){.seconds = fit_ranks_seconds() - m->begin,
                                        .chains = chains,
                                        .warmup = m->s->warmup,
                                        .chain = m->chain,
                                        .resumed = m->s->resumed};
    r->done = fit_sampler_done(sampler, &r->total);
    for (size_t k = 0; k < chains; k++) {
        const struct fit_draw_stats *stats = fit_sampler_stats(sampler, k);
        const struct fit_chain *chain = fit_sampler_chain(sampler, k);
        size_t n = fit_sampler_count(sampler, k);
        struct fit_chain_progress c = {.iteration = fit_chain_iteration(chain),
                                       .draws = n,
                                       .step = fit_chain_step_size(chain),
                                       .accept = n ? 0 : NAN,
                                       .stats = stats};
        for (size_t d = 0; d < n; d++) {
            c.divergences += stats[d].divergent;
            c.accept += stats[d].accept_stat / (double)n;
            r->gradients += stats[d].n_gradient;
        }
        r->gradients += fit_chain_warmup_gradients(chain);
        r->step += c.step / (double)chains;
        r->divergences += c.divergences;
        m->chain[k] = c;
    }
}

static int watch(void *user, const struct fit_sampler *sampler)
{
    struct fit_sampling_run *m = user;
    struct fit_sampling_progress r;
    report(m, sampler, &r);
    save_when_due(m);
    if (m->opt->max_seconds > 0 && r.seconds > m->opt->max_seconds) {
        m->timed_out = 1;
        return 1;
    }
    if (m->opt->interrupt && *m->opt->interrupt)
        return 1;
    return m->opt->progress && m->opt->progress(m->opt->progress_user, &r);
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Copies draws and statistics out of the sampler; the fewest draws of a chain count for all. */
static void collect(struct fit_sampling_run *m)
{
    struct fit_samples *s = m->s;
    size_t d = s->ncoordinate, fewest = s->draws;
    for (size_t k = 0; k < s->chains; k++)
        fewest =
            fit_sampler_count(m->sampler, k) < fewest ? fit_sampler_count(m->sampler, k) : fewest;
    s->draws = fewest;
    for (size_t k = 0; k < s->chains; k++) {
        const struct fit_metric *metric = fit_chain_metric(fit_sampler_chain(m->sampler, k));
        size_t size = fit_metric_size(d, metric->dense);
        memcpy(s->q + k * fewest * d, fit_sampler_draws(m->sampler, k), fewest * d * sizeof *s->q);
        memcpy(s->stats + k * fewest, fit_sampler_stats(m->sampler, k), fewest * sizeof *s->stats);
        memcpy(s->inverse_metric + k * size, metric->inverse, size * sizeof *s->inverse_metric);
        s->gradients += fit_chain_warmup_gradients(fit_sampler_chain(m->sampler, k));
        for (size_t n = 0; n < fewest; n++) {
            s->lp[k * fewest + n] = s->stats[k * fewest + n].lp;
            s->gradients += s->stats[k * fewest + n].n_gradient;
        }
    }
}

/* A sampler at its start, or restored from the checkpoint. */
static enum fit_status open_sampler(struct fit_sampling_run *m, struct fit_error *err)
{
    struct fit_samples *s = m->s;
    struct fit_sampler_options so = {.chain = {.seed = s->seed,
                                               .warmup = (uint32_t)s->warmup,
                                               .target_accept = s->target_accept,
                                               .max_depth = s->max_depth,
                                               .schedule = FIT_SCHEDULE_FISHER,
                                               .diagonal = !s->dense},
                                     .chains = s->chains,
                                     .draws = s->draws,
                                     .threads = m->side_by_side ? s->threads : 1,
                                     .divided = m->apart,
                                     .groups = m->groups > 1 && m->groups < fit_ranks_size() ? m->groups : 0};
    enum fit_status st = fit_sampler_new(&m->p->target, &so, &m->sampler, err);
    if (st != FIT_OK)
        return st;
    m->chain = calloc(s->chains + 1, sizeof *m->chain);
    if (!m->chain)
        return fit_fail(err, FIT_ERR_MEMORY, "posterior: no memory for the chains");
    if (!m->resumed)
        return fit_sampler_start(m->sampler,
                                 &(struct fit_sampler_start){s->nmode > 1 ? s->modes : s->mode,
                                                             s->nmode > 1 ? s->mode_covariances : s->mode_covariance,
                                                             s->nmode, NULL},
                                 err);
    double total;
    st = fit_sampler_state_load(m->sampler, m->checkpoint.state, m->checkpoint.size, err);
    s->resumed = st == FIT_OK ? fit_sampler_done(m->sampler, &total) : 0;
    return st;
}

enum fit_status fit_sampling_chains(struct fit_sampling_run *m, struct fit_error *err)
{
    struct fit_samples *s = m->s;
    struct fit_sampler_watch w = {watch, m, SLICE};
    double begin = fit_seconds();
    enum fit_status st = open_sampler(m, err);
    if (st != FIT_OK)
        return st;
    m->windows = windows_passed(m);
    m->saved = fit_ranks_seconds();
    if ((st = fit_sampling_share(m, err)) != FIT_OK)
        return st;
    fit_sampling_part(m);
    st = fit_sampler_run(m->sampler, &w, err);
    fit_sampling_join(m);
    s->seconds.sampling = fit_seconds() - begin;
    if (st == FIT_ERR_INTERRUPTED) {
        s->end = m->timed_out ? FIT_SAMPLING_TIME : FIT_SAMPLING_STOPPED;
        st = FIT_OK; /* what there is counts */
    }
    if (st != FIT_OK)
        return st;
    s->complete = s->end == FIT_SAMPLING_COMPLETE;
    save(m);
    collect(m);
    if (s->draws < FEWEST_DRAWS && !s->complete)
        return fit_fail(
            err, FIT_ERR_INTERRUPTED,
            "sampling was %s during the warm-up%s: a chain has %zu draws, %d are the fewest%s",
            m->timed_out ? "ended by the time limit" : "stopped", s->draws ? " or just after it" : "", s->draws,
            FEWEST_DRAWS,
            m->opt->checkpoint && !s->checkpoint_error[0] ? "; --resume goes on from here" : "");
    return FIT_OK;
}

void fit_sampling_close(struct fit_sampling_run *m)
{
    fit_sampler_free(m->sampler);
    fit_checkpoint_free(&m->checkpoint);
    free(m->chain);
    free(m->other);
}

const char *fit_sampling_end_word(enum fit_sampling_end e)
{
    static const char *const word[] = {"complete", "time_limit", "interrupted"};
    return word[e];
}
