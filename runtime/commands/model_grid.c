/* model_grid.c -- a model at given parameters on a given grid; see model_grid.h. */
#include "commands/model_grid_impl.h"
#include "errors/jacobian.h"
#include "base/json.h"

#include "common/nearest.h"
#include "base/units.h"
#include "config/config.h"
#include "machine/team.h"
#include "machine/topology.h"
#include "model/registry.h"
#include "model/statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names and values ------------------------------------------------------------------------ */

static int setting_index(const struct fit_kernel *k, const char *name)
{
    for (size_t s = 0; s < k->nsetting; s++)
        if (strcmp(k->setting[s].name, name) == 0)
            return (int)s;
    return -1;
}

static enum fit_status unknown_name(const struct fit_kernel *k, const char *name,
                                    struct fit_error *err)
{
    struct nearest near = {.name = name};
    for (size_t p = 0; p < k->nparam; p++)
        nearest_offer(&near, k->param[p].name);
    for (size_t p = 0; p < k->nlinear; p++)
        nearest_offer(&near, k->linear[p].name);
    for (size_t s = 0; s < k->nsetting; s++)
        nearest_offer(&near, k->setting[s].name);
    for (size_t a = 0; a < k->naxis; a++)
        nearest_offer(&near, k->axis[a].name);
    for (size_t c = 0; c < k->ncolumn; c++)
        if (fit_experiment_is_grid(k, k->column[c].name))
            nearest_offer(&near, k->column[c].name);
    return fit_fail(err, FIT_ERR_USAGE, "--set %s: the model %s has no parameter, setting%s of this name%s%s%s", name,
                    k->name, k->space == FIT_ROWS ? ", axis or column" : " or axis",
                    near.best ? "; did you mean '" : "", near.best ? near.best : "", near.best ? "'?" : "");
}

/* Numbers separated by commas, each with an optional unit: one for all groups, or one for each; to[g * stride]. */
static enum fit_status set_groups(struct fit_experiment *e, const char *name, const char *text, const char *unit,
                                  double *to, size_t stride, struct fit_error *err)
{
    const struct fit_kernel *k = e->kernel;
    size_t ngroup = e->layout.ngroup, n = 0;
    for (const char *s = text; s; n++) {
        const char *comma = strchr(s, ',');
        char one[64];
        double value;
        snprintf(one, sizeof one, "%.*s", (int)(comma ? (size_t)(comma - s) : strlen(s)), s);
        enum fit_quantity kind = fit_quantity_parse(one, unit, &value);
        if ((kind != FIT_QUANTITY_BARE && kind != FIT_QUANTITY_CONVERTED) || !isfinite(value))
            return fit_fail(err, FIT_ERR_USAGE, "--set %s: '%s' is not a number%s%s", name, one,
                            strcmp(unit, "1") ? " in " : "", strcmp(unit, "1") ? unit : "");
        for (size_t g = n == 0 ? 0 : n; g < (n == 0 ? ngroup : n + 1) && g < ngroup; g++)
            to[g * stride] = value;
        s = comma ? comma + 1 : NULL;
    }
    if (n == 1 || n == ngroup)
        return FIT_OK;
    return fit_fail(err, FIT_ERR_USAGE, "--set %s: %zu numbers for %zu %s; give 1 or %zu", name, n,
                    ngroup, k->naxis == 1 ? k->axis[0].name : "groups", ngroup);
}

/* name=value, with an optional unit. */
static enum fit_status set(struct fit_experiment *e, const char *text, struct fit_error *err)
{
    const struct fit_kernel *k = e->kernel;
    char name[64];
    const char *equal = strchr(text, '=');
    if (!equal || (size_t)(equal - text) >= sizeof name)
        return fit_fail(err, FIT_ERR_USAGE, "--set %s: write name=value", text);
    snprintf(name, sizeof name, "%.*s", (int)(equal - text), text);

