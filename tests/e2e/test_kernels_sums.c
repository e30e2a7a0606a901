/* test_kernels_sums.c -- moments, normal and gradient of every model, variant and instruction set against sums
 * in long double over the values and derivatives that kernel->points gives.
 *
 * Parameters are the model's own random points (kernel->screen).  Data: 1, 5 and 9 groups, numbers of frames that
 * are no multiple of 8, masked frames, weights that differ, missing values (weight 0), no weights; tables for
 * models of rows.  A sum agrees within 1e-11 of the sum of the absolute values of its terms; so do the sums at
 * different instruction sets.  kernel->model agrees with kernel->points within 1e-12 of the contrast; where
 * arguments of sin reach 1e4 this is their rounding.
 */
#include "math/rng.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double TOLERANCE = 1e-11, TOLERANCE_MODEL = 1e-12;
enum { POINTS = 6, MOST_PARAMETERS = 16, MOST_LINEAR = 4, MOST_GROUPS = 9 };

static double uniform(size_t stream, size_t at)
{
    double u[2];
    fit_rng_uniform(5, stream, at, u);
    return u[0];
}

/* What is summed: n points with values and weights (0: does not count). */
struct data {
    const char *name;
    struct fit_dataset *ds;
    size_t n;
    uint32_t *i, *j, *g;
    double *y, *w;
};

/* ---- data sets ---------------------------------------------------------------------------------------- */

struct shape {
    const char *name;
    size_t ntime, ngroup, mask; /* every mask-th frame is left out; 0: none */
    int sigma, holes;
};

static const struct shape shapes[] = {
    {"61 frames, 5 groups, masked, weights", 61, 5, 7, 1, 1},
    {"43 frames, 1 group, no weights", 43, 1, 0, 0, 0},
    {"77 frames, 1 group, masked, holes", 77, 1, 5, 0, 1},
    {"9 frames, 5 groups", 9, 5, 0, 0, 0},
    {"70 frames, 9 groups, masked, weights", 70, 9, 6, 1, 1},
    {"83 frames, 9 groups", 83, 9, 0, 0, 0},
    {"130 frames, 5 groups, weights", 130, 5, 0, 1, 0},
};

static struct data data_alloc(const char *name, size_t n)
{
    struct data d = {.name = name};
    d.i = calloc(n, sizeof *d.i);
    d.j = calloc(n, sizeof *d.j);
    d.g = calloc(n, sizeof *d.g);
    d.y = e2e_doubles(n);
    d.w = e2e_doubles(n);
    assert_true(d.i && d.j && d.g);
    return d;
}

static void data_free(struct data *d)
{
    fit_dataset_free(d->ds);
    free(d->i);
    free(d->j);
    free(d->g);
    free(d->y);
    free(d->w);
}

/* A value, its error and its weight; one in eleven is missing when there are holes. */
static double draw(size_t stream, size_t at, int with_sigma, int holes, double *y, double *sigma)
{
    *y = 1 + 0.3 * uniform(stream, at);
    *sigma = with_sigma ? 0.5 + 1.5 * uniform(stream + 100, at) : 1;
    double w = 1 / (*sigma * *sigma);
    if (holes && at % 11 == 0)
        *y = (double)NAN, w = 0;
    if (holes && with_sigma && at % 13 == 0)
        *sigma = at % 2 ? 0 : (double)INFINITY, w = 0;
    return w;
}

static struct data pairs_data(const struct fit_kernel *k, const struct shape *s)
{
    static const double phi[MOST_GROUPS] = {-4, 0, 33, 90, -170};
    size_t nt = s->ntime, nf = 0, n = 0;
    uint32_t *frame = calloc(nt, sizeof *frame);
    struct data d = data_alloc(s->name, s->ngroup * nt * nt);
    struct fit_error err = {0};
    for (size_t t = 0; t < nt; t++)
        if (!s->mask || t % s->mask != 3)
            frame[nf++] = (uint32_t)t;
    d.ds = e2e_dataset(k, &(struct e2e_grid){.ntime = nt, .dt = 0.1, .q = 0.0054, .gap = 2e6, .nframe = nf,
                                             .frame = frame, .nphi = s->ngroup, .phi = phi});
    for (size_t g = 0; g < s->ngroup; g++) {
        double *matrix = e2e_doubles(nt * nt), *sigma = e2e_doubles(nt * nt), *weight = e2e_doubles(nt * nt);
        for (size_t e = 0; e < nt * nt; e++)
            weight[e] = draw(g, e, s->sigma, s->holes, &matrix[e], &sigma[e]);
        if (fit_dataset_put(d.ds, g, matrix, s->sigma ? sigma : NULL, &err) != FIT_OK)
            fail_msg("%s", err.message);
        for (size_t i = 0; i < nf; i++)
            for (size_t j = i + 1; j < nf; j++, n++) {
                size_t e = frame[i] * nt + frame[j];
                d.i[n] = (uint32_t)i, d.j[n] = (uint32_t)j, d.g[n] = (uint32_t)g;
                d.w[n] = weight[e];
                d.y[n] = weight[e] > 0 ? matrix[e] : 0;
            }
        free(matrix);
        free(sigma);
        free(weight);
    }
    if (fit_dataset_finish(d.ds, &err) != FIT_OK)
        fail_msg("%s", err.message);
    d.n = n;
    free(frame);
    return d;
}

