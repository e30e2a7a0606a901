/* test_vmath.c -- accuracy of fit/vmath.h against long double libm, special values, error-free sums, speed.
 *
 * Built once per instruction-set level, with the flags of emitted kernels; a level that the machine lacks is
 * skipped.  FIT_VMATH_POINTS sets the number of arguments per range (default 300000; 3 to 5 ranges each).
 * Long double has 11 bits more than double on x86, so that errors are known to 0.002 ulp.
 */
#include "fit/vmath.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#ifndef FIT_LEVEL
#define FIT_LEVEL "the compiler's default level"
#endif
#define BLOCK 4096 /* a multiple of every FIT_VL */

typedef void array_fn(const double *x, const double *y, double *r); /* BLOCK values */
typedef long double exact_fn(long double x);

/* ---- functions under test, over arrays -------------------------------------------------------------- */

#define ARRAY(name, call)                                                                                    \
    static void array_##name(const double *x, const double *y, double *r)                                    \
    {                                                                                                        \
        (void)y;                                                                                             \
        for (size_t i = 0; i < BLOCK; i += FIT_VL) {                                                         \
            fit_vd a = fit_vload(x + i), b = y ? fit_vload(y + i) : a, c, d;                                 \
            (void)b, (void)c, (void)d;                                                                       \
            fit_vstore(r + i, call);                                                                         \
        }                                                                                                    \
    }
ARRAY(exp, fit_vexp(a))
ARRAY(expm1, fit_vexpm1(a))
ARRAY(log, fit_vlog(a))
ARRAY(log1p, fit_vlog1p(a))
ARRAY(pow, fit_vpow(a, b))
ARRAY(pow_of_log, (c = fit_vlog_low(a, &d), fit_vpow_of_log(a, b, c, d)))
ARRAY(sin, (fit_vsincos(a, &c, &d), c))
ARRAY(cos, (fit_vsincos(a, &c, &d), d))
ARRAY(sin2, (fit_vsincos2(a, b, &c, &d), c))
ARRAY(cos2, (fit_vsincos2(a, b, &c, &d), d))
ARRAY(sincos2, (fit_vsincos2(a, b, &c, &d), c + d))
ARRAY(tan, fit_vtan(a))
ARRAY(atan, fit_vatan(a))
ARRAY(sinh, fit_vsinh(a))
ARRAY(cosh, fit_vcosh(a))
ARRAY(tanh, fit_vtanh(a))
ARRAY(asinh, fit_vasinh(a))
ARRAY(asin, fit_vasin(a))
ARRAY(acos, fit_vacos(a))
ARRAY(erf, fit_verf(a))
ARRAY(erfc, fit_verfc(a))
ARRAY(cbrt, fit_vcbrt(a))
ARRAY(softplus, fit_vsoftplus(a))
ARRAY(logistic, fit_vlogistic(a))
ARRAY(lgamma, fit_vlgamma(a))
ARRAY(digamma, fit_vdigamma(a))
ARRAY(trigamma, fit_vtrigamma(a))
ARRAY(tetragamma, fit_vtetragamma(a))
ARRAY(sinc, fit_vsinc(a))
ARRAY(dsinc, fit_vdsinc(a))
ARRAY(d2sinc, fit_vd2sinc(a))
ARRAY(sinc_series, fit_vsinc_series(a * a))
ARRAY(dsinc_series, fit_vdsinc_series(a, a * a))

/* ---- references --------------------------------------------------------------------------------------- */

/* sum_n (-1)^n c_n x^2n / (2n+1)!: sinc has c_n = 1, its derivatives come term by term. */
static long double sinc_sum(long double x, int derivative)
{
    long double sum = 0, term = 1; /* x^(2n-derivative) / (2n+1)! without sign */
    if (derivative == 1)
        term = x / 6;
    if (derivative == 2)
        term = 1.0L / 6;
    for (int n = derivative ? 1 : 0; n < 30; n++) {
        long double c = derivative == 0 ? 1 : derivative == 1 ? 2 * n : 2.0L * n * (2 * n - 1);
        sum += (n % 2 ? -c : c) * term;
        term *= x * x / ((2.0L * n + 2) * (2.0L * n + 3));
    }
    return sum;
}

static long double sinc_exact(long double x)
{
    return fabsl(x) < 2.5L ? sinc_sum(x, 0) : sinl(x) / x;
}

