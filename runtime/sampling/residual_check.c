/* residual_check.c -- see residual_check.h.
 *
 * Data simulated at a draw of the parameters have residuals that are standard normals, whatever the parameters; so
 * the model is evaluated once for each draw, only at the points. Measures are compared on scales on which those of
 * noise are approximately normal: correlations and means as they are; the largest by the quantile of its
 * probability; a count as 2 sqrt(n + 3/8) (Anscombe, Biometrika 35 (1948) 246). Draws are independent turns,
 * divided among ranks and threads. */
#include "sampling/residual_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors/scores.h"
#include "machine/team.h"
#include "machine/topology.h"
#include "math/special.h"
#include "ranks/ranks.h"

enum { SIDE = 16, RUN = SIDE * SIDE, FEWEST_DRAWS = 20, M = FIT_RESIDUAL_MEASURES, MOST_THREADS = 64 };
#define NO_POINT UINT32_MAX
static const double FAR = 5;

/* Points of a group follow one another. */
struct points {
    size_t n, ngroup;
    size_t *first;           /* ngroup + 1 */
    uint32_t *i, *j, *group; /* as kernels want them */
    uint32_t *lag, *age;     /* the next point along them, from the group's first; NO_POINT */
    signed char *quarter;    /* -1, 1: the first, the last; 0 */
    double *y, *w;           /* w = 0: does not count */
};

struct work {
    const struct fit_kernel *k;
    const struct fit_dataset *ds;
    const struct fit_samples *s;
    const double *sigma; /* ngroup; NULL: that of the draws */
    struct points p;
    size_t draws, each, most; /* draws in all, of a chain; points of the largest group */
    double *ws[MOST_THREADS], *lin[MOST_THREADS], *r[MOST_THREADS];
    double *value, *score;    /* draws x 2 x ngroup x M: of the data, of drawn ones; NaN: none */
    struct fit_arena *storage;
};

/* ---- points ---------------------------------------------------------------------------------------------------- */

static int points_alloc(struct points *p, size_t n, size_t ngroup, struct fit_arena *a)
{
    p->ngroup = ngroup;
    p->first = fit_take(a, ngroup + 1, sizeof *p->first);
    p->i = fit_take(a, n, sizeof *p->i);
    p->j = fit_take(a, n, sizeof *p->j);
    p->group = fit_take(a, n, sizeof *p->group);
    p->lag = fit_take(a, n, sizeof *p->lag);
    p->age = fit_take(a, n, sizeof *p->age);
    p->quarter = fit_take(a, n, sizeof *p->quarter);
    FIT_TAKE_DOUBLES(a, n, &p->y, &p->w);
    return !a->failed;
}

static size_t points_of_a_group(size_t ngroup)
{
    size_t n = FIT_RESIDUAL_POINTS_ALL / ngroup;
    return n < RUN ? RUN : n < FIT_RESIDUAL_POINTS ? n : FIT_RESIDUAL_POINTS;
}

/* Whether block b of n is among `want` that are spread evenly. */
static int chosen(size_t b, size_t n, size_t want)
{
    return n <= want || b * want / n != (b + 1) * want / n;
}

/* A block: lags d0 + a, earlier frames i0 + b. */
static void add_block(struct points *p, size_t nframe, size_t d0, size_t i0)
{
    uint32_t at[SIDE + 1][SIDE + 1];
    for (size_t a = 0; a <= SIDE; a++)
        for (size_t b = 0; b <= SIDE; b++)
            at[a][b] = NO_POINT;
    size_t quarter = nframe / 4 ? nframe / 4 : 1;
    for (size_t a = 0; a < SIDE; a++)
        for (size_t b = 0; b < SIDE && i0 + b + d0 + a < nframe; b++) {
            at[a][b] = (uint32_t)p->n;
            p->i[p->n] = (uint32_t)(i0 + b);
            p->j[p->n] = (uint32_t)(i0 + b + d0 + a);
            p->quarter[p->n++] = d0 + a <= quarter ? -1 : d0 + a >= nframe - quarter ? 1 : 0;
        }
    for (size_t a = 0; a < SIDE; a++)
        for (size_t b = 0; b < SIDE; b++)
            if (at[a][b] != NO_POINT) {
                p->lag[at[a][b]] = at[a + 1][b];
                p->age[at[a][b]] = at[a][b + 1];
            }
}

