/* speckle.h -- two-time correlation functions of finitely many speckles: noise as in an experiment.
 *
 * A speckle is a complex Gaussian field E(t) with correlation <E(t1) E*(t2)> = g1(t1, t2) (Goodman, Statistical Optics
 * (1985), section 2.9), its intensity |E|^2. For m speckles
 *     c(t1, t2) = <I(t1) I(t2)> / (<I(t1)> <I(t2)>)  - 1,   <> the mean over speckles,
 * which is |g1|^2 with errors that pairs of nearby frames share (and a bias of order 1/m).
 *
 * A detector whose contrast b is below 1 sees the sum of several such intensities in each speckle, with fractions p_k
 * of the mean and sum p_k^2 = b: modes (Goodman, section 6.1). Here all but one are equal, 1/b of them. Then c / b is
 * |g1|^2.
 *
 * Light of several components is E(t) = sum_c a_c(t) e^(i p_c(t)) E_c(t), fields E_c independent of one another: g1 =
 * sum_c a_c(t1) a_c(t2) g_c(t1, t2) e^(i (p_c(t1) - p_c(t2))), which has a phase where the p_c differ.
 */
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { FIT_SPECKLE_MODES = 40 }; /* at most: for lower contrasts the noise is that of 1/40, scaled */

/* One component: |g_c|^2 in the upper half, diagonal 1. g_c is taken as real and nonnegative; if that is not a
 * correlation function, the nearest one with eigenvalues >= 0 is used. */
struct fit_speckle_part {
    const double *square;    /* n x n */
    const double *amplitude; /* n; NULL: 1 */
    const double *phase;     /* n, radians; NULL: 0 */
};

/* n: of all exposures. The mean intensity of `average` exposures makes a frame. Then its photons are counted,
 * Poisson, with a mean of `counts` per speckle and frame (0: intensities are used directly), and the frame is
 * divided by its mean. */
struct fit_speckle_draw {
    size_t nparts;
    const struct fit_speckle_part *part;
    size_t speckles, average;
    double contrast, counts;
    uint64_t seed, stream;
};

/* c / contrast into the upper half of square, n / average frames, photon noise of a frame with itself included.  Random
 * numbers are those at (seed, stream).  *change: the largest difference of all components that eigenvalues >= 0 make to
 * |g_c|^2.  FIT_ERR_MEMORY; FIT_ERR_NUMERIC when square is not finite; FIT_ERR_DATA: a frame without photons. */
enum fit_status fit_speckle_parts(size_t n, const struct fit_speckle_draw *draw, double *square, double *change,
                                  struct fit_error *err);
