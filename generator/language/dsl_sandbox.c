/* dsl_sandbox.c -- the environment of a model file: one table of names with the harmless part of Lua, the functions of
 * dsl_functions.c and prelude.lua, model(), and units under their long names.
 *
 * Reading any other name is an error that suggests the nearest one. An assignment to a name that is not local is an
 * error, too; this keeps expressions in local variables, which give them their names.
 */
#include <ctype.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "language/dsl_private.h"
#include "common/nearest.h"

enum { MAX_PRINTED = 1 << 20 };

extern const unsigned char embedded_prelude_lua[];
extern const size_t embedded_prelude_lua_size;

/* --- unknown names -------------------------------------------------------------------------------- */

/* Offers the local variables of the running function of the model. */
static void try_locals(lua_State *L, struct nearest *near)
{
    lua_Debug ar;
    const char *name;
    for (int level = 0; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "S", &ar);
        if (strcmp(ar.source, dsl_of(L)->chunk) != 0)
            continue;
        for (int k = 1; (name = lua_getlocal(L, &ar, k)) != NULL; k++) {
            lua_pop(L, 1);
            if (*name != '(')
                nearest_offer(near, hg_strdup(dsl_of(L)->arena, name));
        }
    }
}

static const char *const other_names[][2] = {
    {"ln", "did you mean 'log'?"},
    {"e", "a power of e is exp(x)"},
    {"arcsin", "did you mean 'asin'?"},
    {"arccos", "did you mean 'acos'?"},
    {"arctan", "did you mean 'atan'?"},
    {"arcsinh", "did you mean 'asinh'?"},
    {"arsinh", "did you mean 'asinh'?"},
    {"arctan2", "did you mean 'atan2'?"},
    {"fabs", "did you mean 'abs'?"},
    {"pow", "a power is written a^b"},
    {"power", "a power is written a^b"},
    {"max", "not below lo: floor_at(x, lo); the larger of two: where(lt(a, b), b, a)"},
    {"maximum", "not below lo: floor_at(x, lo); the larger of two: where(lt(a, b), b, a)"},
    {"min", "not above hi: cap_at(x, hi); the smaller of two: where(lt(a, b), a, b)"},
    {"minimum", "not above hi: cap_at(x, hi); the smaller of two: where(lt(a, b), a, b)"},
    {"heaviside", "a step is where(lt(x, 0), 0, 1)"},
    {"sign", "a sign is where(lt(x, 0), -1, 1)"},
    {"inf", "no bound is math.huge"},
    {"infinity", "no bound is math.huge"},
    {"np", "functions have no prefix: exp(x)"},
    {"numpy", "functions have no prefix: exp(x)"},
    {"real", "did you mean 're'?"},
    {"imag", "did you mean 'im'?"},
    {"angle", "the angle of a complex value is arg(z)"},
    {"phase", "the angle of a complex value is arg(z)"},
    {"I", "the imaginary unit is i"},
    {"j", "the imaginary unit is i"},
    {"besselj", "J of order n is bessel_j(n, x), j of order n spherical_j(n, x)"},
    {"besselj0", "J of order 0 is bessel_j(0, x)"},
    {"besselj1", "J of order 1 is bessel_j(1, x)"},
    {"j0", "J of order 0 is bessel_j(0, x), j of order 0 sinc(x)"},
    {"j1", "J of order 1 is bessel_j(1, x), j of order 1 spherical_j(1, x)"},
    {"jn", "J of order n is bessel_j(n, x)"},
    {"jv", "J of order n, a whole number, is bessel_j(n, x)"},
    {"bessely", "Y of order n is bessel_y(n, x)"},
    {"yn", "Y of order n is bessel_y(n, x)"},
    {"yv", "Y of order n, a whole number, is bessel_y(n, x)"},
    {"besseli", "I of order n is bessel_i(n, x)"},
    {"iv", "I of order n, a whole number, is bessel_i(n, x)"},
    {"i0", "I of order 0 is bessel_i(0, x)"},
    {"i1", "I of order 1 is bessel_i(1, x)"},
    {"besselk", "K of order n is bessel_k(n, x)"},
    {"kv", "K of order n, a whole number, is bessel_k(n, x)"},
    {"kn", "K of order n is bessel_k(n, x)"},
    {"k0", "K of order 0 is bessel_k(0, x)"},
    {"k1", "K of order 1 is bessel_k(1, x)"},
    {"spherical_yn", "y of order n is spherical_y(n, x)"},
    {"spherical_in", "i of order n is spherical_i(n, x)"},
    {"spherical_kn", "k of order n is spherical_k(n, x)"},
    {"spherical_jn", "j of order n is spherical_j(n, x)"},
    {"wofz", "w(z) is faddeeva(z)"},
    {"voigt_profile", "it is voigt(x, sigma, gamma)"},
    {"dawsn", "it is dawson(x)"},
    {"gammaln", "the logarithm of the gamma function is lgamma(x)"},
    {"tgamma", "the gamma function is gamma(x)"},
    {"m", "a model begins with local m = model \"name\" { title = \"...\" }"},
    {"lambda", "a function is local function f(x) return ... end"},
    {"def", "a function is local function f(x) return ... end"},
    {"floor", "what is rounded has no derivative; where(lt(x, 1), a, b) chooses"},
    {"ceil", "what is rounded has no derivative; where(lt(x, 1), a, b) chooses"},
    {"round", "what is rounded has no derivative; where(lt(x, 1), a, b) chooses"},
    {"mod", "what repeats is written with sin and cos: sin(2 * pi * x / period)"},
    {"fmod", "what repeats is written with sin and cos: sin(2 * pi * x / period)"},
    {"iif", "a choice is where(lt(a, b), x, y)"},
    {"piecewise", "a choice is where(lt(a, b), x, y)"},
    {"quad", "an integral is integrate(a, b, function(x) return ... end)"},
    {"trapz", "an integral is integrate(a, b, function(x) return ... end)"},
    {"odeint", "equations of motion are m.ode(t, { [u] = rate })"},
    {"sigmoid", "did you mean 'logistic'?"},
    {"expit", "did you mean 'logistic'?"},
    {"range", "a loop is for k = 1, 3 do ... end"},
    {"len", "the length of a list is #list"},
    {"linspace", "the points are those of the data; a loop is for k = 1, 3 do ... end"},
    {"sec", "did you mean 'second'? The secant is 1 / cos(x)"},
    {"None", "did you mean nil?"},
    {"True", "did you mean true?"},
    {"False", "did you mean false?"},
};

