/* speckle_numbers.h -- number of speckles and shot noise of a group by maximum likelihood, from residuals that are
 * summed by blocks of frames (speckle/likelihood.h).  They are known several times better than from differences of
 * neighbours (speckle/estimate.c), with which the search begins. */
#pragma once

#include "errors/scores.h"
#include "speckle/blocks.h"
#include "speckle/outliers.h"

/* Blocks that are enough. */
enum { FIT_SPECKLE_NUMBERS = 64 };

/* Where the sums of a group come from. */
struct fit_speckle_sums {
    const struct fit_scores *scores; /* with fields */
    size_t nparam, intercept;        /* the place of the baseline among the linear parameters */
    const double *shift; /* linear parameters of the group, less those of the residuals; NULL: 0 */
    const double *share; /* P: part of each parameter that the group's residuals have followed; 0: it was held */
    size_t together;     /* blocks of the scores that make one */
};

/* Blocks of the scores that make one of FIT_SPECKLE_NUMBERS; 0: the decay does not last for three of these. */
size_t fit_speckle_together(const struct fit_scores *s, const struct fit_speckle_noise *noise);

/* *noise stays as it was where nothing is told.  given: stays.  room: fit_speckle_numbers_room() doubles.  Returns
 * what such noise does not have. */
struct fit_speckle_outliers fit_speckle_numbers(const struct fit_speckle_model *m, size_t g,
                                                const struct fit_speckle_sums *s, const struct fit_noise_model *given,
                                                double *room, struct fit_speckle_noise *noise);
size_t fit_speckle_numbers_room(const struct fit_scores *s, size_t together);

/* Moves the numbers of groups along their ridges toward a mean of all, as far as their scatter is that of their errors.
 *
 * Where shot noise is large M of a group is known to a third, and its error is not independent of that of the
 * parameters: of an angle that has drawn these its way less is left, it seems to have more speckles, and weighs more.
 * Sectors of a detector see similar numbers. With y = log M and its variance v, the part of the error that is shared
 * with s2,
 *
 *     y <- y + v / (v + tau^2) (mean - y),   tau^2 from Q = sum (y - mean)^2 / v = groups - 1 + tau^2 (...)
 *
 * (scatter between groups: DerSimonian & Laird, Controlled Clin. Trials 7 (1986) 177; its use: Morris, J. Am. Stat.
 * Assoc. 78 (1983) 47), and s2 goes along, so that what each group knows best, s2^2/M where s2 is large, stays.  tau^2
 * is 0 unless Q is above what chance has in 99 %: of few groups it would else stay where the harm is largest. */
void fit_speckle_average(struct fit_speckle_noise *noise, size_t ngroup);
