/* fit_types.h -- options and results of one least-squares fit (fit/fit.h): parameters with errors.
 *
 * Minimises cost = 1/2 sum_n w_n (y_n - mean_n(theta, lin))^2 over the nonlinear parameters theta inside their bounds;
 * the linear parameters lin are eliminated by variable projection inside theirs (objective.h). The optimiser is a
 * trust-region method that keeps to the box (nlsq.h); starting points are found from the data (start.h); errors come
 * from the full J^T J, linear parameters included (covariance.h).
 *
 * Order of the full vector, used by std, covariance, correlation and at_bound:
 *     theta[0..nparam), then lin[g*nlinear + q] for g < ngroup, q < nlinear: nfull numbers.
 * A linear parameter shared by all groups (fit_param.over = -1, or averaged scaling) occurs there once per group, with
 * equal numbers and correlation 1.
 *
 * Fixed parameters have std 0 and covariance 0. Parameters on a bound are held there: std NaN, covariance NaN.
 * Parameters with a component along an undetermined direction have std NaN, covariance NaN (never the numbers of a
 * pseudo-inverse); so have parameters that are not identifiable in the model here (see fit_result.degenerate), and
 * those where the cost is far from quadratic (see fit_result.interval).
 */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "data/dataset.h"
#include "fit/kernel.h"
#include "leastsquares/local_noise.h"

enum fit_loss {
    FIT_LOSS_LINEAR,  /* rho(z) = z: least squares;  z = (r / (f_scale sigma))^2 */
    FIT_LOSS_SOFT_L1, /* 2 (sqrt(1 + z) - 1) */
    FIT_LOSS_HUBER,   /* z up to 1, then 2 sqrt(z) - 1 */
    FIT_LOSS_CAUCHY,  /* ln(1 + z) */
    FIT_LOSS_ARCTAN   /* arctan(z) */
};

/* Treatment of linear parameters that the model declares per group. */
enum fit_scaling {
    FIT_SCALING_INDIVIDUAL, /* one per group */
    FIT_SCALING_CONSTANT,   /* held at the given values */
    FIT_SCALING_AVERAGED,   /* one for all groups */
    FIT_SCALING_FOURIER,    /* series in the first axis: by a linkage (linkage.h); fit_run takes it for
                               individual */
    FIT_SCALING_HIERARCHICAL /* one per group, all but the intercept drawn to their common mean by as much
                                as their spread over the groups asks for (scaling_hierarchy.c) */
};

enum fit_word {
    FIT_CONVERGED_GRADIENT, /* the gradient predicts a step of less than gtol standard errors */
    FIT_CONVERGED_COST,     /* the cost cannot be lowered by more than ftol of itself */
    FIT_CONVERGED_STEP,     /* steps have become shorter than xtol of the parameters */
    FIT_AT_BOUND,           /* converged by one of these tests, with a parameter on a bound */
    FIT_MAX_ITERATIONS,     /* stopped by max_iterations or max_seconds */
    FIT_FAILED,             /* no finite cost at the start, or no step lowers the cost */
    FIT_INTERRUPTED         /* by the callback or *interrupt; the best point so far is given */
};

/* Noise of two-time values. */
enum fit_noise_kind {
    FIT_NOISE_KIND_AUTO,    /* the correlation of values that share a frame decides */
    FIT_NOISE_KIND_WHITE,   /* independent */
    FIT_NOISE_KIND_SPECKLE, /* that of speckles */
    FIT_NOISE_KIND_MONITOR  /* that of speckles, with frames divided by a monitor, not by their own means */
};
struct fit_noise_model {
    enum fit_noise_kind kind;
    double count, shot; /* of every group, if known; otherwise 0: from the residuals (speckle/noise.h) */
};

/* Which equations make the estimates of a two-time model whose noise is that of speckles (fit/efficient.h). */
enum fit_estimator {
    FIT_ESTIMATOR_AUTO,          /* the efficient ones where the noise is known and both agree */
    FIT_ESTIMATOR_LEAST_SQUARES, /* all pairs weigh the same */
    FIT_ESTIMATOR_EFFICIENT      /* an error where they are not possible */
};

