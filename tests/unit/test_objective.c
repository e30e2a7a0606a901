/* test_objective.c -- variable projection: linear parameters, gradient and Gauss-Newton matrix
 * against direct computation, bounds, sharing, centring, and the same bits for any number of
 * threads. */
#include "leastsquares/objective.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "mock_kernels.h"

enum { ROWS = 37 };
static double row_t[ROWS], row_y[ROWS], row_sigma[ROWS];

static void fill_rows(double a, double b, double k, double noise)
{
    uint64_t state = 5;
    for (size_t i = 0; i < ROWS; i++) {
        row_t[i] = 0.1 * (double)i;
        row_y[i] = b + a * exp(-k * row_t[i]) + noise * mock_noise(&state);
        row_sigma[i] = 0.1 + 0.01 * (double)(i % 5);
    }
}

static struct fit_objective *open_objective(const struct fit_kernel *k,
                                            const struct fit_dataset *ds,
                                            const struct fit_objective_setup *setup)
{
    struct fit_objective *o = NULL;
    struct fit_error err = {0};
    struct fit_objective_setup none = {.threads = 1};
    assert_non_null(ds);
    assert_int_equal(fit_objective_new(k, ds, setup ? setup : &none, &o, &err), FIT_OK);
    return o;
}

static double cost_at(struct fit_objective *o, const double *theta)
{
    assert_int_equal(fit_objective_value(o, theta), FIT_EVAL_OK);
    return o->cost;
}

/* The gradient (g = -d cost / d theta) against central differences. */
static void check_gradient(struct fit_objective *o, const double *theta, double tol)
{
    double B[64], g[8], x[8];
    size_t p = o->nparam;
    cost_at(o, theta);
    assert_int_equal(fit_objective_normal(o, theta, B, g), FIT_EVAL_OK);
    for (size_t k = 0; k < p; k++) {
        double h = 1e-5 * fmax(1, fabs(theta[k]));
        memcpy(x, theta, p * sizeof *x);
        x[k] = theta[k] + h;
        double up = cost_at(o, x);
        x[k] = theta[k] - h;
        double down = cost_at(o, x), slope = (down - up) / (2 * h);
        assert_true(fabs(slope - g[k]) <= tol * (fabs(slope) + o->cost));
    }
}

static void test_linear_parameters_are_those_of_the_normal_equations(void **s)
{
    (void)s;
    fill_rows(2, 0.5, 1.3, 0.05);
    for (int center = 0; center < 2; center++) {
        struct fit_dataset *ds = mock_rows(ROWS, row_t, row_y, row_sigma, center);
        struct fit_objective *o = open_objective(&decay, ds, NULL);
        double k = 0.9, S0 = 0, S1 = 0, S2 = 0, Y0 = 0, Y1 = 0, cost = 0;
        cost_at(o, &k);
        for (size_t i = 0; i < ROWS; i++) {
            double w = 1 / (row_sigma[i] * row_sigma[i]), e = exp(-k * row_t[i]);
            S0 += w, S1 += w * e, S2 += w * e * e;
            Y0 += w * row_y[i], Y1 += w * e * row_y[i];
        }
        double a = (S0 * Y1 - S1 * Y0) / (S0 * S2 - S1 * S1), b = (Y0 - a * S1) / S0;
        for (size_t i = 0; i < ROWS; i++) {
            double r = (row_y[i] - b - a * exp(-k * row_t[i])) / row_sigma[i];
            cost += 0.5 * r * r;
        }
        assert_true(fabs(fit_objective_linear(o, 0, 0) - a) < 1e-12);
        assert_true(fabs(fit_objective_linear(o, 0, 1) - b) < 1e-12);
        assert_true(fabs(o->cost - cost) < 1e-11 * cost);
        check_gradient(o, &k, 1e-8);
        fit_objective_free(o);
        fit_dataset_free(ds);
    }
}

