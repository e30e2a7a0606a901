/* table_curves.h -- a table of many curves, each to be fitted by itself: the rows that share a value of one column.
 *
 * The file is read once; a curve becomes a measurement like that of a file with only its rows, in their order, so that
 * a fit of it has the same bits.
 */
#pragma once

#include "config/config.h"
#include "input/measurement.h"

struct fit_table_curves {
    size_t n;
    double *at;           /* n: the value of the column, in the order of first rows */
    struct fit_notes *notes; /* on how the file was read */
    struct fit_table_curves_private *private_;
};

/* cfg, setting: as in table.h.  column: its name, or its number from 1.  FIT_ERR_DATA: it is not there, or not finite
 * in a row; FIT_ERR_CONFIG: the model has axes.  *curves is freed by the caller. */
enum fit_status fit_table_curves_read(const char *file, const struct fit_config_table *cfg,
                                      const struct fit_kernel *kernel, const double *setting, const char *column,
                                      struct fit_table_curves **curves, struct fit_error *err);
void fit_table_curves_free(struct fit_table_curves *curves);

/* Curve k < n as a measurement, which the caller frees; from any thread.  Errors are those of fit_table_load(). */
enum fit_status fit_table_curve(const struct fit_table_curves *curves, size_t k, struct fit_measurement **m,
                                struct fit_error *err);
