/* test_cli.c -- the command line: old and new spellings, lists, nearest names, help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands/cli.h"

static enum fit_status parse(struct fit_cli *cli, struct fit_error *err, const char *const *words)
{
    int n = 0;
    while (words[n])
        n++;
    return fit_cli_parse(n, (char *const *)(uintptr_t)words, cli, err);
}

#define PARSE(...) parse(&cli, &err, (const char *const[]){"prog", __VA_ARGS__, NULL})

static void test_without_a_command_it_is_a_fit(void **state)
{
    (void)state;
    struct fit_cli cli;
    struct fit_error err;
    assert_int_equal(PARSE("my.yaml", "-o", "out", "--json"), FIT_OK);
    assert_int_equal(cli.command, FIT_COMMAND_FIT);
    assert_int_equal(cli.nword, 1);
    assert_string_equal(cli.word[0], "my.yaml");
    assert_string_equal(cli.output, "out");
    assert_int_equal(cli.json, 1);
    fit_cli_free(&cli);
}

static void test_aliases_of_commands(void **state)
{
    (void)state;
    struct fit_cli cli;
    struct fit_error err;
    assert_int_equal(PARSE("sim", "-o", "x.h5"), FIT_OK);
    assert_int_equal(cli.command, FIT_COMMAND_SIMULATE);
    fit_cli_free(&cli);
    assert_int_equal(PARSE("params"), FIT_OK);
    assert_int_equal(cli.command, FIT_COMMAND_INFO);
    fit_cli_free(&cli);
}

static void test_lists_by_commas_and_by_words_negative_numbers_too(void **state)
{
    (void)state;
    struct fit_cli cli;
    struct fit_error err;
    assert_int_equal(
        PARSE("eval", "--phi", "-10,0", "5.5", "-3", "--frames", "20", "--contrast=0.3"), FIT_OK);
    assert_int_equal(cli.nphi, 4);
    assert_true(cli.phi[0] == -10 && cli.phi[2] == 5.5 && cli.phi[3] == -3);
    assert_int_equal(cli.frames, 20);
    assert_int_equal(cli.ncontrast, 1);
    assert_int_equal(cli.nword, 0);
    fit_cli_free(&cli);

    assert_int_equal(PARSE("fit", "c.yaml", "--phi", "0", "45", "90", "--frames", "1:200"), FIT_OK);
    assert_int_equal(cli.nchange, 2);
    assert_string_equal(cli.change[0].name, "phi");
    assert_string_equal(cli.change[0].value, "0,45,90");
    assert_string_equal(cli.change[1].value, "1:200");
    fit_cli_free(&cli);
}

static void test_units_behind_numbers(void **state)
{
    (void)state;
    struct fit_cli cli;
    struct fit_error err;
    assert_int_equal(PARSE("eval", "--gap", "200 um", "--q", "0.054 nm^-1", "--dt=20 us"), FIT_OK);
    assert_true(fabs(cli.gap / 2e6 - 1) < 1e-12);
    assert_int_equal(cli.nq, 1);
    assert_true(fabs(cli.q_list[0] / 0.0054 - 1) < 1e-12);
    assert_true(fabs(cli.dt / 2e-5 - 1) < 1e-12);
    fit_cli_free(&cli);
    assert_int_equal(PARSE("eval", "--q", "0.003,0.06 nm^-1", "0.012"), FIT_OK);
    assert_int_equal(cli.nq, 3);
    assert_true(fabs(cli.q_list[1] / 0.006 - 1) < 1e-12 && cli.q_list[2] == 0.012);
    fit_cli_free(&cli);
    assert_int_equal(PARSE("eval", "--q", "0.003,0.2 s"), FIT_ERR_USAGE);
    assert_non_null(strstr(err.message, "1/angstrom"));
    fit_cli_free(&cli);
    assert_int_equal(PARSE("eval", "--gap", "3 s"), FIT_ERR_USAGE);
    assert_non_null(strstr(err.message, "angstrom"));
    fit_cli_free(&cli);
}

static void test_changes_keep_their_order(void **state)
{
    (void)state;
    struct fit_cli cli;
    struct fit_error err;
    assert_int_equal(PARSE("fit", "--set", "a=1", "--fix", "b", "--initial-gamma-dot-t0", "0.01",
                           "--set=a=2", "--multistart"),
                     FIT_OK);
    assert_int_equal(cli.nchange, 5);
    assert_string_equal(cli.change[2].name, "initial-gamma-dot-t0");
    assert_string_equal(cli.change[2].value, "0.01");
    assert_string_equal(cli.change[3].value, "a=2");
    assert_string_equal(cli.change[4].name, "multistart");
    assert_null(cli.change[4].value);
    fit_cli_free(&cli);
}

static void test_spellings_of_the_packages_are_accepted_and_remembered(void **state)
{
    (void)state;
    struct fit_cli cli;
    struct fit_error err;
    assert_int_equal(PARSE("--config", "a.yaml", "--method", "nlsq", "--output-dir", "o",
                           "--save-plots", "--no-jit", "--plotting-backend", "auto", "-v", "-v",
                           "--n-samples", "10"),
                     FIT_OK);
    assert_string_equal(cli.config, "a.yaml");
    assert_int_equal(cli.nignored, 3);
    assert_string_equal(cli.ignored[0].name, "save-plots");
    assert_int_equal(cli.verbose, 2);
    assert_int_equal(cli.nchange, 2);
    fit_cli_free(&cli);
}

static void test_errors_name_the_option_and_the_nearest(void **state)
{
    (void)state;
    struct fit_cli cli;
    struct fit_error err;
    assert_int_equal(PARSE("fit", "--outptu-dir", "x"), FIT_ERR_USAGE);
    assert_non_null(strstr(err.message, "--output-dir"));
    fit_cli_free(&cli);
    assert_int_equal(PARSE("fit", "--jacobian"), FIT_ERR_USAGE);
    assert_non_null(strstr(err.message, "eval"));
    fit_cli_free(&cli);
    assert_int_equal(PARSE("eval", "--frames"), FIT_ERR_USAGE);
    assert_non_null(strstr(err.message, "missing"));
    fit_cli_free(&cli);
    assert_int_equal(PARSE("eval", "--frames", "-3"), FIT_ERR_USAGE);
    fit_cli_free(&cli);
    assert_int_equal(PARSE("eval", "--phi", "a,b"), FIT_ERR_USAGE);
    fit_cli_free(&cli);
    assert_int_equal(PARSE("eval", "--jacobian=3"), FIT_ERR_USAGE);
    assert_non_null(strstr(err.message, "no value"));
    fit_cli_free(&cli);
    assert_int_equal(PARSE("eval", "-z"), FIT_ERR_USAGE);
    fit_cli_free(&cli);
}

static void test_help_shows_what_the_table_says_and_fits_a_screen(void **state)
{
    static const char *const pairs[] = {"--frames", "--phi", "--gap", "--dt", "--contrast", "init FILE"};
    (void)state;
    for (int n = 0; n < 2 * (FIT_COMMAND_COUNT + 1); n++) {
        int c = n / 2, table = n % 2;
        char *text = fit_cli_help("prog", "title", table ? FIT_ROWS : FIT_PAIRS, (enum fit_command)c, 0);
        assert_non_null(text);
        int lines = 0;
        for (char *line = text, *end; *line; line = end + 1, lines++) {
            end = strchr(line, '\n');
            assert_non_null(end);
            if (end - line > 80 && strstr(line, "  -") == line)
                fail_msg("wide: %.*s", (int)(end - line), line);
        }
        if (lines > 24 && c != FIT_COMMAND_COUNT)
            fail_msg("%d lines:\n%s", lines, text);
        if (c == FIT_COMMAND_EVAL) {
            assert_non_null(strstr(text, "--jacobian"));
            assert_null(strstr(text, "--bounds"));
        }
        assert_null(strstr(text, "--no-jit"));
        for (size_t w = 0; table && w < sizeof pairs / sizeof *pairs; w++)
            if (strstr(text, pairs[w]) && !(c == FIT_COMMAND_BENCH || c == FIT_COMMAND_COUNT))
                fail_msg("%s in the help of a model of tables:\n%s", pairs[w], text);
        if (!table)
            assert_null(strstr(text, "--groups"));
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_a_command_it_is_a_fit),
        cmocka_unit_test(test_aliases_of_commands),
        cmocka_unit_test(test_lists_by_commas_and_by_words_negative_numbers_too),
        cmocka_unit_test(test_units_behind_numbers),
        cmocka_unit_test(test_changes_keep_their_order),
        cmocka_unit_test(test_spellings_of_the_packages_are_accepted_and_remembered),
        cmocka_unit_test(test_errors_name_the_option_and_the_nearest),
        cmocka_unit_test(test_help_shows_what_the_table_says_and_fits_a_screen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
