/* test_linkage.c -- linked parameters and modes of scaling against a dense least-squares fit that knows nothing of
 * linkages.
 *
 * The reference takes the values one by one, theta and lin of every group from its unknowns z by the linear map
 * written down here, the Jacobian of the inner kernel's `points` times the columns of that map, and Gauss-Newton in
 * long double.  Both must end at the same point (1e-4 of an error: the fit ends at a gradient of 1e-6) with the
 * same errors (1e-6: J^T J from sums in double against long double, condition number 1e5 squared).
 */
#include "fit/fit.h"
#include "leastsquares/fit_types.h"
#include "leastsquares/fit_impl.h"
#include "model/linkage.h"
#include "math/rng.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NT = 30, NG = 5, NP = 7, MOST = 24 };
enum { D0, ALPHA, D_OFFSET, SHEAR, BETA, SHEAR_OFFSET, PHI0 };
static const double phi[NG] = {-4, 40, 95, 150, 200};
static const double truth[NP] = {30000, -0.2, 100, 0.005, -0.3, 0.0006, -3};
static const double START[NP] = {31000, -0.21, 100, 0.0052, -0.3, 0.0006, -2.5};

/* z -> theta, lin of group g. */
typedef void map_fn(const double *z, size_t g, double *theta, double *lin);

static struct fit_dataset *data(const struct fit_kernel *k)
{
    struct fit_error err = {0};
    struct fit_dataset *ds =
        e2e_dataset(k, &(struct e2e_grid){.ntime = NT, .dt = 0.05, .q = 0.0054, .gap = 2e6, .nphi = NG, .phi = phi});
    double lin[2 * NG], matrix[NT * NT] = {0};
    struct fit_rng rng = {.seed = 11, .purpose = FIT_RNG_START};
    for (size_t g = 0; g < NG; g++)
        lin[2 * g] = 0.28 + 0.01 * (double)g, lin[2 * g + 1] = 1.02 - 0.01 * (double)g;
    for (uint32_t g = 0; g < NG; g++) {
        double theta[NP];
        memcpy(theta, truth, sizeof theta);
        theta[D0] *= 1 + 0.02 * (double)g;
        struct e2e_prepared p = e2e_prepare(k, &ds->layout, theta);
        for (uint32_t i = 0; i < NT; i++)
            for (uint32_t j = i + 1; j < NT; j++) {
                double z;
                k->points(&ds->layout, p.ws, lin, &(struct fit_points){1, &i, &j, &g}, &matrix[i * NT + j], NULL);
                fit_rng_next_normals(&rng, 1, &z);
                matrix[i * NT + j] += 0.002 * z;
            }
        matrix[3 * NT + 7 + g] = NAN; /* does not count: the data have weights */
        assert_int_equal(fit_dataset_put(ds, g, matrix, NULL, &err), FIT_OK);
        e2e_release(&p);
    }
    assert_int_equal(fit_dataset_finish(ds, &err), FIT_OK);
    return ds;
}

static int counts(const struct fit_dataset *ds, size_t i, size_t j, size_t g, double *y)
{
    for (size_t t = 0; t < ds->ntile; t++) {
        const struct fit_tile *tile = &ds->tile[t];
        if (i < tile->i0 || i >= tile->i1 || j < tile->j0 || j >= tile->j1)
            continue;
        size_t at = fit_tile_offset(&ds->layout, tile, i, j, g);
        *y = tile->y[at] + ds->reference[g];
        return !tile->w || tile->w[at] > 0;
    }
    return 0;
}

/* ---- the dense fit ------------------------------------------------------------------------------------------- */

struct dense {
    size_t n;
    map_fn *map;
    const double *penalty; /* n x n, added to J^T J, with its gradient about `centre`; NULL: none */
    double variance; /* of the values; 0: that of the residuals */
    double z[MOST], std[MOST];
    long double H[MOST][MOST], g[MOST], cost;
    size_t npoint;
};

