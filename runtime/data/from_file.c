/* from_file.c -- passes over all tiles, whose values are in memory or in a file.
 *
 * Takes the boxes that stream.c has read; gives tiles with the bits that fit_dataset_put would have stored: both use
 * fit_dataset_put_groups.
 */
#include "base/clock.h"
#include "data/dataset_impl.h"
#include "data/share.h"
#include "data/stream.h"
#include "machine/team.h"
#include "machine/topology.h"
#include "ranks/ranks.h"

#include <stdlib.h>
#include <string.h>

enum fit_status fit_dataset_stream(struct fit_dataset *ds, const struct fit_stream_spec *spec,
                                   const struct fit_dataset_seen *seen, struct fit_error *err)
{
    struct fit_dataset_private *p = ds->private_;
    size_t n = ds->layout.ngroup;
    int errors = spec->sigma != NULL || seen->sigma != NULL;
    ds->weighted = p->stream_weights = errors;
    p->stream_row = spec->row;
    p->clean = fit_take(&p->storage, n, sizeof *p->clean);
    p->given = seen->sigma ? fit_take_copy(&p->storage, seen->sigma, n, sizeof *seen->sigma) : NULL;
    if (p->storage.failed) {
        fit_h5_raw_free(spec->set);
        return fit_no_memory(err, "data");
    }
    for (size_t g = 0; g < n; g++) {
        ds->reference[g] = p->center ? seen->mean[g] : 0;
        p->clean[g] = !errors && !seen->bad[g];
        p->stream_weights |= seen->bad[g] > 0;
        p->put[g] = 1;
    }
    return fit_stream_new(spec, &ds->layout, ds->ntile, ds->tile, &p->stream, err);
}

int fit_dataset_streamed(const struct fit_dataset *ds)
{
    return ds->private_->stream != NULL;
}

/* Doubles before the row of a lent tile (fit_tile.row): a pointer for each group. */
static size_t lent_pointers(const struct fit_layout *l)
{
    return (l->ngroup + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
}

size_t fit_dataset_buffer(const struct fit_dataset *ds)
{
    const struct fit_dataset_private *p = ds->private_;
    size_t lent = lent_pointers(&ds->layout) + ds->layout.ngroup * ds->layout.panel, own = p->largest;
    if (!p->stream)
        return !fit_dataset_divided(ds) ? 0 : p->w.data ? 2 * own : own;
    return p->stream_weights ? 2 * own : own > lent ? own : lent;
}

enum fit_status fit_dataset_status(const struct fit_dataset *ds, struct fit_error *err)
{
    return ds->private_->stream ? fit_stream_status(ds->private_->stream, err) : FIT_OK;
}

/* ---- one tile -------------------------------------------------------------------------------- */

/* Location of the values of tile k and group g; slot: NULL, in the slots of the pass. */
static struct fit_values values_of(const struct fit_dataset *ds, size_t k, size_t g, const void *slot)
{
    const struct fit_dataset_private *p = ds->private_;
    struct fit_rect box;
    struct fit_values v = {.reference = ds->reference[g],
                           .clean = p->clean[g],
                           .has_sigma = ds->weighted,
                           .g = g};
    if (slot)
        fit_stream_tile_view(p->stream, k, g, slot, &v.y, &v.sigma, &box);
    else
        fit_stream_view(p->stream, k, g, &v.y, &v.sigma, &box);
    if (p->given)
        v.sigma = (struct fit_view){.value = &p->given[g]};
    v.row = box.r0 - p->stream_row;
    v.column = box.c0 - p->stream_row;
    return v;
}

/* Converts the values of tile k into y and w; 0: out of memory. */
static int read_tile(const struct fit_dataset *ds, size_t k, const void *slot, double *y, double *w)
{
    size_t n = ds->layout.ngroup;
    FIT_OWNED struct fit_values *v = malloc(n * sizeof *v);
    for (size_t g = 0; v && g < n; g++)
        v[g] = values_of(ds, k, g, slot);
    if (v)
        fit_dataset_put_groups(ds, v, &ds->tile[k], y, w);
    return v != NULL;
}

static const struct fit_tile *own_tile(const struct fit_dataset *ds, size_t k, const void *slot,
                                       double *buffer, struct fit_tile *own)
{
    double *w = ds->private_->stream_weights ? buffer + ds->private_->largest : NULL;
    struct fit_error why;
    if (!read_tile(ds, k, slot, buffer, w)) {
        fit_no_memory(&why, "data");
        fit_stream_fail(ds->private_->stream, &why);
        return NULL;
    }
    *own = ds->tile[k];
    own->y = buffer;
    own->w = w;
    return own;
}

/* Copies tile k, which is available, into buffer. */
static const struct fit_tile *expand(const struct fit_dataset *ds, size_t k, double *buffer,
                                     struct fit_tile *own)
{
    struct fit_stream *s = ds->private_->stream;
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_DECODE);
    const struct fit_tile *t = own_tile(ds, k, NULL, buffer, own);
    fit_stream_done(s, k);
    fit_clock_enter(was);
    return t;
}

