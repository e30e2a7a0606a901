/* h5_calls.c -- writing HDF5 files: arrays, strings, attributes, dimension scales.  See
 * h5_writer.h. */
#include "hdf5/h5_writer.h"
#include "hdf5/handle.h"
#include "hdf5/library.h"
#include "hdf5/pack.h"

#include <errno.h>
#include <hdf5_hl.h>
#include <stdlib.h>
#include <string.h>

enum fit_status fit_h5_create(const char *file, struct fit_h5 **out, struct fit_error *err)
{
    struct fit_h5 *h = fit_h5_new(file);
    *out = NULL;
    if (!h)
        return fit_no_memory(err, file);
    const struct fit_h5_inside in = fit_h5_enter();
    errno = 0;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
#if H5_VERSION_GE(1, 10, 7) /* the file has its own name and lock (unique.h); on NFS that lock and HDF5's would be
                             * one */
    H5Pset_file_locking(access, 0, 1);
#endif
    h->out = H5Fcreate(file, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const int why = errno;
    H5Pclose(access);
    fit_h5_leave(&in);
    if (h->out < 0) {
        enum fit_status st = fit_fail(err, FIT_ERR_IO, "%s: cannot be created: %s", file,
                                      why ? strerror(why) : "is the folder there and writable?");
        fit_h5_close(h);
        return st;
    }
    *out = h;
    return FIT_OK;
}

enum fit_status fit_h5_finish(struct fit_h5 *h, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    if (!h)
        return FIT_OK;
    const struct fit_h5_inside in = fit_h5_enter();
    int flushed = H5Fflush(h->out, H5F_SCOPE_LOCAL) >= 0;
    int closed = H5Fclose(h->out) >= 0;
    fit_h5_leave(&in);
    if (!flushed || !closed)
        st = fit_fail(err, FIT_ERR_IO, "%s: cannot be written; is the disk full?", h->name);
    h->out = -1;
    fit_h5_close(h);
    return st;
}

static enum fit_status unwritten(const struct fit_h5 *h, const char *path, struct fit_error *err)
{
    return fit_fail(err, FIT_ERR_IO,
                    "%s: %s cannot be written; does it exist, or is the disk full?", h->name, path);
}

/* Makes the groups above the object. */
static hid_t parents(void)
{
    hid_t list = H5Pcreate(H5P_LINK_CREATE);
    if (list >= 0)
        H5Pset_create_intermediate_group(list, 1);
    return list;
}

/* H5Lexists fails when a parent group is missing, so every step is tested. */
static int is_there(const struct fit_h5 *h, const char *path)
{
    char step[512];
    const size_t n = strlen(path);
    int found = n < sizeof step;
    for (size_t k = 1; found && k <= n; k++) {
        if (path[k] != '/' && path[k] != 0)
            continue;
        memcpy(step, path, k);
        step[k] = 0;
        found = H5Lexists(h->out, step, H5P_DEFAULT) > 0;
    }
    return found && H5Oexists_by_name(h->out, path, H5P_DEFAULT) > 0;
}

static int is_group(const struct fit_h5 *h, const char *path)
{
    hid_t object = is_there(h, path) ? H5Oopen(h->out, path, H5P_DEFAULT) : -1;
    int yes = object >= 0 && H5Iget_type(object) == H5I_GROUP;
    if (object >= 0)
        H5Oclose(object);
    return yes;
}

enum fit_status fit_h5_make_group(struct fit_h5 *h, const char *path, struct fit_error *err)
{
    const struct fit_h5_inside in = fit_h5_enter();
    enum fit_status st = FIT_OK;
    if (!is_group(h, path)) {
        hid_t links = parents(), how = H5Pcreate(H5P_GROUP_CREATE);
        H5Pset_link_creation_order(how, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED); /* netCDF lists in this order */
        hid_t group = H5Gcreate2(h->out, path, links, how, H5P_DEFAULT);
        H5Pclose(how);
        if (group < 0)
            st = unwritten(h, path, err);
        else
            H5Gclose(group);
        H5Pclose(links);
    }
    fit_h5_leave(&in);
    return st;
}

/* Types in memory and in the file; the caller closes both. */
static void types_of(enum fit_h5_type type, hid_t *memory, hid_t *file)
{
    static const signed char no = 0, yes = 1;
    *memory = *file = -1;
    switch (type) {
    case FIT_H5_F64:
        *memory = H5Tcopy(H5T_NATIVE_DOUBLE), *file = H5Tcopy(H5T_IEEE_F64LE);
        break;
    case FIT_H5_F32:
        *memory = H5Tcopy(H5T_NATIVE_FLOAT), *file = H5Tcopy(H5T_IEEE_F32LE);
        break;
    case FIT_H5_I64:
        *memory = H5Tcopy(H5T_NATIVE_INT64), *file = H5Tcopy(H5T_STD_I64LE);
        break;
    case FIT_H5_I32:
        *memory = H5Tcopy(H5T_NATIVE_INT32), *file = H5Tcopy(H5T_STD_I32LE);
        break;
    case FIT_H5_U8:
        *memory = H5Tcopy(H5T_NATIVE_UINT8), *file = H5Tcopy(H5T_STD_U8LE);
        break;
    case FIT_H5_I8:
        *memory = H5Tcopy(H5T_NATIVE_INT8), *file = H5Tcopy(H5T_STD_I8LE);
        break;
    case FIT_H5_BOOL:
        *file = H5Tenum_create(H5T_STD_I8LE);
        H5Tenum_insert(*file, "FALSE", &no);
        H5Tenum_insert(*file, "TRUE", &yes);
        *memory = H5Tcopy(*file);
        break;
    }
}

static hid_t space_of(int rank, const size_t *dims)
{
    hsize_t d[FIT_H5_RANK];
    if (rank < 0 || rank > FIT_H5_RANK)
        return -1;
    for (int i = 0; i < rank; i++)
        d[i] = dims[i];
    return rank ? H5Screate_simple(rank, d, NULL) : H5Screate(H5S_SCALAR);
}

static size_t type_bytes(enum fit_h5_type type)
{
    switch (type) {
    case FIT_H5_F64:
    case FIT_H5_I64:
        return 8;
    case FIT_H5_F32:
    case FIT_H5_I32:
        return 4;
    default:
        return 1;
    }
}

static size_t count_values(const struct fit_h5_array *a)
{
    size_t n = 1;
    for (int i = 0; i < a->rank && i < FIT_H5_RANK; i++)
        n *= a->dims[i];
    return n;
}

/* Chunks of the last one or two dimensions, at most about a million elements; 0: the array is stored contiguously. */
static int chunks_of(const struct fit_h5_array *a, hsize_t chunk[FIT_H5_RANK])
{
    size_t most = (size_t)1 << 20;
    if (!a->deflate || a->rank <= 0 || a->rank > FIT_H5_RANK || count_values(a) * type_bytes(a->type) < 1024)
        return 0;
    for (int i = a->rank; i-- > 0;) {
        chunk[i] = i + 2 < a->rank ? 1 : a->dims[i] < most ? a->dims[i] : most;
        most = most / chunk[i] > 0 ? most / chunk[i] : 1;
    }
    return 1;
}

static hid_t storage_of(const struct fit_h5_array *a)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t chunk[FIT_H5_RANK];
    H5Pset_obj_track_times(list, 0); /* the same result gives the same bytes */
    if (!chunks_of(a, chunk))
        return list;
    H5Pset_chunk(list, a->rank, chunk);
    H5Pset_shuffle(list);
    H5Pset_deflate(list, (unsigned)a->deflate);
    return list;
}

