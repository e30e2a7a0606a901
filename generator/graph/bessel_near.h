/* bessel_near.h -- solutions of Bessel's equations by their Taylor series about a nearby point. They cost a tenth of
 * their definitions; checks evaluate them millions of times.
 *
 *     x^2 y'' + p x y' + (sign x^2 - lambda) y = 0,   p = 1, lambda = n^2: J, Y (sign 1), I, K (sign -1)
 *                                                     p = 2, lambda = n (n + 1): the spherical ones
 *
 * Centres are so dense that 32 terms are enough: the spacing is 1/16 of their size, at most 1. Series are kept in a
 * table of fixed size until another one replaces them; results do not depend on earlier calls.
 */
#pragma once

#include "graph/extended.h"

struct hg_bessel {
    struct hg_ext (*value)(int n, struct hg_ext x); /* the definition, x > 0 */
    int spherical, modified, second;                /* p = 2; sign = -1; Y, K */
};

/* f_n(x), x > 0: by its series, or by its definition where x is near 0 or far away. */
struct hg_ext hg_bessel_near(const struct hg_bessel *f, int n, struct hg_ext x);
