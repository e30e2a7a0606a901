/* sampling_robust.c -- draws for correlated noise.
 *
 * Draws take the errors of all values for independent; the least-squares fit knows how much wider its errors are when
 * they are not (sandwich.h).  The draws are stretched about their medians by as much, in all directions together,
 *
 *     x' = median + C (x - median),   C = R^1/2 M^-1/2,
 *
 * with M and R the covariances of the fit for independent and for correlated noise, of the parameters for which it has
 * both: what has covariance M gets covariance R (affine adjustment: Ribatet, Cooley & Davison, Stat. Sinica 22 (2012)
 * 813, with the sandwich as its target).  Roots are the symmetric ones, in units of the standard errors of M.
 */
#include "sampling_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg.h"

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
        if (!s->column[k].constant && fit->std[k] > 0 && fit->std_robust[k] > 0)
            column[n++] = k;
    return n;
}

/* out <- a^power for a covariance in units of `unit`; 0: it has no eigenvalues. */
static int root(const struct stretch *x, const double *covariance, size_t nfull, const double *unit, double power,
                double *out)
{
    size_t n = x->n;
    double *a = x->room, *value = a + n * n, *work = value + n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            a[i * n + j] = covariance[x->column[i] * nfull + x->column[j]] / (unit[x->column[i]] * unit[x->column[j]]);
    if (fit_eigen(n, a, value, work) != 0 || !(value[n - 1] > 0))
        return 0;
    memset(out, 0, n * n * sizeof *out);
    for (size_t k = 0; k < n; k++) {
        double p = pow(fmax(value[k], SMALLEST * value[n - 1]), power);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                out[i * n + j] += p * a[k * n + i] * a[k * n + j];
    }
    return 1;
}

static int matrix_of(struct stretch *x, const struct fit_result *fit, double *left, double *right)
{
    size_t n = x->n;
    if (!root(x, fit->covariance_robust, fit->nfull, fit->std, 0.5, left) ||
        !root(x, fit->covariance, fit->nfull, fit->std, -0.5, right))
        return 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t k = 0; k < n; k++)
                sum += left[i * n + k] * right[k * n + j];
            x->C[i * n + j] = sum * fit->std[x->column[i]] / fit->std[x->column[j]];
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
    const double **chain = malloc(s->chains * sizeof *chain);
    enum fit_status st = chain ? FIT_OK : fit_fail(err, FIT_ERR_MEMORY, "posterior: out of memory");
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
    free(chain);
    return st;
}

enum fit_status fit_samples_robust(struct fit_samples *s, const struct fit_result *fit, struct fit_error *err)
{
    size_t d = s->ncolumn, rows = s->chains * s->draws;
    for (size_t k = 0; k < d; k++)
        s->column[k].sd_robust = s->column[k].q025_robust = s->column[k].q975_robust = NAN;
    if (!fit || fit->robust.kind == FIT_ROBUST_NONE)
        return FIT_OK;
    struct stretch x = {.column = malloc((d + 1) * sizeof *x.column)};
    double *roots = NULL;
    enum fit_status st = FIT_ERR_MEMORY;
    if (!x.column)
        goto done;
    x.n = choose(s, fit, x.column);
    x.C = malloc((x.n * x.n + 1) * sizeof *x.C);
    x.room = malloc((x.n * x.n + x.n + fit_eigen_work(x.n) + 1) * sizeof *x.room);
    roots = malloc((2 * x.n * x.n + 1) * sizeof *roots);
    if (!x.C || !x.room || !roots)
        goto done;
    st = FIT_OK;
    if (x.n == 0 || !matrix_of(&x, fit, roots, roots + x.n * x.n))
        goto done;
    s->x_robust = malloc((rows * d + 1) * sizeof *s->x_robust);
    s->covariance_robust = malloc((d * d + 1) * sizeof *s->covariance_robust);
    if (!s->x_robust || !s->covariance_robust) {
        st = FIT_ERR_MEMORY;
        goto done;
    }
    for (size_t k = 0; k < rows * d; k++)
        s->x_robust[k] = NAN;
    for (size_t k = 0; k < d * d; k++)
        s->covariance_robust[k] = NAN;
    stretch_draws(s, &x);
    st = summarise(s, &x, err);
done:
    if (st == FIT_ERR_MEMORY)
        fit_fail(err, st, "posterior: out of memory");
    free(roots);
    free(x.room);
    free(x.C);
    free(x.column);
    return st;
}
