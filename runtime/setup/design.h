/* design.h -- what an experiment could determine, before there are data.
 *
 * For given frames, frame period, wavevector, azimuths, parameters and noise sigma of a value the Fisher information
 * is J^T J / sigma^2, J the derivatives of all values by all free parameters, contrast and offset included; its inverse
 * is the covariance that a fit of such data will tell (Cramer 1946; Rao 1945), and for many values also the scatter
 * of what it finds.  It is taken from a fit of data without noise that begins at the truth: so everything that a fit
 * says about what the data do not determine is said here, too.
 *
 * Where the numbers of speckle noise are known the errors are those under this noise, too (fit/efficient.h).
 *
 * Large experiments are judged by every s-th frame, whose s^2 times fewer values are taken for s times more precise.
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
    const double *linear; /* nlinear: contrast, offset where the configuration says nothing; NaN: the model's start */
};

struct fit_plan {
    const struct fit_kernel *kernel; /* of the fit: the model's, or one made around it (linkage.h) */
    struct fit_setup setup;
    struct fit_dataset *ds;
    struct fit_result fit; /* std: the expected errors; profile: wider where the model is not linear */
    /* nfull: errors under the noise of speckles, of least squares and of efficient estimates; NULL: that is not known,
     * or there are none: `why`. */
    double *plain, *efficient;
    char why[200];
    double values;         /* of the experiment */
    size_t stride;         /* every which frame was taken; 1: all */
    struct fit_arena storage_;
};

/* theta, contrast and offset are the starts of the configuration, else those of the model; time of the
 * first frame, masks and what is held fixed as for a fit.  FIT_ERR_CONFIG for what is missing.  Release with
 * fit_plan_free in any case. */
enum fit_status fit_plan_run(const struct fit_config *cfg, const struct fit_kernel *kernel,
                             const struct fit_plan_design *design, struct fit_plan *plan, struct fit_error *err);
void fit_plan_free(struct fit_plan *plan);
