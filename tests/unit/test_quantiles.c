/* Percentiles, and contrast and offset without a model, against sorting. */
#include "data/quantiles.h"
#include "math/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 60 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* By the definition: rank p/100 (n - 1) of the sorted values. */
static double percentile(double *x, size_t n, double p)
{
    qsort(x, n, sizeof *x, ascending);
    double rank = p / 100 * (double)(n - 1);
    size_t k = (size_t)rank;
    return k + 1 < n ? x[k] + (rank - (double)k) * (x[k + 1] - x[k]) : x[k];
}

static void test_percentiles_of_random_and_equal_values(void **state)
{
    (void)state;
    struct fit_rng rng = {.seed = 3, .purpose = FIT_RNG_START};
    for (size_t n = 1; n < 200; n += 7)
        for (double p = 0; p <= 100; p += 12.5) {
            double x[200], y[200];
            fit_rng_next_normals(&rng, n, x);
            for (size_t i = 0; i < n; i++)
                y[i] = x[i] = n % 2 ? x[i] : floor(2 * x[i]);
            assert_true(fabs(fit_percentile(x, n, p) - percentile(y, n, p)) < 1e-14);
        }
}

static void test_contrast_and_offset_of_a_decay(void **state)
{
    (void)state;
    double time[N], matrix[N * N], lag[N * N], late[N * N], early[N * N], z;
    const double phi[1] = {0}, *coord[] = {phi}, setting[1] = {0};
    struct fit_rng rng = {.seed = 4, .purpose = FIT_RNG_START};
    struct fit_error err = {0};
    struct fit_dataset *ds;
    size_t nlate = 0, nearly = 0;
    for (size_t i = 0; i < N; i++)
        time[i] = 0.1 * (double)i;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            fit_rng_next_normals(&rng, 1, &z);
            matrix[i * N + j] = 1 + 0.3 * exp(-0.2 * fabs((double)j - (double)i)) + 0.01 * z;
            lag[i * N + j] = fabs((double)j - (double)i);
        }
    double low = percentile(memcpy(late, lag, sizeof lag), N * N, 20);
    double high = percentile(memcpy(late, lag, sizeof lag), N * N, 80);
    for (size_t i = 0; i < N; i++)
        for (size_t j = i + 1; j < N; j++) {
            if (lag[i * N + j] >= high)
                late[nlate++] = matrix[i * N + j];
            if (lag[i * N + j] <= low)
                early[nearly++] = matrix[i * N + j];
        }
    struct fit_dataset_pairs spec = {.ntime = N, .time = time, .step = 0.1, .ngroup = 1, .naxis = 1,
                                     .coord = coord, .setting = setting, .center = 1, .table_doubles = 1};
    assert_int_equal(fit_dataset_new_pairs(&spec, &ds, &err), FIT_OK);
    assert_int_equal(fit_dataset_put(ds, 0, matrix, NULL, &err), FIT_OK);
    assert_int_equal(fit_dataset_finish(ds, &err), FIT_OK);
    double contrast, offset, expected = percentile(late, nlate, 10);
    assert_int_equal(fit_quantiles(ds, 0, &contrast, &offset, &err), FIT_OK);
    assert_true(fabs(offset - expected) < 1e-14);
    assert_true(fabs(contrast - (percentile(early, nearly, 90) - expected)) < 1e-14);
    fit_dataset_free(ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_percentiles_of_random_and_equal_values),
        cmocka_unit_test(test_contrast_and_offset_of_a_decay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
