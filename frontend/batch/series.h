/* series.h -- a table of many fits: one row for each, as CSV and HDF5.
 *
 * Columns: name, file, status, quality, q, converged, exit, reduced_chi2, sigma, npoint, seconds, then value and
 * standard deviation of every parameter that any of the fits has; contrast and offset of the angles as contrast[0],
 * ... An undetermined parameter has no value. Failed fits have a row without numbers. series.h5 holds
 * /series/COLUMN, each a list over the rows, with units; both files appear complete or not at all. */
#ifndef HOMODYNE_SERIES_H
#define HOMODYNE_SERIES_H

#include "base/status.h"
#include "frontend/result.h"

enum { FRONT_STOPPED = 130 }; /* exit status of a fit that was asked to stop */

struct front_row {
    const char *name, *file;           /* of the job; data file */
    double q;                          /* 1/angstrom; NaN: not told */
    int code;                          /* exit status; -1: not done yet */
    const struct front_result *result; /* NULL: none */
};

/* Writes folder/series.csv and folder/series.h5. */
enum fit_status front_series_write(const char *folder, const struct front_row *row, size_t n,
                                   struct fit_error *err);

#endif
