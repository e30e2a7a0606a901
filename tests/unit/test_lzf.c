/* test_lzf.c -- the LZF decoder, alone and as a filter of HDF5; and the HDF5 helpers, round and
 * round. */
#include "hdf5/h5_writer.h"
#include "hdf5/reader.h"
#include "hdf5/lzf.h"

#include <hdf5.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char file[64];

/* A plain encoder: the longest match of the last 8192 bytes, else a literal. */
static size_t encode(const unsigned char *in, size_t n, unsigned char *out)
{
    size_t o = 0, lit = 0;
    for (size_t i = 0; i < n;) {
        size_t best = 0, where = 0;
        for (size_t d = 1; d <= i && d <= 8192; d++) {
            size_t l = 0;
            while (i + l < n && l < 264 && in[i + l] == in[i + l - d])
                l++;
            if (l > best) {
                best = l;
                where = d;
            }
        }
        if (best >= 3) {
            size_t l = best - 2, d = where - 1;
            lit = 0;
            out[o++] = (unsigned char)((l < 7 ? l : 7) << 5 | d >> 8);
            if (l >= 7)
                out[o++] = (unsigned char)(l - 7);
            out[o++] = (unsigned char)d;
            i += best;
        } else {
            if (!lit)
                out[o++] = 0;
            out[o++] = in[i++];
            out[o - lit - 2] = (unsigned char)lit;
            lit = lit == 31 ? 0 : lit + 1;
        }
    }
    return o;
}

static enum fit_status write_scalar(struct fit_h5 *h, const char *path, double value)
{
    return fit_h5_write(h, path, &(struct fit_h5_array){.type = FIT_H5_F64, .value = &value}, NULL);
}

static void fill(unsigned char *data, size_t n, unsigned seed)
{
    uint32_t x = seed;
    for (size_t i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        data[i] = (x >> 28) < 11 && i > 5 ? data[i - 1 - (x >> 24) % 5] : (unsigned char)(x >> 20);
    }
}

static void test_what_was_encoded_comes_back(void **state)
{
    (void)state;
    static unsigned char data[5000], packed[11000], back[5000];
    for (unsigned seed = 1; seed < 40; seed++) {
        size_t n = 1 + 127 * seed % sizeof data, written;
        fill(data, n, seed);
        if (seed % 3 == 0)
            memset(data, 7, n); /* runs: matches that overlap themselves */
        size_t m = encode(data, n, packed);
        assert_int_equal(fit_lzf_decode(packed, m, back, n, &written), FIT_LZF_OK);
        assert_int_equal(written, n);
        assert_memory_equal(data, back, n);
        if (n > 1)
            assert_int_equal(fit_lzf_decode(packed, m, back, n - 1, &written), FIT_LZF_FULL);
    }
}

static void test_damaged_streams_are_refused(void **state)
{
    (void)state;
    unsigned char out[64];
    size_t n;
    const unsigned char short_literal[] = {4, 'a', 'b'};
    const unsigned char too_far[] = {0, 'a', 0x20, 1};
    const unsigned char no_distance[] = {0, 'a', 0x20};
    const unsigned char no_length[] = {0, 'a', 0xe0};
    assert_int_equal(fit_lzf_decode(short_literal, 3, out, 64, &n), FIT_LZF_BAD);
    assert_int_equal(fit_lzf_decode(too_far, 4, out, 64, &n), FIT_LZF_BAD);
    assert_int_equal(fit_lzf_decode(no_distance, 3, out, 64, &n), FIT_LZF_BAD);
    assert_int_equal(fit_lzf_decode(no_length, 3, out, 64, &n), FIT_LZF_BAD);
    /* "a" then a match of length 3 at distance 1 */
    const unsigned char run[] = {0, 'a', 0x20, 0};
    assert_int_equal(fit_lzf_decode(run, 4, out, 64, &n), FIT_LZF_OK);
    assert_int_equal(n, 4);
    assert_memory_equal(out, "aaaa", 4);
}

