/* ballistic_aging.c -- written by homodyne-gen from ballistic_aging.lua.  Edit the model, not this file.
 *
 * Two-time correlation with a compressed relaxation that slows down with the age of the sample
 *
 *     c2(phi, t1, t2) = offset + contrast exp(-2 ((t2 - t1)/tau)^gamma)
 *     tau(age) = tau_ref (age/age_ref)^mu,   age = age_start + (t1 + t2)/2
 *
 *   theta      0  tau_ref              [s]
 *              1  mu                   [1]
 *              2  gamma                [1]
 *   lin        0  contrast             [1]
 *              1  offset               [1]
 *   setting    0  age_start            [s]
 *              1  age_ref              [s]
 *   group      0  phi                  [deg]
 *
 * cost of normal, operations: 12 per frame, 43 per pair, 37 per pair and group; of moments 7
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
    double *inv_tau_ref; /* 1/tau_ref */
    double *t; /* t */
    double *inv_age_ref; /* 1/age_ref */
    double *age_start; /* age_start */
    double *half_t; /* 0.5 * t */
    double *scale; /* step / 4 */
    double *minus_mu; /* -mu */
    double *gamma; /* gamma */
    double *gamma_minus_one; /* gamma - 1 */
    double *inv_tau_ref_gamma_prod; /* -2 * inv_tau_ref * gamma */
    double *minus_two_gamma; /* -2 * gamma */
    double *dinv_tau_ref_dtau_ref; /* -1 / tau_ref^2 */
    double *half_t_grid; /* 0.5 * t */
};

