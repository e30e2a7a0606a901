/* rate_coordinates.h -- coordinates of a rate without bounds: the logarithm of the rate at one time, that of the
 * share its varying part has in it, and its slope.
 *
 *     r(t) = A exp(E (lambda(t) - X)) + C,     lambda = log(t / time)  (a power, X = 0)   or   t / time
 *
 * With c = exp(E (lambda_ref - X)), T = r(t_ref) and S = A c the varying part of it:
 *
 *     T = T0 + (e^-8u + (T1 - T0)^-8)^(-1/8),     T0 = max(0, lowest), T1 = highest rate within the bounds
 *     S = S0 + R (1 - (1 + e^v)^-a),              S0 = max(lowest, T - C1),  S1 = min(highest, T - C0),
 *                                                 R = S1 - S0,  a = 2 T / (T + R)
 *     w = w0 + y / k,  E = E(w)                   E(w): coordinate.h, w0: where E = 0
 *     A = S / c,   C = T - S
 *
 * so that u = log T far from bounds, and every (u, v, y) gives A, C and E within theirs.  In v the part S is
 * logarithmic near S0 and S1; between them, where they are far apart, it is linear, S0 + 2 T log(1 + e^v), as the
 * priors that alone decide about it there are.  k(u, v) is S / T as it would be for the E of the start: y is E S / T
 * but for the stretching of E(w), the slope d log r / d lambda, and that is what data determine beside T; v they do not
 * where E is near 0.  The posterior of A, E and C themselves is a curved ridge there.  Where the bounds of E exclude 0,
 * k = 1.
 *
 * X, when it is free, cannot be told from A: data see S.  What is left of the two,
 *
 *     X = lambda_ref + h b(z),   h = 1 / sqrt(E^2 + 1 / width^2),   b(z) = z far from the bounds of b,
 *
 * is determined by the prior alone: for E away from 0, where A = S exp(E (X - lambda_ref)) has to stay within its
 * bounds, z is a logarithm of A, and near E = 0, where A = S, it is X.  The bounds of b are those of A and of X.  The
 * prior mass of X at given S grows as 1 / E towards E = 0, so y is then the logarithm of the slope, on both sides of 0:
 *
 *     w = w0 + (near / k) sinh y,   near = 1 / (width dE/dw)
 *
 * Everything may be fixed but not both A and C, and not A beside a free X.  All of it holds where T > 0.  With bounds
 * that allow T <= 0 these points are left out: right only for posteriors that keep away from 0.
 */
#pragma once

#include "math/coordinate.h"

enum { FIT_RATE_A, FIT_RATE_C, FIT_RATE_E, FIT_RATE_X, FIT_RATE_PARTS };
enum { FIT_RATE_U, FIT_RATE_V, FIT_RATE_Y, FIT_RATE_Z, FIT_RATE_COORDINATES };

struct fit_rate_map {
    double reference;                            /* lambda_ref */
    struct fit_coordinate part[FIT_RATE_PARTS];  /* coordinates by themselves, with bounds; infinite: none */
    int fixed[FIT_RATE_PARTS]; /* 1: at part[].lower = part[].upper; X fixed at 0 where there is none */
    double width;                                /* of what X may be, roughly; not looked at where X is fixed */
    double start[FIT_RATE_PARTS];                /* E of the start, for k */
};

struct fit_rate_point {
    double part[FIT_RATE_PARTS];
    double log_slope; /* log |d(free parts) / d(coordinates in use)| */
    double d_part[FIT_RATE_PARTS][FIT_RATE_COORDINATES], d_log_slope[FIT_RATE_COORDINATES];
};

/* Is the coordinate used? u always; v unless A or C is fixed; y unless E is; z unless X is. */
int fit_rate_uses(const struct fit_rate_map *m, int coordinate);

/* The parts at coordinates q.  0: no finite numbers, or bounds that leave no rate above 0 at this exponent. */
int fit_rate_at(const struct fit_rate_map *m, const double q[FIT_RATE_COORDINATES], struct fit_rate_point *p);

/* q of the parts, moved inside their bounds by 1e-6 of the widths where they are on or near one.  0: the rate at t_ref
 * is not above 0, or the varying part has no share above its lower bound. */
int fit_rate_of(const struct fit_rate_map *m, const double part[FIT_RATE_PARTS], double q[FIT_RATE_COORDINATES]);
