/* cli_help.c -- --help: the tables of cli_options.c as text; also row by row for the front end and the manual. */
#include "base/number_text.h"
#include "commands/cli_impl.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *fit_cli_command_name(enum fit_command command)
{
    for (size_t k = 0; k < fit_cli_nverb; k++)
        if (fit_cli_verbs[k].command == command)
            return fit_cli_verbs[k].name;
    return "?";
}

const struct option_row *fit_cli_row(enum fit_command command, enum fit_space space, size_t k)
{
    const unsigned without = space == FIT_ROWS ? PAIRS : TABLE;
    for (size_t i = 0; i < fit_cli_table.n; i++) {
        const struct option_row *o = &fit_cli_table.row[i];
        if (option_belongs(o, 1u << command) && !(o->where & without) && o->help && k-- == 0)
            return o;
    }
    return NULL;
}

void fit_cli_commands(struct option_command command[FIT_COMMAND_COUNT + 1])
{
    for (size_t k = 0; k < fit_cli_nverb; k++)
        if (!fit_cli_verbs[k].alone)
            *command++ = (struct option_command){fit_cli_verbs[k].name, 1u << fit_cli_verbs[k].command};
    *command = (struct option_command){NULL, 0};
}

void fit_cli_put_note(FILE *f, int is_terminal, const char *text)
{
    static const char head[] = "note: ";
    fputs(head, f);
    if (is_terminal)
        option_put_wrapped(f, text, sizeof head - 1);
    else
        fprintf(f, "%s\n", text);
}

void fit_cli_put_line(FILE *f, int is_terminal, const char *text)
{
    if (is_terminal)
        fit_put_wrapped(f, text, 79, 4, INT_MAX);
    else
        fprintf(f, "%s\n", text);
}

void fit_cli_put_exit_status(FILE *f, const char *zero, const char *two)
{
    fprintf(f, "Exit status: 0 %s, 1 internal error, ", zero);
    if (two)
        fprintf(f, "2 %s,\n3 usage or configuration, 4 data, 130 interrupted.\n", two);
    else
        fprintf(f, "3 usage or configuration,\n4 data, 130 interrupted.\n");
}

static void help_options(FILE *f, const char *program, enum fit_command command, enum fit_space space, int all)
{
    const struct option_row *row;
    int hidden = 0;
    for (size_t k = 0; (row = fit_cli_row(command, space, k)); k++)
        if (all || !(row->where & OPTION_RARE))
            option_put(f, row);
        else
            hidden++;
    if (hidden)
        fprintf(f, "  ... and %d more: %s %s --help-all\n", hidden, program, fit_cli_command_name(command));
}

char *fit_cli_help(const char *program, const char *title, enum fit_space space,
                   enum fit_command command, int all)
{
    const int table = space == FIT_ROWS;
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    fprintf(f, "%s: %s\n\n", program, title);
    for (size_t k = 0; k < fit_cli_nverb; k++) {
        if (command != FIT_COMMAND_COUNT && command != fit_cli_verbs[k].command)
            continue;
        const char *usage = table ? fit_cli_verbs[k].table : fit_cli_verbs[k].usage;
        if (!usage && command == fit_cli_verbs[k].command)
            fprintf(f, "%s: for two-time data only; a table needs no more than fit --data FILE\n",
                    fit_cli_verbs[k].name);
        if (!usage)
            continue;
        fprintf(f, "%s %s %s\n    %s%s%s\n", program, fit_cli_verbs[k].name, usage,
                fit_cli_verbs[k].help, fit_cli_verbs[k].alias ? "; also called " : "",
                fit_cli_verbs[k].alias ? fit_cli_verbs[k].alias : "");
    }
    fprintf(f, "\n");
    if (command == FIT_COMMAND_COUNT)
        fprintf(f, "Without a command: fit.  Options of a command: %s COMMAND --help\n", program);
    else
        help_options(f, program, command, space, all);
    fprintf(f, "\n");
    if (command == FIT_COMMAND_COUNT || command == FIT_COMMAND_FIT)
        fit_cli_put_exit_status(f, "converged", "finished but not converged");
    else
        fit_cli_put_exit_status(f, "good", NULL);
    return fit_text_end(f, &text);
}
