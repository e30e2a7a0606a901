/* simulate_config.h -- `simulate CONFIG.yaml`: the input of a fit, as options of simulate. */
#pragma once

#include "base/status.h"
#include "commands/cli.h"
#include "fit/kernel.h"

/* Fills options missing on the command line from the configuration cli->word[0]: frame period, q, gap, frames,
 * azimuths (from the data file, if it exists), starting values, contrast and offset. */
enum fit_status fit_simulate_config(struct fit_cli *cli, const struct fit_kernel *kernel,
                                    struct fit_error *err);
