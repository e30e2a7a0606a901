/* fit/vmath_faddeeva.h -- w(z) = e^(-z^2) erfc(-i z), z = x + i y, and its first two derivatives.  Part of fit/vmath.h.
 *
 * For x, y >= 0 the modified trapezoidal rules of Al Azah & Chandler-Wilde, SIAM J. Numer. Anal. 59 (2021) 2346, with
 * h = sqrt(pi/14) and 14 nodes t, at k h or half-way between them, whichever are further from x:
 *     w(z) = i sum of W z/(z^2 - t^2)  [ + 2 e^(-z^2) g(z),  g(z) = 1/(1 +- e^(-2 pi i z/h)),  where y < pi/h ].
 * Derivatives term by term; g' = i kappa g (1 - g), kappa = 2 pi/h.  Elsewhere w(-conj z) = conj w(z) and
 * w(z) = 2 e^(-z^2) - w(-z).  Real and imaginary part are sums of terms of one sign next to the axes, so that each
 * keeps its digits.
 */

struct fit_vcomplex {
    fit_vd re, im;
};

FIT_INLINE struct fit_vcomplex fit_vcomplex_of(fit_vd re, fit_vd im)
{
    struct fit_vcomplex z = {re, im};
    return z;
}

FIT_INLINE struct fit_vcomplex fit_vcmul(struct fit_vcomplex a, struct fit_vcomplex b)
{
    return fit_vcomplex_of(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}

/* e^(-z^2) times 1, -2 z or 4 z^2 - 2: its k-th derivative */
FIT_INLINE struct fit_vcomplex fit_vgaussian(const int k, fit_vd x, fit_vd y)
{
    fit_vd xl, yl, dl, pl, s, c, xx = fit_vtwo_prod(x, x, &xl), yy = fit_vtwo_prod(y, y, &yl);
    fit_vd d = fit_vtwo_sum(yy, -xx, &dl), xy = fit_vtwo_prod(2.0 * x, y, &pl);
    fit_vd size = fit_vexp(d) * (1.0 + (dl + (yl - xl)));
    fit_vsincos2(xy, pl, &s, &c);
    struct fit_vcomplex e = {size * c, -size * s};
    if (k == 1)
        return fit_vcmul(e, fit_vcomplex_of(-2.0 * x, -2.0 * y));
    if (k == 2)
        return fit_vcmul(e, fit_vcomplex_of(-4.0 * d - 2.0, 4.0 * xy));
    return e;
}

/* The k-th derivative of z/(z^2 - t^2). */
FIT_INLINE struct fit_vcomplex fit_vpoles(const int k, fit_vd x, fit_vd y, fit_vd t)
{
    fit_vd re = (x - t) * (x + t) - y * y, im = 2.0 * x * y, n = 1.0 / (re * re + im * im), tt = t * t;
    if (k == 0) {
        fit_vd zz = x * x + y * y;
        return fit_vcomplex_of(x * (zz - tt) * n, -y * (zz + tt) * n);
    }
    struct fit_vcomplex p = {re * n, -im * n}, pp = fit_vcmul(p, p), top = {-(re + 2.0 * tt), -im};
    if (k == 1)
        return fit_vcmul(pp, top);
    top = fit_vcmul(fit_vcomplex_of(2.0 * x, 2.0 * y), fit_vcomplex_of(re + 4.0 * tt, im));
    return fit_vcmul(fit_vcmul(pp, p), top);
}

/* The k-th derivative of 2 e^(-z^2) g(z); sign: +-1 in g. */
FIT_INLINE struct fit_vcomplex fit_vw_correction(const int k, fit_vd x, fit_vd y, fit_vd sign)
{
    const double kappa = 0x1.a8714bcbe9334p+3; /* 2 pi/h = sqrt(56 pi) */
    fit_vd s, c, size = sign * fit_vexp(kappa * y);
    fit_vsincos(kappa * x, &s, &c);
    struct fit_vcomplex e = {size * c, -size * s}, E = fit_vgaussian(0, x, y), z = {x, y};
    fit_vd re = 1.0 + e.re, n = 1.0 / (re * re + e.im * e.im);
    struct fit_vcomplex g = {re * n, -e.im * n}, rest = fit_vcmul(e, g), h = g; /* rest = 1 - g */
    if (k > 0) {
        struct fit_vcomplex g1 = fit_vcmul(g, rest), zg = fit_vcmul(z, g);
        g1 = fit_vcomplex_of(-kappa * g1.im, kappa * g1.re);
        h = fit_vcomplex_of(g1.re - 2.0 * zg.re, g1.im - 2.0 * zg.im);
        if (k > 1) { /* (4 z^2 - 2) g - 4 z g' + g'' */
            struct fit_vcomplex g2 = fit_vcmul(g1, fit_vcomplex_of(rest.re - g.re, rest.im - g.im));
            struct fit_vcomplex zz = fit_vcmul(z, fit_vcomplex_of(zg.re - g1.re, zg.im - g1.im));
            h.re = 4.0 * zz.re - 2.0 * g.re - kappa * g2.im;
            h.im = 4.0 * zz.im - 2.0 * g.im + kappa * g2.re;
        }
    }
    h = fit_vcmul(E, h);
    return fit_vcomplex_of(2.0 * h.re, 2.0 * h.im);
}

FIT_INLINE struct fit_vcomplex fit_vfaddeeva(const int k, fit_vd x, fit_vd y)
{
    const double inverse_h = 0x1.0e3562129f239p+1, near = 0x1.a8714bcbe9334p+2; /* 1/h, pi/h */
    fit_vd a = fit_vmin(fit_vset1(0x1p200), fit_vabs(x)), b = fit_vmin(fit_vset1(0x1p200), fit_vabs(y));
    fit_vd u = a * inverse_h;
    fit_vm at_nodes = fit_vabs(u - fit_vround(u)) >= 0.25;
    struct fit_vcomplex sum = {FIT_ZERO, FIT_ZERO};
    for (int j = 0; j < 14; j++) {
        fit_vd t = fit_vselect(at_nodes, fit_vset1(fit_w_at_nodes[j]), fit_vset1(fit_w_at_halves[j]));
        fit_vd weight = fit_vselect(at_nodes, fit_vset1(fit_w_of_nodes[j]), fit_vset1(fit_w_of_halves[j]));
        struct fit_vcomplex p = fit_vpoles(k, a, b, t);
        sum.re += weight * p.re;
        sum.im += weight * p.im;
    }
    struct fit_vcomplex w = {-sum.im, sum.re};
    fit_vm close = b < near;
    if (fit_vany(close)) {
        struct fit_vcomplex c = fit_vw_correction(k, a, fit_vselect(close, b, FIT_ZERO),
                                                  fit_vselect(at_nodes, fit_vset1(-1), fit_vset1(1)));
        w.re = fit_vselect(close, w.re + c.re, w.re);
        w.im = fit_vselect(close, w.im + c.im, w.im);
    }
    fit_vm below = y < 0;
    if (FIT_RARE(below)) {
        struct fit_vcomplex e = fit_vgaussian(k, a, -b);
        w.re = fit_vselect(below, 2.0 * e.re - w.re, w.re);
        w.im = fit_vselect(below, 2.0 * e.im + w.im, w.im);
    }
    if (k % 2)
        w.re = fit_vselect(x < 0, -w.re, w.re);
    else
        w.im = fit_vselect(x < 0, -w.im, w.im);
    fit_vm unknown = fit_vnot((x == x) & (y == y));
    w.re = fit_vselect(unknown, fit_vset1((double)NAN), w.re);
    w.im = fit_vselect(unknown, fit_vset1((double)NAN), w.im);
    return w;
}

FIT_HUGE fit_vd fit_vfaddeeva_re(fit_vd order, fit_vd x, fit_vd y)
{
    return fit_lane0(order) == 0   ? fit_vfaddeeva(0, x, y).re
           : fit_lane0(order) == 1 ? fit_vfaddeeva(1, x, y).re
                           : fit_vfaddeeva(2, x, y).re;
}

FIT_HUGE fit_vd fit_vfaddeeva_im(fit_vd order, fit_vd x, fit_vd y)
{
    return fit_lane0(order) == 0   ? fit_vfaddeeva(0, x, y).im
           : fit_lane0(order) == 1 ? fit_vfaddeeva(1, x, y).im
                           : fit_vfaddeeva(2, x, y).im;
}
