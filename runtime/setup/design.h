/* design.h -- what an experiment can determine, before there are data.
 *
 * For given frames, frame period, wavevector, azimuths, parameters and noise sigma of a value, the Fisher information
 * is J^T J / sigma^2, with J the derivatives of all values by all free parameters, including contrast and offset. Its
 * inverse is the covariance that a fit of such data will report (Cramer 1946; Rao 1945), and for many values also the
 * scatter of its results. It is taken from a fit of data without noise that begins at the truth: so every statement of
 * a fit about undetermined parameters appears here, too.
 *
 * If the parameters of speckle noise are known, the errors under this noise are given, too (fit/efficient.h).
 *
 * Large experiments are evaluated with every s-th frame: s^2 times fewer values are treated as s times more precise.
 */
#pragma once

#include "setup/setup.h"

struct fit_plan_design {
    size_t frames;
    double dt;            /* s */
    size_t ngroup;        /* matrices: pairs of q and azimuth */
    const double *q, *phi; /* 1/angstrom (NaN: not known), degrees */
    const double *sigma;  /* standard deviation of one value */
    double count, shot;   /* speckles of a matrix, shot noise of a frame and pixel; 0: not known */
    const double *linear; /* nlinear: contrast, offset; NaN if the configuration gives none: the model's start */
};

struct fit_plan {
    const struct fit_kernel *kernel; /* of the fit: the model's, or one made around it (linkage.h) */
    struct fit_setup setup;
    struct fit_dataset *ds;
    struct fit_result fit; /* std: the expected errors; profile: wider where the model is nonlinear */
    /* nfull: errors under speckle noise, of least squares and of efficient estimates; NULL: unknown, or there are
     * none: `why`. */
    double *plain, *efficient;
    char why[200];
    double values;         /* of the experiment */
    size_t stride;         /* every which frame was taken; 1: all */
    struct fit_arena storage_;
};

/* theta, contrast and offset are the starts of the configuration, else those of the model; time of the first frame,
 * masks and fixed parameters as for a fit. FIT_ERR_CONFIG for missing values. Release with fit_plan_free in any
 * case. */
enum fit_status fit_plan_run(const struct fit_config *cfg, const struct fit_kernel *kernel,
                             const struct fit_plan_design *design, struct fit_plan *plan, struct fit_error *err);
void fit_plan_free(struct fit_plan *plan);
