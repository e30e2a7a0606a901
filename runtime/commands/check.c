/* check.c -- `check`: all errors of a configuration and of the data it names, and keys without effect.
 *
 * It does not stop at the first mistake: all errors of the configuration come with their lines. As far as the
 * configuration can be understood, the data file is checked for the selected items (wavevector, azimuths, frames,
 * frame period), each by itself. When all of that is correct, the values are read as in `fit`, to find frames
 * without values and errors that are not numbers. */
#include "base/json.h"
#include "commands/configuration.h"
#include "input/joint.h"
#include "input/measurement.h"
#include "commands/program.h"
#include "commands/progress.h"
#include "setup/memory_plan.h"
#include "setup/setup.h"
#include "input/source.h"
#include "input/table.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The findings; each problem is printed at once. */
struct findings {
    FILE *f; /* NULL: kept in `text` */
    int terminal;
    struct fit_notes text;
    size_t n, doubts; /* problems; notes that doubt the data */
    struct fit_error first;
    struct fit_progress_view view;
};

/* Reports a problem with the position of the value that requests a missing item. */
static void found(struct findings *all, const struct fit_config *cfg, struct fit_origin from,
                  const struct fit_error *err)
{
    char where[160] = "";
    if (all->n++ == 0)
        all->first = *err;
    char text[1400];
    if (from.kind == FIT_FROM_FILE && from.line)
        snprintf(where, sizeof where, "%.140s:%u", cfg->file, from.line);
    else if (from.kind == FIT_FROM_COMMAND)
        fit_origin_text(cfg, from, where, sizeof where);
    snprintf(text, sizeof text, "%s%s%s%s", where, *where ? ": " : "",
             fit_error_word(err), err->message);
    if (all->f)
        fit_cli_put_line(all->f, all->terminal, text);
    else
        fit_notes_add(&all->text, "%s", text);
}

static void print_log(FILE *f, int terminal, struct fit_notes *kept, const struct fit_config_log *log, int errors)
{
    for (size_t k = 0; k < log->n; k++)
        if (log->message[k].error == errors && f)
            fit_cli_put_line(f, terminal, log->message[k].text);
        else if (log->message[k].error == errors)
            fit_notes_add(kept, "%s", log->message[k].text);
}

/* ---- keys without effect --------------------------------------------------------------------- */

/* Length of the first part of a path: its section. */
static int section(const char *path)
{
    return (int)strcspn(path, ".");
}

static int same_section(const char *a, const char *b)
{
    return section(a) == section(b) && strncmp(a, b, (size_t)section(a)) == 0;
}

/* " experimental_data: cache_directory, exchange_key": one line for every section, of at most `most` keys. */
static void write_ignored(FILE *f, const struct fit_config *cfg, size_t most)
{
    for (size_t k = 0; k < cfg->nreason; k++) {
        const char *path = cfg->reason[k].path;
        size_t first = 0, named = 0;
        while (!same_section(cfg->reason[first].path, path))
            first++;
        if (first < k)
            continue; /* said already */
        if (k == 0)
            fprintf(f, "no effect here:\n");
        fprintf(f, "  %.*s", section(path), path);
        for (size_t m = k; m < cfg->nreason; m++) {
            const struct fit_config_ignored *g = &cfg->reason[m];
            const char *rest = g->path + section(g->path);
            if (!same_section(g->path, path))
                continue;
            if (*rest && named++ < most)
                fprintf(f, "%s%s", named > 1 ? ", " : ": ", rest + 1);
            if (g->nkey > 1 && named <= most)
                fprintf(f, " (%zu keys)", g->nkey);
        }
        if (named > most)
            fprintf(f, ", %zu more (--verbose)", named - most);
        fprintf(f, "\n");
    }
}

/* On a terminal no line is longer than that. */
static void print_ignored(FILE *f, int terminal, const struct fit_config *cfg, size_t most)
{
    char *text = NULL, *save = NULL;
    size_t size = 0;
    FILE *whole = terminal ? open_memstream(&text, &size) : NULL;
    write_ignored(whole ? whole : f, cfg, most);
    if (!whole || fclose(whole) != 0)
        return;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        fit_cli_put_line(f, terminal, line);
    free(text);
}

/* ---- data ------------------------------------------------------------------------------------ */

