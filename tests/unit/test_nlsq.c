/* test_nlsq.c -- the trust region finds known minima, keeps to bounds exactly and says truly how
 * it ended. */
#include "leastsquares/nlsq.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Residual function of m values and its Jacobian; nonzero return: reject. */
struct problem {
    size_t n, m;
    int (*f)(const double *x, double *r, double *J);
    int values, normals;
};

static enum fit_eval value(void *user, const double *x, double *cost, double *error)
{
    struct problem *p = user;
    double r[32], J[32 * 8];
    p->values++;
    if (p->f(x, r, J))
        return FIT_EVAL_REJECT;
    *cost = 0;
    for (size_t i = 0; i < p->m; i++)
        *cost += 0.5 * r[i] * r[i];
    *error = 1e-16 * *cost;
    return FIT_EVAL_OK;
}

static enum fit_eval normal(void *user, const double *x, double *B, double *g)
{
    struct problem *p = user;
    double r[32], J[32 * 8];
    p->normals++;
    p->f(x, r, J);
    for (size_t k = 0; k < p->n; k++) {
        g[k] = 0;
        for (size_t i = 0; i < p->m; i++)
            g[k] -= J[i * p->n + k] * r[i]; /* r = model - data here */
        for (size_t l = 0; l < p->n; l++) {
            B[k * p->n + l] = 0;
            for (size_t i = 0; i < p->m; i++)
                B[k * p->n + l] += J[i * p->n + k] * J[i * p->n + l];
        }
    }
    return FIT_EVAL_OK;
}

static const double NONE[8] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY,
                               -INFINITY, -INFINITY, -INFINITY, -INFINITY};
static const double ALL[8] = {INFINITY, INFINITY, INFINITY, INFINITY,
                              INFINITY, INFINITY, INFINITY, INFINITY};

static struct fit_nlsq *run(struct problem *p, const double *lower, const double *upper, double *x)
{
    struct fit_nlsq *s = fit_nlsq_new(p->n);
    struct fit_nlsq_problem q = {p->n, lower, upper, 1, 0, p, value, normal, NULL, NULL, 0};
    struct fit_nlsq_options o = {.max_iterations = 200, .ftol = 1e-14, .xtol = 1e-12, .gtol = 1e-8};
    assert_non_null(s);
    fit_nlsq_run(s, &q, &o, x);
    assert_true(p->normals <= p->values); /* derivatives cost more: never without a value before */
    assert_int_equal(p->values, (int)s->evaluations);
    return s;
}

static int converged(const struct fit_nlsq *s)
{
    return fit_nlsq_converged(s->end);
}

static int rosenbrock(const double *x, double *r, double *J)
{
    r[0] = 10 * (x[1] - x[0] * x[0]);
    r[1] = 1 - x[0];
    J[0] = -20 * x[0];
    J[1] = 10;
    J[2] = -1;
    J[3] = 0;
    return 0;
}

static void test_rosenbrock_is_solved_to_rounding(void **s)
{
    struct problem p = {2, 2, rosenbrock, 0, 0};
    double x[2] = {-1.2, 1};
    struct fit_nlsq *r = run(&p, NONE, ALL, x);
    (void)s;
    assert_true(converged(r));
    assert_true(fabs(x[0] - 1) < 1e-10 && fabs(x[1] - 1) < 1e-10);
    assert_true(r->iterations < 40);
    fit_nlsq_free(r);
}

static void test_minimum_on_a_bound_lies_exactly_on_it(void **s)
{
    struct problem p = {2, 2, rosenbrock, 0, 0};
    double x[2] = {-1.2, 1}, lower[2] = {-2, -2}, upper[2] = {0.5, 2};
    struct fit_nlsq *r = run(&p, lower, upper, x);
    (void)s;
    assert_true(converged(r));
    assert_true(x[0] == 0.5);
    assert_true(fabs(x[1] - 0.25) < 1e-10);
    assert_true(fabs(r->cost - 0.125) < 1e-12);
    fit_nlsq_free(r);
}

