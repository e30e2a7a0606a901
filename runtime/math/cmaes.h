/* cmaes.h -- minimisation inside the unit box without derivatives: evolution strategy with adaptation of the covariance
 * matrix.
 *
 * For functions with many minima and up to some tens of variables: a population is drawn from a normal distribution
 * whose mean, step and covariance follow the better half. It finds the valley, not the last digit: a local method
 * continues from its answer. Points that leave the box are reflected into it.
 *
 * Hansen, The CMA Evolution Strategy: A Tutorial (arXiv:1604.00772), equations (56) to (61) with the constants of its
 * table 1 (positive weights only).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fit_cmaes_problem {
    size_t n;
    /* u: n numbers in [0, 1]. INFINITY: the function has no value there. *stop nonzero: end at once. */
    double (*value)(void *user, const double *u, int *stop);
    void *user;
};

struct fit_cmaes_options {
    size_t population;  /* 0: 4 + 3 ln n */
    size_t evaluations; /* at most so many */
    double step;        /* first standard deviation, as a fraction of the box; 0: 0.3 */
    double ftol;        /* ends when the best values of 10 + 30 n / population generations agree within this
                         * fraction, */
    double xtol;        /* or when the step is below this fraction of the box in all directions */
    uint64_t seed, stream; /* of random numbers: the same seed and start give the same answer */
};

enum fit_cmaes_word { FIT_CMAES_FOUND, FIT_CMAES_EVALUATIONS, FIT_CMAES_STOPPED, FIT_CMAES_MEMORY };

/* Minimises from u (in: first mean; out: the best point seen); *best its value, INFINITY when none was
 * finite; *used: evaluations. */
enum fit_cmaes_word fit_cmaes_run(const struct fit_cmaes_problem *p, const struct fit_cmaes_options *opt,
                                  double *u, double *best, size_t *used);
