/* session.c -- programs that a viewer runs: fits, maps of data, reports; see session.h.
 *
 * One request is answered after another, so there is no lock.  A fit runs beside them, its output goes to a file. */
#define _XOPEN_SOURCE 700
#include "frontend/viewer/session.h"

#include "base/json.h"
#include "base/output.h"
#include "base/units.h"
#include "common/text.h"
#include "config/config.h"
#include "files/yaml_tree.h"
#include "hdf5/reader.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_PAGE = 64 << 20 };

static void inside(const struct view_session *s, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", s->folder, name);
}

/* A path from realpath: never longer than PATH_MAX. */
static void keep(char to[PATH_MAX + 1], const char *path)
{
    const size_t n = strnlen(path, PATH_MAX);
    memcpy(to, path, n);
    to[n] = '\0';
}

static int is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* ---- running --------------------------------------------------------------------------------- */

struct line { /* words of a command */
    char program[FRONT_PATH + 64];
    char *word[VIEW_WORDS + 32];
    size_t n;
};

static void begin(struct line *l, const struct view_session *s, const char *program, const char *command)
{
    snprintf(l->program, sizeof l->program, "%s/%s", s->dir, program);
    l->n = 0;
    l->word[l->n++] = l->program;
    l->word[l->n++] = front_word(command);
    l->word[l->n] = NULL;
}

static void add(struct line *l, const char *word)
{
    if (l->n + 1 < sizeof l->word / sizeof *l->word)
        l->word[l->n++] = front_word(word);
    l->word[l->n] = NULL;
}

static void add_words(struct line *l, const struct view_words *w)
{
    for (size_t k = 0; k < w->n; k++)
        add(l, w->word[k]);
}

/* Runs to its end; its output goes to .view.log, and its error is passed on. */
static enum fit_status run(struct view_session *s, const struct line *l, struct fit_error *err)
{
    char log[FRONT_PATH + 32], text[512];
    long pid = 0;
    int code = 0;
    inside(s, ".view.log", log, sizeof log);
    unlink(log);
    enum fit_status st = front_start(l->program, l->word, log, &pid, err);
    if (st == FIT_OK)
        st = front_wait(pid, &code, err);
    if (st == FIT_OK && code != 0) {
        front_last_error(log, code, text, sizeof text);
        st = fit_fail(err, code == 3 ? FIT_ERR_CONFIG : FIT_ERR_DATA, "%s", text);
    }
    unlink(log);
    return st;
}

static enum fit_status capture(const struct line *l, char **text, struct fit_error *err)
{
    int code = 0;
    enum fit_status st = front_capture(l->program, l->word, text, &code, err);
    if (st == FIT_OK && code != 0) {
        free(*text);
        *text = NULL;
        st = fit_fail(err, FIT_ERR_DATA, "%s %s ended with exit status %d", l->word[0], l->word[1], code);
    }
    return st;
}

static enum fit_status copy_text(const char *text, char **to, struct fit_error *err)
{
    *to = text ? strdup(text) : NULL;
    return *to ? FIT_OK : fit_no_memory(err, "view");
}

/* ---- opening --------------------------------------------------------------------------------- */

static enum fit_status add_result(struct view_session *s, const char *path, struct fit_error *err)
{
    char full[PATH_MAX + 1], file[PATH_MAX + 32];
    const char *name = realpath(path, full) ? text_file_name(full) : NULL;
    snprintf(file, sizeof file, "%s/fit.json", name ? full : "");
    if (!name || access(file, R_OK) != 0)
        return fit_fail(err, FIT_ERR_IO, "%s: no result of a fit (no fit.json in it)", path);
    if (s->nresult == VIEW_RESULTS)
        return fit_fail(err, FIT_ERR_USAGE, "view: at most %d results", VIEW_RESULTS);
    struct view_result *r = &s->result[s->nresult];
    keep(r->path, full);
    if (view_is_name(name))
        snprintf(r->name, sizeof r->name, "%s", name);
    else
        snprintf(r->name, sizeof r->name, "result-%zu", s->nresult + 1);
    for (size_t k = 0; k < s->nresult; k++)
        if (strcmp(s->result[k].path, r->path) == 0)
            return FIT_OK;
        else if (strcmp(s->result[k].name, r->name) == 0)
            snprintf(r->name, sizeof r->name, "result-%zu", s->nresult + 1);
    s->nresult++;
    return FIT_OK;
}

