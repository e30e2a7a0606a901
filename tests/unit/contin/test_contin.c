/* test_contin.c -- least squares with x >= 0 against KKT conditions and scipy.optimize.nnls; distributions recovered
 * from noisy correlation functions; bands that cover. */
#include "contin/contin.h"
#include "math/nnls.h"
#include "math/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { M = 12, N = 9 };

/* At the minimum the gradient is 0 where x > 0 and not above 0 elsewhere; so, too, for columns that depend on others
 * and for more columns than rows. */
static void test_nnls_meets_the_conditions_of_a_minimum(void **s)
{
    (void)s;
    for (uint64_t trial = 0; trial < 300; trial++) {
        double a[M * N], b[M], A[M * N], B[M], x[N] = {0}, work[N], z[2];
        size_t index[N];
        const size_t m = 4 + trial % 9;
        for (size_t i = 0; i < m * N; i++) {
            fit_rng_normal(7, trial, i, z);
            A[i] = a[i] = z[0];
        }
        if (trial % 3 == 0)
            memcpy(A + m, A, m * sizeof *A), memcpy(a + m, a, m * sizeof *a);
        for (size_t i = 0; i < m; i++) {
            fit_rng_normal(8, trial, i, z);
            B[i] = b[i] = z[1];
        }
        assert_int_equal(fit_nnls(m, N, a, b, x, index, work), 0);
        for (size_t j = 0; j < N; j++) {
            double w = 0;
            for (size_t i = 0; i < m; i++) {
                double r = B[i];
                for (size_t k = 0; k < N; k++)
                    r -= A[k * m + i] * x[k];
                w += A[j * m + i] * r;
            }
            assert_true(x[j] >= 0);
            assert_true(w < 1e-12);
            assert_true(x[j] <= 0 || w > -1e-12);
        }
    }
}

/* A minimum does not depend on where it was begun. */
static void test_nnls_from_a_former_solution_is_the_same(void **s)
{
    double a[M * N], b[M], x[N] = {0}, y[N], work[N], z[2];
    size_t index[N];
    (void)s;
    for (int turn = 0; turn < 2; turn++) {
        double *at = turn ? y : x;
        for (size_t k = 0; k < N; k++)
            y[k] = turn ? (double)(k % 3) : 0;
        for (size_t i = 0; i < M * N; i++) {
            fit_rng_normal(9, 0, i, z);
            a[i] = z[0];
        }
        for (size_t i = 0; i < M; i++) {
            fit_rng_normal(10, 0, i, z);
            b[i] = z[0];
        }
        assert_int_equal(fit_nnls(M, N, a, b, at, index, work), 0);
    }
    for (size_t k = 0; k < N; k++)
        assert_true(fabs(x[k] - y[k]) < 1e-13);
}

/* Rows of numbers of a file of tests/data/contin, without comments. */
static size_t read_rows(const char *name, size_t columns, size_t most, double *v)
{
    char path[400], line[400];
    size_t n = 0;
    snprintf(path, sizeof path, "%s/tests/data/contin/%s", FIT_SOURCE_DIR, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (n < most && fgets(line, sizeof line, f)) {
        char *at = line;
        for (size_t c = 0; *line != '#' && c < columns; c++)
            v[n * columns + c] = strtod(at, &at);
        n += *line != '#';
    }
    fclose(f);
    return n;
}

static void test_fixed_strengths_agree_with_scipy(void **s)
{
    enum { n = 40, m = 60 };
    double row[m * 3], ref[n * 4], t[m], y[m], e[m], u[n];
    const double strength[] = {1e-2, 10, 1e4};
    (void)s;
    assert_int_equal(read_rows("g1.txt", 3, m, row), m);
    assert_int_equal(read_rows("nnls.txt", 4, n, ref), n);
    for (size_t i = 0; i < m; i++) {
        t[i] = row[3 * i];
        y[i] = row[3 * i + 1];
        e[i] = row[3 * i + 2];
    }
    for (size_t k = 0; k < n; k++)
        u[k] = ref[4 * k];
    const struct contin_curve c = {.n = m, .delay = t, .y = y, .sigma = e, .scale = 1};
    for (size_t a = 0; a < 3; a++) {
        struct contin_result r;
        const struct contin_problem p = {
            .ncurve = 1, .curve = &c, .power = 1, .n = n, .u = u, .smoothing = CONTIN_FIXED, .alpha = strength[a]};
        assert_int_equal(contin_solve(&p, &r, NULL), FIT_OK);
        for (size_t k = 0; k < n; k++)
            assert_true(fabs(r.x[k] - ref[4 * k + 1 + a]) < 1e-8 * 0.1); /* the largest are 0.1 */
        contin_result_free(&r);
    }
}

/* ---- simulated samples ----------------------------------------------------------------------- */

enum { ROWS = 120, GRID = 40, CURVES = 3 };

struct sample {
    double t[CURVES][ROWS], y[CURVES][ROWS], e[CURVES][ROWS], u[GRID], truth[GRID];
    struct contin_curve curve[CURVES];
};

/* Two modes on the grid: log-normal ones of width 0.4 at a and b, with the parts w and 1 - w. */
static void truth_of(struct sample *s, double lo, double hi, double a, double b, double w)
{
    double sum[2] = {0, 0};
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < GRID; k++) {
            s->u[k] = exp(log(lo) + log(hi / lo) * (double)k / (GRID - 1));
            const double p = exp(-0.5 * pow(log(s->u[k] / a) / 0.4, 2)), q = exp(-0.5 * pow(log(s->u[k] / b) / 0.4, 2));
            s->truth[k] = pass ? w * p / sum[0] + (1 - w) * q / sum[1] : 0;
            sum[0] += pass ? 0 : p;
            sum[1] += pass ? 0 : q;
        }
}

