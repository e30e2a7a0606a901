/* checkpoint.h -- a sampling run in a file, from which it can continue after the program has ended.
 *
 * The file is written atomically: under a temporary name beside the final one, flushed and renamed. It begins with
 * lines of text that identify the run,
 *
 *     homodyne-gen checkpoint 4
 *     run 0123456789abcdef       which run has written it (run_id.h)
 *     data: 5f0c...
 *     parameter D0: [100, 100000], log_normal 7 1
 *     ...
 *     (an empty line)
 *
 * then come numbers (little-endian) and the bytes of sampler.h, then a SHA-256 of all that.
 */
#pragma once

#include "base/arena.h"
#include "base/run_id.h"
#include "base/status.h"

#include <stddef.h>

/* The point at which the posterior was built, its mode, and the chains. The arrays belong to a checkpoint that was
 * read (fit_checkpoint_free) and are borrowed by one that is written. */
struct fit_checkpoint {
    size_t nparam, nlin, ngroup, ncoordinate;
    double *theta, *lin, *sigma; /* nparam, nlin, ngroup: of fit_posterior_setup */
    double *mode, *covariance;   /* ncoordinate, squared */
    double weak;                 /* directions that the Hessian does not determine */
    double finished;             /* 1: all draws are there */
    double plain_rates, starts;  /* as in fit_posterior_setup and fit_samples */
    double seconds, passes;      /* spent so far */
    double other_mass;           /* these three as in fit_samples */
    char other_text[200], start_text[160];
    char run[FIT_RUN_ID];        /* "": not told */
    unsigned char *state;        /* of the sampler */
    size_t size;
    struct fit_arena storage_;
};

/* Replaces the file at path.  identity: lines "name: value\n", none of them empty.  FIT_ERR_IO. */
enum fit_status fit_checkpoint_write(const char *path, const char *identity,
                                     const struct fit_checkpoint *c, struct fit_error *err);

/* Reads the file. FIT_ERR_IO: there is none; FIT_ERR_DATA: damaged, or of another version of the format;
 * FIT_ERR_USAGE: of another run; the message names the first line that differs; FIT_ERR_MEMORY: larger than the
 * available memory. c is then empty, but for `finished` of another run. Takes as much memory as the file is long. */
enum fit_status fit_checkpoint_read(const char *path, const char *identity,
                                    struct fit_checkpoint *c, struct fit_error *err);
void fit_checkpoint_free(struct fit_checkpoint *c);
