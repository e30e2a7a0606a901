/* scores.c -- one pass over the data at the optimum: scores by blocks of frames, tests of the residuals.
 *
 * Values and derivatives come from the kernel's `points`, a few hundred at a time, so nothing as large as the
 * data is stored.  Pairs go by tiles, in memory or read from their file: a tile's sums are formed by
 * themselves and added when those of all tiles before it were.
 */
#include "scores.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "rho.h"
#include "special.h"
#include "team.h"

enum { PIECE = 256, DECILES = FIT_RESIDUAL_DECILES, REACH = FIT_NOISE_REACH };

/* Sums over residuals z = sqrt(w) r. */
struct sums {
    double n, z2, z4;
    double age, nage;       /* neighbours z(i, j) z(i-1, j-1) */
    double lag, nlag;       /* neighbours z(i, j) z(i, j-1) */
    double share, nshare;   /* z(i, j) z(i, k), j != k */
    double decile[DECILES], ndecile[DECILES];
    struct fit_noise_sums neighbours;
};

static void add_sums(struct sums *to, const struct sums *from)
{
    double *a = (double *)to;
    const double *b = (const double *)from;
    for (size_t k = 0; k < sizeof *to / sizeof *a; k++)
        a[k] += b[k];
}

struct pass {
    struct fit_objective *o;
    const struct fit_score_loss *loss;
    const double *D;
    struct fit_scores *s;
    struct sums *sums; /* ngroup */
    struct patch *patch; /* of each thread */
    struct border *border;
    struct fit_misfit_bins bins;
    double *binned;    /* numbers of all bins */
    uint32_t *step[2]; /* of stencils of three and of five frames (local_noise.h) */
    double *limit;     /* ngroup */
    int lost;          /* there was no memory */
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

/* ---- pairs: one tile ------------------------------------------------------------------------------------ */

/* What a tile gives by itself: scores by blocks, residuals, sums over neighbours inside of it. */
struct patch {
    struct piece x;
    double *jac;      /* PIECE x P */
    double *score;    /* ngroup x na x nb x P */
    double *z;        /* as the tile; NaN where no value counts */
    double *field, *r; /* as scores.field of score; residuals as z, without weights; or NULL */
    double *room;     /* of the moments */
    struct fit_speckle_moments *moments; /* ngroup */
    double *first;    /* as scores.first */
    double *bins;     /* numbers of the bins */
    double *row;      /* ngroup x rows x 3: sum of z, of z^2, number */
    double *lines;    /* REACH + 1 rows of z, `panel` each: row i at i % (REACH + 1) */
    struct sums *sums; /* ngroup */
    double *buffer;   /* values that are read from a file */
    size_t a0, na, b0, nb; /* blocks that the tile meets */
};

static void frame_patch(const struct fit_scores *s, const struct fit_tile *t, struct patch *q)
{
    q->a0 = t->i0 / s->length;
    q->na = (t->i1 - 1) / s->length + 1 - q->a0;
    q->b0 = (t->j0 > t->i0 + 1 ? t->j0 : t->i0 + 1) / s->length;
    q->nb = (t->j1 - 1) / s->length + 1 - q->b0;
}

static double *patch_score(const struct pass *p, const struct patch *q, size_t g, size_t a, size_t b)
{
    return q->score + ((g * q->na + a) * q->nb + b) * p->s->P;
}

static double *patch_field(const struct pass *p, const struct patch *q, size_t g, size_t a, size_t b)
{
    return q->field + ((g * q->na + a) * q->nb + b) * (p->s->P + 1);
}

static void add_first(double *to, size_t P, const double *jac, double score, double w)
{
    for (size_t a = 0; a < P; a++) {
        to[a] += score * jac[a];
        for (size_t b = 0; b < P; b++)
            to[P + a * P + b] += w * jac[a] * jac[b];
    }
}

/* Residual k to its bin of lag and age. */
static void add_bin(const struct pass *p, const struct patch *q, const struct piece *x, size_t k)
{
    const uint32_t *frame = p->o->ds->layout.frame;
    const double *jac = x->jac + k * p->s->P, root = sqrt(x->v[k]), z = root * (x->y[k] - x->mean[k]);
    double *bin = q->bins + fit_misfit_at(&p->bins, frame, x->g[k], x->i[k], x->j[k]);
    bin[0] += 1;
    bin[1] += z;
    bin[2] += z * z;
    for (size_t c = 0; c < p->s->P; c++)
        bin[3 + c] += root * jac[c];
}

/* at[k]: where residual k stands in the tile. */
static void add_piece(struct pass *p, struct patch *q, const size_t *at, size_t n)
{
    const struct piece *x = &q->x;
    const size_t P = p->s->P, length = p->s->length;
    for (size_t k = 0; k < n; k++) {
        const double *jac = x->jac + k * P;
        double r = x->y[k] - x->mean[k], score = x->w[k] * r;
        if (!(x->v[k] > 0))
            continue;
        double *to = patch_score(p, q, x->g[k], x->i[k] / length - q->a0, x->j[k] / length - q->b0);
        q->z[at[k]] = sqrt(x->v[k]) * r;
        add_bin(p, q, x, k);
        for (size_t c = 0; c < P; c++)
            to[c] += score * jac[c];
        if (q->field) {
            double *field = patch_field(p, q, x->g[k], x->i[k] / length - q->a0, x->j[k] / length - q->b0);
            for (size_t c = 0; c < P; c++)
                field[c] += x->v[k] * jac[c];
            field[P] += x->v[k] * r;
            q->r[at[k]] = r;
        }
        if (x->i[k] == 0)
            add_first(q->first + x->g[k] * fit_scores_first(p->s), P, jac, score, x->w[k]);
    }
}

/* Residuals and scores in the order of the tile's values. */
static void take_values(struct pass *p, const struct fit_tile *t, struct patch *q)
{
    const struct fit_layout *l = &p->o->ds->layout;
    const size_t L = FIT_LANES, ngroup = l->ngroup;
    struct piece *x = &q->x;
    size_t where[PIECE], n = 0, at = 0;
    x->jac = q->jac;
    for (size_t i = t->i0; i < t->i1; i++)
        for (size_t b = (t->j0 > i + 1 ? t->j0 : i + 1) / L; b * L < t->j1; b++)
            for (size_t g = 0; g < ngroup; g++)
                for (size_t lane = 0; lane < L; lane++, at++) {
                    size_t j = b * L + lane;
                    q->z[at] = NAN;
                    if (q->r)
                        q->r[at] = NAN;
                    if (j <= i || j < t->j0 || j >= t->j1)
                        continue;
                    where[n] = at;
                    x->i[n] = (uint32_t)i;
                    x->j[n] = (uint32_t)j;
                    x->g[n] = (uint32_t)g;
                    x->y[n] = t->y[at];
                    x->v[n] = (t->w ? t->w[at] : 1) * fit_score_factor(p->o, g);
                    if (++n < PIECE)
                        continue;
                    settle(p, x, n);
                    add_piece(p, q, where, n);
                    n = 0;
                }
    if (n) {
        settle(p, x, n);
        add_piece(p, q, where, n);
    }
}

/* Residuals of row i and group g: z_of(row, j) for first <= j < t->j1. */
struct line {
    const double *z;
    size_t first, ngroup, block;
};

static struct line line_of(const struct pass *p, const struct patch *q, const struct fit_tile *t, size_t i, size_t g)
{
    const struct fit_layout *l = &p->o->ds->layout;
    size_t first = t->j0 > i + 1 ? t->j0 : i + 1;
    size_t at = fit_tile_offset(l, t, i, first, g) - first % FIT_LANES;
    return (struct line){q->z + at, first, l->ngroup, first / FIT_LANES};
}

static double z_of(const struct line *l, size_t j)
{
    return l->z[(j / FIT_LANES - l->block) * l->ngroup * FIT_LANES + j % FIT_LANES];
}

static void add_product(double z, double other, double *sum, double *count)
{
    if (isnan(z) || isnan(other))
        return;
    *sum += z * other;
    *count += 1;
}

/* Row i: z^2, z^4, neighbours along the lag, those along the age with the row above. */
static void test_line(const struct pass *p, const struct fit_tile *t, size_t i, const struct line *now,
                      const struct line *above, struct sums *s, double *row)
{
    size_t nframe = p->o->ds->layout.nframe;
    for (size_t j = now->first; j < t->j1; j++) {
        double z = z_of(now, j);
        if (isnan(z))
            continue;
        size_t tenth = (j - i - 1) * DECILES / nframe;
        s->decile[tenth] += z * z;
        s->ndecile[tenth] += 1;
        s->z4 += z * z * z * z;
        row[0] += z;
        row[1] += z * z;
        row[2] += 1;
        if (j > now->first)
            add_product(z, z_of(now, j - 1), &s->lag, &s->nlag);
        if (above && j > above->first)
            add_product(z, z_of(above, j - 1), &s->age, &s->nage);
    }
}

/* d^2 of the fourth order beyond which it is that of an outlier. */
static double limit_of(const struct pass *p, size_t g)
{
    static const double OUTLIER = 5;
    const struct fit_local_noise *local = p->loss->local ? &p->loss->local[g] : NULL;
    const double n = (double)p->o->ds->npoint_group[g], s2 = p->o->ssr[g] / fmax(n, 1);
    const double v = local && local->guess > 0 ? local->guess * fit_score_factor(p->o, g) : s2;
    return OUTLIER * OUTLIER * fmin(v, s2);
}

/* Differences along the age, of stencils of reach + 1 rows that end in row i of tile t. */
static void difference_line(const struct pass *p, const struct fit_tile *t, size_t i, size_t reach, struct patch *q,
                            size_t g)
{
    const size_t panel = p->o->ds->layout.panel, from = i - reach;
    const uint32_t *step = p->step[reach == REACH];
    const double *row[REACH + 1];
    if (i < t->i0 + reach || !step[from])
        return;
    for (size_t j = t->j0 > i + 1 ? t->j0 : i + 1, j1; j + reach < t->j1; j = j1 + 1) { /* stretches of equal steps */
        for (j1 = j; j1 + reach < t->j1 && step[j1] == step[from]; j1++)
            ;
        for (size_t m = 0; m <= reach; m++)
            row[m] = q->lines + (from + m) % (REACH + 1) * panel + (j - t->j0);
        (reach == REACH ? fit_noise_line : fit_noise_short)(row, j1 - j, p->limit[g], &q->sums[g].neighbours);
    }
}

static void difference_lines(const struct pass *p, const struct fit_tile *t, size_t i, const struct line *now,
                             struct patch *q, size_t g)
{
    double *last = q->lines + i % (REACH + 1) * p->o->ds->layout.panel;
    for (size_t j = now->first; j < t->j1; j++)
        last[j - t->j0] = z_of(now, j);
    difference_line(p, t, i, 2, q, g);
    difference_line(p, t, i, REACH, q, g);
}

static void test_tile(const struct pass *p, const struct fit_tile *t, struct patch *q)
{
    size_t ngroup = p->s->ngroup, rows = t->i1 - t->i0;
    memset(q->row, 0, ngroup * rows * 3 * sizeof *q->row);
    memset(q->sums, 0, ngroup * sizeof *q->sums);
    for (size_t g = 0; g < ngroup; g++) {
        struct line above = {0};
        for (size_t i = t->i0; i < t->i1; i++) {
            struct line now = line_of(p, q, t, i, g);
            double *row = q->row + (g * rows + i - t->i0) * 3;
            test_line(p, t, i, &now, i > t->i0 ? &above : NULL, &q->sums[g], row);
            difference_lines(p, t, i, &now, q, g);
            q->sums[g].z2 += row[1];
            q->sums[g].n += row[2];
            above = now;
        }
    }
}

/* ---- pairs: all tiles, each in its turn ----------------------------------------------------------------- */

/* Between tiles: residuals at their edges, sums over rows. */
struct border {
    size_t i0;               /* of the row of tiles */
    double *left;            /* ngroup x chunk: last column of the tile before */
    double *above, *bottom;  /* ngroup x nframe: last row of the row of tiles above, and of this */
    double *row;             /* ngroup x chunk x 3 */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t turn;             /* the tile whose turn it is */
};

static void clear(double *x, size_t n)
{
    for (size_t k = 0; k < n; k++)
        x[k] = NAN;
}

/* The row of tiles is complete; the next begins at frame i0. */
static void next_row(struct pass *p, size_t i0)
{
    const struct fit_layout *l = &p->o->ds->layout;
    struct border *e = p->border;
    for (size_t g = 0; g < l->ngroup; g++)
        for (size_t r = 0; r < l->chunk; r++) {
            const double *row = e->row + (g * l->chunk + r) * 3;
            p->sums[g].share += row[0] * row[0] - row[1];
            p->sums[g].nshare += row[2] * (row[2] - 1);
        }
    memset(e->row, 0, l->ngroup * l->chunk * 3 * sizeof *e->row);
    double *swap = e->above;
    e->above = e->bottom;
    e->bottom = swap;
    clear(e->bottom, l->ngroup * l->nframe);
    clear(e->left, l->ngroup * l->chunk);
    e->i0 = i0;
}

/* Neighbours of which one lies in the tile before, or in the row of tiles above. */
static void test_edges(struct pass *p, const struct fit_tile *t, const struct patch *q, size_t g)
{
    const struct fit_layout *l = &p->o->ds->layout;
    struct border *e = p->border;
    struct sums *s = &p->sums[g];
    double *left = e->left + g * l->chunk, before = NAN;
    const double *above = e->above + g * l->nframe;
    for (size_t i = t->i0; i < t->i1; i++) {
        struct line now = line_of(p, q, t, i, g);
        double z = z_of(&now, now.first), here = left[i - t->i0];
        if (now.first == t->j0) {
            add_product(z, here, &s->lag, &s->nlag);
            if (i > t->i0)
                add_product(z, before, &s->age, &s->nage);
        }
        for (size_t j = now.first; i == t->i0 && j < t->j1; j++)
            add_product(z_of(&now, j), above[j - 1], &s->age, &s->nage);
        for (size_t j = now.first; i + 1 == t->i0 + l->chunk && j < t->j1; j++)
            e->bottom[g * l->nframe + j] = z_of(&now, j);
        before = here;
        left[i - t->i0] = z_of(&now, t->j1 - 1);
    }
}

static void add_numbers(size_t n, const double *from, double *to)
{
    for (size_t k = 0; k < n; k++)
        to[k] += from[k];
}

static void add_patch(struct pass *p, const struct fit_tile *t, const struct patch *q)
{
    const struct fit_layout *l = &p->o->ds->layout;
    size_t rows = t->i1 - t->i0, P = p->s->P;
    if (t->i0 != p->border->i0)
        next_row(p, t->i0);
    for (size_t g = 0; g < l->ngroup; g++) {
        for (size_t a = 0; a < q->na; a++)
            for (size_t b = 0; b < q->nb; b++) {
                if (q->b0 + b < q->a0 + a)
                    continue;
                const double *from = patch_score(p, q, g, a, b);
                double *to = fit_scores_at(p->s, g, q->a0 + a, q->b0 + b);
                for (size_t c = 0; c < P; c++)
                    to[c] += from[c];
                if (q->field)
                    add_numbers(P + 1, patch_field(p, q, g, a, b), fit_fields_at(p->s, g, q->a0 + a, q->b0 + b));
            }
        if (q->field)
            add_numbers(sizeof *q->moments / sizeof(double), (const double *)&q->moments[g],
                        (double *)&p->s->moments[g]);
        for (size_t c = g * fit_scores_first(p->s); c < (g + 1) * fit_scores_first(p->s); c++)
            p->s->first[c] += q->first[c];
        for (size_t k = 0; k < rows * 3; k++)
            p->border->row[g * l->chunk * 3 + k] += q->row[g * rows * 3 + k];
        add_sums(&p->sums[g], &q->sums[g]);
        test_edges(p, t, q, g);
    }
    for (size_t at = 0; at < fit_misfit_numbers(&p->bins); at += p->bins.each)
        for (size_t c = 0; q->bins[at] > 0 && c < p->bins.each; c++)
            p->binned[at + c] += q->bins[at + c];
}

static void take_tile(void *user, size_t k, size_t thread)
{
    struct pass *p = user;
    struct patch *q = &p->patch[thread];
    struct fit_tile own;
    const struct fit_tile *t = fit_dataset_tile(p->o->ds, k, q->buffer, &own);
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_PAIRS);
    if (t) {
        frame_patch(p->s, t, q);
        memset(q->score, 0, p->s->ngroup * q->na * q->nb * p->s->P * sizeof *q->score);
        memset(q->first, 0, p->s->ngroup * fit_scores_first(p->s) * sizeof *q->first);
        if (q->field) {
            memset(q->field, 0, p->s->ngroup * q->na * q->nb * (p->s->P + 1) * sizeof *q->field);
            memset(q->moments, 0, p->s->ngroup * sizeof *q->moments);
        }
        memset(q->bins, 0, fit_misfit_numbers(&p->bins) * sizeof *q->bins);
        take_values(p, t, q);
        test_tile(p, t, q);
        for (size_t g = 0; q->field && g < p->s->ngroup; g++)
            fit_speckle_moments_add(&p->o->ds->layout, t, g, q->r, q->room, &q->moments[g]);
    }
    fit_clock_enter(FIT_CLOCK_WAIT);
    pthread_mutex_lock(&p->border->lock);
    while (p->border->turn != k)
        pthread_cond_wait(&p->border->changed, &p->border->lock);
    fit_clock_enter(FIT_CLOCK_REDUCE);
    if (t)
        add_patch(p, t, q);
    p->border->turn++;
    pthread_cond_broadcast(&p->border->changed);
    pthread_mutex_unlock(&p->border->lock);
    fit_clock_enter(was);
}

