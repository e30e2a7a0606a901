/* result.c -- reading results back; see result.h.  JSON is read as the YAML that it is. */
#define _POSIX_C_SOURCE 200809L
#include "frontend/result.h"

#include "common/text.h"
#include "files/yaml_tree.h"
#include "input/run_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct fit_yaml *path_get(const struct fit_yaml *node, const char *path)
{
    char part[128];
    while (node && *path) {
        const size_t n = strcspn(path, ".");
        snprintf(part, sizeof part, "%.*s", (int)n, path);
        node = fit_yaml_get(node, part);
        path += n + (path[n] == '.');
    }
    return node;
}

static double number(const struct fit_yaml *node)
{
    if (!node || node->kind != FIT_YAML_SCALAR || fit_yaml_is_null(node))
        return NAN;
    char *end;
    const double x = strtod(node->text, &end);
    return end == node->text || *end ? NAN : x;
}

static void text(const struct fit_yaml *node, char *out, size_t size)
{
    const int is = node && node->kind == FIT_YAML_SCALAR && !fit_yaml_is_null(node);
    snprintf(out, size, "%s", is ? node->text : "");
}

static int is_true(const struct fit_yaml *node)
{
    return node && node->kind == FIT_YAML_SCALAR && strcmp(node->text, "true") == 0;
}

/* A parameter of the model, or one of the two that every angle has. */
static int is_physical(const char *name)
{
    return strncmp(name, "contrast", 8) != 0 && strncmp(name, "offset", 6) != 0;
}

static struct front_param *add(struct front_result *r, const char *name)
{
    struct front_param *p = realloc(r->param, (r->nparam + 1) * sizeof *p);
    if (!p)
        return NULL;
    r->param = p;
    p += r->nparam++;
    *p = (struct front_param){.value = NAN,
                              .std = NAN,
                              .std_robust = NAN,
                              .mean = NAN,
                              .sd = NAN,
                              .lower95 = NAN,
                              .upper95 = NAN,
                              .physical = is_physical(name)};
    snprintf(p->name, sizeof p->name, "%s", name);
    return p;
}

/* ---- fit.json -------------------------------------------------------------------------------- */

static int own_params(struct front_result *r, const struct fit_yaml *map)
{
    for (size_t k = 0; map && map->kind == FIT_YAML_MAP && k < map->n; k++) {
        const struct fit_yaml *v = map->entry[k].value;
        struct front_param *p = add(r, map->entry[k].key);
        if (!p)
            return 0;
        p->value = number(fit_yaml_get(v, "value"));
        p->std = number(fit_yaml_get(v, "std"));
        p->std_robust = number(fit_yaml_get(v, "std_robust"));
        const struct fit_yaml *ends = fit_yaml_get(v, "interval_95");
        if (isnan(p->std) && ends && ends->kind == FIT_YAML_LIST && ends->n == 2) {
            p->interval = 1;
            p->lower95 = number(ends->entry[0].value);
            p->upper95 = number(ends->entry[1].value);
        }
        text(fit_yaml_get(v, "unit"), p->unit, sizeof p->unit);
        p->fixed = is_true(fit_yaml_get(v, "fixed"));
        const struct fit_yaml *bound = fit_yaml_get(v, "at_bound");
        p->at_bound = bound && !fit_yaml_is_null(bound);
        p->undetermined = !p->fixed && !p->at_bound && isnan(p->std) && isnan(p->lower95) && isnan(p->upper95) &&
                          !fit_yaml_get(v, "tied");
    }
    return 1;
}

/* contrast and offset of every angle. */
static int own_scaling(struct front_result *r, const struct fit_yaml *list)
{
    static const char *const names[] = {"contrast", "offset"};
    for (size_t n = 0; n < 2; n++)
        for (size_t k = 0; list && list->kind == FIT_YAML_LIST && k < list->n; k++) {
            char name[64], key[32];
            const struct fit_yaml *v = list->entry[k].value;
            snprintf(name, sizeof name, "%s[%zu]", names[n], k);
            struct front_param *p = add(r, name);
            if (!p)
                return 0;
            p->value = number(fit_yaml_get(v, names[n]));
            snprintf(key, sizeof key, "%s_std", names[n]);
            p->std = number(fit_yaml_get(v, key));
            snprintf(key, sizeof key, "%s_std_robust", names[n]);
            p->std_robust = number(fit_yaml_get(v, key));
        }
    return 1;
}

/* Element g of a list, or the one number (g < 0). */
static const struct fit_yaml *of_group(const struct fit_yaml *v, long g)
{
    return g < 0 ? v : v && v->kind == FIT_YAML_LIST && (size_t)g < v->n ? v->entry[g].value : NULL;
}

