/* direct.h -- two-time matrices computed from where they lie in the page cache: no buffer, no reader in
 * between.  For values stored contiguously, row by row, with the upper triangle filled.
 *
 * The file is mapped (mapped.h), in large pages where possible; who computes reads its tiles there, at
 * any time and in any order.  A thread looks ahead and asks the system for what is not in memory yet.
 * A row of tiles that is done is let go of, so that pages of the file do not count as memory of the
 * process, but for the first `keep` bytes: mapping small pages anew costs as much as the sums.
 */
#ifndef FIT_DIRECT_H
#define FIT_DIRECT_H

#include "fit/kernel.h"
#include "plane.h"

struct fit_direct;

struct fit_direct_spec {
    struct fit_h5_raw_set *set; /* borrowed, as the arrays */
    size_t ngroup;
    const struct fit_plane *y;
    const struct fit_plane *sigma; /* or NULL */
    const struct fit_layout *layout;
    size_t ntile;
    const struct fit_tile *tile; /* in row order */
    size_t row;  /* row of the matrices that is frame 0 of the layout */
    size_t keep; /* bytes */
};

/* Before the matrices are read for the first time: brings those that will be computed from the page cache into it in
 * large pages, when all of them find room.  The arrays are borrowed; sigma may be NULL. */
void fit_direct_gather(const struct fit_plane *y, const struct fit_plane *sigma, size_t ngroup, size_t keep);

/* 1 when the values can be read this way. */
int fit_direct_possible(const struct fit_direct_spec *spec);

/* Bytes of the file that are mapped at a time, at most; item: bytes of a value (and its error). */
size_t fit_direct_bound(size_t frames, size_t ngroup, size_t item, size_t keep);

/* NULL: out of memory, or no thread. */
struct fit_direct *fit_direct_new(const struct fit_direct_spec *spec);
void fit_direct_free(struct fit_direct *d);

/* A pass; status FIT_ERR_DATA when the file is not the one that was opened. */
enum fit_status fit_direct_begin(struct fit_direct *d, struct fit_error *err);
enum fit_status fit_direct_end(struct fit_direct *d, struct fit_error *err);

/* Tile k is about to be read; the views of group g are those of the whole matrix. */
void fit_direct_wanted(struct fit_direct *d, size_t k);
void fit_direct_view(const struct fit_direct *d, size_t g, struct fit_view *y, struct fit_view *sigma);
/* Tile k was read.  FIT_ERR_DATA: what was read is worth nothing. */
enum fit_status fit_direct_done(struct fit_direct *d, size_t k, struct fit_error *err);

#endif
