/* fit/vmath_trig.h -- sin, cos, tan, atan, and sin(x)/x with two derivatives.  Part of fit/vmath.h.
 *
 * Reduction (Cody & Waite 1980): r = x - k pi/2, |r| <= pi/4, as the sum of two doubles.  pi/2 is kept in
 * three doubles with fused multiply-add (x - k A is exact: a multiple of 2^-53 below 1), else in three parts
 * of 33 bits and a double (products with k < 2^20 are exact).  The error is below 2^-100, and the double
 * nearest to a multiple of pi/2 below 2^20 is about 2^-55 away from it: relative precision is kept there too.
 * The polynomials are minimax approximations, as in vmath_exp.h.
 */

#define FIT_TRIG_MAX 0x1p20 /* larger arguments: libm, lane by lane */

/* x = k pi/2 + r + *tail; the low two bits of *quadrant are those of k. */
FIT_INLINE fit_vd fit_vtrig_reduce(fit_vd x, fit_vd *tail, fit_vu *quadrant)
{
    fit_vd t = x * 0x1.45f306dc9c883p-1 + FIT_SHIFT, k = t - FIT_SHIFT, e1, h;
    *quadrant = fit_ubits(t);
#if FIT_FMA
    fit_vd pl, r = fit_vfma(-k, fit_vset1(0x1.921fb54442d18p0), x);
    fit_vd p = fit_vtwo_prod(k, fit_vset1(0x1.1a62633145c07p-54), &pl);
    h = fit_vtwo_sum(r, -p, &e1);
    *tail = (e1 - pl) + k * 0x1.f1976b7ed8fbcp-110;
#else
    fit_vd e2, r = x - k * 0x1.921fb544p0;
    r = fit_vtwo_sum(r, -(k * 0x1.0b4611a6p-34), &e1);
    h = fit_vtwo_sum(r, -(k * 0x1.3198a2ep-69), &e2);
    *tail = (e1 + e2) - k * 0x1.b839a252049c1p-104;
#endif
    return h;
}

/* sin and cos of x + lo, each as two doubles yet to be added up. */
FIT_INLINE void fit_vsincos_parts(fit_vd x, fit_vd lo, fit_vd s[2], fit_vd c[2])
{
    fit_vu quadrant;
    fit_vd tail, r = fit_vtrig_reduce(x, &tail, &quadrant);
    tail += lo;
    fit_vd z = r * r, w = z * z;
    /* (sin r - r)/r^3, error 2^-57; (cos r - 1 + z/2)/z^2, error 2^-60 */
    fit_vd S = (z * 0x1.61208c1342171p-33 + -0x1.ae64528d2cebdp-26) +
               w * -0x1.aaa22cb597c12p-41;
    S = S * w + (z * 0x1.71de3a53304dcp-19 + -0x1.a01a01a018a6ap-13);
    S = S * w + (z * 0x1.111111111110bp-7 + -0x1.5555555555555p-3);
    fit_vd C = (z * -0x1.8fa4800320eccp-37 + 0x1.1ee9d783bcbacp-29) * w +
               (z * -0x1.27e4f7ea7e126p-22 + 0x1.a01a019c83efdp-16);
    C = C * w + (z * -0x1.6c16c16c14f8ep-10 + 0x1.555555555554bp-5);
    fit_vd sl = r * z * S, half = 0.5 * z, ch = 1.0 - half, cl = ((1.0 - ch) - half) + w * C;
    fit_vd sl2 = sl + tail * (ch + cl), cl2 = cl - tail * (r + sl);
    fit_vm swap = (fit_vm)(0 - (quadrant & 1));
    fit_vm ss = (fit_vm)(quadrant << 62) & FIT_SIGN_BIT, cs = (fit_vm)((quadrant + 1) << 62) & FIT_SIGN_BIT;
    s[0] = fit_of_bits(fit_bits(fit_vselect(swap, ch, r)) ^ ss);
    s[1] = fit_of_bits(fit_bits(fit_vselect(swap, cl2, sl2)) ^ ss);
    c[0] = fit_of_bits(fit_bits(fit_vselect(swap, r, ch)) ^ cs);
    c[1] = fit_of_bits(fit_bits(fit_vselect(swap, sl2, cl2)) ^ cs);
}

