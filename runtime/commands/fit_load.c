/* fit_load.c -- the data of the command `fit`: a file of two-time matrices or a table, as the configuration selects;
 * prints the memory that the fit needs before anything large is read. */
#include "base/clock.h"
#include "commands/fit_job.h"
#include "base/progress_line.h"
#include "device/device.h"
#include "input/joint.h"
#include "input/table.h"
#include "setup/memory_plan.h"
#include "setup/sampling_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const double PROBED = 1e8; /* bytes: `probe` reads no more */

double *fit_job_settings(const struct fit_job *job)
{
    double *s = malloc((job->model->nsetting + 1) * sizeof *s);
    for (size_t i = 0; s && i < job->model->nsetting; i++)
        s[i] = job->cfg->setting[i].value;
    return s;
}

/* Prints the memory that the fit needs, before anything large is read. */
static enum fit_status estimate(struct fit_job *job, struct fit_selection *sel,
                                struct fit_error *err)
{
    struct fit_memory_plan plan;
    enum fit_status st = fit_memory_plan_files(job->cfg, sel, &plan, err);
    if (st != FIT_OK)
        return st;
    fit_memory_plan_loss(&plan, (enum fit_loss)job->cfg->nlsq.loss.value);
    double mb = plan.streamed ? plan.streamed_mb : plan.held_mb;
    sel->memory = plan.data_limit;
    job->bytes = fit_memory_plan_bytes(sel, &plan);
    job->r.estimate_mb = mb;
    fit_job_say(
        job, "memory: %.3g MB for %.0f points (%zu matrices, %zu frames)%s; %.0f MB are available",
        mb, plan.points, plan.ngroup, plan.frames, plan.streamed ? ", streamed" : "",
        plan.available_mb);
    if (!job->cli->quiet && !job->cli->json)
        fprintf(job->p->err, "memory: %.3g MB for %.0f points%s\n", mb, plan.points,
                plan.streamed ? ", read from the file in every pass" : "");
    return FIT_OK;
}

/* 1: no part of the run reads values directly: each of several ranks then needs only its share of them. */
static int needs_shares_only(const struct fit_job *job)
{
    const struct fit_config *c = job->cfg;
    return !fit_sampling_wanted(c) && c->study.bootstrap.value == FIT_BOOTSTRAP_NONE &&
           c->study.sequence.value == FIT_SEQUENCE_NONE && c->nlsq.estimator.value == FIT_ESTIMATOR_LEAST_SQUARES &&
           c->scaling.mode.value != FIT_SCALING_CONSTANT && !fit_device_used();
}

static enum fit_status load_pairs(struct fit_job *job, struct fit_error *err)
{
    struct fit_selection sel;
    fit_selection_from_config(job->cfg, &sel);
    if (!sel.path)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "%s: no data file; give experimental_data.file_path or --data",
                        job->cfg->file);
    sel.divide = needs_shares_only(job);
    enum fit_status st = estimate(job, &sel, err);
    if (st != FIT_OK || (job->cli->probe && !(job->bytes < PROBED)))
        return st;
    FIT_OWNED double *setting = fit_job_settings(job);
    if (!setting)
        return fit_no_memory(err, NULL);
    fit_progress_reading(&job->view, "loading", job->bytes);
    st = job->cfg->input.path.n > 1 ? fit_joint_load(job->cfg, job->k, &job->m, err)
                                    : fit_measurement_load(&sel, job->k, setting, &job->m, err);
    fit_progress_clear(&job->view);
    return st;
}

enum fit_status fit_job_give_sigma(const struct fit_job *job, struct fit_measurement *m, struct fit_error *err)
{
    const struct fit_config_input *in = &job->cfg->input;
    if (in->sigma.value == FIT_SIGMA_AUTO)
        return FIT_OK;
    if (in->sigma.value == FIT_SIGMA_FILE)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "sigma: %s: the standard deviations of a table are one of its columns, or one number",
                        in->sigma_path.value);
    if (job->k->density)
        return fit_fail(err, FIT_ERR_CONFIG, "sigma: model %s has a noise distribution of its own, %s; leave sigma out",
                        job->k->name, job->k->density->name);
    if (m->sigma_from == FIT_SIGMA_ARRAY)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "sigma: %s has standard deviations of its own, a column; leave sigma out", m->file);
    return fit_measurement_give_sigma(m, in->sigma_value.n, in->sigma_value.value, err);
}

static enum fit_status load_rows(struct fit_job *job, struct fit_error *err)
{
    const struct fit_config_input *in = &job->cfg->input;
    if (in->path.n == 0)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "%s: no table; give experimental_data.file_path or --data", job->cfg->file);
    FIT_OWNED double *setting = fit_job_settings(job);
    if (!setting)
        return fit_no_memory(err, NULL);
    enum fit_status st = in->path.n > 1
                             ? fit_joint_load(job->cfg, job->k, &job->m, err)
                             : fit_table_load(in->path.value[0], &job->cfg->table, job->k, setting, &job->m, err);
    return st == FIT_OK ? fit_job_give_sigma(job, job->m, err) : st;
}

enum fit_status fit_job_load(struct fit_job *job, struct fit_error *err)
{
    double begin = fit_seconds();
    enum fit_status st = job->k->space == FIT_PAIRS ? load_pairs(job, err) : load_rows(job, err);
    if (st != FIT_OK || !job->m)
        return st;
    job->r.load_seconds = fit_seconds() - begin;
    fit_notes_copy(&job->notes, &job->m->notes);
    if ((st = fit_input_describe(job->k, job->m, &job->input, err)) != FIT_OK)
        return st;
    fit_job_say(job, "%s: layout %s, SHA-256%s %s", job->m->file, job->m->layout,
                job->m->of_values ? " of what is fitted" : "", job->m->sha256);
    for (size_t f = 1; f < job->m->nfile; f++)
        fit_job_say(job, "%s: SHA-256%s %s", job->m->part[f].file,
                    job->m->part[f].of_values ? " of what is fitted" : "", job->m->part[f].sha256);
    fit_job_say(job, "%zu groups, %zu points, loaded in %.3f s%s", job->m->ngroup,
                job->m->dataset->npoint, job->r.load_seconds,
                fit_dataset_streamed(job->m->dataset) ? "; values stay in the file" : "");
    return FIT_OK;
}
