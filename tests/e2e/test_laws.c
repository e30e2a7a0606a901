/* test_laws.c -- noise distributions other than the normal one: kernels of models/laws against the interpreter of the
 * compiler, their normalisation, draws, and posteriors that are known.
 *
 *   normalised    sum or integral over y of exp(log density) is 1 within 1e-10
 *   gradients     within 1e-10 of the norm of dual numbers in extended precision, at 100 points of each law
 *   draws         mean and variance of 20,000 draws within 5 standard errors
 *   rate          an exponential prior and Poisson counts: the posterior is a gamma distribution
 *   photon decay  moments by quadrature over a grid of the three parameters
 *   schools       posteriordb's eight schools, here as a level of a hierarchy with priors that have parameters
 *
 * Moments agree within 4 Monte Carlo standard errors (ours, and the reference's where it has some); seeds are fixed.
 */
#include "fit/fit.h"
#include "sampler/diagnostics.h"
#include "leastsquares/fit_types.h"
#include "model/law.h"
#include "model/linkage.h"
#include "input/measurement.h"
#include "sampling/predictive.h"
#include "sampling/sampling.h"
#include "input/table.h"
#include "files/yaml_tree.h"

#include "generator/base/diag.h"
#include "generator/graph/eval.h"
#include "generator/language/dsl.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const struct fit_kernel *const laws_kernels[]; /* made by the build; ended by NULL */

enum { MOST_PARAMETERS = 16, MOST_COLUMNS = 4 };

static const struct fit_kernel *kernel_named(const char *name)
{
    for (size_t k = 0; laws_kernels[k]; k++)
        if (strcmp(laws_kernels[k]->name, name) == 0)
            return laws_kernels[k];
    fail_msg("no kernel %s", name);
    return NULL;
}

static int is_law(const struct fit_kernel *k)
{
    return strncmp(k->name, "law_", 4) == 0 && k->naxis == 0 && strcmp(k->name, "law_rate") != 0;
}

static double *doubles(size_t n)
{
    double *p = aligned_alloc(64, (n / 8 + 2) * 64);
    assert_non_null(p);
    memset(p, 0, (n / 8 + 2) * 64);
    return p;
}

/* ---- one table in memory ------------------------------------------------------------------------------------ */

struct table {
    struct fit_layout l;
    struct fit_tile t;
    const double *column[MOST_COLUMNS];
    double *y, *data[MOST_COLUMNS], *ws, *scratch;
};

static size_t role(const struct fit_kernel *k, enum fit_role wanted)
{
    size_t c = 0;
    while (c < k->ncolumn && k->column[c].role != wanted)
        c++;
    return c;
}

/* n rows with x and, where there is one, the number of trials. */
static struct table *new_table(const struct fit_kernel *k, size_t n)
{
    struct table *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->y = doubles(n + 8);
    for (size_t c = 0; c < k->ncolumn; c++)
        s->column[c] = s->data[c] = doubles(n + 8);
    s->l = (struct fit_layout){.ngroup = 1, .nrow = n, .chunk = n, .column = s->column};
    s->t = (struct fit_tile){.i0 = 0, .i1 = n, .y = s->y};
    s->ws = doubles(k->workspace(&s->l));
    s->scratch = doubles(k->scratch(&s->l));
    return s;
}

static void free_table(struct table *s)
{
    free(s->y);
    for (size_t c = 0; c < MOST_COLUMNS; c++)
        free(s->data[c]);
    free(s->ws);
    free(s->scratch);
    free(s);
}

/* ---- normalised --------------------------------------------------------------------------------------------- */

/* Points and weights of the integral over y, by y = mean +- exp(u) or mean exp(u), u = pi/2 sinh t: the double
 * exponential rule (Takahasi & Mori, Publ. RIMS 9 (1974) 721), on each side of a mean that may have a kink.  Counts: 0,
 * 1, ... */
