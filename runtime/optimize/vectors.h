/* vectors.h -- sums over long vectors in a fixed order of lanes: the same bits for every width of the machine's
 * vectors, and as fast as these allow. */
#pragma once

#include <stddef.h>

double fit_vector_dot(size_t n, const double *x, const double *y);
double fit_vector_largest(size_t n, const double *x); /* modulus; 0 for n = 0 */
int fit_vector_finite(size_t n, const double *x);

void fit_vector_add(size_t n, double a, const double *x, double *y);                    /* y += a x */
void fit_vector_scale(size_t n, double a, const double *x, double *y);                  /* y = a x */
void fit_vector_along(size_t n, const double *x, double a, const double *d, double *y); /* y = x + a d */
void fit_vector_minus(size_t n, const double *x, const double *y, double *z);           /* z = x - y */

/* Of s = xt - x and y = gt - g: s.s, s.y and y.y. */
void fit_vector_differences(size_t n, const double *x, const double *xt, const double *g, const double *gt, double *ss,
                            double *sy, double *yy);