/* The same points for every group. */
static int choose_pairs(struct work *w)
{
    const struct fit_layout *l = &w->ds->layout;
    struct points *p = &w->p;
    size_t blocks = 0, b = 0, want = points_of_a_group(l->ngroup) / RUN;
    for (size_t d = 1; d < l->nframe; d += SIDE)
        blocks += (l->nframe - d + SIDE - 1) / SIDE;
    size_t room = (blocks < want ? blocks : want) * RUN;
    if (!points_alloc(p, room * l->ngroup, l->ngroup, w->storage))
        return 0;
    for (size_t d = 1; d < l->nframe; d += SIDE)
        for (size_t i = 0; i + d < l->nframe; i += SIDE, b++)
            if (chosen(b, blocks, want))
                add_block(p, l->nframe, d, i);
    size_t n = p->n;
    for (size_t g = 0; g < l->ngroup; g++) {
        p->first[g + 1] = (g + 1) * n;
        memcpy(p->i + g * n, p->i, n * sizeof *p->i);
        memcpy(p->j + g * n, p->j, n * sizeof *p->j);
        memcpy(p->lag + g * n, p->lag, n * sizeof *p->lag);
        memcpy(p->age + g * n, p->age, n * sizeof *p->age);
        memcpy(p->quarter + g * n, p->quarter, n);
        for (size_t k = 0; k < n; k++)
            p->group[g * n + k] = (uint32_t)g;
    }
    p->n = n * l->ngroup;
    return 1;
}

/* Runs of rows of one group, places[n], in the order of the covariate. */
static void add_runs(struct work *w, size_t g, size_t n, const uint32_t *place, const double *x, size_t *order)
{
    struct points *p = &w->p;
    size_t runs = (n + RUN - 1) / RUN, want = points_of_a_group(p->ngroup) / RUN, first = p->n;
    fit_sort_index(n, x, order);
    for (size_t k = 0; k < n; k++) {
        size_t run = k / RUN;
        if (!chosen(run, runs, want))
            continue;
        p->i[p->n] = place[order[k]];
        p->group[p->n] = (uint32_t)g;
        p->quarter[p->n] = 4 * k < n ? -1 : 4 * k >= 3 * n ? 1 : 0;
        p->lag[p->n] = k + 1 < n && chosen((k + 1) / RUN, runs, want) ? (uint32_t)(p->n + 1 - first) : NO_POINT;
        p->age[p->n++] = NO_POINT;
    }
}

static int choose_rows(struct work *w)
{
    FIT_SCRATCH(a);
    const struct fit_dataset *ds = w->ds;
    size_t c = fit_score_coordinate(w->k), n = 0;
    uint32_t *place = fit_take(&a, ds->layout.nrow, sizeof *place);
    double *x = fit_take(&a, ds->layout.nrow, sizeof *x);
    size_t *order = fit_take(&a, ds->layout.nrow, sizeof *order);
    int ok = !a.failed && points_alloc(&w->p, ds->layout.nrow, ds->layout.ngroup, w->storage);
    for (size_t t = 0, g = 0; ok && g < ds->layout.ngroup; g++) {
        for (n = 0; t < ds->ntile && ds->tile[t].group == g; t++)
            for (size_t i = ds->tile[t].i0; i < ds->tile[t].i1; i++) {
                x[n] = c < w->k->ncolumn ? ds->layout.column[c][i] : (double)i;
                place[n++] = (uint32_t)i;
            }
        add_runs(w, g, n, place, x, order);
        w->p.first[g + 1] = w->p.n;
    }
    return ok;
}

