/* test_minima.c -- one or two angles under shear, and two components at one angle, leave much open, and many minima: is
 * the one that a fit finds as good as that to which the truth leads?
 *
 * Laminar flow with random true values, 200 to 400 frames; heterodyne, 480 frames, with true values around those of a
 * measurement whose valleys end on bounds; noise 0.01.  A fit, whose start knows nothing, misses the minimum where its
 * chi2 is above that of a fit from the truth by more than MISSED in units of the noise.  That is so in 19 of 636 such
 * experiments (truths 3, 11, 100 to 159 and 200 to 319), for two kernels that differ in their last bits, but not in
 * the same ones.  Asserted: no more are missed than that rate lets happen once in CHANCE tests.
 *
 * test_minima [TRUTHS SEEDS [FIRST]]   so many true values and sets of noise (default: those below, one each)
 */
#include "fit/fit.h"
#include "leastsquares/fit_types.h"
#include "leastsquares/objective.h"
#include "leastsquares/residual_blocks.h"
#include "math/rng.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NPARAM = 14, MOST_ANGLES = 2, CHANCE = 200 };
static const double RATE = 19.0 / 636;
static const double SIGMA = 0.01, MISSED = 2;

/* The first five have minima in which D sinks below 0, and stays at its floor, where no derivative leads out. */
static const unsigned own[][2] = {{2, 0}, {3, 1}, {7, 2}, {11, 0}, {14, 2}, {4, 1}, {6, 2}, {20, 0}, {21, 0}, {22, 0}};
static unsigned truths, seeds = 1, first;

/* Uniform in (0, 1). */
static double uniform(unsigned truth, unsigned k)
{
    double z[2];
    fit_rng_normal(77000 + truth, 5, k, z);
    return 0.5 * erfc(-z[0] / sqrt(2));
}

struct experiment {
    double theta[NPARAM], phi[MOST_ANGLES];
    size_t frames, nphi;
};

static struct experiment random_experiment(unsigned truth, size_t nphi)
{
    double u[12];
    for (unsigned k = 0; k < 12; k++)
        u[k] = uniform(truth, k);
    double D0 = 500 * pow(60, u[0]), shear = 1e-3 * pow(20, u[3]);
    return (struct experiment){{D0, -1.2 + 2 * u[1], 0.3 * D0 * u[2], shear, -0.8 + 1.3 * u[4], 0.2 * shear * u[5],
                                -8 + 16 * u[6]},
                               {-90 + 180 * u[7], -90 + 180 * u[8]},
                               200 + (size_t)(200 * u[11]),
                               nphi};
}

/* Values within a quarter of these. */
static struct experiment two_components(unsigned truth)
{
    static const double typical[NPARAM] = {2000, 0.1, 100, 6000, -0.2, 300, 60, 0.1, 5, 0.35, 0.02, 0, 0.15, -3};
    struct experiment x = {.frames = 480, .nphi = 1};
    for (unsigned k = 0; k < NPARAM; k++)
        x.theta[k] = typical[k] * (truth == 0 ? 1 : 0.75 + 0.5 * uniform(truth, k));
    return x;
}

static struct fit_dataset *simulate(const struct fit_kernel *k, const struct experiment *x, unsigned seed)
{
    size_t n = x->frames;
    double *time = e2e_doubles(n), *matrix = e2e_doubles(n * n), lin[2 * MOST_ANGLES], z[2];
    struct fit_error err = {0};
    for (size_t i = 0; i < n; i++)
        time[i] = 0.1 * (double)i;
    struct fit_dataset *ds = e2e_dataset(k, &(struct e2e_grid){.ntime = n,
                                                               .time = time,
                                                               .dt = 0.1,
                                                               .q = 0.0054,
                                                               .gap = 2e6,
                                                               .nphi = x->nphi,
                                                               .phi = x->phi});
    struct e2e_prepared p = e2e_prepare(k, &ds->layout, x->theta);
    for (uint32_t g = 0; g < x->nphi; g++) {
        lin[2 * g] = 0.28 + 0.01 * (double)g;
        lin[2 * g + 1] = 1 - 0.001 * (double)g;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = i + 1; j < n; j++) {
                double *c2 = &matrix[i * n + j];
                k->points(&ds->layout, p.ws, lin, &(struct fit_points){1, &i, &j, &g}, c2, NULL);
                fit_rng_normal(1000 + seed, g, i * n + j, z);
                *c2 += SIGMA * z[0];
            }
        assert_int_equal(fit_dataset_put(ds, g, matrix, NULL, &err), FIT_OK);
    }
    assert_int_equal(fit_dataset_finish(ds, &err), FIT_OK);
    e2e_release(&p);
    free(matrix);
    free(time);
    return ds;
}

