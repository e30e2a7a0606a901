/* random.h -- pseudo-random numbers that are the same in every run: SplitMix64 (Steele, Lea, Flood 2014). */
#pragma once

#include <stdint.h>

#define HG_RANDOM_STEP 0x9e3779b97f4a7c15u

/* The next number in [0, 1). */
static inline double hg_random(uint64_t *state)
{
    uint64_t z = *state += HG_RANDOM_STEP;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}
