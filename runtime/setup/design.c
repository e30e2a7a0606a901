/* design.c -- what an experiment can determine. See design.h. */
#include "setup/design.h"

#include "base/units.h"
#include "fit/efficient.h"
#include "fit/fit.h"
#include "input/select.h"
#include "machine/team.h"
#include "machine/topology.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double VALUES_MOST = 2e7; /* above, only every s-th frame is used: a second or two */

/* ---- the experiment -------------------------------------------------------------------------- */

/* As measurement.c makes them from a file. */
static void make_time(const struct fit_config *cfg, const struct fit_plan_design *d, double *time)
{
    struct fit_selection sel;
    fit_selection_from_config(cfg, &sel);
    double origin = sel.first_time;
    if (sel.time_origin == FIT_TIME_FILE)
        origin += d->dt * (double)(sel.first > 1 ? sel.first - 1 : 0);
    else if (sel.time_origin == FIT_TIME_STEP)
        origin += d->dt;
    for (size_t i = 0; i < d->frames; i++)
        time[i] = origin + d->dt * (double)i;
}

/* Frames that are used: not masked, every stride-th. */
static size_t choose_frames(const struct fit_config *cfg, const struct fit_plan_design *d, size_t stride,
                            uint32_t *frame)
{
    struct fit_selection sel;
    size_t n = 0;
    fit_selection_from_config(cfg, &sel);
    long first = sel.first > 1 ? sel.first : 1;
    for (size_t i = sel.exclude_t0 ? 1 : 0; i < d->frames; i += stride) {
        int out = 0;
        for (size_t m = 0; m < sel.nmask; m++)
            out |= (long)i + first >= sel.mask[m].first && (long)i + first <= sel.mask[m].last;
        if (!out)
            frame[n++] = (uint32_t)i;
    }
    return n;
}

static enum fit_status fill_settings(const struct fit_config *cfg, const struct fit_kernel *k,
                                     const struct fit_plan_design *d, double *setting, struct fit_error *err)
{
    for (size_t i = 0; i < k->nsetting; i++) {
        const char *name = k->setting[i].name, *unit = k->setting[i].unit;
        const int means = fit_units_means(name, unit);
        const int is_q = means && strcmp(name, "q") == 0 && !isnan(d->q[0]);
        setting[i] = means && strcmp(name, "dt") == 0 ? fit_units_to_model(name, unit, d->dt)
                     : is_q                           ? fit_units_to_model(name, unit, d->q[0])
                     : !isnan(cfg->setting[i].value)  ? cfg->setting[i].value
                                                      : k->setting[i].value;
        if (isnan(setting[i]))
            return fit_fail(err, FIT_ERR_CONFIG, "plan: the setting %s (%s) is not known; give --%s", name,
                            k->setting[i].unit, name);
    }
    return FIT_OK;
}

static enum fit_status fill_axis(const struct fit_kernel *k, size_t a, const struct fit_plan_design *d, double *value,
                                 const double **coord, struct fit_error *err)
{
    const struct fit_axis *x = &k->axis[a];
    const int q = strcmp(x->name, "q") == 0;
    *coord = value;
    if (!q && strcmp(x->name, "phi") != 0)
        return fit_fail(err, FIT_ERR_CONFIG, "plan: knows the axes q and phi, not %s", x->name);
    for (size_t g = 0; g < d->ngroup; g++)
        value[g] = fit_units_to_model(x->name, x->unit, q ? d->q[g] : d->phi[g]);
    return FIT_OK;
}

/* Leaves out so many frames that the number of values stays below the limit. */
static void choose_stride(const struct fit_plan_design *d, struct fit_plan *p)
{
    p->values = 0.5 * (double)d->frames * (double)(d->frames - 1) * (double)d->ngroup;
    p->stride = 1;
    while (p->values / (double)(p->stride * p->stride) > VALUES_MOST)
        p->stride++;
}

