/* test_valley.c -- steps bent along rates A t^E + C: first order, the values kept, bounds, what is fixed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "leastsquares/rate_valley.h"

enum { A, E, C, OTHER, N };

static const struct fit_rate rate = {FIT_RATE_POWER, A, E, C, -1, 2.0};
static const struct fit_kernel kernel = {.space = FIT_PAIRS, .nparam = N, .nrate = 1, .rate = &rate};
static const double lower[N] = {0, -2, -1e5, -1}, upper[N] = {1e5, 2, 1e5, 1};
static double times[101];

static struct fit_layout layout(void)
{
    for (size_t k = 0; k < 101; k++)
        times[k] = 0.1 * (double)(k + 1);
    return (struct fit_layout){.ntime = 101, .time = times};
}

/* The rate at part s of the measurement. */
static double rate_at(const double *x, double s)
{
    double t = (times[0] + s * (times[100] - times[0])) / rate.time;
    return x[A] * pow(t, x[E]) + x[C];
}

static void test_bent_step_is_straight_to_first_order(void **state)
{
    const struct fit_layout l = layout();
    const double x[N] = {1000, -0.3, 500, 0.5}, step[N] = {30, 0.4, -20, 0.1};
    double gap[2];
    (void)state;
    for (int k = 0; k < 2; k++) {
        double h = k ? 1e-4 : 1e-3, straight[N], bent[N], largest = 0;
        for (size_t p = 0; p < N; p++)
            bent[p] = straight[p] = x[p] + h * step[p];
        fit_valley_bend(&kernel, &l, lower, upper, x, bent);
        for (size_t p = 0; p < N; p++)
            largest = fmax(largest, fabs(bent[p] - straight[p]));
        gap[k] = largest;
    }
    assert_true(gap[0] > 0);
    assert_in_range((unsigned long)(gap[0] / gap[1] * 10), 950, 1050); /* of second order: 100 */
}

static void test_bent_step_has_the_promised_rates(void **state)
{
    const struct fit_layout l = layout();
    const double x[N] = {1000, -0.3, 500, 0.5};
    double trial[N] = {1200, 0.2, 450, 0.6}, straight[N], h = 1e-6;
    (void)state;
    memcpy(straight, trial, sizeof trial);
    fit_valley_bend(&kernel, &l, lower, upper, x, trial);
    assert_true(trial[E] == straight[E] && trial[OTHER] == straight[OTHER] && trial[A] != straight[A]);
    for (int k = 0; k < 2; k++) {
        double s = k ? 0.7 : 0.1, near[N];
        for (size_t p = 0; p < N; p++)
            near[p] = x[p] + h * (straight[p] - x[p]);
        double promised = rate_at(x, s) + (rate_at(near, s) - rate_at(x, s)) / h;
        assert_true(fabs(rate_at(trial, s) - promised) < 1e-5 * fabs(promised));
    }
}

static void test_what_is_fixed_or_on_a_bound_stays(void **state)
{
    const struct fit_layout l = layout();
    const double x[N] = {1000, -0.3, 500, 0.5};
    double trial[N] = {1000, -0.1, 500, 0.5}, low[N], high[N];
    (void)state;
    memcpy(low, lower, sizeof low);
    memcpy(high, upper, sizeof high);
    low[A] = high[A] = 1000; /* the offset alone follows: the rate in the middle is kept to first order */
    fit_valley_bend(&kernel, &l, low, high, x, trial);
    assert_true(trial[A] == 1000 && trial[C] != 500);
    double both[N] = {0, -0.1, 1e5, 0.5}; /* the step ends on both bounds */
    fit_valley_bend(&kernel, &l, lower, upper, x, both);
    assert_true(both[A] == 0 && both[C] == 1e5);
    double same[N] = {1100, -0.3, 400, 0.5}; /* without a change of the exponent there is nothing to bend */
    fit_valley_bend(&kernel, &l, lower, upper, x, same);
    assert_true(same[A] == 1100 && same[C] == 400);
}

/* Amplitude, exponent and offset in turn far away along the valley: the parameter asked for has its value, the rate
 * those of the two points at both times; the rest of the step is not touched. */
