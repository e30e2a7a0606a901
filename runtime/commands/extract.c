/* extract.c -- `extract`: the data as a fit would see them, before any fit.
 *
 * One HDF5 file with maps of c2 (large ones averaged), cuts g2(tau) at four ages and the noise of
 * each angle, or the rows of a table: the groups input, data and cuts of fit.h5 without model and
 * residuals (write_maps.c).  `homodyne plot` draws it.
 *
 * A data file without any configuration (--data) may lack the frame period: then times are counted
 * in frames. */
#define _DEFAULT_SOURCE /* gethostname */
#include "commands/configuration.h"
#include "fit/measured.h"
#include "base/output.h"
#include "hdf5/h5_writer.h"
#include "base/json.h"
#include "commands/program.h"
#include "commands/progress.h"
#include "results/results.h"
#include "setup/memory_plan.h"
#include "setup/setup.h"
#include "input/source.h"
#include "input/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct extract {
    const struct fit_kernel *k;
    int configured; /* by a file */
    struct fit_config_log log;
    struct fit_config *cfg;
    struct fit_measurement *m;
    struct fit_measured measured;
    struct fit_input input;
    const char *time_unit;
    struct fit_setup setup; /* its linkage: ties of the configuration */
};

/* dt of 1 frame when neither the file nor the user supplies it. */
static void count_frames(struct extract *x, struct fit_selection *sel)
{
    struct fit_source *src = NULL;
    if (!isnan(sel->dt) || x->configured || fit_source_open(sel->path, &sel->wish, &src, NULL) != FIT_OK)
        return;
    if (isnan(src->dt)) {
        sel->dt = 1;
        x->time_unit = "frames";
    }
    fit_source_close(src);
}

static enum fit_status load_pairs(struct extract *x, const double *setting,
                                  struct fit_progress_view *view, struct fit_error *err)
{
    struct fit_selection sel;
    struct fit_memory_plan plan;
    fit_selection_from_config(x->cfg, &sel);
    if (!sel.path)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "%s: no data file; give experimental_data.file_path or --data",
                        x->cfg->file);
    count_frames(x, &sel);
    enum fit_status st = fit_memory_plan(&sel, x->cfg->nlsq.memory_fraction.value, &plan, err);
    if (st != FIT_OK)
        return st;
    sel.memory = plan.data_limit;
    fit_progress_reading(view, "loading", fit_memory_plan_bytes(&sel, &plan));
    st = fit_measurement_load(&sel, x->k, setting, &x->m, err);
    fit_progress_clear(view);
    return st;
}

static enum fit_status load(struct extract *x, struct fit_progress_view *view,
                            struct fit_error *err)
{
    FIT_OWNED double *setting = malloc((x->k->nsetting + 1) * sizeof *setting);
    enum fit_status st;
    if (!setting)
        return fit_no_memory(err, NULL);
    for (size_t i = 0; i < x->k->nsetting; i++)
        setting[i] = x->cfg->setting[i].value;
    if (x->cfg->input.path.n > 1)
        st = fit_fail(err, FIT_ERR_CONFIG, "extract: %zu data files; name one of them with --data",
                      x->cfg->input.path.n);
    else if (x->k->space == FIT_PAIRS)
        st = load_pairs(x, setting, view, err);
    else if (x->cfg->input.path.n == 0)
        st = fit_fail(err, FIT_ERR_CONFIG, "no table; give experimental_data.file_path or --data");
    else
        st = fit_table_load(x->cfg->input.path.value[0], &x->cfg->table, x->k, setting, &x->m, err);
    return st;
}

/* Ties of nonlinear parameters, which a page with sliders obeys; it has no others. A configuration that is not
 * suitable for a fit is no error here. */
static void find_ties(struct extract *x)
{
    struct fit_setup *s = &x->setup;
    const int good = fit_setup_options(x->cfg, x->k, x->m->dataset, x->m, s, NULL) == FIT_OK &&
                     fit_setup_links(x->cfg, x->k, x->m->dataset, 0, s, NULL) == FIT_OK;
    int plain = good && s->link && !s->copies && s->link->kernel.nlinear == x->k->nlinear;
    for (size_t q = 0; plain && q < x->k->nlinear; q++)
        plain = s->link->of_linear[q] == q && s->link->term_linear[q] == 0;
    if (plain)
        return;
    fit_setup_free(s);
    *s = (struct fit_setup){0};
    x->m->dataset->layout.context = NULL;
}

