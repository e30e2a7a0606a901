/* problem.c -- a model on a geometry, from arrays: datasets, values, derivatives.
 *
 * A dataset made for values drops unused rows (dataset.h); for evaluation there is another one of the same geometry,
 * without values. */
#include "api/api.h"

#include "base/arena.h"
#include "data/file_times.h"
#include "errors/jacobian.h"
#include "machine/team.h"
#include "machine/topology.h"
#include "model/statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- checks ---------------------------------------------------------------------------------- */

/* Setting s of file f: given, or the model's default. */
static enum fit_status settle_one(struct api_parts *x, size_t f, size_t s, struct fit_error *err)
{
    const struct fit_kernel *k = x->k;
    const size_t at = f * k->nsetting + s;
    double v = x->d.setting ? x->d.setting[at] : NAN;
    char of[64] = "";
    if (isnan(v) && strcmp(k->setting[s].name, "dt") == 0 && k->space == FIT_PAIRS)
        v = x->nfile > 1 && x->d.file_step ? x->d.file_step[f] : x->d.step;
    x->setting[at] = isnan(v) ? k->setting[s].value : v;
    if (isfinite(x->setting[at]) || k->setting[s].statistic)
        return FIT_OK;
    if (x->nfile > 1)
        snprintf(of, sizeof of, " of file %zu", f + 1);
    return fit_fail(err, FIT_ERR_USAGE, "setting '%s' (%s, %s)%s of %s has no default: give it a value",
                    k->setting[s].name, k->setting[s].doc, k->setting[s].unit, of, k->name);
}

static enum fit_status settle(struct api_parts *x, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    x->nfile = x->d.nfile > 1 ? x->d.nfile : 1;
    x->setting = malloc((x->nfile * x->k->nsetting + 1) * sizeof *x->setting);
    if (!x->setting)
        return fit_no_memory(err, "arrays of the model");
    for (size_t f = 0; f < x->nfile; f++)
        for (size_t s = 0; s < x->k->nsetting && st == FIT_OK; s++)
            st = settle_one(x, f, s, err);
    return st;
}

/* For several files, each has a part of the n matrices or rows, and its number is one more axis. */
static enum fit_status place(struct api_parts *x, size_t n, const double *const *axis, struct fit_error *err)
{
    const size_t naxis = x->k->naxis;
    x->place = calloc(naxis + 1, sizeof *x->place);
    FIT_OWNED unsigned char *seen = calloc(x->nfile, 1);
    if (!x->place || !seen)
        return fit_no_memory(err, "arrays of the model");
    for (size_t a = 0; a < naxis; a++)
        x->place[a] = axis[a];
    if (x->nfile == 1)
        return FIT_OK;
    if (!x->d.file)
        return fit_fail(err, FIT_ERR_USAGE, "%zu files: fit_api_data.file must tell which is which", x->nfile);
    if (!(x->file = malloc((n + 1) * sizeof *x->file)))
        return fit_no_memory(err, "arrays of the model");
    x->place[naxis] = x->file;
    for (size_t i = 0; i < n; i++) {
        if (x->d.file[i] >= x->nfile)
            return fit_fail(err, FIT_ERR_DATA, "place %zu is of file %u; there are %zu, counted from 0", i,
                            (unsigned)x->d.file[i], x->nfile);
        x->file[i] = x->d.file[i] + 1;
        seen[x->d.file[i]] = 1;
    }
    for (size_t f = 0; f < x->nfile; f++)
        if (!seen[f])
            return fit_fail(err, FIT_ERR_DATA, "file %zu has nothing in it", f + 1);
    return FIT_OK;
}

/* Times of a model's frames that were not given. */
static double *count_times(const struct fit_kernel *k, size_t n, double step)
{
    double *time = malloc((n + 1) * sizeof *time);
    const double first = k->first_step * step; /* as in config/finish.c */
    for (size_t i = 0; time && i < n; i++)
        time[i] = first + (double)i * step;
    return time;
}

