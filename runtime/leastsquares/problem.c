/* problem.c -- see problem.h. */
#include "leastsquares/problem.h"

#include "base/clock.h"
#include "leastsquares/rate_valley.h"
#include "math/linalg.h"
#include "ranks/ranks.h"

#include <math.h>
#include <string.h>

static enum fit_eval value(void *user, const double *x, double *cost, double *error)
{
    struct fit_objective *o = user;
    enum fit_eval e = fit_objective_value(o, x);
    *cost = o->cost;
    *error = o->cost_error;
    return e;
}

/* B <- |B|, the same eigenvectors with the magnitudes of the eigenvalues (Dauphin et al., NeurIPS 27, 2933, 2014):
 * turns a Hessian that leads to a saddle or a maximum into a matrix that leads downhill. 0: out of memory. */
static int make_positive(size_t n, double *B)
{
    FIT_SCRATCH(a);
    double *vector = fit_take(&a, n * n, sizeof *vector), *value = fit_take(&a, n + fit_eigen_work(n), sizeof *value);
    if (a.failed)
        return 0;
    memcpy(vector, B, n * n * sizeof *vector);
    if (fit_eigen(n, vector, value, value + n) != 0)
        return 0;
    if (value[0] < 0) {
        memset(B, 0, n * n * sizeof *B);
        for (size_t k = 0; k < n; k++)
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++)
                    B[i * n + j] += fabs(value[k]) * vector[k * n + i] * vector[k * n + j];
    }
    return 1;
}

static enum fit_eval normal(void *user, const double *x, double *B, double *g)
{
    struct fit_objective *o = user;
    enum fit_eval e = fit_objective_normal(o, x, B, g);
    if (e == FIT_EVAL_OK && o->kernel->density && !make_positive(o->nparam, B))
        return FIT_EVAL_REJECT;
    return e;
}

static enum fit_eval gradient(void *user, const double *x, double *g)
{
    return fit_objective_gradient(user, x, g);
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
                                     .likelihood = obj->kernel->density != NULL,
                                     .user = obj,
                                     .value = value,
                                     .normal = normal,
                                     .gradient = obj->kernel->gradient && !obj->kernel->density ? gradient : NULL,
                                     .bend = obj->kernel->nrate && obj->kernel->space == FIT_PAIRS ? bend : NULL};
}

enum fit_nlsq_answer fit_watch(void *watch, const struct fit_nlsq_report *r)
{
    const struct fit_watch *w = watch;
    fit_ranks_agree();
    const double now = w->progress || w->deadline > 0 ? fit_ranks_seconds() : 0;
    const struct fit_progress p = {r->iteration, 2 * r->cost, r->step, r->gradient, now - w->began, NULL};
    if (w->progress && w->progress(w->progress_user, &p))
        return FIT_NLSQ_STOP;
    if (w->interrupt && *w->interrupt)
        return FIT_NLSQ_STOP;
    return w->deadline > 0 && now > w->deadline ? FIT_NLSQ_TIME_IS_UP : FIT_NLSQ_GO_ON;
}

enum fit_word fit_word_of(enum fit_nlsq_end end)
{
    static const enum fit_word word[] = {
        [FIT_NLSQ_GRADIENT] = FIT_CONVERGED_GRADIENT, [FIT_NLSQ_COST] = FIT_CONVERGED_COST,
        [FIT_NLSQ_STEP] = FIT_CONVERGED_STEP,         [FIT_NLSQ_LIMIT] = FIT_MAX_ITERATIONS,
        [FIT_NLSQ_FAILED] = FIT_FAILED,               [FIT_NLSQ_STOPPED] = FIT_INTERRUPTED,
    };
    return word[end];
}
