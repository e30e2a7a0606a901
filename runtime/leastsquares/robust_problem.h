/* robust_problem.h -- the cost of a robust loss as the problem that nlsq.h minimises.
 *
 * Takes an objective with its group factors (1 / sigma^2 in the weights of the data) and a loss; gives the cost,
 * minimised over the linear parameters, and derivatives, near the minimum from a single pass over the data.
 */
#pragma once

#include "leastsquares/nlsq.h"
#include "leastsquares/objective.h"

struct fit_robust_problem;

/* Borrows all of them; lower, upper: nparam, factor: as in fit_objective_group_factor().  NULL: out of memory. */
struct fit_robust_problem *fit_robust_problem_new(struct fit_objective *obj, const double *factor, enum fit_loss loss,
                                                  double f_scale, const double *lower, const double *upper,
                                                  struct fit_arena *a);

/* One pass at x and obj->lin, from where the problem begins. known: cost and its rounding, as in fit_nlsq_options.
 * *promised: predicted gain of the best step from here, by the quadratic model. */
enum fit_eval fit_robust_problem_begin(struct fit_robust_problem *c, const double *x, double known[2],
                                       double *promised);

/* The objective becomes the sum of squares of that pass (fit_objective_freeze); majorant: with the curvature of the
 * majorant, whose steps never raise the cost. */
enum fit_eval fit_robust_problem_freeze(struct fit_robust_problem *c, const double *x, int majorant);

/* The noise is known: 1. */
struct fit_nlsq_problem fit_robust_problem(struct fit_robust_problem *c, double dof);

/* The end, at x: *sums of the last pass, and obj->lin, within `gtol` standard errors of the best linear parameters.
 * known: 1 when the last value was evaluated at x. */
enum fit_eval fit_robust_problem_end(struct fit_robust_problem *c, const double *x, int known, double gtol,
                                     struct fit_objective_robust *sums);
