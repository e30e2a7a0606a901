/* options.c -- the parser of command lines, and the text of a row; see options.h. */
#include "common/options.h"

#include "common/nearest.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const struct option_set *set;
    int argc;
    char *const *argv;
    int at; /* next word */
    struct command_line *line;
    char *free; /* of line->storage_ */
    char *message;
    size_t size;
};

static enum options_end wrong(const struct reader *r, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(r->message, r->size, format, list);
    va_end(list);
    return OPTIONS_WRONG;
}

/* ---- rows ------------------------------------------------------------------------------------ */

int option_belongs(const struct option_row *row, unsigned bit)
{
    const unsigned commands = row->where & ~(unsigned)OPTION_BITS;
    return row->name && (!bit || !commands || (commands & bit));
}

static int matches(const struct option_row *o, const char *name, size_t n)
{
    const size_t m = strlen(o->name);
    if (o->name[m - 1] == '*')
        return n >= m && strncmp(o->name, name, m - 1) == 0;
    return n == m && strncmp(o->name, name, n) == 0;
}

/* The row of --name (n letters) or, name NULL, of -letter. */
static const struct option_row *find(const struct option_set *set, const char *name, size_t n, char letter)
{
    for (size_t t = 0; t < sizeof set->table / sizeof *set->table; t++)
        for (size_t k = 0; k < set->table[t].n; k++) {
            const struct option_row *o = &set->table[t].row[k];
            if (option_belongs(o, set->bit) && (name ? matches(o, name, n) : o->letter == letter))
                return o;
        }
    return NULL;
}

/* Adds a command to "`fit`, `plan`", once. */
static void add_command(char *list, size_t size, const char *name)
{
    char word[40];
    const size_t at = strlen(list);
    snprintf(word, sizeof word, "`%.30s`", name);
    if (!strstr(list, word))
        snprintf(list + at, size - at, "%s%s", at ? ", " : "", word);
}

static enum options_end unknown(const struct reader *r, const char *word, const char *name, size_t n)
{
    const struct option_set *set = r->set;
    char copy[64], shown[80], owners[160] = "";
    snprintf(copy, sizeof copy, "%.*s", (int)(n < 63 ? n : 63), name);
    snprintf(shown, sizeof shown, "%.*s%s", (int)(name - word), word, copy);
    struct nearest near = {.name = copy};
    for (size_t t = 0; t < sizeof set->table / sizeof *set->table; t++)
        for (size_t k = 0; k < set->table[t].n; k++) {
            const struct option_row *o = &set->table[t].row[k];
            if (option_belongs(o, set->bit))
                nearest_offer(&near, o->name);
            else if (o->name && word[1] == '-' && strcmp(o->name, copy) == 0)
                for (const struct option_command *c = set->other; c && c->name; c++)
                    if (option_belongs(o, c->bit))
                        add_command(owners, sizeof owners, c->name);
        }
    if (*owners)
        return wrong(r, "%s: no option of `%s`; it belongs to %s", shown, set->command, owners);
    return near.best ? wrong(r, "%s: unknown option; did you mean --%s? See %s", shown, near.best, set->help)
                     : wrong(r, "%s: unknown option; see %s", shown, set->help);
}

/* ---- values ---------------------------------------------------------------------------------- */

static int is_number(const char *s)
{
    char *end;
    (void)strtod(s, &end);
    return end != s && (*end == '\0' || *end == ',');
}

/* A copy of n letters. */
static char *keep(struct reader *r, const char *text, size_t n)
{
    char *s = r->free;
    memcpy(s, text, n);
    s[n] = '\0';
    r->free += n + 1;
    return s;
}

/* "45 90" after "--phi 0": all words that are numbers, joined by commas. */
static const char *join_numbers(struct reader *r, const char *first)
{
    char *s = keep(r, first, strlen(first));
    for (; r->at < r->argc && is_number(r->argv[r->at]); r->at++) {
        r->free[-1] = ',';
        keep(r, r->argv[r->at], strlen(r->argv[r->at]));
    }
    return s;
}

