/* One transition of NUTS, its metric and its adaptation.
 *
 * The central test: a transition that starts from exact, independent draws of the target leaves
 * them exact and independent, so their distribution is judged by Kolmogorov and Smirnov. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sampler/nuts.h"
#include "sampler/warmup.h"
#include "targets.h"

#include <stdio.h>

#include <math.h>
#include <string.h>

static double memory[8][TARGET_MOST * TARGET_MOST];

/* A metric of the identity. */
static struct fit_metric unit_metric(size_t n, int dense)
{
    struct fit_metric m = {n, dense, memory[0], memory[1]};
    double one[TARGET_MOST];
    for (size_t k = 0; k < n; k++)
        one[k] = 1;
    assert_int_equal(fit_metric_diagonal(&m, one), 0);
    return m;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void assert_uniform(const char *what, size_t n, double *u)
{
    qsort(u, n, sizeof *u, ascending);
    double p = ks_uniform(n, u);
    if (!(p > 1e-4))
        fail_msg("%s: p = %g", what, p);
}

/* ---- invariance ------------------------------------------------------------------------------ */

enum { MOVES = 100000, QUANTITIES = 6 };
static double uniform[QUANTITIES][MOVES];

struct invariance {
    const char *name;
    struct fit_target target;
    void (*draw)(const void *user, struct fit_rng *r, double *q);
    /* u <- numbers that are uniform on (0, 1) for exact draws */
    size_t (*quantities)(const void *user, const double *q, double *u);
    struct fit_metric metric;
    double step;
    unsigned max_depth;
};

/* Returns the mean number of leapfrog steps. */
static double check_invariance(const struct invariance *v)
{
    struct fit_nuts *w = fit_nuts_new(v->target.n, v->max_depth);
    double q[TARGET_MOST], g[TARGET_MOST], u[QUANTITIES], steps = 0;
    size_t nu = 0;
    assert_non_null(w);
    for (uint32_t i = 0; i < MOVES; i++) {
        struct fit_rng r = {.seed = 99, .iteration = i};
        struct fit_rng start = fit_rng_for(&r, FIT_RNG_START);
        struct fit_point x = {q, g, 0};
        struct fit_draw_stats stats;
        v->draw(v->target.user, &start, q);
        assert_int_equal(v->target.eval(v->target.user, 0, q, &x.lp, g), FIT_EVAL_OK);
        struct fit_nuts_move move = {&v->target, 0, &v->metric, v->step, r};
        assert_int_equal(fit_nuts_transition(w, &move, &x, &stats), FIT_EVAL_OK);
        steps += stats.n_leapfrog;
        nu = v->quantities(v->target.user, q, u);
        for (size_t k = 0; k < nu; k++)
            uniform[k][i] = u[k];
    }
    fit_nuts_free(w);
    for (size_t k = 0; k < nu; k++)
        assert_uniform(v->name, MOVES, uniform[k]);
    return steps / MOVES;
}

static double phi(double z)
{
    return 0.5 * erfc(-z * sqrt(0.5));
}

static size_t logistic_quantities(const void *user, const double *q, double *u)
{
    (void)user;
    u[0] = 1 / (1 + exp(-q[0]));
    u[1] = 2 * u[0] > 1 ? 2 * u[0] - 1 : 1 - 2 * u[0];
    return 2;
}

static size_t banana_quantities(const void *user, const double *q, double *u)
{
    (void)user;
    double a = q[0], b = 2 * (q[1] - q[0] * q[0]);
    u[0] = phi(a);
    u[1] = phi(b);
    u[2] = exp(-0.5 * (a * a + b * b));
    return 3;
}

/* Every coordinate, and the log density (chi^2 of 5 degrees of freedom). */
static size_t normal_quantities(const void *user, const double *q, double *u)
{
    const struct normal_target *t = user;
    double lp;
    normal_eval((void *)(uintptr_t)user, 0, q, &lp, NULL);
    for (size_t k = 0; k < t->n; k++)
        u[k] = phi(q[k] / sqrt(t->covariance[k * t->n + k]));
    double x = -2 * lp, root = sqrt(x);
    u[t->n] = erf(sqrt(x / 2)) - sqrt(2 / acos(-1.0)) * exp(-x / 2) * root * (1 + x / 3);
    return t->n + 1;
}

static void test_logistic_is_invariant(void **state)
{
    (void)state;
    struct invariance v = {"logistic, small step",
                           {1, NULL, logistic_eval, NULL},
                           logistic_draw,
                           logistic_quantities,
                           unit_metric(1, 1),
                           0.3,
                           10};
    assert_true(check_invariance(&v) > 5);
    v.name = "logistic, large step";
    v.step = 4;
    check_invariance(&v);
    v.name = "logistic, short trees";
    v.step = 0.3;
    v.max_depth = 2;
    check_invariance(&v);
}

static void test_banana_is_invariant(void **state)
{
    (void)state;
    struct invariance v = {"banana, small step",
                           {2, NULL, banana_eval, NULL},
                           banana_draw,
                           banana_quantities,
                           unit_metric(2, 0),
                           0.15,
                           10};
    assert_true(check_invariance(&v) > 5);
    v.name = "banana, large step";
    v.step = 0.7;
    check_invariance(&v);
}

static void test_normal_of_five_is_invariant(void **state)
{
    (void)state;
    static struct normal_target t;
    normal_target_fill(&t, 5, 30);
    struct invariance v = {"normal, small step",
                           {5, &t, normal_eval, NULL},
                           normal_draw,
                           normal_quantities,
                           unit_metric(5, 1),
                           0.4,
                           10};
    assert_true(check_invariance(&v) > 10);
    v.name = "normal, large step";
    v.step = 1.6;
    check_invariance(&v);
    double d[5] = {3, 0.5, 10, 1, 7};
    v.name = "normal, a metric that does not fit";
    v.metric = unit_metric(5, 0);
    assert_int_equal(fit_metric_diagonal(&v.metric, d), 0);
    v.step = 0.3;
    check_invariance(&v);
}

/* ---- one transition -------------------------------------------------------------------------- */

/* Stops at the given call, or has no value beyond a radius. */
struct fragile {
    int calls, stop_at;
    double radius;
};

static enum fit_eval fragile_eval(void *user, size_t chain, const double *q, double *lp, double *g)
{
    struct fragile *f = user;
    (void)chain;
    if (++f->calls == f->stop_at)
        return FIT_EVAL_STOP;
    *lp = -0.5 * q[0] * q[0];
    if (g)
        g[0] = fabs(q[0]) > f->radius ? NAN : -q[0];
    return FIT_EVAL_OK;
}

static void test_a_stop_leaves_the_point_as_it_was(void **state)
{
    (void)state;
    struct fragile f = {0, 3, 1e9};
    struct fit_target target = {1, &f, fragile_eval, NULL};
    struct fit_metric m = unit_metric(1, 1);
    struct fit_nuts *w = fit_nuts_new(1, 10);
    double q = 0.5, g = -0.5;
    struct fit_point x = {&q, &g, -0.125}, before = x;
    struct fit_draw_stats stats;
    struct fit_nuts_move move = {&target, 0, &m, 0.1, {.seed = 1}};
    assert_int_equal(fit_nuts_transition(w, &move, &x, &stats), FIT_EVAL_STOP);
    assert_memory_equal(&x, &before, sizeof x);
    assert_true(q >= 0.5 && q <= 0.5 && g >= -0.5 && g <= -0.5);
    assert_int_equal(f.calls, 3);
    fit_nuts_free(w);
}

static void test_leaving_the_support_is_a_divergence_and_stays_inside(void **state)
{
    (void)state;
    struct fragile f = {0, -1, 1.0};
    struct fit_target target = {1, &f, fragile_eval, NULL};
    struct fit_metric m = unit_metric(1, 1);
    struct fit_nuts *w = fit_nuts_new(1, 10);
    double q = 0.5, g = -0.5, divergences = 0;
    struct fit_point x = {&q, &g, -0.125};
    for (uint32_t i = 0; i < 200; i++) {
        struct fit_draw_stats s;
        struct fit_nuts_move move = {&target, 0, &m, 0.4, {.seed = 1, .iteration = i}};
        assert_int_equal(fit_nuts_transition(w, &move, &x, &s), FIT_EVAL_OK);
        divergences += s.divergent;
        assert_true(fabs(q) <= 1 && isfinite(x.lp));
    }
    assert_true(divergences > 20);
    fit_nuts_free(w);
}

/* lp, energy and their difference agree with each other; the tree has the size it says. */
static void test_statistics_of_a_draw_are_consistent(void **state)
{
    (void)state;
    static struct normal_target t;
    normal_target_fill(&t, 3, 4);
    struct fit_target target = {3, &t, normal_eval, NULL};
    struct fit_metric m = unit_metric(3, 1);
    struct fit_nuts *w = fit_nuts_new(3, 4);
    double q[3] = {1, 1, 1}, g[3], largest = 0;
    struct fit_point x = {q, g, 0};
    normal_eval(&t, 0, q, &x.lp, g);
    for (uint32_t i = 0; i < 500; i++) {
        struct fit_draw_stats s;
        struct fit_nuts_move move = {&target, 0, &m, 0.2, {.seed = 1, .iteration = i}};
        assert_int_equal(fit_nuts_transition(w, &move, &x, &s), FIT_EVAL_OK);
        double lp;
        normal_eval(&t, 0, q, &lp, NULL);
        assert_true(s.lp >= lp && s.lp <= lp && x.lp >= lp && x.lp <= lp);
        assert_true(s.energy + s.lp > 0); /* kinetic */
        assert_true(s.n_leapfrog >= exp2(s.tree_depth) - 1);
        assert_true(s.n_leapfrog <= exp2(s.tree_depth + 1) - 1 && s.tree_depth <= 4);
        assert_true(s.n_leapfrog <= 15 && s.accept_stat > 0 && s.accept_stat <= 1);
        assert_true(fabs(s.energy_error) < 0.2); /* of order step^2 */
        largest = fmax(largest, s.tree_depth);
    }
    assert_true(largest >= 4);
    fit_nuts_free(w);
}

/* The tree of a harmonic oscillator ends when the trajectory has gone about half way round. */
static void test_the_trajectory_stops_where_it_turns(void **state)
{
    (void)state;
    static struct normal_target t;
    normal_target_fill(&t, 2, 1);
    struct fit_target target = {2, &t, normal_eval, NULL};
    struct fit_metric m = unit_metric(2, 1);
    struct fit_nuts *w = fit_nuts_new(2, 12);
    double q[2] = {1, 0}, g[2], mean = 0;
    struct fit_point x = {q, g, 0};
    normal_eval(&t, 0, q, &x.lp, g);
    for (uint32_t i = 0; i < 400; i++) {
        struct fit_draw_stats s;
        struct fit_nuts_move move = {&target, 0, &m, 0.01, {.seed = 8, .iteration = i}};
        assert_int_equal(fit_nuts_transition(w, &move, &x, &s), FIT_EVAL_OK);
        mean += s.n_leapfrog * 0.01 / 400; /* in units of the angle */
    }
    assert_true(mean > 1.5 && mean < 6.3);
    fit_nuts_free(w);
}

/* N(0, diag(1, 100)), unit metric, step 0.9: an independent transcription of the algorithm
 * took 13.2 steps on average over 20000 draws; one such average has a standard error of about 0.05.
 */
static void test_trajectories_have_the_length_of_another_implementation(void **state)
{
    (void)state;
    enum { MOVED = 20000 };
    static struct normal_target t;
    t = (struct normal_target){.n = 2, .precision = {1, 0, 0, 0.01}};
    struct fit_target target = {2, &t, normal_eval, NULL};
    struct fit_metric m = unit_metric(2, 0);
    struct fit_nuts *w = fit_nuts_new(2, 10);
    double q[2] = {0, 0}, g[2], mean = 0;
    struct fit_point x = {q, g, 0};
    normal_eval(&t, 0, q, &x.lp, g);
    for (uint32_t i = 0; i < MOVED; i++) {
        struct fit_draw_stats s;
        struct fit_nuts_move move = {&target, 0, &m, 0.9, {.seed = 5, .iteration = i}};
        assert_int_equal(fit_nuts_transition(w, &move, &x, &s), FIT_EVAL_OK);
        mean += s.n_leapfrog / MOVED;
    }
    assert_true(fabs(mean - 13.2) < 0.25);
    fit_nuts_free(w);
}

/* 50 independent normals at step 0.8: half a period is four steps, and the turn often falls between
 * two halves of the trajectory, where only the checks across halves see it.  Without them 14.5
 * steps are taken on average instead of 7. */
static void test_turns_between_halves_are_seen(void **state)
{
    (void)state;
    enum { N = 50, MOVED = 1000 };
    static struct normal_target t;
    normal_target_fill(&t, N, 1);
    struct fit_target target = {N, &t, normal_eval, NULL};
    struct fit_metric m = unit_metric(N, 0);
    struct fit_nuts *w = fit_nuts_new(N, 10);
    double q[N], g[N], mean = 0;
    for (uint32_t i = 0; i < MOVED; i++) {
        struct fit_rng r = {.seed = 5, .iteration = i};
        struct fit_rng start = fit_rng_for(&r, FIT_RNG_START);
        struct fit_point x = {q, g, 0};
        struct fit_draw_stats s;
        normal_draw(&t, &start, q);
        normal_eval(&t, 0, q, &x.lp, g);
        struct fit_nuts_move move = {&target, 0, &m, 0.8, r};
        assert_int_equal(fit_nuts_transition(w, &move, &x, &s), FIT_EVAL_OK);
        mean += s.n_leapfrog / MOVED;
    }
    assert_true(mean > 6 && mean < 8);
    fit_nuts_free(w);
}

static void test_first_step_changes_the_density_by_a_fifth(void **state)
{
    (void)state;
    const double condition[] = {1e-8, 1, 1e8};
    for (int k = 0; k < 3; k++) {
        static struct normal_target t;
        normal_target_fill(&t, 1, condition[k]);
        struct fit_target target = {1, &t, normal_eval, NULL};
        struct fit_metric m = unit_metric(1, 1);
        struct fit_nuts *w = fit_nuts_new(1, 1);
        double q = 0, g = 0, step = 1, gradients = 0;
        struct fit_point x = {&q, &g, 0};
        struct fit_nuts_move move = {&target, 0, &m, 0, {.seed = 3}};
        assert_int_equal(fit_nuts_first_step(w, &move, &x, &step, &gradients), FIT_EVAL_OK);
        double natural = step / sqrt(condition[k]);
        assert_true(natural > 0.2 && natural < 6);
        assert_true(gradients > 1 && gradients < 40);
        fit_nuts_free(w);
    }
}

static enum fit_eval flat_eval(void *user, size_t chain, const double *q, double *lp, double *g)
{
    (void)user;
    (void)chain;
    (void)q;
    *lp = 0;
    if (g)
        g[0] = 0;
    return FIT_EVAL_OK;
}

static void test_first_step_of_a_flat_density_is_refused(void **state)
{
    (void)state;
    struct fit_target target = {1, NULL, flat_eval, NULL};
    struct fit_metric m = unit_metric(1, 1);
    struct fit_nuts *w = fit_nuts_new(1, 1);
    double q = 0, g = 0, step = 1, gradients = 0;
    struct fit_point x = {&q, &g, 0};
    struct fit_nuts_move move = {&target, 0, &m, 0, {.seed = 3}};
    assert_int_equal(fit_nuts_first_step(w, &move, &x, &step, &gradients), FIT_EVAL_REJECT);
    fit_nuts_free(w);
}

/* ---- metric ---------------------------------------------------------------------------------- */

static void test_momenta_have_the_inverse_of_the_metric_as_covariance(void **state)
{
    (void)state;
    enum { N = 3, DRAWS = 40000 };
    static struct normal_target t;
    normal_target_fill(&t, N, 9);
    struct fit_metric m = {N, 1, memory[2], memory[3]};
    assert_int_equal(fit_metric_covariance(&m, t.covariance), 0);
    double sum[N * N] = {0}, cross[N * N] = {0};
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct fit_rng r = {.seed = 6, .iteration = i};
        double p[N], v[N];
        fit_rng_next_normals(&r, N, p);
        fit_metric_momentum(&m, p, p);
        fit_metric_velocity(&m, p, v);
        for (int a = 0; a < N; a++)
            for (int b = 0; b < N; b++) {
                sum[a * N + b] += p[a] * p[b] / DRAWS;
                cross[a * N + b] += p[a] * v[b] / DRAWS;
            }
    }
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++) { /* E p v^T = M M^-1; five standard errors */
            assert_true(fabs(sum[a * N + b] - t.precision[a * N + b]) < 5 * sqrt(2.0 / DRAWS));
            assert_true(fabs(cross[a * N + b] - (a == b)) < 5 * sqrt(10.0 / DRAWS));
        }
}

