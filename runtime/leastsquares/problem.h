/* problem.h -- the sum of squares of objective.h as the problem that nlsq.h minimises. */
#pragma once

#include "leastsquares/fit_types.h"
#include "leastsquares/nlsq.h"
#include "leastsquares/objective.h"

/* Borrows all of them.  lower, upper: nparam; dof and noise as in struct fit_nlsq_problem. */
struct fit_nlsq_problem fit_problem(struct fit_objective *obj, const double *lower, const double *upper, double dof,
                                    double noise);

/* When a run stops: after the deadline (fit_seconds(); 0: none), when `progress` (may be NULL) says so, or when
 * *interrupt (may be NULL) is set. Passes over the data check the latter themselves; work without passes does not. */
struct fit_watch {
    double began, deadline;
    fit_progress_fn *progress;
    void *progress_user;
    const atomic_int *interrupt;
};

/* struct fit_nlsq_options.watch of a struct fit_watch. */
enum fit_nlsq_answer fit_watch(void *watch, const struct fit_nlsq_report *r);

/* How a run of the optimiser ended, in the words of a fit. */
enum fit_word fit_word_of(enum fit_nlsq_end end);
