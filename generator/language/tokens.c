/* tokens.c -- the words and signs of a text in Lua (Lua 5.4 manual, 3.1). */
#include "language/tokens.h"

#include "base/names.h"

#include <ctype.h>
#include <string.h>

/* Length of the text in long brackets at s, [[ ... ]] or [=[ ... ]=]; 0: there are none. */
static size_t long_brackets(const char *s)
{
    size_t level = 1 + strspn(s + 1, "=");
    if (*s != '[' || s[level] != '[')
        return 0;
    for (const char *p = s + level; (p = strchr(p, ']')) != NULL; p++)
        if (strspn(p + 1, "=") == level - 1 && p[level] == ']')
            return (size_t)(p - s) + level + 1;
    return strlen(s);
}

static size_t blank(const char *s)
{
    if (isspace((unsigned char)*s))
        return 1;
    if (s[0] != '-' || s[1] != '-')
        return 0;
    size_t n = long_brackets(s + 2);
    return n ? n + 2 : strcspn(s, "\n");
}

static size_t quoted(const char *s)
{
    size_t n = 1;
    while (s[n] && s[n] != *s)
        n += s[n] == '\\' && s[n + 1] ? 2 : 1;
    return n + (s[n] != 0);
}

static size_t number(const char *s)
{
    int hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
    size_t n = 0;
    while (hg_in_name(s[n]) || s[n] == '.' ||
           (n > 0 && (s[n] == '+' || s[n] == '-') && strchr(hex ? "pP" : "eE", s[n - 1])))
        n++;
    return n;
}

static size_t sign(const char *s)
{
    static const char *const several[] = {"...", "==", "~=", "<=", ">=", "//", "::", "<<", ">>", ".."};
    for (size_t k = 0; k < sizeof several / sizeof *several; k++)
        if (strncmp(s, several[k], strlen(several[k])) == 0)
            return strlen(several[k]);
    return 1;
}

static int is_among(const char *words, const char *s, size_t n)
{
    for (size_t m; *words; words += m, words += *words == ' ') {
        m = strcspn(words, " ");
        if (m == n && memcmp(words, s, n) == 0)
            return 1;
    }
    return 0;
}

static struct hg_token token_at(const char *text, size_t at)
{
    const char *s = text + at;
    size_t n = *s == '"' || *s == '\'' ? quoted(s) : long_brackets(s);
    if (n)
        return (struct hg_token){HG_TOKEN_STRING, at, n};
    if (isdigit((unsigned char)*s) || (*s == '.' && isdigit((unsigned char)s[1])))
        return (struct hg_token){HG_TOKEN_NUMBER, at, number(s)};
    while (hg_in_name(s[n]))
        n++;
    if (!n)
        return (struct hg_token){HG_TOKEN_SIGN, at, sign(s)};
    int keyword = is_among("and break do else elseif end false for function goto if in local nil not or repeat return "
                           "then true until while", s, n);
    return (struct hg_token){keyword ? HG_TOKEN_KEYWORD : HG_TOKEN_NAME, at, n};
}

struct hg_tokens hg_tokens_of(struct hg_arena *a, const char *text)
{
    struct hg_tokens t = {.text = text};
    size_t room = 0;
    for (size_t at = 0; text[at];) {
        size_t skip = blank(text + at);
        at += skip;
        if (skip)
            continue;
        t.item = hg_grow(a, t.item, t.n, t.n + 1, sizeof *t.item, &room);
        t.item[t.n] = token_at(text, at);
        at += t.item[t.n++].n;
    }
    return t;
}

int hg_token_is(const struct hg_tokens *t, size_t k, const char *words)
{
    return t->item[k].kind != HG_TOKEN_STRING && is_among(words, t->text + t->item[k].at, t->item[k].n);
}

int hg_token_ends_value(const struct hg_tokens *t, size_t k)
{
    return t->item[k].kind == HG_TOKEN_NAME || t->item[k].kind == HG_TOKEN_NUMBER ||
           t->item[k].kind == HG_TOKEN_STRING || hg_token_is(t, k, ") ] } end nil true false ...");
}
