/* Storage from an arena: aligned, zero, apart from each other, and a failure that is remembered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/arena.h"

static void is_fresh(const unsigned char *p, size_t n)
{
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % 64, 0);
    for (size_t k = 0; k < n; k++)
        assert_int_equal(p[k], 0);
}

/* Of all sizes, small and large mixed: each is filled with its number and still has it when all are there. */
static void test_requests_are_aligned_zero_and_apart(void **state)
{
    (void)state;
    enum { N = 400 };
    FIT_SCRATCH(a);
    unsigned char *p[N];
    for (size_t k = 0; k < N; k++) {
        const size_t n = k % 7 == 6 ? 97 * k : k % 50;
        is_fresh(p[k] = fit_take(&a, n, 1), n + 64);
        memset(p[k], (int)(k % 255) + 1, n);
    }
    for (size_t k = 0; k < N; k++)
        for (size_t i = 0; i < (k % 7 == 6 ? 97 * k : k % 50); i++)
            assert_int_equal(p[k][i], k % 255 + 1);
    assert_int_equal(a.failed, 0);
}

static void test_vectors_are_taken_together(void **state)
{
    (void)state;
    FIT_SCRATCH(a);
    double *x = NULL, *y = NULL;
    FIT_TAKE_DOUBLES(&a, 1000, &x, &y);
    is_fresh((unsigned char *)x, 8000);
    is_fresh((unsigned char *)y, 8000);
    assert_true(x + 1000 <= y || y + 1000 <= x);
}

static void test_failure_is_remembered_until_the_end(void **state)
{
    (void)state;
    const size_t too_many[][2] = {{SIZE_MAX, 1}, {SIZE_MAX / 8, 16}, {SIZE_MAX / 2 + 2, 2}, {(size_t)1 << 62, 1}};
    for (size_t k = 0; k < sizeof too_many / sizeof *too_many; k++) {
        struct fit_arena a = {0};
        assert_non_null(fit_take(&a, 3, sizeof(double)));
        assert_null(fit_take(&a, too_many[k][0], too_many[k][1]));
        assert_non_null(fit_take(&a, 3, sizeof(double)));
        assert_int_equal(a.failed, 1);
        fit_arena_free(&a);
        assert_int_equal(a.failed, 0);
        assert_non_null(fit_arena_string(&a, "used again"));
        fit_arena_free(&a);
    }
}

static void test_strings_are_copied(void **state)
{
    (void)state;
    FIT_SCRATCH(a);
    char text[] = "velocity";
    const char *whole = fit_arena_string(&a, text), *part = fit_arena_copy(&a, text, 4);
    memset(text, 'x', sizeof text - 1);
    assert_string_equal(whole, "velocity");
    assert_string_equal(part, "velo");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests_are_aligned_zero_and_apart),
        cmocka_unit_test(test_vectors_are_taken_together),
        cmocka_unit_test(test_failure_is_remembered_until_the_end),
        cmocka_unit_test(test_strings_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
