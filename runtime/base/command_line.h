/* command_line.h -- common/options.h with errors of the runtime. */
#pragma once

#include "base/status.h"
#include "common/options.h"

/* Reads argv[first] .. and puts values into the structure at `into`; NULL: they are only read.  FIT_ERR_USAGE,
 * FIT_ERR_MEMORY.  `line` is to be freed by options_free() in any case. */
enum fit_status fit_options_read(const struct option_set *set, int argc, char *const *argv, int first, void *into,
                                 struct command_line *line, struct fit_error *err);
