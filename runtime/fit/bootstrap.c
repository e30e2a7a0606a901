/* bootstrap.c -- fits to replicated data, in parallel; see bootstrap.h. */
#include "fit/bootstrap.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "data/quantiles.h"
#include "device/device.h"
#include "errors/scores.h"
#include "fit/fit.h"
#include "leastsquares/objective.h"
#include "machine/team.h"
#include "machine/topology.h"
#include "ranks/ranks.h"
#include "math/rng.h"
#include "math/special.h"

enum { L = FIT_LANES, MOST_WORKERS = 64 };
/* Streams of random numbers, with the replicate in the low half. */
static const uint64_t NOISE_STREAM = 0x51000000u, DRAW_STREAM = 0x52000000u;

struct job {
    const struct fit_kernel *kernel;
    const struct fit_dataset *ds;
    const struct fit_bootstrap_spec *spec;
    const struct fit_result *res;
    struct fit_options options;
    struct fit_dataset *mean;  /* parametric: y is the model */
    double *ws, *lin;          /* of the model at the result */
    size_t length, clusters;   /* block: frames, or rows, of a cluster; clusters of pairs */
    size_t *order;             /* block of a table, length > 1: places of a group in the order of the coordinate */
    size_t nworker;
    struct fit_dataset *replica[MOST_WORKERS];
    double *times[MOST_WORKERS]; /* block: ngroup x clusters, or places of rows */
    double *draw;              /* n x nfull */
    unsigned char *good;       /* n */
    struct fit_error *err;     /* of each replicate */
    enum fit_status *status;
    struct fit_arena storage;
};

/* ---- values of the model --------------------------------------------------------------------------------------- */

static void model_tile(void *user, const struct fit_tile *t, double *values, size_t place)
{
    const struct job *j = user;
    (void)place;
    j->kernel->model(&j->ds->layout, j->ws, j->lin, t, values);
}

static enum fit_status make_mean(struct job *j, struct fit_error *err)
{
    const struct fit_kernel *k = j->kernel;
    size_t q = k->nlinear;
    enum fit_status st = fit_dataset_replica(j->ds, 0, &j->mean, err);
    if (st != FIT_OK)
        return st;
    j->ws = fit_take(&j->storage, k->workspace(&j->ds->layout), sizeof *j->ws);
    j->lin = fit_take(&j->storage, j->ds->layout.ngroup * q, sizeof *j->lin);
    if (j->storage.failed)
        return fit_no_memory(err, "bootstrap");
    for (size_t e = 0; e < j->ds->layout.ngroup * q; e++)
        j->lin[e] = j->res->lin[e] - ((int)(e % q) == k->intercept ? j->ds->reference[e / q] : 0);
    if (k->prepare(&j->ds->layout, j->res->theta, 0, j->ws) != FIT_EVAL_OK)
        return fit_fail(err, FIT_ERR_NUMERIC, "bootstrap: the model is not finite at the result");
    return fit_dataset_rewrite(j->mean, model_tile, j, err);
}

/* ---- one replicate of the data --------------------------------------------------------------------------------- */

struct making {
    const struct job *j;
    uint64_t replicate;
    const double *times;
    const double *mean; /* all tiles */
};

/* Vectors of a tile in the order of the data: group, first column (or place of a row). */
typedef void vector_fn(const struct making *m, size_t g, size_t i, size_t column, size_t at, const struct fit_tile *t,
                       double *values, size_t place);

static void each_vector(const struct making *m, const struct fit_tile *t, double *values, size_t place, vector_fn *fn)
{
    size_t at = 0;
    if (m->j->kernel->space == FIT_ROWS) {
        for (size_t b = t->i0 / L; b * L < t->i1; b++, at += L)
            fn(m, t->group, b * L, b * L, at, t, values, place);
        return;
    }
    for (size_t i = t->i0; i < t->i1; i++)
        for (size_t b = (t->j0 > i + 1 ? t->j0 : i + 1) / L; b * L < t->j1; b++)
            for (size_t g = 0; g < m->j->ds->layout.ngroup; g++, at += L)
                fn(m, g, i, b * L, at, t, values, place);
}

static void noise_vector(const struct making *m, size_t g, size_t i, size_t column, size_t at,
                         const struct fit_tile *t, double *values, size_t place)
{
    double sigma = m->j->ds->weighted ? 1 : m->j->res->sigma[g], z[L];
    (void)i;
    (void)column;
    for (size_t k = 0; k < L; k += 2)
        fit_rng_normal(m->j->spec->seed, NOISE_STREAM + m->replicate, (place + at + k) / 2, z + k);
    for (size_t k = 0; k < L; k++) {
        double w = t->w ? t->w[at + k] : 1;
        values[at + k] = m->mean[place + at + k] + (w > 0 ? sigma / sqrt(w) : 0) * z[k];
    }
}

