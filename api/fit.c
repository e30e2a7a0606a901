/* fit.c -- least squares of a problem behind the interface of fit_api.h: the run, and its results. */
#include "errors/derived.h"
#include "errors/profile.h"
#include "api/run.h"
#include "fit/fit.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(atomic_int) == sizeof(int) && ATOMIC_INT_LOCK_FREE == 2, "interrupt is handed through");

/* ---- the run --------------------------------------------------------------------------------- */

static int on_progress(void *user, const struct fit_progress *p)
{
    const struct api_run *r = user;
    const struct fit_api_progress shown = {.size = sizeof shown,
                                           .phase = p->phase ? p->phase : "least squares",
                                           .done = (double)p->iteration,
                                           .value = p->chi2,
                                           .seconds = p->seconds};
    return r->o.progress(r->o.progress_user, &shown);
}

/* Options, links and the kernel to fit with. */
static enum fit_status set_up(const struct fit_api_problem *p, int shared, struct api_run *r,
                              struct fit_error *err)
{
    struct fit_setup *s = &r->setup;
    fit_setup_free(s);
    enum fit_status st = fit_setup_options(r->cfg, p->kernel, p->data, NULL, s, err);
    if (st == FIT_OK && r->o.sigma) {
        memcpy(s->sigma, r->o.sigma, p->data->layout.ngroup * sizeof *s->sigma);
        s->options.sigma = s->sigma;
    }
    if (st == FIT_OK)
        st = fit_setup_links(r->cfg, p->kernel, p->data, shared, s, err);
    r->k = s->link ? &s->link->kernel : p->kernel;
    s->options.start_only = r->o.start_only;
    s->options.interrupt = (const atomic_int *)r->o.interrupt;
    s->options.progress = r->o.progress ? on_progress : NULL;
    s->options.progress_user = r;
    return st;
}

/* Values of groups start from those of a fit in which all groups share them. */
static enum fit_status begin_shared(const struct fit_api_problem *p, struct api_run *r,
                                    struct fit_error *err)
{
    struct fit_result shared;
    enum fit_status st = set_up(p, 1, r, err);
    if (st == FIT_OK)
        st = fit_run(r->k, p->data, &r->setup.options, &shared, err);
    if (st != FIT_OK)
        return st;
    struct fit_linkage *link = r->setup.link;
    r->setup.link = NULL;
    st = set_up(p, 0, r, err);
    if (st == FIT_OK)
        fit_setup_start_from(&r->setup, link, &shared);
    fit_linkage_free(link);
    fit_result_free(&shared);
    return st;
}

/* ---- results -------------------------------------------------------------------------------- */

static enum fit_status show_names(struct api_run *r, struct fit_error *err)
{
    const size_t n = r->own.nfull + r->own.ngroup + r->own.nderived, ntied = r->setup.link ? r->setup.link->ntied : 0;
    r->label = calloc(n + 1, sizeof *r->label);
    r->name = calloc(n + 1, sizeof *r->name);
    r->tied_name = calloc(ntied + 1, sizeof *r->tied_name);
    if (!r->label || !r->name || !r->tied_name)
        return fit_no_memory(err, "result");
    for (size_t k = 0; k < n; k++) {
        fit_samples_name(r->k, r->own.ngroup, k, r->label[k]);
        r->name[k] = r->label[k];
    }
    for (size_t t = 0; t < ntied; t++)
        r->tied_name[t] = r->setup.link->tied[t].name;
    r->shown.name = r->name;
    r->shown.tied_name = r->tied_name;
    r->shown.derived_name = r->name + r->own.nfull + r->own.ngroup;
    return FIT_OK;
}

/* The model's linear parameter q in group g: fitted, or tied to others. */
static double linear_of(const struct api_run *r, const struct fit_kernel *model, size_t g, size_t q)
{
    const struct fit_linkage *link = r->setup.link;
    if (!link)
        return r->own.lin[g * model->nlinear + q];
    for (size_t t = 0; t < link->ntied; t++)
        if (link->tied[t].inner == model->nparam + q && link->tied[t].group == (long)g)
            return fit_linkage_value(link, t, r->own.theta, r->own.lin);
    for (size_t c = 0; c < link->kernel.nlinear; c++)
        if (link->of_linear[c] == q)
            return r->own.lin[g * link->kernel.nlinear + c];
    return NAN;
}

