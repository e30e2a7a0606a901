/* dsl_place.c -- the position in a model's text that is being run.
 *
 * Lua knows the line of an instruction, not its column. So the text is run with each of its tokens on a line of its own
 * (dsl_equal.c writes it): Lua's line number then identifies a token. For an operator it is the operator; for a call
 * the first token of the called expression (Lua 5.4.0 to 5.4.5) or the one that opens its arguments (later versions);
 * for an element, t.x, a token at or just after it.
 *
 * A message often concerns another token nearby: an option, a variable, the misspelt word. It is searched for within
 * the call, else before the current token, from there backwards.
 */
#include <lauxlib.h>
#include <lua.h>

#include <string.h>

#include "base/names.h"
#include "language/dsl_private.h"
#include "language/tokens.h"

/* The token on that line of the text that is run. */
static size_t token_in_line(const struct dsl_places *p, uint32_t line)
{
    size_t low = 0, high = p->t.n;
    while (low + 1 < high) {
        const size_t middle = (low + high) / 2;
        if (p->line[middle] <= line)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void dsl_places_set(struct dsl *d, struct hg_tokens t)
{
    struct dsl_places *p = &d->places;
    uint32_t run = 1, line = 1;
    size_t at = 0;
    p->t = t;
    p->line = hg_alloc(d->arena, (t.n + 1) * sizeof *p->line);
    p->written = hg_alloc(d->arena, (t.n + 1) * sizeof *p->written);
    for (size_t k = 0; k < t.n; k++) {
        for (; at < t.item[k].at; at++)
            line += t.text[at] == '\n';
        p->written[k] = line;
        p->line[k] = ++run; /* a line end stands before each token */
        for (size_t i = 0; i < t.item[k].n; i++)
            run += t.text[t.item[k].at + i] == '\n';
    }
}

uint32_t dsl_written_line(const struct dsl *d, uint32_t line)
{
    return d->places.line && d->places.t.n ? d->places.written[token_in_line(&d->places, line)] : line;
}

/* The token of the model that is being run; 0: none is. */
static int token_at_work(lua_State *L, size_t *k)
{
    const struct dsl *d = dsl_of(L);
    lua_Debug ar;
    for (int level = 0; d->places.line && d->places.t.n && lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        if (strcmp(ar.source, d->chunk) == 0 && ar.currentline > 0) {
            *k = token_in_line(&d->places, (uint32_t)ar.currentline);
            return 1;
        }
    }
    return 0;
}

uint32_t dsl_line(lua_State *L)
{
    size_t k;
    return token_at_work(L, &k) ? dsl_of(L)->places.written[k] : 0;
}

/* --- calls -------------------------------------------------------------------------------------------- */

static int is_name(const struct hg_tokens *t, size_t k)
{
    return k < t->n && t->item[k].kind == HG_TOKEN_NAME;
}

static int opens_arguments(const struct hg_tokens *t, size_t k)
{
    return k < t->n && (hg_token_is(t, k, "( {") || t->item[k].kind == HG_TOKEN_STRING);
}

/* After the bracket that closes the one at k, or after a text. */
static size_t behind_arguments(const struct hg_tokens *t, size_t k)
{
    size_t depth = 0;
    for (size_t j = k; j < t->n; j++) {
        depth += hg_token_is(t, j, "( [ {") ? 1 : 0;
        depth -= depth > 0 && hg_token_is(t, j, ") ] }");
        if (!depth)
            return j + 1;
    }
    return t->n;
}

/* The bracket that the one at k closes; 0: there is none. */
static size_t opened_by(const struct hg_tokens *t, size_t k)
{
    size_t depth = 0;
    for (; k > 0; k--) {
        depth += hg_token_is(t, k, ") ] }") ? 1 : 0;
        depth -= depth > 0 && hg_token_is(t, k, "( [ {");
        if (!depth)
            break;
    }
    return k;
}

/* The first token of the called expression whose arguments open at k: in model "name" { ... }, `model`. */
static size_t called_by(const struct hg_tokens *t, size_t k)
{
    while (k > 0) {
        if (is_name(t, k - 1)) {
            if (k < 2 || !hg_token_is(t, k - 2, ". :"))
                return k - 1;
            k -= 2;
        } else if (t->item[k - 1].kind == HG_TOKEN_STRING)
            k--;
        else if (hg_token_is(t, k - 1, ") ] }"))
            k = opened_by(t, k - 1);
        else
            break;
    }
    return k;
}

/* The call at token k: its first token, its last name, the position after its arguments; 0: not a call. */
static int call_at(const struct hg_tokens *t, size_t k, size_t *first, size_t *name, size_t *behind)
{
    if (opens_arguments(t, k))
        k = called_by(t, k);
    if (!is_name(t, k))
        return 0;
    *first = *name = k;
    while (k + 2 < t->n && hg_token_is(t, k + 1, ". :") && is_name(t, k + 2))
        *name = k += 2;
    *behind = ++k;
    if (!opens_arguments(t, k))
        return 0;
    while (opens_arguments(t, *behind)) /* model "name" { ... } */
        *behind = behind_arguments(t, *behind);
    return 1;
}

/* --- where a word stands ------------------------------------------------------------------------------ */

/* Position of the word in token k: the token itself, or within a text; -1: it is not there. */
static long place_in(const struct hg_tokens *t, size_t k, const char *word)
{
    const struct hg_token *w = &t->item[k];
    const size_t n = strlen(word);
    const char *text = t->text + w->at;
    if (w->n == n && memcmp(text, word, n) == 0)
        return (long)w->at;
    for (size_t i = 1; w->kind == HG_TOKEN_STRING && i + n < w->n; i++)
        if (memcmp(text + i, word, n) == 0 && !(hg_in_name(word[0]) && hg_in_name(text[i - 1])) &&
            !(hg_in_name(word[n - 1]) && hg_in_name(text[i + n])))
            return (long)(w->at + i);
    if (w->at + n <= strlen(t->text) && w->n < n && memcmp(text, word, n) == 0) /* "math.max", "**" */
        return (long)w->at;
    return -1;
}

static long first_in(const struct hg_tokens *t, size_t from, size_t to, const char *word)
{
    long at = -1;
    for (size_t k = from; at < 0 && k < to && k < t->n; k++)
        at = place_in(t, k, word);
    return at;
}

/* Does a statement begin with token k? */
static int begins_statement(const struct hg_tokens *t, size_t k)
{
    return k == 0 || hg_token_is(t, k, "local return if for while repeat function do then else elseif end ;") ||
           (is_name(t, k) && (hg_token_ends_value(t, k - 1) || hg_token_is(t, k - 1, "end")));
}

/* The word at or before token k in its statement, else after it on the same line. */
static long nearest_to(const struct dsl_places *p, size_t k, const char *word)
{
    size_t j = k;
    long at = place_in(&p->t, j, word);
    while (at < 0 && !begins_statement(&p->t, j))
        at = place_in(&p->t, --j, word);
    for (j = k + 1; at < 0 && j < p->t.n && p->written[j] == p->written[k]; j++)
        at = place_in(&p->t, j, word);
    return at;
}

int dsl_place(lua_State *L, const char *near, size_t *place)
{
    const struct dsl_places *p = &dsl_of(L)->places;
    size_t k, first, name, behind;
    if (!token_at_work(L, &k))
        return 0;
    const int call = call_at(&p->t, k, &first, &name, &behind);
    long at = -1;
    if (near && *near && call)
        at = first_in(&p->t, first, behind, near);
    if (near && *near && at < 0)
        at = nearest_to(p, k, near);
    *place = at >= 0 ? (size_t)at : p->t.item[call ? name : k].at;
    return 1;
}

const char *dsl_beside_call(lua_State *L, size_t *place)
{
    static const char *const word[] = {"and", "or", "not", "then", "do"};
    const struct hg_tokens *t = &dsl_of(L)->places.t;
    size_t k, first, name, behind;
    if (!token_at_work(L, &k) || !call_at(t, k, &first, &name, &behind))
        return NULL;
    for (size_t j = 0; j < sizeof word / sizeof *word; j++) {
        const size_t beside = j < 2 && first > 0 && hg_token_is(t, first - 1, word[j]) ? first - 1
                              : j == 2                                                 ? first - 1
                                                                                       : behind;
        if (beside < t->n && hg_token_is(t, beside, word[j])) {
            *place = t->item[beside].at;
            return word[j];
        }
    }
    return NULL;
}
