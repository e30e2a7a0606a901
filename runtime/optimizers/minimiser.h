/* minimiser.h -- optimizers by name for the fits of all models.
 *
 * The cost is a function of the nonlinear parameters alone (leastsquares/objective.h).  Parameters are counted in
 * standard errors as the derivatives at the start have them, the cost in units of the noise, so that one learning rate
 * and one tolerance suit all models.  Whether a run has converged is judged as ever, by what the derivatives at its end
 * promise (leastsquares/nlsq.h), whatever the optimizer says. */
#pragma once

#include "base/status.h"
#include "leastsquares/nlsq.h"

/* By name (registry.h); *m is NULL for nlsq, with which fits are made anyway.  state: runs are kept in files
 * STATE.XXXXXXXX, one for each start, and go on where these end; NULL: not.  FIT_ERR_CONFIG: no such name, or one that
 * keeps no state. */
enum fit_status fit_minimiser_new(struct fit_minimiser **m, const char *name, const char *state,
                                  struct fit_error *err);
void fit_minimiser_free(struct fit_minimiser *m);

/* 1: it keeps parameters between bounds. */
int fit_minimiser_has_bounds(const struct fit_minimiser *m);
