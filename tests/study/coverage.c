/* coverage.c -- do intervals cover?  Many experiments with known parameters are simulated and fitted; how often does
 * value +- z std hold the true one?
 *
 * Usage: coverage MODEL NOISE [EXPERIMENTS [SEED]]      static, laminar, heterodyne;  white or speckle; 200
 *        exit status 1 when a coverage is not what it should be:
 *          white    usual errors: 68 % and 95 % within 3 standard deviations of their own scatter, by the mean over
 *                   parameters of each noise level
 *          speckle  usual errors below 90 % at 95 %; robust errors 90 .. 98 %, with as much room for scatter
 */
#include "fit.h"
#include "rng.h"
#include "speckle.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 32, MOST_GROUP = 3, LEVELS = 2 };

struct study {
    const char *model;
    size_t ngroup, ntime;
    double sigma[LEVELS], speckles[LEVELS];
    double theta[16];
    unsigned char fixed[16];
};

static const struct study studies[] = {
    {"static_isotropic", 1, 160, {0.005, 0.03}, {1000, 4000}, {100000, -0.3, 2000}, {0, 0, 1}},
    {"laminar", 3, 120, {0.005, 0.02}, {1000, 4000}, {100000, -0.3, 2000, 0.01, -0.2, 0.001, -3}, {0, 0, 1, 0, 0, 1, 0}},
    {"heterodyne", 3, 100, {0.003, 0.01}, {0, 0},
     {10000, 0, 0, 30000, 0, 0, 1000, 0, 0, 0.3, 0, 0, 0.2, 2}, {0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1}},
};
static const double phi[MOST_GROUP] = {-4, 20, 75};
static const double CONTRAST = 0.3, OFFSET = 1;

struct tally {
    size_t n, usual68, usual95, robust68, robust95;
    double wider;
};

static void stop(const char *what, const struct fit_error *err)
{
    fprintf(stderr, "coverage: %s: %s\n", what, err->message);
    exit(1);
}

/* ---- one experiment ------------------------------------------------------------------------------------ */

struct experiment {
    const struct study *study;
    const struct fit_kernel *k;
    int speckle, level;
    uint64_t seed;
    double lin[MOST], *clean; /* ngroup x ntime x ntime */
};

static struct fit_dataset *geometry(const struct experiment *x)
{
    return e2e_dataset(x->k, &(struct e2e_grid){.ntime = x->study->ntime, .dt = 0.1, .q = 0.0054, .gap = 2e6,
                                                .nphi = x->study->ngroup, .phi = phi});
}

static void clean_data(struct experiment *x)
{
    size_t n = x->study->ntime;
    struct fit_dataset *ds = geometry(x);
    struct e2e_prepared p = e2e_prepare(x->k, &ds->layout, x->study->theta);
    for (size_t e = 0; e < x->study->ngroup * x->k->nlinear; e++)
        x->lin[e] = (int)(e % x->k->nlinear) == x->k->intercept ? OFFSET : CONTRAST;
    x->clean = e2e_doubles(x->study->ngroup * n * n);
    for (uint32_t g = 0; g < x->study->ngroup; g++)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = i + 1; j < n; j++)
                x->k->points(&ds->layout, p.ws, x->lin, 1, &i, &j, &g, &x->clean[(g * n + i) * n + j], NULL);
    e2e_release(&p);
    fit_dataset_free(ds);
}

static void speckles(const struct experiment *x, uint64_t seed, uint64_t g, double *matrix)
{
    size_t n = x->study->ntime;
    double change;
    struct fit_error err = {0};
    for (size_t k = 0; k < n * n; k++)
        matrix[k] = (matrix[k] - OFFSET) / CONTRAST;
    if (fit_speckle(n, (size_t)x->study->speckles[x->level], seed, g, matrix, &change, &err) != FIT_OK)
        stop("speckles", &err);
    if (change > 1e-3) {
        fprintf(stderr, "coverage: |g1| is no correlation function: changed by %g\n", change);
        exit(1);
    }
    for (size_t k = 0; k < n * n; k++)
        matrix[k] = OFFSET + CONTRAST * matrix[k];
}

static struct fit_dataset *simulate(const struct experiment *x, uint64_t number)
{
    size_t n = x->study->ntime;
    uint64_t seed = x->seed + 1000003 * number;
    struct fit_error err = {0};
    struct fit_dataset *ds = geometry(x);
    double *matrix = e2e_doubles(n * n), z[2];
    for (size_t g = 0; g < x->study->ngroup; g++) {
        memcpy(matrix, x->clean + g * n * n, n * n * sizeof *matrix);
        if (x->speckle)
            speckles(x, seed, g, matrix);
        for (size_t k = 0; k < n * n && !x->speckle; k++) {
            if (k % 2 == 0)
                fit_rng_normal(seed, g, k / 2, z);
            matrix[k] += x->study->sigma[x->level] * z[k % 2];
        }
        if (fit_dataset_put(ds, g, matrix, NULL, &err) != FIT_OK)
            stop("data", &err);
    }
    if (fit_dataset_finish(ds, &err) != FIT_OK)
        stop("data", &err);
    free(matrix);
    return ds;
}

