/* quantiles.h -- contrast and offset of a matrix without a model, as the Python packages estimate them.
 *
 * With Delta = |t1 - t2| over the whole matrix, lo and hi the 20th and 80th percentile of Delta:
 *     offset = 10th percentile of c2 where Delta >= hi;   contrast = 90th percentile where Delta <= lo, minus offset
 * both clipped to their bounds. They are too low and too high by 1.28 standard deviations of the noise, respectively,
 * and wrong when the decay is not over at hi or has begun before lo; kept for comparison (scaling constant). Pairs of
 * frames i < j are used; the packages also count the diagonal.
 */
#pragma once

#include "data/dataset.h"

/* FIT_ERR_MEMORY; FIT_ERR_DATA when there are fewer than 100 values, FIT_ERR_CONFIG when values stay in their file. */
enum fit_status fit_quantiles(const struct fit_dataset *ds, size_t g, double *contrast, double *offset,
                              struct fit_error *err);

/* Percentile p of n values, interpolated linearly between ranks; x is reordered. */
double fit_percentile(double *x, size_t n, double p);
