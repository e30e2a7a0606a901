/* test_optimize.c -- optimizers of many variables find known minima, keep to bounds exactly, say truly how they ended,
 * and go on from a file with the same bits. */
#include "optimize/method.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST = 1000 };

/* ---- functions -------------------------------------------------------------------------------- */

struct function {
    size_t n;
    double (*f)(size_t n, const double *x, double *g);
    size_t calls, nan_from; /* from this call on the value is not a number; 0: never */
    double wall;            /* beyond x[0] > wall there is no value; 0: none */
    int fails;              /* 1: ends with a failure */
    double last_f;
};

static enum fit_status value_gradient(void *context, const double *x, double *f, double *g, struct fit_error *err)
{
    struct function *p = context;
    p->calls++;
    if (p->fails)
        return fit_fail(err, FIT_ERR_DATA, "no data");
    *f = p->f(p->n, x, g);
    if ((p->nan_from && p->calls >= p->nan_from) || (p->wall != 0 && x[0] > p->wall))
        *f = NAN;
    p->last_f = *f;
    return FIT_OK;
}

/* Condition 1e4. */
static double quadratic(size_t n, const double *x, double *g)
{
    double f = 0;
    for (size_t k = 0; k < n; k++) {
        const double a = pow(1e4, n > 1 ? (double)k / (double)(n - 1) : 0), z = x[k] - 1 - (double)(k % 3);
        f += 0.5 * a * z * z;
        g[k] = a * z;
    }
    return f;
}

static double rosenbrock(size_t n, const double *x, double *g)
{
    double f = 0;
    memset(g, 0, n * sizeof *g);
    for (size_t k = 0; k + 1 < n; k++) {
        const double a = x[k + 1] - x[k] * x[k], b = 1 - x[k];
        f += 100 * a * a + b * b;
        g[k] += -400 * a * x[k] - 2 * b;
        g[k + 1] += 200 * a;
    }
    return f;
}

/* Brown, badly scaled (More, Garbow & Hillstrom, ACM TOMS 7 (1981) 17, function 4); minimum (1e6, 2e-6). */
static double brown(size_t n, const double *x, double *g)
{
    const double a = x[0] - 1e6, b = x[1] - 2e-6, c = x[0] * x[1] - 2;
    (void)n;
    g[0] = 2 * a + 2 * c * x[1];
    g[1] = 2 * b + 2 * c * x[0];
    return a * a + b * b + c * c;
}

/* The driver problem of the papers on L-BFGS-B: chained squares. */
static double chained(size_t n, const double *x, double *g)
{
    double f = 0.25 * (x[0] - 1) * (x[0] - 1);
    memset(g, 0, n * sizeof *g);
    g[0] = 2 * (x[0] - 1);
    for (size_t k = 1; k < n; k++) {
        const double a = x[k] - x[k - 1] * x[k - 1];
        f += a * a;
        g[k - 1] -= 16 * x[k - 1] * a;
        g[k] += 8 * a;
    }
    return 4 * f;
}

static double linear(size_t n, const double *x, double *g)
{
    double f = 0;
    for (size_t k = 0; k < n; k++) {
        f -= x[k];
        g[k] = -1;
    }
    return f;
}

/* A gradient of the wrong sign: no step lowers the value. */
static double liar(size_t n, const double *x, double *g)
{
    const double f = quadratic(n, x, g);
    for (size_t k = 0; k < n; k++)
        g[k] = -g[k];
    return f;
}

/* A slope down to a cliff so high that beside it the minimum of every parabola is the foot. */
static double cliff(size_t n, const double *x, double *g)
{
    return x[0] <= 2 ? linear(n, x, g) : 1e40;
}

/* As if a long sum rounded its fourteenth digit: this hides the last decreases, which the gradient still tells. */
static double rounded(size_t n, const double *x, double *g)
{
    return 1e3 + rosenbrock(n, x, g) + 2e-11 * sin(1e11 * x[0]);
}

/* ---- runs ------------------------------------------------------------------------------------- */

static const struct fit_optimize_method *const LINE_SEARCHES[] = {&fit_optimize_lbfgsb, &fit_optimize_lbfgs,
                                                                  &fit_optimize_lbfgs_bt};
