/* test_posterior.c -- the posterior as samplers see it: its gradient against differences of the density, the
 * coordinates of rates against plain ones, those of linear parameters near a bound, fixed parameters, and complete
 * draws. */
#include "posterior/posterior.h"
#include "sampling/sampling.h"
#include "sampling/sampling_impl.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NT = 16, NG = 3, MOST = 40 };

/* Data: the model at theta with contrast and offset, and noise. */
static struct fit_dataset *data(const struct fit_kernel *k, const double *theta, double contrast)
{
    static const double phi[NG] = {-4, 20, 75};
    struct e2e_grid grid = {.ntime = NT, .dt = 0.1, .q = 0.0054, .gap = 2e6, .nphi = NG, .phi = phi};
    struct fit_dataset *ds = e2e_dataset(k, &grid);
    struct fit_error err = {0};
    struct e2e_prepared p = e2e_prepare(k, &ds->layout, theta);
    for (size_t g = 0; g < NG; g++) {
        double *matrix = e2e_doubles(NT * NT), lin[NG * 2], z[2];
        for (size_t e = 0; e < NG * 2; e++)
            lin[e] = e % 2 ? 1.01 : contrast;
        for (uint32_t i = 0; i < NT; i++)
            for (uint32_t j = i + 1; j < NT; j++) {
                uint32_t group = (uint32_t)g;
                k->points(&ds->layout, p.ws, lin, &(struct fit_points){1, &i, &j, &group}, &matrix[i * NT + j], NULL);
                fit_rng_normal(5, g, i * NT + j, z);
                matrix[i * NT + j] += 0.02 * z[0];
            }
        if (fit_dataset_put(ds, g, matrix, NULL, &err) != FIT_OK)
            fail_msg("%s", err.message);
        free(matrix);
    }
    if (fit_dataset_finish(ds, &err) != FIT_OK)
        fail_msg("%s", err.message);
    e2e_release(&p);
    return ds;
}

struct experiment {
    const struct fit_kernel *k;
    struct fit_dataset *ds;
    struct fit_posterior_param param[MOST];
    double theta[MOST], lin[MOST], sigma[NG];
    struct fit_posterior_setup setup;
};

/* Parameters as the model declares them, at the truth. */
static void experiment_new(struct experiment *x, const char *model, const double *theta, double contrast)
{
    x->k = e2e_kernel(model, "fast", NULL);
    assert_non_null(x->k);
    x->ds = data(x->k, theta, contrast);
    for (size_t n = 0; n < x->k->nparam + x->k->nlinear; n++) {
        const struct fit_param *d = n < x->k->nparam ? &x->k->param[n] : &x->k->linear[n - x->k->nparam];
        x->param[n] = (struct fit_posterior_param){d->lower, d->upper, d->prior, d->prior_a, d->prior_b, 0, 0};
    }
    memcpy(x->theta, theta, x->k->nparam * sizeof *theta);
    for (size_t e = 0; e < NG * 2; e++)
        x->lin[e] = e % 2 ? 1.01 : contrast;
    for (size_t g = 0; g < NG; g++)
        x->sigma[g] = 0.02;
    x->setup = (struct fit_posterior_setup){.kernel = x->k, .ds = x->ds, .param = x->param, .theta = x->theta,
                                            .lin = x->lin, .sigma = x->sigma, .a0 = 2, .count = 1, .chains = 1,
                                            .threads = 1, .variance = FIT_VARIANCE_UNIT};
}

static struct fit_posterior *posterior(const struct experiment *x)
{
    struct fit_posterior *p;
    struct fit_error err = {0};
    if (fit_posterior_new(&x->setup, &p, &err) != FIT_OK)
        fail_msg("%s", err.message);
    return p;
}

static const double laminar[] = {1000, -0.5, 10, 0.003, 0.3, 0.0002, 3};

static double density(struct fit_posterior *p, const double *q)
{
    double lp;
    assert_int_equal(p->target.eval(p->target.user, 0, q, &lp, NULL), FIT_EVAL_OK);
    return lp;
}

