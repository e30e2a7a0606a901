/* main.c -- see arrays_main.h. */
#include "arrays/arrays_main.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arrays/arrays_output.h"
#include "base/clock.h"
#include "common/nearest.h"
#include "common/signals.h"
#include "common/stream.h"
#include "common/text.h"
#include "machine/cpu.h"

static atomic_int interrupted;
static atomic_int looks_at_it; /* the command looks at `interrupted` */

struct program {
    const char *name;
    const struct fit_functional *kernel;
    FILE *out, *err;
    int exit_code;
};

/* The objective and the starting x. */
static enum fit_status begin(struct program *q, const struct fit_arrays_options *o, struct fit_arrays *p,
                             struct fit_descent *d, struct fit_error *err)
{
    enum fit_status s = fit_arrays_load(q->kernel, o, p, err);
    if (s != FIT_OK)
        return s;
    *d = (struct fit_descent){.bound = p->bound, .interrupt = &interrupted, .n = fit_bound_unknowns(p->bound)};
    d->identity = fit_arena_string(&p->arena, o->data);
    d->place = fit_take(&p->arena, d->n, sizeof *d->place);
    FIT_TAKE_DOUBLES(&p->arena, d->n, &d->full, &d->gradient, &d->x);
    if (p->arena.failed)
        return fit_no_memory(err, q->kernel->name);
    for (size_t k = 0; k < d->n; k++)
        d->place[k] = k;
    for (uint32_t k = 0; k < q->kernel->narray; k++)
        if (fit_bound_solves(p->bound, k) && p->start[k])
            memcpy(d->x + fit_bound_place(p->bound, q->kernel->array[k].name), p->start[k],
                   p->bound->size[q->kernel->array[k].axis] * sizeof(double));
    for (size_t k = 0; !o->quiet && k < p->notes.n; k++)
        fprintf(q->err, "note: %s\n", p->notes.text[k]);
    return FIT_OK;
}

static enum fit_status finish(struct program *q, struct fit_arrays *p, struct fit_descent *d, int is_fit,
                              struct fit_error *err)
{
    const double value = fit_descent_conclude(d);
    const struct fit_arrays_options *o = p->options;
    if (!o->quiet)
        fit_arrays_print(q->out, p->bound, value);
    if (!isfinite(value))
        return fit_fail(err, FIT_ERR_NUMERIC, "the objective is %g %s", value,
                        is_fit ? "where the optimizer ended" : "at this start");
    const enum fit_status s =
        o->output ? fit_arrays_write(p, o->output, value, d->gradient, is_fit ? &d->result : NULL, err) : FIT_OK;
    if (s == FIT_OK && o->output && !o->quiet)
        fprintf(q->out, "written: %s\n", o->output);
    return s;
}

static enum fit_status evaluate(struct program *q, const struct fit_arrays_options *o, struct fit_error *err)
{
    struct fit_arrays p;
    struct fit_descent d;
    enum fit_status s = begin(q, o, &p, &d, err);
    s = s == FIT_OK ? finish(q, &p, &d, 0, err) : s;
    fit_arrays_free(&p);
    return s;
}

static enum fit_status minimise(struct program *q, const struct fit_arrays_options *o, struct fit_error *err)
{
    struct fit_arrays p;
    struct fit_descent d;
    const double start = fit_seconds();
    enum fit_status s = begin(q, o, &p, &d, err);
    s = s == FIT_OK ? fit_descend(&d, &o->descent, err) : s;
    if (s == FIT_OK) {
        s = finish(q, &p, &d, 1, err);
        q->exit_code = fit_optimize_converged(d.result.end) ? 0 : 2;
        if (!o->quiet)
            fprintf(q->out, "%s: %s; %zu iterations, %zu evaluations, %.2f s\n", fit_optimize_end_name(d.result.end),
                    d.result.reason, d.result.nit, d.result.nfev, fit_seconds() - start);
        if (s == FIT_OK && d.result.end == FIT_OPTIMIZE_USER_STOP)
            s = fit_fail(err, FIT_ERR_INTERRUPTED, "interrupted after %zu iterations", d.result.nit);
    }
    fit_arrays_free(&p);
    return s;
}

