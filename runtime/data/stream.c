/* stream.c -- matrices read in the order of the tiles, ahead of the computing threads. See stream.h.
 *
 * A pass takes `count` segments from `from` on. They are numbered through all passes, the first of the current pass is
 * `base`; number q belongs into slot q mod FIT_STREAM_SLOTS. Readers assume that the next pass is over the same tiles;
 * if it is not, the segments read ahead are discarded. Readers take work units (one matrix of one segment) in order and
 * wait for the slot to become free, which it does when all its tiles are done. Computing threads request tiles in
 * increasing order, so the lowest tile that is not done is always in a slot or on the way into one: nobody waits
 * forever.
 *
 * Readers call no function of HDF5 (raw.h): the rest of the program may.
 */
#include "data/stream.h"

#include "base/clock.h"
#include "data/dataset_impl.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_BYTES ((size_t)40 << 20)
enum { READERS_MOST = 4, READERS_COMPRESSED = 2, ALIGN = 64 };

struct unit { /* result of one read: a matrix, or several whose axis is last */
    struct fit_plane plane;
    size_t before; /* bytes of one element in the units before */
};

struct segment {
    size_t first, last; /* tiles */
    struct fit_rect box;
};

struct slot {
    struct fit_pages block;
    unsigned char *data; /* of the block */
    size_t number; /* number of the segment that it contains or waits for */
    size_t read;   /* units that are there */
    size_t left;   /* tiles that are not done */
    int taken;     /* readers have begun with it */
};

struct fit_stream {
    struct fit_h5_raw_set *set;
    const struct fit_layout *layout;
    const struct fit_tile *tile;
    size_t ntile, ngroup, row;
    struct fit_plane *y, *sigma;
    size_t *y_unit, *sigma_unit; /* of a group */
    struct unit *unit;
    size_t nunit;
    struct segment *segment;
    size_t nsegment;
    uint32_t *of_tile; /* segment of a tile */
    size_t slot_size;
    struct slot slot[FIT_STREAM_SLOTS];