static size_t round_up(size_t n)
{
    return (n + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
}

/* Work space of all threads in one block, which is returned; NULL: out of memory. */
static double *new_patches(struct pass *p, size_t threads)
{
    const struct fit_dataset *ds = p->o->ds;
    const size_t ngroup = p->s->ngroup;
    size_t score = 0, values = 0;
    for (size_t k = 0; k < ds->ntile; k++) {
        struct patch q;
        size_t n = fit_tile_doubles(&ds->layout, &ds->tile[k]);
        frame_patch(p->s, &ds->tile[k], &q);
        score = q.na * q.nb > score ? q.na * q.nb : score;
        values = n > values ? n : values;
    }
    size_t buffer = round_up(fit_dataset_buffer(ds)), z = round_up(values),
           jac = round_up(PIECE * p->s->P), row = round_up(ngroup * ds->layout.chunk * 3),
           first = round_up(ngroup * fit_scores_first(p->s)), bins = round_up(fit_misfit_numbers(&p->bins)),
           lines = round_up((REACH + 1) * ds->layout.panel);
    const int fields = p->s->field != NULL;
    size_t field = fields ? round_up(score * ngroup * (p->s->P + 1)) : 0,
           room = fields ? round_up(fit_speckle_room(&ds->layout)) : 0,
           moments = fields ? round_up(ngroup * sizeof(struct fit_speckle_moments) / sizeof(double)) : 0;
    score = round_up(score * ngroup * p->s->P);
    size_t each = buffer + z + jac + row + first + bins + lines + score + field + (fields ? z : 0) + room + moments;
    double *all = aligned_alloc(64, threads * each * sizeof *all);
    struct sums *sums = calloc(threads * ngroup, sizeof *sums);
    p->patch = calloc(threads, sizeof *p->patch);
    for (size_t t = 0; all && sums && p->patch && t < threads; t++) {
        struct patch *q = &p->patch[t];
        q->buffer = all + t * each;
        q->z = q->buffer + buffer;
        q->jac = q->z + z;
        q->row = q->jac + jac;
        q->first = q->row + row;
        q->bins = q->first + first;
        q->lines = q->bins + bins;
        q->score = q->lines + lines;
        q->sums = sums + t * ngroup;
        if (!fields)
            continue;
        q->field = q->score + score;
        q->r = q->field + field;
        q->room = q->r + z;
        q->moments = (struct fit_speckle_moments *)(q->room + room);
    }
    if (all && sums && p->patch)
        return all;
    free(all);
    free(sums);
    free(p->patch);
    p->patch = NULL;
    return NULL;
}

/* Tiles are worked on as threads come to them, and added in their order: the bits depend neither on
 * the threads nor on where the values are. */
static void pairs_pass(struct pass *p)
{
    const struct fit_layout *l = &p->o->ds->layout;
    int threads = fit_objective_threads(p->o);
    size_t side = l->ngroup * l->chunk, line = l->ngroup * l->nframe;
    double *all = new_patches(p, (size_t)threads), *edge = calloc(4 * side + 2 * line, sizeof *edge);
    p->step[0] = malloc(2 * (l->nframe + 1) * sizeof *p->step[0]);
    p->limit = malloc((l->ngroup + 1) * sizeof *p->limit);
    p->lost = !all || !edge || !p->step[0] || !p->limit;
    if (!p->lost) {
        p->step[1] = p->step[0] + l->nframe;
        fit_noise_steps(l, 2, p->step[0]);
        fit_noise_steps(l, REACH, p->step[1]);
        for (size_t g = 0; g < l->ngroup; g++)
            p->limit[g] = limit_of(p, g);
        struct border e = {.i0 = 0, .row = edge, .left = edge + 3 * side, .above = edge + 4 * side,
                           .bottom = edge + 4 * side + line};
        pthread_mutex_init(&e.lock, NULL);
        pthread_cond_init(&e.changed, NULL);
        clear(e.left, side + 2 * line);
        p->border = &e;
        fit_dataset_begin(p->o->ds);
        fit_team_run((struct fit_team){threads, FIT_TEAM_NEXT}, p->o->ds->ntile, take_tile, p);
        fit_dataset_end(p->o->ds);
        next_row(p, 0);
        p->border = NULL;
        pthread_cond_destroy(&e.changed);
        pthread_mutex_destroy(&e.lock);
    }
    if (all)
        free(p->patch[0].sums);
    free(p->patch);
    free(p->step[0]);
    free(p->limit);
    free(all);
    free(edge);
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
static void add_square(struct pass *p, const struct piece *x, size_t k)
{
    const size_t P = p->s->P, g = x->g[k];
    const double *jac = x->jac + k * P;
    double h = leverage(p, g, jac, x->v[k]), score = x->w[k] * (x->y[k] - x->mean[k]) / fmax(1 - h, 1e-6);
    double *to = p->s->product + g * P * P;
    for (size_t a = 0; a < P; a++)
        for (size_t b = 0; b < P; b++)
            to[a * P + b] += score * score * jac[a] * jac[b];
}

/* Rows of one group: residuals, and the coordinate by which they are ordered (at: of all places; NULL: as they come).
 */
struct curve {
    const double *at;
    double *x, *z;
    size_t *order, n;
};

static void rows_tile(struct pass *p, const struct fit_tile *t, struct piece *x, struct curve *c)
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
            add_square(p, x, k);
            s->n += 1;
            s->z2 += z * z;
            s->z4 += z * z * z * z;
            c->x[c->n] = c->at ? c->at[i + k] : 0;
            c->z[c->n++] = z;
        }
    }
}

