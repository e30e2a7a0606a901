/* test_degenerate.c -- fits of what cannot be identified: laminar flow without ageing (alpha = 0), simulated here.
 *
 * D0 and D_offset are one number then.  Wherever the fit ends in that valley, their errors must be withheld with the
 * reason; all that is determined, combinations included, must be within 3 standard deviations of the truth.
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

enum { MOST = 48 };

struct parameter {
    const char *name;
    double truth;
};
static const struct parameter flow[] = {
    {"gamma_dot_t0", 0.004}, {"beta", -0.3}, {"gamma_dot_t_offset", 0.0003}, {"phi0", -4}};

static void simulate(const char *folder, const char *phi, const char *seed)
{
    char data[1100], config[1100];
    snprintf(data, sizeof data, "%s/data.h5", folder);
    snprintf(config, sizeof config, "%s/config.yaml", folder);
    const char *argv[] = {"homodyne-laminar",
                          "simulate",
                          "--force",
                          "-o",
                          data,
                          "--config-out",
                          config,
                          "--frames",
                          "200",
                          "--dt",
                          "0.1",
                          "--q",
                          "0.0054",
                          "--gap",
                          "2e6",
                          "--phi",
                          phi,
                          "--contrast",
                          "0.3",
                          "--offset",
                          "1",
                          "--noise",
                          "0.005",
                          "--seed",
                          seed,
                          "--set",
                          "D0=2000",
                          "--set",
                          "alpha=0",
                          "--set",
                          "D_offset=100",
                          "--set",
                          "gamma_dot_t0=0.004",
                          "--set",
                          "beta=-0.3",
                          "--set",
                          "gamma_dot_t_offset=0.0003",
                          "--set",
                          "phi0=-4",
                          NULL};
    assert_int_equal(e2e_run(argv, NULL, NULL), 0);
}

/* Fits, with options that end with NULL; the path of fit.json. */
static const char *fit(const char *folder, const char *const option[])
{
    static char json[1100];
    char out[1100], config[1100], log[1100];
    const char *argv[MOST] = {"homodyne-laminar", "fit", config, "-o", out};
    size_t n = 5;
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    snprintf(config, sizeof config, "%s/config.yaml", folder);
    snprintf(json, sizeof json, "%s/out/fit.json", folder);
    while (*option && n < MOST - 1)
        argv[n++] = *option++;
    assert_int_equal(e2e_run(argv, NULL, log), 0);
    return json;
}
#define FIT(folder, ...) fit(folder, (const char *const[]){__VA_ARGS__ NULL})

static void check_flow(const char *json)
{
    for (size_t k = 0; k < sizeof flow / sizeof *flow; k++) {
        double value = E2E_JSON(json, "parameters", flow[k].name, "value"),
               std = E2E_JSON(json, "parameters", flow[k].name, "std");
        if (!(fabs(value - flow[k].truth) < 3 * std))
            fail_msg("%s: %.8g +- %.2g, truth %.8g", flow[k].name, value, std, flow[k].truth);
    }
}

static void check_sum(const char *json, double largest_std)
{
    double value = E2E_JSON(json, "degeneracies", "0", "combinations", "D0 + D_offset", "value"),
           std = E2E_JSON(json, "degeneracies", "0", "combinations", "D0 + D_offset", "std");
    if (!(fabs(value - 2100) < 3 * std) || !(std < largest_std))
        fail_msg("D0 + D_offset: %.6g +- %.2g, truth 2100", value, std);
}

static void check_withheld(const char *json)
{
    static const char *const name[] = {"D0", "D_offset"};
    char reason[500];
    for (size_t k = 0; k < 2; k++) {
        assert_true(isnan(E2E_JSON(json, "parameters", name[k], "std")));
        e2e_json_text(json, (const char *const[]){"parameters", name[k], "std_reason", NULL}, reason, sizeof reason);
        if (!strstr(reason, "at alpha = 0 D0 and D_offset enter only as D0 + D_offset"))
            fail_msg("%s: the reason is '%s'", name[k], reason);
    }
}

static void without_ageing(void **state)
{
    (void)state;
    static const char *const seed[] = {"2", "3", "4", "5"};
    char *folder = e2e_folder();
    for (size_t k = 0; k < 4; k++) {
        simulate(folder, "0,30,60,90", seed[k]);
        const char *json = FIT(folder, );
        check_withheld(json);
        check_flow(json);
        check_sum(json, 200);
    }
    e2e_remove(folder);
}

/* Exactly at the value: held there. */
static void held_at_the_value(void **state)
{
    (void)state;
    char *folder = e2e_folder();
    simulate(folder, "0,30,60,90", "5");
    const char *json = FIT(folder, "--fix", "alpha=0", );
    check_withheld(json);
    check_flow(json);
    check_sum(json, 20);
    json = FIT(folder, "--fix", "alpha=0", "--fix", "D_offset=100", ); /* nothing is left open then */
    double value = E2E_JSON(json, "parameters", "D0", "value"), std = E2E_JSON(json, "parameters", "D0", "std");
    assert_true(fabs(value - 2000) < 3 * std && std < 20);
    e2e_remove(folder);
}

/* From angles that are perpendicular to one another the sign of phi0 cannot be told. */
static void perpendicular_angles(void **state)
{
    (void)state;
    char *folder = e2e_folder(), text[500];
    simulate(folder, "0,90", "6");
    const char *json = FIT(folder, "--fix", "alpha=0", "--fix", "D_offset=100", );
    e2e_json_text(json, (const char *const[]){"degeneracies", "0", "text", NULL}, text, sizeof text);
    assert_non_null(strstr(text, "fits equally well"));
    /* both signs, in two intervals and without an error */
    double value = fabs(E2E_JSON(json, "parameters", "phi0", "value")),
           std = E2E_JSON(json, "parameters", "phi0", "std_curvature");
    assert_true(fabs(value - 4) < 3 * std);
    assert_true(isnan(E2E_JSON(json, "parameters", "phi0", "std")));
    assert_true(E2E_JSON(json, "parameters", "phi0", "intervals_95", "0", "1") < 0);
    assert_true(E2E_JSON(json, "parameters", "phi0", "intervals_95", "1", "0") > 0);
    e2e_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_ageing), cmocka_unit_test(held_at_the_value),
                                       cmocka_unit_test(perpendicular_angles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
