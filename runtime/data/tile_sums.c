/* tile_sums.c -- sums over tiles in a fixed tree, and how many threads to use for them.
 *
 * Takes a data set and a function that sums one tile; gives the total. Only the number of tiles determines the order of
 * additions: leaf k contains tiles [k T / n, (k+1) T / n) for T tiles and n leaves; their tree is that of sum_tree.h.
 *
 * Several ranks: each sums a share of the leaves, finishes the nodes inside it and gathers those of the others; all
 * finish the tree. Every rank sums few values alone, for the same total.
 */
#include "data/tile_sums.h"

#include "base/arena.h"
#include "base/clock.h"
#include "data/share.h"
#include "data/sum_tree.h"
#include "machine/team.h"
#include "machine/topology.h"
#include "ranks/ranks.h"

#include <stdlib.h>
#include <string.h>

/* Shares of the leaves, and the nodes that cover them. */
struct ranks {
    size_t size;        /* of how many ranks */
    size_t first, last; /* leaves of this rank */
    size_t nnode, total; /* nodes of this rank, of all */
    size_t leaf[FIT_TREE_NODES], width[FIT_TREE_NODES]; /* of this rank */
    size_t *count;  /* numbers that a rank gives */
    size_t *begin;  /* leaves at which the nodes of all ranks begin */
    size_t *done;   /* of each leaf, for fit_tree_finish */
    double *send, *receive;
};

struct fit_parallel {
    const struct fit_dataset *ds;
    const atomic_int *interrupt;
    int threads;
    size_t nleaf, nout, stride; /* stride: doubles of the largest tile, rounded up */
    size_t nscratch;            /* doubles of scratch per thread */
    size_t nbuffer;             /* doubles per thread for a tile that is read from a file */
    double *partial;            /* nleaf x nout */
    double *tile;               /* threads x nout */
    double *scratch;            /* threads x nscratch */
    double *buffer;             /* threads x nbuffer */
    struct ranks *ranks, *group; /* shares of the leaves, of all ranks and in a group; NULL: every rank sums them all */
    struct fit_arena storage;
};

/* ---- sums ------------------------------------------------------------------------------------ */

static size_t multiple_of_8(size_t n)
{
    return (n + 7) / 8 * 8;
}

/* With fewer points than this, waking a thread costs as much as it saves. */
static int worthwhile_threads(size_t npoint)
{
    enum { POINTS_PER_THREAD = 20000 };
    size_t most = 1 + npoint / POINTS_PER_THREAD, all = (size_t)fit_topology_threads();
    return (int)(all < most ? all : most);
}

/* Passes over fewer values take less time than a meeting of ranks. */
enum { VALUES_FOR_RANKS = 20000 };

size_t fit_parallel_leaves(size_t ntile)
{
    const size_t many = ntile / FIT_PARALLEL_TILES;
    const size_t most = many > FIT_PARALLEL_MANY ? FIT_PARALLEL_MANY : many;
    const size_t n = most > FIT_PARALLEL_LEAVES ? most : FIT_PARALLEL_LEAVES;
    return ntile < n ? ntile : n;
}

/* Which nodes all ranks give; NULL where there are none, or few values. */
static struct ranks *share_leaves(struct fit_parallel *p)
{
    const size_t size = fit_ranks_size(), n = p->nleaf;
    if (size < 2 || (p->ds->npoint < VALUES_FOR_RANKS && !fit_dataset_divided(p->ds)))
        return NULL;
    struct ranks *q = fit_take(&p->storage, 1, sizeof *q);
    if (!q)
        return NULL;
    q->size = size;
    q->count = fit_take(&p->storage, size, sizeof *q->count);
    q->begin = fit_take(&p->storage, n, sizeof *q->begin);
    q->done = fit_take(&p->storage, n, sizeof *q->done);
    size_t *cut = fit_take(&p->storage, size + 1, sizeof *cut);
    p->storage.failed |= cut && !fit_share_leaves(p->ds, size, cut);
    for (size_t r = 0; r < size && !p->storage.failed; r++) {
        size_t nnode = fit_tree_cover(n, cut[r], cut[r + 1], q->leaf, q->width);
        for (size_t k = 0; k < nnode; k++) {
            q->begin[q->total++] = q->leaf[k];
            for (size_t i = q->leaf[k]; i < n && i < q->leaf[k] + q->width[k]; i++)
                q->done[i] = q->width[k];
        }
        q->count[r] = nnode;
    }
    if (p->storage.failed)
        return NULL;
    q->first = cut[fit_ranks_rank()];
    q->last = cut[fit_ranks_rank() + 1];
    q->nnode = fit_tree_cover(n, q->first, q->last, q->leaf, q->width);
    FIT_TAKE_DOUBLES(&p->storage, q->nnode * p->nout, &q->send);
    FIT_TAKE_DOUBLES(&p->storage, q->total * p->nout, &q->receive);
    return q;
}

