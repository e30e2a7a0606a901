/* number_text.h -- a value and its error as text. */
#pragma once

#include <stddef.h>

/* "1998.3" and "21": value with two digits of its error.  std not finite or 0: six digits, error
 * empty. */
void fit_format_error(double value, double std, char *v, size_t nv, char *e, size_t ne);
