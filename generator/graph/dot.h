/* dot.h -- the expression graph as a picture: text for graphviz. */
#ifndef HG_DOT_H
#define HG_DOT_H

#include <stdio.h>

#include "graph/expr.h"

void hg_dot(const struct hg_expr *e, hg_id root, const char *title, FILE *out);

#endif
