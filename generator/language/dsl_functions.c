/* dsl_functions.c -- the functions of the language: exp, sin, where, pair, integral, ... For plain numbers they return
 * plain numbers; otherwise they build nodes and check units as operators do (dsl_expr.c).
 */
#include <math.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "language/dsl_private.h"
#include "graph/functions.h"

static int call_function(lua_State *L)
{
    const enum hg_op op = (enum hg_op)lua_tointeger(L, lua_upvalueindex(1));
    const struct hg_function *f = hg_function(op);
    if (dsl_complex(L, f->language))
        return 1;
    if (lua_gettop(L) != 1)
        dsl_fail(L, f->language, NULL, "%s takes one argument, not %d", f->language, lua_gettop(L));
    if (lua_type(L, 1) == LUA_TNUMBER) {
        lua_pushnumber(L, hg_value(op, lua_tonumber(L, 1)));
        return 1;
    }
    struct dsl_value v = dsl_value_at(L, 1, hg_format(dsl_of(L)->arena, "the argument of %s", f->language));
    hg_unit unit = f->argument == HG_KEEP ? v.unit : HG_UNIT_ONE;
    if (f->argument != HG_KEEP || v.unit == HG_UNIT_BOOL)
        v = dsl_dimensionless(L, f->language, v, f->argument == HG_ANGLE);
    hg_id id = hg_call(dsl_build(L), op, v.id);
    double value;
    if (hg_is_const(dsl_of(L)->m->expr, id, &value) && !isfinite(value))
        dsl_fail(L, f->language, NULL, "%s of this constant is not a finite number", f->language);
    dsl_push_word(L, id, unit, HG_W_FUNCTION, op);
    return 1;
}

/* The order, at stack position 1. */
static void check_order(lua_State *L, const struct hg_many *f)
{
    double n = lua_type(L, 1) == LUA_TNUMBER ? lua_tonumber(L, 1) : -1;
    if (n != floor(n) || n < 0 || n > f->most)
        dsl_fail(L, f->name, hg_format(dsl_of(L)->arena, "%s(0, x), %s(1, x)", f->name, f->name),
                 "the first argument of %s is its order: a whole number from 0 to %d, no parameter", f->name, f->most);
}

/* Functions of an order: bessel_j(n, x). */
static int call_many(lua_State *L)
{
    const enum hg_op op = (enum hg_op)lua_tointeger(L, lua_upvalueindex(1));
    const struct hg_many *f = hg_many(op);
    hg_id arg[4];
    struct hg_ext operand[4];
    uint32_t numbers = 0;
    if (lua_gettop(L) != (int)f->nargs)
        dsl_fail(L, f->name, NULL, "%s takes %d arguments, not %d", f->name, (int)f->nargs, lua_gettop(L));
    check_order(L, f);
    for (uint32_t k = 0; k < f->nargs && lua_type(L, (int)k + 1) == LUA_TNUMBER; k++)
        operand[numbers++] = hg_ext(lua_tonumber(L, (int)k + 1));
    if (numbers == f->nargs) {
        lua_pushnumber(L, hg_ext_round(hg_many_value(op, operand)));
        return 1;
    }
    for (uint32_t k = 0; k < f->nargs; k++) {
        struct dsl_value v =
            dsl_value_at(L, (int)k + 1, hg_format(dsl_of(L)->arena, "argument %u of %s", k + 1, f->name));
        arg[k] = dsl_dimensionless(L, f->name, v, 0).id;
    }
    dsl_push_word(L, hg_call_many(dsl_build(L), op, arg), HG_UNIT_ONE, HG_W_FUNCTION, op);
    return 1;
}

static int call_atan2(lua_State *L)
{
    if (lua_type(L, 1) == LUA_TNUMBER && lua_type(L, 2) == LUA_TNUMBER) {
        lua_pushnumber(L, hg_value_atan2(lua_tonumber(L, 1), lua_tonumber(L, 2)));
        return 1;
    }
    struct dsl_value y = dsl_value_at(L, 1, "the first argument of atan2");
    struct dsl_value x = dsl_value_at(L, 2, "the second argument of atan2");
    dsl_common_unit(L, "atan2", y, x);
    dsl_push_word(L, hg_call2(dsl_build(L), HG_ATAN2, y.id, x.id), HG_UNIT_ONE, HG_W_ATAN2, 0);
    return 1;
}

