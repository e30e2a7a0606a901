/* test_imaging_curvature.c -- second derivatives of the objective of models/imaging/imaging.lua: beside differences of
 * its gradient; J^T J written out; the same bits however the work is cut; rows without weight, whatever they
 * hold. */
#include "golden_images.h"

#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const regularizer[] = {"flux", "simple", "gs",     "l1",     "l1w",     "lA",       "patch",
                                          "cm",   "tv",     "tv2",    "tvlog",  "tv2log",  "compact",  "compact2",
                                          "rgauss"};
enum { NREGULARIZER = sizeof regularizer / sizeof *regularizer };

static double *x_rand(void)
{
    return read_array("/grid/x_rand", NULL);
}

/* A direction without symmetry. */
static void direction(size_t n, int which, double *v)
{
    for (size_t k = 0; k < n; k++)
        v[k] = sin(1.7 * (double)k + which) + 0.3 * cos(0.37 * (double)(k * k % 101));
}

/* --- beside differences ----------------------------------------------------------------------------------- */

static void differences(struct fit_bound *b, const double *x, const double *v, double h, double out[N])
{
    static const double weight[] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
    double moved[N], gradient[N];
    memset(out, 0, N * sizeof *out);
    for (int i = -3; i <= 3; i++) {
        if (i == 0)
            continue;
        for (int k = 0; k < N; k++)
            moved[k] = x[k] + i * h * v[k];
        fit_bound_value(b, moved, gradient);
        for (int k = 0; k < N; k++)
            out[k] += (i < 0 ? -1 : 1) * weight[abs(i) - 1] * gradient[k] / h;
    }
}

static void one_term(struct fit_bound *b, const char *name)
{
    double v[N], u[N], seen[N], other[N], wanted[N], gradient[N], uHv = 0, vHu = 0;
    const double *x = x_rand();
    only(b, name, 1);
    direction(N, 1, v);
    direction(N, 2, u);
    differences(b, x, v, 1e-4, wanted);
    fit_bound_value(b, x, gradient);
    must(fit_bound_curvature(b, FIT_HESSIAN, v, seen, &err));
    must(fit_bound_curvature(b, FIT_HESSIAN, u, other, &err));
    /* rounding 1e-14/h of the gradient, truncation (h/a)^6, a: how far a visibility is from 0 */
    const double size = largest(N, wanted) + 1e-2 * largest(N, gradient);
    for (int k = 0; k < N; k++)
        if (!(fabs(seen[k] - wanted[k]) <= 1e-8 * size))
            fail_msg("%s: second derivative %d is %.12g, not %.12g", name, k, seen[k], wanted[k]);
    for (int k = 0; k < N; k++) {
        uHv += u[k] * seen[k];
        vHu += v[k] * other[k];
    }
    if (!(fabs(uHv - vHu) <= 1e-11 * (largest(N, seen) + largest(N, other)) * N))
        fail_msg("%s: the matrix is not symmetric: %.17g, %.17g", name, uHv, vHu);
}

static void every_term_has_the_second_derivatives_of_its_gradient(void **state)
{
    (void)state;
    struct fit_inputs in = image_inputs(NULL);
    put_data(&in);
    struct fit_bound *b = bind_objective(&in);
    must(fit_bound_hyper(b, "epsilon_tv", 1e-4, &err));
    for (int k = 0; k < NDATA_TERM; k++)
        one_term(b, data_term[k]);
    for (int k = 0; k < NREGULARIZER; k++)
        one_term(b, regularizer[k]);
    fit_bound_free(b);
}

/* --- J^T J ------------------------------------------------------------------------------------------------ */