static void integration_points(const struct fit_kernel *k, double mean, size_t n, double *y, double *weight)
{
    enum fit_support support = k->density->support;
    double half_pi = 1.5707963267948966, reach = 5.2;
    for (size_t i = 0; i < n; i++) {
        size_t m = support == FIT_SUPPORT_REAL ? n / 2 : n;
        double h = 2 * reach / (double)m, t = -reach + h * ((double)(i % m) + 0.5), x = exp(half_pi * sinh(t));
        y[i] = support >= FIT_SUPPORT_COUNTS ? (double)i
               : support == FIT_SUPPORT_REAL ? mean + (i < m ? -x : x)
                                             : mean * x;
        weight[i] =
            support >= FIT_SUPPORT_COUNTS ? 1 : (support == FIT_SUPPORT_REAL ? x : mean * x) * half_pi * cosh(t) * h;
    }
}

static double integral_of(const struct fit_kernel *k, struct table *s, const double *theta, double x, size_t n)
{
    double *density = doubles(n), *weight = doubles(n), mean, sum = 0;
    for (size_t c = 0; c < k->ncolumn; c++)
        for (size_t r = 0; r < n; r++)
            s->data[c][r] = c == 0 ? x : k->density->support == FIT_SUPPORT_TRIALS ? (double)n - 1 : 1;
    assert_int_equal(k->prepare(&s->l, theta, 0, s->ws), FIT_EVAL_OK);
    uint32_t zero = 0;
    k->points(&s->l, s->ws, NULL, &(struct fit_points){1, &zero, &zero, &zero}, &mean, NULL);
    integration_points(k, mean, n, s->y, weight);
    k->density->log_density(&s->l, s->ws, &s->t, density);
    for (size_t r = 0; r < n; r++) {
        double p = weight[r] * exp(density[r]);
        sum += isfinite(p) ? p : 0; /* the outermost points lie beyond all numbers */
    }
    free(density);
    free(weight);
    return sum;
}

static void test_densities_are_normalised(void **state)
{
    (void)state;
    for (size_t m = 0; laws_kernels[m]; m++) {
        const struct fit_kernel *k = laws_kernels[m];
        double theta[MOST_PARAMETERS];
        if (!is_law(k))
            continue;
        size_t n = k->density->support == FIT_SUPPORT_TRIALS ? 41 : 4000;
        struct table *s = new_table(k, n);
        for (int set = 0; set < 4; set++) {
            for (size_t p = 0; p < k->nparam; p++)
                theta[p] = k->param[p].start * (1 + 0.3 * set * (p % 2 ? 1 : -0.5));
            double sum = integral_of(k, s, theta, -0.7 + 0.5 * set, n);
            if (!(fabs(sum - 1) < 1e-10))
                fail_msg("%s: the density integrates to %.15g", k->name, sum);
        }
        free_table(s);
    }
}

/* ---- gradients ---------------------------------------------------------------------------------------------- */

/* A model of the folder, with its log density in the interpreter. */
struct interpreted {
    struct hg_arena *a;
    struct hg_model *m;
    struct hg_eval *eval;
    hg_id root;
};

static struct interpreted interpret(const char *name)
{
    struct interpreted x = {.a = hg_arena_new()};
    struct hg_diag d = {.out = stderr};
    char path[1024];
    snprintf(path, sizeof path, "%s/models/laws/%s.lua", FIT_SOURCE_DIR, name);
    x.m = hg_dsl_load(x.a, path, &d);
    assert_non_null(x.m);
    x.root = x.m->density->node;
    x.eval = hg_eval_new(x.m->expr, 1, &x.root);
    return x;
}

static double between(struct fit_rng *rng, double low, double high)
{
    return low + (high - low) * fit_rng_next_uniform(rng);
}

/* Parameters inside their bounds, on a logarithmic scale where these are positive. */
static void draw_theta(const struct fit_kernel *k, struct fit_rng *rng, double *theta)
{
    for (size_t p = 0; p < k->nparam; p++) {
        const struct fit_param *x = &k->param[p];
        theta[p] = x->lower > 0 ? exp(between(rng, log(x->lower), log(x->upper))) : between(rng, x->lower, x->upper);
    }
}

static double draw_value(const struct fit_kernel *k, struct fit_rng *rng, double mean, double trials)
{
    double u = fit_rng_next_uniform(rng);
    switch (k->density->support) {
    case FIT_SUPPORT_REAL: return mean + 4 * (u - 0.5);
    case FIT_SUPPORT_COUNTS: return floor(3 * mean * u);
    case FIT_SUPPORT_TRIALS: return floor((trials + 1) * u);
    default: return mean * 3 * u;
    }
}

