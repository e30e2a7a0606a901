/* tile_patches.c -- see tile_patches.h. */
#include "data/tile_patches.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "data/share.h"
#include "machine/pages.h"
#include "machine/team.h"
#include "ranks/ranks.h"

enum { ROUND = 1 << 19 }; /* numbers that a rank sends in one meeting, unless a single patch is longer */

struct run {
    const struct fit_patches *p;
    size_t first, last;      /* tiles of this rank */
    size_t nbuffer, npatch;
    double *buffer, *patch;  /* of each thread */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t turn;             /* the tile whose turn it is */
    int shared;
    struct fit_pages pages;  /* shared: patches of this rank, one after the other; room for the longest, untouched */
    double *kept;
    size_t nkept;
    double *count;           /* of each tile */
    struct fit_arena storage;
};

/* A patch whose turn has come. */
static void take_up(struct run *x, size_t k, const double *patch, size_t n)
{
    if (x->shared)
        memcpy(x->kept + x->nkept, patch, n * sizeof *patch);
    else if (n)
        x->p->add(x->p->user, k, patch, n);
    x->nkept += n;
    x->count[k] = (double)n;
}

static int is_over(const struct fit_patches *p)
{
    return p->interrupt && *p->interrupt;
}

static void one_tile(void *user, size_t turn, size_t thread)
{
    struct run *x = user;
    const struct fit_patches *p = x->p;
    const size_t k = x->first + turn;
    double *patch = x->patch + thread * x->npatch;
    struct fit_tile own;
    if (is_over(p))
        fit_dataset_abandon(p->ds);
    const struct fit_tile *t =
        is_over(p) ? NULL : fit_dataset_tile(p->ds, k, x->buffer + thread * x->nbuffer, &own);
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_PAIRS);
    const size_t n = t ? p->take(p->user, k, t, thread, patch) : 0;
    fit_clock_enter(FIT_CLOCK_WAIT);
    pthread_mutex_lock(&x->lock);
    while (x->turn != k)
        pthread_cond_wait(&x->changed, &x->lock);
    fit_clock_enter(FIT_CLOCK_REDUCE);
    take_up(x, k, patch, n);
    x->turn++;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
    fit_clock_enter(was);
}

static void own_tiles(struct run *x)
{
    const struct fit_patches *p = x->p;
    if (x->first == x->last)
        return;
    pthread_mutex_init(&x->lock, NULL);
    pthread_cond_init(&x->changed, NULL);
    fit_dataset_begin_share(p->ds, x->first, x->last);
    fit_team_run((struct fit_team){p->threads, FIT_TEAM_NEXT}, x->last - x->first, one_tile, x);
    fit_dataset_end(p->ds);
    pthread_cond_destroy(&x->changed);
    pthread_mutex_destroy(&x->lock);
}

/* ---- ranks ----------------------------------------------------------------------------------------------- */

/* Sends the patches of the tiles [k, end) of rank r, `n` numbers, to all. */
static void give(struct run *x, size_t r, size_t k, size_t end, double *numbers, size_t n)
{
    fit_ranks_copy(r, numbers, n * sizeof *numbers);
    for (size_t at = 0; k < end; at += (size_t)x->count[k++])
        if (x->count[k] > 0)
            x->p->add(x->p->user, k, numbers + at, (size_t)x->count[k]);
}

/* The longest round. */
static size_t longest(const struct run *x)
{
    double most = ROUND;
    for (size_t k = 0; k < x->p->ds->ntile; k++)
        most = x->count[k] > most ? x->count[k] : most;
    return (size_t)most;
}

static void spread_patches(struct run *x, double *room, size_t most)
{
    const size_t ntile = x->p->ds->ntile;
    size_t at = 0; /* of own numbers that were given */
    for (size_t k = 0; k < ntile;) {
        const size_t r = fit_share_owner(x->p->ds, k);
        size_t end = k, n = 0;
        while (end < ntile && fit_share_owner(x->p->ds, end) == r && n + (size_t)x->count[end] <= most)
            n += (size_t)x->count[end++];
        give(x, r, k, end, r == fit_ranks_rank() ? x->kept + at : room, n);
        at += r == fit_ranks_rank() ? n : 0;
        k = end;
    }
}

static enum fit_status share_patches(struct run *x, struct fit_error *err)
{
    fit_ranks_add(x->count, x->p->ds->ntile); /* others have 0 */
    const size_t most = longest(x);
    FIT_OWNED double *room = malloc(most * sizeof *room);
    const enum fit_status st =
        fit_ranks_agree_status(!room ? fit_no_memory(err, "sums over blocks") : FIT_OK, err);
    if (st == FIT_OK)
        spread_patches(x, room, most);
    return st;
}

/* ---- all together ---------------------------------------------------------------------------------------- */

static size_t round_up(size_t n)
{
    return (n + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
}

static enum fit_status run(struct run *x, struct fit_error *err)
{
    const struct fit_patches *p = x->p;
    own_tiles(x);
    enum fit_status st = fit_dataset_status(p->ds, err);
    if (st == FIT_OK && is_over(p))
        st = fit_fail(err, FIT_ERR_INTERRUPTED, "fit: interrupted");
    if (!x->shared)
        return st;
    st = fit_ranks_agree_status(st, err);
    return st == FIT_OK ? share_patches(x, err) : st;
}

enum fit_status fit_patches_run(const struct fit_patches *p, struct fit_error *err)
{
    struct run x = {.p = p, .shared = fit_dataset_shared(p->ds)};
    fit_dataset_share(p->ds, &x.first, &x.last);
    x.turn = x.first;
    x.nbuffer = round_up(fit_dataset_buffer(p->ds));
    x.npatch = round_up(p->most);
    FIT_TAKE_DOUBLES(&x.storage, (size_t)p->threads * x.nbuffer, &x.buffer);
    FIT_TAKE_DOUBLES(&x.storage, (size_t)p->threads * x.npatch, &x.patch);
    FIT_TAKE_DOUBLES(&x.storage, p->ds->ntile, &x.count);
    const int room = !x.shared || fit_pages_new(&x.pages, (x.last - x.first) * p->most + 1);
    x.kept = x.pages.data;
    enum fit_status st = x.storage.failed || !room ? fit_no_memory(err, "sums over blocks") : FIT_OK;
    if (x.shared)
        st = fit_ranks_agree_status(st, err);
    if (st == FIT_OK)
        st = run(&x, err);
    fit_pages_free(&x.pages);
    fit_arena_free(&x.storage);
    return st;
}