/* The number of chunks, if each is a contiguous piece of the array, its last dimensions, and the byte order of the
 * machine is that of the file; otherwise 0. */
static size_t whole_chunks(const struct fit_h5_array *a)
{
    const union {
        uint16_t number;
        unsigned char byte[2];
    } order = {1};
    hsize_t chunk[FIT_H5_RANK];
    size_t n = 1;
    if (!order.byte[0] || !chunks_of(a, chunk))
        return 0;
    for (int i = 0; i < a->rank; i++) {
        if (i + 2 < a->rank)
            n *= a->dims[i];
        else if (chunk[i] != a->dims[i])
            return 0;
    }
    return n;
}

/* Position of chunk k, one index in each of the leading dimensions. */
static void place_of(const struct fit_h5_array *a, size_t k, hsize_t at[FIT_H5_RANK])
{
    for (int i = a->rank; i-- > 0;) {
        at[i] = i + 2 < a->rank ? k % a->dims[i] : 0;
        k = i + 2 < a->rank ? k / a->dims[i] : k;
    }
}

/* Compresses and writes the chunks, several at a time; 0: something failed. */
static int write_chunks(hid_t set, const struct fit_h5_array *a, size_t chunks)
{
    enum { PACKED = 32, PACKED_BYTES = 8 << 20 };
    const struct fit_packing p = {a->value, type_bytes(a->type), count_values(a), chunks, a->deflate};
    const size_t fit = PACKED_BYTES / (p.item * (p.n / chunks)), most = fit < 1 ? 1 : fit < PACKED ? fit : PACKED;
    struct fit_packed out[PACKED];
    hsize_t at[FIT_H5_RANK];
    int ok = 1;
    for (size_t first = 0; first < chunks && ok; first += most) {
        const size_t n = chunks - first < most ? chunks - first : most;
        fit_pack_chunks(&p, first, n, out);
        for (size_t k = 0; k < n; k++) {
            place_of(a, first + k, at);
            ok = ok && out[k].data &&
                 H5Dwrite_chunk(set, H5P_DEFAULT, out[k].skipped, at, out[k].size, out[k].data) >= 0;
            free(out[k].data);
        }
    }
    return ok;
}