/* Reported after every iteration of the final fit, in the thread that called fit_run. */
struct fit_progress {
    size_t iteration;
    double chi2;     /* sum w r^2 */
    double step;     /* length of the last accepted step, in standard errors */
    double gradient; /* distance to the minimum predicted by the gradient, in standard errors */
    double seconds;  /* since fit_run began */
    const char *phase; /* NULL: an iteration; else what begins now ("errors"), and all others are 0 */
};
typedef int fit_progress_fn(void *user, const struct fit_progress *p); /* nonzero: stop */

struct fit_options {
    size_t max_iterations; /* of one run of the optimiser; default 200 */
    double ftol;           /* relative change of cost; default 1e-14. 1e-13 and less: continues while the gradient
                            * falls, because the cost cannot resolve more */
    double xtol;           /* step relative to the parameters' size; default 1e-12 */
    double gtol;           /* distance to the minimum in standard errors; default 1e-6 */
    enum fit_loss loss;    /* default linear */
    double f_scale;        /* in standard deviations of the noise; default 1 */
    enum fit_scaling scaling;
    enum fit_estimator estimator;
    struct fit_noise_model noise_model;
    int threads;           /* 0: physical cores, inside affinity mask and quota of the cgroup */

    /* All of the following arrays are borrowed; NULL means: none given. */
    const double *start;        /* nparam; NaN: the model's own start */
    const char *start_origin;   /* what to call it; NULL: "given" */
    const double *lower;        /* nparam; NaN: the model's own bound */
    const double *upper;
    const unsigned char *fixed; /* nparam; nonzero: held at its start */
    const double *linear_lower; /* nlinear; NaN: the model's own bound */
    const double *linear_upper;
    const unsigned char *linear_fixed; /* nlinear; nonzero: held at linear_start in every group */
    const double *linear_start; /* ngroup x nlinear; NaN: the model's own start, or with constant
                                   scaling the best at the start.  Values of constant scaling and of
                                   fixed linear parameters; otherwise used only where the data do
                                   not determine a linear parameter */
    const size_t *linear_class; /* ngroup x nlinear: groups with equal numbers share a value of that linear
                                   parameter; NULL: each has its own */
    const double *sigma;        /* ngroup; known standard deviation of the noise per group (for
                                   unweighted data only); makes errors absolute */

    const struct fit_minimiser *minimiser; /* what follows starts on all data; NULL: nlsq.h.  Borrowed */

    int start_only;     /* nonzero: no search for starting points */
    size_t multi_start; /* starting points followed to their minima; 0: as few as needed */
    int global;         /* nonzero: the whole box is searched as well, by an evolution strategy */
    uint64_t seed;      /* of the search for starting points */

    int brief; /* nonzero: no robust errors, no look at the cost around the minimum: for fits in great number */
    const size_t *likelihood; /* nlikelihood places in the full vector, behind them those of fit_result.derived:
                                 profiles that are wanted (likelihood.h, derived_profile.h) */
    size_t nlikelihood;

    int of_pairs; /* nonzero: rows are equations of a two-time model, whose errors are judged as those of pairs */
    int few_data_allowed; /* nonzero: more parameters than values are no error: priors will follow */

    size_t cluster_length; /* frames of a cluster for the robust errors; 0: from the residuals */
    int cluster_joint;     /* nonzero: errors of different groups may be correlated (they share pixels) */

    fit_progress_fn *progress;
    void *progress_user;
    double max_seconds;                     /* 0: no limit */
    const atomic_int *interrupt;            /* nonzero value: stop; may be NULL.  Atomic, for it is set by
                                               handlers of signals and read by threads */
};

enum fit_noise_source {
    FIT_NOISE_FILE,      /* weights of the data set: absolute */
    FIT_NOISE_GIVEN,     /* fit_options.sigma: absolute */
    FIT_NOISE_RESIDUALS, /* estimated from the residuals at the optimum */
    FIT_NOISE_LAW        /* the kernel has a density: maximum likelihood; chi2 is -2 log L */
};

/* A degeneracy of the model (fit_kernel.degeneracy) that concerns this fit. */
struct fit_degenerate {
    size_t which;   /* its index in the kernel */
    char text[480]; /* in words, with numbers */
};