static void test_a_bound_touched_on_the_way_is_left_again(void **s)
{
    struct problem p = {2, 2, rosenbrock, 0, 0};
    double x[2] = {-1.2, -0.4}, lower[2] = {-2, -0.5}, upper[2] = {2, 1.5};
    struct fit_nlsq *r = run(&p, lower, upper, x);
    (void)s;
    assert_true(converged(r));
    assert_true(fabs(x[0] - 1) < 1e-9 && fabs(x[1] - 1) < 1e-9);
    fit_nlsq_free(r);
}

static void test_a_held_parameter_does_not_move(void **s)
{
    struct problem p = {2, 2, rosenbrock, 0, 0};
    double x[2] = {-1.2, 0.3}, lower[2] = {-5, 0.36}, upper[2] = {5, 0.36};
    struct fit_nlsq *r = run(&p, lower, upper, x);
    (void)s;
    assert_true(converged(r));
    assert_true(x[1] == 0.36);
    double slope = -200 * x[0] * (0.36 - x[0] * x[0]) - (1 - x[0]);
    assert_true(fabs(slope) < 1e-6);
    fit_nlsq_free(r);
}

static int powell(const double *x, double *r, double *J)
{
    const double c = sqrt(5), d = sqrt(10);
    memset(J, 0, 16 * sizeof *J);
    r[0] = x[0] + 10 * x[1];
    J[0] = 1, J[1] = 10;
    r[1] = c * (x[2] - x[3]);
    J[6] = c, J[7] = -c;
    double a = x[1] - 2 * x[2], b = x[0] - x[3];
    r[2] = a * a;
    J[9] = 2 * a, J[10] = -4 * a;
    r[3] = d * b * b;
    J[12] = 2 * d * b, J[15] = -2 * d * b;
    return 0;
}

static void test_powell_singular_reaches_zero_although_the_jacobian_is_singular_there(void **s)
{
    struct problem p = {4, 4, powell, 0, 0};
    double x[4] = {3, -1, 0, 1};
    struct fit_nlsq *r = run(&p, NONE, ALL, x);
    (void)s;
    for (size_t k = 0; k < 4; k++)
        assert_true(fabs(x[k]) < 1e-3);
    assert_true(r->cost < 1e-12);
    fit_nlsq_free(r);
}

/* Freudenstein & Roth: minima with cost 0 at (5, 4) and 24.49 at (11.41, -0.8968). */
static int freudenstein(const double *x, double *r, double *J)
{
    r[0] = -13 + x[0] + ((5 - x[1]) * x[1] - 2) * x[1];
    r[1] = -29 + x[0] + ((x[1] + 1) * x[1] - 14) * x[1];
    J[0] = J[2] = 1;
    J[1] = 10 * x[1] - 3 * x[1] * x[1] - 2;
    J[3] = 3 * x[1] * x[1] + 2 * x[1] - 14;
    return 0;
}

static void test_a_local_minimum_with_large_residuals_is_found(void **s)
{
    struct problem p = {2, 2, freudenstein, 0, 0};
    double x[2] = {0.5, -2};
    struct fit_nlsq *r = run(&p, NONE, ALL, x);
    (void)s;
    assert_true(converged(r));
    assert_true(fabs(2 * r->cost - 48.98425367924) < 1e-8);
    assert_true(fabs(x[0] - 11.412778989) < 1e-4 && fabs(x[1] + 0.896805253) < 1e-5);
    fit_nlsq_free(r);
}

static int logarithm(const double *x, double *r, double *J)
{
    if (!(x[0] > 0))
        return 1;
    r[0] = log(x[0]) + 3;
    J[0] = 1 / x[0];
    return 0;
}

static void test_a_rejected_point_shortens_the_step(void **s)
{
    struct problem p = {1, 1, logarithm, 0, 0};
    double x[1] = {20}; /* the full step goes to 20 - 20 (log 20 + 3) < 0 */
    struct fit_nlsq *r = run(&p, NONE, ALL, x);
    (void)s;
    assert_true(converged(r));
    assert_true(fabs(x[0] - exp(-3)) < 1e-10);
    fit_nlsq_free(r);
}

static void test_no_value_at_the_start_is_a_failure(void **s)
{
    struct problem p = {1, 1, logarithm, 0, 0};
    double x[1] = {-1};
    struct fit_nlsq *r = run(&p, NONE, ALL, x);
    (void)s;
    assert_int_equal(r->end, FIT_NLSQ_FAILED);
    assert_true(isnan(r->cost));
    fit_nlsq_free(r);
}

