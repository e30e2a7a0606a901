/* coverage.c -- do intervals cover?  Many experiments with known parameters are simulated and fitted; how often does
 * the interval hold the true one?
 *
 * Usage: coverage MODEL NOISE [EXPERIMENTS [SEED [posterior]]]      static, laminar, heterodyne;  white or speckle; 200
 *        exit status 1 when a coverage is not what it should be:
 *          white    usual intervals: 68 % and 95 % within 3 standard deviations of their own scatter, by the mean over
 *                   parameters of each noise level
 *          speckle  usual intervals below 90 % at 95 %, robust ones 90 .. 98 %, with 1.5 standard deviations for
 *                   scatter; and at 68 % the same in widths, 59.6 .. 76.2 %: errors 0.84 .. 1.19 times the right ones
 *          both     an interval is missing for more than one in twenty (a parameter on its bound)
 *
 * Intervals are value +- z std of least squares, with std (usual) and std_robust (robust).  posterior: between
 * quantiles of the draws x (usual) and x_robust (robust) of the Laplace method, or of NUTS where its weights fail; the
 * priors of the nonlinear parameters are flat, so that the data alone decide.
 */
#include "diagnostics.h"
#include "fit.h"
#include "posterior.h"
#include "rng.h"
#include "sampling.h"
#include "speckle.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 32, MOST_GROUP = 3, LEVELS = 2, MOST_PARTS = 2 };

struct study {
    const char *model;
    size_t ngroup, ntime;
    double sigma[LEVELS], speckles[LEVELS];
    double theta[16];
    unsigned char fixed[16];
};

static const struct study studies[] = {
    {"static_isotropic", 1, 160, {0.005, 0.03}, {1000, 4000}, {100000, -0.3, 2000}, {0, 0, 1}},
    {"laminar", 3, 120, {0.005, 0.02}, {1000, 4000}, {100000, -0.3, 2000, 0.01, -0.2, 0.001, -3},
     {0, 0, 1, 0, 0, 1, 0}},
    {"heterodyne", 3, 100, {0.003, 0.01}, {1000, 4000},
     {10000, 0, 0, 30000, 0, 0, 1000, 0, 0, 0.3, 0, 0, 0.2, 2}, {0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1}},
};
static const double phi[MOST_GROUP] = {-4, 20, 75};
static const double CONTRAST = 0.3, OFFSET = 1, DT = 0.1, Q = 0.0054;
static const double PI = 3.14159265358979323846;

struct tally {
    size_t n, none, usual68, usual95, robust68, robust95; /* none: no error was given, so none can be wrong */
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
    int speckle, level, posterior;
    uint64_t seed;
    double lin[MOST], *clean; /* ngroup x ntime x ntime */
    double upper[MOST];       /* nparam: bounds of scales reach 100 times higher: a true value stands on one */
    size_t nparts;            /* components of the light; heterodyne: 2 */
    double *part;             /* nparts x ngroup x ntime x ntime: their |g1|^2 */
    double *amplitude;        /* nparts x ntime */
    double *phase;            /* ngroup x ntime: of the last component */
    size_t nuts, failed;      /* experiments whose weights failed, and their chains, too */
};

static struct fit_dataset *geometry(const struct experiment *x)
{
    return e2e_dataset(x->k, &(struct e2e_grid){.ntime = x->study->ntime, .dt = DT, .q = Q, .gap = 2e6,
                                                .nphi = x->study->ngroup, .phi = phi});
}

/* The model's means at theta: ngroup x ntime x ntime, upper halves without diagonal. */
static double *means(const struct experiment *x, const double *theta)
{
    size_t n = x->study->ntime;
    struct fit_dataset *ds = geometry(x);
    struct e2e_prepared p = e2e_prepare(x->k, &ds->layout, theta);
    double *mean = e2e_doubles(x->study->ngroup * n * n);
    for (uint32_t g = 0; g < x->study->ngroup; g++)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = i + 1; j < n; j++)
                x->k->points(&ds->layout, p.ws, x->lin, 1, &i, &j, &g, &mean[(g * n + i) * n + j], NULL);
    e2e_release(&p);
    fit_dataset_free(ds);
    return mean;
}

