/* Convergence diagnostics, Pareto smoothing and the functions they use, against ArviZ and SciPy
 * (reference_statistics.h, made by tests/data/make_statistics.py). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "math/rng.h"
#include "math/special.h"
#include "reference_statistics.h"
#include "sampler/diagnostics.h"
#include "sampler/psis.h"

#include <math.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Both sides round sums of a few hundred terms: 1e-13; rank scores and cancellation in the
 * autocorrelations add two or three digits. */
static const double TOLERANCE = 1e-10;

static void near(const char *what, const char *which, double got, double want, double tolerance)
{
    int same = (isnan(got) && isnan(want)) || (isinf(got) && isinf(want) && got * want > 0);
    if (!same && !(fabs(got - want) <= tolerance * fmax(1, fabs(want))))
        fail_msg("%s of %s: %.17g, should be %.17g", what, which, got, want);
}

static struct fit_draws view(size_t k, const double **chain)
{
    for (size_t c = 0; c < statistics[k].chains; c++)
        chain[c] = statistics[k].x + c * statistics[k].draws;
    return (struct fit_draws){statistics[k].chains, statistics[k].draws, chain, 1};
}

static void test_convergence_is_that_of_arviz(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(statistics); k++) {
        const double *chain[8], *want = statistics[k].want;
        const char *name = statistics[k].name;
        struct fit_draws d = view(k, chain);
        struct fit_convergence c;
        assert_int_equal(fit_convergence(&d, &c, NULL), FIT_OK);
        near("mean", name, c.mean, want[0], TOLERANCE);
        near("sd", name, c.sd, want[1], TOLERANCE);
        near("R-hat", name, c.r_hat, want[2], TOLERANCE);
        near("bulk ESS", name, c.ess_bulk, want[3], TOLERANCE);
        near("tail ESS", name, c.ess_tail, want[4], TOLERANCE);
        near("mean ESS", name, c.ess_mean, want[5], TOLERANCE);
        near("MCSE of mean", name, c.mcse_mean, want[6], TOLERANCE);
        near("MCSE of sd", name, c.mcse_sd, want[7], TOLERANCE);
    }
}

static void test_quantiles_are_those_of_arviz(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(statistics); k++) {
        const double *chain[8], *want = statistics[k].want + 9;
        const char *name = statistics[k].name;
        struct fit_draws d = view(k, chain);
        for (size_t i = 0; i < COUNT(probabilities); i++, want += 3) {
            double value, ess, mcse;
            assert_int_equal(fit_quantile(&d, probabilities[i], &value, &ess, &mcse, NULL), FIT_OK);
            near("quantile", name, value, want[0], TOLERANCE);
            near("quantile ESS", name, ess, want[1], TOLERANCE);
            near("quantile MCSE", name, mcse, want[2], TOLERANCE);
        }
    }
}

static void test_ebfmi_is_that_of_arviz(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(statistics); k++) {
        struct fit_draw_stats s[200] = {{0}};
        for (size_t i = 0; i < statistics[k].draws; i++)
            s[i].energy = statistics[k].x[i];
        near("E-BFMI", statistics[k].name, fit_ebfmi(s, statistics[k].draws), statistics[k].want[8],
             TOLERANCE);
    }
}

static void test_a_stride_picks_one_coordinate(void **state)
{
    (void)state;
    const size_t k = 0, draws = statistics[k].draws;
    double wide[4][3 * 100];
    const double *chain[8], *strided[4];
    struct fit_draws d = view(k, chain);
    for (size_t c = 0; c < 4; c++) {
        memset(wide[c], 0, sizeof wide[c]);
        for (size_t i = 0; i < draws; i++)
            wide[c][3 * i + 1] = chain[c][i];
        strided[c] = wide[c] + 1;
    }
    struct fit_draws e = {4, draws, strided, 3};
    struct fit_convergence a, b;
    assert_int_equal(fit_convergence(&d, &a, NULL), FIT_OK);
    assert_int_equal(fit_convergence(&e, &b, NULL), FIT_OK);
    assert_memory_equal(&a, &b, sizeof a);
}