/* One row; returns the distance of the gradients as a part of their norm, and that of the values. */
static double compare_at(const struct fit_kernel *k, const struct interpreted *x, struct table *s, const double *theta,
                         const double *row, double *of_value)
{
    double gradient[MOST_PARAMETERS], value, adj = 1, constant;
    long double norm = 0, error = 0;
    struct hg_point at = {.param = theta, .column = row};
    for (size_t c = 0; c < k->ncolumn; c++)
        for (size_t r = 0; r < 8; r++)
            s->data[c][r] = row[c];
    s->y[0] = row[role(k, FIT_ROLE_VALUE)];
    assert_int_equal(k->prepare(&s->l, theta, 1, s->ws), FIT_EVAL_OK);
    k->moments(&s->l, s->ws, &s->t, s->scratch, &value);
    constant = k->density->constant(&s->l, &s->t);
    k->gradient(&s->l, s->ws, NULL, &adj, &s->t, s->scratch, gradient);
    for (size_t p = 0; p < k->nparam; p++) {
        at.seed = x->m->param.item[p].node;
        hg_eval_run(x->eval, &at);
        long double d = hg_eval_get(x->eval, x->root, 0).d;
        norm += d * d;
        error += (d - gradient[p]) * (d - gradient[p]);
    }
    struct hg_num exact = hg_eval_get(x->eval, x->root, 0);
    *of_value = (double)(fabsl(exact.v - (constant - 0.5L * value)) / (exact.e * 0x1p-53L + 1e-16L));
    return (double)sqrtl(error / norm);
}

static void test_gradients_agree_with_extended_precision(void **state)
{
    (void)state;
    for (size_t m = 0; laws_kernels[m]; m++) {
        const struct fit_kernel *k = laws_kernels[m];
        double theta[MOST_PARAMETERS], row[MOST_COLUMNS], worst = 0, worst_value = 0, mean, of_value;
        if (!is_law(k))
            continue;
        struct interpreted x = interpret(k->name);
        struct table *s = new_table(k, 1);
        struct fit_rng rng = {.seed = 3, .chain = (uint32_t)m, .purpose = FIT_RNG_START};
        uint32_t zero = 0;
        for (int point = 0; point < 100; point++) {
            draw_theta(k, &rng, theta);
            for (size_t c = 0; c < k->ncolumn; c++)
                s->data[c][0] = row[c] = c == 0 ? between(&rng, -1, 1) : floor(between(&rng, 5, 40));
            assert_int_equal(k->prepare(&s->l, theta, 1, s->ws), FIT_EVAL_OK);
            k->points(&s->l, s->ws, NULL, &(struct fit_points){1, &zero, &zero, &zero}, &mean, NULL);
            row[role(k, FIT_ROLE_VALUE)] = draw_value(k, &rng, mean, row[k->ncolumn - 1]);
            worst = fmax(worst, compare_at(k, &x, s, theta, row, &of_value));
            worst_value = fmax(worst_value, of_value);
        }
        print_message("  %-22s gradient off by %.1e of its norm; value by %.2f of its rounding\n", k->name, worst,
                      worst_value);
        if (!(worst <= 1e-10))
            fail_msg("%s: the gradient is off by %.3g of its norm", k->name, worst);
        if (!(worst_value <= 8))
            fail_msg("%s: the value is off by %.3g of what rounding explains", k->name, worst_value);
        free_table(s);
        hg_eval_free(x.eval);
        hg_arena_free(x.a);
    }
}

/* ---- draws -------------------------------------------------------------------------------------------------- */