FIT_INLINE size_t carve(const struct fit_layout *l, double *base, struct tables *w)
{
    const size_t nt = fit_padded(l->ntime);
    const size_t nf = fit_padded(l->nframe);
    size_t n = 0;
    w->time_grid = base + n, n += nt;
    w->inv_tau_ref = base + n, n += fit_padded(8);
    w->t = base + n, n += fit_padded(nf);
    w->inv_age_ref = base + n, n += fit_padded(8);
    w->age_start = base + n, n += fit_padded(8);
    w->half_t = base + n, n += fit_padded(nf);
    w->scale = base + n, n += fit_padded(8);
    w->minus_mu = base + n, n += fit_padded(8);
    w->gamma = base + n, n += fit_padded(8);
    w->gamma_minus_one = base + n, n += fit_padded(8);
    w->inv_tau_ref_gamma_prod = base + n, n += fit_padded(8);
    w->minus_two_gamma = base + n, n += fit_padded(8);
    w->dinv_tau_ref_dtau_ref = base + n, n += fit_padded(8);
    w->half_t_grid = base + n, n += fit_padded(nt);
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
    const double tau_ref = theta[0]; /* [s] */
    const double mu = theta[1]; /* [1] */
    const double gamma_ = theta[2]; /* [1] */
    const double age_start = l->setting[0]; /* [s] */
    const double age_ref = l->setting[1]; /* [s] */

    /* scalars of the call and of the groups */
    {
        /* ballistic_aging.lua:19: local age_start = m.setting("age_start", { unit = "s", default = 0, d ... */
        w.age_start[0] = age_start;
        /* ballistic_aging.lua:35: local age = floor_at(age_start + (t1 + t2) / 2, t.step / 4) */
        w.scale[0] = 0.25*l->step;
        /* ballistic_aging.lua:36: local tau = tau_ref * (age / age_ref)^mu */
        w.inv_age_ref[0] = 1.0/age_ref;
        /* ballistic_aging.lua:37: local g1  = exp(-((t2 - t1) / tau)^gamma) */
        w.minus_mu[0] = -mu;
        w.inv_tau_ref[0] = 1.0/tau_ref;
        /* ballistic_aging.lua:26: local gamma = m.parameter("gamma", { start = 1.5, bounds = {0.2, 3}, ... */
        w.gamma[0] = gamma_;
        /* ballistic_aging.lua:37: local g1  = exp(-((t2 - t1) / tau)^gamma) */
        w.gamma_minus_one[0] = w.gamma[0] - 1.0;
        /* ballistic_aging.lua:38: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * g1 ... */
        w.inv_tau_ref_gamma_prod[0] = -2.0*w.inv_tau_ref[0]*w.gamma[0];
        w.minus_two_gamma[0] = -2.0*w.gamma[0];
        /* ballistic_aging.lua:37: local g1  = exp(-((t2 - t1) / tau)^gamma) */
        const double dinv_tau_ref_dtau_ref = -(1.0/(tau_ref*tau_ref));         /* [1/s^2] */
        w.dinv_tau_ref_dtau_ref[0] = dinv_tau_ref_dtau_ref;
    }

    if (derivative >= 0) { /* functions of time and their integrals */
        for (size_t k = 0; k < nt; k++)
            w.time_grid[k] = l->time[k < l->ntime ? k : l->ntime - 1];
        {
            for (size_t k = 0; k < nt; k += FIT_VL) {
                fit_vstore(w.half_t_grid + k, 0.5*fit_vload(w.time_grid + k));
            }
        }
        fit_gather(l, w.time_grid, w.t);
        fit_gather(l, w.half_t_grid, w.half_t);

        /* factored forms */
    }

    if (derivative) { /* tangents: the same integrals of the derivatives */
    }
    double check = 0.0; /* NaN where a table is not finite */
    check += 0.0 * w.t[l->nframe - 1];
    check += 0.0 * w.half_t[l->nframe - 1];
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
    const double inv_tau_ref = w->inv_tau_ref[0];
    const fit_vd d_t = fit_vload(w->t + j) - w->t[i];
    const double inv_age_ref = w->inv_age_ref[0];
    const double age_start = w->age_start[0];
    const fit_vd half_t_j = fit_vload(w->half_t + j);
    /* ballistic_aging.lua:35: local age = floor_at(age_start + (t1 + t2) / 2, t.step / 4) */
    const fit_vd t_sum = age_start + w->half_t[i] + half_t_j;                  /* [s] */
    const double scale = w->scale[0];
    const fit_vd age = fit_vselect(t_sum <= scale, fit_vset1(scale), t_sum);   /* [s] */
    const double minus_mu = w->minus_mu[0];
    const double gamma_2 = w->gamma[0];
    /* ballistic_aging.lua:38: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * g1^2, ... */
    const fit_vd b_contrast = fit_vexp(-2.0*fit_vpow(inv_tau_ref*d_t*fit_vpow(inv_age_ref*age,
            fit_vset1(minus_mu)), fit_vset1(gamma_2))); /* [1] */
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

enum { PIECES = FIT_LANES / FIT_VL, COLUMNS = 0, ROWS = 6, ROW_SUMS = 6, SUMS = 9, FIELDS = 9,
       ALONG_SUMS = 0, COLUMN_SUMS = 0, PAIRS = 7, CHANNELS_R = 4, MOMENT_SUMS = 4 };
/* A strip is so many blocks of a row; so many groups are kept before their products are
 * summed, so many rows before their sums are multiplied by tables. */
enum { STRIP = 8, BATCH = 8, KEPT = 4 };

/* Pairs (i, 8b .. 8b+7): what does not depend on the group. */
FIT_INLINE void normal_pair(const struct fit_layout *l, const struct tables *w,
                            const struct fit_exp_tile *exps, size_t i, size_t b, size_t h,
                            fit_vd *restrict pair)
{
    const size_t j = b * FIT_LANES + h;
    const double inv_tau_ref = w->inv_tau_ref[0];
    const fit_vd d_t = fit_vload(w->t + j) - w->t[i];
    const double inv_age_ref = w->inv_age_ref[0];
    const double age_start = w->age_start[0];
    const fit_vd half_t_j = fit_vload(w->half_t + j);
    /* ballistic_aging.lua:35: local age = floor_at(age_start + (t1 + t2) / 2, t.step / 4) */
    const fit_vd t_sum = age_start + w->half_t[i] + half_t_j;                  /* [s] */
    const double scale = w->scale[0];
    const fit_vd age = fit_vselect(t_sum <= scale, fit_vset1(scale), t_sum);   /* [s] */
    /* ballistic_aging.lua:36: local tau = tau_ref * (age / age_ref)^mu */
    const fit_vd age_over_age_ref = inv_age_ref*age;
    const double minus_mu = w->minus_mu[0];
    fit_vd log_age_low;
    const fit_vd log_age = fit_vlog_low(age_over_age_ref, &log_age_low);
    /* ballistic_aging.lua:37: local g1  = exp(-((t2 - t1) / tau)^gamma) */
    const fit_vd age_prod = d_t*fit_vpow_of_log(age_over_age_ref, fit_vset1(minus_mu), log_age, log_age_low);
    const fit_vd age_prod_2 = inv_tau_ref*age_prod;
    const double gamma_2 = w->gamma[0];
    fit_vd log_age_prod_2_low;
    const fit_vd log_age_prod_2 = fit_vlog_low(age_prod_2, &log_age_prod_2_low);
    const fit_vd age_power = fit_vpow_of_log(age_prod_2, fit_vset1(gamma_2), log_age_prod_2,
            log_age_prod_2_low);
    /* ballistic_aging.lua:38: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * g1^2, ... */
    const fit_vd b_contrast = fit_vexp(-2.0*age_power);                        /* [1] */
    pair[0] = b_contrast;
    const double gamma_minus_one = w->gamma_minus_one[0];
    const fit_vd age_prod_3 = age_prod*fit_vpow_of_log(age_prod_2, fit_vset1(gamma_minus_one),
            log_age_prod_2, log_age_prod_2_low);
    const fit_vd b_contrast_age_prod_3 = b_contrast*age_prod_3;
    pair[1] = b_contrast_age_prod_3;
    pair[2] = log_age*b_contrast_age_prod_3;
    const fit_vd age_prod_4 = age_power*log_age_prod_2;
    pair[3] = b_contrast*age_prod_4;
    const fit_vd exp_age = fit_vexp(-4.0*age_power);                           /* [1] */
    const fit_vd age_prod_5 = exp_age*age_prod_3;
    pair[4] = age_prod_5;
    pair[5] = log_age*age_prod_5;
    pair[6] = exp_age*age_prod_4;
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
    const double inv_tau_ref_gamma_prod = w->inv_tau_ref_gamma_prod[0];
    const double prod = -contrast*inv_tau_ref_gamma_prod;
    const double minus_two_gamma = w->minus_two_gamma[0];
    const double dinv_tau_ref_dtau_ref = w->dinv_tau_ref_dtau_ref[0];
    const double prod_2 = contrast*minus_two_gamma*dinv_tau_ref_dtau_ref;
    const double minus_two_contrast = -2.0*contrast;                           /* [1] */
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
        const fit_vd b_contrast_age_prod = at_pair[1];
        const fit_vd age_b_contrast_prod = at_pair[2];
        const fit_vd b_contrast_age_prod_2 = at_pair[3];
        const fit_vd age_prod = at_pair[4];
        const fit_vd age_prod_2 = at_pair[5];
        const fit_vd age_prod_3 = at_pair[6];
        const fit_vd r = fit_kept(masked, use, y - (contrast*b_contrast + offset));
        at_m[0] = fit_weighted(masked, root, fit_kept(masked, use, prod*age_b_contrast_prod)); /* m_mu */
        at_m[1] = fit_weighted(masked, root, fit_kept(masked, use, prod_2*b_contrast_age_prod)); /* m_tau_ref */
        at_m[2] = fit_weighted(masked, root, fit_kept(masked, use,
                minus_two_contrast*b_contrast_age_prod_2)); /* m_gamma */
        at_m[3] = fit_weighted(masked, root, r);
        const fit_vd s0 = fit_counted(masked, use, weight, age_prod_2); /* contrast: b m_mu */
        row0 += s0;
        const fit_vd s1 = fit_counted(masked, use, weight, age_prod); /* contrast: b m_tau_ref */
        row1 += s1;
        const fit_vd s2 = fit_counted(masked, use, weight, age_prod_3); /* contrast: b m_gamma */
        row2 += s2;
        const fit_vd s3 = fit_counted(masked, use, weight, age_b_contrast_prod); /* offset: b m_mu */
        row3 += s3;
        const fit_vd s4 = fit_counted(masked, use, weight, b_contrast_age_prod); /* offset: b m_tau_ref */
        row4 += s4;
        const fit_vd s5 = fit_counted(masked, use, weight, b_contrast_age_prod_2); /* offset: b m_gamma */
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
        s0 += x[0]*x[0]; /* F_mu_mu */
        s1 += x[0]*x[1]; /* F_mu_tau_ref */
        s2 += x[0]*x[2]; /* F_mu_gamma */
        s6 += x[0]*x[3]; /* G_mu */
        s3 += x[1]*x[1]; /* F_tau_ref_tau_ref */
        s4 += x[1]*x[2]; /* F_tau_ref_gamma */
        s7 += x[1]*x[3]; /* G_tau_ref */
        s5 += x[2]*x[2]; /* F_gamma_gamma */
        s8 += x[2]*x[3]; /* G_gamma */
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
    { /* mu x mu, mu x tau_ref, mu x gamma, mu x residual, tau_ref x tau_ref, tau_ref x gamma, tau_ref x residual, gamma x gamma, gamma x residual */
        fit_vd s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
        fit_vd s8 = {0};
        for (size_t k = 0, j = j0; k < n; k++, j += FIT_VL) {
            const fit_vd *F = field + k * FIELDS;
            s0 += F[0];
            s1 += F[1];
            s2 += F[2];
            s3 += F[6];
            s4 += F[3];
            s5 += F[4];
            s6 += F[7];
            s7 += F[5];
            s8 += F[8];
        }
        H[3] += s0; /* mu, mu */
        H[1] += s1; /* mu, tau_ref */
        H[4] += s2; /* mu, gamma */
        H[7] += s3; /* J^T r: mu */
        H[0] += s4; /* tau_ref, tau_ref */
        H[2] += s5; /* tau_ref, gamma */
        H[6] += s6; /* J^T r: tau_ref */
        H[5] += s7; /* gamma, gamma */
        H[8] += s8; /* J^T r: gamma */
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
            s0 += r[0];
            r[0] = (fit_vd){0};
            s1 += r[1];
            r[1] = (fit_vd){0};
            s2 += r[2];
            r[2] = (fit_vd){0};
            s3 += r[3];
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
        const double contrast = lin[g * 2 + 0];
        const double inv_tau_ref_gamma_prod = w->inv_tau_ref_gamma_prod[0];
        const double prod = -contrast*inv_tau_ref_gamma_prod;
        const double minus_two_gamma = w->minus_two_gamma[0];
        const double dinv_tau_ref_dtau_ref = w->dinv_tau_ref_dtau_ref[0];
        const double prod_2 = contrast*minus_two_gamma*dinv_tau_ref_dtau_ref;
        const double minus_two_contrast = -2.0*contrast;                       /* [1] */
        V[0] = 0.0;
        V[1] = 0.0;
        V[2] = 0.0;
        V[3] = 0.0;
        V[4] = 0.0;
        V[5] = 0.0;
        V[1] += prod * fit_vsum(at_rows[0]);
        V[0] += prod_2 * fit_vsum(at_rows[1]);
        V[2] += minus_two_contrast * fit_vsum(at_rows[2]);
        V[4] += prod * fit_vsum(at_rows[3]);
        V[3] += prod_2 * fit_vsum(at_rows[4]);
        V[5] += minus_two_contrast * fit_vsum(at_rows[5]);
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
    const double inv_tau_ref = w->inv_tau_ref[0];
    const fit_vd d_t = fit_vload(w->t + j) - w->t[i];
    const double inv_age_ref = w->inv_age_ref[0];
    const double age_start = w->age_start[0];
    const fit_vd half_t_j = fit_vload(w->half_t + j);
    /* ballistic_aging.lua:35: local age = floor_at(age_start + (t1 + t2) / 2, t.step / 4) */
    const fit_vd t_sum = age_start + w->half_t[i] + half_t_j;                  /* [s] */
    const double scale = w->scale[0];
    const fit_vd age = fit_vselect(t_sum <= scale, fit_vset1(scale), t_sum);   /* [s] */
    /* ballistic_aging.lua:36: local tau = tau_ref * (age / age_ref)^mu */
    const fit_vd age_over_age_ref = inv_age_ref*age;
    const double minus_mu = w->minus_mu[0];
    fit_vd log_age_low;
    const fit_vd log_age = fit_vlog_low(age_over_age_ref, &log_age_low);
    /* ballistic_aging.lua:37: local g1  = exp(-((t2 - t1) / tau)^gamma) */
    const fit_vd age_prod = d_t*fit_vpow_of_log(age_over_age_ref, fit_vset1(minus_mu), log_age, log_age_low);
    const fit_vd age_prod_2 = inv_tau_ref*age_prod;
    const double gamma_2 = w->gamma[0];
    fit_vd log_age_prod_2_low;
    const fit_vd log_age_prod_2 = fit_vlog_low(age_prod_2, &log_age_prod_2_low);
    const fit_vd age_power = fit_vpow_of_log(age_prod_2, fit_vset1(gamma_2), log_age_prod_2,
            log_age_prod_2_low);
    /* ballistic_aging.lua:38: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * g1^2, ... */
    const fit_vd b_contrast = fit_vexp(-2.0*age_power);                        /* [1] */
    const fit_vd age_b_contrast_prod = -2.0*age_power*log_age_prod_2*b_contrast;
    const double inv_tau_ref_gamma_prod = w->inv_tau_ref_gamma_prod[0];
    const double gamma_minus_one = w->gamma_minus_one[0];
    const fit_vd b_contrast_age_prod = b_contrast*age_prod*fit_vpow_of_log(age_prod_2,
            fit_vset1(gamma_minus_one), log_age_prod_2, log_age_prod_2_low);
    const fit_vd age_b_contrast_prod_2 = (-inv_tau_ref_gamma_prod)*log_age*b_contrast_age_prod;
    const double minus_two_gamma = w->minus_two_gamma[0];
    const double dinv_tau_ref_dtau_ref = w->dinv_tau_ref_dtau_ref[0];
    const fit_vd b_contrast_age_prod_2 = minus_two_gamma*dinv_tau_ref_dtau_ref*b_contrast_age_prod;
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
    const fit_vd a_mu = fit_kept(masked, lanes, age_b_contrast_prod_2*F0);
    row[0] += a_mu;
    const fit_vd a_tau_ref = fit_kept(masked, lanes, b_contrast_age_prod_2*F0);
    row[1] += a_tau_ref;
    const fit_vd a_gamma = fit_kept(masked, lanes, age_b_contrast_prod*F0);
    row[2] += a_gamma;
}

enum { CHANNELS = 3, GRADIENT_SUMS = 3, GRADIENT_EXPS = 1 };

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
    }
    sum[1] += row[0];
    sum[0] += row[1];
    sum[2] += row[2];
    for (size_t k = 0; k < 3; k++)
        out[k] = fit_vsum(sum[k]);
}

