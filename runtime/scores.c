/* scores.c -- one pass over the data at the optimum: scores by blocks of frames, tests of the residuals.
 *
 * Values and derivatives come from the kernel's `points`, a few hundred at a time, so nothing as large as the
 * data is stored.  For pairs the unit of work is a block of rows of one group: it alone writes to its part of
 * the sums, so the bits do not depend on the number of threads.
 */
#include "scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rho.h"

enum { PIECE = 256, DECILES = FIT_RESIDUAL_DECILES };

/* Sums over residuals z = sqrt(w) r of one unit. */
struct sums {
    double n, z2, z4;
    double age, nage;       /* neighbours z(i, j) z(i-1, j-1) */
    double lag, nlag;       /* neighbours z(i, j) z(i, j-1) */
    double share, nshare;   /* z(i, j) z(i, k), j != k */
    double decile[DECILES], ndecile[DECILES];
};

struct pass {
    struct fit_objective *o;
    const struct fit_score_loss *loss;
    const double *D;
    struct fit_scores *s;
    struct sums *sums; /* one for each unit */
    int lost;          /* a unit found no memory */
};

/* A stretch of values of one group, at most PIECE of them. */
struct piece {
    double mean[PIECE], y[PIECE], v[PIECE], w[PIECE], *jac;
    uint32_t i[PIECE], j[PIECE], g[PIECE];
};

/* Model, derivatives, weights v, and weights times rho' of a piece of n values with y and v set; values that do
 * not count get weight 0. */
static void settle(const struct pass *p, struct piece *x, size_t n)
{
    const struct fit_objective *o = p->o;
    o->kernel->points(&o->ds->layout, o->ws, o->lin, n, x->i, x->j, x->g, x->mean, x->jac);
    for (size_t k = 0; k < n; k++)
        x->w[k] = x->v[k];
    if (p->loss->loss == FIT_LOSS_LINEAR)
        return;
    double one = 1, ignored[PIECE];
    size_t padded = (n + FIT_LANES - 1) / FIT_LANES;
    for (size_t k = n; k < padded * FIT_LANES; k++)
        x->y[k] = x->mean[k] = x->v[k] = 0;
    struct fit_lanes lanes = {padded, 1, x->y, x->mean, x->v, &one};
    fit_rho_weights(&lanes, p->loss->loss, p->loss->f_scale, 1, x->w, ignored);
}

/* ---- pairs ---------------------------------------------------------------------------------------------- */

struct row { /* residuals of a row by column, NaN where there is none */
    double *now, *before;
};

static void add_piece(struct pass *p, const struct piece *x, size_t n, size_t a, struct row *row)
{
    struct fit_scores *s = p->s;
    const size_t P = s->P;
    for (size_t k = 0; k < n; k++) {
        double r = x->y[k] - x->mean[k], score = x->w[k] * r;
        double *to = fit_scores_at(s, x->g[k], a, x->j[k] / s->length);
        const double *jac = x->jac + k * P;
        if (!(x->v[k] > 0))
            continue;
        row->now[x->j[k]] = sqrt(x->v[k]) * r;
        for (size_t c = 0; c < P; c++)
            to[c] += score * jac[c];
    }
}

/* Values of row i in tile t, columns from j0 on; returns the next column. */
static size_t take_piece(const struct pass *p, const struct fit_tile *t, size_t g, size_t i, size_t j0,
                         struct piece *x, size_t *n)
{
    const struct fit_layout *l = &p->o->ds->layout;
    const size_t L = FIT_LANES;
    double factor = fit_score_factor(p->o, g);
    size_t end = t->j1 - j0 < PIECE ? t->j1 : j0 + PIECE, block = j0 / L;
    size_t base = fit_tile_offset(l, t, i, j0, g) - j0 % L;
    *n = 0;
    for (size_t j = j0; j < end; j++, ++*n) {
        size_t at = base + (j / L - block) * l->ngroup * L + j % L;
        x->i[*n] = (uint32_t)i;
        x->j[*n] = (uint32_t)j;
        x->g[*n] = (uint32_t)g;
        x->y[*n] = t->y[at];
        x->v[*n] = (t->w ? t->w[at] : 1) * factor;
    }
    return end;
}