/* Largest difference of the gradient from a central difference of fourth order, in units of its norm. */
static double gradient_error(struct fit_posterior *p, const double *q0)
{
    double q[MOST], g[MOST], lp, norm = 0, worst = 0;
    memcpy(q, q0, p->n * sizeof *q);
    assert_int_equal(p->target.eval(p->target.user, 0, q, &lp, g), FIT_EVAL_OK);
    assert_true(lp == density(p, q)); /* to the bit */
    for (size_t i = 0; i < p->n; i++)
        norm = fmax(norm, fabs(g[i]));
    for (size_t i = 0; i < p->n; i++) {
        double h = 1e-4, value[4];
        static const int step[4] = {-2, -1, 1, 2};
        for (int n = 0; n < 4; n++) {
            q[i] = q0[i] + step[n] * h;
            value[n] = density(p, q);
        }
        q[i] = q0[i];
        worst = fmax(worst, fabs((8 * (value[2] - value[1]) - (value[3] - value[0])) / (12 * h) - g[i]));
    }
    return worst / fmax(norm, 1);
}

/* Start of the chains, and points around it. */
static void check_gradient(const struct experiment *x, const char *what)
{
    struct fit_posterior *p = posterior(x);
    double q0[MOST], q[MOST], z[2], worst = 0;
    fit_posterior_start(p, q0);
    for (size_t n = 0; n < 5; n++) {
        for (size_t i = 0; i < p->n; i++) {
            fit_rng_normal(11, n, i, z);
            q[i] = q0[i] + (n ? 0.02 * z[0] : 0);
        }
        worst = fmax(worst, gradient_error(p, q));
    }
    printf("    %-46s %2zu coordinates, gradient within %.1e\n", what, p->n, worst);
    if (!(worst < 1e-7)) /* rounding of the density, 1e-15 x 1e3, over the step */
        fail_msg("%s: the gradient differs from differences of the density by %.1e of its norm", what, worst);
    fit_posterior_free(p);
}

static void test_gradient(void **state)
{
    struct experiment x;
    (void)state;
    experiment_new(&x, "laminar", laminar, 0.3);
    check_gradient(&x, "laminar");
    x.setup.variance = FIT_VARIANCE_SHARED;
    check_gradient(&x, "laminar, one variance");
    x.setup.variance = FIT_VARIANCE_GIVEN;
    x.setup.noise = (struct fit_posterior_param){0, INFINITY, FIT_PRIOR_HALF_CAUCHY, 0, 0.1, 0, 0};
    check_gradient(&x, "laminar, sampled variances");
    x.setup.scaling = FIT_SCALING_AVERAGED;
    check_gradient(&x, "laminar, averaged, a sampled variance");
    x.setup.scaling = FIT_SCALING_INDIVIDUAL;
    x.setup.variance = FIT_VARIANCE_UNIT;
    static const enum fit_prior_kind kinds[] = {FIT_PRIOR_NONE,        FIT_PRIOR_NORMAL,      FIT_PRIOR_LOG_NORMAL,
                                                FIT_PRIOR_BETA_SCALED, FIT_PRIOR_LOG_UNIFORM, FIT_PRIOR_EXPONENTIAL,
                                                FIT_PRIOR_HALF_CAUCHY, FIT_PRIOR_TANH_NORMAL, FIT_PRIOR_LAPLACE};
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++) {
        char text[64];
        x.param[0] = (struct fit_posterior_param){100,
                                                  1e5,
                                                  kinds[n],
                                                  kinds[n] == FIT_PRIOR_LOG_NORMAL ? 7 : 2,
                                                  kinds[n] == FIT_PRIOR_BETA_SCALED  ? 3
                                                  : kinds[n] == FIT_PRIOR_LOG_NORMAL ? 1
                                                                                     : 1e3,
                                                  0,
                                                  0};
        snprintf(text, sizeof text, "D0 %s", fit_prior_word(kinds[n]));
        check_gradient(&x, text);
    }
    x.param[1].fixed = 1;
    x.param[1].value = -0.5;
    check_gradient(&x, "alpha fixed");
    x.param[1].fixed = 0;
    for (size_t k = 0; k < x.k->nparam + x.k->nlinear; k++)
        x.param[k].prior = FIT_PRIOR_TANH_NORMAL;
    x.setup.variance = FIT_VARIANCE_GIVEN_SHARED;
    x.setup.noise = (struct fit_posterior_param){0, INFINITY, FIT_PRIOR_HALF_NORMAL, 0, 0.1, 0, 0};
    x.setup.count = 2;
    check_gradient(&x, "homodyne's priors, one sampled variance");
    fit_dataset_free(x.ds);
}

