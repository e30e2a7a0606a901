/* scores_tile.c -- sums over the pairs of one tile; see scores_tile.h.
 *
 * Scores are added up by column over the rows of a block of frames, then over the columns of each block: no sum depends
 * on how wide vectors are.
 */
#include "errors/scores_tile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { L = FIT_LANES, V = FIT_STRIP_LANES, REACH = FIT_NOISE_REACH, DECILES = FIT_RESIDUAL_DECILES, DECILE_SUMS = 2 };

/* ---- room ------------------------------------------------------------------------------------------------ */

void fit_score_patch_frame(const struct fit_scores *s, const struct fit_tile *t, struct fit_score_patch *q)
{
    q->a0 = t->i0 / s->length;
    q->na = (t->i1 - 1) / s->length + 1 - q->a0;
    q->b0 = (t->j0 > t->i0 + 1 ? t->j0 : t->i0 + 1) / s->length;
    q->nb = (t->j1 - 1) / s->length + 1 - q->b0;
}

/* d^2 of the fourth order beyond which a difference is that of an outlier. */
static double limit_of(const struct fit_score_pass *p, size_t g)
{
    static const double OUTLIER = 5;
    const struct fit_local_noise *local = p->loss->local ? &p->loss->local[g] : NULL;
    const double n = (double)p->o->ds->npoint_group[g], s2 = p->o->ssr[g] / fmax(n, 1);
    const double v = local && local->guess > 0 ? local->guess * fit_score_factor(p->o, g) : s2;
    return OUTLIER * OUTLIER * fmin(v, s2);
}

/* until[k] <- the first frame after k from which stencils have another step. */
static void find_stretch_ends(size_t n, const uint32_t *step, uint32_t *until)
{
    for (size_t k = n; k-- > 0;)
        until[k] = k + 1 < n && step[k + 1] == step[k] ? until[k + 1] : (uint32_t)k + 1;
}

int fit_score_tiles_new(struct fit_score_pass *p, struct fit_score_tiles *x)
{
    const struct fit_layout *l = &p->o->ds->layout;
    *x = (struct fit_score_tiles){.pass = p, .width = l->panel};
    x->step[0] = malloc(4 * (l->nframe + 1) * sizeof *x->step[0]);
    x->limit = malloc((l->ngroup + 1) * sizeof *x->limit);
    if (!x->step[0] || !x->limit)
        return 0;
    x->step[1] = x->step[0] + l->nframe;
    fit_noise_steps(l, 2, x->step[0]);
    fit_noise_steps(l, REACH, x->step[1]);
    for (size_t k = 0; k < 2; k++) {
        x->until[k] = x->step[k] + 2 * l->nframe;
        find_stretch_ends(l->nframe, x->step[k], x->until[k]);
    }
    for (size_t g = 0; g < l->ngroup; g++)
        x->limit[g] = limit_of(p, g);
    return 1;
}

void fit_score_tiles_free(struct fit_score_tiles *x)
{
    free(x->step[0]);
    free(x->limit);
}

/* Largest number of blocks that a tile intersects. */
static size_t most_blocks(const struct fit_score_pass *p)
{
    size_t most = 0;
    for (size_t k = 0; k < p->o->ds->ntile; k++) {
        struct fit_score_patch q;
        fit_score_patch_frame(p->s, &p->o->ds->tile[k], &q);
        most = q.na * q.nb > most ? q.na * q.nb : most;
    }
    return most;
}

static void lay_out_strip(const struct fit_score_tiles *x, struct fit_score_patch *q, struct fit_arena *r)
{
    const size_t P = x->pass->s->P, w = x->width;
    struct fit_strip *s = &q->strip;
    *s = (struct fit_strip){.P = P, .width = w};
    FIT_TAKE_DOUBLES(r, w, &s->y, &s->v, &s->w, &s->mean, &s->r, &s->score, &s->root, &q->room, &q->residual);
    double **with_space[] = {&s->z, &s->count, &q->other[0], &q->other[1]};
    for (size_t k = 0; k < sizeof with_space / sizeof *with_space; k++) {
        double *at = fit_take(r, L + w, sizeof(double));
        *with_space[k] = at ? at + L : NULL;
    }
    s->jac = fit_take(r, w * P, sizeof *s->jac);
}

