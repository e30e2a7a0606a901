/* test_gen_special.c -- vector forms of special functions (fit/vmath.h) against values in extended precision
 * (extended.c), which are themselves proved by test_gen_extended.c: worst error over random arguments, values outside
 * of the domain, lanes that do not see each other. */
#include "fit/vmath_incomplete.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "generator/graph/functions.h"

typedef fit_vd vector_fn(fit_vd x);

struct range {
    char scale; /* 'u': uniform; 'n', 'p': -2^u, 2^u; 0 ends */
    double lo, hi;
};

static const struct special {
    enum hg_op f;
    vector_fn *fn;
    double bound;    /* ulp */
    double absolute; /* an error below it is right whatever the ulp */
    struct range range[4];
} special[] = {
    {HG_GAMMA, fit_vgamma, 1.6, 0, {{'u', 0.01, 12}, {'u', 1, 171.6}, {'p', -900, 3}}},
    {HG_EXPREL, fit_vexprel, 1.6, 0, {{'u', -3, 3}, {'u', -700, 700}, {'n', -60, 2}}},
    {HG_DEXPREL, fit_vdexprel, 8, 0, {{'u', -3, 3}, {'u', -700, 700}, {'p', -60, 2}}},
    {HG_D2EXPREL, fit_vd2exprel, 15, 0, {{'u', -3, 3}, {'u', -700, 700}, {'p', -60, 2}}},
    {HG_LOG1MEXP, fit_vlog1mexp, 2, 0, {{'u', -2, -1e-3}, {'u', -700, 0}, {'n', -60, 5}}},
    {HG_ERFCX, fit_verfcx, 6, 0, {{'u', 0, 10}, {'u', -26, 0}, {'p', -30, 60}}},
    {HG_DERFCX, fit_vderfcx, 6, 0, {{'u', 0, 10}, {'u', -26, 0}, {'p', -30, 60}}},
    {HG_D2ERFCX, fit_vd2erfcx, 8, 0, {{'u', 0, 10}, {'u', -26, 0}, {'p', -30, 60}}},
    {HG_ERFINV, fit_verfinv, 5, 0, {{'u', -1, 1}, {'u', 0.97, 1}, {'p', -60, -1}}},
    {HG_ERFI, fit_verfi, 8, 0, {{'u', -6, 6}, {'u', -26, 26}, {'p', -60, 4}}},
};

static uint64_t random_state;

static double uniform(void) /* splitmix64 (Steele, Lea & Flood 2014) */
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double draw(const struct range *r)
{
    double u = r->lo + (r->hi - r->lo) * uniform();
    return r->scale == 'u' ? u : r->scale == 'p' ? exp2(u) : -exp2(u);
}

static double ulp_of(long double exact)
{
    int e = exact == 0 ? -1074 : ilogbl(exact) - 52;
    return ldexp(1, e < -1074 ? -1074 : e);
}

/* Error in ulp, 0 below the absolute one. */
static double error_of(double got, struct hg_ext exact, double absolute)
{
    double e = (double)fabsl(((long double)got - exact.hi) - exact.lo);
    return e <= absolute ? 0 : e / ulp_of(exact.hi);
}

static void test_vectors_are_accurate(void **state)
{
    enum { STEPS = 700 };
    int bad = 0;
    (void)state;
    if (LDBL_MANT_DIG < 64)
        skip();
    for (size_t k = 0; k < sizeof special / sizeof *special; k++) {
        const struct special *s = &special[k];
        double worst = 0, at = 0;
        random_state = 7 + k;
        for (const struct range *r = s->range; r < s->range + 4 && r->scale; r++)
            for (int step = 0; step < STEPS; step++) {
                fit_vd x = {0}, y;
                for (int i = 0; i < FIT_VL; i++)
                    x[i] = draw(r);
                y = s->fn(x);
                for (int i = 0; i < FIT_VL; i++) {
                    double e = error_of(y[i], hg_ext_function(s->f, hg_ext(x[i])), s->absolute);
                    if (!(e <= worst)) {
                        worst = e;
                        at = x[i];
                    }
                }
            }
        print_message("  %-12s %7.3f ulp at %.17g\n", hg_op_text[s->f], worst, at);
        bad += !(worst <= s->bound);
    }
    assert_int_equal(bad, 0);
}

/* Functions of an order: the error relative to the value, or to an amplitude of the size of the argument. */
static fit_vd j(fit_vd n, fit_vd x, fit_vd y)
{
    (void)y;
    return fit_vbessel_j(n, x);
}

