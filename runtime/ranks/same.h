/* same.h -- what must be the same in all ranks of a run, and may not be: nodes may see other files, or hold copies of
 * them, and have other programs installed. Without other ranks nothing happens. */
#pragma once

#include <stddef.h>

#include "base/status.h"

/* A number that n bytes have, of 48 bits: exact as a double. SHA-256, cut. */
double fit_ranks_number(const void *bytes, size_t n);

/* Meeting: the first rank whose n bytes are not those of rank 0; 0: there is none. */
size_t fit_ranks_odd(const void *bytes, size_t n);

/* Meeting: FIT_OK when all ranks find the same file at `path`, or none of them finds one there; otherwise `failure`,
 * with words. Compared are the sizes, and the contents: of files of more than 16 MB 64 pieces of 16 KB, the first, the
 * last and those at equal distances between. what: "the configuration". */
enum fit_status fit_ranks_same_file(const char *what, const char *path, enum fit_status failure, struct fit_error *err);
