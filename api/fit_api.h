/* fit_api.h -- compiled models for other programs and languages: values, derivatives, fits of arrays.
 *
 * The interface of the shared library libhomodyne-gen.so (pkg-config: homodyne-gen). A model is opened by name or file;
 * a problem is a model on a geometry, with measured values or without; a fit is the result of one.
 *
 *     struct fit_api_model *m = fit_api_open("laminar", NULL);
 *     struct fit_api_problem *p = fit_api_problem_new(m, &data);
 *     const struct fit_api_result *r = fit_api_fit(p, NULL);
 *
 * Only one thread at a time may fit a problem. Functions that can fail return NULL or a nonzero status;
 * fit_api_message() then gives the position, the mistake and the remedy. Nothing is printed, no signal is touched,
 * nothing ends the process. Different threads may use different objects at the same time, and may share a model.
 * Structures begin with their size, so that a library with more members serves programs compiled before.
 *
 * Names: parameters are the nonlinear ones (D0, alpha, ...); linear parameters (contrast, offset) have a value for each
 * group: an azimuth of two-time data, a curve of a table. Units are those of the model, see fit_api_item.
 */
#ifndef FIT_API_H
#define FIT_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FIT_API_VERSION 1 /* changes when programs must be compiled anew */

struct fit_api_model;
struct fit_api_problem;

/* FIT_API_VERSION of the library in use: compare it with that of the header. */
int fit_api_version(void);
const char *fit_api_release(void); /* of homodyne-gen: "0.1.0" */

/* Statuses of functions that return int; 0 is success. */
enum fit_api_status {
    FIT_API_OK,
    FIT_API_USAGE,    /* arguments, names of models and options */
    FIT_API_CONFIG,   /* model and options disagree */
    FIT_API_DATA,     /* arrays: their values or shapes */
    FIT_API_IO,       /* a file cannot be read */
    FIT_API_MEMORY,
    FIT_API_NUMERIC,  /* no finite value at these parameters */
    FIT_API_INTERNAL,
    FIT_API_INTERRUPTED
};

/* Message of the last failed call in this thread; valid until the next one. */
const char *fit_api_message(void);
enum fit_api_status fit_api_status(void);

/* ---- data files ------------------------------------------------------------------------------ */

/* Two-time data of every layout that the programs know (docs/aps-to-paper.md), or a table. */
enum fit_api_file_kind { FIT_API_ANY, FIT_API_PAIRS, FIT_API_TABLE };

struct fit_api_file_options {
    size_t size;
    enum fit_api_file_kind kind;
    const char *layout, *dataset; /* NULL: found out */
    const char *const *columns,
        *const *units; /* "q", "/path", "phi", "/path", ..., NULL; "q", "nm^-1", ..., NULL; or NULL */
    double q, dt;      /* 1/angstrom: the nearest, NaN: every q; s, NaN: the file's */
    size_t nphi;
    const double *phi; /* degrees: the nearest to each; none: all */
    long first, last;  /* frames, from 1, ends included; 0: all */
};

struct fit_api_file {
    size_t size;
    const char *layout; /* "table": the columns below; else matrices */
    size_t nmatrix, nframe;
    const double *value, *sigma; /* nmatrix x nframe x nframe, both triangles; sigma NULL: the file has none */
    const double *q, *phi;       /* nmatrix: 1/angstrom, degrees; NaN: not told */
    const double *time;          /* nframe, s from the first; NULL: unknown */
    double dt;                   /* s; NaN: not told */
    long first;                  /* number of the first frame in the file */
    size_t nrow, ncolumn;
    const char *const *column_name, *const *column_unit; /* units may be NULL */
    const double *const *column;                         /* ncolumn arrays of nrow */
    size_t nnote;
    const char *const *note; /* notes for the user on how it was read */
};

/* options: NULL for the whole file. NULL: see fit_api_message. */
const struct fit_api_file *fit_api_load(const char *file, const struct fit_api_file_options *options);
void fit_api_file_free(const struct fit_api_file *file); /* NULL is allowed */

/* ---- models ---------------------------------------------------------------------------------- */

