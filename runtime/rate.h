/* rate.h -- coordinates of a rate without bounds: the logarithm of the rate at one time, that of the share its
 * varying part has in it, and its slope.
 *
 *     r(t) = A exp(E (lambda(t) - X)) + C,     lambda = log(t / time)  (a power, X = 0)   or   t / time
 *
 * With c = exp(E (lambda_ref - X)), T = r(t_ref) and S = A c the varying part of it:
 *
 *     T = T0 + 1 / (e^-u + 1 / (T1 - T0)),        T0 = max(0, lowest), T1 = highest rate within the bounds
 *     S = S0 + R (1 - (1 + e^v)^-a),              S0 = max(A0 c, T - C1),  S1 = min(A1 c, T - C0),
 *                                                 R = S1 - S0,  a = 2 T / (T + R)
 *     w = w0 + y / k,  E = E(w)                   E(w): coordinate.h, w0: where E = 0
 *     A = S / c,   C = T - S
 *
 * so that u = log T far from bounds, and every (u, v, y) gives A, C and E within theirs.  In v the part S is logarithmic
 * near S0 and S1; between them, where they are far apart, it is linear, S0 + 2 T log(1 + e^v), as the priors that alone
 * decide about it there are.  k(u, v) is S / T as it would be for E (and A, or X) of the start: y is E S / T but for the stretching of E(w), the
 * slope d log r / d lambda, and that is what data determine beside T; v they do not where E is near 0.  The posterior of
 * A, E and C themselves is a curved ridge there.  Where the bounds of E exclude 0, k = 1.
 *
 * X, when it is free, cannot be told from A: data see S.  One of them has a coordinate z of its own, the other follows
 * from S; whichever is chosen, only the prior and the bounds say anything about z.
 *     by_shift = 0:   X = X(z), A = S / c
 *     by_shift = 1:   A = A(z), X = lambda_ref - log(S / A) / E,  for E away from 0; the bounds of S are those that X
 *                     between its own can make
 * The second is right where the bounds or the prior of A end the ridge before those of X do, as for f0 in [0, 1].
 *
 * Everything may be fixed but both A (and X) and C.  All of it holds where T > 0.  With bounds that allow T <= 0 these
 * points are left out: right only for posteriors that keep away from 0.
 */
#ifndef FIT_RATE_H
#define FIT_RATE_H

#include "coordinate.h"

enum { FIT_RATE_A, FIT_RATE_C, FIT_RATE_E, FIT_RATE_X, FIT_RATE_PARTS };
enum { FIT_RATE_U, FIT_RATE_V, FIT_RATE_Y, FIT_RATE_Z, FIT_RATE_COORDINATES };

struct fit_rate_map {
    double reference;                            /* lambda_ref */
    struct fit_coordinate part[FIT_RATE_PARTS];  /* coordinates by themselves, with bounds; infinite: none */
    int fixed[FIT_RATE_PARTS];                   /* 1: at part[].lower = part[].upper; X fixed at 0 where there is none */
    int by_shift;
    double start[FIT_RATE_PARTS];                /* values for k; inside the bounds */
};

struct fit_rate_point {
    double part[FIT_RATE_PARTS];
    double log_slope; /* log |d(free parts) / d(coordinates in use)| */
    double d_part[FIT_RATE_PARTS][FIT_RATE_COORDINATES], d_log_slope[FIT_RATE_COORDINATES];
};

/* Is the coordinate looked at?  u always; v unless A and X or C are fixed; y unless E is; z where A and X are free. */
int fit_rate_uses(const struct fit_rate_map *m, int coordinate);

/* The parts at coordinates q.  0: no finite numbers, or bounds that leave no rate above 0 at this exponent. */
int fit_rate_at(const struct fit_rate_map *m, const double q[FIT_RATE_COORDINATES], struct fit_rate_point *p);

/* q of the parts, moved inside their bounds by 1e-6 of the widths where they are on or near one.  0: the rate at t_ref
 * is not above 0, the varying part has no share above its lower bound, or by_shift with E = 0. */
int fit_rate_of(const struct fit_rate_map *m, const double part[FIT_RATE_PARTS], double q[FIT_RATE_COORDINATES]);

#endif
