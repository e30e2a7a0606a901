/* test_study.c -- profile likelihoods, bootstraps, single groups of a dataset.
 *
 * A linear parameter with all others held has a paraboloid for a profile, so its intervals are the quantiles times
 * the standard error.  Errors of a bootstrap of n replicates scatter by 1 / sqrt(2 n): 200 replicates, 4 of those.
 */
#include "fit/bootstrap.h"
#include "fit/fit.h"
#include "leastsquares/fit_types.h"
#include "errors/likelihood.h"
#include "math/rng.h"
#include "math/special.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NT = 48, NG = 3, NP = 7, REPLICATES = 200 };
static const double phi[NG] = {-4, 40, 95}, SIGMA = 0.004;
static const double truth[NP] = {30000, -0.2, 100, 0.005, -0.3, 0.0006, -3};
static const unsigned char most[NP] = {0, 1, 1, 0, 1, 1, 0}, all[NP] = {1, 1, 1, 1, 1, 1, 1};

/* Independent noise, and noise that frames share. */
static struct fit_dataset *data(const struct fit_kernel *k, double own, double shared)
{
    struct fit_error err = {0};
    struct fit_dataset *ds =
        e2e_dataset(k, &(struct e2e_grid){.ntime = NT, .dt = 0.05, .q = 0.0054, .gap = 2e6, .nphi = NG, .phi = phi});
    const double lin[2 * NG] = {0.3, 1, 0.28, 1.01, 0.31, 0.99};
    double matrix[NT * NT] = {0}, frame[NT];
    struct e2e_prepared p = e2e_prepare(k, &ds->layout, truth);
    struct fit_rng rng = {.seed = 23, .purpose = FIT_RNG_START};
    for (uint32_t g = 0; g < NG; g++) {
        fit_rng_next_normals(&rng, NT, frame);
        for (uint32_t i = 0; i < NT; i++)
            for (uint32_t j = i + 1; j < NT; j++) {
                double z;
                k->points(&ds->layout, p.ws, lin, &(struct fit_points){1, &i, &j, &g}, &matrix[i * NT + j], NULL);
                fit_rng_next_normals(&rng, 1, &z);
                matrix[i * NT + j] += own * z + shared * (frame[i] + frame[j]);
            }
        assert_int_equal(fit_dataset_put(ds, g, matrix, NULL, &err), FIT_OK);
    }
    assert_int_equal(fit_dataset_finish(ds, &err), FIT_OK);
    e2e_release(&p);
    return ds;
}

static struct fit_options options(const unsigned char *fixed)
{
    struct fit_options o;
    fit_options_default(&o);
    o.start = truth;
    o.start_only = 1;
    o.fixed = fixed;
    o.threads = 1;
    return o;
}

static struct fit_result run_fit(const struct fit_kernel *k, const struct fit_dataset *ds, const struct fit_options *o)
{
    struct fit_result r;
    struct fit_error err = {0};
    if (fit_run(k, ds, o, &r, &err) != FIT_OK)
        fail_msg("%s", err.message);
    return r;
}

/* ---- profiles ------------------------------------------------------------------------------------------------------
 */

static void test_quantiles_of_student(void **state)
{
    (void)state;
    /* tables: t(0.025; 3, 10, 100), t(0.25; 1) = 1, the normal distribution */
    assert_true(fabs(fit_student_quantile(0.025, 3) - 3.182446305284263) < 1e-9);
    assert_true(fabs(fit_student_quantile(0.025, 10) - 2.228138851964939) < 1e-10);
    assert_true(fabs(fit_student_quantile(0.025, 100) - 1.983971518523553) < 1e-10);
    assert_true(fabs(fit_student_quantile(0.25, 1) - 1) < 1e-9);
    assert_true(fabs(fit_student_quantile(0.025, INFINITY) - 1.959963984540054) < 1e-12);
}

static void test_profile_of_a_linear_parameter_is_a_parabola(void **state)
{
    (void)state;
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    struct fit_dataset *ds = data(k, SIGMA, 0);
    struct fit_options o = options(all);
    const size_t which[] = {NP + 2};
    o.likelihood = which;
    o.nlikelihood = 1;
    struct fit_result r = run_fit(k, ds, &o);
    const struct fit_likelihood *l = &r.likelihood[0];
    double dof = (double)(r.npoint - r.nfree), std = r.std[which[0]], best = r.lin[2];
    const double t[] = {fit_student_quantile(0.16, dof), fit_student_quantile(0.025, dof)};
    for (int i = 0; i < 2; i++) { /* ends are found to 2e-3 of the root */
        assert_true(fabs((best - l->lower[i]) / std - t[i]) < 3e-3);
        assert_true(fabs((l->upper[i] - best) / std - t[i]) < 3e-3);
        assert_true(!l->open_lower[i] && !l->open_upper[i]);
    }
    for (size_t n = 0; n < l->n; n++) {
        double z = (l->value[n] - best) / std;
        assert_true(fabs(l->rise[n] - z * z) <= 1e-6 * (1 + z * z));
        assert_true(n == 0 || l->value[n] > l->value[n - 1]);
    }
    fit_result_free(&r);
    fit_dataset_free(ds);
}

