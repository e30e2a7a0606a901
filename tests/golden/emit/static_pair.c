/* static_pair.c -- written by homodyne-gen from static_pair.lua.  Edit the model, not this file.
 *
 * Diffusion with a rate that changes in time
 *
 *   theta      0  D0                   [angstrom^2/s]
 *              1  alpha                [1]
 *   lin        0  contrast             [1]
 *              1  offset               [1]
 *   setting    0  q                    [1/angstrom]
 *   group      0  phi                  [deg]
 *
 * cost of normal, operations: 40 per frame, 16 per pair, 13 per pair and group; of moments 7
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
    double *exp_u_D_i; /* exp of integral(D) * minus_two_q_sq */
    double *exp_u_D_j; /* the same for the second frame */
    double *int_D; /* integral(D) */
    double *int_D_low; /* what its rounding left */
    double *minus_two_q_sq; /* -2 * q^2 */
    double *int_dD_dD0; /* integral(dD_dD0) */
    double *int_dD_dalpha; /* integral(dD_dalpha) */
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
    const size_t nt = fit_padded(l->ntime);
    const size_t nf = fit_padded(l->nframe);
    size_t n = 0;
    w->time_grid = base + n, n += nt;
    w->exp_u_D_i = base + n, n += fit_padded(nf);
    w->exp_u_D_j = base + n, n += fit_padded(nf);
    w->int_D = base + n, n += fit_padded(nf);
    w->int_D_low = base + n, n += fit_padded(nf);
    w->minus_two_q_sq = base + n, n += fit_padded(8);
    w->int_dD_dD0 = base + n, n += fit_padded(nf);
    w->int_dD_dalpha = base + n, n += fit_padded(nf);
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
    const size_t nt = fit_padded(l->ntime);
    struct tables w;
    carve(l, ws, &w);
    const double D0 = theta[0]; /* [angstrom^2/s] */
    const double alpha = theta[1]; /* [1] */
    const double q = l->setting[0]; /* [1/angstrom] */

    /* scalars of the call and of the groups */
    {
        /* static_pair.lua:16: mean = offset + contrast * exp(-2 * q^2 * integral(D, t1, t2)), */
        w.minus_two_q_sq[0] = -2.0*q*q;
    }

    if (derivative >= 0) { /* functions of time and their integrals */
        for (size_t k = 0; k < nt; k++)
            w.time_grid[k] = l->time[k < l->ntime ? k : l->ntime - 1];
        {
            /* static_pair.lua:14: local D = D0 * (floor_at(t, t.step / 2) / second)^alpha */
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
        fit_exp_tables_scaled(l, w.minus_two_q_sq[0], w.int_D, w.int_D_low, w.exp_u_D_i, w.exp_u_D_j);
    }

    if (derivative) { /* tangents: the same integrals of the derivatives */
        {
            /* static_pair.lua:14: local D = D0 * (floor_at(t, t.step / 2) / second)^alpha */
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
    fit_vd b_contrast;
    if (!exps[0 * ng].direct)
        b_contrast = fit_vload(w->exp_u_D_j + j) * (w->exp_u_D_i[i] * exps[0 * ng].middle);
    else
        b_contrast = fit_vexp(w->minus_two_q_sq[0] * fit_delta_low(w->int_D, w->int_D_low, j, i));
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
    struct fit_exp_tile *exps = (struct fit_exp_tile *)(sums + 3 * ng);
    size_t at = 0;
    for (size_t k = 0; k < 3 * ng; k++)
        sums[k] = (fit_vd){0};
    exps[0 * ng] = fit_exp_tile_scaled(l, t, w->minus_two_q_sq[0], w->int_D, w->int_D_low);
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

enum { PIECES = FIT_LANES / FIT_VL, COLUMNS = 2, ROWS = 2, ROW_SUMS = 4, SUMS = 5, FIELDS = 2,
       ALONG_SUMS = 0, COLUMN_SUMS = 0, PAIRS = 2, CHANNELS_R = 2, MOMENT_SUMS = 4 };
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
    fit_vd b_contrast;
    if (!exps[0 * ng].direct)
        b_contrast = fit_vload(w->exp_u_D_j + j) * (w->exp_u_D_i[i] * exps[0 * ng].middle);
    else
        b_contrast = fit_vexp(w->minus_two_q_sq[0] * fit_delta_low(w->int_D, w->int_D_low, j, i));
    pair[0] = b_contrast;
    pair[1] = b_contrast*b_contrast;
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
    const double minus_two_q_sq = w->minus_two_q_sq[0];
    const double minus_contrast_two_q_sq = contrast*minus_two_q_sq;
    fit_vd row0 = row[0];
    fit_vd row1 = row[1];
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
        const fit_vd b_contrast_sq = at_pair[1];
        const fit_vd r = fit_kept(masked, use, y - (contrast*b_contrast + offset));
        at_m[0] = fit_weighted(masked, root, fit_kept(masked, use,
                minus_contrast_two_q_sq*b_contrast)); /* m_D */
        at_m[1] = fit_weighted(masked, root, r);
        const fit_vd s0 = fit_counted(masked, use, weight, b_contrast_sq); /* contrast: b m_D */
        at_column[0] += s0;
        row0 += s0;
        const fit_vd s1 = fit_counted(masked, use, weight, b_contrast); /* offset: b m_D */
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
    for (size_t g = 0; g < n; g++) {
        const fit_vd *x = m + g * CHANNELS_R;
        s0 += x[0]*x[0]; /* F_D_D */
        s1 += x[0]*x[1]; /* G_D */
    }
    field[0] = s0;
    field[1] = s1;
}

/* The fields of n vectors of pairs (i, j0 ..) times the tables: added to the sums H of J^T J and J^T r, and
 * to the sums along the row and down the columns that get their other factor later. */
FIT_LARGE void contract(const struct tables *w, size_t i, size_t j0, size_t n, const fit_vd *restrict field,
                        fit_vd *restrict H, fit_vd *restrict row, fit_vd *restrict column)
{
    { /* D x D, D x residual */
        const double u_D_D0_i = w->int_dD_dD0[i];
        const double u_D_alpha_i = w->int_dD_dalpha[i];
        fit_vd s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0};
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
        }
        H[0] += s0; /* D0, D0 */
        H[1] += s1; /* D0, alpha */
        H[2] += s2; /* alpha, alpha */
        H[3] += s3; /* J^T r: D0 */
        H[4] += s4; /* J^T r: alpha */
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
            s0 += r[0]*w->int_dD_dD0[i];
            s1 += r[0]*w->int_dD_dalpha[i];
            r[0] = (fit_vd){0};
            s2 += r[1]*w->int_dD_dD0[i];
            s3 += r[1]*w->int_dD_dalpha[i];
            r[1] = (fit_vd){0};
        }
        s[0] = s0;
        s[1] = s1;
        s[2] = s2;
        s[3] = s3;
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
    exps[0 * ng] = fit_exp_tile_scaled(l, t, w->minus_two_q_sq[0], w->int_D, w->int_D_low);
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

    for (size_t k = 0; k < 5; k++)
        out[k] = fit_vsum(H[k]);
    double *V = out + 5;
    for (size_t g = 0; g < ng; g++, V += 4) {
        const fit_vd *at_rows = row_sum + g * ROW_SUMS;
        const fit_vd *columns = column + g * pieces * COLUMNS;
        const double contrast = lin[g * 2 + 0];
        const double minus_two_q_sq = w->minus_two_q_sq[0];
        const double minus_contrast_two_q_sq = contrast*minus_two_q_sq;
        V[0] = 0.0;
        V[1] = 0.0;
        V[2] = 0.0;
        V[3] = 0.0;
        V[0] += minus_contrast_two_q_sq * fit_column_sum(columns + 0, COLUMNS, pieces, w->int_dD_dD0
                + t->j0, at_rows + 0);
        V[1] += minus_contrast_two_q_sq * fit_column_sum(columns + 0, COLUMNS, pieces,
                w->int_dD_dalpha + t->j0, at_rows + 1);
        V[2] += minus_contrast_two_q_sq * fit_column_sum(columns + 1, COLUMNS, pieces, w->int_dD_dD0
                + t->j0, at_rows + 2);
        V[3] += minus_contrast_two_q_sq * fit_column_sum(columns + 1, COLUMNS, pieces,
                w->int_dD_dalpha + t->j0, at_rows + 3);
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
    fit_vd b_contrast;
    if (!exps[0 * ng].direct)
        b_contrast = fit_vload(w->exp_u_D_j + j) * (w->exp_u_D_i[i] * exps[0 * ng].middle);
    else
        b_contrast = fit_vexp(w->minus_two_q_sq[0] * fit_delta_low(w->int_D, w->int_D_low, j, i));
    const double minus_two_q_sq = w->minus_two_q_sq[0];
    const fit_vd b_contrast_prod = minus_two_q_sq*b_contrast;
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
    const fit_vd a_D = fit_kept(masked, lanes, b_contrast_prod*F0);
    column[0] += a_D;
    row[0] += a_D;
}

enum { CHANNELS = 1, GRADIENT_SUMS = 2, GRADIENT_EXPS = 2 };

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
    exps[0 * ng] = fit_exp_tile_scaled(l, t, w->minus_two_q_sq[0], w->int_D, w->int_D_low);
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
        row[0] = (fit_vd){0};
    }
    for (size_t k = 0; k < pieces; k++)
        sum[0] += column[k * CHANNELS + 0]*fit_vload(w->int_dD_dD0 + t->j0 + k * FIT_VL);
    for (size_t k = 0; k < pieces; k++)
        sum[1] += column[k * CHANNELS + 0]*fit_vload(w->int_dD_dalpha + t->j0 + k * FIT_VL);
    for (size_t k = 0; k < 2; k++)
        out[k] = fit_vsum(sum[k]);
}

