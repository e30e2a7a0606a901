/* run.c -- commands that one fitter carries out: `fit` and those that are passed on unchanged.
 *
 * The words that belong to the fitter are parsed here with the fitter's own table, so that mistakes are reported
 * before anything is compiled or started; then the fitter replaces this process. Spellings of the Python packages
 * that a fitter cannot know are translated or refused by name. */
#define _POSIX_C_SOURCE 200809L
#include "frontend/front.h"

#include "base/json.h"
#include "device/report.h"
#include "config/config.h"
#include "frontend/result.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char homodyne_default[] =
    "homodyne_config.yaml"; /* what homodyne reads without --config */

static const char *pass_name(const struct front_command *c)
{
    return c->pass ? c->pass : c->name;
}

enum fit_status front_parse_rest(const struct front_args *a, const char *command, struct fit_cli *cli,
                                 struct fit_error *err)
{
    char **word = calloc(a->nrest + 3, sizeof *word);
    *cli = (struct fit_cli){.nword = 0};
    if (!word)
        return fit_no_memory(err, NULL);
    word[0] = front_word("homodyne");
    word[1] = front_word(command);
    memcpy(word + 2, a->rest, a->nrest * sizeof *word);
    enum fit_status st = fit_cli_parse((int)a->nrest + 2, word, cli, err);
    free(word);
    return st;
}

static enum fit_status find_config(const struct front_args *a, const char **config, int *has_data,
                                  struct fit_error *err)
{
    struct fit_cli cli;
    *config = NULL;
    *has_data = 0;
    if (a->command->fitter ==
        FIT_COMMAND_COUNT) /* a command that this version does not know itself */
        return FIT_OK;
    enum fit_status st = front_parse_rest(a, pass_name(a->command), &cli, err);
    if (st == FIT_OK) {
        *config = cli.config ? cli.config : cli.nword ? cli.word[0] : NULL;
        *has_data = fit_cli_data(&cli) != NULL;
    }
    fit_cli_free(&cli);
    return st;
}

/* The value of --mode and its older spellings. */
static const char *mode_option(const struct front_args *a)
{
    return option_given(&a->own, "laminar-flow")  ? "laminar_flow"
           : option_given(&a->own, "static-mode") ? "static"
                                           : option_value(&a->own, "mode");
}

/* Options of the packages that have an alternative here. */
static enum fit_status refuse(const struct front_args *a, struct fit_error *err)
{
    static const char *const instead[][2] = {
        {"show-template", "`homodyne config --mode MODE -o FILE` writes one"},
    };
    for (size_t k = 0; k < sizeof instead / sizeof *instead; k++)
        if (option_given(&a->own, instead[k][0]))
            return fit_fail(err, FIT_ERR_USAGE, "--%s is not an option here: %s", instead[k][0],
                            instead[k][1]);
    if (option_given(&a->own, "static-mode") && option_given(&a->own, "laminar-flow"))
        return fit_fail(err, FIT_ERR_USAGE, "--static-mode and --laminar-flow exclude each other");
    return FIT_OK;
}

/* ---- words for the fitter -------------------------------------------------------------------- */

struct list {
    char **word;
    size_t n;
    char *storage; /* of the words made here */
};

/* --nlsq-result: "--start NAME=VALUE" for each parameter of an earlier result. */
static enum fit_status add_starts(struct list *l, const char *where, struct fit_error *err)
{
    struct front_result r;
    size_t size = 0;
    enum fit_status st = front_result_read(where, &r, err);
    if (st != FIT_OK)
        return st;
    char **word = realloc(l->word, (l->n + 2 * r.nparam + 1) * sizeof *word);
    if (word)
        l->word = word;
    FILE *f = word ? open_memstream(&l->storage, &size) : NULL;
    if (!f) {
        front_result_free(&r);
        return fit_no_memory(err, NULL);
    }
    for (size_t k = 0; k < r.nparam; k++)
        if (r.param[k].physical)
            fprintf(f, "%s=%.17g%c", r.param[k].name, r.param[k].value, 0);
    if (fclose(f) != 0)
        st = fit_no_memory(err, NULL);
    char *text = l->storage;
    for (size_t k = 0; st == FIT_OK && k < r.nparam; k++) {
        if (!r.param[k].physical)
            continue;
        l->word[l->n++] = front_word("--start");
        l->word[l->n++] = text;
        text += strlen(text) + 1;
    }
    l->word[l->n] = NULL;
    front_result_free(&r);
    return st;
}

