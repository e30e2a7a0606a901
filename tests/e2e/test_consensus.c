/* test_consensus.c -- the consensus of shards: the posteriors of the shards multiply to that of the whole, exactly; the
 * combination is corrected; nothing depends on threads; a shard that does not converge is an error. */
#include "math/linalg.h"
#include "sampling/sampling.h"
#include "consensus/shard.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NT = 40, NG = 2, MOST = 40 };

struct experiment {
    const struct fit_kernel *k;
    struct fit_dataset *ds;
    struct fit_posterior_param param[MOST];
    double theta[MOST], lin[NG * 2], sigma[NG];
    struct fit_posterior_setup setup;
};

/* The model at theta with contrast 0.3, offset 1 and noise 0.02; priors informative, not normal. */
static void experiment_new(struct experiment *x, const char *model, const double *theta)
{
    static const double phi[NG] = {-4, 60};
    struct e2e_grid grid = {.ntime = NT, .dt = 0.1, .q = 0.0054, .gap = 2e6, .nphi = NG, .phi = phi};
    struct fit_error err = {0};
    double *matrix = e2e_doubles(NT * NT), z[2];
    *x = (struct experiment){.k = e2e_kernel(model, "fast", NULL), .lin = {0.3, 1, 0.3, 1}, .sigma = {0.02, 0.02}};
    assert_non_null(x->k);
    x->ds = e2e_dataset(x->k, &grid);
    struct e2e_prepared p = e2e_prepare(x->k, &x->ds->layout, theta);
    for (uint32_t g = 0; g < NG; g++) {
        for (uint32_t i = 0; i < NT; i++)
            for (uint32_t j = i + 1; j < NT; j++) {
                x->k->points(&x->ds->layout, p.ws, x->lin, &(struct fit_points){1, &i, &j, &g}, &matrix[i * NT + j],
                             NULL);
                fit_rng_normal(9, g, i * NT + j, z);
                matrix[i * NT + j] += 0.02 * z[0];
            }
        assert_int_equal(fit_dataset_put(x->ds, g, matrix, NULL, &err), FIT_OK);
    }
    assert_int_equal(fit_dataset_finish(x->ds, &err), FIT_OK);
    e2e_release(&p);
    free(matrix);
    memcpy(x->theta, theta, x->k->nparam * sizeof *theta);
    for (size_t n = 0; n < x->k->nparam; n++) {
        const struct fit_param *d = &x->k->param[n];
        x->param[n] = (struct fit_posterior_param){d->lower, d->upper, FIT_PRIOR_TRUNCATED_NORMAL, theta[n],
                                                   0.5 * fabs(theta[n]) + 0.1 * (fabs(theta[n]) < 1), 0, 0};
    }
    x->param[x->k->nparam] = (struct fit_posterior_param){NAN, NAN, FIT_PRIOR_NORMAL, 0.3, 0.05, 0, 0};
    x->param[x->k->nparam + 1] = (struct fit_posterior_param){NAN, NAN, FIT_PRIOR_NORMAL, 1, 0.02, 0, 0};
    x->setup = (struct fit_posterior_setup){.kernel = x->k, .ds = x->ds, .param = x->param, .theta = x->theta,
                                            .lin = x->lin, .sigma = x->sigma, .a0 = 3, .count = 1, .chains = 1,
                                            .threads = 1, .variance = FIT_VARIANCE_UNIT};
}

static const double laminar[] = {1000, -0.2, 100, 0.01, 0.2, 0.001, 3}, resting[] = {3000, -0.2, 300};

/* ---- factorisation ------------------------------------------------------------------------------------- */

/* Log density of what was integrated out, u (unknowns minus origin) and h = log sigma of units, at the last
 * evaluation: u normal around c->u with precision A / sigma^2, sigma^2 inverse gamma, as a density of h. */
static double conditional(const struct fit_collapsed *c, const double *u, const double *h)
{
    const struct fit_objective *o = c->o;
    double lp = 0;
    for (size_t k = 0; k < c->nunit && c->variance != FIT_VARIANCE_KNOWN; k++)
        lp += c->a_n[k] * (log(c->b_n[k]) - 2 * h[k]) - lgamma(c->a_n[k]) - c->b_n[k] * exp(-2 * h[k]);
    for (size_t b = 0; b < o->nblock; b++) {
        double e[MOST], hb = c->variance == FIT_VARIANCE_KNOWN ? 0 : h[c->block_unit[b]];
        const double *L = c->factor + o->block_matrix[b];
        size_t n = 0, index[MOST];
        for (size_t i = o->block_first[b]; i < o->block_first[b + 1]; i++)
            if (!c->explicit_[o->order[i]])
                index[n++] = o->order[i];
        for (size_t i = 0; i < n; i++)
            e[i] = u[index[i]] - c->u[index[i]];
        for (size_t i = 0; i < n; i++) {
            double s = 0;
            for (size_t k = i; k < n; k++)
                s += L[k * n + i] * e[k];
            lp += log(L[i * n + i]) - hb - 0.5 * s * s * exp(-2 * hb);
        }
    }
    return lp;
}

