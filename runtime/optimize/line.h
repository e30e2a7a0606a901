/* line.h -- line searches: phi(t) = f(x + t d), phi'(t) = g(x + t d).d.
 *
 * Every search begins with struct fit_line at t = 0 and leaves x and gradient of the accepted step in xt and gt. */
#pragma once

#include "optimize/method.h"

struct fit_line_point {
    double t, f, slope; /* f: +INFINITY where it is not finite */
};

struct fit_line {
    struct fit_optimize *o;
    const double *d;             /* n */
    const double *end;           /* n: x at t = 1, to the last bit; NULL: x + d */
    double *xt, *gt;             /* n each: the last trial */
    double *best_x, *best_g;     /* n each: for searches that return to an earlier trial; NULL: not needed */
    struct fit_line_point start; /* t = 0 */
    double most;                 /* t may not be larger */
};

/* Value and slope at t, x and gradient in xt and gt; x stays within the bounds despite rounding. */
enum fit_status fit_line_evaluate(struct fit_line *line, double t, struct fit_line_point *p, struct fit_error *err);

/* Each takes a first t and returns the accepted point; *end says how it ended. */

/* Sufficient decrease c1 = 1e-3 and curvature c2 = 0.9, by More & Thuente, ACM TOMS 20 (1994) 286. */
enum fit_status fit_line_more_thuente(struct fit_line *line, double t, struct fit_line_point *p,
                                      enum fit_optimize_step *end, struct fit_error *err);

/* Strong Wolfe conditions c1 = 1e-4, c2 = 0.9, by bracketing and zooming (Nocedal & Wright 2006, algorithms 3.5, 3.6),
 * decrease in its approximate form near the minimum (Hager & Zhang, SIAM J. Optim. 16 (2005) 170).  best_x, best_g. */
enum fit_status fit_line_zoom(struct fit_line *line, double t, struct fit_line_point *p, enum fit_optimize_step *end,
                              struct fit_error *err);

/* Sufficient decrease c1 = 1e-4 (Armijo), backtracking by 0.8. */
enum fit_status fit_line_backtrack(struct fit_line *line, double t, struct fit_line_point *p,
                                   enum fit_optimize_step *end, struct fit_error *err);

/* Minimum of the cubic with values and slopes of a and b; NaN where it has none. */
double fit_line_cubic(struct fit_line_point a, struct fit_line_point b);
