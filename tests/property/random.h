/* random.h -- random numbers of the property tests: the same for the same seed on every machine.
 *
 * SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).  HG_SEED and HG_CASES in the environment choose the
 * seed and the number of cases.
 */
#ifndef PROPERTY_RANDOM_H
#define PROPERTY_RANDOM_H

#include <stdint.h>
#include <stdlib.h>

struct random {
    uint64_t state;
};

static inline uint64_t random_bits(struct random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0 .. n-1 */
static inline uint32_t random_below(struct random *r, uint32_t n)
{
    return (uint32_t)((random_bits(r) >> 32) * n >> 32);
}

static inline double random_in(struct random *r, double lo, double hi)
{
    return lo + (hi - lo) * (double)(random_bits(r) >> 11) * 0x1p-53;
}

static inline int random_chance(struct random *r, double p)
{
    return random_in(r, 0, 1) < p;
}

static inline uint64_t random_environment(const char *name, uint64_t otherwise)
{
    const char *s = getenv(name);
    return s && *s ? strtoull(s, NULL, 0) : otherwise;
}

#endif
