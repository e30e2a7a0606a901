/* likelihood.h -- number of speckles and shot noise by maximum likelihood, from residuals between blocks.
 *
 * Of residuals R with the covariance of whiten.h (second moments), N of them measured,
 *
 *     -2 log L = M t / 2 - N log M + (n + 1) log det Ct + log det (Ct^-1 o Ct^-1),    t = tr(Ct^-1 R' Ct^-1 R')
 *
 * R' with what stands best where nothing is measured, the last determinant of those places: the law of all elements
 * (Anderson, An Introduction to Multivariate Statistical Analysis (2003), section 7.2, for many speckles) integrated
 * over those of the diagonal.  M = N / (t / 2) at given shot noise; that is found by a search.
 *
 * The fit has followed slow noise, which is a few of these terms; where shot noise is large these alone tell M.  With
 * X_p the derivatives of the model in the same coordinates, t is that of R without its part along them, N less by
 * their number, and log det (X_p . X_q) is added: the likelihood of what the fit cannot reach (restricted: Patterson &
 * Thompson, Biometrika 58 (1971) 545).  These change slowly with the shot noise and are looked at three times.  Of a
 * parameter that several groups share each has its part.
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
    size_t nfield;
    const double *field;           /* nfield x n x n: derivatives by the parameters, evened out as residuals are */
    const double *share;           /* nfield: part of each that these residuals have followed; 0: it was held */
};

/* What is given stays.  Takes noise->shot to begin with; gives count, shot, noise and the errors of the first two.
 * room: fit_speckle_likelihood_room(n, nfield) doubles; it begins with X = L^-1 R' L^-T, n x n, then.  0: out of
 * memory, or there is no maximum: *noise is as it was. */
int fit_speckle_likelihood(const struct fit_speckle_residuals *r, const struct fit_noise_model *given, double *room,
                           struct fit_speckle_noise *noise);
size_t fit_speckle_likelihood_room(size_t n, size_t nfield);

/* Divides residuals, n x n, by the roots of 1 + C. */
void fit_speckle_even_out(size_t n, const double *C, double *residual);
