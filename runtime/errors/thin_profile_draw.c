/* thin_profile_draw.c -- see thin_profile_draw.h.
 *
 * Sums of weights and residuals over the pairs of the data go to cells, one for each pair of
 * thinned frames and each group, tile after tile in their order: the same bits for any number of
 * threads.
 */
#include "errors/thin_profile_draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct fit_drawing {
    const struct fit_kernel *kernel;
    const struct fit_layout *all;
    struct fit_dataset *thin, *drawn,
        *weighed;   /* measured values; those drawn; these with weights */
    size_t n;       /* thinned frames */
    uint32_t *near; /* of each used frame of the data: the nearest thinned one */
    double *w, *wr; /* cells, n x n for each group: weights; the same times residual */
    double *ws, *lin, *theta;
    double *row;         /* mean and derivatives at the pairs of a row */
    uint32_t *i, *j, *g; /* and their places */
};

/* ---- cells ----------------------------------------------------------------------------------- */

static void find_nearest(struct fit_drawing *d)
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

/* The cell of a pair whose frames are nearest to a and b.  Both nearest to the same: with its
 * nearer neighbour. */
static size_t cell_of(const struct fit_drawing *d, uint32_t a, uint32_t b)
{
    const uint32_t *frame = d->thin->layout.frame;
    if (a == b && (a == 0 || (b + 1 < d->n && frame[b + 1] - frame[b] < frame[a] - frame[a - 1])))
        b++;
    else if (a == b)
        a--;
    return a * d->n + b;
}

/* Lanes [from, to) of a vector whose pairs belong to one cell. */
struct stretch {
    size_t from, to, cell;
};

/* Those of the pairs (i, j) with first <= j < end in the vector of frames from j0 on; returns how many. */
static size_t stretches(const struct fit_drawing *d, size_t i, size_t j0, size_t first, size_t end,
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

static void gather(void *user, const struct fit_tile *t, const double *mean)
{
    const struct fit_drawing *d = user;
    const size_t L = FIT_LANES, cells = d->n * d->n;
    struct stretch s[FIT_LANES];
    size_t at = 0;
    for (size_t i = t->i0; i < t->i1; i++)
        for (size_t first = t->j0 > i + 1 ? t->j0 : i + 1, b = first / L; b * L < t->j1; b++) {
            const size_t n = stretches(d, i, b * L, first, t->j1, s);
            for (size_t g = 0; g < d->all->ngroup; g++, at += L)
                add_vector(s, n, t->y + at, t->w ? t->w + at : NULL, mean + at, d->w + g * cells, d->wr + g * cells);
        }
}

/* ---- values ---------------------------------------------------------------------------------- */

static void each_value(const struct fit_drawing *d, const struct fit_tile *t, double *values,
                       void (*fn)(const struct fit_drawing *d, size_t cell, double *value))
{
    const struct fit_layout *l = &d->thin->layout;
    for (size_t i = t->i0; i < t->i1; i++)
        for (size_t j = t->j0 > i + 1 ? t->j0 : i + 1; j < t->j1; j++)
            for (size_t g = 0; g < l->ngroup; g++)
                fn(d, (g * d->n + i) * d->n + j, values + fit_tile_offset(l, t, i, j, g));
}

static void add_residual(const struct fit_drawing *d, size_t cell, double *value)
{
    *value += d->w[cell] > 0 ? d->wr[cell] / d->w[cell] : 0;
}

static void set_weight(const struct fit_drawing *d, size_t cell, double *value)
{
    *value = d->w[cell];
}

static void draw_values(void *user, const struct fit_tile *t, double *values, size_t place)
{
    const struct fit_drawing *d = user;
    size_t n = fit_tile_doubles(&d->thin->layout, t);
    (void)place;
    d->kernel->model(&d->thin->layout, d->ws, d->lin, t, values);
    for (size_t k = 0; k < n; k++) /* lanes that do not count */
        values[k] = isfinite(values[k]) ? values[k] : 0;
    each_value(d, t, values, add_residual);
}

static void draw_weights(void *user, const struct fit_tile *t, double *values, size_t place)
{
    const struct fit_drawing *d = user;
    (void)place;
    memset(values, 0, fit_tile_doubles(&d->thin->layout, t) * sizeof *values);
    each_value(d, t, values, set_weight);
}

/* The sums of the tiles are those of the weighed values. */
static enum fit_status draw(struct fit_drawing *d, struct fit_error *err)
{
    enum fit_status st = fit_dataset_rewrite(d->drawn, draw_values, d, err);
    return st == FIT_OK ? fit_dataset_rewrite(d->weighed, draw_weights, d, err) : st;
}

enum fit_status fit_drawing_shift(struct fit_drawing *d, const double *a, struct fit_error *err)
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
        d->kernel->points(l, d->ws, d->lin, n, d->i, d->j, d->g, d->row, d->row + most);
        for (size_t r = 0; r < n; r++) {
            size_t cell = (d->g[r] * d->n + i) * d->n + d->j[r];
            const double *jac = d->row + most + r;
            for (size_t k = 0; k < p; k++)
                d->wr[cell] -= d->w[cell] * jac[k * n] * a[k];
        }
    }
    return draw(d, err);
}

