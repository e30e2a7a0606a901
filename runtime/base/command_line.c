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

enum fit_status fit_options_store(void *into, const struct option_given *given, struct fit_error *err)
{
    char message[300];
    return option_store(into, given, message, sizeof message) ? FIT_OK : fit_fail(err, FIT_ERR_USAGE, "%s", message);
}

enum fit_status fit_options_real(const char *option, const char *text, enum option_range range, double *x,
                                 struct fit_error *err)
{
    char message[300];
    return option_real(option, text, range, x, message, sizeof message) ? FIT_OK
                                                                        : fit_fail(err, FIT_ERR_USAGE, "%s", message);
}

enum fit_status fit_options_numbers(const struct option_given *given, enum option_range range, struct fit_arena *arena,
                                    size_t most, struct fit_named_number *list, size_t *n, struct fit_error *err)
{
    for (const char *text = given->value; *text; text += strcspn(text, ","), text += *text == ',') {
        char *name = fit_arena_copy(arena, text, strcspn(text, ",")), *equal = name ? strchr(name, '=') : NULL;
        if (!name)
            return fit_no_memory(err, "options");
        if (!equal || equal == name)
            return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is not NAME=NUMBER", given->name, name);
        *equal = 0;
        if (*n == most)
            return fit_fail(err, FIT_ERR_USAGE, "--%s: more than %zu names", given->name, most);
        for (size_t k = 0; k < *n; k++)
            if (strcmp(list[k].name, name) == 0)
                return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is given twice", given->name, name);
        list[*n].name = name;
        const enum fit_status st = fit_options_real(given->name, equal + 1, range, &list[*n].value, err);
        if (st != FIT_OK)
            return st;
        ++*n;
    }
    return FIT_OK;
}
