/* objective.c -- variable projection: the linear parameters are eliminated exactly, inside their bounds.
 *
 * Takes the result of objective_setup.c; gives cost, gradient and Gauss-Newton matrix of the reduced problem. For a
 * group with moments M = sum w b b^T, v = sum w b (y - rest), s = sum w (y - rest)^2 the sum of squares is s - 2 lin.v
 * + lin.M lin; with lin = P u + shift it is a quadratic function of the unknowns u. Golub & Pereyra, SIAM J. Numer.
 * Anal. 10 (1973) 413; Kaufman, BIT 15 (1975) 49; bounds on the linear part as in Cornelio, Piccolomini & Nagy, Numer.
 * Algorithms 65 (2014) 25.
 *
 * When the residuals are tiny compared with the data (noise-free data), the formula above loses them; then they are
 * summed directly in a second pass.
 */
#include "leastsquares/objective_impl.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "data/tile_arithmetic.h"
#include "data/tile_patches.h"
#include "data/tile_sums.h"
#include "math/linalg.h"

/* Below this part of the terms that cancel in it, residuals are summed directly: 1e-16 / 1e-7 leaves nine digits of the
 * cost, more than differences of costs need when they decide about steps. */
static const double DIRECT_BELOW = 1e-7;

int fit_objective_threads(const struct fit_objective *o)
{
    return fit_parallel_threads(o->par);
}

double fit_objective_linear(const struct fit_objective *o, size_t g, size_t q)
{
    double v = o->lin[g * o->nlinear + q];
    return (int)q == o->kernel->intercept ? v + o->ds->reference[g] : v;
}

void fit_objective_group_factor(struct fit_objective *o, const double *factor)
{
    o->weighting = factor ? FIT_WEIGHT_GROUP : FIT_WEIGHT_DATA;
    o->summed = 0;
    if (factor)
        memcpy(o->factor, factor, o->ngroup * sizeof *factor);
}

/* ---- vectors of a tile ----------------------------------------------------------------------- */

void fit_objective_vectors(const struct fit_objective *obj, const struct fit_tile *t,
                           fit_vector_fn *fn, void *user)
{
    const size_t L = FIT_LANES;
    size_t offset = 0;
    if (obj->kernel->space == FIT_ROWS) {
        for (size_t b = t->i0 / L; b * L < t->i1; b++, offset += L)
            fn(user, t->group, offset, 0, t->i1 - b * L < L ? t->i1 - b * L : L);
        return;
    }
    for (size_t i = t->i0; i < t->i1; i++) {
        for (size_t b = (t->j0 > i + 1 ? t->j0 : i + 1) / L; b * L < t->j1; b++) {
            size_t lo = i + 1 > b * L ? i + 1 - b * L : 0;
            size_t hi = t->j1 - b * L < L ? t->j1 - b * L : L;
            if (lo > L)
                lo = L;
            for (size_t g = 0; g < obj->ngroup; g++, offset += L)
                fn(user, g, offset, lo, hi);
        }
    }
}

void fit_objective_edges(const struct fit_objective *obj, const struct fit_tile *t, fit_vector_fn *fn, void *user)
{
    const size_t L = FIT_LANES, step = L * obj->ngroup;
    size_t offset = 0;
    if (obj->kernel->space == FIT_ROWS) {
        size_t last = (t->i1 - 1) / L - t->i0 / L, lanes = t->i1 - (t->i1 - 1) / L * L;
        if (lanes < L)
            fn(user, t->group, last * L, 0, lanes);
        return;
    }
    for (size_t i = t->i0; i < t->i1; i++) {
        const size_t first = t->j0 > i + 1 ? t->j0 : i + 1, b0 = first / L, b1 = (t->j1 + L - 1) / L;
        for (size_t b = b0; b < b1; b += b + 1 < b1 ? b1 - 1 - b : 1) { /* the first and the last */
            size_t lo = i + 1 > b * L ? i + 1 - b * L : 0, hi = t->j1 - b * L < L ? t->j1 - b * L : L;
            for (size_t g = 0; g < obj->ngroup && (lo > 0 || hi < L); g++)
                fn(user, g, offset + (b - b0) * step + g * L, lo < L ? lo : L, hi);
        }
        offset += b1 > b0 ? (b1 - b0) * step : 0;
    }
}

