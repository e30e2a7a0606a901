/* run.h -- a fit behind the interface: its data until it is freed. */
#ifndef API_RUN_H
#define API_RUN_H

#include "api/api.h"
#include "results/results.h"
#include "sampling/predictive.h"
#include "setup/sampling_setup.h"
#include "setup/setup.h"

struct api_run {
    struct fit_api_result shown; /* first: its address is that of the whole */
    struct fit_api_draws drawn;
    struct fit_result own;
    int fitted, sampled;
    struct fit_config_log log;
    struct fit_config *cfg;
    struct fit_setup setup;
    const struct fit_kernel *k; /* that is fitted with */
    struct fit_sampling_setup posterior;
    struct fit_samples samples;
    struct fit_predictive predictive;
    struct fit_quality quality;
    double *list;      /* values of linear parameters, by parameter */
    char (*label)[64]; /* names of the full vector, of sigma, of derived quantities */
    const char **name, **tied_name;
    double *number;         /* tied, tied_std, group_param, group_linear */
    double *interval;       /* of the full vector */
    const char **derived_unit;
    long *derived_group;
    double *derived;        /* derived, derived_std, derived_std_robust, derived_interval */
    double *column, *state; /* summaries of columns; numbers of draws */
    unsigned char *diverging;
    struct fit_api_options o;
    struct api_device_use device;
};

/* Makes r->cfg from r->o and the kernel (options.c). */
enum fit_status api_configure(const struct fit_api_problem *p, int sample, struct api_run *r,
                              struct fit_error *err);

/* The same in parts, for many fits with the same options: options and the configuration; a fit with them, without the
 * names of its results, which are the same for all; freeing its results, after which the next may begin (also after a
 * failed one). api_run_kernel: only the kernel of the fit, r->k, which lives until api_run_clear. */
enum fit_status api_run_begin(const struct fit_api_problem *p, const struct fit_api_options *options, int sample,
                              struct api_run *r, struct fit_error *err);
enum fit_status api_run_kernel(const struct fit_api_problem *p, struct api_run *r, struct fit_error *err);
enum fit_status api_run_again(const struct fit_api_problem *p, struct api_run *r, struct fit_error *err);
void api_run_clear(struct api_run *r);

/* Configuration from options; least squares; the results. After an error everything is still in *r. */
enum fit_status api_run_fit(const struct fit_api_problem *p, const struct fit_api_options *options,
                            int sample, struct api_run *r, struct fit_error *err);
/* The fit is over, whatever was returned: no device is used any more. NULL is allowed. */
void api_run_end(struct api_run *r);
void api_run_free(struct api_run *r);

#endif
