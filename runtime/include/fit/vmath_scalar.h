/* fit/vmath_scalar.h -- scalar forms of the vector functions, and the cumulative trapezoid.
 * Part of fit/vmath.h.
 */

/* A scalar form is lane 0 of the vector form: the same bits as in the kernel's loops. */
#define FIT_SCALAR_OF(name)                                                                                  \
    static inline __attribute__((unused)) double fit_##name(double x)                                        \
    {                                                                                                        \
        return fit_v##name(fit_vset1(x))[0];                                                                 \
    }
FIT_SCALAR_OF(exp)
FIT_SCALAR_OF(expm1)
FIT_SCALAR_OF(log)
FIT_SCALAR_OF(log1p)
FIT_SCALAR_OF(sin)
FIT_SCALAR_OF(cos)
FIT_SCALAR_OF(tan)
FIT_SCALAR_OF(atan)
FIT_SCALAR_OF(sinh)
FIT_SCALAR_OF(cosh)
FIT_SCALAR_OF(tanh)
FIT_SCALAR_OF(asinh)
FIT_SCALAR_OF(sign)
FIT_SCALAR_OF(sinc)
FIT_SCALAR_OF(dsinc)
FIT_SCALAR_OF(d2sinc)
FIT_SCALAR_OF(softplus)
FIT_SCALAR_OF(logistic)
FIT_SCALAR_OF(sinc_series)
FIT_SCALAR_OF(lgamma)
FIT_SCALAR_OF(digamma)
FIT_SCALAR_OF(trigamma)
FIT_SCALAR_OF(tetragamma)
FIT_SCALAR_OF(gamma)
FIT_SCALAR_OF(exprel)
FIT_SCALAR_OF(dexprel)
FIT_SCALAR_OF(d2exprel)
FIT_SCALAR_OF(log1mexp)
FIT_SCALAR_OF(erfcx)
FIT_SCALAR_OF(derfcx)
FIT_SCALAR_OF(d2erfcx)
FIT_SCALAR_OF(erfinv)
FIT_SCALAR_OF(erfi)

static inline __attribute__((unused)) double fit_pow(double x, double y)
{
    return fit_vpow(fit_vset1(x), fit_vset1(y))[0];
}

/* Functions of an order. */
#define FIT_SCALAR_OF_2(name)                                                                                \
    static inline __attribute__((unused)) double fit_##name(double n, double x)                              \
    {                                                                                                        \
        return fit_v##name(fit_vset1(n), fit_vset1(x))[0];                                                   \
    }
#define FIT_SCALAR_OF_3(name)                                                                                \
    static inline __attribute__((unused)) double fit_##name(double n, double x, double y)                    \
    {                                                                                                        \
        return fit_v##name(fit_vset1(n), fit_vset1(x), fit_vset1(y))[0];                                     \
    }
FIT_SCALAR_OF_2(bessel_j)
FIT_SCALAR_OF_2(spherical_j)
FIT_SCALAR_OF_2(bessel_y)
FIT_SCALAR_OF_2(bessel_i)
FIT_SCALAR_OF_2(bessel_k)
FIT_SCALAR_OF_2(spherical_y)
FIT_SCALAR_OF_2(spherical_i)
FIT_SCALAR_OF_2(spherical_k)
FIT_SCALAR_OF_3(faddeeva_re)
FIT_SCALAR_OF_3(faddeeva_im)

static inline __attribute__((unused)) double fit_dsinc_series(double x, double x2)
{
    return fit_vdsinc_series(fit_vset1(x), fit_vset1(x2))[0];
}

/* a + b = sum + *err exactly (Knuth 1969). */
FIT_INLINE double fit_two_sum(double a, double b, double *err)
{
    double s = a + b, bb = s - a;
    *err = (a - (s - bb)) + (b - bb);
    return s;
}

