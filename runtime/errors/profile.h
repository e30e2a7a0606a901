/* profile.h -- compares the errors of a fit with the cost itself.
 *
 * Standard errors assume that the cost is quadratic. Where parameters nearly compensate for one another (D0 and
 * D_offset for an exponent near 0) its valley curves or widens, or a bound stops the fit halfway along it, and they are
 * too small, by a factor of up to hundreds. Where the derivative with respect to a parameter vanishes at the minimum
 * but not beside it (an angle along which the flow is measured) they are too large. The alternative is the profile
 * likelihood (likelihood.h; Bates & Watts, Nonlinear Regression Analysis (1988), section 6.1):
 *
 *     a standard error is reported when the 95 % interval of the profile reaches, on both sides, at most MUCH = 1.5
 *     times as far as the quadratic one (tables: 4 times), and on one of them at least 1/MUCH of it; and when no other
 *     minimum is as low as 3 sigma (tables: 95 %) and farther away than 3 standard errors. Otherwise there is none,
 *     and the interval, perhaps of several parts, replaces it.
 *
 * All parameters are tested, first by two values of the cost, two standard errors away along the axis of the quadratic
 * approximation, and, where these are much more than 4 above the minimum in units of the noise, by a fit there. For
 * nonlinear parameters a sketch of the cost (thin_profile.h) is used; its curvature along the axis is scaled to that of
 * the data by values close to the minimum, and two values of the data decide whether it can be trusted. Where the rise
 * is not about 4 the ends of the profile's intervals are found. Then a survey (survey.h) looks for valleys and minima
 * elsewhere. Every point met inside a 95 % interval is evidence on how far all other parameters, contrasts too, may be
 * off (evidence.h): those that it contradicts are examined again. Each profile learns from those before it except the
 * last few, which may be under way at the same time (crew.h); which these are does not depend on the number of threads.
 *
 * Parameters without a standard error because they are on a bound, or near a value at which the model cannot
 * distinguish them from others (degeneracy.h), get these intervals as well; not those that the model determines
 * nowhere.
 */
#pragma once

#include "leastsquares/fit_impl.h"

/* Limit of the reach of an interval relative to the quadratic one, or of the inverse: beyond it the standard error
 * is invalid. */
#define FIT_PROFILE_MUCH 1.5

/* After fit_covariance(), fit_degeneracies() and the robust errors, variance as there: fills profile and interval of
 * f->res; keeps the errors from the curvature in std_curvature, paraboloid and paraboloid_robust, and removes
 * invalid ones from std, std_robust and the covariances. With a robust loss: for the sum of squares that touches its
 * cost at the minimum. The objective is left at another point. A lower cost met on the way is left in f->better
 * (f->found_lower = 1). */
enum fit_status fit_profile_errors(struct fit_ls *f, double variance);

enum fit_interval_kind {
    FIT_INTERVAL_NONE, /* held, or not tested: all ends NaN */
    FIT_INTERVAL_CURVATURE,
    FIT_INTERVAL_PROFILE
};
/* NULL, "curvature", "profile" */
const char *fit_interval_word(enum fit_interval_kind kind);

/* Intervals of 68 and 95 % of element k of the full vector, whatever its error: the quadratic ones, inside the
 * bounds, where they are valid, otherwise those of the profile likelihood, with NaN for an end that the data do not
 * set. Where residuals share noise they are as much wider as the robust error is; there are none where that is
 * unknown. */
enum fit_interval_kind fit_profile_interval(const struct fit_result *r, size_t k, double lower[2], double upper[2]);

/* Removes the error of element e from std, std_robust and the covariances. */
void fit_profile_withhold(struct fit_result *r, size_t e);

/* The largest of interval[].wider. */
double fit_profile_widest(const struct fit_result *r);

/* Fills these arrays when the profile is not computed. */
void fit_profile_none(struct fit_result *r);
