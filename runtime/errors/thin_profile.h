/* thin_profile.h -- a sketch of the cost around a minimum from few frames: cheap, and accurate enough to lead the way.
 *
 * Profiles minimise the cost over all other parameters again and again, along the same valleys. The sketch is the fit
 * of the same model to pairs of thinned frames (fit_dataset_thin). Each of these represents the nearest pairs of the
 * data: its weight is the sum of their weights, and its value is the model at the minimum there, plus the mean of their
 * residuals. The residuals are included because they curve valleys: their contribution to the curvature of the cost,
 * sum w r d2m, is as large as J^T J for weakly determined parameters. Their contribution to first order is removed, so
 * that the gradient at the minimum is that of the data:
 *
 *     r -> r - J a,   B a = (gradient of the sketch) - (gradient of the data).
 *
 * Its profile is then that of the data to some per cent, where these vary little from one thinned frame to the next
 * (elsewhere it is still a good guess), at a tenth to a thousandth of the price. It leads to points, and says where not
 * to look; every end of an interval, and the validity of an error, rests on values and gradients of all data.
 */
#pragma once

#include "leastsquares/fit_impl.h"

struct fit_sketch;

/* Around f->res->theta, where f->g is the gradient. *sketch: for the caller to free; NULL where a sketch does not
 * pay (few frames) or is not possible. The objective is left there. FIT_ERR_MEMORY; FIT_ERR_INTERRUPTED. */
enum fit_status fit_sketch_new(struct fit_ls *f, struct fit_sketch **sketch);
/* The cost of the data itself, with the same interface: for few values, where a sketch does not pay. The objective
 * of the fit is borrowed. NULL: out of memory. */
struct fit_sketch *fit_sketch_of_data(struct fit_ls *f);
/* The same sketch for member `own` of a crew (crew.h), as long as s lives; for a sketch that is the data, its passes
 * are those of own->obj. */
enum fit_status fit_sketch_twin(const struct fit_sketch *s, struct fit_ls *own, struct fit_sketch **twin);
void fit_sketch_free(struct fit_sketch *s); /* NULL is allowed */

/* 0: it is that of the data itself. */
int fit_sketch_is_thin(const struct fit_sketch *s);

/* Cost of the data at the minimum. */
double fit_sketch_least(const struct fit_sketch *s);

/* Cost of the sketch at theta, comparable with that of the data; the linear unknown u, unless negative, at `value` as
 * in struct fit_objective.  INFINITY: not finite. */
double fit_sketch_value(struct fit_sketch *s, const double *theta, long u, double value);

/* Minimises from theta (in; out: the minimum) inside lower and upper; the linear unknown u, unless negative, at
 * `value` as in struct fit_objective. gtol: of nlsq.h. A run is given up after some steps when its cost exceeds
 * `high` by twice the predicted gain of its gradient; unit: variance of the residuals; patient: after how many (0:
 * three); near: as in struct fit_nlsq_options; matrix: p x p, for B near the end; either may be NULL. *cost: there,
 * comparable with that of the data; NaN: none was found, theta is unchanged. *gradient: as in struct fit_nlsq. */
struct fit_sketch_spec {
    const double *lower, *upper;
    long u;
    double value, gtol, high, unit;
    size_t patient;
    const double *near;
    double *matrix;
};
void fit_sketch_minimise(struct fit_sketch *s, const struct fit_sketch_spec *spec, double *theta,
                         double *cost, double *gradient);
