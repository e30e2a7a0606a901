/* plan_data.h -- what the data file of a configuration contributes to a plan: an experiment like an existing one.
 *
 * Frames of the window, frame period, wavevectors, azimuths and the noise of single values, as a fit would take them
 * from the file; options of the command line, which describe the new experiment, select nothing here. For models with
 * parameters named contrast and offset, the contrast is the mean of g2 over the ages at the shortest lag minus the
 * offset; the offset is its mean over the last tenth of the lags or, if the decay is not over there, the model's start.
 * A decay within the first lag makes the contrast too small.
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
    double sigma;     /* noise of a single value, quadratic mean over the matrices; NaN: unknown */
    double contrast, offset; /* means over the matrices; NaN: not known */
    struct fit_arena storage_;
};

/* An unreadable file is not an error but a reason in `why`. Release with fit_plan_data_free in any case. */
enum fit_status fit_plan_data_read(const struct fit_config *cfg, struct fit_plan_data *d, struct fit_error *err);
void fit_plan_data_free(struct fit_plan_data *d);