/* Products of neighbours in the order of the coordinate; rows without one are in order. */
static void add_neighbours(struct curve *c, struct sums *s)
{
    int sorted = 1;
    for (size_t k = 1; k < c->n; k++)
        sorted &= c->x[k - 1] <= c->x[k];
    if (!sorted)
        fit_sort_index(c->n, c->x, c->order);
    for (size_t k = 1; k < c->n; k++)
        add_product(c->z[sorted ? k : c->order[k]], c->z[sorted ? k - 1 : c->order[k - 1]], &s->lag, &s->nlag);
    c->n = 0;
}

/* Tables are small: one thread. */
static void rows_pass(struct pass *p)
{
    const struct fit_dataset *ds = p->o->ds;
    const size_t column = fit_score_coordinate(p->o->kernel), n = ds->layout.nrow + 1;
    struct piece *x = malloc(sizeof *x);
    double *jac = malloc(PIECE * p->s->P * sizeof *jac);
    struct curve c = {.at = column < p->o->kernel->ncolumn ? ds->layout.column[column] : NULL,
                      .x = malloc(n * sizeof *c.x),
                      .z = malloc(n * sizeof *c.z),
                      .order = malloc(n * sizeof *c.order)};
    p->lost = !x || !jac || !c.x || !c.z || !c.order;
    for (size_t k = 0; !p->lost && k < ds->ntile; k++) {
        const struct fit_tile *t = &ds->tile[k];
        x->jac = jac;
        rows_tile(p, t, x, &c);
        if (k + 1 == ds->ntile || t[1].group != t->group)
            add_neighbours(&c, &p->sums[t->group]);
    }
    free(x);
    free(jac);
    free(c.x);
    free(c.z);
    free(c.order);
}

