/* stream.h -- two-time matrices read from their file repeatedly, in the order of the tiles.
 *
 * Consecutive tiles in a row of tiles form a segment of at most `slot_bytes`. Reader threads fill slots with segments
 * as stored in the file (float32 stays float32, compressed chunks are expanded), ahead of the computing threads, which
 * take single tiles from the slots. When a pass ends the readers begin with the next. Memory: FIT_STREAM_SLOTS slots,
 * and the cached expanded chunks.
 *
 *     fit_stream_begin(s, first, last);           one pass at a time: others wait here
 *     each tile of [first, last) once, by any thread, requested in increasing order:
 *         fit_stream_wait(s, k) == 0, fit_stream_view(...), fit_stream_done(s, k)
 *     fit_stream_end(s);
 *
 * Read errors are kept: from then on every wait returns -1.
 */
#pragma once

#include "data/plane.h"
#include "fit/kernel.h"

enum { FIT_STREAM_SLOTS = 3 };

/* Bytes that slots take at most, for matrices of so many frames. */
size_t fit_stream_bound(size_t frames, size_t ngroup, int weighted);

struct fit_stream_spec {
    struct fit_h5_raw_set *set; /* ownership passes to the stream, even when making it fails */
    size_t ngroup;
    const struct fit_plane *y;     /* ngroup; copied */
    const struct fit_plane *sigma; /* ngroup, or NULL; copied */
    size_t row;                    /* row of the matrices that is frame 0 of the layout */
    int threads;                   /* number of readers; 0: what suits the storage */
    size_t slot_bytes;             /* 0: the default */
};

struct fit_stream;

/* tile: ntile tiles of the layout in row order (dataset.c); both borrowed. */
enum fit_status fit_stream_new(const struct fit_stream_spec *spec, const struct fit_layout *layout,
                               size_t ntile, const struct fit_tile *tile, struct fit_stream **out,
                               struct fit_error *err);
void fit_stream_free(struct fit_stream *s);

void fit_stream_begin(struct fit_stream *s, size_t first, size_t last); /* first < last */
void fit_stream_end(struct fit_stream *s);

/* Waits for the data of tile k; -1: the pass is given up, or reading failed. */
int fit_stream_wait(struct fit_stream *s, size_t k);
/* Views of tile k and group g; element (0, 0) is the pair of the frames i0 and j0 of *box, which
 * are rows of the matrix.  sigma may be NULL. */
void fit_stream_view(const struct fit_stream *s, size_t k, size_t g, struct fit_view *y,
                     struct fit_view *sigma, struct fit_rect *box);
/* The data of tile k are no longer needed. */
void fit_stream_done(struct fit_stream *s, size_t k);

/* The pass will not be finished: releases all waiting threads. */
void fit_stream_abort(struct fit_stream *s);

/* Outside of passes: the bytes of one tile, as `slot` (fit_stream_tile_bytes(s, k) bytes). */
size_t fit_stream_tile_bytes(const struct fit_stream *s, size_t k);
enum fit_status fit_stream_tile(struct fit_stream *s, size_t k, void *slot, struct fit_error *err);
void fit_stream_tile_view(const struct fit_stream *s, size_t k, size_t g, const void *slot,
                          struct fit_view *y, struct fit_view *sigma, struct fit_rect *box);

/* The read error, or FIT_OK. */
enum fit_status fit_stream_status(struct fit_stream *s, struct fit_error *err);

/* Records the same failure, found elsewhere. */
void fit_stream_fail(struct fit_stream *s, const struct fit_error *why);
