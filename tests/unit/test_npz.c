/* test_npz.c -- numpy files: as numpy writes them, by hand with odd headers, and damaged. */
#include "files/npz.h"
#include "files/npz_write.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

static char file[64];
static struct fit_error err;

static void write_file(const void *bytes, size_t n)
{
    FILE *f = fopen(file, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

/* An NPY file in memory; returns its length. */
static size_t npy(unsigned char *to, int version, const char *descr, const char *shape,
                  const void *data, size_t bytes)
{
    char header[256];
    size_t first = version == 1 ? 10 : 12;
    int n = snprintf(header, sizeof header, "{'descr': %s, 'fortran_order': False, 'shape': %s, }",
                     descr, shape);
    size_t length = ((size_t)n + first + 1 + 63) / 64 * 64 - first;
    memcpy(to, "\x93NUMPY", 6);
    to[6] = (unsigned char)version;
    to[7] = 0;
    for (size_t i = 0; i < first - 8; i++)
        to[8 + i] = (unsigned char)(length >> 8 * i);
    memset(to + first, ' ', length);
    memcpy(to + first, header, (size_t)n);
    to[first + length - 1] = '\n';
    memcpy(to + first + length, data, bytes);
    return first + length + bytes;
}

static unsigned char *put(unsigned char *p, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *p++ = (unsigned char)(v >> 8 * i);
    return p;
}

/* A ZIP file with one member x.npy; local sizes as numpy writes them. */
static size_t zip(unsigned char *to, int method, const unsigned char *data, size_t n)
{
    static unsigned char packed[20000];
    size_t m = n;
    memcpy(packed, data, n);
    if (method == 8) {
        z_stream z = {0};
        assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
        z.next_in = (unsigned char *)(uintptr_t)data;
        z.avail_in = (uInt)n;
        z.next_out = packed;
        z.avail_out = sizeof packed;
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        m = z.total_out;
        deflateEnd(&z);
    }
    unsigned char *p = put(to, 0x04034b50, 4);
    p = put(put(put(put(put(p, 45, 2), 0, 2), (uint64_t)method, 2), 0, 4), 0, 4);
    p = put(put(put(put(p, 0xffffffff, 4), 0xffffffff, 4), 5, 2), 20, 2);
    memcpy(p, "x.npy", 5);
    p = put(put(put(put(p + 5, 1, 2), 16, 2), n, 8), m, 8);
    memcpy(p, packed, m);
    unsigned char *central = p + m;
    p = put(put(put(put(central, 0x02014b50, 4), 45, 2), 45, 2), 0, 2);
    p = put(put(put(put(put(p, (uint64_t)method, 2), 0, 4), 0, 4), m, 4), n, 4);
    p = put(put(put(put(put(put(put(p, 5, 2), 0, 2), 0, 2), 0, 2), 0, 2), 0, 4), 0, 4);
    memcpy(p, "x.npy", 5);
    p += 5;
    uint64_t bytes = (uint64_t)(p - central);
    p = put(put(put(put(put(p, 0x06054b50, 4), 0, 2), 0, 2), 1, 2), 1, 2);
    p = put(put(put(p, bytes, 4), (uint64_t)(central - to), 4), 0, 2);
    return (size_t)(p - to);
}

static void test_every_type_of_number(void **state)
{
    (void)state;
    static const struct {
        const char *descr;
        unsigned char bytes[16];
        double first, second;
    } t[] = {
        {"'<f8'", {0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0}, 1.5, -2},
        {"'>f8'", {0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0xc0}, 1.5, -2},
        {"'<f4'", {0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0}, 1.5, -2},
        {"'<f2'", {0, 0x3e, 0, 0xc0}, 1.5, -2},
        {"'<i8'", {1, 0, 0, 0, 0, 0, 0, 0, 254, 255, 255, 255, 255, 255, 255, 255}, 1, -2},
        {"'<i4'", {1, 0, 0, 0, 254, 255, 255, 255}, 1, -2},
        {"'>i2'", {1, 0, 255, 254}, 256, -2},
        {"'|i1'", {1, 254}, 1, -2},
        {"'|u1'", {1, 254}, 1, 254},
        {"'<u2'", {1, 1, 0, 2}, 257, 512},
        {"'|b1'", {1, 0}, 1, 0},
    };
    unsigned char bytes[512];
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        for (int version = 1; version <= 3; version++) {
            struct fit_npz *z;
            double v[2];
            size_t item = (size_t)(t[i].descr[3] - '0');
            write_file(bytes, npy(bytes, version, t[i].descr, "(2,)", t[i].bytes, 2 * item));
            assert_int_equal(fit_npz_is_npy(file), 1);
            assert_int_equal(fit_npz_open(file, &z, &err), FIT_OK);
            assert_int_equal(fit_npz_array(z, 0)->item, item);
            assert_int_equal(fit_npz_read(z, 0, 0, 2, v, &err), FIT_OK);
            assert_true(v[0] == t[i].first && v[1] == t[i].second);
            assert_int_equal(fit_npz_read(z, 0, 1, 2, v, &err), FIT_ERR_DATA);
            fit_npz_close(z);
        }
}

static void test_stored_and_deflated_members_in_any_order_of_reading(void **state)
{
    (void)state;
    enum { N = 1200 };
    static double data[N], got[N];
    static unsigned char array[N * 8 + 200], bytes[N * 8 + 600];
    for (size_t i = 0; i < N; i++)
        data[i] = (double)(i * i % 1001) / 3;
    size_t n = npy(array, 1, "'<f8'", "(12, 10, 10)", data, sizeof data);
    for (int method = 0; method <= 8; method += 8) {
        struct fit_npz *z;
        write_file(bytes, zip(bytes, method, array, n));
        assert_int_equal(fit_npz_is_npz(file), 1);
        assert_int_equal(fit_npz_open(file, &z, &err), FIT_OK);
        int x = fit_npz_find(z, "x");
        const struct fit_npz_array *a = fit_npz_array(z, x);
        assert_true(a && a->rank == 3 && a->dims[0] == 12 && a->dims[2] == 10 && a->n == N);
        for (size_t k = 12; k-- > 0;)
            assert_int_equal(fit_npz_read(z, x, k * 100, 100, got + k * 100, &err), FIT_OK);
        assert_memory_equal(got, data, sizeof data);
        memset(got, 0, sizeof got);
        assert_int_equal(fit_npz_read(z, x, 100, 1000, got, &err), FIT_OK);
        assert_memory_equal(got, data + 100, 8000);
        fit_npz_close(z);
    }
}

static void test_what_cannot_be_read_is_told(void **state)
{
    (void)state;
    static unsigned char array[400], bytes[2000];
    struct fit_npz *z;
    double v[4];
    char *text;
    size_t n = npy(array, 1, "'|O'", "(1,)", "pickle..", 8);
    write_file(array, n);
    assert_int_equal(fit_npz_open(file, &z, &err), FIT_OK);
    assert_int_equal(fit_npz_read(z, 0, 0, 1, v, &err), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "pickled"));
    fit_npz_close(z);
    n = npy(array, 1, "'<c16'", "(1,)", "0123456789abcdef", 16);
    write_file(array, n);
    assert_int_equal(fit_npz_open(file, &z, &err), FIT_OK);
    assert_int_equal(fit_npz_read(z, 0, 0, 1, v, &err), FIT_ERR_DATA);
    fit_npz_close(z);
    n = npy(array, 1, "'<f8'", "(4,)", "0123456789abcdef0123456789abcdef", 32);
    write_file(array, n - 8); /* truncated */
    assert_int_equal(fit_npz_open(file, &z, &err), FIT_OK);
    assert_int_equal(fit_npz_read(z, 0, 0, 4, v, &err), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "complete"));
    assert_int_equal(fit_npz_read_text(z, 0, &text, &err), FIT_ERR_DATA);
    fit_npz_close(z);
    size_t m = zip(bytes, 0, array, n);
    bytes[8] = 14; /* LZMA: in the local header it does not matter ... */
    for (unsigned char *p = bytes; p < bytes + m - 4; p++)
        if (memcmp(p, "PK\1\2", 4) == 0)
            p[10] = 14; /* ... in the directory it does */
    write_file(bytes, m);
    assert_int_equal(fit_npz_open(file, &z, &err), FIT_OK);
    assert_int_equal(fit_npz_read(z, 0, 0, 4, v, &err), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "method 14"));
    fit_npz_close(z);
    m = zip(bytes, 8, array, n);
    for (unsigned char *p = bytes; p < bytes + m - 4; p++)
        if (memcmp(p, "PK\1\2", 4) == 0)
            put(p + 24, 0xfffffff0, 4); /* 4 GB from a few bytes: more than deflate can make of them */
    write_file(bytes, m);
    assert_int_equal(fit_npz_open(file, &z, &err), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "damaged"));
    m = zip(bytes, 0, array, n);
    write_file(bytes, m - 30); /* no directory */
    assert_int_equal(fit_npz_open(file, &z, &err), FIT_ERR_DATA);
    assert_int_equal(fit_npz_open("/nonexistent.npz", &z, &err), FIT_ERR_IO);
}