/* name: "laminar", of the models beside the library (fit_api_folder), or the path of a shared object. A path
 * contains a '/'; the object is loaded into this process, so use only trusted ones. variant: NULL for "fast";
 * "parity", ... */
struct fit_api_model *fit_api_open(const char *name, const char *variant);
void fit_api_close(struct fit_api_model *m); /* after its problems; NULL is allowed */

/* The folder in which models are searched for by name: NAME.so. */
const char *fit_api_folder(void);

enum fit_api_text { FIT_API_NAME, FIT_API_VARIANT, FIT_API_TITLE, FIT_API_FORMULA, FIT_API_REFERENCE, FIT_API_HASH,
                    FIT_API_ISA };
const char *fit_api_text(const struct fit_api_model *m, enum fit_api_text which); /* NULL: no such text */

int fit_api_is_pairs(const struct fit_api_model *m); /* 1: pairs of frames; 0: rows of a table */

enum fit_api_kind { FIT_API_PARAM, FIT_API_LINEAR, FIT_API_SETTING, FIT_API_AXIS, FIT_API_COLUMN };
/* Number of items of a kind in the model. */
size_t fit_api_count(const struct fit_api_model *m, enum fit_api_kind kind);

/* Strings live as long as the model. */
struct fit_api_item {
    size_t size;
    const char *name, *unit, *doc; /* unit "1": dimensionless */
    double start, lower, upper;    /* parameters; start: default of a setting, NaN: there is none */
    int per_group;                 /* linear parameters: 1: one for each group */
    int role;                      /* columns: 0 covariate, 1 measured value, 2 its standard deviation */
};
/* *item <- the i-th of a kind, i < fit_api_count(); item->size is set before.  Returns a status. */
int fit_api_item(const struct fit_api_model *m, enum fit_api_kind kind, size_t i, struct fit_api_item *item);

/* ---- units ----------------------------------------------------------------------------------- */

/* All numbers of this interface are in the units that the model declares, times in s. These two functions convert
 * other units; both return a status, FIT_API_DATA with both units named when `from` (or the unit after the number)
 * is not of the kind of `unit`. */

/* "0.054 nm^-1", "200 um", "0.5": *value <- the number in `unit`; a number without a unit is in `unit` already. */
int fit_api_quantity(const char *text, const char *unit, double *value);

/* A number x in the unit `from` is x * *times / *over in `unit`. */
int fit_api_unit(const char *from, const char *unit, double *times, double *over);

/* ---- geometry and data ----------------------------------------------------------------------- */

/* All arrays are copied (value and sigma: the used part). */
struct fit_api_data {
    size_t size;           /* sizeof(struct fit_api_data) */
    const double *setting; /* all settings, in the model's units; NaN, or the array NULL: the model's default */

    /* Pairs of frames. */
    size_t ngroup;                 /* matrices */
    const double *const *coord;    /* one array of ngroup for each axis, in its unit */
    size_t ntime;                  /* frames of the time grid */
    const double *time;            /* s, increasing; NULL: 0, step, ...; heterodyne: step, 2 step, ... */
    double step;                   /* frame period, s */
    size_t nframe;                 /* frames that take part; 0: all */
    const uint32_t *frame;         /* their places in time, increasing */

    /* Rows of a table, in any order. */
    size_t nrow;
    const double *const *column; /* one array of nrow for each column; NULL for those that are not covariates */
    const double *const *axis;   /* one array of nrow for each axis; rows of equal coordinates are a group */

    /* Measured values; NULL: for evaluation only, with a model whose rows do not depend on earlier values. Pairs:
     * ngroup x ntime x ntime, of which i < j is read; rows: nrow. sigma: standard deviations in the same shape, or
     * NULL. Values that are not finite are ignored. */
    const double *value, *sigma;

    /* Several files in one problem: the file of each matrix or row; 0 or 1: one file. `setting` then has the
     * settings of every file, file after file, and the groups have one more axis, the number of their file from 1. */
    size_t nfile;
    const uint32_t *file; /* ngroup, or nrow: 0 .. nfile - 1, each of them at least once */

    /* Pairs of several files with different frame periods or first times, instead of time and step: nfile x ntime times
     * of the frames of every file (s, increasing; NaN behind its last frame; NULL: 0, step, ... for all ntime), and
     * nfile frame periods.  Both NULL: all files have time and step. */
    const double *file_time, *file_step;
};

