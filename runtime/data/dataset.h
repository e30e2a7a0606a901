/* dataset.h -- measured values in the order in which kernels read them.
 *
 * A dataset owns the geometry (struct fit_layout), the tiles, and a copy of the data: the upper triangle i < j of every
 * matrix once, as doubles, in the stream order of fit/kernel.h; or the rows of a table. Only the shape of the data
 * determines the tiles, never the threads, so that sums have the same bits everywhere. The values may also stay in
 * their file (fit_dataset_stream): the same tiles with the same bits.
 */
#pragma once

#include "base/status.h"
#include "common/sha256.h"
#include "fit/kernel.h"

#define FIT_NO_ROW UINT32_MAX

struct fit_range {
    double low, high;
};

/* Groups of several files (input/joint.h). */
struct fit_dataset_files {
    size_t n;
    const size_t *of;      /* ngroup: the file of a group, from 0 */
    const double *setting; /* n x nsetting */
    const size_t *ntime;       /* pairs: frames of each file (file_times.h); NULL: tables */
    const double *time, *step; /* n x ntime of the layout, n: where files differ in their times; else NULL */
};

struct fit_dataset {
    struct fit_layout layout;
    size_t ntile;
    struct fit_tile *tile;   /* in the fixed order in which partial sums are added */
    struct fit_range *range; /* ngroup: of the values that count, minus the reference; after fit_dataset_finish */
    double *reference;       /* ngroup: constant subtracted from y (0 unless center was asked for) */
    size_t npoint;           /* values that count (weight > 0), all groups */
    size_t *npoint_group;    /* ngroup */
    size_t ndropped;         /* values left out because they are not finite or have weight 0 */
    int weighted;            /* 1: weights come from a sigma; 0: they are 0 or 1 */
    size_t nrow;             /* tables: rows as they were given */
    uint32_t *row;           /* tables with groups, layout.nrow: the row of the table at each position, or
                              * FIT_NO_ROW; NULL: in order */
    size_t bytes;            /* memory held for y and w */
    size_t first, last;      /* tiles whose values are available here: all of them, unless ranks hold shares */
    int common;              /* 1: all ranks of the run have this data set, and shares of passes over it (share.h) */
    unsigned long stamp;     /* changes whenever the values change; 0: not finished */
    const struct fit_dataset_files *files; /* borrowed: groups of several files; NULL: of one */
    struct fit_dataset_private *private_; /* storage */
};

/* Geometry of a two-time data set.  Arrays are copied. */
struct fit_dataset_pairs {
    size_t ntime;
    const double *time;    /* s, increasing */
    double step;           /* s */
    size_t nframe;         /* frames used in pairs; 0: all */
    const uint32_t *frame; /* their indices, increasing; NULL: all */
    size_t ngroup, naxis, nsetting;
    const double *const *coord; /* naxis arrays of ngroup */
    const double *setting;
    int center;           /* subtract each group's mean (only when the model has an intercept) */
    size_t table_doubles; /* of the kernel: sets the width of the tiles */
    int streamed;         /* 1: no room for values; see fit_dataset_stream */
    int common, divided;  /* 1: shared by all ranks; each holds only the values of its own share (share.h) */
};

/* A dataset without values, *ds, which the caller frees; then fit_dataset_put for every group, and
 * fit_dataset_finish.  FIT_ERR_DATA for frames or times that do not increase, FIT_ERR_MEMORY. */
enum fit_status fit_dataset_new_pairs(const struct fit_dataset_pairs *spec, struct fit_dataset **ds,
                                      struct fit_error *err);

/* Rows of matrices that a tile of so many groups spans, at most. */
size_t fit_dataset_tile_rows(size_t ngroup);

/* Stores the matrix of group g: ntime x ntime, row by row; only elements i < j are read. sigma: standard deviations
 * in the same shape, or NULL. Non-finite values (and sigma not > 0) get weight zero. */