static enum fit_status exec_fitter(struct front *f, const struct front_args *a, const char *extra,
                                   struct fit_error *err)
{
    struct front_fitter fitter;
    struct list l = {0};
    const char *config, *from = option_value(&a->own, "nlsq-result");
    int has_data;
    enum fit_status st = find_config(a, &config, &has_data, err);
    if (st == FIT_OK)
        st = refuse(a, err);
    if (st != FIT_OK)
        return st;
    if (!config && extra)
        config = extra;
    else
        extra = NULL;
    st = front_choose(f, option_value(&a->own, "model"), config, mode_option(a), a->quiet, &fitter, err);
    if (st != FIT_OK)
        return st;
    front_device_kernels(f, a, &fitter);
    l.word = calloc(a->nrest + 2, sizeof *l.word);
    if (!l.word)
        return fit_no_memory(err, NULL);
    if (extra)
        l.word[l.n++] = front_word(extra);
    for (size_t k = 0; k < a->nrest; k++)
        l.word[l.n++] = a->rest[k];
    if (from)
        st = add_starts(&l, from, err);
    char **word = st == FIT_OK ? front_words(&fitter, pass_name(a->command), l.word, l.n) : NULL;
    if (st == FIT_OK)
        st = word ? front_exec(fitter.program, word, err)
                  : fit_no_memory(err, NULL);
    free(word);
    free(l.word);
    free(l.storage);
    return st;
}

enum fit_status front_cmd_fit(struct front *f, const struct front_args *a, struct fit_error *err)
{
    const char *config, *extra = NULL;
    int has_data;
    enum fit_status st = find_config(a, &config, &has_data, err);
    if (st == FIT_OK && !config && !has_data && !option_value(&a->own, "model") &&
        access(homodyne_default, R_OK) == 0) {
        extra = homodyne_default;
        if (!a->quiet)
            fprintf(f->err, "note: no configuration named; ./%s is used\n", extra);
    }
    if (st == FIT_OK && !config && !extra && !has_data)
        return fit_fail(err, FIT_ERR_USAGE,
                        "%s: a configuration is missing; `homodyne config` makes one",
                        a->command->name);
    const int simulated = option_given(&a->own, "plot-simulated-data");
    if (st == FIT_OK && (config || extra) && (simulated || option_given(&a->own, "plot-experimental-data")))
        return front_plot_package(f, a, config ? config : extra, simulated, err);
    return st == FIT_OK ? exec_fitter(f, a, extra, err) : st;
}

const char *front_any_two_time(const struct front *f)
{
    static const char *const known[] = {"static_isotropic", "static_anisotropic", "laminar",
                                        "heterodyne"};
    char path[FRONT_PATH + 64];
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        snprintf(path, sizeof path, "%s/homodyne-%s", f->dir, known[k]);
        if (access(path, X_OK) == 0)
            return known[k];
    }
    return known[0];
}