static void test_row(struct sums *s, const struct row *row, size_t i, size_t n)
{
    double all = 0, square = 0, count = 0;
    for (size_t j = i + 1; j < n; j++) {
        double z = row->now[j];
        if (isnan(z))
            continue;
        size_t tenth = (j - i - 1) * DECILES / n;
        s->decile[tenth] += z * z;
        s->ndecile[tenth] += 1;
        s->z4 += z * z * z * z;
        all += z;
        square += z * z;
        count += 1;
        if (j > i + 1 && !isnan(row->now[j - 1])) {
            s->lag += z * row->now[j - 1];
            s->nlag += 1;
        }
        if (!isnan(row->before[j - 1])) {
            s->age += z * row->before[j - 1];
            s->nage += 1;
        }
    }
    s->n += count;
    s->z2 += square;
    s->share += all * all - square;
    s->nshare += count * (count - 1);
}

static void clear(double *x, size_t n)
{
    for (size_t k = 0; k < n; k++)
        x[k] = NAN;
}

/* Block a of rows of group g. */
static void pairs_unit(void *user, size_t unit)
{
    struct pass *p = user;
    const struct fit_dataset *ds = p->o->ds;
    size_t nframe = ds->layout.nframe, g = unit / p->s->nblock, a = unit % p->s->nblock, n;
    size_t first = a * p->s->length, last = first + p->s->length < nframe ? first + p->s->length : nframe;
    struct piece *x = malloc(sizeof *x);
    double *jac = malloc(PIECE * p->s->P * sizeof *jac), *rows = malloc(2 * nframe * sizeof *rows);
    if (!x || !jac || !rows) {
#pragma omp atomic write
        p->lost = 1;
        goto done;
    }
    x->jac = jac;
    struct row row = {rows, rows + nframe};
    clear(row.before, nframe);
    for (size_t i = first; i < last; i++) {
        clear(row.now, nframe);
        for (size_t k = 0; k < ds->ntile; k++) {
            const struct fit_tile *t = &ds->tile[k];
            if (i < t->i0 || i >= t->i1 || t->j1 <= i + 1)
                continue;
            for (size_t j = t->j0 > i + 1 ? t->j0 : i + 1; j < t->j1;) {
                j = take_piece(p, t, g, i, j, x, &n);
                settle(p, x, n);
                add_piece(p, x, n, a, &row);
            }
        }
        test_row(&p->sums[unit], &row, i, nframe);
        double *swap = row.now;
        row.now = row.before;
        row.before = swap;
    }
done:
    free(x);
    free(jac);
    free(rows);
}

/* ---- rows ----------------------------------------------------------------------------------------------- */

/* w j^T D j: the part of a value that its own fit follows. */
static double leverage(const struct pass *p, size_t g, const double *jac, double w)
{
    const struct fit_objective *o = p->o;
    size_t n = o->nparam + o->nu;
    double h = 0;
    for (size_t a = 0; a < p->s->P; a++) {
        long u = fit_score_unknown(o, g, a);
        for (size_t b = 0; u >= 0 && b < p->s->P; b++) {
            long v = fit_score_unknown(o, g, b);
            h += v >= 0 ? jac[a] * p->D[(size_t)u * n + (size_t)v] * jac[b] : 0;
        }
    }
    return w * h;
}

/* HC3: the residual is divided by 1 - h, what it would be had the value not been fitted (MacKinnon & White,
 * J. Econometrics 29 (1985) 305). */
static void add_product(struct pass *p, const struct piece *x, size_t k)
{
    const size_t P = p->s->P, g = x->g[k];
    const double *jac = x->jac + k * P;
    double h = leverage(p, g, jac, x->v[k]), score = x->w[k] * (x->y[k] - x->mean[k]) / fmax(1 - h, 1e-6);
    double *to = p->s->product + g * P * P;
    for (size_t a = 0; a < P; a++)
        for (size_t b = 0; b < P; b++)
            to[a * P + b] += score * score * jac[a] * jac[b];
}

