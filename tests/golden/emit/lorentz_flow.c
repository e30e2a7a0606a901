/* lorentz_flow.c -- written by homodyne-gen from lorentz_flow.lua.  Edit the model, not this file.
 *
 * Diffusion that settles, and a Lorentzian distribution of velocities
 *
 *   theta      0  D0                   [angstrom^2/s]
 *              1  tau                  [s]
 *              2  w                    [nm/s]
 *   lin        0  contrast             [1]
 *              1  offset               [1]
 *   setting    0  q                    [1/angstrom]
 *   group      0  phi                  [deg]
 *
 * cost of normal, operations: 72 per frame, 40 per pair, 22 per pair and group; of moments 8
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
    double *exp_t_sum_i; /* integral(D0 * exp(-t / tau)) * minus_two_q_sq + integral(w * exp(-t / tau... */
    double *exp_t_sum_j; /* the same, vectors at the second frame */
    double *t_sum_i; /* integral(D0 * exp(-t / tau)) * minus_two_q_sq + integral(w * exp(-t / tau... */
    double *t_sum_j; /* the same, vectors at the second frame */
    double *int_exp_minus_t_over_tau; /* integral(exp(-t / tau)) */
    double *int_t_prod; /* integral(t * D0 * exp(-t / tau) / tau^2) */
    double *int_t_prod_2; /* integral(t * w * exp(-t / tau) / tau^2) */
    double *minus_two_q_sq; /* 2 * minus_q_sq */
    double *two_phi_prod; /* 2 * phi_prod */
    double *int_t_prod_3; /* integral(D0 * exp(-t / tau)) */
    double *int_t_prod_3_low; /* what its rounding left */
    double *minus_q_sq; /* -q^2 */
    double *int_t_prod_4; /* integral(w * exp(-t / tau)) */
    double *int_t_prod_4_low; /* what its rounding left */
    double *phi_prod; /* -10 * q * fabs(cos(0.0174533 * phi)) */
    double *exp_minus_t_over_tau_grid; /* exp(-t / tau) */
    double *D0_exp_minus_t_over_tau_grid; /* D0 * exp(-t / tau) */
    double *int_t_prod_grid; /* integral(D0 * exp(-t / tau)) */
    double *int_t_prod_grid_low; /* what its rounding left */
    double *w_exp_minus_t_over_tau_grid; /* w * exp(-t / tau) */
    double *int_t_prod_grid_2; /* integral(w * exp(-t / tau)) */
    double *int_t_prod_grid_2_low; /* what its rounding left */
    double *int_exp_minus_t_over_tau_grid; /* integral(exp(-t / tau)) */
    double *t_prod_grid; /* t * D0 * exp(-t / tau) / tau^2 */
    double *int_t_prod_grid_3; /* integral(t * D0 * exp(-t / tau) / tau^2) */
    double *t_prod_grid_2; /* t * w * exp(-t / tau) / tau^2 */
    double *int_t_prod_grid_4; /* integral(t * w * exp(-t / tau) / tau^2) */
    double *t_sum_grid; /* integral(D0 * exp(-t / tau)) * minus_two_q_sq + integral(w * exp(-t / tau... */
};

