/* double_exponential.c -- written by homodyne-gen from double_exponential.lua.  Edit the model, not this file.
 *
 * Intensity correlation with two relaxations of the field
 *
 *     g2(delay) = baseline + contrast g1^2
 *     g1 = fraction exp(-delay/tau_fast) + (1 - fraction) exp(-delay/tau_slow)
 *
 *   theta      0  tau_fast             [s]
 *              1  tau_slow             [s]
 *              2  fraction             [1]
 *   lin        0  contrast             [1]
 *              1  baseline             [1]
 *   column     0  delay                [s]
 *              1  g2                   [1]
 *              2  sigma                [1]
 *
 * cost of normal, operations: 0 per frame, 32 per row, 25 per row and group; of moments 7
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
    double *fraction; /* fraction */
    double *minus_inv_tau_fast; /* -1 / tau_fast */
    double *one_minus_fraction; /* 1 - fraction */
    double *minus_inv_tau_slow; /* -1 / tau_slow */
    double *tau_fast_fraction_prod; /* 2 * fraction / tau_fast^2 */
    double *tau_slow_fraction_prod; /* 2 * (1 - fraction) / tau_slow^2 */
};

FIT_INLINE size_t carve(const struct fit_layout *l, double *base, struct tables *w)
{
    size_t n = 0;
    w->fraction = base + n, n += fit_padded(8);
    w->minus_inv_tau_fast = base + n, n += fit_padded(8);
    w->one_minus_fraction = base + n, n += fit_padded(8);
    w->minus_inv_tau_slow = base + n, n += fit_padded(8);
    w->tau_fast_fraction_prod = base + n, n += fit_padded(8);
    w->tau_slow_fraction_prod = base + n, n += fit_padded(8);
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
    const double tau_fast = theta[0]; /* [s] */
    const double tau_slow = theta[1]; /* [s] */
    const double fraction = theta[2]; /* [1] */

    /* scalars of the call and of the groups */
    {
        /* double_exponential.lua:31: local fast, slow = exp(-delay / tau_fast), exp(-delay / tau_slow) */
        w.minus_inv_tau_fast[0] = -1.0/tau_fast;
        w.minus_inv_tau_slow[0] = -1.0/tau_slow;
        /* double_exponential.lua:26: local fraction = m.parameter("fraction", { start = 0.5, bounds = { ... */
        w.fraction[0] = fraction;
        /* double_exponential.lua:32: local g1 = fraction * fast + (1 - fraction) * slow */
        const double one_minus_fraction = 1.0 - fraction;                      /* [1] */
        w.one_minus_fraction[0] = one_minus_fraction;
        /* double_exponential.lua:33: m.observe(g2, { mean = baseline + contrast * g1^2, sigma = sigma, ... */
        w.tau_fast_fraction_prod[0] = 2.0*(1.0/(tau_fast*tau_fast))*fraction;
        w.tau_slow_fraction_prod[0] = 2.0*(1.0/(tau_slow*tau_slow))*one_minus_fraction;
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
        /* double_exponential.lua:31: local fast, slow = exp(-delay / tau_fast), exp(-delay / tau_slow) */
        const fit_vd fast = fit_vexp(w.minus_inv_tau_fast[0]*delay);           /* [1] */
        const fit_vd slow = fit_vexp(w.minus_inv_tau_slow[0]*delay);           /* [1] */
        /* double_exponential.lua:32: local g1 = fraction * fast + (1 - fraction) * slow */
        const fit_vd g1 = w.fraction[0]*fast + w.one_minus_fraction[0]*slow;
        /* double_exponential.lua:33: m.observe(g2, { mean = baseline + contrast * g1^2, sigma = sigma, ... */
        const fit_vd b_contrast = g1*g1;
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
        /* double_exponential.lua:31: local fast, slow = exp(-delay / tau_fast), exp(-delay / tau_slow) */
        const fit_vd fast = fit_vexp(w.minus_inv_tau_fast[0]*delay);           /* [1] */
        const fit_vd slow = fit_vexp(w.minus_inv_tau_slow[0]*delay);           /* [1] */
        /* double_exponential.lua:32: local g1 = fraction * fast + (1 - fraction) * slow */
        const fit_vd g1 = w.fraction[0]*fast + w.one_minus_fraction[0]*slow;
        /* double_exponential.lua:33: m.observe(g2, { mean = baseline + contrast * g1^2, sigma = sigma, ... */
        const fit_vd b_contrast = g1*g1;
        const fit_vd delay_g1 = delay*g1;
        const fit_vd r = fit_vload(t->y + at) - (lin[0]*b_contrast + lin[1]);
        fit_vd m[3] = {{0}}; /* d mean / d theta_k, over factor[k] */
        m[0] = fast*delay_g1; /* tau_fast */
        m[1] = slow*delay_g1; /* tau_slow */
        m[2] = g1*(fast - slow); /* fraction */
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
    factor[0] = lin[0]*w.tau_fast_fraction_prod[0];
    factor[1] = lin[0]*w.tau_slow_fraction_prod[0];
    factor[2] = 2.0*lin[0];
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
        /* double_exponential.lua:31: local fast, slow = exp(-delay / tau_fast), exp(-delay / tau_slow) */
        const fit_vd fast = fit_vexp(w.minus_inv_tau_fast[0]*delay);           /* [1] */
        const fit_vd slow = fit_vexp(w.minus_inv_tau_slow[0]*delay);           /* [1] */
        /* double_exponential.lua:32: local g1 = fraction * fast + (1 - fraction) * slow */
        const fit_vd g1 = w.fraction[0]*fast + w.one_minus_fraction[0]*slow;
        /* double_exponential.lua:33: m.observe(g2, { mean = baseline + contrast * g1^2, sigma = sigma, ... */
        const fit_vd b_contrast = g1*g1;
        const fit_vd r = fit_vload(t->y + at) - (at_lin[0]*b_contrast + at_lin[1]); /* residual */
        const fit_vd seed_contrast = (seeds[0]*at_lin[0])*r - (seeds[1]*b_contrast + seeds[2]);
        const fit_vd g1_seed_contrast = g1*seed_contrast;
        const fit_vd g1_prod = delay*g1_seed_contrast;
        sum[0] += weight*(w.tau_fast_fraction_prod[0]*fast*g1_prod); /* tau_fast */
        sum[1] += weight*(w.tau_slow_fraction_prod[0]*slow*g1_prod); /* tau_slow */
        sum[2] += weight*(2.0*(fast - slow)*g1_seed_contrast); /* fraction */
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
        /* double_exponential.lua:31: local fast, slow = exp(-delay / tau_fast), exp(-delay / tau_slow) */
        const fit_vd fast = fit_vexp(w.minus_inv_tau_fast[0]*delay);           /* [1] */
        const fit_vd slow = fit_vexp(w.minus_inv_tau_slow[0]*delay);           /* [1] */
        /* double_exponential.lua:32: local g1 = fraction * fast + (1 - fraction) * slow */
        const fit_vd g1 = w.fraction[0]*fast + w.one_minus_fraction[0]*slow;
        /* double_exponential.lua:33: m.observe(g2, { mean = baseline + contrast * g1^2, sigma = sigma, ... */
        const fit_vd b_contrast = g1*g1;
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
        /* double_exponential.lua:31: local fast, slow = exp(-delay / tau_fast), exp(-delay / tau_slow) */
        const fit_vd fast = fit_vexp(delay*w.minus_inv_tau_fast[0]);           /* [1] */
        const fit_vd slow = fit_vexp(delay*w.minus_inv_tau_slow[0]);           /* [1] */
        /* double_exponential.lua:32: local g1 = fraction * fast + (1 - fraction) * slow */
        const fit_vd g1 = fast*w.fraction[0] + slow*w.one_minus_fraction[0];
        fit_store_points(mean + p, at.n, contrast*g1*g1 + baseline);
        if (!jac)
            continue;
        fit_vd J[5];
        J[0] = delay*contrast*fast*g1*w.tau_fast_fraction_prod[0]; /* tau_fast */
        J[1] = delay*contrast*slow*g1*w.tau_slow_fraction_prod[0]; /* tau_slow */
        J[2] = 2.0*contrast*g1*(fast - slow); /* fraction */
        J[3] = g1*g1; /* contrast */
        J[4] = fit_vset1(1.0); /* baseline */
        fit_store_columns(jac + p, list->n, 5, at.n, J);
    }
}

