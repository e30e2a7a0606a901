/* test_gen_tree.c -- statements in blocks: which definitions are printed, how a function begins. */
#include "generator/emit/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct hg_arena *a;
    struct hg_tree *t;
};

static struct fixture begin(void)
{
    struct hg_arena *a = hg_arena_new();
    return (struct fixture){a, hg_tree_new(a)};
}

static void prints(struct fixture *f, const char *expected)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    hg_tree_trim(f->t);
    hg_tree_print(f->t, out);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
    hg_arena_free(f->a);
}

static void test_definitions_are_printed_where_they_are_used(void **state)
{
    (void)state;
    struct fixture f = begin();
    hg_define(f.t, "a", "int a = 1;\n");
    hg_define(f.t, "b", "int b = a;\n");
    hg_define(f.t, "c", "int c = a;\n");
    hg_put(f.t, "use(b);\n");
    prints(&f, "int a = 1;\nint b = a;\nuse(b);\n");
}

static void test_one_name_of_several_is_enough(void **state)
{
    (void)state;
    struct fixture f = begin();
    hg_define(f.t, "x y", "int x = 1;\nint y = x;\n");
    hg_define(f.t, "u v", "int u = 1, v = 2;\n");
    hg_put(f.t, "use(y);\n");
    prints(&f, "int x = 1;\nint y = x;\nuse(y);\n");
}

static void test_remarks_and_members_are_no_use(void **state)
{
    (void)state;
    struct fixture f = begin();
    hg_define(f.t, "a", "int a = 1;\n");
    hg_define(f.t, "b", "int b = 1;\n");
    hg_define(f.t, "c", "int c = 1;\n");
    hg_put(f.t, "use(w.a, w->b); /* c */\n");
    prints(&f, "use(w.a, w->b); /* c */\n");
}

static void test_an_inner_block_sees_the_outer_one(void **state)
{
    (void)state;
    struct fixture f = begin();
    hg_define(f.t, "n", "int n = 3;\n");
    hg_open(f.t, "for (;;) {");
    hg_open(f.t, "if (p) {");
    hg_put(f.t, "        use(n);\n");
    hg_close(f.t);
    hg_close(f.t);
    prints(&f, "int n = 3;\nfor (;;) {\n    if (p) {\n        use(n);\n    }\n}\n");
}

static void test_a_name_of_an_inner_block_is_another(void **state)
{
    (void)state;
    struct fixture f = begin();
    hg_define(f.t, "n", "int n = 1;\n");
    hg_open(f.t, "{");
    hg_define(f.t, "n", "int n = 2;\n");
    hg_do(f.t, "use(n);");
    hg_close(f.t);
    hg_open(f.t, "{");
    hg_define(f.t, "n", "int n = 3;\n");
    hg_close(f.t);
    prints(&f, "{\n    int n = 2;\n    use(n);\n}\n{\n}\n");
}

static void test_an_outer_name_is_used_behind_an_inner_one(void **state)
{
    (void)state;
    struct fixture f = begin();
    hg_define(f.t, "n", "int n = 1;\n");
    hg_open(f.t, "{");
    hg_define(f.t, "n", "int n = 2;\n");
    hg_do(f.t, "use(n);");
    hg_close(f.t);
    hg_do(f.t, "use(n);");
    prints(&f, "int n = 1;\n{\n    int n = 2;\n    use(n);\n}\nuse(n);\n");
}

/* Blocks are what is opened and closed; braces in texts are none. */
static void test_braces_of_texts_open_no_block(void **state)
{
    (void)state;
    struct fixture f = begin();
    hg_define(f.t, "n", "int n = 1;\n");
    hg_put(f.t, "fit_vd s = {0}; /* not { */\nuse(n); /* { */\n");
    assert_int_equal(f.t->depth, 0);
    prints(&f, "int n = 1;\nfit_vd s = {0}; /* not { */\nuse(n); /* { */\n");
}

static void test_a_function_is_a_block(void **state)
{
    (void)state;
    struct fixture f = begin();
    hg_open_function(f.t, "int", "f", "int n");
    hg_offer(f.t, "const int", "m = n;");
    hg_offer(f.t, "const int", "k = m;");
    hg_open(f.t, "list(n, (int[]){");
    hg_line(f.t, "m,");
    hg_close_with(f.t, "});");
    hg_close_function(f.t);
    prints(&f, "int f(int n)\n{\n    const int m = n;\n    list(n, (int[]){\n        m,\n    });\n}\n\n");
}

static void test_lines_may_come_in_parts(void **state)
{
    (void)state;
    struct fixture f = begin();
    hg_put(f.t, "a");
    hg_put(f.t, " = %d", 1);
    hg_put(f.t, ";\n\n\nb;\n");
    prints(&f, "a = 1;\n\nb;\n");
}

static void test_long_lists_of_parameters_are_broken(void **state)
{
    (void)state;
    struct fixture f = begin();
    hg_open_function(f.t, "static void", "a_function_of_many_parameters",
                     "const double *first_of_them, const double *second_of_them, const double *third_of_them");
    hg_close(f.t);
    prints(&f, "static void a_function_of_many_parameters(const double *first_of_them, const double *second_of_them,\n"
               "                                          const double *third_of_them)\n{\n}\n");
}

