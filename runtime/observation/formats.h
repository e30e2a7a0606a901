/* formats.h -- shared by the readers of this room; other rooms use observation.h and image.h. */
#pragma once

#include "observation/observation.h"

/* 1 when the file begins like a FITS file. */
int fit_fits_is_fits(const char *file);

/* The file of FILE or FILE:/PATH; *path: the part after ':', or NULL. NULL: out of memory. */
char *fit_obs_split(struct fit_arena *a, const char *name, const char **path);

enum fit_status fit_obs_read_hdf5(const char *file, const char *group, struct fit_obs **obs, struct fit_error *err);
enum fit_status fit_obs_read_uvfits(const char *file, struct fit_obs **obs, struct fit_error *err);

struct fit_h5;

/* The number in an attribute of the group, or else of the file; NaN: neither has it. */
enum fit_status fit_obs_attribute(const struct fit_h5 *h, const char *group, const char *name, double *value,
                                  struct fit_error *err);

struct fit_sky;

/* FITS images; the file to be written must not exist. */
enum fit_status fit_image_read_fits(const char *file, struct fit_sky **image, struct fit_error *err);
enum fit_status fit_image_put_fits(const char *file, const struct fit_sky *image, struct fit_error *err);
