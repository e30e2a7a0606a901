/* test_json.c -- JSON text: structure, numbers that read back, strings that are valid UTF-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "math/rng.h"

static void test_compact_text_has_commas_between_values_only(void **state)
{
    (void)state;
    struct fit_json j = {.compact = 1};
    fit_json_begin(&j, NULL, '{');
    fit_json_number(&j, "cost", 1.5);
    fit_json_begin(&j, "starts", '[');
    fit_json_integer(&j, NULL, -3);
    fit_json_boolean(&j, NULL, 1);
    fit_json_end(&j);
    fit_json_begin(&j, "empty", '{');
    fit_json_end(&j);
    fit_json_numbers(&j, "x", (double[]){1, 0.1, NAN}, 3);
    fit_json_end(&j);
    assert_string_equal(fit_json_text(&j),
                        "{\"cost\": 1.5, \"starts\": [-3, true], \"empty\": {}, "
                        "\"x\": [1, 0.1, null]}");
    fit_json_free(&j);
}

static void test_indented_text_puts_one_value_on_a_line(void **state)
{
    (void)state;
    struct fit_json j = {0};
    fit_json_begin(&j, NULL, '{');
    fit_json_string(&j, "a", "b");
    fit_json_begin(&j, "c", '{');
    fit_json_integer(&j, "d", 1);
    fit_json_end(&j);
    fit_json_end(&j);
    assert_string_equal(fit_json_text(&j),
                        "{\n  \"a\": \"b\",\n  \"c\": {\n    \"d\": 1\n  }\n}\n");
    fit_json_free(&j);
}

static void test_non_finite_numbers_become_null(void **state)
{
    (void)state;
    struct fit_json j = {.compact = 1};
    fit_json_begin(&j, NULL, '[');
    fit_json_number(&j, NULL, NAN);
    fit_json_number(&j, NULL, -INFINITY);
    fit_json_end(&j);
    assert_string_equal(fit_json_text(&j), "[null, null]");
    fit_json_free(&j);
}

static void test_every_double_reads_back_to_the_same_bits(void **state)
{
    (void)state;
    char text[32];
    double special[] = {
        0.0, -0.0, DBL_MIN, DBL_MAX, DBL_TRUE_MIN, 0.1, 1.0 / 3.0, 1e22, 123456789.123456789};
    for (size_t k = 0; k < sizeof special / sizeof *special + 2000; k++) {
        double x;
        if (k < sizeof special / sizeof *special) {
            x = special[k];
        } else {
            uint32_t w[4];
            fit_rng_words(7, 0, k, w);
            uint64_t bits = (uint64_t)w[0] << 32 | w[1];
            memcpy(&x, &bits, sizeof x);
            if (!isfinite(x))
                continue;
        }
        fit_format_double(text, sizeof text, x);
        double back = strtod(text, NULL);
        if (memcmp(&back, &x, sizeof x) != 0)
            fail_msg("%a was written as %s", x, text);
    }
    fit_format_double(text, sizeof text, 0.1);
    assert_string_equal(text, "0.1");
}

static void test_strings_are_escaped_and_repaired(void **state)
{
    (void)state;
    struct fit_json j = {.compact = 1};
    fit_json_string(&j, NULL, "a\"b\\c\nd\x01 \xC3\x85 \xFF \xED\xA0\x80");
    assert_string_equal(fit_json_text(&j), "\"a\\\"b\\\\c\\nd\\u0001 \xC3\x85 \xEF\xBF\xBD "
                                           "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
    fit_json_free(&j);
}

static void test_unclosed_and_overclosed_text_is_refused(void **state)
{
    (void)state;
    struct fit_json j = {0};
    fit_json_begin(&j, NULL, '{');
    assert_null(fit_json_text(&j));
    fit_json_end(&j);
    assert_non_null(fit_json_text(&j));
    fit_json_end(&j);
    assert_null(fit_json_text(&j));
    fit_json_free(&j);
    for (int d = 0; d < FIT_JSON_DEPTH + 1; d++)
        fit_json_begin(&j, NULL, '[');
    assert_int_equal(j.failed, 1);
    fit_json_free(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compact_text_has_commas_between_values_only),
        cmocka_unit_test(test_indented_text_puts_one_value_on_a_line),
        cmocka_unit_test(test_non_finite_numbers_become_null),
        cmocka_unit_test(test_every_double_reads_back_to_the_same_bits),
        cmocka_unit_test(test_strings_are_escaped_and_repaired),
        cmocka_unit_test(test_unclosed_and_overclosed_text_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
