/* coreshell_hand.c -- the yardstick for sums that are kept as loops: <F^2> of core-shell spheres over 40 radii, and its
 * derivatives, in vectors of q, written by hand with fit/vmath.h.
 *
 *     F = (1 - c) R^3 a(q R) + c S^3 a(q S),  S = R + d,  R = R0 exp(width z),  a(y) = (sin y - y cos y) / y^3
 *     a'(y) = sin y / y^2 - 3 a(y) / y
 *
 * Below y = 1 the series of a, and its derivative.  F is differentiated by R once, and dR/dR0 = R/R0, dR/dwidth = z R
 * are factors of the node.
 */
#include "coreshell_hand.h"

#include <math.h>

#define FIT_VL FIT_VL_NATIVE
#include "fit/vmath.h"

/* a(y) and, where `slope` is not NULL, a'(y) */
FIT_INLINE fit_vd amplitude(fit_vd y, fit_vd *slope)
{
    const fit_vd z = y * y, far = fit_vselect(y <= 0.5, fit_vset1(0.5), y), inverse = 1.0 / far;
    fit_vd sn, cs;
    fit_vsincos(far, &sn, &cs);
    const fit_vd a7 = 1.0 - z * (1 / 238.0), a6 = 1.0 - z * (1 / 180.0) * a7, a5 = 1.0 - z * (1 / 130.0) * a6;
    const fit_vd a4 = 1.0 - z * (1 / 88.0) * a5, a3 = 1.0 - z * (1 / 54.0) * a4, a2 = 1.0 - z * (1 / 28.0) * a3;
    const fit_vd series = 1 / 3.0 - z * (1 / 30.0) * a2;
    const fit_vd direct = (sn - far * cs) * inverse * inverse * inverse;
    if (slope) { /* by z, then 2 y */
        const fit_vd d7 = fit_vset1(-1 / 238.0), d6 = (1 / -180.0) * (a7 + z * d7), d5 = (1 / -130.0) * (a6 + z * d6);
        const fit_vd d4 = (1 / -88.0) * (a5 + z * d5), d3 = (1 / -54.0) * (a4 + z * d4);
        const fit_vd d2 = (1 / -28.0) * (a3 + z * d3), d1 = (1 / -30.0) * (a2 + z * d2);
        *slope = fit_vselect(y < 1.0, 2.0 * y * d1, sn * inverse * inverse - 3.0 * direct * inverse);
    }
    return fit_vselect(y < 1.0, series, direct);
}

void coreshell_values(const struct coreshell *m, size_t n, const double *q, double *value)
{
    const double d = m->theta[2], c = m->theta[3];
    double R[CORESHELL_NODES];
    for (size_t k = 0; k < CORESHELL_NODES; k++)
        R[k] = m->theta[0] * exp(m->theta[1] * m->z[k]);
    for (size_t i = 0; i < n; i += FIT_VL) {
        const fit_vd x = fit_vload(q + i);
        fit_vd sum = fit_vset1(0.0);
        for (size_t k = 0; k < CORESHELL_NODES; k++) {
            const double S = R[k] + d, core = (1 - c) * R[k] * R[k] * R[k], whole = c * S * S * S;
            const fit_vd F = core * amplitude(x * R[k], NULL) + whole * amplitude(x * S, NULL);
            sum += m->w[k] * F * F;
        }
        fit_vstore(value + i, sum);
    }
}

void coreshell_slopes(const struct coreshell *m, size_t n, const double *q, double *value, double *slope)
{
    const double d = m->theta[2], c = m->theta[3];
    double R[CORESHELL_NODES], by_R0[CORESHELL_NODES];
    for (size_t k = 0; k < CORESHELL_NODES; k++) {
        by_R0[k] = exp(m->theta[1] * m->z[k]);
        R[k] = m->theta[0] * by_R0[k];
    }
    for (size_t i = 0; i < n; i += FIT_VL) {
        const fit_vd x = fit_vload(q + i);
        fit_vd sum[5] = {{0}};
        for (size_t k = 0; k < CORESHELL_NODES; k++) {
            const double S = R[k] + d, R3 = R[k] * R[k] * R[k], S3 = S * S * S;
            fit_vd slope1, slope2;
            const fit_vd a1 = amplitude(x * R[k], &slope1), a2 = amplitude(x * S, &slope2);
            const fit_vd F = (1 - c) * R3 * a1 + c * S3 * a2, g = 2.0 * m->w[k] * F;
            const fit_vd by_S = c * (3 * S * S * a2 + S3 * x * slope2);
            const fit_vd by_R = by_S + (1 - c) * (3 * R[k] * R[k] * a1 + R3 * x * slope1);
            sum[0] += m->w[k] * F * F;
            sum[1] += by_R0[k] * (g * by_R);
            sum[2] += m->z[k] * R[k] * (g * by_R);
            sum[3] += g * by_S;
            sum[4] += g * (S3 * a2 - R3 * a1);
        }
        fit_vstore(value + i, sum[0]);
        for (size_t p = 0; p < 4; p++)
            fit_vstore(slope + p * n + i, sum[p + 1]);
    }
}
