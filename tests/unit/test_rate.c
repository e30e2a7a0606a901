/* test_rate.c -- coordinates of rates: there and back, derivatives against differences, the limit without bounds,
 * bounds kept, fixed parts, and rates that have no coordinates. */
#include "rate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const double INF = INFINITY;

static const struct fit_rate_map maps[] = {
    {1.5, {100, -1e5}, {1e5, 1e5}, {0, 0}},  /* transport coefficient, tref = 4.5 s */
    {1.5, {1e-6, -0.1}, {0.5, 0.1}, {0, 0}}, /* shear rate */
    {-2, {0, 0}, {INF, INF}, {0, 0}},
    {0.7, {100, 50}, {5000, 200}, {0, 0}},   /* bounds near */
    {0.7, {0, -INF}, {INF, INF}, {0, 0}},
    {1.5, {100, 30}, {1e5, 30}, {0, 1}},     /* offset fixed */
    {1.5, {100, -30}, {1e5, -30}, {0, 1}},
    {1.5, {800, -1e3}, {800, 1e5}, {1, 0}},  /* amplitude fixed */
};
enum { MAPS = sizeof maps / sizeof *maps };

static double free_of(const struct fit_rate_map *m, const struct fit_rate_point *p)
{
    return m->fixed[0] ? fabs(p->d_offset[0]) : m->fixed[1] ? fabs(p->d_amplitude[0])
           : fabs(p->d_amplitude[0] * p->d_offset[1] - p->d_amplitude[1] * p->d_offset[0]);
}

/* Fourth-order difference of part `what` (0 A, 1 C, 2 log slope) along direction k. */
static double difference(const struct fit_rate_map *m, const double *x, int k, int what)
{
    const double h = 1e-3, weight[] = {1, -8, 8, -1};
    const int step[] = {-2, -1, 1, 2};
    double sum = 0;
    for (int n = 0; n < 4; n++) {
        double y[3] = {x[0], x[1], x[2]};
        struct fit_rate_point p;
        y[k] += step[n] * h;
        assert_true(fit_rate_at(m, y[0], y[1], y[2], &p));
        sum += weight[n] * (what == 0 ? p.amplitude : what == 1 ? p.offset : p.log_slope);
    }
    return sum / (12 * h);
}

static void test_there_and_back_with_derivatives(void **state)
{
    (void)state;
    double worst = 0;
    for (size_t n = 0; n < MAPS; n++)
        for (int i = 0; i < 27; i++) {
            const struct fit_rate_map *m = &maps[n];
            double x[3] = {i % 3 * 2 + (n == 1 ? -5 : 3), i / 3 % 3 * 0.8 - 1, i / 9 * 0.4 - 0.45}, u, v;
            struct fit_rate_point p;
            assert_true(fit_rate_at(m, x[0], x[1], x[2], &p));
            assert_true(p.amplitude >= m->lower[0] && p.amplitude <= m->upper[0]);
            assert_true(p.offset >= m->lower[1] && p.offset <= m->upper[1]);
            assert_true(fabs(p.log_slope - log(free_of(m, &p))) < 1e-9);
            for (int k = 0; k < 3; k++) {
                double scale = fabs(p.amplitude) + fabs(p.offset);
                worst = fmax(worst, fabs(difference(m, x, k, 0) - p.d_amplitude[k]) / scale);
                worst = fmax(worst, fabs(difference(m, x, k, 1) - p.d_offset[k]) / scale);
                worst = fmax(worst, fabs(difference(m, x, k, 2) - p.d_log_slope[k]));
            }
            assert_true(fit_rate_of(m, p.amplitude, p.offset, x[2], &u, &v));
            assert_true(fabs(u - x[0]) < 1e-6);
            assert_true(m->fixed[0] || m->fixed[1] || fabs(v - x[1]) < 1e-6);
        }
    printf("    derivatives within %.1e\n", worst);
    assert_true(worst < 1e-8); /* h^4 = 1e-12 times a fifth derivative, rounding 1e-16 / h times cancellation */
}

static void test_without_bounds_it_is_the_logarithms(void **state)
{
    (void)state;
    struct fit_rate_map m = {1.5, {0, -INF}, {INF, INF}, {0, 0}};
    struct fit_rate_point p;
    assert_true(fit_rate_at(&m, 7, 0.3, -0.4, &p));
    double c = exp(-0.4 * 1.5);
    assert_true(fabs(log(p.amplitude * c + p.offset) - 7) < 1e-14);
    assert_true(fabs(log(p.amplitude * c / exp(7)) - 0.3) < 1e-14);
    assert_true(p.offset < 0);
    assert_true(fabs(p.log_slope - (2 * 7 + 0.3 + 0.4 * 1.5)) < 1e-13);
}

/* However far u and v are, there are numbers within bounds or none at all. */
static void test_far_away_bounds_hold(void **state)
{
    (void)state;
    for (size_t n = 0; n < MAPS; n++)
        for (int i = 0; i < 49; i++) {
            static const double far[] = {-800, -60, -10, 0, 10, 60, 800};
            struct fit_rate_point p;
            if (!fit_rate_at(&maps[n], far[i % 7], far[i / 7], 0.5, &p))
                continue;
            assert_true(p.amplitude >= maps[n].lower[0] && p.amplitude <= maps[n].upper[0]);
            assert_true(p.offset >= maps[n].lower[1] && p.offset <= maps[n].upper[1]);
        }
}

static void test_where_there_are_none(void **state)
{
    (void)state;
    double u, v;
    assert_false(fit_rate_of(&maps[0], 1000, -1e5, 0, &u, &v)); /* the rate is below 0 */
    struct fit_rate_map negative = {0, {0, -10}, {5, -6}, {0, 0}};
    struct fit_rate_point p;
    assert_false(fit_rate_at(&negative, 0, 0, 0, &p)); /* no rate is above 0 */
    assert_true(fit_rate_of(&maps[0], 100, 1e5, 0, &u, &v)); /* a corner */
    assert_true(isfinite(u) && isfinite(v));
    assert_true(fit_rate_of(&maps[1], 0.003, 0, 0.3, &u, &v)); /* small beside the bounds: not moved */
    assert_true(fit_rate_at(&maps[1], u, v, 0.3, &p));
    assert_true(fabs(p.amplitude - 0.003) < 1e-15 && fabs(p.offset) < 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back_with_derivatives),
        cmocka_unit_test(test_without_bounds_it_is_the_logarithms),
        cmocka_unit_test(test_far_away_bounds_hold),
        cmocka_unit_test(test_where_there_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
