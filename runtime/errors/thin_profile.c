/* thin_profile.c -- see thin_profile.h.
 *
 * The dataset of a sketch: sums of weights and residuals over the pairs of the data are assigned to cells, one for each
 * pair of thinned frames and each group, tile after tile in their order, so that they have the same bits for any number
 * of threads. The sketch is the fit of the model to this dataset.
 */
#include "errors/thin_profile.h"

#include "leastsquares/problem.h"
#include "math/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FRAMES = 80,       /* of the thinned data, about: 3160 pairs of each group */
    FRAMES_ENOUGH = 2, /* times as many frames the data must have: thinning then saves three quarters */
    STEPS = 25,        /* of a run, which begins near its end */
    PATIENT = 3        /* steps after which a run at high costs is given up */
};

struct drawing {
    const struct fit_kernel *kernel;
    const struct fit_layout *all;
    struct fit_dataset *thin, *drawn, *weighed; /* measured values; those drawn; these with weights */
    size_t n;       /* thinned frames */
    uint32_t *near; /* of each used frame of the data: the nearest thinned one */
    double *w, *wr; /* cells, n x n for each group: weights; the same times residual */
    double *ws, *lin, *theta;
    double *row;         /* mean and derivatives at the pairs of a row */
    uint32_t *i, *j, *g; /* and their places */
    struct fit_arena storage;
};

/* ---- cells ----------------------------------------------------------------------------------- */

static void find_nearest(struct drawing *d)
{
    const struct fit_layout *thin = &d->thin->layout;
    uint32_t k = 0;
    for (size_t f = 0; f < d->all->nframe; f++) {
        uint32_t at = d->all->frame[f];
        while (k + 1 < thin->nframe && 2 * at >= thin->frame[k] + thin->frame[k + 1])
            k++;
        d->near[f] = k;
    }
}

/* The cell of a pair whose nearest thinned frames are a and b. If both are the same frame, its nearer neighbour
 * replaces one. */
static size_t cell_of(const struct drawing *d, uint32_t a, uint32_t b)
{
    const uint32_t *frame = d->thin->layout.frame;
    if (a == b && (a == 0 || (b + 1 < d->n && frame[b + 1] - frame[b] < frame[a] - frame[a - 1])))
        b++;
    else if (a == b)
        a--;
    return a * d->n + b;
}

/* Lanes [from, to) of a vector, whose pairs belong to one cell. */
struct stretch {
    size_t from, to, cell;
};

/* Those of the pairs (i, j) with first <= j < end in the vector of frames from j0 on; returns how many. */
static size_t stretches(const struct drawing *d, size_t i, size_t j0, size_t first, size_t end,
                        struct stretch s[FIT_LANES])
{
    size_t n = 0;
    for (size_t k = first > j0 ? first - j0 : 0; k < FIT_LANES && j0 + k < end; k++)
        if (n > 0 && d->near[j0 + k] == d->near[j0 + k - 1])
            s[n - 1].to = k + 1;
        else
            s[n++] = (struct stretch){k, k + 1, cell_of(d, d->near[i], d->near[j0 + k])};
    return n;
}

/* Weights, and weights times residuals, of the vector of one group. */
static void add_vector(const struct stretch *s, size_t n, const double *y, const double *w, const double *mean,
                       double *weight, double *residual)
{
    for (size_t m = 0; m < n; m++) {
        double sum = 0, product = 0;
        for (size_t k = s[m].from; k < s[m].to; k++) {
            const double v = w ? w[k] : 1;
            sum += v;
            product += v > 0 ? v * (y[k] - mean[k]) : 0;
        }
        weight[s[m].cell] += sum;
        residual[s[m].cell] += product;
    }
}

/* Cells that the pairs of a tile may belong to. */
struct cells {
    size_t a0, na, b0, nb;
};

static struct cells cells_of(const struct drawing *d, const struct fit_tile *t)
{
    const size_t first = d->near[t->i0], last = d->near[t->j1 - 1];
    struct cells c = {.a0 = first ? first - 1 : 0, .b0 = d->near[t->j0 > t->i0 + 1 ? t->j0 : t->i0 + 1]};
    c.na = d->near[t->i1 - 1] + 1 - c.a0;
    c.nb = (last + 1 < d->n ? last + 2 : d->n) - c.b0;
    return c;
}

static size_t patch_size(const struct drawing *d, const struct cells *c)
{
    return d->all->ngroup * c->na * c->nb;
}