static void count(struct tally *t, double value, double truth, double usual, double robust)
{
    double off = fabs(value - truth);
    t->n += 1;
    t->usual68 += off < 0.99446 * usual; /* 68 % and 95 % of a normal distribution */
    t->usual95 += off < 1.95996 * usual;
    t->robust68 += off < 0.99446 * robust;
    t->robust95 += off < 1.95996 * robust;
    t->wider += log(robust / usual);
}

static void run(const struct experiment *x, uint64_t number, struct tally *tally)
{
    struct fit_dataset *ds = simulate(x, number);
    struct fit_options o;
    struct fit_result r;
    struct fit_error err = {0};
    fit_options_default(&o);
    o.start = x->study->theta;
    o.fixed = x->study->fixed;
    o.start_only = 1;
    o.threads = 1;
    if (fit_run(x->k, ds, &o, &r, &err) != FIT_OK)
        stop("fit", &err);
    size_t np = r.nparam;
    for (size_t k = 0; k < r.nfull; k++)
        if (r.std[k] > 0) /* NaN: no error is given, so none can be wrong */
            count(&tally[k < np ? k : np + (k - np) % r.nlinear], k < np ? r.theta[k] : r.lin[k - np],
                  k < np ? x->study->theta[k] : x->lin[k - np], r.std[k], r.std_robust[k]);
    fit_result_free(&r);
    fit_dataset_free(ds);
}

/* ---- the verdict --------------------------------------------------------------------------------------- */

static void add(struct tally *to, const struct tally *t)
{
    to->n += t->n;
    to->usual68 += t->usual68;
    to->usual95 += t->usual95;
    to->robust68 += t->robust68;
    to->robust95 += t->robust95;
    to->wider += t->wider;
}

static double part(size_t a, const struct tally *t)
{
    return 100 * (double)a / (double)t->n;
}

static void print(const char *name, const struct tally *t)
{
    printf("  %-20s usual %5.1f %5.1f   robust %5.1f %5.1f   robust / usual %.2f\n", name, part(t->usual68, t),
           part(t->usual95, t), part(t->robust68, t), part(t->robust95, t), exp(t->wider / (double)t->n));
}

/* Parameters of one experiment are correlated: as if there were only one of each experiment. */
static int judge(const struct experiment *x, const struct tally *all, size_t experiments)
{
    double n = (double)experiments, room68 = 3 * 100 * sqrt(0.68 * 0.32 / n), room95 = 3 * 100 * sqrt(0.95 * 0.05 / n);
    double u68 = part(all->usual68, all), u95 = part(all->usual95, all), r95 = part(all->robust95, all);
    if (!x->speckle)
        return fabs(u68 - 68) < room68 && fabs(u95 - 95) < room95;
    return u95 < 90 && r95 > 90 - room95 / 2 && r95 < 98 + room95 / 2;
}

static const char *name_of(const struct fit_kernel *k, size_t e)
{
    return e < k->nparam ? k->param[e].name : k->linear[e - k->nparam].name;
}

int main(int argc, char **argv)
{
    size_t experiments = argc > 3 ? (size_t)atol(argv[3]) : 200, bad = 0;
    struct experiment x = {.seed = argc > 4 ? (uint64_t)atoll(argv[4]) : 11};
    for (size_t k = 0; argc > 2 && k < sizeof studies / sizeof *studies; k++)
        if (strncmp(studies[k].model, argv[1], strlen(argv[1])) == 0)
            x.study = &studies[k];
    x.speckle = argc > 2 && strcmp(argv[2], "speckle") == 0;
    if (!x.study || experiments == 0 || (x.speckle && !(x.study->speckles[0] > 0))) {
        fprintf(stderr, "usage: coverage static|laminar|heterodyne white|speckle [EXPERIMENTS [SEED]]\n"
                        "  speckle: not heterodyne, whose g1 has a phase\n");
        return 3;
    }
    x.k = e2e_kernel(x.study->model, "fast", NULL);
    if (!x.k)
        return 1;
    clean_data(&x);
    for (x.level = 0; x.level < LEVELS; x.level++) {
        struct tally tally[MOST] = {{0}}, all = {0};
        for (size_t e = 0; e < experiments; e++)
            run(&x, e, tally);
        printf("%s, %zu angles, %zu frames, %s %g, %zu experiments; covered at 68 %% and 95 %%:\n", x.study->model,
               x.study->ngroup, x.study->ntime, x.speckle ? "speckles" : "noise",
               x.speckle ? x.study->speckles[x.level] : x.study->sigma[x.level], experiments);
        for (size_t k = 0; k < x.k->nparam + x.k->nlinear; k++) {
            if (tally[k].n)
                print(name_of(x.k, k), &tally[k]);
            add(&all, &tally[k]);
        }
        print("all", &all);
        int good = judge(&x, &all, experiments);
        bad += !good;
        printf("  %s\n", good ? "as it should be" : "NOT AS IT SHOULD BE");
    }
    free(x.clean);
    return bad ? 1 : 0;
}
