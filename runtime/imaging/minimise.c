/* minimise.c -- the optimizer meets the objective: pixels of the mask, state files. */
#include "imaging/minimise.h"

#include <math.h>
#include <stdio.h>

#include "imaging/planes.h"
#include "optimizers/registry.h"

static enum fit_status value_gradient(void *context, const double *x, double *f, double *g, struct fit_error *err)
{
    struct fit_imaging_run *r = context;
    (void)err;
    for (size_t k = 0; k < r->n; k++)
        r->full[r->place[k]] = x[k];
    *f = fit_bound_value(r->q->bound, r->full, g ? r->gradient : NULL);
    for (size_t k = 0; g && k < r->n; k++)
        g[k] = r->gradient[r->place[k]];
    return FIT_OK;
}

static enum fit_status value_alone(void *context, const double *x, double *f, struct fit_error *err)
{
    return value_gradient(context, x, f, NULL, err);
}

/* J^T J of terms that are sums of squares. */
static enum fit_status normal(void *context, const double *x, double *f, double *JtJ, double *Jtr,
                              struct fit_error *err)
{
    struct fit_imaging_run *r = context;
    const enum fit_status s = value_gradient(context, x, f, Jtr, err);
    return s == FIT_OK ? fit_bound_matrix(r->q->bound, FIT_GAUSS_NEWTON, r->n, r->place, JtJ, err) : s;
}

/* Least squares want terms of squares, and a matrix of all unknowns. */
static enum fit_status check_squares(const struct fit_imaging_run *r, const struct fit_optimize_method *m,
                                     struct fit_error *err)
{
    enum { MOST = 5000 };
    const char *other = fit_bound_not_squares(r->q->bound);
    if (!(m->traits & FIT_OPTIMIZE_NEEDS_NORMAL))
        return FIT_OK;
    if (other)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "optimizer %s is for sums of squares; '%s' is none: another --optimizer, such as lbfgsb",
                        m->name, other);
    if (r->n > MOST)
        return fit_fail(err, FIT_ERR_CONFIG, "optimizer %s: %zu unknowns; at most %d are possible", m->name, r->n,
                        MOST);
    return FIT_OK;
}

static int watch(void *user, const struct fit_optimize_report *report)
{
    const struct fit_imaging_run *r = user;
    (void)report;
    return r->interrupt && atomic_load(r->interrupt);
}

enum fit_status fit_imaging_begin(struct fit_imaging_run *r, struct fit_error *err)
{
    const enum fit_status s = fit_imaging_prepare(r->q, err);
    const size_t n = r->q->unknowns;
    if (s != FIT_OK)
        return s;
    r->place = fit_take(&r->arena, n, sizeof *r->place);
    FIT_TAKE_DOUBLES(&r->arena, n, &r->full, &r->gradient, &r->x);
    if (r->arena.failed)
        return fit_no_memory(err, "fit");
    fit_imaging_start(r->q, r->full);
    for (size_t k = 0; k < n; k++)
        if (r->q->mask[k % r->q->n]) {
            r->x[r->n] = r->full[k];
            r->place[r->n++] = k;
        }
    return FIT_OK;
}

/* One line that tells this problem from others, for state files. */
static const char *identity(struct fit_imaging_run *r)
{
    const struct fit_bound *b = r->q->bound;
    char text[1500];
    int at = snprintf(text, sizeof text, "%.16s %s %zux%zu", b->o->hash, r->q->obs->file, r->q->grid.ny, r->q->grid.nx);
    for (int i = 0; i < FIT_IMAGING_FREE; i++)
        if (fit_bound_place(b, fit_imaging_free_name[i]) != FIT_BOUND_NOWHERE)
            at += snprintf(text + at, sizeof text - (size_t)at, " %s", fit_imaging_free_name[i]);
    for (size_t c = 0; c < r->q->options->nmore && at < (int)sizeof text - 300; c++)
        at += snprintf(text + at, sizeof text - (size_t)at, " %.200s", r->q->options->more[c]);
    for (uint32_t t = 0; t < b->o->nterm && at < (int)sizeof text - 64; t++)
        if (b->on >> t & 1)
            at += snprintf(text + at, sizeof text - (size_t)at, " %s=%.17g", b->o->term[t].name, b->weight[t]);
    return fit_arena_string(&r->arena, text);
}

enum fit_status fit_imaging_minimise(struct fit_imaging_run *r, const struct fit_imaging_options *o,
                                     struct fit_error *err)
{
    struct fit_optimizer method;
    struct fit_optimize *work = NULL;
    struct fit_optimize_options options = fit_optimize_defaults();
    struct fit_optimize_problem problem = {
        .n = r->n,
        .context = r,
        .value_gradient = value_gradient,
        .value = value_alone,
        .normal = normal,
        .identity = identity(r)};
    options.maxiter = o->maxiter;
    options.ftol = o->ftol;
    options.gtol = o->gtol;
    options.memory = o->memory;
    options.maxls = o->maxls;
    options.learning_rate = o->learning_rate;
    options.watch = watch;
    options.watch_user = r;
    options.state_file = o->state;
    options.state_every = 50;
    enum fit_status s = fit_optimizer_find(&method, o->optimizer, err);
    if (s != FIT_OK)
        return s;
    s = check_squares(r, &method.method, err);
    s = s == FIT_OK ? fit_optimize_new(&work, &method.method, r->n, &options, err) : s;
    s = s == FIT_OK ? fit_optimize_run(work, &problem, r->x, &r->result, err) : s;
    fit_optimize_free(work);
    fit_optimizer_close(&method);
    return s;
}

double fit_imaging_conclude(struct fit_imaging_run *r)
{
    for (size_t k = 0; k < r->n; k++)
        r->full[r->place[k]] = r->x[k];
    return fit_bound_value(r->q->bound, r->full, r->gradient);
}

double fit_imaging_correlation(size_t n, const double *a, const double *b)
{
    double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
    for (size_t k = 0; k < n; k++) {
        ma += a[k] / (double)n;
        mb += b[k] / (double)n;
    }
    for (size_t k = 0; k < n; k++) {
        aa += (a[k] - ma) * (a[k] - ma);
        bb += (b[k] - mb) * (b[k] - mb);
        ab += (a[k] - ma) * (b[k] - mb);
    }
    return ab / sqrt(aa * bb);
}