/* The frames of file f with times of its own. */
static enum fit_status file_times(struct api_parts *x, size_t f, struct fit_file_time *out, struct fit_error *err)
{
    const struct fit_api_data *d = &x->d;
    *out = (struct fit_file_time){.step = d->file_step[f]};
    if (!(out->step > 0) || !isfinite(out->step))
        return fit_fail(err, FIT_ERR_DATA, "file %zu: frame period %g s: give a number above 0", f + 1, out->step);
    double *own = d->file_time ? NULL : count_times(x->k, d->ntime, out->step);
    out->time = d->file_time ? d->file_time + f * d->ntime : fit_take_copy(&x->times, own, d->ntime, sizeof *own);
    free(own);
    if (!out->time)
        return fit_no_memory(err, "arrays of the model");
    while (out->ntime < d->ntime && isfinite(out->time[out->ntime]))
        out->ntime++;
    for (size_t i = 1; i < out->ntime; i++)
        if (!(out->time[i] > out->time[i - 1]))
            return fit_fail(err, FIT_ERR_DATA,
                            "file %zu: times must increase: frame %zu has %.9g s, frame %zu has %.9g s", f + 1, i,
                            out->time[i - 1], i + 1, out->time[i]);
    if (out->ntime < 2)
        return fit_fail(err, FIT_ERR_DATA, "file %zu: %zu frames with a time; give 2 or more", f + 1, out->ntime);
    return FIT_OK;
}

/* Files that have times of their own: these, and those of the layout. */
static enum fit_status check_file_times(struct api_parts *x, struct fit_error *err)
{
    struct fit_file_time *part = fit_take(&x->times, x->nfile, sizeof *part), all;
    enum fit_status st = part ? FIT_OK : fit_no_memory(err, "arrays of the model");
    for (size_t f = 0; f < x->nfile && st == FIT_OK; f++)
        st = file_times(x, f, &part[f], err);
    x->files = (struct fit_dataset_files){.n = x->nfile};
    if (st != FIT_OK || !fit_file_times_join(part, &x->files, &all, &x->times))
        return st != FIT_OK ? st : fit_no_memory(err, "arrays of the model");
    if (all.ntime < x->d.ntime)
        return fit_fail(err, FIT_ERR_DATA, "%zu frames, but the longest file has %zu with a time", x->d.ntime,
                        all.ntime);
    x->d.step = all.step;
    x->time = malloc(all.ntime * sizeof *x->time);
    if (!x->time)
        return fit_no_memory(err, "arrays of the model");
    memcpy(x->time, all.time, all.ntime * sizeof *x->time);
    x->d.time = x->time;
    return FIT_OK;
}

static enum fit_status check_pairs(struct api_parts *x, struct fit_error *err)
{
    const struct fit_api_data *d = &x->d;
    if (d->ntime < 2)
        return fit_fail(err, FIT_ERR_DATA,
                        "%zu frames: %s is fitted to pairs of frames, give 2 or more", d->ntime,
                        x->k->name);
    const int own = x->nfile > 1 && d->file_step;
    if (!own && (!(d->step > 0) || !isfinite(d->step)))
        return fit_fail(err, FIT_ERR_DATA, "frame period %g s: give a number above 0", d->step);
    if (d->ngroup == 0)
        return fit_fail(err, FIT_ERR_DATA, "no matrices: give 1 or more");
    for (size_t a = 0; a < x->k->naxis; a++)
        for (size_t g = 0; g < d->ngroup; g++)
            if (!d->coord || !d->coord[a] || !isfinite(d->coord[a][g]))
                return fit_fail(
                    err, FIT_ERR_DATA,
                    "%s of matrix %zu is missing or not finite: %s needs one for each (%s)",
                    x->k->axis[a].name, g + 1, x->k->name, x->k->axis[a].unit);
    if (place(x, d->ngroup, d->coord, err) != FIT_OK)
        return err->status;
    if (own)
        return check_file_times(x, err);
    if (d->time)
        return FIT_OK;
    if (!(x->time = count_times(x->k, d->ntime, d->step)))
        return fit_no_memory(err, "arrays of the model");
    x->d.time = x->time;
    return FIT_OK;
}

