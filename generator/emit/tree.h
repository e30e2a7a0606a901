/* tree.h -- C before it is text: statements in blocks.
 *
 * A writer puts statements one after the other; what it opens and closes makes the blocks, and their depth the
 * indentation.  The passes over a tree: hg_tree_trim takes out what nothing uses; hg_roll (roll.h) writes loops in the
 * place of statements that repeat; hg_tree_print prints.
 */
#pragma once

#include <stdio.h>

#include "emit/lexer.h"

enum hg_statement_kind {
    HG_VERBATIM,    /* lines that stand as they are */
    HG_REMARK,      /* a comment of its own */
    HG_DECLARATION, /* of a variable, most times with its value */
    HG_ACTION,      /* an assignment or a call */
    HG_OPENING,     /* the head of a block and its brace */
    HG_CLOSING
};

/* How a statement is put. */
enum {
    HG_OFFERED = 16, /* only where the rest of its block uses what it declares */
    HG_WHOLE = 32    /* in one line, however long */
};

struct hg_statement {
    enum hg_statement_kind kind;
    int depth;                     /* of the block in which it begins */
    const char *text;              /* whole lines */
    struct hg_token *token, *name; /* its words; those that it declares */
    uint32_t ntoken, nname;
    int offered;                   /* to be printed only where a name is used */
};

struct hg_tree {
    struct hg_arena *a;
    struct hg_spellings *spellings;
    struct hg_statement *statement;
    size_t n, room;
    int depth;    /* of blocks that are open */
    char *part;   /* of a line whose end has not come */
    size_t npart, part_room;
};

struct hg_tree *hg_tree_new(struct hg_arena *a);

/* A tree whose statements will stand in another one, in a block of this depth. */
struct hg_tree *hg_tree_part(const struct hg_tree *whole, int depth);

/* A statement of a kind, or of kind | HG_WHOLE, by its format, without the indentation; what is too long is broken. */
void hg_statement(struct hg_tree *t, int kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define hg_do(t, ...) hg_statement(t, HG_ACTION, __VA_ARGS__)
#define hg_remark(t, ...) hg_statement(t, HG_REMARK, __VA_ARGS__)
#define hg_whole(t, ...) hg_statement(t, HG_ACTION | HG_WHOLE, __VA_ARGS__) /* the same, not broken */
#define hg_line(t, ...) hg_statement(t, HG_VERBATIM, __VA_ARGS__) /* anything else */

/* A block: `for (...) {`, `if (...) {` or `{`; its end, } or another text. */
#define hg_open(t, ...) hg_statement(t, HG_OPENING, __VA_ARGS__)
void hg_close(struct hg_tree *t);
void hg_close_with(struct hg_tree *t, const char *text);

/* NAME = VALUE; or NAME; of a type.  A writer offers what a function may need: no line of (void) is wanted. */
void hg_declaration(struct hg_tree *t, int how, const char *type, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define hg_declare(t, ...) hg_declaration(t, 0, __VA_ARGS__)
#define hg_offer(t, ...) hg_declaration(t, HG_OFFERED | HG_WHOLE, __VA_ARGS__)

/* Lines that declare `names` (words with blanks between), printed where one of these is used. */
void hg_define(struct hg_tree *t, const char *names, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Text with its indentation, of one line, several or a part of one. */
void hg_put(struct hg_tree *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The beginning of a function: RESULT NAME(PARAMETERS) {, broken between parameters. */
void hg_open_function(struct hg_tree *t, const char *result, const char *name, const char *parameters);
void hg_close_function(struct hg_tree *t); /* and an empty line */

/* A statement as it is; the statements of a part. */
void hg_tree_append(struct hg_tree *t, const struct hg_statement *s);
void hg_put_tree(struct hg_tree *t, const struct hg_tree *part);

/* Takes out definitions that nothing uses. */
void hg_tree_trim(struct hg_tree *t);

int hg_tree_empty(const struct hg_tree *t);
void hg_tree_print(const struct hg_tree *t, FILE *out);