#ifndef FIT_GPU
/* Lanes of libm for sin and cos of x + lo. */
FIT_COLD void fit_vsincos_patch(const fit_vm *m, const fit_vd *x, const fit_vd *lo, fit_vd *s, fit_vd *c)
{
    for (int i = 0; i < FIT_VL; i++)
        if ((*m)[i]) {
            double sx = sin((*x)[i]), cx = cos((*x)[i]);
            (*s)[i] = sx + (*lo)[i] * cx;
            (*c)[i] = cx - (*lo)[i] * sx;
        }
}
#endif

/* sin and cos of hi + lo, where lo is a correction: |lo| <= ulp(hi). */
FIT_INLINE void fit_vsincos2(fit_vd hi, fit_vd lo, fit_vd *s, fit_vd *c)
{
    fit_vd sp[2], cp[2];
    fit_vsincos_parts(hi, lo, sp, cp);
    fit_vd sr = sp[0] + sp[1], cr = cp[0] + cp[1];
    fit_vm rare = fit_vnot(fit_vabs(hi) <= FIT_TRIG_MAX);
    if (FIT_RARE(rare)) {
        fit_vd s2 = sr, c2 = cr; /* copies: only these need an address */
        fit_vm m = rare;
        fit_vsincos_patch(&m, &hi, &lo, &s2, &c2);
        sr = s2;
        cr = c2;
    }
    *s = sr;
    *c = cr;
}

FIT_INLINE void fit_vsincos(fit_vd x, fit_vd *s, fit_vd *c)
{
    fit_vsincos2(x, FIT_ZERO, s, c);
    *s = fit_vselect(x == 0, x, *s); /* -0 */
}

FIT_INLINE fit_vd fit_vsin(fit_vd x)
{
    fit_vd s, c;
    fit_vsincos(x, &s, &c);
    return s;
}

FIT_INLINE fit_vd fit_vcos(fit_vd x)
{
    fit_vd s, c;
    fit_vsincos2(x, FIT_ZERO, &s, &c);
    return c;
}

FIT_LARGE fit_vd fit_vtan(fit_vd x)
{
    fit_vd s[2], c[2], el;
    fit_vsincos_parts(x, FIT_ZERO, s, c);
    s[0] = fit_vfast_two_sum(s[0], s[1], &s[1]);
    c[0] = fit_vfast_two_sum(c[0], c[1], &c[1]);
    fit_vd q = fit_vdiv2(s[0], s[1], c[0], c[1], &el);
    fit_vd r = fit_vselect(x == 0, x, q + el);
    fit_vm rare = fit_vnot(fit_vabs(x) <= FIT_TRIG_MAX);
    return FIT_RARE(rare) ? fit_vpatch(tan, rare, x, r) : r;
}

/* atan r - r, |r| <= tan(pi/8) */
FIT_INLINE fit_vd fit_vatan_tail(fit_vd r)
{
    fit_vd z = r * r, w = z * z, w2 = w * w;
    /* (atan r - r)/r^3, error 2^-57 */
    fit_vd p = (z * -0x1.251c5456c324ap-6 * z + (z * 0x1.37b1ede4aa2b8p-5 + -0x1.9cc49ed7a29eap-5)) * w2 +
               ((z * 0x1.df0c23cb2ac9ap-5 + -0x1.10eb8040d1fc6p-4) * w +
                (z * 0x1.3b11141ce25b9p-4 + -0x1.745cf89308727p-4));
    p = p * w2 + ((z * 0x1.c71c70e36e3e3p-4 + -0x1.24924922a650dp-3) * w +
                  (z * 0x1.9999999995733p-3 + -0x1.555555555553cp-2));
    return r * z * p;
}

