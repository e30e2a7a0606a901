/* coverage.c -- do intervals cover?  Many experiments with known parameters are simulated and fitted; how often does
 * the interval hold the true one?
 *
 * Usage: coverage MODEL NOISE [EXPERIMENTS [SEED [posterior|drawn]]]      static, laminar, heterodyne;  white or
 *                                                                         speckle; 200
 *        exit status 1 when a coverage is not what it should be:
 *          white    usual intervals: what is expected within 3 standard deviations of their own scatter, by the mean
 *                   over parameters of each noise level
 *          speckle  usual intervals below 90 % at 95 %, robust ones 90 .. 98 %, with 1.5 standard deviations for
 *                   scatter; and at 68 % the same in widths, 59.6 .. 76.2 %: errors 0.84 .. 1.19 times the right ones
 *          both     an interval is missing for more than one in twenty (a parameter on its bound, other minima)
 *
 * Intervals are value +- z std of least squares, with std (usual) and std_robust (robust), or where std is withheld
 * those of the profile: 68 % and 95 % are expected.
 *
 * posterior: between quantiles of the draws x (usual) and x_robust (robust) of the Laplace method, or of NUTS where its
 * weights fail; flat priors of the nonlinear parameters, the model's own (0.5 +- 0.25) of the contrast.  Such an
 * interval holds 95 % of the true values that come from the prior, not 95 % of the experiments at one true value: there
 * prior and curvature move it off the least-squares value.  What is expected for white noise is the part of the
 * least-squares errors that it spans,
 *     P((upper - value) / std) - P((lower - value) / std)     (P: standard normal; mean over the experiments),
 * shift is the mean of (median - value) / sd.  Laminar, noise 0.02, is the case to see it: contrast and shear rate can
 * hardly be told apart at 120 frames, a contrast of 0.3 has an error of 0.05 .. 0.09, half of the shift comes from its
 * prior (with sd 25 instead of 0.25 phi0 is covered 62 and 91 %), the rest from flat priors being many large
 * contrasts and rates.  Over 2000 experiments phi0 is covered 58.5 and 89.9 % where 60.7 and 90.2 are expected (shift
 * -0.53), and by least squares 68.1 and 94.9 %.  The draws are right: tests/e2e/test_grid.c sums the same posterior on
 * a grid.
 *
 * drawn: the same for true values drawn from normal priors around those of the study, with which the posterior is
 * computed, too.  Now 68 % and 95 % are expected, exactly.
 */
#include "errors/profile.h"
#include "fit/fit.h"
#include "sampler/diagnostics.h"
#include "leastsquares/fit_types.h"
#include "posterior/posterior.h"
#include "math/rng.h"
#include "sampling/sampling.h"
#include "commands/speckle.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 32, MOST_GROUP = 3, LEVELS = 2, MOST_PARTS = 2 };

struct study {
    const char *name, *model;
    size_t ngroup, ntime;
    double sigma[LEVELS], speckles[LEVELS];
    double theta[16];
    unsigned char fixed[16];
    double width[16]; /* of the priors that true values are drawn from */
};

static const struct study studies[] = {
    {"static", "static_isotropic", 1, 160, {0.005, 0.03}, {1000, 4000}, {100000, -0.3, 2000}, {0, 0, 1}, {20000, 0.1}},
    /* the measurement lasts for one to two correlation times */
    {"slow", "static_isotropic", 1, 160, {0.005, 0.03}, {3000, 4000}, {5000, -0.3, 0}, {0, 0, 1}, {1000, 0.1}},
    {"laminar", "laminar", 3, 120, {0.005, 0.02}, {1000, 4000}, {100000, -0.3, 2000, 0.01, -0.2, 0.001, -3},
     {0, 0, 1, 0, 0, 1, 0}, {20000, 0.1, 0, 0.001, 0.05, 0, 2}},
    {"heterodyne", "heterodyne", 3, 100, {0.003, 0.01}, {1000, 4000},
     {10000, 0, 0, 30000, 0, 0, 1000, 0, 0, 0.3, 0, 0, 0.2, 2}, {0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1},
     {1000, 0, 0, 3000, 0, 0, 50, 0, 0, 0, 0, 0, 0.02, 0}},
};
static const double phi[MOST_GROUP] = {-4, 20, 75};
static const double CONTRAST = 0.3, OFFSET = 1, DT = 0.1, Q = 0.0054;
static const double CONTRAST_WIDTH = 0.06, OFFSET_WIDTH = 0.02;
static const double PI = 3.14159265358979323846;

