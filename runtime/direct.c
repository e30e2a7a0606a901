/* direct.c -- matrices computed from where they lie in the page cache.  See direct.h.
 *
 * Tiles of one row of tiles form a band: some rows of every matrix, from the diagonal to the end.
 * The thread that looks ahead is never more than AHEAD bands before the tiles that are asked for,
 * and nobody waits for it: a page that is still missing makes the one wait who reads it.
 *
 * Between the rows of a band lies what is below the diagonal.  Where that is less than GAP bytes
 * the disk reads on rather than being sent to each row by itself.
 */
#include "direct.h"

#include "clock.h"
#include "dataset.h"
#include "memory.h"
#include "team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    AHEAD = 2,
    GAP = 65536,
    LARGE_HELD = 4 /* large pages of a matrix that are mapped beside the bands: where these and the kept ones end, and
                      where the last pass ended */
};
#define ROOM 0.5 /* of the memory that is free: so much of a file stays in the page cache from pass to pass */
#define BAND_MOST ((size_t)256 << 20) /* of the file: beyond that it is read through small buffers */

struct band {
    size_t first, last; /* tiles */
    struct fit_rect box;
    atomic_size_t left; /* tiles of the pass that are not done */
    int kept, seen;     /* its pages stay mapped; they were fetched once */
};

struct fit_direct {
    struct fit_direct_spec spec;
    struct fit_view *y, *sigma; /* ngroup, of the whole matrices; sigma may be NULL */
    const struct fit_plane **plane; /* those that are read */
    size_t nplane;
    struct band *band;
    size_t nband;
    uint32_t *of_tile; /* band of a tile */

    atomic_size_t wanted; /* band that is asked for, the last of them */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    int threads, closing;
    size_t next, goal; /* bands: the next to be fetched, and where to stop */
};

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- what lies where ------------------------------------------------------------------------- */

/* The planes that are read, each once: one may come with another, or be the same.  Returns how many;
 * `to` may be NULL. */
static size_t distinct(const struct fit_plane *p, size_t n, const struct fit_plane **to)
{
    size_t count = 0;
    for (size_t k = 0; k < n; k++) {
        size_t i = 0;
        while (i < count && (to[i]->raw != p[k].raw || (!p[k].last && to[i]->at != p[k].at)))
            i++;
        if (i == count)
            to[count++] = &p[k];
    }
    return count;
}

static struct fit_rect box_of(const struct fit_direct_spec *s, const struct fit_tile *t)
{
    const uint32_t *f = s->layout->frame;
    size_t last = s->layout->nframe - 1;
    return (struct fit_rect){s->row + f[t->i0], s->row + f[t->i1 - 1] + 1, s->row + f[t->i0],
                             s->row + f[last] + 1};
}

/* Bytes that large pages take beside the bands themselves; 0: pages are small, since rows lie far apart or the
 * pages would take more than `keep`. */
static size_t large_bytes(const struct fit_direct_spec *s)
{
    size_t planes = s->ngroup * (s->sigma ? 2 : 1), n = planes * LARGE_HELD * fit_mapped_large_page();
    size_t row = s->y[0].n * fit_plane_together(&s->y[0]) * fit_h5_raw_item(s->y[0].raw);
    return row <= GAP && n <= s->keep ? n : 0;
}

/* Bytes that a band takes of all planes, with what lies between its rows. */
static size_t band_bytes(const struct fit_direct *d, const struct fit_rect *box)
{
    size_t all = 0, from, n;
    for (size_t k = 0; k < d->nplane; k++) {
        fit_plane_span(d->plane[k], box, &from, &n);
        all += n;
    }
    return all;
}

static size_t count_bands(const struct fit_direct_spec *s)
{
    size_t n = 0;
    for (size_t k = 0; k < s->ntile; k++)
        n += k == 0 || s->tile[k].i0 != s->tile[k - 1].i0;
    return n;
}

static int are_mapped(const struct fit_plane *p, size_t n)
{
    for (size_t k = 0; p && k < n; k++)
        if (p[k].lower || !fit_h5_raw_map(p[k].raw))
            return 0;
    return 1;
}

int fit_direct_possible(const struct fit_direct_spec *s)
{
    if (!are_mapped(s->y, s->ngroup) || !are_mapped(s->sigma, s->ngroup) || s->ntile == 0)
        return 0;
    size_t rows = s->tile[0].i1 - s->tile[0].i0, all = 0;
    for (size_t g = 0; g < s->ngroup; g++)
        all += rows * s->y[g].n * sizeof(double) * (s->sigma ? 2 : 1);
    return all <= BAND_MOST;
}

