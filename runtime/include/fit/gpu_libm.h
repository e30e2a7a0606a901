/* fit/gpu_libm.h -- for readers of fit/gpu.h: what fit/vmath.h leaves to the C library.  Part of fit/gpu.h.
 *
 * No function of a reader's own library is called but those that are one operation of IEEE 754 (fma, sqrt, fabs,
 * copysign, floor, ceil, rint): every reader gives the same bits, and compilers without a library for a card will do.
 *
 * sin, cos, tan above 2^20: x 2/pi modulo 4 from 224 bits of 2/pi (Payne & Hanek 1983), of which 128 bits of the
 *     fraction go into a sum of two doubles.
 * erf:  x (1 + P(x^2)) below 1;   erfc:  e^(-x^2) P(1/x)/x from 1/2 on, the square as a sum of two doubles; the one is
 *     1 minus the other elsewhere.
 * asin, acos, atan2: the arc of a quotient of two sums, reduced as in fit_vatan.
 * cbrt: Halley's iteration (cubic) from a guess in the exponent, and the residue of the last in two doubles.
 * Worst errors found, in ulp: log log1p 0.5  sinh cosh 0.8  sin cos 0.8  tan 1  pow 0.8  erf 1.1  erfc 3.9
 *     asin acos 0.9  atan2 0.8  cbrt 0.7  (tests/unit/device/test_gpu_libm.c).
 */

#include "fit/gpu_coefficients.h"

#define FIT_GPU_INFINITY fit_of_bits(0x7ff0000000000000)
#define FIT_GPU_NAN fit_of_bits(0x7ff8000000000000)

/* ---- exponentials and logarithms at their edges ------------------------------------------------------------ */

/* x <= 0 or subnormal, infinite, NaN. */
FIT_HUGE double fit_gpu_log(double x)
{
    double k;
    fit_ulong biased;
    if (!(x > 0.0))
        return x == 0.0 ? -FIT_GPU_INFINITY : FIT_GPU_NAN;
    if (x > 0x1.fffffffffffffp1023)
        return x;
    const double m = fit_vlog_split(x * 0x1p54, &k, &biased);
    return fit_vlog_sum(k - 54.0, m - 1.0, 0.0);
}

/* <= -1, > 2^1022, NaN. */
FIT_HUGE double fit_gpu_log1p(double x)
{
    if (!(x > -1.0))
        return x == -1.0 ? -FIT_GPU_INFINITY : FIT_GPU_NAN;
    return fit_vlog(x);
}

/* Of |x| > 709: e^|x| 2^-1. */
FIT_INLINE double fit_gpu_half_exp(double a)
{
    double r, q;
    fit_ulong t;
    a = a < 712.0 ? a : 712.0;
    fit_vexp_reduce(a, 0.0, &r, &q, &t);
    const fit_ulong k = t - 0x4338000000000000, half = k >> 1;
    return (1.0 + (r + q)) * fit_of_bits((half + 1023) << 52) * fit_of_bits((k - half + 1022) << 52);
}

FIT_HUGE double fit_gpu_sinh(double x)
{
    return x != x ? x : copysign(fit_gpu_half_exp(fabs(x)), x);
}

FIT_HUGE double fit_gpu_cosh(double x)
{
    return x != x ? x : fit_gpu_half_exp(fabs(x));
}

/* y: 0 no integer, 1 an odd one, 2 an even one. */
FIT_INLINE int fit_gpu_parity(double y)
{
    const double a = fabs(y);
    if (floor(a) != a)
        return 0;
    return a < 0x1p53 && (fit_long)a % 2 == 1 ? 1 : 2;
}

/* x^y of a finite x > 0. */
FIT_INLINE double fit_gpu_positive_pow(double x, double y)
{
    double h, l, low, unscaled;
    fit_ulong t;
    const int tiny = x < 0x1p-1022;
    fit_vlog2sum(tiny ? x * 0x1p54 : x, &h, &l);
    if (tiny) { /* 54 ln 2 */
        double e;
        h = fit_vtwo_sum(h, -54.0 * FIT_LN2_HI, &e);
        l = (l + e) - 54.0 * FIT_LN2_LO;
        h = fit_vfast_two_sum(h, l, &l);
    }
    const double p = fit_vtwo_prod(y, h, &low);
    if (!(fabs(p) < 800.0))
        return p != p ? p : p > 0.0 ? FIT_GPU_INFINITY : 0.0;
    low += y * l;
    const double r = fit_vexp_sum(p, low, &unscaled, &t);
    return fabs(p) < 708.0 ? r : fit_vexp_edge(p, unscaled, t);
}

