/* output.h -- atomic writing of a set of files.
 *
 * Result files are written under temporary names beside the final ones; fit_output_commit() flushes them to disk and
 * renames them one after the other, so that a reader never sees half a file and a crash while writing leaves the former
 * results in place.
 *
 *     struct fit_output out;
 *     fit_output_begin(&out, "results", err);
 *     fit_output_add(&out, "fit.json", &path, err);        write to `path`, by any means
 *     fit_output_commit(&out, err);                         or fit_output_abandon(&out)
 */
#pragma once

#include "base/status.h"

#include <stddef.h>

#define FIT_OUTPUT_MAX 32
#define FIT_OUTPUT_PATH 1024

struct fit_output {
    char folder[FIT_OUTPUT_PATH];
    size_t n;
    struct fit_output_file {
        char final[FIT_OUTPUT_PATH], temporary[FIT_OUTPUT_PATH]; /* temporary "": there is none, or no longer */
        int fd; /* of the temporary file, locked; -1: the file is only removed */
    } * file;
};

/* mkdir -p; *made: how many folders, counted from the last, were missing. */
enum fit_status fit_output_folder(const char *folder, unsigned *made, struct fit_error *err);

/* Removes folders that were made in vain, the last one first, as far as they are empty. */
void fit_output_unmake(const char *folder, unsigned made);

/* Makes the folder (and its parents) when it is missing; removes temporary files that killed programs have left. */
enum fit_status fit_output_begin(struct fit_output *out, const char *folder, struct fit_error *err);

/* A file of the set; *path (owned by out) is the temporary name to write to. */
enum fit_status fit_output_add(struct fit_output *out, const char *name, const char **path,
                               struct fit_error *err);

/* The same, with its content: size bytes of text. */
enum fit_status fit_output_add_text(struct fit_output *out, const char *name, const char *text,
                                    size_t size, struct fit_error *err);

/* A file to be removed when the new set is in place. */
enum fit_status fit_output_remove(struct fit_output *out, const char *name, struct fit_error *err);

/* Flushes and renames all files, then removes the obsolete ones. On failure the temporary files are removed; out is
 * free again in both cases. */
enum fit_status fit_output_commit(struct fit_output *out, struct fit_error *err);

/* Removes the temporary files. */
void fit_output_abandon(struct fit_output *out);

/* Refuses an existing file; option: its source, "-o". */
enum fit_status fit_output_is_new(const char *path, const char *option, struct fit_error *err);

/* One file at `path`: splits it into folder and name, writes text, commits. */
enum fit_status fit_output_write(const char *path, const char *text, size_t size,
                                 struct fit_error *err);

/* Begins a set with the single file `path`; write to *temporary. */
enum fit_status fit_output_one(struct fit_output *out, const char *path, const char **temporary,
                               struct fit_error *err);
