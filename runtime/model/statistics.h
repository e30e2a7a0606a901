/* statistics.h -- settings that are statistics of columns: known when the rows are. */
#pragma once

#include "base/status.h"
#include "fit/kernel.h"

/* Fills those that were not given, NaN, from nrow rows (k->ncolumn columns; NULL: the data have none), of which those
 * that are not finite do not count.  FIT_ERR_DATA: the column `file` lacks, or it has no two rows that differ. */
enum fit_status fit_statistics_fill(const struct fit_kernel *k, const char *file, size_t nrow,
                                    const double *const *column, double *setting, struct fit_error *err);
