/* dsl_options.c -- reads tables of options: known keys, texts, numbers, lists.
 *
 * Options are tables with known keys; an unknown key is an error that names the nearest one.
 */
#include <math.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "common/text.h"
#include "language/dsl_private.h"
#include "common/nearest.h"

enum { MAX_TEXT = 1 << 16, MAX_ALIASES = 16 };

/* Is `key` among the words of a list such as "unit start bounds"? */
int dsl_is_in(const char *list, const char *key)
{
    size_t n = strlen(key);
    for (const char *s = list; (s = strstr(s, key)) != NULL; s += n) {
        if ((s == list || s[-1] == ' ') && (s[n] == ' ' || s[n] == '\0') && n > 0)
            return 1;
    }
    return 0;
}

const char *dsl_nearest_in(struct dsl *d, const char *list, const char *key)
{
    struct nearest near = {.name = key};
    for (const char *s = list; *s; s += strcspn(s, " "), s += strspn(s, " "))
        nearest_offer(&near, hg_format(d->arena, "%.*s", (int)strcspn(s, " "), s));
    return near.best;
}

/* Fails when the table at t has a key that is not in the list; names the first in the alphabet. */
void dsl_check_keys(lua_State *L, int t, const char *what, const char *list)
{
    struct dsl *d = dsl_of(L);
    const char *bad = NULL;
    for (lua_pushnil(L); lua_next(L, t); lua_pop(L, 1)) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "[1]";
        if (!dsl_is_in(list, key) && (!bad || strcmp(key, bad) < 0))
            bad = hg_strdup(d->arena, key);
    }
    if (!bad)
        return;
    const char *near = dsl_nearest_in(d, list, bad);
    if (strcmp(bad, "[1]") == 0)
        dsl_fail(L, NULL, hg_format(d->arena, "each is written name = value, decimals with a point: %s = 1.5",
                                    hg_format(d->arena, "%.*s", (int)strcspn(list, " "), list)),
                 "%s has a value without a name", what);
    if (strcmp(bad, "integer") == 0)
        dsl_fail(L, bad,
                 "fit with each whole number apart, --fix n=1, --fix n=2, and compare; a number that does not change "
                 "is a setting",
                 "%s has no option '%s': its values are real numbers", what, bad);
    dsl_fail(L, bad, near ? hg_format(d->arena, "did you mean '%s'?", near)
                          : hg_format(d->arena, "known: %s", *list ? list : "nothing"),
             "%s has no option '%s'", what, bad);
}

void dsl_need_table(lua_State *L, int t, const char *usage)
{
    if (lua_type(L, t) != LUA_TTABLE)
        dsl_fail(L, NULL, usage, "a table of options is missing");
}

/* A text argument, copied. */
static const char *text_at(lua_State *L, int i, const char *what)
{
    if (lua_type(L, i) != LUA_TSTRING)
        dsl_fail(L, NULL, dsl_test(L, i)        ? "a text stands in quotes: \"s\""
                          : lua_istable(L, i) ? "the name comes first, then the options: (\"name\", { ... })"
                                              : NULL,
                 "%s must be a text, not %s", what,
                 dsl_test(L, i) ? "an expression" : luaL_typename(L, i));
    size_t n;
    const char *s = lua_tolstring(L, i, &n);
    if (n > MAX_TEXT || strlen(s) != n)
        dsl_fail(L, NULL, NULL, "%s is too long or not a text", what);
    if (strstr(s, "*/") || strstr(s, "/*")) /* texts go into comments of the emitted C */
        dsl_fail(L, NULL, NULL, "%s must not contain /* or */", what);
    for (const char *p = s; *p; p += text_utf8_length(p)) {
        const size_t length = text_utf8_length(p);
        char shown[20];
        text_printable(p, length ? length : 1, 1, shown, sizeof shown);
        if (!length)
            dsl_fail(L, NULL, "save the file as UTF-8", "%s is not UTF-8: the byte %s behind \"%.*s\"", what, shown,
                     (int)(p - s < 40 ? p - s : 40), s);
        if (text_is_control(p, length) && *p != '\n' && *p != '\t')
            dsl_fail(L, NULL, "texts have visible characters, blanks, tabs and new lines",
                     "%s holds the control character %s behind \"%.*s\"", what, shown, (int)(p - s < 40 ? p - s : 40),
                     s);
    }
    return hg_strdup(dsl_of(L)->arena, s);
}

