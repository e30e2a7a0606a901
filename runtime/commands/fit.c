/* fit.c -- `fit`: configuration, data, least squares, results.
 *
 * Order of work: read the configuration; print the memory it needs; load; fit; compare data and model; write all
 * files under temporary names; rename them; print one screen. An interrupted fit, or one that has not converged,
 * writes the same files, marked accordingly. The phases are those of fit_job.h; this file has the configuration, the
 * log, the order and the exit code. */
#include "base/arena.h"
#include "base/clock.h"
#include "commands/fit_job.h"
#include "base/progress_line.h"
#include "commands/configuration.h"
#include "fit/fit.h"
#include "model/registry.h"
#include "ranks/ranks.h"
#include "ranks/same.h"

#include "common/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NAME = 100 }; /* of a result file, with the additional characters of its temporary name */

/* ---- the log --------------------------------------------------------------------------------- */

void fit_job_say(struct fit_job *job, const char *format, ...)
{
    FILE *const file[] = {job->log_file, job->log_copy};
    for (size_t k = 0; k < 2; k++) {
        va_list ap;
        if (!file[k])
            continue;
        fprintf(file[k], "%8.3f  ", fit_seconds() - job->clock);
        va_start(ap, format);
        vfprintf(file[k], format, ap);
        va_end(ap);
        fputc('\n', file[k]);
    }
}

/* --log: the same lines, for readers while the fit runs. */
static enum fit_status open_log(struct fit_job *job, struct fit_error *err)
{
    if (!job->cli->log || fit_ranks_rank() > 0)
        return FIT_OK;
    job->log_copy = fopen(job->cli->log, "w");
    if (!job->log_copy)
        return fit_fail(err, FIT_ERR_IO, "--log %s: cannot be written: %s", job->cli->log,
                        strerror(errno));
    setvbuf(job->log_copy, NULL, _IOLBF, 0);
    return FIT_OK;
}

/* ---- configuration --------------------------------------------------------------------------- */

/* "my.yaml:14:3: text", without the folder of the file */
static void add_config_note(struct fit_job *job, const struct fit_config_message *m)
{
    const char *file = text_file_name(m->file);
    if (m->line)
        fit_notes_add(&job->notes, "%s:%u:%u: %s", file, m->line, m->column, m->says);
    else
        fit_notes_add(&job->notes, "%s: %s", file, m->says);
}

static void print_config_log(struct fit_job *job, const struct fit_error *err)
{
    for (size_t k = 0; k < job->log.n; k++) {
        const struct fit_config_message *m = &job->log.message[k];
        fit_job_say(job, "%s", m->text);
        if (m->error && strcmp(m->text, err->message) != 0)
            fprintf(job->p->err, "%s\n", m->text);
        else if (!m->error)
            add_config_note(job, m);
    }
}

static void note_ignored(struct fit_job *job)
{
    char text[512] = "";
    for (size_t k = 0; k < job->cli->nignored; k++) {
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s--%s", k ? ", " : "", job->cli->ignored[k].name);
    }
    if (job->cli->nignored)
        fit_notes_add(&job->notes, "no effect here: %s", text);
}

/* The variant that reproduces the requested package: parity_xpcsjax if the model has one, else parity. */
static const char *parity_variant(const struct fit_job *job)
{
    const char *own = job->cfg->compat.peer.value == FIT_PEER_XPCSJAX ? "parity_xpcsjax" : "parity";
    for (const struct fit_kernel *const *k = job->p->kernels; *k; k++)
        if (strcmp((*k)->variant, own) == 0)
            return own;
    return "parity";
}

/* The last fit into the folder; NULL: there is none that can be read. */
static struct fit_yaml_doc *read_last(const char *folder)
{
    char path[1100];
    struct fit_yaml_doc *doc = NULL;
    snprintf(path, sizeof path, "%s/fit.json", folder);
    fit_yaml_parse_file(path, &doc, NULL);
    return doc;
}

/* The output folder; no other run may be using it. */
static enum fit_status take_folder(struct fit_job *job, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    const char *dir = job->cfg->output.dir.value;
    if (st == FIT_OK && dir && strlen(dir) + LONGEST_NAME > sizeof job->folder)
        st = fit_fail(err, FIT_ERR_USAGE, "%.60s...: the path of the output folder has %zu characters, more than %zu",
                      dir, strlen(dir), sizeof job->folder - LONGEST_NAME);
    if (dir)
        snprintf(job->folder, sizeof job->folder, "%s", dir);
    else
        snprintf(job->folder, sizeof job->folder, "%s_results", job->k->name);
    const int takes = !job->cli->dry_run && fit_ranks_rank() == 0;
    if (st == FIT_OK && takes)
        st = fit_lock_take(&job->lock, job->folder, job->p->name, job->run_id, err);
    st = fit_ranks_agree_status(st, err);
    if (st == FIT_OK && takes && !job->lock.enforced)
        fit_notes_add(&job->notes, "the file system of %s has no locks: nothing keeps a second run out of it",
                      job->folder);
    return st;
}

