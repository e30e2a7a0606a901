/* fit/vmath_incomplete.h -- the regularised incomplete gamma functions, lower P(a, x) and upper Q(a, x) = 1 - P, of a
 * shape a from 0.1 to 1000 and x >= 0, the density x^(a-1) e^-x/Gamma(a), and their first two derivatives by the shape:
 * `order` of the functions, the same in all lanes.  Other shapes give NaN.  Included behind fit/vmath.h where a kernel
 * needs them.
 *
 *     x^a e^-x / Gamma(a + 1) = c(a) exp(a (ln(x/a) - (x/a - 1))),   c = a^a e^-a / Gamma(a + 1), by Stirling's series
 *     P = that times 1 + x/(a+1) + x^2/((a+1)(a+2)) + ...        x <= a + 1     NIST DLMF 8.7.1
 *     Q = that times a/(x+1-a - 1(1-a)/(x+3-a - 2(2-a)/(...)))   x > a + 1      Legendre's fraction, DLMF 8.9.2
 *
 * (the choice as in Gautschi, ACM Trans. Math. Softw. 5 (1979) 466).  For derivatives every number of the sum and of
 * the fraction carries its Taylor coefficients by a.  Worst error (tests/unit, test_gen_special): P 7e-14, Q 4e-14 of
 * the value, by the shape 1e-13, second derivatives 5e-14 of the value and the first.
 */
#ifndef FIT_VMATH_INCOMPLETE_H
#define FIT_VMATH_INCOMPLETE_H

#include "fit/vmath.h"

enum { FIT_GAMMA_FRACTION = 110 };

/* a^a e^-a / Gamma(a + 1) */
FIT_INLINE fit_vd fit_vgamma_scale(double a)
{
    const double r = 1.0 / a, rr = r * r;
    if (a < 20.0)
        return fit_vexp(a * fit_vlog(fit_vset1(a)) - a - fit_vlgamma(fit_vset1(a + 1.0)));
    return fit_vexp(fit_vset1(-r * (1.0 / 12 - rr * (1.0 / 360 - rr * (1.0 / 1260 - rr / 1680))))) /
           fit_vsqrt(fit_vset1(6.283185307179586 * a));
}

/* ln(x/a); u = x/a - 1 */
FIT_INLINE fit_vd fit_vgamma_log(double a, fit_vd x, fit_vd u)
{
    return fit_vselect(fit_vabs(u) < 0.5, fit_vlog1p(fit_vselect(fit_vabs(u) < 0.5, u, (fit_vd){0})), fit_vlog(x / a));
}

/* x^a e^-x / Gamma(a + 1) */
FIT_INLINE fit_vd fit_vgamma_front(double a, fit_vd x)
{
    fit_vd u = (x - a) / a;
    return fit_vgamma_scale(a) * fit_vexp(a * (fit_vgamma_log(a, x, u) - u));
}

/* ln a less the digamma function of a + 1 */
FIT_INLINE fit_vd fit_vgamma_drift(double a)
{
    const double r = 1.0 / a, rr = r * r;
    if (a < 20.0)
        return fit_vlog(fit_vset1(a)) - fit_vdigamma(fit_vset1(a + 1.0));
    return fit_vset1(-r * (0.5 - r * (1.0 / 12 - rr * (1.0 / 120 - rr * (1.0 / 252 - rr / 240)))));
}

/* P where x <= a + 1, Q where it is more. */
FIT_INLINE fit_vd fit_vgamma_smaller(double a, fit_vd x)
{
    fit_vm far = x > a + 1.0;
    fit_vd near = fit_vselect(far, fit_vset1(a), x), sum = fit_vset1(1), front = fit_vgamma_front(a, x);
    for (int k = 25 + (int)(9.5 * sqrt(a)); k > 0; k--)
        sum = sum * near / (a + k) + 1.0;
    if (fit_vany(far)) {
        fit_vd b = fit_vselect(far, x, fit_vset1(a + 2.0)), r = b + (2 * FIT_GAMMA_FRACTION + 1 - a);
        for (int k = FIT_GAMMA_FRACTION; k > 0; k--)
            r = b + (2 * k - 1 - a) - k * (k - a) / r;
        sum = fit_vselect(far, a / r, sum);
    }
    return fit_vselect(x > 1e300, (fit_vd){0}, front * sum);
}

/* 1/(r[0] + r[1] d + r[2] d^2) */
FIT_INLINE void fit_vgamma_inverse(const fit_vd r[3], fit_vd i[3])
{
    i[0] = 1.0 / r[0];
    i[1] = -r[1] * i[0] * i[0];
    i[2] = -(r[2] * i[0] + r[1] * i[1]) * i[0];
}

/* The sum, or the fraction, by powers of d where the shape is a + d. */
FIT_INLINE void fit_vgamma_sum(double a, fit_vd x, fit_vd s[3])
{
    s[0] = fit_vset1(1), s[1] = s[2] = (fit_vd){0};
    for (int k = 30 + (int)(10.5 * sqrt(a)); k > 0; k--) {
        const double r = 1.0 / (a + k);
        s[2] = x * (r * (s[2] - r * (s[1] - r * s[0])));
        s[1] = x * (r * (s[1] - r * s[0]));
        s[0] = x * (r * s[0]) + 1.0;
    }
}

