/* document.c -- help, manual pages and completions, from the tables of options.c and runtime/commands/cli.c.
 */
#define _POSIX_C_SOURCE 200809L
#include "frontend/front.h"

#include <stdlib.h>
#include <string.h>

/* The meaning of the exit statuses 0 and 2 of a command; two NULL: it has none. */
struct ends {
    const char *zero, *two;
};

static struct ends ends_of(const struct front_command *c)
{
    if (c->run == front_cmd_compare)
        return (struct ends){"the results agree", "they differ"};
    if (c->run == front_cmd_batch)
        return (struct ends){"all converged", "some fits have not"};
    if (c->fitter == FIT_COMMAND_FIT || c->run == front_cmd_demo)
        return (struct ends){"converged", "finished but not converged"};
    return (struct ends){"good", NULL};
}

/* ---- help ------------------------------------------------------------------------------------ */

static void help_program(FILE *f, int all)
{
    fprintf(f, "homodyne %s: fits of X-ray photon correlation data, and of any model file\n\n",
            FIT_VERSION);
    for (const struct front_command *c = front_commands; c->name; c++)
        if (all || !c->rare)
            fprintf(f, "  %-11s %s\n", c->name, c->help);
    fprintf(f,
            "\nFirst:   homodyne config --mode MODE --data data.h5 -o my.yaml   (alone it asks)\n"
            "         homodyne validate my.yaml; homodyne fit my.yaml\n"
            "More:    homodyne COMMAND --help; man homodyne%s\n",
            all ? "" : "; --help-all");
}

static void help_command(FILE *f, const struct front_command *c, int all)
{
    const struct option_row *row;
    int rare;
    int hidden = 0;
    fprintf(f, "homodyne %s %s\n    %s%s%s\n\n", c->name, c->usage, c->help,
            c->alias ? "; also called " : "", c->alias ? c->alias : "");
    for (size_t k = 0; (row = front_row(c, k, &rare)); k++)
        if (all || !rare)
            option_put(f, row);
        else
            hidden++;
    if (c->pass && c->fitter == FIT_COMMAND_COUNT)
        fprintf(f, "  Options are those of the program that is run.\n");
    if (hidden)
        fprintf(f, "  ... and %d more: homodyne %s --help-all, or man homodyne-%s\n", hidden,
                c->name, c->name);
    const struct ends e = ends_of(c);
    fprintf(f, "\n");
    fit_cli_put_exit_status(f, e.zero, e.two);
}

void front_help(FILE *out, const struct front_command *command, int all)
{
    if (command)
        help_command(out, command, all);
    else
        help_program(out, all);
}

/* ---- manual pages (roff, man macros) --------------------------------------------------------- */

/* Text with all commands of roff escaped. */
static void roff(FILE *f, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", f);
    for (; *text; text++)
        switch (*text) {
        case '\\': fputs("\\e", f); break;
        case '-': fputs("\\-", f); break;
        case '~': fputs("\\(ti", f); break;
        case '^': fputs("\\(ha", f); break;
        case '`': fputs("\\(oq", f); break;
        default: fputc(*text, f);
        }
}

static void roff_title(FILE *f, const char *name)
{
    fprintf(f, ".TH \"");
    for (const char *c = name; *c; c++)
        fputc(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c, f);
    fprintf(f, "\" 1 \"\" \"homodyne %s\" \"homodyne\"\n.SH NAME\n", FIT_VERSION);
}

static void roff_row(FILE *f, const struct option_row *row)
{
    fprintf(f, ".TP\n");
    if (row->letter)
        fprintf(f, "\\fB\\-%c\\fR, ", row->letter);
    fprintf(f, "\\fB\\-\\-");
    roff(f, row->name);
    fprintf(f, "\\fR");
    if (row->argument) {
        fprintf(f, "%s\\fI", row->argument[0] == '[' ? "" : " ");
        roff(f, row->argument);
        fprintf(f, "\\fR");
    }
    fputc('\n', f);
    roff(f, row->help);
    fputc('\n', f);
}