static void test_profiles_at_bounds_say_so(void **state)
{
    (void)state;
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    struct fit_dataset *ds = data(k, SIGMA, 0);
    struct fit_options o = options(most);
    const size_t which[] = {0};
    double lower[NP], upper[NP];
    for (size_t p = 0; p < NP; p++)
        lower[p] = upper[p] = NAN;
    o.likelihood = which;
    o.nlikelihood = 1;
    o.lower = lower;
    o.upper = upper;
    struct fit_result r = run_fit(k, ds, &o);
    double best = r.theta[0], std = r.std[0], high = r.likelihood[0].upper[1];
    assert_true(fabs((high - best) / std - 1.96) < 0.1); /* nearly a parabola */
    fit_result_free(&r);

    upper[0] = best + 1.5 * std; /* between the ends of 68 and 95 % */
    r = run_fit(k, ds, &o);
    assert_true(!r.likelihood[0].open_upper[0] && r.likelihood[0].open_upper[1] && !r.likelihood[0].open_lower[1]);
    assert_true(r.likelihood[0].upper[1] == upper[0]); /* exactly: the bound itself */
    assert_non_null(strstr(r.likelihood[0].text, "no upper limit from the data"));
    fit_result_free(&r);

    upper[0] = best - std; /* the minimum lies outside */
    r = run_fit(k, ds, &o);
    assert_int_equal(r.at_bound[0], 1);
    assert_int_equal(r.likelihood[0].one_sided, 1);
    assert_true(r.likelihood[0].upper[1] == upper[0] && r.likelihood[0].lower[1] < upper[0]);
    /* (z + 1)^2 - 1 = 1.645^2 on the parabola */
    assert_true(fabs((upper[0] - r.likelihood[0].lower[1]) / std - (sqrt(1 + 1.6449 * 1.6449) - 1)) < 0.05);
    assert_non_null(strstr(r.likelihood[0].text, "the best value is the upper bound"));
    fit_result_free(&r);
    fit_dataset_free(ds);
}

/* At a bound there is no standard error; the curvature of the parameter itself says how far away to look first: the
 * roots of the rise are evenly spread, no matter how large values of the parameter are. */
static void test_first_steps_from_a_bound_follow_the_curvature(void **state)
{
    (void)state;
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    struct fit_dataset *ds = data(k, SIGMA, 0);
    struct fit_options o = options(most);
    struct fit_result free_one = run_fit(k, ds, &o);
    for (size_t e = 0; e < NP; e++) {
        double upper[NP];
        if (most[e])
            continue;
        for (size_t p = 0; p < NP; p++)
            upper[p] = p == e ? free_one.theta[e] - free_one.std[e] : NAN;
        o.likelihood = &e;
        o.nlikelihood = 1;
        o.upper = upper;
        struct fit_result r = run_fit(k, ds, &o);
        const struct fit_likelihood *l = &r.likelihood[0];
        assert_true(isnan(r.std[e]) && r.at_bound[e] == 1 && l->value[l->n - 1] == upper[e]);
        assert_in_range(l->n, 4, 9);
        for (size_t n = 0; n + 1 < l->n; n++) {
            const double gap = sqrt(l->rise[n]) - sqrt(l->rise[n + 1]);
            assert_true(gap > 0.15 && gap < 1.1);
        }
        fit_result_free(&r);
    }
    fit_result_free(&free_one);
    fit_dataset_free(ds);
}

/* ---- bootstraps ----------------------------------------------------------------------------------------------------
 */

