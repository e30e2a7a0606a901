/* configuration.h -- from the command line to a configuration. */
#pragma once

#include "commands/program.h"
#include "config/config.h"

/* Reads the configuration file named on the command line (or none, with --data), applies the options, checks that
 * all agree. Prints nothing: errors and notes are in the log, the first error also in err. For `check`, *cfg may be
 * set in spite of errors (fit_config_options.keep). */
enum fit_status fit_setup_config(const struct fit_cli *cli, const struct fit_kernel *kernel,
                                 struct fit_config_log *log, struct fit_config **cfg,
                                 struct fit_error *err);

/* The configuration file named on the command line; NULL: there is none. */
const char *fit_setup_config_file(const struct fit_cli *cli);

/* The words of the command, quoted where a shell requires it; the caller frees. */
char *fit_command_line(int argc, char *const *argv);
