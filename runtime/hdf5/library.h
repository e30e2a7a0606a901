/* library.h -- libhdf5: every call of it stands between fit_h5_enter and fit_h5_leave; and datasets that the own reader
 * refuses (fit_h5_refuse) read by it.
 *
 * libhdf5 trusts what a file says.  It gets a file whose superblock, groups and headers on the way to the dataset, and
 * whose index of chunks, if there is one, the own reader has found sound; so have to be the sources of a virtual
 * dataset.
 */
#pragma once

#include "hdf5/object.h"

#include <hdf5.h>

/* Debian's libhdf5 is for one thread at a time: others wait, the same thread may enter again.  It prints nothing
 * meanwhile; what a program around us has set for its errors is set again behind. */
struct fit_h5_inside {
    H5E_auto2_t say;
    void *with;
};
struct fit_h5_inside fit_h5_enter(void);
void fit_h5_leave(const struct fit_h5_inside *in);

/* Why the last call failed, in libhdf5's words: the innermost reason; between enter and leave. */
void fit_h5_reason(char *text, size_t size);

struct fit_h5_library; /* an open dataset */

/* Bytes of expanded chunks that libhdf5 keeps for each. */
#define FIT_H5_LIBRARY_CACHE ((size_t)64 << 20)

/* A file for reading, without locks; -1: not. */
hid_t fit_h5_library_file(const char *name);

/* The sources of a virtual dataset, all of them looked at: libhdf5 takes what it cannot open for something that was
 * never written. */
struct fit_h5_sources {
    size_t n, missing, looked;
    char text[200]; /* the first few files, for a note */
    char first_missing[200];
};
/* set: the virtual dataset of f, opened by libhdf5 from the file `base`; between enter and leave. */
enum fit_status fit_h5_virtual_sources(struct fit_h5_bytes *f, hid_t set, const char *base, struct fit_h5_sources *s,
                                       struct fit_error *err);

/* FIT_ERR_DATA when a filter of the dataset is not known to libhdf5, nor one of its plugins. */
enum fit_status fit_h5_library_filters(const struct fit_h5_bytes *f, hid_t set, const char *path,
                                       struct fit_error *err);

/* The dataset of a header, whose path is for messages; what: why the own reader refuses it.  d: its type and extent
 * become those of the values as they are read: numbers that the own reader does not know become doubles.  Notes tell of
 * it, and of the sources of a virtual dataset.  It stays open for a while, for others who ask; close for each. */
enum fit_status fit_h5_library_open(const struct fit_h5_header *h, const char *path, const char *what,
                                    struct fit_h5_dataset *d, struct fit_h5_library **l, struct fit_error *err);
void fit_h5_library_close(struct fit_h5_library *l);

/* Closes those of a file, and of others to which its links lead, but for the `kept` that were asked for last. */
void fit_h5_library_forget(struct fit_h5_bytes *first, size_t kept);

/* The box start .. start + count, row by row, values of d->type; from any thread. */
enum fit_status fit_h5_library_read(struct fit_h5_library *l, const size_t *start, const size_t *count, void *out,
                                    struct fit_error *err);