FIT_INLINE size_t carve(const struct fit_layout *l, double *base, struct tables *w)
{
    const size_t ng = l->ngroup;
    const size_t nt = fit_padded(l->ntime);
    const size_t nf = fit_padded(l->nframe);
    size_t n = 0;
    w->time_grid = base + n, n += nt;
    w->exp_t_sum_i = base + n, n += fit_padded(nf * ng);
    w->exp_t_sum_j = base + n, n += fit_padded(nf * ng);
    w->t_sum_i = base + n, n += fit_padded(nf * ng);
    w->t_sum_j = base + n, n += fit_padded(nf * ng);
    w->int_exp_minus_t_over_tau = base + n, n += fit_padded(nf);
    w->int_t_prod = base + n, n += fit_padded(nf);
    w->int_t_prod_2 = base + n, n += fit_padded(nf);
    w->minus_two_q_sq = base + n, n += fit_padded(8);
    w->two_phi_prod = base + n, n += fit_padded(ng);
    w->int_t_prod_3 = base + n, n += fit_padded(nf);
    w->int_t_prod_3_low = base + n, n += fit_padded(nf);
    w->minus_q_sq = base + n, n += fit_padded(8);
    w->int_t_prod_4 = base + n, n += fit_padded(nf);
    w->int_t_prod_4_low = base + n, n += fit_padded(nf);
    w->phi_prod = base + n, n += fit_padded(ng);
    w->exp_minus_t_over_tau_grid = base + n, n += fit_padded(nt);
    w->D0_exp_minus_t_over_tau_grid = base + n, n += fit_padded(nt);
    w->int_t_prod_grid = base + n, n += fit_padded(nt);
    w->int_t_prod_grid_low = base + n, n += fit_padded(nt);
    w->w_exp_minus_t_over_tau_grid = base + n, n += fit_padded(nt);
    w->int_t_prod_grid_2 = base + n, n += fit_padded(nt);
    w->int_t_prod_grid_2_low = base + n, n += fit_padded(nt);
    w->int_exp_minus_t_over_tau_grid = base + n, n += fit_padded(nt);
    w->t_prod_grid = base + n, n += fit_padded(nt);
    w->int_t_prod_grid_3 = base + n, n += fit_padded(nt);
    w->t_prod_grid_2 = base + n, n += fit_padded(nt);
    w->int_t_prod_grid_4 = base + n, n += fit_padded(nt);
    w->t_sum_grid = base + n, n += fit_padded(ng * nt);
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
    const double tau = theta[1]; /* [s] */
    const double w_ = theta[2]; /* [nm/s] */
    const double q = l->setting[0]; /* [1/angstrom] */

    /* scalars of the call and of the groups */
    {
        /* lorentz_flow.lua:15: local diffusion = exp(-q^2 * integral(D0 * exp(-t / tau), t1, t2)) */
        w.minus_q_sq[0] = -q*q;
        /* lorentz_flow.lua:17: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * (diff ... */
        w.minus_two_q_sq[0] = 2.0*w.minus_q_sq[0];
        for (size_t g = 0; g < ng; g++) {
            /* lorentz_flow.lua:16: local flow = exp(convert(-q * abs(cos(phi)) * integral(w * exp(-t / ... */
            w.phi_prod[g] = -10.0*q*fabs(cos(0.017453292519943295*l->coord[0][g]));
            /* lorentz_flow.lua:17: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * ( ... */
            w.two_phi_prod[g] = 2.0*w.phi_prod[g];
        }
    }

    if (derivative >= 0) { /* functions of time and their integrals */
        for (size_t k = 0; k < nt; k++)
            w.time_grid[k] = l->time[k < l->ntime ? k : l->ntime - 1];
        {
            for (size_t k = 0; k < nt; k += FIT_VL) {
                /* lorentz_flow.lua:15: local diffusion = exp(-q^2 * integral(D0 * exp(-t / tau), t1, t2 ... */
                const fit_vd exp_minus_t_over_tau = fit_vexp(-fit_vload(w.time_grid + k)/tau); /* [1] */
                fit_vstore(w.D0_exp_minus_t_over_tau_grid + k, D0*exp_minus_t_over_tau);
                fit_vstore(w.w_exp_minus_t_over_tau_grid + k, w_*exp_minus_t_over_tau);
            }
        }
        fit_trapezoids(l->ntime, l->time, 2, (const struct fit_integral[]){
            {w.D0_exp_minus_t_over_tau_grid, w.int_t_prod_grid, w.int_t_prod_grid_low},
            {w.w_exp_minus_t_over_tau_grid, w.int_t_prod_grid_2, w.int_t_prod_grid_2_low},
        });
        for (size_t g = 0; g < ng; g++)
        {
            for (size_t k = 0; k < nt; k += FIT_VL) {
                fit_vstore(w.t_sum_grid + g * nt + k, fit_vload(w.int_t_prod_grid
                        + k)*w.minus_two_q_sq[0] + fit_vload(w.int_t_prod_grid_2 + k)*w.two_phi_prod[g]);
            }
        }
        fit_gather_group(l, w.t_sum_grid, w.t_sum_i, w.t_sum_j);
        fit_gather(l, w.int_t_prod_grid, w.int_t_prod_3);
        fit_gather(l, w.int_t_prod_grid_low, w.int_t_prod_3_low);
        fit_gather(l, w.int_t_prod_grid_2, w.int_t_prod_4);
        fit_gather(l, w.int_t_prod_grid_2_low, w.int_t_prod_4_low);

        /* factored forms */
        fit_exp_tables_group(l, w.t_sum_i, w.exp_t_sum_i, w.exp_t_sum_j);
    }

    if (derivative) { /* tangents: the same integrals of the derivatives */
        {
            /* lorentz_flow.lua:15: local diffusion = exp(-q^2 * integral(D0 * exp(-t / tau), t1, t2)) */
            const double inv_tau_sq = 1.0/(tau*tau);                           /* [1/s^2] */
            for (size_t k = 0; k < nt; k += FIT_VL) {
                const fit_vd exp_minus_t_over_tau = fit_vexp(-fit_vload(w.time_grid + k)/tau); /* [1] */
                fit_vstore(w.exp_minus_t_over_tau_grid + k, exp_minus_t_over_tau);
                fit_vstore(w.t_prod_grid + k, fit_vload(w.time_grid + k)*D0*inv_tau_sq*exp_minus_t_over_tau);
                fit_vstore(w.t_prod_grid_2 + k, fit_vload(w.time_grid + k)*inv_tau_sq*w_*exp_minus_t_over_tau);
            }
        }
        fit_trapezoids(l->ntime, l->time, 3, (const struct fit_integral[]){
            {w.exp_minus_t_over_tau_grid, w.int_exp_minus_t_over_tau_grid, NULL},
            {w.t_prod_grid, w.int_t_prod_grid_3, NULL},
            {w.t_prod_grid_2, w.int_t_prod_grid_4, NULL},
        });
        fit_gather(l, w.int_exp_minus_t_over_tau_grid, w.int_exp_minus_t_over_tau);
        fit_gather(l, w.int_t_prod_grid_3, w.int_t_prod);
        fit_gather(l, w.int_t_prod_grid_4, w.int_t_prod_2);
    }
    double check = 0.0; /* NaN where a table is not finite */
    check += 0.0 * w.int_t_prod_3[l->nframe - 1];
    check += 0.0 * w.int_t_prod_4[l->nframe - 1];
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
    for (size_t g = 0; g < ng; g++) {
        fit_vm use = lanes;
        fit_vd weight = {0};
        if (masked) {
            weight = t->w ? fit_vload(t->w + at + g * FIT_LANES + h) : fit_vset1(1.0);
            use &= weight > 0.0;
        }
        const fit_vd y = fit_data(data + g * FIT_LANES + h, 64 * FIT_LANES);
        fit_vd *restrict sum = sums + g * 3;
        fit_vd b_contrast;
        if (!exps[0 * ng + g].direct)
            b_contrast = fit_vload(w->exp_t_sum_j + (b * ng + g) * FIT_LANES
                + h) * (w->exp_t_sum_i[i * ng + g] * exps[0 * ng + g].middle);
        else
            b_contrast = fit_vexp(fit_vload(w->t_sum_j + (b * ng + g) * FIT_LANES + h)
                - w->t_sum_i[i * ng + g]);
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
    for (size_t g = 0; g < ng; g++)
        exps[0 * ng + g] = fit_exp_tile(l, t, w->t_sum_i, ng, g);
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

enum { PIECES = FIT_LANES / FIT_VL, COLUMNS = 2, ROWS = 2, ROW_SUMS = 8, SUMS = 9, FIELDS = 5,
       ALONG_SUMS = 0, COLUMN_SUMS = 0, PAIRS = 0, CHANNELS_R = 3, MOMENT_SUMS = 4 };
/* A strip is so many blocks of a row; so many groups are kept before their products are
 * summed, so many rows before their sums are multiplied by tables. */
enum { STRIP = 8, BATCH = 8, KEPT = 4 };

/* Pairs (i, 8b .. 8b+7): what does not depend on the group. */
FIT_INLINE void normal_pair(const struct fit_layout *l, const struct tables *w,
                            const struct fit_exp_tile *exps, size_t i, size_t b, size_t h,
                            fit_vd *restrict pair)
{
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
};

/* Group g of the vectors k0 .. k1-1 of a strip: residual and channels m_c
 * (d mean/d theta_k = sum_c m_c U_ck) to m, cross moments to the sums of the columns and of the row. */
FIT_INLINE void normal_group(const struct strip *strip, size_t k0, size_t k1, const int masked,
                             fit_vd *restrict column, fit_vd *restrict row, fit_vd *restrict m)
{
    const struct fit_layout *l = strip->l;
    const struct tables *w = strip->w;
    const double *lin = strip->lin;
    const struct fit_exp_tile *exps = strip->exps;
    const struct fit_tile *t = strip->t;
    size_t i = strip->i;
    size_t g = strip->g;
    size_t first = strip->first;
    size_t at = strip->at;
    const double *data = strip->data;
    const size_t ng = l->ngroup;
    const double contrast = lin[g * 2 + 0];
    const double offset = lin[g * 2 + 1];
    const double minus_two_q_sq = w->minus_two_q_sq[0];
    const double minus_contrast_two_q_sq = contrast*minus_two_q_sq;
    const double two_phi_prod = w->two_phi_prod[g];
    const double contrast_two_phi_prod = contrast*two_phi_prod;
    fit_vd row0 = row[0];
    fit_vd row1 = row[1];
    for (size_t k = k0; k < k1; k++) {
        const size_t b = first + k / PIECES, h = k % PIECES * FIT_VL;
        const size_t j = b * FIT_LANES + h;
        const size_t here = ((b - first) * ng + g) * FIT_LANES + h;
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
        fit_vd b_contrast;
        if (!exps[0 * ng + g].direct)
            b_contrast = fit_vload(w->exp_t_sum_j + (b * ng + g) * FIT_LANES
                + h) * (w->exp_t_sum_i[i * ng + g] * exps[0 * ng + g].middle);
        else
            b_contrast = fit_vexp(fit_vload(w->t_sum_j + (b * ng + g) * FIT_LANES + h)
                - w->t_sum_i[i * ng + g]);
        const fit_vd r = fit_kept(masked, use, y - (contrast*b_contrast + offset));
        at_m[0] = fit_weighted(masked, root, fit_kept(masked, use,
                minus_contrast_two_q_sq*b_contrast)); /* m_1 */
        at_m[1] = fit_weighted(masked, root, fit_kept(masked, use, contrast_two_phi_prod*b_contrast)); /* m_2 */
        at_m[2] = fit_weighted(masked, root, r);
        const fit_vd s0 = fit_counted(masked, use, weight, b_contrast*b_contrast); /* contrast: b m_1 */
        at_column[0] += s0;
        row0 += s0;
        const fit_vd s1 = fit_counted(masked, use, weight, b_contrast); /* offset: b m_1 */
        at_column[1] += s1;
        row1 += s1;
    }
    row[0] = row0;
    row[1] = row1;
}

/* field = (begin) or += sum over n groups of the products of two of the numbers m of a pair. */
FIT_INLINE void normal_products(size_t n, int begin, const fit_vd *restrict m, fit_vd *restrict field)
{
    fit_vd s0 = begin ? (fit_vd){0} : field[0];
    fit_vd s1 = begin ? (fit_vd){0} : field[1];
    fit_vd s2 = begin ? (fit_vd){0} : field[2];
    fit_vd s3 = begin ? (fit_vd){0} : field[3];
    fit_vd s4 = begin ? (fit_vd){0} : field[4];
    for (size_t g = 0; g < n; g++) {
        const fit_vd *x = m + g * CHANNELS_R;
        s0 += x[0]*x[0]; /* F_1_1 */
        s1 += x[0]*x[1]; /* F_1_2 */
        s3 += x[0]*x[2]; /* G_1 */
        s2 += x[1]*x[1]; /* F_2_2 */
        s4 += x[1]*x[2]; /* G_2 */
    }
    field[0] = s0;
    field[1] = s1;
    field[2] = s2;
    field[3] = s3;
    field[4] = s4;
}

/* The fields of n vectors of pairs (i, j0 ..) times the tables: added to the sums H of J^T J and J^T r, and
 * to the sums along the row and down the columns that get their other factor later. */
FIT_LARGE void contract(const struct tables *w, size_t i, size_t j0, size_t n, const fit_vd *restrict field,
                        fit_vd *restrict H, fit_vd *restrict row, fit_vd *restrict column)
{
    { /* 1 x 1, 1 x 2, 1 x residual, 2 x 2, 2 x residual */
        const double u_1_D0_i = w->int_exp_minus_t_over_tau[i];
        const double u_1_tau_i = w->int_t_prod[i];
        const double u_2_tau_i = w->int_t_prod_2[i];
        const double u_2_w_i = w->int_exp_minus_t_over_tau[i];
        fit_vd s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
        fit_vd s8 = {0}, s9 = {0}, s10 = {0}, s11 = {0}, s12 = {0}, s13 = {0};
        for (size_t k = 0, j = j0; k < n; k++, j += FIT_VL) {
            const fit_vd *F = field + k * FIELDS;
            const fit_vd u_1_D0 = fit_vload(w->int_exp_minus_t_over_tau + j) - u_1_D0_i;
            const fit_vd u_1_tau = fit_vload(w->int_t_prod + j) - u_1_tau_i;
            const fit_vd u_2_tau = fit_vload(w->int_t_prod_2 + j) - u_2_tau_i;
            const fit_vd u_2_w = fit_vload(w->int_exp_minus_t_over_tau + j) - u_2_w_i;
            const fit_vd p0_0 = F[0]*u_1_D0;
            s0 += u_1_D0*p0_0;
            const fit_vd p0_1 = F[0]*u_1_tau;
            s1 += u_1_D0*p0_1;
            s2 += u_1_tau*p0_1;
            const fit_vd p1_0 = F[1]*u_2_tau;
            s3 += u_1_D0*p1_0;
            s4 += 2.0*u_1_tau*p1_0;
            const fit_vd p1_1 = F[1]*u_2_w;
            s5 += u_1_D0*p1_1;
            s6 += u_1_tau*p1_1;
            s7 += u_1_D0*F[3];
            s8 += u_1_tau*F[3];
            const fit_vd p2_0 = F[2]*u_2_tau;
            s9 += u_2_tau*p2_0;
            const fit_vd p2_1 = F[2]*u_2_w;
            s10 += u_2_tau*p2_1;
            s11 += u_2_w*p2_1;
            s12 += u_2_tau*F[4];
            s13 += u_2_w*F[4];
        }
        H[0] += s0; /* D0, D0 */
        H[1] += s1; /* D0, tau */
        H[3] += s2; /* tau, tau */
        H[1] += s3; /* D0, tau */
        H[3] += s4; /* tau, tau */
        H[2] += s5; /* D0, w */
        H[4] += s6; /* tau, w */
        H[6] += s7; /* J^T r: D0 */
        H[7] += s8; /* J^T r: tau */
        H[3] += s9; /* tau, tau */
        H[4] += s10; /* tau, w */
        H[5] += s11; /* w, w */
        H[7] += s12; /* J^T r: tau */
        H[8] += s13; /* J^T r: w */
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
        for (size_t h = 0; h < n; h++) {
            fit_vd *r = row + (h * ng + g) * ROWS;
            const size_t i = i0 + h;
            s0 += r[0]*w->int_exp_minus_t_over_tau[i];
            s1 += r[0]*w->int_t_prod[i];
            s2 += r[0]*w->int_t_prod_2[i];
            s3 += r[0]*w->int_exp_minus_t_over_tau[i];
            r[0] = (fit_vd){0};
            s4 += r[1]*w->int_exp_minus_t_over_tau[i];
            s5 += r[1]*w->int_t_prod[i];
            s6 += r[1]*w->int_t_prod_2[i];
            s7 += r[1]*w->int_exp_minus_t_over_tau[i];
            r[1] = (fit_vd){0};
        }
        s[0] = s0;
        s[1] = s1;
        s[2] = s2;
        s[3] = s3;
        s[4] = s4;
        s[5] = s5;
        s[6] = s6;
        s[7] = s7;
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
    for (size_t g = 0; g < ng; g++)
        exps[0 * ng + g] = fit_exp_tile(l, t, w->t_sum_i, ng, g);
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
            for (size_t g = 0; g < ng; g++) {
                const struct strip strip = {l, w, lin, exps, t, i, g, first, at, data, pair};
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

    for (size_t k = 0; k < 9; k++)
        out[k] = fit_vsum(H[k]);
    double *V = out + 9;
    for (size_t g = 0; g < ng; g++, V += 6) {
        const fit_vd *at_rows = row_sum + g * ROW_SUMS;
        const fit_vd *columns = column + g * pieces * COLUMNS;
        const double contrast = lin[g * 2 + 0];
        const double minus_two_q_sq = w->minus_two_q_sq[0];
        const double minus_contrast_two_q_sq = contrast*minus_two_q_sq;
        const double two_phi_prod = w->two_phi_prod[g];
        const double contrast_two_phi_prod = contrast*two_phi_prod;
        V[0] = 0.0;
        V[1] = 0.0;
        V[2] = 0.0;
        V[3] = 0.0;
        V[4] = 0.0;
        V[5] = 0.0;
        V[0] += minus_contrast_two_q_sq * fit_column_sum(columns + 0, COLUMNS, pieces,
                w->int_exp_minus_t_over_tau + t->j0, at_rows + 0);
        V[1] += minus_contrast_two_q_sq * fit_column_sum(columns + 0, COLUMNS, pieces, w->int_t_prod
                + t->j0, at_rows + 1);
        V[1] += contrast_two_phi_prod * fit_column_sum(columns + 0, COLUMNS, pieces, w->int_t_prod_2
                + t->j0, at_rows + 2);
        V[2] += contrast_two_phi_prod * fit_column_sum(columns + 0, COLUMNS, pieces,
                w->int_exp_minus_t_over_tau + t->j0, at_rows + 3);
        V[3] += minus_contrast_two_q_sq * fit_column_sum(columns + 1, COLUMNS, pieces,
                w->int_exp_minus_t_over_tau + t->j0, at_rows + 4);
        V[4] += minus_contrast_two_q_sq * fit_column_sum(columns + 1, COLUMNS, pieces, w->int_t_prod
                + t->j0, at_rows + 5);
        V[4] += contrast_two_phi_prod * fit_column_sum(columns + 1, COLUMNS, pieces, w->int_t_prod_2
                + t->j0, at_rows + 6);
        V[5] += contrast_two_phi_prod * fit_column_sum(columns + 1, COLUMNS, pieces,
                w->int_exp_minus_t_over_tau + t->j0, at_rows + 7);
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
    const double minus_two_q_sq = w->minus_two_q_sq[0];
    fit_vd F0 = {0};
    fit_vd F1 = {0};
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
        fit_vd b_contrast;
        if (!exps[0 * ng + g].direct)
            b_contrast = fit_vload(w->exp_t_sum_j + (b * ng + g) * FIT_LANES
                + h) * (w->exp_t_sum_i[i * ng + g] * exps[0 * ng + g].middle);
        else
            b_contrast = fit_vexp(fit_vload(w->t_sum_j + (b * ng + g) * FIT_LANES + h)
                - w->t_sum_i[i * ng + g]);
        const fit_vd r = y - (at_lin[0]*b_contrast + at_lin[1]); /* residual */
        const fit_vd seed_contrast = (seeds[0]*at_lin[0])*r - (seeds[1]*b_contrast + seeds[2]);
        const fit_vd b_contrast_prod = b_contrast*seed_contrast;
        const double two_phi_prod = w->two_phi_prod[g];
        F0 += fit_counted(masked, use, weight, b_contrast_prod);
        F1 += fit_counted(masked, use, weight, two_phi_prod*b_contrast_prod);
    }

    /* products with what does not depend on the group */
    const fit_vd a_1 = fit_kept(masked, lanes, minus_two_q_sq*F0);
    column[0] += a_1;
    row[0] += a_1;
    const fit_vd a_2 = fit_kept(masked, lanes, F1);
    column[1] += a_2;
    row[1] += a_2;
}

enum { CHANNELS = 2, GRADIENT_SUMS = 3, GRADIENT_EXPS = 2 };

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
    for (size_t g = 0; g < ng; g++)
        exps[0 * ng + g] = fit_exp_tile(l, t, w->t_sum_i, ng, g);
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
        sum[0] -= row[0]*w->int_exp_minus_t_over_tau[i];
        sum[1] -= row[0]*w->int_t_prod[i];
        row[0] = (fit_vd){0};
        sum[1] -= row[1]*w->int_t_prod_2[i];
        sum[2] -= row[1]*w->int_exp_minus_t_over_tau[i];
        row[1] = (fit_vd){0};
    }
    for (size_t k = 0; k < pieces; k++)
        sum[0] += column[k * CHANNELS + 0]*fit_vload(w->int_exp_minus_t_over_tau + t->j0 + k * FIT_VL);
    for (size_t k = 0; k < pieces; k++)
        sum[1] += column[k * CHANNELS + 0]*fit_vload(w->int_t_prod + t->j0 + k * FIT_VL);
    for (size_t k = 0; k < pieces; k++)
        sum[1] += column[k * CHANNELS + 1]*fit_vload(w->int_t_prod_2 + t->j0 + k * FIT_VL);
    for (size_t k = 0; k < pieces; k++)
        sum[2] += column[k * CHANNELS + 1]*fit_vload(w->int_exp_minus_t_over_tau + t->j0 + k * FIT_VL);
    for (size_t k = 0; k < 3; k++)
        out[k] = fit_vsum(sum[k]);
}

/* Pairs (i, 8b .. 8b+7): the mean of every group. */
FIT_INLINE void model_block(const struct fit_layout *l, const struct tables *w, const double *lin, size_t i,
                            size_t b, size_t h, double *out)
{
    const size_t ng = l->ngroup;
    for (size_t g = 0; g < ng; g++) {
        const double contrast = lin[g * 2 + 0];
        const double offset = lin[g * 2 + 1];
        const fit_vd b_contrast = fit_vexp(fit_vload(w->t_sum_j + (b * ng + g) * FIT_LANES + h)
                - w->t_sum_i[i * ng + g]);
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
        const fit_vd d_int_t_prod_3 = fit_pick_change_low(w.int_t_prod_3, w.int_t_prod_3_low, &at);
        const fit_vd d_int_t_prod_4 = fit_pick_change_low(w.int_t_prod_4, w.int_t_prod_4_low, &at);
        const fit_vd phi_prod = fit_pick_g(w.phi_prod, &at);
        /* lorentz_flow.lua:17: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * (diff ... */
        const fit_vd exp_t_prod = fit_vexp(2.0*(d_int_t_prod_3*w.minus_q_sq[0]
                + d_int_t_prod_4*phi_prod)); /* [1] */
        fit_store_points(mean + p, at.n, contrast*exp_t_prod + offset);
        if (!jac)
            continue;
        fit_vd J[5];
        const fit_vd m_1 = contrast*exp_t_prod*w.minus_two_q_sq[0]; /* d mean / d integral of 1 */
        const fit_vd two_phi_prod = fit_pick_g(w.two_phi_prod, &at);
        const fit_vd m_2 = contrast*exp_t_prod*two_phi_prod; /* d mean / d integral of 2 */
        J[0] = m_1*fit_pick_change(w.int_exp_minus_t_over_tau, &at); /* D0 */
        J[1] = m_1*fit_pick_change(w.int_t_prod, &at) + m_2*fit_pick_change(w.int_t_prod_2, &at); /* tau */
        J[2] = m_2*fit_pick_change(w.int_exp_minus_t_over_tau, &at); /* w */
        J[3] = exp_t_prod; /* contrast */
        J[4] = fit_vset1(1.0); /* offset */
        fit_store_columns(jac + p, stride, 5, at.n, J);
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
    /* the model has none */
}

static void combine(const struct fit_layout *l, const double *theta, double *value, double *gradient)
{
    const size_t g = 0;
    const double D0 = theta[0]; /* [angstrom^2/s] */
    const double w_ = theta[2]; /* [nm/s] */
    const double q = l->setting[0]; /* [1/angstrom] */
    const double inv_q = 1.0/q;
    const double abs_cos_phi = fabs(cos(0.017453292519943295*l->coord[0][g]));
    value[0] = D0 + 10.0*inv_q*w_*abs_cos_phi;
    for (size_t k = 0; k < 3; k++)
        gradient[k] = 0.0;
    gradient[0] = 1.0;
    gradient[2] = 10.0*inv_q*abs_cos_phi;
}

/* ---- description ----------------------------------------------------------------------------------- */

static const struct fit_param desc_param[] = {
    {.name = "D0", .unit = "angstrom^2/s", .doc = "diffusion at the start",
     .start = 1000.0, .lower = 0.0, .upper = 1000000.0, .over = -1,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "tau", .unit = "s", .doc = "time of settling",
     .start = 5.0, .lower = 0.1, .upper = 10000.0, .over = -1,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "w", .unit = "nm/s", .doc = "half width of the velocities",
     .start = 1.0, .lower = 0.0, .upper = 10000.0, .over = -1,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
};

static const struct fit_param desc_linear[] = {
    {.name = "contrast", .unit = "1", .doc = "contrast",
     .start = 0.3, .lower = 0.0, .upper = 1.0, .over = 0,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "offset", .unit = "1", .doc = "baseline",
     .start = 1.0, .lower = 0.5, .upper = 1.5, .over = 0,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
};

static const struct fit_setting desc_setting[] = {
    {"q", "1/angstrom", "wavevector", NAN, FIT_STATISTIC_NONE, 0},
};

static const struct fit_axis desc_axis[] = {
    {"phi", "deg", "azimuth"},
};

/* parameter sets within the bounds: the model has no random() */
static const double desc_screen[] = {
    883311.0, 14.3761, 264.338,
    970882.0, 0.340199, 3273.26,
    173868.0, 720.664, 2456.89,
    952031.0, 9.60152, 7610.34,
    523951.0, 59.6812, 7082.22,
    518482.0, 27.8338, 7648.79,
    204695.0, 1662.55, 8554.9,
    660210.0, 4442.94, 3292.45,
    865173.0, 75.5622, 4129.67,
    253214.0, 152.202, 9309.4,
    943013.0, 1.21275, 487.962,
    20876.7, 1282.35, 4116.68,
    255844.0, 1.50132, 4300.78,
    311187.0, 39.4525, 754.309,
    30709.4, 0.23239, 7969.78,
    925513.0, 1.66371, 4103.83,
    465913.0, 0.47615, 8901.04,
    871682.0, 0.433178, 149.92,
    786419.0, 106.975, 1880.8,
    809640.0, 6001.36, 7494.92,
    927631.0, 4.7698, 2421.97,
    884120.0, 0.675659, 2751.06,
    258657.0, 55.5793, 1991.68,
    618656.0, 4559.85, 8555.01,
    362517.0, 5265.39, 9336.75,
    873077.0, 0.63626, 7690.0,
    845202.0, 11.8403, 5884.62,
    276031.0, 1.61199, 2699.94,
    339420.0, 25.8189, 7752.98,
    572471.0, 0.340143, 5020.57,
    131941.0, 1799.39, 5695.4,
    468695.0, 0.129344, 740.702,
    392901.0, 4561.75, 8605.4,
    207118.0, 33.7753, 5462.8,
    103367.0, 520.977, 6576.86,
    337732.0, 5741.74, 2123.27,
    122959.0, 1.09078, 4158.89,
    92136.6, 7.15031, 9574.63,
    771548.0, 7931.72, 8106.46,
    492603.0, 98.1248, 4989.83,
    214929.0, 289.33, 6246.72,
    252703.0, 143.127, 7823.4,
    433892.0, 0.233055, 5960.87,
    913194.0, 3.4782, 9063.98,
    303252.0, 38.5987, 5301.96,
    496925.0, 1.27015, 7495.83,
    773385.0, 1.22426, 4900.79,
    438223.0, 0.158554, 8933.44,
    969721.0, 421.86, 2215.41,
    36130.7, 0.328706, 2663.1,
    136071.0, 44.972, 3461.87,
    569583.0, 227.994, 7203.43,
    986990.0, 230.756, 4324.94,
    809609.0, 2.88116, 7582.27,
    830390.0, 297.335, 3289.32,
    881905.0, 194.394, 1945.55,
    686778.0, 3146.19, 537.89,
    546079.0, 0.506466, 7845.08,
    137589.0, 0.530525, 9700.53,
    793968.0, 31.8512, 659.647,
    177863.0, 89.6152, 7347.94,
    99013.2, 896.546, 8755.74,
    255860.0, 93.728, 3114.44,
    202596.0, 0.499942, 1990.98,
};

/* what data cannot tell apart */
static const unsigned desc_degenerate_0[] = {0, 2};
static const struct fit_degeneracy desc_degeneracy[] = {
    {.kind = FIT_DEGENERATE_ONE_GROUP, .nparam = 2, .param = desc_degenerate_0,
     .condition = -1, .value = 0, .first = 0, .ncombination = 1, .each = 0,
     .held = -1, .proved = 1, .text = "with one value of phi D0 and w enter only as D0 + 10 w fabs(cos(phi))/q: only this combination is determined"},
};

static const struct fit_combination desc_combination[] = {
    {"D0 + 10 w fabs(cos(phi))/q", "angstrom^2/s"},
};

extern const struct fit_kernel FIT_KERNEL_SYMBOL;
const struct fit_kernel FIT_KERNEL_SYMBOL = {
    .abi = FIT_KERNEL_ABI,
    .name = "lorentz_flow",
    .variant = "fast",
    .title = "Diffusion that settles, and a Lorentzian distribution of velocities",
    .formula = "",
    .reference = "",
    .source = "lorentz_flow.lua",
    .hash = "5c778c9c5a159fc85bd7951c1315be75935b65f9f607a6fe4c38e8b60c0a73cc",
    .isa = FIT_KERNEL_ISA,
    .space = FIT_PAIRS,
    .raw = 1,
    .nparam = 3,
    .param = desc_param,
    .nlinear = 2,
    .linear = desc_linear,
    .intercept = 1,
    .nsetting = 1,
    .setting = desc_setting,
    .naxis = 1,
    .axis = desc_axis,
    .nscreen = 64,
    .screen = desc_screen,
    .cost = {.per_frame = 72, .per_pair = 40, .per_pair_group = 22,
             .value_per_pair_group = 8, .functions_per_pair = 0},
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
    .ndegeneracy = 1,
    .degeneracy = desc_degeneracy,
    .ncombination = 1,
    .combination = desc_combination,
    .combine = combine,
};