static void add_point(struct dense *d, double T[][NP + 2], const double *jac, double r)
{
    long double row[MOST];
    for (size_t a = 0; a < d->n; a++) {
        row[a] = 0;
        for (size_t c = 0; c < NP + 2; c++)
            row[a] += (long double)T[a][c] * (long double)jac[c];
    }
    for (size_t a = 0; a < d->n; a++) {
        d->g[a] += row[a] * (long double)r;
        for (size_t b = 0; b < d->n; b++)
            d->H[a][b] += row[a] * row[b];
    }
    d->cost += (long double)r * (long double)r / 2;
    d->npoint++;
}

/* Sums at z: inner points, one group at a time. */
static void dense_sums(struct dense *d, const struct fit_kernel *k, const struct fit_dataset *ds)
{
    memset(d->H, 0, sizeof d->H);
    memset(d->g, 0, sizeof d->g);
    d->cost = 0;
    d->npoint = 0;
    for (uint32_t g = 0; g < NG; g++) {
        double at[NP + 2], zero[NP + 2], T[MOST][NP + 2], lin[2 * NG] = {0}, e[MOST] = {0}, y, mean, jac[NP + 2];
        d->map(d->z, g, at, at + NP);
        d->map(e, g, zero, zero + NP);
        for (size_t a = 0; a < d->n; a++) { /* columns of the linear part */
            e[a] = 1;
            d->map(e, g, T[a], T[a] + NP);
            for (size_t c = 0; c < NP + 2; c++)
                T[a][c] -= zero[c];
            e[a] = 0;
        }
        memcpy(lin + 2 * g, at + NP, 2 * sizeof *lin);
        struct e2e_prepared p = e2e_prepare(k, &ds->layout, at);
        for (uint32_t i = 0; i < NT; i++)
            for (uint32_t j = i + 1; j < NT; j++) {
                if (!counts(ds, i, j, g, &y))
                    continue;
                k->points(&ds->layout, p.ws, lin, &(struct fit_points){1, &i, &j, &g}, &mean, jac);
                add_point(d, T, jac, y - mean);
            }
        e2e_release(&p);
    }
    for (size_t a = 0; d->penalty && a < d->n; a++)
        for (size_t b = 0; b < d->n; b++) {
            d->H[a][b] += (long double)d->penalty[a * d->n + b];
            d->g[a] -= (long double)d->penalty[a * d->n + b] * (long double)d->z[b];
        }
}

/* x with H x = b; when inverse is not NULL, the diagonal of H^-1 too. */
static void dense_solve(const struct dense *d, const long double *b, long double *x, long double *inverse)
{
    size_t n = d->n;
    static long double M[MOST][2 * MOST + 1];
    long double s[MOST];
    for (size_t a = 0; a < n; a++)
        s[a] = sqrtl(d->H[a][a]);
    for (size_t a = 0; a < n; a++) {
        for (size_t c = 0; c < n; c++) {
            M[a][c] = d->H[a][c] / (s[a] * s[c]);
            M[a][n + 1 + c] = a == c;
        }
        M[a][n] = b[a] / s[a];
    }
    for (size_t k = 0; k < n; k++) { /* Gauss-Jordan; H is positive definite */
        assert_true(M[k][k] > 0);
        for (size_t a = 0; a < n; a++) {
            long double f = a == k ? 0 : M[a][k] / M[k][k];
            for (size_t c = 0; c <= 2 * n; c++)
                M[a][c] -= f * M[k][c];
        }
    }
    for (size_t a = 0; a < n; a++) {
        x[a] = M[a][n] / M[a][a] / s[a];
        if (inverse)
            inverse[a] = M[a][n + 1 + a] / M[a][a] / (s[a] * s[a]);
    }
}

