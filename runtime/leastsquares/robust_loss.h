/* robust_loss.h -- robust losses on the data of a tile.
 *
 * A loss replaces z = v r^2 / f^2 by rho(z), v the weight of a residual (1 / variance), f its scale in
 * standard deviations; the cost is 1/2 f^2 sum rho.  As in scipy.optimize.least_squares:
 *     soft_l1  2 (sqrt(1 + z) - 1)        cauchy  ln(1 + z)
 *     huber    z for z <= 1, else 2 sqrt(z) - 1        arctan  arctan(z)
 * The residual's share in the gradient is psi = r rho'(z), in the Hessian psi' = rho' + 2 z rho''.
 */
#pragma once

#include "data/tile_arithmetic.h"
#include "leastsquares/fit_types.h"

/* Sums over a tile.  Lanes with residual 0 add nothing, so that padding needs no care. */
enum fit_rho_sum {
    FIT_RHO_COST,   /* 1/2 f^2 rho */
    FIT_RHO_SLOPE,  /* v (rho' - 1) */
    FIT_RHO_CURVE,  /* v (psi' - 1) */
    FIT_RHO_PSI2,   /* v psi^2 */
    FIT_RHO_DPSI,   /* psi' - 1 */
    FIT_RHO_SQUARE, /* v r^2 */
    FIT_RHO_SUMS
};

/* Weights w and data y whose sum of squares has, at the model of t, the gradient of the robust cost and
 * `curve` times the curvature of its majorant:  w = curve v rho'(z),  y = mean + (y - mean) / curve.
 * curve = 1: the majorant itself (Holland & Welsch 1977).  y may be t->mean. */
void fit_rho_weights(const struct fit_lanes *t, enum fit_loss loss, double f, double curve, double *w,
                     double *y);

/* Both at once, of the majorant, whose data are y itself. */
void fit_rho_both(const struct fit_lanes *t, enum fit_loss loss, double f, double *w, double *sum);
