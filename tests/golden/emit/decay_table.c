/* decay_table.c -- written by homodyne-gen from decay_table.lua.  Edit the model, not this file.
 *
 * Exponential decay over a background
 *
 *     y = A exp(-rate x) + c
 *
 *   theta      0  rate                 [1/s]
 *   lin        0  A                    [1]
 *              1  c                    [1]
 *   column     0  x                    [s]
 *              1  y                    [1]
 *              2  s                    [1]
 *
 * cost of normal, operations: 0 per frame, 7 per row, 9 per row and group; of moments 7
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
    double *minus_rate; /* -rate */
};

FIT_INLINE size_t carve(const struct fit_layout *l, double *base, struct tables *w)
{
    size_t n = 0;
    w->minus_rate = base + n, n += fit_padded(8);
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
    const double rate = theta[0]; /* [1/s] */

    /* scalars of the call and of the groups */
    {
        /* decay_table.lua:8: m.observe(y, { mean = A * exp(-rate * x) + c, sigma = s, linear = {A, c} ... */
        w.minus_rate[0] = -rate;
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
        const fit_vd x = fit_vload(l->column[0] + row);
        /* decay_table.lua:8: m.observe(y, { mean = A * exp(-rate * x) + c, sigma = s, linear = {A, c} ... */
        const fit_vd b_A = fit_vexp(w.minus_rate[0]*x);                        /* [1] */
        const fit_vd d = fit_vload(t->y + at);
        const fit_vd b0 = b_A;
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
        const fit_vd x = fit_vload(l->column[0] + row);
        /* decay_table.lua:8: m.observe(y, { mean = A * exp(-rate * x) + c, sigma = s, linear = {A, c} ... */
        const fit_vd b_A = fit_vexp(w.minus_rate[0]*x);                        /* [1] */
        const fit_vd r = fit_vload(t->y + at) - (lin[0]*b_A + lin[1]);
        fit_vd m[1] = {{0}}; /* d mean / d theta_k, over factor[k] */
        m[0] = x*b_A; /* rate */
        const fit_vd b0 = b_A;
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
    factor[0] = -lin[0];
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
        const fit_vd x = fit_vload(l->column[0] + row);
        /* decay_table.lua:8: m.observe(y, { mean = A * exp(-rate * x) + c, sigma = s, linear = {A, c} ... */
        const fit_vd b_A = fit_vexp(w.minus_rate[0]*x);                        /* [1] */
        const fit_vd r = fit_vload(t->y + at) - (at_lin[0]*b_A + at_lin[1]); /* residual */
        const fit_vd seed_A = (seeds[0]*at_lin[0])*r - (seeds[1]*b_A + seeds[2]);
        sum[0] += weight*(-x*b_A*seed_A); /* rate */
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
        const fit_vd x = fit_vload(l->column[0] + row);
        /* decay_table.lua:8: m.observe(y, { mean = A * exp(-rate * x) + c, sigma = s, linear = {A, c} ... */
        const fit_vd b_A = fit_vexp(w.minus_rate[0]*x);                        /* [1] */
        fit_vstore(out + (row - t->i0), fit_vset1(0.0) + (lin[0]*b_A + lin[1]));
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
        const double A = lin[0];
        const double c = lin[1];
        const fit_vd x = fit_pick(l->column[0], at.i);
        /* decay_table.lua:8: m.observe(y, { mean = A * exp(-rate * x) + c, sigma = s, linear = {A, c} ... */
        const fit_vd exp_minus_x_rate = fit_vexp(x*w.minus_rate[0]);           /* [1] */
        fit_store_points(mean + p, at.n, A*exp_minus_x_rate + c);
        if (!jac)
            continue;
        fit_vd J[3];
        J[0] = -x*A*exp_minus_x_rate; /* rate */
        J[1] = exp_minus_x_rate; /* A */
        J[2] = fit_vset1(1.0); /* c */
        fit_store_columns(jac + p, list->n, 3, at.n, J);
    }
}

