/* dsl_nil.c -- which part of a line of the model is nil: Lua reports that something is, but not which element of a
 * table.
 *
 * Takes the line being run and the variables of its function. Looks at each name of the line with the elements after
 * it, a, a[4], a[k + 1], a.width, a["x"], in their order, and returns the first that is nil. Only values that Lua
 * itself finds there are reported; calls and other indices end the search after that name. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "base/names.h"
#include "language/dsl_private.h"
#include "common/nearest.h"

struct search {
    lua_State *L;
    struct hg_arena *arena;
    lua_Debug ar;      /* the function of the model */
    const char *at, *end;
};

static void skip_space(struct search *s)
{
    while (s->at < s->end && isspace((unsigned char)*s->at))
        s->at++;
}

/* The name at s->at; NULL: there is none. */
static const char *take_name(struct search *s)
{
    const char *begin = s->at;
    if (s->at >= s->end || isdigit((unsigned char)*s->at) || !hg_in_name(*s->at))
        return NULL;
    while (s->at < s->end && hg_in_name(*s->at))
        s->at++;
    return hg_format(s->arena, "%.*s", (int)(s->at - begin), begin);
}

/* Pushes the variable, the innermost of those that hide each other; 0: there is none, nothing is pushed. */
static int push_variable(struct search *s, const char *name)
{
    const char *found;
    int last = 0;
    for (int k = 1; (found = lua_getlocal(s->L, &s->ar, k)) != NULL; k++) {
        last = strcmp(found, name) == 0 ? k : last;
        lua_pop(s->L, 1);
    }
    if (last)
        return lua_getlocal(s->L, &s->ar, last) != NULL;
    lua_getinfo(s->L, "f", &s->ar);
    for (int k = 1; (found = lua_getupvalue(s->L, -1, k)) != NULL; k++) {
        if (strcmp(found, name) == 0) {
            lua_remove(s->L, -2);
            return 1;
        }
        lua_pop(s->L, 1);
    }
    lua_pop(s->L, 1);
    return 0;
}

static int push_quoted(struct search *s)
{
    const char quote = *s->at++, *begin = s->at;
    while (s->at < s->end && *s->at != quote)
        s->at++;
    if (s->at == s->end)
        return 0;
    lua_pushlstring(s->L, begin, (size_t)(s->at++ - begin));
    return 1;
}

/* Adds "+ 1" or "- 2" to the number on top. */
static void add_number(struct search *s)
{
    char *rest;
    const char sign = *s->at++;
    skip_space(s);
    double step = strtod(s->at, &rest), sum = lua_tonumber(s->L, -1) + (sign == '-' ? -step : step);
    s->at = rest;
    lua_pop(s->L, 1);
    lua_pushnumber(s->L, sum);
}

/* Pushes the index after "[": a number, a text, a variable, these plus or minus a number; 0: another one. */
static int push_index(struct search *s)
{
    char *rest;
    skip_space(s);
    if (s->at < s->end && isdigit((unsigned char)*s->at)) {
        lua_pushnumber(s->L, strtod(s->at, &rest));
        s->at = rest;
    } else if (s->at < s->end && (*s->at == '"' || *s->at == '\'')) {
        if (!push_quoted(s))
            return 0;
    } else {
        const char *name = take_name(s);
        if (!name || !push_variable(s, name))
            return 0;
    }
    skip_space(s);
    if (s->at < s->end && (*s->at == '+' || *s->at == '-') && lua_type(s->L, -1) == LUA_TNUMBER)
        add_number(s);
    skip_space(s);
    if (s->at < s->end && *s->at == ']' && !lua_isnil(s->L, -1)) {
        s->at++;
        return 1;
    }
    lua_pop(s->L, 1);
    return 0;
}

/* Pushes the element after the name or element: .field or [index]; 0: nothing of the kind. */
static int push_key(struct search *s)
{
    skip_space(s);
    if (s->at + 1 < s->end && s->at[0] == '.' && s->at[1] != '.') {
        s->at++;
        skip_space(s);
        const char *name = take_name(s);
        if (name)
            lua_pushstring(s->L, name);
        return name != NULL;
    }
    if (s->at >= s->end || *s->at != '[')
        return 0;
    s->at++;
    return push_index(s);
}

