/* load.c -- reading results; see load.h. */
#include "report/figures/load.h"

#include "common/text.h"
#include "hdf5/reader.h"
#include "input/run_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- fit.json -------------------------------------------------------------------------------- */

const struct fit_yaml *rp_get(const struct fit_yaml *node, const char *path)
{
    char part[128];
    while (node && *path) {
        const size_t n = strcspn(path, ".");
        snprintf(part, sizeof part, "%.*s", (int)n, path);
        node = node->kind == FIT_YAML_MAP ? fit_yaml_get(node, part) : NULL;
        path += n + (path[n] == '.');
    }
    return node;
}

double rp_json_number(const struct fit_yaml *node, const char *path)
{
    return rp_json_value(rp_get(node, path));
}

double rp_json_value(const struct fit_yaml *node)
{
    if (!node || node->kind != FIT_YAML_SCALAR || fit_yaml_is_null(node))
        return NAN;
    char *end;
    const double x = strtod(node->text, &end);
    return end == node->text || *end ? NAN : x;
}

const char *rp_json_text(const struct fit_yaml *node, const char *path)
{
    node = rp_get(node, path);
    return node && node->kind == FIT_YAML_SCALAR && !fit_yaml_is_null(node) ? node->text : "";
}

int rp_json_true(const struct fit_yaml *node, const char *path)
{
    return strcmp(rp_json_text(node, path), "true") == 0;
}

/* ---- arrays of fit.h5 ------------------------------------------------------------------------ */

/* All of a dataset, which must have `want` elements. */
static enum fit_status take(struct fit_h5 *h, const char *path, size_t want, double **value,
                            struct fit_error *err)
{
    size_t n = 0;
    enum fit_status st = fit_h5_read_doubles(h, path, value, &n, err);
    if (st == FIT_OK && n != want)
        st = fit_fail(err, FIT_ERR_DATA,
                      "%s: %s has %zu values; %zu were expected; was the file changed after the fit?",
                      fit_h5_file(h), path, n, want);
    return st;
}

static void attribute(struct fit_h5 *h, const char *path, const char *name, char *text, size_t size)
{
    char *s = NULL;
    text[0] = '\0';
    if (fit_h5_has_attr(h, path, name) &&
        fit_h5_read_attr_string(h, path, name, &s, NULL) == FIT_OK)
        snprintf(text, size, "%s", s);
    free(s);
}

static double number_at(struct fit_h5 *h, const char *path)
{
    double *x = NULL, value = NAN;
    size_t n = 0;
    if (fit_h5_exists(h, path) && fit_h5_read_doubles(h, path, &x, &n, NULL) == FIT_OK && n)
        value = x[0];
    free(x);
    return value;
}

/* Averages n x n maps to m x m by b x b points; cells without data do not count.  A mean over the
 * weight of its cells, or (sum) their sum divided by the root of the weight: standard deviations of
 * the mean. */
static void shrink(const double *from, size_t n, size_t b, size_t m, const double *weight, int root,
                   double *to)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) {
            double sum = 0, all = 0;
            for (size_t k = i * b; k < (i + 1) * b && k < n; k++)
                for (size_t l = j * b; l < (j + 1) * b && l < n; l++)
                    if (!isnan(from[k * n + l])) {
                        sum += weight[k * n + l] * from[k * n + l];
                        all += weight[k * n + l];
                    }
            to[i * m + j] = all > 0 ? sum / (root ? sqrt(all) : all) : NAN;
        }
}

/* Values of the data behind a point of a map: bin x bin pairs of frames; near the diagonal each
 * counts once. */
static void weights(size_t n, size_t bin, double *w)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            w[i * n + j] = i != j || bin == 1 ? (double)(bin * bin) : (double)(bin * (bin - 1)) / 2;
}

/* Means of b of n times; NaN: none is known. */
static void shrink_times(const double *t, size_t n, size_t b, size_t m, double *to)
{
    for (size_t i = 0; i < m; i++) {
        double sum = 0, count = 0;
        for (size_t k = i * b; k < (i + 1) * b && k < n; k++) {
            sum += isnan(t[k]) ? 0 : t[k];
            count += !isnan(t[k]);
        }
        to[i] = count > 0 ? sum / count : NAN;
    }
}