/* A rate A t^E + C at one time, and its slope by ln t there, with standard errors (NaN: not determined). */
struct fit_rate_value {
    size_t amplitude, exponent, offset; /* parameters */
    double time;                        /* s */
    double value, std;                  /* in the unit of the offset */
    double slope, slope_std;
    int needed; /* 1: A, E and C by themselves are not determined by the data */
};

/* A derived quantity (fit_kernel.derived), of one group or of all. */
struct fit_derived_value {
    size_t which; /* its number in the kernel */
    long group;   /* -1: of all */
    double value;
    double std, std_robust; /* NaN: there is none (std_robust: as those of parameters) */
    double wider;           /* as fit_interval.wider */
    int by_one;             /* 0: intervals are those of std; else FIT_INTERVAL_*: its one parameter's, carried over: */
    double lower[2], upper[2]; /* 68, 95 %; NaN: an end that the data do not set */
    char reason[480];       /* std NaN: why; else "" */
    double *gradient;       /* nfull */
    double spread; /* standard error by J^T J without undetermined directions; NaN: it has a component along one */
};

/* One starting point that was followed. */
struct fit_start {
    char origin[48];    /* "given", "model", "data-driven: point 17", ... */
    double *theta;      /* nparam: where it began */
    double cost_start;  /* cost on all data at its beginning (NaN: not followed there) */
    double cost_final;  /* cost at its end, on the data set on which it was given up or finished */
    int full;           /* 1: followed on all data */
};

/* A minimum of the sum of squares on all data. Two are distinct when chi2 or, in standard errors, the parameters
 * differ. */
struct fit_minimum {
    char origin[48]; /* of the start from which it was found first */
    double *theta;   /* nparam */
    double cost;
    double above;    /* chi2 above that of the best, in units of the noise */
    int inside;      /* 1: so little that its parameters belong to the joint answer: below the 95 % limit of one
                      * parameter (likelihood.h); the best is */
    size_t found;    /* runs that ended there */
    int idle;        /* 1: no nonlinear parameter has an effect there; told only when it is the best */
};

/* How errors for correlated noise (sandwich.h) were found. */
enum fit_robust_kind {
    FIT_ROBUST_NONE,   /* there are none */
    FIT_ROBUST_FRAMES, /* clusters of frames */
    FIT_ROBUST_ROWS,   /* HC3: rows independent, of different noise */
    FIT_ROBUST_SPECKLE, /* the covariance of speckle noise in closed form (speckle/noise.h) */
    FIT_ROBUST_WHITE,   /* residuals of pairs that share a frame are not correlated: the standard errors */
    FIT_ROBUST_WITHHELD /* none would be valid: `reason`; residuals were tested */
};
struct fit_robust {
    enum fit_robust_kind kind;
    char reason[400];        /* WITHHELD: "fewer than ..." */
    size_t length, clusters; /* frames: of one cluster; clusters in all groups */
    int closed;              /* 1: the noise is that of speckles of this model, with known parameters */
    int misfit;              /* 1: it would be, except for the test of fit */
    const char *not_closed;  /* why it is not, if tested; otherwise NULL */
    int clipped;             /* 1: J was not positive definite; some directions have the standard error */
    double eta;              /* number of parameters / tr(H^-1 J): 1 for independent noise, below 1 the fraction of
                              * the values that count (exponent of a power likelihood) */
};

/* 1: there are robust errors. */
static inline int fit_robust_given(const struct fit_robust *r)
{
    return r->kind != FIT_ROBUST_NONE && r->kind != FIT_ROBUST_WITHHELD;
}

/* Noise of the two-time values of one group, from differences of neighbouring residuals (speckle/noise.h). */
enum fit_speckle_known {
    FIT_SPECKLE_UNKNOWN, /* not looked at, or too few values */
    FIT_SPECKLE_SHOT,    /* shot noise outweighs the speckles: only shot^2 / count is known (noise) */
    FIT_SPECKLE_BOTH
};
struct fit_speckle_noise {
    enum fit_speckle_known known;
    double count, count_std; /* speckles that were averaged */
    double shot, shot_std;   /* shot noise of one frame and pixel, in units of its mean squared */
    double shared_std; /* of 1 / shot, relative: what values of a frame share, over shot noise alone, goes with it */
    double noise;            /* standard deviation of a value by shot noise alone: shot / sqrt(count) */
    double contrast;         /* of the model: c2 at equal times, less the baseline */
    double frames;           /* lag at which the model's c2 has decayed to 1/e, in frames, mean over ages */
    double longest;          /* the same, or longer: of the component that remains in the second half of the data */
};

