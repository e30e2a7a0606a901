/* dsl_equal.c -- comparisons with == and ~=, and conditions, in a model.
 *
 * Lua calls a metamethod only when both sides are of its kind: an expression and a number are different to Lua, and a
 * model would silently lack the code after the `if`. So before a model is run, `a == b` in it becomes __equal(PLACE, a,
 * b), and `a ~= b` its negation. Nor does Lua call a metamethod for an expression as a condition: `if f then` becomes
 * `if __true(PLACE, f) then`; likewise for elseif and while.
 *
 * Each token is written on a line of its own, so that Lua's line number identifies a token (dsl_place.c).
 *
 * Extent of the two sides: comparisons have a lower precedence than all operators except `and` and `or`, and associate
 * to the left (Lua 5.4 manual, 3.4.8). Each bracket and each block is a level of its own. Lua accepts the text.
 */
#include <lauxlib.h>
#include <lua.h>

#include <string.h>

#include "language/dsl_private.h"
#include "language/tokens.h"

/* Constructs that begin at a token: the last of several is the outermost, a == b == c. */
struct opening {
    const char *text;
    struct opening *inner;
};

/* The text written at token k: `before` it, or instead of it; the number of parentheses after it; `after` it. */
struct edit {
    struct opening *before;
    const char *instead, *after;
    unsigned behind;
};

struct level {
    size_t start; /* first token of a possible comparison */
    int open;     /* the right side of one is being read */
};

/* A loop or a condition, and the depth at which its `then` or `do` stands. */
struct pending {
    size_t depth;
    int condition;
};

struct rewrite {
    struct hg_tokens t;
    struct edit *edit;
    struct level *level;
    size_t depth;
    struct pending *pending; /* conditions and loops still without `then` or `do`, the innermost last */
    size_t npending;
};

static void close_right_side(struct rewrite *r, size_t k)
{
    if (r->level[r->depth].open)
        r->edit[k - 1].behind++;
    r->level[r->depth].open = 0;
}

static void open_level(struct rewrite *r, size_t k)
{
    r->level[++r->depth] = (struct level){k + 1, 0};
}

static void compare(struct rewrite *r, struct hg_arena *a, size_t k)
{
    struct level *level = &r->level[r->depth];
    struct edit *first = &r->edit[level->start];
    struct opening *o = hg_alloc(a, sizeof *o);
    o->text = hg_format(a, "%s __equal(%zu, ", hg_token_is(&r->t, k, "~=") ? " not" : "", r->t.item[k].at);
    o->inner = first->before;
    first->before = o;
    r->edit[k].instead = ",";
    level->open = 1;
}

/* if, elseif, while ... then, do: the tokens between them are a condition. */
static void read_condition(struct rewrite *r, struct hg_arena *a, size_t k)
{
    if (hg_token_is(&r->t, k, "if elseif while for")) {
        const int condition = !hg_token_is(&r->t, k, "for");
        r->pending[r->npending++] = (struct pending){r->depth + (hg_token_is(&r->t, k, "if") ? 1 : 0), condition};
        if (condition)
            r->edit[k].after = hg_format(a, " __true(%zu,", r->t.item[k].at);
    } else if (hg_token_is(&r->t, k, "then do") && r->npending && r->pending[r->npending - 1].depth == r->depth) {
        r->edit[k - 1].behind += r->pending[--r->npending].condition ? 1 : 0;
    }
}

