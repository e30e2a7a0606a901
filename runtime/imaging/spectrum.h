/* spectrum.h -- several frequencies: the image at a reference, and maps of its spectral index alpha and curvature beta.
 *
 * A map is that of its option, else the one that belongs to the image, or the prior, in its file (observation/image.h),
 * else 0: alpha and beta begin at those of --alpha, --beta, --image, and have the priors of --prior-alpha,
 * --prior-beta, --prior. */
#pragma once

#include "imaging/problem.h"

/* The starts of alpha and beta (p->first) and their priors, the frequency ratios and fluxes of the channels, as
 * inputs of the objective. FIT_ERR_USAGE, FIT_ERR_DATA. */
enum fit_status fit_imaging_set_spectrum(struct fit_imaging *p, struct fit_error *err);
