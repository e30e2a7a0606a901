/* speckle_numbers.c -- see speckle_numbers.h. */
#include "errors/speckle_numbers.h"

#include <math.h>
#include <string.h>

#include "speckle/likelihood.h"

static const double SLOW = 3; /* blocks of a decay */

size_t fit_speckle_together(const struct fit_scores *s, const struct fit_speckle_noise *noise)
{
    const size_t together = (s->nblock + FIT_SPECKLE_NUMBERS - 1) / FIT_SPECKLE_NUMBERS, frames = together * s->length;
    return frames == 1 || noise->frames >= SLOW * (double)frames ? together : 0;
}

static size_t blocks_of(const struct fit_scores *s, size_t together)
{
    return (s->nblock + together - 1) / together;
}

size_t fit_speckle_numbers_room(const struct fit_scores *s, size_t together)
{
    const size_t n = blocks_of(s, together);
    return (4 + s->P) * n * n + 2 * n + fit_speckle_likelihood_room(n, s->P);
}

/* Matrices n x n between blocks: fraction of existing values; sums of residuals, then derivatives, linear ones
 * first. */
struct between {
    size_t n;
    double *cover, *sum;
};

/* Index of a derivative: linear ones first, so that of the others only the remainder is shared. */
static size_t order(const struct fit_speckle_sums *s, size_t e)
{
    const size_t nlinear = s->scores->P - s->nparam;
    return e < s->nparam ? 1 + nlinear + e : 1 + e - s->nparam;
}

static void add_block(const struct fit_speckle_sums *s, const double *from, const struct between *b, size_t at)
{
    const size_t nn = b->n * b->n, P = s->scores->P;
    b->cover[at] += from[s->nparam + s->intercept];
    b->sum[at] += from[P];
    for (size_t e = s->nparam; s->shift && e < P; e++)
        b->sum[at] -= s->shift[e - s->nparam] * from[e];
    for (size_t e = 0; e < P; e++)
        b->sum[order(s, e) * nn + at] += from[e];
}

/* Scales sums to means over all values, times the fraction that exists. */
static void gather(const struct fit_speckle_blocks *blocks, size_t g, const struct fit_speckle_sums *s,
                   const struct between *b)
{
    const struct fit_scores *scores = s->scores;
    const size_t n = b->n, nn = n * n;
    memset(b->cover, 0, nn * sizeof *b->cover);
    memset(b->sum, 0, (1 + scores->P) * nn * sizeof *b->sum);
    for (size_t i = 0; i < scores->nblock; i++)
        for (size_t j = i; j < scores->nblock; j++)
            add_block(s, fit_fields_at(scores, g, i, j), b, i / s->together * n + j / s->together);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) {
            const double fi = (double)fit_speckle_block_frames(blocks, i);
            const double most = i == j ? fi * (fi - 1) / 2 : fi * (double)fit_speckle_block_frames(blocks, j);
            const double part = most > 0 ? 1 / most : 0;
            b->cover[i * n + j] = b->cover[j * n + i] = b->cover[i * n + j] * part;
            for (size_t k = 0; k < 1 + scores->P; k++)
                b->sum[k * nn + i * n + j] = b->sum[k * nn + j * n + i] = b->sum[k * nn + i * n + j] * part;
        }
}

struct fit_speckle_outliers fit_speckle_numbers(const struct fit_speckle_model *m, size_t g,
                                                const struct fit_speckle_sums *s, const struct fit_noise_model *given,
                                                double *room, struct fit_speckle_noise *noise)
{
    const size_t n = blocks_of(s->scores, s->together), nn = n * n, P = s->scores->P;
    const struct fit_speckle_blocks blocks = {m, n, s->together * s->scores->length};
    double *C = room, *root = C + nn, *part = root + nn, share[P + 1], parameters = 0;
    const struct between b = {n, part + n, part + n + nn};
    double *rest = b.sum + (1 + P) * nn;
    unsigned char measured[FIT_SCORE_BLOCKS];
    if (noise->known != FIT_SPECKLE_BOTH)
        return (struct fit_speckle_outliers){0};
    fit_speckle_between(&blocks, g, noise, C, root, part);
    gather(&blocks, g, s, &b);
    for (size_t k = 0; k < 1 + P; k++)
        fit_speckle_even_out(n, C, b.sum + k * nn);
    for (size_t e = 0; e < P; e++) {
        share[order(s, e) - 1] = s->share[e];
        parameters += s->share[e];
    }
    for (size_t a = 0; a < n; a++) {
        part[a] = 1 / (double)fit_speckle_block_frames(&blocks, a);
        measured[a] = b.cover[a * (n + 1)] > 0;
    }
    const struct fit_speckle_residuals r = {n, C, part, b.sum, measured, parameters, P, b.sum + nn, share};
    if (!fit_speckle_likelihood(&r, given, rest, noise))
        return (struct fit_speckle_outliers){0};
    struct fit_speckle_outliers out = fit_speckle_find_outliers(
        &(struct fit_speckle_elements){n, rest, b.cover, noise->contrast, noise->shot}, b.sum);
    out.block *= blocks.frames;
    return out;
}
