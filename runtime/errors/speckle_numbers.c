/* speckle_numbers.c -- see speckle_numbers.h. */
#include "errors/speckle_numbers.h"

#include "speckle/likelihood.h"

size_t fit_speckle_numbers_room(size_t n)
{
    return 3 * n * n + n + fit_speckle_likelihood_room(n);
}

struct fit_speckle_outliers fit_speckle_numbers(const struct fit_speckle_blocks *b, size_t g,
                                               const struct fit_speckle_sums *s, const struct fit_noise_model *given,
                                               double *room, struct fit_speckle_noise *noise)
{
    const struct fit_speckle_outliers none = {0};
    const size_t n = b->n, nn = n * n;
    double *residual = room, *C = residual + nn, *root = C + nn, *part = root + nn;
    if (noise->known != FIT_SPECKLE_BOTH)
        return none;
    fit_speckle_between(b, g, noise, C, root, part);
    for (size_t k = 0; k < nn; k++)
        residual[k] = s->cover[k] * s->mean[k];
    fit_speckle_even_out(n, C, residual);
    for (size_t a = 0; a < n; a++)
        part[a] = 1 / (double)fit_speckle_block_frames(b, a);
    const struct fit_speckle_residuals r = {n, C, part, residual, s->measured, s->parameters};
    if (!fit_speckle_likelihood(&r, given, part + n, noise))
        return none;
    return fit_speckle_find_outliers(
        &(struct fit_speckle_elements){n, part + n, s->cover, noise->contrast, noise->shot}, residual);
}