/* Pairs (i, 8b .. 8b+7): the mean of every group. */
FIT_INLINE void model_block(const struct fit_layout *l, const struct tables *w, const double *lin, size_t i,
                            size_t b, size_t h, double *out)
{
    const size_t ng = l->ngroup;
    const size_t j = b * FIT_LANES + h;
    const double inv_tau_ref = w->inv_tau_ref[0];
    const fit_vd d_t = fit_vload(w->t + j) - w->t[i];
    const double inv_age_ref = w->inv_age_ref[0];
    const double age_start = w->age_start[0];
    const fit_vd half_t_j = fit_vload(w->half_t + j);
    /* ballistic_aging.lua:35: local age = floor_at(age_start + (t1 + t2) / 2, t.step / 4) */
    const fit_vd t_sum = age_start + w->half_t[i] + half_t_j;                  /* [s] */
    const double scale = w->scale[0];
    const fit_vd age = fit_vselect(t_sum <= scale, fit_vset1(scale), t_sum);   /* [s] */
    const double minus_mu = w->minus_mu[0];
    const double gamma_2 = w->gamma[0];
    /* ballistic_aging.lua:38: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * g1^2, ... */
    const fit_vd b_contrast = fit_vexp(-2.0*fit_vpow(inv_tau_ref*d_t*fit_vpow(inv_age_ref*age,
            fit_vset1(minus_mu)), fit_vset1(gamma_2))); /* [1] */
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
        const fit_vd d_t = fit_pick_change(w.t, &at);
        const fit_vd half_t_i = fit_pick_i(w.half_t, &at);
        const fit_vd half_t_j = fit_pick_j(w.half_t, &at);
        /* ballistic_aging.lua:35: local age = floor_at(age_start + (t1 + t2) / 2, t.step / 4) */
        const fit_vd t_sum = half_t_i + half_t_j + w.age_start[0];             /* [s] */
        const fit_vd age = fit_vselect(t_sum <= w.scale[0], fit_vset1(w.scale[0]), t_sum); /* [s] */
        /* ballistic_aging.lua:36: local tau = tau_ref * (age / age_ref)^mu */
        const fit_vd age_over_age_ref = age*w.inv_age_ref[0];
        fit_vd log_age_low;
        const fit_vd log_age = fit_vlog_low(age_over_age_ref, &log_age_low);
        /* ballistic_aging.lua:37: local g1  = exp(-((t2 - t1) / tau)^gamma) */
        const fit_vd age_power = fit_vpow_of_log(age_over_age_ref, fit_vset1(w.minus_mu[0]),
                log_age, log_age_low);
        const fit_vd age_prod = d_t*age_power*w.inv_tau_ref[0];
        fit_vd log_age_prod_low;
        const fit_vd log_age_prod = fit_vlog_low(age_prod, &log_age_prod_low);
        const fit_vd age_power_2 = fit_vpow_of_log(age_prod, fit_vset1(w.gamma[0]), log_age_prod,
                log_age_prod_low);
        /* ballistic_aging.lua:38: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * g1 ... */
        const fit_vd exp_age = fit_vexp(-2.0*age_power_2);                     /* [1] */
        fit_store_points(mean + p, at.n, contrast*exp_age + offset);
        if (!jac)
            continue;
        fit_vd J[5];
        /* ballistic_aging.lua:37: local g1  = exp(-((t2 - t1) / tau)^gamma) */
        const fit_vd age_power_3 = fit_vpow_of_log(age_prod, fit_vset1(w.gamma_minus_one[0]),
                log_age_prod, log_age_prod_low);
        J[0] = contrast*d_t*age_power*exp_age*age_power_3*w.minus_two_gamma[0]*
                w.dinv_tau_ref_dtau_ref[0]; /* tau_ref */
        J[1] = -contrast*d_t*age_power*exp_age*log_age*age_power_3*w.inv_tau_ref_gamma_prod[0]; /* mu */
        J[2] = -2.0*contrast*age_power_2*exp_age*log_age_prod; /* gamma */
        J[3] = exp_age; /* contrast */
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
    const size_t n = l->ntime;
    const double tau_ref = theta[0]; /* [s] */
    const double mu = theta[1]; /* [1] */
    const double age_start = l->setting[0]; /* [s] */
    const double age_ref = l->setting[1]; /* [s] */
    for (size_t k = 0; k < n; k++) {
        /* ballistic_aging.lua:39: m.curve("tau", tau_ref * (floor_at(age_start + t, t.step / 4) / age_r ... */
        const double t_plus_age_start = l->time[k] + age_start;                /* [s] */
        /* ballistic_aging.lua:35: local age = floor_at(age_start + (t1 + t2) / 2, t.step / 4) */
        const double prod = 0.25*l->step;                                      /* [s] */
        /* ballistic_aging.lua:39: m.curve("tau", tau_ref * (floor_at(age_start + t, t.step / 4) / age_r ... */
        const double t_prod = ((t_plus_age_start <= prod) ? prod : t_plus_age_start)/age_ref; /* [1] */
        const double t_prod_to_mu = pow(t_prod, mu);                           /* [1] */
        value[0 * n + k] = tau_ref*t_prod_to_mu; /* tau */
        if (!tangent)
            continue;
        tangent[0 * n + k] = t_prod_to_mu;
        tangent[1 * n + k] = tau_ref*t_prod_to_mu*log(t_prod);
        tangent[2 * n + k] = 0.0;
    }
}

