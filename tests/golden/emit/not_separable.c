/* not_separable.c -- written by homodyne-gen from not_separable.lua.  Edit the model, not this file.
 *
 * Stretched exponential of an integral
 *
 *   theta      0  rate                 [1/s]
 *              1  decay                [1/s]
 *              2  beta                 [1]
 *   lin        0  contrast             [1]
 *              1  offset               [1]
 *   group      0  phi                  [deg]
 *
 * cost of normal, operations: 36 per frame, 35 per pair, 24 per pair and group; of moments 7
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
    double *int_t_prod; /* integral(rate * exp(-t * decay)) */
    double *int_t_prod_low; /* what its rounding left */
    double *beta; /* beta */
    double *int_exp_minus_t_decay; /* integral(exp(-t * decay)) */
    double *int_t_prod_2; /* integral(-t * rate * exp(-t * decay)) */
    double *beta_minus_one; /* beta - 1 */
    double *minus_beta; /* -beta */
    double *exp_minus_t_decay_grid; /* exp(-decay * t) */
    double *rate_exp_minus_t_decay_grid; /* rate * exp(-decay * t) */
    double *int_t_prod_grid; /* integral(rate * exp(-t * decay)) */
    double *int_t_prod_grid_low; /* what its rounding left */
    double *int_exp_minus_t_decay_grid; /* integral(exp(-t * decay)) */
    double *t_prod_grid; /* -t * rate * exp(-t * decay) */
    double *int_t_prod_grid_2; /* integral(-t * rate * exp(-t * decay)) */
};

