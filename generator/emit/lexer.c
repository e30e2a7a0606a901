/* lexer.c -- the words of emitted C. */
#include "emit/lexer.h"

#include <stdlib.h>
#include <string.h>

#include "base/names.h"

/* --- spellings ---------------------------------------------------------------------------------------------- */

static uint64_t hash(const char *s, size_t n)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (size_t k = 0; k < n; k++)
        h = (h ^ (unsigned char)s[k]) * 1099511628211u;
    return h;
}

static struct hg_spelling **find(const struct hg_spellings *s, const char *text, size_t size, uint64_t h)
{
    size_t k = (size_t)(h ^ h >> 32) & (s->size - 1);
    while (s->slot[k] && (s->slot[k]->hash != h || s->slot[k]->size != size || memcmp(s->slot[k]->text, text, size)))
        k = (k + 1) & (s->size - 1);
    return &s->slot[k];
}

static void grow(struct hg_spellings *s)
{
    struct hg_spellings larger = {.size = s->size ? 2 * s->size : 256};
    larger.slot = hg_alloc(s->a, larger.size * sizeof *larger.slot);
    for (size_t k = 0; k < s->size; k++)
        if (s->slot[k])
            *find(&larger, s->slot[k]->text, s->slot[k]->size, s->slot[k]->hash) = s->slot[k];
    s->slot = larger.slot;
    s->size = larger.size;
}

struct hg_spelling *hg_spell(struct hg_spellings *s, const char *text, size_t size)
{
    const uint64_t h = hash(text, size);
    if (2 * (s->n + 1) > s->size)
        grow(s);
    struct hg_spelling **at = find(s, text, size, h);
    if (!*at) {
        s->n++;
        *at = hg_alloc(s->a, sizeof **at);
        **at = (struct hg_spelling){.text = text, .size = (uint32_t)size, .hash = h};
    }
    return *at;
}

/* --- words ------------------------------------------------------------------------------------------------ */

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Behind blanks and comments; a comment that does not end here goes on in the next text. */
static const char *skip(const char *s)
{
    for (; *s; s++) {
        if (s[0] == '/' && s[1] == '*') {
            const char *end = strstr(s + 2, "*/");
            if (!end)
                return s + strlen(s);
            s = end + 1;
        } else if (*s != ' ' && *s != '\n') {
            break;
        }
    }
    return s;
}

static size_t size_of_word(const char *s)
{
    size_t n = 0;
    while (hg_in_name(s[n]))
        n++;
    return n;
}

static size_t size_of_number(const char *s)
{
    size_t n = 0;
    while (hg_in_name(s[n]) || s[n] == '.' || ((s[n] == '-' || s[n] == '+') && n && s[n - 1] == 'e'))
        n++;
    return n;
}

static size_t size_of_string(const char *s)
{
    size_t n = 1;
    while (s[n] && s[n] != '"')
        n += s[n] == '\\' && s[n + 1] ? 2 : 1;
    return n + (s[n] == '"');
}

/* The size of . or -> in front of a member; 0: none is here. */
static size_t size_of_access(const char *s)
{
    const size_t n = s[0] == '.' ? 1 : s[0] == '-' && s[1] == '>' ? 2 : 0;
    return n && hg_in_name(s[n]) && !is_digit(s[n]) ? n : 0;
}

static enum hg_token_kind number(const char *s, size_t size, const char *text)
{
    if (s > text && s[-1] == '[' && s[size] == ']' && size < 9 && size_of_word(s) == size)
        return HG_TOKEN_SUBSCRIPT;
    return memchr(s, '.', size) || memchr(s, 'e', size) ? HG_TOKEN_NUMBER : HG_TOKEN_WORD;
}

/* A word; *size grows when it is a table of the workspace. */
static enum hg_token_kind word(const char *s, size_t *size, const char *text)
{
    const char *end = s + *size;
    if (s > text && (s[-1] == '.' || (s[-1] == '>' && s - 1 > text && s[-2] == '-')))
        return HG_TOKEN_MEMBER;
    if (*s == 'w' && *size == 1 && size_of_access(end)) {
        *size += size_of_access(end) + size_of_word(end + size_of_access(end));
        return HG_TOKEN_TABLE;
    }
    return *end == '(' || (end[0] == ' ' && hg_in_name(end[1]) && !is_digit(end[1])) ? HG_TOKEN_WORD : HG_TOKEN_NAME;
}

static struct hg_token next(struct hg_spellings *spellings, const char *s, const char *text)
{
    size_t size = 1;
    enum hg_token_kind kind = HG_TOKEN_MARK;
    if (is_digit(*s)) {
        size = size_of_number(s);
        kind = number(s, size, text);
    } else if (hg_in_name(*s)) {
        size = size_of_word(s);
        kind = word(s, &size, text);
    } else if (*s == '"') {
        size = size_of_string(s);
        kind = HG_TOKEN_WORD;
    }
    struct hg_token x = {hg_spell(spellings, s, size), kind, (uint32_t)(s - text) & 0x1fffffff, 0};
    if (kind == HG_TOKEN_SUBSCRIPT)
        x.spelling->value = (uint32_t)strtoul(s, NULL, 10);
    if (kind == HG_TOKEN_TABLE)
        x.spelling->base = hg_spell(spellings, s, 1);
    return x;
}

struct hg_token *hg_lex(struct hg_spellings *spellings, const char *text, uint32_t *n)
{
    uint32_t count = 0;
    for (const char *s = skip(text); *s; s = skip(s)) {
        if (count == spellings->room || !spellings->token)
            spellings->token = hg_grow(spellings->a, spellings->token, count, 2 * count + 64, sizeof *spellings->token,
                                       &spellings->room);
        spellings->token[count] = next(spellings, s, text);
        s += spellings->token[count++].spelling->size;
    }
    struct hg_token *all = hg_alloc(spellings->a, count * sizeof *all);
    if (count)
        memcpy(all, spellings->token, count * sizeof *all);
    *n = count;
    return all;
}

int hg_is_mark(const struct hg_token *x, char mark)
{
    return x->kind == HG_TOKEN_MARK && *x->spelling->text == mark;
}
