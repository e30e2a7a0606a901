/* fit/vmath.h -- inline vector mathematics for emitted kernels: the manual page, and the parts in order.
 *
 * VECTORS.  A fit_vd holds FIT_VL doubles, a fit_vm as many int64_t: a mask, each lane 0 or -1, the result of
 * a comparison.  Both are GNU vectors: + - * / < <= == & | ~ work, scalar constants are broadcast.
 *     FIT_VL         lanes; may be defined before the first inclusion; default 8: then fit_v8, fit_m8 are
 *                    other names of the two types;
 *     FIT_VL_NATIVE  lanes of one register at this instruction-set level: 8 (AVX-512), 4 (AVX), 2
 *                    (others); of SVE whose length is known when it is compiled 8 or 4.
 * Any FIT_VL is right; FIT_VL_NATIVE is fast.  gcc 12 keeps vectors wider than a register in memory and takes
 * comparisons of them apart lane by lane: with 8 lanes at x86-64-v3 it is 1.5 to 5 times slower than with 4,
 * in the functions as in plain arithmetic.  clang 14 does not mind.  Data in blocks of 8 lanes are then walked
 * in 8/FIT_VL steps.
 *
 * CONTRACT.  Everything is static inline and pure.  Compile with any of -ffp-contract=off|fast, without
 * -ffast-math; -fno-math-errno is needed for speed only.  A result depends on its lane's argument, not on the
 * other lanes, and a scalar form has the bits of the vector form.  Between compilers, and between levels with
 * and without fused multiply-add, last places may differ, as contraction does; so may, with clang, those of
 * vectors wider than a register.
 *
 * ACCURACY.  Worst error found in ulp (units in the last place of the true value), against long double, over
 * 10^6 arguments per function, at v2, v3 and v4, with gcc 12 and clang 14; tests/unit/test_vmath.c asserts a
 * little more than these:
 *     exp 0.63  log 0.83  pow 0.72   sin cos 0.83 (absolute 0.92e-16)  tan 1.06   expm1 0.96  log1p 0.87
 *     tanh 0.80 sinh 0.79 cosh 0.82  asinh 1.5  atan 0.80  softplus 1.5           logistic 2.3  sinc 1.6
 *     pow of a logarithm that is there already: 0.7 + 0.45 |log result|
 *     trigamma 2.5  tetragamma 8.2;  lgamma 1.1, or 1e-17 absolute (next to its zeros);  digamma 4, or 2e-15 absolute
 *     gamma 0.6  exprel 1.4  dexprel 5  d2exprel 9.5  log1mexp 1.4  erfcx 5.4 (x >= 0; 3.3 below)  derfcx 4.1
 *     d2erfcx 6.4  erfinv 2.9  erfi 7.2
 *     bessel_j, orders to 5: 1.5e-15, spherical_j: 7e-16, of |value| + 0.3 (1 + x)^-1/2 or -1; orders to 52: 3e-14
 *     bessel_y: 2.3e-15, spherical_y: 9e-16, as those; bessel_i: 2.2e-15, bessel_k: 2.8e-15 of the value (to 52: 5e-15)
 *     spherical_i: 3e-15, spherical_k: 9e-16 of the value (to 52: 5e-15)
 *     faddeeva: 1e-15 (re), 5e-15 (im) of the value; its derivatives 3e-14 of |value| + 0.01 (1 + |z|)^-4, second 6e-13
 *     dsinc, d2sinc: 1.4e-16 absolute; 2e-15 relative away from their zeros (|value| > 0.07)
 * Lanes of libm, at the speed and the accuracy of libm: asin acos atan2 erf erfc cbrt; rare lanes of others:
 *     sin cos tan   |x| > 2^20, inf, NaN
 *     log           subnormal or <= 0, inf, NaN
 *     log1p         <= -1, > 2^1022, NaN
 *     pow           x subnormal or <= 0; result outside e^-708 .. e^708; inf, NaN
 *     sinh cosh     |x| > 709, NaN
 * Special values are those of C11 annex F, except sinc, dsinc, d2sinc at infinity: NaN.
 *
 * Parts: fit/vmath_basic.h, vmath_exp.h (exp log pow and relatives), vmath_trig.h (sin cos tan atan, sinc),
 * vmath_gamma.h (gamma, lgamma and its derivatives), vmath_special.h (what has no short form, with
 * the polynomials of vmath_coefficients.h), vmath_bessel.h, vmath_bessel_second.h, vmath_faddeeva.h, vmath_erf.h,
 * vmath_scalar.h (scalar forms, cumulative trapezoid).  They are included from here only.
 */
#ifndef FIT_VMATH_H
#define FIT_VMATH_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* For the whole file that includes this one: vectors are passed between static functions only, so no binary
 * interface is at stake. */
#pragma GCC diagnostic ignored "-Wpsabi"

#include "fit/vmath_basic.h"
#include "fit/vmath_exp.h"
#include "fit/vmath_trig.h"
#include "fit/vmath_gamma.h"
#include "fit/vmath_coefficients.h"
#include "fit/vmath_special.h"
#include "fit/vmath_bessel.h"
#include "fit/vmath_bessel_second.h"
#include "fit/vmath_faddeeva.h"
#include "fit/vmath_erf.h"
#include "fit/vmath_scalar.h"

/* FIT_VMATH_CALLED: for files with very many calls, where inlining would cost minutes of compilation: functions are
 * called.  The same bits. */
