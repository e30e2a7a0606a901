/* frame_factor.c -- written by homodyne-gen from frame_factor.lua.  Edit the model, not this file.
 *
 * A decaying fraction that oscillates along the flow
 *
 *   theta      0  rate                 [1/s]
 *              1  v                    [1/s]
 *              2  phi0                 [deg]
 *   lin        0  contrast             [1]
 *              1  offset               [1]
 *   group      0  phi                  [deg]
 *
 * cost of normal, operations: 40 per frame, 32 per pair, 63 per pair and group; of moments 10
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
    double *f; /* exp(-rate * t) */
    double *sin_t_v_cos_phi0_minus_phi_i; /* sin of t * v_cos_phi0_minus_phi */
    double *cos_t_v_cos_phi0_minus_phi_i; /* and its cos */
    double *sin_t_v_cos_phi0_minus_phi_j; /* the same, vectors at the second frame */
    double *cos_t_v_cos_phi0_minus_phi_j; /* and their cos */
    double *df_drate; /* -t * f */
    double *t; /* t */
    double *exp_minus_two_t_rate; /* exp(-2 * t * rate) */
    double *cos_phi0_minus_phi; /* cos(phi0 - phi) */
    double *phi_prod; /* -0.0174533 * v * sin(0.0174533 * (phi0 - phi)) */
    double *v_cos_phi0_minus_phi; /* cos(phi0 - phi) * v */
    double *t_v_cos_phi0_minus_phi_2_i; /* t * v_cos_phi0_minus_phi */
    double *t_v_cos_phi0_minus_phi_2_j; /* the same, vectors at the second frame */
    double *f_grid; /* exp(-rate * t) */
    double *df_drate_grid; /* -t * f */
    double *t_v_cos_phi0_minus_phi_grid; /* t * v_cos_phi0_minus_phi */
    double *exp_minus_two_t_rate_grid; /* exp(-2 * t * rate) */
};

