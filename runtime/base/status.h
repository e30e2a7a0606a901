/* status.h -- status codes and error messages of the runtime.
 *
 * Every function that can fail returns an enum fit_status and takes a struct fit_error last. The message says where,
 * what was wrong, what was found and what would be right. The library never prints or exits.
 */
#pragma once

#include <stddef.h>

enum fit_status {
    FIT_OK = 0,
    FIT_ERR_USAGE,       /* command line */
    FIT_ERR_CONFIG,      /* configuration file, model and configuration disagree */
    FIT_ERR_DATA,        /* content of a data file */
    FIT_ERR_IO,          /* a file cannot be read or written */
    FIT_ERR_MEMORY,      /* allocation failed */
    FIT_ERR_NUMERIC,     /* no finite value could be computed */
    FIT_ERR_INTERNAL,    /* our mistake */
    FIT_ERR_INTERRUPTED, /* the user asked to stop */
    FIT_ERR_UNSUPPORTED  /* a valid file contains something that the program does not read */
};

/* The location is a file, perhaps with line and column (0: none), or an option; file is "" without one. With a
 * location the message is complete, "my.yaml:14:3: error: chains: ...", and the description begins at message +
 * says. */
struct fit_error {
    enum fit_status status;
    char file[320];
    unsigned line, column, says;
    char message[1024];
};

/* Fills err (may be NULL) with a formatted message and returns s, so that callers can write
 *     return fit_fail(err, FIT_ERR_DATA, "%s: no dataset /xpcs/qmap", path); */
enum fit_status fit_fail(struct fit_error *err, enum fit_status s, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with a location: the message is "FILE:LINE:COLUMN: error: " and the text. */
enum fit_status fit_fail_at(struct fit_error *err, enum fit_status s, const char *file, size_t line, size_t column,
                            const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Message "WHAT: out of memory"; what: a file or the task, or NULL; returns FIT_ERR_MEMORY. */
enum fit_status fit_no_memory(struct fit_error *err, const char *what);

/* "FILE:LINE:COLUMN: KIND: ", without numbers that are 0; kind: "error" or "note". Length, as snprintf. */
int fit_place_text(char *text, size_t size, const char *file, size_t line, size_t column, const char *kind);

/* The text between a program's name and the message: "error: ", or nothing where the message has a location and says
 * so itself, or where the user ended the program. */
const char *fit_error_word(const struct fit_error *err);

/* Exit status of a program that ends with s: 0; 1 internal or out of memory; 3 usage or configuration; 4 data,
 * including data without a finite result; 130. */
int fit_status_exit(enum fit_status s);
