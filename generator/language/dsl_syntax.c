/* dsl_syntax.c -- what is probably wrong in a model that Lua cannot read: a bracket without its other half, a comma
 * or an operator that is missing.  Lua names the word where it gave up, and its line; the mistake may be before it.
 */
#include <lua.h>

#include <string.h>

#include "language/dsl_private.h"
#include "language/tokens.h"

enum { NONE = -1 };

/* Reads the brackets with token `skip` left out, or closing bracket `before` one more time in front of that token;
 * where nothing is left out or added, -1.  Returns the first token that does not fit (the number of tokens: the text
 * ends before it should), -1 when all do; *open: the bracket that is open there, or -1. */
static long read_brackets(const struct hg_tokens *t, struct hg_arena *a, long skip, long before, long *open)
{
    long *stack = hg_alloc(a, (t->n + 1) * sizeof *stack), n = 0;
    for (long k = 0; k < (long)t->n; k++) {
        const char *closes = hg_token_is(t, (size_t)k, ")")   ? "("
                             : hg_token_is(t, (size_t)k, "]") ? "["
                             : hg_token_is(t, (size_t)k, "}") ? "{"
                             : hg_token_is(t, (size_t)k, "end") ? "function if do"
                             : hg_token_is(t, (size_t)k, "until") ? "repeat"
                                                                  : NULL;
        if (k == before && n > 0)
            n--;
        if (k == skip)
            continue;
        *open = n > 0 ? stack[n - 1] : NONE;
        if (closes && (n == 0 || !hg_token_is(t, (size_t)stack[--n], closes)))
            return k;
        if (n > 0 && hg_token_is(t, (size_t)stack[n - 1], "( [ {") &&
            hg_token_is(t, (size_t)k, "local if do for while repeat return break then else elseif"))
            return k; /* no statement begins inside of brackets */
        if (hg_token_is(t, (size_t)k, "( [ { function if do repeat"))
            stack[n++] = k;
    }
    *open = n > 0 ? stack[n - 1] : NONE;
    return n > 0 ? (long)t->n : NONE;
}

/* The bracket that has no other half; -1: none, or it is a block. */
static long lone_bracket(const struct hg_tokens *t, struct hg_arena *a)
{
    long open, ignored, at = read_brackets(t, a, NONE, NONE, &open);
    if (at == NONE)
        return NONE;
    if (at < (long)t->n && hg_token_is(t, (size_t)at, ") ] }") &&
        (open == NONE || read_brackets(t, a, at, NONE, &ignored) == NONE ||
         !hg_token_is(t, (size_t)open, "( [ {")))
        return at;
    return open != NONE && hg_token_is(t, (size_t)open, "( [ {") ? open : NONE;
}

static uint32_t line_of(const struct hg_tokens *t, size_t k)
{
    uint32_t line = 1;
    for (size_t i = 0; i < t->item[k].at; i++)
        line += t->text[i] == '\n';
    return line;
}

int dsl_syntax_error(struct hg_arena *a, struct hg_diag *d, uint32_t line, const char *message, const char *word)
{
    struct hg_tokens t = hg_tokens_of(a, d->text);
    long lone = lone_bracket(&t, a);
    if (lone != NONE) {
        int closes = hg_token_is(&t, (size_t)lone, ") ] }");
        hg_error_at(d, t.item[lone].at, closes ? "nothing is open that it could close; is it one too many?"
                                               : "this one is not closed", "%s", message);
        return 1;
    }
    if (!word || !strstr(message, "expected"))
        return 0;
    for (size_t k = 1; k < t.n; k++) {
        const struct hg_token *w = &t.item[k];
        if (w->n != strlen(word) || memcmp(d->text + w->at, word, w->n) != 0 || line_of(&t, k) != line ||
            w->kind == HG_TOKEN_KEYWORD || w->kind == HG_TOKEN_SIGN || !hg_token_ends_value(&t, k - 1))
            continue;
        hg_error_at(d, w->at, hg_format(a, "is a comma or an operator missing before '%s'?", word), "%s", message);
        return 1;
    }
    return 0;
}