/* ---- passes over the data -------------------------------------------------------------------- */

struct weigh {
    const struct fit_objective *obj;
    const struct fit_tile *tile;
    double *w;
};

static void weigh_vector(void *user, size_t g, size_t offset, size_t lo, size_t hi)
{
    struct weigh *c = user;
    const double *w0 = c->tile->w ? c->tile->w + offset : NULL;
    for (size_t k = 0; k < FIT_LANES; k++)
        c->w[offset + k] = k >= lo && k < hi ? (w0 ? w0[k] : 1) * c->obj->factor[g] : 0;
}

/* Destination of the weighted values, their weights and sums of a tile. */
struct room {
    double *y, *w, *sum;
};

void fit_objective_tile_sums(const struct fit_objective *o, const struct fit_tile *t, double *acc, double *sum)
{
    const int rows = o->kernel->space == FIT_ROWS; /* of one group */
    struct fit_lanes lanes = {.nvector = fit_tile_doubles(&o->ds->layout, t) / FIT_LANES,
                              .ngroup = rows ? 1 : o->ngroup,
                              .y = t->y};
    memset(sum, 0, 3 * o->ngroup * sizeof *sum);
    fit_lanes_sums(&lanes, t->w, acc, rows ? sum + 3 * t->group : sum);
}

static struct fit_tile weigh_tile(struct fit_objective *o, const struct fit_tile *t, struct room to, double *acc)
{
    struct fit_tile weighted = *t;
    struct weigh c = {o, t, to.w};
    if (o->weighting == FIT_WEIGHT_LOSS) {
        fit_loss_weights(o, t, to.y, to.w);
        weighted.y = to.y;
    } else {
        fit_objective_vectors(o, t, weigh_vector, &c);
    }
    weighted.w = to.w;
    weighted.sum = to.sum;
    fit_objective_tile_sums(o, &weighted, acc, to.sum);
    return weighted;
}

/* Weights of a robust loss are fixed from one fit_objective_freeze() to the next, over many passes. Those of few
 * data are kept: nkept values and as many weights in the order of the tiles, whose own values are in the same order,
 * then the sums of the tiles; the first pass that meets a tile fills them. */
static struct fit_tile kept_tile(struct fit_objective *o, const struct fit_tile *t, double *acc)
{
    size_t k = (size_t)(t - o->ds->tile), at = (size_t)(t->y - o->ds->tile[o->ds->first].y);
    struct room to = {o->kept + at, o->kept + o->nkept + at, o->kept + 2 * o->nkept + 3 * o->ngroup * k};
    if (!o->is_kept[k]) {
        o->is_kept[k] = 1;
        return weigh_tile(o, t, to, acc);
    }
    struct fit_tile kept = *t;
    kept.y = to.y;
    kept.w = to.w;
    kept.sum = to.sum;
    return kept;
}

/* The tile with the weights of the objective, and its data; scratch as in tile_sums.h, of which the first three
 * arrays are used. */
static struct fit_tile weighed_tile(struct fit_objective *o, const struct fit_tile *t,
                                    double *scratch, size_t stride)
{
    double *acc = scratch + FIT_OBJECTIVE_SCRATCH * stride;
    if (o->weighting == FIT_WEIGHT_DATA)
        return *t;
    if (o->weighting == FIT_WEIGHT_LOSS && o->kept)
        return kept_tile(o, t, acc);
    return weigh_tile(o, t, (struct room){scratch, scratch + stride, scratch + 2 * stride}, acc);
}

static void moments_tile(void *user, const struct fit_tile *t, double *scratch, size_t stride,
                         double *out)
{
    struct fit_objective *o = user;
    struct fit_tile w = weighed_tile(o, t, scratch, stride);
    o->kernel->moments(&o->ds->layout, o->ws, &w, scratch + FIT_OBJECTIVE_SCRATCH * stride, out);
}

static void normal_tile(void *user, const struct fit_tile *t, double *scratch, size_t stride,
                        double *out)
{
    struct fit_objective *o = user;
    struct fit_tile w = weighed_tile(o, t, scratch, stride);
    o->kernel->normal(&o->ds->layout, o->ws, o->lin, &w, scratch + FIT_OBJECTIVE_SCRATCH * stride,
                      out);
}

