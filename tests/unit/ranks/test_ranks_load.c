/* test_ranks_load.c -- a file whose values ranks share: each holds those of its tiles, and what all of them know of the
 * values is what one process knows, whether rows are read from the file or matrices go from rank to rank. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS of forked_ranks.h */
#include "data/share.h"
#include "input/measurement.h"

#include <hdf5.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "forked_ranks.h"

enum { N = 1200, GROUPS = 3 }; /* more than FIT_DIVIDED_LEAST pairs */
enum { FULL, UPPER, LOWER };

struct form {
    int half, single, holes, packed, blank;
    size_t first; /* of the frames that are used, from 1 */
    int odd;      /* two values of the first matrix are others */
    int whole;    /* every rank holds all values */
};

static char file[64], other_file[64];

static const struct fit_axis axes[] = {{"phi", "deg", ""}};
static const struct fit_setting settings[] = {{"q", "1/angstrom", "", NAN, FIT_STATISTIC_NONE, 0}};
static const struct fit_kernel kernel = {.name = "toy",
                                         .naxis = 1,
                                         .axis = axes,
                                         .nsetting = 1,
                                         .setting = settings,
                                         .intercept = 0,
                                         .table_doubles = 4};

static double value(const struct form *f, size_t g, size_t i, size_t j)
{
    const size_t a = i < j ? i : j, b = i < j ? j : i;
    if ((f->half == UPPER && i > j) || (f->half == LOWER && i < j) || (f->blank && (a == 300 || b == 300)))
        return 0;
    if (f->holes && g == 1 && (a * 7 + b * 3) % 1013 == 0)
        return NAN;
    if (f->odd && g == 0 && ((a == 10 && b == 20) || (a == 1100 && b == 1190)))
        return 1.2345;
    return 1 + 0.3 * exp(-(double)(b - a) / 200) + 0.01 * sin((double)(a * 131 + b * 17 + g * 5));
}

static void write_array(hid_t h, const char *path, int rank, const hsize_t *dims, hid_t type, int packed,
                        const double *v)
{
    hid_t space = H5Screate_simple(rank, dims, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    if (packed) {
        H5Pset_chunk(list, 3, (hsize_t[]){1, 256, 256});
        H5Pset_deflate(list, 1);
    }
    hid_t d = H5Dcreate2(h, path, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(d >= 0);
    assert_true(H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, v) >= 0);
    H5Dclose(d);
    H5Pclose(list);
    H5Sclose(space);
}

static void write_file(const struct form *f, const char *path)
{
    static double v[GROUPS * N * N];
    const double q[GROUPS] = {0.005, 0.005, 0.005}, phi[GROUPS] = {0, 45, 90};
    for (size_t g = 0; g < GROUPS; g++)
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++)
                v[(g * N + i) * N + j] = value(f, g, i, j);
    hid_t h = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(h >= 0);
    write_array(h, "/c2", 3, (hsize_t[]){GROUPS, N, N}, f->single ? H5T_IEEE_F32LE : H5T_IEEE_F64LE, f->packed, v);
    write_array(h, "/q", 1, (hsize_t[]){GROUPS}, H5T_IEEE_F64LE, 0, q);
    write_array(h, "/phi", 1, (hsize_t[]){GROUPS}, H5T_IEEE_F64LE, 0, phi);
    H5Fclose(h);
}

enum { DIVIDED, KNOWN, TOLD = KNOWN + 3 + 4 * GROUPS + SHA256_HEX };

