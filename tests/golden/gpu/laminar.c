/* laminar.c -- written by homodyne-gen from laminar.lua.  Edit the model, not this file.
 *
 * Homodyne two-time correlation of a colloid in laminar shear flow
 *
 *     c2(phi, t1, t2) = offset + contrast g1^2
 *     g1 = exp(-q^2/2 I_D) sinc(x)^2,   x = q gap/(2 pi) cos(phi0 - phi) I_shear,   sinc x = sin x / x
 *     I_D = integral of D(t), I_shear = integral of the shear rate, both from t1 to t2
 *     D(t) = D0 t^alpha + D_offset,   shear rate(t) = gamma_dot_t0 t^beta + gamma_dot_t_offset   (t in s)
 *     Integrals are sums of trapezoids from frame to frame, with dt/2 in the place of t = 0
 *
 *   theta      0  D0                   [angstrom^2/s]
 *              1  alpha                [1]
 *              2  D_offset             [angstrom^2/s]
 *              3  gamma_dot_t0         [1/s]
 *              4  beta                 [1]
 *              5  gamma_dot_t_offset   [1/s]
 *              6  phi0                 [deg]
 *   lin        0  contrast             [1]
 *              1  offset               [1]
 *   setting    0  q                    [1/angstrom]
 *              1  gap                  [angstrom]
 *   group      0  phi                  [deg]
 *
 * cost of normal, operations: 112 per frame, 92 per pair, 64 per pair and group; of moments 20
 *
 * l, t, w    the layout of the data, a tile of them (frames i0 .. i1-1 by j0 .. j1-1), the tables below
 * i, j, g    first and second frame of a pair, its group; a vector holds pairs (i, j), (i, j+1), ..., a block b
 *            FIT_LANES of them, beginning with lane h
 * y, r       the data, the residual y - mean; use, weight, root: lanes that count, weights, their roots
 * b_X        the basis function that the linear parameter X multiplies
 * m_C        a channel: d mean / d C of an integral or factor C; u_C_X = d C / d X, small, of a parameter X
 * F, field   products of two channels, or of a channel and the residual, summed over groups
 * H          sums of J^T J, upper triangle row by row, then of J^T r, for J = d mean / d theta = sum of m_C u_C
 * V          cross moments sum b_X d mean / d theta of each group
 * column, row, row_sum   the sums of these down the columns, along a row, and times tables
 * down, along            sums of fields, the same, that get their other factor later
 * pair       what does not depend on the group; exps: whether the tables of an exponential serve in this tile
 * sums       of b_X b_Y, b_X y, y y for each group; scratch: memory for all sums, in vectors
 *
 * worst rounding error found, of the direct formula, in units of the last place of the result, or of
 * what rounding its inputs changes where that is more; at 534 places of the declared box
 *   output                        ulp  at
 *   c2                            0.7  t1 = 99.9, t2 = 100, phi = 0, D0 = 509.023, alpha = -0.049...
 *   d c2/d D0                    27.9  t1 = 99.9, t2 = 100, phi = 180, D0 = 8118.06, alpha = 0.82...
 *   d c2/d alpha                116.8  t1 = 99.9, t2 = 100, phi = 180, D0 = 100000, alpha = -2, D...
 *   d c2/d D_offset               0.4  rounding of the result
 *   d c2/d gamma_dot_t0         261.5  t1 = 99.9, t2 = 100, phi = 0, D0 = 123.631, alpha = -1.316...
 *   d c2/d beta                  94.5  t1 = 99.9, t2 = 100, phi = 0, D0 = 100, alpha = -0.42118, ...
 *   d c2/d gamma_dot_t_offset     0.6  t1 = 99.9, t2 = 100, phi = 180, D0 = 255.062, alpha = 0.72...
 *   d c2/d phi0                   0.4  rounding of the result
 *   d c2/d contrast               0.7  t1 = 99.9, t2 = 100, phi = 45, D0 = 35733.5, alpha = -0.07...
 *   d c2/d offset                 0.0  rounding of the result
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
    double *time_grid; /* time, padded */
    double *int_shear; /* integral(shear) */
    double *int_shear_low; /* what its rounding left */
    double *exp_u_D_i; /* exp of integral(D) * minus_q_sq */
    double *exp_u_D_j; /* the same for the second frame */
    double *int_D; /* integral(D) */
    double *int_D_low; /* what its rounding left */
    double *minus_q_sq; /* -q^2 */
    double *s; /* q * gap / 6.28318530718 * cos(phi0 - phi) */
    double *inv_s; /* 1/s */
    double *sin_u_shear_i; /* sin of integral(shear) * s */
    double *cos_u_shear_i; /* and its cos */
    double *sin_u_shear_j; /* the same, vectors at the second frame */
    double *cos_u_shear_j; /* and their cos */
    double *int_dD_dD0; /* integral(dD_dD0) */
    double *int_dD_dalpha; /* integral(dD_dalpha) */
    double *int_dD_dD_offset; /* integral(dD_dD_offset) */
    double *int_dshear_dgamma_dot_t0; /* integral(dshear_dgamma_dot_t0) */
    double *int_dshear_dbeta; /* integral(dshear_dbeta) */
    double *int_dshear_dgamma_dot_t_offset; /* integral(dshear_dgamma_dot_t_offset) */
    double *four_s; /* 4 * s */
    double *ds_dphi0; /* -0.00277778 * q * gap * sin(0.0174533 * (phi0 - phi)) */
    double *ts_to_alpha_grid; /* ts^alpha */
    double *D_grid; /* where(le(D0 * ts^alpha + D_offset, 1e-10 * unit "angstrom^2/s"), 1e-10 * ... */
    double *ts_to_beta_grid; /* ts^beta */
    double *shear_grid; /* where(le(gamma_dot_t0 * ts^beta + gamma_dot_t_offset, 1e-10 / unit "s"), ... */
    double *int_D_grid; /* integral(D) */
    double *int_D_grid_low; /* what its rounding left */
    double *int_shear_grid; /* integral(shear) */
    double *int_shear_grid_low; /* what its rounding left */
    double *dD_dD0_grid; /* where(le(D_offset + D0 * ts^alpha, 1e-10), 0, ts^alpha) */
    double *int_dD_dD0_grid; /* integral(dD_dD0) */
    double *dD_dalpha_grid; /* where(le(D_offset + D0 * ts^alpha, 1e-10), 0, D0 * ts^alpha * log(ts)) */
    double *int_dD_dalpha_grid; /* integral(dD_dalpha) */
    double *dD_dD_offset_grid; /* where(le(D_offset + D0 * ts^alpha, 1e-10), 0, 1) */
    double *int_dD_dD_offset_grid; /* integral(dD_dD_offset) */
    double *dshear_dgamma_dot_t0_grid; /* where(le(gamma_dot_t_offset + gamma_dot_t0 * ts^beta, 1e-10), 0, ts^beta) */
    double *int_dshear_dgamma_dot_t0_grid; /* integral(dshear_dgamma_dot_t0) */
    double *dshear_dbeta_grid; /* where(le(gamma_dot_t_offset + gamma_dot_t0 * ts^beta, 1e-10), 0, gamma_do... */
    double *int_dshear_dbeta_grid; /* integral(dshear_dbeta) */
    double *dshear_dgamma_dot_t_offset_grid; /* where(le(gamma_dot_t_offset + gamma_dot_t0 * ts^beta, 1e-10), 0, 1) */
    double *int_dshear_dgamma_dot_t_offset_grid; /* integral(dshear_dgamma_dot_t_offset) */
};