static long double dsinc_exact(long double x)
{
    return fabsl(x) < 2.5L ? sinc_sum(x, 1) : (cosl(x) - sinl(x) / x) / x;
}

static long double d2sinc_exact(long double x)
{
    return fabsl(x) < 2.5L ? sinc_sum(x, 2) : -sinc_exact(x) - 2 * dsinc_exact(x) / x;
}

static long double softplus_exact(long double x)
{
    return fmaxl(x, 0) + log1pl(expl(-fabsl(x)));
}

static long double logistic_exact(long double x)
{
    return 1 / (1 + expl(-x));
}

/* Asymptotic series from 32 on, after recurrences (Abramowitz & Stegun 1965, 6.3.6, 6.3.18, 6.4.6, 6.4.12). */
static const long double bernoulli[] = {1.0L / 6,  -1.0L / 30,     1.0L / 42, -1.0L / 30,
                                        5.0L / 66, -691.0L / 2730, 7.0L / 6};

static long double digamma_exact(long double x)
{
    long double sum = 0, raised = 0;
    for (; x < 32; x++)
        raised += 1 / x;
    for (int n = 7; n > 0; n--)
        sum += bernoulli[n - 1] / (2 * n) * powl(x, -2 * n);
    return logl(x) - 0.5L / x - sum - raised;
}

static long double trigamma_exact(long double x)
{
    long double sum = 0, raised = 0;
    for (; x < 32; x++)
        raised += 1 / (x * x);
    for (int n = 7; n > 0; n--)
        sum += bernoulli[n - 1] * powl(x, -2 * n - 1);
    return 1 / x + 0.5L / (x * x) + sum + raised;
}

static long double tetragamma_exact(long double x)
{
    long double sum = 0, raised = 0;
    for (; x < 32; x++)
        raised += 2 / (x * x * x);
    for (int n = 7; n > 0; n--)
        sum += bernoulli[n - 1] * (2 * n + 1) * powl(x, -2 * n - 2);
    return -1 / (x * x) - 1 / (x * x * x) - sum - raised;
}

/* ---- arguments ---------------------------------------------------------------------------------------- */

static uint64_t random_state;

static double uniform(void) /* splitmix64 (Steele, Lea & Flood 2014) */
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* Uniform between lo and hi; or, when scale is 'e', +-2^u with u uniform between them ('p': + only); or
 * 'm': the doubles around multiples of pi/4 up to hi. */
static double argument(char scale, double lo, double hi)
{
    double u = lo + (hi - lo) * uniform();
    switch (scale) {
    case 'e': return uniform() < 0.5 ? exp2(u) : -exp2(u);
    case 'p': return exp2(u);
    case 'm': return nextafter((double)(rintl(u) * 0.785398163397448309615660845819876L), uniform() - 0.5);
    default: return u;
    }
}

static size_t points(void)
{
    const char *s = getenv("FIT_VMATH_POINTS");
    return s ? (size_t)strtoul(s, NULL, 10) : 300000;
}

static long double ulp_of(long double exact)
{
    int e = exact == 0 ? -1074 : ilogbl(exact) - 52;
    return ldexpl(1, e < -1074 ? -1074 : e);
}

/* ---- accuracy ----------------------------------------------------------------------------------------- */

struct range {
    char scale; /* see argument(); 0 ends */
    double lo, hi;
};

struct accuracy {
    const char *name;
    array_fn *fn;
    exact_fn *exact;
    double bound;    /* ulp */
    double absolute; /* an error below this is right whatever the ulp; 0: none */
    struct range range[5];
};

