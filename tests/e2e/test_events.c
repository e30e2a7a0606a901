/* test_events.c -- states that jump at given times: the models of models/events beside closed forms of 60 digits
 * (tests/data/events/make_events.py): doses late by a fitted lag, an infusion of fitted duration, parts removed at
 * fitted times, by explicit and by implicit steps.
 *
 *   values        within 1e-12 of the value
 *   derivatives   within 1e-11, also by the parameters that events' times depend on
 *   bits          of values are the same with derivatives and without, and every time; rows backwards agree to 1e-12
 */
#include "fit/kernel.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const struct fit_kernel *const events_kernels[]; /* made by the build; ended by NULL */

enum { ROWS = 16, PARAMETERS = 5, COLUMNS = 4 };

struct problem {
    const struct fit_kernel *k;
    size_t n;
    double theta[PARAMETERS], want[ROWS][2 + PARAMETERS]; /* time, value, derivatives */
};

static void load(const struct fit_kernel *k, struct problem *p)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/data/events/%s.ref", FIT_SOURCE_DIR, k->name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    *p = (struct problem){.k = k};
    for (size_t j = 0; j < PARAMETERS; j++)
        assert_int_equal(fscanf(f, "%lf", &p->theta[j]), 1);
    for (size_t c = 0; p->n < ROWS && fscanf(f, "%lf", &p->want[p->n][c]) == 1;) {
        c = c == PARAMETERS + 1 ? 0 : c + 1;
        p->n += c == 0;
    }
    fclose(f);
    assert_true(p->n > 5);
}

static double *doubles(size_t n)
{
    double *x = aligned_alloc(64, (n / 8 + 1) * 64);
    assert_non_null(x);
    memset(x, 0, (n / 8 + 1) * 64);
    return x;
}

/* Means and, asked for, derivatives of all rows, taken in the order step, 2 step, ... (modulo their number). */
static void evaluate(const struct problem *p, size_t step, double *mean, double *jac)
{
    double *column[COLUMNS] = {0}, setting[] = {100}, out[ROWS], slopes[ROWS * PARAMETERS];
    uint32_t row[ROWS], zero[ROWS] = {0};
    assert_int_equal(p->k->nparam, PARAMETERS);
    for (size_t c = 0; c < p->k->ncolumn; c++)
        column[c] = doubles(ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        column[0][i] = p->want[(i < p->n ? i : p->n - 1) * step % p->n][0];
        if (p->k->ncolumn > 2)
            column[2][i] = 150; /* dose */
        row[i] = (uint32_t)i;
    }
    struct fit_layout l = {.ngroup = 1, .nrow = p->n, .chunk = ROWS, .column = (const double *const *)column,
                           .setting = setting};
    double *ws = doubles(p->k->workspace(&l));
    assert_int_equal(p->k->prepare(&l, p->theta, jac != NULL, ws), FIT_EVAL_OK);
    p->k->points(&l, ws, NULL, &(struct fit_points){p->n, row, zero, zero}, out, jac ? slopes : NULL);
    for (size_t i = 0; i < p->n; i++) {
        mean[i * step % p->n] = out[i];
        for (size_t j = 0; jac && j < PARAMETERS; j++)
            jac[(i * step % p->n) * PARAMETERS + j] = slopes[j * p->n + i];
    }
    free(ws);
    for (size_t c = 0; c < COLUMNS; c++)
        free(column[c]);
}

static void test_closed_forms(void **state)
{
    (void)state;
    for (size_t m = 0; events_kernels[m]; m++) {
        struct problem p;
        double mean[ROWS], jac[ROWS * PARAMETERS], value = 0, slope = 0;
        load(events_kernels[m], &p);
        evaluate(&p, 1, mean, jac);
        for (size_t i = 0; i < p.n; i++)
            for (size_t j = 0; j <= PARAMETERS; j++) {
                const double want = p.want[i][1 + j], is = j ? jac[i * PARAMETERS + j - 1] : mean[i];
                const double error = want == 0 ? fabs(is) : fabs(is / want - 1);
                if (!(error <= (j ? 1e-11 : 1e-12)))
                    print_message("%s at %g: %s is %.17g, not %.17g\n", p.k->name, p.want[i][0],
                                  j ? p.k->param[j - 1].name : "value", is, want);
                *(j ? &slope : &value) = fmax(j ? slope : value, isnan(error) ? INFINITY : error);
            }
        print_message("  %-10s values within %.1e, derivatives within %.1e\n", p.k->name, value, slope);
        assert_true(value <= 1e-12);
        assert_true(slope <= 1e-11);
    }
}

static void test_bits(void **state)
{
    (void)state;
    for (size_t m = 0; events_kernels[m]; m++) {
        struct problem p;
        double mean[ROWS], other[ROWS], jac[ROWS * PARAMETERS], again[ROWS * PARAMETERS];
        load(events_kernels[m], &p);
        evaluate(&p, 1, mean, jac);
        evaluate(&p, 1, other, NULL);
        assert_memory_equal(mean, other, p.n * sizeof *mean);
        evaluate(&p, 1, other, again);
        assert_memory_equal(jac, again, p.n * PARAMETERS * sizeof *jac);
        evaluate(&p, p.n - 1, other, again); /* backwards: each row begins again */
        for (size_t i = 0; i < p.n; i++)
            assert_true(fabs(other[i] - mean[i]) <= 1e-12 * fabs(mean[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
