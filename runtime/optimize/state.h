/* state.h -- a run in a file, from which it continues with the same bits as if it had not ended.
 *
 * The file is written atomically. Lines of text identify the run, the doubles of the run follow, then the SHA-256 of
 * everything before:
 *
 *     homodyne-gen optimizer state 1
 *     method lbfgsb memory 50 maxls 40 learning_rate 0.01 accept_last 0
 *     problem IDENTITY
 *     variables 1600 bounds SHA-256
 *     numbers 164811
 *
 * maxiter and tolerances may differ when the run continues; everything in these lines must be the same. */
#pragma once

#include "optimize/method.h"

/* Reads o->opt.state_file into o's block; *found = 0: there is no such file. FIT_ERR_CONFIG: of another run;
 * FIT_ERR_DATA: damaged; FIT_ERR_IO, FIT_ERR_MEMORY. */
enum fit_status fit_optimize_state_read(struct fit_optimize *o, int *found, struct fit_error *err);
enum fit_status fit_optimize_state_write(const struct fit_optimize *o, struct fit_error *err);
