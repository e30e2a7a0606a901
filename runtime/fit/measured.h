/* measured.h -- data before any fit: maps and cuts as maps.h has them, and the noise of each group.
 */
#pragma once

#include "fit/maps.h"

struct fit_measured {
    struct fit_maps *maps; /* c2, mask, t, g2, g2_error, tau, age. Rows: residual holds the standard deviations. The
                            * rest is meaningless */
    double *sigma; /* ngroup: by neighbouring values (pairs: local_noise.h, rows: start.h), NaN: unknown.  With weights
                      in the data: of their unit, 1 when they are true */
    struct fit_arena storage_;
};

/* kernel: only its kind of data (pairs or rows) is used. */
enum fit_status fit_measured_new(const struct fit_kernel *kernel, const struct fit_dataset *ds,
                                 int threads, struct fit_measured *m, struct fit_error *err);
void fit_measured_free(struct fit_measured *m);
