/* speckle_numbers.h -- number of speckles and shot noise of a group by maximum likelihood, from residuals that are
 * summed by blocks of frames (speckle/likelihood.h). They are several times more precise than those from differences
 * of neighbours (speckle/estimate.c), with which the search begins. */
#pragma once

#include "errors/scores.h"
#include "speckle/blocks.h"
#include "speckle/outliers.h"

/* Blocks that are enough. */
enum { FIT_SPECKLE_NUMBERS = 64 };

/* Source of the sums of a group. */
struct fit_speckle_sums {
    const struct fit_scores *scores; /* with fields */
    size_t nparam, intercept;        /* the place of the baseline among the linear parameters */
    const double *shift; /* linear parameters of the group, less those of the residuals; NULL: 0 */
    const double *share; /* P: fraction of each parameter that the group's residuals have absorbed; 0: it was held */
    size_t together;     /* blocks of the scores that make one */
};

/* Number of blocks of the scores combined into one of FIT_SPECKLE_NUMBERS; 0: the decay does not last for three of
 * these. */
size_t fit_speckle_together(const struct fit_scores *s, const struct fit_speckle_noise *noise);

/* *noise is unchanged where nothing can be estimated. given: stays. room: fit_speckle_numbers_room() doubles.
 * Returns the outliers. */
struct fit_speckle_outliers fit_speckle_numbers(const struct fit_speckle_model *m, size_t g,
                                                const struct fit_speckle_sums *s, const struct fit_noise_model *given,
                                                double *room, struct fit_speckle_noise *noise);
size_t fit_speckle_numbers_room(const struct fit_scores *s, size_t together);
