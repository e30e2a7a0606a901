/* minimiser.c -- see minimiser.h. */
#include "optimizers/minimiser.h"

#include "base/arena.h"
#include "common/sha256.h"
#include "optimizers/registry.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct by_name {
    struct fit_minimiser minimiser; /* the first member: fit_minimiser_free */
    struct fit_optimizer found;
    char *state;
    pthread_mutex_t lock; /* of what a user's own optimizer has in common, and of the message */
    struct fit_error error;
};

/* One run: x = origin + scale u. */
struct run {
    const struct fit_nlsq_problem *p;
    const struct fit_nlsq_options *opt;
    double *origin, *scale, *x, *B, *g; /* n, n, n, n n, n of the problem */
    double *u, *lower, *upper;          /* of the free parameters, in units of scale */
    size_t *index, nfree;
    double unit; /* of the cost */
    int stopped;
    char identity[96];
    struct fit_arena arena;
};

/* ---- the function ------------------------------------------------------------------------------ */

static void place(const struct run *r, const double *u, double *x)
{
    memcpy(x, r->origin, r->p->n * sizeof *x);
    for (size_t i = 0; i < r->nfree; i++) {
        const size_t k = r->index[i];
        x[k] = fmin(fmax(r->origin[k] + r->scale[k] * u[i], r->p->lower[k]), r->p->upper[k]);
    }
}

static enum fit_status answer(struct run *r, enum fit_eval e, struct fit_error *err)
{
    r->stopped |= e == FIT_EVAL_STOP;
    return e == FIT_EVAL_STOP ? fit_fail(err, FIT_ERR_INTERRUPTED, "stopped on request") : FIT_OK;
}

static enum fit_status value_gradient(void *context, const double *u, double *f, double *g, struct fit_error *err)
{
    struct run *r = context;
    double cost, error;
    *f = INFINITY;
    place(r, u, r->x);
    enum fit_eval e = r->p->value(r->p->user, r->x, &cost, &error);
    if (e == FIT_EVAL_OK)
        e = r->p->normal(r->p->user, r->x, r->B, r->g);
    if (e != FIT_EVAL_OK)
        return answer(r, e, err);
    *f = cost / r->unit;
    for (size_t i = 0; g && i < r->nfree; i++)
        g[i] = -r->g[r->index[i]] * r->scale[r->index[i]] / r->unit;
    return FIT_OK;
}

static int watch(void *user, const struct fit_optimize_report *report)
{
    struct run *r = user;
    const struct fit_nlsq_report told = {report->iteration, report->f * r->unit, report->step, report->gradient_norm};
    return r->opt->watch && r->opt->watch(r->opt->watch_user, &told) != FIT_NLSQ_GO_ON;
}

/* ---- beginning --------------------------------------------------------------------------------- */

/* A standard error of each parameter; for parameters without an effect a tenth of their size. */
static void set_scale(struct run *r, double cost)
{
    const struct fit_nlsq_problem *p = r->p;
    r->unit = p->likelihood ? 1 : p->noise > 0 ? p->noise : 2 * cost / p->dof;
    if (!(r->unit > 0))
        r->unit = 1;
    for (size_t k = 0; k < p->n; k++) {
        const double b = r->B[k * p->n + k], range = p->upper[k] - p->lower[k];
        r->scale[k] = b > 0 && isfinite(b) ? sqrt(r->unit / b) : 0.1 * fmax(fabs(r->origin[k]), 1);
        if (isfinite(range) && range > 0)
            r->scale[k] = fmin(r->scale[k], range);
    }
}

static void identify(struct run *r, double cost)
{
    const struct fit_nlsq_problem *p = r->p;
    unsigned char digest[SHA256_BYTES];
    struct sha256 h;
    char hex[SHA256_HEX];
    sha256_init(&h);
    sha256_update(&h, &cost, sizeof cost);
    sha256_update(&h, r->origin, p->n * sizeof *r->origin);
    sha256_update(&h, p->lower, p->n * sizeof *p->lower);
    sha256_update(&h, p->upper, p->n * sizeof *p->upper);
    sha256_final(&h, digest);
    sha256_hex(digest, hex);
    snprintf(r->identity, sizeof r->identity, "fit %s", hex);
}

/* 0: the model has no value at the start, or memory is out. */
static int begin(struct run *r, const double *x)
{
    const struct fit_nlsq_problem *p = r->p;
    const size_t n = p->n;
    double cost, error;
    FIT_TAKE_DOUBLES(&r->arena, n, &r->origin, &r->scale, &r->x, &r->g, &r->u, &r->lower, &r->upper);
    r->B = fit_take(&r->arena, n * n, sizeof *r->B);
    r->index = fit_take(&r->arena, n, sizeof *r->index);
    if (r->arena.failed)
        return 0;
    for (size_t k = 0; k < n; k++)
        r->origin[k] = fmin(fmax(x[k], p->lower[k]), p->upper[k]);
    enum fit_eval e = p->value(p->user, r->origin, &cost, &error);
    e = e == FIT_EVAL_OK ? p->normal(p->user, r->origin, r->B, r->g) : e;
    r->stopped = e == FIT_EVAL_STOP;
    if (e != FIT_EVAL_OK)
        return 0;
    set_scale(r, cost);
    identify(r, cost);
    for (size_t k = 0; k < n; k++)
        if (p->lower[k] < p->upper[k]) {
            r->lower[r->nfree] = (p->lower[k] - r->origin[k]) / r->scale[k];
            r->upper[r->nfree] = (p->upper[k] - r->origin[k]) / r->scale[k];
            r->index[r->nfree++] = k;
        }
    return 1;
}

