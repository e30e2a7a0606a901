/* args.c -- words of the command line: own options of a command are taken out, the rest stays. */
#include "base/command_line.h"
#include "frontend/front.h"

#include <stdlib.h>
#include <string.h>

static const struct option_row common[] = {
    {"help", 'h', NULL, "the options most used", OPTION_RARE, OPTION_KEPT},
    {"help-all", 0, NULL, "all options", OPTION_RARE, OPTION_KEPT},
};

static size_t length(const struct option_row *row)
{
    size_t n = 0;
    while (row && row[n].name)
        n++;
    return n;
}

static enum fit_status read_line(const struct front_command *c, int argc, char **argv, struct command_line *line,
                                 struct fit_error *err)
{
    char help[80];
    struct option_command other[FIT_COMMAND_COUNT + 1];
    const int passes = c->fitter != FIT_COMMAND_COUNT;
    const struct option_set set = {.table = {{c->option, length(c->option)},
                                             {common, sizeof common / sizeof *common},
                                             passes ? fit_cli_table : (struct option_table){NULL, 0}},
                                   .bit = passes ? 1u << c->fitter : 0,
                                   .command = c->name,
                                   .help = help,
                                   .other = other};
    fit_cli_commands(other);
    snprintf(help, sizeof help, "homodyne %.40s --help", c->name);
    return fit_options_read(&set, argc, argv, 0, NULL, line, err);
}

/* Is it an option of the fitters? */
static int is_theirs(const struct option_row *row)
{
    return row >= fit_cli_table.row && row < fit_cli_table.row + fit_cli_table.n;
}

/* Own options go into `own`, the words of all others stay. */
static enum fit_status divide(struct front_args *a, int argc, char **argv, const struct command_line *line,
                              struct fit_error *err)
{
    a->own = calloc((size_t)argc + 1, sizeof *a->own);
    a->rest = calloc((size_t)argc + 1, sizeof *a->rest);
    if (!a->own || !a->rest)
        return fit_no_memory(err, "command line");
    size_t next = 0;
    for (int at = 0; at < argc;) {
        const struct option_given *g = next < line->ngiven ? &line->given[next] : NULL;
        const int here = g && g->from == at;
        if (here && !is_theirs(g->row)) {
            a->own[a->nown++] = (struct fit_cli_pair){g->name, g->value};
            at = g->to;
        } else {
            for (const int to = here ? g->to : at + 1; at < to; at++)
                a->rest[a->nrest++] = argv[at];
        }
        next += here ? 1 : 0;
    }
    return FIT_OK;
}

enum fit_status front_args_parse(const struct front_command *c, int argc, char **argv,
                                 struct front_args *a, struct fit_error *err)
{
    struct command_line line;
    *a = (struct front_args){.command = c};
    enum fit_status st = read_line(c, argc, argv, &line, err);
    if (st == FIT_OK)
        st = divide(a, argc, argv, &line, err);
    if (st == FIT_OK) {
        a->help_all = option_given(&line, "help-all");
        a->help = a->help_all || option_given(&line, "help");
        a->quiet = option_given(&line, "quiet") || option_given(&line, "silent");
        a->json = option_given(&line, "json");
    }
    options_free(&line);
    return st;
}

void front_args_free(struct front_args *a)
{
    free(a->own);
    free(a->rest);
    *a = (struct front_args){0};
}

size_t front_put_own(const struct front_args *a, char (*name)[32], char **word)
{
    size_t n = 0;
    for (size_t k = 0; k < a->nown; k++) {
        snprintf(name[k], sizeof name[k], "--%s", a->own[k].name);
        word[n++] = name[k];
        if (a->own[k].value)
            word[n++] = front_word(a->own[k].value);
    }
    return n;
}

const char *front_value(const struct front_args *a, const char *name)
{
    for (size_t k = a->nown; k-- > 0;)
        if (strcmp(a->own[k].name, name) == 0)
            return a->own[k].value;
    return NULL;
}

int front_given(const struct front_args *a, const char *name)
{
    for (size_t k = 0; k < a->nown; k++)
        if (strcmp(a->own[k].name, name) == 0)
            return 1;
    return 0;
}

enum fit_status front_count(const struct front_args *a, const char *name, long least, long *value,
                            struct fit_error *err)
{
    const char *text = front_value(a, name);
    char *end;
    if (!text)
        return FIT_OK;
    long x = strtol(text, &end, 10);
    if (end == text || *end || x < least || x > 1000000000)
        return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is not a whole number from %ld", name, text,
                        least);
    *value = x;
    return FIT_OK;
}
