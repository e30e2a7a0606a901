/* choose.c -- the program that fits: from a name, a configuration or a model file to homodyne-MODEL.
 *
 * Fitters are searched for only in the folder of this program, and a name from a configuration file must consist of
 * letters, digits and '_': no file can make this program run something else. For the same reason a model file is
 * compiled only when the command line names it. */
#define _POSIX_C_SOURCE 200809L
#include "frontend/front.h"

#include "common/nearest.h"
#include "common/text.h"
#include "config/config.h"
#include "setup/setup.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char prefix[] = "homodyne-";

/* Programs of the same folder that are not fitters. */
static const char *const others[] = {"any", "cleanup", "config", "gen", "imaging", "report", "view"};

static int is_other(const char *name)
{
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (strcmp(name, others[k]) == 0)
            return 1;
    return 0;
}

static int is_name(const char *name)
{
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return 0;
    return name[0] && strlen(name) < 64;
}

/* Path of the fitter of a model, if it exists. */
static int find_program(const struct front *f, const char *name, char *path, size_t size)
{
    int n = snprintf(path, size, "%s/%s%s", f->dir, prefix, name);
    return is_name(name) && !is_other(name) && n > 0 && (size_t)n < size && access(path, X_OK) == 0;
}

/* ---- the list of fitters --------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void front_names_free(char **name, size_t n)
{
    for (size_t k = 0; k < n; k++)
        free(name[k]);
    free(name);
}

enum fit_status front_fitters(const struct front *f, char ***name, size_t *n, struct fit_error *err)
{
    char path[FRONT_PATH + 64];
    DIR *dir = opendir(f->dir);
    *name = NULL;
    *n = 0;
    if (!dir)
        return fit_fail(err, FIT_ERR_IO, "%s: cannot be read: %s", f->dir, strerror(errno));
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        const char *model = e->d_name + sizeof prefix - 1;
        if (strncmp(e->d_name, prefix, sizeof prefix - 1) != 0 ||
            !find_program(f, model, path, sizeof path))
            continue;
        char **list = realloc(*name, (*n + 1) * sizeof *list);
        if (list)
            *name = list;
        if (!list || !(list[*n] = strdup(model))) {
            front_names_free(*name, *n);
            closedir(dir);
            return fit_no_memory(err, NULL);
        }
        *n += 1;
    }
    closedir(dir);
    if (*n)
        qsort(*name, *n, sizeof **name, by_name);
    return FIT_OK;
}

/* "a, b, c", as many as fit into the text. */
static void list_text(char *const *name, size_t n, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (size_t k = 0; k < n && at < size; k++)
        at += (size_t)snprintf(text + at, size - at, "%s%s", k ? ", " : "", name[k]);
}

static enum fit_status no_fitter(const struct front *f, const char *where, const char *model,
                                 struct fit_error *err)
{
    char **name, list[512];
    size_t n;
    struct nearest near = {.name = model};
    enum fit_status st = front_fitters(f, &name, &n, err);
    if (st != FIT_OK)
        return st;
    for (size_t k = 0; k < n; k++)
        nearest_offer(&near, name[k]);
    const char *spelling = fit_config_near_mode(model); /* laminar_folw: of the packages */
    const int standard = spelling && strcmp(spelling, model) == 0;
    if (!near.best)
        near.best = spelling;
    list_text(name, n, list, sizeof list);
    if (standard)
        fit_fail(err, FIT_ERR_CONFIG, "%s: the fitter homodyne-%s is not in %s; build it: make model=%s", where, model,
                 f->dir, model);
    else if (near.best)
        fit_fail(err, FIT_ERR_CONFIG, "%s: no model '%s'; did you mean '%s'?", where, model,
                 near.best);
    else
        fit_fail(err, FIT_ERR_CONFIG,
                 "%s: no model '%s' here; there are %s; make model=%s builds another of the program's; --model "
                 "FILE.lua is one "
                 "of your own",
                 where, model, n ? list : "none", model);
    front_names_free(name, n);
    return FIT_ERR_CONFIG;
}

/* ---- the choice ------------------------------------------------------------------------------ */

/* The model that the file or --mode names. */
static enum fit_status mode_of(const char *config, const char *mode, char name[64],
                               struct fit_error *err)
{
    name[0] = '\0';
    if (mode)
        snprintf(name, 64, "%s", fit_config_canonical_mode(mode));
    if (!config)
        return mode ? FIT_OK
                    : fit_fail(err, FIT_ERR_USAGE,
                               "no model is named; give a configuration, or --model NAME "
                               "(`homodyne models` lists them)");
    char own[64];
    if (text_ends_with(config, ".lua"))
        return fit_fail(err, FIT_ERR_USAGE,
                        "%s is a model, not a configuration: --model %s CONFIG.yaml", config,
                        config);
    if (fit_setup_is_data(config))
        return fit_fail(err, FIT_ERR_USAGE,
                        "%s: this is data, not a configuration: `homodyne config --mode MODE --data %s -o my.yaml` "
                        "makes one; or --data %s --model NAME",
                        config, config, config);
    enum fit_status st = fit_config_detect(config, own, err);
    if (st != FIT_OK)
        return st;
    if (own[0] && mode && !fit_config_same_mode(own, name))
        return fit_fail(err, FIT_ERR_CONFIG,
                        "%s says analysis_mode %s, the command line %s: change the file, or leave "
                        "the option out",
                        config, own, mode);
    if (own[0])
        snprintf(name, 64, "%s", own);
    if (!name[0])
        return fit_fail(err, FIT_ERR_CONFIG,
                        "%s: analysis_mode is missing; write static_isotropic, "
                        "static_anisotropic, laminar_flow or heterodyne, or give --model NAME",
                        config);
    return FIT_OK;
}

enum fit_status front_choose(struct front *f, const char *model, const char *config,
                             const char *mode, int quiet, struct front_fitter *fitter,
                             struct fit_error *err)
{
    char name[64];
    *fitter = (struct front_fitter){.model = ""};
    if (model && (text_ends_with(model, ".lua") || strchr(model, '/'))) {
        snprintf(fitter->program, sizeof fitter->program, "%s/%sany", f->dir, prefix);
        if (access(fitter->program, X_OK) != 0)
            return fit_fail(err, FIT_ERR_CONFIG, "%s is missing, which runs models of one's own; `make` builds it",
                            fitter->program);
        return front_compile(f, model, quiet, fitter, err);
    }
    if (model) {
        snprintf(name, sizeof name, "%.63s", fit_config_canonical_mode(model));
    } else {
        enum fit_status st = mode_of(config, mode, name, err);
        if (st != FIT_OK)
            return st;
    }
    snprintf(fitter->model, sizeof fitter->model, "%s", name);
    if (!find_program(f, name, fitter->program, sizeof fitter->program))
        return no_fitter(f, model ? "--model" : config ? config : "--mode", name, err);
    return FIT_OK;
}
