/* test_posteriordb.c -- posteriors with known moments: eight problems of posteriordb, sampled by NUTS through the
 * functions that the command `fit --method nuts` calls.
 *
 * References: 10,000 draws of Stan for each parameter (tests/data/posteriordb, from posteriordb).  Means and
 * second moments of all parameters agree within 4 Monte Carlo standard errors, ours and the reference's together;
 * R-hat < 1.01; no divergences.  One comparison of 80 beyond 4 of these errors is a chance of 0.5 %; the seed is
 * fixed.
 *
 * Of hudson_lynx_hare-lotka_volterra, a differential equation, the parameters have the names of the model: theta[1..4]
 * are a, b, c, d, z_init[1..2] u0, v0, sigma[1..2] su, sv; and there are fewer draws of ours.
 *
 * Usage: test_posteriordb            assert all this
 *        test_posteriordb --table    what was reached, and effective draws per gradient beside those of other samplers
 *                                    (peers.json, from tests/peers/posteriordb_peers.py)
 */
#include "fit/fit.h"
#include "sampler/diagnostics.h"
#include "leastsquares/fit_types.h"
#include "input/measurement.h"
#include "sampling/sampling.h"
#include "input/table.h"
#include "files/yaml_tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern const struct fit_kernel *const posteriordb_kernels[]; /* made by the build; ended by NULL */

static const double ALLOWED = 4; /* standard errors */

struct problem {
    const struct fit_kernel *k;
    struct fit_measurement *m;
    struct fit_result fit;
    struct fit_samples s;
};

static void stop(const char *who, const struct fit_error *err)
{
    printf("%s: %s\n", who, err->message);
    exit(1);
}

/* ---- sampling ------------------------------------------------------------------------------------------ */

static void sample(struct problem *p, size_t warmup, size_t draws, double accept)
{
    struct fit_error err = {0};
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/data/posteriordb/%s.csv", FIT_SOURCE_DIR, p->k->name);
    if (fit_table_load(path, NULL, p->k, NULL, &p->m, &err) != FIT_OK)
        stop(p->k->name, &err);
    struct fit_options fo;
    fit_options_default(&fo);
    fo.few_data_allowed = 1;
    fo.threads = 1;
    if (fit_run(p->k, p->m->dataset, &fo, &p->fit, &err) != FIT_OK)
        stop(p->k->name, &err);
    size_t n = p->k->nparam + p->k->nlinear;
    struct fit_posterior_param *param = calloc(n, sizeof *param);
    for (size_t k = 0; param && k < n; k++) {
        const struct fit_param *d = k < p->k->nparam ? &p->k->param[k] : &p->k->linear[k - p->k->nparam];
        param[k] = (struct fit_posterior_param){d->lower, d->upper, d->prior, d->prior_a, d->prior_b, 0, 0};
    }
    struct fit_posterior_setup setup = {
        .kernel = p->k, .ds = p->m->dataset, .param = param, .theta = p->fit.theta, .lin = p->fit.lin,
        .sigma = p->fit.sigma, .count = 1,
        .variance = p->m->dataset->weighted || p->k->density ? FIT_VARIANCE_KNOWN : FIT_VARIANCE_GIVEN,
        .noise = {0, INFINITY, p->k->noise_prior, p->k->noise_a, p->k->noise_b, 0, 0}};
    struct fit_sampling_options so = {.method = FIT_SAMPLING_NUTS, .chains = 4, .warmup = warmup, .draws = draws,
                                      .target_accept = accept, .seed = 20, .threads = 2};
    if (fit_sample(&setup, &p->fit, &so, &p->s, &err) != FIT_OK)
        stop(p->k->name, &err);
    free(param);
}

static void release(struct problem *p)
{
    fit_samples_free(&p->s);
    fit_result_free(&p->fit);
    fit_measurement_free(p->m);
}

/* ---- comparison ---------------------------------------------------------------------------------------- */

static long column_named(const struct problem *p, const char *name)
{
    char own[64];
    for (size_t k = 0; k < p->s.ncolumn; k++) {
        fit_samples_name(p->k, p->s.ngroup, k, own);
        if (strcmp(own, name) == 0)
            return (long)k;
    }
    return -1;
}

/* Values of the reference's parameter: "beta[2]" is our beta2; "theta[j]" of the schools is mu + tau theta_trans. */
static double *values(const struct problem *p, const char *name)
{
    size_t n = p->s.chains * p->s.draws, index = 0;
    double *x = malloc(n * sizeof *x);
    char own[64];
    long a = column_named(p, name), mu = -1, tau = -1;
    if (sscanf(name, "beta[%zu]", &index) == 1) {
        snprintf(own, sizeof own, "beta%zu", index);
        a = column_named(p, own);
    } else if (sscanf(name, "theta[%zu]", &index) == 1) {
        snprintf(own, sizeof own, "theta_trans[%zu]", index - 1);
        a = column_named(p, own);
        mu = column_named(p, "mu");
        tau = column_named(p, "tau");
    }
    if (!x || a < 0) {
        printf("%s: the model has no %s\n", p->k->name, name);
        exit(1);
    }
    for (size_t k = 0; k < n; k++) {
        const double *row = p->s.x + k * p->s.ncolumn;
        x[k] = mu < 0 ? row[a] : row[mu] + row[tau] * row[a];
    }
    return x;
}

static double number(const struct fit_yaml *node, const char *key)
{
    return strtod(fit_yaml_get(node, key)->text, NULL);
}