static enum fit_status shrink_maps(struct rp_result *r, struct fit_error *err)
{
    const size_t n = r->side, b = (n + RP_SIDE - 1) / RP_SIDE, m = (n + b - 1) / b;
    double *w = malloc((n * n + 1) * sizeof *w), *to = malloc((r->ngroup * m * m + 1) * sizeof *to);
    double *const map[] = {r->c2, r->model, r->residual};
    if (!w || !to) {
        free(w);
        free(to);
        return fit_no_memory(err, "maps");
    }
    weights(n, r->bin, w);
    for (int k = 0; k < 3 && map[k]; k++) {
        for (size_t g = 0; g < r->ngroup; g++)
            shrink(map[k] + g * n * n, n, b, m, w, k == 2, to + g * m * m);
        memcpy(map[k], to, r->ngroup * m * m * sizeof *to);
    }
    shrink_times(r->t, n, b, m, r->t);
    for (size_t g = 0; r->t_group && g < r->ngroup; g++)
        shrink_times(r->t_group + g * n, n, b, m, r->t_group + g * m);
    r->side = m;
    r->bin *= b;
    free(w);
    free(to);
    return FIT_OK;
}

static enum fit_status optional(struct fit_h5 *h, const char *path, size_t n, double **value,
                                struct fit_error *err)
{
    return fit_h5_exists(h, path) ? take(h, path, n, value, err) : FIT_OK;
}

static enum fit_status read_maps(struct rp_result *r, struct fit_h5 *h, struct fit_error *err)
{
    double *bin = NULL;
    size_t n = 0;
    enum fit_status st = fit_h5_read_doubles(h, "/entry/data/phi", &r->phi, &r->ngroup, err);
    if (st == FIT_OK)
        st = fit_h5_read_doubles(h, "/entry/data/t1", &r->t, &r->side, err);
    if (st == FIT_OK && fit_h5_exists(h, "/entry/data/q"))
        st = take(h, "/entry/data/q", r->ngroup, &r->q, err);
    if (st == FIT_OK && fit_h5_exists(h, "/entry/input/file_of_group"))
        st = take(h, "/entry/input/file_of_group", r->ngroup, &r->file, err);
    if (st == FIT_OK)
        st = optional(h, "/entry/data/t_of_group", r->ngroup * r->side, &r->t_group, err);
    const size_t all = r->ngroup * r->side * r->side;
    if (st == FIT_OK)
        st = take(h, "/entry/data/c2", all, &r->c2, err);
    if (st == FIT_OK && r->fitted)
        st = take(h, "/entry/data/c2_model", all, &r->model, err);
    if (st == FIT_OK && r->fitted)
        st = take(h, "/entry/data/residual", all, &r->residual, err);
    if (st == FIT_OK && fit_h5_exists(h, "/entry/data/sigma"))
        st = take(h, "/entry/data/sigma", r->ngroup, &r->noise, err);
    attribute(h, "/entry/data/t1", "units", r->time_unit, sizeof r->time_unit);
    if (st == FIT_OK)
        st = fit_h5_read_attr_doubles(h, "/entry/data", "bin", &bin, &n, err);
    r->bin = st == FIT_OK && n && bin[0] >= 1 ? (size_t)bin[0] : 1;
    free(bin);
    return st == FIT_OK ? shrink_maps(r, err) : st;
}