/* Fits of an earlier viewer in this folder. */
static void add_earlier(struct view_session *s)
{
    char name[32], path[FRONT_PATH + 48];
    struct fit_error err;
    for (size_t k = 1; k < 10000; k++) {
        snprintf(name, sizeof name, "fit-%zu", k);
        inside(s, name, path, sizeof path);
        if (!is_folder(path))
            break;
        s->nfit = k;
        if (s->nresult + 8 < VIEW_RESULTS)
            add_result(s, path, &err);
    }
}

static int is_config(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 || strcmp(dot, ".json") == 0);
}

/* A configuration for a data file. */
static enum fit_status configure_as(struct view_session *s, const char *model, const char *data, const char *gap,
                                    const char *to, struct fit_error *err)
{
    struct line l;
    begin(&l, s, "homodyne", "config");
    add(&l, "--mode");
    add(&l, model);
    add(&l, "--data");
    add(&l, data);
    if (gap) {
        add(&l, "--gap");
        add(&l, gap);
    }
    add(&l, "--output");
    add(&l, to);
    add(&l, "--quiet");
    return run(s, &l, err);
}

/* A configuration for a data file named alone. */
static enum fit_status configure(struct view_session *s, const struct view_start *start, struct fit_error *err)
{
    char full[PATH_MAX + 1];
    inside(s, ".view-start.yaml", s->base, sizeof s->base);
    unlink(s->base);
    if (!realpath(start->target, full))
        return fit_fail(err, FIT_ERR_IO, "%s: cannot be read: %s", start->target, strerror(errno));
    s->at_rest = !start->model;
    return configure_as(s, start->model ? start->model : "static_isotropic", full, start->gap, s->base, err);
}