static void adjoint_tile(void *user, const struct fit_tile *t, double *scratch, size_t stride,
                         double *out)
{
    struct fit_objective *o = user;
    struct fit_tile w = weighed_tile(o, t, scratch, stride);
    o->kernel->gradient(&o->ds->layout, o->ws, o->lin_adjoint, o->adj, &w,
                        scratch + FIT_OBJECTIVE_SCRATCH * stride, out);
}

struct direct {
    const struct fit_tile *tile;
    const double *mean;
    double *out;
};

static void direct_vector(void *user, size_t g, size_t offset, size_t lo, size_t hi)
{
    struct direct *c = user;
    const double *y = c->tile->y + offset, *w = c->tile->w ? c->tile->w + offset : NULL;
    double s = 0;
    for (size_t k = lo; k < hi; k++) {
        double r = y[k] - c->mean[offset + k], wk = w ? w[k] : 1;
        s += wk > 0 ? wk * r * r : 0;
    }
    c->out[g] += s;
}

static void direct_tile(void *user, const struct fit_tile *t, double *scratch, size_t stride,
                        double *out)
{
    struct fit_objective *o = user;
    struct fit_tile w = weighed_tile(o, t, scratch, stride);
    double *mean = scratch + 3 * stride;
    struct direct c = {&w, mean, out};
    memset(out, 0, o->ngroup * sizeof *out);
    o->kernel->model(&o->ds->layout, o->ws, o->lin, &w, mean);
    fit_objective_vectors(o, &w, direct_vector, &c);
}

struct residuals {
    struct fit_objective *obj;
    const struct fit_residual_patches *patches;
};

static size_t take_residuals(void *user, size_t k, const struct fit_tile *t, size_t thread, double *patch)
{
    const struct residuals *x = user;
    size_t stride;
    double *scratch = fit_parallel_scratch(x->obj->par, thread, &stride), *mean = scratch + 3 * stride;
    const struct fit_tile w = weighed_tile(x->obj, t, scratch, stride);
    (void)k;
    x->obj->kernel->model(&x->obj->ds->layout, x->obj->ws, x->obj->lin, &w, mean);
    return x->patches->take(x->patches->user, &w, mean, patch);
}

static void add_residuals(void *user, size_t k, const double *patch, size_t n)
{
    const struct residuals *x = user;
    x->patches->add(x->patches->user, &x->obj->ds->tile[k], patch, n);
}

enum fit_eval fit_objective_residuals(struct fit_objective *o, const struct fit_residual_patches *patches)
{
    struct residuals x = {o, patches};
    struct fit_error err;
    const struct fit_patches run = {.ds = o->ds, .threads = fit_parallel_threads(o->par),
                                    .interrupt = fit_parallel_interrupt(o->par), .most = patches->most, .user = &x,
                                    .take = take_residuals, .add = add_residuals};
    return fit_patches_run(&run, &err) == FIT_OK ? FIT_EVAL_OK : FIT_EVAL_STOP;
}

/* The pass by a device, if there is one and it supports this kind: 1; *stopped: as fit_parallel_sum. A device that
 * fails is not used again. */
static int device_pass(struct fit_objective *o,
                       void (*tile)(void *, const struct fit_tile *, double *, size_t, double *), int *stopped)
{
    const int moments = tile == moments_tile, adjoint = tile == adjoint_tile;
    const struct fit_device_request r = {
        moments ? FIT_DEVICE_MOMENTS : adjoint ? FIT_DEVICE_GRADIENT : FIT_DEVICE_NORMAL, o->ws,
        adjoint ? o->lin_adjoint : moments ? NULL : o->lin, adjoint ? o->adj : NULL, o->sum};
    const atomic_int *interrupt = fit_parallel_interrupt(o->par);
    if (!o->device || o->weighting != FIT_WEIGHT_DATA || !(moments || adjoint || tile == normal_tile))
        return 0;
    *stopped = interrupt && *interrupt;
    if (*stopped)
        return 1;
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_PAIRS);
    const int failed = fit_device_sums_take(o->device, &r);
    fit_clock_enter(was);
    if (!failed)
        return 1;
    char why[200];
    snprintf(why, sizeof why, "it failed, and the processor went on: %.150s", fit_device_sums_failure(o->device));
    fit_device_say(fit_device_used(), why);
    fit_device_sums_free(o->device);
    o->device = NULL;
    return 0;
}