    pthread_mutex_t lock, pass;
    pthread_cond_t changed;
    pthread_t reader[READERS_MOST];
    int nreader, busy, paused, closing, aborted, failed;
    size_t next, next_unit; /* what readers take next */
    size_t base;            /* number of the first segment of the pass */
    size_t first, last;     /* tiles of the pass */
    size_t from, count;     /* its segments */
    size_t ndone;           /* tiles of the pass */
    struct fit_error error;
    struct fit_arena storage;
};

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t round_up(size_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

/* Elements for which a unit has room: units begin at multiples of 64 bytes. */
static size_t area(const struct fit_rect *box)
{
    return round_up((box->r1 - box->r0) * (box->c1 - box->c0));
}

static size_t unit_item(const struct unit *u)
{
    return fit_plane_together(&u->plane) * fit_h5_raw_item(u->plane.raw);
}

/* ---- plan ------------------------------------------------------------------------------------ */

static struct fit_rect box_of_tile(const struct fit_stream *s, const struct fit_tile *t)
{
    const uint32_t *f = s->layout->frame;
    return (struct fit_rect){s->row + f[t->i0], s->row + f[t->i1 - 1] + 1, s->row + f[t->j0],
                             s->row + f[t->j1 - 1] + 1};
}

static size_t box_bytes(const struct fit_stream *s, const struct fit_rect *box)
{
    const struct unit *last = &s->unit[s->nunit - 1];
    return area(box) * (last->before + unit_item(last));
}

static struct fit_rect join(struct fit_rect a, struct fit_rect b)
{
    return (struct fit_rect){min_size(a.r0, b.r0), a.r1 > b.r1 ? a.r1 : b.r1, min_size(a.c0, b.c0),
                             a.c1 > b.c1 ? a.c1 : b.c1};
}

/* Index of the unit that reads the plane; it is added when it is new. */
static size_t unit_of(struct fit_stream *s, const struct fit_plane *p)
{
    for (size_t u = 0; u < s->nunit; u++) {
        const struct fit_plane *old = &s->unit[u].plane;
        if (old->raw == p->raw && (p->last || old->at == p->at))
            return u;
    }
    s->unit[s->nunit] = (struct unit){.plane = *p};
    return s->nunit++;
}

static int plan_units(struct fit_stream *s)
{
    s->unit = fit_take(&s->storage, 2 * s->ngroup, sizeof *s->unit);
    s->y_unit = fit_take(&s->storage, s->ngroup, sizeof *s->y_unit);
    s->sigma_unit = fit_take(&s->storage, s->ngroup, sizeof *s->sigma_unit);
    if (s->storage.failed)
        return 0;
    for (size_t g = 0; g < s->ngroup; g++) {
        s->y_unit[g] = unit_of(s, &s->y[g]);
        if (s->sigma)
            s->sigma_unit[g] = unit_of(s, &s->sigma[g]);
    }
    for (size_t u = 1; u < s->nunit; u++)
        s->unit[u].before = s->unit[u - 1].before + unit_item(&s->unit[u - 1]);
    return 1;
}

/* Tiles of one row of tiles, as many as fit a slot. */
static int plan_segments(struct fit_stream *s, size_t slot_bytes)
{
    s->segment = fit_take(&s->storage, s->ntile, sizeof *s->segment);
    s->of_tile = fit_take(&s->storage, s->ntile, sizeof *s->of_tile);
    if (s->storage.failed)
        return 0;
    for (size_t k = 0; k < s->ntile; k++) {
        struct fit_rect box = box_of_tile(s, &s->tile[k]);
        struct segment *old = s->nsegment ? &s->segment[s->nsegment - 1] : NULL;
        struct fit_rect both = old ? join(old->box, box) : box;
        if (old && s->tile[k].i0 == s->tile[k - 1].i0 && box_bytes(s, &both) <= slot_bytes) {
            old->box = both;
            old->last = k + 1;
        } else {
            s->segment[s->nsegment++] = (struct segment){.first = k, .last = k + 1, .box = box};
        }
        s->of_tile[k] = (uint32_t)(s->nsegment - 1);
        size_t bytes = box_bytes(s, &s->segment[s->nsegment - 1].box);
        s->slot_size = bytes > s->slot_size ? bytes : s->slot_size;
    }
    return 1;
}

/* ---- reading --------------------------------------------------------------------------------- */

static size_t unit_offset(const struct fit_stream *s, size_t u, const struct fit_rect *box)
{
    return area(box) * s->unit[u].before;
}

static void fail(struct fit_stream *s, const struct fit_error *why)
{
    if (!s->failed)
        s->error = *why;
    s->failed = 1;
    pthread_cond_broadcast(&s->changed);
}

static size_t segment_of(const struct fit_stream *s, size_t number)
{
    return s->from + (number - s->base) % s->count;
}

/* Number of tiles of a segment that belong to the pass. */
static size_t tiles_of(const struct fit_stream *s, const struct segment *g)
{
    const size_t first = g->first > s->first ? g->first : s->first, last = min_size(g->last, s->last);
    return last - first;
}

/* Takes the next unit when there is room for it; the lock is held. */
static int take(struct fit_stream *s, size_t *number, size_t *u)
{
    struct slot *slot = &s->slot[s->next % FIT_STREAM_SLOTS];
    if (s->paused || s->failed || (slot->taken && slot->number != s->next) ||
        (slot->taken && s->next_unit == 0))
        return 0;
    if (!slot->taken) {
        slot->number = s->next;
        slot->read = 0;
        slot->left = tiles_of(s, &s->segment[segment_of(s, s->next)]);
        slot->taken = 1;
    }
    *number = s->next;
    *u = s->next_unit++;
    if (s->next_unit == s->nunit) {
        s->next_unit = 0;
        s->next++;
    }
    return 1;
}

static void *read_ahead(void *user)
{
    struct fit_stream *s = user;
    fit_clock_name("reader");
    pthread_mutex_lock(&s->lock);
    while (!s->closing) {
        size_t number, u;
        if (!take(s, &number, &u)) {
            pthread_cond_wait(&s->changed, &s->lock);
            continue;
        }
        struct slot *slot = &s->slot[number % FIT_STREAM_SLOTS];
        const struct fit_rect *box = &s->segment[segment_of(s, number)].box;
        struct fit_error err = {.status = FIT_OK};
        s->busy++;
        pthread_mutex_unlock(&s->lock);
        enum fit_clock was = fit_clock_enter(FIT_CLOCK_LOAD);
        enum fit_status st = fit_plane_read(&s->unit[u].plane, box,
                                            slot->data + unit_offset(s, u, box), &err);
        if (st == FIT_OK && u + 1 == s->nunit)
            st = fit_h5_raw_check(s->set, &err);
        fit_clock_enter(was);
        pthread_mutex_lock(&s->lock);
        s->busy--;
        slot->read++;
        if (st != FIT_OK)
            fail(s, &err);
        if (slot->read == s->nunit || s->paused)
            pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* ---- making and freeing ---------------------------------------------------------------------- */

static int reader_count(const struct fit_stream *s, int asked)
{
    int n = asked > 0 ? asked : fit_h5_raw_compressed(s->y[0].raw) ? READERS_COMPRESSED : 1;
    return n < READERS_MOST ? n : READERS_MOST;
}

static enum fit_status start(struct fit_stream *s, int readers, struct fit_error *err)
{
    /* rows of a tile are on different pages: without huge pages every row would miss the TLB */
    for (int k = 0; k < FIT_STREAM_SLOTS; k++) {
        struct slot *slot = &s->slot[k];
        if (fit_dataset_block_new(&slot->block, round_up(s->slot_size) / sizeof(double), NULL) != FIT_OK)
            return fit_fail(err, FIT_ERR_MEMORY, "data: no memory for a buffer of %zu MB",
                            s->slot_size >> 20);
        slot->data = (unsigned char *)slot->block.data;
    }
    for (; s->nreader < readers; s->nreader++)
        if (pthread_create(&s->reader[s->nreader], NULL, read_ahead, s) != 0)
            break;
    return s->nreader ? FIT_OK
                      : fit_fail(err, FIT_ERR_INTERNAL, "data: cannot start a thread that reads");
}

enum fit_status fit_stream_new(const struct fit_stream_spec *spec, const struct fit_layout *layout,
                               size_t ntile, const struct fit_tile *tile, struct fit_stream **out,
                               struct fit_error *err)
{
    struct fit_stream *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s) {
        fit_h5_raw_free(spec->set);
        return fit_no_memory(err, "data");
    }
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->pass, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->set = spec->set;
    s->layout = layout;
    s->tile = tile;
    s->ntile = ntile;
    s->ngroup = spec->ngroup;
    s->row = spec->row;
    s->y = fit_take_copy(&s->storage, spec->y, spec->ngroup, sizeof *s->y);
    s->sigma = spec->sigma ? fit_take_copy(&s->storage, spec->sigma, spec->ngroup, sizeof *s->sigma) : NULL;
    enum fit_status st = FIT_OK;
    s->last = ntile;
    if (!plan_units(s) || !plan_segments(s, spec->slot_bytes ? spec->slot_bytes : SLOT_BYTES))
        st = fit_no_memory(err, "data");
    s->count = s->nsegment;
    if (st == FIT_OK)
        st = start(s, reader_count(s, spec->threads), err);
    if (st == FIT_OK)
        *out = s;
    else
        fit_stream_free(s);
    return st;
}

void fit_stream_free(struct fit_stream *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->closing = 1;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    for (int k = 0; k < s->nreader; k++)
        pthread_join(s->reader[k], NULL);
    for (int k = 0; k < FIT_STREAM_SLOTS; k++)
        fit_pages_free(&s->slot[k].block);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->pass);
    pthread_mutex_destroy(&s->lock);
    fit_h5_raw_free(s->set);
    fit_arena_free(&s->storage);
    free(s);
}

size_t fit_stream_bound(size_t frames, size_t ngroup, int weighted)
{
    size_t row = fit_dataset_tile_rows(ngroup) * frames * ngroup * sizeof(double) * (weighted ? 2 : 1);
    return FIT_STREAM_SLOTS * min_size(row, SLOT_BYTES);
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* The contents of the slots are useless. */
static void rewind_slots(struct fit_stream *s)
{
    s->paused = 1;
    while (s->busy)
        pthread_cond_wait(&s->changed, &s->lock);
    for (int k = 0; k < FIT_STREAM_SLOTS; k++)
        s->slot[k].taken = 0;
    s->next = s->base;
    s->next_unit = 0;
}

static void go_on(struct fit_stream *s)
{
    s->paused = 0;
    pthread_cond_broadcast(&s->changed);
}

void fit_stream_begin(struct fit_stream *s, size_t first, size_t last)
{
    pthread_mutex_lock(&s->pass);
    pthread_mutex_lock(&s->lock);
    s->aborted = 0;
    s->ndone = 0;
    if (first != s->first || last != s->last) {
        rewind_slots(s);
        s->first = first;
        s->last = last;
        s->from = s->of_tile[first];
        s->count = s->of_tile[last - 1] + 1 - s->from;
        go_on(s);
    }
    pthread_mutex_unlock(&s->lock);
}

void fit_stream_end(struct fit_stream *s)
{
    pthread_mutex_lock(&s->lock);
    s->base += s->count;
    if (s->ndone < s->last - s->first) { /* the pass was given up */
        rewind_slots(s);
        go_on(s);
    }
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_unlock(&s->pass);
}

static size_t number_of(const struct fit_stream *s, size_t k)
{
    return s->base + s->of_tile[k] - s->from;
}

static size_t slot_of(const struct fit_stream *s, size_t k)
{
    return number_of(s, k) % FIT_STREAM_SLOTS;
}

int fit_stream_wait(struct fit_stream *s, size_t k)
{
    const size_t number = number_of(s, k);
    const struct slot *slot = &s->slot[slot_of(s, k)];
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_WAIT);
    pthread_mutex_lock(&s->lock);
    while (!s->failed && !s->aborted &&
           !(slot->taken && slot->number == number && slot->read == s->nunit))
        pthread_cond_wait(&s->changed, &s->lock);
    int lost = s->failed || s->aborted;
    pthread_mutex_unlock(&s->lock);
    fit_clock_enter(was);
    return lost ? -1 : 0;
}

static void view(const struct fit_stream *s, size_t g, const struct fit_rect *box,
                 const unsigned char *data, struct fit_view *y, struct fit_view *sigma)
{
    *y = fit_plane_view(&s->y[g], box, data + unit_offset(s, s->y_unit[g], box));
    if (sigma && s->sigma)
        *sigma = fit_plane_view(&s->sigma[g], box, data + unit_offset(s, s->sigma_unit[g], box));
}

void fit_stream_view(const struct fit_stream *s, size_t k, size_t g, struct fit_view *y,
                     struct fit_view *sigma, struct fit_rect *box)
{
    *box = s->segment[s->of_tile[k]].box;
    view(s, g, box, s->slot[slot_of(s, k)].data, y, sigma);
}

void fit_stream_done(struct fit_stream *s, size_t k)
{
    struct slot *slot = &s->slot[slot_of(s, k)];
    pthread_mutex_lock(&s->lock);
    s->ndone++;
    if (--slot->left == 0) {
        slot->taken = 0;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
}

void fit_stream_abort(struct fit_stream *s)
{
    pthread_mutex_lock(&s->lock);
    s->aborted = 1;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* ---- single tiles ---------------------------------------------------------------------------- */

size_t fit_stream_tile_bytes(const struct fit_stream *s, size_t k)
{
    struct fit_rect box = box_of_tile(s, &s->tile[k]);
    return box_bytes(s, &box);
}

enum fit_status fit_stream_tile(struct fit_stream *s, size_t k, void *slot, struct fit_error *err)
{
    struct fit_rect box = box_of_tile(s, &s->tile[k]);
    enum fit_status st = fit_h5_raw_check(s->set, err);
    for (size_t u = 0; u < s->nunit && st == FIT_OK; u++)
        st = fit_plane_read(&s->unit[u].plane, &box,
                            (unsigned char *)slot + unit_offset(s, u, &box), err);
    return st;
}

void fit_stream_tile_view(const struct fit_stream *s, size_t k, size_t g, const void *slot,
                          struct fit_view *y, struct fit_view *sigma, struct fit_rect *box)
{
    *box = box_of_tile(s, &s->tile[k]);
    view(s, g, box, slot, y, sigma);
}

enum fit_status fit_stream_status(struct fit_stream *s, struct fit_error *err)
{
    pthread_mutex_lock(&s->lock);
    enum fit_status st = s->failed ? fit_fail(err, s->error.status, "%s", s->error.message) : FIT_OK;
    pthread_mutex_unlock(&s->lock);
    return st;
}

void fit_stream_fail(struct fit_stream *s, const struct fit_error *why)
{
    pthread_mutex_lock(&s->lock);
    fail(s, why);
    pthread_mutex_unlock(&s->lock);
}
