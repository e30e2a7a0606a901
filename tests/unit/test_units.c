/* Numbers with units, nearest names, paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/units.h"
#include "common/nearest.h"

static void reads_as(const char *text, const char *unit, double want)
{
    double x = NAN;
    const enum fit_quantity q = fit_quantity_parse(text, unit, &x);
    if (q > FIT_QUANTITY_CONVERTED || fabs(x - want) > 1e-15 * fabs(want))
        fail_msg("'%s' in %s: got %.17g (kind %d), want %.17g", text, unit, x, (int)q, want);
}

static void test_suffixes_convert_to_angstrom_and_seconds(void **state)
{
    (void)state;
    reads_as("200 um", "angstrom", 2e6);
    reads_as("200um", "angstrom", 2e6);
    reads_as("200 \xC2\xB5m", "angstrom", 2e6);
    reads_as("200 \xCE\xBCm", "angstrom", 2e6);
    reads_as("0.2 mm", "angstrom", 2e6);
    reads_as("2000000", "angstrom", 2e6);
    reads_as("0.054 nm^-1", "1/angstrom", 0.0054);
    reads_as("0.054 1/nm", "1/angstrom", 0.0054);
    reads_as("0.054 nm\xE2\x81\xBB\xC2\xB9", "1/angstrom", 0.0054);
    reads_as("0.0054 \xC3\x85\xE2\x81\xBB\xC2\xB9", "1/angstrom", 0.0054);
    reads_as("0.0054 A^-1", "1/angstrom", 0.0054);
    reads_as("20 us", "s", 20e-6);
    reads_as("3 min", "s", 180);
    reads_as("5 Hz", "1/s", 5);
    reads_as("10 nm^2/s", "angstrom^2/s", 1000);
    reads_as("10 nm\xC2\xB2/s", "angstrom^2/s", 1000);
    reads_as("1e3 \xC3\x85\xC2\xB2/s", "angstrom^2/s", 1000);
    reads_as("2 degrees", "deg", 2);
    reads_as("2 \xC2\xB0", "deg", 2);
    reads_as(" -1e-8 ", "1", -1e-8);
}

static void test_words_of_models_and_of_data(void **state)
{
    (void)state;
    reads_as("7000 eV", "keV", 7);
    reads_as("3 \xC2\xB5V", "mV", 3e-3);
    reads_as("3 \xCE\xBCmol/\xC2\xB5L", "M", 3);
    reads_as("20 pS", "nS", 0.02);
    reads_as("2 Gohm", "Mohm", 2000);
    reads_as("2 k\xCE\xA9", "V/mA", 2);
    reads_as("50 fF*Mohm", "ns", 50);
    reads_as("4 pC/ns", "mA", 4);
    reads_as("5 kW*ms", "J", 5);
    reads_as("12 pmol", "umol", 12e-6);
    reads_as("7 keV", "eV", 7000);
    reads_as("0.054 nm-1", "1/angstrom", 0.0054);
    reads_as("54 1/um", "1/nm", 0.054);
    reads_as("5e7 m^-1", "1/nm", 0.05);
    reads_as("1 mPa*s", "kg/(m*s)", 1e-3);
    reads_as("1 mPa s", "g/m/s", 1);
    reads_as("4 s^(1/2)", "s^0.5", 4);
    reads_as("3 min", "h", 0.05);
    reads_as("25 %", "1", 0.25);
    reads_as("7 a.u.", "1", 7);
    reads_as("7 dimensionless", "1", 7);
    reads_as("3 mA", "ampere", 3e-3);
    reads_as("3 A", "mA", 3000);  /* ampere, */
    reads_as("3 A", "nm", 0.3);   /* angstrom */
    reads_as("90 deg", "1", 1.57079632679489661923);
    reads_as("90 deg", "rad", 1.57079632679489661923);
    reads_as("1.57079632679489661923 rad", "deg", 90);
    reads_as("5 rad/s", "1/s", 5);
    reads_as("5 Milliseconds", "s", 5e-3);
    reads_as("5 micrometers", "um", 5);
    reads_as("5 nm2/s", "nm^2/s", 5);
    reads_as("6 cell/mL", "cell/L", 6000); /* a word of the model */
    reads_as("6 counts", "count", 6);
    double x;
    static const char *const none[][2] = {{"5 cell", "s"},
                                          {"5 cells", "cell"},
                                          {"5 rpm", "cell"},
                                          {"5 nm^", "nm"},
                                          {"5 m eV V", "K"},
                                          {"5 1/(s", "1/s"},
                                          {"5 s^x", "s"},
                                          {"5 \xC2\xB0"
                                           "C",
                                           "K"}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (fit_quantity_parse(none[i][0], none[i][1], &x) <= FIT_QUANTITY_CONVERTED)
            fail_msg("'%s' was taken for %g %s", none[i][0], x, none[i][1]);
    assert_int_equal(fit_quantity_parse("5 1", "deg", &x), FIT_QUANTITY_OTHER_KIND);
    assert_int_equal(fit_quantity_parse("5 s", "1", &x), FIT_QUANTITY_OTHER_KIND);
}