FIT_INLINE size_t carve(const struct fit_layout *l, double *base, struct tables *w)
{
    const size_t ng = l->ngroup;
    const size_t nt = fit_padded(l->ntime);
    const size_t nf = fit_padded(l->nframe);
    size_t n = 0;
    w->time_grid = base + n, n += nt;
    w->int_shear = base + n, n += fit_padded(nf);
    w->int_shear_low = base + n, n += fit_padded(nf);
    w->exp_u_D_i = base + n, n += fit_padded(nf);
    w->exp_u_D_j = base + n, n += fit_padded(nf);
    w->int_D = base + n, n += fit_padded(nf);
    w->int_D_low = base + n, n += fit_padded(nf);
    w->minus_q_sq = base + n, n += fit_padded(8);
    w->s = base + n, n += fit_padded(ng);
    w->inv_s = base + n, n += fit_padded(ng);
    w->sin_u_shear_i = base + n, n += fit_padded(nf * ng);
    w->cos_u_shear_i = base + n, n += fit_padded(nf * ng);
    w->sin_u_shear_j = base + n, n += fit_padded(nf * ng);
    w->cos_u_shear_j = base + n, n += fit_padded(nf * ng);
    w->int_dD_dD0 = base + n, n += fit_padded(nf);
    w->int_dD_dalpha = base + n, n += fit_padded(nf);
    w->int_dD_dD_offset = base + n, n += fit_padded(nf);
    w->int_dshear_dgamma_dot_t0 = base + n, n += fit_padded(nf);
    w->int_dshear_dbeta = base + n, n += fit_padded(nf);
    w->int_dshear_dgamma_dot_t_offset = base + n, n += fit_padded(nf);
    w->four_s = base + n, n += fit_padded(ng);
    w->ds_dphi0 = base + n, n += fit_padded(ng);
    w->ts_to_alpha_grid = base + n, n += fit_padded(nt);
    w->D_grid = base + n, n += fit_padded(nt);
    w->ts_to_beta_grid = base + n, n += fit_padded(nt);
    w->shear_grid = base + n, n += fit_padded(nt);
    w->int_D_grid = base + n, n += fit_padded(nt);
    w->int_D_grid_low = base + n, n += fit_padded(nt);
    w->int_shear_grid = base + n, n += fit_padded(nt);
    w->int_shear_grid_low = base + n, n += fit_padded(nt);
    w->dD_dD0_grid = base + n, n += fit_padded(nt);
    w->int_dD_dD0_grid = base + n, n += fit_padded(nt);
    w->dD_dalpha_grid = base + n, n += fit_padded(nt);
    w->int_dD_dalpha_grid = base + n, n += fit_padded(nt);
    w->dD_dD_offset_grid = base + n, n += fit_padded(nt);
    w->int_dD_dD_offset_grid = base + n, n += fit_padded(nt);
    w->dshear_dgamma_dot_t0_grid = base + n, n += fit_padded(nt);
    w->int_dshear_dgamma_dot_t0_grid = base + n, n += fit_padded(nt);
    w->dshear_dbeta_grid = base + n, n += fit_padded(nt);
    w->int_dshear_dbeta_grid = base + n, n += fit_padded(nt);
    w->dshear_dgamma_dot_t_offset_grid = base + n, n += fit_padded(nt);
    w->int_dshear_dgamma_dot_t_offset_grid = base + n, n += fit_padded(nt);
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
    const size_t ng = l->ngroup;
    const size_t nt = fit_padded(l->ntime);
    struct tables w;
    carve(l, ws, &w);
    const double D0 = theta[0]; /* [angstrom^2/s] */
    const double alpha = theta[1]; /* [1] */
    const double D_offset = theta[2]; /* [angstrom^2/s] */
    const double gamma_dot_t0 = theta[3]; /* [1/s] */
    const double beta = theta[4]; /* [1] */
    const double gamma_dot_t_offset = theta[5]; /* [1/s] */
    const double phi0 = theta[6]; /* [deg] */
    const double q = l->setting[0]; /* [1/angstrom] */
    const double gap = l->setting[1]; /* [angstrom] */

    /* scalars of the call and of the groups */
    {
        /* laminar.lua:60: local g1       = exp(-q^2 / 2 * integral(D, t1, t2)) * sinc(s * integral(shea ... */
        w.minus_q_sq[0] = -q*q;
        for (size_t g = 0; g < ng; g++) {
            /* laminar.lua:56: local s = q * gap / (2 * pi) * cos(phi0 - phi) */
            const double phi0_minus_phi = 0.017453292519943295*(phi0 - l->coord[0][g]); /* [1] */
            const double s = 0.15915494309189535*q*gap*cos(phi0_minus_phi);    /* [1] */
            w.s[g] = s;
            /* laminar.lua:62: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * g1^2, ... */
            w.four_s[g] = 4.0*w.s[g];
            /* laminar.lua:56: local s = q * gap / (2 * pi) * cos(phi0 - phi) */
            const double ds_dphi0 = -0.002777777777777778*q*gap*sin(phi0_minus_phi); /* [1] */
            w.ds_dphi0[g] = ds_dphi0;
            /* laminar.lua:60: local g1       = exp(-q^2 / 2 * integral(D, t1, t2)) * sinc(s * integral( ... */
            w.inv_s[g] = 1.0/w.s[g];
        }
    }

    if (derivative >= 0) { /* functions of time and their integrals */
        for (size_t k = 0; k < nt; k++)
            w.time_grid[k] = l->time[k < l->ntime ? k : l->ntime - 1];
        {
            /* laminar.lua:58: local ts       = floor_at(t, t.step / 2) / second */
            const double half_step = 0.5*l->step;                              /* [s] */
            for (size_t k = 0; k < nt; k += FIT_VL) {
                const fit_vd ts = fit_vselect(fit_vload(w.time_grid + k) <= half_step,
                        fit_vset1(half_step), fit_vload(w.time_grid + k)); /* [1] */
                /* laminar.lua:50: local D     = floor_at(D0 * ts^alpha + D_offset, 1e-10 * unit "angstr ... */
                const fit_vd ts_to_alpha = fit_vpow(ts, fit_vset1(alpha));     /* [1] */
                fit_vstore(w.ts_to_alpha_grid + k, ts_to_alpha);
                const fit_vd ts_sum = D_offset + D0*ts_to_alpha;               /* [angstrom^2/s] */
                const fit_vd D = fit_vselect(ts_sum <= 1e-10, fit_vset1(1e-10), ts_sum); /* [angstrom^2/s] */
                fit_vstore(w.D_grid + k, D);
                /* laminar.lua:51: local shear = floor_at(gamma_dot_t0 * ts^beta + gamma_dot_t_offset, 1 ... */
                const fit_vd ts_to_beta = fit_vpow(ts, fit_vset1(beta));       /* [1] */
                fit_vstore(w.ts_to_beta_grid + k, ts_to_beta);
                const fit_vd ts_sum_2 = gamma_dot_t_offset + gamma_dot_t0*ts_to_beta; /* [1/s] */
                const fit_vd shear = fit_vselect(ts_sum_2 <= 1e-10, fit_vset1(1e-10), ts_sum_2); /* [1/s] */
                fit_vstore(w.shear_grid + k, shear);
            }
        }
        fit_trapezoids(l->ntime, l->time, 2, (const struct fit_integral[]){
            {w.D_grid, w.int_D_grid, w.int_D_grid_low},
            {w.shear_grid, w.int_shear_grid, w.int_shear_grid_low},
        });
        fit_gather(l, w.int_shear_grid, w.int_shear);
        fit_gather(l, w.int_shear_grid_low, w.int_shear_low);
        fit_gather(l, w.int_D_grid, w.int_D);
        fit_gather(l, w.int_D_grid_low, w.int_D_low);

        /* factored forms */
        fit_exp_tables_scaled(l, w.minus_q_sq[0], w.int_D, w.int_D_low, w.exp_u_D_i, w.exp_u_D_j);
        fit_rotation_group(l, w.s, w.int_shear, w.int_shear_low, w.sin_u_shear_i, w.cos_u_shear_i, w.sin_u_shear_j, w.cos_u_shear_j);
    }

    if (derivative) { /* tangents: the same integrals of the derivatives */
        {
            /* laminar.lua:58: local ts       = floor_at(t, t.step / 2) / second */
            const double half_step = 0.5*l->step;                              /* [s] */
            for (size_t k = 0; k < nt; k += FIT_VL) {
                const fit_vm below = (D_offset + D0*fit_vload(w.ts_to_alpha_grid + k)) <= 1e-10;
                /* laminar.lua:50: local D     = floor_at(D0 * ts^alpha + D_offset, 1e-10 * unit "angstr ... */
                const fit_vd dD_dD0 = fit_vselect(below, fit_vset1(0.0),
                        fit_vload(w.ts_to_alpha_grid + k)); /* [1] */
                fit_vstore(w.dD_dD0_grid + k, dD_dD0);
                /* laminar.lua:58: local ts       = floor_at(t, t.step / 2) / second */
                const fit_vd ts = fit_vselect(fit_vload(w.time_grid + k) <= half_step,
                        fit_vset1(half_step), fit_vload(w.time_grid + k)); /* [1] */
                fit_vd log_ts_low;
                const fit_vd log_ts = fit_vlog_low(ts, &log_ts_low);
                /* laminar.lua:50: local D     = floor_at(D0 * ts^alpha + D_offset, 1e-10 * unit "angstr ... */
                const fit_vd dD_dalpha = fit_vselect(below, fit_vset1(0.0),
                        D0*fit_vload(w.ts_to_alpha_grid + k)*log_ts); /* [angstrom^2/s] */
                fit_vstore(w.dD_dalpha_grid + k, dD_dalpha);
                const fit_vd dD_dD_offset = fit_vselect(below, fit_vset1(0.0), fit_vset1(1.0));
                fit_vstore(w.dD_dD_offset_grid + k, dD_dD_offset);
                const fit_vm below_2 = (gamma_dot_t_offset
                        + gamma_dot_t0*fit_vload(w.ts_to_beta_grid + k)) <= 1e-10;
                /* laminar.lua:51: local shear = floor_at(gamma_dot_t0 * ts^beta + gamma_dot_t_offset, 1 ... */
                const fit_vd dshear_dgamma_dot_t0 = fit_vselect(below_2, fit_vset1(0.0),
                        fit_vload(w.ts_to_beta_grid + k)); /* [1] */
                fit_vstore(w.dshear_dgamma_dot_t0_grid + k, dshear_dgamma_dot_t0);
                const fit_vd dshear_dbeta = fit_vselect(below_2, fit_vset1(0.0),
                        gamma_dot_t0*fit_vload(w.ts_to_beta_grid + k)*log_ts); /* [1/s] */
                fit_vstore(w.dshear_dbeta_grid + k, dshear_dbeta);
                const fit_vd dshear_dgamma_dot_t_offset = fit_vselect(below_2, fit_vset1(0.0), fit_vset1(1.0));
                fit_vstore(w.dshear_dgamma_dot_t_offset_grid + k, dshear_dgamma_dot_t_offset);
            }
        }
        fit_trapezoids(l->ntime, l->time, 6, (const struct fit_integral[]){
            {w.dD_dD0_grid, w.int_dD_dD0_grid, NULL},
            {w.dD_dalpha_grid, w.int_dD_dalpha_grid, NULL},
            {w.dD_dD_offset_grid, w.int_dD_dD_offset_grid, NULL},
            {w.dshear_dgamma_dot_t0_grid, w.int_dshear_dgamma_dot_t0_grid, NULL},
            {w.dshear_dbeta_grid, w.int_dshear_dbeta_grid, NULL},
            {w.dshear_dgamma_dot_t_offset_grid, w.int_dshear_dgamma_dot_t_offset_grid, NULL},
        });
        fit_gather(l, w.int_dD_dD0_grid, w.int_dD_dD0);
        fit_gather(l, w.int_dD_dalpha_grid, w.int_dD_dalpha);
        fit_gather(l, w.int_dD_dD_offset_grid, w.int_dD_dD_offset);
        fit_gather(l, w.int_dshear_dgamma_dot_t0_grid, w.int_dshear_dgamma_dot_t0);
        fit_gather(l, w.int_dshear_dbeta_grid, w.int_dshear_dbeta);
        fit_gather(l, w.int_dshear_dgamma_dot_t_offset_grid, w.int_dshear_dgamma_dot_t_offset);
    }
    double check = 0.0; /* NaN where a table is not finite */
    check += 0.0 * w.int_shear[l->nframe - 1];
    check += 0.0 * w.int_D[l->nframe - 1];
    return check == 0.0 ? FIT_EVAL_OK : FIT_EVAL_REJECT;
}

/* ---- sums over the data ---------------------------------------------------------------------------- */

/* One vector of pairs, (i, FIT_LANES b + h), ..., and where their weights and data stand. */
struct block {
    const struct fit_layout *l;
    const struct tables *w;
    const struct fit_exp_tile *exps;
    const double *lin;
    const double *adj;
    const struct fit_tile *t;
    size_t i;
    size_t b;
    size_t h;
    size_t at;
    const double *data;
};

/* Pairs (i, 8b .. 8b+7): sums of products of the basis functions and the data, per group. */
FIT_INLINE void moments_block(const struct block *block, fit_vd *restrict sums, const int masked)
{
    const struct fit_layout *l = block->l;
    const struct tables *w = block->w;
    const struct fit_exp_tile *exps = block->exps;
    const struct fit_tile *t = block->t;
    size_t i = block->i;
    size_t b = block->b;
    size_t h = block->h;
    size_t at = block->at;
    const double *data = block->data;
    const size_t ng = l->ngroup;
    const size_t j = b * FIT_LANES + h;
    const fit_vm lanes = masked ? fit_pair_lanes(t, i, j) : (fit_vm){0};
    const fit_vd d_int_shear = fit_delta_low(w->int_shear, w->int_shear_low, j, i);
    /* laminar.lua:60: local g1       = exp(-q^2 / 2 * integral(D, t1, t2)) * sinc(s * integral(shear, t ... */
    const fit_vd inv_d_int_shear = 1.0/d_int_shear;                            /* [1] */
    fit_vd exp_u_D;
    if (!exps[0 * ng].direct)
        exp_u_D = fit_vload(w->exp_u_D_j + j) * (w->exp_u_D_i[i] * exps[0 * ng].middle);
    else
        exp_u_D = fit_vexp(w->minus_q_sq[0] * fit_delta_low(w->int_D, w->int_D_low, j, i));
    const fit_vd d_int_shear_sq = d_int_shear*d_int_shear;                     /* [1] */
    for (size_t g = 0; g < ng; g++) {
        fit_vm use = lanes;
        fit_vd weight = {0};
        if (masked) {
            weight = t->w ? fit_vload(t->w + at + g * FIT_LANES + h) : fit_vset1(1.0);
            use &= weight > 0.0;
        }
        const fit_vd y = fit_data(data + g * FIT_LANES + h, 64 * FIT_LANES);
        fit_vd *restrict sum = sums + g * 3;
        const double s = w->s[g];
        const fit_vm small = fit_vabs(s*d_int_shear) < FIT_SINC_X0;
        const double inv_s = w->inv_s[g];
        const double sin_i = w->sin_u_shear_i[i * ng + g], cos_i = w->cos_u_shear_i[i * ng + g];
        const fit_vd sin_j = fit_vload(w->sin_u_shear_j + (b * ng + g) * FIT_LANES + h),
                cos_j = fit_vload(w->cos_u_shear_j + (b * ng + g) * FIT_LANES + h);
        const fit_vd sin_u_shear = sin_j*cos_i - cos_j*sin_i; /* sin of the difference */
        fit_vd sinc_shear = inv_s*inv_d_int_shear*sin_u_shear;                 /* [1] */
        if (fit_vany(small)) {
            sinc_shear = fit_vselect(small, fit_vsinc_series(s*s*d_int_shear_sq), sinc_shear);
        }
        const fit_vd sinc_shear_sq = sinc_shear*sinc_shear;                    /* [1] */
        const fit_vd b_contrast = sinc_shear_sq*exp_u_D*sinc_shear_sq;         /* [1] */
        const fit_vd b0 = fit_kept(masked, use, b_contrast); /* multiplies contrast */
        const fit_vd b0_w = fit_weighted(masked, weight, b0);
        sum[0] += b0_w;
        sum[1] += b0_w*b0;
        sum[2] += b0_w*y;
    }
}

static void moments(const struct fit_layout *l, const double *ws, const struct fit_tile *t, double *scratch,
                    double *out)
{
    const size_t ng = l->ngroup;
    const size_t end = fit_padded(t->j1) / FIT_LANES;
    struct tables tables;
    carve(l, (double *)(uintptr_t)ws, &tables);
    const struct tables *const w = &tables;
    fit_vd *sums = (fit_vd *)scratch;
    struct fit_exp_tile *exps = (struct fit_exp_tile *)(sums + 3 * ng);
    size_t at = 0;
    for (size_t k = 0; k < 3 * ng; k++)
        sums[k] = (fit_vd){0};
    exps[0 * ng] = fit_exp_tile_scaled(l, t, w->minus_q_sq[0], w->int_D, w->int_D_low);
    for (size_t i = t->i0; i < t->i1; i++) {
        const double *data = fit_row_data(l, t, i, at);
        for (size_t b = (i + 1 > t->j0 ? i + 1 : t->j0) / FIT_LANES; b < end; b++) {
            for (size_t h = 0; h < FIT_LANES; h += FIT_VL) {
                const size_t j = b * FIT_LANES + h;
                const struct block block = {.l = l, .w = w, .t = t, .i = i, .b = b, .h = h, .at = at,
                                            .data = data, .exps = exps};
                if (t->w || j <= i || j + FIT_VL > t->j1)
                    moments_block(&block, sums, 1);
                else
                    moments_block(&block, sums, 0);
            }
            at += ng * FIT_LANES;
            data += ng * FIT_LANES;
        }
    }
    for (size_t g = 0; g < ng; g++) {
        const double *data = t->sum + 3 * g;
        const fit_vd *sum = sums + g * 3;
        out[0] = fit_vsum(sum[1]);
        out[1] = fit_vsum(sum[0]);
        out[2] = data[0];
        out[3] = fit_vsum(sum[2]);
        out[4] = data[1];
        out[5] = data[2];
        out += 6;
    }
}

