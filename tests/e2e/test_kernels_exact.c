/* test_kernels_exact.c -- the fast kernels against the exact formula in long double (reference.h), and against
 * the parity kernels.
 *
 * At points that try the weak spots of the factored forms: time 0 with negative exponents, no shear, angles
 * at and near the perpendicular of the flow, arguments of exp and sin up to 1e8.
 *
 *   points   mean within 1e-12 of the contrast, derivatives within 1e-12 of the largest of their column
 *   model    on tiles, by factored forms: within 1e-13 of the contrast of `points`
 *   moments, normal   within 1e-12 of the sum of the absolute values of their terms; sums of one angle, of
 *                     the largest such sum of all angles (a derivative proportional to cos 90 degrees is
 *                     rounding alone)
 *
 * To all but the second the conditioning is added: an argument is a difference of two prefix sums of size A,
 * of which double precision knows eps A, so no value can be better than that (reference_argument_error; it is
 * below 1e-13 at ordinary parameters, and counted up to 3e-11: where it is larger, the signal is gone).
 * Angles are known to eps as well, so that the cosine at 89.9999 degrees has 10 digits; no test asks for more.
 */
#include "reference.h"
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

static const double TOLERANCE = 1e-12, TOLERANCE_TILES = 1e-13, CONDITIONING = 3e-11;
static const double Q = 0.0054, GAP = 2e6;
enum { MOST = REFERENCE_PARAMETERS };

/* D0, alpha, D_offset, gamma_dot_t0, beta, gamma_dot_t_offset, phi0. */
struct point {
    const char *name;
    size_t ntime;
    double dt, first_time;
    double theta[MOST];
    size_t nphi;
    double phi[5];
};

// clang-format off
static const struct point points[] = {
    {"ordinary",                200, 0.1, 0,   {2000, -0.3, 100, 0.004, -0.4, 3e-4, -4}, 5, {-45, -5, 5, 50, 90}},
    {"first frame at dt",       60,  0.1, 0.1, {2000, -0.3, 100, 0.004, -0.4, 3e-4, -4}, 3, {0, 45, 90}},
    {"negative exponents",      100, 0.1, 0,   {1e5, -2, 100, 0.5, -2, 0, 3}, 3, {0, 45, 90}},
    {"mildly negative",         100, 0.1, 0,   {8000, -1.2, 50, 0.01, -1.5, 1e-4, 3}, 3, {0, 5, 90}},
    {"no shear",                100, 0.1, 0,   {2000, -0.3, 100, 1e-6, 0, 0, 0}, 3, {0, 60, 90}},
    {"vanishing shear",         100, 0.1, 0,   {2000, -0.3, 100, 1e-6, -2, 0, 0}, 2, {0, 60}},
    {"perpendicular",           100, 0.1, 0,   {2000, -0.3, 100, 0.003, 0.2, 3e-4, -4}, 5, {86, -94, 85.9, 266, 0}},
    {"around the series",       100, 1e-3, 0,  {2000, -0.3, 100, 0.004, 0, 3e-4, 0}, 3, {0, 80, 89}},
    {"rates on the floor",      100, 0.1, 0,   {500, 1, -400, 0.002, 1, -0.001, 2}, 2, {0, 90}},
    {"large arguments",         200, 0.1, 0,   {1e5, 2, 1e5, 0.5, 2, 0.1, 10}, 3, {0, 45, 99}},
    {"large sums, slow later",  200, 0.1, 0,   {1e5, -2, 100, 0.5, -2, 1e-4, 0}, 3, {0, 80, 89}},
    {"1000 frames",             1000, 0.1, 0,  {2000, -0.3, 100, 0.004, -0.4, 3e-4, -4}, 1, {5}},
    {"1000 frames, large",      1000, 0.1, 0,  {1e5, 2, 0, 0.5, 2, 0.1, 0}, 1, {80}},
};
// clang-format on

