/* extended.c -- numbers with about twice the digits of a long double.
 *
 * two_sum: Knuth, The Art of Computer Programming 2, 4.2.2, theorem B.  two_prod: Dekker, Numer. Math. 18
 * (1971) 224, with Veltkamp's split.  Sums and products of pairs as in Dekker's paper; division and the root
 * by one correction of the long double quotient.
 */
#include "graph/extended.h"

#include <float.h>
#include <math.h>

#include "graph/functions.h"
#include "base/diag.h"
#include "graph/special.h"

typedef struct hg_ext ext;

/* --- arithmetic --------------------------------------------------------------------------------------- */

static ext finished(long double s, long double e)
{
    long double hi = s + e;
    return isfinite(hi) ? (ext){hi, e - (hi - s)} : (ext){s, 0};
}

static ext two_sum(long double a, long double b)
{
    long double s = a + b, t = s - a;
    return isfinite(s) ? (ext){s, (a - (s - t)) + (b - t)} : (ext){s, 0};
}

static void split(long double a, long double *high, long double *low)
{
    const long double factor = (long double)(1ULL << ((LDBL_MANT_DIG + 1) / 2)) + 1;
    long double c = factor * a;
    *high = c - (c - a);
    *low = a - *high;
}

static ext two_prod(long double a, long double b)
{
    long double p = a * b, ah, al, bh, bl;
    if (!isfinite(p) || fabsl(a) > 0x1p8000L || fabsl(b) > 0x1p8000L)
        return hg_ext(p);
    split(a, &ah, &al);
    split(b, &bh, &bl);
    return (ext){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

ext hg_ext_add(ext a, ext b)
{
    ext s = two_sum(a.hi, b.hi), t = two_sum(a.lo, b.lo);
    s = finished(s.hi, s.lo + t.hi);
    return finished(s.hi, s.lo + t.lo);
}

static ext negative(ext a)
{
    return (ext){-a.hi, -a.lo};
}

ext hg_ext_sub(ext a, ext b)
{
    return hg_ext_add(a, negative(b));
}

ext hg_ext_mul(ext a, ext b)
{
    ext p = two_prod(a.hi, b.hi);
    return isfinite(p.hi) ? finished(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi)) : p;
}

static ext times(ext a, long double b)
{
    ext p = two_prod(a.hi, b);
    return isfinite(p.hi) ? finished(p.hi, p.lo + a.lo * b) : p;
}

ext hg_ext_div(ext a, ext b)
{
    long double q = a.hi / b.hi;
    if (!isfinite(q) || !isfinite(b.hi) || q == 0)
        return hg_ext(q);
    ext r = hg_ext_sub(a, times(b, q));
    long double q2 = r.hi / b.hi;
    r = hg_ext_sub(r, times(b, q2));
    ext s = finished(q, q2);
    return finished(s.hi, s.lo + r.hi / b.hi);
}

static ext root(ext a)
{
    long double s = sqrtl(a.hi);
    if (!(s > 0) || !isfinite(s))
        return hg_ext(s);
    ext r = hg_ext_sub(a, two_prod(s, s));
    return finished(s, r.hi / (2 * s));
}

/* a / n for a small whole number n: one division, the remainder is exact. */
static ext over(ext a, long double n)
{
    long double q = a.hi / n;
    if (!isfinite(q))
        return hg_ext(q);
    ext p = two_prod(q, n);
    return finished(q, (((a.hi - p.hi) - p.lo) + a.lo) / n);
}

/* Halving and doubling are exact. */
static ext scaled(ext a, int power)
{
    return (ext){ldexpl(a.hi, power), ldexpl(a.lo, power)};
}

/* --- constants: 60 bits a piece ------------------------------------------------------------------------ */

static const long double half_pi[4] = {0xc90fdaa22168c23p-59L, 0x9898cc51701b83ap-120L,
                                       -0xbb5bf6c7ddd660dp-181L, 0xe804177d4c76273p-244L};
static const long double ln2[4] = {0xb17217f7d1cf79bp-60L, -0x86c3898cff81a13p-121L,
                                   0xbd03cd0c99ca62ep-182L, -0xe93af974523a2a8p-243L};
static const long double two_over_root_pi[4] = {0x906eba8214db689p-59L, -0xa38add6025004f3p-121L,
                                                0x8281341d7587ceap-184L, 0xb9cd0ac18667310p-246L};

/* x - n c, c of four pieces */
static ext reduced(ext x, long double n, const long double c[4])
{
    for (int k = 0; k < 4; k++)
        x = hg_ext_sub(x, two_prod(n, c[k]));
    return x;
}

static ext constant(const long double c[4])
{
    return reduced(hg_ext(0), -1, c);
}

/* --- exponential and logarithm ------------------------------------------------------------------------- */

/* e^x - 1 = 2^k (1 + s) - 1 with s = e^r - 1; r is divided by 2^9 for the series, then 1 + s is squared. */
static ext expm1_parts(ext x, int *k)
{
    long double n = rintl(x.hi / ln2[0]);
    ext r = scaled(n == 0 ? x : reduced(x, n, ln2), -9), s = r, term = r;
    for (int m = 2; m < 14 && fabsl(term.hi) > 0x1p-130L * fabsl(r.hi); m++) {
        term = over(hg_ext_mul(term, r), m);
        s = hg_ext_add(s, term);
    }
    for (int m = 0; m < 9; m++)
        s = hg_ext_add(scaled(s, 1), hg_ext_mul(s, s));
    *k = (int)n;
    return s;
}

static ext ext_exp(ext x)
{
    int k;
    if (!(fabsl(x.hi) < 11000)) /* whatever the result, it is beyond the range of doubles */
        return hg_ext(expl(x.hi));
    ext s = expm1_parts(x, &k);
    return scaled(hg_ext_add(hg_ext(1), s), k);
}

static ext ext_expm1(ext x)
{
    int k;
    if (!(fabsl(x.hi) < 11000) || x.hi == 0)
        return hg_ext(expm1l(x.hi));
    ext s = expm1_parts(x, &k);
    return k == 0 ? s : hg_ext_add(scaled(s, k), two_sum(ldexpl(1, k), -1));
}

/* y + log(1 + d) with d = (z - (e^y - 1)) / e^y, which is of the size of the error of y */
static ext ext_log1p(ext z)
{
    long double y = log1pl(z.hi);
    if (!isfinite(y) || y == 0)
        return hg_ext(y);
    ext m = ext_expm1(hg_ext(y)), d = hg_ext_div(hg_ext_sub(z, m), hg_ext_add(hg_ext(1), m));
    return hg_ext_add(hg_ext(y), hg_ext_sub(d, scaled(hg_ext_mul(d, d), -1)));
}

static ext ext_log(ext x)
{
    long double y = logl(x.hi);
    if (!isfinite(y))
        return hg_ext(y);
    if (fabsl(x.hi - 1) < 0.5L)
        return ext_log1p(hg_ext_sub(x, hg_ext(1)));
    ext d = hg_ext_sub(hg_ext_mul(x, ext_exp(hg_ext(-y))), hg_ext(1));
    return hg_ext_add(hg_ext(y), hg_ext_sub(d, scaled(hg_ext_mul(d, d), -1)));
}

/* --- sine and cosine ------------------------------------------------------------------------------------ */

/* sin r = sum of (-1)^n r^(2n + 1) / (2n + 1)!, |r| < 0.8.  Terms that are far below the first need 64 bits alone. */
static ext sine_series(ext r)
{
    ext rr = negative(hg_ext_mul(r, r)), term = r, s = r;
    int n = 3;
    for (; n < 36 && fabsl(term.hi) > 0x1p-68L * fabsl(r.hi); n += 2) {
        term = over(hg_ext_mul(term, rr), (long double)n * (n - 1));
        s = hg_ext_add(s, term);
    }
    long double tail = 0, last = term.hi;
    for (; n < 36 && fabsl(last) > 0x1p-130L * fabsl(r.hi); n += 2)
        tail += last *= rr.hi / ((long double)n * (n - 1));
    return hg_ext_add(s, hg_ext(tail));
}

static void sine_cosine(ext x, ext *s, ext *c)
{
    long double n = rintl(x.hi / half_pi[0]);
    if (!(fabsl(x.hi) < 0x1p60L)) {
        *s = hg_ext(sinl(x.hi));
        *c = hg_ext(cosl(x.hi));
        return;
    }
    ext r = n == 0 ? x : reduced(x, n, half_pi), sr = sine_series(r);
    ext cr = root(hg_ext_sub(hg_ext(1), hg_ext_mul(sr, sr)));
    int quarter = (int)(n - 4 * floorl(n / 4));
    *s = quarter == 0 ? sr : quarter == 1 ? cr : quarter == 2 ? negative(sr) : negative(cr);
    *c = quarter == 0 ? cr : quarter == 1 ? negative(sr) : quarter == 2 ? negative(cr) : sr;
}

ext hg_ext_atan2(ext y, ext x)
{
    long double a = atan2l(y.hi, x.hi);
    ext s, c;
    if (!isfinite(a) || a == 0 || !isfinite(x.hi) || !isfinite(y.hi))
        return hg_ext(a);
    sine_cosine(hg_ext(a), &s, &c); /* the remaining angle equals its tangent, to 180 bits */
    ext up = hg_ext_sub(hg_ext_mul(y, c), hg_ext_mul(x, s));
    ext down = hg_ext_add(hg_ext_mul(x, c), hg_ext_mul(y, s));
    return hg_ext_add(hg_ext(a), hg_ext_div(up, down));
}

/* --- the others ----------------------------------------------------------------------------------------- */

static ext one_minus_square(ext x)
{
    return hg_ext_mul(hg_ext_sub(hg_ext(1), x), hg_ext_add(hg_ext(1), x));
}

static ext hyperbolic(enum hg_op f, ext x)
{
    ext a = x.hi < 0 ? negative(x) : x, r, u;
    if (f == HG_COSH) {
        u = ext_exp(a);
        return scaled(hg_ext_add(u, hg_ext_div(hg_ext(1), u)), -1);
    }
    if (a.hi > 10000)
        return hg_ext(f == HG_SINH ? sinhl(x.hi) : tanhl(x.hi));
    u = ext_expm1(f == HG_SINH ? a : scaled(a, 1));
    if (f == HG_SINH)
        r = scaled(hg_ext_add(u, hg_ext_div(u, hg_ext_add(u, hg_ext(1)))), -1);
    else
        r = hg_ext_div(u, hg_ext_add(u, hg_ext(2)));
    return x.hi < 0 ? negative(r) : r;
}

/* log(1 + a + a^2/(1 + sqrt(1 + a^2))) for a = |x|; log(2 a) far away */
static ext ext_asinh(ext x)
{
    ext a = x.hi < 0 ? negative(x) : x, aa = hg_ext_mul(a, a), one = hg_ext(1), r;
    if (!(a.hi < 0x1p70L))
        r = isfinite(a.hi) ? hg_ext_add(ext_log(a), ext_log(hg_ext(2))) : a;
    else
        r = ext_log1p(hg_ext_add(a, hg_ext_div(aa, hg_ext_add(one, root(hg_ext_add(one, aa))))));
    return x.hi < 0 ? negative(r) : r;
}

/* 2/sqrt(pi) e^(-x^2) sum of 2^n x^(2n+1) / (1 3 ... (2n+1)): no cancellation (Abramowitz, Stegun 7.1.6) */
static ext erf_series(ext x)
{
    ext xx = hg_ext_mul(x, x), term = x, sum = x;
    for (int n = 1; n < 400 && fabsl(term.hi) > fabsl(sum.hi) * 0x1p-130L; n++) {
        term = over(scaled(hg_ext_mul(term, xx), 1), 2 * n + 1);
        sum = hg_ext_add(sum, term);
    }
    return hg_ext_mul(hg_ext_mul(constant(two_over_root_pi), ext_exp(negative(xx))), sum);
}

/* e^(-x^2)/sqrt(pi) / (x + (1/2)/(x + 1/(x + (3/2)/(x + ...)))), x >= 4 (Abramowitz, Stegun 7.1.14) */
static ext erfc_fraction(ext x)
{
    ext d = x;
    for (int n = 120; n > 0; n--)
        d = hg_ext_add(x, hg_ext_div(hg_ext(0.5L * n), d));
    ext top = hg_ext_mul(scaled(constant(two_over_root_pi), -1), ext_exp(negative(hg_ext_mul(x, x))));
    return hg_ext_div(top, d);
}

static ext error_function(enum hg_op f, ext x)
{
    if (!isfinite(x.hi))
        return hg_ext(f == HG_ERF ? erfl(x.hi) : erfcl(x.hi));
    if (x.hi < 4 && x.hi > -7)
        return f == HG_ERF ? erf_series(x) : hg_ext_sub(hg_ext(1), erf_series(x));
    if (x.hi < 0)
        return f == HG_ERF ? hg_ext(-1) : hg_ext(2);
    ext c = erfc_fraction(x);
    return f == HG_ERFC ? c : hg_ext_sub(hg_ext(1), c);
}

/* k-th derivative of sin(x)/x, k = 0, 1, 2: Taylor series sum of (-1)^n x^(2n-k) / ((2n-k)! (2n+1)) below 1 */
static ext sinc_derivative(ext x, int k)
{
    ext xx = hg_ext_mul(x, x), s, c;
    if (fabsl(x.hi) < 1) {
        int n = (k + 1) / 2;
        ext term = k == 1 ? negative(x) : hg_ext(k == 2 ? -1 : 1), sum = hg_ext(0);
        for (; n < 22 && !(fabsl(term.hi) < 0x1p-130L * fabsl(sum.hi)); n++) {
            sum = hg_ext_add(sum, over(term, 2 * n + 1));
            term = over(hg_ext_mul(negative(xx), term), (2.0L * n + 2 - k) * (2.0L * n + 1 - k));
        }
        return sum;
    }
    sine_cosine(x, &s, &c);
    ext s0 = hg_ext_div(s, x), s1 = hg_ext_div(hg_ext_sub(c, s0), x);
    if (k < 2)
        return k ? s1 : s0;
    return negative(hg_ext_add(s0, hg_ext_div(scaled(s1, 1), x)));
}

static ext logistic(ext x)
{
    ext t = ext_exp(x.hi > 0 ? negative(x) : x), d = hg_ext_add(hg_ext(1), t);
    return hg_ext_div(x.hi > 0 ? hg_ext(1) : t, d);
}

/* a^n by squaring, n >= 0 */
static ext power(ext a, unsigned n)
{
    ext r = hg_ext(1);
    for (; n; n >>= 1, a = hg_ext_mul(a, a))
        if (n & 1)
            r = hg_ext_mul(r, a);
    return r;
}

/* Stirling's series and its derivatives, as in polygamma.c; from 64 on 14 terms leave 2^-140. */
static ext polygamma(int k, ext x)
{
    enum { TERMS = 14 };
    static const long double b[TERMS][2] = {{1, 6}, {-1, 30}, {1, 42}, {-1, 30}, {5, 66}, {-691, 2730}, {7, 6},
                                            {-3617, 510}, {43867, 798}, {-174611, 330}, {854513, 138},
                                            {-236364091, 2730}, {8553103, 6}, {-23749461029.0L, 870}};
    ext one = hg_ext(1), raised = k == 0 ? one : hg_ext(0), z = x, sum = hg_ext(0);
    if (!(x.hi > 0) || isinf(x.hi))
        return hg_ext(x.hi > 0 ? k < 2 ? INFINITY : 0 : x.hi < 0 ? NAN : k % 2 ? -INFINITY : INFINITY);
    for (; z.hi < 64; z = hg_ext_add(z, one))
        raised = k == 0 ? hg_ext_mul(raised, z)
                        : hg_ext_add(raised, hg_ext_div(hg_ext(k == 1 ? 1 : k == 2 ? -1 : 2), power(z, (unsigned)k)));
    ext u = hg_ext_div(one, z), w = hg_ext_mul(u, u);
    for (int n = TERMS; n > 0; n--) {
        long double top = b[n - 1][0] * (k % 2 ? -1 : 1) * (k == 3 ? 2 * n + 1 : 1);
        ext term = hg_ext_div(hg_ext(top), hg_ext(b[n - 1][1] * (k == 0   ? 2.0L * n * (2 * n - 1)
                                                                 : k == 1 ? 2 * n
                                                                          : 1)));
        sum = hg_ext_add(hg_ext_mul(sum, w), term);
    }
    ext log_z = ext_log(z), half = scaled(u, -1);
    if (k == 0) { /* (z - 1/2) log z - z + 1/2 log 2 pi + sum u - log of the product */
        ext r = hg_ext_sub(hg_ext_mul(hg_ext_sub(z, hg_ext(0.5L)), log_z), z);
        r = hg_ext_add(r, scaled(ext_log(scaled(constant(half_pi), 2)), -1));
        return hg_ext_sub(hg_ext_add(r, hg_ext_mul(sum, u)), ext_log(raised));
    }
    if (k == 1)
        return hg_ext_sub(hg_ext_add(hg_ext_sub(log_z, half), hg_ext_mul(sum, w)), raised);
    ext first = k == 2 ? hg_ext_add(u, scaled(w, -1)) : negative(hg_ext_add(w, hg_ext_mul(u, w)));
    return hg_ext_sub(hg_ext_add(first, hg_ext_mul(hg_ext_mul(sum, k == 2 ? u : w), w)), raised);
}

static ext sine(ext x)
{
    ext s, c;
    sine_cosine(x, &s, &c);
    return s;
}

static ext cosine(ext x)
{
    ext s, c;
    sine_cosine(x, &s, &c);
    return c;
}

static ext softplus(ext x)
{
    ext s = ext_log1p(ext_exp(x.hi > 0 ? negative(x) : x));
    return x.hi > 0 ? hg_ext_add(x, s) : s;
}

/* D_k = the integral of s^k e^(s x) over s from 0 to 1: a series of x^n / (n! (n + k + 1)) near 0, else by parts,
 * x D_k = e^x - k D_(k-1). */
ext hg_ext_exprel(int k, ext x)
{
    if (!isfinite(x.hi))
        return hg_ext(x.hi < 0 ? 0 : x.hi);
    if (fabsl(x.hi) < 2) {
        ext term = hg_ext(1), sum = over(term, k + 1);
        for (int n = 1; n < 60 && fabsl(term.hi) > 0x1p-130L * fabsl(sum.hi); n++) {
            term = over(hg_ext_mul(term, x), n);
            sum = hg_ext_add(sum, over(term, n + k + 1));
        }
        return sum;
    }
    ext d = hg_ext_div(ext_expm1(x), x);
    for (int n = 1; n <= k; n++)
        d = hg_ext_div(hg_ext_sub(ext_exp(x), times(d, n)), x);
    return d;
}

static ext log1mexp(ext x)
{
    if (!(x.hi < 0))
        return hg_ext(x.hi == 0 ? -INFINITY : NAN);
    return x.hi > -0.7L ? ext_log(negative(ext_expm1(x))) : ext_log1p(negative(ext_exp(x)));
}

/* E_k, k = 0 .. 3: e^(x^2) times the repeated integrals of erfc, x >= 0 (Abramowitz, Stegun 7.2.5): far from 0 from
 * their ratios R_k = E_k/E_(k-1) = 1/(2 x + 2 (k + 1) R_(k+1)), near it upwards, E_(-1) = 2/sqrt(pi). */
static void erfc_integrals(ext x, ext E[4])
{
    ext before = constant(two_over_root_pi), ratio = hg_ext(0), R[4];
    if (x.hi < 3) {
        E[0] = hg_ext_mul(ext_exp(hg_ext_mul(x, x)), error_function(HG_ERFC, x));
        for (int k = 1; k < 4; k++)
            E[k] = over(hg_ext_sub(k == 1 ? before : E[k - 2], scaled(hg_ext_mul(x, E[k - 1]), 1)), 2 * k);
        return;
    }
    for (int k = 250; k >= 0; k--) {
        ratio = hg_ext_div(hg_ext(1), scaled(hg_ext_add(x, times(ratio, k + 1)), 1));
        if (k < 4)
            R[k] = ratio;
    }
    for (int k = 0; k < 4; k++)
        E[k] = before = hg_ext_mul(before, R[k]);
}

/* Derivatives: (-2)^k k! E_k; of x < 0, those of 2 e^(x^2) - erfcx(-x). */
ext hg_ext_erfcx(int k, ext x)
{
    static const long double factor[] = {1, -2, 8, -48};
    ext E[4], a = x.hi < 0 ? negative(x) : x;
    if (!isfinite(x.hi))
        return hg_ext(isnan(x.hi) ? x.hi : x.hi > 0 ? 0 : k % 2 ? -INFINITY : INFINITY);
    erfc_integrals(a, E);
    ext d = times(E[k], factor[k]);
    if (!(x.hi < 0))
        return d;
    ext xx = hg_ext_mul(x, x), g = scaled(ext_exp(xx), 1), two_x = scaled(x, 1), h = hg_ext(1);
    if (k == 1)
        h = two_x;
    else if (k == 2)
        h = hg_ext_add(scaled(xx, 2), hg_ext(2));
    else if (k == 3)
        h = hg_ext_mul(two_x, hg_ext_add(scaled(xx, 2), hg_ext(6)));
    return hg_ext_add(hg_ext_mul(g, h), k % 2 ? d : negative(d));
}

ext hg_ext_function(enum hg_op f, ext x)
{
    switch (f) {
#define FUNCTION(name, text, language, argument, scalar, vector, value, slope, extended, ...) \
    case HG_##name: return extended;
#include "graph/ops.def"
    default: hg_bug("extended: no function %s", hg_op_text[f]);
    }
}

ext hg_ext_pow(ext a, ext b)
{
    int whole = b.lo == 0 && b.hi == rintl(b.hi);
    if (!isfinite(a.hi) || !isfinite(b.hi) || a.hi == 0 || b.hi == 0)
        return hg_ext(powl(a.hi, b.hi));
    if (whole && fabsl(b.hi) <= 64) {
        ext r = power(a, (unsigned)fabsl(b.hi));
        return b.hi < 0 ? hg_ext_div(hg_ext(1), r) : r;
    }
    if (b.lo == 0 && fabsl(b.hi) == 0.5L)
        return b.hi > 0 ? root(a) : hg_ext_div(hg_ext(1), root(a));
    if (a.hi < 0 && !whole)
        return hg_ext(NAN);
    int odd = whole && fmodl(b.hi, 2) != 0;
    ext r = ext_exp(hg_ext_mul(b, ext_log(a.hi < 0 ? negative(a) : a)));
    return a.hi < 0 && odd ? negative(r) : r;
}
