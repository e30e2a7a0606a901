/* reader.h -- HDF5 files: what the loader and the writers of results need, and nothing more.
 *
 * Objects are named by their absolute path in the file ("/xpcs/qmap/map_names").  Messages begin
 * with the file and the path.  Not for use by several threads at a time.
 *
 * Reading is done without the HDF5 library (bytes.h): a damaged file is an error and nothing worse,
 * and a file decides about nothing but itself.  Links into other files, external storage,
 * virtual datasets and compression by plugins are refused with a message; gzip, LZF, shuffle and
 * checksums are understood.
 *
 * Reading converts: numbers of any kind to double, strings fixed or of variable length to
 * NUL-ended text. Arrays and strings returned through a pointer belong to the caller (free;
 * fit_h5_free_strings).
 *
 * Writing makes missing groups on the way.  Nothing is overwritten: a path that exists is an error.
 */
#ifndef FIT_HDF5_IO_H
#define FIT_HDF5_IO_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { FIT_H5_RANK = 8 }; /* highest rank that is understood */

struct fit_h5;

enum fit_h5_kind {
    FIT_H5_NONE, /* no such object */
    FIT_H5_GROUP,
    FIT_H5_NUMBER, /* dataset of integers or floating-point numbers */
    FIT_H5_TEXT,   /* dataset of strings */
    FIT_H5_OTHER   /* dataset of another kind, or a link out of the file */
};

/* ---- Reading --------------------------------------------------------------------------------- */

/* 1 when the file begins like an HDF5 file (it may still be damaged). */
int fit_h5_is_hdf5(const char *file);

enum fit_status fit_h5_open(const char *file, struct fit_h5 **h, struct fit_error *err);
void fit_h5_close(struct fit_h5 *h);

/* 1 when memory ran out in a call whose answer cannot say so (fit_h5_kind), or whose error the caller
 * did not look at: what seemed not to be there may be there. */
int fit_h5_starved(const struct fit_h5 *h);

/* The name given to open or create. */
const char *fit_h5_file(const struct fit_h5 *h);

enum fit_h5_kind fit_h5_kind(const struct fit_h5 *h, const char *path);
int fit_h5_exists(const struct fit_h5 *h, const char *path);

/* Rank and extents of a dataset; a scalar has rank 0.  dims:  FIT_H5_RANK elements, the unused
 * ones 1. */
enum fit_status fit_h5_shape(const struct fit_h5 *h, const char *path, int *rank,
                             size_t dims[FIT_H5_RANK], struct fit_error *err);

/* The first element, whatever the rank: instruments write scalars as (1,1) arrays. */
enum fit_status fit_h5_read_scalar(const struct fit_h5 *h, const char *path, double *value,
                                   struct fit_error *err);

/* All elements of a dataset of any rank, row by row. */
enum fit_status fit_h5_read_doubles(const struct fit_h5 *h, const char *path, double **value,
                                    size_t *n, struct fit_error *err);

/* All n elements into memory of the caller, by a single read: a compressed chunk is expanded once.
 * float32 is widened in place, without another buffer. */
enum fit_status fit_h5_read_into(const struct fit_h5 *h, const char *path, double *value, size_t n,
                                 struct fit_error *err);

/* The block start[i] .. start[i] + count[i] - 1 of a dataset (rank elements each). */
enum fit_status fit_h5_read_block(const struct fit_h5 *h, const char *path, const size_t *start,
                                  const size_t *count, double *value, struct fit_error *err);

enum fit_status fit_h5_read_string(const struct fit_h5 *h, const char *path, char **text,
                                   struct fit_error *err);
enum fit_status fit_h5_read_strings(const struct fit_h5 *h, const char *path, char ***text,
                                    size_t *n, struct fit_error *err);
void fit_h5_free_strings(char **text, size_t n);

/* Names of the members of a group, or of the attributes of an object, sorted by their bytes. */
enum fit_status fit_h5_list(const struct fit_h5 *h, const char *group, char ***name, size_t *n,
                            struct fit_error *err);