/* Writes all values: several chunks at a time where that is possible. */
static int write_values(hid_t set, hid_t memory, hid_t space, const struct fit_h5_array *a)
{
    const size_t chunks = whole_chunks(a);
    if (H5Sget_simple_extent_npoints(space) <= 0)
        return 1;
    return chunks > 1 ? write_chunks(set, a, chunks)
                      : H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, a->value) >= 0;
}

enum fit_status fit_h5_write(struct fit_h5 *h, const char *path, const struct fit_h5_array *a,
                             struct fit_error *err)
{
    const struct fit_h5_inside in = fit_h5_enter();
    hid_t memory, file, space = space_of(a->rank, a->dims), set = -1;
    hid_t links = parents(), storage = storage_of(a);
    enum fit_status st = FIT_OK;
    types_of(a->type, &memory, &file);
    if (space >= 0)
        set = H5Dcreate2(h->out, path, file, space, links, storage, H5P_DEFAULT);
    if (set < 0 || !write_values(set, memory, space, a))
        st = unwritten(h, path, err);
    if (set >= 0 && H5Dclose(set) < 0 && st == FIT_OK)
        st = unwritten(h, path, err);
    if (space >= 0)
        H5Sclose(space);
    H5Tclose(memory);
    H5Tclose(file);
    H5Pclose(storage);
    H5Pclose(links);
    fit_h5_leave(&in);
    return st;
}

enum fit_status fit_h5_write_doubles(struct fit_h5 *h, const char *path, const double *value,
                                     size_t n, struct fit_error *err)
{
    const struct fit_h5_array a = {.type = FIT_H5_F64, .rank = 1, .dims = &n, .value = value};
    return fit_h5_write(h, path, &a, err);
}

/* ---- strings and attributes ------------------------------------------------------------------ */

static hid_t text_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

static enum fit_status write_text(struct fit_h5 *h, const char *path, int rank, size_t n,
                                  const char *const *text, struct fit_error *err)
{
    const struct fit_h5_inside in = fit_h5_enter();
    hid_t type = text_type(), space = space_of(rank, &n), links = parents();
    hid_t storage = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(storage, 0);
    hid_t set = H5Dcreate2(h->out, path, type, space, links, storage, H5P_DEFAULT);
    enum fit_status st = FIT_OK;
    if (set < 0 || (n && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0))
        st = unwritten(h, path, err);
    if (set >= 0)
        H5Dclose(set);
    H5Pclose(storage);
    H5Pclose(links);
    H5Sclose(space);
    H5Tclose(type);
    fit_h5_leave(&in);
    return st;
}

enum fit_status fit_h5_write_string(struct fit_h5 *h, const char *path, const char *text,
                                    struct fit_error *err)
{
    return write_text(h, path, 0, 1, &text, err);
}

