/* sums_impl.h -- shared by sums.c (requests), pool.c (data on a device) and launch.c (kernels).
 *
 * A pool is the data sets of one shape that are on a device, each in its own slot, and everything that kernels of
 * this shape need. Small data have as many slots as there are concurrent fits; their simultaneous requests are one
 * launch. */
#pragma once

#include "device/items.h"
#include "device/queue.h"
#include "device/shelf.h"
#include "device/sums.h"
#include "fit/gpu_shape.h"

enum { FIT_DEVICE_SLOTS = 2 };  /* pieces of data on their way at a time */

struct fit_device_buffer {
    void *b;
    size_t bytes;
};

struct fit_device_waiting {
    struct fit_device_asked asked;
    struct fit_device_request r;
    size_t place;
};

/* A piece of data that do not fit: values being copied, on the host and on the device. */
struct fit_device_slot {
    double *y, *w; /* host */
    struct fit_device_buffer y_there, w_there, *shape;
    long (*numbers)[FIT_SHAPE_NUMBERS]; /* shapes on their way; of each pass */
};

struct fit_device_pool {
    struct fit_shelved shelf;     /* its places are for data sets */
    const struct fit_kernel *kernel;
    const struct fit_gpu_source *source;
    struct fit_device_module *module;
    struct fit_layout layout; /* sizes alone count */
    struct fit_items items;
    size_t nfixed, ndata;         /* doubles of each data set */
    size_t nws, nlin, nadj;
    int weighted, resident, shared; /* shared: its shapes are those for several ranks */
    size_t index, together;       /* devices that share the sums: the index of this one, and how many; 0, 1: alone */
    size_t from, to, nall;        /* tiles of which it has the values; doubles of all tiles */
    struct fit_device_pool *mate; /* on the next of those devices */
    size_t piece;                 /* not resident: doubles of y in a slot */
    struct fit_device_slot slot[FIT_DEVICE_SLOTS];
    struct fit_device_buffer *shape, *total_shape;                          /* of passes */
    struct fit_device_buffer item, first, fixed, y, w;                      /* of the data */
    struct fit_device_buffer ws, lin, adj, part, total;                     /* of calls */
    double *staging, *values;
    size_t nstaging;
    struct fit_device_count count;
    struct fit_device_queue queue; /* of struct fit_device_waiting */
};

struct fit_device_sums {
    struct fit_device_pool *pool;
    const struct fit_dataset *ds;
    unsigned long stamp;
    const struct fit_device *asked; /* the device that was asked for: of many small data sets another one may have it */
    size_t place, owners;
    struct fit_device_sums *next;
};

/* A buffer of at least so many bytes; -1: the device has not enough memory. */
int fit_device_room(struct fit_device *d, struct fit_device_buffer *b, size_t bytes);

/* ---- pool.c ---------------------------------------------------------------------------------------------- */

/* A slot for ds, with its values. The caller frees it by fit_pool_leave; an unused pool stays until another one is
 * needed, or the device is closed. */
enum fit_status fit_pool_enter(struct fit_device *d, const struct fit_kernel *kernel, const struct fit_dataset *ds,
                               const struct fit_gpu_source *source, struct fit_device_pool **pool, size_t *place,
                               struct fit_error *err);
void fit_pool_leave(struct fit_device_pool *pool, size_t place);

/* Copies the values of the tiles from .. to-1 of ds to the host's arrays of a slot (w only with weights); -1: they
 * cannot be read. */
int fit_pool_read(struct fit_device_pool *pool, const struct fit_dataset *ds, size_t from, size_t to, double *y,
                  double *w);

/* ---- launch.c -------------------------------------------------------------------------------------------- */

/* Length of a result of a kind for one group, or for all data. */
size_t fit_launch_numbers(const struct fit_kernel *k, enum fit_gpu_kind kind);

/* Fills the part that is the same in all launches: after items and layout. */
int fit_launch_begin(struct fit_device_pool *pool);

/* The queue of a pool: calls of one kind; a call with data that do not fit is alone. shared: ranks share them, and
 * all of them are here. ds: of the first call. */
struct fit_launch_user {
    struct fit_device_pool *pool;
    const struct fit_dataset *ds;
    int shared;
};
int fit_launch_together(const struct fit_device_asked *a, const struct fit_device_asked *b);
int fit_launch(void *user, size_t n, struct fit_device_asked *const *asked);

/* The items of this pool, of one rank where ranks share the sums; the tiles from .. to-1 that have some. */
struct fit_launch_range {
    size_t first, end;
};
struct fit_launch_range fit_launch_items(const struct fit_device_pool *p, int shared);
struct fit_launch_range fit_launch_tiles(const struct fit_device_pool *p, struct fit_launch_range items, size_t ntile);

/* fit_device_values. */
int fit_launch_values(struct fit_device_pool *pool, size_t place, const struct fit_device_request *r, double *out);
