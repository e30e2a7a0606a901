/* thin_profile.c -- see thin_profile.h. */
#include "errors/thin_profile.h"
#include "math/linalg.h"
#include "leastsquares/problem.h"
#include "errors/thin_profile_draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FRAMES = 80,       /* about so many are drawn */
    FRAMES_ENOUGH = 2, /* times as many must there be */
    STEPS = 25,
    PATIENT = 3
};

struct fit_sketch {
    struct fit_drawing *drawing;
    struct fit_objective *obj;
    struct fit_nlsq *nlsq;
    struct fit_nlsq_problem inner;
    size_t p;
    double least, base; /* cost of the data at the minimum; the same less that of the sketch */
    double dof, noise;
    const double *curvature; /* of the fit */
    double *trial;
};

/* ---- making ---------------------------------------------------------------------------------- */

/* Value and derivatives of the sketch at the minimum, which are to be those of the data. */
static enum fit_status measure(struct fit_sketch *s, const struct fit_ls *f, double *B, double *g)
{
    const double *theta = f->res->theta;
    if (fit_objective_value(s->obj, theta) != FIT_EVAL_OK)
        return FIT_ERR_NUMERIC;
    s->base = s->least - s->obj->cost;
    return fit_objective_normal(s->obj, theta, B, g) == FIT_EVAL_OK ? FIT_OK : FIT_ERR_NUMERIC;
}

/* Takes out what the residuals contribute to first order. */
static enum fit_status settle(struct fit_sketch *s, const struct fit_ls *f, struct fit_error *err)
{
    size_t n = s->p;
    double *B = calloc(n * n + 6 * n + fit_boxqp_work(n) + 1, sizeof *B);
    signed char *state = malloc(n + 1);
    enum fit_status st = B && state ? FIT_OK : FIT_ERR_MEMORY;
    if (st == FIT_OK) {
        double *g = B + n * n, *a = g + n, *low = a + n, *high = low + n, *none = high + n,
               *work = none + n;
        st = measure(s, f, B, g);
        for (size_t k = 0; k < n; k++) {
            g[k] -= f->g[k];
            high[k] = f->upper[k] > f->lower[k] ? INFINITY : 0;
            low[k] = -high[k];
        }
        if (st == FIT_OK && fit_boxqp(&(struct fit_box){n, B, g, low, high, none}, a, state, work) < 0)
            st = FIT_ERR_NUMERIC;
        if (st == FIT_OK && (st = fit_drawing_shift(s->drawing, a, err)) == FIT_OK)
            st = measure(s, f, B, g);
    }
    free(B);
    free(state);
    return st;
}

static enum fit_status make(struct fit_sketch *s, struct fit_ls *f)
{
    struct fit_error err = {0};
    struct fit_objective_setup setup = f->setup;
    setup.threads = 1;
    enum fit_status st = fit_drawing_new(f->obj, f->res->theta, FRAMES, &s->drawing, &err);
    if (st != FIT_OK || (st = fit_objective_new(f->kernel, fit_drawing_data(s->drawing), &setup,
                                                &s->obj, &err)) != FIT_OK)
        return st;
    s->nlsq = fit_nlsq_new(s->p);
    s->trial = malloc((s->p + 1) * sizeof *s->trial);
    return s->nlsq && s->trial ? settle(s, f, &err) : FIT_ERR_MEMORY;
}

static int suits(const struct fit_ls *f)
{
    for (size_t q = 0; q < f->q; q++)
        if (f->obj->shrink[q] > 0)
            return 0;
    return f->kernel->space == FIT_PAIRS && !f->kernel->density &&
           f->ds->layout.nframe >= (size_t)FRAMES_ENOUGH * FRAMES;
}

enum fit_status fit_sketch_new(struct fit_ls *f, struct fit_sketch **sketch)
{
    *sketch = NULL;
    if (!suits(f))
        return FIT_OK;
    struct fit_sketch *s = calloc(1, sizeof *s);
    if (!s)
        return fit_fail(f->err, FIT_ERR_MEMORY, "fit: out of memory");
    enum fit_eval e = fit_objective_value(f->obj, f->res->theta);
    s->p = f->p;
    s->dof = f->dof;
    s->noise = f->noise;
    s->curvature = f->curvature;
    s->least = f->obj->cost;
    enum fit_status st = e == FIT_EVAL_OK ? make(s, f) : FIT_ERR_NUMERIC;
    if (st == FIT_OK) {
        *sketch = s;
        return FIT_OK;
    }
    fit_sketch_free(s);
    if (e == FIT_EVAL_STOP)
        return fit_fail(f->err, FIT_ERR_INTERRUPTED, "fit: interrupted");
    return st == FIT_ERR_MEMORY ? fit_fail(f->err, st, "fit: out of memory") : FIT_OK;
}

