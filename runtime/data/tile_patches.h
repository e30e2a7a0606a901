/* tile_patches.h -- passes in which every tile produces its own numbers, a patch; patches are processed one tile after
 * the other: sums over blocks, curves, maps, that are too large to be held for every leaf of a tree.
 *
 * Threads work at different tiles; a patch is processed after those of all earlier tiles. Ranks work at their shares
 * (share.h); then the patches of all are sent to all, who process them in the same order. The bits depend neither on
 * threads nor on ranks.
 */
#pragma once

#include <stdatomic.h>

#include "data/dataset.h"

struct fit_patches {
    const struct fit_dataset *ds;
    int threads;
    const atomic_int *interrupt; /* nonzero value: the pass is given up; may be NULL */
    size_t most;                 /* numbers of a patch, at most */
    void *user;

    /* The patch of tile k, which is t, into `patch` (aligned to 64 bytes); returns how many numbers it has. */
    size_t (*take)(void *user, size_t k, const struct fit_tile *t, size_t thread, double *patch);
    /* k increases from call to call; calls do not overlap. */
    void (*add)(void *user, size_t k, const double *patch, size_t n);
};

/* Over all tiles. FIT_ERR_MEMORY, FIT_ERR_INTERRUPTED, or the status of unreadable values. */
enum fit_status fit_patches_run(const struct fit_patches *p, struct fit_error *err);
