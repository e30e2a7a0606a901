/* speckle_errors.c -- see speckle_errors.h.
 *
 * Scores are summed by blocks of frames, and the frames of a block are combined here: a block is a frame with the mean
 * correlation of its frames and a part of the shot noise. Where there are many more blocks than the parameters need,
 * several are combined into one (STEPS bounds the products of matrices). That is as good as the values themselves as
 * long as a block is shorter than the decay (RESOLVED). Errors need more (WELL): at 1.5 they are 4 % too small, and for
 * a component that decays within the block up to 10 %. The parameters of the noise are those of maximum likelihood
 * where the decay lasts for three blocks (speckle_numbers.h); with differences of neighbours (speckle/estimate.c) they
 * are two to five times as uncertain there, and the test of fit rejects twice as many true models. Up to TESTED the
 * covariance is too small by a quarter at most: not good enough for errors, which then come from clusters, but for a
 * test of fit that must not mistake everything for speckle noise.
 */
#include "errors/speckle_errors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/file_times.h"
#include "errors/speckle_kernel_impl.h"
#include "errors/speckle_numbers.h"
#include "speckle/blocks.h"
#include "machine/team.h"
#include "math/linalg.h"
#include "math/special.h"

enum {
    LAGS = 4,
    AGES = 3,
    BINS = LAGS * AGES,
    LEAST_BLOCKS = 64,
    WITHIN = 8,         /* frames of one block between which all correlations are looked at */
    GROUPS_APART = 24,  /* with more groups only their sums are tested */
    FEWEST_FRAMES = 12
};
static const double STEPS = 8e8;        /* multiplications */
static const double RESOLVED = 1.5, WELL = 2; /* blocks of a decay, at least; for errors */
static const double TESTED = 0.4;        /* the same, for the test of fit alone */
static const double MOST_SHOT = 5;      /* of the contrast, for the same: beyond it slow noise alone tells M, and that
                                           of a model that does not quite fit is not only noise */
static const double SHARED = 2.5;       /* standard deviations of what pairs with a frame in common share by chance */
static const double ALIKE = 0.01;       /* probability of what neighbours share by chance */
static const double NULL_EIGENVALUE = 1e-3;
static const double MOST_NUMBERS = 6e7; /* of fields */
static const double MOST_FREEDOM = 1e6;
static const double SHARE = 0.1;        /* of false alarms, for outliers */

struct job {
    const struct fit_speckle_spec *s;
    struct fit_objective *o;
    const struct fit_scores *scores;
    struct fit_result *res;
    struct fit_speckle_model model;
    size_t P, K;         /* fields: of the scores; with bins */
    size_t together, n;  /* blocks that make one, how many there are then */
    size_t frames;       /* of one */
    size_t first_lag[LAGS]; /* of each class, in blocks */
    double *cov;         /* ngroup x K x K */
    double *X, *B, *weight; /* ngroup x BINS x P, ngroup x BINS: bins with the fields, residuals, weights */
    struct fit_speckle_outliers *outliers; /* of each group, where its numbers are those of maximum likelihood */
    double **room;       /* of each thread */
    int nthread;
};

/* ---- which bin -------------------------------------------------------------------------------------------- */

/* First lags: 0, one block (or 3 frames), and two more by equal ratios. */
static void find_lags(struct job *x)
{
    const double least = x->frames > 2 ? 1 : 3.0 / (double)x->frames, n = (double)x->n;
    x->first_lag[0] = 0;
    for (size_t c = 1; c < LAGS; c++)
        x->first_lag[c] = (size_t)ceil(least * pow(n / least, (double)(c - 1) / LAGS * 1.1));
}

static size_t bin_of(const struct job *x, size_t a, size_t b)
{
    const size_t lag = b - a;
    size_t c = 0;
    while (c + 1 < LAGS && lag >= x->first_lag[c + 1])
        c++;
    return c * AGES + a * AGES / (x->n - lag);
}