/* Values of the points that lie in a tile. */
static void read_tile(struct work *w, const struct fit_tile *t)
{
    const struct fit_layout *l = &w->ds->layout;
    struct points *p = &w->p;
    int pairs = w->k->space == FIT_PAIRS;
    size_t each = pairs ? p->first[1] : 0;
    for (size_t k = pairs ? 0 : p->first[t->group]; k < (pairs ? each : p->first[t->group + 1]); k++) {
        if (p->i[k] < t->i0 || p->i[k] >= t->i1 || (pairs && (p->j[k] < t->j0 || p->j[k] >= t->j1)))
            continue;
        for (size_t g = 0; g < (pairs ? l->ngroup : 1); g++) {
            size_t at = pairs ? fit_tile_offset(l, t, p->i[k], p->j[k], g) : p->i[k] - t->i0 / FIT_LANES * FIT_LANES;
            p->y[g * each + k] = t->y[at];
            p->w[g * each + k] = t->w ? t->w[at] : 1;
        }
    }
}

static enum fit_status read_values(struct work *w, struct fit_error *err)
{
    double *buffer = fit_take(w->storage, fit_dataset_buffer(w->ds) + FIT_LANES, sizeof *buffer);
    struct fit_tile own;
    if (!buffer)
        return fit_no_memory(err, "predictive check");
    fit_dataset_begin(w->ds);
    for (size_t k = 0; k < w->ds->ntile; k++) {
        const struct fit_tile *t = fit_dataset_tile(w->ds, k, buffer, &own);
        if (t)
            read_tile(w, t);
    }
    fit_dataset_end(w->ds);
    return fit_dataset_status(w->ds, err);
}

/* ---- measures -------------------------------------------------------------------------------------------------- */

struct sums {
    double n, square, lag, nlag, age, nage, largest, beyond, mean[2], nmean[2];
};

static struct sums add_up(const struct points *p, size_t g, const double *r)
{
    struct sums s = {0};
    size_t first = p->first[g], n = p->first[g + 1] - first;
    for (size_t k = 0; k < n; k++) {
        size_t lag = p->lag[first + k], age = p->age[first + k];
        double x = r[k];
        if (!(p->w[first + k] > 0))
            continue;
        s.n += 1;
        s.square += x * x;
        s.largest = fmax(s.largest, fabs(x));
        s.beyond += fabs(x) > 3;
        if (p->quarter[first + k]) {
            s.mean[p->quarter[first + k] > 0] += x;
            s.nmean[p->quarter[first + k] > 0] += 1;
        }
        if (lag != NO_POINT && p->w[first + lag] > 0) {
            s.lag += x * r[lag];
            s.nlag += 1;
        }
        if (age != NO_POINT && p->w[first + age] > 0) {
            s.age += x * r[age];
            s.nage += 1;
        }
    }
    return s;
}

/* Normal quantile of the probability that the largest of n is below x. */
static double score_largest(double n, double x)
{
    double above = -expm1(n * log1p(-erfc(fmin(x, 35) / sqrt(2))));
    return above < 0.5 ? -fit_normal_quantile(above) : fit_normal_quantile(exp(n * log1p(-erfc(x / sqrt(2)))));
}

static void measure(const struct sums *s, double value[M], double score[M])
{
    double variance = s->square / s->n; /* NaN when there are no points, and all the rest */
    value[FIT_RESIDUAL_LAG] = s->nlag > 0 ? s->lag / s->nlag / variance : NAN;
    value[FIT_RESIDUAL_AGE] = s->nage > 0 ? s->age / s->nage / variance : NAN;
    value[FIT_RESIDUAL_LARGEST] = s->n > 0 ? s->largest : NAN;
    value[FIT_RESIDUAL_BEYOND] = s->beyond / s->n;
    value[FIT_RESIDUAL_SHORT] = s->mean[0] / s->nmean[0];
    value[FIT_RESIDUAL_LONG] = s->mean[1] / s->nmean[1];
    memcpy(score, value, M * sizeof *score);
    score[FIT_RESIDUAL_LARGEST] = s->n > 0 ? fmax(score_largest(s->n, s->largest), -40) : NAN;
    score[FIT_RESIDUAL_BEYOND] = s->n > 0 ? 2 * sqrt(s->beyond + 0.375) : NAN;
}

