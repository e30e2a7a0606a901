/* test_bands.c -- the bands of the posterior in fit.h5 are quantiles of what the formulas of the
 * models give for the draws of posterior.nc.  With 300 draws all of them are used, so that the
 * answers must agree to rounding: 1e-12 for curves; 2e-7 for rows of a table, whose fitted values
 * are kept with 24 bits.
 */
#include "support.h"

#include "hdf5/reader.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DRAWS = 300 };

static char *folder;

/* A dataset of a file in the folder; fails the test when it is not there. */
static double *values(const char *file, const char *path, size_t *n)
{
    char name[600];
    struct fit_h5 *h = NULL;
    struct fit_error err = {0};
    double *x = NULL;
    snprintf(name, sizeof name, "%s/out/%s", folder, file);
    if (fit_h5_open(name, &h, &err) != FIT_OK ||
        fit_h5_read_doubles(h, path, &x, n, &err) != FIT_OK)
        fail_msg("%s", err.message);
    fit_h5_close(h);
    return x;
}

/* The draws of a parameter with one value. */
static double *draws(const char *name)
{
    char path[100];
    size_t n;
    snprintf(path, sizeof path, "/posterior/%s", name);
    double *x = values("posterior.nc", path, &n);
    assert_int_equal(n, DRAWS);
    return x;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Between ranks linearly. */
static double quantile(double x[DRAWS], double part)
{
    const double rank = part * (DRAWS - 1);
    const size_t k = (size_t)rank;
    qsort(x, DRAWS, sizeof *x, ascending);
    return x[k] + (rank - (double)k) * (x[k + 1] - x[k]);
}

/* where: "--data" before the file of a table; NULL: the file is a configuration. */
static void fit(const char *program, const char *where, const char *file)
{
    char out[600];
    snprintf(out, sizeof out, "%s/out", folder);
    const char *argv[] = {program,
                          "fit",
                          "--quiet",
                          "--method=laplace",
                          "--draws=300",
                          "-o",
                          out,
                          where ? where : file,
                          where ? file : NULL,
                          NULL};
    const int code = e2e_run(argv, NULL, NULL);
    assert_true(code == 0 || code == 2); /* 2: the approximation is not good; here it need not be */
}

/* models/laminar.lua: shear_rate(t) = gamma_dot_t0 t^beta + gamma_dot_t_offset */
static void test_band_of_a_curve_is_that_of_the_formula(void **state)
{
    static const double part[] = {0.025, 0.975};
    static const char *const path[] = {"/entry/curves/shear_rate_q025",
                                       "/entry/curves/shear_rate_q975"};
    size_t n;
    (void)state;
    fit("homodyne-laminar", NULL, FIT_SOURCE_DIR "/examples/laminar/experiment.yaml");
    double *rate = draws("gamma_dot_t0"), *power = draws("beta"),
           *offset = draws("gamma_dot_t_offset"), one[DRAWS];
    double *t = values("fit.h5", "/entry/curves/t", &n);
    for (size_t side = 0; side < 2; side++) {
        double *band = values("fit.h5", path[side], &n);
        for (size_t k = 1; k < n; k += 37) {
            for (size_t d = 0; d < DRAWS; d++)
                one[d] = rate[d] * pow(t[k], power[d]) + offset[d];
            const double expected = quantile(one, part[side]);
            assert_true(fabs(band[k] - expected) <= 1e-12 * fabs(expected));
        }
        free(band);
    }
    free(rate);
    free(power);
    free(offset);
    free(t);
}

/* At 45 degrees and long lags nothing is left of the contrast (below 1e-3 of it): the band is that
 * of the offset. The contrast moves by 2e-3 of itself there, 0.6e-6, one hundredth of the width of
 * the band. */
static void test_band_of_a_cut_at_long_lags_is_that_of_the_offset(void **state)
{
    size_t n, nlag, nall, nage;
    double one[DRAWS];
    (void)state;
    double *offset = values("posterior.nc", "/posterior/offset", &nall),
           *age = values("fit.h5", "/entry/cuts/age", &nage);
    double *tau = values("fit.h5", "/entry/cuts/tau", &nlag),
           *model = values("fit.h5", "/entry/cuts/g2_model", &n);
    double *low = values("fit.h5", "/entry/cuts/g2_q025", &n),
           *high = values("fit.h5", "/entry/cuts/g2_q975", &n);
    const size_t groups = nall / DRAWS, at = 1 * nlag + 120; /* first angle, second age, 12 s */
    assert_int_equal(n, groups * nage * nlag);
    assert_true(tau[120] > 12 && tau[120] < 12.2);
    for (size_t d = 0; d < DRAWS; d++)
        one[d] = offset[d * groups];
    const double l = quantile(one, 0.025), h = quantile(one, 0.975);
    assert_true(low[at] < model[at] && model[at] < high[at]);
    assert_true(fabs((high[at] - low[at]) / (h - l) - 1) < 0.02);
    free(offset);
    free(age);
    free(tau);
    free(model);
    free(low);
    free(high);
}

/* models/kww.lua: baseline + contrast exp(-2 (delay/tau)^beta) */
static void test_band_of_a_row_is_that_of_the_formula(void **state)
{
    static const double part[] = {0.025, 0.975};
    static const char *const path[] = {"/entry/data/model_q025", "/entry/data/model_q975"};
    size_t n;
    (void)state;
    fit("homodyne-kww", "--data", FIT_SOURCE_DIR "/examples/kww/data.csv");
    double *tau = draws("tau"), *beta = draws("beta"), *contrast = draws("contrast"),
           *baseline = draws("baseline"), *delay = values("fit.h5", "/entry/data/delay", &n),
           one[DRAWS];
    for (size_t side = 0; side < 2; side++) {
        double *band = values("fit.h5", path[side], &n);
        for (size_t k = 0; k < n; k++) {
            for (size_t d = 0; d < DRAWS; d++)
                one[d] = baseline[d] + contrast[d] * exp(-2 * pow(delay[k] / tau[d], beta[d]));
            assert_true(fabs(band[k] - quantile(one, part[side])) < 2e-7);
        }
        free(band);
    }
    free(tau);
    free(beta);
    free(contrast);
    free(baseline);
    free(delay);
}

static int open_folder(void **state)
{
    (void)state;
    folder = e2e_folder();
    return folder ? 0 : -1;
}

static int close_folder(void **state)
{
    (void)state;
    e2e_remove(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_band_of_a_curve_is_that_of_the_formula),
        cmocka_unit_test(
            test_band_of_a_cut_at_long_lags_is_that_of_the_offset), /* of the same fit */
        cmocka_unit_test(test_band_of_a_row_is_that_of_the_formula),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