static enum fit_status new_dataset(const struct fit_config *cfg, const struct fit_kernel *k,
                                   const struct fit_plan_design *d, struct fit_plan *p, struct fit_error *err)
{
    FIT_SCRATCH(scratch);
    double *time = fit_take(&scratch, d->frames, sizeof *time);
    double *setting = fit_take(&scratch, k->nsetting, sizeof *setting);
    double *place = fit_take(&scratch, d->ngroup * k->naxis, sizeof *place);
    uint32_t *frame = fit_take(&scratch, d->frames, sizeof *frame);
    const double **coord = fit_take(&scratch, k->naxis, sizeof *coord);
    enum fit_status st = scratch.failed ? fit_no_memory(err, "plan") : fill_settings(cfg, k, d, setting, err);
    if (st != FIT_OK)
        return st;
    choose_stride(d, p);
    make_time(cfg, d, time);
    for (size_t a = 0; a < k->naxis && st == FIT_OK; a++)
        st = fill_axis(k, a, d, place + a * d->ngroup, &coord[a], err);
    struct fit_dataset_pairs spec = {.ntime = d->frames,
                                     .time = time,
                                     .step = d->dt,
                                     .nframe = choose_frames(cfg, d, p->stride, frame),
                                     .frame = frame,
                                     .ngroup = d->ngroup,
                                     .naxis = k->naxis,
                                     .nsetting = k->nsetting,
                                     .coord = coord,
                                     .setting = setting,
                                     .center = k->intercept >= 0,
                                     .table_doubles = k->table_doubles};
    if (p->stride == 1)
        p->values = 0.5 * (double)spec.nframe * (double)(spec.nframe - 1) * (double)d->ngroup;
    if (st == FIT_OK && spec.nframe < 3)
        st = fit_fail(err, FIT_ERR_CONFIG, "plan: %zu frames are left; at least 3 are needed", spec.nframe);
    if (st == FIT_OK)
        st = fit_dataset_new_pairs(&spec, &p->ds, err);
    return st;
}

/* ---- its values ------------------------------------------------------------------------------ */

struct values {
    const struct fit_kernel *k;
    const struct fit_layout *l;
    const double *ws, *lin;
    uint32_t *index; /* 3 nframe for each thread */
    double *mean;    /* nframe for each thread */
    double *matrix;  /* ntime x ntime */
    uint32_t group;
};

static void one_row(void *user, size_t i, size_t thread)
{
    const struct values *v = user;
    const struct fit_layout *l = v->l;
    size_t n = l->nframe, m = 0;
    uint32_t *a = v->index + thread * 3 * n, *b = a + n, *g = b + n;
    double *mean = v->mean + thread * n;
    for (size_t j = i + 1; j < n; j++, m++) {
        a[m] = (uint32_t)i;
        b[m] = (uint32_t)j;
        g[m] = v->group;
    }
    if (m)
        v->k->points(l, v->ws, v->lin, &(struct fit_points){m, a, b, g}, mean, NULL);
    for (size_t c = 0; c < m; c++)
        v->matrix[l->frame[i] * l->ntime + l->frame[b[c]]] = mean[c];
}

/* Parameters for which the experiment is evaluated: the starts of the fit. */
static void fill_truth(const struct fit_plan *p, const double *linear, double *theta, double *lin)
{
    const struct fit_options *o = &p->setup.options;
    const struct fit_kernel *k = p->kernel;
    linear = p->setup.link ? NULL : linear; /* of the model's own parameters */
    for (size_t j = 0; j < k->nparam; j++)
        theta[j] = o->start && !isnan(o->start[j]) ? o->start[j] : k->param[j].start;
    for (size_t e = 0; e < p->ds->layout.ngroup * k->nlinear; e++)
        lin[e] = o->linear_start && !isnan(o->linear_start[e]) ? o->linear_start[e]
                 : linear && !isnan(linear[e % k->nlinear])        ? linear[e % k->nlinear]
                                                                   : k->linear[e % k->nlinear].start;
}

static enum fit_status put_values(struct fit_plan *p, const double *theta, const double *lin, struct fit_error *err)
{
    const struct fit_layout *l = &p->ds->layout;
    const struct fit_kernel *k = p->kernel;
    int threads = fit_topology_threads();
    size_t n = l->nframe, all = (size_t)threads * n;
    FIT_SCRATCH(a);
    double *ws = fit_take(&a, k->workspace(l), sizeof *ws);
    struct values v = {.k = k,
                       .l = l,
                       .ws = ws,
                       .lin = lin,
                       .index = fit_take(&a, 3 * all, sizeof *v.index),
                       .mean = fit_take(&a, all, sizeof *v.mean),
                       .matrix = fit_take(&a, l->ntime * l->ntime, sizeof *v.matrix)};
    enum fit_status st = a.failed ? fit_no_memory(err, "plan") : FIT_OK;
    if (st == FIT_OK && k->prepare(l, theta, 0, ws) != FIT_EVAL_OK)
        st = fit_fail(err, FIT_ERR_NUMERIC, "plan: the model has no finite value at these parameters");
    for (; v.group < l->ngroup && st == FIT_OK; v.group++) {
        fit_team_run((struct fit_team){threads, FIT_TEAM_NEXT}, n, one_row, &v);
        st = fit_dataset_put(p->ds, v.group, v.matrix, NULL, err);
    }
    if (st == FIT_OK)
        st = fit_dataset_finish(p->ds, err);
    return st;
}