static void test_constant_short_and_not_finite_chains_give_no_number(void **state)
{
    (void)state;
    double flat[20], bad[20], few[3] = {1, 2, 3};
    for (int i = 0; i < 20; i++) {
        flat[i] = 7;
        bad[i] = i;
    }
    bad[13] = NAN;
    const double *x[3][2] = {{flat, flat}, {bad, flat}, {few, few}};
    const size_t draws[3] = {20, 20, 3};
    for (int k = 0; k < 3; k++) {
        struct fit_draws d = {2, draws[k], x[k], 1};
        struct fit_convergence c;
        double q;
        assert_int_equal(fit_convergence(&d, &c, NULL), FIT_OK);
        assert_true(isnan(c.r_hat) && isnan(c.ess_bulk) && isnan(c.ess_tail) && isnan(c.mcse_mean));
        assert_int_equal(fit_quantile(&d, 0.5, &q, NULL, NULL, NULL), FIT_OK);
        assert_true(isnan(q));
    }
}

/* AR(1) with coefficient phi: ESS = N (1 - phi) / (1 + phi); the estimate has a relative error of
 * some 5 % at 4 x 2000 draws. */
static void test_ess_of_autoregressive_chains_is_near_theory(void **state)
{
    (void)state;
    enum { M = 4, N = 2000 };
    static double x[M][N];
    const double phi[] = {0, 0.5, 0.9, -0.5};
    const double *chain[M] = {x[0], x[1], x[2], x[3]};
    for (int k = 0; k < 4; k++) {
        for (uint32_t c = 0; c < M; c++) {
            struct fit_rng r = {.seed = 2, .chain = c};
            fit_rng_next_normals(&r, N, x[c]);
            for (int i = 1; i < N; i++)
                x[c][i] = phi[k] * x[c][i - 1] + sqrt(1 - phi[k] * phi[k]) * x[c][i];
        }
        struct fit_draws d = {M, N, chain, 1};
        double ess, theory = M * N * (1 - phi[k]) / (1 + phi[k]);
        assert_int_equal(fit_ess_mean(&d, &ess, NULL), FIT_OK);
        near("ESS", "an autoregressive chain", ess / theory, 1, 0.25);
    }
}

static void test_health_counts_what_happened(void **state)
{
    (void)state;
    struct fit_draw_stats s[4] = {{.energy = 1, .tree_depth = 3, .accept_stat = 0.5, .step = 2},
                                  {.energy = 2, .tree_depth = 10, .divergent = 1, .step = 2},
                                  {.energy = 4, .tree_depth = 10, .n_leapfrog = 7, .step = 2},
                                  {.energy = 1, .tree_depth = 1, .accept_stat = 1, .step = 2}};
    struct fit_chain_health h;
    fit_chain_health(s, 4, 10, &h);
    near("divergences", "four draws", h.divergences, 1, 0);
    near("saturated", "four draws", h.saturated, 2, 0);
    near("acceptance", "four draws", h.accept_mean, 0.375, 1e-15);
    near("step", "four draws", h.step_mean, 2, 1e-15);
    near("E-BFMI", "four draws", h.ebfmi, 14.0 / 6, 1e-15); /* (1 + 4 + 9) / (1 + 0 + 4 + 1) */
}

/* Autoregressive chains, of one distribution or each about a mean of its own. */
static void chains_of(uint32_t number, size_t chains, size_t n, double rho, double apart, double *x)
{
    for (size_t c = 0; c < chains; c++) {
        struct fit_rng r = {.seed = 11, .chain = (uint32_t)c, .iteration = number, .purpose = FIT_RNG_START};
        double z, y = 0;
        for (size_t i = 0; i < n + 200; i++) {
            fit_rng_next_normals(&r, 1, &z);
            y = rho * y + sqrt(1 - rho * rho) * z;
            if (i >= 200)
                x[c * n + i - 200] = y + apart * (double)(c % 2);
        }
    }
}

