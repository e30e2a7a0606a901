/* series_axis.h -- what the fits of a series are drawn over: --axis of `homodyne report BATCH`. */
#ifndef RP_SERIES_AXIS_H
#define RP_SERIES_AXIS_H

#include "base/status.h"
#include "hdf5/reader.h"

#include <stddef.h>

struct rp_series_axis {
    double *x; /* n; NaN: not known of this fit.  The caller frees */
    char name[80], unit[40];
};

/* text, "NAME[:UNIT][=TABLE]":
 *     fit, file          their number
 *     time               of the data files, since the first of them
 *     NAME               a column of series.h5, such as q or a parameter; else the number that stands behind NAME in
 *                        the names of the fits ("T300", "T_300", "T=-5"), else in those of the data files
 *     NAME=TABLE         column NAME of a table (commas, semicolons or tabs) whose first column names fits or data
 *                        files; a header "NAME (K)" or "NAME [K]" tells the unit
 * folder: of the series; h: its series.h5; n names of fits and of data files.  FIT_ERR_USAGE: no fit has a value. */
enum fit_status rp_series_axis_read(const char *text, const char *folder, const struct fit_h5 *h, size_t n,
                                    char *const *fit, char *const *file, struct rp_series_axis *axis,
                                    struct fit_error *err);

#endif
