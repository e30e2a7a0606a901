/* fit_impl.h -- shared by the parts of a fit by least squares: fit.c, redundant.c, minimum.c, noise.c,
 * rate_escape.c. */
#pragma once

#include "leastsquares/evidence.h"
#include "leastsquares/fit_types.h"
#include "leastsquares/nlsq.h"
#include "leastsquares/objective.h"
#include "leastsquares/start.h"

/* One call of fit_run(): a fit by least squares, from the search for starts to the errors. */
struct fit_ls {
    const struct fit_kernel *kernel;
    const struct fit_dataset *ds;
    const struct fit_options *opt;
    struct fit_result *res;
    struct fit_error *err;
    size_t p, q, ng;
    double *lower, *upper, *start, *theta, *best, *began_at, *before, *B, *g, *linear, *factor, *save, *second;
    struct fit_sketch *sketch; /* of the cost around the result, while profiles are looked at; or NULL */
    int sketch_trusted; /* 1: near the minimum it represents the data, when a rise is multiplied by sketch_scale */
    double sketch_scale;
    struct fit_evidence evidence; /* what looks at the cost around the result have met */
    double *better;  /* a point of lower cost than that of the fit, found by the profile of a parameter */
    int found_lower; /* 1: there is one */
    double *curvature; /* second derivatives that B omits, where the fit needed them (nlsq.h); otherwise NULL */
    double *open_lower, *open_upper; /* the bounds as given; lower and upper may hold more (redundant.c) */
    char origin[48];
    struct fit_objective_setup setup;
    struct fit_objective *obj;
    struct fit_nlsq *nlsq;
    struct fit_dataset *thin; /* for trials of which few lead anywhere, and its objective; or NULL */
    struct fit_objective *thin_obj;
    struct fit_candidates list;
    struct fit_start *starts; /* what was followed; theta: one block each */
    size_t nstart;
    struct fit_minimum *minima; /* what runs on all data came to; the same */
    size_t nminimum;
    double *axis; /* work space of axis.c, and: */
    signed char *axis_state;
    int over;          /* 1: stopped from outside, or time or iterations are used up: no more runs */
    double noise_data; /* variance of the data's noise, without a model, perhaps doubtful; NaN: unknown */
    double noise_error; /* its relative standard error */
    struct fit_local_noise *local; /* ng */
    double began, deadline, dof, noise; /* noise: known variance of weighted residuals, or 0 */
    double unit;   /* variance to which sum w r^2 is referred: 1, or the given sigma squared */
    double robust; /* cost with the robust loss; NAN: linear */
    double curve;  /* mean of psi' of the robust loss */
    double majorant; /* its curvature at the minimum, as a part of its majorant's */
    double huber;  /* factor on (J^T J)^-1 for the robust loss */
    double square; /* sum w r^2 with the robust loss */
    double median; /* of |r| with it, in units of the noise that it took */
    double *shrink; /* hierarchical scaling: of setup */
    size_t *linear_class;
    struct fit_arena storage;
};

/* Result of the best run. */
struct fit_outcome {
    enum fit_word word;
    const char *reason;
    double cost, gradient;
    size_t iterations, accepted;
    double thin, thin_dof; /* variance on the thinned data from which it came; NaN: none */
    char origin[48];
};

/* 1: x[k] is on a bound of a free parameter. */
static inline int fit_ls_on_bound(const struct fit_ls *f, size_t k, const double *x)
{
    return f->upper[k] > f->lower[k] && !(x[k] > f->lower[k] && x[k] < f->upper[k]);
}

/* With pairs of so many frames, finer thinned data still cost little compared with all data. */
enum { FIT_LS_LARGE = 400 };
static inline int fit_ls_is_large(const struct fit_ls *f)
{
    return f->kernel->space == FIT_PAIRS && f->ds->layout.nframe >= FIT_LS_LARGE;
}

/* ---- fit/fit.c --------------------------------------------------------------------------- */

/* The noise that is known before anything is computed. */
struct fit_ls fit_ls_begin(const struct fit_kernel *kernel, const struct fit_dataset *ds, const struct fit_options *opt,
                           struct fit_result *res, struct fit_error *err);

/* ---- minimum.c --------------------------------------------------------------------------- */

