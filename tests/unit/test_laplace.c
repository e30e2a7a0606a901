/* Normal approximations: Hessian, importance sampling, Pathfinder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "math/linalg.h"
#include "sampler/laplace.h"
#include "sampler/pathfinder.h"
#include "targets.h"

#include <math.h>
#include <string.h>

static struct fit_error error;
static struct normal_target normal;

static void ok(enum fit_status s)
{
    if (s != FIT_OK)
        fail_msg("%s", error.message);
}

/* Largest difference of matrices in units of the diagonal of the second. */
static double mismatch(size_t n, const double *a, const double *b)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            worst = fmax(worst, fabs(a[i * n + j] - b[i * n + j]) /
                                    sqrt(fabs(b[i * n + i] * b[j * n + j])));
    return worst;
}

/* ---- Hessian --------------------------------------------------------------------------------- */

static void test_hessian_of_a_normal_is_its_precision(void **state)
{
    (void)state;
    enum { N = 6 };
    normal_target_fill(&normal, N, 1e4);
    struct fit_target t = {N, &normal, normal_eval, NULL};
    double q[N] = {0.3, -0.2, 1, 0, 2, -1}, scale[N], H[N * N], C[N * N], v[N];
    struct fit_hessian h = {H, C, v, 0};
    for (int k = 0; k < N; k++)
        scale[k] = 1;
    ok(fit_hessian_at(&t, q, scale, &h, &error));
    assert_true(mismatch(N, H, normal.precision) < 1e-10); /* rounding / step */
    assert_true(mismatch(N, C, normal.covariance) < 1e-7); /* times the condition */
    assert_int_equal(h.weak, 0);
}

/* -log density (a - b)^2 / 2: nothing is known of a + b. */
static enum fit_eval valley_eval(void *user, size_t chain, const double *q, double *lp, double *g)
{
    (void)user;
    (void)chain;
    double d = q[0] - q[1];
    *lp = -0.5 * d * d;
    if (g) {
        g[0] = -d;
        g[1] = d;
    }
    return FIT_EVAL_OK;
}

static void test_a_direction_without_curvature_is_named(void **state)
{
    (void)state;
    struct fit_target t = {2, NULL, valley_eval, NULL};
    double q[2] = {0, 0}, scale[2] = {1, 1}, H[4], C[4], v[2];
    struct fit_hessian h = {H, C, v, 0};
    ok(fit_hessian_at(&t, q, scale, &h, &error));
    assert_int_equal(h.weak, 1);
    assert_true(fabs(v[0] / v[1] - 1) < 1e-6);
    assert_true(C[0] > 1e6 && C[1] > 1e6); /* 1e8 of the other direction, shared */
    assert_int_equal(fit_cholesky(2, C, 1e-14), 0);
}

static void test_a_maximum_that_is_none_is_refused(void **state)
{
    (void)state;
    normal_target_fill(&normal, 2, 1);
    for (int k = 0; k < 4; k++)
        normal.precision[k] = -normal.precision[k];
    struct fit_target t = {2, &normal, normal_eval, NULL};
    double q[2] = {0, 0}, scale[2] = {1, 1}, H[4], C[4];
    struct fit_hessian h = {H, C, NULL, 0};
    assert_int_equal(fit_hessian_at(&t, q, scale, &h, &error), FIT_ERR_NUMERIC);
}

/* ---- importance sampling --------------------------------------------------------------------- */

/* A normal target and its exact covariance: the evidence is the integral, (2 pi)^(n/2) |C|^(1/2);
 * the weights are light, k < 0.5; moments are those of the target. */
