/* fit/vmath_bessel_second.h -- Bessel functions of the second kind, Y_n and y_n, and modified ones, I_n, K_n, i_n
 * and k_n, of integer order n >= 0, the same in all lanes.  Part of fit/vmath.h.
 *
 * Y_0, Y_1, K_0, K_1: next to 0 polynomials in x^2 behind their logarithm and pole (Abramowitz & Stegun 1965, 9.1.11,
 * 9.6.11); far from it Hankel's expansion (9.2.6) and polynomials of 1/x (9.7.2).  Orders above 1 by the upward
 * recurrences (9.1.27, 9.6.26), which are stable for these functions.
 * I_n: the power series below 8, whose terms are positive (9.6.10); polynomials of 1/x for I_0 and I_1 (9.7.1); above
 * them upward recurrence where x > n^2/3, else downward (Miller), normalised by I_0; likewise i_n. k_n: upwards.
 * Y, y and K: of x > 0; infinite at 0, NaN below.
 */

enum { FIT_BESSEL_I_TERMS = 28 };

FIT_INLINE fit_vd fit_vpositive_only(fit_vd x, double at_0, fit_vd r)
{
    return fit_vselect(x > 0, r, fit_vselect(x == 0, fit_vset1(at_0), fit_vset1((double)NAN)));
}

FIT_HUGE fit_vd fit_vbessel_y(fit_vd order, fit_vd x)
{
    const int n = (int)fit_lane0(order);
    const double two_over_pi = 0x1.45f306dc9c883p-1;
    fit_vm far = x > 8;
    fit_vd b = fit_vselect((x > 0) & fit_vnot(far), x, fit_vset1(1)), j0, j1, inverse = 1.0 / x;
    fit_vbessel_01(b, &j0, &j1);
    fit_vd q = b * b * 0x1p-5 - 1.0, l = fit_vlog(b);
    fit_vd y0 = two_over_pi * (l * j0) + FIT_VPOLYNOMIAL(fit_bessel_y0, q);
    fit_vd y1 = two_over_pi * (l * j1 - 1.0 / b) + b * FIT_VPOLYNOMIAL(fit_bessel_y1, q);
    if (fit_vany(far)) {
        fit_vd j[2], y[2];
        fit_vhankel(fit_vselect(far, x, fit_vset1(8)), j, y);
        y0 = fit_vselect(far, y[0], y0);
        y1 = fit_vselect(far, y[1], y1);
    }
    fit_vd r = n ? y1 : y0, before = y0;
    for (int k = 1; k < n; k++) {
        fit_vd next = (2.0 * k) * inverse * r - before;
        before = r;
        r = fit_vselect(r < -0x1.fffffffffffffp1023, r, next);
    }
    r = fit_vselect(x > 0x1.fffffffffffffp1023, FIT_ZERO, r);
    return fit_vpositive_only(x, -(double)INFINITY, r);
}

FIT_HUGE fit_vd fit_vspherical_y(fit_vd order, fit_vd x)
{
    const int n = (int)fit_lane0(order);
    fit_vd inverse = 1.0 / x, s, c;
    fit_vsincos(x, &s, &c);
    fit_vd y0 = -c * inverse, y1 = (y0 - s) * inverse, r = n ? y1 : y0, before = y0;
    for (int k = 1; k < n; k++) {
        fit_vd next = (2.0 * k + 1.0) * inverse * r - before;
        before = r;
        r = fit_vselect(r < -0x1.fffffffffffffp1023, r, next);
    }
    r = fit_vselect(x > 0x1.fffffffffffffp1023, FIT_ZERO, r);
    return fit_vpositive_only(x, -(double)INFINITY, r);
}

/* The power series of I_n, and with odd = 1 of i_n: x^n/((2 + odd) (4 + odd) ... (2 n + odd)) times the sum of
 * (x^2/2)^m over the products of m (2 (n + m) + odd) */
FIT_INLINE fit_vd fit_vbessel_i_series(int n, int odd, fit_vd x)
{
    fit_vd y = 0.5 * (x * x), sum = fit_vset1(1), power = fit_vset1(1);
    for (int m = FIT_BESSEL_I_TERMS; m >= 1; m--)
        sum = sum * y * (1.0 / (m * (2.0 * (n + m) + odd))) + 1.0;
    for (int k = 1; k <= n; k++)
        power *= x * (1.0 / (2.0 * k + odd));
    return sum * power;
}

/* I_n/I_0, or i_n/i_0 with half = 1/2, of 8 <= x <= n^2/3: downward from where I_m is 1e-17 of I_n. */
FIT_INLINE fit_vd fit_vbessel_i_down(int n, double half, fit_vd x)
{
    fit_vd above = FIT_ZERO, f = fit_vset1(0x1p-900), at_n = f, two_over_x = 2.0 / x;
    for (int m = 5 * n + 40; m > 0; m--) {
        if (m == n)
            at_n = f;
        fit_vd below = ((m + half) * two_over_x) * f + above;
        above = f;
        f = below;
    }
    return at_n / f;
}

