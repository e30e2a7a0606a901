/* dsl.h -- from a model file to a model.
 *
 * A model file is a Lua 5.4 program that declares symbols and builds expressions. docs/models.md is the guide to the
 * language; a summary stands at the top of prelude.lua. The file is run in a sandbox: no files, no system, no loading
 * of code; at most 64 MB (16 MB in one piece), 20 million instructions, 1 MB printed and 200000 expression nodes. A
 * file from a stranger is safe.
 */
#pragma once

#include <stdio.h>

#include "base/memory.h"
#include "base/diag.h"
#include "model/model.h"

/* Loads a model file.  d->file and d->text are set to the path and the text.  Returns NULL
 * when errors were reported. */
struct hg_model *hg_dsl_load(struct hg_arena *a, const char *path, struct hg_diag *d);

/* The same from a text in memory; `file` is the name used in messages. */
struct hg_model *hg_dsl_load_text(struct hg_arena *a, const char *file, const char *text,
                                  struct hg_diag *d);

/* Prints every name that the language adds to Lua, one per line in alphabetical order: functions and constants
 * ("exp"), members of a model ("m.observe"), units ("second"). */
void hg_dsl_words(struct hg_arena *a, FILE *out);