static void curves(const struct fit_layout *l, const double *theta, double *value, double *tangent)
{
    /* the model has none */
}

/* ---- description ----------------------------------------------------------------------------------- */

static const struct fit_param desc_param[] = {
    {.name = "rate", .unit = "1/s", .doc = "decay rate",
     .start = 1.0, .lower = 0.0, .upper = 100.0, .over = -1,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
};

static const struct fit_param desc_linear[] = {
    {.name = "A", .unit = "1", .doc = "amplitude",
     .start = 1.0, .lower = 0.0, .upper = 10.0, .over = -1,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "c", .unit = "1", .doc = "background",
     .start = 0.0, .lower = -1.0, .upper = 1.0, .over = -1,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
};

static const struct fit_column desc_column[] = {
    {"x", "s", "", FIT_ROLE_COVARIATE, 0.0, 0.0},
    {"y", "1", "", FIT_ROLE_VALUE, 0.0, 0.0},
    {"s", "1", "", FIT_ROLE_SIGMA, 0.0, 0.0},
};

/* parameter sets within the bounds: the model has no random() */
static const double desc_screen[] = {
    88.3311,
    43.1528,
    2.64338,
    97.0882,
    10.6347,
    32.7326,
    17.3868,
    77.1547,
    24.5689,
    95.2031,
    39.6468,
    76.1034,
    52.3951,
    55.5168,
    70.8222,
    51.8482,
    48.8915,
    76.4879,
    20.4695,
    84.4155,
    85.549,
    66.021,
    92.9534,
    32.9245,
    86.5173,
    57.5661,
    41.2967,
    25.3214,
    63.6484,
    93.094,
    94.3013,
    21.6754,
    4.87962,
    2.08767,
    82.1601,
    41.1668,
    25.5844,
    23.5294,
    43.0078,
    31.1187,
    51.9215,
    7.54309,
    3.07094,
    7.32435,
    79.6978,
    92.5513,
    24.4216,
    41.0383,
    46.5913,
    13.5549,
    89.0104,
    87.1682,
    12.7333,
    1.4992,
    78.6419,
    60.5857,
    18.808,
    80.964,
    95.565,
    74.9492,
    92.7631,
    33.57,
    24.2197,
    88.412,
};

/* what data cannot tell apart */
static const unsigned desc_degenerate_0[] = {1, 2};
static const struct fit_degeneracy desc_degeneracy[] = {
    {.kind = FIT_DEGENERATE_AT_VALUE, .nparam = 2, .param = desc_degenerate_0,
     .condition = 0, .value = 0, .first = 0, .ncombination = 0, .each = 0,
     .held = -1, .proved = 1, .text = "at rate = 0 A and c enter only as A + c: only this combination is determined"},
};

extern const struct fit_kernel FIT_KERNEL_SYMBOL;
const struct fit_kernel FIT_KERNEL_SYMBOL = {
    .abi = FIT_KERNEL_ABI,
    .name = "decay_table",
    .variant = "fast",
    .title = "Exponential decay over a background",
    .formula = "y = A exp(-rate x) + c",
    .reference = "",
    .source = "decay_table.lua",
    .hash = "eec8271d005e51950929edd7c637dc19a74f722107fa4dd2446abfac9daa6c00",
    .isa = FIT_KERNEL_ISA,
    .space = FIT_ROWS,
    .raw = 0,
    .nparam = 1,
    .param = desc_param,
    .nlinear = 2,
    .linear = desc_linear,
    .intercept = 1,
    .ncolumn = 3,
    .column = desc_column,
    .nscreen = 64,
    .screen = desc_screen,
    .cost = {.per_frame = 0, .per_pair = 7, .per_pair_group = 9,
             .value_per_pair_group = 7, .functions_per_pair = 1},
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
    .ndegeneracy = 1,
    .degeneracy = desc_degeneracy,
};
