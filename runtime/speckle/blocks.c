/* blocks.c -- see blocks.h. Between blocks the model is evaluated at a few of their frames. Uncorrelated frames of
 * one block, all of which are evaluated, act like shot noise. */
#include "speckle/blocks.h"

#include <math.h>
#include <string.h>

enum {
    INSIDE = 3,       /* frames of a block at which the model is looked at, each way */
    WITHIN = 8,       /* the same, between frames of one block */
    RUN = 32,         /* blocks at a time */
    THIRD_LEAST = 24, /* frames taken together leave so many for cycle 3 */
    THIRD_MOST = 64
};

size_t fit_speckle_block_frames(const struct fit_speckle_blocks *b, size_t a)
{
    const size_t first = a * b->frames, left = b->model->layout->nframe - first;
    return left < b->frames ? left : b->frames;
}

/* Pairs of frames at which the model is evaluated, between a block and RUN others. */
struct places {
    size_t n, end[RUN]; /* where those of each end */
    uint32_t i[RUN * INSIDE * INSIDE + WITHIN * WITHIN], j[RUN * INSIDE * INSIDE + WITHIN * WITHIN];
    double value[RUN * INSIDE * INSIDE + WITHIN * WITHIN];
};

/* Appends those of blocks a <= c. */
static void add_places(const struct fit_speckle_blocks *b, size_t a, size_t c, struct places *p)
{
    const size_t fa = fit_speckle_block_frames(b, a), fc = fit_speckle_block_frames(b, c);
    const size_t most = a == c ? WITHIN : INSIDE, ka = fa < most ? fa : most, kc = fc < most ? fc : most;
    for (size_t e = 0; e < ka; e++)
        for (size_t f = 0; f < kc; f++, p->n++) {
            const size_t s = a * b->frames + (2 * e + 1) * fa / (2 * ka);
            const size_t t = c * b->frames + (2 * f + 1) * fc / (2 * kc);
            p->i[p->n] = (uint32_t)(s < t ? s : t);
            p->j[p->n] = (uint32_t)(s < t ? t : s);
        }
}

/* Means of C and sqrt(C / contrast) between block a and blocks first <= c < last, RUN of them at most. */
static void mean_between(const struct fit_speckle_blocks *b, size_t g, double contrast, size_t a, size_t first,
                         size_t last, double *C, double *root)
{
    struct places p = {.n = 0};
    for (size_t c = first; c < last; c++) {
        add_places(b, a, c, &p);
        p.end[c - first] = p.n;
    }
    fit_speckle_values(b->model, g, p.n, p.i, p.j, p.value);
    for (size_t c = first, k = 0; c < last; c++) {
        const double part = 1 / (double)(p.end[c - first] - k);
        double sum = 0, roots = 0;
        for (; k < p.end[c - first]; k++) {
            const double v = p.i[k] == p.j[k] ? contrast : fmin(fmax(p.value[k], 0), contrast);
            sum += v;
            roots += sqrt(v / contrast);
        }
        C[a * b->n + c] = C[c * b->n + a] = sum * part;
        root[a * b->n + c] = root[c * b->n + a] = roots * part;
    }
}

double fit_speckle_between(const struct fit_speckle_blocks *b, size_t g, const struct fit_speckle_noise *noise,
                           double *C, double *root, double *shot)
{
    const size_t n = b->n;
    const int both = noise->known == FIT_SPECKLE_BOTH;
    memset(C, 0, n * n * sizeof *C);
    memset(root, 0, n * n * sizeof *root);
    for (size_t a = 0; a < n; a++) {
        shot[a] = (both ? noise->shot : noise->noise) / (double)fit_speckle_block_frames(b, a);
        for (size_t c = a; both && c < n; c += RUN)
            mean_between(b, g, noise->contrast, a, c, c + RUN < n ? c + RUN : n, C, root);
    }
    return both ? noise->count : 1;
}

size_t fit_speckle_coarse(const struct fit_speckle_blocks *b, const struct fit_speckle_noise *noise)
{
    const double times = (double)(b->n * b->frames) / noise->frames; /* no longer than half a decay each */
    const size_t want = (size_t)fmin(fmax(2 * times, THIRD_LEAST), THIRD_MOST);
    return (b->n + want - 1) / want;
}