struct tally {
    size_t n, none, usual68, usual95, robust68, robust95; /* none: no error was given, so none can be wrong */
    double wider;
    double expected68, expected95, shift; /* sums over experiments */
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
    int speckle, level, posterior, drawn;
    uint64_t seed;
    double theta[16], lin[MOST], *clean; /* true values; ngroup x ntime x ntime */
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
                x->k->points(&ds->layout, p.ws, x->lin, &(struct fit_points){1, &i, &j, &g},
                             &mean[(g * n + i) * n + j], NULL);
    e2e_release(&p);
    fit_dataset_free(ds);
    return mean;
}

static int is_offset(const struct experiment *x, size_t e)
{
    return (int)(e % x->k->nlinear) == x->k->intercept;
}

static void true_values(struct experiment *x)
{
    memcpy(x->theta, x->study->theta, sizeof x->theta);
    for (size_t e = 0; e < x->study->ngroup * x->k->nlinear; e++)
        x->lin[e] = is_offset(x, e) ? OFFSET : CONTRAST;
}

/* Parameter c of the study's normal prior around its true values; contrast and offset behind the nonlinear ones. */
static struct fit_posterior_param prior_around(const struct experiment *x, size_t c)
{
    const struct study *s = x->study;
    size_t np = x->k->nparam;
    if (c >= np)
        return (struct fit_posterior_param){NAN, NAN, FIT_PRIOR_NORMAL, is_offset(x, c - np) ? OFFSET : CONTRAST,
                                            is_offset(x, c - np) ? OFFSET_WIDTH : CONTRAST_WIDTH, 0, 0};
    return (struct fit_posterior_param){x->k->param[c].lower, x->upper[c], FIT_PRIOR_TRUNCATED_NORMAL, s->theta[c],
                                        s->width[c], s->fixed[c], s->theta[c]};
}

static void draw_true_values(struct experiment *x, uint64_t seed)
{
    struct fit_rng rng = {.seed = seed, .purpose = FIT_RNG_START};
    for (size_t c = 0; c < x->k->nparam + x->study->ngroup * x->k->nlinear; c++) {
        size_t np = x->k->nparam;
        struct fit_posterior_param p = prior_around(x, c < np ? c : np + (c - np) % x->k->nlinear);
        struct fit_prior prior;
        if (p.fixed)
            continue;
        if (!fit_prior_init(&prior, p.prior, p.a, p.b, p.lower, p.upper))
            exit(1);
        *(c < np ? &x->theta[c] : &x->lin[c - np]) = fit_prior_quantile(&prior, fit_rng_next_uniform(&rng));
    }
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
        memcpy(theta, x->theta, sizeof theta);
        theta[f0] = 0;
        theta[f3] = c ? 3 : -2; /* far enough from 1 and 0 for the model's smooth limits */
        double *mean = means(x, theta);
        without_linear(ng, n, mean);
        memcpy(x->part + c * ng * n * n, mean, ng * n * n * sizeof *mean);
        free(mean);
    }
    x->k->curves(&ds->layout, x->theta, value, NULL);
    const double *f = curve(x->k, value, n, "fraction"), *v = curve(x->k, value, n, "v");
    for (size_t i = 0; i < n; i++) {
        double r = 1 - f[i], norm = sqrt(r * r + f[i] * f[i]);
        sum += i ? 0.5 * DT * (v[i - 1] + v[i]) : 0;
        x->amplitude[i] = r / norm;
        x->amplitude[n + i] = f[i] / norm;
        for (size_t g = 0; g < ng; g++)
            x->phase[g * n + i] = Q * cos((phi[g] + x->theta[place(x->k, "phi0_het")]) * PI / 180) * sum;
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
    const struct fit_speckle_draw draw = {x->nparts, part, (size_t)x->study->speckles[x->level], 1, CONTRAST, 0,
                                          seed, g};
    if (fit_speckle_parts(n, &draw, matrix, &change, &err) != FIT_OK)
        stop("speckles", &err);
    if (change > 1e-3) {
        fprintf(stderr, "coverage: |g1| is no correlation function: changed by %g\n", change);
        exit(1);
    }
    for (size_t k = 0; k < n * n; k++)
        matrix[k] = OFFSET + CONTRAST * matrix[k];
}

