/* residual_blocks.c -- sums of residuals over blocks of pairs; see residual_blocks.h.
 *
 * A block is WIDE columns of the rows of a tile.  Tiles come in their order, one at a time, so the bits do not depend
 * on the threads. */
#include "leastsquares/residual_blocks.h"

#include <string.h>

enum { L = FIT_LANES, WIDE = 4 /* vectors */ };

struct blocks {
    const struct fit_layout *layout;
    struct fit_residual_blocks *out;
};

static size_t most_blocks(const struct fit_layout *l)
{
    return (l->panel / (L * WIDE) + 2) * l->ngroup;
}

/* Lanes lo .. hi - 1 of the vector at `offset`. */
static void add_vector(const struct fit_tile *t, const double *mean, size_t offset, size_t lo, size_t hi, double *sum,
                       double *weight)
{
    const double *y = t->y + offset, *m = mean + offset, *w = t->w ? t->w + offset : NULL;
    for (size_t k = lo; k < hi; k++) {
        double wk = w ? w[k] : 1;
        sum[k] += wk > 0 ? wk * (y[k] - m[k]) : 0;
        weight[k] += wk;
    }
}

/* Sums of w r, and behind them of w, L each for every block of the tile; of them comes its patch, two numbers. */
static size_t take_tile(void *user, const struct fit_tile *t, const double *mean, double *patch)
{
    const struct blocks *b = user;
    const size_t ng = b->layout->ngroup, start = t->j0 / L, most = most_blocks(b->layout);
    double *sum = patch, *weight = patch + most * L, square = 0, count = 0;
    size_t offset = 0;
    memset(sum, 0, 2 * most * L * sizeof *sum);
    for (size_t i = t->i0; i < t->i1; i++)
        for (size_t v = (t->j0 > i + 1 ? t->j0 : i + 1) / L; v * L < t->j1; v++) {
            size_t lo = i + 1 > v * L ? i + 1 - v * L : 0, hi = t->j1 - v * L < L ? t->j1 - v * L : L;
            for (size_t g = 0; g < ng; g++, offset += L) {
                size_t at = ((v - start) / WIDE * ng + g) * L;
                add_vector(t, mean, offset, lo, hi, sum + at, weight + at);
            }
        }
    for (size_t k = 0; k < most; k++) {
        double s = 0, w = 0;
        for (size_t lane = 0; lane < L; lane++) {
            s += sum[k * L + lane];
            w += weight[k * L + lane];
        }
        square += w > 0 ? s * s / w : 0;
        count += w > 0;
    }
    patch[0] = square;
    patch[1] = count;
    return 2;
}

static void add_tile(void *user, const struct fit_tile *t, const double *patch, size_t n)
{
    const struct blocks *b = user;
    (void)t;
    (void)n;
    b->out->square += patch[0];
    b->out->count += patch[1];
}

enum fit_eval fit_residual_blocks(struct fit_objective *obj, struct fit_residual_blocks *out)
{
    struct blocks b = {&obj->ds->layout, out};
    const struct fit_residual_patches patches = {2 * most_blocks(b.layout) * L, &b, take_tile, add_tile};
    *out = (struct fit_residual_blocks){0};
    return fit_objective_residuals(obj, &patches);
}
