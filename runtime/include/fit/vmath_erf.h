/* fit/vmath_erf.h -- relatives of the error function: its inverse, and erfi(x) = -i erf(i x).  Part of fit/vmath.h.
 *
 * erfinv(x)/x is smooth in w = -log(1 - x^2) next to 0 and in sqrt(w) beyond (M. Giles, GPU Computing Gems (2012) 109);
 * polynomials on three pieces.
 * erfi(x): its power series below 2; above, e^(x^2) Im w(x) with the Faddeeva function on the real axis.
 */

FIT_LARGE fit_vd fit_verfinv(fit_vd x)
{
    fit_vd a = fit_vabs(x), w = -fit_vlog((1.0 - a) * (1.0 + a)), small = -fit_vlog1p(-a * a);
    w = fit_vselect(a < 0.5, small, w);
    fit_vd r = FIT_VPOLYNOMIAL(fit_erfinv_0, w * 0.32 - 1.0);
    fit_vm far = w > 6.25;
    if (fit_vany(far)) {
        fit_vd s = fit_vsqrt(fit_vselect(far, fit_vmin(w, fit_vset1(37)), fit_vset1(6.25)));
        fit_vd middle = FIT_VPOLYNOMIAL(fit_erfinv_1, (s - 3.25) * (1 / 0.75));
        fit_vd end = FIT_VPOLYNOMIAL(fit_erfinv_2, (s - 5.05) * (1 / 1.05));
        r = fit_vselect(far, fit_vselect(s < 4, middle, end), r);
    }
    r = r * x;
    r = fit_vselect(a == 1, fit_vset1((double)INFINITY) * x, r);
    return fit_vselect(a <= 1, r, fit_vset1((double)NAN));
}

/* 2/sqrt(pi) times the sum of x^(2k+1)/(k! (2k+1)), |x| < 2 */
FIT_INLINE fit_vd fit_verfi_series(fit_vd x)
{
    return x * FIT_VPOLYNOMIAL(fit_erfi_series, x * x);
}

FIT_LARGE fit_vd fit_verfi(fit_vd x)
{
    fit_vd b = fit_vmin(fit_vabs(x), fit_vset1(28)), low, square = fit_vtwo_prod(b, b, &low);
    fit_vd half = fit_vexp(0.5 * square) * (1.0 + 0.5 * low); /* its square may pass what it is multiplied with */
    fit_vm near = b < 2;
    fit_vd r = half * fit_vfaddeeva(0, b, FIT_ZERO).im * half;
    r = fit_vselect(near, fit_verfi_series(fit_vselect(near, b, FIT_ZERO)), r);
    r = fit_vselect(x < 0, -r, r);
    return fit_vselect(x == x, r, x);
}
