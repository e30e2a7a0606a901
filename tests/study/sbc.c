/* sbc.c -- simulation-based calibration of the sampler (Talts et al. 2018, arXiv:1804.06788).
 *
 * Parameters are drawn from their priors and data from the model; then the posterior of these data is sampled.
 * When prior, likelihood, coordinates, integrals and sampler are all right, the rank of a true value among its
 * draws is uniform; one more is that of the log density.  sbc_ranks.c tells how that is judged.
 *
 * Usage: sbc MODEL [EXPERIMENTS [SEED]]      static, laminar, heterodyne, kww; 100 experiments
 *        exit status 1 when a quantity is not uniform
 *
 *        sbc MODEL EXPERIMENTS SEED consensus [SHARDS]    the draws of the consensus mode before their correction
 *        exit status 1 when a quantity is not uniform with 1 shard, or all are with more (8): the bias of order
 *        sqrt(shards / points of a shard) that theory tells of is then not there, and the study worth nothing
 *
 *        sbc MODEL EXPERIMENTS SEED corrected [SHARDS]    the same after their correction; exit status 1 when a
 * quantity is not uniform
 *
 * Each experiment takes one chain of 99 draws, thinned by 6, after a warm-up of 300.
 */
#include "sbc_ranks.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = SBC_MOST, MOST_GROUP = 3 };

struct prior_of {
    const char *name;
    enum fit_prior_kind kind;
    double a, b, lower, upper;
};

struct study {
    const char *model;
    size_t ngroup, ntime, nrow;
    double noise;
    const struct prior_of *prior; /* by name; the others: fixed at `a` */
    size_t nprior;
};

/* Priors with fixed constants, informative enough that data sets look like data sets.  Of heterodyne all 14 parameters
 * are free, f1 is as often above 0 as below, and only the prior tells f0 from f2. */
