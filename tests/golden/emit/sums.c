/* sums.c -- written by homodyne-gen from sums.lua.  Edit the model, not this file.
 *
 * A sum, an average, one inside of the other
 *
 *   theta      0  rate                 [nm^2/s]
 *              1  width                [1]
 *   lin        0  height               [1]
 *   group      0  q                    [1/nm]
 *   column     0  t                    [s]
 *              1  y                    [1]
 *
 * cost of normal, operations: 0 per frame, 14 per row, 38 per row and group; of moments 13
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

/* nodes of Gauss and Hermite, n = 5 */
static const double fit_nodes_1[5] = {
    -2.8569700138728056, -1.355626179974266, 0.0, 1.355626179974266,
    2.8569700138728056};

/* weights of Gauss and Hermite, n = 5 */
static const double fit_weights_1[5] = {
    0.01125741132772069, 0.22207592200561266, 0.5333333333333333, 0.22207592200561266,
    0.01125741132772069};

/* nodes of Gauss and Legendre, n = 3 */
static const double fit_nodes_5[3] = {
    0.11270166537925831, 0.5, 0.8872983346207417};

/* weights of Gauss and Legendre, n = 3 */
static const double fit_weights_5[3] = {
    0.2777777777777778, 0.4444444444444444, 0.2777777777777778};

/* Workspace: scalars, tables over the time grid, tables at the used frames. */
struct tables {
    double *u_prod; /* integrate(0, width, cos(u)^2) */
    double *width; /* width */
    double *inv_k_sq; /* 1/k^2 */
    double *minus_q_sq_k_D; /* -q^2 * k * D */
    double *width_prod; /* node3 * exp(width * node2) */
    double *inv_k; /* 1/k */
    double *width_prod_2; /* node2 * node3 * exp(width * node2) */
    double *scale; /* reduce(index5, node11 * cos(u)^2) */
    double *u_prod_2; /* -width * reduce(index5, node11 * cos(u)^2) */
    double *u_prod_3; /* -q^2 * rate * width * reduce(index5, node11 * cos(u)^2) */
    double *u_prod_4; /* -2 * width * reduce(index5, node10 * node11 * cos(u) * sin(u)) */
    double *u_prod_5; /* -q^2 * width * reduce(index5, node11 * cos(u)^2) */
};