/* With a contrast whose bound is near, and with priors of linear parameters that are not normal. */
static void test_explicit_linear(void **state)
{
    struct experiment x;
    (void)state;
    experiment_new(&x, "laminar", laminar, 0.3);
    struct fit_posterior *p = posterior(&x);
    assert_int_equal(p->n, 7);
    assert_int_equal(p->nbound, 0);
    fit_posterior_free(p);
    x.param[7].upper = 0.31;
    p = posterior(&x);
    assert_int_equal(p->n, 7 + NG);
    assert_int_equal(p->nbound, NG);
    assert_string_equal(p->coordinate[8].name, "contrast[1]");
    fit_posterior_free(p);
    check_gradient(&x, "contrast near its bound");
    x.param[8] = (struct fit_posterior_param){0.5, 1.5, FIT_PRIOR_BETA_SCALED, 2, 2, 0, 0};
    p = posterior(&x);
    assert_int_equal(p->n, 7 + 2 * NG);
    fit_posterior_free(p);
    check_gradient(&x, "and the offset with a beta prior");
    fit_dataset_free(x.ds);
}

/* Logarithm of the Jacobian of rate r at q, which tests/unit/test_rate.c checks against a determinant. */
static double log_jacobian(const struct fit_posterior *p, size_t r, const double *q)
{
    const struct fit_posterior_rate *x = &p->rate[r];
    struct fit_rate_point at;
    double own[FIT_RATE_COORDINATES];
    for (int k = 0; k < FIT_RATE_COORDINATES; k++)
        own[k] = x->at[k] >= 0 ? q[x->at[k]] : 0;
    assert_true(fit_rate_at(&x->map, own, &at));
    return at.log_slope;
}

/* The density of the parameters themselves is the same in both systems of coordinates. */
static void check_same_density(struct experiment *x, const char *what, size_t rates)
{
    struct fit_posterior *p = posterior(x), *plain;
    double q0[MOST], q[MOST], qplain[MOST], theta[MOST], z[2], worst = 0, slope;
    x->setup.plain_rates = UINT64_MAX;
    plain = posterior(x);
    x->setup.plain_rates = 0;
    assert_int_equal(p->nrate, rates);
    assert_int_equal(plain->nrate, 0);
    assert_int_equal(p->n, plain->n);
    fit_posterior_start(p, q0);
    for (size_t n = 0; n < 50; n++) {
        for (size_t i = 0; i < p->n; i++) {
            fit_rng_normal(17, n, i, z);
            q[i] = q0[i] + 0.1 * z[0] * (strstr(p->coordinate[i].name, "times share") ? fabs(q0[i]) : 1);
        }
        assert_true(fit_posterior_theta(p, q, theta));
        double here = density(p, q), there, jacobian = 0;
        for (size_t r = 0; r < p->nrate; r++)
            jacobian += log_jacobian(p, r, q);
        memcpy(qplain, q, sizeof q);
        for (size_t i = 0; i < p->n; i++)
            if (p->coordinate[i].kind == FIT_POSTERIOR_RATE) {
                qplain[i] = fit_coordinate_of(&plain->coordinate[i].map, theta[p->coordinate[i].index]);
                fit_coordinate_at(&plain->coordinate[i].map, qplain[i], NULL, &slope, NULL);
                jacobian -= slope;
            }
        there = density(plain, qplain);
        worst = fmax(worst, fabs(here - there - jacobian) / fmax(1, fabs(there)));
    }
    printf("    %-46s %2zu coordinates, density within %.1e\n", what, p->n, worst);
    if (!(worst < 1e-10))
        fail_msg("%s: the densities of the two systems differ by %.1e", what, worst);
    fit_posterior_free(p);
    fit_posterior_free(plain);
}

static void hold(struct experiment *x, size_t k, double value)
{
    x->param[k].fixed = 1;
    x->param[k].value = value;
}

