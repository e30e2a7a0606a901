/* fit/vmath_basic.h -- vectors of doubles: making, selecting, testing, summing; error-free arithmetic.
 * Part of fit/vmath.h, which says what a vector is and includes this file.
 */
#if defined(__AVX512F__)
#define FIT_VL_NATIVE 8
#elif defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS >= 512
#define FIT_VL_NATIVE 8
#elif defined(__AVX__) || (defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS >= 256)
#define FIT_VL_NATIVE 4
#else
#define FIT_VL_NATIVE 2
#endif
#ifndef FIT_VL
#define FIT_VL 8
#endif
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define FIT_FMA 1
#else
#define FIT_FMA 0
#endif

#define FIT_INLINE static inline __attribute__((always_inline, unused))
/* Large functions: the compiler decides.  Vectors wider than a register are not passed between functions. */
#if FIT_VL == FIT_VL_NATIVE
#define FIT_LARGE static inline __attribute__((unused))
#else
#define FIT_LARGE FIT_INLINE
#endif
/* Functions of hundreds of operations which a kernel calls in several places, or in few of its uses. */
#if FIT_VL == FIT_VL_NATIVE
#define FIT_HUGE static __attribute__((noinline, unused))
#else
#define FIT_HUGE FIT_INLINE
#endif
#define FIT_COLD static __attribute__((noinline, cold, unused))
#define FIT_RARE(mask) __builtin_expect(fit_vany(mask), 0)

typedef double fit_vd __attribute__((vector_size(8 * FIT_VL)));
typedef int64_t fit_vm __attribute__((vector_size(8 * FIT_VL)));
typedef uint64_t fit_vu __attribute__((vector_size(8 * FIT_VL)));
#if FIT_VL == 8
typedef fit_vd fit_v8;
typedef fit_vm fit_m8;
#endif

#define FIT_SIGN_BIT INT64_MIN
#define FIT_UNUSED __attribute__((unused))
#define FIT_COEFFICIENT const double
#define FIT_COEFFICIENTS static FIT_COEFFICIENT

/* What the other readers of this text (fit/gpu.h), for which a lane is a double, spell otherwise. */
#define FIT_ZERO ((fit_vd){0})
#define fit_bits(x) ((fit_vm)(x))    /* of doubles */
#define fit_ubits(x) ((fit_vu)(x))
#define fit_of_bits(x) ((fit_vd)(x)) /* the doubles of these bits */
#define fit_vnot(m) (~(m))           /* of a mask */
#define fit_lane0(x) ((x)[0])

/* ---- making, loading, storing ---------------------------------------------------------------------- */

FIT_INLINE fit_vd fit_vset1(double a)
{
    return a - (fit_vd){0}; /* a - 0 keeps -0 and NaN; compiles to one broadcast */
}

/* 0, 1, ..., FIT_VL - 1. */
FIT_INLINE fit_vd fit_lane_index(void)
{
    fit_vd r = {0};
    for (int i = 0; i < FIT_VL; i++)
        r[i] = i;
    return r;
}

/* p is aligned to the size of a vector. */
FIT_INLINE fit_vd fit_vload(const double *p)
{
    fit_vd r;
    memcpy(&r, __builtin_assume_aligned(p, sizeof r), sizeof r);
    return r;
}

/* From single precision; p need not be aligned.  gcc makes two halves of __builtin_convertvector. */
FIT_INLINE fit_vd fit_vload_single(const float *p)
{
    float x __attribute__((vector_size(4 * FIT_VL)));
    memcpy(&x, p, sizeof x);
#if FIT_VL == 8 && defined(__AVX512F__) && !defined(__clang__)
    enum { CURRENT_ROUNDING = 4 };
    return __builtin_ia32_cvtps2pd512_mask(x, (fit_vd){0}, -1, CURRENT_ROUNDING);
#elif FIT_VL == 4 && defined(__AVX__) && !defined(__clang__)
    return __builtin_ia32_cvtps2pd256(x);
#else
    return __builtin_convertvector(x, fit_vd);
#endif
}

FIT_INLINE void fit_vstore(double *p, fit_vd a)
{
    memcpy(__builtin_assume_aligned(p, sizeof a), &a, sizeof a);
}

/* p is aligned to 8 bytes. */
FIT_INLINE fit_vd fit_vloadu(const double *p)
{
    fit_vd r;
    memcpy(&r, p, sizeof r);
    return r;
}

