/* fit_minimise.c -- the least squares of the command `fit`, and further fits: bootstrap, every angle or every q
 * alone. */
#include "base/clock.h"
#include "commands/fit_job.h"
#include "base/progress_line.h"
#include "fit/fit.h"
#include "machine/memory.h"
#include "setup/memory_plan.h"

static int on_progress(void *user, const struct fit_progress *p)
{
    struct fit_job *job = user;
    if (p->phase)
        fit_job_say(job, "%s", p->phase);
    else
        fit_job_say(job, "iteration %zu: chi2 %.17g, step %.3g, distance %.3g", p->iteration,
                    p->chi2, p->step, p->gradient);
    return fit_progress_show(&job->view, p);
}

/* Options, links and the kernel to fit with. */
static enum fit_status set_up(struct fit_job *job, int shared, struct fit_error *err)
{
    struct fit_setup *s = &job->setup;
    fit_setup_free(s);
    enum fit_status st = fit_setup_options(job->cfg, job->model, job->m->dataset, job->m, s, err);
    if (st == FIT_OK)
        st = fit_setup_links(job->cfg, job->model, job->m->dataset, shared, s, err);
    job->k = s->link ? &s->link->kernel : job->model;
    s->options.progress = on_progress;
    s->options.progress_user = job;
    s->options.interrupt = job->p->interrupt;
    return st;
}

/* Values of groups start from those of a fit in which all groups share them. */
static enum fit_status begin_shared(struct fit_job *job, struct fit_error *err)
{
    struct fit_result shared;
    enum fit_status st = set_up(job, 1, err);
    if (st == FIT_OK)
        st = fit_run(job->k, job->m->dataset, &job->setup.options, &shared, err);
    if (st != FIT_OK)
        return st;
    fit_job_say(job, "all groups with the same parameters: chi2 %.10g, %s", shared.chi2,
                fit_word_name(shared.status));
    struct fit_linkage *link = job->setup.link;
    job->setup.link = NULL;
    st = set_up(job, 0, err);
    if (st == FIT_OK)
        fit_setup_start_from(&job->setup, link, &shared);
    job->shared_seconds = shared.seconds.total;
    fit_linkage_free(link);
    fit_result_free(&shared);
    return st;
}

enum fit_status fit_job_minimise(struct fit_job *job, struct fit_error *err)
{
    enum fit_status st = set_up(job, 0, err);
    if (st != FIT_OK || job->cli->dry_run)
        return st;
    job->view.npoint = job->m->dataset->npoint;
    job->view.gtol = job->setup.options.gtol;
    fit_progress_phase(&job->view, "looking for starting points");
    if (job->setup.copies)
        st = begin_shared(job, err);
    if (st == FIT_OK)
        st = fit_study_profiles(job->cfg, job->k, job->setup.link, job->m->dataset->layout.ngroup,
                                &job->profiles, &job->setup.options.nlikelihood, err);
    job->setup.options.likelihood = job->profiles;
    if (st == FIT_OK)
        st = fit_run(job->k, job->m->dataset, &job->setup.options, &job->fit, err);
    if (st == FIT_OK)
        job->fit.seconds.start += job->shared_seconds;
    fit_progress_clear(&job->view);
    if (fit_dataset_status(job->m->dataset, err) != FIT_OK) {
        if (st == FIT_OK)
            fit_result_free(&job->fit);
        return err->status;
    }
    if (st != FIT_OK)
        return *job->p->interrupt
                   ? fit_fail(err, FIT_ERR_INTERRUPTED, "interrupted before a first result")
                   : st;
    job->fitted = 1;
    fit_job_note_result(job);
    double begin = fit_seconds();
    fit_progress_phase(&job->view, "comparing data and model");
    st = fit_maps_new(job->k, job->m->dataset, &job->fit, job->fit.threads, &job->maps, err);
    fit_progress_clear(&job->view);
    if (st == FIT_OK)
    job->r.maps_seconds = fit_seconds() - begin;
    return st;
}

static enum fit_status every_q(struct fit_job *job, struct fit_error *err)
{
    struct fit_selection sel;
    struct fit_memory_plan plan;
    FIT_OWNED double *setting = fit_job_settings(job);
    if (!setting)
        return fit_no_memory(err, NULL);
    fit_selection_from_config(job->cfg, &sel);
    const struct fit_sequence_q spec = {job->cfg, job->model, &sel, setting, &job->setup, &job->fit};
    enum fit_status st = fit_memory_plan(&sel, job->cfg->nlsq.memory_fraction.value, &plan, err);
    if (st == FIT_OK) {
        sel.memory = plan.data_limit;
        st = fit_sequence_every_q(&spec, &job->study.sequence, err);
    }
    return st;
}

enum fit_status fit_job_study(struct fit_job *job, struct fit_error *err)
{
    const struct fit_config_study *c = &job->cfg->study;
    enum fit_status st = FIT_OK;
    struct fit_bootstrap_spec spec = {.kind = (enum fit_bootstrap_kind)c->bootstrap.value,
                                      .n = (size_t)c->replicates.value,
                                      .seed = (uint64_t)job->cfg->seed.value,
                                      .length = (size_t)job->cfg->robust.cluster_length.value,
                                      .joint = job->cfg->robust.cluster_joint.value,
                                      .threads = (int)job->cfg->threads.value,
                                      .most_mb = job->cfg->nlsq.memory_fraction.value *
                                                 fit_memory_available_mb()};
    if (spec.kind != FIT_BOOTSTRAP_NONE) {
        fit_progress_phase(&job->view, "bootstrap");
        st = fit_bootstrap(job->k, job->m->dataset, &job->setup.options, &job->fit, &spec,
                           &job->study.bootstrap, err);
    }
    if (st == FIT_OK && spec.kind != FIT_BOOTSTRAP_NONE)
        fit_job_say(job, "bootstrap: %zu of %zu fits came to their end, %.3f s",
                    job->study.bootstrap.good, spec.n, job->study.bootstrap.seconds);
    if (st == FIT_OK && c->sequence.value == FIT_SEQUENCE_Q) {
        fit_progress_phase(&job->view, "every q alone");
        st = every_q(job, err);
    }
    if (st == FIT_OK && c->sequence.value == FIT_SEQUENCE_ANGLE) {
        fit_progress_phase(&job->view, "every angle alone");
        st = fit_sequence(job->cfg, job->model, job->m->dataset, &job->setup, &job->fit,
                          &job->study.sequence, err);
    }
    fit_progress_clear(&job->view);
    return st;
}