static void test_draws_have_the_moments_of_their_law(void **state)
{
    enum { N = 20000 };
    static const struct {
        enum fit_law law;
        double mean, arg[2], expected, fourth; /* expected mean; an upper limit of the kurtosis */
    } cases[] = {{FIT_LAW_GAUSSIAN, 2, {0.5}, 2, 3},
                 {FIT_LAW_STUDENT_T, -1, {0.5, 9}, -1, 5},
                 {FIT_LAW_LAPLACE, 3, {0.7}, 3, 6},
                 {FIT_LAW_EXPONENTIAL, 2.5, {0}, 2.5, 9},
                 {FIT_LAW_GAMMA, 2.5, {0.6}, 2.5, 13},
                 {FIT_LAW_GAMMA, 2.5, {40}, 2.5, 3.2},
                 {FIT_LAW_POISSON, 0.3, {0}, 0.3, 6.4},
                 {FIT_LAW_POISSON, 4, {0}, 4, 3.3},
                 {FIT_LAW_POISSON, 37.5, {0}, 37.5, 3.1},
                 {FIT_LAW_POISSON, 1e5, {0}, 1e5, 3.1},
                 {FIT_LAW_NEGATIVE_BINOMIAL, 5, {1.5}, 5, 8},
                 {FIT_LAW_NEGATIVE_BINOMIAL, 50, {400}, 50, 3.2},
                 {FIT_LAW_BINOMIAL, 3, {12}, 3, 3},
                 {FIT_LAW_BINOMIAL, 300, {1000}, 300, 3.1},
                 {FIT_LAW_BINOMIAL, 0.5, {1e6}, 0.5, 5.1}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double sum = 0, square = 0, sd = fit_law_deviation(cases[c].law, cases[c].mean, cases[c].arg);
        for (uint32_t n = 0; n < N; n++) {
            struct fit_rng rng = {.seed = 5, .chain = (uint32_t)c, .iteration = n, .purpose = FIT_RNG_PREDICT};
            double y = fit_law_draw(cases[c].law, cases[c].mean, cases[c].arg, &rng) - cases[c].expected;
            sum += y;
            square += y * y;
        }
        double off = sum / N / (sd / sqrt(N)), wide = (square / N / (sd * sd) - 1) / sqrt((cases[c].fourth - 1) / N);
        if (!(fabs(off) < 5) || !(fabs(wide) < 5))
            fail_msg("law %d, mean %g: mean off by %.2f, variance by %.2f standard errors", (int)cases[c].law,
                     cases[c].mean, off, wide);
    }
    double arg[2] = {0.4, 0};
    size_t below = 0;
    for (uint32_t n = 0; n < N; n++) { /* of the log-normal law the mean is the median */
        struct fit_rng rng = {.seed = 6, .iteration = n, .purpose = FIT_RNG_PREDICT};
        below += fit_law_draw(FIT_LAW_LOG_NORMAL, 3, arg, &rng) < 3;
    }
    assert_true(fabs((double)below - N / 2.0) < 5 * sqrt(N / 4.0));
}

/* ---- posteriors --------------------------------------------------------------------------------------------- */

struct problem {
    const struct fit_kernel *k;
    struct fit_measurement *m;
    struct fit_linkage *link;
    struct fit_result fit;
    struct fit_posterior_param param[MOST_PARAMETERS];
    struct fit_posterior_level level[MOST_PARAMETERS];
    double theta[MOST_PARAMETERS];
    struct fit_samples s;
};

static void must(enum fit_status st, const struct fit_error *err)
{
    if (st != FIT_OK)
        fail_msg("%s", err->message);
}

/* One value of parameters with `over` for each group, as the command makes it (setup_links.c). */
static void link_groups(struct problem *p)
{
    struct fit_error err = {0};
    size_t ng = p->m->dataset->layout.ngroup, n = p->k->nparam, share[MOST_PARAMETERS * 16];
    if (ng < 2)
        return;
    for (size_t k = 0; k < n; k++)
        for (size_t g = 0; g < ng; g++)
            share[k * ng + g] = p->k->param[k].over >= 0 ? g : 0;
    struct fit_linkage_spec spec = {.share = share};
    must(fit_linkage_new(p->k, p->m->dataset, &spec, &p->link, &err), &err);
    p->k = &p->link->kernel;
}