enum { PIECES = FIT_LANES / FIT_VL, COLUMNS = 4, ROWS = 6, ROW_SUMS = 14, SUMS = 35, FIELDS = 9,
       ALONG_SUMS = 0, COLUMN_SUMS = 0, PAIRS = 4, CHANNELS_R = 4, MOMENT_SUMS = 4 };
/* A strip is so many blocks of a row; so many groups are kept before their products are
 * summed, so many rows before their sums are multiplied by tables. */
enum { STRIP = 8, BATCH = 8, KEPT = 4 };

/* Pairs (i, 8b .. 8b+7): what does not depend on the group. */
FIT_INLINE void normal_pair(const struct fit_layout *l, const struct tables *w,
                            const struct fit_exp_tile *exps, size_t i, size_t b, size_t h,
                            fit_vd *restrict pair)
{
    const size_t ng = l->ngroup;
    const size_t j = b * FIT_LANES + h;
    const fit_vd d_int_shear = fit_delta_low(w->int_shear, w->int_shear_low, j, i);
    pair[0] = d_int_shear;
    pair[1] = 1.0/d_int_shear;
    fit_vd exp_u_D;
    if (!exps[0 * ng].direct)
        exp_u_D = fit_vload(w->exp_u_D_j + j) * (w->exp_u_D_i[i] * exps[0 * ng].middle);
    else
        exp_u_D = fit_vexp(w->minus_q_sq[0] * fit_delta_low(w->int_D, w->int_D_low, j, i));
    pair[2] = exp_u_D;
    pair[3] = d_int_shear*d_int_shear;
}

/* One group of a strip, which begins with block `first` of row i. */
struct strip {
    const struct fit_layout *l;
    const struct tables *w;
    const double *lin;
    const struct fit_exp_tile *exps;
    const struct fit_tile *t;
    size_t i;
    size_t g;
    size_t first;
    size_t at;
    const double *data;
    const fit_vd *restrict pair;
    const fit_vd *nearest;
};

/* Group g of the vectors k0 .. k1-1 of a strip: residual and channels m_c
 * (d mean/d theta_k = sum_c m_c U_ck) to m, cross moments to the sums of the columns and of the row. */
FIT_INLINE void normal_group(const struct strip *strip, size_t k0, size_t k1, const int masked,
                             fit_vd *restrict column, fit_vd *restrict row, fit_vd *restrict m)
{
    const struct fit_layout *l = strip->l;
    const struct tables *w = strip->w;
    const double *lin = strip->lin;
    const struct fit_tile *t = strip->t;
    size_t i = strip->i;
    size_t g = strip->g;
    size_t first = strip->first;
    size_t at = strip->at;
    const double *data = strip->data;
    const fit_vd *restrict pair = strip->pair;
    const fit_vd *nearest = strip->nearest;
    const size_t ng = l->ngroup;
    const double contrast = lin[g * 2 + 0];
    const double offset = lin[g * 2 + 1];
    const double s = w->s[g];
    /* laminar.lua:60: local g1       = exp(-q^2 / 2 * integral(D, t1, t2)) * sinc(s * integral(shear, t ... */
    const double s_sq = s*s;
    const double inv_s = w->inv_s[g];
    const double minus_q_sq = w->minus_q_sq[0];
    const double minus_contrast_q_sq = contrast*minus_q_sq;
    const double four_s = w->four_s[g];
    const double contrast_four_s = contrast*four_s;
    const double ds_dphi0 = w->ds_dphi0[g];
    const double four_contrast_ds_dphi0 = 4.0*contrast*ds_dphi0;
    const int near = masked || fit_vany(fabs(s)*nearest[0] < FIT_SINC_NEAR);
    fit_vd row0 = row[0];
    fit_vd row1 = row[1];
    fit_vd row2 = row[2];
    fit_vd row3 = row[3];
    fit_vd row4 = row[4];
    fit_vd row5 = row[5];
    for (size_t k = k0; k < k1; k++) {
        const size_t b = first + k / PIECES, h = k % PIECES * FIT_VL;
        const size_t j = b * FIT_LANES + h;
        const size_t here = ((b - first) * ng + g) * FIT_LANES + h;
        const fit_vd *at_pair = pair + k * PAIRS;
        fit_vd *at_column = column + k * COLUMNS;
        fit_vd *at_m = m + k * BATCH * CHANNELS_R;
        fit_vm use = {0};
        fit_vd weight = {0}, root = {0};
        if (masked) {
            weight = t->w ? fit_vload(t->w + at + here) : fit_vset1(1.0);
            use = fit_pair_lanes(t, i, j) & (weight > 0.0);
            weight = fit_where_set(use, weight);
            root = fit_vsqrt(weight);
        }
        const fit_vd y = fit_data(data + here, STRIP * ng * FIT_LANES);
        const fit_vd d_int_shear = at_pair[0];
        const fit_vd inv_d_int_shear = at_pair[1];
        const fit_vd exp_u_D = at_pair[2];
        const fit_vd d_int_shear_sq = at_pair[3];
        const double sin_i = w->sin_u_shear_i[i * ng + g], cos_i = w->cos_u_shear_i[i * ng + g];
        const fit_vd sin_j = fit_vload(w->sin_u_shear_j + (b * ng + g) * FIT_LANES + h),
                cos_j = fit_vload(w->cos_u_shear_j + (b * ng + g) * FIT_LANES + h);
        const fit_vd sin_u_shear = sin_j*cos_i - cos_j*sin_i; /* sin of the difference */
        const fit_vd cos_u_shear = cos_j*cos_i + sin_j*sin_i; /* its cosine */
        const fit_vd shear_u_shear = inv_s*inv_d_int_shear*sin_u_shear;
        fit_vd sinc_shear = shear_u_shear;                                     /* [1] */
        fit_vd dsinc_shear = inv_s*inv_d_int_shear*(cos_u_shear - shear_u_shear); /* [1] */
        if (near) {
            const fit_vd s_d_int_shear = s*d_int_shear;
            const fit_vm small = fit_vabs(s_d_int_shear) < FIT_SINC_X0;
            if (fit_vany(small)) {
                const fit_vd shear_prod = s_sq*d_int_shear_sq;
                sinc_shear = fit_vselect(small, fit_vsinc_series(shear_prod), sinc_shear);
                dsinc_shear = fit_vselect(small, fit_vdsinc_series(s_d_int_shear, shear_prod), dsinc_shear);
            }
        }
        const fit_vd sinc_shear_sq = sinc_shear*sinc_shear;                    /* [1] */
        const fit_vd exp_u_D_sinc_shear_sq = exp_u_D*sinc_shear_sq;            /* [1] */
        const fit_vd b_contrast = sinc_shear_sq*exp_u_D_sinc_shear_sq;         /* [1] */
        const fit_vd prod = dsinc_shear*sinc_shear*exp_u_D_sinc_shear_sq;      /* [1] */
        const fit_vd d_int_shear_prod = d_int_shear*prod;                      /* [1] */
        const fit_vd r = fit_kept(masked, use, y - (contrast*b_contrast + offset));
        at_m[0] = fit_weighted(masked, root, fit_kept(masked, use, minus_contrast_q_sq*b_contrast)); /* m_D */
        at_m[1] = fit_weighted(masked, root, fit_kept(masked, use, contrast_four_s*prod)); /* m_shear */
        at_m[2] = fit_weighted(masked, root, fit_kept(masked, use,
                four_contrast_ds_dphi0*d_int_shear_prod)); /* m_phi0 */
        at_m[3] = fit_weighted(masked, root, r);
        const fit_vd s0 = fit_counted(masked, use, weight, b_contrast*b_contrast); /* contrast: b m_D */
        at_column[0] += s0;
        row0 += s0;
        const fit_vd s1 = fit_counted(masked, use, weight, b_contrast*prod); /* contrast: b m_shear */
        at_column[1] += s1;
        row1 += s1;
        const fit_vd s2 = fit_counted(masked, use, weight,
                b_contrast*d_int_shear_prod); /* contrast: b m_phi0 */
        row2 += s2;
        const fit_vd s3 = fit_counted(masked, use, weight, b_contrast); /* offset: b m_D */
        at_column[2] += s3;
        row3 += s3;
        const fit_vd s4 = fit_counted(masked, use, weight, prod); /* offset: b m_shear */
        at_column[3] += s4;
        row4 += s4;
        const fit_vd s5 = fit_counted(masked, use, weight, d_int_shear_prod); /* offset: b m_phi0 */
        row5 += s5;
    }
    row[0] = row0;
    row[1] = row1;
    row[2] = row2;
    row[3] = row3;
    row[4] = row4;
    row[5] = row5;
}

/* field = (begin) or += sum over n groups of the products of two of the numbers m of a pair. */
FIT_INLINE void normal_products(size_t n, int begin, const fit_vd *restrict m, fit_vd *restrict field)
{
    fit_vd s0 = begin ? (fit_vd){0} : field[0];
    fit_vd s1 = begin ? (fit_vd){0} : field[1];
    fit_vd s2 = begin ? (fit_vd){0} : field[2];
    fit_vd s3 = begin ? (fit_vd){0} : field[3];
    fit_vd s4 = begin ? (fit_vd){0} : field[4];
    fit_vd s5 = begin ? (fit_vd){0} : field[5];
    fit_vd s6 = begin ? (fit_vd){0} : field[6];
    fit_vd s7 = begin ? (fit_vd){0} : field[7];
    fit_vd s8 = begin ? (fit_vd){0} : field[8];
    for (size_t g = 0; g < n; g++) {
        const fit_vd *x = m + g * CHANNELS_R;
        s0 += x[0]*x[0]; /* F_D_D */
        s1 += x[0]*x[1]; /* F_D_shear */
        s2 += x[0]*x[2]; /* F_D_phi0 */
        s6 += x[0]*x[3]; /* G_D */
        s3 += x[1]*x[1]; /* F_shear_shear */
        s4 += x[1]*x[2]; /* F_shear_phi0 */
        s7 += x[1]*x[3]; /* G_shear */
        s5 += x[2]*x[2]; /* F_phi0_phi0 */
        s8 += x[2]*x[3]; /* G_phi0 */
    }
    field[0] = s0;
    field[1] = s1;
    field[2] = s2;
    field[3] = s3;
    field[4] = s4;
    field[5] = s5;
    field[6] = s6;
    field[7] = s7;
    field[8] = s8;
}

/* The fields of n vectors of pairs (i, j0 ..) times the tables: added to the sums H of J^T J and J^T r, and
 * to the sums along the row and down the columns that get their other factor later. */
