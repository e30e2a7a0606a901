/* problem.h -- the sum of squares of objective.h as the problem that nlsq.h minimises. */
#ifndef FIT_PROBLEM_H
#define FIT_PROBLEM_H

#include "nlsq.h"
#include "objective.h"

/* Borrows all of them.  lower, upper: nparam; dof and noise as in struct fit_nlsq_problem. */
struct fit_nlsq_problem fit_problem(struct fit_objective *obj, const double *lower, const double *upper, double dof,
                                    double noise);

#endif
