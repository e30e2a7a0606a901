/* shard.h -- a data set divided into parts, for the consensus mode (consensus.h).
 *
 * Every value of the data is in exactly one shard. A shard is a set of pieces; pieces are small, contain all groups
 * (angles) of two-time data, and are assigned in rounds of one piece for each shard: in the order of their lag, so that
 * all shards contain the same mixture of lags. Within a round the largest piece goes to the smallest shard, and the
 * seed decides ties, so that ages (and angles, all of which are in every piece) are mixed at random.
 *
 * There are two ways to divide two-time data, by the number of pairs in a shard:
 *
 *   few (below the number of frames)   a piece is up to 8 pairs of one frame i with frames i + c, i + c + s, ..., s
 *             being their distance: lags from the shortest to the longest. Pieces are assigned in the order of c / s,
 *             so that the lags of a shard are spread evenly, as if picked at random in as many strata as it has pairs.
 *             The shard is a data set of its own with only the frames of its pairs, and its evaluations do not pay
 *             for tables of all frames at all angles.
 *   many      a piece is some rows of a tile; the shard uses the storage of the whole.
 *
 * Where the values of the whole stay in their file, both kinds of shard contain copies of theirs, read when it is
 * opened.
 *
 * Tables: a piece is some vectors of rows of one group, assigned in order.
 *
 * The division depends only on the shape of the data, the number of shards and the seed.
 */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "data/dataset.h"

/* ---- how many (shard_rule.c) ------------------------------------------------------------------------------ */

struct fit_shard_rule {
    size_t npoint, ngroup;
    int flow;           /* 1: the numbers for laminar flow, 0: for samples at rest */
    size_t iterations;  /* warm-up and draws of a chain */
    size_t shards;      /* asked for; 0: by the rule */
    size_t most_points; /* of a shard, asked for; 0: by the rule */
};

/* Points of a shard by homodyne's rule: a base size by the size of the data, times a factor for few angles, times
 * 2000 / iterations (between 1/4 and 2); at least 3000 (flow) or 5000 (rest). */
size_t fit_shard_size(const struct fit_shard_rule *r);

/* Their number: as asked for; or as many as hold most_points each; or by the rule, at most 1000 (flow) or 500. */
size_t fit_shard_count(const struct fit_shard_rule *r);

/* Iterations of a chain for a shard of npoint points: `wanted` for 10 000 and more, else in proportion, but not
 * fewer than the larger of `least` and per_param x nparam (nor more than wanted). */
size_t fit_shard_iterations(size_t wanted, size_t least, size_t per_param, size_t nparam, size_t npoint);

/* ---- dividing --------------------------------------------------------------------------------------------- */

struct fit_shards {
    size_t n;
    size_t *order; /* n: longest first, the order in which they are best begun (LPT; Graham 1969) */
    struct fit_shards_private *private_;
    struct fit_arena storage_;
};

/* ds is borrowed. FIT_ERR_CONFIG: more shards than pieces (the message says how many are possible), or values that
 * stay in their file. */
enum fit_status fit_shards_new(const struct fit_dataset *ds, size_t nshard, uint64_t seed, struct fit_shards **s,
                               struct fit_error *err);
void fit_shards_free(struct fit_shards *s);

/* The values of shard k as a data set, with times, settings, references and numbering of groups of the whole.
 * Several may be open at the same time, by several threads.  FIT_ERR_CONFIG: a group has fewer than nlinear + 2
 * values, too few for its linear parameters and noise. */
enum fit_status fit_shards_open(const struct fit_shards *s, size_t k, size_t nlinear, struct fit_dataset **view,
                                struct fit_error *err);
void fit_shards_close(const struct fit_shards *s, struct fit_dataset *view);