static void lay_out(const struct fit_score_tiles *x, size_t blocks, struct fit_score_patch *q, struct fit_arena *r)
{
    const struct fit_score_pass *p = x->pass;
    const struct fit_layout *l = &p->o->ds->layout;
    const size_t ng = l->ngroup, P = p->s->P, w = x->width;
    const int fields = p->s->field != NULL;
    q->score = fit_take(r, blocks * ng * P, sizeof *q->score);
    q->first = fit_take(r, ng * fit_scores_first(p->s), sizeof *q->first);
    q->bins = fit_take(r, fit_misfit_numbers(&p->bins), sizeof *q->bins);
    q->row = fit_take(r, ng * l->chunk * 3, sizeof *q->row);
    q->sums = fit_take(r, ng, sizeof *q->sums);
    q->edges = fit_take(r, ng * 2 * (l->chunk + w), sizeof *q->edges);
    lay_out_strip(x, q, r);
    q->column = fit_take(r, w * P, sizeof *q->column);
    q->known = fit_take(r, (REACH + 1) * w, sizeof *q->known);
    q->lanes = fit_take(r, (p->bins.nbin * p->bins.each + DECILES * DECILE_SUMS) * V, sizeof *q->lanes);
    if (!fields)
        return;
    q->field = fit_take(r, blocks * ng * (P + 1), sizeof *q->field);
    q->column_field = fit_take(r, w * (P + 1), sizeof *q->column_field);
    q->moments = fit_take(r, ng, sizeof *q->moments);
    q->moment_room = fit_take(r, fit_speckle_room(l), sizeof *q->moment_room);
}

/* Bounds of bins and of deciles within a row, and its begin. */
static size_t most_stretches(const struct fit_score_tiles *x)
{
    const size_t most = FIT_MISFIT_LAGS + FIT_MISFIT_AGES + DECILES;
    return x->pass->o->ds->layout.chunk * (x->width < most ? x->width : most);
}

static void integers_new(const struct fit_score_tiles *x, struct fit_score_patch *q, struct fit_arena *r)
{
    const size_t w = x->width, chunk = x->pass->o->ds->layout.chunk;
    q->i = fit_take(r, w, sizeof *q->i);
    q->j = fit_take(r, w, sizeof *q->j);
    q->g = fit_take(r, w, sizeof *q->g);
    q->met = fit_take(r, x->pass->bins.nbin, sizeof *q->met);
    q->stretch = fit_take(r, most_stretches(x), sizeof *q->stretch);
    q->stretch_first = fit_take(r, chunk + 1, sizeof *q->stretch_first);
}

struct fit_score_patch *fit_score_patches_new(const struct fit_score_tiles *x, size_t threads)
{
    const size_t blocks = most_blocks(x->pass);
    struct fit_score_patch *q = calloc(threads, sizeof *q);
    if (!q)
        return NULL;
    for (size_t t = 0; t < threads; t++) {
        lay_out(x, blocks, &q[t], &q->storage_);
        integers_new(x, &q[t], &q->storage_);
    }
    if (!q->storage_.failed)
        return q;
    fit_score_patches_free(q);
    return NULL;
}

void fit_score_patches_free(struct fit_score_patch *q)
{
    if (!q)
        return;
    fit_arena_free(&q->storage_);
    free(q);
}

/* ---- a strip --------------------------------------------------------------------------------------------- */

#if defined(__GNUC__)
#define FETCH(p) __builtin_prefetch(p)
#else
#define FETCH(p) ((void)(p))
#endif

/* Vectors of the current strip from those of the tile, whose first is at `from`; groups lie between them. The next
 * row follows those of all groups, which the hardware does not prefetch. */
static void copy_values(const double *from, size_t stride, const struct fit_strip *s, double *to)
{
    const double *next = from + s->nvector * stride;
    for (size_t n = 0; n < s->nvector; n++, from += stride, next += stride) {
        FETCH(next);
        memcpy(to + s->base + n * L, from, L * sizeof *to);
    }
}

