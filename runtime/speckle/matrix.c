/* matrix.c -- see matrix.h. */
#include "speckle/matrix.h"

#include <string.h>

#include "base/each_isa.h"

enum { ROWS = 4, LANES = 8 };

/* y[r] += sum of four x[r][k] c[k] */
static inline void add_four(size_t n, const double *restrict c, const double *restrict x, size_t step,
                            double *restrict y)
{
    const double a = x[0], b = x[step], d = x[2 * step], e = x[3 * step];
    for (size_t j = 0; j < n; j++)
        y[j] = y[j] + a * c[j] + b * c[n + j] + d * c[2 * n + j] + e * c[3 * n + j];
}

EACH_ISA void fit_matrix_product(size_t n, const double *restrict p, const double *restrict c, double *restrict out)
{
    memset(out, 0, n * n * sizeof *out);
    for (size_t k = 0; k + ROWS <= n; k += ROWS)
        for (size_t i = 0; i < n; i++) {
            const double *x = p + k * n + i;
            if (x[0] != 0 || x[n] != 0 || x[2 * n] != 0 || x[3 * n] != 0)
                add_four(n, c + k * n, x, n, out + i * n);
        }
    for (size_t k = n / ROWS * ROWS; k < n; k++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                out[i * n + j] += p[k * n + i] * c[k * n + j];
}

EACH_ISA double fit_matrix_dot(size_t n, const double *restrict a, const double *restrict b)
{
    double sum[LANES] = {0}, all = 0;
    for (size_t k = 0; k + LANES <= n; k += LANES)
        for (size_t l = 0; l < LANES; l++)
            sum[l] += a[k + l] * b[k + l];
    for (size_t k = n / LANES * LANES; k < n; k++)
        all += a[k] * b[k];
    for (size_t l = 0; l < LANES; l++)
        all += sum[l];
    return all;
}

void fit_matrix_transpose(size_t n, const double *a, double *out)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            out[j * n + i] = a[i * n + j];
}
