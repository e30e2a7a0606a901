/* cli_impl.h -- the tables of options and of commands (cli_options.c), from which cli.c parses and
 * cli_help.c explains.  Short names, so that a row of them stays a row: for these three files only.
 *
 * A row says how an option is spelled, what argument it takes, for which commands, where its value
 * goes and one line of help.  Rows with the same name may exist for different commands (--frames is
 * a number for `eval` and a range for `fit`).  Rows without help text are accepted but not shown.
 */
#pragma once

#include "commands/cli.h"

enum fit_cli_kind {
    FLAG,    /* int member becomes 1 */
    LEVEL,   /* int member counts up */
    TEXT,    /* const char * member */
    REAL,    /* double member */
    COUNT,   /* uint64_t member, not negative */
    REALS,   /* size_t member, its array in `aux`: numbers, split by commas or as words */
    CHANGE,  /* one value, to fit_config_override */
    CHANGES, /* numbers in one or more words, joined by commas, to fit_config_override */
    SWITCH,  /* no value, to fit_config_override */
    IGNORE,  /* one value, no effect */
    IGNORE_FLAG
};

/* Bits of fit_cli_option.commands above those of the commands, 1 << enum fit_command. */
#define PAIRS 0x10000u /* --help only: of two-time models */
#define TABLE 0x20000u /* --help only: of models of tables */
#define RARE 0x40000u  /* in --help-all and the manual only */

struct fit_cli_option {
    const char *name; /* "frames"; a last * stands for anything */
    char letter;      /* of the short form, or 0 */
    enum fit_cli_kind kind;
    unsigned commands;
    size_t at, aux; /* offsets into struct fit_cli */
    const char *argument, *help;
};

struct fit_cli_verb {
    const char *name, *alias;
    enum fit_command command;
    const char *usage, *table; /* for two-time models; for tables, NULL: there is no such command */
    const char *help;
    int alone; /* `homodyne` has no command of this name */
};

extern const struct fit_cli_option fit_cli_options[];
extern const size_t fit_cli_noption;
extern const struct fit_cli_verb fit_cli_verbs[];
extern const size_t fit_cli_nverb;

/* Does an option of this kind stand before a value? */
static inline int fit_cli_takes_value(enum fit_cli_kind kind)
{
    return kind != FLAG && kind != LEVEL && kind != SWITCH &&
           kind != IGNORE_FLAG;
}
