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

#include "base/notes.h"
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
    FIT_H5_OTHER,  /* dataset of another kind */
    FIT_H5_AWAY    /* a link that is not followed, or leads out of the file to nothing */
};

/* ---- Reading --------------------------------------------------------------------------------- */

/* 1 when the file begins like an HDF5 file (it may still be damaged). */
int fit_h5_is_hdf5(const char *file);

enum fit_status fit_h5_open(const char *file, struct fit_h5 **h, struct fit_error *err);
void fit_h5_close(struct fit_h5 *h);

/* 1 when memory ran out in a call whose answer cannot say so (fit_h5_kind), or whose error the caller
 * did not look at: what seemed not to be there may be there. */
int fit_h5_starved(const struct fit_h5 *h);

/* What the user should know of how values were read up to now: by libhdf5, from other files. */
const struct fit_notes *fit_h5_notes(const struct fit_h5 *h);

/* From here on no other file is opened, and libhdf5 is not asked: what the reader does not understand is an error. */
void fit_h5_alone(struct fit_h5 *h);

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


#endif