FIT_INLINE size_t carve(const struct fit_layout *l, double *base, struct tables *w)
{
    const size_t nt = fit_padded(l->ntime);
    const size_t nf = fit_padded(l->nframe);
    size_t n = 0;
    w->time_grid = base + n, n += nt;
    w->int_t_prod = base + n, n += fit_padded(nf);
    w->int_t_prod_low = base + n, n += fit_padded(nf);
    w->beta = base + n, n += fit_padded(8);
    w->int_exp_minus_t_decay = base + n, n += fit_padded(nf);
    w->int_t_prod_2 = base + n, n += fit_padded(nf);
    w->beta_minus_one = base + n, n += fit_padded(8);
    w->minus_beta = base + n, n += fit_padded(8);
    w->exp_minus_t_decay_grid = base + n, n += fit_padded(nt);
    w->rate_exp_minus_t_decay_grid = base + n, n += fit_padded(nt);
    w->int_t_prod_grid = base + n, n += fit_padded(nt);
    w->int_t_prod_grid_low = base + n, n += fit_padded(nt);
    w->int_exp_minus_t_decay_grid = base + n, n += fit_padded(nt);
    w->t_prod_grid = base + n, n += fit_padded(nt);
    w->int_t_prod_grid_2 = base + n, n += fit_padded(nt);
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
    const size_t nt = fit_padded(l->ntime);
    struct tables w;
    carve(l, ws, &w);
    const double rate = theta[0]; /* [1/s] */
    const double decay = theta[1]; /* [1/s] */
    const double beta = theta[2]; /* [1] */

    /* scalars of the call and of the groups */
    {
        /* not_separable.lua:9: local beta  = m.parameter("beta", { start = 1, bounds = {0.3, 2}, doc = ... */
        w.beta[0] = beta;
        /* not_separable.lua:16: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * exp( ... */
        w.beta_minus_one[0] = w.beta[0] - 1.0;
        w.minus_beta[0] = -w.beta[0];
    }

    if (derivative >= 0) { /* functions of time and their integrals */
        for (size_t k = 0; k < nt; k++)
            w.time_grid[k] = l->time[k < l->ntime ? k : l->ntime - 1];
        {
            for (size_t k = 0; k < nt; k += FIT_VL) {
                fit_vstore(w.rate_exp_minus_t_decay_grid + k, rate*fit_vexp(-fit_vload(w.time_grid + k)*decay));
            }
        }
        fit_trapezoids(l->ntime, l->time, 1, (const struct fit_integral[]){
            {w.rate_exp_minus_t_decay_grid, w.int_t_prod_grid, w.int_t_prod_grid_low},
        });
        fit_gather(l, w.int_t_prod_grid, w.int_t_prod);
        fit_gather(l, w.int_t_prod_grid_low, w.int_t_prod_low);

        /* factored forms */
    }

    if (derivative) { /* tangents: the same integrals of the derivatives */
        {
            for (size_t k = 0; k < nt; k += FIT_VL) {
                /* not_separable.lua:15: local x = integral(rate * exp(-decay * t), t1, t2) */
                const fit_vd exp_minus_t_decay = fit_vexp(-fit_vload(w.time_grid + k)*decay); /* [1] */
                fit_vstore(w.exp_minus_t_decay_grid + k, exp_minus_t_decay);
                fit_vstore(w.t_prod_grid + k, -fit_vload(w.time_grid + k)*rate*exp_minus_t_decay);
            }
        }
        fit_trapezoids(l->ntime, l->time, 2, (const struct fit_integral[]){
            {w.exp_minus_t_decay_grid, w.int_exp_minus_t_decay_grid, NULL},
            {w.t_prod_grid, w.int_t_prod_grid_2, NULL},
        });
        fit_gather(l, w.int_exp_minus_t_decay_grid, w.int_exp_minus_t_decay);
        fit_gather(l, w.int_t_prod_grid_2, w.int_t_prod_2);
    }
    double check = 0.0; /* NaN where a table is not finite */
    check += 0.0 * w.int_t_prod[l->nframe - 1];
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
    const fit_vd x = fit_delta_low(w->int_t_prod, w->int_t_prod_low, j, i);
    const double beta = w->beta[0];
    /* not_separable.lua:16: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * exp(-x^b ... */
    const fit_vd b_contrast = fit_vexp(-fit_vpow(x, fit_vset1(beta)));         /* [1] */
    for (size_t g = 0; g < ng; g++) {
        fit_vm use = lanes;
        fit_vd weight = {0};
        if (masked) {
            weight = t->w ? fit_vload(t->w + at + g * FIT_LANES + h) : fit_vset1(1.0);
            use &= weight > 0.0;
        }
        const fit_vd y = fit_data(data + g * FIT_LANES + h, 64 * FIT_LANES);
        fit_vd *restrict sum = sums + g * 3;
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
       ALONG_SUMS = 0, COLUMN_SUMS = 0, PAIRS = 5, CHANNELS_R = 3, MOMENT_SUMS = 4 };
/* A strip is so many blocks of a row; so many groups are kept before their products are
 * summed, so many rows before their sums are multiplied by tables. */
enum { STRIP = 8, BATCH = 8, KEPT = 4 };

/* Pairs (i, 8b .. 8b+7): what does not depend on the group. */
FIT_INLINE void normal_pair(const struct fit_layout *l, const struct tables *w,
                            const struct fit_exp_tile *exps, size_t i, size_t b, size_t h,
                            fit_vd *restrict pair)
{
    const size_t j = b * FIT_LANES + h;
    const fit_vd x = fit_delta_low(w->int_t_prod, w->int_t_prod_low, j, i);
    const double beta = w->beta[0];
    fit_vd log_x_low;
    const fit_vd log_x = fit_vlog_low(x, &log_x_low);
    /* not_separable.lua:16: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * exp(-x^b ... */
    const fit_vd x_to_beta = fit_vpow_of_log(x, fit_vset1(beta), log_x, log_x_low); /* [1] */
    const fit_vd b_contrast = fit_vexp(-x_to_beta);                            /* [1] */
    pair[0] = b_contrast;
    const double beta_minus_one = w->beta_minus_one[0];
    const fit_vd x_power = fit_vpow_of_log(x, fit_vset1(beta_minus_one), log_x, log_x_low); /* [1] */
    const fit_vd exp_x = fit_vexp(-2.0*x_to_beta);                             /* [1] */
    pair[1] = x_power*exp_x;
    pair[2] = b_contrast*x_power;
    const fit_vd x_to_beta_log_x = x_to_beta*log_x;                            /* [1] */
    pair[3] = b_contrast*x_to_beta_log_x;
    pair[4] = x_to_beta_log_x*exp_x;
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
    const double minus_beta = w->minus_beta[0];
    const double minus_contrast_beta = contrast*minus_beta;
    const double minus_contrast = -contrast;                                   /* [1] */
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
        const fit_vd b_contrast = at_pair[0];
        const fit_vd x_prod = at_pair[1];
        const fit_vd b_contrast_x_prod = at_pair[2];
        const fit_vd b_contrast_x_prod_2 = at_pair[3];
        const fit_vd x_prod_2 = at_pair[4];
        const fit_vd r = fit_kept(masked, use, y - (contrast*b_contrast + offset));
        at_m[0] = fit_weighted(masked, root, fit_kept(masked, use,
                minus_contrast_beta*b_contrast_x_prod)); /* m_1 */
        at_m[1] = fit_weighted(masked, root, fit_kept(masked, use,
                minus_contrast*b_contrast_x_prod_2)); /* m_beta */
        at_m[2] = fit_weighted(masked, root, r);
        const fit_vd s0 = fit_counted(masked, use, weight, x_prod); /* contrast: b m_1 */
        at_column[0] += s0;
        row0 += s0;
        const fit_vd s1 = fit_counted(masked, use, weight, x_prod_2); /* contrast: b m_beta */
        row1 += s1;
        const fit_vd s2 = fit_counted(masked, use, weight, b_contrast_x_prod); /* offset: b m_1 */
        at_column[1] += s2;
        row2 += s2;
        const fit_vd s3 = fit_counted(masked, use, weight, b_contrast_x_prod_2); /* offset: b m_beta */
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
        s0 += x[0]*x[0]; /* F_1_1 */
        s1 += x[0]*x[1]; /* F_1_beta */
        s3 += x[0]*x[2]; /* G_1 */
        s2 += x[1]*x[1]; /* F_beta_beta */
        s4 += x[1]*x[2]; /* G_beta */
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
    { /* 1 x 1, 1 x beta, 1 x residual, beta x beta, beta x residual */
        const double u_1_rate_i = w->int_exp_minus_t_decay[i];
        const double u_1_decay_i = w->int_t_prod_2[i];
        fit_vd s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
        fit_vd s8 = {0};
        for (size_t k = 0, j = j0; k < n; k++, j += FIT_VL) {
            const fit_vd *F = field + k * FIELDS;
            const fit_vd u_1_rate = fit_vload(w->int_exp_minus_t_decay + j) - u_1_rate_i;
            const fit_vd u_1_decay = fit_vload(w->int_t_prod_2 + j) - u_1_decay_i;
            const fit_vd p0_0 = F[0]*u_1_rate;
            s0 += u_1_rate*p0_0;
            const fit_vd p0_1 = F[0]*u_1_decay;
            s1 += u_1_rate*p0_1;
            s2 += u_1_decay*p0_1;
            s3 += u_1_rate*F[1];
            s4 += u_1_decay*F[1];
            s5 += u_1_rate*F[3];
            s6 += u_1_decay*F[3];
            s7 += F[2];
            s8 += F[4];
        }
        H[0] += s0; /* rate, rate */
        H[1] += s1; /* rate, decay */
        H[3] += s2; /* decay, decay */
        H[2] += s3; /* rate, beta */
        H[4] += s4; /* decay, beta */
        H[6] += s5; /* J^T r: rate */
        H[7] += s6; /* J^T r: decay */
        H[5] += s7; /* beta, beta */
        H[8] += s8; /* J^T r: beta */
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
            s0 += r[0]*w->int_exp_minus_t_decay[i];
            s1 += r[0]*w->int_t_prod_2[i];
            r[0] = (fit_vd){0};
            s2 += r[1];
            r[1] = (fit_vd){0};
            s3 += r[2]*w->int_exp_minus_t_decay[i];
            s4 += r[2]*w->int_t_prod_2[i];
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
        const double minus_beta = w->minus_beta[0];
        const double minus_contrast_beta = contrast*minus_beta;
        const double minus_contrast = -contrast;                               /* [1] */
        V[0] = 0.0;
        V[1] = 0.0;
        V[2] = 0.0;
        V[3] = 0.0;
        V[4] = 0.0;
        V[5] = 0.0;
        V[0] += minus_contrast_beta * fit_column_sum(columns + 0, COLUMNS, pieces,
                w->int_exp_minus_t_decay + t->j0, at_rows + 0);
        V[1] += minus_contrast_beta * fit_column_sum(columns + 0, COLUMNS, pieces, w->int_t_prod_2
                + t->j0, at_rows + 1);
        V[2] += minus_contrast * fit_vsum(at_rows[2]);
        V[3] += minus_contrast_beta * fit_column_sum(columns + 1, COLUMNS, pieces,
                w->int_exp_minus_t_decay + t->j0, at_rows + 3);
        V[4] += minus_contrast_beta * fit_column_sum(columns + 1, COLUMNS, pieces, w->int_t_prod_2
                + t->j0, at_rows + 4);
        V[5] += minus_contrast * fit_vsum(at_rows[5]);
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
    const fit_vd x = fit_delta_low(w->int_t_prod, w->int_t_prod_low, j, i);
    const double beta = w->beta[0];
    fit_vd log_x_low;
    const fit_vd log_x = fit_vlog_low(x, &log_x_low);
    /* not_separable.lua:16: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * exp(-x^b ... */
    const fit_vd x_to_beta = fit_vpow_of_log(x, fit_vset1(beta), log_x, log_x_low); /* [1] */
    const fit_vd b_contrast = fit_vexp(-x_to_beta);                            /* [1] */
    const double minus_beta = w->minus_beta[0];
    const double beta_minus_one = w->beta_minus_one[0];
    const fit_vd b_contrast_x_prod = minus_beta*b_contrast*fit_vpow_of_log(x,
            fit_vset1(beta_minus_one), log_x, log_x_low);
    const fit_vd x_b_contrast_prod = -x_to_beta*b_contrast*log_x;              /* [1] */
    fit_vd F0 = {0};
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
        const fit_vd r = y - (at_lin[0]*b_contrast + at_lin[1]); /* residual */
        const fit_vd seed_contrast = (seeds[0]*at_lin[0])*r - (seeds[1]*b_contrast + seeds[2]);
        F0 += fit_counted(masked, use, weight, seed_contrast);
    }

    /* products with what does not depend on the group */
    const fit_vd a_1 = fit_kept(masked, lanes, b_contrast_x_prod*F0);
    column[0] += a_1;
    row[0] += a_1;
    const fit_vd a_beta = fit_kept(masked, lanes, x_b_contrast_prod*F0);
    row[1] += a_beta;
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
        sum[0] -= row[0]*w->int_exp_minus_t_decay[i];
        sum[1] -= row[0]*w->int_t_prod_2[i];
        row[0] = (fit_vd){0};
    }
    for (size_t k = 0; k < pieces; k++)
        sum[0] += column[k * CHANNELS + 0]*fit_vload(w->int_exp_minus_t_decay + t->j0 + k * FIT_VL);
    for (size_t k = 0; k < pieces; k++)
        sum[1] += column[k * CHANNELS + 0]*fit_vload(w->int_t_prod_2 + t->j0 + k * FIT_VL);
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
    const fit_vd x = fit_delta_low(w->int_t_prod, w->int_t_prod_low, j, i);
    const double beta = w->beta[0];
    /* not_separable.lua:16: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * exp(-x^b ... */
    const fit_vd b_contrast = fit_vexp(-fit_vpow(x, fit_vset1(beta)));         /* [1] */
    for (size_t g = 0; g < ng; g++) {
        const double contrast = lin[g * 2 + 0];
        const double offset = lin[g * 2 + 1];
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
        const fit_vd x = fit_pick_change_low(w.int_t_prod, w.int_t_prod_low, &at);
        fit_vd log_x_low;
        const fit_vd log_x = fit_vlog_low(x, &log_x_low);
        /* not_separable.lua:16: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * exp( ... */
        const fit_vd x_to_beta = fit_vpow_of_log(x, fit_vset1(w.beta[0]), log_x, log_x_low); /* [1] */
        const fit_vd b_contrast = fit_vexp(-x_to_beta);                        /* [1] */
        fit_store_points(mean + p, at.n, contrast*b_contrast + offset);
        if (!jac)
            continue;
        fit_vd J[5];
        const fit_vd m_1 = contrast*b_contrast*fit_vpow_of_log(x, fit_vset1(w.beta_minus_one[0]),
                log_x, log_x_low)*w.minus_beta[0]; /* d mean / d integral of 1 */
        J[0] = m_1*fit_pick_change(w.int_exp_minus_t_decay, &at); /* rate */
        J[1] = m_1*fit_pick_change(w.int_t_prod_2, &at); /* decay */
        J[2] = -contrast*x_to_beta*b_contrast*log_x; /* beta */
        J[3] = b_contrast; /* contrast */
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
    {.name = "rate", .unit = "1/s", .doc = "at the start",
     .start = 0.1, .lower = 0.001, .upper = 10.0, .over = -1,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "decay", .unit = "1/s", .doc = "of the rate",
     .start = 0.1, .lower = 0.0, .upper = 10.0, .over = -1,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "beta", .unit = "1", .doc = "stretching exponent",
     .start = 1.0, .lower = 0.3, .upper = 2.0, .over = -1,
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
    3.41384, 4.31528, 0.344937,
    7.64765, 1.06347, 0.856454,
    0.00495988, 7.71547, 0.717671,
    6.42869, 3.96468, 1.59376,
    0.124682, 5.55168, 1.50398,
    0.118557, 4.88915, 1.60029,
    0.00658842, 8.44155, 1.75433,
    0.437362, 9.29534, 0.859717,
    2.88864, 5.75661, 1.00204,
    0.0103004, 6.36484, 1.8826,
    5.91634, 2.16754, 0.382954,
    0.00121201, 8.21601, 0.999835,
    0.010553, 2.35294, 1.03113,
    0.0175691, 5.19215, 0.428233,
    0.0013269, 0.732435, 1.65486,
    5.03559, 2.44216, 0.99765,
    0.0730555, 1.35549, 1.81318,
    3.0671, 1.27333, 0.325486,
    1.39855, 6.05857, 0.619736,
    1.73204, 9.5565, 1.57414,
    5.13482, 3.357, 0.711735,
    3.43938, 1.65946, 0.767681,
    0.01083, 5.48983, 0.638585,
    0.298279, 9.3179, 1.75435,
    0.0281882, 9.44286, 1.88725,
    3.10678, 1.60727, 1.6073,
    2.40329, 4.14673, 1.30039,
    0.0127094, 2.41473, 0.75899,
    0.0227866, 4.82388, 1.61801,
    0.194932, 1.06332, 1.1535,
    0.00337104, 8.51025, 1.26822,
    0.0749512, 0.223491, 0.425919,
    0.0372909, 9.31826, 1.76292,
    0.00673711, 5.0572, 1.22868,
    0.00259101, 7.43364, 1.41807,
    0.0224351, 9.51809, 0.660956,
    0.0031034, 2.07548, 1.00701,
    0.00233639, 3.70865, 1.92769,
    1.21953, 9.79873, 1.6781,
    0.093414, 5.98356, 1.14827,
    0.00723962, 6.92279, 1.36194,
    0.0102521, 6.31145, 1.62998,
    0.0543959, 0.734918, 1.31335,
    4.49549, 3.08271, 1.84088,
    0.0163308, 5.17315, 1.20133,
    0.0972076, 2.20771, 1.57429,
    1.24033, 2.17575, 1.13313,
    0.0566096, 0.400357, 1.81869,
    7.56631, 7.25034, 0.67662,
    0.00139483, 1.03362, 0.752726,
    0.00350174, 5.30588, 0.888517,
    0.189816, 6.71585, 1.52458,
    8.87077, 6.7263, 1.03524,
    1.73155, 2.91913, 1.58899,
    2.09682, 6.94649, 0.859184,
    3.36992, 6.57737, 0.630744,
    0.558616, 8.99557, 0.391441,
    0.152867, 1.4091, 1.63366,
    0.00355106, 1.44941, 1.94909,
    1.49924, 5.00625, 0.41214,
    0.00514578, 5.90476, 1.54915,
    0.00248916, 7.90515, 1.78848,
    0.0105546, 5.94374, 0.829455,
    0.00646228, 1.39784, 0.638467,
};

extern const struct fit_kernel FIT_KERNEL_SYMBOL;
const struct fit_kernel FIT_KERNEL_SYMBOL = {
    .abi = FIT_KERNEL_ABI,
    .name = "not_separable",
    .variant = "fast",
    .title = "Stretched exponential of an integral",
    .formula = "",
    .reference = "",
    .source = "not_separable.lua",
    .hash = "64c91b01f0f26e7c2e18819840e6d2bfc79f5f9e8ac6e1f20fef970ee163f6ff",
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
    .cost = {.per_frame = 36, .per_pair = 35, .per_pair_group = 24,
             .value_per_pair_group = 7, .functions_per_pair = 5},
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
};
