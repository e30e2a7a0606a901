/* sphere.c -- written by homodyne-gen from sphere.lua.  Edit the model, not this file.
 *
 * Small-angle scattering of a dilute suspension of equal spheres
 *
 *     I(q) = background + scale V delta_rho^2 f^2,   V = 4 pi/3 radius^3
 *     f = 3 (sin x - x cos x)/x^3,   x = q radius
 *
 *   theta      0  radius               [angstrom]
 *   lin        0  scale                [1]
 *              1  background           [1/cm]
 *   setting    0  delta_rho            [1/angstrom^2]
 *   column     0  q                    [1/angstrom]
 *              1  I                    [1/cm]
 *              2  sigma                [1/cm]
 *
 * cost of normal, operations: 0 per frame, 66 per row, 9 per row and group; of moments 7
 *
 * l, t, w    the layout of the data, a tile of them (rows i0 .. i1-1), the tables below
 * row, at    first row of a vector, its place in the tile; g the group of the tile
 * y, r       the data, the residual y - mean; weight: of a row, 0 where it does not count
 * b          basis functions that the linear parameters multiply
 * m          d mean / d theta_k over factor[k], which is the same for all rows
 * H, G, V    sums of J^T J (upper triangle, row by row), J^T r, and of b times J, for J = d mean / d theta
 * scratch    memory for the sums, in vectors
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC diagnostic ignored "-Wunused-parameter" /* what a function is given, a model need not use */
#define FIT_VL FIT_VL_NATIVE /* lanes computed at once: as many as the machine has */
#include "fit/kernel.h"
#include "fit/points.h"
#include "fit/tables.h"
#include "fit/vmath.h"

/* Workspace: scalars, tables over the time grid, tables at the used frames. */
struct tables {
    double *radius_prod; /* 4.18879e+08 * delta_rho^2 * radius^3 */
    double *radius; /* radius */
    double *radius_prod_2; /* -0.1 * radius^2 */
    double *radius_prod_3; /* -0.0357143 * radius^2 */
    double *radius_prod_4; /* -0.0185185 * radius^2 */
    double *radius_prod_5; /* -0.0113636 * radius^2 */
    double *radius_prod_6; /* -0.00769231 * radius^2 */
    double *radius_prod_7; /* -0.00555556 * radius^2 */
    double *three_over_radius_cubed; /* 3 / radius^3 */
    double *minus_radius; /* -radius */
    double *radius_prod_8; /* 1.25664e+09 * delta_rho^2 * radius^2 */
    double *radius_prod_9; /* 8.37758e+08 * delta_rho^2 * radius^3 */
    double *radius_prod_10; /* -0.2 * radius */
    double *radius_prod_11; /* -0.0714286 * radius */
    double *radius_prod_12; /* -0.037037 * radius */
    double *radius_prod_13; /* -0.0227273 * radius */
    double *radius_prod_14; /* -0.0153846 * radius */
    double *radius_prod_15; /* 8.54701e-05 * radius^3 */
    double *radius_prod_16; /* -9 / radius^4 */
    double *three_over_radius_sq; /* 3 / radius^2 */
};

FIT_INLINE size_t carve(const struct fit_layout *l, double *base, struct tables *w)
{
    size_t n = 0;
    w->radius_prod = base + n, n += fit_padded(8);
    w->radius = base + n, n += fit_padded(8);
    w->radius_prod_2 = base + n, n += fit_padded(8);
    w->radius_prod_3 = base + n, n += fit_padded(8);
    w->radius_prod_4 = base + n, n += fit_padded(8);
    w->radius_prod_5 = base + n, n += fit_padded(8);
    w->radius_prod_6 = base + n, n += fit_padded(8);
    w->radius_prod_7 = base + n, n += fit_padded(8);
    w->three_over_radius_cubed = base + n, n += fit_padded(8);
    w->minus_radius = base + n, n += fit_padded(8);
    w->radius_prod_8 = base + n, n += fit_padded(8);
    w->radius_prod_9 = base + n, n += fit_padded(8);
    w->radius_prod_10 = base + n, n += fit_padded(8);
    w->radius_prod_11 = base + n, n += fit_padded(8);
    w->radius_prod_12 = base + n, n += fit_padded(8);
    w->radius_prod_13 = base + n, n += fit_padded(8);
    w->radius_prod_14 = base + n, n += fit_padded(8);
    w->radius_prod_15 = base + n, n += fit_padded(8);
    w->radius_prod_16 = base + n, n += fit_padded(8);
    w->three_over_radius_sq = base + n, n += fit_padded(8);
    return n;
}

