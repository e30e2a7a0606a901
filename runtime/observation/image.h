/* image.h -- images of the sky in files: FITS and HDF5, read and written.
 *
 * In memory: row by row as in grid.h, column 0 in the East, row 0 in the North, Jy per pixel.
 *
 *     FITS   axes RA---SIN, DEC--SIN in degrees, the first row in the South; BUNIT JY/PIXEL (JY/BEAM is converted with
 *            BMAJ and BMIN), CDELT or a CD matrix without rotation, OBJECT, FREQ, MJD or DATE-OBS, OBSRA, OBSDEC.  Q,
 *            U, V: planes of an axis STOKES, or image extensions with the keyword STOKES; the second form is written.
 *     HDF5   FILE.h5:/PATH, an array ny x nx, or of ny nx numbers with attributes xdim and ydim; attributes psize
 *            (radians), ra_h, dec_deg, rf, mjd of it, of its group, of /grid or of the file.  Q, U, V: PATH_q PATH_u
 *            PATH_v.  Maps of the spectrum: PATH_alpha PATH_beta; for PATH /image or /GROUP/image also alpha and beta
 *            beside it, as in results.  PATH is /image by default.
 */
#pragma once

#include "base/arena.h"
#include "base/notes.h"
#include "base/status.h"
#include "observation/observation.h"

struct fit_sky {
    size_t nx, ny;
    double pixel;               /* side, radians; NaN unknown, as the following */
    double ra, dec;             /* of the centre: hours, degrees */
    double frequency, mjd;      /* Hz; days */
    char *object;               /* "" unknown */
    double *stokes[FIT_STOKES]; /* ny nx each; I always exists, others may be NULL */
    double *alpha, *beta;       /* ny nx each: spectral index and its curvature; NULL: none (only HDF5 has them) */
    struct fit_notes notes;
    struct fit_arena arena;
};

/* An image of zeros with Stokes I; NULL: out of memory. */
struct fit_sky *fit_image_new(size_t nx, size_t ny);

/* Adds a plane of zeros; 1, or 0: out of memory. */
int fit_image_add_stokes(struct fit_sky *image, enum fit_stokes stokes);
void fit_image_free(struct fit_sky *image);

/* name: FILE.fits, FILE.h5 or FILE.h5:/PATH.  *image is NULL after an error. */
enum fit_status fit_image_read(const char *name, struct fit_sky **image, struct fit_error *err);

/* The same names; a file that ends in .fits is FITS, others are HDF5. The complete file appears at once and replaces
 * an existing one. */
enum fit_status fit_image_write(const char *name, const struct fit_sky *image, struct fit_error *err);