static void test_coordinates_of_rates(void **state)
{
    struct experiment x;
    (void)state;
    experiment_new(&x, "laminar", laminar, 0.3);
    check_same_density(&x, "laminar", 2);
    struct fit_posterior *p = posterior(&x);
    assert_string_equal(p->coordinate[0].name, "log(D0 t^alpha + D_offset)");
    assert_string_equal(p->coordinate[2].name, "log share of D0");
    assert_string_equal(p->coordinate[1].name, "alpha times share");
    double sum = 0;
    for (int n = 1; n < NT; n++) /* frames at 0, 0.1 ... 1.5 s; that at 0 has no logarithm */
        sum += log(0.1 * n) / (NT - 1);
    assert_true(fabs(p->rate[0].map.reference - sum) < 1e-12);
    fit_posterior_free(p);
    static const char *const name[] = {"D0 fixed", "alpha fixed", "D_offset fixed"};
    for (size_t k = 0; k < 3; k++) {
        hold(&x, k, laminar[k]);
        check_same_density(&x, name[k], 2);
        check_gradient(&x, name[k]);
        x.param[k].fixed = 0;
    }
    hold(&x, 0, laminar[0]);
    hold(&x, 2, laminar[2]);
    check_same_density(&x, "D0 and D_offset fixed", 1);
    x.param[0].fixed = x.param[2].fixed = 0;
    x.param[0].lower = 900; /* nearer, and differences would cross corners of the box, where gradients jump */
    x.param[0].upper = 1200;
    x.param[2].lower = -200;
    x.param[2].upper = 300;
    check_same_density(&x, "with bounds near", 2);
    check_gradient(&x, "with bounds near");
    x.param[0].lower = -100; /* an amplitude that may be negative has no logarithm */
    check_same_density(&x, "D0 from -100 on", 1);
    x.param[0].lower = 100;
    x.theta[2] = x.param[2].lower = -5000; /* the rate is below 0 at the start */
    check_same_density(&x, "a rate below 0", 1);
    fit_dataset_free(x.ds);
}

static const double heterodyne[] = {4000, 0.2, 100, 9000, -0.3, 500, 600, 0.2, 10, 0.35, 0.5, 0.1, 0.15, -3};

/* f0 and f2, which data do not tell apart. */
static void test_coordinates_of_a_fraction(void **state)
{
    struct experiment x;
    (void)state;
    experiment_new(&x, "heterodyne", heterodyne, 0.3);
    check_same_density(&x, "heterodyne", 4);
    check_gradient(&x, "heterodyne");
    struct fit_posterior *p = posterior(&x);
    assert_string_equal(p->coordinate[9].name, "log(f0 exp(f1 (t - f2)) + f3)");
    assert_string_equal(p->coordinate[10].name, "f1 times share");
    assert_string_equal(p->coordinate[11].name, "f0 or f2");
    assert_string_equal(p->coordinate[12].name, "log share of f0");
    assert_true(fabs(p->rate[3].map.reference - 0.75) < 1e-12);
    fit_posterior_free(p);
    x.param[11].lower = -1; /* the step of differences is a part of this width where f2 is by itself */
    x.param[11].upper = 2;
    check_gradient(&x, "f2 within a few seconds");
    static const char *const name[] = {"f0 fixed", "f1 fixed", "f2 fixed", "f3 fixed"};
    for (size_t k = 0; k < 4; k++) {
        hold(&x, 9 + k, heterodyne[9 + k]);
        check_same_density(&x, name[k], k == 0 ? 3 : 4); /* with f0 fixed f2 is determined */
        check_gradient(&x, name[k]);
        x.param[9 + k].fixed = 0;
    }
    x.theta[10] = 0; /* f0 is determined */
    x.param[9].upper = 9; /* bounds of rate and share have a corner at f1 = 0: out of sight */
    x.param[12].lower = 0;
    check_same_density(&x, "f1 at 0", 4);
    check_gradient(&x, "f1 at 0");
    fit_dataset_free(x.ds);
}

