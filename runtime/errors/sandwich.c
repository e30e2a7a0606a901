/* sandwich.c -- robust covariance from the scores; see sandwich.h.
 *
 * All computations use coordinates in which H is the unit matrix. With S, T, A and C of covariance.c
 *     W = [ S^-1/2  -S^-1/2 T^T ]     H^-1 = W^T W      H^-1 J H^-1 = W^T (W J W^T) W
 *         [   0        A^-1/2   ]
 * so that for independent noise W J W^T is the variance times the unit matrix, and directions that are not positive
 * definite are found, and repaired, independently of units.
 *
 * For clusters of m blocks of frames, C_cd the sum of scores of pairs between clusters c and d, S_c = sum_d C_cd:
 *     J = sum_c S_c S_c^T / (1 - 2/n)^2 - sum_{c<d} C_cd C_cd^T / (1 - 2/n^2)^2
 * counts every two pairs with a common cluster once. It is averaged over the position of the first cluster: scores h
 * blocks apart then have weight 1 - h/m (Bartlett). The fit absorbs a part of the errors of its data: each sum is
 * divided by the square of the remaining fraction, as in HC3 for rows, with the fraction 2/n of all pairs that involve
 * a cluster of n, and 2/n^2 that are between two of them. (One factor for both makes the difference too small with few
 * clusters, because the fit absorbs only the first sum; without the second sum pairs that are close in both frames
 * count twice, and errors are up to sqrt(2) too large where most noise is of this kind: tests/study/coverage.c.)
 *
 * J itself is estimated from only n clusters of each group. Divided by its root, an error is approximately
 * t-distributed with nu = groups (n - 1) degrees of freedom (Cameron & Miller, J. Human Resources 50 (2015) 317,
 * section VI); the covariance returned is that of this distribution, nu / (nu - 2) times the sandwich.
 */
#include "errors/sandwich.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/file_times.h"
#include "errors/speckle_errors.h"
#include "math/linalg.h"

static const double NULL_EIGENVALUE = 1e-12; /* as in covariance.c */
static const double LEAST_EIGENVALUE = 0.05; /* of J, by independent noise: below, it is not believed */
static const double SHARED = 1.25;            /* robust errors, over the usual ones, by chance at most */
static const double UNEVEN = 1.3;             /* variance by lag, of noise that is not the same everywhere */
/* Closed form: for fewer correlation times than this it needs so many independent pieces (speckles times correlation
 * times), so that noise is small and its effect linear. Measured: tests/study/coverage.c, slow. */
static const double FEWEST_TIMES = 3, FEWEST_PIECES = 1600;
enum { POSITIONS = 8, FEWEST_CLUSTERS = 8, FEWEST_FREEDOM = 3 };

struct work {
    const struct fit_sandwich_spec *s;
    const struct fit_objective *o;
    struct fit_scores scores;
    size_t n, m;       /* nparam + nu; rows of W */
    size_t mtheta;     /* of them, those of the nonlinear parameters */
    double *W;         /* m x n */
    double *J;         /* n x n */
    double *Jw;        /* m x m: W J W^T */
    double *D;         /* n x n: W^T W */
    double *V, *w, *d, *work;
    double *local;     /* P x P or n x n */
    double *cluster;   /* sums over clusters */
    double *joint;     /* scores of all groups together, over all unknowns */
    size_t length, nclusters;
    size_t wanted;     /* blocks of a cluster by the scores; 0: given */
    double tails; /* nu / (nu - 2) */
    double eta;
    int clipped;
    struct fit_arena storage;
};

static size_t block_size(const struct fit_objective *o, size_t k)
{
    return o->block_first[k + 1] - o->block_first[k];
}

static int is_free(const struct work *c, size_t k)
{
    const struct fit_sandwich_spec *s = c->s;
    return s->upper[k] > s->lower[k] && s->theta[k] > s->lower[k] && s->theta[k] < s->upper[k];
}

static int work_new(struct work *c)
{
    size_t n = c->n + 1, largest = c->scores.P > n ? c->scores.P : n;
    FIT_TAKE_DOUBLES(&c->storage, n * n, &c->W, &c->J, &c->Jw, &c->V, &c->D);
    FIT_TAKE_DOUBLES(&c->storage, n, &c->w, &c->d);
    FIT_TAKE_DOUBLES(&c->storage, fit_eigen_work(n) + n * n, &c->work);
    FIT_TAKE_DOUBLES(&c->storage, largest * largest, &c->local);
    return !c->storage.failed;
}

