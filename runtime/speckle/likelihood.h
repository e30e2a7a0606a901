/* likelihood.h -- number of speckles and shot noise by maximum likelihood, from residuals between blocks.
 *
 * For residuals R with the covariance of whiten.h (second moments), N of them measured,
 *
 *     -2 log L = M t / 2 - N log M + (n + 1) log det Ct + log det (Ct^-1 o Ct^-1),    t = tr(Ct^-1 R' Ct^-1 R')
 *
 * with R' having the optimal values at unmeasured elements, and the last determinant over these: the density of all
 * elements (Anderson, An Introduction to Multivariate Statistical Analysis (2003), section 7.2, for many speckles)
 * integrated over those of the diagonal. M = N / (t / 2) at given shot noise, which is found by a search.
 *
 * The fit has absorbed slow noise, a few of these components; where shot noise is large these alone determine M. With
 * X_p the derivatives of the model in the same coordinates, t is restricted to the part of R orthogonal to them, N is
 * reduced by their number, and log det (X_p . X_q) is added: the restricted likelihood (Patterson & Thompson,
 * Biometrika 58 (1971) 545). These terms change slowly with the shot noise and are evaluated three times. A parameter
 * that several groups share is divided among them.
 *
 * Most of these components are fast changes of the intensity, whose variance is proportional to it: for photons by
 * Poisson statistics, for a field E because the change of |E|^2 is 2 Re E* dE. A pair of frames contains the product of
 * two of them, so that its variance is E I_s I_t = 1 + C_st times that of second moments, and residuals divided by the
 * root of this have the variance of the likelihood.
 */
#pragma once

#include "speckle/noise.h"

struct fit_speckle_residuals {
    size_t n;
    const double *C;               /* n x n: between blocks, without shot noise */
    const double *part;            /* n: fraction of the shot noise of one frame that a block has */
    const double *residual;        /* n x n, symmetric, evened out */
    const unsigned char *measured; /* n: of the diagonal */
    double parameters;             /* that these residuals have followed */
    size_t nfield;
    const double *field;           /* nfield x n x n: derivatives with respect to the parameters, scaled like the
                                    * residuals */
    const double *share;           /* nfield: fraction of each that these residuals have absorbed; 0: it was held */
};

/* Given numbers stay. Starts from noise->shot; gives count, shot, noise and the errors of the first two. room:
 * fit_speckle_likelihood_room(n, nfield) doubles; afterwards it begins with X = L^-1 R' L^-T, n x n. 0: out of
 * memory, or there is no maximum: *noise is unchanged. */
int fit_speckle_likelihood(const struct fit_speckle_residuals *r, const struct fit_noise_model *given, double *room,
                           struct fit_speckle_noise *noise);
size_t fit_speckle_likelihood_room(size_t n, size_t nfield);

/* Divides residuals, n x n, by the roots of 1 + C. */
void fit_speckle_even_out(size_t n, const double *C, double *residual);
