/* test_fit.c -- whole fits of small models: values, errors, words about the end, starts, noise,
 * losses. */
#include "leastsquares/fit_types.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "fit/fit.h"
#include "math/linalg.h"
#include "mock_kernels.h"

enum { ROWS = 60 };
static double row_t[ROWS], row_y[ROWS];

static struct fit_dataset *decay_rows(double noise, double outlier)
{
    uint64_t state = 11;
    for (size_t i = 0; i < ROWS; i++) {
        row_t[i] = 0.05 * (double)i;
        row_y[i] = 0.5 + 2 * exp(-1.3 * row_t[i]) + noise * mock_noise(&state) +
                   (i % 7 == 3 ? outlier : 0);
    }
    return mock_rows(ROWS, row_t, row_y, NULL, 1);
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

static double relative(double a, double b)
{
    return fabs(a - b) / fmax(fabs(b), 1e-300);
}

/* The full covariance of (k, a, b) by inverting the 3 x 3 matrix J^T J. */
static void decay_covariance(double a, double k, double s2, double cov[9])
{
    double JJ[9] = {0};
    for (size_t i = 0; i < ROWS; i++) {
        double e = exp(-k * row_t[i]), j[3] = {-a * row_t[i] * e, e, 1};
        for (size_t p = 0; p < 9; p++)
            JJ[p] += j[p / 3] * j[p % 3];
    }
    assert_int_equal(fit_cholesky(3, JJ, 0), 0);
    for (size_t c = 0; c < 3; c++) {
        double x[3] = {0};
        x[c] = s2;
        fit_cholesky_solve(3, JJ, x);
        for (size_t r = 0; r < 3; r++)
            cov[r * 3 + c] = x[r];
    }
}

static void test_eliminated_and_plain_form_agree_in_values_errors_and_correlations(void **s)
{
    struct fit_options o = defaults();
    (void)s;
    struct fit_dataset *ds = decay_rows(0.05, 0),
                       *plain_ds = mock_rows(ROWS, row_t, row_y, NULL, 0);
    struct fit_result r = run(&decay, ds, &o), q = run(&plain, plain_ds, &o);
    double cov[9];
    assert_true(r.converged && q.converged);
    assert_int_equal(r.status, FIT_CONVERGED_GRADIENT);
    assert_int_equal(r.nfull, 3);
    assert_int_equal(r.nfree, 3);
    assert_true(fabs(r.theta[0] - 1.3) < 4 * r.std[0]);
    decay_covariance(r.lin[0], r.theta[0], r.residual_variance, cov);
    for (size_t i = 0; i < 9; i++)
        assert_true(fabs(r.covariance[i] - cov[i]) < 1e-9 * sqrt(cov[i / 3 * 4] * cov[i % 3 * 4]));
    /* plain: (a, b, k) */
    assert_true(fabs(q.theta[2] - r.theta[0]) < 1e-5 * r.std[0]);
    assert_true(fabs(q.theta[0] - r.lin[0]) < 1e-5 * r.std[1]);
    assert_true(fabs(q.theta[1] - r.lin[1]) < 1e-5 * r.std[2]);
    assert_true(relative(q.std[2], r.std[0]) < 1e-6 && relative(q.std[1], r.std[2]) < 1e-6);
    assert_true(fabs(q.correlation[2 * 3 + 1] - r.correlation[2]) < 1e-6);
    assert_true(relative(q.chi2, r.chi2) < 1e-11);
    assert_true(relative(r.residual_variance, r.chi2 / (ROWS - 3)) < 1e-15);
    assert_true(relative(r.sigma[0], sqrt(r.residual_variance)) < 1e-12);
    fit_result_free(&r);
    fit_result_free(&q);
    fit_dataset_free(ds);
    fit_dataset_free(plain_ds);
}

static void test_weights_from_the_data_are_absolute(void **s)
{
    double sigma[ROWS];
    struct fit_options o = defaults();
    (void)s;
    fit_dataset_free(decay_rows(0.05, 0));
    for (size_t i = 0; i < ROWS; i++)
        sigma[i] = 0.1; /* twice the truth */
    struct fit_dataset *ds = mock_rows(ROWS, row_t, row_y, sigma, 1);
    struct fit_result r = run(&decay, ds, &o);
    double cov[9];
    decay_covariance(r.lin[0], r.theta[0], 0.01, cov);
    assert_int_equal(r.noise, FIT_NOISE_FILE);
    assert_true(r.against[0] == 1 && r.sigma[0] < 0.7);
    assert_true(relative(r.std[0], sqrt(cov[0])) < 1e-9);
    assert_true(r.residual_variance > 0.15 && r.residual_variance < 0.4);
    fit_result_free(&r);
    /* the same sigma given beside unweighted data */
    fit_dataset_free(ds);
    ds = mock_rows(ROWS, row_t, row_y, NULL, 1);
    double one = 0.1;
    o.sigma = &one;
    struct fit_result q = run(&decay, ds, &o);
    assert_int_equal(q.noise, FIT_NOISE_GIVEN);
    assert_true(q.against[0] == one);
    assert_true(relative(q.std[0], sqrt(cov[0])) < 1e-6);
    assert_true(q.residual_variance > 0.15 && q.residual_variance < 0.4);
    fit_result_free(&q);
    fit_dataset_free(ds);
}

static void test_straight_line_needs_no_iteration(void **s)
{
    struct fit_options o = defaults();
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    (void)s;
    struct fit_dataset *ds = decay_rows(0.05, 0);
    struct fit_result r = run(&line, ds, &o);
    for (size_t i = 0; i < ROWS; i++)
        sx += row_t[i], sy += row_y[i], sxx += row_t[i] * row_t[i], sxy += row_t[i] * row_y[i];
    double slope = (ROWS * sxy - sx * sy) / (ROWS * sxx - sx * sx);
    assert_true(r.converged);
    assert_int_equal(r.iterations, 0);
    assert_true(relative(r.lin[0], slope) < 1e-12);
    assert_true(relative(r.lin[1], (sy - slope * sx) / ROWS) < 1e-12);
    assert_true(relative(r.std[0], sqrt(r.residual_variance * ROWS / (ROWS * sxx - sx * sx))) < 1e-10);
    fit_result_free(&r);
    fit_dataset_free(ds);
}

static void test_fixed_parameters_keep_their_value_and_have_no_error(void **s)
{
    struct fit_options o = defaults();
    double start = 1.1, lin[2] = {2.2, NAN};
    unsigned char fixed = 1, linear_fixed[2] = {1, 0};
    (void)s;
    struct fit_dataset *ds = decay_rows(0.05, 0);
    o.start = &start;
    o.fixed = &fixed;
    o.linear_start = lin;
    o.linear_fixed = linear_fixed;
    struct fit_result r = run(&decay, ds, &o);
    assert_true(r.theta[0] == 1.1);
    assert_true(r.lin[0] == 2.2);
    assert_true(r.std[0] == 0 && r.std[1] == 0);
    assert_int_equal(r.nfree, 1);
    assert_true(relative(r.std[2], sqrt(r.residual_variance / ROWS)) < 1e-10);
    assert_true(r.correlation[1 * 3 + 2] == 0 && r.correlation[4] == 1);
    fit_result_free(&r);
    fit_dataset_free(ds);
}

static void test_bounds_are_met_exactly_and_reported(void **s)
{
    struct fit_options o = defaults();
    double upper = 1.0;
    (void)s;
    struct fit_dataset *ds = decay_rows(0.02, 0);
    o.upper = &upper;
    struct fit_result r = run(&decay, ds, &o);
    assert_int_equal(r.status, FIT_AT_BOUND);
    assert_true(r.converged);
    assert_true(r.theta[0] == 1.0);
    assert_int_equal(r.at_bound[0], 1);
    assert_true(isnan(r.std[0]));
    assert_true(r.std[1] > 0 && isfinite(r.std[1]));
    fit_result_free(&r);
    double upper_linear[2] = {1.5, NAN};
    o.upper = NULL;
    o.linear_upper = upper_linear;
    r = run(&decay, ds, &o);
    assert_int_equal(r.status, FIT_AT_BOUND);
    assert_true(r.lin[0] == 1.5);
    assert_int_equal(r.at_bound[1], 1);
    assert_true(isnan(r.std[1]) && isfinite(r.std[0]) && isfinite(r.std[2]));
    fit_result_free(&r);
    fit_dataset_free(ds);
}

static const double contrast[3] = {0.3, 0.25, 0.2}, offset[3] = {1.0, 1.04, 0.97};
static const double sigma_equal[3] = {0.02, 0.02, 0.02}, sigma_apart[3] = {0.02, 0.06, 0.02};

static struct fit_dataset *groups(size_t n, const double *sigma)
{
    struct mock_pairs m = {n, 3, 0.05, 1.5, 4, contrast, offset, sigma, 1, 23};
    return mock_pairs(&m);
}

static void test_pairs_recover_the_truth_within_errors(void **s)
{
    struct fit_options o = defaults();
    (void)s;
    struct fit_dataset *ds = groups(60, sigma_equal);
    struct fit_result r = run(&fringe, ds, &o);
    assert_true(r.converged);
    assert_true(fabs(r.theta[0] - 1.5) < 4 * r.std[0] && fabs(r.theta[1] - 4) < 4 * r.std_curvature[1]);
    assert_false(r.reweighted);
    for (size_t g = 0; g < 3; g++) {
        assert_true(fabs(r.lin[2 * g] - contrast[g]) < 4 * r.std[2 + 2 * g]);
        assert_true(fabs(r.lin[2 * g + 1] - offset[g]) < 4 * r.std[3 + 2 * g]);
        assert_true(fabs(r.sigma[g] / 0.02 - 1) < 0.08);
    }
    assert_int_equal(r.nnull, 0);
    assert_int_equal(r.neigen, 2);
    assert_true(fabs(r.eigenvalue[0] + r.eigenvalue[1] - 2) < 1e-12); /* unit diagonal */
    assert_true(r.gradient < 1e-6);
    fit_result_free(&r);
    fit_dataset_free(ds);
}

static void test_same_bits_for_any_number_of_threads(void **s)
{
    static const int threads[] = {1, 2, 3, 7};
    struct fit_options o = defaults();
    struct fit_result first = {0};
    struct fit_dataset *ds = groups(130, sigma_equal);
    (void)s;
    for (size_t t = 0; t < 4; t++) {
        o.threads = threads[t];
        struct fit_result r = run(&fringe, ds, &o);
        assert_int_equal(r.threads, threads[t]);
        if (t == 0) {
            first = r;
            continue;
        }
        assert_memory_equal(first.theta, r.theta, 2 * sizeof(double));
        assert_memory_equal(first.lin, r.lin, 6 * sizeof(double));
        assert_memory_equal(first.covariance, r.covariance, 64 * sizeof(double));
        assert_true(first.cost == r.cost && first.iterations == r.iterations);
        fit_result_free(&r);
    }
    fit_result_free(&first);
    fit_dataset_free(ds);
}

static void test_groups_with_unequal_noise_are_weighted(void **s)
{
    struct fit_options o = defaults();
    (void)s;
    struct fit_dataset *ds = groups(60, sigma_apart);
    struct fit_result r = run(&fringe, ds, &o);
    assert_true(r.reweighted && r.converged);
    assert_true(fabs(r.sigma[0] / 0.02 - 1) < 0.08 && fabs(r.sigma[1] / 0.06 - 1) < 0.08);
    o.sigma = sigma_apart;
    struct fit_result q = run(&fringe, ds, &o);
    assert_false(q.reweighted);
    assert_true(fabs(q.theta[1] - r.theta[1]) < 0.2 * r.std_curvature[1]);
    assert_true(fabs(q.std_curvature[1] / r.std_curvature[1] - 1) < 0.1);
    assert_true(fabs(q.residual_variance - 1) < 0.1);
    fit_result_free(&r);
    fit_result_free(&q);
    fit_dataset_free(ds);
}

static void test_averaged_and_constant_scaling(void **s)
{
    struct fit_options o = defaults();
    double lin[6] = {0.3, 1.0, 0.25, 1.04, 0.2, 0.97};
    (void)s;
    struct fit_dataset *ds = groups(60, sigma_equal);
    o.scaling = FIT_SCALING_AVERAGED;
    struct fit_result r = run(&fringe, ds, &o);
    assert_true(r.converged);
    assert_int_equal(r.nfree, 4);
    assert_true(r.lin[0] == r.lin[2] && r.lin[1] == r.lin[5]);
    assert_true(fabs(r.correlation[2 * 8 + 4] - 1) < 1e-12);
    assert_true(r.std[2] == r.std[4]);
    fit_result_free(&r);
    o.scaling = FIT_SCALING_CONSTANT;
    o.linear_start = lin;
    r = run(&fringe, ds, &o);
    assert_int_equal(r.nfree, 2);
    assert_true(r.lin[2] == 0.25);
    assert_true(fabs(r.theta[1] - 4) < 4 * r.std_curvature[1]);
    assert_true(r.std[2] == 0);
    fit_result_free(&r);
    o.linear_start = NULL; /* then: of one projection at the start */
    o.start = (double[]){1.5, 4};
    o.start_only = 1;
    r = run(&fringe, ds, &o);
    assert_true(r.converged && fabs(r.lin[0] - 0.3) < 0.01);
    fit_result_free(&r);
    fit_dataset_free(ds);
}

static void test_undetermined_parameters_get_no_error_and_the_others_do(void **s)
{
    struct fit_options o = defaults();
    (void)s;
    struct fit_dataset *ds = groups(50, sigma_equal);
    struct fit_result r = run(&twin, ds, &o), q = run(&fringe, ds, &o);
    assert_int_equal(r.nnull, 1);
    assert_true(isnan(r.std[0]) && isnan(r.std[1]));
    double count = sqrt(r.residual_variance / q.residual_variance); /* one more parameter is counted */
    assert_true(relative(r.std_curvature[2], q.std_curvature[1] * count) < 1e-5);
    assert_true(relative(r.std[3], q.std[2] * count) < 1e-5);
    assert_true(fabs(r.theta[0] + r.theta[1] - q.theta[0]) < 1e-4 * q.std[0]);
    assert_true(fabs(fabs(r.eigenvector[0]) - sqrt(0.5)) < 1e-6); /* D1 - D2 */
    assert_true(r.eigenvector[0] * r.eigenvector[1] < 0);
    assert_true(isnan(r.covariance[1]) && isnan(r.correlation[1]) && r.correlation[0] == 1);
    fit_result_free(&r);
    fit_result_free(&q);
    fit_dataset_free(ds);
}

static void test_a_far_start_is_replaced_by_one_from_the_data(void **s)
{
    struct fit_options o = defaults();
    double start[2] = {900, -45}; /* decayed before the second frame: no gradient in either */
    (void)s;
    struct fit_dataset *ds = groups(100, sigma_equal);
    o.start = start;
    struct fit_result r = run(&fringe, ds, &o);
    assert_true(fabs(r.theta[0] - 1.5) < 4 * r.std[0]);
    /* the sign is not determined: no error, and an interval on both sides of 0 */
    assert_true(fabs(fabs(r.theta[1]) - 4) < 4 * r.std_curvature[1]);
    assert_true(isnan(r.std[1]) && r.interval[1].known && r.interval[1].several);
    assert_int_equal(r.interval[1].part[1].n, 2);
    for (int k = 0; k < 2; k++) {
        double near = k ? 4 : -4, most = 4 * r.std_curvature[1];
        assert_true(fabs(r.interval[1].part[1].piece[k].lower - near) < 2 * most);
        assert_true(fabs(r.interval[1].part[1].piece[k].upper - near) < 2 * most);
    }
    assert_non_null(strstr(r.start_origin, "data-driven"));
    assert_true(r.nstart > 1);
    size_t given = 0;
    for (size_t k = 0; k < r.nstart; k++)
        given += strcmp(r.starts[k].origin, "given") == 0 && r.starts[k].theta[0] == 900;
    assert_int_equal(given, 1);
    fit_result_free(&r);
    o.start_only = 1;
    r = run(&fringe, ds, &o);
    assert_int_equal(r.nstart, 1);
    assert_string_equal(r.start_origin, "given");
    fit_result_free(&r);
    start[0] = 1.4, start[1] = 4.1;
    o.start_only = 0;
    r = run(&fringe, ds, &o);
    assert_string_equal(r.start_origin, "given");
    assert_true(r.start[0] == 1.4);
    fit_result_free(&r);
    fit_dataset_free(ds);
}

static void test_multi_start_follows_as_many_as_asked(void **s)
{
    struct fit_options o = defaults();
    (void)s;
    struct fit_dataset *ds = groups(40, sigma_equal);
    o.multi_start = 9;
    o.seed = 3;
    struct fit_result r = run(&fringe, ds, &o), q;
    assert_int_equal(r.nstart, 10);
    q = run(&fringe, ds, &o);
    assert_memory_equal(r.theta, q.theta, 2 * sizeof(double));
    for (size_t k = 0; k < r.nstart; k++)
        assert_true(r.starts[k].cost_final >= r.cost * (1 - 1e-9) || !r.starts[k].full);
    fit_result_free(&r);
    fit_result_free(&q);
    fit_dataset_free(ds);
}

/* Robust cost over (k, a, b), sigma known. */
static double robust_cost(const double *x, double sigma, double f)
{
    double c = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double r = (row_y[i] - x[1] * exp(-x[0] * row_t[i]) - x[2]) / (f * sigma);
        c += f * f * (sqrt(1 + r * r) - 1);
    }
    return c;
}

