/* fit/vmath_bessel.h -- Bessel functions of integer order n >= 0 and spherical ones.  Part of fit/vmath.h.
 *
 * The order is the same in all lanes.  J_0, J_1: polynomials in x^2 below 8; above, Hankel's expansion with polynomials
 * for P and Q (Abramowitz & Stegun 1965, 9.2.5; Hart 1968).  Higher orders of both kinds (9.1.10, 9.1.27, 10.1.2,
 * 10.1.19): the power series where its terms do not cancel, x^2 < 4 n + 4 or 2 n + 3; upward recurrence from x = n on;
 * between them, where n is large enough for that, downward recurrence (Miller).  Near zeros the error is absolute, in
 * units of the amplitude.
 */

enum { FIT_BESSEL_TERMS = 20, FIT_BESSEL_ABOVE = 46 };

/* J_0, J_1, Y_0, Y_1 of x >= 8: sqrt(2/(pi x)) cos(x - pi/4) = (cos x + sin x)/sqrt(pi x) and so on. */
FIT_INLINE void fit_vhankel(fit_vd x, fit_vd j[2], fit_vd y[2])
{
    fit_vd u = 8.0 / x, r = 2.0 * (u * u) - 1.0, s, c;
    fit_vsincos(x, &s, &c);
    fit_vd size = 1.0 / fit_vsqrt(x * 0x1.921fb54442d18p1), plus = c + s, minus = s - c;
    fit_vd p0 = FIT_VPOLYNOMIAL(fit_hankel_p0, r), q0 = u * FIT_VPOLYNOMIAL(fit_hankel_q0, r);
    fit_vd p1 = FIT_VPOLYNOMIAL(fit_hankel_p1, r), q1 = u * FIT_VPOLYNOMIAL(fit_hankel_q1, r);
    j[0] = size * (p0 * plus - q0 * minus);
    j[1] = size * (p1 * minus + q1 * plus);
    y[0] = size * (p0 * minus + q0 * plus);
    y[1] = size * (q1 * minus - p1 * plus);
}

/* J_0 and J_1 of a >= 0 */
FIT_INLINE void fit_vbessel_01(fit_vd a, fit_vd *j0, fit_vd *j1)
{
    fit_vm far = a > 8;
    fit_vd q = a * a * 0x1p-5 - 1.0;
    q = fit_vselect(far, FIT_ZERO, q);
    *j0 = FIT_VPOLYNOMIAL(fit_bessel_0, q);
    *j1 = a * FIT_VPOLYNOMIAL(fit_bessel_1, q);
    if (fit_vany(far)) {
        fit_vd j[2], y[2];
        fit_vhankel(fit_vselect(far, a, fit_vset1(8)), j, y);
        *j0 = fit_vselect(far, j[0], *j0);
        *j1 = fit_vselect(far, j[1], *j1);
    }
}

/* x^n/(product over k) sum of terms; step: 2 (n + m), or 2 (n + m) + 1 for spherical ones. */
FIT_INLINE fit_vd fit_vbessel_series(int n, int odd, fit_vd x)
{
    fit_vd xx = -0.5 * (x * x), sum = fit_vset1(1), power = fit_vset1(1);
    for (int m = FIT_BESSEL_TERMS; m >= 1; m--)
        sum = sum * (xx * (1.0 / (m * (2.0 * (n + m) + odd)))) + 1.0;
    for (int k = 1; k <= n; k++)
        power *= x * (1.0 / (2.0 * k + odd));
    return sum * power;
}

/* f_n by the downward recurrence from order n + FIT_BESSEL_ABOVE on, and f_0, f_1, f_0 + 2 f_2 + 2 f_4 + ... */
FIT_INLINE fit_vd fit_vbessel_down(int n, double half, fit_vd x, fit_vd first[2], fit_vd *sum)
{
    fit_vd above = FIT_ZERO, f = fit_vset1(0x1p-900), at_n = f, two_over_x = 2.0 / x, even = FIT_ZERO;
    for (int m = (n + FIT_BESSEL_ABOVE) & ~1; m >= 0; m--) {
        if (m == n)
            at_n = f;
        if (m < 2)
            first[m] = f;
        if (m % 2 == 0)
            even += m ? 2.0 * f : f;
        fit_vd below = ((m + half) * two_over_x) * f - above;
        above = f;
        f = below;
    }
    *sum = even;
    return at_n;
}

FIT_HUGE fit_vd fit_vbessel_j(fit_vd order, fit_vd x)
{
    const int n = (int)fit_lane0(order);
    fit_vd a = fit_vabs(x), j0, j1;
    fit_vbessel_01(a, &j0, &j1);
    fit_vd r = n ? j1 : j0, before = j0, inverse = 2.0 / a;
    for (int k = 1; k < n; k++) {
        fit_vd next = k * inverse * r - before;
        before = r;
        r = next;
    }
    if (n > 1) {
        fit_vm low = a * a < 4 * n + 4, middle = fit_vnot(low) & (a < n);
        if (fit_vany(middle)) {
            fit_vd first[2], sum, f = fit_vbessel_down(n, 0, fit_vselect(middle, a, fit_vset1(n)), first, &sum);
            r = fit_vselect(middle, f / sum, r);
        }
        if (fit_vany(low))
            r = fit_vselect(low, fit_vbessel_series(n, 0, fit_vselect(low, a, FIT_ZERO)), r);
    }
    r = fit_vselect(a > 0x1.fffffffffffffp1023, FIT_ZERO, r);
    return n % 2 ? fit_vselect(x < 0, -r, r) : r;
}

FIT_HUGE fit_vd fit_vspherical_j(fit_vd order, fit_vd x)
{
    const int n = (int)fit_lane0(order);
    fit_vd a = fit_vabs(x), inverse = 1.0 / a, s, c;
    fit_vsincos(a, &s, &c);
    fit_vd j0 = s * inverse, j1 = (j0 - c) * inverse, r = n ? j1 : j0, before = j0;
    for (int k = 1; k < n; k++) {
        fit_vd next = (2.0 * k + 1.0) * inverse * r - before;
        before = r;
        r = next;
    }
    fit_vm low = a * a < 2 * n + 3, middle = fit_vnot(low) & (a < n);
    if (fit_vany(middle)) {
        fit_vd first[2], sum, f = fit_vbessel_down(n, 0.5, fit_vselect(middle, a, fit_vset1(n + 1)), first, &sum);
        fit_vd zeroth = f * (j0 / first[0]), next = f * (j1 / first[1]);
        r = fit_vselect(middle, fit_vselect(fit_vabs(j0) > fit_vabs(j1), zeroth, next), r);
    }
    if (fit_vany(low))
        r = fit_vselect(low, fit_vbessel_series(n, 1, fit_vselect(low, a, FIT_ZERO)), r);
    r = fit_vselect(a > 0x1.fffffffffffffp1023, FIT_ZERO, r);
    return n % 2 ? fit_vselect(x < 0, -r, r) : r;
}