static void times_vector(const struct making *m, size_t g, size_t i, size_t column, size_t at,
                         const struct fit_tile *t, double *values, size_t place)
{
    const struct fit_layout *l = &m->j->ds->layout;
    const double *times = m->times + (m->j->kernel->space == FIT_PAIRS ? g * m->j->clusters : 0);
    size_t last = m->j->kernel->space == FIT_PAIRS ? l->nframe : l->nrow;
    (void)place;
    for (size_t k = 0; k < L; k++) {
        size_t j = column + k;
        double w = t->w ? t->w[at + k] : 1, n = 0;
        if (m->j->kernel->space == FIT_ROWS) {
            n = j < last ? times[j] : 0;
        } else if (j > i && j < last) {
            size_t a = i / m->j->length, b = j / m->j->length;
            n = a == b ? 0.5 * (1 + times[a]) : 0.5 * (times[a] + times[b]);
        }
        values[at + k] = w * n;
    }
}

static void rewrite(void *user, const struct fit_tile *t, double *values, size_t place)
{
    const struct making *m = user;
    each_vector(m, t, values, place, m->j->spec->kind == FIT_BOOTSTRAP_PARAMETRIC ? noise_vector : times_vector);
}

/* Draws n of n with replacement; adds to times[first ..]. */
static void draw(const struct job *j, uint64_t replicate, uint64_t from, size_t n, double *times)
{
    for (size_t k = 0; k < n; k += 2) {
        double u[2];
        fit_rng_uniform(j->spec->seed, DRAW_STREAM + replicate, (from << 32) + k / 2, u);
        for (size_t h = 0; h < 2 && k + h < n; h++)
            times[(size_t)(u[h] * (double)n)] += 1;
    }
}

static void draw_clusters(const struct job *j, uint64_t replicate, double *times)
{
    memset(times, 0, j->ds->layout.ngroup * j->clusters * sizeof *times);
    for (size_t g = 0; g < j->ds->layout.ngroup; g++)
        draw(j, replicate, j->spec->joint ? 0 : g, j->clusters, times + g * j->clusters);
}

/* Rows of a group follow one another; padding between groups does not count. */
static void each_group(const struct fit_dataset *ds, void (*fn)(void *user, size_t g, size_t first, size_t n),
                       void *user)
{
    for (size_t k = 0, g = 0; k < ds->ntile; g++) {
        size_t first = ds->tile[k].i0, last = first;
        for (; k < ds->ntile && ds->tile[k].group == g; k++)
            last = ds->tile[k].i1;
        fn(user, g, first, last - first);
    }
}

struct drawing {
    const struct job *j;
    uint64_t replicate;
    double *times;
};

/* Single rows; or blocks of consecutive rows by the coordinate, the first after the last (Politis & Romano, in
 * Exploring the Limits of Bootstrap, 1992), until there are as many rows as in the data. */
static void draw_group(void *user, size_t g, size_t first, size_t n)
{
    const struct drawing *d = user;
    const struct job *j = d->j;
    if (j->length == 1) {
        draw(j, d->replicate, g, n, d->times + first);
        return;
    }
    for (size_t done = 0, k = 0; done < n; k++) {
        double u[2];
        fit_rng_uniform(j->spec->seed, DRAW_STREAM + d->replicate, ((uint64_t)g << 32) + k, u);
        for (size_t i = 0, start = (size_t)(u[0] * (double)n); i < j->length && done < n; i++, done++)
            d->times[first + j->order[first + (start + i) % n]] += 1;
    }
}

static void draw_rows(const struct job *j, uint64_t replicate, double *times)
{
    struct drawing d = {j, replicate, times};
    memset(times, 0, j->ds->layout.nrow * sizeof *times);
    each_group(j->ds, draw_group, &d);
}

static void order_group(void *user, size_t g, size_t first, size_t n)
{
    struct job *j = user;
    const size_t c = fit_score_coordinate(j->kernel);
    (void)g;
    if (c < j->kernel->ncolumn)
        fit_sort_index(n, j->ds->layout.column[c] + first, j->order + first);
    else
        for (size_t k = 0; k < n; k++)
            j->order[first + k] = k;
}

/* Doubles the shift that halved weight changes have caused; the result stays inside its bounds. */
static void double_moves(const struct job *j, double *x)
{
    const struct fit_result *r = j->res;
    for (size_t e = 0; e < r->nfull; e++) {
        double best = e < r->nparam ? r->theta[e] : r->lin[e - r->nparam], v = best + 2 * (x[e] - best);
        x[e] = fmin(fmax(v, r->lower[e]), r->upper[e]);
    }
}

