/* cmd_watch.c -- `watch`: fits again whenever the data file or the configuration has changed.
 *
 * A file that is being written is left alone until its size and time are the same in two successive checks. The first
 * fit starts as the configuration says, the others from the last result (--resume), with new starts if that one had not
 * converged. A line for every fit: time, frames or points, parameters with errors, their shifts since the last fit in
 * standard deviations.
 */
#define _XOPEN_SOURCE 700
#include "base/clock.h"
#include "base/command_line.h"
#include "base/number_text.h"
#include "frontend/front.h"
#include "base/json.h"
#include "frontend/result.h"
#include "frontend/view.h"

#include "base/output.h"
#include "base/paths.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct state { /* of a file */
    long long size;
    struct timespec time;
    int there;
};

struct watch {
    struct front *f;
    const struct front_args *a;
    struct fit_cli cli;
    const char *config;
    char *data, folder[FRONT_PATH], log[FRONT_PATH + 32];
    struct front_fitter fitter;
    double every, idle;
    struct front_result last; /* of the fit before */
    int has_last;
    size_t nfit;
    char history[FRONT_PATH + 32]; /* a line of JSON for each fit, for the viewer; "": there is none */
    long viewer;                   /* its process, or 0 */
};

static struct state look(const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return (struct state){0};
    return (struct state){(long long)s.st_size, s.st_mtim, 1};
}

static int same(struct state a, struct state b)
{
    return a.there == b.there && a.size == b.size && a.time.tv_sec == b.time.tv_sec &&
           a.time.tv_nsec == b.time.tv_nsec;
}

/* ---- watched files --------------------------------------------------------------------------- */

static enum fit_status find_data(struct watch *w, struct fit_error *err)
{
    const struct fit_cli_pair *option = fit_cli_data(&w->cli);
    const char *given = option ? option->value : NULL;
    char *folder = NULL;
    enum fit_status st =
        w->config ? front_config_places(w->config, &w->data, &folder, err) : FIT_OK;
    if (w->cli.output || folder)
        snprintf(w->folder, sizeof w->folder, "%s", w->cli.output ? w->cli.output : folder);
    else
        snprintf(w->folder, sizeof w->folder, "%s_results", w->fitter.model);
    snprintf(w->log, sizeof w->log, "%s/watch.log", w->folder);
    free(folder);
    if (st == FIT_OK && given) {
        free(w->data);
        w->data = NULL;
        st = fit_path_resolve(given, NULL, &w->data, err);
    }
    if (st == FIT_OK && !w->data)
        st = fit_fail(err, FIT_ERR_USAGE, "watch: no data file named; give --data FILE");
    return st;
}

static enum fit_status get_seconds(const struct front_args *a, const char *name, double *x,
                                   struct fit_error *err)
{
    const char *text = option_value(&a->own, name);
    return text ? fit_options_real(name, text, OPTION_POSITIVE, x, err) : FIT_OK;
}

static enum fit_status prepare(struct watch *w, struct fit_error *err)
{
    const struct front_args *a = w->a;
    enum fit_status st = front_parse_rest(a, "fit", &w->cli, err);
    w->config = w->cli.config ? w->cli.config : w->cli.nword ? w->cli.word[0] : NULL;
    w->every = 2;
    w->idle = INFINITY;
    if (st == FIT_OK)
        st = get_seconds(a, "every", &w->every, err);
    if (st == FIT_OK)
        st = get_seconds(a, "until-idle", &w->idle, err);
    if (st == FIT_OK)
        st =
            front_choose(w->f, option_value(&a->own, "model"), w->config, NULL, a->quiet, &w->fitter, err);
    return st == FIT_OK ? find_data(w, err) : st;
}

/* ---- one fit --------------------------------------------------------------------------------- */

static enum fit_status fit_once(struct watch *w, int *code, struct fit_error *err)
{
    const struct front_args *a = w->a;
    char **rest = calloc(a->nrest + 6, sizeof *rest);
    const char *more[5] = {"--output-dir", w->folder, "--quiet"};
    size_t n = 0, nmore = 3;
    long pid = 0;
    if (!rest)
        return fit_no_memory(err, NULL);
    if (w->has_last && w->last.converged)
        more[nmore++] = "--resume";
    for (size_t k = 0; k < a->nrest; k++)
        if (strcmp(a->rest[k], "--json") != 0)
            rest[n++] = a->rest[k];
    for (size_t k = 0; k < nmore; k++)
        rest[n++] = front_word(more[k]);
    char **word = front_words(&w->fitter, "fit", rest, n);
    mkdir(w->folder, 0777); /* for the log; the fitter will report if it cannot be created */
    unlink(w->log);
    enum fit_status st = word ? front_start(w->fitter.program, word,
                                            access(w->folder, W_OK) == 0 ? w->log : NULL, &pid, err)
                              : fit_no_memory(err, NULL);
    for (int told = 0; st == FIT_OK && !front_ended(pid, code);) {
        const struct timespec moment = {0, 20000000};
        if (*w->f->interrupt > told) /* it has its own process group: it does not see Ctrl-C */
            kill((pid_t)pid, (told = (int)*w->f->interrupt) > 1 ? SIGKILL : SIGINT);
        nanosleep(&moment, NULL);
    }
    free(word);
    free(rest);
    return st;
}