static const struct fit_optimize_method *const ALL[] = {
    &fit_optimize_lbfgsb, &fit_optimize_lbfgs, &fit_optimize_lbfgs_bt, &fit_optimize_adam,
    &fit_optimize_adamw,  &fit_optimize_sgd,   &fit_optimize_rmsprop};
enum { NLINE = 3, NALL = 7 };

static struct fit_optimize_options precise(void)
{
    struct fit_optimize_options opt = fit_optimize_defaults();
    opt.maxiter = 10000;
    opt.ftol = 0;
    opt.gtol = 1e-8;
    return opt;
}

static enum fit_status run_in(const struct fit_optimize_method *m, struct function *f, const double *lower,
                              const double *upper, const struct fit_optimize_options *opt, double *x,
                              struct fit_optimize_result *r, struct fit_error *err)
{
    struct fit_optimize *o;
    struct fit_optimize_problem p = {.n = f->n,
                                     .lower = lower,
                                     .upper = upper,
                                     .context = f,
                                     .value_gradient = value_gradient,
                                     .identity = "a test"};
    enum fit_status st = fit_optimize_new(&o, m, f->n, opt, err);
    if (st == FIT_OK)
        st = fit_optimize_run(o, &p, x, r, err);
    fit_optimize_free(o);
    if (st == FIT_OK && r->end != FIT_OPTIMIZE_NONFINITE) { /* the value is that of the x that is returned */
        double g[MOST], most = 0;
        assert_true(r->f == f->f(f->n, x, g));
        for (size_t k = 0; k < f->n && !lower && !upper; k++)
            most = fmax(most, fabs(g[k]));
        assert_true(lower || upper || r->gradient_max == most);
        assert_int_equal(r->nfev, f->calls);
    }
    return st;
}

static struct fit_optimize_result run(const struct fit_optimize_method *m, struct function *f, const double *lower,
                                      const double *upper, const struct fit_optimize_options *opt, double *x)
{
    struct fit_error err = {0};
    struct fit_optimize_result r;
    if (run_in(m, f, lower, upper, opt, x, &r, &err) != FIT_OK)
        fail_msg("%s", err.message);
    return r;
}

static void fill(size_t n, double *x, double v)
{
    for (size_t k = 0; k < n; k++)
        x[k] = v;
}

/* ---- minima ----------------------------------------------------------------------------------- */

static void test_quadratics_are_solved(void **state)
{
    static const size_t sizes[] = {1, 2, 17, 200};
    const struct fit_optimize_options opt = precise();
    (void)state;
    for (size_t k = 0; k < NLINE; k++)
        for (size_t i = 0; i < 4; i++) {
            struct function f = {.n = sizes[i], .f = quadratic};
            double x[MOST];
            fill(f.n, x, -3);
            const struct fit_optimize_result r = run(LINE_SEARCHES[k], &f, NULL, NULL, &opt, x);
            assert_true(fit_optimize_converged(r.end));
            for (size_t j = 0; j < f.n; j++)
                assert_true(fabs(x[j] - 1 - (double)(j % 3)) < 1e-7);
        }
}

static void test_rosenbrock_of_many_variables(void **state)
{
    static const size_t sizes[] = {2, 10, 100, 1000};
    const struct fit_optimize_options opt = precise();
    (void)state;
    for (size_t k = 0; k < NLINE; k++)
        for (size_t i = 0; i < 4; i++) {
            struct function f = {.n = sizes[i], .f = rosenbrock};
            double x[MOST];
            for (size_t j = 0; j < f.n; j++)
                x[j] = j % 2 ? 1 : -1.2;
            const struct fit_optimize_result r = run(LINE_SEARCHES[k], &f, NULL, NULL, &opt, x);
            print_message("%s n %zu: %s f %.3g nit %zu nfev %zu\n", LINE_SEARCHES[k]->name, f.n,
                          fit_optimize_end_name(r.end), r.f, r.nit, r.nfev);
            assert_true(fit_optimize_converged(r.end));
            assert_true(r.f < 1e-12 || fabs(r.f - 3.98658) < 1e-3); /* the other minimum, x[0] near -1 */
        }
}