static enum fit_status show_groups(const struct fit_kernel *model, struct api_run *r,
                                   struct fit_error *err)
{
    const struct fit_linkage *link = r->setup.link;
    const size_t ng = r->own.ngroup, n = model->nparam, m = model->nlinear,
                 ntied = link ? link->ntied : 0;
    double *tied = r->number = malloc((2 * ntied + ng * (n + m) + 1) * sizeof *tied);
    if (!tied)
        return fit_no_memory(err, "result");
    double *std = tied + ntied, *param = std + ntied, *linear = param + ng * n;
    for (size_t t = 0; t < ntied; t++) {
        tied[t] = fit_linkage_value(link, t, r->own.theta, r->own.lin);
        std[t] = fit_linkage_std(link, t, r->own.covariance, r->own.nfull);
    }
    for (size_t g = 0; g < ng; g++) {
        if (link)
            fit_linkage_theta(link, g, r->own.theta, param + g * n);
        else
            memcpy(param + g * n, r->own.theta, n * sizeof *param);
        for (size_t q = 0; q < m; q++)
            linear[g * m + q] = linear_of(r, model, g, q);
    }
    r->shown.ntied = ntied;
    r->shown.tied = tied;
    r->shown.tied_std = std;
    r->shown.nmodel = n;
    r->shown.nmodel_linear = m;
    r->shown.group_param = param;
    r->shown.group_linear = linear;
    return FIT_OK;
}

/* For all elements of the full vector: lower, upper of 68 %, then of 95 %. */
static enum fit_status show_intervals(struct api_run *r, struct fit_error *err)
{
    const struct fit_result *f = &r->own;
    double *all = r->interval = malloc((4 * f->nfull + 1) * sizeof *all), lower[2], upper[2];
    if (!all)
        return fit_no_memory(err, "result");
    for (size_t k = 0; k < f->nfull; k++) {
        fit_profile_interval(f, k, lower, upper);
        for (size_t i = 0; i < 2; i++) {
            all[4 * k + 2 * i] = lower[i];
            all[4 * k + 2 * i + 1] = upper[i];
        }
    }
    r->shown.interval = all;
    return FIT_OK;
}

static enum fit_status show_derived(struct api_run *r, struct fit_error *err)
{
    const struct fit_result *f = &r->own;
    const size_t n = f->nderived;
    r->derived_unit = malloc((n + 1) * sizeof *r->derived_unit);
    r->derived_group = malloc((n + 1) * sizeof *r->derived_group);
    r->derived = malloc((7 * n + 1) * sizeof *r->derived);
    if (!r->derived_unit || !r->derived_group || !r->derived)
        return fit_no_memory(err, "result");
    double *value = r->derived, *std = value + n, *robust = std + n, *ends = robust + n, lower[2], upper[2];
    for (size_t k = 0; k < n; k++) {
        const struct fit_derived_value *d = &f->derived[k];
        r->derived_unit[k] = r->k->derived[d->which].unit;
        r->derived_group[k] = d->group;
        value[k] = d->value;
        std[k] = d->std;
        robust[k] = d->std_robust;
        fit_derived_interval(f, d, lower, upper);
        memcpy(ends + 4 * k, (double[]){lower[0], upper[0], lower[1], upper[1]}, 4 * sizeof *ends);
    }
    r->shown.nderived = n;
    r->shown.derived_unit = r->derived_unit;
    r->shown.derived_group = r->derived_group;
    r->shown.derived = value;
    r->shown.derived_std = std;
    r->shown.derived_std_robust = robust;
    r->shown.derived_interval = ends;
    return FIT_OK;
}

/* The verdict as a word and a sentence, the noise distribution. */
static void show_quality(const struct fit_api_problem *p, struct api_run *r)
{
    const struct fit_result *f = &r->own;
    const struct fit_results all = {.kernel = r->k,
                                    .link = r->setup.link,
                                    .config = r->cfg,
                                    .ds = p->data,
                                    .fit = f,
                                    .std_robust = fit_robust_given(&f->robust) ? f->std_robust : NULL};
    r->quality = fit_results_quality(&all);
    r->shown.quality = r->quality.word;
    r->shown.quality_text = r->quality.text;
    r->shown.law = r->k->density ? r->k->density->name : NULL;
    r->shown.log_likelihood = f->log_likelihood;
}