/* Derived quantities: half_life; area[0], area[1], ... */
static int own_derived(struct front_result *r, const struct fit_yaml *map)
{
    char name[96];
    for (size_t k = 0; map && map->kind == FIT_YAML_MAP && k < map->n; k++) {
        const struct fit_yaml *v = map->entry[k].value, *value = fit_yaml_get(v, "value");
        const int listed = value && value->kind == FIT_YAML_LIST;
        for (long g = listed ? 0 : -1; g < (listed ? (long)value->n : 0); g++) {
            snprintf(name, sizeof name, listed ? "%.50s[%ld]" : "%.50s", map->entry[k].key, g);
            struct front_param *p = add(r, name);
            if (!p)
                return 0;
            p->value = number(of_group(value, g));
            p->std = number(of_group(fit_yaml_get(v, "std"), g));
            p->std_robust = number(of_group(fit_yaml_get(v, "std_robust"), g));
            text(fit_yaml_get(v, "unit"), p->unit, sizeof p->unit);
        }
    }
    return 1;
}

/* Mean and sd of every sampled parameter, by name. */
/* Evidence, and the parameters whose prior is improper. */
static void own_evidence(struct front_result *r, const struct fit_yaml *posterior)
{
    const struct fit_yaml *param = fit_yaml_get(posterior, "parameters");
    size_t at = 0;
    r->log_evidence = number(fit_yaml_get(posterior, "log_evidence"));
    for (size_t i = 0; param && param->kind == FIT_YAML_MAP && i < param->n && at < sizeof r->improper; i++) {
        const struct fit_yaml *prior = fit_yaml_get(param->entry[i].value, "prior");
        char proper[8], type[24];
        text(fit_yaml_get(prior, "proper"), proper, sizeof proper);
        text(fit_yaml_get(prior, "type"), type, sizeof type);
        if (prior && strcmp(proper, "true") != 0)
            at += (size_t)snprintf(r->improper + at, sizeof r->improper - at, "%s %s, ", param->entry[i].key, type);
    }
}

static void own_posterior(struct front_result *r, const struct fit_yaml *posterior)
{
    const struct fit_yaml *map = fit_yaml_get(posterior, "parameters");
    text(fit_yaml_get(posterior, "verdict"), r->posterior, sizeof r->posterior);
    for (size_t k = 0; map && map->kind == FIT_YAML_MAP && k < r->nparam; k++) {
        struct front_param *p = &r->param[k];
        const struct fit_yaml *v = fit_yaml_get(map, p->name);
        p->mean = number(fit_yaml_get(v, "mean"));
        p->sd = number(fit_yaml_get(v, "sd"));
        r->sampled |= p->sd > 0;
    }
}

/* "1 200 c2_00001 c2_00002" */
static void own_selection(struct front_result *r, const struct fit_yaml *data)
{
    static const char *const frame[] = {"first_frame", "last_frame", "masked_frames"};
    const struct fit_yaml *keys = fit_yaml_get(data, "keys");
    size_t n = 0;
    char word[256];
    for (size_t k = 0; k < 3 + (keys && keys->kind == FIT_YAML_LIST ? keys->n : 0) && n < sizeof r->selection; k++) {
        text(k < 3 ? fit_yaml_get(data, frame[k]) : keys->entry[k - 3].value, word, sizeof word);
        n += (size_t)snprintf(r->selection + n, sizeof r->selection - n, "%s ", word);
    }
}

/* The evidence of residuals on the independence of the values. */
static void own_noise(struct front_result *r, const struct fit_yaml *root)
{
    const struct fit_yaml *list = fit_yaml_get(root, "residuals");
    double lag = 0, age = 0, n = 0;
    text(path_get(root, "robust.method"), r->robust, sizeof r->robust);
    r->eta = number(path_get(root, "robust.eta"));
    r->clusters = number(path_get(root, "robust.clusters"));
    for (size_t g = 0; list && list->kind == FIT_YAML_LIST && g < list->n; g++) {
        const double a = number(fit_yaml_get(list->entry[g].value, "correlation_along_lag"));
        const double b = number(fit_yaml_get(list->entry[g].value, "correlation_along_age"));
        r->pairs |= fit_yaml_get(list->entry[g].value, "variance_by_lag_decile") != NULL;
        lag += isnan(a) ? 0 : a;
        age += isnan(b) ? 0 : b;
        n++;
    }
    r->ngroup = (int)n;
    r->correlation = n > 0 ? fmax(lag, age) / n : NAN;
}