enum fit_status front_cmd_pass(struct front *f, const struct front_args *a, struct fit_error *err)
{
    struct front_fitter fitter;
    const char *model = option_value(&a->own, "model");
    const enum fit_command c = a->command->fitter;
    if (c == FIT_COMMAND_ESTIMATE || c == FIT_COMMAND_CHECK || c == FIT_COMMAND_PLAN ||
        c == FIT_COMMAND_EXTRACT || c == FIT_COMMAND_COUNT)
        return exec_fitter(f, a, NULL, err);
    struct fit_cli cli; /* its mistakes are reported before a model is compiled */
    enum fit_status st = front_parse_rest(a, pass_name(a->command), &cli, err);
    const char *config = st == FIT_OK && c == FIT_COMMAND_SIMULATE && cli.nword ? cli.word[0] : NULL;
    const int any = !model && c == FIT_COMMAND_INSPECT; /* the user has not asked for the fitter that examines data */
    const int anonymous = any && st == FIT_OK && !cli.output;
    const int devices = st == FIT_OK && cli.devices, json = cli.json; /* of the machine, whatever the model */
    fit_cli_free(&cli);
    if (devices)
        return fit_device_report(f->out, json, err);
    if (st == FIT_OK && any)
        model = front_any_two_time(f);
    if (st == FIT_OK)
        st = front_choose(f, model, config, mode_option(a), a->quiet, &fitter, err);
    if (st != FIT_OK)
        return st;
    char **word = front_words(&fitter, pass_name(a->command), a->rest, a->nrest);
    if (word && anonymous)
        word[0] = front_word("homodyne inspect");
    st = word ? front_exec(fitter.program, word, err)
              : fit_no_memory(err, NULL);
    free(word);
    return st;
}

/* ---- validate: one configuration or several -------------------------------------------------- */

static enum fit_status validate_one(struct front *f, const struct front_args *a, const char *config,
                                    char *const *option, size_t n, int *code, struct fit_error *err)
{
    struct front_fitter fitter;
    long pid = 0;
    enum fit_status st =
        front_choose(f, option_value(&a->own, "model"), config, mode_option(a), a->quiet, &fitter, err);
    char **rest = calloc(n + 2, sizeof *rest), **word = NULL;
    if (st == FIT_OK && rest) {
        rest[0] = front_word(config);
        memcpy(rest + 1, option, n * sizeof *rest);
        word = front_words(&fitter, pass_name(a->command), rest, n + 1);
    }
    if (st == FIT_OK)
        st = word ? front_start(fitter.program, word, NULL, &pid, err)
                  : fit_no_memory(err, NULL);
    if (st == FIT_OK)
        st = front_wait(pid, code, err);
    free(rest);
    free(word);
    return st;
}

static void put_failure(FILE *out, const char *file, const char *message)
{
    struct fit_json j = {0};
    fit_json_begin(&j, NULL, '{');
    fit_json_string(&j, "file", file);
    fit_json_boolean(&j, "good", 0);
    fit_json_begin(&j, "errors", '[');
    fit_json_string(&j, NULL, message);
    fit_json_end(&j);
    fit_json_end(&j);
    fit_json_put(&j, out);
}

/* Every configuration by itself; returns the number of bad ones. */
static size_t validate_each(struct front *f, const struct front_args *a, const struct fit_cli *cli, char **option,
                            size_t n)
{
    struct fit_error why, *err = &why;
    size_t bad = 0;
    for (size_t w = 0; w < cli->nword; w++) { /* --json: a list of their answers */
        int code = 0;
        if (a->json)
            fputs(w ? "," : "[", f->out);
        fflush(f->out);
        const enum fit_status st = validate_one(f, a, cli->word[w], option, n, &code, err);
        if (st != FIT_OK) { /* of this file; the others are checked, too */
            fprintf(f->err, "homodyne: %s%s\n", fit_error_word(err), err->message);
            if (a->json)
                put_failure(f->out, cli->word[w], err->message);
            code = fit_status_exit(st);
        }
        bad += code != 0;
        f->exit_code = code > f->exit_code ? code : f->exit_code;
    }
    return bad;
}