/* ---- intervals ----------------------------------------------------------------------------------------- */

static struct fit_dataset *simulate(struct experiment *x, uint64_t number)
{
    size_t n = x->study->ntime;
    uint64_t seed = x->seed + 1000003 * number;
    struct fit_error err = {0};
    if (x->drawn) {
        draw_true_values(x, seed);
        free(x->clean);
        x->clean = means(x, x->theta);
    }
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

/* Flat between the bounds, contrast and offset as the model has them; or what true values were drawn from. */
static void set_params(const struct experiment *x, struct fit_posterior_param *param)
{
    const struct fit_kernel *k = x->k;
    for (size_t c = 0; c < k->nparam; c++)
        param[c] = (struct fit_posterior_param){
            .lower = k->param[c].lower,
            .upper = x->upper[c],
            .prior = FIT_PRIOR_NONE,
            .fixed = x->study->fixed[c],
            .value = x->theta[c],
        };
    for (size_t q = 0; q < k->nlinear; q++)
        param[k->nparam + q] = (struct fit_posterior_param){NAN, NAN, FIT_PRIOR_NORMAL, k->linear[q].prior_a,
                                                            k->linear[q].prior_b, 0, 0};
    for (size_t c = 0; x->drawn && c < k->nparam + k->nlinear; c++)
        param[c] = prior_around(x, c);
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

/* Part of the least-squares errors within an interval. */
static double spanned(double lower, double upper, double value, double std)
{
    return 0.5 * (erf((upper - value) / (std * sqrt(2))) - erf((lower - value) / (std * sqrt(2))));
}

/* What is expected for white noise at one true value. */
static void expect(struct tally *t, const struct fit_result *fit, size_t c, const struct fit_column_summary *s,
                   struct interval i, int drawn)
{
    double value = c < fit->nparam ? fit->theta[c] : fit->lin[c - fit->nparam], std = fit->std_curvature[c];
    int bound = !(std > 0) || drawn; /* on a bound: as if it were not shifted */
    t->expected68 += bound ? 0.68 : spanned(i.lower68, i.upper68, value, std);
    t->expected95 += bound ? 0.95 : spanned(i.lower95, i.upper95, value, std);
    t->shift += bound && !drawn ? 0 : (s->median - value) / s->c.sd;
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
        struct interval usual = quantiles(&s, s.x, c);
        if (!(s.column[c].sd_robust > 0)) {
            t->none++;
            continue;
        }
        count(t, c < np ? x->theta[c] : x->lin[c - np], usual, quantiles(&s, s.x_robust, c));
        expect(t, fit, c, &s.column[c], usual, x->drawn);
    }
    fit_samples_free(&s);
}

/* Where an interval stands for the error: that of the profile, as wide as the shared noise makes it (robust), and
 * without that (usual).  An end that the data do not set is far away.  0: there is none. */
static int profile(const struct fit_result *r, size_t k, double value, struct interval *usual, struct interval *robust)
{
    double lower[2], upper[2];
    const double wider = r->interval[k].wider > 0 ? r->interval[k].wider : 1;
    if (!isnan(r->std[k]) || fit_profile_interval(r, k, lower, upper) != FIT_INTERVAL_PROFILE)
        return 0;
    for (int i = 0; i < 2; i++) {
        lower[i] = isnan(lower[i]) ? r->lower[k] : lower[i];
        upper[i] = isnan(upper[i]) ? r->upper[k] : upper[i];
    }
    *robust = (struct interval){lower[0], upper[0], lower[1], upper[1]};
    *usual = (struct interval){value - (value - lower[0]) / wider, value + (upper[0] - value) / wider,
                               value - (value - lower[1]) / wider, value + (upper[1] - value) / wider};
    return 1;
}

static void run(struct experiment *x, uint64_t number, struct tally *tally)
{
    struct fit_dataset *ds = simulate(x, number);
    struct fit_options o;
    struct fit_result r;
    struct fit_error err = {0};
    fit_options_default(&o);
    o.start = x->theta;
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
        double value = k < np ? r.theta[k] : r.lin[k - np], truth = k < np ? x->theta[k] : x->lin[k - np];
        struct interval usual = normal(value, r.std[k]), robust = normal(value, r.std_robust[k]);
        if (profile(&r, k, value, &usual, &robust) || (r.std[k] > 0 && !isnan(r.std_robust[k]))) {
            count(t, truth, usual, robust);
            t->expected68 += 0.68;
            t->expected95 += 0.95;
        } else
            t->none += isnan(r.std[k]) || isnan(r.std_robust[k]) ? 1 : 0;
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
    to->expected68 += t->expected68;
    to->expected95 += t->expected95;
    to->shift += t->shift;
}

static double part(size_t a, const struct tally *t)
{
    return 100 * (double)a / (double)t->n;
}

static void print(const struct experiment *x, const char *name, const struct tally *t)
{
    double n = (double)t->n;
    printf("  %-20s usual %5.1f %5.1f", name, part(t->usual68, t), part(t->usual95, t));
    if (x->posterior && !x->speckle)
        printf(" (expected %4.1f %4.1f, shift %5.2f)", 100 * t->expected68 / n, 100 * t->expected95 / n, t->shift / n);
    printf("   robust %5.1f %5.1f   robust / usual %.2f", part(t->robust68, t), part(t->robust95, t),
           exp(t->wider / n));
    if (t->none)
        printf("   none given: %zu", t->none);
    printf("\n");
}

/* Parameters of one experiment are correlated: as if there were only one of each experiment. */
static int judge(const struct experiment *x, const struct tally *all, size_t experiments)
{
    double n = (double)experiments, room68 = 3 * 100 * sqrt(0.68 * 0.32 / n), room95 = 3 * 100 * sqrt(0.95 * 0.05 / n);
    /* so that no coverage comes from leaving out */
    if (20 * all->none > all->n)
        return 0;
    double u68 = part(all->usual68, all), u95 = part(all->usual95, all);
    double r68 = part(all->robust68, all), r95 = part(all->robust95, all);
    if (!x->speckle)
        return fabs(u68 - 100 * all->expected68 / (double)all->n) < room68 &&
               fabs(u95 - 100 * all->expected95 / (double)all->n) < room95;
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
           experiments,
           x->drawn       ? "posterior of true values drawn from its prior"
           : x->posterior ? "posterior at one true value"
                          : "least squares");
    for (size_t k = 0; k < x->k->nparam + x->k->nlinear; k++) {
        if (tally[k].n)
            print(x, name_of(x->k, k), &tally[k]);
        add(&all, &tally[k]);
    }
    print(x, "all", &all);
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
        if (strcmp(studies[k].name, argv[1]) == 0)
            x.study = &studies[k];
    x.speckle = argc > 2 && strcmp(argv[2], "speckle") == 0;
    x.drawn = argc > 5 && strcmp(argv[5], "drawn") == 0;
    x.posterior = x.drawn || (argc > 5 && strcmp(argv[5], "posterior") == 0);
    if (!x.study || experiments == 0 || (x.drawn && x.speckle)) {
        fprintf(stderr,
                "usage: coverage static|slow|laminar|heterodyne white|speckle [EXPERIMENTS [SEED [posterior|drawn]]]\n"
                "       drawn: white only\n");
        return 3;
    }
    x.k = e2e_kernel(x.study->model, "fast", NULL);
    if (!x.k)
        return 1;
    for (size_t c = 0; c < x.k->nparam; c++)
        x.upper[c] = x.k->param[c].lower > 0 ? 100 * x.k->param[c].upper : x.k->param[c].upper;
    true_values(&x);
    x.clean = means(&x, x.theta);
    components(&x);
    for (x.level = 0; x.level < LEVELS; x.level++)
        bad += !at_level(&x, experiments);
    free(x.phase);
    free(x.amplitude);
    free(x.part);
    free(x.clean);
    return bad ? 1 : 0;
}