/* Draws in both systems agree. */
static void test_draws_agree(void **state)
{
    struct experiment x;
    struct fit_samples s[2];
    struct fit_error err = {0};
    struct fit_sampling_options o = {.method = FIT_SAMPLING_NUTS, .warmup = 300, .draws = 800, .seed = 3, .threads = 1};
    (void)state;
    static const double fast[] = {2e4, -0.2,   1e3, 0.003,
                                  0.1, 0.0005, 3}; /* both rates are well determined, and away from 0 */
    experiment_new(&x, "laminar", fast, 0.9);
    for (size_t n = 0; n < 3; n += 2) {
        x.param[n].prior = FIT_PRIOR_NORMAL;
        x.param[n].b = 1e4;
    }
    for (size_t n = 3; n < 6; n += 2) { /* else the ridge of the shear rates is too long for plain coordinates */
        x.param[n].prior = FIT_PRIOR_NORMAL;
        x.param[n].a = fast[n];
        x.param[n].b = 3e-4;
    }
    for (size_t k = 0; k < 2; k++) {
        x.setup.plain_rates = k ? UINT64_MAX : 0;
        if (fit_sample(&x.setup, NULL, &o, &s[k], &err) != FIT_OK)
            fail_msg("%s", err.message);
    }
    assert_string_equal(s[0].coordinate_name[0], "log(D0 t^alpha + D_offset)");
    assert_string_equal(s[1].coordinate_name[0], "D0");
    for (size_t c = 0; c < s[0].ncolumn; c++) {
        const struct fit_convergence *a = &s[0].column[c].c, *b = &s[1].column[c].c;
        double apart = fabs(a->mean - b->mean) / hypot(a->mcse_mean, b->mcse_mean);
        if (c < 7)
            printf("    %-20s %11.5g %11.5g: %.1f standard errors apart, effective draws %.0f and %.0f\n",
                   x.k->param[c].name, a->mean, b->mean, apart, a->ess_bulk, b->ess_bulk);
        if (a->ess_bulk < 200 || b->ess_bulk < 200)
            fail_msg("column %zu: too few effective draws to tell", c);
        if (!(apart < 4))
            fail_msg("column %zu: means %g and %g", c, a->mean, b->mean);
    }
    printf("    gradients %.0f and %.0f\n", s[0].gradients, s[1].gradients);
    fit_samples_free(&s[0]);
    fit_samples_free(&s[1]);
    fit_dataset_free(x.ds);
}

/* The parts of a draw: coordinates back to parameters, linear ones around their means. */
static void test_draw(void **state)
{
    struct experiment x;
    (void)state;
    experiment_new(&x, "laminar", laminar, 0.3);
    struct fit_posterior *p = posterior(&x);
    double q[MOST], theta[MOST], lin[MOST], sigma[NG], again[MOST];
    fit_posterior_start(p, q);
    struct fit_rng rng = {.seed = 1, .purpose = FIT_RNG_CONDITIONAL};
    assert_int_equal(fit_posterior_draw(p, 0, q, &rng, theta, lin, sigma), FIT_EVAL_OK);
    fit_posterior_theta(p, q, again);
    for (size_t k = 0; k < 7; k++) {
        assert_true(fabs(theta[k] - laminar[k]) <= 1e-9 * fabs(laminar[k]));
        assert_true(theta[k] == again[k]);
    }
    for (size_t g = 0; g < NG; g++) {
        assert_true(fabs(lin[2 * g] - 0.3) < 0.1 && fabs(lin[2 * g + 1] - 1.01) < 0.1);
        assert_true(sigma[g] > 0.01 && sigma[g] < 0.04);
    }
    fit_posterior_free(p);
    fit_dataset_free(x.ds);
}

