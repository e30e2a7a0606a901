/* nuts.c -- draws of images by the no-U-turn sampler (sampler/sampler.h).
 *
 * Coordinates are those of the optimizer; for a coordinate ln I the density is exp(-s J), over I, times the factor
 * I. */
#include "imaging/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sampler/diagnostics.h"
#include "sampler/sampler.h"

enum { WARMUP = 500, MOST = 4000, MOST_DENSE = 300 };

struct density {
    struct fit_imaging_run *r;
    double scale;
    unsigned char *is_log; /* coordinates */
    struct fit_progress_view *view;
};

static enum fit_eval evaluate(void *user, size_t chain, const double *x, double *lp, double *g)
{
    const struct density *d = user;
    struct fit_imaging_run *r = d->r;
    (void)chain;
    if (r->interrupt && atomic_load(r->interrupt))
        return FIT_EVAL_STOP;
    for (size_t k = 0; k < r->n; k++)
        r->full[r->place[k]] = x[k];
    *lp = -d->scale * fit_bound_value(r->q->bound, r->full, g ? r->gradient : NULL);
    for (size_t k = 0; k < r->n; k++) {
        *lp += d->is_log[k] ? x[k] : 0;
        if (g)
            g[k] = -d->scale * r->gradient[r->place[k]] + d->is_log[k];
    }
    return isfinite(*lp) ? FIT_EVAL_OK : FIT_EVAL_REJECT;
}

static int watch(void *user, const struct fit_sampler *s)
{
    const struct density *d = user;
    double total;
    const double done = fit_sampler_done(s, &total);
    fit_progress_part(d->view, done, total);
    return 0;
}

/* An initial width of coordinate k: at most that of ln I under an exponential distribution; a third where the normal
 * approximation has none. */
static double width(const struct density *d, const struct fit_imaging_spread *laplace, size_t at, size_t k)
{
    const struct fit_imaging_run *r = d->r;
    const int is_I = at != FIT_BOUND_NOWHERE && r->place[k] >= at && r->place[k] < at + r->q->n;
    const double sd = is_I ? laplace->sd[0][r->place[k] - at] : 0;
    if (!is_I)
        return 0.1;
    if (d->is_log[k])
        return sd > 0 ? fmin(sd * exp(-r->x[k]), 1.3) : 0.3;
    return sd > 0 ? sd : 0.3 * fabs(r->x[k]);
}

static void first_spread(const struct density *d, const struct fit_imaging_spread *laplace, double *covariance)
{
    const struct fit_imaging_run *r = d->r;
    const size_t at = fit_bound_place(r->q->bound, fit_imaging_free_name[FIT_FREE_X]), n = r->n;
    memset(covariance, 0, n * n * sizeof *covariance);
    for (size_t k = 0; k < n; k++)
        covariance[k * n + k] = fmax(pow(width(d, laplace, at, k), 2), 1e-12);
}

/* The planes of draw i: means and variances by Welford's recurrence. */
static void add_draw(struct fit_imaging_run *r, const double *x, size_t i, struct fit_imaging_spread *out)
{
    struct fit_imaging_output output[FIT_IMAGING_OUTPUTS];
    const size_t n = r->q->n;
    for (size_t k = 0; k < r->n; k++)
        r->full[r->place[k]] = x[k];
    fit_bound_value(r->q->bound, r->full, NULL);
    fit_imaging_outputs(r->q, output);
    fit_imaging_image(r->q, r->full, out->draw + i * n);
    for (size_t p = 0; p < out->noutput; p++)
        for (size_t k = 0; k < n; k++) {
            const double value = p ? output[p].values[k] : out->draw[i * n + k], d = value - out->mean[p][k];
            out->mean[p][k] += d / (double)(i + 1);
            out->sd[p][k] += d * (value - out->mean[p][k]);
        }
}

static void take_planes(struct fit_imaging_run *r, const struct fit_sampler *s, struct fit_imaging_spread *out)
{
    const size_t n = r->q->n;
    size_t i = 0;
    for (size_t p = 0; p < out->noutput; p++)
        memset(out->sd[p], 0, n * sizeof(double));
    for (size_t c = 0; c < out->chains; c++)
        for (size_t k = 0; k < fit_sampler_count(s, c); k++)
            add_draw(r, fit_sampler_draws(s, c) + k * r->n, i++, out);
    for (size_t p = 0; p < out->noutput; p++)
        for (size_t k = 0; k < n; k++)
            out->sd[p][k] = sqrt(out->sd[p][k] / (double)(out->ndraw - 1));
}

