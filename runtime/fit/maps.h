/* maps.h -- data, model and residuals at the optimum, in a form for drawing and storage.
 *
 * Two-time data: square maps (t1, t2) of every group and cuts g2(tau) at a few ages. Maps of large data sets are
 * averaged over bin x bin frames, so that a result file stays small; the data themselves are in the input file. Tables:
 * one number per row.
 *
 * One pass over the tiles, with the same bits for any number of threads.
 */
#pragma once

#include "data/dataset.h"
#include "leastsquares/fit_types.h"

enum { FIT_MAPS_AGES = 4, FIT_MAPS_VALUES = 600000 }; /* cuts; numbers in one stack of maps */

struct fit_maps {
    size_t ngroup;
    size_t n;          /* pairs: points on a side of a map; rows: rows */
    size_t bin;        /* frames averaged on each side; 1: the data as they are */
    double *t;         /* n: times of the map's points, s (pairs); of the group with the most frames */
    float *c2, *model; /* ngroup x n x n, symmetric; NaN where nothing counts (the diagonal when bin
                          = 1). Rows: n */
    float *residual;   /* (data - model) / sigma, averaged over the bin */
    unsigned char *mask; /* 1: holds data */

    size_t nlag;                      /* pairs: lags 1 .. nlag frames */
    double *tau;                      /* nlag, s (frames times the period) */
    double age[FIT_MAPS_AGES];        /* s: middle of each range of (t1 + t2) / 2 */
    double *t_group, *tau_group, *age_group; /* the same of every group where files differ in their times; else NULL */
    double *g2, *g2_model, *g2_error; /* ngroup x FIT_MAPS_AGES x nlag; NaN where nothing counts */

    double *chi2;   /* ngroup: sum of (r / sigma)^2 */
    size_t *npoint; /* ngroup: values that count */
    double nrmse;   /* RMS residual / standard deviation of the data, all groups */
    struct fit_arena storage_;
};

/* theta, lin, sigma and weights as in the result; threads 0: default. */
enum fit_status fit_maps_new(const struct fit_kernel *kernel, const struct fit_dataset *ds,
                             const struct fit_result *fit, int threads, struct fit_maps **maps,
                             struct fit_error *err);
void fit_maps_free(struct fit_maps *maps);