static void test_soft_l1_reaches_the_minimum_of_the_robust_cost(void **s)
{
    struct fit_options o = defaults();
    double sigma = 0.05;
    (void)s;
    struct fit_dataset *ds = decay_rows(0.05, 1.0);
    o.loss = FIT_LOSS_SOFT_L1;
    o.sigma = &sigma;
    struct fit_result r = run(&decay, ds, &o);
    double x[3] = {r.theta[0], r.lin[0], r.lin[1]}, at = robust_cost(x, sigma, 1);
    assert_true(r.converged);
    assert_true(relative(r.cost, at) < 1e-10);
    for (size_t k = 0; k < 3; k++) /* no way down from here, to 1e-8 of the cost */
        for (int sign = -1; sign <= 1; sign += 2)
            for (double h = 1e-4; h < 0.2; h *= 5) {
                double y[3] = {x[0], x[1], x[2]};
                y[k] += sign * h;
                assert_true(robust_cost(y, sigma, 1) > at * (1 - 1e-8));
            }
    o.loss = FIT_LOSS_LINEAR;
    struct fit_result l = run(&decay, ds, &o);
    assert_true(fabs(r.lin[1] - 0.5) <
                0.3 * fabs(l.lin[1] - 0.5)); /* outliers pull the offset up */
    assert_true(fabs(r.theta[0] - 1.3) < 5 * r.std[0] && fabs(r.lin[1] - 0.5) < 8 * r.std[2]);
    fit_result_free(&r);
    fit_result_free(&l);
    o.loss = FIT_LOSS_SOFT_L1;
    o.sigma = NULL; /* found by the median */
    r = run(&decay, ds, &o);
    assert_true(r.converged && r.sigma[0] > 0.03 && r.sigma[0] < 0.3);
    fit_result_free(&r);
    fit_dataset_free(ds);
}