static int wrong_sign(const double *x, double *r, double *J)
{
    r[0] = x[0] - 3;
    r[1] = 1;
    J[0] = -1; /* should be 1 */
    J[1] = 0;
    return 0;
}

static void test_wrong_derivatives_are_a_failure_not_a_convergence(void **s)
{
    struct problem p = {1, 2, wrong_sign, 0, 0};
    double x[1] = {1};
    struct fit_nlsq *r = run(&p, NONE, ALL, x);
    (void)s;
    assert_int_equal(r->end, FIT_NLSQ_FAILED);
    assert_int_equal(r->accepted, 0);
    assert_true(x[0] == 1);
    fit_nlsq_free(r);
}

static void test_start_at_the_minimum_converges_without_a_step(void **s)
{
    struct problem p = {1, 2, wrong_sign, 0, 0};
    double x[1] = {3};
    struct fit_nlsq *r = run(&p, NONE, ALL, x);
    (void)s;
    assert_int_equal(r->end, FIT_NLSQ_GRADIENT);
    assert_int_equal(r->accepted, 0);
    assert_int_equal(r->iterations, 0);
    fit_nlsq_free(r);
}

static int useless(const double *x, double *r, double *J)
{
    r[0] = x[0] * x[0] + 2 * x[0] - 5;
    r[1] = 0.5;
    memset(J, 0, 6 * sizeof *J);
    J[0] = 2 * x[0] + 2;
    return 0;
}

static void test_parameters_without_effect_stay_where_they_are(void **s)
{
    struct problem p = {3, 2, useless, 0, 0};
    double x[3] = {4, 7, -2};
    struct fit_nlsq *r = run(&p, NONE, ALL, x);
    (void)s;
    assert_true(converged(r));
    assert_true(fabs(x[0] - (sqrt(6) - 1)) < 1e-9);
    assert_true(x[1] == 7 && x[2] == -2);
    fit_nlsq_free(r);
}

static enum fit_nlsq_answer stop_after_three(void *user, const struct fit_nlsq_report *p)
{
    *(size_t *)user = p->iteration;
    return p->iteration >= 3 ? FIT_NLSQ_STOP : FIT_NLSQ_GO_ON;
}

static enum fit_nlsq_answer late(void *user, const struct fit_nlsq_report *p)
{
    (void)user;
    return p->iteration >= 2 ? FIT_NLSQ_TIME_IS_UP : FIT_NLSQ_GO_ON;
}

static void test_iterations_and_the_callback_end_the_run(void **s)
{
    struct problem p = {2, 2, rosenbrock, 0, 0};
    struct fit_nlsq *r = fit_nlsq_new(2);
    struct fit_nlsq_problem q = {2, NONE, ALL, 1, 0, &p, value, normal, NULL, NULL, 0};
    struct fit_nlsq_options o = {.max_iterations = 2, .gtol = 1e-8};
    double x[2] = {-1.2, 1};
    size_t seen = 0;
    (void)s;
    assert_int_equal(fit_nlsq_run(r, &q, &o, x), FIT_NLSQ_LIMIT);
    assert_int_equal(r->iterations, 2);
    assert_true(r->cost < 12.1); /* 12.1 at the start */
    o.max_iterations = 100;
    o.watch = stop_after_three;
    o.watch_user = &seen;
    x[0] = -1.2, x[1] = 1;
    assert_int_equal(fit_nlsq_run(r, &q, &o, x), FIT_NLSQ_STOPPED);
    assert_int_equal(seen, 3);
    o.watch = late;
    x[0] = -1.2, x[1] = 1;
    assert_int_equal(fit_nlsq_run(r, &q, &o, x), FIT_NLSQ_LIMIT);
    assert_int_equal(r->iterations, 2);
    fit_nlsq_free(r);
}

/* What the objective answers, at its call number `when`; until then Rosenbrock's function. */
struct ending {
    struct problem p;
    int when;
    enum fit_eval answer;
};

static enum fit_eval value_until(void *user, const double *x, double *cost, double *error)
{
    struct ending *e = user;
    const enum fit_eval is = value(&e->p, x, cost, error);
    return e->p.values >= e->when ? e->answer : is;
}

