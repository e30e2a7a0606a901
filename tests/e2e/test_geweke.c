/* test_geweke.c -- prior, simulation of data, conditional draws and one transition of the sampler agree (Geweke, J. Am.
 * Stat. Assoc. 99 (2004) 799, section 3.2).
 *
 * Starting from the prior, again and again: data y from (theta, lin, sigma); theta by one NUTS transition with the
 * posterior of y; lin and sigma from what was integrated out.  When density, coordinates with their Jacobians,
 * integral, conditional draws, transition and simulation are those of one model, (theta, lin, sigma) keep the moments
 * of the prior, however few data there are; a wrong factor anywhere shifts them.  Mean and deviation of every quantity
 * within four of their Monte Carlo errors, which allow for the correlation of the chain.
 */
#include "sampler/diagnostics.h"
#include "sampler/nuts.h"
#include "posterior/posterior.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 8, ROWS = 8, NT = 6, LENGTH = 40000, TUNE = 200 };
static const double A0 = 10; /* of the prior of the variance */

struct world {
    const struct fit_kernel *k;
    struct fit_posterior_param param[MOST];
    double point[MOST]; /* about which coordinates are made: the same for all data */
    double s0, theta[MOST], lin[MOST], sigma;
    struct fit_dataset *ds;
};

/* ---- data from parameters ------------------------------------------------------------------------------ */

static void rows(struct world *x, struct fit_rng *rng)
{
    double column[ROWS], y[ROWS];
    const double *columns[] = {column};
    struct fit_error err = {0};
    for (size_t r = 0; r < ROWS; r++)
        column[r] = 0.03 * pow(300, (double)r / (ROWS - 1));
    for (int pass = 0; pass < 2; pass++) { /* the first for the layout */
        memset(y, 0, sizeof y);
        if (pass) {
            struct e2e_prepared p = e2e_prepare(x->k, &x->ds->layout, x->theta);
            for (uint32_t r = 0; r < ROWS; r++) {
                uint32_t zero = 0;
                double z;
                x->k->points(&x->ds->layout, p.ws, x->lin, &(struct fit_points){1, &r, &zero, &zero}, &y[r], NULL);
                fit_rng_next_normals(rng, 1, &z);
                y[r] += x->sigma * z;
            }
            e2e_release(&p);
        }
        fit_dataset_free(x->ds);
        x->ds = NULL;
        if (fit_dataset_new_table(
                &(struct fit_dataset_table){.nrow = ROWS, .ncolumn = 1, .column = columns, .value = y, .center = 1},
                &x->ds, &err) != FIT_OK ||
            fit_dataset_finish(x->ds, &err) != FIT_OK)
            fail_msg("%s", err.message);
    }
}

static void pairs(struct world *x, struct fit_rng *rng)
{
    static const double phi = 0;
    struct fit_error err = {0};
    double matrix[NT * NT] = {0};
    fit_dataset_free(x->ds);
    x->ds =
        e2e_dataset(x->k, &(struct e2e_grid){.ntime = NT, .dt = 0.2, .q = 0.0054, .gap = 2e6, .nphi = 1, .phi = &phi});
    struct e2e_prepared p = e2e_prepare(x->k, &x->ds->layout, x->theta);
    for (uint32_t i = 0; i < NT; i++)
        for (uint32_t j = i + 1; j < NT; j++) {
            uint32_t zero = 0;
            double z;
            x->k->points(&x->ds->layout, p.ws, x->lin, &(struct fit_points){1, &i, &j, &zero}, &matrix[i * NT + j],
                         NULL);
            fit_rng_next_normals(rng, 1, &z);
            matrix[i * NT + j] += x->sigma * z;
        }
    e2e_release(&p);
    if (fit_dataset_put(x->ds, 0, matrix, NULL, &err) != FIT_OK || fit_dataset_finish(x->ds, &err) != FIT_OK)
        fail_msg("%s", err.message);
}

static void simulate(struct world *x, struct fit_rng *rng)
{
    if (x->k->space == FIT_ROWS)
        rows(x, rng);
    else
        pairs(x, rng);
}

/* ---- prior --------------------------------------------------------------------------------------------- */

static struct fit_prior prior_of(const struct world *x, size_t n)
{
    struct fit_prior p;
    const struct fit_posterior_param *d = &x->param[n];
    assert_true(fit_prior_init(&p, d->prior, d->a, d->b, d->lower, d->upper));
    return p;
}

