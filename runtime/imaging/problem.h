/* problem.h -- from an observation and options to an objective bound to data. */
#pragma once

#include "functional/functional.h"
#include "imaging/options.h"
#include "observation/closures.h"
#include "observation/grid.h"
#include "observation/image.h"
#include "observation/observation.h"

/* Free arrays of the objective, in its order. */
enum fit_imaging_free {
    FIT_FREE_X,
    FIT_FREE_X_RHO,
    FIT_FREE_PHI,
    FIT_FREE_X_PSI,
    FIT_FREE_ALPHA,
    FIT_FREE_BETA,
    FIT_IMAGING_FREE
};
extern const char *const fit_imaging_free_name[FIT_IMAGING_FREE];

struct fit_imaging {
    const struct fit_imaging_options *options;
    struct fit_arena arena;
    struct fit_obs *obs; /* the first of channel */
    struct fit_obs *channel[FIT_IMAGING_MOST_CHANNELS];
    size_t nchannel; /* observations, one for each frequency */
    int order;       /* of the spectrum: 0; 1 alpha; 2 also beta */
    int fits;        /* a fit: start and prior are scaled to the flux */
    struct fit_product *product[FIT_IMAGING_MOST_CHANNELS][FIT_PRODUCTS]; /* those of terms in use */
    struct fit_sky *image, *prior;           /* as they were read; NULL: not given */
    struct fit_grid grid;
    size_t n;            /* pixels */
    unsigned char *mask; /* n: pixels that are solved for */
    double *start;       /* n: point of evaluation or start, Jy per pixel */
    double *P;           /* n: the prior, or NULL */
    double *first[FIT_IMAGING_FREE]; /* n each: starts of free arrays, or their fixed values (planes.h) */
    size_t unknowns;                 /* elements of x */
    double flux, beam, reference; /* reference: frequency of the image, with several observations */
    struct fit_inputs in;
    struct fit_bound *bound;
    struct fit_notes notes;
};

/* fit: start and prior are scaled to the flux, and a Gaussian replaces missing images. */
enum fit_status fit_imaging_new(const struct fit_functional *kernel, const struct fit_imaging_options *o, int fit,
                                struct fit_imaging **problem, struct fit_error *err);
void fit_imaging_free(struct fit_imaging *p);

/* Sets a weight; with several observations that of the term of each. The unknowns may change: fit_imaging_prepare. */
enum fit_status fit_imaging_weight(struct fit_imaging *p, const char *term, double weight, struct fit_error *err);

/* The source of a number of the model that the program computes itself and nobody may set; NULL: it may be set. The
 * second refuses it as the value of an option: FIT_ERR_USAGE. */
const char *fit_imaging_follows_from(const char *name);
enum fit_status fit_imaging_settable(const char *option, const char *name, struct fit_error *err);

/* x of the start, p->unknowns of them: ln I, or I, 0 off the mask; then the other arrays. */
void fit_imaging_start(const struct fit_imaging *p, double *x);

/* image[n] of x. */
void fit_imaging_image(const struct fit_imaging *p, const double *x, double *image);
