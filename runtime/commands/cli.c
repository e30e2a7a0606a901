/* cli.c -- the command line of a fitter: reads it with the table of cli_options.c and stores its values. */
#include "commands/cli_impl.h"

#include "base/command_line.h"
#include "base/units.h"
#include "common/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum fit_status no_memory(struct fit_error *err)
{
    return fit_fail(err, FIT_ERR_MEMORY, "command line: out of memory");
}

/* Strings made here live in a chain until fit_cli_free. */
struct kept {
    struct kept *next;
    char text[];
};

char *fit_cli_keep(struct fit_cli *cli, size_t size)
{
    struct kept *k = malloc(sizeof *k + size);
    if (!k)
        return NULL;
    k->next = cli->storage_;
    cli->storage_ = k;
    return k->text;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Internal unit of an option's number; another unit may follow it: --gap "200 um".
 */
static const char *unit_of(const char *name)
{
    return strcmp(name, "first-time") == 0 ? "s" : fit_units_of(strcmp(name, "phi-angles") == 0 ? "phi" : name);
}

/* A number with an unknown unit, or with one of another quantity. */
static enum fit_status no_unit(const char *name, const char *s, enum fit_quantity q, struct fit_error *err)
{
    return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s'%s; expected is %s", name, s,
                    q == FIT_QUANTITY_NO_UNIT ? ": the text behind the number is not a unit of this quantity"
                                              : " has another kind of unit",
                    unit_of(name));
}

static enum fit_status to_real(const char *name, const char *s, double *value,
                               struct fit_error *err)
{
    const char *unit = unit_of(name);
    enum fit_quantity q = fit_quantity_parse(s, unit, value);
    if ((q == FIT_QUANTITY_BARE || q == FIT_QUANTITY_CONVERTED) && isfinite(*value))
        return FIT_OK;
    if (unit && (q == FIT_QUANTITY_NO_UNIT || q == FIT_QUANTITY_OTHER_KIND))
        return no_unit(name, s, q, err);
    return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is not a number%s%s", name, s,
                    unit ? " in " : "", unit ? unit : "");
}

/* Adds the numbers of "1,2,3" to an array; where the option has a unit, each may have one. */
static enum fit_status add_reals(const char *name, const char *s, size_t *n, double **array,
                                 struct fit_error *err)
{
    while (*s) {
        char one[64];
        const size_t length = strcspn(s, ",");
        double v = NAN;
        snprintf(one, sizeof one, "%.*s", (int)length, s);
        const enum fit_quantity q = fit_quantity_parse(one, unit_of(name), &v);
        if (unit_of(name) && (q == FIT_QUANTITY_NO_UNIT || q == FIT_QUANTITY_OTHER_KIND))
            return no_unit(name, one, q, err);
        if ((q != FIT_QUANTITY_BARE && q != FIT_QUANTITY_CONVERTED) || !isfinite(v))
            return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is not a list of numbers, e.g. %s%s%s", name, s,
                            unit_of(name) ? "0.003,0.006" : "0,45,90", unit_of(name) ? ", in " : "",
                            unit_of(name) ? unit_of(name) : "");
        double *a = realloc(*array, (*n + 1) * sizeof *a);
        if (!a)
            return no_memory(err);
        a[*n] = v;
        *array = a;
        *n += 1;
        s += length + (s[length] == ',');
    }
    return FIT_OK;
}

/* ---- options --------------------------------------------------------------------------------- */

static enum fit_status store(struct fit_cli *cli, const struct option_given *g, struct fit_error *err)
{
    char *at = (char *)cli + g->row->at;
    switch (g->row->kind) {
    case FIT_CLI_QUANTITY: return to_real(g->name, g->value, (double *)(void *)at, err);
    case FIT_CLI_LIST:
        *(size_t *)(void *)at = 0; /* the same again */
        return add_reals(g->name, g->value, (size_t *)(void *)at, (double **)(void *)((char *)cli + g->row->aux), err);
    case FIT_CLI_CHANGE:
        cli->change[cli->nchange++] = (struct fit_cli_pair){g->name, g->value};
        return FIT_OK;
    case FIT_CLI_IGNORED:
        cli->ignored[cli->nignored++] = (struct fit_cli_pair){g->name, g->value};
        return FIT_OK;
    default: return fit_options_store(cli, g, NULL, 0, err);
    }
}

static enum fit_status read_line(struct fit_cli *cli, int argc, char *const argv[], int first, struct fit_error *err)
{
    char help[160];
    struct option_command other[FIT_COMMAND_COUNT + 1];
    const struct option_set set = {.table = {fit_cli_table},
                                   .bit = 1u << cli->command,
                                   .command = fit_cli_command_name(cli->command),
                                   .help = help,
                                   .other = other};
    fit_cli_commands(other);
    snprintf(help, sizeof help, "%.100s %s --help", text_file_name(argv[0]), set.command);
    const enum fit_status st = fit_options_read(&set, argc, argv, first, NULL, &cli->line_, err);
    if (st != FIT_OK)
        return st;
    cli->word = cli->line_.word;
    cli->nword = cli->line_.nword;
    cli->change = calloc(cli->line_.ngiven + 1, sizeof *cli->change);
    cli->ignored = calloc(cli->line_.ngiven + 1, sizeof *cli->ignored);
    return cli->change && cli->ignored ? FIT_OK : no_memory(err);
}

static int find_command(const char *word, enum fit_command *command)
{
    for (size_t k = 0; k < fit_cli_nverb; k++)
        if (strcmp(word, fit_cli_verbs[k].name) == 0 ||
            (fit_cli_verbs[k].alias && strcmp(word, fit_cli_verbs[k].alias) == 0)) {
            *command = fit_cli_verbs[k].command;
            return 1;
        }
    return 0;
}

enum fit_status fit_cli_parse(int argc, char *const argv[], struct fit_cli *cli,
                              struct fit_error *err)
{
    *cli = (struct fit_cli){.command = FIT_COMMAND_FIT,
                            .dt = NAN,
                            .q = NAN,
                            .gap = NAN,
                            .first_time = NAN,
                            .counts = NAN,
                            .flux = NAN,
                            .exposure = NAN,
                            .pixels = 1e5,
                            .seed = 1,
                            .repeat = 9,
                            .angles = 23};
    const int named = argc > 1 && find_command(argv[1], &cli->command);
    enum fit_status st = read_line(cli, argc, argv, named ? 2 : 1, err);
    for (size_t k = 0; st == FIT_OK && k < cli->line_.ngiven; k++)
        st = store(cli, &cli->line_.given[k], err);
    return st;
}

const struct fit_cli_pair *fit_cli_data(const struct fit_cli *cli)
{
    for (size_t k = cli->nchange; k-- > 0;)
        if (strncmp(cli->change[k].name, "data", 4) == 0 && strcmp(cli->change[k].name, "dataset") != 0)
            return &cli->change[k];
    return NULL;
}

void fit_cli_free(struct fit_cli *cli)
{
    for (struct kept *k = cli->storage_, *next; k; k = next) {
        next = k->next;
        free(k);
    }
    options_free(&cli->line_);
    free(cli->change);
    free(cli->ignored);
    free(cli->q_list);
    free(cli->phi);
    free(cli->groups);
    free(cli->contrast);
    free(cli->offset);
    *cli = (struct fit_cli){0};
}
