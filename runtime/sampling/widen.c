/* widen.c -- draws for correlated noise.
 *
 * Draws take the errors of all values for independent; the least-squares fit knows how much wider its errors are when
 * they are not (sandwich.h).  The draws are stretched about their medians by as much, in all directions together,
 *
 *     x' = median + C (x - median),   C = P^1/2 T^1/2 P^-1/2,   T = 1 + D P^1/2 (M^-1 R M^-1 - M^-1) P^1/2 D
 *
 * with P the covariance of the draws, M and R those of the fit for independent and for correlated noise, of the
 * parameters for which its paraboloid has both.  M^-1 R M^-1 and M^-1 are covariances of scores, whether the cost is
 * that paraboloid as far as a standard error reaches or not (profile.h); only where other minima fit, to which draws
 * may belong that a stretch about the median would move, there is none.  D = 1 makes of P the sandwich P (M^-1 R M^-1 +
 * P^-1 - M^-1) P, in which the prior, P^-1 - M^-1, counts as it is: where P = M the result has covariance R, and where
 * the prior alone decides it is P. D = min(1, G^-1/2), G = P^1/2 M^-1 P^1/2, for directions in which the draws are
 * wider than the fit's errors: there data say less than M^-1 (affine adjustment: Ribatet, Cooley & Davison, Stat.
 * Sinica 22 (2012) 813).  Roots are the symmetric ones, in units of the deviations of the draws.
 */
#include "sampling/sampling_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/linalg.h"

static const double SMALLEST = 1e-12; /* eigenvalue of a correlation matrix, of the largest: below it is rounding */

struct stretch {
    size_t n, *column;    /* those that have both errors */
    double *C;            /* n x n, row by row, units of the parameters */
    double *room;
};

static size_t choose(const struct fit_samples *s, const struct fit_result *fit, size_t *column)
{
    size_t n = 0;
    for (size_t k = 0; k < s->ncolumn && k < fit->nfull; k++)
        if (!s->column[k].constant && s->column[k].c.sd > 0 && !fit->interval[k].several &&
            fit->paraboloid[k * (fit->nfull + 1)] > 0 && fit->paraboloid_robust[k * (fit->nfull + 1)] > 0)
            column[n++] = k;
    return n;
}

/* out <- f(a) of a symmetric matrix, by its eigenvalues; those below SMALLEST of the largest count as that.
 * 0: it has no eigenvalues, or none above 0. */
static int function_of(const struct stretch *x, const double *a, double f(double), double *out)
{
    size_t n = x->n;
    double *vector = x->room, *value = vector + n * n, *work = value + n;
    memcpy(vector, a, n * n * sizeof *vector);
    if (fit_eigen(n, vector, value, work) != 0 || !(value[n - 1] > 0))
        return 0;
    memset(out, 0, n * n * sizeof *out);
    for (size_t k = 0; k < n; k++) {
        double y = f(fmax(value[k], SMALLEST * value[n - 1]));
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                out[i * n + j] += y * vector[k * n + i] * vector[k * n + j];
    }
    return 1;
}

static double inverse(double x)
{
    return 1 / x;
}

static double inverse_root(double x)
{
    return 1 / sqrt(x);
}

static double damping(double g)
{
    return fmin(1, 1 / sqrt(g));
}

/* out <- a b; out is neither. */
static void multiply(size_t n, const double *a, const double *b, double *out)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            out[i * n + j] = 0;
            for (size_t k = 0; k < n; k++)
                out[i * n + j] += a[i * n + k] * b[k * n + j];
        }
}

/* The chosen block of a covariance (width x width) in units of the draws. */
static void block(const struct stretch *x, const struct fit_samples *s, const double *covariance, size_t width,
                  double *out)
{
    for (size_t i = 0; i < x->n; i++)
        for (size_t j = 0; j < x->n; j++)
            out[i * x->n + j] = covariance[x->column[i] * width + x->column[j]] /
                                (s->column[x->column[i]].c.sd * s->column[x->column[j]].c.sd);
}

