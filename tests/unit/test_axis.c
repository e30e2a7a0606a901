/* test_axis.c -- where the others go when one parameter is held: the least value of a paraboloid, the covariance,
 * bounds, the valley of a rate. */
#include "errors/axis.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "leastsquares/rate_valley.h"
#include "math/linalg.h"

enum { X, Y, Z, U, V, W, N, LIN = N, FULL = N + 2, GUARD = 8 };

static const double best[N] = {1, -2, 0.5, 3, 0.25, -1}, linear[FULL - N] = {10, 20};
/* Diagonally dominant; the gradient at the best is not exactly 0. */
static double B[N * N] = {
    7, 2, 1, 0.5, -1, 0.5, 2, 8, -1, 1, 0.5, -1, 1, -1, 6, 0.25, 1, 0.5,
    0.5, 1, 0.25, 5, -1, 1, -1, 0.5, 1, -1, 6, 0.5, 0.5, -1, 0.5, 1, 0.5, 5,
};
static double g[N] = {0.25, -0.5, 0.125, 0.25, 0.5, -0.25};
static double covariance[FULL * FULL] = {
    [LIN * FULL + X] = 0.5, [LIN * FULL + Y] = -0.25, [LIN * FULL + V] = 0.0625, [LIN * FULL + LIN] = 0.125,
    [LIN * FULL + LIN + 1] = 7,
};

/* A fit as far as the axis looks at it; what lies before its work space is not its own. */
struct made {
    struct fit_kernel kernel;
    struct fit_dataset ds;
    struct fit_result res;
    struct fit_ls f;
    double lower[N], upper[N], theta[N], lin[FULL - N], covariance[FULL * FULL], axis[GUARD + 4 * N + 256];
    signed char state[N];
};

static void make(struct made *m)
{
    *m = (struct made){.kernel = {.space = FIT_PAIRS, .nparam = N}};
    assert_true(fit_boxqp_work(N) <= 256);
    for (size_t k = 0; k < N; k++) {
        m->lower[k] = -1000;
        m->upper[k] = 1000;
    }
    for (size_t k = 0; k < sizeof m->axis / sizeof *m->axis; k++)
        m->axis[k] = 7;
    memcpy(m->theta, best, sizeof best);
    memcpy(m->lin, linear, sizeof linear);
    memcpy(m->covariance, covariance, sizeof covariance);
    m->res.nparam = N;
    m->res.nfull = FULL;
    m->res.theta = m->theta;
    m->res.lin = m->lin;
    m->res.covariance = m->covariance;
    m->f = (struct fit_ls){.kernel = &m->kernel, .ds = &m->ds, .res = &m->res, .p = N, .q = FULL - N, .ng = 1, .B = B,
                           .g = g, .lower = m->lower, .upper = m->upper, .axis = m->axis + GUARD,
                           .axis_state = m->state};
}

/* fit_axis_point, which leaves alone what is not its own. */
static void point(struct made *m, size_t e, double v, double theta[N])
{
    double all[N + 1];
    all[N] = 7;
    fit_axis_point(&m->f, e, v, all);
    memcpy(theta, all, N * sizeof *theta);
    assert_true(fabs(all[N] - 7) <= 0);
    for (size_t k = 0; k < GUARD; k++)
        assert_true(fabs(m->axis[k] - 7) <= 0);
}

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-12 * (1 + fabs(b))))
        fail_msg("%.17g, not %.17g", a, b);
}

/* Slope of 1/2 d^T B d - g^T d along k. */
static double slope(const double *theta, size_t k)
{
    double s = -g[k];
    for (size_t l = 0; l < N; l++)
        s += B[k * N + l] * (theta[l] - best[l]);
    return s;
}

static void test_others_stand_at_the_least_value(void **state)
{
    (void)state;
    for (size_t k = 0; k < N; k++)
        for (int side = -1; side <= 1; side += 2) {
            struct made m;
            double theta[N];
            make(&m);
            point(&m, k, best[k] + 2 * side, theta);
            assert_true(fabs(theta[k] - best[k] - 2 * side) <= 0);
            for (size_t l = 0; l < N; l++)
                if (l != k)
                    near(slope(theta, l), 0);
        }
}

static void test_others_stay_inside_their_bounds(void **state)
{
    struct made m;
    double theta[N];
    (void)state;
    make(&m);
    m.lower[Y] = -2.5;
    point(&m, X, 4, theta); /* Y would go to about -3 */
    assert_true(fabs(theta[X] - 4) <= 0 && fabs(theta[Y] + 2.5) <= 0);
    near(slope(theta, Z), 0);
    assert_true(slope(theta, Y) > 0);
    make(&m);
    m.upper[Y] = -1.5;
    point(&m, X, -2, theta);
    assert_true(fabs(theta[X] + 2) <= 0 && fabs(theta[Y] + 1.5) <= 0);
    near(slope(theta, Z), 0);
    assert_true(slope(theta, Y) < 0);
    m.lower[Y] = m.upper[Y] = best[Y]; /* a fixed one */
    point(&m, X, 4, theta);
    assert_true(fabs(theta[Y] - best[Y]) <= 0);
    near(slope(theta, Z), 0);
}