/* ---- one group -------------------------------------------------------------------------------------------- */

/* score[P] <- the part of the values between blocks a and b that the fit absorbs: their scores, or their weights in
 * the efficient equations times the derivatives of these. */
static void scores_between(const struct job *x, size_t g, size_t a, size_t b, double *score)
{
    const size_t P = x->P;
    const struct fit_speckle_kernel *made = x->s->made;
    memcpy(score, fit_fields_at(x->scores, g, a, b), P * sizeof *score);
    if (!made)
        return;
    const struct fit_speckle_private *k = made->private_;
    memset(score, 0, P * sizeof *score);
    for (size_t row = 0; row < P; row++) {
        const double weight = k->weight[(g * P + row) * k->each + fit_speckle_row(k->n, a) + b - a];
        for (size_t e = 0; e < P; e++)
            score[e] += made->slope[(g * P + row) * P + e] * weight;
    }
}

/* Fields of the scores, then of the bins; sums over bins. */
static void fields_of(const struct job *x, size_t g, double *field)
{
    const struct fit_scores *s = x->scores;
    const size_t n = x->n, nn = n * n, one = x->P + 1, base = x->o->nparam + (size_t)x->o->kernel->intercept;
    double score[x->P + 1];
    memset(field, 0, x->K * nn * sizeof *field);
    for (size_t a = 0; a < s->nblock; a++)
        for (size_t b = a; b < s->nblock; b++) {
            const double *from = fit_fields_at(s, g, a, b);
            const size_t A = a / x->together, C = b / x->together, bin = bin_of(x, A, C);
            const double part = A == C ? 1 : 0.5;
            scores_between(x, g, a, b, score);
            for (size_t e = 0; e < one; e++) {
                const size_t k = e < x->P ? e : x->P + bin;
                const double v = part * (e < x->P ? score[e] : from[base]);
                field[k * nn + A * n + C] += v;
                if (A != C)
                    field[k * nn + C * n + A] += v;
            }
            for (size_t e = 0; e < x->P; e++)
                x->X[(g * BINS + bin) * x->P + e] += from[e];
            x->B[g * BINS + bin] += from[x->P];
            for (size_t e = 0; x->s->shift && e < x->P; e++)
                x->B[g * BINS + bin] -= x->s->shift[g * x->P + e] * from[e];
            x->weight[g * BINS + bin] += from[base];
        }
}

/* ---- the parameters of the noise -------------------------------------------------------------------------- */

/* Number of blocks of the scores combined into one there; 0: the decay of this group is too short, or nearly all
 * noise is shot noise. */
static size_t blocks_together(const struct job *x, size_t g)
{
    const struct fit_speckle_noise *noise = &x->res->speckle[g];
    if (noise->known != FIT_SPECKLE_BOTH || noise->shot > MOST_SHOT * noise->contrast)
        return 0;
    return fit_speckle_together(x->scores, noise);
}

static size_t numbers_room(const struct job *x)
{
    const size_t together = (x->scores->nblock + FIT_SPECKLE_NUMBERS - 1) / FIT_SPECKLE_NUMBERS;
    return fit_speckle_numbers_room(x->scores, together);
}

static void find_numbers(const struct job *x, size_t g, double *room)
{
    const size_t together = blocks_together(x, g), p = x->o->nparam, m = p + x->o->nu;
    double share[x->P + 1];
    if (together == 0 || x->o->ds->weighted)
        return;
    for (size_t e = 0; e < x->P; e++) {
        const long u = fit_score_unknown(x->o, g, e);
        const int is_free = u >= 0 && x->s->D[(size_t)u * (m + 1)] > 0;
        share[e] = !is_free ? 0 : e < p ? 1 / (double)x->o->ngroup : 1;
    }
    const struct fit_speckle_sums sums = {x->scores, p, (size_t)x->o->kernel->intercept, NULL, share, together};
    x->outliers[g] = fit_speckle_numbers(&x->model, g, &sums, &x->s->noise_model, room, &x->res->speckle[g]);
}