static void test_text_becomes_utf8(void **state)
{
    (void)state;
    static unsigned char array[400];
    const unsigned char wide[20] = {'q',  0,    0, 0, 0xc5, 0,    0, 0,
                                    0xac, 0x20, 0, 0, 0x00, 0xf6, 1, 0};
    struct fit_npz *z;
    char *text;
    write_file(array, npy(array, 1, "'<U5'", "()", wide, 20));
    assert_int_equal(fit_npz_open(file, &z, &err), FIT_OK);
    assert_int_equal(fit_npz_read_text(z, 0, &text, &err), FIT_OK);
    assert_string_equal(text, "q\xc3\x85\xe2\x82\xac\xf0\x9f\x98\x80");
    free(text);
    fit_npz_close(z);
}

static void test_files_of_numpy(void **state)
{
    (void)state;
    struct fit_npz *z;
    char *text;
    double *v;
    size_t n;
    assert_int_equal(fit_npz_open(FIT_SOURCE_DIR "/tests/data/homodyne.npz", &z, &err), FIT_OK);
    assert_int_equal(fit_npz_count(z), 6);
    assert_int_equal(fit_npz_read_text(z, fit_npz_find(z, "cache_metadata_json"), &text, &err),
                     FIT_OK);
    assert_string_equal(text, "{\"start_frame\": 11, \"end_frame\": 26}");
    free(text);
    assert_int_equal(fit_npz_read_all(z, fit_npz_find(z, "phi_angles_list"), &v, &n, &err), FIT_OK);
    assert_true(n == 3 && v[1] == 45);
    free(v);
    assert_int_equal(fit_npz_find(z, "nothing"), -1);
    fit_npz_close(z);
}

