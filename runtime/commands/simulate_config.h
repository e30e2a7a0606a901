/* simulate_config.h -- `simulate CONFIG.yaml`: what a fit would be given, as options of simulate. */
#pragma once

#include "base/status.h"
#include "commands/cli.h"
#include "fit/kernel.h"

/* Fills what the command line does not say from the configuration cli->word[0]: frame period, q, gap,
 * frames, azimuths (from the data file where there is one), starting values, contrast and offset. */
enum fit_status fit_simulate_config(struct fit_cli *cli, const struct fit_kernel *kernel,
                                    struct fit_error *err);