/* Groups with both numbers known. */
static void read_speckles(struct front_result *r, const struct fit_yaml *groups)
{
    double speckles = 0, shot = 0, n = 0;
    for (size_t g = 0; groups && groups->kind == FIT_YAML_LIST && g < groups->n; g++) {
        const double count = number(fit_yaml_get(groups->entry[g].value, "count"));
        if (!(count > 0))
            continue;
        speckles += count;
        shot += number(fit_yaml_get(groups->entry[g].value, "shot"));
        n++;
    }
    if (n > 0) {
        r->speckles = speckles;
        r->shot = shot / n;
    }
}

static int read_own(struct front_result *r, const struct fit_yaml *root)
{
    snprintf(r->program, sizeof r->program, "homodyne-gen");
    text(fit_yaml_get(root, "run_id"), r->run, sizeof r->run);
    text(fit_yaml_get(root, "status"), r->status, sizeof r->status);
    text(fit_yaml_get(root, "quality"), r->quality, sizeof r->quality);
    r->converged = is_true(fit_yaml_get(root, "converged"));
    text(path_get(root, "model.name"), r->model, sizeof r->model);
    text(path_get(root, "data.file"), r->data, sizeof r->data);
    text(path_get(root, "data.sha256"), r->data_sha256, sizeof r->data_sha256);
    r->chi2 = number(fit_yaml_get(root, "chi2"));
    r->reduced_chi2 = number(fit_yaml_get(root, "reduced_chi2"));
    read_speckles(r, path_get(root, "speckle.groups"));
    r->npoint = number(fit_yaml_get(root, "n_points"));
    r->sigma = number(path_get(root, "noise.sigma_common"));
    r->wall_seconds = number(fit_yaml_get(root, "wall_seconds"));
    r->q = number(path_get(root, "data.q"));
    r->nfree = number(fit_yaml_get(root, "n_free"));
    r->cost = number(fit_yaml_get(root, "cost"));
    r->log_likelihood = number(fit_yaml_get(root, "log_likelihood"));
    own_noise(r, root);
    text(path_get(root, "noise.source"), r->noise, sizeof r->noise);
    text(path_get(root, "settings.loss"), r->loss, sizeof r->loss);
    text(path_get(root, "settings.scaling"), r->scaling, sizeof r->scaling);
    r->reweighted = is_true(path_get(root, "noise.reweighted"));
    char estimator[24];
    text(path_get(root, "estimator.used"), estimator, sizeof estimator);
    r->efficient = strcmp(estimator, "efficient") == 0;
    r->feedback = is_true(path_get(root, "noise.feedback"));
    own_selection(r, fit_yaml_get(root, "data"));
    if (!own_params(r, fit_yaml_get(root, "parameters")) || !own_scaling(r, fit_yaml_get(root, "scaling")) ||
        !own_derived(r, fit_yaml_get(root, "derived")))
        return 0;
    own_posterior(r, fit_yaml_get(root, "posterior"));
    own_evidence(r, fit_yaml_get(root, "posterior"));
    return 1;
}

/* ---- the packages ---------------------------------------------------------------------------- */

/* {name: {value, uncertainty}} of homodyne and xpcsjax, or three lists of heterodyne. */
static int peer_params(struct front_result *r, const struct fit_yaml *root)
{
    const struct fit_yaml *map = fit_yaml_get(root, "parameters");
    const struct fit_yaml *names = fit_yaml_get(root, "parameter_names");
    const struct fit_yaml *errors = fit_yaml_get(root, "uncertainties");
    for (size_t k = 0; map && map->kind != FIT_YAML_SCALAR && k < map->n; k++) {
        const struct fit_yaml *v = map->entry[k].value;
        const int listed = map->kind == FIT_YAML_LIST;
        char name[64] = "";
        if (!listed)
            snprintf(name, sizeof name, "%s", map->entry[k].key);
        else if (names && names->kind == FIT_YAML_LIST && k < names->n)
            text(names->entry[k].value, name, sizeof name);
        struct front_param *p = add(r, name);
        if (!p)
            return 0;
        p->value = number(listed ? v : fit_yaml_get(v, "value"));
        p->std = !listed ? number(fit_yaml_get(v, "uncertainty"))
                 : errors && errors->kind == FIT_YAML_LIST && k < errors->n
                     ? number(errors->entry[k].value)
                     : NAN;
    }
    return 1;
}

