/* sequence.c -- fits every group of data alone; see sequence.h. */
#include "setup/sequence.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "fit/fit.h"

struct alone {
    const struct fit_config *cfg;
    const struct fit_kernel *model;
    const struct fit_dataset *ds;
    const struct fit_setup *setup;
    const struct fit_result *joint;
    double *theta; /* of the model, of the joint fit */
};

void fit_sequence_outcome(const struct fit_result *r, struct fit_sequence_row *row)
{
    row->status = r->status;
    row->converged = r->converged;
    row->reduced_chi2 = r->reduced_chi2;
    row->chi2 = r->chi2;
    row->npoint = r->npoint;
    row->fitted = 1;
    snprintf(row->text, sizeof row->text, "%.250s", r->message);
}

enum fit_status fit_sequence_new(size_t n, const struct fit_kernel *model, struct fit_sequence_result *out,
                                 struct fit_error *err)
{
    size_t m = model->nparam + model->nlinear;
    *out = (struct fit_sequence_result){.n = n, .nvalue = m};
    struct fit_arena *a = &out->storage_;
    out->row = fit_take(a, n, sizeof *out->row);
    for (size_t g = 0; out->row && g < n; g++) {
        struct fit_sequence_row *row = &out->row[g];
        row->coord = NAN;
        FIT_TAKE_DOUBLES(a, m, &row->value, &row->std, &row->robust);
        row->at_bound = fit_take(a, m, sizeof *row->at_bound);
    }
    if (!a->failed)
        return FIT_OK;
    fit_sequence_free(out);
    return fit_no_memory(err, "sequence");
}

/* The part of the whole fit's options that belongs to this group. */
static void choose_values(const struct alone *a, size_t g, struct fit_setup *s)
{
    const struct fit_kernel *k = a->model;
    for (size_t q = 0; q < k->nlinear; q++) {
        const struct fit_config_param *c = &a->cfg->param[k->nparam + q];
        if (c->list.n == a->ds->layout.ngroup)
            s->linear_start[q] = c->list.value[g];
    }
}

static void choose_start(const struct alone *a, size_t g, struct fit_setup *s)
{
    size_t n = s->link ? s->link->kernel.nparam : a->model->nparam;
    if (a->setup->link)
        fit_linkage_theta(a->setup->link, g, a->joint->theta, a->theta);
    else
        memcpy(a->theta, a->joint->theta, a->model->nparam * sizeof *a->theta);
    for (size_t u = 0; u < n; u++)
        if (!s->fixed[u])
            s->start[u] = fmin(fmax(a->theta[s->link ? s->link->of[u] : u], s->lower[u]), s->upper[u]);
    s->options.start_origin = "fit of all groups";
    s->options.interrupt = a->setup->options.interrupt;
    if (a->setup->options.sigma) {
        s->sigma[0] = a->setup->options.sigma[g];
        s->options.sigma = s->sigma;
    }
}

/* Values of the model's parameters, tied ones too. */
static void take(const struct alone *a, const struct fit_setup *s, const struct fit_result *r,
                 struct fit_sequence_row *row)
{
    const struct fit_linkage *link = s->link;
    size_t p = a->model->nparam, q = a->model->nlinear, n = r->nparam, c = r->nlinear;
    for (size_t e = 0; e < p + q; e++)
        row->value[e] = row->std[e] = row->robust[e] = NAN;
    for (size_t u = 0; u < n + c; u++) {
        size_t e = !link ? u : u < n ? link->of[u] : p + link->of_linear[u - n];
        row->value[e] = u < n ? r->theta[u] : r->lin[u - n];
        row->std[e] = r->std[u];
        row->robust[e] = fit_robust_given(&r->robust) ? r->std_robust[u] : NAN;
        row->at_bound[e] = r->at_bound[u];
    }
    for (size_t t = 0; link && t < link->ntied; t++) {
        size_t e = link->tied[t].inner;
        row->value[e] = fit_linkage_value(link, t, r->theta, r->lin);
        row->std[e] = fit_linkage_std(link, t, r->covariance, r->nfull);
        if (fit_robust_given(&r->robust))
            row->robust[e] = fit_linkage_std(link, t, r->covariance_robust, r->nfull);
    }
    fit_sequence_outcome(r, row);
}

static enum fit_status one(struct alone *a, size_t g, struct fit_sequence_row *row, struct fit_error *err)
{
    struct fit_dataset *ds = NULL;
    struct fit_setup s = {0};
    struct fit_result r;
    enum fit_status st = fit_dataset_group(a->ds, g, &ds, err);
    if (st == FIT_OK)
        st = fit_setup_options(a->cfg, a->model, ds, NULL, &s, err);
    if (st == FIT_OK) {
        choose_values(a, g, &s);
        if (s.options.scaling != FIT_SCALING_CONSTANT)
            s.options.scaling = FIT_SCALING_INDIVIDUAL; /* one group: all modes are the same */
        st = fit_setup_links(a->cfg, a->model, ds, 1, &s, err);
    }
    if (st == FIT_OK) {
        choose_start(a, g, &s);
        st = fit_run(s.link ? &s.link->kernel : a->model, ds, &s.options, &r, err);
    }
    if (st == FIT_OK) {
        take(a, &s, &r, row);
        fit_result_free(&r);
    } else {
        snprintf(row->text, sizeof row->text, "%.250s", err->message);
    }
    fit_setup_free(&s);
    fit_dataset_free(ds);
    return st == FIT_ERR_MEMORY || st == FIT_ERR_INTERRUPTED ? st : FIT_OK;
}

enum fit_status fit_sequence(const struct fit_config *cfg, const struct fit_kernel *model,
                             const struct fit_dataset *ds, const struct fit_setup *setup,
                             const struct fit_result *joint, struct fit_sequence_result *out, struct fit_error *err)
{
    size_t n = ds->layout.ngroup;
    FIT_SCRATCH(scratch);
    double begin = fit_seconds(), *theta = fit_take(&scratch, model->nparam, sizeof *theta);
    enum fit_status st = theta ? fit_sequence_new(n, model, out, err)
                               : fit_no_memory(err, "sequence");
    struct alone a = {cfg, model, ds, setup, joint, theta};
    for (size_t g = 0; st == FIT_OK && model->naxis && g < n; g++)
        out->row[g].coord = ds->layout.coord[0][g];
    int made = st == FIT_OK;
    for (size_t g = 0; g < n && st == FIT_OK; g++)
        st = one(&a, g, &out->row[g], err);
    out->seconds = fit_seconds() - begin;
    if (st != FIT_OK && made)
        fit_sequence_free(out);
    return st;
}

void fit_sequence_free(struct fit_sequence_result *s)
{
    fit_arena_free(&s->storage_);
    *s = (struct fit_sequence_result){0};
}
