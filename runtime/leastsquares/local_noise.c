/* local_noise.c -- noise by differences along lines of constant lag; see local_noise.h. */
#include "leastsquares/local_noise.h"

#include "base/arena.h"
#include "math/special.h"


#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ORDERS = FIT_NOISE_ORDERS, REACH = FIT_NOISE_REACH, WANTED = 200000, TILES = 12, PILOT = 2048, LEAST = 500 };

/* A difference beyond so many standard deviations is that of an outlier. */
static const double OUTLIER = 5;
/* Median of the square of a normal variable. */
static const double MEDIAN_SQUARE = 0.4549364231195724;
/* Sums of squared correlations of successive d_4, and of the contrasts d_3^2 - d_4^2, d_2^2 - d_4^2: variances of their
 * means are 2 / n times these (all are quadratic forms of the coefficients). */
static const double SCATTER[ORDERS] = {0.170975056689342, 0.033673469387755, 2.626530612244898};
/* Orders may differ by this fraction of the variance. */
static const double AGREE[ORDERS] = {0.03, 0.01, 0};
static const double SURPRISE = 4;
static const double NORM[ORDERS] = FIT_NOISE_NORM;

const char *fit_local_text(enum fit_local_doubt doubt)
{
    static const char *const text[] = {
        "", "too few values that are neighbours along the age",
        "the signal changes from frame to frame along the age, or the noise of neighbours is correlated",
        "the noise of values that are neighbours along the age is correlated",
        "the noise of a table is not known without its standard deviations"};
    return (unsigned)doubt < sizeof text / sizeof *text ? text[doubt] : "";
}

/* Do orders first .. 3 agree with the fourth? */
static int agree(const struct fit_noise_sums *s, size_t first)
{
    for (size_t p = first; p + 1 < ORDERS; p++)
        if (fabs(s->square[p] / s->square[2] - 1) > AGREE[p] + SURPRISE * sqrt(2 * SCATTER[p] / s->n))
            return 0;
    return 1;
}

static struct fit_local_noise estimate(double square, double n, double scatter, enum fit_local_doubt doubt)
{
    struct fit_local_noise out = {NAN, NAN, NAN, FIT_LOCAL_FEW};
    if (!(n > 0 && square > 0))
        return out;
    out.guess = square / n;
    out.error = sqrt(2 * scatter / n);
    out.doubt = n < LEAST ? FIT_LOCAL_FEW : doubt;
    out.variance = out.doubt == FIT_LOCAL_KNOWN ? out.guess : NAN;
    return out;
}

/* Of data. */
static struct fit_local_noise noise_of_sums(const struct fit_noise_sums *s)
{
    return estimate(s->square[2], s->n, SCATTER[2], agree(s, 1) ? FIT_LOCAL_KNOWN : FIT_LOCAL_ROUGH);
}

struct fit_local_noise fit_noise_of_residuals(const struct fit_noise_sums *s)
{
    static const double scatter = 1.944444444444444; /* of d_2 */
    return estimate(s->short_square, s->nshort, scatter, agree(s, 0) ? FIT_LOCAL_KNOWN : FIT_LOCAL_CORRELATED);
}

void fit_noise_add(struct fit_noise_sums *to, const struct fit_noise_sums *from, double scale)
{
    to->n += from->n;
    to->nshort += from->nshort;
    to->short_square += from->short_square * scale;
    for (size_t p = 0; p < ORDERS; p++)
        to->square[p] += from->square[p] * scale;
}

void fit_noise_steps(const struct fit_layout *l, size_t reach, uint32_t *step)
{
    for (size_t i = 0; i < l->nframe; i++) {
        uint32_t s = i + reach < l->nframe ? l->frame[i + 1] - l->frame[i] : 0;
        for (size_t m = 1; s && m < reach; m++)
            s = l->frame[i + m + 1] - l->frame[i + m] == s ? s : 0;
        step[i] = s;
    }
}

/* The first row of data whose pairs count. */
static size_t first_row(const struct fit_layout *l)
{
    return l->nframe / 8 < 16 ? l->nframe / 8 : 16;
}

/* ---- of data --------------------------------------------------------------------------------------------------- */

struct sample {
    const struct fit_dataset *ds;
    uint32_t *step;
    size_t every, room; /* rows from one stencil to the next; stencils of a group, at most */
    size_t *n;          /* ngroup */
    double *d;          /* ngroup x room x ORDERS */
    double *row;        /* 2 (REACH + 1) x panel: values and weights of five rows, from column j0 on */
};

/* Row i of group g, columns [first, j1), to y and w from column t->j0 on. */
static void copy_row(const struct fit_layout *l, const struct fit_tile *t, size_t i, size_t g, double *y, double *w)
{
    size_t first = t->j0 > i + 1 ? t->j0 : i + 1, at = fit_tile_offset(l, t, i, first, g) - first % FIT_LANES;
    for (size_t j = first; j < t->j1; j++) {
        size_t k = at + (j / FIT_LANES - first / FIT_LANES) * l->ngroup * FIT_LANES + j % FIT_LANES;
        y[j - t->j0] = t->y[k];
        if (t->w) {
            w[j - t->j0] = t->w[k];
            y[j - t->j0] = t->w[k] > 0 ? t->y[k] : NAN;
        }
    }
}

/* Differences divided by the standard deviations that follow from the weights w[0 .. REACH]. */
static void by_weights(const double *w, double d[ORDERS])
{
    static const double square[ORDERS][REACH + 1] = {{0, 1, 4, 1, 0}, {1, 9, 9, 1, 0}, {1, 16, 36, 16, 1}};
        for (size_t p = 0; p < ORDERS; p++) {
        double variance = 0;
        for (size_t m = 0; m <= REACH; m++)
            variance += square[p][m] > 0 ? square[p][m] / (w[m] * NORM[p]) : 0;
        d[p] /= sqrt(variance);
    }
}

