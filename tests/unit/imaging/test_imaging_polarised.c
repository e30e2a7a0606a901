/* test_imaging_polarised.c -- the objective of models/imaging/imaging.lua with polarisation and several frequencies,
 * against eht-imaging 1.4 (tests/data/imaging): values and gradients, of data products of the observation; what is
 * solved for; gradients of all terms beside differences; the same bits however the work is cut. */
#include "golden_images.h"
#include "observation/closures.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* --- polarisation ----------------------------------------------------------------------------------------- */

/* Rows of a term: data, 1/sigma^2, the points that they are of. */
struct rows {
    size_t n;
    double *re, *im, *weight;
    int32_t *place;
};

static struct rows rows_of(size_t n)
{
    struct rows r = {n, doubles(n), doubles(n), doubles(n), fit_take(&arena, n, sizeof *r.place)};
    assert_non_null(r.place);
    return r;
}

static void put_rows(struct fit_inputs *in, const char *term, const struct rows *r)
{
    put_axis(in, term, r->n);
    put_array(in, path_of("%s_data_re", term), r->n, r->re);
    if (strcmp(term, "amp") == 0)
        put_array(in, "amp_data", r->n, r->re);
    put_array(in, path_of("%s_data_im", term), r->n, r->im);
    put_array(in, path_of("%s_weight", term), r->n, r->weight);
    fit_inputs_put(in, (struct fit_input){.name = path_of("%s_leg1", term),
                                          .kind = FIT_INPUT_PLACES,
                                          .n = r->n,
                                          .place = r->place});
}

/* Rows of a term as the observation gives them. */
static void put_product(struct fit_inputs *in, const struct fit_obs *obs, const char *term)
{
    struct fit_product *q;
    must(fit_product_make(obs, (enum fit_product_kind)fit_product_kind(term),
                          &(struct fit_product_options){.debias = 0}, &q, &err));
    const struct rows r = rows_of(q->n);
    for (size_t k = 0; k < q->n; k++) {
        r.re[k] = q->data[k];
        r.im[k] = q->imag ? q->imag[k] : 0;
        r.weight[k] = 1 / (q->sigma[k] * q->sigma[k]);
        r.place[k] = q->leg[k];
    }
    put_rows(in, term, &r);
    fit_product_free(q);
}

static struct fit_bound *bind_polarised(const char *group)
{
    static const char *const term[] = {"amp", "vvis", "pvis", "m"};
    struct fit_inputs in = image_inputs(NULL);
    struct fit_obs *obs;
    size_t n;
    must(fit_obs_read(FIT_SOURCE_DIR "/tests/data/imaging/golden_eht.h5:/pol", &obs, &err));
    const double *u = read_array("/pol/u", &n), *v = read_array("/pol/v", NULL);
    double longest = 0;
    for (size_t k = 0; k < n; k++)
        longest = fmax(longest, hypot(u[k], v[k]));
    put_axis(&in, "uv", n);
    put_factors(&in, "z", n, u, v);
    for (int k = 0; k < 4; k++)
        put_product(&in, obs, term[k]);
    fit_obs_free(obs);
    put_array(&in, "prior", N, read_array(path_of("%s/prior_arr", group), NULL));
    put_number(&in, "beam", 1 / longest);
    put_number(&in, "epsilon_tv", read_attribute(group, "epsilon_tv"));
    put_number(&in, "vflux", read_attribute(group, "vflux"));
    return bind_objective(&in);
}

/* which_solve: m and v where all of I, m, phi, v are, then m and phi, then v. */
static const struct setup {
    const char *name;
    int m, v;
    struct {
        const char *name;
        double weight;
    } term[8];
} setups[] = {
    {"IP", 1, 0, {{"amp", 100}, {"pvis", 100}, {"m", 50}, {"simple", 1}, {"msimple", 1}, {"hw", 1}, {"ptv", 1}}},
    {"IV", 0, 1, {{"amp", 100}, {"vvis", 100}, {"simple", 1}, {"vflux", 1}, {"l1v", 1}, {"vtv", 1}}},
    {"IQUV", 1, 1, {{"amp", 100}, {"pvis", 100}, {"m", 50}, {"vvis", 100}, {"simple", 1}, {"l2v", 1}, {"vtv2", 1}}},
};
enum { NSETUP = sizeof setups / sizeof *setups };

static void set_up(struct fit_bound *b, const struct setup *s, int norm, const char *group)
{
    const double *all = read_array(path_of("%s/init_arr_solver", group), NULL);
    b->on = 0;
    for (size_t k = 0; k < 8 && s->term[k].name; k++)
        must(fit_bound_weight(b, s->term[k].name, s->term[k].weight, &err));
    must(fit_bound_hyper(b, "norm_reg", norm, &err));
    must(fit_bound_hyper(b, "solve_m", s->m, &err));
    must(fit_bound_hyper(b, "solve_v", s->v, &err));
    must(fit_bound_hold(b, "x_rho", s->m ? NULL : all + N, &err));
    must(fit_bound_hold(b, "phi", s->m ? NULL : all + 2 * N, &err));
    must(fit_bound_hold(b, "x_psi", s->v ? NULL : all + 3 * N, &err));
}