/* a * b = product + *err, as fit_vtwo_prod. */
FIT_INLINE double fit_two_prod(double a, double b, double *err)
{
    double p = a * b;
#if FIT_FMA
#if defined(__x86_64__)
    __asm__("" : "+x"(p)); /* see FIT_ROUNDED */
#elif defined(__aarch64__)
    __asm__("" : "+w"(p));
#endif
    *err = __builtin_fma(a, b, -p);
#else
    int64_t ia, ib;
    double ah, bh;
    memcpy(&ia, &a, sizeof ia);
    memcpy(&ib, &b, sizeof ib);
    ia &= ~INT64_C(0x7ffffff);
    ib &= ~INT64_C(0x7ffffff);
    memcpy(&ah, &ia, sizeof ah);
    memcpy(&bh, &ib, sizeof bh);
    double al = a - ah, bl = b - bh;
    *err = (((ah * bh - p) + ah * bl) + al * bh) + al * bl;
#endif
    return p;
}

/* F[0] = 0, F[k] = F[k-1] + (f[k-1] + f[k])/2 (t[k] - t[k-1]), k < n.  Sums, differences, products and the
 * running sum are carried as two doubles (Ogita, Rump & Oishi 2005), so F[k] is the true sum for the given
 * f and t rounded once, as long as the terms do not cancel to 2^-50 of their absolute sum.
 * A non-finite f makes all F from there on NaN.  F must not overlap f and t.
 * F_low (NULL: not wanted) is what the rounding left, F + F_low: differences of two F that are nearly equal keep their
 * accuracy as (F_j - F_i) + (F_low_j - F_low_i).
 *
 * Areas of the intervals and errors of the additions are vectors; only two plain running sums, of the areas and of
 * what their rounding left, wait from step to step, those of several integrals side by side. */
struct fit_integral {
    const double *f;
    double *F, *F_low;
};

/* Steps of a block of intervals, compiled once and not for each integral: a block pays for the call. */
#define FIT_TRAPEZOID_STEP static __attribute__((noinline, unused))

enum { FIT_TRAPEZOID_BLOCK = 64, FIT_TRAPEZOID_ROOM = FIT_TRAPEZOID_BLOCK + FIT_VL };

/* The first n of from and copies of the last one; or from itself when there is enough behind it. */
FIT_INLINE const double *fit_trapezoid_padded(const double *from, size_t n, double *room)
{
    if (n == FIT_TRAPEZOID_BLOCK + 1)
        return from;
    for (size_t k = 0; k < FIT_TRAPEZOID_ROOM; k++)
        room[k] = from[k < n ? k : n - 1];
    return room;
}

/* Areas p + low of n intervals, and of some more that mean nothing, to a multiple of FIT_VL. */
FIT_TRAPEZOID_STEP void fit_trapezoid_areas(size_t n, const double *f, const double *t, double *p, double *low)
{
    double f_room[FIT_TRAPEZOID_ROOM], t_room[FIT_TRAPEZOID_ROOM];
    f = fit_trapezoid_padded(f, n + 1, f_room);
    t = fit_trapezoid_padded(t, n + 1, t_room);
    for (size_t k = 0; k < n; k += FIT_VL) {
        fit_vd gl, hl, pl, g = fit_vtwo_sum(fit_vloadu(f + k), fit_vloadu(f + k + 1), &gl);
        const fit_vd h = fit_vtwo_sum(fit_vloadu(t + k + 1), -fit_vloadu(t + k), &hl);
        fit_vstoreu(p + k, fit_vtwo_prod(0.5 * g, h, &pl));
        fit_vstoreu(low + k, pl + 0.5 * (g * hl + gl * h));
    }
}

/* Adds to low what rounding left of sum[k + 1] = sum[k] + p[k] (Knuth 1969). */
FIT_TRAPEZOID_STEP void fit_trapezoid_errors(size_t n, const double *p, const double *sum, double *low)
{
    for (size_t k = 0; k < n; k += FIT_VL) {
        const fit_vd before = fit_vloadu(sum + k), after = fit_vloadu(sum + k + 1), part = after - before;
        fit_vstoreu(low + k, fit_vloadu(low + k) + ((before - (after - part)) + (fit_vloadu(p + k) - part)));
    }
}

