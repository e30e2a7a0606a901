/* predictive.h -- predictions of posterior draws for the rows of a table: the log likelihood of each; for kernels
 * with a density, replicated data, and whether the measured ones resemble them.
 *
 * Log likelihoods are complete, with their constants, at the linear parameters and the noise of the draw, so that
 * those of different models of the same rows can be compared.
 *
 * The draws are thinned evenly, so that there are at most FIT_PREDICTIVE_VALUES values. The check compares chi2 =
 * sum (y - mean)^2 / variance of the data with that of data drawn from the noise distribution at the same
 * parameters; p is the fraction of the draws for which the simulated ones scatter more (Gelman, Meng & Stern,
 * Statistica Sinica 6 (1996) 733). Near 0: the data scatter more than the noise distribution allows; near 1: less. */
#pragma once

#include "sampling/sampling.h"

enum { FIT_PREDICTIVE_VALUES = 4000000 };

struct fit_predictive {
    size_t chains, draws, nrow;  /* draws of each chain that were taken; rows of the table */
    size_t step;                 /* every so many */
    double *log_likelihood;      /* chains x draws x nrow, in the order of the file; NaN: a row that does not count */
    double *y;                   /* the same: drawn values; NULL when errors are normal, or the law is not known */
    double p;                    /* NaN: not known */
    struct fit_arena storage_;
};

/* setup: of these draws.  FIT_ERR_MEMORY.  Pairs, and tables with more than FIT_PREDICTIVE_VALUES / 100 rows: out is
 * empty (nrow = 0). */
enum fit_status fit_predictive_new(const struct fit_posterior_setup *setup, const struct fit_samples *s,
                                   struct fit_predictive *out, struct fit_error *err);
void fit_predictive_free(struct fit_predictive *p);
