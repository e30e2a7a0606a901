/* test_output.c -- result files appear whole or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"

static char folder[] = "/tmp/fit-output-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static int entries(const char *path)
{
    int n = 0;
    DIR *d = opendir(path);
    if (!d)
        return -1;
    for (struct dirent *e; (e = readdir(d));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static void read_text(const char *path, char *text, size_t size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(text, 1, size - 1, f);
    text[n] = '\0';
    fclose(f);
}

static void test_nothing_is_visible_before_commit(void **state)
{
    (void)state;
    char dir[256], path[512], text[64];
    struct fit_error err;
    struct fit_output out;
    snprintf(dir, sizeof dir, "%s/a/b/c", folder);
    assert_int_equal(fit_output_begin(&out, dir, &err), FIT_OK);
    assert_int_equal(fit_output_add_text(&out, "one.txt", "uno\n", 4, &err), FIT_OK);
    assert_int_equal(fit_output_add_text(&out, "two.txt", "due\n", 4, &err), FIT_OK);
    snprintf(path, sizeof path, "%s/one.txt", dir);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(fit_output_commit(&out, &err), FIT_OK);
    read_text(path, text, sizeof text);
    assert_string_equal(text, "uno\n");
    assert_int_equal(entries(dir), 2);
}

static void test_abandon_keeps_the_former_file(void **state)
{
    (void)state;
    char dir[256], path[512], text[64];
    struct fit_error err;
    struct fit_output out;
    snprintf(dir, sizeof dir, "%s/keep", folder);
    snprintf(path, sizeof path, "%s/r.txt", dir);
    assert_int_equal(fit_output_write(path, "old", 3, &err), FIT_OK);
    assert_int_equal(fit_output_begin(&out, dir, &err), FIT_OK);
    assert_int_equal(fit_output_add_text(&out, "r.txt", "new", 3, &err), FIT_OK);
    fit_output_abandon(&out);
    read_text(path, text, sizeof text);
    assert_string_equal(text, "old");
    assert_int_equal(entries(dir), 1);
}

static void test_a_missing_temporary_fails_and_leaves_nothing(void **state)
{
    (void)state;
    char dir[256];
    const char *path;
    struct fit_error err;
    struct fit_output out;
    snprintf(dir, sizeof dir, "%s/half", folder);
    assert_int_equal(fit_output_begin(&out, dir, &err), FIT_OK);
    assert_int_equal(fit_output_add_text(&out, "one.txt", "1", 1, &err), FIT_OK);
    assert_int_equal(fit_output_add(&out, "never-written.h5", &path, &err), FIT_OK);
    assert_int_equal(fit_output_commit(&out, &err), FIT_ERR_IO);
    assert_non_null(strstr(err.message, "never-written.h5"));
    assert_int_equal(entries(dir), 0);
}

static void test_a_file_in_the_way_is_an_error_that_names_it(void **state)
{
    (void)state;
    char path[512], below[600];
    struct fit_error err;
    struct fit_output out;
    snprintf(path, sizeof path, "%s/plain", folder);
    assert_int_equal(fit_output_write(path, "x", 1, &err), FIT_OK);
    snprintf(below, sizeof below, "%s/out", path);
    assert_int_equal(fit_output_begin(&out, below, &err), FIT_ERR_IO);
    assert_non_null(strstr(err.message, "plain"));
    assert_int_equal(fit_output_begin(&out, path, &err), FIT_ERR_IO);
}

static void test_too_long_a_path_is_refused(void **state)
{
    (void)state;
    char *path = malloc(3000);
    assert_non_null(path);
    memset(path, 'x', 2999);
    path[2999] = '\0';
    struct fit_error err;
    struct fit_output out;
    const char *temporary;
    assert_int_equal(fit_output_begin(&out, path, &err), FIT_ERR_IO);
    assert_int_equal(fit_output_one(&out, path, &temporary, &err), FIT_ERR_IO);
    path[0] = '/';
    path[1500] = '/';
    assert_int_equal(fit_output_one(&out, path, &temporary, &err), FIT_ERR_IO);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_visible_before_commit),
        cmocka_unit_test(test_abandon_keeps_the_former_file),
        cmocka_unit_test(test_a_missing_temporary_fails_and_leaves_nothing),
        cmocka_unit_test(test_a_file_in_the_way_is_an_error_that_names_it),
        cmocka_unit_test(test_too_long_a_path_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
