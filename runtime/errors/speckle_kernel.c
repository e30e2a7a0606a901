/* speckle_kernel.c -- see speckle_kernel.h.
 *
 * Tables of the kernel, in its work space: for each term of the mean (a linear parameter times b_q, but the intercept,
 * whose b_q is constant; and the rest, where there is one) b_q and its derivatives, whitened, in the order of the rows.
 */
#include "errors/speckle_kernel.h"

#include <math.h>
#include <string.h>

#include "errors/speckle_likelihood.h"
#include "errors/speckle_whiten.h"
#include "machine/team.h"

enum {
    SAMPLES = 4,  /* pairs of frames between two blocks at which the model is looked at */
    MOST_ROWS = 4096
};
static const double LEAST_SHOT = 0.02; /* of the contrast: keeps the covariance regular */
static const double GAUSS = 0.21132486540518712; /* (1 - 1/sqrt 3) / 2 */

struct fit_speckle_private {
    const struct fit_kernel *inner;
    const struct fit_layout *layout; /* of the inner kernel */
    size_t ng, n, frames, nterm, each; /* each: rows of a group */
    long *term;                      /* nterm: linear parameter, -1: the rest */
    int threads;
    struct fit_whitener *white;      /* ng */
    double *cover;                   /* ng x n x n: part of the values that there are */
    double *scale;                   /* ng: root of the number of speckles */
    double *constant;                /* ng x each: the intercept's b_q */
    size_t *first;                   /* ng: place of the first row */
    struct fit_param *linear;
    struct fit_axis axis;
    struct fit_arena storage;
};

static const struct fit_speckle_private *of(const struct fit_layout *l)
{
    return l->context;
}

