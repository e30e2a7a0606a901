/* npz_write.h -- writing of .npz files: a ZIP archive of stored NPY 1.0 members, without pickles.
 *
 *     struct fit_npz_writer w;
 *     fit_npz_create(&w, path);
 *     fit_npz_put(&w, "samples", 2, (size_t[]){n, p}, value);
 *     fit_npz_put_names(&w, "param_names", p, name);
 *     st = fit_npz_finish(&w, &err);
 *
 * The first failure is kept, and fit_npz_finish reports it. Members and the whole file are below 4 GiB.
 */
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { FIT_NPZ_MEMBERS = 64 };

struct fit_npz_writer {
    FILE *f;
    const char *path; /* borrowed */
    struct fit_error error;
    size_t n;
    struct fit_npz_member {
        char name[64];
        uint32_t crc, size, offset;
    } member[FIT_NPZ_MEMBERS];
};

void fit_npz_create(struct fit_npz_writer *w, const char *path);

/* float64, C order; rank 0 to 4. */
void fit_npz_put(struct fit_npz_writer *w, const char *name, int rank, const size_t *dims,
                 const double *value);

/* n ASCII strings as numpy's unicode type. */
void fit_npz_put_names(struct fit_npz_writer *w, const char *name, size_t n,
                       const char *const *text);

/* Closes the archive. */
enum fit_status fit_npz_finish(struct fit_npz_writer *w, struct fit_error *err);
