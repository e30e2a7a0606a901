/* test_aliases.c -- an oscillation that turns between frames is seen, by the parameter in its phase; decays, slower
 * oscillations and exponents are not. */
#include "model/aliases.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "mock_kernels.h"

enum { FRAMES = 40, GROUPS = 2 };
static const double DT = 0.5;

/* a (1 - x + x exp(-rate tau) cos(v c_g tau)) + b, c_g the coordinate of the group. */
static const struct fit_param wave_param[] = {{.name = "x"}, {.name = "rate"}, {.name = "v"}};
static const struct fit_param wave_linear[] = {{.name = "a"}, {.name = "b"}};

static int wave_eval(const struct fit_layout *l, const double *th, size_t i, size_t j, size_t g, double *b,
                     double *rest, double *db, double *drest)
{
    if (i == SIZE_MAX)
        return FIT_EVAL_OK;
    const double tau = fabs(l->time[l->frame[j]] - l->time[l->frame[i]]), c = l->coord[0][g], phase = th[2] * c * tau;
    const double e = exp(-th[1] * tau);
    b[0] = 1 - th[0] + th[0] * e * cos(phase);
    b[1] = 1;
    db[0] = e * cos(phase) - 1;
    db[1] = -tau * th[0] * e * cos(phase);
    db[2] = -th[0] * e * sin(phase) * c * tau;
    db[3] = db[4] = db[5] = 0;
    drest[0] = drest[1] = drest[2] = *rest = 0;
    return 0;
}
MOCK_KERNEL(wave, FIT_PAIRS, 3, 2, 1);

/* a exp(-(rate tau)^n) + b: the derivative by n changes its sign once. */
static const struct fit_param stretched_param[] = {{.name = "rate"}, {.name = "n"}};
static const struct fit_param stretched_linear[] = {{.name = "a"}, {.name = "b"}};

static int stretched_eval(const struct fit_layout *l, const double *th, size_t i, size_t j, size_t g, double *b,
                          double *rest, double *db, double *drest)
{
    (void)g;
    if (i == SIZE_MAX)
        return FIT_EVAL_OK;
    const double tau = fabs(l->time[l->frame[j]] - l->time[l->frame[i]]), x = pow(th[0] * tau, th[1]);
    b[0] = exp(-x);
    b[1] = 1;
    db[0] = -b[0] * x * th[1] / th[0];
    db[1] = tau > 0 ? -b[0] * x * log(th[0] * tau) : 0;
    db[2] = db[3] = 0;
    drest[0] = drest[1] = *rest = 0;
    return 0;
}
MOCK_KERNEL(stretched, FIT_PAIRS, 2, 2, 1);

/* Which of three parameters; held: one that is. */
static size_t asked(const struct fit_kernel *k, const double *theta, const double *coord, size_t ngroup, size_t held)
{
    double time[FRAMES], lower[3] = {0, 0, 0}, upper[3] = {1e6, 1e6, 1e6}, lin[2 * GROUPS] = {0.3, 1, 0.2, 1};
    uint32_t frame[FRAMES];
    for (uint32_t t = 0; t < FRAMES; t++) {
        time[t] = DT * t;
        frame[t] = t;
    }
    if (held < 3)
        upper[held] = lower[held] = theta[held];
    const double *axis[] = {coord};
    const struct fit_layout l = {.ngroup = ngroup, .coord = axis, .ntime = FRAMES, .time = time, .step = DT,
                                 .nframe = FRAMES, .frame = frame, .panel = FRAMES, .chunk = FRAMES};
    const struct fit_aliases_spec spec = {k, &l, theta, lower, upper, lin};
    size_t which = 99;
    assert_int_equal(fit_aliases(&spec, &which), 0);
    return which;
}

static size_t wave_of(double x, double rate, double turns, double cosine, size_t held)
{
    const double theta[] = {x, rate / DT, 2 * acos(-1) * turns / DT}, coord[] = {1, cosine};
    return asked(&wave, theta, coord, GROUPS, held);
}

static void turns_between_frames_are_seen(void **state)
{
    (void)state;
    for (double turns = 0.85; turns < 1000; turns *= 1.23)
        for (double x = 0.003; x < 1; x *= 3) {
            assert_int_equal(wave_of(x, 0.1, turns, 0.9, 3), 2);
            assert_int_equal(wave_of(x, 3, turns, 1, 3), 2);
            assert_int_equal(wave_of(x, 0.1, turns, 0, 3), 2); /* across the flow: says nothing of v */
        }
}

static void what_frames_resolve_is_not(void **state)
{
    (void)state;
    for (double turns = 1e-4; turns < 0.5; turns *= 1.3)
        for (double rate = 0.01; rate < 10; rate *= 3)
            for (double x = 0.01; x <= 1; x *= 3)
                assert_int_equal(wave_of(x, rate, turns, 0.7, 3), 3);
}

static void a_group_that_turns_less_tells(void **state)
{
    (void)state;
    assert_int_equal(wave_of(0.3, 0.1, 2, 0.2, 3), 3);   /* 0.4 of a turn */
    assert_int_equal(wave_of(0.3, 0.1, 2, 0.3, 3), 2);   /* 0.6 */
    assert_int_equal(wave_of(0.3, 0.1, 20, 0.01, 3), 3); /* 0.2 */
}

static void what_is_held_has_none(void **state)
{
    (void)state;
    assert_int_equal(wave_of(0.3, 0.1, 3, 1, 2), 3);
}

static void exponents_and_rates_have_none(void **state)
{
    (void)state;
    const double coord[] = {0, 0};
    for (double rate = 0.01; rate < 100; rate *= 2)
        for (double n = 0.3; n < 2.5; n *= 1.5)
            assert_int_equal(asked(&stretched, (double[]){rate / DT, n, 0}, coord, GROUPS, 3), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_between_frames_are_seen),
        cmocka_unit_test(what_frames_resolve_is_not),
        cmocka_unit_test(a_group_that_turns_less_tells),
        cmocka_unit_test(what_is_held_has_none),
        cmocka_unit_test(exponents_and_rates_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
