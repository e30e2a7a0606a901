/* fit/vmath_gamma.h -- the gamma function, its logarithm, and the first three derivatives of that, for x > 0.
 * Part of fit/vmath.h.
 *
 * Stirling's series and what comes of it by differentiation (Abramowitz & Stegun 1965, 6.1.40, 6.3.18, 6.4.12), with
 * the Bernoulli numbers B_2n, at z >= 8:
 *     log G(z) = (z - 1/2) log z - z + 1/2 log 2 pi + sum B_2n / (2n (2n - 1) z^(2n - 1))
 *     psi(z)   = log z - 1/(2 z) - sum B_2n / (2n z^2n)
 *     psi'(z)  = 1/z + 1/(2 z^2) + sum B_2n / z^(2n + 1),   psi'' by differentiation
 * Nine or ten terms leave 2^-56 of the result.  Below 8 the argument is raised by 8 first (6.1.15, 6.3.6, 6.4.6), with
 * P = x (x + 1) ... (x + 7):   log G(x) = log G(x + 8) - log P,   psi(x) = psi(x + 8) - P'/P.
 * lgamma is put together from pairs of doubles, so that it keeps its digits next to its zeros at 1 and 2.
 * x = 0: infinite; x < 0: NaN (the models have no use for the reflected branches).
 */

#define FIT_GAMMA_LEAST 8.0 /* Stirling's series from here on */

/* Below 2^-1000 and above 2^1000, where the vector form has no exponent to spare: the leading terms, next to which the
 * others vanish.  Not lgamma() of the C library, which writes the sign to a global that threads share. */
FIT_COLD double fit_lgamma_edge(double x)
{
    return x < 0 ? (double)NAN : x < 1 ? -FIT_LOG(x) : x * (FIT_LOG(x) - 1);
}

/* x (x + 1) ... (x + 7) = *hi + *lo, to about 2^-98. */
FIT_INLINE void fit_vrising8(fit_vd x, fit_vd *hi, fit_vd *lo)
{
    fit_vd h = x, l = FIT_ZERO;
    for (int k = 1; k < 8; k++) {
        fit_vd sl, pl, s = fit_vtwo_sum(x, fit_vset1(k), &sl), p = fit_vtwo_prod(h, s, &pl);
        l = pl + (h * sl + l * s);
        h = p;
    }
    *hi = fit_vfast_two_sum(h, l, lo);
}

/* log G(x) = the result + *low, which is not small; x between 2^-1000 and 2^1000. */
FIT_INLINE fit_vd fit_vlgamma_parts(fit_vd x, fit_vd *low_out)
{
    fit_vm small = x < FIT_GAMMA_LEAST;
    fit_vd zl, z = fit_vtwo_sum(x, fit_vselect(small, fit_vset1(FIT_GAMMA_LEAST), FIT_ZERO), &zl);
    fit_vd u = 1.0 / z, w = u * u, h, l, pl, e1, e2;
    fit_vd s = (w * 0x1.6fe96381e0680p-3 - 0x1.e4286cb0f5398p-6) * w + 0x1.a41a41a41a41ap-8;
    s = ((s * w - 0x1.f6ab0d9993c7dp-10) * w + 0x1.b951e2b18ff23p-11) * w - 0x1.3813813813814p-11;
    s = ((s * w + 0x1.a01a01a01a01ap-11) * w - 0x1.6c16c16c16c17p-9) * w + 0x1.5555555555555p-4;
    fit_vlog2sum(z, &h, &l);
    fit_vd a = z - 0.5, p = fit_vtwo_prod(a, h, &pl);
    fit_vd t = fit_vtwo_sum(p, -z, &e1), r = fit_vtwo_sum(t, fit_vset1(0x1.d67f1c864beb5p-1), &e2);
    /* zl is what rounding took from z: d log G / d z = log z - 1/(2 z) there */
    fit_vd low = ((e1 + e2) + (pl + a * l)) + (s * u + (zl * (h - 0.5 * u) - 0x1.65b5a1b7ff5dfp-55));
    if (FIT_RARE(small)) {
        fit_vd P, Pl, lh, ll, e;
        fit_vrising8(fit_vselect(small, x, fit_vset1(1)), &P, &Pl);
        fit_vlog2sum(P, &lh, &ll);
        fit_vd shifted = fit_vtwo_sum(r, -lh, &e);
        low = fit_vselect(small, low + (e - (ll + Pl / P)), low);
        r = fit_vselect(small, shifted, r);
    }
    *low_out = low;
    return r;
}

FIT_LARGE fit_vd fit_vlgamma(fit_vd x)
{
    fit_vd low, r = fit_vlgamma_parts(x, &low);
    r += low;
    fit_vm rare = fit_vnot((x >= 0x1p-1000) & (x <= 0x1p1000));
    return FIT_RARE(rare) ? fit_vpatch(fit_lgamma_edge, rare, x, r) : r;
}