static const struct accuracy unary[] = {
    {"exp", array_exp, expl, 0.7, 0, {{'u', -708, 709.7}, {'u', -2, 2}, {'e', -60, 2}}},
    {"exp subnormal", array_exp, expl, 1.1, 0, {{'u', -746, -707}}},
    {"expm1", array_expm1, expm1l, 1.0, 0, {{'u', -45, 709.7}, {'u', -2, 2}, {'e', -1060, 2}}},
    {"log", array_log, logl, 0.9, 0, {{'p', -1022, 1023}, {'p', -1, 1}, {'u', 0.9, 1.1}, {'p', -1074, -1020}}},
    {"log1p",
     array_log1p,
     log1pl,
     1.0,
     0,
     {{'p', -1060, 1023}, {'e', -70, -0.01}, {'u', -0.5, 1}, {'p', -3, 6}, {'u', -1, -0.9}}},
    {"sin", array_sin, sinl, 0.9, 0, {{'u', -4, 4}, {'u', -1048600, 1048600}, {'e', -1060, 21}, {'m', 0, 1335000}}},
    {"cos", array_cos, cosl, 0.9, 0, {{'u', -4, 4}, {'u', -1048600, 1048600}, {'e', -1060, 21}, {'m', 0, 1335000}}},
    {"tan", array_tan, tanl, 1.2, 0, {{'u', -4, 4}, {'u', -1048600, 1048600}, {'e', -1060, 21}, {'m', 0, 1335000}}},
    {"atan", array_atan, atanl, 0.9, 0, {{'u', -4, 4}, {'e', -1060, 1020}, {'e', -3, 4}}},
    {"sinh", array_sinh, sinhl, 0.9, 0, {{'u', -709, 709}, {'u', -3, 3}, {'e', -1060, 5}}},
    {"cosh", array_cosh, coshl, 0.9, 0, {{'u', -709, 709}, {'u', -3, 3}, {'e', -1060, 5}}},
    {"tanh", array_tanh, tanhl, 0.9, 0, {{'u', -22, 22}, {'u', -1, 1}, {'e', -1060, 2}}},
    {"asinh", array_asinh, asinhl, 1.7, 0, {{'u', -4, 4}, {'e', -1060, 1023}, {'e', -3, 60}}},
    {"softplus", array_softplus, softplus_exact, 2.0, 0, {{'u', -700, 100}, {'u', -3, 3}, {'e', -60, 5}}},
    {"logistic", array_logistic, logistic_exact, 2.4, 0, {{'u', -700, 100}, {'u', -3, 3}, {'e', -60, 5}}},
    {"lgamma",
     array_lgamma,
     lgammal,
     1.6,
     1e-17,
     {{'u', 1e-3, 12}, {'u', 0.9, 2.1}, {'p', -900, 10}, {'u', 1, 1e4}, {'p', 3, 900}}},
    {"digamma",
     array_digamma,
     digamma_exact,
     4.5,
     2e-15,
     {{'u', 1e-3, 12}, {'u', 1.2, 1.8}, {'p', -900, 10}, {'u', 1, 1e4}}},
    {"trigamma", array_trigamma, trigamma_exact, 3, 0, {{'u', 1e-3, 12}, {'p', -400, 10}, {'u', 1, 1e4}}},
    {"tetragamma", array_tetragamma, tetragamma_exact, 9, 0, {{'u', 1e-3, 12}, {'p', -300, 10}, {'u', 1, 1e4}}},
    {"sinc", array_sinc, sinc_exact, 1.7, 0, {{'u', -4, 4}, {'e', -600, 19}, {'u', -2e3, 2e3}}},
    {"sinc series", array_sinc_series, sinc_exact, 0.7, 0, {{'u', -0.5, 0.5}, {'e', -600, -1}}},
    {"dsinc series", array_dsinc_series, dsinc_exact, 1.8, 0, {{'u', -0.5, 0.5}, {'e', -600, -1}}},
    /* 9 ulp: 2e-15 of the value */
    {"dsinc", array_dsinc, dsinc_exact, 9, 1.2e-16, {{'u', -4, 4}, {'e', -600, 19}, {'u', -2e3, 2e3}}},
    {"d2sinc", array_d2sinc, d2sinc_exact, 9, 1.6e-16, {{'u', -4, 4}, {'e', -300, 19}, {'u', -2e3, 2e3}}},
    /* libm, lane by lane: only that the right function is called */
    {"asin", array_asin, asinl, 1.5, 0, {{'u', -1, 1}}},
    {"acos", array_acos, acosl, 1.5, 0, {{'u', -1, 1}}},
    {"erf", array_erf, erfl, 2, 0, {{'u', -4, 4}}},
    {"erfc", array_erfc, erfcl, 6, 0, {{'u', -4, 20}}},
    {"cbrt", array_cbrt, cbrtl, 5, 0, {{'e', -50, 50}}},
};

struct worst {
    double ulp, x, y, absolute;
};

static void compare(struct worst *w, double x, double y, double got, long double exact, double absolute)
{
    long double e = fabsl((long double)got - exact);
    if (isinf(got) && isinf((double)exact))
        return;
    if (e > w->absolute)
        w->absolute = (double)e;
    e = e < absolute ? 0 : e / ulp_of(exact);
    if (!(e <= w->ulp))
        *w = (struct worst){(double)e, x, y, w->absolute};
}