enum fit_status front_cmd_validate(struct front *f, const struct front_args *a,
                                   struct fit_error *err)
{
    struct fit_cli cli;
    enum fit_status st = front_parse_rest(a, pass_name(a->command), &cli, err);
    if (st != FIT_OK || cli.nword <= 1) {
        fit_cli_free(&cli);
        return st == FIT_OK ? exec_fitter(f, a, NULL, err) : st;
    }
    char **option = calloc(a->nrest + 1, sizeof *option);
    size_t n = 0, bad = 0;
    for (size_t k = 0; option && k < a->nrest; k++) {
        int plain = 0;
        for (size_t w = 0; w < cli.nword; w++)
            plain |= cli.word[w] == a->rest[k];
        if (!plain)
            option[n++] = a->rest[k];
    }
    if (option)
        bad = validate_each(f, a, &cli, option, n);
    if (option && a->json)
        fputs("]\n", f->out);
    else if (option && !a->quiet)
        fprintf(f->out, "%zu of %zu configurations are good\n", cli.nword - bad, cli.nword);
    st = option ? FIT_OK : fit_no_memory(err, NULL);
    free(option);
    fit_cli_free(&cli);
    return st;
}

/* ---- others ---------------------------------------------------------------------------------- */

/* Value of "key": "text" in the JSON of `info`; "" when it is missing. */
static void json_text(const char *json, const char *key, char *text, size_t size)
{
    char mark[64];
    snprintf(mark, sizeof mark, "\"%s\": \"", key);
    const char *at = json ? strstr(json, mark) : NULL;
    text[0] = '\0';
    if (at)
        snprintf(text, size, "%.*s", (int)strcspn(at + strlen(mark), "\""), at + strlen(mark));
}

/* Name and title, in lines of 80. */
static void print_model(FILE *f, const char *name, const char *title)
{
    enum { LEFT = 21 };
    char text[400];
    const char *alias = fit_config_other_mode(name);
    snprintf(text, sizeof text, "%s%s%s%s", title, alias ? " (analysis_mode " : "", alias ? alias : "",
             alias ? ")" : "");
    fprintf(f, "%-*s", LEFT, name);
    if (strlen(name) >= LEFT)
        fprintf(f, "\n%*s", LEFT, "");
    option_put_wrapped(f, text, LEFT);
}

/* Name and title of a model, in a line or as JSON. */
static enum fit_status tell_model(struct front *f, const char *name, int json, struct fit_json *j,
                                  struct fit_error *err)
{
    struct front_fitter fitter;
    char *text = NULL, title[256], space[16];
    char *rest[] = {front_word("--json")};
    int code = 0;
    enum fit_status st = front_choose(f, name, NULL, NULL, 1, &fitter, err);
    char **word = st == FIT_OK ? front_words(&fitter, "info", rest, 1) : NULL;
    if (word && front_capture(fitter.program, word, &text, &code, err) == FIT_OK && code == 0) {
        json_text(text, "title", title, sizeof title);
        json_text(text, "space", space, sizeof space);
        fit_json_begin(j, NULL, '{');
        fit_json_string(j, "name", name);
        fit_json_string(j, "title", title);
        fit_json_string(j, "data", strcmp(space, "rows") == 0 ? "table" : "two_time");
        fit_json_end(j);
        if (!json)
            print_model(f->out, name, title);
    }
    free(text);
    free(word);
    return st;
}

enum fit_status front_cmd_models(struct front *f, const struct front_args *a, struct fit_error *err)
{
    char **name;
    size_t n;
    struct fit_json j = {0};
    enum fit_status st = front_fitters(f, &name, &n, err);
    if (st == FIT_OK && a->nrest)
        st = fit_fail(err, FIT_ERR_USAGE,
                      "models: '%s' is too much; `homodyne info --model %s` "
                      "tells about one",
                      a->rest[0], a->rest[0]);
    fit_json_begin(&j, NULL, '[');
    for (size_t k = 0; st == FIT_OK && k < n; k++) {
        st = tell_model(f, name[k], a->json, &j, err);
    }
    fit_json_end(&j);
    if (st == FIT_OK && a->json)
        fit_json_put(&j, f->out);
    else
        fit_json_free(&j);
    if (st == FIT_OK && n == 0)
        fprintf(f->err, "no fitter in %s\n", f->dir);
    front_names_free(name, n);
    return st;
}
