/* test_imaging_closures.c -- observations in HDF5 files and data products: the values of another implementation,
 * sets, options, damaged files. */
#include "golden.h"

#include "hdf5/h5_writer.h"
#include "observation/closures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* What is asked: data and sigma of the other implementation to this, relative. */
#define EXACT 1e-12

static struct fit_error err;
static struct fit_h5 *h;
static struct fit_obs *obs;

static int open_golden(void **state)
{
    (void)state;
    return fit_h5_open(GOLDEN, &h, &err) != FIT_OK || fit_obs_read(GOLDEN, &obs, &err) != FIT_OK;
}

static int close_golden(void **state)
{
    (void)state;
    fit_h5_close(h);
    fit_obs_free(obs);
    return 0;
}

static struct fit_product *make(enum fit_product_kind kind, const struct fit_product_options *o)
{
    struct fit_product *p;
    if (fit_product_make(obs, kind, o, &p, &err) != FIT_OK)
        fail_msg("%s", err.message);
    return p;
}

/* Eigenvectors have a sign of their own: that of row i of T, whose block begins at row first. */
static double sign_of(const struct fit_product *p, const double *T, size_t i, size_t *first, size_t *at)
{
    size_t k = 0, done = 0, squares = 0;
    for (; done + p->block[k] <= i; k++) {
        done += p->block[k];
        squares += p->block[k] * p->block[k];
    }
    *first = done;
    *at = squares + (i - done) * p->block[k];
    double dot = 0;
    for (size_t j = 0; j < p->block[k]; j++)
        dot += T[*at + j] * p->T[*at + j];
    assert_true(fabs(fabs(dot) - 1) < 1e-12);
    return dot < 0 ? -1 : 1;
}

static void compare(const struct fit_product *p, const char *group)
{
    size_t n;
    double *sigma = golden(h, group, "sigma", &n), *data = golden(h, group, p->imag ? "data_re" : "data", &n);
    double *imag = p->imag ? golden(h, group, "data_im", &n) : NULL, *T = NULL;
    assert_non_null(sigma);
    assert_int_equal(p->n, n);
    if (p->T)
        T = golden(h, group, "T_flat", &n);
    for (size_t i = 0, first, at; T && i < p->n; i++)
        data[i] *= sign_of(p, T, i, &first, &at);
    assert_true(golden_ratio(p->n, p->sigma, sigma) < EXACT);
    assert_true(golden_error(p->n, p->data, data) < EXACT);
    if (imag)
        assert_true(golden_error(p->n, p->imag, imag) < EXACT);
    free(sigma);
    free(data);
    free(imag);
    free(T);
}

/* Legs lie where the other implementation has them: (u, v) of every leg. */
static void compare_legs(const struct fit_product *p, const char *group)
{
    size_t n;
    double *u = golden(h, group, "u", &n), *v = golden(h, group, "v", &n);
    assert_int_equal(p->n * (size_t)p->nleg, n);
    for (size_t i = 0; i < n; i++) {
        int sign = p->leg[i] < 0 ? -1 : 1;
        size_t row = (size_t)(sign * p->leg[i]) - 1;
        assert_true(sign * obs->u[row] == u[i] && sign * obs->v[row] == v[i]);
    }
    free(u);
    free(v);
}

static void test_products_are_those_of_the_reference(void **state)
{
    (void)state;
    for (int k = 0; k < FIT_PRODUCT_VVIS; k++) {
        char group[64];
        struct fit_product *p = make((enum fit_product_kind)k, &(struct fit_product_options){0});
        snprintf(group, sizeof group, "/dataterms/%s", fit_product_name(p->kind));
        assert_int_equal(fit_product_kind(fit_product_name(p->kind)), k);
        compare(p, group);
        compare_legs(p, group);
        fit_product_free(p);
    }
    assert_int_equal(fit_product_kind("visibility"), -1);
}

static void test_options_are_those_of_the_reference(void **state)
{
    (void)state;
    static const struct {
        enum fit_product_kind kind;
        const char *group;
        struct fit_product_options o;
    } c[] = {{FIT_PRODUCT_AMP, "/weighting/amp_debias", {.debias = 1}},
             {FIT_PRODUCT_LOGCAMP, "/weighting/logcamp_debias", {.debias = 1}},
             {FIT_PRODUCT_VIS, "/weighting/vis_sys02_snr3", {.systematic_noise = 0.02, .snrcut = 3}},
             {FIT_PRODUCT_VIS, "/weighting/vis_uniform", {.uniform = 1}}};
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        struct fit_product *p = make(c[k].kind, &c[k].o);
        compare(p, c[k].group);
        fit_product_free(p);
    }
}