static void work_free(struct work *c)
{
    fit_scores_free(&c->scores);
    free(c->cluster);
    free(c->joint);
    fit_arena_free(&c->storage);
}

/* ---- the unit coordinates -------------------------------------------------------------------------------- */

/* Rows of W for one block of linear unknowns, L^-1 D^-1 with A = D L L^T D, and T = A^-1 C of its unknowns in
 * columns of T (n x nparam, at p + u). */
static int add_block(struct work *c, size_t block, double *T)
{
    const struct fit_objective *o = c->o;
    size_t size = block_size(o, block), p = o->nparam;
    FIT_SCRATCH(a);
    size_t *index = fit_take_unset(&a, size, sizeof *index);
    double *factor = fit_take_unset(&a, size * size, sizeof *factor), *d, *x;
    FIT_TAKE_DOUBLES(&a, size, &d, &x);
    if (a.failed)
        return 1;
    size_t free_ = fit_objective_factor(o, block, index, d, factor);
    for (size_t col = 0; col < free_; col++) {
        memset(x, 0, free_ * sizeof *x);
        x[col] = 1 / d[col];
        fit_lower_solve(free_, factor, x);
        for (size_t r = col; r < free_; r++)
            c->W[(c->m + r) * c->n + p + index[col]] = x[r];
    }
    for (size_t k = 0; k < p; k++) {
        for (size_t r = 0; r < free_; r++)
            x[r] = o->cross[index[r] * p + k] / d[r];
        fit_cholesky_solve(free_, factor, x);
        for (size_t r = 0; r < free_; r++)
            T[index[r] * p + k] = x[r] / d[r];
    }
    c->m += free_;
    return 0;
}

/* Rows of W for the nonlinear parameters: the determined directions of S. */
static int add_theta(struct work *c, const double *T)
{
    const struct fit_objective *o = c->o;
    FIT_SCRATCH(a);
    size_t p = o->nparam, f = 0, *free_ = fit_take(&a, p, sizeof *free_);
    if (!free_)
        return 1;
    for (size_t k = 0; k < p; k++)
        if (is_free(c, k))
            free_[f++] = k;
    for (size_t i = 0; i < f; i++)
        c->d[i] = c->s->B[free_[i] * (p + 1)] > 0 ? sqrt(c->s->B[free_[i] * (p + 1)]) : 1;
    for (size_t i = 0; i < f; i++)
        for (size_t j = 0; j < f; j++)
            c->V[i * f + j] = c->s->B[free_[i] * p + free_[j]] / (c->d[i] * c->d[j]);
    int bad = f && fit_eigen(f, c->V, c->w, c->work);
    for (size_t k = 0; k < f && !bad; k++) {
        if (!(c->w[k] > NULL_EIGENVALUE * c->w[f - 1]))
            continue;
        double *row = c->W + c->m++ * c->n;
        for (size_t i = 0; i < f; i++) {
            double v = c->V[k * f + i] / (c->d[i] * sqrt(c->w[k]));
            row[free_[i]] = v;
            for (size_t u = 0; u < o->nu; u++)
                row[p + u] -= v * T[u * p + free_[i]];
        }
    }
    c->mtheta = c->m;
    return bad;
}

static int unit_coordinates(struct work *c)
{
    const struct fit_objective *o = c->o;
    FIT_SCRATCH(a);
    double *T = fit_take(&a, o->nu * o->nparam, sizeof *T);
    int bad = !T;
    /* T first: the linear rows are built behind the others, then moved there */
    for (size_t k = 0; k < o->nblock && !bad; k++)
        bad = add_block(c, k, T);
    const size_t linear = c->m;
    double *rows = bad ? NULL : fit_take_copy(&a, c->W, linear * c->n, sizeof *rows);
    if (!rows)
        return 1;
    memset(c->W, 0, linear * c->n * sizeof *c->W);
    c->m = 0;
    bad = add_theta(c, T);
    memcpy(c->W + c->m * c->n, rows, linear * c->n * sizeof *rows);
    c->m += linear;
    return bad;
}

/* ---- J --------------------------------------------------------------------------------------------------- */

