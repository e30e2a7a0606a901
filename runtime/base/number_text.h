/* number_text.h -- a value and its error as text; words over several lines. */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* "1998.3" and "21": value with two digits of its error.  std not finite or 0: six digits, error
 * empty. */
void fit_format_error(double value, double std, char *v, size_t nv, char *e, size_t ne);

/* A value of which no error is known: to two digits, or to those of a quarter of its interval [lower, upper], where
 * both ends are finite. */
void fit_format_unsure(double value, double lower, double upper, char *v, size_t nv);

/* Prints words over as many lines of at most `width` bytes as they take, those after the first indented by so many
 * blanks, but not more than `most`; how many lines there were. */
int fit_put_wrapped(FILE *f, const char *text, size_t width, int indent, int most);

/* Ends a text that open_memstream() has begun: itself, which the caller frees, or NULL where memory ran out. */
char *fit_text_end(FILE *f, char **text);