static void test_soft_l1_of_clean_data_has_the_errors_of_least_squares(void **s)
{
    struct fit_options o = defaults();
    (void)s;
    struct fit_dataset *ds = groups(60, sigma_equal);
    struct fit_result l = run(&fringe, ds, &o);
    o.loss = FIT_LOSS_SOFT_L1;
    o.f_scale = 10; /* hardly bends */
    struct fit_result r = run(&fringe, ds, &o);
    assert_true(fabs(r.theta[0] - l.theta[0]) < 0.1 * l.std[0]);
    assert_true(fabs(r.std[0] / l.std[0] - 1) < 0.02 && fabs(r.std[3] / l.std[3] - 1) < 0.02);
    assert_true(relative(r.residual_variance, l.residual_variance) < 0.01);
    fit_result_free(&r);
    fit_result_free(&l);
    fit_dataset_free(ds);
}

/* With all others held there is no step that would take the linear parameters along. */
static void test_a_robust_loss_of_linear_parameters_alone(void **s)
{
    static const unsigned char held[1] = {1};
    const double k = 1.3, sigma = 0.05;
    struct fit_options o = defaults();
    (void)s;
    struct fit_dataset *ds = decay_rows(0.05, 1.0);
    o.loss = FIT_LOSS_SOFT_L1;
    o.sigma = &sigma;
    o.start = &k;
    o.fixed = held;
    struct fit_result r = run(&decay, ds, &o);
    const double x[3] = {k, r.lin[0], r.lin[1]}, at = robust_cost(x, sigma, 1);
    assert_true(r.converged && relative(r.cost, at) < 1e-12);
    for (size_t j = 1; j < 3; j++) { /* the vertex of the parabola through three costs */
        const double h = 1e-3;
        double up[3] = {x[0], x[1], x[2]}, down[3] = {x[0], x[1], x[2]};
        up[j] += h;
        down[j] -= h;
        const double a = robust_cost(up, sigma, 1), b = robust_cost(down, sigma, 1);
        assert_true(fabs(0.5 * h * (b - a) / (a + b - 2 * at)) < 1e-4 * r.std[j]);
    }
    fit_result_free(&r);
    fit_dataset_free(ds);
}

