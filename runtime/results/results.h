/* results.h -- everything that a run of `fit` produced, and the files made of it.
 *
 *   fit.json               for scripts                              (write_json.c)
 *   fit.h5                 everything; NeXus groups, netCDF scales   (write_hdf5.c)
 *   posterior.nc           draws of the posterior                  (write_posterior.c)
 *   summary.txt            one screen                                (summary.c)
 *   config.effective.yaml  the settings in effect
 *   run.log                the course of the run
 *
 * All pointers are borrowed.
 */
#pragma once

#include "base/output.h"
#include "config/config.h"
#include "data/dataset.h"
#include "fit/maps.h"
#include "input/measurement.h"
#include "leastsquares/fit_types.h"
#include "model/linkage.h"
#include "results/study.h"
#include "sampling/predictive.h"
#include "sampling/residual_check.h"
#include "sampling/sampling.h"

#include <stdio.h>
#include <time.h>

/* The origin of the data. */
struct fit_input {
    char file[1024], sha256[65], layout[32];
    int of_values; /* 1: sha256 is that of the fitted values */
    uint64_t size; /* bytes */
    time_t mtime;
    double q, gap, dt;         /* NaN: none, or (q) several */
    const double *q_group;     /* ngroup; NULL: the model has no axis q */
    const char *dt_text;       /* where dt comes from, or NULL */
    size_t nfile, first, last; /* rows of the matrices in the file; window, from 1, inclusive */
    size_t nmasked;            /* frames left out inside the window */
    const double *phi;         /* ngroup, or NULL: no azimuths */
    const size_t *bin;         /* ngroup labels in the file, or NULL */
    const char *const *key;    /* ngroup names of datasets, or NULL */
    size_t npart;              /* several files: how many; else 0 */
    const struct fit_measurement_file *part; /* borrowed from the measurement */
    const struct fit_dataset_files *files;   /* the same */
    struct fit_arena storage_;
};

/* The loader's findings, as above; *in owns the arrays. gap: of the setting of that name. */
enum fit_status fit_input_describe(const struct fit_kernel *kernel, const struct fit_measurement *m,
                                   struct fit_input *in, struct fit_error *err);
void fit_input_free(struct fit_input *in);

/* The meaning of the groups of pairs: angles; q, where each has its own; else groups (q, phi). */
enum fit_group_kind { FIT_GROUP_PHI, FIT_GROUP_Q, FIT_GROUP_BOTH };
enum fit_group_kind fit_input_groups(const struct fit_input *in, size_t ngroup);
/* "angles", "wavevectors" or "groups (q, phi)" for n of them; one: "angle", ... */
const char *fit_group_word(enum fit_group_kind kind, size_t n);

struct fit_results {
    const char *program, *command_line;
    const char *run_id; /* run_id.h; NULL: of no run */
    const char *kept;   /* "posterior.nc cmc/samples.npz": files of an earlier run that stay; "" none */
    char host[64];
    time_t begin, end;
    const struct fit_kernel *kernel;
    const struct fit_linkage *link; /* NULL: the kernel is the model's */
    const struct fit_config *config;
    const char *config_text; /* effective configuration */
    enum fit_scaling scaling; /* in effect */
    const struct fit_input *input;
    const struct fit_dataset *ds;
    const struct fit_result *fit; /* NULL: the data alone, with */
    const double *sigma;          /* ngroup: their noise */
    const char *time_unit;        /* NULL: s */
    const struct fit_study *study;     /* NULL: nothing besides the fit */
    const struct fit_samples *samples; /* NULL: no posterior was asked for, or */
    const char *no_samples;            /* why there is none */
    const struct fit_predictive *predictive; /* NULL: there is none */
    const struct fit_residual_check *residuals; /* NULL: there is none */
    const struct fit_maps *maps;
    const double *std_robust; /* nfull, or NULL */
    double load_seconds, maps_seconds, write_seconds, wall_seconds;
    double estimate_mb; /* memory estimate before loading */
    double peak_mb;     /* largest resident set so far */
    size_t nnote;
    char *const *note; /* complete sentences */
    const char *folder;
};

