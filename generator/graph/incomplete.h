/* incomplete.h -- incomplete gamma functions and their derivatives by the shape, in extended precision (extended.h). */
#pragma once

#include "graph/extended.h"

/* The n-th derivative by a, n <= 3, of P(a, x), of Q(a, x) = 1 - P, or of x^(a - 1) e^-x/Gamma(a) = d P / d x. NaN
 * for shapes outside 0.1 .. 1000. */
struct hg_ext hg_ext_incomplete_gamma(int n, struct hg_ext a, struct hg_ext x, int upper);
struct hg_ext hg_ext_gamma_density(int n, struct hg_ext a, struct hg_ext x);
