/* option_table.c -- see option_table.h. */
#include "base/option_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number_text.h"
#include "common/nearest.h"

enum fit_status fit_option_real(const struct fit_option_table *t, const char *option, const char *text, double *value,
                                struct fit_error *err)
{
    char *end;
    *value = strtod(text, &end);
    if (end == text || *end || !isfinite(*value))
        return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is no number", option, text);
    for (size_t k = 0; k < t->nrange; k++)
        if (strcmp(t->range[k].option, option) == 0 && !(t->range[k].above ? *value > 0 : *value >= 0))
            return fit_fail(err, FIT_ERR_USAGE, "--%s: %s is %s", option, text,
                            t->range[k].above ? "not above 0" : "below 0");
    return FIT_OK;
}

static enum fit_status count(const char *option, const char *text, size_t *value, struct fit_error *err)
{
    char *end;
    const unsigned long long n = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || n == 0 || n > 1000000000)
        return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is no whole number from 1 to 1000000000", option, text);
    *value = (size_t)n;
    return FIT_OK;
}

/* vis=1,amp=100 */
static enum fit_status numbers(const struct fit_option_table *t, const struct fit_option_row *r, const char *text,
                               struct fit_error *err)
{
    struct fit_named_number *list = (struct fit_named_number *)(void *)((char *)t->options + r->at);
    size_t *n = (size_t *)(void *)((char *)t->options + r->count);
    while (*text) {
        const size_t size = strcspn(text, ",");
        char *name = fit_arena_copy(t->arena, text, size), *equal = name ? strchr(name, '=') : NULL;
        if (!name)
            return fit_no_memory(err, "options");
        if (!equal || equal == name)
            return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is not NAME=NUMBER", r->name, name);
        *equal = 0;
        if (*n == t->most)
            return fit_fail(err, FIT_ERR_USAGE, "--%s: more than %zu names", r->name, t->most);
        for (size_t k = 0; k < *n; k++)
            if (strcmp(list[k].name, name) == 0)
                return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is given twice", r->name, name);
        list[*n].name = name;
        if (fit_option_real(t, r->name, equal + 1, &list[*n].value, err) != FIT_OK)
            return FIT_ERR_USAGE;
        ++*n;
        text += size + (text[size] == ',');
    }
    return FIT_OK;
}

static enum fit_status set(const struct fit_option_table *t, const struct fit_option_row *r, const char *value,
                           struct fit_error *err)
{
    void *at = (char *)t->options + r->at;
    switch (r->kind) {
    case FIT_OPTION_FLAG: *(int *)at = 1; return FIT_OK;
    case FIT_OPTION_TEXT: *(const char **)at = value; return FIT_OK;
    case FIT_OPTION_REAL: return fit_option_real(t, r->name, value, at, err);
    case FIT_OPTION_COUNT: return count(r->name, value, at, err);
    case FIT_OPTION_OTHER: return t->other(t->options, r, value, err);
    default: return numbers(t, r, value, err);
    }
}

/* --name, --name=value; -o and -h. */
static const struct fit_option_row *find(const struct fit_option_table *t, const char *word, const char **value,
                                         struct fit_error *err)
{
    const char *name = strcmp(word, "-o") == 0 ? "output" : strcmp(word, "-h") == 0 ? "help" : word + 2;
    const size_t n = strcspn(name, "=");
    struct nearest near = {.name = name};
    *value = name[n] ? name + n + 1 : NULL;
    for (size_t k = 0; (word[1] == '-' || name != word + 2) && k < t->nrow; k++) {
        if (strlen(t->row[k].name) == n && strncmp(t->row[k].name, name, n) == 0)
            return &t->row[k];
        nearest_offer(&near, t->row[k].name);
    }
    fit_fail(err, FIT_ERR_USAGE, "unknown option '%s'%s%s", word, near.best ? "; did you mean --" : "",
             near.best ? near.best : "");
    return NULL;
}

/* given: a flag for each row.  An option of another command would change nothing: it is refused. */
static enum fit_status judge(const struct fit_option_table *t, const char *command, const unsigned char *given,
                             struct fit_error *err)
{
    for (size_t k = 0; k < t->nrow; k++)
        if (given[k] && command && t->row[k].only && strcmp(t->row[k].only, command) != 0)
            return fit_fail(err, FIT_ERR_USAGE, "%s: --%s is of the command %s", command, t->row[k].name,
                            t->row[k].only);
    return FIT_OK;
}

/* The option at *k, whose value may be the next word. */
static enum fit_status option(const struct fit_option_table *t, int argc, char **argv, int *k, unsigned char *given,
                              struct fit_error *err)
{
    const char *value;
    const struct fit_option_row *r = find(t, argv[*k], &value, err);
    if (!r)
        return FIT_ERR_USAGE;
    if (r->kind == FIT_OPTION_FLAG && value)
        return fit_fail(err, FIT_ERR_USAGE, "--%s takes no value", r->name);
    if (r->kind != FIT_OPTION_FLAG && !value && (value = ++*k < argc ? argv[*k] : NULL) == NULL)
        return fit_fail(err, FIT_ERR_USAGE, "--%s needs a value: %s", r->name, r->argument);
    given[r - t->row] = 1;
    return set(t, r, value, err);
}

enum fit_status fit_option_parse(const struct fit_option_table *t, int argc, char **argv, const char *const *command,
                                 struct fit_error *err)
{
    unsigned char *given = fit_take(t->arena, t->nrow, 1);
    enum fit_status s = given ? FIT_OK : fit_no_memory(err, "options");
    for (int k = 1; s == FIT_OK && k < argc; k++)
        s = argv[k][0] == '-' ? option(t, argc, argv, &k, given, err) : t->word(t->options, argv[k], err);
    return s == FIT_OK ? judge(t, *command, given, err) : s;
}

void fit_option_help(const struct fit_option_table *t, FILE *out)
{
    enum { LEFT = 25, WIDTH = 79 };
    for (size_t k = 0; k < t->nrow; k++) {
        const struct fit_option_row *r = &t->row[k];
        char left[64], line[300];
        if (r->heading)
            fprintf(out, "\n%s\n", r->heading);
        const int n = snprintf(left, sizeof left, "  %s--%s %s", strcmp(r->name, "output") == 0 ? "-o, " : "", r->name,
                               r->argument ? r->argument : "");
        if (n > LEFT)
            fprintf(out, "%s\n", left);
        snprintf(line, sizeof line, "%-*s  %s", LEFT, n > LEFT ? "" : left, r->help);
        fit_put_wrapped(out, line, WIDTH, LEFT + 2, 20);
    }
}
