/* test_polish.c -- the last digits of fits of tables, against Newton's method in long double. */
#include "fit/fit.h"
#include "leastsquares/fit_types.h"
#include "leastsquares/qr_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "mock_kernels.h"

enum { ROWS = 50, HIDDEN = 17 };
static double row_t[ROWS], row_y[ROWS], row_sigma[ROWS];

/* A slow decay seen over a fifth of its time: a and b are nearly opposite.  One row does not count.
 */
static struct fit_dataset *slow_decay(double noise, int center)
{
    uint64_t state = 5;
    for (size_t i = 0; i < ROWS; i++) {
        row_t[i] = 0.01 * (double)i;
        row_y[i] = 0.5 + 2 * exp(-0.4 * row_t[i]) + noise * mock_noise(&state);
        row_sigma[i] = 1e-3 * (1 + 0.5 * sin((double)i));
    }
    row_y[HIDDEN] = NAN;
    return mock_rows(ROWS, row_t, row_y, row_sigma, center);
}

static struct fit_result run(const struct fit_kernel *k, const struct fit_dataset *ds,
                             const struct fit_options *o)
{
    struct fit_result r;
    struct fit_error err = {0};
    enum fit_status st = fit_run(k, ds, o, &r, &err);
    if (st != FIT_OK)
        print_message("%s\n", err.message);
    assert_int_equal(st, FIT_OK);
    return r;
}

static struct fit_options defaults(void)
{
    struct fit_options o;
    fit_options_default(&o);
    o.threads = 1;
    return o;
}

/* Solves the 3 x 3 system by elimination with exchange of rows. */
static void solve3(long double m[3][4])
{
    for (int c = 0; c < 3; c++) {
        int top = c;
        for (int r = c + 1; r < 3; r++)
            top = fabsl(m[r][c]) > fabsl(m[top][c]) ? r : top;
        for (int k = 0; k < 4; k++) {
            long double t = m[c][k];
            m[c][k] = m[top][k];
            m[top][k] = t;
        }
        for (int r = 0; r < 3; r++) {
            long double f = r == c ? 0 : m[r][c] / m[c][c];
            for (int k = c; k < 4; k++)
                m[r][k] -= f * m[c][k];
        }
    }
    for (int c = 0; c < 3; c++)
        m[c][3] /= m[c][c];
}

/* J^T J and J^T r of a exp(-k t) + b at x = (a, b, k). */
static void normal_equations(const long double *x, long double jj[3][3], long double *jr)
{
    memset(jj, 0, 9 * sizeof **jj);
    memset(jr, 0, 3 * sizeof *jr);
    for (size_t i = 0; i < ROWS; i++) {
        long double s = row_sigma[i], t = row_t[i], e = expl(-x[2] * t);
        long double j[3] = {e / s, 1 / s, -t * x[0] * e / s}, r = (row_y[i] - x[0] * e - x[1]) / s;
        for (int p = 0; i != HIDDEN && p < 3; p++) {
            jr[p] += j[p] * r;
            for (int q = 0; q < 3; q++)
                jj[p][q] += j[p] * j[q];
        }
    }
}

/* The minimum and the variances of (a, b, k) in long double, from x nearby. */
static void reference(long double *x, long double *variance)
{
    long double jj[3][3], jr[3], m[3][4];
    for (int turn = 0; turn < 30; turn++) {
        normal_equations(x, jj, jr);
        for (int p = 0; p < 3; p++) {
            for (int q = 0; q < 3; q++)
                m[p][q] = jj[p][q];
            m[p][3] = jr[p];
        }
        solve3(m);
        for (int p = 0; p < 3; p++)
            x[p] += m[p][3];
    }
    for (int c = 0; c < 3; c++) {
        for (int p = 0; p < 3; p++) {
            for (int q = 0; q < 3; q++)
                m[p][q] = jj[p][q];
            m[p][3] = p == c;
        }
        solve3(m);
        variance[c] = m[c][3];
    }
}

