/* test_residual_check.c -- the predictive check of residuals: noise of the model passes, and its p are uniform; noise
 * that is correlated, an angle that the model does not describe, an outlier and tables are found; threads change no
 * bit.
 *
 * Draws are the true parameters, so that what is found is of the check alone. */
#include "sampling/residual_check.h"
#include "math/rng.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NT = 48, NG = 3, DRAWS = 25, CHAINS = 4, ROWS = 400, M = FIT_RESIDUAL_MEASURES };
enum defect { WHITE, ALONG_LAG, WRONG_ANGLE, OUTLIER, HOLES };
static const double SIGMA = 0.02;
static const double truth[] = {1000, -0.5, 10, 0.003, 0.3, 0.0002, 3};

static void must(enum fit_status st, const struct fit_error *err)
{
    if (st != FIT_OK)
        fail_msg("%s", err->message);
}

static double noise(unsigned seed, size_t g, long i, long j)
{
    double z[2];
    fit_rng_normal(seed, g, (uint64_t)((i + 1) * 1000 + j + 1), z);
    return z[0];
}

static struct fit_dataset *pairs(const struct fit_kernel *k, enum defect defect, unsigned seed)
{
    static const double phi[NG] = {-4, 20, 75};
    struct e2e_grid grid = {.ntime = NT, .dt = 0.1, .q = 0.0054, .gap = 2e6, .nphi = NG, .phi = phi};
    struct fit_dataset *ds = e2e_dataset(k, &grid);
    struct fit_error err = {0};
    struct e2e_prepared p = e2e_prepare(k, &ds->layout, truth);
    for (size_t g = 0; g < NG; g++) {
        double *matrix = e2e_doubles(NT * NT), lin[NG * 2];
        for (size_t e = 0; e < NG * 2; e++)
            lin[e] = e % 2 ? 1.01 : 0.3;
        for (uint32_t i = 0; i < NT; i++)
            for (uint32_t j = i + 1; j < NT; j++) {
                uint32_t group = defect == WRONG_ANGLE && g == 1 ? 2 : (uint32_t)g;
                double *y = &matrix[i * NT + j], e = noise(seed, g, i, j);
                if (defect == ALONG_LAG)
                    e = (e + noise(seed, g, i, (long)j - 1)) / sqrt(2);
                k->points(&ds->layout, p.ws, lin, &(struct fit_points){1, &i, &j, &group}, y, NULL);
                *y += SIGMA * e + (defect == OUTLIER && g == 0 && i == 7 && j == 20 ? 9 * SIGMA : 0);
                if (defect == HOLES && (i + j) % 5 == 0)
                    *y = NAN;
            }
        must(fit_dataset_put(ds, g, matrix, NULL, &err), &err);
        free(matrix);
    }
    must(fit_dataset_finish(ds, &err), &err);
    e2e_release(&p);
    return ds;
}

/* The check with draws that are all the same.  known: 0, or the known noise of data without weights. */
static struct fit_residual_check check(const struct fit_kernel *k, const struct fit_dataset *ds, const double *theta,
                                       const double *lin, double sigma, double known, int threads)
{
    const double each[NG] = {known, known, known};
    struct fit_posterior_setup setup = {.kernel = k, .ds = ds, .sigma = each,
                                        .variance = known > 0 ? FIT_VARIANCE_KNOWN : FIT_VARIANCE_UNIT};
    struct fit_samples s = {.nparam = k->nparam, .nlinear = k->nlinear, .ngroup = ds->layout.ngroup, .chains = CHAINS,
                            .draws = DRAWS, .seed = 1};
    struct fit_residual_check out;
    struct fit_error err = {0};
    s.ncolumn = s.nparam + s.ngroup * (s.nlinear + 1);
    s.x = s.x_robust = e2e_doubles(CHAINS * DRAWS * s.ncolumn);
    for (size_t d = 0; d < CHAINS * DRAWS; d++) {
        double *x = s.x + d * s.ncolumn;
        memcpy(x, theta, s.nparam * sizeof *x);
        for (size_t e = 0; e < s.ngroup * s.nlinear; e++)
            x[s.nparam + e] = lin[e % s.nlinear];
        for (size_t g = 0; g < s.ngroup; g++)
            x[s.nparam + s.ngroup * s.nlinear + g] = sigma;
    }
    must(fit_residual_check(&setup, &s, threads, &out, &err), &err);
    free(s.x);
    return out;
}