static const struct prior_of priors_static[] = {
    {"D0", FIT_PRIOR_LOG_NORMAL, 7.5, 0.5, 100, 1e5},
    {"alpha", FIT_PRIOR_TRUNCATED_NORMAL, 0, 0.3, -2, 2},
    {"D_offset", FIT_PRIOR_TRUNCATED_NORMAL, 200, 100, 0, 1e4},
    {"contrast", FIT_PRIOR_NORMAL, 0.3, 0.05, NAN, NAN},
    {"offset", FIT_PRIOR_NORMAL, 1, 0.02, NAN, NAN},
};
static const struct prior_of priors_laminar[] = {
    {"D0", FIT_PRIOR_LOG_NORMAL, 7.5, 0.5, 100, 1e5},
    {"alpha", FIT_PRIOR_TRUNCATED_NORMAL, 0, 0.3, -2, 2},
    {"D_offset", FIT_PRIOR_TRUNCATED_NORMAL, 200, 100, 0, 1e4},
    {"gamma_dot_t0", FIT_PRIOR_LOG_NORMAL, -5, 0.4, 1e-5, 1},
    {"beta", FIT_PRIOR_TRUNCATED_NORMAL, 0, 0.3, -2, 2},
    {"gamma_dot_t_offset", FIT_PRIOR_TRUNCATED_NORMAL, 0.001, 0.0005, 0, 0.1},
    {"phi0", FIT_PRIOR_BETA_SCALED, 2, 2, -10, 10},
    {"contrast", FIT_PRIOR_NORMAL, 0.3, 0.05, NAN, NAN},
    {"offset", FIT_PRIOR_NORMAL, 1, 0.02, NAN, NAN},
};
static const struct prior_of priors_heterodyne[] = {
    {"D0_ref", FIT_PRIOR_LOG_NORMAL, 8, 0.4, 1, 1e6},
    {"alpha_ref", FIT_PRIOR_TRUNCATED_NORMAL, 0, 0.3, -5, 5},
    {"D_offset_ref", FIT_PRIOR_TRUNCATED_NORMAL, 200, 100, 0, 1e4},
    {"D0_sample", FIT_PRIOR_LOG_NORMAL, 9, 0.4, 1, 1e6},
    {"alpha_sample", FIT_PRIOR_TRUNCATED_NORMAL, 0, 0.3, -5, 5},
    {"D_offset_sample", FIT_PRIOR_TRUNCATED_NORMAL, 200, 100, 0, 1e4},
    {"v0", FIT_PRIOR_LOG_NORMAL, 6, 0.3, 1e-3, 1e6},
    {"v_beta", FIT_PRIOR_TRUNCATED_NORMAL, 0, 0.3, -2, 2},
    {"v_offset", FIT_PRIOR_TRUNCATED_NORMAL, 50, 30, 0, 1e3},
    {"f0", FIT_PRIOR_TRUNCATED_NORMAL, 0.3, 0.1, 0, 1},
    {"f1", FIT_PRIOR_TRUNCATED_NORMAL, 0, 0.2, -10, 10},
    {"f2", FIT_PRIOR_TRUNCATED_NORMAL, 0, 2, -20, 20},
    {"f3", FIT_PRIOR_TRUNCATED_NORMAL, 0.2, 0.05, -1, 1},
    {"phi0_het", FIT_PRIOR_TRUNCATED_NORMAL, 0, 3, -10, 10},
    {"contrast", FIT_PRIOR_NORMAL, 0.3, 0.05, NAN, NAN},
    {"offset", FIT_PRIOR_NORMAL, 1, 0.02, NAN, NAN},
};
static const struct prior_of priors_kww[] = {
    {"tau", FIT_PRIOR_LOG_NORMAL, 0, 0.7, 1e-3, 1e3},
    {"beta", FIT_PRIOR_TRUNCATED_NORMAL, 1, 0.3, 0.1, 2},
    {"contrast", FIT_PRIOR_NORMAL, 0.2, 0.05, NAN, NAN},
    {"baseline", FIT_PRIOR_NORMAL, 1, 0.02, NAN, NAN},
};
#define COUNT(list) list, sizeof list / sizeof *list
static const struct study studies[] = {
    {"static_isotropic", 1, 20, 0, 0.03, COUNT(priors_static)},
    {"laminar", 3, 20, 0, 0.03, COUNT(priors_laminar)},
    {"heterodyne", 3, 20, 0, 0.03, COUNT(priors_heterodyne)},
    {"kww", 1, 0, 40, 0.02, COUNT(priors_kww)},
};

struct experiment {
    const struct study *study;
    const struct fit_kernel *k;
    uint64_t seed;
    struct fit_posterior_param param[MOST];
    double theta[MOST], lin[MOST], sigma[MOST_GROUP], s0[MOST_GROUP];
    struct fit_dataset *ds;
    size_t shards; /* 0: NUTS with all data */
    int corrected; /* the consensus with its importance weights */
};

static const double A0 = 10; /* of the prior of the variance */

/* ---- one experiment ------------------------------------------------------------------------------------ */

static const struct prior_of *prior_named(const struct study *s, const char *name)
{
    for (size_t k = 0; k < s->nprior; k++)
        if (strcmp(s->prior[k].name, name) == 0)
            return &s->prior[k];
    fprintf(stderr, "sbc: no prior for %s\n", name);
    exit(1);
}

static void set_params(struct experiment *x)
{
    for (size_t n = 0; n < x->k->nparam + x->k->nlinear; n++) {
        const struct fit_param *d = n < x->k->nparam ? &x->k->param[n] : &x->k->linear[n - x->k->nparam];
        const struct prior_of *p = prior_named(x->study, d->name);
        int fixed = p->kind == FIT_PRIOR_NONE;
        x->param[n] = (struct fit_posterior_param){p->lower, p->upper, p->kind, p->a, p->b, fixed, p->a};
    }
}

