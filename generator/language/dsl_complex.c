/* dsl_complex.c -- complex values in Lua: a table with two formulas, re and im, and the metatable of this file.
 *
 * The metatable holds the complex version of each operator and function (complex.lua). C only makes complex values,
 * finds them among arguments, and names their parts.
 */
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "language/dsl_private.h"

#define TYPE "complex value" /* name of the metatable; Lua shows it in its own messages */

extern const unsigned char embedded_complex_lua[];
extern const size_t embedded_complex_lua_size;

int dsl_is_complex(lua_State *L, int i)
{
    if (!lua_istable(L, i) || !lua_getmetatable(L, i))
        return 0;
    luaL_getmetatable(L, TYPE);
    int same = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return same;
}

int dsl_complex(lua_State *L, const char *operation)
{
    const int n = lua_gettop(L);
    int found = 0;
    for (int k = 1; k <= n; k++)
        found |= dsl_is_complex(L, k);
    if (!found)
        return 0;
    luaL_getmetatable(L, TYPE);
    lua_pushstring(L, operation);
    if (lua_rawget(L, -2) == LUA_TNIL)
        dsl_fail(L, operation, "re(z) and im(z) are its parts, abs(z) and arg(z) its size and angle",
                 "%s takes no complex value", operation);
    lua_remove(L, -2);
    lua_insert(L, 1);
    lua_call(L, n, 1);
    return 1;
}

/* complex(x, y) */
static int call_complex(lua_State *L)
{
    static const char *const part[] = {"re", "im"}, *const what[] = {"the real part", "the imaginary part"};
    if (lua_gettop(L) != 2)
        dsl_fail(L, "complex", "complex(x, y) is x + i y", "complex takes two arguments, not %d", lua_gettop(L));
    struct dsl_value v[2];
    for (int k = 0; k < 2; k++) {
        if (dsl_is_complex(L, k + 1))
            dsl_fail(L, "complex", "complex(x, y) is x + i y", "%s is complex itself", what[k]);
        v[k] = dsl_factor(L, k + 1, what[k]);
    }
    const hg_unit unit = dsl_common_unit(L, "complex", v[0], v[1]);
    lua_createtable(L, 0, 2);
    for (int k = 0; k < 2; k++) {
        if (hg_is_value(dsl_of(L)->m->expr, v[k].id, 0.0)) /* as a number, whose unit is any */
            lua_pushinteger(L, 0);
        else if (unit == HG_UNIT_ANY)
            dsl_push(L, v[k].id, unit); /* no error follows from an error */
        else
            lua_pushvalue(L, k + 1);
        lua_setfield(L, 3, part[k]);
    }
    luaL_setmetatable(L, TYPE);
    return 1;
}

/* A part of the value at i; NULL: it is a number. */
static const struct dsl_value *part_of(lua_State *L, int i, const char *key)
{
    lua_pushstring(L, key);
    lua_rawget(L, i);
    const struct dsl_value *v = dsl_test(L, -1);
    lua_pop(L, 1); /* the table keeps it */
    return v;
}

void dsl_complex_parts(lua_State *L, int i, struct dsl_value part[2])
{
    static const char *const key[] = {"re", "im"};
    for (int k = 0; k < 2; k++) {
        lua_pushstring(L, key[k]);
        lua_rawget(L, i);
        part[k] = dsl_value_at(L, lua_gettop(L), "a part of a complex value");
        lua_pop(L, 1); /* the table keeps it */
    }
}

void dsl_make_complex(lua_State *L)
{
    lua_pushcfunction(L, call_complex);
    lua_insert(L, -3);
    lua_call(L, 2, 1);
}

void dsl_name_complex(lua_State *L, int i, const char *name)
{
    static const char *const key[] = {"re", "im"};
    struct dsl *d = dsl_of(L);
    i = lua_absindex(L, i);
    for (int k = 0; k < 2; k++) {
        const struct dsl_value *v = part_of(L, i, key[k]);
        if (v)
            dsl_name_value(L, v, hg_format(d->arena, "%s_%s", name, key[k]));
    }
}

void dsl_open_complex(lua_State *L)
{
    lua_pushcfunction(L, call_complex);
    lua_setfield(L, -2, "complex");
    if (luaL_loadbufferx(L, (const char *)embedded_complex_lua, embedded_complex_lua_size, "=prelude", "t"))
        hg_bug("complex.lua: %s", lua_tostring(L, -1));
    lua_pushvalue(L, -2);
    lua_setupvalue(L, -2, 1);
    luaL_newmetatable(L, TYPE);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_call(L, 1, 0);
}