/* Ranks may have files in different places, but everything else that is in effect must be that of all. */
static enum fit_status compare_config(const struct fit_job *job, struct fit_error *err)
{
    char here[FIT_RANKS_WHERE], there[FIT_RANKS_WHERE];
    struct fit_config c = *job->cfg;
    c.input.path.n = 0;
    c.output.dir.value = NULL;
    if (c.input.sigma.value == FIT_SIGMA_FILE)
        c.input.sigma.value = FIT_SIGMA_AUTO;
    FIT_OWNED char *text = fit_config_text(&c);
    size_t r = fit_ranks_odd(text ? text : "", text ? strlen(text) : 0);
    if (r)
        return fit_fail(err, FIT_ERR_USAGE,
                        "%s and %s start from different values: with --resume all ranks need the same fit.h5",
                        fit_ranks_where(0, here), fit_ranks_where(r, there));
    snprintf(here, sizeof here, "%s %s", job->k->variant, job->k->isa);
    r = fit_ranks_odd(here, strlen(here));
    return !r ? FIT_OK
              : fit_fail(err, FIT_ERR_USAGE, "%s and %s have different kernels; this one has %s %s",
                         fit_ranks_where(0, here), fit_ranks_where(r, there), job->k->variant, job->k->isa);
}

/* All ranks read the same configuration and the same data, or none goes on. */
static enum fit_status compare_data(const struct fit_job *job, struct fit_error *err)
{
    const struct fit_config_input *in = &job->cfg->input;
    enum fit_status st = FIT_OK;
    for (size_t k = 0; st == FIT_OK && k < in->path.n; k++)
        st = fit_ranks_same_file("the data file", in->path.value[k], FIT_ERR_DATA, err);
    if (st == FIT_OK && in->sigma.value == FIT_SIGMA_FILE)
        st = fit_ranks_same_file("the file of standard deviations", in->sigma_path.value, FIT_ERR_DATA, err);
    return st;
}

static enum fit_status settle_config(struct fit_job *job, struct fit_error *err)
{
    const char *file = fit_setup_config_file(job->cli);
    enum fit_status st = file ? fit_ranks_same_file("the configuration", file, FIT_ERR_CONFIG, err) : FIT_OK;
    if (st != FIT_OK)
        return st;
    st = fit_setup_config(job->cli, job->k, &job->log, &job->cfg, err);
    print_config_log(job, err);
    note_ignored(job);
    st = fit_ranks_agree_status(st, err);
    return st == FIT_OK && fit_ranks_shared() ? compare_config(job, err) : st;
}

static enum fit_status begin(struct fit_job *job, struct fit_error *err)
{
    enum fit_status st = open_log(job, err);
    job->began = fit_ranks_seconds();
    if (st == FIT_OK)
        st = fit_program_kernel(job->p, job->cli, &job->k, err);
    if (st == FIT_OK)
        st = fit_progress_begin(&job->view, job->p->err, job->p->err_is_terminal,
                                job->cli->progress, job->cli->quiet, err);
    return fit_ranks_agree_status(st, err);
}

static enum fit_status configure(struct fit_job *job, struct fit_error *err)
{
    enum fit_status st = begin(job, err);
    if (st == FIT_OK)
        st = settle_config(job, err);
    if (st != FIT_OK)
        return st;
    if (job->cfg->compat.parity.value && !job->cli->variant) /* same parameters, other arithmetic */
        st = fit_registry_pick(job->p->kernels, parity_variant(job), job->cli->isa, &job->k, err);
    job->model = job->k;
    if (st == FIT_OK)
        st = fit_setup_supported(job->cfg, job->k, err);
    if (st == FIT_OK)
        st = compare_data(job, err);
    if (st == FIT_OK)
        st = take_folder(job, err);
    job->last = fit_ranks_rank() == 0 ? read_last(job->folder) : NULL;
    job->config_text = fit_config_text(job->cfg);
    if (st == FIT_OK && !job->config_text)
        st = fit_fail(err, FIT_ERR_MEMORY, "%s: out of memory for the configuration in effect", job->cfg->file);
    fit_job_say(job, "%s %s, model %s, kernel %s %s", job->p->name, FIT_VERSION, job->k->name,
                job->k->variant, job->k->isa);
    fit_job_say(job, "%s", job->command_line ? job->command_line : "");
    fit_job_say(job, "run %s", job->run_id);
    return st;
}