/* Test of fit: sums of residuals over bins of lag and age compared with their covariance under this noise; and
 * outliers (speckle/outliers.h). */
struct fit_speckle_test {
    double p, chi2; /* NaN: not tested; p of the bins, or of outliers where these decide */
    size_t rank;    /* degrees of freedom */
    double z;       /* the bin with the largest deviation, in its standard deviations, and its position: */
    long group;     /* -1: sum over all groups */
    double lag[2], age[2]; /* s */
    double kurtosis, expected; /* 0; or p is that of outliers of group `of`, most near the frame at `near` s */
    double near;
    size_t of;
};

/* Values that the data allow: one interval or, where several minima fit, several, ascending. */
struct fit_piece {
    double lower, upper;
    signed char open_lower, open_upper; /* 1: the data set no limit before the bound; 2: none within the explored
                                         * range */
};
enum { FIT_PIECES = 6 };
struct fit_union {
    size_t n;
    struct fit_piece piece[FIT_PIECES];
};

/* Profile likelihood of one parameter: the minimum of chi2 over the others, as a function of its value. */
enum { FIT_LIKELIHOOD_POINTS = 64 };
struct fit_likelihood {
    size_t which;           /* index in the full vector; nfull + k: derived quantity k of the result */
    size_t n;               /* points of the curve, increasing */
    double limit[2];        /* limits of the square root of the rise: ends of the 68 and 95 % intervals */
    double value[FIT_LIKELIHOOD_POINTS], rise[FIT_LIKELIHOOD_POINTS]; /* chi2 above the minimum, in units of the
                                                                       * noise */
    double lower[2], upper[2]; /* ends of the intervals of 68 and 95 % */
    int open_lower[2], open_upper[2]; /* 1: the interval ends at the bound, beyond which nothing was explored */
    struct fit_union part[2];  /* the same, with the gaps between several minima */
    int one_sided;          /* -1, 1: the best value stands on the lower, upper bound: limits toward the other side */
    int lower_cost;         /* 1: a better minimum was met; the intervals are meaningless */
    double better;          /* then: the value of the parameter there */
    char text[480];         /* the intervals in words */
};

/* Residuals z = sqrt(w) r of one group; each 0, 0, 0, 3 and 1 for independent normal noise; NaN: no such pairs. */
enum { FIT_RESIDUAL_DECILES = 10 };
struct fit_residual_test {
    double along_lag; /* correlation of (t1, t2) and (t1, t2 + 1); rows: of neighbours by the first covariate */
    double along_age; /* of (t1, t2) and (t1 + 1, t2 + 1) */
    double sharing;   /* of any two pairs with the same t1 */
    double kurtosis;
    struct fit_noise_sums neighbours; /* pairs: squares of differences along the age (local_noise.h) */
    double decile[FIT_RESIDUAL_DECILES]; /* variance by lag, relative to that of all */
};

/* The strongest structure of the residuals of pairs that independent noise does not explain (misfit.h). p is the
 * probability of anything as strong, over all templates. */
enum fit_misfit_kind { FIT_MISFIT_BINS, FIT_MISFIT_SMOOTH, FIT_MISFIT_DRIFT };
enum fit_misfit_along { FIT_ALONG_LAG, FIT_ALONG_AGE, FIT_SHARING };
struct fit_misfit {
    double p;             /* of both; NaN: not looked at */
    double p_bins, z;     /* sums over bins: the largest deviation, in its standard deviations */
    double mean;          /* mean residual there, in standard deviations of residuals */
    enum fit_misfit_kind kind;
    long group;           /* -1: all together */
    double lag[2], age[2]; /* s: where it is */
    size_t tests;         /* templates */
    double p_neighbours, rho, rho_z; /* products of neighbours: the most significant correlation */
    enum fit_misfit_along along;
};

