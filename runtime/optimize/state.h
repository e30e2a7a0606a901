/* state.h -- a run in a file, from which it goes on with the same bits as if it had not ended.
 *
 * The file appears whole or not at all.  Lines of text say what run it is, the doubles of the run follow, then the
 * SHA-256 of all before:
 *
 *     homodyne-gen optimizer state 1
 *     method lbfgsb memory 50 maxls 40 learning_rate 0.01 accept_last 0
 *     problem IDENTITY
 *     variables 1600 bounds SHA-256
 *     numbers 164811
 *
 * maxiter and tolerances may be others when the run goes on; all that these lines say must be the same. */
#pragma once

#include "optimize/method.h"

/* o->opt.state_file into o's block; *found = 0: there is no such file.  FIT_ERR_CONFIG: of another run; FIT_ERR_DATA:
 * damaged; FIT_ERR_IO, FIT_ERR_MEMORY. */
enum fit_status fit_optimize_state_read(struct fit_optimize *o, int *found, struct fit_error *err);
enum fit_status fit_optimize_state_write(const struct fit_optimize *o, struct fit_error *err);
