/* npz.h -- arrays of numpy: .npz (a ZIP file of .npy members, stored or deflated) and bare .npy
 * files.
 *
 *     struct fit_npz *z;
 *     st = fit_npz_open("cache.npz", &z, &err);
 *     int m = fit_npz_find(z, "c2_exp");                          -1: no such member
 *     const struct fit_npz_array *a = fit_npz_array(z, m);        shape, kind
 *     st = fit_npz_read(z, m, 0, n, value, &err);                 numbers, as double
 *     fit_npz_close(z);
 *
 * Formats:  NPY 1.0 to 3.0;  ZIP by its central directory, with ZIP64, methods 0 and 8.  Pickled
 * objects are refused: reading them would run code of the file's author.  A bare .npy is a
 * container with one member "".
 */
#pragma once

#include "base/status.h"

#include <stddef.h>

enum { FIT_NPZ_RANK = 8 };

struct fit_npz;

struct fit_npz_array {
    const char *name; /* without .npy */
    char kind; /* of numpy's type: 'f' 'i' 'u' 'b' numbers; 'U' 'S' text; 'O' pickled; '?' others */
    size_t item; /* bytes of an element */
    int swapped; /* 1: the other byte order */
    int fortran; /* 1: the first index runs fastest */
    int rank;
    size_t dims[FIT_NPZ_RANK]; /* unused ones are 1 */
    size_t n;                  /* elements */
};

/* 1 when the file begins like a ZIP (npz) or NPY file. */
int fit_npz_is_npz(const char *file);
int fit_npz_is_npy(const char *file);

enum fit_status fit_npz_open(const char *file, struct fit_npz **z, struct fit_error *err);
void fit_npz_close(struct fit_npz *z);
const char *fit_npz_file(const struct fit_npz *z);

size_t fit_npz_count(const struct fit_npz *z);
const struct fit_npz_array *fit_npz_array(const struct fit_npz *z, int member);
int fit_npz_find(const struct fit_npz *z, const char *name);

/* Elements first .. first + n - 1 in the order of the file, as doubles.  A deflated member is
 * expanded as a stream: reading pieces in increasing order costs one pass. */
enum fit_status fit_npz_read(struct fit_npz *z, int member, size_t first, size_t n, double *value,
                             struct fit_error *err);

/* All elements; the caller frees. */
enum fit_status fit_npz_read_all(struct fit_npz *z, int member, double **value, size_t *n,
                                 struct fit_error *err);

/* The first element of a member of text, as UTF-8; the caller frees. */
enum fit_status fit_npz_read_text(struct fit_npz *z, int member, char **text,
                                  struct fit_error *err);