static enum fit_eval normal_until(void *user, const double *x, double *B, double *g)
{
    struct ending *e = user;
    return normal(&e->p, x, B, g);
}

/* Stopped inside a step: x and cost are those of the best point so far, which belong together. */
static void test_an_objective_that_asks_to_stop_ends_the_run_at_the_best_point(void **s)
{
    (void)s;
    for (int when = 1; when < 9; when++) {
        struct ending e = {{2, 2, rosenbrock, 0, 0}, when, FIT_EVAL_STOP};
        struct fit_nlsq *r = fit_nlsq_new(2);
        struct fit_nlsq_problem q = {2, NONE, ALL, 1, 0, &e, value_until, normal_until, NULL, NULL, 0};
        struct fit_nlsq_options o = {.max_iterations = 100, .gtol = 1e-8};
        double x[2] = {-1.2, 1}, cost = NAN, error;
        assert_int_equal(fit_nlsq_run(r, &q, &o, x), FIT_NLSQ_STOPPED);
        assert_int_equal(e.p.values, when);
        if (when > 1) {
            value(&e.p, x, &cost, &error);
            assert_true(cost == r->cost && cost <= 12.1);
        } else {
            assert_true(isnan(r->cost));
        }
        fit_nlsq_free(r);
    }
}

/* No step is possible when every point but the start is rejected: no convergence is claimed, x stays. */
static void test_an_objective_that_rejects_every_step_fails_where_it_began(void **s)
{
    (void)s;
    struct ending e = {{2, 2, rosenbrock, 0, 0}, 2, FIT_EVAL_REJECT};
    struct fit_nlsq *r = fit_nlsq_new(2);
    struct fit_nlsq_problem q = {2, NONE, ALL, 1, 0, &e, value_until, normal_until, NULL, NULL, 0};
    struct fit_nlsq_options o = {.max_iterations = 100, .xtol = 1e-12, .gtol = 1e-8};
    double x[2] = {-1.2, 1};
    assert_int_equal(fit_nlsq_run(r, &q, &o, x), FIT_NLSQ_FAILED);
    assert_true(x[0] == -1.2 && x[1] == 1 && fabs(r->cost - 12.1) < 1e-12);
    fit_nlsq_free(r);
}

/* Three parameters of which data see the sum of two: rank 2.  Without bounds one of many minima, near the start; with
 * bounds in the way of one of the two the other does its work. */
static int sum_of_two(const double *x, double *r, double *J)
{
    memset(J, 0, 9 * sizeof *J);
    r[0] = x[0] + x[1] - 3;
    J[0] = J[1] = 1;
    r[1] = 2 * (x[0] + x[1]) - 6;
    J[3] = J[4] = 2;
    r[2] = x[2] * x[2] - 4;
    J[8] = 2 * x[2];
    return 0;
}

static void test_dependent_columns_are_no_obstacle(void **s)
{
    (void)s;
    struct problem p = {3, 3, sum_of_two, 0, 0}, q = p;
    double x[3] = {10, -1, 5}, y[3] = {0, 0, 5}, lower[3] = {-1, -1, -1}, upper[3] = {0.5, 5, 9};
    struct fit_nlsq *r = run(&p, NONE, ALL, x);
    assert_true(converged(r) && r->cost < 1e-20);
    assert_true(fabs(x[0] + x[1] - 3) < 1e-10 && fabs(x[2] - 2) < 1e-10);
    assert_true(fabs(x[0]) < 20 && fabs(x[1]) < 20); /* the way along the valley of minima is not gone */
    fit_nlsq_free(r);
    r = run(&q, lower, upper, y);
    assert_true(converged(r) && r->cost < 1e-20);
    assert_true(y[0] <= 0.5 && fabs(y[0] + y[1] - 3) < 1e-10);
    fit_nlsq_free(r);
}