/* Index of element e of a score of group g among the unknowns, or -1; g = ngroup: scores over all unknowns. */
static long place(const struct fit_objective *o, size_t g, size_t e)
{
    return g == o->ngroup ? (long)e : fit_score_unknown(o, g, e);
}

static void scatter(struct work *c, size_t g, size_t P, const double *local, double weight)
{
    for (size_t a = 0; a < P; a++) {
        long u = place(c->o, g, a);
        for (size_t b = 0; u >= 0 && b < P; b++) {
            long v = place(c->o, g, b);
            if (v >= 0)
                c->J[(size_t)u * c->n + (size_t)v] += weight * local[a * P + b];
        }
    }
}

static void add_outer(double *J, size_t P, const double *x, double weight)
{
    for (size_t a = 0; a < P; a++)
        for (size_t b = 0; b <= a; b++)
            J[a * P + b] += weight * x[a] * x[b];
}

/* 1 / (1 - part)^2: the fit absorbs this fraction of the errors. */
static double followed(double part)
{
    return 1 / ((1 - part) * (1 - part));
}

/* Adds to local (P x P, lower half) the J of scores `sum` (blocks a <= b) for clusters of m blocks, the first of
 * which has m - offset. */
static void dyads(struct work *c, const double *sum, size_t P, size_t m, size_t offset)
{
    size_t nb = c->scores.nblock, nc = (nb + offset - 1) / m + 1;
    double *C = c->cluster, *S = C + nc * nc * P, n = (double)nb / (double)m;
    double clusters = followed(2 / n), between = followed(2 / (n * n));
    memset(C, 0, (nc * nc + nc) * P * sizeof *C);
    for (size_t a = 0; a < nb; a++)
        for (size_t b = a; b < nb; b++, sum += P) {
            double *to = C + ((a + offset) / m * nc + (b + offset) / m) * P;
            for (size_t k = 0; k < P; k++)
                to[k] += sum[k];
        }
    for (size_t x = 0; x < nc; x++)
        for (size_t y = x; y < nc; y++) {
            const double *from = C + (x * nc + y) * P;
            for (size_t k = 0; k < P; k++) {
                S[x * P + k] += from[k];
                S[y * P + k] += y > x ? from[k] : 0;
            }
            if (y > x)
                add_outer(c->local, P, from, -between);
        }
    for (size_t x = 0; x < nc; x++)
        add_outer(c->local, P, S + x * P, clusters);
}

static void dyads_everywhere(struct work *c, size_t g, const double *sum, size_t P, size_t m)
{
    size_t step = (m + POSITIONS - 1) / POSITIONS, count = 0;
    memset(c->local, 0, P * P * sizeof *c->local);
    for (size_t offset = 0; offset < m; offset += step, count++)
        dyads(c, sum, P, m, offset);
    for (size_t a = 0; a < P; a++)
        for (size_t b = 0; b < a; b++)
            c->local[b * P + a] = c->local[a * P + b];
    scatter(c, g, P, c->local, 1 / (double)count);
}

/* Scores of all groups as those of one, over all unknowns. */
static void join(struct work *c)
{
    const struct fit_scores *s = &c->scores;
    for (size_t g = 0; g < s->ngroup; g++) {
            for (size_t at = 0; at < s->nblock * (s->nblock + 1) / 2; at++) {
            const double *from = fit_scores_at(s, g, 0, 0) + at * s->P;
            for (size_t e = 0; e < s->P; e++)
                if (place(c->o, g, e) >= 0)
                    c->joint[at * c->n + (size_t)place(c->o, g, e)] += from[e];
        }
    }
}

/* ---- length of the clusters ------------------------------------------------------------------------------ */

/* Component k of the whitened score of the pairs of block a (all, or those with block a + 1 only). */
static double whitened(const struct work *c, size_t g, size_t k, const double *score)
{
    double t = 0;
    for (size_t e = 0; e < c->scores.P; e++)
        if (place(c->o, g, e) >= 0)
            t += c->W[k * c->n + (size_t)place(c->o, g, e)] * score[e];
    return t;
}

/* Sums over the blocks of all groups, for component k: products of successive blocks without the contribution of
 * pairs between them, and squares. */
