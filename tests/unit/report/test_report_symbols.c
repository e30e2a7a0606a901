/* test_report_symbols.c -- names as symbols (common/symbol.c, report/draw/rich.c), units at axes, values without an
 * error, a screen with signs and the colour of its verdict. */
#include "base/number_text.h"
#include "base/terminal_text.h"
#include "common/symbol.h"
#include "report/draw/panel.h"
#include "report/draw/rich.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void rich(const char *name, const char *want)
{
    char text[256];
    rp_symbol(name, text, sizeof text);
    assert_string_equal(text, want);
}

static void test_symbols(void **state)
{
    (void)state;
    rich("D0", RP_IT "D" RP_IT RP_SUB "0" RP_LINE);
    rich("alpha", RP_IT "α" RP_IT);
    rich("gamma_dot_t0", RP_IT "γ\u0307" RP_IT RP_SUB "0" RP_LINE);
    rich("gamma_dot_t_offset", RP_IT "γ\u0307" RP_IT RP_SUB "offset" RP_LINE);
    rich("D0_ref", RP_IT "D" RP_IT RP_SUB "0,ref" RP_LINE);
    rich("t_dot", RP_IT "t\u0307" RP_IT);
    rich("contrast[3]", "contrast" RP_SUB "3" RP_LINE);
    rich("v_beta", RP_IT "v" RP_IT RP_SUB RP_IT "β" RP_IT RP_LINE);
    rich("delay", RP_IT "τ" RP_IT);
    rich("", "");
    rich("_", "_");
}

static void test_long_names_end_somewhere(void **state)
{
    char name[2000], text[64];
    struct symbol s;
    (void)state;
    for (size_t k = 0; k + 2 < sizeof name; k += 2)
        memcpy(name + k, "a_", 3);
    symbol_cut(name, &s);
    assert_int_equal(s.n, SYMBOL_PARTS);
    rp_symbol(name, text, sizeof text);
    assert_true(strlen(text) < sizeof text);
}

static void test_width(void **state)
{
    (void)state;
    assert_true(rp_text_width(RP_IT "D" RP_IT RP_SUB "0" RP_LINE, 10) < rp_text_width("D0", 10));
    assert_true(fabs(rp_text_width("γ\u0307", 10) - rp_text_width("γ", 10)) < 1e-12);
}

static void test_units(void **state)
{
    static const char *const pair[][2] = {{"angstrom^2/s", "Å² s⁻¹"}, {"1/s", "s⁻¹"}, {"1/angstrom", "Å⁻¹"},
                                          {"deg", "°"}, {"1", ""}, {"um", "µm"}, {"Pa*s", "Pa s"},
                                          {"s^(1/2)", "s^(1/2)"}, {"K", "K"}};
    char text[64];
    (void)state;
    for (size_t k = 0; k < sizeof pair / sizeof *pair; k++) {
        rp_unit(pair[k][0], text, sizeof text);
        assert_string_equal(text, pair[k][1]);
    }
}

static void unsure(double value, double lower, double upper, const char *want)
{
    char text[64];
    fit_format_unsure(value, lower, upper, text, sizeof text);
    assert_string_equal(text, want);
}

static void test_values_without_an_error(void **state)
{
    (void)state;
    unsure(2273.087, NAN, NAN, "2300");
    unsure(-415.229, NAN, NAN, "-420");
    unsure(0.0152204, NAN, NAN, "0.015");
    unsure(59.3827, 37, 121, "59");
    unsure(0.0152204, 0.0148, 0.0206, "0.0152");
    unsure(0, NAN, 0.13, "0");
    unsure(5.62, -57, 29, "5.6");
}

static void screen(const char *text, int signs, int colour, const char *want)
{
    char *told = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&told, &size);
    assert_non_null(f);
    fit_put_screen(f, text, signs, colour);
    fclose(f);
    assert_string_equal(told, want);
    free(told);
}

static void test_screen(void **state)
{
    (void)state;
    screen("quality: good: all is well\n", 0, 1, "quality: \033[1;32mgood\033[0m: all is well\n");
    screen("verdict: failed: no\n", 0, 1, "verdict: \033[1;31mfailed\033[0m: no\n");
    screen("quality: partial: x\nquality of life\n", 0, 0, "quality: partial: x\nquality of life\n");
    screen("a 1 +- 2 deg\n", 0, 0, "a 1 +- 2 deg\n");
    screen("D0  6557 +- 542         angstrom^2/s\n", 1, 0, "D0  6557 ±  542         Å²/s\n");
    screen("gap 200 um, degree\n", 1, 0, "gap 200 µm, degree\n");
    screen("chi2/dof 1.0\n", 1, 0, "χ²/dof 1.0\n");
    screen("t^2, file_deg +-3\n", 1, 0, "t^2, file_deg +-3\n");
}

static void test_wishes_of_the_environment(void **state)
{
    (void)state;
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    assert_true(fit_colours_wanted());
    setenv("NO_COLOR", "1", 1);
    assert_false(fit_colours_wanted());
    setenv("NO_COLOR", "", 1);
    assert_true(fit_colours_wanted());
    setenv("TERM", "dumb", 1);
    assert_false(fit_colours_wanted());
    setenv("LC_ALL", "C", 1);
    setenv("LANG", "de_DE.UTF-8", 1);
    assert_false(fit_locale_is_utf8());
    unsetenv("LC_ALL");
    unsetenv("LC_CTYPE");
    assert_true(fit_locale_is_utf8());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_long_names_end_somewhere),
        cmocka_unit_test(test_width),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_values_without_an_error),
        cmocka_unit_test(test_screen),
        cmocka_unit_test(test_wishes_of_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
