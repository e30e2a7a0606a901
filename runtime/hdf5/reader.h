/* reader.h -- reading HDF5 files: the interface of this room to all others; h5_writer.h writes them.
 *
 * Two ways. The room's own reader supports the format (HDF5 File Format Specification 3.0) as far as measurements use
 * it, and trusts nothing. Features that it knows but does not support -- virtual datasets, filters other than gzip,
 * LZF, LZ4, Zstandard, bitshuffle, shuffle and checksums, numbers other than integers of 1 to 8 bytes and IEEE 754 of
 * 2, 4 and 8, newer versions of a message -- are read by libhdf5, and a note says so (fit_h5_notes). Both ways give the
 * same values: where the own reader knows the type, libhdf5 returns the bytes as stored, and one function converts
 * them.
 *
 * Names. Objects are named by their absolute path in the file ("/xpcs/qmap/map_names"); "." and repeated "/" are
 * ignored, ".." is a name like others. Soft and hard links are followed; at most 16 soft links on one path.
 *
 * Values. Numbers become doubles, row by row, the last axis fastest, whatever their order in the file: integers and
 * floating point of any width and byte order; NaN and infinities are preserved; integers beyond 2^53 are rounded.
 * Unwritten values are the fill value of the dataset, or 0. Compounds, enumerations and complex numbers are not
 * numbers. Texts of fixed and of variable length become bytes ended by NUL, unchanged (ASCII or UTF-8), without
 * padding; only the own reader reads those of variable length. Units are the caller's task (fit_h5_read_unit).
 *
 * Ownership. Arrays and texts that are returned through a pointer belong to the caller (free, fit_h5_free_strings) and
 * are NULL after an error. A handle owns linked files; a set of datasets (fit_h5_raw_set) keeps the files that it
 * reads, even when the handle is closed.
 *
 * Threads. A handle is for one thread at a time, different handles are for any; fit_h5_raw_read is for all. libhdf5 is
 * entered by one thread at a time, under one lock, which the writer takes, too.
 *
 * Errors begin with the file and the path.
 *     FIT_ERR_IO            the file, or one that it names, is missing, not HDF5, incomplete, or being written
 *     FIT_ERR_DATA          damaged (with the byte), or not the requested kind; or libhdf5 could not read it either
 *                           (with its innermost reason; where a plugin is missing, number and name of the filter)
 *     FIT_ERR_UNSUPPORTED   valid, as far as it was understood, and neither way reads it: the message says what it is
 *     FIT_ERR_MEMORY
 * A file that is found damaged is never given to libhdf5.
 *
 * Hostile files. The own reader can only refuse them. It reads inside the file only, a few times its size in all,
 * whatever its parts claim about each other; it requests memory in proportion to the file (chunks of gzip: 1032 to 1,
 * of Zstandard 32768; for unwritten values 64 MB, and for chunks four times the written bytes), and takes time in
 * proportion to that. It is fuzzed (tests/fuzz/fuzz_hdf5.c, fuzz_chunks.c). libhdf5 trusts files and is not fuzzed
 * here: a file made for it may end the program, or worse. It only gets files that the own reader has accepted as far as
 * it could follow, the chunk index included, and filters that the user has installed (HDF5_PLUGIN_PATH). fit_h5_alone()
 * closes this way, and those out of the file.
 *
 * Other files. External links and virtual datasets name files. They are sought as HDF5 does, but not in the working
 * directory, and read only in or below the folder of the file, or a folder that the user names (HDF5_EXT_PREFIX,
 * HDF5_VDS_PREFIX): a data file does not decide what else on a computer is read (external.h). A missing source of a
 * virtual dataset is an error, unless the dataset declares a fill value; then a note warns. External storage (bytes of
 * any file taken for values) is not read.
 */
#pragma once

#include "base/notes.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { FIT_H5_RANK = 8 }; /* highest rank that is understood */

struct fit_h5;

enum fit_h5_kind {
    FIT_H5_NONE, /* no such object */
    FIT_H5_GROUP,
    FIT_H5_NUMBER, /* dataset of integers or floating-point numbers */
    FIT_H5_TEXT,   /* dataset of strings */
    FIT_H5_OTHER,  /* dataset of another kind */
    FIT_H5_AWAY    /* a link that is not followed, or leads out of the file and dangles */
};

/* ---- Whole datasets ---------------------------------------------------------------------------- */

/* 1 when chunks stored with Zstandard are read: this build has the library. */
int fit_h5_knows_zstd(void);

/* 1 when the file begins like an HDF5 file (it may still be damaged). */
int fit_h5_is_hdf5(const char *file);

enum fit_status fit_h5_open(const char *file, struct fit_h5 **h, struct fit_error *err);
void fit_h5_close(struct fit_h5 *h);

/* 1 when memory ran out in a call whose result cannot say so (fit_h5_kind), or whose error the caller ignored:
 * objects that seemed to be missing may exist. */
int fit_h5_starved(const struct fit_h5 *h);

/* Notes on how values were read up to now: by libhdf5, from other files. */
const struct fit_notes *fit_h5_notes(const struct fit_h5 *h);

/* From here on no other file is opened, and libhdf5 is not used: an unsupported feature is an error. */
void fit_h5_alone(struct fit_h5 *h);

/* The name given to open or create. */
const char *fit_h5_file(const struct fit_h5 *h);

