/* h5_writer.c -- writing of result files with errors that stick; see h5_writer.h. */
#include "hdf5/h5_writer.h"

#include "hdf5/handle.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define DO(call)                                                                                   \
    do {                                                                                           \
        if (w->error.status == FIT_OK)                                                             \
            call;                                                                                  \
    } while (0)

enum fit_status fit_h5r_create(const char *path, struct fit_h5r *w, struct fit_error *err)
{
    *w = (struct fit_h5r){0};
    return fit_h5_create(path, &w->h, err);
}

enum fit_status fit_h5r_close(struct fit_h5r *w, struct fit_error *err)
{
    struct fit_error last = {.status = FIT_OK};
    if (!w->h)
        return FIT_OK;
    fit_h5_finish(w->h, &last);
    w->h = NULL;
    const struct fit_error *first = w->error.status != FIT_OK ? &w->error : &last;
    return first->status == FIT_OK ? FIT_OK : fit_fail(err, first->status, "%s", first->message);
}

void fit_h5r_attribute(struct fit_h5r *w, const char *path, const char *name, const char *value)
{
    DO(fit_h5_write_attr_string(w->h, path, name, value, &w->error));
}

void fit_h5r_attributes(struct fit_h5r *w, const char *path, const char *name, size_t n,
                        const char *const *value)
{
    DO(fit_h5_write_attr_strings(w->h, path, name, value, n, &w->error));
}

void fit_h5r_attribute_real(struct fit_h5r *w, const char *path, const char *name, double value)
{
    struct fit_h5_array a = {.type = FIT_H5_F64, .value = &value};
    DO(fit_h5_write_attr(w->h, path, name, &a, &w->error));
}

void fit_h5r_group(struct fit_h5r *w, const char *path, const char *nx_class)
{
    if (strcmp(path, "/") != 0)
        DO(fit_h5_make_group(w->h, path, &w->error));
    if (nx_class)
        fit_h5r_attribute(w, path, "NX_class", nx_class);
}

void fit_h5r_array(struct fit_h5r *w, const char *path, const struct fit_h5_array *a,
                   const char *units)
{
    DO(fit_h5_write(w->h, path, a, &w->error));
    if (units)
        fit_h5r_attribute(w, path, "units", units);
}

void fit_h5r_reals(struct fit_h5r *w, const char *path, int rank, const size_t *dims,
                   const double *value, const char *units)
{
    fit_h5r_array(
        w, path,
        &(struct fit_h5_array){.type = FIT_H5_F64, .rank = rank, .dims = dims, .value = value},
        units);
}

void fit_h5r_real(struct fit_h5r *w, const char *path, double value, const char *units)
{
    fit_h5r_reals(w, path, 0, NULL, &value, units);
}

void fit_h5r_integers(struct fit_h5r *w, const char *path, size_t n, const int64_t *value)
{
    fit_h5r_array(w, path,
                  &(struct fit_h5_array){.type = FIT_H5_I64, .rank = 1, .dims = &n, .value = value},
                  NULL);
}

void fit_h5r_integer(struct fit_h5r *w, const char *path, int64_t value)
{
    fit_h5r_array(w, path, &(struct fit_h5_array){.type = FIT_H5_I64, .value = &value}, NULL);
}

void fit_h5r_bytes(struct fit_h5r *w, const char *path, size_t n, const unsigned char *value)
{
    fit_h5r_array(w, path,
                  &(struct fit_h5_array){.type = FIT_H5_U8, .rank = 1, .dims = &n, .value = value},
                  NULL);
}

void fit_h5r_text(struct fit_h5r *w, const char *path, const char *value)
{
    if (value)
        DO(fit_h5_write_string(w->h, path, value, &w->error));
}