/* of: the command, NULL: all of them */
static void roff_exit_status(FILE *f, const struct front_command *of)
{
    const struct ends any = {"the fit has converged; the configuration is good; the results agree",
                             "finished, but not converged (results are written and marked); results differ"};
    const struct ends own = of ? ends_of(of) : any;
    const char *const meaning[][2] = {
        {"0", own.zero},
        {"1", "an internal error"},
        {"2", own.two},
        {"3", "a mistake in the call, the model or the configuration"},
        {"4", "the data cannot be used, or a file cannot be read or written"},
        {"130", "ended by a signal (INT, TERM, HUP, XCPU, USR1, USR2); what there is has been written and marked"},
    };
    fprintf(f, ".SH EXIT STATUS\n");
    for (size_t k = 0; k < sizeof meaning / sizeof *meaning; k++)
        if (meaning[k][1])
            fprintf(f, ".TP\n%s\n%s\n", meaning[k][0], meaning[k][1]);
}

static void manual_command(FILE *f, const struct front_command *c)
{
    char name[64];
    const struct option_row *row;
    int rare;
    snprintf(name, sizeof name, "homodyne-%s", c->name);
    roff_title(f, name);
    roff(f, name);
    fprintf(f, " \\- ");
    roff(f, c->help);
    fprintf(f, "\n.SH SYNOPSIS\n\\fBhomodyne %s\\fR ", c->name);
    roff(f, c->usage);
    fprintf(f, "\n");
    if (c->text || c->alias) {
        fprintf(f, ".SH DESCRIPTION\n");
        roff(f, c->text ? c->text : "");
        if (c->alias)
            fprintf(f, "\nAlso called \\fB%s\\fR.", c->alias);
        fprintf(f, "\n");
    }
    if (front_row(c, 0, &rare))
        fprintf(f, ".SH OPTIONS\n");
    for (size_t k = 0; (row = front_row(c, k, &rare)); k++)
        roff_row(f, row);
    roff_exit_status(f, c);
    fprintf(f, ".SH SEE ALSO\n\\fBhomodyne\\fR(1)\n");
}

static void manual_program(FILE *f)
{
    roff_title(f, "homodyne");
    fprintf(f, "homodyne \\- fits of X\\-ray photon correlation data, and of any model file\n"
               ".SH SYNOPSIS\n\\fBhomodyne\\fR [\\fICOMMAND\\fR] [\\fIoptions\\fR]\n"
               ".SH DESCRIPTION\n"
               "Finds out which model a configuration asks for and runs the fitter of this model, "
               "\\fBhomodyne\\-\\fIMODEL\\fR, which stands in the same folder. Fitters can be run "
               "directly with the same options. A model file of one's own, named by "
               "\\fB\\-\\-model\\fR \\fIFILE.lua\\fR, is compiled once and kept.\n"
               ".SH COMMANDS\n");
    for (const struct front_command *c = front_commands; c->name; c++) {
        fprintf(f, ".TP\n\\fB%s\\fR ", c->name);
        roff(f, c->usage);
        fprintf(f, "\n");
        roff(f, c->help);
        fprintf(f, ". See \\fBhomodyne\\-%s\\fR(1).\n", c->name);
    }
    roff_exit_status(f, NULL);
    fprintf(f,
            ".SH ENVIRONMENT\n"
            ".TP\n\\fBXDG_CACHE_HOME\\fR\nCompiled models are kept in its folder homodyne "
            "(without it, \\(ti/.cache/homodyne).\n"
            ".TP\n\\fBCC\\fR\nThe C compiler for models of one's own; cc.\n"
            ".TP\n\\fBFIT_ISA\\fR\nv2, v3 or v4: kernels for this instruction set.\n"
            ".TP\n\\fBFIT_COPIES\\fR\neach: every copy that srun or mpirun starts has work of its own.\n"
            ".SH FILES\n"
            "A fit writes into its output folder \\fIsummary.txt\\fR, \\fIfit.json\\fR, "
            "\\fIfit.h5\\fR, \\fIconfig.effective.yaml\\fR, \\fIrun.log\\fR and, when it samples, "
            "\\fIposterior.nc\\fR.\n"
            ".SH SEE ALSO\n\\fBhomodyne\\-gen\\fR(1)");
    for (const struct front_command *c = front_commands; c->name; c++)
        fprintf(f, ", \\fBhomodyne\\-%s\\fR(1)", c->name);
    fprintf(f, "\n");
}

