/* sampling_impl.h -- the parts of sampling.c. */
#ifndef FIT_SAMPLING_IMPL_H
#define FIT_SAMPLING_IMPL_H

#include "checkpoint.h"
#include "sampling.h"

/* One call of fit_sample. */
struct fit_sampling_run {
    const struct fit_sampling_options *opt;
    struct fit_posterior *p;
    struct fit_samples *s;
    int side_by_side; /* chains at the same time */
    double begin;

    /* chains: sampling_chains.c */
    struct fit_sampler *sampler;
    struct fit_checkpoint checkpoint; /* what was read; empty when nothing was */
    int resumed;
    unsigned char *state; /* room for the bytes of the sampler */
    struct fit_chain_progress *chain;
    size_t windows; /* ends of windows that all chains have passed */
    double saved;   /* clock at the last checkpoint */
    int timed_out;
};

/* Reads the checkpoint when the options say so and there is one; errors of fit_checkpoint_read. */
enum fit_status fit_sampling_resume(struct fit_sampling_run *m,
                                    const struct fit_posterior_setup *setup, struct fit_error *err);

/* Chains from the mode or from the checkpoint; fills q, lp, stats, inverse_metric, draws, end.
 * FIT_ERR_INTERRUPTED: ended during the warm-up. */
enum fit_status fit_sampling_chains(struct fit_sampling_run *m, struct fit_error *err);
void fit_sampling_close(struct fit_sampling_run *m);

/* Maximum of the target near q[n] by Newton's method with halved steps: q <- the mode, covariance
 * (n x n) <- the inverse of the Hessian there, *weak <- directions without curvature.  scale[n]:
 * standard deviations, roughly. FIT_ERR_NUMERIC: no finite gradient at the start. */
enum fit_status fit_mode_find(const struct fit_target *t, double *q, const double *scale,
                              double *covariance, size_t *weak, struct fit_error *err);

/* Fills column, covariance, health, worst_*, verdict from x, q, lp and stats. */
enum fit_status fit_samples_summarise(struct fit_samples *s, const struct fit_posterior *p,
                                      const struct fit_sampling_options *opt,
                                      struct fit_error *err);

#endif
