/* sums_pairs.c -- written by homodyne-gen from sums_pairs.lua.  Edit the model, not this file.
 *
 * Two-time, a distribution of rates
 *
 *   theta      0  D0                   [angstrom^2/s]
 *              1  alpha                [1]
 *              2  width                [1]
 *   lin        0  contrast             [1]
 *              1  offset               [1]
 *   setting    0  q                    [1/angstrom]
 *   group      0  phi                  [deg]
 *
 * cost of normal, operations: 36 per frame, 23 per pair, 38 per pair and group; of moments 12
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

/* nodes of Gauss and Hermite, n = 5 */
static const double fit_nodes_1[5] = {
    -2.8569700138728056, -1.355626179974266, 0.0, 1.355626179974266,
    2.8569700138728056};

/* weights of Gauss and Hermite, n = 5 */
static const double fit_weights_1[5] = {
    0.01125741132772069, 0.22207592200561266, 0.5333333333333333, 0.22207592200561266,
    0.01125741132772069};

/* Workspace: scalars, tables over the time grid, tables at the used frames. */
struct tables {
    double *time_grid; /* time, padded */
    double *int_D; /* integral(D) */
    double *int_D_low; /* what its rounding left */
    double *x_prod; /* -q^2 * (1 + 0.1 * cos(0.0174533 * phi)) * x */
    double *int_dD_dD0; /* integral(dD_dD0) */
    double *int_dD_dalpha; /* integral(dD_dalpha) */
    double *x_prod_prod; /* node3 * x_prod */
    double *phi_prod_prod; /* node3 * phi_prod */
    double *phi_prod; /* -q^2 * (1 + 0.1 * cos(0.0174533 * phi)) * node2 * exp(width * node2) */
    double *dD_dD0_grid; /* (where(le(t, step / 2), step / 2, t) / unit "s")^alpha */
    double *D_grid; /* D0 * (where(le(t, step / 2), step / 2, t) / unit "s")^alpha */
    double *int_D_grid; /* integral(D) */
    double *int_D_grid_low; /* what its rounding left */
    double *int_dD_dD0_grid; /* integral(dD_dD0) */
    double *dD_dalpha_grid; /* D0 * dD_dD0 * log(where(le(t, 0.5 * step), 0.5 * step, t)) */
    double *int_dD_dalpha_grid; /* integral(dD_dalpha) */
};

