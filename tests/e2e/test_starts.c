/* test_starts.c -- fits from anywhere in the box end in the same minimum.
 *
 * test_starts [N [FILE.h5]]: N fits (12) of laminar data, 5 angles of 200 frames, from starts that are uniform
 * in the box, or log-uniform where the box is positive.  Counts those that end within 1e-8 of the best cost,
 * with default options and without the search for starts (start_only).  99 of 100 are asked for with the
 * former; the latter is told only.  Without a file the data are made here: the emitted model at known parameters
 * plus white noise.
 */
#include "fit/fit.h"
#include "leastsquares/fit_types.h"
#include "input/measurement.h"
#include "leastsquares/objective.h"
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

static const double SAME_COST = 1e-8;
enum { NTIME = 200, NPHI = 5, NPARAM = 7, MOST_STARTS = 1000 };

static size_t nstart = 12;
static const char *file;

static const double truth[NPARAM] = {2000, -0.3, 100, 0.004, -0.4, 3e-4, -4};

/* noise: its seed. */
static struct fit_dataset *simulate(const struct fit_kernel *k, unsigned noise)
{
    static const double phi[NPHI] = {-45, -5, 5, 50, 90}, contrast[NPHI] = {0.273, 0.283, 0.306, 0.322, 0.295};
    struct fit_dataset *ds = e2e_dataset(
        k, &(struct e2e_grid){.ntime = NTIME, .dt = 0.1, .q = 0.0054, .gap = 2e6, .nphi = NPHI, .phi = phi});
    struct e2e_prepared p = e2e_prepare(k, &ds->layout, truth);
    double *matrix = e2e_doubles(NTIME * NTIME), lin[2 * NPHI], z[2];
    struct fit_error err = {0};
    for (size_t g = 0; g < NPHI; g++)
        lin[2 * g] = contrast[g], lin[2 * g + 1] = 1 - 0.001 * (double)g;
    for (uint32_t g = 0; g < NPHI; g++) {
        for (uint32_t i = 0; i < NTIME; i++)
            for (uint32_t j = i + 1; j < NTIME; j++) {
                double *c2 = &matrix[i * NTIME + j];
                k->points(&ds->layout, p.ws, lin, &(struct fit_points){1, &i, &j, &g}, c2, NULL);
                fit_rng_normal(noise, g, i * NTIME + j, z);
                *c2 += 0.01 * z[0];
            }
        assert_int_equal(fit_dataset_put(ds, g, matrix, NULL, &err), FIT_OK);
    }
    assert_int_equal(fit_dataset_finish(ds, &err), FIT_OK);
    e2e_release(&p);
    free(matrix);
    return ds;
}

static struct fit_measurement *load(const struct fit_kernel *k)
{
    static const double setting[] = {0.0054, 2e6};
    struct fit_selection sel;
    struct fit_measurement *m = NULL;
    struct fit_error err = {0};
    fit_selection_init(&sel, file);
    sel.dt = 0.1;
    if (fit_measurement_load(&sel, k, setting, &m, &err) != FIT_OK)
        fail_msg("%s", err.message);
    return m;
}

static void random_start(const struct fit_kernel *k, size_t number, double *theta)
{
    for (size_t p = 0; p < k->nparam; p++) {
        double lower = k->param[p].lower, upper = k->param[p].upper, u[2];
        fit_rng_uniform(2026, number, p, u);
        theta[p] = lower > 0 ? lower * pow(upper / lower, u[0]) : lower + (upper - lower) * u[0];
    }
}

struct outcome {
    double cost[MOST_STARTS], seconds;
    size_t converged, evaluations;
};

static void fit_all(const struct fit_kernel *k, const struct fit_dataset *ds, int start_only, struct outcome *o)
{
    struct fit_options opt;
    struct fit_result res;
    struct fit_error err = {0};
    double start[NPARAM];
    fit_options_default(&opt);
    opt.start = start;
    opt.start_only = start_only;
    for (size_t n = 0; n < nstart; n++) {
        random_start(k, n, start);
        if (fit_run(k, ds, &opt, &res, &err) != FIT_OK) {
            printf("    start %zu: %s\n", n, err.message);
            o->cost[n] = (double)INFINITY;
            continue;
        }
        o->cost[n] = res.cost;
        o->converged += (size_t)res.converged;
        o->evaluations += res.evaluations;
        o->seconds += res.seconds.total;
        fit_result_free(&res);
    }
}

static size_t count(const struct outcome *o, double best, const char *what)
{
    size_t good = 0;
    for (size_t n = 0; n < nstart; n++) {
        if (o->cost[n] <= best * (1 + SAME_COST))
            good++;
        else
            printf("    start %zu ends at cost %.10g, the best is %.10g\n", n, o->cost[n], best);
    }
    printf("%s: %zu of %zu starts reach the best cost %.12g; %zu say converged; %.1f evaluations, %.3f s per fit\n",
           what, good, nstart, best, o->converged, (double)o->evaluations / (double)nstart,
           o->seconds / (double)nstart);
    return good;
}

