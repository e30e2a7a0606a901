/* cmd_plot.c -- `plot` and `report`: of a fit, of data before any fit, of a simulation.
 *
 * homodyne-report draws the folder of a fit, or a file that the fitter has made from a configuration or a data file
 * (`extract`), in a temporary folder. The Python packages' options --plot-experimental-data and
 * --plot-simulated-data do the same. */
#define _XOPEN_SOURCE 700
#include "commands/configuration.h"
#include "frontend/front.h"
#include "hdf5/reader.h"

#include "common/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- lists of words -------------------------------------------------------------------------- */

struct words {
    char **word; /* room for all words added here; NULL: out of memory */
    size_t n;
};

static struct words words_new(size_t room)
{
    return (struct words){.word = calloc(room + 1, sizeof(char *))};
}

static void add(struct words *w, const char *word)
{
    if (w->word)
        w->word[w->n++] = front_word(word);
}

static void add_pair(struct words *w, const char *option, const char *value)
{
    add(w, option);
    add(w, value);
}

/* ---- running --------------------------------------------------------------------------------- */

/* Runs a command of a fitter (or of homodyne-report) to its end; *code is its exit status. */
static enum fit_status run(const struct front_fitter *fitter, const char *command,
                           const struct words *w, int *code, struct fit_error *err)
{
    long pid = 0;
    char **word = w->word ? front_words(fitter, command, w->word, w->n) : NULL;
    enum fit_status st = word ? front_start(fitter->program, word, NULL, &pid, err)
                              : fit_no_memory(err, NULL);
    if (st == FIT_OK)
        st = front_wait(pid, code, err);
    free(word);
    return st;
}

static enum fit_status find_report(const struct front *f, const char *command,
                                   struct front_fitter *report, struct fit_error *err)
{
    *report = (struct front_fitter){.model = "report"};
    snprintf(report->program, sizeof report->program, "%s/homodyne-report", f->dir);
    if (access(report->program, X_OK) == 0)
        return FIT_OK;
    return fit_fail(err, FIT_ERR_USAGE,
                    "%s: there is no homodyne-report in %s; fit.h5 holds all curves and maps",
                    command, f->dir);
}

/* The input and the output of a drawing. */
struct job {
    struct front *f;
    const char *command; /* of homodyne-report: "plot" or "report" */
    const char *format;  /* of plot, or NULL */
    const char *output;  /* or NULL: its own default */
    int quiet, json;
    struct front_fitter fitter, report;
    struct words data;                              /* for `extract`, without -o */
    struct front_temporary drawn;
};

static void end(struct job *j)
{
    front_temporary_end(&j->drawn);
    free(j->data.word);
}

/* Data to the temporary file, then to figures. */
static enum fit_status draw_data(struct job *j, struct fit_error *err)
{
    struct words w = words_new(10);
    char *typed = fit_command_line(j->f->argc, j->f->argv);
    int code = 0;
    add_pair(&j->data, "--output", j->drawn.file);
    if (j->quiet || j->json)
        add(&j->data, "--quiet");
    enum fit_status st = run(&j->fitter, "extract", &j->data, &code, err);
    if (st == FIT_OK && code == 0) {
        add(&w, j->drawn.file);
        if (j->format)
            add_pair(&w, "--format", j->format);
        if (j->output)
            add_pair(&w, "--output", j->output);
        if (j->quiet)
            add(&w, "--quiet");
        if (j->json)
            add(&w, "--json");
        if (typed) /* not that of the fitter, with a temporary file */
            add_pair(&w, "--command", typed);
        st = run(&j->report, j->command, &w, &code, err);
    }
    j->f->exit_code = code;
    free(typed);
    free(w.word);
    return st;
}

/* ---- plot and report ------------------------------------------------------------------------- */

static int is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static int ends_with_any(const char *path, const char *const *ending)
{
    const char *dot = strrchr(path, '.');
    for (; dot && *ending; ending++)
        if (strcmp(dot, *ending) == 0)
            return 1;
    return 0;
}

static const char *const matrices[] = {".h5", ".hdf5", ".hdf", ".nxs", ".npz", ".npy", NULL};
static const char *const tables[] = {".csv", ".tsv", ".dat", ".txt", NULL};