/* lt, le: a condition; of two numbers: true or false. */
static int compare(lua_State *L, enum hg_op op, const char *name)
{
    if (dsl_complex(L, "__lt"))
        return 1;
    if (lua_type(L, 1) == LUA_TNUMBER && lua_type(L, 2) == LUA_TNUMBER) {
        double a = lua_tonumber(L, 1), b = lua_tonumber(L, 2);
        lua_pushboolean(L, op == HG_LT ? a < b : a <= b);
        return 1;
    }
    size_t place;
    const char *word = dsl_beside_call(L, &place);
    if (word)
        dsl_fail_at(L, place, "choose with where(condition, x, y); both conditions: where(a, where(b, x, y), y)",
                    "a comparison of formulas beside '%s': its value is not known yet", word);
    struct dsl_value a = dsl_value_at(L, 1, "the left of a comparison");
    struct dsl_value b = dsl_value_at(L, 2, "the right of a comparison");
    dsl_common_unit(L, name, a, b);
    dsl_push_word(L, hg_call2(dsl_build(L), op, a.id, b.id), HG_UNIT_BOOL, op == HG_LT ? HG_W_LT : HG_W_LE, 0);
    return 1;
}

static int call_lt(lua_State *L)
{
    return compare(L, HG_LT, "lt");
}

static int call_le(lua_State *L)
{
    return compare(L, HG_LE, "le");
}

static int call_where(lua_State *L)
{
    if (!lua_isboolean(L, 1) && dsl_complex(L, "where"))
        return 1;
    if (lua_isboolean(L, 1)) {
        lua_pushvalue(L, lua_toboolean(L, 1) ? 2 : 3);
        return 1;
    }
    struct dsl_value c = dsl_value_at(L, 1, "the condition of where");
    struct dsl_value a = dsl_value_at(L, 2, "the second argument of where");
    struct dsl_value b = dsl_value_at(L, 3, "the third argument of where");
    if (c.unit != HG_UNIT_BOOL)
        dsl_fail(L, "where", "write where(lt(a, b), x, y)", "the first argument of where must be a comparison");
    hg_unit unit = dsl_common_unit(L, "where", a, b);
    dsl_push_word(L, hg_where(dsl_build(L), c.id, a.id, b.id), unit, HG_W_WHERE, 0);
    return 1;
}

/* pair(t): the two frame times of a pair. */
static int call_pair(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    const struct dsl_value *t = dsl_test(L, 1);
    if (!t || !d->has_grid || t->id != d->time)
        dsl_fail(L, "pair", "local t = m.grid(\"t\", \"s\"); local t1, t2 = pair(t)", "pair needs the time grid");
    hg_unit s = t->unit;
    hg_id time = t->id;
    d->t1 = hg_pair_at(dsl_build(L), time, 0);
    d->t2 = hg_pair_at(dsl_build(L), time, 1);
    d->has_pair = 1;
    dsl_push(L, d->t1, s);
    dsl_push(L, d->t2, s);
    return 2;
}

/* 0 or 1 for t1 or t2 at stack position i. */
static int frame_of_pair(lua_State *L, int i, const char *function_name)
{
    struct dsl *d = dsl_of(L);
    const struct dsl_value *v = dsl_test(L, i);
    if (v && d->has_pair && (v->id == d->t1 || v->id == d->t2))
        return v->id == d->t2;
    dsl_fail(L, function_name, "local t1, t2 = pair(t) gives them",
             "%s: argument %d must be one of the two times of a pair", function_name, i);
}