FIT_LARGE void contract(const struct tables *w, size_t i, size_t j0, size_t n, const fit_vd *restrict field,
                        fit_vd *restrict H, fit_vd *restrict row, fit_vd *restrict column)
{
    { /* D x D, D x phi0, D x residual, shear x shear, phi0 x phi0, phi0 x residual */
        const double u_D_D0_i = w->int_dD_dD0[i];
        const double u_D_alpha_i = w->int_dD_dalpha[i];
        const double u_D_D_offset_i = w->int_dD_dD_offset[i];
        const double u_shear_gamma_dot_t0_i = w->int_dshear_dgamma_dot_t0[i];
        const double u_shear_beta_i = w->int_dshear_dbeta[i];
        const double u_shear_gamma_dot_t_offset_i = w->int_dshear_dgamma_dot_t_offset[i];
        fit_vd s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
        fit_vd s8 = {0}, s9 = {0}, s10 = {0}, s11 = {0}, s12 = {0}, s13 = {0}, s14 = {0}, s15 = {0};
        fit_vd s16 = {0}, s17 = {0}, s18 = {0}, s19 = {0};
        for (size_t k = 0, j = j0; k < n; k++, j += FIT_VL) {
            const fit_vd *F = field + k * FIELDS;
            const fit_vd u_D_D0 = fit_vload(w->int_dD_dD0 + j) - u_D_D0_i;
            const fit_vd u_D_alpha = fit_vload(w->int_dD_dalpha + j) - u_D_alpha_i;
            const fit_vd u_D_D_offset = fit_vload(w->int_dD_dD_offset + j) - u_D_D_offset_i;
            const fit_vd u_shear_gamma_dot_t0 = fit_vload(w->int_dshear_dgamma_dot_t0 + j) - u_shear_gamma_dot_t0_i;
            const fit_vd u_shear_beta = fit_vload(w->int_dshear_dbeta + j) - u_shear_beta_i;
            const fit_vd u_shear_gamma_dot_t_offset = fit_vload(w->int_dshear_dgamma_dot_t_offset + j) - u_shear_gamma_dot_t_offset_i;
            const fit_vd p0_0 = F[0]*u_D_D0;
            s0 += u_D_D0*p0_0;
            const fit_vd p0_1 = F[0]*u_D_alpha;
            s1 += u_D_D0*p0_1;
            s2 += u_D_alpha*p0_1;
            const fit_vd p0_2 = F[0]*u_D_D_offset;
            s3 += u_D_D0*p0_2;
            s4 += u_D_alpha*p0_2;
            s5 += u_D_D_offset*p0_2;
            s6 += u_D_D0*F[2];
            s7 += u_D_alpha*F[2];
            s8 += u_D_D_offset*F[2];
            s9 += u_D_D0*F[6];
            s10 += u_D_alpha*F[6];
            s11 += u_D_D_offset*F[6];
            const fit_vd p3_0 = F[3]*u_shear_gamma_dot_t0;
            s12 += u_shear_gamma_dot_t0*p3_0;
            const fit_vd p3_1 = F[3]*u_shear_beta;
            s13 += u_shear_gamma_dot_t0*p3_1;
            s14 += u_shear_beta*p3_1;
            const fit_vd p3_2 = F[3]*u_shear_gamma_dot_t_offset;
            s15 += u_shear_gamma_dot_t0*p3_2;
            s16 += u_shear_beta*p3_2;
            s17 += u_shear_gamma_dot_t_offset*p3_2;
            s18 += F[5];
            s19 += F[8];
        }
        H[0] += s0; /* D0, D0 */
        H[1] += s1; /* D0, alpha */
        H[7] += s2; /* alpha, alpha */
        H[2] += s3; /* D0, D_offset */
        H[8] += s4; /* alpha, D_offset */
        H[13] += s5; /* D_offset, D_offset */
        H[6] += s6; /* D0, phi0 */
        H[12] += s7; /* alpha, phi0 */
        H[17] += s8; /* D_offset, phi0 */
        H[28] += s9; /* J^T r: D0 */
        H[29] += s10; /* J^T r: alpha */
        H[30] += s11; /* J^T r: D_offset */
        H[18] += s12; /* gamma_dot_t0, gamma_dot_t0 */
        H[19] += s13; /* gamma_dot_t0, beta */
        H[22] += s14; /* beta, beta */
        H[20] += s15; /* gamma_dot_t0, gamma_dot_t_offset */
        H[23] += s16; /* beta, gamma_dot_t_offset */
        H[25] += s17; /* gamma_dot_t_offset, gamma_dot_t_offset */
        H[27] += s18; /* phi0, phi0 */
        H[34] += s19; /* J^T r: phi0 */
    }
    { /* D x shear, shear x phi0, shear x residual */
        const double u_D_D0_i = w->int_dD_dD0[i];
        const double u_D_alpha_i = w->int_dD_dalpha[i];
        const double u_D_D_offset_i = w->int_dD_dD_offset[i];
        const double u_shear_gamma_dot_t0_i = w->int_dshear_dgamma_dot_t0[i];
        const double u_shear_beta_i = w->int_dshear_dbeta[i];
        const double u_shear_gamma_dot_t_offset_i = w->int_dshear_dgamma_dot_t_offset[i];
        fit_vd s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
        fit_vd s8 = {0}, s9 = {0}, s10 = {0}, s11 = {0}, s12 = {0}, s13 = {0}, s14 = {0};
        for (size_t k = 0, j = j0; k < n; k++, j += FIT_VL) {
            const fit_vd *F = field + k * FIELDS;
            const fit_vd u_D_D0 = fit_vload(w->int_dD_dD0 + j) - u_D_D0_i;
            const fit_vd u_D_alpha = fit_vload(w->int_dD_dalpha + j) - u_D_alpha_i;
            const fit_vd u_D_D_offset = fit_vload(w->int_dD_dD_offset + j) - u_D_D_offset_i;
            const fit_vd u_shear_gamma_dot_t0 = fit_vload(w->int_dshear_dgamma_dot_t0 + j) - u_shear_gamma_dot_t0_i;
            const fit_vd u_shear_beta = fit_vload(w->int_dshear_dbeta + j) - u_shear_beta_i;
            const fit_vd u_shear_gamma_dot_t_offset = fit_vload(w->int_dshear_dgamma_dot_t_offset + j) - u_shear_gamma_dot_t_offset_i;
            const fit_vd p1_0 = F[1]*u_shear_gamma_dot_t0;
            s0 += u_D_D0*p1_0;
            s1 += u_D_alpha*p1_0;
            s2 += u_D_D_offset*p1_0;
            const fit_vd p1_1 = F[1]*u_shear_beta;
            s3 += u_D_D0*p1_1;
            s4 += u_D_alpha*p1_1;
            s5 += u_D_D_offset*p1_1;
            const fit_vd p1_2 = F[1]*u_shear_gamma_dot_t_offset;
            s6 += u_D_D0*p1_2;
            s7 += u_D_alpha*p1_2;
            s8 += u_D_D_offset*p1_2;
            s9 += u_shear_gamma_dot_t0*F[4];
            s10 += u_shear_beta*F[4];
            s11 += u_shear_gamma_dot_t_offset*F[4];
            s12 += u_shear_gamma_dot_t0*F[7];
            s13 += u_shear_beta*F[7];
            s14 += u_shear_gamma_dot_t_offset*F[7];
        }
        H[3] += s0; /* D0, gamma_dot_t0 */
        H[9] += s1; /* alpha, gamma_dot_t0 */
        H[14] += s2; /* D_offset, gamma_dot_t0 */
        H[4] += s3; /* D0, beta */
        H[10] += s4; /* alpha, beta */
        H[15] += s5; /* D_offset, beta */
        H[5] += s6; /* D0, gamma_dot_t_offset */
        H[11] += s7; /* alpha, gamma_dot_t_offset */
        H[16] += s8; /* D_offset, gamma_dot_t_offset */
        H[21] += s9; /* gamma_dot_t0, phi0 */
        H[24] += s10; /* beta, phi0 */
        H[26] += s11; /* gamma_dot_t_offset, phi0 */
        H[31] += s12; /* J^T r: gamma_dot_t0 */
        H[32] += s13; /* J^T r: beta */
        H[33] += s14; /* J^T r: gamma_dot_t_offset */
    }
}

/* Sums of n rows from i0 on, times the tables at the rows: to the row sums of the tile. */
FIT_LARGE void add_rows(const struct tables *w, size_t ng, size_t i0, size_t n, fit_vd *restrict row,
                        fit_vd *restrict row_sum)
{
    for (size_t g = 0; g < ng; g++) {
        fit_vd *s = row_sum + g * ROW_SUMS;
        fit_vd s0 = s[0];
        fit_vd s1 = s[1];
        fit_vd s2 = s[2];
        fit_vd s3 = s[3];
        fit_vd s4 = s[4];
        fit_vd s5 = s[5];
        fit_vd s6 = s[6];
        fit_vd s7 = s[7];
        fit_vd s8 = s[8];
        fit_vd s9 = s[9];
        fit_vd s10 = s[10];
        fit_vd s11 = s[11];
        fit_vd s12 = s[12];
        fit_vd s13 = s[13];
        for (size_t h = 0; h < n; h++) {
            fit_vd *r = row + (h * ng + g) * ROWS;
            const size_t i = i0 + h;
            s0 += r[0]*w->int_dD_dD0[i];
            s1 += r[0]*w->int_dD_dalpha[i];
            s2 += r[0]*w->int_dD_dD_offset[i];
            r[0] = (fit_vd){0};
            s3 += r[1]*w->int_dshear_dgamma_dot_t0[i];
            s4 += r[1]*w->int_dshear_dbeta[i];
            s5 += r[1]*w->int_dshear_dgamma_dot_t_offset[i];
            r[1] = (fit_vd){0};
            s6 += r[2];
            r[2] = (fit_vd){0};
            s7 += r[3]*w->int_dD_dD0[i];
            s8 += r[3]*w->int_dD_dalpha[i];
            s9 += r[3]*w->int_dD_dD_offset[i];
            r[3] = (fit_vd){0};
            s10 += r[4]*w->int_dshear_dgamma_dot_t0[i];
            s11 += r[4]*w->int_dshear_dbeta[i];
            s12 += r[4]*w->int_dshear_dgamma_dot_t_offset[i];
            r[4] = (fit_vd){0};
            s13 += r[5];
            r[5] = (fit_vd){0};
        }
        s[0] = s0;
        s[1] = s1;
        s[2] = s2;
        s[3] = s3;
        s[4] = s4;
        s[5] = s5;
        s[6] = s6;
        s[7] = s7;
        s[8] = s8;
        s[9] = s9;
        s[10] = s10;
        s[11] = s11;
        s[12] = s12;
        s[13] = s13;
    }
}

/* Vectors of pairs (i, j ..) of a strip: fields. */
FIT_LARGE void normal_masked(const struct strip *strip, size_t k0, size_t k1, fit_vd *restrict column,
                             fit_vd *restrict row, fit_vd *restrict m)
{
    normal_group(strip, k0, k1, 1, column, row, m);
}

enum { EXPS = 2 };

/* Scratch, in vectors.  For the cross moments: column sums [group][block], the sums of rows and these times
 * tables.  For a strip: pair parts, channels, fields.  For the fields: column sums [block], the sums of a row,
 * the sums of J^T J and J^T r.  Then what the exponentials need to know of the tile. */
static size_t scratch_size(const struct fit_layout *l)
{
    const size_t ng = l->ngroup, vectors = ng * (KEPT * ROWS + ROW_SUMS) + ALONG_SUMS + SUMS;
    const size_t strip = STRIP * (PAIRS + BATCH * CHANNELS_R + FIELDS);
    return l->panel * (ng * COLUMNS + COLUMN_SUMS) + FIT_LANES * strip + FIT_VL * vectors +
           MOMENT_SUMS * FIT_VL * ng + 2 * EXPS * ng;
}

