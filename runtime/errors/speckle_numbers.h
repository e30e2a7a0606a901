/* speckle_numbers.h -- number of speckles and shot noise of a group by maximum likelihood, from residuals that are
 * summed by blocks of frames (speckle/likelihood.h).  They are known several times better than from differences of
 * neighbours (speckle/estimate.c), with which the search begins. */
#pragma once

#include "speckle/blocks.h"
#include "speckle/outliers.h"

/* Sums of group g by pairs of blocks, matrices n x n. */
struct fit_speckle_sums {
    const double *cover, *mean;    /* part of the values that there are, their mean residual */
    const unsigned char *measured; /* n: of the diagonal */
    double parameters;             /* that the residuals have followed */
};

/* *noise stays as it was where nothing is told.  given: stays.  room: fit_speckle_numbers_room(n) doubles.  Returns
 * what such noise does not have. */
struct fit_speckle_outliers fit_speckle_numbers(const struct fit_speckle_blocks *b, size_t g,
                                                const struct fit_speckle_sums *s, const struct fit_noise_model *given,
                                                double *room, struct fit_speckle_noise *noise);
size_t fit_speckle_numbers_room(size_t n);
