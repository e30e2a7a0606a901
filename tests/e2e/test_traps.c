/* test_traps.c -- the cases in which fits of these models go wrong: a fit finds the right minimum or says that
 * something is not determined, but never gives a wrong number with a small error.
 *
 * Laminar flow, simulated with known truth and three levels of noise.  Asserted of every fit: chi2 of the truth lies
 * above the minimum's by no more than noise makes it (the number of parameters, give or take five of its deviations)
 * and not below, unless the fit says that a parameter is not determined: then no better minimum has been missed.  Of
 * every parameter: it has no error, or the truth is within FAR of its standard errors; where it has an interval
 * instead, the truth is inside that of 95 %, or no further outside than FAR deviations are (counted in that interval).
 * Of all together: intervals of 95 %, from either source, hold the truth in COVERED of the cases at least.  That a fit
 * did not converge is an answer too.
 *
 * test_traps [SEEDS]   so many sets of noise for each case and level (2)
 */
#include "fit/fit.h"
#include "leastsquares/fit_types.h"
#include "leastsquares/objective.h"
#include "errors/profile.h"
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

enum { NPARAM = 7, MOST_ANGLES = 5, D0 = 0, ALPHA, D_OFFSET, SHEAR, BETA, SHEAR_OFFSET, PHI0 };
static const double LEVEL[] = {0.004, 0.01, 0.03}, FAR = 5, COVERED = 0.85;
static unsigned seeds = 2;
static double sigma;
static size_t told, held; /* intervals, and those that hold the truth */

struct trap {
    const char *name;
    double truth[NPARAM], start[NPARAM]; /* start NaN: the model's own */
    size_t frames, nphi;
    double phi[MOST_ANGLES], first;      /* first: time of the first frame */
    double most; /* degrees, at noise 0.01: a larger error of phi0 is wrong, and the fit has to converge; 0: neither */
};