static size_t padded(size_t n)
{
    return (n + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
}

/* ---- the model between blocks ------------------------------------------------------------------------------ */

/* Frames of a block of f at which the model is looked at. */
static size_t sampled(size_t f, size_t at[2])
{
    at[0] = f > 2 ? (size_t)(GAUSS * (double)f) : 0;
    at[1] = f - 1 - at[0];
    return f > 1 ? 2 : 1;
}

/* The pairs between blocks a <= c; returns how many. */
static size_t sample_pairs(const struct fit_speckle_private *k, size_t a, size_t c, uint32_t *i, uint32_t *j)
{
    const struct fit_speckle_blocks b = {&(struct fit_speckle_model){.layout = k->layout}, k->n, k->frames};
    const size_t fa = fit_speckle_block_frames(&b, a), fc = fit_speckle_block_frames(&b, c);
    size_t s[2], t[2], n = 0;
    if (a == c) { /* two frames as far from each other as two are in the mean */
        const size_t lag = fa < 2 ? 0 : (fa + 1) / 3 > 0 ? (fa + 1) / 3 : 1, first = a * k->frames + (fa - lag) / 2;
        i[0] = (uint32_t)first;
        j[0] = i[0] + (uint32_t)lag;
        return 1;
    }
    for (size_t e = 0, ns = sampled(fa, s), nt = sampled(fc, t); e < ns; e++)
        for (size_t f = 0; f < nt; f++, n++) {
            i[n] = (uint32_t)(a * k->frames + s[e]);
            j[n] = (uint32_t)(c * k->frames + t[f]);
        }
    return n;
}

/* Room for one row of blocks: places of pairs, values, derivatives; and lin. */
struct room {
    uint32_t *i, *j, *g;
    double *mean, *jac, *lin, *white;
};

static size_t room_size(const struct fit_speckle_private *k)
{
    const size_t most = padded(k->n * SAMPLES), P = k->inner->nparam + k->inner->nlinear;
    const size_t lin = padded(k->ng * k->inner->nlinear);
    return padded(2 * most + (1 + P) * most + lin + fit_whitener_room(k->n));
}

static struct room room_of(const struct fit_speckle_private *k, double *at)
{
    const size_t most = padded(k->n * SAMPLES), P = k->inner->nparam + k->inner->nlinear;
    struct room r = {.i = (uint32_t *)(void *)at, .mean = at + 2 * most};
    r.j = r.i + most;
    r.g = r.j + most;
    r.jac = r.mean + most;
    r.lin = r.jac + P * most;
    r.white = r.lin + padded(k->ng * k->inner->nlinear);
    return r;
}

/* Means, times what there is of the values, of n numbers between block a and the others, into a symmetric matrix. */
static void put_row(const struct fit_speckle_private *k, size_t g, size_t a, const double *value, double *to)
{
    const double *cover = k->cover + g * k->n * k->n;
    uint32_t i[SAMPLES], j[SAMPLES];
    for (size_t c = a; c < k->n; c++) {
        const size_t n = sample_pairs(k, a, c, i, j);
        double sum = 0;
        for (size_t e = 0; e < n; e++)
            sum += *value++;
        to[a * k->n + c] = to[c * k->n + a] = cover[a * k->n + c] * sum / (double)n;
    }
}

/* The mean with the given lin (of all groups), and its derivatives by theta (n n each; NULL: not), in row a. */
static void model_row(const struct fit_speckle_private *k, const double *ws, const struct room *r, size_t g, size_t a,
                      double *mean, double *derivative)
{
    const size_t nn = k->n * k->n;
    size_t n = 0;
    for (size_t c = a; c < k->n; c++)
        n += sample_pairs(k, a, c, r->i + n, r->j + n);
    for (size_t e = 0; e < n; e++)
        r->g[e] = (uint32_t)g;
    k->inner->points(k->layout, ws, r->lin, n, r->i, r->j, r->g, r->mean, derivative ? r->jac : NULL);
    put_row(k, g, a, r->mean, mean);
    for (size_t p = 0; derivative && p < k->inner->nparam; p++)
        put_row(k, g, a, r->jac + p * n, derivative + p * nn);
}

/* Upper triangle of a whitened matrix as rows: its elements off the diagonal count twice, 1/2 M |X|^2 is the cost. */
static void put_rows(const struct fit_speckle_private *k, size_t g, const double *X, double *to)
{
    const double scale = k->scale[g], half = scale * sqrt(0.5);
    for (size_t a = 0; a < k->n; a++)
        for (size_t c = a; c < k->n; c++)
            *to++ = (a == c ? half : scale) * X[a * k->n + c];
}

/* ---- tables ------------------------------------------------------------------------------------------------ */

static size_t inner_space(const struct fit_speckle_private *k)
{
    return padded(k->inner->workspace(k->layout));
}

/* Numbers of one table: all rows. */
static size_t table_size(const struct fit_layout *l)
{
    return padded(l->nrow);
}

static size_t ntable(const struct fit_speckle_private *k)
{
    return k->nterm * (1 + k->inner->nparam);
}

static double *table(const struct fit_layout *l, double *ws, size_t term, size_t which)
{
    const struct fit_speckle_private *k = of(l);
    return ws + inner_space(k) + (term * (1 + k->inner->nparam) + which) * table_size(l);
}

static size_t workspace(const struct fit_layout *l)
{
    const struct fit_speckle_private *k = of(l);
    return inner_space(k) + ntable(k) * (table_size(l) + padded(k->ng * k->n * k->n)) +
           (size_t)k->threads * room_size(k);
}

struct preparing {
    const struct fit_speckle_private *k;
    const struct fit_layout *l;
    double *ws, *matrix, *room;
    size_t derivatives; /* of each term: 0 or nparam */
};

/* Matrix `which` of a term, in group g. */
static double *matrix_of(const struct preparing *p, size_t g, size_t term, size_t which)
{
    const struct fit_speckle_private *k = p->k;
    return p->matrix + ((g * k->nterm + term) * (1 + k->inner->nparam) + which) * k->n * k->n;
}

static void evaluate_row(void *user, size_t at, size_t thread)
{
    const struct preparing *p = user;
    const struct fit_speckle_private *k = p->k;
    const size_t g = at / k->n, a = at % k->n;
    const struct room r = room_of(k, p->room + thread * room_size(k));
    for (size_t t = 0; t < k->nterm; t++) {
        for (size_t e = 0; e < k->ng * k->inner->nlinear; e++)
            r.lin[e] = (long)(e % k->inner->nlinear) == k->term[t];
        model_row(k, p->ws, &r, g, a, matrix_of(p, g, t, 0), p->derivatives ? matrix_of(p, g, t, 1) : NULL);
    }
}

static void whiten_field(void *user, size_t at, size_t thread)
{
    const struct preparing *p = user;
    const struct fit_speckle_private *k = p->k;
    const size_t of_group = k->nterm * (1 + p->derivatives), g = at / of_group, e = at % of_group;
    const size_t term = e / (1 + p->derivatives), which = e % (1 + p->derivatives);
    const struct room r = room_of(k, p->room + thread * room_size(k));
    double *X = matrix_of(p, g, term, which);
    fit_whiten(&k->white[g], X, r.white, X);
    put_rows(k, g, X, table(p->l, p->ws, term, which) + k->first[g]);
}

static enum fit_eval prepare(const struct fit_layout *l, const double *theta, int derivative, double *ws)
{
    const struct fit_speckle_private *k = of(l);
    enum fit_eval e = k->inner->prepare(k->layout, theta, derivative ? 1 : 0, ws);
    struct preparing p = {.k = k, .l = l, .ws = ws, .derivatives = derivative ? k->inner->nparam : 0};
    if (e != FIT_EVAL_OK)
        return e;
    p.matrix = ws + inner_space(k) + ntable(k) * table_size(l);
    p.room = p.matrix + ntable(k) * padded(k->ng * k->n * k->n);
    const struct fit_team team = {k->threads, FIT_TEAM_NEXT};
    fit_team_run(team, k->ng * k->n, evaluate_row, &p);
    for (size_t g = 0; g < k->ng; g++)
        for (size_t t = 0; t < k->nterm; t++)
            for (size_t i = 0; i < k->n * k->n; i++)
                if (!isfinite(matrix_of(&p, g, t, 0)[i]))
                    return FIT_EVAL_REJECT;
    fit_team_run(team, k->ng * k->nterm * (1 + p.derivatives), whiten_field, &p);
    return FIT_EVAL_OK;
}

/* ---- sums over the rows of a tile -------------------------------------------------------------------------- */

/* What the rows of a tile have: r1 - r0 of them, from place r0 on. */
struct rows {
    const struct fit_layout *l;
    const double *ws, *y;
    size_t r0, n;
};

static struct rows rows_of(const struct fit_layout *l, const double *ws, const struct fit_tile *t)
{
    return (struct rows){l, ws, t->y ? t->y + t->i0 % FIT_LANES : NULL, t->i0, t->i1 - t->i0};
}

static const double *column(const struct rows *r, size_t term, size_t which)
{
    return table(r->l, (double *)(void *)(uintptr_t)r->ws, term, which) + r->r0;
}

/* b_q, or NULL where q has none; the rest is q = -1. */
static const double *basis(const struct rows *r, size_t g, long q)
{
    const struct fit_speckle_private *k = of(r->l);
    if (q >= 0 && q == k->inner->intercept)
        return k->constant + g * k->each + (r->r0 - k->first[g]);
    for (size_t t = 0; t < k->nterm; t++)
        if (k->term[t] == q)
            return column(r, t, 0);
    return NULL;
}

static double sum_of(size_t n, const double *a, const double *b)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}