/* Residuals of a group at the present tables. */
static void residuals(const struct work *w, size_t thread, size_t g, const double *x, double *r)
{
    const struct points *p = &w->p;
    size_t first = p->first[g], n = p->first[g + 1] - first;
    double sigma = w->sigma ? w->sigma[g] : x[w->s->nparam + w->s->ngroup * w->s->nlinear + g];
    const struct fit_points list = {n, p->i + first, w->k->space == FIT_PAIRS ? p->j + first : NULL, p->group + first};
    w->k->points(&w->ds->layout, w->ws[thread], w->lin[thread], &list, r, NULL);
    for (size_t k = 0; k < n; k++)
        r[k] = p->w[first + k] > 0 ? (p->y[first + k] - r[k]) * sqrt(p->w[first + k]) / sigma : 0;
}

static void take_draw(void *user, size_t d, size_t thread)
{
    struct work *w = user;
    const struct fit_samples *s = w->s;
    size_t chain = d / w->each, draw = d % w->each * s->draws / w->each, nl = s->nlinear;
    const double *x = s->x + (chain * s->draws + draw) * s->ncolumn;
    double *r = w->r[thread], *lin = w->lin[thread];
    struct fit_rng rng = {.seed = s->seed, .chain = (uint32_t)chain, .iteration = (uint32_t)draw,
                          .purpose = FIT_RNG_RESIDUAL};
    for (size_t e = 0; e < s->ngroup * nl; e++)
        lin[e] = x[s->nparam + e] - ((int)(e % nl) == w->k->intercept ? w->ds->reference[e / nl] : 0);
    int fine = w->k->prepare(&w->ds->layout, x, 0, w->ws[thread]) == FIT_EVAL_OK;
    for (size_t g = 0; g < s->ngroup; g++)
        for (size_t drawn = 0; drawn < 2; drawn++) {
            size_t at = ((d * 2 + drawn) * s->ngroup + g) * M, n = w->p.first[g + 1] - w->p.first[g];
            if (!drawn && fine)
                residuals(w, thread, g, x, r);
            else if (drawn)
                fit_rng_next_normals(&rng, n, r);
            struct sums sums = fine && n ? add_up(&w->p, g, r) : (struct sums){0};
            measure(&sums, w->value + at, w->score + at);
        }
}

static void take_draws(struct work *w, int team)
{
    const size_t bytes = 2 * w->s->ngroup * M * sizeof *w->value;
    fit_ranks_run((struct fit_team){team, FIT_TEAM_NEXT}, w->draws, take_draw, w);
    fit_ranks_spread(w->value, w->draws, bytes);
    fit_ranks_spread(w->score, w->draws, bytes);
}

/* ---- comparison ------------------------------------------------------------------------------------------------ */

/* Measures of draw d; for the group after the last: the mean over groups that have the measure. */
static double of_draw(const struct work *w, const double *from, size_t d, size_t drawn, size_t g, size_t m)
{
    const double *at = from + (d * 2 + drawn) * w->s->ngroup * M + m;
    double sum = 0, n = 0;
    if (g < w->s->ngroup)
        return at[g * M];
    for (size_t k = 0; k < w->s->ngroup; k++)
        if (isfinite(at[k * M])) {
            sum += at[k * M];
            n += 1;
        }
    return n > 0 ? sum / n : NAN;
}