/* The compiler prints its options itself; its text is set as it is. */
static enum fit_status manual_compiler(const struct front *f, struct fit_error *err)
{
    char program[FRONT_PATH + 32], *text = NULL;
    char *word[] = {program, front_word("--help"), NULL};
    int code = 0;
    snprintf(program, sizeof program, "%s/homodyne-gen", f->dir);
    enum fit_status st = front_capture(program, word, &text, &code, err);
    if (st != FIT_OK)
        return st;
    roff_title(f->out, "homodyne-gen");
    fprintf(f->out, "homodyne\\-gen \\- compiler of models\n.SH SYNOPSIS\n"
                    "\\fBhomodyne\\-gen\\fR \\fIMODEL.lua\\fR [\\fIoptions\\fR]\n"
                    ".SH DESCRIPTION\n.nf\n");
    for (char *line = text, *end; line && *line; line = end) {
        end = line + strcspn(line, "\n");
        end += *end ? (*end = '\0', 1) : 0;
        roff(f->out, line);
        fputc('\n', f->out);
    }
    fprintf(f->out, ".fi\n.SH SEE ALSO\n\\fBhomodyne\\fR(1)\n");
    free(text);
    return FIT_OK;
}

/* ---- completions ----------------------------------------------------------------------------- */

static int takes_file(const struct option_row *row)
{
    return row->argument && (strstr(row->argument, "FILE") || strstr(row->argument, "DIR"));
}

/* --fix, --start and the like: a name of the model. */
static int takes_parameter(const struct option_row *row)
{
    return row->argument && strncmp(row->argument, "NAME", 4) == 0 && strcmp(row->name, "model") != 0;
}

/* The options of each command. */
static void bash_options(FILE *f)
{
    const struct option_row *row;
    int rare;
    fprintf(f, "    esac\n    case $command in\n");
    for (const struct front_command *c = front_commands; c->name; c++) {
        fprintf(f, "    %s%s%s) options='", c->name, c->alias ? "|" : "", c->alias ? c->alias : "");
        for (size_t k = 0; (row = front_row(c, k, &rare)); k++)
            if (!strchr(row->name, '*'))
                fprintf(f, "--%s ", row->name);
        fprintf(f, "--help' ;;\n");
    }
}

/* Names of parameters, of the model on the command line. */
static void bash_parameters(FILE *f)
{
    fprintf(f, "    --fix|--free|--start|--set|--tie|--share|--bounds|--profile)\n"
               "        COMPREPLY=($(compgen -W \"$(homodyne completion parameters "
               "\"${COMP_WORDS[@]:1:COMP_CWORD-1}\" 2>/dev/null)\" -- \"$cur\"))\n"
               "        compopt -o nospace 2>/dev/null; return ;;\n");
}

static void bash(FILE *f)
{
    fprintf(
        f,
        "# bash completion for homodyne; made by `homodyne completion bash`\n"
        "_homodyne() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
        "    local command= word options=\n"
        "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
        "        case $word in -*) ;; *) command=$word; break ;; esac\n"
        "    done\n"
        "    case $prev in\n"
        "    --model) COMPREPLY=($(compgen -W \"$(homodyne models 2>/dev/null | cut -d' ' -f1)\" "
        "-- \"$cur\") $(compgen -f -X '!*.lua' -- \"$cur\")); return ;;\n");
    static const char *const named[] = {"method", "loss",     "scaling", "stream", "compat",
                                        "metric", "progress", "variant", "isa",    "mode"};
    for (size_t k = 0; k < sizeof named / sizeof *named; k++)
        fprintf(f, "    --%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", named[k],
                front_choices(named[k]));
    bash_parameters(f);
    bash_options(f);
    fprintf(f, "    *) options='--config --method --output-dir --model --help --version' ;;\n"
               "    esac\n"
               "    if [[ $cur == -* ]]; then\n"
               "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
               "    elif [[ -z $command && COMP_CWORD -eq 1 ]]; then\n"
               "        COMPREPLY=($(compgen -W '");
    for (const struct front_command *c = front_commands; c->name; c++)
        fprintf(f, "%s ", c->name);
    fprintf(f, "' -- \"$cur\") $(compgen -f -- \"$cur\"))\n"
               "    elif [[ $command == completion ]]; then\n"
               "        COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$cur\"))\n"
               "    else\n"
               "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
               "    fi\n"
               "}\n"
               "complete -o filenames -F _homodyne homodyne hm heterodyne ht xpcsjax xj hm-nlsq hm-cmc\n");
}

/* Text inside single quotes of zsh's _arguments and of fish. */
static void quoted(FILE *f, const char *text, const char *special)
{
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", f);
        else
            fprintf(f, "%s%c", strchr(special, *text) ? "\\" : "", *text);
}

