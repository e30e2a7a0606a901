/* report.h -- `info --devices`, and --device of the commands that compute. */
#pragma once

#include <stdio.h>

#include "device/device.h"

/* Every accelerator, and what is missing, to f. */
enum fit_status fit_device_report(FILE *f, int json, struct fit_error *err);

/* Opens what --device asks for (NULL: nothing); objectives use it from now on.  Notes go to err.  *d, perhaps NULL, is
 * closed by the caller. */
struct fit_device_wish {
    const char *word, *program;
    FILE *err;
    int quiet, verbose;
};
enum fit_status fit_device_begin(const struct fit_device_wish *wish, struct fit_device **d, struct fit_error *err);

/* Says what it was not used for, and, verbose, what for; closes it (NULL: nothing). */
void fit_device_end(const struct fit_device_wish *wish, struct fit_device *d);