static _Alignas(64) double X[BLOCK], Y[BLOCK], R[BLOCK];

static void test_unary_functions_are_accurate(void **state)
{
    int bad = 0;
    (void)state;
    for (size_t f = 0; f < sizeof unary / sizeof *unary; f++) {
        const struct accuracy *a = &unary[f];
        struct worst w = {0, 0, 0, 0};
        random_state = 1 + f;
        for (const struct range *r = a->range; r < a->range + 5 && r->scale; r++)
            for (size_t done = 0; done < points(); done += BLOCK) {
                for (size_t i = 0; i < BLOCK; i++)
                    X[i] = argument(r->scale, r->lo, r->hi);
                a->fn(X, NULL, R);
                for (size_t i = 0; i < BLOCK; i++)
                    compare(&w, X[i], 0, R[i], a->exact(X[i]), a->absolute);
            }
        print_message("  %-14s %6.3f ulp at %-24.17g largest absolute error %.2e  (bound %.2g ulp)\n",
                      a->name, w.ulp, w.x, w.absolute, a->bound);
        if (!(w.ulp <= a->bound)) {
            print_error("  %s: %.3f ulp at %.17g (%a); at most %.2g was promised\n", a->name, w.ulp, w.x, w.x,
                        a->bound);
            bad++;
        }
    }
    assert_int_equal(bad, 0);
}

static void test_pow_is_accurate(void **state)
{
    struct worst w = {0, 0, 0, 0};
    (void)state;
    random_state = 77;
    for (int kind = 0; kind < 5; kind++)
        for (size_t done = 0; done < points(); done += BLOCK) {
            for (size_t i = 0; i < BLOCK; i++) {
                X[i] = kind == 0   ? argument('p', -1022, 1023)
                       : kind == 1 ? argument('p', -20, 20)
                       : kind == 2 ? 1 + argument('e', -52, -2)
                       : kind == 3 ? argument('p', -0.5, 0.5)
                                   : argument('p', -1060, 1000);
                double most = 744 / fabs(log(X[i])); /* whole range of results, gradual underflow apart */
                Y[i] = kind == 1 ? argument('u', -3, 3) : argument('u', -0.95 * most, 0.95 * most);
            }
            array_pow(X, Y, R);
            for (size_t i = 0; i < BLOCK; i++)
                compare(&w, X[i], Y[i], R[i], powl(X[i], Y[i]), 0);
        }
    print_message("  pow            %6.3f ulp at %.17g ^ %.17g\n", w.ulp, w.x, w.y);
    assert_true(w.ulp <= 0.8);
}

/* The logarithm's error grows with the result's: 0.7 ulp, and a part of each unit of |log x^y|. */
static void test_pow_of_a_logarithm_is_accurate(void **state)
{
    struct worst w = {0, 0, 0, 0};
    double worst = 0;
    (void)state;
    random_state = 78;
    for (int kind = 0; kind < 4; kind++)
        for (size_t done = 0; done < points(); done += BLOCK) {
            for (size_t i = 0; i < BLOCK; i++) {
                X[i] = kind == 0   ? argument('p', -1022, 1023)
                       : kind == 1 ? argument('p', -20, 20)
                       : kind == 2 ? 1 + argument('e', -52, -2)
                                   : argument('p', -0.5, 0.5);
                double most = (kind == 1 ? 5 : 700) / fabs(log(X[i]));
                Y[i] = argument('u', -most, most);
            }
            array_pow_of_log(X, Y, R);
            for (size_t i = 0; i < BLOCK; i++) {
                w.ulp = 0;
                compare(&w, X[i], Y[i], R[i], powl(X[i], Y[i]), 0);
                worst = fmax(worst, (w.ulp - 0.7) / (1 + fabs(Y[i] * log(X[i]))));
            }
        }
    print_message("  pow of log     0.7 ulp + %.3f (1 + |log|)\n", worst);
    assert_true(worst <= 0.5); /* exp(y log x) would have 1.3 */
}