/* |x| <= tan(pi/8): x;  up to tan(3 pi/8): pi/4 + atan((x-1)/(x+1));  above: pi/2 - atan(1/x). */
FIT_LARGE fit_vd fit_vatan(fit_vd x)
{
    fit_vd a = fit_vmin(fit_vset1(0x1p100), fit_vabs(x)), one = fit_vset1(1), nl, dl, zl, e;
    fit_vm mid = a > 0x1.a827999fcef32p-2, top = a > 0x1.3504f333f9de6p1;
    fit_vd nh = fit_vtwo_sum(a, -one, &nl), dh = fit_vtwo_sum(a, one, &dl);
    nh = fit_vselect(top, -one, fit_vselect(mid, nh, a));
    nl = fit_vselect(mid & fit_vnot(top), nl, FIT_ZERO);
    dh = fit_vselect(top, a, fit_vselect(mid, dh, one));
    dl = fit_vselect(mid & fit_vnot(top), dl, FIT_ZERO);
    fit_vd base = fit_vselect(top, fit_vset1(0x1.921fb54442d18p0), fit_vset1(0x1.921fb54442d18p-1));
    base = fit_vselect(mid, base, FIT_ZERO);
    fit_vd base_lo = base * 0x1.678afae35cdd1p-55; /* pi = double * (1 + this) */
    fit_vd zh = fit_vdiv2(nh, nl, dh, dl, &zl);
    fit_vd lo = zl + (base_lo + fit_vatan_tail(zh));
    fit_vd hi = fit_vfast_two_sum(base, zh, &e);
    fit_vd r = fit_vcopysign(hi + (e + lo), x);
    return fit_vselect(x != x, x, r);
}

FIT_LANES_OF(fit_vasin, asin)
FIT_LANES_OF(fit_vacos, acos)

#ifndef FIT_GPU
FIT_LARGE fit_vd fit_vatan2(fit_vd y, fit_vd x)
{
    fit_vd r = x;
    for (int i = 0; i < FIT_VL; i++)
        r[i] = atan2(y[i], x[i]);
    return r;
}
#endif

/* ---- sin(x)/x --------------------------------------------------------------------------------------- *
 *
 * sinc x = sin(x)/x;  dsinc = sinc' = (cos x - sinc x)/x;  d2sinc = sinc'' = -sinc x - 2 dsinc(x)/x.
 * With d the absolute error of sinc and cos (1.2e-16 together), the direct forms are in error by
 *     dsinc:  (d + 0.6e-16)/x          d2sinc:  d (1 + 4/x^2)
 * to be compared with |dsinc| ~ x/3, |d2sinc| ~ 1/3: near 0 they are worthless, at 2 they reach 1e-16.  So:
 *     series_* for kernels, |x| < FIT_SINC_X0 = 1/2: the polynomials cut off 2^-60 of the value; the direct
 *         forms just above X0 may be off by 3e-16, 2.5e-15 and 5e-15 of the value (estimates);
 *     fit_vdsinc, fit_vd2sinc themselves use a longer polynomial below FIT_SINC_X1 = 2 (cut off 2^-73).
 */
#define FIT_SINC_X0 0.5
#define FIT_SINC_NEAR 0.5000001 /* a bound of |x| that rounds otherwise than |x| is held against this */
#define FIT_SINC_X1 2.0

/* sinc from x^2, |x| < FIT_SINC_X0. */
FIT_INLINE fit_vd fit_vsinc_series(fit_vd x2)
{
    fit_vd p = x2 * 0x1.5fe1ef2249528p-33 + -0x1.ae63a1267bd5ep-26;
    p = p * x2 + 0x1.71de3a2666b63p-19;
    p = p * x2 + -0x1.a01a01a00efb9p-13;
    p = p * x2 + 0x1.1111111111102p-7;
    p = p * x2 + -0x1.5555555555555p-3;
    return p * x2 + 1.0;
}

