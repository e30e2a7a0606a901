/* command_line.h -- common/options.h with the errors of the runtime, and kinds of values that several programs
 * share. */
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

/* Lists "NAME=VALUE,..", without repeated names: arrays of the structures above, whose number of elements is in
 * `aux`. */
enum fit_option_kind {
    FIT_OPTION_WEIGHTS = OPTION_OTHER, /* numbers, none below 0 */
    FIT_OPTION_LIMITS,                 /* numbers above 0 */
    FIT_OPTION_TEXTS,
    FIT_OPTION_OWN /* this kind and higher ones belong to the program that has the table */
};

/* Reads argv[first] .. and puts values into the structure at `into`; NULL: they are only read.  FIT_ERR_USAGE,
 * FIT_ERR_MEMORY.  `line` is to be freed by options_free() in any case. */
enum fit_status fit_options_read(const struct option_set *set, int argc, char *const *argv, int first, void *into,
                                 struct command_line *line, struct fit_error *err);
/* The same for a program whose first word is the command, one of set->other; the options are those of that command. */
enum fit_status fit_options_read_command(const struct option_set *set, int argc, char *const *argv,
                                         struct command_line *line, struct fit_error *err);

/* Stores one value in the structure at `into`. For lists: arena keeps the names, most is the room of each. */
enum fit_status fit_options_store(void *into, const struct option_given *given, struct fit_arena *arena, size_t most,
                                  struct fit_error *err);
enum fit_status fit_options_real(const char *option, const char *text, enum option_range range, double *x,
                                 struct fit_error *err);
/* Appends the elements of "NAME=NUMBER,.." to a list of *n. */
enum fit_status fit_options_numbers(const struct option_given *given, enum option_range range, struct fit_arena *arena,
                                    size_t most, struct fit_named_number *list, size_t *n, struct fit_error *err);