/* room: 6 n^2.  0: a covariance is none. */
static int matrix_of(struct stretch *x, const struct fit_samples *s, const struct fit_result *fit, double *room)
{
    size_t n = x->n, nn = n * n;
    double *a = room, *b = a + nn, *root = b + nn, *W = root + nn, *G = W + nn, *T = G + nn;
    block(x, s, s->covariance, s->ncolumn, a);
    if (!function_of(x, a, sqrt, root))
        return 0;
    block(x, s, fit->paraboloid, fit->nfull, a);
    if (!function_of(x, a, inverse, b))
        return 0;
    multiply(n, root, b, W); /* P^1/2 M^-1 */
    multiply(n, W, root, G);
    block(x, s, fit->paraboloid_robust, fit->nfull, a);
    multiply(n, W, a, b);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            T[i * n + j] = -G[i * n + j];
            for (size_t k = 0; k < n; k++)
                T[i * n + j] += b[i * n + k] * W[j * n + k];
        }
    if (!function_of(x, G, damping, a))
        return 0;
    multiply(n, a, T, b);
    multiply(n, b, a, T);
    for (size_t i = 0; i < n; i++)
        T[i * n + i] += 1;
    block(x, s, s->covariance, s->ncolumn, b);
    if (!function_of(x, T, sqrt, a) || !function_of(x, b, inverse_root, G))
        return 0;
    multiply(n, root, a, W);
    multiply(n, W, G, x->C);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            x->C[i * n + j] *= s->column[x->column[i]].c.sd / s->column[x->column[j]].c.sd;
            if (!isfinite(x->C[i * n + j]))
                return 0;
        }
    return 1;
}

static void stretch_draws(struct fit_samples *s, const struct stretch *x)
{
    size_t rows = s->chains * s->draws, d = s->ncolumn;
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < x->n; i++) {
            double sum = s->column[x->column[i]].median;
            for (size_t j = 0; j < x->n; j++)
                sum += x->C[i * x->n + j] * (s->x[r * d + x->column[j]] - s->column[x->column[j]].median);
            s->x_robust[r * d + x->column[i]] = sum;
        }
}

/* C covariance C^T, and the column summaries. */
static enum fit_status summarise(struct fit_samples *s, const struct stretch *x, struct fit_error *err)
{
    size_t n = x->n, d = s->ncolumn;
    double *half = x->room;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            half[i * n + j] = 0;
            for (size_t k = 0; k < n; k++)
                half[i * n + j] += x->C[i * n + k] * s->covariance[x->column[k] * d + x->column[j]];
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t k = 0; k < n; k++)
                sum += half[i * n + k] * x->C[j * n + k];
            s->covariance_robust[x->column[i] * d + x->column[j]] = sum;
        }
    FIT_OWNED const double **chain = malloc(s->chains * sizeof *chain);
    enum fit_status st = chain ? FIT_OK : fit_no_memory(err, "posterior");
    for (size_t i = 0; st == FIT_OK && i < n; i++) {
        size_t column = x->column[i];
        struct fit_column_summary *c = &s->column[column];
        struct fit_draws draws = {s->chains, s->draws, chain, d};
        for (size_t k = 0; k < s->chains; k++)
            chain[k] = s->x_robust + k * s->draws * d + column;
        c->sd_robust = sqrt(s->covariance_robust[column * d + column]);
        st = fit_quantile(&draws, 0.025, &c->q025_robust, NULL, NULL, err);
        if (st == FIT_OK)
            st = fit_quantile(&draws, 0.975, &c->q975_robust, NULL, NULL, err);
    }
    return st;
}

/* Draws and covariance, without values yet; 0: out of memory. */
static int robust_room(struct fit_samples *s)
{
    const size_t d = s->ncolumn, rows = s->chains * s->draws;
    s->x_robust = fit_take(&s->storage_, rows * d, sizeof *s->x_robust);
    s->covariance_robust = fit_take(&s->storage_, d * d, sizeof *s->covariance_robust);
    if (s->storage_.failed)
        return 0;
    for (size_t k = 0; k < rows * d; k++)
        s->x_robust[k] = NAN;
    for (size_t k = 0; k < d * d; k++)
        s->covariance_robust[k] = NAN;
    return 1;
}

enum fit_status fit_samples_robust(struct fit_samples *s, const struct fit_result *fit, struct fit_error *err)
{
    const size_t d = s->ncolumn;
    for (size_t k = 0; k < d; k++)
        s->column[k].sd_robust = s->column[k].q025_robust = s->column[k].q975_robust = NAN;
    if (!fit || !fit_robust_given(&fit->robust))
        return FIT_OK;
    FIT_SCRATCH(a);
    struct stretch x = {.column = fit_take(&a, d, sizeof *x.column)};
    x.n = x.column ? choose(s, fit, x.column) : 0;
    x.C = fit_take(&a, x.n * x.n, sizeof *x.C);
    x.room = fit_take(&a, x.n * x.n + x.n + fit_eigen_work(x.n), sizeof *x.room);
    double *roots = fit_take(&a, 6 * x.n * x.n, sizeof *roots);
    if (a.failed)
        return fit_no_memory(err, "posterior");
    if (x.n == 0 || !matrix_of(&x, s, fit, roots))
        return FIT_OK;
    if (!robust_room(s))
        return fit_no_memory(err, "posterior");
    stretch_draws(s, &x);
    return summarise(s, &x, err);
}
