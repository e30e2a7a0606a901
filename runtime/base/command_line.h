/* command_line.h -- common/options.h with errors of the runtime, and kinds of values that several programs have. */
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "common/options.h"

struct fit_named_number {
    const char *name;
    double value;
};

struct fit_named_text {
    const char *name, *text;
};

/* Lists "NAME=VALUE,..", no name twice: arrays of the structures above, whose number of elements stands in `aux`. */
enum fit_option_kind {
    FIT_OPTION_WEIGHTS = OPTION_OTHER, /* numbers, none below 0 */
    FIT_OPTION_LIMITS,                 /* numbers above 0 */
    FIT_OPTION_TEXTS,
    FIT_OPTION_OWN /* this and those above are of the program that has the table */
};

/* Reads argv[first] .. and puts values into the structure at `into`; NULL: they are only read.  FIT_ERR_USAGE,
 * FIT_ERR_MEMORY.  `line` is to be freed by options_free() in any case. */
enum fit_status fit_options_read(const struct option_set *set, int argc, char *const *argv, int first, void *into,
                                 struct command_line *line, struct fit_error *err);
/* The same of a program whose command is the first word: one of set->other, whose options it may have then. */
enum fit_status fit_options_read_command(const struct option_set *set, int argc, char *const *argv,
                                         struct command_line *line, struct fit_error *err);

/* Puts one value into the structure at `into`.  arena, most: of lists, where names are kept, and the room of each. */
enum fit_status fit_options_store(void *into, const struct option_given *given, struct fit_arena *arena, size_t most,
                                  struct fit_error *err);
enum fit_status fit_options_real(const char *option, const char *text, enum option_range range, double *x,
                                 struct fit_error *err);
/* Adds those of "NAME=NUMBER,.." to a list of *n. */
enum fit_status fit_options_numbers(const struct option_given *given, enum option_range range, struct fit_arena *arena,
                                    size_t most, struct fit_named_number *list, size_t *n, struct fit_error *err);