static double *ascending(size_t n, const double *x)
{
    double *s = malloc(n * sizeof *s);
    for (size_t i = 0; i < n; i++) {
        size_t j = i;
        for (; j && s[j - 1] > fabs(x[i]); j--)
            s[j] = s[j - 1];
        s[j] = fabs(x[i]);
    }
    return s;
}

/* Order and orientation of the triangles of a maximal set are free: all sizes of phases, all sigmas. */
static void test_maximal_sets_are_those_of_the_reference(void **state)
{
    (void)state;
    const char *group = "/weighting/cphase_max_sys5deg";
    struct fit_product *p =
        make(FIT_PRODUCT_CPHASE, &(struct fit_product_options){.maximal = 1, .systematic_cphase_noise = 5});
    size_t n;
    double *data = golden(h, group, "data", &n), *sigma = golden(h, group, "sigma", &n);
    assert_int_equal(p->n, n);
    double *a = ascending(n, p->data), *b = ascending(n, data), *c = ascending(n, p->sigma), *d = ascending(n, sigma);
    assert_true(golden_error(n, a, b) < EXACT);
    assert_true(golden_ratio(n, c, d) < EXACT);
    double *all[] = {data, sigma, a, b, c, d};
    for (size_t k = 0; k < 6; k++)
        free(all[k]);
    fit_product_free(p);
}

/* n stations, all baselines, one time: the numbers of closures, and that minimal phases are a basis of all. */
static struct fit_obs *full_array(int n)
{
    struct fit_obs *o = fit_obs_new("full array", (size_t)(n * (n - 1) / 2));
    o->nsite = (size_t)n;
    o->site = fit_take(&o->arena, (size_t)n, sizeof *o->site);
    for (int k = 0; k < n; k++)
        o->site[k] = fit_arena_string(&o->arena, "S");
    size_t row = 0;
    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++, row++) {
            o->t1[row] = a;
            o->t2[row] = b;
            o->u[row] = 1e6 * (a - b) * (a + 2 * b + 1);
            o->v[row] = 1e6 * (b * b - a);
            o->stokes[0].re[row] = 1 + 0.1 * a - 0.03 * b;
            o->stokes[0].im[row] = 0.2 * b - 0.11 * a * a;
            o->stokes[0].sigma[row] = 0.01 * (1 + a + b);
        }
    return o;
}

static size_t count(struct fit_obs *o, enum fit_product_kind kind, int maximal)
{
    struct fit_product *p;
    if (fit_product_make(o, kind, &(struct fit_product_options){.maximal = maximal}, &p, &err) != FIT_OK)
        return 0;
    size_t n = p->n;
    fit_product_free(p);
    return n;
}

static void test_numbers_of_closures(void **state)
{
    (void)state;
    for (size_t n = 2; n <= 9; n++) {
        struct fit_obs *o = full_array((int)n);
        assert_int_equal(count(o, FIT_PRODUCT_CPHASE, 0), (n - 1) * (n - 2) / 2);
        assert_int_equal(count(o, FIT_PRODUCT_CPHASE, 1), n * (n - 1) * (n - 2) / 6);
        assert_int_equal(count(o, FIT_PRODUCT_LOGCAMP, 0), n > 3 ? n * (n - 3) / 2 : 0);
        assert_int_equal(count(o, FIT_PRODUCT_LOGCAMP, 1), n > 3 ? n * (n - 1) * (n - 2) * (n - 3) / 8 : 0);
        fit_obs_free(o);
    }
}

/* chi^2 of one of a few numbers against 0 in the coordinates of a diagonal set. */
static double chi2(const struct fit_product *p)
{
    double sum = 0;
    for (size_t i = 0; i < p->n; i++)
        sum += p->data[i] / p->sigma[i] * (p->data[i] / p->sigma[i]);
    return sum;
}

/* With one error per leg, c^T Sigma^-1 c is the smallest chi^2 of legs that make these closures: the same, whatever
 * the station at which triangles meet.  Without, it depends on it. */
