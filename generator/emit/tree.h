/* tree.h -- C before it is text: statements in blocks.
 *
 * A writer adds statements one after the other; their braces make the blocks. A definition is a statement with the
 * names that it declares. It is not printed when nothing below it in its block uses one of them: so a writer offers
 * everything that a function may need, and needs no lines with (void).
 */
#pragma once

#include <stdio.h>

#include "base/memory.h"

struct hg_tree;

struct hg_tree *hg_tree_new(struct hg_arena *a);

/* Text, of one line, several or a part of one. */
void hg_put(struct hg_tree *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whole lines that declare `names` (words with blanks between). */
void hg_define(struct hg_tree *t, const char *names, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The beginning of a function: RESULT NAME(PARAMETERS) {, broken between parameters. */
void hg_open_function(struct hg_tree *t, const char *result, const char *name, const char *parameters);

/* The statements of another tree. */
void hg_put_tree(struct hg_tree *t, const struct hg_tree *part);

int hg_tree_empty(const struct hg_tree *t);
void hg_tree_print(const struct hg_tree *t, FILE *out);
