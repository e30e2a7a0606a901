/* cumulant.c -- written by homodyne-gen from cumulant.lua.  Edit the model, not this file.
 *
 * Intensity correlation as a cumulant expansion to second order, in the exponent
 *
 *     g2(delay) = baseline + contrast exp(-2 x + pdi x^2),   x = rate delay
 *
 *   theta      0  rate                 [1/s]
 *              1  pdi                  [1]
 *   lin        0  contrast             [1]
 *              1  baseline             [1]
 *   column     0  delay                [s]
 *              1  g2                   [1]
 *              2  sigma                [1]
 *
 * cost of normal, operations: 0 per frame, 21 per row, 16 per row and group; of moments 7
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
    double *minus_two_rate; /* -2 * rate */
    double *rate_sq_pdi; /* rate^2 * pdi */
    double *two_rate_pdi; /* 2 * rate * pdi */
    double *rate_sq; /* rate^2 */
};

FIT_INLINE size_t carve(const struct fit_layout *l, double *base, struct tables *w)
{
    size_t n = 0;
    w->minus_two_rate = base + n, n += fit_padded(8);
    w->rate_sq_pdi = base + n, n += fit_padded(8);
    w->two_rate_pdi = base + n, n += fit_padded(8);
    w->rate_sq = base + n, n += fit_padded(8);
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
    const double pdi = theta[1]; /* [1] */

    /* scalars of the call and of the groups */
    {
        /* cumulant.lua:27: m.observe(g2, { mean = baseline + contrast * exp(-2 * x + pdi * x^2), sigma ... */
        w.minus_two_rate[0] = -2.0*rate;
        const double rate_sq = rate*rate;                                      /* [1/s^2] */
        w.rate_sq_pdi[0] = rate_sq*pdi;
        w.two_rate_pdi[0] = 2.0*rate*pdi;
        w.rate_sq[0] = rate_sq;
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
        const fit_vd delay = fit_vload(l->column[0] + row);
        /* cumulant.lua:27: m.observe(g2, { mean = baseline + contrast * exp(-2 * x + pdi * x^2), sigma ... */
        const fit_vd b_contrast = fit_vexp(w.minus_two_rate[0]*delay + w.rate_sq_pdi[0]*delay*delay); /* [1] */
        const fit_vd d = fit_vload(t->y + at);
        const fit_vd b0 = b_contrast;
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

enum { SUMS = 10 };

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
        const fit_vd delay = fit_vload(l->column[0] + row);
        /* cumulant.lua:27: m.observe(g2, { mean = baseline + contrast * exp(-2 * x + pdi * x^2), sigma ... */
        const fit_vd delay_sq = delay*delay;                                   /* [s^2] */
        const fit_vd b_contrast = fit_vexp(w.minus_two_rate[0]*delay + w.rate_sq_pdi[0]*delay_sq); /* [1] */
        const fit_vd r = fit_vload(t->y + at) - (lin[0]*b_contrast + lin[1]);
        fit_vd m[2] = {{0}}; /* d mean / d theta_k, over factor[k] */
        m[0] = b_contrast*(w.two_rate_pdi[0]*delay_sq - 2.0*delay); /* rate */
        m[1] = delay*delay*b_contrast; /* pdi */
        const fit_vd b0 = b_contrast;
        const fit_vd b1 = fit_vset1(1.0);
        const fit_vd mw0 = weight*m[0];
        H[0] += mw0*m[0];
        H[1] += mw0*m[1];
        G[0] += mw0*r;
        V[0] += mw0*b0;
        V[2] += mw0*b1;
        const fit_vd mw1 = weight*m[1];
        H[2] += mw1*m[1];
        G[1] += mw1*r;
        V[1] += mw1*b0;
        V[3] += mw1*b1;
    }
}

static void normal(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                   double *scratch, double *out)
{
    struct tables w;
    carve(l, (double *)(uintptr_t)ws, &w);
    fit_vd H[3] = {{0}}, G[2] = {{0}}, V[4] = {{0}};
    const size_t full = t->w ? t->i0 : t->i1 / FIT_VL * FIT_VL;
    normal_rows(l, w, lin, t, t->i0, full, 1, H, G, V);
    normal_rows(l, w, lin, t, full, fit_padded(t->i1), 0, H, G, V);
    double factor[2] = {0};
    factor[0] = lin[0];
    factor[1] = lin[0]*w.rate_sq[0];
    for (size_t k = 0, n = 0; k < 2; k++)
        for (size_t q = k; q < 2; q++)
            *out++ = factor[k]*factor[q]*fit_vsum(H[n++]);
    for (size_t k = 0; k < 2; k++)
        *out++ = factor[k]*fit_vsum(G[k]);
    for (size_t n = 0; n < 4; n++)
        *out++ = factor[n % 2]*fit_vsum(V[n]);
}