    if (fit_experiment_is_grid(k, name))
        return FIT_OK; /* taken already */
    int p = fit_config_param_index(k, name), s = p < 0 ? setting_index(k, name) : -1;
    if (p < 0 && s < 0)
        return unknown_name(k, name, err);
    const char *unit = s >= 0 ? k->setting[s].unit : fit_kernel_unknown(k, (size_t)p)->unit;
    double value;
    if (s < 0 && (size_t)p >= k->nparam && k->linear[(size_t)p - k->nparam].over >= 0)
        return set_groups(e, name, equal + 1, unit, e->lin + ((size_t)p - k->nparam), k->nlinear, err);
    if (s < 0 && (size_t)p < k->nparam && e->own && k->param[p].over >= 0)
        return set_groups(e, name, equal + 1, unit, e->theta + p, k->nparam, err);
    enum fit_quantity q = fit_quantity_parse(equal + 1, unit, &value);
    if ((q != FIT_QUANTITY_BARE && q != FIT_QUANTITY_CONVERTED) || !isfinite(value))
        return fit_fail(err, FIT_ERR_USAGE, "--set %s: '%s' is not a number%s%s", name, equal + 1,
                        strcmp(unit, "1") ? " in " : "", strcmp(unit, "1") ? unit : "");
    if (s >= 0)
        e->setting[s] = value;
    else if ((size_t)p < k->nparam)
        for (size_t g = 0; g < (e->own ? e->layout.ngroup : 1); g++)
            e->theta[g * k->nparam + (size_t)p] = value;
    else
        for (size_t g = 0; g < e->layout.ngroup; g++)
            e->lin[g * k->nlinear + (size_t)p - k->nparam] = value;
    return FIT_OK;
}

/* --contrast, --offset: one number for all groups or one for each. */
static enum fit_status set_linear(struct fit_experiment *e, const char *name, size_t n,
                                  const double *value, struct fit_error *err)
{
    const struct fit_kernel *k = e->kernel;
    size_t ngroup = e->layout.ngroup;
    if (n == 0)
        return FIT_OK;
    for (size_t q = 0; q < k->nlinear; q++) {
        if (strcmp(k->linear[q].name, name) != 0)
            continue;
        if (n != 1 && n != ngroup)
            return fit_fail(err, FIT_ERR_USAGE, "--%s: %zu numbers for %zu %s; give 1 or %zu",
                            name, n, ngroup, e->nring > 1 ? "groups" : "angles", ngroup);
        for (size_t g = 0; g < ngroup; g++)
            e->lin[g * k->nlinear + q] = value[n == 1 ? 0 : g];
        return FIT_OK;
    }
    return fit_fail(err, FIT_ERR_USAGE, "--%s: the model %s has no linear parameter of this name",
                    name, k->name);
}

/* --q, --gap, --dt: the setting of this name, if it has such a unit. */
static enum fit_status set_if(struct fit_experiment *e, const char *name, double value, struct fit_error *err)
{
    int s = setting_index(e->kernel, name);
    if (s < 0 || isnan(value))
        return FIT_OK;
    const char *unit = e->kernel->setting[s].unit;
    e->setting[s] = fit_units_to_model(name, unit, value);
    return fit_units_means(name, unit)
               ? FIT_OK
               : fit_fail(err, FIT_ERR_USAGE, "--%s is in %s; the setting %s of the model %s is in %s: --set %s=VALUE",
                          name, fit_units_of(name), name, e->kernel->name, unit, name);
}

static enum fit_status all_settings_given(const struct fit_experiment *e, struct fit_error *err)
{
    for (size_t s = 0; s < e->kernel->nsetting; s++)
        if (isnan(e->setting[s]))
            return fit_fail(err, FIT_ERR_USAGE,
                            "setting '%s' (%s%s%s) has no default: give --set %s=VALUE%s",
                            e->kernel->setting[s].name, e->kernel->setting[s].doc,
                            *e->kernel->setting[s].doc ? ", " : "", e->kernel->setting[s].unit,
                            e->kernel->setting[s].name,
                            strcmp(e->kernel->setting[s].name, "q") == 0     ? " or --q"
                            : strcmp(e->kernel->setting[s].name, "gap") == 0 ? " or --gap"
                                                                             : "");
    return FIT_OK;
}

/* ---- grids ----------------------------------------------------------------------------------- */