static void rows_tile(struct pass *p, const struct fit_tile *t, struct piece *x, double *before)
{
    size_t base = t->i0 / FIT_LANES * FIT_LANES;
    struct sums *s = &p->sums[t->group];
    double factor = fit_score_factor(p->o, t->group);
    for (size_t i = t->i0, n = 0; i < t->i1; i += n) {
        for (n = 0; n < PIECE && i + n < t->i1; n++) {
            x->i[n] = x->j[n] = (uint32_t)(i + n);
            x->g[n] = (uint32_t)t->group;
            x->y[n] = t->y[i + n - base];
            x->v[n] = (t->w ? t->w[i + n - base] : 1) * factor;
        }
        settle(p, x, n);
        for (size_t k = 0; k < n; k++) {
            double z = sqrt(x->v[k]) * (x->y[k] - x->mean[k]);
            if (!(x->v[k] > 0))
                continue;
            add_product(p, x, k);
            s->n += 1;
            s->z2 += z * z;
            s->z4 += z * z * z * z;
            if (!isnan(*before)) {
                s->lag += z * *before;
                s->nlag += 1;
            }
            *before = z;
        }
    }
}

/* Tables are small: one thread. */
static void rows_pass(struct pass *p)
{
    struct piece *x = malloc(sizeof *x);
    double *jac = malloc(PIECE * p->s->P * sizeof *jac), before = NAN;
    p->lost = !x || !jac;
    for (size_t k = 0; !p->lost && k < p->o->ds->ntile; k++) {
        const struct fit_tile *t = &p->o->ds->tile[k];
        if (k == 0 || t->group != t[-1].group)
            before = NAN;
        x->jac = jac;
        rows_tile(p, t, x, &before);
    }
    free(x);
    free(jac);
}

/* ---- both ----------------------------------------------------------------------------------------------- */

static void add_sums(struct sums *to, const struct sums *from)
{
    double *a = (double *)to;
    const double *b = (const double *)from;
    for (size_t k = 0; k < sizeof *to / sizeof *a; k++)
        a[k] += b[k];
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

static void finish_test(const struct sums *s, int pairs, struct fit_residual_test *t)
{
    double v = ratio(s->z2, s->n);
    t->kurtosis = ratio(s->z4, s->n) / (v * v);
    t->along_lag = ratio(s->lag, s->nlag) / v;
    t->along_age = pairs ? ratio(s->age, s->nage) / v : NAN;
    t->sharing = pairs ? ratio(s->share, s->nshare) / v : NAN;
    for (size_t k = 0; k < DECILES; k++)
        t->decile[k] = pairs ? ratio(s->decile[k], s->ndecile[k]) / v : NAN;
}

enum fit_status fit_scores_new(struct fit_objective *obj, const struct fit_score_loss *loss, const double *D,
                               struct fit_scores *s, struct fit_error *err)
{
    const struct fit_layout *l = &obj->ds->layout;
    int pairs = obj->kernel->space == FIT_PAIRS;
    *s = (struct fit_scores){.ngroup = obj->ngroup, .P = obj->nparam + obj->nlinear};
    struct pass p = {.o = obj, .loss = loss, .D = D, .s = s};
    size_t units = s->ngroup, numbers = s->ngroup * s->P * s->P;
    if (pairs) {
        s->length = (l->nframe + FIT_SCORE_BLOCKS - 1) / FIT_SCORE_BLOCKS;
        s->nblock = (l->nframe + s->length - 1) / s->length;
        units *= s->nblock;
        numbers = s->ngroup * (s->nblock * (s->nblock + 1) / 2) * s->P;
    }
    double *all = calloc(numbers + 1, sizeof *all);
    s->test = calloc(s->ngroup + 1, sizeof *s->test);
    p.sums = calloc(units + 1, sizeof *p.sums);
    s->storage_ = s->sum = s->product = all;
    if (all && s->test && p.sums && pairs)
        fit_parallel_each(obj->par, units, pairs_unit, &p);
    else if (all && s->test && p.sums)
        rows_pass(&p);
    int ok = all && s->test && p.sums && !p.lost;
    for (size_t g = 0; ok && g < s->ngroup; g++) {
        size_t each = units / s->ngroup;
        for (size_t k = 1; k < each; k++)
            add_sums(&p.sums[g * each], &p.sums[g * each + k]);
        finish_test(&p.sums[g * each], pairs, &s->test[g]);
    }
    free(p.sums);
    if (ok)
        return FIT_OK;
    fit_scores_free(s);
    return fit_fail(err, FIT_ERR_MEMORY, "fit: out of memory for the scores of the residuals");
}

void fit_scores_free(struct fit_scores *s)
{
    free(s->storage_);
    free(s->test);
    *s = (struct fit_scores){0};
}
