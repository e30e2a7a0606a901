/* batch.h -- the list of fits of `batch`. */
#ifndef HOMODYNE_BATCH_H
#define HOMODYNE_BATCH_H

#include "frontend/front.h"
#include "frontend/result.h"

struct batch_job {
    char *name, *file, *folder, *log; /* folder of the results; what the fitter printed */
    double q;                         /* NaN: the configuration's */
    char key[65];                     /* changes when anything that the fit depends on changes */
    int done;                         /* its result is there, of this key */
    int code;                         /* exit status; -1: not run */
    long pid;                         /* while it runs; else 0 */
    double look; /* another command is at work in its folder: when to look again; 0: none was met */
    double seconds, begin;
    struct front_result result;
    int has_result;
};

struct batch {
    struct fit_cli cli; /* the words as the fitter reads them */
    const char *config, *folder;
    char **option; /* for every fit */
    size_t noption;
    struct front_fitter fitter;
    long jobs; /* at a time */
    size_t n, nother;
    struct batch_job *job, *other; /* other: of the same folder, not in our list (batch_others.c) */
};

/* From the command line to the list, with the results that are there already. */
enum fit_status batch_make(struct front *f, const struct front_args *a, struct batch *b,
                           struct fit_error *err);
void batch_free(struct batch *b);

/* Is the result of the job there, of this key? */
void batch_look(struct batch_job *job);

/* For other commands that write the table of the same folder: a row of a fit that has ended; the rows of theirs. */
enum fit_status batch_row_write(const struct batch_job *job, struct fit_error *err);
enum fit_status batch_others(struct batch *b, struct fit_error *err);
void batch_others_free(struct batch *b);

/* Remembers that the job is done: the key goes into its folder. */
enum fit_status batch_remember(const struct batch_job *job, struct fit_error *err);

#endif