/* Weights where the tile has values, 0 elsewhere. */
static void set_weights(const double *from, size_t stride, double factor, struct fit_strip *s)
{
    const size_t end = s->base + s->nvector * L;
    if (from)
        copy_values(from, stride, s, s->v);
    for (size_t k = s->base; k < end; k++)
        s->v[k] = from ? s->v[k] * factor : factor;
    for (size_t k = s->base; k < s->first; k++)
        s->v[k] = 0;
    for (size_t k = s->end; k < end; k++)
        s->v[k] = 0;
}

/* Row i of group g of the tile: values, weights, model, derivatives. */
static void fill_strip(const struct fit_score_tiles *x, const struct fit_tile *t, size_t i, size_t g,
                       struct fit_score_patch *q)
{
    const struct fit_objective *o = x->pass->o;
    const struct fit_layout *l = &o->ds->layout;
    struct fit_strip *s = &q->strip;
    const size_t j = t->j0 > i + 1 ? t->j0 : i + 1, stride = l->ngroup * L;
    const size_t from = fit_tile_offset(l, t, i, j, g) - j % L;
    s->first = j - t->j0;
    s->end = t->j1 - t->j0;
    s->base = s->first / L * L;
    s->nvector = (s->end - s->base + L - 1) / L;
    copy_values(t->y + from, stride, s, s->y);
    set_weights(t->w ? t->w + from : NULL, stride, fit_score_factor(o, g), s);
    for (size_t k = 0; k < s->nvector * L; k++)
        q->i[k] = (uint32_t)i;
    o->kernel->points(l, o->ws, o->lin, &(struct fit_points){s->nvector * L, q->i, q->j + s->base, q->g},
                      s->mean + s->base, s->jac);
    fit_score_weights(x->pass->loss, s->nvector, s->y + s->base, s->mean + s->base, s->v + s->base, s->w + s->base,
                      q->room);
    fit_strip_settle(s);
}

/* Over the pairs with the first frame: scores, and J^T W J. */
static void add_first(const struct fit_strip *s, double *to)
{
    const size_t P = s->P, n = s->nvector * L;
    for (size_t k = s->first; k < s->end; k++) {
        const double *jac = s->jac + k - s->base;
        for (size_t a = 0; a < P; a++) {
            to[a] += s->score[k] * jac[a * n];
            for (size_t b = 0; b < P; b++)
                to[P + a * P + b] += s->w[k] * jac[a * n] * jac[b * n];
        }
    }
}

/* Differences along the age, of stencils of reach + 1 rows that end in row i. */
static void difference_line(const struct fit_score_tiles *x, const struct fit_tile *t, size_t i, size_t reach,
                            struct fit_score_patch *q, size_t g)
{
    const size_t from = i - reach;
    const uint32_t *step = x->step[reach == REACH];
    const double *row[REACH + 1];
    if (i < t->i0 + reach || !step[from])
        return;
    const uint32_t *until = x->until[reach == REACH];
    for (size_t j = t->j0 > i + 1 ? t->j0 : i + 1, j1; j + reach < t->j1; j = j1) { /* stretches of equal steps */
        j1 = until[j] + reach < t->j1 ? until[j] : t->j1 - reach;
        for (size_t m = 0; m <= reach; m++)
            row[m] = q->known + (from + m) % (REACH + 1) * x->width + (j - t->j0);
        if (step[j] == step[from])
            (reach == REACH ? fit_noise_line : fit_noise_short)(row, j1 - j, x->limit[g], &q->sums[g].neighbours);
    }
}

/* Tests of row i, the current strip. */
static void test_strip(const struct fit_score_tiles *x, const struct fit_tile *t, size_t i, size_t g,
                       struct fit_score_patch *q, struct fit_strip_sums *sums)
{
    const struct fit_strip *s = &q->strip;
    const double *const above[2] = {q->other[0], q->other[1]};
    const struct fit_score_edges edge = fit_score_edges(x, q, g);
    const size_t r = i - t->i0, chunk = x->pass->o->ds->layout.chunk, n = x->width * sizeof(double);
    double *row = q->row + (g * chunk + r) * 3, *known = q->known + i % (REACH + 1) * x->width;
    fit_strip_test(s, r > 0 ? above : NULL, sums, row);
    q->sums[g].z2 += row[1];
    q->sums[g].n += row[2];
    fit_strip_known(s, s->z, known);
    difference_line(x, t, i, 2, q, g);
    difference_line(x, t, i, REACH, q, g);
    edge.left[r] = s->first == 0 ? known[0] : NAN;
    edge.right[r] = known[s->end - 1];
    if (r == 0)
        memcpy(edge.top, known, n);
    if (r + 1 == chunk)
        memcpy(edge.bottom, known, n);
}

