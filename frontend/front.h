/* front.h -- shared by the parts of the program `homodyne`.
 *
 * homodyne is the front end of the fitters: it determines the model of a configuration and runs homodyne-MODEL, which
 * is in the same folder; it compiles a model file named on the command line; and it has the commands that concern more
 * than one fit. It contains no model itself.
 *
 * main.c makes a struct front and passes it to one command; a command writes to f->out (results) and f->err (notes,
 * progress) and returns a status. Exit statuses are those of the fitters.
 */
#ifndef HOMODYNE_FRONT_H
#define HOMODYNE_FRONT_H

#include "base/status.h"
#include "commands/cli.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>

#define FRONT_PATH 4096

struct front {
    const char *name;     /* "homodyne" */
    char dir[FRONT_PATH]; /* folder of this program and of the fitters */
    int argc;         /* as it was called */
    char *const *argv;
    FILE *in, *out, *err;
    int in_is_terminal, out_is_terminal, err_is_terminal;
    const volatile sig_atomic_t *interrupt; /* > 0: the user asked to stop */
    int exit_code; /* set by a command that succeeds with another code than 0 */
};

struct front_args;

/* --version --verbose (about.c). */
void front_about(const struct front *f, int verbose);

/* The instruction-set level for models that are compiled here, "x86-64-v3": that of FIT_ISA, or the best of this
 * machine; "": there is none (compile.c). */
void front_level(char level[16]);

/* ---- the table of commands and options (options.c) ------------------------------------------- */

struct front_command {
    const char *name, *alias;
    const char *usage; /* what follows the name */
    const char *help;  /* one line */
    const char *text;  /* of the manual page: some sentences; NULL: the line is enough */
    /* the fitters' command with the same options, which are passed on; FIT_COMMAND_COUNT: none */
    enum fit_command fitter;
    const char *pass;                  /* its name in the fitters; NULL: the same */
    const struct option_row *option; /* its own, ended by a name NULL; may be NULL */
    enum fit_status (*run)(struct front *f, const struct front_args *a, struct fit_error *err);
    int rare; /* not in the short help of the program */
};

/* Option k of a command for help, manual and completions: its own, then those of the fitters that it accepts as
 * well. NULL: there are no more. rare: not in --help. */
const struct option_row *front_row(const struct front_command *c, size_t k, int *rare);

/* Values that an option accepts, separated by blanks, or NULL. */
const char *front_choices(const char *option);

/* Rows up to the one without a name; NULL: 0. */
size_t front_option_count(const struct option_row *row);

/* Ended by a name NULL; the first is `fit`. */
extern const struct front_command front_commands[];

const struct front_command *front_command_named(const char *word);

/* ---- a parsed command line (args.c) ---------------------------------------------------------- */

struct front_args {
    const struct front_command *command;
    struct command_line own; /* options of the command itself */
    size_t nrest; /* all other words in order: for the fitter, or words of the command */
    char **rest;  /* ended by NULL */
    int help, help_all, quiet, json;
};

/* words: after the name of the command. Options of the fitters stay in `rest`, if the command accepts them. Strings
 * are borrowed. */
enum fit_status front_args_parse(const struct front_command *c, int argc, char **argv,
                                 struct front_args *a, struct fit_error *err);
void front_args_free(struct front_args *a);

/* The value that a long option of the fitters ("--device") has in `rest`; NULL: it is not there. */
const char *front_passed(const struct front_args *a, const char *option);

/* A command's options as words "--name", value, for another program; returns their number. The arrays have room for
 * twice as many; name: room for their names. */
size_t front_put_own(const struct front_args *a, char (*name)[32], char **word);

/* An integer of at least `least`; *value is unchanged when the option was not given. */
enum fit_status front_count(const struct front_args *a, const char *name, long least, long *value,
                            struct fit_error *err);

/* ---- fitters (choose.c) ---------------------------------------------------------------------- */

struct front_fitter {
    char program[FRONT_PATH + 64]; /* path to run */
    char kernel[FRONT_PATH + 64];  /* model compiled at run time: the program's first word; or "" */
    char model[64];                /* its name */
};

/* model: name of an installed model or path of a model file (*.lua), or NULL; config: file, or NULL; mode: the value
 * of --mode, --static-mode, --laminar-flow, or NULL. The file's own mode counts when model is NULL; it must not
 * contradict `mode`. */
enum fit_status front_choose(struct front *f, const char *model, const char *config,
                             const char *mode, int quiet, struct front_fitter *fitter,
                             struct fit_error *err);

/* Names of the installed fitters, sorted; the caller frees each and the list. */
enum fit_status front_fitters(const struct front *f, char ***name, size_t *n,
                              struct fit_error *err);
void front_names_free(char **name, size_t n);

/* The headers that emitted kernels include, in the program (made by the build); ended by a name
 * NULL. */
struct front_header {
    const char *name;
    const unsigned char *text;
    const size_t *size;
};
extern const struct front_header front_headers[];

/* Model file -> kernel in the cache: path into fitter->kernel, name into fitter->model (compile.c).
 */
enum fit_status front_compile(struct front *f, const char *file, int quiet,
                              struct front_fitter *fitter, struct fit_error *err);

/* A folder in the cache for making something, and its lock; if its process is killed, the next one removes it. */
struct front_making {
    char folder[FRONT_PATH + 128]; /* "": none */
    int lock;
};
enum fit_status front_making_begin(struct front_making *m, const char *cache, struct fit_error *err);
void front_making_end(struct front_making *m);

/* Writes the headers of emitted kernels to FOLDER/fit. */
enum fit_status front_write_headers(const char *folder, struct fit_error *err);