struct worst {
    double mean, jacobian, tiles, moments, normal, conditioning;
};

static double uniform(size_t a, size_t b)
{
    double u[2];
    fit_rng_uniform(11, a, b, u);
    return u[0];
}

/* ---- exact values and sums --------------------------------------------------------------------------- */

struct exact {
    size_t nparam, nlinear, ngroup, nm, nn;
    double *lin;
    long double *moments, *moments_size; /* sums, and sums of absolute values */
    long double *normal, *normal_size;
    long double *column; /* largest |d mean / d theta_k|, |g|, 1 */
};

static void add(long double *sum, long double *size, size_t k, long double term)
{
    sum[k] += term;
    size[k] += fabsl(term);
}

static struct exact exact_new(const struct fit_kernel *k, size_t ngroup)
{
    struct exact e = {.nparam = k->nparam, .nlinear = k->nlinear, .ngroup = ngroup};
    e.nm = ngroup * 6;
    e.nn = e.nparam * (e.nparam + 1) / 2 + e.nparam + ngroup * 2 * e.nparam;
    e.lin = e2e_doubles(2 * ngroup);
    for (size_t g = 0; g < ngroup; g++)
        e.lin[2 * g] = 0.3 - 0.01 * (double)g, e.lin[2 * g + 1] = 1 + 0.002 * (double)g;
    e.moments = calloc(2 * (e.nm + e.nn) + e.nparam + 2, sizeof *e.moments);
    assert_non_null(e.moments);
    e.moments_size = e.moments + e.nm;
    e.normal = e.moments_size + e.nm;
    e.normal_size = e.normal + e.nn;
    e.column = e.normal_size + e.nn;
    return e;
}

static void exact_free(struct exact *e)
{
    free(e->lin);
    free(e->moments);
}

/* Adds one data point to the sums.  b = {g, 1}, m_k = contrast dg_k. */
static void exact_add(struct exact *e, size_t g, long double y, long double w, long double value,
                      const long double *dg)
{
    long double b[2] = {value, 1}, c = e->lin[2 * g], r = y - (e->lin[2 * g + 1] + c * value);
    size_t at = 6 * g, n = e->nparam, k = 0;
    for (size_t p = 0; p < 2; p++)
        for (size_t q = p; q < 2; q++)
            add(e->moments, e->moments_size, at++, w * b[p] * b[q]);
    for (size_t p = 0; p < 2; p++)
        add(e->moments, e->moments_size, at++, w * b[p] * y);
    add(e->moments, e->moments_size, at, w * y * y);
    for (size_t p = 0; p < n; p++)
        for (size_t q = p; q < n; q++)
            add(e->normal, e->normal_size, k++, w * c * dg[p] * c * dg[q]);
    for (size_t p = 0; p < n; p++)
        add(e->normal, e->normal_size, k++, w * c * dg[p] * r);
    k += g * 2 * n;
    for (size_t q = 0; q < 2; q++)
        for (size_t p = 0; p < n; p++)
            add(e->normal, e->normal_size, k++, w * b[q] * c * dg[p]);
    for (size_t p = 0; p < n; p++)
        e->column[p] = fmaxl(e->column[p], fabsl(c * dg[p]));
    e->column[n] = fmaxl(e->column[n], fabsl(value));
    e->column[n + 1] = 1;
}

/* ---- one kernel at one point -------------------------------------------------------------------------- */

