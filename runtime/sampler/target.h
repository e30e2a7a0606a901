/* target.h -- a log density, as seen by everything that samples, maximises or approximates it.
 *
 * Coordinates are unconstrained: every finite q is allowed. Bounds, units, priors and Jacobians are the responsibility
 * of the target, and so is the threading inside one evaluation.
 */
#pragma once

#include "fit/kernel.h"

#include <stddef.h>

struct fit_target {
    size_t n; /* coordinates, at least 1 */
    void *user;

    /* *lp <- log density at q[n], up to a constant; g[n] <- its gradient, unless g is NULL (then only *lp is
     * needed). The result must be a function of q alone, to the last bit.
     *
     * chain: the calling chain, 0 ... . Calls for different chains may come from different threads at the same time
     * (see fit_sampler_options.threads); calls for one chain come one after the other. The evaluation may write only
     * to memory of its chain.
     *
     * FIT_EVAL_OK; FIT_EVAL_REJECT: no finite value here (a trajectory that gets here ends as divergent);
     * FIT_EVAL_STOP: the user asked to stop (the state stays that of the last complete transition). Numbers that are
     * not finite count as REJECT. */
    enum fit_eval (*eval)(void *user, size_t chain, const double *q, double *lp, double *g);

    /* Or NULL. A transition of the chain begins (given_up 0), or was given up at FIT_EVAL_STOP (1): another run will
     * make it again, so that its evaluations are not counted. */
    void (*transition)(void *user, size_t chain, int given_up);
};

void fit_target_transition(const struct fit_target *t, size_t chain, int given_up);

/* The evaluation with its answer checked: REJECT when lp or an element of g is not finite. */
enum fit_eval fit_target_eval(const struct fit_target *t, size_t chain, const double *q, double *lp,
                              double *g);
