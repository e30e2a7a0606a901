/* arrays_options.c -- see arrays_options.h. */
#include "arrays/arrays_options.h"

/* Only `fit` uses the options of its optimizer: the other commands refuse them. */
enum { INFO = 1, EVAL = 2, FIT = 4 };
static const struct option_command commands[] = {{"info", INFO}, {"eval", EVAL}, {"fit", FIT}, {NULL, 0}};

#define MANY (unsigned)OPTION_MANY
#define AT(member) offsetof(struct fit_arrays_options, member)
#define FLAG(member) OPTION_FLAG, AT(member), 0
#define TEXT(member) OPTION_TEXT, AT(member), 0
#define COUNT(member) OPTION_COUNT, AT(member), 1
#define REAL(range, member) OPTION_REAL, AT(member), OPTION_##range
#define LIST(kind, member) FIT_OPTION_##kind, AT(member), AT(n##member)

static const struct option_row rows[] = {
    {NULL, 0, NULL, "Objective", 0, OPTION_KEPT},
    {"weight", 0, "TERM=W,..", "terms and their weights; those not named have the weight of the model file", MANY,
     LIST(WEIGHTS, weight)},
    {"set", 0, "NAME=V,..", "numbers of the objective, with or without a unit: --set width=3ms (info lists them)", MANY,
     LIST(TEXTS, set)},
    {"size", 0, "AXIS=N,..", "elements of axes that nothing in the data tells", MANY, LIST(LIMITS, size)},
    {"start", 0, "NAME=V,..", "where all elements of a free array begin; else its dataset in the data, or 0", MANY,
     LIST(TEXTS, start)},
    {"from", 0, "FILE.h5", "where free arrays begin: a result", 0, TEXT(from)},
    {NULL, 0, NULL, "Optimizer", 0, OPTION_KEPT},
    {"optimizer", 0, "NAME",
     "lbfgsb (default) lbfgs-zoom lbfgs-bt adam adamw sgd rmsprop nlsq; or your own: FILE.so:NAME, FILE.lua", FIT,
     TEXT(descent.optimizer)},
    {"maxiter", 0, "N", "iterations (1000)", FIT, COUNT(descent.maxiter)},
    {"ftol", 0, "T", "relative change of J (1e-10)", FIT, REAL(NOT_NEGATIVE, descent.ftol)},
    {"gtol", 0, "T", "largest slope (1e-8)", FIT, REAL(NOT_NEGATIVE, descent.gtol)},
    {"memory", 0, "M", "pairs that L-BFGS keeps (50)", FIT, COUNT(descent.memory)},
    {"maxls", 0, "N", "evaluations of a line search (40)", FIT, COUNT(descent.maxls)},
    {"learning-rate", 0, "R", "first-order methods (0.01)", FIT, REAL(POSITIVE, descent.learning_rate)},
    {"state", 0, "FILE", "a run that goes on: written every 50 iterations", FIT, TEXT(descent.state)},
    {NULL, 0, NULL, "Program", 0, OPTION_KEPT},
    {"output", 'o', "FILE.h5", "the result", 0, TEXT(output)},
    {"threads", 0, "N", "no bit of the result depends on it", 0, COUNT(threads)},
    {"quiet", 'q', NULL, "print errors only", 0, FLAG(quiet)},
    {"help", 'h', NULL, "this text", 0, FLAG(help)},
    {"version", 0, NULL, "version and objective", 0, FLAG(version)},
};
static const struct option_table table = {rows, sizeof rows / sizeof *rows};

enum fit_status fit_arrays_parse(int argc, char **argv, struct fit_arrays_options *o, struct fit_error *err)
{
    const struct option_set all = {.table = {table}, .help = "--help", .other = commands};
    struct command_line line;
    *o = (struct fit_arrays_options){
        .descent = {
            .maxiter = 1000, .memory = 50, .maxls = 40, .ftol = 1e-10, .gtol = 1e-8, .learning_rate = 1e-2}};
    enum fit_status st = fit_options_read_command(&all, argc, argv, &line, err);
    if (st == FIT_OK && line.nword > 2)
        st = fit_fail(err, FIT_ERR_USAGE, "'%s' is one word too many: a command and one file of data", line.word[2]);
    if (st == FIT_OK) {
        o->command = line.nword ? line.word[0] : NULL;
        o->data = line.nword > 1 ? line.word[1] : NULL;
    }
    for (size_t k = 0; st == FIT_OK && k < line.ngiven; k++)
        st = fit_options_store(o, &line.given[k], &o->arena, FIT_ARRAYS_MOST, err);
    options_free(&line);
    return st;
}

void fit_arrays_help(const char *program, const char *title, FILE *out)
{
    fprintf(out, "%s: %s\n\n", program, title);
    fputs("  info [DATA.h5]\n  eval DATA.h5 -o out.h5\n  fit DATA.h5 --weight TERM=W -o out.h5\n", out);
    options_put(out, &table);
}