static struct fit_window window(size_t n, int dense)
{
    struct fit_window w = {n, dense, 0, memory[4], memory[4] + n, memory[5], memory[6]};
    fit_window_clear(&w);
    return w;
}

/* 2 n draws (2.5 for n = 1) of a normal target and its gradients, from an old metric that is wrong
 * by up to a million: the estimate is the covariance itself. */
static void test_fisher_metric_of_a_normal_target_is_its_covariance(void **state)
{
    (void)state;
    static struct normal_target t;
    static double work[20000];
    const size_t sizes[] = {1, 2, 7, 20};
    for (int k = 0; k < 4; k++) {
        size_t n = sizes[k];
        normal_target_fill(&t, n, 1e6);
        assert_true(fit_metric_work(n) < sizeof work / sizeof *work);
        struct fit_metric m = unit_metric(n, 1);
        struct fit_window w = window(n, 1);
        for (uint32_t i = 0; i < 2 * n + 3; i++) {
            struct fit_rng r = {.seed = 31, .iteration = i};
            double q[TARGET_MOST], g[TARGET_MOST], lp;
            normal_draw(&t, &r, q);
            normal_eval(&t, 0, q, &lp, g);
            fit_window_add(&w, q, g);
        }
        double change, worst = 0;
        assert_int_equal(fit_metric_fisher(&m, &w, work, &change), 0);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                worst = fmax(worst, fabs(m.inverse[i * n + j] - t.covariance[i * n + j]) /
                                        sqrt(t.covariance[i * n + i] * t.covariance[j * n + j]));
        if (worst > 1e-4) /* the rounds end when one changes less than 1e-6 */
            fail_msg("n = %zu: %g", n, worst);
        assert_true(change > 1000);
        assert_int_equal(fit_metric_fisher(&m, &w, work, &change), 0);
        assert_true(change < 1e-6);
    }
}