static void correlate(const struct work *c, size_t k, const double *S, double *product, double *square)
{
    const struct fit_scores *s = &c->scores;
    *product = *square = 0;
    for (size_t g = 0; g < s->ngroup; g++) {
        double last = 0;
        for (size_t a = 0; a < s->nblock; a++) {
            double t = whitened(c, g, k, S + (g * s->nblock + a) * s->P);
            *square += t * t;
            if (a) {
                double common = whitened(c, g, k, fit_scores_at(s, g, a - 1, a));
                *product += t * last - common * common;
            }
            last = t;
        }
    }
}

/* Scores of the pairs of each block, of all groups: ngroup x nblock x P; NULL: out of memory. */
static double *block_scores(const struct fit_scores *s)
{
    size_t n = s->nblock;
    double *S = calloc(s->ngroup * n * s->P + 1, sizeof *S);
    for (size_t g = 0; S && g < s->ngroup; g++)
        for (size_t a = 0; a < n; a++)
            for (size_t b = a; b < n; b++)
                for (size_t e = 0; e < s->P; e++) {
                    double t = fit_scores_at(s, g, a, b)[e];
                    S[(g * n + a) * s->P + e] += t;
                    S[(g * n + b) * s->P + e] += b > a ? t : 0;
                }
    return S;
}

/* Blocks of a cluster: Andrews (1991), eqs. 6.2 and 6.4, with an AR(1) for each direction. */
static size_t choose_length(struct work *c)
{
    const struct fit_scores *s = &c->scores;
    size_t n = s->nblock, most = n / FEWEST_CLUSTERS > 1 ? n / FEWEST_CLUSTERS : 1;
    double *S = block_scores(s), up = 0, down = 0;
    double noise = 3 / sqrt((double)(n * s->ngroup));
    for (size_t k = 0; S && k < c->mtheta; k++) {
        double product, square;
        correlate(c, k, S, &product, &square);
        double r = square > 0 ? product / square : 0;
        r = r < noise ? 0 : r < 0.97 ? r : 0.97;
        double v = square * (1 - r * r), q = v * v / pow(1 - r, 4);
        up += 4 * r * r * v * v / (pow(1 - r, 6) * (1 + r) * (1 + r));
        down += q;
    }
    free(S);
    double length = down > 0 ? 1.1447 * cbrt(up / down * (double)n * (double)s->ngroup) : 1;
    size_t m = length < (double)most ? (size_t)ceil(length) : most; /* leaves n >= FEWEST_CLUSTERS */
    c->wanted = length < (double)n ? (size_t)ceil(length) : n;
    return m > 1 ? m : 1;
}

static int pairs_products(struct work *c)
{
    const struct fit_scores *s = &c->scores;
    size_t nb = s->nblock, P = c->s->joint ? c->n : s->P;
    size_t m = c->s->length ? (c->s->length + s->length - 1) / s->length : choose_length(c);
    size_t nc = (nb + m - 2) / m + 1;
    c->length = m * s->length;
    c->nclusters = ((nb + m - 1) / m) * (c->s->joint ? 1 : s->ngroup);
    double freedom = ((double)nb / (double)m - 1) * (double)(c->s->joint ? 1 : s->ngroup);
    c->tails = freedom > FEWEST_FREEDOM ? freedom / (freedom - 2) : FEWEST_FREEDOM / (FEWEST_FREEDOM - 2.0);
    c->cluster = malloc((nc * nc + nc) * P * sizeof *c->cluster);
    c->joint = c->s->joint ? calloc(nb * (nb + 1) / 2 * P, sizeof *c->joint) : NULL;
    if (!c->cluster || (c->s->joint && !c->joint))
        return 1;
    if (c->s->joint) {
        join(c);
        dyads_everywhere(c, s->ngroup, c->joint, P, m);
        return 0;
    }
    for (size_t g = 0; g < s->ngroup; g++)
        dyads_everywhere(c, g, fit_scores_at(s, g, 0, 0), P, m);
    return 0;
}

/* ---- the sandwich ---------------------------------------------------------------------------------------- */

/* out <- W x W^T for symmetric x of n, or W^T x W for x of m rows (transposed). */
static void congruence(struct work *c, const double *x, int transposed, double *out)
{
    size_t from = transposed ? c->m : c->n, to = transposed ? c->n : c->m;
    double *t = c->work; /* from x to */
    for (size_t i = 0; i < from; i++)
        for (size_t j = 0; j < to; j++) {
            double sum = 0;
            for (size_t k = 0; k < from; k++)
                sum += x[i * from + k] * (transposed ? c->W[k * c->n + j] : c->W[j * c->n + k]);
            t[i * to + j] = sum;
        }
    for (size_t i = 0; i < to; i++)
        for (size_t j = 0; j < to; j++) {
            double sum = 0;
            for (size_t k = 0; k < from; k++)
                sum += (transposed ? c->W[k * c->n + i] : c->W[i * c->n + k]) * t[k * to + j];
            out[i * to + j] = sum;
        }
}