/* The worst coordinate. */
static enum fit_status judge(const struct fit_imaging_run *r, const struct fit_sampler *s,
                             struct fit_imaging_spread *out, struct fit_error *err)
{
    const double *x[64];
    enum fit_status status = FIT_OK;
    out->ess = INFINITY;
    for (size_t c = 0; c < out->chains; c++) {
        struct fit_chain_health h;
        fit_chain_health(fit_sampler_stats(s, c), fit_sampler_count(s, c), 10, &h);
        out->divergent += h.divergences;
    }
    for (size_t k = 0; status == FIT_OK && k < r->n; k++) {
        struct fit_convergence v;
        for (size_t c = 0; c < out->chains; c++)
            x[c] = fit_sampler_draws(s, c) + k;
        const struct fit_draws d = {
            .chains = out->chains, .draws = fit_sampler_count(s, 0), .x = x, .stride = r->n};
        status = fit_convergence(&d, &v, err);
        out->r_hat = fmax(out->r_hat, v.r_hat);
        out->ess = fmin(out->ess, fmin(v.ess_bulk, v.ess_tail));
    }
    return status;
}

static enum fit_status sample(struct density *d, const struct fit_sampler_options *so, struct fit_imaging_spread *out,
                              struct fit_error *err)
{
    struct fit_imaging_run *r = d->r;
    const struct fit_target target = {.n = r->n, .user = d, .eval = evaluate};
    struct fit_sampler *s = NULL;
    FIT_OWNED double *covariance = malloc(r->n * r->n * sizeof *covariance);
    enum fit_status status = covariance ? fit_sampler_new(&target, so, &s, err) : fit_no_memory(err, "draws");
    if (status == FIT_OK) {
        first_spread(d, out, covariance);
        fit_progress_phase(d->view, "draws of images");
        status = fit_sampler_start(s, &(struct fit_sampler_start){.mode = r->x, .covariance = covariance}, err);
    }
    if (status == FIT_OK)
        status = fit_sampler_run(s, &(struct fit_sampler_watch){.watch = watch, .user = d, .seconds = 0.2}, err);
    fit_progress_clear(d->view);
    if (status == FIT_OK) {
        take_planes(r, s, out);
        status = judge(r, s, out, err);
    }
    fit_sampler_free(s);
    return status;
}

static void say(struct fit_imaging *q, const struct fit_imaging_spread *out)
{
    if (out->r_hat > 1.01 || out->ess < 400)
        fit_notes_add(&q->notes,
                      "the draws have not converged (R-hat %.3f, %.0f effective draws of the worst unknown): more "
                      "--draws",
                      out->r_hat, out->ess);
    if (out->divergent > 0)
        fit_notes_add(&q->notes, "%.0f of %zu draws end on a divergence: parts of the density were not reached",
                      out->divergent, out->ndraw);
}

enum fit_status fit_imaging_nuts(struct fit_imaging_run *r, const struct fit_imaging_options *o,
                                 struct fit_progress_view *view, struct fit_imaging_spread *out, struct fit_error *err)
{
    const size_t draws = o->draws ? o->draws : 1000;
    const struct fit_sampler_options so = {
        .chain = {.seed = o->seed, .warmup = WARMUP, .diagonal = r->n > MOST_DENSE},
        .chains = out->chains = o->chains ? o->chains : 4,
        .draws = draws};
    if (r->n > MOST || out->chains > 64)
        return fit_fail(err, FIT_ERR_CONFIG, "draws of %zu unknowns in %zu chains: at most %d, and 64 chains, are "
                                             "possible; --uncertainty laplace",
                        r->n, out->chains, MOST);
    out->is_nuts = 1;
    out->ndraw = out->chains * draws;
    out->draw = fit_take(&out->arena, out->ndraw * r->q->n, sizeof *out->draw);
    struct density d = {.r = r, .scale = out->scale, .is_log = fit_take(&out->arena, r->n, 1), .view = view};
    for (size_t p = 0; p < out->noutput; p++)
        out->mean[p] = fit_take(&out->arena, r->q->n, sizeof(double));
    if (out->arena.failed)
        return fit_no_memory(err, "draws");
    const size_t at = fit_bound_place(r->q->bound, fit_imaging_free_name[FIT_FREE_X]);
    for (size_t k = 0; k < r->n; k++)
        d.is_log[k] = !o->no_log && at != FIT_BOUND_NOWHERE && r->place[k] >= at && r->place[k] < at + r->q->n;
    const enum fit_status s = sample(&d, &so, out, err);
    if (s == FIT_OK)
        say(r->q, out);
    fit_imaging_conclude(r); /* the last evaluation must be at the image again */
    return s;
}
