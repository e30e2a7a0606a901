/* planes.h -- the unknowns besides I: polarisation, spectral index and curvature; their starts, and the resulting
 * images.
 *
 * The unknowns are the quantities that the data terms in use measure, or those that --solve names: I; P, the fraction m
 * and the angle phi of linear polarisation; V, the fraction v of circular polarisation. The other arrays of the
 * objective are fixed at the image. With several observations, alpha and beta are unknowns up to --spectral-order.
 */
#pragma once

#include "imaging/problem.h"

/* Selects the unknowns and fixes the rest, after weights have changed. Sets p->unknowns and p->first. FIT_ERR_USAGE:
 * --solve is not a mode; there are no unknowns. */
enum fit_status fit_imaging_prepare(struct fit_imaging *p, struct fit_error *err);

/* The image of the objective's last evaluation. */
struct fit_imaging_output {
    const char *name;     /* "image", "image_q", .. "alpha", "beta" */
    int stokes;           /* -1: none */
    const double *values; /* NULL: I, which fit_imaging_image makes */
    uint32_t array;       /* of the objective, that has them */
};
enum { FIT_IMAGING_OUTPUTS = 6 };

/* Those of p: their number, I first. */
size_t fit_imaging_outputs(const struct fit_imaging *p, struct fit_imaging_output output[FIT_IMAGING_OUTPUTS]);
