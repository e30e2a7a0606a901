/* observation.h -- visibilities as an interferometer measured them, and files of them.
 *
 * CONVENTIONS. A row is one baseline at one time. It goes from station t1 to station t2: (u, v) = (x1 - x2) / lambda,
 * in wavelengths, u to the East and v to the North, and
 *     V(u, v) = integral I(x, y) exp(+2 pi i (u x + v y)) dx dy,
 * with x to the East and y to the North in radians. The same baseline from t2 to t1 has (-u, -v) and conj V. sigma is
 * the standard deviation of the real part, and of the imaginary part, which are independent. Infinite: not measured (a
 * flag); the visibility is then ignored.
 *
 * FILES.
 *     HDF5     one group ("/obs", or the one that is named): time u v sigma vis_re vis_im t1 t2, and of the other
 *              Stokes parameters qvis_re qvis_im qsigma, uvis.. vvis..; site_xyz (nsite x 3) and site_sefd where known.
 *              Attributes of the group, or else of the file: sites ("ALMA,APEX,..." or a list of texts), rf and bw
 *              (Hz), ra_h (hours), dec_deg, mjd, tint (s), object.  Without time, t1, t2 there are visibilities but no
 *              closures.
 *     UVFITS   random groups and table AIPS AN (AIPS Memo 117): uvfits.h.
 *
 * OWNERSHIP. All arrays belong to the observation and are released by fit_obs_free.
 */
#pragma once

#include "base/arena.h"
#include "base/notes.h"
#include "base/status.h"

#include <stddef.h>

/* One degree in radians, as eht-imaging rounds it. Closure phases that it wrote in degrees return to the same angles
 * only with this number (with pi of full precision they differ by 2.5e-13). */
#define FIT_OBS_DEGREE (3.141592653589 / 180.0)
#define FIT_OBS_UAS (FIT_OBS_DEGREE / 3600.0 * 1e-6) /* a millionth of an arc second */

enum fit_stokes { FIT_STOKES_I, FIT_STOKES_Q, FIT_STOKES_U, FIT_STOKES_V, FIT_STOKES };

/* Visibilities of one Stokes parameter, n each, Jy; NULL: not in the observation. */
struct fit_visibility {
    double *re, *im;
    double *sigma; /* > 0; infinite: not measured */
};

struct fit_obs {
    char *file;   /* where it is from */
    char *object; /* the source; "" unknown */
    size_t nsite;
    char **site;      /* names */
    double *site_xyz; /* nsite x 3, metres, Earth-fixed; NULL unknown */
    double *sefd;     /* nsite, Jy; NULL unknown */

    size_t n;                                 /* rows */
    double *time;                             /* hours since 0h UTC of day mjd; NULL unknown, and then t1 and t2, too */
    double *u, *v;                            /* wavelengths */
    int *t1, *t2;                             /* stations */
    struct fit_visibility stokes[FIT_STOKES]; /* I is always there */

    double frequency, bandwidth; /* Hz; NaN unknown, as the following */
    double ra, dec;              /* hours; degrees */
    double mjd;                  /* whole days */
    double tint;                 /* seconds of integration of a row */

    struct fit_notes notes; /* notes for the user on how it was read */
    struct fit_arena arena;
};

/* name: a HDF5 or UVFITS file, or FILE.h5:/GROUP. *obs is NULL after an error. */
enum fit_status fit_obs_read(const char *name, struct fit_obs **obs, struct fit_error *err);
void fit_obs_free(struct fit_obs *obs);

/* Writes FILE.h5 with the group /obs, which fit_obs_read restores bit for bit; the complete file appears at once. */
enum fit_status fit_obs_write(const char *file, const struct fit_obs *obs, struct fit_error *err);

/* An observation of n rows with time, u, v, t1, t2 and Stokes I, all zero, numbers unknown (NaN) and no stations:
 * for code that makes one. NULL: out of memory. */
struct fit_obs *fit_obs_new(const char *file, size_t n);

/* Adds arrays for a Stokes parameter; its sigma is infinite.  1, or 0: out of memory. */
int fit_obs_add_stokes(struct fit_obs *obs, enum fit_stokes stokes);

/* Requirements on every observation: finite (u, v), stations that exist and differ, sigma > 0, finite visibilities
 * where sigma is finite. FIT_ERR_DATA names the first row that violates them. */
enum fit_status fit_obs_check(const struct fit_obs *obs, struct fit_error *err);

/* 1: Stokes I was measured in the row. */
int fit_obs_measured(const struct fit_obs *obs, size_t row);

/* 1 / (longest baseline) in radians, from measured rows; 0: there is no baseline. */
double fit_obs_beam(const struct fit_obs *obs);

/* place[nsite] <- the position of each station in the order of baselines: t1 stands before t2 in every row; where
 * this leaves a choice, stations keep the order of the table. Where rows contradict each other, the order of the
 * table is used. Returns 1 when the rows determined the order, 0 when the table did. */
int fit_obs_site_order(const struct fit_obs *obs, size_t *place);
