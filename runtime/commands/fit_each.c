/* fit_each.c -- `fit --each COLUMN`: every curve of a table fitted by itself, several at a time, and one table of all.
 *
 * A curve is the set of rows that share a value of the column. Each is fitted like a file with only these rows, on one
 * thread, so that its numbers have the same bits for any number of threads. For a curve that cannot be fitted the table
 * has its message; the other curves continue. Files: each.csv and each.h5.
 */
#include "commands/fit_job.h"

#include "base/number_text.h"
#include "device/device.h"
#include "errors/profile.h"
#include "fit/fit.h"
#include "hdf5/h5_writer.h"
#include "input/table_curves.h"
#include "machine/team.h"
#include "machine/topology.h"
#include "ranks/ranks.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The results kept for a curve. */
struct row {
    enum fit_status code;
    int converged;
    size_t npoint;
    double chi2, reduced;
    double *number; /* nfull: values, errors, robust errors; 2 nfull: intervals of 95 % */
    const char *status, *quality;
    char *message;
};

struct each {
    struct fit_job *job;
    struct fit_table_curves *curves;
    struct row *row;
    size_t nfull;
    char (*name)[64]; /* nfull */
};

/* ---- a curve --------------------------------------------------------------------------------- */

/* Measurement, options and kernel of curve c. */
static enum fit_status open_curve(const struct each *e, size_t c, struct fit_measurement **m, struct fit_setup *s,
                                  const struct fit_kernel **k, struct fit_error *err)
{
    const struct fit_job *job = e->job;
    *s = (struct fit_setup){0};
    enum fit_status st = fit_table_curve(e->curves, c, m, err);
    if (st == FIT_OK)
        st = fit_job_give_sigma(job, *m, err);
    if (st == FIT_OK)
        st = fit_setup_options(job->cfg, job->model, (*m)->dataset, *m, s, err);
    if (st == FIT_OK)
        st = fit_setup_links(job->cfg, job->model, (*m)->dataset, 0, s, err);
    *k = s->link ? &s->link->kernel : job->model;
    s->options.threads = 1;
    s->options.interrupt = job->p->interrupt;
    return st;
}

static enum fit_status keep(const struct each *e, const struct fit_kernel *k, const struct fit_setup *s,
                            const struct fit_measurement *m, const struct fit_result *f, struct row *to)
{
    const size_t n = f->nfull;
    const struct fit_results all = {.kernel = k,
                                    .link = s->link,
                                    .config = e->job->cfg,
                                    .ds = m->dataset,
                                    .fit = f,
                                    .std_robust = fit_robust_given(&f->robust) ? f->std_robust : NULL};
    to->number = malloc((5 * n + 1) * sizeof *to->number);
    to->message = strdup(f->message);
    if (!to->number || !to->message)
        return FIT_ERR_MEMORY;
    memcpy(to->number, f->theta, f->nparam * sizeof *f->theta);
    memcpy(to->number + f->nparam, f->lin, f->ngroup * f->nlinear * sizeof *f->lin);
    memcpy(to->number + n, f->std, n * sizeof *f->std);
    memcpy(to->number + 2 * n, f->std_robust, n * sizeof *f->std_robust);
    for (size_t i = 0; i < n; i++) {
        double lower[2], upper[2];
        fit_profile_interval(f, i, lower, upper);
        to->number[3 * n + 2 * i] = lower[1];
        to->number[3 * n + 2 * i + 1] = upper[1];
    }
    to->converged = f->converged;
    to->npoint = f->npoint;
    to->chi2 = f->chi2;
    to->reduced = f->reduced_chi2;
    to->status = fit_word_name(f->status);
    to->quality = fit_results_quality(&all).word;
    return FIT_OK;
}

static void turn(void *user, size_t c, size_t thread)
{
    const struct each *e = user;
    struct row *to = &e->row[c];
    struct fit_error err = {.status = FIT_OK};
    struct fit_measurement *m = NULL;
    struct fit_setup s;
    struct fit_result f;
    const struct fit_kernel *k;
    (void)thread;
    *to = (struct row){.chi2 = NAN, .reduced = NAN, .status = "failed", .quality = "none"};
    if (*e->job->p->interrupt) {
        to->code = FIT_ERR_INTERRUPTED;
        return;
    }
    enum fit_status st = open_curve(e, c, &m, &s, &k, &err);
    if (st == FIT_OK && (st = fit_run(k, m->dataset, &s.options, &f, &err)) == FIT_OK) {
        st = keep(e, k, &s, m, &f, to);
        fit_result_free(&f);
    }
    if (st != FIT_OK && !to->message)
        to->message = strdup(err.message);
    to->code = st;
    fit_setup_free(&s);
    fit_measurement_free(m);
}

/* ---- the files ------------------------------------------------------------------------------- */

static double number(const struct each *e, size_t c, size_t i)
{
    return e->row[c].number ? e->row[c].number[i] : NAN;
}

