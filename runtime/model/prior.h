/* prior.h -- prior densities of single parameters, restricted to their bounds.
 *
 * Every kind of fit/kernel.h, truncated to [lower, upper] and normalised there; bounds may be infinite.
 * FIT_PRIOR_NONE is uniform between finite bounds and improper (density 1) otherwise.
 */
#pragma once

#include "fit/kernel.h"

/* Two kinds in addition to those of model files: TANH_NORMAL, the density of m + h tanh((r - m)/h), r normal (a, b),
 * m the middle and h half the width of the bounds (prior_compat.h); and JEFFREYS, of a completely unknown scale,
 * density 1/x of x > 0, improper (Jeffreys 1961, section 3.1). */

struct fit_prior {
    enum fit_prior_kind kind;
    double a, b, lower, upper;
    double log_norm; /* log of the normalisation */
    int proper;
};

/* 0 when the numbers define no density: a standard deviation, scale or shape that is not positive, bounds that
 * cross, log_uniform without 0 < lower < upper < inf, beta and tanh_normal without finite bounds, no probability
 * between the bounds. */
int fit_prior_init(struct fit_prior *p, enum fit_prior_kind kind, double a, double b, double lower,
                   double upper);

/* Log density at x inside the bounds (-inf outside), and its derivative (may be NULL). */
double fit_prior_log(const struct fit_prior *p, double x, double *slope);

/* The derivatives of the log density at x with respect to a and b. For untruncated densities: NORMAL, LOG_NORMAL,
 * HALF_NORMAL, EXPONENTIAL, HALF_CAUCHY; with b > 0. */
void fit_prior_slopes(const struct fit_prior *p, double x, double *by_a, double *by_b);

/* The quantile x of probability `part`, 0 < part < 1; NaN when the prior is improper. */
double fit_prior_quantile(const struct fit_prior *p, double part);

/* "truncated_normal", ...: the word of model files. */
const char *fit_prior_word(enum fit_prior_kind kind);

/* How many numbers the kind has: a and b, b alone, or none. */
int fit_prior_numbers(enum fit_prior_kind kind);
