/* golden.h -- numbers of tests/data/imaging: values of another implementation, made with eht-imaging 1.4.0. */
#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

#include "hdf5/reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define GOLDEN FIT_SOURCE_DIR "/tests/data/imaging/golden_eht.h5"
#define GAUSS1600 FIT_SOURCE_DIR "/tests/data/imaging/gauss1600.h5"

/* All numbers of a dataset; the caller frees.  NULL: not there. */
static inline double *golden(const struct fit_h5 *h, const char *group, const char *name, size_t *n)
{
    char path[256];
    double *x = NULL;
    snprintf(path, sizeof path, "%s/%s", group, name);
    return fit_h5_read_doubles(h, path, &x, n, NULL) == FIT_OK ? x : NULL;
}

/* max |a - b| / max |b| */
static inline double golden_error(size_t n, const double *a, const double *b)
{
    double error = 0, scale = 0;
    for (size_t i = 0; i < n; i++) {
        error = fmax(error, isnan(a[i]) ? INFINITY : fabs(a[i] - b[i]));
        scale = fmax(scale, fabs(b[i]));
    }
    return scale > 0 ? error / scale : error;
}

/* max |a / b - 1| */
static inline double golden_ratio(size_t n, const double *a, const double *b)
{
    double error = 0;
    for (size_t i = 0; i < n; i++)
        error = fmax(error, isnan(a[i]) ? INFINITY : fabs(a[i] / b[i] - 1));
    return error;
}

#endif