static void test_a_parameter_is_held_and_the_rate_passes_through_both_values(void **state)
{
    const struct fit_layout l = layout();
    const double a[N] = {1000, -0.3, 500, 0.5}, b[N] = {1400, -0.2, 90, 0.5}, part = 1.5;
    const struct fit_valley_mix mix = {2, (const double *[]){a, b}, (double[]){1 - part, part}};
    const double to[3] = {20000, -0.01, -30000};
    (void)state;
    for (size_t which = A; which <= C; which++) {
        double trial[N] = {1600, -0.15, -120, 0.7};
        trial[which] = to[which];
        fit_valley_mixed(&kernel, &l, lower, upper, mix, (long)which, trial);
        assert_true(trial[which] == to[which] && trial[OTHER] == 0.7);
        for (int k = 0; k < 2; k++) {
            double s = k ? 0.7 : 0.1, wanted = (1 - part) * rate_at(a, s) + part * rate_at(b, s);
            assert_true(fabs(rate_at(trial, s) - wanted) < 1e-9 * fabs(trial[A]));
        }
    }
    for (long which = -1; which <= OTHER; which += OTHER + 1) { /* not one of the rate's: the exponent stays */
        double other[N] = {1600, -0.15, -120, 0.7};
        fit_valley_mixed(&kernel, &l, lower, upper, mix, which, other);
        assert_true(other[E] == -0.15 && other[OTHER] == 0.7);
        for (int k = 0; k < 2; k++) {
            double s = k ? 0.7 : 0.1, wanted = (1 - part) * rate_at(a, s) + part * rate_at(b, s);
            assert_true(fabs(rate_at(other, s) - wanted) < 1e-9 * fabs(other[A]));
        }
    }
    double far[N] = {1600, -0.15, -2e5, 0.7}; /* the amplitude would have to leave its bounds */
    fit_valley_mixed(&kernel, &l, lower, upper, mix, C, far);
    assert_true(far[A] == 1600 && far[E] == -0.15 && far[C] == -2e5);
}

static void test_no_room_leaves_the_step_straight(void **state)
{
    const struct fit_layout l = layout();
    const double x[N] = {9e4, -0.02, -8.9e4, 0};
    double trial[N] = {9e4, -0.001, -8.9e4, 0}; /* the rate would need an amplitude of 1.8e6 */
    (void)state;
    fit_valley_bend(&kernel, &l, lower, upper, x, trial);
    assert_true(trial[A] == 9e4 && trial[C] == -8.9e4);
}

static void test_other_exponents_keep_the_rate(void **state)
{
    const struct fit_layout l = layout();
    const double x[N] = {1000, -0.3, 500, 0.5};
    double y[N];
    (void)state;
    memcpy(y, x, sizeof y);
    assert_true(fit_valley_point(&rate, &l, lower, upper, x, -0.8, y));
    assert_true(y[E] == -0.8 && y[OTHER] == 0.5);
    for (int k = 0; k < 2; k++)
        assert_true(fabs(rate_at(y, k ? 0.7 : 0.1) / rate_at(x, k ? 0.7 : 0.1) - 1) < 1e-12);
    assert_false(fit_valley_point(&rate, &l, lower, upper, x, 0, y)); /* a constant has not two values */
    assert_true(fit_valley_point(&rate, &l, lower, upper, x, 1.5, y)); /* falls: an increasing power would need A < 0 */
    assert_true(y[A] == 0 && fabs(2 * y[C] - rate_at(x, 0.1) - rate_at(x, 0.7)) < 1e-9);
}

/* A exp(E (t - s)) + C, all four free. */
static void test_exponential_with_a_shift(void **state)
{
    enum { SHIFT = OTHER };
    static const struct fit_rate growth = {FIT_RATE_EXPONENTIAL, A, E, C, SHIFT, 1.0};
    static const struct fit_kernel grown = {.space = FIT_PAIRS, .nparam = N, .nrate = 1, .rate = &growth};
    const struct fit_layout l = layout();
    const double x[N] = {2, 0.3, 0.5, 0.25}, low[N] = {0, -10, -5, -10}, high[N] = {100, 10, 5, 10};
    const double straight[N] = {2.2, 0.5, 0.4, 0.35};
    double trial[N], h = 1e-6, near[N];
    (void)state;
    memcpy(trial, straight, sizeof trial);
    fit_valley_bend(&grown, &l, low, high, x, trial);
    assert_true(trial[E] == straight[E] && trial[SHIFT] == straight[SHIFT]);
    for (size_t p = 0; p < N; p++)
        near[p] = x[p] + h * (straight[p] - x[p]);
    for (int k = 0; k < 2; k++) {
        double t = times[0] + (k ? 0.7 : 0.1) * (times[100] - times[0]);
        double rate_x = x[A] * exp(x[E] * (t - x[SHIFT])) + x[C];
        double rate_near = near[A] * exp(near[E] * (t - near[SHIFT])) + near[C];
        double rate_bent = trial[A] * exp(trial[E] * (t - trial[SHIFT])) + trial[C];
        assert_true(fabs(rate_x + (rate_near - rate_x) / h - rate_bent) < 1e-5 * fabs(rate_bent));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bent_step_is_straight_to_first_order),
        cmocka_unit_test(test_bent_step_has_the_promised_rates),
        cmocka_unit_test(test_what_is_fixed_or_on_a_bound_stays),
        cmocka_unit_test(test_a_parameter_is_held_and_the_rate_passes_through_both_values),
        cmocka_unit_test(test_no_room_leaves_the_step_straight),
        cmocka_unit_test(test_other_exponents_keep_the_rate),
        cmocka_unit_test(test_exponential_with_a_shift),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