void fit_h5r_texts(struct fit_h5r *w, const char *path, size_t n, const char *const *value)
{
    DO(fit_h5_write_strings(w->h, path, value, n, &w->error));
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void fail(struct fit_h5r *w, const char *path)
{
    fit_fail(&w->error, FIT_ERR_IO, "%s: %s cannot be written", w->h->name, path);
}

void fit_h5r_no_memory(struct fit_h5r *w, const char *path)
{
    DO(fit_fail(&w->error, FIT_ERR_MEMORY, "%s: out of memory for %s", w->h->name, path));
}

/* Creates a dataset, with the groups above it. */
static hid_t new_dataset(struct fit_h5r *w, const char *path, hid_t type, int rank,
                         const hsize_t *dims, hid_t dcpl)
{
    hid_t lcpl = H5Pcreate(H5P_LINK_CREATE), space = H5Screate_simple(rank, dims, NULL);
    H5Pset_create_intermediate_group(lcpl, 1);
    hid_t d = H5Dcreate2(w->h->out, path, type, space, lcpl, dcpl, H5P_DEFAULT);
    if (d < 0)
        fail(w, path);
    H5Sclose(space);
    H5Pclose(lcpl);
    return d;
}

void fit_h5r_empty(struct fit_h5r *w, const char *path, int rank, const size_t *dims,
                   const char *units)
{
    hsize_t extent[4];
    if (w->error.status != FIT_OK)
        return;
    for (int k = 0; k < rank; k++)
        extent[k] = dims[k];
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER); /* every value is written later */
    hid_t d = new_dataset(w, path, H5T_IEEE_F64LE, rank, extent, dcpl);
    if (d >= 0)
        H5Dclose(d);
    H5Pclose(dcpl);
    if (units)
        fit_h5r_attribute(w, path, "units", units);
}

void fit_h5r_block(struct fit_h5r *w, const char *path, const size_t *start, const size_t *count,
                   const double *value)
{
    hsize_t s[4] = {0}, c[4] = {0};
    if (w->error.status != FIT_OK)
        return;
    hid_t d = H5Dopen2(w->h->out, path, H5P_DEFAULT);
    if (d < 0) {
        fail(w, path);
        return;
    }
    hid_t space = H5Dget_space(d);
    int rank = H5Sget_simple_extent_ndims(space);
    for (int k = 0; k < rank && k < 4; k++) {
        s[k] = start[k];
        c[k] = count[k];
    }
    hid_t dense = H5Screate_simple(rank, c, NULL);
    if (H5Sselect_hyperslab(space, H5S_SELECT_SET, s, NULL, c, NULL) < 0 ||
        H5Dwrite(d, H5T_NATIVE_DOUBLE, dense, space, H5P_DEFAULT, value) < 0)
        fail(w, path);
    H5Sclose(dense);
    H5Sclose(space);
    H5Dclose(d);
}

int fit_h5r_pack(const float *matrix, size_t n, int level, void **bytes, size_t *size)
{
    size_t count = n * n, total = count * sizeof(float);
    const unsigned char *from = (const unsigned char *)matrix;
    unsigned char *shuffled = malloc(total);
    uLongf packed = compressBound((uLong)total);
    unsigned char *to = malloc(packed);
    int bad = !shuffled || !to;
    for (size_t b = 0; b < sizeof(float) && !bad; b++) /* all first bytes, all second bytes, ... */
        for (size_t k = 0; k < count; k++)
            shuffled[b * count + k] = from[k * sizeof(float) + b];
    if (!bad)
        bad = compress2(to, &packed, shuffled, (uLong)total, level) != Z_OK;
    free(shuffled);
    if (bad) {
        free(to);
        return -1;
    }
    *bytes = to;
    *size = packed;
    return 0;
}

void fit_h5r_packed_matrix(struct fit_h5r *w, const char *path, size_t n, const void *bytes,
                           size_t size)
{
    if (w->error.status != FIT_OK)
        return;
    hsize_t dims[2] = {n, n}, origin[2] = {0, 0};
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(dcpl, 2, dims);
    H5Pset_shuffle(dcpl);
    H5Pset_deflate(dcpl, 1);
    hid_t d = new_dataset(w, path, H5T_IEEE_F32LE, 2, dims, dcpl);
    if (d >= 0) {
        if (H5Dwrite_chunk(d, H5P_DEFAULT, 0, origin, size, bytes) < 0)
            fail(w, path);
        H5Dclose(d);
    }
    H5Pclose(dcpl);
}

/* ---- scales ---------------------------------------------------------------------------------- */

void fit_h5r_scale(struct fit_h5r *w, const char *path, const char *name)
{
    DO(fit_h5_make_scale(w->h, path, name, w->nscale++, &w->error));
}

void fit_h5r_attach(struct fit_h5r *w, const char *dataset, unsigned axis, const char *scale)
{
    DO(fit_h5_attach_scale(w->h, dataset, axis, scale, &w->error));
}
