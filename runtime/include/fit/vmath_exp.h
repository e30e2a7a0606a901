/* fit/vmath_exp.h -- exp, log, pow and what is made of them.  Part of fit/vmath.h.
 *
 * exp:  x = k ln 2 + r, |r| <= ln 2 / 2, e^r = 1 + r + r^2 P(r).  1 + r is split into a sum without error, and
 *       what the reduction rounds away is added at the end, so that only the last addition counts.
 * log:  x = 2^k m, sqrt(1/2) <= m < sqrt 2, f = m - 1, s = f/(2 + f), log m = 2 s + s^3 P(s^2); arranged as
 *       in fdlibm (Ng 1993): f - (f^2/2 - s (f^2/2 + s^2 P)).
 * pow:  log as the sum of two doubles (error about 2^-65, by estimate), times y, exp of the sum.
 * The polynomials are minimax approximations (Remez exchange in 50 digits), coefficients rounded to double;
 * the relative error of the function is given at each.
 */

#define FIT_LN2_HI 0x1.62e42fefa3800p-1 /* 42 bits: k * HI is exact */
#define FIT_LN2_LO 0x1.ef35793c76730p-45
#define FIT_SHIFT 0x1.8p52 /* x + SHIFT rounds to an integer, which then stands in the low bits */

/* c[0] + c[1] x + ... + c[n - 1] x^(n - 1); n a constant: even and odd powers apart, two short chains. */
FIT_INLINE fit_vd fit_vpolynomial(FIT_COEFFICIENT *c, const int n, fit_vd x)
{
    fit_vd xx = x * x, even = fit_vset1(c[(n - 1) & ~1]), odd = fit_vset1(c[((n - 2) & ~1) + 1]);
    for (int k = ((n - 1) & ~1) - 2; k >= 0; k -= 2)
        even = even * xx + c[k];
    for (int k = ((n - 2) & ~1) - 1; k >= 1; k -= 2)
        odd = odd * xx + c[k];
    return odd * x + even;
}
#define FIT_VPOLYNOMIAL(c, x) fit_vpolynomial(c, (int)(sizeof(c) / sizeof *(c)), x)

/* e^(x + xl) = 2^k (1 + r + q): r and the small q; t holds k in its low bits.  |x| < 2^20, |xl| < 2^-40.
 * Integers are unsigned: lanes that are replaced later may hold any bits. */
FIT_INLINE void fit_vexp_reduce(fit_vd x, fit_vd xl, fit_vd *r_out, fit_vd *q_out, fit_vu *t_out)
{
    fit_vd t = x * 0x1.71547652b82fep0 + FIT_SHIFT, k = t - FIT_SHIFT;
    fit_vd x1 = x - k * FIT_LN2_HI;
    fit_vd r = x1 - k * FIT_LN2_LO;
    fit_vd rl = ((x1 - r) - k * FIT_LN2_LO) + xl;
    fit_vd r2 = r * r, r4 = r2 * r2;
    /* P, error 2^-60 */
    fit_vd p0 = r * 0x1.555555555555bp-3 + 0.5;
    fit_vd p1 = r * 0x1.111111110ec5dp-7 + 0x1.5555555555503p-5;
    fit_vd p2 = r * 0x1.a01a01b37e5ecp-13 + 0x1.6c16c16c3049ep-10;
    fit_vd p3 = r * 0x1.71ddf02075c67p-19 + 0x1.a01a01368a6d1p-16;
    fit_vd p4 = r * 0x1.af6be8721c341p-26 + 0x1.27e5b4502acb6p-22;
    fit_vd p5 = r2 * 0x1.1e3d1ef81eb1bp-29 + p4;
    fit_vd p = ((p5 * r2 + p3) * r4 + (p2 * r2 + p1)) * r2 + p0;
    *r_out = r;
    fit_vd g = r2 * p;
    *q_out = g + (rl + rl * (r + g)); /* e^r rl: xl may be as large as 2^-44 */
    *t_out = fit_ubits(t);
}

/* y 2^k, where it may overflow or underflow: in two steps.  Beyond 746 k is nonsense and y as well. */
FIT_INLINE fit_vd fit_vexp_edge(fit_vd x, fit_vd y, fit_vu t)
{
    fit_vu k = t - 0x4338000000000000, h = (fit_vu)((fit_vm)k >> 1);
    fit_vd r = y * fit_of_bits((h + 1023) << 52) * fit_of_bits((k - h + 1023) << 52);
    r = fit_vselect(x > 710, fit_vset1((double)INFINITY), r);
    return fit_vselect(x < -746, fit_vset1(0), r);
}