/* A table: covariates from 1e-3 to 1e2 in logarithmic steps. */
static struct data rows_data(const struct fit_kernel *k, size_t n, int with_sigma)
{
    struct data d = data_alloc(with_sigma ? "table with errors" : "table without errors", n);
    double *column[8], *sigma = e2e_doubles(n);
    struct fit_error err = {0};
    assert_true(k->ncolumn <= 8);
    for (size_t r = 0; r < n; r++) {
        d.i[r] = (uint32_t)r;
        d.w[r] = draw(7, r, with_sigma, 0, &d.y[r], &sigma[r]);
    }
    for (size_t c = 0; c < k->ncolumn; c++) {
        column[c] = e2e_doubles(n);
        for (size_t r = 0; r < n; r++)
            column[c][r] = pow(10, -3 + 5.0 * (double)r / (double)n);
    }
    if (fit_dataset_new_table(&(struct fit_dataset_table){.nrow = n,
                                                          .ncolumn = k->ncolumn,
                                                          .column = (const double *const *)column,
                                                          .value = d.y,
                                                          .sigma = with_sigma ? sigma : NULL},
                              &d.ds, &err) != FIT_OK ||
        fit_dataset_finish(d.ds, &err) != FIT_OK)
        fail_msg("%s", err.message);
    for (size_t c = 0; c < k->ncolumn; c++)
        free(column[c]);
    free(sigma);
    d.n = n;
    return d;
}

/* ---- sums --------------------------------------------------------------------------------------------- */

struct sums {
    size_t ngroup, np, nl, nm, nn, na; /* numbers of moments, normal and gradient */
    size_t n;                          /* all of them */
    long double *value, *size;         /* n: sums, and sums of absolute values */
};

/* The seeds of the gradient: per group rho and the upper triangle of M. */
enum { MOST_ADJ = 1 + MOST_LINEAR * (MOST_LINEAR + 1) / 2 };
static double adj_number(size_t g, size_t k)
{
    return k == 0 ? 1.3 - 0.1 * (double)g : 0.4 * uniform(900 + g, k) - 0.1;
}

static struct sums sums_new(const struct fit_kernel *k, size_t ngroup)
{
    struct sums s = {.ngroup = ngroup, .np = k->nparam, .nl = k->nlinear};
    s.nm = ngroup * (s.nl * (s.nl + 1) / 2 + s.nl + 1);
    s.nn = s.np * (s.np + 1) / 2 + s.np + ngroup * s.nl * s.np;
    s.na = s.np;
    s.n = s.nm + s.nn + s.na;
    s.value = calloc(s.n, sizeof *s.value);
    s.size = calloc(s.n, sizeof *s.size);
    assert_true(s.value && s.size);
    return s;
}

static void add(struct sums *s, size_t at, long double term)
{
    s->value[at] += term;
    s->size[at] += fabsl(term);
}

/* One point with derivatives m (by theta, then the basis b of the linear parameters). */
static void add_point(struct sums *s, size_t g, double y, double w, double mean, const double *m, const double *lin)
{
    const double *b = m + s->np;
    size_t at = g * (s->nm / s->ngroup);
    long double rest = mean, r = (long double)y - mean, weight = w;
    for (size_t q = 0; q < s->nl; q++)
        rest -= (long double)lin[q] * b[q];
    for (size_t p = 0; p < s->nl; p++)
        for (size_t q = p; q < s->nl; q++)
            add(s, at++, weight * b[p] * b[q]);
    for (size_t q = 0; q < s->nl; q++)
        add(s, at++, weight * b[q] * (y - rest));
    add(s, at, weight * (y - rest) * (y - rest));
    at = s->nm;
    for (size_t p = 0; p < s->np; p++)
        for (size_t q = p; q < s->np; q++)
            add(s, at++, weight * m[p] * m[q]);
    for (size_t p = 0; p < s->np; p++)
        add(s, at++, weight * m[p] * r);
    at += g * s->nl * s->np;
    for (size_t q = 0; q < s->nl; q++)
        for (size_t p = 0; p < s->np; p++)
            add(s, at++, weight * b[q] * m[p]);
}

/* d b_q / d theta of one point for all q, then d rest / d theta: derivatives of the mean with unit vectors for
 * lin.  slope: (nl + 1) x np. */