/* The model must live as long as the problem.  NULL: see fit_api_message. */
struct fit_api_problem *fit_api_problem_new(const struct fit_api_model *m, const struct fit_api_data *data);
void fit_api_problem_free(struct fit_api_problem *p); /* NULL is allowed */

/* Groups of the data, and their coordinates along an axis of the model, which live as long as the problem; for
 * several files the axis after those of the model is the number of the file. */
size_t fit_api_groups(const struct fit_api_problem *p);
const double *fit_api_coord(const struct fit_api_problem *p, size_t axis); /* fit_api_groups() values */

/* Mean and, unless jacobian is NULL, its derivatives at param (nonlinear parameters) and linear (groups x linear
 * ones, row by row), with the full formula at every point.
 *     pairs: mean ngroup x n x n over the used frames, both triangles and the diagonal;
 *            jacobian ngroup x n x n x (parameters + linear parameters)
 *     rows:  nrow; nrow x (parameters + linear parameters); NaN for rows with covariates that are not finite
 * threads: 0: one for each core. Returns a status; FIT_API_NUMERIC when the model is not finite there. */
int fit_api_evaluate(const struct fit_api_problem *p, const double *param, const double *linear, int threads,
                     double *mean, double *jacobian);

/* ---- fits ------------------------------------------------------------------------------------ */

struct fit_api_progress {
    size_t size;
    const char *phase;  /* "least squares", "errors", ..., "sampling" */
    double done, total; /* iterations; total 0: nobody knows */
    double value;       /* least squares: chi2; sampling: divergences */
    double seconds;     /* since it began */
};
typedef int fit_api_progress_fn(void *user, const struct fit_api_progress *p); /* nonzero: stop, as *interrupt does */

/* Zero is the default of everything; arrays may be NULL, and NaN in them means the model's default. */
struct fit_api_options {
    size_t size;
    const double *start, *lower, *upper;      /* parameters */
    const unsigned char *fixed;               /* parameters: nonzero: held at start */
    const double *linear_start;               /* groups x linear parameters: values of the fixed ones */
    const double *linear_lower, *linear_upper;/* linear parameters */
    const unsigned char *linear_fixed;        /* linear parameters */
    const double *sigma;   /* groups: known standard deviation of the noise, for data without sigma */
    const char *loss;      /* "linear", "soft_l1", "huber", "cauchy", "arctan" */
    double f_scale;        /* where loss bends, in standard deviations; 1 */
    const char *scaling;   /* "individual", "averaged", "constant" or "hierarchical": linear parameters of groups */
    size_t max_iterations; /* 200 */
    double max_seconds;    /* 0: no limit */
    int start_only;        /* 1: no search for starting points */
    size_t multi_start;    /* number of starting points followed to the end; 0: as few as needed */
    int global;            /* 1: the whole box is searched as well */
    uint64_t seed;         /* of that */
    int threads;           /* 0: one for each core; the result has the same bits for any number */
    const volatile int *interrupt; /* another thread may set it: the fit stops at its best point */

    /* Since 0.1.0. also: further options in pairs, name and value (NULL: a switch), spelled like options of
     * `homodyne fit` without their dashes, ended by a name NULL: {"tie", "b=0.1*a", "share", "D0=per_angle", NULL}.
     * They take precedence over the members above. For fit_api_sample: draws, warmup, chains, method (nuts,
     * laplace), metric, target-accept, max-tree-depth. */
    const char *const *also;
    fit_api_progress_fn *progress; /* called by the thread that called */
    void *progress_user;

    /* By whom sums over the data are taken: a word of `homodyne info --devices` ("gpu", "auto", "cuda:1", "opencl:0",
     * "plain"); NULL, "cpu": the processor.  A device that is not there is an error; with "gpu" and "auto" the
     * processor is used, and the result's device_text says why.  The model keeps it open until fit_api_close. */
    const char *device;
};

