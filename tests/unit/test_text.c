/* test_text.c -- texts of strangers: what is shown of controls and broken bytes, through a stream in any portions, and
 * as markup. */
#include "common/stream.h"
#include "common/text.h"
#include "report/draw/markup.h"
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const struct {
    const char *given, *shown;
} cases[] = {
    {"plain q = 0.0054 1/\xC3\x85", "plain q = 0.0054 1/\xC3\x85"},
    {"\x1b]0;owned\x07\x1b[2J", "\\x1b]0;owned\\x07\\x1b[2J"},
    {"a\rb\x08\x7f", "a\\x0db\\x08\\x7f"},
    {"\xC2\x9B"
     "2J \xC2\x85",
     "\\xc2\\x9b2J \\xc2\\x85"},
    {"\xE2\x80\xAEgnp\xE2\x80\xA8", "\\xe2\\x80\\xaegnp\\xe2\\x80\\xa8"},
    {"\xE2\x81\xA6\xEF\xBB\xBF\xD8\x9C", "\\xe2\\x81\\xa6\\xef\\xbb\\xbf\\xd8\\x9c"},
    {"\xFF\xC3(\xE2\x82", "\\xff\\xc3(\\xe2\\x82"},
    {"\xED\xA0\x80\xF4\x90\x80\x80", "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80"}, /* a surrogate; beyond U+10FFFF */
    {"\xC0\xAF", "\\xc0\\xaf"},                                              /* overlong */
    {"line\n\ttab", "line\n\ttab"},
    {"\xF0\x9F\x94\xAC \xCF\x83", "\xF0\x9F\x94\xAC \xCF\x83"},
};

static void test_printable(void **state)
{
    char out[200];
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_int_equal(text_printable(cases[k].given, strlen(cases[k].given), 1, out, sizeof out),
                         strlen(cases[k].shown));
        assert_string_equal(out, cases[k].shown);
    }
    text_printable("a\nb\tc", 5, 0, out, sizeof out);
    assert_string_equal(out, "a\\x0ab\\x09c");
    text_printable("a\0b", 3, 1, out, sizeof out);
    assert_string_equal(out, "a\\x00b");
}

/* Whole characters and whole escapes only, whatever the room. */
static void test_room(void **state)
{
    static const char *const whole[] = {"",          "a",         "a",         "a\xCF\x83",
                                        "a\xCF\x83", "a\xCF\x83", "a\xCF\x83", "a\xCF\x83\\x1b"};
    char out[16];
    (void)state;
    for (size_t size = 1; size <= 8; size++) {
        assert_int_equal(text_printable("a\xCF\x83\x1b", 4, 1, out, size), 7);
        assert_string_equal(out, whole[size - 1]);
    }
    assert_int_equal(text_printable("abc", 3, 1, NULL, 0), 3);
}

/* All of s through one(). */
static const char *through(size_t (*one)(const char *, char *), const char *s)
{
    static char all[200];
    all[0] = '\0';
    while (*s) {
        char out[TEXT_ONE];
        s += one(s, out);
        strcat(all, out);
    }
    return all;
}

static void test_json_and_xml(void **state)
{
    static const char text[] = "a\"\\<&>'\n\t\x01\xC3\x85\xC3\xE2\x80\xAE";
    (void)state;
    assert_string_equal(through(text_json, text), "a\\\"\\\\<&>'\\n\\u0009\\u0001\xC3\x85\xEF\xBF\xBD\xE2\x80\xAE");
    assert_string_equal(through(text_xml, text), "a&quot;\\&lt;&amp;&gt;'\n\t\xC3\x85\xEF\xBF\xBD");
}

static void test_last_part_of_a_path(void **state)
{
    (void)state;
    assert_string_equal(text_file_name("a"), "a");
    assert_string_equal(text_file_name("/a/b.h5"), "b.h5");
    assert_string_equal(text_file_name("a/"), "");
}