static void polarised_objectives_have_their_values_and_gradients(void **state)
{
    (void)state;
    double gradient[4 * N];
    for (int k = 0; k < NSETUP; k++)
        for (int norm = 0; norm < 2; norm++) {
            const char *group = path_of("/pol/%s_norm%d", setups[k].name, norm);
            struct fit_bound *b = bind_polarised(group);
            size_t n;
            const double *x = read_array(path_of("%s/x", group), &n);
            set_up(b, &setups[k], norm, group);
            assert_int_equal(fit_bound_unknowns(b), n);
            same_value(group, fit_bound_value(b, x, gradient), read_number(path_of("%s/value", group)), 1e-12);
            same_gradient(group, n, gradient, read_array(path_of("%s/grad", group), NULL), 1e-10);
            same_bits_for_any_threads(b, x);
            fit_bound_free(b);
        }
}

static void every_polarised_term_has_the_gradient_of_its_value(void **state)
{
    (void)state;
    static const char *const term[] = {"pvis", "m",     "vvis", "msimple", "hw",   "ptv",
                                       "vflux", "l1v", "l2v",  "vtv",     "vtv2"};
    const char *group = "/pol/IQUV_norm0";
    struct fit_bound *b = bind_polarised(group);
    const double *all = read_array(path_of("%s/x", group), NULL);
    double x[4 * N];
    must(fit_bound_hyper(b, "epsilon_tv", 1e-4, &err)); /* roots are smooth on the scale of the steps */
    for (size_t k = 0; k < 4; k++)
        memcpy(x + k * N, all + k * N, N * sizeof *x);
    must(fit_bound_hold(b, "x", x, &err));
    for (size_t k = 0; k < N; k++) /* V changes its sign nowhere near */
        x[3 * N + k] = fabs(x[3 * N + k]) + 0.1;
    for (size_t k = 0; k < sizeof term / sizeof *term; k++) {
        only(b, term[k], 1);
        const int has_m = fit_bound_place(b, "x_rho") == 0, has_phi = fit_bound_place(b, "phi") != FIT_BOUND_NOWHERE;
        assert_true(has_m && fit_bound_place(b, "x_psi") == (has_phi ? 2 : 1) * N);
        if (!has_phi)
            memcpy(x + 2 * N, x + 3 * N, N * sizeof *x);
        same_as_differences(term[k], b, x + N, 1e-3, 1e-8);
        if (!has_phi)
            memcpy(x + 2 * N, all + 2 * N, N * sizeof *x);
    }
    fit_bound_free(b);
}

/* What is held is the fraction itself: v of a mode that solves for m. */
static void fractions_stay_below_one(void **state)
{
    (void)state;
    struct fit_bound *b = bind_polarised("/pol/IP_norm0");
    double x[N], v[N], m[N], V[N] = {0};
    only(b, "l1v", 1);
    must(fit_bound_hyper(b, "log_transform", 0, &err));
    for (int k = 0; k < N; k++) {
        v[k] = 0.4;
        m[k] = 1e9;
        x[k] = 1;
    }
    must(fit_bound_hyper(b, "solve_v", 0, &err));
    must(fit_bound_hold(b, "x_psi", v, &err));
    must(fit_bound_hold(b, "x", x, &err));
    must(fit_bound_hold(b, "x_rho", m, &err));
    fit_bound_value(b, V, NULL);
    assert_true(fabs(b->term[fit_bound_term(b, "l1v")] - 0.4 * N) < 1e-12 * N);
    only(b, "msimple", 1); /* sum of ln m: m is just below 0.6 */
    fit_bound_value(b, V, NULL);
    assert_true(fabs(b->term[fit_bound_term(b, "msimple")] - N * log(0.6)) < 1e-6);
    fit_bound_free(b);
}

/* --- several frequencies ---------------------------------------------------------------------------------- */

static void put_channel(struct fit_inputs *in, int c, double ratio)
{
    size_t n;
    const double *u = read_array(path_of("/multifreq/ch%d/u", c - 1), &n);
    const double *v = read_array(path_of("/multifreq/ch%d/v", c - 1), NULL);
    const double *re = read_array(path_of("/multifreq/ch%d/vis_re", c - 1), NULL);
    const double *im = read_array(path_of("/multifreq/ch%d/vis_im", c - 1), NULL);
    const double *sigma = read_array(path_of("/multifreq/ch%d/sigma", c - 1), NULL);
    const struct rows vis = rows_of(n), amp = rows_of(n);
    for (size_t k = 0; k < n; k++) {
        vis.re[k] = re[k];
        vis.im[k] = im[k];
        amp.re[k] = hypot(re[k], im[k]);
        vis.weight[k] = amp.weight[k] = 1 / (sigma[k] * sigma[k]);
        vis.place[k] = amp.place[k] = (int32_t)k + 1;
    }
    put_axis(in, path_of("uv_%d", c), n);
    put_factors(in, path_of("z_%d", c), n, u, v);
    put_rows(in, path_of("vis_%d", c), &vis);
    put_rows(in, path_of("amp_%d", c), &amp);
    put_array(in, path_of("amp_%d_data", c), n, amp.re);
    put_number(in, path_of("log_ratio_%d", c), ratio);
}