/* ---- description ----------------------------------------------------------------------------------- */

static const struct fit_param desc_param[] = {
    {.name = "tau_ref", .unit = "s", .doc = "relaxation time of the field at the age age_ref",
     .start = 10.0, .lower = 1e-06, .upper = 10000000.0, .over = -1,
     .prior = FIT_PRIOR_LOG_UNIFORM, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "mu", .unit = "1", .doc = "exponent of ageing",
     .start = 0.0, .lower = -3.0, .upper = 3.0, .over = -1,
     .prior = FIT_PRIOR_TRUNCATED_NORMAL, .prior_a = 0.5, .prior_b = 0.5},
    {.name = "gamma", .unit = "1", .doc = "exponent of the relaxation: 1.5 ballistic, 1 simple",
     .start = 1.5, .lower = 0.2, .upper = 3.0, .over = -1,
     .prior = FIT_PRIOR_TRUNCATED_NORMAL, .prior_a = 1.5, .prior_b = 0.5},
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
    {"age_start", "s", "age of the sample at t = 0", 0.0, FIT_STATISTIC_NONE, 0},
    {"age_ref", "s", "age at which tau is tau_ref", 100.0, FIT_STATISTIC_NONE, 0},
};

static const struct fit_axis desc_axis[] = {
    {"phi", "deg", "azimuth of the detector sector"},
};

