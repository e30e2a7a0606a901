/* dls_cumulant.c -- written by homodyne-gen from dls_cumulant.lua.  Edit the model, not this file.
 *
 * Dynamic light scattering: moments of the distribution of relaxation rates, to the third
 *
 *     g2(delay) = baseline + contrast exp(-2 x) (1 + pdi x^2/2 - skewness x^3/6)^2,   x = rate delay
 *
 *   theta      0  rate                 [1/s]
 *              1  pdi                  [1]
 *              2  skewness             [1]
 *   lin        0  contrast             [1]
 *              1  baseline             [1]
 *   column     0  delay                [s]
 *              1  g2                   [1]
 *              2  sigma                [1]
 *
 * cost of normal, operations: 0 per frame, 39 per row, 25 per row and group; of moments 7
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
    double *half_rate_sq_pdi; /* 0.5 * rate^2 * pdi */
    double *rate_skewness_prod; /* -0.166667 * rate^3 * skewness */
    double *minus_two_rate; /* -2 * rate */
    double *rate_pdi; /* rate * pdi */
    double *rate_skewness_prod_2; /* -0.5 * rate^2 * skewness */
    double *rate_sq; /* rate^2 */
    double *rate_prod; /* -0.333333 * rate^3 */
};

FIT_INLINE size_t carve(const struct fit_layout *l, double *base, struct tables *w)
{
    size_t n = 0;
    w->half_rate_sq_pdi = base + n, n += fit_padded(8);
    w->rate_skewness_prod = base + n, n += fit_padded(8);
    w->minus_two_rate = base + n, n += fit_padded(8);
    w->rate_pdi = base + n, n += fit_padded(8);
    w->rate_skewness_prod_2 = base + n, n += fit_padded(8);
    w->rate_sq = base + n, n += fit_padded(8);
    w->rate_prod = base + n, n += fit_padded(8);
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
    const double skewness = theta[2]; /* [1] */

    /* scalars of the call and of the groups */
    {
        /* dls_cumulant.lua:30: local moments = 1 + pdi * x^2 / 2 - skewness * x^3 / 6 */
        const double rate_sq = rate*rate;                                      /* [1/s^2] */
        w.half_rate_sq_pdi[0] = 0.5*rate_sq*pdi;
        const double rate_cubed = rate*rate*rate;                              /* [1/s^3] */
        w.rate_skewness_prod[0] = -0.16666666666666666*rate_cubed*skewness;
        /* dls_cumulant.lua:32: m.observe(g2, { mean = baseline + contrast * g1^2, sigma = sigma, linear ... */
        w.minus_two_rate[0] = -2.0*rate;
        /* dls_cumulant.lua:30: local moments = 1 + pdi * x^2 / 2 - skewness * x^3 / 6 */
        w.rate_pdi[0] = rate*pdi;
        w.rate_skewness_prod_2[0] = -0.5*rate_sq*skewness;
        w.rate_sq[0] = rate_sq;
        /* dls_cumulant.lua:32: m.observe(g2, { mean = baseline + contrast * g1^2, sigma = sigma, linear ... */
        w.rate_prod[0] = -0.3333333333333333*rate_cubed;
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
        /* dls_cumulant.lua:32: m.observe(g2, { mean = baseline + contrast * g1^2, sigma = sigma, linear ... */
        const fit_vd delay_sq = delay*delay;                                   /* [s^2] */
        /* dls_cumulant.lua:30: local moments = 1 + pdi * x^2 / 2 - skewness * x^3 / 6 */
        const fit_vd moments = 1.0 + w.half_rate_sq_pdi[0]*delay_sq + w.rate_skewness_prod[0]*delay*delay_sq;
        /* dls_cumulant.lua:32: m.observe(g2, { mean = baseline + contrast * g1^2, sigma = sigma, linear ... */
        const fit_vd b_contrast = moments*moments*fit_vexp(w.minus_two_rate[0]*delay);
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

enum { SUMS = 16 };

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
        /* dls_cumulant.lua:32: m.observe(g2, { mean = baseline + contrast * g1^2, sigma = sigma, linear ... */
        const fit_vd delay_sq = delay*delay;                                   /* [s^2] */
        const fit_vd delay_delay_sq = delay*delay_sq;                          /* [s^3] */
        /* dls_cumulant.lua:30: local moments = 1 + pdi * x^2 / 2 - skewness * x^3 / 6 */
        const fit_vd moments = 1.0 + w.half_rate_sq_pdi[0]*delay_sq + w.rate_skewness_prod[0]*delay_delay_sq;
        /* dls_cumulant.lua:32: m.observe(g2, { mean = baseline + contrast * g1^2, sigma = sigma, linear ... */
        const fit_vd moments_prod = moments*fit_vexp(w.minus_two_rate[0]*delay);
        const fit_vd b_contrast = moments*moments_prod;
        const fit_vd moments_prod_2 = delay*moments_prod;
        const fit_vd moments_prod_3 = delay*moments_prod_2;
        const fit_vd r = fit_vload(t->y + at) - (lin[0]*b_contrast + lin[1]);
        fit_vd m[3] = {{0}}; /* d mean / d theta_k, over factor[k] */
        m[0] = 2.0*(w.rate_pdi[0]*delay_sq + w.rate_skewness_prod_2[0]*delay_delay_sq)*moments_prod
                - 2.0*moments*moments_prod_2; /* rate */
        m[1] = moments_prod_3; /* pdi */
        m[2] = delay*moments_prod_3; /* skewness */
        const fit_vd b0 = b_contrast;
        const fit_vd b1 = fit_vset1(1.0);
        const fit_vd mw0 = weight*m[0];
        H[0] += mw0*m[0];
        H[1] += mw0*m[1];
        H[2] += mw0*m[2];
        G[0] += mw0*r;
        V[0] += mw0*b0;
        V[3] += mw0*b1;
        const fit_vd mw1 = weight*m[1];
        H[3] += mw1*m[1];
        H[4] += mw1*m[2];
        G[1] += mw1*r;
        V[1] += mw1*b0;
        V[4] += mw1*b1;
        const fit_vd mw2 = weight*m[2];
        H[5] += mw2*m[2];
        G[2] += mw2*r;
        V[2] += mw2*b0;
        V[5] += mw2*b1;
    }
}

