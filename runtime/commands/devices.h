/* devices.h -- `info --devices`, and --device of the commands that compute. */
#pragma once

#include <stdio.h>

#include "base/status.h"
#include "commands/program.h"

/* Every accelerator, and what is missing, to f. */
enum fit_status fit_print_devices(FILE *f, int json, struct fit_error *err);

/* Opens what --device asks for; objectives use it from now on.  *d is closed by the caller. */
struct fit_device;
enum fit_status fit_begin_device(const struct fit_program *p, const struct fit_cli *cli, struct fit_device **d,
                                 struct fit_error *err);