/* g2 - 1 = contrast g1^2 + baseline + noise */
static void measure(struct sample *s, size_t c, double scale, double contrast, double baseline, double noise,
                    uint64_t seed)
{
    for (size_t i = 0; i < ROWS; i++) {
        double z[2], h = 0;
        s->t[c][i] = pow(10, -5 + 6.0 * (double)i / (ROWS - 1)) * (c ? 1 / scale : 1);
        for (size_t k = 0; k < GRID; k++)
            h += s->truth[k] * exp(-scale * s->u[k] * s->t[c][i]);
        fit_rng_normal(seed, c, i, z);
        s->y[c][i] = contrast * h * h + baseline + noise * z[0];
        s->e[c][i] = noise;
    }
    s->curve[c] = (struct contin_curve){.n = ROWS, .delay = s->t[c], .y = s->y[c], .sigma = s->e[c], .scale = scale};
}

static void test_two_modes_come_out_of_noisy_g2(void **state)
{
    struct sample s;
    struct contin_result r;
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++)
        for (int how = 0; how < 2; how++) {
            truth_of(&s, 0.05, 5e4, 8, 300, 0.6);
            measure(&s, 0, 1, 0.8, 0, 2e-3, seed);
            const struct contin_problem p = {.ncurve = 1,
                                             .curve = s.curve,
                                             .power = 2,
                                             .n = GRID,
                                             .u = s.u,
                                             .smoothing = how ? CONTIN_LCURVE : CONTIN_EVIDENCE,
                                             .draws = how ? 0 : 200,
                                             .seed = 1};
            assert_int_equal(contin_solve(&p, &r, NULL), FIT_OK);
            size_t large = 0;
            for (size_t k = 0; k < r.npeak; k++)
                large += r.peak[k].weight[0] > 0.05;
            assert_int_equal(large, 2);
            const struct contin_peak *a = NULL, *b = NULL;
            for (size_t k = 0; k < r.npeak; k++) {
                a = r.peak[k].weight[0] > 0.05 && !a ? &r.peak[k] : a;
                b = r.peak[k].weight[0] > 0.05 ? &r.peak[k] : b;
            }
            assert_true(fabs(a->mean[0] / 8 - 1) < 0.05 && fabs(b->mean[0] / 300 - 1) < 0.05);
            assert_true(fabs(a->weight[0] / 0.6 - 1) < 0.1 && fabs(b->weight[0] / 0.4 - 1) < 0.1);
            assert_true(fabs(r.contrast[0] / 0.8 - 1) < 0.01);
            contin_result_free(&r);
        }
}

