/* bessel_near.c -- Taylor series of Bessel functions, cached.
 *
 * With y = sum c_k h^k at x = x0 + h, the equation times x^2 gives c_(k+2) from the four coefficients before it; c_0 =
 * f_n(x0), c_1 = f_n' = n/x0 f_n -+ f_(n+1) (Abramowitz & Stegun 1965, 9.1.27, 9.6.26, 10.1.22, 10.2.21).
 */
#include "graph/bessel_near.h"

#include <math.h>

typedef struct hg_ext ext;

enum { TERMS = 32, SLOTS = 4096 };

#define LEAST 0x1p-30L
#define MOST 1024

struct series {
    const struct hg_bessel *f; /* NULL: an empty place */
    int n;
    long double centre;
    ext c[TERMS];
};

static struct series kept[SLOTS];

/* The centre of the cell of x. */
static long double centre_of(long double x)
{
    int power;
    if (x >= 16)
        return rintl(x);
    const long double m = 32 * frexpl(x, &power); /* 16 .. 32 */
    return ldexpl(floorl(m) + 0.5L, power - 5);
}

static ext scaled(ext a, long double b)
{
    return hg_ext_mul(a, hg_ext(b));
}

/* c_(k+2) (k+2)(k+1) x0^2 = -[(2 k + p)(k+1) x0 c_(k+1) + (k (k - 1 + p) - lambda + s x0^2) c_k
 *                             + 2 s x0 c_(k-1) + s c_(k-2)] */
static void expand(struct series *y)
{
    const long double x0 = y->centre, p = y->f->spherical ? 2 : 1, s = y->f->modified ? -1 : 1;
    const long double n = y->n, lambda = y->f->spherical ? n * (n + 1) : n * n;
    const ext centre = hg_ext(x0), square = hg_ext_mul(centre, centre);
    ext *c = y->c, rise = hg_ext_mul(hg_ext_div(hg_ext(n), centre), c[0] = y->f->value(y->n, centre));
    const ext next = y->f->value(y->n + 1, centre);
    c[1] = y->f->modified && !y->f->second ? hg_ext_add(rise, next) : hg_ext_sub(rise, next);
    for (int k = 0; k + 2 < TERMS; k++) {
        const ext own = hg_ext_add(hg_ext(k * (k - 1 + p) - lambda), scaled(square, s));
        ext sum = hg_ext_add(hg_ext_mul(scaled(centre, (2 * k + p) * (k + 1)), c[k + 1]), hg_ext_mul(own, c[k]));
        if (k > 0)
            sum = hg_ext_add(sum, hg_ext_mul(scaled(centre, 2 * s), c[k - 1]));
        if (k > 1)
            sum = hg_ext_add(sum, scaled(c[k - 2], s));
        c[k + 2] = hg_ext_div(sum, scaled(square, -(k + 2.0L) * (k + 1)));
    }
}

static const struct series *series_at(const struct hg_bessel *f, int n, long double centre)
{
    int power;
    const long double m = 32 * frexpl(centre, &power);
    const unsigned cell = centre >= 16 ? (unsigned)centre + 1024 : (unsigned)(m + 16 * (power + 32.0L));
    const unsigned family = (f->spherical ? 4U : 0U) + (f->modified ? 2U : 0U) + (f->second ? 1U : 0U);
    struct series *y = &kept[(cell + 1031 * (unsigned)n + 389 * family) % SLOTS];
    if (y->f != f || y->n != n || y->centre != centre) {
        *y = (struct series){.f = f, .n = n, .centre = centre};
        expand(y);
    }
    return y;
}

ext hg_bessel_near(const struct hg_bessel *f, int n, ext x)
{
    if (!(x.hi > LEAST && x.hi < MOST))
        return f->value(n, x);
    const long double centre = centre_of(x.hi);
    const struct series *y = series_at(f, n, centre);
    const ext h = hg_ext_sub(x, hg_ext(centre));
    const long double size = fmaxl(fabsl(y->c[0].hi), fabsl(y->c[1].hi * h.hi));
    int top = 2, half = 2; /* of two successive terms one may be near 0 */
    for (long double power = fabsl(h.hi); top + 1 < TERMS; top++, power *= fabsl(h.hi)) {
        const long double both = fmaxl(fabsl(y->c[top - 1].hi), fabsl(y->c[top].hi * h.hi)) * power;
        half += both > 0x1p-66L * size; /* from there on 64 bits are enough */
        if (both < 0x1p-130L * size)
            break;
    }
    long double tail = y->c[top].hi;
    int k = top - 1;
    for (; k > half; k--)
        tail = tail * h.hi + y->c[k].hi;
    ext sum = hg_ext(tail);
    for (; k >= 0; k--)
        sum = hg_ext_add(hg_ext_mul(sum, h), y->c[k]);
    return sum;
}