static struct problem *open_problem(const char *name, const char *file)
{
    struct problem *p = calloc(1, sizeof *p);
    struct fit_error err = {0};
    struct fit_options fo;
    unsigned char fixed[MOST_PARAMETERS] = {0};
    char path[1024];
    assert_non_null(p);
    p->k = kernel_named(name);
    snprintf(path, sizeof path, "%s/tests/data/%s", FIT_SOURCE_DIR, file);
    must(fit_table_load(path, NULL, p->k, NULL, &p->m, &err), &err);
    link_groups(p);
    fit_options_default(&fo);
    fo.few_data_allowed = fo.threads = 1;
    for (size_t k = 0; k < p->k->nparam; k++)
        fixed[k] = p->k->level && p->k->level[k].hyper;
    fo.fixed = fixed;
    must(fit_run(p->k, p->m->dataset, &fo, &p->fit, &err), &err);
    assert_true(p->fit.converged);
    for (size_t k = 0; k < p->k->nparam; k++) {
        const struct fit_param *d = &p->k->param[k];
        p->param[k] = (struct fit_posterior_param){d->lower, d->upper, d->prior, d->prior_a, d->prior_b, 0, 0};
        if (p->k->level)
            p->level[k] = (struct fit_posterior_level){{p->k->level[k].from[0], p->k->level[k].from[1]}, 0};
        p->theta[k] = p->fit.theta[k];
    }
    fit_posterior_levels(p->k, p->fit.std, p->param, p->level, p->theta);
    return p;
}

static struct fit_posterior_setup posterior_of(const struct problem *p)
{
    return (struct fit_posterior_setup){.kernel = p->k, .ds = p->m->dataset, .param = p->param, .level = p->level,
                                        .theta = p->theta, .lin = p->fit.lin, .sigma = p->fit.sigma, .count = 1,
                                        .variance = FIT_VARIANCE_KNOWN};
}

static void sample(struct problem *p, enum fit_sampling_method method, size_t draws, int threads)
{
    struct fit_error err = {0};
    struct fit_posterior_setup setup = posterior_of(p);
    struct fit_sampling_options so = {.method = method,
                                      .chains = 4,
                                      .warmup = 500,
                                      .draws = draws,
                                      .target_accept = 0.95,
                                      .seed = 20,
                                      .threads = threads};
    fit_samples_free(&p->s);
    must(fit_sample(&setup, &p->fit, &so, &p->s, &err), &err);
}

static void close_problem(struct problem *p)
{
    fit_samples_free(&p->s);
    fit_result_free(&p->fit);
    fit_linkage_free(p->link);
    fit_measurement_free(p->m);
    free(p);
}

/* Mean of x^power of a column within 4 of its standard errors, the reference's error added. */
static void assert_moment(const struct problem *p, const char *name, int power, double expected, double error)
{
    char own[64];
    size_t column = 0, n = p->s.chains * p->s.draws;
    for (; column < p->s.ncolumn; column++) {
        fit_samples_name(p->k, p->s.ngroup, column, own);
        if (strcmp(own, name) == 0)
            break;
    }
    assert_true(column < p->s.ncolumn);
    double *x = malloc(n * sizeof *x);
    const double *chain[4];
    struct fit_convergence c;
    struct fit_error err = {0};
    assert_non_null(x);
    for (size_t k = 0; k < n; k++)
        x[k] = pow(p->s.x[k * p->s.ncolumn + column], power);
    for (size_t k = 0; k < p->s.chains; k++)
        chain[k] = x + k * p->s.draws;
    struct fit_draws draws = {p->s.chains, p->s.draws, chain, 1};
    must(fit_convergence(&draws, &c, &err), &err);
    double off = (c.mean - expected) / hypot(c.mcse_mean, error);
    print_message("  %s %-12s mean of power %d: %.5g, expected %.5g, off by %.2f\n", p->k->name, name, power, c.mean,
                  expected, off);
    if (!(fabs(off) < 4))
        fail_msg("%s %s: mean of power %d is %.6g, expected %.6g", p->k->name, name, power, c.mean, expected);
    free(x);
}

/* n_i ~ Poisson(rate T_i), rate ~ exponential of scale 4 = gamma of shape 1: the posterior is gamma, shape 1 + sum n,
 * rate 1/4 + sum T. */