/* Baselines and contrasts of their own, one distribution of diffusion coefficients. */
static void test_several_curves_have_one_distribution(void **state)
{
    struct sample s;
    struct contin_result r;
    (void)state;
    truth_of(&s, 0.05, 5e4, 8, 300, 0.6);
    measure(&s, 0, 1, 0.8, 0.01, 2e-3, 1);
    measure(&s, 1, 4, 0.5, -0.02, 2e-3, 1);
    measure(&s, 2, 0.25, 0.3, 0.03, 2e-3, 1);
    const struct contin_problem p = {.ncurve = 3,
                                     .curve = s.curve,
                                     .power = 2,
                                     .free_baseline = 1,
                                     .n = GRID,
                                     .u = s.u,
                                     .smoothing = CONTIN_EVIDENCE,
                                     .draws = 200,
                                     .seed = 1};
    assert_int_equal(contin_solve(&p, &r, NULL), FIT_OK);
    const double contrast[] = {0.8, 0.5, 0.3}, baseline[] = {0.01, -0.02, 0.03};
    assert_int_equal(r.npeak, 2);
    assert_true(fabs(r.peak[0].mean[0] / 8 - 1) < 0.05 && fabs(r.peak[1].mean[0] / 300 - 1) < 0.05);
    assert_true(fabs(r.peak[0].weight[0] / 0.6 - 1) < 0.1);
    for (size_t c = 0; c < 3; c++) {
        assert_true(fabs(r.contrast[c] - contrast[c]) < 4 * r.contrast_error[c] + 1e-3);
        assert_true(fabs(r.baseline[c] - baseline[c]) < 4 * r.baseline_error[c] + 1e-4);
        assert_true(r.contrast_error[c] < 0.01 && r.baseline_error[c] < 0.005);
    }
    contin_result_free(&r);
}

/* A baseline that is not looked for becomes a mode at the slow end of the grid: it has a weight, but no mean, and is
 * named so; what is within the grid lies within its intervals. */
static void test_modes_at_an_end_have_no_mean(void **state)
{
    struct sample s;
    struct contin_result r;
    size_t ends = 0;
    (void)state;
    truth_of(&s, 0.05, 5e4, 8, 300, 0.6);
    measure(&s, 0, 1, 0.8, 0.02, 2e-3, 1);
    const struct contin_problem p = {.ncurve = 1,
                                     .curve = s.curve,
                                     .power = 2,
                                     .n = GRID,
                                     .u = s.u,
                                     .smoothing = CONTIN_EVIDENCE,
                                     .draws = 200,
                                     .seed = 1};
    assert_int_equal(contin_solve(&p, &r, NULL), FIT_OK);
    for (size_t k = 0; k < r.npeak; k++) {
        const struct contin_peak *q = &r.peak[k];
        ends += q->at_edge < 0;
        assert_int_equal(isnan(q->mean[0]), q->at_edge != 0);
        assert_int_equal(isnan(q->mean[1]), q->at_edge != 0);
        assert_true(q->weight[1] <= q->weight[0] && q->weight[0] <= q->weight[2]);
        assert_true(q->at_edge || (q->mean[1] <= q->mean[0] && q->mean[0] <= q->mean[2]));
    }
    assert_int_equal(ends, 1);
    contin_result_free(&r);
}

/* Of simulated samples the band of 95 % holds the truth at no less than nine points of ten, and it is no band of
 * everything: where there is nothing it ends below a tenth of the top. */
static void test_bands_cover(void **state)
{
    struct sample s;
    size_t held = 0, of = 0, means = 0, weights = 0;
    (void)state;
    for (uint64_t seed = 100; seed < 112; seed++) {
        struct contin_result r;
        double top = 0;
        truth_of(&s, 0.05, 5e4, 8, 300, 0.6);
        measure(&s, 0, 1, 0.8, 0, 2e-3, seed);
        const struct contin_problem p = {.ncurve = 1,
                                         .curve = s.curve,
                                         .power = 2,
                                         .n = GRID,
                                         .u = s.u,
                                         .smoothing = CONTIN_EVIDENCE,
                                         .draws = 400,
                                         .seed = seed};
        assert_int_equal(contin_solve(&p, &r, NULL), FIT_OK);
        for (size_t k = 0; k < GRID; k++)
            top = fmax(top, s.truth[k]);
        for (size_t k = 0; k < GRID; k++) {
            held += r.lower[k] <= s.truth[k] + 1e-6 * top && s.truth[k] <= r.upper[k];
            of++;
            assert_true(s.truth[k] > 1e-3 * top || r.upper[k] < 0.35 * top);
        }
        means += r.npeak == 2 && r.peak[0].mean[1] < 8 && 8 < r.peak[0].mean[2];
        means += r.npeak == 2 && r.peak[1].mean[1] < 300 && 300 < r.peak[1].mean[2];
        weights += r.npeak == 2 && r.peak[0].weight[1] < 0.6 && 0.6 < r.peak[0].weight[2];
        contin_result_free(&r);
    }
    print_message("bands hold %zu of %zu points, intervals %zu of 24 means, %zu of 12 weights\n", held, of, means,
                  weights);
    assert_true(held >= 0.9 * (double)of);
    assert_true(means >= 20 && weights >= 10);
}