static void normal(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                   double *scratch, double *out)
{
    const size_t ng = l->ngroup;
    const size_t start = t->j0 / FIT_LANES;
    const size_t end = fit_padded(t->j1) / FIT_LANES;
    struct tables tables;
    carve(l, (double *)(uintptr_t)ws, &tables);
    const struct tables *const w = &tables;
    const size_t pieces = (end - start) * PIECES; /* vectors in a row of the tile */
    fit_vd *column = (fit_vd *)scratch, *row = column + pieces * ng * COLUMNS;
    fit_vd *row_sum = row + KEPT * ng * ROWS;
    fit_vd *pair = row_sum + ng * ROW_SUMS, *m = pair + STRIP * PIECES * PAIRS;
    fit_vd *field = m + STRIP * PIECES * BATCH * CHANNELS_R, *down = field + STRIP * PIECES * FIELDS;
    fit_vd *along = down + pieces * COLUMN_SUMS, *H = along + ALONG_SUMS;
    struct fit_exp_tile *exps = (struct fit_exp_tile *)(H + SUMS);
    size_t at = 0;
    for (fit_vd *v = column; v < pair; v++)
        *v = (fit_vd){0};
    for (fit_vd *v = down; v < H + SUMS; v++)
        *v = (fit_vd){0};
    exps[0 * ng] = fit_exp_tile_scaled(l, t, w->minus_q_sq[0], w->int_D, w->int_D_low);
    for (size_t i = t->i0; i < t->i1; i++) {
        const double *data = fit_row_data(l, t, i, at);
        const size_t kept = (i - t->i0) % KEPT;
        for (size_t b = (i + 1 > t->j0 ? i + 1 : t->j0) / FIT_LANES; b < end;) {
            const size_t first = b, place = (b - start) * PIECES;
            b = end - b > STRIP ? b + STRIP : end;
            const size_t n = (b - first) * PIECES, j = first * FIT_LANES;
            /* vectors 0 .. low-1 and high .. n-1 are cut by the diagonal or the edge */
            const size_t cut = i < j ? 0 : (i - j) / FIT_VL + 1, low = t->w || cut > n ? n : cut;
            const size_t whole = (t->j1 - j) / FIT_VL, high = whole < low ? low : whole < n ? whole : n;
            for (size_t k = 0; k < n; k++)
                normal_pair(l, w, exps, i, first + k / PIECES, k % PIECES * FIT_VL, pair + k * PAIRS);
            const fit_vd nearest[] = {fit_nearest(pair + 0, PAIRS, low, high)};
            for (size_t g = 0; g < ng; g++) {
                const struct strip strip = {l, w, lin, exps, t, i, g, first, at, data, pair, nearest};
                fit_vd *c = column + (g * pieces + place) * COLUMNS;
                fit_vd *r = row + (kept * ng + g) * ROWS, *x = m + g % BATCH * CHANNELS_R;
                if (low > 0)
                    normal_masked(&strip, 0, low, c, r, x);
                normal_group(&strip, low, high, 0, c, r, x);
                if (high < n)
                    normal_masked(&strip, high, n, c, r, x);
                if (g % BATCH == BATCH - 1 || g + 1 == ng)
                    for (size_t k = 0; k < n; k++)
                        normal_products(g % BATCH + 1, g < BATCH, m + k * BATCH * CHANNELS_R, field + k * FIELDS);
            }
            at += (b - first) * ng * FIT_LANES;
            data += (b - first) * ng * FIT_LANES;
            contract(w, i, j, n, field, H, along, down + place * COLUMN_SUMS);
        }
        if (kept + 1 == KEPT || i + 1 == t->i1)
            add_rows(w, ng, i - kept, kept + 1, row, row_sum);
    }

    for (size_t k = 0; k < 35; k++)
        out[k] = fit_vsum(H[k]);
    double *V = out + 35;
    for (size_t g = 0; g < ng; g++, V += 14) {
        const fit_vd *at_rows = row_sum + g * ROW_SUMS;
        const fit_vd *columns = column + g * pieces * COLUMNS;
        const double contrast = lin[g * 2 + 0];
        const double minus_q_sq = w->minus_q_sq[0];
        const double minus_contrast_q_sq = contrast*minus_q_sq;
        const double four_s = w->four_s[g];
        const double contrast_four_s = contrast*four_s;
        const double ds_dphi0 = w->ds_dphi0[g];
        const double four_contrast_ds_dphi0 = 4.0*contrast*ds_dphi0;
        V[0] = 0.0;
        V[1] = 0.0;
        V[2] = 0.0;
        V[3] = 0.0;
        V[4] = 0.0;
        V[5] = 0.0;
        V[6] = 0.0;
        V[7] = 0.0;
        V[8] = 0.0;
        V[9] = 0.0;
        V[10] = 0.0;
        V[11] = 0.0;
        V[12] = 0.0;
        V[13] = 0.0;
        V[0] += minus_contrast_q_sq * fit_column_sum(columns + 0, COLUMNS, pieces, w->int_dD_dD0
                + t->j0, at_rows + 0);
        V[1] += minus_contrast_q_sq * fit_column_sum(columns + 0, COLUMNS, pieces, w->int_dD_dalpha
                + t->j0, at_rows + 1);
        V[2] += minus_contrast_q_sq * fit_column_sum(columns + 0, COLUMNS, pieces,
                w->int_dD_dD_offset + t->j0, at_rows + 2);
        V[3] += contrast_four_s * fit_column_sum(columns + 1, COLUMNS, pieces,
                w->int_dshear_dgamma_dot_t0 + t->j0, at_rows + 3);
        V[4] += contrast_four_s * fit_column_sum(columns + 1, COLUMNS, pieces, w->int_dshear_dbeta
                + t->j0, at_rows + 4);
        V[5] += contrast_four_s * fit_column_sum(columns + 1, COLUMNS, pieces,
                w->int_dshear_dgamma_dot_t_offset + t->j0, at_rows + 5);
        V[6] += four_contrast_ds_dphi0 * fit_vsum(at_rows[6]);
        V[7] += minus_contrast_q_sq * fit_column_sum(columns + 2, COLUMNS, pieces, w->int_dD_dD0
                + t->j0, at_rows + 7);
        V[8] += minus_contrast_q_sq * fit_column_sum(columns + 2, COLUMNS, pieces, w->int_dD_dalpha
                + t->j0, at_rows + 8);
        V[9] += minus_contrast_q_sq * fit_column_sum(columns + 2, COLUMNS, pieces,
                w->int_dD_dD_offset + t->j0, at_rows + 9);
        V[10] += contrast_four_s * fit_column_sum(columns + 3, COLUMNS, pieces,
                w->int_dshear_dgamma_dot_t0 + t->j0, at_rows + 10);
        V[11] += contrast_four_s * fit_column_sum(columns + 3, COLUMNS, pieces, w->int_dshear_dbeta
                + t->j0, at_rows + 11);
        V[12] += contrast_four_s * fit_column_sum(columns + 3, COLUMNS, pieces,
                w->int_dshear_dgamma_dot_t_offset + t->j0, at_rows + 12);
        V[13] += four_contrast_ds_dphi0 * fit_vsum(at_rows[13]);
    }
}

/* Pairs (i, 8b .. 8b+7): the adjoint a_c of every channel, from fields F summed over the groups;
 * added to column and row. */
FIT_INLINE void gradient_block(const struct block *block, fit_vd *restrict column, fit_vd *restrict row,
                               const int masked)
{
    const struct fit_layout *l = block->l;
    const struct tables *w = block->w;
    const struct fit_exp_tile *exps = block->exps;
    const double *lin = block->lin;
    const double *adj = block->adj;
    const struct fit_tile *t = block->t;
    size_t i = block->i;
    size_t b = block->b;
    size_t h = block->h;
    size_t at = block->at;
    const double *data = block->data;
    const size_t ng = l->ngroup;
    const size_t j = b * FIT_LANES + h;
    const fit_vm lanes = masked ? fit_pair_lanes(t, i, j) : (fit_vm){0};
    const fit_vd d_int_shear = fit_delta_low(w->int_shear, w->int_shear_low, j, i);
    /* laminar.lua:60: local g1       = exp(-q^2 / 2 * integral(D, t1, t2)) * sinc(s * integral(shear, t ... */
    const fit_vd inv_d_int_shear = 1.0/d_int_shear;                            /* [1] */
    fit_vd exp_u_D;
    if (!exps[0 * ng].direct)
        exp_u_D = fit_vload(w->exp_u_D_j + j) * (w->exp_u_D_i[i] * exps[0 * ng].middle);
    else
        exp_u_D = fit_vexp(w->minus_q_sq[0] * fit_delta_low(w->int_D, w->int_D_low, j, i));
    const fit_vd d_int_shear_sq = d_int_shear*d_int_shear;                     /* [1] */
    const double minus_q_sq = w->minus_q_sq[0];
    const fit_vd u_D_prod = minus_q_sq*exp_u_D;
    const fit_vd four_d_int_shear_exp_u_D = 4.0*d_int_shear*exp_u_D;           /* [1] */
    fit_vd F0 = {0};
    fit_vd F1 = {0};
    fit_vd F2 = {0};
    for (size_t g = 0; g < ng; g++) {
        fit_vm use = lanes;
        fit_vd weight = {0};
        if (masked) {
            weight = t->w ? fit_vload(t->w + at + g * FIT_LANES + h) : fit_vset1(1.0);
            use &= weight > 0.0;
        }
        const fit_vd y = fit_data(data + g * FIT_LANES + h, 64 * FIT_LANES);
        const double *seeds = adj + g * 4;
        const double *at_lin = lin + g * 2;
        const double s = w->s[g];
        const fit_vd s_d_int_shear = s*d_int_shear;
        const fit_vm small = fit_vabs(s_d_int_shear) < FIT_SINC_X0;
        const double inv_s = w->inv_s[g];
        const double sin_i = w->sin_u_shear_i[i * ng + g], cos_i = w->cos_u_shear_i[i * ng + g];
        const fit_vd sin_j = fit_vload(w->sin_u_shear_j + (b * ng + g) * FIT_LANES + h),
                cos_j = fit_vload(w->cos_u_shear_j + (b * ng + g) * FIT_LANES + h);
        const fit_vd sin_u_shear = sin_j*cos_i - cos_j*sin_i; /* sin of the difference */
        const fit_vd cos_u_shear = cos_j*cos_i + sin_j*sin_i; /* its cosine */
        const fit_vd shear_u_shear = inv_s*inv_d_int_shear*sin_u_shear;
        fit_vd sinc_shear = shear_u_shear;                                     /* [1] */
        fit_vd dsinc_shear = inv_s*inv_d_int_shear*(cos_u_shear - shear_u_shear); /* [1] */
        if (fit_vany(small)) {
            const fit_vd shear_prod = s*s*d_int_shear_sq;
            sinc_shear = fit_vselect(small, fit_vsinc_series(shear_prod), sinc_shear);
            dsinc_shear = fit_vselect(small, fit_vdsinc_series(s_d_int_shear, shear_prod), dsinc_shear);
        }
        const fit_vd sinc_shear_sq = sinc_shear*sinc_shear;                    /* [1] */
        const fit_vd sinc_shear_sq_sq = sinc_shear_sq*sinc_shear_sq;           /* [1] */
        /* laminar.lua:62: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * g1^2, line ... */
        const fit_vd exp_u_D_sinc_shear_sq_sq = exp_u_D*sinc_shear_sq_sq;      /* [1] */
        const fit_vd r = y - (at_lin[0]*exp_u_D_sinc_shear_sq_sq + at_lin[1]); /* residual */
        const fit_vd seed_contrast = (seeds[0]*at_lin[0])*r - (seeds[1]*exp_u_D_sinc_shear_sq_sq + seeds[2]);
        const double four_s = w->four_s[g];
        const fit_vd shear_u_shear_prod = sinc_shear*sinc_shear_sq*dsinc_shear*seed_contrast;
        const double ds_dphi0 = w->ds_dphi0[g];
        F0 += fit_counted(masked, use, weight, seed_contrast*sinc_shear_sq_sq);
        F1 += fit_counted(masked, use, weight, four_s*shear_u_shear_prod);
        F2 += fit_counted(masked, use, weight, ds_dphi0*shear_u_shear_prod);
    }

    /* products with what does not depend on the group */
    const fit_vd a_D = fit_kept(masked, lanes, u_D_prod*F0);
    column[0] += a_D;
    row[0] += a_D;
    const fit_vd a_shear = fit_kept(masked, lanes, exp_u_D*F1);
    column[1] += a_shear;
    row[1] += a_shear;
    const fit_vd a_phi0 = fit_kept(masked, lanes, four_d_int_shear_exp_u_D*F2);
    row[2] += a_phi0;
}

enum { CHANNELS = 3, GRADIENT_SUMS = 7, GRADIENT_EXPS = 2 };

/* Scratch, in vectors: column sums [block][CHANNELS], the sums of a row [CHANNELS], one sum for each
 * parameter; then what the exponentials need to know of the tile.  Enough for every tile function. */
static size_t tile_scratch(const struct fit_layout *l)
{
    const size_t mine = l->panel * CHANNELS + FIT_VL * (CHANNELS + GRADIENT_SUMS) + 2 * GRADIENT_EXPS * l->ngroup;
    const size_t other = scratch_size(l);
    return mine > other ? mine : other;
}

static void gradient(const struct fit_layout *l, const double *ws, const double *lin, const double *adj,
                     const struct fit_tile *t, double *scratch, double *out)
{
    const size_t ng = l->ngroup;
    const size_t start = t->j0 / FIT_LANES;
    const size_t end = fit_padded(t->j1) / FIT_LANES;
    struct tables tables;
    carve(l, (double *)(uintptr_t)ws, &tables);
    const struct tables *const w = &tables;
    const size_t pieces = (end - start) * PIECES; /* vectors in a row of the tile */
    fit_vd *column = (fit_vd *)scratch, *row = column + pieces * CHANNELS, *sum = row + CHANNELS;
    struct fit_exp_tile *exps = (struct fit_exp_tile *)(sum + GRADIENT_SUMS);
    size_t at = 0;
    for (fit_vd *v = column; v < sum + GRADIENT_SUMS; v++)
        *v = (fit_vd){0};
    exps[0 * ng] = fit_exp_tile_scaled(l, t, w->minus_q_sq[0], w->int_D, w->int_D_low);
    for (size_t i = t->i0; i < t->i1; i++) {
        const double *data = fit_row_data(l, t, i, at);
        for (size_t b = (i + 1 > t->j0 ? i + 1 : t->j0) / FIT_LANES; b < end; b++) {
            for (size_t h = 0; h < FIT_LANES; h += FIT_VL) {
                const size_t j = b * FIT_LANES + h;
                const struct block block = {.l = l, .w = w, .t = t, .i = i, .b = b, .h = h, .at = at,
                                            .data = data, .lin = lin, .adj = adj, .exps = exps};
                if (t->w || j <= i || j + FIT_VL > t->j1)
                    gradient_block(&block, column + ((b - start) * PIECES + h / FIT_VL) * CHANNELS, row, 1);
                else
                    gradient_block(&block, column + ((b - start) * PIECES + h / FIT_VL) * CHANNELS, row, 0);
            }
            at += ng * FIT_LANES;
            data += ng * FIT_LANES;
        }
        sum[0] -= row[0]*w->int_dD_dD0[i];
        sum[1] -= row[0]*w->int_dD_dalpha[i];
        sum[2] -= row[0]*w->int_dD_dD_offset[i];
        row[0] = (fit_vd){0};
        sum[3] -= row[1]*w->int_dshear_dgamma_dot_t0[i];
        sum[4] -= row[1]*w->int_dshear_dbeta[i];
        sum[5] -= row[1]*w->int_dshear_dgamma_dot_t_offset[i];
        row[1] = (fit_vd){0};
    }
    for (size_t k = 0; k < pieces; k++)
        sum[0] += column[k * CHANNELS + 0]*fit_vload(w->int_dD_dD0 + t->j0 + k * FIT_VL);
    for (size_t k = 0; k < pieces; k++)
        sum[1] += column[k * CHANNELS + 0]*fit_vload(w->int_dD_dalpha + t->j0 + k * FIT_VL);
    for (size_t k = 0; k < pieces; k++)
        sum[2] += column[k * CHANNELS + 0]*fit_vload(w->int_dD_dD_offset + t->j0 + k * FIT_VL);
    for (size_t k = 0; k < pieces; k++)
        sum[3] += column[k * CHANNELS + 1]*fit_vload(w->int_dshear_dgamma_dot_t0 + t->j0 + k * FIT_VL);
    for (size_t k = 0; k < pieces; k++)
        sum[4] += column[k * CHANNELS + 1]*fit_vload(w->int_dshear_dbeta + t->j0 + k * FIT_VL);
    for (size_t k = 0; k < pieces; k++)
        sum[5] += column[k * CHANNELS + 1]*fit_vload(w->int_dshear_dgamma_dot_t_offset + t->j0 + k * FIT_VL);
    sum[6] += row[2];
    for (size_t k = 0; k < 7; k++)
        out[k] = fit_vsum(sum[k]);
}