/* Many clean data, and few of which some are wrong: one pass for every step, and few steps. */
static void test_a_robust_loss_takes_few_passes_more(void **s)
{
    static const size_t most[2] = {11, 22};
    (void)s;
    for (int few = 0; few < 2; few++) {
        const struct fit_kernel *k = few ? &decay : &fringe;
        struct fit_dataset *ds = few ? decay_rows(0.05, 1.0) : groups(150, sigma_equal);
        struct fit_options o = defaults();
        o.brief = 1;
        o.gtol = 1e-8;
        struct fit_result linear = run(k, ds, &o);
        for (o.loss = FIT_LOSS_SOFT_L1; o.loss <= FIT_LOSS_ARCTAN; o.loss++) {
            struct fit_result r = run(k, ds, &o);
            print_message("%s: %zu passes, linear %zu, gradient %.1e\n", fit_loss_name(o.loss), r.evaluations,
                          linear.evaluations, r.gradient);
            assert_true(r.converged && r.gradient <= o.gtol);
            assert_true(r.evaluations <= linear.evaluations + most[few]);
            fit_result_free(&r);
        }
        fit_result_free(&linear);
        fit_dataset_free(ds);
    }
}

static int stop_at_once(void *user, const struct fit_progress *p)
{
    (void)user, (void)p;
    return 1;
}

