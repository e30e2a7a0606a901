/* hdf5_internal.h -- shared by hdf5_io.c, hdf5_raw.c (reading) and hdf5_write.c. */
#ifndef FIT_HDF5_INTERNAL_H
#define FIT_HDF5_INTERNAL_H

#include "hdf5_bytes.h"
#include "hdf5_io.h"

struct fit_h5 {
    char *name;
    struct fit_h5_bytes *in; /* a file that is read, or NULL */
    int64_t out;             /* hid_t of a file that is written, or -1 */
};

/* The handle alone, or NULL. */
struct fit_h5 *fit_h5_new(const char *name);

#endif