/* Fewer draws than coordinates: what they do not tell stays. */
static void test_fisher_metric_keeps_what_draws_do_not_tell(void **state)
{
    (void)state;
    static double work[2000];
    struct fit_metric m = unit_metric(3, 1);
    struct fit_window w = window(3, 1);
    for (int i = 0; i < 40; i++) { /* variance 100 along the first axis, nothing along the others */
        double q[3] = {10 * sin(2.0 * i), 0, 0}, g[3] = {-q[0] / 100, 0, 0};
        fit_window_add(&w, q, g);
    }
    assert_int_equal(fit_metric_fisher(&m, &w, work, NULL), 0);
    assert_true(fabs(m.inverse[0] - 100) < 1e-3);
    assert_true(fabs(m.inverse[4] - 1) < 1e-9 && fabs(m.inverse[8] - 1) < 1e-9);
    struct fit_window stuck = window(3, 1);
    for (int i = 0; i < 40; i++) {
        double q[3] = {1, 2, 3}, g[3] = {4, 5, 6};
        fit_window_add(&stuck, q, g);
    }
    double change;
    assert_int_equal(fit_metric_fisher(&m, &stuck, work, &change), 0);
    assert_true(fabs(m.inverse[0] - 100) < 1e-3 && change < 1e-9);
}