/* Two single rates: narrower than any grid, and than what a smooth prior takes for likely.  Intervals of 95 % hold all
 * the same; they were made for 75 % of means by draws about the smooth solution alone. */
static void test_intervals_hold_narrow_modes(void **state)
{
    struct sample s;
    size_t means = 0, weights = 0, widths = 0, of = 0;
    (void)state;
    for (uint64_t seed = 200; seed < 216; seed++) {
        struct contin_result r;
        const double a = 8, b = seed % 2 ? 300 : 150, w = 0.6, noise = seed % 4 < 2 ? 2e-3 : 3e-3;
        truth_of(&s, 0.05, 5e4, a, b, w);
        measure(&s, 0, 1, 0.8, 0, 0, seed);
        for (size_t i = 0; i < ROWS; i++) {
            double z[2], h = w * exp(-a * s.t[0][i]) + (1 - w) * exp(-b * s.t[0][i]);
            fit_rng_normal(seed, 0, i, z);
            s.y[0][i] = 0.8 * h * h + noise * z[0];
            s.e[0][i] = noise;
        }
        const struct contin_problem p = {.ncurve = 1,
                                         .curve = s.curve,
                                         .power = 2,
                                         .n = GRID,
                                         .u = s.u,
                                         .smoothing = CONTIN_EVIDENCE,
                                         .draws = 300,
                                         .seed = seed};
        assert_int_equal(contin_solve(&p, &r, NULL), FIT_OK);
        for (size_t k = 0; k < r.npeak; k++) {
            const struct contin_peak *q = &r.peak[k];
            const double mean = q->mean[0] < 40 ? a : b, weight = q->mean[0] < 40 ? w : 1 - w;
            if (q->at_edge || q->weight[0] < 0.05)
                continue;
            of++;
            means += q->mean[1] <= mean && mean <= q->mean[2];
            weights += q->weight[1] <= weight && weight <= q->weight[2];
            widths += q->width[1] < 0.1;
            assert_true(q->mean[2] / q->mean[1] < 1.4);
        }
        contin_result_free(&r);
    }
    print_message("intervals hold %zu means, %zu weights, %zu widths of %zu\n", means, weights, widths, of);
    assert_int_equal(of, 32);
    assert_true(means >= 30 && weights >= 30 && widths >= 30);
}

static void test_the_same_seed_gives_the_same_bits(void **state)
{
    struct sample s;
    struct contin_result r[2];
    (void)state;
    truth_of(&s, 0.05, 5e4, 8, 300, 0.6);
    measure(&s, 0, 1, 0.8, 0, 2e-3, 3);
    s.curve[0].sigma = NULL; /* and the noise is found */
    const struct contin_problem p = {.ncurve = 1,
                                     .curve = s.curve,
                                     .power = 2,
                                     .n = GRID,
                                     .u = s.u,
                                     .smoothing = CONTIN_EVIDENCE,
                                     .draws = 150,
                                     .seed = 5};
    for (int k = 0; k < 2; k++)
        assert_int_equal(contin_solve(&p, &r[k], NULL), FIT_OK);
    assert_memory_equal(r[0].upper, r[1].upper, GRID * sizeof *r[0].upper);
    assert_memory_equal(r[0].x, r[1].x, GRID * sizeof *r[0].x);
    assert_true(fabs(1 / sqrt(r[0].lambda) / 2e-3 - 1) < 0.2);
    contin_result_free(&r[0]);
    contin_result_free(&r[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nnls_meets_the_conditions_of_a_minimum),
        cmocka_unit_test(test_nnls_from_a_former_solution_is_the_same),
        cmocka_unit_test(test_fixed_strengths_agree_with_scipy),
        cmocka_unit_test(test_two_modes_come_out_of_noisy_g2),
        cmocka_unit_test(test_several_curves_have_one_distribution),
        cmocka_unit_test(test_modes_at_an_end_have_no_mean),
        cmocka_unit_test(test_bands_cover),
        cmocka_unit_test(test_intervals_hold_narrow_modes),
        cmocka_unit_test(test_the_same_seed_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
