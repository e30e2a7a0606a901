/* external.h -- files to which an HDF5 file refers: in external links, as sources of virtual datasets.
 *
 * A name is sought where libhdf5 seeks it (reference manual, H5Lcreate_external): an absolute one as it is, otherwise
 * its last part; in the folders of an environment variable, separated by ':'; in the folder of the file; in that of the
 * file behind a symbolic link. Not in the working directory, which may be another one tomorrow.
 *
 * The file found must be in or below the folder of the file that was opened first, or one of the variable: a data file
 * does not decide what else on a computer is read. A symbolic link in the folder is its owner's decision and is
 * followed.
 */
#pragma once

#include "hdf5/bytes.h"

/* The kind of reference, for messages ("links to"), and the environment variable with folders. */
struct fit_h5_external {
    const char *what, *variable;
};

/* Opens a file that the program names for reading: FIT_ERR_UNSUPPORTED when this reader cannot find its root. */
enum fit_status fit_h5_file_open(const char *file, struct fit_h5_bytes **f, struct fit_error *err);

/* The path of the file that f calls `name`, for the caller to free; base: f->name, or the file behind it, to search
 * beside this one only; NULL: beside both. FIT_ERR_IO: missing; FIT_ERR_DATA: it must not be read. */
enum fit_status fit_h5_external_path(const struct fit_h5_bytes *f, const char *name, const char *base,
                                     const struct fit_h5_external *how, char **path, struct fit_error *err);

/* The file of an external link, opened once for all links; closed with the first file. */
enum fit_status fit_h5_external_open(struct fit_h5_bytes *f, const char *name, struct fit_h5_bytes **to,
                                     struct fit_error *err);

/* Notes that values are read from this file, if it is not the one opened first. */
void fit_h5_external_note(struct fit_h5_bytes *f);