static void test_laplace_of_a_normal_is_exact(void **state)
{
    (void)state;
    enum { N = 5 };
    normal_target_fill(&normal, N, 100);
    struct fit_target t = {N, &normal, normal_eval, NULL};
    double mode[N] = {0}, log_det = 0;
    struct fit_laplace l;
    ok(fit_laplace_run(&t, mode, normal.covariance,
                       &(struct fit_laplace_options){.seed = 1, .draws = 4000}, &l, &error));
    for (int k = 0; k < N; k++)
        log_det += log(100.0) * k / (N - 1);
    double evidence = 0.5 * N * log(2 * acos(-1.0)) + 0.5 * log_det;
    assert_true(l.k < 0.5 && l.refits == 0 && l.rejected == 0);
    assert_int_equal(l.evaluations, 4000);
    assert_true(l.ess > 2000 && l.ess <= 4000);
    assert_true(fabs(l.log_evidence - evidence) < 4 / sqrt(l.ess));
    assert_true(mismatch(N, l.covariance, normal.covariance) < 5 * sqrt(2 / l.ess));
    for (int k = 0; k < N; k++)
        assert_true(fabs(l.mean[k]) < 4 * sqrt(normal.covariance[k * N + k] / l.ess));
    fit_laplace_free(&l);
}

static void test_a_proposal_off_the_mark_is_refitted(void **state)
{
    (void)state;
    enum { N = 2 };
    normal_target_fill(&normal, N, 1);
    struct fit_target t = {N, &normal, normal_eval, NULL};
    double mode[N] = {1.5, -1}, narrow[N * N] = {0.25, 0, 0, 0.25};
    struct fit_laplace first, l;
    ok(fit_laplace_run(&t, mode, narrow, &(struct fit_laplace_options){.seed = 1, .no_refit = 1},
                       &first, &error));
    ok(fit_laplace_run(&t, mode, narrow, &(struct fit_laplace_options){.seed = 1}, &l, &error));
    assert_true(first.k > 0.5 && first.refits == 0);
    assert_int_equal(l.refits, 1);
    assert_true(l.k < 0.5 && l.ess > 3 * first.ess);
    assert_true(fabs(l.log_evidence - log(2 * acos(-1.0))) < 4 / sqrt(l.ess));
    fit_laplace_free(&first);
    fit_laplace_free(&l);
}

/* A Cauchy target: no normal tail, and k says so. */
static enum fit_eval cauchy_eval(void *user, size_t chain, const double *q, double *lp, double *g)
{
    (void)user;
    (void)chain;
    *lp = -log1p(q[0] * q[0]);
    if (g)
        g[0] = -2 * q[0] / (1 + q[0] * q[0]);
    return FIT_EVAL_OK;
}

static void test_heavy_tails_show_in_k(void **state)
{
    (void)state;
    struct fit_target t = {1, NULL, cauchy_eval, NULL};
    double mode[1] = {0}, variance[1] = {0.5};
    struct fit_laplace l;
    ok(fit_laplace_run(&t, mode, variance,
                       &(struct fit_laplace_options){.seed = 1, .draws = 20000, .no_refit = 1}, &l,
                       &error));
    assert_true(l.k > l.threshold); /* 1 - 1/7 in the limit of many draws */
    fit_laplace_free(&l);
}

static void test_threads_do_not_change_laplace(void **state)
{
    (void)state;
    enum { N = 3 };
    normal_target_fill(&normal, N, 10);
    struct fit_target t = {N, &normal, normal_eval, NULL};
    double mode[N] = {0};
    struct fit_laplace a, b;
    ok(fit_laplace_run(&t, mode, normal.covariance, &(struct fit_laplace_options){.seed = 3}, &a,
                       &error));
    ok(fit_laplace_run(&t, mode, normal.covariance,
                       &(struct fit_laplace_options){.seed = 3, .threads = 3}, &b, &error));
    assert_memory_equal(a.q, b.q, a.draws * N * sizeof *a.q);
    assert_memory_equal(a.log_weight, b.log_weight, a.draws * sizeof *a.q);
    fit_laplace_free(&a);
    fit_laplace_free(&b);
}