/* out <- y less what lin has of the mean; lin NULL: less the rest. */
static void residuals(const struct rows *r, size_t g, const double *lin, double *out)
{
    const struct fit_speckle_private *k = of(r->l);
    const double *rest = basis(r, g, -1);
    for (size_t i = 0; i < r->n; i++)
        out[i] = r->y[i] - (rest ? rest[i] : 0);
    for (size_t q = 0; lin && q < k->inner->nlinear; q++) {
        const double *b = basis(r, g, (long)q), v = lin[g * k->inner->nlinear + q];
        for (size_t i = 0; i < r->n; i++)
            out[i] -= v * b[i];
    }
}

static size_t scratch(const struct fit_layout *l)
{
    const struct fit_speckle_private *k = of(l);
    return (2 + k->inner->nparam) * (size_t)MOST_ROWS;
}

static void moments(const struct fit_layout *l, const double *ws, const struct fit_tile *t, double *room, double *out)
{
    const struct fit_speckle_private *k = of(l);
    const size_t q = k->inner->nlinear, each = q * (q + 1) / 2 + q + 1;
    const struct rows r = rows_of(l, ws, t);
    memset(out, 0, k->ng * each * sizeof *out);
    out += t->group * each;
    residuals(&r, t->group, NULL, room);
    for (size_t a = 0; a < q; a++)
        for (size_t b = a; b < q; b++)
            *out++ = sum_of(r.n, basis(&r, t->group, (long)a), basis(&r, t->group, (long)b));
    for (size_t a = 0; a < q; a++)
        *out++ = sum_of(r.n, basis(&r, t->group, (long)a), room);
    *out = sum_of(r.n, room, room);
}