/* g2 with two relaxations, which can be exchanged. */
static void two_steps(struct experiment *x, double *column, double *y, size_t n)
{
    struct fit_error err = {0};
    const double *columns[] = {column};
    x->k = e2e_kernel("double_exponential", "fast", NULL);
    assert_non_null(x->k);
    for (size_t r = 0; r < n; r++) {
        double z[2], g;
        column[r] = 1e-3 * pow(1e6, (double)r / (double)n);
        g = 0.4 * exp(-column[r] / 0.05) + 0.6 * exp(-column[r] / 5);
        fit_rng_normal(5, 0, r, z);
        y[r] = 1 + 0.2 * g * g + 0.002 * z[0];
    }
    if (fit_dataset_new_table(
            &(struct fit_dataset_table){.nrow = n, .ncolumn = 1, .column = columns, .value = y, .center = 1}, &x->ds,
            &err) != FIT_OK ||
        fit_dataset_finish(x->ds, &err) != FIT_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < x->k->nparam + x->k->nlinear; i++) {
        const struct fit_param *d = i < x->k->nparam ? &x->k->param[i] : &x->k->linear[i - x->k->nparam];
        x->param[i] = (struct fit_posterior_param){d->lower, d->upper, d->prior, d->prior_a, d->prior_b, 0, 0};
    }
    static const double truth[] = {0.05, 5, 0.4}, lin[] = {0.2, 1};
    memcpy(x->theta, truth, sizeof truth);
    memcpy(x->lin, lin, sizeof lin);
    x->sigma[0] = 0.002;
    x->setup = (struct fit_posterior_setup){.kernel = x->k, .ds = x->ds, .param = x->param, .theta = x->theta,
                                            .lin = x->lin, .sigma = x->sigma, .a0 = 2, .count = 1, .chains = 1,
                                            .threads = 1, .variance = FIT_VARIANCE_UNIT};
}

/* Chain c in the other image: fast and slow exchanged. */
static void exchange(struct fit_samples *s, size_t c)
{
    for (size_t k = 0; k < s->draws; k++) {
        double *x = s->x + (c * s->draws + k) * s->ncolumn, fast = x[0];
        x[0] = x[1];
        x[1] = fast;
        x[2] = 1 - x[2];
    }
}

static void again(struct fit_samples *s, const struct fit_posterior *p, const struct fit_sampling_options *o)
{
    struct fit_error err = {0};
    s->mirror_text[0] = 0;
    s->folded = 0;
    s->mirror_apart = s->mirror_missed = 0;
    if (fit_samples_mirrors(s, p, &err) != FIT_OK || fit_samples_summarise(s, p, o, &err) != FIT_OK)
        fail_msg("%s", err.message);
}

/* Chains in different images agree where the images are as probable, and are named where they are not. */
static void test_mirror_images(void **state)
{
    enum { ROWS = 60 };
    double column[ROWS], y[ROWS];
    struct experiment x;
    struct fit_error err = {0};
    struct fit_samples s;
    struct fit_sampling_options o = {.method = FIT_SAMPLING_NUTS, .chains = 4, .warmup = 300, .draws = 400, .seed = 3,
                                     .threads = 1};
    (void)state;
    two_steps(&x, column, y, ROWS);
    if (fit_sample(&x.setup, NULL, &o, &s, &err) != FIT_OK)
        fail_msg("%s", err.message);
    assert_true(s.verdict == FIT_VERDICT_GOOD);
    assert_non_null(strstr(s.verdict_text, "the image not shown is as probable"));
    struct fit_posterior *p = posterior(&x);
    double mean = s.column[0].c.mean;
    exchange(&s, 1);
    exchange(&s, 3);
    again(&s, p, &o);
    printf("    %s\n", s.verdict_text);
    assert_int_equal(s.folded, 2 * s.draws);
    assert_true(s.verdict == FIT_VERDICT_GOOD && s.worst_r_hat < 1.01);
    assert_true(fabs(s.column[0].c.mean - mean) < 1e-12);
    fit_posterior_free(p);
    x.param[0].prior = FIT_PRIOR_LOG_NORMAL; /* of the fast one, now another than that of the slow one */
    x.param[0].a = log(0.05);
    x.param[0].b = 1.5;
    p = posterior(&x);
    again(&s, p, &o);
    printf("    %s\n", s.verdict_text);
    assert_true(s.folded == 0 && s.verdict == FIT_VERDICT_GOOD); /* e^-5 of the mass */
    exchange(&s, 1);
    again(&s, p, &o);
    assert_true(s.verdict == FIT_VERDICT_FAILED);
    x.param[0].b = 3;
    fit_posterior_free(p);
    p = posterior(&x);
    exchange(&s, 1);
    again(&s, p, &o);
    printf("    %s\n", s.verdict_text); /* exp(-(log(100) / 3)^2 / 2) = 0.3 of this image */
    assert_true(s.verdict == FIT_VERDICT_DOUBTFUL);
    assert_non_null(strstr(s.verdict_text, "24 % of the mass"));
    exchange(&s, 1);
    again(&s, p, &o);
    printf("    %s\n", s.verdict_text);
    assert_non_null(strstr(s.verdict_text, "1 of the chains are in the other image"));
    fit_posterior_free(p);
    fit_samples_free(&s);
    fit_dataset_free(x.ds);
}

