/* test_collapsed.c -- the density of the data without linear parameters and variances (collapsed.h).
 *
 * 1. Against the same formula in long double over a dense design matrix, made of the values and derivatives
 *    that kernel->points gives; the gradient against central differences of that density along the derivatives
 *    of the basis functions (so the adjoint formula is not used).  All ways to set it up, several models.
 * 2. Against brute-force quadrature over linear parameters and variance: 20 values.
 * 3. Draws of what was integrated out: means and variances.
 */
#include "posterior/collapsed.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_PARAM = 16, MOST_LINEAR = 4, MOST_GROUP = 3, MOST_UNKNOWN = MOST_GROUP * MOST_LINEAR, POINTS = 7 };
typedef long double real;

static const double group_sigma[MOST_GROUP] = {0.05, 0.04, 0.06}; /* of data without weights */

/* ---- data ---------------------------------------------------------------------------------------------- */

struct points {
    struct fit_dataset *ds;
    size_t n;
    uint32_t *i, *j, *g;
    double *y, *w;
};

static double noise(size_t g, size_t at)
{
    double z[2];
    fit_rng_normal(17, g, at, z);
    return z[0];
}

static struct points points_new(size_t n)
{
    struct points p = {.n = 0};
    p.i = calloc(n, sizeof *p.i);
    p.j = calloc(n, sizeof *p.j);
    p.g = calloc(n, sizeof *p.g);
    p.y = e2e_doubles(n);
    p.w = e2e_doubles(n);
    assert_true(p.i && p.j && p.g);
    return p;
}

static void points_free(struct points *p)
{
    fit_dataset_free(p->ds);
    free(p->i);
    free(p->j);
    free(p->g);
    free(p->y);
    free(p->w);
}

static void add_value(struct points *p, size_t i, size_t j, size_t g, double y, double w)
{
    p->i[p->n] = (uint32_t)i, p->j[p->n] = (uint32_t)j, p->g[p->n] = (uint32_t)g;
    p->y[p->n] = y, p->w[p->n++] = w;
}

static struct points pairs(const struct fit_kernel *k, size_t nt, int weighted)
{
    static const double phi[MOST_GROUP] = {-4, 20, 75};
    struct points p = points_new(MOST_GROUP * nt * nt);
    struct fit_error err = {0};
    p.ds = e2e_dataset(
        k, &(struct e2e_grid){.ntime = nt, .dt = 0.1, .q = 0.0054, .gap = 2e6, .nphi = MOST_GROUP, .phi = phi});
    for (size_t g = 0; g < MOST_GROUP; g++) {
        double *matrix = e2e_doubles(nt * nt), *sigma = e2e_doubles(nt * nt);
        for (size_t i = 0; i < nt; i++)
            for (size_t j = i + 1; j < nt; j++) {
                size_t at = i * nt + j;
                sigma[at] = weighted ? 0.03 + 0.01 * (double)(at % 5) : 1;
                matrix[at] = 1 + 0.25 * exp(-0.3 * (double)(j - i)) + 0.04 * noise(g, at);
                add_value(&p, i, j, g, matrix[at], 1 / (sigma[at] * sigma[at]));
            }
        if (fit_dataset_put(p.ds, g, matrix, weighted ? sigma : NULL, &err) != FIT_OK)
            fail_msg("%s", err.message);
        free(matrix);
        free(sigma);
    }
    if (fit_dataset_finish(p.ds, &err) != FIT_OK)
        fail_msg("%s", err.message);
    return p;
}

static struct points rows(size_t n, int weighted)
{
    struct points p = points_new(n);
    struct fit_error err = {0};
    double *x = e2e_doubles(n), *sigma = e2e_doubles(n);
    for (size_t r = 0; r < n; r++) {
        x[r] = 0.01 * pow(1.6, (double)r);
        sigma[r] = weighted ? 0.02 + 0.01 * (double)(r % 3) : 1;
        add_value(&p, r, 0, 0, 1 + 0.2 * exp(-2 * x[r]) + 0.02 * noise(0, r), 1 / (sigma[r] * sigma[r]));
    }
    if (fit_dataset_new_table(&(struct fit_dataset_table){.nrow = n,
                                                          .ncolumn = 1,
                                                          .column = (const double *const *)&x,
                                                          .value = p.y,
                                                          .sigma = weighted ? sigma : NULL,
                                                          .center = 1},
                              &p.ds, &err) != FIT_OK ||
        fit_dataset_finish(p.ds, &err) != FIT_OK)
        fail_msg("%s", err.message);
    free(x);
    free(sigma);
    return p;
}

