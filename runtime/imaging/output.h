/* output.h -- how commands write and print an objective. */
#pragma once

#include "hdf5/h5_writer.h"
#include "imaging/problem.h"

/* /value, /terms/NAME, /gradient, /weights/NAME, the numbers of the model at /hyper, /prior where there is one. */
void fit_imaging_put(struct fit_h5r *w, const struct fit_imaging *p, double value, const double *gradient);

/* The unknowns, or slopes by them: PATH of x, PATH_phi, .. of the other arrays. */
void fit_imaging_put_x(struct fit_h5r *w, const struct fit_imaging *p, const char *path, const double *x);

/* Terms in use: value, weight, share of J. */
void fit_imaging_print(FILE *f, const struct fit_imaging *p, double value);

void fit_imaging_print_notes(FILE *f, const struct fit_notes *notes);

/* "written: FILE, OTHER"; either may be NULL. */
void fit_imaging_print_written(FILE *f, const char *file, const char *other);
