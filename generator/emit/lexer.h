/* lexer.h -- the words of emitted C: each text is split into them once, when it is put into a tree.
 *
 * Words that are spelled the same share a spelling, so that they are compared by its address.  Blanks and comments are
 * no words.
 */
#pragma once

#include <stdint.h>

#include "base/memory.h"

enum hg_token_kind {
    HG_TOKEN_MARK,      /* an operator, a bracket: one character */
    HG_TOKEN_NAME,      /* a variable */
    HG_TOKEN_WORD,      /* a type, a function, a keyword, a string, a whole number that is no subscript */
    HG_TOKEN_MEMBER,    /* behind . or -> */
    HG_TOKEN_TABLE,     /* w.NAME or w->NAME, a table of the workspace: the whole of it */
    HG_TOKEN_SUBSCRIPT, /* a number between brackets */
    HG_TOKEN_NUMBER
};

struct hg_spelling {
    const char *text;
    uint32_t size;
    uint32_t value;         /* of a subscript; of a table its number from 1 on, once it is numbered */
    uint64_t hash;          /* of the text */
    struct hg_spelling *base; /* of a table: w */
    uint32_t used, def;     /* for sweeps over a tree: tree.c, roll.c */
};

struct hg_token {
    struct hg_spelling *spelling;
    uint32_t kind : 3, at : 29; /* enum hg_token_kind; where it begins in the text */
    uint32_t def;               /* of a name: 1 + the statement that declares it, 0: unknown (roll.c) */
};

struct hg_spellings {
    struct hg_arena *a;
    struct hg_spelling **slot; /* open addressing, at most half full */
    size_t size, n;
    struct hg_token *token; /* of the text that is split */
    size_t room;
};

struct hg_spelling *hg_spell(struct hg_spellings *s, const char *text, size_t size);

/* The tokens of a text, and how many there are.  The text is kept. */
struct hg_token *hg_lex(struct hg_spellings *s, const char *text, uint32_t *n);

/* 1 when the token is this mark. */
int hg_is_mark(const struct hg_token *x, char mark);
