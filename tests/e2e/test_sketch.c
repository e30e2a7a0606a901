/* test_sketch.c -- the sketch of the cost (thin_profile.h) against the cost itself: at the minimum, and along profiles;
 * the crew (crew.h) that looks at both. */
#include "fit/fit.h"
#include "leastsquares/crew.h"
#include "leastsquares/fit_impl.h"
#include "leastsquares/problem.h"
#include "math/rng.h"
#include "errors/thin_profile.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NT = 200, NG = 2 };

static const double phi[NG] = {0, 40}, linear[NG * 2] = {0.3, 1, 0.3, 1};

/* Correlations that decay over many thinned frames. */
struct sample {
    const char *model;
    double dt, sigma, truth[16];
};
static const struct sample laminar = {"laminar",
                                      0.05,
                                      0.005,
                                      {8000, -0.2, 100, 0.005, -0.3, 0.001, -3}},
                           heterodyne = {"heterodyne",
                                         0.1,
                                         0.005,
                                         {1000, 0.2, 1000, 4000, -0.3, 1500, 60, 0.1, 5, 0.5, 0.02,
                                          1, 0.01, -3}};

static struct fit_dataset *data_of(const struct fit_kernel *k, const struct sample *s)
{
    struct fit_error err = {0};
    struct fit_dataset *ds = e2e_dataset(
        k, &(struct e2e_grid){
               .ntime = NT, .dt = s->dt, .q = 0.0054, .gap = 2e6, .nphi = NG, .phi = phi});
    struct e2e_prepared p = e2e_prepare(k, &ds->layout, s->truth);
    double *matrix = e2e_doubles(NT * NT);
    struct fit_rng rng = {.seed = 11, .purpose = FIT_RNG_START};
    for (uint32_t g = 0; g < NG; g++) {
        for (uint32_t i = 0; i < NT; i++)
            for (uint32_t j = i + 1; j < NT; j++) {
                double z;
                k->points(&ds->layout, p.ws, linear, &(struct fit_points){1, &i, &j, &g}, &matrix[i * NT + j], NULL);
                fit_rng_next_normals(&rng, 1, &z);
                matrix[i * NT + j] += s->sigma * z;
            }
        matrix[3 * NT + 7] = NAN; /* a value that does not count */
        assert_int_equal(fit_dataset_put(ds, g, matrix, NULL, &err), FIT_OK);
    }
    assert_int_equal(fit_dataset_finish(ds, &err), FIT_OK);
    free(matrix);
    e2e_release(&p);
    return ds;
}

/* A fit, and what a sketch wants to know of it. */
struct setting {
    const struct fit_kernel *k;
    struct fit_dataset *ds;
    struct fit_result r;
    struct fit_error err;
    struct fit_options opt;
    struct fit_ls run;
    struct fit_sketch *sketch;
    double g[16], B[256], cost, variance;
};

static void begin(struct setting *x, const struct sample *s, int threads)
{
    *x = (struct setting){.k = e2e_kernel(s->model, "fast", NULL)};
    x->ds = data_of(x->k, s);
    fit_options_default(&x->opt);
    x->opt.start = s->truth;
    x->opt.start_only = 1;
    x->opt.threads = threads;
    assert_int_equal(fit_run(x->k, x->ds, &x->opt, &x->r, &x->err), FIT_OK);
    x->run = (struct fit_ls){.kernel = x->k,
                             .ds = x->ds,
                             .opt = &x->opt,
                             .res = &x->r,
                             .err = &x->err,
                             .p = x->k->nparam,
                             .q = x->k->nlinear,
                             .ng = NG,
                             .lower = x->r.lower,
                             .upper = x->r.upper,
                             .g = x->g,
                             .setup = {.scaling = FIT_SCALING_INDIVIDUAL, .threads = threads}};
    assert_int_equal(fit_objective_new(x->k, x->ds, &x->run.setup, &x->run.obj, &x->err), FIT_OK);
    assert_int_equal(fit_objective_value(x->run.obj, x->r.theta), FIT_EVAL_OK);
    x->cost = x->run.obj->cost;
    x->run.dof = (double)x->ds->npoint - (double)x->r.nfree;
    x->variance = 2 * x->cost / x->run.dof;
    assert_int_equal(fit_objective_normal(x->run.obj, x->r.theta, x->B, x->g), FIT_EVAL_OK);
    assert_int_equal(fit_sketch_new(&x->run, &x->sketch), FIT_OK);
    assert_non_null(x->sketch);
}

static void end(struct setting *x)
{
    fit_sketch_free(x->sketch);
    fit_objective_free(x->run.obj);
    fit_result_free(&x->r);
    fit_dataset_free(x->ds);
}

