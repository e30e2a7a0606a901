/* emit_desc.h -- the description of a model as C tables: everything in struct fit_kernel except the code. */
#pragma once

#include <stdio.h>

#include "emit/emit.h"

/* Writes the tables of parameters, settings, axes, columns, curves and starts, then
 *     const struct fit_kernel FIT_KERNEL_SYMBOL = { ... };
 * whose functions are workspace, prepare, moments, normal, model, points, curves and, when there are combinations,
 * combine.  Names made here start with desc_. */
void hg_emit_desc(const struct hg_emit *em, const struct hg_degeneracies *degenerate, FILE *out);

/* A text (NULL: an empty one) as a string of C. */
void hg_desc_string(FILE *out, const char *s);