/* A function of the frame time at stack position 1. */
static struct dsl_value function_of_time(lua_State *L, const char *function_name)
{
    struct dsl *d = dsl_of(L);
    struct dsl_value f = dsl_factor(L, 1, hg_format(d->arena, "the function in %s", function_name));
    if (!d->has_grid)
        dsl_fail(L, function_name,
                 d->m->column.n
                     ? "a table has rows, no frames to sum over: integrate(a, b, function(x) return ... end) is an "
                       "integral over anything else"
                     : "local t = m.grid(\"t\", \"s\")",
                 "%s needs a time grid", function_name);
    if (hg_at(d->m->expr, f.id)->vary & ~(unsigned)(HG_T | HG_G))
        dsl_fail(L, function_name, "write it as a function of t, before pair(t)",
                 "%s: the function is already taken at a frame of the pair", function_name);
    return f;
}

/* integral(f, t1, t2), or integral(f, t, t1, t2): trapezoids over the grid. */
static int call_integral(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    const struct dsl_value *t = dsl_test(L, 2);
    if (lua_gettop(L) == 4 && t && t->id == d->time)
        lua_remove(L, 2);
    struct dsl_value f = function_of_time(L, "integral");
    int from = frame_of_pair(L, 2, "integral"), to = frame_of_pair(L, 3, "integral");
    struct hg_expr *e = dsl_build(L);
    hg_unit unit = hg_unit_mul(d->m->units, f.unit, dsl_unit(L, "s"));
    hg_id id = hg_delta(e, hg_potential(e, f.id));
    if (from == to)
        id = hg_const(e, 0.0);
    else if (from > to)
        id = hg_neg(e, id);
    dsl_push_word(L, id, unit, HG_W_INTEGRAL, 0);
    return 1;
}

static int call_at(lua_State *L)
{
    struct dsl_value f = function_of_time(L, "at");
    int second = frame_of_pair(L, 2, "at");
    dsl_push_word(L, hg_pair_at(dsl_build(L), f.id, second), f.unit, HG_W_AT, 0);
    return 1;
}

static int call_unit(lua_State *L)
{
    hg_unit unit = dsl_unit(L, luaL_checkstring(L, 1));
    dsl_push(L, hg_const(dsl_build(L), 1.0), unit);
    return 1;
}

static int call_convert(lua_State *L)
{
    if (dsl_complex(L, "convert"))
        return 1;
    struct dsl *d = dsl_of(L);
    struct dsl_value v = dsl_factor(L, 1, "the first argument of convert");
    hg_unit unit = dsl_unit(L, luaL_checkstring(L, 2));
    double size = 1;
    if (v.unit != HG_UNIT_ANY && !hg_unit_factor(d->m->units, v.unit, unit, &size))
        dsl_fail(L, hg_format(d->arena, "\"%s\"", lua_tostring(L, 2)),
                 strcmp(dsl_unit_text(L, v.unit), "degC") == 0
                     ? "a temperature in K is (T / unit \"degC\" + 273.15) * kelvin"
                     : dsl_base_help(L, v.unit, unit),
                 "%s cannot be converted to %s", dsl_unit_text(L, v.unit), dsl_unit_text(L, unit));
    struct hg_expr *e = dsl_build(L);
    lua_settop(L, 1);
    dsl_push_word(L, hg_mul(e, hg_const(e, size), v.id), unit, HG_W_SAME, 0);
    return 1;
}

void dsl_open_functions(lua_State *L)
{
    static const luaL_Reg builtin[] = {{"atan2", call_atan2}, {"lt", call_lt},     {"le", call_le},
                                       {"where", call_where}, {"pair", call_pair}, {"integral", call_integral},
                                       {"at", call_at},       {"unit", call_unit}, {"convert", call_convert},
                                       {NULL, NULL}};
    luaL_setfuncs(L, builtin, 0);
    dsl_open_states(L);
    dsl_open_statistics(L);
    for (int op = 0; op < HG_NOP; op++) {
        if (hg_many((enum hg_op)op)) {
            lua_pushinteger(L, op);
            lua_pushcclosure(L, call_many, 1);
            lua_setfield(L, -2, hg_many((enum hg_op)op)->name);
        }
        const struct hg_function *f = hg_function((enum hg_op)op);
        if (!f || !f->language)
            continue;
        lua_pushinteger(L, op);
        lua_pushcclosure(L, call_function, 1);
        lua_setfield(L, -2, f->language);
    }
}
