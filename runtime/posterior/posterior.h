/* posterior.h -- the posterior density of a model's parameters, as a target for samplers.
 *
 * Log posterior = log density of the data without linear parameters and variances (collapsed.h)
 *               + log priors of the nonlinear parameters (prior.h), in physical units, inside their bounds
 *               + log Jacobian of the coordinates (coordinate.h).
 *
 * Rates of the kernel (fit_rate) have the coordinates of rate_coordinates.h, in place of amplitude (log rate), offset
 * (log share), exponent (slope) and shift, if the amplitude cannot be negative and the rate at theta is above 0.
 *
 * A prior may have parameters (fit_level): a level of a hierarchy. Such a parameter x ~ normal(a, b) or log_normal(a,
 * b) has the coordinate (x - a)/b, or that of log x, where the setup says so (levels.c), so that samplers can move
 * between wide and narrow levels (Papaspiliopoulos, Roberts & Skold, Stat. Sci. 22 (2007) 59); otherwise it has an
 * ordinary coordinate.
 *
 * Coordinates, in this order: free nonlinear parameters; linear parameters that are not integrated out (their prior is
 * not normal, or they are within 6 standard deviations of a bound at the start); log sigma of each unit when the model
 * gives the noise a prior of its own.
 */
#pragma once

#include "math/coordinate.h"
#include "posterior/collapsed.h"
#include "model/prior.h"
#include "posterior/rate_coordinates.h"
#include "sampler/target.h"

#include <stdint.h>

/* Description of one parameter for the sampler, nonlinear or linear. */
struct fit_posterior_param {
    double lower, upper; /* NaN or infinite: none */
    enum fit_prior_kind prior;
    double a, b;
    int fixed;
    double value; /* of a fixed nonlinear parameter */
};

/* A prior with parameters, of a nonlinear parameter. */
struct fit_posterior_level {
    unsigned from[2]; /* 1 + the nonlinear parameter whose value is a, b; 0: the number */
    int deviation;    /* 1: the coordinate is the deviation in the units of the prior; needs from[0] or from[1] */
};


struct fit_posterior_setup {
    const struct fit_kernel *kernel;   /* borrowed, with ds */
    const struct fit_dataset *ds;
    const struct fit_posterior_param *param; /* nparam + nlinear */
    const struct fit_posterior_level *level; /* nparam, or NULL: no prior has parameters */
    enum fit_scaling scaling;
    const size_t *linear_class; /* as in objective.h, or NULL */
    enum fit_variance variance;
    struct fit_posterior_param noise;  /* variance given: prior of sigma, in the units of the data */
    const double *theta;               /* nparam: a point of high density, by least squares */
    const double *lin;                 /* ngroup x nlinear there, in the units of the data: values of fixed ones */
    const double *sigma;               /* ngroup: noise there */
    double a0;                         /* of the prior of the variance; see collapsed.h */
    double count;                      /* how often every value counts; 1 */
    uint64_t plain_rates;              /* bit r: the parameters of rate r have coordinates like all others */
    uint64_t open; /* bit q: only its bounds limit linear parameter q: it is sampled between them */
    double temper;                     /* power of all priors with their Jacobians; 1 when 0 */
    const struct fit_posterior *like;  /* ds is a part of the data of that: the same coordinates; or NULL */
    size_t chains;                     /* evaluations at the same time, each with tables of its own */
    int threads;                       /* of one evaluation */
    const atomic_int *interrupt;
};

enum fit_posterior_kind {
    FIT_POSTERIOR_PARAM,
    FIT_POSTERIOR_LEVEL, /* (x - a)/b or (log x - a)/b of the parameter `index` */
    FIT_POSTERIOR_RATE, /* of rate_coordinates.h: u, v, y or z, in the place of the parameter `index` */
    FIT_POSTERIOR_LINEAR,
    FIT_POSTERIOR_LOG_SIGMA
};

struct fit_posterior_coordinate {
    enum fit_posterior_kind kind;
    size_t index;  /* nonlinear parameter; unknown of the objective; unit */
    struct fit_coordinate map; /* identity for those of a rate */
    struct fit_prior prior; /* with `from`: not proper by itself; a and b are those at the setup's point */
    unsigned from[2];       /* as in struct fit_posterior_level */
    char name[64]; /* "D0", "log(D0 t^alpha + D_offset)", "log share of D0", "alpha times share", "contrast[2]" */
};