size_t fit_score_coordinate(const struct fit_kernel *k)
{
    size_t c = 0;
    while (c < k->ncolumn && k->column[c].role != FIT_ROLE_COVARIATE)
        c++;
    return c;
}

/* ---- both ----------------------------------------------------------------------------------------------- */

static double ratio(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

static void finish_test(const struct sums *s, int pairs, struct fit_residual_test *t)
{
    double v = ratio(s->z2, s->n);
    t->neighbours = s->neighbours;
    t->kurtosis = ratio(s->z4, s->n) / (v * v);
    t->along_lag = ratio(s->lag, s->nlag) / v;
    t->along_age = pairs ? ratio(s->age, s->nage) / v : NAN;
    t->sharing = pairs ? ratio(s->share, s->nshare) / v : NAN;
    for (size_t k = 0; k < DECILES; k++)
        t->decile[k] = pairs ? ratio(s->decile[k], s->ndecile[k]) / v : NAN;
}

static int new_bins(struct pass *p)
{
    struct fit_error none;
    if (fit_misfit_bins_new(&p->o->ds->layout, p->s->P, &p->bins, &none) != FIT_OK)
        return 0;
    p->binned = calloc(fit_misfit_numbers(&p->bins) + 1, sizeof *p->binned);
    return p->binned != NULL;
}

static enum fit_status find_misfit(struct pass *p, struct fit_error *err)
{
    struct fit_misfit_spec spec = {.obj = p->o, .bins = &p->bins, .sum = p->binned, .D = p->D};
    double sum[3] = {0};
    for (size_t g = 0; g < p->s->ngroup; g++) {
        const struct sums *s = &p->sums[g];
        const double v = ratio(s->z2, s->n), of[3] = {s->lag, s->age, s->share}, n[3] = {s->nlag, s->nage, s->nshare};
        for (size_t k = 0; k < 3 && v > 0; k++) {
            sum[k] += of[k] / v;
            spec.products[k] += n[k];
        }
    }
    for (size_t k = 0; k < 3; k++)
        spec.rho[k] = ratio(sum[k], spec.products[k]);
    return fit_misfit_find(&spec, &p->s->misfit, err);
}

enum fit_status fit_scores_new(struct fit_objective *obj, const struct fit_score_loss *loss, const double *D, int fields,
                               struct fit_scores *s, struct fit_error *err)
{
    const struct fit_layout *l = &obj->ds->layout;
    int pairs = obj->kernel->space == FIT_PAIRS;
    *s = (struct fit_scores){.ngroup = obj->ngroup, .P = obj->nparam + obj->nlinear};
    struct pass p = {.o = obj, .loss = loss, .D = D, .s = s};
    size_t numbers = s->ngroup * s->P * s->P;
    if (pairs) {
        s->length = (l->nframe + FIT_SCORE_BLOCKS - 1) / FIT_SCORE_BLOCKS;
        s->nblock = (l->nframe + s->length - 1) / s->length;
        numbers = s->ngroup * (s->nblock * (s->nblock + 1) / 2 * s->P + fit_scores_first(s));
    }
    double *all = calloc(numbers + 1, sizeof *all);
    fields = fields && pairs;
    if (fields) {
        s->field = calloc(s->ngroup * (s->nblock * (s->nblock + 1) / 2) * (s->P + 1), sizeof *s->field);
        s->moments = calloc(s->ngroup, sizeof *s->moments);
    }
    s->test = calloc(s->ngroup + 1, sizeof *s->test);
    p.sums = calloc(s->ngroup + 1, sizeof *p.sums);
    s->storage_ = s->sum = s->product = all;
    s->first = pairs && all ? all + numbers - s->ngroup * fit_scores_first(s) : NULL;
    int ok = all && s->test && p.sums && (!pairs || new_bins(&p)) && (!fields || (s->field && s->moments));
    if (ok)
        (pairs ? pairs_pass : rows_pass)(&p);
    ok = ok && !p.lost;
    for (size_t g = 0; ok && g < s->ngroup; g++)
        finish_test(&p.sums[g], pairs, &s->test[g]);
    enum fit_status st = ok ? fit_dataset_status(obj->ds, err)
                            : fit_fail(err, FIT_ERR_MEMORY,
                                       "fit: out of memory for the scores of the residuals");
    s->misfit.p = NAN;
    if (st == FIT_OK && pairs)
        st = find_misfit(&p, err);
    free(p.sums);
    free(p.binned);
    fit_misfit_bins_free(&p.bins);
    if (st != FIT_OK)
        fit_scores_free(s);
    return st;
}

void fit_scores_free(struct fit_scores *s)
{
    free(s->storage_);
    free(s->field);
    free(s->moments);
    free(s->test);
    *s = (struct fit_scores){0};
}
