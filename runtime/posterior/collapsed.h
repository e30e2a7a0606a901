/* collapsed.h -- the density of the data as a function of the nonlinear parameters: linear parameters and
 * noise variances are integrated out exactly.
 *
 * The model of the data, for the values n of a group, with known relative weights w:
 *     y_n = sum_q lin_q b_q(theta) + rest(theta) + e_n ,   e_n ~ N(0, sigma^2 / w_n).
 * Groups that share linear parameters share their variance; such a set of groups is a unit.  Priors:
 *     lin | sigma^2 ~ N(m0, sigma^2 L0^-1),  L0 = diag(s0^2 / sd^2);   sigma^2 ~ inverse gamma(a0, b0),
 * so a linear parameter has prior standard deviation sd where sigma is s0; or flat ones, density 1 whatever sigma is,
 * of which there are f in the unit and whose row of L0 is 0.  With A = L0 + X^T W X, mu = A^-1 (L0 m0 + X^T W y) and c
 * = sum w r^2 at mu + (mu - m0)^T L0 (mu - m0):
 *
 *     log p(y | theta) = 1/2 log|L0| - 1/2 log|A| - a_n log b_n + a0 log b0 + log G(a_n) - log G(a0)
 *                        - (n - f)/2 log 2 pi,            a_n = a0 + (n - f)/2,   b_n = b0 + c/2
 *
 * (Gelman et al., Bayesian Data Analysis, 3rd ed., sections 14.2 and 14.8; |L0| of the rows that are not 0).  A flat
 * parameter takes a degree of freedom from the noise, for its integral is one factor sigma.  It is no limit of the
 * conjugate prior, which has a factor 1/sigma for each parameter however wide it is.  With a0 = 0 the prior of the
 * noise is density 1 in log sigma (Jeffreys), and a0 log b0 - log G(a0) is replaced by -log 2, the Jacobian of
 * log sigma^2; n > f is needed then.  The sum of log w is left out.  The variance may also be given: known, or as one
 * more coordinate h = log sigma of each unit with a prior of the caller's.  Then L0 = diag(1 / sd^2), independent of
 * sigma, v = exp(-2 h), A = L0 + v X^T W X, c = v sum w r^2 + (mu - m0)^T L0 (mu - m0):
 *
 *     log p(y | theta, h) = 1/2 log|L0| - 1/2 log|A| - c/2 - n h - n/2 log 2 pi.
 *
 * The prior may be raised to a power t, for parts of the data (consensus.h).  As densities of lin and log sigma
 * both priors stay of their kind: L0 becomes t L0, b0 becomes t b0, and a0, with p linear parameters integrated
 * out in the unit that are not flat, t a0 - (1 - t) p / 2, for the prior of lin given sigma holds p factors 1/sigma of
 * which only the t-th power is left.  With the variance given L0 becomes t L0.
 *
 * Of a kernel with a density there is nothing to integrate out: the variance is known, and log p(y | theta) the sum of
 * the log densities.
 *
 * A linear parameter may be kept explicit: it is then given, like theta, and has a derivative.  That is for
 * bounds that matter; its prior is the caller's.
 */
#pragma once

#include "leastsquares/objective.h"
#include "math/rng.h"

enum fit_variance {
    FIT_VARIANCE_UNIT,   /* one for each unit */
    FIT_VARIANCE_SHARED, /* one for all data */
    FIT_VARIANCE_KNOWN,  /* weights are 1 / variance */
    FIT_VARIANCE_GIVEN,  /* one for each unit, given with every evaluation */
    FIT_VARIANCE_GIVEN_SHARED /* one for all data, given with every evaluation */
};

/* 1 when the variance is part of the point of an evaluation. */
int fit_variance_given(enum fit_variance v);

struct fit_collapsed_setup {
    enum fit_scaling scaling;
    const size_t *linear_class; /* as in objective.h, or NULL */
    enum fit_variance variance;
    const double *mean, *sd;  /* nlinear: prior of the linear parameters; sd infinite: flat */
    double a0;                /* 0: density 1 in log sigma (Jeffreys), b0 is then 0 */
    const double *sigma;      /* ngroup: s0; b0 = a0 / 2 times its square (so a0 = 2 has mean s0^2).  With
                                 known variance and data without weights: the deviations */
    const unsigned char *linear_fixed; /* nlinear, or NULL */
    const double *linear_value; /* ngroup x nlinear, in the units of the data: fixed ones; or NULL */
    double count;             /* how often every value counts; 1 */
    double temper;            /* power of the prior; 1 when 0 */
    const struct fit_collapsed *like; /* s0 of the units as there: for a part of its data; or NULL */
    int threads;              /* of one evaluation */
    const atomic_int *interrupt;
};

/* Read-only for others. */
struct fit_collapsed {
    struct fit_objective *o;
    enum fit_variance variance;
    double count, a0, temper;
    size_t nunit;
    size_t *unit;             /* ngroup: its unit */
    size_t *block_unit;       /* blocks of unknowns (o->nblock): their unit */
    double *npoint;           /* nunit: count times the number of values */
    unsigned char *explicit_; /* nu: 1 when given by the caller */
    double *m0, *precision0;  /* nu; the mean minus origin */
    double *s0;               /* nunit */
    double constant;          /* of the log density */

    /* At the point of the last evaluation: */
    double *u;                /* nu: mean given theta, minus origin (o->origin); explicit ones as given */
    double *factor;           /* lower Cholesky factors of A over the collapsed unknowns of each block */
    double *a_n, *b_n;        /* nunit; variance known or given: b_n = c/2 */
    double *scale;            /* nunit: count times v (1 unless the variance is given) */
    double *residual;         /* nunit: count v sum w r^2 */
    double height;            /* the log density without the volume of the linear parameters there: the likelihood at
                               * their optimum */
    double *lin;              /* ngroup x nlinear at u, as the kernel wants it */
    double *adj, *work;
    struct fit_arena storage_;
};

/* Borrows kernel and ds.  Errors as in fit_objective_new; FIT_ERR_CONFIG when the kernel has no gradient. */
enum fit_status fit_collapsed_new(const struct fit_kernel *kernel, const struct fit_dataset *ds,
                                  const struct fit_collapsed_setup *setup, struct fit_collapsed **c,
                                  struct fit_error *err);
void fit_collapsed_free(struct fit_collapsed *c);

/* Makes unknown u explicit; its first value is given with the next evaluation. */
void fit_collapsed_explicit(struct fit_collapsed *c, size_t u);

/* A point: what is not integrated out. */
struct fit_collapsed_point {
    const double *theta;     /* nparam */
    const double *u;         /* nu, minus origin: the explicit ones are read; NULL when there are none */
    const double *log_sigma; /* nunit; read when fit_variance_given() */
};
struct fit_collapsed_slope {
    double *theta, *u, *log_sigma; /* d lp by all that; the two last may be NULL.  u: 0 for those integrated out */
};

/* *lp at the point, and its derivatives unless slope is NULL. */
enum fit_eval fit_collapsed_eval(struct fit_collapsed *c, const struct fit_collapsed_point *at, double *lp,
                                 const struct fit_collapsed_slope *slope);

/* Draws what was integrated out from its distribution at the point of the last evaluation: lin: ngroup x nlinear in
 * the units of the data; sigma: ngroup. */
void fit_collapsed_draw(struct fit_collapsed *c, struct fit_rng *rng, double *lin, double *sigma);

/* Mean and standard deviation of unknown u (minus origin) at the last point; sigma at its mean variance. */
void fit_collapsed_unknown(const struct fit_collapsed *c, size_t u, double *mean, double *sd);
