/* pool.c -- data sets of one shape on a device: items, coordinates, columns, values. See sums_impl.h.
 *
 * Values that do not fit into PART of the memory are not kept on the device: launch.c sends them in pieces of whole
 * tiles. */
#include "device/sums_impl.h"

#include <stdlib.h>
#include <string.h>

#include "device/driver.h"

enum { LEAST_MEMORY = 1 << 28, SMALL = 1 << 22, MOST_SLOT = 1 << 23 }; /* bytes, bytes, doubles */

int fit_device_room(struct fit_device *d, struct fit_device_buffer *b, size_t bytes)
{
    if (bytes <= b->bytes && b->b)
        return 0;
    fit_device_release(d, b->b);
    *b = (struct fit_device_buffer){0};
    b->b = fit_device_buffer(d, bytes);
    b->bytes = b->b ? bytes : 0;
    return b->b ? 0 : -1;
}

static int put(struct fit_device_pool *p, struct fit_device_buffer *b, const void *from, size_t bytes)
{
    return fit_device_room(p->shelf.d, b, bytes) != 0 ? -1 : fit_device_write(p->shelf.d, b->b, 0, from, bytes);
}

/* Step, coordinates, columns, in the form of fit/gpu.h. */
static int put_fixed(struct fit_device_pool *p, const struct fit_layout *l, size_t place)
{
    const struct fit_gpu_program *program = p->source->program;
    const size_t ng = l->ngroup, rows = (l->nrow + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
    double *x = calloc(p->nfixed, sizeof *x);
    if (!x)
        return -1;
    x[0] = l->step;
    for (size_t a = 0; a < p->kernel->naxis && a < program->axes; a++)
        memcpy(x + 1 + a * ng, l->coord[a], ng * sizeof *x);
    for (size_t c = 0; rows && c < p->kernel->ncolumn && c < program->columns; c++)
        if (l->column && l->column[c])
            memcpy(x + 1 + program->axes * ng + c * rows, l->column[c], rows * sizeof *x);
    const size_t bytes = p->nfixed * sizeof *x;
    const int failed = fit_device_write(p->shelf.d, p->fixed.b, place * bytes, x, bytes);
    free(x);
    return failed;
}

int fit_pool_read(struct fit_device_pool *p, const struct fit_dataset *ds, size_t from, size_t to, double *y, double *w)
{
    for (size_t k = from; k < to; k++) {
        struct fit_tile own;
        const struct fit_tile *t = fit_dataset_tile(ds, k, p->values, &own);
        const size_t at = p->items.at[k] - p->items.at[from], n = p->items.at[k + 1] - p->items.at[k];
        if (!t)
            return -1;
        memcpy(y + at, t->y, n * sizeof *y);
        for (size_t i = 0; p->weighted && i < n; i++)
            w[at + i] = t->w ? t->w[i] : 1;
    }
    return 0;
}

/* Copies the values of ds to its slot, tile by tile. */
static int put_values(struct fit_device_pool *p, const struct fit_dataset *ds, size_t place)
{
    double *y = p->slot[0].y, *w = p->slot[0].w;
    int failed = 0;
    fit_dataset_begin(ds);
    for (size_t k = p->from; k < p->to && !failed; k++) {
        const size_t at = (place * p->ndata + p->items.at[k] - p->items.at[p->from]) * sizeof *y;
        const size_t bytes = (p->items.at[k + 1] - p->items.at[k]) * sizeof *y;
        failed = fit_pool_read(p, ds, k, k + 1, y, w) != 0 || fit_device_write(p->shelf.d, p->y.b, at, y, bytes) != 0 ||
                 (p->weighted && fit_device_write(p->shelf.d, p->w.b, at, w, bytes) != 0);
    }
    fit_dataset_end(ds);
    p->count.bytes += failed ? 0 : p->ndata * sizeof *y * (p->weighted ? 2 : 1);
    return failed;
}

/* ---- sizes ------------------------------------------------------------------------------------------------- */

static size_t largest_tile(const struct fit_items *x, size_t ntile)
{
    size_t largest = 0;
    for (size_t k = 0; k < ntile; k++)
        if (x->at[k + 1] - x->at[k] > largest)
            largest = x->at[k + 1] - x->at[k];
    return largest;
}

/* Decides whether the values stay on the device, for how many data sets there is room, and how many values are
 * copied at a time. */
static void choose_sizes(struct fit_device_pool *p, const struct fit_dataset *ds)
{
    const size_t memory = fit_device_about(p->shelf.d)->memory, each = p->weighted ? 16 : 8;
    const size_t part = (memory > LEAST_MEMORY ? memory : LEAST_MEMORY) / 4 * 3 / each;
    const char *limit = getenv("FIT_DEVICE_MB"); /* for tests */
    const size_t most = limit ? (size_t)strtoul(limit, NULL, 10) * (1u << 17) : part;
    const size_t largest = largest_tile(&p->items, ds->ntile), bytes = (p->ndata + 1) * each;
    p->resident = p->ndata <= most && !fit_dataset_streamed(ds);
    const size_t expected = fit_device_expected(p->shelf.d);
    size_t nplace = 1;
    while (p->resident && bytes < SMALL && nplace < expected && nplace < FIT_DEVICE_BATCH &&
           (nplace + 1) * p->ndata <= most / 2)
        nplace++;
    p->shelf.nplace = nplace;
    p->piece = most / FIT_DEVICE_SLOTS < MOST_SLOT ? most / FIT_DEVICE_SLOTS : MOST_SLOT;
    p->piece = p->resident || p->piece < largest ? largest : p->piece;
}

static int begin_slots(struct fit_device_pool *p)
{
    struct fit_device *d = p->shelf.d;
    const size_t bytes = (p->piece + 1) * sizeof(double);
    int failed = 0;
    for (size_t k = 0; k < FIT_DEVICE_SLOTS && !failed && !(p->resident && k > 0); k++) {
        struct fit_device_slot *s = &p->slot[k];
        s->y = fit_device_host(d, bytes);
        s->w = p->weighted ? fit_device_host(d, bytes) : NULL;
        failed = !s->y || (p->weighted && !s->w) ||
                 (!p->resident && (fit_device_room(d, &s->y_there, bytes) != 0 ||
                                   fit_device_room(d, &s->w_there, p->weighted ? bytes : sizeof(double)) != 0));
    }
    return failed;
}

/* ---- making, finding, freeing ---------------------------------------------------------------------------- */

static void release_slot(struct fit_device_pool *p, struct fit_device_slot *s)
{
    fit_device_release(p->shelf.d, s->y_there.b);
    fit_device_release(p->shelf.d, s->w_there.b);
    for (size_t k = 0; s->shape && k < p->source->program->npass; k++)
        fit_device_release(p->shelf.d, s->shape[k].b);
    fit_device_host_free(p->shelf.d, s->y);
    fit_device_host_free(p->shelf.d, s->w);
    free(s->shape);
    free(s->numbers);
}

static void destroy(struct fit_shelved *shelf)
{
    struct fit_device_pool *p = (struct fit_device_pool *)(void *)shelf;
    if (p->mate)
        destroy(&p->mate->shelf);
    struct fit_device_buffer *const b[] = {&p->item, &p->first, &p->fixed, &p->y,    &p->w,
                                           &p->ws,   &p->lin,   &p->adj,   &p->part, &p->total};
    fit_device_lock(p->shelf.d);
    for (size_t k = 0; k < sizeof b / sizeof *b; k++)
        fit_device_release(p->shelf.d, b[k]->b);
    for (size_t k = 0; k < p->source->program->npass; k++) {
        fit_device_release(p->shelf.d, p->shape ? p->shape[k].b : NULL);
        fit_device_release(p->shelf.d, p->total_shape ? p->total_shape[k].b : NULL);
    }
    for (size_t k = 0; k < FIT_DEVICE_SLOTS; k++)
        release_slot(p, &p->slot[k]);
    fit_device_unlock(p->shelf.d);
    fit_items_free(&p->items);
    fit_device_queue_end(&p->queue);
    free(p->shape);
    free(p->total_shape);
    free(p->shelf.used);
    free(p->staging);
    free(p->values);
    free(p);
}

static int is_weighted(const struct fit_dataset *ds)
{
    int weighted = fit_dataset_streamed(ds);
    for (size_t k = 0; k < ds->ntile; k++)
        weighted |= ds->tile[k].w != NULL;
    return weighted;
}

/* Everything but the values. */
static int fill(struct fit_device_pool *p, const struct fit_dataset *ds)
{
    const size_t npass = p->source->program->npass, d = sizeof(double);
    const struct fit_launch_range share = fit_launch_tiles(p, fit_launch_items(p, 0), ds->ntile);
    p->from = share.first;
    p->to = share.end;
    p->nall = p->items.at[ds->ntile];
    p->ndata = p->items.at[p->to] - p->items.at[p->from];
    choose_sizes(p, ds);
    p->shelf.used = calloc(p->shelf.nplace, sizeof *p->shelf.used);
    p->shape = calloc(npass, sizeof *p->shape);
    p->total_shape = calloc(npass, sizeof *p->total_shape);
    p->values = malloc((fit_dataset_buffer(ds) + 1) * sizeof *p->values);
    if (!p->shelf.used || !p->shape || !p->total_shape || !p->values || begin_slots(p) != 0 ||
        put(p, &p->item, p->items.item, p->items.n * FIT_ITEM_NUMBERS * sizeof(long)) != 0 ||
        put(p, &p->first, p->items.first, (2 * p->layout.ngroup + 1) * sizeof(long)) != 0 ||
        fit_device_room(p->shelf.d, &p->fixed, p->shelf.nplace * p->nfixed * d) != 0 || fit_launch_begin(p) != 0)
        return -1;
    const size_t n = p->resident ? p->shelf.nplace * p->ndata : 0;
    return fit_device_room(p->shelf.d, &p->y, (n + 1) * d) != 0 ||
           fit_device_room(p->shelf.d, &p->w, (p->weighted ? n + 1 : 1) * d) != 0;
}

/* Number `index` of `together` devices. */
static enum fit_status make_one(struct fit_device *d, const struct fit_kernel *kernel, const struct fit_dataset *ds,
                                const struct fit_gpu_source *source, const size_t which[2],
                                struct fit_device_pool **out, struct fit_error *err)
{
    struct fit_device_module *module = NULL;
    enum fit_status st = fit_device_load(d, source, &module, err);
    struct fit_device_pool *p = st == FIT_OK ? calloc(1, sizeof *p) : NULL;
    if (!p)
        return st == FIT_OK ? fit_no_memory(err, "device") : st;
    const struct fit_layout *l = &ds->layout;
    const size_t ng = l->ngroup, q = kernel->nlinear, rows = (l->nrow + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
    *p = (struct fit_device_pool){.shelf = {.d = d, .destroy = destroy}, .kernel = kernel,
                                  .source = source, .module = module, .layout = *l,
                                  .nws = kernel->workspace(l), .nlin = ng * q, .nadj = ng * (1 + q * (q + 1) / 2),
                                  .weighted = is_weighted(ds), .index = which[0], .together = which[1]};
    p->nfixed = 1 + source->program->axes * ng + source->program->columns * rows;
    p->queue.together = fit_launch_together;
    p->queue.serve = fit_launch;
    fit_device_queue_begin(&p->queue);
    fit_device_lock(d);
    const int failed = !fit_items_new(ds, &p->items) || fill(p, ds) != 0;
    fit_device_unlock(d);
    if (failed) {
        destroy(&p->shelf);
        return fit_fail(err, FIT_ERR_MEMORY, "device %s: no memory for the data: %s", fit_device_about(d)->word,
                        fit_device_failure(d));
    }
    *out = p;
    return FIT_OK;
}

/* One of many small data sets: the devices take them in turns and do not share each of them. */
static int is_one_of_many(const struct fit_device *d, const struct fit_dataset *ds)
{
    return fit_device_next(d) && fit_device_expected(d) > 1 && !fit_dataset_streamed(ds) &&
           ds->npoint * (is_weighted(ds) ? 16 : 8) < SMALL;
}

/* On the devices that share sums with d, as long as the shares fit; otherwise on d alone. */
static enum fit_status make(struct fit_device *d, const struct fit_kernel *kernel, const struct fit_dataset *ds,
                            const struct fit_gpu_source *source, struct fit_device_pool **out, struct fit_error *err)
{
    const int alone = fit_dataset_streamed(ds) || !fit_device_next(d) || is_one_of_many(d, ds);
    const size_t n = alone ? 1 : fit_device_about(d)->together;
    struct fit_device_pool **at = out;
    enum fit_status st = FIT_OK;
    int fits = 1;
    *out = NULL;
    for (size_t k = 0; k < n && st == FIT_OK && fits; k++, d = fit_device_next(d)) {
        const size_t which[2] = {k, n};
        if (k > 0)
            fit_shelf_clear(d);
        st = make_one(d, kernel, ds, source, which, at, err);
        fits = st == FIT_OK && (n == 1 || ((*at)->resident && (*at)->shelf.nplace == 1));
        at = st == FIT_OK ? &(*at)->mate : at;
    }
    if (st == FIT_OK && fits)
        return FIT_OK;
    struct fit_device *const first = *out ? (*out)->shelf.d : d;
    if (*out)
        destroy(&(*out)->shelf);
    *out = NULL;
    const size_t one[2] = {0, 1};
    return st != FIT_OK ? st : make_one(first, kernel, ds, source, one, out, err);
}

/* 1: kernels cannot distinguish the data of ds from those of the pool. */
static int same_shape(const struct fit_device_pool *p, const struct fit_layout *l, const struct fit_items *x)
{
    const struct fit_layout *own = &p->layout;
    return own->ngroup == l->ngroup && own->ntime == l->ntime && own->nframe == l->nframe && own->nrow == l->nrow &&
           p->items.n == x->n && memcmp(p->items.item, x->item, x->n * FIT_ITEM_NUMBERS * sizeof *x->item) == 0 &&
           memcmp(p->items.first, x->first, 2 * l->ngroup * sizeof *x->first) == 0;
}

struct wanted {
    const struct fit_kernel *kernel;
    const struct fit_gpu_source *source;
    const struct fit_layout *layout;
    const struct fit_items *items;
    int weighted;
};

static int suits(const struct fit_shelved *shelf, const void *wanted)
{
    const struct fit_device_pool *p = (const struct fit_device_pool *)(const void *)shelf;
    const struct wanted *w = wanted;
    return p->source == w->source && p->kernel == w->kernel && p->resident && p->weighted == w->weighted &&
           same_shape(p, w->layout, w->items);
}

static struct fit_device_pool *find(const struct fit_device *d, const struct fit_kernel *kernel,
                                    const struct fit_dataset *ds, const struct fit_gpu_source *source)
{
    struct fit_items items;
    const struct wanted w = {kernel, source, &ds->layout, &items, is_weighted(ds)};
    if (fit_dataset_streamed(ds) || !fit_items_new(ds, &items))
        return NULL;
    struct fit_shelved *found = fit_shelf_find(d, destroy, suits, &w);
    fit_items_free(&items);
    return (struct fit_device_pool *)(void *)found;
}

/* Copies the data of ds to a free slot. */
static enum fit_status take_place(struct fit_device_pool *p, const struct fit_dataset *ds, size_t *place,
                                  struct fit_error *err)
{
    int failed = 0;
    *place = fit_shelf_take(&p->shelf);
    for (struct fit_device_pool *q = p; q && !failed; q = q->mate) {
        fit_device_lock(q->shelf.d);
        failed = put_fixed(q, &ds->layout, *place) != 0 || (q->resident && put_values(q, ds, *place) != 0);
        fit_device_unlock(q->shelf.d);
    }
    if (!failed)
        return FIT_OK;
    fit_shelf_give_back(&p->shelf, *place);
    return fit_fail(err, FIT_ERR_MEMORY, "device %s: the data cannot be put there: %s",
                    fit_device_about(p->shelf.d)->word, fit_device_failure(p->shelf.d));
}

enum fit_status fit_pool_enter(struct fit_device *d, const struct fit_kernel *kernel, const struct fit_dataset *ds,
                               const struct fit_gpu_source *source, struct fit_device_pool **pool, size_t *place,
                               struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    fit_shelf_lock();
    if (is_one_of_many(d, ds))
        d = fit_shelf_least(d);
    *pool = find(d, kernel, ds, source);
    if (!*pool) {
        fit_shelf_clear(d);
        st = make(d, kernel, ds, source, pool, err);
        if (st == FIT_OK)
            fit_shelf_put(&(*pool)->shelf);
    }
    if (st == FIT_OK)
        st = take_place(*pool, ds, place, err);
    fit_shelf_unlock();
    return st;
}

void fit_pool_leave(struct fit_device_pool *p, size_t place)
{
    fit_shelf_leave(&p->shelf, place);
}
