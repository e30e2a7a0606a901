/* test_report_live.c -- a kernel as pages call it (report/kernel/live_kernel.c), built for this machine: contrast and
 * offset against what an independent computation gives, free and at their bounds, of one group and of all; blocks of
 * pairs; parameters that the kernel rejects.
 *
 * The kernel of the test:  c2 = contrast exp(-theta (j - i)) + offset + tilt phi,  tilt 0 but where it says so. */
#include "fit/kernel.h"
#include "report/kernel/live_kernel.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { N = 6, CELLS = N * (N + 1) / 2, GROUPS = 2 };
static double tilt;

static size_t workspace(const struct fit_layout *l)
{
    (void)l;
    return 8;
}

static enum fit_eval prepare(const struct fit_layout *l, const double *theta, int derivative, double *ws)
{
    (void)l, (void)derivative;
    ws[0] = theta[0];
    return theta[0] < 0 ? FIT_EVAL_REJECT : FIT_EVAL_OK;
}

static void points(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_points *p,
                   double *mean, double *jac)
{
    (void)jac;
    for (size_t k = 0; k < p->n; k++) {
        const size_t g = p->g ? p->g[k] : 0;
        const double lag = l->time[l->frame[p->j[k]]] - l->time[l->frame[p->i[k]]];
        mean[k] = lin[2 * g] * exp(-ws[0] * fabs(lag)) + lin[2 * g + 1] + tilt * l->coord[0][g];
    }
}

static const struct fit_param rate = {
    .name = "rate", .unit = "1/s", .doc = "rate", .start = 0.5, .upper = 9, .over = -1};
static const struct fit_param linear[] = {{.name = "contrast", .unit = "1", .upper = 1, .over = 0},
                                          {.name = "offset", .unit = "1", .lower = 0.5, .upper = 1.5, .over = 0}};
static const struct fit_axis phi = {"phi", "degree", "azimuth"};
extern const struct fit_kernel fit_kernel_test;
const struct fit_kernel fit_kernel_test = {.abi = FIT_KERNEL_ABI,
                                           .name = "test",
                                           .hash = "0",
                                           .space = FIT_PAIRS,
                                           .nparam = 1,
                                           .param = &rate,
                                           .nlinear = 2,
                                           .linear = linear,
                                           .intercept = 1,
                                           .naxis = 1,
                                           .axis = &phi,
                                           .workspace = workspace,
                                           .prepare = prepare,
                                           .points = points};

static double *at(enum live_part part)
{
    return live_at(part);
}

/* Frames 0 .. N - 1 at 1 s, every pair a cell, diagonal without weight; data as told. */
static void open_all(const double contrast[GROUPS], const double offset[GROUPS], double theta)
{
    tilt = 0;
    assert_int_equal(live_open(GROUPS, N, N, CELLS, 1), 0);
    uint32_t *frame = live_at(LIVE_FRAME), *ci = live_at(LIVE_CELL_I), *cj = live_at(LIVE_CELL_J);
    const double bound[] = {0, 1, 0.5, 1.5};
    memcpy(at(LIVE_BOUND), bound, sizeof bound);
    at(LIVE_COORD)[1] = 90;
    for (uint32_t k = 0; k < N; k++) {
        frame[k] = k;
        at(LIVE_TIME)[k] = k;
    }
    size_t c = 0;
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t j = i; j < N; j++, c++) {
            ci[c] = i;
            cj[c] = j;
            for (size_t g = 0; g < GROUPS; g++) {
                at(LIVE_DATA)[g * CELLS + c] = contrast[g] * exp(-theta * (j - i)) + offset[g];
                at(LIVE_WEIGHT)[g * CELLS + c] = i == j ? 0 : 1 + (double)c;
            }
        }
}

static void test_inside(void **state)
{
    (void)state;
    open_all((double[]){0.3, 0.2}, (double[]){1, 1.1}, 0.7);
    at(LIVE_THETA)[0] = 0.7;
    assert_int_equal(live_prepare(), 0);
    for (int g = 0; g < GROUPS; g++) {
        live_group(g, LIVE_INDIVIDUAL);
        assert_true(fabs(at(LIVE_LIN)[2 * g] - (g ? 0.2 : 0.3)) < 1e-13);
        assert_true(fabs(at(LIVE_LIN)[2 * g + 1] - (g ? 1.1 : 1)) < 1e-13);
        assert_true(at(LIVE_CHI2)[g] < 1e-24);
    }
    assert_string_equal(live_word(LIVE_PARAM_NAME, 1), "contrast");
    assert_null(live_word(LIVE_PARAM_NAME, 3));
    assert_true(live_number(LIVE_NLINEAR, 0) == 2);
}