/* What arrives at fd 1 when f is called. */
static void captured(void (*f)(FILE *), char *text, size_t size)
{
    FILE *file = tmpfile();
    const int kept = dup(1);
    assert_non_null(file);
    fflush(stdout);
    assert_true(dup2(fileno(file), 1) == 1);
    f(text_stream(1));
    fflush(text_stream(1));
    dup2(kept, 1);
    close(kept);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void print_cases(FILE *out)
{
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        fprintf(out, "%s|", cases[k].given);
}

/* Every byte alone: characters are put together again. */
static void print_bytes(FILE *out)
{
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (const char *p = cases[k].given;; p++) {
            fputc(*p ? *p : '|', out);
            fflush(out);
            if (!*p)
                break;
        }
}

static void print_long(FILE *out)
{
    for (int k = 0; k < 5000; k++)
        fputs("\xCF\x83\xE2\x82\xAC", out); /* 2 and 3 bytes: every boundary of a buffer falls into some character */
}

static void print_own(FILE *out)
{
    fputs("a\x1b", out);
    text_stream_control(out, "\r\033[K");
    fputs("\x1b", out);
}

static void test_stream(void **state)
{
    char text[30000], wanted[1000] = "";
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        strcat(wanted, cases[k].shown);
        strcat(wanted, "|");
    }
    captured(print_cases, text, sizeof text);
    assert_string_equal(text, wanted);
    captured(print_bytes, text, sizeof text);
    assert_string_equal(text, wanted);
    captured(print_long, text, sizeof text);
    assert_int_equal(strlen(text), 25000);
    assert_null(strchr(text, '\\'));
    captured(print_own, text, sizeof text);
    assert_string_equal(text, "a\\x1b\r\033[K\\x1b");
}

static void test_messages(void **state)
{
    struct fit_error err;
    (void)state;
    fit_fail(&err, FIT_ERR_DATA, "%s: no dataset %s\nnext", "a\x1b[2J.h5", "\xFF");
    assert_string_equal(err.message, "a\\x1b[2J.h5: no dataset \\xff\nnext");
}

/* A message about a place carries it: nobody looks for it in the text. */
static void test_places_of_messages(void **state)
{
    struct fit_error err;
    (void)state;
    assert_int_equal(fit_fail_at(&err, FIT_ERR_CONFIG, "a: error: \x1b.yaml", 14, 3, "chains: %d: error: few", 0),
                     FIT_ERR_CONFIG);
    assert_string_equal(err.message, "a: error: \\x1b.yaml:14:3: error: chains: 0: error: few");
    assert_string_equal(err.message + err.says, "chains: 0: error: few");
    assert_string_equal(err.file, "a: error: \x1b.yaml");
    assert_int_equal(err.line, 14);
    assert_int_equal(err.column, 3);
    assert_string_equal(fit_error_word(&err), "");
    fit_fail_at(&err, FIT_ERR_CONFIG, "--chains", 0, 0, "few");
    assert_string_equal(err.message, "--chains: error: few");
    fit_fail(&err, FIT_ERR_DATA, "d.h5: a dataset 'error: '");
    assert_string_equal(fit_error_word(&err), "error: ");
    assert_int_equal(err.line + err.column + err.says, 0);
    assert_string_equal(err.file, "");
    fit_fail(&err, FIT_ERR_INTERRUPTED, "stopped");
    assert_string_equal(fit_error_word(&err), "");
}

static void test_markup(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    struct rp_markup m = {f};
    (void)state;
    rp_put(&m, "<p a=\"%s\">%s</p>%%", "\"><script>'", "&lt; \xFF\x1b\xC2\x85\xE2\x80\xAE\n");
    rp_put(&m, "%.3f %zu %d %ld %5.1e %06lx|%.4s", 1.25, (size_t)7, -3, 9L, 12345.0, 255UL, "ab\xE2\x82\xACz");
    fclose(f);
    assert_string_equal(text, "<p a=\"&quot;&gt;&lt;script&gt;'\">&amp;lt; \xEF\xBF\xBD\n</p>%"
                              "1.250 7 -3 9 1.2e+04 0000ff|ab");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_and_xml), cmocka_unit_test(test_last_part_of_a_path),
        cmocka_unit_test(test_printable),    cmocka_unit_test(test_room),
        cmocka_unit_test(test_stream),       cmocka_unit_test(test_messages),
        cmocka_unit_test(test_places_of_messages),
        cmocka_unit_test(test_markup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