/* The factor of all groups, or 0 when they differ or there is none. */
static double common_factor(const struct fit_objective *o)
{
    double c = o->weighting == FIT_WEIGHT_GROUP ? o->factor[0] : 0;
    for (size_t g = 1; g < o->ngroup; g++)
        c = o->factor[g] == c ? c : 0;
    return c;
}

static enum fit_eval run_pass(struct fit_objective *o, size_t n,
                              void (*tile)(void *, const struct fit_tile *, double *, size_t,
                                           double *))
{
    const enum fit_weighting weighting = o->weighting;
    const double factor = common_factor(o); /* sums are linear in the weights */
    if (factor > 0)
        o->weighting = FIT_WEIGHT_DATA;
    struct fit_parallel_task task = {
        tile, o, n, o->kernel->raw && o->weighting == FIT_WEIGHT_DATA && tile != direct_tile};
    int stopped;
    if (!device_pass(o, tile, &stopped))
        stopped = fit_parallel_sum(o->par, &task, o->sum);
    o->weighting = weighting;
    if (stopped)
        return FIT_EVAL_STOP;
    for (size_t k = 0; k < n && factor > 0; k++)
        o->sum[k] *= factor;
    for (size_t k = 0; k < n; k++)
        if (!isfinite(o->sum[k]))
            return FIT_EVAL_REJECT;
    return FIT_EVAL_OK;
}

enum fit_eval fit_objective_prepare(struct fit_objective *o, const double *theta, int derivative)
{
    const size_t bytes = o->nparam * sizeof *theta;
    const int known = o->prepared && memcmp(o->at, theta, bytes) == 0;
    if (known && !derivative)
        return FIT_EVAL_OK;
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_TABLES);
    enum fit_eval e = o->kernel->prepare(&o->ds->layout, theta, derivative && known ? -1 : derivative, o->ws);
    fit_clock_enter(was);
    o->prepared = e == FIT_EVAL_OK;
    memcpy(o->at, theta, bytes);
    return e;
}

/* ---- value ----------------------------------------------------------------------------------- */

/* Index of element (p, q), p <= q, of a symmetric matrix stored by rows. */
static size_t upper_index(size_t n, size_t p, size_t q)
{
    return p * n - p * (p + 1) / 2 + q;
}

static double moment(const struct fit_objective *o, const double *m, size_t p, size_t q)
{
    return m[p <= q ? upper_index(o->nlinear, p, q) : upper_index(o->nlinear, q, p)];
}

/* Adds a group's moments to the matrices and right sides of the blocks. */
static void add_group(struct fit_objective *o, size_t g, const double *m)
{
    size_t n = o->nlinear;
    const int *map = o->map + g * n;
    const double *shift = o->shift + g * n, *v = m + n * (n + 1) / 2;
    for (size_t p = 0; p < n; p++) {
        if (map[p] < 0)
            continue;
        size_t up = (size_t)map[p], block = o->block_of[up], size = fit_objective_block(o, block);
        double *row = o->A + o->block_matrix[block] + o->place[up] * size, t = v[p];
        for (size_t q = 0; q < n; q++) {
            double mpq = moment(o, m, p, q);
            t -= mpq * shift[q];
            if (map[q] >= 0)
                row[o->place[map[q]]] += mpq;
        }
        o->b[up] += t;
    }
}

static void solve_block(struct fit_objective *o, size_t k)
{
    size_t n = fit_objective_block(o, k), *index = o->order + o->block_first[k];
    double *b = o->work, *lower = b + n, *upper = lower + n, *ref = upper + n, *x = ref + n,
           *work = x + n;
    signed char *state =
        o->state + o->block_first[k]; /* by place for now; sorted out by the caller */
    for (size_t i = 0; i < n; i++) {
        b[i] = o->b[index[i]];
        lower[i] = o->lower[index[i]];
        upper[i] = o->upper[index[i]];
        ref[i] = o->ref[index[i]];
    }
    double ridge = fit_boxqp(&(struct fit_box){n, o->A + o->block_matrix[k], b, lower, upper, ref}, x, state, work);
    o->ridge = ridge < 0 ? NAN : fmax(o->ridge, ridge);
    for (size_t i = 0; i < n; i++)
        o->u[index[i]] = x[i];
}