/* "dir/run.h5" -> "run_figures", in the current folder. */
static void name_beside(const char *path, const char *end, char *name, size_t size)
{
    const char *stem = text_file_name(path), *dot = strrchr(stem, '.');
    snprintf(name, size, "%.*s%s", (int)(dot && dot > stem ? (size_t)(dot - stem) : strlen(stem)),
             stem, end);
}

/* Figures of a fit: the words as they are. */
static enum fit_status draw_fit(struct front *f, const struct front_args *a,
                                const struct front_fitter *report, struct fit_error *err)
{
    struct words w = words_new(2 * a->own.ngiven + a->nrest + 1);
    char(*option)[32] = calloc(a->own.ngiven + 1, sizeof *option);
    (void)f;
    if (option && w.word)
        w.n = front_put_own(a, option, w.word);
    for (size_t k = 0; k < a->nrest; k++)
        add(&w, a->rest[k]);
    char **word = option && w.word ? front_words(report, a->command->name, w.word, w.n) : NULL;
    enum fit_status st = word ? front_exec(report->program, word, err)
                              : fit_no_memory(err, NULL);
    free(word);
    free(option);
    free(w.word);
    return st;
}

/* Output of homodyne-imaging: homodyne-report recognises it. */
static int has_images(const char *file)
{
    struct fit_h5 *h = NULL;
    if (!fit_h5_is_hdf5(file) || fit_h5_open(file, &h, NULL) != FIT_OK)
        return 0;
    const int yes = fit_h5_exists(h, "/terms") && (fit_h5_exists(h, "/image") || fit_h5_exists(h, "/images"));
    fit_h5_close(h);
    return yes;
}

/* The fitter that reads a data file named alone. */
static enum fit_status choose_reader(struct front *f, const char *model, const char *file,
                                     int quiet, struct front_fitter *fitter, struct fit_error *err)
{
    if (!model && ends_with_any(file, tables))
        return fit_fail(
            err, FIT_ERR_USAGE,
            "%s: a table: --model NAME tells which columns it has (`homodyne models` lists them)",
            file);
    return front_choose(f, model ? model : front_any_two_time(f), NULL, NULL, quiet, fitter, err);
}

/* target: a configuration or a data file. */
static enum fit_status draw_target(struct front *f, const struct front_args *a, const char *target,
                                   struct fit_error *err)
{
    struct job j = {.f = f,
                    .command = a->command->name,
                    .format = option_value(&a->own, "format"),
                    .output = option_value(&a->own, "output"),
                    .quiet = a->quiet,
                    .json = a->json,
                    .data = words_new(a->nrest + 8)};
    char name[FRONT_PATH];
    const char *model = option_value(&a->own, "model");
    const int plain = ends_with_any(target, matrices) || ends_with_any(target, tables);
    const int page = strcmp(a->command->name, "report") == 0;
    if (!j.output) {
        name_beside(target, page ? "_data.html" : "_figures", name, sizeof name);
        j.output = name;
    }
    enum fit_status st = find_report(f, a->command->name, &j.report, err);
    if (st == FIT_OK)
        st = plain ? choose_reader(f, model, target, a->quiet, &j.fitter, err)
                   : front_choose(f, model, target, NULL, a->quiet, &j.fitter, err);
    if (st == FIT_OK)
        st = front_temporary_begin(&j.drawn, "data.h5", err);
    for (size_t k = 0; k < a->nrest; k++) { /* a data file becomes the value of --data */
        const int here = strcmp(a->rest[k], target) == 0 &&
                         (k == 0 || strncmp(a->rest[k - 1], "--data", 6) != 0);
        if (here && plain)
            add(&j.data, "--data");
        add(&j.data, a->rest[k]);
    }
    if (st == FIT_OK)
        st = draw_data(&j, err);
    end(&j);
    return st;
}

/* Two results, at least one of them the folder of a fit. */
static int is_pair(const struct front_args *a, const struct fit_cli *cli)
{
    return strcmp(a->command->name, "report") == 0 && cli->nword == 2 && a->nrest == 2 &&
           (is_folder(cli->word[0]) || is_folder(cli->word[1]));
}

