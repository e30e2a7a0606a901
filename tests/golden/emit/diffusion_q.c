/* diffusion_q.c -- written by homodyne-gen from diffusion_q.lua.  Edit the model, not this file.
 *
 * Intensity correlation at several wavevectors with one law of diffusion
 *
 *     g2(q, delay) = baseline(q) + contrast(q) exp(-2 rate delay),   rate(q) = D q^2 (q/q_ref)^(power - 2)
 *
 *   theta      0  D                    [angstrom^2/s]
 *              1  power                [1]
 *   lin        0  contrast             [1]
 *              1  baseline             [1]
 *   setting    0  q_ref                [1/angstrom]
 *   group      0  q                    [1/angstrom]
 *   column     0  delay                [s]
 *              1  g2                   [1]
 *              2  sigma                [1]
 *
 * cost of normal, operations: 0 per frame, 10 per row, 19 per row and group; of moments 9
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
    double *q_prod; /* -2 * rate */
    double *q_prod_2; /* -2 * q^2 * (q / q_ref)^(power - 2) */
    double *q_prod_3; /* -2 * q^2 * D * (q / q_ref)^(power - 2) * log(q / q_ref) */
};

FIT_INLINE size_t carve(const struct fit_layout *l, double *base, struct tables *w)
{
    const size_t ng = l->ngroup;
    size_t n = 0;
    w->q_prod = base + n, n += fit_padded(ng);
    w->q_prod_2 = base + n, n += fit_padded(ng);
    w->q_prod_3 = base + n, n += fit_padded(ng);
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
    struct tables w;
    carve(l, ws, &w);
    const double D = theta[0]; /* [angstrom^2/s] */
    const double power = theta[1]; /* [1] */
    const double q_ref = l->setting[0]; /* [1/angstrom] */

    /* scalars of the call and of the groups */
    {
        for (size_t g = 0; g < ng; g++) {
            /* diffusion_q.lua:27: local rate = D * q^2 * (q / q_ref)^(power - 2) */
            const double q_sq = l->coord[0][g]*l->coord[0][g];                 /* [1/angstrom^2] */
            const double q_over_q_ref = l->coord[0][g]/q_ref;                  /* [1] */
            const double q_power = pow(q_over_q_ref, power - 2.0);             /* [1] */
            /* diffusion_q.lua:28: m.observe(g2, { mean = baseline + contrast * exp(-2 * rate * delay), ... */
            w.q_prod[g] = -2.0*q_sq*D*q_power;
            w.q_prod_2[g] = -2.0*q_sq*q_power;
            w.q_prod_3[g] = -2.0*q_sq*D*q_power*log(q_over_q_ref);
        }
    }
    return FIT_EVAL_OK;
}

/* ---- sums over the data ---------------------------------------------------------------------------- */

