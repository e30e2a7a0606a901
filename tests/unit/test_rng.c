/* Random numbers at a place: published words, independence of uses, distributions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "math/pcg64.h"
#include "math/rng.h"
#include "targets.h"

#include <math.h>

/* Known answers of Philox 4x32-10 (file kat_vectors of the authors' Random123 distribution). */
static void test_philox_gives_the_published_words(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed, stream, index;
        uint32_t word[4];
    } known[] = {
        {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {0x299f31d0a4093822,
         0x0370734413198a2e,
         0x85a308d3243f6a88, /* digits of pi */
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        uint32_t w[4];
        fit_rng_words(known[k].seed, known[k].stream, known[k].index, w);
        for (int i = 0; i < 4; i++)
            assert_int_equal(w[i], known[k].word[i]);
    }
}

static void test_normals_have_the_moments_of_a_normal(void **state)
{
    (void)state;
    const size_t n = 200000;
    double s1 = 0, s2 = 0, s4 = 0, cross = 0;
    for (size_t k = 0; k < n; k++) {
        double z[2];
        fit_rng_normal(3, 1, k, z);
        s1 += z[0] + z[1];
        s2 += z[0] * z[0] + z[1] * z[1];
        s4 += z[0] * z[0] * z[0] * z[0] + z[1] * z[1] * z[1] * z[1];
        cross += z[0] * z[1];
    }
    double m = 2.0 * (double)n; /* five standard deviations of each average */
    assert_true(fabs(s1 / m) < 5 * sqrt(1 / m));
    assert_true(fabs(s2 / m - 1) < 5 * sqrt(2 / m));
    assert_true(fabs(s4 / m - 3) < 5 * sqrt(96 / m));
    assert_true(fabs(cross / (double)n) < 5 * sqrt(1 / (double)n));
}

/* Every part of the place matters, and streams of other parts of the program are not met. */
static void test_places_that_differ_in_one_part_give_other_numbers(void **state)
{
    (void)state;
    struct fit_rng base = {
        .seed = 1, .chain = 2, .iteration = 3, .purpose = FIT_RNG_TREE, .index = 4};
    struct fit_rng other[5] = {base, base, base, base, base};
    other[0].seed++;
    other[1].chain++;
    other[2].iteration++;
    other[3].purpose++;
    other[4].index++;
    double u = fit_rng_next_uniform(&base), low[2];
    for (int k = 0; k < 5; k++)
        assert_true(fit_rng_next_uniform(&other[k]) != u);
    assert_int_equal(base.index, 5);
    fit_rng_uniform(1, FIT_RNG_TREE, (uint64_t)3 << 32 | 4, low);
    assert_true(low[0] != u);
    struct fit_rng again = fit_rng_for(&base, FIT_RNG_TREE);
    assert_int_equal(again.index, 0);
    assert_int_equal(again.iteration, 3);
}

static void test_an_odd_number_of_normals_is_the_beginning_of_the_even_one(void **state)
{
    (void)state;
    struct fit_rng a = {.seed = 5}, b = a;
    double x[3], y[4];
    fit_rng_next_normals(&a, 3, x);
    fit_rng_next_normals(&b, 4, y);
    for (int k = 0; k < 3; k++)
        assert_true(x[k] >= y[k] && x[k] <= y[k]);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Shapes with a distribution function in closed form. */
static double gamma_cdf(double shape, double x)
{
    if (shape < 1) /* 1/2 */
        return erf(sqrt(x));
    if (shape < 2) /* 1 */
        return -expm1(-x);
    if (shape < 3) /* 5/2 */
        return erf(sqrt(x)) - sqrt(x) * exp(-x) * (2 + 4 * x / 3) / sqrt(acos(-1.0));
    return 1 - exp(-x) * (1 + x + x * x / 2 + x * x * x / 6); /* 4 */
}

static void test_gamma_variates_have_their_distribution(void **state)
{
    (void)state;
    enum { N = 100000 };
    static double u[N];
    const double shapes[] = {0.5, 1, 2.5, 4};
    for (int k = 0; k < 4; k++) {
        for (uint32_t i = 0; i < N; i++) {
            struct fit_rng r = {.seed = 11, .purpose = FIT_RNG_CONDITIONAL, .iteration = i};
            u[i] = gamma_cdf(shapes[k], fit_rng_next_gamma(&r, shapes[k]));
        }
        qsort(u, N, sizeof *u, ascending);
        double p = ks_uniform(N, u);
        if (p < 1e-4)
            fail_msg("shape %g: p = %g", shapes[k], p);
    }
}

static void test_words_of_numpy(void **state)
{
    (void)state;
    static const struct {
        uint32_t seed;
        uint64_t word[3];
    } known[] = {{0, {0xa30febcfd9c2825f, 0x4510bdf882d9d721, 0x0a7d3da94ecde8b8}},
                 {7, {0xa00641a9f1e54a8b, 0xe5afcdbcaf266a95, 0xc693565f940af962}},
                 {UINT32_MAX, {0x407f5fa930d8fd9f, 0x3814b22eb9684802, 0x498b7dcee8d8dc95}}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        struct fit_pcg64 g;
        fit_pcg64_seed(&g, known[k].seed);
        for (int i = 0; i < 3; i++)
            assert_true(fit_pcg64_next(&g) == known[k].word[i]);
    }
}

/* Words and normals that numpy 2.4 gave (numpy.random.default_rng).  Numbers 303, 478, .. are of the tail; one draw too
 * many or too few anywhere would shift all that follow. */
static void test_normals_of_numpy(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        double value;
    } known[] = {{0, 0.1257302210933933},      {1, -0.1321048632913019},     {2, 0.6404226504432821},
                 {3, 0.10490011715303971},     {4, -0.535669373161111},      {5, 0.36159505490948474},
                 {303, -3.772275156122734},    {478, -3.899421730054339},    {10477, 3.945549686526577},
                 {13325, -3.9193563674218397}, {99999, -0.49541294309578066}, {199999, -0.26553977625065545}};
    struct fit_pcg64 g;
    double sum = 0, squares = 0;
    size_t next = 0;
    fit_pcg64_seed(&g, 0);
    for (size_t k = 0; k < 200000; k++) {
        const double z = fit_pcg64_normal(&g);
        sum += z;
        squares += z * z;
        if (k == known[next].at)
            assert_true(fabs(z / known[next++].value - 1) < 1e-13);
    }
    assert_int_equal(next, sizeof known / sizeof *known);
    assert_true(fabs(sum - 26.135110527473202) < 1e-8 && fabs(squares / 200480.26556428347 - 1) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_of_numpy),
        cmocka_unit_test(test_normals_of_numpy),
        cmocka_unit_test(test_philox_gives_the_published_words),
        cmocka_unit_test(test_normals_have_the_moments_of_a_normal),
        cmocka_unit_test(test_places_that_differ_in_one_part_give_other_numbers),
        cmocka_unit_test(test_an_odd_number_of_normals_is_the_beginning_of_the_even_one),
        cmocka_unit_test(test_gamma_variates_have_their_distribution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
