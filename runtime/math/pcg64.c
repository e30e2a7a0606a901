/* pcg64.c -- see pcg64.h. */
#include "math/pcg64.h"

#include <math.h>

/* ---- 128 bits --------------------------------------------------------------------------------------- */

static struct fit_wide add(struct fit_wide a, struct fit_wide b)
{
    const uint64_t low = a.low + b.low;
    return (struct fit_wide){a.high + b.high + (low < b.low), low};
}

/* The product of 64 bits by 64. */
static struct fit_wide product(uint64_t a, uint64_t b)
{
    const uint64_t half = 0xffffffff, a0 = a & half, a1 = a >> 32, b0 = b & half, b1 = b >> 32;
    const uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & half);
    return (struct fit_wide){a1 * b1 + (middle >> 32) + (other >> 32), a * b};
}

static struct fit_wide multiply(struct fit_wide a, struct fit_wide b)
{
    struct fit_wide p = product(a.low, b.low);
    p.high += a.high * b.low + a.low * b.high;
    return p;
}

/* ---- layers of a normal ----------------------------------------------------------------------------- */

/* Layers 1 .. 255 are [0, x_k] high from f(x_k) to f(x_(k-1)), f = exp(-x^2/2), of the same area as the base, layer 0,
 * [0, x_255] with the tail behind it.  edge[k] is x_k, edge[0] 0; edge[256] is the end area / f(x_255) of a base
 * without a tail. */
enum { LAYERS = FIT_PCG64_LAYERS };
static const long double TAIL = 3.65415288536100879635194725185604664812733315920964L; /* x_255 */

static long double density(long double x)
{
    return expl(-x * x / 2);
}

static void make_layers(struct fit_pcg64 *g)
{
    static const long double ROOT_HALF_PI = 1.25331413731550025120788264240552263L, HALF_ROOT = 0.70710678118654752440L;
    const long double area = TAIL * density(TAIL) + ROOT_HALF_PI * erfcl(TAIL * HALF_ROOT);
    long double x = TAIL;
    g->edge[LAYERS] = (double)(area / density(TAIL));
    for (int k = LAYERS - 1; k > 0; k--) {
        g->edge[k] = (double)x;
        g->density[k] = (double)density(x);
        x = sqrtl(-2 * logl(fminl(area / x + density(x), 1)));
    }
    g->edge[0] = 0;
    g->density[0] = 1;
}

/* ---- bits ------------------------------------------------------------------------------------------- */

enum { POOL = 4 };

/* A multiplier that changes with every use. */
struct hash {
    uint32_t multiplier, factor;
};

static uint32_t hashed(struct hash *h, uint32_t word)
{
    word ^= h->multiplier;
    h->multiplier *= h->factor;
    word *= h->multiplier;
    return word ^ word >> 16;
}

static uint32_t mixed(uint32_t a, uint32_t b)
{
    const uint32_t m = 0xca01f9ddu * a - 0x4973f715u * b;
    return m ^ m >> 16;
}

/* Spreads the seed over a pool of words from which the state is made. */
static void make_pool(uint32_t seed, uint32_t pool[POOL])
{
    struct hash h = {0x43b0d7e5u, 0x931e8875u};
    for (int k = 0; k < POOL; k++)
        pool[k] = hashed(&h, k ? 0 : seed);
    for (int from = 0; from < POOL; from++)
        for (int to = 0; to < POOL; to++)
            if (to != from)
                pool[to] = mixed(pool[to], hashed(&h, pool[from]));
}

static void advance(struct fit_pcg64 *g)
{
    static const struct fit_wide multiplier = {2549297995355413924u, 4865540595714422341u};
    g->state = add(multiply(g->state, multiplier), g->step);
}

void fit_pcg64_seed(struct fit_pcg64 *g, uint32_t seed)
{
    struct hash h = {0x8b51f9ddu, 0x58f38dedu};
    uint32_t pool[POOL];
    uint64_t word[4];
    make_layers(g);
    make_pool(seed, pool);
    for (int k = 0; k < 4; k++) {
        const uint64_t low = hashed(&h, pool[2 * k % POOL]);
        word[k] = low | (uint64_t)hashed(&h, pool[(2 * k + 1) % POOL]) << 32;
    }
    const struct fit_wide state = {word[0], word[1]};
    g->state = (struct fit_wide){0, 0};
    g->step = (struct fit_wide){word[2] << 1 | word[3] >> 63, word[3] << 1 | 1};
    advance(g);
    g->state = add(g->state, state);
    advance(g);
}

uint64_t fit_pcg64_next(struct fit_pcg64 *g)
{
    advance(g);
    const uint64_t x = g->state.high ^ g->state.low;
    const unsigned turn = (unsigned)(g->state.high >> 58);
    return x >> turn | x << (-turn & 63);
}

double fit_pcg64_uniform(struct fit_pcg64 *g)
{
    return (double)(fit_pcg64_next(g) >> 11) * 0x1p-53;
}

/* ---- normals ---------------------------------------------------------------------------------------- */

/* Marsaglia (1964): beyond TAIL. */
static double tail(struct fit_pcg64 *g)
{
    const double r = (double)TAIL;
    for (;;) {
        const double x = -log1p(-fit_pcg64_uniform(g)) / r, y = -log1p(-fit_pcg64_uniform(g));
        if (2 * y > x * x)
            return r + x;
    }
}

double fit_pcg64_normal(struct fit_pcg64 *g)
{
    for (;;) {
        const uint64_t bits = fit_pcg64_next(g);
        const unsigned k = bits & (LAYERS - 1);
        const double x = (double)(bits >> 9 & 0xfffffffffffffu) * 0x1p-52 * g->edge[k ? k : LAYERS];
        const int negative = (int)(bits >> 8 & 1);
        if (k == 0 && x >= g->edge[LAYERS - 1]) /* numpy takes the sign of the tail from another bit */
            return bits >> 17 & 1 ? -tail(g) : tail(g);
        const double inner = g->edge[k ? k - 1 : LAYERS - 1], low = g->density[k];
        if (x < inner || (g->density[k ? k - 1 : 0] - low) * fit_pcg64_uniform(g) + low < exp(-x * x / 2))
            return negative ? -x : x;
    }
}
