/* diagnostics.h -- convergence of Markov chains: R-hat, effective sample sizes, Monte Carlo errors.
 *
 * Vehtari, Gelman, Simpson, Carpenter & Buerkner (2021).  Every quantity is of one scalar; chains
 * are split in halves (an odd length drops the middle draw).  Constant chains, numbers that are not
 * finite and fewer than 4 draws give NaN.
 */
#pragma once

#include "base/status.h"
#include "sampler/nuts.h"

/* Draws of one scalar: draw i of chain c is x[c][i * stride]. */
struct fit_draws {
    size_t chains, draws;
    const double *const *x;
    size_t stride;
};

struct fit_convergence {
    double mean, sd;
    double r_hat; /* of the rank-normalised draws and of the folded ones, the larger; needs two
                     chains, or else compares the halves of one */
    double r_hat_p; /* probability that R-hat is as large by chance, in chains of one distribution whose
                       autocorrelation is that seen within them */
    double ess_bulk, ess_tail;
    double ess_mean;
    double mcse_mean, mcse_sd;
    double tail_k, tail_k_error; /* shape of the heavier tail, and its standard error: moments of order 1/k and above do
                                    not exist */
};

/* FIT_ERR_MEMORY is the only error. */
enum fit_status fit_convergence(const struct fit_draws *d, struct fit_convergence *out,
                                struct fit_error *err);

/* Quantile p of all draws (linear interpolation, type 7 of Hyndman & Fan 1996), its effective
 * sample size and its Monte Carlo standard error (the two last may be NULL). */
enum fit_status fit_quantile(const struct fit_draws *d, double p, double *value, double *ess,
                             double *mcse, struct fit_error *err);

/* Effective sample size of the draws as they are (split, not rank-normalised). */
enum fit_status fit_ess_mean(const struct fit_draws *d, double *ess, struct fit_error *err);

/* Energy fraction of missing information, sum (E_i - E_i-1)^2 / sum (E_i - mean)^2 (Betancourt
 * 2016); below 0.3 momenta are refreshed too weakly for the tails. */
double fit_ebfmi(const struct fit_draw_stats *stats, size_t n);

/* Sums over the draws of one chain. */
struct fit_chain_health {
    double divergences, saturated; /* draws at max_depth */
    double ebfmi, accept_mean, step_mean, leapfrogs, gradients;
};
void fit_chain_health(const struct fit_draw_stats *stats, size_t n, unsigned max_depth,
                      struct fit_chain_health *out);