enum fit_status fit_parallel_group(struct fit_parallel *par, struct fit_error *err)
{
    if (!par->group || par->group->size != fit_ranks_size())
        par->group = share_leaves(par);
    return par->storage.failed ? fit_no_memory(err, "fit") : FIT_OK;
}

/* The shares of those who meet now. */
static struct ranks *shares_now(const struct fit_parallel *par)
{
    const size_t size = fit_ranks_size();
    if (!fit_ranks_shared())
        return NULL;
    return par->ranks && par->ranks->size == size   ? par->ranks
           : par->group && par->group->size == size ? par->group
                                                    : NULL;
}

enum fit_status fit_parallel_new(const struct fit_dataset *ds, const struct fit_parallel_need *need,
                                 struct fit_parallel **par, struct fit_error *err)
{
    struct fit_parallel *p = calloc(1, sizeof *p);
    *par = NULL;
    if (!p)
        return fit_no_memory(err, "fit");
    p->ds = ds;
    p->interrupt = need->interrupt;
    p->threads = need->threads > 0 ? need->threads : worthwhile_threads(ds->npoint);
    p->nleaf = fit_parallel_leaves(ds->ntile);
    p->nout = multiple_of_8(need->nout);
    for (size_t t = 0; need->nscratch > 0 && t < ds->ntile; t++) {
        size_t n = multiple_of_8(fit_tile_doubles(&ds->layout, &ds->tile[t]));
        p->stride = n > p->stride ? n : p->stride;
    }
    p->nscratch = need->nscratch * p->stride + multiple_of_8(need->nextra);
    size_t threads = (size_t)p->threads;
    p->nbuffer = multiple_of_8(fit_dataset_buffer(ds));
    FIT_TAKE_DOUBLES(&p->storage, p->nleaf * p->nout, &p->partial);
    FIT_TAKE_DOUBLES(&p->storage, threads * p->nout, &p->tile);
    FIT_TAKE_DOUBLES(&p->storage, threads * p->nscratch, &p->scratch);
    FIT_TAKE_DOUBLES(&p->storage, threads * p->nbuffer, &p->buffer);
    p->ranks = share_leaves(p);
    if (p->storage.failed) {
        size_t numbers =
            (p->nleaf + threads) * p->nout + threads * (p->nscratch + p->nbuffer);
        fit_parallel_free(p);
        return fit_fail(err, FIT_ERR_MEMORY, "fit: no memory for %zu MB of work space",
                        numbers >> 17);
    }
    *par = p;
    return FIT_OK;
}

void fit_parallel_free(struct fit_parallel *par)
{
    if (!par)
        return;
    fit_arena_free(&par->storage);
    free(par);
}

int fit_parallel_threads(const struct fit_parallel *par)
{
    return par->threads;
}

const atomic_int *fit_parallel_interrupt(const struct fit_parallel *par)
{
    return par->interrupt;
}

void fit_parallel_uninterruptible(struct fit_parallel *par)
{
    par->interrupt = NULL;
}

struct summing {
    struct fit_parallel *p;
    const struct fit_parallel_task *task;
    size_t base; /* the first leaf of this rank */
};

