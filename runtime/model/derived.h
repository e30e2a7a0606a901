/* derived.h -- the values of the derived quantities of a data set, one after the other: those with one value for each
 * group in the order of groups.
 */
#pragma once

#include <stddef.h>

#include "fit/kernel.h"

/* How many. */
size_t fit_derived_count(const struct fit_kernel *kernel, size_t ngroup);

/* The quantity of the kernel to which value n belongs, and its group; -1: of all. */
size_t fit_derived_which(const struct fit_kernel *kernel, size_t ngroup, size_t n, long *group);

/* All of them at theta, lin (ngroup x nlinear). room: nderived numbers. */
void fit_derived_all(const struct fit_kernel *kernel, const struct fit_layout *layout, const double *theta,
                     const double *lin, double *room, double *value);