/* Both bounds are in the way, in a corner of the box, reached exactly and in few steps. */
static void test_a_minimum_in_a_corner_of_the_box(void **s)
{
    (void)s;
    struct problem p = {2, 2, rosenbrock, 0, 0};
    double x[2] = {-1.2, 1}, lower[2] = {-2, 0.75}, upper[2] = {0.5, 2};
    struct fit_nlsq *r = run(&p, lower, upper, x);
    /* the slope of the cost there: down in x[0] beyond 0.5, up in x[1] from 0.75 on */
    assert_true(converged(r) && (x[0] == 0.5 || x[0] < -0.5) && x[1] >= 0.75);
    double slope = -200 * x[0] * (x[1] - x[0] * x[0]) - (1 - x[0]);
    assert_true(x[0] == 0.5 ? slope < 0 && x[1] == 0.75 : fabs(slope) < 1e-6);
    assert_true(r->iterations < 40);
    fit_nlsq_free(r);
}

static void test_a_cost_that_is_known_at_the_start_is_not_asked_for_again(void **s)
{
    struct problem p = {2, 2, rosenbrock, 0, 0};
    struct fit_nlsq *r = fit_nlsq_new(2);
    struct fit_nlsq_problem q = {2, NONE, ALL, 1, 0, &p, value, normal, NULL, NULL, 0};
    double x[2] = {-1.2, 1}, y[2] = {-1.2, 1}, known[2];
    (void)s;
    struct fit_nlsq_options o = {.max_iterations = 200, .ftol = 1e-14, .xtol = 1e-12, .gtol = 1e-8};
    fit_nlsq_run(r, &q, &o, x);
    int values = p.values;
    assert_int_equal(value(&p, y, &known[0], &known[1]), FIT_EVAL_OK);
    p.values = 0;
    o.known = known;
    fit_nlsq_run(r, &q, &o, y);
    assert_int_equal(p.values, values - 1);
    assert_memory_equal(x, y, sizeof x);
    fit_nlsq_free(r);
}

/* Even in x[0], whose derivative vanishes at the minimum 0 while the cost bends there; the other two in a valley. */
static int symmetric(const double *x, double *r, double *J)
{
    memset(J, 0, 12 * sizeof *J);
    r[0] = x[0] * x[0] + 1 + 0.1 * x[1];
    J[0] = 2 * x[0];
    J[1] = 0.1;
    r[1] = 100 * (x[1] - x[2] * x[2]);
    J[4] = 100;
    J[5] = -200 * x[2];
    r[2] = 0.1 * (x[2] - 3);
    J[8] = 0.1;
    r[3] = 0.1 * x[1];
    J[10] = 0.1;
    return 0;
}

/* Iterations from x, with second derivatives or without; with them the minimum is found, at x[0] = 0. */
static size_t iterations_from(struct problem *p, int curved, double *x)
{
    struct fit_nlsq *r = fit_nlsq_new(p->n);
    struct fit_nlsq_problem q = {p->n, NONE, ALL, 1, 0, p, value, normal, NULL, NULL, 0};
    struct fit_nlsq_options o = {.max_iterations = 2000, .ftol = 1e-14, .xtol = 1e-12, .gtol = 1e-8, .curved = curved};
    assert_non_null(r);
    fit_nlsq_run(r, &q, &o, x);
    if (curved)
        assert_true(converged(r) && fabs(x[0]) < 1e-6 && r->current && p->values == (int)r->evaluations);
    size_t n = r->iterations;
    fit_nlsq_free(r);
    return n;
}

static void test_second_derivatives_end_what_gauss_newton_does_not(void **s)
{
    (void)s;
    struct problem p[2] = {{3, 4, symmetric, 0, 0}, {3, 4, symmetric, 0, 0}};
    double x[2][3] = {{0.7, 4, 2}, {0.7, 4, 2}};
    size_t without = iterations_from(&p[0], 0, x[0]), with = iterations_from(&p[1], 1, x[1]);
    /* the derivative along the valley x[1] = x[2]^2, to what 100 leaves of it */
    const double *y = x[1];
    double g = (0.1 * (y[0] * y[0] + 1 + 0.1 * y[1]) + 0.01 * y[1]) * 2 * y[2] + 0.01 * (y[2] - 3);
    assert_true(fabs(g) < 1e-4);
    printf("    %zu iterations without second derivatives, %zu with them\n", without, with);
    assert_true(2 * with < without);
}

static enum fit_eval gradient(void *user, const double *x, double *g)
{
    struct problem *p = user;
    double B[8 * 8];
    const enum fit_eval e = normal(user, x, B, g);
    p->normals--;
    return e;
}