FIT_INLINE size_t carve(const struct fit_layout *l, double *base, struct tables *w)
{
    const size_t ng = l->ngroup;
    size_t n = 0;
    w->u_prod = base + n, n += fit_padded(8);
    w->width = base + n, n += fit_padded(8);
    w->inv_k_sq = base + n, n += fit_padded(4);
    w->minus_q_sq_k_D = base + n, n += fit_padded(ng * 20);
    w->width_prod = base + n, n += fit_padded(5);
    w->inv_k = base + n, n += fit_padded(4);
    w->width_prod_2 = base + n, n += fit_padded(5);
    w->scale = base + n, n += fit_padded(8);
    w->u_prod_2 = base + n, n += fit_padded(8);
    w->u_prod_3 = base + n, n += fit_padded(ng);
    w->u_prod_4 = base + n, n += fit_padded(8);
    w->u_prod_5 = base + n, n += fit_padded(ng);
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
    const double rate = theta[0]; /* [nm^2/s] */
    const double width = theta[1]; /* [1] */

    /* scalars of the call and of the groups */
    {
        /* sums.lua:5: local width = m.parameter("width", { start = 0.2, bounds = {0.01, 0.5} }) */
        w.width[0] = width;
        for (size_t node2 = 0; node2 < 4; node2++) {
            /* sums.lua:8: return sum(1, 4, function(k) return exp(-D * q^2 * k * t) / k^2 end) / (1 + ... */
            w.inv_k[node2] = 1.0/(1.0 + (double)node2);
            w.inv_k_sq[node2] = 1.0/((1.0 + (double)node2)*(1.0 + (double)node2));
        }
        for (size_t node1 = 0; node1 < 5; node1++) {
            /* sums.lua:7: local mean = average({ "log_normal", median = rate, sd = width }, function(D ... */
            const double exp_width_prod = exp(width*fit_nodes_1[node1]);       /* [1] */
            w.width_prod[node1] = fit_weights_1[node1]*exp_width_prod;
            w.width_prod_2[node1] = fit_nodes_1[node1]*fit_weights_1[node1]*exp_width_prod;
        }
        /* sums.lua:10: m.observe(y, { mean = height * mean * integrate(0, width, function(u) return cos ... */
        double sum_2 = 0.0;
        double sum_3 = 0.0;
        for (size_t node1 = 0; node1 < 3; node1++) {
            const double u = width*fit_nodes_5[node1];                         /* [1] */
            const double cos_u = cos(u);                                       /* [1] */
            sum_2 += fit_weights_5[node1]*cos_u*cos_u;
            sum_3 += fit_nodes_5[node1]*fit_weights_5[node1]*cos_u*sin(u);
        }
        w.scale[0] = sum_2;
        w.u_prod_2[0] = -width*sum_2;
        w.u_prod_4[0] = -2.0*width*sum_3;
        w.u_prod[0] = width*sum_2;
        for (size_t g = 0; g < ng; g++) {
            /* sums.lua:8: return sum(1, 4, function(k) return exp(-D * q^2 * k * t) / k^2 end) / (1 + ... */
            const double q_sq = l->coord[0][g]*l->coord[0][g];                 /* [1/nm^2] */
            for (size_t node1 = 0; node1 < 5; node1++) {
                /* sums.lua:7: local mean = average({ "log_normal", median = rate, sd = width }, functi ... */
                const double exp_width_prod_2 = exp(width*fit_nodes_1[node1]); /* [1] */
                const double D = rate*exp_width_prod_2;                        /* [nm^2/s] */
                for (size_t node2 = 0; node2 < 4; node2++) {
                    /* sums.lua:8: return sum(1, 4, function(k) return exp(-D * q^2 * k * t) / k^2 end) ... */
                    w.minus_q_sq_k_D[g * 20 + node1 * 4 + node2] = -q_sq*(1.0 + (double)node2)*D;
                }
            }
            /* sums.lua:10: m.observe(y, { mean = height * mean * integrate(0, width, function(u) return ... */
            w.u_prod_5[g] = -q_sq*width*sum_2;
            w.u_prod_3[g] = -q_sq*rate*width*sum_2;
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
    fit_vd sum[3] = {{0}};
    for (size_t row = t->i0; row < fit_padded(t->i1); row += FIT_VL) {
        const size_t at = row - t->i0;
        fit_vd weight = t->w ? fit_vload(t->w + at) : fit_vset1(1.0);
        if (__builtin_expect(row + FIT_VL > t->i1, 0))
            weight = fit_where_set(fit_row_lanes(t, row), weight);
        const fit_vd t_2 = fit_vload(l->column[0] + row);
        /* sums.lua:7: local mean = average({ "log_normal", median = rate, sd = width }, function(D) */
        fit_vd sum_2 = fit_vset1(0.0);
        for (size_t node1 = 0; node1 < 5; node1++) {
            /* sums.lua:8: return sum(1, 4, function(k) return exp(-D * q^2 * k * t) / k^2 end) / (1 + ... */
            fit_vd sum_3 = fit_vset1(0.0);
            for (size_t node2 = 0; node2 < 4; node2++) {
                sum_3 += w.inv_k_sq[node2]*fit_vexp(w.minus_q_sq_k_D[g * 20 + node1 * 4 + node2]*t_2);
            }
            sum_2 += fit_weights_1[node1]*sum_3;
        }
        /* sums.lua:10: m.observe(y, { mean = height * mean * integrate(0, width, function(u) return cos ... */
        const fit_vd b_height = w.u_prod[0]*(sum_2/((1.0 + w.width[0]*t_2)));
        const fit_vd d = fit_vload(t->y + at);
        const fit_vd b0 = b_height;
        sum[0] += weight*b0*b0;
        sum[1] += weight*b0*d;
        sum[2] += weight*d*d;
    }
    for (size_t k = 0; k < l->ngroup * 3; k++)
        out[k] = 0.0;
    out += g * 3;
    for (size_t k = 0; k < 3; k++)
        out[k] = fit_vsum(sum[k]);
}

enum { SUMS = 8 };

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
        const fit_vd t_2 = fit_vload(l->column[0] + row);
        const fit_vd inv_one_plus_width_t_2 = 1.0/(1.0 + w.width[0]*t_2);
        /* sums.lua:7: local mean = average({ "log_normal", median = rate, sd = width }, function(D) */
        fit_vd sum_2 = fit_vset1(0.0);
        fit_vd sum_3 = fit_vset1(0.0);
        fit_vd sum_4 = fit_vset1(0.0);
        for (size_t node1 = 0; node1 < 5; node1++) {
            /* sums.lua:8: return sum(1, 4, function(k) return exp(-D * q^2 * k * t) / k^2 end) / (1 + ... */
            fit_vd sum_5 = fit_vset1(0.0);
            fit_vd sum_6 = fit_vset1(0.0);
            for (size_t node2 = 0; node2 < 4; node2++) {
                const fit_vd exp_minus_q_sq_k_D_t_2 = fit_vexp(w.minus_q_sq_k_D[g * 20 + node1 * 4
                        + node2]*t_2); /* [1] */
                sum_5 += w.inv_k[node2]*exp_minus_q_sq_k_D_t_2;
                sum_6 += w.inv_k_sq[node2]*exp_minus_q_sq_k_D_t_2;
            }
            sum_2 += w.width_prod[node1]*sum_5;
            sum_3 += fit_weights_1[node1]*sum_6;
            sum_4 += w.width_prod_2[node1]*sum_5;
        }
        /* sums.lua:10: m.observe(y, { mean = height * mean * integrate(0, width, function(u) return cos ... */
        const fit_vd t_prod = inv_one_plus_width_t_2*sum_3;
        const fit_vd b_height = w.u_prod[0]*t_prod;
        const fit_vd t_prod_2 = t_2*inv_one_plus_width_t_2;
        const fit_vd r = fit_vload(t->y + at) - (lin[0]*b_height);
        fit_vd m[2] = {{0}}; /* d mean / d theta_k, over factor[k] */
        m[0] = t_prod_2*sum_2; /* rate */
        m[1] = w.scale[0]*t_prod + w.u_prod_2[0]*t_prod_2*t_prod + w.u_prod_3[g]*t_prod_2*sum_4
                + w.u_prod_4[0]*t_prod; /* width */
        const fit_vd b0 = b_height;
        const fit_vd mw0 = weight*m[0];
        H[0] += mw0*m[0];
        H[1] += mw0*m[1];
        G[0] += mw0*r;
        V[0] += mw0*b0;
        const fit_vd mw1 = weight*m[1];
        H[2] += mw1*m[1];
        G[1] += mw1*r;
        V[1] += mw1*b0;
    }
}