FIT_INLINE void fit_vgamma_fraction(double a, fit_vd x, fit_vd s[3])
{
    fit_vd r[3] = {x + (2 * FIT_GAMMA_FRACTION + 1 - a), fit_vset1(-1), (fit_vd){0}}, i[3];
    for (int k = FIT_GAMMA_FRACTION; k > 0; k--) {
        const double top = k * (k - a);
        fit_vgamma_inverse(r, i);
        r[0] = x + (2 * k - 1 - a) - top * i[0];
        r[1] = -1.0 - (top * i[1] - k * i[0]);
        r[2] = k * i[1] - top * i[2];
    }
    fit_vgamma_inverse(r, i);
    s[0] = a * i[0];
    s[1] = a * i[1] + i[0];
    s[2] = a * i[2] + i[1];
}

/* The first or second derivative by a of P where x <= a + 1, of Q where it is more. */
FIT_INLINE fit_vd fit_vgamma_slope(int order, double a, fit_vd x)
{
    fit_vm far = x > a + 1.0, inside = (x > 0) & (x < 1e300);
    fit_vd z = fit_vselect(inside, x, fit_vset1(a)), u = (z - a) / a, s[3], t[3];
    fit_vd l = fit_vgamma_log(a, z, u) + fit_vgamma_drift(a), front = fit_vgamma_front(a, z);
    fit_vgamma_sum(a, fit_vselect(far, fit_vset1(a), z), s);
    if (fit_vany(far)) {
        fit_vgamma_fraction(a, fit_vselect(far, z, fit_vset1(a + 2.0)), t);
        for (int k = 0; k < 3; k++)
            s[k] = fit_vselect(far, t[k], s[k]);
    }
    fit_vd first = l * s[0] + s[1], curve = l * l - fit_vtrigamma(fit_vset1(a + 1.0));
    fit_vd r = order == 1 ? first : curve * s[0] + 2.0 * (l * s[1] + s[2]);
    return fit_vselect(inside, front * r, (fit_vd){0});
}

FIT_INLINE fit_vd fit_vgamma_part(int order, double a, fit_vd x, int upper)
{
    fit_vm far = x > a + 1.0;
    if (!(a >= 0.1 && a <= 1000.0))
        return fit_vset1((double)NAN);
    fit_vd s = order ? fit_vgamma_slope(order, a, x) : fit_vgamma_smaller(a, x), other = (order ? 0.0 : 1.0) - s;
    s = upper ? fit_vselect(far, s, other) : fit_vselect(far, other, s);
    return fit_vselect(x >= 0, s, fit_vset1((double)NAN));
}

/* Of the density: x^a e^-x/Gamma(a + 1) times a/x. */
FIT_INLINE fit_vd fit_vgamma_rate(int order, double a, fit_vd x)
{
    if (!(a >= 0.1 && a <= 1000.0))
        return fit_vset1((double)NAN);
    fit_vm inside = (x > 0) & (x < 1e300);
    fit_vd z = fit_vselect(inside, x, fit_vset1(a)), drift = fit_vgamma_drift(a) + 1.0 / a;
    fit_vd l = fit_vgamma_log(a, z, (z - a) / a) + drift;
    fit_vd r = fit_vgamma_front(a, z) * (a / z);
    if (order)
        r *= order == 1 ? l : l * l - fit_vtrigamma(fit_vset1(a));
    const double at_0 = order || a > 1.0 ? 0.0 : a < 1.0 ? (double)INFINITY : 1.0;
    r = fit_vselect(inside, r, fit_vselect(x > 0, (fit_vd){0}, fit_vset1(at_0)));
    return fit_vselect(x >= 0, r, fit_vset1((double)NAN));
}

/* kind: 0 P, 1 Q, 2 the density */
FIT_INLINE fit_vd fit_vgamma_of_kind(int kind, int order, double a, fit_vd x)
{
    return kind == 2 ? fit_vgamma_rate(order, a, x) : fit_vgamma_part(order, a, x, kind);
}

/* A shape that all lanes share, or lane after lane: the same bits. */
FIT_INLINE fit_vd fit_vgamma_shaped(int kind, fit_vd order, fit_vd a, fit_vd x)
{
    const int n = (int)order[0];
    fit_vd r = {0};
    if (!fit_vany(~(a == fit_vset1(a[0]))))
        return fit_vgamma_of_kind(kind, n, a[0], x);
    for (int l = 0; l < FIT_VL; l++)
        r[l] = fit_vgamma_of_kind(kind, n, a[l], fit_vset1(x[l]))[l];
    return r;
}

FIT_HUGE fit_vd fit_vgamma_p(fit_vd order, fit_vd a, fit_vd x)
{
    return fit_vgamma_shaped(0, order, a, x);
}

FIT_HUGE fit_vd fit_vgamma_q(fit_vd order, fit_vd a, fit_vd x)
{
    return fit_vgamma_shaped(1, order, a, x);
}

FIT_HUGE fit_vd fit_vgamma_density(fit_vd order, fit_vd a, fit_vd x)
{
    return fit_vgamma_shaped(2, order, a, x);
}

FIT_SCALAR_OF_3(gamma_p)
FIT_SCALAR_OF_3(gamma_q)
FIT_SCALAR_OF_3(gamma_density)

#endif
