/* figures.c -- the list of figures; see figures.h. */
#include "report/figures/figures.h"

#include "math/special.h"
#include "report/draw/rich.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct rp_figure *rp_figure_add(struct rp_figures *list, enum rp_section section, const char *name,
                                double width, double height)
{
    struct rp_figure *f = realloc(list->figure, (list->n + 1) * sizeof *f);
    if (!f) {
        list->failed = 1;
        return NULL;
    }
    list->figure = f;
    f += list->n++;
    *f = (struct rp_figure){.section = section, .width = width, .height = height};
    snprintf(f->name, sizeof f->name, "%s", name);
    for (char *p = f->name; *p; p++) /* parameters have brackets, perhaps slashes */
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.", *p))
            *p = '_';
    return f;
}

enum fit_status rp_figures_new(const struct rp_result *r, struct rp_figures *list,
                               struct fit_error *err)
{
    *list = (struct rp_figures){0};
    if (r->pairs) {
        rp_list_maps(r, list);
        rp_list_cuts(r, list);
    } else
        rp_list_rows(r, list);
    if (r->fitted) {
        rp_list_curves(r, list);
        rp_list_parameters(r, list);
        rp_list_profiles(r, list);
        rp_list_residuals(r, list);
        rp_list_search(r, list);
        rp_list_sequence(r, list);
        rp_list_minima(r, list);
    }
    if (r->sampled)
        rp_list_posterior(r, list);
    if (!list->failed)
        return FIT_OK;
    rp_figures_free(list);
    return fit_no_memory(err, "figures");
}

void rp_figures_free(struct rp_figures *list)
{
    free(list->figure);
    *list = (struct rp_figures){0};
}

/* Groups that share an azimuth are distinguished by q, those that share q by the azimuth. */
static int several(const double *x, size_t n)
{
    for (size_t k = 1; x && k < n; k++)
        if (fabs(x[k] - x[0]) > 1e-9 * fabs(x[0]))
            return 1;
    return 0;
}

/* Several files of one fit, or NULL. */
static const struct fit_yaml *files_of(const struct rp_result *r)
{
    const struct fit_yaml *files = rp_get(r->json, "data.files");
    return files && files->kind == FIT_YAML_LIST && files->n > 1 ? files : NULL;
}

static double file_q(const struct rp_result *r, size_t file)
{
    const struct fit_yaml *files = files_of(r);
    return files && file < files->n ? rp_json_number(files->entry[file].value, "settings.q") : NAN;
}

static int files_differ(const struct rp_result *r)
{
    const struct fit_yaml *files = files_of(r);
    for (size_t k = 1; files && k < files->n; k++)
        if (fabs(file_q(r, k) - file_q(r, 0)) > 1e-9 * fabs(file_q(r, 0)))
            return 1;
    return 0;
}

void rp_group_title(const struct rp_result *r, size_t group, char *text, size_t size)
{
    const double phi = r->phi ? r->phi[group] : 0;
    size_t at = 0;
    text[0] = '\0';
    if (r->q)
        at = (size_t)snprintf(text, size, RP_IT "q" RP_IT " = %.5g Å⁻¹", r->q[group]);
    if (at < size && (!r->q || several(r->phi, r->ngroup)))
        at += (size_t)snprintf(text + at, size - at, "%s" RP_PHI " = %s%.5g°", r->q ? ", " : "", phi < 0 ? "−" : "",
                               fabs(phi));
    if (at < size && r->file)
        at += (size_t)snprintf(text + at, size - at, "%sfile %.0f", at ? ", " : "", r->file[group]);
    if (at < size && r->file && files_differ(r))
        snprintf(text + at, size - at, ", " RP_IT "q" RP_IT " = %.5g Å⁻¹", file_q(r, (size_t)r->file[group] - 1));
}

void rp_group_among(const struct rp_result *r, const size_t *groups, size_t n, size_t group, char *text, size_t size)
{
    int turned = n < 2, moved = 0;
    for (size_t k = 0; k < n; k++) {
        turned |= fabs(r->phi[groups[k]] - r->phi[groups[0]]) > 1e-6;
        moved |= r->file[groups[k]] != r->file[groups[0]];
    }
    const size_t file = (size_t)r->file[group] - 1;
    size_t at = 0;
    text[0] = '\0';
    if (turned)
        at = (size_t)snprintf(text, size, RP_PHI " = %s%.5g°", r->phi[group] < 0 ? "−" : "", fabs(r->phi[group]));
    if (moved && !turned && files_differ(r))
        snprintf(text, size, RP_IT "q" RP_IT " = %.5g Å⁻¹", file_q(r, file));
    else if (moved && at < size)
        snprintf(text + at, size - at, "%sfile %zu", at ? ", " : "", file + 1);
}

void rp_files_text(const struct rp_result *r, char *text, size_t size)
{
    const struct fit_yaml *files = files_of(r);
    size_t at = 0;
    text[0] = '\0';
    for (size_t k = 0; files && k < files->n && at < size; k++) {
        const char *path = rp_json_text(files->entry[k].value, "file"), *slash = strrchr(path, '/');
        at += (size_t)snprintf(text + at, size - at, "%sfile %zu: %s", k ? ", " : "", k + 1, slash ? slash + 1 : path);
        if (at < size && isfinite(file_q(r, k)))
            at += (size_t)snprintf(text + at, size - at, " (q = %.5g Å⁻¹)", file_q(r, k));
    }
}

void rp_group_place(const struct rp_result *r, size_t group, char *text, size_t size)
{
    const double phi = r->phi ? r->phi[group] : 0;
    if (r->q)
        snprintf(text, size, "q %.6g per angstrom, azimuth %.6g degrees", r->q[group], phi);
    else
        snprintf(text, size, "azimuth %.6g degrees", phi);
    const size_t at = strlen(text);
    if (r->file && at < size)
        snprintf(text + at, size - at, ", file %.0f", r->file[group]);
}

int rp_curve_has_band(const struct rp_result *r, size_t k)
{
    const struct rp_curve *v = &r->curve[k];
    const double *error = v->low ? v->low : v->error;
    for (size_t i = 0; error && i < r->nt; i++)
        if (isfinite(error[i]))
            return 1;
    return 0;
}

double rp_quantile(const double *x, size_t n, double part)
{
    enum { ENOUGH = 20000 };
    const size_t every = n / ENOUGH + 1;
    double *y = malloc((n / every + 1) * sizeof *y), q = NAN;
    size_t m = 0;
    for (size_t k = 0; y && k < n; k += every)
        if (!isnan(x[k]))
            y[m++] = x[k];
    if (m) {
        qsort(y, m, sizeof *y, fit_ascending);
        q = y[(size_t)(part * (double)(m - 1) + 0.5)];
    }
    free(y);
    return q;
}
