/* Tests of fit_api_fit_many() against fit_api_fit(), one curve after the other: the same bits, whatever the number of
 * threads and whatever stands beside a curve. */
#include "fit_api.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 60, CURVES = 240, SEARCHED = 24, FULL = 4 };
enum { EMPTY = 3, CONSTANT = 5, NOTHING = 7, HOLES = 11, ENDLESS = 13, SHORT = 17, HUGE_ONE = 19 }; /* odd curves */
static const double NOISE = 0.002;

static double delay[ROWS], own_delay[CURVES * ROWS], g2[CURVES * ROWS], error[CURVES * ROWS];

/* A fixed stream of numbers from 0 to 1. */
static double uniform(void)
{
    static uint64_t s = 88172645463325252u;
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return ((double)(s >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* What is odd about some curves. */
static double spoiled(size_t c, size_t i, double y)
{
    switch (c) {
    case EMPTY: return NAN;
    case CONSTANT: return 1;
    case NOTHING: return 1 + NOISE * normal();
    case HOLES: return i % 4 ? y : NAN;
    case ENDLESS: return i == 30 ? INFINITY : y;
    case SHORT: return i < 3 ? y : NAN;
    case HUGE_ONE: return i == 30 ? 1e300 : y;
    default: return y;
    }
}

static int make_curves(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        delay[i] = pow(10, -3 + 4.0 * (double)i / (ROWS - 1));
    for (size_t c = 0; c < CURVES; c++) {
        const double tau = pow(10, -1.5 + 1.5 * uniform()), beta = 0.6 + 0.8 * uniform();
        const double height = 0.1 + 0.3 * uniform();
        for (size_t i = 0; i < ROWS; i++) {
            const size_t k = c * ROWS + i;
            own_delay[k] = delay[i] * (1 + 1e-3 * (double)c);
            g2[k] = spoiled(c, i, 1 + height * exp(-2 * pow(delay[i] / tau, beta)) + NOISE * normal());
            error[k] = NOISE * (1 + 0.5 * (double)(i % 3));
        }
    }
    return 0;
}

static struct fit_api_model *kww(void)
{
    struct fit_api_model *m = fit_api_open("kww", NULL);
    if (!m)
        fail_msg("%s", fit_api_message());
    return m;
}

/* The single fit; NULL with its status. */
static const struct fit_api_result *single(const struct fit_api_model *m, const double *t, const double *y,
                                           const double *sigma, const struct fit_api_options *o, int *code)
{
    const double *const column[] = {t, NULL, NULL};
    struct fit_api_problem *p = fit_api_problem_new(m, &(struct fit_api_data){.size = sizeof(struct fit_api_data),
                                                                             .nrow = ROWS,
                                                                             .column = column,
                                                                             .value = y,
                                                                             .sigma = sigma});
    const struct fit_api_result *r = p ? fit_api_fit(p, o) : NULL;
    *code = r ? FIT_API_OK : (int)fit_api_status();
    fit_api_problem_free(p);
    return r;
}

static void same(const void *a, const void *b, size_t n)
{
    assert_memory_equal(a, b, n * sizeof(double));
}

static void compare(const struct fit_api_many *m, size_t c, const struct fit_api_result *r)
{
    same(m->value + c * FULL, r->param, 2);
    same(m->value + c * FULL + 2, r->linear, 2);
    same(m->std + c * FULL, r->std, FULL);
    same(m->std_robust + c * FULL, r->std_robust, FULL);
    same(m->interval + 4 * c * FULL, r->interval, 4 * FULL);
    same(m->covariance + c * FULL * FULL, r->covariance, FULL * FULL);
    same(m->chi2 + c, &r->chi2, 1);
    same(m->reduced_chi2 + c, &r->reduced_chi2, 1);
    same(m->residual_variance + c, &r->residual_variance, 1);
    same(m->sigma_common + c, &r->sigma_common, 1);
    assert_int_equal(m->converged[c], r->converged);
    assert_int_equal(m->npoint[c], r->npoint);
    assert_int_equal(m->nfree[c], r->nfree);
    assert_int_equal(m->iterations[c], r->iterations);
    assert_int_equal(m->evaluations[c], r->evaluations);
    assert_string_equal(m->status[c], r->status);
    assert_string_equal(m->message[c], r->message);
    assert_string_equal(m->quality[c], r->quality);
    assert_string_equal(m->quality_text[c], r->quality_text);
}

/* Of a curve that was not fitted. */
static void compare_failure(const struct fit_api_many *m, size_t c)
{
    assert_string_equal(m->message[c], fit_api_message());
    assert_string_equal(m->status[c], "failed");
    assert_string_equal(m->quality[c], "none");
    for (size_t k = 0; k < FULL; k++)
        assert_true(isnan(m->value[c * FULL + k]) && isnan(m->std[c * FULL + k]));
}

/* All curves together, by one and by three threads, against every one alone. */
static void compare_all(size_t n, int with_sigma, int own, struct fit_api_options o)
{
    struct fit_api_model *m = kww();
    const double *const column[] = {own ? own_delay : delay, NULL, NULL};
    const unsigned char each[] = {1, 0, 0};
    const struct fit_api_many_data d = {.size = sizeof d, .ncurve = n, .nrow = ROWS, .column = column,
                                        .own = own ? each : NULL, .value = g2, .sigma = with_sigma ? error : NULL};
    for (o.threads = 1; o.threads <= 3; o.threads += 2) {
        const struct fit_api_many *r = fit_api_fit_many(m, &d, &o);
        if (!r)
            fail_msg("%s", fit_api_message());
        size_t failed = 0;
        assert_int_equal(r->ncurve, n);
        assert_int_equal(r->nfull, FULL);
        assert_string_equal(r->name[0], "tau");
        for (size_t c = 0; c < n; c++) {
            int code;
            const size_t at = c * ROWS;
            const struct fit_api_result *one =
                single(m, own ? own_delay + at : delay, g2 + at, with_sigma ? error + at : NULL, &o, &code);
            assert_int_equal(r->code[c], code);
            failed += code != 0;
            if (one)
                compare(r, c, one);
            else
                compare_failure(r, c);
            fit_api_result_free(one);
        }
        assert_int_equal(r->nfailed, failed);
        assert_int_not_equal(r->code[EMPTY], 0);
        assert_int_not_equal(r->code[SHORT], 0);
        assert_int_equal(r->code[EMPTY + 1], 0);
        fit_api_many_free(r);
    }
    fit_api_close(m);
}

static void test_curves_are_what_they_are_alone(void **state)
{
    (void)state;
    compare_all(CURVES, 0, 0, (struct fit_api_options){.size = sizeof(struct fit_api_options), .start_only = 1});
}

static void test_the_same_with_errors_and_columns_of_curves(void **state)
{
    (void)state;
    compare_all(CURVES, 1, 1, (struct fit_api_options){.size = sizeof(struct fit_api_options), .start_only = 1});
}

static void test_the_same_with_a_search(void **state)
{
    (void)state;
    compare_all(SEARCHED, 0, 0, (struct fit_api_options){.size = sizeof(struct fit_api_options)});
}

static void test_the_same_with_ties_and_a_loss(void **state)
{
    (void)state;
    static const char *const also[] = {"tie", "tau=0.4*beta", NULL};
    struct fit_api_options o = {.size = sizeof o, .start_only = 1, .loss = "soft_l1"};
    compare_all(SEARCHED, 1, 0, o);
    struct fit_api_model *m = kww();
    o = (struct fit_api_options){.size = sizeof o, .start_only = 1, .also = also};
    const double *const column[] = {delay, NULL, NULL};
    const struct fit_api_many_data d = {
        .size = sizeof d, .ncurve = SEARCHED, .nrow = ROWS, .column = column, .value = g2};
    const struct fit_api_many *r = fit_api_fit_many(m, &d, &o);
    if (!r)
        fail_msg("%s", fit_api_message());
    assert_int_equal(r->nfull, FULL - 1);
    for (size_t c = 0; c < SEARCHED; c++) {
        int code;
        const struct fit_api_result *one = single(m, delay, g2 + c * ROWS, NULL, &o, &code);
        assert_int_equal(r->code[c], code);
        if (one)
            same(r->value + c * (FULL - 1), one->param, 1);
        fit_api_result_free(one);
    }
    fit_api_many_free(r);
    fit_api_close(m);
}

/* 1: x and y are the same number to so many of their errors. */
static int near(double x, double y, double sd)
{
    return (isnan(x) && isnan(y)) || fabs(x - y) <= 1e-9 * sd;
}

/* All of it. */
static void same_many(const struct fit_api_many *a, const struct fit_api_many *b)
{
    same(a->value, b->value, a->ncurve * FULL);
    same(a->std, b->std, a->ncurve * FULL);
    same(a->std_robust, b->std_robust, a->ncurve * FULL);
    same(a->interval, b->interval, 4 * a->ncurve * FULL);
    same(a->covariance, b->covariance, a->ncurve * FULL * FULL);
    same(a->chi2, b->chi2, a->ncurve);
    assert_memory_equal(a->iterations, b->iterations, a->ncurve * sizeof *a->iterations);
    assert_memory_equal(a->code, b->code, a->ncurve * sizeof *a->code);
}

static const struct fit_api_many *many_by(const struct fit_api_model *m, const char *word, int threads)
{
    const double *const column[] = {delay, NULL, NULL};
    const struct fit_api_many_data d = {.size = sizeof d, .ncurve = CURVES, .nrow = ROWS, .column = column,
                                        .value = g2};
    const struct fit_api_options o = {.size = sizeof o, .start_only = 1, .threads = threads, .device = word};
    return fit_api_fit_many(m, &d, &o);
}

/* The numbers of the processor to 1e-9 of their errors; those of the curve alone to the bit. */
static void compare_device(const struct fit_api_model *m, const struct fit_api_many *r, const char *word)
{
    const struct fit_api_many *cpu = many_by(m, NULL, 2);
    const struct fit_api_options o = {.size = sizeof o, .start_only = 1, .device = word};
    assert_null(cpu->device);
    assert_non_null(r->device);
    for (size_t c = 0; c < CURVES; c++) {
        int code;
        assert_int_equal(r->code[c], cpu->code[c]);
        for (size_t k = c * FULL; c != NOTHING && c != CONSTANT && c != HUGE_ONE && k < (c + 1) * FULL; k++)
            if (!near(r->value[k], cpu->value[k], cpu->std[k]))
                fail_msg("curve %zu: %.17g, by the processor %.17g", c, r->value[k], cpu->value[k]);
        if (c >= SEARCHED)
            continue;
        const struct fit_api_result *one = single(m, delay, g2 + c * ROWS, NULL, &o, &code);
        assert_int_equal(r->code[c], code);
        if (one) {
            compare(r, c, one);
            assert_string_equal(one->device, r->device);
        } else
            compare_failure(r, c);
        fit_api_result_free(one);
    }
    fit_api_many_free(cpu);
}

static void test_the_same_by_devices(void **state)
{
    (void)state;
    struct fit_api_model *m = kww();
    const struct fit_api_many *plain = many_by(m, "plain", 1), *again = many_by(m, "plain", 3);
    if (!plain)
        fail_msg("%s", fit_api_message());
    compare_device(m, plain, "plain");
    same_many(plain, again);
    assert_string_equal(plain->device_text, "");
    assert_true(plain->device_sums > CURVES && plain->device_launches <= plain->device_sums);
    const struct fit_api_many *other = many_by(m, "opencl:0", 1);
    if (other) {
        compare_device(m, other, "opencl:0");
        same_many(plain, other);
        print_message("opencl:0: %zu sums in %zu launches\n", other->device_sums, other->device_launches);
        assert_true(other->device_sums == plain->device_sums && other->device_launches <= other->device_sums);
    } else
        print_message("not done: %s\n", fit_api_message());
    fit_api_many_free(other);
    fit_api_many_free(again);
    fit_api_many_free(plain);
    fit_api_close(m);
}

static void test_devices_that_are_not_there(void **state)
{
    (void)state;
    struct fit_api_model *m = kww();
    assert_null(many_by(m, "nonsense", 1));
    assert_non_null(strstr(fit_api_message(), "must be cpu, gpu, auto"));
    assert_null(many_by(m, "opencl:77", 1));
    assert_int_equal(fit_api_status(), FIT_API_CONFIG);
    const struct fit_api_many *cpu = many_by(m, "cpu", 1), *gpu = many_by(m, "gpu", 1);
    assert_non_null(gpu);
    if (!gpu->device) { /* there is no card */
        same_many(cpu, gpu);
        assert_non_null(strstr(gpu->device_text, "the processor is used"));
    }
    fit_api_many_free(gpu);
    fit_api_many_free(cpu);
    fit_api_close(m);
}

static void test_what_cannot_be_done_is_said(void **state)
{
    (void)state;
    struct fit_api_model *m = kww(), *pairs = fit_api_open("laminar", NULL);
    const double *const column[] = {delay, NULL, NULL}, *const none[] = {NULL, NULL, NULL};
    struct fit_api_many_data d = {.size = sizeof d, .nrow = ROWS, .column = column, .value = g2};
    assert_null(fit_api_fit_many(m, &d, NULL));
    assert_non_null(strstr(fit_api_message(), "no curves"));
    d.ncurve = 2;
    assert_null(fit_api_fit_many(pairs, &d, NULL));
    assert_non_null(strstr(fit_api_message(), "pairs of frames"));
    d.column = none;
    assert_null(fit_api_fit_many(m, &d, NULL));
    assert_non_null(strstr(fit_api_message(), "'delay'"));
    d.column = column;
    struct fit_api_options o = {.size = sizeof o, .loss = "hubber"};
    assert_null(fit_api_fit_many(m, &d, &o));
    assert_non_null(strstr(fit_api_message(), "huber"));
    d.size = 4;
    assert_null(fit_api_fit_many(m, &d, NULL));
    assert_non_null(strstr(fit_api_message(), "fit_api_many_data"));
    fit_api_close(pairs);
    fit_api_close(m);
}

static void test_interrupted_curves_have_a_code(void **state)
{
    (void)state;
    struct fit_api_model *m = kww();
    const double *const column[] = {delay, NULL, NULL};
    const volatile int stop = 1;
    const struct fit_api_many_data d = {.size = sizeof d, .ncurve = 8, .nrow = ROWS, .column = column, .value = g2};
    const struct fit_api_options o = {.size = sizeof o, .interrupt = &stop};
    const struct fit_api_many *r = fit_api_fit_many(m, &d, &o);
    assert_non_null(r);
    assert_int_equal(r->nfailed, 8);
    for (size_t c = 0; c < 8; c++)
        assert_int_equal(r->code[c], FIT_API_INTERRUPTED);
    fit_api_many_free(r);
    fit_api_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curves_are_what_they_are_alone),
        cmocka_unit_test(test_the_same_with_errors_and_columns_of_curves),
        cmocka_unit_test(test_the_same_with_a_search),
        cmocka_unit_test(test_the_same_with_ties_and_a_loss),
        cmocka_unit_test(test_the_same_by_devices),
        cmocka_unit_test(test_devices_that_are_not_there),
        cmocka_unit_test(test_what_cannot_be_done_is_said),
        cmocka_unit_test(test_interrupted_curves_have_a_code),
    };
    return cmocka_run_group_tests(tests, make_curves, NULL);
}
