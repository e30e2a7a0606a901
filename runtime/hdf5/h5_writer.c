/* h5_writer.c -- writing of result files with sticky errors; see h5_writer.h. */
#include "hdf5/h5_writer.h"

#include "hdf5/handle.h"
#include "hdf5/library.h"
#include "hdf5/pack.h"

#include <stdlib.h>
#include <string.h>

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

enum fit_status fit_h5r_begin(struct fit_h5r_file *f, const char *path, struct fit_error *err)
{
    const char *temporary;
    enum fit_status st = fit_output_one(&f->out, path, &temporary, err);
    if (st == FIT_OK && (st = fit_h5r_create(temporary, &f->w, err)) != FIT_OK)
        fit_output_abandon(&f->out);
    return st;
}

enum fit_status fit_h5r_end(struct fit_h5r_file *f, enum fit_status so_far, struct fit_error *err)
{
    struct fit_error unheard; /* the first failure is told */
    const enum fit_status closed = fit_h5r_close(&f->w, so_far == FIT_OK ? err : &unheard);
    if (so_far == FIT_OK && closed == FIT_OK)
        return fit_output_commit(&f->out, err);
    fit_output_abandon(&f->out);
    return so_far != FIT_OK ? so_far : closed;
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

/* Creates a dataset, with its parent groups. */
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
    const struct fit_h5_inside in = fit_h5_enter();
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(dcpl, 0); /* the same result gives the same bytes */
    H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER); /* every value is written later */
    hid_t d = new_dataset(w, path, H5T_IEEE_F64LE, rank, extent, dcpl);
    if (d >= 0)
        H5Dclose(d);
    H5Pclose(dcpl);
    fit_h5_leave(&in);
    if (units)
        fit_h5r_attribute(w, path, "units", units);
}

void fit_h5r_block(struct fit_h5r *w, const char *path, const size_t *start, const size_t *count,
                   const double *value)
{
    hsize_t s[4] = {0}, c[4] = {0};
    if (w->error.status != FIT_OK)
        return;
    const struct fit_h5_inside in = fit_h5_enter();
    hid_t d = H5Dopen2(w->h->out, path, H5P_DEFAULT), space = d < 0 ? -1 : H5Dget_space(d);
    int rank = space < 0 ? 0 : H5Sget_simple_extent_ndims(space);
    for (int k = 0; k < rank && k < 4; k++) {
        s[k] = start[k];
        c[k] = count[k];
    }
    hid_t dense = space < 0 ? -1 : H5Screate_simple(rank, c, NULL);
    if (dense < 0 || H5Sselect_hyperslab(space, H5S_SELECT_SET, s, NULL, c, NULL) < 0 ||
        H5Dwrite(d, H5T_NATIVE_DOUBLE, dense, space, H5P_DEFAULT, value) < 0)
        fail(w, path);
    if (dense >= 0)
        H5Sclose(dense);
    if (space >= 0)
        H5Sclose(space);
    if (d >= 0)
        H5Dclose(d);
    fit_h5_leave(&in);
}

enum { CHUNK_ROWS = 64, ONE_CHUNK = 4 << 20 /* most values of a matrix in a single chunk */ };

/* Rows of a chunk. */
static size_t chunk_rows(size_t n)
{
    return n * n <= ONE_CHUNK ? n : CHUNK_ROWS;
}

size_t fit_h5r_matrix_rows(size_t n)
{
    const size_t rows = chunk_rows(n);
    return (n + rows - 1) / rows * rows;
}

/* A matrix with compressed chunks. */
static void put_packed(struct fit_h5r *w, const char *path, size_t n, const struct fit_packed *packed)
{
    const hsize_t dims[2] = {n, n}, chunk[2] = {chunk_rows(n), n};
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(dcpl, 0); /* the same result gives the same bytes */
    H5Pset_chunk(dcpl, 2, chunk);
    H5Pset_shuffle(dcpl);
    H5Pset_deflate(dcpl, 1);
    hid_t d = new_dataset(w, path, H5T_IEEE_F32LE, 2, dims, dcpl);
    for (size_t k = 0, row = 0; d >= 0 && row < n; k++, row += chunk[0])
        if (H5Dwrite_chunk(d, H5P_DEFAULT, packed[k].skipped, (hsize_t[]){row, 0}, packed[k].size,
                           packed[k].data) < 0) {
            fail(w, path);
            break;
        }
    if (d >= 0)
        H5Dclose(d);
    H5Pclose(dcpl);
}

void fit_h5r_matrices(struct fit_h5r *w, fit_h5r_path *path_of, size_t first, size_t m, size_t n, const float *value)
{
    char path[80];
    const size_t rows = fit_h5r_matrix_rows(n), each = rows / chunk_rows(n);
    const struct fit_packing p = {value, sizeof *value, m * rows * n, m * each, 1};
    struct fit_packed *out = calloc(m * each, sizeof *out);
    if (out)
        fit_pack_chunks(&p, 0, m * each, out);
    const struct fit_h5_inside in = fit_h5_enter();
    for (size_t k = 0; k < m; k++) {
        int there = out != NULL;
        for (size_t c = 0; c < each && there; c++)
            there = out[k * each + c].data != NULL;
        path_of(path, sizeof path, first + k);
        if (!there)
            fit_h5r_no_memory(w, path);
        else
            DO(put_packed(w, path, n, &out[k * each]));
    }
    for (size_t c = 0; out && c < m * each; c++)
        free(out[c].data);
    fit_h5_leave(&in);
    free(out);
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