static void draw_prior(struct world *x, struct fit_rng *rng)
{
    for (size_t c = 0; c < x->k->nparam; c++) {
        struct fit_prior p = prior_of(x, c);
        x->theta[c] = fit_prior_quantile(&p, fit_rng_next_uniform(rng));
    }
    x->sigma = sqrt(0.5 * A0 * x->s0 * x->s0 / fit_rng_next_gamma(rng, A0));
    for (size_t q = 0; q < x->k->nlinear; q++) {
        double z;
        const struct fit_posterior_param *d = &x->param[x->k->nparam + q];
        fit_rng_next_normals(rng, 1, &z);
        x->lin[q] = d->a + d->b * x->sigma / x->s0 * z;
    }
}

/* Mean and deviation of the quantity n: parameters (the logarithm of those with a log-normal prior), linear ones,
 * 1/sigma^2. */
static void moments_of_prior(const struct world *x, size_t n, double *mean, double *sd)
{
    enum { STEPS = 20000 };
    double b0 = 0.5 * A0 * x->s0 * x->s0, sum = 0, square = 0;
    *mean = A0 / b0;
    *sd = sqrt(A0) / b0;
    if (n == x->k->nparam + x->k->nlinear)
        return;
    if (n >= x->k->nparam) { /* given sigma normal; E sigma^2 = b0 / (A0 - 1) */
        *mean = x->param[n].a;
        *sd = x->param[n].b / x->s0 * sqrt(b0 / (A0 - 1));
        return;
    }
    struct fit_prior p = prior_of(x, n);
    for (size_t k = 0; k < STEPS; k++) {
        double v = fit_prior_quantile(&p, ((double)k + 0.5) / STEPS);
        v = p.kind == FIT_PRIOR_LOG_NORMAL ? log(v) : v;
        sum += v / STEPS;
        square += v * v / STEPS;
    }
    *mean = sum;
    *sd = sqrt(square - sum * sum);
}

static double quantity(const struct world *x, size_t n)
{
    if (n < x->k->nparam)
        return x->param[n].prior == FIT_PRIOR_LOG_NORMAL ? log(x->theta[n]) : x->theta[n];
    return n < x->k->nparam + x->k->nlinear ? x->lin[n - x->k->nparam] : 1 / (x->sigma * x->sigma);
}

/* ---- the alternation ----------------------------------------------------------------------------------- */

static struct fit_posterior *posterior(const struct world *x)
{
    struct fit_posterior *p;
    struct fit_error err = {0};
    struct fit_posterior_setup setup = {.kernel = x->k,
                                        .ds = x->ds,
                                        .param = x->param,
                                        .theta = x->point,
                                        .lin = x->lin,
                                        .sigma = &x->s0,
                                        .a0 = A0,
                                        .count = 1,
                                        .chains = 1,
                                        .threads = 1,
                                        .variance = FIT_VARIANCE_UNIT};
    if (fit_posterior_new(&setup, &p, &err) != FIT_OK)
        fail_msg("%s", err.message);
    return p;
}

struct step {
    struct fit_nuts *nuts;
    struct fit_metric metric;
    double size;
};

/* Variances of the coordinates over the prior: a metric that does not look at the chain. */
static void choose_metric(struct world *x, struct step *s, double *variance)
{
    struct fit_rng rng = {.seed = 8, .purpose = FIT_RNG_START};
    double q[MOST], mean[MOST] = {0}, square[MOST] = {0};
    for (size_t k = 0; k < TUNE; k++) {
        draw_prior(x, &rng);
        if (k == 0)
            simulate(x, &rng);
        struct fit_posterior *p = posterior(x);
        assert_true(fit_posterior_coordinates(p, x->theta, q));
        for (size_t i = 0; i < p->n; i++) {
            mean[i] += q[i] / TUNE;
            square[i] += q[i] * q[i] / TUNE;
        }
        fit_posterior_free(p);
    }
    for (size_t i = 0; i < s->metric.n; i++)
        variance[i] = square[i] - mean[i] * mean[i];
    assert_int_equal(fit_metric_diagonal(&s->metric, variance), 0);
}