static void test_interruption_gives_the_best_point_so_far(void **s)
{
    struct fit_options o = defaults();
    (void)s;
    struct fit_dataset *ds = groups(30, sigma_equal);
    o.progress = stop_at_once;
    o.start_only = 1;
    struct fit_result r = run(&fringe, ds, &o);
    assert_int_equal(r.status, FIT_INTERRUPTED);
    assert_false(r.converged);
    assert_true(isfinite(r.cost));
    fit_result_free(&r);
    o.progress = NULL;
    o.max_iterations = 1;
    r = run(&fringe, ds, &o);
    assert_int_equal(r.status, FIT_MAX_ITERATIONS);
    assert_int_equal(r.iterations, 1);
    assert_false(r.converged);
    fit_result_free(&r);
    fit_dataset_free(ds);
}

static void test_impossible_requests_are_errors_that_name_the_parameter(void **s)
{
    struct fit_options o = defaults();
    struct fit_result r;
    struct fit_error err = {0};
    double lower[2] = {5, NAN}, upper[2] = {4, NAN}, y[2] = {1, 2}, t[2] = {0, 1};
    (void)s;
    struct fit_dataset *ds = groups(30, sigma_equal), *tiny = mock_rows(2, t, y, NULL, 0);
    o.lower = lower;
    o.upper = upper;
    assert_int_equal(fit_run(&fringe, ds, &o, &r, &err), FIT_ERR_CONFIG);
    assert_non_null(strstr(err.message, "D:"));
    o = defaults();
    assert_int_equal(fit_run(&decay, tiny, &o, &r, &err), FIT_ERR_DATA);
    assert_null(r.theta);
    fit_result_free(&r);
    fit_dataset_free(ds);
    fit_dataset_free(tiny);
}