static void test_diagonal_metrics_follow_their_formulas(void **state)
{
    (void)state;
    double work[100], x[6] = {1, 4, 2, 8, 5, 7}, mean = 4.5, scatter = 37.5;
    struct fit_metric m = unit_metric(1, 0);
    struct fit_window w = window(1, 0);
    for (int i = 0; i < 6; i++) {
        double g = -x[i] / 4 + 7;
        fit_window_add(&w, x + i, &g);
    }
    assert_true(fabs(w.mean_x[0] - mean) < 1e-14 && fabs(w.sum_x[0] - scatter) < 1e-12);
    assert_int_equal(fit_metric_fisher(&m, &w, work, NULL), 0);
    assert_true(fabs(m.inverse[0] - 4) < 1e-4);
    assert_int_equal(fit_metric_stan(&m, &w, work, NULL), 0);
    assert_true(fabs(m.inverse[0] - (7.5 * 6 / 11 + 1e-3 * 5 / 11)) < 1e-13);
}

static void test_a_matrix_that_is_not_positive_definite_leaves_the_metric(void **state)
{
    (void)state;
    struct fit_metric m = {2, 1, memory[2], memory[3]};
    const double good[4] = {4, 1, 1, 2}, bad[4] = {1, 2, 2, 1}, negative[2] = {1, -1};
    assert_int_equal(fit_metric_covariance(&m, good), 0);
    double factor[4];
    memcpy(factor, m.factor, sizeof factor);
    assert_int_equal(fit_metric_covariance(&m, bad), 1);
    assert_int_equal(fit_metric_diagonal(&m, negative), 1);
    assert_memory_equal(m.inverse, good, sizeof good);
    assert_memory_equal(m.factor, factor, sizeof factor);
}