static double *data_of(size_t n, size_t g)
{
    double *y = e2e_doubles(n * n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            y[i * n + j] = 1 + 0.3 * uniform(g, i * n + j);
    return y;
}

static void check_points(const struct e2e_prepared *p, const struct reference *ref, const struct exact *e,
                         struct worst *w)
{
    const struct fit_layout *l = p->layout;
    size_t n = l->nframe, full = e->nparam + 2, stride = n > 200 ? 7 : 1;
    double mean, jac[MOST + 2];
    long double dg[MOST];
    for (size_t g = 0; g < l->ngroup; g++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n; j += stride) {
                uint32_t a = (uint32_t)i, b = (uint32_t)j, c = (uint32_t)g;
                long double value = reference_g(ref, i, j, g, dg), contrast = e->lin[2 * g];
                p->kernel->points(l, p->ws, e->lin, &(struct fit_points){1, &a, &b, &c}, &mean, jac);
                long double exact = e->lin[2 * g + 1] + contrast * value;
                w->mean = e2e_max(w->mean, (double)(fabsl(mean - exact) / contrast));
                for (size_t k = 0; k < full; k++) {
                    long double d = k < e->nparam ? contrast * dg[k] : k == e->nparam ? value : 1;
                    long double size = e->column[k] > 0 ? e->column[k] : 1;
                    w->jacobian = e2e_max(w->jacobian, (double)(fabsl(jac[k] - d) / size));
                }
            }
}

/* kernel->model on every tile against kernel->points. */
static void check_tiles(const struct e2e_prepared *p, const struct fit_dataset *ds, const struct exact *e,
                        struct worst *w)
{
    const struct fit_layout *l = p->layout;
    for (size_t k = 0; k < ds->ntile; k++) {
        const struct fit_tile *t = &ds->tile[k];
        double *out = e2e_doubles(fit_tile_doubles(l, t)), mean;
        p->kernel->model(l, p->ws, e->lin, t, out);
        for (size_t i = t->i0; i < t->i1; i++)
            for (size_t j = i + 1 > t->j0 ? i + 1 : t->j0; j < t->j1; j++)
                for (size_t g = 0; g < l->ngroup; g++) {
                    uint32_t a = (uint32_t)i, b = (uint32_t)j, c = (uint32_t)g;
                    p->kernel->points(l, p->ws, e->lin, &(struct fit_points){1, &a, &b, &c}, &mean, NULL);
                    double d = fabs(out[fit_tile_offset(l, t, i, j, g)] - mean) / e->lin[2 * g];
                    w->tiles = e2e_max(w->tiles, d);
                }
        free(out);
    }
}

static double compare(const double *sum, const long double *exact, const long double *size, size_t n)
{
    double worst = 0;
    for (size_t k = 0; k < n; k++)
        worst = e2e_max(worst, (double)(fabsl(sum[k] - exact[k]) / (size[k] > 1e-290L ? size[k] : 1)));
    return worst;
}

static void check_sums(const struct e2e_prepared *p, const struct fit_dataset *ds, const struct exact *e,
                       struct worst *w)
{
    double *total = e2e_doubles(e->nm + e->nn), *out = e2e_doubles(e->nm + e->nn);
    for (size_t k = 0; k < ds->ntile; k++) {
        p->kernel->moments(p->layout, p->ws, &ds->tile[k], p->scratch, out);
        p->kernel->normal(p->layout, p->ws, e->lin, &ds->tile[k], p->scratch, out + e->nm);
        for (size_t m = 0; m < e->nm + e->nn; m++)
            total[m] += out[m];
    }
    w->moments = e2e_max(w->moments, compare(total, e->moments, e->moments_size, e->nm));
    w->normal = e2e_max(w->normal, compare(total + e->nm, e->normal, e->normal_size, e->nn));
    free(total);
    free(out);
}

/* Sums of absolute values per group <- the largest of all groups. */
static void share_sizes(long double *size, size_t ngroup, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        long double most = 0;
        for (size_t g = 0; g < ngroup; g++)
            most = fmaxl(most, size[g * n + k]);
        for (size_t g = 0; g < ngroup; g++)
            size[g * n + k] = most;
    }
}