static enum fit_status check_rows(struct api_parts *x, struct fit_error *err)
{
    const struct fit_kernel *k = x->k;
    if (x->d.nrow == 0)
        return fit_fail(err, FIT_ERR_DATA, "a table without rows");
    x->zero = calloc(x->d.nrow, sizeof *x->zero);
    x->column = calloc(k->ncolumn + 1, sizeof *x->column);
    if (!x->zero || !x->column)
        return fit_no_memory(err, "arrays of the model");
    for (size_t c = 0; c < k->ncolumn; c++) {
        const int covariate = k->column[c].role == FIT_ROLE_COVARIATE;
        const int earlier = k->feedback && k->column[c].role == FIT_ROLE_VALUE;
        x->column[c] = covariate && x->d.column ? x->d.column[c]
                       : covariate              ? NULL
                       : earlier                ? x->d.value
                                                : x->zero;
        if (!x->column[c] && earlier)
            return fit_fail(err, FIT_ERR_DATA,
                            "in the model %s rows follow from what was measured in earlier ones: give the values "
                            "of '%s' (%s), for evaluation too",
                            k->name, k->column[c].name, k->column[c].unit);
        if (!x->column[c])
            return fit_fail(err, FIT_ERR_DATA, "column '%s' (%s) of %s is missing",
                            k->column[c].name, k->column[c].unit, k->name);
    }
    for (size_t a = 0; a < k->naxis; a++)
        if (!x->d.axis || !x->d.axis[a])
            return fit_fail(err, FIT_ERR_DATA,
                            "'%s' (%s) of the rows is missing: it tells the curves of %s apart",
                            k->axis[a].name, k->axis[a].unit, k->name);
    enum fit_status st = place(x, x->d.nrow, x->d.axis, err);
    for (size_t f = 0; f < x->nfile && st == FIT_OK; f++) /* statistics are those of all rows */
        st = fit_statistics_fill(k, "", x->d.nrow, x->column, x->setting + f * k->nsetting, err);
    return st;
}

/* ---- datasets -------------------------------------------------------------------------------- */

static enum fit_status make_pairs(const struct api_parts *x, int values, struct fit_dataset **out,
                                  struct fit_error *err)
{
    const struct fit_api_data *d = &x->d;
    const struct fit_kernel *k = x->k;
    const struct fit_dataset_pairs spec = {.ntime = d->ntime,
                                           .time = d->time,
                                           .step = d->step,
                                           .nframe = d->nframe,
                                           .frame = d->nframe ? d->frame : NULL,
                                           .ngroup = d->ngroup,
                                           .naxis = k->naxis + (x->nfile > 1),
                                           .nsetting = k->nsetting,
                                           .coord = x->place,
                                           .setting = x->setting,
                                           .center = k->intercept >= 0,
                                           .table_doubles = k->table_doubles,
                                           .streamed = !values};
    const size_t one = d->ntime * d->ntime;
    enum fit_status st = fit_dataset_new_pairs(&spec, out, err);
    for (size_t g = 0; values && st == FIT_OK && g < d->ngroup; g++)
        st =
            fit_dataset_put(*out, g, d->value + g * one, d->sigma ? d->sigma + g * one : NULL, err);
    return values && st == FIT_OK ? fit_dataset_finish(*out, err) : st;
}

enum fit_status api_parts_rows(const struct api_parts *x, int values, struct fit_dataset **out, struct fit_error *err)
{
    const struct fit_kernel *k = x->k;
    const struct fit_dataset_table t = {.nrow = x->d.nrow,
                                        .ncolumn = k->ncolumn,
                                        .naxis = k->naxis + (x->nfile > 1),
                                        .nsetting = k->nsetting,
                                        .column = x->column,
                                        .axis = x->place,
                                        .value = values ? x->d.value : x->zero,
                                        .sigma = values ? x->d.sigma : NULL,
                                        .setting = x->setting,
                                        .center = values && k->intercept >= 0,
                                        .keep = k->times != 0};
    enum fit_status st = fit_dataset_new_table(&t, out, err);
    return st == FIT_OK ? fit_dataset_finish(*out, err) : st;
}