static void sum_leaf(void *user, size_t turn, size_t thread)
{
    const struct summing *s = user;
    const struct fit_parallel_task *task = s->task;
    struct fit_parallel *p = s->p;
    const size_t leaf = s->base + turn;
    size_t first = leaf * p->ds->ntile / p->nleaf, last = (leaf + 1) * p->ds->ntile / p->nleaf;
    double *sum = p->partial + leaf * p->nout, *one = p->tile + thread * p->nout;
    double *scratch = p->scratch + thread * p->nscratch;
    struct fit_tile own;
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_PAIRS);
    for (size_t t = first; t < last; t++) {
        if (p->interrupt && *p->interrupt) {
            fit_dataset_abandon(p->ds);
            break;
        }
        double *buffer = p->buffer + thread * p->nbuffer;
        const struct fit_tile *tile = task->raw ? fit_dataset_lend(p->ds, t, buffer, &own)
                                                : fit_dataset_tile(p->ds, t, buffer, &own);
        if (!tile)
            break;
        double *out = t == first ? sum : one;
        task->tile(task->user, tile, scratch, p->stride, out);
        if (task->raw)
            fit_dataset_give_back(p->ds, t, tile);
        for (size_t k = 0; t != first && k < task->nout; k++)
            sum[k] += one[k];
    }
    fit_clock_enter(was);
}

static struct fit_tree_rows rows_of(const struct fit_parallel *par, size_t nout)
{
    return (struct fit_tree_rows){par->partial, par->nout, nout, 0};
}

static void add_leaves(struct fit_parallel *par, size_t nout, double *total)
{
    const struct fit_tree_rows rows = rows_of(par, nout);
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_REDUCE);
    fit_tree_node(&rows, par->nleaf, 0, par->nleaf);
    for (size_t i = 0; i < nout; i++)
        total[i] = par->nleaf > 0 ? par->partial[i] : 0;
    fit_clock_enter(was);
}

/* The nodes of this rank to all, and the tree of all nodes. */
static void add_ranks(struct fit_parallel *par, struct ranks *q, size_t nout, double *total)
{
    const struct fit_tree_rows rows = rows_of(par, nout);
    const size_t size = fit_ranks_size();
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_REDUCE);
    for (size_t k = 0; k < q->nnode; k++) {
        fit_tree_node(&rows, par->nleaf, q->leaf[k], q->width[k]);
        memcpy(q->send + k * nout, par->partial + q->leaf[k] * par->nout, nout * sizeof *q->send);
    }
    for (size_t r = 0; r < size; r++)
        q->count[r] *= nout;
    fit_ranks_gather(q->send, q->count, q->receive);
    for (size_t r = 0; r < size; r++)
        q->count[r] /= nout;
    for (size_t k = 0; k < q->total; k++)
        memcpy(par->partial + q->begin[k] * par->nout, q->receive + k * nout, nout * sizeof *q->receive);
    fit_tree_finish(&rows, par->nleaf, q->done);
    memcpy(total, par->partial, nout * sizeof *total);
    fit_clock_enter(was);
}

int fit_parallel_sum(struct fit_parallel *par, const struct fit_parallel_task *task, double *total)
{
    struct ranks *q = shares_now(par);
    struct summing s = {par, task, q ? q->first : 0};
    /* values in memory: each thread gets again those whose pages it touched first */
    struct fit_team team = {par->threads,
                            fit_dataset_streamed(par->ds) ? FIT_TEAM_NEXT : FIT_TEAM_SHARE};
    fit_ranks_look();
    const size_t first = q ? q->first : 0, last = q ? q->last : par->nleaf, ntile = par->ds->ntile;
    if (first < last) {
        fit_dataset_begin_share(par->ds, first * ntile / par->nleaf, last * ntile / par->nleaf);
        fit_team_run(team, last - first, sum_leaf, &s);
        fit_dataset_end(par->ds);
    }
    if ((par->interrupt && *par->interrupt) || fit_dataset_status(par->ds, NULL) != FIT_OK)
        return 1;
    if (q)
        add_ranks(par, q, task->nout, total);
    else
        add_leaves(par, task->nout, total);
    return q && par->interrupt && *par->interrupt; /* agreed upon with the others */
}

double *fit_parallel_scratch(struct fit_parallel *par, size_t thread, size_t *stride)
{
    *stride = par->stride;
    return par->scratch + thread * par->nscratch;
}

struct each {
    void (*body)(void *user, size_t k);
    void *user;
};

static void one(void *user, size_t k, size_t thread)
{
    const struct each *e = user;
    (void)thread;
    e->body(e->user, k);
}

void fit_parallel_each(struct fit_parallel *par, size_t n, void (*body)(void *user, size_t k),
                       void *user)
{
    struct each e = {body, user};
    fit_team_run((struct fit_team){par->threads, FIT_TEAM_NEXT}, n, one, &e);
}
