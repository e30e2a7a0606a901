/* optimize.c -- one run of any method: start, iterations, stopping tests, state files. See optimize.h. */
#include "optimize/method.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "optimize/state.h"
#include "optimize/vectors.h"

/* Relative rounding error of a value: sums of some thousand terms; a smaller decrease is invisible. */
static const double ROUNDING = 1e-13;
static const char NOT_FINITE[] = "value or gradient is not finite", FLAT[] = "no element of the gradient exceeds gtol";

struct fit_optimize_options fit_optimize_defaults(void)
{
    return (struct fit_optimize_options){
        .maxiter = 200, .ftol = 1e-6, .gtol = 1e-6, .memory = 50, .maxls = 40, .learning_rate = 1e-2};
}

const char *fit_optimize_end_name(enum fit_optimize_end e)
{
    static const char *const name[] = {"gtol", "ftol", "maxiter", "linesearch_failed", "nonfinite", "user_stop"};
    return name[e];
}

/* ---- work space ------------------------------------------------------------------------------- */

static enum fit_status check_options(const struct fit_optimize_method *m, const struct fit_optimize_options *opt,
                                     struct fit_error *err)
{
    if (!(opt->ftol >= 0) || !(opt->gtol >= 0))
        return fit_fail(err, FIT_ERR_CONFIG, "optimizer %s: ftol %g and gtol %g: both must be 0 or more", m->name,
                        opt->ftol, opt->gtol);
    if (opt->memory == 0 || opt->maxls == 0)
        return fit_fail(err, FIT_ERR_CONFIG, "optimizer %s: memory %zu and maxls %zu: both must be 1 or more", m->name,
                        opt->memory, opt->maxls);
    if (!(opt->learning_rate > 0) || !isfinite(opt->learning_rate))
        return fit_fail(err, FIT_ERR_CONFIG, "optimizer %s: learning rate %g: it must be positive", m->name,
                        opt->learning_rate);
    if (opt->state_file && !(m->traits & FIT_OPTIMIZE_HAS_STATE))
        return fit_fail(err, FIT_ERR_CONFIG, "optimizer %s keeps no state from which a run could go on: no state file",
                        m->name);
    return FIT_OK;
}

enum fit_status fit_optimize_new(struct fit_optimize **made, const struct fit_optimize_method *method, size_t n,
                                 const struct fit_optimize_options *opt, struct fit_error *err)
{
    *made = NULL;
    enum fit_status st = check_options(method, opt, err);
    if (st != FIT_OK)
        return st;
    struct fit_optimize *o = calloc(1, sizeof *o);
    if (!o)
        return fit_no_memory(err, "optimizer");
    const size_t head = sizeof *o->s / sizeof(double);
    o->method = method;
    o->opt = *opt;
    o->n = n;
    o->nkept = method->kept ? method->kept(n, opt) : 0;
    o->nwork = method->work ? method->work(n, opt) : 0;
    o->nblock = head + 2 * n + o->nkept;
    o->block = fit_take(&o->storage, o->nblock, sizeof *o->block);
    o->work = fit_take(&o->storage, o->nwork + 1, sizeof *o->work);
    if (o->storage.failed) {
        fit_optimize_free(o);
        return fit_no_memory(err, "optimizer");
    }
    o->s = (struct fit_optimize_state *)(void *)o->block;
    o->x = o->block + head;
    o->g = o->x + n;
    o->kept = o->g + n;
    *made = o;
    return FIT_OK;
}

void fit_optimize_free(struct fit_optimize *o)
{
    if (!o)
        return;
    fit_arena_free(&o->storage);
    free(o);
}

/* ---- services for methods -------------------------------------------------------------------- */

enum fit_status fit_optimize_evaluate(struct fit_optimize *o, const double *x, double *f, double *g,
                                      struct fit_error *err)
{
    o->s->nfev++;
    o->s->ngev++;
    const enum fit_status st = o->problem->value_gradient(o->problem->context, x, f, g, err);
    if (st == FIT_ERR_NUMERIC || (st == FIT_OK && (!isfinite(*f) || !fit_vector_finite(o->n, g)))) {
        *f = INFINITY;
        return FIT_OK;
    }
    return st;
}

void fit_optimize_norms(const struct fit_optimize_problem *p, const double *x, const double *g, double *largest,
                        double *norm)
{
    if (!fit_optimize_bounded(p)) {
        *largest = fit_vector_largest(p->n, g);
        *norm = sqrt(fit_vector_dot(p->n, g, g));
        return;
    }
    double most = 0, sum = 0;
    for (size_t k = 0; k < p->n; k++) {
        const double room = g[k] < 0   ? p->upper ? p->upper[k] - x[k] : INFINITY
                            : p->lower ? x[k] - p->lower[k]
                                       : INFINITY;
        const double a = fmin(fabs(g[k]), room);
        most = fmax(most, a);
        sum += a * a;
    }
    *largest = most;
    *norm = sqrt(sum);
}