/* Weighted sums, written down once more: offset alone where the contrast stands at its bound. */
static void test_bound(void **state)
{
    (void)state;
    double w = 0, wb = 0, wy = 0;
    open_all((double[]){1.3, 0.2}, (double[]){1, 1.1}, 0.7);
    at(LIVE_THETA)[0] = 0.7;
    assert_int_equal(live_prepare(), 0);
    live_group(0, LIVE_INDIVIDUAL);
    for (size_t c = 0; c < CELLS; c++) {
        const uint32_t *i = live_at(LIVE_CELL_I), *j = live_at(LIVE_CELL_J);
        w += at(LIVE_WEIGHT)[c];
        wb += at(LIVE_WEIGHT)[c] * exp(-0.7 * (j[c] - i[c]));
        wy += at(LIVE_WEIGHT)[c] * at(LIVE_DATA)[c];
    }
    assert_true(at(LIVE_LIN)[0] == 1);
    assert_true(fabs(at(LIVE_LIN)[1] - (wy - wb) / w) < 1e-13);
}

static void test_common(void **state)
{
    (void)state;
    double a[2][2] = {{0}}, b[2] = {0};
    open_all((double[]){0.3, 0.2}, (double[]){1, 1.1}, 0.7);
    at(LIVE_THETA)[0] = 0.5;
    assert_int_equal(live_prepare(), 0);
    live_sums_begin();
    for (int g = 0; g < GROUPS; g++)
        live_sums(g);
    live_sums_end();
    live_group(1, LIVE_AVERAGED);
    const uint32_t *i = live_at(LIVE_CELL_I), *j = live_at(LIVE_CELL_J);
    for (size_t k = 0; k < GROUPS * CELLS; k++) {
        const double v[2] = {exp(-0.5 * (j[k % CELLS] - i[k % CELLS])), 1};
        for (int p = 0; p < 2; p++) {
            b[p] += at(LIVE_WEIGHT)[k] * v[p] * at(LIVE_DATA)[k];
            for (int q = 0; q < 2; q++)
                a[p][q] += at(LIVE_WEIGHT)[k] * v[p] * v[q];
        }
    }
    const double det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
    for (int g = 0; g < GROUPS; g++) {
        assert_true(fabs(at(LIVE_LIN)[2 * g] - (b[0] * a[1][1] - b[1] * a[0][1]) / det) < 1e-12);
        assert_true(fabs(at(LIVE_LIN)[2 * g + 1] - (b[1] * a[0][0] - b[0] * a[1][0]) / det) < 1e-12);
    }
    live_group(0, LIVE_CONSTANT); /* as they are */
    assert_true(fabs(at(LIVE_MEAN)[1] - (at(LIVE_LIN)[0] * exp(-0.5) + at(LIVE_LIN)[1])) < 1e-15);
}

/* A part without linear parameters; and means over blocks: at the fit those of the fit, carried along by the
 * contrast. */
static void test_rest_and_blocks(void **state)
{
    (void)state;
    open_all((double[]){0.3, 0.2}, (double[]){1, 1.1}, 0.7);
    at(LIVE_THETA)[0] = 0.7;
    tilt = 0.01;
    assert_int_equal(live_prepare(), 0);
    for (size_t c = 0; c < CELLS; c++)
        at(LIVE_DATA)[CELLS + c] += 0.9;
    live_group(1, LIVE_INDIVIDUAL); /* 0.9 of what looks like an offset is the tilt */
    assert_true(fabs(at(LIVE_LIN)[3] - 1.1) < 1e-12 && at(LIVE_CHI2)[1] < 1e-24);
    tilt = 0;
    at(LIVE_LIN)[0] = 0.3;
    at(LIVE_LIN)[1] = 1;
    for (size_t c = 0; c < CELLS; c++) /* what a mean over a block might be */
        at(LIVE_MEAN)[c] = at(LIVE_DATA)[c] + 0.003 * (double)(c % 3);
    live_reference(0);
    live_group(0, LIVE_CONSTANT);
    for (size_t c = 0; c < CELLS; c++)
        assert_true(fabs(at(LIVE_MEAN)[c] - at(LIVE_DATA)[c] - 0.003 * (double)(c % 3)) < 1e-14);
}

static void test_reject(void **state)
{
    (void)state;
    open_all((double[]){0.3, 0.2}, (double[]){1, 1.1}, 0.7);
    at(LIVE_THETA)[0] = -1;
    assert_int_equal(live_prepare(), 1);
    assert_null(live_at(LIVE_PARTS));
    assert_null(live_at(-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inside),           cmocka_unit_test(test_bound),  cmocka_unit_test(test_common),
        cmocka_unit_test(test_rest_and_blocks), cmocka_unit_test(test_reject),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