static void basis_slopes(const struct e2e_prepared *p, const struct data *d, size_t e, const struct sums *s,
                         double *slope)
{
    double lin[MOST_GROUPS * MOST_LINEAR] = {0}, jac[MOST_PARAMETERS + MOST_LINEAR], mean;
    size_t g = d->g[e];
    for (size_t q = s->nl + 1; q-- > 0;) {
        if (q < s->nl)
            lin[g * s->nl + q] = 1;
        p->kernel->points(p->layout, p->ws, lin, &(struct fit_points){1, &d->i[e], &d->j[e], &d->g[e]}, &mean, jac);
        if (q < s->nl)
            lin[g * s->nl + q] = 0;
        for (size_t k = 0; k < s->np; k++)
            slope[q * s->np + k] = jac[k] - (q < s->nl ? slope[s->nl * s->np + k] : 0);
    }
}

/* The terms of kernel.h, gradient. */
static void add_adjoint(struct sums *s, size_t g, long double r, double w, const double *b, const double *lin,
                        const double *slope)
{
    size_t at = s->nm + s->nn;
    for (size_t k = 0; k < s->np; k++) {
        for (size_t q = 0; q <= s->nl; q++) {
            long double v = adj_number(g, 0) * (q < s->nl ? lin[q] : 1) * r;
            for (size_t p = 0; q < s->nl && p < s->nl; p++) {
                size_t lo = p < q ? p : q, hi = p < q ? q : p;
                v -= (long double)adj_number(g, 1 + lo * s->nl - lo * (lo + 1) / 2 + hi) * b[p];
            }
            add(s, at + k, w * v * slope[q * s->np + k]);
        }
    }
}

static void sum_points(const struct e2e_prepared *p, const struct data *d, const double *lin, struct sums *s)
{
    double mean, jac[MOST_PARAMETERS + MOST_LINEAR], slope[(MOST_LINEAR + 1) * MOST_PARAMETERS];
    for (size_t e = 0; e < d->n; e++)
        if (d->w[e] > 0) {
            basis_slopes(p, d, e, s, slope);
            p->kernel->points(p->layout, p->ws, lin, &(struct fit_points){1, &d->i[e], &d->j[e], &d->g[e]}, &mean,
                              jac);
            add_point(s, d->g[e], d->y[e], d->w[e], mean, jac, lin + d->g[e] * s->nl);
            add_adjoint(s, d->g[e], (long double)d->y[e] - mean, d->w[e], jac + s->np, lin + d->g[e] * s->nl,
                        slope);
        }
}

/* Sums by the kernel, tiles added one after the other. */
static double *kernel_sums(const struct e2e_prepared *p, const struct data *d, const double *lin,
                           const struct sums *s)
{
    double *total = e2e_doubles(s->n), *out = e2e_doubles(s->n), adj[MOST_GROUPS * MOST_ADJ];
    size_t nadj = 1 + s->nl * (s->nl + 1) / 2;
    for (size_t k = 0; k < s->ngroup * nadj; k++)
        adj[k] = adj_number(k / nadj, k % nadj);
    for (size_t k = 0; k < d->ds->ntile; k++) {
        for (size_t m = 0; m < s->n; m++)
            out[m] = 1e300; /* is overwritten */
        p->kernel->moments(p->layout, p->ws, &d->ds->tile[k], p->scratch, out);
        p->kernel->normal(p->layout, p->ws, lin, &d->ds->tile[k], p->scratch, out + s->nm);
        p->kernel->gradient(p->layout, p->ws, lin, adj, &d->ds->tile[k], p->scratch, out + s->nm + s->nn);
        for (size_t m = 0; m < s->n; m++)
            total[m] += out[m];
    }
    free(out);
    return total;
}

/* Largest difference between model on tiles and points, in units of the largest contrast. */
static double model_difference(const struct e2e_prepared *p, const struct data *d, const double *lin)
{
    const struct fit_layout *l = p->layout;
    double worst = 0, mean;
    for (size_t k = 0; k < d->ds->ntile; k++) {
        const struct fit_tile *t = &d->ds->tile[k];
        double *out = e2e_doubles(fit_tile_doubles(l, t));
        p->kernel->model(l, p->ws, lin, t, out);
        for (size_t e = 0; e < d->n; e++) {
            size_t i = d->i[e], j = d->j[e];
            int pairs = p->kernel->space == FIT_PAIRS;
            if (i < t->i0 || i >= t->i1 || (pairs && (j < t->j0 || j >= t->j1)))
                continue;
            size_t at = pairs ? fit_tile_offset(l, t, i, j, d->g[e]) : i - t->i0;
            p->kernel->points(l, p->ws, lin, &(struct fit_points){1, &d->i[e], &d->j[e], &d->g[e]}, &mean, NULL);
            worst = e2e_max(worst, fabs(out[at] - mean) / 0.3);
        }
        free(out);
    }
    return worst;
}