#ifdef FIT_VMATH_CALLED
#define FIT_CALLED static __attribute__((noinline, unused))
#define FIT_CALLED1(f) FIT_CALLED fit_vd f##_called(fit_vd x) { return f(x); }
#define FIT_CALLED2(f) \
    FIT_CALLED fit_vd f##_called(fit_vd x, fit_vd y) { return f(x, y); }
#define FIT_CALLED3(f) \
    FIT_CALLED fit_vd f##_called(fit_vd x, fit_vd y, fit_vd z) { return f(x, y, z); }
FIT_CALLED1(fit_vexp)
FIT_CALLED1(fit_vexpm1)
FIT_CALLED1(fit_vtanh)
FIT_CALLED1(fit_vasinh)
FIT_CALLED1(fit_vsinh)
FIT_CALLED1(fit_vcosh)
FIT_CALLED1(fit_vlogistic)
FIT_CALLED1(fit_vlog)
FIT_CALLED1(fit_vlog1p)
FIT_CALLED1(fit_vsoftplus)
FIT_CALLED1(fit_vsin)
FIT_CALLED1(fit_vcos)
FIT_CALLED1(fit_vtan)
FIT_CALLED1(fit_vatan)
FIT_CALLED1(fit_vsinc)
FIT_CALLED1(fit_vdsinc)
FIT_CALLED1(fit_vd2sinc)
FIT_CALLED1(fit_vlgamma)
FIT_CALLED1(fit_vdigamma)
FIT_CALLED1(fit_vtrigamma)
FIT_CALLED1(fit_vtetragamma)
FIT_CALLED1(fit_vgamma)
FIT_CALLED1(fit_vexprel)
FIT_CALLED1(fit_vdexprel)
FIT_CALLED1(fit_vd2exprel)
FIT_CALLED1(fit_vlog1mexp)
FIT_CALLED1(fit_verfcx)
FIT_CALLED1(fit_vderfcx)
FIT_CALLED1(fit_vd2erfcx)
FIT_CALLED1(fit_verfinv)
FIT_CALLED1(fit_verfi)
FIT_CALLED1(fit_vasin)
FIT_CALLED1(fit_vacos)
FIT_CALLED1(fit_verf)
FIT_CALLED1(fit_verfc)
FIT_CALLED2(fit_vpow)
FIT_CALLED2(fit_vatan2)
FIT_CALLED2(fit_vbessel_j)
FIT_CALLED2(fit_vspherical_j)
FIT_CALLED2(fit_vbessel_y)
FIT_CALLED2(fit_vbessel_i)
FIT_CALLED2(fit_vbessel_k)
FIT_CALLED2(fit_vspherical_y)
FIT_CALLED2(fit_vspherical_i)
FIT_CALLED2(fit_vspherical_k)
FIT_CALLED3(fit_vfaddeeva_re)
FIT_CALLED3(fit_vfaddeeva_im)
#define fit_vexp fit_vexp_called
#define fit_vexpm1 fit_vexpm1_called
#define fit_vtanh fit_vtanh_called
#define fit_vasinh fit_vasinh_called
#define fit_vsinh fit_vsinh_called
#define fit_vcosh fit_vcosh_called
#define fit_vlogistic fit_vlogistic_called
#define fit_vlog fit_vlog_called
#define fit_vlog1p fit_vlog1p_called
#define fit_vsoftplus fit_vsoftplus_called
#define fit_vsin fit_vsin_called
#define fit_vcos fit_vcos_called
#define fit_vtan fit_vtan_called
#define fit_vatan fit_vatan_called
#define fit_vsinc fit_vsinc_called
#define fit_vdsinc fit_vdsinc_called
#define fit_vd2sinc fit_vd2sinc_called
#define fit_vlgamma fit_vlgamma_called
#define fit_vdigamma fit_vdigamma_called
#define fit_vtrigamma fit_vtrigamma_called
#define fit_vtetragamma fit_vtetragamma_called
#define fit_vgamma fit_vgamma_called
#define fit_vexprel fit_vexprel_called
#define fit_vdexprel fit_vdexprel_called
#define fit_vd2exprel fit_vd2exprel_called
#define fit_vlog1mexp fit_vlog1mexp_called
#define fit_verfcx fit_verfcx_called
#define fit_vderfcx fit_vderfcx_called
#define fit_vd2erfcx fit_vd2erfcx_called
#define fit_verfinv fit_verfinv_called
#define fit_verfi fit_verfi_called
#define fit_vasin fit_vasin_called
#define fit_vacos fit_vacos_called
#define fit_verf fit_verf_called
#define fit_verfc fit_verfc_called
#define fit_vpow fit_vpow_called
#define fit_vatan2 fit_vatan2_called
#define fit_vbessel_j fit_vbessel_j_called
#define fit_vspherical_j fit_vspherical_j_called
#define fit_vbessel_y fit_vbessel_y_called
#define fit_vbessel_i fit_vbessel_i_called
#define fit_vbessel_k fit_vbessel_k_called
#define fit_vspherical_y fit_vspherical_y_called
#define fit_vspherical_i fit_vspherical_i_called
#define fit_vspherical_k fit_vspherical_k_called
#define fit_vfaddeeva_re fit_vfaddeeva_re_called
#define fit_vfaddeeva_im fit_vfaddeeva_im_called
#endif

#endif