static void gradient(const struct fit_layout *l, const double *ws, const double *lin, const double *adj,
                     const struct fit_tile *t, double *scratch, double *out)
{
    struct tables w;
    carve(l, (double *)(uintptr_t)ws, &w);
    const double *const seeds = adj;
    const double *const at_lin = lin;
    fit_vd sum[2] = {{0}};
    for (size_t row = t->i0; row < fit_padded(t->i1); row += FIT_VL) {
        const size_t at = row - t->i0;
        fit_vd weight = t->w ? fit_vload(t->w + at) : fit_vset1(1.0);
        if (__builtin_expect(row + FIT_VL > t->i1, 0))
            weight = fit_where_set(fit_row_lanes(t, row), weight);
        const fit_vd delay = fit_vload(l->column[0] + row);
        /* cumulant.lua:27: m.observe(g2, { mean = baseline + contrast * exp(-2 * x + pdi * x^2), sigma ... */
        const fit_vd delay_sq = delay*delay;                                   /* [s^2] */
        const fit_vd b_contrast = fit_vexp(w.minus_two_rate[0]*delay + w.rate_sq_pdi[0]*delay_sq); /* [1] */
        const fit_vd r = fit_vload(t->y + at) - (at_lin[0]*b_contrast + at_lin[1]); /* residual */
        const fit_vd seed_contrast = (seeds[0]*at_lin[0])*r - (seeds[1]*b_contrast + seeds[2]);
        const fit_vd b_contrast_prod = b_contrast*seed_contrast;
        sum[0] += weight*((w.two_rate_pdi[0]*delay_sq - 2.0*delay)*b_contrast_prod); /* rate */
        sum[1] += weight*(w.rate_sq[0]*delay_sq*b_contrast_prod); /* pdi */
    }
    for (size_t k = 0; k < 2; k++)
        out[k] = fit_vsum(sum[k]);
}

static void model(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                  double *out)
{
    struct tables w;
    carve(l, (double *)(uintptr_t)ws, &w);
    for (size_t row = t->i0; row < fit_padded(t->i1); row += FIT_VL) {
        const fit_vd delay = fit_vload(l->column[0] + row);
        /* cumulant.lua:27: m.observe(g2, { mean = baseline + contrast * exp(-2 * x + pdi * x^2), sigma ... */
        const fit_vd b_contrast = fit_vexp(w.minus_two_rate[0]*delay + w.rate_sq_pdi[0]*delay*delay); /* [1] */
        fit_vstore(out + (row - t->i0), fit_vset1(0.0) + (lin[0]*b_contrast + lin[1]));
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
        const double contrast = lin[0];
        const double baseline = lin[1];
        const fit_vd delay = fit_pick(l->column[0], at.i);
        /* cumulant.lua:27: m.observe(g2, { mean = baseline + contrast * exp(-2 * x + pdi * x^2), sigma ... */
        const fit_vd delay_sq = delay*delay;                                   /* [s^2] */
        const fit_vd exp_delay_sum = fit_vexp(delay*w.minus_two_rate[0] + delay_sq*w.rate_sq_pdi[0]); /* [1] */
        fit_store_points(mean + p, at.n, contrast*exp_delay_sum + baseline);
        if (!jac)
            continue;
        fit_vd J[4];
        J[0] = contrast*exp_delay_sum*(delay_sq*w.two_rate_pdi[0] - 2.0*delay); /* rate */
        J[1] = delay_sq*contrast*exp_delay_sum*w.rate_sq[0]; /* pdi */
        J[2] = exp_delay_sum; /* contrast */
        J[3] = fit_vset1(1.0); /* baseline */
        fit_store_columns(jac + p, list->n, 4, at.n, J);
    }
}

static void curves(const struct fit_layout *l, const double *theta, double *value, double *tangent)
{
    /* the model has none */
}

/* ---- description ----------------------------------------------------------------------------------- */

static const char *const desc_param_alias_0[] = {"Gamma", NULL};
static const struct fit_param desc_param[] = {
    {.name = "rate", .unit = "1/s", .doc = "mean relaxation rate of the field (first cumulant)",
     .alias = desc_param_alias_0,
     .start = 1.0, .lower = 1e-06, .upper = 1000000000.0, .over = -1,
     .prior = FIT_PRIOR_LOG_UNIFORM, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "pdi", .unit = "1", .doc = "polydispersity index: second cumulant over rate^2",
     .start = 0.1, .lower = -0.5, .upper = 1.0, .over = -1,
     .prior = FIT_PRIOR_TRUNCATED_NORMAL, .prior_a = 0.1, .prior_b = 0.2},
};