FIT_INLINE void fit_vstoreu(double *p, fit_vd a)
{
    memcpy(p, &a, sizeof a);
}

/* ---- masks ----------------------------------------------------------------------------------------- */

/* a where the mask is set, b elsewhere.  Bitwise: compilers make a blend or a ternary logic of it. */
FIT_INLINE fit_vd fit_vselect(fit_vm m, fit_vd a, fit_vd b)
{
    return (fit_vd)((m & (fit_vm)a) | (~m & (fit_vm)b));
}

/* Is any lane set?  One instruction and a test: kortest, vmovmskpd, movmskpd. */
FIT_INLINE int fit_vany(fit_vm m)
{
#if FIT_VL == 8 && defined(__AVX512F__) && !defined(__clang__)
    typedef long long wide __attribute__((vector_size(64)));
    return (unsigned char)__builtin_ia32_ptestmq512((wide)m, (wide)m, (unsigned char)-1) != 0;
#elif FIT_VL == 4 && defined(__AVX__)
    return __builtin_ia32_movmskpd256((fit_vd)m) != 0;
#elif FIT_VL == 2 && defined(__SSE2__)
    return __builtin_ia32_movmskpd((fit_vd)m) != 0;
#else
    int64_t any = 0;
    for (int i = 0; i < FIT_VL; i++)
        any |= m[i];
    return any != 0;
#endif
}

FIT_INLINE int fit_vall(fit_vm m)
{
    return !fit_vany(~m);
}

/* ---- arithmetic ------------------------------------------------------------------------------------ */

/* Sum of the lanes in a fixed order: the upper half is added to the lower one until one lane is left. */
FIT_INLINE double fit_vsum(fit_vd a)
{
    double s[FIT_VL];
    for (int i = 0; i < FIT_VL; i++)
        s[i] = a[i];
    for (int half = FIT_VL / 2; half; half /= 2)
        for (int i = 0; i < half; i++)
            s[i] += s[i + half];
    return s[0];
}

/* a*b + c: one rounding where the machine has fused multiply-add, else two. */
FIT_INLINE fit_vd fit_vfma(fit_vd a, fit_vd b, fit_vd c)
{
#if FIT_FMA
    fit_vd r = c;
    for (int i = 0; i < FIT_VL; i++)
        r[i] = __builtin_fma(a[i], b[i], c[i]);
    return r;
#else
    return a * b + c;
#endif
}

FIT_INLINE fit_vd fit_vabs(fit_vd a)
{
    return (fit_vd)((fit_vm)a & INT64_MAX);
}

FIT_INLINE fit_vd fit_vfabs(fit_vd a)
{
    return fit_vabs(a);
}

/* a with the sign of s. */
FIT_INLINE fit_vd fit_vcopysign(fit_vd a, fit_vd s)
{
    return (fit_vd)(((fit_vm)a & INT64_MAX) | ((fit_vm)s & FIT_SIGN_BIT));
}

/* a < b ? a : b, so b where one of them is NaN. */
FIT_INLINE fit_vd fit_vmin(fit_vd a, fit_vd b)
{
#if FIT_VL_NATIVE > 2
    fit_vd r = b;
    for (int i = 0; i < FIT_VL; i++)
        r[i] = a[i] < b[i] ? a[i] : b[i];
    return r;
#else
    return fit_vselect(a < b, a, b);
#endif
}

/* a > b ? a : b, so b where one of them is NaN. */
FIT_INLINE fit_vd fit_vmax(fit_vd a, fit_vd b)
{
#if FIT_VL_NATIVE > 2
    fit_vd r = b;
    for (int i = 0; i < FIT_VL; i++)
        r[i] = a[i] > b[i] ? a[i] : b[i];
    return r;
#else
    return fit_vselect(a > b, a, b);
#endif
}

/* -1, 0, 1; zero and NaN are returned as they are. */
FIT_INLINE fit_vd fit_vsign(fit_vd a)
{
    return fit_vselect(a > 0, fit_vset1(1), fit_vselect(a < 0, fit_vset1(-1), a));
}

/* Of one number. */
#define FIT_LOG(x) log(x)

/* Lane loops that become one instruction each (SSE4.1 and later). */
#define FIT_LANES_OF(name, call)                                                                             \
    FIT_INLINE fit_vd name(fit_vd a)                                                                         \
    {                                                                                                        \
        fit_vd r = a;                                                                                        \
        for (int i = 0; i < FIT_VL; i++)                                                                     \
            r[i] = call(a[i]);                                                                               \
        return r;                                                                                            \
    }
