/* test_hdf5.c -- HDF5 files read without the HDF5 library: the same values as the library reads, for every
 * way in which it stores them; and files that lead elsewhere, or that are damaged. */
#include "hdf5/h5_writer.h"
#include "hdf5/reader.h"

#include <hdf5.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { SIDE = 23 };

static char file[64], other[64];
static struct fit_error err;
static struct fit_h5 *h;
static int szip_encodes;

static int remove_files(void **state)
{
    (void)state;
    fit_h5_close(h);
    h = NULL;
    remove(file);
    remove(other);
    return 0;
}

/* Kinds of files: version, what stands before the superblock, bytes of addresses and of sizes, messages shared. */
static const struct kind {
    H5F_libver_t low;
    hsize_t user_block;
    size_t wide, wide_size;
    int shared;
} kinds[] = {{H5F_LIBVER_EARLIEST, 0, 8, 8, 0}, {H5F_LIBVER_V18, 1024, 8, 8, 0}, {H5F_LIBVER_LATEST, 0, 8, 8, 0},
             {H5F_LIBVER_LATEST, 0, 8, 8, 1},   {H5F_LIBVER_EARLIEST, 0, 4, 8, 0}, {H5F_LIBVER_EARLIEST, 0, 8, 4, 0},
             {H5F_LIBVER_V18, 512, 4, 4, 0}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static hid_t create(const char *name, const struct kind *k)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), made = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_libver_bounds(access, k->low, H5F_LIBVER_LATEST);
    H5Pset_userblock(made, k->user_block);
    H5Pset_sizes(made, k->wide, k->wide_size);
    if (k->shared) {
        H5Pset_shared_mesg_nindexes(made, 2);
        H5Pset_shared_mesg_index(made, 0, H5O_SHMESG_ALL_FLAG & ~H5O_SHMESG_ATTR_FLAG, 8);
        H5Pset_shared_mesg_index(made, 1, H5O_SHMESG_ATTR_FLAG, 8);
    }
    hid_t f = H5Fcreate(name, H5F_ACC_TRUNC, made, access);
    assert_true(f >= 0);
    H5Pclose(access);
    H5Pclose(made);
    return f;
}

static void open_it(void)
{
    assert_int_equal(fit_h5_open(file, &h, &err), FIT_OK);
}

/* ---- values ---------------------------------------------------------------------------------- */

static hid_t types(size_t k)
{
    const hid_t all[] = {H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_IEEE_F32LE, H5T_IEEE_F32BE,
                         H5T_STD_I8LE,   H5T_STD_U8LE,   H5T_STD_I16BE,  H5T_STD_U16LE,
                         H5T_STD_I32LE,  H5T_STD_U32BE,  H5T_STD_I64LE,  H5T_STD_U64BE};
    return k < sizeof all / sizeof *all ? all[k] : -1;
}

/* How values are stored: extents of a chunk (0: contiguous), filters, what may grow. */
struct form {
    const char *name;
    hsize_t part;
    int gzip, shuffle, sum, early, first_grows, last_grows, grows, limited, half;
    int scale, nbit, szip, late_shuffle, twice; /* read by libhdf5 */
};

static const struct form forms[] = {
    {.name = "contiguous"},
    {.name = "never", .half = 2},
    {.name = "single", .part = SIDE},
    {.name = "single_gzip", .part = SIDE, .gzip = 1},
    {.name = "fixed", .part = 4},
    {.name = "fixed_pages", .part = 1},
    {.name = "fixed_gzip", .part = 5, .gzip = 1, .shuffle = 1},
    {.name = "sum", .part = 5, .sum = 1},
    {.name = "sum_first", .part = 5, .sum = 2, .gzip = 1},
    {.name = "implicit", .part = 7, .early = 1},
    {.name = "first", .part = 2, .first_grows = 1},
    {.name = "first_gzip", .part = 1, .first_grows = 1, .gzip = 1},
    {.name = "last", .part = 2, .last_grows = 1},
    {.name = "tree", .part = 2, .grows = 1},
    {.name = "tree_gzip", .part = 1, .grows = 1, .gzip = 1, .shuffle = 1},
    {.name = "limited", .part = 4, .limited = 1},
    {.name = "half", .part = 4, .half = 1},
    {.name = "half_grows", .part = 2, .half = 1, .first_grows = 1},
    {.name = "scaleoffset", .part = SIDE, .scale = 1},
    {.name = "scaleoffset_gzip", .part = SIDE, .scale = 1, .gzip = 1, .first_grows = 1},
    {.name = "nbit", .part = 5, .nbit = 1},
    {.name = "szip", .part = 8, .szip = 1},
    {.name = "szip_half", .part = 8, .szip = 1, .half = 1, .shuffle = 1},
    {.name = "shuffled_gzip", .part = 5, .gzip = 1, .late_shuffle = 1},
    {.name = "twice", .part = 5, .gzip = 1, .twice = 1},
};

