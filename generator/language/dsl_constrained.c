/* dsl_constrained.c -- m.ordered, m.simplex, m.correlated, and parameters whose bounds are formulas. constrained.lua
 * defines them with functions from here: m.parameter, m.derived, the value of a formula at the starts.
 */
#include <math.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "graph/eval.h"
#include "language/dsl_private.h"

#define TABLE "constrained parameters" /* in the registry: what constrained.lua returns */

extern const unsigned char embedded_constrained_lua[];
extern const size_t embedded_constrained_lua_size;

static double *starts_of(struct hg_arena *a, const struct hg_list *list)
{
    double *x = hg_alloc(a, (list->n + 1) * sizeof *x);
    for (uint32_t k = 0; k < list->n; k++)
        x[k] = isfinite(list->item[k].start) ? list->item[k].start : 1;
    return x;
}

/* The value of a formula of parameters, settings and axes at their starts. */
static int start_of(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    struct hg_model *m = d->m;
    struct dsl_value v = dsl_factor(L, 1, "a bound");
    if (hg_at(m->expr, v.id)->vary & ~(unsigned)HG_G)
        dsl_fail(L, "bounds",
                 "bounds are made of numbers, parameters and settings; of a column take the least or the largest "
                 "value by hand",
                 "a bound that varies with the data");
    const struct hg_point p = {.param = starts_of(d->arena, &m->param),
                               .linear = starts_of(d->arena, &m->linear),
                               .setting = starts_of(d->arena, &m->setting),
                               .coord = starts_of(d->arena, &m->axis)};
    struct hg_eval *ev = hg_eval_new(m->expr, 1, &v.id);
    hg_eval_run(ev, &p);
    lua_pushnumber(L, (double)hg_eval_get(ev, v.id, 0).v);
    hg_eval_free(ev);
    return 1;
}

/* Calls the function of constrained.lua with the arguments on the stack; one result. */
static int call(lua_State *L, const char *function)
{
    const int n = lua_gettop(L);
    lua_getfield(L, LUA_REGISTRYINDEX, TABLE);
    lua_getfield(L, -1, function);
    lua_remove(L, -2);
    lua_insert(L, 1);
    lua_call(L, n, 1);
    return 1;
}

int dsl_ordered(lua_State *L)
{
    dsl_new_name(L, 1, "parameter");
    return call(L, "ordered");
}

int dsl_simplex(lua_State *L)
{
    dsl_new_name(L, 1, "parameter");
    return call(L, "simplex");
}

int dsl_correlated(lua_State *L)
{
    dsl_new_name(L, 1, "parameter");
    return call(L, "correlated");
}

int dsl_has_formula_bounds(lua_State *L, int t)
{
    int found = 0;
    if (lua_getfield(L, t, "bounds") == LUA_TTABLE)
        for (int k = 1; k <= 2; k++, lua_pop(L, 1)) {
            lua_rawgeti(L, -1, k);
            found |= dsl_test(L, -1) != NULL;
        }
    lua_pop(L, 1);
    return found;
}

int dsl_bounded(lua_State *L)
{
    return call(L, "bounded");
}

void dsl_observed(lua_State *L)
{
    lua_settop(L, 0);
    call(L, "observed");
}

void dsl_open_constrained(lua_State *L, lua_CFunction parameter)
{
    if (luaL_loadbufferx(L, (const char *)embedded_constrained_lua, embedded_constrained_lua_size, "=prelude", "t"))
        hg_bug("constrained.lua: %s", lua_tostring(L, -1));
    lua_pushvalue(L, -2);
    lua_setupvalue(L, -2, 1);
    lua_pushcfunction(L, parameter);
    lua_pushcfunction(L, start_of);
    lua_pushcfunction(L, dsl_derived);
    lua_call(L, 3, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, TABLE);
}