/* ---- its errors ------------------------------------------------------------------------------ */

/* Every s-th frame represents s frames, so its shot noise is divided by s. */
static enum fit_status under_speckles(struct fit_plan *p, const struct fit_plan_design *d, const struct fit_options *o,
                                      struct fit_error *err)
{
    const struct fit_efficient_plan spec = {p->kernel, p->ds, o, &p->fit,
                                            {FIT_NOISE_KIND_SPECKLE, d->count, d->shot / (double)p->stride}};
    double *plain = NULL, *efficient = NULL;
    FIT_TAKE_DOUBLES(&p->storage_, p->fit.nfull, &plain, &efficient);
    if (p->storage_.failed)
        return fit_no_memory(err, "plan");
    const enum fit_status st = fit_efficient_errors(&spec, plain, efficient, err);
    if (st == FIT_ERR_CONFIG)
        snprintf(p->why, sizeof p->why, "%.190s", err->message);
    if (st != FIT_OK)
        return st == FIT_ERR_CONFIG ? FIT_OK : st;
    p->plain = plain;
    p->efficient = efficient;
    return FIT_OK;
}

static enum fit_status run(struct fit_plan *p, const struct fit_plan_design *d, struct fit_error *err)
{
    const struct fit_kernel *k = p->kernel;
    size_t ngroup = p->ds->layout.ngroup;
    FIT_SCRATCH(a);
    double *theta = fit_take(&a, k->nparam, sizeof *theta), *lin = fit_take(&a, ngroup * k->nlinear, sizeof *lin);
    double *sigma = fit_take(&a, ngroup, sizeof *sigma);
    struct fit_options o = p->setup.options;
    if (a.failed)
        return fit_no_memory(err, "plan");
    fill_truth(p, d->linear, theta, lin);
    for (size_t g = 0; g < ngroup; g++)
        sigma[g] = d->sigma[g] / (double)p->stride;
    o.start = theta;
    o.linear_start = lin;
    o.sigma = sigma;
    o.loss = FIT_LOSS_LINEAR;
    o.start_only = 1;
    o.multi_start = 0;
    o.global = 0;
    enum fit_status st = put_values(p, theta, lin, err);
    if (st == FIT_OK)
        st = fit_run(k, p->ds, &o, &p->fit, err);
    return st == FIT_OK && d->count > 0 && d->shot > 0 ? under_speckles(p, d, &o, err) : st;
}

enum fit_status fit_plan_run(const struct fit_config *cfg, const struct fit_kernel *kernel,
                             const struct fit_plan_design *design, struct fit_plan *p, struct fit_error *err)
{
    *p = (struct fit_plan){.kernel = kernel};
    if (fit_config_scaling(cfg, design->ngroup) == FIT_SCALING_CONSTANT)
        for (size_t q = 0; q < kernel->nlinear; q++)
            if (cfg->param[kernel->nparam + q].automatic)
                return fit_fail(err, FIT_ERR_CONFIG,
                                "plan: with constant scaling %s has to be given: --start %s=VALUE",
                                kernel->linear[q].name, kernel->linear[q].name);
    enum fit_status st = new_dataset(cfg, kernel, design, p, err);
    if (st == FIT_OK)
        st = fit_setup_options(cfg, kernel, p->ds, NULL, &p->setup, err);
    if (st == FIT_OK)
        st = fit_setup_links(cfg, kernel, p->ds, 0, &p->setup, err);
    if (st == FIT_OK && p->setup.link)
        p->kernel = &p->setup.link->kernel;
    return st == FIT_OK ? run(p, design, err) : st;
}

void fit_plan_free(struct fit_plan *p)
{
    fit_result_free(&p->fit);
    fit_arena_free(&p->storage_);
    fit_setup_free(&p->setup);
    fit_dataset_free(p->ds);
    *p = (struct fit_plan){0};
}
