/* ending.h -- how a program ends whose copies may be ranks of one fit: one of them tells an error, and none waits for
 * another that has ended. */
#pragma once

#include <stdio.h>

#include "base/status.h"

/* Tells to `to` the error of st, as that of the program `name`, unless another rank or copy does; then takes leave of
 * the others. is_fit: copies are ranks, or would be if they had met. Returns the exit code, `code` without an error. */
int fit_ending(const char *name, FILE *to, enum fit_status st, const struct fit_error *err, int code, int is_fit);
