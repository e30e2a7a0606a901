/* grid.h -- the pixels of an image, their visibilities, and initial images.
 *
 * ny rows of nx square pixels, row by row: pixel r nx + c has its centre at
 *     x = ((nx - 1) / 2 - c) pixel   (column 0 in the East),   y = ((ny - 1) / 2 - r) pixel   (row 0 in the North).
 * Values are Jy per pixel. The visibility of an image I is
 *     z(u, v) = sum over r, c of  ey[r] ex[c] I[r, c],  ex[c] = K(u) exp(2 pi i u x_c),  ey[r] = K(v) exp(2 pi i v y_r)
 * with K the Fourier transform of the pulse that represents a pixel, along one axis.
 */
#pragma once

#include "base/status.h"

#include <stddef.h>

enum fit_pulse {
    FIT_PULSE_TRIANGLE, /* (sin z / z)^2, z = pi pixel w: linear interpolation; the default */
    FIT_PULSE_DELTA,    /* 1 */
    FIT_PULSE_BOX,      /* sin z / z */
    FIT_PULSE_GAUSSIAN, /* exp(-(2 pi w sigma)^2 / 2), sigma = pixel / 3 */
    FIT_PULSE_CUBIC,    /* 2 (3 sin(a) / (2 a) - cos a) (sin(a) / a)^3, a = pi pixel w */
    FIT_PULSE_SINC,     /* 1 where |w| < 1 / (2 pixel), else 0 */
    FIT_PULSES
};

struct fit_grid {
    size_t nx, ny;
    double pixel; /* side, radians */
    enum fit_pulse pulse;
};

/* "triangle" "delta" "rectangle" "gaussian" "cubic" "sinc"; the pulse of a name, or -1. */
const char *fit_pulse_name(enum fit_pulse pulse);
int fit_pulse_of(const char *name);

/* K(w) of one axis, w in wavelengths. */
double fit_pulse_transform(enum fit_pulse pulse, double pixel, double w);

double fit_grid_x(const struct fit_grid *g, size_t c);
double fit_grid_y(const struct fit_grid *g, size_t r);

/* Factors of n rows (u, v): ex_re, ex_im n x nx, ey_re, ey_im n x ny. */
struct fit_factors {
    double *ex_re, *ex_im, *ey_re, *ey_im;
};
void fit_grid_factors(const struct fit_grid *g, size_t n, const double *u, const double *v,
                      const struct fit_factors *f);

/* Visibilities of an image, row by row of (u, v); work: 4 nx + 2 ny doubles. */
void fit_grid_visibilities(const struct fit_grid *g, const double *image, size_t n, const double *u, const double *v,
                           double *re, double *im, double *work);

/* ---- Images ------------------------------------------------------------------------------------ */

/* A round Gaussian exp(-4 ln 2 r^2 / fwhm^2) about (x0, y0), radians, sampled at the centres and scaled so that its sum
 * over the grid is `flux`; added to image. */
void fit_grid_add_gaussian(const struct fit_grid *g, double flux, double fwhm, double x0, double y0, double *image);

/* The prior of surveys: a Gaussian of this flux, and one of a thousandth of it displaced by (fwhm, fwhm); without
 * the second the gradient of closures is singular at the start. Replaces image. */
void fit_grid_prior(const struct fit_grid *g, double flux, double fwhm, double *image);

/* mask[n] <- 1 where prior > clipfloor; returns the number of pixels in the mask. */
size_t fit_mask(size_t n, const double *prior, double clipfloor, unsigned char *mask);

/* Scales the image so that its sum over the mask (NULL: all pixels) is `flux`.  FIT_ERR_NUMERIC when its sum is not
 * positive. */
enum fit_status fit_normalise(size_t n, double *image, const unsigned char *mask, double flux, struct fit_error *err);

/* Values for pixels outside the mask where the logarithm of an image is needed: level |z_k| in the k-th of them, z
 * the standard normals of numpy.random.default_rng(0), as in eht-imaging (math/pcg64.h); 0 on the mask. */
void fit_random_floor(size_t n, const unsigned char *mask, double level, double *value);
