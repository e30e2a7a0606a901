/* special.h -- Bessel functions and the Faddeeva function in extended precision (extended.h): the values by which
 * rounding errors are judged.  Relative error below 2^-90 apart from zeros. */
#pragma once

#include "graph/extended.h"

struct hg_ext hg_ext_bessel_j(int n, struct hg_ext x);    /* J_n, n >= 0 */
struct hg_ext hg_ext_spherical_j(int n, struct hg_ext x); /* sqrt(pi/(2 x)) J_(n + 1/2) */

/* The k-th derivative, k <= 3, of w(z) = e^(-z^2) erfc(-i z), z = x + i y: its real part, or its imaginary one. */
struct hg_ext hg_ext_faddeeva(int k, struct hg_ext x, struct hg_ext y, int imaginary);
