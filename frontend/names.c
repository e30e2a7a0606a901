/* names.c -- from the names of the packages' commands to words of `homodyne`; see names.h.
 *
 * Their programs: homodyne 2.23 (cli/args_parser.py, cli/config_generator.py, post_install.py), heterodyne 2.0, xpcsjax
 * 0.1.8; the aliases hm, hm-nlsq, hc-flow, ... are those that homodyne-post-install writes into the shell. */
#define _POSIX_C_SOURCE 200809L
#include "base/command_line.h"
#include "frontend/names.h"

#include "common/text.h"

#include <stdlib.h>
#include <string.h>

enum kind { FIT, CONFIG, VALIDATE, SETUP, CLEANUP, GUI };

static const struct name {
    const char *name;
    enum kind kind;
    const char *word[2]; /* put before those of the call */
} names[] = {
    {"hm", FIT, {0}},
    {"heterodyne", FIT, {0}},
    {"ht", FIT, {0}},
    {"xpcsjax", FIT, {0}},
    {"xj", FIT, {0}},
    {"hm-nlsq", FIT, {"--method", "nlsq"}},
    {"hm-cmc", FIT, {"--method", "cmc"}},
    {"hc-stat", FIT, {"--static-mode"}},
    {"hc-flow", FIT, {"--laminar-flow"}},
    {"hexp", FIT, {"--plot-experimental-data"}},
    {"xjexp", FIT, {"--plot-experimental-data"}},
    {"hsim", FIT, {"--plot-simulated-data"}},
    {"xjsim", FIT, {"--plot-simulated-data"}},
    {"homodyne-config", CONFIG, {0}},
    {"hconfig", CONFIG, {0}},
    {"heterodyne-config", CONFIG, {"--mode", "heterodyne"}},
    {"ht-config", CONFIG, {"--mode", "heterodyne"}},
    {"xpcsjax-config", CONFIG, {0}},
    {"xj-config", CONFIG, {0}},
    {"heterodyne-validate", VALIDATE, {0}},
    {"ht-validate", VALIDATE, {0}},
    {"xpcsjax-validate", VALIDATE, {0}},
    {"xj-validate", VALIDATE, {0}},
    {"homodyne-post-install", SETUP, {0}},
    {"hsetup", SETUP, {0}},
    {"heterodyne-post-install", SETUP, {0}},
    {"ht-post-install", SETUP, {0}},
    {"xpcsjax-post-install", SETUP, {0}},
    {"xj-post-install", SETUP, {0}},
    {"homodyne-cleanup", CLEANUP, {0}},
    {"hclean", CLEANUP, {0}},
    {"heterodyne-cleanup", CLEANUP, {0}},
    {"ht-cleanup", CLEANUP, {0}},
    {"xpcsjax-cleanup", CLEANUP, {0}},
    {"xj-cleanup", CLEANUP, {0}},
    {"xpcsjax-gui", GUI, {0}},
    {"xj-gui", GUI, {0}},
};

struct words {
    char **word;
    int n;
};

static void add(struct words *w, const char *word)
{
    w->word[w->n++] = front_word(word);
}

static int asks_help(int argc, char **argv)
{
    for (int k = 1; k < argc; k++)
        if (strcmp(argv[k], "-h") == 0 || strncmp(argv[k], "--help", 6) == 0 || strcmp(argv[k], "--version") == 0)
            return 1;
    return 0;
}

/* ---- configurations -------------------------------------------------------------------------- */

/* The requests to the packages' generators. */
struct generator {
    const char *mode, *output, *check; /* check: a file that is to be validated */
    int validates, shows;
};

/* "full", "minimal", ...: parts of a template, not a mode. */
static int is_filter(const char *mode)
{
    static const char *const filter[] = {"full", "minimal", "nlsq_only", "cmc_only"};
    for (size_t k = 0; k < sizeof filter / sizeof *filter; k++)
        if (strcmp(mode, filter[k]) == 0)
            return 1;
    return 0;
}

static const struct option_row theirs[] = {
    {"mode", 'm', "MODE", NULL, OPTION_MANY, OPTION_KEPT},
    {"output", 'o', "FILE", NULL, 0, OPTION_KEPT},
    {"validate", 'v', "[FILE]", NULL, 0, OPTION_KEPT},
    {"validate", 'V', NULL, NULL, 0, OPTION_KEPT},
    {"show-template", 0, NULL, NULL, 0, OPTION_KEPT},
    {"filter", 0, "PART", NULL, 0, OPTION_KEPT},
    {"time-length", 0, "N", NULL, 0, OPTION_KEPT},
};