/* True values from the priors: theta; sigma^2 inverse gamma; linear parameters given sigma. */
static void draw_truth(struct experiment *x, struct fit_rng *rng)
{
    struct fit_prior prior;
    size_t np = x->k->nparam, nl = x->k->nlinear;
    for (size_t k = 0; k < np; k++) {
        const struct fit_posterior_param *p = &x->param[k];
        x->theta[k] = p->value;
        if (p->fixed)
            continue;
        if (!fit_prior_init(&prior, p->prior, p->a, p->b, p->lower, p->upper))
            exit(1);
        x->theta[k] = fit_prior_quantile(&prior, fit_rng_next_uniform(rng));
    }
    for (size_t g = 0; g < x->study->ngroup; g++) {
        double z[MOST], b0 = 0.5 * A0 * x->study->noise * x->study->noise;
        x->s0[g] = x->study->noise;
        x->sigma[g] = sqrt(b0 / fit_rng_next_gamma(rng, A0));
        fit_rng_next_normals(rng, nl, z);
        for (size_t q = 0; q < nl; q++)
            x->lin[g * nl + q] = x->param[np + q].a + x->param[np + q].b * x->sigma[g] / x->s0[g] * z[q];
    }
}

static void simulate_pairs(struct experiment *x, struct fit_rng *rng)
{
    static const double phi[MOST_GROUP] = {-4, 20, 75};
    size_t nt = x->study->ntime;
    struct fit_error err = {0};
    x->ds = e2e_dataset(x->k, &(struct e2e_grid){.ntime = nt, .dt = 0.1, .q = 0.0054, .gap = 2e6,
                                                 .nphi = x->study->ngroup, .phi = phi});
    struct e2e_prepared p = e2e_prepare(x->k, &x->ds->layout, x->theta);
    double *matrix = e2e_doubles(nt * nt);
    for (uint32_t g = 0; g < x->study->ngroup; g++) {
        for (uint32_t i = 0; i < nt; i++)
            for (uint32_t j = i + 1; j < nt; j++) {
                double z;
                x->k->points(&x->ds->layout, p.ws, x->lin, &(struct fit_points){1, &i, &j, &g}, &matrix[i * nt + j],
                             NULL);
                fit_rng_next_normals(rng, 1, &z);
                matrix[i * nt + j] += x->sigma[g] * z;
            }
        if (fit_dataset_put(x->ds, g, matrix, NULL, &err) != FIT_OK)
            sbc_stop("data", &err);
    }
    if (fit_dataset_finish(x->ds, &err) != FIT_OK)
        sbc_stop("data", &err);
    free(matrix);
    e2e_release(&p);
}

static struct fit_dataset *rows(const double *column, const double *y, size_t n)
{
    struct fit_dataset *ds;
    struct fit_error err = {0};
    if (fit_dataset_new_table(
            &(struct fit_dataset_table){.nrow = n, .ncolumn = 1, .column = &column, .value = y, .center = 1}, &ds,
            &err) != FIT_OK ||
        fit_dataset_finish(ds, &err) != FIT_OK)
        sbc_stop("data", &err);
    return ds;
}

static void simulate_rows(struct experiment *x, struct fit_rng *rng)
{
    size_t n = x->study->nrow;
    double *column = e2e_doubles(n), *y = e2e_doubles(n), z;
    for (size_t r = 0; r < n; r++)
        column[r] = 0.01 * pow(1e4, (double)r / (double)n);
    struct fit_dataset *empty = rows(column, y, n);
    struct e2e_prepared p = e2e_prepare(x->k, &empty->layout, x->theta);
    for (uint32_t r = 0; r < n; r++) {
        uint32_t zero = 0;
        x->k->points(&empty->layout, p.ws, x->lin, &(struct fit_points){1, &r, &zero, &zero}, &y[r], NULL);
        fit_rng_next_normals(rng, 1, &z);
        y[r] += x->sigma[0] * z;
    }
    e2e_release(&p);
    fit_dataset_free(empty);
    x->ds = rows(column, y, n);
    free(column);
    free(y);
}

/* Adds the ranks of one experiment: of theta, lin, sigma, density.  Returns 0 when the chain had divergences (counted,
 * not dropped). */