/* The interval that the cost itself allows (profile.h), with 68 and 95 %. */
struct fit_interval {
    int known;                                /* 0: not looked at */
    double lower[2], upper[2];                /* ends of the union */
    signed char open_lower[2], open_upper[2];
    int cut;                                  /* 1: a bound cuts it, and there is therefore no error */
    int several;                              /* 1: other minima fit, or nearly so (3 sigma), far from this one */
    struct fit_union part[2];
    double wider; /* effect of the noise that residuals share: ratio of robust to standard error, 1 where there is
                   * none */
};

/* The estimates in the result, and the difference between least squares and the efficient ones. */
struct fit_estimates {
    enum fit_estimator used; /* LEAST_SQUARES or EFFICIENT */
    char reason[200];        /* LEAST_SQUARES, where others were not excluded: why; otherwise "" */
    int compared;            /* 1: there are both; of those that are not in the result: */
    double *other, *other_std; /* nfull: values, standard errors */
    double p, chi2;          /* Hausman's test of their difference */
    size_t rank;
    double groups_p, groups_chi2; /* of the efficient ones: do the groups agree?  NaN: there is one */
    size_t groups_rank;
};

struct fit_result {
    enum fit_word status;
    int converged; /* 1 for the three convergence words and FIT_AT_BOUND */
    char message[256]; /* one sentence about how it ended */
    size_t iterations, accepted; /* of the run that led to the result */
    size_t evaluations, normals; /* passes over all data without, with derivatives, of all runs */

    size_t nparam, nlinear, ngroup, nfull;
    double *theta; /* nparam */
    double *lin;   /* ngroup x nlinear, in the units of the data (no reference subtracted) */
    double *spread; /* nlinear: hierarchical scaling: standard deviation of the groups' values about their mean;
                       0: none seen, one value for all groups; NaN: not estimated */
    size_t nfree;  /* independent parameters that were fitted, linear ones included */
    size_t npoint; /* data points that count */

    double cost;         /* 1/2 sum w rho; w as used in the fit */
    double chi2;         /* sum w r^2, w = 1 / sigma^2 where sigma is known (file, given), else 1 (times the factors of
                            reweighted groups).  FIT_NOISE_LAW: sum (y - mean)^2 / variance where the mean makes the
                            variance, else NaN */
    double log_likelihood; /* FIT_NOISE_LAW; else NaN */
    double residual_variance; /* chi2 / (npoint - nfree) */
    double reduced_chi2; /* residual_variance divided by the variance of the noise: known, or of neighbouring values;
                          * near 1 when the model explains the data; NaN: */
    const char *reduced_chi2_reason; /* why there is none; NULL */
    double reduced_chi2_error; /* its standard error for a true model and independent noise */
    double local_sigma;  /* pairs: noise of neighbouring values (local_noise.h), in the units of the weighted residuals,
                            all groups; NaN: unknown */
    double *local;       /* ngroup: the same of each, in the unit of the data (of their weights) */
    double bulk; /* of a robust loss: reduced_chi2 from the median of the residuals, which a few outliers do not
                  * move; NaN: linear loss, or unknown */
    double *sigma;       /* ngroup: standard deviation of the noise; with weights from the file, of
                            the weighted residuals (1 when the file's errors are right) */
    double sigma_common; /* the same for all groups together */
    double *against;     /* ngroup: what residuals are compared with: 1 with weights from the file, the given sigma,
                          * otherwise that of the residuals themselves */
    enum fit_noise_source noise;
    int reweighted;      /* 1: groups differ in noise by more than 20 %; weights 1/sigma^2 */
    char noise_text[256];