/* ---- bins and deciles ------------------------------------------------------------------------------------ */

/* Positions at which bins and deciles of each row of the tile begin. */
static void find_stretches(const struct fit_score_tiles *x, const struct fit_tile *t, struct fit_score_patch *q)
{
    const struct fit_misfit_bins *b = &x->pass->bins;
    const struct fit_layout *l = &x->pass->o->ds->layout;
    size_t n = 0;
    for (size_t i = t->i0; i < t->i1; i++) {
        q->stretch_first[i - t->i0] = n;
        for (size_t j = t->j0 > i + 1 ? t->j0 : i + 1, first = n; j < t->j1; j++) {
            const size_t bin = fit_misfit_at(b, l->frame, 0, i, j) / b->each;
            const struct fit_score_stretch s = {(uint32_t)(j - t->j0), (uint32_t)bin,
                                                (uint32_t)((j - i - 1) * DECILES / l->nframe)};
            if (n == first || s.bin != q->stretch[n - 1].bin || s.decile != q->stretch[n - 1].decile)
                q->stretch[n++] = s;
        }
    }
    q->stretch_first[t->i1 - t->i0] = n;
}

static double *decile_lanes(const struct fit_score_tiles *x, const struct fit_score_patch *q)
{
    return q->lanes + x->pass->bins.nbin * x->pass->bins.each * V;
}

static void bin_strip(const struct fit_score_tiles *x, const struct fit_score_stretch *s, size_t n,
                      struct fit_score_patch *q)
{
    const size_t each = x->pass->bins.each * V;
    for (size_t k = 0; k < n; k++) {
        double *bin = q->lanes + s[k].bin * each;
        if (!q->met[s[k].bin])
            memset(bin, 0, each * sizeof *bin);
        q->met[s[k].bin] = 1;
        fit_strip_add_bin(&q->strip, s[k].begin, k + 1 < n ? s[k + 1].begin : q->strip.end, bin,
                          decile_lanes(x, q) + s[k].decile * DECILE_SUMS * V);
    }
}

/* The lanes of group g into its sums. */
static void end_bins(const struct fit_score_tiles *x, size_t g, struct fit_score_patch *q)
{
    const struct fit_misfit_bins *b = &x->pass->bins;
    const double *decile = decile_lanes(x, q);
    for (size_t k = 0; k < b->nbin; k++) {
        double *to = q->bins + (g * b->nbin + k) * b->each;
        for (size_t c = 0; c < b->each; c++)
            to[c] = q->met[k] ? fit_strip_total(q->lanes + (k * b->each + c) * V) : 0;
        q->met[k] = 0;
    }
    for (size_t k = 0; k < DECILES; k++, decile += DECILE_SUMS * V) {
        q->sums[g].decile[k] = fit_strip_total(decile);
        q->sums[g].ndecile[k] = fit_strip_total(decile + V);
    }
}

/* ---- blocks of frames ------------------------------------------------------------------------------------ */

/* Sums by column over the columns of each block, n for each; to: nb x n.  Clears them. */
static void add_columns(const struct fit_score_tiles *x, const struct fit_tile *t, const struct fit_score_patch *q,
                        double *column, size_t n, double *to)
{
    const size_t length = x->pass->s->length;
    for (size_t b = 0; b < q->nb; b++) {
        const size_t from = (q->b0 + b) * length, k0 = from > t->j0 ? from - t->j0 : 0,
                     k1 = (from + length < t->j1 ? from + length : t->j1) - t->j0;
        for (size_t c = 0; c < n; c++) {
            double sum = 0;
            for (size_t k = k0; k < k1; k++)
                sum += column[c * x->width + k];
            to[b * n + c] = sum;
        }
    }
    memset(column, 0, n * x->width * sizeof *column);
}

