/* test_imaging_schedule.c -- rows of a day of stations beside those of another program (gauss1600.h5), thermal errors,
 * noise that is a function of its place, what a schedule lacks. */
#include "golden.h"

#include "observation/schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fit_error err;

static struct fit_obs *read_gauss(void)
{
    struct fit_obs *o;
    if (fit_obs_read(GAUSS1600, &o, &err) != FIT_OK)
        fail_msg("%s", err.message);
    return o;
}

/* The row of the same time and baseline, in either direction; way: 1 or -1. */
static size_t row_of(const struct fit_obs *o, const struct fit_obs *like, size_t i, double *way)
{
    for (size_t k = 0; k < o->n; k++) {
        if (fabs(o->time[k] - like->time[i]) > 1e-6)
            continue;
        *way = o->t1[k] == like->t1[i] ? 1 : -1;
        if ((o->t1[k] == like->t1[i] && o->t2[k] == like->t2[i]) ||
            (o->t1[k] == like->t2[i] && o->t2[k] == like->t1[i]))
            return k;
    }
    fail_msg("row %zu is not in the schedule", i);
    return 0;
}

static void rows_and_errors_are_those_of_another_program(void **state)
{
    (void)state;
    struct fit_obs *like = read_gauss(), *o;
    const double longest = 1 / fit_obs_beam(like);
    assert_int_equal(fit_obs_schedule(like, &(struct fit_schedule){.cadence = 240}, &o, &err), FIT_OK);
    assert_int_equal(o->n, like->n);
    for (size_t i = 0; i < like->n; i++) {
        double way = 0;
        const size_t k = row_of(o, like, i, &way);
        assert_true(fabs(way * o->u[k] - like->u[i]) < 5e-8 * longest);
        assert_true(fabs(way * o->v[k] - like->v[i]) < 5e-8 * longest);
        assert_true(fabs(o->stokes[0].sigma[k] / like->stokes[0].sigma[i] - 1) < 1e-12);
    }
    assert_int_equal(fit_obs_check(o, &err), FIT_OK);
    fit_obs_free(o);
    assert_int_equal(fit_obs_schedule(like, &(struct fit_schedule){.cadence = 60}, &o, &err), FIT_OK);
    assert_int_equal(o->n, 10352);
    fit_obs_free(o);
    fit_obs_free(like);
}

static void noise_is_a_function_of_seed_and_row(void **state)
{
    (void)state;
    struct fit_obs *a = read_gauss(), *b = read_gauss(), *c = read_gauss();
    const size_t n = a->n;
    double sum = 0, square = 0;
    c->stokes[0].sigma[7] = INFINITY;
    const double kept = c->stokes[0].re[7];
    fit_obs_add_noise(a, 5);
    fit_obs_add_noise(b, 5);
    fit_obs_add_noise(c, 6);
    assert_memory_equal(a->stokes[0].re, b->stokes[0].re, n * sizeof(double));
    assert_true(c->stokes[0].re[7] == kept && c->stokes[0].re[8] != a->stokes[0].re[8]);
    fit_obs_free(b);
    b = read_gauss();
    for (size_t k = 0; k < n; k++) {
        const double x = (a->stokes[0].re[k] - b->stokes[0].re[k]) / b->stokes[0].sigma[k],
                     y = (a->stokes[0].im[k] - b->stokes[0].im[k]) / b->stokes[0].sigma[k];
        sum += x + y;
        square += x * x + y * y;
    }
    /* of 2 n standard normals: five standard errors */
    assert_true(fabs(sum) < 5 * sqrt(2.0 * (double)n) && fabs(square - 2.0 * (double)n) < 5 * sqrt(4.0 * (double)n));
    fit_obs_free(a);
    fit_obs_free(b);
    fit_obs_free(c);
}

static void what_a_schedule_lacks_is_said(void **state)
{
    (void)state;
    static const char *const words[] = {"positions", "flux densities", "bandwidth", "place of the source"};
    for (int k = 0; k < 4; k++) {
        struct fit_obs *like = read_gauss(), *o;
        if (k == 0)
            like->site_xyz = NULL;
        else if (k == 1)
            like->sefd = NULL;
        else if (k == 2)
            like->bandwidth = NAN;
        else
            like->dec = NAN;
        assert_int_equal(fit_obs_schedule(like, &(struct fit_schedule){.cadence = 240}, &o, &err), FIT_ERR_DATA);
        assert_non_null(strstr(err.message, words[k]));
        assert_null(o);
        fit_obs_free(like);
    }
    struct fit_obs *like = read_gauss(), *o;
    assert_int_equal(fit_obs_schedule(like, &(struct fit_schedule){.cadence = 0}, &o, &err), FIT_ERR_USAGE);
    like->dec = 89.9; /* nothing in the South sees it, and at the pole nobody above 85 degrees */
    assert_int_equal(fit_obs_schedule(like, &(struct fit_schedule){240, 84, 84.5}, &o, &err), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "at the same time"));
    fit_obs_free(like);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_errors_are_those_of_another_program),
        cmocka_unit_test(noise_is_a_function_of_seed_and_row),
        cmocka_unit_test(what_a_schedule_lacks_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