static double relative(double a, long double b)
{
    return (double)fabsl((a - b) / b);
}

/* valgrind computes long double with the 53 bits of double, which is no reference: skipped, and told. */
static void want_long_double(void)
{
    volatile long double one = 1, small = 0x1p-60L;
    if (one + small > one)
        return;
    print_message("skipped: long double has no more digits than double here\n");
    skip();
}

static void test_values_and_errors_agree_with_long_double(void **s)
{
    struct fit_options o = defaults();
    want_long_double();
    (void)s;
    struct fit_dataset *ds = slow_decay(1e-3, 1);
    struct fit_result r = run(&decay, ds, &o);
    long double x[3] = {r.lin[0], r.lin[1], r.theta[0]}, variance[3];
    reference(x, variance);
    assert_int_equal(r.status, FIT_CONVERGED_GRADIENT);
    assert_true(r.gradient < 1e-10);
    assert_true(relative(r.theta[0], x[2]) < 1e-12);
    assert_true(relative(r.lin[0], x[0]) < 1e-12 && relative(r.lin[1], x[1]) < 1e-12);
    assert_true(relative(r.std[0], sqrtl(variance[2])) < 1e-11);
    assert_true(relative(r.std[1], sqrtl(variance[0])) < 1e-11);
    assert_true(relative(r.std[2], sqrtl(variance[1])) < 1e-11);
    assert_true(r.correlation[1 * 3 + 2] < -0.9999);
    assert_true(relative(r.sigma[0], sqrtl(r.chi2 / (ROWS - 1 - 3))) < 1e-12);
    fit_result_free(&r);
    fit_dataset_free(ds);
    /* without elimination, three nonlinear parameters */
    ds = slow_decay(1e-3, 0);
    r = run(&plain, ds, &o);
    for (int k = 0; k < 3; k++) {
        assert_true(relative(r.theta[k], x[k]) < 1e-12);
        assert_true(relative(r.std[k], sqrtl(variance[k])) < 1e-11);
    }
    assert_int_equal(r.neigen, 3);
    assert_true(r.eigenvalue[0] < 1e-5 && r.eigenvalue[0] > 0 && r.eigenvalue[2] > 1);
    fit_result_free(&r);
    fit_dataset_free(ds);
}

static void test_exact_data_are_not_called_a_failure(void **s)
{
    struct fit_options o = defaults();
    (void)s;
    struct fit_dataset *ds = slow_decay(0, 1);
    struct fit_result r = run(&decay, ds, &o);
    assert_true(r.converged);
    assert_true(relative(r.theta[0], 0.4L) < 1e-11);
    fit_result_free(&r);
    fit_dataset_free(ds);
}

static void test_a_parameter_on_its_bound_is_held(void **s)
{
    struct fit_options o = defaults();
    double upper = 0.3;
    want_long_double();
    (void)s;
    struct fit_dataset *ds = slow_decay(1e-4, 1);
    o.upper = &upper;
    struct fit_result r = run(&decay, ds, &o);
    long double m[3][4] = {{0}}; /* (a, b) at k = 0.3; the third row stands alone */
    m[2][2] = 1;
    for (size_t i = 0; i < ROWS; i++) {
        long double w = 1 / ((long double)row_sigma[i] * row_sigma[i]);
        long double j[2] = {expl(-0.3 * (long double)row_t[i]), 1};
        for (int p = 0; i != HIDDEN && p < 2; p++) {
            m[p][0] += w * j[p] * j[0];
            m[p][1] += w * j[p] * j[1];
            m[p][3] += w * j[p] * row_y[i];
        }
    }
    solve3(m);
    assert_int_equal(r.status, FIT_AT_BOUND);
    assert_true(r.theta[0] == upper && r.at_bound[0] == 1 && isnan(r.std[0]));
    assert_true(relative(r.lin[0], m[0][3]) < 1e-12 && relative(r.lin[1], m[1][3]) < 1e-12);
    /* with k off its bound again a reaches further than with k held there */
    assert_true(isnan(r.covariance[1]) && r.std_curvature[1] > 0 && isnan(r.std[1]) && r.interval[1].known);
    assert_true(r.interval[1].upper[1] - r.interval[1].lower[1] > 4 * 1.96 * r.std_curvature[1]);
    fit_result_free(&r);
    fit_dataset_free(ds);
}

