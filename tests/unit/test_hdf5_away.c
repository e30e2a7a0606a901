/* test_hdf5_away.c -- HDF5 files that lead elsewhere: links into other files, virtual datasets, filters and types that
 * libhdf5 reads for the own reader; what is not followed, and what is said of it. */
#define _XOPEN_SOURCE 700
#include "hdf5/h5_writer.h"
#include "hdf5/reader.h"

#include <hdf5.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { N = 24 };

static struct fit_error err;
static struct fit_h5 *h;

/* Everything lies below a folder of its own: below it `in` and `in/below`, where the files are. */
static int enter(void **state)
{
    char folder[64];
    (void)state;
    snprintf(folder, sizeof folder, "test_hdf5_away_%ld", (long)getpid());
    unsetenv("HDF5_EXT_PREFIX");
    unsetenv("HDF5_VDS_PREFIX");
    setenv("HDF5_PLUGIN_PATH", "/nowhere", 1);
    err = (struct fit_error){.status = FIT_OK};
    return mkdir(folder, 0777) || chdir(folder) || mkdir("in", 0777) || mkdir("in/below", 0777);
}

static int leave(void **state)
{
    char remove_all[80];
    (void)state;
    fit_h5_close(h);
    h = NULL;
    if (chdir(".."))
        return 1;
    snprintf(remove_all, sizeof remove_all, "rm -r test_hdf5_away_%ld", (long)getpid());
    return system(remove_all);
}

/* ---- files ----------------------------------------------------------------------------------- */

static hid_t create(const char *name)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
    hid_t f = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    assert_true(f >= 0);
    H5Pclose(access);
    return f;
}

/* Values first, first + 1, ... of any type, with a list of filters or none. */
static void put(hid_t f, const char *path, hid_t type, hid_t made, double first)
{
    double value[N];
    const hsize_t n = N;
    hid_t space = H5Screate_simple(1, &n, NULL), links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    for (size_t k = 0; k < N; k++)
        value[k] = first + (double)k;
    hid_t d = H5Dcreate2(f, path, type, space, links, made, H5P_DEFAULT);
    assert_true(d >= 0 && H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0);
    H5Dclose(d);
    H5Pclose(links);
    H5Sclose(space);
}

static void write_file(const char *name, double first)
{
    hid_t f = create(name);
    put(f, "/a/x", H5T_IEEE_F32BE, H5P_DEFAULT, first);
    H5Fclose(f);
}

