/* matrix.h -- products of dense matrices between frames: n x n doubles, row by row.
 *
 * Sums have a fixed order and products are not contracted: the same bits on every machine.
 */
#pragma once

#include <stddef.h>

/* out <- p^T c; steps over zeros of p. */
void fit_matrix_product(size_t n, const double *restrict p, const double *restrict c, double *restrict out);

double fit_matrix_dot(size_t n, const double *restrict a, const double *restrict b);

void fit_matrix_transpose(size_t n, const double *a, double *out);