FIT_INLINE fit_vd fit_vexp_sum(fit_vd x, fit_vd xl, fit_vd *y_out, fit_vu *t)
{
    fit_vd r, q;
    fit_vexp_reduce(x, xl, &r, &q, t);
    fit_vd s = 1.0 + r, y = s + ((r - (s - 1.0)) + q);
    *y_out = y;
    return fit_of_bits(fit_ubits(y) + (*t << 52));
}

/* e^x.  Overflows to inf, underflows gradually. */
FIT_INLINE fit_vd fit_vexp(fit_vd x)
{
    fit_vd y;
    fit_vu t;
    fit_vd r = fit_vexp_sum(x, FIT_ZERO, &y, &t);
    fit_vm edge = fit_vnot(fit_vabs(x) < 708);
    return FIT_RARE(edge) ? fit_vexp_edge(x, y, t) : r;
}

/* (e^x - 1)/2 = *hi + *lo, yet to be added up (lo is not small), with about 2^-57 relative error.
 * x is cut at -40 and 710; NaN through. */
FIT_INLINE void fit_vexpm1_half(fit_vd x, fit_vd *hi, fit_vd *lo)
{
    fit_vd r, q, e;
    fit_vu t;
    x = fit_vmin(fit_vset1(710), fit_vmax(fit_vset1(-40), x));
    fit_vexp_reduce(x, FIT_ZERO, &r, &q, &t);
    fit_vd half = fit_of_bits((t + 1022) << 52); /* 2^(k-1) */
    fit_vd u = half - 0.5, ul = (half - u) - 0.5;
    *hi = fit_vfast_two_sum(u, half * r, &e);
    *lo = (e + ul) + half * q;
}

/* e^x - 1. */
FIT_INLINE fit_vd fit_vexpm1(fit_vd x)
{
    fit_vd h, l;
    fit_vexpm1_half(x, &h, &l);
    return fit_vselect(fit_vabs(x) < 0x1p-54, x, 2.0 * (h + l)); /* half a subnormal is not exact */
}

/* E/(E + 2), E = e^(2x) - 1. */
FIT_INLINE fit_vd fit_vtanh(fit_vd x)
{
    fit_vd a = fit_vmin(fit_vset1(20), fit_vabs(x)), h, l, dl, ql;
    fit_vexpm1_half(2.0 * a, &h, &l);
    h = fit_vfast_two_sum(h, l, &l);
    fit_vd dh = fit_vtwo_sum(fit_vset1(1), h, &dl);
    fit_vd q = fit_vdiv2(h, l, dh, dl + l, &ql);
    return fit_vcopysign(q + ql, x);
}

/* (E + E/(E + 1))/2, E = e^|x| - 1. */
FIT_LARGE fit_vd fit_vsinh(fit_vd x)
{
    fit_vd a = fit_vabs(x), h, l, dl, ql, e;
    fit_vexpm1_half(a, &h, &l);
    h = fit_vfast_two_sum(h, l, &l);
    fit_vd dh = fit_vtwo_sum(fit_vset1(1), 2.0 * h, &dl);
    fit_vd q = fit_vdiv2(h, l, dh, dl + 2.0 * l, &ql);
    fit_vd s = fit_vfast_two_sum(h, q, &e);
    fit_vd r = fit_vselect(a < 0x1p-28, x, fit_vcopysign(s + (e + (l + ql)), x));
    fit_vm rare = fit_vnot(a < 709);
    return FIT_RARE(rare) ? fit_vpatch(sinh, rare, x, r) : r;
}

FIT_LARGE fit_vd fit_vcosh(fit_vd x)
{
    fit_vd a = fit_vabs(x), r, q, el;
    fit_vu t;
    fit_vexp_reduce(a, FIT_ZERO, &r, &q, &t);
    fit_vd half = fit_of_bits((t + 1022) << 52); /* 2^(k-1) */
    fit_vd s = 1.0 + r, h = half * s, l = half * ((r - (s - 1.0)) + q);
    h = fit_vfast_two_sum(h, l, &l);
    fit_vd c = fit_vfast_two_sum(h, 0.25 / h, &el);
    fit_vd y = c + (el + l);
    fit_vm rare = fit_vnot(a < 709);
    return FIT_RARE(rare) ? fit_vpatch(cosh, rare, x, y) : y;
}

/* 1/(1 + e^-x), as e/(1 + e) for x < 0. */
FIT_INLINE fit_vd fit_vlogistic(fit_vd x)
{
    fit_vd e = fit_vexp(-fit_vabs(x));
    return fit_vselect(x < 0, e, fit_vset1(1)) / (1.0 + e);
}

