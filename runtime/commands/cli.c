/* cli.c -- parsing of the command line by the table of cli_options.c. */
#include "commands/cli_impl.h"

#include "common/nearest.h"
#include "base/units.h"

#include "common/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

/* ---- storage --------------------------------------------------------------------------------- */

struct parser {
    struct fit_cli *cli;
    int argc;
    char *const *argv;
    int at; /* next word */
    struct fit_error *err;
};

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

static enum fit_status add_pair(struct fit_cli_pair **list, size_t *n, const char *name,
                                const char *value, struct fit_error *err)
{
    struct fit_cli_pair *p = realloc(*list, (*n + 1) * sizeof *p);
    if (!p)
        return no_memory(err);
    p[*n] = (struct fit_cli_pair){name, value};
    *list = p;
    *n += 1;
    return FIT_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

static int is_number(const char *s)
{
    char *end;
    if (!*s)
        return 0;
    (void)strtod(s, &end);
    return end != s && (*end == '\0' || *end == ',');
}

/* Unit in which an option's number is kept; another unit may be written behind it: --gap "200 um".
 */
static const char *unit_of(const char *name)
{
    return strcmp(name, "first-time") == 0 ? "s" : fit_units_of(strcmp(name, "phi-angles") == 0 ? "phi" : name);
}

/* A number with a unit that is none, or one of something else. */
static enum fit_status no_unit(const char *name, const char *s, enum fit_quantity q, struct fit_error *err)
{
    return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s'%s; wanted is %s", name, s,
                    q == FIT_QUANTITY_NO_UNIT ? ": what follows the number is no unit of this"
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

static enum fit_status to_count(const char *name, const char *s, uint64_t *value,
                                struct fit_error *err)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(s, &end, 10);
    if (end == s || *end || errno || strchr(s, '-'))
        return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is not a whole number from 0", name, s);
    *value = v;
    return FIT_OK;
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

/* "45 90" after "--phi 0": all words that are numbers, joined by commas. */
static enum fit_status join_numbers(struct parser *p, const char *first, const char **text)
{
    size_t size = strlen(first) + 1;
    int last = p->at;
    while (last < p->argc && is_number(p->argv[last]))
        size += strlen(p->argv[last++]) + 1;
    char *s = fit_cli_keep(p->cli, size);
    if (!s)
        return no_memory(p->err);
    strcpy(s, first);
    for (; p->at < last; p->at++) {
        strcat(s, ",");
        strcat(s, p->argv[p->at]);
    }
    *text = s;
    return FIT_OK;
}

/* ---- options --------------------------------------------------------------------------------- */

static int name_matches(const struct fit_cli_option *o, const char *name, size_t n)
{
    size_t m = strlen(o->name);
    if (o->name[m - 1] == '*')
        return n >= m && strncmp(o->name, name, m - 1) == 0;
    return n == m && strncmp(o->name, name, n) == 0;
}

static const struct fit_cli_option *find(enum fit_command command, const char *name, size_t n, char letter)
{
    for (size_t k = 0; k < fit_cli_noption; k++) {
        const struct fit_cli_option *o = &fit_cli_options[k];
        if (!(o->commands & (1u << command)))
            continue;
        if (letter ? o->letter == letter : name_matches(o, name, n))
            return o;
    }
    return NULL;
}

/* Adds a name to "`fit`, `plan`", once. */
static void add_verb(char *list, size_t size, const char *name)
{
    char word[40];
    const size_t at = strlen(list);
    snprintf(word, sizeof word, "`%.30s`", name);
    if (!strstr(list, word))
        snprintf(list + at, size - at, "%s%s", at ? ", " : "", word);
}

static enum fit_status unknown(const struct parser *p, const char *word, const char *name, size_t n)
{
    char copy[64];
    snprintf(copy, sizeof copy, "%.*s", (int)(n < 63 ? n : 63), name);
    struct nearest nearest = {.name = copy};
    const char *command = fit_cli_command_name(p->cli->command);
    char elsewhere[160] = "";
    for (size_t k = 0; k < fit_cli_noption; k++) {
        if (fit_cli_options[k].commands & (1u << p->cli->command))
            nearest_offer(&nearest, fit_cli_options[k].name);
        else if (strcmp(fit_cli_options[k].name, copy) == 0)
            for (size_t c = 0; c < fit_cli_nverb; c++)
                if (!fit_cli_verbs[c].alone && (fit_cli_options[k].commands & (1u << fit_cli_verbs[c].command)))
                    add_verb(elsewhere, sizeof elsewhere, fit_cli_verbs[c].name);
    }
    if (*elsewhere)
        return fit_fail(p->err, FIT_ERR_USAGE, "%s: no option of `%s`; it belongs to %s", word, command, elsewhere);
    return fit_fail(p->err, FIT_ERR_USAGE, "%s: unknown option; %s%s%s %s %s --help", word,
                    nearest.best ? "did you mean --" : "see", nearest.best ? nearest.best : "",
                    nearest.best ? "? See" : "", text_file_name(p->argv[0]), command);
}

static enum fit_status store(struct parser *p, const struct fit_cli_option *o, const char *name,
                             const char *value)
{
    struct fit_cli *cli = p->cli;
    char *at = (char *)cli + o->at;
    switch (o->kind) {
    case FLAG: *(int *)(void *)at = 1; return FIT_OK;
    case LEVEL: *(int *)(void *)at += 1; return FIT_OK;
    case TEXT: *(const char **)(void *)at = value; return FIT_OK;
    case REAL: return to_real(name, value, (double *)(void *)at, p->err);
    case COUNT: return to_count(name, value, (uint64_t *)(void *)at, p->err);
    case REALS:
        if (join_numbers(p, value, &value) != FIT_OK)
            return FIT_ERR_MEMORY;
        *(size_t *)(void *)at = 0; /* the last one counts */
        return add_reals(name, value, (size_t *)(void *)at,
                         (double **)(void *)((char *)cli + o->aux), p->err);
    case CHANGES:
        if (join_numbers(p, value, &value) != FIT_OK)
            return FIT_ERR_MEMORY;
        return add_pair(&cli->change, &cli->nchange, name, value, p->err);
    case CHANGE:
    case SWITCH: return add_pair(&cli->change, &cli->nchange, name, value, p->err);
    case IGNORE:
    case IGNORE_FLAG: break;
    }
    return add_pair(&cli->ignored, &cli->nignored, name, value, p->err);
}

/* One option: --name, --name=value, --name value, -n, -n value. */
static enum fit_status option(struct parser *p)
{
    const char *word = p->argv[p->at++], *value = NULL, *name = word + 2;
    const struct fit_cli_option *o;
    size_t n = 1;
    if (word[1] == '-') {
        const char *equal = strchr(name, '=');
        n = equal ? (size_t)(equal - name) : strlen(name);
        value = equal ? equal + 1 : NULL;
        o = find(p->cli->command, name, n, 0);
    } else {
        name = word + 1;
        o = word[2] ? NULL : find(p->cli->command, NULL, 0, word[1]);
    }
    if (!o)
        return unknown(p, word, name, n);
    if (!fit_cli_takes_value(o->kind) && value)
        return fit_fail(p->err, FIT_ERR_USAGE, "--%s: takes no value", o->name);
    if (fit_cli_takes_value(o->kind) && !value) {
        if (p->at == p->argc)
            return fit_fail(p->err, FIT_ERR_USAGE, "%s: a value is missing%s%s", word,
                            o->argument ? ": " : "", o->argument ? o->argument : "");
        value = p->argv[p->at++];
    }
    const char *full = o->name;
    if (full[strlen(full) - 1] == '*') { /* --initial-d0: the name as it was written */
        char *s = fit_cli_keep(p->cli, n + 1);
        if (!s)
            return no_memory(p->err);
        memcpy(s, name, n);
        s[n] = '\0';
        full = s;
    }
    return store(p, o, full, value);
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
    struct parser p = {cli, argc, argv, 1, err};
    if (argc > 1 && find_command(argv[1], &cli->command))
        p.at = 2;
    enum fit_status st = FIT_OK;
    int plain = 0; /* after "--" */
    while (p.at < argc && st == FIT_OK) {
        const char *word = argv[p.at];
        if (!plain && strcmp(word, "--") == 0) {
            plain = 1;
            p.at++;
        } else if (!plain && word[0] == '-' && word[1]) {
            st = option(&p);
        } else {
            const char **list = realloc(cli->word, (cli->nword + 1) * sizeof *list);
            if (!list)
                return no_memory(err);
            list[cli->nword++] = word;
            cli->word = list;
            p.at++;
        }
    }
    return st;
}

const struct fit_cli_pair *fit_cli_data(const struct fit_cli *cli)
{
    for (size_t k = cli->nchange; k-- > 0;)
        if (strncmp(cli->change[k].name, "data", 4) == 0)
            return &cli->change[k];
    return NULL;
}

void fit_cli_free(struct fit_cli *cli)
{
    for (struct kept *k = cli->storage_, *next; k; k = next) {
        next = k->next;
        free(k);
    }
    free(cli->word);
    free(cli->change);
    free(cli->ignored);
    free(cli->q_list);
    free(cli->phi);
    free(cli->groups);
    free(cli->contrast);
    free(cli->offset);
    *cli = (struct fit_cli){0};
}