/* Pairs (i, 8b .. 8b+7): the mean of every group. */
FIT_INLINE void model_block(const struct fit_layout *l, const struct tables *w, const double *lin, size_t i,
                            size_t b, size_t h, double *out)
{
    const size_t ng = l->ngroup;
    const size_t j = b * FIT_LANES + h;
    const fit_vd d_int_shear = fit_delta_low(w->int_shear, w->int_shear_low, j, i);
    /* laminar.lua:60: local g1       = exp(-q^2 / 2 * integral(D, t1, t2)) * sinc(s * integral(shear, t ... */
    const fit_vd inv_d_int_shear = 1.0/d_int_shear;                            /* [1] */
    const fit_vd exp_u_D = fit_vexp(w->minus_q_sq[0] * fit_delta_low(w->int_D, w->int_D_low, j, i));
    const fit_vd d_int_shear_sq = d_int_shear*d_int_shear;                     /* [1] */
    for (size_t g = 0; g < ng; g++) {
        const double contrast = lin[g * 2 + 0];
        const double offset = lin[g * 2 + 1];
        const double s = w->s[g];
        const fit_vm small = fit_vabs(s*d_int_shear) < FIT_SINC_X0;
        const double inv_s = w->inv_s[g];
        const double sin_i = w->sin_u_shear_i[i * ng + g], cos_i = w->cos_u_shear_i[i * ng + g];
        const fit_vd sin_j = fit_vload(w->sin_u_shear_j + (b * ng + g) * FIT_LANES + h),
                cos_j = fit_vload(w->cos_u_shear_j + (b * ng + g) * FIT_LANES + h);
        const fit_vd sin_u_shear = sin_j*cos_i - cos_j*sin_i; /* sin of the difference */
        fit_vd sinc_shear = inv_s*inv_d_int_shear*sin_u_shear;                 /* [1] */
        if (fit_vany(small)) {
            sinc_shear = fit_vselect(small, fit_vsinc_series(s*s*d_int_shear_sq), sinc_shear);
        }
        const fit_vd sinc_shear_sq = sinc_shear*sinc_shear;                    /* [1] */
        const fit_vd b_contrast = sinc_shear_sq*exp_u_D*sinc_shear_sq;         /* [1] */
        fit_vstore(out + g * FIT_LANES + h, fit_vset1(0.0) + (contrast*b_contrast + offset));
    }
}

static void model(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                  double *out)
{
    const size_t ng = l->ngroup;
    const size_t end = fit_padded(t->j1) / FIT_LANES;
    struct tables tables;
    carve(l, (double *)(uintptr_t)ws, &tables);
    const struct tables *const w = &tables;
    for (size_t i = t->i0; i < t->i1; i++)
        for (size_t b = (i + 1 > t->j0 ? i + 1 : t->j0) / FIT_LANES; b < end; b++) {
            for (size_t h = 0; h < FIT_LANES; h += FIT_VL)
                model_block(l, w, lin, i, b, h, out);
            out += ng * FIT_LANES;
        }
}

/* ---- single points, by the direct formula ---------------------------------------------------------- */

FIT_INLINE void points_of(const struct fit_layout *l, const double *ws, const double *lin,
                          const struct fit_points *list, double *mean, double *jac, size_t stride, int run)
{
    struct tables w;
    carve(l, (double *)(uintptr_t)ws, &w);
    for (size_t p = 0; p < list->n; p += FIT_VL) { /* points p, p + 1, ...: a vector of them */
        const struct fit_vpoints at = fit_pairs_at(list, p, run);
        const fit_vd contrast = fit_pick_stride(lin + 0, 2, &at);
        const fit_vd offset = fit_pick_stride(lin + 1, 2, &at);
        const fit_vd d_int_shear = fit_pick_change_low(w.int_shear, w.int_shear_low, &at);
        const fit_vd s = fit_pick_g(w.s, &at);
        /* laminar.lua:60: local g1       = exp(-q^2 / 2 * integral(D, t1, t2)) * sinc(s * integral(shea ... */
        const fit_vd d_int_shear_s = d_int_shear*s;
        fit_vd cos_sinc_shear;
        const fit_vd sinc_shear = fit_vsinc_cos(d_int_shear_s, &cos_sinc_shear);
        /* laminar.lua:62: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * g1^2, line ... */
        const fit_vd sinc_shear_to_4 = sinc_shear*sinc_shear*sinc_shear*sinc_shear; /* [1] */
        const fit_vd d_int_D = fit_pick_change_low(w.int_D, w.int_D_low, &at);
        const fit_vd exp_D = fit_vexp(d_int_D*w.minus_q_sq[0]);                /* [1] */
        fit_store_points(mean + p, at.n, contrast*sinc_shear_to_4*exp_D + offset);
        if (!jac)
            continue;
        fit_vd J[9];
        const fit_vd m_D = contrast*sinc_shear_to_4*w.minus_q_sq[0]*exp_D; /* d mean / d integral of D */
        const fit_vd sinc_shear_cubed = sinc_shear*sinc_shear*sinc_shear;      /* [1] */
        /* laminar.lua:60: local g1       = exp(-q^2 / 2 * integral(D, t1, t2)) * sinc(s * integral(shea ... */
        const fit_vd dsinc_shear = fit_vdsinc_of(d_int_shear_s, sinc_shear, cos_sinc_shear); /* [1] */
        const fit_vd four_s = fit_pick_g(w.four_s, &at);
        const fit_vd m_shear = contrast*sinc_shear_cubed*exp_D*dsinc_shear*four_s; /* d mean / d integral of shear */
        const fit_vd ds_dphi0 = fit_pick_g(w.ds_dphi0, &at);
        J[0] = m_D*fit_pick_change(w.int_dD_dD0, &at); /* D0 */
        J[1] = m_D*fit_pick_change(w.int_dD_dalpha, &at); /* alpha */
        J[2] = m_D*fit_pick_change(w.int_dD_dD_offset, &at); /* D_offset */
        J[3] = m_shear*fit_pick_change(w.int_dshear_dgamma_dot_t0, &at); /* gamma_dot_t0 */
        J[4] = m_shear*fit_pick_change(w.int_dshear_dbeta, &at); /* beta */
        J[5] = m_shear*fit_pick_change(w.int_dshear_dgamma_dot_t_offset, &at); /* gamma_dot_t_offset */
        J[6] = 4.0*contrast*d_int_shear*sinc_shear_cubed*exp_D*dsinc_shear*ds_dphi0; /* phi0 */
        J[7] = sinc_shear_to_4*exp_D; /* contrast */
        J[8] = fit_vset1(1.0); /* offset */
        fit_store_columns(jac + p, stride, 9, at.n, J);
    }
}

static void points(const struct fit_layout *l, const double *ws, const double *lin,
                   const struct fit_points *list, double *mean, double *jac)
{
    int run;
    for (size_t p = 0, m; p < list->n; p += m) {
        const struct fit_points part = fit_pairs_stretch(list, p, &run);
        double *to = jac ? jac + p : NULL;
        m = part.n;
        if (run)
            points_of(l, ws, lin, &part, mean + p, to, list->n, 1);
        else
            points_of(l, ws, lin, &part, mean + p, to, list->n, 0);
    }
}

static void curves(const struct fit_layout *l, const double *theta, double *value, double *tangent)
{
    const size_t n = l->ntime;
    const double D0 = theta[0]; /* [angstrom^2/s] */
    const double alpha = theta[1]; /* [1] */
    const double D_offset = theta[2]; /* [angstrom^2/s] */
    const double gamma_dot_t0 = theta[3]; /* [1/s] */
    const double beta = theta[4]; /* [1] */
    const double gamma_dot_t_offset = theta[5]; /* [1/s] */
    for (size_t k = 0; k < n; k++) {
        /* laminar.lua:58: local ts       = floor_at(t, t.step / 2) / second */
        const double half_step = 0.5*l->step;                                  /* [s] */
        const double ts = ((l->time[k] <= half_step) ? half_step : l->time[k]); /* [1] */
        /* laminar.lua:50: local D     = floor_at(D0 * ts^alpha + D_offset, 1e-10 * unit "angstrom^2/s") */
        const double ts_to_alpha = pow(ts, alpha);                             /* [1] */
        const double ts_sum = D_offset + D0*ts_to_alpha;                       /* [angstrom^2/s] */
        const int below = ts_sum <= 1e-10;
        const double D = ((below) ? 1e-10 : ts_sum);                           /* [angstrom^2/s] */
        value[0 * n + k] = D; /* D */
        /* laminar.lua:51: local shear = floor_at(gamma_dot_t0 * ts^beta + gamma_dot_t_offset, 1e-10 / s ... */
        const double ts_to_beta = pow(ts, beta);                               /* [1] */
        const double ts_sum_2 = gamma_dot_t_offset + gamma_dot_t0*ts_to_beta;  /* [1/s] */
        const int below_2 = ts_sum_2 <= 1e-10;
        const double shear = ((below_2) ? 1e-10 : ts_sum_2);                   /* [1/s] */
        value[1 * n + k] = shear; /* shear_rate */
        if (!tangent)
            continue;
        /* laminar.lua:50: local D     = floor_at(D0 * ts^alpha + D_offset, 1e-10 * unit "angstrom^2/s") */
        const double dD_dD0 = ((below) ? 0.0 : ts_to_alpha);                   /* [1] */
        tangent[0 * n + k] = dD_dD0;
        const double log_ts = log(ts);                                         /* [1] */
        const double dD_dalpha = ((below) ? 0.0 : D0*ts_to_alpha*log_ts);      /* [angstrom^2/s] */
        tangent[1 * n + k] = dD_dalpha;
        const double dD_dD_offset = ((below) ? 0.0 : 1.0);
        tangent[2 * n + k] = dD_dD_offset;
        tangent[3 * n + k] = 0.0;
        tangent[4 * n + k] = 0.0;
        tangent[5 * n + k] = 0.0;
        tangent[6 * n + k] = 0.0;
        tangent[7 * n + k] = 0.0;
        tangent[8 * n + k] = 0.0;
        tangent[9 * n + k] = 0.0;
        /* laminar.lua:51: local shear = floor_at(gamma_dot_t0 * ts^beta + gamma_dot_t_offset, 1e-10 / s ... */
        const double dshear_dgamma_dot_t0 = ((below_2) ? 0.0 : ts_to_beta);    /* [1] */
        tangent[10 * n + k] = dshear_dgamma_dot_t0;
        const double dshear_dbeta = ((below_2) ? 0.0 : gamma_dot_t0*ts_to_beta*log_ts); /* [1/s] */
        tangent[11 * n + k] = dshear_dbeta;
        const double dshear_dgamma_dot_t_offset = ((below_2) ? 0.0 : 1.0);
        tangent[12 * n + k] = dshear_dgamma_dot_t_offset;
        tangent[13 * n + k] = 0.0;
    }
}

