/* tile_arithmetic.h -- arithmetic on the data of a tile, eight lanes at a time, for the widest vectors of the machine.
 *
 * Data of a tile are nvector vectors of FIT_LANES doubles, the group running fastest. Every function processes all
 * lanes; lanes that do not count must have weight 0 or residual 0. Sums are kept per lane and added in a fixed tree:
 * the same bits on one instruction-set level.
 */
#pragma once

#include <stddef.h>

/* One tile: y and mean hold 8 nvector doubles, w0 the same or NULL (weights 1), factor one per group. */
struct fit_lanes {
    size_t nvector, ngroup;
    const double *y, *mean, *w0, *factor;
};

/* sum += per group  w, w y, w y^2;  acc: 3 x 8 x ngroup doubles of scratch. */
void fit_lanes_sums(const struct fit_lanes *t, const double *w, double *acc, double *sum);

/* Vector n at `to + n stride` <- 8 numbers from `from + 8 n` on, minus the reference. */
void fit_lanes_widen(const float *from, size_t nvector, double reference, size_t stride, double *to);

/* Rows of ngroup matrices, nvector times 8 numbers of each; the next row is `row` numbers further on. */
struct fit_lanes_gather {
    const float *const *from; /* ngroup */
    const double *reference;  /* ngroup */
    size_t ngroup, nvector;
    ptrdiff_t row;
};

/* to: nvector x ngroup x 8 <- the numbers minus the reference of the group. */
void fit_lanes_gather(const struct fit_lanes_gather *x, double *to);
