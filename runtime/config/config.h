/* config.h -- one experiment's configuration: what to read, what to fit, how, where to write.
 *
 * Takes a YAML (or JSON) file of any of the three Python packages, or the short form that `init` writes, and the
 * model (struct fit_kernel), which is the registry of names, units, starts, bounds and priors. Returns a struct
 * fit_config in which every value knows its source. Life of a configuration:
 *
 *     fit_config_log_init(&log);
 *     st = fit_config_read("my.yaml", kernel, &options, &log, &cfg, &err);  file -> values
 *     st = fit_config_override(cfg, "bounds", "phi0=-90:90", &log, &err);   command line
 *     st = fit_config_finish(cfg, &log, &err);                              values agree
 *     ... use ...     text = fit_config_text(cfg);     fit_config_free(cfg);
 *
 * Rules of reading: nothing is guessed. Unknown keys, wrong types, unknown names, impossible values are errors with
 * file:line:column and the nearest name; all of them (up to FIT_CONFIG_MAX_ERRORS) are collected in the log before
 * reading fails. Keys of the packages' templates that have no meaning here are counted and reported in one note.
 * null means "not given".
 *
 * Units inside: angstrom, 1/angstrom, s, degrees. Lists and strings belong to the configuration and live until
 * fit_config_free. These functions print nothing, and do not touch the data file (except to check that it exists). */
#pragma once

#include "base/status.h"
#include "fit/kernel.h"
#include "leastsquares/fit_types.h" /* enum fit_loss, enum fit_scaling */

#define FIT_CONFIG_MAX_ERRORS 20

/* ---- The source of a value ------------------------------------------------------------------ */

enum fit_origin_kind {
    FIT_FROM_PROGRAM, /* built-in default */
    FIT_FROM_MODEL,   /* the model file's default */
    FIT_FROM_COMPAT,  /* implied by `compat:` */
    FIT_FROM_FILE,    /* line, column of the configuration file */
    FIT_FROM_COMMAND  /* command line; option: "--bounds" */
};

struct fit_origin {
    enum fit_origin_kind kind;
    unsigned line, column; /* 1-based; 0 when not from a file; for a number left null: its line */
    const char *option;    /* FIT_FROM_COMMAND: name of the option; else NULL */
    int weak;              /* from a spelling of lower precedence (internal to reading) */
    int bare;              /* a number without unit (internal to reading) */
};

struct fit_cfg_real {
    double value; /* NaN: not given and no default */
    struct fit_origin from;
};
struct fit_cfg_int {
    long value;
    struct fit_origin from;
};
struct fit_cfg_flag {
    int value; /* 0 or 1 */
    struct fit_origin from;
};
struct fit_cfg_choice {
    int value; /* of the enum named in the comment of the member */
    struct fit_origin from;
};
struct fit_cfg_text {
    const char *value; /* NULL: not given */
    struct fit_origin from;
};
struct fit_cfg_reals {
    size_t n;
    const double *value; /* NULL when n = 0 */
    struct fit_origin from;
};
struct fit_cfg_texts {
    size_t n;
    const char *const *value;
    struct fit_origin from;
};