void fit_optimize_inside(const struct fit_optimize_problem *p, double *x)
{
    for (size_t k = 0; k < p->n; k++) {
        if (p->lower && x[k] < p->lower[k])
            x[k] = p->lower[k];
        if (p->upper && x[k] > p->upper[k])
            x[k] = p->upper[k];
    }
}

int fit_optimize_bounded(const struct fit_optimize_problem *p)
{
    for (size_t k = 0; k < p->n; k++)
        if ((p->lower && isfinite(p->lower[k])) || (p->upper && isfinite(p->upper[k])))
            return 1;
    return 0;
}

int fit_optimize_watched(const struct fit_optimize *o)
{
    if (!o->opt.watch)
        return 0;
    struct fit_optimize_report r = {
        .iteration = (size_t)o->s->iteration, .nfev = (size_t)o->s->nfev, .f = o->s->f, .step = o->s->step, .x = o->x};
    fit_optimize_norms(o->problem, o->x, o->g, &r.gradient_max, &r.gradient_norm);
    return o->opt.watch(o->opt.watch_user, &r);
}

enum fit_status fit_optimize_arrive(struct fit_optimize *o, double *x, double *g, enum fit_optimize_step *end,
                                    struct fit_error *err)
{
    double f;
    fit_optimize_inside(o->problem, x);
    const enum fit_status st = fit_optimize_evaluate(o, x, &f, g, err);
    if (st != FIT_OK)
        return st;
    *end = isfinite(f) ? FIT_STEP_DONE : FIT_STEP_NONFINITE;
    if (*end != FIT_STEP_DONE)
        return FIT_OK;
    memcpy(o->x, x, o->n * sizeof *x);
    memcpy(o->g, g, o->n * sizeof *g);
    o->s->f = f;
    o->s->step = o->opt.learning_rate;
    return FIT_OK;
}

enum fit_status fit_optimize_conclude(struct fit_optimize *o, struct fit_optimize_result *r, struct fit_error *err)
{
    fit_optimize_inside(o->problem, o->x);
    const enum fit_status st = fit_optimize_evaluate(o, o->x, &o->s->f, o->g, err);
    if (st != FIT_OK)
        return st;
    fit_optimize_norms(o->problem, o->x, o->g, &r->gradient_max, &r->gradient_norm);
    if (!isfinite(o->s->f))
        r->end = FIT_OPTIMIZE_NONFINITE, r->reason = NOT_FINITE;
    else if (!o->opt.fixed && r->gradient_max <= o->opt.gtol)
        r->end = FIT_OPTIMIZE_GTOL, r->reason = FLAT;
    return FIT_OK;
}

/* ---- a run ------------------------------------------------------------------------------------ */

static enum fit_status check_problem(const struct fit_optimize *o, struct fit_error *err)
{
    const struct fit_optimize_problem *p = o->problem;
    const struct fit_optimize_method *m = o->method;
    if (p->n != o->n)
        return fit_fail(err, FIT_ERR_INTERNAL, "optimizer %s: made for %zu variables, the problem has %zu", m->name,
                        o->n, p->n);
    if ((m->traits & FIT_OPTIMIZE_NEEDS_NORMAL) && !p->normal)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "optimizer %s needs a sum of squared residuals; this objective has terms that are none "
                        "(lbfgsb takes any)",
                        m->name);
    for (size_t k = 0; k < p->n; k++)
        if (p->lower && p->upper && !(p->lower[k] <= p->upper[k]))
            return fit_fail(err, FIT_ERR_CONFIG, "optimizer %s: variable %zu: lower bound %g above upper bound %g",
                            m->name, k + 1, p->lower[k], p->upper[k]);
    if (!(m->traits & FIT_OPTIMIZE_HAS_BOUNDS) && fit_optimize_bounded(p))
        return fit_fail(err, FIT_ERR_CONFIG, "optimizer %s knows no bounds; lbfgsb does", m->name);
    return FIT_OK;
}

/* The state from a file, or a new one at x. */
static enum fit_status begin(struct fit_optimize *o, const double *x, size_t *resumed, struct fit_error *err)
{
    *resumed = 0;
    memset(o->block, 0, o->nblock * sizeof *o->block);
    if (o->opt.state_file) {
        int found = 0;
        const enum fit_status st = fit_optimize_state_read(o, &found, err);
        *resumed = (size_t)o->s->iteration;
        if (st != FIT_OK || found)
            return st;
    }
    memcpy(o->x, x, o->n * sizeof *x);
    fit_optimize_inside(o->problem, o->x);
    if (o->method->whole)
        return FIT_OK;
    const enum fit_status st = fit_optimize_evaluate(o, o->x, &o->s->f, o->g, err);
    o->s->before = o->s->f;
    return st;
}