/* What a data set knows of its values. */
static void tell(const void *user, double *result)
{
    const struct form *f = user;
    struct fit_measurement *m;
    struct fit_selection sel;
    struct fit_error err;
    char hex[SHA256_HEX];
    fit_selection_init(&sel, file);
    sel.dt = 0.1;
    sel.dt_policy = FIT_DT_YAML;
    sel.divide = 1;
    sel.first = f->first ? (long)f->first : sel.first;
    if (fit_measurement_load(&sel, &kernel, NULL, &m, &err) != FIT_OK) {
        fprintf(stderr, "%s\n", err.message);
        _exit(80);
    }
    const struct fit_dataset *ds = m->dataset;
    size_t n = KNOWN;
    result[DIVIDED] = fit_dataset_divided(ds);
    result[n++] = (double)ds->npoint;
    result[n++] = (double)ds->ndropped;
    result[n++] = (double)m->nmasked;
    for (size_t g = 0; g < GROUPS; g++) {
        result[n++] = (double)ds->npoint_group[g];
        result[n++] = ds->reference[g];
        result[n++] = ds->range[g].low;
        result[n++] = m->group[g].mean;
    }
    fit_dataset_digest(ds, 1, hex);
    for (size_t k = 0; k + 1 < SHA256_HEX; k++)
        result[n++] = hex[k];
    fit_measurement_free(m);
}

/* Rank 1 reads another file. */
static void tell_odd(const void *user, double *result)
{
    const struct form *f = user;
    struct fit_measurement *m = NULL;
    struct fit_selection sel;
    struct fit_error err = {.status = FIT_OK};
    fit_selection_init(&sel, fit_ranks_rank() == 1 ? other_file : file);
    sel.dt = 0.1;
    sel.dt_policy = FIT_DT_YAML;
    sel.divide = !f->whole;
    result[0] = fit_measurement_load(&sel, &kernel, NULL, &m, &err);
    result[1] = strstr(err.message, "the ranks have read different values of matrix") != NULL;
    fit_measurement_free(m);
}

static void check_odd(struct form f)
{
    write_file(&f, file);
    f.odd = 1;
    write_file(&f, other_file);
    double *x = forked_ranks(2, 2, tell_odd, &f);
    for (int r = 0; r < 2; r++) {
        assert_int_equal((int)x[2 * r], FIT_ERR_DATA);
        assert_int_equal((int)x[2 * r + 1], 1);
    }
    forked_ranks_free(x, 2, 2);
}

/* The sums over tiles tell what the pieces of files that are compared before (ranks/same.h) do not. */
static void test_ranks_of_different_values(void **state)
{
    (void)state;
    check_odd((struct form){.half = FULL});
    check_odd((struct form){.half = FULL, .single = 1, .packed = 1, .whole = 1});
    check_odd((struct form){.half = UPPER, .whole = 1});
}

static void check(const struct form *f)
{
    static const int sizes[] = {2, 3, 7};
    write_file(f, file);
    double *alone = forked_ranks(1, TOLD, tell, f);
    assert_true(alone[DIVIDED] == 0);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        double *many = forked_ranks(sizes[s], TOLD, tell, f);
        for (int r = 0; r < sizes[s]; r++) {
            const double *told = many + (size_t)r * TOLD;
            assert_true(told[DIVIDED] == !f->blank); /* with blank frames each rank has all */
            assert_memory_equal(told + KNOWN, alone + KNOWN, (TOLD - KNOWN) * sizeof *told);
        }
        forked_ranks_free(many, sizes[s], TOLD);
    }
    forked_ranks_free(alone, 1, TOLD);
}

static void test_rows_of_the_file(void **state)
{
    (void)state;
    check(&(struct form){.half = FULL});
    check(&(struct form){.half = LOWER, .single = 1, .holes = 1});
    check(&(struct form){.half = UPPER, .single = 1, .first = 3});
}

static void test_matrices_from_rank_to_rank(void **state)
{
    (void)state;
    check(&(struct form){.half = FULL, .single = 1, .packed = 1});
    check(&(struct form){.half = LOWER, .packed = 1, .holes = 1});
}

static void test_blank_frames(void **state)
{
    (void)state;
    check(&(struct form){.half = FULL, .single = 1, .blank = 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows_of_the_file),
                                       cmocka_unit_test(test_matrices_from_rank_to_rank),
                                       cmocka_unit_test(test_ranks_of_different_values),
                                       cmocka_unit_test(test_blank_frames)};
    snprintf(file, sizeof file, "test_ranks_load_%ld.h5", (long)getpid());
    snprintf(other_file, sizeof other_file, "test_ranks_load_other_%ld.h5", (long)getpid());
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(file);
    unlink(other_file);
    return failed;
}