static void write_form(hid_t f, const struct form *m, hid_t type, const char *name)
{
    static double value[SIDE * SIDE];
    const double fill = 5;
    hsize_t dims[2] = {SIDE, SIDE}, most[2] = {SIDE, SIDE}, part[2] = {m->part, m->part};
    hsize_t none[2] = {0, 0}, some[2] = {SIDE / 2, SIDE - 3};
    if (m->first_grows || m->grows)
        most[0] = H5S_UNLIMITED;
    if (m->last_grows || m->grows)
        most[1] = H5S_UNLIMITED;
    if (m->limited)
        most[0] = most[1] = 2 * SIDE + 1;
    hid_t space = H5Screate_simple(2, dims, most), made = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fill_value(made, H5T_NATIVE_DOUBLE, &fill);
    if (m->part)
        H5Pset_chunk(made, 2, part);
    if (m->scale)
        H5Pset_scaleoffset(made, H5Tget_class(type) == H5T_FLOAT ? H5Z_SO_FLOAT_DSCALE : H5Z_SO_INT, 0);
    if (m->nbit)
        H5Pset_nbit(made);
    if (m->sum == 2)
        H5Pset_fletcher32(made);
    if (m->shuffle)
        H5Pset_shuffle(made);
    if (m->gzip)
        H5Pset_deflate(made, 4);
    if (m->late_shuffle)
        H5Pset_filter(made, H5Z_FILTER_SHUFFLE, H5Z_FLAG_MANDATORY, 0, NULL);
    if (m->twice)
        H5Pset_filter(made, H5Z_FILTER_DEFLATE, H5Z_FLAG_MANDATORY, 1, (unsigned[]){1});
    if (m->szip && szip_encodes)
        H5Pset_szip(made, H5_SZIP_NN_OPTION_MASK, 8);
    if (m->sum == 1)
        H5Pset_fletcher32(made);
    if (m->early)
        H5Pset_alloc_time(made, H5D_ALLOC_TIME_EARLY);
    hid_t d = H5Dcreate2(f, name, type, space, H5P_DEFAULT, made, H5P_DEFAULT);
    if (d < 0)
        fail_msg("%s cannot be made", name);
    for (size_t i = 0; i < SIDE * SIDE; i++)
        value[i] = (double)(i * 7 % 113);
    if (m->half == 1)
        H5Sselect_hyperslab(space, H5S_SELECT_SET, none, NULL, some, NULL);
    if (m->half < 2)
        assert_true(H5Dwrite(d, H5T_NATIVE_DOUBLE, m->half ? space : H5S_ALL, m->half ? space : H5S_ALL,
                             H5P_DEFAULT, value) >= 0);
    H5Dclose(d);
    H5Pclose(made);
    H5Sclose(space);
}

