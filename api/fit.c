/* fit.c -- least squares of a problem (fit.h) behind the interface of fit_api.h. */
#include "api.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* A result with what it points into. */
struct fit {
    struct fit_api_result shown; /* first: its address is that of the whole */
    struct fit_result own;
};

_Static_assert(sizeof(sig_atomic_t) == sizeof(int), "interrupt is handed through");

struct word {
    const char *name;
    int value;
};

static const struct word losses[] = {{"linear", FIT_LOSS_LINEAR}, {"soft_l1", FIT_LOSS_SOFT_L1},
                                     {"huber", FIT_LOSS_HUBER},   {"cauchy", FIT_LOSS_CAUCHY},
                                     {"arctan", FIT_LOSS_ARCTAN}, {NULL, 0}};
static const struct word scalings[] = {{"individual", FIT_SCALING_INDIVIDUAL},
                                       {"averaged", FIT_SCALING_AVERAGED},
                                       {"constant", FIT_SCALING_CONSTANT},
                                       {"hierarchical", FIT_SCALING_HIERARCHICAL},
                                       {NULL, 0}};

/* *value <- what word means; left alone when there is none. */
static enum fit_status find_word(const struct word *list, const char *what, const char *word,
                                 int *value, struct fit_error *err)
{
    char all[160] = "";
    if (!word)
        return FIT_OK;
    for (const struct word *w = list; w->name; w++) {
        if (strcmp(w->name, word) == 0) {
            *value = w->value;
            return FIT_OK;
        }
        strcat(strcat(all, w == list ? "" : ", "),
               w->name); /* of the tables above, which are short */
    }
    return fit_fail(err, FIT_ERR_USAGE, "%s: '%s' is not known; there are %s", what, word, all);
}

static enum fit_status translate(const struct fit_api_options *o, struct fit_options *to,
                                 struct fit_error *err)
{
    int loss = FIT_LOSS_LINEAR, scaling = FIT_SCALING_INDIVIDUAL;
    fit_options_default(to);
    enum fit_status st = find_word(losses, "loss", o->loss, &loss, err);
    if (st == FIT_OK)
        st = find_word(scalings, "scaling", o->scaling, &scaling, err);
    to->loss = (enum fit_loss)loss;
    to->scaling = (enum fit_scaling)scaling;
    to->start = o->start;
    to->lower = o->lower;
    to->upper = o->upper;
    to->fixed = o->fixed;
    to->linear_start = o->linear_start;
    to->linear_lower = o->linear_lower;
    to->linear_upper = o->linear_upper;
    to->linear_fixed = o->linear_fixed;
    to->sigma = o->sigma;
    to->f_scale = o->f_scale > 0 ? o->f_scale : to->f_scale;
    to->max_iterations = o->max_iterations ? o->max_iterations : to->max_iterations;
    to->max_seconds = o->max_seconds;
    to->start_only = o->start_only;
    to->multi_start = o->multi_start;
    to->global = o->global;
    to->seed = o->seed;
    to->threads = o->threads;
    to->interrupt = (const volatile sig_atomic_t *)o->interrupt;
    return st;
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
                                  .reduced_chi2 = r->reduced_chi2,
                                  .goodness = r->goodness,
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
                                  .noise = r->noise_text};
}

API const struct fit_api_result *fit_api_fit(const struct fit_api_problem *p,
                                             const struct fit_api_options *options)
{
    static const struct fit_api_options none = {.size = sizeof none};
    struct fit_error err = {.status = FIT_OK};
    struct fit_api_options o;
    struct fit_options opt;
    struct fit *f = calloc(1, sizeof *f);
    enum fit_status st =
        f ? api_take(&o, sizeof o, options ? options : &none, "fit_api_options", &err)
          : fit_fail(&err, FIT_ERR_MEMORY, "out of memory");
    if (st == FIT_OK && !p->data)
        st = fit_fail(&err, FIT_ERR_USAGE,
                      "fit: the problem was made without values; give fit_api_data.value");
    if (st == FIT_OK)
        st = translate(&o, &opt, &err);
    if (st == FIT_OK)
        st = fit_run(p->kernel, p->data, &opt, &f->own, &err);
    if (st != FIT_OK) {
        free(f);
        api_failed(&err);
        return NULL;
    }
    show(&f->own, &f->shown);
    return &f->shown;
}

API void fit_api_result_free(const struct fit_api_result *r)
{
    struct fit *f = (struct fit *)(uintptr_t)r;
    if (f)
        fit_result_free(&f->own);
    free(f);
}