/* hi + lo: the reference is turned by lo from the sine and cosine of hi. */
static void test_sincos_of_a_sum_is_accurate(void **state)
{
    struct worst ws = {0, 0, 0, 0}, wc = ws;
    static _Alignas(64) double C[BLOCK];
    (void)state;
    random_state = 99;
    for (int kind = 0; kind < 3; kind++)
        for (size_t done = 0; done < points(); done += BLOCK) {
            for (size_t i = 0; i < BLOCK; i++) {
                X[i] = kind == 0 ? argument('u', -7, 7) : argument('e', -30, kind == 1 ? 20 : 22);
                Y[i] = argument('u', -1, 1) * (double)ulp_of(X[i]);
            }
            array_sin2(X, Y, R);
            array_cos2(X, Y, C);
            for (size_t i = 0; i < BLOCK; i++) {
                long double s = sinl(X[i]), c = cosl(X[i]), d = Y[i];
                long double turned_s = s + d * c - d * d / 2 * s, turned_c = c - d * s - d * d / 2 * c;
                /* near a zero lo itself is known to 2^-53 only */
                double floor_error = fabs(X[i]) > 0x1p20 ? 2.3e-16 : 1e-20;
                compare(&ws, X[i], Y[i], R[i], turned_s, floor_error);
                compare(&wc, X[i], Y[i], C[i], turned_c, floor_error);
            }
        }
    print_message("  sincos2        %6.3f, %.3f ulp; absolute %.2e, %.2e\n", ws.ulp, wc.ulp, ws.absolute,
                  wc.absolute);
    assert_true(ws.ulp <= 0.8 && wc.ulp <= 0.8);
    assert_true(ws.absolute <= 2.3e-16 && wc.absolute <= 2.3e-16);
}

static void test_sine_and_cosine_near_one_are_rounded_well(void **state)
{
    struct worst ws = {0, 0, 0, 0}, wc = ws;
    static _Alignas(64) double C[BLOCK];
    (void)state;
    random_state = 5;
    for (size_t done = 0; done < points(); done += BLOCK) {
        for (size_t i = 0; i < BLOCK; i++)
            X[i] = argument('u', -1e6, 1e6);
        array_sin(X, NULL, R);
        array_cos(X, NULL, C);
        for (size_t i = 0; i < BLOCK; i++) {
            compare(&ws, X[i], 0, R[i], sinl(X[i]), 0);
            compare(&wc, X[i], 0, C[i], cosl(X[i]), 0);
        }
    }
    assert_true(ws.absolute <= 1.0e-16 && wc.absolute <= 1.0e-16);
}

/* ---- special values ----------------------------------------------------------------------------------- */

static const double special[] = {
    0.0,     -0.0,      1,       -1,      INFINITY, -INFINITY,  NAN,      0x1p-1074,  -0x1p-1074, 0x1p-1022,
    -0x1p-1022, DBL_MAX, -DBL_MAX, 0x1p-1023, 709.78,  709.79,     -745.13,  -745.14,    -708,       708,
    710.4,   710.5,     -710.5,  -1.5,    0x1p20,   0x1.00001p20, 1e22,   -1e300,     0x1p-30,    -2,
    0.5,     2,         3,       -3,      1e-300,   40,         -40,      20,         -20,        1e10};
#define NSPECIAL (sizeof special / sizeof *special)

static int same(double got, double want)
{
    if (isnan(want))
        return isnan(got);
    if (isinf(want) || want == 0) /* exact literals, with their sign */
        return got == want && !signbit(got) == !signbit(want);
    return fabs(got - want) <= 2.1 * (double)ulp_of(want);
}

static void check_special(const char *name, array_fn *fn, double (*libm)(double))
{
    int bad = 0;
    for (size_t i = 0; i < BLOCK; i++)
        X[i] = special[i % NSPECIAL];
    fn(X, NULL, R);
    for (size_t i = 0; i < NSPECIAL; i++)
        if (!same(R[i], libm(X[i]))) {
            print_error("  %s(%a) = %a, libm says %a\n", name, X[i], R[i], libm(X[i]));
            bad++;
        }
    assert_int_equal(bad, 0);
}

static void test_special_values_are_those_of_libm(void **state)
{
    (void)state;
    check_special("exp", array_exp, exp);
    check_special("expm1", array_expm1, expm1);
    check_special("log", array_log, log);
    check_special("log1p", array_log1p, log1p);
    check_special("sin", array_sin, sin);
    check_special("cos", array_cos, cos);
    check_special("tan", array_tan, tan);
    check_special("atan", array_atan, atan);
    check_special("sinh", array_sinh, sinh);
    check_special("cosh", array_cosh, cosh);
    check_special("tanh", array_tanh, tanh);
    check_special("asinh", array_asinh, asinh);
}

