/* test_imaging_grid.c -- pixels, pulses and the factors of visibilities; images to begin with. */
#include "golden.h"

#include "math/rng.h"
#include "observation/grid.h"
#include "observation/observation.h"

#include <complex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct fit_error err;
static struct fit_h5 *h;
static const struct fit_grid grid = {.nx = 12, .ny = 10, .pixel = 8.080228018490226e-11};

static int open_golden(void **state)
{
    (void)state;
    return fit_h5_open(GOLDEN, &h, &err) != FIT_OK;
}

static int close_golden(void **state)
{
    (void)state;
    fit_h5_close(h);
    return 0;
}

static void test_factors_make_the_operator_of_the_reference(void **state)
{
    (void)state;
    size_t n;
    double *u = golden(h, "/dataterms/vis", "u", &n), *v = golden(h, "/dataterms/vis", "v", &n);
    double *re = golden(h, "/dataterms/vis", "A_first16_re", &n), *im = golden(h, "/dataterms/vis", "A_first16_im", &n);
    assert_int_equal(n, 16 * 120);
    static double f[2 * 16 * (12 + 10)];
    struct fit_factors e = {f, f + 192, f + 384, f + 544};
    fit_grid_factors(&grid, 16, u, v, &e);
    for (size_t i = 0; i < n; i++) {
        size_t row = i / 120, r = i % 120 / 12, c = i % 12;
        double complex x = CMPLX(e.ex_re[row * 12 + c], e.ex_im[row * 12 + c]);
        double complex a = x * CMPLX(e.ey_re[row * 10 + r], e.ey_im[row * 10 + r]);
        assert_true(cabs(a - CMPLX(re[i], im[i])) < 1e-13);
    }
    double *all[] = {u, v, re, im};
    for (size_t k = 0; k < 4; k++)
        free(all[k]);
}

static void test_visibilities_of_g1600(void **state)
{
    (void)state;
    struct fit_h5 *g;
    struct fit_obs *o;
    size_t n;
    assert_int_equal(fit_h5_open(GAUSS1600, &g, &err), FIT_OK);
    assert_int_equal(fit_obs_read(GAUSS1600, &o, &err), FIT_OK);
    struct fit_grid big = {.nx = 40, .ny = 40, .pixel = 2.424068405547068e-11};
    double *truth = golden(g, "/grid", "truth", &n), *re = golden(g, "/obs", "vis_noisefree_re", &n);
    double *im = golden(g, "/obs", "vis_noisefree_im", &n), *z = malloc(2 * n * sizeof *z), work[240];
    fit_grid_visibilities(&big, truth, n, o->u, o->v, z, z + n, work);
    assert_true(golden_error(n, z, re) < 1e-12);
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(z[n + i] - im[i]) < 1e-12);
    double image[1600] = {0};
    fit_grid_add_gaussian(&big, 1, 50 * FIT_OBS_UAS, 0, 0, image);
    assert_true(golden_error(1600, image, truth) < 1e-12);
    double *all[] = {truth, re, im, z};
    for (size_t k = 0; k < 4; k++)
        free(all[k]);
    fit_obs_free(o);
    fit_h5_close(g);
}

/* Fourier transform of a pulse of pixel 1 by the trapezoidal rule; shapes are zero beyond 2. */
static double shape(enum fit_pulse pulse, double x)
{
    x = fabs(x);
    if (pulse == FIT_PULSE_TRIANGLE)
        return fmax(0, 1 - x);
    if (pulse == FIT_PULSE_BOX)
        return x < 0.5;
    if (pulse == FIT_PULSE_GAUSSIAN)
        return exp(-x * x * 4.5) * 3 / sqrt(2 * acos(-1.0));
    return x <= 1 ? (1.5 * x - 2.5) * x * x + 1 : x <= 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0; /* Keys 1981 */
}