/* Stencils of group g that begin in row i. */
static void take_row(struct sample *s, const struct fit_tile *t, size_t i, size_t g)
{
    const struct fit_layout *l = &s->ds->layout;
    const size_t first = t->j0 > i + REACH + 1 ? t->j0 : i + REACH + 1, width = t->j1 - t->j0;
    const double *y = s->row, *w = s->row + (REACH + 1) * l->panel;
    for (size_t m = 0; m <= REACH; m++)
        copy_row(l, t, i + m, g, s->row + m * l->panel, s->row + (REACH + 1 + m) * l->panel);
    for (size_t j = first; width > REACH && j + REACH < t->j1 && s->n[g] < s->room; j++) {
        double *d = s->d + (g * s->room + s->n[g]) * ORDERS, v[REACH + 1];
        const size_t p = l->panel + 1, k = j - t->j0;
        FIT_NOISE_DIFFERENCES(y[k], y[k + p], y[k + 2 * p], y[k + 3 * p], y[k + 4 * p], d);
        for (size_t e = 0; e < ORDERS; e++)
            d[e] /= sqrt(NORM[e]);
        for (size_t m = 0; t->w && m <= REACH; m++)
            v[m] = w[k + m * p];
        if (t->w)
            by_weights(v, d);
        s->n[g] += s->step[j] == s->step[i] && isfinite(d[2]);
    }
}

static void take_tile(struct sample *s, const struct fit_tile *t)
{
    const struct fit_layout *l = &s->ds->layout;
    for (size_t i = t->i0; i + REACH < t->i1; i += s->every)
        for (size_t g = 0; i >= first_row(l) && s->step[i] && g < l->ngroup; g++)
            take_row(s, t, i, g);
}

/* Variance from the median of d_4^2, over a sample of them. */
static double pilot(const double *d, size_t n)
{
    double some[PILOT];
    size_t m = n < PILOT ? n : PILOT;
    for (size_t k = 0; k < m; k++)
        some[k] = pow(d[k * n / m * ORDERS + 2], 2);
    qsort(some, m, sizeof *some, fit_ascending);
    return m ? some[m / 2] / MEDIAN_SQUARE : 0;
}

static struct fit_noise_sums sums_of(const struct sample *s, size_t g)
{
    struct fit_noise_sums out = {0};
    const double *d = s->d + g * s->room * ORDERS;
    const double limit = OUTLIER * OUTLIER * pilot(d, s->n[g]);
    for (size_t k = 0; k < s->n[g]; k++) {
        if (!(d[k * ORDERS + 2] * d[k * ORDERS + 2] <= limit))
            continue;
        out.n += 1;
        for (size_t p = 0; p < ORDERS; p++)
            out.square[p] += d[k * ORDERS + p] * d[k * ORDERS + p];
    }
    return out;
}

/* Tiles at even distances. */
static void take_tiles(struct sample *s, double *buffer)
{
    const struct fit_dataset *ds = s->ds;
    size_t n = ds->ntile < TILES ? ds->ntile : TILES;
    struct fit_tile own;
    for (size_t k = 0; k < n; k++) {
        const struct fit_tile *t = fit_dataset_single(ds, (2 * k + 1) * ds->ntile / (2 * n), buffer, &own);
        if (t)
            take_tile(s, t);
    }
}

static void sample_new(struct sample *s, struct fit_arena *a)
{
    const struct fit_dataset *ds = s->ds;
    size_t ng = ds->layout.ngroup, n = ds->ntile < TILES ? ds->ntile : TILES, all = 0;
    for (size_t k = 0; k < n; k++)
        all += fit_tile_doubles(&ds->layout, &ds->tile[(2 * k + 1) * ds->ntile / (2 * n)]);
    s->every = 1 + all / WANTED;
    s->room = (all < WANTED ? all : WANTED) / ng + 1;
    s->step = fit_take(a, ds->layout.nframe, sizeof *s->step);
    s->n = fit_take(a, ng, sizeof *s->n);
    s->d = fit_take(a, ng * s->room * ORDERS, sizeof *s->d);
    s->row = fit_take(a, 2 * (REACH + 1) * (ds->layout.panel + 1), sizeof *s->row);
}

enum fit_status fit_noise_of_data(const struct fit_dataset *ds, struct fit_local_noise *each,
                                  struct fit_local_noise *all, struct fit_error *err)
{
    const size_t ng = ds->layout.ngroup;
    const struct fit_local_noise none = {NAN, NAN, NAN, FIT_LOCAL_NONE};
    for (size_t g = 0; g < ng; g++)
        each[g] = none;
    if (all)
        *all = none;
    if (ds->layout.nrow > 0)
        return FIT_OK;
    struct sample s = {.ds = ds};
    FIT_SCRATCH(a);
    double *buffer = fit_take(&a, fit_dataset_buffer(ds) + FIT_LANES, sizeof *buffer);
    struct fit_noise_sums pooled = {0};
    sample_new(&s, &a);
    if (a.failed)
        return fit_no_memory(err, "the noise of the data");
    fit_noise_steps(&ds->layout, REACH, s.step);
    take_tiles(&s, buffer);
    for (size_t g = 0; g < ng; g++) {
        const struct fit_noise_sums sums = sums_of(&s, g);
        each[g] = noise_of_sums(&sums);
        fit_noise_add(&pooled, &sums, 1);
    }
    if (all)
        *all = noise_of_sums(&pooled);
    return fit_dataset_status(ds, err);
}