/* With parameter k held at v, in units of the noise: at the minimum of the sketch, by the sketch
 * and by the data; at the minimum of the data, found from there on. */
struct rise {
    double gradient, sketch, there, data;
};

static struct rise rise_at(struct setting *x, size_t k, double v)
{
    struct rise rise;
    double lower[16], upper[16], theta[16], cost;
    size_t bytes = x->run.p * sizeof *theta;
    memcpy(lower, x->r.lower, bytes);
    memcpy(upper, x->r.upper, bytes);
    memcpy(theta, x->r.theta, bytes);
    lower[k] = upper[k] = theta[k] = v;
    fit_sketch_minimise(x->sketch,
                        &(struct fit_sketch_spec){lower, upper, -1, 0, 0.01, INFINITY, x->variance, 0, NULL, NULL},
                        theta, &cost, &rise.gradient);
    assert_int_equal(fit_objective_value(x->run.obj, theta), FIT_EVAL_OK);
    rise.sketch = 2 * (cost - x->cost) / x->variance;
    rise.there = 2 * (x->run.obj->cost - x->cost) / x->variance;
    struct fit_nlsq *s = fit_nlsq_new(x->run.p);
    struct fit_nlsq_problem problem = fit_problem(x->run.obj, lower, upper, x->run.dof, 0);
    struct fit_nlsq_options opt = {
        .max_iterations = 100, .ftol = 1e-12, .xtol = 1e-12, .gtol = 0.01};
    fit_nlsq_run(s, &problem, &opt, theta);
    rise.data = 2 * (s->cost - x->cost) / x->variance;
    fit_nlsq_free(s);
    return rise;
}

static void check(const struct sample *s)
{
    struct setting x;
    size_t looked = 0;
    begin(&x, s, 1);
    assert_true(fabs(fit_sketch_least(x.sketch) - x.cost) <= 1e-12 * x.cost);
    assert_true(fabs(fit_sketch_value(x.sketch, x.r.theta, -1, 0) - x.cost) <= 1e-12 * x.cost);
    for (size_t k = 0; k < x.run.p; k++) {
        double std = x.r.std_curvature[k];
        if (!(std > 0))
            continue;
        /* its minimum is that of the data: nothing is to be won from there, by some 1e-3 of a
         * standard error */
        assert_true(fabs(rise_at(&x, k, x.r.theta[k]).sketch) < 1e-3);
        for (int side = -1; side <= 1; side += 2) {
            double v = x.r.theta[k] + side * 2 * std;
            if (!(v > x.r.lower[k] && v < x.r.upper[k]))
                continue;
            struct rise r = rise_at(&x, k, v);
            if (r.gradient > 0.01) /* a long valley: it does not come to its end */
                continue;
            /* the root of the rise, of which ends of intervals are made, to a tenth: both what the
             * sketch says, and what the data have at the point to which it leads */
            double most = 0.2 * fmax(1, r.data);
            if (!(r.there - r.data <= most) || !(fabs(r.sketch - r.data) <= most))
                fail_msg(
                    "%s of %s at %g: chi2 rises by %g, in the sketch by %g, at its minimum by %g",
                    x.k->param[k].name, s->model, v, r.data, r.sketch, r.there);
            looked++;
        }
    }
    assert_true(looked >= 6);
    end(&x);
}

static void test_sketch_of_laminar_flow_has_the_profiles_of_the_data(void **state)
{
    (void)state;
    check(&laminar);
}

static void test_sketch_of_two_components_has_the_profiles_of_the_data(void **state)
{
    (void)state;
    check(&heterodyne);
}

static void test_sketch_has_the_same_bits_for_any_number_of_threads(void **state)
{
    struct setting one, three;
    (void)state;
    begin(&one, &laminar, 1);
    begin(&three, &laminar, 3);
    double theta[16];
    memcpy(theta, one.r.theta, one.run.p * sizeof *theta);
    theta[0] *= 1.01;
    double a = fit_sketch_value(one.sketch, theta, -1, 0), b = fit_sketch_value(three.sketch, theta, -1, 0);
    assert_memory_equal(&a, &b, sizeof a);
    end(&one);
    end(&three);
}

/* Costs of the data and of the sketch beside the minimum, by whoever is asked. */
struct asked {
    struct setting *x;
    struct fit_sketch *sketch[16];
    double cost[40][2];
    unsigned char used[16];
};

