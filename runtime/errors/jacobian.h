/* jacobian.h -- means and derivatives at points in the form of matrices: a row for each point, where kernels give
 * columns (fit_kernel.points).
 */
#pragma once

#include "fit/kernel.h"

/* Input of a kernel: the tables of `prepare`, linear parameters. */
struct fit_tables {
    const struct fit_kernel *kernel;
    const struct fit_layout *layout;
    const double *ws, *lin;
};

/* mean: n; rows: n x (nparam + nlinear), or NULL. */
void fit_jacobian_rows(const struct fit_tables *t, const struct fit_points *list, double *mean, double *rows);