/* The page of `compare --report`, without its text. */
static enum fit_status report_pair(struct front *f, const struct front_args *a, struct fit_error *err)
{
    const char *output = option_value(&a->own, "output");
    struct option_given own[] = {{.name = "report", .value = output}, {.name = "page"}};
    const struct front_args two = {.command = front_command_named("compare"),
                                   .own = {.ngiven = 2, .given = own},
                                   .nrest = 2,
                                   .rest = a->rest,
                                   .quiet = a->quiet,
                                   .json = a->json};
    return front_cmd_compare(f, &two, err);
}

/* The error in the input of a drawing. */
static enum fit_status check_target(const struct front_args *a, const struct fit_cli *cli, const char *target,
                                    struct fit_error *err)
{
    if (!target)
        return fit_fail(err, FIT_ERR_USAGE,
                      "%s: nothing is named; give the folder of a fit, a configuration or a data file",
                      a->command->name);
    if (access(target, F_OK) != 0)
        return fit_fail(err, FIT_ERR_IO,
                      "%s: no such folder or file; give the folder that a fit wrote, a "
                      "configuration or a data file",
                      target);
    if (strstr(target, "fit.json"))
        return fit_fail(err, FIT_ERR_IO, "%s: a file; give the folder of the fit", target);
    if (is_folder(target) && (cli->nchange || option_value(&a->own, "model")))
        return fit_fail(err, FIT_ERR_USAGE, "%s: %s is a fit; --%s belongs to the drawing of data",
                      a->command->name, target, cli->nchange ? cli->change[0].name : "model");
    return FIT_OK;
}

enum fit_status front_cmd_report(struct front *f, const struct front_args *a, struct fit_error *err)
{
    struct fit_cli cli;
    struct front_fitter report;
    enum fit_status st = front_parse_rest(a, "extract", &cli, err);
    const char *target = NULL;
    if (st == FIT_OK) {
        target = cli.config ? cli.config : cli.nword ? cli.word[0] : NULL;
        if (!target && fit_cli_data(&cli))
            target = fit_cli_data(&cli)->value;
    }
    if (st == FIT_OK && is_pair(a, &cli)) {
        fit_cli_free(&cli);
        return report_pair(f, a, err);
    }
    if (st == FIT_OK && cli.nword > 1)
        st = fit_fail(err, FIT_ERR_USAGE,
                      "%s: one result, configuration or data file at a time; got %s and %s",
                      a->command->name, cli.word[0], cli.word[1]);
    if (st == FIT_OK)
        st = check_target(a, &cli, target, err);
    fit_cli_free(&cli);
    const int ready = st == FIT_OK && (is_folder(target) || has_images(target));
    if (st == FIT_OK && !ready && option_value(&a->own, "axis"))
        st = fit_fail(err, FIT_ERR_USAGE, "--axis belongs to the folder of a batch; %s is none", target);
    if (st == FIT_OK && !ready && option_value(&a->own, "threshold"))
        st = fit_fail(err, FIT_ERR_USAGE, "--threshold belongs to surveys of images; %s is none", target);
    if (st == FIT_OK && !ready)
        return draw_target(f, a, target, err);
    if (st == FIT_OK)
        st = find_report(f, a->command->name, &report, err);
    return st == FIT_OK ? draw_fit(f, a, &report, err) : st;
}

enum fit_status front_cmd_figure(struct front *f, const struct front_args *a, struct fit_error *err)
{
    struct front_fitter report;
    if (!a->nrest)
        return fit_fail(err, FIT_ERR_USAGE, "figure: no result is named; give the folder of a fit");
    if (access(a->rest[0], F_OK) != 0)
        return fit_fail(err, FIT_ERR_IO, "%s: no such folder; give the folder that a fit wrote", a->rest[0]);
    enum fit_status st = find_report(f, a->command->name, &report, err);
    return st == FIT_OK ? draw_fit(f, a, &report, err) : st;
}

/* ---- the options of the Python packages ------------------------------------------------------ */

/* Does a command of the fitters know the option? */
static int takes(enum fit_command command, const char *option)
{
    static const char *const hidden[] = {"data-file", "layout", "units", "q-tolerance",
                                         "exclude-t0"};
    const struct option_row *row;
    for (size_t k = 0; (row = fit_cli_row(command, FIT_PAIRS, k)); k++)
        if (strcmp(row->name, option) == 0)
            return 1;
    for (size_t k = 0; command == FIT_COMMAND_EXTRACT && k < sizeof hidden / sizeof *hidden; k++)
        if (strcmp(hidden[k], option) == 0)
            return 1;
    return 0;
}

