/* plan_data.c -- the information for a plan in a data file; see plan_data.h. */
#include "setup/plan_data.h"

#include "fit/measured.h"
#include "input/measurement.h"
#include "setup/memory_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double DECAYED = 0.1; /* fraction of the contrast that may be left at the longest lags */
static const double SAME_Q = 1e-9; /* relative, as select.c has it */

/* The command line describes the planned experiment, not the file. */
static void leave_out_options(const struct fit_config *cfg, struct fit_selection *sel)
{
    const struct fit_config_input *in = &cfg->input;
    if (cfg->angles.list.from.kind == FIT_FROM_COMMAND)
        sel->nlist = 0;
    if (in->start_frame.from.kind == FIT_FROM_COMMAND || in->end_frame.from.kind == FIT_FROM_COMMAND) {
        sel->first = 1;
        sel->last = -1;
    }
    if (in->dt.from.kind == FIT_FROM_COMMAND)
        sel->dt_policy = FIT_DT_FILE;
    if (in->sigma.from.kind == FIT_FROM_COMMAND)
        sel->sigma = FIT_SIGMA_AUTO;
}

static enum fit_status load(const struct fit_config *cfg, struct fit_selection *sel, const double *setting,
                            struct fit_measurement **m, struct fit_error *err)
{
    struct fit_memory_plan plan;
    enum fit_status st = fit_memory_plan(sel, cfg->nlsq.memory_fraction.value, &plan, err);
    sel->memory = plan.data_limit;
    return st == FIT_OK ? fit_measurement_load(sel, cfg->kernel, setting, m, err) : st;
}

/* A file without a period takes that of the command line; one without the requested q its lowest. */
static enum fit_status load_somehow(const struct fit_config *cfg, const double *setting, struct fit_measurement **m,
                                    struct fit_error *err)
{
    struct fit_selection sel;
    fit_selection_from_config(cfg, &sel);
    leave_out_options(cfg, &sel);
    enum fit_status st = load(cfg, &sel, setting, m, err);
    if (st != FIT_OK && cfg->input.dt.from.kind == FIT_FROM_COMMAND) {
        sel.dt_policy = FIT_DT_STRICT;
        st = load(cfg, &sel, setting, m, err);
    }
    if (st != FIT_OK && cfg->input.q.from.kind == FIT_FROM_COMMAND) {
        sel.q = NAN;
        sel.nq = 0;
        sel.first_q = 1;
        st = load(cfg, &sel, setting, m, err);
    }
    return st;
}

/* Rings of q, and the azimuths of the first. */
static enum fit_status take_groups(const struct fit_measurement *m, struct fit_plan_data *d, struct fit_error *err)
{
    FIT_TAKE_DOUBLES(&d->storage_, m->ngroup, &d->q, &d->phi);
    if (d->storage_.failed)
        return fit_no_memory(err, "plan");
    for (size_t g = 0; g < m->ngroup; g++) {
        const struct fit_group *x = &m->group[g];
        if (!d->nq || fabs(x->q - d->q[d->nq - 1]) > SAME_Q * x->q)
            d->q[d->nq++] = x->q;
        if (d->nq == 1)
            d->phi[d->nphi++] = isnan(x->phi) ? 0 : x->phi;
    }
    return FIT_OK;
}

/* Means of the cuts at the first lag, and over the last tenth of the lags, of all ages and matrices. */
static void take_contrast(const struct fit_kernel *k, const struct fit_maps *maps, struct fit_plan_data *d)
{
    const size_t n = maps->nlag, last = n - n / 10 - 1;
    double head = 0, tail = 0, nhead = 0, ntail = 0;
    const int has = k->nlinear == 2 && k->intercept >= 0 && strcmp(k->linear[k->intercept].name, "offset") == 0 &&
                    strcmp(k->linear[1 - k->intercept].name, "contrast") == 0;
    for (size_t c = 0; has && c < maps->ngroup * FIT_MAPS_AGES; c++) {
        const double *g2 = maps->g2 + c * n;
        if (isfinite(g2[0])) {
            head += g2[0];
            nhead++;
        }
        for (size_t l = last; l < n; l++)
            if (isfinite(g2[l])) {
                tail += g2[l];
                ntail++;
            }
    }
    if (!has || nhead <= 0 || ntail <= 0)
        return;
    const struct fit_param *contrast = &k->linear[1 - k->intercept], *offset = &k->linear[k->intercept];
    head /= nhead;
    tail /= ntail;
    d->offset = tail - offset->start > DECAYED * (head - offset->start) ? offset->start : tail;
    d->contrast = fmin(fmax(head - d->offset, contrast->lower), contrast->upper);
}

static enum fit_status take_values(const struct fit_config *cfg, const struct fit_measurement *m,
                                   struct fit_plan_data *d, struct fit_error *err)
{
    struct fit_measured seen;
    enum fit_status st = fit_measured_new(cfg->kernel, m->dataset, (int)cfg->threads.value, &seen, err);
    if (st != FIT_OK)
        return st;
    double square = 0, n = 0;
    for (size_t g = 0; g < m->ngroup && !m->dataset->weighted; g++)
        if (seen.sigma[g] > 0) {
            square += seen.sigma[g] * seen.sigma[g];
            n++;
        }
    d->sigma = n > 0 ? sqrt(square / n) : NAN;
    take_contrast(cfg->kernel, seen.maps, d);
    fit_measured_free(&seen);
    return FIT_OK;
}

enum fit_status fit_plan_data_read(const struct fit_config *cfg, struct fit_plan_data *d, struct fit_error *err)
{
    struct fit_measurement *m = NULL;
    struct fit_error own = {0};
    FIT_SCRATCH(a);
    double *setting = fit_take(&a, cfg->nsetting, sizeof *setting);
    *d = (struct fit_plan_data){.sigma = NAN, .contrast = NAN, .offset = NAN, .dt = NAN};
    if (!setting)
        return fit_no_memory(err, "plan");
    d->file = cfg->input.path.n ? cfg->input.path.value[0] : NULL;
    for (size_t i = 0; i < cfg->nsetting; i++) /* values need none; an unknown one is requested later */
        setting[i] = isnan(cfg->setting[i].value) ? 1 : cfg->setting[i].value;
    enum fit_status st = d->file ? load_somehow(cfg, setting, &m, &own) : FIT_OK;
    if (st == FIT_OK && m)
        st = take_groups(m, d, &own);
    if (st == FIT_OK && m)
        st = take_values(cfg, m, d, &own);
    if (st == FIT_OK && m) {
        d->frames = m->ntime;
        d->dt = m->dt;
    } else if (st != FIT_OK) {
        snprintf(d->why, sizeof d->why, "%.290s", own.message);
        d->nq = d->nphi = 0;
    }
    fit_measurement_free(m);
    return st == FIT_ERR_MEMORY ? fit_fail(err, st, "%s", own.message) : FIT_OK;
}

void fit_plan_data_free(struct fit_plan_data *d)
{
    fit_arena_free(&d->storage_);
    *d = (struct fit_plan_data){0};
}
