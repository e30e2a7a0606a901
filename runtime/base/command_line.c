/* command_line.c -- see command_line.h. */
#include "base/command_line.h"

#include <string.h>

enum fit_status fit_options_read(const struct option_set *set, int argc, char *const *argv, int first, void *into,
                                 struct command_line *line, struct fit_error *err)
{
    char message[400];
    const enum options_end end = options_read(set, argc, argv, first, line, message, sizeof message);
    if (end == OPTIONS_NO_MEMORY)
        return fit_fail(err, FIT_ERR_MEMORY, "%s", message);
    if (end == OPTIONS_GOOD && (!into || options_store(into, line, message, sizeof message)))
        return FIT_OK;
    return fit_fail(err, FIT_ERR_USAGE, "%s", message);
}

enum fit_status fit_options_read_command(const struct option_set *set, int argc, char *const *argv,
                                         struct command_line *line, struct fit_error *err)
{
    struct option_set of = *set;
    const enum fit_status st = fit_options_read(set, argc, argv, 1, NULL, line, err);
    for (const struct option_command *c = set->other; st == FIT_OK && line->nword && c->name; c++)
        if (strcmp(c->name, line->word[0]) == 0) {
            of.command = c->name;
            of.bit = c->bit;
        }
    if (st != FIT_OK || !of.bit)
        return st;
    options_free(line);
    return fit_options_read(&of, argc, argv, 1, NULL, line, err);
}

enum fit_status fit_options_real(const char *option, const char *text, enum option_range range, double *x,
                                 struct fit_error *err)
{
    char message[300];
    return option_real(option, text, range, x, message, sizeof message) ? FIT_OK
                                                                        : fit_fail(err, FIT_ERR_USAGE, "%s", message);
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* A list under construction: names are the first members of its elements. */
struct list {
    const struct option_given *given;
    struct fit_arena *arena;
    char *at;
    size_t step, most, *n;
};

/* Reads the next NAME=VALUE at *text and advances it: the name goes into the list, the value to *value. */
static enum fit_status next(const struct list *l, const char **text, char **value, struct fit_error *err)
{
    const size_t size = strcspn(*text, ",");
    char *name = fit_arena_copy(l->arena, *text, size), *equal = name ? strchr(name, '=') : NULL;
    if (!name)
        return fit_no_memory(err, "options");
    if (!equal || equal == name)
        return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is not NAME=VALUE", l->given->name, name);
    *equal = 0;
    if (*l->n == l->most)
        return fit_fail(err, FIT_ERR_USAGE, "--%s: more than %zu names", l->given->name, l->most);
    for (size_t k = 0; k < *l->n; k++)
        if (strcmp(*(const char *const *)(void *)(l->at + k * l->step), name) == 0)
            return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is given twice", l->given->name, name);
    *(const char **)(void *)(l->at + *l->n * l->step) = name;
    *value = equal + 1;
    *text += size + ((*text)[size] == ',');
    return FIT_OK;
}

static enum fit_status texts(const struct list *l, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    for (const char *text = l->given->value; st == FIT_OK && *text;) {
        char *value = NULL;
        st = next(l, &text, &value, err);
        if (st == FIT_OK)
            ((struct fit_named_text *)(void *)l->at)[(*l->n)++].text = value;
    }
    return st;
}

enum fit_status fit_options_numbers(const struct option_given *given, enum option_range range, struct fit_arena *arena,
                                    size_t most, struct fit_named_number *list, size_t *n, struct fit_error *err)
{
    const struct list l = {given, arena, (char *)list, sizeof *list, most, n};
    enum fit_status st = FIT_OK;
    for (const char *text = given->value; st == FIT_OK && *text;) {
        char *value = NULL;
        st = next(&l, &text, &value, err);
        if (st == FIT_OK)
            st = fit_options_real(given->name, value, range, &list[(*n)++].value, err);
    }
    return st;
}

enum fit_status fit_options_store(void *into, const struct option_given *g, struct fit_arena *arena, size_t most,
                                  struct fit_error *err)
{
    char message[300], *at = (char *)into + g->row->at;
    size_t *n = (size_t *)(void *)((char *)into + g->row->aux);
    if (g->row->kind == FIT_OPTION_TEXTS)
        return texts(&(struct list){g, arena, at, sizeof(struct fit_named_text), most, n}, err);
    if (g->row->kind == FIT_OPTION_WEIGHTS || g->row->kind == FIT_OPTION_LIMITS)
        return fit_options_numbers(g, g->row->kind == FIT_OPTION_LIMITS ? OPTION_POSITIVE : OPTION_NOT_NEGATIVE, arena,
                                   most, (struct fit_named_number *)(void *)at, n, err);
    return option_store(into, g, message, sizeof message) ? FIT_OK : fit_fail(err, FIT_ERR_USAGE, "%s", message);
}
