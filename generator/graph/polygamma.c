/* polygamma.c -- Stirling's series and its derivatives (Abramowitz & Stegun 1965, 6.1.40, 6.3.18, 6.4.11). The
 * recurrences 6.1.15, 6.3.6 and 6.4.6 raise arguments to 24 or more: there 13 terms leave an error of 1e-24. */
#include "graph/polygamma.h"

#include <math.h>

enum { TERMS = 13 };
static const long double LEAST = 24;
static const long double HALF_LOG_2_PI = 0.91893853320467274178032973640562L;

/* B_2, B_4, ... */
static const long double bernoulli[TERMS] = {
    1.0L / 6,        -1.0L / 30,           1.0L / 42,      -1.0L / 30,           5.0L / 66,
    -691.0L / 2730,  7.0L / 6,             -3617.0L / 510, 43867.0L / 798,       -174611.0L / 330,
    854513.0L / 138, -236364091.0L / 2730, 8553103.0L / 6};

/* The k-th derivative of x^-n over x^(-n - k). */
static long double slope_factor(int n, int k)
{
    long double f = 1;
    for (int m = 0; m < k; m++)
        f *= -(n + m);
    return f;
}

static long double leading(int k, long double z)
{
    switch (k) {
    case 0: return (z - 0.5L) * logl(z) - z + HALF_LOG_2_PI;
    case 1: return logl(z) - 0.5L / z;
    case 2: return 1 / z + 0.5L / (z * z);
    case 3: return -1 / (z * z) - 1 / (z * z * z);
    default: return 2 / (z * z * z) + 3 / (z * z * z * z);
    }
}

long double hg_polygamma(int k, long double x)
{
    long double raised = 0, z = x;
    if (!(x > 0))
        return x < 0 || isnan(x) ? (long double)NAN : k % 2 ? -INFINITY : INFINITY;
    if (isinf(x))
        return k < 2 ? INFINITY : 0;
    if (k == 0)
        return lgammal(x);
    for (; z < LEAST; z++) /* d^k log z, smallest last */
        raised += (k == 1 ? 1 : k == 2 ? -1 : k == 3 ? 2 : -6) * powl(z, -k);
    long double sum = 0;
    for (int n = TERMS; n > 0; n--)
        sum += bernoulli[n - 1] / (2.0L * n * (2.0L * n - 1)) * slope_factor(2 * n - 1, k) *
               powl(z, -(2.0L * n - 1 + k));
    return leading(k, z) + sum - raised;
}
