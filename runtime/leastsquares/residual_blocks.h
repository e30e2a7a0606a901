/* residual_blocks.h -- are neighbouring residuals of pairs correlated? One number, at the price of a pass over the
 * residuals.
 *
 * The frames are divided into blocks of pairs. For independent noise of variance s^2, S^2 / V has mean s^2 and
 * variance 2 s^4 in each of them, with S = sum w r, V = sum w; a smooth misfit of the model makes it larger. */
#pragma once

#include "leastsquares/objective.h"

struct fit_residual_blocks {
    double square; /* sum of S^2 / V over the blocks */
    double count;  /* of blocks */
};

/* Pairs only; after fit_objective_value(). FIT_EVAL_STOP: interrupted; FIT_ERR_MEMORY is returned as
 * FIT_EVAL_REJECT. */
enum fit_eval fit_residual_blocks(struct fit_objective *obj, struct fit_residual_blocks *out);