static int read_peer(struct front_result *r, const struct fit_yaml *root)
{
    const struct fit_yaml *meta = fit_yaml_get(root, "metadata");
    const struct fit_yaml *from = meta ? meta : root;
    r->package = 1;
    snprintf(r->program, sizeof r->program, "%s", meta ? "xpcsjax" : "a package");
    text(fit_yaml_get(from, "convergence_status"), r->status, sizeof r->status);
    if (r->status[0])
        r->converged =
            strstr(r->status, "converged") == r->status || strcmp(r->status, "success") == 0;
    text(fit_yaml_get(root, "analysis_mode"), r->model, sizeof r->model);
    r->chi2 = number(fit_yaml_get(from, "chi_squared"));
    r->reduced_chi2 = number(fit_yaml_get(from, "reduced_chi_squared"));
    return peer_params(r, root);
}

/* ---- which file ------------------------------------------------------------------------------ */

static int is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static int is_file(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

/* HDF5, images and archives begin with a byte that no text begins with. */
static int is_binary(const char *path)
{
    FILE *f = fopen(path, "rb");
    const int c = f ? fgetc(f) : EOF;
    if (f)
        fclose(f);
    return c != EOF && (c >= 0x7f || (c < ' ' && !strchr("\t\r\n", c)));
}

static enum fit_status find(const char *where, char *file, size_t size, struct fit_error *err)
{
    static const char *const names[] = {"fit.json", "nlsq/parameters.json", "nlsq_parameters.json",
                                        "nlsq_result.json"};
    snprintf(file, size, "%s", where);
    if (!is_folder(where)) {
        if (!is_file(where))
            return fit_fail(err, FIT_ERR_IO, "%s: no such result", where);
        if (is_binary(where))
            return fit_fail(err, FIT_ERR_IO, "%s: no result; give the folder that a fit wrote, or its fit.json", where);
        return FIT_OK;
    }
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        snprintf(file, size, "%s/%s", where, names[k]);
        if (is_file(file))
            return FIT_OK;
    }
    return fit_fail(err, FIT_ERR_IO,
                    "%s: no result in this folder; it should hold fit.json (or homodyne's "
                    "nlsq/parameters.json)",
                    where);
}

/* Requires files of one run in the folder of fit.json. */
static enum fit_status check_runs(const char *file, struct fit_error *err)
{
    char folder[1200];
    const char *name = text_file_name(file);
    const int n = (int)(name - file);
    if (strcmp(name, "fit.json") != 0)
        return FIT_OK;
    snprintf(folder, sizeof folder, "%.*s", n ? n - 1 : 1, n ? file : ".");
    return fit_run_id_check(*folder ? folder : "/", err);
}

enum fit_status front_result_read(const char *where, struct front_result *r, struct fit_error *err)
{
    struct fit_yaml_doc *doc = NULL;
    *r = (struct front_result){.converged = -1,
                               .chi2 = NAN,
                               .reduced_chi2 = NAN,
                               .speckles = NAN,
                               .shot = NAN,
                               .npoint = NAN,
                               .sigma = NAN,
                               .wall_seconds = NAN,
                               .q = NAN,
                               .nfree = NAN,
                               .cost = NAN,
                               .log_likelihood = NAN,
                               .eta = NAN,
                               .clusters = NAN,
                               .correlation = NAN,
                               .log_evidence = NAN};
    enum fit_status st = find(where, r->file, sizeof r->file, err);
    if (st == FIT_OK)
        st = check_runs(r->file, err);
    if (st == FIT_OK)
        st = fit_yaml_parse_file(r->file, &doc, err);
    if (st != FIT_OK)
        return st;
    const struct fit_yaml *root = fit_yaml_root(doc);
    const int own = fit_yaml_get(root, "reduced_chi2") || fit_yaml_get(root, "n_points");
    const int ok = own ? read_own(r, root) : read_peer(r, root);
    fit_yaml_free(doc);
    if (!ok)
        st = fit_no_memory(err, NULL);
    else if (r->nparam == 0)
        st = fit_fail(err, FIT_ERR_DATA, "%s: the file has no parameters", r->file);
    if (st != FIT_OK)
        front_result_free(r);
    return st;
}

void front_result_free(struct front_result *r)
{
    free(r->param);
    *r = (struct front_result){0};
}

double front_estimate(const struct front_result *r, const struct front_param *p)
{
    return r->sampled ? p->mean : p->value;
}

double front_error(const struct front_result *r, const struct front_param *p)
{
    return r->sampled ? p->sd : isnan(p->std_robust) ? p->std : p->std_robust;
}

const struct front_param *front_result_param(const struct front_result *r, const char *name)
{
    for (size_t k = 0; k < r->nparam; k++)
        if (strcmp(r->param[k].name, name) == 0)
            return &r->param[k];
    return NULL;
}
