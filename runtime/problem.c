/* problem.c -- see problem.h. */
#include "problem.h"

#include "valley.h"

static enum fit_eval value(void *user, const double *x, double *cost, double *error)
{
    struct fit_objective *o = user;
    enum fit_eval e = fit_objective_value(o, x);
    *cost = o->cost;
    *error = o->cost_error;
    return e;
}

static enum fit_eval normal(void *user, const double *x, double *B, double *g)
{
    return fit_objective_normal(user, x, B, g);
}

static void bend(void *user, const double *lower, const double *upper, const double *x, double *trial)
{
    const struct fit_objective *o = user;
    fit_valley_bend(o->kernel, &o->ds->layout, lower, upper, x, trial);
}

struct fit_nlsq_problem fit_problem(struct fit_objective *obj, const double *lower, const double *upper, double dof,
                                    double noise)
{
    return (struct fit_nlsq_problem){.n = obj->nparam,
                                     .lower = lower,
                                     .upper = upper,
                                     .dof = dof,
                                     .noise = noise,
                                     .user = obj,
                                     .value = value,
                                     .normal = normal,
                                     .bend = obj->kernel->nrate && obj->kernel->space == FIT_PAIRS ? bend : NULL};
}
