/* test_options.c -- the reader of command lines: every way to write an option, what is refused and in which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "common/options.h"

enum { DRAW = 1, WRITE = 2 };

struct wish {
    int first, quiet, loud;
    const char *output;
    double dpi;
    size_t columns;
};

#define AT(kind, member) OPTION_AT(kind, struct wish, member)

static const struct option_row rows[] = {
    {NULL, 0, NULL, "What is drawn", 0, OPTION_KEPT},
    {"output", 'o', "FILE", "where", 0, AT(TEXT, output)},
    {"output-dir", 0, "DIR", NULL, 0, AT(TEXT, output)},
    {"dpi", 0, "N", "of png; default 600", DRAW, AT(REAL, dpi)},
    {"size", 0, "N", "above 0", 0, OPTION_REAL, offsetof(struct wish, dpi), OPTION_POSITIVE},
    {"gap", 0, "N", "from 0", 0, OPTION_REAL, offsetof(struct wish, dpi), OPTION_NOT_NEGATIVE},
    {"columns", 'c', "N", "of the page", 0, OPTION_COUNT, offsetof(struct wish, columns), 2},
    {"quiet", 'q', NULL, "nothing but errors", 0, AT(FLAG, quiet)},
    {"loud", 'v', NULL, "more", OPTION_RARE, AT(LEVEL, loud)},
    {"set", 0, "NAME=VALUE", "repeat", OPTION_MANY, OPTION_KEPT},
    {"phi", 0, "A,B", "azimuths", OPTION_NUMBERS, OPTION_KEPT},
    {"part", 0, "[=N]", "some", WRITE, OPTION_KEPT},
    {"check", 0, "[FILE]", "look", 0, OPTION_KEPT},
    {"initial-*", 0, "VALUE", "a start", 0, OPTION_KEPT},
};
static const struct option_command commands[] = {{"draw", DRAW}, {"write", WRITE}, {NULL, 0}};

static char message[200];

static enum options_end reads(struct command_line *line, unsigned bit, const char *const *word)
{
    const struct option_set set = {.table = {{rows, sizeof rows / sizeof *rows}},
                                   .bit = bit,
                                   .command = bit == DRAW ? "draw" : "write",
                                   .help = "prog --help",
                                   .other = commands};
    int n = 0;
    while (word[n])
        n++;
    return options_read(&set, n, (char *const *)(uintptr_t)word, 0, line, message, sizeof message);
}

#define READ(bit, ...) reads(&line, bit, (const char *const[]){__VA_ARGS__, NULL})

static void refuses(const char *says, unsigned bit, const char *const *word)
{
    struct command_line line;
    struct wish wish = {0};
    const enum options_end end = reads(&line, bit, word);
    if (end == OPTIONS_GOOD)
        assert_false(options_store(&wish, &line, message, sizeof message));
    assert_string_equal(message, says);
    options_free(&line);
}

#define REFUSED(says, bit, ...) refuses(says, bit, (const char *const[]){__VA_ARGS__, NULL})

static void test_every_way_to_write_a_value(void **state)
{
    (void)state;
    struct command_line line;
    struct wish wish = {0};
    assert_int_equal(READ(DRAW, "--output=a=b", "x", "--dpi", "-1.5", "-c", "3", "-", "-v", "--loud", "-q", "--", "-y"),
                     OPTIONS_GOOD);
    assert_true(options_store(&wish, &line, message, sizeof message));
    assert_string_equal(wish.output, "a=b");
    assert_true(wish.dpi == -1.5 && wish.columns == 3 && wish.loud == 2 && wish.quiet == 1);
    assert_int_equal(line.nword, 3);
    assert_string_equal(line.word[1], "-");
    assert_string_equal(line.word[2], "-y");
    assert_true(line.given[1].from == 2 && line.given[1].to == 4);
    options_free(&line);
}

static void test_words_that_are_kept(void **state)
{
    (void)state;
    struct command_line line;
    assert_int_equal(READ(WRITE, "--phi", "0", "45", "-90", "file", "--part", "x7", "--initial-d0=3", "--part=2"),
                     OPTIONS_GOOD);
    assert_string_equal(option_value(&line, "phi"), "0,45,-90");
    assert_string_equal(option_value(&line, "initial-d0"), "3");
    assert_string_equal(option_value(&line, "part"), "2");
    assert_null(line.given[1].value); /* a value of its kind stands behind an equal sign only */
    assert_int_equal(line.nword, 2);
    assert_false(option_given(&line, "quiet"));
    options_free(&line);
    assert_int_equal(READ(WRITE, "--check", "a", "b", "--check", "-q", "--check"), OPTIONS_GOOD);
    assert_string_equal(line.given[0].value, "a");
    assert_true(line.ngiven == 4 && !line.given[1].value && !line.given[3].value && line.nword == 1);
    options_free(&line);
}

static void test_one_value_can_hold(void **state)
{
    (void)state;
    struct command_line line;
    assert_int_equal(READ(DRAW, "--set", "a=1", "--set", "a=2", "-q", "-q", "-o", "x", "--output-dir", "x"),
                     OPTIONS_GOOD);
    options_free(&line);
    REFUSED("--dpi is given twice, '1' and '2': one of them can hold", DRAW, "--dpi", "1", "--dpi=2");
    REFUSED("--output-dir is given twice, 'x' and 'y': one of them can hold", DRAW, "-o", "x", "--output-dir", "y");
}

static void test_what_is_refused(void **state)
{
    (void)state;
    REFUSED("--outptu: unknown option; did you mean --output? See prog --help", DRAW, "--outptu=x");
    REFUSED("--zzzzzz: unknown option; see prog --help", DRAW, "--zzzzzz");
    REFUSED("-z: unknown option; see prog --help", DRAW, "-z");
    REFUSED("-dpi: unknown option; did you mean --dpi? See prog --help", DRAW, "-dpi");
    REFUSED("--dpi: no option of `write`; it belongs to `draw`", WRITE, "--dpi", "3");
    REFUSED("-o: a value is missing: FILE", DRAW, "-o");
    REFUSED("--quiet: takes no value", DRAW, "--quiet=1");
    REFUSED("--dpi: 'fine' is not a number", DRAW, "--dpi=fine");
    REFUSED("--dpi: 'inf' is not a number", DRAW, "--dpi=inf");
    REFUSED("--size: 0 is not above 0", DRAW, "--size", "0");
    REFUSED("--part 7: did you mean --part=7? The number stands behind an equal sign; a file of this name is ./7",
            WRITE, "--part", "7", "--phi", "0");
    REFUSED("--gap: -1e-9 is below 0", DRAW, "--gap=-1e-9");
    REFUSED("--columns: '1' is not a whole number from 2", DRAW, "-c", "1");
    REFUSED("--columns: '-3' is not a whole number from 2", DRAW, "-c", "-3");
    REFUSED("--columns: '99999999999999999999' is not a whole number from 2", DRAW, "-c", "99999999999999999999");
}

static void test_help(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    options_put(f, &(struct option_table){rows, 4});
    fclose(f);
    assert_string_equal(text, "\nWhat is drawn\n"
                              "  -o, --output FILE         where\n"
                              "      --dpi N               of png; default 600\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_way_to_write_a_value),
        cmocka_unit_test(test_words_that_are_kept),
        cmocka_unit_test(test_one_value_can_hold),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