static enum fit_status load_pairs(const struct fit_config *cfg, const struct fit_kernel *k,
                                  struct fit_selection *sel, const double *setting,
                                  struct fit_progress_view *view, struct fit_measurement **m,
                                  struct fit_error *err)
{
    struct fit_memory_plan plan;
    enum fit_status st = fit_memory_plan(sel, cfg->nlsq.memory_fraction.value, &plan, err);
    if (st != FIT_OK)
        return st;
    sel->memory = plan.data_limit;
    fit_progress_reading(view, "reading the data", fit_memory_plan_bytes(sel, &plan));
    st = fit_measurement_load(sel, k, setting, m, err);
    fit_progress_clear(view);
    return st;
}

/* Loads the data as `fit` does; its notes go into `notes`. */
static enum fit_status load(const struct fit_config *cfg, const struct fit_kernel *k,
                            struct fit_selection *sel, struct fit_progress_view *view,
                            struct fit_notes *notes, size_t *npoint, struct fit_error *err)
{
    struct fit_measurement *m = NULL;
    FIT_OWNED double *setting = malloc((k->nsetting + 1) * sizeof *setting);
    if (!setting)
        return fit_no_memory(err, NULL);
    for (size_t i = 0; i < k->nsetting; i++)
        setting[i] = cfg->setting[i].value;
    enum fit_status st =
        cfg->input.path.n > 1   ? fit_joint_load(cfg, k, &m, err)
        : k->space == FIT_PAIRS
            ? load_pairs(cfg, k, sel, setting, view, &m, err)
            : fit_table_load(cfg->input.path.value[0], &cfg->table, k, setting, &m, err);
    if (st == FIT_OK)
        fit_notes_copy(notes, &m->notes);
    if (st == FIT_OK)
        *npoint = k->space == FIT_PAIRS ? m->dataset->npoint : m->dataset->nrow;
    fit_measurement_free(m);
    return st;
}

static void check_rows(const struct fit_config *cfg, const struct fit_kernel *k, FILE *out,
                       struct fit_notes *notes, struct findings *all)
{
    struct fit_error err;
    size_t n = 0;
    if (load(cfg, k, NULL, &all->view, notes, &n, &err) != FIT_OK)
        found(all, cfg, cfg->input.path.from, &err);
    else if (out && cfg->input.path.n > 1)
        fprintf(out, "%zu files: %zu rows\n", cfg->input.path.n, n);
    else if (out)
        fprintf(out, "%s: %zu rows\n", cfg->input.path.value[0], n);
}

/* The line of a value that was left null, when there is one. */
static struct fit_origin open_line(struct fit_origin from, unsigned line)
{
    if (line)
        from.kind = FIT_FROM_FILE;
    return from;
}

/* All except those that the data file may supply; the others have been reported. */
static int settings_known(const struct fit_config *cfg, const struct fit_kernel *k)
{
    for (size_t i = 0; i < k->nsetting; i++)
        if (isnan(cfg->setting[i].value) && !k->setting[i].statistic && strcmp(k->setting[i].name, "q") != 0 &&
            strcmp(k->setting[i].name, "dt") != 0)
            return 0;
    return 1;
}

/* The selected matrices; index is to be freed. */
static void check_matrices(const struct fit_config *cfg, const struct fit_source *src, const struct fit_selection *sel,
                           size_t **index, size_t *n, struct findings *all)
{
    struct fit_notes parts = {0};
    struct fit_error err;
    struct fit_selection any = *sel; /* angle: later errors concern the angles */
    any.nlist = any.nrange = 0;
    if (fit_select_matrices(src, &any, index, n, &parts, &err) != FIT_OK) {
        found(all, cfg, open_line(cfg->input.q.from, sel->q_line), &err);
    } else {
        free(*index);
        if (fit_select_matrices(src, sel, index, n, &parts, &err) != FIT_OK)
            found(all, cfg, sel->nlist ? cfg->angles.list.from : cfg->angles.range[0].from, &err);
    }
    fit_notes_free(&parts);
}