static void normal(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                   double *scratch, double *out)
{
    struct tables w;
    carve(l, (double *)(uintptr_t)ws, &w);
    fit_vd H[6] = {{0}}, G[3] = {{0}}, V[6] = {{0}};
    const size_t full = t->w ? t->i0 : t->i1 / FIT_VL * FIT_VL;
    normal_rows(l, w, lin, t, t->i0, full, 1, H, G, V);
    normal_rows(l, w, lin, t, full, fit_padded(t->i1), 0, H, G, V);
    double factor[3] = {0};
    factor[0] = lin[0];
    factor[1] = lin[0]*w.rate_sq[0];
    factor[2] = lin[0]*w.rate_prod[0];
    for (size_t k = 0, n = 0; k < 3; k++)
        for (size_t q = k; q < 3; q++)
            *out++ = factor[k]*factor[q]*fit_vsum(H[n++]);
    for (size_t k = 0; k < 3; k++)
        *out++ = factor[k]*fit_vsum(G[k]);
    for (size_t n = 0; n < 6; n++)
        *out++ = factor[n % 3]*fit_vsum(V[n]);
}

static void gradient(const struct fit_layout *l, const double *ws, const double *lin, const double *adj,
                     const struct fit_tile *t, double *scratch, double *out)
{
    struct tables w;
    carve(l, (double *)(uintptr_t)ws, &w);
    const double *const seeds = adj;
    const double *const at_lin = lin;
    fit_vd sum[3] = {{0}};
    for (size_t row = t->i0; row < fit_padded(t->i1); row += FIT_VL) {
        const size_t at = row - t->i0;
        fit_vd weight = t->w ? fit_vload(t->w + at) : fit_vset1(1.0);
        if (__builtin_expect(row + FIT_VL > t->i1, 0))
            weight = fit_where_set(fit_row_lanes(t, row), weight);
        const fit_vd delay = fit_vload(l->column[0] + row);
        /* dls_cumulant.lua:32: m.observe(g2, { mean = baseline + contrast * g1^2, sigma = sigma, linear ... */
        const fit_vd delay_sq = delay*delay;                                   /* [s^2] */
        const fit_vd delay_delay_sq = delay*delay_sq;                          /* [s^3] */
        /* dls_cumulant.lua:30: local moments = 1 + pdi * x^2 / 2 - skewness * x^3 / 6 */
        const fit_vd moments = 1.0 + w.half_rate_sq_pdi[0]*delay_sq + w.rate_skewness_prod[0]*delay_delay_sq;
        /* dls_cumulant.lua:32: m.observe(g2, { mean = baseline + contrast * g1^2, sigma = sigma, linear ... */
        const fit_vd moments_prod = moments*fit_vexp(w.minus_two_rate[0]*delay);
        const fit_vd b_contrast = moments*moments_prod;
        const fit_vd r = fit_vload(t->y + at) - (at_lin[0]*b_contrast + at_lin[1]); /* residual */
        const fit_vd seed_contrast = (seeds[0]*at_lin[0])*r - (seeds[1]*b_contrast + seeds[2]);
        const fit_vd moments_prod_2 = delay*moments_prod;
        const fit_vd moments_prod_3 = delay*moments_prod_2*seed_contrast;
        sum[0] += weight*((2.0*(w.rate_pdi[0]*delay_sq
                + w.rate_skewness_prod_2[0]*delay_delay_sq)*moments_prod
                - 2.0*moments*moments_prod_2)*seed_contrast); /* rate */
        sum[1] += weight*(w.rate_sq[0]*moments_prod_3); /* pdi */
        sum[2] += weight*(w.rate_prod[0]*delay*moments_prod_3); /* skewness */
    }
    for (size_t k = 0; k < 3; k++)
        out[k] = fit_vsum(sum[k]);
}