enum fit_status fit_dataset_put(struct fit_dataset *ds, size_t g, const double *matrix, const double *sigma,
                                struct fit_error *err);

/* Result of scanning a matrix without errors: the mean of the values i < j that count, and the number of those that
 * do not. */
struct fit_matrix_look {
    double mean, bad;
};
enum fit_status fit_dataset_look(const struct fit_dataset *ds, const double *matrix, struct fit_matrix_look *look,
                                 struct fit_error *err);

/* The same as fit_dataset_put without errors, for a matrix that was scanned, perhaps by another rank; only its rows
 * in the tiles available here are read. */
enum fit_status fit_dataset_put_looked(struct fit_dataset *ds, size_t g, const double *matrix,
                                       const struct fit_matrix_look *look, struct fit_error *err);

/* A table with groups: rows in any order; rows with equal values of all axes form a group; groups are in the order
 * of their first rows. */
struct fit_dataset_table {
    size_t nrow, ncolumn, naxis, nsetting;
    const double *const *column; /* as above */
    const double *const *axis;   /* naxis arrays of nrow; without axes there is one group */
    const double *value, *sigma;
    const double *setting;
    int center;
    int keep; /* 1: rows that do not count keep their finite columns: states pass through them */
};
enum { FIT_GROUPS_MOST = 1000 };

/* A dataset with these rows, *ds, which the caller frees; then fit_dataset_finish.  FIT_ERR_DATA for
 * more than FIT_GROUPS_MOST groups, FIT_ERR_MEMORY. */
enum fit_status fit_dataset_new_table(const struct fit_dataset_table *t, struct fit_dataset **ds,
                                      struct fit_error *err);

/* ---- values that stay in their file (from_file.c) --------------------------------------- */

struct fit_stream_spec; /* stream.h */

/* Result of a first scan of the matrices. */
struct fit_dataset_seen {
    const double *mean; /* ngroup: of the values that count */
    const size_t *bad;  /* ngroup: number of values i < j that do not count */
    const double *sigma; /* ngroup: one error for a whole matrix; or NULL */
};

/* From now on values are read from a file whenever a pass over the tiles needs them; in place of fit_dataset_put.
 * Ownership is as described at spec. */
enum fit_status fit_dataset_stream(struct fit_dataset *ds, const struct fit_stream_spec *spec,
                                   const struct fit_dataset_seen *seen, struct fit_error *err);

/* Reads the values into memory, after which the file is no longer needed. */
enum fit_status fit_dataset_fill(struct fit_dataset *ds, struct fit_error *err);

/* 1: values are read from their file in every pass; 0: they are in memory. */
int fit_dataset_streamed(const struct fit_dataset *ds);

/* ---- passes ---------------------------------------------------------------------------------- */

/* Every pass over the tiles is between these two calls; other threads wait in begin. */
void fit_dataset_begin(const struct fit_dataset *ds);
void fit_dataset_end(const struct fit_dataset *ds);
/* The same for only the tiles [first, last), at least one. */
void fit_dataset_begin_share(const struct fit_dataset *ds, size_t first, size_t last);

/* Tile k with its values: &ds->tile[k], or *own with values in buffer (fit_dataset_buffer doubles, aligned to 64
 * bytes, one buffer for each tile in use). In a pass every tile is requested once, in increasing order. NULL: the
 * values cannot be read, or the pass was given up. */
const struct fit_tile *fit_dataset_tile(const struct fit_dataset *ds, size_t k, double *buffer,
                                        struct fit_tile *own);
size_t fit_dataset_buffer(const struct fit_dataset *ds); /* 0: values are in memory */

/* The same for kernels that read fit_tile.raw: single precision without errors is lent unconverted. It must be given
 * back after use. */
const struct fit_tile *fit_dataset_lend(const struct fit_dataset *ds, size_t k, double *buffer,
                                        struct fit_tile *own);
void fit_dataset_give_back(const struct fit_dataset *ds, size_t k, const struct fit_tile *t);