static struct fit_residual_check check_pairs(enum defect defect, unsigned seed, int threads, int known)
{
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    assert_non_null(k);
    struct fit_dataset *ds = pairs(k, defect, seed);
    struct fit_residual_check c = check(k, ds, truth, (const double[]){0.3, 1.01}, known ? 1 : SIGMA, known ? SIGMA : 0,
                                        threads);
    fit_dataset_free(ds);
    assert_int_equal(c.draws, CHAINS * DRAWS);
    return c;
}

static int unusual(const struct fit_residual_check *c, size_t g, enum fit_residual_measure m)
{
    return c->result[g * M + m].unusual;
}

static void assert_text(const struct fit_residual_check *c, const char *part, int there)
{
    char text[1024];
    fit_residual_text(c, "angles", sizeof text, text);
    if ((strstr(text, part) != NULL) != there)
        fail_msg("\"%s\" %s in \"%s\"", part, there ? "is missing" : "stands", text);
}

/* Of 40 x 3 x 6 two-sided p, 5 % are expected up to 0.05; measures of one data set hang together a little, so that
 * 5 standard deviations of a count, 29, are allowed. */
static void test_noise_of_the_model(void **state)
{
    int low = 0, n = 0;
    (void)state;
    for (unsigned seed = 1; seed <= 40; seed++) {
        struct fit_residual_check c = check_pairs(WHITE, seed, 1, seed % 2 == 0);
        assert_int_equal(c.points, NG * NT * (NT - 1) / 2);
        assert_text(&c, "predictive check: nothing unusual", 1);
        for (size_t k = 0; k < NG * M; k++, n++) {
            assert_true(c.result[k].p > 0 && c.result[k].p <= 1);
            low += c.result[k].p <= 0.05;
        }
        fit_residual_check_free(&c);
    }
    printf("    %d of %d p are at most 0.05\n", low, n);
    assert_true(low >= 7 && low <= 65);
}

static void test_correlated_noise(void **state)
{
    (void)state;
    struct fit_residual_check c = check_pairs(ALONG_LAG, 3, 1, 0);
    for (size_t g = 0; g < NG; g++) {
        assert_int_equal(unusual(&c, g, FIT_RESIDUAL_LAG), 1);
        assert_true(fabs(c.result[g * M + FIT_RESIDUAL_LAG].data - 0.5) < 0.1); /* 3 of 1/sqrt(1128) */
        assert_int_equal(unusual(&c, g, FIT_RESIDUAL_AGE), 0);
        assert_int_equal(unusual(&c, g, FIT_RESIDUAL_LARGEST), 0);
    }
    assert_text(&c, "neighbours along the lag are correlated more than the model's noise", 1);
    assert_text(&c, "noise (3 of 3 angles, p <= 0.02)", 1);
    assert_text(&c, "posterior_robust", 1);
    fit_residual_check_free(&c);
}

static void test_a_wrong_angle(void **state)
{
    (void)state;
    struct fit_residual_check c = check_pairs(WRONG_ANGLE, 3, 1, 0);
    for (size_t m = 0; m < M; m++) {
        assert_int_equal(unusual(&c, 0, (enum fit_residual_measure)m), 0);
        assert_int_equal(unusual(&c, 2, (enum fit_residual_measure)m), 0);
    }
    assert_int_equal(unusual(&c, 1, FIT_RESIDUAL_LAG), 1);
    assert_int_equal(unusual(&c, 1, FIT_RESIDUAL_AGE), 1);
    assert_text(&c, "1 of 3 angles", 1);
    fit_residual_check_free(&c);
}

static void test_an_outlier(void **state)
{
    (void)state;
    struct fit_residual_check c = check_pairs(OUTLIER, 3, 1, 0);
    assert_int_equal(unusual(&c, 0, FIT_RESIDUAL_LARGEST), 1);
    assert_int_equal(unusual(&c, 1, FIT_RESIDUAL_LARGEST), 0);
    assert_text(&c, "the largest residual is larger than the noise makes it (1 of 3 angles", 1);
    assert_text(&c, "posterior_robust", 0);
    fit_residual_check_free(&c);
}

