/* oscillatory_shear.c -- written by homodyne-gen from oscillatory_shear.lua.  Edit the model, not this file.
 *
 * Homodyne two-time correlation of a colloid under oscillating shear
 *
 *     c2(phi, t1, t2) = offset + contrast exp(-2 q^2 D (t2 - t1)) sinc(X)^2,   sinc X = sin X / X
 *     X = q gap/2 cos(phi0 - phi) (strain(t2) - strain(t1))
 *     strain(t) = strain0 sin(2 pi frequency t + delta): the integral of the shear rate
 *     strain0 2 pi frequency cos(2 pi frequency t + delta)
 *
 *   theta      0  D                    [angstrom^2/s]
 *              1  strain0              [1]
 *              2  delta                [1]
 *              3  phi0                 [deg]
 *   lin        0  contrast             [1]
 *              1  offset               [1]
 *   setting    0  q                    [1/angstrom]
 *              1  gap                  [angstrom]
 *              2  frequency            [1/s]
 *   group      0  phi                  [deg]
 *
 * cost of normal, operations: 44 per frame, 35 per pair, 74 per pair and group; of moments 19
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
    double *sin_t_sum; /* sin(6.28318530718 * frequency * t + delta) */
    double *exp_minus_t_two_q_sq_D_i; /* exp of t * minus_two_q_sq_D */
    double *exp_minus_t_two_q_sq_D_j; /* the same for the second frame */
    double *minus_t_two_q_sq_D; /* t * minus_two_q_sq_D */
    double *phi_prod; /* 0.5 * q * gap * strain0 * cos(0.0174533 * (phi0 - phi)) */
    double *inv_phi_prod; /* 1/phi_prod */
    double *sin_t_prod_i; /* sin of sin(delta + 6.28319 * t * frequency) * phi_prod */
    double *cos_t_prod_i; /* and its cos */
    double *sin_t_prod_j; /* the same, vectors at the second frame */
    double *cos_t_prod_j; /* and their cos */
    double *dsin_t_sum_ddelta; /* cos(delta + 6.28319 * t * frequency) */
    double *t; /* t */
    double *two_phi_prod; /* 2 * phi_prod */
    double *dphi_prod_dstrain0; /* q * gap / 2 * cos(phi0 - phi) */
    double *dphi_prod_dphi0; /* -0.00872665 * q * gap * strain0 * sin(0.0174533 * (phi0 - phi)) */
    double *dminus_two_q_sq_D_dD; /* -2 * q^2 */
    double *minus_two_q_sq_D; /* -2 * q^2 * D */
    double *t_prod_2_i; /* sin(delta + 6.28319 * t * frequency) * phi_prod */
    double *t_prod_2_j; /* the same, vectors at the second frame */
    double *sin_t_sum_grid; /* sin(6.28318530718 * frequency * t + delta) */
    double *dsin_t_sum_ddelta_grid; /* cos(delta + 6.28319 * t * frequency) */
    double *t_prod_grid; /* sin(delta + 6.28319 * t * frequency) * phi_prod */
    double *minus_t_two_q_sq_D_grid; /* t * minus_two_q_sq_D */
};