/* Names that differ here from other languages; NULL: none. */
static const char *other_name(const char *name)
{
    for (size_t k = 0; k < sizeof other_names / sizeof *other_names; k++)
        if (strcmp(name, other_names[k][0]) == 0)
            return other_names[k][1];
    return NULL;
}

/* Is the name followed by a parenthesis in the line that is run? */
static int is_called(lua_State *L, const char *name)
{
    const char *line = dsl_of(L)->diag->text;
    size_t n = strlen(name);
    for (uint32_t k = dsl_line(L); line && k > 1; k--)
        line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
    for (const char *at = line; at && (at = strstr(at, name)) != NULL && at < line + strcspn(line, "\n"); at += n)
        if (at[n + strspn(at + n, " ")] == '(' && !(at > line && (isalnum((unsigned char)at[-1]) || at[-1] == '_')))
            return 1;
    return 0;
}

/* "cos" of "cosine": the longest name of the language, the table at upvalue 1, with which it begins; NULL: none. */
static const char *longest_beginning(lua_State *L, const char *name)
{
    enum { LEAST = 3 };
    const char *best = NULL;
    for (lua_pushnil(L); lua_next(L, lua_upvalueindex(1)); lua_pop(L, 1)) {
        const char *word = lua_tostring(L, -2);
        size_t n = strlen(word);
        if (n >= LEAST && strncmp(word, name, n) == 0 && (!best || n > strlen(best)))
            best = hg_strdup(dsl_of(L)->arena, word);
    }
    return best;
}

