/* h5_writer.h -- writing of HDF5 files by libhdf5: single calls, then result files with sticky errors.
 *
 * Paths are absolute ("/entry/data/c2"); missing groups are made. Nothing is overwritten: an existing path is an error.
 * From any thread, one file by one thread at a time; libhdf5 is entered by one of them (library.h).
 */
#pragma once

#include "base/output.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* "libhdf5 1.10.8" */
const char *fit_h5_library_name(void);

struct fit_h5; /* a file being written: fit_h5_create .. fit_h5_finish */

enum fit_h5_type {
    FIT_H5_F64,
    FIT_H5_F32, /* memory holds float */
    FIT_H5_I64,
    FIT_H5_I32,
    FIT_H5_U8,
    FIT_H5_I8,
    FIT_H5_BOOL /* unsigned char 0 or 1 in memory; h5py's enumeration {FALSE, TRUE} in the file */
};

struct fit_h5_array {
    enum fit_h5_type type;
    int rank; /* 0: scalar */
    const size_t *dims;
    const void *value;
    int deflate; /* 0: contiguous; 1..9: chunked, shuffled, deflated */
};

/* Makes an empty file, replacing an existing one. */
enum fit_status fit_h5_create(const char *file, struct fit_h5 **h, struct fit_error *err);

/* Flushes and closes; reports a failure (a full disk). h is freed in any case. */
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

/* ---- Result files ---------------------------------------------------------------------------- */

/* After the first failure further calls do nothing, and fit_h5r_close() reports it; so a writer of a whole file is a
 * plain list of its contents. */
struct fit_h5r {
    struct fit_h5 *h;
    struct fit_error error; /* status FIT_OK while all is well */
    int nscale;             /* for _Netcdf4Dimid, which netCDF-C wants on scales */
};

/* Makes the file (replaces an existing one). */
enum fit_status fit_h5r_create(const char *path, struct fit_h5r *w, struct fit_error *err);

/* Closes; reports the first error since fit_h5r_create.  Does nothing when there is no file. */
enum fit_status fit_h5r_close(struct fit_h5r *w, struct fit_error *err);

/* A file that is written atomically: beside its final name, and renamed at the end. */
struct fit_h5r_file {
    struct fit_output out;
    struct fit_h5r w;
};
enum fit_status fit_h5r_begin(struct fit_h5r_file *f, const char *path, struct fit_error *err);
/* Must follow a successful beginning. so_far: the status of writing its contents. */
enum fit_status fit_h5r_end(struct fit_h5r_file *f, enum fit_status so_far, struct fit_error *err);

/* Records that memory ran out for contents; an error like any other. */
void fit_h5r_no_memory(struct fit_h5r *w, const char *path);

/* A group; nx_class ("NXentry") becomes its attribute NX_class unless NULL. */
void fit_h5r_group(struct fit_h5r *w, const char *path, const char *nx_class);

/* Datasets with content.  units: attribute, or NULL.  rank 0: a scalar (dims unused). */
void fit_h5r_reals(struct fit_h5r *w, const char *path, int rank, const size_t *dims,
                   const double *value, const char *units);
void fit_h5r_real(struct fit_h5r *w, const char *path, double value, const char *units);
void fit_h5r_integers(struct fit_h5r *w, const char *path, size_t n, const int64_t *value);
void fit_h5r_integer(struct fit_h5r *w, const char *path, int64_t value);
void fit_h5r_bytes(struct fit_h5r *w, const char *path, size_t n, const unsigned char *value);
void fit_h5r_text(struct fit_h5r *w, const char *path, const char *value); /* NULL: nothing */
void fit_h5r_texts(struct fit_h5r *w, const char *path, size_t n, const char *const *value);

/* An array of numbers of any of the types; deflate as in struct fit_h5_array. */
void fit_h5r_array(struct fit_h5r *w, const char *path, const struct fit_h5_array *a,
                   const char *units);

/* An empty contiguous dataset of doubles, to be filled by fit_h5r_block; rank 1 to 4. */
void fit_h5r_empty(struct fit_h5r *w, const char *path, int rank, const size_t *dims,
                   const char *units);
void fit_h5r_block(struct fit_h5r *w, const char *path, const size_t *start, const size_t *count,
                   const double *value);

/* m consecutive matrices of n x n floats, each with room for fit_h5r_matrix_rows(n) rows, and a dataset for each,
 * compressed by all threads; path_of gives the path of number first, first + 1, ... Small ones are one chunk; those
 * that will be streamed have chunks of several rows, the last of which is filled up with rows that do not count. */
typedef void fit_h5r_path(char *path, size_t size, size_t k);
size_t fit_h5r_matrix_rows(size_t n);
void fit_h5r_matrices(struct fit_h5r *w, fit_h5r_path *path_of, size_t first, size_t m, size_t n, const float *value);

void fit_h5r_attribute(struct fit_h5r *w, const char *path, const char *name, const char *value);
void fit_h5r_attributes(struct fit_h5r *w, const char *path, const char *name, size_t n,
                        const char *const *value);
void fit_h5r_attribute_real(struct fit_h5r *w, const char *path, const char *name, double value);

/* Makes a 1-D dataset the scale of a dimension called `name`; attaches it to an axis of another
 * dataset. */
void fit_h5r_scale(struct fit_h5r *w, const char *path, const char *name);
void fit_h5r_attach(struct fit_h5r *w, const char *dataset, unsigned axis, const char *scale);
