/* command_line.c -- see command_line.h. */
#include "base/command_line.h"

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
