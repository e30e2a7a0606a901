/* moments.c -- sums over differences of neighbouring residuals, row by row of a tile; see noise.h.
 *
 * Slow noise, and the part of it that the fit absorbs, is nearly the same in neighbours and cancels in their
 * differences. Products of differences at the same t and different s share the shot noise and the change of frame t,
 * times the correlation of frames s and s': for independent noise they are 0. All sums run along columns, so that
 * the compiler may process several columns at a time without changing their order. */
#include "speckle/noise.h"

#include <string.h>

#include "base/each_isa.h"

enum {
    LEAST_LAG = 3,
    FAR_EVERY = 4,     /* rows, of many, at which distances of two frames and more are evaluated */
    FAR_FRAMES = 256,
    COLUMNS = 2 * FIT_SPECKLE_DISTANCES + 4 * FIT_SPECKLE_LEVELS /* arrays of a panel's width */
};

size_t fit_speckle_room(const struct fit_layout *l)
{
    return COLUMNS * l->panel;
}

void fit_speckle_moments_begin(const struct fit_layout *l, const struct fit_tile *t, double *room,
                               struct fit_speckle_columns *c)
{
    const size_t width = l->panel;
    *c = (struct fit_speckle_columns){.layout = l, .j0 = t->j0, .n = t->j1 - t->j0, .width = width, .square = room};
    memset(room, 0, COLUMNS * width * sizeof *room);
    c->nsquare = c->square + FIT_SPECKLE_DISTANCES * width;
    c->sum = c->nsquare + FIT_SPECKLE_DISTANCES * width;
    c->count = c->sum + FIT_SPECKLE_LEVELS * width;
    c->product = c->count + FIT_SPECKLE_LEVELS * width;
    c->nproduct = c->product + FIT_SPECKLE_LEVELS * width;
}

/* Squares of n differences, of x from y. */
EACH_ISA
static void add_squares(size_t n, const double *restrict x, const double *restrict y, double *restrict square,
                        double *restrict number)
{
    for (size_t j = 0; j < n; j++) {
        double e = x[j] - y[j];
        const double one = e == e ? 1 : 0;
        e = e == e ? e : 0;
        square[j] += e * e;
        number[j] += one;
    }
}

/* The same, and the differences themselves. */
EACH_ISA
static void add_both(size_t n, const double *restrict x, const double *restrict y, double *restrict square,
                     double *restrict number, double *restrict sum, double *restrict count)
{
    for (size_t j = 0; j < n; j++) {
        double e = x[j] - y[j];
        const double one = e == e ? 1 : 0;
        e = e == e ? e : 0;
        square[j] += e * e;
        number[j] += one;
        sum[j] += e;
        count[j] += one;
    }
}

/* The first column of slice s or of a later one, starting from c->j0. */
static size_t slice_begin(const struct fit_speckle_columns *c, size_t s)
{
    const size_t j = (s * c->layout->nframe + FIT_SPECKLE_SLICES - 1) / FIT_SPECKLE_SLICES;
    return j <= c->j0 ? 0 : j - c->j0 < c->n ? j - c->j0 : c->n;
}

/* The segment of level h ends: its square is added, and it becomes part of one of the next level. */
EACH_ISA
static void close_segment(const struct fit_speckle_columns *c, size_t h)
{
    const size_t at = h * c->width;
    double *restrict sum = c->sum + at, *restrict count = c->count + at;
    double *restrict product = c->product + at, *restrict number = c->nproduct + at;
    for (size_t j = 0; j < c->n; j++) {
        product[j] += sum[j] * sum[j];
        number[j] += count[j] * count[j];
    }
    for (size_t j = 0; h + 1 < FIT_SPECKLE_LEVELS && j < c->n; j++) {
        sum[c->width + j] += sum[j];
        count[c->width + j] += count[j];
    }
    memset(sum, 0, c->n * sizeof *sum);
    memset(count, 0, c->n * sizeof *count);
}

void fit_speckle_moments_row(struct fit_speckle_columns *c, size_t i, const double *r)
{
    const size_t first = c->j0 > i + LEAST_LAG ? 0 : i + LEAST_LAG - c->j0, n = c->n;
    if (first + 1 < n)
        add_both(n - first - 1, r + first, r + first + 1, c->square + first, c->nsquare + first, c->sum + first,
                 c->count + first);
    for (size_t k = 1; k < FIT_SPECKLE_DISTANCES; k++) {
        const size_t apart = (size_t)1 << k, at = k * c->width + first;
        if (first + apart < n && (c->layout->nframe < FAR_FRAMES || i % FAR_EVERY == 0))
            add_squares(n - first - apart, r + first, r + first + apart, c->square + at, c->nsquare + at);
    }
    for (size_t h = 0; h < FIT_SPECKLE_LEVELS && (i + 1) % ((size_t)2 << h) == 0; h++)
        close_segment(c, h);
}

void fit_speckle_moments_end(struct fit_speckle_columns *c, struct fit_speckle_moments *m)
{
    for (size_t h = 0; h < FIT_SPECKLE_LEVELS; h++)
        close_segment(c, h);
    for (size_t s = 0; s < FIT_SPECKLE_SLICES; s++)
        for (size_t j = slice_begin(c, s); j < slice_begin(c, s + 1); j++) {
            for (size_t k = 0; k < FIT_SPECKLE_DISTANCES; k++) {
                m->square[k][s] += c->square[k * c->width + j];
                m->nsquare[k][s] += c->nsquare[k * c->width + j];
            }
            for (size_t h = 0; h < FIT_SPECKLE_LEVELS; h++) { /* a square of a sum has those of its terms */
                m->product[h][s] += c->product[h * c->width + j] - c->square[j];
                m->nproduct[h][s] += c->nproduct[h * c->width + j] - c->nsquare[j];
            }
        }
}