/* ---- adaptation ------------------------------------------------------------------------------ */

/* Acceptance exp(-step): the target 0.8 is reached at -log 0.8, whatever the start.  After m
 * updates the pull towards mu is balanced by a mean error of the acceptance of gamma |mu - log
 * step| / sqrt m (gamma 0.05); the slope of the acceptance turns that into an error of log step. */
static void test_dual_averaging_finds_the_step(void **state)
{
    (void)state;
    const double first[] = {1e-3, 0.2, 50};
    for (int k = 0; k < 3; k++) {
        struct fit_dual d;
        fit_dual_start(&d, 0.8, first[k]);
        assert_true(fabs(fit_dual_final(&d) / first[k] - 1) < 1e-14);
        for (int i = 0; i < 2000; i++)
            fit_dual_update(&d, exp(-fit_dual_step(&d)));
        double best = -log(0.8), slope = 0.8 * best;
        double bound = 0.05 * fabs(d.mu - log(best)) / sqrt(2000) / slope;
        assert_true(fabs(log(fit_dual_final(&d) / best)) < bound);
    }
    struct fit_dual d;
    fit_dual_start(&d, 0.8, 1);
    fit_dual_update(&d, NAN);
    assert_true(isfinite(fit_dual_step(&d)) && fit_dual_step(&d) < 10);
}