static size_t room_of(const struct job *x)
{
    const size_t all = (x->K + 2) * x->n * x->n + x->n + fit_speckle_covariance_room(x->n, x->K);
    return all > numbers_room(x) ? all : numbers_room(x);
}

static void take_group(void *user, size_t g, size_t thread)
{
    const struct job *x = user;
    const struct fit_speckle_noise *noise = &x->res->speckle[g];
    const size_t n = x->n, nn = n * n;
    find_numbers(x, g, x->room[thread]);
    double *field = x->room[thread], *C = field + x->K * nn, *root = C + nn, *shot = root + nn, *room = shot + n;
    const struct fit_speckle_blocks blocks = {&x->model, n, x->frames};
    const double count = fit_speckle_between(&blocks, g, noise, C, root, shot);
    fields_of(x, g, field);
    struct fit_speckle_fields f = {.n = n, .nfield = x->K, .C = C, .g = root, .contrast = noise->contrast, .shot = shot,
                                   .field = field, .coarse = fit_speckle_coarse(&blocks, noise)};
    double *out = x->cov + g * x->K * x->K;
    fit_speckle_covariance(&f, room, out);
    for (size_t k = 0; k < x->K * x->K; k++)
        out[k] /= count;
}

/* ---- the test of fit -------------------------------------------------------------------------------------- */

/* Sums of bins of groups: the same bin of all, and with few groups each lag of each. */
struct test {
    size_t n, unknowns;
    double *X, *XD, *SJ; /* n x unknowns: with the fields of the unknowns; times D; covariance with the scores */
    double *SB, *Q, *B;  /* n x n, n x n, n */
    double *SJJ;         /* unknowns x unknowns */
};

static size_t tests_of(const struct job *x)
{
    const size_t ng = x->o->ngroup;
    return BINS + (ng > 1 && ng <= GROUPS_APART ? ng * LAGS : 0);
}

/* Sums to which bin k of group g belongs; returns how many. */
static size_t belongs(const struct job *x, size_t g, size_t k, size_t to[2])
{
    to[0] = k;
    to[1] = BINS + g * LAGS + k / AGES;
    return tests_of(x) > BINS ? 2 : 1;
}

static void add_bin(const struct job *x, struct test *t, size_t g, size_t k)
{
    size_t to[2], other[2];
    const size_t many = belongs(x, g, k, to), K = x->K;
    const double *cov = x->cov + g * K * K + (x->P + k) * K;
    for (size_t m = 0; m < many; m++) {
        t->B[to[m]] += x->B[g * BINS + k];
        for (size_t e = 0; e < x->P; e++) {
            const long u = fit_score_unknown(x->o, g, e);
            if (u < 0)
                continue;
            t->X[to[m] * t->unknowns + (size_t)u] += x->X[(g * BINS + k) * x->P + e];
            t->SJ[to[m] * t->unknowns + (size_t)u] += cov[e];
        }
        for (size_t l = 0; l < BINS; l++)
            for (size_t r = 0, n = belongs(x, g, l, other); r < n; r++)
                t->SB[to[m] * t->n + other[r]] += cov[x->P + l];
    }
}

static void add_scores(const struct job *x, struct test *t, size_t g)
{
    const double *cov = x->cov + g * x->K * x->K;
    for (size_t a = 0; a < x->P; a++)
        for (size_t b = 0; b < x->P; b++) {
            const long u = fit_score_unknown(x->o, g, a), v = fit_score_unknown(x->o, g, b);
            if (u >= 0 && v >= 0)
                t->SJJ[(size_t)u * t->unknowns + (size_t)v] += cov[a * x->K + b];
        }
}