static struct fit_residual_result compare(const struct work *w, size_t g, size_t m)
{
    double n = 0, value[2] = {0}, score[2] = {0}, square = 0, more = 0, less = 0;
    for (size_t d = 0; d < w->draws; d++) {
        double a = of_draw(w, w->score, d, 0, g, m), b = of_draw(w, w->score, d, 1, g, m);
        if (!isfinite(a) || !isfinite(b))
            continue;
        n += 1;
        for (size_t drawn = 0; drawn < 2; drawn++)
            value[drawn] += of_draw(w, w->value, d, drawn, g, m);
        score[0] += a;
        score[1] += b;
        square += b * b;
        more += b >= a;
        less += b <= a;
    }
    struct fit_residual_result out = {NAN, NAN, NAN, NAN, 0};
    if (n < FEWEST_DRAWS)
        return out;
    double sd = sqrt(fmax(square - score[1] * score[1] / n, 0) / (n - 1));
    /* The standard deviation is 1 in one group by the scale; few counts need not scatter in so few draws. */
    if (m == FIT_RESIDUAL_BEYOND || m == FIT_RESIDUAL_LARGEST)
        sd = fmax(sd, g < w->s->ngroup ? 1 : 1 / sqrt((double)w->s->ngroup));
    out = (struct fit_residual_result){.data = value[0] / n, .model = value[1] / n};
    out.p = fmin(1, 2 * (fmin(more, less) + 1) / (n + 1));
    out.z = (score[0] - score[1]) / n / sd;
    if (fabs(out.z) > FAR && fmin(more, less) < 1)
        out.unusual = out.z > 0 ? 1 : -1;
    return out;
}

static int allocate(struct work *w, size_t threads)
{
    for (size_t g = 0; g < w->p.ngroup; g++)
        w->most = w->p.first[g + 1] - w->p.first[g] > w->most ? w->p.first[g + 1] - w->p.first[g] : w->most;
    for (size_t t = 0; t < threads; t++) {
        FIT_TAKE_DOUBLES(w->storage, w->k->workspace(&w->ds->layout), &w->ws[t]);
        FIT_TAKE_DOUBLES(w->storage, w->s->ngroup * w->k->nlinear, &w->lin[t]);
        FIT_TAKE_DOUBLES(w->storage, w->most + FIT_LANES, &w->r[t]);
    }
    FIT_TAKE_DOUBLES(w->storage, w->draws * 2 * w->s->ngroup * M, &w->value, &w->score);
    return !w->storage->failed;
}

enum fit_status fit_residual_check(const struct fit_posterior_setup *setup, const struct fit_samples *s, int threads,
                                   struct fit_residual_check *out, struct fit_error *err)
{
    const struct fit_kernel *kernel = setup->kernel;
    const struct fit_dataset *ds = setup->ds;
    FIT_SCRATCH(a);
    struct work w = {.k = kernel, .ds = ds, .s = s, .storage = &a};
    if (setup->variance == FIT_VARIANCE_KNOWN && !ds->weighted)
        w.sigma = setup->sigma;
    enum fit_status st = FIT_OK;
    int pairs = kernel->space == FIT_PAIRS;
    *out = (struct fit_residual_check){.ngroup = s->ngroup, .pairs = pairs, .robust = pairs && s->x_robust};
    if (kernel->density || !kernel->points || s->chains * s->draws < FEWEST_DRAWS || s->chains > FIT_RESIDUAL_DRAWS ||
        s->ngroup != ds->layout.ngroup)
        return FIT_OK;
    size_t team = (size_t)(threads > 0 ? threads : fit_topology_threads());
    team = team < MOST_THREADS ? team : MOST_THREADS;
    w.each = FIT_RESIDUAL_DRAWS / s->chains < s->draws ? FIT_RESIDUAL_DRAWS / s->chains : s->draws;
    w.draws = w.each * s->chains;
    out->result = calloc((s->ngroup + 1) * M, sizeof *out->result);
    if (!out->result || !(pairs ? choose_pairs(&w) : choose_rows(&w)) || !allocate(&w, team)) {
        st = fit_no_memory(err, "predictive check");
        goto done;
    }
    if ((st = read_values(&w, err)) != FIT_OK)
        goto done;
    take_draws(&w, (int)team);
    for (size_t g = 0; g <= s->ngroup; g++)
        for (size_t m = 0; m < M; m++)
            out->result[g * M + m] = compare(&w, g, m);
    for (size_t k = 0; k < w.p.n; k++)
        out->points += w.p.w[k] > 0;
    out->draws = out->points ? w.draws : 0;
done:
    if (st != FIT_OK)
        fit_residual_check_free(out);
    return st;
}

