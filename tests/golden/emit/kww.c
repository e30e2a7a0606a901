/* kww.c -- written by homodyne-gen from kww.lua.  Edit the model, not this file.
 *
 * Intensity correlation with a stretched exponential (Kohlrausch, Williams, Watts)
 *
 *     g2(delay) = baseline + contrast exp(-2 (delay/tau)^beta)
 *
 *   theta      0  tau                  [s]
 *              1  beta                 [1]
 *   lin        0  contrast             [1]
 *              1  baseline             [1]
 *   column     0  delay                [s]
 *              1  g2                   [1]
 *              2  sigma                [1]
 *
 * cost of normal, operations: 0 per frame, 20 per row, 16 per row and group; of moments 7
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
    double *inv_tau; /* 1/tau */
    double *beta; /* beta */
    double *beta_minus_one; /* beta - 1 */
    double *two_beta_over_tau_sq; /* 2 * beta / tau^2 */
};

FIT_INLINE size_t carve(const struct fit_layout *l, double *base, struct tables *w)
{
    size_t n = 0;
    w->inv_tau = base + n, n += fit_padded(8);
    w->beta = base + n, n += fit_padded(8);
    w->beta_minus_one = base + n, n += fit_padded(8);
    w->two_beta_over_tau_sq = base + n, n += fit_padded(8);
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
    const double tau = theta[0]; /* [s] */
    const double beta = theta[1]; /* [1] */

    /* scalars of the call and of the groups */
    {
        /* kww.lua:21: local decay = exp(-2 * (delay / tau)^beta) */
        w.inv_tau[0] = 1.0/tau;
        /* kww.lua:16: local beta = m.parameter("beta", { start = 1, bounds = {0.05, 3}, */
        w.beta[0] = beta;
        /* kww.lua:21: local decay = exp(-2 * (delay / tau)^beta) */
        w.beta_minus_one[0] = beta - 1.0;
        w.two_beta_over_tau_sq[0] = 2.0*(1.0/(tau*tau))*beta;
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
        /* kww.lua:21: local decay = exp(-2 * (delay / tau)^beta) */
        const fit_vd decay = fit_vexp(-2.0*fit_vpow(w.inv_tau[0]*delay, fit_vset1(w.beta[0]))); /* [1] */
        const fit_vd d = fit_vload(t->y + at);
        const fit_vd b0 = decay;
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
        /* kww.lua:21: local decay = exp(-2 * (delay / tau)^beta) */
        const fit_vd delay_over_tau = w.inv_tau[0]*delay;
        fit_vd log_delay_over_tau_low;
        const fit_vd log_delay_over_tau = fit_vlog_low(delay_over_tau, &log_delay_over_tau_low);
        const fit_vd delay_over_tau_to_beta = fit_vpow_of_log(delay_over_tau, fit_vset1(w.beta[0]),
                log_delay_over_tau, log_delay_over_tau_low);
        const fit_vd decay = fit_vexp(-2.0*delay_over_tau_to_beta);            /* [1] */
        const fit_vd r = fit_vload(t->y + at) - (lin[0]*decay + lin[1]);
        fit_vd m[2] = {{0}}; /* d mean / d theta_k, over factor[k] */
        m[0] = delay*fit_vpow_of_log(delay_over_tau, fit_vset1(w.beta_minus_one[0]),
                log_delay_over_tau, log_delay_over_tau_low)*decay; /* tau */
        m[1] = delay_over_tau_to_beta*log_delay_over_tau*decay; /* beta */
        const fit_vd b0 = decay;
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
    factor[0] = lin[0]*w.two_beta_over_tau_sq[0];
    factor[1] = -2.0*lin[0];
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
        /* kww.lua:21: local decay = exp(-2 * (delay / tau)^beta) */
        const fit_vd delay_over_tau = w.inv_tau[0]*delay;
        fit_vd log_delay_over_tau_low;
        const fit_vd log_delay_over_tau = fit_vlog_low(delay_over_tau, &log_delay_over_tau_low);
        const fit_vd delay_over_tau_to_beta = fit_vpow_of_log(delay_over_tau, fit_vset1(w.beta[0]),
                log_delay_over_tau, log_delay_over_tau_low);
        const fit_vd decay = fit_vexp(-2.0*delay_over_tau_to_beta);            /* [1] */
        const fit_vd r = fit_vload(t->y + at) - (at_lin[0]*decay + at_lin[1]); /* residual */
        const fit_vd seed_contrast = (seeds[0]*at_lin[0])*r - (seeds[1]*decay + seeds[2]);
        const fit_vd decay_prod = decay*seed_contrast;
        sum[0] += weight*(w.two_beta_over_tau_sq[0]*delay*fit_vpow_of_log(delay_over_tau,
                fit_vset1(w.beta_minus_one[0]), log_delay_over_tau,
                log_delay_over_tau_low)*decay_prod); /* tau */
        sum[1] += weight*(-2.0*delay_over_tau_to_beta*log_delay_over_tau*decay_prod); /* beta */
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
        /* kww.lua:21: local decay = exp(-2 * (delay / tau)^beta) */
        const fit_vd decay = fit_vexp(-2.0*fit_vpow(w.inv_tau[0]*delay, fit_vset1(w.beta[0]))); /* [1] */
        fit_vstore(out + (row - t->i0), fit_vset1(0.0) + (lin[0]*decay + lin[1]));
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
        /* kww.lua:21: local decay = exp(-2 * (delay / tau)^beta) */
        const fit_vd delay_over_tau = delay*w.inv_tau[0];
        fit_vd log_delay_over_tau_low;
        const fit_vd log_delay_over_tau = fit_vlog_low(delay_over_tau, &log_delay_over_tau_low);
        const fit_vd delay_over_tau_to_beta = fit_vpow_of_log(delay_over_tau, fit_vset1(w.beta[0]),
                log_delay_over_tau, log_delay_over_tau_low);
        const fit_vd decay = fit_vexp(-2.0*delay_over_tau_to_beta);            /* [1] */
        fit_store_points(mean + p, at.n, contrast*decay + baseline);
        if (!jac)
            continue;
        fit_vd J[4];
        J[0] = delay*contrast*decay*fit_vpow_of_log(delay_over_tau, fit_vset1(w.beta_minus_one[0]),
                log_delay_over_tau, log_delay_over_tau_low)*w.two_beta_over_tau_sq[0]; /* tau */
        J[1] = -2.0*contrast*delay_over_tau_to_beta*decay*log_delay_over_tau; /* beta */
        J[2] = decay; /* contrast */
        J[3] = fit_vset1(1.0); /* baseline */
        fit_store_columns(jac + p, list->n, 4, at.n, J);
    }
}