FIT_INLINE size_t carve(const struct fit_layout *l, double *base, struct tables *w)
{
    const size_t ng = l->ngroup;
    const size_t nt = fit_padded(l->ntime);
    const size_t nf = fit_padded(l->nframe);
    size_t n = 0;
    w->time_grid = base + n, n += nt;
    w->int_D = base + n, n += fit_padded(nf);
    w->int_D_low = base + n, n += fit_padded(nf);
    w->x_prod = base + n, n += fit_padded(ng * 5);
    w->int_dD_dD0 = base + n, n += fit_padded(nf);
    w->int_dD_dalpha = base + n, n += fit_padded(nf);
    w->x_prod_prod = base + n, n += fit_padded(ng * 5);
    w->phi_prod_prod = base + n, n += fit_padded(ng * 5);
    w->phi_prod = base + n, n += fit_padded(ng * 5);
    w->dD_dD0_grid = base + n, n += fit_padded(nt);
    w->D_grid = base + n, n += fit_padded(nt);
    w->int_D_grid = base + n, n += fit_padded(nt);
    w->int_D_grid_low = base + n, n += fit_padded(nt);
    w->int_dD_dD0_grid = base + n, n += fit_padded(nt);
    w->dD_dalpha_grid = base + n, n += fit_padded(nt);
    w->int_dD_dalpha_grid = base + n, n += fit_padded(nt);
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
    const double width = theta[2]; /* [1] */
    const double q = l->setting[0]; /* [1/angstrom] */

    /* scalars of the call and of the groups */
    {
        for (size_t g = 0; g < ng; g++) {
            /* sums_pairs.lua:12: local g1 = average({ "log_normal", median = 1, sd = width }, function( ... */
            const double q_sq = q*q;                                           /* [1/angstrom^2] */
            const double phi_sum = 1.0 + 0.1*cos(0.017453292519943295*l->coord[0][g]); /* [1] */
            for (size_t node1 = 0; node1 < 5; node1++) {
                const double exp_width_prod = exp(width*fit_nodes_1[node1]);   /* [1] */
                const double x = exp_width_prod;                               /* [1] */
                w.x_prod[g * 5 + node1] = -q_sq*phi_sum*x;
                w.phi_prod[g * 5 + node1] = -q_sq*phi_sum*fit_nodes_1[node1]*exp_width_prod;
            }
            for (size_t node1 = 0; node1 < 5; node1++) {
                w.x_prod_prod[g * 5 + node1] = fit_weights_1[node1]*w.x_prod[g * 5 + node1];
                w.phi_prod_prod[g * 5 + node1] = fit_weights_1[node1]*w.phi_prod[g * 5 + node1];
            }
        }
    }

    if (derivative >= 0) { /* functions of time and their integrals */
        for (size_t k = 0; k < nt; k++)
            w.time_grid[k] = l->time[k < l->ntime ? k : l->ntime - 1];
        {
            /* sums_pairs.lua:9: local D = D0 * (floor_at(t, t.step / 2) / second)^alpha */
            const double half_step = 0.5*l->step;                              /* [s] */
            for (size_t k = 0; k < nt; k += FIT_VL) {
                const fit_vd dD_dD0 = fit_vpow(fit_vselect(fit_vload(w.time_grid + k) <= half_step,
                        fit_vset1(half_step), fit_vload(w.time_grid + k)), fit_vset1(alpha)); /* [1] */
                const fit_vd D = D0*dD_dD0;                                    /* [angstrom^2/s] */
                fit_vstore(w.D_grid + k, D);
            }
        }
        fit_trapezoids(l->ntime, l->time, 1, (const struct fit_integral[]){
            {w.D_grid, w.int_D_grid, w.int_D_grid_low},
        });
        fit_gather(l, w.int_D_grid, w.int_D);
        fit_gather(l, w.int_D_grid_low, w.int_D_low);

        /* factored forms */
    }

    if (derivative) { /* tangents: the same integrals of the derivatives */
        {
            /* sums_pairs.lua:9: local D = D0 * (floor_at(t, t.step / 2) / second)^alpha */
            const double half_step = 0.5*l->step;                              /* [s] */
            for (size_t k = 0; k < nt; k += FIT_VL) {
                const fit_vd t_choice = fit_vselect(fit_vload(w.time_grid + k) <= half_step,
                        fit_vset1(half_step), fit_vload(w.time_grid + k)); /* [s] */
                fit_vd log_t_choice_low;
                const fit_vd log_t_choice = fit_vlog_low(t_choice, &log_t_choice_low);
                const fit_vd dD_dD0 = fit_vpow_of_log(t_choice, fit_vset1(alpha), log_t_choice,
                        log_t_choice_low); /* [1] */
                fit_vstore(w.dD_dD0_grid + k, dD_dD0);
                const fit_vd dD_dalpha = D0*dD_dD0*log_t_choice;               /* [angstrom^2/s] */
                fit_vstore(w.dD_dalpha_grid + k, dD_dalpha);
            }
        }
        fit_trapezoids(l->ntime, l->time, 2, (const struct fit_integral[]){
            {w.dD_dD0_grid, w.int_dD_dD0_grid, NULL},
            {w.dD_dalpha_grid, w.int_dD_dalpha_grid, NULL},
        });
        fit_gather(l, w.int_dD_dD0_grid, w.int_dD_dD0);
        fit_gather(l, w.int_dD_dalpha_grid, w.int_dD_dalpha);
    }
    double check = 0.0; /* NaN where a table is not finite */
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
    const struct fit_tile *t = block->t;
    size_t i = block->i;
    size_t b = block->b;
    size_t h = block->h;
    size_t at = block->at;
    const double *data = block->data;
    const size_t ng = l->ngroup;
    const size_t j = b * FIT_LANES + h;
    const fit_vm lanes = masked ? fit_pair_lanes(t, i, j) : (fit_vm){0};
    const fit_vd J_2 = fit_delta_low(w->int_D, w->int_D_low, j, i);
    for (size_t g = 0; g < ng; g++) {
        fit_vm use = lanes;
        fit_vd weight = {0};
        if (masked) {
            weight = t->w ? fit_vload(t->w + at + g * FIT_LANES + h) : fit_vset1(1.0);
            use &= weight > 0.0;
        }
        const fit_vd y = fit_data(data + g * FIT_LANES + h, 64 * FIT_LANES);
        fit_vd *restrict sum = sums + g * 3;
        /* sums_pairs.lua:12: local g1 = average({ "log_normal", median = 1, sd = width }, function(x) r ... */
        fit_vd g1 = fit_vset1(0.0);
        for (size_t node1 = 0; node1 < 5; node1++) {
            const double x_prod = w->x_prod[g * 5 + node1];
            g1 += fit_weights_1[node1]*fit_vexp(x_prod*J_2);
        }
        const fit_vd b_contrast = g1*g1;                                       /* [1] */
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

enum { PIECES = FIT_LANES / FIT_VL, COLUMNS = 2, ROWS = 4, ROW_SUMS = 6, SUMS = 9, FIELDS = 5,
       ALONG_SUMS = 0, COLUMN_SUMS = 0, PAIRS = 1, CHANNELS_R = 3, MOMENT_SUMS = 4 };
/* A strip is so many blocks of a row; so many groups are kept before their products are
 * summed, so many rows before their sums are multiplied by tables. */
enum { STRIP = 8, BATCH = 8, KEPT = 4 };

/* Pairs (i, 8b .. 8b+7): what does not depend on the group. */
FIT_INLINE void normal_pair(const struct fit_layout *l, const struct tables *w,
                            const struct fit_exp_tile *exps, size_t i, size_t b, size_t h,
                            fit_vd *restrict pair)
{
    const size_t j = b * FIT_LANES + h;
    const fit_vd J_2 = fit_delta_low(w->int_D, w->int_D_low, j, i);
    pair[0] = J_2;
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
    const double two_contrast = 2.0*contrast;                                  /* [1] */
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
        const fit_vd J_2 = at_pair[0];
        /* sums_pairs.lua:12: local g1 = average({ "log_normal", median = 1, sd = width }, function(x) r ... */
        fit_vd g1 = fit_vset1(0.0);
        fit_vd sum_2 = fit_vset1(0.0);
        fit_vd sum_3 = fit_vset1(0.0);
        for (size_t node1 = 0; node1 < 5; node1++) {
            const double x_prod = w->x_prod[g * 5 + node1];
            const fit_vd exp_x_prod_J_2 = fit_vexp(x_prod*J_2);                /* [1] */
            const double x_prod_prod = w->x_prod_prod[g * 5 + node1];
            const double phi_prod_prod = w->phi_prod_prod[g * 5 + node1];
            g1 += fit_weights_1[node1]*exp_x_prod_J_2;
            sum_2 += x_prod_prod*exp_x_prod_J_2;
            sum_3 += phi_prod_prod*exp_x_prod_J_2;
        }
        const fit_vd b_contrast = g1*g1;                                       /* [1] */
        const fit_vd g1_sum_2 = g1*sum_2;
        const fit_vd sum_3_J_2_g1 = sum_3*J_2*g1;
        const fit_vd r = fit_kept(masked, use, y - (contrast*b_contrast + offset));
        at_m[0] = fit_weighted(masked, root, fit_kept(masked, use, two_contrast*g1_sum_2)); /* m_D */
        at_m[1] = fit_weighted(masked, root, fit_kept(masked, use, two_contrast*sum_3_J_2_g1)); /* m_width */
        at_m[2] = fit_weighted(masked, root, r);
        const fit_vd s0 = fit_counted(masked, use, weight, b_contrast*g1_sum_2); /* contrast: b m_D */
        at_column[0] += s0;
        row0 += s0;
        const fit_vd s1 = fit_counted(masked, use, weight, b_contrast*sum_3_J_2_g1); /* contrast: b m_width */
        row1 += s1;
        const fit_vd s2 = fit_counted(masked, use, weight, g1_sum_2); /* offset: b m_D */
        at_column[1] += s2;
        row2 += s2;
        const fit_vd s3 = fit_counted(masked, use, weight, sum_3_J_2_g1); /* offset: b m_width */
        row3 += s3;
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
    for (size_t g = 0; g < n; g++) {
        const fit_vd *x = m + g * CHANNELS_R;
        s0 += x[0]*x[0]; /* F_D_D */
        s1 += x[0]*x[1]; /* F_D_width */
        s3 += x[0]*x[2]; /* G_D */
        s2 += x[1]*x[1]; /* F_width_width */
        s4 += x[1]*x[2]; /* G_width */
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
    { /* D x D, D x width, D x residual, width x width, width x residual */
        const double u_D_D0_i = w->int_dD_dD0[i];
        const double u_D_alpha_i = w->int_dD_dalpha[i];
        fit_vd s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
        fit_vd s8 = {0};
        for (size_t k = 0, j = j0; k < n; k++, j += FIT_VL) {
            const fit_vd *F = field + k * FIELDS;
            const fit_vd u_D_D0 = fit_vload(w->int_dD_dD0 + j) - u_D_D0_i;
            const fit_vd u_D_alpha = fit_vload(w->int_dD_dalpha + j) - u_D_alpha_i;
            const fit_vd p0_0 = F[0]*u_D_D0;
            s0 += u_D_D0*p0_0;
            const fit_vd p0_1 = F[0]*u_D_alpha;
            s1 += u_D_D0*p0_1;
            s2 += u_D_alpha*p0_1;
            s3 += u_D_D0*F[1];
            s4 += u_D_alpha*F[1];
            s5 += u_D_D0*F[3];
            s6 += u_D_alpha*F[3];
            s7 += F[2];
            s8 += F[4];
        }
        H[0] += s0; /* D0, D0 */
        H[1] += s1; /* D0, alpha */
        H[3] += s2; /* alpha, alpha */
        H[2] += s3; /* D0, width */
        H[4] += s4; /* alpha, width */
        H[6] += s5; /* J^T r: D0 */
        H[7] += s6; /* J^T r: alpha */
        H[5] += s7; /* width, width */
        H[8] += s8; /* J^T r: width */
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
            s0 += r[0]*w->int_dD_dD0[i];
            s1 += r[0]*w->int_dD_dalpha[i];
            r[0] = (fit_vd){0};
            s2 += r[1];
            r[1] = (fit_vd){0};
            s3 += r[2]*w->int_dD_dD0[i];
            s4 += r[2]*w->int_dD_dalpha[i];
            r[2] = (fit_vd){0};
            s5 += r[3];
            r[3] = (fit_vd){0};
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
        const double two_contrast = 2.0*contrast;                              /* [1] */
        V[0] = 0.0;
        V[1] = 0.0;
        V[2] = 0.0;
        V[3] = 0.0;
        V[4] = 0.0;
        V[5] = 0.0;
        V[0] += two_contrast * fit_column_sum(columns + 0, COLUMNS, pieces, w->int_dD_dD0 + t->j0, at_rows + 0);
        V[1] += two_contrast * fit_column_sum(columns + 0, COLUMNS, pieces, w->int_dD_dalpha
                + t->j0, at_rows + 1);
        V[2] += two_contrast * fit_vsum(at_rows[2]);
        V[3] += two_contrast * fit_column_sum(columns + 1, COLUMNS, pieces, w->int_dD_dD0 + t->j0, at_rows + 3);
        V[4] += two_contrast * fit_column_sum(columns + 1, COLUMNS, pieces, w->int_dD_dalpha
                + t->j0, at_rows + 4);
        V[5] += two_contrast * fit_vsum(at_rows[5]);
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
    const fit_vd J_2 = fit_delta_low(w->int_D, w->int_D_low, j, i);
    const fit_vd two_J_2 = 2.0*J_2;                                            /* [angstrom^2] */
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
        /* sums_pairs.lua:12: local g1 = average({ "log_normal", median = 1, sd = width }, function(x) r ... */
        fit_vd g1 = fit_vset1(0.0);
        fit_vd sum_2 = fit_vset1(0.0);
        fit_vd sum_3 = fit_vset1(0.0);
        for (size_t node1 = 0; node1 < 5; node1++) {
            const double x_prod = w->x_prod[g * 5 + node1];
            const fit_vd exp_x_prod_J_2 = fit_vexp(x_prod*J_2);                /* [1] */
            const double x_prod_prod = w->x_prod_prod[g * 5 + node1];
            const double phi_prod_prod = w->phi_prod_prod[g * 5 + node1];
            g1 += fit_weights_1[node1]*exp_x_prod_J_2;
            sum_2 += x_prod_prod*exp_x_prod_J_2;
            sum_3 += phi_prod_prod*exp_x_prod_J_2;
        }
        const fit_vd b_contrast = g1*g1;                                       /* [1] */
        const fit_vd r = y - (at_lin[0]*b_contrast + at_lin[1]); /* residual */
        const fit_vd seed_contrast = (seeds[0]*at_lin[0])*r - (seeds[1]*b_contrast + seeds[2]);
        const fit_vd g1_seed_contrast = g1*seed_contrast;
        F0 += fit_counted(masked, use, weight, sum_2*g1_seed_contrast);
        F1 += fit_counted(masked, use, weight, sum_3*g1_seed_contrast);
    }

    /* products with what does not depend on the group */
    const fit_vd a_D = fit_kept(masked, lanes, 2.0*F0);
    column[0] += a_D;
    row[0] += a_D;
    const fit_vd a_width = fit_kept(masked, lanes, two_J_2*F1);
    row[1] += a_width;
}

enum { CHANNELS = 2, GRADIENT_SUMS = 3, GRADIENT_EXPS = 1 };

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
        sum[0] -= row[0]*w->int_dD_dD0[i];
        sum[1] -= row[0]*w->int_dD_dalpha[i];
        row[0] = (fit_vd){0};
    }
    for (size_t k = 0; k < pieces; k++)
        sum[0] += column[k * CHANNELS + 0]*fit_vload(w->int_dD_dD0 + t->j0 + k * FIT_VL);
    for (size_t k = 0; k < pieces; k++)
        sum[1] += column[k * CHANNELS + 0]*fit_vload(w->int_dD_dalpha + t->j0 + k * FIT_VL);
    sum[2] += row[1];
    for (size_t k = 0; k < 3; k++)
        out[k] = fit_vsum(sum[k]);
}

/* Pairs (i, 8b .. 8b+7): the mean of every group. */
FIT_INLINE void model_block(const struct fit_layout *l, const struct tables *w, const double *lin, size_t i,
                            size_t b, size_t h, double *out)
{
    const size_t ng = l->ngroup;
    const size_t j = b * FIT_LANES + h;
    const fit_vd J_2 = fit_delta_low(w->int_D, w->int_D_low, j, i);
    for (size_t g = 0; g < ng; g++) {
        const double contrast = lin[g * 2 + 0];
        const double offset = lin[g * 2 + 1];
        /* sums_pairs.lua:12: local g1 = average({ "log_normal", median = 1, sd = width }, function(x) r ... */
        fit_vd g1 = fit_vset1(0.0);
        for (size_t node1 = 0; node1 < 5; node1++) {
            const double x_prod = w->x_prod[g * 5 + node1];
            g1 += fit_weights_1[node1]*fit_vexp(x_prod*J_2);
        }
        const fit_vd b_contrast = g1*g1;                                       /* [1] */
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
        const fit_vd J_2 = fit_pick_change_low(w.int_D, w.int_D_low, &at);
        /* sums_pairs.lua:12: local g1 = average({ "log_normal", median = 1, sd = width }, function(x) r ... */
        fit_vd g1 = fit_vset1(0.0);
        fit_vd sum_2 = fit_vset1(0.0);
        fit_vd sum_3 = fit_vset1(0.0);
        for (size_t node1 = 0; node1 < 5; node1++) {
            const fit_vd x_prod = fit_pick_stride(w.x_prod + node1, 5, &at);
            const fit_vd exp_J_2_x_prod = fit_vexp(J_2*x_prod);                /* [1] */
            const fit_vd x_prod_prod = fit_pick_stride(w.x_prod_prod + node1, 5, &at);
            const fit_vd phi_prod_prod = fit_pick_stride(w.phi_prod_prod + node1, 5, &at);
            g1 += fit_weights_1[node1]*exp_J_2_x_prod;
            sum_2 += exp_J_2_x_prod*x_prod_prod;
            sum_3 += exp_J_2_x_prod*phi_prod_prod;
        }
        fit_store_points(mean + p, at.n, contrast*g1*g1 + offset);
        if (!jac)
            continue;
        fit_vd J[5];
        const fit_vd m_D = 2.0*contrast*g1*sum_2; /* d mean / d integral of D */
        J[0] = m_D*fit_pick_change(w.int_dD_dD0, &at); /* D0 */
        J[1] = m_D*fit_pick_change(w.int_dD_dalpha, &at); /* alpha */
        J[2] = 2.0*contrast*J_2*g1*sum_3; /* width */
        J[3] = g1*g1; /* contrast */
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

/* ---- description ----------------------------------------------------------------------------------- */

static const struct fit_param desc_param[] = {
    {.name = "D0", .unit = "angstrom^2/s", .doc = "",
     .start = 1000.0, .lower = 1.0, .upper = 1000000.0, .over = -1,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "alpha", .unit = "1", .doc = "",
     .start = 0.0, .lower = -0.9, .upper = 2.0, .over = -1,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "width", .unit = "1", .doc = "",
     .start = 0.3, .lower = 0.01, .upper = 1.0, .over = -1,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
};

static const struct fit_param desc_linear[] = {
    {.name = "contrast", .unit = "1", .doc = "",
     .start = 0.3, .lower = 0.0, .upper = 1.0, .over = 0,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "offset", .unit = "1", .doc = "",
     .start = 1.0, .lower = 0.5, .upper = 1.5, .over = 0,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
};

static const struct fit_setting desc_setting[] = {
    {"q", "1/angstrom", "", 0.01, FIT_STATISTIC_NONE, 0},
};

static const struct fit_axis desc_axis[] = {
    {"phi", "deg", ""},
};

/* parameter sets within the bounds: the model has no random() */
static const double desc_screen[] = {
    199464.0, 0.351431, 0.0361694,
    668793.0, -0.591595, 0.334053,
    11.0461, 1.33749, 0.253232,
    515447.0, 0.249757, 0.763424,
    1392.21, 0.709986, 0.71114,
    1290.9, 0.517852, 0.76723,
    16.9111, 1.54805, 0.856935,
    9146.64, 1.79565, 0.335953,
    155253.0, 0.769417, 0.418837,
    33.0585, 0.945804, 0.931631,
    455072.0, -0.271413, 0.0583082,
    1.33432, 1.48264, 0.417551,
    34.2817, -0.217646, 0.435777,
    73.6418, 0.605723, 0.0846766,
    1.52847, -0.687594, 0.799008,
    357335.0, -0.191774, 0.416279,
    624.423, -0.506908, 0.891203,
    169860.0, -0.530733, 0.0248421,
    52301.7, 0.856984, 0.196199,
    72083.8, 1.87138, 0.751997,
    367950.0, 0.0735302, 0.249775,
    201707.0, -0.418758, 0.282355,
    35.6405, 0.692049, 0.207176,
    5151.51, 1.80219, 0.856946,
    149.658, 1.83843, 0.934338,
    173167.0, -0.433892, 0.77131,
    117817.0, 0.302551, 0.592577,
    45.3094, -0.19973, 0.277294,
    108.773, 0.498924, 0.777545,
    2721.6, -0.591636, 0.507037,
    6.18936, 1.56797, 0.573845,
    648.886, -0.835188, 0.0833295,
    227.722, 1.8023, 0.861935,
    17.4868, 0.566588, 0.550817,
    4.17066, 1.25575, 0.661109,
    106.265, 1.86025, 0.220204,
    5.46709, -0.298112, 0.42173,
    3.57124, 0.175509, 0.957889,
    42588.0, 1.94163, 0.81254,
    902.855, 0.835232, 0.503993,
    19.4793, 1.10761, 0.628425,
    32.8262, 0.930319, 0.784517,
    401.189, -0.686874, 0.600126,
    301415.0, -0.00601429, 0.907334,
    65.9952, 0.600212, 0.534894,
    958.408, -0.259765, 0.752088,
    43682.5, -0.269033, 0.495179,
    425.927, -0.783896, 0.894411,
    658151.0, 1.2026, 0.229326,
    1.64734, -0.600252, 0.273646,
    6.55279, 0.638707, 0.352725,
    2615.16, 1.0476, 0.72314,
    835492.0, 1.05063, 0.438169,
    72053.1, -0.0534509, 0.760645,
    96015.6, 1.11448, 0.335642,
    195627.0, 1.00744, 0.20261,
    13202.9, 1.70872, 0.0632511,
    1890.04, -0.491361, 0.786663,
    6.6917, -0.47967, 0.970352,
    58050.8, 0.551813, 0.0753051,
    11.6729, 0.812381, 0.737446,
    3.92716, 1.39249, 0.876819,
    34.2896, 0.823684, 0.31833,
    16.4278, -0.494627, 0.207107,
};

/* what data cannot tell apart */
static const unsigned desc_degenerate_0[] = {2};
static const struct fit_image desc_image_0[] = {{0, 0, -1}};
static const struct fit_degeneracy desc_degeneracy[] = {
    {.kind = FIT_DEGENERATE_MIRROR, .nparam = 1, .param = desc_degenerate_0, .image = desc_image_0,
     .condition = -1, .value = 0, .first = 0, .ncombination = 0, .each = 0,
     .held = -1, .proved = 0, .text = "width -> -width leaves the mean as it is"},
};

extern const struct fit_kernel FIT_KERNEL_SYMBOL;
const struct fit_kernel FIT_KERNEL_SYMBOL = {
    .abi = FIT_KERNEL_ABI,
    .name = "sums_pairs",
    .variant = "fast",
    .title = "Two-time, a distribution of rates",
    .formula = "",
    .reference = "",
    .source = "sums_pairs.lua",
    .hash = "01f360615b048b7593eda821df3662c43e4d55c4c41b917d202fc0f34d3baa41",
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
    .cost = {.per_frame = 36, .per_pair = 23, .per_pair_group = 38,
             .value_per_pair_group = 12, .functions_per_pair = 1},
    .table_doubles = 0,
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
};