struct fit_posterior_rate {
    struct fit_rate_map map;
    size_t which;  /* index in the kernel */
    int at[FIT_RATE_COORDINATES]; /* u, v, y, z: coordinate of the posterior; -1: there is none */
    int cut;       /* 1: the bounds allow rates <= 0, which the coordinates exclude */
};

struct fit_posterior_lane;

/* Read-only for others. */
struct fit_posterior {
    struct fit_posterior_setup setup; /* arrays copied */
    size_t n;
    struct fit_posterior_coordinate *coordinate; /* n */
    size_t nrate;
    struct fit_posterior_rate *rate;
    size_t nbound; /* linear parameters that are not integrated out because a bound is near */
    double cut;    /* log density that bounds add to the priors of those that are integrated out: -log of a flat one's
                      width, -log of the mass of a normal one between them */
    struct fit_target target;
    struct fit_posterior_lane *lane; /* setup.chains */
    struct fit_collapsed_setup collapsed;
    struct fit_arena storage_; /* also of what chains have */
};

/* FIT_ERR_CONFIG: an invalid prior (the parameter is named), nothing to sample; FIT_ERR_NUMERIC: no finite density
 * at theta. */
enum fit_status fit_posterior_new(const struct fit_posterior_setup *setup, struct fit_posterior **p,
                                  struct fit_error *err);
void fit_posterior_free(struct fit_posterior *p);

/* Coordinates q[n] of the point given in the setup. */
void fit_posterior_start(const struct fit_posterior *p, double *q);

/* Coordinates q[n] of theta[nparam], with linear parameters and noise of the setup. 0: theta has none, because a
 * rate there is not above 0. */
int fit_posterior_coordinates(const struct fit_posterior *p, const double *theta, double *q);

/* The log likelihood at the last point of chain 0 with the best linear parameters, up to a constant, without the
 * volume of these. */
double fit_posterior_height(const struct fit_posterior *p);

/* 1: every integrated linear parameter has a proper prior. */
int fit_posterior_linear_proper(const struct fit_posterior *p);

/* The parameters at q: theta[nparam].  0: there are none. */
int fit_posterior_theta(const struct fit_posterior *p, const double *q, double *theta);

/* A complete draw at q: theta; lin (ngroup x nlinear, units of the data) and sigma (ngroup), drawn where they
 * were integrated out.  chain: whose tables to use.  FIT_EVAL_REJECT where there is no density. */
enum fit_eval fit_posterior_draw(struct fit_posterior *p, size_t chain, const double *q, struct fit_rng *rng,
                                 double *theta, double *lin, double *sigma);

/* ---- levels.c ------------------------------------------------------------------------ */

/* Numbers of the prior of a coordinate with `from` at theta, as a density.  0: none (b is not positive). */
int fit_posterior_level_prior(const struct fit_posterior_coordinate *c, const double *theta, struct fit_prior *prior);

/* x from the coordinate z of a LEVEL, given its prior; and back. */
double fit_posterior_level_value(const struct fit_prior *prior, double z);
double fit_posterior_level_coordinate(const struct fit_prior *prior, double x);

/* Log Jacobian of a LEVEL; *g <- d log p / dz from by_x = d log p / dx; the contributions of x and of the Jacobian
 * are added to the derivatives with respect to the prior's a and b. temper: power of Jacobians. */
double fit_posterior_level_jacobian(const struct fit_prior *prior, double z, double x, double temper, double by_x,
                                    double *g, double *by_a, double *by_b);

/* Sets parameters that occur only in priors (fit_level.hyper) from the values of their members: theta is changed.
 * std: errors of theta, of maximum likelihood. Then level[].deviation is 1 for every parameter with `from` that the
 * data determine less well than its prior. */
void fit_posterior_levels(const struct fit_kernel *kernel, const double *std, const struct fit_posterior_param *param,
                          struct fit_posterior_level *level, double *theta);

/* From now on the setup's *interrupt is ignored: for work that must be finished after an interruption. */
void fit_posterior_uninterruptible(struct fit_posterior *p);

/* Integrated parameters, at the last point of the first chain. */
const struct fit_collapsed *fit_posterior_collapsed(const struct fit_posterior *p);

/* Sums over the data are shared in the group that the ranks form now (fit_parallel_group of data/tile_sums.h). */
enum fit_status fit_posterior_group(struct fit_posterior *p, struct fit_error *err);

/* Passes over the data so far, of all chains. */
double fit_posterior_passes(const struct fit_posterior *p);
