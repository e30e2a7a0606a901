/* blocks.h -- frames combined into blocks: a block is a frame with the mean correlation of its frames and a part of
 * the shot noise. That is as good as the frames themselves as long as a block is shorter than the decay. */
#pragma once

#include "speckle/noise.h"

struct fit_speckle_blocks {
    const struct fit_speckle_model *model;
    size_t n, frames; /* how many; of one (the last may have fewer) */
};

size_t fit_speckle_block_frames(const struct fit_speckle_blocks *b, size_t a);

/* Noise of group g: C and g = |g1| between blocks (n x n, 0 where only shot noise is known), shot noise of each
 * block (n). Returns the number of speckles. */
double fit_speckle_between(const struct fit_speckle_blocks *b, size_t g, const struct fit_speckle_noise *noise,
                           double *C, double *root, double *shot);

/* Number of blocks that the third cycle of the covariance combines. */
size_t fit_speckle_coarse(const struct fit_speckle_blocks *b, const struct fit_speckle_noise *noise);