/* Ends a pass early; no thread waits for values of this pass any longer. */
void fit_dataset_abandon(const struct fit_dataset *ds);

/* A tile outside passes; NULL as above. Where ranks hold shares this is a meeting (ranks/ranks.h): all receive it. */
const struct fit_tile *fit_dataset_single(const struct fit_dataset *ds, size_t k, double *buffer,
                                          struct fit_tile *own);

/* Why values could not be read, or FIT_OK. Sums of the passes since then are meaningless. */
enum fit_status fit_dataset_status(const struct fit_dataset *ds, struct fit_error *err);

/* Call after the last put, or after fit_dataset_stream: computes sums of the tiles and counts. Then the dataset is
 * read-only. */
enum fit_status fit_dataset_finish(struct fit_dataset *ds, struct fit_error *err);

/* The SHA-256 of sums of all tiles, times, coordinates of naxis axes and frames of a finished dataset, hexadecimal. */
void fit_dataset_digest(const struct fit_dataset *ds, size_t naxis, char hex[SHA256_HEX]);

/* A new dataset with n (>= 2) of the used frames of ds, pick (increasing indices into them), the time grid unchanged:
 * for coarse searches. */
enum fit_status fit_dataset_coarse(const struct fit_dataset *ds, size_t n, const uint32_t *pick,
                                   struct fit_dataset **coarse, struct fit_error *err);

/* The same with about `wanted` frames. Half of them are evenly spaced, 2 s apart; near every second one of these
 * are two more, at distances of 1, 2, 4, ... frames. Otherwise a decay between evenly thinned frames would be
 * lost, and a fringe narrower than their distance would be aliased. */
enum fit_status fit_dataset_thin(const struct fit_dataset *ds, size_t wanted, struct fit_dataset **thin,
                                 struct fit_error *err);

/* A new dataset with only the values of group g. context of the layout: NULL. */
enum fit_status fit_dataset_group(const struct fit_dataset *ds, size_t g, struct fit_dataset **one,
                                  struct fit_error *err);

/* A dataset with the geometry of ds (borrowed) and its own y (weights 0) or weights (weights 1), to be written by
 * fit_dataset_rewrite; the others are those of ds. Not for streamed values. */
enum fit_status fit_dataset_replica(const struct fit_dataset *ds, int weights, struct fit_dataset **replica,
                                    struct fit_error *err);
void fit_dataset_replica_free(struct fit_dataset *replica);

/* Calls fn for every tile of the original (which must still exist), with the index of its first value among those of
 * all tiles; fn writes the replicate's own values. Then updates sums and counts. */
typedef void fit_rewrite_fn(void *user, const struct fit_tile *t, double *values, size_t place);
enum fit_status fit_dataset_rewrite(struct fit_dataset *replica, fit_rewrite_fn *fn, void *user,
                                    struct fit_error *err);

/* Offset in doubles from tile->y of element (i, j, g); the lane is inside the tile's storage. */
size_t fit_tile_offset(const struct fit_layout *l, const struct fit_tile *t, size_t i, size_t j, size_t g);

/* Doubles stored for the tile (including lanes that do not count). */
size_t fit_tile_doubles(const struct fit_layout *l, const struct fit_tile *t);

/* out[3] <- sums of w, w y, w y^2 of group g over the tile's values; returns how many have w > 0. */
size_t fit_tile_sum(const struct fit_layout *l, const struct fit_tile *t, size_t g, double out[3]);

/* Widens r to the values of group g in the tile that have w > 0 (range.c). */
void fit_tile_range(const struct fit_layout *l, const struct fit_tile *t, size_t g, struct fit_range *r);

/* 1: all values of the group are equal up to rounding (4 ulp). For a finished dataset. */
int fit_dataset_constant(const struct fit_dataset *ds, size_t g);

/* NULL is allowed. */
void fit_dataset_free(struct fit_dataset *ds);