/* ---- logarithms ------------------------------------------------------------------------------------- */

/* x = 2^k m, x positive and normal; m in [sqrt(1/2), sqrt 2); *biased = k + 1023. */
FIT_INLINE fit_vd fit_vlog_split(fit_vd x, fit_vd *k, fit_vu *biased)
{
    fit_vu ix = fit_ubits(x), e = (ix + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd)) >> 52;
    *biased = e;
    *k = fit_of_bits(e | 0x4330000000000000) - (0x1p52 + 1023); /* integer to double without a conversion */
    return fit_of_bits(ix - (e << 52) + 0x3ff0000000000000);
}

/* k ln 2 + log(1 + f) + small, sqrt(1/2) <= 1 + f < sqrt 2, as the sum of the result and *low. */
FIT_INLINE fit_vd fit_vlog_sum2(fit_vd k, fit_vd f, fit_vd small, fit_vd *low)
{
    fit_vd s = f / (2.0 + f), z = s * s, w = z * z, h = 0.5 * (f * f);
    /* P, error 2^-59 */
    fit_vd p = (z * 0x1.2f0d8e947b78bp-3 + 0x1.39a0f5130ff51p-3) * w +
               (z * 0x1.7466462b0f916p-3 + 0x1.c71c51e80442dp-3);
    p = p * w + (z * 0x1.249249421787dp-2 + 0x1.999999997fb34p-2);
    fit_vd R = z * (p * z + 0x1.5555555555593p-1);
    fit_vd k_hi = k * FIT_LN2_HI, a = k_hi + f, e = (k_hi - a) + f; /* without error: k_hi is exact */
    fit_vd b = e - (h - (s * (h + R) + (k * FIT_LN2_LO + small))), sum = a + b;
    *low = (a - sum) + b;
    return sum;
}

FIT_INLINE fit_vd fit_vlog_sum(fit_vd k, fit_vd f, fit_vd small)
{
    fit_vd low;
    return fit_vlog_sum2(k, f, small, &low);
}

FIT_INLINE fit_vd fit_vlog(fit_vd x)
{
    fit_vd k;
    fit_vu biased;
    fit_vd m = fit_vlog_split(x, &k, &biased);
    fit_vd r = fit_vlog_sum(k, m - 1.0, FIT_ZERO);
    fit_vm rare = fit_vnot((x >= 0x1p-1022) & (x <= 0x1.fffffffffffffp1023));
    return FIT_RARE(rare) ? fit_vpatch(log, rare, x, r) : r;
}

/* log x and what its rounding left; the sum is good to about 2^-54 of it. */
FIT_INLINE fit_vd fit_vlog_low(fit_vd x, fit_vd *low)
{
    fit_vd k;
    fit_vu biased;
    fit_vd m = fit_vlog_split(x, &k, &biased);
    fit_vd r = fit_vlog_sum2(k, m - 1.0, FIT_ZERO, low);
    fit_vm rare = fit_vnot((x >= 0x1p-1022) & (x <= 0x1.fffffffffffffp1023));
    if (!FIT_RARE(rare))
        return r;
    *low = fit_vselect(rare, FIT_ZERO, *low);
    return fit_vpatch(log, rare, x, r);
}

/* log(1 + x): with u = 1 + x rounded, log u + (1 + x - u)/u; where u is near 1, f is x itself. */
FIT_INLINE fit_vd fit_vlog1p(fit_vd x)
{
    fit_vd c, k;
    fit_vu biased;
    fit_vd u = fit_vtwo_sum(fit_vset1(1), x, &c);
    fit_vd m = fit_vlog_split(u, &k, &biased), f = m - 1.0;
    fit_vm near1 = k == 0;
    c *= fit_of_bits((2046 - biased) << 52);
    c = fit_vselect(near1, FIT_ZERO, c * ((f * f - f) + 1.0)); /* c/m to a few per cent is enough */
    fit_vd r = fit_vlog_sum(k, fit_vselect(near1, x, f), c);
    r = fit_vselect(x == 0, x, r); /* -0 */
    fit_vm rare = fit_vnot((x > -1) & (x <= 0x1p1022));
    return FIT_RARE(rare) ? fit_vpatch(log1p, rare, x, r) : r;
}

