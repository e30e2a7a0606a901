/* write_posterior_layout.c -- dimensions, variables and attributes of posterior.nc, for the groups that the other files
 * write: see write_posterior_impl.h.
 */
#include "results/write_posterior_impl.h"

#include <string.h>

/* ---- dimensions ------------------------------------------------------------------------------ */

const char *fit_nc_path(char path[FIT_NC_PATH], const char *group, const char *name)
{
    snprintf(path, FIT_NC_PATH, "/%s/%s", group, name);
    return path;
}

/* The coordinate 0, 1, ... n - 1 as a dimension of a group. */
void fit_nc_index(struct fit_nc *f, const char *group, const char *name, size_t n)
{
    char path[FIT_NC_PATH];
    for (size_t k = 0; k < n; k++)
        f->count[k] = (int64_t)k;
    fit_h5r_integers(f->w, fit_nc_path(path, group, name), n, f->count);
    fit_h5r_scale(f->w, path, name);
}

void fit_nc_coordinate(struct fit_nc *f, const char *group, const char *name, size_t n,
                           const double *value, const char *unit)
{
    char path[FIT_NC_PATH];
    fit_h5r_reals(f->w, fit_nc_path(path, group, name), 1, &n, value, unit);
    fit_h5r_scale(f->w, path, name);
}

void fit_nc_draw_dimensions(struct fit_nc *f, const char *group)
{
    char path[FIT_NC_PATH];
    snprintf(path, sizeof path, "/%s", group);
    fit_h5r_group(f->w, path, NULL);
    fit_nc_index(f, group, "chain", f->s->chains);
    fit_nc_index(f, group, "draw", f->s->draws);
}

/* Label k that distinguishes the groups if one number does not; 0: there are no more. */
static int label(const struct fit_nc *f, size_t k, const char **name, const char **unit, const double **value)
{
    const struct fit_results *r = f->r;
    if (!f->group_name || strcmp(f->group_name, "group") != 0)
        return 0;
    if (r->kernel->space == FIT_PAIRS && k < 2) {
        *name = k ? "phi" : "q";
        *unit = k ? "degree" : "1/angstrom";
        *value = k ? r->input->phi : r->input->q_group;
        return 1;
    }
    if (r->kernel->space == FIT_PAIRS || k >= r->kernel->naxis || !r->ds->layout.coord)
        return 0;
    *name = r->kernel->axis[k].name;
    *unit = r->kernel->axis[k].unit;
    *value = r->ds->layout.coord[k];
    return 1;
}

/* Labels are coordinates along the dimension of the groups, which the attribute `coordinates` of the group names (CF
 * conventions 1.11, 5; xarray reads it). */
void fit_nc_group_dimension(struct fit_nc *f, const char *group)
{
    char path[FIT_NC_PATH], all[FIT_NC_PATH] = "";
    const char *name, *unit;
    const double *value;
    size_t n = f->s->ngroup, at = 0;
    if (!f->group_name)
        return;
    fit_nc_coordinate(f, group, f->group_name, n, f->group_coord, f->group_unit);
    for (size_t k = 0; label(f, k, &name, &unit, &value); k++) {
        if (!value || at + strlen(name) + 2 > sizeof all)
            continue;
        fit_h5r_reals(f->w, fit_nc_path(path, group, name), 1, &n, value, unit);
        fit_nc_attach(f, group, name, (const char *const[]){f->group_name, NULL});
        at += (size_t)snprintf(all + at, sizeof all - at, "%s%s", at ? " " : "", name);
    }
    snprintf(path, sizeof path, "/%s", group);
    fit_nc_text(f, path, "coordinates", all);
}

/* The dimensions of a dataset: names of scales in its own group, ended by NULL. */
void fit_nc_attach(struct fit_nc *f, const char *group, const char *name, const char *const *dims)
{
    char path[FIT_NC_PATH], scale[FIT_NC_PATH];
    fit_nc_path(path, group, name);
    for (unsigned k = 0; dims[k]; k++)
        fit_h5r_attach(f->w, path, k, fit_nc_path(scale, group, dims[k]));
}

/* A variable over (chain, draw) and perhaps one dimension more. */
void fit_nc_draws(struct fit_nc *f, const char *group, const char *name, size_t extra,
                      const char *dimension, const double *value, const char *unit)
{
    char path[FIT_NC_PATH];
    size_t dims[3] = {f->s->chains, f->s->draws, extra};
    fit_h5r_reals(f->w, fit_nc_path(path, group, name), dimension ? 3 : 2, dims, value, unit);
    fit_nc_attach(f, group, name, (const char *const[]){"chain", "draw", dimension, NULL});
}

/* ---- attributes ------------------------------------------------------------------------------ */