static size_t workspace(const struct fit_layout *l)
{
    static double origin[1]; /* only differences of addresses are used */
    struct tables w;
    return carve(l, origin, &w);
}

static enum fit_eval prepare(const struct fit_layout *l, const double *theta, int derivative, double *ws)
{
    struct tables w;
    carve(l, ws, &w);
    const double radius = theta[0]; /* [angstrom] */
    const double delta_rho = l->setting[0]; /* [1/angstrom^2] */

    /* scalars of the call and of the groups */
    {
        /* sphere.lua:23: local radius = m.parameter("radius", { unit = "angstrom", start = 100, bounds ... */
        w.radius[0] = radius;
        /* sphere.lua:36: local f = where(lt(x, 0.5), series(x^2), 3 * (sin(x) - x * cos(x)) / x^3) */
        const double radius_sq = radius*radius;                                /* [angstrom^2] */
        /* sphere.lua:34: return 1 - y/10 * (1 - y/28 * (1 - y/54 * (1 - y/88 * (1 - y/130 * (1 - y/180) ... */
        w.radius_prod_7[0] = -0.005555555555555556*radius_sq;
        w.radius_prod_6[0] = -0.007692307692307693*radius_sq;
        w.radius_prod_5[0] = -0.011363636363636364*radius_sq;
        w.radius_prod_4[0] = -0.018518518518518517*radius_sq;
        w.radius_prod_3[0] = -0.03571428571428571*radius_sq;
        w.radius_prod_2[0] = -0.1*radius_sq;
        /* sphere.lua:36: local f = where(lt(x, 0.5), series(x^2), 3 * (sin(x) - x * cos(x)) / x^3) */
        w.minus_radius[0] = -radius;
        w.three_over_radius_cubed[0] = 3.0*(1.0/(radius*radius*radius));
        /* sphere.lua:34: return 1 - y/10 * (1 - y/28 * (1 - y/54 * (1 - y/88 * (1 - y/130 * (1 - y/180) ... */
        w.radius_prod_14[0] = -0.015384615384615385*radius;
        /* sphere.lua:36: local f = where(lt(x, 0.5), series(x^2), 3 * (sin(x) - x * cos(x)) / x^3) */
        const double radius_cubed = radius*radius*radius;                      /* [angstrom^3] */
        /* sphere.lua:34: return 1 - y/10 * (1 - y/28 * (1 - y/54 * (1 - y/88 * (1 - y/130 * (1 - y/180) ... */
        w.radius_prod_15[0] = 8.547008547008548e-05*radius_cubed;
        w.radius_prod_13[0] = -0.022727272727272728*radius;
        w.radius_prod_12[0] = -0.037037037037037035*radius;
        w.radius_prod_11[0] = -0.07142857142857142*radius;
        w.radius_prod_10[0] = -0.2*radius;
        /* sphere.lua:36: local f = where(lt(x, 0.5), series(x^2), 3 * (sin(x) - x * cos(x)) / x^3) */
        w.radius_prod_16[0] = -9.0*(1.0/(radius*radius*radius*radius));
        w.three_over_radius_sq[0] = 3.0*(1.0/(radius*radius));
        /* sphere.lua:39: local form = convert(V * delta_rho^2, "1/cm") * f^2 */
        const double delta_rho_sq = delta_rho*delta_rho;                       /* [1/angstrom^4] */
        w.radius_prod_8[0] = 1256637061.4359171*delta_rho_sq*radius_sq;
        w.radius_prod_9[0] = 837758040.9572781*delta_rho_sq*radius_cubed;
        w.radius_prod[0] = 418879020.47863907*delta_rho_sq*radius_cubed;
    }
    return FIT_EVAL_OK;
}

/* ---- sums over the data ---------------------------------------------------------------------------- */

