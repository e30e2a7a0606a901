/* loo.h -- two posteriors of the same rows: which one predicts a row from the others better. */
#ifndef HOMODYNE_LOO_H
#define HOMODYNE_LOO_H

#include "frontend/result.h"

struct front_loo {
    size_t nrow, draws[2];             /* rows that count; draws of which log likelihoods are known; nrow = 0: there is
                                          none */
    double elpd[2], se[2];             /* expected log predictive density of all rows, its standard error */
    double difference, difference_se;  /* of the second minus the first, from the differences of rows */
    double threshold[2];               /* shape of the weights' tail above which a row is not reliable */
    size_t unreliable[2];              /* rows above it */
};

/* out->nrow = 0: why holds the reason, or "" when one of them is not a posterior of a table. FIT_ERR_MEMORY, and
 * errors of reading posterior.nc. */
enum fit_status front_loo(const struct front_result *const r[2], int same_data, struct front_loo *out, char *why,
                          size_t size, struct fit_error *err);

#endif