/* ---- one fit --------------------------------------------------------------------------------------------------- */

static void replicate(void *user, size_t k, size_t thread)
{
    struct job *j = user;
    struct fit_result r;
    struct making m = {j, k, j->times[thread], j->mean ? j->mean->tile[0].y : NULL};
    if (j->options.interrupt && *j->options.interrupt) {
        j->status[k] = fit_fail(&j->err[k], FIT_ERR_INTERRUPTED, "bootstrap: interrupted");
        return;
    }
    if (j->spec->kind == FIT_BOOTSTRAP_BLOCK && j->kernel->space == FIT_PAIRS)
        draw_clusters(j, k, j->times[thread]);
    else if (j->spec->kind == FIT_BOOTSTRAP_BLOCK)
        draw_rows(j, k, j->times[thread]);
    j->status[k] = fit_dataset_rewrite(j->replica[thread], rewrite, &m, &j->err[k]);
    if (j->status[k] == FIT_OK)
        j->status[k] = fit_run(j->kernel, j->replica[thread], &j->options, &r, &j->err[k]);
    if (j->status[k] != FIT_OK)
        return;
    double *to = j->draw + k * r.nfull;
    memcpy(to, r.theta, r.nparam * sizeof *to);
    memcpy(to + r.nparam, r.lin, (r.nfull - r.nparam) * sizeof *to);
    if (j->spec->kind == FIT_BOOTSTRAP_BLOCK && j->kernel->space == FIT_PAIRS)
        double_moves(j, to);
    j->good[k] = r.converged != 0;
    fit_result_free(&r);
}

/* ---- all of them ----------------------------------------------------------------------------------------------- */

static size_t data_doubles(const struct fit_dataset *ds)
{
    size_t n = 0;
    for (size_t k = 0; k < ds->ntile; k++)
        n += fit_tile_doubles(&ds->layout, &ds->tile[k]);
    return n;
}

static enum fit_status prepare(struct job *j, struct fit_error *err)
{
    const struct fit_bootstrap_spec *s = j->spec;
    size_t threads = s->threads > 0 ? (size_t)s->threads : (size_t)fit_topology_threads();
    size_t places = j->kernel->space == FIT_PAIRS ? 0 : j->ds->layout.nrow;
    enum fit_status st = FIT_OK;
    if (j->kernel->space == FIT_PAIRS) {
        j->length = s->length ? s->length : j->res->robust.length ? j->res->robust.length : 1;
        j->clusters = (j->ds->layout.nframe + j->length - 1) / j->length;
        places = j->clusters * j->ds->layout.ngroup;
    } else if (s->kind == FIT_BOOTSTRAP_BLOCK) {
        j->length = s->length ? s->length : 1;
        if (!(j->order = fit_take(&j->storage, places, sizeof *j->order)))
            return fit_no_memory(err, "bootstrap");
        if (j->length > 1)
            each_group(j->ds, order_group, j);
    }
    if (fit_objective_on_device(j->kernel, j->ds, 1))
        threads = (size_t)fit_device_threads((int)threads, s->n);
    double each = (double)data_doubles(j->ds) * 8e-6, fit = s->most_mb / fmax(each, 1e-3);
    j->nworker = threads < MOST_WORKERS ? threads : MOST_WORKERS;
    if (fit < (double)j->nworker)
        j->nworker = fit > 1 ? (size_t)fit : 1;
    if (j->nworker > s->n)
        j->nworker = s->n;
    j->options.threads = j->nworker > 1 ? 1 : (int)threads;
    if (s->kind == FIT_BOOTSTRAP_PARAMETRIC)
        st = make_mean(j, err);
    for (size_t k = 0; k < j->nworker && st == FIT_OK; k++) {
        st = fit_dataset_replica(j->ds, s->kind == FIT_BOOTSTRAP_BLOCK, &j->replica[k], err);
        j->times[k] = fit_take(&j->storage, places, sizeof **j->times);
        if (st == FIT_OK && !j->times[k])
            st = fit_no_memory(err, "bootstrap");
    }
    return st;
}

static enum fit_status first_failure(const struct job *j, struct fit_error *err)
{
    for (size_t k = 0; k < j->spec->n; k++)
        if (j->status[k] == FIT_ERR_MEMORY || j->status[k] == FIT_ERR_INTERRUPTED || j->status[k] == FIT_ERR_CONFIG) {
            *err = j->err[k];
            return j->status[k];
        }
    return FIT_OK;
}

