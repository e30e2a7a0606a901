/* main.c -- the program `homodyne`: argv to a command, errors to stderr, status to the shell. */
#define _XOPEN_SOURCE 700
#include "frontend/front.h"
#include "frontend/names.h"

#include "commands/join.h"
#include "common/nearest.h"
#include "ranks/copies.h"
#include "ranks/ending.h"

#include "common/signals.h"
#include "common/stream.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted, looks_at_it;
static int is_fit = 1; /* the command's copies are ranks of one fit; so is what is not known as another command */

/* A command that has fits of its own, or asks questions, checks `interrupted` and ends them, at the second Ctrl-C or
 * SIGTERM immediately. A program for which it waits gets the signal, unless that comes from the terminal, which
 * sends it there, too. */
static void on_interrupt(int number)
{
    const int insists = signals_insists(number);
    if (front_is_waiting()) {
        if (number != SIGINT)
            front_pass_on(number);
        if (!insists || interrupted++ < 2)
            return;
        _exit(130);
    }
    if (!looks_at_it || (insists && interrupted >= 2))
        _exit(130);
    interrupted = insists || interrupted == 0 ? interrupted + 1 : interrupted;
}

/* The folder of this program, links followed: /proc where there is one, else by argv[0]. */
static enum fit_status find_self(const char *argv0, char dir[FRONT_PATH], struct fit_error *err)
{
    char path[FRONT_PATH], full[PATH_MAX + 1];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n > 0)
        path[n] = '\0';
    else if (strchr(argv0, '/'))
        snprintf(path, sizeof path, "%s", argv0);
    else {
        const char *list = getenv("PATH");
        for (path[0] = '\0'; list && *list; list += strcspn(list, ":"), list += *list == ':') {
            snprintf(path, sizeof path, "%.*s/%s", (int)strcspn(list, ":"), list, argv0);
            if (access(path, X_OK) == 0)
                break;
            path[0] = '\0';
        }
    }
    char *slash = realpath(path, full) ? strrchr(full, '/') : NULL;
    if (!slash || (size_t)(slash - full) >= FRONT_PATH)
        return fit_fail(err, FIT_ERR_INTERNAL, "cannot find the folder of this program");
    *slash = '\0';
    memcpy(dir, full, (size_t)(slash - full) + 1);
    return FIT_OK;
}

const struct front_command *front_command_named(const char *word)
{
    for (const struct front_command *c = front_commands; c->name; c++)
        if (strcmp(word, c->name) == 0 || (c->alias && strcmp(word, c->alias) == 0))
            return c;
    return NULL;
}

/* A first word that is neither a command, nor an option, nor a file: probably a mistyped command.
 */
static enum fit_status check_word(const char *word, struct fit_error *err)
{
    struct nearest near = {.name = word};
    if (word[0] == '-' || strpbrk(word, "./") || access(word, F_OK) == 0)
        return FIT_OK;
    for (const struct front_command *c = front_commands; c->name; c++)
        nearest_offer(&near, c->name);
    return fit_fail(err, FIT_ERR_USAGE, "'%s' is neither a command nor a file%s%s%s; see homodyne --help",
                    word, near.best ? "; did you mean '" : "", near.best ? near.best : "",
                    near.best ? "'?" : "");
}

/* Requests answered here: version, help, names of parameters for completions. */
static int tells(struct front *f, int argc, char **argv)
{
    const char *word = argv[1];
    const struct front_command *c = front_command_named(word), *of = argc > 2 ? front_command_named(argv[2]) : NULL;
    if (argc > 2 && strcmp(word, "completion") == 0 && strcmp(argv[2], "parameters") == 0)
        front_complete(f, argv + 3, (size_t)argc - 3);
    else if (!c && strcmp(word, "--version") == 0)
        front_about(f, argc > 2 && strcmp(argv[2], "--verbose") == 0);
    else if (!c && strcmp(word, "help") == 0 && of)
        front_help(f->out, of, 0);
    else if (!c && (strcmp(word, "help") == 0 || strncmp(word, "--help", 6) == 0 || strcmp(word, "-h") == 0))
        front_help(f->out, NULL, strcmp(word, "--help-all") == 0);
    else
        return 0;
    return 1;
}

static enum fit_status run(struct front *f, int argc, char **argv, struct fit_error *err)
{
    const struct front_command *c = argc > 1 ? front_command_named(argv[1]) : NULL;
    const int first = c ? 2 : 1;
    struct front_args args = {0};
    if (argc < 2 && access("homodyne_config.yaml", R_OK) == 0)
        return front_cmd_fit(f, &(struct front_args){.command = front_commands}, err);
    if (argc < 2) {
        front_help(f->err, NULL, 0);
        f->exit_code = fit_status_exit(FIT_ERR_USAGE);
        return FIT_OK;
    }
    if (tells(f, argc, argv))
        return FIT_OK;
    is_fit = !c || c->run == front_cmd_fit;
    enum fit_status st = c ? FIT_OK : check_word(argv[1], err);
    c = c ? c : front_commands;
    if (st == FIT_OK)
        st = front_args_parse(c, argc - first, argv + first, &args, err);
    if (st == FIT_OK && args.help) {
        front_help(f->out, c, args.help_all);
    } else if (st == FIT_OK) {
        if (c->run == front_cmd_watch || c->run == front_cmd_demo)
            st = fit_copies_refuse(c->name, 1, err);
        if (front_passed(&args, "--isa"))
            setenv("FIT_ISA", front_passed(&args, "--isa"), 1); /* for models that are compiled here, too */
        looks_at_it = c->run == front_cmd_batch || c->run == front_cmd_watch || c->run == front_cmd_config;
        is_fit &= !option_given(&args.own, "plot-simulated-data") && !option_given(&args.own, "plot-experimental-data");
        if (st == FIT_OK)
            st = c->run(f, &args, err);
    }
    front_args_free(&args);
    return st;
}

/* This copy has failed, and waits for others that never begin. */
static void on_late(int number)
{
    (void)number;
    _exit(fit_join_late());
}

int main(int argc, char **argv)
{
    struct fit_error err = {.status = FIT_OK};
    struct front f = {.name = "homodyne",
                      .argc = argc,
                      .argv = argv,
                      .in = stdin,
                      .out = text_stream(STDOUT_FILENO),
                      .err = text_stream(STDERR_FILENO),
                      .in_is_terminal = isatty(STDIN_FILENO),
                      .out_is_terminal = fit_copies_terminal(STDOUT_FILENO),
                      .err_is_terminal = fit_copies_terminal(STDERR_FILENO),
                      .interrupt = &interrupted};
    signals_catch(on_interrupt);
    enum fit_status st = find_self(argv[0], f.dir, &err);
    int done = 0;
    char **const given = argv;
    if (st == FIT_OK)
        st = front_names(&f, &argc, &argv, &done, &err);
    if (st == FIT_OK && !done)
        st = run(&f, argc, argv, &err);
    if (st == FIT_OK && (fflush(f.out) != 0 || ferror(f.out)))
        st = fit_fail(&err, FIT_ERR_IO, "standard output cannot be written");
    if (st != FIT_OK && is_fit)
        st = fit_join_failed(&(struct fit_program){.name = f.name, .argc = f.argc, .argv = given}, on_late, st, &err);
    const int code = fit_ending(f.name, f.err, st, &err, f.exit_code, is_fit);
    if (argv != given)
        free(argv);
    return code;
}