/* Elements of the full vector, nfull = nparam + ngroup nlinear: parameters, then linear ones group by group. */
struct fit_api_result {
    size_t size;
    size_t nparam, nlinear, ngroup, nfull;
    size_t npoint, nfree;         /* values that count; parameters fitted */
    int converged;
    const char *status, *message; /* "converged_gradient", ...; a sentence */
    size_t iterations, evaluations;
    double chi2;                  /* sum w r^2, w = 1 / sigma^2 if known, else 1 */
    double residual_variance;     /* chi2 / (npoint - nfree) */
    double reduced_chi2; /* the same over the variance of the noise: near 1 when the model explains the data; NaN:
                            reduced_chi2_reason */
    double sigma_common, seconds;
    int threads;
    const double *param;          /* nparam */
    const double *linear;         /* ngroup x nlinear */
    const double *std; /* nfull; NaN: at a bound, not determined by the data, or no single number describes it: see
                        * interval */
    const double *std_robust;     /* nfull; for noise that pairs share; NaN: there are none */
    const double *covariance, *covariance_robust; /* nfull x nfull */
    const double *lower, *upper;  /* nfull: bounds in effect; equal: held */
    const signed char *at_bound;  /* nfull: -1 lower, 1 upper */
    const double *start;          /* nparam: the start of the run that led to this result */
    const double *sigma;          /* ngroup: standard deviation of the noise */
    const char *noise;            /* where that comes from, in words */

    /* With ties or values of groups (options.also) the fitted parameters differ from those of the model: their
     * names, nfull; the tied ones; and the model's own parameters in every group. */
    const char *const *name;
    size_t ntied;
    const char *const *tied_name;
    const double *tied, *tied_std;
    size_t nmodel, nmodel_linear;
    const double *group_param, *group_linear; /* ngroup x nmodel, ngroup x nmodel_linear */

    const double *std_curvature;  /* nfull: from the quadratic approximation at the minimum, whether it is valid or
                                   * not */
    const double *interval;       /* nfull x 4: lower, upper of 68 %, of 95 %; NaN: an end that the data do not set */

    const char *quality, *quality_text; /* "good", "poor", ... as in fit.json, and a sentence */
    const char *law;                    /* noise distribution of the model itself: "poisson"; NULL: normal errors */
    double log_likelihood;              /* with a law, else NaN */

    const char *reduced_chi2_reason; /* why there is no reduced_chi2; else NULL */
    double local_sigma;              /* pairs: noise estimated from neighbouring values, without the model; NaN:
                                      * unknown */

    /* Derived quantities of the model, one value after the other; those of groups in their order. */
    size_t nderived;
    const char *const *derived_name; /* "half_life", "area[0]" */
    const char *const *derived_unit;
    const long *derived_group;       /* -1: of all groups */
    const double *derived, *derived_std, *derived_std_robust; /* NaN: no error */
    const double *derived_interval;  /* nderived x 4, as interval */

    const char *device;      /* the name of the device that took sums; NULL: none did */
    const char *device_text; /* why the processor took sums although a device was wanted; "": nothing to say */
};

/* options: NULL: all defaults. NULL: failed. A result that has not converged is returned, and marked as such. */
const struct fit_api_result *fit_api_fit(const struct fit_api_problem *p, const struct fit_api_options *options);
/* Frees the result with all its arrays; NULL is allowed. */
void fit_api_result_free(const struct fit_api_result *r);

/* ---- many small fits ------------------------------------------------------------------------- */

/* Curves of a model of tables, all with the same rows. Nothing is copied: the arrays must live until
 * fit_api_fit_many() has returned. */
struct fit_api_many_data {
    size_t size;
    const double *setting;       /* as in fit_api_data, of all curves */
    size_t ncurve, nrow;
    const double *const *column; /* one array for each column, of nrow numbers that all curves share, or of
                                    ncurve x nrow; NULL for those that are not covariates */
    const unsigned char *own;    /* columns: nonzero: ncurve x nrow; NULL: all are shared */
    const double *const *axis;   /* nrow for each axis, shared: they give the same groups for every curve */
    const double *value;         /* ncurve x nrow */
    const double *sigma;         /* ncurve x nrow, or nrow (sigma_shared), or NULL. Values that are not finite are
                                  * ignored */
    int sigma_shared;
};

/* A row for each curve. For one that could not be fitted, code is not 0, message gives the reason, its numbers are
 * NaN, its status is "failed", its quality "none". */
