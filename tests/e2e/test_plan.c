/* test_plan.c -- the errors that `plan` expects are those that fits of simulated experiments tell, and the scatter
 * of what these find.
 *
 * Of n fits with known noise: the mean of an error lies within 4 standard errors of the expected one, but for
 * the change of the error over the scatter of the parameters themselves, of the order of the relative errors squared;
 * the standard deviation of the values within 4 / sqrt(2 (n - 1)) of it.
 */
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FITS = 40, WORDS = 48 };

struct experiment {
    const char *program, *frames, *phi, *sigma;
    const char *truth[8], *fixed[4]; /* NAME=VALUE */
    const char *judged[6];
};

static char *folder;

static const char *in_folder(const char *name)
{
    static char path[4][600];
    static int next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

/* program command [geometry] --NAME VALUE .. for truth and fixed; returns the number of words. */
static int words(const char **w, const struct experiment *e, const char *command, const char *start, const char *fix)
{
    int n = 0;
    w[n++] = e->program;
    w[n++] = command;
    for (int k = 0; start && k < 8 && e->truth[k]; k++) {
        w[n++] = start;
        w[n++] = e->truth[k];
    }
    for (int k = 0; fix && k < 4 && e->fixed[k]; k++) {
        w[n++] = fix;
        w[n++] = e->fixed[k];
    }
    return n;
}

static void plan(const struct experiment *e, const char *out)
{
    char frames[40];
    const char *w[WORDS];
    int n = words(w, e, "plan", "--start", "--fix");
    snprintf(frames, sizeof frames, "1:%s", e->frames);
    const char *const more[] = {"--frames", frames, "--dt",     "0.1",         "--q",    "0.0054",
                                "--phi",    e->phi, "--sigma",  e->sigma,      "--json", "--start",
                                "contrast=0.3", "--start", "offset=1", NULL};
    memcpy(w + n, more, sizeof more);
    if (strstr(e->program, "laminar")) {
        for (n = 0; w[n]; n++)
            ;
        w[n++] = "--gap";
        w[n++] = "2e6";
        w[n] = NULL;
    }
    if (e2e_run(w, out, in_folder("err.txt")) != 0)
        fail_msg("plan failed, see %s", in_folder("err.txt"));
}

static void simulate_and_fit(const struct experiment *e, int seed)
{
    char number[16], file[600], config[600], results[600];
    const char *w[WORDS];
    snprintf(number, sizeof number, "%d", seed + 1);
    snprintf(file, sizeof file, "%s", in_folder("x.h5"));
    snprintf(config, sizeof config, "%s", in_folder("x.yaml"));
    snprintf(results, sizeof results, "%s", in_folder("results"));
    int n = words(w, e, "simulate", "--set", "--set");
    const char *const more[] = {"--frames", e->frames, "--dt",       "0.1", "--q",      "0.0054", "--phi",  e->phi,
                                "--noise",  e->sigma,  "--contrast", "0.3", "--offset", "1",      "--seed", number,
                                "-o",       file,      "--config-out", config, "--quiet", "--force", NULL};
    memcpy(w + n, more, sizeof more);
    if (strstr(e->program, "laminar")) {
        for (n = 0; w[n]; n++)
            ;
        w[n++] = "--gap";
        w[n++] = "2e6";
        w[n] = NULL;
    }
    assert_int_equal(e2e_run(w, NULL, in_folder("err.txt")), 0);
    n = words(w, e, "fit", "--start", "--fix");
    const char *const fit[] = {config, "--sigma", e->sigma, "-o", results, "--quiet", NULL};
    memcpy(w + n, fit, sizeof fit);
    assert_int_equal(e2e_run(w, NULL, in_folder("err.txt")), 0);
}

static void check(const struct experiment *e)
{
    double std[6][FITS], value[6][FITS];
    char json[600], result[600];
    snprintf(json, sizeof json, "%s", in_folder("plan.json"));
    snprintf(result, sizeof result, "%s", in_folder("results/fit.json"));
    plan(e, json);
    for (int k = 0; k < FITS; k++) {
        simulate_and_fit(e, k);
        for (int j = 0; j < 6 && e->judged[j]; j++) {
            std[j][k] = E2E_JSON(result, "parameters", e->judged[j], "std");
            value[j][k] = E2E_JSON(result, "parameters", e->judged[j], "value");
        }
    }
    for (int j = 0; j < 6 && e->judged[j]; j++) {
        double expected = E2E_JSON(json, "parameters", e->judged[j], "std"),
               relative = E2E_JSON(json, "parameters", e->judged[j], "relative");
        double mean = 0, var = 0, centre = 0, scatter = 0;
        for (int k = 0; k < FITS; k++) {
            mean += std[j][k] / FITS;
            centre += value[j][k] / FITS;
        }
        for (int k = 0; k < FITS; k++) {
            var += (std[j][k] - mean) * (std[j][k] - mean) / (FITS - 1);
            scatter += (value[j][k] - centre) * (value[j][k] - centre) / (FITS - 1);
        }
        print_message("%s: expected %.4g, mean of errors %.4g +- %.1g, scatter %.4g\n", e->judged[j], expected, mean,
                      sqrt(var / FITS), sqrt(scatter));
        assert_true(expected > 0);
        assert_true(fabs(mean - expected) <= 4 * sqrt(var / FITS) + 3 * relative * relative * expected);
        assert_true(fabs(sqrt(scatter) / expected - 1) <= 4 / sqrt(2.0 * (FITS - 1)));
        /* twice as many frames, or angles, never make it worse */
        assert_true(E2E_JSON(json, "parameters", e->judged[j], "std_frames_doubled") < expected);
        assert_true(E2E_JSON(json, "parameters", e->judged[j], "std_angles_doubled") < expected);
    }
}

static void test_errors_are_those_of_fits(void **state)
{
    (void)state;
    check(&(struct experiment){.program = "homodyne-static_isotropic",
                               .frames = "120",
                               .phi = "0",
                               .sigma = "0.01",
                               .truth = {"D0=50000", "alpha=-0.3"},
                               .fixed = {"D_offset=2000"},
                               .judged = {"D0", "alpha"}});
    check(&(struct experiment){.program = "homodyne-laminar",
                               .frames = "100",
                               .phi = "-4,20,75",
                               .sigma = "0.01",
                               .truth = {"D0=50000", "alpha=-0.3", "gamma_dot_t0=0.01", "beta=-0.2", "phi0=-3"},
                               .fixed = {"D_offset=2000", "gamma_dot_t_offset=0.001"},
                               .judged = {"D0", "alpha", "gamma_dot_t0", "beta", "phi0"}});
}

/* alpha = 0: the terms with and without time cannot be told apart, their sum can. */
static void test_what_is_not_determined_is_told(void **state)
{
    (void)state;
    char out[600];
    snprintf(out, sizeof out, "%s", in_folder("plan.txt"));
    const char *const w[] = {"homodyne-static_isotropic",
                             "plan",
                             "--frames",
                             "1:100",
                             "--dt",
                             "0.1",
                             "--q",
                             "0.0054",
                             "--phi",
                             "0",
                             "--sigma",
                             "0.01",
                             "--start",
                             "D0=2000",
                             "--start",
                             "alpha=0",
                             "--start",
                             "D_offset=100",
                             "--json",
                             NULL};
    assert_int_equal(e2e_run(w, out, in_folder("err.txt")), 0);
    assert_true(isnan(E2E_JSON(out, "parameters", "D0", "std")));
    assert_true(isnan(E2E_JSON(out, "parameters", "D_offset", "std")));
    double sum = E2E_JSON(out, "combinations", "D0 + D_offset", "value"),
           std = E2E_JSON(out, "combinations", "D0 + D_offset", "std");
    assert_true(fabs(sum - 2100) < 1e-6 * 2100);
    assert_true(std > 0 && std < 1000);
    char text[300];
    e2e_json_text(out, (const char *const[]){"not_determined", "0", NULL}, text, sizeof text);
    assert_non_null(strstr(text, "D0"));
}

static void test_what_is_missing_is_asked_for(void **state)
{
    (void)state;
    static const char *const given[][2] = {{"--frames", "1:100"}, {"--dt", "0.1"}, {"--phi", "0"}, {"--sigma", "0.01"}};
    for (int left_out = 0; left_out < 4; left_out++) {
        const char *w[20] = {"homodyne-static_isotropic", "plan", "--q", "0.0054"};
        char err[600], line[400] = "";
        int n = 4;
        snprintf(err, sizeof err, "%s", in_folder("err.txt"));
        for (int k = 0; k < 4; k++)
            if (k != left_out) {
                w[n++] = given[k][0];
                w[n++] = given[k][1];
            }
        assert_int_equal(e2e_run(w, NULL, err), 3);
        FILE *f = fopen(err, "r");
        assert_non_null(fgets(line, sizeof line, f));
        fclose(f);
        assert_non_null(strstr(line, given[left_out][0]));
    }
}

int main(void)
{
    folder = e2e_folder();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors_are_those_of_fits),
        cmocka_unit_test(test_what_is_not_determined_is_told),
        cmocka_unit_test(test_what_is_missing_is_asked_for),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    e2e_remove(folder);
    return failed;
}
