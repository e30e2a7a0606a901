/* special.c -- Bessel functions, the Faddeeva function, erfinv and erfi in extended precision.
 *
 * J_n, j_n: power series near 0; downward recurrence (Miller), normalised by 1 = J_0 + 2 J_2 + 2 J_4 + ... or by the
 * larger of j_0 and j_1; far from 0 Hankel's asymptotic series, and upward recurrence of j_n (Abramowitz & Stegun 1965,
 * 9.1.10, 9.1.46, 9.2.5, 10.1.19). Y_n: Neumann's series of J_k for Y_0 and Y_1 (9.1.89, and its derivative), Hankel's
 * far from 0; upward recurrence, as for y_n and K_n. I_n: its power series. K_0, K_1: the trapezoidal rule for the
 * integral of e^(-x cosh t) (9.6.24), which converges exponentially. w: the modified trapezoidal rules of Al Azah &
 * Chandler-Wilde, SIAM J. Numer. Anal. 59 (2021) 2346, differentiated term by term.
 */
#include "graph/special.h"

#include <math.h>

#include "graph/bessel_near.h"

typedef struct hg_ext ext;

static ext add(ext a, ext b)
{
    return hg_ext_add(a, b);
}

static ext sub(ext a, ext b)
{
    return hg_ext_sub(a, b);
}

static ext mul(ext a, ext b)
{
    return hg_ext_mul(a, b);
}

static ext div_by(ext a, ext b)
{
    return hg_ext_div(a, b);
}

static ext minus(ext a)
{
    return (ext){-a.hi, -a.lo};
}

static ext times(ext a, long double b)
{
    return mul(a, hg_ext(b));
}

static ext over(ext a, long double b)
{
    return div_by(a, hg_ext(b));
}

static ext root(ext a)
{
    return hg_ext_pow(a, hg_ext(0.5L));
}

static ext pi(void)
{
    return times(hg_ext_function(HG_ATAN, hg_ext(1)), 4);
}

/* --- Bessel functions ------------------------------------------------------------------------------------- */

/* x^n / (scale(1) ... scale(n)) times the sum of (-x^2)^m / (m-th products of 2 m (2 m + shift)). */
static ext bessel_series(int n, ext x, int spherical)
{
    ext xx = minus(mul(x, x)), term = hg_ext(1), sum = term;
    for (int m = 1; m < 60 && fabsl(term.hi) > 0x1p-130L * fabsl(sum.hi); m++) {
        term = over(mul(term, xx), 2.0L * m * (spherical ? 2 * (n + m) + 1 : 2 * (n + m)));
        sum = add(sum, term);
    }
    for (int k = 1; k <= n; k++)
        sum = over(mul(sum, x), spherical ? 2 * k + 1 : 2 * k);
    return sum;
}

/* Downward from far above n and x: f_n, and f_0, f_1, f_0 + 2 f_2 + 2 f_4 + ... */
static ext bessel_down(int n, ext x, int spherical, ext first[2], ext *sum)
{
    int top = 2 * ((int)fmaxl(n, x.hi) / 2 + 40 + (int)(4 * cbrtl(x.hi)));
    ext above = hg_ext(0), f = hg_ext(1e-1500L), at_n = f, two_over_x = div_by(hg_ext(2), x);
    *sum = hg_ext(0);
    for (int m = top; m >= 0; m--) { /* f is f_m */
        if (m == n)
            at_n = f;
        if (m < 2)
            first[m] = f;
        if (m % 2 == 0)
            *sum = add(*sum, times(f, m ? 2 : 1));
        ext below = sub(mul(times(two_over_x, m + (spherical ? 0.5L : 0)), f), above);
        above = f;
        f = below;
    }
    return at_n;
}