/* scipy 1.17.1, L-BFGS-B with ftol 0, gtol 1e-10, has the same minima: x[0] 0.5, f 0.25; Brown f 0. */
static void test_bounds_are_met_exactly(void **state)
{
    struct fit_optimize_options opt = precise();
    struct function f = {.n = 2, .f = rosenbrock};
    double x[2] = {-1.2, 1};
    const double lower[2] = {-2, -2}, upper[2] = {0.5, 2};
    (void)state;
    struct fit_optimize_result r = run(&fit_optimize_lbfgsb, &f, lower, upper, &opt, x);
    assert_true(fit_optimize_converged(r.end));
    assert_true(x[0] == 0.5 && fabs(x[1] - 0.25) < 1e-9);
    assert_true(fabs(r.f - 0.25) < 1e-14);

    struct function b = {.n = 2, .f = brown};
    double z[2] = {1, 1};
    const double low[2] = {0, 3e-5}, high[2] = {1e6, 100};
    r = run(&fit_optimize_lbfgsb, &b, low, high, &opt, z);
    print_message("brown %s %.17g %.17g %.17g nit %zu\n", fit_optimize_end_name(r.end), z[0], z[1], r.f, r.nit);
    assert_true(fit_optimize_converged(r.end));
    assert_true(z[1] == 3e-5 || z[0] == 1e6);
}

static void test_many_active_bounds(void **state)
{
    static const size_t sizes[] = {25, 100, 1000};
    struct fit_optimize_options opt = precise();
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (size_t m = 3; m <= 30; m += 9) {
            struct function f = {.n = sizes[i], .f = chained};
            double x[MOST], lower[MOST], upper[MOST];
            for (size_t k = 0; k < f.n; k++) { /* as in the driver: odd variables above 1 */
                lower[k] = k % 2 ? -100 : 1;
                upper[k] = 100;
                x[k] = 3;
            }
            opt.memory = m;
            const struct fit_optimize_result r = run(&fit_optimize_lbfgsb, &f, lower, upper, &opt, x);
            print_message("chained n %zu m %zu: %s f %.17g nit %zu nfev %zu\n", f.n, m, fit_optimize_end_name(r.end),
                          r.f, r.nit, r.nfev);
            assert_true(fit_optimize_converged(r.end));
        }
}

static void test_a_corner_is_reached(void **state)
{
    const struct fit_optimize_options opt = precise();
    (void)state;
    struct function f = {.n = 40, .f = linear};
    double x[MOST], lower[MOST], upper[MOST];
    for (size_t k = 0; k < f.n; k++) {
        lower[k] = -1;
        upper[k] = 1 + (double)k;
        x[k] = -5;
    }
    const struct fit_optimize_result r = run(&fit_optimize_lbfgsb, &f, lower, upper, &opt, x);
    assert_int_equal(r.end, FIT_OPTIMIZE_GTOL);
    assert_true(r.gradient_max == 0);
    assert_memory_equal(x, upper, f.n * sizeof *x);
}

/* ---- ends ------------------------------------------------------------------------------------- */

static int stop_at_three(void *user, const struct fit_optimize_report *r)
{
    *(size_t *)user = r->iteration;
    return r->iteration == 3;
}

/* On a slope of 1 the means of gradients are known in closed form. */
static void test_steps_of_first_order_methods_are_as_long_as_published(void **state)
{
    const double lr = 0.01, eps = 1e-8;
    double adam = 0, adamw = 0, rms = 0, sgd = 0;
    struct fit_optimize_options opt = precise();
    (void)state;
    opt.learning_rate = lr;
    for (int k = 1; k <= 12; k++) {
        const struct fit_optimize_method *const method[] = {&fit_optimize_sgd, &fit_optimize_rmsprop,
                                                            &fit_optimize_adam, &fit_optimize_adamw};
        sgd += lr;
        rms += lr / sqrt(1 - pow(0.9, k) + eps);
        adam += lr / (1 + eps);
        adamw += lr / (1 + eps) - lr * 1e-4 * adamw;
        const double expected[] = {sgd, rms, adam, adamw};
        opt.maxiter = (size_t)k;
        for (size_t i = 0; i < 4; i++) {
            struct function f = {.n = 9, .f = linear};
            double x[9] = {0};
            const struct fit_optimize_result r = run(method[i], &f, NULL, NULL, &opt, x);
            assert_int_equal(r.end, FIT_OPTIMIZE_MAXITER);
            for (size_t j = 0; j < f.n; j++)
                if (!(fabs(x[j] - expected[i]) < 1e-12 * expected[i]))
                    fail_msg("%s, %d steps: %.17g, should be %.17g", method[i]->name, k, x[j], expected[i]);
        }
    }
}