static double joint(struct fit_posterior *p, const double *q, const double *u, const double *h)
{
    double lp;
    assert_int_equal(p->target.eval(p->target.user, 0, q, &lp, NULL), FIT_EVAL_OK);
    return lp + conditional(fit_posterior_collapsed(p), u, h);
}

static struct fit_posterior *open_posterior(const struct fit_posterior_setup *s)
{
    struct fit_posterior *p;
    struct fit_error err = {0};
    if (fit_posterior_new(s, &p, &err) != FIT_OK)
        fail_msg("%s", err.message);
    return p;
}

/* sum_s log p_s - log p of all parameters is the same number everywhere. */
static void check_product(struct experiment *x, size_t nshard, const char *what)
{
    struct fit_posterior *whole = open_posterior(&x->setup), *part[MOST];
    struct fit_dataset *view[MOST];
    struct fit_shards *s;
    struct fit_error err;
    double first = 0, worst = 0, q0[MOST];
    assert_int_equal(fit_shards_new(x->ds, nshard, 3, &s, &err), FIT_OK);
    for (size_t k = 0; k < nshard; k++) {
        struct fit_posterior_setup setup = x->setup;
        assert_int_equal(fit_shards_open(s, k, x->k->nlinear, &view[k], &err), FIT_OK);
        setup.ds = view[k];
        setup.like = whole;
        setup.temper = 1 / (double)nshard;
        part[k] = open_posterior(&setup);
        assert_int_equal(part[k]->n, whole->n);
    }
    fit_posterior_start(whole, q0);
    for (size_t n = 0; n < 8; n++) {
        double q[MOST], u[MOST], h[MOST], z[2];
        for (size_t i = 0; i < whole->n; i++) {
            fit_rng_normal(1, n, i, z);
            q[i] = q0[i] + 0.1 * z[0];
        }
        for (size_t i = 0; i < 2 * NG; i++) {
            fit_rng_normal(2, n, i, z);
            u[i] = (i % 2 ? 1 - x->ds->reference[i / 2] : 0.3) + 0.01 * z[0];
            h[i] = log(0.02) + 0.1 * z[1];
        }
        double sum = -joint(whole, q, u, h);
        for (size_t k = 0; k < nshard; k++)
            sum += joint(part[k], q, u, h);
        first = n ? first : sum;
        worst = fmax(worst, fabs(sum - first));
    }
    printf("    %-44s %zu shards: product within %.1e\n", what, nshard, worst);
    if (!(worst < 1e-7)) /* densities of 1e4 from sums of squares that lost three digits to the mean of the data */
        fail_msg("%s: the posteriors of %zu shards multiply to another than that of the whole (by %.1e)", what, nshard,
                 worst);
    for (size_t k = 0; k < nshard; k++) {
        fit_posterior_free(part[k]);
        fit_shards_close(s, view[k]);
    }
    fit_posterior_free(whole);
    fit_shards_free(s);
}

static void test_shards_multiply_to_the_whole(void **state)
{
    struct experiment x;
    (void)state;
    experiment_new(&x, "laminar", laminar);
    check_product(&x, 1, "laminar");
    check_product(&x, 5, "laminar");
    check_product(&x, 30, "laminar, few pairs each");
    x.setup.variance = FIT_VARIANCE_SHARED;
    check_product(&x, 3, "laminar, one variance");
    x.setup.variance = FIT_VARIANCE_KNOWN;
    check_product(&x, 3, "laminar, known variance");
    x.setup.variance = FIT_VARIANCE_UNIT;
    x.setup.scaling = FIT_SCALING_AVERAGED;
    check_product(&x, 3, "laminar, shared contrast and offset");
    x.setup.scaling = FIT_SCALING_INDIVIDUAL;
    x.param[x.k->nparam].b = INFINITY;
    x.param[x.k->nparam].prior = FIT_PRIOR_NONE;
    check_product(&x, 3, "laminar, contrast with a flat prior");
    x.setup.a0 = 0;
    check_product(&x, 3, "laminar, Jeffreys' prior of the variance");
    fit_dataset_free(x.ds);
}

/* ---- the method ---------------------------------------------------------------------------------------- */

static struct fit_sampling_options options(size_t shards, int threads)
{
    return (struct fit_sampling_options){
        .method = FIT_SAMPLING_CONSENSUS, .draws = 1000, .seed = 5, .threads = threads,
        .consensus = {.shards = shards, .chains = 2, .warmup = 300, .draws = 600}};
}