static void dense_fit(struct dense *d, const struct fit_kernel *k, const struct fit_dataset *ds)
{
    long double step[MOST], inverse[MOST];
    for (int turn = 0; turn < 25; turn++) {
        dense_sums(d, k, ds);
        dense_solve(d, d->g, step, NULL);
        for (size_t a = 0; a < d->n; a++)
            d->z[a] += (double)step[a];
    }
    dense_sums(d, k, ds);
    dense_solve(d, d->g, step, inverse);
    long double variance =
        d->variance > 0 ? (long double)d->variance : 2 * d->cost / (long double)(d->npoint - d->n);
    for (size_t a = 0; a < d->n; a++)
        d->std[a] = (double)sqrtl(variance * inverse[a]);
}

static void compare(const char *name, double value, double std, double expected, double error)
{
    if (!(fabs(value - expected) <= 1e-4 * error) || !(fabs(std - error) <= 1e-6 * error))
        fail_msg("%s: %.12g +- %.9g instead of %.12g +- %.9g", name, value, std, expected, error);
}

static struct fit_result run_fit(const struct fit_kernel *k, const struct fit_dataset *ds, const struct fit_options *o)
{
    struct fit_result r;
    struct fit_error err = {0};
    if (fit_run(k, ds, o, &r, &err) != FIT_OK)
        fail_msg("%s", err.message);
    assert_true(r.converged);
    return r;
}

/* ---- ties and values of groups --------------------------------------------------------------------------------- */

/* D0 for every angle, alpha for {0,1,2} and {3,4}, the offset of the shear rate and that of c2 tied.
 * z: D0 x 5, alpha x 2, shear, phi0, contrast x 5. */
static void map_links(const double *z, size_t g, double *theta, double *lin)
{
    const double all[NP] = {z[g], g < 3 ? z[5] : z[6], truth[D_OFFSET], z[7], truth[BETA], 0.1 * z[7] + 1e-4, z[8]};
    memcpy(theta, all, sizeof all);
    lin[0] = z[9 + g];
    lin[1] = 1.3 - z[9 + g];
}

static struct fit_linkage *link_of(const struct fit_kernel *k, struct fit_dataset *ds)
{
    enum { N = NP + 2, WIDTH = N + 1 };
    unsigned char tied[N] = {[SHEAR_OFFSET] = 1, [NP + 1] = 1};
    double tie[N * WIDTH] = {[SHEAR_OFFSET * WIDTH + SHEAR] = 0.1, [SHEAR_OFFSET * WIDTH + N] = 1e-4,
                             [(NP + 1) * WIDTH + NP] = -1, [(NP + 1) * WIDTH + N] = 1.3};
    size_t share[NP * NG] = {0};
    for (size_t g = 0; g < NG; g++)
        share[D0 * NG + g] = g, share[ALPHA * NG + g] = g < 3 ? 0 : 1;
    const char *text[N] = {[SHEAR_OFFSET] = "0.1*gamma_dot_t0 + 1e-4", [NP + 1] = "1.3 - contrast"};
    struct fit_linkage_spec spec = {.tied = tied, .tie = tie, .text = text, .share = share};
    struct fit_linkage *link;
    struct fit_error err = {0};
    if (fit_linkage_new(k, ds, &spec, &link, &err) != FIT_OK)
        fail_msg("%s", err.message);
    return link;
}

