/* scores_pairs.c -- scores by blocks of frames and tests of the residuals of pairs, tile by tile.
 *
 * Tiles are in memory or read from their file. The sums of a tile are computed separately (scores_tile.c) and added
 * after those of all earlier tiles (data/tile_patches.h); neighbours in different tiles are processed then. The bits
 * depend neither on the threads, the ranks, nor on where the values are.
 */
#include "errors/scores_tile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/tile_patches.h"
#include "machine/team.h"

enum { TOUCHED = 16 }; /* parts in which pages are touched */

/* Between tiles: residuals at their edges (NaN: none counts), sums over rows. */
struct border {
    size_t i0;               /* of the row of tiles */
    double *left;            /* ngroup x chunk: last column of the tile before */
    double *above, *bottom;  /* ngroup x nframe: last row of the row of tiles above, and of this */
    double *row;             /* ngroup x chunk x 3 */
};

struct pass {
    struct fit_score_tiles *tiles;
    struct fit_score_patch *patch; /* of each thread */
    struct border *border;
};

static void clear(double *x, size_t n)
{
    for (size_t k = 0; k < n; k++)
        x[k] = NAN;
}

/* The row of tiles is complete; the next begins at frame i0. */
static void next_row(struct pass *x, size_t i0)
{
    const struct fit_score_pass *p = x->tiles->pass;
    const struct fit_layout *l = &p->o->ds->layout;
    struct border *e = x->border;
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

static void add_product(double z, double other, double *sum, double *count)
{
    if (isnan(z) || isnan(other))
        return;
    *sum += z * other;
    *count += 1;
}

/* Neighbours of which one is in the previous tile, or in the row of tiles above. */
static void test_edges(struct pass *x, const struct fit_tile *t, const struct fit_score_patch *q, size_t g)
{
    const struct fit_layout *l = &x->tiles->pass->o->ds->layout;
    struct border *e = x->border;
    struct fit_score_sums *s = &x->tiles->pass->sums[g];
    const struct fit_score_edges edge = fit_score_edges(x->tiles, q, g);
    double *left = e->left + g * l->chunk, before = NAN;
    const double *above = e->above + g * l->nframe;
    for (size_t r = 0; r < t->i1 - t->i0; r++) {
        const double here = left[r];
        add_product(edge.left[r], here, &s->lag, &s->nlag);
        add_product(edge.left[r], before, &s->age, &s->nage);
        before = here;
        left[r] = edge.right[r];
    }
    for (size_t j = t->j0 > t->i0 + 1 ? t->j0 : t->i0 + 1; j < t->j1; j++)
        add_product(edge.top[j - t->j0], above[j - 1], &s->age, &s->nage);
    const size_t last = t->i0 + l->chunk - 1;
    for (size_t j = t->j0 > last + 1 ? t->j0 : last + 1; t->i1 == last + 1 && j < t->j1; j++)
        e->bottom[g * l->nframe + j] = edge.bottom[j - t->j0];
}

static void add_numbers(size_t n, const double *from, double *to)
{
    for (size_t k = 0; k < n; k++)
        to[k] += from[k];
}

/* Sums over blocks, of scores and of fields. */
static void add_blocks(const struct fit_scores *s, const struct fit_score_patch *q, size_t g)
{
    for (size_t a = 0; a < q->na; a++)
        for (size_t b = 0; b < q->nb; b++) {
            const size_t at = (g * q->na + a) * q->nb + b;
            if (q->b0 + b < q->a0 + a)
                continue;
            add_numbers(s->P, q->score + at * s->P, fit_scores_at(s, g, q->a0 + a, q->b0 + b));
            if (s->field)
                add_numbers(s->P + 1, q->field + at * (s->P + 1), fit_fields_at(s, g, q->a0 + a, q->b0 + b));
        }
}

static void add_patch(struct pass *x, const struct fit_tile *t, const struct fit_score_patch *q)
{
    struct fit_score_pass *p = x->tiles->pass;
    const struct fit_layout *l = &p->o->ds->layout;
    const size_t rows = t->i1 - t->i0, first = fit_scores_first(p->s);
    if (t->i0 != x->border->i0)
        next_row(x, t->i0);
    for (size_t g = 0; g < l->ngroup; g++) {
        add_blocks(p->s, q, g);
        if (p->s->field)
            add_numbers(sizeof *q->moments / sizeof(double), (const double *)&q->moments[g],
                        (double *)&p->s->moments[g]);
        if (t->i0 == 0)
            add_numbers(first, q->first + g * first, p->s->first + g * first);
        add_numbers(rows * 3, q->row + g * l->chunk * 3, x->border->row + g * l->chunk * 3);
        add_numbers(sizeof *q->sums / sizeof(double), (const double *)&q->sums[g], (double *)&p->sums[g]);
        test_edges(x, t, q, g);
    }
}

/* ---- the result of a tile, as numbers ------------------------------------------------------------------------ */

/* The arrays of a patch one after the other: copied to `to` (unless it is NULL), or located there for q (find = 1);
 * the bins, of which there are few, follow. Returns how many numbers. */
static size_t arrays(const struct fit_score_tiles *x, const struct fit_tile *t, struct fit_score_patch *q, double *to,
                     int find)
{
    const struct fit_score_pass *p = x->pass;
    const struct fit_scores *s = p->s;
    const size_t ng = s->ngroup, blocks = ng * q->na * q->nb, chunk = p->o->ds->layout.chunk;
    double *moments = (double *)q->moments, *sums = (double *)q->sums;
    struct {
        double **array;
        size_t n;
    } const all[] = {{&q->score, blocks * s->P},
                     {&q->first, t->i0 == 0 ? ng * fit_scores_first(s) : 0},
                     {&q->row, ng * chunk * 3},
                     {&q->edges, ng * 2 * (chunk + x->width)},
                     {&sums, ng * sizeof *q->sums / sizeof(double)},
                     {&q->field, s->field ? blocks * (s->P + 1) : 0},
                     {&moments, s->field ? ng * sizeof *q->moments / sizeof(double) : 0}};
    size_t at = 0;
    for (size_t k = 0; k < sizeof all / sizeof *all; at += all[k++].n) {
        if (find)
            *all[k].array = to + at;
        else if (to && all[k].n)
            memcpy(to + at, *all[k].array, all[k].n * sizeof *to);
    }
    q->moments = (struct fit_speckle_moments *)(void *)moments;
    q->sums = (struct fit_score_sums *)(void *)sums;
    return at;
}

static size_t pack_bins(const struct fit_misfit_bins *b, const double *bins, double *to)
{
    size_t n = 0;
    for (size_t at = 0; at < fit_misfit_numbers(b); at += b->each)
        if (bins[at] > 0) {
            to[n] = (double)at;
            memcpy(to + n + 1, bins + at, b->each * sizeof *to);
            n += 1 + b->each;
        }
    return n;
}

static size_t most_numbers(const struct fit_score_tiles *x)
{
    const struct fit_misfit_bins *b = &x->pass->bins;
    const struct fit_dataset *ds = x->pass->o->ds;
    size_t most = 0;
    for (size_t k = 0; k < ds->ntile; k++) {
        struct fit_score_patch q = {.na = 0};
        fit_score_patch_frame(x->pass->s, &ds->tile[k], &q);
        const size_t n = arrays(x, &ds->tile[k], &q, NULL, 0);
        most = n > most ? n : most;
    }
    return most + fit_misfit_numbers(b) + fit_misfit_numbers(b) / b->each;
}

static size_t take_tile(void *user, size_t k, const struct fit_tile *t, size_t thread, double *patch)
{
    struct pass *x = user;
    struct fit_score_patch *q = &x->patch[thread];
    (void)k;
    fit_score_patch_take(x->tiles, t, q);
    const size_t n = arrays(x->tiles, t, q, patch, 0);
    return n + pack_bins(&x->tiles->pass->bins, q->bins, patch + n);
}

static void add_tile(void *user, size_t k, const double *patch, size_t n)
{
    struct pass *x = user;
    struct fit_score_pass *p = x->tiles->pass;
    const struct fit_tile *t = &p->o->ds->tile[k];
    struct fit_score_patch q = {.na = 0};
    fit_score_patch_frame(p->s, t, &q);
    size_t at = arrays(x->tiles, t, &q, (double *)(uintptr_t)patch, 1);
    add_patch(x, t, &q);
    for (; at < n; at += 1 + p->bins.each)
        add_numbers(p->bins.each, patch + at + 1, p->binned + (size_t)patch[at]);
}

/* Clears part k of the sums, before any thread adds to them. */
static void touch(void *user, size_t k, size_t thread)
{
    const struct fit_scores *s = user;
    (void)thread;
    fit_pages_touch(&s->sum_, k, TOUCHED);
    if (s->field)
        fit_pages_touch(&s->field_, k, TOUCHED);
}

/* All tiles, with `edge` for neighbours in different tiles. */
static enum fit_status run(struct pass *x, int threads, double *edge, struct fit_error *err)
{
    const struct fit_dataset *ds = x->tiles->pass->o->ds;
    const size_t side = ds->layout.ngroup * ds->layout.chunk, line = ds->layout.ngroup * ds->layout.nframe;
    struct border e = {.i0 = 0, .row = edge, .left = edge + 3 * side, .above = edge + 4 * side,
                       .bottom = edge + 4 * side + line};
    const struct fit_patches patches = {.ds = ds, .threads = threads, .most = most_numbers(x->tiles), .user = x,
                                        .take = take_tile, .add = add_tile};
    clear(e.left, side + 2 * line);
    x->border = &e;
    fit_team_run((struct fit_team){threads, FIT_TEAM_SHARE}, TOUCHED, touch, x->tiles->pass->s);
    const enum fit_status st = fit_patches_run(&patches, err);
    next_row(x, 0);
    return st;
}

enum fit_status fit_scores_of_pairs(struct fit_score_pass *p, struct fit_error *err)
{
    const struct fit_layout *l = &p->o->ds->layout;
    const int threads = fit_objective_threads(p->o);
    struct fit_score_tiles tiles;
    int ok = fit_score_tiles_new(p, &tiles);
    FIT_OWNED double *edge = calloc(l->ngroup * (4 * l->chunk + 2 * l->nframe), sizeof *edge);
    struct fit_score_patch *patch = ok ? fit_score_patches_new(&tiles, (size_t)threads) : NULL;
    struct pass x = {.tiles = &tiles, .patch = patch};
    enum fit_status st = ok && edge && patch ? FIT_OK : fit_no_memory(err, "fit, scores of the residuals");
    if (st == FIT_OK)
        st = run(&x, threads, edge, err);
    fit_score_patches_free(patch);
    fit_score_tiles_free(&tiles);
    return st;
}