/* Weights of the cells, and behind them weights times residuals. */
static size_t gather(void *user, const struct fit_tile *t, const double *mean, double *patch)
{
    const struct drawing *d = user;
    const struct cells c = cells_of(d, t);
    const size_t L = FIT_LANES, each = c.na * c.nb, size = patch_size(d, &c);
    struct stretch s[FIT_LANES];
    size_t at = 0;
    memset(patch, 0, 2 * size * sizeof *patch);
    for (size_t i = t->i0; i < t->i1; i++)
        for (size_t first = t->j0 > i + 1 ? t->j0 : i + 1, b = first / L; b * L < t->j1; b++) {
            const size_t n = stretches(d, i, b * L, first, t->j1, s);
            for (size_t m = 0; m < n; m++)
                s[m].cell = (s[m].cell / d->n - c.a0) * c.nb + s[m].cell % d->n - c.b0;
            for (size_t g = 0; g < d->all->ngroup; g++, at += L)
                add_vector(s, n, t->y + at, t->w ? t->w + at : NULL, mean + at, patch + g * each,
                           patch + size + g * each);
        }
    return 2 * size;
}

static void add_cells(void *user, const struct fit_tile *t, const double *patch, size_t n)
{
    const struct drawing *d = user;
    const struct cells c = cells_of(d, t);
    for (size_t g = 0, k = 0; g < d->all->ngroup; g++)
        for (size_t a = 0; a < c.na; a++)
            for (size_t b = 0; b < c.nb; b++, k++) {
                const size_t to = (g * d->n + c.a0 + a) * d->n + c.b0 + b;
                d->w[to] += patch[k];
                d->wr[to] += patch[n / 2 + k];
            }
}

