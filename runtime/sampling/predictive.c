/* predictive.c -- see predictive.h. */
#include "sampling/predictive.h"

#include <math.h>
#include <string.h>

#include "math/special.h"
#include "model/law.h"

enum { MOST_ARGUMENTS = 8 };

struct work {
    const struct fit_kernel *k;
    const struct fit_dataset *ds;
    const struct fit_samples *s;
    const double *sigma; /* ngroup; NULL: that of the draws */
    struct fit_predictive *out;
    double *ws, *lin, *mean, *density, *argument;
    double seen, drawn; /* chi2 of the present draw */
};

static int allocate(struct work *w, struct fit_arena *a)
{
    const struct fit_density *d = w->k->density;
    size_t most = 0, values = w->out->chains * w->out->draws * w->out->nrow;
    for (size_t t = 0; t < w->ds->ntile; t++)
        most = w->ds->tile[t].i1 - w->ds->tile[t].i0 > most ? w->ds->tile[t].i1 - w->ds->tile[t].i0 : most;
    most = (most + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
    FIT_TAKE_DOUBLES(a, w->k->workspace(&w->ds->layout), &w->ws);
    FIT_TAKE_DOUBLES(a, most, &w->mean, &w->density);
    FIT_TAKE_DOUBLES(a, w->s->ngroup * w->s->nlinear, &w->lin);
    FIT_TAKE_DOUBLES(a, most * ((d ? d->nargument : 0) + 1), &w->argument);
    FIT_TAKE_DOUBLES(&w->out->storage_, values, &w->out->log_likelihood);
    if (d && fit_law_known(d->law))
        FIT_TAKE_DOUBLES(&w->out->storage_, values, &w->out->y);
    return !a->failed && !w->out->storage_.failed;
}

static size_t row_of(const struct work *w, size_t place)
{
    return w->ds->row ? w->ds->row[place] : place;
}

/* Normal errors: the variance of a row is sigma^2 / w. */
static void take_normal_tile(struct work *w, const struct fit_tile *t, const double *x, size_t at)
{
    const double sigma = w->sigma ? w->sigma[t->group] : x[w->s->nparam + w->s->ngroup * w->s->nlinear + t->group];
    w->k->model(&w->ds->layout, w->ws, w->lin, t, w->mean);
    for (size_t i = 0; i < t->i1 - t->i0; i++) {
        const double weight = t->w ? t->w[i] : 1, precision = weight / (sigma * sigma), r = t->y[i] - w->mean[i];
        if (weight > 0)
            w->out->log_likelihood[at + row_of(w, t->i0 + i)] =
                0.5 * (log(precision) - FIT_LOG_2_PI - r * r * precision);
    }
}

/* Rows of a tile at the present tables; their numbers are at `at`. */
static void take_tile(struct work *w, const struct fit_tile *t, size_t at, struct fit_rng *rng)
{
    const struct fit_density *d = w->k->density;
    const size_t length = (t->i1 - t->i0 + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
    double arg[MOST_ARGUMENTS] = {0};
    w->k->model(&w->ds->layout, w->ws, NULL, t, w->mean);
    d->log_density(&w->ds->layout, w->ws, t, w->density);
    d->arguments(&w->ds->layout, w->ws, t, w->argument);
    for (size_t i = 0; i < t->i1 - t->i0; i++) {
        size_t row = row_of(w, t->i0 + i);
        int counts = !t->w || t->w[i] > 0;
        for (size_t a = 0; a < d->nargument && a < MOST_ARGUMENTS; a++)
            arg[a] = w->argument[a * length + i];
        w->out->log_likelihood[at + row] = counts ? w->density[i] : NAN;
        if (!w->out->y)
            continue;
        double y = fit_law_draw(d->law, w->mean[i], arg, rng), s = fit_law_deviation(d->law, w->mean[i], arg);
        w->out->y[at + row] = y;
        if (counts && s > 0) {
            w->seen += (t->y[i] - w->mean[i]) * (t->y[i] - w->mean[i]) / (s * s);
            w->drawn += (y - w->mean[i]) * (y - w->mean[i]) / (s * s);
        }
    }
}

/* 1: the simulated data scatter more; 1/2 when as much; NaN: unknown. */
static double take_draw(struct work *w, const double *x, size_t at, struct fit_rng *rng)
{
    const size_t n = w->out->nrow, nl = w->s->nlinear;
    for (size_t r = 0; r < n; r++) {
        w->out->log_likelihood[at + r] = NAN;
        if (w->out->y)
            w->out->y[at + r] = NAN;
    }
    w->seen = w->drawn = 0;
    for (size_t e = 0; e < w->s->ngroup * nl; e++) /* values of tiles are less the reference of their group */
        w->lin[e] = x[w->s->nparam + e] - ((int)(e % nl) == w->k->intercept ? w->ds->reference[e / nl] : 0);
    if (w->k->prepare(&w->ds->layout, x, 0, w->ws) != FIT_EVAL_OK)
        return NAN;
    for (size_t t = 0; t < w->ds->ntile; t++)
        if (w->k->density)
            take_tile(w, &w->ds->tile[t], at, rng);
        else
            take_normal_tile(w, &w->ds->tile[t], x, at);
    return !w->out->y || !isfinite(w->seen) || !isfinite(w->drawn) ? NAN
           : w->drawn > w->seen                                    ? 1
           : w->drawn < w->seen                                    ? 0
                                                                   : 0.5;
}

/* Predicted values of every draw, and how often they deviate more than the data. */
static void take_draws(struct work *w)
{
    const struct fit_samples *s = w->s;
    struct fit_predictive *out = w->out;
    double more = 0, n = 0;
    for (size_t c = 0; c < out->chains; c++)
        for (size_t d = 0; d < out->draws; d++) {
            struct fit_rng rng = {.seed = s->seed,
                                  .chain = (uint32_t)c,
                                  .iteration = (uint32_t)(d * out->step),
                                  .purpose = FIT_RNG_PREDICT};
            double is = take_draw(w, s->x + (c * s->draws + d * out->step) * s->ncolumn,
                                  (c * out->draws + d) * out->nrow, &rng);
            more += isnan(is) ? 0 : is;
            n += !isnan(is);
        }
    out->p = n > 0 ? more / n : NAN;
}

enum fit_status fit_predictive_new(const struct fit_posterior_setup *setup, const struct fit_samples *s,
                                   struct fit_predictive *out, struct fit_error *err)
{
    const struct fit_dataset *ds = setup->ds;
    struct work w = {.k = setup->kernel, .ds = ds, .s = s, .out = out};
    if (setup->variance == FIT_VARIANCE_KNOWN && !ds->weighted)
        w.sigma = setup->sigma;
    *out = (struct fit_predictive){.chains = s->chains, .p = NAN};
    if (setup->kernel->space == FIT_PAIRS || !ds->tile[0].y || s->chains * s->draws == 0 ||
        ds->nrow > FIT_PREDICTIVE_VALUES / 100)
        return FIT_OK;
    size_t most = FIT_PREDICTIVE_VALUES / (ds->nrow * s->chains);
    out->nrow = ds->nrow;
    out->step = (s->draws + most - 1) / (most ? most : 1);
    out->step = out->step ? out->step : 1;
    out->draws = (s->draws + out->step - 1) / out->step;
    FIT_SCRATCH(a);
    if (!allocate(&w, &a)) {
        fit_predictive_free(out);
        return fit_no_memory(err, "posterior, predicted values");
    }
    take_draws(&w);
    return FIT_OK;
}

void fit_predictive_free(struct fit_predictive *p)
{
    fit_arena_free(&p->storage_);
    *p = (struct fit_predictive){0};
}