FIT_HUGE double fit_gpu_pow(double x, double y)
{
    const int parity = fit_gpu_parity(y), far = fabs(y) > 0x1.fffffffffffffp1023;
    const double a = fabs(x);
    if (y == 0.0 || x == 1.0)
        return 1.0;
    if (x != x || y != y)
        return x + y;
    if (far && a == 1.0)
        return 1.0;
    if (far)
        return (a > 1.0) == (y > 0.0) ? FIT_GPU_INFINITY : 0.0;
    if (x < 0.0 && !parity && a <= 0x1.fffffffffffffp1023)
        return FIT_GPU_NAN;
    double r = (a == 0.0) == (y < 0.0) ? FIT_GPU_INFINITY : 0.0;
    if (a > 0.0 && a <= 0x1.fffffffffffffp1023)
        r = fit_gpu_positive_pow(a, y);
    return parity == 1 ? copysign(r, x) : r;
}

/* ---- circular functions of large arguments ----------------------------------------------------------------- */

/* m times 7 words of 2/pi from number `first` on: 9 words, lowest first. */
FIT_INLINE void fit_gpu_times_two_over_pi(fit_ulong m, int first, fit_ulong *product)
{
    const fit_ulong low = m & 0xffffffff, high = m >> 32;
    fit_ulong carry = 0;
    for (int k = 0; k < 8; k++) {
        const fit_ulong a = k < 7 ? low * fit_two_over_pi[first + 6 - k] : 0;
        const fit_ulong b = k > 0 ? high * fit_two_over_pi[first + 7 - k] : 0; /* 21 bits by 32: room for more */
        const fit_ulong sum = (a & 0xffffffff) + (b & 0xffffffff) + (carry & 0xffffffff);
        product[k] = sum & 0xffffffff;
        carry = (a >> 32) + (b >> 32) + (carry >> 32) + (sum >> 32);
    }
    product[8] = carry;
}

/* 32 bits of a product from bit n on. */
FIT_INLINE fit_ulong fit_gpu_bits_at(const fit_ulong *product, int n)
{
    const int k = n / 32, shift = n % 32;
    const fit_ulong next = k < 8 ? product[k + 1] : 0;
    return ((product[k] | next << 32) >> shift) & 0xffffffff;
}

/* |x| = k pi/2 + the result + *low, 2^20 < |x| finite; *quadrant: k modulo 4. */
FIT_HUGE double fit_gpu_reduce(double x, double *low, int *quadrant)
{
    const fit_ulong bits = fit_ubits(x) & 0x7fffffffffffffff, m = (bits & 0xfffffffffffff) | 0x10000000000000;
    const int e = (int)(bits >> 52) - 1075, first = e > 2 ? (e - 2) / 32 : 0, point = 32 * (first + 7) - e;
    fit_ulong product[9], word[4];
    double e1, e2, e3, sum = 0.0;
    fit_gpu_times_two_over_pi(m, first, product);
    *quadrant = (int)(fit_gpu_bits_at(product, point) & 3);
    for (int k = 0; k < 4; k++)
        word[k] = fit_gpu_bits_at(product, point - 32 * (k + 1));
    const int above = (int)(word[0] >> 31); /* more than a half: the next multiple is nearer */
    *quadrant = (*quadrant + above) & 3;
    for (int k = 0; k < 4 && above; k++)
        word[k] ^= 0xffffffff; /* 1 - f, but for 2^-128 */
    sum = fit_vtwo_sum((double)word[0] * 0x1p-32, (double)word[1] * 0x1p-64, &e1);
    sum = fit_vtwo_sum(sum, (double)word[2] * 0x1p-96, &e2);
    sum = fit_vtwo_sum(sum, (double)word[3] * 0x1p-128, &e3);
    const double rest = e1 + (e2 + e3), sign = above ? -1.0 : 1.0;
    const double h = fit_vtwo_prod(sum, 0x1.921fb54442d18p0, &e1);
    const double l = e1 + (sum * 0x1.1a62633145c07p-54 + rest * 0x1.921fb54442d18p0);
    const double r = fit_vfast_two_sum(h, l, &e2);
    *low = sign * e2;
    return sign * r;
}