static void clean_data(struct experiment *x)
{
    for (size_t e = 0; e < x->study->ngroup * x->k->nlinear; e++)
        x->lin[e] = (int)(e % x->k->nlinear) == x->k->intercept ? OFFSET : CONTRAST;
    x->clean = means(x, x->study->theta);
}

/* ---- speckles ------------------------------------------------------------------------------------------ */

static size_t place(const struct fit_kernel *k, const char *name)
{
    for (size_t c = 0; c < k->nparam; c++)
        if (strcmp(k->param[c].name, name) == 0)
            return c;
    fprintf(stderr, "coverage: no parameter %s\n", name);
    exit(1);
}

static const double *curve(const struct fit_kernel *k, const double *value, size_t n, const char *name)
{
    for (size_t c = 0; c < k->ncurve; c++)
        if (strcmp(k->curve[c].name, name) == 0)
            return value + c * n;
    fprintf(stderr, "coverage: no curve %s\n", name);
    exit(1);
}

/* Into |g1|^2, diagonal included. */
static void without_linear(size_t matrices, size_t n, double *c2)
{
    for (size_t m = 0; m < matrices; m++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = i; j < n; j++)
                c2[(m * n + i) * n + j] = i == j ? 1 : (c2[(m * n + i) * n + j] - OFFSET) / CONTRAST;
}

/* The fields of the heterodyne model,
 *     E = (r E_R + f e^(i p) E_S) / sqrt(r^2 + f^2),   p(t) = q cos(phi + phi0) integral of v up to t,
 * have |g1|^2 = |r1 r2 R + f1 f2 S e^(i psi)|^2 / (n1 n2), the model's.  R^2 and S^2 are its means where the fraction f
 * is 0 and 1 throughout; f and v are its curves. */
static void two_components(struct experiment *x)
{
    size_t n = x->study->ntime, ng = x->study->ngroup, f0 = place(x->k, "f0"), f3 = place(x->k, "f3");
    double theta[16], *value = e2e_doubles(x->k->ncurve * n), sum = 0;
    struct fit_dataset *ds = geometry(x);
    x->nparts = 2;
    x->part = e2e_doubles(2 * ng * n * n);
    x->amplitude = e2e_doubles(2 * n);
    x->phase = e2e_doubles(ng * n);
    for (size_t c = 0; c < 2; c++) {
        memcpy(theta, x->study->theta, sizeof theta);
        theta[f0] = 0;
        theta[f3] = c ? 3 : -2; /* far enough from 1 and 0 for the model's smooth limits */
        double *mean = means(x, theta);
        without_linear(ng, n, mean);
        memcpy(x->part + c * ng * n * n, mean, ng * n * n * sizeof *mean);
        free(mean);
    }
    x->k->curves(&ds->layout, x->study->theta, value, NULL);
    const double *f = curve(x->k, value, n, "fraction"), *v = curve(x->k, value, n, "v");
    for (size_t i = 0; i < n; i++) {
        double r = 1 - f[i], norm = sqrt(r * r + f[i] * f[i]);
        sum += i ? 0.5 * DT * (v[i - 1] + v[i]) : 0;
        x->amplitude[i] = r / norm;
        x->amplitude[n + i] = f[i] / norm;
        for (size_t g = 0; g < ng; g++)
            x->phase[g * n + i] = Q * cos((phi[g] + x->study->theta[place(x->k, "phi0_het")]) * PI / 180) * sum;
    }
    free(value);
    fit_dataset_free(ds);
}

/* |g1|^2 of the components together. */
static double together(const struct experiment *x, size_t g, size_t i, size_t j)
{
    size_t n = x->study->ntime, ng = x->study->ngroup;
    double re = 0, im = 0;
    for (size_t c = 0; c < x->nparts; c++) {
        const double *a = x->amplitude + c * n, *p = x->phase + g * n;
        double size = a[i] * a[j] * sqrt(x->part[((c * ng + g) * n + i) * n + j]);
        double angle = c + 1 == x->nparts ? p[i] - p[j] : 0;
        re += size * cos(angle);
        im += size * sin(angle);
    }
    return re * re + im * im;
}

/* The components of the light, and whether they make the model: else intervals would be judged by data that are not
 * its own. */
