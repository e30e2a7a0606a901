/* fit/vmath_special.h -- (e^x - 1)/x, log(1 - e^x), e^(x^2) erfc(x), and the derivatives of the first and the last.
 * Part of fit/vmath.h.
 *
 * exprel_k:   D_k(x) = the integral of s^k e^(s x) over s from 0 to 1 is the k-th derivative of (e^x - 1)/x.  A
 *             polynomial for |x| < 1.25, beyond it by parts: x D_k = e^x - k D_(k-1).
 * log1mexp:   log(-expm1(x)) next to 0, log1p(-e^x) below -log 2 (Maechler 2012).
 * erfcx:      E_k(x) = e^(x^2) i^k erfc(x), x >= 0, is smooth in (x - K)/(x + K) once its decay is divided out
 *             (Shepherd & Laframboise 1981); derivatives are (-2)^k k! E_k (Abramowitz & Stegun 1965, 7.2.5, 7.2.9);
 *             x < 0 from erfcx(x) = 2 e^(x^2) - erfcx(-x).
 */

FIT_INLINE fit_vd fit_vexprel(fit_vd x)
{
    fit_vd h, l;
    fit_vexpm1_half(x, &h, &l);
    fit_vd r = fit_vselect(fit_vabs(x) < 0x1p-54, fit_vset1(1), 2.0 * ((h + l) / x));
    return fit_vselect(x > 710, fit_vset1((double)INFINITY), r);
}

FIT_LARGE fit_vd fit_vdexprel(fit_vd x)
{
    fit_vd far = (fit_vexp(x) - fit_vexprel(x)) / x;
    fit_vd r = fit_vselect(fit_vabs(x) < 1.25, FIT_VPOLYNOMIAL(fit_exprel_1, 0.8 * x), far);
    return fit_vselect(x > 710, fit_vset1((double)INFINITY), r);
}

FIT_LARGE fit_vd fit_vd2exprel(fit_vd x)
{
    fit_vd e = fit_vexp(x), far = (e - 2.0 * ((e - fit_vexprel(x)) / x)) / x;
    fit_vd r = fit_vselect(fit_vabs(x) < 1.25, FIT_VPOLYNOMIAL(fit_exprel_2, 0.8 * x), far);
    return fit_vselect(x > 710, fit_vset1((double)INFINITY), r);
}

FIT_LARGE fit_vd fit_vlog1mexp(fit_vd x)
{
    fit_vd near = fit_vlog(-fit_vexpm1(x)), far = fit_vlog1p(-fit_vexp(x));
    return fit_vselect(x > -0x1.62e42fefa39efp-1, near, far);
}

/* e^(x^2): the part of the square that is rounded away counts. */
FIT_INLINE fit_vd fit_vexp_of_square(fit_vd x)
{
    fit_vd low, h = fit_vtwo_prod(x, x, &low);
    return fit_vexp(h) * (1.0 + low);
}

/* (x - middle)/(x + middle), x >= 0 */
FIT_INLINE fit_vd fit_vhalf_line(fit_vd x, double middle)
{
    return fit_vselect(x > 0x1p60, fit_vset1(1), (x - middle) / (x + middle));
}

FIT_LARGE fit_vd fit_verfcx(fit_vd x)
{
    fit_vd a = fit_vabs(x);
    fit_vd r = FIT_VPOLYNOMIAL(fit_erfcx_0, fit_vhalf_line(a, 4)) / (1.0 + 2.0 * a);
    fit_vm negative = x < 0;
    if (FIT_RARE(negative))
        r = fit_vselect(negative, 2.0 * fit_vexp_of_square(fit_vmin(a, fit_vset1(30))) - r, r);
    return r;
}

FIT_LARGE fit_vd fit_vderfcx(fit_vd x)
{
    fit_vd a = fit_vabs(x), s = 1.0 / (1.0 + a);
    fit_vd r = -2.0 * (FIT_VPOLYNOMIAL(fit_erfcx_1, fit_vhalf_line(a, 3)) * s * s);
    fit_vm negative = x < 0;
    if (FIT_RARE(negative)) {
        fit_vd b = fit_vmin(a, fit_vset1(30));
        r = fit_vselect(negative, r - 4.0 * b * fit_vexp_of_square(b), r);
    }
    return r;
}

FIT_LARGE fit_vd fit_vd2erfcx(fit_vd x)
{
    fit_vd a = fit_vabs(x), s = 1.0 / (1.0 + a);
    fit_vd r = 8.0 * (FIT_VPOLYNOMIAL(fit_erfcx_2, fit_vhalf_line(a, 3)) * s * s * s);
    fit_vm negative = x < 0;
    if (FIT_RARE(negative)) {
        fit_vd b = fit_vmin(a, fit_vset1(30));
        r = fit_vselect(negative, (4.0 + 8.0 * b * b) * fit_vexp_of_square(b) - r, r);
    }
    return r;
}
