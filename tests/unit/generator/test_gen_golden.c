/* test_gen_golden.c -- messages of the compiler: tests/golden/X.lua must give the text of
 * tests/golden/X.err; those called accuracy_* are also measured, of
 * those called check_* derivatives are tested, of those called rule_* the error of integrals is measured.
 *
 * UPDATE=1 in the environment rewrites the texts; review the difference like code.
 */
#include <dirent.h>
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "generator/judge/check.h"
#include "generator/judge/domain.h"
#include "generator/judge/rule_error.h"
#include "generator/language/dsl.h"
#include "generator/judge/stability.h"

#ifndef FIT_SOURCE_DIR
#define FIT_SOURCE_DIR "."
#endif

/* What the compiler says of a file; "(no message)\n" when it is content.  The caller frees it. */
static char *messages(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    struct hg_arena *a = hg_arena_new();
    struct hg_diag d = {.out = f};
    struct hg_model *m = hg_dsl_load(a, path, &d);
    assert_int_equal(m == NULL, d.errors > 0);
    if (m && strncmp(path, "accuracy_", 9) == 0) {
        struct hg_analysis found = {0};
        int ok = hg_stability(m, &m->variant[0], &found, &d, NULL);
        assert_int_equal(ok, d.errors == 0);
    } else if (m && strncmp(path, "check_", 6) == 0) {
        int ok = hg_check(m, &m->variant[0], 0, &d, f);
        assert_int_equal(ok, d.errors == 0);
    } else if (m && strncmp(path, "rule_", 5) == 0) {
        const struct hg_rule_error *r = hg_rule_error(m, m->variant[0].mean, hg_places_new(m));
        hg_rule_error_warn(r, m, &d);
        hg_rule_error_print(r, "", f);
    } else if (m) {
        hg_domain_check(m, &m->variant[0], &d);
        hg_model_warn_linear(m, &d);
    }
    if (!d.errors && !d.warnings)
        fputs("(no message)\n", f);
    hg_arena_free(a);
    fclose(f);
    return text;
}

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    if (f) {
        size_t n = fread(text, 1, (1 << 16) - 1, f);
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
    fclose(f);
}

/* Leaves out lines that tell how far rounding goes where derivatives are tested. */
static void without_roundings(char *text)
{
    char *to = text;
    for (char *line = text, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        next += *next == '\n';
        const size_t n = (size_t)(next - line);
        const char *agree = strstr(line, " agree ");
        if (!agree || agree >= next) {
            memmove(to, line, n);
            to += n;
        }
    }
    *to = '\0';
}

/* 1 when the messages are as stored, by figures of long doubles of 64 bits: elsewhere roundings are others. */
static int check(const char *name)
{
    char lua[300], err[300];
    snprintf(lua, sizeof lua, "%s.lua", name);
    snprintf(err, sizeof err, "%s.err", name);
    char *seen = messages(lua);
    const char *update = getenv("UPDATE");
    if (update && *update == '1')
        write_text(err, seen);
    char *stored = read_text(err);
    if (LDBL_MANT_DIG != 64) {
        without_roundings(seen);
        without_roundings(stored);
    }
    int same = strcmp(seen, stored) == 0;
    if (!same)
        printf("%s\n--- stored\n%s--- seen\n%s---\n", name, stored, seen);
    free(stored);
    free(seen);
    return same;
}

static int is_model(const struct dirent *e)
{
    size_t n = strlen(e->d_name);
    return n > 4 && strcmp(e->d_name + n - 4, ".lua") == 0;
}

static void test_messages_are_as_stored(void **state)
{
    static const char dir[] = FIT_SOURCE_DIR "/tests/golden";
    struct dirent **entry;
    assert_int_equal(chdir(dir), 0); /* messages have the path that was given */
    int n = scandir(".", &entry, is_model, alphasort), bad = 0;
    (void)state;
    assert_true(n > 50);
    for (int k = 0; k < n; k++) {
        entry[k]->d_name[strlen(entry[k]->d_name) - 4] = '\0';
        bad += !check(entry[k]->d_name);
        free(entry[k]);
    }
    free(entry);
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_messages_are_as_stored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
