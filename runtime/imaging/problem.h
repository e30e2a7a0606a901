/* problem.h -- from an observation and options to an objective that is bound to data. */
#pragma once

#include "functional/functional.h"
#include "imaging/options.h"
#include "observation/closures.h"
#include "observation/grid.h"
#include "observation/image.h"
#include "observation/observation.h"

struct fit_imaging {
    const struct fit_imaging_options *options;
    struct fit_arena arena;
    struct fit_obs *obs;
    struct fit_product *product[FIT_PRODUCTS]; /* those of terms in use */
    struct fit_image *image, *prior;           /* as they were read; NULL: not given */
    struct fit_grid grid;
    size_t n;            /* pixels */
    unsigned char *mask; /* n: pixels that are solved for */
    double *start;       /* n: where it is evaluated or begun, Jy per pixel */
    double *P;           /* n: the prior, or NULL */
    double flux, beam;
    struct fit_inputs in;
    struct fit_bound *bound;
    struct fit_notes notes;
};

/* fit: start and prior are brought to the flux, and a Gaussian stands for what is not given. */
enum fit_status fit_imaging_new(const struct fit_functional *kernel, const struct fit_imaging_options *o, int fit,
                                struct fit_imaging **problem, struct fit_error *err);
void fit_imaging_free(struct fit_imaging *p);

/* x of the start, all n of them: ln I, or I; 0 off the mask. */
enum fit_status fit_imaging_start(const struct fit_imaging *p, double *x, struct fit_error *err);

/* image[n] of x. */
void fit_imaging_image(const struct fit_imaging *p, const double *x, double *image);
