/* outliers.h -- do residuals have more outliers than speckle noise?
 *
 * In the coordinates X = L^-1 R L^-T, Ct = L L^T, of residuals between frames (whiten.h) all elements off the diagonal
 * have the variance 1/M and are independent. Each is the mean over M speckles of a product e_s e_t of the innovations
 * of two frames, normal except for its fourth moment: of M times the variance the kurtosis is
 *
 *     3 + k/M,     k = E e_s^4 e_t^4 / (E e_s^2 e_t^2)^2 - 3.
 *
 * Innovations have a variance proportional to the intensity I (likelihood.h), for photons with the fourth cumulant s2 /
 * I in addition (Poisson): E e^4 = I^2 (3 + s2 / I), and with the moments of constant intensities of the contrast b, E
 * I^2 = 1 + b, E I^3 = (1 + b)(1 + 2 b), E I^4 = (1 + b)(1 + 2 b)(1 + 3 b) (gamma distribution),
 *
 *     k = [9 (1 + 2 b)(1 + 3 b) + 6 s2 (1 + 2 b) + s2^2] / (1 + b) - 3.
 *
 * For simulated speckles, 13 to 60 frames, M 50 and 500, b 0.1 to 1, s2 to 5 b, the mean kurtosis agrees within a third
 * of k/M, and its variance is at most 24/N + (k/M)^2 for N elements. Disturbed frames, a jump, single values: all are
 * outliers of X, however few bins of lag and age they touch, and however well the number of speckles has absorbed their
 * size. A badly fitted decay, as of few correlation times, makes the size of innovations change with age: elements are
 * therefore first divided by the median of nearby rows. M, which outliers make smaller, is here that of the median
 * size. The distribution of a kurtosis has a long tail: p is that of an exponential distribution with this mean and
 * variance.
 */
#pragma once

#include <stddef.h>

struct fit_speckle_outliers {
    double p; /* 0 in all: not looked at */
    double kurtosis, expected;
    size_t block; /* frames of which most are */
};

struct fit_speckle_elements {
    size_t n;
    const double *X, *cover; /* n x n; cover: fraction of existing values */
    double contrast, shot;
};

/* room: n (n + 3) / 2 doubles. */
struct fit_speckle_outliers fit_speckle_find_outliers(const struct fit_speckle_elements *x, double *room);
