/* test_limits.c -- files that say more than they hold: tables and checkpoints whose sizes, counts and nesting are those
 * of no honest file.  They are refused with a message, and what memory the program takes stays near that of the file.
 *
 * Memory is the peak of the resident set (getrusage), which what malloc() promises does not enter, but what is
 * touched does; with sanitizers, which keep more, it is not looked at.
 */
#include "sampler/checkpoint.h"
#include "common/sha256.h"
#include "input/table.h"

#include <hdf5.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
#else
enum { SANITIZED = 0 };
#endif

static char file[64];
static struct fit_error err;

static double peak_mb(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)r.ru_maxrss / 1024;
}

static void write_bytes(const void *bytes, size_t size)
{
    FILE *f = fopen(file, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

/* The table is refused with these words; not more than `most` MB more than before were touched. */
static void refuses(enum fit_status status, const char *words, double most)
{
    struct fit_table *t;
    const double before = peak_mb();
    assert_int_equal(fit_table_read(file, NULL, &t, &err), status);
    assert_null(t);
    if (!strstr(err.message, words))
        fail_msg("'%s' does not tell '%s'", err.message, words);
    if (!SANITIZED && peak_mb() - before > most)
        fail_msg("%s: took %g MB, more than %g", err.message, peak_mb() - before, most);
}

/* ---- text -------------------------------------------------------------------------------------------------- */

static void test_short_lines_below_a_long_one_take_no_table_of_both(void **state)
{
    (void)state;
    enum { WIDE = 4000, LONG = 500000 };
    char *text = malloc(2 * WIDE + 2 * LONG), *at = text;
    for (int c = 0; c < WIDE; c++, at += 2)
        memcpy(at, c + 1 < WIDE ? "1," : "1\n", 2);
    for (int r = 0; r < LONG; r++, at += 2)
        memcpy(at, "1\n", 2);
    write_bytes(text, (size_t)(at - text));
    free(text);
    refuses(FIT_ERR_DATA, ":2: 1 columns; the rows before have 4000", 16);
}

static void test_more_columns_than_a_table_may_have(void **state)
{
    (void)state;
    enum { WIDE = 100000 };
    char *text = malloc(2 * WIDE);
    for (int c = 0; c < WIDE; c++)
        memcpy(text + 2 * c, c + 1 < WIDE ? "1," : "1\n", 2);
    write_bytes(text, 2 * WIDE);
    free(text);
    refuses(FIT_ERR_DATA, "more than 4096 columns", 4);
}

static void test_bytes_that_are_no_text(void **state)
{
    (void)state;
    write_bytes("a b\n1 \0 2\n", 10);
    refuses(FIT_ERR_DATA, ": is neither text", 4);
}

/* Neither is waited for, and no byte is taken. */
static void test_devices_and_pipes_are_no_files(void **state)
{
    (void)state;
    char own[sizeof file];
    memcpy(own, file, sizeof own);
    snprintf(file, sizeof file, "/dev/zero");
    refuses(FIT_ERR_IO, "/dev/zero: is a device, not a file", 4);
    snprintf(file, sizeof file, "%.50s.pipe", own);
    assert_int_equal(mkfifo(file, 0600), 0);
    refuses(FIT_ERR_IO, ".pipe: is a pipe, not a file", 4);
    unlink(file);
    memcpy(file, own, sizeof own);
}

/* ---- numpy ------------------------------------------------------------------------------------------------- */

static size_t put_npy(unsigned char *to, const char *shape)
{
    char head[119];
    int n = snprintf(head, sizeof head, "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }", shape);
    memset(head + n, ' ', sizeof head - (size_t)n);
    head[117] = '\n';
    memcpy(to, "\x93NUMPY\x01\0\x76\0", 10);
    memcpy(to + 10, head, 118);
    return 128;
}

static void test_shapes_of_npy_that_the_file_does_not_hold(void **state)
{
    (void)state;
    static const struct {
        const char *shape, *words;
    } bad[] = {{"(1000000000000, 2)", "ends early"},
               {"(2, 1000000000000)", "ends early"},
               {"(9223372036854775807, 2)", "damaged"},
               {"(18446744073709551615, 18446744073709551615)", "damaged"},
               {"(99999999999999999999999,)", "damaged"},
               {"(1,1,1,1,1,1,1,1,1,1)", "damaged"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        unsigned char bytes[256] = {0};
        put_npy(bytes, bad[k].shape);
        write_bytes(bytes, sizeof bytes);
        refuses(FIT_ERR_DATA, bad[k].words, 4);
    }
}

static void put32(unsigned char **at, uint32_t v, int bytes)
{
    for (int k = 0; k < bytes; k++)
        *(*at)++ = (unsigned char)(v >> (8 * k));
}

/* An npz with one member, deflated to `packed` bytes, that says to expand to `plain`. */
static void write_npz(const unsigned char *data, uint32_t packed, uint32_t plain)
{
    unsigned char *bytes = malloc(packed + 256), *at = bytes;
    static const char name[] = "g2.npy";
    put32(&at, 0x04034b50, 4); /* local header */
    put32(&at, 20, 2);
    put32(&at, 0, 2);
    put32(&at, 8, 2); /* deflate */
    put32(&at, 0, 4);
    put32(&at, 0, 4); /* checksum: not looked at before the end */
    put32(&at, packed, 4);
    put32(&at, plain, 4);
    put32(&at, 6, 2);
    put32(&at, 0, 2);
    memcpy(at, name, 6);
    memcpy(at + 6, data, packed);
    at += 6 + packed;
    const uint32_t central = (uint32_t)(at - bytes);
    put32(&at, 0x02014b50, 4);
    put32(&at, 20, 2);
    put32(&at, 20, 2);
    put32(&at, 0, 2);
    put32(&at, 8, 2);
    put32(&at, 0, 4);
    put32(&at, 0, 4);
    put32(&at, packed, 4);
    put32(&at, plain, 4);
    put32(&at, 6, 2);
    for (int k = 0; k < 4; k++)
        put32(&at, 0, 2);
    put32(&at, 0, 4);
    put32(&at, 0, 4);
    memcpy(at, name, 6);
    at += 6;
    const uint32_t length = (uint32_t)(at - bytes) - central;
    put32(&at, 0x06054b50, 4);
    put32(&at, 0, 4);
    put32(&at, 1, 2);
    put32(&at, 1, 2);
    put32(&at, length, 4);
    put32(&at, central, 4);
    put32(&at, 0, 2);
    write_bytes(bytes, (size_t)(at - bytes));
    free(bytes);
}

static void test_a_member_of_npz_that_says_to_expand_to_gigabytes(void **state)
{
    (void)state;
    unsigned char plain[4096] = {0}, packed[8192];
    uLongf size = 0;
    z_stream z = {0};
    put_npy(plain, "(500000000,)");
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = plain;
    z.avail_in = sizeof plain;
    z.next_out = packed;
    z.avail_out = sizeof packed;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size = z.total_out;
    deflateEnd(&z);
    write_npz(packed, (uint32_t)size, 4000000000u);
    refuses(FIT_ERR_DATA, "", 4);
}

/* ---- HDF5 -------------------------------------------------------------------------------------------------- */

/* A dataset of this shape in chunks of which the file holds none. */
static void put_empty(hid_t f, const char *name, int rank, const hsize_t *dims, const hsize_t *chunk)
{
    hid_t space = H5Screate_simple(rank, dims, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(how, rank, chunk);
    hid_t set = H5Dcreate2(f, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    assert_true(set >= 0);
    H5Dclose(set);
    H5Pclose(how);
    H5Sclose(space);
}

static void test_datasets_of_hdf5_that_the_file_does_not_hold(void **state)
{
    (void)state;
    static const hsize_t lengths[] = {3000000000u, 1000000000000u, 1ull << 62};
    for (int k = 0; k < 3; k++) {
        hid_t f = H5Fcreate(file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        put_empty(f, "delay", 1, &lengths[k], (const hsize_t[]){1 << 20});
        put_empty(f, "g2", 1, &lengths[k], (const hsize_t[]){1 << 20});
        H5Fclose(f);
        refuses(FIT_ERR_DATA, "", 16);
        struct stat s;
        assert_true(stat(file, &s) == 0 && s.st_size < 10000);
    }
}

static void test_hdf5_groups_nested_deeply_are_not_entered(void **state)
{
    (void)state;
    hid_t f = H5Fcreate(file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), g = f;
    for (int k = 0; k < 2000; k++) {
        hid_t next = H5Gcreate2(g, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        if (g != f)
            H5Gclose(g);
        g = next;
    }
    H5Gclose(g);
    H5Lcreate_hard(f, "/", f, "loop", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/soft", f, "soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(f);
    refuses(FIT_ERR_DATA, "no 1-D datasets", 16);
}

/* ---- checkpoints ------------------------------------------------------------------------------------------- */

static const char IDENTITY[] = "data: 5f0c\nmodel: x\n";

static void write_checkpoint(void)
{
    double theta[2] = {1, 2}, lin[3] = {3, 4, 5}, sigma[1] = {6}, mode[2] = {7, 8}, covariance[4] = {1, 0, 0, 1};
    unsigned char state[50];
    memset(state, 'x', sizeof state);
    const struct fit_checkpoint c = {.nparam = 2, .nlin = 3, .ngroup = 1, .ncoordinate = 2, .theta = theta, .lin = lin,
                                     .sigma = sigma, .mode = mode, .covariance = covariance, .seconds = 1.5,
                                     .other_text = "another mode", .state = state, .size = sizeof state};
    if (fit_checkpoint_write(file, IDENTITY, &c, &err) != FIT_OK)
        fail_msg("%s", err.message);
}

static unsigned char *read_bytes(size_t *size)
{
    FILE *f = fopen(file, "rb");
    unsigned char *bytes = malloc(1 << 16);
    assert_non_null(f);
    *size = fread(bytes, 1, 1 << 16, f);
    fclose(f);
    return bytes;
}

static void sum_up(unsigned char *bytes, size_t size)
{
    struct sha256 s;
    sha256_init(&s);
    sha256_update(&s, bytes, size - SHA256_BYTES);
    sha256_final(&s, bytes + size - SHA256_BYTES);
}

static void refuses_checkpoint(enum fit_status status, const char *words)
{
    struct fit_checkpoint c;
    const double before = peak_mb();
    enum fit_status st = fit_checkpoint_read(file, IDENTITY, &c, &err);
    if (st != status || !strstr(err.message, words))
        fail_msg("status %d, not %d: '%s' and not '%s'", (int)st, (int)status, err.message, words);
    assert_true(!c.theta && !c.state && !c.size);
    if (!SANITIZED && peak_mb() - before > 4)
        fail_msg("%s: took %g MB", err.message, peak_mb() - before);
}

static void test_a_checkpoint_is_read_as_it_was_written(void **state)
{
    (void)state;
    struct fit_checkpoint c;
    write_checkpoint();
    if (fit_checkpoint_read(file, IDENTITY, &c, &err) != FIT_OK)
        fail_msg("%s", err.message);
    assert_true(c.nparam == 2 && c.nlin == 3 && c.ngroup == 1 && c.ncoordinate == 2 && c.size == 50);
    assert_true(c.theta[1] == 2 && c.lin[2] == 5 && c.sigma[0] == 6 && c.mode[1] == 8 && c.covariance[3] == 1);
    assert_true(c.seconds == 1.5 && c.state[0] == 'x' && c.state[49] == 'x');
    assert_string_equal(c.other_text, "another mode");
    fit_checkpoint_free(&c);
}

/* The five counts stand behind the empty line; the checksum is made good. */
static void test_counts_of_a_checkpoint_that_lie_are_refused(void **state)
{
    (void)state;
    static const double lies[] = {0, 1, 4, 65537, 1e9, 1e18, 1e300, -1, NAN, INFINITY, 2.5};
    size_t size;
    write_checkpoint();
    unsigned char *bytes = read_bytes(&size);
    unsigned char *first = (unsigned char *)strstr((char *)bytes, "\n\n") + 2;
    for (int k = 0; k < 5; k++)
        for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
            double was;
            memcpy(&was, first + 8 * k, 8);
            if (was == floor(lies[i]))
                continue;
            memcpy(first + 8 * k, &lies[i], 8);
            sum_up(bytes, size);
            write_bytes(bytes, size);
            refuses_checkpoint(FIT_ERR_DATA, "its sizes do not agree");
            memcpy(first + 8 * k, &was, 8);
        }
    free(bytes);
}

static void test_a_checkpoint_cut_anywhere_is_refused(void **state)
{
    (void)state;
    size_t size;
    write_checkpoint();
    unsigned char *bytes = read_bytes(&size);
    for (size_t n = 0; n < size; n++) {
        write_bytes(bytes, n);
        refuses_checkpoint(FIT_ERR_DATA, n < 27 + SHA256_BYTES ? "no checkpoint" : "damaged");
    }
    free(bytes);
}

static void test_checkpoints_of_other_versions_runs_and_sizes_are_refused(void **state)
{
    (void)state;
    size_t size;
    write_checkpoint();
    unsigned char *bytes = read_bytes(&size), *version = (unsigned char *)strchr((char *)bytes, '\n') - 1;
    (*version)--;
    write_bytes(bytes, size);
    refuses_checkpoint(FIT_ERR_DATA, "a checkpoint of version 3 of its format, where this program reads version 4");
    (*version)++;
    memcpy(strstr((char *)bytes, "5f0c"), "5f0d", 4);
    sum_up(bytes, size);
    write_bytes(bytes, size);
    refuses_checkpoint(FIT_ERR_USAGE, "\"data: 5f0d\" there, \"data: 5f0c\" here");
    free(bytes);
    write_checkpoint();
    if (truncate(file, (off_t)1 << 43) == 0) /* a file with a hole of 8 TB */
        refuses_checkpoint(FIT_ERR_MEMORY, "more than the memory that is left");
    else
        print_message("a file of 8 TB cannot be made here\n");
    unlink(file);
    assert_int_equal(mkfifo(file, 0600), 0);
    refuses_checkpoint(FIT_ERR_IO, "no regular file");
}

static int make_name(void **state)
{
    (void)state;
    snprintf(file, sizeof file, "/tmp/test_limits_%ld", (long)getpid());
    return 0;
}

static int remove_file(void **state)
{
    make_name(state);
    unlink(file);
    return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_name, remove_file)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_short_lines_below_a_long_one_take_no_table_of_both),
        TEST(test_more_columns_than_a_table_may_have),
        TEST(test_bytes_that_are_no_text),
        TEST(test_devices_and_pipes_are_no_files),
        TEST(test_shapes_of_npy_that_the_file_does_not_hold),
        TEST(test_a_member_of_npz_that_says_to_expand_to_gigabytes),
        TEST(test_datasets_of_hdf5_that_the_file_does_not_hold),
        TEST(test_hdf5_groups_nested_deeply_are_not_entered),
        TEST(test_a_checkpoint_is_read_as_it_was_written),
        TEST(test_counts_of_a_checkpoint_that_lie_are_refused),
        TEST(test_a_checkpoint_cut_anywhere_is_refused),
        TEST(test_checkpoints_of_other_versions_runs_and_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