static void test_diagonal_sets_do_not_depend_on_the_reference(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        enum fit_product_kind kind = k ? FIT_PRODUCT_LOGCAMP_DIAG : FIT_PRODUCT_CPHASE_DIAG;
        double value[2][2];
        for (int turned = 0; turned < 2; turned++) {
            struct fit_obs *o = full_array(6);
            for (size_t i = 0; i < o->n && turned; i++) { /* the last station becomes the first */
                o->t1[i] = (o->t1[i] + 1) % 6;
                o->t2[i] = (o->t2[i] + 1) % 6;
                if (o->t1[i] > o->t2[i]) {
                    int t = o->t1[i];
                    o->t1[i] = o->t2[i];
                    o->t2[i] = t;
                    o->stokes[0].im[i] *= -1;
                }
            }
            for (size_t i = 0; i < o->n; i++) /* small phases: no turns */
                o->stokes[0].im[i] *= 0.1;
            for (int one = 0; one < 2; one++) {
                struct fit_product *p;
                struct fit_product_options options = {.one_error_per_leg = one};
                assert_int_equal(fit_product_make(o, kind, &options, &p, &err), FIT_OK);
                value[turned][one] = chi2(p);
                fit_product_free(p);
            }
            fit_obs_free(o);
        }
        assert_true(fabs(value[0][1] / value[1][1] - 1) < 1e-9);
        assert_true(fabs(value[0][0] / value[1][0] - 1) > 1e-3);
    }
}

static void test_g1600_closures_and_rows(void **state)
{
    (void)state;
    struct fit_obs *o;
    assert_int_equal(fit_obs_read(GAUSS1600, &o, &err), FIT_OK);
    assert_int_equal(o->n, 2592);
    assert_true(o->frequency == 230e9 && o->bandwidth == 4e9 && o->ra == 17.761 && o->dec == -29 && o->mjd == 51544 &&
                o->tint == 5);
    assert_true(fabs(fit_obs_beam(o) / 1.1454649858697184e-10 - 1) < EXACT);
    assert_string_equal(o->site[4], "ALMA");
    for (int k = 0; k < 2; k++) {
        enum fit_product_kind kind = k ? FIT_PRODUCT_LOGCAMP : FIT_PRODUCT_CPHASE;
        struct fit_product *made, *read;
        assert_int_equal(fit_product_make(o, kind, &(struct fit_product_options){0}, &made, &err), FIT_OK);
        assert_int_equal(fit_product_read(GAUSS1600, o, kind, &read, &err), FIT_OK);
        assert_int_equal(made->n, k ? 1382 : 1627);
        assert_int_equal(made->n, read->n);
        assert_memory_equal(made->leg, read->leg, made->n * (size_t)made->nleg * sizeof *made->leg);
        assert_true(golden_error(made->n, made->data, read->data) < EXACT);
        assert_true(golden_ratio(made->n, made->sigma, read->sigma) < EXACT);
        fit_product_free(made);
        fit_product_free(read);
    }
    struct fit_product *none;
    assert_int_equal(fit_product_read(GAUSS1600, o, FIT_PRODUCT_CAMP, &none, &err), FIT_OK);
    assert_null(none);
    fit_obs_free(o);
}

static void test_stations_stand_as_baselines_run(void **state)
{
    (void)state;
    size_t place[8];
    static const size_t sefd[8] = {2, 5, 4, 1, 0, 6, 3, 7}; /* ALMA LMT PV APEX SMA SMT SPT JCMT */
    assert_int_equal(fit_obs_site_order(obs, place), 1);
    assert_memory_equal(place, sefd, sizeof place);
    struct fit_obs *o = full_array(4);
    o->t1[0] = 3; /* 3 -> 1 beside 1 -> 3 */
    assert_int_equal(fit_obs_site_order(o, place), 0);
    for (size_t k = 0; k < 4; k++)
        assert_int_equal(place[k], k);
    fit_obs_free(o);
}

static void test_rows_that_are_left_out(void **state)
{
    (void)state;
    double site[8] = {0.1, 0.1, 0.1, 0.1, -1, 0.1, 0.1, 0.1};
    struct fit_product *p = make(FIT_PRODUCT_VIS, &(struct fit_product_options){.systematic_site = site});
    size_t with = 0;
    for (size_t i = 0; i < obs->n; i++)
        with += obs->t1[i] == 4 || obs->t2[i] == 4;
    assert_int_equal(p->n, obs->n - with);
    const struct fit_visibility *s = &obs->stokes[0];
    size_t row = (size_t)p->leg[0] - 1;
    double want = sqrt(s->sigma[row] * s->sigma[row] + 0.02 * (s->re[row] * s->re[row] + s->im[row] * s->im[row]));
    assert_true(fabs(p->sigma[0] / want - 1) < EXACT);
    fit_product_free(p);

    /* short baselines make no phases, but amplitudes */
    p = make(FIT_PRODUCT_CPHASE, &(struct fit_product_options){.cp_uv_min = 1e9});
    for (size_t i = 0; i < 3 * p->n; i++) {
        row = (size_t)labs(p->leg[i]) - 1;
        assert_true(hypot(obs->u[row], obs->v[row]) >= 1e9);
    }
    assert_true(p->n < 212);
    fit_product_free(p);
    p = make(FIT_PRODUCT_LOGCAMP, &(struct fit_product_options){.cp_uv_min = 1e9, .snrcut = 1});
    for (size_t i = 0; i < p->n; i++)
        assert_true(p->sigma[i] <= 1);
    fit_product_free(p);

    /* flags: no row with sigma = inf is a leg */
    double kept = s->sigma[20];
    s->sigma[20] = INFINITY;
    p = make(FIT_PRODUCT_CPHASE, &(struct fit_product_options){.maximal = 1});
    for (size_t i = 0; i < 3 * p->n; i++)
        assert_int_not_equal(labs(p->leg[i]), 21);
    fit_product_free(p);
    s->sigma[20] = kept;
}

