/* cmd_check.c -- `check`: everything that is wrong with a configuration, what in it has no effect,
 * and whether the data file holds what it asks for (wavevector, azimuths, frames, frame period).
 * Matrices are not read: that is left to `fit`. */
#include "program.h"
#include "setup.h"
#include "source.h"
#include "table.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints the log; the first error is not repeated when it is also in err. */
static void print_log(FILE *f, const struct fit_config_log *log, int errors,
                      const struct fit_error *err)
{
    for (size_t k = 0; k < log->n; k++) {
        const struct fit_config_message *m = &log->message[k];
        if (m->error != errors || (err && strcmp(m->text, err->message) == 0))
            continue;
        fprintf(f, "%s\n", m->text);
    }
}

/* ---- keys without effect
 * ---------------------------------------------------------------------------------- */

/* Length of the first part of a path: its section. */
static int section(const char *path)
{
    return (int)strcspn(path, ".");
}

static int same_section(const char *a, const char *b)
{
    return section(a) == section(b) && strncmp(a, b, (size_t)section(a)) == 0;
}

/* "  experimental_data: cache_directory, exchange_key": one line for every section, of at most
 * `most` keys. */
static void print_ignored(FILE *f, const struct fit_config *cfg, size_t most)
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

/* ---- data
 * ------------------------------------------------------------------------------------------- */

static enum fit_status check_pairs(const struct fit_config *cfg, struct fit_notes *notes,
                                   FILE *out, struct fit_error *err)
{
    struct fit_selection sel;
    struct fit_source *src = NULL;
    size_t *index = NULL, n = 0, first = 0, frames = 0;
    double dt = 0;
    fit_selection_from_config(cfg, &sel);
    enum fit_status st = fit_source_open(sel.path, sel.layout, &src, err);
    if (st == FIT_OK)
        st = fit_select_matrices(src, &sel, &index, &n, notes, err);
    if (st == FIT_OK)
        st = fit_select_window(src, &sel, &first, &frames, notes, err);
    if (st == FIT_OK)
        st = fit_select_dt(src, &sel, &dt, notes, err);
    if (st == FIT_OK && out)
        fprintf(out, "%s: %s, q %.4g 1/angstrom, %zu of %zu matrices, frames %zu..%zu of %zu, "
                     "dt %.4g s\n", sel.path, src->layout, src->matrix[index[0]].q, n,
                src->nmatrix, first + 1, first + frames, src->nframe, dt);
    free(index);
    fit_source_close(src);
    return st;
}

static enum fit_status check_rows(const struct fit_config *cfg, const struct fit_kernel *k,
                                  struct fit_notes *notes, FILE *out, struct fit_error *err)
{
    struct fit_measurement *m = NULL;
    double *setting = malloc((k->nsetting + 1) * sizeof *setting);
    if (!setting)
        return fit_fail(err, FIT_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < k->nsetting; i++)
        setting[i] = cfg->setting[i].value;
    enum fit_status st =
        fit_table_load(cfg->input.path.value[0], &cfg->table, k, setting, &m, err);
    for (size_t i = 0; st == FIT_OK && i < m->notes.n; i++)
        fit_notes_add(notes, "%s", m->notes.text[i]);
    if (st == FIT_OK && out)
        fprintf(out, "%s: %zu rows\n", m->file, m->dataset->nrow);
    fit_measurement_free(m);
    free(setting);
    return st;
}

/* What `fit` would refuse later: the method, then the data. */
static enum fit_status check_data(const struct fit_program *p, const struct fit_cli *cli,
                                  const struct fit_config *cfg, const struct fit_kernel *k,
                                  struct fit_error *err)
{
    struct fit_notes notes = {0};
    FILE *out = cli->quiet ? NULL : p->out;
    enum fit_status st = fit_setup_supported(cfg, k, err);
    if (st == FIT_OK && cfg->input.path.n == 0)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "%s: no data file; give experimental_data.file_path or --data", cfg->file);
    if (st == FIT_OK)
        st = k->space == FIT_PAIRS ? check_pairs(cfg, &notes, out, err)
                                   : check_rows(cfg, k, &notes, out, err);
    for (size_t i = 0; out && i < notes.n; i++)
        fprintf(out, "note: %s\n", notes.text[i]);
    fit_notes_free(&notes);
    return st;
}

enum fit_status fit_cmd_check(struct fit_program *p, const struct fit_cli *cli,
                              struct fit_error *err)
{
    const struct fit_kernel *k;
    struct fit_config *cfg = NULL;
    struct fit_config_log log;
    fit_config_log_init(&log);
    enum fit_status st = fit_program_kernel(p, cli, &k, err);
    if (st == FIT_OK)
        st = fit_setup_config(cli, k, &log, &cfg, err);
    print_log(p->err, &log, 1, err);
    if (!cli->quiet)
        print_log(p->out, &log, 0, NULL);
    if (cfg && !cli->quiet)
        print_ignored(p->out, cfg, cli->verbose ? SIZE_MAX : 4);
    if (st == FIT_OK)
        st = check_data(p, cli, cfg, k, err);
    if (st == FIT_OK && !cli->quiet)
        fprintf(p->out, "%s: good for %s\n", cfg->file, k->name);
    if (st == FIT_OK && cli->verbose) {
        char *text = fit_config_text(cfg);
        fputs(text ? text : "", p->out);
        free(text);
    }
    fit_config_free(cfg);
    fit_config_log_free(&log);
    return st;
}