/* What follows --name or -n: the text after the equal sign, or NULL. */
static enum options_end take_value(struct reader *r, const struct option_row *o, const char *equal,
                                   const char **value)
{
    *value = equal;
    if (!o->argument && equal)
        return wrong(r, "--%s: takes no value", o->name);
    const int may = o->argument && o->argument[0] == '[';
    const char *next = r->at < r->argc ? r->argv[r->at] : "";
    if (!equal && may && strcmp(o->argument, "[=N]") == 0 && *next && next[strspn(next, "0123456789")] == '\0')
        return wrong(r, "--%s %s: did you mean --%s=%s? The number stands behind an equal sign; a file of this name is "
                        "./%s", o->name, next, o->name, next, next);
    if (!o->argument || equal || (may && (o->argument[1] == '=' || r->at == r->argc || r->argv[r->at][0] == '-')))
        return OPTIONS_GOOD;
    if (r->at == r->argc)
        return wrong(r, "%s: a value is missing%s%s", r->argv[r->at - 1], *o->argument ? ": " : "", o->argument);
    *value = r->argv[r->at++];
    if (o->where & OPTION_NUMBERS)
        *value = join_numbers(r, *value);
    return OPTIONS_GOOD;
}

static enum options_end option(struct reader *r)
{
    const int from = r->at;
    const char *word = r->argv[r->at++], *name = word + 1 + (word[1] == '-');
    const int is_long = word[1] == '-';
    const size_t n = is_long ? strcspn(name, "=") : strlen(name);
    const char *value = is_long && name[n] ? name + n + 1 : NULL;
    const struct option_row *o = is_long || !word[2] ? find(r->set, is_long ? name : NULL, n, word[1]) : NULL;
    if (!o)
        return unknown(r, word, name, n);
    const enum options_end end = take_value(r, o, value, &value);
    if (end != OPTIONS_GOOD)
        return end;
    const char *full = o->name[strlen(o->name) - 1] == '*' ? keep(r, name, n) : o->name;
    r->line->given[r->line->ngiven++] = (struct option_given){o, full, value, from, r->at};
    return OPTIONS_GOOD;
}

/* ---- the line -------------------------------------------------------------------------------- */

/* Do both set the same thing, so that only one can be valid? */
static int compete(const struct option_given *a, const struct option_given *b)
{
    const int kind = a->row->kind, place = kind == b->row->kind && a->row->at == b->row->at &&
                                           (a->row->at || (kind > OPTION_KEEP && kind < OPTION_OTHER));
    return a->value && b->value && !(a->row->where & OPTION_MANY) && (place || strcmp(a->name, b->name) == 0) &&
           strcmp(a->value, b->value) != 0;
}

static enum options_end find_rivals(const struct reader *r)
{
    const struct command_line *l = r->line;
    for (size_t j = 1; j < l->ngiven; j++)
        for (size_t i = 0; i < j; i++)
            if (compete(&l->given[i], &l->given[j]))
                return wrong(r, "--%s is given twice, '%s' and '%s': one of them can hold", l->given[j].name,
                             l->given[i].value, l->given[j].value);
    return OPTIONS_GOOD;
}

static int make_room(struct reader *r, int first)
{
    const size_t n = r->argc > first ? (size_t)(r->argc - first) : 0;
    size_t letters = 1;
    for (int k = first; k < r->argc; k++)
        letters += 2 * (strlen(r->argv[k]) + 1); /* a name and a value */
    r->line->given = calloc(n + 1, sizeof *r->line->given);
    r->line->word = calloc(n + 1, sizeof *r->line->word);
    r->line->storage_ = r->free = calloc(letters, 1);
    return r->line->given && r->line->word && r->line->storage_;
}

