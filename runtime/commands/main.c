/* main.c -- the program: argv to a command, errors to stderr, status to the shell.
 *
 * The only file that prints by itself. Ctrl-C or another of the signals of signals.h asks a fit to stop and to write
 * its results so far (exit status 130). The second Ctrl-C or SIGTERM exits at once, as does the first one in a
 * command that has nothing to write. */
#include "commands/cli.h"
#include "commands/join.h"
#include "commands/program.h"
#include "device/report.h"
#include "machine/cpu.h"
#include "model/registry.h"
#include "ranks/copies.h"
#include "ranks/ending.h"
#include "ranks/ranks.h"
#include "commands/simulate_config.h"

#include "common/signals.h"
#include "common/stream.h"
#include "common/text.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int interrupted; /* the threads of a fit read it: sig_atomic_t would not do, it is for one thread */

static atomic_int asked, looks_at_it; /* the second takes effect; the command checks `interrupted` */

static void on_interrupt(int number)
{
    const int second = signals_insists(number) && atomic_exchange(&asked, 1);
    if (second || !atomic_load(&looks_at_it))
        _exit(130);
    if (!fit_ranks_ask())
        atomic_store(&interrupted, 1);
}

enum fit_status fit_program_kernel(const struct fit_program *p, const struct fit_cli *cli,
                                   const struct fit_kernel **kernel, struct fit_error *err)
{
    return fit_registry_pick(p->kernels, cli->variant, cli->isa, kernel, err);
}

static void print_version(const struct fit_program *p)
{
    const struct fit_kernel *k = p->kernels[0];
    fprintf(p->out, "%s %s, model %s (SHA-256 %.16s...), kernels:", p->name, FIT_VERSION,
            k ? k->name : "none", k ? k->hash : "");
    for (size_t n = 0; p->kernels[n]; n++)
        fprintf(p->out, " %s/%s%s", p->kernels[n]->variant, p->kernels[n]->isa,
                fit_cpu_supports(p->kernels[n]->isa) ? "" : " (not this machine)");
    fprintf(p->out, "\n");
}

static enum fit_status print_help(const struct fit_program *p, FILE *f, enum fit_command command,
                                  int all, struct fit_error *err)
{
    const struct fit_kernel *k = p->kernels[0];
    char *text = fit_cli_help(p->name, k ? k->title : "", k ? k->space : FIT_PAIRS, command,
                              all);
    if (!text)
        return fit_no_memory(err, "help");
    fputs(text, f);
    free(text);
    return FIT_OK;
}

/* `simulate CONFIG.yaml`: values of the configuration replace missing options. */
static enum fit_status read_simulation(const struct fit_program *p, struct fit_cli *cli,
                                       struct fit_error *err)
{
    const struct fit_kernel *k;
    const enum fit_status st = fit_program_kernel(p, cli, &k, err);
    return st == FIT_OK ? fit_simulate_config(cli, k, err) : st;
}

static struct {
    const char *name;
    FILE *to;
} teller; /* also of ranks that are silent otherwise */

/* The run of several ranks cannot go on. */
static void tell_end(const char *why)
{
    fprintf(teller.to, "%s: error: ranks: %s\n", teller.name, why);
    fflush(teller.to);
}

/* Ranks that wait for others which never begin. */
static void on_late(int number)
{
    (void)number;
    _exit(fit_join_late());
}

/* Becomes one of several ranks if a launcher has started several. MPICH uses SIGUSR1 itself. */
static enum fit_status join(struct fit_program *p, const struct fit_cli *cli, struct fit_error *err)
{
    const enum fit_status st = fit_join(fit_cli_command_name(cli->command), p, on_late, &interrupted, err);
    if (fit_ranks_size() > 1)
        signals_catch(on_interrupt);
    fit_ranks_tell(tell_end);
    return st;
}