static enum fit_status choose_base(struct view_session *s, const struct view_start *start, struct fit_error *err)
{
    char path[PATH_MAX + 64];
    if (is_folder(start->target)) {
        snprintf(path, sizeof path, "%s/config.effective.yaml", start->target);
        enum fit_status st = start->history ? FIT_OK : add_result(s, start->target, err);
        if (st != FIT_OK || access(path, R_OK) != 0)
            return st;
    } else if (!is_config(start->target)) {
        return configure(s, start, err);
    } else {
        snprintf(path, sizeof path, "%s", start->target);
    }
    char full[PATH_MAX + 1];
    if (!realpath(path, full))
        return fit_fail(err, FIT_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
    keep(s->base, full);
    return FIT_OK;
}

static enum fit_status extract_json(struct view_session *s, char **json, struct fit_error *err);

/* A table: it has no wavevectors to click. */
static int is_text(const char *file)
{
    FILE *f = fopen(file, "rb");
    int c = EOF, text = f != NULL;
    for (int k = 0; f && k < 512 && (c = fgetc(f)) != EOF; k++)
        text &= c >= ' ' || strchr("\t\r\n", c) != NULL;
    if (f)
        fclose(f);
    return text;
}

/* The contents of the data file, for the wheel of azimuths; tables have none. */
static void look_into(struct view_session *s)
{
    struct line l;
    char *output = NULL;
    struct fit_error err;
    if (!s->base[0] || front_config_places(s->base, &s->data, &output, &err) != FIT_OK || !s->data || is_text(s->data))
        return;
    free(output);
    begin(&l, s, "homodyne", "inspect");
    add(&l, s->data);
    add(&l, "--json");
    if (capture(&l, &s->inspect, &err) != FIT_OK)
        s->inspect = NULL;
}

enum fit_status view_session_open(struct view_session *s, const char *dir, const struct view_start *start,
                                  struct fit_error *err)
{
    char full[PATH_MAX + 1];
    *s = (struct view_session){.dir = dir, .code = -1};
    snprintf(s->title, sizeof s->title, "%s", text_file_name(start->target));
    unsigned made = 0;
    enum fit_status st = fit_output_folder(start->folder, &made, err);
    if (st == FIT_OK && (!realpath(start->folder, full) || strlen(full) + 64 > FRONT_PATH))
        st = fit_fail(err, FIT_ERR_IO, "%s: %s", start->folder, strerror(errno ? errno : ENAMETOOLONG));
    if (st != FIT_OK)
        return st;
    snprintf(s->folder, sizeof s->folder, "%s", full);
    if (start->history)
        snprintf(s->history, sizeof s->history, "%s", start->history);
    st = choose_base(s, start, err);
    for (size_t k = 0; k < start->nmore && st == FIT_OK; k++)
        st = add_result(s, start->more[k], err);
    if (st == FIT_OK && !start->history)
        add_earlier(s);
    if (st == FIT_OK && !start->history)
        look_into(s);
    if (st == FIT_OK && s->base[0] && s->nresult == 0 && !start->history)
        st = extract_json(s, &s->first, err); /* unsuitable input is reported at once */
    return st;
}

void view_session_close(struct view_session *s)
{
    static const char *const passing[] = {".view-next.yaml",  ".view.log",         ".view-fit.log",  ".view-data.h5",
                                          ".view-start.yaml", ".view-report.html", ".view-config.h5"};
    char path[FRONT_PATH + 64];
    for (int k = 0; s->pid && k < 100 && !front_ended(s->pid, &s->code); k++) {
        const struct timespec moment = {0, 50000000};
        if (k % 60 == 0)
            kill((pid_t)s->pid, k ? SIGKILL : SIGINT);
        nanosleep(&moment, NULL);
    }
    for (size_t k = 0; k < sizeof passing / sizeof *passing && s->folder[0]; k++) {
        inside(s, passing[k], path, sizeof path);
        unlink(path);
    }
    free(s->data);
    free(s->inspect);
    free(s->first);
    free(s->models);
}

/* ---- results and data ------------------------------------------------------------------------ */

static const struct view_result *result_named(const struct view_session *s, const char *name)
{
    for (size_t k = 0; k < s->nresult; k++)
        if (strcmp(s->result[k].name, name) == 0)
            return &s->result[k];
    return NULL;
}

static enum fit_status unknown(const char *name, struct fit_error *err)
{
    return fit_fail(err, FIT_ERR_IO, "%s: no such result here", name);
}

enum fit_status view_session_file(struct view_session *s, char **json, struct fit_error *err)
{
    return copy_text(s->inspect ? s->inspect : "null", json, err);
}

enum fit_status view_session_live(struct view_session *s, const char *name, char **json, struct fit_error *err)
{
    const struct view_result *r = result_named(s, name);
    struct line l;
    if (!r)
        return unknown(name, err);
    begin(&l, s, "homodyne-report", "live");
    add(&l, r->path);
    return capture(&l, json, err);
}

enum fit_status view_session_report(struct view_session *s, const char *name, char **page, struct fit_error *err)
{
    const struct view_result *r = result_named(s, name);
    char path[FRONT_PATH + 64];
    struct line l;
    if (!r)
        return unknown(name, err);
    inside(s, ".view-report.html", path, sizeof path);
    begin(&l, s, "homodyne-report", "report");
    add(&l, r->path);
    add(&l, "--output");
    add(&l, path);
    add(&l, "--quiet");
    enum fit_status st = run(s, &l, err);
    FILE *f = st == FIT_OK ? fopen(path, "rb") : NULL;
    *page = f ? malloc(MOST_PAGE) : NULL;
    if (*page)
        (*page)[fread(*page, 1, MOST_PAGE - 1, f)] = '\0';
    if (f)
        fclose(f);
    unlink(path);
    return st != FIT_OK ? st : *page ? FIT_OK : fit_no_memory(err, "view");
}

/* Writes the data selected by the words into a file of the folder. */
static enum fit_status extract(struct view_session *s, const char *path, struct fit_error *err)
{
    struct line l;
    if (!s->base[0])
        return fit_fail(err, FIT_ERR_USAGE, "view: results alone are shown; there is no configuration");
    begin(&l, s, "homodyne", "extract");
    add(&l, s->base);
    add_words(&l, &s->words);
    add(&l, "--output");
    add(&l, path);
    add(&l, "--quiet");
    return run(s, &l, err);
}

/* The same as JSON for the page. */
static enum fit_status extract_json(struct view_session *s, char **json, struct fit_error *err)
{
    char path[FRONT_PATH + 64];
    struct line l;
    inside(s, ".view-data.h5", path, sizeof path);
    enum fit_status st = extract(s, path, err);
    begin(&l, s, "homodyne-report", "live");
    add(&l, path);
    if (st == FIT_OK)
        st = capture(&l, json, err);
    unlink(path);
    return st;
}

enum fit_status view_session_data(struct view_session *s, char **json, struct fit_error *err)
{
    if (!s->first || s->words.n)
        return extract_json(s, json, err);
    *json = s->first;
    s->first = NULL;
    return FIT_OK;
}

/* ---- models ---------------------------------------------------------------------------------- */

enum fit_status view_session_models(struct view_session *s, char **json, struct fit_error *err)
{
    struct line l;
    begin(&l, s, "homodyne", "models");
    add(&l, "--json");
    const enum fit_status st = s->models ? FIT_OK : capture(&l, &s->models, err);
    return st == FIT_OK ? copy_text(s->models, json, err) : st;
}

/* The gap in the current configuration; "": none. */
static void gap_of(const struct view_session *s, char *text, size_t size)
{
    struct fit_yaml_doc *doc = NULL;
    *text = '\0';
    if (fit_yaml_parse_file(s->base, &doc, NULL) != FIT_OK)
        return;
    const struct fit_yaml *node = fit_yaml_get(fit_yaml_root(doc), "analyzer_parameters");
    node = node ? fit_yaml_get(node, "geometry") : NULL;
    node = node ? fit_yaml_get(node, "stator_rotor_gap") : NULL;
    if (node && node->kind == FIT_YAML_SCALAR && !fit_yaml_is_null(node))
        snprintf(text, size, "%s%s", node->text, strpbrk(node->text, "um") ? "" : " angstrom");
    fit_yaml_free(doc);
}

/* A configuration of its own; one that does not suit the data changes nothing. */
enum fit_status view_session_model(struct view_session *s, char **json, struct fit_error *err)
{
    char next[FRONT_PATH + 64], old[sizeof s->base], gap[80];
    if (!s->data || !s->words.name[0])
        return fit_fail(err, FIT_ERR_USAGE, "view: %s", s->data ? "which model?" : "there is no data file");
    gap_of(s, gap, sizeof gap);
    if (s->words.gap > 0)
        snprintf(gap, sizeof gap, "%.12g um", s->words.gap);
    inside(s, ".view-next.yaml", next, sizeof next);
    unlink(next);
    enum fit_status st = configure_as(s, s->words.name, s->data, *gap ? gap : NULL, next, err);
    if (st != FIT_OK)
        return st;
    memcpy(old, s->base, sizeof old);
    snprintf(s->base, sizeof s->base, "%s", next);
    s->words.n = 0;
    free(s->first);
    s->first = NULL;
    if ((st = extract_json(s, &s->first, err)) != FIT_OK) {
        memcpy(s->base, old, sizeof old);
        unlink(next);
        return st;
    }
    inside(s, ".view-start.yaml", s->base, sizeof s->base);
    if (rename(next, s->base) != 0)
        return fit_fail(err, FIT_ERR_IO, "%s: %s", s->base, strerror(errno));
    return view_session_state(s, json, err);
}

/* ---- fits ------------------------------------------------------------------------------------ */

static enum fit_status poll_fit(struct view_session *s)
{
    char path[FRONT_PATH + VIEW_NAME];
    struct fit_error err;
    if (!s->pid || !front_ended(s->pid, &s->code))
        return FIT_OK;
    s->pid = 0;
    inside(s, ".view-fit.log", path, sizeof path);
    if (s->code == 0 || s->code == 2)
        snprintf(s->message, sizeof s->message, "%s", s->code ? "finished, not converged" : "converged");
    else
        front_last_error(path, s->code, s->message, sizeof s->message);
    unlink(path);
    inside(s, s->fit, path, sizeof path);
    return add_result(s, path, &err);
}

enum fit_status view_session_fit(struct view_session *s, char **json, struct fit_error *err)
{
    char path[FRONT_PATH + VIEW_NAME], log[FRONT_PATH + 32];
    struct line l;
    poll_fit(s);
    if (s->pid)
        return fit_fail(err, FIT_ERR_USAGE, "a fit runs already");
    if (!s->base[0])
        return fit_fail(err, FIT_ERR_USAGE, "view: results alone are shown; there is no configuration");
    snprintf(s->fit, sizeof s->fit, "fit-%zu", ++s->nfit);
    inside(s, s->fit, path, sizeof path);
    inside(s, ".view-fit.log", log, sizeof log);
    unlink(log);
    begin(&l, s, "homodyne", "fit");
    add(&l, s->base);
    add_words(&l, &s->words);
    add(&l, "--output-dir");
    add(&l, path);
    add(&l, "--progress");
    add(&l, "json");
    add(&l, "--quiet");
    s->message[0] = '\0';
    enum fit_status st = front_start(l.program, l.word, log, &s->pid, err);
    return st == FIT_OK ? view_session_state(s, json, err) : st;
}

enum fit_status view_session_stop(struct view_session *s, char **json, struct fit_error *err)
{
    if (s->pid)
        kill((pid_t)s->pid, SIGINT);
    return view_session_state(s, json, err);
}

/* The configuration that the fitter would use with these words. */
enum fit_status view_session_write(struct view_session *s, char **json, struct fit_error *err)
{
    char path[FRONT_PATH + 64], to[FRONT_PATH + VIEW_NAME + 8], *text = NULL;
    struct fit_h5 *h = NULL;
    struct fit_json j = {0};
    const char *name = s->words.name[0] ? s->words.name : "view";
    const size_t n = strlen(name);
    snprintf(to, sizeof to, "%s/%s%s", s->folder, name, n > 5 && strcmp(name + n - 5, ".yaml") == 0 ? "" : ".yaml");
    inside(s, ".view-config.h5", path, sizeof path);
    enum fit_status st = fit_output_is_new(to, "the name", err);
    if (st == FIT_OK)
        st = extract(s, path, err);
    if (st == FIT_OK)
        st = fit_h5_open(path, &h, err);
    if (st == FIT_OK)
        st = fit_h5_read_string(h, "/entry/config_yaml", &text, err);
    if (st == FIT_OK)
        st = fit_output_write(to, text, strlen(text), err);
    fit_h5_close(h);
    free(text);
    unlink(path);
    if (st != FIT_OK)
        return st;
    fit_json_begin(&j, NULL, '{');
    fit_json_string(&j, "written", to);
    fit_json_end(&j);
    st = copy_text(fit_json_text(&j), json, err);
    fit_json_free(&j);
    return st;
}

/* ---- the state of the page ------------------------------------------------------------------- */

/* The last complete line of JSON of the fit; "": none yet. */
static void last_progress(const struct view_session *s, char *line, size_t size)
{
    char path[FRONT_PATH + 32], text[1024];
    inside(s, ".view-fit.log", path, sizeof path);
    FILE *f = fopen(path, "r");
    *line = '\0';
    while (f && fgets(text, sizeof text, f)) {
        const size_t n = strlen(text);
        if (n > 2 && text[0] == '{' && text[n - 2] == '}' && text[n - 1] == '\n')
            snprintf(line, size, "%.*s", (int)n - 1, text);
    }
    if (f)
        fclose(f);
}

static void put_result(struct fit_json *j, const struct view_result *r)
{
    char path[FRONT_PATH + 32];
    struct fit_yaml_doc *doc = NULL;
    snprintf(path, sizeof path, "%s/fit.json", r->path);
    fit_json_begin(j, NULL, '{');
    fit_json_string(j, "name", r->name);
    fit_json_string(j, "path", r->path);
    if (fit_yaml_parse_file(path, &doc, NULL) == FIT_OK) {
        const struct fit_yaml *root = fit_yaml_root(doc);
        static const char *const wanted[] = {"reduced_chi2", "quality", "quality_text", "status"};
        for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
            const struct fit_yaml *v = fit_yaml_get(root, wanted[k]);
            if (v && v->kind == FIT_YAML_SCALAR)
                fit_json_string(j, wanted[k], v->text);
        }
    }
    fit_yaml_free(doc);
    fit_json_end(j);
}