/* Rows of linear polarisation stand for a baseline in both directions; both go when one of Q, U (m: or I) was not
 * measured, or is below the cut. */
static void test_linear_polarisation(void **state)
{
    (void)state;
    static const enum fit_product_kind kind[] = {FIT_PRODUCT_PVIS, FIT_PRODUCT_M};
    const struct fit_product_options plain = {.snrcut = 0}, cut = {.snrcut = 2};
    struct fit_obs *pol;
    struct fit_product *p;
    assert_int_equal(fit_obs_read(GOLDEN ":/pol", &pol, &err), FIT_OK);
    pol->stokes[FIT_STOKES_U].sigma[3] = INFINITY;
    pol->stokes[FIT_STOKES_I].sigma[5] = INFINITY;
    for (int k = 0; k < 2; k++) {
        assert_int_equal(fit_product_make(pol, kind[k], &plain, &p, &err), FIT_OK);
        const size_t half = p->n / 2;
        assert_int_equal(p->n, 2 * (pol->n - 1 - (k == 1)));
        for (size_t i = 0; i < half; i++) {
            assert_int_equal(p->leg[half + i], -p->leg[i]);
            assert_true(p->sigma[i] > 0 && p->leg[i] != 4 && (k == 0 || p->leg[i] != 6));
        }
        fit_product_free(p);
        assert_int_equal(fit_product_make(pol, kind[k], &cut, &p, &err), FIT_OK);
        assert_true(p->n > 0 && p->n < 2 * half);
        for (size_t i = 0; i < p->n; i++)
            assert_true(hypot(p->data[i], p->imag[i]) >= 2 * p->sigma[i]);
        fit_product_free(p);
    }
    fit_obs_free(pol);
    assert_int_equal(fit_product_make(obs, FIT_PRODUCT_PVIS, &plain, &p, &err), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "no visibilities of Stokes Q for pvis"));
    assert_int_equal(fit_product_make(obs, FIT_PRODUCT_VVIS, &plain, &p, &err), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "no visibilities of Stokes V for vvis"));
}

static void test_what_cannot_be_made(void **state)
{
    (void)state;
    struct fit_product *p;
    struct fit_product_options maximal = {.maximal = 1}, high = {.snrcut = 1e9}, v = {.stokes = FIT_STOKES_V};
    assert_int_equal(fit_product_make(obs, FIT_PRODUCT_CPHASE_DIAG, &maximal, &p, &err), FIT_ERR_USAGE);
    assert_int_equal(fit_product_make(obs, FIT_PRODUCT_VIS, &high, &p, &err), FIT_ERR_DATA);
    assert_int_equal(fit_product_make(obs, FIT_PRODUCT_VIS, &v, &p, &err), FIT_ERR_DATA);
    struct fit_obs *pol;
    assert_int_equal(fit_obs_read(GOLDEN ":/pol", &pol, &err), FIT_OK);
    assert_int_equal(pol->n, 161);
    assert_non_null(pol->stokes[FIT_STOKES_V].re);
    assert_null(pol->time);
    assert_int_equal(fit_product_make(pol, FIT_PRODUCT_CPHASE, &maximal, &p, &err), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "t1 and t2"));
    assert_int_equal(fit_product_make(pol, FIT_PRODUCT_AMP, &v, &p, &err), FIT_OK);
    fit_product_free(p);
    fit_obs_free(pol);
    assert_int_equal(fit_obs_read(GOLDEN ":/multifreq/ch2", &pol, &err), FIT_OK);
    assert_true(pol->frequency == 240e9);
    fit_obs_free(pol);
    assert_int_equal(fit_obs_read(GOLDEN ":/grid", &pol, &err), FIT_ERR_DATA);
    assert_null(pol);
}

/* ---- files of ours -------------------------------------------------------------------------------- */

