/* dataset_impl.h -- what dataset.c (pairs) and dataset_rows.c (tables) share. */
#ifndef FIT_DATASET_IMPL_H
#define FIT_DATASET_IMPL_H

#include "dataset.h"

struct fit_block {
    void *map; /* what munmap wants */
    size_t map_bytes;
    double *data; /* aligned */
};

struct fit_dataset_private {
    struct fit_block y, w;
    size_t ndouble;      /* doubles in y (and in w) */
    size_t *offset;      /* ntile: of the tile in y and w */
    size_t *panel_first; /* npanel: index of the panel's first tile */
    double *sum;         /* ntile x ngroup x 3 */
    double *setting, *time;
    double **coord;
    size_t naxis, nsetting;
    uint32_t *frame;
    double **column;
    size_t ncolumn;
    unsigned char *put; /* ngroup: 1 when the matrix is there */
    int center, any_put, finished;
    int contiguous; /* used frames follow one another */
    size_t table_doubles;
};

/* A dataset with room for ngroup references and counts; NULL: out of memory. */
struct fit_dataset *fit_dataset_alloc(size_t ngroup);

/* ndouble zeros, aligned for huge pages. */
enum fit_status fit_dataset_block_new(struct fit_block *b, size_t ndouble, struct fit_error *err);

/* A copy of `bytes` bytes (not filled when from is NULL), or NULL: out of memory. */
void *fit_dataset_copy(const void *from, size_t bytes);

/* 1 when the value is finite and its error (sigma may be NULL) gives a positive, finite weight. */
int fit_dataset_counts(double y, const double *sigma, size_t at);

/* Sets y, w and sum of every tile from the storage, and ds->bytes. */
void fit_dataset_point_tiles(struct fit_dataset *ds);

#endif