static void test_no_paraboloid_no_move(void **state)
{
    struct made m;
    double theta[N], bad[N * N];
    (void)state;
    make(&m);
    memcpy(bad, B, sizeof bad);
    bad[N * Z + Z] = NAN;
    m.f.B = bad;
    point(&m, Y, 3, theta);
    for (size_t k = 0; k < N; k++)
        assert_true(fabs(theta[k] - (k == Y ? 3 : best[k])) <= 0);
}

/* E(theta | lin = v) = theta + cov(theta, lin) / var(lin) (v - lin) */
static void test_of_a_linear_parameter_they_follow_the_covariance(void **state)
{
    struct made m;
    double theta[N];
    (void)state;
    make(&m);
    point(&m, LIN, linear[0] + 0.5, theta);
    near(theta[X], best[X] + 0.5 / 0.125 * 0.5);
    near(theta[Y], best[Y] - 0.25 / 0.125 * 0.5);
    near(theta[Z], best[Z]);
    near(theta[V], best[V] + 0.0625 / 0.125 * 0.5);
    m.upper[X] = 2;
    m.lower[Y] = -2.75;
    point(&m, LIN, linear[0] + 0.5, theta);
    near(theta[X], 2);
    near(theta[Y], -2.75);
    m.covariance[(LIN + 1) * FULL + LIN + 1] = 2;
    m.covariance[(LIN + 1) * FULL + Z] = 1;
    m.covariance[(LIN + 1) * FULL + LIN] = NAN; /* of the linear ones among each other: it does not matter */
    point(&m, LIN + 1, linear[1] - 3, theta);
    near(theta[X], best[X]);
    near(theta[Z], best[Z] - 1.5);
}

static void test_of_an_unknown_covariance_they_stay(void **state)
{
    static const double variance[] = {0, -1, NAN};
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        struct made m;
        double theta[N];
        make(&m);
        if (k < 3)
            m.covariance[LIN * FULL + LIN] = variance[k];
        else
            m.covariance[LIN * FULL + Z] = NAN;
        point(&m, LIN, linear[0] + 1, theta);
        for (size_t l = 0; l < N; l++)
            assert_true(fabs(theta[l] - best[l]) <= 0);
    }
}

/* X t^Y + Z and U t^V + W: each of its own members, by the straight step, then along its valley. */
static void test_steps_are_bent_into_the_valleys_of_rates(void **state)
{
    static const struct fit_rate rate[] = {{FIT_RATE_POWER, X, Y, Z, -1, 2.0}, {FIT_RATE_POWER, U, V, W, -1, 2.0}};
    double time[11], want[N], theta[N];
    (void)state;
    for (size_t k = 0; k < 11; k++)
        time[k] = 0.1 * (double)(k + 1);
    for (size_t e = 0; e <= LIN; e++) {
        const double v = (e < N ? best[e] : linear[0]) + 0.125;
        double straight[N];
        struct made m;
        make(&m);
        m.ds.layout = (struct fit_layout){.ntime = 11, .time = time};
        point(&m, e, v, straight);
        m.kernel.nrate = 2;
        m.kernel.rate = rate;
        memcpy(want, straight, sizeof want);
        fit_valley_bend(&m.kernel, &m.ds.layout, m.lower, m.upper, best, want);
        for (size_t r = 0; r < 2; r++)
            if (e == rate[r].amplitude || e == rate[r].offset) {
                memcpy(want + 3 * r, straight + 3 * r, 3 * sizeof *want);
                fit_valley_hold(&m.kernel, &m.ds.layout, m.lower, m.upper, best, e, want);
            }
        point(&m, e, v, theta);
        assert_memory_equal(theta, want, sizeof theta);
        assert_memory_not_equal(theta, straight, 3 * sizeof *theta);
        assert_memory_not_equal(theta + 3, straight + 3, 3 * sizeof *theta);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_others_stand_at_the_least_value),
        cmocka_unit_test(test_others_stay_inside_their_bounds),
        cmocka_unit_test(test_no_paraboloid_no_move),
        cmocka_unit_test(test_of_a_linear_parameter_they_follow_the_covariance),
        cmocka_unit_test(test_of_an_unknown_covariance_they_stay),
        cmocka_unit_test(test_steps_are_bent_into_the_valleys_of_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
