/* args.c -- words of the command line: takes out the options of a command; the others stay. */
#include "base/command_line.h"
#include "frontend/front.h"

#include <stdlib.h>
#include <string.h>

static const struct option_row common[] = {
    {"help", 'h', NULL, "the options most used", OPTION_RARE, OPTION_KEPT},
    {"help-all", 0, NULL, "all options", OPTION_RARE, OPTION_KEPT},
};

size_t front_option_count(const struct option_row *row)
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
    const struct option_set set = {.table = {{c->option, front_option_count(c->option)},
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

/* A command's options stay in `own`, all other words go into `rest`. */
static enum fit_status divide(struct front_args *a, int argc, char **argv, struct fit_error *err)
{
    struct option_given *own = a->own.given;
    size_t next = 0, n = 0;
    a->rest = calloc((size_t)argc + 1, sizeof *a->rest);
    if (!a->rest)
        return fit_no_memory(err, "command line");
    for (int at = 0; at < argc;) {
        const struct option_given *g = next < a->own.ngiven && own[next].from == at ? &own[next++] : NULL;
        const int to = g ? g->to : at + 1;
        if (g && !is_theirs(g->row)) {
            own[n++] = *g;
            at = to;
        } else {
            while (at < to)
                a->rest[a->nrest++] = argv[at++];
        }
    }
    a->own.ngiven = n;
    return FIT_OK;
}

enum fit_status front_args_parse(const struct front_command *c, int argc, char **argv,
                                 struct front_args *a, struct fit_error *err)
{
    struct command_line *line = &a->own;
    *a = (struct front_args){.command = c};
    const enum fit_status st = read_line(c, argc, argv, line, err);
    if (st != FIT_OK)
        return st;
    a->help_all = option_given(line, "help-all");
    a->help = a->help_all || option_given(line, "help");
    a->quiet = option_given(line, "quiet") || option_given(line, "silent");
    a->json = option_given(line, "json");
    return divide(a, argc, argv, err);
}

void front_args_free(struct front_args *a)
{
    options_free(&a->own);
    free(a->rest);
    *a = (struct front_args){0};
}

size_t front_put_own(const struct front_args *a, char (*name)[32], char **word)
{
    size_t n = 0;
    for (size_t k = 0; k < a->own.ngiven; k++) {
        const struct option_given *g = &a->own.given[k];
        snprintf(name[k], sizeof name[k], "--%s", g->name);
        word[n++] = name[k];
        if (g->value)
            word[n++] = front_word(g->value);
    }
    return n;
}

enum fit_status front_count(const struct front_args *a, const char *name, long least, long *value,
                            struct fit_error *err)
{
    const char *text = option_value(&a->own, name);
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

const char *front_passed(const struct front_args *a, const char *option)
{
    const size_t n = strlen(option);
    const char *word = NULL;
    for (size_t k = 0; k < a->nrest; k++)
        if (strncmp(a->rest[k], option, n) == 0) {
            const char *behind = a->rest[k] + n;
            word = *behind == '=' ? behind + 1 : !*behind && k + 1 < a->nrest ? a->rest[k + 1] : word;
        }
    return word;
}