enum fit_status fit_h5_write_strings(struct fit_h5 *h, const char *path, const char *const *text,
                                     size_t n, struct fit_error *err)
{
    return write_text(h, path, 1, n, text, err);
}

static enum fit_status write_attr(struct fit_h5 *h, const char *path, const char *name, hid_t file,
                                  hid_t memory, hid_t space, const void *value,
                                  struct fit_error *err)
{
    hid_t attr =
        H5Acreate_by_name(h->out, path, name, file, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    enum fit_status st = FIT_OK;
    if (attr < 0 || (H5Sget_simple_extent_npoints(space) > 0 && H5Awrite(attr, memory, value) < 0))
        st = fit_fail(err, FIT_ERR_IO, "%s: attribute %s of %s cannot be written", h->name, name,
                      path);
    if (attr >= 0)
        H5Aclose(attr);
    return st;
}

static enum fit_status write_attr_text(struct fit_h5 *h, const char *path, const char *name,
                                       int rank, size_t n, const char *const *text,
                                       struct fit_error *err)
{
    const struct fit_h5_inside in = fit_h5_enter();
    hid_t type = text_type(), space = space_of(rank, &n);
    enum fit_status st = write_attr(h, path, name, type, type, space, text, err);
    H5Sclose(space);
    H5Tclose(type);
    fit_h5_leave(&in);
    return st;
}

enum fit_status fit_h5_write_attr_string(struct fit_h5 *h, const char *path, const char *name,
                                         const char *text, struct fit_error *err)
{
    return write_attr_text(h, path, name, 0, 1, &text, err);
}

enum fit_status fit_h5_write_attr_strings(struct fit_h5 *h, const char *path, const char *name,
                                          const char *const *text, size_t n, struct fit_error *err)
{
    return write_attr_text(h, path, name, 1, n, text, err);
}

enum fit_status fit_h5_write_attr(struct fit_h5 *h, const char *path, const char *name,
                                  const struct fit_h5_array *a, struct fit_error *err)
{
    const struct fit_h5_inside in = fit_h5_enter();
    hid_t memory, file, space = space_of(a->rank, a->dims);
    types_of(a->type, &memory, &file);
    enum fit_status st = space < 0 ? unwritten(h, path, err)
                                   : write_attr(h, path, name, file, memory, space, a->value, err);
    if (space >= 0)
        H5Sclose(space);
    H5Tclose(memory);
    H5Tclose(file);
    fit_h5_leave(&in);
    return st;
}

/* ---- dimension scales ------------------------------------------------------------------------ */

enum fit_status fit_h5_make_scale(struct fit_h5 *h, const char *path, const char *name, int id,
                                  struct fit_error *err)
{
    const struct fit_h5_inside in = fit_h5_enter();
    hid_t set = H5Dopen2(h->out, path, H5P_DEFAULT);
    enum fit_status st = FIT_OK;
    if (set < 0 || H5DSset_scale(set, name) < 0)
        st = fit_fail(err, FIT_ERR_IO, "%s: %s cannot be made a dimension scale", h->name, path);
    if (set >= 0)
        H5Dclose(set);
    if (st == FIT_OK && id >= 0) {
        const int32_t value = id;
        const struct fit_h5_array a = {.type = FIT_H5_I32, .value = &value};
        st = fit_h5_write_attr(h, path, "_Netcdf4Dimid", &a, err);
    }
    fit_h5_leave(&in);
    return st;
}

enum fit_status fit_h5_attach_scale(struct fit_h5 *h, const char *path, unsigned dim,
                                    const char *scale, struct fit_error *err)
{
    const struct fit_h5_inside in = fit_h5_enter();
    hid_t set = H5Dopen2(h->out, path, H5P_DEFAULT), of = H5Dopen2(h->out, scale, H5P_DEFAULT);
    enum fit_status st = FIT_OK;
    if (set < 0 || of < 0 || H5DSattach_scale(set, of, dim) < 0)
        st = fit_fail(err, FIT_ERR_IO, "%s: scale %s cannot be attached to dimension %u of %s",
                      h->name, scale, dim, path);
    if (of >= 0)
        H5Dclose(of);
    if (set >= 0)
        H5Dclose(set);
    fit_h5_leave(&in);
    return st;
}