/* Is element e the first that has its unknown? */
static int is_first(const struct fit_objective *o, size_t e)
{
    for (size_t b = e % o->nlinear; b < e; b += o->nlinear)
        if (o->map[b] == o->map[e])
            return 0;
    return o->map[e] >= 0;
}

/* Adds the shrinkage of linear parameter q: shrink (I - 1 1^T / n) over the n unknowns of the groups. */
static void add_shrinkage(struct fit_objective *o, size_t q)
{
    size_t n = 0, Q = o->nlinear, all = o->ngroup * Q;
    double mean = 0;
    for (size_t e = q; e < all; e += Q)
        if (is_first(o, e)) {
            mean += o->origin[o->map[e]];
            n++;
        }
    for (size_t e = q; n && e < all; e += Q) {
        if (!is_first(o, e))
            continue;
        size_t u = (size_t)o->map[e], block = o->block_of[u], size = fit_objective_block(o, block);
        double *row = o->A + o->block_matrix[block] + o->place[u] * size;
        o->b[u] -= o->shrink[q] * (o->origin[u] - mean / (double)n);
        for (size_t f = q; f < all; f += Q)
            if (is_first(o, f))
                row[o->place[o->map[f]]] += o->shrink[q] * ((e == f) - 1 / (double)n);
    }
}

/* Contribution of the shrinkage of parameter q to the cost. */
static double penalty(const struct fit_objective *o, size_t q)
{
    size_t n = 0, Q = o->nlinear;
    double mean = 0, s = 0;
    for (size_t e = q; e < o->ngroup * Q; e += Q)
        if (is_first(o, e)) {
            mean += o->u[o->map[e]] + o->origin[o->map[e]];
            n++;
        }
    for (size_t e = q; e < o->ngroup * Q; e += Q)
        if (is_first(o, e)) {
            double d = o->u[o->map[e]] + o->origin[o->map[e]] - mean / (double)n;
            s += d * d;
        }
    return 0.5 * o->shrink[q] * s;
}

double fit_objective_penalty(const struct fit_objective *o)
{
    double sum = 0;
    for (size_t q = 0; q < o->nlinear; q++)
        sum += o->shrink[q] > 0 ? penalty(o, q) : 0;
    return sum;
}

double fit_objective_group(const struct fit_objective *o, size_t g, const double *u, double *lin)
{
    size_t n = o->nlinear;
    const double *m = o->moment + g * fit_objective_moments(n), *v = m + n * (n + 1) / 2;
    double s = m[fit_objective_moments(n) - 1];
    for (size_t q = 0; q < n; q++) {
        int unknown = o->map[g * n + q];
        lin[q] = o->shift[g * n + q] + (unknown >= 0 ? u[unknown] : 0);
    }
    for (size_t p = 0; p < n; p++) {
        double t = -2 * v[p];
        for (size_t q = 0; q < n; q++)
            t += moment(o, m, p, q) * lin[q];
        s += lin[p] * t;
    }
    return s;
}

size_t fit_objective_matrices(const struct fit_objective *o)
{
    size_t last = o->nblock ? o->nblock - 1 : 0, n = o->nblock ? fit_objective_block(o, last) : 0;
    return o->nblock ? o->block_matrix[last] + n * n : 0;
}

void fit_objective_assemble(struct fit_objective *o)
{
    memset(o->A, 0, fit_objective_matrices(o) * sizeof *o->A);
    memset(o->b, 0, o->nu * sizeof *o->b);
    for (size_t g = 0; g < o->ngroup; g++)
        add_group(o, g, o->moment + g * fit_objective_moments(o->nlinear));
    for (size_t q = 0; q < o->nlinear; q++)
        if (o->shrink[q] > 0)
            add_shrinkage(o, q);
}