static void pow_of_special_values(const char *name, array_fn *fn)
{
    int bad = 0;
    for (size_t j = 0; j < NSPECIAL; j++) {
        for (size_t i = 0; i < BLOCK; i++) {
            X[i] = special[i % NSPECIAL];
            Y[i] = special[j];
        }
        fn(X, Y, R);
        for (size_t i = 0; i < NSPECIAL; i++)
            if (!same(R[i], pow(X[i], Y[i]))) {
                print_error("  %s(%a, %a) = %a, libm says %a\n", name, X[i], Y[i], R[i], pow(X[i], Y[i]));
                bad++;
            }
    }
    assert_int_equal(bad, 0);
}

static void test_pow_of_special_values_is_that_of_libm(void **state)
{
    (void)state;
    pow_of_special_values("pow", array_pow);
    pow_of_special_values("pow of log", array_pow_of_log);
}

static void test_sinc_family_at_special_values(void **state)
{
    (void)state;
    assert_true(fit_sinc(0) == 1 && fit_dsinc(0) == 0 && fit_d2sinc(0) == -0x1.5555555555555p-2);
    assert_true(fit_sinc(-0.0) == 1 && fit_sinc(0x1p-1074) == 1 && fit_sinc(1e-200) == 1);
    assert_true(isnan(fit_sinc(NAN)) && isnan(fit_dsinc(NAN)) && isnan(fit_d2sinc(NAN)));
    assert_true(fabs(fit_sinc(1e300)) <= 1e-300 && fabs(fit_dsinc(1e200)) <= 2e-200);
    assert_true(fit_softplus(-INFINITY) == 0 && fit_softplus(INFINITY) == INFINITY);
    assert_true(fit_softplus(800) == 800 && fit_softplus(-800) == 0 && isnan(fit_softplus(NAN)));
    assert_true(fit_logistic(-INFINITY) == 0 && fit_logistic(INFINITY) == 1 && fit_logistic(0) == 0.5);
    assert_true(isnan(fit_logistic(NAN)));
    assert_true(fit_lgamma(1) == 0 && fit_lgamma(2) == 0 && fit_lgamma(0) == INFINITY && isnan(fit_lgamma(-0.5)));
    assert_true(fit_lgamma(INFINITY) == INFINITY && isnan(fit_lgamma(NAN)) && fit_lgamma(0x1p-1074) > 744);
    assert_true(fit_digamma(0) == -INFINITY && isnan(fit_digamma(-2)) && isnan(fit_digamma(NAN)));
    assert_true(fit_trigamma(0) == INFINITY && isnan(fit_trigamma(-2)) && isnan(fit_trigamma(NAN)));
    assert_true(fit_sign(-3) == -1 && fit_sign(2) == 1 && fit_sign(0) == 0 && isnan(fit_sign(NAN)));
}

/* ---- basics ------------------------------------------------------------------------------------------- */

static void test_basics(void **state)
{
    fit_vd i = fit_lane_index(), a = i - 1.5;
    double sum = 0;
    (void)state;
    for (int k = 0; k < FIT_VL; k++) {
        sum += k;
        assert_true(i[k] == k && fit_vabs(a)[k] == fabs(a[k]) && fit_vset1(-0.0)[k] == 0);
        assert_true(signbit(fit_vset1(-0.0)[k]));
        assert_true(fit_vfloor(a)[k] == floor(k - 1.5) && fit_vround(a)[k] == rint(k - 1.5));
        assert_true(fit_vmin(a, i)[k] == fmin(a[k], i[k]) && fit_vmax(a, i)[k] == fmax(a[k], i[k]));
        assert_true(fit_vsqrt(i)[k] == sqrt(k) && fit_vselect(i > 0.5, a, i)[k] == (k ? a[k] : i[k]));
        assert_true(fit_vsign(a)[k] == (k < 2 ? -1 : 1) && fit_vcopysign(i, a)[k] == copysign(k, a[k]));
    }
    assert_true(fit_vsum(i) == sum);
    assert_true(isnan(fit_vmax(fit_vset1(1), fit_vset1(NAN))[0]) && fit_vmax(fit_vset1(NAN), i)[0] == 0);
    assert_true(fit_vany(i == FIT_VL - 1) && !fit_vany(i == FIT_VL) && fit_vany(i == 0));
    assert_true(fit_vall(i < FIT_VL) && !fit_vall(i < FIT_VL - 1) && !fit_vall(i > 0));
    double odd[FIT_VL + 1] = {0};
    fit_vstoreu(odd + 1, a);
    assert_true(odd[0] == 0 && fit_vloadu(odd + 1)[FIT_VL - 1] == a[FIT_VL - 1]);
}