static void moments(const struct fit_layout *l, const double *ws, const struct fit_tile *t, double *scratch,
                    double *out)
{
    struct tables w;
    carve(l, (double *)(uintptr_t)ws, &w);
    fit_vd sum[6] = {{0}};
    for (size_t row = t->i0; row < fit_padded(t->i1); row += FIT_VL) {
        const size_t at = row - t->i0;
        fit_vd weight = t->w ? fit_vload(t->w + at) : fit_vset1(1.0);
        if (__builtin_expect(row + FIT_VL > t->i1, 0))
            weight = fit_where_set(fit_row_lanes(t, row), weight);
        const fit_vd q = fit_vload(l->column[0] + row);
        /* sphere.lua:32: local x = q * radius */
        const fit_vd x = w.radius[0]*q;
        /* sphere.lua:39: local form = convert(V * delta_rho^2, "1/cm") * f^2 */
        const fit_vd q_sq = q*q;                                               /* [1/angstrom^2] */
        /* sphere.lua:36: local f = where(lt(x, 0.5), series(x^2), 3 * (sin(x) - x * cos(x)) / x^3) */
        const fit_vd inv_q = 1.0/q;                                            /* [angstrom] */
        const fit_vd f = fit_vselect(x < 0.5, 1.0 + w.radius_prod_2[0]*q_sq*(1.0
                + w.radius_prod_3[0]*q_sq*(1.0 + w.radius_prod_4[0]*q_sq*(1.0
                + w.radius_prod_5[0]*q_sq*(1.0 + w.radius_prod_6[0]*q_sq*(1.0
                + w.radius_prod_7[0]*q_sq))))),
                w.three_over_radius_cubed[0]*inv_q*inv_q*inv_q*(fit_vsin(x) + w.minus_radius[0]*q*fit_vcos(x)));
        /* sphere.lua:39: local form = convert(V * delta_rho^2, "1/cm") * f^2 */
        const fit_vd form = w.radius_prod[0]*f*f;
        const fit_vd d = fit_vload(t->y + at);
        const fit_vd b0 = form;
        const fit_vd b1 = fit_vset1(1.0);
        sum[0] += weight*b0*b0;
        sum[1] += weight*b0*b1;
        sum[2] += weight*b1*b1;
        sum[3] += weight*b0*d;
        sum[4] += weight*b1*d;
        sum[5] += weight*d*d;
    }
    for (size_t k = 0; k < 6; k++)
        out[k] = fit_vsum(sum[k]);
}

enum { SUMS = 5 };

static size_t scratch_size(const struct fit_layout *l)
{
    return FIT_VL * SUMS;
}