static void assert_windows(enum fit_schedule s, size_t warmup, int known, uint32_t collect,
                           const char *want)
{
    struct fit_windows w;
    char got[300] = "";
    fit_windows_plan(&w, s, warmup, known);
    for (uint32_t k = 0; k < w.n; k++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%u ", w.end[k]);
    assert_string_equal(got, want);
    assert_int_equal(w.collect, collect);
}

static void test_windows_of_the_warmup(void **state)
{
    (void)state;
    assert_windows(FIT_SCHEDULE_STAN, 1000, 0, 75, "99 149 249 449 949 ");
    assert_windows(FIT_SCHEDULE_STAN, 150, 0, 75, "99 ");
    assert_windows(FIT_SCHEDULE_STAN, 200, 0, 75, "99 149 ");
    assert_windows(FIT_SCHEDULE_STAN, 100, 0, 15, "89 ");
    assert_windows(FIT_SCHEDULE_STAN, 19, 0, 0, "");
    assert_windows(FIT_SCHEDULE_FISHER, 300, 1, 50, "99 249 ");
    assert_windows(FIT_SCHEDULE_FISHER, 600, 0, 0, "19 59 139 509 ");
    assert_windows(FIT_SCHEDULE_FISHER, 0, 1, 0, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logistic_is_invariant),
        cmocka_unit_test(test_banana_is_invariant),
        cmocka_unit_test(test_normal_of_five_is_invariant),
        cmocka_unit_test(test_a_stop_leaves_the_point_as_it_was),
        cmocka_unit_test(test_leaving_the_support_is_a_divergence_and_stays_inside),
        cmocka_unit_test(test_statistics_of_a_draw_are_consistent),
        cmocka_unit_test(test_the_trajectory_stops_where_it_turns),
        cmocka_unit_test(test_trajectories_have_the_length_of_another_implementation),
        cmocka_unit_test(test_turns_between_halves_are_seen),
        cmocka_unit_test(test_first_step_changes_the_density_by_a_fifth),
        cmocka_unit_test(test_first_step_of_a_flat_density_is_refused),
        cmocka_unit_test(test_momenta_have_the_inverse_of_the_metric_as_covariance),
        cmocka_unit_test(test_fisher_metric_of_a_normal_target_is_its_covariance),
        cmocka_unit_test(test_fisher_metric_keeps_what_draws_do_not_tell),
        cmocka_unit_test(test_diagonal_metrics_follow_their_formulas),
        cmocka_unit_test(test_a_matrix_that_is_not_positive_definite_leaves_the_metric),
        cmocka_unit_test(test_dual_averaging_finds_the_step),
        cmocka_unit_test(test_windows_of_the_warmup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
