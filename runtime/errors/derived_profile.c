/* derived_profile.c -- see derived_profile.h. */
#include "errors/derived_profile.h"

#include "errors/likelihood.h"
#include "errors/profile.h"
#include "leastsquares/problem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double WEIGHT = 30;     /* L */
static const double STEP = 0.4;      /* growth of the square root of the rise from point to point */
static const double BEYOND = 1.1;    /* of the limit of 95 %: so far the curve goes */
static const double CLOSE = 1e-3;    /* of the root at the end of an interval */
static const double STUCK = 1e-3;    /* fraction of the intended step below which there is no way on */
static const double BETTER = 0.1;    /* chi2 below the least: another minimum */
enum { MOST_POINTS = 24, SECANTS = 8, ITERATIONS = 60 };

struct held {
    struct fit_ls *f;
    const struct fit_derived_value *d;
    struct fit_nlsq_problem inner;
    double variance, cost, scale; /* cost: at the minimum; scale: e */
    double target;                /* v */
    double *theta, *value, *slope;
    double limit[2];
    int stopped;
    struct fit_likelihood *out;
    struct fit_arena storage;
};

/* h at x. */
static double quantity(struct held *c, const double *x, int slopes)
{
    const struct fit_ls *f = c->f;
    const size_t g = c->d->group < 0 ? 0 : (size_t)c->d->group;
    f->kernel->derive(&f->ds->layout, x, f->res->lin, g, c->value, slopes ? c->slope : NULL);
    return c->value[c->d->which];
}

static enum fit_eval value(void *user, const double *x, double *cost, double *error)
{
    struct held *c = user;
    const enum fit_eval e = c->inner.value(c->inner.user, x, cost, error);
    const double off = (quantity(c, x, 0) - c->target) / c->scale;
    if (e == FIT_EVAL_OK && !isfinite(off))
        return FIT_EVAL_REJECT;
    *cost += 0.5 * c->variance * WEIGHT * off * off;
    return e;
}

static enum fit_eval normal(void *user, const double *x, double *B, double *g)
{
    struct held *c = user;
    const size_t p = c->f->p;
    const enum fit_eval e = c->inner.normal(c->inner.user, x, B, g);
    const double off = quantity(c, x, 1) - c->target, weight = c->variance * WEIGHT / (c->scale * c->scale);
    const double *h = c->slope + c->d->which * (p + c->f->q);
    for (size_t i = 0; e == FIT_EVAL_OK && i < p; i++) {
        g[i] -= weight * off * h[i];
        for (size_t j = 0; j < p; j++)
            B[i * p + j] += weight * h[i] * h[j];
    }
    return e;
}

static enum fit_nlsq_answer watch(void *user, const struct fit_nlsq_report *now)
{
    const struct held *c = user;
    struct fit_watch w = {.deadline = c->f->deadline};
    return c->f->setup.interrupt && *c->f->setup.interrupt ? FIT_NLSQ_STOP : fit_watch(&w, now);
}

/* The point of the profile to which the target leads, from theta, which becomes its minimum: *v, and the square root
 * of the rise. NaN: there is none. */
static double point(struct held *c, double target, double *v)
{
    struct fit_ls *f = c->f;
    const struct fit_nlsq_options opt = {.max_iterations = ITERATIONS, .ftol = 1e-13, .xtol = 1e-13, .gtol = 1e-4,
                                         .watch = watch, .watch_user = c};
    struct fit_nlsq_problem p = c->inner;
    double cost, error;
    p.user = c;
    p.value = value;
    p.normal = normal;
    p.bend = NULL;
    c->target = target;
    const enum fit_nlsq_end end = fit_nlsq_run(f->nlsq, &p, &opt, c->theta);
    c->stopped |= end == FIT_NLSQ_STOPPED;
    *v = quantity(c, c->theta, 0);
    if (end == FIT_NLSQ_FAILED || c->inner.value(c->inner.user, c->theta, &cost, &error) != FIT_EVAL_OK)
        return NAN;
    const double rise = 2 * (cost - c->cost) / c->variance;
    if (rise < -BETTER && !c->out->lower_cost) {
        c->out->lower_cost = 1;
        c->out->better = *v;
    }
    return sqrt(fmax(rise, 0));
}

static void keep(struct held *c, double v, double root)
{
    struct fit_likelihood *l = c->out;
    size_t at = l->n;
    if (l->n == FIT_LIKELIHOOD_POINTS)
        return;
    for (l->n++; at > 0 && l->value[at - 1] > v; at--) {
        l->value[at] = l->value[at - 1];
        l->rise[at] = l->rise[at - 1];
    }
    l->value[at] = v;
    l->rise[at] = root * root;
}

/* The target that leads to about the value v: at the minimum the slopes of the rise and of the penalty are opposite.
 * per: change of the value per growth of the root. */
static double target_of(const struct held *c, double v, double root, double per)
{
    return v + root / per * c->scale * c->scale / WEIGHT;
}

/* The value where the root is `wanted`, between (a, ra) and (b, rb). */
static double find_end(struct held *c, double wanted, double a, double ra, double b, double rb)
{
    double v = a + (wanted - ra) / (rb - ra) * (b - a);
    for (int turn = 0; turn < SECANTS && !c->stopped; turn++) {
        double at;
        const double r = point(c, target_of(c, v, wanted, (b - a) / (rb - ra)), &at);
        if (!(r > ra && r < rb))
            break;
        if (r < wanted)
            a = at, ra = r;
        else
            b = at, rb = r;
        v = a + (wanted - ra) / (rb - ra) * (b - a);
        if (fabs(r - wanted) < CLOSE)
            break;
    }
    return v;
}