/* ---- a run ------------------------------------------------------------------------------------- */

static enum fit_nlsq_end end_of(enum fit_optimize_end end)
{
    switch (end) {
    case FIT_OPTIMIZE_GTOL: return FIT_NLSQ_GRADIENT;
    case FIT_OPTIMIZE_FTOL: return FIT_NLSQ_COST;
    case FIT_OPTIMIZE_USER_STOP: return FIT_NLSQ_STOPPED;
    default: return FIT_NLSQ_LIMIT;
    }
}

static enum fit_status minimise(struct by_name *m, struct run *r, struct fit_optimize_result *result,
                                struct fit_error *err)
{
    struct fit_optimize_options o = fit_optimize_defaults();
    struct fit_optimize *work = NULL;
    char file[1200];
    const struct fit_optimize_problem p = {.n = r->nfree,
                                           .lower = r->lower,
                                           .upper = r->upper,
                                           .context = r,
                                           .value_gradient = value_gradient,
                                           .identity = r->identity};
    o.maxiter = r->opt->max_iterations;
    o.gtol = r->opt->gtol;
    o.ftol = r->opt->ftol;
    o.watch = watch;
    o.watch_user = r;
    if (m->state) {
        snprintf(file, sizeof file, "%s.%.8s", m->state, r->identity + strlen("fit "));
        o.state_file = file;
        o.state_every = 50;
    }
    enum fit_status s = fit_optimize_new(&work, &m->found.method, r->nfree, &o, err);
    s = s == FIT_OK ? fit_optimize_run(work, &p, r->u, result, err) : s;
    fit_optimize_free(work);
    return s;
}

static const char *run(void *user, const struct fit_nlsq_problem *p, const struct fit_nlsq_options *opt, double *x,
                       size_t *iterations, enum fit_nlsq_end *end)
{
    struct by_name *m = user;
    struct run r = {.p = p, .opt = opt};
    struct fit_optimize_result result = {.end = FIT_OPTIMIZE_MAXITER, .reason = "there is nothing to fit"};
    struct fit_error err = {.status = FIT_OK};
    const int own = m->found.method.kind == FIT_OPTIMIZE_USER;
    *end = FIT_NLSQ_LIMIT;
    *iterations = 0;
    if (!begin(&r, x)) {
        *end = r.stopped ? FIT_NLSQ_STOPPED : FIT_NLSQ_FAILED;
        fit_arena_free(&r.arena);
        return "the model is not finite at the start";
    }
    if (own)
        pthread_mutex_lock(&m->lock); /* a Lua state is that of one thread */
    const enum fit_status s = r.nfree ? minimise(m, &r, &result, &err) : FIT_OK;
    if (own)
        pthread_mutex_unlock(&m->lock);
    if (s == FIT_OK && r.nfree)
        place(&r, r.u, x);
    *iterations = result.nit;
    *end = r.stopped ? FIT_NLSQ_STOPPED : s == FIT_OK ? end_of(result.end) : FIT_NLSQ_LIMIT;
    fit_arena_free(&r.arena);
    if (s == FIT_OK || r.stopped)
        return result.reason;
    pthread_mutex_lock(&m->lock);
    m->error = err;
    pthread_mutex_unlock(&m->lock);
    return m->error.message;
}

/* ---- by name ----------------------------------------------------------------------------------- */

/* Reports an impossible request: no memory, a state that the optimizer does not support. */
static enum fit_status complete(struct by_name *m, const char *name, const char *state, struct fit_error *err)
{
    if (state && !(m->found.method.traits & FIT_OPTIMIZE_HAS_STATE))
        return fit_fail(err, FIT_ERR_CONFIG, "optimizer %s keeps no state from which a run could go on", name);
    m->state = state ? strdup(state) : NULL;
    m->minimiser = (struct fit_minimiser){.user = m, .run = run, .name = m->found.method.name};
    return state && !m->state ? fit_no_memory(err, "optimizer") : FIT_OK;
}

enum fit_status fit_minimiser_new(struct fit_minimiser **made, const char *name, const char *state,
                                  struct fit_error *err)
{
    struct by_name *m = calloc(1, sizeof *m);
    *made = NULL;
    if (!m)
        return fit_no_memory(err, "optimizer");
    pthread_mutex_init(&m->lock, NULL);
    enum fit_status s = fit_optimizer_find(&m->found, name, err);
    s = s == FIT_OK ? complete(m, name, state, err) : s;
    if (s == FIT_OK && !(m->found.method.traits & FIT_OPTIMIZE_NEEDS_NORMAL)) { /* not nlsq */
        *made = &m->minimiser;
        return FIT_OK;
    }
    m->minimiser.user = m;
    fit_minimiser_free(&m->minimiser);
    return s;
}

int fit_minimiser_has_bounds(const struct fit_minimiser *minimiser)
{
    const struct by_name *m = minimiser->user;
    return (m->found.method.traits & FIT_OPTIMIZE_HAS_BOUNDS) != 0;
}

void fit_minimiser_free(struct fit_minimiser *minimiser)
{
    if (!minimiser)
        return;
    struct by_name *m = minimiser->user;
    fit_optimizer_close(&m->found);
    pthread_mutex_destroy(&m->lock);
    free(m->state);
    free(m);
}
