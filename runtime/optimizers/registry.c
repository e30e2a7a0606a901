/* registry.c -- see registry.h. */
#include "optimizers/optimizers_impl.h"

#include <stdio.h>
#include <string.h>

#include "common/nearest.h"

static const struct {
    const struct fit_optimize_method *method;
    const char *const *alias;
} table[] = {
    {&fit_optimize_lbfgsb, (const char *const[]){"lbfgs", "l-bfgs-b", "l-bfgs", "scipy", "scipy-lbfgs", NULL}},
    {&fit_optimize_lbfgs, (const char *const[]){"optax-lbfgs", NULL}},
    {&fit_optimize_lbfgs_bt, (const char *const[]){"optax-lbfgs-bt", NULL}},
    {&fit_optimize_adam, (const char *const[]){NULL}},
    {&fit_optimize_adamw, (const char *const[]){NULL}},
    {&fit_optimize_sgd, (const char *const[]){NULL}},
    {&fit_optimize_rmsprop, (const char *const[]){NULL}},
    {&fit_optimize_nlsq, (const char *const[]){"levenberg-marquardt", NULL}},
};
enum { NTABLE = sizeof table / sizeof *table };

const struct fit_optimize_method *fit_optimizer_entry(size_t k, const char *const **alias)
{
    if (k >= NTABLE)
        return NULL;
    if (alias)
        *alias = table[k].alias;
    return table[k].method;
}

const char *fit_optimizer_kind(enum fit_optimize_kind kind)
{
    static const char *const name[] = {"line-search", "first-order", "least-squares", "user"};
    return name[kind];
}

/* ---- names ------------------------------------------------------------------------------------ */

static const struct fit_optimize_method *by_name(const char *name, struct nearest *near)
{
    for (size_t k = 0; k < NTABLE; k++) {
        if (same_word(name, table[k].method->name))
            return table[k].method;
        nearest_offer(near, table[k].method->name);
        for (const char *const *a = table[k].alias; *a; a++) {
            if (same_word(name, *a))
                return table[k].method;
            nearest_offer(near, *a);
        }
    }
    return NULL;
}

static enum fit_status unknown(const struct nearest *near, struct fit_error *err)
{
    char names[400] = "";
    for (size_t k = 0, n = 0; k < NTABLE; k++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", k ? ", " : "", table[k].method->name);
    return fit_fail(err, FIT_ERR_CONFIG,
                    "there is no optimizer '%s'%s%s%s; there are %s, and your own as FILE.so:FUNCTION, "
                    "FILE.lua:FUNCTION or FILE.lua",
                    near->name, near->best ? "; did you mean '" : "", near->best ? near->best : "",
                    near->best ? "'?" : "", names);
}

/* The position after `ending` where it occurs in name at its end or before ':'; otherwise NULL. */
static const char *behind(const char *name, const char *ending)
{
    for (const char *at = name; (at = strstr(at, ending)); at++) {
        const char *end = at + strlen(ending);
        if (at > name && (*end == 0 || *end == ':'))
            return end;
    }
    return NULL;
}

/* ---- finding ---------------------------------------------------------------------------------- */

static enum fit_status load(struct fit_optimizer *found, const char *end, int is_c, struct fit_error *err)
{
    char file[sizeof found->name_];
    const char *name = *end == ':' && end[1] ? end + 1 : NULL;
    snprintf(file, sizeof file, "%.*s", (int)(end - found->name_), found->name_);
    if (is_c && !name)
        return fit_fail(err, FIT_ERR_CONFIG, "optimizer %s: which function? %s:NAME", found->name_, file);
    return is_c ? fit_optimizer_load_c(found, file, name, err) : fit_optimizer_load_lua(found, file, name, err);
}

enum fit_status fit_optimizer_find(struct fit_optimizer *found, const char *name, struct fit_error *err)
{
    *found = (struct fit_optimizer){.handle_ = NULL};
    if (!name || !*name)
        name = fit_optimize_lbfgsb.name;
    struct nearest near = {.name = name};
    const struct fit_optimize_method *m = by_name(name, &near);
    if (m) {
        found->method = *m;
        return FIT_OK;
    }
    const int n = snprintf(found->name_, sizeof found->name_, "%s", name);
    if (n < 0 || (size_t)n >= sizeof found->name_)
        return fit_fail(err, FIT_ERR_CONFIG, "optimizer %.80s...: the name is too long", name);
    found->method.name = found->name_;
    found->method.kind = FIT_OPTIMIZE_USER;
    const char *c = behind(found->name_, ".so"), *lua = behind(found->name_, ".lua");
    if (c || lua)
        return load(found, c ? c : lua, c != NULL, err);
    return unknown(&near, err);
}

void fit_optimizer_close(struct fit_optimizer *found)
{
    if (found->close_)
        found->close_(found->handle_);
    *found = (struct fit_optimizer){.handle_ = NULL};
}