/* A remedy for the key on top of the stack, which the table below it does not have. */
static const char *help_of(struct search *s, const char *table)
{
    const size_t n = lua_rawlen(s->L, -2);
    struct nearest near = {.name = lua_type(s->L, -1) == LUA_TSTRING ? lua_tostring(s->L, -1) : ""};
    if (lua_type(s->L, -1) == LUA_TNUMBER && n > 0)
        return hg_format(s->arena, n > 1 ? "the table '%s' has %zu elements, %s[1] to %s[%zu]"
                                         : "the table '%s' has %zu element, %s[1]", table, n, table, table, n);
    lua_pushnil(s->L);
    int empty = 1;
    for (; lua_next(s->L, -3); lua_pop(s->L, 1)) {
        empty = 0;
        if (lua_type(s->L, -2) == LUA_TSTRING)
            nearest_offer(&near, hg_strdup(s->arena, lua_tostring(s->L, -2)));
    }
    if (near.best)
        return hg_format(s->arena, "did you mean '%s'?", near.best);
    return empty ? hg_format(s->arena, "the table '%s' is empty", table) : NULL;
}

/* The name at s->at and the elements after it; 1: one is nil. */
static int follow(struct search *s, const char **what, const char **help)
{
    const char *begin = s->at, *name = take_name(s);
    if (!push_variable(s, name))
        return 0;
    while (lua_istable(s->L, -1) && !luaL_getmetafield(s->L, -1, "__index")) {
        const char *table = hg_format(s->arena, "%.*s", (int)(s->at - begin), begin);
        if (!push_key(s))
            break;
        lua_pushvalue(s->L, -1);
        if (lua_rawget(s->L, -3) == LUA_TNIL) {
            lua_pop(s->L, 1);
            *help = help_of(s, table);
            *what = hg_format(s->arena, "%.*s", (int)(s->at - begin), begin);
            return 1;
        }
        lua_remove(s->L, -2); /* the key, and the table */
        lua_remove(s->L, -2);
    }
    if (!lua_isnil(s->L, -1))
        return 0;
    *what = name;
    return 1;
}

/* Skips texts and the comment at the end of the line. */
static int skip_text(struct search *s)
{
    if (s->at[0] == '-' && s->at + 1 < s->end && s->at[1] == '-') {
        s->at = s->end;
        return 1;
    }
    if (*s->at != '"' && *s->at != '\'')
        return 0;
    const char quote = *s->at++;
    while (s->at < s->end && *s->at != quote)
        s->at++;
    s->at += s->at < s->end;
    return 1;
}

static int find_function(lua_State *L, lua_Debug *ar)
{
    for (int level = 0; lua_getstack(L, level, ar); level++) {
        lua_getinfo(L, "Sl", ar);
        if (strcmp(ar->source, dsl_of(L)->chunk) == 0 && ar->currentline > 0)
            return 1;
    }
    return 0;
}

int dsl_find_nil(lua_State *L, const char **what, const char **help)
{
    struct search s = {.L = L, .arena = dsl_of(L)->arena};
    const int top = lua_gettop(L);
    const char *line = dsl_of(L)->diag->text;
    *what = *help = NULL;
    if (!find_function(L, &s.ar) || !lua_checkstack(L, 20))
        return 0;
    const uint32_t at = dsl_written_line(dsl_of(L), (uint32_t)s.ar.currentline);
    for (uint32_t k = 1; line && k < at; k++)
        line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
    s.at = line;
    s.end = line ? line + strcspn(line, "\r\n") : NULL;
    while (line && s.at < s.end && !*what) {
        const int begins = s.at == line || (!hg_in_name(s.at[-1]) && s.at[-1] != '.' && s.at[-1] != ':');
        if (skip_text(&s))
            continue;
        const char *from = s.at;
        if (begins && hg_in_name(*s.at) && !isdigit((unsigned char)*s.at))
            follow(&s, what, help);
        lua_settop(L, top);
        s.at = from + 1; /* an index has names of its own */
    }
    return *what != NULL;
}
