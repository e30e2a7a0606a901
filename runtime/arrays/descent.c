/* descent.c -- see descent.h. */
#include "arrays/descent.h"

#include "optimizers/registry.h"

static enum fit_status value_gradient(void *context, const double *x, double *f, double *g, struct fit_error *err)
{
    struct fit_descent *d = context;
    (void)err;
    for (size_t k = 0; k < d->n; k++)
        d->full[d->place[k]] = x[k];
    *f = fit_bound_value(d->bound, d->full, g ? d->gradient : NULL);
    for (size_t k = 0; g && k < d->n; k++)
        g[k] = d->gradient[d->place[k]];
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
    struct fit_descent *d = context;
    const enum fit_status s = value_gradient(context, x, f, Jtr, err);
    return s == FIT_OK ? fit_bound_matrix(d->bound, FIT_GAUSS_NEWTON, d->n, d->place, JtJ, err) : s;
}

/* Least squares requires terms of squares, and a matrix of all unknowns. */
static enum fit_status check_squares(const struct fit_descent *d, const struct fit_optimize_method *m,
                                     struct fit_error *err)
{
    enum { MOST = 5000 };
    const char *other = fit_bound_not_squares(d->bound);
    if (!(m->traits & FIT_OPTIMIZE_NEEDS_NORMAL))
        return FIT_OK;
    if (other)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "optimizer %s is for sums of squares; '%s' is none: another --optimizer, such as lbfgsb",
                        m->name, other);
    if (d->n > MOST)
        return fit_fail(err, FIT_ERR_CONFIG, "optimizer %s: %zu unknowns; at most %d are possible", m->name, d->n,
                        MOST);
    return FIT_OK;
}

static int watch(void *user, const struct fit_optimize_report *report)
{
    const struct fit_descent *d = user;
    (void)report;
    return d->interrupt && atomic_load(d->interrupt);
}

enum fit_status fit_descend(struct fit_descent *d, const struct fit_descent_options *o, struct fit_error *err)
{
    struct fit_optimizer method;
    struct fit_optimize *work = NULL;
    struct fit_optimize_options options = fit_optimize_defaults();
    struct fit_optimize_problem problem = {.n = d->n,
                                           .context = d,
                                           .value_gradient = value_gradient,
                                           .value = value_alone,
                                           .normal = normal,
                                           .identity = d->identity};
    options.maxiter = o->maxiter;
    options.ftol = o->ftol;
    options.gtol = o->gtol;
    options.memory = o->memory;
    options.maxls = o->maxls;
    options.learning_rate = o->learning_rate;
    options.watch = watch;
    options.watch_user = d;
    options.state_file = o->state;
    options.state_every = 50;
    enum fit_status s = fit_optimizer_find(&method, o->optimizer, err);
    if (s != FIT_OK)
        return s;
    s = check_squares(d, &method.method, err);
    s = s == FIT_OK ? fit_optimize_new(&work, &method.method, d->n, &options, err) : s;
    s = s == FIT_OK ? fit_optimize_run(work, &problem, d->x, &d->result, err) : s;
    fit_optimize_free(work);
    fit_optimizer_close(&method);
    return s;
}

double fit_descent_conclude(struct fit_descent *d)
{
    for (size_t k = 0; k < d->n; k++)
        d->full[d->place[k]] = d->x[k];
    return fit_bound_value(d->bound, d->full, d->gradient);
}
