/* rate.h -- coordinates of a rate r(t) = A t^E + C without bounds: the logarithm of the rate at one time, and that of
 * the share the power has in it.
 *
 * With c = tref^E, T = A c + C the rate at tref and S = A c the power's part of it:
 *
 *     T = T0 + 1 / (e^-u + 1 / (T1 - T0)),        T0 = max(0, lowest), T1 = highest rate within the bounds
 *     S = S0 + T / (e^-v + T / (S1 - S0)),        S0 = max(A0 c, T - C1),  S1 = min(A1 c, T - C0)
 *     A = S / c,   C = T - S
 *
 * so that u = log T and v = log(S / T) far from bounds, and every (u, v) gives A and C within theirs, A0 <= A <= A1,
 * C0 <= C <= C1, at every E.  Without bounds log |d(A, C) / d(u, v)| = 2 u + v - E log tref.  T is what data determine
 * best, and v what they do not where E is near 0; the posterior of A and C themselves is a curved ridge there.
 *
 * One of A and C may be fixed: then T (with C fixed: A = (T - C) / c) is the only coordinate.
 * All of it holds where T > 0.  With bounds that allow T <= 0 these points are left out: right only for posteriors
 * that keep away from 0.
 */
#ifndef FIT_RATE_H
#define FIT_RATE_H

struct fit_rate_map {
    double log_tref;                 /* logarithm of tref in the unit of the power's base */
    double lower[2], upper[2];       /* of A and C; infinite: none; equal: fixed */
    int fixed[2];                    /* A, C; not both */
};

enum { FIT_RATE_U, FIT_RATE_V, FIT_RATE_E };

struct fit_rate_point {
    double amplitude, offset, log_slope; /* log |d(A, C) / d(u, v)|, of the free ones of A and C */
    double d_amplitude[3], d_offset[3], d_log_slope[3]; /* derivatives by u, v, E */
};

/* A and C at u, v and the exponent.  Where one of A and C is fixed, v is not looked at.  0: no finite numbers, or
 * bounds that leave no rate above 0 at this exponent. */
int fit_rate_at(const struct fit_rate_map *m, double u, double v, double exponent, struct fit_rate_point *p);

/* u and v of A and C, moved inside their bounds by 1e-6 of the widths where they are on or near one.  0: the rate at tref
 * is not above 0, or the power has no share above its lower bound. */
int fit_rate_of(const struct fit_rate_map *m, double amplitude, double offset, double exponent, double *u, double *v);

#endif
