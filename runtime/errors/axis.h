/* axis.h -- the others' values that the quadratic approximation around the result of a fit predicts when one
 * parameter is held elsewhere. */
#pragma once

#include "leastsquares/fit_impl.h"

/* theta[p]: element e of the full vector at v, the nonlinear parameters where the quadratic approximation of f->res
 * is then minimal, inside their bounds; curved along the valleys of rates (rate_valley.h). For a linear parameter
 * they follow the covariance. Not for several threads at once: work space of the fit is used. */
void fit_axis_point(struct fit_ls *f, size_t e, double v, double *theta);
