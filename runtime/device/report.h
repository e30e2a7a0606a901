/* report.h -- `info --devices`, and --device of the commands that compute. */
#pragma once

#include <stdio.h>

#include "device/device.h"

/* Lists every accelerator, and what is missing, to f. */
enum fit_status fit_device_report(FILE *f, int json, struct fit_error *err);

/* Opens the device of --device (NULL: none), which objectives use from now on. Notes go to err. The caller closes
 * *d, perhaps NULL. */
struct fit_device_wish {
    const char *word, *program;
    FILE *err;
    int quiet, verbose;
};
enum fit_status fit_device_begin(const struct fit_device_wish *wish, struct fit_device **d, struct fit_error *err);

/* Can there be such a device, on this machine or another one? word: NULL: none is wanted. */
enum fit_status fit_device_check(const char *word, struct fit_error *err);

/* Says why it was not used and, verbose, for what it was; closes it (NULL: nothing). */
void fit_device_end(const struct fit_device_wish *wish, struct fit_device *d);