/* Numbers of the longest patch. */
static size_t most_cells(const struct drawing *d, const struct fit_dataset *ds)
{
    size_t most = 0;
    for (size_t k = 0; k < ds->ntile; k++) {
        const struct cells c = cells_of(d, &ds->tile[k]);
        most = patch_size(d, &c) > most ? patch_size(d, &c) : most;
    }
    return 2 * most;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void each_value(const struct drawing *d, const struct fit_tile *t, double *values,
                       void (*fn)(const struct drawing *d, size_t cell, double *value))
{
    const struct fit_layout *l = &d->thin->layout;
    for (size_t i = t->i0; i < t->i1; i++)
        for (size_t j = t->j0 > i + 1 ? t->j0 : i + 1; j < t->j1; j++)
            for (size_t g = 0; g < l->ngroup; g++)
                fn(d, (g * d->n + i) * d->n + j, values + fit_tile_offset(l, t, i, j, g));
}

static void add_residual(const struct drawing *d, size_t cell, double *value)
{
    *value += d->w[cell] > 0 ? d->wr[cell] / d->w[cell] : 0;
}

static void set_weight(const struct drawing *d, size_t cell, double *value)
{
    *value = d->w[cell];
}

static void draw_values(void *user, const struct fit_tile *t, double *values, size_t place)
{
    const struct drawing *d = user;
    size_t n = fit_tile_doubles(&d->thin->layout, t);
    (void)place;
    d->kernel->model(&d->thin->layout, d->ws, d->lin, t, values);
    for (size_t k = 0; k < n; k++) /* lanes that do not count */
        values[k] = isfinite(values[k]) ? values[k] : 0;
    each_value(d, t, values, add_residual);
}

static void draw_weights(void *user, const struct fit_tile *t, double *values, size_t place)
{
    const struct drawing *d = user;
    (void)place;
    memset(values, 0, fit_tile_doubles(&d->thin->layout, t) * sizeof *values);
    each_value(d, t, values, set_weight);
}

/* Sets the sums of the tiles to those of the weighted values. */
static enum fit_status draw(struct drawing *d, struct fit_error *err)
{
    enum fit_status st = fit_dataset_rewrite(d->drawn, draw_values, d, err);
    return st == FIT_OK ? fit_dataset_rewrite(d->weighed, draw_weights, d, err) : st;
}

/* Subtracts J a from the values, J at theta. */
static enum fit_status drawing_shift(struct drawing *d, const double *a, struct fit_error *err)
{
    const struct fit_layout *l = &d->thin->layout;
    size_t p = d->kernel->nparam, most = d->n * l->ngroup;
    if (d->kernel->prepare(l, d->theta, 1, d->ws) != FIT_EVAL_OK)
        return fit_fail(err, FIT_ERR_NUMERIC, "sketch: derivatives are not finite");
    for (uint32_t i = 0; i < d->n; i++) {
        size_t n = 0;
        for (uint32_t j = i + 1; j < d->n; j++)
            for (uint32_t g = 0; g < l->ngroup; g++, n++)
                d->i[n] = i, d->j[n] = j, d->g[n] = g;
        d->kernel->points(l, d->ws, d->lin, &(struct fit_points){n, d->i, d->j, d->g}, d->row, d->row + most);
        for (size_t r = 0; r < n; r++) {
            size_t cell = (d->g[r] * d->n + i) * d->n + d->j[r];
            const double *jac = d->row + most + r;
            for (size_t k = 0; k < p; k++)
                d->wr[cell] -= d->w[cell] * jac[k * n] * a[k];
        }
    }
    return draw(d, err);
}

/* ---- the dataset ----------------------------------------------------------------------------- */

static int allocate(struct drawing *d, const struct fit_objective *o)
{
    const struct fit_kernel *k = d->kernel;
    size_t row = d->n * o->ngroup, cells = d->n * row;
    struct fit_arena *a = &d->storage;
    d->near = fit_take(a, d->all->nframe, sizeof *d->near);
    FIT_TAKE_DOUBLES(a, cells, &d->w, &d->wr);
    FIT_TAKE_DOUBLES(a, k->workspace(&d->thin->layout), &d->ws);
    FIT_TAKE_DOUBLES(a, o->ngroup * k->nlinear, &d->lin);
    FIT_TAKE_DOUBLES(a, k->nparam, &d->theta);
    FIT_TAKE_DOUBLES(a, row * (1 + k->nparam + k->nlinear), &d->row);
    d->i = fit_take(a, row, sizeof *d->i);
    d->j = fit_take(a, row, sizeof *d->j);
    d->g = fit_take(a, row, sizeof *d->g);
    return !a->failed;
}

static enum fit_status fill(struct drawing *d, struct fit_objective *o, const double *theta,
                            struct fit_error *err)
{
    enum fit_status st;
    memcpy(d->lin, o->lin, o->ngroup * o->nlinear * sizeof *d->lin);
    memcpy(d->theta, theta, o->nparam * sizeof *d->theta);
    find_nearest(d);
    const struct fit_residual_patches patches = {most_cells(d, o->ds), d, gather, add_cells};
    if (fit_objective_residuals(o, &patches) != FIT_EVAL_OK ||
        d->kernel->prepare(&d->thin->layout, theta, 0, d->ws) != FIT_EVAL_OK)
        return fit_fail(err, FIT_ERR_NUMERIC, "sketch: the model is not finite");
    if ((st = fit_dataset_replica(d->thin, 0, &d->drawn, err)) != FIT_OK ||
        (st = fit_dataset_replica(d->drawn, 1, &d->weighed, err)) != FIT_OK)
        return st;
    return draw(d, err);
}

static void drawing_free(struct drawing *d)
{
    if (!d)
        return;
    fit_dataset_replica_free(d->weighed);
    fit_dataset_replica_free(d->drawn);
    fit_dataset_free(d->thin);
    fit_arena_free(&d->storage);
    free(d);
}

/* Around the theta and lin of o, at which value and derivatives were computed last, with about `frames` frames. */
static enum fit_status drawing_new(struct fit_objective *o, const double *theta, size_t frames, struct drawing **out,
                                   struct fit_error *err)
{
    struct drawing *d = calloc(1, sizeof *d);
    *out = NULL;
    if (!d)
        return fit_no_memory(err, "fit");
    d->kernel = o->kernel;
    d->all = &o->ds->layout;
    enum fit_status st = fit_dataset_thin(o->ds, frames, &d->thin, err);
    if (st == FIT_OK) {
        d->n = d->thin->layout.nframe;
        st = allocate(d, o) ? fill(d, o, theta, err)
                            : fit_no_memory(err, "fit");
    }
    if (st == FIT_OK)
        *out = d;
    else
        drawing_free(d);
    return st;
}

/* ---- the sketch ------------------------------------------------------------------------------ */

struct fit_sketch {
    struct drawing *drawing; /* NULL: the data themselves */
    int borrowed;            /* 1: the drawing is that of the sketch whose twin it is */
    struct fit_objective *obj;
    struct fit_nlsq *nlsq;
    struct fit_nlsq_problem inner;
    size_t p;
    double least, base; /* cost of the data at the minimum; the same less that of the sketch */
    double dof, noise;
    const double *curvature; /* of the fit */
    double *trial;
};

/* Value and derivatives of the sketch at the minimum, which are to be those of the data. */
static enum fit_status measure(struct fit_sketch *s, const struct fit_ls *f, double *B, double *g)
{
    const double *theta = f->res->theta;
    if (fit_objective_value(s->obj, theta) != FIT_EVAL_OK)
        return FIT_ERR_NUMERIC;
    s->base = s->least - s->obj->cost;
    return fit_objective_normal(s->obj, theta, B, g) == FIT_EVAL_OK ? FIT_OK : FIT_ERR_NUMERIC;
}

/* Removes the contribution of the residuals to first order. */
static enum fit_status settle(struct fit_sketch *s, const struct fit_ls *f, struct fit_error *err)
{
    FIT_SCRATCH(scratch);
    size_t n = s->p;
    double *B = fit_take(&scratch, n * n + 6 * n + fit_boxqp_work(n), sizeof *B);
    signed char *state = fit_take(&scratch, n, 1);
    enum fit_status st = !scratch.failed ? FIT_OK : FIT_ERR_MEMORY;
    if (st == FIT_OK) {
        double *g = B + n * n, *a = g + n, *low = a + n, *high = low + n, *none = high + n,
               *work = none + n;
        st = measure(s, f, B, g);
        for (size_t k = 0; k < n; k++) {
            g[k] -= f->g[k];
            high[k] = f->upper[k] > f->lower[k] ? INFINITY : 0;
            low[k] = -high[k];
        }
        if (st == FIT_OK && fit_boxqp(&(struct fit_box){n, B, g, low, high, none}, a, state, work) < 0)
            st = FIT_ERR_NUMERIC;
        if (st == FIT_OK && (st = drawing_shift(s->drawing, a, err)) == FIT_OK)
            st = measure(s, f, B, g);
    }
    return st;
}

static enum fit_status make(struct fit_sketch *s, struct fit_ls *f)
{
    struct fit_error err = {0};
    struct fit_objective_setup setup = f->setup;
    setup.threads = 1;
    enum fit_status st = drawing_new(f->obj, f->res->theta, FRAMES, &s->drawing, &err);
    if (st != FIT_OK || (st = fit_objective_new(f->kernel, s->drawing->weighed, &setup,
                                                &s->obj, &err)) != FIT_OK)
        return st;
    s->nlsq = fit_nlsq_new(s->p);
    s->trial = malloc((s->p + 1) * sizeof *s->trial);
    return s->nlsq && s->trial ? settle(s, f, &err) : FIT_ERR_MEMORY;
}

static int suits(const struct fit_ls *f)
{
    for (size_t q = 0; q < f->q; q++)
        if (f->obj->shrink[q] > 0)
            return 0;
    return f->kernel->space == FIT_PAIRS && !f->kernel->density &&
           f->ds->layout.nframe >= (size_t)FRAMES_ENOUGH * FRAMES;
}

enum fit_status fit_sketch_new(struct fit_ls *f, struct fit_sketch **sketch)
{
    *sketch = NULL;
    if (!suits(f))
        return FIT_OK;
    struct fit_sketch *s = calloc(1, sizeof *s);
    if (!s)
        return fit_no_memory(f->err, "fit");
    enum fit_eval e = fit_objective_value(f->obj, f->res->theta);
    s->p = f->p;
    s->dof = f->dof;
    s->noise = f->noise;
    s->curvature = f->curvature;
    s->least = f->obj->cost;
    enum fit_status st = e == FIT_EVAL_OK ? make(s, f) : FIT_ERR_NUMERIC;
    if (st == FIT_OK) {
        *sketch = s;
        return FIT_OK;
    }
    fit_sketch_free(s);
    if (e == FIT_EVAL_STOP)
        return fit_fail(f->err, FIT_ERR_INTERRUPTED, "fit: interrupted");
    return st == FIT_ERR_MEMORY ? fit_fail(f->err, st, "fit: out of memory") : FIT_OK;
}

struct fit_sketch *fit_sketch_of_data(struct fit_ls *f)
{
    struct fit_sketch *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    *s = (struct fit_sketch){.obj = f->obj, .p = f->p, .dof = f->dof, .noise = f->noise};
    s->curvature = f->curvature;
    s->least = fit_objective_value(f->obj, f->res->theta) == FIT_EVAL_OK ? f->obj->cost : NAN;
    s->nlsq = fit_nlsq_new(s->p);
    s->trial = malloc((s->p + 1) * sizeof *s->trial);
    if (s->nlsq && s->trial)
        return s;
    fit_sketch_free(s);
    return NULL;
}

enum fit_status fit_sketch_twin(const struct fit_sketch *s, struct fit_ls *own, struct fit_sketch **twin)
{
    struct fit_sketch *t = *twin = calloc(1, sizeof *t);
    if (!t)
        return fit_no_memory(own->err, "fit");
    *t = *s;
    t->borrowed = 1;
    t->obj = s->drawing ? NULL : own->obj;
    t->nlsq = fit_nlsq_new(s->p);
    t->trial = malloc((s->p + 1) * sizeof *t->trial);
    if (!t->nlsq || !t->trial)
        return fit_no_memory(own->err, "fit");
    return s->drawing ? fit_objective_twin(s->obj, 1, &t->obj, own->err) : FIT_OK;
}

int fit_sketch_is_thin(const struct fit_sketch *s)
{
    return s->drawing != NULL;
}

void fit_sketch_free(struct fit_sketch *s)
{
    if (!s)
        return;
    free(s->trial);
    fit_nlsq_free(s->nlsq);
    if (s->drawing)
        fit_objective_free(s->obj);
    if (!s->borrowed)
        drawing_free(s->drawing);
    free(s);
}

/* ---- using ----------------------------------------------------------------------------------- */

/* The cost of the sketch is measured from that of the data. */
static enum fit_eval value(void *user, const double *x, double *cost, double *error)
{
    const struct fit_sketch *s = user;
    enum fit_eval e = s->inner.value(s->inner.user, x, cost, error);
    *cost += s->base;
    return e;
}

static enum fit_eval normal(void *user, const double *x, double *B, double *g)
{
    const struct fit_sketch *s = user;
    return s->inner.normal(s->inner.user, x, B, g);
}

static enum fit_eval slope(void *user, const double *x, double *g)
{
    const struct fit_sketch *s = user;
    return s->inner.gradient(s->inner.user, x, g);
}

static void bend(void *user, const double *lower, const double *upper, const double *x,
                 double *trial)
{
    const struct fit_sketch *s = user;
    s->inner.bend(s->inner.user, lower, upper, x, trial);
}

double fit_sketch_least(const struct fit_sketch *s)
{
    return s->least;
}

/* Sets both bounds of the linear unknown u, unless negative, to `value`, or restores them. */
struct held {
    long u;
    double low, high;
};

static struct held hold(struct fit_objective *o, long u, double value)
{
    struct held h = {.u = u};
    if (u >= 0) {
        h.low = o->lower[u];
        h.high = o->upper[u];
        o->lower[u] = o->upper[u] = value;
    }
    return h;
}

static void release(struct fit_objective *o, struct held h)
{
    if (h.u < 0)
        return;
    o->lower[h.u] = h.low;
    o->upper[h.u] = h.high;
}

double fit_sketch_value(struct fit_sketch *s, const double *theta, long u, double value)
{
    struct held h = hold(s->obj, u, value);
    enum fit_eval e = fit_objective_value(s->obj, theta);
    release(s->obj, h);
    return e == FIT_EVAL_OK ? s->obj->cost + s->base : INFINITY;
}

static enum fit_nlsq_answer is_high(void *user, const struct fit_nlsq_report *now)
{
    const struct fit_sketch_spec *spec = user;
    const int high = now->iteration >= (spec->patient ? spec->patient : PATIENT) &&
                     now->cost - now->gradient * now->gradient * spec->unit > spec->high;
    return high ? FIT_NLSQ_STOP : FIT_NLSQ_GO_ON;
}

void fit_sketch_minimise(struct fit_sketch *s, const struct fit_sketch_spec *given, double *theta,
                         double *cost, double *gradient)
{
    struct fit_sketch_spec own = *given, *spec = &own;
    struct fit_objective *o = s->obj;
    size_t bytes = s->p * sizeof *theta;
    struct held h = hold(o, spec->u, spec->value);
    s->inner = fit_problem(o, spec->lower, spec->upper, s->dof, s->noise);
    struct fit_nlsq_problem problem = s->inner;
    problem.user = s;
    problem.value = value;
    problem.normal = normal;
    problem.gradient = s->inner.gradient ? slope : NULL;
    problem.bend = s->inner.bend ? bend : NULL;
    struct fit_nlsq_options opt = {.max_iterations = STEPS,
                                   .ftol = 1e-8,
                                   .xtol = 1e-8,
                                   .gtol = spec->gtol,
                                   .curvature = s->curvature,
                                   .near = spec->near,
                                   .watch = is_high,
                                   .watch_user = spec};
    memcpy(s->trial, theta, bytes);
    fit_nlsq_run(s->nlsq, &problem, &opt, s->trial);
    release(o, h);
    int found = isfinite(s->nlsq->cost);
    *cost = found ? s->nlsq->cost : NAN;
    *gradient = s->nlsq->gradient;
    if (found)
        memcpy(theta, s->trial, bytes);
    if (found && spec->matrix)
        memcpy(spec->matrix, s->nlsq->B, s->p * bytes);
}
