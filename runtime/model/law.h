/* law.h -- noise distributions (fit/kernel.h, enum fit_law): their width, and draws from them. */
#pragma once

#include "fit/kernel.h"
#include "math/rng.h"

/* 1 when draws are possible: all but FIT_LAW_OTHER. */
int fit_law_known(enum fit_law law);

/* 1 when the mean, or the author, fixes the width, so that residuals can be too large: counts and exponential. */
int fit_law_tests(enum fit_law law);

/* Root mean square of y - mean, mean and arg as in fit/kernel.h; for a distribution without one its scale; 1 for
 * FIT_LAW_OTHER. */
double fit_law_deviation(enum fit_law law, double mean, const double *arg);

/* A draw; NaN for invalid arguments. Takes as many numbers of rng as it needs. */
double fit_law_draw(enum fit_law law, double mean, const double *arg, struct fit_rng *rng);
