/* shard.c -- pieces of a data set, assigned to shards; see shard.h. */
#include "consensus/shard_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/rng.h"
#include "math/special.h"

/* ---- dealing ------------------------------------------------------------------------------------------- */

struct deal {
    struct fit_shards_private *p;
    size_t nshard;
    double *key;                  /* npiece */
    size_t *order, *round, *shard;
    double *load, *tie;
};

/* One round: n pieces to different shards. */
static void deal_round(struct deal *d, const size_t *piece, size_t n, struct fit_rng *rng)
{
    for (size_t k = 0; k < n; k++)
        d->key[k] = -d->p->piece[piece[k]].count;
    fit_sort_index(n, d->key, d->round);
    for (size_t s = 0; s < d->nshard; s++) /* loads are whole numbers */
        d->tie[s] = d->load[s] + 0.5 * fit_rng_next_uniform(rng);
    fit_sort_index(d->nshard, d->tie, d->shard);
    for (size_t k = 0; k < n; k++) {
        struct fit_shard_piece *x = &d->p->piece[piece[d->round[k]]];
        x->owner = (uint32_t)d->shard[k];
        d->load[x->owner] += x->count;
    }
}

static void deal_all(struct deal *d, uint64_t seed)
{
    struct fit_rng rng = {.seed = seed, .purpose = FIT_RNG_SHARD};
    size_t n = d->p->npiece;
    for (size_t k = 0; k < n; k++)
        d->key[k] = d->p->piece[k].place;
    fit_sort_index(n, d->key, d->order);
    for (size_t k = 0; k < n; k += d->nshard)
        deal_round(d, d->order + k, n - k < d->nshard ? n - k : d->nshard, &rng);
}

/* Pieces by shard; shards by load. */
static void sort_out(struct deal *d, struct fit_shards *s)
{
    struct fit_shards_private *p = d->p;
    memset(p->first, 0, (s->n + 1) * sizeof *p->first);
    for (size_t k = 0; k < p->npiece; k++)
        p->first[p->piece[k].owner + 1]++;
    for (size_t k = 0; k < s->n; k++)
        p->first[k + 1] += p->first[k];
    memcpy(d->shard, p->first, s->n * sizeof *d->shard); /* where the next piece of a shard goes */
    for (size_t k = 0; k < p->npiece; k++)
        p->list[d->shard[p->piece[k].owner]++] = k;
    for (size_t k = 0; k < s->n; k++)
        d->tie[k] = -d->load[k];
    fit_sort_index(s->n, d->tie, s->order);
}

static enum fit_status deal_pieces(struct fit_shards *s, uint64_t seed, struct fit_error *err)
{
    size_t n = s->private_->npiece;
    FIT_SCRATCH(a);
    struct deal d = {.p = s->private_, .nshard = s->n};
    FIT_TAKE_DOUBLES(&a, n, &d.key);
    FIT_TAKE_DOUBLES(&a, s->n, &d.load, &d.tie);
    d.order = fit_take(&a, n, sizeof *d.order);
    d.round = fit_take(&a, n, sizeof *d.round);
    d.shard = fit_take(&a, s->n, sizeof *d.shard);
    if (a.failed)
        return fit_fail(err, FIT_ERR_MEMORY, "shards: no memory for %zu pieces", n);
    deal_all(&d, seed);
    sort_out(&d, s);
    return FIT_OK;
}

/* ---- making -------------------------------------------------------------------------------------------- */

/* A piece of pairs needs tables for 9 frames for 8 pairs; otherwise tables are for all frames. */
static int few_pairs(const struct fit_dataset *ds, size_t nshard)
{
    const struct fit_layout *l = &ds->layout;
    return !l->nrow && 9.0 / 8 * (double)ds->npoint / (double)(l->ngroup * nshard) < (double)l->nframe;
}