FIT_INLINE void normal_rows(const struct fit_layout *l, const struct tables w, const double *lin,
                            const struct fit_tile *t, size_t from, size_t to, const int plain, fit_vd *H,
                            fit_vd *G, fit_vd *V)
{
    for (size_t row = from; row < to; row += FIT_VL) {
        const size_t at = row - t->i0;
        fit_vd weight = t->w && !plain ? fit_vload(t->w + at) : fit_vset1(1.0);
        if (!plain && row + FIT_VL > t->i1)
            weight = fit_where_set(fit_row_lanes(t, row), weight);
        const fit_vd q = fit_vload(l->column[0] + row);
        /* sphere.lua:32: local x = q * radius */
        const fit_vd x = w.radius[0]*q;
        const fit_vm below = x < 0.5;
        /* sphere.lua:39: local form = convert(V * delta_rho^2, "1/cm") * f^2 */
        const fit_vd q_sq = q*q;                                               /* [1/angstrom^2] */
        /* sphere.lua:36: local f = where(lt(x, 0.5), series(x^2), 3 * (sin(x) - x * cos(x)) / x^3) */
        const fit_vd q_prod = q_sq*(1.0 + w.radius_prod_7[0]*q_sq);
        const fit_vd q_prod_2 = q_sq*(1.0 + w.radius_prod_6[0]*q_prod);
        const fit_vd q_prod_3 = q_sq*(1.0 + w.radius_prod_5[0]*q_prod_2);
        /* sphere.lua:34: return 1 - y/10 * (1 - y/28 * (1 - y/54 * (1 - y/88 * (1 - y/130 * (1 - y/180) ... */
        const fit_vd q_prod_4 = q_sq*(1.0 + w.radius_prod_4[0]*q_prod_3);
        const fit_vd q_prod_5 = q_sq*(1.0 + w.radius_prod_3[0]*q_prod_4);
        /* sphere.lua:36: local f = where(lt(x, 0.5), series(x^2), 3 * (sin(x) - x * cos(x)) / x^3) */
        const fit_vd inv_q = 1.0/q;                                            /* [angstrom] */
        const fit_vd sin_x = fit_vsin(x);                                      /* [1] */
        const fit_vd x_prod = inv_q*inv_q*inv_q*(sin_x + w.minus_radius[0]*q*fit_vcos(x)); /* [angstrom^3] */
        const fit_vd f = fit_vselect(below, 1.0 + w.radius_prod_2[0]*q_prod_5,
                w.three_over_radius_cubed[0]*x_prod);
        /* sphere.lua:39: local form = convert(V * delta_rho^2, "1/cm") * f^2 */
        const fit_vd f_sq = f*f;
        const fit_vd form = w.radius_prod[0]*f_sq;
        const fit_vd r = fit_vload(t->y + at) - (lin[0]*form + lin[1]);
        fit_vd m[1] = {{0}}; /* d mean / d theta_k, over factor[k] */
        m[0] = w.radius_prod_8[0]*f_sq + w.radius_prod_9[0]*f*fit_vselect(below,
                w.radius_prod_10[0]*q_prod_5 + w.radius_prod_2[0]*q_sq*(w.radius_prod_11[0]*q_prod_4
                + w.radius_prod_3[0]*q_sq*(w.radius_prod_12[0]*q_prod_3
                + w.radius_prod_4[0]*q_sq*(w.radius_prod_13[0]*q_prod_2
                + w.radius_prod_5[0]*q_sq*(w.radius_prod_14[0]*q_prod
                + w.radius_prod_15[0]*q_sq*q_sq)))), w.radius_prod_16[0]*x_prod
                + w.three_over_radius_sq[0]*inv_q*sin_x); /* radius */
        const fit_vd b0 = form;
        const fit_vd b1 = fit_vset1(1.0);
        const fit_vd mw0 = weight*m[0];
        H[0] += mw0*m[0];
        G[0] += mw0*r;
        V[0] += mw0*b0;
        V[1] += mw0*b1;
    }
}

static void normal(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                   double *scratch, double *out)
{
    struct tables w;
    carve(l, (double *)(uintptr_t)ws, &w);
    fit_vd H[1] = {{0}}, G[1] = {{0}}, V[2] = {{0}};
    const size_t full = t->w ? t->i0 : t->i1 / FIT_VL * FIT_VL;
    normal_rows(l, w, lin, t, t->i0, full, 1, H, G, V);
    normal_rows(l, w, lin, t, full, fit_padded(t->i1), 0, H, G, V);
    double factor[1] = {0};
    factor[0] = lin[0];
    for (size_t k = 0, n = 0; k < 1; k++)
        for (size_t q = k; q < 1; q++)
            *out++ = factor[k]*factor[q]*fit_vsum(H[n++]);
    for (size_t k = 0; k < 1; k++)
        *out++ = factor[k]*fit_vsum(G[k]);
    for (size_t n = 0; n < 2; n++)
        *out++ = factor[n % 1]*fit_vsum(V[n]);
}

