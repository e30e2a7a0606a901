/* test_recovery.c -- the whole way through the command line: an experiment of laminar flow with 23 angles is simulated,
 * fitted and sampled; the Laplace method and NUTS agree with a NUTS run of four times the draws and another seed: means
 * within 0.1 standard deviations, logarithms of standard deviations within 0.05, of every parameter; the truth is
 * within four standard deviations.
 *
 * Usage: test_recovery [FRAMES]     60 (40,710 values); make study: 300 (1,031,550), minutes on one core
 *
 * With 4000 effective draws the Monte Carlo error of a mean is 0.016 standard deviations, that of a deviation 1.1 %.
 */
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NPARAM = 7, RUNS = 3 };
static const char *const name[NPARAM] = {"D0",  "alpha", "D_offset", "gamma_dot_t0", "beta", "gamma_dot_t_offset",
                                         "phi0"};
static const double truth[NPARAM] = {2000, -0.3, 100, 0.004, -0.4, 0.0003, -4};
static const char *frames = "60";

struct moments {
    double mean[NPARAM], sd[NPARAM];
};

static void simulate(const char *folder, char *config)
{
    char data[1100], set[NPARAM][64], phi[400] = "";
    const char *argv[40] = {
        "homodyne-laminar", "simulate", "-o",      data,           "--frames", frames,       "--dt", "0.1",     "--q",
        "0.0054",           "--gap",    "2e6",     "--phi",        phi,        "--contrast", "0.3",  "--noise", "0.01",
        "--seed",           "4",        "--quiet", "--config-out", config};
    size_t n = 23;
    snprintf(data, sizeof data, "%s/d.h5", folder);
    snprintf(config, 1100, "%s/d.yaml", folder);
    for (int k = 0; k < 23; k++)
        snprintf(phi + strlen(phi), sizeof phi - strlen(phi), "%s%g", k ? "," : "", -90 + 180.0 * k / 23);
    for (size_t k = 0; k < NPARAM; k++) {
        snprintf(set[k], sizeof set[k], "%s=%g", name[k], truth[k]);
        argv[n++] = "--set";
        argv[n++] = set[k];
    }
    assert_int_equal(e2e_run(argv, NULL, NULL), 0);
}

static void sample(const char *folder, const char *config, int run, struct moments *m)
{
    static const char *const options[RUNS][6] = {
        {"laplace", "1", "4000"}, {"nuts", "1", "1000"}, {"nuts", "2", "4000"}};
    char out[1100], log[1100], json[1200];
    snprintf(out, sizeof out, "%s/%d", folder, run);
    snprintf(log, sizeof log, "%s/log", folder);
    snprintf(json, sizeof json, "%s/fit.json", out);
    const char *argv[] = {"homodyne-laminar", "fit", config, "-o", out, "--method", options[run][0], "--seed",
                          options[run][1], "--draws", options[run][2], "--quiet", NULL};
    assert_int_equal(e2e_run(argv, NULL, log), 0); /* the verdict is good */
    for (size_t k = 0; k < NPARAM; k++) {
        m->mean[k] = E2E_JSON(json, "posterior", "parameters", name[k], "mean");
        m->sd[k] = E2E_JSON(json, "posterior", "parameters", name[k], "sd");
    }
}

static void test_methods_agree_and_find_the_truth(void **state)
{
    static const char *const word[RUNS] = {"laplace", "nuts", "long run"};
    struct moments m[RUNS];
    char config[1100], *folder = e2e_folder();
    int bad = 0;
    (void)state;
    simulate(folder, config);
    for (int run = 0; run < RUNS; run++)
        sample(folder, config, run, &m[run]);
    e2e_remove(folder);
    for (size_t k = 0; k < NPARAM; k++) {
        const struct moments *l = &m[RUNS - 1];
        double off = (l->mean[k] - truth[k]) / l->sd[k];
        printf("    %-20s %10.5g +- %-9.3g truth %.1f sd off;", name[k], l->mean[k], l->sd[k], off);
        bad += !(fabs(off) < 4);
        for (int run = 0; run < RUNS - 1; run++) {
            double mean = (m[run].mean[k] - l->mean[k]) / l->sd[k], sd = log(m[run].sd[k] / l->sd[k]);
            printf("  %s: mean by %.3f sd, log sd by %.3f", word[run], mean, sd);
            bad += !(fabs(mean) < 0.1) || !(fabs(sd) < 0.05);
        }
        printf("\n");
    }
    assert_int_equal(bad, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_methods_agree_and_find_the_truth)};
    if (argc > 1)
        frames = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