/* "--name" of an option, kept in storage. */
static void add_option(struct words *w, char (*storage)[64], const struct fit_cli_pair *p)
{
    char *name = storage[w->n];
    snprintf(name, 64, "--%s", p->name);
    add(w, name);
    if (p->value)
        add(w, p->value);
}

static void add_experiment(struct words *w, char (*storage)[64], const struct fit_cli *cli)
{
    for (size_t k = 0; k < cli->nchange; k++)
        if (takes(FIT_COMMAND_EXTRACT, cli->change[k].name))
            add_option(w, storage, &cli->change[k]);
}

/* Simulates into `file`: starting values of the configuration, and values of the packages' options.
 */
static enum fit_status simulate(const struct job *j, const char *config, const struct fit_cli *cli,
                                const char *file, int *code, struct fit_error *err)
{
    static const char *const options[] = {"contrast", "offset", "offset-sim", "phi-angles"};
    struct words w = words_new(2 * (cli->nchange + cli->nignored) + 8);
    char(*storage)[64] = calloc(2 * (cli->nchange + cli->nignored) + 8, sizeof *storage);
    add(&w, config);
    add_pair(&w, "--output", file);
    add(&w, "--quiet");
    add(&w, "--force"); /* that of an earlier call */
    for (size_t k = 0; storage && k < cli->nignored; k++)
        for (size_t o = 0; o < sizeof options / sizeof *options; o++)
            if (strcmp(cli->ignored[k].name, options[o]) == 0)
                add_option(&w, storage, &cli->ignored[k]);
    for (size_t k = 0; storage && k < cli->nchange; k++) {
        const struct fit_cli_pair *p = &cli->change[k];
        if (strcmp(p->name, "start") == 0 || strcmp(p->name, "set") == 0)
            add_pair(&w, "--set", p->value);
        else if (strncmp(p->name, "initial-", 8) == 0 && !j->quiet)
            fprintf(j->f->err, "note: --%s has no effect on a simulation; --set NAME=VALUE has\n",
                    p->name);
    }
    enum fit_status st = storage ? run(&j->fitter, "simulate", &w, code, err)
                                 : fit_no_memory(err, NULL);
    free(storage);
    free(w.word);
    return st;
}

enum fit_status front_plot_package(struct front *f, const struct front_args *a, const char *config,
                                   int simulated, struct fit_error *err)
{
    struct fit_cli cli;
    enum fit_status st = front_parse_rest(a, "fit", &cli, err);
    char folder[FRONT_PATH + 64], data[FRONT_PATH + 96];
    struct job j = {
        .f = f, .command = "plot", .format = "auto", .output = folder, .quiet = a->quiet, .json = a->json};
    char(*storage)[64] = calloc(2 * a->nrest + 16, sizeof *storage);
    int code = 0;
    j.data = words_new(2 * a->nrest + 16);
    snprintf(folder, sizeof folder, "%s/plots/%s_data", st == FIT_OK && cli.output ? cli.output : "homodyne_results",
             simulated ? "simulated" : "experimental");
    snprintf(data, sizeof data, "%s/simulated.h5", folder);
    if (st == FIT_OK && !storage)
        st = fit_no_memory(err, NULL);
    if (st == FIT_OK)
        st = find_report(f, simulated ? "--plot-simulated-data" : "--plot-experimental-data", &j.report, err);
    if (st == FIT_OK)
        st = front_choose(f, option_value(&a->own, "model"), config,
                          option_value(&a->own, "mode"), a->quiet, &j.fitter, err);
    if (st == FIT_OK)
        st = front_temporary_begin(&j.drawn, "data.h5", err);
    if (st == FIT_OK && simulated) { /* the data stay beside the pictures */
        st = simulate(&j, config, &cli, data, &code, err);
        f->exit_code = code;
        add_pair(&j.data, "--data", data);
        if (st == FIT_OK)
            st = choose_reader(f, NULL, data, a->quiet, &j.fitter, err);
    } else if (st == FIT_OK) {
        add(&j.data, config);
        add_experiment(&j.data, storage, &cli);
    }
    if (st == FIT_OK && code == 0)
        st = draw_data(&j, err);
    end(&j);
    free(storage);
    fit_cli_free(&cli);
    return st;
}
