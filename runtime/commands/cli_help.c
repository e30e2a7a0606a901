/* cli_help.c -- --help: the tables of cli_options.c in words; row by row for the front end and the
 * manual, too. */
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

int fit_cli_row(enum fit_command command, enum fit_space space, size_t k, struct fit_cli_row *row)
{
    const unsigned without = space == FIT_ROWS ? PAIRS : TABLE;
    for (size_t i = 0; i < fit_cli_noption; i++) {
        const struct fit_cli_option *o = &fit_cli_options[i];
        if (!(o->commands & (1u << command)) || (o->commands & without) || !o->help || k-- > 0)
            continue;
        *row = (struct fit_cli_row){o->name, o->letter, fit_cli_takes_value(o->kind) ? o->argument : NULL,
                                    o->help, (o->commands & RARE) != 0};
        return 1;
    }
    return 0;
}

int fit_cli_command(size_t k, struct fit_cli_command *command)
{
    if (k >= fit_cli_nverb)
        return 0;
    *command = (struct fit_cli_command){fit_cli_verbs[k].name, fit_cli_verbs[k].alias, fit_cli_verbs[k].command,
                                        fit_cli_verbs[k].usage, fit_cli_verbs[k].table, fit_cli_verbs[k].help};
    return 1;
}

void fit_cli_put_wrapped(FILE *f, const char *text, size_t at)
{
    const size_t room = 79 - at;
    while (strlen(text) > room) {
        size_t n = room;
        while (n > 0 && text[n] != ' ')
            n--;
        n = n ? n : strcspn(text, " ");
        fprintf(f, "%.*s\n%*s", (int)n, text, (int)at, "");
        text += n + strspn(text + n, " ");
    }
    fprintf(f, "%s\n", text);
}

void fit_cli_put_note(FILE *f, int is_terminal, const char *text)
{
    static const char head[] = "note: ";
    fputs(head, f);
    if (is_terminal)
        fit_cli_put_wrapped(f, text, sizeof head - 1);
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

void fit_cli_put_row(FILE *f, const struct fit_cli_row *row)
{
    enum { LEFT = 28 };
    char left[64];
    int n = snprintf(left, sizeof left, "%s%c%s--%s%s%s", row->letter ? "-" : " ",
                     row->letter ? row->letter : ' ', row->letter ? ", " : "  ", row->name,
                     row->argument && row->argument[0] != '[' ? " " : "", row->argument ? row->argument : "");
    fprintf(f, "  %-*s ", LEFT - 3, left);
    if (n > LEFT - 3)
        fprintf(f, " "); /* the text begins later, and goes on where it should */
    fit_cli_put_wrapped(f, row->help, n > LEFT - 3 ? (size_t)n + 4 : LEFT);
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
    struct fit_cli_row row;
    int hidden = 0;
    for (size_t k = 0; fit_cli_row(command, space, k, &row); k++)
        if (all || !row.rare)
            fit_cli_put_row(f, &row);
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