static void exact_sums(const struct reference *ref, const struct fit_dataset *ds, struct exact *e)
{
    size_t n = ds->layout.nframe, p = e->nparam;
    long double dg[MOST];
    for (size_t g = 0; g < ds->layout.ngroup; g++) {
        double *y = data_of(n, g);
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n; j++) {
                long double value = reference_g(ref, i, j, g, dg);
                exact_add(e, g, y[i * n + j], 1, value, dg);
            }
        free(y);
    }
    share_sizes(e->normal_size + p * (p + 1) / 2 + p, e->ngroup, 2 * p);
}

static struct fit_dataset *dataset_of(const struct fit_kernel *k, const struct point *pt)
{
    double *time = e2e_doubles(pt->ntime);
    struct fit_error err = {0};
    for (size_t i = 0; i < pt->ntime; i++)
        time[i] = pt->first_time + (double)i * pt->dt;
    struct fit_dataset *ds = e2e_dataset(
        k, &(struct e2e_grid){.ntime = pt->ntime, .time = time, .dt = pt->dt, .q = Q, .gap = GAP, .nphi = pt->nphi,
                              .phi = pt->phi});
    for (size_t g = 0; g < pt->nphi; g++) {
        double *y = data_of(pt->ntime, g);
        if (fit_dataset_put(ds, g, y, NULL, &err) != FIT_OK)
            fail_msg("%s", err.message);
        free(y);
    }
    if (fit_dataset_finish(ds, &err) != FIT_OK)
        fail_msg("%s", err.message);
    free(time);
    return ds;
}

static void check(const struct fit_kernel *k, const struct point *pt, const struct worst *w)
{
    double c = w->conditioning < CONDITIONING ? w->conditioning : CONDITIONING;
    printf("    %-24s %s  mean %.1e  jacobian %.1e  tiles %.1e  moments %.1e  normal %.1e  (arguments %.1e)\n",
           pt->name, k->isa, w->mean, w->jacobian, w->tiles, w->moments, w->normal, c);
    if (!(w->mean <= TOLERANCE + c) || !(w->jacobian <= TOLERANCE + c) || !(w->tiles <= TOLERANCE_TILES) ||
        !(w->moments <= TOLERANCE + c) || !(w->normal <= TOLERANCE + c)) {
        print_error("%s %s, %s: further from the exact formula than %.1e (tiles: %.1e)\n", k->name, k->isa,
                    pt->name, TOLERANCE + c, TOLERANCE_TILES);
        fail();
    }
}

static void check_model(const char *model)
{
    printf("%s\n", model);
    for (size_t q = 0; q < sizeof points / sizeof *points; q++) {
        const struct point *pt = &points[q];
        const struct fit_kernel *best = e2e_kernel(model, "fast", NULL);
        assert_non_null(best);
        struct fit_dataset *ds = dataset_of(best, pt);
        struct reference ref = reference_new(best, &ds->layout, pt->theta);
        struct exact e = exact_new(best, pt->nphi);
        exact_sums(&ref, ds, &e);
        for (size_t v = 0; e2e_kernels[v]; v++) {
            const struct fit_kernel *k = e2e_kernels[v];
            struct worst w = {.conditioning = reference_argument_error(&ref)};
            if (e2e_kernel(model, "fast", k->isa) != k)
                continue;
            struct e2e_prepared p = e2e_prepare(k, &ds->layout, pt->theta);
            assert_int_equal(p.answer, FIT_EVAL_OK);
            if (k == best)
                check_points(&p, &ref, &e, &w);
            check_tiles(&p, ds, &e, &w);
            check_sums(&p, ds, &e, &w);
            e2e_release(&p);
            check(k, pt, &w);
        }
        exact_free(&e);
        reference_free(&ref);
        fit_dataset_free(ds);
    }
}

static void static_isotropic(void **state)
{
    (void)state;
    check_model("static_isotropic");
}

static void static_anisotropic(void **state)
{
    (void)state;
    check_model("static_anisotropic");
}

static void laminar(void **state)
{
    (void)state;
    check_model("laminar");
}