/* A file with the link /x to `path` in `to`. */
static void write_link(const char *name, const char *to, const char *path)
{
    hid_t f = create(name);
    assert_true(H5Lcreate_external(to, path, f, "x", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Fclose(f);
}

static void read_is(const char *file, const char *path, double first, const char *note)
{
    double *value, some[3];
    size_t n;
    if (fit_h5_open(file, &h, &err) != FIT_OK || fit_h5_read_doubles(h, path, &value, &n, &err) != FIT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(fit_h5_kind(h, path), FIT_H5_NUMBER);
    assert_int_equal(n, N);
    for (size_t k = 0; k < n; k++)
        assert_true(value[k] == first + (double)k);
    free(value);
    assert_int_equal(fit_h5_read_block(h, path, (size_t[]){20}, (size_t[]){3}, some, &err), FIT_OK);
    assert_true(some[0] == first + 20 && some[2] == first + 22);
    if (note && (fit_h5_notes(h)->n != 1 || !strstr(fit_h5_notes(h)->text[0], note)))
        fail_msg("%s: %zu notes, not '%s' but '%s'", path, fit_h5_notes(h)->n, note,
                 fit_h5_notes(h)->n ? fit_h5_notes(h)->text[0] : "");
    assert_true(note || fit_h5_notes(h)->n == 0);
    fit_h5_close(h);
    h = NULL;
}

static void refused(const char *file, const char *path, enum fit_status st, const char *says)
{
    double *value;
    size_t n;
    if (fit_h5_open(file, &h, &err) != FIT_OK)
        fail_msg("%s", err.message);
    const enum fit_status got = fit_h5_read_doubles(h, path, &value, &n, &err);
    if (got != st || !strstr(err.message, says))
        fail_msg("%s of %s: status %d, not %d; '%s', not '%s'", path, file, (int)got, (int)st, err.message, says);
    assert_null(value);
    assert_int_equal(fit_h5_notes(h)->n, 0);
    fit_h5_close(h);
    h = NULL;
}

/* ---- links ----------------------------------------------------------------------------------- */

static void test_links_beside_and_below_are_followed(void **state)
{
    (void)state;
    write_file("in/data.h5", 5);
    write_file("in/below/data.h5", 7);
    write_link("in/x.h5", "data.h5", "/a/x");
    write_link("in/group.h5", "data.h5", "a");
    write_link("in/whole.h5", "data.h5", "/");
    write_link("in/down.h5", "below/data.h5", "/a/x");
    write_link("in/two.h5", "x.h5", "/x");
    write_link("in/gone.h5", "/no/such/folder/data.h5", "/a/x"); /* written elsewhere, copied together */
    read_is("in/x.h5", "/x", 5, "a link leads to in/data.h5");
    read_is("in/group.h5", "/x/x", 5, "in/data.h5");
    read_is("in/whole.h5", "/x/a/./x", 5, "in/data.h5");
    read_is("in/down.h5", "/x", 7, "in/below/data.h5");
    read_is("in/two.h5", "/x", 5, "in/data.h5"); /* that of the values, not those on the way */
    read_is("in/gone.h5", "/x", 5, "in/data.h5");
    hid_t f = create("in/soft.h5");
    H5Lcreate_external("data.h5", "/", f, "other", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/other/a", f, "soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(f);
    read_is("in/soft.h5", "/soft/x", 5, "in/data.h5");
    assert_int_equal(symlink("in/x.h5", "name.h5"), 0);
    read_is("name.h5", "/x", 5, "in/data.h5"); /* beside the file behind the name */
}

static void test_links_out_of_the_folder_are_followed_by_permission_only(void **state)
{
    (void)state;
    char here[512], path[600];
    assert_non_null(getcwd(here, sizeof here));
    write_file("outside.h5", 5);
    write_link("in/up.h5", "../outside.h5", "/a/x");
    write_link("in/round.h5", "../in/below/data.h5", "/a/x");
    write_file("in/below/data.h5", 7);
    snprintf(path, sizeof path, "%s/outside.h5", here);
    write_link("in/absolute.h5", path, "/a/x");
    snprintf(path, sizeof path, "%s/in/below/data.h5", here);
    write_link("in/inside.h5", path, "/a/x");
    refused("in/up.h5", "/x", FIT_ERR_DATA, "lies outside of the folder");
    refused("in/absolute.h5", "/x", FIT_ERR_DATA, "HDF5_EXT_PREFIX");
    read_is("in/round.h5", "/x", 7, "data.h5");
    read_is("in/inside.h5", "/x", 7, "data.h5");
    setenv("HDF5_EXT_PREFIX", "/nowhere:.", 1);
    read_is("in/up.h5", "/x", 5, "outside.h5");
    read_is("in/absolute.h5", "/x", 5, "outside.h5");
    unsetenv("HDF5_EXT_PREFIX");
    assert_int_equal(symlink("../outside.h5", "in/mine.h5"), 0); /* the owner of the folder says so */
    write_link("in/by_name.h5", "mine.h5", "/a/x");
    read_is("in/by_name.h5", "/x", 5, "in/mine.h5");
}

static void test_links_that_lead_to_nothing_say_so(void **state)
{
    (void)state;
    write_file("in/data.h5", 5);
    write_link("in/file.h5", "none.h5", "/a/x");
    write_link("in/path.h5", "data.h5", "/a/none");
    write_link("in/group.h5", "data.h5", "/a");
    write_link("in/one.h5", "other.h5", "/x");
    write_link("in/other.h5", "one.h5", "/x");
    write_link("in/self.h5", "self.h5", "/x");
    write_file("in/cut.h5", 5);
    assert_int_equal(truncate("in/cut.h5", 900), 0);
    write_link("in/to_cut.h5", "cut.h5", "/a/x");
    refused("in/file.h5", "/x", FIT_ERR_IO, "links to none.h5, which is not there");
    refused("in/path.h5", "/x", FIT_ERR_DATA, "links to /a/none in in/data.h5, which is not there");
    refused("in/group.h5", "/x", FIT_ERR_DATA, "/x is a group; a dataset was expected");
    refused("in/one.h5", "/x", FIT_ERR_DATA, "links lead in a circle");
    refused("in/self.h5", "/x", FIT_ERR_DATA, "links lead in a circle");
    refused("in/to_cut.h5", "/x", FIT_ERR_DATA, "in/cut.h5: cannot be opened as HDF5 (truncated");
    assert_int_equal(fit_h5_open("in/file.h5", &h, &err), FIT_OK);
    assert_int_equal(fit_h5_kind(h, "/x"), FIT_H5_AWAY);
    assert_true(fit_h5_exists(h, "/x"));
    fit_h5_close(h);
    assert_int_equal(fit_h5_open("in/one.h5", &h, &err), FIT_OK);
    fit_h5_alone(h);
    assert_int_equal(fit_h5_kind(h, "/x"), FIT_H5_AWAY);
}

static void test_alone_nothing_else_is_opened(void **state)
{
    (void)state;
    double value;
    write_file("in/data.h5", 5);
    write_link("in/x.h5", "data.h5", "/a/x");
    hid_t f = create("in/nbit.h5"), made = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(made, 1, (hsize_t[]){N});
    H5Pset_nbit(made);
    put(f, "x", H5T_STD_I32LE, made, 1);
    H5Pclose(made);
    H5Fclose(f);
    static const char *const file[] = {"in/x.h5", "in/nbit.h5"}, *const says[] = {"link that is not followed", "nbit"};
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(fit_h5_open(file[k], &h, &err), FIT_OK);
        fit_h5_alone(h);
        assert_int_equal(fit_h5_read_scalar(h, "/x", &value, &err), FIT_ERR_UNSUPPORTED);
        if (!strstr(err.message, says[k]) || !strstr(err.message, "/x cannot be read"))
            fail_msg("%s", err.message);
        fit_h5_close(h);
        h = NULL;
    }
}

static void test_external_storage_is_not_read(void **state)
{
    (void)state;
    const hsize_t n = 4;
    write_file("in/data.h5", 5);
    hid_t f = create("in/x.h5"), space = H5Screate_simple(1, &n, NULL), made = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(made, "in/data.h5", 0, 32);
    H5Dclose(H5Dcreate2(f, "x", H5T_IEEE_F64LE, space, H5P_DEFAULT, made, H5P_DEFAULT));
    H5Pclose(made);
    H5Sclose(space);
    H5Fclose(f);
    refused("in/x.h5", "/x", FIT_ERR_UNSUPPORTED, "values in other files");
}

/* ---- virtual datasets ------------------------------------------------------------------------ */

/* /x of `name`: the halves of the values lie at `path` in the files a and b; fill: NULL, none is declared. */
static void write_virtual(const char *name, const char *a, const char *b, const char *path, const double *fill)
{
    const hsize_t all = N, half = N / 2, none = 0;
    hid_t f = create(name), whole = H5Screate_simple(1, &all, NULL), made = H5Pcreate(H5P_DATASET_CREATE);
    hid_t source = H5Screate_simple(1, &all, NULL);
    if (fill)
        H5Pset_fill_value(made, H5T_NATIVE_DOUBLE, fill);
    H5Sselect_hyperslab(whole, H5S_SELECT_SET, &none, NULL, &half, NULL);
    H5Sselect_hyperslab(source, H5S_SELECT_SET, &none, NULL, &half, NULL);
    assert_true(H5Pset_virtual(made, whole, a, path, source) >= 0);
    H5Sselect_hyperslab(whole, H5S_SELECT_SET, &half, NULL, &half, NULL);
    H5Sselect_hyperslab(source, H5S_SELECT_SET, &half, NULL, &half, NULL);
    assert_true(H5Pset_virtual(made, whole, b, path, source) >= 0);
    H5Sselect_all(whole);
    hid_t d = H5Dcreate2(f, "x", H5T_IEEE_F32LE, whole, H5P_DEFAULT, made, H5P_DEFAULT);
    assert_true(d >= 0);
    H5Dclose(d);
    H5Pclose(made);
    H5Sclose(whole);
    H5Sclose(source);
    H5Fclose(f);
}

static void test_virtual_datasets_are_read(void **state)
{
    (void)state;
    char here[512], path[600];
    assert_non_null(getcwd(here, sizeof here));
    write_file("in/a.h5", 5);
    write_file("in/below/b.h5", 5);
    write_virtual("in/x.h5", "a.h5", "below/b.h5", "/a/x", NULL);
    read_is("in/x.h5", "/x", 5, "virtual dataset, values of a.h5, below/b.h5");
    write_virtual("in/nested.h5", "a.h5", "x.h5", "/x", NULL);
    hid_t f = H5Fopen("in/a.h5", H5F_ACC_RDWR, H5P_DEFAULT);
    H5Lcreate_soft("/a/x", f, "x", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(f);
    read_is("in/nested.h5", "/x", 5, "virtual dataset");
    write_link("in/link.h5", "x.h5", "/x");
    assert_int_equal(fit_h5_open("in/link.h5", &h, &err), FIT_OK); /* a link to a virtual dataset: two notes */
    assert_int_equal(fit_h5_read_scalar(h, "/x", (double[]){0}, &err), FIT_OK);
    assert_int_equal(fit_h5_notes(h)->n, 2);
    fit_h5_close(h);
    h = NULL;
    assert_int_equal(symlink("in/x.h5", "name.h5"), 0);
    read_is("name.h5", "/x", 5, "virtual dataset");
    snprintf(path, sizeof path, "%s/in/a.h5", here);
    write_virtual("in/absolute.h5", path, "a.h5", "/a/x", NULL);
    read_is("in/absolute.h5", "/x", 5, "virtual dataset");
}

static void test_sources_that_are_missing_or_outside_are_errors(void **state)
{
    (void)state;
    const double fill = -3;
    double value[N];
    write_file("in/a.h5", 5);
    write_file("outside.h5", 5);
    write_virtual("in/gone.h5", "a.h5", "none.h5", "/a/x", NULL);
    write_virtual("in/path.h5", "a.h5", "a.h5", "/a/none", NULL);
    write_virtual("in/up.h5", "a.h5", "../outside.h5", "/a/x", NULL);
    write_virtual("in/self.h5", "a.h5", "self.h5", "/x", &fill);
    write_file("in/cut.h5", 5);
    assert_int_equal(truncate("in/cut.h5", 900), 0);
    write_virtual("in/to_cut.h5", "a.h5", "cut.h5", "/a/x", &fill);
    refused("in/gone.h5", "/x", FIT_ERR_IO, "/a/x in none.h5, which is not there, and declares no fill value");
    refused("in/path.h5", "/x", FIT_ERR_IO, "/a/none in a.h5, which is not there");
    refused("in/up.h5", "/x", FIT_ERR_DATA, "lies outside of the folder");
    refused("in/self.h5", "/x", FIT_ERR_DATA, "virtual datasets lead to one another");
    refused("in/to_cut.h5", "/x", FIT_ERR_DATA, "truncated");
    write_virtual("in/filled.h5", "a.h5", "none.h5", "/a/x", &fill);
    assert_int_equal(fit_h5_open("in/filled.h5", &h, &err), FIT_OK);
    assert_int_equal(fit_h5_read_into(h, "/x", value, N, &err), FIT_OK);
    assert_true(value[11] == 16 && value[12] == fill && value[N - 1] == fill);
    assert_int_equal(fit_h5_notes(h)->n, 2);
    assert_int_equal(fit_h5_notes(h)->ndoubt, 1);
    assert_non_null(strstr(fit_h5_notes(h)->text[0], "/a/x in none.h5"));
}

/* Blocks of one file each, as many as there are: part_0.h5, part_1.h5. */
static void test_sources_with_numbers_in_their_names(void **state)
{
    (void)state;
    const hsize_t block = N, unlimited = H5S_UNLIMITED, none = 0, part = N / 2;
    int rank;
    size_t dims[FIT_H5_RANK];
    hid_t f = create("in/x.h5"), made = H5Pcreate(H5P_DATASET_CREATE);
    hid_t whole = H5Screate_simple(1, &part, &unlimited), source = H5Screate_simple(1, &block, NULL);
    H5Sselect_hyperslab(whole, H5S_SELECT_SET, &none, &block, &unlimited, &block);
    assert_true(H5Pset_virtual(made, whole, "part_%b.h5", "/a/x", source) >= 0);
    hid_t d = H5Dcreate2(f, "x", H5T_IEEE_F64LE, whole, H5P_DEFAULT, made, H5P_DEFAULT);
    assert_true(d >= 0);
    H5Dclose(d);
    H5Pclose(made);
    H5Sclose(whole);
    H5Sclose(source);
    H5Fclose(f);
    write_file("in/part_0.h5", 5);
    read_is("in/x.h5", "/x", 5, "values of part_0.h5");
    write_file("in/part_1.h5", 5 + N);
    assert_int_equal(fit_h5_open("in/x.h5", &h, &err), FIT_OK);
    assert_int_equal(fit_h5_shape(h, "/x", &rank, dims, &err), FIT_OK);
    assert_int_equal(dims[0], 2 * N);
}

/* ---- filters and types ----------------------------------------------------------------------- */

static size_t copy_through(unsigned flags, size_t nparam, const unsigned param[], size_t nbytes, size_t *size,
                           void **buf)
{
    (void)flags, (void)nparam, (void)param, (void)size, (void)buf;
    return nbytes;
}

static void test_filters_of_plugins(void **state)
{
    (void)state;
    static const H5Z_class2_t class[] = {
        {H5Z_CLASS_T_VERS, 32001, 1, 1, "Blosc; see its page", NULL, NULL, copy_through},
        {H5Z_CLASS_T_VERS, 511, 1, 1, "odd one", NULL, NULL, copy_through}};
    static const char *const says[] = {"filter 32001 (Blosc), for which libhdf5",
                                       "filter 511 (odd one), for which"};
    for (size_t k = 0; k < 2; k++) {
        H5Zregister(&class[k]);
        hid_t f = create("in/x.h5"), made = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(made, 1, (hsize_t[]){7});
        H5Pset_filter(made, class[k].id, H5Z_FLAG_MANDATORY, 0, NULL);
        put(f, "x", H5T_IEEE_F32BE, made, 3);
        H5Pclose(made);
        H5Fclose(f);
        read_is("in/x.h5", "/x", 3, k ? "filter 511 (odd one)" : "filter 32001 (Blosc)");
        assert_true(H5Zunregister(class[k].id) >= 0);
        refused("in/x.h5", "/x", FIT_ERR_DATA, says[k]);
        assert_non_null(strstr(err.message, "HDF5_PLUGIN_PATH"));
        assert_null(strstr(err.message, "h5repack")); /* which leaves out what it cannot read */
    }
}

static void test_numbers_of_other_forms(void **state)
{
    (void)state;
    hid_t f = create("in/x.h5"), brain = H5Tcopy(H5T_IEEE_F32LE), wide = H5Tcopy(H5T_STD_I64BE);
    H5Tset_fields(brain, 15, 7, 8, 0, 7); /* bfloat16 */
    H5Tset_precision(brain, 16);
    H5Tset_size(brain, 2);
    H5Tset_size(wide, 12);
    put(f, "brain", brain, H5P_DEFAULT, 3);
    put(f, "long", H5T_NATIVE_LDOUBLE, H5P_DEFAULT, 3);
    put(f, "vax", H5T_VAX_F32, H5P_DEFAULT, 3);
    put(f, "wide", wide, H5P_DEFAULT, 3);
    H5Tclose(brain);
    H5Tclose(wide);
    hid_t pair = H5Tcreate(H5T_COMPOUND, 16);
    H5Tinsert(pair, "a", 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(pair, "b", 8, H5T_NATIVE_DOUBLE);
    hid_t space = H5Screate(H5S_SCALAR);
    H5Dclose(H5Dcreate2(f, "pair", pair, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
    H5Tclose(pair);
    H5Fclose(f);
    read_is("in/x.h5", "/brain", 3, "numbers of 2 bytes");
    read_is("in/x.h5", "/long", 3, "numbers of 16 bytes");
    read_is("in/x.h5", "/vax", 3, "numbers of 4 bytes");
    read_is("in/x.h5", "/wide", 3, "numbers of 12 bytes");
    refused("in/x.h5", "/pair", FIT_ERR_DATA, "does not hold numbers");
}

/* An index of chunks that the own reader finds damaged is not given to libhdf5. */
static void test_damage_goes_no_further(void **state)
{
    (void)state;
    hid_t f = create("in/x.h5"), made = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(made, 1, (hsize_t[]){7});
    H5Pset_nbit(made);
    put(f, "x", H5T_STD_I32LE, made, 3);
    H5Pclose(made);
    H5Fclose(f);
    read_is("in/x.h5", "/x", 3, "filter 5 (nbit)");
    FILE *s = fopen("in/x.h5", "r+b");
    unsigned char bytes[65536];
    const size_t n = fread(bytes, 1, sizeof bytes, s);
    size_t at = 0;
    for (size_t k = 0; k + 5 < n; k++)
        if (memcmp(bytes + k, "TREE\1", 5) == 0) /* the tree of chunks */
            at = k;
    assert_true(at > 0);
    fseek(s, (long)at, SEEK_SET);
    fputs("TRUE", s);
    fclose(s);
    refused("in/x.h5", "/x", FIT_ERR_DATA, "a B-tree at byte");
    assert_null(strstr(err.message, "libhdf5"));
}

/* The dataset /x of N x N values 100 i + k, by a filter of libhdf5. */
static void write_matrix(void)
{
    const hsize_t dims[2] = {N, N}, part[2] = {5, N};
    float value[N][N];
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            value[i][k] = (float)(100 * i + k);
    hid_t f = create("in/x.h5"), made = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, dims, NULL);
    H5Pset_chunk(made, 2, part);
    H5Pset_nbit(made);
    hid_t d = H5Dcreate2(f, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, made, H5P_DEFAULT);
    assert_true(H5Dwrite(d, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0);
    H5Dclose(d);
    H5Pclose(made);
    H5Sclose(space);
    H5Fclose(f);
}

/* Rows of the matrix again and again; 1: all were right. */
static void *read_rows(void *user)
{
    static char wrong;
    struct fit_h5_raw *raw = user;
    float row[N];
    for (size_t k = 0; k < 300; k++)
        if (fit_h5_raw_read(raw, (size_t[]){k % N, 0}, (size_t[]){1, N}, row, NULL) != FIT_OK ||
            row[N - 1] != (float)(100 * (k % N) + N - 1)) /* exactly */
            return &wrong;
    return NULL;
}

static herr_t told(hid_t stack, void *user)
{
    (void)stack;
    ++*(int *)user;
    return 0;
}

/* Boxes, as tiles are filled by several threads, while another one writes; what the program around us has set for
 * errors of libhdf5 is not called, and stays. */
static void test_boxes_by_libhdf5(void **state)
{
    (void)state;
    struct fit_h5_raw_set *set;
    struct fit_h5_raw *raw;
    struct fit_h5 *out;
    pthread_t thread[3];
    void *wrong, *with;
    H5E_auto2_t say;
    const char *why;
    float box[2][3];
    int calls = 0;
    write_matrix();
    H5Eset_auto2(H5E_DEFAULT, told, &calls);
    assert_int_equal(fit_h5_open("in/x.h5", &h, &err), FIT_OK);
    assert_int_equal(fit_h5_raw_new(1000, &set, &err), FIT_OK);
    assert_int_equal(fit_h5_raw_open(set, h, "/x", &raw, &why, &err), FIT_OK);
    assert_null(why);
    fit_h5_close(h); /* the set stays */
    h = NULL;
    assert_int_equal(fit_h5_raw_item(raw), 4);
    assert_int_equal(fit_h5_raw_read(raw, (size_t[]){9, 20}, (size_t[]){2, 3}, box, &err), FIT_OK);
    assert_true(box[0][0] == 920 && box[0][2] == 922 && box[1][0] == 1020);
    assert_int_equal(fit_h5_raw_read(raw, (size_t[]){9, 22}, (size_t[]){2, 3}, box, &err), FIT_ERR_INTERNAL);
    for (int k = 0; k < 3; k++)
        assert_int_equal(pthread_create(&thread[k], NULL, read_rows, raw), 0);
    assert_int_equal(fit_h5_create("in/out.h5", &out, &err), FIT_OK);
    for (int k = 0; k < 50; k++) {
        char path[16];
        snprintf(path, sizeof path, "/g/y%d", k);
        assert_int_equal(fit_h5_write_doubles(out, path, (double[]){1, 2, 3}, 3, &err), FIT_OK);
    }
    assert_int_equal(fit_h5_write_doubles(out, "/g/y1", (double[]){1}, 1, &err), FIT_ERR_IO);
    assert_int_equal(fit_h5_finish(out, &err), FIT_OK);
    for (int k = 0; k < 3; k++) {
        pthread_join(thread[k], &wrong);
        assert_null(wrong);
    }
    H5Eget_auto2(H5E_DEFAULT, &say, &with);
    assert_true(say == told && with == &calls && calls == 0);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    fit_h5_raw_free(set);
}

int main(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)
    const struct CMUnitTest tests[] = {
        TEST(test_links_beside_and_below_are_followed),
        TEST(test_links_out_of_the_folder_are_followed_by_permission_only),
        TEST(test_links_that_lead_to_nothing_say_so),
        TEST(test_alone_nothing_else_is_opened),
        TEST(test_external_storage_is_not_read),
        TEST(test_virtual_datasets_are_read),
        TEST(test_sources_that_are_missing_or_outside_are_errors),
        TEST(test_sources_with_numbers_in_their_names),
        TEST(test_filters_of_plugins),
        TEST(test_numbers_of_other_forms),
        TEST(test_damage_goes_no_further),
        TEST(test_boxes_by_libhdf5),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