static enum fit_eval stop_eval(void *user, size_t chain, const double *q, double *lp, double *g)
{
    int *calls = user;
    if (++*calls == 100)
        return FIT_EVAL_STOP;
    return logistic_eval(NULL, chain, q, lp, g);
}

static void test_a_stop_ends_laplace(void **state)
{
    (void)state;
    int calls = 0;
    struct fit_target t = {1, &calls, stop_eval, NULL};
    double mode[1] = {0}, variance[1] = {3};
    struct fit_laplace l;
    assert_int_equal(
        fit_laplace_run(&t, mode, variance, &(struct fit_laplace_options){.seed = 1}, &l, &error),
        FIT_ERR_INTERRUPTED);
    assert_int_equal(calls, 100);
    assert_null(l.q);
}

/* ---- Pathfinder ------------------------------------------------------------------------------ */

static void test_pathfinder_finds_a_normal(void **state)
{
    (void)state;
    enum { N = 4 };
    normal_target_fill(&normal, N, 1000);
    struct fit_target t = {N, &normal, normal_eval, NULL};
    double q[N] = {20, -30, 10, 25}, mean[N], C[N * N], mode[N], draw[N], lp;
    struct fit_pathfinder p = {mean, C, mode, draw, 0, 0, 0};
    ok(fit_pathfinder_run(&t, q, &(struct fit_pathfinder_options){.seed = 1}, &p, &error));
    double best = 0.5 * N * log(2 * acos(-1.0)) + 0.5 * 0.5 * N * log(1000.0);
    assert_true(p.elbo > best - 2 &&
                p.elbo < best + 1); /* the evidence bounds it, up to 10 draws */
    normal_eval(&normal, 0, mode, &lp, NULL);
    assert_true(lp > -1e-6);
    normal_eval(&normal, 0, mean, &lp, NULL);
    assert_true(lp > -1);
    assert_true(p.iterations < 60 && p.evaluations < 1500);
}

static void test_pathfinder_gets_into_the_banana(void **state)
{
    (void)state;
    struct fit_target t = {2, NULL, banana_eval, NULL};
    double q[2] = {4, -9}, mean[2], C[4], mode[2], draw[2], lp;
    struct fit_pathfinder p = {mean, C, mode, draw, 0, 0, 0};
    ok(fit_pathfinder_run(&t, q, &(struct fit_pathfinder_options){.seed = 1}, &p, &error));
    assert_true(fabs(mode[0]) < 1e-3 && fabs(mode[1]) < 1e-3);
    banana_eval(NULL, 0, draw, &lp, NULL);
    assert_true(lp > -10);
}

static void test_pathfinder_refuses_a_start_without_density(void **state)
{
    (void)state;
    struct fit_target t = {2, NULL, banana_eval, NULL};
    double q[2] = {NAN, 0}, mean[2], C[4], mode[2], draw[2];
    struct fit_pathfinder p = {mean, C, mode, draw, 0, 0, 0};
    assert_int_equal(
        fit_pathfinder_run(&t, q, &(struct fit_pathfinder_options){.seed = 1}, &p, &error),
        FIT_ERR_NUMERIC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hessian_of_a_normal_is_its_precision),
        cmocka_unit_test(test_a_direction_without_curvature_is_named),
        cmocka_unit_test(test_a_maximum_that_is_none_is_refused),
        cmocka_unit_test(test_laplace_of_a_normal_is_exact),
        cmocka_unit_test(test_a_proposal_off_the_mark_is_refitted),
        cmocka_unit_test(test_heavy_tails_show_in_k),
        cmocka_unit_test(test_threads_do_not_change_laplace),
        cmocka_unit_test(test_a_stop_ends_laplace),
        cmocka_unit_test(test_pathfinder_finds_a_normal),
        cmocka_unit_test(test_pathfinder_gets_into_the_banana),
        cmocka_unit_test(test_pathfinder_refuses_a_start_without_density),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
