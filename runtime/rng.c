/* rng.c -- Philox 4x32-10 and what is made of it.
 *
 * Ten rounds of two 32 x 32 -> 64 bit products on a counter of four words, with a key of two words
 * that is raised by Weyl constants each round (Salmon et al. 2011, section 3.3 and table 2). */
#include "rng.h"

#include <math.h>

void fit_rng_words(uint64_t seed, uint64_t stream, uint64_t index, uint32_t word[4])
{
    uint32_t c0 = (uint32_t)index, c1 = (uint32_t)(index >> 32);
    uint32_t c2 = (uint32_t)stream, c3 = (uint32_t)(stream >> 32);
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0;
        uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    word[0] = c0;
    word[1] = c1;
    word[2] = c2;
    word[3] = c3;
}

/* 52 of 64 bits, in the middle of 2^52 equal cells: never 0 or 1. */
static double open_unit(uint32_t high, uint32_t low)
{
    uint64_t bits = ((uint64_t)high << 32 | low) >> 12;
    return ((double)bits + 0.5) * 0x1p-52;
}

void fit_rng_uniform(uint64_t seed, uint64_t stream, uint64_t index, double u[2])
{
    uint32_t w[4];
    fit_rng_words(seed, stream, index, w);
    u[0] = open_unit(w[0], w[1]);
    u[1] = open_unit(w[2], w[3]);
}

void fit_rng_normal(uint64_t seed, uint64_t stream, uint64_t index, double z[2])
{
    const double two_pi = 6.283185307179586476925;
    double u[2];
    fit_rng_uniform(seed, stream, index, u);
    double radius = sqrt(-2.0 * log(u[0]));
    z[0] = radius * cos(two_pi * u[1]);
    z[1] = radius * sin(two_pi * u[1]);
}
