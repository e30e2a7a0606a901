/* dump.h -- a program between two passes, in one notation, for --dump=PASS.
 *
 * A program is a list of named roots in the graph. Every node that they need stands on a line of its own, operands
 * before the nodes made of them, then the roots:
 *
 *     # pass factor: laminar, variant fast
 *     %12 pow(%3, alpha)    frame    ts_to_alpha
 *     mean = %40
 *
 * A line gives the node's number, the operation, what it varies with (nothing: the same for the whole call) and its
 * name, if any. Leaves and constants appear as their own text instead of a number.
 */
#pragma once

#include <stdio.h>

#include "graph/expr.h"

struct hg_root {
    const char *name;
    hg_id id; /* 0: none, left out */
};

void hg_dump(const struct hg_expr *e, const char *title, uint32_t n, const struct hg_root *root, FILE *out);

/* "frame group": what an expression varies with, or "" for nothing. */
const char *hg_vary_text(struct hg_arena *a, unsigned vary);
