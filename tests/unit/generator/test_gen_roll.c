/* test_gen_roll.c -- statements that repeat become a loop, with names that are used behind it in arrays; text in which
 * turns do not fit together, or with little to gain, stays as it is to the last byte.
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

static char *rolled(const char *text)
{
    char *result = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&result, &size);
    assert_non_null(f);
    hg_roll(text, f);
    assert_int_equal(fclose(f), 0);
    return result;
}

/* A kernel of so many peaks.  before: 1 where each peak reads what the one before declared; */
static char *kernel(int peaks, int before)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    fprintf(f, "/* head */\nstruct tables {\n");
    for (int k = 0; k < peaks; k++)
        fprintf(f, "    double *c%d; /* a { brace */\n    double *w%d;\n", k, k);
    fprintf(f, "};\n\nstatic void f(struct tables w, double *m)\n{\n    const double z0 = 1.0;\n");
    for (int k = 0; k < peaks; k++) {
        fprintf(f, "    /* model.lua:%d: z = ... */\n", k);
        fprintf(f, "    const double z%d = w.c%d[0] + x\n            *%s; /* [1] */\n", k + 1, k,
                k % 3 ? "2.5" : "0.5");
        fprintf(f, "    m[%d] = z%d*w.w%d[0];\n", 2 * k, before ? k : k + 1, (7 * k) % peaks);
    }
    fprintf(f, "    if (x)\n        m[1] = z2;\n    m[3] = z%d;\n}\n", peaks);
    assert_int_equal(fclose(f), 0);
    return text;
}

static void test_a_loop(void **state)
{
    (void)state;
    char *text = kernel(TURNS, 0), *loop = rolled(text);
    assert_non_null(strstr(loop, "for (size_t turn = 0; turn < 150; turn++) {\n"));
    assert_non_null(strstr(loop, "    double z1_each_0[150];\n"));
    assert_non_null(strstr(loop, "        const double z1 = w.fit_field[2 * turn][0] + x\n"
                                 "                *numbers_0[turn];"));
    assert_non_null(strstr(loop, "        m[2 * turn] = z1*w.fit_field[places_1[turn]][0];\n"));
    assert_non_null(strstr(loop, "        z1_each_0[turn] = z1;\n    }\n"));
    assert_non_null(strstr(loop, "        m[1] = z1_each_0[1];\n    m[3] = z1_each_0[149];\n}\n"));
    assert_non_null(strstr(loop, "    double *fit_field[300]; /* the same, by their numbers */\n    };\n};\n"));
    assert_true(strlen(loop) < strlen(text) / 2);
    free(text);
    free(loop);
}

/* A turn that reads a name of another turn is none; a handful of turns saves nothing. */
static void test_as_it_was(void **state)
{
    (void)state;
    for (int before = 0; before < 2; before++) {
        char *text = kernel(before ? TURNS : 12, before), *same = rolled(text);
        assert_string_equal(same, text);
        free(text);
        free(same);
    }
}

/* What belongs to an `if` without braces stays there. */
static void test_condition(void **state)
{
    (void)state;
    char text[40000], *p = text;
    p += sprintf(p, "static void f(double *m)\n{\n    if (x)\n");
    for (int k = 0; k < TURNS; k++)
        p += sprintf(p, "    m[%d] = a*b + c*d;\n", k);
    sprintf(p, "}\n");
    char *loop = rolled(text);
    assert_non_null(strstr(loop, "    if (x)\n    m[0] = a*b + c*d;\n    for (size_t turn = 0; turn < 149; turn++) {\n"
                                 "        m[1 + turn] = a*b + c*d;\n    }\n}\n"));
    free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_loop),
        cmocka_unit_test(test_as_it_was),
        cmocka_unit_test(test_condition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