static void curves(const struct fit_layout *l, const double *theta, double *value, double *tangent)
{
    /* the model has none */
}

/* ---- description ----------------------------------------------------------------------------------- */

static const struct fit_param desc_param[] = {
    {.name = "tau", .unit = "s", .doc = "relaxation time of the field",
     .start = 1.0, .lower = 1e-09, .upper = 1000000.0, .over = -1,
     .prior = FIT_PRIOR_LOG_UNIFORM, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "beta", .unit = "1", .doc = "stretching exponent",
     .start = 1.0, .lower = 0.05, .upper = 3.0, .over = -1,
     .prior = FIT_PRIOR_TRUNCATED_NORMAL, .prior_a = 1.0, .prior_b = 0.5},
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
    199.464, 1.0336,
    0.0014408, 1.9505,
    0.0043459, 0.856454,
    0.0110461, 1.61163,
    0.0297943, 1.91845,
    0.239226, 1.59376,
    1.39221, 1.24378,
    17.7555, 1.18142,
    0.858001, 1.60029,
    0.0169111, 1.73506,
    135.812, 1.42236,
    377.75, 0.859717,
    155.253, 1.27862,
    0.300469, 0.730463,
    6.59028, 1.8826,
    455.072, 0.668482,
    0.00196235, 0.33549,
    85.0368, 0.999835,
    0.0342817, 0.700001,
    0.380597, 0.829019,
    1.30404, 0.428233,
    0.00152847, 0.424514,
    60.5158, 1.87337,
    0.0291941, 0.99765,
    0.624423, 0.530433,
    219.09, 1.78186,
    0.00580765, 0.325486,
    52.3017, 1.32996,
    0.0134425, 1.67639,
    541.875, 1.57414,
    367.95, 0.87069,
    0.0283912, 1.803,
    0.00990086, 0.767681,
    0.0356405, 1.23327,
    0.0156678, 1.35171,
    389.71, 1.75435,
    0.149658, 1.90529,
    399.99, 1.78423,
    0.00921217, 1.6073,
    117.817, 1.00494,
    3.39448, 0.769253,
    0.0281083, 0.75899,
    0.108773, 1.12006,
    44.8526, 1.2732,
    0.00434504, 1.1535,
    0.00618936, 1.74674,
    2.61362, 1.09678,
    0.00136174, 0.425919,
    0.227722, 1.8841,
    145.627, 0.652101,
    1.08223, 1.22868,
    0.00417066, 1.56372,
    8.83318, 0.874144,
    513.869, 0.660956,
    0.00546709, 0.652831,
    0.312847, 0.456632,
    0.167954, 1.92769,
    42.588, 1.96578,
    73.0933, 1.13743,
    3.89166, 1.14827,
    0.0194793, 1.47687,
    5.59797, 0.729596,
    6.12163, 1.62998,
    0.401189, 0.424936,
};

extern const struct fit_kernel FIT_KERNEL_SYMBOL;
const struct fit_kernel FIT_KERNEL_SYMBOL = {
    .abi = FIT_KERNEL_ABI,
    .name = "kww",
    .variant = "fast",
    .title = "Intensity correlation with a stretched exponential (Kohlrausch, Williams, Watts)",
    .formula = "g2(delay) = baseline + contrast exp(-2 (delay/tau)^beta)",
    .reference = "Kohlrausch, Ann. Phys. 167 (1854) 179; Williams, Watts, Trans. Faraday Soc. 66 (1970) 80",
    .source = "kww.lua",
    .hash = "ad8582e71f5e5d9f1ad50bfd0169698e88b59f9736088e480503dabb3038bd55",
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
    .cost = {.per_frame = 0, .per_pair = 20, .per_pair_group = 16,
             .value_per_pair_group = 7, .functions_per_pair = 4},
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