static enum fit_status info(struct program *q, const struct fit_arrays_options *o, struct fit_error *err)
{
    fit_arrays_print_objective(q->out, q->kernel);
    if (!o->data)
        return FIT_OK;
    struct fit_arrays p;
    const enum fit_status s = fit_arrays_load(q->kernel, o, &p, err);
    if (s == FIT_OK) {
        fprintf(q->out, "\n%s\n", o->data);
        for (uint32_t k = 0; k < q->kernel->naxis; k++)
            fprintf(q->out, "  %-14s %zu elements\n", q->kernel->axis[k].name, p.bound->size[k]);
        for (uint32_t t = 0; t < q->kernel->nterm; t++)
            if (p.bound->missing >> t & 1)
                fprintf(q->out, "  the term %s cannot be used: there is no '%s'\n", q->kernel->term[t].name,
                        p.bound->lack[t]);
    }
    fit_arrays_free(&p);
    return s;
}

static const struct command {
    const char *name;
    int needs_data, stops;
    enum fit_status (*run)(struct program *q, const struct fit_arrays_options *o, struct fit_error *err);
} commands[] = {{"info", 0, 0, info}, {"eval", 1, 0, evaluate}, {"fit", 1, 1, minimise}};
enum { NCOMMAND = sizeof commands / sizeof *commands };

static enum fit_status run(struct program *q, const struct fit_arrays_options *o, struct fit_error *err)
{
    struct nearest near = {.name = o->command ? o->command : ""};
    if (o->version) {
        fprintf(q->out, "%s %s, objective %s (SHA-256 %.16s...)\n", q->name, FIT_VERSION, q->kernel->name,
                q->kernel->hash);
        return FIT_OK;
    }
    if (o->help || !o->command) {
        fit_arrays_help(q->name, q->kernel->title, o->help ? q->out : q->err);
        return o->help ? FIT_OK : fit_fail(err, FIT_ERR_USAGE, "a command is missing: info, eval, fit");
    }
    for (size_t k = 0; k < NCOMMAND; k++) {
        nearest_offer(&near, commands[k].name);
        if (strcmp(o->command, commands[k].name) != 0)
            continue;
        if (commands[k].needs_data && !o->data)
            return fit_fail(err, FIT_ERR_USAGE, "%s needs data: %s %s DATA.h5", o->command, q->name, o->command);
        atomic_store(&looks_at_it, commands[k].stops);
        return commands[k].run(q, o, err);
    }
    return fit_fail(err, FIT_ERR_USAGE, "no command '%s'%s%s%s; there are info, eval, fit", o->command,
                    near.best ? "; did you mean '" : "", near.best ? near.best : "", near.best ? "'?" : "");
}

int fit_arrays_main(int argc, char **argv, const struct fit_functional *const *kernels)
{
    struct program q = {
        .name = text_file_name(argv[0]), .out = text_stream(STDOUT_FILENO), .err = text_stream(STDERR_FILENO)};
    struct fit_arrays_options o;
    struct fit_error err = {.status = FIT_OK};
    const char *isa = getenv("FIT_ISA");
    q.kernel = fit_functional_pick(kernels, isa);
    signals_catch_for(&interrupted, &looks_at_it);
    enum fit_status s =
        q.kernel ? fit_arrays_parse(argc, argv, &o, &err)
                 : fit_fail(&err, FIT_ERR_USAGE, "no kernel for %s that this machine runs", isa ? isa : "this machine");
    if (q.kernel) {
        s = s == FIT_OK ? run(&q, &o, &err) : s;
        fit_arena_free(&o.arena);
    }
    if (s == FIT_OK && (fflush(q.out) != 0 || ferror(q.out)))
        s = fit_fail(&err, FIT_ERR_IO, "standard output cannot be written");
    if (s != FIT_OK)
        fprintf(q.err, "%s: %s%s\n", q.name, fit_error_word(&err), err.message);
    return s == FIT_OK ? q.exit_code : fit_status_exit(s);
}