/* True when the value comes from the user (file or command line). */
static inline int fit_given(struct fit_origin from)
{
    return from.kind >= FIT_FROM_FILE;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

enum fit_dt_policy {
    FIT_DT_STRICT,
    FIT_DT_YAML,
    FIT_DT_FILE
}; /* data and YAML differ: error, or which */
enum fit_time_origin {
    FIT_TIME_WINDOW, /* the window's first frame lies at 0 */
    FIT_TIME_FILE,   /* frame 1 lies at 0, or where the file's time axis says */
    FIT_TIME_STEP    /* the window's first frame lies at dt; default of the heterodyne model */
};
enum fit_stream_kind { FIT_STREAM_AUTO, FIT_STREAM_ON, FIT_STREAM_OFF }; /* values read in every pass */
enum fit_q_rule { FIT_Q_NEAREST, FIT_Q_HOMODYNE_OLD }; /* OLD: all within 10 %, else ten nearest */
enum fit_sigma_kind {
    FIT_SIGMA_AUTO,  /* the file's, else estimated from the data */
    FIT_SIGMA_VALUE, /* one number for all, or one per selected angle */
    FIT_SIGMA_FILE   /* array in a file: sigma_path */
};

/* Frames first..last, 1-based, inclusive. */
struct fit_frame_range {
    long first, last;
};

struct fit_config_input {
    struct fit_cfg_texts path;           /* data files; resolved (paths.h); n = 0: none given */
    struct fit_cfg_text path_as_written; /* the first, as the user wrote it */
    struct fit_cfg_text layout;          /* name of a file layout, or NULL: detect */
    struct fit_cfg_real dt;              /* s per row of the matrix; NaN: from the data file */
    struct fit_cfg_choice dt_policy;     /* enum fit_dt_policy */
    struct fit_cfg_int start_frame;      /* 1-based, inclusive; >= 1 */
    struct fit_cfg_int end_frame;        /* 1-based, inclusive; < 0: the last */
    struct fit_cfg_choice time_origin;   /* enum fit_time_origin */
    struct fit_cfg_real q;               /* 1/angstrom; NaN: the file has only one */
    struct fit_cfg_reals q_list;         /* several of them, for models with the axis q; q is NaN then */
    struct fit_cfg_real q_tolerance;     /* largest |dq|/q accepted for the nearest bin */
    struct fit_cfg_choice q_rule;        /* enum fit_q_rule */
    struct fit_cfg_real gap;             /* angstrom; NaN: not given */
    struct fit_cfg_choice sigma;         /* enum fit_sigma_kind */
    struct fit_cfg_reals sigma_value;
    struct fit_cfg_text sigma_path; /* FILE or FILE:/dataset */
    size_t nmask;
    const struct fit_frame_range
        *mask; /* frames left out; increasing, not overlapping; rows of the file */
    struct fit_origin mask_from;
};

struct fit_angle_range {
    double lower, upper; /* degrees, as written; lower > upper wraps through 180 */
    struct fit_origin from;
};

/* Which matrices (groups) are fitted. `list` takes precedence over `range`; neither: all. */
struct fit_config_angles {
    struct fit_cfg_flag filter; /* use `range` */
    size_t nrange;
    const struct fit_angle_range *range;
    struct fit_cfg_reals list;        /* degrees: the nearest measured angle to each */
    struct fit_cfg_real tolerance;    /* degrees: largest distance accepted for `list` */
    struct fit_cfg_flag fallback_all; /* no match: 1 all angles with a note, 0 error */
};

struct fit_config_scaling {
    struct fit_cfg_choice mode; /* enum fit_scaling (fit_types.h); `auto` means individual here */
    int automatic;              /* 1: the file says auto, or nothing */
    struct fit_cfg_int average_threshold; /* angles from which the peers' auto averages */
    struct fit_cfg_int fourier_order;     /* harmonics of mode fourier; 2 */
    struct fit_cfg_flag peers_enabled;    /* anti_degeneracy.enable: 0, their auto is individual */
    int average_noted;                    /* 1: a note says that the packages' `auto` averages in this case */
};

/* A parameter that follows others: an expression that is affine in them (affine.h). */
struct fit_config_tie {
    const char *text;     /* as written: "0.1*D0 + 5" */
    const double *factor; /* nparam + nlinear + 1: of all parameters, the constant last; after fit_config_finish only
                           * of those that are not tied */
    struct fit_origin from;
};

/* The groups of data (azimuths, values of a table's axis) for which a parameter has values of its own. */
enum fit_share_kind {
    FIT_SHARE_MODEL, /* as the model declares it */
    FIT_SHARE_ALL,   /* one for all groups */
    FIT_SHARE_EACH,  /* one for each group: "per_angle" */
    FIT_SHARE_FILE,  /* one for each of several data files: "per_file" */
    FIT_SHARE_SETS   /* one for each of these sets of groups */
};
struct fit_config_share {
    enum fit_share_kind kind;
    size_t nset;
    const struct fit_cfg_reals *set; /* coordinates of the groups (degrees) */
    struct fit_origin from;
};

/* A parameter of the model: the nonlinear ones in the kernel's order, then the linear ones. */
struct fit_config_param {
    const struct fit_param *declared; /* name, unit, aliases, defaults */
    const char *written;              /* spelling in the file (an alias), or NULL */
    struct fit_cfg_real start;        /* the model's start unless given */
    int automatic;                    /* 1: no start was given (or null): estimate it from the data */
    struct fit_cfg_real lower, upper;
    struct fit_cfg_flag fixed; /* 1: stays at start.value */
    const struct fit_config_tie *tie; /* NULL: free */
    struct fit_config_share share;
    struct fit_cfg_choice prior; /* enum fit_prior_kind */
    double prior_a, prior_b;     /* as in struct fit_param */
    struct fit_cfg_reals
        list; /* linear parameters: starting value of each selected angle; n = 0: none */
};

enum fit_method { FIT_METHOD_NLSQ, FIT_METHOD_NUTS, FIT_METHOD_LAPLACE, FIT_METHOD_CMC };

struct fit_config_nlsq {
    struct fit_cfg_int max_iterations;
    struct fit_cfg_real ftol, xtol, gtol; /* relative; >= 0 */
    struct fit_cfg_choice loss;           /* enum fit_loss (fit_types.h) */
    struct fit_cfg_choice estimator;      /* enum fit_estimator */
    struct fit_cfg_real f_scale; /* of the robust loss, in standard deviations of the noise */
    struct fit_cfg_flag multi_start;
    struct fit_cfg_int n_starts;
    struct fit_cfg_flag
        global; /* stage that searches the whole box (cmaes.enable of the packages) */
    struct fit_cfg_real memory_fraction; /* of the available memory, 0..1 */
    struct fit_cfg_choice stream;        /* enum fit_stream_kind */
    struct fit_cfg_text optimizer, optimizer_state; /* names of optimizers/registry.h, a file; NULL: nlsq, none */
};

/* Key names of the packages in the comments where they differ. */
struct fit_config_sampling {
    struct fit_cfg_int warmup, draws, chains; /* num_warmup, num_samples, num_chains */
    struct fit_cfg_real target_accept;        /* target_accept_prob */
    struct fit_cfg_int max_tree_depth;
    struct fit_cfg_flag dense_mass;
    struct fit_cfg_flag adaptive; /* adaptive_sampling */
    struct fit_cfg_int min_warmup, min_draws;
    struct fit_cfg_text chain_method, scaling; /* scaling: the sampler's per_angle_mode */
    struct fit_cfg_flag warm_start;                    /* from least squares; use_nlsq_warmstart */
    struct fit_cfg_flag require_warm_start;
    struct fit_cfg_choice prior_compat;  /* enum fit_peer: none, or homodyne: priors as in its sampler */
    struct fit_cfg_choice noise_prior;   /* enum fit_prior_kind, with its numbers: of sigma; see fit_config_noise */
    double noise_a, noise_b;
    struct fit_cfg_flag informed_priors; /* use_nlsq_informed_priors (consensus mode) */
    struct fit_cfg_real prior_width_factor;
    struct fit_cfg_real max_rhat, min_ess, max_divergence_rate, min_bfmi, max_parameter_cv;
    struct fit_cfg_flag heterogeneity_abort;
    struct fit_cfg_flag consensus; /* method cmc in shards, combined; else all data are sampled together */
    /* consensus mode only */
    struct fit_cfg_flag prior_tempering;
    struct fit_cfg_text shard_strategy, combination;
    struct fit_cfg_int shards, max_shard_points; /* 0: auto */
    struct fit_cfg_int min_shard_points, min_points_per_param, shard_seed;
    struct fit_cfg_real min_success_rate, min_success_rate_warning;
    struct fit_cfg_real shard_timeout, heartbeat_timeout; /* s */
    struct fit_cfg_text backend;
    struct fit_cfg_flag checkpoints, resume;
    struct fit_cfg_text checkpoint_dir;
    struct fit_cfg_int checkpoint_frequency, keep_checkpoints;
    struct fit_cfg_real checkpoint_seconds;
};

/* Errors for noise that several frames share (sandwich.h). */
struct fit_config_robust {
    struct fit_cfg_int cluster_length; /* frames of a cluster; 0: from the residuals */
    struct fit_cfg_flag cluster_joint; /* errors of different angles may be correlated */
    struct fit_cfg_choice noise;       /* enum fit_noise_kind */
    struct fit_cfg_real count, shot;   /* of speckles, where they are known; NaN */
};

enum fit_sequence { FIT_SEQUENCE_NONE, FIT_SEQUENCE_ANGLE, FIT_SEQUENCE_Q };

/* Further analyses of a fit. */
struct fit_config_study {
    struct fit_cfg_texts profile;        /* parameters whose profile likelihood is wanted; "all" */
    struct fit_cfg_choice bootstrap;     /* enum fit_bootstrap_kind (bootstrap.h) */
    struct fit_cfg_int replicates;       /* of the bootstrap */
    struct fit_cfg_choice sequence;      /* enum fit_sequence: every angle, or q, alone as well */
};

/* Words of enum fit_peer (kernel.h), ended by NULL. */
extern const char *const fit_peer_names[];

/* Switches that reproduce the packages; all off unless `compat:` says otherwise. */
struct fit_config_compat {
    struct fit_cfg_choice peer;      /* enum fit_peer */
    struct fit_cfg_flag exclude_t0;  /* drop the first frame of the window from the pairs */
    struct fit_cfg_flag full_matrix; /* count both triangles */
    struct fit_cfg_flag parity;      /* use the parity variant of the kernel */
    struct fit_cfg_flag files; /* also write the package's own file names */
};

struct fit_config_output {
    struct fit_cfg_text dir; /* NULL: the program's default */
};

/* Table models: which column of the file is which column of the kernel. */
struct fit_config_column {
    const char *role;   /* name of a column of the kernel */
    const char *source; /* name in the file, or its 1-based number as text */
    struct fit_origin from;
};
struct fit_config_table {
    size_t ncolumn;
    const struct fit_config_column *column; /* n = 0: by equal names, else by position */
    size_t nunit;
    const struct fit_config_column *unit;   /* source: the unit of this column in the file, whatever the file states */
    struct fit_cfg_text dataset;            /* HDF5 group or npz member; NULL: whole file */
    struct fit_cfg_text delimiter;          /* one character; NULL: detect */
    struct fit_cfg_int skip_rows;
};

/* A key of the file that has no effect here, with everything below it. */
struct fit_config_ignored {
    const char *path, *why;
    unsigned line;
    size_t nkey; /* how many values */
};

/* ---- The whole ------------------------------------------------------------------------------- */

struct fit_config {
    const char *file; /* path of the YAML file as given; "command line" when there is none */
    const struct fit_kernel *kernel;
    struct fit_cfg_text mode; /* canonical name of the model */
    int data_only; /* 1: for looking at the data; settings that only the model needs may be missing */

    struct fit_config_input input;
    struct fit_config_angles angles;
    struct fit_config_scaling scaling;

    size_t nparam, nlinear; /* of the kernel; param has nparam + nlinear elements */
    struct fit_config_param *param;
    size_t nsetting;
    struct fit_cfg_real *setting; /* in the kernel's order and units; NaN: not given, no default.
                                     finish copies q and gap to the settings of these names. */
    struct fit_cfg_reals *setting_list; /* nsetting: one value for each of several files; n = 0: all have that of
                                         * setting */

    struct fit_cfg_choice method; /* enum fit_method */
    struct fit_cfg_flag sample_after; /* --method both: least squares, then sampling */
    struct fit_config_nlsq nlsq;
    struct fit_config_robust robust;
    struct fit_config_study study;
    struct fit_config_sampling sampling;
    struct fit_cfg_int seed;
    struct fit_cfg_int threads;      /* 0: one per physical core */
    struct fit_cfg_real max_seconds; /* NaN: no limit */
    struct fit_cfg_flag trust_units; /* units: trust -- accept bare numbers without question */

    struct fit_config_compat compat;
    struct fit_config_output output;
    struct fit_config_table table;

    size_t nignored; /* keys of the file that have no effect here */
    size_t nreason;  /* the same by row of the table of keys, in the order of the file */
    struct fit_config_ignored *reason;
    struct fit_config_private *private_;
};

/* ---- Messages -------------------------------------------------------------------------------- */

struct fit_config_message {
    int error;             /* 1 error, 0 note */
    unsigned line, column; /* 0: the message does not concern a position in the file */
    char *file, *text;     /* or option; the message, complete: "my.yaml:14:3: error: ..." */
    const char *says;      /* in text, behind that */
};
struct fit_config_log {
    size_t n, nerror; /* nerror counts all; only the first FIT_CONFIG_MAX_ERRORS are kept */
    struct fit_config_message *message;
};
void fit_config_log_init(struct fit_config_log *log);
void fit_config_log_free(struct fit_config_log *log);

/* All errors, or all notes, one per line; the caller frees. NULL: out of memory. */
char *fit_config_log_text(const struct fit_config_log *log, int errors);

/* ---- Reading --------------------------------------------------------------------------------- */

struct fit_config_options {
    int lax;  /* unknown keys become notes */
    int keep; /* also sets *cfg when values are wrong (FIT_ERR_CONFIG): with defaults in their place, for further
               * checks; not when the file belongs to another model */
};

/* Reads file for the model kernel. options and log may be NULL. On failure *cfg is NULL, err holds the first message
 * and the log all of them. FIT_ERR_CONFIG also when the file cannot be read. */
enum fit_status fit_config_read(const char *file, const struct fit_kernel *kernel,
                                const struct fit_config_options *options,
                                struct fit_config_log *log, struct fit_config **cfg,
                                struct fit_error *err);

/* The same from text in memory; name stands for the file in messages, and data paths are relative to its folder. */
enum fit_status fit_config_read_text(const char *text, size_t length, const char *name,
                                     const struct fit_kernel *kernel,
                                     const struct fit_config_options *options,
                                     struct fit_config_log *log, struct fit_config **cfg,
                                     struct fit_error *err);

/* Defaults of the program and the model only: for runs without a file. */
enum fit_status fit_config_new(const struct fit_kernel *kernel, struct fit_config **cfg,
                               struct fit_error *err);

/* One option of the command line.  option without dashes; value may be NULL for options without
 * one.
 *   set NAME=VALUE        setting or start of a parameter; a.dotted.key=VALUE: any key of the file
 *   start NAME=VALUE   fix NAME[=VALUE]   free NAME   tie NAME=EXPRESSION   bounds NAME=LO:HI
 *   share NAME=per_angle|shared|0,45/90,135
 *   initial-NAME VALUE    (initial-d0, initial-gamma-dot-t0: case and dashes do not matter)
 *   data-file, data, layout, dataset, columns NAME=SOURCE,..., dt (number, yaml, file), q, gap,
 *   frames A:B, phi A,B,C, mask A:B,...,
 *   sigma, method (nlsq, nuts, laplace, cmc, both), loss, max-iterations, tolerance, ftol, xtol,
 *   gtol, multistart, no-multistart, multistart-n, global, draws, warmup, chains (also n-samples,
 *   n-warmup, n-chains, num-...), target-accept, max-tree-depth, metric (dense, diagonal),
 *   checkpoint-seconds, seed, threads, max-seconds, output-dir, output, o, scaling, compat, variant,
 *   exclude-t0, no-nlsq-warmstart, units, q-tolerance
 * Returns FIT_ERR_USAGE with the nearest option when it is not one of these. */
enum fit_status fit_config_override(struct fit_config *cfg, const char *option, const char *value,
                                    struct fit_config_log *log, struct fit_error *err);

/* True when `option` is known to fit_config_override; *takes_value: 0 no, 1 yes. */
int fit_config_option_known(const char *option, int *takes_value);

/* Checks that values agree with each other (starts inside bounds, ties, fixed values, sizes against the model),
 * fills settings from q and gap, and adds the notes about differences from the packages. */
enum fit_status fit_config_finish(struct fit_config *cfg, struct fit_config_log *log,
                                  struct fit_error *err);

void fit_config_free(struct fit_config *cfg);

/* ---- Answers --------------------------------------------------------------------------------- */

/* The effective configuration as YAML (short dialect): every value, with its source as a comment. 
 * Reading it again gives the same configuration.  Caller frees; NULL: out of memory. */
char *fit_config_text(const struct fit_config *cfg);

/* The prior of the standard deviation of unknown noise, in the units of the data: as configured, or the model's, or
 * density 1/sigma (FIT_PRIOR_JEFFREYS of prior.h). Its text: "half_normal 0.02". */
struct fit_config_noise {
    enum fit_prior_kind kind;
    double a, b;
    struct fit_origin from;
};
struct fit_config_noise fit_config_noise(const struct fit_config *cfg);
void fit_config_noise_text(struct fit_config_noise p, char text[96]);

/* "my.yaml:41", "command line --bounds", "model", "default", "compat". */
void fit_origin_text(const struct fit_config *cfg, struct fit_origin from, char *text, size_t size);

/* The effect of a key of a configuration. */
enum fit_key_use {
    FIT_KEY_READ,      /* it has its effect */
    FIT_KEY_SAME,      /* it is read; another spelling of `same` */
    FIT_KEY_OTHER_WAY, /* its request is met in another way, or only in some cases */
    FIT_KEY_NO_EFFECT, /* known from the packages; noted, not used */
    FIT_KEY_REFUSED    /* an error when it requests something unsupported */
};
struct fit_config_key {
    const char *path;  /* "analyzer_parameters.dt"; for keys without effect also everything below it */
    enum fit_key_use use;
    const char *about;  /* its meaning, or the reason why it has no effect */
    const char *same;   /* FIT_KEY_SAME: path of the key of which this is another spelling; else NULL */
    const char *option; /* "dt": option of the command line that sets it, or NULL */
    const char *unit;   /* of a bare number, or NULL */
};

/* Key i of all known keys, in alphabetical order; returns 0 beyond the last one. */
int fit_config_key(size_t i, struct fit_config_key *key);

/* Index of the parameter with this name or alias (nonlinear first, then linear), or -1. */
int fit_config_param_index(const struct fit_kernel *kernel, const char *name);

/* Index of the axis with this name, or -1. */
int fit_config_axis_index(const struct fit_kernel *kernel, const char *name);

/* The treatment of contrast and offset of nangle angles: `mode` or, when it is automatic, individual, unless
 * `compat:` requests that of the packages. */
enum fit_scaling fit_config_scaling(const struct fit_config *cfg, size_t nangle);

/* True when the Python packages' `auto` would average contrast and offset over nangle angles. */
int fit_config_peers_average(const struct fit_config *cfg, size_t nangle);

/* ---- Names of models (mode.c, model_names.h) -------------------------------------------- */

/* The model named in a configuration, without a kernel: canonical name, or the text of the file, from analysis_mode
 * or from the form of the file. name[0] = 0 when the file does not give one. */
enum fit_status fit_config_detect(const char *file, char name[64], struct fit_error *err);

/* The model of the project with this name or alias, in any case of letters; name itself when there is none. */
const char *fit_config_canonical_mode(const char *name);
/* Another name that configurations have for this model, or NULL. */
const char *fit_config_other_mode(const char *canonical);
/* The packages' name for this model in configurations, if no other model has it. */
const char *fit_config_written_mode(const char *canonical);
/* 1: the same model, or two for which the packages have one name. */
int fit_config_same_mode(const char *a, const char *b);
/* The name of a model that was probably meant; NULL: none is close. */
const char *fit_config_near_mode(const char *name);
