/* library.h -- libhdf5: every call of it is between fit_h5_enter and fit_h5_leave; datasets that this room's reader
 * refuses (fit_h5_refuse) are read by it.
 *
 * libhdf5 trusts the contents of a file. It only gets files in which this reader has found superblock, groups, the
 * headers on the way to the dataset and, if there is one, the chunk index valid; the same applies to the sources of a
 * virtual dataset.
 */
#pragma once

#include "hdf5/object.h"

#include <hdf5.h>

/* Debian's libhdf5 is for one thread at a time: others wait, and the same thread may enter again. It prints nothing
 * meanwhile; the error handler of a surrounding program is restored afterwards. */
struct fit_h5_inside {
    H5E_auto2_t say;
    void *with;
};
struct fit_h5_inside fit_h5_enter(void);
void fit_h5_leave(const struct fit_h5_inside *in);

/* The reason of the last failure in libhdf5's words: the innermost one; between enter and leave. */
void fit_h5_reason(char *text, size_t size);

struct fit_h5_library; /* an open dataset */

/* Bytes of expanded chunks that libhdf5 keeps for each dataset. */
#define FIT_H5_LIBRARY_CACHE ((size_t)64 << 20)

/* Opens a file for reading, without locks; -1: failed. */
hid_t fit_h5_library_file(const char *name);

/* Checks all sources of a virtual dataset: libhdf5 treats a source that it cannot open as never written. */
struct fit_h5_sources {
    size_t n, missing, looked;
    char text[200]; /* the first few files, for a note */
    char first_missing[200];
};
/* set: the virtual dataset of f, opened by libhdf5 from the file `base`; between enter and leave. */
enum fit_status fit_h5_virtual_sources(struct fit_h5_bytes *f, hid_t set, const char *base, struct fit_h5_sources *s,
                                       struct fit_error *err);

/* FIT_ERR_DATA when neither libhdf5 nor its plugins know a filter of the dataset. */
enum fit_status fit_h5_library_filters(const struct fit_h5_bytes *f, hid_t set, const char *path,
                                       struct fit_error *err);

/* The dataset of a header, whose path is for messages; what: why this reader refuses it. d: its type and extent
 * become those of the values as they are read; numbers that this reader does not know become doubles. Notes report
 * it, and the sources of a virtual dataset. It stays open for a while for further queries; close it for each. */
enum fit_status fit_h5_library_open(const struct fit_h5_header *h, const char *path, const char *what,
                                    struct fit_h5_dataset *d, struct fit_h5_library **l, struct fit_error *err);
void fit_h5_library_close(struct fit_h5_library *l);

/* Closes the datasets of a file, and of linked files, except the `kept` most recently used. */
void fit_h5_library_forget(struct fit_h5_bytes *first, size_t kept);

/* The box start .. start + count, row by row, values of d->type; from any thread. */
enum fit_status fit_h5_library_read(struct fit_h5_library *l, const size_t *start, const size_t *count, void *out,
                                    struct fit_error *err);
