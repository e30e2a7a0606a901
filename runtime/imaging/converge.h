/* converge.h -- rounds of a fit: each starts from the blurred image of the previous one. */
#pragma once

#include "imaging/minimise.h"

/* The result of r (after fit_imaging_conclude), with every plane convolved with a round Gaussian of this full width
 * (radians, 0: none) and scaled to the flux as first starts are, becomes its start; r begins anew. */
enum fit_status fit_imaging_again(struct fit_imaging_run *r, double fwhm, struct fit_error *err);

/* image (ny rows of nx pixels) convolved with a Gaussian whose standard deviation is sigma pixels; flux that leaves
 * the grid is lost. */
enum fit_status fit_imaging_blur(size_t ny, size_t nx, double sigma, double *image, struct fit_error *err);
