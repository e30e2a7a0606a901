/* test_grid.c -- draws of an experiment of laminar flow against its posterior summed on a grid.
 *
 * Nothing of the sampler, its coordinates and Jacobians, or the runtime's integral over contrast, offset and noise is
 * used for the sum: the density of the five free parameters is the textbook formula for a normal linear model with
 * conjugate prior (Gelman et al., Bayesian Data Analysis, 3rd ed., section 14.8) times a flat prior in physical units,
 * at the points mean + L z, z in {-5, ..., 5}^5, with mean and covariance L L^T of the draws.  A sum over points one
 * standard deviation apart is exact to 1e-8 for densities as smooth as a normal one (Trefethen & Weideman, SIAM Rev.
 * 56 (2014) 385), whatever L is; what lies outside the grid shows on its faces.
 *
 * The noise is high: contrast and shear can hardly be told apart, and the posterior is not normal.
 */
#include "posterior/posterior.h"
#include "sampling/sampling.h"
#include "support.h"

#include "math/linalg.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NT = 40, NG = 3, NFREE = 5, SIDE = 11, NPARAM = 7, NLIN = 2, NPAIR = NT * (NT - 1) / 2 };

static const double truth[NPARAM] = {100000, -0.3, 2000, 0.01, -0.2, 0.001, -3};
static const size_t is_free[NFREE] = {0, 1, 3, 4, 6};
static const double phi[NG] = {-4, 20, 75}, NOISE = 0.008, A0 = 2, CONTRAST = 0.3, OFFSET = 1;

struct experiment {
    const struct fit_kernel *k;
    struct fit_dataset *ds;
    struct fit_posterior_param param[NPARAM + NLIN];
    double theta[NPARAM], lin[NG * NLIN], sigma[NG];
    uint32_t i[NPAIR], j[NPAIR], group[NG][NPAIR];
    double y[NG][NPAIR];
};

static void simulate(struct experiment *x)
{
    struct e2e_grid grid = {.ntime = NT, .dt = 0.1, .q = 0.0054, .gap = 2e6, .nphi = NG, .phi = phi};
    struct fit_error err = {0};
    x->ds = e2e_dataset(x->k, &grid);
    struct e2e_prepared p = e2e_prepare(x->k, &x->ds->layout, truth);
    double *matrix = e2e_doubles(NT * NT), z[2];
    for (uint32_t i = 0, n = 0; i < NT; i++)
        for (uint32_t j = i + 1; j < NT; j++, n++) {
            x->i[n] = i;
            x->j[n] = j;
        }
    for (uint32_t g = 0; g < NG; g++) {
        for (size_t n = 0; n < NPAIR; n++)
            x->group[g][n] = g;
        x->k->points(&x->ds->layout, p.ws, x->lin, &(struct fit_points){NPAIR, x->i, x->j, x->group[g]}, x->y[g],
                     NULL);
        for (size_t n = 0; n < NPAIR; n++) {
            fit_rng_normal(21, g, n, z);
            x->y[g][n] += NOISE * z[0];
            matrix[x->i[n] * NT + x->j[n]] = x->y[g][n];
        }
        if (fit_dataset_put(x->ds, g, matrix, NULL, &err) != FIT_OK)
            fail_msg("%s", err.message);
    }
    if (fit_dataset_finish(x->ds, &err) != FIT_OK)
        fail_msg("%s", err.message);
    e2e_release(&p);
    free(matrix);
}

/* Flat priors of the free parameters, phi0 within the turn that tells one direction of the flow; contrast and offset as
 * the model declares them. */