enum fit_status api_parts_new(const struct fit_kernel *k, const struct fit_api_data *d, struct api_parts *x,
                              struct fit_error *err)
{
    *x = (struct api_parts){.k = k, .d = *d};
    enum fit_status st = settle(x, err);
    return st == FIT_OK ? check_rows(x, err) : st;
}

void api_parts_free(struct api_parts *x)
{
    free(x->setting);
    free(x->time);
    free(x->column);
    free(x->place);
    free(x->file);
    free(x->zero);
    fit_arena_free(&x->times);
    *x = (struct api_parts){0};
}

/* Several files: settings of each, and a linkage with which the geometry is evaluated. */
static enum fit_status take_files(struct api_parts *x, struct fit_api_problem *p, struct fit_error *err)
{
    const struct fit_layout *l = &p->geometry->layout;
    if (x->nfile == 1)
        return FIT_OK;
    p->of = malloc((l->ngroup + 1) * sizeof *p->of);
    if (!p->of)
        return fit_no_memory(err, "arrays of the model");
    for (size_t g = 0; g < l->ngroup; g++)
        p->of[g] = (size_t)l->coord[x->k->naxis][g] - 1;
    p->setting = x->setting;
    x->setting = NULL;
    p->files = x->files; /* times, if files have their own */
    p->files.n = x->nfile;
    p->files.of = p->of;
    p->files.setting = p->setting;
    p->times = x->times;
    x->times = (struct fit_arena){0};
    p->geometry->files = &p->files;
    if (p->data)
        p->data->files = &p->files;
    const struct fit_linkage_spec spec = {.files = &p->files};
    return fit_linkage_new(x->k, p->geometry, &spec, &p->link, err);
}

static enum fit_status make(struct api_parts *x, struct fit_api_problem *p, struct fit_error *err)
{
    const int pairs = x->k->space == FIT_PAIRS;
    enum fit_status st = settle(x, err);
    if (st == FIT_OK)
        st = pairs ? check_pairs(x, err) : check_rows(x, err);
    if (st == FIT_OK)
        st = pairs ? make_pairs(x, 0, &p->geometry, err) : api_parts_rows(x, 0, &p->geometry, err);
    if (st == FIT_OK && x->d.value)
        st = pairs ? make_pairs(x, 1, &p->data, err) : api_parts_rows(x, 1, &p->data, err);
    return st == FIT_OK ? take_files(x, p, err) : st;
}

API struct fit_api_problem *fit_api_problem_new(const struct fit_api_model *m,
                                                const struct fit_api_data *data)
{
    struct fit_error err = {.status = FIT_OK};
    struct api_parts x = {.k = m->kernel};
    struct fit_api_problem *p = calloc(1, sizeof *p);
    enum fit_status st =
        p ? api_take(&x.d, sizeof x.d, data, "fit_api_data", &err) : fit_no_memory(&err, "arrays of the model");
    if (st == FIT_OK) {
        p->model = m;
        p->kernel = m->kernel;
        st = make(&x, p, &err);
    }
    api_parts_free(&x);
    if (st == FIT_OK)
        return p;
    api_failed(&err);
    fit_api_problem_free(p);
    return NULL;
}

API void fit_api_problem_free(struct fit_api_problem *p)
{
    if (!p)
        return;
    fit_dataset_free(p->geometry);
    fit_dataset_free(p->data);
    fit_linkage_free(p->link);
    free(p->of);
    free(p->setting);
    fit_arena_free(&p->times);
    free(p);
}

API size_t fit_api_groups(const struct fit_api_problem *p)
{
    return p->geometry->layout.ngroup;
}

API const double *fit_api_coord(const struct fit_api_problem *p, size_t axis)
{
    return axis < p->kernel->naxis + (p->files.n > 1) ? p->geometry->layout.coord[axis] : NULL;
}

/* ---- values ---------------------------------------------------------------------------------- */

struct evaluation {
    const struct fit_kernel *k;
    const struct fit_dataset *ds;
    const double *ws, *lin;
    uint32_t *index; /* 3 nframe for each thread */
    double *mean, *jac;
};