enum fit_eval fit_objective_sums(struct fit_objective *o, const double *theta, int derivative)
{
    size_t n = fit_objective_moments(o->nlinear);
    enum fit_eval e = fit_objective_prepare(o, theta, derivative);
    if (e != FIT_EVAL_OK)
        return e;
    o->nvalue++; /* counts requests: how often the result was known already depends on which threads asked */
    if (o->summed == 0 || o->summed != o->ds->stamp || memcmp(o->summed_at, theta, o->nparam * sizeof *theta) != 0) {
        o->summed = 0;
        if ((e = run_pass(o, o->ngroup * n, moments_tile)) != FIT_EVAL_OK)
            return e;
        memcpy(o->moment, o->sum, o->ngroup * n * sizeof *o->moment);
        memcpy(o->summed_at, theta, o->nparam * sizeof *theta);
        o->summed = o->ds->stamp;
    }
    fit_objective_assemble(o);
    return FIT_EVAL_OK;
}

enum fit_eval fit_objective_adjoint(struct fit_objective *o, const double *lin, const double *adj,
                                    double *out)
{
    o->lin_adjoint = lin;
    o->adj = adj;
    o->nadjoint++;
    enum fit_eval e = run_pass(o, o->nparam, adjoint_tile);
    if (e == FIT_EVAL_OK)
        memcpy(out, o->sum, o->nparam * sizeof *out);
    return e;
}

enum fit_eval fit_objective_solve(struct fit_objective *o)
{
    o->ridge = 0;
    for (size_t k = 0; k < o->nblock; k++)
        solve_block(o, k);
    if (isnan(o->ridge))
        return FIT_EVAL_REJECT;
    for (size_t i = 0; i < o->nu; i++) { /* state was written in the order of blocks */
        size_t u = o->order[i];
        o->work[u] = o->state[i];
    }
    for (size_t u = 0; u < o->nu; u++)
        o->state[u] = (signed char)o->work[u];
    for (size_t g = 0; g < o->ngroup; g++)
        o->ssr[g] = fit_objective_group(o, g, o->u, o->lin + g * o->nlinear);
    return FIT_EVAL_OK;
}

/* The sum of the absolute values of the terms of ssr[g], which cancel: the scale of its rounding. */
static double terms_of_group(const struct fit_objective *o, size_t g)
{
    const size_t n = o->nlinear;
    const double *m = o->moment + g * fit_objective_moments(n), *v = m + n * (n + 1) / 2, *lin = o->lin + g * n;
    double s = fabs(m[fit_objective_moments(n) - 1]);
    for (size_t p = 0; p < n; p++) {
        double t = 2 * fabs(v[p]);
        for (size_t q = 0; q < n; q++)
            t += fabs(moment(o, m, p, q) * lin[q]);
        s += fabs(lin[p]) * t;
    }
    return s;
}

enum fit_eval fit_objective_value(struct fit_objective *o, const double *theta)
{
    double terms = 0, cost = 0;
    enum fit_eval e = fit_objective_sums(o, theta, 0);
    if (e != FIT_EVAL_OK || (e = fit_objective_solve(o)) != FIT_EVAL_OK)
        return e;
    for (size_t g = 0; g < o->ngroup; g++) {
        cost += 0.5 * o->ssr[g];
        terms += terms_of_group(o, g);
    }
    o->cost_error = 2 * DBL_EPSILON * (terms + fabs(cost));
    if (o->kernel->density) {
        cost += o->offset - o->density_constant;
        o->cost_error += 2 * DBL_EPSILON * (fabs(o->offset) + fabs(o->density_constant));
    }
    if (o->nlinear > 0 && !(cost > DIRECT_BELOW * terms)) {
        if ((e = run_pass(o, o->ngroup, direct_tile)) != FIT_EVAL_OK)
            return e;
        cost = 0;
        for (size_t g = 0; g < o->ngroup; g++) {
            o->ssr[g] = o->sum[g];
            cost += 0.5 * o->ssr[g];
        }
        /* each residual r carries the rounding of its terms t: r (eps t) and (eps t)^2, with the reference that was
         * subtracted */
        terms += o->reference_square;
        o->cost_error = 4 * DBL_EPSILON * (sqrt(2 * cost * terms) + DBL_EPSILON * terms);
    }
    o->penalty = fit_objective_penalty(o);
    o->cost = cost + o->penalty;
    return isfinite(cost) ? FIT_EVAL_OK : FIT_EVAL_REJECT;
}

/* ---- derivatives ----------------------------------------------------------------------------- */

