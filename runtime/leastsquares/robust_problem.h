/* robust_problem.h -- the cost of a robust loss as the problem that nlsq.h minimises.
 *
 * Takes an objective with its group factors (1 / sigma^2 in the weights of the data) and a loss; gives the cost, its
 * minimum taken over the linear parameters, and derivatives, all of it from one pass over the data where a step is near
 * the minimum.
 */
#pragma once

#include "leastsquares/nlsq.h"
#include "leastsquares/objective.h"

struct fit_robust_problem;

/* Borrows all of them; lower, upper: nparam, factor: as in fit_objective_group_factor().  NULL: out of memory. */
struct fit_robust_problem *fit_robust_problem_new(struct fit_objective *obj, const double *factor, enum fit_loss loss,
                                                  double f_scale, const double *lower, const double *upper,
                                                  struct fit_arena *a);

/* One pass at x and obj->lin, from where the problem begins.  known: cost and its rounding, as in fit_nlsq_options.
 * *promised: by how much the best step from here lowers the cost, as far as the paraboloid goes. */
enum fit_eval fit_robust_problem_begin(struct fit_robust_problem *c, const double *x, double known[2],
                                       double *promised);

/* The objective becomes the sum of squares of that pass (fit_objective_freeze); majorant: with the curvature of the
 * majorant, whose steps cannot lead up. */
enum fit_eval fit_robust_problem_freeze(struct fit_robust_problem *c, const double *x, int majorant);

/* The noise is known: 1. */
struct fit_nlsq_problem fit_robust_problem(struct fit_robust_problem *c, double dof);

/* The end, at x: *sums of the last pass, and obj->lin, no farther from the best linear parameters than `gtol` standard
 * errors.  known: 1 when the last value was asked for at x. */
enum fit_eval fit_robust_problem_end(struct fit_robust_problem *c, const double *x, int known, double gtol,
                                     struct fit_objective_robust *sums);