/* ---- the density in long double ------------------------------------------------------------------------- */

/* rest and basis functions of every point, and their derivatives by theta: value[n][Q + 1] (rest last),
 * slope[n][Q + 1][K]. */
struct design {
    size_t K, Q;
    double *value, *slope;
};

static struct design design_new(const struct e2e_prepared *p, const struct points *d)
{
    struct design x = {.K = p->kernel->nparam, .Q = p->kernel->nlinear};
    size_t W = x.Q + 1;
    double lin[MOST_GROUP * MOST_LINEAR] = {0}, jac[MOST_PARAM + MOST_LINEAR], mean;
    x.value = e2e_doubles(d->n * W);
    x.slope = e2e_doubles(d->n * W * x.K);
    for (size_t n = 0; n < d->n; n++)
        for (size_t q = W; q-- > 0;) {
            double *l = q < x.Q ? &lin[d->g[n] * x.Q + q] : NULL;
            double *slope = x.slope + (n * W + q) * x.K;
            if (l)
                *l = 1;
            p->kernel->points(p->layout, p->ws, lin, &(struct fit_points){1, &d->i[n], &d->j[n], &d->g[n]}, &mean,
                              jac);
            if (l)
                *l = 0;
            x.value[n * W + q] = l ? jac[x.K + q] : mean;
            for (size_t k = 0; k < x.K; k++)
                slope[k] = jac[k] - (l ? x.slope[(n * W + x.Q) * x.K + k] : 0);
        }
    return x;
}

/* Solves the symmetric positive definite a x = b in place; returns log det a. */
static real solve(size_t n, real *a, real *b)
{
    real logdet = 0;
    for (size_t k = 0; k < n; k++) {
        logdet += logl(a[k * n + k]);
        for (size_t r = k + 1; r < n; r++) {
            real f = a[r * n + k] / a[k * n + k];
            for (size_t c = k; c < n; c++)
                a[r * n + c] -= f * a[k * n + c];
            b[r] -= f * b[k];
        }
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t c = k + 1; c < n; c++)
            b[k] -= a[k * n + c] * b[c];
        b[k] /= a[k * n + k];
    }
    return logdet;
}

/* The number of the unknown of (g, q), or -1, and its value when it is given. */
static int unknown(const struct fit_collapsed *c, size_t g, size_t q)
{
    return c->o->map[g * c->o->nlinear + q];
}

/* Weight of a value: of the data, and 1 / sigma^2 where known deviations are given apart. */
static real weight_of(const struct fit_collapsed *c, const struct points *d, size_t n)
{
    int apart = c->variance == FIT_VARIANCE_KNOWN && !d->ds->weighted;
    return c->count * d->w[n] * (apart ? 1 / ((real)group_sigma[d->g[n]] * group_sigma[d->g[n]]) : 1);
}

/* What the variance of unit m adds to the log density, given or integrated out: c_n is the sum of its squares, count
 * that of its values, flat that of its unknowns without a prior. */
static real density_of_unit(const struct fit_collapsed *c, size_t m, real c_n, real count, real flat,
                            const real *log_sigma)
{
    const real two_pi = 6.283185307179586476925286766559L, half = 0.5L;
    real a0 = c->a0, b0 = half * a0 * c->s0[m] * c->s0[m], an = a0 + half * (count - flat), bn = b0 + half * c_n;
    real lp = -(half * (count - flat) * logl(two_pi));
    if (fit_variance_given(c->variance))
        return lp - (half * c_n + count * log_sigma[m]);
    if (c->variance == FIT_VARIANCE_KNOWN)
        return lp - half * c_n;
    return lp + lgammal(an) - an * logl(bn) + (a0 > 0 ? a0 * logl(b0) - lgammal(a0) : -logl(2));
}