size_t fit_objective_factor(const struct fit_objective *o, size_t block, size_t *index, double *d,
                            double *factor)
{
    size_t n = fit_objective_block(o, block), m = 0;
    const double *A = o->A + o->block_matrix[block];
    for (size_t i = 0; i < n; i++) {
        size_t u = o->order[o->block_first[block] + i];
        if (o->state[u] == 0 && o->upper[u] > o->lower[u] && A[i * n + i] > 0)
            index[m++] = u;
    }
    for (double ridge = 0; ridge < 1; ridge = ridge > 0 ? ridge * 100 : 1e-12) {
        for (size_t r = 0; r < m; r++) {
            size_t i = o->place[index[r]];
            d[r] = sqrt(A[i * n + i]);
            for (size_t c = 0; c <= r; c++)
                factor[r * m + c] = A[i * n + o->place[index[c]]] / (d[r] * d[c]);
            factor[r * m + r] += ridge;
        }
        if (fit_cholesky(m, factor, 1e-13) == 0)
            break;
    }
    return m;
}

/* B -= C^T A^-1 C over the free unknowns of a block. */
static void project_block(struct fit_objective *o, size_t block, double *B)
{
    size_t n = fit_objective_block(o, block), p = o->nparam;
    double *factor = o->work, *d = factor + n * n, *t = d + n, *column = t + n * p;
    size_t *index = (size_t *)(void *)(column + n);
    size_t m = fit_objective_factor(o, block, index, d, factor);
    for (size_t k = 0; k < p; k++) {
        for (size_t r = 0; r < m; r++)
            column[r] = o->cross[index[r] * p + k] / d[r];
        fit_lower_solve(m, factor, column);
        for (size_t r = 0; r < m; r++)
            t[r * p + k] = column[r];
    }
    for (size_t r = 0; r < m; r++)
        for (size_t k = 0; k < p; k++)
            for (size_t l = 0; l < p; l++)
                B[k * p + l] -= t[r * p + k] * t[r * p + l];
}

void fit_objective_reduce(struct fit_objective *o, const double *sum, const double *du, double *B, double *g)
{
    size_t p = o->nparam, n = o->nlinear;
    const double *h = sum, *gradient = h + p * (p + 1) / 2, *cross = gradient + p;
    for (size_t k = 0; k < p; k++)
        for (size_t l = k; l < p; l++)
            o->hessian[k * p + l] = o->hessian[l * p + k] = h[upper_index(p, k, l)];
    memset(o->cross, 0, o->nu * p * sizeof *o->cross);
    for (size_t i = 0; i < o->ngroup * n; i++)
        for (size_t k = 0; o->map[i] >= 0 && k < p; k++)
            o->cross[(size_t)o->map[i] * p + k] += cross[i * p + k];
    memcpy(g, gradient, p * sizeof *g);
    for (size_t u = 0; u < o->nu && du; u++)
        for (size_t k = 0; k < p; k++)
            g[k] -= o->cross[u * p + k] * du[u];
    memcpy(B, o->hessian, p * p * sizeof *B);
    for (size_t k = 0; k < o->nblock; k++)
        project_block(o, k, B);
    for (size_t k = 0; k < p; k++) {
        /* What remains of a column after projection is rounding. */
        if (B[k * p + k] > 1e-13 * o->hessian[k * p + k] || o->kernel->density)
            continue;
        for (size_t l = 0; l < p; l++)
            B[k * p + l] = B[l * p + k] = 0;
        g[k] = 0;
    }
}

enum fit_eval fit_objective_normal(struct fit_objective *o, const double *theta, double *B,
                                   double *g)
{
    enum fit_eval e = fit_objective_prepare(o, theta, 1);
    if (e != FIT_EVAL_OK)
        return e;
    o->nnormal++;
    if ((e = run_pass(o, fit_objective_normal_size(o), normal_tile)) != FIT_EVAL_OK)
        return e;
    fit_objective_reduce(o, o->sum, NULL, B, g);
    return FIT_EVAL_OK;
}

enum fit_eval fit_objective_gradient(struct fit_objective *o, const double *theta, double *g)
{
    enum fit_eval e = fit_objective_prepare(o, theta, 1);
    return e == FIT_EVAL_OK ? fit_objective_adjoint(o, o->lin, o->residual_seeds, g) : e;
}
