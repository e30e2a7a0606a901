/* test_results.c -- how results are put into words: values with errors, directions, the summary's
 * size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number_text.h"
#include "commands/configuration.h"
#include "results/results.h"

static void format(double value, double std, const char *v, const char *e)
{
    char value_text[40], error_text[40];
    fit_format_error(value, std, value_text, sizeof value_text, error_text, sizeof error_text);
    assert_string_equal(value_text, v);
    assert_string_equal(error_text, e);
}

static void test_values_show_two_digits_of_their_error(void **state)
{
    (void)state;
    format(1998.34, 21.2, "1998", "21");
    format(-0.30123, 0.0041, "-0.3012", "0.0041");
    format(0.0040024, 2.4e-5, "0.004002", "0.000024");
    format(5, 0.13, "5.00", "0.13");
    format(1234, 5678, "1234", "5678");
    format(0, 0.02, "0.000", "0.020");
    format(-0.3, 21, "0", "21");
    format(-0.0004, 0.02, "0.000", "0.020");
    format(-0.5, 21, "0", "21"); /* ties to even */
    format(-0.6, 21, "-1", "21");
}

static void test_very_large_and_small_values_use_exponents(void **state)
{
    (void)state;
    format(1.23456789e-7, 2e-10, "1.2346e-07", "2.0e-10");
    format(3.21e9, 1.5e7, "3.210e+09", "1.5e+07");
}

static void test_without_an_error_six_digits_are_shown(void **state)
{
    (void)state;
    format(1998.3456789, NAN, "1998.35", "");
    format(100, 0, "100", "");
    format(NAN, 1, "nan", "");
    format(1, INFINITY, "1", "");
}

/* A result of two nonlinear parameters, enough for the directions. */
static void test_directions_are_sums_of_names(void **state)
{
    (void)state;
    static const struct fit_param param[] = {
        {.name = "D0"}, {.name = "alpha"}, {.name = "D_offset"}};
    const struct fit_kernel kernel = {.nparam = 3, .param = param};
    double vector[] = {0.7, 0.001, -0.69, 0, 0, 0};
    const struct fit_result fit = {.nparam = 3, .neigen = 2, .eigenvector = vector};
    const struct fit_results r = {.kernel = &kernel, .fit = &fit};
    char text[128];
    fit_results_direction(&r, 0, text, sizeof text);
    assert_string_equal(text, "D0 - 0.99 D_offset");
    fit_results_direction(&r, 1, text, sizeof text);
    assert_string_equal(text, "");
    fit_results_direction(&r, 0, text, 8); /* cut, not overrun */
    assert_true(strlen(text) < 8);
}

static void test_command_lines_are_quoted_for_a_shell(void **state)
{
    (void)state;
    char *words[] = {(char[]){"fit"}, (char[]){"a b"}, (char[]){"it's"}, (char[]){"x=1"},
                     (char[]){""}};
    char *text = fit_command_line(5, words);
    assert_non_null(text);
    assert_string_equal(text, "fit 'a b' 'it'\\''s' x=1 ''");
    free(text);
}

/* fit.json's words and the enums are one table: reports read the words. */
static void test_words_of_quality_and_verdict_read_back(void **state)
{
    (void)state;
    for (int v = FIT_QUALITY_GOOD; v <= FIT_QUALITY_UNKNOWN; v++)
        assert_int_equal(fit_quality_find(fit_quality_word((enum fit_quality_kind)v)), v);
    assert_string_equal(fit_quality_word(FIT_QUALITY_UNFINISHED), "unfinished");
    assert_int_equal(fit_quality_find("goo"), FIT_QUALITY_UNKNOWN);
    assert_int_equal(fit_quality_find(""), FIT_QUALITY_UNKNOWN);
    for (int v = FIT_VERDICT_GOOD; v <= FIT_VERDICT_FAILED; v++)
        assert_int_equal(fit_verdict_find(fit_verdict_word((enum fit_verdict)v)), v);
    assert_int_equal(fit_verdict_find("?"), FIT_VERDICT_DOUBTFUL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_show_two_digits_of_their_error),
        cmocka_unit_test(test_very_large_and_small_values_use_exponents),
        cmocka_unit_test(test_without_an_error_six_digits_are_shown),
        cmocka_unit_test(test_directions_are_sums_of_names),
        cmocka_unit_test(test_command_lines_are_quoted_for_a_shell),
        cmocka_unit_test(test_words_of_quality_and_verdict_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