/* Texts are inserted into lines of other files (comments of YAML and C, tables, messages): line ends and the blanks
 * around them become one blank. */
const char *dsl_text_at(lua_State *L, int i, const char *what)
{
    const char *text = text_at(L, i, what);
    if (!strpbrk(text, "\n\t"))
        return text;
    char *line = hg_strdup(dsl_of(L)->arena, text), *end = line;
    for (const char *p = text; *p; p++) {
        const int blank = *p == ' ' || *p == '\n' || *p == '\t';
        if (!blank)
            *end++ = *p;
        else if (end > line && end[-1] != ' ')
            *end++ = ' ';
    }
    while (end > line && end[-1] == ' ')
        end--;
    *end = '\0';
    return line;
}

/* The same under a key, or NULL, with its lines: for texts that are written line by line. */
const char *dsl_lines(lua_State *L, int t, const char *key)
{
    const char *s = NULL;
    if (lua_getfield(L, t, key) != LUA_TNIL)
        s = text_at(L, -1, key);
    lua_pop(L, 1);
    return s;
}

/* Text under a key, or NULL. */
const char *dsl_text(lua_State *L, int t, const char *key)
{
    const char *s = NULL;
    if (lua_getfield(L, t, key) != LUA_TNIL)
        s = dsl_text_at(L, -1, key);
    lua_pop(L, 1);
    return s;
}

/* Number at a stack position; NaN is refused. */
double dsl_number_at(lua_State *L, int i, const char *what)
{
    if (lua_type(L, i) != LUA_TNUMBER || isnan(lua_tonumber(L, i)))
        dsl_fail(L, what,
                 lua_type(L, i) == LUA_TSTRING   ? "numbers stand without quotes, decimals with a point"
                 : lua_type(L, i) == LUA_TNUMBER ? "was something divided by zero?"
                 : dsl_test(L, i) ? "it is wanted while the model is read, when formulas have no value yet"
                                  : NULL,
                 "%s must be a number, not %s", what,
                 lua_type(L, i) == LUA_TNUMBER ? "nan"
                 : dsl_test(L, i)              ? "a formula"
                                               : luaL_typename(L, i));
    return lua_tonumber(L, i);
}

double dsl_number(lua_State *L, int t, const char *key, double otherwise)
{
    double x = otherwise;
    if (lua_getfield(L, t, key) != LUA_TNIL)
        x = dsl_number_at(L, -1, key);
    lua_pop(L, 1);
    return x;
}

/* Texts under a key: "x" or {"x", "y"}; ends with NULL; NULL when absent. */
const char *const *dsl_texts(lua_State *L, int t, const char *key)
{
    struct dsl *d = dsl_of(L);
    const char **list = NULL;
    int type = lua_getfield(L, t, key);
    if (type == LUA_TSTRING) {
        list = hg_alloc(d->arena, 2 * sizeof *list);
        list[0] = dsl_text_at(L, -1, key);
    } else if (type == LUA_TTABLE) {
        lua_Unsigned n = lua_rawlen(L, -1);
        if (n > MAX_ALIASES)
            dsl_fail(L, key, NULL, "%s has more than %d entries", key, MAX_ALIASES);
        list = hg_alloc(d->arena, (size_t)(n + 1) * sizeof *list);
        for (lua_Unsigned k = 0; k < n; k++, lua_pop(L, 1)) {
            lua_rawgeti(L, -1, (lua_Integer)k + 1);
            list[k] = dsl_text_at(L, -1, key);
        }
    } else if (type != LUA_TNIL) {
        dsl_fail(L, key, NULL, "%s must be a text or a list of texts", key);
    }
    lua_pop(L, 1);
    return list;
}

void dsl_check_c_name(lua_State *L, const char *name, const char *what)
{
    if (!hg_name_is_c(name))
        dsl_fail(L, name,
                 "a name has letters, digits and _, starts with a letter, and is not a keyword of C",
                 "'%s' cannot be the name of a %s", name, what);
}

