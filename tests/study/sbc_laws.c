/* sbc_laws.c -- simulation-based calibration (sbc.c, Talts et al. 2018) of models with other noise distributions:
 * Poisson counts (photon_decay), and a level of a hierarchy with binomial counts (detector_groups).
 *
 * Usage: sbc_laws decay|levels [EXPERIMENTS [SEED]]      100 experiments
 *        exit status 1 when a quantity is not uniform
 *
 * Priors are those of the models, levels drawn from theirs.  Each experiment takes one chain of 99 draws, thinned by 6,
 * after a warm-up of 300.
 */
#include "data/dataset.h"
#include "model/law.h"
#include "model/linkage.h"
#include "sbc_ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct fit_kernel fit_kernel_laws_photon_decay, fit_kernel_laws_detector_groups;

enum { MOST = 24, MOST_ROWS = 64, MOST_COLUMNS = 4, GROUPS = 6 };

struct study {
    const char *name;
    const struct fit_kernel *k;
    size_t nrow;
    void (*row)(size_t r, double *axis, double *covariate);
};

/* 20 bins of 1 ns. */
static void decay_row(size_t r, double *axis, double *covariate)
{
    (void)axis;
    covariate[0] = 0.5 + (double)r;
    covariate[1] = 1;
}

/* Four energies for each of the detectors, 10 trials. */
static void detector_row(size_t r, double *axis, double *covariate)
{
    *axis = (double)(r / 4 + 1);
    covariate[0] = 6 + 1.5 * (double)(r % 4);
    covariate[1] = 10;
}

static const struct study studies[] = {
    {"decay", &fit_kernel_laws_photon_decay, 20, decay_row},
    {"levels", &fit_kernel_laws_detector_groups, 4 * GROUPS, detector_row},
};

struct experiment {
    const struct study *study;
    const struct fit_kernel *k; /* linked when there are groups */
    struct fit_linkage *link;
    struct fit_dataset *ds;
    uint64_t seed;
    double axis[MOST_ROWS], column[MOST_COLUMNS][MOST_ROWS], theta[MOST];
    struct fit_posterior_param param[MOST];
    struct fit_posterior_level level[MOST];
};

static size_t value_column(const struct fit_kernel *k)
{
    size_t c = 0;
    while (k->column[c].role != FIT_ROLE_VALUE)
        c++;
    return c;
}

/* ---- one experiment ------------------------------------------------------------------------------------ */

/* The dataset from the columns as they are, and for groups the kernel with values for each. */
static void make_data(struct experiment *x)
{
    const struct fit_kernel *k = x->study->k;
    const double *column[MOST_COLUMNS], *axis = x->axis;
    size_t share[MOST * GROUPS];
    struct fit_error err = {0};
    for (size_t c = 0; c < k->ncolumn; c++)
        column[c] = x->column[c];
    const struct fit_dataset_table t = {.nrow = x->study->nrow,
                                        .ncolumn = k->ncolumn,
                                        .naxis = k->naxis,
                                        .column = column,
                                        .axis = &axis,
                                        .value = x->column[value_column(k)]};
    if (fit_dataset_new_table(&t, &x->ds, &err) != FIT_OK || fit_dataset_finish(x->ds, &err) != FIT_OK)
        sbc_stop("data", &err);
    x->k = k;
    for (size_t p = 0; p < k->nparam; p++)
        for (size_t g = 0; g < x->ds->layout.ngroup; g++)
            share[p * x->ds->layout.ngroup + g] = k->param[p].over >= 0 ? g : 0;
    if (!k->naxis)
        return;
    if (fit_linkage_new(k, x->ds, &(struct fit_linkage_spec){.share = share}, &x->link, &err) != FIT_OK)
        sbc_stop("groups", &err);
    x->k = &x->link->kernel;
}

static void free_data(struct experiment *x)
{
    fit_linkage_free(x->link);
    fit_dataset_free(x->ds);
    x->link = NULL;
}

static void draw_truth(struct experiment *x, struct fit_rng *rng)
{
    for (size_t p = 0; p < x->k->nparam; p++) {
        const struct fit_param *d = &x->k->param[p];
        struct fit_prior prior;
        unsigned from[2] = {x->k->level ? x->k->level[p].from[0] : 0, x->k->level ? x->k->level[p].from[1] : 0};
        double a = from[0] ? x->theta[from[0] - 1] : d->prior_a, b = from[1] ? x->theta[from[1] - 1] : d->prior_b;
        if (!fit_prior_init(&prior, d->prior, a, b, d->lower, d->upper))
            exit(1);
        x->theta[p] = fit_prior_quantile(&prior, fit_rng_next_uniform(rng));
        x->param[p] = (struct fit_posterior_param){d->lower, d->upper, d->prior, d->prior_a, d->prior_b, 0, 0};
        x->level[p] = (struct fit_posterior_level){{from[0], from[1]}, from[0] || from[1]};
    }
}