static void test_noise_free_data_are_fitted_to_rounding(void **s)
{
    struct fit_options o = defaults();
    (void)s;
    struct fit_dataset *ds = groups(60, NULL);
    struct fit_result r = run(&fringe, ds, &o);
    assert_true(r.converged);
    assert_true(relative(r.theta[0], 1.5) < 1e-11 && relative(fabs(r.theta[1]), 4) < 1e-11);
    assert_true(relative(r.lin[2], 0.25) < 1e-11);
    fit_result_free(&r);
    fit_dataset_free(ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eliminated_and_plain_form_agree_in_values_errors_and_correlations),
        cmocka_unit_test(test_weights_from_the_data_are_absolute),
        cmocka_unit_test(test_straight_line_needs_no_iteration),
        cmocka_unit_test(test_fixed_parameters_keep_their_value_and_have_no_error),
        cmocka_unit_test(test_bounds_are_met_exactly_and_reported),
        cmocka_unit_test(test_pairs_recover_the_truth_within_errors),
        cmocka_unit_test(test_same_bits_for_any_number_of_threads),
        cmocka_unit_test(test_groups_with_unequal_noise_are_weighted),
        cmocka_unit_test(test_averaged_and_constant_scaling),
        cmocka_unit_test(test_undetermined_parameters_get_no_error_and_the_others_do),
        cmocka_unit_test(test_a_far_start_is_replaced_by_one_from_the_data),
        cmocka_unit_test(test_multi_start_follows_as_many_as_asked),
        cmocka_unit_test(test_soft_l1_reaches_the_minimum_of_the_robust_cost),
        cmocka_unit_test(test_soft_l1_of_clean_data_has_the_errors_of_least_squares),
        cmocka_unit_test(test_a_robust_loss_of_linear_parameters_alone),
        cmocka_unit_test(test_a_robust_loss_takes_few_passes_more),
        cmocka_unit_test(test_interruption_gives_the_best_point_so_far),
        cmocka_unit_test(test_impossible_requests_are_errors_that_name_the_parameter),
        cmocka_unit_test(test_noise_free_data_are_fitted_to_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