/* Powers of ten are exact: there is one rounding. */
static void test_conversion_is_exact(void **state)
{
    (void)state;
    double x;
    for (int k = 1; k < 1000; k++) {
        char text[40];
        snprintf(text, sizeof text, "%d ms", k);
        fit_quantity_parse(text, "s", &x);
        assert_true(x == k / 1000.0);
        snprintf(text, sizeof text, "0.%03d nm^-1", k);
        fit_quantity_parse(text, "1/angstrom", &x);
        assert_true(x == k / 1000.0 / 10);
    }
}

static void test_what_a_measurement_tells(void **state)
{
    (void)state;
    assert_true(fit_units_to_model("q", "1/nm", 0.0054) == 0.0054 * 10);
    assert_true(fit_units_from_model("q", "1/nm", 0.054) == 0.054 / 10);
    assert_true(fit_units_to_model("gap", "um", 2e6) == 200);
    assert_true(fabs(fit_units_to_model("phi", "1", 180) - 3.14159265358979323846) < 1e-15);
    assert_true(fit_units_to_model("phi", "deg", 33) == 33);
    assert_true(fit_units_to_model("dt", "ms", 0.1) == 100);
    assert_true(isnan(fit_units_to_model("q", "C", 1)) && !fit_units_means("q", "C"));
    assert_true(isnan(fit_units_to_model("phi", "m", 1)) && !fit_units_means("T", "K"));
    assert_true(fit_units_turn("deg") == 360 && fabs(fit_units_turn("1") - 6.28318530717958647693) < 1e-15);
}

static void test_wrong_units_are_told_apart(void **state)
{
    double x;
    (void)state;
    assert_int_equal(fit_quantity_parse("200 s", "angstrom", &x), FIT_QUANTITY_OTHER_KIND);
    assert_int_equal(fit_quantity_parse("200 furlong", "angstrom", &x), FIT_QUANTITY_NO_UNIT);
    assert_int_equal(fit_quantity_parse("um", "angstrom", &x), FIT_QUANTITY_NO_NUMBER);
    assert_int_equal(fit_quantity_parse("", "angstrom", &x), FIT_QUANTITY_NO_NUMBER);
    assert_int_equal(fit_quantity_parse("200 um", NULL, &x), FIT_QUANTITY_OTHER_KIND);
    assert_int_equal(fit_quantity_parse("1.2.3", NULL, &x), FIT_QUANTITY_NO_UNIT);
    assert_int_equal(fit_quantity_parse("5 nm^", "angstrom", &x), FIT_QUANTITY_NO_UNIT);
    assert_int_equal(fit_quantity_parse("5 nm^-", "angstrom", &x), FIT_QUANTITY_NO_UNIT);
    assert_int_equal(fit_quantity_parse("5 nm/", "angstrom", &x), FIT_QUANTITY_NO_UNIT);
}

static void test_numbers_as_yaml_files_write_them(void **state)
{
    double x;
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"1e-8", 1e-8}, {"1.0e-08", 1e-8}, {"1E-8", 1e-8},     {".5", 0.5},
                {"5.", 5},      {"+3", 3},         {".inf", INFINITY}, {"-.Inf", -INFINITY}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(fit_number_parse(good[i].text, &x));
        assert_true(x == good[i].value);
    }
    assert_true(fit_number_parse(".nan", &x) && isnan(x));
    static const char *const bad[] = {"",      "-",   ".",   "e5",  "0x10",    "1e",
                                      "1_000", "1,5", "--1", "1 2", "infinity"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (fit_number_parse(bad[i], &x))
            fail_msg("'%s' was taken for the number %g", bad[i], x);
}

static void test_doubts_about_bare_numbers(void **state)
{
    (void)state;
    assert_null(fit_units_doubt_q(0.0054));
    assert_non_null(fit_units_doubt_q(0.54));
    assert_null(fit_units_doubt_gap(2e6));
    assert_non_null(fit_units_doubt_gap(200));
}

