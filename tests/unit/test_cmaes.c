/* test_cmaes.c -- the evolution strategy finds known minima, and the same ones again. */
#include "math/cmaes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 5 };

/* Narrow curved valley; minimum 0 at u = 0.7. */
static double rosenbrock(void *user, const double *u, int *stop)
{
    double s = 0;
    (void)user, (void)stop;
    for (size_t i = 0; i + 1 < N; i++) {
        double a = u[i] / 0.7, b = u[i + 1] / 0.7;
        s += 100 * (b - a * a) * (b - a * a) + (1 - a) * (1 - a);
    }
    return s;
}

/* Some ten thousand minima in the box; the least at u = 0.3. */
static double rastrigin(void *user, const double *u, int *stop)
{
    double s = 1;
    (void)user, (void)stop;
    for (size_t i = 0; i < N; i++) {
        double x = 10 * (u[i] - 0.3);
        s += x * x + 10 * (1 - cos(6.283185307179586 * x));
    }
    return s;
}

/* Axes a thousand times as long as one another, turned; no value in half of the box. */
static double ellipse(void *user, const double *u, int *stop)
{
    double s = 0;
    (void)user, (void)stop;
    if (u[0] + u[1] > 1.2)
        return NAN;
    for (size_t i = 0; i < N; i++) {
        double d = u[i] - 0.45 + 0.9 * (u[(i + 1) % N] - 0.45);
        s += pow(10, 6.0 * (double)i / (N - 1)) * d * d;
    }
    return s;
}

static double corner(void *user, const double *u, int *stop)
{
    double s = 0;
    (void)user, (void)stop;
    for (size_t i = 0; i < N; i++)
        s += (i % 2 ? 1 - u[i] : u[i]) * (double)(i + 1);
    return s;
}

static double stops(void *user, const double *u, int *stop)
{
    int *left = user;
    *stop = --*left <= 0;
    return u[0];
}

static enum fit_cmaes_word run(double (*f)(void *, const double *, int *), size_t population, uint64_t stream,
                               double *u, double *best)
{
    struct fit_cmaes_problem p = {N, f, NULL};
    struct fit_cmaes_options o = {.population = population,
                                  .evaluations = 60000,
                                  .ftol = 1e-12,
                                  .xtol = 1e-9,
                                  .seed = 7,
                                  .stream = stream};
    size_t used;
    for (size_t i = 0; i < N; i++)
        u[i] = 0.5;
    enum fit_cmaes_word w = fit_cmaes_run(&p, &o, u, best, &used);
    assert_true(used <= o.evaluations);
    return w;
}

static void test_curved_valley(void **s)
{
    double u[N], best;
    (void)s;
    assert_int_equal(run(rosenbrock, 0, 1, u, &best), FIT_CMAES_FOUND);
    for (size_t i = 0; i < N; i++)
        assert_true(fabs(u[i] - 0.7) < 1e-4);
}

static void test_scales_and_missing_values(void **s)
{
    double u[N], best;
    (void)s;
    assert_int_equal(run(ellipse, 0, 1, u, &best), FIT_CMAES_FOUND);
    for (size_t i = 0; i < N; i++)
        assert_true(fabs(u[i] - 0.45) < 1e-4);
}

static void test_many_minima_with_a_large_population(void **s)
{
    double u[N], best;
    int found = 0;
    (void)s;
    for (uint64_t stream = 0; stream < 10; stream++) {
        run(rastrigin, 400, stream, u, &best);
        found += best < 1 + 1e-6;
    }
    assert_true(found >= 7); /* as the author's own program */
}

static void test_minimum_in_a_corner_of_the_box(void **s)
{
    double u[N], best;
    (void)s;
    run(corner, 0, 3, u, &best);
    for (size_t i = 0; i < N; i++) {
        assert_true(u[i] >= 0 && u[i] <= 1);
        assert_true(fabs(u[i] - (i % 2 ? 1 : 0)) < 1e-3);
    }
}

static void test_same_seed_same_answer(void **s)
{
    double u[N], v[N], a, b;
    (void)s;
    run(rastrigin, 20, 5, u, &a);
    run(rastrigin, 20, 5, v, &b);
    assert_memory_equal(u, v, sizeof u);
    run(rastrigin, 20, 6, v, &b);
    assert_true(memcmp(u, v, sizeof u) != 0);
}

static void test_stops_when_told(void **s)
{
    double u[N] = {0.5, 0.5, 0.5, 0.5, 0.5}, best;
    int left = 37;
    size_t used;
    (void)s;
    assert_int_equal(fit_cmaes_run(&(struct fit_cmaes_problem){N, stops, &left},
                                   &(struct fit_cmaes_options){.evaluations = 1000, .seed = 1}, u, &best, &used),
                     FIT_CMAES_STOPPED);
    assert_int_equal(used, 37);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curved_valley),
        cmocka_unit_test(test_scales_and_missing_values),
        cmocka_unit_test(test_many_minima_with_a_large_population),
        cmocka_unit_test(test_minimum_in_a_corner_of_the_box),
        cmocka_unit_test(test_same_seed_same_answer),
        cmocka_unit_test(test_stops_when_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
