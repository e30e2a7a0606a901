/* speckle_moments.c -- sums over differences of neighbouring residuals, tile by tile; see speckle_noise.h.
 *
 * Slow noise, and what the fit follows of it, is nearly the same in neighbours and leaves their differences.  Products
 * of differences at the same t and different s have shot noise and change of frame t in common, times the correlation
 * of frames s and s': of independent noise they are 0.
 * All sums run along columns, so that the compiler may take several columns at a time without changing their order. */
#include "speckle_noise.h"

#include <string.h>

enum {
    L = FIT_LANES,
    LEAST_LAG = 3,
    FAR_EVERY = 4,     /* rows, of many, for which distances of two frames and more are looked at */
    FAR_FRAMES = 256,
    COLUMNS = 2 + 2 * FIT_SPECKLE_DISTANCES + 2 * FIT_SPECKLE_LEVELS /* arrays of a panel's width */
};

struct columns {
    size_t j0, n, width; /* frame of the first; how many count; length of the arrays */
    double *row;         /* residuals of the row at hand, NaN: none */
    double *square, *nsquare; /* DISTANCES x width */
    double *sum, *count;      /* LEVELS x width: of the segment at hand */
    double *extra;
};

size_t fit_speckle_room(const struct fit_layout *l)
{
    return COLUMNS * (l->panel + L);
}

static struct columns columns_in(const struct fit_layout *l, const struct fit_tile *t, double *room)
{
    const size_t width = l->panel + L;
    struct columns c = {.j0 = t->j0, .n = t->j1 - t->j0, .width = width, .row = room};
    memset(room, 0, COLUMNS * width * sizeof *room);
    c.extra = c.row + width;
    c.square = c.extra + width;
    c.nsquare = c.square + FIT_SPECKLE_DISTANCES * width;
    c.sum = c.nsquare + FIT_SPECKLE_DISTANCES * width;
    c.count = c.sum + FIT_SPECKLE_LEVELS * width;
    return c;
}

/* Row i of group g, at least at lag LEAST_LAG, into c->row; returns its first column, from c->j0. */
static size_t take_row(const struct fit_layout *l, const struct fit_tile *t, size_t i, size_t g, const double *r,
                       struct columns *c)
{
    size_t first = t->j0 > i + 1 ? t->j0 : i + 1;
    const size_t begin = t->j0 > i + LEAST_LAG ? t->j0 : i + LEAST_LAG;
    if (begin >= t->j1)
        return c->n;
    const double *from = r + fit_tile_offset(l, t, i, first, g) - first % L;
    for (size_t b = first / L; b * L < t->j1; b++, from += l->ngroup * L) {
        size_t lo = b * L > t->j0 ? 0 : t->j0 - b * L;
        for (size_t lane = lo; lane < L; lane++)
            c->row[b * L + lane - t->j0] = from[lane];
    }
    return begin - t->j0;
}

/* Squares of differences over `apart` frames. */
static void add_squares(struct columns *c, size_t first, size_t k, size_t apart)
{
    double *square = c->square + k * c->width, *number = c->nsquare + k * c->width;
    const double *x = c->row;
    for (size_t j = first; j + apart < c->n; j++) {
        double e = x[j] - x[j + apart], one = e == e ? 1 : 0;
        e = e == e ? e : 0;
        square[j] += e * e;
        number[j] += one;
    }
}

static void add_sums(struct columns *c, size_t first)
{
    const double *x = c->row;
    for (size_t j = first; j + 1 < c->n; j++) {
        double e = x[j] - x[j + 1], one = e == e ? 1 : 0;
        e = e == e ? e : 0;
        c->sum[j] += e;
        c->count[j] += one;
    }
}

static size_t slice_of(const struct fit_layout *l, size_t j)
{
    return j * FIT_SPECKLE_SLICES / l->nframe;
}

/* The segment of level h ends: its square counts, and it is part of one of the next level. */
static void close_segment(const struct fit_layout *l, struct columns *c, size_t h, struct fit_speckle_moments *m)
{
    double *sum = c->sum + h * c->width, *count = c->count + h * c->width;
    const int last = h + 1 == FIT_SPECKLE_LEVELS;
    for (size_t j = 0; j + 1 < c->n; j++) {
        const size_t slice = slice_of(l, c->j0 + j);
        m->product[h][slice] += sum[j] * sum[j];
        m->nproduct[h][slice] += count[j] * count[j];
        if (!last) {
            sum[c->width + j] += sum[j];
            count[c->width + j] += count[j];
        }
        sum[j] = count[j] = 0;
    }
}

void fit_speckle_moments_add(const struct fit_layout *l, const struct fit_tile *t, size_t g, const double *r,
                             double *room, struct fit_speckle_moments *m)
{
    struct columns c = columns_in(l, t, room);
    for (size_t i = t->i0; i < t->i1; i++) {
        const size_t first = take_row(l, t, i, g, r, &c);
        add_squares(&c, first, 0, 1);
        add_sums(&c, first);
        for (size_t k = 1; k < FIT_SPECKLE_DISTANCES; k++)
            if (l->nframe < FAR_FRAMES || i % FAR_EVERY == 0)
                add_squares(&c, first, k, (size_t)1 << k);
        for (size_t h = 0; h < FIT_SPECKLE_LEVELS && ((i + 1) % ((size_t)2 << h) == 0 || i + 1 == t->i1); h++)
            close_segment(l, &c, h, m);
    }
    for (size_t j = 0; j < c.n; j++) {
        const size_t slice = slice_of(l, c.j0 + j);
        for (size_t k = 0; k < FIT_SPECKLE_DISTANCES; k++) {
            m->square[k][slice] += c.square[k * c.width + j];
            m->nsquare[k][slice] += c.nsquare[k * c.width + j];
        }
        for (size_t h = 0; h < FIT_SPECKLE_LEVELS; h++) { /* a square of a sum has those of its terms */
            m->product[h][slice] -= c.square[j];
            m->nproduct[h][slice] -= c.nsquare[j];
        }
    }
}