static void test_random_damage_stays_inside_the_buffers(void **state)
{
    (void)state;
    unsigned char data[400], packed[900];
    uint32_t x = 99;
    for (unsigned k = 0; k < 20000; k++) {
        size_t written;
        if (k % 100 == 0)
            fill(data, sizeof data, k + 1);
        size_t m = encode(data, 40 + k % 100, packed);
        for (int c = 0; c < 3; c++) {
            x = x * 1664525u + 1013904223u;
            packed[(x >> 8) % m] = (unsigned char)(x >> 24);
        }
        unsigned char *in = malloc(m), *out = malloc(200); /* exact sizes, for the sanitizer */
        memcpy(in, packed, m);
        if (fit_lzf_decode(in, m, out, 200, &written) == FIT_LZF_OK)
            assert_true(written <= 200);
        free(in);
        free(out);
    }
}

/* Writes one LZF chunk as h5py does and reads it through the library. */
static void lzf_file(int shuffle, unsigned declared, float *value, size_t n)
{
    hsize_t dims[2] = {n, n}, start[2] = {0, 0};
    unsigned param[3] = {4, 261, declared};
    size_t bytes = n * n * sizeof(float);
    unsigned char *raw = malloc(bytes), *packed = malloc(2 * bytes);
    for (size_t i = 0; i < n * n; i++)
        value[i] = (float)(i % 17) / 8;
    memcpy(raw, value, bytes);
    for (size_t i = 0; shuffle && i < n * n; i++)
        for (size_t b = 0; b < 4; b++)
            raw[b * n * n + i] = ((unsigned char *)value)[4 * i + b];
    size_t m = encode(raw, bytes, packed);
    if (H5Zfilter_avail(32000) > 0)
        H5Zunregister(32000); /* ours cannot encode: without it HDF5 accepts any optional filter */
    hid_t f = H5Fcreate(file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(2, dims, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 2, dims);
    if (shuffle)
        H5Pset_shuffle(list);
    H5Pset_filter(list, 32000, H5Z_FLAG_OPTIONAL, 3, param);
    hid_t d = H5Dcreate2(f, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(d >= 0);
    assert_true(H5Dwrite_chunk(d, H5P_DEFAULT, 0, start, m, packed) >= 0);
    H5Dclose(d);
    H5Pclose(list);
    H5Sclose(space);
    H5Fclose(f);
    free(raw);
    free(packed);
}

static void test_filter_reads_chunks_of_hdf5(void **state)
{
    (void)state;
    enum { N = 20 };
    float value[N * N];
    double got[N * N];
    struct fit_h5 *h;
    struct fit_error err;
    for (int shuffle = 0; shuffle < 2; shuffle++)
        for (int known = 0; known < 2; known++) {
            lzf_file(shuffle, known ? sizeof value : 0, value, N);
            assert_int_equal(fit_h5_open(file, &h, &err), FIT_OK);
            assert_int_equal(fit_h5_read_into(h, "/x", got, N * N, &err), FIT_OK);
            for (size_t i = 0; i < N * N; i++)
                assert_true(got[i] == (double)value[i]);
            fit_h5_close(h);
        }
    lzf_file(0, 77, value, N); /* what the filter's parameters say about the size does not count */
    assert_int_equal(fit_h5_open(file, &h, &err), FIT_OK);
    assert_int_equal(fit_h5_read_into(h, "/x", got, N * N, &err), FIT_OK);
    assert_true(got[N * N - 1] == (double)value[N * N - 1]);
    fit_h5_close(h);
}

/* A file with an array of each kind; big: the values of /a/b/big. */
static void write_kinds(double big[2400])
{
    struct fit_h5 *h;
    struct fit_error err;
    size_t dims[3] = {2, 30, 40};
    const float small[2] = {1.5f, -2};
    const int64_t count[3] = {1, -2, 3};
    const unsigned char flag = 1;
    const char *const names[] = {"q", "phi", "\xc3\x85"};
    for (size_t i = 0; i < 2400; i++)
        big[i] = (double)i / 7;
    assert_int_equal(fit_h5_create(file, &h, &err), FIT_OK);
    assert_int_equal(
        fit_h5_write(h, "/a/b/big", &(struct fit_h5_array){FIT_H5_F64, 3, dims, big, 4}, &err),
        FIT_OK);
    assert_int_equal(fit_h5_write(h, "/a/small",
                                  &(struct fit_h5_array){FIT_H5_F32, 1, (size_t[]){2}, small, 0},
                                  &err),
                     FIT_OK);
    assert_int_equal(fit_h5_write(h, "/a/count",
                                  &(struct fit_h5_array){FIT_H5_I64, 1, (size_t[]){3}, count, 0},
                                  &err),
                     FIT_OK);
    assert_int_equal(
        fit_h5_write(h, "/a/flag", &(struct fit_h5_array){FIT_H5_BOOL, 0, NULL, &flag, 0}, &err),
        FIT_OK);
    assert_int_equal(write_scalar(h, "/one", 0.25), FIT_OK);
    assert_int_equal(write_scalar(h, "/one", 0.5), FIT_ERR_IO); /* exists */
    assert_int_equal(fit_h5_write_doubles(h, "/t", big, 40, &err), FIT_OK);
    assert_int_equal(fit_h5_write_strings(h, "/names", names, 3, &err), FIT_OK);
    assert_int_equal(fit_h5_write_string(h, "/title", "", &err), FIT_OK);
    assert_int_equal(fit_h5_write_attr_string(h, "/", "creator", "test", &err), FIT_OK);
    assert_int_equal(fit_h5_write_attr_strings(h, "/t", "axes", names, 2, &err), FIT_OK);
    assert_int_equal(fit_h5_make_scale(h, "/t", "t", 3, &err), FIT_OK);
    assert_int_equal(fit_h5_attach_scale(h, "/a/b/big", 2, "/t", &err), FIT_OK);
    assert_int_equal(fit_h5_finish(h, &err), FIT_OK);
}

static void test_arrays_come_back(void **state)
{
    (void)state;
    struct fit_h5 *h;
    struct fit_error err;
    size_t n, shape[FIT_H5_RANK];
    static double big[2400];
    double *v, one;
    int rank;
    write_kinds(big);
    assert_int_equal(fit_h5_is_hdf5(file), 1);
    assert_int_equal(fit_h5_open(file, &h, &err), FIT_OK);
    assert_int_equal(fit_h5_shape(h, "/a/b/big", &rank, shape, &err), FIT_OK);
    assert_int_equal(rank, 3);
    assert_int_equal(shape[1], 30);
    assert_int_equal(fit_h5_read_doubles(h, "/a/b/big", &v, &n, &err), FIT_OK);
    assert_int_equal(n, 2400);
    assert_memory_equal(v, big, sizeof big);
    free(v);
    const size_t start[3] = {1, 2, 3}, size[3] = {1, 2, 2};
    double block[4];
    assert_int_equal(fit_h5_read_block(h, "/a/b/big", start, size, block, &err), FIT_OK);
    assert_true(block[0] == big[1200 + 80 + 3] && block[3] == big[1200 + 120 + 4]);
    const size_t beyond[3] = {1, 29, 3};
    assert_int_equal(fit_h5_read_block(h, "/a/b/big", beyond, size, block, &err), FIT_ERR_DATA);
    assert_int_equal(fit_h5_read_doubles(h, "/a/small", &v, &n, &err), FIT_OK);
    assert_true(n == 2 && v[0] == 1.5 && v[1] == -2);
    free(v);
    assert_int_equal(fit_h5_read_doubles(h, "/a/count", &v, &n, &err), FIT_OK);
    assert_true(n == 3 && v[1] == -2);
    free(v);
    assert_int_equal(fit_h5_read_scalar(h, "/one", &one, &err), FIT_OK);
    assert_true(one == 0.25);
    assert_int_equal(fit_h5_read_scalar(h, "/a/b/big", &one, &err), FIT_OK);
    assert_true(one == 0);
    fit_h5_close(h);
}

static void test_strings_attributes_and_names_come_back(void **state)
{
    (void)state;
    struct fit_h5 *h;
    struct fit_error err;
    size_t n;
    static double big[2400];
    double *v, one;
    char **list, *text;
    write_kinds(big);
    assert_int_equal(fit_h5_open(file, &h, &err), FIT_OK);
    assert_int_equal(fit_h5_read_strings(h, "/names", &list, &n, &err), FIT_OK);
    assert_int_equal(n, 3);
    assert_string_equal(list[2], "\xc3\x85");
    fit_h5_free_strings(list, n);
    assert_int_equal(fit_h5_read_string(h, "/title", &text, &err), FIT_OK);
    assert_string_equal(text, "");
    free(text);
    assert_int_equal(fit_h5_read_attr_string(h, "/", "creator", &text, &err), FIT_OK);
    assert_string_equal(text, "test");
    free(text);
    assert_int_equal(fit_h5_read_attr_doubles(h, "/t", "_Netcdf4Dimid", &v, &n, &err), FIT_OK);
    assert_true(n == 1 && v[0] == 3);
    free(v);
    assert_int_equal(fit_h5_list(h, "/a", &list, &n, &err), FIT_OK);
    assert_int_equal(n, 4);
    assert_string_equal(list[0], "b");
    fit_h5_free_strings(list, n);
    assert_int_equal(fit_h5_kind(h, "/a/flag"), FIT_H5_OTHER);
    assert_int_equal(fit_h5_kind(h, "/a"), FIT_H5_GROUP);
    assert_int_equal(fit_h5_kind(h, "/nothing/here"), FIT_H5_NONE);
    assert_int_equal(fit_h5_read_scalar(h, "/nothing/here", &one, &err), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "no dataset /nothing/here"));
    assert_int_equal(fit_h5_read_scalar(h, "/names", &one, &err), FIT_ERR_DATA);
    assert_int_equal(fit_h5_read_string(h, "/one", &text, &err), FIT_ERR_DATA);
    fit_h5_close(h);
}

static void test_fixed_strings_lose_their_padding(void **state)
{
    (void)state;
    struct fit_h5 *h;
    struct fit_error err;
    char **list;
    size_t n;
    const char spaces[2][6] = {{'q', ' ', ' ', ' ', ' ', ' '}, {'p', 'h', 'i', ' ', ' ', ' '}};
    hsize_t dims[1] = {2};
    hid_t f = H5Fcreate(file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
          type = H5Tcopy(H5T_FORTRAN_S1);
    H5Tset_size(type, 6);
    hid_t space = H5Screate_simple(1, dims, NULL);
    hid_t d = H5Dcreate2(f, "names", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, spaces);
    H5Dclose(d);
    H5Sclose(space);
    H5Tclose(type);
    H5Fclose(f);
    assert_int_equal(fit_h5_open(file, &h, &err), FIT_OK);
    assert_int_equal(fit_h5_read_strings(h, "/names", &list, &n, &err), FIT_OK);
    assert_int_equal(n, 2);
    assert_string_equal(list[0], "q");
    assert_string_equal(list[1], "phi");
    fit_h5_free_strings(list, n);
    fit_h5_close(h);
}

static void test_truncated_file_is_an_error(void **state)
{
    (void)state;
    struct fit_h5 *h;
    struct fit_error err;
    static double value[10000];
    assert_int_equal(fit_h5_create(file, &h, &err), FIT_OK);
    assert_int_equal(fit_h5_write_doubles(h, "/x", value, 10000, &err), FIT_OK);
    assert_int_equal(fit_h5_finish(h, &err), FIT_OK);
    assert_int_equal(truncate(file, 40000), 0);
    assert_int_equal(fit_h5_open(file, &h, &err), FIT_ERR_IO);
    assert_non_null(strstr(err.message, file));
    assert_null(h);
    assert_int_equal(fit_h5_open("/nonexistent/file.h5", &h, &err), FIT_ERR_IO);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(file, sizeof file, "test_lzf_%ld.h5", (long)getpid());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove(file);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_encoded_comes_back),
        cmocka_unit_test(test_damaged_streams_are_refused),
        cmocka_unit_test(test_random_damage_stays_inside_the_buffers),
        cmocka_unit_test(test_filter_reads_chunks_of_hdf5),
        cmocka_unit_test(test_arrays_come_back),
        cmocka_unit_test(test_strings_attributes_and_names_come_back),
        cmocka_unit_test(test_fixed_strings_lose_their_padding),
        cmocka_unit_test(test_truncated_file_is_an_error),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