/* F + F_low <- sum + low; low is overwritten. */
FIT_TRAPEZOID_STEP void fit_trapezoid_store(size_t n, const double *sum, double *low, double *F, double *F_low)
{
    double high[FIT_TRAPEZOID_ROOM];
    for (size_t k = 0; k < n; k += FIT_VL) {
        fit_vd rest;
        fit_vstoreu(high + k, fit_vtwo_sum(fit_vloadu(sum + k + 1), fit_vloadu(low + k), &rest));
        fit_vstoreu(low + k, rest);
    }
    memcpy(F, high, n * sizeof *F);
    if (F_low)
        memcpy(F_low, low, n * sizeof *F_low);
}

/* count: a constant, at most 4. */
FIT_INLINE void fit_trapezoid_some(size_t n, const double *t, const size_t count, const struct fit_integral *x)
{
    double p[4][FIT_TRAPEZOID_ROOM], sum[4][FIT_TRAPEZOID_ROOM + 1], low[4][FIT_TRAPEZOID_ROOM], rest[4] = {0};
    for (size_t m = 0; m < count && n; m++) {
        sum[m][0] = x[m].F[0] = 0;
        if (x[m].F_low)
            x[m].F_low[0] = 0;
    }
    for (size_t first = 1; first < n; first += FIT_TRAPEZOID_BLOCK) {
        const size_t all = n - first, size = all < FIT_TRAPEZOID_BLOCK ? all : FIT_TRAPEZOID_BLOCK;
        const size_t room = (size + FIT_VL - 1) / FIT_VL * FIT_VL;
        for (size_t m = 0; m < count; m++)
            fit_trapezoid_areas(size, x[m].f + first - 1, t + first - 1, p[m], low[m]);
        for (size_t k = 0; k < room; k++)
            for (size_t m = 0; m < count; m++)
                sum[m][k + 1] = sum[m][k] + p[m][k];
        for (size_t m = 0; m < count; m++)
            fit_trapezoid_errors(size, p[m], sum[m], low[m]);
        for (size_t k = 0; k < size; k++)
            for (size_t m = 0; m < count; m++)
                low[m][k] = rest[m] += low[m][k];
        for (size_t m = 0; m < count; m++) {
            fit_trapezoid_store(size, sum[m], low[m], x[m].F + first, x[m].F_low ? x[m].F_low + first : NULL);
            sum[m][0] = sum[m][size];
        }
    }
}

static inline __attribute__((unused)) void fit_trapezoid_one(size_t n, const double *t, const struct fit_integral *x)
{
    fit_trapezoid_some(n, t, 1, x);
}

static inline __attribute__((unused)) void fit_trapezoid_two(size_t n, const double *t, const struct fit_integral *x)
{
    fit_trapezoid_some(n, t, 2, x);
}

static inline __attribute__((unused)) void fit_trapezoid_four(size_t n, const double *t, const struct fit_integral *x)
{
    fit_trapezoid_some(n, t, 4, x);
}

/* Several integrals over the same t. */
static inline __attribute__((unused)) void fit_trapezoids(size_t n, const double *t, size_t count,
                                                          const struct fit_integral *x)
{
    size_t m = 0;
    for (; m + 4 <= count; m += 4)
        fit_trapezoid_four(n, t, x + m);
    for (; m + 2 <= count; m += 2)
        fit_trapezoid_two(n, t, x + m);
    if (m < count)
        fit_trapezoid_one(n, t, x + m);
}

static inline __attribute__((unused)) void fit_trapezoid(size_t n, const double *f, const double *t,
                                                         double *F)
{
    fit_trapezoid_one(n, t, &(struct fit_integral){f, F, NULL});
}

/* The same on an even grid: t[k] - t[k-1] = step. */
static inline __attribute__((unused)) void fit_trapezoid_step(size_t n, const double *f, double step,
                                                              double *F)
{
    double sum = 0, low = 0;
    if (n)
        F[0] = 0;
    for (size_t k = 1; k < n; k++) {
        double gl, e, pl;
        double g = fit_two_sum(f[k - 1], f[k], &gl);
        sum = fit_two_sum(sum, g, &e);
        low += e + gl;
        sum = fit_two_sum(sum, low, &low);
        double p = fit_two_prod(sum, 0.5 * step, &pl);
        F[k] = p + (pl + low * (0.5 * step));
    }
}
