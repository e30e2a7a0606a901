/* minimise.h -- from a problem and its start to the image that minimises J. */
#pragma once

#include <stdatomic.h>

#include "imaging/problem.h"
#include "optimize/optimize.h"

struct fit_imaging_run {
    struct fit_imaging *q;
    const atomic_int *interrupt; /* ends the run; or NULL */
    struct fit_arena arena;
    size_t n, *place;        /* unknowns on the mask: the optimizer sees only these */
    double *full, *gradient; /* x of the objective: all pixels */
    double *x;               /* n */
    struct fit_optimize_result result;
};

/* q, with all weights, and interrupt are set, the rest is zero; x is the start. */
enum fit_status fit_imaging_begin(struct fit_imaging_run *r, struct fit_error *err);

/* x and result. */
enum fit_status fit_imaging_minimise(struct fit_imaging_run *r, const struct fit_imaging_options *o,
                                     struct fit_error *err);

/* J at x; full, gradient and the terms of the objective are those of x. */
double fit_imaging_conclude(struct fit_imaging_run *r);

/* Pearson's correlation of two images. */
double fit_imaging_correlation(size_t n, const double *a, const double *b);