/* The q of the matrices as text; returns the lowest, NaN when it is unknown. */
static double tell_q(const struct fit_source *src, const struct fit_selection *sel, const size_t *index, size_t n,
                     char q_text[80])
{
    snprintf(q_text, 80, "q not known");
    const double q = !index ? NAN : isnan(src->matrix[index[0]].q) ? sel->q : src->matrix[index[0]].q;
    const double last = isnan(q) || isnan(src->matrix[index[n - 1]].q) ? q : src->matrix[index[n - 1]].q;
    if (!isnan(q))
        snprintf(q_text, 80, last > q || last < q ? "q %.4g .. %.4g 1/angstrom" : "q %.4g 1/angstrom", q, last);
    return q;
}

/* Checks every selection by itself; notes come only from a complete reading, which repeats those of the parts. */
static void check_file(const struct fit_config *cfg, const struct fit_kernel *k, size_t f, FILE *out,
                       struct fit_notes *notes, struct findings *all)
{
    struct fit_selection sel;
    struct fit_source *src = NULL;
    struct fit_notes parts = {0};
    struct fit_error err;
    size_t *index = NULL, n = 0, first = 0, frames = 0, npoint = 0, before = all->n;
    double dt = 0;
    char q_text[80];
    fit_joint_selection(cfg, f, &sel);
    const struct fit_origin q_from = open_line(cfg->input.q.from, sel.q_line);
    sel.config = NULL; /* lines go before the word error */
    if (fit_source_open(sel.path, &sel.wish, &src, &err) != FIT_OK) {
        found(all, cfg, cfg->input.path.from, &err);
        return;
    }
    check_matrices(cfg, src, &sel, &index, &n, all);
    const int few = sel.last >= 0 && sel.last - sel.first < 2; /* has been told */
    if (!few && fit_select_window(src, &sel, &first, &frames, &parts, &err) != FIT_OK)
        found(all, cfg, fit_given(cfg->input.end_frame.from) ? cfg->input.end_frame.from
                                                             : cfg->input.start_frame.from, &err);
    if (fit_select_dt(src, &sel, &dt, &parts, &err) != FIT_OK)
        found(all, cfg, open_line(cfg->input.dt.from, sel.dt_line), &err);
    const double q = tell_q(src, &sel, index, n, q_text);
    if (all->n == before && out && !few)
        fprintf(out, "%s: %s, %s, %zu of %zu matri%s, frames %zu..%zu of %zu, dt %.4g s\n", sel.path, src->layout,
                q_text, n, src->nmatrix, src->nmatrix == 1 ? "x" : "ces", first + 1, first + frames, src->nframe, dt);
    fit_source_close(src);
    free(index);
    fit_notes_free(&parts);
    if (f + 1 == cfg->input.path.n && all->n == before && !few && settings_known(cfg, k) &&
        load(cfg, k, &sel, &all->view, notes, &npoint, &err) != FIT_OK)
        found(all, cfg, isnan(q) ? q_from : cfg->input.path.from, &err);
    if (all->n == before && npoint && out && f)
        fprintf(out, "%zu files: %zu points\n", f + 1, npoint);
    else if (all->n == before && npoint && out)
        fprintf(out, "%s: %zu points\n", sel.path, npoint);
}

static void check_pairs(const struct fit_config *cfg, const struct fit_kernel *k, FILE *out,
                        struct fit_notes *notes, struct findings *all)
{
    for (size_t f = 0; f < cfg->input.path.n; f++)
        check_file(cfg, k, f, out, notes, all);
}

/* Problems that `fit` would report later: the method, then the data. */
static void check_data(FILE *out, int is_terminal, struct fit_notes *kept, const struct fit_config *cfg,
                       const struct fit_kernel *k, struct findings *all)
{
    struct fit_notes notes = {0};
    struct fit_error err;
    const struct fit_origin nowhere = {.kind = FIT_FROM_PROGRAM};
    if (fit_setup_supported(cfg, k, &err) != FIT_OK)
        found(all, cfg, cfg->method.from, &err);
    if (cfg->input.path.n == 0) {
        fit_fail_at(&err, FIT_ERR_CONFIG, cfg->file, 0, 0,
                    "no data file; give experimental_data.file_path or --data");
        found(all, cfg, nowhere, &err);
    } else if (k->space == FIT_PAIRS) {
        check_pairs(cfg, k, out, &notes, all);
    } else {
        check_rows(cfg, k, out, &notes, all);
    }
    all->doubts = notes.ndoubt;
    if (!out)
        fit_notes_copy(kept, &notes);
    for (size_t i = 0; out && i < notes.n; i++)
        fit_cli_put_note(out, is_terminal, notes.text[i]);
    fit_notes_free(&notes);
}