static struct fit_dataset *simulate(const struct fit_kernel *k, const struct trap *t, unsigned seed)
{
    double *time = e2e_doubles(t->frames), *matrix = e2e_doubles(t->frames * t->frames), lin[2 * MOST_ANGLES], z[2];
    struct fit_error err = {0};
    for (size_t n = 0; n < t->frames; n++)
        time[n] = t->first + 0.1 * (double)n;
    struct fit_dataset *ds = e2e_dataset(k, &(struct e2e_grid){.ntime = t->frames,
                                                               .time = time,
                                                               .dt = 0.1,
                                                               .q = 0.0054,
                                                               .gap = 2e6,
                                                               .nphi = t->nphi,
                                                               .phi = t->phi});
    struct e2e_prepared p = e2e_prepare(k, &ds->layout, t->truth);
    for (size_t g = 0; g < t->nphi; g++)
        lin[2 * g] = 0.28 + 0.01 * (double)g, lin[2 * g + 1] = 1 - 0.001 * (double)g;
    for (uint32_t g = 0; g < t->nphi; g++) {
        for (uint32_t i = 0; i < t->frames; i++)
            for (uint32_t j = i + 1; j < t->frames; j++) {
                double *c2 = &matrix[i * t->frames + j];
                k->points(&ds->layout, p.ws, lin, &(struct fit_points){1, &i, &j, &g}, c2, NULL);
                fit_rng_normal(1000 + seed, g, i * t->frames + j, z);
                *c2 += sigma * z[0];
            }
        assert_int_equal(fit_dataset_put(ds, g, matrix, NULL, &err), FIT_OK);
    }
    assert_int_equal(fit_dataset_finish(ds, &err), FIT_OK);
    e2e_release(&p);
    free(matrix);
    free(time);
    return ds;
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

/* Two angles perpendicular to one another leave the sign of phi0 open, which the fit says: the image is right as well.
 */
static double truth_of(const struct fit_kernel *k, const struct trap *t, const struct fit_result *r, size_t p)
{
    int mirror = 0;
    for (size_t n = 0; n < r->ndegenerate; n++)
        mirror |= k->degeneracy[r->degenerate[n].which].kind >= FIT_DEGENERATE_MIRROR;
    return p == PHI0 && mirror && r->theta[p] * t->truth[p] < 0 ? -t->truth[p] : t->truth[p];
}

static int judge(const struct fit_kernel *k, const struct trap *t, const struct fit_dataset *ds,
                 const struct fit_result *r)
{
    int bad = 0;
    double above = 2 * (cost_at(k, ds, t->truth) - r->cost) / (sigma * sigma), n = (double)r->nfree;
    printf("  %s, noise %g: %s, chi2 of the truth + %.1f, chi2/dof %.3f\n", t->name, sigma, fit_word_name(r->status),
           above, r->reduced_chi2);
    int open = 0;
    for (size_t p = 0; p < NPARAM; p++)
        open += isnan(r->std[p]) && !r->at_bound[p];
    if (!(above < n + 5 * sqrt(2 * n)) || (above < -0.1 && !open))
        bad++, printf("    another minimum than that of the truth\n");
    for (size_t p = 0; p < NPARAM; p++) {
        double low[2], high[2], truth = truth_of(k, t, r, p);
        enum fit_interval_kind from = fit_profile_interval(r, p, low, high);
        int wrong = from == FIT_INTERVAL_CURVATURE && !(fabs(r->theta[p] - truth) <= FAR * r->std[p]);
        if (from == FIT_INTERVAL_PROFILE) /* an open end is NaN */
            wrong = truth - high[1] > (FAR / 1.96 - 1) * (high[1] - r->theta[p]) ||
                    low[1] - truth > (FAR / 1.96 - 1) * (r->theta[p] - low[1]);
        int limited = from != FIT_INTERVAL_NONE && !(isnan(low[1]) && isnan(high[1]));
        told += (size_t)limited;
        held += limited && !(truth < low[1]) && !(truth > high[1]);
        printf("    %-20s %12.5g +- %-10.3g 95 %%: %-12.5g .. %-12.5g truth %-10.5g%s%s\n", k->param[p].name,
               r->theta[p], r->std[p], low[1], high[1], truth, r->at_bound[p] ? " at bound" : "",
               wrong ? "  WRONG" : "");
        bad += wrong;
    }
    if (t->most > 0 && (r->std[PHI0] > t->most * sqrt(sigma / 0.01) || r->status > FIT_CONVERGED_STEP))
        bad++, printf("    an error of phi0 that is too large, or no end\n");
    return bad;
}

static int fit_trap(const struct trap *t)
{
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    int bad = 0;
    assert_non_null(k);
    for (unsigned run = 0; run < seeds * sizeof LEVEL / sizeof *LEVEL; run++) {
        sigma = LEVEL[run / seeds];
        struct fit_dataset *ds = simulate(k, t, run % seeds);
        struct fit_options o;
        struct fit_result r;
        struct fit_error err = {0};
        fit_options_default(&o);
        o.start = t->start;
        o.threads = 1;
        if (fit_run(k, ds, &o, &r, &err) != FIT_OK)
            fail_msg("%s", err.message);
        bad += judge(k, t, ds, &r);
        fit_result_free(&r);
        fit_dataset_free(ds);
    }
    return bad;
}

#define OWN {NAN, NAN, NAN, NAN, NAN, NAN, NAN}

/* From a start without shear the gradient of the shear rate is nearly zero. */
static void test_shear_does_not_collapse(void **s)
{
    (void)s;
    assert_int_equal(fit_trap(&(struct trap){"start without shear",
                                             {2000, -0.3, 100, 0.004, -0.4, 3e-4, -4},
                                             {2000, -0.3, 100, 1e-6, 0, 0, -4},
                                             100, 5, {-45, -5, 5, 50, 90}, 0, 0}),
                     0);
}

/* Two angles with contrasts of their own: what shear takes from c2 the contrast could take. */
static void test_contrast_does_not_absorb_shear(void **s)
{
    (void)s;
    assert_int_equal(fit_trap(&(struct trap){"weak shear, contrast free at every angle",
                                             {3000, -0.2, 0, 0.0008, 0, 0, 1},
                                             OWN, 100, 2, {0, 90}, 0, 0}),
                     0);
}

static void test_constant_diffusion_has_no_two_parts(void **s)
{
    (void)s;
    assert_int_equal(fit_trap(&(struct trap){"alpha = 0: D0 and D_offset are one",
                                             {2000, 0, 500, 0.004, -0.4, 3e-4, -4},
                                             OWN, 100, 5, {-45, -5, 5, 50, 90}, 0, 0}),
                     0);
    assert_int_equal(fit_trap(&(struct trap){"beta = 0: both shear rates are one",
                                             {2000, -0.4, 100, 0.003, 0, 1e-3, -4},
                                             OWN, 100, 5, {-45, -5, 5, 50, 90}, 0, 0}),
                     0);
}

/* t^alpha diverges towards the first frame: the first cell of the integral is the largest. */
static void test_exponents_below_minus_one(void **s)
{
    (void)s;
    assert_int_equal(fit_trap(&(struct trap){"exponents below -1, first frame at dt",
                                             {8000, -1.3, 500, 0.006, -1.2, 2e-4, 2},
                                             OWN, 100, 5, {-45, -5, 5, 50, 90}, 0.1, 0}),
                     0);
    assert_int_equal(fit_trap(&(struct trap){"exponents below -1, first frame at 0",
                                             {8000, -1.3, 500, 0.006, -1.2, 2e-4, 2},
                                             OWN, 100, 5, {-45, -5, 5, 50, 90}, 0, 0}),
                     0);
}

/* Across the flow nothing is seen of it. */
static void test_perpendicular_angles_only(void **s)
{
    (void)s;
    assert_int_equal(fit_trap(&(struct trap){"angles across the flow only",
                                             {2000, -0.3, 100, 0.004, -0.4, 3e-4, 0},
                                             OWN, 100, 2, {90, -90}, 0, 0}),
                     0);
    assert_int_equal(fit_trap(&(struct trap){"one angle along the flow",
                                             {2000, -0.3, 100, 0.004, -0.4, 3e-4, 0},
                                             OWN, 100, 1, {0}, 0, 0}),
                     0);
}

/* A flow along a measured angle: by symmetry the derivative by phi0 of the angle across it vanishes at the minimum, but
 * not beside it.  Gauss-Newton creeps there, and its error is too large by ten times or more. */
static void test_flow_along_a_measured_angle(void **s)
{
    (void)s;
    assert_int_equal(fit_trap(&(struct trap){"flow along a measured angle",
                                             {6000, 0.5, 10, 0.01, 0.5, 0, 0},
                                             OWN, 60, 3, {0, 45, 90}, 0, 0.3}),
                     0);
}

static void test_intervals_hold_the_truth(void **s)
{
    (void)s;
    printf("    %zu of %zu intervals of 95 %% hold the truth\n", held, told);
    assert_true(told > 0 && (double)held >= COVERED * (double)told);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        seeds = (unsigned)strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shear_does_not_collapse),   cmocka_unit_test(test_contrast_does_not_absorb_shear),
        cmocka_unit_test(test_constant_diffusion_has_no_two_parts),
        cmocka_unit_test(test_exponents_below_minus_one), cmocka_unit_test(test_perpendicular_angles_only),
        cmocka_unit_test(test_flow_along_a_measured_angle), cmocka_unit_test(test_intervals_hold_the_truth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