/* ---- making ---------------------------------------------------------------------------------- */

static int allocate(struct fit_drawing *d, const struct fit_objective *o)
{
    const struct fit_kernel *k = d->kernel;
    size_t ws = k->workspace(&d->thin->layout), row = d->n * o->ngroup, cells = d->n * row;
    d->near = malloc(d->all->nframe * sizeof *d->near);
    d->w = calloc(2 * cells, sizeof *d->w);
    d->ws = aligned_alloc(64, (ws / FIT_LANES + 1) * FIT_LANES * sizeof *d->ws);
    d->lin = malloc((o->ngroup * k->nlinear + k->nparam + 1) * sizeof *d->lin);
    d->row = malloc(row * (1 + k->nparam + k->nlinear) * sizeof *d->row);
    d->i = malloc(3 * row * sizeof *d->i);
    if (!d->near || !d->w || !d->ws || !d->lin || !d->row || !d->i)
        return 0;
    d->wr = d->w + cells;
    d->theta = d->lin + o->ngroup * k->nlinear;
    d->j = d->i + row;
    d->g = d->j + row;
    return 1;
}

static enum fit_status fill(struct fit_drawing *d, struct fit_objective *o, const double *theta,
                            struct fit_error *err)
{
    enum fit_status st;
    memcpy(d->lin, o->lin, o->ngroup * o->nlinear * sizeof *d->lin);
    memcpy(d->theta, theta, o->nparam * sizeof *d->theta);
    find_nearest(d);
    if (fit_objective_residuals(o, gather, d) != FIT_EVAL_OK ||
        d->kernel->prepare(&d->thin->layout, theta, 0, d->ws) != FIT_EVAL_OK)
        return fit_fail(err, FIT_ERR_NUMERIC, "sketch: the model is not finite");
    if ((st = fit_dataset_replica(d->thin, 0, &d->drawn, err)) != FIT_OK ||
        (st = fit_dataset_replica(d->drawn, 1, &d->weighed, err)) != FIT_OK)
        return st;
    return draw(d, err);
}

enum fit_status fit_drawing_new(struct fit_objective *o, const double *theta, size_t frames,
                                struct fit_drawing **out, struct fit_error *err)
{
    struct fit_drawing *d = calloc(1, sizeof *d);
    *out = NULL;
    if (!d)
        return fit_fail(err, FIT_ERR_MEMORY, "fit: out of memory");
    d->kernel = o->kernel;
    d->all = &o->ds->layout;
    enum fit_status st = fit_dataset_thin(o->ds, frames, &d->thin, err);
    if (st == FIT_OK) {
        d->n = d->thin->layout.nframe;
        st = allocate(d, o) ? fill(d, o, theta, err)
                            : fit_fail(err, FIT_ERR_MEMORY, "fit: out of memory");
    }
    if (st == FIT_OK)
        *out = d;
    else
        fit_drawing_free(d);
    return st;
}

void fit_drawing_free(struct fit_drawing *d)
{
    if (!d)
        return;
    fit_dataset_replica_free(d->weighed);
    fit_dataset_replica_free(d->drawn);
    fit_dataset_free(d->thin);
    free(d->near);
    free(d->w);
    free(d->ws);
    free(d->lin);
    free(d->row);
    free(d->i);
    free(d);
}

const struct fit_dataset *fit_drawing_data(const struct fit_drawing *d)
{
    return d->weighed;
}