static void gradient(const struct fit_layout *l, const double *ws, const double *lin, const double *adj,
                     const struct fit_tile *t, double *scratch, double *out)
{
    struct tables w;
    carve(l, (double *)(uintptr_t)ws, &w);
    const double *const seeds = adj;
    const double *const at_lin = lin;
    fit_vd sum[1] = {{0}};
    for (size_t row = t->i0; row < fit_padded(t->i1); row += FIT_VL) {
        const size_t at = row - t->i0;
        fit_vd weight = t->w ? fit_vload(t->w + at) : fit_vset1(1.0);
        if (__builtin_expect(row + FIT_VL > t->i1, 0))
            weight = fit_where_set(fit_row_lanes(t, row), weight);
        const fit_vd q = fit_vload(l->column[0] + row);
        /* sphere.lua:32: local x = q * radius */
        const fit_vd x = w.radius[0]*q;
        const fit_vm below = x < 0.5;
        /* sphere.lua:39: local form = convert(V * delta_rho^2, "1/cm") * f^2 */
        const fit_vd q_sq = q*q;                                               /* [1/angstrom^2] */
        /* sphere.lua:36: local f = where(lt(x, 0.5), series(x^2), 3 * (sin(x) - x * cos(x)) / x^3) */
        const fit_vd q_prod = q_sq*(1.0 + w.radius_prod_7[0]*q_sq);
        const fit_vd q_prod_2 = q_sq*(1.0 + w.radius_prod_6[0]*q_prod);
        const fit_vd q_prod_3 = q_sq*(1.0 + w.radius_prod_5[0]*q_prod_2);
        /* sphere.lua:34: return 1 - y/10 * (1 - y/28 * (1 - y/54 * (1 - y/88 * (1 - y/130 * (1 - y/180) ... */
        const fit_vd q_prod_4 = q_sq*(1.0 + w.radius_prod_4[0]*q_prod_3);
        const fit_vd q_prod_5 = q_sq*(1.0 + w.radius_prod_3[0]*q_prod_4);
        /* sphere.lua:36: local f = where(lt(x, 0.5), series(x^2), 3 * (sin(x) - x * cos(x)) / x^3) */
        const fit_vd inv_q = 1.0/q;                                            /* [angstrom] */
        const fit_vd sin_x = fit_vsin(x);                                      /* [1] */
        const fit_vd x_prod = inv_q*inv_q*inv_q*(sin_x + w.minus_radius[0]*q*fit_vcos(x)); /* [angstrom^3] */
        const fit_vd f = fit_vselect(below, 1.0 + w.radius_prod_2[0]*q_prod_5,
                w.three_over_radius_cubed[0]*x_prod);
        /* sphere.lua:39: local form = convert(V * delta_rho^2, "1/cm") * f^2 */
        const fit_vd f_sq = f*f;
        const fit_vd form = w.radius_prod[0]*f_sq;
        const fit_vd r = fit_vload(t->y + at) - (at_lin[0]*form + at_lin[1]); /* residual */
        const fit_vd seed_scale = (seeds[0]*at_lin[0])*r - (seeds[1]*form + seeds[2]);
        sum[0] += weight*((w.radius_prod_8[0]*f_sq + w.radius_prod_9[0]*f*fit_vselect(below,
                w.radius_prod_10[0]*q_prod_5 + w.radius_prod_2[0]*q_sq*(w.radius_prod_11[0]*q_prod_4
                + w.radius_prod_3[0]*q_sq*(w.radius_prod_12[0]*q_prod_3
                + w.radius_prod_4[0]*q_sq*(w.radius_prod_13[0]*q_prod_2
                + w.radius_prod_5[0]*q_sq*(w.radius_prod_14[0]*q_prod
                + w.radius_prod_15[0]*q_sq*q_sq)))), w.radius_prod_16[0]*x_prod
                + w.three_over_radius_sq[0]*inv_q*sin_x))*seed_scale); /* radius */
    }
    for (size_t k = 0; k < 1; k++)
        out[k] = fit_vsum(sum[k]);
}

static void model(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                  double *out)
{
    struct tables w;
    carve(l, (double *)(uintptr_t)ws, &w);
    for (size_t row = t->i0; row < fit_padded(t->i1); row += FIT_VL) {
        const fit_vd q = fit_vload(l->column[0] + row);
        /* sphere.lua:32: local x = q * radius */
        const fit_vd x = w.radius[0]*q;
        /* sphere.lua:39: local form = convert(V * delta_rho^2, "1/cm") * f^2 */
        const fit_vd q_sq = q*q;                                               /* [1/angstrom^2] */
        /* sphere.lua:36: local f = where(lt(x, 0.5), series(x^2), 3 * (sin(x) - x * cos(x)) / x^3) */
        const fit_vd inv_q = 1.0/q;                                            /* [angstrom] */
        const fit_vd f = fit_vselect(x < 0.5, 1.0 + w.radius_prod_2[0]*q_sq*(1.0
                + w.radius_prod_3[0]*q_sq*(1.0 + w.radius_prod_4[0]*q_sq*(1.0
                + w.radius_prod_5[0]*q_sq*(1.0 + w.radius_prod_6[0]*q_sq*(1.0
                + w.radius_prod_7[0]*q_sq))))),
                w.three_over_radius_cubed[0]*inv_q*inv_q*inv_q*(fit_vsin(x) + w.minus_radius[0]*q*fit_vcos(x)));
        /* sphere.lua:39: local form = convert(V * delta_rho^2, "1/cm") * f^2 */
        const fit_vd form = w.radius_prod[0]*f*f;
        fit_vstore(out + (row - t->i0), fit_vset1(0.0) + (lin[0]*form + lin[1]));
    }
}