static void alternate(struct world *x, const struct step *s, uint32_t number, struct fit_rng *rng)
{
    double q[MOST], g[MOST];
    struct fit_draw_stats stats;
    simulate(x, rng);
    struct fit_posterior *p = posterior(x);
    assert_int_equal(p->n, s->metric.n);
    assert_true(fit_posterior_coordinates(p, x->theta, q));
    struct fit_point at = {q, g, 0};
    assert_int_equal(p->target.eval(p->target.user, 0, q, &at.lp, g), FIT_EVAL_OK);
    struct fit_nuts_move move = {&p->target, 0, &s->metric, s->size, {.seed = 77, .iteration = number}};
    assert_int_equal(fit_nuts_transition(s->nuts, &move, &at, &stats), FIT_EVAL_OK);
    assert_int_equal(fit_posterior_draw(p, 0, q, rng, x->theta, x->lin, &x->sigma), FIT_EVAL_OK);
    fit_posterior_free(p);
}

static void check(struct world *x, const struct step *s)
{
    size_t nq = x->k->nparam + x->k->nlinear + 1;
    double *chain = malloc(LENGTH * nq * sizeof *chain);
    struct fit_rng rng = {.seed = 9, .purpose = FIT_RNG_CONDITIONAL};
    assert_non_null(chain);
    draw_prior(x, &rng);
    for (uint32_t k = 0; k < LENGTH; k++) {
        alternate(x, s, k, &rng);
        for (size_t n = 0; n < nq; n++)
            chain[k * nq + n] = quantity(x, n);
    }
    for (size_t n = 0; n < nq; n++) {
        const double *first = chain + n;
        struct fit_convergence c;
        struct fit_error err = {0};
        double mean, sd;
        moments_of_prior(x, n, &mean, &sd);
        assert_int_equal(fit_convergence(&(struct fit_draws){1, LENGTH, &first, nq}, &c, &err), FIT_OK);
        const char *name = n < x->k->nparam       ? x->k->param[n].name
                           : n + 1 < nq           ? x->k->linear[n - x->k->nparam].name
                                                  : "1/sigma^2";
        printf("    %-10s mean %9.5g (%9.5g, off by %4.1f errors)  sd %9.5g (%9.5g, %4.1f)  effective %.0f\n", name,
               c.mean, mean, (c.mean - mean) / c.mcse_mean, c.sd, sd, (c.sd - sd) / c.mcse_sd, c.ess_bulk);
        if (!(fabs(c.mean - mean) < 4 * c.mcse_mean) || !(fabs(c.sd - sd) < 4 * c.mcse_sd) || !(c.ess_bulk > 500))
            fail_msg("%s does not keep the moments of its prior", name);
    }
    free(chain);
}

static void run(const char *model, const struct fit_posterior_param *param, const double *point, double s0)
{
    struct world x = {.s0 = s0};
    double variance[MOST], inverse[MOST], factor[MOST];
    x.k = e2e_kernel(model, "fast", NULL);
    assert_non_null(x.k);
    memcpy(x.param, param, (x.k->nparam + x.k->nlinear) * sizeof *param);
    memcpy(x.point, point, x.k->nparam * sizeof *point);
    struct step s = {fit_nuts_new(x.k->nparam, 8), {x.k->nparam, 0, inverse, factor}, 0.4};
    assert_non_null(s.nuts);
    choose_metric(&x, &s, variance);
    check(&x, &s);
    fit_nuts_free(s.nuts);
    fit_dataset_free(x.ds);
}

static void test_table(void **state)
{
    (void)state;
    static const struct fit_posterior_param param[] = {{1e-3, 1e3, FIT_PRIOR_LOG_NORMAL, 0, 0.7, 0, 0},
                                                       {0.1, 2, FIT_PRIOR_TRUNCATED_NORMAL, 1, 0.3, 0, 0},
                                                       {NAN, NAN, FIT_PRIOR_NORMAL, 0.2, 0.05, 0, 0},
                                                       {NAN, NAN, FIT_PRIOR_NORMAL, 1, 0.02, 0, 0}};
    run("kww", param, (double[]){1, 1}, 0.05);
}

/* With the coordinates of a rate. */
static void test_pairs_of_frames(void **state)
{
    (void)state;
    static const struct fit_posterior_param param[] = {{100, 1e6, FIT_PRIOR_LOG_NORMAL, 10.5, 0.4, 0, 0},
                                                       {-2, 2, FIT_PRIOR_TRUNCATED_NORMAL, 0, 0.3, 0, 0},
                                                       {0, 1e5, FIT_PRIOR_TRUNCATED_NORMAL, 5000, 2000, 0, 0},
                                                       {NAN, NAN, FIT_PRIOR_NORMAL, 0.3, 0.05, 0, 0},
                                                       {NAN, NAN, FIT_PRIOR_NORMAL, 1, 0.02, 0, 0}};
    run("static_isotropic", param, (double[]){36000, 0.1, 5000}, 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_pairs_of_frames)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
