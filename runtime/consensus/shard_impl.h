/* shard_impl.h -- the parts of shard.c: two ways to cut data into pieces and to make a data set of some. */
#pragma once

#include "consensus/shard.h"
#include "data/dataset_impl.h"

#include <pthread.h>

struct fit_shard_piece {
    uint32_t tile;         /* rows of a tile: its number */
    uint32_t first, end;   /* rows of a tile: [first, end); pairs: the first frame j, and one past the last of all */
    uint32_t row, stride;  /* pairs: the frame i; the distance of frames j */
    uint32_t owner;        /* shard */
    double count, place;   /* values, also those that do not count; where it stands in the order of dealing */
};

struct fit_shards_private {
    const struct fit_dataset *ds;
    int sparse;    /* pieces are pairs of one frame, else rows of tiles */
    size_t npiece;
    struct fit_shard_piece *piece;
    size_t *first; /* n + 1: into list */
    size_t *list;  /* npiece: pieces by shard, in the order of the data */
    pthread_mutex_t *reading; /* values that stay in their file are read for one shard at a time; else NULL */
};

/* Have the values of a shard of ds weights? */
static inline int fit_shard_weights(const struct fit_dataset *ds)
{
    return fit_dataset_streamed(ds) ? ds->private_->stream_weights : ds->private_->w.data != NULL;
}

/* Cuts the whole into pieces for nshard shards: piece[] (NULL: they are only counted); returns how many. */
size_t fit_shard_cut_rows(const struct fit_dataset *ds, size_t nshard, struct fit_shard_piece *piece);
size_t fit_shard_cut_pairs(const struct fit_dataset *ds, struct fit_shard_piece *piece);

/* A data set of n pieces, list[n] their numbers; counts of groups are filled. */
enum fit_status fit_shard_open_rows(const struct fit_shards_private *p, const size_t *list, size_t n,
                                    struct fit_dataset **view, struct fit_error *err);
enum fit_status fit_shard_open_pairs(const struct fit_shards_private *p, const size_t *list, size_t n,
                                     struct fit_dataset **view, struct fit_error *err);
void fit_shard_close_rows(struct fit_dataset *view);
