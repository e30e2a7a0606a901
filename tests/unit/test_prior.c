/* test_prior.c -- priors are densities with the right derivatives and quantiles; coordinates and their
 * Jacobians. */
#include "math/coordinate.h"
#include "model/prior.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct sample {
    enum fit_prior_kind kind;
    double a, b, lower, upper;
};

static const struct sample proper[] = {
    {FIT_PRIOR_NONE, 0, 0, -2, 5},
    {FIT_PRIOR_NORMAL, 1, 2, -INFINITY, INFINITY},
    {FIT_PRIOR_NORMAL, 1, 2, 0, INFINITY},
    {FIT_PRIOR_TRUNCATED_NORMAL, 0.5, 0.25, 0, 1},
    {FIT_PRIOR_TRUNCATED_NORMAL, 0, 1, 5, 9},   /* far in the tail */
    {FIT_PRIOR_TRUNCATED_NORMAL, 0, 1, -9, -5},
    {FIT_PRIOR_LOG_NORMAL, 0.3, 0.7, 0, INFINITY},
    {FIT_PRIOR_LOG_NORMAL, 0.3, 0.7, 0.5, 4},
    {FIT_PRIOR_HALF_NORMAL, 0, 3, 0, INFINITY},
    {FIT_PRIOR_HALF_NORMAL, 0, 3, 1, 4},
    {FIT_PRIOR_EXPONENTIAL, 0, 2, 0, INFINITY},
    {FIT_PRIOR_EXPONENTIAL, 0, 2, 1, 3},
    {FIT_PRIOR_BETA_SCALED, 2, 3.5, -1, 4},
    {FIT_PRIOR_LOG_UNIFORM, 0, 0, 0.01, 300},
    {FIT_PRIOR_HALF_CAUCHY, 0, 2.5, 0, INFINITY},
    {FIT_PRIOR_HALF_CAUCHY, 0, 2.5, 1, 50},
    {FIT_PRIOR_LAPLACE, 1, 2, -0.1192315758708457, INFINITY}, /* the kink at the quantile of 0.3 */
    {FIT_PRIOR_LAPLACE, 0, 1, 5, 9},
    {FIT_PRIOR_LAPLACE, 0, 1, -9, -5},
    {FIT_PRIOR_TANH_NORMAL, 0.5, 0.25, 0, 1},
    {FIT_PRIOR_TANH_NORMAL, 1000, 9990, 100, 1e5}, /* homodyne's D0 */
};
enum { PROPER = sizeof proper / sizeof *proper };

static struct fit_prior make(const struct sample *s)
{
    struct fit_prior p;
    assert_true(fit_prior_init(&p, s->kind, s->a, s->b, s->lower, s->upper));
    return p;
}

/* Mass between two quantiles by Gauss-Legendre in 400 panels, in the coordinate without bounds. */
static double mass(const struct fit_prior *p, double from, double to)
{
    static const double node[3] = {-0.77459666924148337704, 0, 0.77459666924148337704},
                        weight[3] = {5.0 / 9, 8.0 / 9, 5.0 / 9};
    struct fit_coordinate c =
        fit_coordinate_for(p->kind == FIT_PRIOR_LOG_NORMAL || p->kind == FIT_PRIOR_HALF_CAUCHY ||
                                   p->kind == FIT_PRIOR_HALF_NORMAL || p->kind == FIT_PRIOR_EXPONENTIAL
                               ? fmax(p->lower, 0)
                               : p->lower,
                           p->upper);
    double a = fit_coordinate_of(&c, from), b = fit_coordinate_of(&c, to), sum = 0;
    for (int k = 0; k < 400; k++)
        for (int n = 0; n < 3; n++) {
            double slope, q = a + (b - a) * (k + 0.5 + 0.5 * node[n]) / 400;
            double x = fit_coordinate_at(&c, q, &slope, NULL, NULL);
            sum += weight[n] * exp(fit_prior_log(p, x, NULL)) * fabs(slope);
        }
    return sum * (b - a) / 800;
}

static void test_mass_between_quantiles(void **state)
{
    (void)state;
    for (size_t k = 0; k < PROPER; k++) {
        struct fit_prior p = make(&proper[k]);
        static const double part[] = {0.025, 0.3, 0.5, 0.9, 0.999};
        for (int n = 0; n < 4; n++) {
            double m = mass(&p, fit_prior_quantile(&p, part[n]), fit_prior_quantile(&p, part[n + 1]));
            if (!(fabs(m - (part[n + 1] - part[n])) < 1e-8))
                fail_msg("case %zu (%s): the mass between quantiles %g and %g is %.12g", k, fit_prior_word(p.kind),
                         part[n], part[n + 1], m);
        }
    }
}

static void test_slopes(void **state)
{
    (void)state;
    for (size_t k = 0; k < PROPER; k++) {
        struct fit_prior p = make(&proper[k]);
        for (double part = 0.05; part < 1; part += 0.15) {
            double x = fit_prior_quantile(&p, part), h = 1e-4 * (1e-3 + fabs(x)), slope;
            fit_prior_log(&p, x, &slope);
            double near = fit_prior_log(&p, x + h, NULL) - fit_prior_log(&p, x - h, NULL);
            double far = fit_prior_log(&p, x + 2 * h, NULL) - fit_prior_log(&p, x - 2 * h, NULL);
            assert_true(fabs((8 * near - far) / (12 * h) - slope) < 1e-8 * (1 / h * 1e-4 + fabs(slope)));
        }
    }
}