static fit_vd spherical(fit_vd n, fit_vd x, fit_vd y)
{
    (void)y;
    return fit_vspherical_j(n, x);
}

static fit_vd second(fit_vd n, fit_vd x, fit_vd y)
{
    (void)y;
    return fit_vbessel_y(n, x);
}

static fit_vd spherical_second(fit_vd n, fit_vd x, fit_vd y)
{
    (void)y;
    return fit_vspherical_y(n, x);
}

static fit_vd modified(fit_vd n, fit_vd x, fit_vd y)
{
    (void)y;
    return fit_vbessel_i(n, x);
}

static fit_vd spherical_modified(fit_vd n, fit_vd x, fit_vd y)
{
    (void)y;
    return fit_vspherical_i(n, x);
}

static fit_vd spherical_macdonald(fit_vd n, fit_vd x, fit_vd y)
{
    (void)y;
    return fit_vspherical_k(n, x);
}

static fit_vd macdonald(fit_vd n, fit_vd x, fit_vd y)
{
    (void)y;
    return fit_vbessel_k(n, x);
}

static fit_vd w_re(fit_vd n, fit_vd x, fit_vd y)
{
    return fit_vfaddeeva_re(n, x, y);
}

static fit_vd w_im(fit_vd n, fit_vd x, fit_vd y)
{
    return fit_vfaddeeva_im(n, x, y);
}

static const struct of_order {
    enum hg_op f;
    fit_vd (*fn)(fit_vd n, fit_vd x, fit_vd y);
    int order[6];            /* -1 ends */
    double bound, amplitude; /* of the relative error; the latter / (1 + x)^power is added to the value */
    double power;
    struct range x[2], y[2];
} of_order[] = {
    {HG_BESSEL_J, j, {0, 1, 2, 5, -1}, 4e-15, 0.3, 0.5, {{'u', -30, 30}, {'p', -20, 12}}, {{'u', 0, 0}, {'u', 0, 0}}},
    {HG_BESSEL_J, j, {8, 13, 30, 52, -1}, 6e-14, 0.1, 0.5, {{'u', 0, 90}, {'p', 3, 9}}, {{'u', 0, 0}, {'u', 0, 0}}},
    {HG_SPHERICAL_J,
     spherical,
     {0, 1, 2, 5, -1},
     4e-15,
     0.3,
     1,
     {{'u', -30, 30}, {'p', -20, 12}},
     {{'u', 0, 0}, {'u', 0, 0}}},
    {HG_SPHERICAL_J,
     spherical,
     {8, 13, 30, 52, -1},
     6e-14,
     0.1,
     1,
     {{'u', 0, 90}, {'p', 3, 9}},
     {{'u', 0, 0}, {'u', 0, 0}}},
    {HG_FADDEEVA_RE, w_re, {0, -1}, 3e-15, 0, 0, {{'u', -9, 9}, {'p', -10, 10}}, {{'u', 0, 9}, {'p', -30, 10}}},
    {HG_FADDEEVA_IM, w_im, {0, -1}, 8e-15, 0, 0, {{'u', -9, 9}, {'p', -10, 10}}, {{'u', 0, 9}, {'p', -30, 10}}},
    {HG_FADDEEVA_RE, w_re, {1, -1}, 3e-14, 0.01, 4, {{'u', -9, 9}, {'p', -10, 10}}, {{'u', 0, 9}, {'p', -3, 10}}},
    {HG_FADDEEVA_IM, w_im, {1, -1}, 6e-14, 0.01, 4, {{'u', -9, 9}, {'p', -10, 10}}, {{'u', 0, 9}, {'p', -30, 10}}},
    {HG_FADDEEVA_RE, w_re, {2, -1}, 2e-12, 0.01, 4, {{'u', -9, 9}, {'p', -10, 10}}, {{'u', 0, 9}, {'p', -3, 10}}},
    {HG_FADDEEVA_IM, w_im, {2, -1}, 5e-13, 0.01, 4, {{'u', -9, 9}, {'p', -10, 10}}, {{'u', 0, 9}, {'p', -3, 10}}},
    {HG_FADDEEVA_RE, w_re, {0, -1}, 5e-15, 1, 0, {{'u', -4, 4}, {'u', -2, 2}}, {{'u', -4, 0}, {'u', -2, 0}}},
    {HG_BESSEL_Y,
     second,
     {0, 1, 2, 5, -1},
     4e-15,
     0.3,
     0.5,
     {{'u', 0, 30}, {'p', -20, 12}},
     {{'u', 0, 0}, {'u', 0, 0}}},
    {HG_BESSEL_Y,
     second,
     {8, 13, 30, 52, -1},
     6e-14,
     0.1,
     0.5,
     {{'u', 0, 90}, {'p', 3, 9}},
     {{'u', 0, 0}, {'u', 0, 0}}},
    {HG_SPHERICAL_Y,
     spherical_second,
     {0, 1, 2, 5, -1},
     4e-15,
     0.3,
     1,
     {{'u', 0, 30}, {'p', -20, 12}},
     {{'u', 0, 0}, {'u', 0, 0}}},
    {HG_SPHERICAL_Y,
     spherical_second,
     {8, 13, 30, 52, -1},
     6e-14,
     0.1,
     1,
     {{'u', 0, 90}, {'p', 3, 9}},
     {{'u', 0, 0}, {'u', 0, 0}}},
    {HG_BESSEL_I,
     modified,
     {0, 1, 2, 5, -1},
     3e-15,
     0,
     0,
     {{'u', -30, 30}, {'p', -20, 9.3}},
     {{'u', 0, 0}, {'u', 0, 0}}},
    {HG_BESSEL_I,
     modified,
     {8, 13, 30, 52, -1},
     1e-14,
     0,
     0,
     {{'u', 0, 90}, {'p', 3, 9.3}},
     {{'u', 0, 0}, {'u', 0, 0}}},
    {HG_SPHERICAL_I, spherical_modified, {0, 1, 2, 5, -1}, 4e-15, 0, 0,
     {{'u', -30, 30}, {'p', -20, 9.3}}, {{'u', 0, 0}}},
    {HG_SPHERICAL_I, spherical_modified, {8, 13, 30, 52, -1}, 1e-14, 0, 0,
     {{'u', 0, 90}, {'p', 3, 9.3}}, {{'u', 0, 0}}},
    {HG_SPHERICAL_K, spherical_macdonald, {0, 1, 2, 5, -1}, 3e-15, 0, 0,
     {{'u', 0, 30}, {'p', -20, 9.2}}, {{'u', 0, 0}}},
    {HG_SPHERICAL_K, spherical_macdonald, {8, 13, 30, 52, -1}, 1e-14, 0, 0,
     {{'u', 0, 90}, {'p', 3, 9.2}}, {{'u', 0, 0}}},
    {HG_BESSEL_K,
     macdonald,
     {0, 1, 2, 5, -1},
     3e-15,
     0,
     0,
     {{'u', 0, 30}, {'p', -20, 9.2}},
     {{'u', 0, 0}, {'u', 0, 0}}},
    {HG_BESSEL_K,
     macdonald,
     {8, 13, 30, 52, -1},
     1e-14,
     0,
     0,
     {{'u', 0, 90}, {'p', 3, 9.2}},
     {{'u', 0, 0}, {'u', 0, 0}}},
};