/* The priors of the unknowns b that are integrated out, each in the unit of its first group. */
static void add_priors(const struct fit_collapsed *c, size_t Q, const real *b, real *c_n, real *flat)
{
    for (size_t v = 0; v < c->o->nu; v++)
        for (size_t g = 0, done = 0; g < c->o->ngroup && !done; g++)
            for (size_t q = 0; q < Q; q++)
                if (unknown(c, g, q) == (int)v && !done && !c->explicit_[v]) {
                    c_n[c->unit[g]] += c->precision0[v] * (b[v] - c->m0[v]) * (b[v] - c->m0[v]);
                    flat[c->unit[g]] += c->precision0[v] == 0;
                    done = 1;
                }
}

/* log p(y | theta + h e_k), to first order in h.  u: values of the explicit unknowns, minus origin. */
static real density(const struct fit_collapsed *c, const struct points *d, const struct design *x, const double *u,
                    const real *log_sigma, size_t k, real h)
{
    const struct fit_objective *o = c->o;
    size_t nu = o->nu, W = x->Q + 1;
    real A[MOST_UNKNOWN * MOST_UNKNOWN] = {0}, b[MOST_UNKNOWN] = {0}, lp = 0, half = 0.5L;
    real c_n[MOST_GROUP] = {0}, count[MOST_GROUP] = {0}, flat[MOST_GROUP] = {0};
    real *row = calloc(d->n * (nu + 1), sizeof *row), *y = calloc(d->n, sizeof *y);
    assert_non_null(row);
    assert_non_null(y);
    for (size_t n = 0; n < d->n; n++) {
        size_t g = d->g[n];
        int given = fit_variance_given(c->variance);
        real *r = row + n * nu, weight = weight_of(c, d, n) * (given ? expl(-2 * log_sigma[c->unit[g]]) : 1);
        y[n] = d->y[n] - (x->value[n * W + x->Q] + h * x->slope[(n * W + x->Q) * x->K + k]);
        for (size_t q = 0; q < x->Q; q++) {
            real basis = x->value[n * W + q] + h * x->slope[(n * W + q) * x->K + k];
            int v = unknown(c, g, q);
            real reference = (int)q == o->kernel->intercept ? o->ds->reference[g] : 0;
            /* lin = u + origin in the units of the data; fixed ones have only a shift */
            if (v >= 0)
                r[v] += basis;
            y[n] -= basis * (o->shift[g * x->Q + q] + reference);
        }
        for (size_t v = 0; v < nu; v++)
            if (c->explicit_[v])
                y[n] -= r[v] * u[v];
        for (size_t v = 0; v < nu; v++)
            for (size_t w = 0; w < nu; w++)
                A[v * nu + w] += c->explicit_[v] || c->explicit_[w] ? 0 : weight * r[v] * r[w];
        for (size_t v = 0; v < nu; v++)
            b[v] += c->explicit_[v] ? 0 : weight * r[v] * y[n];
    }
    for (size_t v = 0; v < nu; v++) {
        A[v * nu + v] += c->explicit_[v] ? 1 : c->precision0[v];
        b[v] += c->explicit_[v] ? 0 : (real)c->precision0[v] * c->m0[v];
        lp += c->explicit_[v] || c->precision0[v] == 0 ? 0 : half * logl(c->precision0[v]);
    }
    lp -= half * solve(nu, A, b);
    for (size_t n = 0; n < d->n; n++) {
        real r = y[n];
        for (size_t v = 0; v < nu; v++)
            r -= c->explicit_[v] ? 0 : row[n * nu + v] * b[v];
        int given = fit_variance_given(c->variance);
        real weight = weight_of(c, d, n) * (given ? expl(-2 * log_sigma[c->unit[d->g[n]]]) : 1);
        c_n[c->unit[d->g[n]]] += weight * r * r;
        count[c->unit[d->g[n]]] += c->count;
    }
    add_priors(c, x->Q, b, c_n, flat);
    for (size_t m = 0; m < c->nunit; m++)
        lp += density_of_unit(c, m, c_n[m], count[m], flat[m], log_sigma);
    free(row);
    free(y);
    return lp;
}

/* ---- 1 ------------------------------------------------------------------------------------------------- */