static void test_ends_are_told_truly(void **state)
{
    struct fit_optimize_options opt = precise();
    (void)state;
    for (size_t k = 0; k < NALL; k++) {
        struct function f = {.n = 10, .f = rosenbrock};
        double x[10] = {0};
        size_t seen = 0;
        opt = precise();
        opt.maxiter = 7;
        opt.learning_rate = 1e-4;
        struct fit_optimize_result r = run(ALL[k], &f, NULL, NULL, &opt, x);
        assert_int_equal(r.end, FIT_OPTIMIZE_MAXITER);
        assert_int_equal(r.nit, 7);
        assert_false(fit_optimize_converged(r.end));

        opt.watch = stop_at_three;
        opt.watch_user = &seen;
        f.calls = 0;
        fill(10, x, 0);
        r = run(ALL[k], &f, NULL, NULL, &opt, x);
        assert_int_equal(r.end, FIT_OPTIMIZE_USER_STOP);
        assert_true(r.nit == 3 && seen == 3);

        f.calls = 0;
        opt.gtol = 1e9;
        r = run(ALL[k], &f, NULL, NULL, &opt, x);
        assert_int_equal(r.end, FIT_OPTIMIZE_GTOL);
        assert_true(r.nit == 0 && r.nfev == 1);

        opt.gtol = 0;
        opt.ftol = 1e9;
        opt.watch = NULL;
        f.calls = 0;
        r = run(ALL[k], &f, NULL, NULL, &opt, x);
        assert_int_equal(r.end, FIT_OPTIMIZE_FTOL);
        assert_int_equal(r.nit, k < NLINE ? 1 : 5);
        opt.ftol_repeats = 3;
        f.calls = 0;
        r = run(ALL[k], &f, NULL, NULL, &opt, x);
        assert_int_equal(r.nit, 3);
        opt.fixed = 1; /* no tests: all iterations */
        f.calls = 0;
        fill(10, x, 0);
        r = run(ALL[k], &f, NULL, NULL, &opt, x);
        assert_int_equal(r.nit, 7);
        assert_int_equal(r.end, FIT_OPTIMIZE_MAXITER);
    }
}

static void test_values_that_are_not_finite(void **state)
{
    struct fit_optimize_options opt = precise();
    (void)state;
    for (size_t k = 0; k < NALL; k++) {
        struct function start = {.n = 4, .f = rosenbrock, .nan_from = 1};
        double x[4] = {0.5, 0.5, 0.5, 0.5};
        opt.learning_rate = 1e-4;
        struct fit_optimize_result r = run(ALL[k], &start, NULL, NULL, &opt, x);
        assert_int_equal(r.end, FIT_OPTIMIZE_NONFINITE);
        assert_true(r.nit == 0 && x[0] == 0.5);
        struct function later = {.n = 4, .f = rosenbrock, .nan_from = 9};
        r = run(ALL[k], &later, NULL, NULL, &opt, x);
        assert_int_equal(r.end, FIT_OPTIMIZE_NONFINITE);
        double g[4];
        assert_true(r.f == rosenbrock(4, x, g) && r.f < 0.25 * 400); /* the last point that had a value */
    }
    for (size_t k = 0; k < NLINE; k++) { /* a wall on the way is gone around */
        struct function f = {.n = 2, .f = rosenbrock, .wall = 1.05};
        double x[2] = {-1.2, 1};
        const struct fit_optimize_result r = run(LINE_SEARCHES[k], &f, NULL, NULL, &opt, x);
        assert_true(fit_optimize_converged(r.end) && r.f < 1e-12);
    }
}

static void test_rounding_ends_the_search(void **state)
{
    struct fit_optimize_options opt = precise();
    (void)state;
    opt.ftol = opt.gtol = 0;
    opt.maxiter = 5000;
    for (size_t k = 0; k < NLINE; k++) {
        struct function f = {.n = 4, .f = rounded};
        double x[4] = {-1.2, 1, -1.2, 1};
        const struct fit_optimize_result r = run(LINE_SEARCHES[k], &f, NULL, NULL, &opt, x);
        if (!fit_optimize_converged(r.end) || !(fabs(x[0] - 1) < 1e-3))
            fail_msg("%s: %s at %.17g: %s", LINE_SEARCHES[k]->name, fit_optimize_end_name(r.end), x[0], r.reason);
    }
}

