/* sums_impl.h -- what sums.c (calls) and sums_data.c (values on the device) share. */
#pragma once

#include <pthread.h>

#include "device/items.h"
#include "device/sums.h"

enum { FIT_DEVICE_BATCH = 64 }; /* calls in one launch, at most */

struct fit_device_buffer {
    void *b;
    size_t bytes;
};

struct fit_device_waiting {
    struct fit_device_request r;
    int state, failed; /* state 0: waits, 1: taken, 2: done */
    struct fit_device_waiting *next;
};

struct fit_device_sums {
    struct fit_device *d;
    const struct fit_kernel *kernel;
    const struct fit_dataset *ds;
    const struct fit_gpu_source *source;
    struct fit_device_module *module;
    unsigned long stamp;
    size_t owners, nws, nlin, nadj;
    struct fit_items items;
    int weighted, resident;
    size_t piece; /* doubles of y there at a time */
    struct fit_device_buffer shape, total_shape, item, first, fixed, y, w; /* of the data */
    struct fit_device_buffer ws, lin, adj, part, total;                    /* of calls */
    double *staging, *values;
    size_t nstaging;
    size_t held_tile; /* pieces: the first tile that is there, or SIZE_MAX */
    struct fit_device_count count;
    pthread_mutex_t lock;
    pthread_cond_t turn;
    int busy;
    struct fit_device_waiting *queue, **end;
    struct fit_device_sums *next; /* of all that there are */
};

/* A buffer of at least so many bytes; -1: the device has not so much. */
int fit_device_room(struct fit_device_sums *s, struct fit_device_buffer *b, size_t bytes);

/* Everything of the data that fits. */
int fit_device_put_data(struct fit_device_sums *s);

/* Values of the tiles from .. to-1 to the beginning of y and w there; the caller has the lock of the device. */
int fit_device_put_tiles(struct fit_device_sums *s, size_t from, size_t to);

/* The tiles from `from` on that are there together: the end. */
size_t fit_device_piece(const struct fit_device_sums *s, size_t from);
