/* test_imaging_arrays.c -- an objective of several free arrays (tests/data/imaging/two_arrays.lua): its value beside
 * sums written out, its gradient beside differences, arrays that are held, factors that are shared. */
#include "fit/operator_data.h"
#include "functional/functional.h"
#include "machine/cpu.h"

#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const struct fit_functional *const fit_functionals[];

enum { FX = 11, FY = 7, NF = FX * FY, CX = 3, CY = 5, NC = CX * CY, NS = 4, NV = 37, NX = NF + NS + NC };
enum { AT_X = 0, AT_G = NF, AT_Y = NF + NS };

static struct fit_error err;
static double v_re[NV], v_im[NV], w[NV], x0[NX];
static double a_row[2][NV * FY], a_column[2][NV * FX], b_row[2][NV * CY], b_column[2][NV * CX];
static int32_t station[NV];

static double random_number(void)
{
    static uint64_t s = 12345;
    s = s * 6364136223846793005u + 1442695040888963407u;
    return (double)(s >> 11) / 9007199254740992.0 - 0.5;
}

static void fill(size_t n, double *x)
{
    for (size_t k = 0; k < n; k++)
        x[k] = random_number();
}

static int make(void **state)
{
    (void)state;
    fill(NV, v_re);
    fill(NV, v_im);
    fill(NX, x0);
    for (int part = 0; part < 2; part++) {
        fill(NV * FY, a_row[part]);
        fill(NV * FX, a_column[part]);
        fill(NV * CY, b_row[part]);
        fill(NV * CX, b_column[part]);
    }
    for (int k = 0; k < NV; k++) {
        w[k] = 1 + random_number();
        station[k] = 1 + k % NS;
    }
    return 0;
}

static void put_axis(struct fit_inputs *in, const char *name, size_t ny, size_t nx)
{
    fit_inputs_put(in, (struct fit_input){.name = name, .kind = FIT_INPUT_AXIS, .n = ny * nx, .nx = nx, .ny = ny});
}

static void put_factors(struct fit_inputs *in, const char *name, size_t ny, size_t nx, double *row, double *column)
{
    fit_inputs_put(in, (struct fit_input){.name = name,
                                          .kind = FIT_INPUT_OUTER,
                                          .n = NV,
                                          .nx = nx,
                                          .ny = ny,
                                          .row_re = row,
                                          .row_im = row + NV * ny,
                                          .column_re = column,
                                          .column_im = column + NV * nx});
}

static enum fit_status try_bind(size_t fine_columns, struct fit_bound **b)
{
    struct fit_inputs in = {.n = 0};
    size_t best = 0;
    put_axis(&in, "fine", FY, fine_columns);
    put_axis(&in, "coarse", CY, CX);
    put_axis(&in, "station", 1, NS);
    put_axis(&in, "uv", 1, NV);
    fit_inputs_put(&in, (struct fit_input){.name = "v_re", .kind = FIT_INPUT_ARRAY, .n = NV, .array = v_re});
    fit_inputs_put(&in, (struct fit_input){.name = "v_im", .kind = FIT_INPUT_ARRAY, .n = NV, .array = v_im});
    fit_inputs_put(&in, (struct fit_input){.name = "w", .kind = FIT_INPUT_ARRAY, .n = NV, .array = w});
    fit_inputs_put(&in,
                   (struct fit_input){.name = "station_of", .kind = FIT_INPUT_PLACES, .n = NV, .place = station});
    put_factors(&in, "A", FY, FX, a_row[0], a_column[0]);
    put_factors(&in, "B", CY, CX, b_row[0], b_column[0]);
    while (!fit_cpu_supports(fit_functionals[best]->isa))
        best++;
    const enum fit_status s = fit_bound_new(fit_functionals[best], &in, b, &err);
    fit_inputs_free(&in);
    return s;
}

