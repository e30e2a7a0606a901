/* test_mapped.c -- files as memory: the bytes, in small and large pages, from any place of the file on, before and
 * after they are gathered and let go of; a file that is cut reads as zeros and is told. */
#include "mapped.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { MB = 1 << 20 };
static const size_t size = 19 * MB + 777;

static unsigned char byte_at(size_t k)
{
    return (unsigned char)(k * 2654435761u >> 13);
}

static int make_file(char *name)
{
    unsigned char *all = malloc(size);
    int fd = mkstemp(name);
    assert_non_null(all);
    assert_true(fd >= 0);
    for (size_t k = 0; k < size; k++)
        all[k] = byte_at(k);
    assert_int_equal(write(fd, all, size), size);
    assert_int_equal(fsync(fd), 0);
    free(all);
    return fd;
}

static void same_bytes(const struct fit_mapped *m, size_t from, size_t n)
{
    const unsigned char *b = fit_mapped_bytes(m);
    for (size_t k = 0; k < n; k += 331)
        if (b[k] != byte_at(from + k))
            fail_msg("byte %zu of the mapping from %zu on: %d, not %d", k, from, b[k], byte_at(from + k));
    assert_int_equal(b[n - 1], byte_at(from + n - 1));
    assert_false(fit_mapped_lost(m));
}

static void test_bytes(void **state)
{
    static const size_t froms[] = {0, 2048, 4096, 3 * MB + 5};
    char name[] = "/tmp/test_mapped.XXXXXX";
    int fd = make_file(name);
    (void)state;
    for (size_t f = 0; f < sizeof froms / sizeof *froms; f++)
        for (int large = 0; large < 2; large++) {
            size_t n = size - froms[f] - 100;
            struct fit_mapped *m = fit_mapped_new(fd, froms[f], n);
            assert_non_null(m);
            if (large)
                fit_mapped_large(m); /* where the system has none the bytes are the same */
            same_bytes(m, froms[f], n);
            fit_mapped_gather(m, 0, n);
            same_bytes(m, froms[f], n);
            fit_mapped_drop(m, 5 * MB + 1, 6 * MB);
            fit_mapped_fetch(m, 4 * MB + 3, 8 * MB);
            same_bytes(m, froms[f], n);
            fit_mapped_free(m);
        }
    close(fd);
    unlink(name);
}

static void test_cut(void **state)
{
    (void)state;
    for (int large = 0; large < 2; large++) {
        char name[] = "/tmp/test_mapped.XXXXXX";
        int fd = make_file(name);
        struct fit_mapped *m = fit_mapped_new(fd, 2048, size - 2048);
        assert_non_null(m);
        if (large)
            fit_mapped_large(m);
        same_bytes(m, 2048, 3 * MB);
        assert_int_equal(ftruncate(fd, 8 * MB), 0);
        fit_mapped_fetch(m, 6 * MB, 12 * MB); /* may meet what is no more */
        assert_int_equal(fit_mapped_bytes(m)[12 * MB], 0);
        assert_true(fit_mapped_lost(m));
        fit_mapped_free(m);
        close(fd);
        unlink(name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bytes), cmocka_unit_test(test_cut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