static void test_edit_distance_counts_swaps_once(void **state)
{
    (void)state;
    assert_int_equal(nearest_distance("apha", "alpha", 6), 2);
    assert_int_equal(nearest_distance("aplha", "alpha", 6), 2);
    assert_int_equal(nearest_distance("D0", "d0", 6), 1);
    assert_true(same_word("D0", "d0"));
    assert_true(same_word("GAMMA-dot", "gamma_Dot"));
    assert_true(same_word("", ""));
    assert_false(same_word("static", "static_"));
    assert_false(same_word("static_", "static"));
    assert_false(same_word("a", "b"));
    assert_int_equal(nearest_distance("gamma-dot-t0", "gamma_dot_t0", 6), 0);
    assert_int_equal(nearest_distance("", "abc", 6), 6);
    assert_int_equal(nearest_distance("abc", "xyzuvw", 4), 5);
    assert_int_equal(nearest_distance("kitten", "sitting", 9), 6);
}

static void test_nearest_does_not_reach_too_far(void **state)
{
    static const char *const names[] = {"wavevector_q", "alpha", "beta", "D0"};
    (void)state;
    assert_string_equal(nearest_of("wavevector", names, 4), "wavevector_q");
    assert_string_equal(nearest_of("bta", names, 4), "beta");
    assert_string_equal(nearest_of("D1", names, 4), "D0");
    assert_string_equal(nearest_of("alfa", names, 4), "alpha");
    assert_string_equal(nearest_of("fi0", (const char *const[]){"D0", "phi0"}, 2), "phi0");
    assert_null(nearest_of("zzz", names, 4));
    assert_null(nearest_of("x", (const char *const[]){"y", "q"}, 2)); /* of one letter nothing is left */
    assert_string_equal(nearest_of("x", (const char *const[]){"y", "X"}, 2), "X");
    assert_null(nearest_of("voxel", (const char *const[]){"pixel"}, 1));
    assert_string_equal(nearest_of("angstorm", (const char *const[]){"Angstrom", "angstrom"}, 2), "angstrom");
    assert_string_equal(nearest_of("bat", (const char *const[]){"cat", "bar"}, 2), "bar"); /* equals: the alphabet */
    assert_null(nearest_of("temperature", names, 4));
}

static void check_path(const char *written, const char *beside, const char *want)
{
    char *path = NULL;
    struct fit_error err;
    assert_int_equal(fit_path_resolve(written, beside, &path, &err), FIT_OK);
    assert_string_equal(path, want);
    free(path);
}

static void test_paths_are_beside_the_file_first(void **state)
{
    (void)state;
    char dir[] = "/tmp/fit-paths-XXXXXX", file[64];
    assert_non_null(mkdtemp(dir));
    snprintf(file, sizeof file, "%s/a.h5", dir);
    fclose(fopen(file, "w"));
    setenv("FIT_TEST_DIR", dir, 1);
    unsetenv("FIT_TEST_NOT_SET");
    char config[64];
    snprintf(config, sizeof config, "%s/run.yaml", dir);
    check_path("a.h5", config, file);
    check_path("./a.h5", config, file);
    check_path("${FIT_TEST_DIR}/a.h5", "/nowhere/x.yaml", file);
    check_path("$FIT_TEST_DIR/a.h5", NULL, file);
    check_path("/abs/olute.h5", config, "/abs/olute.h5");
    check_path("missing.h5", "/some/where/x.yaml", "/some/where/missing.h5");
    check_path("missing.h5", "x.yaml", "missing.h5");
    check_path("costs $5.h5", NULL, "costs $5.h5");
    char named[96];
    snprintf(named, sizeof named, "%s/of $FIT_TEST_DIR.h5", dir);
    fclose(fopen(named, "w"));
    check_path(named, NULL, named);
    unlink(named);
    char *path;
    struct fit_error err;
    assert_int_equal(fit_path_resolve("$FIT_TEST_NOT_SET/a", NULL, &path, &err), FIT_ERR_CONFIG);
    assert_non_null(strstr(err.message, "FIT_TEST_NOT_SET"));
    unlink(file);
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_suffixes_convert_to_angstrom_and_seconds),
        cmocka_unit_test(test_words_of_models_and_of_data),
        cmocka_unit_test(test_conversion_is_exact),
        cmocka_unit_test(test_what_a_measurement_tells),
        cmocka_unit_test(test_wrong_units_are_told_apart),
        cmocka_unit_test(test_numbers_as_yaml_files_write_them),
        cmocka_unit_test(test_doubts_about_bare_numbers),
        cmocka_unit_test(test_edit_distance_counts_swaps_once),
        cmocka_unit_test(test_nearest_does_not_reach_too_far),
        cmocka_unit_test(test_paths_are_beside_the_file_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
