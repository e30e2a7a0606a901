/* dot.h -- the expression graph as a picture: text for graphviz. */
#pragma once

#include <stdio.h>

#include "graph/expr.h"

void hg_dot(const struct hg_expr *e, hg_id root, const char *title, FILE *out);