static void test_rate_of_counts_is_gamma(void **state)
{
    (void)state;
    struct problem *p = open_problem("law_rate", "laws/law_rate.csv");
    const struct fit_dataset *ds = p->m->dataset;
    double n = 0, T = 0;
    for (size_t r = 0; r < ds->layout.nrow; r++) {
        T += ds->layout.column[0][r];
        n += ds->layout.column[1][r];
    }
    assert_true(fabs(p->fit.theta[0] - n / T) < 1e-9 * n / T); /* maximum likelihood, and its error */
    assert_true(fabs(p->fit.std[0] - sqrt(n) / T) < 1e-7 * sqrt(n) / T);
    double shape = 1 + n, rate = 0.25 + T;
    for (int method = 0; method < 2; method++) {
        sample(p, method ? FIT_SAMPLING_NUTS : FIT_SAMPLING_LAPLACE, method ? 2000 : 8000, 1);
        if (method == 0) { /* weighted draws: their evidence is exact but for the weights */
            double log_n = 0;
            for (size_t r = 0; r < ds->layout.nrow; r++)
                log_n += ds->layout.column[1][r] * log(ds->layout.column[0][r]) - lgamma(ds->layout.column[1][r] + 1);
            double evidence = log_n + log(0.25) + lgamma(shape) - shape * log(rate);
            assert_true(fabs(p->s.log_evidence - evidence) < 0.01);
            continue;
        }
        assert_moment(p, "rate", 1, shape / rate, 0);
        assert_moment(p, "rate", 2, shape * (shape + 1) / (rate * rate), 0);
    }
    close_problem(p);
}

/* The posterior density of the decay on a grid, by the formula. */
static double decay_density(const struct problem *p, double tau, double amplitude, double background)
{
    const struct fit_dataset *ds = p->m->dataset;
    double lp = 0;
    for (size_t r = 0; r < ds->layout.nrow; r++) {
        const double *const *c = ds->layout.column;
        double mean = c[1][r] * (background + amplitude * exp(-c[0][r] / tau));
        lp += c[2][r] * log(mean) - mean - lgamma(c[2][r] + 1);
    }
    double z = log(tau) - 1;
    return lp - 0.5 * z * z - log(tau) - 0.5 * amplitude * amplitude / 4e4 - 0.5 * background * background / 400;
}

static void test_photon_decay_agrees_with_quadrature(void **state)
{
    enum { N = 60 };
    static const char *const name[] = {"tau", "amplitude", "background"};
    (void)state;
    struct problem *p = open_problem("photon_decay", "laws/photon_decay.csv");
    double low[3], step[3], sum = 0, first[3] = {0}, second[3] = {0};
    for (int k = 0; k < 3; k++) {
        low[k] = p->fit.theta[k] - 6 * p->fit.std[k];
        double high = p->fit.theta[k] + 9 * p->fit.std[k];
        low[k] = low[k] > 0 ? low[k] : 0;
        step[k] = (high - low[k]) / N;
    }
    double top = decay_density(p, p->fit.theta[0], p->fit.theta[1], p->fit.theta[2]);
    for (int i = 0; i < N * N * N; i++) {
        double x[3] = {low[0] + step[0] * (i % N + 0.5), low[1] + step[1] * (i / N % N + 0.5),
                       low[2] + step[2] * (i / N / N + 0.5)};
        double w = exp(decay_density(p, x[0], x[1], x[2]) - top);
        sum += w;
        for (int k = 0; k < 3; k++) {
            first[k] += w * x[k];
            second[k] += w * x[k] * x[k];
        }
    }
    sample(p, FIT_SAMPLING_NUTS, 2000, 1);
    assert_int_equal(p->s.verdict, FIT_VERDICT_GOOD);
    for (int k = 0; k < 3; k++) {
        assert_moment(p, name[k], 1, first[k] / sum, 0);
        assert_moment(p, name[k], 2, second[k] / sum, 0);
    }
    close_problem(p);
}

static double number(const struct fit_yaml *node, const char *key)
{
    return strtod(fit_yaml_get(node, key)->text, NULL);
}