/* Linear parameters of opposite sign whose terms cancel: the error that the cost states covers the one that it has. */
static void test_error_of_the_cost_covers_terms_that_cancel(void **s)
{
    (void)s;
    double worst = 0, largest = 0;
    fill_rows(2e4, -2e4, 1e-3, 0.05);
    struct fit_dataset *ds = mock_rows(ROWS, row_t, row_y, NULL, 0);
    struct fit_objective *o = open_objective(&decay, ds, NULL);
    for (int i = 0; i < 100; i++) {
        double k = 9e-4 + 2e-6 * i;
        cost_at(o, &k);
        long double a = o->lin[0], b = o->lin[1], cost = 0;
        for (size_t j = 0; j < ROWS; j++) {
            long double r = row_y[j] - b - a * exp(-k * row_t[j]);
            cost += r * r / 2;
        }
        worst = fmax(worst, fabs((double)(o->cost - cost)) / o->cost_error);
        largest = fmax(largest, fabs((double)(o->cost - cost)) / o->cost);
    }
    assert_true(worst < 1);
    assert_true(largest < 1e-9);
    fit_objective_free(o);
    fit_dataset_free(ds);
}

static void test_matrix_is_the_schur_complement_of_the_full_one(void **s)
{
    (void)s;
    fill_rows(2, 0.5, 1.3, 0.05);
    struct fit_dataset *ds = mock_rows(ROWS, row_t, row_y, NULL, 1);
    struct fit_objective *o = open_objective(&decay, ds, NULL);
    double k = 1.1, B, g, H = 0, A[3] = {0}, C[2] = {0};
    cost_at(o, &k);
    assert_int_equal(fit_objective_normal(o, &k, &B, &g), FIT_EVAL_OK);
    double a = fit_objective_linear(o, 0, 0);
    for (size_t i = 0; i < ROWS; i++) {
        double e = exp(-k * row_t[i]), m = -a * row_t[i] * e;
        H += m * m, C[0] += e * m, C[1] += m;
        A[0] += e * e, A[1] += e, A[2] += 1;
    }
    double det = A[0] * A[2] - A[1] * A[1];
    double expected = H - (C[0] * C[0] * A[2] - 2 * C[0] * C[1] * A[1] + C[1] * C[1] * A[0]) / det;
    assert_true(fabs(B - expected) < 1e-11 * H);
    fit_objective_free(o);
    fit_dataset_free(ds);
}

static void test_bounds_on_linear_parameters_are_met_exactly_and_the_gradient_stays_exact(void **s)
{
    double lower[2] = {NAN, -5}, upper[2] = {1.2, NAN}, k = 0.9;
    (void)s;
    fill_rows(2, 0.5, 1.3, 0.05);
    struct fit_dataset *ds = mock_rows(ROWS, row_t, row_y, NULL, 1);
    struct fit_objective_setup setup = {.linear_lower = lower, .linear_upper = upper, .threads = 1};
    struct fit_objective *o = open_objective(&decay, ds, &setup);
    cost_at(o, &k);
    assert_int_equal(o->state[0], 1);
    assert_int_equal(o->state[1], 0);
    assert_true(fit_objective_linear(o, 0, 0) == 1.2);
    check_gradient(o, &k, 1e-8);
    fit_objective_free(o);
    fit_dataset_free(ds);
}

static const double two_contrast[2] = {0.3, 0.25}, two_offset[2] = {1.0, 1.04},
                    two_sigma[2] = {0.02, 0.02};

static struct fit_dataset *two_groups(size_t n, int center)
{
    struct mock_pairs m = {n, 2, 0.05, 1.5, 4, two_contrast, two_offset, two_sigma, center, 17};
    return mock_pairs(&m);
}

static void test_pairs_give_the_same_for_centred_and_plain_data(void **s)
{
    double theta[2] = {1.2, 3.5}, cost[2], lin[2][4], B[2][4], g[2][2];
    (void)s;
    for (int center = 0; center < 2; center++) {
        struct fit_dataset *ds = two_groups(30, center);
        struct fit_objective *o = open_objective(&fringe, ds, NULL);
        cost[center] = cost_at(o, theta);
        fit_objective_normal(o, theta, B[center], g[center]);
        for (size_t e = 0; e < 4; e++)
            lin[center][e] = fit_objective_linear(o, e / 2, e % 2);
        check_gradient(o, theta, 1e-7);
        fit_objective_free(o);
        fit_dataset_free(ds);
    }
    assert_true(fabs(cost[0] - cost[1]) < 1e-11 * cost[0]);
    for (size_t e = 0; e < 4; e++) {
        assert_true(fabs(lin[0][e] - lin[1][e]) < 1e-11);
        assert_true(fabs(B[0][e] - B[1][e]) < 1e-9 * fabs(B[0][0]));
    }
}