/* to <- d mean / d theta_p */
static void derivative_of(const struct rows *r, size_t p, const double *lin, double *to)
{
    const struct fit_speckle_private *k = of(r->l);
    memset(to, 0, r->n * sizeof *to);
    for (size_t t = 0; t < k->nterm; t++) {
        const double *d = column(r, t, 1 + p), v = k->term[t] < 0 ? 1 : lin[k->term[t]];
        for (size_t i = 0; i < r->n; i++)
            to[i] += v * d[i];
    }
}

static void normal(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                   double *room, double *out)
{
    const struct fit_speckle_private *k = of(l);
    const size_t p = k->inner->nparam, q = k->inner->nlinear, g = t->group;
    const struct rows r = rows_of(l, ws, t);
    double *rest = room, *m = room + MOST_ROWS, *cross = out + p * (p + 1) / 2 + p;
    memset(cross, 0, k->ng * q * p * sizeof *cross);
    residuals(&r, g, lin, rest);
    for (size_t a = 0; a < p; a++)
        derivative_of(&r, a, lin + g * q, m + a * MOST_ROWS);
    for (size_t a = 0; a < p; a++)
        for (size_t b = a; b < p; b++)
            *out++ = sum_of(r.n, m + a * MOST_ROWS, m + b * MOST_ROWS);
    for (size_t a = 0; a < p; a++)
        *out++ = sum_of(r.n, m + a * MOST_ROWS, rest);
    for (size_t e = 0; e < q; e++)
        for (size_t a = 0; a < p; a++)
            cross[(g * q + e) * p + a] = sum_of(r.n, basis(&r, g, (long)e), m + a * MOST_ROWS);
}

static void gradient(const struct fit_layout *l, const double *ws, const double *lin, const double *adj,
                     const struct fit_tile *t, double *room, double *out)
{
    const struct fit_speckle_private *k = of(l);
    const size_t p = k->inner->nparam, q = k->inner->nlinear, g = t->group;
    const struct rows r = rows_of(l, ws, t);
    const double *of_group = adj + g * (1 + q * (q + 1) / 2), rho = of_group[0];
    double *rest = room, *factor = room + MOST_ROWS;
    memset(out, 0, p * sizeof *out);
    residuals(&r, g, lin, rest);
    for (size_t e = 0; e < k->nterm; e++) {
        const long at = k->term[e];
        const double v = rho * (at < 0 ? 1 : lin[g * q + (size_t)at]);
        for (size_t i = 0; i < r.n; i++)
            factor[i] = v * rest[i];
        for (size_t b = 0; at >= 0 && b < q; b++) {
            const size_t lo = b < (size_t)at ? b : (size_t)at, hi = b < (size_t)at ? (size_t)at : b;
            const double M = of_group[1 + lo * q - lo * (lo + 1) / 2 + hi], *base = basis(&r, g, (long)b);
            for (size_t i = 0; i < r.n; i++)
                factor[i] -= M * base[i];
        }
        for (size_t a = 0; a < p; a++)
            out[a] += sum_of(r.n, factor, column(&r, e, 1 + a));
    }
}

