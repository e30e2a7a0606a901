/* pcg64.h -- the normal variates of numpy.random.default_rng(seed), for data that others made with it.
 *
 * Draws of this project are functions of their position (rng.h); this sequence serves files and formats that name
 * numpy's. Bits: PCG XSL-RR 128/64 (O'Neill, Harvey Mudd College HMC-CS-2014-0905), seeded by the pool of words that
 * replaces C++'s seed_seq there (O'Neill, "Developing a seed_seq alternative", pcg-random.org, 2015). Normals: 256
 * layers of equal area (Marsaglia & Tsang, J. Stat. Softw. 5, 8 (2000)). */
#pragma once

#include <stdint.h>

struct fit_wide { /* 128 bits */
    uint64_t high, low;
};

enum { FIT_PCG64_LAYERS = 256 };

struct fit_pcg64 {
    struct fit_wide state, step;                                     /* step: odd */
    double edge[FIT_PCG64_LAYERS + 1], density[FIT_PCG64_LAYERS + 1]; /* of the layers of a normal, pcg64.c */
};

/* The generator of default_rng(seed). */
void fit_pcg64_seed(struct fit_pcg64 *g, uint32_t seed);

/* The next 64 bits; a uniform in [0, 1), 53 bits of them; a standard normal, equal to numpy's within a relative
 * 2e-14, because its table of layers is rounded differently. */
uint64_t fit_pcg64_next(struct fit_pcg64 *g);
double fit_pcg64_uniform(struct fit_pcg64 *g);
double fit_pcg64_normal(struct fit_pcg64 *g);
