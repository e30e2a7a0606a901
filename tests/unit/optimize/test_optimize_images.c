/* test_optimize_images.c -- every optimizer makes images from visibilities: a small one, and the standard problem of
 * 1600 pixels, whose minimum J* = 0.4395894 is known from elsewhere.  With an argument, the table of
 * docs/optimizers.md. */
#include "optimize/optimize.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "image_objective.h"

static const struct {
    const struct fit_optimize_method *method;
    const char *name;
    double rate; /* of learning, for the small image */
} METHOD[] = {{&fit_optimize_lbfgsb, "lbfgsb", 1},     {&fit_optimize_lbfgs, "lbfgs-zoom", 1},
              {&fit_optimize_lbfgs_bt, "lbfgs-bt", 1}, {&fit_optimize_adam, "adam", 1e-1},
              {&fit_optimize_adamw, "adamw", 1e-1},    {&fit_optimize_rmsprop, "rmsprop", 1e-1},
              {&fit_optimize_sgd, "sgd", 1e-2}};
enum { NMETHOD = sizeof METHOD / sizeof *METHOD };

static struct fit_optimize_result run(struct image_objective *q, const struct fit_optimize_method *m,
                                      const struct fit_optimize_options *opt, double *x)
{
    struct fit_error err = {0};
    struct fit_optimize *o;
    struct fit_optimize_result r;
    const struct fit_optimize_problem p = {.n = q->n, .context = q, .value_gradient = image_value_gradient};
    memcpy(x, q->start, q->n * sizeof *x);
    if (fit_optimize_new(&o, m, q->n, opt, &err) != FIT_OK || fit_optimize_run(o, &p, x, &r, &err) != FIT_OK)
        fail_msg("%s", err.message);
    fit_optimize_free(o);
    return r;
}

/* ---- a small image ---------------------------------------------------------------------------- */

enum { SMALL_SIDE = 12, SMALL_VISIBILITIES = 120 };

/* A Gaussian away from the centre, seen on a spiral of baselines with errors of 1 %; the prior is wide and central. */
static void small(struct image_objective *q)
{
    double u[SMALL_VISIBILITIES] = {0}, v[SMALL_VISIBILITIES] = {0}, z[2];
    *q = (struct image_objective){.p = 1, .eps = 1e-10, .flux = 1};
    image_take(q, SMALL_VISIBILITIES, SMALL_SIDE);
    for (size_t k = 0; k < q->nvis; k++) {
        const double t = (double)(k + 1) / SMALL_VISIBILITIES;
        u[k] = 0.25 * t * cos(40 * t);
        v[k] = 0.25 * t * sin(40 * t);
    }
    image_factors(q, u, v);
    double sum = 0, prior = 0;
    for (size_t k = 0; k < q->n; k++) {
        const double r = (double)(k / SMALL_SIDE) - 5.5, c = (double)(k % SMALL_SIDE) - 5.5;
        sum += q->truth[k] = exp(-((r - 2) * (r - 2) + (c + 1.5) * (c + 1.5)) / 4);
        prior += q->prior[k] = exp(-(r * r + c * c) / 32);
    }
    for (size_t k = 0; k < q->n; k++) {
        q->truth[k] /= sum;
        q->prior[k] /= prior;
        q->start[k] = log(q->prior[k]);
    }
    for (size_t k = 0; k < q->nvis; k++) {
        image_forward(q->side, q->truth, q->row + k * 2 * q->side, q->column + k * 2 * q->side, z);
        q->re[k] = z[0] + 0.01 * cos(123 * (double)k);
        q->im[k] = z[1] + 0.01 * sin(321 * (double)k);
        q->is2[k] = 1e4;
    }
}

static void test_every_method_makes_a_small_image(void **state)
{
    struct image_objective q;
    double x[SMALL_SIDE * SMALL_SIDE];
    (void)state;
    small(&q);
    assert_false(q.storage.failed);
    assert_true(image_correlation(&q, q.start) < 0.5);
    for (size_t k = 0; k < NMETHOD; k++) {
        struct fit_optimize_options opt = fit_optimize_defaults();
        opt.maxiter = 100;
        opt.learning_rate = METHOD[k].rate;
        const struct fit_optimize_result r = run(&q, METHOD[k].method, &opt, x);
        print_message("%s: %s J %.6f, correlation %.4f, nit %zu nfev %zu\n", METHOD[k].name,
                      fit_optimize_end_name(r.end), r.f, image_correlation(&q, x), r.nit, r.nfev);
        assert_true(image_correlation(&q, x) > 0.8);
    }
    image_free(&q);
}