/* fit.json as text; the caller frees.  NULL: out of memory. */
char *fit_write_json(const struct fit_results *r);

struct fit_json;

/* The pieces of an interval that has gaps; null for an end that the data do not set. */
void fit_json_union(struct fit_json *j, const char *name, const struct fit_union *u);

/* fit.h5 at `path`. */
enum fit_status fit_write_hdf5(const struct fit_results *r, const char *path,
                               struct fit_error *err);

/* The part of it about the data (write_maps.c). Without r->fit: neither model nor residuals; r->sigma is the noise
 * of the groups, and the maps' `residual` of a table the errors of its rows. */
struct fit_h5r;
void fit_write_data(struct fit_h5r *w, const struct fit_results *r);

/* The input of its model (write_kernel.c). */
void fit_write_kernel(struct fit_h5r *w, const struct fit_results *r);

/* Bands of the posterior in fit.h5, for curves, cuts and rows (write_bands.c); nothing without samples. */
enum fit_status fit_write_bands(struct fit_h5r *w, const struct fit_results *r, struct fit_error *err);

/* Curves over time that follow from the parameters: are there any? And the layout of the data with a fine grid of
 * times, on which they look smooth (fine.c); 0: none, or out of memory. */
int fit_results_has_curves(const struct fit_results *r);
int fit_results_fine(const struct fit_results *r, struct fit_layout *fine, struct fit_arena *a);

/* The model of a table between its rows (fine_rows.c): its value at n points, and the curve of each point, as the
 * value of the column that distinguishes curves. 0: there are none. */
struct fit_fine_rows {
    size_t n;
    double *x, *model, *curve; /* n */
    uint32_t *place, *group;
    double **column;
    struct fit_layout layout;
};
int fit_results_fine_rows(const struct fit_results *r, struct fit_fine_rows *fine, struct fit_arena *a);

/* posterior.nc at `path`; r->samples exists. */
enum fit_status fit_write_posterior(const struct fit_results *r, const char *path,
                                    struct fit_error *err);

/* The posterior in the files of homodyne, in the folder cmc of the results (write_cmc.c). */
#define FIT_CMC_FILES 4
extern const char *const fit_cmc_file[FIT_CMC_FILES];
enum fit_status fit_write_cmc(const struct fit_results *r, const char *folder,
                              struct fit_error *err);

/* The summary: at most 25 lines of 80 columns, and those about degeneracies. */
void fit_write_summary(const struct fit_results *r, FILE *f);

/* The posterior beside least squares, in 80 columns; the reason why there is none; nothing when none was requested
 * (summary_posterior.c). */
void fit_write_posterior_summary(const struct fit_results *r, FILE *f);

/* Its parts for the consensus mode: the first lines; the combination beside the exact posterior. */
void fit_write_consensus_head(const struct fit_samples *s, FILE *f);
void fit_write_consensus_bias(const struct fit_results *r, FILE *f);

/* Shared by the writers. */

/* Parameter k of the full vector: name, unit, index of the group or -1 when there is one for all.
 */
struct fit_full_param {
    const struct fit_param *param;
    long group;
    size_t linear; /* index among the linear parameters; nlinear for a nonlinear one */
    double value;
};
struct fit_full_param fit_results_param(const struct fit_results *r, size_t k);

/* The same parameter by its full name: "D0", "contrast[2]" with its group. */
void fit_results_full_name(const struct fit_results *r, size_t k, char *text, size_t size);

/* Least-squares value of a column of the draws (sampling.h), its error (NaN: none) and its unit. */
double fit_results_column_value(const struct fit_results *r, size_t column);
double fit_results_column_std(const struct fit_results *r, size_t column);
const char *fit_results_column_unit(const struct fit_results *r, size_t column);

/* Number of parameters in the table of parameters: nonlinear ones and those linear ones that all groups share;
 * index[nfull] gets their indices in the full vector. */
size_t fit_results_table(const struct fit_results *r, size_t *index);