static void combine(const struct fit_layout *l, const double *theta, double *value, double *gradient)
{
    const size_t g = 0;
    const double D0 = theta[0]; /* [angstrom^2/s] */
    const double D_offset = theta[2]; /* [angstrom^2/s] */
    const double gamma_dot_t0 = theta[3]; /* [1/s] */
    const double gamma_dot_t_offset = theta[5]; /* [1/s] */
    const double phi0 = theta[6]; /* [deg] */
    value[0] = D0 + D_offset;
    value[1] = gamma_dot_t0 + gamma_dot_t_offset;
    const double phi0_minus_phi = 0.017453292519943295*(phi0 - l->coord[0][g]);
    const double cos_phi0_minus_phi = cos(phi0_minus_phi);
    value[2] = gamma_dot_t0*cos_phi0_minus_phi;
    value[3] = gamma_dot_t_offset*cos_phi0_minus_phi;
    for (size_t k = 0; k < 28; k++)
        gradient[k] = 0.0;
    gradient[0] = 1.0;
    gradient[2] = 1.0;
    gradient[10] = 1.0;
    gradient[12] = 1.0;
    gradient[17] = cos_phi0_minus_phi;
    const double sin_phi0_minus_phi = sin(phi0_minus_phi);
    gradient[20] = -0.017453292519943295*gamma_dot_t0*sin_phi0_minus_phi;
    gradient[26] = cos_phi0_minus_phi;
    gradient[27] = -0.017453292519943295*gamma_dot_t_offset*sin_phi0_minus_phi;
}

/* ---- description ----------------------------------------------------------------------------------- */

static const char *const desc_param_alias_3[] = {"gamma_dot_0", "gamma_dot_t_0", "gamma0", NULL};
static const char *const desc_param_alias_5[] = {"gamma_dot_offset", "gamma_offset", NULL};
static const char *const desc_param_alias_6[] = {"phi_0", NULL};
static const struct fit_param desc_param[] = {
    {.name = "D0", .unit = "angstrom^2/s", .doc = "transport coefficient at t = 1 s",
     .start = 1000.0, .lower = 100.0, .upper = 100000.0, .over = -1,
     .prior = FIT_PRIOR_TRUNCATED_NORMAL, .prior_a = 1000.0, .prior_b = 1000.0},
    {.name = "alpha", .unit = "1", .doc = "exponent of the transport coefficient",
     .start = 0.5, .lower = -2.0, .upper = 2.0, .over = -1,
     .prior = FIT_PRIOR_TRUNCATED_NORMAL, .prior_a = 0.5, .prior_b = 0.5},
    {.name = "D_offset", .unit = "angstrom^2/s", .doc = "constant part of the transport coefficient",
     .start = 10.0, .lower = -100000.0, .upper = 100000.0, .over = -1,
     .prior = FIT_PRIOR_TRUNCATED_NORMAL, .prior_a = 10.0, .prior_b = 200.0},
    {.name = "gamma_dot_t0", .unit = "1/s", .doc = "shear rate at t = 1 s",
     .alias = desc_param_alias_3,
     .start = 0.01, .lower = 1e-06, .upper = 0.5, .over = -1,
     .prior = FIT_PRIOR_TRUNCATED_NORMAL, .prior_a = 0.01, .prior_b = 0.1},
    {.name = "beta", .unit = "1", .doc = "exponent of the shear rate",
     .start = 0.5, .lower = -2.0, .upper = 2.0, .over = -1,
     .prior = FIT_PRIOR_TRUNCATED_NORMAL, .prior_a = 0.0, .prior_b = 0.5},
    {.name = "gamma_dot_t_offset", .unit = "1/s", .doc = "constant part of the shear rate",
     .alias = desc_param_alias_5,
     .start = 0.0, .lower = -0.1, .upper = 0.1, .over = -1,
     .prior = FIT_PRIOR_TRUNCATED_NORMAL, .prior_a = 0.0, .prior_b = 0.02},
    {.name = "phi0", .unit = "deg", .doc = "direction of the flow",
     .alias = desc_param_alias_6,
     .start = 0.0, .lower = -10.0, .upper = 10.0, .over = -1,
     .prior = FIT_PRIOR_TRUNCATED_NORMAL, .prior_a = 0.0, .prior_b = 5.0},
};

static const struct fit_param desc_linear[] = {
    {.name = "contrast", .unit = "1", .doc = "speckle contrast",
     .start = 0.5, .lower = 0.0, .upper = 1.0, .over = 0,
     .prior = FIT_PRIOR_TRUNCATED_NORMAL, .prior_a = 0.5, .prior_b = 0.25},
    {.name = "offset", .unit = "1", .doc = "baseline",
     .start = 1.0, .lower = 0.5, .upper = 1.5, .over = 0,
     .prior = FIT_PRIOR_TRUNCATED_NORMAL, .prior_a = 1.0, .prior_b = 0.25},
};

static const struct fit_setting desc_setting[] = {
    {"q", "1/angstrom", "wavevector", NAN, FIT_STATISTIC_NONE, 0},
    {"gap", "angstrom", "distance of stator and rotor", NAN, FIT_STATISTIC_NONE, 0},
};

static const struct fit_axis desc_axis[] = {
    {"phi", "deg", "azimuth of the detector sector"},
};

static const struct fit_curve desc_curve[] = {
    {"D", "angstrom^2/s", "transport coefficient, of plain diffusion 2 D"},
    {"shear_rate", "1/s", "shear rate"},
};

/* parameter sets, drawn by the model's random() */
static const double desc_screen[] = {
    44661.4, -0.42118, -35.4614, 0.250085, -1.23413, 0.00260058, -6.52264,
    20636.7, -0.885778, 473.617, 0.00244139, 0.402586, 0.00476346, 1.10335,
    13325.0, -0.203795, 218.903, 0.0475418, -0.988262, 0.00828571, 7.10979,
    9563.81, 0.823835, 131.085, 0.106686, -0.0608478, 0.00354263, -4.93572,
    8118.06, 0.827351, 468.657, 0.000573641, -1.37801, -0.000770356, 6.43202,
    1717.92, -0.860391, 79.4119, 0.0032009, -0.722031, 0.00471136, -8.49138,
    123.631, -1.31689, 388.338, 0.173498, -0.889461, 0.00351421, -0.681737,
    255.062, 0.72526, 429.425, 0.00027904, -1.46252, 0.00765061, 2.11713,
    366.64, 0.524099, 475.607, 0.0419972, 0.819078, 0.0026927, -5.15606,
    44911.8, -1.08514, 101.308, 0.000804082, -0.127544, 0.00119085, 2.37312,
    62426.7, 0.638751, 149.384, 0.201837, 0.834187, 0.00860385, -6.78546,
    20276.8, 0.613004, 178.07, 0.0114714, -0.809922, 0.0016562, -4.60012,
    1042.94, -0.294031, 376.414, 0.0100843, -1.23417, 0.00452263, -7.36118,
    35733.5, -0.0761493, 207.782, 0.000119735, -1.31482, 0.00332191, 8.63653,
    38161.1, -0.982204, 228.146, 0.00816544, -1.24158, 0.007177, 3.15372,
    1030.85, 0.879522, 66.78, 0.000269375, -0.981131, 0.00357478, -8.15727,
    1295.97, 0.893658, 374.351, 0.268879, 0.526616, 0.00441863, 1.96712,
    3140.15, -0.962678, 330.753, 0.0153586, -0.868242, 0.00594259, 5.6468,
    2002.97, -1.31627, 277.848, 0.157101, -0.729323, 0.00897037, -3.93496,
    3564.05, -0.174511, 223.309, 0.000592513, 0.373959, 0.00750723, -5.64851,
    2952.83, -0.404443, -27.9804, 0.133877, 0.924302, 0.00697537, -5.56918,
    128.349, -1.2416, 96.4703, 0.000299398, -0.173529, 0.00280805, 1.39166,
    10345.6, 0.300858, 492.845, 0.0226051, -0.418764, 0.0079057, -4.16173,
    18822.7, 0.575976, 332.057, 0.00141664, 0.704762, 0.0062351, -6.10889,
    11490.4, 0.748893, -20.4161, 0.0081522, -1.14772, 0.00762959, -7.24821,
    272.16, 0.925131, 386.682, 0.00565182, -1.33509, 0.000956492, 1.80953,
    16009.7, -1.25247, 384.783, 0.116014, -0.860349, 0.00553811, -3.77112,
    405.312, -1.15054, 59.504, 0.000336365, 0.479072, 0.000116366, -2.91988,
    12560.6, -0.878811, 423.161, 0.000700301, -0.655914, 0.00761525, 4.51544,
    106.168, 0.369027, 413.502, 0.0961534, -0.0866505, 0.0019476, -6.03429,
    643.941, 0.806329, 416.418, 0.128843, -0.278291, 0.00579682, 8.73785,
    11404.8, -0.662747, 182.627, 0.00997796, -1.14306, 0.00642305, -3.59087,
    1544.78, 0.157131, 372.843, 0.00191645, -0.571111, 0.00349088, -9.54903,
    50257.9, -0.584097, 269.486, 0.0663516, -0.985469, 0.00730576, -1.65106,
    44879.8, -0.348978, 495.101, 0.00467216, -0.996384, 0.00807703, 0.168135,
    385.989, -0.332743, 333.514, 0.00438631, -1.44396, 0.00806676, 7.15135,
    7196.66, -0.153583, -47.5912, 0.00171862, 0.49083, 0.000745746, -3.22133,
    1707.07, -1.3048, 209.02, 0.0120719, -0.347697, 0.00162462, 2.60065,
    164.881, -1.02881, 222.025, 0.00627375, -0.386436, 0.00532669, -3.58477,
    725.598, -0.528245, 443.97, 0.257761, -0.847737, 0.00900705, -1.35119,
    815.827, 0.901055, 216.523, 0.0186754, -1.16083, -0.00033632, 2.82852,
    123.364, -0.335933, 220.445, 0.0112681, -1.42157, -0.000469547, -5.2825,
    222.143, 0.133912, 113.171, 0.0671693, 0.960942, 0.0062281, 7.0819,
    655.279, -0.802484, -31.2821, 0.00215954, 0.193723, 0.00921327, -7.21668,
    280.988, -0.448455, 194.493, 0.0868488, 0.289342, 0.000719563, 7.01967,
    73312.4, 0.128162, -23.9676, 0.000509566, -1.46899, 0.00161257, -4.20706,
    234.79, -0.208863, 150.248, 0.000388308, 0.519589, 0.00328228, -4.04063,
    1329.2, 0.490372, 164.797, 0.12388, -0.711317, 0.00534869, 2.08259,
    338.482, -0.566108, 162.603, 0.00214517, -0.190521, 0.00159637, -3.05768,
    10480.5, -0.391712, 122.748, 0.00244814, -0.308369, 0.00256835, -4.89116,
    4717.87, 0.820899, 308.148, 0.00668235, -0.974611, 0.00525019, -3.78109,
    2580.63, 0.495193, 342.278, 0.00767223, -0.820942, 0.00350823, 3.60794,
    6806.94, 0.244669, -48.4258, 0.0019054, 0.916954, 0.000914692, -2.2031,
    217.549, 0.792378, 236.037, 0.00943761, -0.617305, 0.0063521, 3.58731,
    312.741, -0.180464, 91.0449, 0.141792, -0.315681, 0.0078905, 1.28553,
    367.612, -0.0762584, 36.3058, 0.00864001, -0.934168, 0.00867032, 7.80746,
    154.34, 0.223009, 278.398, 0.00249151, 0.576035, 0.000265513, 0.727445,
    312.107, -0.863579, 440.543, 0.000299357, -1.265, 0.00269171, 9.81724,
    6375.06, -0.793821, 114.397, 0.0017765, -1.49879, 0.00892634, 8.67376,
    5113.22, -0.460734, 355.013, 0.0472856, -1.04032, 0.00491098, -6.23521,
    355.312, 0.27427, 263.873, 0.0166533, 0.0463569, 0.00119667, -8.50809,
    68415.3, -1.34114, 375.676, 0.0177843, 0.388903, 0.00239029, 6.93506,
    18895.7, -0.62882, 454.654, 0.000181959, 0.138731, 0.00640449, -7.73613,
    1546.3, -0.357732, 347.963, 0.000608336, -0.928844, 0.00753519, 0.0872826,
};