size_t fit_direct_bound(size_t frames, size_t ngroup, size_t item, size_t keep)
{
    size_t band = fit_dataset_tile_rows(ngroup) * frames * ngroup * item;
    return min_size(frames * frames * ngroup * item, keep + (AHEAD + 2) * min_size(band, BAND_MOST));
}

static void make_bands(struct fit_direct *d)
{
    const struct fit_direct_spec *s = &d->spec;
    size_t held = large_bytes(s);
    for (size_t k = 0; k < s->ntile; k++) {
        if (k == 0 || s->tile[k].i0 != s->tile[k - 1].i0)
            d->band[d->nband++] = (struct band){.first = k, .box = box_of(s, &s->tile[k])};
        struct band *b = &d->band[d->nband - 1];
        b->last = k + 1;
        if (s->tile[k].i1 - 1 < s->layout->nframe) { /* the rows of its longest tile */
            size_t r1 = s->row + s->layout->frame[s->tile[k].i1 - 1] + 1;
            b->box.r1 = b->box.r1 > r1 ? b->box.r1 : r1;
        }
        d->of_tile[k] = (uint32_t)(d->nband - 1);
    }
    for (size_t b = 0; b < d->nband; b++) {
        held += band_bytes(d, &d->band[b].box);
        d->band[b].kept = held <= s->keep;
    }
}

/* ---- large pages ----------------------------------------------------------------------------- */

static void gather_plane(void *user, size_t k, size_t thread)
{
    const struct fit_plane *p = &((const struct fit_plane *)user)[k];
    const struct fit_rect all = {0, p->n, 0, p->n};
    size_t from, n;
    (void)thread;
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_LOAD);
    fit_plane_span(p, &all, &from, &n);
    fit_mapped_gather(fit_h5_raw_map(p->raw), from, n);
    fit_clock_enter(was);
}

static void gather(const struct fit_plane *plane, size_t n)
{
    double bytes = 0;
    int large = 1;
    for (size_t k = 0; k < n; k++) {
        large &= fit_mapped_large(fit_h5_raw_map(plane[k].raw));
        bytes += (double)(plane[k].n * plane[k].n * fit_h5_raw_item(plane[k].raw));
    }
    if (large && bytes < ROOM * 1e6 * fit_memory_available_mb())
        fit_team_run((struct fit_team){FIT_TEAM_ALL, FIT_TEAM_NEXT}, n, gather_plane, (void *)plane);
}

void fit_direct_gather(const struct fit_plane *y, const struct fit_plane *sigma, size_t ngroup, size_t keep)
{
    const struct fit_direct_spec s = {.ngroup = ngroup, .y = y, .sigma = sigma, .keep = keep};
    if (!are_mapped(y, ngroup) || !are_mapped(sigma, ngroup) || !large_bytes(&s))
        return;
    gather(y, ngroup);
    if (sigma)
        gather(sigma, ngroup);
}

/* ---- looking ahead --------------------------------------------------------------------------- */

static void fetch_plane(const struct fit_plane *p, const struct fit_rect *box)
{
    struct fit_mapped *m = fit_h5_raw_map(p->raw);
    size_t from, n;
    struct fit_rect row = *box;
    row.r1 = row.r0 + 1;
    fit_plane_span(p, &row, &from, &n);
    size_t whole = p->n * fit_plane_together(p) * fit_h5_raw_item(p->raw);
    if (whole < n + GAP) {
        fit_plane_span(p, box, &from, &n);
        fit_mapped_fetch(m, from, n);
        return;
    }
    for (; row.r0 < box->r1; row.r0++, row.r1++) {
        fit_plane_span(p, &row, &from, &n);
        fit_mapped_fetch(m, from, n);
    }
}

static void each_plane(const struct fit_direct *d, const struct fit_rect *box,
                       void (*fn)(const struct fit_plane *p, const struct fit_rect *box))
{
    for (size_t k = 0; k < d->nplane; k++)
        fn(d->plane[k], box);
}

static void drop_plane(const struct fit_plane *p, const struct fit_rect *box)
{
    size_t from, n;
    fit_plane_span(p, box, &from, &n);
    fit_mapped_drop(fit_h5_raw_map(p->raw), from, n);
}

