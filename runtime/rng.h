/* rng.h -- random numbers that are a function of their position, not of the order in which they are
 * drawn.
 *
 * A counter-based generator (Philox 4x32-10; Salmon, Moraes, Dror & Shaw, SC 2011): the numbers at
 * (seed, stream, index) are the same for any number of threads.
 */
#ifndef FIT_RNG_H
#define FIT_RNG_H

#include <stdint.h>

/* Four independent 32-bit words at (seed, stream, index). */
void fit_rng_words(uint64_t seed, uint64_t stream, uint64_t index, uint32_t word[4]);

/* Two independent doubles, uniform in the open interval (0, 1). */
void fit_rng_uniform(uint64_t seed, uint64_t stream, uint64_t index, double u[2]);

/* Two independent standard normals (Box & Muller 1958). */
void fit_rng_normal(uint64_t seed, uint64_t stream, uint64_t index, double z[2]);

#endif