static void experiment_new(struct experiment *x)
{
    x->k = e2e_kernel("laminar", "fast", NULL);
    assert_non_null(x->k);
    memcpy(x->theta, truth, sizeof truth);
    for (size_t c = 0; c < NPARAM; c++)
        x->param[c] = (struct fit_posterior_param){x->k->param[c].lower, (c == 6 ? 6 : 100) * x->k->param[c].upper,
                                                   FIT_PRIOR_NONE, 0, 0, c == 2 || c == 5, truth[c]};
    for (size_t q = 0; q < NLIN; q++)
        x->param[NPARAM + q] = (struct fit_posterior_param){NAN, NAN, FIT_PRIOR_NORMAL, x->k->linear[q].prior_a,
                                                            x->k->linear[q].prior_b, 0, 0};
    for (size_t e = 0; e < NG * NLIN; e++)
        x->lin[e] = (int)(e % NLIN) == x->k->intercept ? OFFSET : CONTRAST;
    for (size_t g = 0; g < NG; g++)
        x->sigma[g] = NOISE;
    simulate(x);
}

/* Log density of one angle, h its model with contrast 1 and offset 0; *contrast <- the mean given theta. */
static double one_angle(const struct experiment *x, size_t g, const double *h, double *contrast)
{
    const struct fit_posterior_param *c = &x->param[NPARAM + (x->k->intercept == 0)],
                                     *o = &x->param[NPARAM + (x->k->intercept != 0)];
    double m[2] = {c->a, o->a}, l[2] = {NOISE * NOISE / (c->b * c->b), NOISE * NOISE / (o->b * o->b)};
    double hh = l[0], h1 = 0, one = l[1], hy = 0, y1 = 0, yy = 0; /* of y without the prior's means */
    for (size_t n = 0; n < NPAIR; n++) {
        double y = x->y[g][n] - m[0] * h[n] - m[1];
        hh += h[n] * h[n];
        h1 += h[n];
        one += 1;
        hy += h[n] * y;
        y1 += y;
        yy += y * y;
    }
    double det = hh * one - h1 * h1, slope = (one * hy - h1 * y1) / det, rest = (hh * y1 - h1 * hy) / det;
    double b = 0.5 * A0 * NOISE * NOISE + 0.5 * (yy - slope * hy - rest * y1);
    *contrast = m[0] + slope;
    return -0.5 * log(det) - (A0 + 0.5 * NPAIR) * log(b);
}

/* Log density at theta, and the mean contrasts. */
static double density(const struct experiment *x, const double *theta, double *contrast)
{
    static const double unit[2][NLIN] = {{1, 0}, {0, 1}};
    double lin[NG * NLIN], h[NPAIR], lp = 0;
    for (size_t c = 0; c < NPARAM; c++)
        if (theta[c] < x->param[c].lower || theta[c] > x->param[c].upper)
            return -INFINITY;
    for (size_t g = 0; g < NG; g++)
        memcpy(lin + g * NLIN, unit[x->k->intercept == 0], sizeof *unit);
    struct e2e_prepared p = e2e_prepare(x->k, &x->ds->layout, theta);
    for (size_t g = 0; g < NG; g++) {
        x->k->points(&x->ds->layout, p.ws, lin, &(struct fit_points){NPAIR, x->i, x->j, x->group[g]}, h, NULL);
        lp += one_angle(x, g, h, &contrast[g]);
    }
    e2e_release(&p);
    return lp;
}

struct sum {
    double top, mass, face, mean[NFREE + NG], square[NFREE]; /* relative to exp(top) and to `about` */
};

static void add(struct sum *s, const double *about, double lp, int on_face, const double *theta, const double *contrast)
{
    double w = exp(lp - s->top);
    s->mass += w;
    s->face += on_face ? w : 0;
    for (size_t k = 0; k < NFREE; k++) {
        double d = theta[is_free[k]] - about[k];
        s->mean[k] += w * d;
        s->square[k] += w * d * d;
    }
    for (size_t g = 0; g < NG; g++)
        s->mean[NFREE + g] += w * contrast[g];
}

