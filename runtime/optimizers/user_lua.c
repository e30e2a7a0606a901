/* user_lua.c -- a Lua function, or a Lua table of init and update, as an optimizer; see registry.h. The only file of
 * the runtime that uses Lua. Everything that can fail in Lua runs inside lua_pcall. */
#include "optimizers/optimizers_impl.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/regular.h"

/* The loaded optimizer, and its current call. */
struct script {
    lua_State *L;
    int is_table, chosen, state; /* references: function or table, what init and update have returned */
    struct fit_optimize *o;
    struct fit_optimize_result *r;
    struct fit_error *err;
    enum fit_status status; /* what the problem's functions failed with */
    int stopped;            /* by watch() */
    int interrupted;        /* watch() requested a stop within the function */
    int looks;              /* at a file that is being loaded */
};

/* ---- lists of numbers ------------------------------------------------------------------------- */

static void push_list(lua_State *L, size_t n, const double *x)
{
    lua_createtable(L, (int)n, 0);
    for (size_t k = 0; k < n; k++) {
        lua_pushnumber(L, x[k]);
        lua_rawseti(L, -2, (lua_Integer)k + 1);
    }
}

static void get_list(lua_State *L, int at, const char *what, size_t n, double *x)
{
    if (!lua_istable(L, at))
        luaL_error(L, "%s: expected a list of %d numbers, not %s", what, (int)n, luaL_typename(L, at));
    if (lua_rawlen(L, at) != n)
        luaL_error(L, "%s: expected %d numbers, not %d", what, (int)n, (int)lua_rawlen(L, at));
    for (size_t k = 0; k < n; k++) {
        lua_rawgeti(L, at, (lua_Integer)k + 1);
        if (!lua_isnumber(L, -1))
            luaL_error(L, "%s: element %d is no number", what, (int)k + 1);
        x[k] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
}

/* ---- a function ------------------------------------------------------------------------------- */

static int lua_value_gradient(lua_State *L)
{
    struct script *s = lua_touserdata(L, lua_upvalueindex(1));
    double f, *x = s->o->work, *g = x + s->o->n;
    get_list(L, 1, "value_gradient(x)", s->o->n, x);
    if (s->status == FIT_OK)
        s->status = fit_optimize_evaluate(s->o, x, &f, g, s->err);
    if (s->status != FIT_OK)
        return luaL_error(L, "the objective has failed");
    lua_pushnumber(L, f);
    push_list(L, s->o->n, g);
    return 2;
}

static int lua_iteration(lua_State *L)
{
    struct script *s = lua_touserdata(L, lua_upvalueindex(1));
    struct fit_optimize *o = s->o;
    get_list(L, 1, "iteration(x, f, g)", o->n, o->x);
    o->s->f = luaL_checknumber(L, 2);
    get_list(L, 3, "iteration(x, f, g)", o->n, o->g);
    o->s->iteration++;
    s->stopped = s->stopped || fit_optimize_watched(o) != 0;
    lua_pushboolean(L, s->stopped);
    return 1;
}

static void push_method(lua_State *L, struct script *s, lua_CFunction f)
{
    lua_pushlightuserdata(L, s);
    lua_pushcclosure(L, f, 1);
}

static void push_options(lua_State *L, struct script *s)
{
    const struct fit_optimize_options *opt = &s->o->opt;
    const struct fit_optimize_problem *p = s->o->problem;
    lua_newtable(L);
    lua_pushinteger(L, (lua_Integer)opt->maxiter);
    lua_setfield(L, -2, "maxiter");
    lua_pushnumber(L, opt->ftol);
    lua_setfield(L, -2, "ftol");
    lua_pushnumber(L, opt->gtol);
    lua_setfield(L, -2, "gtol");
    lua_pushnumber(L, opt->learning_rate);
    lua_setfield(L, -2, "learning_rate");
    push_method(L, s, lua_iteration);
    lua_setfield(L, -2, "iteration");
    for (int side = 0; side < 2; side++)
        if (side ? p->upper : p->lower) {
            push_list(L, p->n, side ? p->upper : p->lower);
            lua_setfield(L, -2, side ? "upper" : "lower");
        }
}

static int protected_function(lua_State *L)
{
    struct script *s = lua_touserdata(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, s->chosen);
    push_method(L, s, lua_value_gradient);
    push_list(L, s->o->n, s->o->x);
    push_options(L, s);
    lua_call(L, 3, 2);
    get_list(L, -2, "the optimizer's result", s->o->n, s->o->work);
    memcpy(s->o->x, s->o->work, s->o->n * sizeof *s->o->x);
    s->r->end = s->stopped                                 ? FIT_OPTIMIZE_USER_STOP
                : lua_isnil(L, -1) || lua_toboolean(L, -1) ? FIT_OPTIMIZE_FTOL
                                                           : FIT_OPTIMIZE_MAXITER;
    s->r->reason = "as the user's own optimizer reports";
    return 0;
}

/* ---- a table ---------------------------------------------------------------------------------- */

/* The next x in o->work. */
static int protected_update(lua_State *L)
{
    struct script *s = lua_touserdata(L, 1);
    struct fit_optimize *o = s->o;
    lua_rawgeti(L, LUA_REGISTRYINDEX, s->chosen);
    if (o->s->iteration <= 0) {
        lua_getfield(L, -1, "init");
        push_list(L, o->n, o->x);
        lua_call(L, 1, 1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &s->state);
    }
    lua_getfield(L, -1, "update");
    push_list(L, o->n, o->g);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &s->state);
    push_list(L, o->n, o->x);
    lua_pushnumber(L, o->s->f);
    lua_call(L, 4, 2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &s->state);
    get_list(L, -1, "the step of update()", o->n, o->work);
    for (size_t k = 0; k < o->n; k++)
        o->work[k] += o->x[k];
    return 0;
}

