/* h5_writer.h -- writing of result files: reader.h with errors that stick, and datasets filled
 * in blocks.
 *
 * After the first failure further calls do nothing, and fit_h5r_close() tells what went wrong; so a
 * writer of a whole file is a plain list of what is in it.  Paths are absolute ("/entry/data/c2");
 * missing groups are made.
 */
#ifndef FIT_HDF5_RESULTS_H
#define FIT_HDF5_RESULTS_H

#include "hdf5/reader.h"

struct fit_h5r {
    struct fit_h5 *h;
    struct fit_error error; /* status FIT_OK while all is well */
    int nscale;             /* for _Netcdf4Dimid, which netCDF-C wants on scales */
};

/* Makes the file (replaces an existing one). */
enum fit_status fit_h5r_create(const char *path, struct fit_h5r *w, struct fit_error *err);

/* Closes; reports the first error since fit_h5r_create.  Does nothing when there is no file. */
enum fit_status fit_h5r_close(struct fit_h5r *w, struct fit_error *err);

/* Memory ran out for what should have been written; an error like any other. */
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

/* A matrix of floats as one chunk, already shuffled and deflated: see fit_h5r_pack. */
void fit_h5r_packed_matrix(struct fit_h5r *w, const char *path, size_t n, const void *bytes,
                           size_t size);

/* Shuffles and deflates n x n floats as HDF5's filters do, so that many matrices can be packed at a
 * time by several threads.  *bytes: owned by the caller.  Returns 0, or -1 without memory. */
int fit_h5r_pack(const float *matrix, size_t n, int level, void **bytes, size_t *size);

void fit_h5r_attribute(struct fit_h5r *w, const char *path, const char *name, const char *value);
void fit_h5r_attributes(struct fit_h5r *w, const char *path, const char *name, size_t n,
                        const char *const *value);
void fit_h5r_attribute_real(struct fit_h5r *w, const char *path, const char *name, double value);

/* Makes a 1-D dataset the scale of a dimension called `name`; attaches it to an axis of another
 * dataset. */
void fit_h5r_scale(struct fit_h5r *w, const char *path, const char *name);
void fit_h5r_attach(struct fit_h5r *w, const char *dataset, unsigned axis, const char *scale);

#endif
