/* option_table.h -- command lines of programs whose options are one table: parsing and --help.
 *
 * Options are --NAME VALUE or --NAME=VALUE, also -o for --output and -h for --help; other words go to `word`.  An option
 * that is unknown is refused with the nearest name. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/status.h"

enum fit_option_kind {
    FIT_OPTION_FLAG,    /* int, 1 where it is given */
    FIT_OPTION_TEXT,    /* const char * */
    FIT_OPTION_REAL,    /* double, finite */
    FIT_OPTION_COUNT,   /* size_t, from 1 on */
    FIT_OPTION_NUMBERS, /* NAME=NUMBER,..: an array of fit_named_number, no name twice */
    FIT_OPTION_OTHER    /* fit_option_table.other takes it */
};

struct fit_named_number {
    const char *name;
    double value;
};

struct fit_option_row {
    const char *name;
    enum fit_option_kind kind;
    size_t at, count; /* where the value stands in the options; NUMBERS: where their number does */
    const char *argument, *help, *heading;
    const char *only; /* the command that looks at it; NULL: several */
};

/* Options whose numbers cannot be negative, or must be above 0. */
struct fit_option_range {
    const char *option;
    int above;
};

struct fit_option_table {
    const struct fit_option_row *row;
    size_t nrow;
    const struct fit_option_range *range;
    size_t nrange, most; /* most: elements of each array of NUMBERS */
    void *options;       /* what is filled */
    struct fit_arena *arena;
    enum fit_status (*other)(void *options, const struct fit_option_row *r, const char *text, struct fit_error *err);
    enum fit_status (*word)(void *options, const char *text, struct fit_error *err);
};

/* command: where `word` leaves the command, for options of another one, which are refused.  The texts of argv are
 * borrowed.  FIT_ERR_USAGE. */
enum fit_status fit_option_parse(const struct fit_option_table *t, int argc, char **argv, const char *const *command,
                                 struct fit_error *err);

/* A number, within the range of the option. */
enum fit_status fit_option_real(const struct fit_option_table *t, const char *option, const char *text, double *value,
                                struct fit_error *err);

void fit_option_help(const struct fit_option_table *t, FILE *out);
