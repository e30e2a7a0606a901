/* prior_compat.h -- the statistical model of homodyne's sampler, for comparisons with it.
 *
 * Every parameter, nonlinear or linear, is m + h tanh((mean + s z - m)/h) of a standard normal z, with the centre m and
 * half width h of its bounds and s = max(sd, h/5): prior FIT_PRIOR_TANH_NORMAL. mean and sd are those of the
 * configuration (prior_mu, prior_sigma; the type is ignored), else the centre and a quarter of the width. One sigma for
 * all values has a half-normal prior; its scale is 1.5 x 1.4826 x the median distance of the values from their median
 * (at least 0.001). All of this follows homodyne (2.23: its modules cmc/scaling, cmc/model, cmc/data_prep); such priors
 * are not centred as declared when mean is not the centre of the bounds.
 */
#pragma once

#include "config/config.h"
#include "posterior/posterior.h"

/* Changes the priors of param[cfg->nparam + cfg->nlinear], the members variance and noise of s.
 * FIT_ERR_CONFIG: a parameter without finite bounds; a table; data with errors of their own. */
enum fit_status fit_prior_compat_homodyne(const struct fit_config *cfg, struct fit_posterior_param *param,
                                          struct fit_posterior_setup *s, struct fit_error *err);