static void test_averaged_scaling_shares_one_pair_over_groups(void **s)
{
    double theta[2] = {1.2, 3.5}, cost[2];
    (void)s;
    for (int center = 0; center < 2; center++) {
        struct fit_dataset *ds = two_groups(30, center);
        struct fit_objective_setup setup = {.scaling = FIT_SCALING_AVERAGED, .threads = 1};
        struct fit_objective *o = open_objective(&fringe, ds, &setup);
        assert_int_equal(o->nu, 2);
        assert_int_equal(o->nblock, 1);
        cost[center] = cost_at(o, theta);
        assert_true(fabs(fit_objective_linear(o, 0, 0) - fit_objective_linear(o, 1, 0)) < 1e-14);
        assert_true(fabs(fit_objective_linear(o, 0, 1) - fit_objective_linear(o, 1, 1)) < 1e-14);
        check_gradient(o, theta, 1e-7);
        fit_objective_free(o);
        fit_dataset_free(ds);
    }
    assert_true(fabs(cost[0] - cost[1]) < 1e-11 * cost[0]);
}

static void test_constant_scaling_uses_the_given_values(void **s)
{
    double theta[2] = {1.5, 4}, lin[4] = {0.3, 1.0, 0.25, 1.04};
    (void)s;
    struct fit_dataset *ds = two_groups(30, 1);
    struct fit_objective_setup setup = {
        .scaling = FIT_SCALING_CONSTANT, .linear_start = lin, .threads = 1};
    struct fit_objective *o = open_objective(&fringe, ds, &setup);
    assert_int_equal(o->nu, 0);
    double cost = cost_at(o, theta);
    for (size_t e = 0; e < 4; e++)
        assert_true(fabs(fit_objective_linear(o, e / 2, e % 2) - lin[e]) < 1e-15);
    assert_true(fabs(2 * cost / (double)ds->npoint / 4e-4 - 1) <
                0.2); /* the true parameters: noise is left */
    check_gradient(o, theta, 1e-7);
    fit_objective_free(o);
    fit_dataset_free(ds);
}

/* Shared offset, contrast of each group: one block of three unknowns. */
static void test_mixed_sharing_makes_one_block(void **s)
{
    struct fit_param linear[2] = {fringe_linear[0], fringe_linear[1]};
    double theta[2] = {1.2, 3.5};
    (void)s;
    linear[1].over = -1;
    struct fit_kernel mixed = fringe;
    mixed.linear = linear;
    struct fit_dataset *ds = two_groups(24, 1);
    struct fit_objective *o = open_objective(&mixed, ds, NULL);
    assert_int_equal(o->nu, 3);
    assert_int_equal(o->nblock, 1);
    cost_at(o, theta);
    assert_true(fabs(fit_objective_linear(o, 0, 1) - fit_objective_linear(o, 1, 1)) < 1e-14);
    assert_true(fabs(fit_objective_linear(o, 0, 0) - fit_objective_linear(o, 1, 0)) > 1e-3);
    check_gradient(o, theta, 1e-7);
    fit_objective_free(o);
    fit_dataset_free(ds);
}

static void test_same_bits_for_any_number_of_threads(void **s)
{
    static const int threads[] = {1, 2, 3, 7};
    double theta[2] = {1.2, 3.5}, first[8];
    struct fit_dataset *ds = two_groups(160, 1);
    (void)s;
    assert_true(ds->ntile > 4);
    for (size_t t = 0; t < 4; t++) {
        struct fit_objective_setup setup = {.threads = threads[t]};
        struct fit_objective *o = open_objective(&fringe, ds, &setup);
        double now[8];
        now[0] = cost_at(o, theta);
        now[1] = o->lin[3];
        assert_int_equal(fit_objective_normal(o, theta, now + 2, now + 6), FIT_EVAL_OK);
        if (t == 0)
            memcpy(first, now, sizeof now);
        assert_memory_equal(first, now, sizeof now);
        fit_objective_free(o);
    }
    fit_dataset_free(ds);
}

static void test_noise_free_data_leave_no_residual_and_say_so(void **s)
{
    double theta[2] = {1.5, 4};
    struct mock_pairs m = {40, 2, 0.05, 1.5, 4, two_contrast, two_offset, NULL, 1, 1};
    (void)s;
    struct fit_dataset *ds = mock_pairs(&m);
    struct fit_objective *o = open_objective(&fringe, ds, NULL);
    double cost = cost_at(o, theta);
    assert_true(cost >= 0 && cost < 1e-26);
    theta[0] += 1e-7; /* the loss is quadratic: visible only without cancellation */
    double moved = cost_at(o, theta);
    assert_true(moved > 1e-15 && moved < 1e-10);
    fit_objective_free(o);
    fit_dataset_free(ds);
}