static void test_correction_reaches_the_exact_posterior(void **state)
{
    struct experiment x;
    struct fit_samples a, b;
    struct fit_error err = {0};
    struct fit_sampling_options one = options(3, 1), two = options(3, 2);
    (void)state;
    experiment_new(&x, "static_isotropic", resting);
    if (fit_sample(&x.setup, NULL, &one, &a, &err) != FIT_OK || fit_sample(&x.setup, NULL, &two, &b, &err) != FIT_OK)
        fail_msg("%s", err.message);
    const struct fit_consensus *c = a.consensus;
    assert_non_null(c);
    assert_int_equal(c->nshard, 3);
    assert_int_equal(c->nz, a.ncoordinate + 3 * NG); /* contrast, offset, sigma of each angle */
    assert_true(c->p > 1e-6); /* one population */
    printf("    k %.2f, Q %.1f of %.0f (p %.2f)\n", c->k, c->heterogeneity, c->freedom, c->p);
    assert_non_null(c->exact);
    assert_true(a.pareto_k < 0.7);
    for (size_t k = 0; k < a.nparam; k++) {
        double mean = a.column[k].c.mean, sd = c->exact_sd[k];
        printf("    %-10s combined %g, corrected %g, exact %g +- %g\n", x.k->param[k].name, c->theta_mean[k], mean,
               c->exact_mean[k], sd);
        /* 1000 draws with an effective number of 100 or more, on either side: four errors of the difference */
        assert_true(fabs(mean - c->exact_mean[k]) < 4 * sqrt(1 / fmin(a.weight_ess, 1000) + 1.0 / 400) * sd);
    }
    assert_memory_equal(a.x, b.x, a.chains * a.draws * a.ncolumn * sizeof *a.x);
    assert_memory_equal(c->mean, b.consensus->mean, c->nz * sizeof *c->mean);
    fit_samples_free(&a);
    fit_samples_free(&b);
    fit_dataset_free(x.ds);
}

/* Draw by draw, of as many draws as the shards have: the mean of the combined is the combined mean, each shard with its
 * own precision; of one shard it is the sample of its chains. */
static void check_combined_draws(size_t shards)
{
    struct experiment x;
    struct fit_samples s;
    struct fit_error err = {0};
    struct fit_sampling_options o = options(shards, 1);
    experiment_new(&x, "static_isotropic", resting);
    o.uncorrected = 1;
    o.draws = 1200;
    if (fit_sample(&x.setup, NULL, &o, &s, &err) != FIT_OK)
        fail_msg("%s", err.message);
    double mean[MOST] = {0};
    size_t n = s.consensus->nz;
    for (size_t k = 0; k < s.draws; k++)
        for (size_t i = 0; i < n; i++)
            mean[i] += s.consensus->kept[k * n + i] / (double)s.draws;
    for (size_t i = 0; i < n; i++) /* rounding of the product of a matrix and its inverse */
        assert_true(fabs(mean[i] - s.consensus->mean[i]) < 1e-6 * sqrt(s.consensus->covariance[i * n + i]));
    assert_true(isnan(s.pareto_k));
    assert_true((s.consensus->freedom < 1) == (shards == 1));
    assert_int_equal(s.verdict, FIT_VERDICT_DOUBTFUL);
    fit_samples_free(&s);
    fit_dataset_free(x.ds);
}

static void test_draws_of_one_shard_are_the_sample_itself(void **state)
{
    (void)state;
    check_combined_draws(1);
}

static void test_draws_of_shards_have_the_mean_of_the_combination(void **state)
{
    (void)state;
    check_combined_draws(3);
}

static void test_a_shard_that_does_not_converge_is_an_error(void **state)
{
    struct experiment x;
    struct fit_samples s;
    struct fit_error err = {0};
    struct fit_sampling_options o = options(2, 1);
    (void)state;
    experiment_new(&x, "static_isotropic", resting);
    o.consensus.min_ess = 1e6; /* more than there are draws */
    assert_int_equal(fit_sample(&x.setup, NULL, &o, &s, &err), FIT_ERR_NUMERIC);
    assert_non_null(strstr(err.message, " of 2: "));
    assert_non_null(strstr(err.message, "after 3 attempts"));
    fit_dataset_free(x.ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shards_multiply_to_the_whole),
        cmocka_unit_test(test_correction_reaches_the_exact_posterior),
        cmocka_unit_test(test_draws_of_one_shard_are_the_sample_itself),
        cmocka_unit_test(test_draws_of_shards_have_the_mean_of_the_combination),
        cmocka_unit_test(test_a_shard_that_does_not_converge_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