struct fit_sketch *fit_sketch_of_data(struct fit_ls *f)
{
    struct fit_sketch *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    *s = (struct fit_sketch){.obj = f->obj, .p = f->p, .dof = f->dof, .noise = f->noise};
    s->curvature = f->curvature;
    s->least = fit_objective_value(f->obj, f->res->theta) == FIT_EVAL_OK ? f->obj->cost : NAN;
    s->nlsq = fit_nlsq_new(s->p);
    s->trial = malloc((s->p + 1) * sizeof *s->trial);
    if (s->nlsq && s->trial)
        return s;
    fit_sketch_free(s);
    return NULL;
}

int fit_sketch_is_thin(const struct fit_sketch *s)
{
    return s->drawing != NULL;
}

void fit_sketch_free(struct fit_sketch *s)
{
    if (!s)
        return;
    free(s->trial);
    fit_nlsq_free(s->nlsq);
    if (s->drawing)
        fit_objective_free(s->obj);
    fit_drawing_free(s->drawing);
    free(s);
}

/* ---- using ----------------------------------------------------------------------------------- */

/* The cost of the sketch counts from that of the data. */
static enum fit_eval value(void *user, const double *x, double *cost, double *error)
{
    const struct fit_sketch *s = user;
    enum fit_eval e = s->inner.value(s->inner.user, x, cost, error);
    *cost += s->base;
    return e;
}

static enum fit_eval normal(void *user, const double *x, double *B, double *g)
{
    const struct fit_sketch *s = user;
    return s->inner.normal(s->inner.user, x, B, g);
}

static void bend(void *user, const double *lower, const double *upper, const double *x,
                 double *trial)
{
    const struct fit_sketch *s = user;
    s->inner.bend(s->inner.user, lower, upper, x, trial);
}

double fit_sketch_least(const struct fit_sketch *s)
{
    return s->least;
}

/* The bounds of the linear unknown u, unless negative: both `value`, or again as they were. */
struct held {
    long u;
    double low, high;
};

static struct held hold(struct fit_objective *o, long u, double value)
{
    struct held h = {.u = u};
    if (u >= 0) {
        h.low = o->lower[u];
        h.high = o->upper[u];
        o->lower[u] = o->upper[u] = value;
    }
    return h;
}

static void release(struct fit_objective *o, struct held h)
{
    if (h.u < 0)
        return;
    o->lower[h.u] = h.low;
    o->upper[h.u] = h.high;
}

double fit_sketch_value(struct fit_sketch *s, const double *theta, long u, double value)
{
    struct held h = hold(s->obj, u, value);
    enum fit_eval e = fit_objective_value(s->obj, theta);
    release(s->obj, h);
    return e == FIT_EVAL_OK ? s->obj->cost + s->base : INFINITY;
}

static enum fit_nlsq_answer is_high(void *user, const struct fit_nlsq_report *now)
{
    const struct fit_sketch_spec *spec = user;
    const int high = now->iteration >= (spec->patient ? spec->patient : PATIENT) &&
                     now->cost - now->gradient * now->gradient * spec->unit > spec->high;
    return high ? FIT_NLSQ_STOP : FIT_NLSQ_GO_ON;
}

void fit_sketch_minimise(struct fit_sketch *s, const struct fit_sketch_spec *given, double *theta,
                         double *cost, double *gradient)
{
    struct fit_sketch_spec own = *given, *spec = &own;
    struct fit_objective *o = s->obj;
    size_t bytes = s->p * sizeof *theta;
    struct held h = hold(o, spec->u, spec->value);
    s->inner = fit_problem(o, spec->lower, spec->upper, s->dof, s->noise);
    struct fit_nlsq_problem problem = s->inner;
    problem.user = s;
    problem.value = value;
    problem.normal = normal;
    problem.bend = s->inner.bend ? bend : NULL;
    struct fit_nlsq_options opt = {.max_iterations = STEPS,
                                   .ftol = 1e-8,
                                   .xtol = 1e-8,
                                   .gtol = spec->gtol,
                                   .curvature = s->curvature,
                                   .watch = is_high,
                                   .watch_user = spec};
    memcpy(s->trial, theta, bytes);
    fit_nlsq_run(s->nlsq, &problem, &opt, s->trial);
    release(o, h);
    int found = isfinite(s->nlsq->cost);
    *cost = found ? s->nlsq->cost : NAN;
    *gradient = s->nlsq->gradient;
    if (found)
        memcpy(theta, s->trial, bytes);
}
