/* test_imaging_rounds.c -- the blur between rounds of a fit: flux, width and direction, at the edge, none. */
#include "imaging/converge.h"

#include <math.h>
#include <stdlib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { NX = 41, NY = 31 };

static void a_point_becomes_a_gaussian(void **state)
{
    (void)state;
    static double image[NY * NX];
    const double sigma = 2.5;
    struct fit_error err;
    double sum = 0, xx = 0, yy = 0;
    memset(image, 0, sizeof image);
    image[15 * NX + 20] = 3;
    assert_int_equal(fit_imaging_blur(NY, NX, sigma, image, &err), FIT_OK);
    for (int r = 0; r < NY; r++)
        for (int c = 0; c < NX; c++) {
            const double I = image[r * NX + c];
            sum += I;
            xx += I * pow(c - 20, 2);
            yy += I * pow(r - 15, 2);
            const double wanted = 3 / (2 * 3.14159265358979 * sigma * sigma) *
                                  exp(-0.5 * (pow(c - 20, 2) + pow(r - 15, 2)) / (sigma * sigma));
            if (abs(r - 15) <= 10 && abs(c - 20) <= 10) /* cut at five standard deviations, where 6e-7 are left */
                assert_true(fabs(I - wanted) < 1e-6 * 3);
        }
    assert_true(fabs(sum - 3) < 1e-12);
    assert_true(fabs(xx / sum - sigma * sigma) < 1e-3 && fabs(yy / sum - sigma * sigma) < 1e-3);
}

static void what_leaves_the_grid_is_lost(void **state)
{
    (void)state;
    static double image[NY * NX];
    struct fit_error err;
    double sum = 0;
    memset(image, 0, sizeof image);
    image[0] = 1; /* half of it in each direction, and the middle */
    assert_int_equal(fit_imaging_blur(NY, NX, 2, image, &err), FIT_OK);
    for (int k = 0; k < NY * NX; k++)
        sum += image[k];
    const double half = 0.5 + 0.5 / (2 * sqrt(2 * 3.14159265358979));
    assert_true(fabs(sum - half * half) < 1e-5);
    double before[NX];
    memcpy(before, image, sizeof before);
    assert_int_equal(fit_imaging_blur(NY, NX, 0, image, &err), FIT_OK);
    assert_memory_equal(before, image, sizeof before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_becomes_a_gaussian),
        cmocka_unit_test(what_leaves_the_grid_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
