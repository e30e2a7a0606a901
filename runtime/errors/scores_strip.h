/* scores_strip.h -- contributions of one row of one group inside a tile to sums, a few columns at a time.
 *
 * A strip contains columns of the tile, counted from its first, in vectors of FIT_LANES; columns that do not count
 * (below the diagonal, beyond the edge, of weight 0) have weight, residual and derivatives 0, so that sums need no
 * conditions. Sums are kept for each lane, to be added at the end: the same bits whatever the vectors of the machine.
 */
#pragma once

#include <stddef.h>

#include "fit/kernel.h"
#include "leastsquares/fit_types.h"

#define FIT_STRIP_LANES 4
enum { FIT_STRIP_SOME = 64 }; /* columns that sums over stretches take at a time */

struct fit_strip {
    size_t first, end;    /* columns inside of the triangle and of the tile */
    size_t base, nvector; /* column of the first vector, a multiple of FIT_LANES; how many */
    size_t P, width;      /* derivatives; room for so many columns */
    double *y, *v, *w, *mean; /* by column; v the weight, w that of the loss too */
    double *r, *score, *root; /* y - mean, w r, sqrt(v) */
    double *z, *count;        /* sqrt(v) r, and 1 where it counts; 0 in the vector before the first */
    double *jac;              /* P columns of FIT_LANES nvector, from column `base` on */
};

/* Computes the rest from y, v, w, mean; what does not count becomes 0. */
void fit_strip_settle(struct fit_strip *s);

/* sum[c width + column] += score times derivative c. */
void fit_strip_add_scores(const struct fit_strip *s, double *sum);
/* The same, and in field that of v times derivative, and for c = P of v r. */
void fit_strip_add_both(const struct fit_strip *s, double *sum, double *field);

/* Sums over lanes: z^4; z and counts of neighbours along the lag, along the age. */
struct fit_strip_sums {
    double z4[FIT_STRIP_LANES], lag[FIT_STRIP_LANES], nlag[FIT_STRIP_LANES];
    double age[FIT_STRIP_LANES], nage[FIT_STRIP_LANES];
};
/* above: z and count of the row before, or NULL.  row[3] <- sums of z, z^2, counts. */
void fit_strip_test(const struct fit_strip *s, const double *const above[2], struct fit_strip_sums *sums,
                    double row[3]);

/* Columns [begin, end) of the strip to a bin, 3 + P sums over lanes: counts, z, z^2, sqrt(v) times each derivative; and
 * to a decile: z^2, counts. */
void fit_strip_add_bin(const struct fit_strip *s, size_t begin, size_t end, double *bin, double *decile);

/* to <- x where it counts, NaN elsewhere; by column, from `first` to `end` and the rest of the same vectors. */
void fit_strip_known(const struct fit_strip *s, const double *x, double *to);

/* Sum of the lanes in a fixed order. */
double fit_strip_total(const double lanes[FIT_STRIP_LANES]);