/* Outward on one side until the rise exceeds the 95 % limit; ends[2], and whether they are open. */
static void trace(struct held *c, double side, double *end, int *open)
{
    const size_t bytes = c->f->p * sizeof *c->theta;
    double at = c->d->value, root = 0, per = side * c->scale;
    size_t next = 0;
    memcpy(c->theta, c->f->res->theta, bytes);
    for (size_t n = 0; n < MOST_POINTS && root < BEYOND * c->limit[1] && !c->stopped; n++) {
        const double wanted = at + STEP * per, before = at, root_before = root;
        double v;
        const double r = point(c, target_of(c, wanted, root + STEP, per), &v);
        if (!(r > root) || !(side * (v - at) > STUCK * fabs(wanted - at)))
            break;
        keep(c, v, r);
        at = v;
        root = r;
        per = (at - before) / (root - root_before);
        for (; next < 2 && root >= c->limit[next]; next++)
            end[next] = find_end(c, c->limit[next], before, root_before, at, root);
    }
    for (; next < 2; next++) {
        end[next] = at;
        open[next] = 1;
    }
}

static void words(struct fit_likelihood *l, const char *name)
{
    char at[2][120];
    if (l->lower_cost) {
        snprintf(l->text, sizeof l->text,
                 "with %s = %.6g a better minimum than that of the fit was met: fit again from there", name, l->better);
        return;
    }
    for (int k = 0; k < 2; k++)
        snprintf(at[k], sizeof at[k], "%.5g%s .. %.5g%s", l->lower[k], l->open_lower[k] ? " (not further)" : "",
                 l->upper[k], l->open_upper[k] ? " (not further)" : "");
    snprintf(l->text, sizeof l->text, "68 %%: %s; 95 %%: %s", at[0], at[1]);
}

/* The first linear parameter in the quantity; NULL: none. */
static const char *linear_in(const struct fit_ls *f, const struct fit_derived_value *d)
{
    for (size_t e = f->p; e < f->res->nfull; e++)
        if (d->gradient[e] != 0)
            return f->kernel->linear[(e - f->p) % f->q].name;
    return NULL;
}

/* A step along the quantity: its error from the curvature, valid or not; otherwise NaN. */
static double size_of(const struct fit_result *r, const struct fit_derived_value *d)
{
    double sum = 0;
    for (size_t a = 0; a < r->nparam; a++)
        for (size_t b = 0; b < r->nparam; b++)
            if (d->gradient[a] != 0 && d->gradient[b] != 0)
                sum += d->gradient[a] * r->paraboloid[a * r->nfull + b] * d->gradient[b];
    return d->std > 0 ? d->std : sqrt(sum);
}

/* 0: there is no profile, and out->text says why. */
static int has_profile(const struct fit_ls *f, const struct fit_derived_value *d, struct fit_likelihood *out)
{
    const char *linear = linear_in(f, d);
    if (linear)
        snprintf(out->text, sizeof out->text,
                 "none, for it contains %s, which is linear and solved for: linear = false in the model keeps it out "
                 "of that", linear);
    else if (!(size_of(f->res, d) > 0))
        snprintf(out->text, sizeof out->text, "none, for the data do not determine it%s%.300s",
                 d->reason[0] ? ": " : "", d->reason);
    return !out->text[0];
}

static void describe(struct held *c, double wider)
{
    struct fit_likelihood *l = c->out;
    for (size_t k = 0; k < l->n; k++)
        l->rise[k] *= wider * wider;
    for (int i = 0; i < 2; i++) {
        l->limit[i] *= wider;
        l->part[i] = (struct fit_union){
            1, {{l->lower[i], l->upper[i], (signed char)l->open_lower[i], (signed char)l->open_upper[i]}}};
    }
    words(l, c->f->kernel->derived[c->d->which].name);
}

enum fit_status fit_derived_profile(struct fit_ls *f, size_t d, double variance, struct fit_likelihood *out)
{
    const struct fit_derived_value *q = &f->res->derived[d];
    const double wider = fit_profile_widest(f->res);
    struct held c = {.f = f, .d = q, .variance = variance * wider * wider, .scale = size_of(f->res, q), .out = out};
    *out = (struct fit_likelihood){.which = f->res->nfull + d};
    if (!has_profile(f, q, out))
        return FIT_OK;
    c.inner = fit_problem(f->obj, f->lower, f->upper, f->dof, f->noise);
    c.theta = fit_take(&c.storage, f->p, sizeof *c.theta);
    c.value = fit_take(&c.storage, f->kernel->nderived, sizeof *c.value);
    c.slope = fit_take(&c.storage, f->kernel->nderived * (f->p + f->q), sizeof *c.slope);
    if (c.storage.failed) {
        fit_arena_free(&c.storage);
        return fit_no_memory(f->err, "profile");
    }
    fit_likelihood_limits(f, 0, out->limit);
    memcpy(c.limit, out->limit, sizeof c.limit);
    c.cost = fit_objective_value(f->obj, f->res->theta) == FIT_EVAL_OK ? f->obj->cost : NAN;
    keep(&c, q->value, 0);
    trace(&c, -1, out->lower, out->open_lower);
    trace(&c, 1, out->upper, out->open_upper);
    describe(&c, wider);
    fit_arena_free(&c.storage);
    return c.stopped ? fit_fail(f->err, FIT_ERR_INTERRUPTED, "profile: interrupted") : FIT_OK;
}