enum options_end options_read(const struct option_set *set, int argc, char *const *argv, int first,
                              struct command_line *line, char *message, size_t size)
{
    struct reader r = {
        .set = set, .argc = argc, .argv = argv, .at = first, .line = line, .message = message, .size = size};
    int plain = 0; /* after "--" */
    *line = (struct command_line){0};
    if (!make_room(&r, first)) {
        wrong(&r, "command line: out of memory");
        return OPTIONS_NO_MEMORY;
    }
    while (r.at < argc) {
        const char *word = argv[r.at];
        if (!plain && strcmp(word, "--") == 0) {
            plain = 1;
            r.at++;
        } else if (!plain && word[0] == '-' && word[1]) {
            const enum options_end end = option(&r);
            if (end != OPTIONS_GOOD)
                return end;
        } else {
            line->word[line->nword++] = word;
            r.at++;
        }
    }
    return find_rivals(&r);
}

void options_free(struct command_line *line)
{
    free(line->given);
    free(line->word);
    free(line->storage_);
    *line = (struct command_line){0};
}

const char *option_value(const struct command_line *line, const char *name)
{
    for (size_t k = line->ngiven; k-- > 0;)
        if (strcmp(line->given[k].name, name) == 0)
            return line->given[k].value;
    return NULL;
}

int option_given(const struct command_line *line, const char *name)
{
    for (size_t k = 0; k < line->ngiven; k++)
        if (strcmp(line->given[k].name, name) == 0)
            return 1;
    return 0;
}

int option_real(const char *option, const char *text, enum option_range range, double *x, char *message, size_t size)
{
    char *end;
    *x = strtod(text, &end);
    if (end == text || *end || !isfinite(*x))
        snprintf(message, size, "--%s: '%s' is not a number", option, text);
    else if (range == OPTION_POSITIVE ? !(*x > 0) : range == OPTION_NOT_NEGATIVE && *x < 0)
        snprintf(message, size, "--%s: %s is %s", option, text, range == OPTION_POSITIVE ? "not above 0" : "below 0");
    else
        return 1;
    return 0;
}

static int count(const struct option_given *g, size_t *x, char *message, size_t size)
{
    char *end;
    errno = 0;
    const unsigned long long n = strtoull(g->value, &end, 10);
    *x = (size_t)n;
    if (g->value[0] >= '0' && g->value[0] <= '9' && !*end && !errno && *x == n && *x >= g->row->aux)
        return 1;
    snprintf(message, size, "--%s: '%s' is not a whole number from %zu", g->name, g->value, g->row->aux);
    return 0;
}

int option_store(void *into, const struct option_given *g, char *message, size_t size)
{
    void *at = (char *)into + g->row->at;
    switch (g->row->kind) {
    case OPTION_FLAG: *(int *)at = 1; return 1;
    case OPTION_LEVEL: *(int *)at += 1; return 1;
    case OPTION_TEXT: *(const char **)at = g->value; return 1;
    case OPTION_REAL: return option_real(g->name, g->value, (enum option_range)g->row->aux, at, message, size);
    case OPTION_COUNT: return count(g, at, message, size);
    default: return 1;
    }
}

int options_store(void *into, const struct command_line *line, char *message, size_t size)
{
    for (size_t k = 0; k < line->ngiven; k++)
        if (!option_store(into, &line->given[k], message, size))
            return 0;
    return 1;
}

/* ---- help ------------------------------------------------------------------------------------ */

void option_put_wrapped(FILE *f, const char *text, size_t at)
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

void option_put(FILE *f, const struct option_row *row)
{
    enum { LEFT = 28 };
    char left[64];
    if (!row->name) {
        fprintf(f, "\n%s\n", row->help);
        return;
    }
    const int n = snprintf(left, sizeof left, "%s%c%s--%s%s%s", row->letter ? "-" : " ",
                           row->letter ? row->letter : ' ', row->letter ? ", " : "  ", row->name,
                           row->argument && row->argument[0] != '[' ? " " : "", row->argument ? row->argument : "");
    fprintf(f, "  %-*s ", LEFT - 3, left);
    if (n > LEFT - 3)
        fprintf(f, " "); /* the text begins in a later column, and continues where it should */
    option_put_wrapped(f, row->help, n > LEFT - 3 ? (size_t)n + 4 : LEFT);
}

void options_put(FILE *f, const struct option_table *table)
{
    for (size_t k = 0; k < table->n; k++)
        if (table->row[k].help)
            option_put(f, &table->row[k]);
}
