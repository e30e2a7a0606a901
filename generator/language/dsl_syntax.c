/* dsl_syntax.c -- the probable mistake in a model that Lua cannot read: a bracket without its other half, a missing
 * comma or operator. Lua names the word where it gave up, and its line; the mistake may be before it.
 */
#include <lua.h>

#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "language/dsl_private.h"
#include "language/tokens.h"

enum { NONE = -1 };

/* Reads the brackets with token `skip` left out, or with one more closing bracket `before` that token; -1: nothing
 * is left out or added. Returns the first token that does not fit (the number of tokens: the text ends too early),
 * -1 when all fit; *open: the bracket that is open there, or -1. */
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

/* The bracket without its other half; -1: none, or it is a block. */
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

/* The ASCII character meant by a letter beyond ASCII; NULL: not known. */
static const char *instead_of(const char *letter, size_t n)
{
    static const char *const known[][2] = {
        {"\xE2\x88\x92", "a minus is -"},        {"\xE2\x80\x93", "a minus is -"},
        {"\xC2\xB7", "a product is *"},          {"\xC3\x97", "a product is *"},
        {"\xE2\x8B\x85", "a product is *"},      {"\xC3\xB7", "a quotient is /"},
        {"\xC2\xB2", "a square is x^2"},         {"\xC2\xB3", "a cube is x^3"},
        {"\xE2\x89\xA4", "at most is le(a, b)"}, {"\xE2\x89\xA5", "at least is ge(a, b)"},
        {"\xE2\x80\x9C", "texts stand in straight quotes: \"tau\""},
        {"\xE2\x80\x9D", "texts stand in straight quotes: \"tau\""},
        {"\xE2\x80\x98", "texts stand in straight quotes: \"tau\""},
        {"\xE2\x80\x99", "texts stand in straight quotes: \"tau\""},
        {"\xE2\x88\x9A", "a square root is sqrt(x)"}, {"\xE2\x88\x9E", "no bound is math.huge"},
        {"\xCF\x80", "it is pi"},                {"\xC2\xB0", "degrees are * deg"},
        {"\xC2\xA0", "blanks are ordinary ones"},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strlen(known[k][0]) == n && memcmp(known[k][0], letter, n) == 0)
            return known[k][1];
    return NULL;
}

int dsl_foreign_letter(struct hg_arena *a, struct hg_diag *d, const char *message)
{
    const struct hg_tokens t = hg_tokens_of(a, d->text);
    if (!strstr(message, "near '<\\"))
        return 0;
    for (size_t k = 0; k < t.n; k++) {
        const char *letter = t.text + t.item[k].at, *help;
        const size_t n = text_utf8_length(letter);
        if (t.item[k].kind == HG_TOKEN_STRING || !(*letter & 0x80))
            continue;
        help = n ? instead_of(letter, n) : "save the file as UTF-8";
        hg_error_at(d, t.item[k].at, help ? help : "names have the letters a to z, digits and _: write tau, D_0",
                    "the letter '%.*s' stands in texts and remarks only", n ? (int)n : 1, letter);
        return 1;
    }
    return 0;
}

/* "... (to close 'function' at line 5) ...": the block without an end. */
static int open_block(const struct hg_tokens *t, struct hg_diag *d, uint32_t line, const char *message)
{
    const char *to = strstr(message, "(to close '"), *at = strstr(message, "at line ");
    const size_t n = to ? strcspn(to + 11, "'") : 0;
    if (strncmp(message, "'end' expected", 14) != 0)
        return 0;
    line = at ? (uint32_t)strtoul(at + 8, NULL, 10) : line;
    for (size_t k = 0; k < t->n; k++)
        if (line_of(t, k) == line && (to ? t->item[k].n == n && memcmp(t->text + t->item[k].at, to + 11, n) == 0
                                         : hg_token_is(t, k, "function if for while do"))) {
            hg_error_at(d, t->item[k].at, "every function, if, for and while ends with `end`", "%s", message);
            return 1;
        }
    return 0;
}

/* A value or a comment where a statement should be. */
static int lone_value(const struct hg_tokens *t, struct hg_diag *d, uint32_t line, const char *message)
{
    for (size_t k = 1; k < t->n; k++)
        if (hg_token_is(t, k, "//") && line_of(t, k) != line_of(t, k - 1)) {
            hg_error_at(d, t->item[k].at, "a remark begins with --", "%s", message);
            return 1;
        }
    if (strncmp(message, "syntax error near", 17) != 0)
        return 0;
    for (size_t k = 1; k < t->n; k++)
        if (line_of(t, k) == line && t->item[k].kind == HG_TOKEN_NAME &&
            (hg_token_ends_value(t, k - 1) || hg_token_is(t, k - 1, "then do else end")) && k + 1 < t->n &&
            hg_token_is(t, k + 1, "+ - * / ^ end ) } ,")) {
            hg_error_at(d, t->item[k].at,
                        "a value alone does nothing: is `return`, `local f =` or a comma missing before it?", "%s",
                        message);
            return 1;
        }
    return 0;
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
    if (open_block(&t, d, line, message) || lone_value(&t, d, line, message))
        return 1;
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