/* True for a fixed parameter. */
int fit_results_fixed(const struct fit_results *r, size_t k);

/* Largest |correlation| of two parameters of the table, in *a and *b (indices in the full vector); 0: none. */
double fit_results_strongest(const struct fit_results *r, size_t *a, size_t *b);

/* The 95 % profile interval as text, "0.0149 .. 0.0203 (95 %)" or "above 1340 (95 %)"; 0 and "" when there is none,
 * or it has no end. */
int fit_results_interval_text(const struct fit_results *r, size_t k, char *text, size_t size);

/* True when an undetermined direction k is one of the degeneracies that were named: one of them contains every
 * parameter with a share in it. */
int fit_results_explained(const struct fit_results *r, size_t k);

/* Ratio of the robust errors (sandwich.h) to the standard errors, over the nonlinear parameters; NaN: unknown. */
double fit_results_wider(const struct fit_results *r);

/* 1 when a robust error of the table differs so much from the standard error that both are shown: by 20 %, and for
 * rows of a table by more than their own scatter. */
int fit_results_shows_robust(const struct fit_results *r);

/* Tables: correlation of residuals of neighbouring rows within a curve, mean over curves, if it is significant and
 * matters; *factor: the ratio by which errors of independent rows are then too small. 0: none. */
double fit_results_neighbours(const struct fit_results *r, double *factor);

/* Probability that chi2 of independent values with these errors is as large; NaN: their errors are unknown without
 * the model, or the loss is not that of least squares. */
double fit_results_chi2_p(const struct fit_results *r);

/* 1: residuals exceed an independently known noise so much that the model must be incomplete. */
int fit_results_misses(const struct fit_results *r);

/* 1: parameter k of the full vector has a standard error, or a 95 % interval in one piece with two ends that does
 * not extend much further than the quadratic one. */
int fit_result_determines(const struct fit_result *f, size_t k);

/* The kind of estimates, if efficient ones were requested; else "". */
void fit_results_estimator_words(const struct fit_results *r, char *text, size_t size);

/* One or two sentences on what the residuals show about the noise; empty when there is nothing to report. */
void fit_results_noise_words(const struct fit_results *r, char *text, size_t size);

/* "good", "doubtful" (residuals are correlated, improbably large, far smaller than the given noise, or some far
 * off), "partial" (some parameters have no standard error), "poor" (residuals larger than the noise), "flat" (the
 * data hold no signal), "held" (nothing of the model was fitted), "undetermined" (no parameter has an error or an
 * interval), "unfinished" or "unknown" (no noise to compare with), and a sentence that states it. */
enum fit_quality_kind {
    FIT_QUALITY_GOOD,
    FIT_QUALITY_DOUBTFUL,
    FIT_QUALITY_PARTIAL,
    FIT_QUALITY_POOR,
    FIT_QUALITY_FLAT,
    FIT_QUALITY_HELD,
    FIT_QUALITY_UNDETERMINED,
    FIT_QUALITY_UNFINISHED,
    FIT_QUALITY_UNKNOWN
};
struct fit_quality {
    enum fit_quality_kind is;
    const char *word;
    char text[640];
};
struct fit_quality fit_results_quality(const struct fit_results *r);
const char *fit_quality_word(enum fit_quality_kind v);
enum fit_quality_kind fit_quality_find(const char *word); /* unknown, for any other word */

/* Direction k of the eigenvectors as text: "D0 - 0.98 D_offset", each parameter in units of its own standard error
 * at fixed others. */
void fit_results_direction(const struct fit_results *r, size_t k, char *text, size_t size);
/* A rate as a formula: "D0 t^alpha + D_offset". */
void fit_results_rate(const struct fit_results *r, const struct fit_rate_value *x, char *text, size_t size);
/* Remedy for a rate that may be simpler: "consistent with a constant rate: --fix alpha=0 --fix D_offset=0",
 * "consistent with a power of t alone: --fix D_offset=0"; else empty. */
void fit_results_rate_cure(const struct fit_results *r, const struct fit_rate_value *x, char *text, size_t size);
