/* test_gpu_libm.c -- fit/gpu_libm.h, read as plain C: accuracy against long double libm, over all arguments or those
 * for which fit/vmath.h leaves its own formulas, and special values, which are libm's. */
#define FIT_GPU_OF_ITEM 0
#include "fit/gpu.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { POINTS = 60000 };

static uint64_t state_of_random = 1;

static double uniform(double low, double high)
{
    uint64_t z = state_of_random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return low + (high - low) * (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* scale 'u': uniform; 'e': both signs, 2^low to 2^high; 'p': positive. */
static double argument(char scale, double low, double high)
{
    if (scale == 'u')
        return uniform(low, high);
    const double a = exp2(uniform(low, high)) * uniform(0.7, 1);
    return scale == 'e' && uniform(0, 1) < 0.5 ? -a : a;
}

static double error_in_ulp(double got, long double exact)
{
    const int e = exact == 0 ? -1074 : ilogbl(exact) - 52;
    if (isinf(got) && isinf((double)exact) && (got > 0) == (exact > 0))
        return 0;
    return (double)(fabsl((long double)got - exact) / ldexpl(1, e < -1074 ? -1074 : e));
}

static const struct {
    const char *name;
    double (*fn)(double), (*libm)(double);
    long double (*exact)(long double);
    double bound; /* ulp */
    struct {
        char scale;
        double low, high;
    } range[4];
} unary[] = {
    {"log", fit_vlog, log, logl, 0.9, {{'p', -1074, -1021}}},
    {"log1p", fit_vlog1p, log1p, log1pl, 0.9, {{'p', 1021, 1023.9}}},
    {"sinh", fit_vsinh, sinh, sinhl, 1.2, {{'u', -710.47, -709}, {'u', 709, 710.47}}},
    {"cosh", fit_vcosh, cosh, coshl, 1.2, {{'u', -710.47, -709}, {'u', 709, 710.47}}},
    {"sin", fit_vsin, sin, sinl, 0.9, {{'e', 20, 60}, {'e', 20, 1023.9}}},
    {"cos", fit_vcos, cos, cosl, 0.9, {{'e', 20, 60}, {'e', 20, 1023.9}}},
    {"tan", fit_vtan, tan, tanl, 1.2, {{'e', 20, 60}, {'e', 20, 1023.9}}},
    {"asin", fit_vasin, asin, asinl, 0.9, {{'u', -1, 1}, {'e', -1060, 0}, {'u', 0.999, 1}}},
    {"acos", fit_vacos, acos, acosl, 0.9, {{'u', -1, 1}, {'e', -1060, 0}, {'u', 0.999, 1}, {'u', -1, -0.999}}},
    {"erf", fit_verf, erf, erfl, 1.2, {{'u', -6.5, 6.5}, {'u', -1, 1}, {'e', -1060, 0}}},
    {"erfc", fit_verfc, erfc, erfcl, 4.2, {{'u', -6.5, 6.5}, {'u', 0, 3}, {'e', -1060, 0}, {'u', 6, 27.5}}},
    {"cbrt", fit_vcbrt, cbrt, cbrtl, 0.7, {{'e', -1073, 1023.9}, {'u', 1, 8}, {'u', -8, -1}}},
};

static void test_functions_are_accurate(void **state)
{
    unsigned bad = 0;
    (void)state;
    for (size_t f = 0; f < sizeof unary / sizeof *unary; f++) {
        double worst = 0, at = 0;
        for (size_t r = 0; r < 4 && unary[f].range[r].scale; r++)
            for (int k = 0; k < POINTS; k++) {
                const double x = argument(unary[f].range[r].scale, unary[f].range[r].low, unary[f].range[r].high);
                const double e = error_in_ulp(unary[f].fn(x), unary[f].exact(x));
                if (!(e <= worst))
                    worst = e, at = x;
            }
        print_message("  %-6s %6.3f ulp at %.17g (bound %.2g)\n", unary[f].name, worst, at, unary[f].bound);
        bad += !(worst <= unary[f].bound);
    }
    assert_int_equal(bad, 0);
}

static void test_pow_and_atan2_are_accurate(void **state)
{
    double pow_worst = 0, atan2_worst = 0, x = 0, y = 0;
    (void)state;
    for (int k = 0; k < 3 * POINTS; k++) {
        const double a = argument('p', k % 3 ? -1074 : -1, k % 3 ? 1023 : 1), most = 745 / fabs(log(a));
        const double b = uniform(-most, most), e = error_in_ulp(fit_vpow(a, b), powl(a, b));
        if (!(e <= pow_worst))
            pow_worst = e, x = a, y = b;
    }
    print_message("  pow    %6.3f ulp at %.17g ^ %.17g\n", pow_worst, x, y);
    for (int k = 0; k < 3 * POINTS; k++) {
        const double a = argument('e', k % 3 ? -1060 : -3, k % 3 ? 1023.9 : 3);
        const double b = k % 3 == 1 ? a * argument('e', -64, 64)
                         : k % 3    ? argument('e', -1060, 1023.9)
                                    : argument('e', -3, 3);
        const double e = error_in_ulp(fit_vatan2(a, b), atan2l(a, b));
        if (!(e <= atan2_worst))
            atan2_worst = e, x = a, y = b;
    }
    print_message("  atan2  %6.3f ulp at %.17g, %.17g\n", atan2_worst, x, y);
    assert_true(pow_worst <= 1.1 && atan2_worst <= 1.0); /* pow: subnormal results among them */
}

static const double special[] = {
    0.0,     -0.0,     1,        -1,        INFINITY,  -INFINITY, NAN,       0x1p-1074, -0x1p-1074, 0x1p-1022,
    DBL_MAX, -DBL_MAX, 0x1p-1023, 709.78,   709.79,    -745.13,   -745.14,   710.4,     710.5,      -710.5,
    -1.5,    0x1p20,   1e22,     -1e300,    0x1p-30,   -2,        0.5,       2,         3,          -3,
    1e-300,  40,       -40,      20,        0x1p53,    0x1p53 + 2, -27,      27.3,      6,          -0.5,
    2.5,     -2.5,     0x1p60,   1.0000000000000002,   0.9999999999999999};
enum { SPECIALS = sizeof special / sizeof *special };

static int same(double got, double libm)
{
    if (isnan(libm))
        return isnan(got);
    if (isinf(libm) || libm == 0)
        return got == libm && !signbit(got) == !signbit(libm);
    return error_in_ulp(got, libm) <= 3;
}

static void test_special_values_are_those_of_libm(void **state)
{
    unsigned bad = 0;
    (void)state;
    for (size_t f = 0; f < sizeof unary / sizeof *unary; f++)
        for (size_t k = 0; k < SPECIALS; k++)
            if (!same(unary[f].fn(special[k]), unary[f].libm(special[k])))
                print_error("  %s(%a) = %a, libm says %a\n", unary[f].name, special[k], unary[f].fn(special[k]),
                            unary[f].libm(special[k])), bad++;
    for (size_t k = 0; k < SPECIALS; k++)
        for (size_t l = 0; l < SPECIALS; l++) {
            const double x = special[k], y = special[l];
            const double power = (pow)(x, y), arc = (atan2)(x, y); /* libm's, not the macros of fit/gpu.h */
            if (!same(fit_vpow(x, y), power))
                print_error("  pow(%a, %a) = %a, libm says %a\n", x, y, fit_vpow(x, y), power), bad++;
            if (!same(fit_vatan2(x, y), arc))
                print_error("  atan2(%a, %a) = %a, libm says %a\n", x, y, fit_vatan2(x, y), arc), bad++;
        }
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_are_accurate),
        cmocka_unit_test(test_pow_and_atan2_are_accurate),
        cmocka_unit_test(test_special_values_are_those_of_libm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
