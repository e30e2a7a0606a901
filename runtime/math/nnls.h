/* nnls.h -- linear least squares with x >= 0, by orthogonal transformations alone.
 *
 * Matrices are stored column by column, m rows each. Nothing allocates; sums have a fixed order: the same bits
 * everywhere.
 */
#pragma once

#include <stddef.h>

/* Upper triangular form of the first k of ncolumn columns by Householder reflections, which are applied to all: rows
 * below the diagonal of those k become 0.  k <= m. */
void fit_triangularise(size_t m, size_t k, size_t ncolumn, double *a);

/* Minimum of |a x - b| over x >= 0 (Lawson & Hanson, Solving Least Squares Problems, 1974, chapter 23): at it the
 * gradient w = a^T (b - a x) is 0 where x > 0 and not above 0 elsewhere, to rounding.
 * a, b: destroyed.  x: on entry where to begin, 0 or a former solution; numbers below 0 count as 0.
 * index: n, work: n.  Returns 0, or 1 when it did not end within 30 n + 100 exchanges (x is then feasible and the best
 * that was seen). */
int fit_nnls(size_t m, size_t n, double *a, double *b, double *x, size_t *index, double *work);