static void components(struct experiment *x)
{
    size_t n = x->study->ntime;
    if (strcmp(x->study->model, "heterodyne") != 0) {
        x->nparts = 1;
        x->part = e2e_doubles(x->study->ngroup * n * n);
        memcpy(x->part, x->clean, x->study->ngroup * n * n * sizeof *x->part);
        without_linear(x->study->ngroup, n, x->part);
        return;
    }
    two_components(x);
    for (size_t g = 0; g < x->study->ngroup; g++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n; j++) {
                double model = (x->clean[(g * n + i) * n + j] - OFFSET) / CONTRAST, off = together(x, g, i, j) - model;
                if (!(fabs(off) < 1e-9)) {
                    fprintf(stderr, "coverage: two components are not the model: off by %g\n", off);
                    exit(1);
                }
            }
}

static void speckles(const struct experiment *x, uint64_t seed, uint64_t g, double *matrix)
{
    size_t n = x->study->ntime;
    double change;
    struct fit_error err = {0};
    struct fit_speckle_part part[MOST_PARTS];
    for (size_t c = 0; c < x->nparts; c++)
        part[c] = (struct fit_speckle_part){
            .square = x->part + (c * x->study->ngroup + g) * n * n,
            .amplitude = x->amplitude ? x->amplitude + c * n : NULL,
            .phase = x->phase && c + 1 == x->nparts ? x->phase + g * n : NULL,
        };
    if (fit_speckle_parts(n, x->nparts, part, (size_t)x->study->speckles[x->level], seed, g, matrix, &change, &err) !=
        FIT_OK)
        stop("speckles", &err);
    if (change > 1e-3) {
        fprintf(stderr, "coverage: |g1| is no correlation function: changed by %g\n", change);
        exit(1);
    }
    for (size_t k = 0; k < n * n; k++)
        matrix[k] = OFFSET + CONTRAST * matrix[k];
}

/* ---- intervals ----------------------------------------------------------------------------------------- */