/* What R-hat does in chains of one distribution is chance, however short they are and slow; chains apart are found. */
static void test_r_hat_has_its_probability(void **state)
{
    enum { RUNS = 150, CHAINS = 4, MOST = 1000 };
    static const struct {
        size_t n;
        double rho;
    } ways[] = {{250, 0}, {250, 0.6}, {250, 0.9}, {1000, -0.4}, {1000, 0.95}};
    static double x[CHAINS * MOST];
    (void)state;
    for (size_t w = 0; w < COUNT(ways); w++) {
        int low = 0, very_low = 0, above = 0, found = 0;
        const double *chain[CHAINS];
        struct fit_draws d = {CHAINS, ways[w].n, chain, 1};
        struct fit_convergence c;
        for (size_t k = 0; k < CHAINS; k++)
            chain[k] = x + k * ways[w].n;
        for (uint32_t k = 0; k < RUNS; k++) {
            chains_of(k, CHAINS, ways[w].n, ways[w].rho, 0, x);
            assert_int_equal(fit_convergence(&d, &c, NULL), FIT_OK);
            low += c.r_hat_p < 0.05;
            very_low += c.r_hat_p < 1e-3;
            above += c.r_hat > 1.01;
            const double error =
                sqrt((1 + ways[w].rho) / (1 - ways[w].rho) / (double)ways[w].n); /* of a chain's mean */
            chains_of(k, CHAINS, ways[w].n, ways[w].rho, 6 * error, x);
            assert_int_equal(fit_convergence(&d, &c, NULL), FIT_OK);
            found += c.r_hat_p < 0.01;
        }
        printf(
            "    %zu draws, autocorrelation %4.1f: R-hat above 1.01 in %.0f %%, p below 0.05 in %.1f %%, below 0.001 in"
            " %.2f %%; apart by six errors: below 0.01 in %.0f %%\n",
            ways[w].n, ways[w].rho, 100.0 * above / RUNS, 100.0 * low / RUNS, 100.0 * very_low / RUNS,
            100.0 * found / RUNS);
        assert_true(low <= 0.09 * RUNS);
        assert_true(very_low <= 0.01 * RUNS);
        assert_true(found >= 0.5 * RUNS);
    }
}

/* Draws of Student's t with as many degrees of freedom: the shape of the tail is their inverse. */
static void test_tails_without_variance_are_found(void **state)
{
    enum { N = 4000 };
    static double x[N];
    static const double freedom[] = {1, 2, 30};
    const double *chain[1] = {x};
    struct fit_draws d = {1, N, chain, 1};
    (void)state;
    for (size_t w = 0; w < COUNT(freedom); w++) {
        struct fit_convergence c;
        struct fit_rng r = {.seed = 5, .chain = (uint32_t)w, .purpose = FIT_RNG_START};
        for (size_t i = 0; i < N; i++) {
            double z;
            fit_rng_next_normals(&r, 1, &z);
            x[i] = z / sqrt(fit_rng_next_gamma(&r, 0.5 * freedom[w]) / (0.5 * freedom[w]));
        }
        assert_int_equal(fit_convergence(&d, &c, NULL), FIT_OK);
        printf("    t of %2.0f degrees of freedom: k %.2f +- %.2f\n", freedom[w], c.tail_k, c.tail_k_error);
        if (freedom[w] < 3)
            assert_true(fabs(c.tail_k - 1 / freedom[w]) < 3.5 * c.tail_k_error);
        else
            assert_true(c.tail_k + c.tail_k_error < 0.5);
    }
}

/* ---- importance weights ---------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void test_smoothed_weights_are_those_of_arviz(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(weights); k++) {
        double lw[200], work[200], want[200];
        size_t index[200], n = weights[k].n;
        memcpy(lw, weights[k].lw, n * sizeof *lw);
        near("shape", weights[k].name, fit_psis_smooth(n, lw, work, index), weights[k].k,
             TOLERANCE);
        memcpy(want, weights[k].smooth, n * sizeof *want);
        if (strcmp(weights[k].name, "tied") == 0) { /* who of equal weights gets which is free */
            qsort(lw, n, sizeof *lw, ascending);
            qsort(want, n, sizeof *want, ascending);
        }
        for (size_t i = 0; i < n; i++)
            near("log weight", weights[k].name, lw[i], want[i], TOLERANCE);
    }
}

static void test_the_tail_has_the_length_of_the_paper(void **state)
{
    (void)state;
    assert_int_equal(fit_psis_tail(2000), 135);
    assert_int_equal(fit_psis_tail(100), 20);
    near("threshold", "2000 draws", fit_psis_threshold(2000), 1 - 1 / log10(2000), 1e-15);
    near("threshold", "10^6 draws", fit_psis_threshold(1000000), 0.7, 1e-15);
}