static void compare_form(hid_t f, const char *name)
{
    static double value[SIDE * SIDE];
    double *got, block[6];
    size_t n;
    hid_t d = H5Dopen2(f, name, H5P_DEFAULT);
    if (H5Dread(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) < 0)
        fail_msg("%s: not read by libhdf5 itself", name);
    H5Dclose(d);
    if (fit_h5_read_doubles(h, name, &got, &n, &err) != FIT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(n, SIDE * SIDE);
    for (size_t i = 0; i < n; i++)
        if (!(got[i] == value[i])) /* exactly */
            fail_msg("%s: element %zu is %g, not %g", name, i, got[i], value[i]);
    free(got);
    const size_t start[2] = {SIDE - 2, 9}, count[2] = {2, 3};
    assert_int_equal(fit_h5_read_block(h, name, start, count, block, &err), FIT_OK);
    for (size_t k = 0; k < 6; k++)
        assert_true(block[k] == value[(SIDE - 2 + k / 3) * SIDE + 9 + k % 3]);
}

static void test_every_storage_gives_what_the_library_gives(void **state)
{
    (void)state;
    for (size_t v = 0; v < KINDS; v++) {
        hid_t f = create(file, &kinds[v]);
        char name[64];
        for (size_t k = 0; k < sizeof forms / sizeof *forms; k++)
            for (size_t t = 0; types(t) >= 0; t++) {
                snprintf(name, sizeof name, "/%s_%zu", forms[k].name, t);
                write_form(f, &forms[k], types(t), name);
            }
        H5Fflush(f, H5F_SCOPE_GLOBAL);
        H5Fclose(f);
        open_it();
        hid_t access = H5Pcreate(H5P_FILE_ACCESS);
#if H5_VERSION_GE(1, 10, 7)
        H5Pset_file_locking(access, 0, 1); /* as the reader: the same for all who have it open */
#endif
        f = H5Fopen(file, H5F_ACC_RDONLY, access);
        H5Pclose(access);
        for (size_t k = 0; k < sizeof forms / sizeof *forms; k++)
            for (size_t t = 0; types(t) >= 0; t++) {
                snprintf(name, sizeof name, "/%s_%zu", forms[k].name, t);
                compare_form(f, name);
            }
        H5Fclose(f);
        fit_h5_close(h);
        h = NULL;
    }
}

static void put_attributes(hid_t object, size_t n, size_t size)
{
    static double value[4000];
    for (size_t k = 0; k < n; k++) {
        char name[32];
        hsize_t extent = k == 3 ? size : 2;
        hid_t space = H5Screate_simple(1, &extent, NULL);
        snprintf(name, sizeof name, "a%03zu", k);
        value[1] = (double)k;
        hid_t a = H5Acreate2(object, name, H5T_STD_I32BE, space, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(a >= 0 && H5Awrite(a, H5T_NATIVE_DOUBLE, value) >= 0);
        H5Aclose(a);
        H5Sclose(space);
    }
}

static void test_links_and_attributes_of_all_sizes_are_found(void **state)
{
    (void)state;
    const size_t counts[] = {3, 40, 1500};
    char **list, name[64];
    double *value, x;
    size_t n;
    for (size_t v = 0; v < 3 * KINDS; v++) {
        const size_t count = counts[v % 3];
        hid_t f = create(file, &kinds[v / 3]);
        hid_t g = H5Gcreate2(f, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        hid_t scalar = H5Screate(H5S_SCALAR);
        for (size_t k = 0; k < count; k++) {
            snprintf(name, sizeof name, "member_%04zu", k);
            x = (double)k;
            hid_t d = H5Dcreate2(g, name, H5T_IEEE_F64LE, scalar, H5P_DEFAULT, H5P_DEFAULT,
                                 H5P_DEFAULT);
            H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &x);
            H5Dclose(d);
        }
        put_attributes(g, count, kinds[v / 3].low == H5F_LIBVER_LATEST ? 4000 : 50);
        H5Lcreate_soft("../g", g, "no_such", H5P_DEFAULT, H5P_DEFAULT); /* ".." means nothing here */
        H5Lcreate_soft("/g/./member_0002", f, "short", H5P_DEFAULT, H5P_DEFAULT);
        H5Sclose(scalar);
        H5Gclose(g);
        H5Fclose(f);
        open_it();
        assert_int_equal(fit_h5_list(h, "/g", &list, &n, &err), FIT_OK);
        assert_int_equal(n, count + 1);
        snprintf(name, sizeof name, "member_%04zu", count - 1);
        assert_string_equal(list[count - 1], name);
        fit_h5_free_strings(list, n);
        snprintf(name, sizeof name, "/g/member_%04zu", count - 1);
        assert_int_equal(fit_h5_read_scalar(h, name, &x, &err), FIT_OK);
        assert_true(x == (double)(count - 1));
        assert_int_equal(fit_h5_read_scalar(h, "/short", &x, &err), FIT_OK);
        assert_true(x == 2);
        assert_int_equal(fit_h5_kind(h, "/g/no_such"), FIT_H5_NONE);
        assert_int_equal(fit_h5_list_attr(h, "/g", &list, &n, &err), FIT_OK);
        assert_int_equal(n, count);
        fit_h5_free_strings(list, n);
        for (size_t k = 0; k < count; k += count / 3) {
            snprintf(name, sizeof name, "a%03zu", k);
            assert_int_equal(fit_h5_read_attr_doubles(h, "/g", name, &value, &n, &err), FIT_OK);
            assert_true(n >= 2 && value[1] == (double)k);
            free(value);
        }
        fit_h5_close(h);
        h = NULL;
    }
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void refused(const char *path, const char *says)
{
    double *value, one;
    size_t n;
    open_it();
    assert_int_equal(fit_h5_read_doubles(h, path, &value, &n, &err), FIT_ERR_DATA);
    assert_null(value);
    if (!strstr(err.message, says))
        fail_msg("%s", err.message);
    assert_int_equal(fit_h5_read_scalar(h, path, &one, &err), FIT_ERR_DATA);
    fit_h5_close(h);
    h = NULL;
}

static void test_soft_links_in_a_circle_end(void **state)
{
    (void)state;
    hid_t f = create(file, &kinds[2]);
    H5Lcreate_soft("/b", f, "a", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/a", f, "b", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/self/self/self", f, "self", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(f, "/", f, "again", H5P_DEFAULT, H5P_DEFAULT); /* a group that holds itself */
    H5Fclose(f);
    refused("/a", "in a circle");
    refused("/self", "in a circle");
    refused("/again/again/again/b", "in a circle");
}

/* Every byte of the file turned, one after the other: a value, or a message, and nothing else. */
static void test_a_damaged_byte_is_never_more_than_an_error(void **state)
{
    (void)state;
    for (size_t v = 0; v < 6; v += v ? 1 : 2) { /* old, new, with shared messages, ... */
        hid_t f = create(file, &kinds[v]);
        const struct form form = {.part = 12, .gzip = 1, .shuffle = 1};
        write_form(f, &form, H5T_IEEE_F32LE, "/x");
        put_attributes(f, 12, 20);
        H5Fclose(f);
        FILE *s = fopen(file, "r+b");
        assert_non_null(s);
        fseek(s, 0, SEEK_END);
        const long size = ftell(s);
        for (long k = 0; k < size; k++) {
            double *value;
            char **list;
            size_t n;
            fseek(s, k, SEEK_SET);
            const int was = getc(s);
            fseek(s, k, SEEK_SET);
            putc(was ^ (k % 3 == 0 ? 0xff : k % 3 == 1 ? 1 : 0x80), s);
            fflush(s);
            err = (struct fit_error){0};
            if (fit_h5_open(file, &h, &err) == FIT_OK) {
                if (fit_h5_read_doubles(h, "/x", &value, &n, &err) == FIT_OK)
                    assert_true(n <= 1 << 24);
                else
                    assert_true(err.message[0] && err.status != FIT_ERR_MEMORY);
                free(value);
                if (fit_h5_list_attr(h, "/", &list, &n, &err) == FIT_OK)
                    fit_h5_free_strings(list, n);
                fit_h5_close(h);
                h = NULL;
            } else {
                assert_true(err.message[0]);
            }
            fseek(s, k, SEEK_SET);
            putc(was, s);
        }
        fclose(s);
    }
}

static void test_more_values_than_the_file_can_hold_are_refused(void **state)
{
    (void)state;
    const hsize_t dims[2] = {100000, 100000}, part[2] = {1000, 1000};
    hid_t f = create(file, &kinds[0]), space = H5Screate_simple(2, dims, NULL);
    hid_t made = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(made, 2, part);
    H5Dclose(H5Dcreate2(f, "x", H5T_IEEE_F64LE, space, H5P_DEFAULT, made, H5P_DEFAULT));
    H5Pclose(made);
    H5Sclose(space);
    H5Fclose(f);
    refused("/x", "holds too little");
}

static void test_cut_file_is_refused_and_says_so(void **state)
{
    (void)state;
    hid_t f = create(file, &kinds[0]);
    write_form(f, &forms[4], H5T_IEEE_F64LE, "/x");
    H5Fclose(f);
    assert_int_equal(truncate(file, 3000), 0);
    assert_int_equal(fit_h5_open(file, &h, &err), FIT_ERR_IO);
    assert_non_null(strstr(err.message, "truncated"));
    assert_int_equal(fit_h5_open("/dev/null", &h, &err), FIT_ERR_IO);
    assert_non_null(strstr(err.message, "regular"));
    assert_int_equal(fit_h5_open("/", &h, &err), FIT_ERR_IO);
}

/* Chunk k along the first dimension of x and y: the same bytes, packed by the same filters. */
static void same_chunk(hid_t x, hid_t y, hsize_t k)
{
    const hsize_t at[3] = {k, 0, 0};
    hsize_t size[2] = {0};
    uint32_t mask[2] = {0};
    hid_t set[2] = {x, y};
    unsigned char *bytes[2];
    for (int i = 0; i < 2; i++) {
        assert_true(H5Dget_chunk_storage_size(set[i], at, &size[i]) >= 0);
        bytes[i] = malloc(size[i]);
        assert_true(H5Dread_chunk(set[i], H5P_DEFAULT, at, &mask[i], bytes[i]) >= 0);
    }
    assert_int_equal(size[0], size[1]);
    assert_int_equal(mask[0], mask[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
}

/* Values that pack well (k < 2), and those that do not pack at all. */
static void test_packed_chunks_are_those_of_the_library(void **state)
{
    enum { MANY = 40, N = MANY * SIDE * SIDE };
    static double value[N], back[N];
    const size_t dims[3] = {MANY, SIDE, SIDE};
    const hsize_t shape[3] = {MANY, SIDE, SIDE}, part[3] = {1, SIDE, SIDE};
    uint64_t noise = 1;
    (void)state;
    for (size_t k = 0; k < N; k++) {
        noise = noise * 6364136223846793005u + 1442695040888963407u;
        memcpy(&value[k], &noise, sizeof noise);
        if (k < 2 * SIDE * SIDE || !isfinite(value[k]))
            value[k] = (double)(k % 5);
    }
    assert_int_equal(fit_h5_create(file, &h, &err), FIT_OK);
    const struct fit_h5_array a = {.type = FIT_H5_F64, .rank = 3, .dims = dims, .value = value, .deflate = 1};
    assert_int_equal(fit_h5_write(h, "/x", &a, &err), FIT_OK);
    assert_int_equal(fit_h5_finish(h, &err), FIT_OK);
    h = NULL;
    hid_t f = H5Fopen(file, H5F_ACC_RDWR, H5P_DEFAULT), space = H5Screate_simple(3, shape, NULL);
    hid_t made = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(made, 3, part);
    H5Pset_shuffle(made);
    H5Pset_deflate(made, 1);
    hid_t x = H5Dopen2(f, "/x", H5P_DEFAULT),
          y = H5Dcreate2(f, "/y", H5T_IEEE_F64LE, space, H5P_DEFAULT, made, H5P_DEFAULT);
    assert_true(H5Dwrite(y, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0);
    assert_true(H5Fflush(f, H5F_SCOPE_LOCAL) >= 0);
    for (hsize_t k = 0; k < MANY; k++)
        same_chunk(x, y, k);
    assert_true(H5Dread(x, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
    assert_memory_equal(back, value, sizeof value);
    H5Dclose(x);
    H5Dclose(y);
    H5Pclose(made);
    H5Sclose(space);
    H5Fclose(f);
}

int main(void)
{
    unsigned can = 0;
    snprintf(file, sizeof file, "test_hdf5_%ld.h5", (long)getpid());
    snprintf(other, sizeof other, "test_hdf5_other_%ld.h5", (long)getpid());
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    szip_encodes = H5Zget_filter_info(H5Z_FILTER_SZIP, &can) >= 0 && can & H5Z_FILTER_CONFIG_ENCODE_ENABLED;
    if (!szip_encodes)
        printf("szip: not tried, this libhdf5 does not write it\n");
#define TEST(f) cmocka_unit_test_teardown(f, remove_files)
    const struct CMUnitTest tests[] = {
        TEST(test_every_storage_gives_what_the_library_gives),
        TEST(test_links_and_attributes_of_all_sizes_are_found),
        TEST(test_soft_links_in_a_circle_end),
        TEST(test_a_damaged_byte_is_never_more_than_an_error),
        TEST(test_more_values_than_the_file_can_hold_are_refused),
        TEST(test_cut_file_is_refused_and_says_so),
        TEST(test_packed_chunks_are_those_of_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