/* ---- values ------------------------------------------------------------------------------------------------ */

static double mean_at(const struct rows *r, size_t g, const double *lin, size_t i)
{
    const struct fit_speckle_private *k = of(r->l);
    const double *rest = basis(r, g, -1);
    double sum = rest ? rest[i] : 0;
    for (size_t q = 0; q < k->inner->nlinear; q++)
        sum += lin[g * k->inner->nlinear + q] * basis(r, g, (long)q)[i];
    return sum;
}

static void model(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                  double *out)
{
    const struct rows r = rows_of(l, ws, t);
    for (size_t i = 0; i < r.n; i++)
        out[t->i0 % FIT_LANES + i] = mean_at(&r, t->group, lin, i);
}

static void points(const struct fit_layout *l, const double *ws, const double *lin, size_t n, const uint32_t *i,
                   const uint32_t *j, const uint32_t *g, double *mean, double *jac)
{
    const struct fit_speckle_private *k = of(l);
    const size_t p = k->inner->nparam, q = k->inner->nlinear;
    (void)j;
    for (size_t e = 0; e < n; e++) {
        const size_t group = g ? g[e] : 0;
        const struct rows r = {l, ws, NULL, i[e], 1};
        mean[e] = mean_at(&r, group, lin, 0);
        for (size_t a = 0; jac && a < p; a++)
            derivative_of(&r, a, lin + group * q, &jac[a * n + e]);
        for (size_t a = 0; jac && a < q; a++)
            jac[(p + a) * n + e] = *basis(&r, group, (long)a);
    }
}

static void combine(const struct fit_layout *l, const double *theta, double *value, double *slope)
{
    of(l)->inner->combine(of(l)->layout, theta, value, slope);
}

/* ---- the weights ------------------------------------------------------------------------------------------- */

size_t fit_speckle_weights_room(const struct fit_speckle_kernel *k)
{
    return k->n * k->n + fit_whitener_room(k->n) + k->private_->each;
}

/* From rows of derivatives; room: fit_speckle_weights_room(). */
static void weights_of(const struct fit_speckle_private *k, size_t g, const double *row, double *room, double *field)
{
    const size_t n = k->n;
    const double *cover = k->cover + g * n * n;
    double *X = room, *white = room + n * n;
    for (size_t a = 0; a < n; a++)
        for (size_t c = a; c < n; c++, row++)
            X[a * n + c] = X[c * n + a] = (a == c ? sqrt(2) : 1) * *row;
    fit_whitened_weights(&k->white[g], X, white, field);
    for (size_t i = 0; i < n * n; i++)
        field[i] *= k->scale[g] / 2 * cover[i];
}

void fit_speckle_weights(const struct fit_speckle_kernel *kernel, const double *ws, const double *lin, size_t g,
                         double *room, double *field)
{
    const struct fit_speckle_private *k = kernel->private_;
    const size_t p = k->inner->nparam, q = k->inner->nlinear, nn = k->n * k->n;
    const struct rows r = {&kernel->ds->layout, ws, NULL, k->first[g], k->each};
    double *row = room + nn + fit_whitener_room(k->n);
    for (size_t a = 0; a < p; a++) {
        derivative_of(&r, a, lin + g * q, row);
        weights_of(k, g, row, room, field + a * nn);
    }
    for (size_t e = 0; e < q; e++)
        weights_of(k, g, basis(&r, g, (long)e), room, field + (p + e) * nn);
}

