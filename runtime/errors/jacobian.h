/* jacobian.h -- means and derivatives at points as matrices are handed out: a row for each point, where kernels give
 * columns (fit_kernel.points).
 */
#pragma once

#include "fit/kernel.h"

/* What a kernel reads: the tables of `prepare`, linear parameters. */
struct fit_tables {
    const struct fit_kernel *kernel;
    const struct fit_layout *layout;
    const double *ws, *lin;
};

/* i, j, g, mean: as for points; rows: n x (nparam + nlinear), or NULL. */
void fit_jacobian_rows(const struct fit_tables *t, size_t n, const uint32_t *i, const uint32_t *j, const uint32_t *g,
                       double *mean, double *rows);
