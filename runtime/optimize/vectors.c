/* vectors.c -- see vectors.h.  Sixteen partial sums, added pairwise: four vectors of four doubles or two of eight hide
 * the latency of an addition. */
#include "optimize/vectors.h"

#include "base/each_isa.h"

#include <math.h>

enum { LANES = 16 };

/* Adds the two halves repeatedly, down to one sum. */
static inline double total(double *sum)
{
    for (size_t half = LANES / 2; half > 0; half /= 2)
        for (size_t l = 0; l < half; l++)
            sum[l] += sum[l + half];
    return sum[0];
}

EACH_ISA double fit_vector_dot(size_t n, const double *x, const double *y)
{
    double sum[LANES] = {0}, rest = 0;
    const size_t whole = n - n % LANES;
    for (size_t k = 0; k < whole; k += LANES)
        for (size_t l = 0; l < LANES; l++)
            sum[l] += x[k + l] * y[k + l];
    for (size_t k = whole; k < n; k++)
        rest += x[k] * y[k];
    return total(sum) + rest;
}

EACH_ISA double fit_vector_largest(size_t n, const double *x)
{
    double most = 0;
    for (size_t k = 0; k < n; k++) {
        const double a = fabs(x[k]);
        most = a > most ? a : most;
    }
    return most;
}

/* 0 x is 0 or not a number. */
EACH_ISA int fit_vector_finite(size_t n, const double *x)
{
    double sum[LANES] = {0}, rest = 0;
    const size_t whole = n - n % LANES;
    for (size_t k = 0; k < whole; k += LANES)
        for (size_t l = 0; l < LANES; l++)
            sum[l] += 0 * x[k + l];
    for (size_t k = whole; k < n; k++)
        rest += 0 * x[k];
    return total(sum) + rest == 0;
}

EACH_ISA void fit_vector_add(size_t n, double a, const double *restrict x, double *restrict y)
{
    for (size_t k = 0; k < n; k++)
        y[k] += a * x[k];
}

EACH_ISA void fit_vector_scale(size_t n, double a, const double *x, double *y)
{
    for (size_t k = 0; k < n; k++)
        y[k] = a * x[k];
}

EACH_ISA void fit_vector_along(size_t n, const double *x, double a, const double *d, double *y)
{
    for (size_t k = 0; k < n; k++)
        y[k] = x[k] + a * d[k];
}

EACH_ISA void fit_vector_minus(size_t n, const double *x, const double *y, double *z)
{
    for (size_t k = 0; k < n; k++)
        z[k] = x[k] - y[k];
}

EACH_ISA void fit_vector_differences(size_t n, const double *x, const double *xt, const double *g, const double *gt,
                                     double *ss, double *sy, double *yy)
{
    double a[LANES] = {0}, b[LANES] = {0}, c[LANES] = {0}, rest[3] = {0};
    const size_t whole = n - n % LANES;
    for (size_t k = 0; k < whole; k += LANES)
        for (size_t l = 0; l < LANES; l++) {
            const double s = xt[k + l] - x[k + l], y = gt[k + l] - g[k + l];
            a[l] += s * s;
            b[l] += s * y;
            c[l] += y * y;
        }
    for (size_t k = whole; k < n; k++) {
        const double s = xt[k] - x[k], y = gt[k] - g[k];
        rest[0] += s * s;
        rest[1] += s * y;
        rest[2] += y * y;
    }
    *ss = total(a) + rest[0];
    *sy = total(b) + rest[1];
    *yy = total(c) + rest[2];
}