static void test_functions_of_an_order_are_accurate(void **state)
{
    enum { STEPS = 60 };
    int bad = 0;
    (void)state;
    if (LDBL_MANT_DIG < 64)
        skip();
    for (size_t q = 0; q < sizeof of_order / sizeof *of_order; q++) {
        const struct of_order *s = &of_order[q];
        double worst = 0, at[3] = {0};
        random_state = 70 + q;
        for (const int *n = s->order; *n >= 0; n++)
            for (int step = 0; step < STEPS; step++) {
                fit_vd x = {0}, y = {0};
                for (int l = 0; l < FIT_VL; l++) {
                    x[l] = draw(&s->x[step % 2]);
                    y[l] = draw(&s->y[step / 2 % 2]);
                }
                fit_vd r = s->fn(fit_vset1(*n), x, y);
                for (int l = 0; l < FIT_VL; l++) {
                    const struct hg_ext operand[] = {hg_ext(*n), hg_ext(x[l]), hg_ext(y[l])};
                    struct hg_ext exact = hg_many_value(s->f, operand);
                    double size = (double)fabsl(exact.hi) + s->amplitude * pow(1 + fabs(x[l]) + fabs(y[l]), -s->power);
                    double e = size > 1e-300 ? (double)fabsl((long double)r[l] - exact.hi) / size : 0;
                    if (!(e <= worst)) {
                        worst = e;
                        at[0] = *n, at[1] = x[l], at[2] = y[l];
                    }
                }
            }
        print_message("  %-12s %8.1e at %g, %.17g, %.17g\n", hg_op_text[s->f], worst, at[0], at[1], at[2]);
        bad += !(worst <= s->bound);
    }
    assert_int_equal(bad, 0);
}