/* Directions of the nonlinear parameters in which J is not positive definite get the value of independent noise. */
static int clip(struct work *c)
{
    size_t t = c->mtheta;
    for (size_t i = 0; i < t; i++)
        memcpy(c->V + i * t, c->Jw + i * c->m, t * sizeof *c->V);
    if (t == 0)
        return 0;
    if (fit_eigen(t, c->V, c->w, c->work))
        return 1;
    for (size_t k = 0; k < t && !(c->w[k] > LEAST_EIGENVALUE * c->s->variance); k++) {
        c->clipped = 1;
        for (size_t i = 0; i < t; i++)
            for (size_t j = 0; j < t; j++)
                c->Jw[i * c->m + j] += (c->s->variance - c->w[k]) * c->V[k * t + i] * c->V[k * t + j];
    }
    return 0;
}

static void fill(const struct work *c, const double *cov, enum fit_robust_kind kind, struct fit_result *res)
{
    size_t n = res->nfull, p = res->nparam;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            long u = a < p ? (long)a : c->o->map[a - p] < 0 ? -1 : (long)p + c->o->map[a - p];
            long v = b < p ? (long)b : c->o->map[b - p] < 0 ? -1 : (long)p + c->o->map[b - p];
            double usual = res->covariance[a * n + b];
            int none = isnan(usual) || res->std[a] == 0 || res->std[b] == 0; /* exactly: held */
            res->covariance_robust[a * n + b] = none || u < 0 || v < 0 ? usual : cov[(size_t)u * c->n + (size_t)v];
        }
    for (size_t a = 0; a < n; a++) {
        double v = res->covariance_robust[a * (n + 1)], usual = res->covariance[a * (n + 1)];
        if (a >= p && !(v > LEAST_EIGENVALUE * usual) && usual > 0) /* a linear one, of few clusters */
            res->covariance_robust[a * (n + 1)] = v = usual;
        res->std_robust[a] = sqrt(v);
    }
    res->robust = (struct fit_robust){.kind = kind,
                                      .length = c->length,
                                      .clusters = c->nclusters,
                                      .clipped = c->clipped,
                                      .eta = c->eta};
}

/* ---- the first frame ------------------------------------------------------------------------------------- */

/* Variance of whitened scores of blocks, all but the first: that of independent noise, or more.  Each pair is in two
 * blocks.  S: of block_scores(). */
static double variance_of_others(const struct work *c, const double *S)
{
    const struct fit_scores *s = &c->scores;
    double square = 0, n = (double)s->nblock;
    for (size_t k = 0; k < c->mtheta; k++)
        for (size_t g = 0; g < s->ngroup; g++)
            for (size_t a = 1; a < s->nblock; a++) {
                double t = whitened(c, g, k, S + (g * s->nblock + a) * s->P);
                square += t * t;
            }
    return c->mtheta && n > 1 ? fmax(square / (2 * (n - 1) / n * (double)c->mtheta), c->s->variance) : c->s->variance;
}

/* Shifts of the parameters and their errors, from x = (1 - W F W^T)^-1 W s and the factor M of 1 - W F W^T. */
static void tell_moves(const struct work *c, const double *M, const double *x, double variance, struct fit_result *res)
{
    for (size_t k = 0; k < res->nparam; k++) {
        double move = 0, with = 0, without = 0, *y = c->work;
        for (size_t r = 0; r < c->m; r++) {
            y[r] = c->W[r * c->n + k];
            move -= y[r] * x[r];
            with += y[r] * y[r];
        }
        fit_lower_solve(c->m, M, y);
        for (size_t r = 0; r < c->m; r++)
            without += y[r] * y[r];
        res->first_frame[k] = move / c->s->curve;
        res->first_frame_std[k] = sqrt(fmax(without - with, 0) * variance) / c->s->curve;
    }
}