static void show(const struct fit_result *r, struct fit_api_result *to)
{
    *to = (struct fit_api_result){.size = sizeof *to,
                                  .nparam = r->nparam,
                                  .nlinear = r->nlinear,
                                  .ngroup = r->ngroup,
                                  .nfull = r->nfull,
                                  .npoint = r->npoint,
                                  .nfree = r->nfree,
                                  .converged = r->converged,
                                  .status = fit_word_name(r->status),
                                  .message = r->message,
                                  .iterations = r->iterations,
                                  .evaluations = r->evaluations + r->normals,
                                  .chi2 = r->chi2,
                                  .residual_variance = r->residual_variance,
                                  .reduced_chi2 = r->reduced_chi2,
                                  .reduced_chi2_reason = r->reduced_chi2_reason,
                                  .local_sigma = r->local_sigma,
                                  .sigma_common = r->sigma_common,
                                  .seconds = r->seconds.total,
                                  .threads = r->threads,
                                  .param = r->theta,
                                  .linear = r->lin,
                                  .std = r->std,
                                  .std_robust = r->std_robust,
                                  .covariance = r->covariance,
                                  .covariance_robust = r->covariance_robust,
                                  .lower = r->lower,
                                  .upper = r->upper,
                                  .at_bound = r->at_bound,
                                  .start = r->start,
                                  .sigma = r->sigma,
                                  .noise = r->noise_text,
                                  .std_curvature = r->std_curvature};
}

enum fit_status api_run_begin(const struct fit_api_problem *p, const struct fit_api_options *options, int sample,
                              struct api_run *r, struct fit_error *err)
{
    static const struct fit_api_options none = {.size = sizeof none};
    enum fit_status st =
        api_take(&r->o, sizeof r->o, options ? options : &none, "fit_api_options", err);
    if (st == FIT_OK && !p->data)
        st = fit_fail(err, FIT_ERR_USAGE,
                      "fit: the problem was made without values; give fit_api_data.value");
    return st == FIT_OK ? api_configure(p, sample, r, err) : st;
}

enum fit_status api_run_kernel(const struct fit_api_problem *p, struct api_run *r, struct fit_error *err)
{
    return set_up(p, 0, r, err);
}

enum fit_status api_run_again(const struct fit_api_problem *p, struct api_run *r, struct fit_error *err)
{
    enum fit_status st = set_up(p, 0, r, err);
    if (st == FIT_OK && r->setup.copies)
        st = begin_shared(p, r, err);
    if (st == FIT_OK)
        st = fit_run(r->k, p->data, &r->setup.options, &r->own, err);
    r->fitted = st == FIT_OK;
    if (st == FIT_OK)
        show(&r->own, &r->shown);
    if (st == FIT_OK)
        st = show_groups(p->kernel, r, err);
    if (st == FIT_OK)
        st = show_intervals(r, err);
    if (st == FIT_OK)
        st = show_derived(r, err);
    if (st == FIT_OK)
        show_quality(p, r);
    return st;
}

enum fit_status api_run_fit(const struct fit_api_problem *p, const struct fit_api_options *options,
                            int sample, struct api_run *r, struct fit_error *err)
{
    enum fit_status st = api_run_begin(p, options, sample, r, err);
    if (st == FIT_OK)
        st = api_device_begin(p->model->devices, r->o.device, &r->device, err);
    if (st == FIT_OK)
        st = api_run_again(p, r, err);
    return st == FIT_OK ? show_names(r, err) : st;
}

void api_run_end(struct api_run *r)
{
    if (!r)
        return;
    api_device_end(&r->device);
    r->shown.device = r->device.name[0] ? r->device.name : NULL;
    r->shown.device_text = r->device.text;
}

void api_run_clear(struct api_run *r)
{
    if (r->fitted)
        fit_result_free(&r->own);
    r->fitted = 0;
    fit_setup_free(&r->setup);
    free(r->label);
    free(r->name);
    free(r->tied_name);
    free(r->number);
    free(r->interval);
    free(r->derived_unit);
    free(r->derived_group);
    free(r->derived);
    r->label = NULL;
    r->name = r->tied_name = r->derived_unit = NULL;
    r->number = r->interval = r->derived = NULL;
    r->derived_group = NULL;
}

void api_run_free(struct api_run *r)
{
    if (!r)
        return;
    if (r->sampled)
        fit_samples_free(&r->samples);
    fit_predictive_free(&r->predictive);
    fit_sampling_setup_free(&r->posterior);
    api_run_clear(r);
    fit_config_free(r->cfg);
    fit_config_log_free(&r->log);
    free(r->list);
    free(r->column);
    free(r->state);
    free(r->diverging);
    free(r);
}

API const struct fit_api_result *fit_api_fit(const struct fit_api_problem *p,
                                             const struct fit_api_options *options)
{
    struct fit_error err = {.status = FIT_OK};
    struct api_run *r = calloc(1, sizeof *r);
    enum fit_status st = r ? api_run_fit(p, options, 0, r, &err) : fit_no_memory(&err, NULL);
    api_run_end(r);
    if (p->data)
        p->data->layout.context = NULL;
    if (st == FIT_OK)
        return &r->shown;
    api_run_free(r);
    api_failed(&err);
    return NULL;
}

API void fit_api_result_free(const struct fit_api_result *r)
{
    api_run_free((struct api_run *)(uintptr_t)r);
}