/* Incomplete gamma functions: relative to the value, of shapes that all lanes share.  Far tails, below 1e-100, are exp
 * of hundreds: there the rounding of the exponent shows. */
static void test_incomplete_gamma_functions(void **state)
{
    static const double shape[] = {0.1, 0.5, 0.9, 1, 1.5, 2.5, 7, 19.5, 20.5, 64, 300, 1000};
    double worst[2] = {0}, at[2][2] = {{0}}, tail = 0;
    (void)state;
    if (LDBL_MANT_DIG < 64)
        skip();
    random_state = 7;
    for (size_t s = 0; s < sizeof shape / sizeof *shape; s++)
        for (int step = 0; step < 120; step++) {
            const double a = shape[s], width = 8 * sqrt(a) + 8;
            fit_vd x = {0}, r[2];
            for (int l = 0; l < FIT_VL; l++)
                x[l] = fmax(0, step % 3 == 0 ? exp2(40 * uniform() - 38) * a : a + width * (2 * uniform() - 1));
            r[0] = fit_vgamma_p((fit_vd){0}, fit_vset1(a), x);
            r[1] = fit_vgamma_q((fit_vd){0}, fit_vset1(a), x);
            for (int l = 0; l < FIT_VL; l++)
                for (int upper = 0; upper < 2; upper++) {
                    const struct hg_ext operand[] = {hg_ext(0), hg_ext(a), hg_ext(x[l])};
                    const long double exact = hg_many_value(upper ? HG_GAMMA_Q : HG_GAMMA_P, operand).hi;
                    const double e = exact > 1e-280L ? (double)fabsl((r[upper][l] - exact) / exact) : 0;
                    if (exact < 1e-100L)
                        tail = fmax(tail, isnan(e) ? INFINITY : e);
                    else if (!(e <= worst[upper])) {
                        worst[upper] = e;
                        at[upper][0] = a, at[upper][1] = x[l];
                    }
                }
        }
    print_message("  P %8.1e at %g, %.17g\n  Q %8.1e at %g, %.17g; %.1e below 1e-100\n", worst[0], at[0][0],
                  at[0][1], worst[1], at[1][0], at[1][1], tail);
    assert_true(tail <= 4e-13);
    assert_true(worst[0] <= 1e-13);
    assert_true(worst[1] <= 1e-13);
    const double x[] = {0, INFINITY, -1, NAN};
    for (size_t k = 0; k < 4; k++) {
        const double p = fit_gamma_p(0, 2.5, x[k]), q = fit_gamma_q(0, 2.5, x[k]);
        assert_true(k < 2 ? p == (double)k && q == 1.0 - (double)k : isnan(p) && isnan(q));
    }
}

/* Their derivatives by the shape, and the density: relative to the value and, of second ones, to the first; one lane
 * after the other where shapes differ. */
static void test_incomplete_gamma_functions_by_the_shape(void **state)
{
    static const enum hg_op function[] = {HG_GAMMA_P, HG_GAMMA_Q, HG_GAMMA_DENSITY};
    double worst[3][3] = {{0}};
    (void)state;
    if (LDBL_MANT_DIG < 64)
        skip();
    random_state = 8;
    for (int step = 0; step < 150; step++) {
        const double low = exp2(13.2 * uniform() - 3.3), width = 6 * sqrt(low) + 3;
        fit_vd a = fit_vset1(low), x = {0};
        for (int l = 0; l < FIT_VL; l++) {
            const double near = low + width * (2 * uniform() - 1);
            x[l] = fmax(1e-3 * uniform(), step % 3 == 0 ? exp2(12 * uniform() - 11) * low : near);
            a[l] = step % 5 == 0 ? fmin(low * (1 + l), 1000) : low;
        }
        for (int kind = 0; kind < 3; kind++)
            for (int n = 0; n < 3; n++) {
                const fit_vd order = fit_vset1(n);
                fit_vd r = kind == 0 ? fit_vgamma_p(order, a, x) : kind == 1 ? fit_vgamma_q(order, a, x)
                                                                              : fit_vgamma_density(order, a, x);
                for (int l = 0; l < FIT_VL; l++) {
                    const struct hg_ext operand[] = {hg_ext(n), hg_ext(a[l]), hg_ext(x[l])}, *o = operand;
                    const struct hg_ext first[] = {hg_ext(n ? n - 1 : 0), o[1], o[2]};
                    const long double exact = hg_many_value(function[kind], operand).hi;
                    const long double before = hg_many_value(function[kind], first).hi;
                    const int signless = kind == 2 ? n > 0 : n > 1;
                    const double size = (double)(fabsl(exact) + (signless ? fabsl(before) : 0));
                    const double e = size > 1e-100 ? (double)fabsl(r[l] - exact) / size : 0;
                    worst[kind][n] = e <= worst[kind][n] ? worst[kind][n] : isnan(e) ? INFINITY : e;
                }
            }
    }
    for (int kind = 0; kind < 3; kind++) {
        print_message("  %-13s %8.1e, by the shape %8.1e, %8.1e\n", hg_op_text[function[kind]], worst[kind][0],
                      worst[kind][1], worst[kind][2]);
        assert_true(worst[kind][0] <= 1e-13 && worst[kind][1] <= 2e-13 && worst[kind][2] <= 2e-13);
    }
    assert_true(isnan(fit_gamma_p(1, 0.05, 1)) && isnan(fit_gamma_q(0, 1001, 1)) && fit_gamma_p(1, 2.5, 0) == 0);
    assert_true(fit_gamma_density(0, 1, 0) == 1 && fit_gamma_density(0, 2, 0) == 0);
}

