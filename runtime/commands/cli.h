/* cli.h -- the command line: one table of options, from which parsing and --help are made.
 *
 * Takes argv, fills struct fit_cli. Options that change the configuration are not interpreted here: they are kept in
 * order in `change` and passed to fit_config_override. Spellings of the Python packages are accepted; those without a
 * meaning here are kept in `ignored`, to be reported once.
 */
#pragma once

#include "base/status.h"
#include "common/options.h"
#include "fit/kernel.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum fit_command {
    FIT_COMMAND_FIT,
    FIT_COMMAND_EVAL,
    FIT_COMMAND_SIMULATE,
    FIT_COMMAND_INFO,
    FIT_COMMAND_BENCH,
    FIT_COMMAND_CHECK,
    FIT_COMMAND_ESTIMATE,
    FIT_COMMAND_PLAN,
    FIT_COMMAND_EXTRACT,
    FIT_COMMAND_SELFCHECK,
    FIT_COMMAND_INSPECT,
    FIT_COMMAND_INIT,
    FIT_COMMAND_COUNT
};

struct fit_cli_pair {
    const char *name, *value; /* --name value; value NULL for a flag */
};

struct fit_cli {
    enum fit_command command;
    int help, help_all, version;
    size_t nword;
    const char **word; /* arguments that are no options */

    size_t nchange; /* --set, --fix, --phi, ...: for fit_config_override, in order */
    struct fit_cli_pair *change;
    size_t nignored; /* accepted, without effect here */
    struct fit_cli_pair *ignored;

    /* all commands */
    int json, quiet, verbose, lax;
    const char *variant, *isa, *progress;
    const char *device; /* fit, estimate: NULL: cpu; see device/device.h */
    int devices;        /* info: the accelerators of this machine */
    uint64_t threads; /* 0: one per core */

    /* files */
    const char *config, *output, *config_out, *layout, *log;
    const char *dataset, *columns; /* inspect, init: matrices, q=PATH,phi=PATH,t=PATH */
    const char *each; /* fit: the column that distinguishes the curves of a table; NULL: one fit of all rows */

    /* eval, simulate, bench: the experiment */
    uint64_t frames, angles, repeat;
    double dt, q, gap, first_time; /* NaN: not given; q: of inspect and init */
    size_t nq, nphi, ncontrast, noffset;
    double *q_list, *phi, *contrast, *offset; /* q_list: 1/angstrom; more than one: q is an axis */
    size_t ngroups; /* --groups: values of the grouping column of a table model */
    double *groups;
    const char *x;    /* table models: the first covariate as LO:HI:N */
    const char *data; /* table models: a table with all covariates and axes, for eval and simulate */
    int jacobian;
    const char *noise;
    double counts,
        pixels; /* --noise from-counts, speckle: mean counts per pixel and frame (NaN: not given); pixels of a bin */
    uint64_t average; /* --noise speckle: exposures of a frame */
    uint64_t seed;

    double flux, exposure; /* plan: photons per pixel and second, s of a frame; NaN: not given */
    const char *want;      /* plan: NAME=ERROR,.. */

    /* fit; init */
    uint64_t ranks; /* estimate */
    int dry_run, resume, force, profile_time;
    int probe; /* fit: the command was `probe` (program.h) */

    struct command_line line_;
    void *storage_; /* texts made later */
};

/* Parses argv (borrowed: strings are kept as pointers).  On error the message names the option and
 * the nearest one that exists.  Free the result in either case. */
enum fit_status fit_cli_parse(int argc, char *const argv[], struct fit_cli *cli,
                              struct fit_error *err);
void fit_cli_free(struct fit_cli *cli);

/* Room for text that lives as long as cli; NULL: out of memory. */
char *fit_cli_keep(struct fit_cli *cli, size_t size);

/* The option that names the data, --data FILE: the last one takes effect; NULL: there is none. */
const struct fit_cli_pair *fit_cli_data(const struct fit_cli *cli);

/* The source of --help, the manual and the completions of shells: option k of a command, in the order of the table;
 * NULL: there are no more. */
extern const struct option_table fit_cli_table;
const struct option_row *fit_cli_row(enum fit_command command, enum fit_space space, size_t k);

/* Names and bits of the commands, including those of the front end; ended by a name NULL. */
void fit_cli_commands(struct option_command command[FIT_COMMAND_COUNT + 1]);

/* "note: TEXT": on a terminal in lines of 80, for other programs in one. */
void fit_cli_put_note(FILE *f, int is_terminal, const char *text);
/* A line; on a terminal as many as needed, those after the first indented. */
void fit_cli_put_line(FILE *f, int is_terminal, const char *text);

/* The last lines of --help: the meaning of 0 and 2; two NULL: the command has none. */
void fit_cli_put_exit_status(FILE *f, const char *zero, const char *two);

/* Text of --help (all: of --help-all) for the program or, with command < FIT_COMMAND_COUNT, for one command, for a
 * model of tables or of pairs of times.  Caller frees; NULL when memory ran out. */
char *fit_cli_help(const char *program, const char *title, enum fit_space space,
                   enum fit_command command, int all);

/* Name of a command: "fit", "eval", ... */
const char *fit_cli_command_name(enum fit_command command);