/* (1/N) sum over rows of w Re(conj(A_i) A_j) I_i I_j. */
static void written_out(const double *x, double *matrix)
{
    size_t n;
    const double *u = read_array("/dataterms/vis/u", &n), *v = read_array("/dataterms/vis/v", NULL);
    const double *sigma = read_array("/dataterms/vis/sigma", NULL);
    double complex *A = fit_take(&arena, n * N, sizeof *A);
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < N; k++) {
            const double X = ((NX - 1) / 2.0 - k % NX) * pixel, Y = ((NY - 1) / 2.0 - k / NX) * pixel;
            const double pi = 3.14159265358979323846, p = pi * pixel * u[i], q = pi * pixel * v[i];
            const double pulse = pow((p == 0 ? 1 : sin(p) / p) * (q == 0 ? 1 : sin(q) / q), 2);
            A[i * N + (size_t)k] = pulse * cexp(2 * pi * I * (u[i] * X + v[i] * Y)) * exp(x[k]);
        }
    for (int k = 0; k < N; k++)
        for (int l = 0; l < N; l++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++)
                sum += creal(conj(A[i * N + (size_t)k]) * A[i * N + (size_t)l]) / (sigma[i] * sigma[i]);
            matrix[k * N + l] = sum / (double)n;
        }
}

static void gauss_newton_is_that_of_the_residuals(void **state)
{
    (void)state;
    static double seen[N * N], wanted[N * N];
    double gradient[N];
    struct fit_inputs in = image_inputs(NULL);
    put_data(&in);
    struct fit_bound *b = bind_objective(&in);
    only(b, "vis", 1);
    fit_bound_value(b, x_rand(), gradient);
    must(fit_bound_matrix(b, FIT_GAUSS_NEWTON, N, NULL, seen, &err));
    written_out(x_rand(), wanted);
    const double size = largest(N * N, wanted);
    for (int k = 0; k < N * N; k++)
        if (!(fabs(seen[k] - wanted[k]) <= 1e-11 * size))
            fail_msg("J^T J[%d][%d] is %.15g, not %.15g", k / N, k % N, seen[k], wanted[k]);
    assert_null(fit_bound_not_squares(b));
    must(fit_bound_weight(b, "tv2", 1, &err));
    assert_null(fit_bound_not_squares(b));
    must(fit_bound_weight(b, "tv", 1, &err));
    assert_string_equal(fit_bound_not_squares(b), "tv");
    fit_bound_free(b);
}

static void no_cut_changes_a_bit(void **state)
{
    (void)state;
    static const int workers[] = {1, 2, 3, 4, 7, 16};
    static const size_t cut[] = {0, 1, 3, 1000}, index[] = {0, 7, 63, 64, 119};
    struct fit_inputs in = image_inputs(NULL);
    put_data(&in);
    struct fit_bound *b = bind_objective(&in);
    double gradient[N], matrix[2][2][25];
    b->on = 0;
    for (int k = 0; k < NDATA_TERM; k++)
        must(fit_bound_weight(b, data_term[k], 1 + k, &err));
    must(fit_bound_weight(b, "tv2", 1, &err));
    must(fit_bound_weight(b, "simple", 1, &err));
    fit_bound_value(b, x_rand(), gradient);
    for (size_t k = 0; k < sizeof workers / sizeof *workers; k++)
        for (size_t c = 0; c < sizeof cut / sizeof *cut; c++) {
            const int first = k == 0 && c == 0;
            b->threads = workers[k];
            b->cut = cut[c];
            for (int which = 0; which < 2; which++) {
                must(fit_bound_matrix(b, (enum fit_curvature)which, 5, index, matrix[!first][which], &err));
                assert_memory_equal(matrix[!first][which], matrix[0][which], sizeof matrix[0][which]);
            }
        }
    fit_bound_free(b);
}

/* --- rows without weight ---------------------------------------------------------------------------------- */

enum { ROWS = 256 };

static const struct {
    const char *name;
    int nleg;
} row_term[] = {{"vis", 1}, {"amp", 1}, {"logamp", 1}, {"cphase", 3}, {"logcamp", 4}};
enum { NROW_TERM = sizeof row_term / sizeof *row_term };

static double *padded_copy(size_t n, const char *path)
{
    double *x = doubles(n);
    memcpy(x, read_array(path, NULL), ROWS * sizeof *x);
    for (size_t k = ROWS; k < n; k++)
        x[k] = NAN;
    return x;
}

