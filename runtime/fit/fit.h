/* fit.h -- one least-squares fit: a kernel, a data set, options in; parameters with errors out.
 *
 *     struct fit_options opt;
 *     struct fit_result res;
 *     fit_options_default(&opt);
 *     if (fit_run(kernel, dataset, &opt, &res, &err) != FIT_OK) ...
 *     fit_result_free(&res);
 */
#pragma once

#include "leastsquares/fit_types.h"

/* The defaults that struct fit_options names. */
void fit_options_default(struct fit_options *opt);

/* Fits. Returns FIT_OK whenever a point with finite cost was found (see res->status), otherwise an error: options
 * that do not suit the model (FIT_ERR_CONFIG), too few data (FIT_ERR_DATA), no finite value at any start
 * (FIT_ERR_NUMERIC), memory. On error *res is empty and need not be freed. */
enum fit_status fit_run(const struct fit_kernel *kernel, const struct fit_dataset *ds,
                        const struct fit_options *opt, struct fit_result *res,
                        struct fit_error *err);

/* Frees what a fit has put into *res, not *res itself; once. */
void fit_result_free(struct fit_result *res);