static void test_a_lane_does_not_depend_on_the_others(void **state)
{
    static array_fn *const fn[] = {array_exp, array_log, array_sin, array_pow, array_sinc, array_d2sinc};
    static _Alignas(64) double alone[BLOCK];
    (void)state;
    random_state = 3;
    for (size_t f = 0; f < sizeof fn / sizeof *fn; f++)
        for (int pass = 0; pass < 20; pass++) {
            for (size_t i = 0; i < BLOCK; i++) {
                X[i] = uniform() < 0.2 ? special[(size_t)(uniform() * NSPECIAL)] : argument('p', -4, 4);
                Y[i] = 1.25;
            }
            fn[f](X, Y, R);
            double x = X[pass], r = R[pass];
            for (size_t i = 0; i < BLOCK; i++)
                X[i] = x;
            fn[f](X, Y, alone);
            for (size_t i = 0; i < BLOCK; i++)
                assert_true(memcmp(&alone[i], &r, sizeof r) == 0 || (isnan(r) && isnan(alone[i])));
        }
}

static void test_scalar_forms_have_the_bits_of_the_vectors(void **state)
{
    static const struct {
        array_fn *fn;
        double (*scalar)(double);
    } pair[] = {{array_exp, fit_exp}, {array_log, fit_log},   {array_sin, fit_sin},     {array_tanh, fit_tanh},
                {array_atan, fit_atan}, {array_sinc, fit_sinc}, {array_dsinc, fit_dsinc}};
    (void)state;
    random_state = 13;
    for (size_t f = 0; f < sizeof pair / sizeof *pair; f++) {
        for (size_t i = 0; i < BLOCK; i++)
            X[i] = argument('p', -4, 4);
        pair[f].fn(X, NULL, R);
        for (size_t i = 0; i < BLOCK; i++) {
            double s = pair[f].scalar(X[i]);
            assert_memory_equal(&s, &R[i], sizeof s);
        }
    }
}

static void test_products_are_split_without_error(void **state)
{
    (void)state;
    random_state = 11;
    for (int i = 0; i < 100000; i++) {
        double a = argument('e', -30, 30), b = argument('e', -30, 30), e, s;
        fit_vd ve, vp = fit_vtwo_prod(fit_vset1(a), fit_vset1(b), &ve);
        assert_true(vp[0] == a * b && fabs(ve[0] - fma(a, b, -vp[0])) <= 0x1p-104 * fabs(vp[0]));
        double p = fit_two_prod(a, b, &e);
        assert_true(p == vp[0] && e == ve[0]);
        s = fit_two_sum(a, b, &e);
        long double exact = (long double)a - s + b; /* a - s is exact or rounded to 2^-64: enough to see bits */
        assert_true(fabsl(exact - e) <= 0x1p-62L * fabsl((long double)s) + 0x1p-63L * (fabsl(a) + fabsl(b)));
    }
}

/* ---- cumulative trapezoid ------------------------------------------------------------------------------ */

/* Integers, so that the exact sum is one; the first sum is large and most of it is taken away again. */
static void test_trapezoid_is_rounded_once(void **state)
{
    __extension__ typedef __int128 wide;
    enum { N = 20000 };
    static double f[N], t[N], F[N], G[N], even[N];
    wide exact = 0, exact_even = 0;
    (void)state;
    random_state = 21;
    for (size_t k = 0; k < N; k++) {
        f[k] = rint((uniform() - 0.4) * 0x1p44);
        t[k] = (k ? t[k - 1] : -1e5) + rint(uniform() * 0x1p24) + 1;
    }
    fit_trapezoid(N, f, t, F);
    fit_trapezoid_step(N, f, 0x1.23456789abcdep-7, G);
    fit_trapezoid_step(N, f, 2, even);
    assert_true(F[0] == 0 && G[0] == 0);
    for (size_t k = 1; k < N; k++) {
        wide pair = (wide)f[k - 1] + (wide)f[k];
        exact += pair * (wide)(t[k] - t[k - 1]);
        exact_even += pair;
        long double want = (long double)exact / 2, want_even = (long double)exact_even;
        assert_true(fabsl(F[k] - want) <= 0.502L * ulp_of(want));
        assert_true(fabsl(even[k] - want_even) <= 0.502L * ulp_of(want_even));
        long double want_step = want_even / 2 * 0x1.23456789abcdep-7L;
        assert_true(fabsl(G[k] - want_step) <= 0.502L * ulp_of(want_step));
    }
    fit_trapezoid(0, f, t, F);
    fit_trapezoid(1, f, t, F);
    assert_true(F[0] == 0);
}