static struct fit_dataset *simulate(const struct experiment *x, uint64_t number)
{
    size_t n = x->study->ntime;
    uint64_t seed = x->seed + 1000003 * number;
    struct fit_error err = {0};
    struct fit_dataset *ds = geometry(x);
    double *matrix = e2e_doubles(n * n), z[2];
    for (size_t g = 0; g < x->study->ngroup; g++) {
        if (x->speckle)
            speckles(x, seed, g, matrix);
        else
            memcpy(matrix, x->clean + g * n * n, n * n * sizeof *matrix);
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

/* Of one parameter: 68 % and 95 %. */
struct interval {
    double lower68, upper68, lower95, upper95;
};

static struct interval normal(double value, double std)
{
    double z68 = 0.99446 * std, z95 = 1.95996 * std;
    return (struct interval){value - z68, value + z68, value - z95, value + z95};
}

static size_t holds(double truth, double lower, double upper)
{
    return lower < truth && truth < upper ? 1 : 0;
}

static void count(struct tally *t, double truth, struct interval usual, struct interval robust)
{
    t->n += 1;
    t->usual68 += holds(truth, usual.lower68, usual.upper68);
    t->usual95 += holds(truth, usual.lower95, usual.upper95);
    t->robust68 += holds(truth, robust.lower68, robust.upper68);
    t->robust95 += holds(truth, robust.lower95, robust.upper95);
    t->wider += log((robust.upper95 - robust.lower95) / (usual.upper95 - usual.lower95));
}

static struct interval quantiles(const struct fit_samples *s, const double *x, size_t column)
{
    static const double part[4] = {0.16, 0.84, 0.025, 0.975};
    double q[4];
    const double *chain = x + column;
    struct fit_error err = {0};
    struct fit_draws draws = {1, s->chains * s->draws, &chain, s->ncolumn};
    for (size_t k = 0; k < 4; k++)
        if (fit_quantile(&draws, part[k], &q[k], NULL, NULL, &err) != FIT_OK)
            stop("quantiles", &err);
    return (struct interval){q[0], q[1], q[2], q[3]};
}

/* Flat between the bounds.  Contrast and offset: normal, wide, and integrated out. */
static void set_params(const struct experiment *x, struct fit_posterior_param *param)
{
    const struct fit_kernel *k = x->k;
    for (size_t c = 0; c < k->nparam; c++)
        param[c] = (struct fit_posterior_param){
            .lower = k->param[c].lower,
            .upper = x->upper[c],
            .prior = FIT_PRIOR_NONE,
            .fixed = x->study->fixed[c],
            .value = x->study->theta[c],
        };
    for (size_t q = 0; q < k->nlinear; q++)
        param[k->nparam + q] = (struct fit_posterior_param){NAN, NAN, FIT_PRIOR_NORMAL, k->linear[q].prior_a,
                                                            k->linear[q].prior_b, 0, 0};
}

static void sample(struct experiment *x, const struct fit_dataset *ds, const struct fit_result *fit, uint64_t number,
                   struct fit_samples *s)
{
    struct fit_posterior_param param[MOST];
    struct fit_error err = {0};
    set_params(x, param);
    struct fit_posterior_setup setup = {.kernel = x->k, .ds = ds, .param = param, .theta = fit->theta, .lin = fit->lin,
                                        .sigma = fit->sigma, .a0 = 2, .count = 1, .chains = 1, .threads = 1,
                                        .variance = FIT_VARIANCE_UNIT};
    struct fit_sampling_options o = {.method = FIT_SAMPLING_LAPLACE, .draws = 1000, .seed = x->seed + number,
                                     .threads = 1};
    if (fit_sample(&setup, fit, &o, s, &err) != FIT_OK)
        stop("sampling", &err);
    if (s->verdict == FIT_VERDICT_FAILED) {
        fit_samples_free(s);
        x->nuts++;
        o.method = FIT_SAMPLING_NUTS;
        o.chains = 2;
        o.draws = 500;
        if (fit_sample(&setup, fit, &o, s, &err) != FIT_OK)
            stop("sampling", &err);
        x->failed += s->verdict == FIT_VERDICT_FAILED; /* counted, not dropped */
    }
    if (!s->x_robust) {
        fprintf(stderr, "coverage: experiment %zu: no draws for correlated noise\n", (size_t)number);
        exit(1);
    }
}

static void count_posterior(struct experiment *x, const struct fit_dataset *ds, const struct fit_result *fit,
                            uint64_t number, struct tally *tally)
{
    struct fit_samples s;
    sample(x, ds, fit, number, &s);
    size_t np = s.nparam;
    for (size_t c = 0; c < np + s.ngroup * s.nlinear; c++) {
        if (s.column[c].constant)
            continue;
        struct tally *t = &tally[c < np ? c : np + (c - np) % s.nlinear];
        if (s.column[c].sd_robust > 0)
            count(t, c < np ? x->study->theta[c] : x->lin[c - np], quantiles(&s, s.x, c), quantiles(&s, s.x_robust, c));
        else
            t->none++;
    }
    fit_samples_free(&s);
}

static void run(struct experiment *x, uint64_t number, struct tally *tally)
{
    struct fit_dataset *ds = simulate(x, number);
    struct fit_options o;
    struct fit_result r;
    struct fit_error err = {0};
    fit_options_default(&o);
    o.start = x->study->theta;
    o.fixed = x->study->fixed;
    o.upper = x->upper;
    o.start_only = 1;
    o.threads = 1;
    if (fit_run(x->k, ds, &o, &r, &err) != FIT_OK)
        stop("fit", &err);
    size_t np = r.nparam;
    if (x->posterior)
        count_posterior(x, ds, &r, number, tally);
    for (size_t k = 0; k < r.nfull && !x->posterior; k++) {
        struct tally *t = &tally[k < np ? k : np + (k - np) % r.nlinear];
        double value = k < np ? r.theta[k] : r.lin[k - np], truth = k < np ? x->study->theta[k] : x->lin[k - np];
        if (r.std[k] > 0)
            count(t, truth, normal(value, r.std[k]), normal(value, r.std_robust[k]));
        else
            t->none += isnan(r.std[k]) ? 1 : 0;
    }
    fit_result_free(&r);
    fit_dataset_free(ds);
}

/* ---- the verdict --------------------------------------------------------------------------------------- */

static void add(struct tally *to, const struct tally *t)
{
    to->n += t->n;
    to->none += t->none;
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
    printf("  %-20s usual %5.1f %5.1f   robust %5.1f %5.1f   robust / usual %.2f", name, part(t->usual68, t),
           part(t->usual95, t), part(t->robust68, t), part(t->robust95, t), exp(t->wider / (double)t->n));
    if (t->none)
        printf("   none given: %zu", t->none);
    printf("\n");
}

/* Parameters of one experiment are correlated: as if there were only one of each experiment. */
static int judge(const struct experiment *x, const struct tally *all, size_t experiments)
{
    double n = (double)experiments, room68 = 3 * 100 * sqrt(0.68 * 0.32 / n), room95 = 3 * 100 * sqrt(0.95 * 0.05 / n);
    if (20 * all->none > all->n) /* so that no coverage comes from leaving out */
        return 0;
    double u68 = part(all->usual68, all), u95 = part(all->usual95, all);
    double r68 = part(all->robust68, all), r95 = part(all->robust95, all);
    if (!x->speckle)
        return fabs(u68 - 68) < room68 && fabs(u95 - 95) < room95;
    return u95 < 90 && u68 < 59.6 && r95 > 90 - room95 / 2 && r95 < 98 + room95 / 2 && r68 > 59.6 - room68 / 2 &&
           r68 < 76.2 + room68 / 2;
}

static const char *name_of(const struct fit_kernel *k, size_t e)
{
    return e < k->nparam ? k->param[e].name : k->linear[e - k->nparam].name;
}

/* 0: coverages are not as they should be. */
static int at_level(struct experiment *x, size_t experiments)
{
    struct tally tally[MOST] = {{0}}, all = {0};
    const struct study *s = x->study;
    x->nuts = x->failed = 0;
    for (size_t e = 0; e < experiments; e++)
        run(x, e, tally);
    printf("%s, %zu angles, %zu frames, %s %g, %zu experiments, %s; covered at 68 %% and 95 %%:\n", s->model, s->ngroup,
           s->ntime, x->speckle ? "speckles" : "noise", x->speckle ? s->speckles[x->level] : s->sigma[x->level],
           experiments, x->posterior ? "posterior" : "least squares");
    for (size_t k = 0; k < x->k->nparam + x->k->nlinear; k++) {
        if (tally[k].n)
            print(name_of(x->k, k), &tally[k]);
        add(&all, &tally[k]);
    }
    print("all", &all);
    if (x->nuts)
        printf("  chains for %zu whose weights failed; %zu of these failed, too\n", x->nuts, x->failed);
    int good = judge(x, &all, experiments);
    printf("  %s\n", good ? "as it should be" : "NOT AS IT SHOULD BE");
    return good;
}

int main(int argc, char **argv)
{
    size_t experiments = argc > 3 ? (size_t)atol(argv[3]) : 200, bad = 0;
    struct experiment x = {.seed = argc > 4 ? (uint64_t)atoll(argv[4]) : 11};
    for (size_t k = 0; argc > 2 && k < sizeof studies / sizeof *studies; k++)
        if (strncmp(studies[k].model, argv[1], strlen(argv[1])) == 0)
            x.study = &studies[k];
    x.speckle = argc > 2 && strcmp(argv[2], "speckle") == 0;
    x.posterior = argc > 5 && strcmp(argv[5], "posterior") == 0;
    if (!x.study || experiments == 0) {
        fprintf(stderr, "usage: coverage static|laminar|heterodyne white|speckle [EXPERIMENTS [SEED [posterior]]]\n");
        return 3;
    }
    x.k = e2e_kernel(x.study->model, "fast", NULL);
    if (!x.k)
        return 1;
    for (size_t c = 0; c < x.k->nparam; c++)
        x.upper[c] = x.k->param[c].lower > 0 ? 100 * x.k->param[c].upper : x.k->param[c].upper;
    clean_data(&x);
    components(&x);
    for (x.level = 0; x.level < LEVELS; x.level++)
        bad += !at_level(&x, experiments);
    free(x.phase);
    free(x.amplitude);
    free(x.part);
    free(x.clean);
    return bad ? 1 : 0;
}