FIT_INLINE size_t carve(const struct fit_layout *l, double *base, struct tables *w)
{
    const size_t ng = l->ngroup;
    const size_t nt = fit_padded(l->ntime);
    const size_t nf = fit_padded(l->nframe);
    size_t n = 0;
    w->time_grid = base + n, n += nt;
    w->f = base + n, n += fit_padded(nf);
    w->sin_t_v_cos_phi0_minus_phi_i = base + n, n += fit_padded(nf * ng);
    w->cos_t_v_cos_phi0_minus_phi_i = base + n, n += fit_padded(nf * ng);
    w->sin_t_v_cos_phi0_minus_phi_j = base + n, n += fit_padded(nf * ng);
    w->cos_t_v_cos_phi0_minus_phi_j = base + n, n += fit_padded(nf * ng);
    w->df_drate = base + n, n += fit_padded(nf);
    w->t = base + n, n += fit_padded(nf);
    w->exp_minus_two_t_rate = base + n, n += fit_padded(nf);
    w->cos_phi0_minus_phi = base + n, n += fit_padded(ng);
    w->phi_prod = base + n, n += fit_padded(ng);
    w->v_cos_phi0_minus_phi = base + n, n += fit_padded(ng);
    w->t_v_cos_phi0_minus_phi_2_i = base + n, n += fit_padded(nf * ng);
    w->t_v_cos_phi0_minus_phi_2_j = base + n, n += fit_padded(nf * ng);
    w->f_grid = base + n, n += fit_padded(nt);
    w->df_drate_grid = base + n, n += fit_padded(nt);
    w->t_v_cos_phi0_minus_phi_grid = base + n, n += fit_padded(ng * nt);
    w->exp_minus_two_t_rate_grid = base + n, n += fit_padded(nt);
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
    const double rate = theta[0]; /* [1/s] */
    const double v_ = theta[1]; /* [1/s] */
    const double phi0 = theta[2]; /* [deg] */

    /* scalars of the call and of the groups */
    {
        for (size_t g = 0; g < ng; g++) {
            /* frame_factor.lua:17: local phase = cos(phi0 - phi) * v * (t2 - t1) */
            const double phi0_minus_phi = 0.017453292519943295*(phi0 - l->coord[0][g]); /* [1] */
            const double cos_phi0_minus_phi = cos(phi0_minus_phi);             /* [1] */
            w.v_cos_phi0_minus_phi[g] = v_*cos_phi0_minus_phi;
            w.cos_phi0_minus_phi[g] = cos_phi0_minus_phi;
            w.phi_prod[g] = -0.017453292519943295*v_*sin(phi0_minus_phi);
        }
    }

    if (derivative >= 0) { /* functions of time and their integrals */
        for (size_t k = 0; k < nt; k++)
            w.time_grid[k] = l->time[k < l->ntime ? k : l->ntime - 1];
        {
            for (size_t k = 0; k < nt; k += FIT_VL) {
                /* frame_factor.lua:16: local f = exp(-rate * t) */
                const fit_vd f = fit_vexp(-fit_vload(w.time_grid + k)*rate);   /* [1] */
                fit_vstore(w.f_grid + k, f);
                fit_vstore(w.exp_minus_two_t_rate_grid + k, fit_vexp(-2.0*fit_vload(w.time_grid + k)*rate));
            }
        }
        for (size_t g = 0; g < ng; g++)
        {
            for (size_t k = 0; k < nt; k += FIT_VL) {
                fit_vstore(w.t_v_cos_phi0_minus_phi_grid + g * nt + k, fit_vload(w.time_grid
                        + k)*w.v_cos_phi0_minus_phi[g]);
            }
        }
        fit_gather(l, w.f_grid, w.f);
        fit_gather(l, w.time_grid, w.t);
        fit_gather(l, w.exp_minus_two_t_rate_grid, w.exp_minus_two_t_rate);
        fit_gather_group(l, w.t_v_cos_phi0_minus_phi_grid, w.t_v_cos_phi0_minus_phi_2_i, w.t_v_cos_phi0_minus_phi_2_j);

        /* factored forms */
        fit_rotation_group_u(l, w.t_v_cos_phi0_minus_phi_2_j, w.sin_t_v_cos_phi0_minus_phi_i, w.cos_t_v_cos_phi0_minus_phi_i, w.sin_t_v_cos_phi0_minus_phi_j, w.cos_t_v_cos_phi0_minus_phi_j);
    }

    if (derivative) { /* tangents: the same integrals of the derivatives */
        {
            for (size_t k = 0; k < nt; k += FIT_VL) {
                /* frame_factor.lua:16: local f = exp(-rate * t) */
                const fit_vd df_drate = -fit_vload(w.time_grid + k)*fit_vload(w.f_grid + k); /* [s] */
                fit_vstore(w.df_drate_grid + k, df_drate);
            }
        }
        fit_gather(l, w.df_drate_grid, w.df_drate);
    }
    double check = 0.0; /* NaN where a table is not finite */
    check += 0.0 * w.f[l->nframe - 1];
    check += 0.0 * w.t[l->nframe - 1];
    check += 0.0 * w.exp_minus_two_t_rate[l->nframe - 1];
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
    const struct fit_tile *t = block->t;
    size_t i = block->i;
    size_t b = block->b;
    size_t h = block->h;
    size_t at = block->at;
    const double *data = block->data;
    const size_t ng = l->ngroup;
    const size_t j = b * FIT_LANES + h;
    const fit_vm lanes = masked ? fit_pair_lanes(t, i, j) : (fit_vm){0};
    const fit_vd f_j = fit_vload(w->f + j);
    const fit_vd f_i_f_j = w->f[i]*f_j;                                        /* [1] */
    for (size_t g = 0; g < ng; g++) {
        fit_vm use = lanes;
        fit_vd weight = {0};
        if (masked) {
            weight = t->w ? fit_vload(t->w + at + g * FIT_LANES + h) : fit_vset1(1.0);
            use &= weight > 0.0;
        }
        const fit_vd y = fit_data(data + g * FIT_LANES + h, 64 * FIT_LANES);
        fit_vd *restrict sum = sums + g * 3;
        const double sin_i = w->sin_t_v_cos_phi0_minus_phi_i[i * ng + g],
                cos_i = w->cos_t_v_cos_phi0_minus_phi_i[i * ng + g];
        const fit_vd sin_j = fit_vload(w->sin_t_v_cos_phi0_minus_phi_j + (b * ng + g) * FIT_LANES
                + h), cos_j = fit_vload(w->cos_t_v_cos_phi0_minus_phi_j + (b * ng + g) * FIT_LANES + h);
        const fit_vd cos_t_prod = cos_j*cos_i + sin_j*sin_i; /* its cosine */
        /* frame_factor.lua:19: mean = offset + contrast * at(f, t1) * at(f, t2) * cos(phase), */
        const fit_vd b_contrast = f_i_f_j*cos_t_prod;                          /* [1] */
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
    size_t at = 0;
    for (size_t k = 0; k < 3 * ng; k++)
        sums[k] = (fit_vd){0};
    for (size_t i = t->i0; i < t->i1; i++) {
        const double *data = fit_row_data(l, t, i, at);
        for (size_t b = (i + 1 > t->j0 ? i + 1 : t->j0) / FIT_LANES; b < end; b++) {
            for (size_t h = 0; h < FIT_LANES; h += FIT_VL) {
                const size_t j = b * FIT_LANES + h;
                const struct block block = {.l = l, .w = w, .t = t, .i = i, .b = b, .h = h, .at = at,
                                            .data = data};
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

enum { PIECES = FIT_LANES / FIT_VL, COLUMNS = 2, ROWS = 4, ROW_SUMS = 4, SUMS = 9, FIELDS = 14,
       ALONG_SUMS = 5, COLUMN_SUMS = 0, PAIRS = 2, CHANNELS_R = 5, MOMENT_SUMS = 4 };
/* A strip is so many blocks of a row; so many groups are kept before their products are
 * summed, so many rows before their sums are multiplied by tables. */
enum { STRIP = 8, BATCH = 4, KEPT = 4 };

/* Pairs (i, 8b .. 8b+7): what does not depend on the group. */
FIT_INLINE void normal_pair(const struct fit_layout *l, const struct tables *w,
                            const struct fit_exp_tile *exps, size_t i, size_t b, size_t h,
                            fit_vd *restrict pair)
{
    const size_t j = b * FIT_LANES + h;
    const fit_vd d_t = fit_vload(w->t + j) - w->t[i];
    pair[0] = d_t;
    const fit_vd f_j = fit_vload(w->f + j);
    pair[1] = w->f[i]*f_j;
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
FIT_INLINE void normal_group(const struct strip *strip, size_t k0, size_t k1, const int masked, const int many,
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
    const size_t ng = l->ngroup;
    const double contrast = lin[g * 2 + 0];
    const double offset = lin[g * 2 + 1];
    const double cos_phi0_minus_phi = w->cos_phi0_minus_phi[g];
    const double prod = -contrast*cos_phi0_minus_phi;
    const double phi_prod = w->phi_prod[g];
    const double minus_contrast_phi_prod = -contrast*phi_prod;
    const double prod_2 = contrast*cos_phi0_minus_phi;
    const double contrast_phi_prod = contrast*phi_prod;
    fit_vd row0 = row[0];
    fit_vd row1 = row[1];
    fit_vd row2 = row[2];
    fit_vd row3 = row[3];
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
        const fit_vd d_t = at_pair[0];
        const fit_vd f_i_f_j = at_pair[1];
        const double sin_i = w->sin_t_v_cos_phi0_minus_phi_i[i * ng + g],
                cos_i = w->cos_t_v_cos_phi0_minus_phi_i[i * ng + g];
        const fit_vd sin_j = fit_vload(w->sin_t_v_cos_phi0_minus_phi_j + (b * ng + g) * FIT_LANES
                + h), cos_j = fit_vload(w->cos_t_v_cos_phi0_minus_phi_j + (b * ng + g) * FIT_LANES + h);
        const fit_vd sin_t_prod = sin_j*cos_i - cos_j*sin_i; /* sin of the difference */
        const fit_vd cos_t_prod = cos_j*cos_i + sin_j*sin_i; /* its cosine */
        /* frame_factor.lua:19: mean = offset + contrast * at(f, t1) * at(f, t2) * cos(phase), */
        const fit_vd b_contrast = f_i_f_j*cos_t_prod;                          /* [1] */
        const fit_vd f_j = fit_vload(w->f + j);
        const fit_vd f_j_cos_t_prod = f_j*cos_t_prod;                          /* [1] */
        const fit_vd f_i_cos_t_prod = w->f[i]*cos_t_prod;                      /* [1] */
        const fit_vd d_t_sin_t_prod = d_t*sin_t_prod;                          /* [s] */
        const fit_vd f_prod = d_t_sin_t_prod*f_i_f_j;                          /* [s] */
        const fit_vd exp_minus_two_t_rate_j = fit_vload(w->exp_minus_two_t_rate + j);
        const fit_vd t_prod = cos_t_prod*exp_minus_two_t_rate_j;               /* [1] */
        const fit_vd r = fit_kept(masked, use, y - (contrast*b_contrast + offset));
        if (many) {
            at_m[0] = fit_weighted(masked, root, fit_kept(masked, use, contrast*cos_t_prod));
            at_m[1] = fit_weighted(masked, root, fit_kept(masked, use, prod_2*sin_t_prod));
            at_m[2] = fit_weighted(masked, root, fit_kept(masked, use, contrast_phi_prod*sin_t_prod));
            at_m[3] = fit_weighted(masked, root, r);
        }
        if (!many) {
            at_m[0] = fit_weighted(masked, root, fit_kept(masked, use, contrast*f_j_cos_t_prod)); /* m_f_i */
            at_m[1] = fit_weighted(masked, root, fit_kept(masked, use, contrast*f_i_cos_t_prod)); /* m_f_j */
            at_m[2] = fit_weighted(masked, root, fit_kept(masked, use, prod*f_prod)); /* m_v */
            at_m[3] = fit_weighted(masked, root, fit_kept(masked, use,
                    minus_contrast_phi_prod*f_prod)); /* m_phi0 */
            at_m[4] = fit_weighted(masked, root, r);
        }
        const fit_vd s0 = fit_counted(masked, use, weight, f_i_cos_t_prod*t_prod); /* contrast: b m_f_i */
        row0 += s0;
        const fit_vd s1 = fit_counted(masked, use, weight,
                w->exp_minus_two_t_rate[i]*cos_t_prod*f_j_cos_t_prod); /* contrast: b m_f_j */
        at_column[0] += s1;
        const fit_vd s2 = fit_counted(masked, use, weight,
                w->exp_minus_two_t_rate[i]*d_t_sin_t_prod*t_prod); /* contrast: b m_v */
        row1 += s2;
        const fit_vd s3 = fit_counted(masked, use, weight, f_j_cos_t_prod); /* offset: b m_f_i */
        row2 += s3;
        const fit_vd s4 = fit_counted(masked, use, weight, f_i_cos_t_prod); /* offset: b m_f_j */
        at_column[1] += s4;
        const fit_vd s5 = fit_counted(masked, use, weight, f_prod); /* offset: b m_v */
        row3 += s5;
    }
    row[0] = row0;
    row[1] = row1;
    row[2] = row2;
    row[3] = row3;
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
        s0 += x[0]*x[0]; /* F_f_i_f_i */
        s1 += x[0]*x[1]; /* F_f_i_f_j */
        s2 += x[0]*x[2]; /* F_f_i_v */
        s3 += x[0]*x[3]; /* F_f_i_phi0 */
        s10 += x[0]*x[4]; /* G_f_i */
        s4 += x[1]*x[1]; /* F_f_j_f_j */
        s5 += x[1]*x[2]; /* F_f_j_v */
        s6 += x[1]*x[3]; /* F_f_j_phi0 */
        s11 += x[1]*x[4]; /* G_f_j */
        s7 += x[2]*x[2]; /* F_v_v */
        s8 += x[2]*x[3]; /* F_v_phi0 */
        s12 += x[2]*x[4]; /* G_v */
        s9 += x[3]*x[3]; /* F_phi0_phi0 */
        s13 += x[3]*x[4]; /* G_phi0 */
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

/* Vectors of pairs that are not cut: the numbers that channels share, to m. */
FIT_HUGE void normal_many(const struct strip *strip, size_t k0, size_t k1, fit_vd *restrict column,
                          fit_vd *restrict row, fit_vd *restrict m)
{
    normal_group(strip, k0, k1, 0, 1, column, row, m);
}

/* field = (begin) or += sum over n groups of the products of two of the numbers m of a pair. */
FIT_HUGE void shared_products(size_t n, int begin, const fit_vd *restrict m, fit_vd *restrict field)
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
        s0 += x[0]*x[0];
        s1 += x[0]*x[1];
        s2 += x[0]*x[2];
        s6 += x[0]*x[3];
        s3 += x[1]*x[1];
        s4 += x[1]*x[2];
        s7 += x[1]*x[3];
        s5 += x[2]*x[2];
        s8 += x[2]*x[3];
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

/* Pairs (i, 8b .. 8b+7): sums over the groups of products of two channels, from those of products
 * of two of the numbers that channels share. */
FIT_HUGE void shared_fields(const struct fit_layout *l, const struct tables *w,
                            const struct fit_exp_tile *exps, const struct fit_tile *t, size_t i, size_t b,
                            size_t h, const int masked, fit_vd *restrict field)
{
    const size_t j = b * FIT_LANES + h;
    const fit_vm lanes = masked ? fit_pair_lanes(t, i, j) : (fit_vm){0};
    const fit_vd f_j = fit_vload(w->f + j);
    const fit_vd c_f_i_0 = fit_kept(masked, lanes, f_j);
    const fit_vd c_f_j_0 = fit_kept(masked, lanes, fit_vset1(w->f[i]));
    const fit_vd d_t = fit_vload(w->t + j) - w->t[i];
    const fit_vd f_prod = -d_t*w->f[i]*f_j;                                    /* [s] */
    const fit_vd c_v_1 = fit_kept(masked, lanes, f_prod);
    const fit_vd c_phi0_2 = fit_kept(masked, lanes, f_prod);
    const fit_vd s_0_0 = field[0];
    const fit_vd s_0_1 = field[1];
    const fit_vd s_0_2 = field[2];
    const fit_vd s_0_3 = field[6];
    const fit_vd s_1_1 = field[3];
    const fit_vd s_1_2 = field[4];
    const fit_vd s_1_3 = field[7];
    const fit_vd s_2_2 = field[5];
    const fit_vd s_2_3 = field[8];
    const fit_vd t_0_0 = c_f_i_0*s_0_0;
    const fit_vd t_0_1 = c_f_i_0*s_0_1;
    const fit_vd t_0_2 = c_f_i_0*s_0_2;
    field[0] = c_f_i_0*t_0_0; /* F_f_i_f_i */
    field[1] = c_f_j_0*t_0_0; /* F_f_i_f_j */
    field[2] = c_v_1*t_0_1; /* F_f_i_v */
    field[3] = c_phi0_2*t_0_2; /* F_f_i_phi0 */
    field[10] = c_f_i_0*s_0_3; /* G_f_i */
    const fit_vd t_1_0 = c_f_j_0*s_0_0;
    const fit_vd t_1_1 = c_f_j_0*s_0_1;
    const fit_vd t_1_2 = c_f_j_0*s_0_2;
    field[4] = c_f_j_0*t_1_0; /* F_f_j_f_j */
    field[5] = c_v_1*t_1_1; /* F_f_j_v */
    field[6] = c_phi0_2*t_1_2; /* F_f_j_phi0 */
    field[11] = c_f_j_0*s_0_3; /* G_f_j */
    const fit_vd t_2_1 = c_v_1*s_1_1;
    const fit_vd t_2_2 = c_v_1*s_1_2;
    field[7] = c_v_1*t_2_1; /* F_v_v */
    field[8] = c_phi0_2*t_2_2; /* F_v_phi0 */
    field[12] = c_v_1*s_1_3; /* G_v */
    const fit_vd t_3_2 = c_phi0_2*s_2_2;
    field[9] = c_phi0_2*t_3_2; /* F_phi0_phi0 */
    field[13] = c_phi0_2*s_2_3; /* G_phi0 */
}

/* The fields of n vectors of pairs (i, j0 ..) times the tables: added to the sums H of J^T J and J^T r, and
 * to the sums along the row and down the columns that get their other factor later. */
FIT_LARGE void contract(const struct tables *w, size_t i, size_t j0, size_t n, const fit_vd *restrict field,
                        fit_vd *restrict H, fit_vd *restrict row, fit_vd *restrict column)
{
    { /* f_i x f_i, f_j x f_i, f_i x v, f_i x phi0, f_i x residual, f_j x f_j, f_j x v, f_j x phi0, f_j x residual, v x v, v x phi0, v x residual, phi0 x phi0, phi0 x residual */
        fit_vd s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
        fit_vd s8 = {0}, s9 = {0}, s10 = {0}, s11 = {0}, s12 = {0}, s13 = {0};
        for (size_t k = 0, j = j0; k < n; k++, j += FIT_VL) {
            const fit_vd *F = field + k * FIELDS;
            const fit_vd u_f_j_rate = fit_vload(w->df_drate + j);
            s0 += F[0];
            s1 += F[1]*u_f_j_rate;
            s2 += F[2];
            s3 += F[3];
            s4 += F[10];
            const fit_vd p4_0 = F[4]*u_f_j_rate;
            s5 += u_f_j_rate*p4_0;
            s6 += u_f_j_rate*F[5];
            s7 += u_f_j_rate*F[6];
            s8 += u_f_j_rate*F[11];
            s9 += F[7];
            s10 += F[8];
            s11 += F[12];
            s12 += F[9];
            s13 += F[13];
        }
        row[0] += s0;
        row[1] += s1;
        row[2] += s2;
        row[3] += s3;
        row[4] += s4;
        H[0] += s5; /* rate, rate */
        H[1] += s6; /* rate, v */
        H[2] += s7; /* rate, phi0 */
        H[6] += s8; /* J^T r: rate */
        H[3] += s9; /* v, v */
        H[4] += s10; /* v, phi0 */
        H[7] += s11; /* J^T r: v */
        H[5] += s12; /* phi0, phi0 */
        H[8] += s13; /* J^T r: phi0 */
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
        for (size_t h = 0; h < n; h++) {
            fit_vd *r = row + (h * ng + g) * ROWS;
            const size_t i = i0 + h;
            s0 += r[0]*w->df_drate[i];
            r[0] = (fit_vd){0};
            s1 += r[1];
            r[1] = (fit_vd){0};
            s2 += r[2]*w->df_drate[i];
            r[2] = (fit_vd){0};
            s3 += r[3];
            r[3] = (fit_vd){0};
        }
        s[0] = s0;
        s[1] = s1;
        s[2] = s2;
        s[3] = s3;
    }
}

/* Vectors of pairs (i, j ..) of a strip: fields. */
FIT_LARGE void normal_masked(const struct strip *strip, size_t k0, size_t k1, const int many,
                             fit_vd *restrict column, fit_vd *restrict row, fit_vd *restrict m)
{
    normal_group(strip, k0, k1, 1, many, column, row, m);
}

enum { EXPS = 1 };

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
    const int many = ng >= 6; /* groups: the numbers that channels share are summed */
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
                    normal_masked(&strip, 0, low, many, c, r, x);
                if (many)
                    normal_many(&strip, low, high, c, r, x);
                else
                    normal_group(&strip, low, high, 0, 0, c, r, x);
                if (high < n)
                    normal_masked(&strip, high, n, many, c, r, x);
                if (g % BATCH < BATCH - 1 && g + 1 < ng)
                    continue;
                for (size_t k = 0; k < n && many; k++)
                    shared_products(g % BATCH + 1, g < BATCH, m + k * BATCH * CHANNELS_R, field + k * FIELDS);
                for (size_t k = 0; k < n && !many; k++)
                    normal_products(g % BATCH + 1, g < BATCH, m + k * BATCH * CHANNELS_R, field + k * FIELDS);
            }
            for (size_t k = 0; k < n && many; k++)
                shared_fields(l, w, exps, t, i, first + k / PIECES, k % PIECES * FIT_VL, k < low || k >= high,
                              field + k * FIELDS);
            at += (b - first) * ng * FIT_LANES;
            data += (b - first) * ng * FIT_LANES;
            contract(w, i, j, n, field, H, along, down + place * COLUMN_SUMS);
        }
        if (kept + 1 == KEPT || i + 1 == t->i1)
            add_rows(w, ng, i - kept, kept + 1, row, row_sum);
        H[0] += along[0]*w->df_drate[i]*w->df_drate[i]; /* rate, rate */
        H[0] += 2.0*along[1]*w->df_drate[i]; /* rate, rate */
        H[1] += along[2]*w->df_drate[i]; /* rate, v */
        H[2] += along[3]*w->df_drate[i]; /* rate, phi0 */
        H[6] += along[4]*w->df_drate[i]; /* J^T r: rate */
        for (size_t k = 0; k < ALONG_SUMS; k++)
            along[k] = (fit_vd){0};
    }

    for (size_t k = 0; k < 9; k++)
        out[k] = fit_vsum(H[k]);
    double *V = out + 9;
    for (size_t g = 0; g < ng; g++, V += 6) {
        const fit_vd *at_rows = row_sum + g * ROW_SUMS;
        const fit_vd *columns = column + g * pieces * COLUMNS;
        const double contrast = lin[g * 2 + 0];
        const double cos_phi0_minus_phi = w->cos_phi0_minus_phi[g];
        const double prod = -contrast*cos_phi0_minus_phi;
        const double phi_prod = w->phi_prod[g];
        const double minus_contrast_phi_prod = -contrast*phi_prod;
        V[0] = 0.0;
        V[1] = 0.0;
        V[2] = 0.0;
        V[3] = 0.0;
        V[4] = 0.0;
        V[5] = 0.0;
        V[0] += contrast * fit_vsum(at_rows[0]);
        V[0] += contrast * fit_column_sum(columns + 0, COLUMNS, pieces, w->df_drate + t->j0, NULL);
        V[1] += prod * fit_vsum(at_rows[1]);
        V[2] += minus_contrast_phi_prod * fit_vsum(at_rows[1]);
        V[3] += contrast * fit_vsum(at_rows[2]);
        V[3] += contrast * fit_column_sum(columns + 1, COLUMNS, pieces, w->df_drate + t->j0, NULL);
        V[4] += prod * fit_vsum(at_rows[3]);
        V[5] += minus_contrast_phi_prod * fit_vsum(at_rows[3]);
    }
}

/* Pairs (i, 8b .. 8b+7): the adjoint a_c of every channel, from fields F summed over the groups;
 * added to column and row. */
FIT_INLINE void gradient_block(const struct block *block, fit_vd *restrict column, fit_vd *restrict row,
                               const int masked)
{
    const struct fit_layout *l = block->l;
    const struct tables *w = block->w;
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
    const fit_vd f_j = fit_vload(w->f + j);
    const fit_vd f_i_f_j = w->f[i]*f_j;                                        /* [1] */
    const fit_vd d_t = fit_vload(w->t + j) - w->t[i];
    const fit_vd f_prod = -d_t*w->f[i]*f_j;                                    /* [s] */
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
        const double sin_i = w->sin_t_v_cos_phi0_minus_phi_i[i * ng + g],
                cos_i = w->cos_t_v_cos_phi0_minus_phi_i[i * ng + g];
        const fit_vd sin_j = fit_vload(w->sin_t_v_cos_phi0_minus_phi_j + (b * ng + g) * FIT_LANES
                + h), cos_j = fit_vload(w->cos_t_v_cos_phi0_minus_phi_j + (b * ng + g) * FIT_LANES + h);
        const fit_vd sin_t_prod = sin_j*cos_i - cos_j*sin_i; /* sin of the difference */
        const fit_vd cos_t_prod = cos_j*cos_i + sin_j*sin_i; /* its cosine */
        /* frame_factor.lua:19: mean = offset + contrast * at(f, t1) * at(f, t2) * cos(phase), */
        const fit_vd b_contrast = f_i_f_j*cos_t_prod;                          /* [1] */
        const fit_vd r = y - (at_lin[0]*b_contrast + at_lin[1]); /* residual */
        const fit_vd seed_contrast = (seeds[0]*at_lin[0])*r - (seeds[1]*b_contrast + seeds[2]);
        const double cos_phi0_minus_phi = w->cos_phi0_minus_phi[g];
        const fit_vd sin_t_prod_seed_contrast = sin_t_prod*seed_contrast;
        const double phi_prod = w->phi_prod[g];
        F0 += fit_counted(masked, use, weight, cos_t_prod*seed_contrast);
        F1 += fit_counted(masked, use, weight, cos_phi0_minus_phi*sin_t_prod_seed_contrast);
        F2 += fit_counted(masked, use, weight, phi_prod*sin_t_prod_seed_contrast);
    }

    /* products with what does not depend on the group */
    const fit_vd a_f_i = fit_kept(masked, lanes, f_j*F0);
    row[0] += a_f_i;
    const fit_vd a_f_j = fit_kept(masked, lanes, w->f[i]*F0);
    column[1] += a_f_j;
    const fit_vd a_v = fit_kept(masked, lanes, f_prod*F1);
    row[2] += a_v;
    const fit_vd a_phi0 = fit_kept(masked, lanes, f_prod*F2);
    row[3] += a_phi0;
}

enum { CHANNELS = 4, GRADIENT_SUMS = 3, GRADIENT_EXPS = 1 };

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
    size_t at = 0;
    for (fit_vd *v = column; v < sum + GRADIENT_SUMS; v++)
        *v = (fit_vd){0};
    for (size_t i = t->i0; i < t->i1; i++) {
        const double *data = fit_row_data(l, t, i, at);
        for (size_t b = (i + 1 > t->j0 ? i + 1 : t->j0) / FIT_LANES; b < end; b++) {
            for (size_t h = 0; h < FIT_LANES; h += FIT_VL) {
                const size_t j = b * FIT_LANES + h;
                const struct block block = {.l = l, .w = w, .t = t, .i = i, .b = b, .h = h, .at = at,
                                            .data = data, .lin = lin, .adj = adj};
                if (t->w || j <= i || j + FIT_VL > t->j1)
                    gradient_block(&block, column + ((b - start) * PIECES + h / FIT_VL) * CHANNELS, row, 1);
                else
                    gradient_block(&block, column + ((b - start) * PIECES + h / FIT_VL) * CHANNELS, row, 0);
            }
            at += ng * FIT_LANES;
            data += ng * FIT_LANES;
        }
        sum[0] += row[0]*w->df_drate[i];
        row[0] = (fit_vd){0};
    }
    for (size_t k = 0; k < pieces; k++)
        sum[0] += column[k * CHANNELS + 1]*fit_vload(w->df_drate + t->j0 + k * FIT_VL);
    sum[1] += row[2];
    sum[2] += row[3];
    for (size_t k = 0; k < 3; k++)
        out[k] = fit_vsum(sum[k]);
}

