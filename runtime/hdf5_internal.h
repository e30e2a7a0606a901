/* hdf5_internal.h -- shared by hdf5_io.c and hdf5_write.c. */
#ifndef FIT_HDF5_INTERNAL_H
#define FIT_HDF5_INTERNAL_H

#include "hdf5_io.h"

#include <hdf5.h>

struct fit_h5 {
    hid_t file;
    char *name;
};

/* Allocates the handle, silences HDF5's printing and registers LZF. */
struct fit_h5 *fit_h5_new(const char *name);

#endif