static void read_token(struct rewrite *r, struct hg_arena *a, size_t k)
{
    int after_value = k > 0 && hg_token_ends_value(&r->t, k - 1);
    if (hg_token_is(&r->t, k, ") ] } end until")) {
        close_right_side(r, k);
        r->depth -= r->depth > 0;
        if (hg_token_is(&r->t, k, "until"))
            r->level[r->depth].start = k + 1;
    } else if (hg_token_is(&r->t, k, "== ~=")) {
        close_right_side(r, k);
        compare(r, a, k);
    } else if (hg_token_is(&r->t, k, "< > <= >=")) {
        close_right_side(r, k);
    } else if (hg_token_is(&r->t, k, "( [ {")) {
        open_level(r, k);
    } else if (hg_token_is(&r->t, k, "if do repeat function")) {
        if (!hg_token_is(&r->t, k, "function") || after_value)
            close_right_side(r, k);
        open_level(r, k);
    } else if (hg_token_is(&r->t, k, ", ; = :: and or then else elseif while for in return local break goto")) {
        close_right_side(r, k);
        r->level[r->depth].start = k + 1;
    } else if (after_value && r->t.item[k].kind == HG_TOKEN_NAME) {
        close_right_side(r, k); /* another statement */
    }
}

static size_t size_of(const struct rewrite *r, const char *text)
{
    size_t size = strlen(text) + 1;
    for (size_t k = 0; k < r->t.n; k++) {
        size += r->edit[k].behind + 1 + (r->edit[k].after ? strlen(r->edit[k].after) : 0);
        for (const struct opening *o = r->edit[k].before; o; o = o->inner)
            size += strlen(o->text);
    }
    return size;
}

static char *write_token(const struct rewrite *r, size_t k, char *p)
{
    const struct hg_token *w = &r->t.item[k];
    const struct edit *e = &r->edit[k];
    *p++ = '\n';
    for (const struct opening *o = e->before; o; o = o->inner)
        p = stpcpy(p, o->text);
    p = e->instead ? stpcpy(p, e->instead) : stpncpy(p, r->t.text + w->at, w->n);
    memset(p, ')', e->behind);
    p += e->behind;
    return e->after ? stpcpy(p, e->after) : p;
}

const char *dsl_rewrite_equal(struct dsl *d, const char *text)
{
    struct hg_arena *a = d->arena;
    struct rewrite r = {.t = hg_tokens_of(a, text)};
    r.edit = hg_alloc(a, (r.t.n + 1) * sizeof *r.edit);
    r.level = hg_alloc(a, (r.t.n + 1) * sizeof *r.level);
    r.pending = hg_alloc(a, (r.t.n + 1) * sizeof *r.pending);
    for (size_t k = 0; k < r.t.n; k++) {
        read_condition(&r, a, k);
        read_token(&r, a, k);
    }
    close_right_side(&r, r.t.n);
    char *out = hg_alloc(a, size_of(&r, text)), *p = out;
    for (size_t k = 0; k < r.t.n; k++)
        p = write_token(&r, k, p);
    *p = '\0';
    dsl_places_set(d, r.t);
    return out;
}

/* __equal(place, a, b) */
int dsl_equal(lua_State *L)
{
    lua_settop(L, 3);
    const struct dsl_value *a = dsl_test(L, 2), *b = dsl_test(L, 3);
    const int x = a || dsl_is_complex(L, 2), y = b || dsl_is_complex(L, 3);
    int same = lua_rawequal(L, 2, 3), other = x ? 3 : 2;
    if (!same && ((x && y) || ((x || y) && (lua_type(L, other) == LUA_TNUMBER || lua_isboolean(L, other)))))
        dsl_fail_at(L, (size_t)lua_tointeger(L, 1),
                    "write where(le(abs(a - b), small), x, y)",
                    "expressions cannot be compared with == or ~=: their values are not known yet");
    lua_pushboolean(L, same);
    return 1;
}

/* __true(place, value): the value of a condition that is not a formula. */
int dsl_true(lua_State *L)
{
    lua_settop(L, 2);
    if (dsl_test(L, 2) || dsl_is_complex(L, 2))
        dsl_fail_at(L, (size_t)lua_tointeger(L, 1),
                    "what depends on it is where(lt(a, b), x, y); whether a formula is there at all is f ~= nil",
                    "a formula as a condition: its value is not known yet");
    return 1;
}
