/* registry.h -- optimizers by name.
 *
 *     struct fit_optimizer found;
 *     if (fit_optimizer_find(&found, "l-bfgs-b", err) != FIT_OK) ...
 *     fit_optimize_new(&o, &found.method, n, &opt, err);
 *     ...
 *     fit_optimizer_close(&found);           after fit_optimize_free(o)
 *
 * A name is one of the table, or an alias, in any case, with '-' or '_'; or the location of a user-defined
 * optimizer:
 *
 *     NAME.so:SYMBOL       a C function, fit/optimizer.h
 *     NAME.lua:NAME        a Lua function or table in a global variable or in the table that the file returns
 *     NAME.lua             the return value of the file
 *
 * A Lua function is called as x, converged = f(value_gradient, x, options) where f, g = value_gradient(x); x and g
 * are lists of numbers, options a table (maxiter, ftol, gtol, learning_rate, lower, upper, iteration: a function of
 * x, f, g that says whether to stop). A Lua table has two functions, state = init(x) and step, state = update(g,
 * state, x, f); x + step is the next x.
 *
 * Nothing is loaded until it is requested by name. */
#pragma once

#include "optimize/method.h"

struct fit_optimizer {
    struct fit_optimize_method method;
    char name_[320];
    void *handle_;
    void (*close_)(void *handle);
};

/* FIT_ERR_CONFIG: no such name (the nearest one is suggested), no such function in the file; FIT_ERR_IO: the file
 * cannot be loaded; FIT_ERR_MEMORY. name NULL or "": L-BFGS-B. */
enum fit_status fit_optimizer_find(struct fit_optimizer *found, const char *name, struct fit_error *err);
void fit_optimizer_close(struct fit_optimizer *found);

/* The table: method and aliases (ended by NULL) of entry k; NULL after the last. */
const struct fit_optimize_method *fit_optimizer_entry(size_t k, const char *const **alias);

/* "line-search", "first-order", "least-squares", "user". */
const char *fit_optimizer_kind(enum fit_optimize_kind kind);
