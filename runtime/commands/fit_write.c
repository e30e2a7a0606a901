/* fit_write.c -- the files of the command `fit`: all under temporary names first, then renamed, so that a folder of
 * results never mixes two fits. */
#define _DEFAULT_SOURCE /* gethostname */
#include "base/clock.h"
#include "base/number_text.h"
#include "commands/fit_job.h"
#include "machine/memory.h"
#include "machine/topology.h"
#include "ranks/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void gather(struct fit_job *job)
{
    struct fit_results *r = &job->r;
    r->program = job->p->name;
    r->command_line = job->command_line;
    r->run_id = job->run_id;
    r->kept = job->kept;
    gethostname(r->host, sizeof r->host - 1);
    r->begin = job->begin;
    r->end = time(NULL);
    r->kernel = job->k;
    r->link = job->setup.link;
    r->scaling = job->setup.options.scaling;
    r->config = job->cfg;
    r->config_text = job->config_text;
    r->input = &job->input;
    r->ds = job->m->dataset;
    r->fit = &job->fit;
    r->std_robust = fit_robust_given(&job->fit.robust) ? job->fit.std_robust : NULL;
    r->study = &job->study;
    r->samples = job->sampled ? &job->samples : NULL;
    r->predictive = job->predictive.nrow ? &job->predictive : NULL;
    r->residuals = job->residuals.draws ? &job->residuals : NULL;
    r->no_samples = job->no_posterior[0] ? job->no_posterior : NULL;
    r->maps = job->maps;
    r->peak_mb = fit_memory_peak_mb();
    r->nnote = job->notes.n;
    r->note = job->notes.text;
    r->folder = job->folder;
}

static enum fit_status add_text(struct fit_output *out, const char *name, char *text,
                                struct fit_error *err)
{
    enum fit_status st = text ? fit_output_add_text(out, name, text, strlen(text), err)
                              : fit_no_memory(err, name);
    free(text);
    return st;
}

/* The run that the file belongs to, for texts of lines. */
static void put_run(const struct fit_results *r, const char *before, FILE *f)
{
    fprintf(f, "%srun %s\n", before, r->run_id);
}

static char *summary_text(const struct fit_results *r)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    fit_write_summary(r, f);
    fit_study_summary(r, f);
    fit_write_posterior_summary(r, f);
    for (size_t k = 0; k < r->nnote; k++)
        fprintf(f, "note: %s\n", r->note[k]);
    put_run(r, "", f);
    return fit_text_end(f, &text);
}

static char *config_text(const struct fit_job *job)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    put_run(&job->r, "# ", f);
    fputs(job->config_text, f);
    return fit_text_end(f, &text);
}

static char *runlog_text(struct fit_job *job)
{
    for (size_t k = 0; k < job->notes.n; k++)
        fit_job_say(job, "note: %s", job->notes.text[k]);
    fit_job_say(job, "written to %s; %.0f MB at most", job->folder, job->r.peak_mb);
    if (!job->log_file || fflush(job->log_file) != 0)
        return NULL;
    return job->runlog ? strdup(job->runlog) : NULL;
}

int fit_job_writes_cmc(const struct fit_job *job)
{
    return job->sampled && job->cfg->compat.files.value && job->cfg->compat.peer.value == FIT_PEER_HOMODYNE;
}

/* The posterior in homodyne's own files, with `compat: homodyne`. */
static enum fit_status write_peer_files(const struct fit_job *job, struct fit_error *err)
{
    char folder[sizeof job->folder + 8];
    if (!fit_job_writes_cmc(job))
        return FIT_OK;
    snprintf(folder, sizeof folder, "%s/cmc", job->folder);
    return fit_write_cmc(&job->r, folder, err);
}

/* The large file first, so that the others can report its time. */
static enum fit_status write_files(struct fit_job *job, struct fit_error *err)
{
    struct fit_output out;
    const char *path = NULL;
    double begin = fit_seconds();
    enum fit_status st = fit_output_begin(&out, job->folder, err);
    if (st != FIT_OK)
        return st;
    st = fit_job_earlier(job, &out, err);
    if (st == FIT_OK)
        st = fit_output_add(&out, "fit.h5", &path, err);
    if (st == FIT_OK)
        st = fit_write_hdf5(&job->r, path, err);
    if (st == FIT_OK && job->sampled)
        st = fit_output_add(&out, "posterior.nc", &path, err);
    if (st == FIT_OK && job->sampled)
        st = fit_write_posterior(&job->r, path, err);
    job->r.write_seconds = fit_seconds() - begin;
    job->r.wall_seconds = fit_seconds() - job->clock;
    job->r.peak_mb = fit_memory_peak_mb();
    if (st == FIT_OK)
        st = add_text(&out, "summary.txt", summary_text(&job->r), err);
    if (st == FIT_OK && job->study.sequence.n)
        st = add_text(&out, "sequence.csv", fit_study_csv(&job->r), err);
    if (st == FIT_OK)
        st = add_text(&out, "config.effective.yaml", config_text(job), err);
    if (st == FIT_OK)
        st = add_text(&out, "run.log", runlog_text(job), err);
    if (st == FIT_OK)
        st = write_peer_files(job, err);
    if (st == FIT_OK) /* the last: when it exists, the others do */
        st = add_text(&out, "fit.json", fit_write_json(&job->r), err);
    if (st == FIT_OK)
        return fit_output_commit(&out, err);
    fit_output_abandon(&out);
    return st;
}

enum fit_status fit_job_write(struct fit_job *job, struct fit_error *err)
{
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_WRITE);
    gather(job);
    fit_topology_lend(job->p->cores); /* the others wait */
    enum fit_status st = fit_ranks_rank() == 0 ? write_files(job, err) : FIT_OK;
    fit_topology_lend(0);
    st = fit_ranks_agree_status(st, err);
    fit_clock_enter(was);
    return st;
}