/* A trial that is an end of the interval tells nothing new: the best point is taken, and the interval not halved on. */
static void test_a_trial_at_an_end_is_the_last(void **state)
{
    struct fit_optimize_options opt = precise();
    struct function f = {.n = 1, .f = cliff};
    double x[1] = {0};
    (void)state;
    opt.maxiter = 1;
    const struct fit_optimize_result r = run(&fit_optimize_lbfgsb, &f, NULL, NULL, &opt, x);
    assert_int_equal(r.end, FIT_OPTIMIZE_MAXITER);
    assert_true(x[0] == 1 && r.f == -1);
    assert_int_equal(f.calls, 4); /* at 0, 1, 5, and 1 once more */
}

static void test_a_wrong_gradient_ends_the_search(void **state)
{
    struct fit_optimize_options opt = precise();
    (void)state;
    for (size_t k = 0; k < NLINE; k++) {
        struct function f = {.n = 5, .f = liar};
        double x[5] = {0};
        opt.accept_last = 0;
        struct fit_optimize_result r = run(LINE_SEARCHES[k], &f, NULL, NULL, &opt, x);
        assert_int_equal(r.end, FIT_OPTIMIZE_LINESEARCH);
        assert_int_equal(r.nit, 0);
        assert_true(x[0] == 0);
    }
    struct function f = {.n = 5, .f = liar};
    double x[5] = {0};
    opt.accept_last = 1;
    opt.maxiter = 3;
    const struct fit_optimize_result r = run(&fit_optimize_lbfgs_bt, &f, NULL, NULL, &opt, x);
    assert_int_equal(r.end, FIT_OPTIMIZE_MAXITER);
}

static void test_what_a_method_cannot_do_is_refused(void **state)
{
    struct fit_optimize_options opt = precise();
    struct function f = {.n = 2, .f = rosenbrock};
    struct fit_optimize_result r;
    struct fit_error err = {0};
    double x[2] = {0}, lower[2] = {0, -INFINITY}, upper[2] = {-1, INFINITY};
    (void)state;
    assert_int_equal(run_in(&fit_optimize_lbfgs, &f, lower, NULL, &opt, x, &r, &err), FIT_ERR_CONFIG);
    assert_non_null(strstr(err.message, "lbfgsb"));
    assert_int_equal(run_in(&fit_optimize_lbfgsb, &f, lower, upper, &opt, x, &r, &err), FIT_ERR_CONFIG);
    assert_non_null(strstr(err.message, "variable 1"));
    f.fails = 1;
    assert_int_equal(run_in(&fit_optimize_lbfgsb, &f, NULL, NULL, &opt, x, &r, &err), FIT_ERR_DATA);
    assert_string_equal(err.message, "no data");
    opt.memory = 0;
    assert_int_equal(run_in(&fit_optimize_lbfgsb, &f, NULL, NULL, &opt, x, &r, &err), FIT_ERR_CONFIG);
    opt = precise();
    opt.ftol = NAN;
    assert_int_equal(run_in(&fit_optimize_lbfgsb, &f, NULL, NULL, &opt, x, &r, &err), FIT_ERR_CONFIG);
    opt = precise();
    opt.learning_rate = 0;
    assert_int_equal(run_in(&fit_optimize_adam, &f, NULL, NULL, &opt, x, &r, &err), FIT_ERR_CONFIG);
}

/* ---- state files ------------------------------------------------------------------------------ */

