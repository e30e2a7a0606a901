/* number_text.h -- a value and its error as text; text wrapped over several lines. */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* "1998.3" and "21": the value with two digits of its error. With std not finite or 0: six digits, and no error. */
void fit_format_error(double value, double std, char *v, size_t nv, char *e, size_t ne);

/* A value without a known error: to two digits, or to those of a quarter of its interval [lower, upper], if both
 * ends are finite. */
void fit_format_unsure(double value, double lower, double upper, char *v, size_t nv);

/* Prints words over as many lines of at most `width` bytes as needed, but at most `most`; lines after the first are
 * indented by so many blanks. Returns the number of lines. */
int fit_put_wrapped(FILE *f, const char *text, size_t width, int indent, int most);

/* Finishes a text that open_memstream() has begun: the text, which the caller frees, or NULL without memory. */
char *fit_text_end(FILE *f, char **text);