/* Q = SB - XD SJ^T - SJ XD^T + XD SJJ XD^T */
static void project(const struct job *x, struct test *t, double *y)
{
    const size_t n = t->n, m = t->unknowns;
    for (size_t k = 0; k < n; k++)
        for (size_t v = 0; v < m; v++) {
            double sum = 0;
            for (size_t u = 0; u < m; u++)
                sum += t->X[k * m + u] * x->s->D[u * m + v];
            t->XD[k * m + v] = sum;
        }
    for (size_t k = 0; k < n; k++) {
        for (size_t v = 0; v < m; v++) {
            y[v] = -t->SJ[k * m + v];
            for (size_t u = 0; u < m; u++)
                y[v] += t->XD[k * m + u] * t->SJJ[u * m + v];
        }
        for (size_t l = 0; l < n; l++) {
            double sum = t->SB[k * n + l];
            for (size_t v = 0; v < m; v++)
                sum += y[v] * t->XD[l * m + v] - t->XD[k * m + v] * t->SJ[l * m + v];
            t->Q[k * n + l] = sum;
        }
    }
}

/* Where the bin, or sum of bins, lies. */
static void place_of(const struct job *x, size_t k, struct fit_speckle_test *out)
{
    const int each = k >= BINS;
    const size_t lag = each ? (k - BINS) % LAGS : k / AGES, age = k % AGES;
    out->group = each ? (long)((k - BINS) / LAGS) : -1;
    const double span = fit_dataset_time_range(x->o->ds, out->group).span,
                 one = span / (double)(x->o->ds->layout.nframe - 1);
    out->lag[0] = one * fmax((double)(x->first_lag[lag] * x->frames), 1);
    out->lag[1] = lag + 1 < LAGS ? one * (double)(x->first_lag[lag + 1] * x->frames) : span;
    out->age[0] = each ? 0 : span * (double)age / AGES;
    out->age[1] = each ? span : span * (double)(age + 1) / AGES;
}

/* Fraction of the variance of the bins that is not shot noise alone: mean over all bins. */
static double shared_part(const struct job *x, const struct test *t)
{
    double sum = 0;
    for (size_t k = 0; k < BINS; k++) {
        double alone = 0;
        for (size_t g = 0; g < x->o->ngroup; g++)
            alone += pow(x->res->speckle[g].noise, 2) * fit_score_factor(x->o, g) * x->weight[g * BINS + k];
        const double all = t->SB[k * (t->n + 1)];
        sum += all > alone ? 1 - alone / all : 0;
    }
    return sum / BINS;
}

/* Degrees of freedom of the scale of Q, 2 over its relative variance (Satterthwaite, Biometrics Bull. 2 (1946) 110).
 * That is the variance of M for noise that pairs share; s2^2 / M, the independent noise of a pair, is known well
 * enough. An error of the contrast affects both numbers. */
static double freedom_of(const struct job *x, const struct test *t)
{
    const double n = (double)x->o->ngroup;
    double u = 0;
    for (size_t g = 0; g < x->o->ngroup; g++) {
        const struct fit_speckle_noise *noise = &x->res->speckle[g];
        const int both = noise->known == FIT_SPECKLE_BOTH && noise->count_std > 0;
        u += both ? pow(noise->count_std / noise->count, 2) : 0;
    }
    return 2 * n * n / (u * pow(shared_part(x, t), 2));
}

/* Outliers of a group decide where they are far less likely than the bins. That costs a true model SHARE of its
 * false alarms (weighted p-values: Genovese, Roeder & Wasserman, Biometrika 93 (2006) 509). */
static void take_outliers(const struct job *x, struct fit_speckle_test *out)
{
    const struct fit_layout *l = &x->o->ds->layout;
    for (size_t g = 0; g < x->o->ngroup; g++) {
        const struct fit_speckle_outliers *of = &x->outliers[g];
        const double p = of->p * (double)x->o->ngroup / SHARE;
        if (!(of->kurtosis > 0) || p >= 1 || p >= out->p)
            continue;
        out->p = p;
        out->kurtosis = of->kurtosis;
        out->expected = of->expected;
        out->near = fit_dataset_group_time(x->o->ds, g).time[l->frame[of->block]];
        out->of = g;
    }
}

