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
FIT_SCALAR_OF(sign)
FIT_SCALAR_OF(sinc)
FIT_SCALAR_OF(dsinc)
FIT_SCALAR_OF(d2sinc)
FIT_SCALAR_OF(softplus)
FIT_SCALAR_OF(logistic)
FIT_SCALAR_OF(sinc_series)

static inline __attribute__((unused)) double fit_pow(double x, double y)
{
    return fit_vpow(fit_vset1(x), fit_vset1(y))[0];
}

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
 * fit_trapezoid_low also gives what the rounding left, F + F_low (F_low may be NULL): differences of two F
 * that are nearly equal keep their accuracy as (F_j - F_i) + (F_low_j - F_low_i). */
static inline __attribute__((unused)) void fit_trapezoid_low(size_t n, const double *f, const double *t,
                                                             double *F, double *F_low)
{
    double sum = 0, low = 0;
    if (n)
        F[0] = 0;
    if (n && F_low)
        F_low[0] = 0;
    for (size_t k = 1; k < n; k++) {
        double gl, hl, pl, e;
        double g = fit_two_sum(f[k - 1], f[k], &gl), h = fit_two_sum(t[k], -t[k - 1], &hl);
        double p = fit_two_prod(0.5 * g, h, &pl);
        pl += 0.5 * (g * hl + gl * h);
        sum = fit_two_sum(sum, p, &e);
        low += e + pl;
        sum = fit_two_sum(sum, low, &low);
        F[k] = sum;
        if (F_low)
            F_low[k] = low;
    }
}

/* Several of them at once, F_low NULL where it is not wanted.  The steps of one integral wait for each other; four
 * side by side take little longer than one. */
struct fit_integral {
    const double *f;
    double *F, *F_low;
};

static inline __attribute__((unused)) void fit_trapezoid_four(size_t n, const double *t,
                                                              const struct fit_integral *x)
{
    double sum[4] = {0}, low[4] = {0};
    for (size_t m = 0; m < 4 && n; m++) {
        x[m].F[0] = 0;
        if (x[m].F_low)
            x[m].F_low[0] = 0;
    }
    for (size_t k = 1; k < n; k++) {
        double hl, h = fit_two_sum(t[k], -t[k - 1], &hl);
        for (size_t m = 0; m < 4; m++) {
            double gl, pl, e, g = fit_two_sum(x[m].f[k - 1], x[m].f[k], &gl);
            double p = fit_two_prod(0.5 * g, h, &pl);
            pl += 0.5 * (g * hl + gl * h);
            sum[m] = fit_two_sum(sum[m], p, &e);
            low[m] += e + pl;
            sum[m] = fit_two_sum(sum[m], low[m], &low[m]);
            x[m].F[k] = sum[m];
            if (x[m].F_low)
                x[m].F_low[k] = low[m];
        }
    }
}

static inline __attribute__((unused)) void fit_trapezoids(size_t n, const double *t, size_t count,
                                                          const struct fit_integral *x)
{
    size_t m = 0;
    for (; m + 4 <= count; m += 4)
        fit_trapezoid_four(n, t, x + m);
    if (m + 1 == count) {
        fit_trapezoid_low(n, x[m].f, t, x[m].F, x[m].F_low);
    } else if (m < count) { /* two or three: the last one is computed again, to the same numbers */
        const size_t third = m + 2 < count ? m + 2 : m + 1;
        fit_trapezoid_four(n, t, (const struct fit_integral[]){x[m], x[m + 1], x[third], x[third]});
    }
}

static inline __attribute__((unused)) void fit_trapezoid(size_t n, const double *f, const double *t,
                                                         double *F)
{
    fit_trapezoid_low(n, f, t, F, NULL);
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