static void say_error(const struct watch *w, FILE *out, const char *clock, int code)
{
    char text[512];
    front_last_error(w->log, code, text, sizeof text);
    fprintf(out, "%s  no fit: %.300s\n", clock, text);
}

/* ---- a row for each fit ---------------------------------------------------------------------- */

enum { COLUMN = 17, LEFT = 38, NARROW = 80 }; /* columns of a parameter; columns before the parameters */

static size_t terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= NARROW ? size.ws_col : NARROW;
}

/* As many parameters as fit beside the other columns; in a file those of 80 columns. */
static size_t columns(const struct watch *w)
{
    return ((w->f->out_is_terminal ? terminal_columns() : NARROW) - LEFT) / COLUMN;
}

/* The columns, once the first result exists. */
static void print_header(const struct watch *w, FILE *out, const struct front_result *r)
{
    fprintf(out, "%-8s %9s %8s %-9s", "time", "points", "chi2/dof", "quality");
    for (size_t k = 0, n = 0; k < r->nparam && n < columns(w); k++)
        if (r->param[k].physical)
            n++, fprintf(out, " %-16.16s", r->param[k].name);
    fprintf(out, "\n");
}

/* Shift of the parameter since the previous fit, in standard errors; NaN: unknown. */
static double moved(const struct watch *w, const struct front_param *p)
{
    const struct front_param *old = w->has_last && p->physical ? front_result_param(&w->last, p->name) : NULL;
    return old && p->std > 0 ? fabs(p->value - old->value) / p->std : NAN;
}

/* The first parameters, as many as fit on a line; below it the one that has shifted most. */
static void print_fit(const struct watch *w, const struct front_result *r, FILE *out,
                      const char *clock, int code)
{
    const struct front_param *most = NULL;
    char reduced[16] = "-"; /* the noise is not known */
    if (!isnan(r->reduced_chi2))
        snprintf(reduced, sizeof reduced, "%.4g", r->reduced_chi2);
    fprintf(out, "%-8s %9.0f %8s %-9.9s", clock, r->npoint, reduced, code ? "not conv." : r->quality);
    for (size_t k = 0, n = 0; k < r->nparam; k++) {
        const struct front_param *p = &r->param[k];
        char text[96], value[40], error[40];
        if (moved(w, p) > (most ? moved(w, most) : 0))
            most = p;
        if (!p->physical || n++ >= columns(w))
            continue;
        fit_format_error(p->value, p->std, value, sizeof value, error, sizeof error);
        snprintf(text, sizeof text, "%s%s%s", value, error[0] ? "+-" : "", error);
        fprintf(out, " %-16s", text);
    }
    fprintf(out, "\n");
    if (most)
        fprintf(out, "%-8s moved most: %s, by %.1f sd\n", "", most->name, moved(w, most));
    if (code != 0)
        fprintf(out, "%-8s NOT CONVERGED\n", "");
}

/* A line for each fit. */
static void put_json(const struct watch *w, const struct front_result *r, const char *clock, int code, FILE *f)
{
    struct fit_json j = {.compact = 1};
    fit_json_begin(&j, NULL, '{');
    fit_json_string(&j, "time", clock);
    fit_json_boolean(&j, "converged", code == 0);
    fit_json_number(&j, "n_points", r->npoint);
    fit_json_number(&j, "reduced_chi2", r->reduced_chi2);
    fit_json_string(&j, "folder", w->folder);
    fit_json_begin(&j, "parameters", '{');
    for (size_t k = 0; k < r->nparam; k++) {
        fit_json_begin(&j, r->param[k].name, '{');
        fit_json_number(&j, "value", r->param[k].value);
        fit_json_number(&j, "std", r->param[k].std);
        fit_json_end(&j);
    }
    fit_json_end(&j);
    fit_json_end(&j);
    fit_json_put(&j, f);
}

/* The line is appended at once, so that no reader sees a part of it. */
static void remember(const struct watch *w, const struct front_result *r, const char *clock, int code)
{
    FILE *f = w->history[0] ? fopen(w->history, "a") : NULL;
    if (!f)
        return;
    put_json(w, r, clock, code, f);
    fclose(f);
}

