/* test_emit_golden.c -- emitted text: golden/emit/X.lua, or models/X.lua for the models of `gallery`, must
 * give golden/emit/X.c, byte by byte, and the compilers that are there must take it without a warning.
 *
 * UPDATE=1 in the environment rewrites the texts; review the difference like code. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/emit_kernel.h"

static const char dir[] = FIT_SOURCE_DIR "/tests/golden/emit", models[] = FIT_SOURCE_DIR "/models";

static const char *const gallery[] = {"ballistic_aging", "cumulant",           "diffusion_q",
                                      "dls_cumulant",    "double_exponential", "kww",
                                      "oscillatory_shear", "sphere"};

static char *emitted(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    struct hg_arena *a = hg_arena_new();
    struct hg_diag d = {.out = stderr};
    struct hg_model *m = hg_dsl_load(a, path, &d);
    if (!m || !emit_kernel(m, 0, &d, f))
        fail_msg("%s is not accepted", path);
    assert_int_equal(d.warnings, 0);
    hg_arena_free(a);
    fclose(f);
    return text;
}

static char *read_text(const char *path)
{
    enum { ROOM = 1 << 20 };
    FILE *f = fopen(path, "r");
    char *text = calloc(1, ROOM);
    assert_non_null(text);
    if (f) {
        size_t n = fread(text, 1, ROOM - 1, f);
        text[n] = '\0';
        fclose(f);
    }
    return text;
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* Prints where two texts differ first. */
static void print_difference(const char *stored, const char *seen)
{
    size_t line = 1, start = 0, k = 0;
    for (; stored[k] && stored[k] == seen[k]; k++)
        if (stored[k] == '\n') {
            line++;
            start = k + 1;
        }
    print_message("line %zu\n  stored: %.*s\n  seen:   %.*s\n", line,
                  (int)strcspn(stored + start, "\n"), stored + start,
                  (int)strcspn(seen + start, "\n"), seen + start);
}

static int is_model(const struct dirent *e)
{
    size_t n = strlen(e->d_name);
    return n > 4 && strcmp(e->d_name + n - 4, ".lua") == 0;
}

/* Calls f for every model; the number of those for which it returned 0. */
static int for_each(int (*f)(const char *lua, const char *c))
{
    struct dirent **entry;
    int n = scandir(dir, &entry, is_model, alphasort), bad = 0;
    assert_true(n >= 4);
    for (int k = 0; k < n; k++) {
        char lua[600], c[600];
        int stem = (int)strlen(entry[k]->d_name) - 4;
        snprintf(lua, sizeof lua, "%s/%s", dir, entry[k]->d_name);
        snprintf(c, sizeof c, "%s/%.*s.c", dir, stem, entry[k]->d_name);
        bad += !f(lua, c);
        free(entry[k]);
    }
    free(entry);
    for (size_t k = 0; k < sizeof gallery / sizeof *gallery; k++) {
        char lua[600], c[600];
        snprintf(lua, sizeof lua, "%s/%s.lua", models, gallery[k]);
        snprintf(c, sizeof c, "%s/%s.c", dir, gallery[k]);
        bad += !f(lua, c);
    }
    return bad;
}

static int same_text(const char *lua, const char *c)
{
    const char *update = getenv("UPDATE");
    char *seen = emitted(lua);
    if (update && *update == '1')
        write_text(c, seen);
    char *stored = read_text(c);
    int same = strcmp(stored, seen) == 0;
    if (!same) {
        print_message("%s differs; UPDATE=1 rewrites it\n", c);
        print_difference(stored, seen);
    }
    free(stored);
    free(seen);
    return same;
}

/* With each compiler that is there. */
static int compiles(const char *lua, const char *c)
{
    static const char *const compiler[] = {HG_GCC, "clang"}, *const target[] = {"", HG_TARGET};
    int ok = 1;
    (void)lua;
    for (size_t k = 0; k < sizeof compiler / sizeof *compiler; k++) {
        char command[2000];
        snprintf(command, sizeof command, "command -v %s >/dev/null", compiler[k]);
        if (system(command) != 0)
            continue;
        snprintf(
            command, sizeof command,
            "%s %s -std=gnu11 -O1 %s -Wall -Wextra -Wconversion -Wshadow -Werror "
            "-DFIT_KERNEL_SYMBOL=golden"
            " -DFIT_KERNEL_ISA='\"native\"' -DFIT_ISA_SUFFIX=_native -I'%s/runtime/include' -c '%s'"
            " -o /dev/null",
            compiler[k], target[k], HG_NATIVE, FIT_SOURCE_DIR, c);
        if (system(command) != 0) {
            print_message("%s\n", command);
            ok = 0;
        }
    }
    return ok;
}

/* No statement without effect, no remark without words, no factor 1. */
static int says_something(const char *lua, const char *c)
{
    static const char *const idle[] = {"(void)", "/*  */", "/* */", " 1.0 * ", "(1.0*", " 1.0*"};
    char *text = emitted(lua);
    int ok = 1;
    (void)c;
    for (size_t k = 0; k < sizeof idle / sizeof *idle; k++)
        if (strstr(text, idle[k])) {
            print_message("the kernel of %s has '%s'\n", lua, idle[k]);
            ok = 0;
        }
    free(text);
    return ok;
}

static void test_emitted_text_says_something(void **state)
{
    (void)state;
    assert_int_equal(for_each(says_something), 0);
}

static void test_emitted_text_is_as_stored(void **state)
{
    (void)state;
    assert_int_equal(for_each(same_text), 0);
}

static void test_emitted_text_compiles_without_warnings(void **state)
{
    (void)state;
    assert_int_equal(for_each(compiles), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_emitted_text_is_as_stored),
        cmocka_unit_test(test_emitted_text_says_something),
        cmocka_unit_test(test_emitted_text_compiles_without_warnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
