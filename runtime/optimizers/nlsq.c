/* nlsq.c -- the trust region of leastsquares/nlsq.h for sums of squared residuals, as one of the optimizers. */
#include "optimizers/optimizers_impl.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "leastsquares/nlsq.h"
#include "optimize/vectors.h"

/* Steps shorter than this fraction of the variables end a run. */
static const double SHORTEST_STEP = 1e-14;
/* Rounding error of a value, in units of its last digit: a sum of many squares. */
static const double ROUNDING = 16;

struct run {
    struct fit_optimize *o;
    struct fit_nlsq *s;
    struct fit_error *err;
    enum fit_status status; /* what the problem's functions failed with */
    int flat, stopped;
};

static enum fit_eval verdict(struct run *r, enum fit_status st, double f)
{
    if (st != FIT_OK && st != FIT_ERR_NUMERIC) {
        r->status = st;
        return FIT_EVAL_STOP;
    }
    return st == FIT_OK && isfinite(f) ? FIT_EVAL_OK : FIT_EVAL_REJECT;
}

static enum fit_eval value(void *user, const double *x, double *cost, double *error)
{
    struct run *r = user;
    const struct fit_optimize_problem *p = r->o->problem;
    enum fit_status st;
    *cost = NAN;
    if (p->value) {
        r->o->s->nfev++;
        st = p->value(p->context, x, cost, r->err);
    } else {
        st = fit_optimize_evaluate(r->o, x, cost, r->o->work + 2 * r->o->n, r->err);
    }
    *error = ROUNDING * DBL_EPSILON * fabs(*cost);
    return verdict(r, st, *cost);
}

/* nlsq.h has J for the model, whose residual is data - model: the negative gradient. */
static enum fit_eval normal(void *user, const double *x, double *B, double *g)
{
    struct run *r = user;
    const struct fit_optimize_problem *p = r->o->problem;
    const size_t n = p->n;
    double f = NAN;
    r->o->s->nfev++;
    r->o->s->ngev++;
    const enum fit_status st = p->normal(p->context, x, &f, B, g, r->err);
    if (st == FIT_OK && !(fit_vector_finite(n, g) && fit_vector_finite(n * n, B)))
        f = NAN;
    fit_vector_scale(n, -1, g, g);
    return verdict(r, st, f);
}

static enum fit_nlsq_answer watch(void *user, const struct fit_nlsq_report *report)
{
    struct run *r = user;
    struct fit_optimize *o = r->o;
    double largest, norm;
    o->s->f = report->cost;
    o->s->step = report->step;
    fit_vector_scale(o->n, -1, r->s->g, o->g);
    fit_optimize_norms(o->problem, o->x, o->g, &largest, &norm);
    r->flat = !o->opt.fixed && largest <= o->opt.gtol;
    if (r->flat)
        return FIT_NLSQ_STOP;
    if (report->iteration == 0 || (size_t)o->s->iteration == report->iteration)
        return FIT_NLSQ_GO_ON;
    o->s->iteration = (double)report->iteration;
    r->stopped = fit_optimize_watched(o) != 0;
    return r->stopped ? FIT_NLSQ_STOP : FIT_NLSQ_GO_ON;
}

static enum fit_optimize_end end_of(const struct run *r, enum fit_nlsq_end end)
{
    switch (end) {
    case FIT_NLSQ_GRADIENT:
    case FIT_NLSQ_COST:
    case FIT_NLSQ_STEP: return FIT_OPTIMIZE_FTOL;
    case FIT_NLSQ_LIMIT: return FIT_OPTIMIZE_MAXITER;
    case FIT_NLSQ_FAILED: return FIT_OPTIMIZE_LINESEARCH;
    case FIT_NLSQ_STOPPED: break;
    }
    return r->stopped ? FIT_OPTIMIZE_USER_STOP : FIT_OPTIMIZE_GTOL;
}

static enum fit_status whole(struct fit_optimize *o, struct fit_optimize_result *result, struct fit_error *err)
{
    const struct fit_optimize_problem *p = o->problem;
    const size_t n = o->n;
    double *lower = o->work, *upper = lower + n;
    for (size_t k = 0; k < n; k++) {
        lower[k] = p->lower ? p->lower[k] : -INFINITY;
        upper[k] = p->upper ? p->upper[k] : INFINITY;
    }
    struct run r = {.o = o, .s = fit_nlsq_new(n), .err = err};
    if (!r.s)
        return fit_no_memory(err, "optimizer nlsq");
    const struct fit_nlsq_problem q = {.n = n,
                                       .lower = lower,
                                       .upper = upper,
                                       .dof = 1,
                                       .user = &r,
                                       .value = value,
                                       .normal = normal,
                                       .likelihood = 1};
    const struct fit_nlsq_options opt = {.max_iterations = o->opt.maxiter,
                                         .ftol = o->opt.fixed ? 0 : o->opt.ftol,
                                         .xtol = SHORTEST_STEP,
                                         .watch = watch,
                                         .watch_user = &r};
    result->end = end_of(&r, fit_nlsq_run(r.s, &q, &opt, o->x));
    result->reason = r.flat ? "no element of the gradient exceeds gtol" : r.s->reason;
    o->s->iteration = (double)r.s->iterations;
    fit_nlsq_free(r.s);
    return r.status != FIT_OK ? r.status : fit_optimize_conclude(o, result, err);
}

static size_t work(size_t n, const struct fit_optimize_options *opt)
{
    (void)opt;
    return 3 * n;
}

const struct fit_optimize_method fit_optimize_nlsq = {
    .name = "nlsq",
    .summary = "trust region with J^T J, bounds; sums of squared residuals only",
    .kind = FIT_OPTIMIZE_LEAST_SQUARES,
    .traits = FIT_OPTIMIZE_HAS_BOUNDS | FIT_OPTIMIZE_NEEDS_NORMAL,
    .work = work,
    .whole = whole};