/* dsinc from x and x^2, |x| < FIT_SINC_X0. */
FIT_INLINE fit_vd fit_vdsinc_series(fit_vd x, fit_vd x2)
{
    fit_vd p = x2 * -0x1.774d49fd19c5fp-37 + 0x1.08dacf3cdbdffp-29;
    p = p * x2 + -0x1.0cfeb5e617ac4p-22;
    p = p * x2 + 0x1.71de3a555decfp-16;
    p = p * x2 + -0x1.38138138137edp-10;
    p = p * x2 + 0x1.1111111111111p-5;
    p = p * x2 + -0x1.5555555555555p-2;
    return p * x;
}

/* sinc, and the cosine of the lanes that are not small, |x| >= FIT_SINC_X0, for fit_vdsinc_of. */
FIT_INLINE fit_vd fit_vsinc_cos(fit_vd x, fit_vd *cosine)
{
    fit_vd r = fit_vsinc_series(x * x), s, c = {0};
    fit_vm direct = fit_vnot(fit_vabs(x) < FIT_SINC_X0);
    if (fit_vany(direct)) {
        fit_vsincos2(x, FIT_ZERO, &s, &c);
        r = fit_vselect(direct, s / x, r);
    }
    *cosine = c;
    return r;
}

FIT_INLINE fit_vd fit_vsinc(fit_vd x)
{
    fit_vd c;
    return fit_vsinc_cos(x, &c);
}

/* dsinc where the other two are known. */
FIT_INLINE fit_vd fit_vdsinc_of(fit_vd x, fit_vd sinc, fit_vd cosine)
{
    fit_vd z = x * x;
    fit_vd p = z * 0x1.ce2619aedc61fp-62 + -0x1.5532e8ea98c16p-53;
    p = (z * 0x1.cd6e3445dfac5p-80 + -0x1.0105413c3a20bp-70) * (z * z) + p;
    p = p * z + 0x1.952c76fde4005p-45;
    p = p * z + -0x1.78af56a4cb646p-37;
    p = p * z + 0x1.08db48ebe512dp-29;
    p = p * z + -0x1.0cfeb60f94b0dp-22;
    p = p * z + 0x1.71de3a556c734p-16;
    p = p * z + -0x1.3813813813814p-10;
    p = p * z + 0x1.1111111111111p-5;
    fit_vd r = (p * z + -0x1.5555555555555p-2) * x;
    fit_vm direct = fit_vnot(fit_vabs(x) < FIT_SINC_X1);
    return fit_vselect(direct, (cosine - sinc) / x, r);
}

FIT_LARGE fit_vd fit_vdsinc(fit_vd x)
{
    fit_vd c, s = fit_vsinc_cos(x, &c);
    return fit_vdsinc_of(x, s, c);
}

FIT_LARGE fit_vd fit_vd2sinc(fit_vd x)
{
    fit_vd z = x * x, s, c;
    fit_vd p = z * 0x1.12666c67ef32fp-57 + -0x1.6a861675df8f4p-49;
    p = (z * 0x1.4a955d29a4233p-75 + -0x1.514ba9581c6b3p-66) * (z * z) + p;
    p = p * z + 0x1.7bd9af8ad25d1p-41;
    p = p * z + -0x1.320e7665dec80p-33;
    p = p * z + 0x1.6c2d84445ae92p-26;
    p = p * z + -0x1.2e9e8cd18746dp-19;
    p = p * z + 0x1.43a2730abee4dp-13;
    p = p * z + -0x1.8618618618618p-8;
    p = p * z + 0x1.999999999999ap-4;
    fit_vd r = p * z + -0x1.5555555555555p-2;
    fit_vm direct = fit_vnot(fit_vabs(x) < FIT_SINC_X1);
    if (fit_vany(direct)) {
        fit_vsincos2(x, FIT_ZERO, &s, &c);
        fit_vd y = s / x;
        r = fit_vselect(direct, (y - c) * 2.0 / (x * x) - y, r);
    }
    return r;
}
