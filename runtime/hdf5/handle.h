/* handle.h -- shared by reader.c, raw.c (reading) and h5_calls.c. */
#pragma once

#include "hdf5/bytes.h"
#include "hdf5/reader.h"

struct fit_h5 {
    char *name;
    struct fit_h5_bytes *in; /* a file that is read, or NULL */
    int64_t out;             /* hid_t of a file being written, or -1 */
};

/* Only the handle, or NULL. */
struct fit_h5 *fit_h5_new(const char *name);