/* sqrt(2/(pi x)) (P cos c - Q sin c), c = x - (n/2 + 1/4) pi; second kind: (P sin c + Q cos c) */
static ext bessel_far(int n, ext x, int second)
{
    ext p = hg_ext(1), q = hg_ext(0), term = p, s, c;
    for (int k = 1; k < 400 && fabsl(term.hi) > 0x1p-125L; k++) {
        term = over(mul(term, hg_ext(4.0L * n * n - (2.0L * k - 1) * (2.0L * k - 1))), 8.0L * k);
        term = div_by(term, x);
        ext signed_term = k % 4 < 2 ? term : minus(term);
        if (k % 2)
            q = add(q, signed_term);
        else
            p = add(p, signed_term);
    }
    ext sx = hg_ext_function(HG_SIN, x), cx = hg_ext_function(HG_COS, x);
    c = n % 2 ? sub(sx, cx) : add(cx, sx); /* sqrt 2 times cosine and sine of x - pi/4 - n pi/2, up to a sign */
    s = n % 2 ? minus(add(sx, cx)) : sub(sx, cx);
    ext r = second ? add(mul(p, s), mul(q, c)) : sub(mul(p, c), mul(q, s));
    r = div_by(r, root(mul(pi(), x)));
    return n % 4 < 2 ? r : minus(r);
}

static ext defined_j(int n, ext a)
{
    ext first[2], sum;
    if (a.hi < 2)
        return bessel_series(n, a, 0);
    if (a.hi >= 60 + (long double)n * n)
        return bessel_far(n, a, 0);
    ext f = bessel_down(n, a, 0, first, &sum);
    return div_by(f, sum);
}

/* f(-x) = (-1)^n f(x) */
static ext with_sign(const struct hg_bessel *f, int n, ext x)
{
    if (x.hi == 0)
        return f->value(n, x);
    ext r = hg_bessel_near(f, n, x.hi < 0 ? minus(x) : x);
    return x.hi < 0 && n % 2 ? minus(r) : r;
}

ext hg_ext_bessel_j(int n, ext x)
{
    static const struct hg_bessel j = {.value = defined_j};
    return isfinite(x.hi) ? with_sign(&j, n, x) : hg_ext(isnan(x.hi) ? x.hi : 0);
}

static ext defined_spherical_j(int n, ext a)
{
    ext first[2], sum, r;
    if (a.hi < 2)
        return bessel_series(n, a, 1);
    ext j0 = div_by(hg_ext_function(HG_SIN, a), a), j1 = div_by(sub(j0, hg_ext_function(HG_COS, a)), a);
    if (a.hi < n + 1) {
        ext f = bessel_down(n, a, 1, first, &sum);
        r = fabsl(j0.hi) > fabsl(j1.hi) ? mul(div_by(j0, first[0]), f) : mul(div_by(j1, first[1]), f);
    } else {
        ext before = j0;
        r = n ? j1 : j0;
        for (int k = 1; k < n; k++) {
            ext next = sub(mul(div_by(hg_ext(2 * k + 1), a), r), before);
            before = r;
            r = next;
        }
    }
    return r;
}

ext hg_ext_spherical_j(int n, ext x)
{
    static const struct hg_bessel j = {.value = defined_spherical_j, .spherical = 1};
    return isfinite(x.hi) ? with_sign(&j, n, x) : hg_ext(isnan(x.hi) ? x.hi : 0);
}

/* f_n from f_0 and f_1 by f_(k+1) = (2 k + 1 or 0)/x f_k -+ f_(k-1), which is stable for the second kind */
static ext upward(int n, ext x, ext f0, ext f1, int odd, int sign)
{
    ext before = f0, f = n ? f1 : f0;
    for (int k = 1; k < n && isfinite(f.hi); k++) {
        ext next = mul(div_by(hg_ext(2 * k + odd), x), f);
        next = sign < 0 ? sub(next, before) : add(next, before);
        before = f;
        f = next;
    }
    return f;
}

