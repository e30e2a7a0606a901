/* raw.h -- reading boxes of an HDF5 dataset from its bytes in the file, by several threads.
 *
 * The HDF5 library lets one thread in at a time and keeps it while it decompresses, and trusts what a
 * file says.  Here the structure of the file is read once, when a dataset is opened (object.h),
 * then pread(2) and the decoders for gzip, LZF, shuffle and checksums do the rest.
 *
 *     fit_h5_raw_new(budget, &set, err);
 *     fit_h5_raw_open(set, h5, "/c2", &raw, &why, err);    raw = NULL: *why says what is not understood
 *     fit_h5_raw_read(raw, start, count, out, err);        from any thread
 *     fit_h5_raw_free(set);
 *
 * Expanded chunks that were used last are kept, `budget` bytes of them, as a chunk is wanted again
 * by the next box more often than not.
 */
#ifndef FIT_HDF5_RAW_H
#define FIT_HDF5_RAW_H

#include "hdf5/reader.h"

struct fit_h5_raw_set; /* datasets that share files and the memory for chunks */
struct fit_h5_raw;     /* one dataset; owned by its set */

enum fit_status fit_h5_raw_new(size_t budget, struct fit_h5_raw_set **set, struct fit_error *err);
void fit_h5_raw_free(struct fit_h5_raw_set *set);

/* IEEE float32 or float64 in the order of bytes of the machine, of 2 or 3 dimensions.  The same dataset
 * of the same h5 gives the same raw.  *why (a constant text) is set when the way of storing is not
 * understood; *raw is NULL then and the status FIT_OK. */
enum fit_status fit_h5_raw_open(struct fit_h5_raw_set *set, const struct fit_h5 *h,
                                const char *path, struct fit_h5_raw **raw, const char **why,
                                struct fit_error *err);

/* As fit_h5_raw_open, but for values of any type and number of axes; a scalar has one of 1 element. */
enum fit_status fit_h5_raw_any(struct fit_h5_raw_set *set, const struct fit_h5 *h, const char *path,
                               struct fit_h5_raw **raw, struct fit_error *err);

/* Type and extent (object.h); as long as the set. */
struct fit_h5_dataset;
const struct fit_h5_dataset *fit_h5_raw_dataset(const struct fit_h5_raw *raw);
struct fit_h5_bytes;
struct fit_h5_bytes *fit_h5_raw_file(const struct fit_h5_raw *raw);

/* Bytes of an element (4 or 8); 1 when chunks must be expanded; extents of a chunk (of the dataset
 * when it is contiguous). */
size_t fit_h5_raw_item(const struct fit_h5_raw *raw);
int fit_h5_raw_compressed(const struct fit_h5_raw *raw);

/* Bytes of the expanded chunks that meet a plane on which the axes with a bit in `fixed` are constant;
 * 0 when the dataset is contiguous.  With less budget than for what is read together the same
 * chunks are expanded again and again. */
size_t fit_h5_raw_band(const struct fit_h5_raw *raw, unsigned fixed);

/* The budget becomes at least this. */
void fit_h5_raw_keep(struct fit_h5_raw_set *set, size_t budget);

/* The box start .. start + count (rank elements each), row by row, as stored. */
enum fit_status fit_h5_raw_read(struct fit_h5_raw *raw, const size_t *start, const size_t *count,
                                void *out, struct fit_error *err);

/* FIT_ERR_DATA when a file is no longer the one that was opened: replaced, cut or written to. */
enum fit_status fit_h5_raw_check(const struct fit_h5_raw_set *set, struct fit_error *err);

#endif
