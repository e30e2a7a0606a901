/* coordinate.h -- a bounded parameter as a function of a coordinate without bounds.
 *
 *     identity       x = q
 *     above          x = lower + e^q
 *     below          x = upper - e^q
 *     interval       x = lower + (upper - lower) s,  s = 1/(1 + e^-q)
 *     log interval   log x = log lower + (log upper - log lower) s      for scales: 0 < lower
 *
 * The last two are the logit transforms of Stan's reference manual (section 10.2), in x and in log x.
 */
#pragma once

enum fit_coordinate_kind {
    FIT_COORDINATE_IDENTITY,
    FIT_COORDINATE_ABOVE,
    FIT_COORDINATE_BELOW,
    FIT_COORDINATE_INTERVAL,
    FIT_COORDINATE_LOG_INTERVAL
};

struct fit_coordinate {
    enum fit_coordinate_kind kind;
    double lower, upper;
};

/* The form that suits the bounds (infinite or NaN: none); log interval when upper / lower is 100 or more. */
struct fit_coordinate fit_coordinate_for(double lower, double upper);

/* x at q; *slope <- dx/dq; *log_slope <- log |dx/dq|; *bend <- d log|dx/dq| / dq.  Any may be NULL. */
double fit_coordinate_at(const struct fit_coordinate *c, double q, double *slope, double *log_slope,
                         double *bend);

/* q of x; an x on a bound, or within 1e-6 of the width of one, is moved inside by that much, but not farther than by
 * its own size or 1 where bounds like 0 and 1e30 mean that there are none. */
double fit_coordinate_of(const struct fit_coordinate *c, double x);
