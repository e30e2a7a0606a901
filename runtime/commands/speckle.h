/* speckle.h -- two-time correlation functions of finitely many speckles: noise as an experiment has it.
 *
 * A speckle is a complex Gaussian field E(t) with correlation <E(t1) E*(t2)> = g1(t1, t2) (Goodman, Statistical
 * Optics (1985), section 2.9), its intensity |E|^2.  Of m speckles
 *     c(t1, t2) = <I(t1) I(t2)> / (<I(t1)> <I(t2)>)  - 1,   <> the mean over speckles,
 * which is |g1|^2 with errors that pairs of nearby frames have in common (and a bias of order 1/m).
 *
 * A detector whose contrast b is below 1 sees the sum of several such intensities in each speckle, of parts p_k of the
 * mean with sum p_k^2 = b: modes (Goodman, section 6.1).  Here all but one are alike, 1/b of them.  Then c / b is
 * |g1|^2.
 *
 * Light of several components is E(t) = sum_c a_c(t) e^(i p_c(t)) E_c(t), fields E_c independent of one another:
 * g1 = sum_c a_c(t1) a_c(t2) g_c(t1, t2) e^(i (p_c(t1) - p_c(t2))), which has a phase where the p_c differ.
 */
#ifndef FIT_SPECKLE_H
#define FIT_SPECKLE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { FIT_SPECKLE_MODES = 40 }; /* at most: for lower contrasts the noise is that of 1/40, in proportion */

/* square: n x n, on entry |g1|^2 in the upper half, diagonal 1; on return c / contrast there.  Random numbers are those
 * at (seed, stream).  g1 is taken as real and not negative; where that is no correlation function the nearest one with
 * eigenvalues >= 0 is used, and *change is the largest difference that makes to |g1|^2.  FIT_ERR_MEMORY;
 * FIT_ERR_NUMERIC when square is not finite. */
enum fit_status fit_speckle(size_t n, size_t speckles, double contrast, uint64_t seed, uint64_t stream,
                            double *square, double *change, struct fit_error *err);

/* One component: |g_c|^2 as above, taken as real and not negative. */
struct fit_speckle_part {
    const double *square;    /* n x n */
    const double *amplitude; /* n; NULL: 1 */
    const double *phase;     /* n, radians; NULL: 0 */
};

/* The same of nparts components: c / contrast into the upper half of square.  *change: the largest of all components.
 */
struct fit_speckle_draw {
    size_t nparts;
    const struct fit_speckle_part *part;
    size_t speckles;
    double contrast;
    uint64_t seed, stream;
};
enum fit_status fit_speckle_parts(size_t n, const struct fit_speckle_draw *draw, double *square, double *change,
                                  struct fit_error *err);

#endif