static void curves(const struct fit_layout *l, const double *theta, double *value, double *tangent)
{
    /* the model has none */
}

/* ---- description ----------------------------------------------------------------------------------- */

static const struct fit_param desc_param[] = {
    {.name = "tau_fast", .unit = "s", .doc = "relaxation time of the first step",
     .start = 0.1, .lower = 1e-09, .upper = 1000000.0, .over = -1,
     .prior = FIT_PRIOR_LOG_UNIFORM, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "tau_slow", .unit = "s", .doc = "relaxation time of the second step",
     .start = 10.0, .lower = 1e-09, .upper = 1000000.0, .over = -1,
     .prior = FIT_PRIOR_LOG_UNIFORM, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "fraction", .unit = "1", .doc = "part of the field that relaxes in the first step",
     .start = 0.5, .lower = 0.0, .upper = 1.0, .over = -1,
     .prior = FIT_PRIOR_BETA_SCALED, .prior_a = 1.0, .prior_b = 1.0},
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
    11.6543, 441.882, 0.121147,
    58.4865, 341.132, 0.361861,
    2.46004e-05, 0.00660403, 0.296551,
    41.3281, 1280.61, 0.708828,
    0.0155455, 1.20095, 0.666578,
    0.0140559, 0.741556, 0.711903,
    4.34073e-05, 0.0176991, 0.784392,
    0.191286, 127.502, 0.363396,
    8.34426, 725.337, 0.430373,
    0.000106099, 0.0130894, 0.844752,
    35.0031, 385.472, 0.139037,
    1.46897e-06, 0.000526037, 0.429334,
    0.000111365, 0.00136454, 0.444062,
    0.000308673, 0.0193882, 0.160345,
    1.76066e-06, 8.48759e-06, 0.737583,
    25.3572, 327.07, 0.428306,
    0.0053371, 0.0368279, 0.812083,
    9.40708, 61.9139, 0.111994,
    1.95593, 202.3, 0.250464,
    2.99997, 2324.03, 0.699593,
    26.3664, 575.839, 0.293758,
    11.8294, 97.2355, 0.320085,
    0.000117289, 0.00874409, 0.259334,
    0.0889705, 60.0789, 0.7844,
    0.000794575, 0.576567, 0.84694,
    9.65205, 76.9905, 0.7152,
    5.77581, 198.744, 0.57077,
    0.000161529, 0.00205084, 0.315995,
    0.00051923, 0.0263833, 0.720238,
    0.0379984, 0.221613, 0.501646,
    1.13639e-05, 0.00482049, 0.555632,
    0.00561769, 0.0202037, 0.159256,
    0.00139061, 0.939229, 0.788432,
    4.53887e-05, 0.00263783, 0.537024,
    6.71336e-06, 0.00153232, 0.626149,
    0.000503334, 0.381397, 0.269862,
    9.63109e-06, 0.000100588, 0.432711,
    5.45874e-06, 0.000145967, 0.865971,
    1.48724, 1324.54, 0.748517,
    0.00872618, 0.864398, 0.499187,
    5.24121e-05, 0.00891515, 0.599737,
    0.000105106, 0.0125744, 0.725872,
    0.00295892, 0.0142844, 0.576869,
    20.2094, 376.904, 0.825118,
    0.000266696, 0.0165693, 0.524156,
    0.00944932, 0.106495, 0.699667,
    1.53843, 17.0221, 0.492064,
    0.00320465, 0.0127606, 0.814675,
    57.249, 11758.5, 0.277233,
    1.94556e-06, 1.11545e-05, 0.313048,
    1.22622e-05, 0.000822317, 0.376949,
    0.03603, 5.44034, 0.676275,
    78.6906, 11953.6, 0.445995,
    2.99827, 50.8926, 0.706582,
    4.39665, 758.132, 0.363145,
    11.3564, 1583.37, 0.255644,
    0.312052, 175.033, 0.143031,
    0.0233684, 0.166304, 0.727607,
    1.261e-05, 9.18476e-05, 0.876042,
    2.24773, 126.855, 0.152772,
    2.64791e-05, 0.00250665, 0.687835,
    6.19591e-06, 0.0018552, 0.800459,
    0.000111399, 0.0107849, 0.349155,
    4.1761e-05, 0.000295278, 0.259278,
};