/* Probability of a larger chi2: Fisher's F, chi2 where the scale is known. */
static double tail(double chi2, double rank, double freedom)
{
    return freedom < MOST_FREEDOM ? fit_beta_cdf(freedom / (freedom + chi2), freedom / 2, rank / 2)
                                  : fit_chi2_tail(chi2, rank);
}

/* chi2 of B under Q; work: fit_eigen_work(n) + 2 n. */
static void decide(const struct job *x, struct test *t, double *work, struct fit_speckle_test *out)
{
    const size_t n = t->n;
    double *w = work, *d = w + n, far = 0, chi2 = 0;
    size_t worst = 0, rank = 0;
    for (size_t k = 0; k < n; k++) {
        const double v = t->Q[k * (n + 1)];
        d[k] = v > NULL_EIGENVALUE * t->SB[k * (n + 1)] ? 1 / sqrt(v) : 0;
    }
    for (size_t k = 0; k < n; k++)
        for (size_t l = 0; l < n; l++)
            t->Q[k * n + l] *= d[k] * d[l];
    for (size_t k = 0; k < n; k++) {
        t->B[k] *= d[k];
        worst = fabs(t->B[k]) > fabs(far) ? k : worst;
        far = t->B[worst];
    }
    if (fit_eigen(n, t->Q, w, d + n) != 0)
        return;
    for (size_t k = 0; k < n; k++) {
        double z = 0;
        if (!(w[k] > NULL_EIGENVALUE * w[n - 1]))
            continue;
        for (size_t l = 0; l < n; l++)
            z += t->Q[k * n + l] * t->B[l];
        chi2 += z * z / w[k];
        rank++;
    }
    if (rank == 0 || !isfinite(chi2))
        return;
    out->p = tail(chi2, (double)rank, freedom_of(x, t));
    out->chi2 = chi2;
    out->rank = rank;
    out->z = far;
    place_of(x, worst, out);
}

static int test_fit(const struct job *x, struct fit_speckle_test *out)
{
    const size_t n = tests_of(x), m = x->o->nparam + x->o->nu;
    double *all = calloc(3 * n * m + 2 * n * n + n + m * m + m + 2 * n + fit_eigen_work(n) + 1, sizeof *all);
    if (!all)
        return 1;
    struct test t = {.n = n, .unknowns = m, .X = all};
    t.XD = t.X + n * m;
    t.SJ = t.XD + n * m;
    t.SB = t.SJ + n * m;
    t.Q = t.SB + n * n;
    t.B = t.Q + n * n;
    t.SJJ = t.B + n;
    double *y = t.SJJ + m * m;
    for (size_t g = 0; g < x->o->ngroup; g++) {
        add_scores(x, &t, g);
        for (size_t k = 0; k < BINS; k++)
            add_bin(x, &t, g, k);
    }
    project(x, &t, y);
    decide(x, &t, y + m, out);
    take_outliers(x, out);
    free(all);
    return 0;
}

/* ---- independent noise ------------------------------------------------------------------------------------- */

/* Covariances by sums over the values themselves, because blocks contain no finer information. That of the scores
 * with one another, variance times H, is known only for all groups together; it would restore half of what the
 * covariance with the bins removes, which is therefore halved. */
static void independent(struct job *x)
{
    const size_t P = x->P, K = x->K;
    for (size_t g = 0; g < x->o->ngroup; g++) {
        const double noise = x->res->speckle[g].noise;
        const double v = x->o->ds->weighted ? x->s->variance : noise * noise * fit_score_factor(x->o, g);
        double *cov = x->cov + g * K * K;
        for (size_t k = 0; k < BINS; k++) {
            cov[(P + k) * (K + 1)] = v * x->weight[g * BINS + k];
            for (size_t e = 0; e < P; e++)
                cov[(P + k) * K + e] = cov[e * K + P + k] = v / 2 * x->X[(g * BINS + k) * P + e];
        }
    }
}