/* Sine and cosine of |x|, each as two doubles yet to be added up; 0: x is not finite. */
FIT_INLINE int fit_gpu_sincos_parts(double x, double *s, double *c)
{
    double low, sp[2], cp[2];
    int quadrant;
    if (!(fabs(x) <= 0x1.fffffffffffffp1023))
        return 0;
    const double r = fit_gpu_reduce(x, &low, &quadrant);
    fit_vsincos_parts(r, low, sp, cp);
    for (int k = 0; k < 2; k++) {
        s[k] = quadrant == 0 ? sp[k] : quadrant == 1 ? cp[k] : quadrant == 2 ? -sp[k] : -cp[k];
        c[k] = quadrant == 0 ? cp[k] : quadrant == 1 ? -sp[k] : quadrant == 2 ? -cp[k] : sp[k];
    }
    return 1;
}

FIT_INLINE void fit_vsincos_patch(const fit_vm *m, const fit_vd *x, const fit_vd *lo, fit_vd *s, fit_vd *c)
{
    double sp[2], cp[2];
    if (!fit_gpu_sincos_parts(*x, sp, cp)) {
        *s = *c = FIT_GPU_NAN;
        return;
    }
    const double sx = copysign(1.0, *x) * (sp[0] + sp[1]), cx = cp[0] + cp[1];
    *s = sx + *lo * cx;
    *c = cx - *lo * sx;
}

FIT_HUGE double fit_gpu_tan(double x)
{
    double s[2], c[2], low;
    if (!fit_gpu_sincos_parts(x, s, c))
        return FIT_GPU_NAN;
    const double sh = fit_vfast_two_sum(s[0], s[1], &s[1]), ch = fit_vfast_two_sum(c[0], c[1], &c[1]);
    const double q = fit_vdiv2(sh, s[1], ch, c[1], &low);
    return copysign(1.0, x) * (q + low);
}

/* ---- arcs -------------------------------------------------------------------------------------------------- */

/* *hi + *lo = the arc whose tangent is (nh + nl)/(dh + dl), both not negative, not both 0. */
FIT_INLINE void fit_gpu_arc(double nh, double nl, double dh, double dl, double *hi, double *lo)
{
    const int mid = nh > 0x1.a827999fcef32p-2 * dh, top = nh > 0x1.3504f333f9de6p1 * dh;
    double al, bl, zl, e, base = top ? 0x1.921fb54442d18p0 : mid ? 0x1.921fb54442d18p-1 : 0.0;
    const double a = fit_vtwo_sum(nh, -dh, &al), b = fit_vtwo_sum(nh, dh, &bl);
    const double ph = top ? -dh : mid ? a : nh, pl = top ? -dl : mid ? al + (nl - dl) : nl;
    const double qh = top ? nh : mid ? b : dh, ql = top ? nl : mid ? bl + (nl + dl) : dl;
    const double zh = fit_vdiv2(ph, pl, qh, ql, &zl);
    const double rest = zl + (base * 0x1.678afae35cdd1p-55 + fit_vatan_tail(zh));
    base = fit_vtwo_sum(base, zh, &e);
    *hi = fit_vfast_two_sum(base, e + rest, lo);
}

/* The square root of 1 - x^2, as two doubles. */
FIT_INLINE double fit_gpu_complement(double x, double *low)
{
    double sl, rl, l;
    const double square = fit_vtwo_prod(x, x, &sl), h = fit_vtwo_sum(1.0, -square, &l), c = sqrt(h);
    const double back = fit_vtwo_prod(c, c, &rl);
    *low = c > 0.0 ? 0.5 * (((h - back) - rl) + (l - sl)) / c : 0.0;
    return c;
}

FIT_HUGE double fit_gpu_asin(double x)
{
    const double a = fabs(x);
    double low, h, l;
    if (!(a <= 1.0))
        return FIT_GPU_NAN;
    if (a < 0x1p-28)
        return x;
    const double c = fit_gpu_complement(a, &low);
    fit_gpu_arc(a, 0.0, c, low, &h, &l);
    return copysign(h + l, x);
}

FIT_HUGE double fit_gpu_acos(double x)
{
    const double a = fabs(x);
    double low, h, l, e;
    if (!(a <= 1.0))
        return FIT_GPU_NAN;
    const double c = fit_gpu_complement(a, &low);
    fit_gpu_arc(c, low, a, 0.0, &h, &l);
    if (x >= 0.0)
        return h + l;
    const double r = fit_vtwo_sum(0x1.921fb54442d18p1, -h, &e);
    return r + (e + (0x1.1a62633145c07p-53 - l));
}