/* The first 256 visibilities, and as many rows whose sigma is infinite, whose data are no numbers, at (0, 0); legs of
 * closures are rows that follow each other. */
static void put_row_term(struct fit_inputs *in, int term, size_t n, const double *weight, double *const *data)
{
    const char *name = row_term[term].name;
    put_axis(in, name, n);
    put_array(in, path_of("%s_weight", name), n, weight);
    if (term)
        put_array(in, path_of("%s_data", name), n, data[0]);
    else
        for (int part = 0; part < 2; part++)
            put_array(in, part ? "vis_data_im" : "vis_data_re", n, data[part]);
    for (int leg = 0; leg < row_term[term].nleg; leg++) {
        int32_t *place = fit_take(&arena, n, sizeof *place);
        for (size_t k = 0; k < n; k++)
            place[k] = (int32_t)(k < ROWS ? (k + (size_t)leg) % ROWS : k) + 1;
        fit_inputs_put(in, (struct fit_input){.name = path_of("%s_leg%d", name, leg + 1),
                                              .kind = FIT_INPUT_PLACES,
                                              .n = n,
                                              .place = place});
    }
}

static struct fit_bound *bind_rows(int padded)
{
    const size_t n = padded ? 2 * ROWS : ROWS;
    struct fit_inputs in = image_inputs(NULL);
    double *u = padded_copy(n, "/dataterms/vis/u"), *v = padded_copy(n, "/dataterms/vis/v"), *weight = doubles(n);
    double *data[2] = {padded_copy(n, "/dataterms/vis/data_re"), padded_copy(n, "/dataterms/vis/data_im")};
    double *amplitude = padded_copy(n, "/dataterms/amp/data");
    const double *sigma = read_array("/dataterms/vis/sigma", NULL);
    for (size_t k = 0; k < n; k++) {
        weight[k] = k < ROWS ? 1 / (sigma[k] * sigma[k]) : 1 / (INFINITY * INFINITY);
        if (k >= ROWS)
            u[k] = v[k] = 0;
    }
    put_axis(&in, "uv", n);
    put_factors(&in, "z", n, u, v);
    for (int term = 0; term < NROW_TERM; term++)
        put_row_term(&in, term, n, weight, term ? &amplitude : data);
    struct fit_bound *b = bind_objective(&in);
    b->on = 0;
    for (int term = 0; term < NROW_TERM; term++) /* the mean times n, a power of 2: to the last bit the sum */
        must(fit_bound_weight(b, row_term[term].name, (double)n, &err));
    return b;
}

static void rows_of_infinite_sigma_change_no_bit(void **state)
{
    (void)state;
    double gradient[2][N], product[2][N], second[2][N], squares[2][NROW_TERM], v[N];
    direction(N, 3, v);
    for (int padded = 0; padded < 2; padded++) {
        struct fit_bound *b = bind_rows(padded);
        fit_bound_value(b, x_rand(), gradient[padded]);
        must(fit_bound_curvature(b, FIT_GAUSS_NEWTON, v, product[padded], &err));
        must(fit_bound_curvature(b, FIT_HESSIAN, v, second[padded], &err));
        for (int term = 0; term < NROW_TERM; term++) {
            squares[padded][term] = b->term[fit_bound_term(b, row_term[term].name)] * (padded ? 2 * ROWS : ROWS);
            assert_true(isfinite(squares[padded][term]));
        }
        fit_bound_free(b);
    }
    assert_memory_equal(squares[1], squares[0], sizeof squares[0]);
    assert_memory_equal(gradient[1], gradient[0], sizeof gradient[0]);
    assert_memory_equal(product[1], product[0], sizeof product[0]);
    assert_memory_equal(second[1], second[0], sizeof second[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_term_has_the_second_derivatives_of_its_gradient),
        cmocka_unit_test(gauss_newton_is_that_of_the_residuals),
        cmocka_unit_test(no_cut_changes_a_bit),
        cmocka_unit_test(rows_of_infinite_sigma_change_no_bit),
    };
    return cmocka_run_group_tests(tests, open_golden, close_golden);
}
