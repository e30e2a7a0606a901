/* test_gen_units.c -- units of the model language. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "generator/graph/units.h"

static struct hg_arena *arena;
static struct hg_units *units;

static int setup(void **state)
{
    (void)state;
    arena = hg_arena_new();
    units = hg_units_new(arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    hg_arena_free(arena);
    return 0;
}

static hg_unit unit(const char *text)
{
    hg_unit u = HG_UNIT_UNKNOWN;
    const char *why = "";
    if (!hg_unit_parse(units, text, &u, &why))
        fail_msg("%s: %s", text, why);
    return u;
}

static void test_text_of_a_unit_is_regular(void **state)
{
    static const struct {
        const char *written, *regular;
    } c[] = {{"", "1"},
             {"1", "1"},
             {"rad", "1"},
             {"s", "s"},
             {"1/s", "1/s"},
             {"s^-1", "1/s"},
             {"Hz", "1/s"},
             {"angstrom^2/s", "angstrom^2/s"},
             {"angstrom^2 s^-1", "angstrom^2/s"},
             {"s^-1*angstrom*angstrom", "angstrom^2/s"},
             {"kg.m^2/s^2", "m^2*kg/s^2"},
             {"J/mol/K", "J/K/mol"},
             {"W/(m*K)", "W/m/K"},
             {"1/(s (nm/ms))", "ms/nm/s"},
             {"(kg)", "kg"},
             {"s^(1/2)", "s^(1/2)"},
             {"s^0.5", "s^(1/2)"},
             {"1/s^(3/2)", "1/s^(3/2)"},
             {"m/m", "1"},
             {"\xC3\x85^-1", "1/angstrom"},
             {"sec", "s"},
             {"degrees", "deg"},
             {"second", "s"},
             {" m / s ", "m/s"},
             {"furlong^2", "furlong^2"}};
    const char *why;
    (void)state;
    assert_true(hg_unit_declare(units, "furlong", &why));
    for (size_t k = 0; k < sizeof c / sizeof *c; k++)
        assert_string_equal(hg_unit_text(units, unit(c[k].written)), c[k].regular);
}

static void test_what_is_no_unit_is_refused(void **state)
{
    static const char *const bad[] = {"angstorm", "s^",   "s^x",  "s^(1/",  "2",        "10 s",  "/",
                                      "m/",       "m//s", "A",    "s^1e9",  "s^(1/97)", "m^2)",  "0",
                                      "1.5",      "m^0",  "cm-1", "W/(m*K", "W/(m*)",   "(m)^2", "((((((s))))))"};
    (void)state;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        hg_unit u;
        const char *why = NULL;
        if (hg_unit_parse(units, bad[k], &u, &why))
            fail_msg("'%s' was taken for a unit", bad[k]);
        assert_non_null(why);
    }
}

static void test_words_of_a_model_are_declared(void **state)
{
    static const char *const bad[] = {"", "s", "second", "sec", "Hz", "cell 2", "2cell", "cell"};
    const char *why = NULL;
    hg_unit u;
    (void)state;
    assert_false(hg_unit_parse(units, "cell/s", &u, &why));
    assert_non_null(strstr(why, "units = {\"cell\"}"));
    assert_false(hg_unit_parse(units, "1/secs", &u, &why));
    assert_non_null(strstr(why, "did you mean 'sec'?"));
    assert_true(hg_unit_declare(units, "cell", &why));
    assert_string_equal(hg_unit_text(units, unit("cell/s")), "cell/s");
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_false(hg_unit_declare(units, bad[k], &why));
}

static void test_base_units_show_what_is_missing(void **state)
{
    (void)state;
    assert_string_equal(hg_unit_base_text(units, unit("J/Pa/s")), "m^3/s");
    assert_string_equal(hg_unit_base_text(units, unit("C/V")), "s^4*ampere^2/m^2/kg");
    assert_string_equal(hg_unit_base_text(units, unit("nm^(1/2)")), "nm^(1/2)");
    assert_string_equal(hg_unit_base_text(units, unit("J^(1/2)")), "m*kg^(1/2)/s");
    assert_string_equal(hg_unit_base_text(units, unit("nm/um")), "1");
}

static void test_equal_units_have_equal_numbers(void **state)
{
    (void)state;
    hg_unit d = unit("angstrom^2/s"), q = unit("1/angstrom"), s = unit("s");
    hg_unit x = hg_unit_mul(units, hg_unit_mul(units, hg_unit_pow(units, q, 2, 1), d), s);
    assert_int_equal(x, HG_UNIT_ONE);
    assert_int_equal(hg_unit_div(units, d, d), HG_UNIT_ONE);
    assert_int_equal(hg_unit_pow(units, hg_unit_pow(units, d, 1, 3), 3, 1), d);
    assert_int_not_equal(unit("nm"), unit("angstrom"));
}

static void test_zero_and_unknown_are_passed_on(void **state)
{
    (void)state;
    hg_unit s = unit("s");
    assert_int_equal(hg_unit_mul(units, HG_UNIT_ANY, s), HG_UNIT_ANY);
    assert_int_equal(hg_unit_div(units, s, HG_UNIT_UNKNOWN), HG_UNIT_UNKNOWN);
    assert_int_equal(hg_unit_pow(units, s, 0, 1), HG_UNIT_ONE);
}

static void test_powers_by_numbers(void **state)
{
    hg_unit u, s = unit("s");
    (void)state;
    assert_true(hg_unit_pow_number(units, s, -1.5, &u));
    assert_int_equal(u, unit("1/s^(3/2)"));
    assert_true(hg_unit_pow_number(units, s, 1.0 / 3.0, &u));
    assert_int_equal(u, unit("s^(1/3)"));
    assert_false(hg_unit_pow_number(units, s, 0.123456, &u));
    assert_true(hg_unit_pow_number(units, HG_UNIT_ONE, 0.123456, &u));
    assert_int_equal(u, HG_UNIT_ONE);
}

static void test_exponents_cannot_overflow(void **state)
{
    hg_unit u = unit("s");
    (void)state;
    for (int k = 0; k < 100; k++)
        u = hg_unit_mul(units, u, u);
    assert_int_equal(u, HG_UNIT_UNKNOWN);
}

static void test_factors_between_units_of_one_dimension(void **state)
{
    double f;
    (void)state;
    assert_true(hg_unit_factor(units, unit("nm"), unit("angstrom"), &f));
    assert_true(f == 10.0); /* exactly */
    assert_true(hg_unit_factor(units, unit("nm^2/s"), unit("angstrom^2/ms"), &f));
    assert_true(fabs(f - 0.1) < 1e-15);
    assert_true(hg_unit_factor(units, unit("min"), unit("s"), &f));
    assert_true(fabs(f - 60) < 1e-12);
    static const char *const same[][2] = {{"J/(Pa*s*m)", "m^2/s"}, {"C", "ampere*s"}, {"F/m", "s*S/m"},
                                          {"V/ohm", "ampere"},     {"N*m", "J"},      {"T*m^2", "V*s"},
                                          {"H", "V*s/ampere"},     {"W", "J/s"},      {"mol/L", "M"},
                                          {"kg*m^2/s^2", "J"},     {"Hz", "1/s"}};
    for (size_t k = 0; k < sizeof same / sizeof *same; k++)
        if (!hg_unit_factor(units, unit(same[k][0]), unit(same[k][1]), &f) || f != 1.0)
            fail_msg("%s is not %s", same[k][0], same[k][1]);
    assert_true(hg_unit_factor(units, unit("kHz"), unit("1/ms"), &f) && f == 1.0);
    assert_true(hg_unit_factor(units, unit("percent"), HG_UNIT_ONE, &f) && f == 0.01);
    assert_true(hg_unit_factor(units, unit("deg"), unit("rad"), &f) && f == 3.14159265358979323846 / 180);
    static const struct {
        const char *a, *b;
        double factor;
    } word[] = {
        {"ppm", "1", 1e-6},
        {"ppb", "1", 1e-9},
        {"umol/dL", "mM", 1e-2},
        {"kcal/mol", "kJ/mol", 4.184},
        {"cP", "mPa*s", 1},
        {"Pa s", "Pa*s", 1},
        {"mmHg", "Pa", 133.322387415},
        {"psi", "Pa", 6894.757293168361},
        {"hPa", "mbar", 1},
        {"atm", "torr", 760},
        {"kDa", "Da", 1000},
        {"Da", "g", 1.66053906892e-24},
        {"rpm", "1/min", 1},
        {"cps", "count/s", 1},
        {"dl", "mL", 100},
        {"nm\xC2\xB2\xC2\xB7s\xE2\x81\xBB\xC2\xB9", "nm^2/s", 1},
    };
    for (size_t k = 0; k < sizeof word / sizeof *word; k++) {
        assert_true(hg_unit_factor(units, unit(word[k].a), unit(word[k].b), &f));
        assert_true(f > word[k].factor * (1 - 1e-15) && f < word[k].factor * (1 + 1e-15));
    }
    assert_false(hg_unit_factor(units, unit("degC"), unit("K"), &f)); /* another zero: nothing converts it */
    assert_false(hg_unit_factor(units, unit("kT"), unit("J"), &f));
    assert_true(unit("degC") == unit("degC"));
    assert_true(hg_unit_factor(units, unit("deg/s"), unit("rad/ms"), &f));
    assert_true(fabs(f * 180e3 / 3.14159265358979323846 - 1) < 1e-15);
    assert_false(hg_unit_factor(units, unit("deg"), unit("s"), &f));
    assert_false(hg_unit_factor(units, unit("nm"), unit("s"), &f));
    assert_false(hg_unit_factor(units, unit("nm"), unit("nm^2"), &f));
    assert_false(hg_unit_factor(units, unit("furlong"), unit("m"), &f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_of_a_unit_is_regular),
        cmocka_unit_test(test_what_is_no_unit_is_refused),
        cmocka_unit_test(test_words_of_a_model_are_declared),
        cmocka_unit_test(test_base_units_show_what_is_missing),
        cmocka_unit_test(test_equal_units_have_equal_numbers),
        cmocka_unit_test(test_zero_and_unknown_are_passed_on),
        cmocka_unit_test(test_powers_by_numbers),
        cmocka_unit_test(test_exponents_cannot_overflow),
        cmocka_unit_test(test_factors_between_units_of_one_dimension),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