static void put_history(FILE *f, const char *file)
{
    char line[8192];
    FILE *from = fopen(file, "r");
    int some = 0;
    fprintf(f, ", \"history\": [");
    while (from && fgets(line, sizeof line, from)) {
        const size_t n = strlen(line);
        if (n > 2 && line[0] == '{' && line[n - 2] == '}' && line[n - 1] == '\n')
            fprintf(f, "%s%.*s", some++ ? ", " : "", (int)n - 1, line);
    }
    fprintf(f, "]");
    if (from)
        fclose(from);
}

static void put_fit(struct fit_json *j, const struct view_session *s)
{
    fit_json_begin(j, "fit", '{');
    fit_json_boolean(j, "running", s->pid != 0);
    fit_json_string(j, "name", s->fit);
    fit_json_string(j, "message", s->message);
    fit_json_integer(j, "code", s->code);
    fit_json_end(j);
}

/* `watch` may be writing its result at the same time. */
static void look_again(struct view_session *s)
{
    char folder[FRONT_PATH + 32];
    struct fit_error err;
    if (!s->history[0] || s->nresult)
        return;
    snprintf(folder, sizeof folder, "%s", s->history);
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    add_result(s, folder, &err);
}

/* The configuration's name of its model. */
static const char *mode_of(const struct view_session *s, char *text, size_t size)
{
    struct fit_yaml_doc *doc = NULL;
    *text = '\0';
    if (!s->base[0] || fit_yaml_parse_file(s->base, &doc, NULL) != FIT_OK)
        return text;
    const struct fit_yaml *mode = fit_yaml_get(fit_yaml_root(doc), "analysis_mode");
    if (mode && mode->kind == FIT_YAML_SCALAR)
        snprintf(text, size, "%s", fit_config_canonical_mode(mode->text));
    fit_yaml_free(doc);
    return text;
}

