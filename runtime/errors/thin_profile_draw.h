/* thin_profile_draw.h -- the values of a sketch (thin_profile.h): a dataset of thinned frames whose pairs stand
 * for those of the data. */
#ifndef FIT_THIN_PROFILE_DRAW_H
#define FIT_THIN_PROFILE_DRAW_H

#include "leastsquares/objective.h"

struct fit_drawing;

/* About the theta and lin of obj, at which value and derivatives were taken last, with about
 * `frames` frames.  *out: for the caller to free. */
enum fit_status fit_drawing_new(struct fit_objective *obj, const double *theta, size_t frames,
                                struct fit_drawing **out, struct fit_error *err);
void fit_drawing_free(struct fit_drawing *d);

/* The dataset; belongs to the drawing. */
const struct fit_dataset *fit_drawing_data(const struct fit_drawing *d);

/* Takes J a out of the values, J at theta. */
enum fit_status fit_drawing_shift(struct fit_drawing *d, const double *a, struct fit_error *err);

#endif