static void put_texts(struct fit_json *j, const char *key, const struct fit_notes *n)
{
    fit_json_begin(j, key, '[');
    for (size_t k = 0; k < n->n; k++)
        fit_json_string(j, NULL, n->text[k]);
    fit_json_end(j);
}

static enum fit_status put_json(FILE *f, const char *file, const struct fit_config *cfg,
                                const struct fit_kernel *k, const struct findings *all,
                                const struct fit_notes *notes, struct fit_error *err)
{
    struct fit_json j = {0};
    fit_json_begin(&j, NULL, '{');
    fit_json_string(&j, "file", file);
    fit_json_string(&j, "model", k->name);
    fit_json_boolean(&j, "good", all->n == 0);
    put_texts(&j, "errors", &all->text);
    put_texts(&j, "notes", notes);
    fit_json_begin(&j, "no_effect", '[');
    for (size_t i = 0; cfg && i < cfg->nreason; i++)
        fit_json_string(&j, NULL, cfg->reason[i].path);
    fit_json_end(&j);
    fit_json_end(&j);
    return fit_json_put(&j, f) == 0 ? FIT_OK : fit_no_memory(err, NULL);
}

/* The configuration as it was understood. */
static enum fit_status print_config(FILE *out, const struct fit_config *cfg, struct fit_error *err)
{
    FIT_OWNED char *text = fit_config_text(cfg);
    if (!text)
        return fit_no_memory(err, cfg->file);
    fputs(text, out);
    return FIT_OK;
}

/* The last line: would a fit run? */
static enum fit_status conclude(FILE *out, const struct fit_config *cfg, const struct fit_kernel *k, const char *file,
                                const struct findings *all, struct fit_error *err)
{
    if (all->n)
        return fit_fail(err, all->first.status, "%s: %zu error%s: fit would not run", file, all->n,
                        all->n > 1 ? "s" : "");
    if (out && cfg)
        fprintf(out,
                all->doubts ? "%s: can be fitted with %s, but see the notes: the data are in doubt\n"
                            : "%s: good for %s\n",
                cfg->file, k->name);
    return FIT_OK;
}

enum fit_status fit_cmd_check(struct fit_program *p, const struct fit_cli *cli,
                              struct fit_error *err)
{
    const struct fit_kernel *k;
    struct fit_config *cfg = NULL;
    struct fit_config_log log;
    struct findings all = {.f = cli->json ? NULL : p->err, .terminal = p->err_is_terminal};
    struct fit_notes notes = {0};
    FILE *out = cli->quiet || cli->json ? NULL : p->out;
    fit_config_log_init(&log);
    setvbuf(p->out, NULL, _IOLBF, 0); /* keeps the order when errors go to the same file */
    enum fit_status st = fit_program_kernel(p, cli, &k, err);
    if (st == FIT_OK)
        st = fit_setup_config(cli, k, &log, &cfg, err);
    if (st != FIT_OK && log.nerror == 0)
        goto done; /* nothing to check: the call itself is wrong */
    all.n = log.nerror;
    all.first = *err;
    print_log(all.f, p->err_is_terminal, &all.text, &log, 1);
    print_log(out, p->out_is_terminal, &notes, &log, 0);
    if (cfg && out)
        print_ignored(out, p->out_is_terminal, cfg, cli->verbose ? SIZE_MAX : 4);
    if (cfg)
        fit_progress_begin(&all.view, p->err, p->err_is_terminal, NULL, cli->quiet, err);
    if (cfg)
        check_data(out, p->out_is_terminal, &notes, cfg, k, &all);
    const char *file = cfg ? cfg->file : cli->config ? cli->config : cli->word[0];
    if (cli->json && put_json(p->out, file, cfg, k, &all, &notes, err) != FIT_OK)
        st = err->status;
    const enum fit_status end = conclude(out, cfg, k, file, &all, err);
    st = end != FIT_OK ? end : st;
    if (st == FIT_OK && cfg && cli->verbose && !cli->json)
        st = print_config(p->out, cfg, err);
done:
    fit_notes_free(&all.text);
    fit_notes_free(&notes);
    fit_config_free(cfg);
    fit_config_log_free(&log);
    return st;
}
