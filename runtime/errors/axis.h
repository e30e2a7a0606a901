/* axis.h -- where the paraboloid around the result of a fit expects the others when one parameter is held elsewhere. */
#pragma once

#include "leastsquares/fit_impl.h"

/* theta[p]: place e of the full vector at v, the nonlinear parameters where the paraboloid of f->res has its least
 * value then, inside their bounds; bent into the valleys of rates (rate_valley.h).  Of a linear parameter they follow
 * the covariance.  Not for several threads at once: work space of the fit is used.  */
void fit_axis_point(struct fit_ls *f, size_t e, double v, double *theta);