static void zsh_value(FILE *f, const struct option_row *row)
{
    const char *choices = front_choices(row->name);
    fprintf(f, ":");
    quoted(f, row->argument, "[]:\\");
    if (choices)
        fprintf(f, ":(%s)", choices);
    else if (takes_parameter(row))
        fprintf(f, ":{compadd -S \"\" -- $(homodyne completion parameters $words 2>/dev/null)}");
    else
        fprintf(f, takes_file(row) ? ":_files" : ": ");
}

static void zsh(FILE *f)
{
    const struct option_row *row;
    int rare;
    fprintf(f,
            "#compdef homodyne\n# zsh completion for homodyne; made by `homodyne completion zsh`\n"
            "_homodyne() {\n"
            "    local -a commands\n    commands=(\n");
    for (const struct front_command *c = front_commands; c->name; c++) {
        fprintf(f, "        '%s:", c->name);
        quoted(f, c->help, ":\\");
        fprintf(f, "'\n");
    }
    fprintf(f, "    )\n"
               "    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
               "        _describe command commands\n        _files\n        return\n    fi\n"
               "    case $words[2] in\n");
    for (const struct front_command *c = front_commands; c->name; c++) {
        fprintf(f, "    %s%s%s%s)\n        _arguments", c->name, c->alias ? "|" : "",
                c->alias ? c->alias : "", c == front_commands ? "|-*|*.yaml" : "");
        for (size_t k = 0; (row = front_row(c, k, &rare)); k++) {
            if (strchr(row->name, '*'))
                continue;
            fprintf(f, " \\\n            '*--%s%s[", row->name, row->argument ? "=" : "");
            quoted(f, row->help, "[]:\\");
            fprintf(f, "]");
            if (row->argument)
                zsh_value(f, row);
            fprintf(f, "'");
        }
        fprintf(f, " \\\n            '*:file:%s' ;;\n",
                strcmp(c->name, "completion") ? "_files" : "(bash zsh fish)");
    }
    fprintf(f, "    *) _files ;;\n    esac\n}\n_homodyne \"$@\"\n");
}

static void fish(FILE *f)
{
    const struct option_row *row;
    int rare;
    fprintf(f, "# fish completion for homodyne; made by `homodyne completion fish`\n");
    for (const struct front_command *c = front_commands; c->name; c++) {
        fprintf(f, "complete -c homodyne -n __fish_use_subcommand -a %s -d '", c->name);
        quoted(f, c->help, "\\");
        fprintf(f, "'\n");
    }
    for (const struct front_command *c = front_commands; c->name; c++)
        for (size_t k = 0; (row = front_row(c, k, &rare)); k++) {
            const char *choices = front_choices(row->name);
            if (strchr(row->name, '*'))
                continue;
            fprintf(f, "complete -c homodyne -n '__fish_seen_subcommand_from %s' -l %s", c->name,
                    row->name);
            if (row->letter)
                fprintf(f, " -s %c", row->letter);
            if (choices)
                fprintf(f, " -x -a '%s'", choices);
            else if (takes_parameter(row))
                fprintf(f, " -x -a '(homodyne completion parameters (commandline -opc) 2>/dev/null)'");
            else if (row->argument)
                fprintf(f, takes_file(row) ? " -r" : " -x");
            fprintf(f, " -d '");
            quoted(f, row->help, "\\");
            fprintf(f, "'\n");
        }
    fprintf(
        f,
        "complete -c homodyne -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n");
}

enum fit_status front_cmd_document(struct front *f, const struct front_args *a,
                                   struct fit_error *err)
{
    const char *word = a->nrest ? a->rest[0] : "";
    if (a->nrest > 1)
        return fit_fail(err, FIT_ERR_USAGE, "%s: give one word", a->command->name);
    if (strcmp(a->command->name, "manual") == 0) {
        const struct front_command *c = front_command_named(word);
        if (strcmp(word, "gen") == 0)
            return manual_compiler(f, err);
        if (*word && !c)
            return fit_fail(err, FIT_ERR_USAGE, "manual: no command '%s'", word);
        if (c)
            manual_command(f->out, c);
        else
            manual_program(f->out);
        return FIT_OK;
    }
    if (strcmp(word, "bash") == 0)
        bash(f->out);
    else if (strcmp(word, "zsh") == 0)
        zsh(f->out);
    else if (strcmp(word, "fish") == 0)
        fish(f->out);
    else
        return fit_fail(err, FIT_ERR_USAGE, "completion: give bash, zsh or fish");
    return FIT_OK;
}