static void model(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                  double *out)
{
    struct tables w;
    carve(l, (double *)(uintptr_t)ws, &w);
    for (size_t row = t->i0; row < fit_padded(t->i1); row += FIT_VL) {
        const fit_vd delay = fit_vload(l->column[0] + row);
        /* dls_cumulant.lua:32: m.observe(g2, { mean = baseline + contrast * g1^2, sigma = sigma, linear ... */
        const fit_vd delay_sq = delay*delay;                                   /* [s^2] */
        /* dls_cumulant.lua:30: local moments = 1 + pdi * x^2 / 2 - skewness * x^3 / 6 */
        const fit_vd moments = 1.0 + w.half_rate_sq_pdi[0]*delay_sq + w.rate_skewness_prod[0]*delay*delay_sq;
        /* dls_cumulant.lua:32: m.observe(g2, { mean = baseline + contrast * g1^2, sigma = sigma, linear ... */
        const fit_vd b_contrast = moments*moments*fit_vexp(w.minus_two_rate[0]*delay);
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
        /* dls_cumulant.lua:30: local moments = 1 + pdi * x^2 / 2 - skewness * x^3 / 6 */
        const fit_vd delay_sq = delay*delay;                                   /* [s^2] */
        const fit_vd delay_cubed = delay*delay*delay;                          /* [s^3] */
        const fit_vd moments = 1.0 + delay_sq*w.half_rate_sq_pdi[0] + delay_cubed*w.rate_skewness_prod[0];
        /* dls_cumulant.lua:32: m.observe(g2, { mean = baseline + contrast * g1^2, sigma = sigma, linear ... */
        const fit_vd moments_sq = moments*moments;
        const fit_vd exp_minus_delay_two_rate = fit_vexp(delay*w.minus_two_rate[0]); /* [1] */
        fit_store_points(mean + p, at.n, contrast*moments_sq*exp_minus_delay_two_rate + baseline);
        if (!jac)
            continue;
        fit_vd J[5];
        J[0] = contrast*(2.0*moments*exp_minus_delay_two_rate*(delay_sq*w.rate_pdi[0]
                + delay_cubed*w.rate_skewness_prod_2[0])
                - 2.0*delay*moments_sq*exp_minus_delay_two_rate); /* rate */
        J[1] = delay_sq*contrast*moments*exp_minus_delay_two_rate*w.rate_sq[0]; /* pdi */
        J[2] = delay_cubed*contrast*moments*exp_minus_delay_two_rate*w.rate_prod[0]; /* skewness */
        J[3] = moments_sq*exp_minus_delay_two_rate; /* contrast */
        J[4] = fit_vset1(1.0); /* baseline */
        fit_store_columns(jac + p, list->n, 5, at.n, J);
    }
}

static void curves(const struct fit_layout *l, const double *theta, double *value, double *tangent)
{
    /* the model has none */
}

/* ---- description ----------------------------------------------------------------------------------- */

static const char *const desc_param_alias_0[] = {"Gamma", NULL};
static const struct fit_param desc_param[] = {
    {.name = "rate", .unit = "1/s", .doc = "mean relaxation rate of the field",
     .alias = desc_param_alias_0,
     .start = 1000.0, .lower = 0.001, .upper = 1000000000.0, .over = -1,
     .prior = FIT_PRIOR_LOG_UNIFORM, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "pdi", .unit = "1", .doc = "variance of the rates over rate^2",
     .start = 0.1, .lower = -0.5, .upper = 1.0, .over = -1,
     .prior = FIT_PRIOR_TRUNCATED_NORMAL, .prior_a = 0.1, .prior_b = 0.2},
    {.name = "skewness", .unit = "1", .doc = "third central moment of the rates over rate^3",
     .start = 0.0, .lower = -1.0, .upper = 2.0, .over = -1,
     .prior = FIT_PRIOR_TRUNCATED_NORMAL, .prior_a = 0.0, .prior_b = 0.2},
};

