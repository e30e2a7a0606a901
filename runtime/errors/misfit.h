/* misfit.h -- do residuals of pairs have a structure that independent noise does not explain?
 *
 * Residuals z = sqrt(w) r are summed over bins of lag (half octaves) and age (eighths of the measurement) for each
 * group, with the derivatives that the fit can absorb, X = sum sqrt(w) d mean / d (theta, lin). A template phi over the
 * bins gives one number, T = sum phi_k S_k, Var T = sum phi_k^2 n_k s_k^2 - s^2 x^T D x, x = sum phi_k X_k, D = (J^T W
 * J)^-1, normal with mean 0 for a true model and independent noise: the second term is what the fitted parameters
 * absorb (Cook & Weisberg 1982, section 2.1). s_k^2 is the mean square of the bin's own residuals, so that the noise
 * may vary. Templates of positions are the bins themselves, bins of one lag or one age together, smooth modes over lag
 * and age. Those of the model are its derivatives times such modes, which detect a drifting parameter (score tests:
 * Rao, Proc. Camb. Phil. Soc. 44 (1948) 50), and powers of its values, which detect a second component or another form
 * of the decay (Ramsey, J. R. Stat. Soc. B 31 (1969) 350). Each is tried by group and over all groups. p is that of the
 * largest |T| / sd, times the number of templates (Bonferroni) of its family, positions or model, one group or all, and
 * times the number of families: the few templates of the model, which are the most informative, thus need not compete
 * with the many of the positions. The products of neighbours are tested as well.
 */
#pragma once

#include "leastsquares/objective.h"

enum { FIT_MISFIT_AGES = 8, FIT_MISFIT_LAGS = 48 };

struct fit_misfit_bins {
    size_t ngroup, P, nlag, nbin, each; /* nbin = nlag x FIT_MISFIT_AGES; numbers of a bin: n, sum z, sum z^2, X[P] */
    unsigned char *lag;                 /* class of a lag in frames, less one; nlags of them */
    size_t nlags, nframe;
};

/* Geometry of the bins, for nframe used frames of a time grid, with storage from a. */
enum fit_status fit_misfit_bins_new(const struct fit_layout *l, size_t P, struct fit_misfit_bins *b,
                                    struct fit_arena *a, struct fit_error *err);

/* Numbers of all bins of all groups. */
static inline size_t fit_misfit_numbers(const struct fit_misfit_bins *b)
{
    return b->ngroup * b->nbin * b->each;
}

/* Where those of the pair (i, j) of group g begin. */
static inline size_t fit_misfit_at(const struct fit_misfit_bins *b, const uint32_t *frame, size_t g, size_t i, size_t j)
{
    const size_t age = (i + j) * FIT_MISFIT_AGES / (2 * b->nframe);
    return ((g * b->nlag + b->lag[frame[j] - frame[i] - 1]) * FIT_MISFIT_AGES + age) * b->each;
}

/* sum: numbers of all bins.  D: as in scores.h, n = nparam + nu on a side.  test: correlations, with the numbers of
 * products that they are means of. */
struct fit_misfit_spec {
    const struct fit_objective *obj;
    const struct fit_misfit_bins *bins;
    const double *sum, *D;
    double rho[3], products[3]; /* along the lag, along the age, sharing a frame: of all groups */
};
enum fit_status fit_misfit_find(const struct fit_misfit_spec *spec, struct fit_misfit *out, struct fit_error *err);