/* __index of the model's environment; the table of names is upvalue 1. */
static int env_index(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    lua_pushvalue(L, 2);
    if (lua_type(L, 2) != LUA_TSTRING || lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
        return 1;
    const char *name = lua_tostring(L, 2), *constant, *text;
    struct nearest near = {.name = name}, own = near;
    if (dsl_is_in("io os require package load loadfile loadstring dofile debug coroutine utf8 "
                  "pcall xpcall next "
                  "setmetatable getmetatable rawget rawset rawequal rawlen collectgarbage warn",
                  name))
        dsl_fail(L, name, "a model cannot reach files, the system or other code", "'%s' is not available in models",
                 name);
    for (size_t k = 0; (constant = hg_unit_constant(k, &text)) != NULL; k++)
        if (strcmp(name, constant) == 0) {
            hg_unit unit = dsl_unit(L, text);
            dsl_push(L, hg_const(dsl_build(L), 1.0), unit);
            return 1;
        }
    for (size_t k = 0; (constant = hg_unit_constant(k, &text)) != NULL; k++)
        nearest_offer(&near, constant);
    try_locals(L, &own);
    for (lua_pushnil(L); lua_next(L, lua_upvalueindex(1)); lua_pop(L, 1))
        nearest_offer(&near, hg_strdup(d->arena, lua_tostring(L, -2)));
    if (own.best && (!near.best || own.distance <= near.distance)) /* the author's names first */
        near = own;
    const char *help = other_name(name);
    if (!near.best && is_called(L, name))
        near.best = longest_beginning(L, name);
    if (!help && near.best)
        help = hg_format(d->arena, "did you mean '%s'?", near.best);
    if (is_called(L, name))
        dsl_fail(L, name,
                 help ? help
                      : "homodyne-gen --words lists all; a function of your own is declared before it is"
                        " used, local function",
                 "there is no function '%s'", name);
    dsl_fail(L, name, help ? help : "names are declared with local", "unknown name '%s'", name);
}

static int env_newindex(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
    dsl_fail(L, name, hg_format(d->arena, "local %s = ...", name), "assignment to '%s', which is not local", name);
}

/* --- the names of the sandbox ----------------------------------------------------------------- */

/* print(...): one line on the stream of the messages, for authors who debug a model. */
static int call_print(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    int n = lua_gettop(L);
    for (int k = 1; k <= n; k++) {
        size_t length;
        const char *text = luaL_tolstring(L, k, &length);
        d->printed += length + 1;
        if (d->printed > MAX_PRINTED)
            dsl_fail(L, "print", "is it inside a loop?", "print() has written more than %d MB", MAX_PRINTED >> 20);
        if (!d->silent)
            fprintf(d->diag->out, "%s%s", k > 1 ? "\t" : "", text);
        lua_pop(L, 1);
    }
    if (!d->silent)
        fputc('\n', d->diag->out);
    return 0;
}

/* string.rep(s, n, sep), upvalue 1, only for results that take memory: for an empty text Lua makes n copies without
 * a limit. */
static int call_rep(lua_State *L)
{
    size_t s, sep = 0;
    luaL_checklstring(L, 1, &s);
    if (!lua_isnoneornil(L, 3))
        luaL_checklstring(L, 3, &sep);
    if (s + sep == 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

/* A function of the library table, upvalue 1. With a position and at least so many arguments, it moves the elements
 * after that position; these count as steps. */
static int call_moving(lua_State *L, int with_position)
{
    enum { MOVES_OF_A_STEP = 8 };
    if (lua_gettop(L) == with_position && lua_type(L, 1) == LUA_TTABLE)
        dsl_of(L)->instructions += lua_rawlen(L, 1) / MOVES_OF_A_STEP;
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

static int call_insert(lua_State *L)
{
    return call_moving(L, 3);
}

static int call_remove(lua_State *L)
{
    return call_moving(L, 2);
}

/* Copies global `name` into the table on top of the stack. */
static void copy_global(lua_State *L, const char *name)
{
    lua_getglobal(L, name);
    lua_setfield(L, -2, name);
}

/* Opens a library of Lua and adds it, without some functions, to the table on top of the stack. */
static void open_library(lua_State *L, const char *name, lua_CFunction open, const char *const *without)
{
    luaL_requiref(L, name, open, 1);
    for (; *without; without++) {
        lua_pushnil(L);
        lua_setfield(L, -2, *without);
    }
    lua_setfield(L, -2, name);
}

/* Replaces a function of a library in the table on top by ours, which has Lua's as its upvalue. */
static void replace(lua_State *L, const char *library, const char *name, lua_CFunction ours)
{
    lua_getfield(L, -1, library);
    lua_getfield(L, -1, name);
    lua_pushcclosure(L, ours, 1);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

/* The table of names is on top: it becomes the prelude's environment. */
static void run_prelude(lua_State *L)
{
    if (luaL_loadbufferx(L, (const char *)embedded_prelude_lua, embedded_prelude_lua_size, "=prelude", "t"))
        hg_bug("prelude: %s", lua_tostring(L, -1));
    lua_pushvalue(L, -2);
    lua_setupvalue(L, -2, 1);
    lua_call(L, 0, 0);
}

void dsl_open_names(lua_State *L)
{
    static const char *const plain[] = {"assert", "error", "ipairs", "select", "tonumber", "tostring", "type"};
    static const char *const no_math[] = {"random", "randomseed", NULL};
    static const char *const no_string[] = {"dump", "find",   "gmatch",   "gsub", "match",
                                            "pack", "unpack", "packsize", NULL};
    static const char *const no_table[] = {"sort", "move", NULL};
    luaL_requiref(L, LUA_GNAME, luaopen_base, 1);
    lua_pop(L, 1);
    lua_newtable(L);
    for (size_t k = 0; k < sizeof plain / sizeof *plain; k++)
        copy_global(L, plain[k]);
    open_library(L, LUA_MATHLIBNAME, luaopen_math, no_math);
    open_library(L, LUA_STRLIBNAME, luaopen_string, no_string);
    replace(L, LUA_STRLIBNAME, "rep", call_rep);
    open_library(L, LUA_TABLIBNAME, luaopen_table, no_table);
    replace(L, LUA_TABLIBNAME, "insert", call_insert);
    replace(L, LUA_TABLIBNAME, "remove", call_remove);
    copy_global(L, "next"); /* for the prelude, which takes it away */
    copy_global(L, "rawget"); /* for complex.lua, the same */
    lua_pushcfunction(L, call_print);
    lua_setfield(L, -2, "print");
    dsl_open_expr(L);
    dsl_open_model(L);
    dsl_open_objective(L);
    run_prelude(L);
    dsl_open_complex(L);
    dsl_open_parameters(L);
}

void dsl_open_environment(lua_State *L)
{
    lua_newtable(L); /* has no names that a model assigns, so that access to them goes through __index */
    lua_pushcfunction(L, dsl_equal);
    lua_setfield(L, -2, "__equal");
    lua_pushcfunction(L, dsl_true);
    lua_setfield(L, -2, "__true");
    lua_newtable(L);
    lua_pushvalue(L, -3);
    lua_pushcclosure(L, env_index, 1);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, env_newindex);
    lua_setfield(L, -2, "__newindex");
    lua_setmetatable(L, -2);
}
