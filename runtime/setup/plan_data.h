/* plan_data.h -- what the data file of a configuration tells a plan: an experiment like one that has been made.
 *
 * Frames of the window, frame period, wavevectors, azimuths and the noise of single values, as a fit would take them
 * from the file; options of the command line, which describe the new experiment, choose nothing here.  Contrast and
 * offset of models that have parameters of these names: the mean of g2 over the ages at the shortest lag less the
 * offset, which is their mean over the last tenth of the lags, or, where the decay is not over there, the start that
 * the model gives it.  A decay within the first lag makes the contrast too small.
 */
#pragma once

#include "base/status.h"
#include "config/config.h"

#include <stddef.h>

struct fit_plan_data {
    const char *file; /* NULL: the configuration names none */
    char why[300];    /* not empty: it tells nothing, and why */
    size_t frames;    /* 0: it tells nothing */
    double dt;        /* s */
    size_t nq, nphi;  /* rings, and the azimuths of the first of them */
    double *q, *phi;  /* 1/angstrom, degrees; q may be NaN */
    double sigma;     /* of a single value, mean over the matrices (quadratic); NaN: not known */
    double contrast, offset; /* means over the matrices; NaN: not known */
    struct fit_arena storage_;
};

/* A file that cannot be read is no error but a reason in `why`.  Release with fit_plan_data_free in any case. */
enum fit_status fit_plan_data_read(const struct fit_config *cfg, struct fit_plan_data *d, struct fit_error *err);
void fit_plan_data_free(struct fit_plan_data *d);