/* Y_0 = 2/pi ((log(x/2) + gamma) J_0 - 2 sum (-1)^k J_2k/k),
 * Y_1 = 2/pi ((log(x/2) + gamma - 1) J_1 - J_0/x - sum (-1)^k (2 k + 1)/(k (k + 1)) J_(2k+1)), k = 1, 2, ... */
static void bessel_y_near(ext x, ext y[2])
{
    const int top = 2 * (40 + (int)(x.hi / 2 + 4 * cbrtl(x.hi)));
    ext above = hg_ext(0), f = hg_ext(1e-1500L), two_over_x = div_by(hg_ext(2), x);
    ext norm = hg_ext(0), even = hg_ext(0), odd = hg_ext(0), j[2] = {f, f};
    for (int m = top; m >= 0; m--) {
        const int k = m / 2, sign = k % 2 ? -1 : 1;
        if (m % 2 == 0)
            norm = add(norm, times(f, m ? 2 : 1));
        if (m > 1 && m % 2 == 0)
            even = add(even, over(times(f, sign), k));
        if (m > 1 && m % 2)
            odd = add(odd, over(times(f, sign * (2 * k + 1)), k * (k + 1.0L)));
        if (m < 2)
            j[m] = f;
        ext below = sub(mul(times(two_over_x, m), f), above);
        above = f;
        f = below;
    }
    ext gamma = minus(hg_ext_function(HG_DIGAMMA, hg_ext(1))), two_over_pi = div_by(hg_ext(2), mul(pi(), norm));
    ext l = add(hg_ext_function(HG_LOG, over(x, 2)), gamma);
    y[0] = mul(two_over_pi, sub(mul(l, j[0]), times(even, 2)));
    y[1] = sub(mul(sub(l, hg_ext(1)), j[1]), add(div_by(j[0], x), odd));
    y[1] = mul(two_over_pi, y[1]);
}

static ext defined_y(int n, ext x)
{
    ext y[2];
    if (x.hi < 60)
        bessel_y_near(x, y);
    else {
        y[0] = bessel_far(0, x, 1);
        y[1] = bessel_far(1, x, 1);
    }
    return upward(n, x, y[0], y[1], 0, -1);
}

ext hg_ext_bessel_y(int n, ext x)
{
    static const struct hg_bessel y = {.value = defined_y, .second = 1};
    if (!(x.hi > 0) || isinf(x.hi))
        return hg_ext(x.hi > 0 ? 0 : x.hi == 0 ? -INFINITY : NAN);
    return hg_bessel_near(&y, n, x);
}

ext hg_ext_spherical_y(int n, ext x)
{
    if (!(x.hi > 0) || isinf(x.hi))
        return hg_ext(x.hi > 0 ? 0 : x.hi == 0 ? -INFINITY : NAN);
    ext y0 = minus(div_by(hg_ext_function(HG_COS, x), x));
    return upward(n, x, y0, div_by(sub(y0, hg_ext_function(HG_SIN, x)), x), 1, -1);
}

/* The power series of I_n, of i_n; all terms are positive. */
static ext modified_series(int n, ext x, int spherical)
{
    ext y = over(mul(x, x), 2), term = hg_ext(1), sum = term;
    for (int m = 1; m < 4000 && (term.hi > 0x1p-130L * sum.hi); m++) {
        term = over(mul(term, y), m * (2.0L * (n + m) + spherical));
        sum = add(sum, term);
    }
    for (int k = 1; k <= n; k++)
        sum = over(mul(sum, x), 2 * k + spherical);
    return sum;
}

static ext defined_i(int n, ext x)
{
    return modified_series(n, x, 0);
}

static ext defined_spherical_i(int n, ext x)
{
    return modified_series(n, x, 1);
}

static ext modified_first(const struct hg_bessel *f, int n, ext x)
{
    if (!(fabsl(x.hi) < 2000)) /* beyond the range of doubles */
        return hg_ext(isnan(x.hi) ? x.hi : x.hi < 0 && n % 2 ? -INFINITY : INFINITY);
    return with_sign(f, n, x);
}

