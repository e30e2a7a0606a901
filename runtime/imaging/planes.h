/* planes.h -- what is solved for besides I: polarisation, spectral index and curvature; where each begins, and the
 * images that come out.
 *
 * What the data terms in use measure is solved for, or what --solve names: I; P, the fraction m and the angle phi of
 * linear polarisation; V, the fraction v of circular polarisation.  The other arrays of the objective are held at the
 * image.  Of several observations alpha and beta are solved for up to --spectral-order.
 */
#pragma once

#include "imaging/problem.h"

/* Decides what is solved for, holds the rest: after weights have changed.  Sets p->unknowns and p->first.
 * FIT_ERR_USAGE: --solve is no mode; nothing is left to solve for. */
enum fit_status fit_imaging_prepare(struct fit_imaging *p, struct fit_error *err);

/* An image that the objective was last evaluated at. */
struct fit_imaging_output {
    const char *name;     /* "image", "image_q", .. "alpha", "beta" */
    int stokes;           /* -1: none */
    const double *values; /* NULL: I, which fit_imaging_image makes */
    uint32_t array;       /* of the objective, that has them */
};
enum { FIT_IMAGING_OUTPUTS = 6 };

/* Those of p: how many, I first. */
size_t fit_imaging_outputs(const struct fit_imaging *p, struct fit_imaging_output output[FIT_IMAGING_OUTPUTS]);