/* Over all points about + L z. */
static void sum_up(const struct experiment *x, const double *about, const double *L, struct sum *s)
{
    double theta[NPARAM], contrast[NG];
    size_t total = 1;
    memcpy(theta, truth, sizeof truth);
    for (size_t k = 0; k < NFREE; k++) {
        theta[is_free[k]] = about[k];
        total *= SIDE;
    }
    *s = (struct sum){.top = density(x, theta, contrast)};
    for (size_t n = 0; n < total; n++) {
        double z[NFREE];
        int on_face = 0;
        size_t digits = n;
        for (size_t k = 0; k < NFREE; k++, digits /= SIDE) {
            z[k] = (double)(digits % SIDE) - SIDE / 2;
            on_face |= digits % SIDE == 0 || digits % SIDE == SIDE - 1;
        }
        for (size_t k = 0; k < NFREE; k++) {
            theta[is_free[k]] = about[k];
            for (size_t l = 0; l <= k; l++)
                theta[is_free[k]] += L[k * NFREE + l] * z[l];
        }
        add(s, about, density(x, theta, contrast), on_face, theta, contrast);
    }
}

static void sample(const struct experiment *x, struct fit_samples *s)
{
    struct fit_error err = {0};
    struct fit_posterior_setup setup = {.kernel = x->k,
                                        .ds = x->ds,
                                        .param = x->param,
                                        .theta = x->theta,
                                        .lin = x->lin,
                                        .sigma = x->sigma,
                                        .a0 = A0,
                                        .count = 1,
                                        .chains = 1,
                                        .threads = 1,
                                        .variance = FIT_VARIANCE_UNIT};
    struct fit_sampling_options o = {.method = FIT_SAMPLING_NUTS, .draws = 4000, .seed = 4, .threads = 1};
    if (fit_sample(&setup, NULL, &o, s, &err) != FIT_OK)
        fail_msg("%s", err.message);
}

static void test_draws_are_those_of_the_grid(void **state)
{
    static struct experiment x;
    struct fit_samples s;
    double about[NFREE], L[NFREE * NFREE];
    struct sum sum;
    (void)state;
    experiment_new(&x);
    sample(&x, &s);
    for (size_t k = 0; k < NFREE; k++) {
        about[k] = s.column[is_free[k]].c.mean;
        for (size_t l = 0; l < NFREE; l++)
            L[k * NFREE + l] = s.covariance[is_free[k] * s.ncolumn + is_free[l]];
    }
    assert_int_equal(fit_cholesky(NFREE, L, 0), 0);
    sum_up(&x, about, L, &sum);
    printf("    on the faces of the grid: %.1e of the mass\n", sum.face / sum.mass);
    assert_true(sum.face / sum.mass <
                3e-4); /* moves means by 0.0015 sd, deviations by 0.4 %: a tenth of their errors */
    for (size_t k = 0; k < NFREE + NG; k++) {
        size_t column = k < NFREE ? is_free[k] : NPARAM + (k - NFREE) * NLIN + (x.k->intercept == 0);
        const struct fit_convergence *c = &s.column[column].c;
        double mean = sum.mean[k] / sum.mass, sd = k < NFREE ? sqrt(sum.square[k] / sum.mass - mean * mean) : c->sd;
        mean += k < NFREE ? about[k] : 0;
        printf("    %-14s draws %.5g +- %.5g, grid %.5g +- %.5g: off by %.1f and %.1f standard errors\n",
               k < NFREE ? x.k->param[is_free[k]].name : "contrast", c->mean, c->sd, mean, sd,
               (c->mean - mean) / c->mcse_mean, (c->sd - sd) / c->mcse_sd);
        if (!(fabs(c->mean - mean) < 4 * c->mcse_mean) || !(fabs(c->sd - sd) < 4 * c->mcse_sd))
            fail_msg("column %zu: the draws are not those of the posterior", column);
    }

    fit_samples_free(&s);
    fit_dataset_free(x.ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_draws_are_those_of_the_grid)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
