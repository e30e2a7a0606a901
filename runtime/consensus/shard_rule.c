/* shard_rule.c -- how many shards, and how many iterations for each: homodyne's rules; see shard.h. */
#include "consensus/shard.h"

#include <math.h>

static size_t base_size(const struct fit_shard_rule *r)
{
    // clang-format off
    static const struct { double below; size_t flow, rest; } table[] = {
        {2e6, 8000, 10000}, {5e7, 5000, 10000}, {1e8, 5000, 15000}, {1e9, 8000, 20000}, {INFINITY, 10000, 20000}};
    // clang-format on
    size_t k = 0;
    while (!((double)r->npoint < table[k].below))
        k++;
    return r->flow ? table[k].flow : table[k].rest;
}

size_t fit_shard_size(const struct fit_shard_rule *r)
{
    double few = r->ngroup <= 3 ? 0.6 : r->ngroup <= 5 ? 0.7 : r->ngroup <= 10 ? 0.85 : 1;
    double longer = r->iterations ? 2000 / (double)r->iterations : 1;
    size_t least = r->flow ? 3000 : 5000, size = (size_t)(few * (double)base_size(r) + 1e-9);
    size = size > least ? size : least;
    size = (size_t)((double)size * fmin(fmax(longer, 0.25), 2) + 1e-9);
    return size > least ? size : least;
}

static size_t parts(size_t n, size_t size)
{
    return n > size ? (n + size - 1) / size : 1;
}

size_t fit_shard_count(const struct fit_shard_rule *r)
{
    size_t most = r->flow ? 1000 : 500;
    if (r->shards || r->most_points)
        return r->shards ? r->shards : parts(r->npoint, r->most_points);
    size_t n = parts(r->npoint, fit_shard_size(r));
    return n < most ? n : most;
}

size_t fit_shard_iterations(size_t wanted, size_t least, size_t per_param, size_t nparam, size_t npoint)
{
    double scale = fmin(1, (double)npoint / 10000);
    size_t low = per_param * nparam > least ? per_param * nparam : least, n = (size_t)((double)wanted * scale);
    low = low < wanted ? low : wanted;
    return n > low ? n : low;
}