ext hg_ext_bessel_i(int n, ext x)
{
    static const struct hg_bessel i = {.value = defined_i, .modified = 1};
    return modified_first(&i, n, x);
}

ext hg_ext_spherical_i(int n, ext x)
{
    static const struct hg_bessel i = {.value = defined_spherical_i, .modified = 1, .spherical = 1};
    return modified_first(&i, n, x);
}

ext hg_ext_spherical_k(int n, ext x)
{
    if (!(x.hi > 0) || x.hi > 10000)
        return hg_ext(x.hi > 0 ? 0 : x.hi == 0 ? INFINITY : NAN);
    ext k0 = div_by(mul(over(pi(), 2), hg_ext_function(HG_EXP, minus(x))), x);
    return upward(n, x, k0, add(k0, div_by(k0, x)), 1, 1);
}

/* The integral of e^(-x cosh t) cosh n t over t > 0, n = 0, 1; its strip of analyticity permits these steps. */
static void bessel_k_01(ext x, ext k[2])
{
    const ext one = hg_ext(1);
    ext h = hg_ext(x.hi < 20 ? 3 * 0x1p-5L : 0.42L / sqrtl(x.hi)), e = hg_ext_function(HG_EXP, h);
    ext two_c = add(e, div_by(one, e)), c = one,
        before = over(two_c, 2); /* cosh(t + h) = 2 cosh h cosh t - cosh(t - h) */
    k[0] = k[1] = hg_ext(0);
    for (int m = 0; m < 20000; m++) {
        ext f = hg_ext_function(HG_EXP, minus(mul(x, sub(c, one))));
        f = m ? f : over(f, 2);
        ext g = mul(f, c), next = sub(mul(two_c, c), before);
        k[0] = add(k[0], f);
        k[1] = add(k[1], g);
        if (g.hi < 0x1p-118L * k[1].hi)
            break;
        before = c;
        c = next;
    }
    ext size = mul(h, hg_ext_function(HG_EXP, minus(x)));
    k[0] = mul(k[0], size);
    k[1] = mul(k[1], size);
}

static ext defined_k(int n, ext x)
{
    ext k[2];
    bessel_k_01(x, k);
    return upward(n, x, k[0], k[1], 0, 1);
}

ext hg_ext_bessel_k(int n, ext x)
{
    static const struct hg_bessel k = {.value = defined_k, .modified = 1, .second = 1};
    if (!(x.hi > 0) || x.hi > 10000)
        return hg_ext(x.hi > 0 ? 0 : x.hi == 0 ? INFINITY : NAN);
    return hg_bessel_near(&k, n, x);
}

/* --- the Faddeeva function -------------------------------------------------------------------------------- */

struct complex_ext {
    ext re, im;
};
typedef struct complex_ext cx;

static cx cx_add(cx a, cx b)
{
    return (cx){add(a.re, b.re), add(a.im, b.im)};
}

static cx cx_mul(cx a, cx b)
{
    return (cx){sub(mul(a.re, b.re), mul(a.im, b.im)), add(mul(a.re, b.im), mul(a.im, b.re))};
}

static cx cx_times(cx a, ext b)
{
    return (cx){mul(a.re, b), mul(a.im, b)};
}

static cx inverse(cx a)
{
    ext n = add(mul(a.re, a.re), mul(a.im, a.im));
    return (cx){div_by(a.re, n), minus(div_by(a.im, n))};
}