/* ---- stops -----------------------------------------------------------------------------------------------
 *
 * After so many Lua instructions the hook checks for a request to stop and leaves the function, wherever it is.
 * While a file is loaded there is no such request, so loading ends after so many checks, as for model files
 * (language/dsl.c). */
enum { INSTRUCTIONS = 1000000, MOST_LOOKS = 20 };

static const char script_key;

static void look(lua_State *L, lua_Debug *where)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &script_key);
    struct script *s = lua_touserdata(L, -1);
    lua_pop(L, 1);
    if (s->o)
        s->interrupted = s->interrupted || fit_optimize_watched(s->o) != 0;
    else
        s->looks++;
    if (!s->interrupted && s->looks <= MOST_LOOKS)
        return;
    lua_sethook(L, look, LUA_MASKCOUNT, 1); /* a pcall of the function's own holds back this error, not the next; */
    lua_sethook(s->L, look, LUA_MASKCOUNT, 1); /* nor does a coroutine, whose hook is its own */
    lua_getinfo(L, "Sl", where);
    if (s->interrupted)
        lua_pushliteral(L, "interrupted");
    else
        lua_pushfstring(L, "%s:%d: more than %d million steps while the file is loaded; "
                        "is there a loop without an end?",
                        where->short_src, where->currentline, INSTRUCTIONS / 1000000 * MOST_LOOKS);
    lua_error(L);
}

static void begin_looking(struct script *s)
{
    lua_pushlightuserdata(s->L, s);
    lua_rawsetp(s->L, LUA_REGISTRYINDEX, &script_key);
    lua_sethook(s->L, look, LUA_MASKCOUNT, INSTRUCTIONS);
}

/* ---- calls ------------------------------------------------------------------------------------ */

static enum fit_status in_lua(struct fit_optimize *o, lua_CFunction body, struct fit_optimize_result *r,
                              struct fit_error *err)
{
    const struct fit_optimizer *found = o->method->user;
    struct script *s = found->handle_;
    s->o = o, s->r = r, s->err = err, s->status = FIT_OK, s->stopped = s->interrupted = s->looks = 0;
    lua_settop(s->L, 0);
    begin_looking(s);
    lua_pushcfunction(s->L, body);
    lua_pushlightuserdata(s->L, s);
    const int failed = lua_pcall(s->L, 1, 0, 0);
    lua_sethook(s->L, NULL, 0, 0);
    if (!failed || s->interrupted || s->status != FIT_OK)
        return s->status;
    if (failed == LUA_ERRMEM)
        return fit_no_memory(err, found->name_);
    const char *text = lua_tostring(s->L, -1);
    return fit_fail(err, FIT_ERR_CONFIG, "optimizer %s: %s", found->name_, text ? text : "an error that is not text");
}