/* ---- single points, by the direct formula ---------------------------------------------------------- */

static void points(const struct fit_layout *l, const double *ws, const double *lin,
                   const struct fit_points *list, double *mean, double *jac)
{
    struct tables w;
    carve(l, (double *)(uintptr_t)ws, &w);
    for (size_t p = 0; p < list->n; p += FIT_VL) { /* points p, p + 1, ...: a vector of them */
        const struct fit_vpoints at = fit_rows_at(list, p);
        const double scale = lin[0];
        const double background = lin[1];
        const fit_vd q = fit_pick(l->column[0], at.i);
        /* sphere.lua:32: local x = q * radius */
        const fit_vd x = q*w.radius[0];
        const fit_vm below = x < 0.5;
        /* sphere.lua:36: local f = where(lt(x, 0.5), series(x^2), 3 * (sin(x) - x * cos(x)) / x^3) */
        const fit_vd q_sq = q*q;                                               /* [1/angstrom^2] */
        /* sphere.lua:34: return 1 - y/10 * (1 - y/28 * (1 - y/54 * (1 - y/88 * (1 - y/130 * (1 - y/180) ... */
        const fit_vd q_sum = 1.0 + q_sq*w.radius_prod_7[0];
        const fit_vd q_sum_2 = 1.0 + q_sq*q_sum*w.radius_prod_6[0];
        const fit_vd q_sum_3 = 1.0 + q_sq*q_sum_2*w.radius_prod_5[0];
        const fit_vd q_sum_4 = 1.0 + q_sq*q_sum_3*w.radius_prod_4[0];
        const fit_vd q_sum_5 = 1.0 + q_sq*q_sum_4*w.radius_prod_3[0];
        const fit_vd inv_q = 1.0/q;
        const fit_vd inv_q_cubed = inv_q*inv_q*inv_q;
        /* sphere.lua:36: local f = where(lt(x, 0.5), series(x^2), 3 * (sin(x) - x * cos(x)) / x^3) */
        const fit_vd sin_x = fit_vsin(x);                                      /* [1] */
        const fit_vd x_sum = sin_x + q*fit_vcos(x)*w.minus_radius[0];          /* [1] */
        const fit_vd f = fit_vselect(below, 1.0 + q_sq*q_sum_5*w.radius_prod_2[0],
                inv_q_cubed*x_sum*w.three_over_radius_cubed[0]);
        /* sphere.lua:39: local form = convert(V * delta_rho^2, "1/cm") * f^2 */
        const fit_vd f_sq = f*f;
        const fit_vd form = f_sq*w.radius_prod[0];
        fit_store_points(mean + p, at.n, scale*form + background);
        if (!jac)
            continue;
        fit_vd J[3];
        J[0] = scale*(f_sq*w.radius_prod_8[0] + f*fit_vselect(below,
                q_sq*q_sum_5*w.radius_prod_10[0]
                + q_sq*w.radius_prod_2[0]*(q_sq*q_sum_4*w.radius_prod_11[0]
                + q_sq*w.radius_prod_3[0]*(q_sq*q_sum_3*w.radius_prod_12[0]
                + q_sq*w.radius_prod_4[0]*(q_sq*q_sum_2*w.radius_prod_13[0]
                + q_sq*w.radius_prod_5[0]*(q_sq*q_sum*w.radius_prod_14[0]
                + q*q*q*q*w.radius_prod_15[0])))), inv_q_cubed*x_sum*w.radius_prod_16[0]
                + inv_q*sin_x*w.three_over_radius_sq[0])*w.radius_prod_9[0]); /* radius */
        J[1] = form; /* scale */
        J[2] = fit_vset1(1.0); /* background */
        fit_store_columns(jac + p, list->n, 3, at.n, J);
    }
}

static void curves(const struct fit_layout *l, const double *theta, double *value, double *tangent)
{
    /* the model has none */
}