static enum fit_status grid_of_frames(struct fit_experiment *e, const struct fit_cli *cli,
                                      struct fit_error *err)
{
    struct fit_layout *l = &e->layout;
    if (cli->x)
        return fit_fail(err, FIT_ERR_USAGE,
                        "--x: for models of tables; %s is fitted to pairs of frames: --frames N --dt S",
                        e->kernel->name);
    if (cli->frames < 2 || cli->frames > 100000)
        return fit_fail(err, FIT_ERR_USAGE,
                        "--frames %llu: give a number of frames from 2 to 100000",
                        (unsigned long long)cli->frames);
    if (!(cli->dt > 0))
        return fit_fail(err, FIT_ERR_USAGE,
                        "--dt: the frame period in seconds is missing or not above 0");
    l->ntime = l->nframe = (size_t)cli->frames;
    l->step = cli->dt;
    e->time = fit_take(&e->storage_, l->ntime, sizeof *e->time);
    e->frame = fit_take(&e->storage_, l->ntime, sizeof *e->frame);
    if (e->storage_.failed)
        return fit_no_memory(err, "time grid and tables");
    double first = cli->first_time;
    if (isnan(first)) /* as a fit assumes: see config/finish.c */
        first = e->kernel->first_step * cli->dt;
    for (size_t n = 0; n < l->ntime; n++) {
        e->time[n] = first + (double)n * cli->dt;
        e->frame[n] = (uint32_t)n;
    }
    l->time = e->time;
    l->frame = e->frame;
    l->panel = (l->nframe + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
    l->chunk = l->nframe;
    return FIT_OK;
}

static enum fit_status grid_of_rows(const struct fit_kernel *k, const struct fit_cli *cli, struct fit_error *err)
{
    if (cli->frames || cli->nphi || cli->dt > 0)
        return fit_fail(err, FIT_ERR_USAGE,
                        "%s: for two-time models; %s is fitted to a table, give its grid: --x 0:10:101",
                        cli->frames ? "--frames" : cli->nphi ? "--phi" : "--dt", k->name);
    return FIT_OK;
}

static enum fit_status values(struct fit_experiment *e, const struct fit_cli *cli,
                              struct fit_error *err)
{
    const struct fit_kernel *k = e->kernel;
    size_t ngroup = e->layout.ngroup;
    for (size_t p = 0; p < k->nparam; p++)
        e->own |= ngroup > 1 && k->param[p].over >= 0;
    const size_t nset = e->own ? ngroup : 1; /* of parameters */
    e->setting = fit_take(&e->storage_, k->nsetting, sizeof *e->setting);
    e->theta = fit_take(&e->storage_, nset * k->nparam, sizeof *e->theta);
    e->lin = fit_take(&e->storage_, ngroup * k->nlinear, sizeof *e->lin);
    if (e->storage_.failed)
        return fit_no_memory(err, "time grid and tables");
    for (size_t s = 0; s < k->nsetting; s++)
        e->setting[s] = k->setting[s].value;
    for (size_t p = 0; p < nset * k->nparam; p++)
        e->theta[p] = k->param[p % k->nparam].start;
    for (size_t q = 0; q < k->nlinear; q++)
        for (size_t g = 0; g < ngroup; g++)
            e->lin[g * k->nlinear + q] = k->linear[q].start;
    e->layout.setting = e->setting;
    enum fit_status st = set_if(e, "q", cli->nq ? cli->q_list[0] : NAN, err);
    if (st == FIT_OK)
        st = set_if(e, "gap", cli->gap, err);
    if (st == FIT_OK)
        st = set_if(e, "dt", cli->dt, err);
    if (st == FIT_OK)
        st = set_linear(e, "contrast", cli->ncontrast, cli->contrast, err);
    if (st == FIT_OK)
        st = set_linear(e, "offset", cli->noffset, cli->offset, err);
    for (size_t c = 0; c < cli->nchange && st == FIT_OK; c++)
        st = set(e, cli->change[c].value, err);
    if (st == FIT_OK && k->space == FIT_ROWS)
        st = fit_statistics_fill(k, "", e->layout.nrow / (k->nobservable ? k->nobservable : 1), e->layout.column,
                                 e->setting, err);
    return st == FIT_OK ? all_settings_given(e, err) : st;
}

enum fit_status fit_experiment_file(const char *path, int text, struct fit_error *err)
{
    static const char *const ending[2][6] = {{".csv", ".txt", ".dat", ".tsv"},
                                             {".h5", ".hdf5", ".hdf", ".nxs", ".npy", ".npz"}};
    const char *dot = strrchr(path, '.');
    for (size_t k = 0; k < 6 && dot && ending[text][k]; k++)
        if (strcmp(dot, ending[text][k]) == 0)
            return fit_fail(err, FIT_ERR_USAGE, "-o %s: what is written is %s; give a name ending in %s",
                            path, text ? "a table, as text" : "an HDF5 file", text ? ".csv" : ".h5");
    return FIT_OK;
}

enum fit_status fit_experiment_new(const struct fit_kernel *kernel, const struct fit_cli *cli,
                                   struct fit_experiment **out, struct fit_error *err)
{
    *out = NULL;
    struct fit_experiment *e = calloc(1, sizeof *e);
    if (!e)
        return fit_no_memory(err, "time grid and tables");
    e->kernel = kernel;
    enum fit_status st =
        kernel->space == FIT_PAIRS ? grid_of_frames(e, cli, err) : grid_of_rows(kernel, cli, err);
    if (st == FIT_OK)
        st = fit_experiment_groups(e, cli, err);
    if (st == FIT_OK && kernel->space == FIT_ROWS)
        st = fit_experiment_columns(e, cli, err);
    if (st == FIT_OK)
        st = values(e, cli, err);
    if (st != FIT_OK) {
        fit_experiment_free(e);
        return st;
    }
    *out = e;
    return FIT_OK;
}

void fit_experiment_free(struct fit_experiment *e)
{
    if (!e)
        return;
    fit_arena_free(&e->storage_);
    free(e);
}

/* ---- values of the model --------------------------------------------------------------------- */

static enum fit_status prepare(struct fit_experiment *e, size_t g, struct fit_error *err)
{
    const struct fit_kernel *k = e->kernel;
    e->prepared = g;
    if (k->prepare(&e->layout, e->theta + (e->own ? g * k->nparam : 0), e->derivative, e->workspace) != FIT_EVAL_OK)
        return fit_fail(err, FIT_ERR_NUMERIC,
                        "the model %s has no finite value at these parameters", k->name);
    return FIT_OK;
}

enum fit_status fit_experiment_prepare(struct fit_experiment *e, int derivative,
                                       struct fit_error *err)
{
    e->workspace = fit_take(&e->storage_, e->kernel->workspace(&e->layout), sizeof *e->workspace);
    e->derivative = derivative;
    return e->workspace ? prepare(e, 0, err) : fit_no_memory(err, "time grid and tables");
}

enum fit_status fit_experiment_follow(struct fit_experiment *e, size_t row, struct fit_error *err)
{
    const struct fit_layout all = e->layout;
    const size_t g = e->group[row], first = all.first[g];
    if (e->kernel->nobservable) /* its rows are ordered by quantity */
        return prepare(e, g, err);
    if (!e->following && !(e->following = fit_take(&e->storage_, all.ngroup, sizeof *e->following)))
        return fit_no_memory(err, "rows");
    if (row > 0 && e->group[row - 1] != g)
        e->following[e->group[row - 1]] = 0;
    e->following[g] = row + 1 - first;
    e->layout.count = e->following;
    e->layout.carried = e->carried;
    e->layout.from = row > first ? row - 1 : row;
    enum fit_status st = prepare(e, g, err);
    e->layout = all;
    return st;
}

enum fit_status fit_experiment_turn(struct fit_experiment *e, size_t g, struct fit_error *err)
{
    return e->own && g != e->prepared ? prepare(e, g, err) : FIT_OK;
}

enum fit_status fit_experiment_table(struct fit_experiment *e, double *mean, double *jac,
                                     struct fit_error *err)
{
    size_t n = e->layout.nrow, full = e->kernel->nparam + e->kernel->nlinear, end;
    FIT_SCRATCH(a);
    uint32_t *row = fit_take(&a, n, sizeof *row);
    enum fit_status st = row ? FIT_OK : fit_no_memory(err, "time grid and tables");
    for (size_t i = 0; row && i < n; i++)
        row[i] = (uint32_t)i;
    for (size_t i = 0; i < n && st == FIT_OK; i = end) { /* rows with the same parameters at once */
        for (end = i + 1; end < n && (!e->own || e->group[end] == e->group[i]);)
            end++;
        st = fit_experiment_turn(e, e->group[i], err);
        if (st == FIT_OK)
            fit_jacobian_rows(&(struct fit_tables){e->kernel, &e->layout, e->workspace, e->lin},
                              &(struct fit_points){end - i, row + i, NULL, e->group + i}, mean + i,
                              jac ? jac + i * full : NULL);
    }
    return st;
}

/* Row i: points (i, j), j in [j0, nframe). */
static void one_row(const struct fit_experiment *e, size_t g, size_t i, size_t j0, uint32_t *index,
                    double *mean, double *jac)
{
    const struct fit_kernel *k = e->kernel;
    size_t n = e->layout.nframe, full = k->nparam + k->nlinear, m = n - j0;
    uint32_t *ii = index, *jj = index + n, *gg = index + 2 * n;
    for (size_t c = 0; c < m; c++) {
        ii[c] = (uint32_t)i;
        jj[c] = (uint32_t)(j0 + c);
        gg[c] = (uint32_t)g;
    }
    memset(mean, 0, j0 * sizeof *mean);
    if (jac)
        memset(jac, 0, j0 * full * sizeof *jac);
    fit_jacobian_rows(&(struct fit_tables){k, &e->layout, e->workspace, e->lin},
                      &(struct fit_points){m, ii, jj, gg}, mean + j0, jac ? jac + j0 * full : NULL);
}

struct rows {
    const struct fit_experiment *e;
    size_t g, i0;
    int upper;
    uint32_t *index; /* 3 nframe for each thread */
    double *mean, *jac;
};

static void row_turn(void *user, size_t k, size_t thread)
{
    const struct rows *x = user;
    const struct fit_experiment *e = x->e;
    size_t n = e->layout.nframe, full = e->kernel->nparam + e->kernel->nlinear, i = x->i0 + k;
    one_row(e, x->g, i, x->upper ? i : 0, x->index + thread * 3 * n, x->mean + k * n,
            x->jac ? x->jac + k * n * full : NULL);
}

enum fit_status fit_experiment_rows(const struct fit_experiment *e, const struct fit_experiment_part *part,
                                    double *mean, double *jac, struct fit_error *err)
{
    const size_t n = e->layout.nframe;
    const int threads = part->threads > 0 ? part->threads : fit_topology_threads();
    FIT_SCRATCH(a);
    uint32_t *index = fit_take(&a, (size_t)threads * 3 * n, sizeof *index);
    struct rows all = {e, part->g, part->i0, part->upper, index, mean, jac};
    if (!index)
        return fit_no_memory(err, "time grid and tables");
    fit_team_run((struct fit_team){threads, FIT_TEAM_NEXT}, part->i1 - part->i0, row_turn, &all);
    return FIT_OK;
}

enum fit_status fit_experiment_json(const struct fit_experiment *e, const struct fit_cli *cli, FILE *f,
                                    struct fit_error *err)
{
    const struct fit_kernel *k = e->kernel;
    struct fit_json j = {0};
    fit_json_begin(&j, NULL, '{');
    fit_json_string(&j, "file", cli->output);
    if (cli->config_out)
        fit_json_string(&j, "config", cli->config_out);
    fit_json_string(&j, "model", k->name);
    if (k->space == FIT_PAIRS) {
        fit_json_integer(&j, "frames", (int64_t)e->layout.nframe);
        fit_json_number(&j, "dt", cli->dt);
        if (e->nring > 1)
            fit_json_numbers(&j, "q", e->q, e->layout.ngroup);
        fit_json_numbers(&j, "phi", e->phi, e->layout.ngroup);
    } else {
        fit_json_integer(&j, "rows", (int64_t)e->layout.nrow);
    }
    fit_json_begin(&j, "parameters", '{');
    for (size_t p = 0; p < k->nparam; p++) {
        const int each = e->own && k->param[p].over >= 0;
        if (each)
            fit_json_begin(&j, k->param[p].name, '[');
        for (size_t g = 0; g < (each ? e->layout.ngroup : 1); g++)
            fit_json_number(&j, each ? NULL : k->param[p].name, e->theta[g * k->nparam + p]);
        if (each)
            fit_json_end(&j);
    }
    fit_json_end(&j);
    fit_json_end(&j);
    return fit_json_put(&j, f) == 0 ? FIT_OK : fit_no_memory(err, NULL);
}
