/* arrays_options.c -- see arrays_options.h. */
#include "arrays/arrays_options.h"

#include <string.h>

#define AT(field) offsetof(struct fit_arrays_options, field)

static const struct fit_option_row table[] = {
    {"weight", FIT_OPTION_NUMBERS, AT(weight), AT(nweight), "TERM=W,..",
     "terms and their weights; those not named have the weight of the model file", "Objective", NULL},
    {"set", FIT_OPTION_TEXTS, AT(set), AT(nset), "NAME=V,..",
     "numbers of the objective, with or without a unit: --set width=3ms (info lists them)", NULL, NULL},
    {"size", FIT_OPTION_NUMBERS, AT(size), AT(nsize), "AXIS=N,..", "elements of axes that nothing in the data tells",
     NULL, NULL},
    {"start", FIT_OPTION_TEXTS, AT(start), AT(nstart), "NAME=V,..",
     "where all elements of a free array begin; else its dataset in the data, or 0", NULL, NULL},
    {"from", FIT_OPTION_TEXT, AT(from), 0, "FILE.h5", "where free arrays begin: a result", NULL, NULL},
    {"optimizer", FIT_OPTION_TEXT, AT(descent.optimizer), 0, "NAME",
     "lbfgsb (default) lbfgs-zoom lbfgs-bt adam adamw sgd rmsprop nlsq; or your own: FILE.so:NAME, FILE.lua",
     "Optimizer", "fit"},
    {"maxiter", FIT_OPTION_COUNT, AT(descent.maxiter), 0, "N", "iterations (1000)", NULL, "fit"},
    {"ftol", FIT_OPTION_REAL, AT(descent.ftol), 0, "T", "relative change of J (1e-10)", NULL, "fit"},
    {"gtol", FIT_OPTION_REAL, AT(descent.gtol), 0, "T", "largest slope (1e-8)", NULL, "fit"},
    {"memory", FIT_OPTION_COUNT, AT(descent.memory), 0, "M", "pairs that L-BFGS keeps (50)", NULL, "fit"},
    {"maxls", FIT_OPTION_COUNT, AT(descent.maxls), 0, "N", "evaluations of a line search (40)", NULL, "fit"},
    {"learning-rate", FIT_OPTION_REAL, AT(descent.learning_rate), 0, "R", "first-order methods (0.01)", NULL, "fit"},
    {"state", FIT_OPTION_TEXT, AT(descent.state), 0, "FILE", "a run that goes on: written every 50 iterations", NULL,
     "fit"},
    {"output", FIT_OPTION_TEXT, AT(output), 0, "FILE.h5", "the result", "Program", NULL},
    {"threads", FIT_OPTION_COUNT, AT(threads), 0, "N", "no bit of the result depends on it", NULL, NULL},
    {"quiet", FIT_OPTION_FLAG, AT(quiet), 0, NULL, "print errors only", NULL, NULL},
    {"help", FIT_OPTION_FLAG, AT(help), 0, NULL, "this text", NULL, NULL},
    {"version", FIT_OPTION_FLAG, AT(version), 0, NULL, "version and objective", NULL, NULL},
};

static const struct fit_option_range ranges[] = {
    {"weight", 0}, {"size", 1}, {"ftol", 0}, {"gtol", 0}, {"learning-rate", 1}};

static enum fit_status word(void *options, const char *text, struct fit_error *err)
{
    struct fit_arrays_options *o = options;
    const char **to = !o->command ? &o->command : !o->data ? &o->data : NULL;
    if (!to)
        return fit_fail(err, FIT_ERR_USAGE, "'%s' is one word too many: a command and one file of data", text);
    *to = text;
    return FIT_OK;
}

static struct fit_option_table table_of(struct fit_arrays_options *o)
{
    return (struct fit_option_table){.row = table,
                                     .nrow = sizeof table / sizeof *table,
                                     .range = ranges,
                                     .nrange = sizeof ranges / sizeof *ranges,
                                     .most = FIT_ARRAYS_MOST,
                                     .options = o,
                                     .arena = &o->arena,
                                     .word = word};
}

enum fit_status fit_arrays_parse(int argc, char **argv, struct fit_arrays_options *o, struct fit_error *err)
{
    *o = (struct fit_arrays_options){
        .descent = {.maxiter = 1000, .memory = 50, .maxls = 40, .ftol = 1e-10, .gtol = 1e-8, .learning_rate = 1e-2}};
    const struct fit_option_table t = table_of(o);
    return fit_option_parse(&t, argc, argv, &o->command, err);
}

void fit_arrays_help(const char *program, const char *title, FILE *out)
{
    struct fit_arrays_options none = {.command = NULL};
    const struct fit_option_table t = table_of(&none);
    fprintf(out, "%s: %s\n\n", program, title);
    fputs("  info [DATA.h5]\n  eval DATA.h5 -o out.h5\n  fit DATA.h5 --weight TERM=W -o out.h5\n", out);
    fit_option_help(&t, out);
}