static void laminar_theory(void **state)
{
    (void)state;
    check_model("laminar_theory");
}

/* ---- fast and parity ---------------------------------------------------------------------------------- */

/* The parity variant takes M = sqrt(I^2 + eps^2), eps = 1e-6 dt (1e-6 in sums without the frame period), for
 * the integrals I_D and I_G.  For I >= 0:
 *     M_D - I_D <= eps                            changes g by at most  q^2 eps g
 *     x^2 grows by a^2, a = s 1e-6 dt             and |d sinc^4 / d x^2| <= 2/3 (its value at x = 0)
 * The floor 1e-10 under g1 adds at most 1e-20 to g.  So, apart from rounding,
 *     |fast - parity| <= contrast (q^2 eps + 2/3 a^2 + 1e-20).
 * With s = q gap/(2 pi) and dt = 0.1 s, 2/3 a^2 is 2e-8: far above what the sums of a fit notice. */
static void parity_is_near(void **state)
{
    (void)state;
    static const char *const models[] = {"static_isotropic", "static_anisotropic", "laminar"};
    double reached = 0;
    for (size_t m = 0; m < 3; m++)
        for (size_t q = 0; q < sizeof points / sizeof *points; q++) {
            const struct point *pt = &points[q];
            const struct fit_kernel *k = e2e_kernel(models[m], "fast", NULL);
            const struct fit_kernel *parity = e2e_kernel(models[m], "parity", NULL);
            assert_non_null(parity);
            struct fit_dataset *ds = dataset_of(k, pt);
            struct e2e_prepared fast = e2e_prepare(k, &ds->layout, pt->theta);
            struct e2e_prepared peer = e2e_prepare(parity, &ds->layout, pt->theta);
            struct reference ref = reference_new(k, &ds->layout, pt->theta);
            double lin[10], mean[2], eps = 1e-6 * pt->dt, rounding = 1e-14 + reference_argument_error(&ref);
            for (size_t g = 0; g < pt->nphi; g++)
                lin[2 * g] = 0.3, lin[2 * g + 1] = 1;
            for (size_t g = 0; g < pt->nphi; g++) {
                double angle = (pt->theta[6] - pt->phi[g]) * 3.14159265358979 / 180;
                double s = ref.sinc_power ? (double)ref.factor * cos(angle) : 0, a = s * eps, x = 2.0 / 3 * a * a;
                double bound = 0.3 * (Q * Q * eps + x + 1e-20) + rounding;
                for (size_t i = 0; i < pt->ntime; i += 3)
                    for (size_t j = i + 1; j < pt->ntime; j += 1 + i % 5) {
                        uint32_t p = (uint32_t)i, r = (uint32_t)j, c = (uint32_t)g;
                        fast.kernel->points(&ds->layout, fast.ws, lin, &(struct fit_points){1, &p, &r, &c}, &mean[0],
                                            NULL);
                        peer.kernel->points(&ds->layout, peer.ws, lin, &(struct fit_points){1, &p, &r, &c}, &mean[1],
                                            NULL);
                        double d = fabs(mean[0] - mean[1]);
                        if (!(d <= bound))
                            fail_msg("%s, %s: fast and parity differ by %.2e at (%zu, %zu), allowed %.2e",
                                     models[m], pt->name, d, i, j, bound);
                        if (x > 1e-9)
                            reached = e2e_max(reached, d / bound);
                    }
            }
            e2e_release(&fast);
            e2e_release(&peer);
            reference_free(&ref);
            fit_dataset_free(ds);
        }
    printf("    the difference reaches %.2f of its bound\n", reached);
    assert_true(reached > 0.3); /* the parity variant does smooth */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(static_isotropic), cmocka_unit_test(static_anisotropic), cmocka_unit_test(laminar),
        cmocka_unit_test(laminar_theory),   cmocka_unit_test(parity_is_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