/* Words of theirs that have other names here; the others, those of `config`, stay. */
static enum fit_status read_generator(struct front *f, int argc, char **argv, struct generator *g, struct words *w,
                                      struct fit_error *err)
{
    static char frames[64];
    const size_t n = sizeof theirs / sizeof *theirs;
    const struct option_row *ours = front_command_named("config")->option;
    const struct option_set set = {.table = {{theirs, n}, {ours, front_option_count(ours)}},
                                   .help = "homodyne config --help"};
    struct command_line line;
    enum fit_status st = fit_options_read(&set, argc, argv, 1, NULL, &line, err);
    for (size_t k = 0; st == FIT_OK && k < line.ngiven; k++) {
        const struct option_given *o = &line.given[k];
        for (int at = o->from; (o->row < theirs || o->row >= theirs + n) && at < o->to; at++)
            add(w, argv[at]);
        if (strcmp(o->name, "mode") == 0 && !is_filter(o->value))
            g->mode = o->value;
    }
    g->output = st == FIT_OK ? option_value(&line, "output") : NULL;
    g->check = st == FIT_OK ? option_value(&line, "validate") : NULL;
    g->validates = st == FIT_OK && option_given(&line, "validate");
    g->shows = st == FIT_OK && option_given(&line, "show-template");
    if (st == FIT_OK && option_given(&line, "filter"))
        fprintf(f->err, "note: --filter has no effect: a configuration has what people edit and nothing else\n");
    if (st == FIT_OK && option_given(&line, "time-length")) {
        snprintf(frames, sizeof frames, "1:%.50s", option_value(&line, "time-length"));
        add(w, "--frames");
        add(w, frames);
    }
    for (size_t k = 0; st == FIT_OK && k < line.nword; k++)
        add(w, line.word[k]);
    options_free(&line);
    return st;
}

/* homodyne-config -m laminar_flow -o my.yaml; without -o their default, homodyne_laminar_flow_config.yaml. */
static enum fit_status config_words(struct front *f, const struct name *name, int argc, char **argv, struct words *w,
                                    struct fit_error *err)
{
    static char file[160];
    struct words own = {.word = calloc((size_t)argc + 8, sizeof(char *))};
    struct generator g = {.mode = name->word[1]};
    if (!own.word)
        return fit_no_memory(err, NULL);
    const enum fit_status st = read_generator(f, argc, argv, &g, &own, err);
    if (g.check || g.validates) {
        add(w, "validate");
        add(w, g.check ? g.check : g.output ? g.output : "config.yaml");
    } else {
        add(w, "config");
        if (g.mode) {
            add(w, "--mode");
            add(w, g.mode);
        }
        snprintf(file, sizeof file, "homodyne_%.120s_config.yaml", g.mode ? g.mode : "");
        const int named_by_mode = strncmp(name->name, "h", 1) == 0 && name->word[0] == NULL && g.mode != NULL;
        if (g.shows || g.output || named_by_mode) {
            add(w, "--output");
            add(w, g.shows ? "-" : g.output ? g.output : file);
        }
        for (int k = 0; k < own.n; k++)
            add(w, own.word[k]);
    }
    free(own.word);
    return st;
}

/* ---- unnecessary commands --------------------------------------------------------------------- */

/* Their self-test of the environment, when no file is named. */
static int names_file(int argc, char **argv)
{
    for (int k = 1; k < argc; k++)
        if (argv[k][0] != '-' && strcmp(argv[k - 1], "--test") != 0)
            return 1;
    return 0;
}

static int says(struct front *f, const struct name *name, int argc, char **argv)
{
    const char *text = NULL;
    if (name->kind == SETUP)
        text = "nothing to set up: `make install` puts completions and manual pages in their places; for another\n"
               "shell: homodyne completion bash|zsh|fish";
    else if (name->kind == CLEANUP)
        text = "nothing to clean: no file outside the installation was changed; compiled models are in\n"
               "~/.cache/homodyne";
    else if (name->kind == VALIDATE && !names_file(argc, argv))
        text = "a test of the installation: `homodyne demo` fits a bundled experiment, the truth beside the result;\n"
               "`homodyne --version --verbose` tells compiler, libraries, processor. A configuration:\n"
               "`homodyne validate FILE.yaml`";
    else if (name->kind == GUI && !front_command_named("view"))
        text = "no window here: `homodyne report RESULT|CONFIG.yaml|DATA` makes a page to look at in a browser,\n"
               "`homodyne config` asks and writes a configuration, `homodyne compare A B` sets results side by side";
    if (text)
        fprintf(f->out, "%s: %s\n", name->name, text);
    return text != NULL;
}

/* ---------------------------------------------------------------------------------------------- */

enum fit_status front_names(struct front *f, int *argc, char ***argv, int *done, struct fit_error *err)
{
    const char *called = text_file_name((*argv)[0]);
    const struct name *name = NULL;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(names[k].name, called) == 0)
            name = &names[k];
    if (!name)
        return FIT_OK;
    if (says(f, name, *argc, *argv)) {
        *done = 1;
        return FIT_OK;
    }
    struct words w = {.word = calloc((size_t)*argc + 12, sizeof(char *))};
    if (!w.word)
        return fit_no_memory(err, NULL);
    enum fit_status st = FIT_OK;
    add(&w, "homodyne");
    if (name->kind == CONFIG && !asks_help(*argc, *argv)) {
        st = config_words(f, name, *argc, *argv, &w, err);
    } else {
        if (name->kind == CONFIG || name->kind == VALIDATE || name->kind == GUI)
            add(&w, name->kind == CONFIG ? "config" : name->kind == VALIDATE ? "validate" : "view");
        for (int k = 0; k < 2 && name->kind == FIT && name->word[k] && !asks_help(*argc, *argv); k++)
            add(&w, name->word[k]);
        for (int k = 1; k < *argc; k++)
            add(&w, (*argv)[k]);
    }
    *argc = w.n;
    *argv = w.word;
    return st;
}
