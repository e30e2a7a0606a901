/* psis.h -- Pareto-smoothed importance sampling (Vehtari, Simpson, Gelman, Yao & Gabry 2024). */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Number of largest weights that are smoothed: ceil(min(n / 5, 3 sqrt n)). */
size_t fit_psis_tail(size_t n);

/* Shape k above which the estimate is not reliable: min(1 - 1 / log10 n, 0.7). */
double fit_psis_threshold(size_t n);

/* lw[n]: log weights, up to a constant; -infinity is a weight of 0.  On return smoothed and
 * normalised, sum exp(lw) = 1.  Returns the shape k of the tail; infinity when fewer than five
 * weights lie above the cutoff (lw is then normalised only), NaN when a weight is not a number or
 * all are 0.  work: n doubles; index: n. */
double fit_psis_smooth(size_t n, double *lw, double *work, size_t *index);

/* Shape (with the weak prior of the paper) and scale of the generalised Pareto distribution of
 * x[n], ascending and positive (Zhang & Stephens 2009). */
void fit_pareto_fit(size_t n, const double *x, double *k, double *sigma);

/* log sum exp(x), without overflow. */
double fit_log_sum_exp(size_t n, const double *x);

/* 1 / sum w^2 of normalised log weights. */
double fit_importance_ess(size_t n, const double *lw);

/* pick[m] <- indices drawn with the normalised log weights lw[n]: systematic resampling with the
 * offset u in (0, 1) (Kitagawa 1996), ascending. */
void fit_importance_resample(size_t n, const double *lw, size_t m, double u, size_t *pick);