/* log(1 + a + a^2/(1 + sqrt(1 + a^2))), a = |x|; log(2 a) far away. */
FIT_INLINE fit_vd fit_vasinh(fit_vd x)
{
    fit_vd a = fit_vabs(x);
    fit_vm far = a > 0x1p54;
    fit_vd near = a + a * (a / (1.0 + fit_vsqrt(1.0 + a * a)));
    fit_vd y = fit_vlog1p(fit_vselect(far, a, near)) + fit_vselect(far, fit_vset1(0x1.62e42fefa39efp-1), FIT_ZERO);
    return fit_vcopysign(y, x);
}

/* log(1 + e^x) = max(x, 0) + log(1 + e^-|x|). */
FIT_INLINE fit_vd fit_vsoftplus(fit_vd x)
{
    return fit_vmax(x, FIT_ZERO) + fit_vlog1p(fit_vexp(-fit_vabs(x)));
}

/* log x = *hi + *lo with relative error about 2^-65, x positive and normal. */
FIT_INLINE void fit_vlog2sum(fit_vd x, fit_vd *hi, fit_vd *lo)
{
    fit_vd k, sl, zl, szl, vl, e1, e2;
    fit_vu biased;
    fit_vd f = fit_vlog_split(x, &k, &biased) - 1.0;
    fit_vd dh = 2.0 + f, dl = f - (dh - 2.0);
    fit_vd s = fit_vdiv2(f, FIT_ZERO, dh, dl, &sl);
    fit_vd z = fit_vtwo_prod(s, s, &zl);
    zl += 2.0 * s * sl;
    /* log(1 + f) = 2 s + s z (2/3 + z Q), Q to 2^-66 of the whole */
    fit_vd w = z * z;
    fit_vd Q = (z * 0x1.eb20d75bce5d8p-4 + 0x1.de318e2acc42dp-4) * w +
               (z * 0x1.1120c1819652ep-3 + 0x1.3b1362671598dp-3);
    Q = (Q * w + (z * 0x1.745d18337acd3p-3 + 0x1.c71c71c57dff3p-3)) * w +
        (z * 0x1.2492492493049p-2 + 0x1.9999999999996p-2);
    fit_vd c = fit_vset1(0x1.5555555555555p-1);
    fit_vd t = c + z * Q;
    fit_vd tl = ((c - t) + z * Q) + (0x1.5555555555555p-55 + zl * Q);
    fit_vd sz = fit_vtwo_prod(s, z, &szl);
    szl += s * zl + sl * z;
    fit_vd v = fit_vtwo_prod(sz, t, &vl);
    vl += sz * tl + szl * t;
    fit_vd a = fit_vfast_two_sum(k * FIT_LN2_HI, 2.0 * s, &e1);
    a = fit_vfast_two_sum(a, v, &e2);
    fit_vd b = e1 + (e2 + (vl + (2.0 * sl + k * FIT_LN2_LO)));
    *hi = fit_vfast_two_sum(a, b, lo);
}

/* x^y. */
FIT_LARGE fit_vd fit_vpow(fit_vd x, fit_vd y)
{
    fit_vd h, l, pl, unscaled;
    fit_vu t;
    fit_vlog2sum(x, &h, &l);
    fit_vd p = fit_vtwo_prod(y, h, &pl);
    pl += y * l;
    fit_vd r = fit_vexp_sum(p, pl, &unscaled, &t);
    fit_vm rare = fit_vnot((x >= 0x1p-1022) & (x <= 0x1.fffffffffffffp1023) & (fit_vabs(p) < 708));
    return FIT_RARE(rare) ? fit_vpatch2(pow, rare, x, y, r) : r;
}

/* x^y where log x is there already: log_x + low from fit_vlog_low(x), infinite or NaN where x is not a positive
 * number.  A third of the cost of fit_vpow; error 0.7 ulp + 0.45 ulp for each unit of |log x^y|. */
FIT_INLINE fit_vd fit_vpow_of_log(fit_vd x, fit_vd y, fit_vd log_x, fit_vd low)
{
    fit_vd pl, unscaled;
    fit_vu t;
    fit_vd p = fit_vtwo_prod(y, log_x, &pl);
    pl += y * low;
    fit_vd r = fit_vexp_sum(p, pl, &unscaled, &t);
    fit_vm rare = fit_vnot((fit_vabs(p) < 708) & (x >= 0x1p-1022));
    return FIT_RARE(rare) ? fit_vpatch2(pow, rare, x, y, r) : r;
}

/* ---- lanes of libm ---------------------------------------------------------------------------------- */
FIT_LANES_OF(fit_verf, erf)
FIT_LANES_OF(fit_verfc, erfc)
FIT_LANES_OF(fit_vcbrt, cbrt)
