/* cmd_demo.c -- `demo`: fits the experiment that is installed with the programs, prints the truth beside the result,
 * makes the report, and shows the commands for the user's own data. The data are simulated: laminar shear, five
 * azimuths of 200 frames, noise 0.01. */
#define _POSIX_C_SOURCE 200809L
#include "base/number_text.h"
#include "frontend/front.h"
#include "base/json.h"
#include "frontend/result.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One parameter: its deviation in standard errors; for an interval, whether it contains the truth. */
static void print_row(FILE *out, const struct front_param *p, const char *name, double truth, const char *unit)
{
    char value[40], error[40];
    fit_format_error(p->value, p->std, value, sizeof value, error, sizeof error);
    fprintf(out, "%-20s %12g %12s ", name, truth, value);
    if (isfinite(p->std))
        fprintf(out, "%12s %8.1f std  %s\n", error, (p->value - truth) / p->std, unit);
    else if (p->interval)
        fprintf(out, "%25s  %s\n",
                truth < p->lower95 || truth > p->upper95 ? "outside its 95 %" : "inside its 95 %", unit);
    else
        fprintf(out, "%25s  %s\n", "not determined", unit);
}

/* "name truth unit" per line; '#' begins a comment. */
static enum fit_status print_truth(FILE *out, int json, int quiet, const char *folder, const char *file,
                                   const struct front_result *r, struct fit_error *err)
{
    struct fit_json j = {0};
    char line[256], name[64], unit[64];
    double truth;
    FILE *f = fopen(file, "r");
    if (!f)
        return fit_fail(err, FIT_ERR_IO, "%s: cannot be read: %s", file, strerror(errno));
    fit_json_begin(&j, NULL, '{');
    fit_json_string(&j, "folder", folder);
    fit_json_begin(&j, "parameters", '{');
    if (!json && !quiet)
        fprintf(out, "\n%-20s %12s %12s %12s %12s\n", "parameter", "truth", "fit", "error", "off by");
    while (fgets(line, sizeof line, f)) {
        unit[0] = '\0';
        if (line[0] == '#' || sscanf(line, "%63s %lf %63s", name, &truth, unit) < 2)
            continue;
        const struct front_param *p = front_result_param(r, name);
        if (!p)
            continue;
        fit_json_begin(&j, name, '{');
        fit_json_number(&j, "truth", truth);
        fit_json_number(&j, "value", p->value);
        fit_json_number(&j, "std", p->std);
        fit_json_string(&j, "unit", unit);
        fit_json_end(&j);
        if (!json && !quiet)
            print_row(out, p, name, truth, unit);
    }
    fclose(f);
    fit_json_end(&j);
    fit_json_end(&j);
    if (json)
        fit_json_put(&j, out);
    else
        fit_json_free(&j);
    return FIT_OK;
}

/* Runs a command of a fitter, or of the drawing program, to its end; f->exit_code is its exit status. */
static enum fit_status run(struct front *f, const struct front_fitter *fitter, const char *command, char *const *rest,
                           size_t n, struct fit_error *err)
{
    long pid = 0;
    char **word = front_words(fitter, command, rest, n);
    fflush(f->out);
    enum fit_status st = word ? front_start(fitter->program, word, NULL, &pid, err)
                              : fit_no_memory(err, NULL);
    if (st == FIT_OK)
        st = front_wait(pid, &f->exit_code, err);
    free(word);
    return st;
}

/* Writes the report into the folder, if the drawing program is installed. */
static enum fit_status draw(struct front *f, const char *folder, int quiet, struct fit_error *err)
{
    struct front_fitter report = {.model = "report"};
    char *rest[] = {front_word(folder), front_word("--quiet")};
    snprintf(report.program, sizeof report.program, "%s/homodyne-report", f->dir);
    if (access(report.program, X_OK) != 0)
        return FIT_OK;
    if (!quiet)
        fprintf(f->out, "\n+ homodyne report %s\n", folder);
    return run(f, &report, "report", rest, quiet ? 2 : 1, err);
}

/* Called by a path: the programs are probably not in PATH. */
static void print_next(const struct front *f)
{
    fprintf(f->out, "\nnext, with two-time matrices of your own:\n");
    if (strchr(f->argv[0], '/'))
        fprintf(f->out, "    PATH=%s:$PATH\n", f->dir);
    fprintf(f->out, "    homodyne inspect data.h5\n"
                    "    homodyne fit --model laminar --data data.h5 --gap \"200 um\" -o results\n"
                    "    homodyne report results\n"
                    "    homodyne figure results      # one figure for a paper\n"
                    "a sample at rest: --model static_isotropic, no --gap\n");
}

enum fit_status front_cmd_demo(struct front *f, const struct front_args *a, struct fit_error *err)
{
    char share[FRONT_PATH + 96], config[FRONT_PATH + 160], truth[FRONT_PATH + 160];
    const char *folder = a->nrest ? a->rest[0] : "homodyne_demo";
    struct front_fitter fitter;
    struct front_result r = {0};
    const int silent = a->json || a->quiet;
    if (a->nrest > 1)
        return fit_fail(err, FIT_ERR_USAGE, "demo: give one folder for the results");
    const char *slash = strrchr(f->dir, '/'); /* dir is absolute */
    snprintf(share, sizeof share, "%.*s/share/homodyne-gen/examples/laminar", (int)(slash ? slash - f->dir : 0),
             f->dir);
    snprintf(config, sizeof config, "%s/experiment.yaml", share);
    snprintf(truth, sizeof truth, "%s/truth.txt", share);
    enum fit_status st = front_choose(f, NULL, config, NULL, 0, &fitter, err);
    if (st != FIT_OK)
        return st;
    char *rest[] = {config, front_word("-o"), front_word(folder), front_word("--quiet")};
    if (!silent)
        fprintf(f->out, "+ homodyne fit %s -o %s\n", config, folder);
    st = run(f, &fitter, "fit", rest, silent ? 4 : 3, err);
    if (st == FIT_OK && f->exit_code == 0)
        st = front_result_read(folder, &r, err);
    if (st == FIT_OK && f->exit_code == 0)
        st = print_truth(f->out, a->json, a->quiet, folder, truth, &r, err);
    front_result_free(&r);
    if (st == FIT_OK && f->exit_code == 0)
        st = draw(f, folder, silent, err);
    if (st == FIT_OK && f->exit_code == 0 && !silent)
        print_next(f);
    return st;
}
