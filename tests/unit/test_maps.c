/* test_maps.c -- maps and cuts of data, model and residuals against averages made pair by pair, with gaps between
 * frames, errors and values that are missing; the same bits for any number of threads; the noise of rows. */
#include "fit/maps.h"
#include "leastsquares/objective.h"
#include "leastsquares/start.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mock_kernels.h"

enum { GROUPS = 3 };
static const double theta[2] = {1.5, 4}, against[GROUPS] = {0.02, 0.05, 0.03};
static double lin[2 * GROUPS] = {0.3, 1, 0.25, 1.02, 0.2, 0.98};

/* An experiment: frames of the file and those used, errors of the values, one value in `missing` is NaN. */
struct experiment {
    size_t ntime, nframe;
    uint32_t *frame;
    int errors;
    size_t missing;
    double *time, *y[GROUPS], *sigma[GROUPS];
    struct fit_dataset *ds;
};

static void fill(struct experiment *x)
{
    const size_t n = x->ntime;
    uint64_t state = 5;
    for (size_t g = 0; g < GROUPS; g++) {
        x->y[g] = malloc(n * n * sizeof(double));
        x->sigma[g] = malloc(n * n * sizeof(double));
        for (size_t k = 0; k < n * n; k++) {
            x->y[g][k] = x->missing && k % x->missing == 0 ? NAN : 1.2 + 0.01 * mock_noise(&state);
            x->sigma[g][k] = 0.01 + 1e-4 * (double)(k % 17);
        }
    }
}

static struct experiment make(size_t ntime, size_t gap, int errors, size_t missing)
{
    static const double coord[GROUPS] = {1, 2, 3};
    const double *coords[] = {coord};
    struct experiment x = {.ntime = ntime, .errors = errors, .missing = missing};
    struct fit_error err = {0};
    x.time = malloc(ntime * sizeof *x.time);
    x.frame = malloc(ntime * sizeof *x.frame);
    for (size_t i = 0; i < ntime; i++) {
        x.time[i] = 0.01 * (double)i;
        if (!gap || i % gap != gap - 1)
            x.frame[x.nframe++] = (uint32_t)i;
    }
    fill(&x);
    const struct fit_dataset_pairs spec = {.ntime = ntime, .time = x.time, .step = 0.01, .nframe = x.nframe,
                                           .frame = x.frame, .ngroup = GROUPS, .naxis = 1, .coord = coords,
                                           .center = 1, .table_doubles = 2};
    assert_int_equal(fit_dataset_new_pairs(&spec, &x.ds, &err), FIT_OK);
    for (size_t g = 0; g < GROUPS; g++)
        assert_int_equal(fit_dataset_put(x.ds, g, x.y[g], errors ? x.sigma[g] : NULL, &err), FIT_OK);
    assert_int_equal(fit_dataset_finish(x.ds, &err), FIT_OK);
    return x;
}

static void discard(struct experiment *x)
{
    fit_dataset_free(x->ds);
    for (size_t g = 0; g < GROUPS; g++) {
        free(x->y[g]);
        free(x->sigma[g]);
    }
    free(x->time);
    free(x->frame);
}

static struct fit_maps *maps_of(const struct experiment *x, int threads)
{
    double scale[GROUPS] = {1, 1, 1};
    struct fit_result fit = {.theta = (double *)theta, .lin = lin, .against = x->errors ? scale : (double *)against};
    struct fit_maps *m = NULL;
    struct fit_error err = {0};
    assert_int_equal(fit_maps_new(&fringe, x->ds, &fit, threads, &m, &err), FIT_OK);
    return m;
}

/* Sums over pairs: 1, data, model, residual / sigma, variance. */
struct sums {
    double n, data, model, z, variance;
};

static void add_pair(const struct experiment *x, size_t g, size_t i, size_t j, struct sums *s)
{
    const size_t fi = x->frame[i], fj = x->frame[j], at = fi * x->ntime + fj;
    const double lag = x->time[fj] - x->time[fi], y = x->y[g][at], e = x->errors ? x->sigma[g][at] : against[g];
    const double model = lin[2 * g + 1] + lin[2 * g] * exp(-theta[0] * lag) * cos(theta[1] * (double)(g + 1) * lag);
    if (!isfinite(y))
        return;
    s->n += 1;
    s->data += y;
    s->model += model;
    s->z += (y - model) / e;
    s->variance += e * e;
}

static void near(double value, double right, double tolerance)
{
    if (isnan(right) ? !isnan(value) : !(fabs(value - right) <= tolerance))
        fail_msg("%.17g, should be %.17g", value, right);
}

static void check_map(const struct experiment *x, const struct fit_maps *m, size_t g, size_t a, size_t b)
{
    const size_t at = (g * m->n + a) * m->n + b, mirror = (g * m->n + b) * m->n + a;
    struct sums s = {0};
    for (size_t i = a * m->bin; i < (a + 1) * m->bin && i < x->nframe; i++)
        for (size_t j = b * m->bin; j < (b + 1) * m->bin && j < x->nframe; j++)
            if (j > i)
                add_pair(x, g, i, j, &s);
    assert_int_equal(m->mask[at], s.n > 0);
    near(m->c2[at], s.n > 0 ? s.data / s.n : NAN, 2e-7);
    near(m->model[at], s.n > 0 ? s.model / s.n : NAN, 2e-7);
    near(m->residual[at], s.n > 0 ? s.z / s.n : NAN, 1e-5);
    assert_int_equal(memcmp(&m->c2[at], &m->c2[mirror], sizeof(float)), 0);
    assert_int_equal(m->mask[at], m->mask[mirror]);
}