/* ---- all groups ------------------------------------------------------------------------------------------- */

int fit_speckle_possible(const struct fit_objective *o)
{
    const struct fit_kernel *k = o->kernel;
    const double n = FIT_SCORE_BLOCKS;
    return k->space == FIT_PAIRS && k->intercept >= 0 && !k->density && o->ds->layout.nframe >= FEWEST_FRAMES &&
           (double)o->ngroup * n * n / 2 * (double)(k->nparam + k->nlinear) < MOST_NUMBERS;
}

/* Noise of all groups; FIT_SPECKLE_NONE: that of some group is unknown. */
static enum fit_speckle_verdict estimate(const struct job *x, const char **why)
{
    struct fit_speckle_noise *noise = x->res->speckle;
    double sum = 0, variance = 0;
    int both = 0, seen = 0;
    *why = "frames were divided by a monitor, and share more than speckles of frames divided by their own means";
    if (x->s->noise_model.kind == FIT_NOISE_KIND_MONITOR)
        return FIT_SPECKLE_NONE;
    *why = "the model is not a contrast times |g1|^2 on a baseline";
    for (size_t g = 0; g < x->o->ngroup; g++) {
        if (!fit_speckle_suits(&x->model, g, &noise[g], why))
            return FIT_SPECKLE_NONE;
        if (noise[g].contrast > 0)
            fit_speckle_sharing(&x->scores->moments[g], noise[g].frames, &sum, &variance);
        seen += noise[g].contrast > 0;
    }
    *why = "the model's contrast is not positive";
    if (seen == 0)
        return FIT_SPECKLE_NONE;
    const struct fit_noise_model *given = &x->s->noise_model;
    const int seen_shared = sum > SHARED * sqrt(variance) || x->scores->misfit.p_neighbours < ALIKE;
    const int shared = given->kind == FIT_NOISE_KIND_AUTO ? seen_shared : given->kind == FIT_NOISE_KIND_SPECKLE;
    for (size_t g = 0; g < x->o->ngroup; g++) {
        fit_speckle_estimate(&x->model, g, &x->scores->moments[g], shared && noise[g].contrast > 0,
                             given, &noise[g]);
        *why = "too few neighbouring values determine the number of speckles";
        if (noise[g].known == FIT_SPECKLE_UNKNOWN)
            return FIT_SPECKLE_NONE;
        both += noise[g].known == FIT_SPECKLE_BOTH;
    }
    return both ? FIT_SPECKLE_NOISE : FIT_SPECKLE_WHITE;
}

/* How many blocks are combined into one: as many as the work requires, while the decay of all groups stays resolved.
 * Returns the number of blocks in the shortest decay; INFINITY: a block is a frame. */
static double resolve(struct job *x)
{
    const struct fit_scores *s = x->scores;
    double least = INFINITY;
    for (size_t g = 0; g < x->o->ngroup; g++)
        least = fmin(least, x->res->speckle[g].known == FIT_SPECKLE_BOTH ? x->res->speckle[g].frames : INFINITY);
    const double most = fmax(cbrt(STEPS / ((double)x->o->ngroup * 2 * (double)(x->P + 1 + LAGS))), LEAST_BLOCKS);
    x->together = (size_t)ceil((double)s->nblock / most);
    while (x->together > 1 && least < 2 * RESOLVED * (double)(x->together * s->length))
        x->together--;
    x->frames = x->together * s->length;
    x->n = (s->nblock + x->together - 1) / x->together;
    find_lags(x);
    return x->frames == 1 ? INFINITY : least / (double)x->frames;
}

static int rooms_new(struct job *x, int threads)
{
    const size_t n = (size_t)threads < x->o->ngroup ? (size_t)threads : x->o->ngroup;
    x->nthread = (int)n;
    x->room = calloc(n, sizeof *x->room);
    for (size_t t = 0; x->room && t < n; t++)
        if (!(x->room[t] = malloc(room_of(x) * sizeof **x->room)))
            return 0;
    return x->room != NULL;
}