static enum fit_status report(struct watch *w, int code, struct fit_error *err)
{
    char clock[16];
    const time_t now = time(NULL);
    struct tm t;
    struct front_result r;
    struct fit_error own;
    strftime(clock, sizeof clock, "%H:%M:%S", localtime_r(&now, &t));
    if ((code != 0 && code != 2) || front_result_read(w->folder, &r, &own) != FIT_OK) {
        say_error(w, w->f->err, clock, code);
        return code == 3 ? fit_fail(err, FIT_ERR_CONFIG,
                                    "watch: the configuration cannot be fitted, "
                                    "see above")
                         : FIT_OK;
    }
    if (w->a->json)
        put_json(w, &r, clock, code, w->f->out);
    remember(w, &r, clock, code);
    if (!w->has_last && !w->a->quiet && !w->a->json)
        print_header(w, w->f->out, &r);
    if (!w->a->quiet && !w->a->json)
        print_fit(w, &r, w->f->out, clock, code);
    fflush(w->f->out);
    if (w->has_last)
        front_result_free(&w->last);
    w->last = r;
    w->has_last = 1;
    w->nfit++;
    w->f->exit_code = code;
    return FIT_OK;
}

/* ---- the viewer ------------------------------------------------------------------------------ */

/* Starts the viewer on the folder of the results; it prints its address. */
static enum fit_status begin_viewer(struct watch *w, struct fit_error *err)
{
    char path[FRONT_PATH + 32];
    unsigned made = 0;
    char *word[] = {path, front_word("--watch"), w->history, w->folder, front_word("--quiet"), NULL};
    enum fit_status st = front_viewer(w->f, path, sizeof path, err);
    if (st == FIT_OK)
        st = fit_output_folder(w->folder, &made, err);
    snprintf(w->history, sizeof w->history, "%s/watch.jsonl", w->folder);
    unlink(w->history);
    return st == FIT_OK ? front_start(path, word, NULL, &w->viewer, err) : st;
}

static void end_viewer(struct watch *w)
{
    int code = 0;
    if (!w->viewer)
        return;
    kill((pid_t)w->viewer, SIGTERM);
    front_wait(w->viewer, &code, NULL);
}

/* ---- the command ----------------------------------------------------------------------------- */

static void sleep_for(double seconds)
{
    const struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
    nanosleep(&t, NULL);
}

/* Checks the files, fits when a change has settled, and repeats. */
static enum fit_status go_round(struct watch *w, struct fit_error *err)
{
    struct front_view v = front_view_begin(w->f, w->a->quiet);
    struct state fitted = {0}, fitted_config = {0}, before = look(w->data);
    double quiet_since = fit_seconds();
    int any = 0;
    enum fit_status st = FIT_OK;
    while (st == FIT_OK && !*w->f->interrupt) {
        const struct state now = look(w->data);
        const struct state config = w->config ? look(w->config) : (struct state){0};
        const int fresh = !any || !same(now, fitted) || !same(config, fitted_config);
        if (!same(now, before))
            quiet_since = fit_seconds();
        if (now.there && fresh && (same(now, before) || !any)) {
            int code = 0;
            front_view_show(&v, "fitting %s ...", w->data);
            st = fit_once(w, &code, err);
            front_view_clear(&v);
            fitted = now; /* changes during the fit are seen in the next round */
            fitted_config = config;
            any = 1;
            if (st == FIT_OK && !*w->f->interrupt)
                st = report(w, code, err);
            if (option_given(&w->a->own, "once") && w->nfit)
                break;
        }
        before = now;
        if (fit_seconds() - quiet_since > w->idle)
            break;
        v.last = 0;
        front_view_show(
            &v, now.there ? "waiting for %s to grow; Ctrl-C ends" : "waiting for %s; Ctrl-C ends",
            w->data);
        if (!*w->f->interrupt)
            sleep_for(w->every);
    }
    front_view_clear(&v);
    return st;
}

enum fit_status front_cmd_watch(struct front *f, const struct front_args *a, struct fit_error *err)
{
    struct watch w = {.f = f, .a = a};
    enum fit_status st = prepare(&w, err);
    if (st == FIT_OK && option_given(&a->own, "view"))
        st = begin_viewer(&w, err);
    if (st == FIT_OK)
        st = go_round(&w, err);
    end_viewer(&w);
    if (st == FIT_OK && w.nfit == 0 && *f->interrupt)
        st = fit_fail(err, FIT_ERR_INTERRUPTED, "interrupted before a first fit");
    if (st == FIT_OK && w.nfit == 0)
        st = fit_fail(err, FIT_ERR_DATA, "watch: %s was never fitted", w.data);
    if (st == FIT_OK && !a->quiet && !a->json)
        fprintf(f->out, "%zu fits -> %s\n", w.nfit, w.folder);
    if (w.has_last)
        front_result_free(&w.last);
    free(w.data);
    fit_cli_free(&w.cli);
    return st;
}
