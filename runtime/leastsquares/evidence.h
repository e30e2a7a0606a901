/* evidence.h -- points of parameter space at which the cost was found to be low.
 *
 * Every fit with one parameter held is informative about all others: its point lies inside the 95 % interval of each of
 * them. Points that profiles, scans and other minima have met are kept here, so that the findings of one are starts for
 * the others, and contradict an interval that excludes them.
 */
#pragma once

#include "leastsquares/objective.h"

struct fit_evidence {
    size_t n, room, nparam, nfull;
    double *x;    /* n x nfull: parameters, then linear ones, in the order of fit_types.h */
    double *rise; /* n: chi2 above the minimum, in units of the noise */
    double *own;  /* n: the same in units of the noise that counts for the parameter in question (fit_types.h) */
};

/* Of storage from a. */
void fit_evidence_new(struct fit_evidence *e, size_t nparam, size_t nfull, struct fit_arena *a);

/* Adds the point theta, at which the objective was evaluated last; own, and by how much rise is larger. Beyond some
 * hundreds nothing is kept. */
void fit_evidence_add(struct fit_evidence *e, const struct fit_objective *o, const double *theta, double own,
                      double inflated);

/* Adds points k >= first of `from`, as far as there is room. */
void fit_evidence_append(struct fit_evidence *e, const struct fit_evidence *from, size_t first);

/* Point k: nfull numbers. */
const double *fit_evidence_at(const struct fit_evidence *e, size_t k);

/* The points whose element `which` is nearest to v from below and from above; -1: none. */
void fit_evidence_beside(const struct fit_evidence *e, size_t which, double v, long beside[2]);

/* The lowest point whose element `which` lies outside the intervals by more than `slack`; -1: none. */
long fit_evidence_outside(const struct fit_evidence *e, size_t which, const struct fit_union *u, double slack);