static enum fit_status whole(struct fit_optimize *o, struct fit_optimize_result *r, struct fit_error *err)
{
    const struct fit_optimizer *found = o->method->user;
    const struct script *s = found->handle_;
    const enum fit_status st = in_lua(o, protected_function, r, err);
    if (s->interrupted) { /* at the x of the last iteration */
        r->end = FIT_OPTIMIZE_USER_STOP;
        r->reason = "stopped from outside, within the user's own optimizer";
    }
    return st != FIT_OK ? st : fit_optimize_conclude(o, r, err);
}

static enum fit_status step(struct fit_optimize *o, enum fit_optimize_step *end, struct fit_error *err)
{
    const struct fit_optimizer *found = o->method->user;
    const struct script *s = found->handle_;
    const enum fit_status st = in_lua(o, protected_update, NULL, err);
    if (s->interrupted) { /* nothing has changed; the run checks again, and ends */
        *end = FIT_STEP_DONE;
        return st;
    }
    return st != FIT_OK ? st : fit_optimize_arrive(o, o->work, o->work + o->n, end, err);
}

static size_t work(size_t n, const struct fit_optimize_options *opt)
{
    (void)opt;
    return 2 * n;
}

/* ---- loading ---------------------------------------------------------------------------------- */

static void close_script(void *handle)
{
    struct script *s = handle;
    if (s->L)
        lua_close(s->L);
    free(s);
}

/* Runs the file; its result is on the stack. */
static int protected_load(lua_State *L)
{
    const char *file = lua_tostring(L, 1), *name = lua_tostring(L, 2);
    luaL_openlibs(L);
    if (luaL_loadfile(L, file) != LUA_OK)
        return lua_error(L);
    lua_call(L, 0, 1);
    if (name && lua_istable(L, -1))
        lua_getfield(L, -1, name);
    if (name && !lua_isfunction(L, -1) && !lua_istable(L, -1))
        lua_getglobal(L, name);
    return 1;
}

static int is_callable(lua_State *L, const char *field)
{
    lua_getfield(L, -1, field);
    const int yes = lua_isfunction(L, -1);
    lua_pop(L, 1);
    return yes;
}

/* A table is tested first, because it may be callable, too. */
static enum fit_status choose(struct fit_optimizer *found, struct script *s, const char *file, const char *name,
                              struct fit_error *err)
{
    struct fit_optimize_method *m = &found->method;
    s->is_table = lua_istable(s->L, -1) && is_callable(s->L, "init") && is_callable(s->L, "update");
    if (!s->is_table && !lua_isfunction(s->L, -1))
        return fit_fail(err, FIT_ERR_CONFIG,
                        "%s: %s%s%s is %s; an optimizer is a function, or a table of the functions init and update",
                        file, name ? "'" : "what it returns", name ? name : "", name ? "'" : "",
                        luaL_typename(s->L, -1));
    s->chosen = luaL_ref(s->L, LUA_REGISTRYINDEX);
    m->summary = "a Lua function of the user's";
    m->traits = FIT_OPTIMIZE_HAS_BOUNDS;
    m->work = work;
    m->user = found;
    if (s->is_table) {
        m->kind = FIT_OPTIMIZE_FIRST_ORDER;
        m->step = step;
    } else {
        m->whole = whole;
    }
    return FIT_OK;
}

enum fit_status fit_optimizer_load_lua(struct fit_optimizer *found, const char *file, const char *name,
                                       struct fit_error *err)
{
    struct script *s = calloc(1, sizeof *s);
    if (!s)
        return fit_no_memory(err, file);
    found->handle_ = s;
    found->close_ = close_script;
    s->L = luaL_newstate();
    enum fit_status st = FIT_OK;
    if (!s->L) {
        st = fit_no_memory(err, file);
    } else {
        begin_looking(s);
        lua_pushcfunction(s->L, protected_load);
        lua_pushstring(s->L, file);
        if (name)
            lua_pushstring(s->L, name);
        else
            lua_pushnil(s->L);
        if (lua_pcall(s->L, 2, 1, 0) != LUA_OK)
            st = fit_fail(err, FIT_ERR_CONFIG, "optimizer %s: %s", found->name_,
                          lua_tostring(s->L, -1) ? lua_tostring(s->L, -1) : "an error that is not text");
        else
            st = choose(found, s, file, name, err);
        lua_sethook(s->L, NULL, 0, 0);
    }
    if (st != FIT_OK)
        fit_optimizer_close(found);
    return st;
}