/* All terms, with weights of their own. */
static struct fit_bound *bind_all(void)
{
    static const char *const term[] = {"fit", "fine", "coarse", "gains"};
    struct fit_bound *b;
    assert_int_equal(try_bind(FX, &b), FIT_OK);
    for (int k = 0; k < 4; k++)
        assert_int_equal(fit_bound_weight(b, term[k], 1 + 0.25 * k, &err), FIT_OK);
    return b;
}

/* --- the objective, written out --------------------------------------------------------------------------- */

static double complex element(int n, double *const part, int k)
{
    return part[k] + I * part[k + NV * n];
}

static double variation(const double *x, int ny, int nx, double of_columns)
{
    double sum = 0;
    for (int r = 0; r < ny; r++)
        for (int c = 0; c < nx; c++) {
            const double here = x[r * nx + c];
            sum += pow((r + 1 < ny ? x[r * nx + nx + c] : 0) - here, 2);
            sum += of_columns * pow((c + 1 < nx ? x[r * nx + c + 1] : 0) - here, 2);
        }
    return sum;
}

static double written_out(const double *x)
{
    double chi2 = 0, gains = 0;
    for (int v = 0; v < NV; v++) {
        double complex z = 0;
        for (int k = 0; k < NF; k++)
            z += element(FY, a_row[0], v * FY + k / FX) * element(FX, a_column[0], v * FX + k % FX) *
                 (exp(x[k]) + x[k] * x[k]);
        for (int k = 0; k < NC; k++)
            z += I * element(CY, b_row[0], v * CY + k / CX) * element(CX, b_column[0], v * CX + k % CX) * x[AT_Y + k];
        chi2 += w[v] * pow(cabs(exp(x[AT_G + station[v] - 1]) * z - (v_re[v] + I * v_im[v])), 2) / NV;
    }
    for (int k = 0; k < NS; k++)
        gains += x[AT_G + k] * x[AT_G + k];
    return chi2 - 1 + 1.25 * variation(x, FY, FX, 1) + 1.5 * variation(x + AT_Y, CY, CX, 2) + 1.75 * gains;
}

static double slope(int k)
{
    static const double weight[] = {45.0 / 60, -9.0 / 60, 1.0 / 60}, h = 1e-2;
    double x[NX], sum = 0;
    memcpy(x, x0, sizeof x);
    for (int i = 1; i <= 3; i++) {
        x[k] = x0[k] + i * h;
        sum += weight[i - 1] * written_out(x);
        x[k] = x0[k] - i * h;
        sum -= weight[i - 1] * written_out(x);
    }
    return sum / h;
}

static void value_and_gradient_are_those_of_the_sums_written_out(void **state)
{
    (void)state;
    struct fit_bound *b = bind_all();
    double gradient[NX], wanted[NX], steepest = 0;
    assert_int_equal(fit_bound_unknowns(b), NX);
    assert_int_equal(fit_bound_place(b, "x"), AT_X);
    assert_int_equal(fit_bound_place(b, "g"), AT_G);
    assert_int_equal(fit_bound_place(b, "y"), AT_Y);
    const double value = fit_bound_value(b, x0, gradient), direct = written_out(x0);
    assert_true(fabs(value - direct) <= 1e-12 * fabs(direct));
    for (int k = 0; k < NX; k++) {
        wanted[k] = slope(k);
        steepest = fmax(steepest, fabs(wanted[k]));
    }
    for (int k = 0; k < NX; k++) /* of differences of sixth order: rounding 1e-14/h, truncation h^6 */
        if (!(fabs(gradient[k] - wanted[k]) <= 1e-10 * steepest))
            fail_msg("gradient[%d] %.12g, not %.12g", k, gradient[k], wanted[k]);
    fit_bound_free(b);
}

