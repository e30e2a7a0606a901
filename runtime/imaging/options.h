/* options.h -- the command line of an imaging program: one table of options, from which parsing and --help are made. */
#pragma once

#include "base/arena.h"
#include "base/command_line.h"
#include "base/status.h"

enum { FIT_IMAGING_MOST_WEIGHTS = 64, FIT_IMAGING_MOST_CHANNELS = 4 };

enum { FIT_IMAGING_MOST_AXES = 16 };

struct fit_imaging_axis { /* of a survey */
    const char *name;
    size_t n;
    const char **text; /* values as they were given */
    double *value;     /* once the model has told their unit */
};

struct fit_imaging_options {
    const char *command; /* "eval", "fit", "info", "survey", "top" */
    const char *observation;
    size_t nmore; /* observations at other frequencies */
    const char *more[FIT_IMAGING_MOST_CHANNELS - 1];
    int help, version;

    /* what is imaged */
    const char *image, *prior, *truth, *truth_alpha, *output, *fits;
    double pixel_uas, fov_uas, fwhm_uas, flux, clipfloor; /* NaN: not given */
    size_t npix;                                          /* 0: not given */
    const char *pulse;
    int no_log, no_norm_init;

    /* polarisation, several frequencies */
    const char *solve, *alpha, *beta, *prior_alpha, *prior_beta, *spectral_order;
    double reference; /* Hz; NaN: not given */

    /* the objective */
    size_t nterm, nregularizer, nhyper;
    struct fit_named_number term[FIT_IMAGING_MOST_WEIGHTS], regularizer[FIT_IMAGING_MOST_WEIGHTS];
    struct fit_named_text hyper[FIT_IMAGING_MOST_WEIGHTS];
    double epsilon_tv;
    int norm_reg;

    /* data products */
    double systematic_noise, systematic_cphase_noise, snrcut, cp_uv_min;
    int maximal, debias, uniform;

    /* surveys: axes in the order given, the last one fastest */
    size_t naxis;
    struct fit_imaging_axis axis[FIT_IMAGING_MOST_AXES];
    const char *part; /* "K/N" */
    size_t nthreshold;
    struct fit_named_number threshold[FIT_IMAGING_MOST_WEIGHTS]; /* top: upper limits of the reduced chi2 of terms */

    /* simulate */
    size_t seed;
    double cadence; /* s; NaN: the rows of the observation */
    int no_noise;

    /* uncertainties */
    const char *uncertainty; /* "laplace" or "nuts"; NULL: none */
    size_t draws, chains;    /* 0: not given */

    /* the optimizer */
    const char *optimizer, *state;
    size_t maxiter, memory, maxls, rounds;
    double blur; /* between rounds, in units of the beam */
    double ftol, gtol, learning_rate;

    size_t threads; /* 0: all */
    const char *isa;
    const char *device; /* device/device.h; NULL: none */
    int quiet, verbose;
    struct fit_arena arena;
};

/* The texts of argv are borrowed.  FIT_ERR_USAGE names the option, and the nearest one. */
enum fit_status fit_imaging_parse(int argc, char **argv, struct fit_imaging_options *o, struct fit_error *err);
void fit_imaging_options_free(struct fit_imaging_options *o);

void fit_imaging_help(const char *program, const char *title, FILE *out);