enum fit_status fit_h5_list_attr(const struct fit_h5 *h, const char *path, char ***name, size_t *n,
                                 struct fit_error *err);

int fit_h5_has_attr(const struct fit_h5 *h, const char *path, const char *name);
enum fit_status fit_h5_read_attr_doubles(const struct fit_h5 *h, const char *path, const char *name,
                                         double **value, size_t *n, struct fit_error *err);
enum fit_status fit_h5_read_attr_string(const struct fit_h5 *h, const char *path, const char *name, char **text,
                                        struct fit_error *err);

/* What a dataset says of its unit, in the attribute `units` or `unit`; NULL: nothing.  Another thing than a text there
 * is an error. */
enum fit_status fit_h5_read_unit(const struct fit_h5 *h, const char *path, char **text, struct fit_error *err);

/* ---- Writing --------------------------------------------------------------------------------- */

enum fit_h5_type {
    FIT_H5_F64,
    FIT_H5_F32, /* memory holds float */
    FIT_H5_I64,
    FIT_H5_I32,
    FIT_H5_U8,
    FIT_H5_I8,
    FIT_H5_BOOL /* memory holds unsigned char 0 or 1; h5py's enumeration {FALSE, TRUE} */
};

struct fit_h5_array {
    enum fit_h5_type type;
    int rank; /* 0: scalar */
    const size_t *dims;
    const void *value;
    int deflate; /* 0: contiguous; 1..9: chunked, shuffled, deflated */
};

/* Makes an empty file, replacing one that exists. */
enum fit_status fit_h5_create(const char *file, struct fit_h5 **h, struct fit_error *err);

/* Writes what is still in memory and closes; tells when that failed (a full disk).  h is freed
 * anyway. */
enum fit_status fit_h5_finish(struct fit_h5 *h, struct fit_error *err);

enum fit_status fit_h5_make_group(struct fit_h5 *h, const char *path, struct fit_error *err);
enum fit_status fit_h5_write(struct fit_h5 *h, const char *path, const struct fit_h5_array *a,
                             struct fit_error *err);

/* A short form of fit_h5_write. */
enum fit_status fit_h5_write_doubles(struct fit_h5 *h, const char *path, const double *value,
                                     size_t n, struct fit_error *err);

/* UTF-8 strings of variable length; n strings as a list, or one as a scalar. */
enum fit_status fit_h5_write_string(struct fit_h5 *h, const char *path, const char *text,
                                    struct fit_error *err);
enum fit_status fit_h5_write_strings(struct fit_h5 *h, const char *path, const char *const *text,
                                     size_t n, struct fit_error *err);

/* Attributes; path "/" is the file itself. */
enum fit_status fit_h5_write_attr_string(struct fit_h5 *h, const char *path, const char *name,
                                         const char *text, struct fit_error *err);
enum fit_status fit_h5_write_attr_strings(struct fit_h5 *h, const char *path, const char *name,
                                          const char *const *text, size_t n, struct fit_error *err);
enum fit_status fit_h5_write_attr(struct fit_h5 *h, const char *path, const char *name,
                                  const struct fit_h5_array *a, struct fit_error *err);

/* Dimension scales (netCDF-4 dimensions): make the 1-D dataset `path` a scale called `name`, with
 * the number `id` in the attribute _Netcdf4Dimid (id < 0: none); attach it to dimension `dim` of a
 * dataset. */
enum fit_status fit_h5_make_scale(struct fit_h5 *h, const char *path, const char *name, int id,
                                  struct fit_error *err);
enum fit_status fit_h5_attach_scale(struct fit_h5 *h, const char *path, unsigned dim,
                                    const char *scale, struct fit_error *err);

/* A second name for an object of the same file (a soft link). */
enum fit_status fit_h5_link(struct fit_h5 *h, const char *target, const char *path,
                            struct fit_error *err);

#endif
