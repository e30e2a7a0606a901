/* tile_sums.h -- sums over the tiles of a data set, with the same bits for any number of threads and ranks.
 *
 * Tiles are combined into leaves by their index alone; within a leaf they are added in order, leaves in a binary tree
 * (Higham 2002, section 4.2: the error grows with the logarithm of the number of leaves). There are at most
 * FIT_PARALLEL_LEAVES of them; where there are more than FIT_PARALLEL_TILES tiles for each, up to FIT_PARALLEL_MANY.
 * Threads take leaves as they come, ranks have shares of them, and both influence only the time.
 */
#pragma once

#include <stdatomic.h>

#include "data/dataset.h"

enum {
    FIT_PARALLEL_LEAVES = 512, /* bounds the memory: 512 x 1500 doubles = 6 MB */
    FIT_PARALLEL_TILES = 2,
    FIT_PARALLEL_MANY = 4096
};

/* Number of leaves for so many tiles. */
size_t fit_parallel_leaves(size_t ntile);

struct fit_parallel;

struct fit_parallel_need {
    size_t nout;     /* numbers of the longest sum */
    size_t nscratch; /* arrays as long as the largest tile that every thread gets */
    size_t nextra;   /* further doubles that every thread gets, behind those arrays */
    int threads;     /* 0: the default */
    const atomic_int *interrupt; /* may be NULL */
};

enum fit_status fit_parallel_new(const struct fit_dataset *ds, const struct fit_parallel_need *need,
                                 struct fit_parallel **par, struct fit_error *err);
void fit_parallel_free(struct fit_parallel *par);
int fit_parallel_threads(const struct fit_parallel *par);
/* Scratch of a thread, as tasks receive it. */
double *fit_parallel_scratch(struct fit_parallel *par, size_t thread, size_t *stride);
const atomic_int *fit_parallel_interrupt(const struct fit_parallel *par); /* or NULL */
/* From now on *interrupt is ignored: for work that must be finished after an interruption. */
void fit_parallel_uninterruptible(struct fit_parallel *par);

/* The task for one tile. out: nout numbers, to be overwritten. scratch: nscratch arrays of `stride` doubles, one
 * after the other, then nextra doubles; all aligned to 64 bytes. */
struct fit_parallel_task {
    void (*tile)(void *user, const struct fit_tile *t, double *scratch, size_t stride, double *out);
    void *user;
    size_t nout;
    int raw; /* 1: `tile` accepts tiles with fit_tile.raw in place of y */
};

/* The ranks that meet now are a group (fit_ranks_group): sums are shared in it while they are, from now on; without
 * this, each rank sums by itself.  Does not meet.  FIT_ERR_MEMORY. */
enum fit_status fit_parallel_group(struct fit_parallel *par, struct fit_error *err);

/* total[nout] <- sum over all tiles.  Returns 0, or 1 when *interrupt became nonzero on the way or
 * values could not be read (fit_dataset_status tells); total is then meaningless. */
int fit_parallel_sum(struct fit_parallel *par, const struct fit_parallel_task *task, double *total);

/* Runs body(user, k) for k = 0..n-1, each once, in any order, on the threads of par. */
void fit_parallel_each(struct fit_parallel *par, size_t n, void (*body)(void *user, size_t k),
                       void *user);
