/* test_evidence.c -- points with a low cost: what is kept of them, the neighbours of a value, the lowest one outside
 * a union of intervals. */
#include "leastsquares/evidence.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { P = 2, Q = 3, G = 2, FULL = P + Q * G };

/* The objective as far as a point takes it: lin, of which the intercept, number 1 of 3, lacks the reference. */
static double lin[G * Q], reference[G];
static const struct fit_kernel kernel = {.space = FIT_PAIRS, .nparam = P, .nlinear = Q, .intercept = 1};
static const struct fit_dataset data = {.reference = reference};
static const struct fit_objective objective = {.kernel = &kernel, .ds = &data, .nparam = P, .nlinear = Q, .ngroup = G,
                                               .lin = lin};

static struct fit_evidence empty(struct fit_arena *a)
{
    struct fit_evidence e;
    fit_evidence_new(&e, P, FULL, a);
    assert_int_equal(a->failed, 0);
    return e;
}

/* Its first parameter x, and how much the chi2 rises. */
static void add(struct fit_evidence *e, double x, double rise)
{
    const double theta[P] = {x, -x};
    fit_evidence_add(e, &objective, theta, rise, 1);
}

static int is(double a, double b)
{
    return fabs(a - b) <= 0;
}

static void test_a_point_holds_all_parameters_and_both_rises(void **state)
{
    FIT_SCRATCH(a);
    struct fit_evidence e = empty(&a);
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        const double theta[P] = {1 + (double)k, 20 + (double)k};
        for (size_t i = 0; i < G * Q; i++)
            lin[i] = 100 * (double)(i + 1) + (double)k;
        reference[0] = 0.5;
        reference[1] = 0.25;
        fit_evidence_add(&e, &objective, theta, 4 + (double)k, 3);
    }
    assert_int_equal(e.n, 3);
    for (size_t k = 0; k < 3; k++) {
        const double d = (double)k, *x = fit_evidence_at(&e, k);
        const double want[FULL] = {1 + d, 20 + d, 100 + d, 200.5 + d, 300 + d, 400 + d, 500.25 + d, 600 + d};
        for (size_t i = 0; i < FULL; i++)
            assert_true(is(x[i], want[i]));
        assert_true(is(e.own[k], 4 + d) && is(e.rise[k], 3 * (4 + d)));
    }
}

static void test_what_finds_no_room_is_left_out(void **state)
{
    FIT_SCRATCH(a);
    struct fit_evidence e = empty(&a);
    (void)state;
    assert_true(e.room >= 100);
    for (size_t k = 0; k < e.room + 10; k++)
        add(&e, (double)k, (double)k);
    assert_int_equal(e.n, e.room);
    for (size_t k = 0; k < e.room; k++)
        assert_true(is(fit_evidence_at(&e, k)[0], (double)k) && is(e.rise[k], (double)k) && is(e.own[k], (double)k));
}

static void test_few_points_of_very_many_groups(void **state)
{
    FIT_SCRATCH(a);
    struct fit_evidence e;
    (void)state;
    fit_evidence_new(&e, P, 1000000, &a);
    assert_int_equal(e.room, 32);
    fit_evidence_new(&e, P, 39999, &a);
    assert_int_equal(e.room, 100);
    fit_evidence_new(&e, P, 40000, &a);
    assert_int_equal(e.room, 99);
}

static void test_neighbours_of_a_value(void **state)
{
    static const double x[] = {5, 1, 3, 2.5, 9, 3};
    FIT_SCRATCH(a);
    struct fit_evidence e = empty(&a);
    long beside[2];
    (void)state;
    fit_evidence_beside(&e, 0, 2.75, beside);
    assert_true(beside[0] == -1 && beside[1] == -1);
    for (size_t k = 0; k < sizeof x / sizeof *x; k++)
        add(&e, x[k], 1);
    fit_evidence_beside(&e, 0, 2.75, beside);
    assert_true(beside[0] == 3 && beside[1] == 2); /* the first of two */
    fit_evidence_beside(&e, 0, 3, beside);
    assert_true(beside[0] == 2 && beside[1] == 0); /* the value itself counts as below */
    fit_evidence_beside(&e, 0, 0.5, beside);
    assert_true(beside[0] == -1 && beside[1] == 1);
    fit_evidence_beside(&e, 0, 9.5, beside);
    assert_true(beside[0] == 4 && beside[1] == -1);
    fit_evidence_beside(&e, 1, -4, beside); /* the other parameter is -x */
    assert_true(beside[0] == 0 && beside[1] == 2);
}

static void test_the_lowest_point_outside_of_intervals(void **state)
{
    const struct fit_union u = {.n = 2, .piece = {{.lower = 1, .upper = 2}, {.lower = 4, .upper = 5},
                                                  {.lower = -100, .upper = 100}, {.lower = -100, .upper = 100}}};
    const struct fit_union none = {.n = 0, .piece = {{.lower = -100, .upper = 100}}};
    FIT_SCRATCH(a);
    struct fit_evidence e = empty(&a);
    (void)state;
    assert_int_equal(fit_evidence_outside(&e, 0, &u, 0), -1);
    add(&e, 1.5, 0.1);
    add(&e, 4.5, 0.2);
    add(&e, 1, 0.1);
    add(&e, 5, 0.1); /* ends belong to an interval */
    assert_int_equal(fit_evidence_outside(&e, 0, &u, 0), -1);
    assert_int_equal(fit_evidence_outside(&e, 0, &none, 0), 0);
    assert_int_equal(fit_evidence_outside(&e, 1, &u, 0), 0); /* of the other parameter: -1.5 */
    add(&e, 5.25, 3);
    add(&e, 0.75, 2);
    add(&e, 3, 2.5);
    add(&e, 8, 2.25);
    assert_int_equal(fit_evidence_outside(&e, 0, &u, 0), 5);
    assert_int_equal(fit_evidence_outside(&e, 0, &u, 0.25), 7); /* those at 0.25 from an end are inside now */
    assert_int_equal(fit_evidence_outside(&e, 0, &u, 0.249), 5);
    assert_int_equal(fit_evidence_outside(&e, 0, &u, 3), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_point_holds_all_parameters_and_both_rises),
        cmocka_unit_test(test_what_finds_no_room_is_left_out),
        cmocka_unit_test(test_few_points_of_very_many_groups),
        cmocka_unit_test(test_neighbours_of_a_value),
        cmocka_unit_test(test_the_lowest_point_outside_of_intervals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