static void test_ties_and_values_of_groups(void **state)
{
    (void)state;
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    struct fit_dataset *ds = data(k);
    struct fit_linkage *link = link_of(k, ds);
    enum { X = 5 + 2 + 1 + 1 + 1 + 1 };
    assert_int_equal(link->kernel.nparam, X);
    assert_int_equal(link->kernel.nlinear, 1);
    assert_int_equal(link->nclass, NG);
    assert_string_equal(link->kernel.param[1].name, "D0[40]");
    assert_string_equal(link->kernel.param[6].name, "alpha[150,200]");
    double start[X];
    unsigned char fixed[X] = {0};
    for (size_t u = 0; u < X; u++) {
        start[u] = START[link->of[u]];
        fixed[u] = link->of[u] == D_OFFSET || link->of[u] == BETA;
    }
    struct fit_options o;
    fit_options_default(&o);
    o.start = start;
    o.start_only = 1;
    o.fixed = fixed;
    o.threads = 1;
    struct fit_result r = run_fit(&link->kernel, ds, &o);
    struct dense d = {.n = 14, .map = map_links};
    for (size_t g = 0; g < NG; g++)
        d.z[g] = r.theta[g] * 1.001, d.z[9 + g] = 0.3;
    d.z[5] = d.z[6] = -0.2, d.z[7] = 0.0051, d.z[8] = -3;
    dense_fit(&d, k, ds);
    static const size_t place[] = {0, 1, 2, 3, 4, 5, 6, 8, 10}; /* of z in x: 7 and 9 are held */
    for (size_t a = 0; a < 9; a++)
        compare(link->kernel.param[place[a]].name, r.theta[place[a]], r.std[place[a]], d.z[a], d.std[a]);
    for (size_t g = 0; g < NG; g++)
        compare("contrast", r.lin[g], r.std[X + g], d.z[9 + g], d.std[9 + g]);
    assert_true(fabs(r.cost - (double)d.cost) <= 1e-10 * r.cost);
    assert_int_equal(link->ntied, 1 + NG);
    compare("gamma_dot_t_offset", fit_linkage_value(link, 0, r.theta, r.lin),
            fit_linkage_std(link, 0, r.covariance, r.nfull), 0.1 * d.z[7] + 1e-4, 0.1 * d.std[7]);
    compare("offset", fit_linkage_value(link, 3, r.theta, r.lin), fit_linkage_std(link, 3, r.covariance, r.nfull),
            1.3 - d.z[9 + 2], d.std[9 + 2]);
    fit_result_free(&r);
    fit_linkage_free(link);
    fit_dataset_free(ds);
}

/* The adjoint sums and the values of tiles, against `points`. */
static void test_gradient_and_model_agree_with_points(void **state)
{
    (void)state;
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    struct fit_dataset *ds = data(k);
    struct fit_linkage *link = link_of(k, ds);
    const struct fit_kernel *outer = &link->kernel;
    double x[MOST], lin[NG], adj[NG * 2], sum[MOST] = {0}, expected[MOST] = {0}, part[MOST], size = 0;
    for (size_t u = 0; u < outer->nparam; u++)
        x[u] = START[link->of[u]] * (1 + 0.01 * (double)u);
    for (size_t g = 0; g < NG; g++)
        lin[g] = 0.3, adj[2 * g] = 1, adj[2 * g + 1] = 0;
    struct e2e_prepared p = e2e_prepare(outer, &ds->layout, x);
    for (size_t t = 0; t < ds->ntile; t++) {
        const struct fit_tile *tile = &ds->tile[t];
        double *mean = e2e_doubles(fit_tile_doubles(&ds->layout, tile));
        outer->gradient(&ds->layout, p.ws, lin, adj, tile, p.scratch, part);
        for (size_t u = 0; u < outer->nparam; u++)
            sum[u] += part[u];
        outer->model(&ds->layout, p.ws, lin, tile, mean);
        for (uint32_t g = 0; g < NG; g++)
            for (uint32_t i = (uint32_t)tile->i0; i < tile->i1; i++)
                for (uint32_t j = i + 1 > tile->j0 ? i + 1 : (uint32_t)tile->j0; j < tile->j1; j++) {
                    double m, jac[MOST];
                    size_t at = fit_tile_offset(&ds->layout, tile, i, j, g);
                    outer->points(&ds->layout, p.ws, lin, &(struct fit_points){1, &i, &j, &g}, &m, jac);
                    if (!(fabs(m - mean[at]) <= 1e-12))
                        fail_msg("model %g, points %g", mean[at], m);
                    for (size_t u = 0; u < outer->nparam && (!tile->w || tile->w[at] > 0); u++) {
                        expected[u] += (tile->y[at] - m) * jac[u];
                        part[u] = jac[u];
                    }
                }
        free(mean);
    }
    for (size_t u = 0; u < outer->nparam; u++) {
        size = fabs(expected[u]);
        if (!(fabs(sum[u] - expected[u]) <= 1e-9 * size)) /* sums of some hundred terms of both signs */
            fail_msg("%s: gradient %.12g, expected %.12g", outer->param[u].name, sum[u], expected[u]);
    }
    e2e_release(&p);
    fit_linkage_free(link);
    fit_dataset_free(ds);
}