/* e^(-z^2) and its derivatives: E' = -2 z E, E'' = -2 E - 2 z E', ... */
static void gaussian(cx z, cx E[4])
{
    const ext two = hg_ext(-2);
    ext g = hg_ext_function(HG_EXP, mul(sub(z.im, z.re), add(z.im, z.re))), xy = times(mul(z.re, z.im), 2);
    E[0] = (cx){mul(g, hg_ext_function(HG_COS, xy)), minus(mul(g, hg_ext_function(HG_SIN, xy)))};
    for (int k = 1; k < 4; k++) {
        E[k] = cx_times(cx_mul(z, E[k - 1]), two);
        if (k > 1)
            E[k] = cx_add(E[k], cx_times(E[k - 2], times(two, k - 1)));
    }
}

/* 1/(1 + sign e^(-i kappa z)) and its derivatives: g' = i kappa g (1 - g), ... */
static void step(cx z, ext kappa, int sign, cx g[4])
{
    const cx one = {hg_ext(1), hg_ext(0)}, ik = {hg_ext(0), kappa}, minus_two = {hg_ext(-2), hg_ext(0)};
    ext size = hg_ext_function(HG_EXP, mul(kappa, z.im)), angle = mul(kappa, z.re);
    size = times(size, sign);
    cx e = {mul(size, hg_ext_function(HG_COS, angle)), minus(mul(size, hg_ext_function(HG_SIN, angle)))};
    g[0] = inverse(cx_add(one, e));
    g[1] = cx_mul(ik, cx_mul(cx_mul(g[0], e), g[0])); /* 1 - g = e g */
    cx rest = cx_add(one, cx_mul(minus_two, g[0]));
    g[2] = cx_mul(ik, cx_mul(g[1], rest));
    g[3] = cx_mul(ik, cx_add(cx_mul(g[2], rest), cx_mul(minus_two, cx_mul(g[1], g[1]))));
}

enum { NODES = 32, SEEN = 256 };

/* Nodes t of the rules, on multiples of h or half-way between them, with their weights e^(-t^2). */
struct rule {
    ext t[NODES], weight[NODES];
};

struct rules {
    ext h, kappa, factor; /* factor: 2 h/pi */
    struct rule half, whole;
};

static void fill_rule(struct rule *r, ext h, ext first)
{
    for (int j = 0; j < NODES; j++) {
        r->t[j] = j ? add(r->t[j - 1], h) : first;
        r->weight[j] = hg_ext_function(HG_EXP, minus(mul(r->t[j], r->t[j])));
    }
}

static const struct rules *rules(void)
{
    static struct rules r;
    if (r.h.hi == 0) {
        r.h = root(over(pi(), NODES));
        r.kappa = div_by(times(pi(), 2), r.h);
        r.factor = times(div_by(r.h, pi()), 2);
        fill_rule(&r.whole, r.h, hg_ext(0));
        fill_rule(&r.half, r.h, over(r.h, 2));
        r.whole.weight[0] = hg_ext(0.5L);
    }
    return &r;
}

/* Adds weight times half of 1/(z - t) + 1/(z + t) and its derivatives: (-1)^k k!/2 of the (k + 1)-th powers. */
static void add_poles(cx z, ext t, ext weight, cx sum[4])
{
    const cx a = inverse((cx){sub(z.re, t), z.im}), b = inverse((cx){add(z.re, t), z.im});
    cx p = cx_times(a, over(weight, 2)), q = cx_times(b, over(weight, 2));
    for (int k = 0; k < 4; k++) {
        sum[k] = cx_add(sum[k], cx_add(p, q));
        p = cx_times(cx_mul(p, a), hg_ext(-k - 1));
        q = cx_times(cx_mul(q, b), hg_ext(-k - 1));
    }
}

