/* ranking.h -- the file of a survey, and its Top Set: the points that explain the data, the best first.
 *
 * A point is in the Top Set when the optimizer converged or used up its iterations, and when the reduced chi2 of
 * every data term is at most its threshold: 2 by default, as in the surveys of EHT Collaboration 2019 (Paper IV).
 * They are sorted by the largest |chi2 - 1|; equal ones stay in the order of the grid. */
#pragma once

#include "hdf5/reader.h"
#include "imaging/options.h"

struct fit_ranked {
    size_t point;
    double worst; /* |chi2 - 1| */
};

struct fit_ranking {
    const struct fit_h5 *h;
    const struct fit_named_number *threshold; /* by name of data term */
    size_t nthreshold;
    size_t n, naxis, nterm, nbest;
    char **axis, **term;
    double **value;                 /* naxis x n */
    double **chi2;                  /* nterm x n; NULL: a regularizer */
    double *status, *J;             /* n */
    struct fit_ranked *best;
};

/* 1: the file is one of a survey. */
int fit_ranking_is_survey(const struct fit_h5 *h);

/* h and the thresholds are set and stay the caller's, the rest is zero. FIT_ERR_DATA; FIT_ERR_USAGE: a threshold
 * without a data term. To be freed in any case. */
enum fit_status fit_ranking_read(struct fit_ranking *t, struct fit_error *err);
void fit_ranking_free(struct fit_ranking *t);

double fit_ranking_threshold(const struct fit_ranking *t, const char *term);

/* 1: no point before p has the same value of the axis; then the number of points that have it, and the number of
 * these in the Top Set. */
int fit_ranking_value(const struct fit_ranking *t, size_t axis, size_t p, size_t *all, size_t *in);
