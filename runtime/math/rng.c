/* rng.c -- Philox 4x32-10 and what is made of it.
 *
 * Ten rounds of two 32 x 32 -> 64 bit products on a counter of four words, with a key of two words
 * that is raised by Weyl constants each round (Salmon et al. 2011, section 3.3 and table 2). */
#include "math/rng.h"

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

/* ---- samplers -------------------------------------------------------------------------------- */

struct fit_rng fit_rng_for(const struct fit_rng *r, enum fit_rng_purpose purpose)
{
    struct fit_rng s = *r;
    s.purpose = purpose;
    s.index = 0;
    return s;
}

static uint64_t stream_of(const struct fit_rng *r)
{
    return ((uint64_t)r->chain + 1) << 32 | r->purpose;
}

static uint64_t next_index(struct fit_rng *r)
{
    return (uint64_t)r->iteration << 32 | r->index++;
}

double fit_rng_next_uniform(struct fit_rng *r)
{
    double u[2];
    fit_rng_uniform(r->seed, stream_of(r), next_index(r), u);
    return u[0];
}

void fit_rng_next_normals(struct fit_rng *r, size_t n, double *z)
{
    for (size_t k = 0; k < n; k += 2) {
        double pair[2];
        fit_rng_normal(r->seed, stream_of(r), next_index(r), pair);
        z[k] = pair[0];
        if (k + 1 < n)
            z[k + 1] = pair[1];
    }
}

/* Marsaglia & Tsang (2000): d v with v = (1 + c z)^3 is accepted when log u < z^2/2 + d - d v +
 * d log v.  A shape below 1 is that of shape + 1, times u^(1/shape). */
double fit_rng_next_gamma(struct fit_rng *r, double shape)
{
    double boost = 1;
    if (shape < 1) {
        boost = pow(fit_rng_next_uniform(r), 1 / shape);
        shape += 1;
    }
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double z, u;
        fit_rng_next_normals(r, 1, &z);
        u = fit_rng_next_uniform(r);
        double v = 1 + c * z;
        if (v <= 0)
            continue;
        v = v * v * v;
        if (log(u) < 0.5 * z * z + d - d * v + d * log(v))
            return boost * d * v;
    }
}
