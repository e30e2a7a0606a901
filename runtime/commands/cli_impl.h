/* cli_impl.h -- the tables of options and of commands (cli_options.c), which cli.c reads and cli_help.c explains. Names
 * are short so that a row of the tables fits on a line: for these three files only.
 *
 * Rows with the same name may exist for different commands (--frames is a number for `eval` and a range for `fit`).
 */
#pragma once

#include "commands/cli.h"

/* Destinations of values, beside the kinds of common/options.h. */
enum fit_cli_kind {
    FIT_CLI_QUANTITY = OPTION_OTHER, /* double member, in the option's unit */
    FIT_CLI_LIST,                    /* size_t member, its array in `aux`: numbers, separated by commas or as words */
    FIT_CLI_CHANGE,                  /* to fit_config_override */
    FIT_CLI_IGNORED                  /* no effect */
};

/* Bits of `where` above those of the commands, 1 << enum fit_command. */
#define PAIRS 0x10000u /* --help only: of two-time models */
#define TABLE 0x20000u /* --help only: of models of tables */
struct fit_cli_verb {
    const char *name, *alias;
    enum fit_command command;
    const char *usage, *table; /* for two-time models; for tables, NULL: there is no such command */
    const char *help;
    int alone; /* `homodyne` has no command of this name */
};

extern const struct fit_cli_verb fit_cli_verbs[];
extern const size_t fit_cli_nverb;