/* Distance of the mean of x from the reference, in standard errors of both. */
static double distance(const struct problem *p, const double *x, double mean, double sd, double draws, double *ess)
{
    const double *chain[8];
    struct fit_convergence c;
    struct fit_error err = {0};
    for (size_t k = 0; k < p->s.chains; k++)
        chain[k] = x + k * p->s.draws;
    if (fit_convergence(&(struct fit_draws){p->s.chains, p->s.draws, chain, 1}, &c, &err) != FIT_OK)
        stop(p->k->name, &err);
    *ess = fmin(c.ess_bulk, c.ess_tail);
    return (c.mean - mean) / sqrt(c.mcse_mean * c.mcse_mean + sd * sd / draws);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns the number of failures.  took: of fit and draws. */
static int compare(const struct problem *p, const struct fit_yaml *reference, int table, double took)
{
    int bad = 0;
    double worst = 0, least = INFINITY;
    for (size_t k = 0; k < reference->n; k++) {
        const char *name = reference->entry[k].key;
        const struct fit_yaml *r = reference->entry[k].value;
        double *x = values(p, name), ess, first, second, draws = number(r, "draws");
        size_t n = p->s.chains * p->s.draws;
        first = distance(p, x, number(r, "mean"), number(r, "sd"), draws, &ess);
        least = fmin(least, ess);
        for (size_t i = 0; i < n; i++)
            x[i] *= x[i];
        second = distance(p, x, number(r, "mean_square"), number(r, "sd_square"), draws, &ess);
        worst = fmax(worst, fmax(fabs(first), fabs(second)));
        if (!(fabs(first) < ALLOWED) || !(fabs(second) < ALLOWED)) {
            printf("%s: %s: the mean is %.2f, the mean square %.2f standard errors off\n", p->k->name, name, first,
                   second);
            bad++;
        }
        free(x);
    }
    if (!(p->s.worst_r_hat < 1.01)) {
        printf("%s: R-hat %.4f\n", p->k->name, p->s.worst_r_hat);
        bad++;
    }
    if (p->s.divergences > 0) {
        printf("%s: %.0f divergences\n", p->k->name, p->s.divergences);
        bad++;
    }
    if (table)
        printf("%-20s %2zu parameters, worst moment %4.1f standard errors, R-hat %.4f, least ESS %6.0f, %.3f ESS per "
               "gradient, %.0f per second\n",
               p->k->name, reference->n, worst, p->s.worst_r_hat, least, least / p->s.gradients, least / took);
    return bad;
}

/* ---- other samplers ------------------------------------------------------------------------------------- */

/* Least bulk effective size of the reference's parameters. */
static double least_bulk(const struct problem *p, const struct fit_yaml *reference)
{
    double least = INFINITY;
    for (size_t k = 0; k < reference->n; k++) {
        double *x = values(p, reference->entry[k].key);
        const double *chain[8];
        struct fit_convergence c;
        struct fit_error err = {0};
        for (size_t n = 0; n < p->s.chains; n++)
            chain[n] = x + n * p->s.draws;
        if (fit_convergence(&(struct fit_draws){p->s.chains, p->s.draws, chain, 1}, &c, &err) != FIT_OK)
            stop(p->k->name, &err);
        least = fmin(least, c.ess_bulk);
        free(x);
    }
    return least;
}

/* Samples again as the peers were run, 1000 + 1000 with the defaults, and prints one line. */
static void beside_peers(struct problem *p, const struct fit_yaml *reference, const struct fit_yaml *peers)
{
    double gradients = 0;
    sample(p, 1000, 1000, 0);
    for (size_t k = 0; k < p->s.chains * p->s.draws; k++)
        gradients += p->s.stats[k].n_gradient;
    double least = least_bulk(p, reference);
    printf("    4 x (1000 + 1000): ESS %6.0f, %7.0f gradients, %.4f per gradient", least, gradients, least / gradients);
    const struct fit_yaml *theirs = fit_yaml_get(peers, p->k->name);
    for (size_t k = 0; theirs && k < theirs->n; k++) {
        const struct fit_yaml *t = theirs->entry[k].value;
        printf("; %s %.4f", theirs->entry[k].key, number(t, "ess") / number(t, "gradients"));
    }
    printf("\n");
    release(p);
}

int main(int argc, char **argv)
{
    int table = argc > 1 && strcmp(argv[1], "--table") == 0, bad = 0;
    struct fit_error err = {0};
    struct fit_yaml_doc *doc = NULL, *peers = NULL;
    if (fit_yaml_parse_file(FIT_SOURCE_DIR "/tests/data/posteriordb/reference.json", &doc, &err) != FIT_OK)
        stop("reference", &err);
    if (table && fit_yaml_parse_file(FIT_SOURCE_DIR "/tests/data/posteriordb/peers.json", &peers, &err) != FIT_OK)
        stop("peers", &err);
    for (size_t k = 0; posteriordb_kernels[k]; k++) {
        struct problem p = {.k = posteriordb_kernels[k]};
        const int solved = strcmp(p.k->name, "lotka_volterra") == 0; /* each value is a solution of its equations */
        const double began = seconds();
        sample(&p, solved ? 300 : 500, solved ? 750 : 4000, solved ? 0.9 : 0.95);
        bad += compare(&p, fit_yaml_get(fit_yaml_root(doc), p.k->name), table, seconds() - began);
        release(&p);
        if (table)
            beside_peers(&p, fit_yaml_get(fit_yaml_root(doc), p.k->name),
                         fit_yaml_get(fit_yaml_root(peers), "problems"));
    }
    fit_yaml_free(peers);
    fit_yaml_free(doc);
    if (!bad)
        printf("eight problems: all moments within %.0f standard errors of the references\n", ALLOWED);
    return bad ? 1 : 0;
}