void fit_nc_integer(struct fit_nc *f, const char *path, const char *name, int64_t value)
{
    struct fit_h5_array a = {.type = FIT_H5_I64, .value = &value};
    if (f->w->error.status == FIT_OK)
        fit_h5_write_attr(f->w->h, path, name, &a, &f->w->error);
}

void fit_nc_text(struct fit_nc *f, const char *path, const char *name, const char *value)
{
    if (value && *value)
        fit_h5r_attribute(f->w, path, name, value);
}

/* Attributes that ArviZ expects of every group. */
void fit_nc_describe(struct fit_nc *f, const char *path)
{
    const struct fit_results *r = f->r;
    struct tm tm;
    char text[40];
    gmtime_r(&r->end, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S+00:00", &tm);
    fit_h5r_attribute(f->w, path, "created_at", text);
    fit_h5r_attribute(f->w, path, "creation_library", "homodyne-gen");
    fit_h5r_attribute(f->w, path, "creation_library_version", FIT_VERSION);
    fit_h5r_attribute(f->w, path, "inference_library", r->program);
    fit_h5r_attribute(f->w, path, "inference_library_version", FIT_VERSION);
    fit_h5r_attribute_real(f->w, path, "sampling_time", f->s->seconds.sampling);
    fit_nc_integer(f, path, "tuning_steps", (int64_t)f->s->warmup);
    fit_h5r_attribute(f->w, path, "model_name", r->kernel->name);
}

/* ---- variables ------------------------------------------------------------------------------- */

/* A name that differs from all dimensions and labels of the groups. */
const char *fit_nc_variable_name(const struct fit_nc *f, const char *name, char text[80])
{
    int taken = strcmp(name, "chain") == 0 || strcmp(name, "draw") == 0 ||
                (f->group_name && strcmp(name, f->group_name) == 0);
    const char *other, *unit;
    const double *value;
    for (size_t k = 0; label(f, k, &other, &unit, &value); k++)
        taken |= strcmp(name, other) == 0;
    snprintf(text, 80, "%.60s%s", name, taken ? "_parameter" : "");
    return text;
}

static int is_fixed(const struct fit_nc *f, const struct fit_nc_variable *v)
{
    for (size_t g = 0; g < (v->grouped ? f->s->ngroup : 1); g++)
        if (!f->s->column[v->first + g * v->stride].constant)
            return 0;
    return 1;
}

/* Derived quantities, in the order of their values. */
static void each_derived(struct fit_nc *f, const char *group, int fixed,
                         void (*put)(struct fit_nc *, const char *, const struct fit_nc_variable *))
{
    const struct fit_result *fit = f->r->fit;
    for (size_t k = 0; k < fit->nderived; k++) {
        const struct fit_derived *d = &f->r->kernel->derived[fit->derived[k].which];
        struct fit_nc_variable v = {.unit = d->unit, .doc = d->doc, .first = f->s->nsampled + k, .stride = 1};
        v.grouped = f->group_name && d->each;
        fit_nc_variable_name(f, d->name, v.name);
        if (fit->derived[k].group <= 0 && is_fixed(f, &v) == fixed)
            put(f, group, &v);
    }
}

/* Calls put for all variables that are fixed, or are not. */
void fit_nc_each_variable(struct fit_nc *f, const char *group, int fixed,
                          void (*put)(struct fit_nc *, const char *, const struct fit_nc_variable *))
{
    const struct fit_kernel *k = f->r->kernel;
    const struct fit_samples *s = f->s;
    int averaged = fit_config_scaling(f->r->config, s->ngroup) == FIT_SCALING_AVERAGED;
    for (size_t c = 0; c < s->nparam + s->nlinear + 1; c++) {
        const size_t q = c - s->nparam;
        const int noise = c == s->nparam + s->nlinear;
        const struct fit_param *p = c < s->nparam ? &k->param[c] : noise ? NULL : &k->linear[q];
        struct fit_nc_variable v = {
            .unit = noise ? "1" : p->unit,
            .doc = noise ? "standard deviation of the noise" : p->doc,
            .first = q < s->nlinear || c < s->nparam ? c : s->nparam + s->ngroup * s->nlinear,
            .stride = q < s->nlinear ? s->nlinear : 1};
        fit_nc_variable_name(f, noise ? "sigma" : p->name, v.name);
        if (c < s->nparam)
            v.stride = 0;
        v.grouped = f->group_name && c >= s->nparam && (noise || (p->over >= 0 && !averaged));
        for (size_t other = 0; noise && other < s->nparam; other++)
            if (strcmp(k->param[other].name, "sigma") == 0)
                snprintf(v.name, sizeof v.name, "sigma_noise");
        if (is_fixed(f, &v) == fixed && (!noise || !k->density))
            put(f, group, &v);
    }
    each_derived(f, group, fixed, put);
}