static void test_a_tree_in_a_tree_keeps_its_definitions(void **state)
{
    (void)state;
    struct fixture f = begin();
    struct hg_tree *part = hg_tree_part(f.t, 0);
    hg_define(part, "a", "int a;\n");
    hg_define(part, "b", "int b;\n");
    hg_put_tree(f.t, part);
    hg_put(f.t, "use(b);\n");
    prints(&f, "int b;\nuse(b);\n");
}

static void test_statements_stand_at_the_depth_of_their_block(void **state)
{
    (void)state;
    struct fixture f = begin();
    hg_open(f.t, "for (int k = 0; k < %d; k++) {", 3);
    hg_offer(f.t, "const int", "a = k; /* { */");
    hg_offer(f.t, "const int", "b = a;");
    hg_declare(f.t, "double *", "p = x + k;");
    hg_define(f.t, "u v", "int u = 1;\nif (k)\n    u = 2;\n");
    hg_remark(f.t, "/* why */");
    hg_line(f.t, "if (w.b > u)\n    continue;");
    hg_do(f.t, "*p = a;");
    hg_close(f.t);
    assert_int_equal(f.t->depth, 0);
    prints(&f, "for (int k = 0; k < 3; k++) {\n    const int a = k; /* { */\n    double *p = x + k;\n    int u = 1;\n"
               "    if (k)\n        u = 2;\n    /* why */\n    if (w.b > u)\n        continue;\n    *p = a;\n}\n");
}

static void test_long_statements_are_broken(void **state)
{
    (void)state;
    struct fixture f = begin();
    hg_open(f.t, "if (x) {");
    hg_do(f.t, "the_sum_of_so_many = the_first_of_the_terms + the_second_of_the_terms + the_third_of_the_terms "
               "+ the_last_term;");
    hg_whole(f.t, "a_call_of_many(the_first_of_its_arguments, the_second_of_its_arguments, the_third_of_its_arguments, "
                  "1);");
    hg_close(f.t);
    prints(&f, "if (x) {\n"
               "    the_sum_of_so_many = the_first_of_the_terms + the_second_of_the_terms + the_third_of_the_terms\n"
               "            + the_last_term;\n"
               "    a_call_of_many(the_first_of_its_arguments, the_second_of_its_arguments, "
               "the_third_of_its_arguments, 1);\n"
               "}\n");
}

/* Each statement is split once: what its words are. */
static void test_words(void **state)
{
    (void)state;
    struct fixture f = begin();
    hg_declare(f.t, "const fit_vd", "z3 = w->c[12]*t.y - fit_vexp(1.5e-3, n) + x[k]; /* no word */");
    const struct hg_statement *s = &f.t->statement[0];
    static const struct {
        const char *text;
        enum hg_token_kind kind;
    } expected[] = {
        {"const", HG_TOKEN_WORD}, {"fit_vd", HG_TOKEN_WORD}, {"z3", HG_TOKEN_NAME},       {"=", HG_TOKEN_MARK},
        {"w->c", HG_TOKEN_TABLE}, {"[", HG_TOKEN_MARK},      {"12", HG_TOKEN_SUBSCRIPT},  {"]", HG_TOKEN_MARK},
        {"*", HG_TOKEN_MARK},     {"t", HG_TOKEN_NAME},      {".", HG_TOKEN_MARK},        {"y", HG_TOKEN_MEMBER},
        {"-", HG_TOKEN_MARK},     {"fit_vexp", HG_TOKEN_WORD}, {"(", HG_TOKEN_MARK},      {"1.5e-3", HG_TOKEN_NUMBER},
        {",", HG_TOKEN_MARK},     {"n", HG_TOKEN_NAME},      {")", HG_TOKEN_MARK},        {"+", HG_TOKEN_MARK},
        {"x", HG_TOKEN_NAME},     {"[", HG_TOKEN_MARK},      {"k", HG_TOKEN_NAME},        {"]", HG_TOKEN_MARK},
        {";", HG_TOKEN_MARK}};
    assert_int_equal(s->kind, HG_DECLARATION);
    assert_int_equal(s->name - s->token, 2);
    assert_int_equal(s->ntoken, sizeof expected / sizeof *expected);
    for (uint32_t k = 0; k < s->ntoken; k++) {
        assert_int_equal(s->token[k].kind, expected[k].kind);
        assert_int_equal(s->token[k].spelling->size, strlen(expected[k].text));
        assert_memory_equal(s->token[k].spelling->text, expected[k].text, strlen(expected[k].text));
    }
    assert_ptr_equal(s->token[5].spelling, s->token[21].spelling);
    hg_arena_free(f.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definitions_are_printed_where_they_are_used),
        cmocka_unit_test(test_one_name_of_several_is_enough),
        cmocka_unit_test(test_remarks_and_members_are_no_use),
        cmocka_unit_test(test_an_inner_block_sees_the_outer_one),
        cmocka_unit_test(test_a_name_of_an_inner_block_is_another),
        cmocka_unit_test(test_an_outer_name_is_used_behind_an_inner_one),
        cmocka_unit_test(test_braces_of_texts_open_no_block),
        cmocka_unit_test(test_a_function_is_a_block),
        cmocka_unit_test(test_lines_may_come_in_parts),
        cmocka_unit_test(test_long_lists_of_parameters_are_broken),
        cmocka_unit_test(test_a_tree_in_a_tree_keeps_its_definitions),
        cmocka_unit_test(test_statements_stand_at_the_depth_of_their_block),
        cmocka_unit_test(test_long_statements_are_broken),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
