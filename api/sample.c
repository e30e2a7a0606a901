/* sample.c -- the posterior of a problem (sampling.h) behind the interface of fit_api.h. */
#include "api/run.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

static int on_progress(void *user, const struct fit_sampling_progress *p)
{
    const struct api_run *r = user;
    const struct fit_api_progress shown = {.size = sizeof shown,
                                           .phase = "sampling",
                                           .done = p->done,
                                           .total = p->total,
                                           .value = p->divergences,
                                           .seconds = p->seconds};
    return r->o.progress(r->o.progress_user, &shown);
}

enum { MEAN, SD, Q025, MEDIAN, Q975, R_HAT, ESS_BULK, ESS_TAIL, COLUMNS };
enum { ENERGY, ACCEPT, STEP, DEPTH, STATES };

static void show_columns(struct api_run *r)
{
    const struct fit_samples *s = &r->samples;
    const size_t n = s->ncolumn;
    struct fit_api_draws *d = &r->drawn;
    for (size_t k = 0; k < n; k++) {
        const struct fit_column_summary *c = &s->column[k];
        const double of[COLUMNS] = {[MEAN] = c->c.mean,         [SD] = c->c.sd,
                                    [Q025] = c->q025,           [MEDIAN] = c->median,
                                    [Q975] = c->q975,           [R_HAT] = c->c.r_hat,
                                    [ESS_BULK] = c->c.ess_bulk, [ESS_TAIL] = c->c.ess_tail};
        for (size_t e = 0; e < COLUMNS; e++)
            r->column[e * n + k] = of[e];
    }
    d->mean = r->column + MEAN * n;
    d->sd = r->column + SD * n;
    d->q025 = r->column + Q025 * n;
    d->median = r->column + MEDIAN * n;
    d->q975 = r->column + Q975 * n;
    d->r_hat = r->column + R_HAT * n;
    d->ess_bulk = r->column + ESS_BULK * n;
    d->ess_tail = r->column + ESS_TAIL * n;
}

static void show_states(struct api_run *r)
{
    const struct fit_samples *s = &r->samples;
    const size_t n = s->chains * s->draws;
    struct fit_api_draws *d = &r->drawn;
    for (size_t k = 0; k < n; k++) {
        r->state[ENERGY * n + k] = s->stats[k].energy;
        r->state[ACCEPT * n + k] = s->stats[k].accept_stat;
        r->state[STEP * n + k] = s->stats[k].step;
        r->state[DEPTH * n + k] = s->stats[k].tree_depth;
        r->diverging[k] = s->stats[k].divergent > 0;
    }
    d->energy = r->state + ENERGY * n;
    d->accept = r->state + ACCEPT * n;
    d->step = r->state + STEP * n;
    d->depth = r->state + DEPTH * n;
    d->diverging = r->diverging;
}

static enum fit_status show(struct api_run *r, struct fit_error *err)
{
    const struct fit_samples *s = &r->samples;
    const size_t n = s->chains * s->draws;
    r->column = malloc((COLUMNS * s->ncolumn + 1) * sizeof *r->column);
    r->state = malloc((STATES * n + 1) * sizeof *r->state);
    r->diverging = malloc(n + 1);
    if (!r->column || !r->state || !r->diverging)
        return fit_no_memory(err, "draws");
    r->drawn = (struct fit_api_draws){.size = sizeof r->drawn,
                                      .fit = &r->shown,
                                      .chains = s->chains,
                                      .draws = s->draws,
                                      .warmup = s->warmup,
                                      .ncolumn = s->ncolumn,
                                      .name = r->name,
                                      .x = s->x,
                                      .x_robust = s->x_robust,
                                      .lp = s->lp,
                                      .complete = s->complete,
                                      .verdict = (int)s->verdict,
                                      .verdict_word = fit_verdict_word(s->verdict),
                                      .verdict_text = s->verdict_text,
                                      .max_r_hat = s->worst_r_hat,
                                      .min_ess = s->least_ess,
                                      .divergences = s->stats ? s->divergences : NAN,
                                      .pareto_k = s->pareto_k,
                                      .seconds = s->seconds.total,
                                      .seed = s->seed,
                                      .nrow = r->predictive.nrow,
                                      .kept = r->predictive.draws,
                                      .step_kept = r->predictive.step,
                                      .log_likelihood = r->predictive.log_likelihood,
                                      .predictive = r->predictive.y,
                                      .p_scatter = r->predictive.p};
    show_columns(r);
    if (s->stats)
        show_states(r);
    return FIT_OK;
}

static enum fit_status sample(const struct fit_api_problem *p, struct api_run *r,
                              struct fit_error *err)
{
    struct fit_sampling_setup *s = &r->posterior;
    if (r->own.status == FIT_INTERRUPTED)
        return fit_fail(err, FIT_ERR_INTERRUPTED, "the fit before the sampling was stopped: there are no draws");
    enum fit_status st = fit_sampling_setup(r->cfg, r->k, p->data, &r->setup, &r->own, s, err);
    if (st != FIT_OK)
        return st;
    s->options.progress = r->o.progress ? on_progress : NULL;
    s->options.progress_user = r;
    s->options.interrupt = (const atomic_int *)r->o.interrupt;
    st = fit_sample(&s->posterior, &r->own, &s->options, &r->samples, err);
    r->sampled = st == FIT_OK;
    if (st == FIT_OK && !s->table.made)
        st = fit_predictive_new(&s->posterior, &r->samples, &r->predictive, err);
    return st == FIT_OK ? show(r, err) : st;
}

API const struct fit_api_draws *fit_api_sample(const struct fit_api_problem *p,
                                               const struct fit_api_options *options)
{
    struct fit_error err = {.status = FIT_OK};
    struct api_run *r = calloc(1, sizeof *r);
    enum fit_status st = r ? api_run_fit(p, options, 1, r, &err) : fit_no_memory(&err, NULL);
    if (st == FIT_OK)
        st = sample(p, r, &err);
    api_run_end(r);
    if (p->data)
        p->data->layout.context = NULL;
    if (st == FIT_OK)
        return &r->drawn;
    api_run_free(r);
    api_failed(&err);
    return NULL;
}

API void fit_api_draws_free(const struct fit_api_draws *d)
{
    if (d)
        api_run_free((struct api_run *)(uintptr_t)d->fit);
}
