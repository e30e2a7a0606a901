/* pairs.h -- the memory of L-BFGS: the last pairs of steps s and changes of the gradient y, and the resulting
 * direction (Nocedal, Math. Comp. 35 (1980) 773; Nocedal & Wright 2006, algorithm 7.4).
 *
 * A pair stays in its slot until it is the oldest and is replaced: slots 0 .. count - 1 are in use, and
 * fit_pairs_slot gives their order in age. */
#pragma once

#include "optimize/method.h"

struct fit_pairs {
    size_t n, most, count;
    struct fit_optimize_state *state; /* pairs, newest, theta */
    double *s, *y;                    /* most x n */
    double *sy;                       /* most: s.y */
};

/* Number of doubles of the pairs; the pairs in the state of a run, at its beginning. */
size_t fit_pairs_size(size_t n, size_t most);
struct fit_pairs fit_pairs_of(const struct fit_optimize *o);

/* Slot of the pair that is k pairs older than the newest. */
size_t fit_pairs_slot(const struct fit_pairs *p, size_t k);

/* Takes the step from x to xt, whose gradients are g and gt.  A pair
 * without positive curvature, s.y <= eps |s| |y|, would make the matrix indefinite and is left out.  1: taken. */
int fit_pairs_take(struct fit_pairs *p, const double *x, const double *g, const double *xt, const double *gt);

/* d = -H g, H from all pairs and the identity / theta.  alpha: most doubles of work space. */
void fit_pairs_direction(const struct fit_pairs *p, const double *g, double *alpha, double *d);