static void test_schools_agree_with_posteriordb(void **state)
{
    (void)state;
    struct problem *p = open_problem("law_schools", "posteriordb/eight_schools.csv");
    struct fit_error err = {0};
    struct fit_yaml_doc *all = NULL;
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/data/posteriordb/reference.json", FIT_SOURCE_DIR);
    must(fit_yaml_parse_file(path, &all, &err), &err);
    const struct fit_yaml *reference = fit_yaml_get(fit_yaml_root(all), "eight_schools");
    sample(p, FIT_SAMPLING_NUTS, 2500, 2);
    assert_true(p->s.worst_r_hat < 1.01);
    assert_true(p->s.divergences <= 5);
    for (size_t k = 0; k < reference->n; k++) {
        const struct fit_yaml *r = reference->entry[k].value;
        double draws = sqrt(number(r, "draws"));
        assert_moment(p, reference->entry[k].key, 1, number(r, "mean"), number(r, "sd") / draws);
        assert_moment(p, reference->entry[k].key, 2, number(r, "mean_square"), number(r, "sd_square") / draws);
    }
    fit_yaml_free(all);
    close_problem(p);
}

/* ---- levels ------------------------------------------------------------------------------------------------- */

/* The gradient of the target in its coordinates against central differences, with levels as deviations and as they
 * are. */
static void test_gradient_of_levels(void **state)
{
    (void)state;
    struct problem *p = open_problem("detector_groups", "laws/detector_groups.csv");
    for (int deviation = 0; deviation < 2; deviation++) {
        struct fit_posterior_setup setup = posterior_of(p);
        struct fit_posterior *post;
        struct fit_error err = {0};
        double q[MOST_PARAMETERS], g[MOST_PARAMETERS], lp, up, down, worst = 0, norm = 0;
        for (size_t k = 0; k < p->k->nparam; k++)
            p->level[k].deviation = deviation && (p->level[k].from[0] || p->level[k].from[1]);
        must(fit_posterior_new(&setup, &post, &err), &err);
        fit_posterior_start(post, q);
        for (size_t i = 0; i < post->n; i++)
            q[i] += 0.1 * sin((double)i);
        assert_int_equal(fit_target_eval(&post->target, 0, q, &lp, g), FIT_EVAL_OK);
        for (size_t i = 0; i < post->n; i++) {
            double h = 1e-5, keep = q[i];
            q[i] = keep + h;
            fit_target_eval(&post->target, 0, q, &up, NULL);
            q[i] = keep - h;
            fit_target_eval(&post->target, 0, q, &down, NULL);
            q[i] = keep;
            worst = fmax(worst, fabs((up - down) / (2 * h) - g[i]));
            norm += g[i] * g[i];
        }
        assert_true(worst < 1e-7 * sqrt(norm)); /* differences know no more */
        fit_posterior_free(post);
    }
    close_problem(p);
}

/* The same posterior by both kinds of coordinates. */
static void test_levels_do_not_depend_on_their_coordinates(void **state)
{
    (void)state;
    struct problem *p = open_problem("detector_groups", "laws/detector_groups.csv");
    double mean[3], error[3];
    for (int deviation = 0; deviation < 2; deviation++) {
        for (size_t k = 0; k < p->k->nparam; k++)
            p->level[k].deviation = deviation && (p->level[k].from[0] || p->level[k].from[1]);
        sample(p, FIT_SAMPLING_NUTS, 1500, 2);
        static const char *const name[] = {"mu", "spread", "level[3]"};
        for (int k = 0; k < 3; k++) {
            char own[64];
            size_t c = 0;
            do
                fit_samples_name(p->k, p->s.ngroup, c, own);
            while (strcmp(own, name[k]) != 0 && ++c < p->s.ncolumn);
            if (deviation)
                assert_moment(p, name[k], 1, mean[k], error[k]);
            mean[k] = p->s.column[c].c.mean;
            error[k] = p->s.column[c].c.mcse_mean;
        }
    }
    close_problem(p);
}

/* ---- threads, rows, data that cannot be -------------------------------------------------------------------- */

static void test_bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    struct problem *p = open_problem("detector_groups", "laws/detector_groups.csv");
    sample(p, FIT_SAMPLING_NUTS, 100, 1);
    size_t n = 4 * 100 * p->s.ncolumn;
    double *x = malloc(n * sizeof *x);
    assert_non_null(x);
    memcpy(x, p->s.x, n * sizeof *x);
    sample(p, FIT_SAMPLING_NUTS, 100, 4);
    assert_memory_equal(x, p->s.x, n * sizeof *x);
    free(x);
    close_problem(p);
}

