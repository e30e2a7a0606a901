/* options.h -- command lines, parsed by tables: one parser for all programs, and the text of --help.
 *
 * A row of a table says how an option is spelled, what it takes, one line of help, and where its value goes. Help,
 * manual pages and completions of shells are made from the same rows. An option is --name, --name=value, --name value,
 * -n or -n value; "--" ends them. Rows with one name may exist for different commands.
 *
 *     static const struct option_row rows[] = {
 *         {"dpi", 0, "N", "of png; default 600", 0, OPTION_AT(REAL, struct wish, dpi)},
 *     };
 *     struct command_line line;
 *     if (options_read(&set, argc, argv, 1, &line, message, sizeof message) == OPTIONS_GOOD) ...
 *     options_free(&line);
 */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include <stddef.h>
#include <stdio.h>

/* Where options_store() puts a value. */
enum option_kind {
    OPTION_KEEP,  /* nowhere: option_value() has it */
    OPTION_FLAG,  /* int becomes 1 */
    OPTION_LEVEL, /* int counts up */
    OPTION_TEXT,  /* const char * */
    OPTION_REAL,  /* double, finite, in the option_range of `aux` */
    OPTION_COUNT, /* size_t, from `aux` on */
    OPTION_OTHER  /* this kind and higher ones belong to the program that has the table */
};

/* `aux` of OPTION_REAL. */
enum option_range { OPTION_ANY, OPTION_NOT_NEGATIVE, OPTION_POSITIVE };

/* Bits of `where` above those of the commands of a program. */
enum {
    OPTION_RARE = 1 << 28,    /* in --help-all and the manual only */
    OPTION_MANY = 1 << 29,    /* may be given again and again */
    OPTION_NUMBERS = 1 << 30, /* further numbers may follow as words: --phi 0 45 90 */
    OPTION_BITS = OPTION_RARE | OPTION_MANY | OPTION_NUMBERS
};

struct option_row {
    const char *name;     /* "frames"; a last * stands for anything; NULL: `help` is a heading */
    char letter;          /* short form, or 0 */
    const char *argument; /* NULL: takes no value; "[=N]": optional value after an equal sign, where "[=N]" itself
                           * refuses a number as the next word; "[N]": or as the next word, unless that is an option */
    const char *help;     /* NULL: accepted, not shown */
    unsigned where;       /* bits: the commands that have it, 0 for all; OPTION_RARE, .. */
    int kind;
    size_t at, aux; /* offsets, or what the kind wants */
};

/* The last three members of a row. */
#define OPTION_KEPT OPTION_KEEP, 0, 0
#define OPTION_AT(kind, type, member) OPTION_##kind, offsetof(type, member), 0

struct option_table {
    const struct option_row *row;
    size_t n;
};

/* A command and its bit. */
struct option_command {
    const char *name;
    unsigned bit;
};

/* What a command line may hold. */
struct option_set {
    struct option_table table[3]; /* in this order; n 0: none */
    unsigned bit;                 /* of the command; 0: rows of all commands */
    const char *command;          /* its name, "fit", or NULL */
    const char *help;             /* where options are listed: "homodyne fit --help" */
    const struct option_command *other; /* commands, ended by a name NULL, to say which one has an option; or NULL */
};

struct option_given {
    const struct option_row *row;
    const char *name, *value; /* as in the row; of a row with * as written; value NULL: none */
    int from, to;             /* words of argv: from <= k < to */
};

struct command_line {
    size_t ngiven, nword;
    struct option_given *given; /* in order */
    const char **word;          /* all other words, in order */
    char *storage_;
};

enum options_end { OPTIONS_GOOD, OPTIONS_WRONG, OPTIONS_NO_MEMORY };

/* Reads argv[first] .. argv[argc - 1]; strings are borrowed. On failure `message` says what is wrong: an unknown
 * option, with the nearest known one; a missing or surplus value; an option with two values that contradict each
 * other. options_free() must be called in any case. */
enum options_end options_read(const struct option_set *set, int argc, char *const *argv, int first,
                              struct command_line *line, char *message, size_t size);
void options_free(struct command_line *line);

/* Stores a value of one of the kinds below OPTION_OTHER in the structure at `into`; 0: message says what is wrong. */
int option_store(void *into, const struct option_given *given, char *message, size_t size);
/* Stores all of them, in order. */
int options_store(void *into, const struct command_line *line, char *message, size_t size);

/* A finite number in a range, as the value of an option; 0: message says what is wrong. */
int option_real(const char *option, const char *text, enum option_range range, double *x, char *message, size_t size);

/* The last value of an option, or NULL; whether it was given. */
const char *option_value(const struct command_line *line, const char *name);
int option_given(const struct command_line *line, const char *name);

/* 1: a command with this bit has the row; bit 0: any. */
int option_belongs(const struct option_row *row, unsigned bit);

/* A row, or a heading, as --help shows it: at most 80 columns. */
void option_put(FILE *f, const struct option_row *row);
/* The rows of a table that have help. */
void options_put(FILE *f, const struct option_table *table);
/* Text from column `at` (the position of the cursor) of a screen of 80, broken at blanks, and a newline. */
void option_put_wrapped(FILE *f, const char *text, size_t at);

#endif