void fit_residual_check_free(struct fit_residual_check *c)
{
    free(c->result);
    *c = (struct fit_residual_check){0};
}

/* ---- words ----------------------------------------------------------------------------------------------------- */

const char *fit_residual_word(enum fit_residual_measure m)
{
    static const char *const word[M] = {"neighbours_lag", "neighbours_age", "largest",
                                        "beyond_3",       "mean_short",     "mean_long"};
    return word[m];
}

static const char *finding(size_t m, int sign, int pairs)
{
    static const char *const words[M][2] = {
        {"neighbours along the lag are correlated more than the model's noise",
         "neighbours along the lag are anticorrelated"},
        {"neighbours along the age are correlated more than the model's noise",
         "neighbours along the age are anticorrelated"},
        {"the largest residual is larger than the noise makes it",
         "the largest residual is smaller than noise makes it"},
        {"more residuals are beyond 3 sigma than the noise has",
         "fewer residuals are beyond 3 sigma than the noise has"},
        {"the data lie above the model at the shortest lags",
         "the data lie below the model at the shortest lags"},
        {"the data lie above the model at the longest lags",
         "the data lie below the model at the longest lags"}};
    static const char *const rows[M][2] = {
        [FIT_RESIDUAL_LAG] = {"neighbouring rows are correlated more than the model's noise",
                              "neighbouring rows are anticorrelated"},
        [FIT_RESIDUAL_SHORT] = {"the data lie above the model in the first quarter of the rows",
                                "the data lie below the model in the first quarter of the rows"},
        [FIT_RESIDUAL_LONG] = {"the data lie above the model in the last quarter of the rows",
                               "the data lie below the model in the last quarter of the rows"}};
    return !pairs && rows[m][0] ? rows[m][sign < 0] : words[m][sign < 0];
}

/* The largest |z| of a measure among the groups and all together; *n: groups that are unusual in its direction. */
static const struct fit_residual_result *worst(const struct fit_residual_check *c, size_t m, size_t *n)
{
    const struct fit_residual_result *far = NULL;
    for (size_t g = 0; g <= c->ngroup; g++) {
        const struct fit_residual_result *r = &c->result[g * M + m];
        if (r->unusual && (!far || fabs(r->z) > fabs(far->z)))
            far = r;
    }
    *n = 0;
    for (size_t g = 0; far && g < c->ngroup; g++)
        *n += c->result[g * M + m].unusual == far->unusual;
    return far;
}

void fit_residual_text(const struct fit_residual_check *c, const char *groups, size_t size, char *text)
{
    size_t n = 0, found = 0, correlated = 0, used = (size_t)snprintf(text, size, "predictive check: ");
    for (size_t m = 0; m < M && used < size; m++) {
        const struct fit_residual_result *r = worst(c, m, &n);
        if (!r)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s (", found++ ? "; " : "",
                                 finding(m, r->unusual, c->pairs));
        if (used < size && c->ngroup > 1 && n > 0)
            used += (size_t)snprintf(text + used, size - used, "%zu of %zu %s, ", n, c->ngroup, groups);
        else if (used < size && c->ngroup > 1)
            used += (size_t)snprintf(text + used, size - used, "all %zu %s together, ", c->ngroup, groups);
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, "p <= %.2g)", r->p);
        correlated |= (m == FIT_RESIDUAL_LAG || m == FIT_RESIDUAL_AGE) && r->unusual > 0;
    }
    if (used < size && !found)
        snprintf(text + used, size - used, "nothing unusual");
    else if (used < size && correlated && c->robust)
        snprintf(text + used, size - used, "; take the draws of posterior_robust");
}