/* what data cannot tell apart */
static const unsigned desc_degenerate_0[] = {0, 2};
static const unsigned desc_degenerate_1[] = {3, 5};
static const unsigned desc_degenerate_2[] = {3, 5, 6};
static const unsigned desc_degenerate_3[] = {6};
static const struct fit_degeneracy desc_degeneracy[] = {
    {.kind = FIT_DEGENERATE_AT_VALUE, .nparam = 2, .param = desc_degenerate_0,
     .condition = 1, .value = 0, .first = 0, .ncombination = 1, .each = 0,
     .held = -1, .proved = 1, .text = "at alpha = 0 D0 and D_offset enter only as D0 + D_offset: only this combination is determined"},
    {.kind = FIT_DEGENERATE_AT_VALUE, .nparam = 2, .param = desc_degenerate_1,
     .condition = 4, .value = 0, .first = 1, .ncombination = 1, .each = 0,
     .held = -1, .proved = 1, .text = "at beta = 0 gamma_dot_t0 and gamma_dot_t_offset enter only as gamma_dot_t0 + gamma_dot_t_offset: only this combination is determined"},
    {.kind = FIT_DEGENERATE_ONE_GROUP, .nparam = 3, .param = desc_degenerate_2,
     .condition = -1, .value = 0, .first = 2, .ncombination = 2, .each = 0,
     .held = -1, .proved = 1, .text = "with one value of phi gamma_dot_t0, gamma_dot_t_offset and phi0 enter only as gamma_dot_t0 cos(phi0 - phi) and gamma_dot_t_offset cos(phi0 - phi): only these are determined"},
    {.kind = FIT_DEGENERATE_MIRROR_ANGLE, .nparam = 1, .param = desc_degenerate_3,
     .condition = 6, .value = 2, .first = 0, .ncombination = 0, .each = 0,
     .held = -1, .proved = 0, .text = "where all phi are equal modulo 90 deg, phi0 and 2 phi - phi0 give the same mean"},
};

static const struct fit_combination desc_combination[] = {
    {"D0 + D_offset", "angstrom^2/s"},
    {"gamma_dot_t0 + gamma_dot_t_offset", "1/s"},
    {"gamma_dot_t0 cos(phi0 - phi)", "1/s"},
    {"gamma_dot_t_offset cos(phi0 - phi)", "1/s"},
};

/* amplitude (t / time)^exponent + offset, or with exp(exponent (t / time - shift)) */
static const struct fit_rate desc_rate[] = {
    {FIT_RATE_POWER, 0, 1, 2, -1, 1.0}, /* D0, alpha, D_offset */
    {FIT_RATE_POWER, 3, 4, 5, -1, 1.0}, /* gamma_dot_t0, beta, gamma_dot_t_offset */
};

static const char *const desc_alias[] = {"laminar_flow", NULL};
/* the model in MathML */
static const char *const desc_equation[] = {
    "<div class=\"eq\"><math displaystyle=\"true\"><mrow><msub><mi>c</mi><mrow><mn>2</mn></mrow></msub><mrow><mo form=\"prefix\" stretchy=\"false\">(</mo><mrow><mi>φ</mi><mo separator=\"true\">,</mo><msub><mi>t</mi><mn>1</mn></msub><mo separator=\"true\">,</mo><msub><mi>t</mi><mn>2</mn></msub></mrow><mo form=\"postfix\" stretchy=\"false\">)</mo></mrow></mrow><mrow><mo form=\"infix\">=</mo><msub><mi>offset</mi><mi>φ</mi></msub></mrow></math><wbr><math displaystyle=\"true\"><mrow><mo form=\"infix\">+</mo><mrow><msub><mi>contrast</mi><mi>φ</mi></msub><mspace width=\"0.2em\"></mspace><msubsup><mi>g</mi><mrow><mn>1</mn></mrow><mn>2</mn></msubsup></mrow></mrow></math></div>",
    "<div class=\"eq\"><math displaystyle=\"true\"><msub><mi>g</mi><mrow><mn>1</mn></mrow></msub><mrow><mo form=\"infix\">=</mo><mrow><mi>exp</mi><mrow><mo form=\"prefix\" stretchy=\"true\">(</mo><mrow><mo lspace=\"0\" rspace=\"0\">−</mo><mrow><mfrac><msup><mi>q</mi><mn>2</mn></msup><mn>2</mn></mfrac><mspace width=\"0.2em\"></mspace><mrow><msubsup><mo>∫</mo><msub><mi>t</mi><mn>1</mn></msub><msub><mi>t</mi><mn>2</mn></msub></msubsup><mrow><mi>D</mi><mrow><mo form=\"prefix\" stretchy=\"false\">(</mo><mi>t</mi><mo form=\"postfix\" stretchy=\"false\">)</mo></mrow></mrow><mspace width=\"0.2em\"></mspace><mi mathvariant=\"normal\">d</mi><mi>t</mi></mrow></mrow></mrow><mo form=\"postfix\" stretchy=\"true\">)</mo></mrow></mrow></mrow></math><wbr><math displaystyle=\"true\"><mrow><mo form=\"infix\">×</mo><mrow><msup><mi>sinc</mi><mn>2</mn></msup><mrow><mo form=\"prefix\" stretchy=\"true\">(</mo><mrow><mi>s</mi><mspace width=\"0.2em\"></mspace><mrow><msubsup><mo>∫</mo><msub><mi>t</mi><mn>1</mn></msub><msub><mi>t</mi><mn>2</mn></msub></msubsup><mrow><mi>shear</mi><mrow><mo form=\"prefix\" stretchy=\"false\">(</mo><mi>t</mi><mo form=\"postfix\" stretchy=\"false\">)</mo></mrow></mrow><mspace width=\"0.2em\"></mspace><mi mathvariant=\"normal\">d</mi><mi>t</mi></mrow></mrow><mo form=\"postfix\" stretchy=\"true\">)</mo></mrow></mrow></mrow></math></div>",
    "<div class=\"eq\"><math displaystyle=\"true\"><mrow><mi>D</mi><mrow><mo form=\"prefix\" stretchy=\"false\">(</mo><mi>t</mi><mo form=\"postfix\" stretchy=\"false\">)</mo></mrow></mrow><mrow><mo form=\"infix\">=</mo><mrow><mi>max</mi><mrow><mo form=\"prefix\" stretchy=\"false\">(</mo><mrow><mrow><mrow><msub><mi>D</mi><mrow><mn>0</mn></mrow></msub><mspace width=\"0.2em\"></mspace><msup><mrow><mi>ts</mi><mrow><mo form=\"prefix\" stretchy=\"false\">(</mo><mi>t</mi><mo form=\"postfix\" stretchy=\"false\">)</mo></mrow></mrow><mi>α</mi></msup></mrow><mo form=\"infix\">+</mo><msub><mi>D</mi><mrow><mi>offset</mi></mrow></msub></mrow><mo separator=\"true\">,</mo><mspace width=\"0.2em\"></mspace><mrow><msup><mn>10</mn><mrow><mo lspace=\"0\" rspace=\"0\">−</mo><mn>10</mn></mrow></msup><mspace width=\"0.2em\"></mspace><mrow><msup><mi mathvariant=\"normal\">Å</mi><mrow><mn>2</mn></mrow></msup><mspace width=\"0.2em\"></mspace><msup><mi mathvariant=\"normal\">s</mi><mrow><mo lspace=\"0\" rspace=\"0\">−</mo><mn>1</mn></mrow></msup></mrow></mrow></mrow><mo form=\"postfix\" stretchy=\"false\">)</mo></mrow></mrow></mrow></math></div>",
    "<div class=\"eq\"><math displaystyle=\"true\"><mi>s</mi><mrow><mo form=\"infix\">=</mo><mrow><mfrac><mrow><mi>q</mi><mspace width=\"0.2em\"></mspace><mi>gap</mi></mrow><mrow><mn>2</mn><mi>π</mi></mrow></mfrac><mspace width=\"0.2em\"></mspace><mrow><mi>cos</mi><mrow><mo form=\"prefix\" stretchy=\"false\">(</mo><mrow><msub><mi>φ</mi><mrow><mn>0</mn></mrow></msub><mo form=\"infix\">−</mo><mi>φ</mi></mrow><mo form=\"postfix\" stretchy=\"false\">)</mo></mrow></mrow></mrow></mrow></math></div>",
    "<div class=\"eq\"><math displaystyle=\"true\"><mrow><mi>shear</mi><mrow><mo form=\"prefix\" stretchy=\"false\">(</mo><mi>t</mi><mo form=\"postfix\" stretchy=\"false\">)</mo></mrow></mrow><mrow><mo form=\"infix\">=</mo><mrow><mi>max</mi><mrow><mo form=\"prefix\" stretchy=\"false\">(</mo><mrow><mrow><mrow><msub><mover accent=\"true\"><mi>γ</mi><mo stretchy=\"false\">˙</mo></mover><mrow><mn>0</mn></mrow></msub><mspace width=\"0.2em\"></mspace><msup><mrow><mi>ts</mi><mrow><mo form=\"prefix\" stretchy=\"false\">(</mo><mi>t</mi><mo form=\"postfix\" stretchy=\"false\">)</mo></mrow></mrow><mi>β</mi></msup></mrow><mo form=\"infix\">+</mo><msub><mover accent=\"true\"><mi>γ</mi><mo stretchy=\"false\">˙</mo></mover><mrow><mi>offset</mi></mrow></msub></mrow><mo separator=\"true\">,</mo><mspace width=\"0.2em\"></mspace><mrow><msup><mn>10</mn><mrow><mo lspace=\"0\" rspace=\"0\">−</mo><mn>10</mn></mrow></msup><mo lspace=\"0\" rspace=\"0\">/</mo><mi mathvariant=\"normal\">s</mi></mrow></mrow><mo form=\"postfix\" stretchy=\"false\">)</mo></mrow></mrow></mrow></math></div>",
    "<div class=\"eq\"><math displaystyle=\"true\"><mrow><mi>ts</mi><mrow><mo form=\"prefix\" stretchy=\"false\">(</mo><mi>t</mi><mo form=\"postfix\" stretchy=\"false\">)</mo></mrow></mrow><mrow><mo form=\"infix\">=</mo><mrow><mrow><mi>max</mi><mrow><mo form=\"prefix\" stretchy=\"true\">(</mo><mrow><mi>t</mi><mo separator=\"true\">,</mo><mspace width=\"0.2em\"></mspace><mfrac><mrow><mi>Δ</mi><mi>t</mi></mrow><mn>2</mn></mfrac></mrow><mo form=\"postfix\" stretchy=\"true\">)</mo></mrow></mrow><mo lspace=\"0\" rspace=\"0\">/</mo><mi mathvariant=\"normal\">s</mi></mrow></mrow></math></div>",
    NULL};

extern const struct fit_kernel FIT_KERNEL_SYMBOL;
const struct fit_kernel FIT_KERNEL_SYMBOL = {
    .abi = FIT_KERNEL_ABI,
    .name = "laminar",
    .variant = "fast",
    .title = "Homodyne two-time correlation of a colloid in laminar shear flow",
    .formula = "c2(phi, t1, t2) = offset + contrast g1^2\n"
        "g1 = exp(-q^2/2 I_D) sinc(x)^2,   x = q gap/(2 pi) cos(phi0 - phi) I_shear,   sinc x = sin x / x\n"
        "I_D = integral of D(t), I_shear = integral of the shear rate, both from t1 to t2\n"
        "D(t) = D0 t^alpha + D_offset,   shear rate(t) = gamma_dot_t0 t^beta + gamma_dot_t_offset   (t in s)\n"
        "Integrals are sums of trapezoids from frame to frame, with dt/2 in the place of t = 0\n",
    .equation = desc_equation,
    .reference = "H. He et al., PNAS 121 (2024) e2401162121; sinc as computed by homodyne and xpcsjax",
    .source = "laminar.lua",
    .hash = "4cdf58ab18530a2bf5da7e551b064e95c5767dc5494adb08c4dc2adf11eacfa3",
    .alias = desc_alias,
    .peer = FIT_PEER_HOMODYNE,
    .mode = "laminar_flow",
    .isa = FIT_KERNEL_ISA,
    .space = FIT_PAIRS,
    .raw = 1,
    .nparam = 7,
    .param = desc_param,
    .nlinear = 2,
    .linear = desc_linear,
    .intercept = 1,
    .nsetting = 2,
    .setting = desc_setting,
    .naxis = 1,
    .axis = desc_axis,
    .ncurve = 2,
    .curve = desc_curve,
    .nscreen = 64,
    .screen = desc_screen,
    .cost = {.per_frame = 112, .per_pair = 92, .per_pair_group = 64,
             .value_per_pair_group = 20, .functions_per_pair = 0},
    .table_doubles = 2,
    .workspace = workspace,
    .scratch = tile_scratch,
    .prepare = prepare,
    .moments = moments,
    .normal = normal,
    .gradient = gradient,
    .model = model,
    .points = points,
    .curves = curves,
    .ndegeneracy = 4,
    .degeneracy = desc_degeneracy,
    .ncombination = 4,
    .combination = desc_combination,
    .combine = combine,
    .nrate = 2,
    .rate = desc_rate,
};