static void *look_ahead(void *user)
{
    struct fit_direct *d = user;
    fit_clock_name("reader");
    pthread_mutex_lock(&d->lock);
    while (!d->closing) {
        if (d->next >= d->goal) {
            pthread_cond_wait(&d->changed, &d->lock);
            continue;
        }
        struct band *b = &d->band[d->next++];
        int needed = !(b->kept && b->seen);
        b->seen = 1;
        pthread_mutex_unlock(&d->lock);
        enum fit_clock was = fit_clock_enter(FIT_CLOCK_LOAD);
        if (needed)
            each_plane(d, &b->box, fetch_plane);
        fit_clock_enter(was);
        pthread_mutex_lock(&d->lock);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

static void set_goal(struct fit_direct *d, size_t band)
{
    pthread_mutex_lock(&d->lock);
    d->next = d->next > band ? d->next : band;
    d->goal = min_size(band + 1 + AHEAD, d->nband);
    pthread_cond_signal(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

/* ---- making and freeing ---------------------------------------------------------------------- */

static struct fit_view *make_views(const struct fit_plane *p, size_t n)
{
    struct fit_view *v = calloc(n, sizeof *v);
    for (size_t g = 0; v && g < n; g++)
        v[g] = fit_plane_whole(&p[g], fit_mapped_bytes(fit_h5_raw_map(p[g].raw)));
    return v;
}

struct fit_direct *fit_direct_new(const struct fit_direct_spec *spec)
{
    struct fit_direct *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->spec = *spec;
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    d->band = calloc(count_bands(spec), sizeof *d->band);
    d->of_tile = calloc(spec->ntile, sizeof *d->of_tile);
    d->y = make_views(spec->y, spec->ngroup);
    d->sigma = spec->sigma ? make_views(spec->sigma, spec->ngroup) : NULL;
    d->plane = calloc(2 * spec->ngroup, sizeof *d->plane);
    if (d->band && d->of_tile && d->y && d->plane && (d->sigma || !spec->sigma)) {
        d->nplane = distinct(spec->y, spec->ngroup, d->plane);
        if (spec->sigma)
            d->nplane += distinct(spec->sigma, spec->ngroup, d->plane + d->nplane);
        make_bands(d);
        d->threads = pthread_create(&d->thread, NULL, look_ahead, d) == 0;
    }
    if (d->threads)
        return d;
    fit_direct_free(d);
    return NULL;
}

void fit_direct_free(struct fit_direct *d)
{
    if (!d)
        return;
    pthread_mutex_lock(&d->lock);
    d->closing = 1;
    pthread_cond_signal(&d->changed);
    pthread_mutex_unlock(&d->lock);
    if (d->threads)
        pthread_join(d->thread, NULL);
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
    free(d->y);
    free(d->sigma);
    free(d->plane);
    free(d->band);
    free(d->of_tile);
    free(d);
}

/* ---- passes ---------------------------------------------------------------------------------- */

enum fit_status fit_direct_begin(struct fit_direct *d, struct fit_error *err)
{
    for (size_t b = 0; b < d->nband; b++)
        atomic_store(&d->band[b].left, d->band[b].last - d->band[b].first);
    pthread_mutex_lock(&d->lock);
    d->next = d->goal = 0;
    pthread_mutex_unlock(&d->lock);
    atomic_store(&d->wanted, 0);
    set_goal(d, 0);
    return fit_h5_raw_check(d->spec.set, err);
}

enum fit_status fit_direct_end(struct fit_direct *d, struct fit_error *err)
{
    return fit_h5_raw_check(d->spec.set, err);
}

void fit_direct_wanted(struct fit_direct *d, size_t k)
{
    size_t band = d->of_tile[k], was = atomic_load(&d->wanted);
    while (band > was)
        if (atomic_compare_exchange_weak(&d->wanted, &was, band))
            set_goal(d, band);
}

void fit_direct_view(const struct fit_direct *d, size_t g, struct fit_view *y, struct fit_view *sigma)
{
    *y = d->y[g];
    if (sigma && d->sigma)
        *sigma = d->sigma[g];
}

enum fit_status fit_direct_done(struct fit_direct *d, size_t k, struct fit_error *err)
{
    struct band *b = &d->band[d->of_tile[k]];
    if (atomic_fetch_sub(&b->left, 1) == 1 && !b->kept)
        each_plane(d, &b->box, drop_plane);
    for (size_t p = 0; p < d->nplane; p++) {
        if (!fit_mapped_lost(fit_h5_raw_map(d->plane[p]->raw)))
            continue;
        enum fit_status st = fit_h5_raw_check(d->spec.set, err);
        return st != FIT_OK ? st : fit_fail(err, FIT_ERR_DATA, "data: the file cannot be read any more");
    }
    return FIT_OK;
}