/* Bytes changed at random: every answer is right or an error, and no buffer is left. */
static void test_damaged_files_do_no_harm(void **state)
{
    (void)state;
    static double data[200];
    static unsigned char array[2000], whole[4000], bytes[4000];
    uint32_t x = 2024;
    size_t n = npy(array, 1, "'<f8'", "(2, 10, 10)", data, sizeof data);
    for (int k = 0; k < 6000; k++) {
        size_t m = zip(whole, k % 2 * 8, array, n);
        memcpy(bytes, whole, m);
        for (int c = 0; c < 1 + k % 4; c++) {
            x = x * 1664525u + 1013904223u;
            size_t at = (x >> 8) % m;
            x = x * 1664525u + 1013904223u;
            if (k % 3) /* mostly where the structure is */
                at = at % 3 == 0 ? at % 160 : at % 3 == 1 ? m - 1 - at % 80 : at;
            bytes[at % m] = k % 5 ? (unsigned char)(x >> 24) : 0xff;
        }
        struct fit_npz *z;
        write_file(bytes, k % 7 ? m : (x >> 4) % m);
        if (fit_npz_open(file, &z, &err) != FIT_OK)
            continue;
        for (int i = 0; i < (int)fit_npz_count(z); i++) {
            double *v;
            char *text;
            size_t got;
            if (fit_npz_read_all(z, i, &v, &got, &err) == FIT_OK)
                free(v);
            if (fit_npz_read_text(z, i, &text, &err) == FIT_OK)
                free(text);
        }
        fit_npz_close(z);
    }
}

static int set_up(void **state)
{
    (void)state;
    snprintf(file, sizeof file, "test_npz_%ld.tmp", (long)getpid());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove(file);
    return 0;
}

static void test_what_is_written_is_read_back(void **state)
{
    static const double x[] = {1.5, -0.0, 1e300, 4, 5, 6};
    static const char *const text[] = {"D0", "contrast_12"};
    struct fit_npz_writer w;
    struct fit_npz *z;
    (void)state;
    fit_npz_create(&w, file);
    fit_npz_put(&w, "matrix", 2, (size_t[]){2, 3}, x);
    fit_npz_put(&w, "nothing", 1, (size_t[]){0}, x);
    fit_npz_put(&w, "number", 0, NULL, x);
    fit_npz_put_names(&w, "names", 2, text);
    assert_int_equal(fit_npz_finish(&w, &err), FIT_OK);
    assert_int_equal(fit_npz_open(file, &z, &err), FIT_OK);
    assert_int_equal(fit_npz_count(z), 4);
    int m = fit_npz_find(z, "matrix");
    const struct fit_npz_array *a = fit_npz_array(z, m);
    assert_int_equal(a->rank, 2);
    assert_int_equal(a->dims[0], 2);
    assert_int_equal(a->dims[1], 3);
    double back[6];
    assert_int_equal(fit_npz_read(z, m, 0, 6, back, &err), FIT_OK);
    assert_memory_equal(back, x, sizeof x);
    assert_int_equal(fit_npz_array(z, fit_npz_find(z, "nothing"))->n, 0);
    assert_int_equal(fit_npz_array(z, fit_npz_find(z, "number"))->rank, 0);
    a = fit_npz_array(z, fit_npz_find(z, "names"));
    assert_int_equal(a->kind, 'U');
    assert_int_equal(a->item, 4 * strlen(text[1]));
    char *first;
    assert_int_equal(fit_npz_read_text(z, fit_npz_find(z, "names"), &first, &err), FIT_OK);
    assert_string_equal(first, "D0");
    free(first);
    fit_npz_close(z);

    fit_npz_create(&w, "/nowhere/at/all.npz"); /* errors stick, and are told at the end */
    fit_npz_put(&w, "matrix", 2, (size_t[]){2, 3}, x);
    assert_int_equal(fit_npz_finish(&w, &err), FIT_ERR_IO);
    assert_non_null(strstr(err.message, "/nowhere"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type_of_number),
        cmocka_unit_test(test_stored_and_deflated_members_in_any_order_of_reading),
        cmocka_unit_test(test_what_cannot_be_read_is_told),
        cmocka_unit_test(test_text_becomes_utf8),
        cmocka_unit_test(test_files_of_numpy),
        cmocka_unit_test(test_damaged_files_do_no_harm),
        cmocka_unit_test(test_what_is_written_is_read_back),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