/* Without the pairs of the first frame, of score s and F = J^T W J, the fit moves in the first step by
 *     -(H - F)^-1 s = -W^T (1 - W F W^T)^-1 W s      (Cook, Technometrics 19 (1977) 15, eq. 5)
 * which scatters about 0 with the covariance (H - F)^-1 - H^-1 for a true model (Hausman, Econometrica 46 (1978)
 * 1251, corollary 2.6), times the variance of the scores of the other frames. There is no result when these do not
 * determine the parameters. */
static int first_frame(struct work *c, struct fit_result *res)
{
    const struct fit_scores *s = &c->scores;
    double *M = c->Jw, *x = c->d, *score = c->w;
    if (!s->first)
        return 0;
    memset(score, 0, c->n * sizeof *score);
    for (size_t g = 0; g < s->ngroup; g++) {
        const double *first = s->first + g * fit_scores_first(s);
        for (size_t e = 0; e < s->P; e++)
            if (place(c->o, g, e) >= 0)
                score[place(c->o, g, e)] += first[e];
        scatter(c, g, s->P, first + s->P, 1);
    }
    congruence(c, c->J, 0, M);
    memset(c->J, 0, c->n * c->n * sizeof *c->J);
    for (size_t a = 0; a < c->m; a++)
        for (size_t b = 0; b < c->m; b++)
            M[a * c->m + b] = (a == b) - M[a * c->m + b];
    if (fit_cholesky(c->m, M, NULL_EIGENVALUE) != 0)
        return 0;
    double *S = block_scores(s), variance = S ? variance_of_others(c, S) : 0;
    free(S);
    if (!S)
        return 1;
    for (size_t k = 0; k < c->m; k++) {
        x[k] = 0;
        for (size_t u = 0; u < c->n; u++)
            x[k] += c->W[k * c->n + u] * score[u];
    }
    fit_cholesky_solve(c->m, M, x);
    tell_moves(c, M, x, variance, res);
    return 0;
}

static void rows_products(struct work *c)
{
    const struct fit_scores *s = &c->scores;
    for (size_t g = 0; g < s->ngroup; g++)
        scatter(c, g, s->P, s->product + g * s->P * s->P, 1);
}

/* The covariance from J; scale: by which that was too large. */
static int assemble(struct work *c, double scale, enum fit_robust_kind kind, struct fit_result *res)
{
    double trace = 0;
    for (size_t k = 0; k < c->n * c->n; k++)
        c->J[k] /= scale;
    congruence(c, c->J, 0, c->Jw);
    for (size_t k = 0; k < c->mtheta; k++)
        trace += c->Jw[k * (c->m + 1)];
    c->eta = trace > 0 ? (double)c->mtheta * c->s->variance / trace : NAN;
    if (clip(c))
        return 1;
    congruence(c, c->Jw, 1, c->J);
    for (size_t k = 0; k < c->n * c->n; k++)
        c->J[k] *= c->tails;
    fill(c, c->J, kind, res);
    return 0;
}

/* Non-finite scores, for example where a derivative overflows in a row: the fit has no robust errors. */
static int has_none(const struct work *c, struct fit_result *res)
{
    int finite = 1;
    for (size_t k = 0; k < c->n * c->n; k++)
        finite = finite && isfinite(c->J[k]);
    for (size_t k = 0; k < res->nfull && !finite; k++)
        res->std_robust[k] = NAN;
    for (size_t k = 0; k < res->nfull * res->nfull && !finite; k++)
        res->covariance_robust[k] = NAN;
    return !finite;
}

/* Withholds the robust errors. */
static void withhold(struct work *c, struct fit_result *res, const char *why)
{
    const size_t n = res->nfull;
    res->robust = (struct fit_robust){.kind = FIT_ROBUST_WITHHELD, .length = c->length,
                                      .clusters = c->nclusters, .eta = c->eta};
    snprintf(res->robust.reason, sizeof res->robust.reason, "%s", why);
    for (size_t a = 0; a < n; a++) {
        const int held = res->std[a] == 0;
        res->std_robust[a] = held ? 0 : NAN;
        for (size_t b = 0; b < n; b++)
            res->covariance_robust[a * n + b] = held || res->std[b] == 0 ? 0 : NAN;
    }
}

static int enough_clusters(const struct work *c)
{
    return c->wanted <= c->scores.nblock / FEWEST_CLUSTERS;
}

