/* fuzz_hdf5.c -- HDF5 files, as a whole: runtime/hdf5 but the writers.
 *
 * Every object that can be reached within a few groups is listed and read, as numbers and as text, whole
 * and one element of it; so are its attributes.  Links out of the file are not followed, and libhdf5 is not asked: it
 * trusts files.  Checksums are not looked at in this build. */
#include "fuzz.h"

#include <string.h>

#include "hdf5/reader.h"

enum { DEPTH = 3, OBJECTS = 100, VALUES = 1 << 16, PATH = 300 };

struct visit {
    struct fit_h5 *h;
    int left;
};

static void asked(enum fit_status st, const struct fit_error *err)
{
    FUZZ_ASSERT(st == FIT_OK || err->message[0]);
    FUZZ_ASSERT(st == FIT_OK || st == FIT_ERR_DATA || st == FIT_ERR_IO || st == FIT_ERR_UNSUPPORTED);
}

static void read_attributes(const struct visit *v, const char *path)
{
    char **name, *text;
    double *value;
    size_t n, count;
    struct fit_error err = {0};
    enum fit_status st = fit_h5_list_attr(v->h, path, &name, &n, &err);
    asked(st, &err);
    for (size_t k = 0; k < n; k++) {
        st = fit_h5_read_attr_doubles(v->h, path, name[k], &value, &count, &err);
        asked(st, &err);
        free(value);
        st = fit_h5_read_attr_string(v->h, path, name[k], &text, &err);
        asked(st, &err);
        free(text);
    }
    fit_h5_free_strings(name, n);
}

static void read_dataset(const struct visit *v, const char *path)
{
    static const size_t one[FIT_H5_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct fit_error err = {0};
    size_t dims[FIT_H5_RANK], n = 0, start[FIT_H5_RANK], all = 1;
    int rank = 0;
    double *value, last;
    char **text;
    enum fit_status st = fit_h5_shape(v->h, path, &rank, dims, &err);
    asked(st, &err);
    if (st != FIT_OK)
        return;
    for (int i = 0; i < rank; i++) {
        start[i] = dims[i] - (dims[i] > 0);
        all = dims[i] > VALUES || all > VALUES ? VALUES + 1 : all * dims[i];
    }
    if (all > VALUES)
        return;
    st = fit_h5_read_doubles(v->h, path, &value, &n, &err);
    asked(st, &err);
    FUZZ_ASSERT(st != FIT_OK || n == all || n == 0);
    if (st == FIT_OK && n && rank) {
        asked(fit_h5_read_block(v->h, path, start, one, &last, &err), &err);
        FUZZ_ASSERT(memcmp(&last, &value[n - 1], sizeof last) == 0);
    }
    free(value);
    st = fit_h5_read_strings(v->h, path, &text, &n, &err);
    asked(st, &err);
    if (st == FIT_OK)
        fit_h5_free_strings(text, n);
}

static void look(struct visit *v, const char *path, int depth)
{
    char **name, below[PATH];
    size_t n;
    struct fit_error err = {0};
    enum fit_h5_kind kind = fit_h5_kind(v->h, path);
    if (v->left-- <= 0 || kind == FIT_H5_NONE)
        return;
    read_attributes(v, path);
    if (kind != FIT_H5_GROUP) {
        read_dataset(v, path);
        return;
    }
    enum fit_status st = fit_h5_list(v->h, path, &name, &n, &err);
    asked(st, &err);
    for (size_t k = 0; k < n && depth; k++)
        if ((size_t)snprintf(below, sizeof below, "%s/%s", depth == DEPTH ? "" : path, name[k]) <
            sizeof below)
            look(v, below, depth - 1);
    fit_h5_free_strings(name, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct visit v = {.left = OBJECTS};
    struct fit_error err = {0};
    const char *file = fuzz_file(data, size);
    enum fit_status st = fit_h5_open(file, &v.h, &err);
    FUZZ_ASSERT((st == FIT_OK) == (v.h != NULL));
    FUZZ_ASSERT(st == FIT_OK || err.message[0]);
    fit_h5_is_hdf5(file);
    if (st == FIT_OK)
        fit_h5_alone(v.h);
    if (st == FIT_OK)
        look(&v, "/", DEPTH);
    fit_h5_close(v.h);
    return 0;
}