static const struct fit_curve desc_curve[] = {
    {"tau", "s", "relaxation time at the age of t"},
};

/* parameter sets, drawn by the model's random() */
static const double desc_screen[] = {
    2609.48, 0.363056, 0.637007,
    7151.71, -0.287307, 1.05826,
    0.740183, 1.04309, 0.943965,
    5756.43, 0.292936, 1.66545,
    41.6632, 0.610335, 1.59151,
    39.1211, 0.477829, 1.67083,
    1.05554, 1.18831, 1.79769,
    200.01, 1.35907, 1.06094,
    2117.71, 0.651322, 1.17815,
    1.84531, 0.772968, 1.90332,
    5188.8, -0.0664914, 0.668315,
    0.12717, 1.1432, 1.17633,
    1.90204, -0.0294111, 1.20211,
    3.59697, 0.53843, 0.705603,
    0.142412, -0.353513, 1.71577,
    4241.93, -0.0115685, 1.17454,
    21.3583, -0.228902, 1.84615,
    2282.49, -0.245333, 0.620989,
    855.256, 0.711713, 0.863312,
    1117.37, 1.4113, 1.64929,
    4346.67, 0.1714, 0.939076,
    2633.91, -0.168109, 0.985149,
    1.96465, 0.597965, 0.878835,
    123.959, 1.36358, 1.7977,
    6.49508, 1.38857, 1.90714,
    2319.46, -0.178546, 1.6766,
    1682.7, 0.329346, 1.42385,
    2.3997, -0.017055, 0.977991,
    4.97851, 0.464775, 1.68542,
    72.8372, -0.287335, 1.30288,
    0.456778, 1.20205, 1.39736,
    22.0533, -0.455302, 0.703698,
    9.21517, 1.36365, 1.80476,
    1.08541, 0.51144, 1.36479,
    0.328728, 0.986727, 1.52076,
    4.8827, 1.40362, 0.897258,
    0.411905, -0.0849049, 1.18224,
    0.288857, 0.24173, 1.94045,
    720.674, 1.45975, 1.7349,
    29.0412, 0.696712, 1.29858,
    1.18753, 0.884557, 1.47454,
    1.8345, 0.762289, 1.69528,
    14.7726, -0.353016, 1.43452,
    3681.05, 0.116542, 1.86896,
    3.28292, 0.534629, 1.34227,
    30.5229, -0.0584583, 1.64942,
    736.077, -0.0648505, 1.28611,
    15.5279, -0.419929, 1.85068,
    7056.75, 0.950067, 0.910157,
    0.151584, -0.293277, 0.972833,
    0.479022, 0.561177, 1.08466,
    70.4556, 0.843169, 1.60848,
    8608.98, 0.845261, 1.20549,
    1116.98, 0.083827, 1.66152,
    1418.9, 0.889298, 1.0605,
    2567.59, 0.815473, 0.872378,
    271.576, 1.29911, 0.675305,
    53.7518, -0.21818, 1.69831,
    0.487469, -0.210118, 1.95807,
    932.91, 0.50125, 0.692351,
    0.775023, 0.680953, 1.62871,
    0.312655, 1.08103, 1.8258,
    1.9024, 0.688748, 1.03602,
    1.03034, -0.220432, 0.878737,
};