static void test_outside(void **state)
{
    (void)state;
    for (size_t k = 0; k < PROPER; k++) {
        struct fit_prior p = make(&proper[k]);
        if (isfinite(p.upper))
            assert_true(fit_prior_log(&p, p.upper + 1, NULL) == -INFINITY);
        if (isfinite(p.lower))
            assert_true(fit_prior_log(&p, p.lower - 1, NULL) == -INFINITY);
    }
    struct fit_prior p = make(&(struct sample){FIT_PRIOR_HALF_CAUCHY, 0, 1, -INFINITY, INFINITY});
    assert_true(fit_prior_log(&p, -0.1, NULL) == -INFINITY);
}

static void test_refused(void **state)
{
    static const struct sample bad[] = {
        {FIT_PRIOR_NORMAL, 0, 0, -1, 1},       {FIT_PRIOR_NORMAL, 0, 1, 2, 1},
        {FIT_PRIOR_LOG_UNIFORM, 0, 0, 0, 1},   {FIT_PRIOR_BETA_SCALED, 2, 2, 0, INFINITY},
        {FIT_PRIOR_HALF_NORMAL, 0, 1, -3, -1}, {FIT_PRIOR_TRUNCATED_NORMAL, 0, 1, 50, 60},
        {FIT_PRIOR_EXPONENTIAL, 0, -1, 0, 1},  {FIT_PRIOR_NORMAL, NAN, 1, 0, 1},
        {FIT_PRIOR_TANH_NORMAL, 0, 1, 0, INFINITY}, {FIT_PRIOR_LAPLACE, 0, 0, -1, 1},
    };
    struct fit_prior p;
    (void)state;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_false(fit_prior_init(&p, bad[k].kind, bad[k].a, bad[k].b, bad[k].lower, bad[k].upper));
    assert_true(fit_prior_init(&p, FIT_PRIOR_NONE, 0, 0, NAN, NAN));
    assert_false(p.proper);
    assert_true(isnan(fit_prior_quantile(&p, 0.5)));
}

/* Quantiles of homodyne's prior of D0, declared with mean 1000: 12,390 is its median. */
static void test_tanh_normal_quantiles(void **state)
{
    static const double part[] = {0.02275013194817921, 0.15865525393145705, 0.5, 0.8413447460685429,
                                  0.9772498680518208};
    static const double z[] = {-2, -1, 0, 1, 2};
    (void)state;
    struct fit_prior p = make(&(struct sample){FIT_PRIOR_TANH_NORMAL, 1000, 9990, 100, 1e5});
    for (size_t k = 0; k < 5; k++) {
        double x = 50050 + 49950 * tanh((1000 + 9990 * z[k] - 50050) / 49950);
        assert_true(fabs(fit_prior_quantile(&p, part[k]) - x) < 1e-9 * x);
    }
    assert_true(fabs(fit_prior_quantile(&p, 0.5) - 12390) < 5);
}

/* ---- coordinates --------------------------------------------------------------------------------------- */

static const double bound[][2] = {{-INFINITY, INFINITY}, {2, INFINITY}, {-INFINITY, 3}, {-1, 4}, {0.01, 300}, {NAN, 1}};

static void test_coordinates(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof bound / sizeof *bound; k++) {
        struct fit_coordinate c = fit_coordinate_for(bound[k][0], bound[k][1]);
        for (double q = -5; q <= 5; q += 0.37) {
            double slope, log_slope, bend, x = fit_coordinate_at(&c, q, &slope, &log_slope, &bend), h = 1e-4, up, down;
            assert_false(x < bound[k][0] || x > bound[k][1]);
            double near =
                fit_coordinate_at(&c, q + h, NULL, &up, NULL) - fit_coordinate_at(&c, q - h, NULL, &down, NULL);
            assert_true(fabs(near / (2 * h) - slope) < 1e-6 * fabs(slope) + 1e-9);
            assert_true(fabs((up - down) / (2 * h) - bend) < 1e-6);
            assert_true(fabs(log(fabs(slope)) - log_slope) < 1e-12);
            assert_true(fabs(fit_coordinate_of(&c, x) - q) < 1e-9);
        }
    }
}

static void test_coordinate_at_a_bound_is_finite(void **state)
{
    (void)state;
    for (size_t k = 1; k < 5; k++) {
        struct fit_coordinate c = fit_coordinate_for(bound[k][0], bound[k][1]);
        for (int side = 0; side < 2; side++)
            if (isfinite(bound[k][side]))
                assert_true(isfinite(fit_coordinate_of(&c, bound[k][side])));
        double x = fit_coordinate_at(&c, 1e4, NULL, NULL, NULL), y = fit_coordinate_at(&c, -1e4, NULL, NULL, NULL);
        assert_true(!(x > bound[k][1]) && !(y < bound[k][0]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mass_between_quantiles), cmocka_unit_test(test_slopes), cmocka_unit_test(test_outside),
        cmocka_unit_test(test_refused),                cmocka_unit_test(test_tanh_normal_quantiles),
        cmocka_unit_test(test_coordinates),
        cmocka_unit_test(test_coordinate_at_a_bound_is_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
