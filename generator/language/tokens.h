/* tokens.h -- the words and signs of a text in Lua, without blanks and comments (Lua 5.4 manual, 3.1). */
#pragma once

#include <stddef.h>

#include "base/memory.h"

enum hg_token_kind { HG_TOKEN_NAME, HG_TOKEN_KEYWORD, HG_TOKEN_NUMBER, HG_TOKEN_STRING, HG_TOKEN_SIGN };

struct hg_token {
    enum hg_token_kind kind;
    size_t at, n; /* place in the text, and length */
};

struct hg_tokens {
    const char *text;
    struct hg_token *item;
    size_t n;
};

/* All tokens of the text; for one that Lua refuses, those that can be recognised. */
struct hg_tokens hg_tokens_of(struct hg_arena *a, const char *text);

/* Is token k this word or sign, or one of a list with blanks between them? */
int hg_token_is(const struct hg_tokens *t, size_t k, const char *words);

/* Can an expression end with token k? Then an operator, an argument, or another statement follows. */
int hg_token_ends_value(const struct hg_tokens *t, size_t k);