/* x without an array that is held, and the rest of the gradient: the same bits as with it. */
static void an_array_that_is_held_leaves_the_gradient_of_the_others(void **state)
{
    (void)state;
    struct fit_bound *b = bind_all();
    double all[NX], rest[NX], x[NX];
    const double value = fit_bound_value(b, x0, all);
    assert_int_equal(fit_bound_hold(b, "g", x0 + AT_G, &err), FIT_OK);
    assert_int_equal(fit_bound_unknowns(b), NF + NC);
    assert_true(fit_bound_place(b, "g") == FIT_BOUND_NOWHERE);
    assert_int_equal(fit_bound_place(b, "y"), NF);
    memcpy(x, x0, NF * sizeof *x);
    memcpy(x + NF, x0 + AT_Y, NC * sizeof *x);
    const double held = fit_bound_value(b, x, rest);
    assert_memory_equal(&held, &value, sizeof value);
    assert_memory_equal(rest, all, NF * sizeof *rest);
    assert_memory_equal(rest + NF, all + AT_Y, NC * sizeof *rest);
    assert_int_equal(fit_bound_hold(b, "g", NULL, &err), FIT_OK);
    assert_int_equal(fit_bound_unknowns(b), NX);
    assert_int_equal(fit_bound_hold(b, "v_re", x0, &err), FIT_ERR_CONFIG);
    assert_non_null(strstr(err.message, "two_arrays has no free array 'v_re'"));
    fit_bound_free(b);
}

/* Terms in use decide what x has. */
static void arrays_that_no_term_needs_are_not_solved_for(void **state)
{
    (void)state;
    struct fit_bound *b = bind_all();
    double gradient[NX];
    b->on = 0;
    assert_int_equal(fit_bound_weight(b, "coarse", 1.5, &err), FIT_OK);
    assert_int_equal(fit_bound_unknowns(b), NC);
    assert_int_equal(fit_bound_place(b, "y"), 0);
    const double value = fit_bound_value(b, x0 + AT_Y, gradient), direct = 1.5 * variation(x0 + AT_Y, CY, CX, 2);
    assert_true(fabs(value - direct) <= 1e-13 * direct);
    fit_bound_free(b);
}

static void no_cut_changes_a_bit(void **state)
{
    (void)state;
    static const size_t cut[] = {0, 1, 3};
    struct fit_bound *b = bind_all();
    double gradient[2][NX], value = 0;
    for (int threads = 1; threads <= 4; threads++)
        for (int c = 0; c < 3; c++) {
            const int first = threads == 1 && c == 0;
            b->threads = threads;
            b->cut = cut[c];
            const double seen = fit_bound_value(b, x0, gradient[!first]);
            value = first ? seen : value;
            assert_memory_equal(&seen, &value, sizeof value);
            assert_memory_equal(gradient[!first], gradient[0], sizeof *gradient);
        }
    fit_bound_free(b);
}

static void factors_of_one_name_are_kept_once(void **state)
{
    (void)state;
    struct fit_bound *b = bind_all();
    const struct fit_outer *outer[3];
    int n = 0;
    for (uint32_t k = 0; k < b->o->noperator; k++)
        if (b->o->operation[k].kind == FIT_OUTER)
            outer[n++] = b->operation[k];
    assert_int_equal(n, 3);
    assert_ptr_equal(outer[0]->row_re, outer[1]->row_re);
    assert_ptr_equal(outer[0]->column_im, outer[1]->column_im);
    assert_ptr_not_equal(outer[0]->plane, outer[1]->plane);
    assert_ptr_not_equal(outer[0]->row_re, outer[2]->row_re);
    fit_bound_free(b);
    assert_int_equal(try_bind(FX + 1, &b), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "the factors 'A' are 37 times (7, 11), their axes 37 times (7, 12)"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(value_and_gradient_are_those_of_the_sums_written_out),
        cmocka_unit_test(an_array_that_is_held_leaves_the_gradient_of_the_others),
        cmocka_unit_test(arrays_that_no_term_needs_are_not_solved_for),
        cmocka_unit_test(no_cut_changes_a_bit),
        cmocka_unit_test(factors_of_one_name_are_kept_once),
    };
    return cmocka_run_group_tests(tests, make, NULL);
}
