/* dataset_impl.h -- shared by dataset.c (pairs) and rows.c (tables). */
#pragma once

#include "base/arena.h"
#include "data/dataset.h"
#include "data/plane.h"
#include "machine/pages.h"

struct fit_dataset_private {
    struct fit_pages y, w;
    size_t ndouble;      /* doubles in y (and in w) */
    size_t *offset;      /* ntile: of the tile in y and w */
    size_t *cut;         /* of a common data set: the tile with which the share of each rank begins (share.h) */
    size_t *row_first;   /* index of the first tile of a row of tiles */
    size_t largest;      /* doubles of the largest tile */
    struct fit_stream *stream; /* values come from a file; NULL: from y and w */
    size_t stream_row;         /* row of the file that is frame 0 */
    double *given;             /* ngroup: errors of the streamed values, one for each matrix; or NULL */
    unsigned char *clean;      /* ngroup: every streamed value counts and has no error of its own */
    int stream_weights;        /* streamed tiles have weights */
    double *sum;         /* ntile x ngroup x 3 */
    double *setting, *time;
    double **coord;
    size_t naxis, nsetting;
    uint32_t *frame;
    double **column;
    size_t ncolumn;
    unsigned char *put; /* ngroup: 1 when the matrix is there */
    int center, any_put, finished;
    int keep; /* of a table: as in struct fit_dataset_table */
    double *own; /* a replicate: the values that it may write */
    const struct fit_tile *original; /* and the tiles of the dataset that it is one of */
    int contiguous; /* used frames follow one another */
    size_t table_doubles;
    struct fit_arena storage; /* of all arrays here and in the dataset but y and w */
};

/* Location of the values of one matrix. */
struct fit_values {
    struct fit_view y, sigma;
    int has_sigma;
    size_t row, column; /* frames of the views' element (0, 0) */
    double reference;
    int clean; /* every value counts and there is no sigma */
    size_t g;
};

/* 1: every value counts, has weight 1 and is adjacent to that of the next frame. */
int fit_values_plain(const struct fit_dataset *ds, const struct fit_values *v);

/* From so many frames on a matrix is worth the synchronisation of threads. */
enum { FIT_FRAMES_PARALLEL = 3000 };

/* Gives every lane that counts the weight 1, unless there are weights already. */
enum fit_status fit_dataset_need_weights(struct fit_dataset *ds, struct fit_error *err);

/* Fills y (and w, unless NULL) of a tile for all groups, v of them in order. */
void fit_dataset_put_groups(const struct fit_dataset *ds, const struct fit_values *v,
                            const struct fit_tile *t, double *y, double *w);

/* Calls fn for every tile of this rank's share with its data, on several threads. */
enum fit_status fit_dataset_each(const struct fit_dataset *ds,
                                 void (*fn)(void *user, size_t k, const struct fit_tile *t),
                                 void *user, struct fit_error *err);

/* A dataset with room for ngroup references and counts; NULL: out of memory. */
struct fit_dataset *fit_dataset_alloc(size_t ngroup);

/* First touch of the values in memory: pages are near the thread that will sum over their tile. */
void fit_dataset_touch(struct fit_dataset *ds);

/* As fit_pages_new(); FIT_ERR_MEMORY says for what. */
enum fit_status fit_dataset_block_new(struct fit_pages *b, size_t ndouble, struct fit_error *err);

/* 1 when the value is finite and its error (sigma may be NULL) gives a positive, finite weight. */
int fit_dataset_counts(double y, const double *sigma, size_t at);

/* The tile that holds the pair (i, j) of used frames, i < j. */
const struct fit_tile *fit_dataset_tile_of(const struct fit_dataset *ds, size_t i, size_t j);

/* fit_dataset_group() for a table. */
enum fit_status fit_dataset_group_rows(const struct fit_dataset *ds, size_t g, struct fit_dataset **one,
                                       struct fit_error *err);

/* Sets y, w and sum of every tile from the storage, and ds->bytes. */
void fit_dataset_point_tiles(struct fit_dataset *ds);