/* Divergences where the fast one is slow are told so; scattered ones are not. */
static void test_divergences_are_located(void **state)
{
    enum { ROWS = 60 };
    double column[ROWS], y[ROWS];
    struct experiment x;
    struct fit_error err = {0};
    struct fit_samples s;
    struct fit_sampling_options o = {.method = FIT_SAMPLING_NUTS, .chains = 2, .warmup = 300, .draws = 400, .seed = 3,
                                     .threads = 1};
    (void)state;
    two_steps(&x, column, y, ROWS);
    if (fit_sample(&x.setup, NULL, &o, &s, &err) != FIT_OK)
        fail_msg("%s", err.message);
    struct fit_posterior *p = posterior(&x);
    for (int scattered = 0; scattered < 2; scattered++) {
        s.divergences = s.saturated = 0;
        for (size_t k = 0; k < s.chains * s.draws; k++)
            s.stats[k].divergent = scattered ? k % 100 == 0 : s.x[k * s.ncolumn] > s.column[0].q95;
        again(&s, p, &o);
        printf("    %s\n", s.verdict_text);
        assert_true((strstr(s.verdict_text, "a divergence, mostly where") != NULL) == !scattered);
        assert_true(scattered || strstr(s.divergence_text, "is high") || strstr(s.divergence_text, "is low"));
    }
    fit_posterior_free(p);
    fit_samples_free(&s);
    fit_dataset_free(x.ds);
}

/* Draws of covariance M become draws of covariance R, those of the paraboloid, also where the profile has withheld its
 * errors; columns without a paraboloid, or with other minima, have none. */
static void test_robust_draws(void **state)
{
    enum { N = 4, DRAWS = 4000 };
    static double x[DRAWS * N], covariance[N * N], M[9] = {4, 1.8, 0, 1.8, 1, 0, 0, 0, NAN},
                                                   R[9] = {9, 1, 0, 1, 4, 0, 0, 0, NAN};
    double none[9] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    struct fit_interval interval[3] = {{0}};
    struct fit_column_summary column[N] = {
        {.median = 5, .c.sd = 2}, {.median = -1, .c.sd = 1}, {.c.sd = 1}, {.c.sd = 1}};
    struct fit_samples s = {
        .chains = 2, .draws = DRAWS / 2, .ncolumn = N, .x = x, .covariance = covariance, .column = column};
    struct fit_result fit = {.nfull = 3, .std = none, .std_robust = none, .covariance = none, .covariance_robust = none,
                             .paraboloid = M, .paraboloid_robust = R, .interval = interval,
                             .robust.kind = FIT_ROBUST_FRAMES};
    struct fit_error err = {0};
    double mean[2] = {0}, sum[3] = {0};
    (void)state;
    for (size_t k = 0; k < DRAWS; k++) {
        double z[2];
        fit_rng_normal(3, 1, k, z);
        x[k * N] = 5 + 2 * z[0];
        x[k * N + 1] = -1 + 0.9 * z[0] + sqrt(0.19) * z[1];
    }
    memcpy(covariance, (double[]){4, 1.8, 0, 0, 1.8, 1}, 6 * sizeof *covariance);
    assert_int_equal(fit_samples_robust(&s, &fit, &err), FIT_OK);
    for (size_t k = 0; k < 2 * DRAWS; k++)
        mean[k % 2] += s.x_robust[k / 2 * N + k % 2] / DRAWS;
    for (size_t k = 0; k < DRAWS; k++) {
        double a = s.x_robust[k * N] - mean[0], b = s.x_robust[k * N + 1] - mean[1];
        sum[0] += a * a / DRAWS;
        sum[1] += a * b / DRAWS;
        sum[2] += b * b / DRAWS;
        assert_true(isnan(s.x_robust[k * N + 2]) && isnan(s.x_robust[k * N + 3]));
    }
    printf("    %.3f %.3f %.3f for 9, 1 and 4\n", sum[0], sum[1], sum[2]);
    assert_true(fabs(sum[0] - 9) < 0.8 && fabs(sum[1] - 1) < 0.4 && fabs(sum[2] - 4) < 0.36); /* 4 sqrt(2 / 4000) */
    assert_true(fabs(s.covariance_robust[0] - 9) < 1e-12 && fabs(s.covariance_robust[1] - 1) < 1e-12);
    assert_true(fabs(s.covariance_robust[N + 1] - 4) < 1e-12 && isnan(s.covariance_robust[2]));
    assert_true(fabs(column[0].sd_robust - 3) < 1e-12 && fabs(column[0].q975_robust - (5 + 1.96 * 3)) < 0.5);
    assert_true(isnan(column[2].sd_robust) && isnan(column[3].sd_robust));
    fit_arena_free(&s.storage_);
    interval[0].several = 1;
    assert_int_equal(fit_samples_robust(&s, &fit, &err), FIT_OK);
    assert_true(isnan(column[0].sd_robust) && fabs(column[1].sd_robust - 2) < 1e-12);
    fit_arena_free(&s.storage_);
}