struct way {
    const char *name;
    enum fit_scaling scaling;
    enum fit_variance variance;
    double a0, count, sd;
    int explicit_, fixed;
};

static const struct way ways[] = {
    {"per group", FIT_SCALING_INDIVIDUAL, FIT_VARIANCE_UNIT, 2, 1, 0.25, 0, 0},
    {"Jeffreys, flat", FIT_SCALING_INDIVIDUAL, FIT_VARIANCE_UNIT, 0, 1, INFINITY, 0, 0},
    {"proper noise, flat, one explicit", FIT_SCALING_INDIVIDUAL, FIT_VARIANCE_UNIT, 2, 1, INFINITY, 1, 0},
    {"known variance, flat", FIT_SCALING_AVERAGED, FIT_VARIANCE_KNOWN, 0, 1, INFINITY, 0, 0},
    {"one variance", FIT_SCALING_INDIVIDUAL, FIT_VARIANCE_SHARED, 2, 1, 0.25, 0, 0},
    {"known variance", FIT_SCALING_INDIVIDUAL, FIT_VARIANCE_KNOWN, 0, 1, 0.25, 0, 0},
    {"averaged, counted twice", FIT_SCALING_AVERAGED, FIT_VARIANCE_UNIT, 2, 2, 0.25, 0, 0},
    {"one explicit", FIT_SCALING_INDIVIDUAL, FIT_VARIANCE_UNIT, 2, 1, 0.25, 1, 0},
    {"one explicit, averaged, known", FIT_SCALING_AVERAGED, FIT_VARIANCE_KNOWN, 0, 1, 0.25, 1, 0},
    {"first fixed", FIT_SCALING_INDIVIDUAL, FIT_VARIANCE_UNIT, 2, 1, 0.25, 0, 1},
    {"variance given", FIT_SCALING_INDIVIDUAL, FIT_VARIANCE_GIVEN, 0, 1, 0.25, 0, 0},
    {"variance given, averaged", FIT_SCALING_AVERAGED, FIT_VARIANCE_GIVEN, 0, 2, 0.25, 1, 0},
    {"one variance given, counted twice", FIT_SCALING_INDIVIDUAL, FIT_VARIANCE_GIVEN_SHARED, 0, 2, 0.25, 1, 0},
    {"all constant", FIT_SCALING_CONSTANT, FIT_VARIANCE_SHARED, 2, 1, 0.25, 0, 0},
};

static struct fit_collapsed *set_up(const struct fit_kernel *k, const struct points *d, const struct way *w)
{
    double mean[MOST_LINEAR] = {0.3, 1.1}, sd[MOST_LINEAR], sigma[MOST_GROUP];
    for (size_t g = 0; g < MOST_GROUP; g++)
        sigma[g] = d->ds->weighted ? 1 : group_sigma[g]; /* of weighted residuals */
    double value[MOST_GROUP * MOST_LINEAR];
    unsigned char fixed[MOST_LINEAR] = {1};
    struct fit_collapsed *c;
    struct fit_error err = {0};
    for (size_t q = 0; q < MOST_LINEAR; q++)
        sd[q] = w->sd;
    for (size_t e = 0; e < MOST_GROUP * MOST_LINEAR; e++)
        value[e] = e % k->nlinear ? 1.02 : 0.28 + 0.01 * (double)e;
    struct fit_collapsed_setup s = {.scaling = w->scaling, .variance = w->variance, .mean = mean, .sd = sd, .a0 = w->a0,
                                    .sigma = sigma, .linear_fixed = w->fixed ? fixed : NULL, .linear_value = value,
                                    .count = w->count, .threads = 1};
    if (fit_collapsed_new(k, d->ds, &s, &c, &err) != FIT_OK)
        fail_msg("%s", err.message);
    if (w->explicit_)
        fit_collapsed_explicit(c, c->o->nu - 1);
    return c;
}

