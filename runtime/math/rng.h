/* rng.h -- random numbers that are a function of their position, not of the order in which they are
 * drawn.
 *
 * A counter-based generator (Philox 4x32-10; Salmon, Moraes, Dror & Shaw, SC 2011): the numbers at
 * (seed, stream, index) are the same for any number of threads.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Four independent 32-bit words at (seed, stream, index). */
void fit_rng_words(uint64_t seed, uint64_t stream, uint64_t index, uint32_t word[4]);

/* Two independent doubles, uniform in the open interval (0, 1). */
void fit_rng_uniform(uint64_t seed, uint64_t stream, uint64_t index, double u[2]);

/* Two independent standard normals (Box & Muller 1958). */
void fit_rng_normal(uint64_t seed, uint64_t stream, uint64_t index, double z[2]);

/* ---- numbers of the samplers, at (seed, chain, purpose, iteration, index) ----------------------
 *
 * stream = (1 + chain) << 32 | purpose, index = iteration << 32 | index: all uses are distinct, and distinct from
 * the streams of other parts of the program, which are below 2^32. */
enum fit_rng_purpose {
    FIT_RNG_START = 1, /* dispersed starting points */
    FIT_RNG_STEP,      /* first step size */
    FIT_RNG_MOMENTUM,
    FIT_RNG_TREE,    /* directions and choices of NUTS */
    FIT_RNG_LAPLACE, /* draws of the proposal */
    FIT_RNG_RESAMPLE,
    FIT_RNG_PATHFINDER,
    FIT_RNG_CONDITIONAL, /* for callers: parameters that were integrated out */
    FIT_RNG_PRIOR,       /* draws of priors; chain: the parameter */
    FIT_RNG_SHARD,       /* assignment of data to shards, and draws of their combination */
    FIT_RNG_PREDICT,     /* replicated data; iteration: the draw */
    FIT_RNG_RESIDUAL,    /* residuals of such data */
    FIT_RNG_PHOTONS      /* photons counted in simulated frames; chain: the group, iteration: the pixel */
};

/* A position in the sequence: every draw advances index. */
struct fit_rng {
    uint64_t seed;
    uint32_t chain, iteration;
    uint32_t purpose, index;
};

/* The same position for another purpose, index 0. */
struct fit_rng fit_rng_for(const struct fit_rng *r, enum fit_rng_purpose purpose);

/* The next uniform in (0, 1); next standard normals z[n] (pairs of Box & Muller, the second of the
 * last pair is dropped when n is odd); next gamma variate with the given shape > 0 and scale 1
 * (Marsaglia & Tsang 2000). */
double fit_rng_next_uniform(struct fit_rng *r);
void fit_rng_next_normals(struct fit_rng *r, size_t n, double *z);
double fit_rng_next_gamma(struct fit_rng *r, double shape);