enum fit_h5_kind fit_h5_kind(const struct fit_h5 *h, const char *path);
int fit_h5_exists(const struct fit_h5 *h, const char *path);

/* Rank and extents of a dataset; a scalar has rank 0.  dims:  FIT_H5_RANK elements, the unused
 * ones 1. */
enum fit_status fit_h5_shape(const struct fit_h5 *h, const char *path, int *rank,
                             size_t dims[FIT_H5_RANK], struct fit_error *err);

/* The first element, whatever the rank: instruments write scalars as (1,1) arrays. */
enum fit_status fit_h5_read_scalar(const struct fit_h5 *h, const char *path, double *value,
                                   struct fit_error *err);

/* All elements of a dataset of any rank, row by row. */
enum fit_status fit_h5_read_doubles(const struct fit_h5 *h, const char *path, double **value,
                                    size_t *n, struct fit_error *err);

/* All n elements into memory of the caller, by a single read: a compressed chunk is expanded once.
 * float32 is widened in place, without another buffer. */
enum fit_status fit_h5_read_into(const struct fit_h5 *h, const char *path, double *value, size_t n,
                                 struct fit_error *err);

/* The block start[i] .. start[i] + count[i] - 1 of a dataset (rank elements each). */
enum fit_status fit_h5_read_block(const struct fit_h5 *h, const char *path, const size_t *start,
                                  const size_t *count, double *value, struct fit_error *err);

enum fit_status fit_h5_read_string(const struct fit_h5 *h, const char *path, char **text,
                                   struct fit_error *err);
enum fit_status fit_h5_read_strings(const struct fit_h5 *h, const char *path, char ***text,
                                    size_t *n, struct fit_error *err);
void fit_h5_free_strings(char **text, size_t n);

/* Names of the members of a group, or of the attributes of an object, sorted by their bytes. */
enum fit_status fit_h5_list(const struct fit_h5 *h, const char *group, char ***name, size_t *n,
                            struct fit_error *err);
enum fit_status fit_h5_list_attr(const struct fit_h5 *h, const char *path, char ***name, size_t *n,
                                 struct fit_error *err);

int fit_h5_has_attr(const struct fit_h5 *h, const char *path, const char *name);
enum fit_status fit_h5_read_attr_doubles(const struct fit_h5 *h, const char *path, const char *name,
                                         double **value, size_t *n, struct fit_error *err);
enum fit_status fit_h5_read_attr_string(const struct fit_h5 *h, const char *path, const char *name, char **text,
                                        struct fit_error *err);

/* The unit that a dataset states in the attribute `units` or `unit`; NULL: none. An attribute that is not a text is
 * an error. */
enum fit_status fit_h5_read_unit(const struct fit_h5 *h, const char *path, char **text, struct fit_error *err);

/* ---- Boxes, by several threads ---------------------------------------------------------------- */

/* The structure of the file is read once, when a dataset is opened; then pread(2) and the decoders do the rest, or
 * libhdf5 under its lock.
 *
 *     fit_h5_raw_new(budget, &set, err);
 *     fit_h5_raw_open(set, h5, "/c2", &raw, &why, err);    raw = NULL: *why says why it is not read in boxes
 *     fit_h5_raw_read(raw, start, count, out, err);        from any thread
 *     fit_h5_raw_free(set);
 *
 * The most recently used expanded chunks are kept, up to `budget` bytes, because the next box usually needs a chunk
 * again. */
struct fit_h5_raw_set; /* datasets that share files and the memory for chunks */
struct fit_h5_raw;     /* one dataset; owned by its set */

enum fit_status fit_h5_raw_new(size_t budget, struct fit_h5_raw_set **set, struct fit_error *err);
void fit_h5_raw_free(struct fit_h5_raw_set *set);

/* IEEE float32 or float64 in the byte order of the machine, of 2 or 3 dimensions. The same dataset of the same h5
 * gives the same raw. For other valid datasets *why (a constant text) says what they are, *raw is NULL and the
 * status FIT_OK. */
enum fit_status fit_h5_raw_open(struct fit_h5_raw_set *set, const struct fit_h5 *h,
                                const char *path, struct fit_h5_raw **raw, const char **why,
                                struct fit_error *err);

/* Bytes of an element (4 or 8); 1 when chunks must be expanded; extents of a chunk (of the dataset
 * when it is contiguous). */
size_t fit_h5_raw_item(const struct fit_h5_raw *raw);
int fit_h5_raw_compressed(const struct fit_h5_raw *raw);

/* Bytes of the expanded chunks that intersect a plane on which the axes with a bit in `fixed` are constant; 0 when
 * the dataset is contiguous. With less budget than needed for values that are read together, the same chunks are
 * expanded again and again. */
size_t fit_h5_raw_band(const struct fit_h5_raw *raw, unsigned fixed);

/* Raises the budget to at least this. */
void fit_h5_raw_keep(struct fit_h5_raw_set *set, size_t budget);

/* The box start .. start + count (rank elements each), row by row, as stored. */
enum fit_status fit_h5_raw_read(struct fit_h5_raw *raw, const size_t *start, const size_t *count,
                                void *out, struct fit_error *err);

/* FIT_ERR_DATA when a file is no longer the one that was opened: replaced, truncated or written to. Sources of
 * virtual datasets are not watched. */
enum fit_status fit_h5_raw_check(const struct fit_h5_raw_set *set, struct fit_error *err);