static int run(struct experiment *x, size_t number, struct sbc_quantity *quantity)
{
    struct fit_rng rng = {.seed = x->seed, .chain = (uint32_t)number, .purpose = FIT_RNG_START};
    struct fit_error err = {0};
    struct fit_samples s;
    draw_truth(x, &rng);
    if (x->study->nrow)
        simulate_rows(x, &rng);
    else
        simulate_pairs(x, &rng);
    struct fit_posterior_setup setup = {.kernel = x->k,
                                        .ds = x->ds,
                                        .param = x->param,
                                        .theta = x->theta,
                                        .lin = x->lin,
                                        .sigma = x->s0,
                                        .a0 = A0,
                                        .count = 1,
                                        .chains = 1,
                                        .threads = 1,
                                        .variance = FIT_VARIANCE_UNIT};
    struct fit_sampling_options opt = {.method = FIT_SAMPLING_NUTS, .chains = 1, .warmup = 300,
                                       .draws = (SBC_RANKS - 1) * SBC_THIN, .target_accept = 0.9,
                                       .seed = x->seed + 1000 + number, .threads = 1};
    if (x->shards) {
        opt.method = FIT_SAMPLING_CONSENSUS;
        opt.uncorrected = !x->corrected;
        opt.consensus = (struct fit_consensus_options){.shards = x->shards, .chains = 2, .warmup = 300,
                                                       .draws = 2000, .target_accept = 0.9, .max_r_hat = 1.2,
                                                       .min_ess = 30, .max_divergence_rate = 0.2};
    }
    double lp = sbc_true_density(&setup);
    if (fit_sample(&setup, NULL, &opt, &s, &err) != FIT_OK)
        sbc_stop("sampling", &err);
    double truth[MOST];
    size_t np = s.nparam, nl = s.ngroup * s.nlinear;
    memcpy(truth, x->theta, np * sizeof *truth);
    memcpy(truth + np, x->lin, nl * sizeof *truth);
    memcpy(truth + np + nl, x->sigma, s.ngroup * sizeof *truth);
    sbc_rank(&s, truth, s.ncolumn, lp, quantity);
    int clean = !(s.divergences > 0) && s.verdict != FIT_VERDICT_FAILED;
    fit_samples_free(&s);
    fit_dataset_free(x->ds);
    return clean;
}

int main(int argc, char **argv)
{
    static struct sbc_quantity quantity[MOST + 1];
    size_t experiments = argc > 2 ? (size_t)atol(argv[2]) : 100, clean = 0;
    struct experiment x = {.seed = argc > 3 ? (uint64_t)atoll(argv[3]) : 7};
    for (size_t k = 0; argc > 1 && k < sizeof studies / sizeof *studies; k++)
        if (strncmp(studies[k].model, argv[1], strlen(argv[1])) == 0)
            x.study = &studies[k];
    if (!x.study) {
        fprintf(stderr,
                "usage: sbc static|laminar|heterodyne|kww [EXPERIMENTS [SEED [consensus|corrected [SHARDS]]]]\n");
        return 3;
    }
    x.corrected = argc > 4 && strcmp(argv[4], "corrected") == 0;
    if (argc > 4 && (x.corrected || strcmp(argv[4], "consensus") == 0))
        x.shards = argc > 5 ? (size_t)atol(argv[5]) : 8;
    x.k = e2e_kernel(x.study->model, "fast", NULL);
    if (!x.k)
        return 1;
    set_params(&x);
    size_t n = x.k->nparam + x.study->ngroup * (x.k->nlinear + 1);
    for (size_t c = 0; c < n; c++)
        if (c >= x.k->nparam || !x.param[c].fixed)
            fit_samples_name(x.k, x.study->ngroup, c, quantity[c].name);
    snprintf(quantity[n].name, sizeof quantity[n].name, "log density");
    for (size_t e = 0; e < experiments; e++)
        clean += run(&x, e, quantity) ? 1 : 0;
    printf("%s: %zu experiments, %zu with divergences or weights that failed, seed %llu\n", x.study->model, experiments,
           experiments - clean, (unsigned long long)x.seed);
    size_t bad = sbc_report(quantity, n + 1, experiments);
    int shows = x.shards > 1 && !x.corrected;
    if (shows)
        printf("  consensus of %zu shards: %s\n", x.shards, bad ? "biased, as it must be" : "NO BIAS FOUND");
    return shows ? !bad : bad != 0;
}
