/* alloc.h -- storage for vectors of numbers. */
#pragma once

#include <stddef.h>

/* n doubles, all 0, aligned to 64 bytes, and a vector more that may be read; to be released by free().  NULL: there is
 * no memory. */
double *fit_alloc_doubles(size_t n);