static enum fit_status ask(void *user, struct fit_ls *own, size_t m, size_t k)
{
    struct asked *a = user;
    double theta[16];
    memcpy(theta, a->x->r.theta, own->p * sizeof *theta);
    theta[k % own->p] *= 1 + 1e-3 * (double)(k + 1);
    assert_int_equal(fit_objective_value(own->obj, theta), FIT_EVAL_OK);
    a->cost[k][0] = own->obj->cost;
    a->cost[k][1] = fit_sketch_value(a->sketch[m], theta, -1, 0);
    a->used[m] = 1;
    return FIT_OK;
}

/* With the weights of a robust loss, if `frozen`. */
static void ask_by(struct asked *a, int threads, int frozen)
{
    struct setting x;
    struct fit_crew crew;
    begin(&x, &heterodyne, threads);
    *a = (struct asked){.x = &x};
    if (frozen) {
        const double one[NG] = {1, 1};
        const struct fit_objective_robust loss = {.loss = FIT_LOSS_SOFT_L1, .f_scale = 0.005, .curve = 0.8};
        assert_int_equal(fit_objective_freeze(x.run.obj, x.r.theta, one, &loss), FIT_EVAL_OK);
        if (threads > 1) /* else all that is kept of the values comes to be on the way */
            assert_int_equal(fit_objective_value(x.run.obj, x.r.theta), FIT_EVAL_OK);
    }
    assert_int_equal(fit_crew_new(&x.run, &crew), FIT_OK);
    assert_int_equal(crew.n, threads);
    for (size_t m = 0; m < crew.n; m++)
        assert_int_equal(fit_sketch_twin(x.sketch, &crew.member[m], &a->sketch[m]), FIT_OK);
    const size_t before = x.run.obj->nvalue;
    assert_int_equal(fit_crew_run(&crew, 40, ask, a), FIT_OK);
    for (size_t m = 0; m < crew.n; m++)
        fit_sketch_free(a->sketch[m]);
    fit_crew_free(&crew);
    assert_int_equal(x.run.obj->nvalue - before, 40); /* passes of members count */
    end(&x);
}

static void test_members_of_a_crew_see_the_same_bits(void **state)
{
    struct asked one, three;
    (void)state;
    for (int frozen = 0; frozen < 2; frozen++) {
        ask_by(&one, 1, frozen);
        ask_by(&three, 3, frozen);
        assert_memory_equal(one.cost, three.cost, sizeof one.cost);
        assert_true(one.cost[0][0] != one.cost[1][0]);
    }
}

enum { PIECES = 60 };

/* Pieces of a chain: how many were merged for sure when one began, and in which order. */
struct chain {
    size_t merged, seen[PIECES], order[PIECES], fails;
};

static enum fit_status link_piece(void *user, struct fit_ls *own, size_t m, size_t k)
{
    struct chain *c = user;
    (void)m;
    c->seen[k] = k < FIT_CREW_LAG ? 0 : c->order[k - FIT_CREW_LAG]; /* written before k begins */
    return k == c->fails ? fit_fail(own->err, FIT_ERR_DATA, "piece %zu", k) : FIT_OK;
}

static void link_merge(void *user, size_t k)
{
    struct chain *c = user;
    c->order[k] = ++c->merged;
}

static void test_pieces_of_a_chain_know_what_was_merged_before(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 5; threads += 2) {
        struct setting x;
        struct fit_crew crew;
        struct chain c = {.fails = PIECES};
        begin(&x, &laminar, threads);
        assert_int_equal(fit_crew_new(&x.run, &crew), FIT_OK);
        assert_int_equal(fit_crew_chain(&crew, PIECES, link_piece, link_merge, &c), FIT_OK);
        assert_int_equal(c.merged, PIECES);
        for (size_t k = 0; k < PIECES; k++) {
            assert_int_equal(c.order[k], k + 1);
            assert_int_equal(c.seen[k], k < FIT_CREW_LAG ? 0 : k - FIT_CREW_LAG + 1);
        }
        c = (struct chain){.fails = 7};
        assert_int_equal(fit_crew_chain(&crew, PIECES, link_piece, link_merge, &c), FIT_ERR_DATA);
        assert_string_equal(x.err.message, "piece 7");
        fit_crew_free(&crew);
        end(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sketch_of_laminar_flow_has_the_profiles_of_the_data),
        cmocka_unit_test(test_sketch_of_two_components_has_the_profiles_of_the_data),
        cmocka_unit_test(test_sketch_has_the_same_bits_for_any_number_of_threads),
        cmocka_unit_test(test_members_of_a_crew_see_the_same_bits),
        cmocka_unit_test(test_pieces_of_a_chain_know_what_was_merged_before),
    };
    return cmocka_run_group_tests_name("sketch", tests, NULL, NULL);
}