/* Row i is the last of block a of group g in this tile. */
static void end_block(const struct fit_score_tiles *x, const struct fit_tile *t, size_t i, size_t g,
                      struct fit_score_patch *q)
{
    const size_t P = x->pass->s->P, a = i / x->pass->s->length - q->a0, at = (g * q->na + a) * q->nb;
    add_columns(x, t, q, q->column, P, q->score + at * P);
    if (x->pass->s->field)
        add_columns(x, t, q, q->column_field, P + 1, q->field + at * (P + 1));
}

/* ---- a tile ---------------------------------------------------------------------------------------------- */

static void swap_rows(struct fit_score_patch *q)
{
    double **now[] = {&q->strip.z, &q->strip.count};
    for (size_t k = 0; k < 2; k++) {
        double *keep = *now[k];
        *now[k] = q->other[k];
        q->other[k] = keep;
    }
}

static void begin_group(const struct fit_score_tiles *x, size_t g, struct fit_score_patch *q)
{
    const size_t P = x->pass->s->P;
    for (size_t k = 0; k < x->width; k++)
        q->g[k] = (uint32_t)g;
    memset(q->column, 0, P * x->width * sizeof *q->column);
    if (q->column_field)
        memset(q->column_field, 0, (P + 1) * x->width * sizeof *q->column_field);
    memset(decile_lanes(x, q), 0, DECILES * DECILE_SUMS * V * sizeof(double));
    memset(&q->sums[g], 0, sizeof *q->sums);
    memset(q->first + g * fit_scores_first(x->pass->s), 0, fit_scores_first(x->pass->s) * sizeof *q->first);
    if (q->moments)
        memset(&q->moments[g], 0, sizeof *q->moments);
}

static void end_group(const struct fit_score_tiles *x, size_t g, const struct fit_strip_sums *sums,
                      struct fit_score_patch *q)
{
    struct fit_score_sums *s = &q->sums[g];
    end_bins(x, g, q);
    s->z4 = fit_strip_total(sums->z4);
    s->lag = fit_strip_total(sums->lag);
    s->nlag = fit_strip_total(sums->nlag);
    s->age = fit_strip_total(sums->age);
    s->nage = fit_strip_total(sums->nage);
}

static void take_group(const struct fit_score_tiles *x, const struct fit_tile *t, size_t g, struct fit_score_patch *q)
{
    const struct fit_layout *l = &x->pass->o->ds->layout;
    const size_t length = x->pass->s->length;
    struct fit_strip_sums sums = {.z4 = {0}};
    struct fit_speckle_columns columns;
    begin_group(x, g, q);
    if (q->moments)
        fit_speckle_moments_begin(l, t, q->moment_room, &columns);
    for (size_t i = t->i0; i < t->i1; i++) {
        const size_t at = q->stretch_first[i - t->i0];
        swap_rows(q);
        fill_strip(x, t, i, g, q);
        bin_strip(x, q->stretch + at, q->stretch_first[i - t->i0 + 1] - at, q);
        test_strip(x, t, i, g, q, &sums);
        if (i == 0)
            add_first(&q->strip, q->first + g * fit_scores_first(x->pass->s));
        if (q->moments) {
            fit_strip_add_both(&q->strip, q->column, q->column_field);
            fit_strip_known(&q->strip, q->strip.r, q->residual);
            fit_speckle_moments_row(&columns, i, q->residual);
        } else {
            fit_strip_add_scores(&q->strip, q->column);
        }
        if (i + 1 == t->i1 || (i + 1) % length == 0)
            end_block(x, t, i, g, q);
    }
    if (q->moments)
        fit_speckle_moments_end(&columns, &q->moments[g]);
    end_group(x, g, &sums, q);
}

void fit_score_patch_take(const struct fit_score_tiles *x, const struct fit_tile *t, struct fit_score_patch *q)
{
    fit_score_patch_frame(x->pass->s, t, q);
    find_stretches(x, t, q);
    for (size_t k = 0, last = x->pass->o->ds->layout.nframe - 1; k < x->width; k++)
        q->j[k] = (uint32_t)(t->j0 + k < last ? t->j0 + k : last);
    for (size_t g = 0; g < x->pass->s->ngroup; g++)
        take_group(x, t, g, q);
}