/* w and three derivatives, x, y >= 0 */
static void faddeeva(cx z, cx w[4])
{
    static const int binomial[4][4] = {{1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}};
    const struct rules *r = rules();
    const ext u = div_by(z.re, r->h);
    const long double fraction = u.hi - floorl(u.hi);
    const int on_nodes = fraction >= 0.25L && fraction <= 0.75L; /* else half-way between them */
    const struct rule *rule = on_nodes ? &r->whole : &r->half;
    cx sum[4] = {{{0, 0}, {0, 0}}}, E[4], g[4];
    for (int j = 0; j < NODES; j++)
        add_poles(z, rule->t[j], rule->weight[j], sum);
    for (int k = 0; k < 4; k++)
        w[k] = cx_times((cx){minus(sum[k].im), sum[k].re}, r->factor);
    if (!(z.im.hi < r->kappa.hi / 2))
        return;
    gaussian(z, E);
    step(z, r->kappa, on_nodes ? -1 : 1, g);
    for (int k = 0; k < 4; k++)
        for (int j = 0; j <= k; j++)
            w[k] = cx_add(w[k], cx_times(cx_mul(E[j], g[k - j]), hg_ext(2 * binomial[k][j])));
}

static int same(ext a, ext b)
{
    return a.hi == b.hi && a.lo == b.lo;
}

/* The same, from the last values: callers request parts and derivatives one by one. */
static const cx *faddeeva_seen(cx z)
{
    static struct {
        cx z, w[4];
        int set;
    } seen[SEEN];
    int power;
    const long double place = frexpl(z.re.hi + 0.6180339887L * z.im.hi, &power) * 0x1p40L;
    const size_t at = (size_t)(place - SEEN * floorl(place / SEEN)) % SEEN;
    if (!seen[at].set || !same(seen[at].z.re, z.re) || !same(seen[at].z.im, z.im)) {
        seen[at].z = z;
        seen[at].set = 1;
        faddeeva(z, seen[at].w);
    }
    return seen[at].w;
}

/* w(-conj z) = conj w(z);  w(z) = 2 e^(-z^2) - w(-z) */
ext hg_ext_faddeeva(int k, ext x, ext y, int imaginary)
{
    cx z = {x.hi < 0 ? minus(x) : x, y.hi < 0 ? minus(y) : y}, w;
    if (!isfinite(x.hi) || !isfinite(y.hi))
        return hg_ext(isnan(x.hi + y.hi) ? NAN : 0);
    w = faddeeva_seen(z)[k];
    if (y.hi < 0) {
        cx E[4], below = {z.re, minus(z.im)};
        gaussian(below, E);
        w = (cx){sub(times(E[k].re, 2), w.re), add(times(E[k].im, 2), w.im)};
    }
    int odd = k % 2 != imaginary; /* in x */
    ext r = imaginary ? w.im : w.re;
    return x.hi < 0 && odd ? minus(r) : r;
}

/* --- relatives of the error function ----------------------------------------------------------------------- */

/* Halley's iteration, erf'' = -2 y erf', with erfc where that keeps the digits. */
ext hg_ext_erfinv(ext x)
{
    const ext a = x.hi < 0 ? minus(x) : x, one = hg_ext(1);
    if (!(a.hi < 1))
        return hg_ext(a.hi == 1 ? (long double)INFINITY * x.hi : NAN);
    ext rest = sub(one, a), root_pi = over(root(pi()), 2);
    long double w = -logl(rest.hi * (1 + a.hi));
    ext y = hg_ext(w < 3 ? a.hi * 0.886L : sqrtl(w - logl(1 + w) / 2));
    for (int k = 0; k < 12; k++) {
        ext miss = y.hi < 1 ? sub(hg_ext_function(HG_ERF, y), a) : sub(rest, hg_ext_function(HG_ERFC, y));
        ext step = mul(mul(miss, root_pi), hg_ext_function(HG_EXP, mul(y, y)));
        step = div_by(step, add(one, mul(y, step)));
        y = sub(y, step);
        if (fabsl(step.hi) <= 0x1p-70L * y.hi)
            break;
    }
    return x.hi < 0 ? minus(y) : y;
}

ext hg_ext_erfi(ext x)
{
    return mul(hg_ext_function(HG_EXP, mul(x, x)), hg_ext_faddeeva(0, x, hg_ext(0), 1));
}