/* Weights are exp(k e) with e exponential: a Pareto tail of shape k; the estimate has a standard
 * error of about (1 + k) / sqrt(tail), less the pull of the prior. */
static void test_the_shape_of_pareto_weights_is_found(void **state)
{
    (void)state;
    enum { N = 20000 };
    static double lw[N], work[N];
    static size_t index[N];
    const double shape[] = {0.2, 0.5, 0.9};
    for (int k = 0; k < 3; k++) {
        struct fit_rng r = {.seed = 4};
        for (int i = 0; i < N; i++)
            lw[i] = -shape[k] * log(fit_rng_next_uniform(&r));
        double tail = (double)fit_psis_tail(N);
        near("shape", "Pareto weights", fit_psis_smooth(N, lw, work, index), shape[k],
             4 * (1 + shape[k]) / sqrt(tail));
    }
}

static void test_weights_without_sense_are_refused(void **state)
{
    (void)state;
    double lw[8] = {0, 1, NAN}, none[8], work[8];
    size_t index[8];
    for (int i = 0; i < 8; i++)
        none[i] = -INFINITY;
    assert_true(isnan(fit_psis_smooth(8, lw, work, index)));
    assert_true(isnan(fit_psis_smooth(8, none, work, index)));
}

static void test_resampling_repeats_a_draw_by_its_weight(void **state)
{
    (void)state;
    const double lw[4] = {log(0.5), -INFINITY, log(0.3), log(0.2)};
    size_t pick[1000], count[4] = {0};
    fit_importance_resample(4, lw, 1000, 0.37, pick);
    for (int k = 0; k < 1000; k++)
        count[pick[k]]++;
    assert_true(count[0] >= 499 && count[0] <= 501);
    assert_int_equal(count[1], 0);
    assert_true(count[2] >= 299 && count[2] <= 301);
    near("effective number", "four draws", fit_importance_ess(4, lw), 1 / 0.38, 1e-14);
}

/* ---- special functions ----------------------------------------------------------------------- */

static void test_normal_quantiles_are_those_of_scipy(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(normal_p); k++)
        near("quantile", "the normal", fit_normal_quantile(normal_p[k]), normal_x[k], 1e-14);
    assert_true(isinf(fit_normal_quantile(0)) && isinf(fit_normal_quantile(1)));
}

static void test_beta_quantiles_are_those_of_scipy(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(beta_a); k++) {
        double x = fit_beta_quantile(beta_p[k], beta_a[k], beta_b[k]);
        near("quantile", "beta", x / beta_x[k], 1, 1e-9);
        near("distribution", "beta", fit_beta_cdf(x, beta_a[k], beta_b[k]), beta_p[k], 1e-9);
    }
}

static void test_sorting_keeps_the_order_of_equal_numbers(void **state)
{
    (void)state;
    const double x[7] = {3, 1, 2, 1, 3, -0.0, 0.0};
    const size_t want[7] = {5, 6, 1, 3, 2, 0, 4};
    size_t index[7];
    fit_sort_index(7, x, index);
    for (int k = 0; k < 7; k++)
        assert_int_equal(index[k], want[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convergence_is_that_of_arviz),
        cmocka_unit_test(test_quantiles_are_those_of_arviz),
        cmocka_unit_test(test_ebfmi_is_that_of_arviz),
        cmocka_unit_test(test_a_stride_picks_one_coordinate),
        cmocka_unit_test(test_constant_short_and_not_finite_chains_give_no_number),
        cmocka_unit_test(test_ess_of_autoregressive_chains_is_near_theory),
        cmocka_unit_test(test_health_counts_what_happened),
        cmocka_unit_test(test_r_hat_has_its_probability),
        cmocka_unit_test(test_tails_without_variance_are_found),
        cmocka_unit_test(test_smoothed_weights_are_those_of_arviz),
        cmocka_unit_test(test_the_tail_has_the_length_of_the_paper),
        cmocka_unit_test(test_the_shape_of_pareto_weights_is_found),
        cmocka_unit_test(test_weights_without_sense_are_refused),
        cmocka_unit_test(test_resampling_repeats_a_draw_by_its_weight),
        cmocka_unit_test(test_normal_quantiles_are_those_of_scipy),
        cmocka_unit_test(test_beta_quantiles_are_those_of_scipy),
        cmocka_unit_test(test_sorting_keeps_the_order_of_equal_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