static void check_cuts(const struct experiment *x, const struct fit_maps *m, size_t g)
{
    struct sums *s = calloc(FIT_MAPS_AGES * m->nlag, sizeof *s), *at;
    size_t count = 0;
    for (size_t i = 0; i < x->nframe; i++)
        for (size_t j = i + 1; j < x->nframe; j++) {
            const size_t sum = x->frame[i] + x->frame[j], age = sum * FIT_MAPS_AGES / (2 * x->ntime);
            add_pair(x, g, i, j, &s[age * m->nlag + x->frame[j] - x->frame[i] - 1]);
        }
    for (size_t k = 0; k < FIT_MAPS_AGES * m->nlag; k++) {
        const size_t to = g * FIT_MAPS_AGES * m->nlag + k;
        at = &s[k];
        count += (size_t)at->n;
        near(m->g2[to], at->n > 0 ? at->data / at->n : NAN, 1e-12);
        near(m->g2_model[to], at->n > 0 ? at->model / at->n : NAN, 1e-12);
        near(m->g2_error[to], at->n > 0 ? sqrt(at->variance) / at->n : NAN, 1e-12);
    }
    assert_int_equal(m->npoint[g], count);
    free(s);
}

static void check(struct experiment x, size_t bin)
{
    struct fit_maps *m = maps_of(&x, 2);
    assert_int_equal(m->bin, bin);
    for (size_t g = 0; g < GROUPS; g++) {
        for (size_t a = 0; a < m->n; a += 1 + bin / 2 * 7)
            for (size_t b = a; b < m->n; b++)
                check_map(&x, m, g, a, b);
        check_cuts(&x, m, g);
    }
    fit_maps_free(m);
    discard(&x);
}

static void test_averages_are_those_of_the_pairs(void **state)
{
    (void)state;
    check(make(90, 0, 0, 0), 1);
    check(make(530, 0, 0, 0), 2);
}

static void test_gaps_errors_and_missing_values(void **state)
{
    (void)state;
    check(make(97, 7, 0, 0), 1);
    check(make(97, 7, 0, 13), 1);
    check(make(97, 0, 1, 13), 1);
    check(make(520, 9, 1, 101), 2);
}

static void test_same_bits_for_any_number_of_threads(void **state)
{
    static const int threads[] = {1, 2, 3, 7};
    struct experiment x = make(530, 11, 0, 211);
    struct fit_maps *first = maps_of(&x, 1);
    const size_t square = first->n * first->n * GROUPS, cuts = GROUPS * FIT_MAPS_AGES * first->nlag;
    (void)state;
    for (size_t k = 0; k < sizeof threads / sizeof *threads; k++) {
        struct fit_maps *m = maps_of(&x, threads[k]);
        assert_int_equal(memcmp(m->c2, first->c2, square * sizeof *m->c2), 0);
        assert_int_equal(memcmp(m->residual, first->residual, square * sizeof *m->residual), 0);
        assert_int_equal(memcmp(m->g2, first->g2, cuts * sizeof *m->g2), 0);
        assert_int_equal(memcmp(m->g2_error, first->g2_error, cuts * sizeof *m->g2_error), 0);
        assert_int_equal(memcmp(m->chi2, first->chi2, GROUPS * sizeof *m->chi2), 0);
        assert_true(m->nrmse == first->nrmse);
        fit_maps_free(m);
    }
    fit_maps_free(first);
    discard(&x);
}

/* The noise of rows from their second differences: in units of the errors, and with values that are missing. */
static void test_noise_of_rows_passes_over_missing_values(void **state)
{
    enum { N = 3000 };
    static double t[N], y[N], sigma[N];
    const struct fit_kernel none = {.space = FIT_ROWS};
    uint64_t seed = 3;
    (void)state;
    for (size_t missing = 0; missing <= 5; missing += 5) {
        for (size_t k = 0; k < N; k++) {
            t[k] = 0.01 * (double)k;
            sigma[k] = 0.1 + 0.05 * (double)(k % 2);
            y[k] = missing && k % missing == 0 ? NAN : 2 + t[k] + sigma[k] * mock_noise(&seed);
        }
        struct fit_dataset *ds = mock_rows(N, t, y, sigma, 0);
        assert_non_null(ds);
        const struct fit_objective obj = {.kernel = &none, .ds = ds, .ngroup = 1, .npoint = ds->npoint};
        double variance;
        struct fit_error err = {0};
        assert_int_equal(fit_start_noises(&obj, &variance, &err), FIT_OK);
        assert_true(fabs(variance - 1) < 0.2); /* of 1200 differences or more: five times its error */
        fit_dataset_free(ds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_averages_are_those_of_the_pairs),
        cmocka_unit_test(test_gaps_errors_and_missing_values),
        cmocka_unit_test(test_noise_of_rows_passes_over_missing_values),
        cmocka_unit_test(test_same_bits_for_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