static void test_holes(void **state)
{
    (void)state;
    struct fit_residual_check c = check_pairs(HOLES, 3, 1, 0);
    assert_true(c.points < NG * NT * (NT - 1) / 2 * 0.85);
    assert_text(&c, "nothing unusual", 1);
    fit_residual_check_free(&c);
}

static void test_bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    struct fit_residual_check one = check_pairs(ALONG_LAG, 5, 1, 0), three = check_pairs(ALONG_LAG, 5, 3, 0);
    for (size_t k = 0; k < (NG + 1) * M; k++) {
        assert_memory_equal(&one.result[k].data, &three.result[k].data, sizeof(double));
        assert_memory_equal(&one.result[k].p, &three.result[k].p, sizeof(double));
        assert_memory_equal(&one.result[k].z, &three.result[k].z, sizeof(double));
    }
    fit_residual_check_free(&one);
    fit_residual_check_free(&three);
}

/* Rows of a table in no order; neighbours are those along the covariate. */
static struct fit_residual_check check_table(int correlated)
{
    static const double theta[] = {1.3, 0.8}, lin[] = {0.5, 0.1};
    static double x[ROWS], y[ROWS], s[ROWS];
    const struct fit_kernel *k = e2e_kernel("kww", "fast", NULL);
    const double *column[3] = {x, y, s};
    struct fit_dataset *ds = NULL;
    struct fit_error err = {0};
    assert_non_null(k);
    assert_int_equal(k->nparam, 2);
    assert_int_equal(k->nlinear, 2);
    for (size_t r = 0; r < ROWS; r++) {
        x[r] = 0.01 * pow(2000, (double)(r * 147 % ROWS) / ROWS); /* 147 and 400 have no common factor */
        s[r] = 0.01;
    }
    must(fit_dataset_new_table(
             &(struct fit_dataset_table){
                 .nrow = ROWS, .ncolumn = 3, .column = column, .value = y, .sigma = s, .nsetting = k->nsetting},
             &ds, &err),
         &err);
    struct e2e_prepared p = e2e_prepare(k, &ds->layout, theta);
    for (uint32_t r = 0, g = 0; r < ROWS; r++) {
        long rank = (long)(r * 147 % ROWS);
        double e = noise(9, 0, 0, rank);
        k->points(&ds->layout, p.ws, lin, &(struct fit_points){1, &r, NULL, &g}, &y[r], NULL);
        y[r] += 0.01 * (correlated ? (e + noise(9, 0, 0, rank - 1)) / sqrt(2) : e);
    }
    e2e_release(&p);
    fit_dataset_free(ds);
    must(fit_dataset_new_table(&(struct fit_dataset_table){.nrow = ROWS,
                                                           .ncolumn = 3,
                                                           .column = column,
                                                           .value = y,
                                                           .sigma = s,
                                                           .nsetting = k->nsetting,
                                                           .center = k->intercept >= 0},
                               &ds, &err),
         &err);
    must(fit_dataset_finish(ds, &err), &err);
    struct fit_residual_check c = check(k, ds, theta, lin, 1, 0.01, 2);
    fit_dataset_free(ds);
    assert_int_equal(c.points, ROWS);
    assert_true(isnan(c.result[FIT_RESIDUAL_AGE].p));
    return c;
}

static void test_tables(void **state)
{
    (void)state;
    struct fit_residual_check c = check_table(0);
    assert_text(&c, "nothing unusual", 1);
    fit_residual_check_free(&c);
    c = check_table(1);
    assert_int_equal(unusual(&c, 0, FIT_RESIDUAL_LAG), 1);
    assert_text(&c, "neighbouring rows are correlated more than the model's noise (p <= 0.02)", 1);
    assert_text(&c, "posterior_robust", 0);
    fit_residual_check_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noise_of_the_model),
        cmocka_unit_test(test_correlated_noise),
        cmocka_unit_test(test_a_wrong_angle),
        cmocka_unit_test(test_an_outlier),
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_bits_do_not_depend_on_threads),
        cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests_name("residual check", tests, NULL, NULL);
}