/* ---- the test ----------------------------------------------------------------------------------------- */

struct worst {
    double sums, isa, model;
};

static double difference(const double *a, const struct sums *s, const double *b)
{
    double worst = 0;
    for (size_t m = 0; m < s->n; m++) {
        long double d = b ? (long double)a[m] - b[m] : a[m] - s->value[m];
        if (s->size[m] > 1e-280L)
            worst = e2e_max(worst, (double)(fabsl(d) / s->size[m]));
    }
    return worst;
}

static void check_point(const struct fit_kernel *best, const struct data *d, const double *theta, struct worst *w)
{
    double lin[MOST_GROUPS * MOST_LINEAR], *first = NULL;
    for (size_t g = 0; g < d->ds->layout.ngroup; g++)
        for (size_t q = 0; q < best->nlinear; q++)
            lin[g * best->nlinear + q] = q == 0 ? 0.3 - 0.01 * (double)g : 1 + 0.002 * (double)g;
    for (size_t v = 0; e2e_kernels[v]; v++) {
        const struct fit_kernel *k = e2e_kernels[v];
        if (strcmp(k->name, best->name) != 0 || e2e_kernel(k->name, best->variant, k->isa) != k)
            continue;
        struct sums s = sums_new(k, d->ds->layout.ngroup);
        struct e2e_prepared p = e2e_prepare(k, &d->ds->layout, theta);
        assert_int_equal(p.answer, FIT_EVAL_OK);
        sum_points(&p, d, lin, &s);
        double *sums = kernel_sums(&p, d, lin, &s);
        w->sums = e2e_max(w->sums, difference(sums, &s, NULL));
        w->model = e2e_max(w->model, model_difference(&p, d, lin));
        if (first)
            w->isa = e2e_max(w->isa, difference(sums, &s, first));
        if (!first)
            first = sums;
        else
            free(sums);
        free(s.value);
        free(s.size);
        e2e_release(&p);
    }
    free(first);
}

static void check_data(const struct fit_kernel *k, struct data *d)
{
    struct worst w = {0, 0, 0};
    assert_true(k->nscreen >= POINTS);
    assert_true(k->nparam <= MOST_PARAMETERS && k->nlinear <= MOST_LINEAR);
    for (size_t q = 0; q < POINTS; q++)
        check_point(k, d, k->screen + (q * k->nscreen / POINTS) * k->nparam, &w);
    printf("    %-18s %-6s %-38s sums %.1e  instruction sets %.1e  model %.1e\n", k->name, k->variant, d->name,
           w.sums, w.isa, w.model);
    if (!(w.sums <= TOLERANCE) || !(w.isa <= TOLERANCE) || !(w.model <= TOLERANCE_MODEL))
        fail_msg("%s %s, %s: sums differ by %.1e, between instruction sets by %.1e (allowed %.0e), the model on "
                 "tiles by %.1e (%.0e)",
                 k->name, k->variant, d->name, w.sums, w.isa, TOLERANCE, w.model, TOLERANCE_MODEL);
    data_free(d);
}

static void check_model(const char *model, const char *variant)
{
    const struct fit_kernel *k = e2e_kernel(model, variant, NULL);
    assert_non_null(k);
    if (k->space == FIT_ROWS) {
        for (int with_sigma = 0; with_sigma < 2; with_sigma++) {
            struct data d = rows_data(k, 1003, with_sigma);
            check_data(k, &d);
        }
        return;
    }
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        struct data d = pairs_data(k, &shapes[s]);
        check_data(k, &d);
    }
}

#define MODEL(model, variant)                                                                                \
    static void model##_##variant(void **state)                                                              \
    {                                                                                                        \
        (void)state;                                                                                         \
        check_model(#model, #variant);                                                                       \
    }
MODEL(heterodyne, fast)
MODEL(heterodyne, parity)
MODEL(heterodyne, parity_hard)
MODEL(kww, fast)
MODEL(laminar, fast)
MODEL(laminar, parity)
MODEL(laminar_theory, fast)
MODEL(static_anisotropic, fast)
MODEL(static_anisotropic, parity)
MODEL(static_isotropic, fast)
MODEL(static_isotropic, parity)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heterodyne_fast),
        cmocka_unit_test(heterodyne_parity),
        cmocka_unit_test(heterodyne_parity_hard),
        cmocka_unit_test(kww_fast),
        cmocka_unit_test(laminar_fast),
        cmocka_unit_test(laminar_parity),
        cmocka_unit_test(laminar_theory_fast),
        cmocka_unit_test(static_anisotropic_fast),
        cmocka_unit_test(static_anisotropic_parity),
        cmocka_unit_test(static_isotropic_fast),
        cmocka_unit_test(static_isotropic_parity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
