/* share.h -- shares of a data set that all ranks of a run have in common (ranks/ranks.h).
 *
 * The tiles of a rank are those of its leaves in the tree of sums (tile_sums.h). In passes that do more than sums each
 * rank processes its tiles, and the results are sent to all. Large data sets may be divided: each rank then holds only
 * the values of its tiles. Code that divides a data set must ensure that no pass over it is in a divided loop, where a
 * rank is alone.
 */
#pragma once

#include "data/dataset.h"
#include "data/plane.h"

/* cut[r] <- the leaf (tile_sums.h) with which the share of rank r begins, for r <= size: shares have as many values as
 * whole leaves allow.  0: out of memory. */
int fit_share_leaves(const struct fit_dataset *ds, size_t size, size_t *cut);

/* The same in tiles for the ranks of this run, of a data set whose tiles are known. */
enum fit_status fit_share_begin(struct fit_dataset *ds, struct fit_error *err);

/* 1: ranks meet here, and have shares of passes over ds. */
int fit_dataset_shared(const struct fit_dataset *ds);

/* 1: the values of some tiles are only with other ranks. */
int fit_dataset_divided(const struct fit_dataset *ds);

/* Tiles of this rank; all, where ranks have no shares. */
void fit_dataset_share(const struct fit_dataset *ds, size_t *first, size_t *last);

/* The rank that has tile k. */
size_t fit_share_owner(const struct fit_dataset *ds, size_t k);

/* Number of pairs from which a data set is divided: so many that threads do not search in parallel (crew.c). */
enum { FIT_DIVIDED_LEAST = (1 << 21) + 1 };

/* For a data set without values: only the values of this rank's tiles will be allocated. */
void fit_dataset_divide(struct fit_dataset *ds);

/* Some rows of a matrix without errors that another rank has looked at, for the tiles [first, last), which lie in it;
 * row, column: frames of the view's element (0, 0). */
struct fit_share_box {
    struct fit_view y;
    size_t row, column, first, last;
};
enum fit_status fit_share_put(struct fit_dataset *ds, size_t g, const struct fit_share_box *box,
                              const struct fit_matrix_look *look, struct fit_error *err);

/* ---- of shared data sets; they meet, and do nothing where ranks have no shares ---- */

/* Sums of the tiles, ntile x ngroup x 3, with counts and ranges, ntile x ngroup. */
enum fit_status fit_share_sums(const struct fit_dataset *ds, double *sum, size_t *count, struct fit_range *range,
                               struct fit_error *err);

/* Values (and weights) of a small data set, each of which one rank has filled; they are 0 with the others. */
struct fit_dataset_private;
void fit_share_add(struct fit_dataset_private *p);
