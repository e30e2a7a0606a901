/* minimiser.h -- optimizers by name for the fits of all models.
 *
 * The cost is a function of the nonlinear parameters alone (leastsquares/objective.h). Parameters are in units of
 * standard errors from the derivatives at the start, and the cost in units of the noise, so that one learning rate
 * and one tolerance suit all models. Convergence is judged as for nlsq, by the predictions of the derivatives at the
 * end (leastsquares/nlsq.h), whatever the optimizer reports. */
#pragma once

#include "base/status.h"
#include "leastsquares/nlsq.h"

/* By name (registry.h); *m is NULL for nlsq, the default. state: runs are kept in files STATE.XXXXXXXX, one for each
 * start, from which they continue; NULL: not. FIT_ERR_CONFIG: no such name, or one that supports no state. */
enum fit_status fit_minimiser_new(struct fit_minimiser **m, const char *name, const char *state,
                                  struct fit_error *err);
void fit_minimiser_free(struct fit_minimiser *m);

/* 1: it supports bounds. */
int fit_minimiser_has_bounds(const struct fit_minimiser *m);