/* Runs the optimiser on all data from theta, at most so many iterations; result in f->nlsq. */
enum fit_word fit_ls_optimise(struct fit_ls *f, double *theta, size_t iterations);
/* The same for a rival or a trial, which may use up its iterations without ending the search (f->over). */
void fit_ls_try(struct fit_ls *f, double *theta, size_t iterations);
/* Only a few steps: no derivatives at their end, where fit_objective_value() is the last call. FIT_EVAL_STOP:
 * interrupted. */
enum fit_eval fit_ls_step(struct fit_ls *f, double *theta, size_t iterations);
/* The result of the optimiser becomes the best so far. */
void fit_ls_keep(struct fit_ls *f, struct fit_outcome *o);
/* Searches for starts and fits; repeats the search, wider, while the residuals exceed the noise. */
enum fit_status fit_ls_minimum(struct fit_ls *f, struct fit_outcome *o);

/* Stopped from outside: nothing more is tried. */
static inline int fit_word_ends(enum fit_word w)
{
    return w == FIT_INTERRUPTED || w == FIT_MAX_ITERATIONS;
}

/* ---- bad_row.c ----------------------------------------------------------------------------- */

/* Describes the first row of a table at which the value or a derivative is not finite; 0 when there is none, or the
 * model is of pairs. */
int fit_ls_blame(const struct fit_ls *f, const double *theta, char *text, size_t size);

/* ---- redundant.c ----------------------------------------------------------------------------- */

/* Holds redundant parameters at their start; to be called once, before the search. */
enum fit_status fit_ls_hold(struct fit_ls *f);
/* 1 when at theta bounds prevent the others from compensating for a held parameter. */
int fit_ls_held_is_needed(const struct fit_ls *f, const double *theta);
/* Restores all bounds to the given ones. */
void fit_ls_release(struct fit_ls *f);

/* ---- rate_escape.c ----------------------------------------------------------------------------- */

/* Where amplitude or offset of the rate has ended on a bound at f->best: searches for a better point along the
 * rate's valley. *found = 1: the last run of the optimiser; kept in *o. FIT_ERR_MEMORY. */
enum fit_status fit_ls_escape(struct fit_ls *f, const struct fit_rate *rate, struct fit_outcome *o, int *found);

/* ---- noise.c ----------------------------------------------------------------------------- */

/* Known sigmas that differ become group factors; equal ones only set the unit. */
void fit_ls_known_sigmas(struct fit_ls *f);
/* Noise of the result; groups with different noise are weighted, and the fit is run again. */
enum fit_status fit_ls_noise(struct fit_ls *f, struct fit_outcome *o);
/* The fit with a robust loss, started from the linear one. */
enum fit_status fit_ls_robust(struct fit_ls *f, struct fit_outcome *o);
/* The same from f->best and the linear parameters of the objective, with the sigma that was found before. */
enum fit_status fit_ls_robust_again(struct fit_ls *f, struct fit_outcome *o);
/* Value and derivatives at its end, for the covariance. */
enum fit_eval fit_ls_robust_normal(struct fit_ls *f);

/* Afterwards, for exploring the cost around the minimum: the objective becomes the sum of squares with the gradient
 * and the mean curvature of the robust cost there, B and g its derivatives; a rise of chi2 is measured in *variance. */
enum fit_eval fit_ls_robust_paraboloid(struct fit_ls *f, double *variance);

/* ---- fit_goodness.c --------------------------------------------------------------------------- */

/* The noise of the data before the search: local, noise_data, noise_error. */
enum fit_status fit_ls_local(struct fit_ls *f);
/* chi2, residual variance and cost of a sum of squares. */
void fit_ls_costs(struct fit_ls *f, double square, double cost);
/* After the tests of the residuals: the noise with which they are compared, reduced_chi2 and related results. */
enum fit_status fit_ls_goodness(struct fit_ls *f);

/* ---- scaling_hierarchy.c ----------------------------------------------------------------------------- */

/* After the fit with values of every group: estimates their spread, and fits again with shrinkage. */
enum fit_status fit_ls_hierarchy(struct fit_ls *f, struct fit_outcome *o);

/* Mean and variance of a population from n values whose errors have the covariance V (n x n), by restricted
 * maximum likelihood; work: V is overwritten.  Returns 0, or 1 when V is not a covariance. */
int fit_reml(size_t n, const double *value, double *V, double *mean, double *variance);
