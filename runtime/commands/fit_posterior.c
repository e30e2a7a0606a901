/* fit_posterior.c -- the posterior of the command `fit`: chains start from the least-squares result or continue from
 * their checkpoint, within the rest of --max-seconds. */
#include "base/clock.h"
#include "commands/fit_job.h"
#include "base/progress_line.h"
#include "model/registry.h"
#include "ranks/ranks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int on_sampling(void *user, const struct fit_sampling_progress *p)
{
    struct fit_job *job = user;
    return fit_progress_sampling(&job->view, p);
}

/* The checkpoint is in the output folder, which is created here. */
static enum fit_status prepare_checkpoint(struct fit_job *job, struct fit_error *err)
{
    const struct fit_config_sampling *c = &job->cfg->sampling;
    struct fit_sampling_options *o = &job->posterior.options;
    struct fit_output out;
    if (!c->checkpoints.value)
        return FIT_OK;
    job->identity = fit_sampling_identity(&job->posterior.posterior, o, job->m->sha256);
    if (!job->identity)
        return fit_no_memory(err, NULL);
    snprintf(job->checkpoint, sizeof job->checkpoint, "%s/posterior.checkpoint", job->folder);
    enum fit_status st = FIT_OK;
    if (fit_ranks_rank() == 0 && (st = fit_output_begin(&out, job->folder, err)) == FIT_OK)
        fit_output_abandon(&out);
    st = fit_ranks_agree_status(st, err);
    o->checkpoint = job->checkpoint;
    o->identity = job->identity;
    o->run_id = job->run_id;
    o->resume = job->cli->resume  ? FIT_RESUME
                : c->resume.value ? FIT_RESUME_UNFINISHED
                                  : FIT_RESUME_NO;
    return st;
}

static void say_how_it_began(struct fit_job *job)
{
    const struct fit_samples *s = &job->samples;
    if (s->resumed > 0)
        fit_notes_add(&job->notes,
                      s->consensus                         ? "sampling went on from %s after %.0f shards"
                      : s->method == FIT_SAMPLING_LAPLACE ? "sampling went on from %s after %.0f weighted draws"
                                                           : "the chains went on from %s after %.0f iterations",
                      job->checkpoint, s->resumed);
    else if (job->posterior.options.resume == FIT_RESUME)
        fit_notes_add(&job->notes, "--resume: there was no %s; sampling began anew",
                      job->checkpoint);
    if (s->begun_anew[0])
        fit_notes_add(&job->notes, "%s", s->begun_anew);
    if (s->checkpoint_error[0])
        fit_notes_add(&job->notes, "no checkpoint: %s", s->checkpoint_error);
    else if (!s->complete && job->checkpoint[0])
        fit_notes_add(&job->notes, "the draws are not complete: --resume goes on from %s", job->checkpoint);
}

/* The part of --max-seconds left for the chains; at most 0: none. Chains must not start from least squares that were
 * cut short: a checkpoint of such a run would continue from a wrong point. */
static double time_left(const struct fit_job *job)
{
    double limit = job->posterior.options.max_seconds;
    return limit > 0 ? limit - (fit_ranks_seconds() - job->began) : INFINITY;
}

static void no_posterior(struct fit_job *job, const char *why)
{
    snprintf(job->no_posterior, sizeof job->no_posterior, "%.500s", why);
    fit_notes_add(&job->notes, "no posterior: %s", job->no_posterior);
}

/* The priors of the sampled parameters. */
static void say_priors(struct fit_job *job)
{
    const struct fit_kernel *k = job->k;
    char text[256];
    for (size_t n = 0; n < k->nparam + k->nlinear; n++) {
        const struct fit_posterior_param *x = &job->posterior.param[n];
        if (x->fixed)
            continue;
        fit_sampling_prior_text(x, n < k->nparam ? &job->posterior.level[n] : NULL, text, sizeof text);
        fit_job_say(job, "prior of %s: %s", fit_kernel_unknown(k, n)->name, text);
    }
    if (job->posterior.posterior.variance != FIT_VARIANCE_KNOWN && !k->density) {
        fit_sampling_prior_text(&job->posterior.posterior.noise, NULL, text, sizeof text);
        fit_job_say(job, "prior of sigma: %s", text);
    }
}

/* What follows from draws. */
static enum fit_status judge_draws(struct fit_job *job, struct fit_error *err)
{
    struct fit_sampling_setup *s = &job->posterior;
    enum fit_status st = FIT_OK;
    if (!s->table.made)
        st = fit_predictive_new(&s->posterior, &job->samples, &job->predictive, err);
    if (st == FIT_OK && !s->table.made)
        st = fit_residual_check(&s->posterior, &job->samples, s->options.threads, &job->residuals, err);
    say_how_it_began(job);
    fit_job_say(job, "posterior %s: %s; %.0f gradients in %.3f s", fit_verdict_word(job->samples.verdict),
                job->samples.verdict_text, job->samples.gradients, job->samples.seconds.total);
    return st;
}

/* A posterior that was ended before it had draws is not an error: the least-squares result is still written. */
enum fit_status fit_job_sample(struct fit_job *job, struct fit_error *err)
{
    struct fit_sampling_setup *s = &job->posterior;
    enum fit_status st =
        fit_sampling_setup(job->cfg, job->k, job->m->dataset, &job->setup, &job->fit, s, err);
    if (st == FIT_OK && time_left(job) <= 0) {
        no_posterior(job, "the time limit was reached by the least-squares fit");
        return FIT_OK;
    }
    if (st == FIT_OK)
        st = prepare_checkpoint(job, err);
    if (st != FIT_OK)
        return st;
    fit_sampling_notes(job->cfg, s->options.method, &job->notes);
    s->options.progress = on_sampling;
    s->options.progress_user = job;
    s->options.interrupt = job->p->interrupt;
    s->options.max_seconds = isfinite(time_left(job)) ? fmax(time_left(job), 1e-6) : 0;
    say_priors(job);
    fit_progress_phase(&job->view, "locating the posterior mode");
    st = fit_sample(&s->posterior, &job->fit, &s->options, &job->samples, err);
    fit_progress_clear(&job->view);
    if (fit_dataset_status(job->m->dataset, err) != FIT_OK)
        st = err->status;
    job->sampled = st == FIT_OK;
    if (job->sampled && s->table.made)
        job->samples.log_evidence = NAN; /* of equations, which differ for another model */
    if (job->sampled)
        st = judge_draws(job, err);
    int unconverged =
        st == FIT_ERR_NUMERIC && s->options.method == FIT_SAMPLING_CONSENSUS; /* a shard, by name */
    if (st != FIT_ERR_INTERRUPTED && !unconverged)
        return st;
    no_posterior(job, err->message);
    return FIT_OK;
}