/* A command that computes, on the requested device. */
static enum fit_status run_command(struct fit_program *p, const struct fit_cli *cli, struct fit_error *err)
{
    static enum fit_status (*const command[])(struct fit_program *, const struct fit_cli *,
                                              struct fit_error *) = {
        [FIT_COMMAND_FIT] = fit_cmd_fit,           [FIT_COMMAND_EVAL] = fit_cmd_eval,
        [FIT_COMMAND_SIMULATE] = fit_cmd_simulate, [FIT_COMMAND_INFO] = fit_cmd_info,
        [FIT_COMMAND_BENCH] = fit_cmd_bench,       [FIT_COMMAND_CHECK] = fit_cmd_check,
        [FIT_COMMAND_ESTIMATE] = fit_cmd_estimate,
        [FIT_COMMAND_PLAN] = fit_cmd_plan,         [FIT_COMMAND_EXTRACT] = fit_cmd_extract,
        [FIT_COMMAND_SELFCHECK] = fit_cmd_selfcheck,
        [FIT_COMMAND_INSPECT] = fit_cmd_inspect,   [FIT_COMMAND_INIT] = fit_cmd_inspect,
    };
    const struct fit_device_wish wish = {cli->device, p->name, p->err, cli->quiet, cli->verbose};
    struct fit_device *device = NULL;
    const int computes = cli->command == FIT_COMMAND_FIT && !cli->probe;
    enum fit_status st = computes ? fit_device_begin(&wish, &device, err) : FIT_OK;
    if (st == FIT_OK)
        st = command[cli->command](p, cli, err);
    fit_device_end(&wish, device);
    return st;
}

static enum fit_status run(struct fit_program *p, struct fit_cli *cli, struct fit_error *err)
{
    if (cli->version) {
        print_version(p);
        return FIT_OK;
    }
    if (cli->help || cli->help_all)
        return print_help(p, p->out, p->argc > 2 ? cli->command : FIT_COMMAND_COUNT, cli->help_all,
                          err);
    if (p->argc < 2) {
        p->exit_code = fit_status_exit(FIT_ERR_USAGE);
        return print_help(p, p->err, FIT_COMMAND_COUNT, 0, err);
    }
    enum fit_status st = FIT_OK;
    if (cli->probe)
        st = fit_device_check(cli->device, err);
    else if (cli->command == FIT_COMMAND_FIT)
        st = join(p, cli, err);
    else if (cli->command == FIT_COMMAND_SIMULATE || cli->command == FIT_COMMAND_EXTRACT)
        st = fit_copies_refuse(fit_cli_command_name(cli->command), 1, err);
    if (st == FIT_OK && cli->command == FIT_COMMAND_SIMULATE && cli->nword)
        st = read_simulation(p, cli, err);
    if (st != FIT_OK)
        return st;
    atomic_store(&looks_at_it, cli->command == FIT_COMMAND_FIT && !cli->probe);
    return run_command(p, cli, err);
}

/* The words of `probe` are those of `fit`; its caller reads one stream. */
static enum fit_status parse(struct fit_program *p, int probe, struct fit_cli *cli, struct fit_error *err)
{
    static char fit[] = "fit";
    if (probe) {
        p->argv[1] = fit;
        teller.to = p->err = p->out;
    }
    const enum fit_status st = fit_cli_parse(p->argc, p->argv, cli, err);
    cli->probe = probe;
    cli->dry_run |= probe;
    return st;
}

int fit_program_main(int argc, char **argv, const struct fit_kernel *const *kernels)
{
    struct fit_program p = {.name = text_file_name(argv[0]),
                            .kernels = kernels,
                            .argc = argc,
                            .argv = argv,
                            .out = text_stream(STDOUT_FILENO),
                            .err = text_stream(STDERR_FILENO),
                            .out_is_terminal = fit_copies_terminal(STDOUT_FILENO),
                            .err_is_terminal = fit_copies_terminal(STDERR_FILENO),
                            .interrupt = &interrupted};
    struct fit_cli cli = {0};
    struct fit_error err = {.status = FIT_OK};
    teller.name = p.name;
    teller.to = p.err;
    const int many = argc > 1 && strcmp(argv[1], "fits") == 0, probe = argc > 1 && strcmp(argv[1], "probe") == 0;
    signals_catch(on_interrupt);
    atomic_store(&looks_at_it, many);
    enum fit_status st = many ? fit_cmd_fits(&p, &err) : parse(&p, probe, &cli, &err);
    const int is_fit = !many && !probe && cli.command == FIT_COMMAND_FIT;
    if (st == FIT_OK && !many)
        st = run(&p, &cli, &err);
    else if (st != FIT_OK && is_fit)
        st = fit_join_failed(&p, on_late, st, &err);
    fit_cli_free(&cli);
    if (st == FIT_OK && (fflush(p.out) != 0 || ferror(p.out)))
        st = fit_fail(&err, FIT_ERR_IO, "standard output cannot be written");
    return fit_ending(teller.name, teller.to, st, &err, p.exit_code, is_fit);
}