static void compare(const struct fit_kernel *k, const struct points *d, struct fit_collapsed *c, const double *theta,
                    double *worst_lp, double *worst_g)
{
    double lp, g[MOST_PARAM], gu[MOST_UNKNOWN + 1], gh[MOST_GROUP], u[MOST_UNKNOWN + 1], norm = 0;
    double log_sigma[MOST_GROUP];
    real h0[MOST_GROUP];
    for (size_t m = 0; m < MOST_GROUP; m++)
        h0[m] = log_sigma[m] = log(d->ds->weighted ? 1.1 : 0.05) + 0.1 * (double)m;
    struct e2e_prepared p = e2e_prepare(k, &d->ds->layout, theta);
    struct design x = design_new(&p, d);
    for (size_t v = 0; v < c->o->nu; v++)
        u[v] = 0.27 - c->o->origin[v] / 2;
    struct fit_collapsed_point at = {theta, u, log_sigma};
    assert_int_equal(fit_collapsed_eval(c, &at, &lp, &(struct fit_collapsed_slope){g, gu, gh}), FIT_EVAL_OK);
    real ref = density(c, d, &x, u, h0, 0, 0);
    *worst_lp = e2e_max(*worst_lp, (double)(fabsl(lp - ref) / (fabsl(ref) + (real)d->n)));
    double scale = 0, difference[MOST_PARAM];
    for (size_t n = 0; n < k->nparam; n++) {
        /* a step that changes the basis functions by 1e-5 at most; differences of fourth order */
        double top = 0;
        for (size_t m = 0; m < d->n * (x.Q + 1); m++)
            top = fmax(top, fabs(x.slope[m * x.K + n]));
        real h = top > 0 ? 1e-5L / top : 1;
        real near = density(c, d, &x, u, h0, n, h) - density(c, d, &x, u, h0, n, -h);
        real far = density(c, d, &x, u, h0, n, 2 * h) - density(c, d, &x, u, h0, n, -2 * h);
        real slope = (8 * near - far) / (12 * h);
        difference[n] = (double)fabsl(g[n] - slope) * (double)h; /* in units in which slopes are alike */
        scale += (double)(slope * h * slope * h);
    }
    for (size_t n = 0; n < k->nparam; n++)
        norm += difference[n] * difference[n];
    if (scale > 0)
        *worst_g = e2e_max(*worst_g, sqrt(norm / scale));
    for (size_t v = 0; v < c->o->nu; v++) {
        real h = 1e-6L;
        double up[MOST_UNKNOWN], down[MOST_UNKNOWN];
        memcpy(up, u, sizeof up);
        memcpy(down, u, sizeof down);
        up[v] = u[v] + (double)h, down[v] = u[v] - (double)h;
        if (!c->explicit_[v])
            continue;
        real slope = (density(c, d, &x, up, h0, 0, 0) - density(c, d, &x, down, h0, 0, 0)) / ((real)up[v] - down[v]);
        *worst_g = e2e_max(*worst_g, (double)fabsl((gu[v] - slope) / slope));
    }
    for (size_t m = 0; m < c->nunit && fit_variance_given(c->variance); m++) {
        real h = 1e-5L, at0 = h0[m], value[4];
        static const int step[4] = {-2, -1, 1, 2};
        for (size_t n = 0; n < 4; n++) {
            h0[m] = at0 + step[n] * h;
            value[n] = density(c, d, &x, u, h0, 0, 0);
        }
        h0[m] = at0;
        real slope = (8 * (value[2] - value[1]) - (value[3] - value[0])) / (12 * h);
        *worst_g = e2e_max(*worst_g, (double)(fabsl(gh[m] - slope) / (fabsl(slope) + (real)c->npoint[m])));
    }
    free(x.value);
    free(x.slope);
    e2e_release(&p);
}

static void check_model(const char *name)
{
    const struct fit_kernel *k = e2e_kernel(name, "fast", NULL);
    assert_non_null(k);
    for (int weighted = 0; weighted < 2; weighted++) {
        struct points d = k->space == FIT_ROWS ? rows(20, weighted) : pairs(k, 14, weighted);
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            /* flat priors need data that determine contrasts; some of the points above have none */
            if (isinf(ways[w].sd) && k->space == FIT_PAIRS)
                continue;
            struct fit_collapsed *c = set_up(k, &d, &ways[w]);
            double worst_lp = 0, worst_g = 0;
            for (size_t m = 0; m < POINTS; m++)
                compare(k, &d, c, k->screen + (m * k->nscreen / POINTS) * k->nparam, &worst_lp, &worst_g);
            printf("    %-18s %-10s %-30s density %.1e  gradient %.1e\n", k->name, weighted ? "weights" : "",
                   ways[w].name, worst_lp, worst_g);
            if (!(worst_lp <= 1e-12) || !(worst_g <= 1e-10))
                fail_msg("%s, %s: density off by %.1e (allowed 1e-12), gradient by %.1e of its norm (1e-10)", k->name,
                         ways[w].name, worst_lp, worst_g);
            fit_collapsed_free(c);
        }
        points_free(&d);
    }
}

