/* The sequence of numpy.random.default_rng: words and normals that numpy 2.4 gave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "math/pcg64.h"

#include <math.h>

static void test_words(void **state)
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

/* Numbers 303, 478, .. are of the tail; one draw too many or too few anywhere would shift all that follow. */
static void test_normals(void **state)
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words), cmocka_unit_test(test_normals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