static void job_free(struct job *x)
{
    for (int t = 0; x->room && t < x->nthread; t++)
        free(x->room[t]);
    free(x->room);
    free(x->cov);
    free(x->X);
    free(x->B);
    free(x->weight);
    free(x->outliers);
}

static int job_new(struct job *x)
{
    const size_t ng = x->o->ngroup;
    x->cov = calloc(ng * x->K * x->K, sizeof *x->cov);
    x->X = calloc(ng * BINS * x->P + 1, sizeof *x->X);
    x->B = calloc(ng * BINS, sizeof *x->B);
    x->weight = calloc(ng * BINS, sizeof *x->weight);
    x->outliers = calloc(ng, sizeof *x->outliers);
    return x->cov && x->X && x->B && x->weight && x->outliers && rooms_new(x, fit_objective_threads(x->o));
}

static enum fit_status out_of_memory(struct fit_error *err)
{
    return fit_fail(err, FIT_ERR_MEMORY, "fit: out of memory for the covariance of speckle noise");
}

/* A verdict on noise whose correlation is not known well enough becomes that of coarse noise; 0: not even a test is
 * possible. */
static int check_resolved(struct job *x, struct fit_speckle_errors *out)
{
    const struct fit_objective *o = x->o;
    const double resolved = resolve(x);
    for (size_t g = 0; g < o->ngroup; g++) /* its correlation is unknown: errors are not those of this model */
        if (out->verdict == FIT_SPECKLE_NOISE && !(x->res->speckle[g].contrast > 0)) {
            out->verdict = FIT_SPECKLE_COARSE;
            out->why = "a contrast stands at 0";
        }
    if (resolved < RESOLVED && out->verdict == FIT_SPECKLE_NOISE) {
        out->verdict = FIT_SPECKLE_COARSE;
        out->why = "some decay within few of many frames";
    }
    out->well = resolved >= WELL;
    if (out->verdict == FIT_SPECKLE_COARSE && resolved < TESTED && x->frames > WITHIN)
        return 0;
    return 1;
}

enum fit_status fit_speckle_errors(const struct fit_speckle_spec *spec, struct fit_result *res,
                                   struct fit_speckle_errors *out, struct fit_error *err)
{
    struct fit_objective *o = spec->obj;
    const size_t P = o->nparam + o->nlinear;
    struct job x = {.s = spec, .o = o, .scores = spec->scores, .res = res, .P = P, .K = P + BINS,
                    .model = {o->kernel, &o->ds->layout, o->ws, o->lin}};
    enum fit_status st = FIT_OK;
    *out = (struct fit_speckle_errors){.why = ""};
    out->verdict = estimate(&x, &out->why);
    if (out->verdict == FIT_SPECKLE_NONE)
        return FIT_OK;
    if (!check_resolved(&x, out))
        return FIT_OK;
    if (!job_new(&x) || !(out->S = calloc(o->ngroup * P * P + 1, sizeof *out->S))) {
        st = out_of_memory(err);
        goto done;
    }
    if (out->verdict != FIT_SPECKLE_WHITE) {
        fit_team_run((struct fit_team){x.nthread, FIT_TEAM_NEXT}, o->ngroup, take_group, &x);
    } else {
        for (size_t g = 0; g < o->ngroup; g++)
            fields_of(&x, g, x.room[0]);
        independent(&x);
    }
    for (size_t g = 0; g < o->ngroup; g++)
        for (size_t a = 0; a < P; a++)
            for (size_t b = 0; b < P; b++)
                out->S[(g * P + a) * P + b] = x.cov[g * x.K * x.K + a * x.K + b];
    if (spec->linear && test_fit(&x, &res->speckle_test))
        st = out_of_memory(err);
done:
    job_free(&x);
    return st;
}