/* A text as a cell of a CSV. */
static void put_cell(FILE *f, const char *text)
{
    fputc('"', f);
    for (const char *s = text ? text : ""; *s; s++)
        fprintf(f, *s == '"' ? "\"\"" : "%c", *s);
    fputc('"', f);
}

static char *csv_text(const struct each *e)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    put_cell(f, e->job->cli->each);
    for (size_t i = 0; i < e->nfull; i++)
        fprintf(f, ",%s,%s_err,%s_err_robust,%s_low_95,%s_high_95", e->name[i], e->name[i], e->name[i], e->name[i],
                e->name[i]);
    fprintf(f, ",chi2,reduced_chi2,npoint,converged,status,quality,message\n");
    for (size_t c = 0; c < e->curves->n; c++) {
        const struct row *r = &e->row[c];
        const size_t n = e->nfull;
        fprintf(f, "%.17g", e->curves->at[c]);
        for (size_t i = 0; i < n; i++)
            fprintf(f, ",%.17g,%.17g,%.17g,%.17g,%.17g", number(e, c, i), number(e, c, n + i), number(e, c, 2 * n + i),
                    number(e, c, 3 * n + 2 * i), number(e, c, 3 * n + 2 * i + 1));
        fprintf(f, ",%.17g,%.17g,%zu,%d,%s,%s,", r->chi2, r->reduced, r->npoint, r->converged, r->status, r->quality);
        put_cell(f, r->message);
        fputc('\n', f);
    }
    return fit_text_end(f, &text);
}

/* Columns first .. first + width of all curves, of width numbers for each name. */
static void write_numbers(struct fit_h5r *w, const struct each *e, const char *path, size_t first, size_t width,
                          double *room)
{
    const size_t n = e->nfull, dims[3] = {e->curves->n, n, width};
    for (size_t c = 0; c < e->curves->n; c++)
        for (size_t i = 0; i < width * n; i++)
            room[c * width * n + i] = number(e, c, first * n + i);
    fit_h5r_reals(w, path, width > 1 ? 3 : 2, dims, room, NULL);
}

static void write_all(struct fit_h5r *w, const struct each *e, double *room, int64_t *count, const char **word)
{
    const size_t n = e->curves->n;
    fit_h5r_reals(w, "/curve", 1, &n, e->curves->at, NULL);
    for (size_t i = 0; i < e->nfull; i++)
        word[i] = e->name[i];
    fit_h5r_texts(w, "/name", e->nfull, word);
    write_numbers(w, e, "/value", 0, 1, room);
    write_numbers(w, e, "/error", 1, 1, room);
    write_numbers(w, e, "/error_robust", 2, 1, room);
    write_numbers(w, e, "/interval_95", 3, 2, room);
    for (size_t c = 0; c < n; c++) {
        room[c] = e->row[c].chi2;
        room[n + c] = e->row[c].reduced;
        count[c] = (int64_t)e->row[c].npoint;
        count[n + c] = e->row[c].converged;
    }
    fit_h5r_reals(w, "/chi2", 1, &n, room, NULL);
    fit_h5r_reals(w, "/reduced_chi2", 1, &n, room + n, NULL);
    fit_h5r_integers(w, "/npoint", n, count);
    fit_h5r_integers(w, "/converged", n, count + n);
    for (size_t c = 0; c < n; c++)
        word[c] = e->row[c].status;
    fit_h5r_texts(w, "/status", n, word);
    for (size_t c = 0; c < n; c++)
        word[c] = e->row[c].quality;
    fit_h5r_texts(w, "/quality", n, word);
    for (size_t c = 0; c < n; c++)
        word[c] = e->row[c].message ? e->row[c].message : "";
    fit_h5r_texts(w, "/message", n, word);
}

static enum fit_status write_h5(const struct each *e, const char *path, struct fit_error *err)
{
    FIT_SCRATCH(a);
    const size_t n = e->curves->n, f = e->nfull;
    double *room = fit_take(&a, 2 * n * (f + 1), sizeof *room);
    int64_t *count = fit_take(&a, 2 * n, sizeof *count);
    const char **word = fit_take(&a, n + f, sizeof *word);
    struct fit_h5r w;
    if (a.failed)
        return fit_no_memory(err, path);
    enum fit_status st = fit_h5r_create(path, &w, err);
    if (st != FIT_OK)
        return st;
    write_all(&w, e, room, count, word);
    return fit_h5r_close(&w, err);
}