/* Turn r of pairs: one row of one matrix. */
static void pair_turn(void *user, size_t r, size_t thread)
{
    const struct evaluation *e = user;
    const struct fit_layout *l = &e->ds->layout;
    const size_t n = l->nframe, full = e->k->nparam + e->k->nlinear;
    uint32_t *i = e->index + thread * 3 * n, *j = i + n, *g = j + n;
    for (size_t c = 0; c < n; c++) {
        i[c] = (uint32_t)(r % n);
        j[c] = (uint32_t)c;
        g[c] = (uint32_t)(r / n);
    }
    fit_jacobian_rows(&(struct fit_tables){e->k, l, e->ws, e->lin}, &(struct fit_points){n, i, j, g},
                      e->mean + r * n, e->jac ? e->jac + r * n * full : NULL);
}

/* Rows in the order of the dataset, which is that of the groups. */
static enum fit_status evaluate_rows(const struct evaluation *e, struct fit_error *err)
{
    const struct fit_dataset *ds = e->ds;
    const size_t full = e->k->nparam + e->k->nlinear;
    enum fit_status st = FIT_OK;
    uint32_t *place = malloc(2 * ds->nrow * sizeof *place);
    unsigned char *counts = calloc(ds->nrow, 1);
    if (!place || !counts) {
        st = fit_no_memory(err, "arrays of the model");
        goto done;
    }
    uint32_t *group = place + ds->nrow;
    for (size_t t = 0; t < ds->ntile; t++)
        for (size_t k = ds->tile[t].i0; k < ds->tile[t].i1; k++) {
            const size_t r = ds->row ? ds->row[k] : k;
            place[r] = (uint32_t)k;
            group[r] = (uint32_t)ds->tile[t].group;
            counts[r] = !ds->tile[t].w || ds->tile[t].w[k - ds->tile[t].i0] > 0;
        }
    fit_jacobian_rows(&(struct fit_tables){e->k, &ds->layout, e->ws, e->lin},
                      &(struct fit_points){ds->nrow, place, NULL, group}, e->mean, e->jac);
    for (size_t r = 0; r < ds->nrow; r++)
        for (size_t c = 0; !counts[r] && c <= full; c++)
            if (c == full)
                e->mean[r] = NAN;
            else if (e->jac)
                e->jac[r * full + c] = NAN;
done:
    free(place);
    free(counts);
    return st;
}

static enum fit_status evaluate_pairs(struct evaluation *e, int threads, struct fit_error *err)
{
    const struct fit_layout *l = &e->ds->layout;
    threads = threads > 0 ? threads : fit_topology_threads();
    e->index = malloc((size_t)threads * 3 * l->nframe * sizeof *e->index);
    if (!e->index)
        return fit_no_memory(err, "arrays of the model");
    fit_team_run((struct fit_team){threads, FIT_TEAM_NEXT}, l->ngroup * l->nframe, pair_turn, e);
    free(e->index);
    return FIT_OK;
}

API int fit_api_evaluate(const struct fit_api_problem *p, const double *param, const double *linear,
                         int threads, double *mean, double *jacobian)
{
    struct fit_error err = {.status = FIT_OK};
    const struct fit_kernel *k = p->link ? &p->link->kernel : p->kernel;
    FIT_SCRATCH(a);
    double *ws = fit_take(&a, k->workspace(&p->geometry->layout), sizeof *ws);
    struct evaluation e = {
        .k = k, .ds = p->geometry, .ws = ws, .lin = linear, .mean = mean, .jac = jacobian};
    enum fit_status st = ws ? FIT_OK : fit_no_memory(&err, "arrays of the model");
    if (st == FIT_OK &&
        k->prepare(&p->geometry->layout, param, jacobian != NULL, ws) != FIT_EVAL_OK)
        st = fit_fail(&err, FIT_ERR_NUMERIC, "the model %s has no finite value at these parameters",
                      k->name);
    if (st == FIT_OK)
        st = k->space == FIT_PAIRS ? evaluate_pairs(&e, threads, &err) : evaluate_rows(&e, &err);
    return st == FIT_OK ? 0 : api_failed(&err);
}