const struct fit_tile *fit_dataset_tile(const struct fit_dataset *ds, size_t k, double *buffer,
                                        struct fit_tile *own)
{
    if (!ds->private_->stream)
        return ds->tile[k].y ? &ds->tile[k] : NULL;
    return fit_stream_wait(ds->private_->stream, k) ? NULL : expand(ds, k, buffer, own);
}

/* Locates the values of tile k, with pointers in buffer; 0: kernels cannot read them in this form. */
static int lend(const struct fit_dataset *ds, size_t k, double *buffer, struct fit_tile *own)
{
    const struct fit_layout *l = &ds->layout;
    const float **raw = (const float **)(void *)buffer;
    *own = ds->tile[k];
    if (ds->private_->stream_weights)
        return 0;
    for (size_t g = 0; g < l->ngroup; g++) {
        struct fit_values v = values_of(ds, k, g, NULL);
        if (!fit_values_plain(ds, &v) || !v.y.single || (g > 0 && v.y.row != own->raw_row))
            return 0;
        own->raw_row = v.y.row;
        raw[g] = (const float *)v.y.value + (ptrdiff_t)(l->frame[own->i0] - v.row) * v.y.row +
                 (ptrdiff_t)(l->frame[own->j0] - v.column);
    }
    own->y = NULL;
    own->raw = raw;
    own->reference = ds->reference;
    own->row = buffer + lent_pointers(l);
    return 1;
}

const struct fit_tile *fit_dataset_lend(const struct fit_dataset *ds, size_t k, double *buffer,
                                        struct fit_tile *own)
{
    if (!ds->private_->stream)
        return &ds->tile[k];
    if (fit_stream_wait(ds->private_->stream, k))
        return NULL;
    return lend(ds, k, buffer, own) ? own : expand(ds, k, buffer, own);
}

void fit_dataset_give_back(const struct fit_dataset *ds, size_t k, const struct fit_tile *t)
{
    if (t->raw)
        fit_stream_done(ds->private_->stream, k);
}

/* Sends a tile that one of the ranks holds to all. */
static const struct fit_tile *of_its_owner(const struct fit_dataset *ds, size_t k, double *buffer, struct fit_tile *own)
{
    const size_t n = fit_tile_doubles(&ds->layout, &ds->tile[k]), owner = fit_share_owner(ds, k);
    double *w = ds->private_->w.data ? buffer + ds->private_->largest : NULL;
    if (ds->tile[k].y)
        memcpy(buffer, ds->tile[k].y, n * sizeof *buffer);
    if (ds->tile[k].w)
        memcpy(w, ds->tile[k].w, n * sizeof *w);
    fit_ranks_copy(owner, buffer, n * sizeof *buffer);
    if (w)
        fit_ranks_copy(owner, w, n * sizeof *w);
    *own = ds->tile[k];
    own->y = buffer;
    own->w = w;
    return own;
}

const struct fit_tile *fit_dataset_single(const struct fit_dataset *ds, size_t k, double *buffer,
                                          struct fit_tile *own)
{
    struct fit_stream *s = ds->private_->stream;
    struct fit_error why = {.status = FIT_OK};
    if (!s)
        return fit_dataset_divided(ds) ? of_its_owner(ds, k, buffer, own) : &ds->tile[k];
    void *slot = malloc(fit_stream_tile_bytes(s, k));
    if (!slot)
        fit_no_memory(&why, "data");
    const struct fit_tile *t = NULL;
    if (slot && fit_stream_tile(s, k, slot, &why) == FIT_OK)
        t = own_tile(ds, k, slot, buffer, own);
    free(slot);
    if (why.status == FIT_OK)
        return t;
    fit_stream_fail(s, &why);
    return NULL;
}