/* ---- made --------------------------------------------------------------------------------------------------- */

void fit_speckle_kernel_free(struct fit_speckle_kernel *kernel)
{
    struct fit_speckle_private *k = kernel ? kernel->private_ : NULL;
    if (!k)
        return;
    for (size_t g = 0; k->white && g < k->ng; g++)
        fit_whitener_free(&k->white[g]);
    fit_dataset_free(kernel->ds);
    struct fit_arena all = k->storage; /* itself in it */
    fit_arena_free(&all);
}

/* Arrays of k, and k, from one arena. */
static struct fit_speckle_kernel *kernel_new(const struct fit_speckle_reference *at)
{
    const struct fit_objective *o = at->obj;
    struct fit_arena a = {NULL, 0};
    struct fit_speckle_kernel *made = fit_take(&a, 1, sizeof *made);
    struct fit_speckle_private *k = fit_take(&a, 1, sizeof *k);
    const size_t n = at->scores->nblock, q = o->nlinear, each = n * (n + 1) / 2;
    struct fit_speckle_private x = {.inner = o->kernel, .layout = &o->ds->layout, .ng = o->ngroup, .n = n,
                                    .frames = at->scores->length, .each = each,
                                    .threads = at->threads > 1 ? at->threads : 1};
    x.term = fit_take(&a, q + 1, sizeof *x.term);
    x.white = fit_take(&a, x.ng, sizeof *x.white);
    x.first = fit_take(&a, x.ng, sizeof *x.first);
    x.linear = fit_take_copy(&a, o->kernel->linear, q, sizeof *x.linear);
    FIT_TAKE_DOUBLES(&a, x.ng, &x.scale);
    FIT_TAKE_DOUBLES(&a, x.ng * n * n, &x.cover);
    FIT_TAKE_DOUBLES(&a, x.ng * each, &x.constant);
    if (a.failed) {
        fit_arena_free(&a);
        return NULL;
    }
    *k = x;
    k->storage = a;
    *made = (struct fit_speckle_kernel){.n = n, .frames = x.frames, .private_ = k};
    return made;
}

/* What a job of making one needs beside it. */
struct making {
    const struct fit_speckle_reference *at;
    struct fit_speckle_kernel *out;
    struct fit_speckle_private *k;
    struct fit_speckle_model model;
    double *value;           /* ng x each: rows */
    double *matrix, *root, *shot, *room; /* of a group */
    unsigned char *measured; /* n */
};

/* Parts of the values that there are, and residuals at the reference, between the blocks of group g. */
static void measured_of(struct making *m, size_t g, double *residual)
{
    const struct fit_speckle_private *k = m->k;
    const struct fit_speckle_blocks b = {&m->model, k->n, k->frames};
    const size_t P = m->at->scores->P, p = k->inner->nparam, q = k->inner->nlinear, n = k->n;
    double *cover = k->cover + g * n * n;
    for (size_t a = 0; a < n; a++)
        for (size_t c = a; c < n; c++) {
            const double *sum = fit_fields_at(m->at->scores, g, a, c);
            const double fa = (double)fit_speckle_block_frames(&b, a), fc = (double)fit_speckle_block_frames(&b, c);
            const double most = a == c ? fa * (fa - 1) / 2 : fa * fc;
            double rest = sum[P];
            for (size_t e = 0; e < q; e++)
                rest -= (m->at->lin[g * q + e] - fit_objective_linear(m->at->obj, g, e)) * sum[p + e];
            cover[a * n + c] = cover[c * n + a] = most > 0 ? sum[p + (size_t)k->inner->intercept] / most : 0;
            residual[a * n + c] = residual[c * n + a] = most > 0 ? rest / most : 0;
        }
    for (size_t a = 0; a < n; a++)
        m->measured[a] = cover[a * (n + 1)] > 0;
}

