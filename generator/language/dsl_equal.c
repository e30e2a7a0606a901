/* dsl_equal.c -- comparisons with == and ~= in a model.
 *
 * Lua asks a metamethod only when both sides are of its kind: of an expression and a number it says that they
 * differ, and a model would silently lack what stands behind the `if`.  So before a model is run, `a == b` in it
 * becomes __equal(PLACE, a, b), and `a ~= b` its contrary; lines stay where they are.
 *
 * Where the two sides begin and end: comparisons bind weaker than all operators but `and` and `or`, and are taken
 * from the left (Lua 5.4 manual, 3.4.8).  Each bracket and each block is a level of its own.  The text is one that
 * Lua accepts.
 */
#include <lauxlib.h>
#include <lua.h>

#include <string.h>

#include "language/dsl_private.h"
#include "language/tokens.h"

/* What begins at a token: the last of several is the outermost, a == b == c. */
struct opening {
    const char *text;
    struct opening *inner;
};

/* What is written in the place of token k: `before` it, or instead of it; so many parentheses behind it. */
struct edit {
    struct opening *before;
    const char *instead;
    unsigned behind;
};

struct level {
    size_t start; /* first token of the comparison that may be there */
    int open;     /* the right side of one is being read */
};

struct rewrite {
    struct hg_tokens t;
    struct edit *edit;
    struct level *level;
    size_t depth;
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

const char *dsl_rewrite_equal(struct hg_arena *a, const char *text)
{
    struct rewrite r = {.t = hg_tokens_of(a, text)};
    size_t size = strlen(text) + 1, done = 0;
    r.edit = hg_alloc(a, (r.t.n + 1) * sizeof *r.edit);
    r.level = hg_alloc(a, (r.t.n + 1) * sizeof *r.level);
    for (size_t k = 0; k < r.t.n; k++)
        read_token(&r, a, k);
    close_right_side(&r, r.t.n);
    for (size_t k = 0; k < r.t.n; k++) {
        size += r.edit[k].behind;
        for (const struct opening *o = r.edit[k].before; o; o = o->inner)
            size += strlen(o->text);
    }
    char *out = hg_alloc(a, size), *p = out;
    for (size_t k = 0; k < r.t.n; k++) {
        const struct hg_token *w = &r.t.item[k];
        p = stpncpy(p, text + done, w->at - done);
        for (const struct opening *o = r.edit[k].before; o; o = o->inner)
            p = stpcpy(p, o->text);
        p = r.edit[k].instead ? stpcpy(p, r.edit[k].instead) : stpncpy(p, text + w->at, w->n);
        memset(p, ')', r.edit[k].behind);
        p += r.edit[k].behind;
        done = w->at + w->n;
    }
    stpcpy(p, text + done);
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