/* The gamma function, from its logarithm as a pair of doubles: 1/x next to 0, infinite from 171.7 on. */
FIT_LARGE fit_vd fit_vgamma(fit_vd x)
{
    const fit_vm small = x < 0x1p-54;
    fit_vd low, y, hi = fit_vlgamma_parts(fit_vmin(fit_vset1(180), fit_vselect(small, fit_vset1(1), x)), &low);
    fit_vu t;
    hi = fit_vtwo_sum(hi, low, &low);
    fit_vd r = fit_vexp_sum(hi, low, &y, &t);
    fit_vm edge = fit_vnot(hi < 708);
    if (FIT_RARE(edge))
        r = fit_vselect(edge, fit_vexp_edge(hi, y, t), r);
    r = fit_vselect(small, 1.0 / x, r);
    return fit_vselect(x >= 0, r, fit_vset1((double)NAN));
}

FIT_INLINE fit_vd fit_vgamma_domain(fit_vd x, fit_vd at_0, fit_vd r)
{
    return fit_vselect(x > 0, r, fit_vselect(x == 0, at_0, fit_vset1((double)NAN)));
}

FIT_LARGE fit_vd fit_vdigamma(fit_vd x)
{
    fit_vm small = x < FIT_GAMMA_LEAST;
    fit_vd z = x + fit_vselect(small, fit_vset1(FIT_GAMMA_LEAST), FIT_ZERO);
    fit_vd u = 1.0 / z, w = u * u;
    fit_vd s = (w * -0x1.a74ca514ca515p+4 + 0x1.86e7f9b9fe6e8p+1) * w - 0x1.c5e5e5e5e5e5ep-2;
    s = ((s * w + 0x1.5555555555555p-4) * w - 0x1.5995995995996p-6) * w + 0x1.f07c1f07c1f08p-8;
    s = ((s * w - 0x1.1111111111111p-8) * w + 0x1.0410410410410p-8) * w - 0x1.1111111111111p-7;
    s = s * w + 0x1.5555555555555p-4;
    fit_vd r = fit_vlog(z) - (0.5 * u + s * w);
    if (FIT_RARE(small)) { /* P'/P: the sum of 1/(x + k) by two and two */
        fit_vd sum = FIT_ZERO, y = fit_vselect(small, x, fit_vset1(1));
        for (int k = 6; k >= 0; k -= 2)
            sum += (2.0 * y + (2.0 * k + 1.0)) / ((y + (double)k) * (y + (k + 1.0)));
        r = fit_vselect(small, r - sum, r);
    }
    return fit_vgamma_domain(x, fit_vset1(-(double)INFINITY), r);
}

FIT_LARGE fit_vd fit_vtrigamma(fit_vd x)
{
    fit_vm small = x < FIT_GAMMA_LEAST;
    fit_vd z = x + fit_vselect(small, fit_vset1(FIT_GAMMA_LEAST), FIT_ZERO);
    fit_vd u = 1.0 / z, w = u * u;
    fit_vd s = (w * -0x1.088fe72cfe72dp+9 + 0x1.b7c4f8f13e3c5p+5) * w - 0x1.c5e5e5e5e5e5ep+2;
    s = ((s * w + 0x1.2aaaaaaaaaaabp+0) * w - 0x1.0330330330330p-2) * w + 0x1.364d9364d9365p-4;
    s = ((s * w - 0x1.1111111111111p-5) * w + 0x1.8618618618618p-6) * w - 0x1.1111111111111p-5;
    s = s * w + 0x1.5555555555555p-3;
    fit_vd r = u + w * (0.5 + s * u);
    if (FIT_RARE(small)) {
        fit_vd sum = FIT_ZERO, y = fit_vselect(small, x, fit_vset1(1));
        for (int k = 7; k >= 0; k--)
            sum += 1.0 / ((y + (double)k) * (y + (double)k));
        r = fit_vselect(small, r + sum, r);
    }
    return fit_vgamma_domain(x, fit_vset1((double)INFINITY), r);
}

FIT_LARGE fit_vd fit_vtetragamma(fit_vd x)
{
    fit_vm small = x < FIT_GAMMA_LEAST;
    fit_vd z = x + fit_vselect(small, fit_vset1(FIT_GAMMA_LEAST), FIT_ZERO);
    fit_vd u = 1.0 / z, w = u * u;
    fit_vd s = (w * -0x1.5b3cdf6b0df6bp+13 + 0x1.051cf3cf3cf3dp+10) * w - 0x1.e244444444444p+6;
    s = ((s * w + 0x1.1800000000000p+4) * w - 0x1.a52e52e52e52ep+1) * w + 0x1.aaaaaaaaaaaabp-1;
    s = ((s * w - 0x1.3333333333333p-2) * w + 0x1.5555555555555p-3) * w - 0x1.5555555555555p-3;
    s = s * w + 0.5;
    fit_vd r = -(w + w * (u + s * w));
    if (FIT_RARE(small)) {
        fit_vd sum = FIT_ZERO, y = fit_vselect(small, x, fit_vset1(1));
        for (int k = 7; k >= 0; k--)
            sum += 2.0 / ((y + (double)k) * (y + (double)k) * (y + (double)k));
        r = fit_vselect(small, r - sum, r);
    }
    return fit_vgamma_domain(x, fit_vset1(-(double)INFINITY), r);
}