/* Pairs (i, 8b .. 8b+7): the mean of every group. */
FIT_INLINE void model_block(const struct fit_layout *l, const struct tables *w, const double *lin, size_t i,
                            size_t b, size_t h, double *out)
{
    const size_t ng = l->ngroup;
    const size_t j = b * FIT_LANES + h;
    const fit_vd b_contrast = fit_vexp(w->minus_two_q_sq[0] * fit_delta_low(w->int_D, w->int_D_low, j, i));
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
        const fit_vd d_int_D = fit_pick_change_low(w.int_D, w.int_D_low, &at);
        /* static_pair.lua:16: mean = offset + contrast * exp(-2 * q^2 * integral(D, t1, t2)), */
        const fit_vd exp_D = fit_vexp(d_int_D*w.minus_two_q_sq[0]);            /* [1] */
        fit_store_points(mean + p, at.n, contrast*exp_D + offset);
        if (!jac)
            continue;
        fit_vd J[4];
        const fit_vd m_D = contrast*w.minus_two_q_sq[0]*exp_D; /* d mean / d integral of D */
        J[0] = m_D*fit_pick_change(w.int_dD_dD0, &at); /* D0 */
        J[1] = m_D*fit_pick_change(w.int_dD_dalpha, &at); /* alpha */
        J[2] = exp_D; /* contrast */
        J[3] = fit_vset1(1.0); /* offset */
        fit_store_columns(jac + p, stride, 4, at.n, J);
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
    for (size_t k = 0; k < n; k++) {
        /* static_pair.lua:14: local D = D0 * (floor_at(t, t.step / 2) / second)^alpha */
        const double half_step = 0.5*l->step;                                  /* [s] */
        const double t_choice = ((l->time[k] <= half_step) ? half_step : l->time[k]); /* [s] */
        const double dD_dD0 = pow(t_choice, alpha);                            /* [1] */
        const double D = D0*dD_dD0;                                            /* [angstrom^2/s] */
        value[0 * n + k] = D; /* D */
        if (!tangent)
            continue;
        tangent[0 * n + k] = dD_dD0;
        const double dD_dalpha = D0*dD_dD0*log(t_choice);                      /* [angstrom^2/s] */
        tangent[1 * n + k] = dD_dalpha;
    }
}