/* ---- passes ---------------------------------------------------------------------------------- */

void fit_dataset_begin_share(const struct fit_dataset *ds, size_t first, size_t last)
{
    if (ds->private_->stream)
        fit_stream_begin(ds->private_->stream, first, last);
}

void fit_dataset_begin(const struct fit_dataset *ds)
{
    fit_dataset_begin_share(ds, 0, ds->ntile);
}

void fit_dataset_end(const struct fit_dataset *ds)
{
    if (ds->private_->stream)
        fit_stream_end(ds->private_->stream);
}

void fit_dataset_abandon(const struct fit_dataset *ds)
{
    if (ds->private_->stream)
        fit_stream_abort(ds->private_->stream);
}

struct visiting {
    const struct fit_dataset *ds;
    void (*fn)(void *user, size_t k, const struct fit_tile *t);
    void *user;
    double *buffer; /* of each thread */
    size_t nbuffer;
    size_t first; /* tile of the share */
};

static void visit(void *user, size_t turn, size_t thread)
{
    const struct visiting *v = user;
    const size_t k = v->first + turn;
    struct fit_tile own;
    const struct fit_tile *t =
        fit_dataset_tile(v->ds, k, v->buffer ? v->buffer + thread * v->nbuffer : NULL, &own);
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_DECODE);
    if (t)
        v->fn(v->user, k, t);
    fit_clock_enter(was);
}

enum fit_status fit_dataset_each(const struct fit_dataset *ds,
                                 void (*fn)(void *user, size_t k, const struct fit_tile *t),
                                 void *user, struct fit_error *err)
{
    int threads = fit_topology_threads(), streamed = fit_dataset_streamed(ds);
    struct visiting v = {.ds = ds, .fn = fn, .user = user};
    v.nbuffer = (fit_dataset_buffer(ds) + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
    if (streamed &&
        !(v.buffer = aligned_alloc(64, (size_t)threads * v.nbuffer * sizeof *v.buffer)))
        return fit_no_memory(err, "data");
    size_t last;
    fit_dataset_share(ds, &v.first, &last);
    if (v.first < last) {
        fit_dataset_begin_share(ds, v.first, last);
        fit_team_run((struct fit_team){threads, streamed ? FIT_TEAM_NEXT : FIT_TEAM_SHARE}, last - v.first, visit, &v);
        fit_dataset_end(ds);
    }
    free(v.buffer);
    const enum fit_status st = fit_dataset_status(ds, err);
    return fit_dataset_shared(ds) ? fit_ranks_agree_status(st, err) : st;
}

static void fill_tile(void *user, size_t turn, size_t thread)
{
    struct fit_dataset *ds = user;
    const size_t k = ds->first + turn;
    struct fit_dataset_private *p = ds->private_;
    (void)thread;
    if (fit_stream_wait(p->stream, k))
        return;
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_DECODE);
    struct fit_error why;
    if (!read_tile(ds, k, NULL, p->y.data + p->offset[k], p->w.data ? p->w.data + p->offset[k] : NULL)) {
        fit_no_memory(&why, "data");
        fit_stream_fail(p->stream, &why);
    }
    fit_stream_done(p->stream, k);
    fit_clock_enter(was);
}

enum fit_status fit_dataset_fill(struct fit_dataset *ds, struct fit_error *err)
{
    struct fit_dataset_private *p = ds->private_;
    struct fit_stream *s = p->stream;
    enum fit_status st = fit_dataset_block_new(&p->y, p->ndouble, err);
    if (st == FIT_OK && p->stream_weights)
        st = fit_dataset_block_new(&p->w, p->ndouble, err);
    if (st != FIT_OK)
        return st;
    fit_dataset_touch(ds);
    if (ds->first < ds->last) {
        fit_stream_begin(s, ds->first, ds->last);
        fit_team_run((struct fit_team){FIT_TEAM_ALL, FIT_TEAM_NEXT}, ds->last - ds->first, fill_tile, ds);
        fit_stream_end(s);
    }
    if ((st = fit_stream_status(s, err)) != FIT_OK)
        return st;
    fit_stream_free(s);
    p->stream = NULL;
    p->stream_weights = 0;
    fit_dataset_point_tiles(ds);
    return FIT_OK;
}
