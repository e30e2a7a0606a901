/* names.c -- from the names of the packages' commands to words of `homodyne`; see names.h.
 *
 * Their programs: homodyne 2.23 (cli/args_parser.py, cli/config_generator.py, post_install.py), heterodyne 2.0, xpcsjax
 * 0.1.8; the aliases hm, hm-nlsq, hc-flow, ... are those that homodyne-post-install writes into the shell. */
#define _POSIX_C_SOURCE 200809L
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

/* The value of an option at argv[*k], "-o X", "--output X" or "--output=X"; NULL: another word. */
static const char *value_of(int argc, char **argv, int *k, const char *letter, const char *option)
{
    const size_t n = strlen(option);
    if (strncmp(argv[*k], option, n) == 0 && argv[*k][n] == '=')
        return argv[*k] + n + 1;
    if ((strcmp(argv[*k], option) != 0 && (!letter || strcmp(argv[*k], letter) != 0)) || *k + 1 >= argc)
        return NULL;
    return argv[++*k];
}

/* ---- configurations -------------------------------------------------------------------------- */

/* What the packages' generators were asked for. */
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

/* Words of theirs that have other names here; the others stay. */
static void read_generator(struct front *f, int argc, char **argv, struct generator *g, struct words *w)
{
    static char frames[64];
    for (int k = 1; k < argc; k++) {
        const char *value;
        if ((value = value_of(argc, argv, &k, "-m", "--mode"))) {
            g->mode = is_filter(value) ? g->mode : value;
        } else if ((value = value_of(argc, argv, &k, "-o", "--output"))) {
            g->output = value;
        } else if ((value = value_of(argc, argv, &k, "-v", "--validate"))) {
            g->check = value;
        } else if (strcmp(argv[k], "-V") == 0 || strcmp(argv[k], "--validate") == 0) {
            g->validates = 1;
        } else if (strcmp(argv[k], "--show-template") == 0) {
            g->shows = 1;
        } else if (value_of(argc, argv, &k, NULL, "--filter")) {
            fprintf(f->err, "note: --filter has no effect: a configuration has what people edit and nothing else\n");
        } else if ((value = value_of(argc, argv, &k, NULL, "--time-length"))) {
            snprintf(frames, sizeof frames, "1:%.50s", value);
            add(w, "--frames");
            add(w, frames);
        } else {
            add(w, argv[k]);
        }
    }
}

/* homodyne-config -m laminar_flow -o my.yaml; without -o their default, homodyne_laminar_flow_config.yaml. */
static void config_words(struct front *f, const struct name *name, int argc, char **argv, struct words *w)
{
    static char file[160];
    struct words own = {.word = calloc((size_t)argc + 8, sizeof(char *))};
    struct generator g = {.mode = name->word[1]};
    if (!own.word)
        return;
    read_generator(f, argc, argv, &g, &own);
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
        const int theirs = strncmp(name->name, "h", 1) == 0 && name->word[0] == NULL && g.mode != NULL;
        if (g.shows || g.output || theirs) {
            add(w, "--output");
            add(w, g.shows ? "-" : g.output ? g.output : file);
        }
        for (int k = 0; k < own.n; k++)
            add(w, own.word[k]);
    }
    free(own.word);
}

/* ---- what is not needed ---------------------------------------------------------------------- */

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
    add(&w, "homodyne");
    if (name->kind == CONFIG && !asks_help(*argc, *argv)) {
        config_words(f, name, *argc, *argv, &w);
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
    return FIT_OK;
}