static void normal(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                   double *scratch, double *out)
{
    struct tables w;
    carve(l, (double *)(uintptr_t)ws, &w);
    const size_t g = t->group;
    lin += 1 * g;
    fit_vd H[3] = {{0}}, G[2] = {{0}}, V[2] = {{0}};
    const size_t full = t->w ? t->i0 : t->i1 / FIT_VL * FIT_VL;
    normal_rows(l, w, lin, t, t->i0, full, 1, H, G, V);
    normal_rows(l, w, lin, t, full, fit_padded(t->i1), 0, H, G, V);
    double factor[2] = {0};
    factor[0] = lin[0]*w.u_prod_5[g];
    factor[1] = lin[0];
    for (size_t k = 0, n = 0; k < 2; k++)
        for (size_t q = k; q < 2; q++)
            *out++ = factor[k]*factor[q]*fit_vsum(H[n++]);
    for (size_t k = 0; k < 2; k++)
        *out++ = factor[k]*fit_vsum(G[k]);
    for (size_t n = 0; n < l->ngroup * 2; n++)
        out[n] = 0.0;
    out += g * 2;
    for (size_t n = 0; n < 2; n++)
        *out++ = factor[n % 2]*fit_vsum(V[n]);
}

static void gradient(const struct fit_layout *l, const double *ws, const double *lin, const double *adj,
                     const struct fit_tile *t, double *scratch, double *out)
{
    struct tables w;
    carve(l, (double *)(uintptr_t)ws, &w);
    const size_t g = t->group;
    const double *const seeds = adj + 2 * g;
    const double *const at_lin = lin + 1 * g;
    fit_vd sum[2] = {{0}};
    for (size_t row = t->i0; row < fit_padded(t->i1); row += FIT_VL) {
        const size_t at = row - t->i0;
        fit_vd weight = t->w ? fit_vload(t->w + at) : fit_vset1(1.0);
        if (__builtin_expect(row + FIT_VL > t->i1, 0))
            weight = fit_where_set(fit_row_lanes(t, row), weight);
        const fit_vd t_2 = fit_vload(l->column[0] + row);
        const fit_vd inv_one_plus_width_t_2 = 1.0/(1.0 + w.width[0]*t_2);
        /* sums.lua:7: local mean = average({ "log_normal", median = rate, sd = width }, function(D) */
        fit_vd sum_2 = fit_vset1(0.0);
        fit_vd sum_3 = fit_vset1(0.0);
        fit_vd sum_4 = fit_vset1(0.0);
        for (size_t node1 = 0; node1 < 5; node1++) {
            /* sums.lua:8: return sum(1, 4, function(k) return exp(-D * q^2 * k * t) / k^2 end) / (1 + ... */
            fit_vd sum_5 = fit_vset1(0.0);
            fit_vd sum_6 = fit_vset1(0.0);
            for (size_t node2 = 0; node2 < 4; node2++) {
                const fit_vd exp_minus_q_sq_k_D_t_2 = fit_vexp(w.minus_q_sq_k_D[g * 20 + node1 * 4
                        + node2]*t_2); /* [1] */
                sum_5 += w.inv_k[node2]*exp_minus_q_sq_k_D_t_2;
                sum_6 += w.inv_k_sq[node2]*exp_minus_q_sq_k_D_t_2;
            }
            sum_2 += w.width_prod[node1]*sum_5;
            sum_3 += fit_weights_1[node1]*sum_6;
            sum_4 += w.width_prod_2[node1]*sum_5;
        }
        /* sums.lua:10: m.observe(y, { mean = height * mean * integrate(0, width, function(u) return cos ... */
        const fit_vd t_prod = inv_one_plus_width_t_2*sum_3;
        const fit_vd b_height = w.u_prod[0]*t_prod;
        const fit_vd r = fit_vload(t->y + at) - (at_lin[0]*b_height); /* residual */
        const fit_vd seed_height = (seeds[0]*at_lin[0])*r - (seeds[1]*b_height);
        const fit_vd t_prod_2 = t_2*inv_one_plus_width_t_2;
        sum[0] += weight*(w.u_prod_5[g]*t_prod_2*sum_2*seed_height); /* rate */
        sum[1] += weight*((w.scale[0]*t_prod + w.u_prod_2[0]*t_prod_2*t_prod
                + w.u_prod_3[g]*t_prod_2*sum_4 + w.u_prod_4[0]*t_prod)*seed_height); /* width */
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
    lin += 1 * g;
    for (size_t row = t->i0; row < fit_padded(t->i1); row += FIT_VL) {
        const fit_vd t_2 = fit_vload(l->column[0] + row);
        /* sums.lua:7: local mean = average({ "log_normal", median = rate, sd = width }, function(D) */
        fit_vd sum_2 = fit_vset1(0.0);
        for (size_t node1 = 0; node1 < 5; node1++) {
            /* sums.lua:8: return sum(1, 4, function(k) return exp(-D * q^2 * k * t) / k^2 end) / (1 + ... */
            fit_vd sum_3 = fit_vset1(0.0);
            for (size_t node2 = 0; node2 < 4; node2++) {
                sum_3 += w.inv_k_sq[node2]*fit_vexp(w.minus_q_sq_k_D[g * 20 + node1 * 4 + node2]*t_2);
            }
            sum_2 += fit_weights_1[node1]*sum_3;
        }
        /* sums.lua:10: m.observe(y, { mean = height * mean * integrate(0, width, function(u) return cos ... */
        const fit_vd b_height = w.u_prod[0]*(sum_2/((1.0 + w.width[0]*t_2)));
        fit_vstore(out + (row - t->i0), fit_vset1(0.0) + (lin[0]*b_height));
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
        const fit_vd height = fit_pick_g(lin, &at);
        const fit_vd t_2 = fit_pick(l->column[0], at.i);
        /* sums.lua:8: return sum(1, 4, function(k) return exp(-D * q^2 * k * t) / k^2 end) / (1 + widt ... */
        const fit_vd one_plus_t_2_width = 1.0 + t_2*w.width[0];
        const fit_vd inv_one_plus_t_2_width = 1.0/one_plus_t_2_width;
        const fit_vd t_power = inv_one_plus_t_2_width*inv_one_plus_t_2_width;
        /* sums.lua:7: local mean = average({ "log_normal", median = rate, sd = width }, function(D) */
        fit_vd sum_2 = fit_vset1(0.0);
        fit_vd sum_3 = fit_vset1(0.0);
        fit_vd sum_4 = fit_vset1(0.0);
        for (size_t node1 = 0; node1 < 5; node1++) {
            /* sums.lua:8: return sum(1, 4, function(k) return exp(-D * q^2 * k * t) / k^2 end) / (1 + ... */
            fit_vd sum_5 = fit_vset1(0.0);
            fit_vd sum_6 = fit_vset1(0.0);
            for (size_t node2 = 0; node2 < 4; node2++) {
                const fit_vd minus_q_sq_k_D = fit_pick_stride(w.minus_q_sq_k_D + node1 * 4 + node2, 20, &at);
                const fit_vd exp_minus_t_2_q_sq_k_D = fit_vexp(t_2*minus_q_sq_k_D); /* [1] */
                sum_5 += exp_minus_t_2_q_sq_k_D*w.inv_k[node2];
                sum_6 += exp_minus_t_2_q_sq_k_D*w.inv_k_sq[node2];
            }
            sum_2 += sum_5*w.width_prod[node1];
            sum_3 += fit_weights_1[node1]*sum_6;
            sum_4 += sum_5*w.width_prod_2[node1];
        }
        fit_store_points(mean + p, at.n, height*inv_one_plus_t_2_width*sum_3*w.u_prod[0]);
        if (!jac)
            continue;
        fit_vd J[3];
        const fit_vd u_prod_5 = fit_pick_g(w.u_prod_5, &at);
        const fit_vd u_prod_3 = fit_pick_g(w.u_prod_3, &at);
        J[0] = t_2*height*inv_one_plus_t_2_width*sum_2*u_prod_5; /* rate */
        J[1] = height*(inv_one_plus_t_2_width*sum_3*w.scale[0] + t_2*t_power*sum_3*w.u_prod_2[0]
                + t_2*inv_one_plus_t_2_width*sum_4*u_prod_3
                + inv_one_plus_t_2_width*sum_3*w.u_prod_4[0]); /* width */
        J[2] = inv_one_plus_t_2_width*sum_3*w.u_prod[0]; /* height */
        fit_store_columns(jac + p, list->n, 3, at.n, J);
    }
}

static void curves(const struct fit_layout *l, const double *theta, double *value, double *tangent)
{
    /* the model has none */
}

/* ---- description ----------------------------------------------------------------------------------- */

static const struct fit_param desc_param[] = {
    {.name = "rate", .unit = "nm^2/s", .doc = "",
     .start = 1.0, .lower = 0.1, .upper = 10.0, .over = -1,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
    {.name = "width", .unit = "1", .doc = "",
     .start = 0.2, .lower = 0.01, .upper = 0.5, .over = -1,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
};

static const struct fit_param desc_linear[] = {
    {.name = "height", .unit = "1", .doc = "",
     .start = 1.0, .lower = -HUGE_VAL, .upper = HUGE_VAL, .over = 0,
     .prior = FIT_PRIOR_NONE, .prior_a = 0.0, .prior_b = 0.0},
};

static const struct fit_axis desc_axis[] = {
    {"q", "1/nm", ""},
};

static const struct fit_column desc_column[] = {
    {"t", "s", "", FIT_ROLE_COVARIATE, 0.1, 5.0},
    {"y", "1", "", FIT_ROLE_VALUE, 0.0, 0.0},
};

/* parameter sets within the bounds: the model has no random() */
static const double desc_screen[] = {
    8.84478, 0.221449,
    0.361694, 0.485732,
    1.15283, 0.17039,
    1.82129, 0.388058,
    2.53232, 0.476495,
    4.02503, 0.382907,
    5.28711, 0.282032,
    7.1114, 0.264056,
    4.94025, 0.384791,
    2.12648, 0.423636,
    8.56935, 0.333503,
    9.30239, 0.17133,
    8.66522, 0.292074,
    4.18837, 0.134075,
    6.40119, 0.466161,
    9.43583, 0.11621,
    0.583082, 0.0202296,
    8.23385, 0.211717,
    2.63285, 0.125294,
    4.35777, 0.162482,
    5.24023, 0.0469611,
    0.404024, 0.0458893,
    7.99008, 0.463501,
    2.51774, 0.211087,
    4.71254, 0.0764189,
    8.91203, 0.437124,
    1.3606, 0.0173461,
    7.88555, 0.30687,
    1.96199, 0.406723,
    9.56093, 0.377251,
    9.28355, 0.174493,
    2.49775, 0.443219,
    1.74286, 0.144802,
    2.66071, 0.279001,
    2.07176, 0.313141,
    9.32472, 0.429195,
    3.68892, 0.4727,
    9.34338, 0.437808,
    1.6912, 0.38681,
    8.4675, 0.21319,
    5.92577, 0.145255,
    2.49058, 0.142297,
    3.46026, 0.24637,
    7.77545, 0.290511,
    1.15269, 0.256008,
    1.40622, 0.427002,
    5.73845, 0.23966,
    0.321256, 0.0462944,
    3.98972, 0.466595,
    8.61935, 0.111488,
    5.10663, 0.277677,
    1.12334, 0.374248,
    6.61109, 0.175489,
    9.52291, 0.11404,
    1.3173, 0.111698,
    4.2173, 0.0551469,
    3.77156, 0.479157,
    7.73832, 0.490138,
    8.1254, 0.251375,
    6.02372, 0.254502,
    2.2278, 0.349217,
    6.28425, 0.133825,
    6.34833, 0.393347,
    4.39553, 0.046011,
};

extern const struct fit_kernel FIT_KERNEL_SYMBOL;
const struct fit_kernel FIT_KERNEL_SYMBOL = {
    .abi = FIT_KERNEL_ABI,
    .name = "sums",
    .variant = "fast",
    .title = "A sum, an average, one inside of the other",
    .formula = "",
    .reference = "",
    .source = "sums.lua",
    .hash = "b6a162df37990697d089119f7fead4004907674895207c84172ed8ac503c143b",
    .isa = FIT_KERNEL_ISA,
    .space = FIT_ROWS,
    .raw = 0,
    .nparam = 2,
    .param = desc_param,
    .nlinear = 1,
    .linear = desc_linear,
    .intercept = -1,
    .naxis = 1,
    .axis = desc_axis,
    .ncolumn = 2,
    .column = desc_column,
    .nscreen = 64,
    .screen = desc_screen,
    .cost = {.per_frame = 0, .per_pair = 14, .per_pair_group = 38,
             .value_per_pair_group = 13, .functions_per_pair = 1},
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
