/* sampling_setup.h -- from a configuration and a least-squares result to a posterior and its sampler. */
#pragma once

#include "config/config.h"
#include "fit/efficient.h"
#include "input/select.h" /* struct fit_notes */
#include "sampling/sampling.h"
#include "setup/setup.h"

struct fit_sampling_setup {
    struct fit_posterior_setup posterior; /* arrays belong to this structure */
    struct fit_efficient_table table; /* for efficient estimates: sampled in place of all values; otherwise empty */
    struct fit_sampling_options options;
    struct fit_posterior_param *param;
    struct fit_posterior_level *level;
    double *theta; /* least squares, and derived from it the parameters of priors (levels.c) */
    struct fit_arena storage_;
};

/* 1 when the configuration requests a posterior (method nuts, laplace, cmc or both). */
int fit_sampling_wanted(const struct fit_config *cfg);

/* Numbers of iterations, limits of the verdict, priors and bounds as configured. The noise is integrated out, one
 * level per group, unless the data came with errors. For efficient estimates the posterior is that of their
 * equations, which have known errors. from: the options of the fit (bounds, links); it and fit are borrowed. */
enum fit_status fit_sampling_setup(const struct fit_config *cfg, const struct fit_kernel *kernel,
                                   const struct fit_dataset *ds, const struct fit_setup *from,
                                   const struct fit_result *fit, struct fit_sampling_setup *s,
                                   struct fit_error *err);

/* Reports which settings of the configuration have no effect on the chains, and why. */
void fit_sampling_notes(const struct fit_config *cfg, enum fit_sampling_method method, struct fit_notes *notes);

/* "truncated_normal 1000, 1000 between 100 and 100000; 2.5, 50 and 97.5 % at 174.2, 1233, 3046": the prior as sampled.
 * level: its parameters, or NULL. */
void fit_sampling_prior_text(const struct fit_posterior_param *x, const struct fit_posterior_level *level, char *text,
                             size_t size);

void fit_sampling_setup_free(struct fit_sampling_setup *s);