static const char *const desc_linear_alias_0[] = {"beta", NULL};
static const struct fit_param desc_linear[] = {
    {.name = "contrast", .unit = "1", .doc = "coherence factor: g2 - baseline at delay 0",
     .alias = desc_linear_alias_0,
     .start = 0.8, .lower = 0.0, .upper = 2.0, .over = -1,
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
    199464.0, 0.172611, -0.0433916,
    668793.0, 0.0425387, 0.0318314,
    11.0461, 0.308619, 0.0114222,
    515447.0, 0.158587, 0.140259,
    1392.21, 0.222067, 0.127056,
    1290.9, 0.195566, 0.14122,
    16.9111, 0.337662, 0.163872,
    9146.64, 0.371814, 0.0323113,
    155253.0, 0.230264, 0.0532417,
    33.0585, 0.254594, 0.182735,
    455072.0, 0.0867017, -0.037801,
    1.33432, 0.32864, 0.0529169,
    34.2817, 0.0941178, 0.0575194,
    73.6418, 0.207686, -0.0311423,
    1.52847, 0.0292974, 0.149245,
    357335.0, 0.0976863, 0.0525956,
    624.423, 0.0542195, 0.172526,
    169860.0, 0.0509333, -0.046252,
    52301.7, 0.242343, -0.00297999,
    72083.8, 0.38226, 0.137373,
    367950.0, 0.13428, 0.0105493,
    201707.0, 0.0663782, 0.0187766,
    35.6405, 0.219593, -0.000208018,
    5151.51, 0.372716, 0.163875,
    149.658, 0.377714, 0.183419,
    173167.0, 0.0642908, 0.14225,
    117817.0, 0.165869, 0.0971155,
    45.3094, 0.096589, 0.0174985,
    108.773, 0.192955, 0.143825,
    2721.6, 0.042533, 0.0755143,
    6.18936, 0.34041, 0.0923851,
    648.886, 0.00893964, -0.0314825,
    227.722, 0.372731, 0.165135,
    17.4868, 0.202288, 0.08657,
    4.17066, 0.297345, 0.114422,
    106.265, 0.380723, 0.00308183,
    5.46709, 0.083019, 0.0539722,
    3.57124, 0.148346, 0.189366,
    42588.0, 0.391949, 0.152662,
    902.855, 0.239342, 0.0747458,
    19.4793, 0.276911, 0.106168,
    32.8262, 0.252458, 0.145585,
    401.189, 0.0293967, 0.0990216,
    301415.0, 0.123308, 0.176599,
    65.9952, 0.206926, 0.0825489,
    958.408, 0.0883083, 0.137396,
    43682.5, 0.0870299, 0.0725199,
    425.927, 0.0160143, 0.173336,
    658151.0, 0.290013, 0.00538526,
    1.64734, 0.0413446, 0.0165774,
    6.55279, 0.212235, 0.0365467,
    2615.16, 0.268634, 0.130086,
    835492.0, 0.269052, 0.0581236,
    72053.1, 0.116765, 0.139557,
    96015.6, 0.27786, 0.0322329,
    195627.0, 0.263095, -0.00136113,
    13202.9, 0.359823, -0.0365528,
    1890.04, 0.056364, 0.146127,
    6.6917, 0.0579765, 0.192513,
    58050.8, 0.20025, -0.0335088,
    11.6729, 0.236191, 0.133699,
    3.92716, 0.316206, 0.168894,
    34.2896, 0.23775, 0.027861,
    16.4278, 0.0559135, -0.000225472,
};

extern const struct fit_kernel FIT_KERNEL_SYMBOL;
const struct fit_kernel FIT_KERNEL_SYMBOL = {
    .abi = FIT_KERNEL_ABI,
    .name = "dls_cumulant",
    .variant = "fast",
    .title = "Dynamic light scattering: moments of the distribution of relaxation rates, to the third",
    .formula = "g2(delay) = baseline + contrast exp(-2 x) (1 + pdi x^2/2 - skewness x^3/6)^2,   x = rate delay\n",
    .reference = "B. J. Frisken, Appl. Opt. 40 (2001) 4087, eq. (24), with mu_2 = pdi rate^2, mu_3 = skewness rate^3",
    .source = "dls_cumulant.lua",
    .hash = "cc0625e131e47bcfc115e454bedaeb4cbdade29a04e4f355b557a0ae3a4918d6",
    .isa = FIT_KERNEL_ISA,
    .space = FIT_ROWS,
    .raw = 0,
    .nparam = 3,
    .param = desc_param,
    .nlinear = 2,
    .linear = desc_linear,
    .intercept = 1,
    .ncolumn = 3,
    .column = desc_column,
    .nscreen = 64,
    .screen = desc_screen,
    .cost = {.per_frame = 0, .per_pair = 39, .per_pair_group = 25,
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