/* A run that begins near its end takes its steps by the matrix of another point, without one of its own; the end is
 * that of any run.  From afar, or where the matrix misleads, it asks for one. */
static void test_a_known_matrix_serves_near_the_end(void **s)
{
    (void)s;
    const double start[3][2] = {{1.001, 1.0019}, {-1.2, 1}, {1.001, 1.0019}};
    for (int k = 0; k < 3; k++) {
        struct problem p = {2, 2, rosenbrock, 0, 0};
        double x[2] = {1.01, 1.02}, near[4], g[2];
        normal(&p, x, near, g);
        for (int i = 0; i < 4; i++)
            near[i] *= k == 2 ? 1e-6 : 1;
        memcpy(x, start[k], sizeof x);
        p.normals = 0;
        struct fit_nlsq *r = fit_nlsq_new(2);
        struct fit_nlsq_problem q = {2, NONE, ALL, 1, 0, &p, value, normal, gradient, NULL, 1};
        struct fit_nlsq_options o = {.max_iterations = 200, .gtol = 1e-7, .near = near};
        assert_non_null(r);
        assert_int_equal(fit_nlsq_run(r, &q, &o, x), FIT_NLSQ_GRADIENT);
        assert_true(fabs(x[0] - 1) < 1e-6 && fabs(x[1] - 1) < 2e-6 && r->gradient <= 1e-7);
        assert_true(k == 0 ? p.normals == 0 : p.normals > 0);
        fit_nlsq_free(r);
    }
}

/* The same, while the cost bends down in another direction, along which there is a long way to go. */
static int symmetric_on_a_ridge(const double *x, double *r, double *J)
{
    r[0] = x[0] * x[0] + 1 + 0.02 * x[1];
    J[0] = 2 * x[0];
    J[1] = 0.02;
    r[1] = 10 * cos(0.01 * x[1]);
    J[2] = 0;
    J[3] = -0.1 * sin(0.01 * x[1]);
    return 0;
}

static void test_second_derivatives_help_where_the_cost_is_no_bowl(void **s)
{
    (void)s;
    struct problem p[2] = {{2, 2, symmetric_on_a_ridge, 0, 0}, {2, 2, symmetric_on_a_ridge, 0, 0}};
    double x[2][2] = {{0.7, 10}, {0.7, 10}};
    size_t without = iterations_from(&p[0], 0, x[0]), with = iterations_from(&p[1], 1, x[1]);
    printf("    %zu iterations without second derivatives, %zu with them\n", without, with);
    assert_true(3 * with < 2 * without);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rosenbrock_is_solved_to_rounding),
        cmocka_unit_test(test_minimum_on_a_bound_lies_exactly_on_it),
        cmocka_unit_test(test_a_bound_touched_on_the_way_is_left_again),
        cmocka_unit_test(test_a_held_parameter_does_not_move),
        cmocka_unit_test(test_powell_singular_reaches_zero_although_the_jacobian_is_singular_there),
        cmocka_unit_test(test_a_local_minimum_with_large_residuals_is_found),
        cmocka_unit_test(test_a_rejected_point_shortens_the_step),
        cmocka_unit_test(test_no_value_at_the_start_is_a_failure),
        cmocka_unit_test(test_wrong_derivatives_are_a_failure_not_a_convergence),
        cmocka_unit_test(test_start_at_the_minimum_converges_without_a_step),
        cmocka_unit_test(test_parameters_without_effect_stay_where_they_are),
        cmocka_unit_test(test_iterations_and_the_callback_end_the_run),
        cmocka_unit_test(test_an_objective_that_asks_to_stop_ends_the_run_at_the_best_point),
        cmocka_unit_test(test_an_objective_that_rejects_every_step_fails_where_it_began),
        cmocka_unit_test(test_dependent_columns_are_no_obstacle),
        cmocka_unit_test(test_a_minimum_in_a_corner_of_the_box),
        cmocka_unit_test(test_a_cost_that_is_known_at_the_start_is_not_asked_for_again),
        cmocka_unit_test(test_second_derivatives_end_what_gauss_newton_does_not),
        cmocka_unit_test(test_a_known_matrix_serves_near_the_end),
        cmocka_unit_test(test_second_derivatives_help_where_the_cost_is_no_bowl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