/* Values from the law at the true parameters. */
static void draw_values(struct experiment *x, struct fit_rng *rng)
{
    const struct fit_kernel *k = x->k;
    const struct fit_layout *l = &x->ds->layout;
    double *ws = aligned_alloc(64, (k->workspace(l) / 8 + 1) * 64);
    _Alignas(64) double mean[MOST_ROWS], argument[8 * MOST_ROWS];
    if (!ws || k->prepare(l, x->theta, 0, ws) != FIT_EVAL_OK)
        exit(1);
    for (size_t n = 0; n < x->ds->ntile; n++) {
        const struct fit_tile *t = &x->ds->tile[n];
        size_t length = (t->i1 - t->i0 + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
        k->model(l, ws, NULL, t, mean);
        k->density->arguments(l, ws, t, argument);
        for (size_t i = 0; i < t->i1 - t->i0; i++) {
            double arg[2] = {argument[i], argument[length + i]};
            size_t row = x->ds->row ? x->ds->row[t->i0 + i] : t->i0 + i;
            x->column[value_column(x->study->k)][row] = fit_law_draw(k->density->law, mean[i], arg, rng);
        }
    }
    free(ws);
}

/* Adds the ranks of one experiment; the last is that of the log density.  Returns 0 when the chain had divergences
 * (counted, not dropped). */
static int run(struct experiment *x, size_t number, struct sbc_quantity *quantity)
{
    struct fit_rng rng = {.seed = x->seed, .chain = (uint32_t)number, .purpose = FIT_RNG_START};
    struct fit_error err = {0};
    struct fit_samples s;
    double one[GROUPS] = {1, 1, 1, 1, 1, 1}, none = 0;
    for (size_t r = 0; r < x->study->nrow; r++) {
        double covariate[MOST_COLUMNS] = {0};
        x->study->row(r, &x->axis[r], covariate);
        for (size_t c = 0, n = 0; c < x->study->k->ncolumn; c++)
            x->column[c][r] = x->study->k->column[c].role == FIT_ROLE_VALUE ? 1 : covariate[n++];
    }
    make_data(x);
    draw_truth(x, &rng);
    draw_values(x, &rng);
    free_data(x);
    make_data(x);
    struct fit_posterior_setup setup = {.kernel = x->k,
                                        .ds = x->ds,
                                        .param = x->param,
                                        .level = x->level,
                                        .theta = x->theta,
                                        .lin = &none,
                                        .sigma = one,
                                        .count = 1,
                                        .chains = 1,
                                        .threads = 1,
                                        .variance = FIT_VARIANCE_KNOWN};
    struct fit_sampling_options opt = {.method = FIT_SAMPLING_NUTS, .chains = 1, .warmup = 300,
                                       .draws = (SBC_RANKS - 1) * SBC_THIN, .target_accept = 0.95,
                                       .seed = x->seed + 1000 + number, .threads = 1};
    double lp = sbc_true_density(&setup);
    if (fit_sample(&setup, NULL, &opt, &s, &err) != FIT_OK)
        sbc_stop("sampling", &err);
    sbc_rank(&s, x->theta, s.nparam, lp, quantity);
    int clean = !(s.divergences > 0);
    fit_samples_free(&s);
    return clean;
}

int main(int argc, char **argv)
{
    static struct sbc_quantity quantity[MOST + 1];
    size_t experiments = argc > 2 ? (size_t)atol(argv[2]) : 100, clean = 0, n = 0;
    struct experiment x = {.seed = argc > 3 ? (uint64_t)atoll(argv[3]) : 7};
    for (size_t k = 0; argc > 1 && k < sizeof studies / sizeof *studies; k++)
        if (strcmp(studies[k].name, argv[1]) == 0)
            x.study = &studies[k];
    if (!x.study) {
        fprintf(stderr, "usage: sbc_laws decay|levels [EXPERIMENTS [SEED]]\n");
        return 3;
    }
    for (size_t e = 0; e < experiments; e++) {
        clean += run(&x, e, quantity) ? 1 : 0;
        n = x.k->nparam;
        for (size_t c = 0; c < n; c++)
            snprintf(quantity[c].name, sizeof quantity[c].name, "%s", x.k->param[c].name);
        free_data(&x);
    }
    printf("%s: %zu experiments, %zu with divergences, seed %llu\n", x.study->name, experiments, experiments - clean,
           (unsigned long long)x.seed);
    snprintf(quantity[n].name, sizeof quantity[n].name, "log density");
    return sbc_report(quantity, n + 1, experiments) != 0;
}