static void random_starts(void **state)
{
    (void)state;
    static struct outcome searched, direct;
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    assert_non_null(k);
    assert_int_equal(k->nparam, NPARAM);
    struct fit_measurement *m = file ? load(k) : NULL;
    struct fit_dataset *ds = m ? m->dataset : simulate(k, 15);
    double best = (double)INFINITY;
    fit_all(k, ds, 0, &searched);
    fit_all(k, ds, 1, &direct);
    for (size_t n = 0; n < nstart; n++)
        best = fmin(best, fmin(searched.cost[n], direct.cost[n]));
    size_t good = count(&searched, best, "default");
    count(&direct, best, "start only");
    if (m)
        fit_measurement_free(m);
    else
        fit_dataset_free(ds);
    assert_true(100 * good >= 99 * nstart);
}

/* Of the corners of the box that of the largest cost. */
static void worst_corner(const struct fit_kernel *k, const struct fit_dataset *ds, double *corner)
{
    struct fit_objective *obj;
    struct fit_error err = {0};
    double most = -1, theta[NPARAM];
    if (fit_objective_new(k, ds, &(struct fit_objective_setup){.threads = 1}, &obj, &err) != FIT_OK)
        fail_msg("%s", err.message);
    for (unsigned c = 0; c < 1u << NPARAM; c++) {
        for (unsigned p = 0; p < NPARAM; p++)
            theta[p] = c >> p & 1 ? k->param[p].upper : k->param[p].lower;
        if (fit_objective_value(obj, theta) == FIT_EVAL_OK && obj->cost > most) {
            most = obj->cost;
            for (unsigned p = 0; p < NPARAM; p++)
                corner[p] = theta[p];
        }
    }
    fit_objective_free(obj);
}

static double cost_at(const struct fit_kernel *k, const struct fit_dataset *ds, const double *theta)
{
    struct fit_objective *obj;
    struct fit_error err = {0};
    if (fit_objective_new(k, ds, &(struct fit_objective_setup){.threads = 1}, &obj, &err) != FIT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(fit_objective_value(obj, theta), FIT_EVAL_OK);
    double cost = obj->cost;
    fit_objective_free(obj);
    return cost;
}

/* One data set, one seed of the search. */
static void from_the_worst_corner(unsigned noise, uint64_t seed)
{
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    struct fit_dataset *ds = simulate(k, noise);
    struct fit_options opt;
    struct fit_result best, res;
    struct fit_error err = {0};
    double corner[NPARAM] = {0};
    worst_corner(k, ds, corner);
    fit_options_default(&opt);
    opt.threads = 2;
    if (fit_run(k, ds, &opt, &best, &err) != FIT_OK)
        fail_msg("%s", err.message);
    opt.start = corner;
    opt.global = 1;
    opt.seed = seed;
    if (fit_run(k, ds, &opt, &res, &err) != FIT_OK)
        fail_msg("%s", err.message);
    printf("    global search from the worst corner: cost %.10g, from %s, %zu starts, %zu minima, %.2f s\n",
           res.cost, res.start_origin, res.nstart, res.nminimum, res.seconds.total);
    assert_true(res.converged && res.cost <= best.cost * (1 + SAME_COST));
    /* Errors of D0, alpha and D_offset are far from elliptical, so the truth is judged by chi2: above the
     * minimum by the number of parameters, 17, give or take 6. */
    double above = 2 * (cost_at(k, ds, truth) - res.cost) / (res.sigma_common * res.sigma_common);
    printf("      the truth lies at chi2 + %.1f\n", above);
    assert_true(above > 0 && above < 40);
    int global = 0;
    for (size_t n = 0; n < res.nstart; n++)
        global += strncmp(res.starts[n].origin, "global", 6) == 0;
    assert_true(global >= 2);
    assert_true(res.nminimum >= 1 && res.minima[0].above == 0); /* set, not computed */
    for (size_t n = 0; n < res.nminimum; n++) {
        printf("      minimum at chi2 + %-10.4g found %zu times, first from %s\n", res.minima[n].above,
               res.minima[n].found, res.minima[n].origin);
        assert_true(res.minima[n].found >= 1);
        assert_true(n == 0 || res.minima[n].cost >= res.minima[n - 1].cost);
    }
    fit_result_free(&best);
    fit_result_free(&res);
    fit_dataset_free(ds);
}

static void worst_corner_of_the_box(void **state)
{
    static const unsigned noise[] = {15, 115, 215};
    (void)state;
    for (size_t n = 0; n < sizeof noise / sizeof *noise; n++)
        for (uint64_t seed = 0; seed < (n ? 1 : 3); seed++)
            from_the_worst_corner(noise[n], seed);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        nstart = (size_t)strtoul(argv[1], NULL, 10);
    file = argc > 2 ? argv[2] : NULL;
    if (nstart < 1 || nstart > MOST_STARTS) {
        fprintf(stderr, "usage: test_starts [N from 1 to %d [FILE.h5]]\n", MOST_STARTS);
        return 3;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_starts), cmocka_unit_test(worst_corner_of_the_box)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