/* Noise of group g as its residuals are most likely to have it; it stays as it was where they do not tell. */
static void find_noise(struct making *m, size_t g, const double *residual)
{
    const struct fit_speckle_private *k = m->k;
    const struct fit_speckle_blocks b = {&m->model, k->n, k->frames};
    struct fit_speckle_residuals r = {k->n, m->matrix, m->shot, residual, m->measured,
                                      (double)k->inner->nparam / (double)k->ng + (double)k->inner->nlinear};
    if (m->at->noise[g].known != FIT_SPECKLE_BOTH)
        return;
    fit_speckle_between(&b, g, &m->at->noise[g], m->matrix, m->root, m->shot);
    for (size_t a = 0; a < k->n; a++)
        m->shot[a] = 1 / (double)fit_speckle_block_frames(&b, a);
    fit_speckle_likelihood(&r, m->room, &m->at->noise[g]);
}

/* The whitener of group g. */
static int whitener_of(struct making *m, size_t g)
{
    struct fit_speckle_private *k = m->k;
    const struct fit_speckle_blocks b = {&m->model, k->n, k->frames};
    const struct fit_speckle_noise *noise = &m->at->noise[g];
    k->scale[g] = sqrt(fit_speckle_between(&b, g, noise, m->matrix, m->root, m->shot));
    for (size_t a = 0; a < k->n; a++)
        m->matrix[a * (k->n + 1)] +=
            fmax(m->shot[a], LEAST_SHOT * noise->contrast / (double)fit_speckle_block_frames(&b, a));
    return fit_whitener_new(k->n, m->matrix, m->measured, &k->white[g]);
}

/* Rows of group g: residuals at the reference and the model there; the constant. */
static void rows_of_group(struct making *m, size_t g, const double *residual)
{
    struct fit_speckle_private *k = m->k;
    const size_t nn = k->n * k->n;
    const struct room r = room_of(k, m->room);
    memcpy(r.lin, m->at->lin, k->ng * k->inner->nlinear * sizeof *r.lin);
    for (size_t a = 0; a < k->n; a++)
        model_row(k, m->at->obj->ws, &r, g, a, m->matrix, NULL);
    for (size_t i = 0; i < nn; i++)
        m->matrix[i] += residual[i];
    fit_whiten(&k->white[g], m->matrix, r.white, m->matrix);
    put_rows(k, g, m->matrix, m->value + g * k->each);
    fit_whiten(&k->white[g], k->cover + g * nn, r.white, m->matrix);
    put_rows(k, g, m->matrix, k->constant + g * k->each);
}

/* Has the mean terms without linear parameters? */
static int has_rest(struct making *m)
{
    const struct fit_speckle_private *k = m->k;
    const struct room r = room_of(k, m->room);
    memset(r.lin, 0, k->ng * k->inner->nlinear * sizeof *r.lin);
    for (size_t g = 0; g < k->ng; g++)
        for (size_t a = 0; a < k->n; a++) {
            model_row(k, m->at->obj->ws, &r, g, a, m->matrix, NULL);
            for (size_t c = a; c < k->n; c++)
                if (m->matrix[a * k->n + c] != 0)
                    return 1;
        }
    return 0;
}

static void find_terms(struct making *m)
{
    struct fit_speckle_private *k = m->k;
    for (size_t q = 0; q < k->inner->nlinear; q++)
        if ((int)q != k->inner->intercept)
            k->term[k->nterm++] = (long)q;
    if (has_rest(m))
        k->term[k->nterm++] = -1;
}

