/* test_numpyro.c -- the program with `prior_compat: homodyne` against NumPyro on homodyne's statistical model.
 *
 * tests/data/numpyro: a laminar experiment of three angles, 19,926 values with both triangles, and the moments that
 * NumPyro found for it (tests/peers/numpyro_reference.py; the same file records that the density sampled there is
 * that of the package's own function).  Of every parameter, contrast and offset of each angle and sigma included:
 * means within 0.1 standard deviations, standard deviations within 5 %.  The reference has 1250 effective draws of the
 * worst parameter: its own Monte Carlo errors are 0.03 and 2 %.
 */
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *const names[] = {
    "D0",          "alpha",       "D_offset",    "gamma_dot_t0", "beta",      "gamma_dot_t_offset", "phi0",
    "contrast[0]", "contrast[1]", "contrast[2]", "offset[0]",    "offset[1]", "offset[2]",          "sigma"};

static void test_moments_are_those_of_numpyro(void **state)
{
    static const char reference[] = FIT_SOURCE_DIR "/tests/data/numpyro/laminar.json";
    char out[1100], log[1100], json[1100], *folder = e2e_folder();
    double worst_mean = 0, worst_sd = 0;
    (void)state;
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    snprintf(json, sizeof json, "%s/out/fit.json", folder);
    const char *argv[] = {"homodyne-laminar", "fit", FIT_SOURCE_DIR "/tests/data/numpyro/laminar.yaml", "--method",
                          "nuts", "--n-samples", "2500", "--seed", "3", "--quiet", "-o", out, NULL};
    assert_int_equal(e2e_run(argv, NULL, log), 0);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *name = names[k], *own = k + 1 < sizeof names / sizeof *names ? name : "sigma[0]";
        double mean = E2E_JSON(json, "posterior", "parameters", own, "mean"),
               sd = E2E_JSON(json, "posterior", "parameters", own, "sd"),
               their_mean = E2E_JSON(reference, "moments", name, "mean"),
               their_sd = E2E_JSON(reference, "moments", name, "sd");
        double shift = fabs(mean - their_mean) / their_sd, ratio = fabs(sd / their_sd - 1);
        printf("    %-20s %13.7g +- %-11.5g NumPyro %13.7g +- %-11.5g %.3f sd, %.1f %%\n", name, mean, sd, their_mean,
               their_sd, shift, 100 * ratio);
        worst_mean = e2e_max(worst_mean, shift);
        worst_sd = e2e_max(worst_sd, ratio);
    }
    e2e_remove(folder);
    if (!(worst_mean < 0.1) || !(worst_sd < 0.05))
        fail_msg("a mean differs by %.3f standard deviations (allowed 0.1), a deviation by %.1f %% (5)", worst_mean,
                 100 * worst_sd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_moments_are_those_of_numpyro)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
