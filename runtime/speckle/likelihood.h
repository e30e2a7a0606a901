/* likelihood.h -- number of speckles and shot noise by maximum likelihood, from residuals between blocks.
 *
 * Of residuals R with the covariance of whiten.h (second moments), N of them measured,
 *
 *     -2 log L = M t / 2 - N log M + (n + 1) log det Ct + log det (Ct^-1 o Ct^-1),    t = tr(Ct^-1 R' Ct^-1 R')
 *
 * R' with what stands best where nothing is measured, the last determinant of those places: the law of all elements
 * (Anderson, An Introduction to Multivariate Statistical Analysis (2003), section 7.2, for many speckles) integrated
 * over those of the diagonal.  M = N / (t / 2) at given shot noise; that is found by a search.  In these coordinates
 * slow noise is a few of many terms, so that what the fit has followed of it does not count: N is less by the number of
 * its parameters.
 *
 * Most of these terms are fast changes of the intensity, and their variance is in proportion to it: of photons by
 * Poisson's law, of a field E because the change of |E|^2 is 2 Re E* dE.  A pair of frames has the product of two of
 * them, its variance is E I_s I_t = 1 + C_st times that of second moments, and residuals over the root of this have the
 * variance that the law has.
 */
#pragma once

#include "speckle/noise.h"

struct fit_speckle_residuals {
    size_t n;
    const double *C;               /* n x n: between blocks, without shot noise */
    const double *part;            /* n: of the shot noise of one frame that a block has */
    const double *residual;        /* n x n, symmetric, evened out */
    const unsigned char *measured; /* n: of the diagonal */
    double parameters;             /* that these residuals have followed */
};

/* What is given stays.  Takes noise->shot to begin with; gives count, shot, noise and the errors of the first two.
 * room: fit_speckle_likelihood_room(n) doubles; it begins with X = L^-1 R' L^-T, n x n, then.  0: out of memory, or
 * there is no maximum: *noise is as it was. */
int fit_speckle_likelihood(const struct fit_speckle_residuals *r, const struct fit_noise_model *given, double *room,
                           struct fit_speckle_noise *noise);
size_t fit_speckle_likelihood_room(size_t n);

/* Divides residuals, n x n, by the roots of 1 + C. */
void fit_speckle_even_out(size_t n, const double *C, double *residual);