static void test_density_static(void **state)
{
    (void)state;
    check_model("static_isotropic");
}

static void test_density_laminar(void **state)
{
    (void)state;
    check_model("laminar");
}

static void test_density_heterodyne(void **state)
{
    (void)state;
    check_model("heterodyne");
}

static void test_density_kww(void **state)
{
    (void)state;
    check_model("kww");
}

/* ---- 2 ------------------------------------------------------------------------------------------------- */

/* Brute force: the trapezoidal rule over log sigma^2 and, inside, over both linear parameters.  For an
 * integrand that falls off on both sides like a Gaussian its error is exponentially small in 1 / step. */
static void check_quadrature(const struct way *way)
{
    enum { N = 20, OUT = 700, IN = 41 };
    const struct fit_kernel *k = e2e_kernel("kww", "fast", NULL);
    struct points d = rows(N, 0);
    struct fit_collapsed *c = set_up(k, &d, way);
    const double *theta = k->screen;
    struct e2e_prepared p = e2e_prepare(k, &d.ds->layout, theta);
    struct design x = design_new(&p, &d);
    double lp;
    assert_int_equal(x.Q, 2);
    assert_int_equal(fit_collapsed_eval(c, &(struct fit_collapsed_point){.theta = theta}, &lp, NULL), FIT_EVAL_OK);
    double s0 = c->s0[0], mean[2] = {0.3, 1.1}, sd = way->sd;
    const int flat = !isfinite(sd);
    real a0 = c->a0, b0 = 0.5L * a0 * s0 * s0, total = 0, top = lp, two_pi = 6.283185307179586476925286766559L;
    /* where the linear parameters are, for the grid only: least squares and its matrix */
    real M[3] = {0}, v[2] = {0};
    for (size_t n = 0; n < N; n++) {
        real b = x.value[n * 3], o = x.value[n * 3 + 1], y = d.y[n] - x.value[n * 3 + 2];
        M[0] += b * b, M[1] += b * o, M[2] += o * o, v[0] += b * y, v[1] += o * y;
    }
    M[0] += s0 * s0 / sd / sd, M[2] += s0 * s0 / sd / sd;
    v[0] += s0 * s0 / sd / sd * mean[0], v[1] += s0 * s0 / sd / sd * mean[1];
    real det = M[0] * M[2] - M[1] * M[1], lin0 = (M[2] * v[0] - M[1] * v[1]) / det,
         lin1 = (M[0] * v[1] - M[1] * v[0]) / det;
    real l00 = sqrtl(M[0]), l10 = M[1] / l00, l11 = sqrtl(M[2] - l10 * l10);
    for (size_t e = 0; e <= OUT; e++) {
        real eta = logl(s0 * s0) - 6 + 12.0L * e / OUT, s2 = expl(eta), sum = 0, step = 18.0L / (IN - 1);
        real prior_s = a0 > 0 ? a0 * logl(b0) - lgammal(a0) - (a0 + 1) * eta - b0 / s2 : -logl(2) - eta;
        for (size_t i = 0; i < IN; i++)
            for (size_t j = 0; j < IN; j++) {
                real z1 = (-9 + i * step) * sqrtl(s2) / l11, z0 = ((-9 + j * step) * sqrtl(s2) - l10 * z1) / l00;
                real A = lin0 + z0, B = lin1 + z1, q = 0, s2p = s2 * sd * sd / (s0 * s0);
                for (size_t n = 0; n < N; n++) {
                    real r = d.y[n] - x.value[n * 3 + 2] - A * x.value[n * 3] - B * x.value[n * 3 + 1];
                    q += r * r;
                }
                real l = -0.5L * (q / s2 + N * logl(two_pi * s2));
                l -= flat ? 0
                          : 0.5L * ((A - mean[0]) * (A - mean[0]) + (B - mean[1]) * (B - mean[1])) / s2p +
                                logl(two_pi * s2p);
                sum += expl(l + prior_s + eta - top); /* d sigma^2 = sigma^2 d eta */
            }
        total += sum * step * step * s2 / (l00 * l11) * (12.0L / OUT);
    }
    real difference = logl(total);
    printf("    %s: log of the integral over three dimensions: %.15Lf, collapsed: %.15f\n", way->name, top + difference,
           lp);
    if (!(fabsl(difference) <= 1e-8L))
        fail_msg("quadrature and collapsed density differ by %.1Le (allowed 1e-8)", difference);
    free(x.value);
    free(x.slope);
    e2e_release(&p);
    fit_collapsed_free(c);
    points_free(&d);
}