static void test_special_values(void **state)
{
    const double inf = INFINITY;
    const struct {
        enum hg_op f;
        vector_fn *fn;
        double x, y;
    } row[] = {
        {HG_GAMMA, fit_vgamma, 0, inf},        {HG_GAMMA, fit_vgamma, -1.5, NAN},
        {HG_GAMMA, fit_vgamma, inf, inf},      {HG_GAMMA, fit_vgamma, 172, inf},
        {HG_GAMMA, fit_vgamma, 1, 1},          {HG_EXPREL, fit_vexprel, 0, 1},
        {HG_EXPREL, fit_vexprel, -inf, 0},     {HG_EXPREL, fit_vexprel, inf, inf},
        {HG_DEXPREL, fit_vdexprel, 0, 0.5},    {HG_DEXPREL, fit_vdexprel, -inf, 0},
        {HG_LOG1MEXP, fit_vlog1mexp, 0, -inf}, {HG_LOG1MEXP, fit_vlog1mexp, 1, NAN},
        {HG_LOG1MEXP, fit_vlog1mexp, -inf, 0}, {HG_ERFCX, fit_verfcx, 0, 1},
        {HG_ERFCX, fit_verfcx, inf, 0},        {HG_ERFCX, fit_verfcx, -inf, inf},
        {HG_DERFCX, fit_vderfcx, -inf, -inf},  {HG_DERFCX, fit_vderfcx, inf, 0},
        {HG_D2ERFCX, fit_vd2erfcx, -inf, inf}, {HG_ERFINV, fit_verfinv, 1, inf},
        {HG_ERFINV, fit_verfinv, -1, -inf},    {HG_ERFINV, fit_verfinv, 1.5, NAN},
        {HG_ERFINV, fit_verfinv, 0, 0},        {HG_ERFI, fit_verfi, 0, 0},
    };
    (void)state;
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        double y = row[k].fn(fit_vset1(row[k].x))[0];
        if (!(isnan(row[k].y) ? isnan(y) : y == row[k].y))
            fail_msg("%s(%g) is %.17g, not %g", hg_op_text[row[k].f], row[k].x, y, row[k].y);
        double own = (double)hg_ext_function(row[k].f, hg_ext(row[k].x)).hi;
        if (!(isnan(row[k].y) ? isnan(own) : own == row[k].y))
            fail_msg("%s(%g) is %.17g in the compiler, not %g", hg_op_text[row[k].f], row[k].x, own, row[k].y);
    }
    for (size_t k = 0; k < sizeof special / sizeof *special; k++)
        assert_true(isnan(special[k].fn(fit_vset1(NAN))[0]));
}

static void test_a_lane_does_not_depend_on_the_others(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof special / sizeof *special; k++)
        for (int step = 0; step < 50; step++) {
            fit_vd x = {0}, y;
            for (int i = 0; i < FIT_VL; i++)
                x[i] = draw(&special[k].range[(step + i) % 3]);
            y = special[k].fn(x);
            for (int i = 0; i < FIT_VL; i++)
                assert_true(special[k].fn(fit_vset1(x[i]))[0] == y[i]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors_are_accurate),
        cmocka_unit_test(test_functions_of_an_order_are_accurate),
        cmocka_unit_test(test_incomplete_gamma_functions),
        cmocka_unit_test(test_incomplete_gamma_functions_by_the_shape),
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_a_lane_does_not_depend_on_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