/* In micrometres; NaN: none. */
static double gap_in_um(const struct view_session *s)
{
    char text[80];
    double gap = NAN;
    gap_of(s, text, sizeof text);
    return fit_quantity_parse(text, "um", &gap) == FIT_QUANTITY_CONVERTED ? gap : NAN;
}

enum fit_status view_session_state(struct view_session *s, char **json, struct fit_error *err)
{
    struct fit_json j = {0};
    char progress[1024], mode[80];
    size_t size = 0;
    poll_fit(s);
    look_again(s);
    last_progress(s, progress, sizeof progress);
    fit_json_begin(&j, NULL, '{');
    fit_json_string(&j, "title", s->title);
    fit_json_string(&j, "folder", s->folder);
    fit_json_boolean(&j, "watching", s->history[0] != '\0');
    fit_json_string(&j, "model", mode_of(s, mode, sizeof mode));
    fit_json_number(&j, "gap", gap_in_um(s));
    fit_json_boolean(&j, "fits", s->base[0] != '\0' && s->history[0] == '\0');
    put_fit(&j, s);
    fit_json_begin(&j, "results", '[');
    for (size_t k = 0; k < s->nresult; k++)
        put_result(&j, &s->result[k]);
    fit_json_end(&j);
    fit_json_end(&j);
    const char *text = fit_json_text(&j);
    FILE *f = text ? open_memstream(json, &size) : NULL;
    if (f) { /* parts that are already JSON replace the last bracket */
        fprintf(f, "%.*s, \"progress\": %s", (int)(strrchr(text, '}') - text), text, *progress ? progress : "null");
        if (s->history[0])
            put_history(f, s->history);
        fprintf(f, "}");
    }
    const int good = f && fclose(f) == 0;
    fit_json_free(&j);
    return good ? FIT_OK : fit_no_memory(err, "view");
}
