/* args.c -- words of the command line: own options of a command are taken out, the rest stays. */
#include "frontend/front.h"

#include "common/nearest.h"

#include <stdlib.h>
#include <string.h>

static const struct front_option common[] = {
    {"help", 'h', NULL, "the options most used", 1},
    {"help-all", 0, NULL, "all options", 1},
    {NULL, 0, NULL, NULL, 0},
};

/* The row of a word "--name", "--name=value" or "-n", or NULL. */
static const struct front_option *find(const struct front_option *row, const char *word)
{
    size_t n = strcspn(word + 2 * (word[1] == '-'), "=");
    for (; row && row->name; row++)
        if (word[1] == '-' ? strlen(row->name) == n && strncmp(row->name, word + 2, n) == 0
                           : row->letter && word[1] == row->letter && !word[2])
            return row;
    return NULL;
}

static enum fit_status unknown(const struct front_command *c, const char *word,
                               struct fit_error *err)
{
    struct nearest near = {.name = word + strspn(word, "-")};
    for (const struct front_option *o = c->option; o && o->name; o++)
        nearest_offer(&near, o->name);
    return fit_fail(err, FIT_ERR_USAGE, "%s: unknown option; %s%s%s homodyne %s --help", word,
                    near.best ? "did you mean --" : "see", near.best ? near.best : "", near.best ? "? See" : "",
                    c->name);
}

/* One option whose row is known; *at goes beyond it. */
static enum fit_status take(struct front_args *a, const struct front_option *o, char **argv,
                            int *at, int argc, struct fit_error *err)
{
    const char *equal = argv[*at][1] == '-' ? strchr(argv[*at], '=') : NULL;
    const char *value = equal ? equal + 1 : NULL;
    if (!o->argument && value)
        return fit_fail(err, FIT_ERR_USAGE, "--%s: takes no value", o->name);
    *at += 1;
    if (o->argument && !value && o->argument[0] != '[') {
        if (*at == argc)
            return fit_fail(err, FIT_ERR_USAGE, "--%s: a value is missing: %s", o->name,
                            o->argument);
        value = argv[(*at)++];
    }
    a->own[a->nown++] = (struct fit_cli_pair){o->name, value};
    return FIT_OK;
}

enum fit_status front_args_parse(const struct front_command *c, int argc, char **argv,
                                 struct front_args *a, struct fit_error *err)
{
    const size_t room = (size_t)argc + 1;
    *a = (struct front_args){.command = c};
    a->own = calloc(room, sizeof *a->own);
    a->rest = calloc(room, sizeof *a->rest);
    if (!a->own || !a->rest)
        return fit_fail(err, FIT_ERR_MEMORY, "command line: out of memory");
    enum fit_status st = FIT_OK;
    int plain = 0; /* after "--" */
    for (int at = 0; at < argc && st == FIT_OK;) {
        char *word = argv[at];
        const struct front_option *o = NULL;
        if (!plain && word[0] == '-' && word[1]) {
            plain = strcmp(word, "--") == 0;
            o = plain ? NULL : find(c->option, word);
            if (!o && !plain && find(common, word))
                o = find(common, word);
            if (!o && !plain && c->fitter == FIT_COMMAND_COUNT && !c->pass)
                return unknown(c, word, err);
        }
        if (o) {
            st = take(a, o, argv, &at, argc, err);
            continue;
        }
        a->rest[a->nrest++] = word;
        at++;
        a->quiet |= !plain && (strcmp(word, "--quiet") == 0 || strcmp(word, "-q") == 0);
        a->json |= !plain && strcmp(word, "--json") == 0;
    }
    a->help_all = front_given(a, "help-all");
    a->help = a->help_all || front_given(a, "help");
    a->quiet |= front_given(a, "quiet");
    a->json |= front_given(a, "json");
    return st;
}

void front_args_free(struct front_args *a)
{
    free(a->own);
    free(a->rest);
    *a = (struct front_args){0};
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