static enum fit_status make_dataset(struct making *m, struct fit_error *err)
{
    struct fit_speckle_private *k = m->k;
    const size_t nrow = k->ng * k->each;
    double *group = NULL, *one = NULL;
    FIT_SCRATCH(a);
    FIT_TAKE_DOUBLES(&a, nrow, &group, &one);
    if (a.failed)
        return fit_no_memory(err, "efficient estimates");
    for (size_t i = 0; i < nrow; i++) {
        group[i] = (double)(i / k->each);
        one[i] = 1;
    }
    const struct fit_dataset_table t = {.nrow = nrow, .naxis = 1, .nsetting = k->inner->nsetting,
                                        .axis = (const double *const[]){group}, .value = m->value, .sigma = one,
                                        .setting = k->layout->setting};
    enum fit_status st = fit_dataset_new_table(&t, &m->out->ds, err);
    if (st == FIT_OK)
        st = fit_dataset_finish(m->out->ds, err);
    if (st != FIT_OK)
        return st;
    for (size_t place = 0; place < m->out->ds->layout.nrow; place++)
        if (m->out->ds->row[place] != FIT_NO_ROW && m->out->ds->row[place] % k->each == 0)
            k->first[m->out->ds->row[place] / k->each] = place;
    m->out->ds->layout.context = k;
    return FIT_OK;
}

static void make_descriptor(struct making *m)
{
    struct fit_speckle_private *k = m->k;
    struct fit_kernel *to = &m->out->kernel;
    *to = *k->inner;
    for (size_t q = 0; q < to->nlinear; q++)
        k->linear[q].over = 0;
    k->axis = (struct fit_axis){.name = "group", .unit = "1"};
    to->space = FIT_ROWS;
    to->raw = 0;
    to->linear = k->linear;
    to->intercept = -1;
    to->naxis = 1;
    to->axis = &k->axis;
    to->ncolumn = to->ncurve = to->nscreen = 0;
    to->workspace = workspace;
    to->scratch = scratch;
    to->prepare = prepare;
    to->moments = moments;
    to->normal = normal;
    to->gradient = gradient;
    to->model = model;
    to->points = points;
    to->curves = NULL;
    to->hessian = NULL;
    to->direction = NULL;
    to->second = NULL;
    to->combine = k->inner->combine ? combine : NULL;
}

static enum fit_status make(struct making *m, struct fit_error *err)
{
    struct fit_speckle_private *k = m->k;
    const size_t nn = k->n * k->n, room = room_size(k), other = fit_speckle_likelihood_room(k->n);
    double *residual = NULL;
    FIT_SCRATCH(a);
    FIT_TAKE_DOUBLES(&a, nn, &residual, &m->matrix, &m->root);
    FIT_TAKE_DOUBLES(&a, k->n, &m->shot);
    FIT_TAKE_DOUBLES(&a, k->ng * k->each, &m->value);
    FIT_TAKE_DOUBLES(&a, room > other ? room : other, &m->room);
    m->measured = fit_take(&a, k->n, sizeof *m->measured);
    if (a.failed)
        return fit_no_memory(err, "efficient estimates");
    for (size_t g = 0; g < k->ng; g++)
        measured_of(m, g, residual);
    find_terms(m);
    for (size_t g = 0; g < k->ng; g++) {
        measured_of(m, g, residual);
        find_noise(m, g, residual);
        if (!whitener_of(m, g))
            return fit_fail(err, FIT_ERR_NUMERIC, "fit: the covariance of the speckles' noise has no inverse");
        rows_of_group(m, g, residual);
    }
    make_descriptor(m);
    return make_dataset(m, err);
}

enum fit_status fit_speckle_kernel_new(const struct fit_speckle_reference *at, struct fit_speckle_kernel **out,
                                       struct fit_error *err)
{
    const struct fit_objective *o = at->obj;
    struct fit_speckle_kernel *made = kernel_new(at);
    *out = NULL;
    if (!made)
        return fit_no_memory(err, "efficient estimates");
    struct making m = {.at = at, .out = made, .k = made->private_,
                       .model = {o->kernel, &o->ds->layout, o->ws, at->lin}};
    enum fit_status st = make(&m, err);
    if (st != FIT_OK)
        fit_speckle_kernel_free(made);
    else
        *out = made;
    return st;
}