FIT_INLINE size_t carve(const struct fit_layout *l, double *base, struct tables *w)
{
    const size_t ng = l->ngroup;
    const size_t nt = fit_padded(l->ntime);
    const size_t nf = fit_padded(l->nframe);
    size_t n = 0;
    w->time_grid = base + n, n += nt;
    w->sin_t_sum = base + n, n += fit_padded(nf);
    w->exp_minus_t_two_q_sq_D_i = base + n, n += fit_padded(nf);
    w->exp_minus_t_two_q_sq_D_j = base + n, n += fit_padded(nf);
    w->minus_t_two_q_sq_D = base + n, n += fit_padded(nf);
    w->phi_prod = base + n, n += fit_padded(ng);
    w->inv_phi_prod = base + n, n += fit_padded(ng);
    w->sin_t_prod_i = base + n, n += fit_padded(nf * ng);
    w->cos_t_prod_i = base + n, n += fit_padded(nf * ng);
    w->sin_t_prod_j = base + n, n += fit_padded(nf * ng);
    w->cos_t_prod_j = base + n, n += fit_padded(nf * ng);
    w->dsin_t_sum_ddelta = base + n, n += fit_padded(nf);
    w->t = base + n, n += fit_padded(nf);
    w->two_phi_prod = base + n, n += fit_padded(ng);
    w->dphi_prod_dstrain0 = base + n, n += fit_padded(ng);
    w->dphi_prod_dphi0 = base + n, n += fit_padded(ng);
    w->dminus_two_q_sq_D_dD = base + n, n += fit_padded(8);
    w->minus_two_q_sq_D = base + n, n += fit_padded(8);
    w->t_prod_2_i = base + n, n += fit_padded(nf * ng);
    w->t_prod_2_j = base + n, n += fit_padded(nf * ng);
    w->sin_t_sum_grid = base + n, n += fit_padded(nt);
    w->dsin_t_sum_ddelta_grid = base + n, n += fit_padded(nt);
    w->t_prod_grid = base + n, n += fit_padded(ng * nt);
    w->minus_t_two_q_sq_D_grid = base + n, n += fit_padded(nt);
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
    const double D = theta[0]; /* [angstrom^2/s] */
    const double strain0 = theta[1]; /* [1] */
    const double delta = theta[2]; /* [1] */
    const double phi0 = theta[3]; /* [deg] */
    const double q = l->setting[0]; /* [1/angstrom] */
    const double gap = l->setting[1]; /* [angstrom] */
    const double frequency = l->setting[2]; /* [1/s] */

    /* scalars of the call and of the groups */
    {
        /* oscillatory_shear.lua:44: local g1 = exp(-q^2 * D * (t2 - t1)) * sinc(X) */
        const double q_sq = q*q;                                               /* [1/angstrom^2] */
        /* oscillatory_shear.lua:45: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * ... */
        w.minus_two_q_sq_D[0] = -2.0*q_sq*D;
        const double dminus_two_q_sq_D_dD = -2.0*q_sq;                         /* [1/angstrom^2] */
        w.dminus_two_q_sq_D_dD[0] = dminus_two_q_sq_D_dD;
        for (size_t g = 0; g < ng; g++) {
            /* oscillatory_shear.lua:43: local X  = q * gap / 2 * cos(phi0 - phi) * (at(strain, t2) - at ... */
            const double phi0_minus_phi = 0.017453292519943295*(phi0 - l->coord[0][g]); /* [1] */
            const double cos_phi0_minus_phi = cos(phi0_minus_phi);             /* [1] */
            w.phi_prod[g] = 0.5*q*gap*strain0*cos_phi0_minus_phi;
            /* oscillatory_shear.lua:45: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contras ... */
            w.two_phi_prod[g] = 2.0*w.phi_prod[g];
            /* oscillatory_shear.lua:43: local X  = q * gap / 2 * cos(phi0 - phi) * (at(strain, t2) - at ... */
            const double dphi_prod_dstrain0 = 0.5*q*gap*cos_phi0_minus_phi;    /* [1] */
            w.dphi_prod_dstrain0[g] = dphi_prod_dstrain0;
            const double dphi_prod_dphi0 = -0.008726646259971648*q*gap*strain0*sin(phi0_minus_phi); /* [1] */
            w.dphi_prod_dphi0[g] = dphi_prod_dphi0;
            /* oscillatory_shear.lua:44: local g1 = exp(-q^2 * D * (t2 - t1)) * sinc(X) */
            w.inv_phi_prod[g] = 1.0/w.phi_prod[g];
        }
    }

    if (derivative >= 0) { /* functions of time and their integrals */
        for (size_t k = 0; k < nt; k++)
            w.time_grid[k] = l->time[k < l->ntime ? k : l->ntime - 1];
        {
            for (size_t k = 0; k < nt; k += FIT_VL) {
                fit_vstore(w.sin_t_sum_grid + k, fit_vsin(delta
                        + 6.283185307179586*fit_vload(w.time_grid + k)*frequency));
                fit_vstore(w.minus_t_two_q_sq_D_grid + k, fit_vload(w.time_grid + k)*w.minus_two_q_sq_D[0]);
            }
        }
        for (size_t g = 0; g < ng; g++)
        {
            for (size_t k = 0; k < nt; k += FIT_VL) {
                fit_vstore(w.t_prod_grid + g * nt + k, fit_vload(w.sin_t_sum_grid + k)*w.phi_prod[g]);
            }
        }
        fit_gather(l, w.sin_t_sum_grid, w.sin_t_sum);
        fit_gather(l, w.minus_t_two_q_sq_D_grid, w.minus_t_two_q_sq_D);
        fit_gather(l, w.time_grid, w.t);
        fit_gather_group(l, w.t_prod_grid, w.t_prod_2_i, w.t_prod_2_j);

        /* factored forms */
        fit_exp_tables(l, w.minus_t_two_q_sq_D, w.exp_minus_t_two_q_sq_D_i, w.exp_minus_t_two_q_sq_D_j);
        fit_rotation_group_u(l, w.t_prod_2_j, w.sin_t_prod_i, w.cos_t_prod_i, w.sin_t_prod_j, w.cos_t_prod_j);
    }

    if (derivative) { /* tangents: the same integrals of the derivatives */
        {
            for (size_t k = 0; k < nt; k += FIT_VL) {
                /* oscillatory_shear.lua:41: local strain = strain0 * sin(2 * pi * frequency * t + delta ... */
                const fit_vd dsin_t_sum_ddelta = fit_vcos(delta
                        + 6.283185307179586*fit_vload(w.time_grid + k)*frequency); /* [1] */
                fit_vstore(w.dsin_t_sum_ddelta_grid + k, dsin_t_sum_ddelta);
            }
        }
        fit_gather(l, w.dsin_t_sum_ddelta_grid, w.dsin_t_sum_ddelta);
    }
    double check = 0.0; /* NaN where a table is not finite */
    check += 0.0 * w.sin_t_sum[l->nframe - 1];
    check += 0.0 * w.minus_t_two_q_sq_D[l->nframe - 1];
    check += 0.0 * w.t[l->nframe - 1];
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
    const fit_vd d_sin_t_sum = fit_vload(w->sin_t_sum + j) - w->sin_t_sum[i];
    /* oscillatory_shear.lua:44: local g1 = exp(-q^2 * D * (t2 - t1)) * sinc(X) */
    const fit_vd inv_d_sin_t_sum = 1.0/d_sin_t_sum;                            /* [1] */
    fit_vd exp_minus_t_two_q_sq_D;
    if (!exps[0 * ng].direct)
        exp_minus_t_two_q_sq_D = fit_vload(w->exp_minus_t_two_q_sq_D_j
            + j) * (w->exp_minus_t_two_q_sq_D_i[i] * exps[0 * ng].middle);
    else
        exp_minus_t_two_q_sq_D = fit_vexp(fit_vload(w->minus_t_two_q_sq_D + j) - w->minus_t_two_q_sq_D[i]);
    const fit_vd d_sin_t_sum_sq = d_sin_t_sum*d_sin_t_sum;                     /* [1] */
    for (size_t g = 0; g < ng; g++) {
        fit_vm use = lanes;
        fit_vd weight = {0};
        if (masked) {
            weight = t->w ? fit_vload(t->w + at + g * FIT_LANES + h) : fit_vset1(1.0);
            use &= weight > 0.0;
        }
        const fit_vd y = fit_data(data + g * FIT_LANES + h, 64 * FIT_LANES);
        fit_vd *restrict sum = sums + g * 3;
        const double phi_prod = w->phi_prod[g];
        /* oscillatory_shear.lua:43: local X  = q * gap / 2 * cos(phi0 - phi) * (at(strain, t2) - at(str ... */
        const fit_vd X = phi_prod*d_sin_t_sum;
        const fit_vm small = fit_vabs(X) < FIT_SINC_X0;
        const double inv_phi_prod = w->inv_phi_prod[g];
        const double sin_i = w->sin_t_prod_i[i * ng + g], cos_i = w->cos_t_prod_i[i * ng + g];
        const fit_vd sin_j = fit_vload(w->sin_t_prod_j + (b * ng + g) * FIT_LANES + h),
                cos_j = fit_vload(w->cos_t_prod_j + (b * ng + g) * FIT_LANES + h);
        const fit_vd sin_t_prod = sin_j*cos_i - cos_j*sin_i; /* sin of the difference */
        /* oscillatory_shear.lua:44: local g1 = exp(-q^2 * D * (t2 - t1)) * sinc(X) */
        fit_vd sinc_t_prod = inv_phi_prod*inv_d_sin_t_sum*sin_t_prod;          /* [1] */
        if (fit_vany(small)) {
            sinc_t_prod = fit_vselect(small, fit_vsinc_series(phi_prod*phi_prod*d_sin_t_sum_sq), sinc_t_prod);
        }
        const fit_vd b_contrast = sinc_t_prod*exp_minus_t_two_q_sq_D*sinc_t_prod; /* [1] */
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
    exps[0 * ng] = fit_exp_tile(l, t, w->minus_t_two_q_sq_D, 1, 0);
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

enum { PIECES = FIT_LANES / FIT_VL, COLUMNS = 2, ROWS = 6, ROW_SUMS = 6, SUMS = 14, FIELDS = 14,
       ALONG_SUMS = 0, COLUMN_SUMS = 0, PAIRS = 5, CHANNELS_R = 5, MOMENT_SUMS = 4 };
/* A strip is so many blocks of a row; so many groups are kept before their products are
 * summed, so many rows before their sums are multiplied by tables. */
enum { STRIP = 8, BATCH = 4, KEPT = 4 };

/* Pairs (i, 8b .. 8b+7): what does not depend on the group. */
FIT_INLINE void normal_pair(const struct fit_layout *l, const struct tables *w,
                            const struct fit_exp_tile *exps, size_t i, size_t b, size_t h,
                            fit_vd *restrict pair)
{
    const size_t ng = l->ngroup;
    const size_t j = b * FIT_LANES + h;
    const fit_vd d_sin_t_sum = fit_vload(w->sin_t_sum + j) - w->sin_t_sum[i];
    pair[0] = d_sin_t_sum;
    const fit_vd d_t = fit_vload(w->t + j) - w->t[i];
    pair[1] = d_t;
    pair[2] = 1.0/d_sin_t_sum;
    fit_vd exp_minus_t_two_q_sq_D;
    if (!exps[0 * ng].direct)
        exp_minus_t_two_q_sq_D = fit_vload(w->exp_minus_t_two_q_sq_D_j
            + j) * (w->exp_minus_t_two_q_sq_D_i[i] * exps[0 * ng].middle);
    else
        exp_minus_t_two_q_sq_D = fit_vexp(fit_vload(w->minus_t_two_q_sq_D + j) - w->minus_t_two_q_sq_D[i]);
    pair[3] = exp_minus_t_two_q_sq_D;
    pair[4] = d_sin_t_sum*d_sin_t_sum;
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
    const double phi_prod = w->phi_prod[g];
    /* oscillatory_shear.lua:44: local g1 = exp(-q^2 * D * (t2 - t1)) * sinc(X) */
    const double phi_prod_sq = phi_prod*phi_prod;
    const double inv_phi_prod = w->inv_phi_prod[g];
    const double two_phi_prod = w->two_phi_prod[g];
    const double contrast_two_phi_prod = contrast*two_phi_prod;
    const double dphi_prod_dstrain0 = w->dphi_prod_dstrain0[g];
    const double prod = 2.0*contrast*dphi_prod_dstrain0;
    const double dphi_prod_dphi0 = w->dphi_prod_dphi0[g];
    const double prod_2 = 2.0*contrast*dphi_prod_dphi0;
    const double dminus_two_q_sq_D_dD = w->dminus_two_q_sq_D_dD[0];
    const double prod_3 = contrast*dminus_two_q_sq_D_dD;
    const int near = masked || fit_vany(fabs(phi_prod)*nearest[0] < FIT_SINC_NEAR);
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
        const fit_vd d_sin_t_sum = at_pair[0];
        const fit_vd d_t = at_pair[1];
        const fit_vd t_power = at_pair[2];
        const fit_vd exp_minus_t_two_q_sq_D = at_pair[3];
        const fit_vd t_prod = at_pair[4];
        const double sin_i = w->sin_t_prod_i[i * ng + g], cos_i = w->cos_t_prod_i[i * ng + g];
        const fit_vd sin_j = fit_vload(w->sin_t_prod_j + (b * ng + g) * FIT_LANES + h),
                cos_j = fit_vload(w->cos_t_prod_j + (b * ng + g) * FIT_LANES + h);
        const fit_vd sin_t_prod = sin_j*cos_i - cos_j*sin_i; /* sin of the difference */
        const fit_vd cos_t_prod = cos_j*cos_i + sin_j*sin_i; /* its cosine */
        const fit_vd t_prod_2 = inv_phi_prod*t_power*sin_t_prod;
        fit_vd sinc_phi_prod_sq_t_prod = t_prod_2;                             /* [1] */
        fit_vd dsinc_X = inv_phi_prod*t_power*(cos_t_prod - t_prod_2);         /* [1] */
        if (near) {
            /* oscillatory_shear.lua:43: local X  = q * gap / 2 * cos(phi0 - phi) * (at(strain, t2) - at ... */
            const fit_vd X = phi_prod*d_sin_t_sum;
            const fit_vm small = fit_vabs(X) < FIT_SINC_X0;
            if (fit_vany(small)) {
                /* oscillatory_shear.lua:44: local g1 = exp(-q^2 * D * (t2 - t1)) * sinc(X) */
                const fit_vd phi_prod_sq_t_prod = phi_prod_sq*t_prod;
                sinc_phi_prod_sq_t_prod = fit_vselect(small, fit_vsinc_series(phi_prod_sq_t_prod),
                        sinc_phi_prod_sq_t_prod);
                dsinc_X = fit_vselect(small, fit_vdsinc_series(X, phi_prod_sq_t_prod), dsinc_X);
            }
        }
        const fit_vd X_prod = exp_minus_t_two_q_sq_D*sinc_phi_prod_sq_t_prod;  /* [1] */
        const fit_vd b_contrast = sinc_phi_prod_sq_t_prod*X_prod;              /* [1] */
        const fit_vd X_prod_dsinc_X = X_prod*dsinc_X;                          /* [1] */
        const fit_vd X_prod_2 = d_sin_t_sum*X_prod_dsinc_X;                    /* [1] */
        const fit_vd d_t_b_contrast = d_t*b_contrast;                          /* [s] */
        const fit_vd r = fit_kept(masked, use, y - (contrast*b_contrast + offset));
        at_m[0] = fit_weighted(masked, root, fit_kept(masked, use,
                contrast_two_phi_prod*X_prod_dsinc_X)); /* m_sin_t_sum */
        at_m[1] = fit_weighted(masked, root, fit_kept(masked, use, prod*X_prod_2)); /* m_strain0 */
        at_m[2] = fit_weighted(masked, root, fit_kept(masked, use, prod_2*X_prod_2)); /* m_phi0 */
        at_m[3] = fit_weighted(masked, root, fit_kept(masked, use, prod_3*d_t_b_contrast)); /* m_D */
        at_m[4] = fit_weighted(masked, root, r);
        const fit_vd s0 = fit_counted(masked, use, weight,
                b_contrast*X_prod_dsinc_X); /* contrast: b m_sin_t_sum */
        at_column[0] += s0;
        row0 += s0;
        const fit_vd s1 = fit_counted(masked, use, weight, b_contrast*X_prod_2); /* contrast: b m_strain0 */
        row1 += s1;
        const fit_vd s2 = fit_counted(masked, use, weight, b_contrast*d_t_b_contrast); /* contrast: b m_D */
        row2 += s2;
        const fit_vd s3 = fit_counted(masked, use, weight, X_prod_dsinc_X); /* offset: b m_sin_t_sum */
        at_column[1] += s3;
        row3 += s3;
        const fit_vd s4 = fit_counted(masked, use, weight, X_prod_2); /* offset: b m_strain0 */
        row4 += s4;
        const fit_vd s5 = fit_counted(masked, use, weight, d_t_b_contrast); /* offset: b m_D */
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
    fit_vd s9 = begin ? (fit_vd){0} : field[9];
    fit_vd s10 = begin ? (fit_vd){0} : field[10];
    fit_vd s11 = begin ? (fit_vd){0} : field[11];
    fit_vd s12 = begin ? (fit_vd){0} : field[12];
    fit_vd s13 = begin ? (fit_vd){0} : field[13];
    for (size_t g = 0; g < n; g++) {
        const fit_vd *x = m + g * CHANNELS_R;
        s0 += x[0]*x[0]; /* F_sin_t_sum_sin_t_sum */
        s1 += x[0]*x[1]; /* F_sin_t_sum_strain0 */
        s2 += x[0]*x[2]; /* F_sin_t_sum_phi0 */
        s3 += x[0]*x[3]; /* F_sin_t_sum_D */
        s10 += x[0]*x[4]; /* G_sin_t_sum */
        s4 += x[1]*x[1]; /* F_strain0_strain0 */
        s5 += x[1]*x[2]; /* F_strain0_phi0 */
        s6 += x[1]*x[3]; /* F_strain0_D */
        s11 += x[1]*x[4]; /* G_strain0 */
        s7 += x[2]*x[2]; /* F_phi0_phi0 */
        s8 += x[2]*x[3]; /* F_phi0_D */
        s12 += x[2]*x[4]; /* G_phi0 */
        s9 += x[3]*x[3]; /* F_D_D */
        s13 += x[3]*x[4]; /* G_D */
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
    field[9] = s9;
    field[10] = s10;
    field[11] = s11;
    field[12] = s12;
    field[13] = s13;
}

/* The fields of n vectors of pairs (i, j0 ..) times the tables: added to the sums H of J^T J and J^T r, and
 * to the sums along the row and down the columns that get their other factor later. */
FIT_LARGE void contract(const struct tables *w, size_t i, size_t j0, size_t n, const fit_vd *restrict field,
                        fit_vd *restrict H, fit_vd *restrict row, fit_vd *restrict column)
{
    { /* sin_t_sum x sin_t_sum, sin_t_sum x strain0, sin_t_sum x phi0, sin_t_sum x D, sin_t_sum x residual, strain0 x strain0, strain0 x phi0, strain0 x D, strain0 x residual, phi0 x phi0, phi0 x D, phi0 x residual, D x D, D x residual */
        const double u_sin_t_sum_delta_i = w->dsin_t_sum_ddelta[i];
        fit_vd s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
        fit_vd s8 = {0}, s9 = {0}, s10 = {0}, s11 = {0}, s12 = {0}, s13 = {0};
        for (size_t k = 0, j = j0; k < n; k++, j += FIT_VL) {
            const fit_vd *F = field + k * FIELDS;
            const fit_vd u_sin_t_sum_delta = fit_vload(w->dsin_t_sum_ddelta + j) - u_sin_t_sum_delta_i;
            const fit_vd p0_0 = F[0]*u_sin_t_sum_delta;
            s0 += u_sin_t_sum_delta*p0_0;
            s1 += u_sin_t_sum_delta*F[1];
            s2 += u_sin_t_sum_delta*F[2];
            s3 += u_sin_t_sum_delta*F[3];
            s4 += u_sin_t_sum_delta*F[10];
            s5 += F[4];
            s6 += F[5];
            s7 += F[6];
            s8 += F[11];
            s9 += F[7];
            s10 += F[8];
            s11 += F[12];
            s12 += F[9];
            s13 += F[13];
        }
        H[7] += s0; /* delta, delta */
        H[5] += s1; /* delta, strain0 */
        H[8] += s2; /* delta, phi0 */
        H[2] += s3; /* delta, D */
        H[12] += s4; /* J^T r: delta */
        H[4] += s5; /* strain0, strain0 */
        H[6] += s6; /* strain0, phi0 */
        H[1] += s7; /* strain0, D */
        H[11] += s8; /* J^T r: strain0 */
        H[9] += s9; /* phi0, phi0 */
        H[3] += s10; /* phi0, D */
        H[13] += s11; /* J^T r: phi0 */
        H[0] += s12; /* D, D */
        H[10] += s13; /* J^T r: D */
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
        for (size_t h = 0; h < n; h++) {
            fit_vd *r = row + (h * ng + g) * ROWS;
            const size_t i = i0 + h;
            s0 += r[0]*w->dsin_t_sum_ddelta[i];
            r[0] = (fit_vd){0};
            s1 += r[1];
            r[1] = (fit_vd){0};
            s2 += r[2];
            r[2] = (fit_vd){0};
            s3 += r[3]*w->dsin_t_sum_ddelta[i];
            r[3] = (fit_vd){0};
            s4 += r[4];
            r[4] = (fit_vd){0};
            s5 += r[5];
            r[5] = (fit_vd){0};
        }
        s[0] = s0;
        s[1] = s1;
        s[2] = s2;
        s[3] = s3;
        s[4] = s4;
        s[5] = s5;
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
    exps[0 * ng] = fit_exp_tile(l, t, w->minus_t_two_q_sq_D, 1, 0);
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

    for (size_t k = 0; k < 14; k++)
        out[k] = fit_vsum(H[k]);
    double *V = out + 14;
    for (size_t g = 0; g < ng; g++, V += 8) {
        const fit_vd *at_rows = row_sum + g * ROW_SUMS;
        const fit_vd *columns = column + g * pieces * COLUMNS;
        const double contrast = lin[g * 2 + 0];
        const double two_phi_prod = w->two_phi_prod[g];
        const double contrast_two_phi_prod = contrast*two_phi_prod;
        const double dphi_prod_dstrain0 = w->dphi_prod_dstrain0[g];
        const double prod = 2.0*contrast*dphi_prod_dstrain0;
        const double dphi_prod_dphi0 = w->dphi_prod_dphi0[g];
        const double prod_2 = 2.0*contrast*dphi_prod_dphi0;
        const double dminus_two_q_sq_D_dD = w->dminus_two_q_sq_D_dD[0];
        const double prod_3 = contrast*dminus_two_q_sq_D_dD;
        V[0] = 0.0;
        V[1] = 0.0;
        V[2] = 0.0;
        V[3] = 0.0;
        V[4] = 0.0;
        V[5] = 0.0;
        V[6] = 0.0;
        V[7] = 0.0;
        V[2] += contrast_two_phi_prod * fit_column_sum(columns + 0, COLUMNS, pieces,
                w->dsin_t_sum_ddelta + t->j0, at_rows + 0);
        V[1] += prod * fit_vsum(at_rows[1]);
        V[3] += prod_2 * fit_vsum(at_rows[1]);
        V[0] += prod_3 * fit_vsum(at_rows[2]);
        V[6] += contrast_two_phi_prod * fit_column_sum(columns + 1, COLUMNS, pieces,
                w->dsin_t_sum_ddelta + t->j0, at_rows + 3);
        V[5] += prod * fit_vsum(at_rows[4]);
        V[7] += prod_2 * fit_vsum(at_rows[4]);
        V[4] += prod_3 * fit_vsum(at_rows[5]);
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
    const fit_vd d_sin_t_sum = fit_vload(w->sin_t_sum + j) - w->sin_t_sum[i];
    /* oscillatory_shear.lua:44: local g1 = exp(-q^2 * D * (t2 - t1)) * sinc(X) */
    const fit_vd inv_d_sin_t_sum = 1.0/d_sin_t_sum;                            /* [1] */
    fit_vd exp_minus_t_two_q_sq_D;
    if (!exps[0 * ng].direct)
        exp_minus_t_two_q_sq_D = fit_vload(w->exp_minus_t_two_q_sq_D_j
            + j) * (w->exp_minus_t_two_q_sq_D_i[i] * exps[0 * ng].middle);
    else
        exp_minus_t_two_q_sq_D = fit_vexp(fit_vload(w->minus_t_two_q_sq_D + j) - w->minus_t_two_q_sq_D[i]);
    const fit_vd d_sin_t_sum_sq = d_sin_t_sum*d_sin_t_sum;                     /* [1] */
    const fit_vd t_prod = 2.0*d_sin_t_sum*exp_minus_t_two_q_sq_D;              /* [1] */
    const double dminus_two_q_sq_D_dD = w->dminus_two_q_sq_D_dD[0];
    const fit_vd d_t = fit_vload(w->t + j) - w->t[i];
    const fit_vd t_prod_2 = dminus_two_q_sq_D_dD*d_t*exp_minus_t_two_q_sq_D;
    fit_vd F0 = {0};
    fit_vd F1 = {0};
    fit_vd F2 = {0};
    fit_vd F3 = {0};
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
        const double phi_prod = w->phi_prod[g];
        /* oscillatory_shear.lua:43: local X  = q * gap / 2 * cos(phi0 - phi) * (at(strain, t2) - at(str ... */
        const fit_vd X = phi_prod*d_sin_t_sum;
        const fit_vm small = fit_vabs(X) < FIT_SINC_X0;
        const double inv_phi_prod = w->inv_phi_prod[g];
        const double sin_i = w->sin_t_prod_i[i * ng + g], cos_i = w->cos_t_prod_i[i * ng + g];
        const fit_vd sin_j = fit_vload(w->sin_t_prod_j + (b * ng + g) * FIT_LANES + h),
                cos_j = fit_vload(w->cos_t_prod_j + (b * ng + g) * FIT_LANES + h);
        const fit_vd sin_t_prod = sin_j*cos_i - cos_j*sin_i; /* sin of the difference */
        const fit_vd cos_t_prod = cos_j*cos_i + sin_j*sin_i; /* its cosine */
        /* oscillatory_shear.lua:44: local g1 = exp(-q^2 * D * (t2 - t1)) * sinc(X) */
        const fit_vd t_prod_3 = inv_phi_prod*inv_d_sin_t_sum*sin_t_prod;
        fit_vd sinc_t_prod = t_prod_3;                                         /* [1] */
        fit_vd dsinc_X = inv_phi_prod*inv_d_sin_t_sum*(cos_t_prod - t_prod_3); /* [1] */
        if (fit_vany(small)) {
            const fit_vd t_prod_4 = phi_prod*phi_prod*d_sin_t_sum_sq;
            sinc_t_prod = fit_vselect(small, fit_vsinc_series(t_prod_4), sinc_t_prod);
            dsinc_X = fit_vselect(small, fit_vdsinc_series(X, t_prod_4), dsinc_X);
        }
        const fit_vd sinc_t_prod_sq = sinc_t_prod*sinc_t_prod;                 /* [1] */
        /* oscillatory_shear.lua:45: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * ... */
        const fit_vd X_prod = exp_minus_t_two_q_sq_D*sinc_t_prod_sq;           /* [1] */
        const fit_vd r = y - (at_lin[0]*X_prod + at_lin[1]); /* residual */
        const fit_vd seed_contrast = (seeds[0]*at_lin[0])*r - (seeds[1]*X_prod + seeds[2]);
        const double two_phi_prod = w->two_phi_prod[g];
        const fit_vd X_prod_2 = seed_contrast*sinc_t_prod*dsinc_X;
        const double dphi_prod_dstrain0 = w->dphi_prod_dstrain0[g];
        const double dphi_prod_dphi0 = w->dphi_prod_dphi0[g];
        F0 += fit_counted(masked, use, weight, two_phi_prod*X_prod_2);
        F1 += fit_counted(masked, use, weight, dphi_prod_dstrain0*X_prod_2);
        F2 += fit_counted(masked, use, weight, dphi_prod_dphi0*X_prod_2);
        F3 += fit_counted(masked, use, weight, seed_contrast*sinc_t_prod_sq);
    }

    /* products with what does not depend on the group */
    const fit_vd a_sin_t_sum = fit_kept(masked, lanes, exp_minus_t_two_q_sq_D*F0);
    column[0] += a_sin_t_sum;
    row[0] += a_sin_t_sum;
    const fit_vd a_strain0 = fit_kept(masked, lanes, t_prod*F1);
    row[1] += a_strain0;
    const fit_vd a_phi0 = fit_kept(masked, lanes, t_prod*F2);
    row[2] += a_phi0;
    const fit_vd a_D = fit_kept(masked, lanes, t_prod_2*F3);
    row[3] += a_D;
}

enum { CHANNELS = 4, GRADIENT_SUMS = 4, GRADIENT_EXPS = 2 };

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
    exps[0 * ng] = fit_exp_tile(l, t, w->minus_t_two_q_sq_D, 1, 0);
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
        sum[2] -= row[0]*w->dsin_t_sum_ddelta[i];
        row[0] = (fit_vd){0};
    }
    for (size_t k = 0; k < pieces; k++)
        sum[2] += column[k * CHANNELS + 0]*fit_vload(w->dsin_t_sum_ddelta + t->j0 + k * FIT_VL);
    sum[1] += row[1];
    sum[3] += row[2];
    sum[0] += row[3];
    for (size_t k = 0; k < 4; k++)
        out[k] = fit_vsum(sum[k]);
}

/* Pairs (i, 8b .. 8b+7): the mean of every group. */
FIT_INLINE void model_block(const struct fit_layout *l, const struct tables *w, const double *lin, size_t i,
                            size_t b, size_t h, double *out)
{
    const size_t ng = l->ngroup;
    const size_t j = b * FIT_LANES + h;
    const fit_vd d_sin_t_sum = fit_vload(w->sin_t_sum + j) - w->sin_t_sum[i];
    /* oscillatory_shear.lua:44: local g1 = exp(-q^2 * D * (t2 - t1)) * sinc(X) */
    const fit_vd inv_d_sin_t_sum = 1.0/d_sin_t_sum;                            /* [1] */
    const fit_vd exp_minus_t_two_q_sq_D = fit_vexp(fit_vload(w->minus_t_two_q_sq_D + j)
            - w->minus_t_two_q_sq_D[i]);
    const fit_vd d_sin_t_sum_sq = d_sin_t_sum*d_sin_t_sum;                     /* [1] */
    for (size_t g = 0; g < ng; g++) {
        const double contrast = lin[g * 2 + 0];
        const double offset = lin[g * 2 + 1];
        const double phi_prod = w->phi_prod[g];
        /* oscillatory_shear.lua:43: local X  = q * gap / 2 * cos(phi0 - phi) * (at(strain, t2) - at(str ... */
        const fit_vd X = phi_prod*d_sin_t_sum;
        const fit_vm small = fit_vabs(X) < FIT_SINC_X0;
        const double inv_phi_prod = w->inv_phi_prod[g];
        const double sin_i = w->sin_t_prod_i[i * ng + g], cos_i = w->cos_t_prod_i[i * ng + g];
        const fit_vd sin_j = fit_vload(w->sin_t_prod_j + (b * ng + g) * FIT_LANES + h),
                cos_j = fit_vload(w->cos_t_prod_j + (b * ng + g) * FIT_LANES + h);
        const fit_vd sin_t_prod = sin_j*cos_i - cos_j*sin_i; /* sin of the difference */
        /* oscillatory_shear.lua:44: local g1 = exp(-q^2 * D * (t2 - t1)) * sinc(X) */
        fit_vd sinc_t_prod = inv_phi_prod*inv_d_sin_t_sum*sin_t_prod;          /* [1] */
        if (fit_vany(small)) {
            sinc_t_prod = fit_vselect(small, fit_vsinc_series(phi_prod*phi_prod*d_sin_t_sum_sq), sinc_t_prod);
        }
        const fit_vd b_contrast = sinc_t_prod*exp_minus_t_two_q_sq_D*sinc_t_prod; /* [1] */
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
        const fit_vd d_sin_t_sum = fit_pick_change(w.sin_t_sum, &at);
        const fit_vd phi_prod = fit_pick_g(w.phi_prod, &at);
        /* oscillatory_shear.lua:43: local X  = q * gap / 2 * cos(phi0 - phi) * (at(strain, t2) - at(str ... */
        const fit_vd X = d_sin_t_sum*phi_prod;
        fit_vd cos_sinc_X;
        const fit_vd sinc_X = fit_vsinc_cos(X, &cos_sinc_X);
        /* oscillatory_shear.lua:45: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * ... */
        const fit_vd sinc_X_sq = sinc_X*sinc_X;                                /* [1] */
        const fit_vd d_t = fit_pick_change(w.t, &at);
        const fit_vd exp_minus_d_t_two_q_sq_D = fit_vexp(d_t*w.minus_two_q_sq_D[0]); /* [1] */
        fit_store_points(mean + p, at.n, contrast*sinc_X_sq*exp_minus_d_t_two_q_sq_D + offset);
        if (!jac)
            continue;
        fit_vd J[6];
        /* oscillatory_shear.lua:44: local g1 = exp(-q^2 * D * (t2 - t1)) * sinc(X) */
        const fit_vd dsinc_X = fit_vdsinc_of(X, sinc_X, cos_sinc_X);           /* [1] */
        const fit_vd two_phi_prod = fit_pick_g(w.two_phi_prod, &at);
        const fit_vd m_sin_t_sum = contrast*sinc_X*exp_minus_d_t_two_q_sq_D*dsinc_X*two_phi_prod; /* d mean / d integral of sin_t_sum */
        const fit_vd dphi_prod_dstrain0 = fit_pick_g(w.dphi_prod_dstrain0, &at);
        const fit_vd dphi_prod_dphi0 = fit_pick_g(w.dphi_prod_dphi0, &at);
        J[0] = contrast*d_t*sinc_X_sq*exp_minus_d_t_two_q_sq_D*w.dminus_two_q_sq_D_dD[0]; /* D */
        J[1] = 2.0*contrast*d_sin_t_sum*sinc_X*exp_minus_d_t_two_q_sq_D*dsinc_X*dphi_prod_dstrain0; /* strain0 */
        J[2] = m_sin_t_sum*fit_pick_change(w.dsin_t_sum_ddelta, &at); /* delta */
        J[3] = 2.0*contrast*d_sin_t_sum*sinc_X*exp_minus_d_t_two_q_sq_D*dsinc_X*dphi_prod_dphi0; /* phi0 */
        J[4] = sinc_X_sq*exp_minus_d_t_two_q_sq_D; /* contrast */
        J[5] = fit_vset1(1.0); /* offset */
        fit_store_columns(jac + p, stride, 6, at.n, J);
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
    const double strain0 = theta[1]; /* [1] */
    const double delta = theta[2]; /* [1] */
    const double frequency = l->setting[2]; /* [1/s] */
    for (size_t k = 0; k < n; k++) {
        /* oscillatory_shear.lua:41: local strain = strain0 * sin(2 * pi * frequency * t + delta) */
        const double t_sum = delta + 6.283185307179586*l->time[k]*frequency;   /* [1] */
        const double sin_t_sum = sin(t_sum);                                   /* [1] */
        const double strain = strain0*sin_t_sum;                               /* [1] */
        value[0 * n + k] = strain; /* strain */
        if (!tangent)
            continue;
        tangent[0 * n + k] = 0.0;
        tangent[1 * n + k] = sin_t_sum;
        const double dsin_t_sum_ddelta = cos(t_sum);                           /* [1] */
        tangent[2 * n + k] = strain0*dsin_t_sum_ddelta;
        tangent[3 * n + k] = 0.0;
    }
}

static void combine(const struct fit_layout *l, const double *theta, double *value, double *gradient)
{
    const size_t g = 0;
    const double strain0 = theta[1]; /* [1] */
    const double phi0 = theta[3]; /* [deg] */
    const double phi0_minus_phi = 0.017453292519943295*(phi0 - l->coord[0][g]);
    const double cos_phi0_minus_phi = cos(phi0_minus_phi);
    value[0] = strain0*cos_phi0_minus_phi;
    for (size_t k = 0; k < 4; k++)
        gradient[k] = 0.0;
    gradient[1] = cos_phi0_minus_phi;
    gradient[3] = -0.017453292519943295*strain0*sin(phi0_minus_phi);
}

/* ---- description ----------------------------------------------------------------------------------- */

static const struct fit_param desc_param[] = {
    {.name = "D", .unit = "angstrom^2/s", .doc = "diffusion coefficient",
     .start = 1000.0, .lower = 1.0, .upper = 1000000000.0, .over = -1,
     .prior = FIT_PRIOR_LOG_UNIFORM, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "strain0", .unit = "1", .doc = "amplitude of the strain",
     .start = 0.001, .lower = 1e-08, .upper = 10.0, .over = -1,
     .prior = FIT_PRIOR_LOG_UNIFORM, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "delta", .unit = "1", .doc = "phase of the strain at t = 0",
     .start = 0.0, .lower = -6.283185307179586, .upper = 6.283185307179586, .over = -1,
     .prior = FIT_PRIOR_TRUNCATED_NORMAL, .prior_a = 0.0, .prior_b = 2.0},
    {.name = "phi0", .unit = "deg", .doc = "direction of the flow",
     .start = 0.0, .lower = -90.0, .upper = 90.0, .over = -1,
     .prior = FIT_PRIOR_TRUNCATED_NORMAL, .prior_a = 0.0, .prior_b = 5.0},
};

static const struct fit_param desc_linear[] = {
    {.name = "contrast", .unit = "1", .doc = "speckle contrast",
     .start = 0.3, .lower = 0.0, .upper = 1.0, .over = 0,
     .prior = FIT_PRIOR_TRUNCATED_NORMAL, .prior_a = 0.3, .prior_b = 0.25},
    {.name = "offset", .unit = "1", .doc = "baseline",
     .start = 1.0, .lower = 0.5, .upper = 1.5, .over = 0,
     .prior = FIT_PRIOR_TRUNCATED_NORMAL, .prior_a = 1.0, .prior_b = 0.25},
};

static const struct fit_setting desc_setting[] = {
    {"q", "1/angstrom", "wavevector", NAN, FIT_STATISTIC_NONE, 0},
    {"gap", "angstrom", "distance of the plates", NAN, FIT_STATISTIC_NONE, 0},
    {"frequency", "1/s", "oscillations per second", NAN, FIT_STATISTIC_NONE, 0},
};

static const struct fit_axis desc_axis[] = {
    {"phi", "deg", "azimuth of the detector sector"},
};

static const struct fit_curve desc_curve[] = {
    {"strain", "1", "strain"},
};

/* parameter sets, drawn by the model's random() */
static const double desc_screen[] = {
    34138.4, 0.000532245, -1.48775, 9.41764,
    26.631, 0.000203846, -1.02457, 5.43093,
    96.1072, 0.0642869, -0.325255, 5.22069,
    1246.82, 0.00166215, 0.65415, 0.369644,
    902.939, 0.0114687, -0.927727, 6.8831,
    26421.6, 0.00437362, 1.34942, -3.41509,
    28886.4, 0.00200744, -0.273423, -4.93572,
    3515.09, 0.0529373, 1.39177, -5.66491,
    15.6742, 1.21201e-05, 1.01034, -1.76664,
    105.53, 8.73329e-05, -0.219668, -3.77625,
    1193.6, 2.0032e-05, -1.47432, -8.53513,
    15413.9, 0.0503559, -0.80357, -1.79235,
    730.555, 3.48494e-05, 1.22555, 7.43364,
    32.3097, 1.14807e-05, 0.899813, 2.11713,
    56.5354, 0.0173204, 1.43147, 4.98983,
    51348.2, 0.000220191, -0.809911, 7.6824,
    46.1086, 0.000126016, -0.758201, 0.979651,
    62.614, 0.00298279, 1.35651, 7.11001,
    281.882, 0.0598611, 1.36243, 7.46155,
    43.9448, 0.0119124, 1.08448, -1.70654,
    2258.65, 0.000127094, -0.812188, -4.60012,
    227.866, 0.000850258, 0.864874, 1.44941,
    26.6274, 0.00101913, -1.15629, 7.02051,
    1897.41, 0.000749512, -1.50058, -8.5186,
    372.909, 0.053371, 1.13267, -5.85763,
    1054.09, 0.00153151, -1.24606, 4.86727,
    4273.12, 0.000224351, 1.4194, -5.75345,
    31.034, 6.76379e-05, -0.264243, -8.15727,
    304.411, 0.0675854, 0.853093, 9.59747,
    17481.8, 0.00093414, 0.308994, -0.0203351,
    72.3962, 0.00587645, 0.391668, -4.94593,
    3346.4, 0.0134698, -0.207686, -8.53016,
    2422.96, 0.0449549, -0.602335, 8.12795,
    163.308, 0.00117289, 0.0948621, -0.0614982,
    76.3982, 0.0099617, 0.858863, -5.64851,
    912.678, 0.000566096, -1.44502, 7.86689,
    75663.1, 0.00794575, -0.874805, -9.27739,
    25.9087, 0.000116209, -1.14332, 0.611769,
    242.52, 0.00189816, 0.539049, 4.40687,
    88707.7, 0.00490368, -0.212076, 6.19218,
    147.114, 0.0107872, 1.03795, 3.89298,
    206.884, 0.0336992, 0.495544, -6.10889,
    5586.16, 0.0396486, -1.40181, 0.921571,
    36.6134, 0.0137415, -1.13855, -7.10118,
    75894.5, 0.0149924, 0.00196408, -8.68071,
    51.4578, 0.00230094, 0.737628, -8.01974,
    14523.1, 0.0317905, -0.766987, 1.88748,
    176.107, 6.46228e-05, -1.13165, -6.01804,
    40.0009, 0.0146729, -1.25196, -2.91988,
    6290.42, 9.86058e-05, 1.1319, -5.1698,
    224.149, 0.0135775, 0.709284, -9.82671,
    9782.36, 0.0234924, 1.10671, 1.3068,
    117.992, 6.21072e-05, -0.723775, 8.45064,
    24667.7, 0.0358388, -0.035551, 2.35786,
    55920.2, 0.00553073, -0.518673, -1.54083,
    1925.84, 3.72479e-05, 0.549223, -3.59087,
    384.728, 0.00448136, 0.844477, -2.67144,
    306.353, 0.000429582, -1.49996, 8.00803,
    292.042, 0.00210636, 0.962091, -5.88375,
    10478.0, 0.000467507, 1.20642, -0.791825,
    92123.5, 0.000809133, -0.937933, 6.50369,
    1080.51, 6.05481e-05, -0.103977, 3.94597,
    752.81, 1.22931e-05, 1.01867, 7.15135,
    2993.47, 0.00142649, -1.55704, -2.94183,
};

/* what data cannot tell apart */
static const unsigned desc_degenerate_0[] = {1, 3};
static const unsigned desc_degenerate_1[] = {1};
static const struct fit_image desc_image_1[] = {{0, 0, -1}};
static const unsigned desc_degenerate_2[] = {3};
static const struct fit_degeneracy desc_degeneracy[] = {
    {.kind = FIT_DEGENERATE_ONE_GROUP, .nparam = 2, .param = desc_degenerate_0,
     .condition = -1, .value = 0, .first = 0, .ncombination = 1, .each = 0,
     .held = -1, .proved = 1, .text = "with one value of phi strain0 and phi0 enter only as strain0 cos(phi0 - phi): only this combination is determined"},
    {.kind = FIT_DEGENERATE_MIRROR, .nparam = 1, .param = desc_degenerate_1, .image = desc_image_1,
     .condition = -1, .value = 0, .first = 0, .ncombination = 0, .each = 0,
     .held = -1, .proved = 0, .text = "strain0 -> -strain0 leaves the mean as it is"},
    {.kind = FIT_DEGENERATE_MIRROR_ANGLE, .nparam = 1, .param = desc_degenerate_2,
     .condition = 3, .value = 2, .first = 0, .ncombination = 0, .each = 0,
     .held = -1, .proved = 0, .text = "where all phi are equal modulo 90 deg, phi0 and 2 phi - phi0 give the same mean"},
};

static const struct fit_combination desc_combination[] = {
    {"strain0 cos(phi0 - phi)", "1"},
};

extern const struct fit_kernel FIT_KERNEL_SYMBOL;
const struct fit_kernel FIT_KERNEL_SYMBOL = {
    .abi = FIT_KERNEL_ABI,
    .name = "oscillatory_shear",
    .variant = "fast",
    .title = "Homodyne two-time correlation of a colloid under oscillating shear",
    .formula = "c2(phi, t1, t2) = offset + contrast exp(-2 q^2 D (t2 - t1)) sinc(X)^2,   sinc X = sin X / X\n"
        "X = q gap/2 cos(phi0 - phi) (strain(t2) - strain(t1))\n"
        "strain(t) = strain0 sin(2 pi frequency t + delta): the integral of the shear rate\n"
        "strain0 2 pi frequency cos(2 pi frequency t + delta)\n",
    .reference = "G. G. Fuller et al., J. Fluid Mech. 100 (1980) 555; W. R. Burghardt et al., Phys. Rev. E 85 (2012) 021402;\n"
        "echoes under oscillating shear: P. Hebraud et al., Phys. Rev. Lett. 78 (1997) 4657",
    .source = "oscillatory_shear.lua",
    .hash = "a564eb57239796dad65a855127ed489f9d256c676ad207160ba0d9d030090f0b",
    .isa = FIT_KERNEL_ISA,
    .space = FIT_PAIRS,
    .raw = 1,
    .nparam = 4,
    .param = desc_param,
    .nlinear = 2,
    .linear = desc_linear,
    .intercept = 1,
    .nsetting = 3,
    .setting = desc_setting,
    .naxis = 1,
    .axis = desc_axis,
    .ncurve = 1,
    .curve = desc_curve,
    .nscreen = 64,
    .screen = desc_screen,
    .cost = {.per_frame = 44, .per_pair = 35, .per_pair_group = 74,
             .value_per_pair_group = 19, .functions_per_pair = 0},
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
    .ndegeneracy = 3,
    .degeneracy = desc_degeneracy,
    .ncombination = 1,
    .combination = desc_combination,
    .combine = combine,
};