    double *std;         /* nfull */
    double
        *std_curvature;  /* nfull: from the curvature, also where that is invalid and std is therefore NaN
                          * (profile.h) */
    double *profile;     /* nparam: 1/1.96 of how far the interval of 95 % reaches; the paraboloid's where that reaches
                            further by less than two times; INFINITY: open; where it was not looked at, std */
    struct fit_interval *interval; /* nfull */
    double *std_robust;  /* nfull: as std, for correlated noise; all NaN when robust.kind is NONE */
    double *covariance_robust; /* nfull x nfull */
    double *paraboloid,
        *paraboloid_robust; /* both covariances as std_curvature: also where the paraboloid does not hold */
    size_t nlikelihood;
    struct fit_likelihood *likelihood;
    struct fit_robust robust;
    size_t aliased; /* parameter that the frames cannot distinguish from its aliases (aliases.h); nparam: none */
    struct fit_speckle_noise *speckle; /* ngroup */
    struct fit_speckle_test speckle_test;
    struct fit_estimates estimates;
    double *first_frame; /* nparam: pairs: distance of the fit from that without the pairs of the first frame, to
                          * first order; otherwise 0 */
    double *first_frame_std; /* nparam: scatter of first_frame for a true model and independent noise; otherwise 0 */
    struct fit_residual_test *residual; /* ngroup */
    struct fit_misfit misfit;
    double *covariance;  /* nfull x nfull; scaled by the estimated noise unless it is absolute */
    double *correlation; /* nfull x nfull */
    signed char *at_bound; /* nfull: -1 lower, +1 upper, 0 inside */
    double *lower, *upper; /* nfull: bounds in effect */
    double *start;         /* nparam: the starting point that led here */
    char start_origin[48];
    double gradient;       /* distance to the minimum by the gradient, in standard errors */

    size_t nstart;
    struct fit_start *starts;
    size_t nminimum, room_minimum; /* the best first; of the runs on all data, before reweighting and robust loss, and
                                      of the look at the cost after them */
    struct fit_minimum *minima;

    /* Identifiability: eigenvalues, ascending, of J^T J of the free nonlinear parameters after
     * elimination of the linear ones, scaled to a unit diagonal; vector[k*nparam + j] is the
     * component along theta_j * scale[j] of the k-th eigenvector (0 for parameters that are fixed
     * or on a bound). A direction with eigenvalue < 1e-12 of the largest is not determined by the
     * data. */
    size_t neigen, nnull;
    double *eigenvalue; /* neigen */
    double *eigenvector; /* neigen x nparam */
    double *scale;      /* nparam: square roots of the diagonal of J^T J */
    double *normal_matrix; /* nparam x nparam: projected J^T J, in the weights of the fit */
    double variance;    /* covariance = variance times the inverse of normal_matrix */

    /* Degeneracies of the model that concern this result. The errors of their parameters are withheld (NaN):
     * reason[k] is the index in `degenerate` of the one that explains the NaN of parameter k of the full vector, or
     * -1. Combinations of parameters that stay determined, by their index in the kernel; NaN where none of their
     * degeneracies concerns the fit. */
    size_t ndegenerate;
    struct fit_degenerate *degenerate;
    long *reason;            /* nfull */
    double *combination;     /* kernel->ncombination */
    double *combination_std;
    size_t ncombination, room_degenerate; /* sizes of these arrays */

    /* Rates A t^E + C: their determined values (rate_value.h). */
    size_t nrate, room_rate;
    struct fit_rate_value *rate;

    size_t nderived;
    struct fit_derived_value *derived;

    int threads;
    struct {
        double start, fit, covariance, total;
    } seconds;
    struct fit_arena storage_; /* everything above */
};

enum fit_bootstrap_kind { FIT_BOOTSTRAP_NONE, FIT_BOOTSTRAP_PARAMETRIC, FIT_BOOTSTRAP_BLOCK }; /* fit/bootstrap.h */

/* "converged_gradient", "converged_cost", "converged_step", "at_bound", "max_iterations", "failed",
 * "interrupted" */
const char *fit_word_name(enum fit_word w);

/* "file", "given", "residuals", "law" */
const char *fit_noise_name(enum fit_noise_source source);

/* "linear", "soft_l1", "huber", "cauchy", "arctan" */
const char *fit_loss_name(enum fit_loss loss);

/* "auto", "least-squares", "efficient" */
const char *fit_estimator_name(enum fit_estimator e);

/* "none", "parametric", "block" */
const char *fit_bootstrap_word(enum fit_bootstrap_kind kind);