static double chi2(const struct fit_kernel *k, const struct fit_dataset *ds, const double *start)
{
    struct fit_options o;
    struct fit_result r;
    struct fit_error err = {0};
    fit_options_default(&o);
    o.start = start;
    o.start_only = start != NULL;
    o.threads = 1;
    o.brief = k->nrate < 3; /* the errors of what is left look for better minima */
    if (fit_run(k, ds, &o, &r, &err) != FIT_OK)
        fail_msg("%s", err.message);
    double found = r.chi2 / (SIGMA * SIGMA);
    fit_result_free(&r);
    return found;
}

static int is_missed(const struct fit_kernel *k, const struct experiment *x, unsigned truth, unsigned seed)
{
    struct fit_dataset *ds = simulate(k, x, 100 * truth + seed);
    double above = chi2(k, ds, NULL) - chi2(k, ds, x->theta);
    fit_dataset_free(ds);
    if (above > MISSED)
        printf("    %s, %zu angle(s), truth %u, noise %u: chi2 %.2f above that from the truth\n", k->name, x->nphi,
               truth, seed, above);
    return above > MISSED;
}

static size_t missed, n; /* of all kinds together: ten of one kind tell too little */

static void no_better_minimum_is_missed(size_t nphi)
{
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    const size_t missed_before = missed, n_before = n;
    assert_non_null(k);
    for (size_t i = 0; !truths && i < sizeof own / sizeof *own; i++, n++) {
        struct experiment x = random_experiment(own[i][0], nphi);
        missed += (size_t)is_missed(k, &x, own[i][0], own[i][1]);
    }
    for (unsigned t = first; t < first + truths; t++)
        for (unsigned s = 0; s < seeds; s++, n++) {
            struct experiment x = random_experiment(t, nphi);
            missed += (size_t)is_missed(k, &x, t, s);
        }
    printf("    %zu angle(s): %zu of %zu missed\n", nphi, missed - missed_before, n - n_before);
}

static void no_better_minimum_of_two_components(void)
{
    const struct fit_kernel *k = e2e_kernel("heterodyne", "fast", NULL);
    const size_t missed_before = missed, n_before = n;
    assert_non_null(k);
    for (unsigned t = truths ? first : 0; t < (truths ? first + truths : 3); t++)
        for (unsigned s = 0; s < seeds; s++, n++) {
            struct experiment x = two_components(t);
            missed += (size_t)is_missed(k, &x, t, s);
        }
    printf("    two components: %zu of %zu missed\n", missed - missed_before, n - n_before);
}

/* Of n with probability RATE each: the probability of at least k. */
static double probability_of_as_many(size_t k, size_t of)
{
    double each = pow(1 - RATE, (double)of), fewer = 0;
    for (size_t m = 0; m < k; m++) {
        fewer += each;
        each *= (double)(of - m) / (double)(m + 1) * RATE / (1 - RATE);
    }
    return 1 - fewer;
}

static void test_no_better_minimum(void **state)
{
    (void)state;
    no_better_minimum_is_missed(1);
    no_better_minimum_is_missed(2);
    no_better_minimum_of_two_components();
    assert_true(probability_of_as_many(missed, n) * CHANCE > 1);
}

/* In standard deviations of independent residuals: what they share with their neighbours. */
static double structure(struct fit_objective *o, const double *theta)
{
    struct fit_residual_blocks b;
    assert_int_equal(fit_objective_value(o, theta), FIT_EVAL_OK);
    assert_int_equal(fit_residual_blocks(o, &b), FIT_EVAL_OK);
    return (b.square / (SIGMA * SIGMA) - b.count) / sqrt(2 * b.count);
}

static void test_structure(void **state)
{
    (void)state;
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    double sum = 0, wrong[NPARAM];
    size_t seen = 0;
    assert_non_null(k);
    for (unsigned truth = 30; truth < 40; truth++) {
        struct experiment x = random_experiment(truth, 1 + truth % 2);
        struct fit_dataset *ds = simulate(k, &x, truth);
        struct fit_objective_setup setup = {.threads = 1 + (int)truth % 3};
        struct fit_objective *o;
        struct fit_error err = {0};
        assert_int_equal(fit_objective_new(k, ds, &setup, &o, &err), FIT_OK);
        double white = structure(o, x.theta);
        sum += white;
        memcpy(wrong, random_experiment(truth + 1, 1).theta, sizeof wrong);
        seen += structure(o, wrong) > 5;
        if (!(fabs(white) < 4.5))
            fail_msg("truth %u: residuals of the truth share %.1f", truth, white);
        fit_objective_free(o);
        fit_dataset_free(ds);
    }
    assert_true(fabs(sum) < 4.5 * sqrt(10));
    assert_true(seen >= 9); /* of 10 wrong values */
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        truths = (unsigned)strtoul(argv[1], NULL, 10);
        seeds = (unsigned)strtoul(argv[2], NULL, 10);
    }
    first = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_better_minimum), cmocka_unit_test(test_structure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
