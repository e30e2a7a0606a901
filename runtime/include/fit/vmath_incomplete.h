/* fit/vmath_incomplete.h -- the regularised incomplete gamma functions, lower P(a, x) and upper Q(a, x) = 1 - P, of a
 * shape a from 0.1 to 1000 that is the same in all lanes, and x >= 0.  Included behind fit/vmath.h where a kernel needs
 * them.
 *
 *     x^a e^-x / Gamma(a + 1) = c(a) exp(a (ln(x/a) - (x/a - 1))),   c = a^a e^-a / Gamma(a + 1), by Stirling's series
 *     P = that times 1 + x/(a+1) + x^2/((a+1)(a+2)) + ...        x <= a + 1     NIST DLMF 8.7.1
 *     Q = that times a/(x+1-a - 1(1-a)/(x+3-a - 2(2-a)/(...)))   x > a + 1      Legendre's fraction, DLMF 8.9.2
 *
 * (the choice as in Gautschi, ACM Trans. Math. Softw. 5 (1979) 466).  Worst error: tests/unit, test_gen_special.
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

/* x^a e^-x / Gamma(a + 1) */
FIT_INLINE fit_vd fit_vgamma_front(double a, fit_vd x)
{
    fit_vd u = (x - a) / a;
    fit_vd l = fit_vselect(fit_vabs(u) < 0.5, fit_vlog1p(fit_vselect(fit_vabs(u) < 0.5, u, (fit_vd){0})),
                           fit_vlog(x / a));
    return fit_vgamma_scale(a) * fit_vexp(a * (l - u));
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

FIT_INLINE fit_vd fit_vgamma_part(double a, fit_vd x, int upper)
{
    fit_vd s = fit_vgamma_smaller(a, x);
    fit_vm far = x > a + 1.0;
    s = upper ? fit_vselect(far, s, 1.0 - s) : fit_vselect(far, 1.0 - s, s);
    return fit_vselect(x >= 0, s, fit_vset1((double)NAN));
}

FIT_HUGE fit_vd fit_vgamma_p(fit_vd order, fit_vd a, fit_vd x)
{
    (void)order;
    return fit_vgamma_part(a[0], x, 0);
}

FIT_HUGE fit_vd fit_vgamma_q(fit_vd order, fit_vd a, fit_vd x)
{
    (void)order;
    return fit_vgamma_part(a[0], x, 1);
}

FIT_SCALAR_OF_3(gamma_p)
FIT_SCALAR_OF_3(gamma_q)

#endif