/* Moments and quantiles of the valid draws. */
static enum fit_status summarise(struct job *j, struct fit_bootstrap *out, struct fit_error *err)
{
    FIT_SCRATCH(a);
    static const double level[4] = {2.5, 16, 84, 97.5};
    size_t n = out->nfull;
    for (size_t k = 0; k < out->n; k++)
        if (j->good[k])
            memmove(out->draw + out->good++ * n, out->draw + k * n, n * sizeof *out->draw);
    double *x = fit_take(&a, out->good, sizeof *x);
    if (!x)
        return fit_no_memory(err, "bootstrap");
    if (2 * out->good < out->n || out->good < 2)
        return fit_fail(err, FIT_ERR_NUMERIC, "bootstrap: only %zu of %zu fits came to their end", out->good, out->n);
    for (size_t e = 0; e < n; e++) {
        double sum = 0, square = 0;
        for (size_t k = 0; k < out->good; k++)
            sum += x[k] = out->draw[k * n + e];
        double mean = sum / (double)out->good;
        for (size_t k = 0; k < out->good; k++)
            square += (x[k] - mean) * (x[k] - mean);
        int held = !(j->res->upper[e] > j->res->lower[e]);
        out->mean[e] = held ? NAN : mean;
        out->std[e] = held ? NAN : sqrt(square / (double)(out->good - 1));
        for (size_t p = 0; p < 4; p++)
            out->quantile[4 * e + p] = held ? NAN : fit_percentile(x, out->good, level[p]);
    }
    return FIT_OK;
}

static void set_options(struct job *j, const struct fit_options *from)
{
    struct fit_options *o = &j->options;
    *o = *from;
    o->start = j->res->theta;
    o->start_origin = "the result";
    o->start_only = 1;
    o->multi_start = 0;
    o->global = 0;
    o->brief = 1;
    o->likelihood = NULL;
    o->nlikelihood = 0;
    o->progress = NULL;
    o->max_seconds = 0;
    if (!j->ds->weighted && o->loss == FIT_LOSS_LINEAR) /* weights of the groups as they were */
        o->sigma = j->res->sigma;
}

static void release(struct job *j)
{
    for (size_t k = 0; k < j->nworker; k++)
        fit_dataset_replica_free(j->replica[k]);
    fit_dataset_replica_free(j->mean);
    fit_arena_free(&j->storage);
}

enum fit_status fit_bootstrap(const struct fit_kernel *kernel, const struct fit_dataset *ds,
                              const struct fit_options *options, const struct fit_result *res,
                              const struct fit_bootstrap_spec *spec, struct fit_bootstrap *out, struct fit_error *err)
{
    struct job j = {.kernel = kernel, .ds = ds, .spec = spec, .res = res};
    size_t n = spec->n, nfull = res->nfull;
    double begin = fit_seconds();
    *out = (struct fit_bootstrap){.kind = spec->kind, .n = n, .nfull = nfull};
    FIT_TAKE_DOUBLES(&out->storage_, nfull, &out->mean, &out->std);
    FIT_TAKE_DOUBLES(&out->storage_, 4 * nfull, &out->quantile);
    FIT_TAKE_DOUBLES(&out->storage_, n * nfull, &out->draw);
    j.draw = out->draw;
    j.good = fit_take(&j.storage, n, sizeof *j.good);
    j.err = fit_take(&j.storage, n, sizeof *j.err);
    j.status = fit_take(&j.storage, n, sizeof *j.status);
    enum fit_status st = out->storage_.failed || j.storage.failed ? fit_no_memory(err, "bootstrap") : FIT_OK;
    set_options(&j, options);
    if (st == FIT_OK && (st = prepare(&j, err)) == FIT_OK) {
        out->length = spec->kind == FIT_BOOTSTRAP_BLOCK ? j.length : 0;
        fit_ranks_run((struct fit_team){(int)j.nworker, FIT_TEAM_NEXT}, n, replicate, &j);
        fit_ranks_spread(j.draw, n, nfull * sizeof *j.draw);
        fit_ranks_spread(j.good, n, sizeof *j.good);
        fit_ranks_spread(j.status, n, sizeof *j.status);
        fit_ranks_spread(j.err, n, sizeof *j.err);
        if ((st = first_failure(&j, err)) == FIT_OK)
            st = summarise(&j, out, err);
    }
    release(&j);
    out->seconds = fit_seconds() - begin;
    if (st != FIT_OK)
        fit_bootstrap_free(out);
    return st;
}

void fit_bootstrap_free(struct fit_bootstrap *b)
{
    fit_arena_free(&b->storage_);
    *b = (struct fit_bootstrap){0};
}