/* ---- all together ---------------------------------------------------------------------------- */

static void release(struct fit_job *job)
{
    fit_progress_clear(&job->view);
    fit_maps_free(job->maps);
    if (job->sampled)
        fit_samples_free(&job->samples);
    fit_predictive_free(&job->predictive);
    fit_residual_check_free(&job->residuals);
    fit_sampling_setup_free(&job->posterior);
    if (job->fitted)
        fit_result_free(&job->fit);
    fit_study_free(&job->study);
    free(job->profiles);
    fit_setup_free(&job->setup);
    fit_measurement_free(job->m);
    fit_config_free(job->cfg);
    fit_config_log_free(&job->log);
    fit_notes_free(&job->notes);
    if (job->log_file)
        fclose(job->log_file);
    if (job->log_copy)
        fclose(job->log_copy);
    fit_yaml_free(job->last);
    free(job->runlog);
    free(job->command_line);
    free(job->config_text);
    free(job->identity);
    fit_input_free(&job->input);
    fit_lock_release(&job->lock);
}

/* 0 converged, 2 finished without convergence, 130 ended by a signal. */
static int exit_code(const struct fit_job *job)
{
    const struct fit_samples *s = &job->samples;
    if (job->fit.status == FIT_INTERRUPTED || (job->sampled && s->end == FIT_SAMPLING_STOPPED) ||
        (job->no_posterior[0] && *job->p->interrupt))
        return fit_status_exit(FIT_ERR_INTERRUPTED);
    if (fit_sampling_wanted(job->cfg))
        return job->sampled && s->complete && s->verdict != FIT_VERDICT_FAILED ? 0 : 2;
    return job->fit.converged ? 0 : 2;
}

/* With --quiet, the reason why the exit code is not 0. */
static void tell_why(const struct fit_job *job)
{
    const struct fit_samples *s = &job->samples;
    FILE *f = job->p->err;
    fprintf(f, "%s: %s: ", job->p->name, job->folder);
    if (job->p->exit_code != 2)
        fprintf(f, "interrupted; what was done until then is kept\n");
    else if (job->sampled && s->verdict_text[0])
        fprintf(f, "posterior: %s: %s\n", fit_verdict_word(s->verdict), s->verdict_text);
    else if (fit_sampling_wanted(job->cfg) && job->no_posterior[0])
        fprintf(f, "no posterior: %s\n", job->no_posterior);
    else
        fprintf(f, "not converged: %s\n", job->fit.message);
}

/* `probe`, which is a dry run. */
static enum fit_status probe(struct fit_job *job, struct fit_error *err)
{
    fprintf(job->p->out, "%s\n", FIT_PROBE_GOOD);
    const enum fit_status st = fit_job_load(job, err);
    return st == FIT_OK && job->m ? fit_job_minimise(job, err) : st;
}

enum fit_status fit_cmd_fit(struct fit_program *p, const struct fit_cli *cli, struct fit_error *err)
{
    struct fit_job job = {.p = p, .cli = cli, .clock = fit_seconds(), .begin = time(NULL), .lock = FIT_LOCK_NONE};
    fit_run_id_new(job.run_id);
    if (cli->profile_time)
        fit_clock_start();
    fit_config_log_init(&job.log);
    job.log_file = open_memstream(&job.runlog, &job.runlog_size);
    job.command_line = fit_command_line(p->argc, p->argv);
    enum fit_status st = configure(&job, err);
    if (st == FIT_OK && (cli->each || cli->probe)) {
        st = cli->probe ? probe(&job, err) : fit_job_each(&job, err);
        goto done;
    }
    if (st == FIT_OK)
        st = fit_job_load(&job, err);
    if (st == FIT_OK)
        st = fit_job_minimise(&job, err);
    if (st == FIT_OK && cli->dry_run) {
        fit_job_print_dry_run(&job);
        goto done;
    }
    if (st == FIT_OK && job.fit.status != FIT_INTERRUPTED)
        st = fit_job_study(&job, err);
    if (st == FIT_OK && fit_sampling_wanted(job.cfg) && job.fit.status != FIT_INTERRUPTED)
        st = fit_job_sample(&job, err);
    if (st == FIT_OK)
        st = fit_job_write(&job, err);
    if (st == FIT_OK)
        st = fit_job_print(&job, err);
    if (st == FIT_OK)
        p->exit_code = exit_code(&job);
    if (st == FIT_OK && p->exit_code && cli->quiet)
        tell_why(&job);
    if (st == FIT_OK && cli->profile_time)
        fit_clock_print(p->err);
done:
    release(&job);
    return st;
}
