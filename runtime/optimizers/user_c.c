/* user_c.c -- a C function of a shared library as an optimizer; see fit/optimizer.h. */
#include "optimizers/optimizers_impl.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fit/optimizer.h"

struct call {
    struct fit_optimize *o;
    struct fit_error *err;
    enum fit_status status; /* what the problem's functions failed with */
    int stopped;            /* by watch() */
};

static int value_gradient(void *context, const double *x, double *f, double *g)
{
    struct call *c = context;
    if (c->status == FIT_OK)
        c->status = fit_optimize_evaluate(c->o, x, f, g, c->err);
    return c->status != FIT_OK ? 2 : isfinite(*f) ? 0 : 1;
}

static int iteration(void *context, const double *x, double f, const double *g)
{
    struct call *c = context;
    struct fit_optimize *o = c->o;
    o->s->iteration++;
    o->s->f = f;
    memcpy(o->g, g, o->n * sizeof *g);
    if (x != o->x)
        memcpy(o->x, x, o->n * sizeof *x);
    c->stopped = c->stopped || fit_optimize_watched(o) != 0;
    return c->stopped;
}

static enum fit_status whole(struct fit_optimize *o, struct fit_optimize_result *r, struct fit_error *err)
{
    const struct fit_optimizer *found = o->method->user;
    fit_optimizer_function *function = NULL;
    struct call c = {.o = o, .err = err};
    const struct fit_optimizer_call call = {
        sizeof call,          o->n, o->problem->lower, o->problem->upper, o->opt.maxiter, o->opt.ftol, o->opt.gtol,
        o->opt.learning_rate, &c,   value_gradient,    iteration};
    void *symbol = dlsym(found->handle_, strrchr(found->name_, ':') + 1);
    if (!symbol)
        return fit_fail(err, FIT_ERR_CONFIG, "optimizer %s: the function is no longer there", found->name_);
    memcpy(&function, &symbol, sizeof function); /* POSIX, dlsym: ISO C has no such cast */
    double *x = o->work;                         /* its own: o->x is where iteration() has told of */
    memcpy(x, o->x, o->n * sizeof *x);
    const int how = function(&call, x);
    if (c.status != FIT_OK)
        return c.status;
    memcpy(o->x, x, o->n * sizeof *x);
    r->end = c.stopped                        ? FIT_OPTIMIZE_USER_STOP
             : how == FIT_OPTIMIZER_CONVERGED ? FIT_OPTIMIZE_FTOL
             : how == FIT_OPTIMIZER_LIMIT     ? FIT_OPTIMIZE_MAXITER
                                              : FIT_OPTIMIZE_LINESEARCH;
    r->reason = "as the user's own optimizer reports";
    return fit_optimize_conclude(o, r, err);
}

static size_t work(size_t n, const struct fit_optimize_options *opt)
{
    (void)opt;
    return n;
}

static void close_library(void *handle)
{
    dlclose(handle);
}

enum fit_status fit_optimizer_load_c(struct fit_optimizer *found, const char *file, const char *name,
                                     struct fit_error *err)
{
    char path[sizeof found->name_ + 2];
    snprintf(path, sizeof path, "%s%s", strchr(file, '/') ? "" : "./", file); /* else folders of the system's */
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return fit_fail(err, FIT_ERR_IO, "optimizer %s: %s", found->name_, dlerror());
    found->handle_ = library;
    found->close_ = close_library;
    if (!dlsym(library, name)) {
        fit_fail(err, FIT_ERR_CONFIG, "%s: it has no function '%s'", file, name);
        fit_optimizer_close(found); /* and name with it */
        return FIT_ERR_CONFIG;
    }
    found->method.summary = "a C function of the user's";
    found->method.traits = FIT_OPTIMIZE_HAS_BOUNDS;
    found->method.work = work;
    found->method.whole = whole;
    found->method.user = found;
    return FIT_OK;
}