/* Errors by clusters, if there are enough of them. none: why no other errors are possible. */
static int by_clusters(struct work *c, struct fit_result *res, const char *none)
{
    char why[320];
    if (pairs_products(c) || assemble(c, c->s->curve * c->s->curve, FIT_ROBUST_FRAMES, res))
        return 1;
    if (enough_clusters(c))
        return 0;
    snprintf(why, sizeof why, "the data last for fewer than %d correlation times of the residuals%s%s", FEWEST_CLUSTERS,
             *none ? ", and " : "", none);
    withhold(c, res, why);
    return 0;
}

/* 1: the variance of residuals is the same at all lags. */
static int even_noise(const struct work *c)
{
    for (size_t g = 0; g < c->scores.ngroup; g++)
        for (size_t d = 0; d < FIT_RESIDUAL_DECILES; d++)
            if (fabs(log(c->scores.test[g].decile[d])) >
                log(UNEVEN) + 6 / sqrt((double)c->o->ds->npoint_group[g] / 100))
                return 0;
    return 1;
}

/* The closed form uses the fitted contrast and an estimated number of speckles, and is proportional to the square of
 * the former and the inverse of the latter. Its relative variance u over independent groups turns normal errors into
 * those of Student's t with 2/u degrees of freedom (Satterthwaite, Biometrics Bull. 2 (1946) 110). */
static double closed_tails(const struct work *c, const struct fit_result *res)
{
    const size_t q = (size_t)(c->o->kernel->intercept == 0), ng = c->o->ngroup;
    double u = 0;
    for (size_t g = 0; g < ng; g++) {
        const struct fit_speckle_noise *x = &res->speckle[g];
        const double r =
            c->o->nlinear == 2 && x->contrast > 0 ? res->std_robust[res->nparam + g * 2 + q] / x->contrast : 0;
        const double m = x->known == FIT_SPECKLE_BOTH ? x->count_std / x->count : 0;
        u += (r > 0 ? 4 * r * r : 0) + m * m;
    }
    const double freedom = fmax(2 * (double)(ng * ng) / u, FEWEST_FREEDOM);
    return isfinite(freedom) ? freedom / (freedom - 2) : 1;
}

/* Is the measurement too short for the linear closed form? A fraction of the light that outlasts it counts, however
 * small: as in a minimum where one of two components is static, so that it can fit the noise of the other. */
static int too_short(const struct work *c, const struct fit_result *res)
{
    double times = INFINITY, count = 0;
    for (size_t g = 0; g < c->o->ngroup; g++) {
        const struct fit_speckle_noise *x = &res->speckle[g];
        times = fmin(times, (double)(fit_dataset_group_frames(c->o->ds, g) - 1) / x->longest);
        count += x->known == FIT_SPECKLE_BOTH ? x->count : 0;
    }
    return times < FEWEST_TIMES && count * times < FEWEST_PIECES;
}

static void widen(struct fit_result *res, double tails)
{
    for (size_t k = 0; k < res->nfull; k++)
        res->std_robust[k] *= sqrt(tails);
    for (size_t k = 0; k < res->nfull * res->nfull; k++)
        res->covariance_robust[k] *= tails;
}

int fit_sandwich_shared(const struct fit_robust *r)
{
    return r->kind == FIT_ROBUST_SPECKLE ||
           (r->kind == FIT_ROBUST_FRAMES && r->eta > 0 && r->eta < 1 / (SHARED * SHARED));
}

/* Small differences of the cost decide between a value and its aliases, and noise that values share enlarges them by
 * factors that differ between minima, of which there are many. */
static void withhold_aliased(struct work *c, struct fit_result *res)
{
    char why[320];
    if (!c->s->aliased || !fit_sandwich_shared(&res->robust))
        return;
    snprintf(why, sizeof why, "at this %s the model turns back between one frame and the next, and under noise that "
                              "values share it cannot be told from other values that fit as well", c->s->aliased);
    withhold(c, res, why);
}

/* Independent noise of one variance: the scores have the curvature times that variance. */
static void white_errors(struct work *c, double variance, struct fit_result *res)
{
    memset(c->Jw, 0, c->m * c->m * sizeof *c->Jw);
    for (size_t k = 0; k < c->m; k++)
        c->Jw[k * (c->m + 1)] = variance;
    c->eta = c->s->variance / variance;
    congruence(c, c->Jw, 1, c->J);
    fill(c, c->J, FIT_ROBUST_WHITE, res);
}

