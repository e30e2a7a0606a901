/* bessel_near.h -- solutions of Bessel's equations by their Taylor series about a place nearby: a tenth of the work of
 * their definitions, for judges that ask for them a million times.
 *
 *     x^2 y'' + p x y' + (sign x^2 - lambda) y = 0,   p = 1, lambda = n^2: J, Y (sign 1), I, K (sign -1)
 *                                                     p = 2, lambda = n (n + 1): the spherical ones
 *
 * Centres lie so densely that 32 terms are enough: 1/16 of their size apart, at most 1.  Series are kept until another
 * one takes their place in a table of fixed size; results do not depend on what was asked for before.
 */
#pragma once

#include "graph/extended.h"

struct hg_bessel {
    struct hg_ext (*value)(int n, struct hg_ext x); /* as it is defined, of x > 0 */
    int spherical, modified, second;                /* p = 2; sign = -1; Y, K */
};

/* f_n(x) of x > 0: by its series, or by its definition where x is next to 0 or far away. */
struct hg_ext hg_bessel_near(const struct hg_bessel *f, int n, struct hg_ext x);