static enum fit_status write_file(const struct fit_program *p, const struct extract *x,
                                  const char *path, struct fit_error *err)
{
    struct fit_output out;
    struct fit_h5r w;
    const char *temporary;
    char *command = fit_command_line(p->argc, p->argv), *config = fit_config_text(x->cfg);
    struct fit_results r = {.program = p->name,
                            .command_line = command,
                            .begin = time(NULL),
                            .end = time(NULL),
                            .kernel = x->setup.link ? &x->setup.link->kernel : x->k,
                            .link = x->setup.link,
                            .config_text = config,
                            .input = &x->input,
                            .ds = x->m->dataset,
                            .maps = x->measured.maps,
                            .sigma = x->measured.sigma,
                            .time_unit = x->time_unit};
    gethostname(r.host, sizeof r.host - 1);
    enum fit_status st = config ? fit_output_one(&out, path, &temporary, err)
                                : fit_no_memory(err, path);
    if (st != FIT_OK)
        goto done;
    st = fit_h5r_create(temporary, &w, err);
    if (st == FIT_OK) {
        fit_write_data(&w, &r);
        st = fit_h5r_close(&w, err);
    }
    if (st == FIT_OK)
        st = fit_output_commit(&out, err);
    else
        fit_output_abandon(&out);
done:
    free(command);
    free(config);
    return st;
}

static void tell(const struct fit_program *p, const struct extract *x)
{
    const struct fit_maps *m = x->measured.maps;
    for (size_t k = 0; k < x->m->notes.n; k++)
        fprintf(p->err, "note: %s\n", x->m->notes.text[k]);
    if (x->time_unit)
        fprintf(
            p->err,
            "note: the file does not say the frame period: times are counted in frames (--dt S)\n");
    if (x->k->space == FIT_ROWS)
        fprintf(p->out, "%s: %zu rows\n", x->m->file, m->n);
    else if (m->bin > 1)
        fprintf(p->out, "%s: %zu matri%s of %zu frames, maps averaged over %zu x %zu\n",
                x->m->file, m->ngroup, m->ngroup == 1 ? "x" : "ces", x->m->dataset->layout.nframe, m->bin, m->bin);
    else
        fprintf(p->out, "%s: %zu matri%s of %zu frames\n", x->m->file, m->ngroup, m->ngroup == 1 ? "x" : "ces",
                x->m->dataset->layout.nframe);
}

static enum fit_status tell_json(const struct fit_program *p, const struct extract *x, const char *path,
                                 struct fit_error *err)
{
    const struct fit_maps *m = x->measured.maps;
    struct fit_json j = {0};
    fit_json_begin(&j, NULL, '{');
    fit_json_string(&j, "file", path);
    fit_json_string(&j, "data", x->m->file);
    fit_json_string(&j, "sha256", x->m->sha256);
    if (x->k->space == FIT_ROWS) {
        fit_json_integer(&j, "rows", (int64_t)m->n);
    } else {
        fit_json_integer(&j, "frames", (int64_t)x->m->dataset->layout.nframe);
        fit_json_integer(&j, "bin", (int64_t)m->bin);
        fit_json_number(&j, "q", x->input.q);
        fit_json_number(&j, "dt", x->time_unit ? NAN : x->input.dt);
        fit_json_numbers(&j, "phi", x->input.phi, x->input.phi ? m->ngroup : 0);
    }
    fit_json_numbers(&j, "noise", x->measured.sigma, m->ngroup);
    fit_json_begin(&j, "notes", '[');
    for (size_t k = 0; k < x->m->notes.n; k++)
        fit_json_string(&j, NULL, x->m->notes.text[k]);
    fit_json_end(&j);
    fit_json_end(&j);
    return fit_json_put(&j, p->out) == 0 ? FIT_OK : fit_no_memory(err, NULL);
}

enum fit_status fit_cmd_extract(struct fit_program *p, const struct fit_cli *cli,
                                struct fit_error *err)
{
    struct extract x = {.configured = cli->config || cli->nword};
    struct fit_progress_view view = {0};
    fit_config_log_init(&x.log);
    enum fit_status st = fit_program_kernel(p, cli, &x.k, err);
    if (st == FIT_OK && !cli->output)
        st = fit_fail(err, FIT_ERR_USAGE, "extract: -o FILE.h5 is missing");
    if (st == FIT_OK)
        st = fit_progress_begin(&view, p->err, p->err_is_terminal, cli->progress, cli->quiet, err);
    if (st == FIT_OK)
        st = fit_setup_config(cli, x.k, &x.log, &x.cfg, err);
    for (size_t k = 0; k < x.log.n && st != FIT_OK; k++)
        if (x.log.message[k].error && strcmp(x.log.message[k].text, err->message) != 0)
            fprintf(p->err, "%s\n", x.log.message[k].text);
    if (st == FIT_OK)
        st = load(&x, &view, err);
    if (st == FIT_OK)
        st = fit_input_describe(x.k, x.m, &x.input, err);
    if (st == FIT_OK)
        st = fit_measured_new(x.k, x.m->dataset, (int)cli->threads, &x.measured, err);
    if (st == FIT_OK)
        st = fit_dataset_status(x.m->dataset, err);
    if (st == FIT_OK)
        find_ties(&x);
    if (st == FIT_OK)
        st = write_file(p, &x, cli->output, err);
    if (st == FIT_OK && cli->json)
        st = tell_json(p, &x, cli->output, err);
    else if (st == FIT_OK && !cli->quiet)
        tell(p, &x);
    fit_setup_free(&x.setup);
    fit_measured_free(&x.measured);
    fit_input_free(&x.input);
    fit_measurement_free(x.m);
    fit_config_free(x.cfg);
    fit_config_log_free(&x.log);
    return st;
}