/* ---- scaling modes --------------------------------------------------------------------------------------------- */

/* z: D0, shear, phi0, then the linear ones. */
static void map_theta(const double *z, double *theta)
{
    const double all[NP] = {z[0], truth[ALPHA], truth[D_OFFSET], z[1], truth[BETA], truth[SHEAR_OFFSET], z[2]};
    memcpy(theta, all, sizeof all);
}

static void map_individual(const double *z, size_t g, double *theta, double *lin)
{
    map_theta(z, theta);
    lin[0] = z[3 + 2 * g];
    lin[1] = z[4 + 2 * g];
}

static void map_averaged(const double *z, size_t g, double *theta, double *lin)
{
    (void)g;
    map_theta(z, theta);
    lin[0] = z[3];
    lin[1] = z[4];
}

static void map_constant(const double *z, size_t g, double *theta, double *lin)
{
    map_theta(z, theta);
    lin[0] = 0.28 + 0.01 * (double)g;
    lin[1] = 1.02 - 0.01 * (double)g;
}

static void map_series(const double *z, size_t g, double *theta, double *lin)
{
    double a = phi[g] * acos(-1) / 180;
    map_theta(z, theta);
    lin[0] = z[3] + z[4] * cos(a) + z[5] * sin(a);
    lin[1] = z[6] + z[7] * cos(a) + z[8] * sin(a);
}

/* Contrast for {0, 1} and {2, 3, 4}, one offset. */
static void map_sets(const double *z, size_t g, double *theta, double *lin)
{
    map_theta(z, theta);
    lin[0] = z[g < 2 ? 3 : 4];
    lin[1] = z[5];
}

struct scaling {
    const struct fit_kernel *k;
    struct fit_dataset *ds;
    struct fit_options o;
    struct fit_result r;
    double linear[2 * NG];
};

/* Given, so that angles that fit badly are not weighted down. */
static const double sigma[NG] = {0.002, 0.002, 0.002, 0.002, 0.002};

static const unsigned char held[NP] = {0, 1, 1, 0, 1, 1, 0};

static struct scaling fit_scaling_mode(const struct fit_kernel *k, struct fit_dataset *ds, enum fit_scaling mode,
                                       const size_t *linear_class)
{
    struct scaling s = {.k = k, .ds = ds};
    double start[NP];
    memcpy(start, truth, sizeof start);
    fit_options_default(&s.o);
    for (size_t g = 0; g < NG; g++)
        s.linear[2 * g] = 0.28 + 0.01 * (double)g, s.linear[2 * g + 1] = 1.02 - 0.01 * (double)g;
    s.o.start = start;
    s.o.start_only = 1;
    s.o.fixed = held;
    s.o.threads = 1;
    s.o.scaling = mode;
    s.o.sigma = sigma;
    s.o.linear_start = s.linear;
    s.o.linear_class = linear_class;
    s.r = run_fit(k, ds, &s.o);
    return s;
}