static void test_refused(void **state)
{
    struct experiment x;
    struct fit_posterior *p;
    struct fit_error err = {0};
    (void)state;
    experiment_new(&x, "laminar", laminar, 0.3);
    x.param[0] = (struct fit_posterior_param){100, 1e5, FIT_PRIOR_NORMAL, 1000, -1, 0, 0};
    assert_int_equal(fit_posterior_new(&x.setup, &p, &err), FIT_ERR_CONFIG);
    assert_non_null(strstr(err.message, "D0"));
    for (size_t k = 0; k < 7; k++) {
        x.param[k].fixed = 1;
        x.param[k].value = laminar[k];
    }
    assert_int_equal(fit_posterior_new(&x.setup, &p, &err), FIT_ERR_CONFIG);
    assert_non_null(strstr(err.message, "nothing to sample"));
    fit_dataset_free(x.ds);
}

/* The same bits however often, and whatever was computed before. */
static void test_sampling_twice(void **state)
{
    struct experiment x;
    (void)state;
    experiment_new(&x, "laminar", laminar, 0.3);
    for (int method = 0; method < 2; method++) {
        struct fit_sampling_options o = {.method = method ? FIT_SAMPLING_NUTS : FIT_SAMPLING_LAPLACE, .chains = 2,
                                         .warmup = 60, .draws = 40, .seed = 4};
        struct fit_samples a, b;
        struct fit_error err = {0};
        o.threads = 1;
        if (fit_sample(&x.setup, NULL, &o, &a, &err) != FIT_OK)
            fail_msg("%s", err.message);
        void *other = malloc(12345); /* another place in memory */
        o.threads = 2;
        if (fit_sample(&x.setup, NULL, &o, &b, &err) != FIT_OK)
            fail_msg("%s", err.message);
        size_t n = a.chains * a.draws * a.ncolumn;
        assert_int_equal(a.draws, b.draws);
        assert_memory_equal(a.mode, b.mode, a.ncoordinate * sizeof *a.mode);
        assert_memory_equal(a.mode_covariance, b.mode_covariance, a.ncoordinate * a.ncoordinate * sizeof *a.mode);
        assert_memory_equal(a.x, b.x, n * sizeof *a.x);
        fit_samples_free(&a);
        fit_samples_free(&b);
        free(other);
    }
    fit_dataset_free(x.ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_explicit_linear),
        cmocka_unit_test(test_coordinates_of_rates),
        cmocka_unit_test(test_coordinates_of_a_fraction),
        cmocka_unit_test(test_draws_agree),
        cmocka_unit_test(test_draw),
        cmocka_unit_test(test_sampling_twice),
        cmocka_unit_test(test_mirror_images),
        cmocka_unit_test(test_divergences_are_located),
        cmocka_unit_test(test_robust_draws),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
