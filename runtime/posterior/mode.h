/* mode.h -- the maximum of a log density, its curvature there, and other maxima. */
#pragma once

#include "leastsquares/fit_types.h"
#include "posterior/posterior.h"
#include "sampler/target.h"

/* scale[n], widest[n] <- approximate standard deviations of the coordinates, from the fit where it has some (NULL:
 * there is none); and their largest plausible values. */
void fit_mode_scales(const struct fit_posterior *p, const struct fit_result *fit, const double *q, double *scale,
                         double *widest);

struct fit_mode_ask {
    const double *scale;  /* n: standard deviations, roughly */
    const double *widest; /* n: the most that makes sense */
    uint64_t seed;
};

struct fit_mode {
    double *q, *covariance; /* n; n x n: inverse of the Hessian where that is positive, see mode.c */
    size_t weak;            /* directions along which the density is flat or convex */
    int found;              /* 1: the gradient is next to 0 */
    double log_mass;        /* log p + 1/2 log |covariance| */
};

/* Maximum of the target near mode->q by Newton's method.  FIT_ERR_NUMERIC: no finite gradient there. */
enum fit_status fit_mode_find(const struct fit_target *t, const struct fit_mode_ask *ask, struct fit_mode *mode,
                              struct fit_error *err);

/* The best of the modes found from nstart x n starts, if better than *best (log_mass -INFINITY: none yet). other
 * (n): the best of those that are more than five standard deviations away by the covariance of the best; *other_mass
 * <- its log_mass, -INFINITY: there is none. FIT_ERR_NUMERIC: none was found and there was none. */
enum fit_status fit_mode_search(const struct fit_target *t, size_t nstart, const double *start,
                                const struct fit_mode_ask *ask, struct fit_mode *best, double *other,
                                double *other_mass, struct fit_error *err);

/* 1: q is farther than five standard deviations from the mode; -1: its covariance has no inverse.  room: n^2 + n. */
int fit_mode_far(const struct fit_mode *mode, const double *q, size_t n, double *room);

/* 1/2 log |covariance|; room: n^2. */
double fit_mode_log_root(const struct fit_mode *mode, size_t n, double *room);