static void test_quadrature(void **state)
{
    (void)state;
    check_quadrature(&(struct way){"conjugate", FIT_SCALING_INDIVIDUAL, FIT_VARIANCE_UNIT, 2, 1, 0.25, 0, 0});
    check_quadrature(&(struct way){"flat, 1/sigma", FIT_SCALING_INDIVIDUAL, FIT_VARIANCE_UNIT, 0, 1, INFINITY, 0, 0});
    check_quadrature(&(struct way){"flat, proper", FIT_SCALING_INDIVIDUAL, FIT_VARIANCE_UNIT, 2, 1, INFINITY, 0, 0});
}

/* ---- 3 ------------------------------------------------------------------------------------------------- */

/* Moments of 40,000 draws: mean mu, covariance b_n/(a_n - 1) A^-1; mean of sigma^2 is b_n/(a_n - 1). */
static void test_draws(void **state)
{
    enum { DRAWS = 40000 };
    (void)state;
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    struct points d = pairs(k, 14, 0);
    struct way way = {"", FIT_SCALING_INDIVIDUAL, FIT_VARIANCE_UNIT, 2, 1, 0.25, 0, 0};
    struct fit_collapsed *c = set_up(k, &d, &way);
    double lp, lin[MOST_GROUP * 2], sigma[MOST_GROUP], sum[MOST_GROUP * 2] = {0}, square[MOST_GROUP * 2] = {0};
    double variance[MOST_GROUP] = {0};
    assert_int_equal(fit_collapsed_eval(c, &(struct fit_collapsed_point){.theta = k->screen}, &lp, NULL), FIT_EVAL_OK);
    for (uint32_t s = 0; s < DRAWS; s++) {
        struct fit_rng rng = {.seed = 3, .iteration = s, .purpose = FIT_RNG_CONDITIONAL};
        fit_collapsed_draw(c, &rng, lin, sigma);
        for (size_t e = 0; e < MOST_GROUP * 2; e++) {
            sum[e] += lin[e];
            square[e] += lin[e] * lin[e];
        }
        for (size_t g = 0; g < MOST_GROUP; g++)
            variance[g] += sigma[g] * sigma[g];
    }
    for (size_t g = 0; g < MOST_GROUP; g++) {
        double expected = c->b_n[g] / (c->a_n[g] - 1), spread = expected / sqrt(c->a_n[g] - 2);
        assert_true(fabs(variance[g] / DRAWS - expected) < 5 * spread / sqrt(DRAWS));
        for (size_t q = 0; q < 2; q++) {
            double mean, sd, m = sum[g * 2 + q] / DRAWS, v = square[g * 2 + q] / DRAWS - m * m;
            size_t u = (size_t)c->o->map[g * 2 + q];
            fit_collapsed_unknown(c, u, &mean, &sd);
            assert_true(fabs(m - mean - c->o->origin[u]) < 5 * sd / sqrt(DRAWS));
            assert_true(fabs(v / (sd * sd) - 1) < 5 * sqrt(2.2 / DRAWS));
        }
    }
    fit_collapsed_free(c);
    points_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_density_static),     cmocka_unit_test(test_density_laminar),
        cmocka_unit_test(test_density_heterodyne), cmocka_unit_test(test_density_kww),
        cmocka_unit_test(test_quadrature),         cmocka_unit_test(test_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