/* Log likelihoods of the rows add up to the log density without priors; predicted counts are possible ones. */
static void test_rows_of_draws(void **state)
{
    (void)state;
    struct problem *p = open_problem("detector_groups", "laws/detector_groups.csv");
    struct fit_predictive out;
    struct fit_error err = {0};
    sample(p, FIT_SAMPLING_NUTS, 200, 1);
    const struct fit_posterior_setup setup = posterior_of(p);
    must(fit_predictive_new(&setup, &p->s, &out, &err), &err);
    assert_int_equal(out.nrow, 48);
    assert_int_equal(out.chains * out.draws, 800);
    assert_true(out.p > 0.02 && out.p < 0.98); /* the data are of this law */
    struct fit_objective_setup os = {.threads = 1};
    struct fit_objective *o;
    must(fit_objective_new(p->k, p->m->dataset, &os, &o, &err), &err);
    for (size_t d = 0; d < 800; d += 100) {
        double sum = 0;
        for (size_t r = 0; r < out.nrow; r++) {
            sum += out.log_likelihood[d * out.nrow + r];
            double y = out.y[d * out.nrow + r];
            assert_true(y >= 0 && y <= 24 && floor(y) >= y);
        }
        assert_int_equal(fit_objective_value(o, p->s.x + d * p->s.ncolumn), FIT_EVAL_OK);
        assert_true(fabs(sum - (o->offset - o->cost)) < 1e-11 * fabs(sum));
    }
    fit_objective_free(o);
    fit_predictive_free(&out);
    close_problem(p);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void assert_refused(const char *name, const char *text, const char *message)
{
    char path[] = "/tmp/test_laws_XXXXXX.csv";
    struct fit_measurement *m = NULL;
    struct fit_error err = {0};
    int file = mkstemps(path, 4);
    assert_true(file >= 0);
    fclose(fdopen(file, "w"));
    write_file(path, text);
    assert_int_equal(fit_table_load(path, NULL, kernel_named(name), NULL, &m, &err), FIT_ERR_DATA);
    remove(path);
    if (!strstr(err.message, message))
        fail_msg("said: %s", err.message);
}

static void test_impossible_values_are_told_with_their_row(void **state)
{
    (void)state;
    assert_refused("photon_decay", "t,width,n\n1,1,3\n2,1,2.5\n3,1,1\n",
                   "row 2: n = 2.5 is not a count: 0, 1, 2, ...; the errors of the model photon_decay are poisson");
    assert_refused("photon_decay", "t,width,n\n1,1,3\n2,1,2\n3,1,-1\n", "row 3: n = -1 is not a count");
    assert_refused("law_gamma", "x,y\n0.1,1\n0.2,0\n", "row 2: y = 0 is not positive");
    assert_refused("law_exponential", "x,y\n0.1,1\n0.2,-0.5\n", "row 2: y = -0.5 is negative");
    assert_refused("law_binomial", "x,y,N\n0.1,1,5\n0.2,6,5\n", "row 2: y = 6 is more than the number of trials");
    assert_refused("detector_groups", "detector,E,trials,k\n2,5,9,3\n1,5,9,3\n2,5,9,10\n",
                   "row 3: k = 10 is more than the number of trials");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_densities_are_normalised),
        cmocka_unit_test(test_gradients_agree_with_extended_precision),
        cmocka_unit_test(test_draws_have_the_moments_of_their_law),
        cmocka_unit_test(test_rate_of_counts_is_gamma),
        cmocka_unit_test(test_photon_decay_agrees_with_quadrature),
        cmocka_unit_test(test_schools_agree_with_posteriordb),
        cmocka_unit_test(test_gradient_of_levels),
        cmocka_unit_test(test_levels_do_not_depend_on_their_coordinates),
        cmocka_unit_test(test_bits_do_not_depend_on_threads),
        cmocka_unit_test(test_rows_of_draws),
        cmocka_unit_test(test_impossible_values_are_told_with_their_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