static void resumed_is_the_same(const struct fit_optimize_method *m, const double *lower, const char *path)
{
    struct fit_optimize_options opt = precise();
    double whole[60], x[60];
    opt.maxiter = 60;
    opt.learning_rate = 1e-4;
    opt.memory = 7;
    struct function f = {.n = 60, .f = rosenbrock};
    fill(60, whole, 0.3);
    const struct fit_optimize_result all = run(m, &f, lower, NULL, &opt, whole);
    opt.state_file = path;
    opt.state_every = 4;
    fill(60, x, 0.3);
    struct fit_optimize_result r = {0};
    f.calls = 0;
    for (size_t until = 1; until <= 60; until += until < 20 ? 1 : 5) {
        const size_t before = r.nit;
        opt.maxiter = until > 60 - 5 ? 60 : until;
        fill(60, x, 99); /* the start is that of the file */
        if (until == 1)
            fill(60, x, 0.3);
        r = run(m, &f, lower, NULL, &opt, x);
        assert_int_equal(r.resumed, before);
    }
    unlink(path);
    assert_int_equal(r.nit, all.nit);
    assert_int_equal(r.nfev, all.nfev);
    assert_int_equal(r.end, all.end);
    assert_true(r.f == all.f && r.gradient_norm == all.gradient_norm);
    assert_memory_equal(x, whole, sizeof x);
}

static void test_a_run_goes_on_with_the_same_bits(void **state)
{
    char path[] = "/tmp/test_optimize_state_XXXXXX";
    double lower[60];
    (void)state;
    close(mkstemp(path));
    unlink(path);
    fill(60, lower, 0.2);
    for (size_t k = 0; k < NALL; k++)
        resumed_is_the_same(ALL[k], NULL, path);
    resumed_is_the_same(&fit_optimize_lbfgsb, lower, path);
    resumed_is_the_same(&fit_optimize_adam, lower, path);
}

static void damage(const char *path, long at)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, at, SEEK_SET);
    const int c = fgetc(f);
    fseek(f, at, SEEK_SET);
    fputc(c ^ 1, f);
    fclose(f);
}

static void test_files_of_other_runs_and_damaged_ones_are_refused(void **state)
{
    char path[] = "/tmp/test_optimize_other_XXXXXX";
    struct fit_optimize_options opt = precise();
    struct function f = {.n = 8, .f = rosenbrock};
    struct fit_optimize_result r;
    struct fit_error err = {0};
    double x[9] = {0}, lower[9] = {0};
    (void)state;
    close(mkstemp(path));
    unlink(path);
    opt.maxiter = 5;
    opt.state_file = path;
    run(&fit_optimize_lbfgsb, &f, NULL, NULL, &opt, x);
    opt.memory = 6;
    assert_int_equal(run_in(&fit_optimize_lbfgsb, &f, NULL, NULL, &opt, x, &r, &err), FIT_ERR_CONFIG);
    assert_non_null(strstr(err.message, "memory 50"));
    opt.memory = 50;
    assert_int_equal(run_in(&fit_optimize_adam, &f, NULL, NULL, &opt, x, &r, &err), FIT_ERR_CONFIG);
    assert_int_equal(run_in(&fit_optimize_lbfgsb, &f, lower, NULL, &opt, x, &r, &err), FIT_ERR_CONFIG);
    f.n = 9;
    assert_int_equal(run_in(&fit_optimize_lbfgsb, &f, NULL, NULL, &opt, x, &r, &err), FIT_ERR_CONFIG);
    f.n = 8;
    for (long at = 0; at < 4000; at += 333) {
        damage(path, at);
        assert_int_equal(run_in(&fit_optimize_lbfgsb, &f, NULL, NULL, &opt, x, &r, &err), FIT_ERR_DATA);
        damage(path, at);
    }
    assert_int_equal(truncate(path, 500), 0);
    assert_int_equal(run_in(&fit_optimize_lbfgsb, &f, NULL, NULL, &opt, x, &r, &err), FIT_ERR_DATA);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quadratics_are_solved),
        cmocka_unit_test(test_rosenbrock_of_many_variables),
        cmocka_unit_test(test_bounds_are_met_exactly),
        cmocka_unit_test(test_many_active_bounds),
        cmocka_unit_test(test_a_corner_is_reached),
        cmocka_unit_test(test_steps_of_first_order_methods_are_as_long_as_published),
        cmocka_unit_test(test_ends_are_told_truly),
        cmocka_unit_test(test_values_that_are_not_finite),
        cmocka_unit_test(test_rounding_ends_the_search),
        cmocka_unit_test(test_a_trial_at_an_end_is_the_last),
        cmocka_unit_test(test_a_wrong_gradient_ends_the_search),
        cmocka_unit_test(test_what_a_method_cannot_do_is_refused),
        cmocka_unit_test(test_a_run_goes_on_with_the_same_bits),
        cmocka_unit_test(test_files_of_other_runs_and_damaged_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