/* Pairs (i, 8b .. 8b+7): the mean of every group. */
FIT_INLINE void model_block(const struct fit_layout *l, const struct tables *w, const double *lin, size_t i,
                            size_t b, size_t h, double *out)
{
    const size_t ng = l->ngroup;
    const size_t j = b * FIT_LANES + h;
    const fit_vd f_j = fit_vload(w->f + j);
    const fit_vd f_i_f_j = w->f[i]*f_j;                                        /* [1] */
    for (size_t g = 0; g < ng; g++) {
        const double contrast = lin[g * 2 + 0];
        const double offset = lin[g * 2 + 1];
        const double sin_i = w->sin_t_v_cos_phi0_minus_phi_i[i * ng + g],
                cos_i = w->cos_t_v_cos_phi0_minus_phi_i[i * ng + g];
        const fit_vd sin_j = fit_vload(w->sin_t_v_cos_phi0_minus_phi_j + (b * ng + g) * FIT_LANES
                + h), cos_j = fit_vload(w->cos_t_v_cos_phi0_minus_phi_j + (b * ng + g) * FIT_LANES + h);
        const fit_vd cos_t_prod = cos_j*cos_i + sin_j*sin_i; /* its cosine */
        /* frame_factor.lua:19: mean = offset + contrast * at(f, t1) * at(f, t2) * cos(phase), */
        const fit_vd b_contrast = f_i_f_j*cos_t_prod;                          /* [1] */
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
        const fit_vd f_i = fit_pick_i(w.f, &at);
        const fit_vd f_j = fit_pick_j(w.f, &at);
        const fit_vd d_t = fit_pick_change(w.t, &at);
        const fit_vd v_cos_phi0_minus_phi = fit_pick_g(w.v_cos_phi0_minus_phi, &at);
        /* frame_factor.lua:17: local phase = cos(phi0 - phi) * v * (t2 - t1) */
        const fit_vd phase = d_t*v_cos_phi0_minus_phi;
        /* frame_factor.lua:19: mean = offset + contrast * at(f, t1) * at(f, t2) * cos(phase), */
        const fit_vd cos_phase = fit_vcos(phase);                              /* [1] */
        fit_store_points(mean + p, at.n, contrast*f_i*f_j*cos_phase + offset);
        if (!jac)
            continue;
        fit_vd J[5];
        const fit_vd m_f_i = contrast*f_j*cos_phase; /* d mean / d factor f_i */
        const fit_vd m_f_j = contrast*f_i*cos_phase; /* d mean / d factor f_j */
        const fit_vd sin_phase = fit_vsin(phase);                              /* [1] */
        const fit_vd cos_phi0_minus_phi = fit_pick_g(w.cos_phi0_minus_phi, &at);
        const fit_vd phi_prod = fit_pick_g(w.phi_prod, &at);
        J[0] = m_f_i*fit_pick_i(w.df_drate, &at) + m_f_j*fit_pick_j(w.df_drate, &at); /* rate */
        J[1] = -contrast*d_t*f_i*f_j*sin_phase*cos_phi0_minus_phi; /* v */
        J[2] = -contrast*d_t*f_i*f_j*sin_phase*phi_prod; /* phi0 */
        J[3] = f_i*f_j*cos_phase; /* contrast */
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
    const double v_ = theta[1]; /* [1/s] */
    const double phi0 = theta[2]; /* [deg] */
    const double phi0_minus_phi = 0.017453292519943295*(phi0 - l->coord[0][g]);
    const double cos_phi0_minus_phi = cos(phi0_minus_phi);
    value[0] = v_*cos_phi0_minus_phi;
    for (size_t k = 0; k < 3; k++)
        gradient[k] = 0.0;
    gradient[1] = cos_phi0_minus_phi;
    gradient[2] = -0.017453292519943295*v_*sin(phi0_minus_phi);
}

/* ---- description ----------------------------------------------------------------------------------- */

static const struct fit_param desc_param[] = {
    {.name = "rate", .unit = "1/s", .doc = "of the fraction",
     .start = 0.1, .lower = 0.0, .upper = 10.0, .over = -1,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "v", .unit = "1/s", .doc = "phase velocity",
     .start = 1.0, .lower = 0.0, .upper = 10.0, .over = -1,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "phi0", .unit = "deg", .doc = "direction of the flow",
     .start = 0.0, .lower = -90.0, .upper = 90.0, .over = -1,
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

static const struct fit_axis desc_axis[] = {
    {"phi", "deg", "azimuth"},
};

/* parameter sets within the bounds: the model has no random() */
static const double desc_screen[] = {
    8.83311, 4.31528, -85.2419,
    9.70882, 1.06347, -31.0814,
    1.73868, 7.71547, -45.776,
    9.52031, 3.96468, 46.9862,
    5.23951, 5.55168, 37.48,
    5.18482, 4.88915, 47.6782,
    2.04695, 8.44155, 63.9882,
    6.6021, 9.29534, -30.7359,
    8.65173, 5.75661, -15.666,
    2.53214, 6.36484, 77.5693,
    9.43013, 2.16754, -81.2167,
    0.208767, 8.21601, -15.8998,
    2.55844, 2.35294, -12.586,
    3.11187, 5.19215, -76.4224,
    0.307094, 0.732435, 53.4561,
    9.25513, 2.44216, -16.1311,
    4.65913, 1.35549, 70.2187,
    8.71682, 1.27333, -87.3014,
    7.86419, 6.05857, -56.1456,
    8.0964, 9.5565, 44.9085,
    9.27631, 3.357, -46.4045,
    8.8412, 1.65946, -40.4809,
    2.58657, 5.48983, -54.1498,
    6.18656, 9.3179, 63.9901,
    3.62517, 9.44286, 78.0615,
    8.73077, 1.60727, 48.42,
    8.45202, 4.14673, 15.9232,
    2.76031, 2.41473, -41.4011,
    3.3942, 4.82388, 49.5536,
    5.72471, 1.06332, 0.370291,
    1.31941, 8.51025, 12.5172,
    4.68695, 0.223491, -76.6674,
    3.92901, 9.31826, 64.8973,
    2.07118, 5.0572, 8.33038,
    1.03367, 7.43364, 28.3835,
    3.37732, 9.51809, -51.7811,
    1.22959, 2.07548, -15.14,
    0.921366, 3.70865, 82.3434,
    7.71548, 9.79873, 55.9163,
    4.92603, 5.98356, -0.183016,
    2.14929, 6.92279, 22.4409,
    2.52703, 6.31145, 50.8212,
    4.33892, 0.734918, 17.2956,
    9.13194, 3.08271, 73.1516,
    3.03252, 5.17315, 5.4352,
    4.96925, 2.20771, 44.925,
    7.73385, 2.17575, -1.78571,
    4.38223, 0.400357, 70.802,
    9.69721, 7.25034, -50.1226,
    0.361307, 1.03362, -42.0643,
    1.36071, 5.30588, -27.6864,
    5.69583, 6.71585, 39.6618,
    9.8699, 6.7263, -12.151,
    8.09609, 2.91913, 46.4809,
    8.3039, 6.94649, -30.7923,
    8.81905, 6.57737, -54.98,
    6.86778, 8.99557, -80.318,
    5.46079, 1.4091, 51.2115,
    1.37589, 1.44941, 84.6095,
    7.93968, 5.00625, -78.1264,
    1.77863, 5.90476, 42.263,
    0.990132, 7.90515, 67.6034,
    2.5586, 5.94374, -33.9401,
    2.02596, 1.39784, -54.1623,
};

/* what data cannot tell apart */
static const unsigned desc_degenerate_0[] = {2};
static const unsigned desc_degenerate_1[] = {1, 2};
static const unsigned desc_degenerate_2[] = {1};
static const struct fit_image desc_image_2[] = {{0, 0, -1}};
static const unsigned desc_degenerate_3[] = {2};
static const struct fit_degeneracy desc_degeneracy[] = {
    {.kind = FIT_DEGENERATE_AT_VALUE, .nparam = 1, .param = desc_degenerate_0,
     .condition = 1, .value = 0, .first = 0, .ncombination = 0, .each = 1,
     .held = -1, .proved = 1, .text = "at v = 0 phi0 has no effect"},
    {.kind = FIT_DEGENERATE_ONE_GROUP, .nparam = 2, .param = desc_degenerate_1,
     .condition = -1, .value = 0, .first = 0, .ncombination = 1, .each = 0,
     .held = -1, .proved = 1, .text = "with one value of phi v and phi0 enter only as v cos(phi0 - phi): only this combination is determined"},
    {.kind = FIT_DEGENERATE_MIRROR, .nparam = 1, .param = desc_degenerate_2, .image = desc_image_2,
     .condition = -1, .value = 0, .first = 0, .ncombination = 0, .each = 0,
     .held = -1, .proved = 0, .text = "v -> -v leaves the mean as it is"},
    {.kind = FIT_DEGENERATE_MIRROR_ANGLE, .nparam = 1, .param = desc_degenerate_3,
     .condition = 2, .value = 2, .first = 0, .ncombination = 0, .each = 0,
     .held = -1, .proved = 0, .text = "where all phi are equal modulo 90 deg, phi0 and 2 phi - phi0 give the same mean"},
};

static const struct fit_combination desc_combination[] = {
    {"v cos(phi0 - phi)", "1/s"},
};

extern const struct fit_kernel FIT_KERNEL_SYMBOL;
const struct fit_kernel FIT_KERNEL_SYMBOL = {
    .abi = FIT_KERNEL_ABI,
    .name = "frame_factor",
    .variant = "fast",
    .title = "A decaying fraction that oscillates along the flow",
    .formula = "",
    .reference = "",
    .source = "frame_factor.lua",
    .hash = "57429f83b7990fc7bceee5ed9ae7bbbf92dff09d26b73ac2216976ea96d0d171",
    .isa = FIT_KERNEL_ISA,
    .space = FIT_PAIRS,
    .raw = 1,
    .nparam = 3,
    .param = desc_param,
    .nlinear = 2,
    .linear = desc_linear,
    .intercept = 1,
    .naxis = 1,
    .axis = desc_axis,
    .nscreen = 64,
    .screen = desc_screen,
    .cost = {.per_frame = 40, .per_pair = 32, .per_pair_group = 63,
             .value_per_pair_group = 10, .functions_per_pair = 0},
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
    .ncombination = 1,
    .combination = desc_combination,
    .combine = combine,
};