static const struct fit_param desc_linear[] = {
    {.name = "contrast", .unit = "1", .doc = "speckle contrast",
     .start = 0.2, .lower = 0.0, .upper = 2.0, .over = -1,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "baseline", .unit = "1", .doc = "value at long delays",
     .start = 1.0, .lower = 0.0, .upper = 2.0, .over = -1,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
};

static const struct fit_column desc_column[] = {
    {"delay", "s", "delay time", FIT_ROLE_COVARIATE, 0.0, 0.0},
    {"g2", "1", "normalised intensity correlation", FIT_ROLE_VALUE, 0.0, 0.0},
    {"sigma", "1", "standard deviation of g2", FIT_ROLE_SIGMA, 0.0, 0.0},
};

/* parameter sets, drawn by the model's random() */
static const double desc_screen[] = {
    11654.3, 0.129458,
    0.00162731, 0.291265,
    0.00709208, 0.0981977,
    0.0246004, 0.231464,
    0.0923659, 0.285609,
    1.48506, 0.22831,
    15.5455, 0.16655,
    463.211, 0.155545,
    8.15299, 0.229464,
    0.0434073, 0.253247,
    6981.0, 0.198063,
    27306.9, 0.0987736,
    8344.26, 0.172698,
    2.01249, 0.0759641,
    123.558, 0.279282,
    35003.1, 0.0650263,
    0.0024568, 0.00626302,
    3739.46, 0.1235,
    0.111365, 0.0705883,
    2.75817, 0.0933562,
    14.2469, 0.0226293,
    0.00176066, 0.021973,
    2375.89, 0.277654,
    0.0898931, 0.123115,
    5.3371, 0.0406646,
    13207.8, 0.261505,
    0.0104392, 0.00449761,
    1955.93, 0.181757,
    0.0319625, 0.242892,
    44177.3, 0.224847,
    26366.4, 0.10071,
    0.086612, 0.265236,
    0.02126, 0.0825319,
    0.117289, 0.164695,
    0.0392052, 0.185597,
    28465.7, 0.25665,
    0.794575, 0.283286,
    29471.2, 0.261923,
    0.0193115, 0.2307,
    5775.81, 0.124402,
    51.0149, 0.0828094,
    0.0854634, 0.0809982,
    0.51923, 0.144716,
    1593.62, 0.171741,
    0.00709021, 0.150617,
    0.0113639, 0.255308,
    36.0016, 0.140608,
    0.00150936, 0.0222211,
    1.39061, 0.279548,
    7661.67, 0.0621355,
    11.1111, 0.163884,
    0.00671336, 0.223009,
    182.595, 0.10132,
    41159.5, 0.0636982,
    0.00963109, 0.0622643,
    2.12378, 0.027641,
    0.92666, 0.287239,
    1487.24, 0.293962,
    3056.12, 0.147781,
    61.2134, 0.149695,
    0.0524121, 0.207684,
    99.3973, 0.075811,
    111.984, 0.234702,
    2.95892, 0.0220475,
};

extern const struct fit_kernel FIT_KERNEL_SYMBOL;
const struct fit_kernel FIT_KERNEL_SYMBOL = {
    .abi = FIT_KERNEL_ABI,
    .name = "cumulant",
    .variant = "fast",
    .title = "Intensity correlation as a cumulant expansion to second order, in the exponent",
    .formula = "g2(delay) = baseline + contrast exp(-2 x + pdi x^2),   x = rate delay\n",
    .reference = "D. E. Koppel, J. Chem. Phys. 57 (1972) 4814, Siegert relation",
    .source = "cumulant.lua",
    .hash = "3a6b70ce36a38eeb8b3f035e35405ac51c9309197b59e1117ff40a07db7d35e8",
    .isa = FIT_KERNEL_ISA,
    .space = FIT_ROWS,
    .raw = 0,
    .nparam = 2,
    .param = desc_param,
    .nlinear = 2,
    .linear = desc_linear,
    .intercept = 1,
    .ncolumn = 3,
    .column = desc_column,
    .nscreen = 64,
    .screen = desc_screen,
    .cost = {.per_frame = 0, .per_pair = 21, .per_pair_group = 16,
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
};