/* Compares theta, and element place[c] of the full vector with z[3 + c]. */
static void compare_scaling(const struct scaling *s, struct dense *d, const size_t *place)
{
    static const size_t theta[] = {D0, SHEAR, PHI0};
    d->variance = sigma[0] * sigma[0];
    d->z[0] = truth[D0] * 1.01, d->z[1] = truth[SHEAR], d->z[2] = truth[PHI0];
    for (size_t c = 0; c + 3 < d->n; c++)
        d->z[3 + c] = 1.02 * s->r.lin[place[c] - s->r.nparam];
    dense_fit(d, e2e_kernel("laminar", "fast", NULL), s->ds);
    for (size_t a = 0; a < 3; a++)
        compare(s->k->param[theta[a]].name, s->r.theta[theta[a]], s->r.std[theta[a]], d->z[a], d->std[a]);
    for (size_t c = 0; c + 3 < d->n; c++)
        compare("linear", s->r.lin[place[c] - s->r.nparam], s->r.std[place[c]], d->z[3 + c], d->std[3 + c]);
    assert_true(fabs(s->r.cost * d->variance - (double)d->cost) <= 1e-10 * (double)d->cost);
}

static void test_individual_averaged_constant_and_sets(void **state)
{
    (void)state;
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    struct fit_dataset *ds = data(k);
    size_t all[2 * NG], classes[2 * NG], sets[] = {NP, NP + 4, NP + 1};
    for (size_t e = 0; e < 2 * NG; e++) {
        all[e] = NP + e;
        classes[e] = e % 2 ? 0 : e / 2 < 2 ? 0 : 1;
    }
    const struct {
        enum fit_scaling mode;
        map_fn *map;
        size_t n;
        const size_t *linear_class, *place;
    } c[] = {{FIT_SCALING_INDIVIDUAL, map_individual, 3 + 2 * NG, NULL, all},
             {FIT_SCALING_AVERAGED, map_averaged, 5, NULL, all},
             {FIT_SCALING_CONSTANT, map_constant, 3, NULL, all},
             {FIT_SCALING_INDIVIDUAL, map_sets, 6, classes, sets}};
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct scaling s = fit_scaling_mode(k, ds, c[i].mode, c[i].linear_class);
        struct dense d = {.n = c[i].n, .map = c[i].map};
        compare_scaling(&s, &d, c[i].place);
        fit_result_free(&s.r);
    }
    fit_dataset_free(ds);
}

static void test_fourier_series(void **state)
{
    (void)state;
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    struct fit_dataset *ds = data(k);
    struct fit_linkage *link;
    struct fit_error err = {0};
    struct fit_linkage_spec spec = {.harmonics = 1};
    static const size_t place[] = {NP, NP + 1, NP + 2, NP + 3, NP + 4, NP + 5};
    assert_int_equal(fit_linkage_new(k, ds, &spec, &link, &err), FIT_OK);
    assert_int_equal(link->kernel.nlinear, 6);
    assert_int_equal(link->kernel.intercept, 3);
    struct fit_options o;
    fit_options_default(&o);
    o.start = truth;
    o.start_only = 1;
    o.fixed = held;
    o.sigma = sigma;
    o.threads = 1;
    struct scaling s = {.k = &link->kernel, .ds = ds, .r = run_fit(&link->kernel, ds, &o)};
    struct dense d = {.n = 9, .map = map_series};
    compare_scaling(&s, &d, place);
    double theta[NP], lin[2];
    for (size_t g = 0; g < NG; g++) {
        map_series(d.z, g, theta, lin);
        for (size_t q = 0; q < 2; q++) {
            assert_int_equal(link->tied[q * NG + g].group, g);
            assert_true(fabs(fit_linkage_value(link, q * NG + g, s.r.theta, s.r.lin) - lin[q]) < 1e-8);
        }
    }
    fit_result_free(&s.r);
    fit_linkage_free(link);
    spec.harmonics = 3; /* 5 angles are too few */
    assert_int_equal(fit_linkage_new(k, ds, &spec, &link, &err), FIT_ERR_CONFIG);
    fit_dataset_free(ds);
}