/* what data cannot tell apart */
static const unsigned desc_degenerate_0[] = {0};
static const unsigned desc_degenerate_1[] = {1};
static const unsigned desc_degenerate_2[] = {0, 1, 2};
static const struct fit_image desc_image_2[] = {{1, 0, 1}, {0, 0, 1}, {2, 1, -1}};
static const struct fit_degeneracy desc_degeneracy[] = {
    {.kind = FIT_DEGENERATE_AT_VALUE, .nparam = 1, .param = desc_degenerate_0,
     .condition = 2, .value = 0, .first = 0, .ncombination = 0, .each = 1,
     .held = -1, .proved = 1, .text = "at fraction = 0 tau_fast has no effect"},
    {.kind = FIT_DEGENERATE_AT_VALUE, .nparam = 1, .param = desc_degenerate_1,
     .condition = 2, .value = 1, .first = 0, .ncombination = 0, .each = 1,
     .held = -1, .proved = 1, .text = "at fraction = 1 tau_slow has no effect"},
    {.kind = FIT_DEGENERATE_MIRROR, .nparam = 3, .param = desc_degenerate_2, .image = desc_image_2,
     .condition = -1, .value = 0, .first = 0, .ncombination = 0, .each = 0,
     .held = -1, .proved = 0, .text = "the exchange of fast and slow with fraction -> 1 - fraction leaves the mean as it is"},
};

extern const struct fit_kernel FIT_KERNEL_SYMBOL;
const struct fit_kernel FIT_KERNEL_SYMBOL = {
    .abi = FIT_KERNEL_ABI,
    .name = "double_exponential",
    .variant = "fast",
    .title = "Intensity correlation with two relaxations of the field",
    .formula = "g2(delay) = baseline + contrast g1^2\n"
        "g1 = fraction exp(-delay/tau_fast) + (1 - fraction) exp(-delay/tau_slow)\n",
    .reference = "B. J. Berne and R. Pecora, Dynamic Light Scattering, Wiley (1976), Siegert relation;\n"
        "two steps of g1 in dense colloids: W. van Megen and S. M. Underwood, Phys. Rev. E 49 (1994) 4206",
    .source = "double_exponential.lua",
    .hash = "fb94d7830fae41435f7aaf9ccc90b5deac5ecce22036e4ca341473c57609fb9f",
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
    .cost = {.per_frame = 0, .per_pair = 32, .per_pair_group = 25,
             .value_per_pair_group = 7, .functions_per_pair = 2},
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
    .ndegeneracy = 3,
    .degeneracy = desc_degeneracy,
};
