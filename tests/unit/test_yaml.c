/* The tree of a YAML text: places, limits, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/yaml_tree.h"

static struct fit_yaml_doc *parse(const char *text)
{
    struct fit_yaml_doc *doc = NULL;
    struct fit_error err = {0};
    if (fit_yaml_parse(text, strlen(text), "t.yaml", &doc, &err) != FIT_OK)
        fail_msg("%s", err.message);
    return doc;
}

/* The text is refused and the message contains `part`. */
static void refuse_bytes(const char *text, size_t n, const char *part)
{
    struct fit_yaml_doc *doc = NULL;
    struct fit_error err = {0};
    assert_int_not_equal(fit_yaml_parse(text, n, "t.yaml", &doc, &err), FIT_OK);
    assert_null(doc);
    if (!strstr(err.message, part))
        fail_msg("message '%s' lacks '%s'", err.message, part);
}

static void refuse(const char *text, const char *part)
{
    refuse_bytes(text, strlen(text), part);
}

static void test_nodes_know_their_place(void **state)
{
    (void)state;
    struct fit_yaml_doc *doc =
        parse("a: 1\nb:\n  c: [x, 'null', null, ~, ]\n  \xC3\x85: \xC3\x85\xC2\xB2/s\n");
    const struct fit_yaml *b = fit_yaml_get(fit_yaml_root(doc), "b"), *c = fit_yaml_get(b, "c");
    assert_int_equal(c->line, 3);
    assert_int_equal(c->column, 6);
    assert_int_equal(c->n, 4);
    assert_false(fit_yaml_is_null(c->entry[0].value));
    assert_false(fit_yaml_is_null(c->entry[1].value));
    assert_true(fit_yaml_is_null(c->entry[2].value));
    assert_true(fit_yaml_is_null(c->entry[3].value));
    assert_string_equal(fit_yaml_get(b, "\xC3\x85")->text, "\xC3\x85\xC2\xB2/s");
    assert_null(fit_yaml_get(b, "nothing"));
    fit_yaml_free(doc);
}

static void test_json_is_yaml(void **state)
{
    (void)state;
    struct fit_yaml_doc *doc = parse("{\"a\": {\"b\": [1, 2.5e-3, true, null, \"x\\u00c5\"]}}");
    const struct fit_yaml *b = fit_yaml_get(fit_yaml_get(fit_yaml_root(doc), "a"), "b");
    assert_int_equal(b->n, 5);
    assert_true(b->entry[4].value->quoted);
    assert_string_equal(b->entry[4].value->text, "x\xC3\x85");
    fit_yaml_free(doc);
}

static void test_empty_text_is_an_empty_map(void **state)
{
    (void)state;
    struct fit_yaml_doc *doc = parse("# only a remark\n");
    assert_int_equal(fit_yaml_root(doc)->n, 0);
    fit_yaml_free(doc);
}

static void test_aliases_and_merge_keys(void **state)
{
    (void)state;
    struct fit_yaml_doc *doc = parse("x: &base {a: 1, b: 2}\ny: {<<: *base, b: 3}\nz: *base\n");
    const struct fit_yaml *y = fit_yaml_get(fit_yaml_root(doc), "y");
    assert_string_equal(fit_yaml_get(y, "a")->text, "1");
    assert_string_equal(fit_yaml_get(y, "b")->text, "3");
    assert_string_equal(fit_yaml_get(fit_yaml_get(fit_yaml_root(doc), "z"), "b")->text, "2");
    fit_yaml_free(doc);
}

static void test_bad_syntax_has_file_line_column(void **state)
{
    (void)state;
    refuse("a: 1\nb: [1, 2\n", "t.yaml:3:1: error:");
    refuse("a:\n\tb: 1\n", "tab");
    refuse("a:\n\tb: 1\n", "t.yaml:2:1");
    refuse("a: 1\na: 2\n", "t.yaml:2:1: error: key 'a' is given twice (first in line 1)");
    refuse("a: 1\n---\nb: 2\n", "second document");
    refuse("a: !!python/object:os.system {}\n", "tags");
    refuse("a: *nowhere\n", "alias");
    refuse("a: &x [*x]\n", "alias");
    refuse("[a, b]: 1\n", "key must be a single word");
    refuse("a: 'b\n", "error");
    refuse("a: b: c\n", "t.yaml:1:5");
    refuse("a: \"x\\0y\"\n", "zero character");
    refuse_bytes("a: \xFF\xFE\n", 6, "UTF-8");
    refuse_bytes("a: b\nc: \xC3(\n", 11, "t.yaml:2");
}

static void test_depth_is_limited(void **state)
{
    (void)state;
    char text[4096];
    memset(text, '[', 2000);
    text[2000] = 0;
    refuse(text, "nested too deeply");
    size_t n = 0;
    for (int i = 0; i < 70; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s{a: ", i ? "" : "k: ");
    refuse(text, "nested too deeply");
}

static void test_growth_by_aliases_is_limited(void **state)
{
    (void)state;
    char text[2048];
    size_t n = (size_t)snprintf(text, sizeof text, "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n");
    for (int i = 1; i < 10; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i,
                              i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1,
                              i - 1);
    refuse(text, "aliases expand");
}

static void test_missing_file_is_told(void **state)
{
    (void)state;
    struct fit_yaml_doc *doc;
    struct fit_error err;
    assert_int_equal(fit_yaml_parse_file("/nowhere/at/all.yaml", &doc, &err), FIT_ERR_IO);
    assert_non_null(strstr(err.message, "/nowhere/at/all.yaml"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes_know_their_place),
        cmocka_unit_test(test_json_is_yaml),
        cmocka_unit_test(test_empty_text_is_an_empty_map),
        cmocka_unit_test(test_aliases_and_merge_keys),
        cmocka_unit_test(test_bad_syntax_has_file_line_column),
        cmocka_unit_test(test_depth_is_limited),
        cmocka_unit_test(test_growth_by_aliases_is_limited),
        cmocka_unit_test(test_missing_file_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