static void test_group_factors_weigh_groups(void **s)
{
    double theta[2] = {1.2, 3.5}, factor[2] = {1, 4};
    (void)s;
    struct fit_dataset *ds = two_groups(24, 1);
    struct fit_objective *o = open_objective(&fringe, ds, NULL);
    cost_at(o, theta);
    double first = o->ssr[0], second = o->ssr[1];
    fit_objective_group_factor(o, factor);
    cost_at(o, theta);
    assert_true(fabs(o->ssr[0] - first) < 1e-12 * first);
    assert_true(fabs(o->ssr[1] - 4 * second) < 1e-12 * second);
    check_gradient(o, theta, 1e-7);
    fit_objective_group_factor(o, NULL);
    cost_at(o, theta);
    assert_true(fabs(o->ssr[1] - second) < 1e-15 * second);
    fit_objective_free(o);
    fit_dataset_free(ds);
}

static void test_loss_weights_touch_the_robust_cost(void **s)
{
    double theta[2] = {1.2, 3.5}, factor[2] = {2500, 2500}, z = 0, B[2][4], slope[2][2], lin[4], step[4];
    struct fit_objective_robust robust = {.loss = FIT_LOSS_SOFT_L1, .f_scale = 1.5};
    (void)s;
    struct fit_dataset *ds = two_groups(24, 1);
    struct fit_objective *o = open_objective(&fringe, ds, NULL);
    cost_at(o, theta);
    for (size_t i = 0; i < 24; i++)
        for (size_t j = i + 1; j < 24; j++)
            for (size_t g = 0; g < 2; g++) {
                const struct fit_tile *t = ds->tile;
                while (!(i >= t->i0 && i < t->i1 && j >= t->j0 && j < t->j1))
                    t++;
                double y = t->y[fit_tile_offset(&ds->layout, t, i, j, g)], b[2], r0, db[4], dr[2];
                fringe_eval(&ds->layout, theta, i, j, g, b, &r0, db, dr);
                double r = 50 * (y - o->lin[2 * g] * b[0] - o->lin[2 * g + 1]);
                z += 0.5 * 2.25 * 2 * (sqrt(1 + r * r / 2.25) - 1);
            }
    memcpy(lin, o->lin, sizeof lin);
    fit_objective_group_factor(o, factor);
    assert_int_equal(fit_objective_newton(o, theta, &robust, B[0], slope[0]), FIT_EVAL_OK);
    assert_true(fabs(robust.cost - z) < 1e-10 * z);
    assert_true(robust.curve > 0.1 && robust.curve < 1 && robust.gain > 0);

    /* the sum of squares at the same point has the same minimum over lin */
    memcpy(step, o->lin, sizeof step);
    memcpy(o->lin, lin, sizeof lin);
    assert_int_equal(fit_objective_freeze(o, theta, factor, &robust), FIT_EVAL_OK);
    cost_at(o, theta);
    for (size_t e = 0; e < 4; e++)
        assert_true(fabs(o->lin[e] - step[e]) < 1e-9 * fabs(step[e]));
    check_gradient(o, theta, 1e-7);

    /* where the steps of lin end, it has the same derivatives, too */
    fit_objective_group_factor(o, factor);
    double cost = INFINITY;
    for (int turn = 0; turn < 40; turn++) {
        assert_int_equal(fit_objective_newton(o, theta, &robust, B[0], slope[0]), FIT_EVAL_OK);
        assert_true(robust.cost <= cost * (1 + 1e-12));
        cost = robust.cost;
    }
    assert_true(robust.gain < 1e-20 * robust.cost);
    assert_int_equal(fit_objective_freeze(o, theta, factor, &robust), FIT_EVAL_OK);
    cost_at(o, theta);
    assert_int_equal(fit_objective_normal(o, theta, B[1], slope[1]), FIT_EVAL_OK);
    for (size_t k = 0; k < 4; k++)
        assert_true(fabs(B[0][k] - B[1][k]) < 1e-9 * sqrt(B[0][0] * B[0][3]));
    for (size_t k = 0; k < 2; k++)
        assert_true(fabs(slope[0][k] - slope[1][k]) < 1e-9 * sqrt(B[0][3 * k] * cost));
    double median;
    cost_at(o, theta);
    fit_objective_group_factor(o, NULL);
    cost_at(o, theta);
    assert_int_equal(fit_objective_median(o, theta, &median), FIT_EVAL_OK);
    assert_true(median > 0.005 && median < 0.1);
    fit_objective_free(o);
    fit_dataset_free(ds);
}

