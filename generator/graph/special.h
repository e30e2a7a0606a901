/* special.h -- Bessel functions, the Faddeeva function, erfinv and erfi in extended precision (extended.h): the
 * reference values for rounding errors. The relative error is below 2^-90 except near zeros. */
#pragma once

#include "graph/extended.h"

struct hg_ext hg_ext_bessel_j(int n, struct hg_ext x);    /* J_n, n >= 0 */
struct hg_ext hg_ext_spherical_j(int n, struct hg_ext x); /* sqrt(pi/(2 x)) J_(n + 1/2) */

struct hg_ext hg_ext_bessel_y(int n, struct hg_ext x);    /* Y_n, K_n, of x > 0; I_n */
struct hg_ext hg_ext_bessel_i(int n, struct hg_ext x);
struct hg_ext hg_ext_bessel_k(int n, struct hg_ext x);
struct hg_ext hg_ext_spherical_y(int n, struct hg_ext x); /* sqrt(pi/(2 x)) Y_(n + 1/2) */
struct hg_ext hg_ext_spherical_i(int n, struct hg_ext x); /* sqrt(pi/(2 x)) I_(n + 1/2), K_(n + 1/2) */
struct hg_ext hg_ext_spherical_k(int n, struct hg_ext x);
struct hg_ext hg_ext_erfinv(struct hg_ext x);
struct hg_ext hg_ext_erfi(struct hg_ext x);

/* The k-th derivative, k <= 3, of w(z) = e^(-z^2) erfc(-i z), z = x + i y: its real or its imaginary part. */
struct hg_ext hg_ext_faddeeva(int k, struct hg_ext x, struct hg_ext y, int imaginary);
