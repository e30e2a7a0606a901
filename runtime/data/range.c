/* range.c -- smallest and largest value of each group, and whether double arithmetic can handle them; see dataset.h.
 * Sums of squares, and of products of four residuals for robust errors, must neither overflow nor underflow: with
 * |y| and |y / sigma| within FIT_LARGEST^+-1 = 1e+-75 fourth powers stay within 1e(+-300). */
#include "data/dataset_impl.h"

#include <float.h>
#include <math.h>

enum { L = FIT_LANES };

/* Lanes [from, to) of a block at y: extremes so far. */
static void take(const double *y, const double *w, size_t from, size_t to, double low[L], double high[L])
{
    for (size_t k = from; k < to; k++) {
        const int counts = !w || w[k] > 0;
        low[k] = counts && y[k] < low[k] ? y[k] : low[k];
        high[k] = counts && y[k] > high[k] ? y[k] : high[k];
    }
}

void fit_tile_range(const struct fit_layout *l, const struct fit_tile *t, size_t g, struct fit_range *r)
{
    const int rows = l->nrow > 0;
    const size_t stride = rows ? L : l->ngroup * L, last = rows && t->group != g ? t->i0 : t->i1;
    double low[L], high[L];
    size_t at = rows ? 0 : g * L;
    for (size_t k = 0; k < L; k++) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
    }
    for (size_t i = t->i0; i < last; i = rows ? (i / L + 1) * L : i + 1) {
        const size_t from = rows ? t->i0 : i + 1, to = rows ? t->i1 : t->j1;
        size_t b = (rows ? i : t->j0 > i + 1 ? t->j0 : i + 1) / L;
        const size_t end = rows ? b + 1 : (t->j1 + L - 1) / L;
        for (; b < end; b++, at += stride) {
            const size_t first = b * L < from ? from - b * L : 0, stop = to < (b + 1) * L ? to - b * L : L;
            take(t->y + at, t->w ? t->w + at : NULL, first, stop, low, high);
        }
    }
    for (size_t k = 0; k < L; k++) {
        r->low = fmin(r->low, low[k]);
        r->high = fmax(r->high, high[k]);
    }
}

int fit_dataset_constant(const struct fit_dataset *ds, size_t g)
{
    const struct fit_range *r = &ds->range[g];
    const double low = r->low + ds->reference[g], high = r->high + ds->reference[g];
    return r->high - r->low <= 4 * DBL_EPSILON * fmax(fabs(low), fabs(high));
}