static void test_pulses_are_fourier_transforms(void **state)
{
    (void)state;
    const enum fit_pulse pulse[] = {FIT_PULSE_TRIANGLE, FIT_PULSE_BOX, FIT_PULSE_GAUSSIAN, FIT_PULSE_CUBIC};
    for (size_t k = 0; k < 4; k++)
        for (double w = 0; w < 1.4; w += 0.13) {
            double sum = 0, step = 1.0 / 4096;
            for (int i = -4 * 4096; i < 4 * 4096; i++) {
                double x = (i + 0.5) * step;
                sum += step * shape(pulse[k], x) * cos(2 * acos(-1.0) * w * x);
            }
            assert_true(fabs(sum - fit_pulse_transform(pulse[k], 1, w)) < 1e-6);
            assert_true(fit_pulse_transform(pulse[k], 0.5, -2 * w) == fit_pulse_transform(pulse[k], 0.5, 2 * w));
        }
    assert_true(fit_pulse_transform(FIT_PULSE_DELTA, 1, 0.7) == 1);
    assert_true(fit_pulse_transform(FIT_PULSE_SINC, 1, 0.49) == 1 && fit_pulse_transform(FIT_PULSE_SINC, 1, 0.5) == 0);
    for (int k = 0; k < FIT_PULSES; k++)
        assert_int_equal(fit_pulse_of(fit_pulse_name((enum fit_pulse)k)), k);
    assert_int_equal(fit_pulse_of("square"), -1);
}

static void test_prior_of_surveys(void **state)
{
    (void)state;
    const int fwhm[] = {60, 90};
    for (int k = 0; k < 2; k++) {
        char name[32];
        double image[120];
        size_t n;
        snprintf(name, sizeof name, "prior_fwhm%d", fwhm[k]);
        double *want = golden(h, "/survey", name, &n);
        fit_grid_prior(&grid, 2, fwhm[k] * FIT_OBS_UAS, image);
        assert_true(golden_error(120, image, want) < 1e-12);
        free(want);
    }
    size_t n;
    double *prior = golden(h, "/grid", "prior", &n), *want = golden(h, "/grid", "prior_normalised", &n);
    assert_int_equal(fit_normalise(120, prior, NULL, 1.9, &err), FIT_OK);
    assert_true(golden_error(120, prior, want) < 1e-14);
    free(prior);
    free(want);
}

static void test_masks(void **state)
{
    (void)state;
    double image[5] = {0, 1, 2, -1, 3};
    unsigned char mask[5];
    assert_int_equal(fit_mask(5, image, 1, mask), 2);
    assert_int_equal(fit_normalise(5, image, mask, 10, &err), FIT_OK);
    assert_true(image[2] == 4 && image[4] == 6 && image[1] == 2);
    memset(mask, 0, sizeof mask);
    assert_int_equal(fit_normalise(5, image, mask, 10, &err), FIT_ERR_NUMERIC);
}

static void test_what_stands_outside_the_mask_is_that_of_the_reference(void **state)
{
    (void)state;
    size_t n = 0;
    double *unit = golden(h, "/regularizers", "randomfloor_unit", &n), value[120];
    unsigned char mask[120] = {0};
    assert_in_range(n, 1, 119);
    for (size_t k = 0; k < 120; k++)
        mask[k] = k % 3 == 1;
    fit_random_floor(120, mask, 0.1, value);
    for (size_t k = 0, i = 0; k < 120; k++) {
        assert_true(mask[k] ? value[k] == 0 : i >= n || fabs(value[k] / (0.1 * unit[i]) - 1) < 1e-13);
        i += !mask[k];
    }
    free(unit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factors_make_the_operator_of_the_reference),
        cmocka_unit_test(test_visibilities_of_g1600),
        cmocka_unit_test(test_pulses_are_fourier_transforms),
        cmocka_unit_test(test_prior_of_surveys),
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_what_stands_outside_the_mask_is_that_of_the_reference),
    };
    return cmocka_run_group_tests(tests, open_golden, close_golden);
}