/* ---- description ----------------------------------------------------------------------------------- */

static const struct fit_param desc_param[] = {
    {.name = "D0", .unit = "angstrom^2/s", .doc = "at 1 s",
     .start = 1000.0, .lower = 1.0, .upper = 1000000.0, .over = -1,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "alpha", .unit = "1", .doc = "exponent",
     .start = 0.0, .lower = -2.0, .upper = 2.0, .over = -1,
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

static const struct fit_curve desc_curve[] = {
    {"D", "angstrom^2/s", "diffusion coefficient"},
};

/* parameter sets within the bounds: the model has no random() */
static const double desc_screen[] = {
    199464.0, -0.273888,
    1.4408, 1.88353,
    4.3459, -0.690697,
    11.0461, 1.08619,
    29.7943, 1.80812,
    239.226, 1.04414,
    1392.21, 0.22067,
    17755.5, 0.0739287,
    858.001, 1.05951,
    16.9111, 1.37662,
    135812.0, 0.640841,
    377750.0, -0.683019,
    155253.0, 0.302644,
    300.469, -0.987145,
    6590.28, 1.72376,
    455072.0, -1.13298,
    1.96235, -1.91649,
    85036.8, -0.353329,
    34.2817, -1.05882,
    380.597, -0.75525,
    1304.04, -1.69828,
    1.52847, -1.70703,
    60515.8, 1.70205,
    29.1941, -0.35847,
    624.423, -1.4578,
    219090.0, 1.48673,
    5.80765, -1.94003,
    52301.7, 0.423427,
    13.4425, 1.23856,
    541875.0, 0.997966,
    367950.0, -0.6572,
    28.3912, 1.53648,
    9.90086, -0.899575,
    35.6405, 0.19593,
    15.6678, 0.474623,
    389710.0, 1.422,
    149.658, 1.77714,
    399990.0, 1.49231,
    9.21217, 1.076,
    117817.0, -0.341309,
    3394.48, -0.895875,
    28.1083, -0.920024,
    108.773, -0.0704493,
    44852.6, 0.289882,
    4.34504, 0.00822868,
    6.18936, 1.4041,
    2613.62, -0.125221,
    1.36174, -1.70372,
    227.722, 1.72731,
    145627.0, -1.17153,
    1082.23, 0.18512,
    4.17066, 0.973455,
    8833.18, -0.649072,
    513869.0, -1.15069,
    5.46709, -1.16981,
    312.847, -1.63145,
    167.954, 1.82985,
    42588.0, 1.91949,
    73093.3, -0.0295879,
    3891.66, -0.00406702,
    19.4793, 0.769115,
    5597.97, -0.989187,
    6121.63, 1.12936,
    401.189, -1.70603,
};

extern const struct fit_kernel FIT_KERNEL_SYMBOL;
const struct fit_kernel FIT_KERNEL_SYMBOL = {
    .abi = FIT_KERNEL_ABI,
    .name = "static_pair",
    .variant = "fast",
    .title = "Diffusion with a rate that changes in time",
    .formula = "",
    .reference = "",
    .source = "static_pair.lua",
    .hash = "acdca8fd1123d92e3c4539b025624b9cf74aedd70d402b65de293e8d72fef3f7",
    .isa = FIT_KERNEL_ISA,
    .space = FIT_PAIRS,
    .raw = 1,
    .nparam = 2,
    .param = desc_param,
    .nlinear = 2,
    .linear = desc_linear,
    .intercept = 1,
    .nsetting = 1,
    .setting = desc_setting,
    .naxis = 1,
    .axis = desc_axis,
    .ncurve = 1,
    .curve = desc_curve,
    .nscreen = 64,
    .screen = desc_screen,
    .cost = {.per_frame = 40, .per_pair = 16, .per_pair_group = 13,
             .value_per_pair_group = 7, .functions_per_pair = 0},
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