static enum fit_status write_files(const struct each *e, struct fit_error *err)
{
    struct fit_output out;
    const char *path = NULL;
    enum fit_status st = fit_output_begin(&out, e->job->folder, err);
    if (st != FIT_OK)
        return st;
    st = fit_output_add(&out, "each.h5", &path, err);
    if (st == FIT_OK)
        st = write_h5(e, path, err);
    FIT_OWNED char *text = st == FIT_OK ? csv_text(e) : NULL;
    if (st == FIT_OK)
        st = text ? fit_output_add_text(&out, "each.csv", text, strlen(text), err) : fit_no_memory(err, "each.csv");
    if (st == FIT_OK)
        return fit_output_commit(&out, err);
    fit_output_abandon(&out);
    return st;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static enum fit_status check(const struct fit_job *job, struct fit_error *err)
{
    const struct fit_config_study *study = &job->cfg->study;
    if (job->cfg->input.path.n == 0)
        return fit_fail(err, FIT_ERR_CONFIG, "%s: no table; give experimental_data.file_path or --data",
                        job->cfg->file);
    if (job->cfg->input.path.n > 1)
        return fit_fail(err, FIT_ERR_USAGE, "--each: %zu data files; the curves of one table are fitted each alone",
                        job->cfg->input.path.n);
    if (fit_sampling_wanted(job->cfg) || study->profile.n || study->bootstrap.value != FIT_BOOTSTRAP_NONE ||
        study->sequence.value != FIT_SEQUENCE_NONE || job->cli->dry_run || job->cli->resume || job->cli->json)
        return fit_fail(err, FIT_ERR_USAGE, "--each: least squares of every curve, without --method nuts or laplace, "
                                            "--bootstrap, --profile, --sequence, --dry-run, --resume and --json");
    return FIT_OK;
}

/* Names of the numbers of a curve, from the first that was fitted; the error of the first when none was. */
static enum fit_status find_names(struct each *e, struct fit_error *err)
{
    struct fit_measurement *m = NULL;
    struct fit_setup s = {0};
    const struct fit_kernel *k;
    size_t c = 0;
    while (c < e->curves->n && e->row[c].code != FIT_OK)
        c++;
    if (c == e->curves->n)
        return fit_fail(err, e->row[0].code, "--each: no curve could be fitted; the first: %s",
                        e->row[0].message ? e->row[0].message : "interrupted, or out of memory");
    enum fit_status st = open_curve(e, c, &m, &s, &k, err);
    if (st == FIT_OK) {
        e->nfull = k->nparam + k->nlinear;
        e->name = calloc(e->nfull + 1, sizeof *e->name);
        st = e->name ? FIT_OK : fit_no_memory(err, "--each");
    }
    for (size_t i = 0; st == FIT_OK && i < e->nfull; i++) {
        fit_samples_name(k, 1, i, e->name[i]);
        char *group = strstr(e->name[i], "[0]");
        if (group)
            *group = '\0';
    }
    fit_setup_free(&s);
    fit_measurement_free(m);
    return st;
}

/* The line on the screen, and the exit code. */
static void tell(struct each *e)
{
    const size_t n = e->curves->n;
    size_t failed = 0, converged = 0;
    for (size_t c = 0; c < n; c++) {
        failed += e->row[c].code != FIT_OK;
        converged += e->row[c].code == FIT_OK && e->row[c].converged;
    }
    e->job->p->exit_code = *e->job->p->interrupt ? fit_status_exit(FIT_ERR_INTERRUPTED) : converged < n ? 2 : 0;
    if (!e->job->cli->quiet)
        fprintf(e->job->p->out, "%zu curves: %zu converged, %zu did not, %zu could not be fitted; "
                                "%s/each.csv, each.h5\n", n, converged, n - converged - failed, failed, e->job->folder);
}

static enum fit_status not_divided(struct fit_error *err)
{
    return fit_fail(err, FIT_ERR_USAGE, "--each: curves are not divided between ranks; start one program, whose threads"
                                        " share them, or `batch`");
}

enum fit_status fit_job_each(struct fit_job *job, struct fit_error *err)
{
    struct each e = {.job = job};
    enum fit_status st = fit_ranks_size() > 1 ? not_divided(err) : check(job, err);
    FIT_OWNED double *setting = fit_job_settings(job);
    if (st == FIT_OK && !setting)
        st = fit_no_memory(err, "--each");
    if (st == FIT_OK)
        st = fit_table_curves_read(job->cfg->input.path.value[0], &job->cfg->table, job->model, setting, job->cli->each,
                                   &e.curves, err);
    if (st == FIT_OK) {
        const int threads = job->cfg->threads.value > 0 ? (int)job->cfg->threads.value : fit_topology_threads();
        e.row = calloc(e.curves->n, sizeof *e.row);
        st = e.row ? FIT_OK : fit_no_memory(err, "--each");
        if (st == FIT_OK)
            fit_team_run((struct fit_team){fit_device_threads(threads, e.curves->n), FIT_TEAM_NEXT}, e.curves->n, turn,
                         &e);
    }
    if (st == FIT_OK && (st = find_names(&e, err)) == FIT_OK && (st = write_files(&e, err)) == FIT_OK)
        tell(&e);
    for (size_t c = 0; e.row && c < e.curves->n; c++) {
        free(e.row[c].number);
        free(e.row[c].message);
    }
    free(e.row);
    free(e.name);
    fit_table_curves_free(e.curves);
    return st;
}