/* ---- description ----------------------------------------------------------------------------------- */

static const struct fit_param desc_param[] = {
    {.name = "radius", .unit = "angstrom", .doc = "radius of the sphere",
     .start = 100.0, .lower = 1.0, .upper = 100000.0, .over = -1,
     .prior = FIT_PRIOR_LOG_UNIFORM, .prior_a = 0.0, .prior_b = 0.0},
};

static const struct fit_param desc_linear[] = {
    {.name = "scale", .unit = "1", .doc = "volume fraction",
     .start = 0.01, .lower = 0.0, .upper = HUGE_VAL, .over = -1,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "background", .unit = "1/cm", .doc = "constant background",
     .start = 0.0, .lower = -HUGE_VAL, .upper = HUGE_VAL, .over = -1,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
};

static const struct fit_setting desc_setting[] = {
    {"delta_rho", "1/angstrom^2", "difference of scattering length densities", 1e-06, FIT_STATISTIC_NONE, 0},
};

static const struct fit_column desc_column[] = {
    {"q", "1/angstrom", "wavevector", FIT_ROLE_COVARIATE, 0.0, 0.0},
    {"I", "1/cm", "differential cross section per volume", FIT_ROLE_VALUE, 0.0, 0.0},
    {"sigma", "1/cm", "standard deviation of I", FIT_ROLE_SIGMA, 0.0, 0.0},
};

/* parameter sets, drawn by the model's random() */
static const double desc_screen[] = {
    4466.14,
    197.053,
    12.0033,
    8177.98,
    20.8468,
    95.935,
    33.2356,
    2063.67,
    54.5842,
    7179.46,
    154.669,
    1919.13,
    373.123,
    462.916,
    1332.5,
    359.291,
    292.917,
    1970.77,
    41.1231,
    3407.73,
    3685.27,
    956.381,
    6146.14,
    97.2156,
    3940.22,
    533.314,
    173.34,
    57.4965,
    811.806,
    6206.14,
    6745.9,
    44.6954,
    14.0084,
    11.5513,
    2916.11,
    171.792,
    58.5506,
    50.8023,
    195.089,
    85.8148,
    361.114,
    16.8381,
    12.3631,
    16.5856,
    2460.0,
    5977.75,
    54.0315,
    170.274,
    249.885,
    25.5062,
    4680.71,
    4121.41,
    24.0991,
    11.0911,
    2286.96,
    657.007,
    36.664,
    2684.84,
    7361.22,
    1772.05,
    6065.88,
    101.648,
    53.2834,
    4491.18,
};

extern const struct fit_kernel FIT_KERNEL_SYMBOL;
const struct fit_kernel FIT_KERNEL_SYMBOL = {
    .abi = FIT_KERNEL_ABI,
    .name = "sphere",
    .variant = "fast",
    .title = "Small-angle scattering of a dilute suspension of equal spheres",
    .formula = "I(q) = background + scale V delta_rho^2 f^2,   V = 4 pi/3 radius^3\n"
        "f = 3 (sin x - x cos x)/x^3,   x = q radius\n",
    .reference = "Lord Rayleigh, Proc. R. Soc. Lond. A 90 (1914) 219;\n"
        "A. Guinier and G. Fournet, Small-Angle Scattering of X-Rays, Wiley (1955)",
    .source = "sphere.lua",
    .hash = "42cd854108ba186ab513bb7a6e8e49f9e79dfe3d1335f4adec022820b26bf1dc",
    .isa = FIT_KERNEL_ISA,
    .space = FIT_ROWS,
    .raw = 0,
    .nparam = 1,
    .param = desc_param,
    .nlinear = 2,
    .linear = desc_linear,
    .intercept = 1,
    .nsetting = 1,
    .setting = desc_setting,
    .ncolumn = 3,
    .column = desc_column,
    .nscreen = 64,
    .screen = desc_screen,
    .cost = {.per_frame = 0, .per_pair = 66, .per_pair_group = 9,
             .value_per_pair_group = 7, .functions_per_pair = 2},
    .table_doubles = 0,
    .workspace = workspace,
    .scratch = scratch_size,
    .prepare = prepare,
    .moments = moments,
    .normal = normal,
    .gradient = gradient,
    .model = model,
    .points = points,
    .curves = curves,
};
