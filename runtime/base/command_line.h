/* command_line.h -- common/options.h with errors of the runtime. */
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "common/options.h"

/* Reads argv[first] .. and puts values into the structure at `into`; NULL: they are only read.  FIT_ERR_USAGE,
 * FIT_ERR_MEMORY.  `line` is to be freed by options_free() in any case. */
enum fit_status fit_options_read(const struct option_set *set, int argc, char *const *argv, int first, void *into,
                                 struct command_line *line, struct fit_error *err);

/* One value, FIT_ERR_USAGE. */
enum fit_status fit_options_store(void *into, const struct option_given *given, struct fit_error *err);
enum fit_status fit_options_real(const char *option, const char *text, enum option_range range, double *x,
                                 struct fit_error *err);

struct fit_named_number {
    const char *name;
    double value;
};

/* Adds those of "NAME=NUMBER,.." to a list of *n, no name twice; most: its room.  Names are kept in the arena. */
enum fit_status fit_options_numbers(const struct option_given *given, enum option_range range, struct fit_arena *arena,
                                    size_t most, struct fit_named_number *list, size_t *n, struct fit_error *err);
