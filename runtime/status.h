/* status.h -- status codes and error messages of the runtime.
 *
 * Every function that can fail returns an enum fit_status and takes a struct fit_error last.  The message
 * says where, what was wrong, what was seen and what would be right.  The library never prints or exits.
 */
#ifndef FIT_STATUS_H
#define FIT_STATUS_H

enum fit_status {
    FIT_OK = 0,
    FIT_ERR_USAGE,       /* command line */
    FIT_ERR_CONFIG,      /* configuration file, model and configuration disagree */
    FIT_ERR_DATA,        /* content of a data file */
    FIT_ERR_IO,          /* a file cannot be read or written */
    FIT_ERR_MEMORY,      /* allocation failed */
    FIT_ERR_NUMERIC,     /* no finite value could be computed */
    FIT_ERR_INTERNAL,    /* our mistake */
    FIT_ERR_INTERRUPTED  /* the user asked to stop */
};

struct fit_error {
    enum fit_status status;
    char message[1024];
};

/* Fills err (may be NULL) with a formatted message and returns s, so that callers can write
 *     return fit_fail(err, FIT_ERR_DATA, "%s: no dataset /xpcs/qmap", path); */
enum fit_status fit_fail(struct fit_error *err, enum fit_status s, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Exit status of a program that ends with s: 0, 1 internal or out of memory, 3 usage or configuration, 4 data, also
 * those from which no finite number comes, 130. */
int fit_status_exit(enum fit_status s);

#endif
