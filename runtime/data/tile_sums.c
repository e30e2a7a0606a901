/* tile_sums.c -- sums over tiles in a fixed tree, and how many threads to use for them.
 *
 * Takes a data set and a function that sums one tile; gives the total.  The order of additions is
 * decided by the number of tiles: leaf k holds tiles [k T / n, (k+1) T / n) for T tiles and n
 * leaves; the tree adds leaf k + 2^s to leaf k at level s.
 */
#include "data/tile_sums.h"

#include "base/arena.h"
#include "base/clock.h"
#include "machine/team.h"
#include "machine/topology.h"

#include <stdlib.h>
#include <string.h>

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
    struct fit_arena storage;
};

/* ---- sums ------------------------------------------------------------------------------------ */

static size_t multiple_of_8(size_t n)
{
    return (n + 7) / 8 * 8;
}

/* Waking a thread costs as much as it saves on fewer points than this. */
static int worthwhile_threads(size_t npoint)
{
    enum { POINTS_PER_THREAD = 20000 };
    size_t most = 1 + npoint / POINTS_PER_THREAD, all = (size_t)fit_topology_threads();
    return (int)(all < most ? all : most);
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
    p->nleaf = ds->ntile < FIT_PARALLEL_LEAVES ? ds->ntile : FIT_PARALLEL_LEAVES;
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
};

static void sum_leaf(void *user, size_t leaf, size_t thread)
{
    const struct summing *s = user;
    const struct fit_parallel_task *task = s->task;
    struct fit_parallel *p = s->p;
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

static void add_leaves(struct fit_parallel *par, size_t nout, double *total)
{
    size_t n = par->nleaf;
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_REDUCE);
    for (size_t step = 1; step < n; step *= 2)
        for (size_t k = 0; k + step < n; k += 2 * step) {
            double *a = par->partial + k * par->nout;
            const double *b = par->partial + (k + step) * par->nout;
            for (size_t i = 0; i < nout; i++)
                a[i] += b[i];
        }
    for (size_t i = 0; i < nout; i++)
        total[i] = n > 0 ? par->partial[i] : 0;
    fit_clock_enter(was);
}

static int sum(struct fit_parallel *par, const struct fit_parallel_task *task, int threads, double *total)
{
    struct summing s = {par, task};
    /* values in memory: each thread meets those again whose pages it touched first */
    struct fit_team team = {threads,
                            fit_dataset_streamed(par->ds) ? FIT_TEAM_NEXT : FIT_TEAM_SHARE};
    fit_dataset_begin(par->ds);
    fit_team_run(team, par->nleaf, sum_leaf, &s);
    fit_dataset_end(par->ds);
    if ((par->interrupt && *par->interrupt) || fit_dataset_status(par->ds, NULL) != FIT_OK)
        return 1;
    add_leaves(par, task->nout, total);
    return 0;
}

int fit_parallel_sum(struct fit_parallel *par, const struct fit_parallel_task *task, double *total)
{
    return sum(par, task, par->threads, total);
}

int fit_parallel_in_turn(struct fit_parallel *par, const struct fit_parallel_task *task, double *total)
{
    return sum(par, task, 1, total);
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