/* The penalty with the spread that the fit has found. */
static void test_hierarchical(void **state)
{
    (void)state;
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    struct fit_dataset *ds = data(k);
    struct scaling own = fit_scaling_mode(k, ds, FIT_SCALING_INDIVIDUAL, NULL);
    struct scaling s = fit_scaling_mode(k, ds, FIT_SCALING_HIERARCHICAL, NULL);
    enum { N = 3 + 2 * NG };
    double penalty[N * N] = {0}, tau = s.r.spread[0], lambda = sigma[0] * sigma[0] / (tau * tau);
    size_t all[2 * NG];
    for (size_t e = 0; e < 2 * NG; e++)
        all[e] = NP + e;
    assert_true(tau > 0.005 && tau < 0.05); /* 0.28 .. 0.32: 0.016 */
    assert_true(isnan(s.r.spread[1]));      /* the offset */
    for (size_t a = 0; a < NG; a++)
        for (size_t b = 0; b < NG; b++)
            penalty[(3 + 2 * a) * N + 3 + 2 * b] = lambda * ((a == b) - 1.0 / NG);
    struct dense d = {.n = N, .map = map_individual, .penalty = penalty};
    compare_scaling(&s, &d, all);
    fit_result_free(&own.r);
    fit_result_free(&s.r);
    fit_dataset_free(ds);
}

/* Equal errors: tau^2 = scatter / (n - 1) - s^2, or 0. */
static void test_spread_of_a_population(void **state)
{
    (void)state;
    const double value[] = {1, 2, 4, 4.5, 7};
    double mean, variance, V[25];
    for (int narrow = 0; narrow < 2; narrow++) {
        double s2 = narrow ? 9 : 0.5, m = 3.7, scatter = 0;
        memset(V, 0, sizeof V);
        for (size_t i = 0; i < 5; i++) {
            V[6 * i] = s2;
            scatter += (value[i] - m) * (value[i] - m);
        }
        assert_int_equal(fit_reml(5, value, V, &mean, &variance), 0);
        assert_true(fabs(mean - m) < 1e-12);
        assert_true(fabs(variance - fmax(scatter / 4 - s2, 0)) < 1e-6);
    }
}

/* ---- bounds ------------------------------------------------------------------------------------------------------ */

static void test_bounds_of_tied_values_are_kept(void **state)
{
    (void)state;
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    struct fit_dataset *ds = data(k);
    struct fit_linkage *link = link_of(k, ds);
    struct fit_error err = {0};
    double lower[NP + 2], upper[NP + 2], xlower[MOST], xupper[MOST];
    for (size_t a = 0; a < NP + 2; a++) {
        const struct fit_param *p = a < NP ? &k->param[a] : &k->linear[a - NP];
        lower[a] = p->lower;
        upper[a] = p->upper;
    }
    lower[SHEAR_OFFSET] = 3e-4;
    upper[SHEAR_OFFSET] = 6e-4;
    assert_int_equal(fit_linkage_bounds(link, lower, upper, xlower, xupper, &err), FIT_OK);
    assert_true(fabs(xlower[8] - 2e-3) < 1e-15 && fabs(xupper[8] - 5e-3) < 1e-15);
    assert_true(fabs(xlower[11] - 0) < 1e-15 && fabs(xupper[11] - 0.8) < 1e-15); /* 0.5 <= 1.3 - c <= 1.5 */
    upper[SHEAR_OFFSET] = 9e-5;
    lower[SHEAR_OFFSET] = 0;
    assert_int_equal(fit_linkage_bounds(link, lower, upper, xlower, xupper, &err), FIT_ERR_CONFIG);
    assert_non_null(strstr(err.message, "no value of gamma_dot_t0"));
    fit_linkage_free(link);
    fit_dataset_free(ds);
}

/* ---- what cannot be identified ------------------------------------------------------------------------------------
 */

