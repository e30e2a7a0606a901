/* test_gen_roll.c -- statements that repeat become a loop, with names that are used behind it in arrays; statements in
 * which turns do not fit together, or with little to gain, stay as they are to the last byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "generator/emit/roll.h"

enum { TURNS = 150 };

static char *printed(const struct hg_tree *t)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    hg_tree_print(t, f);
    assert_int_equal(fclose(f), 0);
    return text;
}

/* A kernel of so many peaks.  before: 1 where each peak reads what the one before declared; */
static struct hg_tree *kernel(struct hg_arena *a, int peaks, int before)
{
    struct hg_tree *t = hg_tree_new(a);
    hg_put(t, "/* head */\n");
    hg_open_function(t, "static void", "f", "struct tables w, double *m");
    hg_declare(t, "const double", "z0 = 1.0;");
    for (int k = 0; k < peaks; k++) {
        hg_remark(t, "/* model.lua:%d: z = ... */", k);
        hg_declare(t, "const double", "z%d = w.c%d[0] + x*%s; /* [1] */", k + 1, k, k % 3 ? "2.5" : "0.5");
        hg_do(t, "m[%d] = z%d*w.w%d[0];", 2 * k, before ? k : k + 1, (7 * k) % peaks);
    }
    hg_line(t, "if (x)\n    m[1] = z2;");
    hg_do(t, "m[3] = z%d;", peaks);
    hg_close(t);
    return t;
}

/* The tables c0, w0, c1, w1, ... */
static struct hg_rolls tables(struct hg_arena *a, int peaks)
{
    const char **name = hg_alloc(a, 2 * (size_t)peaks * sizeof *name);
    for (int k = 0; k < 2 * peaks; k++)
        name[k] = hg_format(a, "%c%d", k % 2 ? 'w' : 'c', k / 2);
    return (struct hg_rolls){.table = name, .ntable = 2 * (uint32_t)peaks};
}

static void test_a_loop(void **state)
{
    (void)state;
    struct hg_arena *a = hg_arena_new();
    struct hg_tree *t = kernel(a, TURNS, 0);
    struct hg_rolls all = tables(a, TURNS);
    char *text = printed(t);
    hg_roll(t, &all);
    char *loop = printed(t);
    assert_non_null(strstr(loop, "for (size_t turn = 0; turn < 150; turn++) {\n"));
    assert_non_null(strstr(loop, "    double z1_each_0[150];\n"));
    assert_non_null(strstr(loop, "        const double z1 = w.fit_field[2 * turn][0] + x*numbers_0[turn]; "
                                 "/* [1] */\n"));
    assert_non_null(strstr(loop, "        m[2 * turn] = z1*w.fit_field[places_1[turn]][0];\n"));
    assert_non_null(strstr(loop, "        z1_each_0[turn] = z1;\n    }\n"));
    assert_non_null(strstr(loop, "    if (x)\n        m[1] = z1_each_0[1];\n    m[3] = z1_each_0[149];\n}\n"));
    assert_true(all.by_number);
    assert_int_equal(all.nlist, 2);
    assert_int_equal(all.narray, 1);
    assert_true(strlen(loop) < strlen(text) / 2);
    free(text);
    free(loop);
    hg_arena_free(a);
}

/* A turn that reads a name of another turn is none; a handful of turns saves nothing. */
static void test_as_it_was(void **state)
{
    (void)state;
    for (int before = 0; before < 2; before++) {
        struct hg_arena *a = hg_arena_new();
        struct hg_tree *t = kernel(a, before ? TURNS : 12, before);
        struct hg_rolls all = tables(a, TURNS);
        char *text = printed(t);
        hg_roll(t, &all);
        char *same = printed(t);
        assert_string_equal(same, text);
        assert_false(all.by_number);
        free(text);
        free(same);
        hg_arena_free(a);
    }
}

/* What belongs to an `if` without braces stays there. */
static void test_condition(void **state)
{
    (void)state;
    struct hg_arena *a = hg_arena_new();
    struct hg_tree *t = hg_tree_new(a);
    struct hg_rolls all = {0};
    hg_open_function(t, "static void", "f", "double *m");
    hg_line(t, "if (x)\n    m[0] = a*b + c*d;");
    for (int k = 1; k < TURNS; k++)
        hg_do(t, "m[%d] = a*b + c*d;", k);
    hg_close(t);
    hg_roll(t, &all);
    char *loop = printed(t);
    assert_non_null(strstr(loop, "    if (x)\n        m[0] = a*b + c*d;\n"
                                 "    for (size_t turn = 0; turn < 149; turn++) {\n"
                                 "        m[1 + turn] = a*b + c*d;\n    }\n}\n"));
    free(loop);
    hg_arena_free(a);
}

/* Tables that are not listed have no numbers; those of a pointer and of a structure differ. */
static void test_unknown_tables(void **state)
{
    (void)state;
    struct hg_arena *a = hg_arena_new();
    struct hg_tree *t = hg_tree_new(a);
    struct hg_rolls all = tables(a, 10);
    for (int k = 0; k < TURNS; k++)
        hg_do(t, "m[%d] = a*b + c*d*w%sc%d[0];", k, k % 2 ? "->" : ".", k);
    char *text = printed(t);
    hg_roll(t, &all);
    char *same = printed(t);
    assert_string_equal(same, text);
    free(text);
    free(same);
    hg_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_loop),
        cmocka_unit_test(test_as_it_was),
        cmocka_unit_test(test_condition),
        cmocka_unit_test(test_unknown_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