/* 1: the run ends here. */
static int ended(const struct fit_optimize *o, int stop, struct fit_optimize_result *r)
{
    const struct fit_optimize_options *opt = &o->opt;
    const size_t repeats = opt->ftol_repeats ? opt->ftol_repeats : o->method->kind == FIT_OPTIMIZE_FIRST_ORDER ? 5 : 1;
    if (!isfinite(o->s->f)) {
        r->end = FIT_OPTIMIZE_NONFINITE, r->reason = NOT_FINITE;
        return 1;
    }
    if (!opt->fixed && r->gradient_max <= opt->gtol) {
        r->end = FIT_OPTIMIZE_GTOL, r->reason = FLAT;
        return 1;
    }
    if (!opt->fixed && o->s->passed >= (double)repeats) {
        r->end = FIT_OPTIMIZE_FTOL, r->reason = "the value changes by less than ftol of itself";
        return 1;
    }
    if (o->s->iteration >= (double)opt->maxiter) {
        r->end = FIT_OPTIMIZE_MAXITER, r->reason = "iterations are used up";
        return 1;
    }
    if (stop)
        r->end = FIT_OPTIMIZE_USER_STOP, r->reason = "stopped from outside";
    return stop;
}

/* After an iteration without progress; 1: the run ends with it. */
static int given_up(struct fit_optimize *o, enum fit_optimize_step end, struct fit_optimize_result *r)
{
    if (o->method->forget && !o->s->forgotten) {
        o->method->forget(o);
        o->s->forgotten = 1;
        return 0;
    }
    if (end == FIT_STEP_NONFINITE)
        r->end = FIT_OPTIMIZE_NONFINITE, r->reason = "value or gradient is not finite where the step leads";
    else if (o->s->promised > 0 && o->s->promised <= ROUNDING * fmax(fabs(o->s->f), 1))
        r->end = FIT_OPTIMIZE_FTOL, r->reason = "the value falls no further within its rounding";
    else
        r->end = FIT_OPTIMIZE_LINESEARCH, r->reason = "no step along the steepest descent lowers the value enough";
    return 1;
}

static void count(struct fit_optimize *o, double before)
{
    struct fit_optimize_state *s = o->s;
    s->iteration++;
    s->before = before;
    s->forgotten = 0;
    s->promised = 0;
    const double change = fabs(before - s->f), size = fmax(fmax(fabs(before), fabs(s->f)), 1);
    s->passed = change <= o->opt.ftol * size ? s->passed + 1 : 0;
}

static enum fit_status iterate(struct fit_optimize *o, struct fit_optimize_result *r, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    for (int stop = 0;;) {
        fit_optimize_norms(o->problem, o->x, o->g, &r->gradient_max, &r->gradient_norm);
        if (ended(o, stop, r))
            return FIT_OK;
        enum fit_optimize_step end = FIT_STEP_DONE;
        const double before = o->s->f;
        if ((st = o->method->step(o, &end, err)) != FIT_OK)
            return st;
        if (end != FIT_STEP_DONE) {
            if (given_up(o, end, r))
                return FIT_OK;
            continue;
        }
        count(o, before);
        stop = fit_optimize_watched(o) != 0;
        if (o->opt.state_file && o->opt.state_every && (size_t)o->s->iteration % o->opt.state_every == 0 &&
            (st = fit_optimize_state_write(o, err)) != FIT_OK)
            return st;
    }
}

enum fit_status fit_optimize_run(struct fit_optimize *o, const struct fit_optimize_problem *problem, double *x,
                                 struct fit_optimize_result *result, struct fit_error *err)
{
    *result = (struct fit_optimize_result){.end = FIT_OPTIMIZE_NONFINITE, .f = INFINITY};
    o->problem = problem;
    enum fit_status st = check_problem(o, err);
    if (st == FIT_OK)
        st = begin(o, x, &result->resumed, err);
    if (st == FIT_OK)
        st = o->method->whole ? o->method->whole(o, result, err) : iterate(o, result, err);
    if (st == FIT_OK && o->opt.state_file)
        st = fit_optimize_state_write(o, err);
    if (st != FIT_OK)
        return st;
    memcpy(x, o->x, o->n * sizeof *x);
    result->f = o->s->f;
    result->nit = (size_t)o->s->iteration;
    result->nfev = (size_t)o->s->nfev;
    result->ngev = (size_t)o->s->ngev;
    return FIT_OK;
}
