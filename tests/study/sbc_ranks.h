/* sbc_ranks.h -- ranks of true values among draws, and whether they are uniform: what the studies of simulation-based
 * calibration have in common (sbc.c tells how that is judged).
 *
 *     double lp = sbc_true_density(&setup);
 *     fit_sample(...); sbc_rank(&samples, truth, n, lp, quantity);      for each experiment
 *     bad = sbc_report(quantity, n + 1, experiments);
 */
#ifndef SBC_RANKS_H
#define SBC_RANKS_H

#include "posterior/posterior.h"
#include "sampling/sampling.h"

enum {
    SBC_RANKS = 100, /* a chain gives SBC_RANKS - 1 draws, every SBC_THIN-th of those that it makes */
    SBC_THIN = 6,
    SBC_MOST = 64 /* coordinates, at most */
};

struct sbc_quantity {
    char name[64]; /* "": not reported */
    size_t count[SBC_RANKS];
};

/* Says what went wrong, and ends the program. */
void sbc_stop(const char *what, const struct fit_error *err);

/* Log density, in the sampler's coordinates, at the values of the setup. */
double sbc_true_density(const struct fit_posterior_setup *setup);

/* Counts, in quantity[c], the rank of truth[c] among the draws of column c, for c < n; in quantity[n] that of lp. */
void sbc_rank(const struct fit_samples *s, const double *truth, size_t n, double lp, struct sbc_quantity *quantity);

/* Prints a line for each of n quantities; returns how many are not uniform. */
size_t sbc_report(const struct sbc_quantity *quantity, size_t n, size_t experiments);

#endif