static struct fit_bound *bind_frequencies(void)
{
    struct fit_inputs in = image_inputs(NULL);
    const double *ratio = read_array("/multifreq/logfreqratio", NULL);
    const double *prior = read_array("/multifreq/prior_arr", NULL);
    for (int c = 1; c <= 3; c++)
        put_channel(&in, c, ratio[c - 1]);
    put_number(&in, "channels", 3);
    put_number(&in, "epsilon_tv", read_attribute("/multifreq", "epsilon_tv"));
    put_array(&in, "prior", N, prior);
    put_array(&in, "alpha_prior", N, prior + N);
    put_array(&in, "beta_prior", N, prior + 2 * N);
    return bind_objective(&in);
}

static void objectives_of_channels_have_their_values_and_gradients(void **state)
{
    (void)state;
    static const struct {
        const char *term;
        double weight;
    } use[] = {{"vis_1", 1}, {"vis_2", 1}, {"vis_3", 1},    {"amp_1", 2},    {"amp_2", 2},   {"amp_3", 2},
               {"simple", 1}, {"tv", 1},   {"l2_alpha", 1}, {"tv_alpha", 1}, {"l2_beta", 0.5}};
    struct fit_bound *b = bind_frequencies();
    const double *x = read_array("/multifreq/x", NULL);
    double gradient[3 * N];
    b->on = 0;
    for (size_t k = 0; k < sizeof use / sizeof *use; k++)
        must(fit_bound_weight(b, use[k].term, use[k].weight, &err));
    assert_int_equal(fit_bound_unknowns(b), 3 * N);
    same_value("multifreq", fit_bound_value(b, x, gradient), read_number("/multifreq/value"), 1e-12);
    same_gradient("multifreq", 3 * N, gradient, read_array("/multifreq/grad", NULL), 1e-10);
    same_bits_for_any_threads(b, x);
    assert_int_equal(fit_bound_weight(b, "vis_4", 1, &err), FIT_ERR_CONFIG);
    fit_bound_free(b);
}

/* flux_mf counts the channels that there are; those of beta are not in the golden objective. */
static void regularizers_of_channels(void **state)
{
    (void)state;
    static const char *const term[] = {"flux_mf", "l2_alpha", "tv_alpha", "l2_beta", "tv_beta"};
    struct fit_bound *b = bind_frequencies();
    const double *x = read_array("/multifreq/x", NULL), *ratio = read_array("/multifreq/logfreqratio", NULL);
    double wanted = 0;
    for (int c = 0; c < 3; c++) {
        double total = 0;
        must(fit_bound_hyper(b, path_of("flux_%d", c + 1), 2 + 0.1 * c, &err));
        for (int k = 0; k < N; k++)
            total += exp(x[k] + x[N + k] * ratio[c] + x[2 * N + k] * ratio[c] * ratio[c]);
        wanted += pow((total - (2 + 0.1 * c)) / (2 + 0.1 * c), 2);
    }
    only(b, "flux_mf", 1);
    must(fit_bound_hyper(b, "norm_reg", 1, &err));
    same_value("flux_mf", fit_bound_value(b, x, NULL), wanted, 1e-12);
    static const double norm[] = {0, N, 1, N, 1}; /* 1: N pixel_size / beam */
    for (size_t k = 1; k < sizeof term / sizeof *term; k++) {
        only(b, term[k], 1);
        must(fit_bound_hold(b, "x", x, &err));
        must(fit_bound_hyper(b, "norm_reg", 0, &err));
        const double *at = k < 3 ? x + N : x + 2 * N, plain = fit_bound_value(b, at, NULL);
        must(fit_bound_hyper(b, "norm_reg", 1, &err));
        same_value(term[k], fit_bound_value(b, at, NULL), plain / (norm[k] > 1 ? N : N * pixel / beam), 1e-12);
    }
    must(fit_bound_hyper(b, "epsilon_tv", 1e-2, &err));
    for (size_t k = 0; k < sizeof term / sizeof *term; k++) {
        only(b, term[k], 1);
        must(fit_bound_hold(b, "x", k ? x : NULL, &err));
        same_as_differences(term[k], b, k < 1 ? x : k < 3 ? x + N : x + 2 * N, 1e-3, 1e-8);
    }
    fit_bound_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polarised_objectives_have_their_values_and_gradients),
        cmocka_unit_test(every_polarised_term_has_the_gradient_of_its_value),
        cmocka_unit_test(fractions_stay_below_one),
        cmocka_unit_test(objectives_of_channels_have_their_values_and_gradients),
        cmocka_unit_test(regularizers_of_channels),
    };
    return cmocka_run_group_tests(tests, open_golden, close_golden);
}
