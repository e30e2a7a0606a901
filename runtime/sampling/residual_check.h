/* residual_check.h -- do residuals look like the model's noise? A posterior predictive check for models with normal
 * errors.
 *
 * For each of up to FIT_RESIDUAL_DRAWS draws of the posterior, spread evenly over the chains, residuals r = (y -
 * mean) / sigma at points of every group are compared with those of data drawn from the model at the same
 * parameters, which are standard normals (Gelman, Meng & Stern, Statistica Sinica 6 (1996) 733). The sum of squares
 * is uninformative where sigma is fitted; the measures are sensitive to features that noise does not have.
 *
 * Points of pairs: blocks of 16 lags x 16 ages (index of the earlier frame), spread over the triangle by a fixed
 * stride; of tables: runs of 256 rows in the order of the first covariate. All of them where they are few. */
#pragma once

#include "sampling/sampling.h"

enum {
    FIT_RESIDUAL_DRAWS = 100,
    FIT_RESIDUAL_POINTS = 20000,       /* of a group, about */
    FIT_RESIDUAL_POINTS_ALL = 500000   /* of all groups together, about */
};

enum fit_residual_measure {
    FIT_RESIDUAL_LAG,     /* correlation of neighbours along the lag, or the first covariate of a table */
    FIT_RESIDUAL_AGE,     /* of neighbours along the age, at the same lag; tables: NaN */
    FIT_RESIDUAL_LARGEST, /* largest |r| */
    FIT_RESIDUAL_BEYOND,  /* part with |r| > 3 */
    FIT_RESIDUAL_SHORT,   /* mean of r in the first quarter of the lags, or of the rows in the order of the covariate */
    FIT_RESIDUAL_LONG,    /* in the last quarter */
    FIT_RESIDUAL_MEASURES
};

struct fit_residual_result {
    double data, model; /* mean over the draws: of the measured data, of data drawn from the model */
    double p;           /* two-sided, from the part of the draws in which the drawn data have at least as much; not
                           below 2/(draws + 1) */
    double z;           /* difference in standard deviations of the drawn data's, on a scale on which they are about
                           normal; above 0: the data have more */
    int unusual;        /* 1, -1: far more, far less than the noise: |z| > 5 and the smallest p; 0: neither */
};

struct fit_residual_check {
    size_t ngroup, draws;   /* draws = 0: there is no check */
    size_t points;          /* of all groups */
    int pairs;              /* 0: a table */
    int robust;             /* 1: there are draws for noise that is correlated along frames */
    struct fit_residual_result *result; /* (ngroup + 1) x FIT_RESIDUAL_MEASURES; the last: mean over the groups */
};

/* Kernels with a noise distribution, fewer than 20 draws and data without points: out is empty. setup: of these
 * draws; where its variance is known, residuals are divided by its sigma, because draws have 1 there. threads: 0:
 * the default; the result has the same bits for any number. FIT_ERR_MEMORY, FIT_ERR_DATA (unreadable values). */
enum fit_status fit_residual_check(const struct fit_posterior_setup *setup, const struct fit_samples *s, int threads,
                                   struct fit_residual_check *out, struct fit_error *err);
void fit_residual_check_free(struct fit_residual_check *c);

/* "neighbours_lag", ...: keys of files. */
const char *fit_residual_word(enum fit_residual_measure m);

/* One sentence, "predictive check: ...". group: the name of groups, "angles". */
void fit_residual_text(const struct fit_residual_check *c, const char *groups, size_t size, char *text);
