/* roll_text.h -- emitted C as statements and words, for roll.c: the declarations of a statement, and their uses. */
#pragma once

#include <stdint.h>

#include "base/memory.h"

enum roll_kind {
    ROLL_MARK,    /* an operator, a bracket */
    ROLL_NAME,    /* a variable */
    ROLL_FIXED,   /* a word that must be the same: a type, a function, a member */
    ROLL_FIELD,   /* w.NAME or w->NAME of the workspace, as one word; value: its index in the structure */
    ROLL_INTEGER, /* a subscript; value */
    ROLL_NUMBER   /* any other number */
};

struct roll_token {
    const char *s;
    uint32_t size;
    enum roll_kind kind;
    uint32_t value;
    uint32_t def; /* of a name: 1 + the statement that declares it, 0: unknown */
};

struct roll_array {
    const char *name; /* of the values of a name in all turns; NULL: it has none */
    uint32_t place;
};

struct roll_item { /* a statement, or lines that are none */
    const char *s;
    size_t size;
    uint32_t first, ntoken;
    int simple;        /* a declaration or an assignment */
    int comment;
    int depth;         /* of blocks, before it */
    uint32_t declares; /* 1 + the token of the name, 0: none */
    uint32_t last;     /* the last statement that uses that name */
    uint32_t run, place; /* where it was looked at last (roll.c) */
    uint64_t shape;    /* of the tokens without what may differ */
    struct roll_array array;
};

struct roll_text {
    struct hg_arena *a;
    struct roll_token *token;
    struct roll_item *item;
    uint32_t ntoken, nitem, nfield;
    size_t token_room, item_room;
};

struct roll_text *roll_read(struct hg_arena *a, const char *text);