/* With alpha = 0 held, D0 and D_offset are one in every class; where they are tied they are two no more. */
static void test_degeneracies_follow_the_unknowns(void **state)
{
    (void)state;
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    struct fit_dataset *ds = data(k);
    size_t share[NP * NG] = {0}, n = 0;
    for (size_t g = 0; g < NG; g++)
        share[D0 * NG + g] = share[D_OFFSET * NG + g] = g;
    struct fit_linkage_spec spec = {.share = share};
    struct fit_linkage *link;
    struct fit_error err = {0};
    assert_int_equal(fit_linkage_new(k, ds, &spec, &link, &err), FIT_OK);
    for (size_t d = 0; d < link->kernel.ndegeneracy; d++) {
        const struct fit_degeneracy *x = &link->kernel.degeneracy[d];
        if (x->kind != FIT_DEGENERATE_AT_VALUE || strcmp(link->kernel.param[x->condition].name, "alpha") != 0)
            continue;
        for (size_t i = 0; i < x->nparam; i++)
            assert_true(link->of[x->param[i]] == D0 || link->of[x->param[i]] == D_OFFSET);
        n++;
    }
    assert_int_equal(n, NG);
    fit_linkage_free(link);
    fit_dataset_free(ds);
}

/* ---- levels ------------------------------------------------------------------------------------------------------ */

/* A prior with parameters has those of the linked kernel: each copy of D0 the first alpha of two, and the shear. */
static void test_parameters_of_priors_follow_the_unknowns(void **state)
{
    static const struct fit_level level[NP] = {[D0] = {{1 + ALPHA, 1 + SHEAR}, 0}, [PHI0] = {{0, 1 + BETA}, 0},
                                               [BETA] = {{0, 0}, 1}};
    struct fit_kernel k = *e2e_kernel("laminar", "fast", NULL);
    struct fit_dataset *ds = data(&k);
    (void)state;
    k.level = level;
    struct fit_linkage *link = link_of(&k, ds);
    const struct fit_kernel *outer = &link->kernel;
    for (size_t u = 0; u < outer->nparam; u++) {
        const struct fit_level *inner = &level[link->of[u]];
        assert_int_equal(outer->level[u].hyper, inner->hyper);
        for (int i = 0; i < 2; i++) {
            const unsigned from = outer->level[u].from[i];
            assert_int_equal(from > 0, inner->from[i] > 0);
            assert_true(from <= outer->nparam);
            if (from)
                assert_int_equal(link->of[from - 1], inner->from[i] - 1);
        }
    }
    fit_linkage_free(link);
    fit_dataset_free(ds);
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

static void test_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    struct fit_dataset *ds = data(k);
    struct fit_linkage *link = link_of(k, ds);
    double start[MOST];
    for (size_t u = 0; u < link->kernel.nparam; u++)
        start[u] = START[link->of[u]];
    struct fit_options o;
    fit_options_default(&o);
    o.start = start;
    o.start_only = 1;
    o.threads = 1;
    struct fit_result one = run_fit(&link->kernel, ds, &o);
    o.threads = 3;
    struct fit_result three = run_fit(&link->kernel, ds, &o);
    assert_memory_equal(one.theta, three.theta, one.nparam * sizeof *one.theta);
    assert_memory_equal(one.std, three.std, one.nfull * sizeof *one.std);
    fit_result_free(&one);
    fit_result_free(&three);
    fit_linkage_free(link);
    fit_dataset_free(ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ties_and_values_of_groups),
        cmocka_unit_test(test_gradient_and_model_agree_with_points),
        cmocka_unit_test(test_individual_averaged_constant_and_sets),
        cmocka_unit_test(test_fourier_series),
        cmocka_unit_test(test_hierarchical),
        cmocka_unit_test(test_spread_of_a_population),
        cmocka_unit_test(test_bounds_of_tied_values_are_kept),
        cmocka_unit_test(test_degeneracies_follow_the_unknowns),
        cmocka_unit_test(test_parameters_of_priors_follow_the_unknowns),
        cmocka_unit_test(test_same_bits_for_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