/* ---- speed: printed, not asserted ---------------------------------------------------------------------- */

static double seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

#define LIBM(name, call)                                                                                     \
    static void libm_##name(const double *x, const double *y, double *r)                                     \
    {                                                                                                        \
        (void)y;                                                                                             \
        for (size_t i = 0; i < BLOCK; i++)                                                                   \
            r[i] = call;                                                                                     \
    }
LIBM(exp, exp(x[i]))
LIBM(log, log(x[i]))
LIBM(pow, pow(x[i], y[i]))
LIBM(sincos, sin(x[i]) + cos(x[i]))
LIBM(tanh, tanh(x[i]))
LIBM(expm1, expm1(x[i]))
LIBM(atan, atan(x[i]))
LIBM(sinc, sin(x[i]) / x[i])
LIBM(log1p, log1p(x[i]))

static double nanoseconds(array_fn *fn)
{
    double best = 1e9;
    for (int pass = 0; pass < 30; pass++) {
        double start = seconds();
        fn(X, Y, R);
        double s = seconds() - start;
        best = s < best ? s : best;
    }
    return best / BLOCK * 1e9;
}

static void test_speed_is_printed(void **state)
{
    static const struct {
        const char *name;
        array_fn *fn, *libm;
    } item[] = {
        {"exp", array_exp, libm_exp},       {"sincos2", array_sincos2, libm_sincos},
        {"pow", array_pow, libm_pow},       {"log", array_log, libm_log},
        {"log1p", array_log1p, libm_log1p}, {"expm1", array_expm1, libm_expm1},
        {"tanh", array_tanh, libm_tanh},    {"atan", array_atan, libm_atan},
        {"sinc", array_sinc, libm_sinc},    {"d2sinc", array_d2sinc, libm_sinc},
    };
    (void)state;
    random_state = 8;
    for (size_t i = 0; i < BLOCK; i++) {
        X[i] = argument('u', 0.5, 12);
        Y[i] = argument('u', -1, 1) * 0x1p-52;
    }
    for (size_t k = 0; k < sizeof item / sizeof *item; k++) {
        double ours = nanoseconds(item[k].fn), libm = nanoseconds(item[k].libm);
        print_message("  %-8s %6.2f ns   libm %6.2f ns   x %.1f\n", item[k].name, ours, libm, libm / ours);
    }
}

static int machine_has_level(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
#if defined(__AVX512F__)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
#elif defined(__FMA__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
#endif
    return 1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_basics),
        cmocka_unit_test(test_products_are_split_without_error),
        cmocka_unit_test(test_unary_functions_are_accurate),
        cmocka_unit_test(test_pow_is_accurate),
        cmocka_unit_test(test_pow_of_a_logarithm_is_accurate),
        cmocka_unit_test(test_sincos_of_a_sum_is_accurate),
        cmocka_unit_test(test_sine_and_cosine_near_one_are_rounded_well),
        cmocka_unit_test(test_special_values_are_those_of_libm),
        cmocka_unit_test(test_pow_of_special_values_is_that_of_libm),
        cmocka_unit_test(test_sinc_family_at_special_values),
        cmocka_unit_test(test_a_lane_does_not_depend_on_the_others),
        cmocka_unit_test(test_scalar_forms_have_the_bits_of_the_vectors),
        cmocka_unit_test(test_trapezoid_is_rounded_once),
        cmocka_unit_test(test_speed_is_printed),
    };
    printf("vmath at %s, %d lanes\n", FIT_LEVEL, FIT_VL);
    if (!machine_has_level()) {
        puts("skipped: this machine lacks the level");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