/* ---- the standard image ----------------------------------------------------------------------- */

static const double BEST = 0.439589; /* best known J */

static void test_the_objective_is_that_of_the_other_program(void **state)
{
    struct image_objective q;
    double g[IMAGE_PIXELS], f, most = 0, worst = 0;
    struct fit_error err = {0};
    (void)state;
    assert_true(image_standard(&q));
    image_value_gradient(&q, q.start, &f, g, &err);
    assert_true(fabs(f - q.value_start) < 1e-11 * fabs(f));
    image_value_gradient(&q, q.point, &f, g, &err);
    assert_true(fabs(f - q.value_point) < 1e-11 * fabs(f));
    for (size_t k = 0; k < q.n; k++) {
        most = fmax(most, fabs(q.point_grad[k]));
        worst = fmax(worst, fabs(g[k] - q.point_grad[k]));
    }
    assert_true(worst < 1e-10 * most);
    image_free(&q);
}

static void test_200_iterations_of_the_standard_image(void **state)
{
    struct image_objective q;
    static double x[IMAGE_PIXELS], again[IMAGE_PIXELS];
    const struct fit_optimize_options opt = fit_optimize_defaults();
    (void)state;
    assert_true(image_standard(&q));
    const struct fit_optimize_result r = run(&q, &fit_optimize_lbfgsb, &opt, x);
    print_message("lbfgsb: %s J %.6f nit %zu nfev %zu\n", fit_optimize_end_name(r.end), r.f, r.nit, r.nfev);
    assert_int_equal(r.nit, 200);
    assert_true(r.f > BEST && r.f < 0.50);
    assert_true(r.nfev < 220);
    assert_true(fabs(image_correlation(&q, x) - 0.98264) < 0.01);
    const struct fit_optimize_result s = run(&q, &fit_optimize_lbfgsb, &opt, again);
    assert_true(s.f == r.f);
    assert_memory_equal(x, again, sizeof x);
    image_free(&q);
}

static void test_the_standard_image_converges(void **state)
{
    struct image_objective q;
    static double x[IMAGE_PIXELS];
    struct fit_optimize_options opt = fit_optimize_defaults();
    (void)state;
    opt.maxiter = 3000;
    opt.memory = 400;
    opt.ftol = 0;
    opt.gtol = 5e-5;
    assert_true(image_standard(&q));
    const struct fit_optimize_result r = run(&q, &fit_optimize_lbfgsb, &opt, x);
    print_message("lbfgsb: %s J %.7f nit %zu nfev %zu\n", fit_optimize_end_name(r.end), r.f, r.nit, r.nfev);
    assert_true(fit_optimize_converged(r.end));
    assert_true(r.f < BEST + 1e-4);
    image_free(&q);
}

/* ---- the table -------------------------------------------------------------------------------- */

static void table(void)
{
    static double x[IMAGE_PIXELS];
    struct image_objective q;
    if (!image_standard(&q))
        return;
    for (size_t k = 0; k < NMETHOD; k++)
        for (size_t most = 200; most <= 2000; most *= 10) {
            struct fit_optimize_options opt = fit_optimize_defaults();
            opt.maxiter = most;
            opt.ftol = 0;
            opt.learning_rate = k < 3 ? 1 : k == 6 ? 1e-2 : 1e-1;
            const clock_t begin = clock();
            const struct fit_optimize_result r = run(&q, METHOD[k].method, &opt, x);
            printf("%s %zu: %s J - J* %.3g, largest gradient %.2g, nit %zu nfev %zu, %.2f s\n", METHOD[k].name, most,
                   fit_optimize_end_name(r.end), r.f - 0.4395894, r.gradient_max, r.nit, r.nfev,
                   (double)(clock() - begin) / CLOCKS_PER_SEC);
        }
    image_free(&q);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        table();
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_method_makes_a_small_image),
        cmocka_unit_test(test_the_objective_is_that_of_the_other_program),
        cmocka_unit_test(test_200_iterations_of_the_standard_image),
        cmocka_unit_test(test_the_standard_image_converges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