static enum fit_status allocate(struct fit_shards *s, size_t npiece, struct fit_error *err)
{
    struct fit_arena *a = &s->storage_;
    struct fit_shards_private *p = s->private_ = fit_take(a, 1, sizeof *p);
    s->order = fit_take(a, s->n, sizeof *s->order);
    if (p) {
        p->npiece = npiece;
        p->piece = fit_take(a, npiece, sizeof *p->piece);
        p->first = fit_take(a, s->n + 1, sizeof *p->first);
        p->list = fit_take(a, npiece, sizeof *p->list);
    }
    if (a->failed)
        return fit_fail(err, FIT_ERR_MEMORY, "shards: no memory for %zu pieces", npiece);
    return FIT_OK;
}

static pthread_mutex_t *reader_new(struct fit_arena *a)
{
    pthread_mutex_t *m = fit_take(a, 1, sizeof *m);
    return m && pthread_mutex_init(m, NULL) == 0 ? m : NULL;
}

enum fit_status fit_shards_new(const struct fit_dataset *ds, size_t nshard, uint64_t seed, struct fit_shards **out,
                               struct fit_error *err)
{
    *out = NULL;
    int sparse = nshard && few_pairs(ds, nshard);
    size_t n = !nshard ? 0 : sparse ? fit_shard_cut_pairs(ds, NULL) : fit_shard_cut_rows(ds, nshard, NULL);
    if (nshard == 0 || n < nshard)
        return fit_fail(err, FIT_ERR_CONFIG, "shards: %zu parts are not possible; these data fall into %zu pieces, so"
                                             " give 1 to %zu (num_shards)", nshard, n, n);
    struct fit_shards *s = calloc(1, sizeof *s);
    if (!s)
        return fit_no_memory(err, "shards");
    s->n = nshard;
    enum fit_status st = allocate(s, n, err);
    if (st == FIT_OK) {
        s->private_->ds = ds;
        s->private_->sparse = sparse;
        if (fit_dataset_streamed(ds) && !(s->private_->reading = reader_new(&s->storage_)))
            st = fit_no_memory(err, "shards");
        if (sparse)
            fit_shard_cut_pairs(ds, s->private_->piece);
        else
            fit_shard_cut_rows(ds, nshard, s->private_->piece);
        st = st == FIT_OK ? deal_pieces(s, seed, err) : st;
    }
    if (st == FIT_OK)
        *out = s;
    else
        fit_shards_free(s);
    return st;
}

void fit_shards_free(struct fit_shards *s)
{
    if (!s)
        return;
    if (s->private_ && s->private_->reading)
        pthread_mutex_destroy(s->private_->reading);
    fit_arena_free(&s->storage_);
    free(s);
}

/* ---- one shard ----------------------------------------------------------------------------------------- */

enum fit_status fit_shards_open(const struct fit_shards *s, size_t k, size_t nlinear, struct fit_dataset **view,
                                struct fit_error *err)
{
    const struct fit_shards_private *p = s->private_;
    const size_t *list = p->list + p->first[k], n = p->first[k + 1] - p->first[k];
    if (p->reading)
        pthread_mutex_lock(p->reading);
    enum fit_status st = p->sparse ? fit_shard_open_pairs(p, list, n, view, err)
                                   : fit_shard_open_rows(p, list, n, view, err);
    if (p->reading)
        pthread_mutex_unlock(p->reading);
    if (st != FIT_OK)
        return st;
    for (size_t g = 0; g < (*view)->layout.ngroup; g++) {
        size_t have = (*view)->npoint_group[g];
        if (have >= nlinear + 2)
            continue;
        fit_shards_close(s, *view);
        *view = NULL;
        return fit_fail(err, FIT_ERR_CONFIG,
                        "it holds %zu values of group %zu, fewer than the %zu that its linear parameters and noise"
                        " need; ask for fewer shards (num_shards)", have, g + 1, nlinear + 2);
    }
    return FIT_OK;
}

void fit_shards_close(const struct fit_shards *s, struct fit_dataset *view)
{
    if (!view)
        return;
    if (s->private_->sparse)
        fit_dataset_free(view);
    else
        fit_shard_close_rows(view);
}