static void moments(const struct fit_layout *l, const double *ws, const struct fit_tile *t, double *scratch,
                    double *out)
{
    struct tables w;
    carve(l, (double *)(uintptr_t)ws, &w);
    const size_t g = t->group;
    fit_vd sum[6] = {{0}};
    for (size_t row = t->i0; row < fit_padded(t->i1); row += FIT_VL) {
        const size_t at = row - t->i0;
        fit_vd weight = t->w ? fit_vload(t->w + at) : fit_vset1(1.0);
        if (__builtin_expect(row + FIT_VL > t->i1, 0))
            weight = fit_where_set(fit_row_lanes(t, row), weight);
        const fit_vd delay = fit_vload(l->column[0] + row);
        /* diffusion_q.lua:28: m.observe(g2, { mean = baseline + contrast * exp(-2 * rate * delay), sigm ... */
        const fit_vd b_contrast = fit_vexp(w.q_prod[g]*delay);                 /* [1] */
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
    for (size_t k = 0; k < l->ngroup * 6; k++)
        out[k] = 0.0;
    out += g * 6;
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
    const size_t g = t->group;
    for (size_t row = from; row < to; row += FIT_VL) {
        const size_t at = row - t->i0;
        fit_vd weight = t->w && !plain ? fit_vload(t->w + at) : fit_vset1(1.0);
        if (!plain && row + FIT_VL > t->i1)
            weight = fit_where_set(fit_row_lanes(t, row), weight);
        const fit_vd delay = fit_vload(l->column[0] + row);
        /* diffusion_q.lua:28: m.observe(g2, { mean = baseline + contrast * exp(-2 * rate * delay), sigm ... */
        const fit_vd b_contrast = fit_vexp(w.q_prod[g]*delay);                 /* [1] */
        const fit_vd delay_b_contrast = delay*b_contrast;                      /* [s] */
        const fit_vd r = fit_vload(t->y + at) - (lin[0]*b_contrast + lin[1]);
        fit_vd m[2] = {{0}}; /* d mean / d theta_k, over factor[k] */
        m[0] = delay_b_contrast; /* D */
        m[1] = delay_b_contrast; /* power */
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
    const size_t g = t->group;
    lin += 2 * g;
    fit_vd H[3] = {{0}}, G[2] = {{0}}, V[4] = {{0}};
    const size_t full = t->w ? t->i0 : t->i1 / FIT_VL * FIT_VL;
    normal_rows(l, w, lin, t, t->i0, full, 1, H, G, V);
    normal_rows(l, w, lin, t, full, fit_padded(t->i1), 0, H, G, V);
    double factor[2] = {0};
    factor[0] = lin[0]*w.q_prod_2[g];
    factor[1] = lin[0]*w.q_prod_3[g];
    for (size_t k = 0, n = 0; k < 2; k++)
        for (size_t q = k; q < 2; q++)
            *out++ = factor[k]*factor[q]*fit_vsum(H[n++]);
    for (size_t k = 0; k < 2; k++)
        *out++ = factor[k]*fit_vsum(G[k]);
    for (size_t n = 0; n < l->ngroup * 4; n++)
        out[n] = 0.0;
    out += g * 4;
    for (size_t n = 0; n < 4; n++)
        *out++ = factor[n % 2]*fit_vsum(V[n]);
}

static void gradient(const struct fit_layout *l, const double *ws, const double *lin, const double *adj,
                     const struct fit_tile *t, double *scratch, double *out)
{
    struct tables w;
    carve(l, (double *)(uintptr_t)ws, &w);
    const size_t g = t->group;
    const double *const seeds = adj + 4 * g;
    const double *const at_lin = lin + 2 * g;
    fit_vd sum[2] = {{0}};
    for (size_t row = t->i0; row < fit_padded(t->i1); row += FIT_VL) {
        const size_t at = row - t->i0;
        fit_vd weight = t->w ? fit_vload(t->w + at) : fit_vset1(1.0);
        if (__builtin_expect(row + FIT_VL > t->i1, 0))
            weight = fit_where_set(fit_row_lanes(t, row), weight);
        const fit_vd delay = fit_vload(l->column[0] + row);
        /* diffusion_q.lua:28: m.observe(g2, { mean = baseline + contrast * exp(-2 * rate * delay), sigm ... */
        const fit_vd b_contrast = fit_vexp(w.q_prod[g]*delay);                 /* [1] */
        const fit_vd r = fit_vload(t->y + at) - (at_lin[0]*b_contrast + at_lin[1]); /* residual */
        const fit_vd seed_contrast = (seeds[0]*at_lin[0])*r - (seeds[1]*b_contrast + seeds[2]);
        const fit_vd b_contrast_prod = delay*b_contrast*seed_contrast;
        sum[0] += weight*(w.q_prod_2[g]*b_contrast_prod); /* D */
        sum[1] += weight*(w.q_prod_3[g]*b_contrast_prod); /* power */
    }
    for (size_t k = 0; k < 2; k++)
        out[k] = fit_vsum(sum[k]);
}

static void model(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                  double *out)
{
    struct tables w;
    carve(l, (double *)(uintptr_t)ws, &w);
    const size_t g = t->group;
    lin += 2 * g;
    for (size_t row = t->i0; row < fit_padded(t->i1); row += FIT_VL) {
        const fit_vd delay = fit_vload(l->column[0] + row);
        /* diffusion_q.lua:28: m.observe(g2, { mean = baseline + contrast * exp(-2 * rate * delay), sigm ... */
        const fit_vd b_contrast = fit_vexp(w.q_prod[g]*delay);                 /* [1] */
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
        const fit_vd contrast = fit_pick_stride(lin + 0, 2, &at);
        const fit_vd baseline = fit_pick_stride(lin + 1, 2, &at);
        const fit_vd delay = fit_pick(l->column[0], at.i);
        const fit_vd q_prod = fit_pick_g(w.q_prod, &at);
        /* diffusion_q.lua:28: m.observe(g2, { mean = baseline + contrast * exp(-2 * rate * delay), sigm ... */
        const fit_vd exp_delay_q_prod = fit_vexp(delay*q_prod);                /* [1] */
        fit_store_points(mean + p, at.n, contrast*exp_delay_q_prod + baseline);
        if (!jac)
            continue;
        fit_vd J[4];
        const fit_vd q_prod_2 = fit_pick_g(w.q_prod_2, &at);
        const fit_vd q_prod_3 = fit_pick_g(w.q_prod_3, &at);
        J[0] = delay*contrast*exp_delay_q_prod*q_prod_2; /* D */
        J[1] = delay*contrast*exp_delay_q_prod*q_prod_3; /* power */
        J[2] = exp_delay_q_prod; /* contrast */
        J[3] = fit_vset1(1.0); /* baseline */
        fit_store_columns(jac + p, list->n, 4, at.n, J);
    }
}

static void curves(const struct fit_layout *l, const double *theta, double *value, double *tangent)
{
    /* the model has none */
}

static void combine(const struct fit_layout *l, const double *theta, double *value, double *gradient)
{
    const size_t g = 0;
    const double D = theta[0]; /* [angstrom^2/s] */
    const double power = theta[1]; /* [1] */
    const double q_ref = l->setting[0]; /* [1/angstrom] */
    const double q_over_q_ref = l->coord[0][g]/q_ref;
    const double q_power = pow(q_over_q_ref, power - 2.0);
    value[0] = D*q_power;
    for (size_t k = 0; k < 2; k++)
        gradient[k] = 0.0;
    gradient[0] = q_power;
    gradient[1] = D*q_power*log(q_over_q_ref);
}

/* ---- description ----------------------------------------------------------------------------------- */

static const struct fit_param desc_param[] = {
    {.name = "D", .unit = "angstrom^2/s", .doc = "diffusion coefficient, at q_ref",
     .start = 10000.0, .lower = 0.001, .upper = 1000000000000.0, .over = -1,
     .prior = FIT_PRIOR_LOG_UNIFORM, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "power", .unit = "1", .doc = "exponent of q in the rate; 2: diffusion",
     .start = 2.0, .lower = 0.0, .upper = 6.0, .over = -1,
     .prior = FIT_PRIOR_TRUNCATED_NORMAL, .prior_a = 2.0, .prior_b = 0.5},
};

static const struct fit_param desc_linear[] = {
    {.name = "contrast", .unit = "1", .doc = "speckle contrast",
     .start = 0.2, .lower = 0.0, .upper = 2.0, .over = 0,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "baseline", .unit = "1", .doc = "value at long delays",
     .start = 1.0, .lower = 0.0, .upper = 2.0, .over = 0,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
};

static const struct fit_setting desc_setting[] = {
    {"q_ref", "1/angstrom", "wavevector at which D is quoted", 0.01, FIT_STATISTIC_NONE, 0},
};

static const struct fit_axis desc_axis[] = {
    {"q", "1/angstrom", "wavevector: rows with the same q are one curve"},
};

static const struct fit_column desc_column[] = {
    {"delay", "s", "delay time", FIT_ROLE_COVARIATE, 0.0, 0.0},
    {"g2", "1", "normalised intensity correlation", FIT_ROLE_VALUE, 0.0, 0.0},
    {"sigma", "1", "standard deviation of g2", FIT_ROLE_SIGMA, 0.0, 0.0},
};

/* parameter sets, drawn by the model's random() */
static const double desc_screen[] = {
    19946400.0, 1.86306,
    144.08, 2.94176,
    434.59, 1.65465,
    1104.61, 2.54309,
    2979.43, 2.90406,
    23922.6, 2.52207,
    139221.0, 2.11034,
    1775550.0, 2.03696,
    85800.1, 2.52976,
    1691.11, 2.68831,
    13581200.0, 2.32042,
    37775000.0, 1.65849,
    15525300.0, 2.15132,
    30046.9, 1.50643,
    659028.0, 2.86188,
    45507200.0, 1.43351,
    196.235, 1.04175,
    8503680.0, 1.82334,
    3428.17, 1.47059,
    38059.7, 1.62237,
    130404.0, 1.15086,
    152.847, 1.14649,
    6051580.0, 2.85103,
    2919.41, 1.82077,
    62442.3, 1.2711,
    21909000.0, 2.74336,
    580.765, 1.02998,
    5230170.0, 2.21171,
    1344.25, 2.61928,
    54187500.0, 2.49898,
    36795000.0, 1.6714,
    2839.12, 2.76824,
    990.086, 1.55021,
    3564.05, 2.09797,
    1566.78, 2.23731,
    38971000.0, 2.711,
    14965.8, 2.88857,
    39999000.0, 2.74615,
    921.217, 2.538,
    11781700.0, 1.82935,
    339448.0, 1.55206,
    2810.83, 1.53999,
    10877.3, 1.96478,
    4485260.0, 2.14494,
    434.504, 2.00411,
    618.936, 2.70205,
    261362.0, 1.93739,
    136.174, 1.14814,
    22772.2, 2.86365,
    14562700.0, 1.41424,
    108223.0, 2.09256,
    417.066, 2.48673,
    883318.0, 1.67546,
    51386900.0, 1.42465,
    546.709, 1.4151,
    31284.7, 1.18427,
    16795.4, 2.91493,
    4258800.0, 2.95975,
    7309330.0, 1.98521,
    389166.0, 1.99797,
    1947.93, 2.38456,
    559797.0, 1.50541,
    612163.0, 2.56468,
    40118.9, 1.14698,
};

/* what data cannot tell apart */
static const unsigned desc_degenerate_0[] = {0, 1};
static const struct fit_degeneracy desc_degeneracy[] = {
    {.kind = FIT_DEGENERATE_ONE_GROUP, .nparam = 2, .param = desc_degenerate_0,
     .condition = -1, .value = 0, .first = 0, .ncombination = 1, .each = 0,
     .held = -1, .proved = 0, .text = "with one value of q D and power enter only as D (q/q_ref)^(power - 2): only this combination is determined"},
};

static const struct fit_combination desc_combination[] = {
    {"D (q/q_ref)^(power - 2)", "angstrom^2/s"},
};

extern const struct fit_kernel FIT_KERNEL_SYMBOL;
const struct fit_kernel FIT_KERNEL_SYMBOL = {
    .abi = FIT_KERNEL_ABI,
    .name = "diffusion_q",
    .variant = "fast",
    .title = "Intensity correlation at several wavevectors with one law of diffusion",
    .formula = "g2(q, delay) = baseline(q) + contrast(q) exp(-2 rate delay),   rate(q) = D q^2 (q/q_ref)^(power - 2)\n",
    .reference = "B. J. Berne and R. Pecora, Dynamic Light Scattering, Wiley (1976), Siegert relation",
    .source = "diffusion_q.lua",
    .hash = "3c3c8e1d7d91e9149d0233bec5b8b2adba9c59b6c1b40a888789735350658ee5",
    .isa = FIT_KERNEL_ISA,
    .space = FIT_ROWS,
    .raw = 0,
    .nparam = 2,
    .param = desc_param,
    .nlinear = 2,
    .linear = desc_linear,
    .intercept = 1,
    .nsetting = 1,
    .setting = desc_setting,
    .naxis = 1,
    .axis = desc_axis,
    .ncolumn = 3,
    .column = desc_column,
    .nscreen = 64,
    .screen = desc_screen,
    .cost = {.per_frame = 0, .per_pair = 10, .per_pair_group = 19,
             .value_per_pair_group = 9, .functions_per_pair = 1},
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
    .ncombination = 1,
    .combination = desc_combination,
    .combine = combine,
};