struct fit_api_many {
    size_t size;
    size_t ncurve, nparam, nlinear, ngroup, nfull;
    const char *const *name;      /* nfull: parameters, then linear ones group by group */
    const double *value;          /* ncurve x nfull */
    const double *std, *std_robust; /* ncurve x nfull, as in fit_api_result */
    const double *interval;       /* ncurve x nfull x 4: lower, upper of 68 %, of 95 % */
    const double *covariance;     /* ncurve x nfull x nfull */
    const double *chi2, *reduced_chi2, *residual_variance, *sigma_common; /* ncurve */
    const size_t *npoint, *nfree, *iterations, *evaluations;              /* ncurve */
    const int *code;              /* ncurve: enum fit_api_status */
    const int *converged;         /* ncurve */
    const char *const *status, *const *message, *const *quality, *const *quality_text; /* ncurve */
    size_t nderived;
    const char *const *derived_name;
    const double *derived, *derived_std; /* ncurve x nderived */
    size_t nfailed;               /* curves with a code */
    int threads;
    double seconds;
    const char *device, *device_text;   /* as in fit_api_result */
    size_t device_sums, device_launches; /* sums by the device; launches, each of which takes those of several curves */
};

/* Fits every curve by itself, with the same options: the numbers have the bits that fit_api_fit() gives for the
 * curve alone, for any number of threads (options->threads: curves side by side; 0: one for each core). progress is
 * not called; after *interrupt, curves that have not started have the code FIT_API_INTERRUPTED. With options->device at
 * most 64 curves are fitted at a time, and sums that wait for it at the same time share a launch. options: NULL: all
 * defaults; start, bounds, sigma and `also` apply to every curve. NULL: failed as a whole: see fit_api_message. */
const struct fit_api_many *fit_api_fit_many(const struct fit_api_model *m, const struct fit_api_many_data *data,
                                            const struct fit_api_options *options);
/* Frees the table with all its arrays; NULL is allowed. */
void fit_api_many_free(const struct fit_api_many *m);

/* ---- the posterior --------------------------------------------------------------------------- */

/* A column for each element of the full vector of the fit, then the noise of each group ("sigma[0]"), then the derived
 * quantities; all data are sampled together, linear parameters and noise are integrated out and drawn afterwards. */
struct fit_api_draws {
    size_t size;
    const struct fit_api_result *fit;
    size_t chains, draws, warmup, ncolumn;
    const char *const *name;                        /* ncolumn */
    const double *x;                                /* chains x draws x ncolumn */
    const double *x_robust;                         /* the same for noise that pairs share; NULL: none */
    const double *lp;                               /* chains x draws: log density in the sampler's coordinates */
    const double *energy, *accept, *step, *depth;   /* chains x draws; NULL: method laplace */
    const unsigned char *diverging;                 /* chains x draws; NULL as well */
    const double *mean, *sd, *q025, *median, *q975; /* ncolumn */
    const double *r_hat, *ess_bulk, *ess_tail;      /* ncolumn; NaN: constant */
    int complete;                                   /* 0: ended early, with these draws */
    int verdict;                                    /* 0 good, 1 doubtful, 2 failed: do not use the numbers */
    const char *verdict_word, *verdict_text;
    double max_r_hat, min_ess, divergences, pareto_k; /* NaN: does not concern the method */
    double seconds;
    uint64_t seed;

    /* For tables (else, and with more than 40,000 rows, nrow is 0), for every step-th draw: log likelihood of every
     * row, NaN for unused rows, and, for models with a noise distribution of their own, values drawn from it (NULL:
     * there is none, or it is unknown); chains x kept x nrow. p_scatter: the fraction of the draws for which drawn
     * values scatter more than the measured ones. */
    size_t nrow, kept, step_kept;
    const double *log_likelihood, *predictive;
    double p_scatter;
};

/* Fits, then samples.  NULL: failed, or interrupted before the first draws. */
const struct fit_api_draws *fit_api_sample(const struct fit_api_problem *p, const struct fit_api_options *options);
void fit_api_draws_free(const struct fit_api_draws *d);

#ifdef __cplusplus
}
#endif
#endif