static enum fit_status read_cuts(struct rp_result *r, struct fit_h5 *h, struct fit_error *err)
{
    enum fit_status st = fit_h5_read_doubles(h, "/entry/cuts/age", &r->age, &r->nage, err);
    if (st == FIT_OK)
        st = fit_h5_read_doubles(h, "/entry/cuts/tau", &r->tau, &r->nlag, err);
    if (st == FIT_OK)
        st = optional(h, "/entry/cuts/tau_of_group", r->ngroup * r->nlag, &r->tau_group, err);
    if (st == FIT_OK)
        st = optional(h, "/entry/cuts/age_of_group", r->ngroup * r->nage, &r->age_group, err);
    const size_t all = r->ngroup * r->nage * r->nlag;
    if (st == FIT_OK)
        st = take(h, "/entry/cuts/g2", all, &r->g2, err);
    if (st == FIT_OK && r->fitted)
        st = take(h, "/entry/cuts/g2_model", all, &r->g2_model, err);
    return st == FIT_OK ? take(h, "/entry/cuts/g2_err", all, &r->g2_error, err) : st;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Errors of the values: (value - model) / residual; where both are close to zero, that of the other rows. */
static enum fit_status row_errors(struct rp_result *r, struct fit_error *err)
{
    double sum = 0, count = 0;
    r->sigma = malloc((r->nrow + 1) * sizeof *r->sigma);
    if (!r->sigma)
        return fit_no_memory(err, "table");
    for (size_t k = 0; k < r->nrow; k++) {
        const double d = r->value[k] - r->fit[k], z = r->row_residual[k];
        /* residuals are stored with 24 bits: a difference of nearly equal numbers is inaccurate */
        const int told = fabs(z) > 1e-3 && fabs(d) > 1e-5 * fabs(r->value[k]);
        r->sigma[k] = told ? d / z : NAN;
        sum += told ? d / z : 0;
        count += told;
    }
    for (size_t k = 0; k < r->nrow; k++)
        if (isnan(r->sigma[k]) && count > 0)
            r->sigma[k] = sum / count;
    return FIT_OK;
}

/* The column that distinguishes curves, and its values in the order of first occurrence. */
static enum fit_status find_axis(struct rp_result *r, const char *name, struct fit_error *err)
{
    const struct rp_column *axis = NULL;
    for (size_t k = 0; k < r->ncolumn; k++)
        if (strcmp(r->column[k].name, name) == 0)
            axis = &r->column[k];
    if (!axis)
        return FIT_OK;
    if (!(r->axis_value = malloc((r->nrow + 1) * sizeof *r->axis_value)))
        return fit_no_memory(err, "table");
    r->ngroup = 0;
    for (size_t k = 0; k < r->nrow; k++) {
        size_t g = 0;
        while (g < r->ngroup && r->axis_value[g] != axis->value[k])
            g++;
        if (g == r->ngroup)
            r->axis_value[r->ngroup++] = axis->value[k];
    }
    r->axis = r->ngroup > 1 ? axis : NULL;
    return FIT_OK;
}

static int is_column(const char *name)
{
    static const char *const other[] = {"value", "model", "residual", "sigma"};
    for (size_t k = 0; k < sizeof other / sizeof *other; k++)
        if (strcmp(name, other[k]) == 0)
            return 0;
    return !text_ends_with(name, "_q025") && !text_ends_with(name, "_q975");
}

/* The model at the rows and, if available, between them. */
static enum fit_status read_model(struct rp_result *r, struct fit_h5 *h, struct fit_error *err)
{
    enum fit_status st = take(h, "/entry/data/model", r->nrow, &r->fit, err);
    if (st == FIT_OK)
        st = take(h, "/entry/data/residual", r->nrow, &r->row_residual, err);
    if (st != FIT_OK || !fit_h5_exists(h, "/entry/data_fine/x"))
        return st;
    st = fit_h5_read_doubles(h, "/entry/data_fine/x", &r->fine_x, &r->nfine, err);
    if (st == FIT_OK)
        st = take(h, "/entry/data_fine/model", r->nfine, &r->fine_fit, err);
    return st == FIT_OK ? take(h, "/entry/data_fine/curve", r->nfine, &r->fine_curve, err) : st;
}

static enum fit_status read_table(struct rp_result *r, struct fit_h5 *h, struct fit_error *err)
{
    char **name = NULL, path[256], axis[RP_NAME];
    size_t n = 0;
    enum fit_status st = fit_h5_read_doubles(h, "/entry/data/value", &r->value, &r->nrow, err);
    attribute(h, "/entry/data/value", "long_name", r->value_name, sizeof r->value_name);
    attribute(h, "/entry/data/value", "units", r->value_unit, sizeof r->value_unit);
    if (st == FIT_OK && r->fitted)
        st = read_model(r, h, err);
    if (st == FIT_OK)
        st = fit_h5_list(h, "/entry/data", &name, &n, err);
    r->column = calloc(n + 1, sizeof *r->column);
    if (st == FIT_OK && !r->column)
        st = fit_no_memory(err, "table");
    for (size_t k = 0; st == FIT_OK && k < n; k++) {
        struct rp_column *c = &r->column[r->ncolumn];
        if (!is_column(name[k]))
            continue;
        snprintf(path, sizeof path, "/entry/data/%s", name[k]);
        snprintf(c->name, sizeof c->name, "%s", name[k]);
        attribute(h, path, "units", c->unit, sizeof c->unit);
        attribute(h, path, "names", c->names, sizeof c->names);
        st = take(h, path, r->nrow, &c->value, err);
        r->ncolumn++;
    }
    fit_h5_free_strings(name, n);
    if (st == FIT_OK)
        st = optional(h, "/entry/data/model_q025", r->nrow, &r->fit_low, err);
    if (st == FIT_OK)
        st = optional(h, "/entry/data/model_q975", r->nrow, &r->fit_high, err);
    attribute(h, "/entry/data", "groups", axis, sizeof axis);
    if (st == FIT_OK)
        st = find_axis(r, axis, err);
    if (st == FIT_OK)
        st = r->fitted ? row_errors(r, err) : take(h, "/entry/data/sigma", r->nrow, &r->sigma, err);
    return st;
}

/* ---- curves ---------------------------------------------------------------------------------- */

static enum fit_status read_curve(struct rp_result *r, struct fit_h5 *h, const char *folder, const char *name,
                                  struct fit_error *err)
{
    struct rp_curve *c = &r->curve[r->ncurve++];
    char path[256];
    snprintf(c->name, sizeof c->name, "%s", name);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    attribute(h, path, "units", c->unit, sizeof c->unit);
    attribute(h, path, "long_name", c->doc, sizeof c->doc);
    enum fit_status st = take(h, path, r->nt, &c->value, err);
    snprintf(path, sizeof path, "%s/%s_err", folder, name);
    if (st == FIT_OK)
        st = optional(h, path, r->nt, &c->error, err);
    snprintf(path, sizeof path, "%s/%s_q025", folder, name);
    if (st == FIT_OK)
        st = optional(h, path, r->nt, &c->low, err);
    snprintf(path, sizeof path, "%s/%s_q975", folder, name);
    return st == FIT_OK ? optional(h, path, r->nt, &c->high, err) : st;
}

static enum fit_status read_curves(struct rp_result *r, struct fit_h5 *h, struct fit_error *err)
{
    char **name = NULL, path[64];
    size_t n = 0;
    const char *folder = fit_h5_exists(h, "/entry/curves_fine") ? "/entry/curves_fine" : "/entry/curves";
    if (!fit_h5_exists(h, folder))
        return FIT_OK;
    snprintf(path, sizeof path, "%s/t", folder);
    enum fit_status st = fit_h5_read_doubles(h, path, &r->curve_t, &r->nt, err);
    if (st == FIT_OK)
        st = fit_h5_list(h, folder, &name, &n, err);
    r->curve = calloc(n + 1, sizeof *r->curve);
    if (st == FIT_OK && !r->curve)
        st = fit_no_memory(err, "curves");
    for (size_t k = 0; st == FIT_OK && k < n; k++)
        if (strcmp(name[k], "t") != 0 && !text_ends_with(name[k], "_err") &&
            !text_ends_with(name[k], "_q025") && !text_ends_with(name[k], "_q975"))
            st = read_curve(r, h, folder, name[k], err);
    fit_h5_free_strings(name, n);
    return st;
}

static void free_curve(struct rp_curve *c)
{
    free(c->value);
    free(c->error);
    free(c->low);
    free(c->high);
}

static int same_base(const struct rp_curve *a, const struct rp_curve *b)
{
    const size_t n = strcspn(a->name, "[");
    return a->name[n] && n == strcspn(b->name, "[") && strncmp(a->name, b->name, n) == 0;
}

/* Of "D[1]", "D[2]", .. identical curves appear once; if one is left, it is D. */
static void drop_repeated(struct rp_result *r)
{
    size_t n = 0;
    for (size_t k = 0; k < r->ncurve; k++) {
        size_t m = 0;
        while (m < n && !(same_base(&r->curve[m], &r->curve[k]) &&
                          memcmp(r->curve[m].value, r->curve[k].value, r->nt * sizeof(double)) == 0))
            m++;
        if (m < n)
            free_curve(&r->curve[k]);
        else
            r->curve[n++] = r->curve[k];
    }
    r->ncurve = n;
    for (size_t k = 0; k < n; k++) {
        size_t alike = 0;
        for (size_t m = 0; m < n; m++)
            alike += same_base(&r->curve[m], &r->curve[k]) ? 1 : 0;
        if (alike == 1)
            r->curve[k].name[strcspn(r->curve[k].name, "[")] = '\0';
    }
}

/* ---- the folder ------------------------------------------------------------------------------ */

static enum fit_status read_words(struct rp_result *r, struct fit_h5 *h, struct fit_error *err)
{
    struct rp_origin *o = &r->origin;
    static const char *const path[] = {
        "/entry/title",        "/entry/model_formula",   "/entry/model_mathml", "/entry/model_reference",
        "/entry/end_time",     "/entry/input/file_name", "/entry/input/layout",
        "/entry/input/sha256", "/entry/command_line",    "/entry/program_version"};
    char **const to[] = {&r->title,  &r->formula, &r->mathml, &r->reference, &r->end_time, &o->file,
                         &o->layout, &o->sha256,  &o->command,   &o->version};
    enum fit_status st = FIT_OK;
    o->first = number_at(h, "/entry/input/start_frame");
    o->last = number_at(h, "/entry/input/end_frame");
    o->q = number_at(h, "/entry/input/q");
    o->dt = number_at(h, "/entry/input/dt");
    for (size_t k = 0; k < sizeof path / sizeof *path && st == FIT_OK; k++)
        if (fit_h5_exists(h, path[k]))
            st = fit_h5_read_string(h, path[k], to[k], err);
    return st;
}

static enum fit_status read_hdf5(struct rp_result *r, const char *file, struct fit_error *err)
{
    struct fit_h5 *h = NULL;
    enum fit_status st = fit_h5_open(file, &h, err);
    if (st != FIT_OK)
        return st;
    st = read_words(r, h, err);
    r->pairs = fit_h5_exists(h, "/entry/data/c2");
    if (st == FIT_OK && r->pairs)
        st = read_maps(r, h, err);
    if (st == FIT_OK && r->pairs)
        st = read_cuts(r, h, err);
    if (st == FIT_OK && !r->pairs)
        st = fit_h5_exists(h, "/entry/data/value")
                 ? read_table(r, h, err)
                 : fit_fail(err, FIT_ERR_DATA,
                            "%s: neither maps (/entry/data/c2) nor a table (/entry/data/value) in "
                            "it; is this the result of a fit?",
                            file);
    if (st == FIT_OK)
        st = read_curves(r, h, err);
    if (st == FIT_OK)
        drop_repeated(r);
    if (st == FIT_OK && r->pairs)
        st = optional(h, "/entry/cuts/g2_q025", r->ngroup * r->nage * r->nlag, &r->g2_low, err);
    if (st == FIT_OK && r->pairs)
        st = optional(h, "/entry/cuts/g2_q975", r->ngroup * r->nage * r->nlag, &r->g2_high, err);
    if (fit_h5_starved(h))
        st = fit_no_memory(err, file);
    fit_h5_close(h);
    return st;
}

static int is_file(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

/* fit.json, fit.h5 and posterior.nc of the folder of a fit. */
static enum fit_status read_fit(struct rp_result *r, struct fit_error *err)
{
    char file[1100];
    r->fitted = 1;
    enum fit_status st = fit_run_id_check(r->folder, err);
    if (st != FIT_OK)
        return st;
    snprintf(file, sizeof file, "%s/fit.json", r->folder);
    if (!is_file(file))
        return fit_fail(err, FIT_ERR_IO, "%s: no fit.json in this folder; give the folder that a fit wrote", r->folder);
    st = fit_yaml_parse_file(file, &r->doc, err);
    if (st == FIT_ERR_CONFIG)
        err->status = st = FIT_ERR_DATA;
    if (st != FIT_OK)
        return st;
    r->json = fit_yaml_root(r->doc);
    if (!rp_get(r->json, "parameters") || !rp_get(r->json, "model.name"))
        return fit_fail(err, FIT_ERR_DATA, "%s: no parameters and model in it; is this the result of a fit?", file);
    snprintf(file, sizeof file, "%s/fit.h5", r->folder);
    if (!is_file(file))
        return fit_fail(err, FIT_ERR_IO, "%s: not there; fit again, the curves and maps are in it", file);
    if ((st = read_hdf5(r, file, err)) != FIT_OK)
        return st;
    snprintf(file, sizeof file, "%s/posterior.nc", r->folder);
    return is_file(file) && rp_get(r->json, "posterior.parameters") ? rp_posterior_read(r, file, err) : FIT_OK;
}

enum fit_status rp_result_read(const char *folder, struct rp_result *r, struct fit_error *err)
{
    struct stat s;
    *r = (struct rp_result){0};
    snprintf(r->folder, sizeof r->folder, "%s", folder);
    snprintf(r->time_unit, sizeof r->time_unit, "s");
    for (size_t n = strlen(r->folder); n > 1 && r->folder[n - 1] == '/'; n--)
        r->folder[n - 1] = '\0';
    if (stat(folder, &s) != 0)
        return fit_fail(
            err, FIT_ERR_IO,
            "%s: no such folder; give the folder that a fit wrote (-o of `homodyne fit`)", folder);
    enum fit_status st = S_ISDIR(s.st_mode) ? read_fit(r, err) : read_hdf5(r, folder, err);
    if (st != FIT_OK)
        rp_result_free(r);
    return st;
}

void rp_result_free(struct rp_result *r)
{
    double *const array[] = {r->phi,    r->file,    r->q,         r->t,         r->c2,       r->model,    r->residual,
                             r->age,    r->tau,       r->g2,       r->g2_model, r->g2_error,
                             r->g2_low, r->g2_high,   r->value,    r->fit,      r->row_residual,
                             r->sigma,  r->fit_low,   r->fit_high, r->curve_t,  r->energy,
                             r->noise,  r->axis_value, r->t_group,  r->tau_group, r->age_group,
                             r->fine_x, r->fine_fit,   r->fine_curve};
    char *const text[] = {r->origin.file, r->origin.layout, r->origin.sha256, r->origin.command,
                          r->origin.version};
    for (size_t k = 0; k < sizeof text / sizeof *text; k++)
        free(text[k]);
    for (size_t k = 0; k < sizeof array / sizeof *array; k++)
        free(array[k]);
    for (size_t k = 0; k < r->ncolumn; k++)
        free(r->column[k].value);
    for (size_t k = 0; k < r->ncurve; k++)
        free_curve(&r->curve[k]);
    for (size_t k = 0; k < r->ndraws; k++)
        free(r->draw[k].value);
    free(r->column);
    free(r->curve);
    free(r->draw);
    free(r->diverging);
    free(r->title);
    free(r->formula);
    free(r->mathml);
    free(r->reference);
    free(r->end_time);
    fit_yaml_free(r->doc);
    *r = (struct rp_result){0};
}