FIT_LANES_OF(fit_vsqrt, __builtin_sqrt)
FIT_LANES_OF(fit_vfloor, __builtin_floor)
FIT_LANES_OF(fit_vceil, __builtin_ceil)
FIT_LANES_OF(fit_vround, __builtin_rint) /* to even; in the current rounding mode */

/* ---- error-free transformations --------------------------------------------------------------------- */

/* Keeps the compiler from contracting a rounded product into a later addition, which would count the part
 * that was rounded away twice.  Free. */
#if !FIT_FMA
#define FIT_ROUNDED(x) ((void)0)
#elif FIT_VL == FIT_VL_NATIVE && defined(__x86_64__)
#define FIT_ROUNDED(x) __asm__("" : "+v"(x))
#elif FIT_VL == FIT_VL_NATIVE && defined(__aarch64__)
#define FIT_ROUNDED(x) __asm__("" : "+w"(x))
#else
#define FIT_ROUNDED(x) ((void)0)
#endif

/* a + b = sum + *err exactly (Knuth 1969). */
FIT_INLINE fit_vd fit_vtwo_sum(fit_vd a, fit_vd b, fit_vd *err)
{
    fit_vd s = a + b, bb = s - a;
    *err = (a - (s - bb)) + (b - bb);
    return s;
}

/* The same when |a| >= |b| or a = 0 (Dekker 1971). */
FIT_INLINE fit_vd fit_vfast_two_sum(fit_vd a, fit_vd b, fit_vd *err)
{
    fit_vd s = a + b;
    *err = (a - s) + b;
    return s;
}

/* a * b = product + *err: exactly with fused multiply-add, else to 2^-105 of the product (Dekker 1971, the
 * halves cut with a mask, which cannot overflow and is not disturbed by contraction). */
FIT_INLINE fit_vd fit_vtwo_prod(fit_vd a, fit_vd b, fit_vd *err)
{
    fit_vd p = a * b;
#if FIT_FMA
    FIT_ROUNDED(p);
    *err = fit_vfma(a, b, -p);
#else
    fit_vd ah = (fit_vd)((fit_vm)a & ~INT64_C(0x7ffffff)), al = a - ah;
    fit_vd bh = (fit_vd)((fit_vm)b & ~INT64_C(0x7ffffff)), bl = b - bh;
    *err = (((ah * bh - p) + ah * bl) + al * bh) + al * bl;
#endif
    return p;
}

/* (nh + nl) / (dh + dl) = quotient + *err to about 2^-100; one division. */
FIT_INLINE fit_vd fit_vdiv2(fit_vd nh, fit_vd nl, fit_vd dh, fit_vd dl, fit_vd *err)
{
    fit_vd inverse = 1.0 / dh, q = nh * inverse, e;
    FIT_ROUNDED(q);
    fit_vd p = fit_vtwo_prod(q, dh, &e);
    *err = (((nh - p) - e) + (nl - q * dl)) * inverse;
    return q;
}

/* ---- rare lanes ------------------------------------------------------------------------------------- */

/* r[i] = f(x[i]) or g(x[i], y[i]) in the lanes of the mask.  Not inlined, and arguments in memory: what it
 * costs is paid in the rare case only. */
FIT_COLD void fit_patch_lanes(double (*f)(double), double (*g)(double, double), const fit_vm *m,
                              const fit_vd *x, const fit_vd *y, fit_vd *r)
{
    for (int i = 0; i < FIT_VL; i++)
        if ((*m)[i])
            (*r)[i] = f ? f((*x)[i]) : g((*x)[i], (*y)[i]);
}

/* r with the lanes of the mask replaced by f(x). */
FIT_INLINE fit_vd fit_vpatch(double (*f)(double), fit_vm m, fit_vd x, fit_vd r)
{
    fit_vd patched = r;
    fit_patch_lanes(f, 0, &m, &x, &x, &patched);
    return patched;
}

/* The same for functions of two arguments. */
FIT_INLINE fit_vd fit_vpatch2(double (*f)(double, double), fit_vm m, fit_vd x, fit_vd y, fit_vd r)
{
    fit_vd patched = r;
    fit_patch_lanes(0, f, &m, &x, &y, &patched);
    return patched;
}