static struct fit_bootstrap bootstrap(const struct fit_kernel *k, const struct fit_dataset *ds,
                                      const struct fit_options *o, const struct fit_result *r,
                                      enum fit_bootstrap_kind kind, int threads)
{
    struct fit_bootstrap b;
    struct fit_error err = {0};
    struct fit_bootstrap_spec spec = {
        .kind = kind, .n = REPLICATES, .seed = 5, .length = 1, .threads = threads, .most_mb = 100};
    if (fit_bootstrap(k, ds, o, r, &spec, &b, &err) != FIT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(b.good, REPLICATES);
    return b;
}

static void within(double value, double low, double high)
{
    if (!(value > low && value < high))
        fail_msg("%g is not between %g and %g", value, low, high);
}

static void test_parametric_errors_are_the_usual_ones_for_independent_noise(void **state)
{
    (void)state;
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    struct fit_dataset *ds = data(k, SIGMA, 0);
    struct fit_options o = options(most);
    struct fit_result r = run_fit(k, ds, &o);
    struct fit_bootstrap b = bootstrap(k, ds, &o, &r, FIT_BOOTSTRAP_PARAMETRIC, 1);
    for (size_t e = 0; e < r.nfull; e++) {
        if (e < NP && most[e]) {
            assert_true(isnan(b.std[e]));
            continue;
        }
        within(b.std[e] / r.std[e], 0.8, 1.2);
        within((b.mean[e] - (e < NP ? r.theta[e] : r.lin[e - NP])) / r.std[e], -0.3, 0.3);
        within((b.quantile[4 * e + 3] - b.quantile[4 * e]) / r.std[e], 3, 5);
    }
    fit_bootstrap_free(&b);
    fit_result_free(&r);
    fit_dataset_free(ds);
}

/* The sums of clusters without the second sum of sandwich.h: the variance is that of the robust errors and, once more,
 * that of single pairs. */
static void test_block_errors_allow_for_noise_of_frames(void **state)
{
    (void)state;
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    for (int shared = 0; shared < 2; shared++) {
        struct fit_dataset *ds = data(k, SIGMA, shared ? SIGMA : 0);
        struct fit_options o = options(most);
        o.cluster_length = 1;
        struct fit_result r = run_fit(k, ds, &o);
        struct fit_bootstrap b = bootstrap(k, ds, &o, &r, FIT_BOOTSTRAP_BLOCK, 1);
        double ratio = 0, wider = 0;
        for (size_t e = NP; e < r.nfull; e++) {
            ratio += b.std[e] / hypot(r.std_robust[e], r.std[e]) / (double)(r.nfull - NP);
            wider += b.std[e] / r.std[e] / (double)(r.nfull - NP);
        }
        within(ratio, 0.8, 1.2);
        within(wider, shared ? 1.8 : 1.1, shared ? 10 : 1.8);
        fit_bootstrap_free(&b);
        fit_result_free(&r);
        fit_dataset_free(ds);
    }
}

static void test_bootstraps_have_the_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    struct fit_dataset *ds = data(k, SIGMA, 0);
    struct fit_options o = options(most);
    struct fit_result r = run_fit(k, ds, &o);
    for (enum fit_bootstrap_kind kind = FIT_BOOTSTRAP_PARAMETRIC; kind <= FIT_BOOTSTRAP_BLOCK; kind++) {
        struct fit_bootstrap one = bootstrap(k, ds, &o, &r, kind, 1), three = bootstrap(k, ds, &o, &r, kind, 3);
        assert_memory_equal(one.draw, three.draw, REPLICATES * r.nfull * sizeof *one.draw);
        fit_bootstrap_free(&one);
        fit_bootstrap_free(&three);
    }
    fit_result_free(&r);
    fit_dataset_free(ds);
}

/* ---- single groups --------------------------------------------------------------------------------------------------
 */

static void test_a_group_alone_has_its_values(void **state)
{
    (void)state;
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    struct fit_dataset *ds = data(k, SIGMA, 0), *one;
    struct fit_error err = {0};
    assert_int_equal(fit_dataset_group(ds, 1, &one, &err), FIT_OK);
    assert_int_equal(one->layout.ngroup, 1);
    assert_true(one->layout.coord[0][0] == phi[1]);
    assert_int_equal(one->npoint, ds->npoint_group[1]);
    double a[3] = {0}, b[3] = {0};
    for (size_t t = 0; t < ds->ntile; t++)
        for (size_t c = 0; c < 3; c++)
            a[c] += ds->tile[t].sum[3 + c];
    for (size_t t = 0; t < one->ntile; t++)
        for (size_t c = 0; c < 3; c++)
            b[c] += one->tile[t].sum[c];
    assert_true(a[0] == b[0] && fabs(a[1] - b[1]) < 1e-10 && fabs(a[2] - b[2]) < 1e-10); /* other order of sums */
    fit_dataset_free(one);
    fit_dataset_free(ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantiles_of_student),
        cmocka_unit_test(test_profile_of_a_linear_parameter_is_a_parabola),
        cmocka_unit_test(test_profiles_at_bounds_say_so),
        cmocka_unit_test(test_first_steps_from_a_bound_follow_the_curvature),
        cmocka_unit_test(test_parametric_errors_are_the_usual_ones_for_independent_noise),
        cmocka_unit_test(test_block_errors_allow_for_noise_of_frames),
        cmocka_unit_test(test_bootstraps_have_the_same_bits_for_any_number_of_threads),
        cmocka_unit_test(test_a_group_alone_has_its_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