/* I_n or i_n of b > 8 from those of order 0 and 1; infinite from `most` on. */
FIT_INLINE fit_vd fit_vbessel_i_up(int n, double half, fit_vd b, fit_vd zeroth, fit_vd first, double most)
{
    fit_vd inverse = 1.0 / b, before = zeroth, up = n ? first : zeroth;
    for (int k = 1; k < n; k++) {
        fit_vd next = before - ((2.0 * k + 2.0 * half) * inverse) * up;
        before = up;
        up = next;
    }
    fit_vm middle = b < n * n / 3.0;
    if (fit_vany(middle))
        up = fit_vselect(middle, fit_vbessel_i_down(n, half, fit_vselect(middle, b, fit_vset1(8))) * zeroth, up);
    return fit_vselect(b < most, up, fit_vset1((double)INFINITY));
}

FIT_HUGE fit_vd fit_vbessel_i(fit_vd order, fit_vd x)
{
    const int n = (int)fit_lane0(order);
    fit_vd a = fit_vabs(x), r = fit_vbessel_i_series(n, 0, fit_vmin(a, fit_vset1(8)));
    fit_vm far = a > 8;
    if (fit_vany(far)) {
        fit_vd b = fit_vmin(fit_vselect(far, a, fit_vset1(8)), fit_vset1(720)), inverse = 1.0 / b;
        fit_vd q = 16.0 * inverse - 1.0, e = fit_vexp(0.5 * b), size = e * (1.0 / fit_vsqrt(b));
        fit_vd zeroth = size * FIT_VPOLYNOMIAL(fit_bessel_i0_far, q) * e;
        fit_vd first = size * FIT_VPOLYNOMIAL(fit_bessel_i1_far, q) * e;
        r = fit_vselect(far, fit_vbessel_i_up(n, 0.0, b, zeroth, first, 720), r);
    }
    r = n % 2 ? fit_vselect(x < 0, -r, r) : r;
    return fit_vselect(x == x, r, x);
}

/* i_0 = sinh(x)/x, i_1 = (cosh(x) - i_0)/x */
FIT_HUGE fit_vd fit_vspherical_i(fit_vd order, fit_vd x)
{
    const int n = (int)fit_lane0(order);
    fit_vd a = fit_vabs(x), r = fit_vbessel_i_series(n, 1, fit_vmin(a, fit_vset1(8)));
    fit_vm far = a > 8;
    if (fit_vany(far)) {
        fit_vd b = fit_vmin(fit_vselect(far, a, fit_vset1(8)), fit_vset1(720)), inverse = 1.0 / b;
        fit_vd e = fit_vexp(0.5 * b), small = fit_vexp(-2.0 * b), size = (0.5 * e) * inverse;
        fit_vd zeroth = size * (1.0 - small) * e, first = size * ((1.0 + small) - (1.0 - small) * inverse) * e;
        r = fit_vselect(far, fit_vbessel_i_up(n, 0.5, b, zeroth, first, 720), r);
    }
    r = n % 2 ? fit_vselect(x < 0, -r, r) : r;
    return fit_vselect(x == x, r, x);
}

/* k_0 = pi/2 e^-x/x, k_1 = k_0 (1 + 1/x) */
FIT_HUGE fit_vd fit_vspherical_k(fit_vd order, fit_vd x)
{
    const int n = (int)fit_lane0(order);
    fit_vd inverse = 1.0 / x, before = 0x1.921fb54442d18p0 * fit_vexp(-x) * inverse, r = before;
    if (n)
        r = before + before * inverse;
    for (int k = 1; k < n; k++) {
        fit_vd next = (2.0 * k + 1.0) * inverse * r + before;
        before = r;
        r = next;
    }
    return fit_vpositive_only(x, (double)INFINITY, r);
}

FIT_HUGE fit_vd fit_vbessel_k(fit_vd order, fit_vd x)
{
    const int n = (int)fit_lane0(order);
    fit_vm near = x < 2, inside = near & (x > 0);
    fit_vd b = fit_vselect(near, fit_vset1(2), fit_vmin(x, fit_vset1(800))), inverse = 1.0 / x, q = 4.0 / b - 1.0;
    fit_vd size = fit_vexp(-b) / fit_vsqrt(b);
    fit_vd k0 = size * FIT_VPOLYNOMIAL(fit_bessel_k0_far, q), k1 = size * FIT_VPOLYNOMIAL(fit_bessel_k1_far, q);
    if (fit_vany(near)) {
        fit_vd c = fit_vselect(inside, x, fit_vset1(1)), p = 0.5 * (c * c) - 1.0, l = fit_vlog(c);
        fit_vd n0 = FIT_VPOLYNOMIAL(fit_bessel_k0, p) - l * fit_vbessel_i_series(0, 0, c);
        fit_vd n1 = 1.0 / c + (l * fit_vbessel_i_series(1, 0, c) + c * FIT_VPOLYNOMIAL(fit_bessel_k1, p));
        k0 = fit_vselect(near, n0, k0);
        k1 = fit_vselect(near, n1, k1);
    }
    fit_vd r = n ? k1 : k0, before = k0;
    for (int k = 1; k < n; k++) {
        fit_vd next = (2.0 * k) * inverse * r + before;
        before = r;
        r = next;
    }
    return fit_vpositive_only(x, (double)INFINITY, r);
}