static char file[64];

static void same_observations(const struct fit_obs *a, const struct fit_obs *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->nsite, b->nsite);
    assert_memory_equal(a->u, b->u, a->n * sizeof *a->u);
    assert_memory_equal(a->v, b->v, a->n * sizeof *a->u);
    assert_memory_equal(a->time, b->time, a->n * sizeof *a->u);
    assert_memory_equal(a->t1, b->t1, a->n * sizeof *a->t1);
    assert_memory_equal(a->t2, b->t2, a->n * sizeof *a->t2);
    for (int s = 0; s < FIT_STOKES; s++) {
        assert_int_equal(!a->stokes[s].re, !b->stokes[s].re);
        if (!a->stokes[s].re)
            continue;
        assert_memory_equal(a->stokes[s].re, b->stokes[s].re, a->n * sizeof *a->u);
        assert_memory_equal(a->stokes[s].im, b->stokes[s].im, a->n * sizeof *a->u);
        assert_memory_equal(a->stokes[s].sigma, b->stokes[s].sigma, a->n * sizeof *a->u);
    }
    const double x[] = {a->frequency, a->bandwidth, a->ra, a->dec, a->mjd, a->tint};
    const double y[] = {b->frequency, b->bandwidth, b->ra, b->dec, b->mjd, b->tint};
    for (size_t k = 0; k < 6; k++)
        assert_true(x[k] == y[k] || (isnan(x[k]) && isnan(y[k])));
    for (size_t k = 0; k < a->nsite; k++)
        assert_string_equal(a->site[k], b->site[k]);
    assert_int_equal(!a->site_xyz, !b->site_xyz);
    if (a->site_xyz)
        assert_memory_equal(a->site_xyz, b->site_xyz, 3 * a->nsite * sizeof *a->u);
    assert_string_equal(a->object, b->object);
}

static void test_what_is_written_is_read(void **state)
{
    (void)state;
    const char *from[] = {GOLDEN, GAUSS1600};
    for (int k = 0; k < 2; k++) {
        struct fit_obs *a, *b;
        assert_int_equal(fit_obs_read(from[k], &a, &err), FIT_OK);
        if (k)
            assert_int_equal(fit_obs_add_stokes(a, FIT_STOKES_Q), 1);
        if (fit_obs_write(file, a, &err) != FIT_OK || fit_obs_read(file, &b, &err) != FIT_OK)
            fail_msg("%s", err.message);
        same_observations(a, b);
        fit_obs_free(a);
        fit_obs_free(b);
    }
    remove(file);
}

/* One thing is wrong in each; the message names it. */
static void test_damaged_observations_are_refused(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++) {
        struct fit_obs *a, *b;
        assert_int_equal(fit_obs_read(GOLDEN, &a, &err), FIT_OK);
        static const char *const words[] = {"sigma", "visibility", "baseline", "station", "not a baseline"};
        if (k == 0)
            a->stokes[0].sigma[6] = 0;
        else if (k == 1)
            a->stokes[0].im[6] = NAN;
        else if (k == 2)
            a->u[6] = INFINITY;
        else if (k == 3)
            a->t2[6] = 8;
        else
            a->t2[6] = a->t1[6];
        assert_int_equal(fit_obs_write(file, a, &err), FIT_OK);
        assert_int_equal(fit_obs_read(file, &b, &err), FIT_ERR_DATA);
        assert_non_null(strstr(err.message, words[k]));
        assert_non_null(strstr(err.message, "row 7"));
        assert_null(b);
        fit_obs_free(a);
    }
    struct fit_obs *none;
    remove(file);
    assert_int_equal(fit_obs_read(file, &none, &err), FIT_ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_are_those_of_the_reference),
        cmocka_unit_test(test_options_are_those_of_the_reference),
        cmocka_unit_test(test_maximal_sets_are_those_of_the_reference),
        cmocka_unit_test(test_numbers_of_closures),
        cmocka_unit_test(test_diagonal_sets_do_not_depend_on_the_reference),
        cmocka_unit_test(test_g1600_closures_and_rows),
        cmocka_unit_test(test_stations_stand_as_baselines_run),
        cmocka_unit_test(test_rows_that_are_left_out),
        cmocka_unit_test(test_linear_polarisation),
        cmocka_unit_test(test_what_cannot_be_made),
        cmocka_unit_test(test_what_is_written_is_read),
        cmocka_unit_test(test_damaged_observations_are_refused),
    };
    snprintf(file, sizeof file, "/tmp/fit_imaging_%d.h5", (int)getpid());
    return cmocka_run_group_tests(tests, open_golden, close_golden);
}