extern const struct fit_kernel FIT_KERNEL_SYMBOL;
const struct fit_kernel FIT_KERNEL_SYMBOL = {
    .abi = FIT_KERNEL_ABI,
    .name = "ballistic_aging",
    .variant = "fast",
    .title = "Two-time correlation with a compressed relaxation that slows down with the age of the sample",
    .formula = "c2(phi, t1, t2) = offset + contrast exp(-2 ((t2 - t1)/tau)^gamma)\n"
        "tau(age) = tau_ref (age/age_ref)^mu,   age = age_start + (t1 + t2)/2\n",
    .reference = "L. Cipelletti et al., Phys. Rev. Lett. 84 (2000) 2275, and Faraday Discuss. 123 (2003) 237;\n"
        "A. Fluerasu et al., Phys. Rev. E 76 (2007) 010401; age as in O. Bikondoa, J. Appl. Cryst. 50 (2017) 357",
    .source = "ballistic_aging.lua",
    .hash = "cfd6f477522ccba8d7efe61452fa6f8fe6219b761b72307d7fb1899f0ef0f6b2",
    .isa = FIT_KERNEL_ISA,
    .space = FIT_PAIRS,
    .raw = 1,
    .nparam = 3,
    .param = desc_param,
    .nlinear = 2,
    .linear = desc_linear,
    .intercept = 1,
    .nsetting = 2,
    .setting = desc_setting,
    .naxis = 1,
    .axis = desc_axis,
    .ncurve = 1,
    .curve = desc_curve,
    .nscreen = 64,
    .screen = desc_screen,
    .cost = {.per_frame = 12, .per_pair = 43, .per_pair_group = 37,
             .value_per_pair_group = 7, .functions_per_pair = 7},
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