/* a exp(-(k + l) t) + b: only the sum of two rates enters. */
static const struct fit_param sum_param[] = {
    {.name = "k", .unit = "1/s", .start = 1, .lower = 1e-3, .upper = 100, .over = -1},
    {.name = "l", .unit = "1/s", .start = 1, .lower = 1e-3, .upper = 100, .over = -1}};
#define sum_linear decay_linear

static int sum_eval(const struct fit_layout *l, const double *th, size_t i, size_t j, size_t g,
                    double *b, double *rest, double *db, double *drest)
{
    double k = th[0] + th[1], d[2], dr[1];
    int r = decay_eval(l, &k, i, j, g, b, rest, d, dr);
    if (i != SIZE_MAX) {
        db[0] = db[1] = d[0];
        db[2] = db[3] = drest[0] = drest[1] = 0;
    }
    return r;
}
MOCK_KERNEL(sum, FIT_ROWS, 2, 2, 1);

static void test_dependent_parameters_stay_undetermined(void **s)
{
    struct fit_options o = defaults();
    (void)s;
    struct fit_dataset *ds = slow_decay(1e-4, 1);
    struct fit_result r = run(&sum, ds, &o);
    assert_true(r.converged);
    assert_int_equal(r.nnull, 1);
    assert_true(isnan(r.std[0]) && isnan(r.std[1]) && r.std[2] > 0 && r.std[3] > 0);
    fit_result_free(&r);
    fit_dataset_free(ds);
}

static void test_pairs_are_left_to_the_sums(void **s)
{
    double one[] = {0.3, 0.3}, level[] = {1, 1}, sigma[] = {0.01, 0.01};
    struct mock_pairs m = {20, 2, 0.05, 1.5, 2, one, level, sigma, 1, 3};
    struct fit_dataset *ds = mock_pairs(&m);
    struct fit_objective_setup setup = {.threads = 1};
    struct fit_objective *obj = NULL;
    struct fit_error err = {0};
    (void)s;
    assert_int_equal(fit_objective_new(&fringe, ds, &setup, &obj, &err), FIT_OK);
    assert_false(fit_polish_suits(obj));
    fit_objective_free(obj);
    fit_dataset_free(ds);
}

static void test_the_given_start_is_told_with_its_cost(void **s)
{
    struct fit_options o = defaults();
    double start = 0.9;
    size_t own = 0;
    (void)s;
    struct fit_dataset *ds = slow_decay(1e-3, 1);
    o.start = &start;
    struct fit_result r = run(&decay, ds, &o);
    assert_string_equal(r.start_origin, "given");
    assert_true(r.start[0] == start);
    while (own < r.nstart && strcmp(r.starts[own].origin, "given") != 0)
        own++;
    assert_true(own < r.nstart && r.starts[own].full);
    assert_true(r.starts[own].theta[0] == start);
    assert_true(r.starts[own].cost_start > r.cost);
    fit_result_free(&r);
    fit_dataset_free(ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_and_errors_agree_with_long_double),
        cmocka_unit_test(test_exact_data_are_not_called_a_failure),
        cmocka_unit_test(test_a_parameter_on_its_bound_is_held),
        cmocka_unit_test(test_dependent_parameters_stay_undetermined),
        cmocka_unit_test(test_pairs_are_left_to_the_sums),
        cmocka_unit_test(test_the_given_start_is_told_with_its_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