/* Pairs: independent noise, speckles in closed form, or clusters. */
static int pairs_errors(struct work *c, const double *D, struct fit_result *res, struct fit_error *err)
{
    const int linear = c->s->loss.loss == FIT_LOSS_LINEAR, closed = c->scores.field != NULL;
    const double variance = c->s->variance * (res->noise == FIT_NOISE_RESIDUALS ? 1 : res->residual_variance);
    struct fit_speckle_spec spec = {.obj = c->s->obj, .scores = &c->scores, .D = D, .variance = variance,
                                    .linear = linear, .noise_model = c->s->noise_model};
    struct fit_speckle_errors e = {.why = ""};
    int bad = 0;
    if (closed && fit_speckle_errors(&spec, res, &e, err) != FIT_OK)
        return 1;
    c->length = c->s->length ? c->s->length : choose_length(c) * c->scores.length; /* of a bootstrap, too */
    const int misfit = res->speckle_test.p < FIT_SPECKLE_MISFIT;
    const int told = c->s->noise_model.kind == FIT_NOISE_KIND_WHITE; /* nothing else is wanted */
    const int speckle = e.verdict == FIT_SPECKLE_NOISE && !misfit;
    const int white = told || (e.verdict == FIT_SPECKLE_WHITE && linear && !misfit && even_noise(c));
    if (!c->s->joint && !c->s->length && white) {
        white_errors(c, variance, res);
    } else if (!c->s->joint && !c->s->length && speckle && (e.well || !enough_clusters(c))) {
        for (size_t g = 0; g < c->scores.ngroup; g++)
            scatter(c, g, c->scores.P, e.S + g * c->scores.P * c->scores.P, 1);
        bad = assemble(c, 1, FIT_ROBUST_SPECKLE, res);
        const double tails = bad ? 1 : closed_tails(c, res);
        widen(res, tails);
        if (!bad && too_short(c, res))
            withhold(c, res,
                     "the data last for fewer than three correlation times of some part of the model, of too few "
                     "speckles for errors that follow from a curvature");
        res->robust.closed = 1;
    } else {
        bad = by_clusters(c, res, misfit ? FIT_SPECKLE_NOT_THESE : e.why);
        res->robust.closed = !c->s->joint && !c->s->length && speckle;
    }
    res->robust.misfit = e.verdict == FIT_SPECKLE_NOISE && misfit;
    res->robust.not_closed = !closed || res->robust.closed ? NULL : misfit ? FIT_SPECKLE_NOT_THESE : e.why;
    if (!bad)
        withhold_aliased(c, res);
    free(e.S);
    return bad;
}

static int all_errors(struct work *c, struct fit_result *res, struct fit_error *err)
{
    memcpy(res->residual, c->scores.test, res->ngroup * sizeof *res->residual);
    res->misfit = c->scores.misfit;
    if (c->o->kernel->space == FIT_PAIRS)
        return pairs_errors(c, c->D, res, err);
    rows_products(c);
    return assemble(c, c->s->curve * c->s->curve, FIT_ROBUST_ROWS, res);
}

enum fit_status fit_sandwich(const struct fit_sandwich_spec *spec, struct fit_result *res, struct fit_error *err)
{
    struct work c = {.s = spec, .o = spec->obj, .tails = 1, .n = spec->obj->nparam + spec->obj->nu};
    enum fit_status st = FIT_OK;
    c.scores.P = spec->obj->nparam + spec->obj->nlinear;
    if (!work_new(&c) || unit_coordinates(&c)) {
        st = fit_fail(err, FIT_ERR_MEMORY, "fit: out of memory for the robust errors");
        goto done;
    }
    for (size_t i = 0; i < c.m; i++)
        for (size_t a = 0; a < c.n; a++)
            for (size_t b = 0; b < c.n; b++)
                c.D[a * c.n + b] += c.W[i * c.n + a] * c.W[i * c.n + b];
    if ((st = fit_scores_new(spec->obj, &spec->loss, c.D, fit_speckle_possible(spec->obj), &c.scores, err)) != FIT_OK)
        goto done;
    if ((first_frame(&c, res) || all_errors(&c, res, err)) && !has_none(&c, res))
        st = fit_fail(err, FIT_ERR_MEMORY, "fit: out of memory for the robust errors");
done:
    work_free(&c);
    return st;
}
