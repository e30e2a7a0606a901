/* tile_arithmetic.c -- arithmetic on the data of a tile, for the widest vectors of the machine. */
#include "data/tile_arithmetic.h"

#include <string.h>

#include "base/each_isa.h"
#include "fit/kernel.h"

static double tree(const double a[FIT_LANES])
{
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

EACH_ISA
void fit_lanes_sums(const struct fit_lanes *t, const double *w, double *restrict acc, double *sum)
{
    size_t g = 0;
    memset(acc, 0, 3 * FIT_LANES * t->ngroup * sizeof *acc);
    for (size_t n = 0; n < t->nvector; n++) {
        const double *restrict y = t->y + n * FIT_LANES, *restrict x = w + n * FIT_LANES;
        double *restrict a = acc + 3 * FIT_LANES * g;
        for (size_t k = 0; k < FIT_LANES; k++) {
            const double wy = x[k] * y[k];
            a[k] += x[k];
            a[FIT_LANES + k] += wy;
            a[2 * FIT_LANES + k] += wy * y[k];
        }
        g = g + 1 < t->ngroup ? g + 1 : 0;
    }
    for (size_t k = 0; k < 3 * t->ngroup; k++)
        sum[k] += tree(acc + FIT_LANES * k);
}

EACH_ISA
void fit_lanes_widen(const float *restrict from, size_t nvector, double reference, size_t stride,
                     double *restrict to)
{
    for (size_t n = 0; n < nvector; n++, from += FIT_LANES, to += stride)
        for (size_t k = 0; k < FIT_LANES; k++)
            to[k] = (double)from[k] - reference;
}

#if defined(__GNUC__)
#define FETCH(p) __builtin_prefetch(p)
#else
#define FETCH(p) ((void)(p))
#endif

/* Group after group: each continues in its own row, which the hardware prefetches; the next row is too far away for
 * that and is prefetched explicitly. */
EACH_ISA
void fit_lanes_gather(const struct fit_lanes_gather *x, double *restrict to)
{
    const size_t stride = x->ngroup * FIT_LANES, line = 64 / sizeof(float);
    for (size_t g = 0; g < x->ngroup; g++) {
        const float *restrict from = x->from[g];
        const double reference = x->reference[g];
        double *restrict y = to + g * FIT_LANES;
        for (size_t k = 0; k < x->nvector * FIT_LANES; k += line)
            FETCH(from + x->row + k);
        for (size_t n = 0; n < x->nvector; n++, from += FIT_LANES, y += stride)
            for (size_t k = 0; k < FIT_LANES; k++)
                y[k] = (double)from[k] - reference;
    }
}