static void test_loss_weights_that_are_kept_are_those_of_the_last_point(void **s)
{
    double theta[2] = {1.2, 3.5}, other[2] = {1.3, 3.4}, factor[2] = {2500, 2500}, first[2], again[2], B[4], g[2];
    const struct fit_objective_robust robust = {.loss = FIT_LOSS_CAUCHY, .f_scale = 1.5, .curve = 1};
    (void)s;
    struct fit_dataset *ds = two_groups(24, 1);
    struct fit_objective *o = open_objective(&fringe, ds, NULL), *fresh = open_objective(&fringe, ds, NULL);
    cost_at(o, theta);
    assert_int_equal(fit_objective_freeze(o, theta, factor, &robust), FIT_EVAL_OK);
    first[0] = cost_at(o, other); /* fills what is kept */
    assert_int_equal(fit_objective_normal(o, other, B, g), FIT_EVAL_OK);
    first[1] = g[0];
    again[0] = cost_at(o, other);
    assert_int_equal(fit_objective_normal(o, other, B, g), FIT_EVAL_OK);
    again[1] = g[0];
    assert_memory_equal(first, again, sizeof first);

    assert_int_equal(fit_objective_freeze(o, other, factor, &robust), FIT_EVAL_OK);
    cost_at(fresh, theta);
    assert_int_equal(fit_objective_freeze(fresh, theta, factor, &robust), FIT_EVAL_OK);
    cost_at(fresh, other);
    assert_int_equal(fit_objective_freeze(fresh, other, factor, &robust), FIT_EVAL_OK);
    first[0] = cost_at(o, theta);
    again[0] = cost_at(fresh, theta);
    assert_memory_equal(first, again, sizeof *first);
    fit_objective_free(fresh);
    fit_objective_free(o);
    fit_dataset_free(ds);
}

static void test_nonfinite_parameters_are_rejected(void **s)
{
    double theta[2] = {NAN, 1};
    (void)s;
    struct fit_dataset *ds = two_groups(24, 1);
    struct fit_objective *o = open_objective(&fringe, ds, NULL);
    assert_int_equal(fit_objective_value(o, theta), FIT_EVAL_REJECT);
    theta[0] = -1e6; /* exp overflows inside the sums */
    assert_int_equal(fit_objective_value(o, theta), FIT_EVAL_REJECT);
    fit_objective_free(o);
    fit_dataset_free(ds);
}

static void test_crossed_bounds_are_an_error_with_the_name(void **s)
{
    double lower[2] = {1, NAN}, upper[2] = {0, NAN};
    struct fit_objective_setup setup = {.linear_lower = lower, .linear_upper = upper, .threads = 1};
    struct fit_objective *o;
    struct fit_error err = {0};
    (void)s;
    struct fit_dataset *ds = two_groups(24, 1);
    assert_int_equal(fit_objective_new(&fringe, ds, &setup, &o, &err), FIT_ERR_CONFIG);
    assert_non_null(strstr(err.message, "contrast"));
    fit_dataset_free(ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear_parameters_are_those_of_the_normal_equations),
        cmocka_unit_test(test_error_of_the_cost_covers_terms_that_cancel),
        cmocka_unit_test(test_matrix_is_the_schur_complement_of_the_full_one),
        cmocka_unit_test(
            test_bounds_on_linear_parameters_are_met_exactly_and_the_gradient_stays_exact),
        cmocka_unit_test(test_pairs_give_the_same_for_centred_and_plain_data),
        cmocka_unit_test(test_averaged_scaling_shares_one_pair_over_groups),
        cmocka_unit_test(test_constant_scaling_uses_the_given_values),
        cmocka_unit_test(test_mixed_sharing_makes_one_block),
        cmocka_unit_test(test_same_bits_for_any_number_of_threads),
        cmocka_unit_test(test_noise_free_data_leave_no_residual_and_say_so),
        cmocka_unit_test(test_group_factors_weigh_groups),
        cmocka_unit_test(test_loss_weights_touch_the_robust_cost),
        cmocka_unit_test(test_loss_weights_that_are_kept_are_those_of_the_last_point),
        cmocka_unit_test(test_nonfinite_parameters_are_rejected),
        cmocka_unit_test(test_crossed_bounds_are_an_error_with_the_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