FIT_HUGE double fit_gpu_atan2(double y, double x)
{
    double a = fabs(y), b = fabs(x), h, l, e;
    const int back = copysign(1.0, x) < 0.0;
    if (x != x || y != y)
        return x + y;
    if (a == b) /* zeros and infinities among them */
        return copysign(a == 0.0 ? (back ? 0x1.921fb54442d18p1 : 0.0) : back ? 0x1.2d97c7f3321d2p1
                                                                             : 0x1.921fb54442d18p-1, y);
    const int steep = a > b;
    const double large = steep ? a : b;
    if (large > 0x1.fffffffffffffp1023)
        return copysign(steep ? 0x1.921fb54442d18p0 : back ? 0x1.921fb54442d18p1 : 0.0, y);
    const double scale = large > 0x1p900 ? 0x1p-400 : large < 0x1p-900 ? 0x1p600 : large < 0x1p-300 ? 0x1p300 : 1.0;
    a *= scale;
    b *= scale;
    if ((steep ? b : a) < 0x1p-60 * (steep ? a : b)) { /* next to an axis */
        if (!steep && !back)
            return copysign(fabs(y) / fabs(x), y);
        return copysign(steep ? 0x1.921fb54442d18p0 + (back ? b / a : -b / a) : 0x1.921fb54442d18p1, y);
    }
    fit_gpu_arc(a, 0.0, b, 0.0, &h, &l);
    if (!back)
        return copysign(h + l, y);
    const double r = fit_vtwo_sum(0x1.921fb54442d18p1, -h, &e);
    return copysign(r + (e + (0x1.1a62633145c07p-53 - l)), y);
}

/* ---- error functions, cube root ---------------------------------------------------------------------------- */

/* erf(x) of |x| < 1. */
FIT_INLINE double fit_gpu_erf_near(double x)
{
    return x + x * FIT_VPOLYNOMIAL(fit_erf_near, 2.0 * (x * x) - 1.0);
}

/* erfc(x), x >= 1/2. */
FIT_INLINE double fit_gpu_erfc_far(double x)
{
    double low, unscaled;
    fit_ulong t;
    if (x > 27.3)
        return 0.0;
    const double u = 1.0 / x, square = fit_vtwo_prod(x, x, &low);
    const double p = x < 1.0   ? FIT_VPOLYNOMIAL(fit_erfc_half, 2.0 * u - 3.0)
                     : x < 2.0 ? FIT_VPOLYNOMIAL(fit_erfc_one, 4.0 * u - 3.0)
                               : FIT_VPOLYNOMIAL(fit_erfc_two, (u - 0x1.1p-2) * (1.0 / 0x1.ep-3));
    const double e = fit_vexp_sum(-square, -low, &unscaled, &t);
    if (square < 700.0)
        return e * p / x;
    return fit_vexp_edge(-square, unscaled * (p / x), t); /* one rounding where it is subnormal */
}

FIT_HUGE double fit_gpu_erf(double x)
{
    const double a = fabs(x);
    if (!(a >= 1.0)) /* NaN as well */
        return fit_gpu_erf_near(x);
    return copysign(a < 6.0 ? 1.0 - fit_gpu_erfc_far(a) : 1.0, x);
}

FIT_HUGE double fit_gpu_erfc(double x)
{
    if (x >= 0.5)
        return fit_gpu_erfc_far(x);
    if (!(x < -1.0))
        return 1.0 - fit_gpu_erf_near(x);
    return x < -6.0 ? 2.0 : 2.0 - fit_gpu_erfc_far(-x);
}

FIT_HUGE double fit_gpu_cbrt(double x)
{
    double a = fabs(x), scale = 1.0, low;
    if (!(a > 0.0 && a <= 0x1.fffffffffffffp1023))
        return x;
    if (a < 0x1p-1022) {
        a *= 0x1p54;
        scale = 0x1p-18;
    } else if (a > 0x1p1000) {
        a *= 0x1p-54;
        scale = 0x1p18;
    }
    double y = fit_of_bits(fit_ubits(a) / 3 + 0x2a9f7893782da1ce); /* within 3.5 % */
    for (int k = 0; k < 3; k++) {
        const double cube = y * y * y;
        y = y - y * ((cube - a) / (2.0 * cube + a));
    }
    const double square = fit_vtwo_prod(y, y, &low), left = fma(square, y, -a) + low * y;
    return copysign((y - left / (3.0 * square)) * scale, x);
}
