/* nuts.h -- one transition of the no-U-turn sampler.
 *
 * Hoffman & Gelman (2014) as refined by Betancourt (2017, appendix A): multinomial sampling over
 * the trajectory, biased towards the newer half at the top level; generalised U-turn criterion with
 * the two additional checks across neighbouring subtrees of Stan 2.21.  The density is invariant
 * under a transition whatever the step size and metric, as long as they do not depend on the
 * current point.
 */
#pragma once

#include "math/rng.h"
#include "sampler/metric.h"
#include "sampler/target.h"

enum { FIT_NUTS_MAX_DEPTH = 20 };

/* What happened in one transition.  Nine doubles: an array of these is a matrix of nine columns. */
struct fit_draw_stats {
    double lp;           /* log density of the draw */
    double energy;       /* Hamiltonian of the draw, with the momentum it was reached with */
    double energy_error; /* the same minus the Hamiltonian at the start of the transition */
    double tree_depth;   /* doublings that were accepted */
    double n_leapfrog;
    double accept_stat; /* mean of min(1, exp(H0 - H)) over the trajectory */
    double step;
    double divergent;  /* 1: the trajectory ended on an energy error above 1000 */
    double n_gradient; /* evaluations of the gradient; those that were rejected count */
};

/* Position of a chain. */
struct fit_point {
    double *q, *g; /* n: coordinates, gradient of lp */
    double lp;
};

struct fit_nuts; /* work space */

/* NULL when memory is out.  max_depth at most FIT_NUTS_MAX_DEPTH. */
struct fit_nuts *fit_nuts_new(size_t n, unsigned max_depth);
void fit_nuts_free(struct fit_nuts *w);

struct fit_nuts_move {
    const struct fit_target *target;
    size_t chain; /* handed to target->eval */
    const struct fit_metric *metric;
    double step;
    struct fit_rng rng; /* at the iteration of this transition; purposes are set inside */
};

/* x -> the next point.  FIT_EVAL_OK, or FIT_EVAL_STOP: x is unchanged.  Nothing is allocated. */
enum fit_eval fit_nuts_transition(struct fit_nuts *w, const struct fit_nuts_move *move,
                                  struct fit_point *x, struct fit_draw_stats *stats);

/* Step size at which one leapfrog step changes the density by a factor of about 0.8, found from
 * *step by doubling or halving (Hoffman & Gelman 2014, algorithm 4; Stan's threshold).  gradients
 * is raised by the number of evaluations.  FIT_EVAL_REJECT: none between 1e-300 and 1e7. */
enum fit_eval fit_nuts_first_step(struct fit_nuts *w, const struct fit_nuts_move *move,
                                  const struct fit_point *x, double *step, double *gradients);