/* The C compiler for models; beside: memory for the path of the one in a wheel. */
const char *front_compiler(const struct front *f, char *beside, size_t size);

/* Kernels of a compiled model file for the device that --device in `rest` names, NAME.gpu beside NAME.so; nothing if
 * none is named or available (compile_gpu.c). */
void front_device_kernels(struct front *f, const struct front_args *a, const struct front_fitter *fitter);

/* The same kernel for pages, folder/NAME.wasm, if that can be made (compile_live.c): starts a process, for which the
 * second function waits; 0: none. */
long front_live_begin(const char *folder, const char *source, const char *name);
void front_live_end(long pid, const char *folder, const char *name);

/* Data file and output folder that a configuration names (config_data.c); NULL: none.  The caller
 * frees. */
enum fit_status front_config_places(const char *config, char **data, char **output,
                                    struct fit_error *err);

/* ---- programs (process.c) -------------------------------------------------------------------- */

/* Replaces this process; returns only with an error.  word: ended by NULL, the first is the name.
 */
enum fit_status front_exec(const char *program, char *const *word, struct fit_error *err);

/* Starts a program; standard output and error go to `log` (appended; NULL: to ours). */
enum fit_status front_start(const char *program, char *const *word, const char *log, long *pid,
                            struct fit_error *err);
/* The text of the last line with an error in its log, after the "error: " of main.c; else what the exit code says. */
void front_last_error(const char *log, int code, char *text, size_t size);
/* Waits; *code is the exit status, or 128 + signal. */
enum fit_status front_wait(long pid, int *code, struct fit_error *err);

/* A folder with room for one file, as input of another program; both are removed at the end. folder: empty if there
 * is none. */
struct front_temporary {
    char folder[FRONT_PATH], file[FRONT_PATH + 16];
};
enum fit_status front_temporary_begin(struct front_temporary *t, const char *name, struct fit_error *err);
void front_temporary_end(struct front_temporary *t);
/* Is this process waiting for a program? That gets the signal (for handlers of signals). */
int front_is_waiting(void);
void front_pass_on(int number);
/* 1 when it has ended (then *code is set), 0 when it still runs. */
int front_ended(long pid, int *code);
/* Runs to the end and returns its standard output (the caller frees). */
enum fit_status front_capture(const char *program, char *const *word, char **text, int *code,
                              struct fit_error *err);

/* A word of an argv, which is by tradition not const, and not changed. */
char *front_word(const char *text);

/* The words for running `command` of the fitter with `rest` (n words): first word, kernel, command,
 * rest, NULL.  The caller frees the array. */
char **front_words(const struct front_fitter *fitter, const char *command, char *const *rest,
                   size_t n);

/* ---- commands -------------------------------------------------------------------------------- */

enum fit_status front_cmd_fit(struct front *f, const struct front_args *a, struct fit_error *err);
enum fit_status front_cmd_pass(struct front *f, const struct front_args *a, struct fit_error *err);
enum fit_status front_cmd_validate(struct front *f, const struct front_args *a,
                                   struct fit_error *err);
enum fit_status front_cmd_models(struct front *f, const struct front_args *a,
                                 struct fit_error *err);
enum fit_status front_cmd_config(struct front *f, const struct front_args *a,
                                 struct fit_error *err);
/* config --keys (keys.c) */
enum fit_status front_keys(struct front *f, const struct front_args *a, struct fit_error *err);
enum fit_status front_cmd_compare(struct front *f, const struct front_args *a,
                                  struct fit_error *err);
enum fit_status front_cmd_table(struct front *f, const struct front_args *a, struct fit_error *err);
enum fit_status front_cmd_contin(struct front *f, const struct front_args *a,
                                 struct fit_error *err);
enum fit_status front_cmd_batch(struct front *f, const struct front_args *a, struct fit_error *err);
enum fit_status front_cmd_watch(struct front *f, const struct front_args *a, struct fit_error *err);
enum fit_status front_cmd_view(struct front *f, const struct front_args *a, struct fit_error *err);
/* The program homodyne-view; FIT_ERR_USAGE: this installation has none. */
enum fit_status front_viewer(const struct front *f, char *path, size_t size, struct fit_error *err);
enum fit_status front_cmd_report(struct front *f, const struct front_args *a,
                                 struct fit_error *err);
enum fit_status front_cmd_figure(struct front *f, const struct front_args *a, struct fit_error *err);
enum fit_status front_cmd_compile(struct front *f, const struct front_args *a,
                                  struct fit_error *err);
enum fit_status front_cmd_demo(struct front *f, const struct front_args *a, struct fit_error *err);
enum fit_status front_cmd_mpi(struct front *f, const struct front_args *a, struct fit_error *err);
enum fit_status front_cmd_document(struct front *f, const struct front_args *a,
                                   struct fit_error *err);

/* `completion parameters WORDS..`: the names of parameters that may follow these words (complete.c). */
void front_complete(struct front *f, char *const *word, size_t n);

/* Help of the program (command NULL) or of one command (document.c). */
void front_help(FILE *out, const struct front_command *command, int all);

/* Parses the words that are not the command's own with the fitters' table, as those of their `command`; mistakes are
 * reported as theirs. Free cli in either case (run.c). */
enum fit_status front_parse_rest(const struct front_args *a, const char *command, struct fit_cli *cli,
                                 struct fit_error *err);

/* The model that examines a data file of pairs of times: any installed one. */
const char *front_any_two_time(const struct front *f);

/* --plot-experimental-data and --plot-simulated-data of the Python packages (cmd_plot.c). */
enum fit_status front_plot_package(struct front *f, const struct front_args *a, const char *config, int simulated,
                                   struct fit_error *err);

#endif
