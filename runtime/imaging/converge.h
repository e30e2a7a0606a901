/* converge.h -- rounds of a fit: each begins at the image of the one before, blurred. */
#pragma once

#include "imaging/minimise.h"

/* The result of r (after fit_imaging_conclude), every plane convolved with a round Gaussian of this full width
 * (radians, 0: none), becomes its start, brought to the flux as first starts are; r is begun anew. */
enum fit_status fit_imaging_again(struct fit_imaging_run *r, double fwhm, struct fit_error *err);

/* image (ny rows of nx pixels) convolved with a Gaussian whose standard deviation is sigma pixels; what leaves the grid
 * is lost. */
enum fit_status fit_imaging_blur(size_t ny, size_t nx, double sigma, double *image, struct fit_error *err);
