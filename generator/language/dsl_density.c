/* dsl_density.c -- the noise distribution of m.observe: `noise = poisson()` and its like (tables that prelude.lua
 * makes), or `log_density = expression` of the author's own.
 *
 * A table has `law`, `support`, `arguments` { {name, value}, ... } and `log_density`, a function of the measured value,
 * its mean and their unit; and `mean`, if the distribution supplies it.
 */
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "language/dsl_private.h"
#include "common/nearest.h"

/* by value; NULL: not part of the language */
static const char *const laws[] = {
#define LAW(KIND, word, words) [FIT_LAW_##KIND] = word,
#include "common/laws.def"
};
static const char *const supports[] = {
#define SUPPORT(KIND, word) [FIT_SUPPORT_##KIND] = word,
#include "common/laws.def"
};
enum { LAWS = sizeof laws / sizeof *laws, SUPPORTS = sizeof supports / sizeof *supports };

static const char usage[] =
    "noise = poisson(), gaussian { sd = ... }, ...; or {\"half_cauchy\", 2}, a prior of the noise level";

/* Index in the list of the word under `key` of the table at t (a stack index that is not relative); without one, 0. */
static int word_of(lua_State *L, int t, const char *key, const char *const *list, int n)
{
    const char *name = dsl_text(L, t, key);
    struct nearest near = {.name = name ? name : "?"};
    for (int k = 0; name && k < n; k++) {
        if (list[k] && strcmp(list[k], name) == 0)
            return k;
        if (list[k])
            nearest_offer(&near, list[k]);
    }
    if (name)
        dsl_fail(L, name, near.best ? hg_format(dsl_of(L)->arena, "did you mean \"%s\"?", near.best) : NULL,
                 "unknown %s \"%s\"", key, name);
    return 0;
}

int dsl_has_law(lua_State *L, int t)
{
    int type = lua_getfield(L, t, "noise"), found = 0;
    if (type == LUA_TFUNCTION)
        dsl_fail(L, "noise", usage, "the noise is a function that is not called: are () or { } missing?");
    if (type != LUA_TNIL && type != LUA_TTABLE)
        dsl_fail(L, "noise", usage, "the noise must be a distribution or a prior");
    if (type == LUA_TTABLE) {
        found = lua_getfield(L, -1, "log_density") != LUA_TNIL;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    int own = lua_getfield(L, t, "log_density") != LUA_TNIL;
    lua_pop(L, 1);
    if (own && type != LUA_TNIL)
        dsl_fail(L, "log_density", "`log_density` says all of the errors", "both a noise and a log_density");
    return own ? 2 : found;
}

int dsl_law_mean(lua_State *L, int t)
{
    int own = lua_getfield(L, t, "mean");
    if (own != LUA_TNIL)
        return 1;
    lua_pop(L, 1);
    if (lua_getfield(L, t, "noise") == LUA_TTABLE && lua_getfield(L, -1, "mean") != LUA_TNIL) {
        lua_remove(L, -2);
        return 1;
    }
    lua_settop(L, 2);
    return 0;
}

/* The list of arguments of the distribution in the table at t. */
static void read_arguments(lua_State *L, int t, struct hg_density *x)
{
    lua_getfield(L, t, "arguments");
    for (lua_Unsigned k = 1; lua_istable(L, -1) && k <= lua_rawlen(L, -1) && k <= HG_LAW_ARGUMENTS; k++) {
        lua_rawgeti(L, -1, (lua_Integer)k);
        lua_rawgeti(L, -1, 1);
        x->arg_name[x->narg] = dsl_text_at(L, -1, "the name of an argument");
        lua_rawgeti(L, -2, 2);
        struct dsl_value v = dsl_value_at(L, -1, x->arg_name[x->narg]);
        x->arg[x->narg++] = v.id;
        lua_pop(L, 3);
    }
    lua_pop(L, 1);
}

/* log_density(y, mean, one) of the distribution at t; the result is left on the stack. */
static void call_law(lua_State *L, int t, const struct hg_symbol_decl *value, hg_unit unit)
{
    lua_getfield(L, t, "log_density");
    if (!lua_isfunction(L, -1))
        dsl_fail(L, "noise", usage, "log_density of a noise must be a function of the value, its mean and its unit");
    dsl_push(L, value->node, unit);
    dsl_law_mean(L, 2);
    if (unit == HG_UNIT_ONE)
        lua_pushnumber(L, 1);
    else
        dsl_push(L, hg_const(dsl_build(L), 1.0), unit);
    lua_call(L, 3, 1);
}

static void check_log_density(lua_State *L, const struct dsl_value *v, const struct hg_symbol_decl *value)
{
    struct hg_model *m = dsl_of(L)->m;
    if (v->unit != HG_UNIT_ONE && v->unit != HG_UNIT_ANY)
        dsl_complain(
            L, "log_density", "a density times the unit of the measured value is a number: log(p * unit \"...\")",
            "unit mismatch: the log density must be a plain number, not in %s", hg_unit_text(m->units, v->unit));
    if (!hg_contains(m->expr, v->id, value->node))
        dsl_fail(L, "log_density", NULL, "the log density does not contain '%s', which is measured", value->name);
    for (uint32_t k = 0; k < m->column.n; k++)
        if (m->column.item[k].role == FIT_ROLE_SIGMA)
            dsl_fail(L, "sigma", hg_format(dsl_of(L)->arena, "noise = gaussian { sd = %s }, or any expression of it",
                                           m->column.item[k].name),
                     "sigma is for normal errors of which nothing more is said");
}

void dsl_read_law(lua_State *L, const struct hg_symbol_decl *value, hg_unit unit, int kind)
{
    struct dsl *d = dsl_of(L);
    struct hg_density *x = hg_alloc(d->arena, sizeof *x);
    x->value = value->node;
    x->line = dsl_line(L);
    if (kind == 2) {
        x->name = "log_density";
        x->support = (enum fit_support)word_of(L, 2, "support", supports, SUPPORTS);
        if (x->support == FIT_SUPPORT_TRIALS)
            dsl_fail(L, "support", "support = \"counts\"", "the support \"trials\" is that of binomial { }");
        lua_getfield(L, 2, "log_density");
    } else {
        lua_getfield(L, 2, "noise");
        int t = lua_gettop(L);
        x->name = dsl_text(L, t, "law");
        x->law = (enum fit_law)word_of(L, t, "law", laws, LAWS);
        x->support = (enum fit_support)word_of(L, t, "support", supports, SUPPORTS);
        x->name = x->name ? x->name : "noise";
        read_arguments(L, t, x);
        call_law(L, t, value, unit);
    }
    struct dsl_value v = dsl_value_at(L, -1, "the log density");
    check_log_density(L, &v, value);
    x->node = dsl_with_states(L, v.id, "the log density");
    for (uint32_t k = 0; k < x->narg; k++)
        x->arg[k] = dsl_with_states(L, x->arg[k], x->arg_name[k]);
    x->written = v.written;
    d->m->density = x;
    lua_settop(L, 2);
}
