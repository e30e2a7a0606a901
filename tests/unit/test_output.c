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
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/output.h"

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

/* The folder has room, with the name there is too little: no file of a cut name is written. */
static void test_too_long_a_name_in_a_long_folder_is_refused(void **state)
{
    (void)state;
    enum { NAME = 100 };
    char dir[FIT_OUTPUT_PATH] = "", name[2 * NAME];
    size_t n = (size_t)snprintf(dir, sizeof dir, "%s/deep", folder);
    while (n < FIT_OUTPUT_PATH - NAME)
        n += (size_t)snprintf(dir + n, sizeof dir - n, "/%.*s", (int)(FIT_OUTPUT_PATH - NAME - n < 60 ? 4 : 50),
                              "ddddddddddddddddddddddddddddddddddddddddddddddddddd");
    struct fit_error err;
    struct fit_output out;
    assert_int_equal(fit_output_begin(&out, dir, &err), FIT_OK);
    memset(name, 'x', sizeof name);
    const size_t most = FIT_OUTPUT_PATH - 1 - n - 1;
    name[most] = '\0';
    assert_int_equal(fit_output_remove(&out, name, &err), FIT_OK); /* needs no second name */
    assert_int_equal(strlen(out.file[0].final), FIT_OUTPUT_PATH - 1);
    name[most] = 'x';
    for (size_t more = 1; more < 4; more++) {
        const char *path;
        name[most + more] = '\0';
        assert_int_equal(fit_output_remove(&out, name, &err), FIT_ERR_IO);
        assert_non_null(strstr(err.message, "too long"));
        assert_int_equal(fit_output_add(&out, name, &path, &err), FIT_ERR_IO);
        assert_non_null(strstr(err.message, "too long"));
        name[most + more] = 'x';
    }
    assert_int_equal(out.n, 1);
    fit_output_abandon(&out);
    assert_int_equal(entries(dir), 0);
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

/* ---- names, locks, leftovers --------------------------------------------------------------------------------- */

/* A process that writes a file of a set, or holds a folder, until it is killed; it has begun when this returns. */
static pid_t start(void (*work)(const char *), const char *dir)
{
    int fd[2];
    char byte;
    assert_int_equal(pipe(fd), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        close(fd[0]);
        work(dir);
        _exit(write(fd[1], "x", 1) == 1 ? pause() : 1);
    }
    close(fd[1]);
    assert_int_equal(read(fd[0], &byte, 1), 1);
    close(fd[0]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void write_part(const char *dir)
{
    struct fit_output out;
    struct fit_error err;
    if (fit_output_begin(&out, dir, &err) != FIT_OK || fit_output_add_text(&out, "fit.json", "{", 1, &err) != FIT_OK)
        _exit(1);
}

static void hold(const char *dir)
{
    struct fit_lock lock;
    struct fit_error err;
    if (fit_lock_take(&lock, dir, "holder", "0123456789abcdef", &err) != FIT_OK)
        _exit(1);
}

static void test_temporary_names_are_never_the_same(void **state)
{
    (void)state;
    struct fit_output a, b; /* of one process: the same number */
    struct fit_error err;
    const char *one, *two;
    char dir[256];
    snprintf(dir, sizeof dir, "%s/same", folder);
    assert_int_equal(fit_output_begin(&a, dir, &err), FIT_OK);
    assert_int_equal(fit_output_begin(&b, dir, &err), FIT_OK);
    assert_int_equal(fit_output_add(&a, "fit.json", &one, &err), FIT_OK);
    assert_int_equal(fit_output_add(&b, "fit.json", &two, &err), FIT_OK);
    assert_string_not_equal(one, two);
    assert_int_equal(access(one, F_OK), 0);
    fit_output_abandon(&a);
    assert_int_equal(access(two, F_OK), 0);
    fit_output_abandon(&b);
    assert_int_equal(entries(dir), 0);
}

static void test_only_what_a_dead_process_left_is_removed(void **state)
{
    (void)state;
    char dir[256], text[300];
    struct fit_error err;
    snprintf(dir, sizeof dir, "%s/left", folder);
    const pid_t live = start(write_part, dir), dead = start(write_part, dir);
    assert_int_equal(entries(dir), 2);
    end(dead);
    snprintf(text, sizeof text, "%s/r.txt", dir);
    assert_int_equal(fit_output_write(text, "x", 1, &err), FIT_OK);
    assert_int_equal(entries(dir), 2); /* r.txt and that of the living */
    end(live);
    assert_int_equal(fit_output_write(text, "x", 1, &err), FIT_OK);
    assert_int_equal(entries(dir), 1);
}

static void test_a_folder_has_one_run_at_a_time(void **state)
{
    (void)state;
    char dir[256];
    struct fit_lock lock = FIT_LOCK_NONE;
    struct fit_error err;
    fit_lock_release(&lock);
    snprintf(dir, sizeof dir, "%s/x/held", folder);
    assert_false(fit_lock_is_held(dir));
    const pid_t holder = start(hold, dir);
    assert_true(fit_lock_is_held(dir));
    assert_int_equal(fit_lock_take(&lock, dir, "second", "", &err), FIT_ERR_IO);
    char who[64];
    snprintf(who, sizeof who, "holder, process %ld on host ", (long)holder);
    assert_non_null(strstr(err.message, who));
    assert_non_null(strstr(err.message, "run 0123456789abcdef"));
    struct fit_lock table, other; /* apart from the run */
    assert_int_equal(fit_lock_wait(&table, dir, "second", 0.05, &err), FIT_OK);
    assert_int_equal(fit_lock_wait(&other, dir, "third", 0.05, &err), FIT_ERR_IO);
    assert_non_null(strstr(err.message, "second, process "));
    fit_lock_release(&table);
    end(holder); /* its file is there, and does not count */
    assert_false(fit_lock_is_held(dir));
    assert_int_equal(fit_lock_take(&lock, dir, "second", "", &err), FIT_OK);
    assert_true(fit_lock_is_held(dir));
    fit_lock_release(&lock);
    assert_int_equal(entries(dir), 0);
}

/* Eight processes that write by turns into one folder and look at its lock all the time: each gets its turns. */
static void take_turns(const char *dir)
{
    struct fit_lock lock;
    struct fit_error err;
    for (int k = 0; k < 40; k++) {
        for (int look = 0; look < 20; look++)
            fit_lock_is_held(dir);
        if (fit_lock_wait(&lock, dir, "turn", 60, &err) != FIT_OK)
            _exit(1);
        fit_lock_release(&lock);
    }
}

static void test_everybody_gets_a_turn(void **state)
{
    (void)state;
    char dir[256];
    pid_t pid[8];
    int status;
    snprintf(dir, sizeof dir, "%s/turns/a/b", folder);
    for (size_t k = 0; k < 8; k++) /* each makes the folders, and takes them away */
        if ((pid[k] = fork()) == 0) {
            take_turns(dir);
            _exit(0);
        }
    for (size_t k = 0; k < 8; k++) {
        assert_int_equal(waitpid(pid[k], &status, 0), pid[k]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    assert_true(entries(dir) <= 0); /* it has gone, or is empty */
}

static void test_a_folder_made_for_nothing_goes(void **state)
{
    (void)state;
    char dir[300], above[256];
    struct fit_lock lock;
    struct fit_error err;
    snprintf(above, sizeof above, "%s/n", folder);
    snprintf(dir, sizeof dir, "%s/m/o", above);
    assert_int_equal(mkdir(above, 0777), 0);
    assert_int_equal(fit_lock_take(&lock, dir, "test", "", &err), FIT_OK);
    assert_int_equal(access(dir, F_OK), 0);
    fit_lock_release(&lock);
    assert_int_equal(entries(above), 0); /* but not what was there before */
    assert_int_equal(fit_lock_take(&lock, above, "test", "", &err), FIT_OK);
    fit_lock_release(&lock);
    assert_int_equal(access(above, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_visible_before_commit),
        cmocka_unit_test(test_abandon_keeps_the_former_file),
        cmocka_unit_test(test_a_missing_temporary_fails_and_leaves_nothing),
        cmocka_unit_test(test_a_file_in_the_way_is_an_error_that_names_it),
        cmocka_unit_test(test_too_long_a_path_is_refused),
        cmocka_unit_test(test_too_long_a_name_in_a_long_folder_is_refused),
        cmocka_unit_test(test_temporary_names_are_never_the_same),
        cmocka_unit_test(test_only_what_a_dead_process_left_is_removed),
        cmocka_unit_test(test_a_folder_has_one_run_at_a_time),
        cmocka_unit_test(test_a_folder_made_for_nothing_goes),
        cmocka_unit_test(test_everybody_gets_a_turn),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
