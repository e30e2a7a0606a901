/* main.c -- an imaging program: argv to a command, errors to stderr, status to the shell. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/nearest.h"
#include "common/signals.h"
#include "common/stream.h"
#include "common/text.h"
#include "device/report.h"
#include "imaging/commands.h"
#include "ranks/copies.h"
#include "ranks/ending.h"

static atomic_int interrupted;
static atomic_int looks_at_it; /* the command looks at `interrupted` */

static enum fit_status pick(struct fit_imaging_program *p, const char *isa, struct fit_error *err)
{
    if (!isa)
        isa = getenv("FIT_ISA");
    p->kernel = fit_functional_pick(p->kernels, isa);
    if (!p->kernel)
        return fit_fail(err, FIT_ERR_USAGE, "no kernel for %s that this machine runs", isa ? isa : "this machine");
    return p->kernel->interface == FIT_FUNCTIONAL_INTERFACE
               ? FIT_OK
               : fit_fail(err, FIT_ERR_INTERNAL, "the objective has interface %u, this program %u; rebuild",
                          p->kernel->interface, FIT_FUNCTIONAL_INTERFACE);
}

static const struct command {
    const char *name;
    int needs_observation, stops, takes_more, alone; /* refuse to run as ranks: all copies would do the same */
    enum fit_status (*run)(struct fit_imaging_program *p, const struct fit_imaging_options *o, struct fit_error *err);
} commands[] = {{"eval", 1, 0, 1, 0, fit_imaging_eval},
                {"fit", 1, 1, 1, 1, fit_imaging_fit},
                {"survey", 1, 1, 1, 0, fit_imaging_survey},
                {"top", 1, 0, 0, 0, fit_imaging_top},
                {"simulate", 1, 0, 0, 1, fit_imaging_simulate},
                {"info", 0, 0, 0, 0, fit_imaging_info}};
static const char command_names[] = "eval, fit, survey, top, simulate, info";
enum { NCOMMAND = sizeof commands / sizeof *commands };

/* A command on the requested device. */
static enum fit_status run_command(struct fit_imaging_program *p, const struct fit_imaging_options *o,
                                   enum fit_status (*run)(struct fit_imaging_program *p,
                                                          const struct fit_imaging_options *o, struct fit_error *err),
                                   struct fit_error *err)
{
    const struct fit_device_wish wish = {o->device, p->name, p->err, o->quiet, o->verbose};
    struct fit_device *device;
    enum fit_status s = fit_device_begin(&wish, &device, err);
    if (s == FIT_OK)
        s = run(p, o, err);
    fit_device_end(&wish, device);
    return s;
}

static enum fit_status run(struct fit_imaging_program *p, const struct fit_imaging_options *o, struct fit_error *err)
{
    struct nearest near = {.name = o->command ? o->command : ""};
    if (o->version) {
        fprintf(p->out, "%s %s, model %s (SHA-256 %.16s...)\n", p->name, FIT_VERSION, p->kernels[0]->name,
                p->kernels[0]->hash);
        return FIT_OK;
    }
    if (o->help || !o->command) {
        fit_imaging_help(p->name, p->kernels[0]->title, o->help ? p->out : p->err);
        return o->help ? FIT_OK : fit_fail(err, FIT_ERR_USAGE, "a command is missing: %s", command_names);
    }
    const enum fit_status s = pick(p, o->isa, err);
    if (s != FIT_OK)
        return s;
    for (size_t k = 0; k < NCOMMAND; k++) {
        nearest_offer(&near, commands[k].name);
        if (strcmp(o->command, commands[k].name) != 0)
            continue;
        if (commands[k].needs_observation && !o->observation)
            return fit_fail(err, FIT_ERR_USAGE, "%s needs an observation: %s %s OBS.h5 ...", o->command, p->name,
                            o->command);
        if (o->nmore && !commands[k].takes_more)
            return fit_fail(err, FIT_ERR_USAGE, "'%s' is one word too many: %s takes one file", o->more[0], o->command);
        atomic_store(&looks_at_it, commands[k].stops);
        const enum fit_status alone = commands[k].alone ? fit_copies_refuse(o->command, 1, err) : FIT_OK;
        return alone == FIT_OK ? run_command(p, o, commands[k].run, err) : alone;
    }
    return fit_fail(err, FIT_ERR_USAGE, "no command '%s'%s%s%s; there are %s", o->command,
                    near.best ? "; did you mean '" : "", near.best ? near.best : "", near.best ? "'?" : "",
                    command_names);
}

int fit_imaging_main(int argc, char **argv, const struct fit_functional *const *kernels)
{
    struct fit_imaging_program p = {.name = text_file_name(argv[0]),
                                    .kernels = kernels,
                                    .out = text_stream(STDOUT_FILENO),
                                    .err = text_stream(STDERR_FILENO),
                                    .err_is_terminal = fit_copies_terminal(STDERR_FILENO),
                                    .interrupt = &interrupted};
    struct fit_imaging_options o;
    struct fit_error err = {.status = FIT_OK};
    signals_catch_for(&interrupted, &looks_at_it);
    enum fit_status s = fit_imaging_parse(argc, argv, &o, &err);
    if (s == FIT_OK)
        s = run(&p, &o, &err);
    fit_imaging_options_free(&o);
    if (s == FIT_OK && (fflush(p.out) != 0 || ferror(p.out)))
        s = fit_fail(&err, FIT_ERR_IO, "standard output cannot be written");
    return fit_ending(p.name, p.err, s, &err, p.exit_code, 0);
}
