/* npy.h -- numpy's array format, independent of the source of its bytes: the header's dictionary, and elements of any
 * type as double or as text. For npz.c, which checks all sizes against the file.
 *
 * Formats: NEP 1 and numpy.lib.format, NPY 1.0 to 3.0.
 */
#pragma once

#include "files/npz.h"

/* Parses the header's text {'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), } into a, except its name. 0:
 * it is not a header. Types that are not read have kind '?' ('O': pickled objects). */
int fit_npy_header(const char *text, struct fit_npz_array *a);

/* n elements at p, of kind 'f', 'i', 'u' or 'b', as doubles. Integers beyond 2^53 are rounded. */
void fit_npy_doubles(const unsigned char *p, const struct fit_npz_array *a, size_t n,
                     double *value);

/* The element at p, of kind 'U' or 'S', as UTF-8 with a final 0, up to the first character that is 0 or invalid;
 * text has room for fit_npy_text_size(a) bytes. */
size_t fit_npy_text_size(const struct fit_npz_array *a);
void fit_npy_text(const unsigned char *p, const struct fit_npz_array *a, char *text);
