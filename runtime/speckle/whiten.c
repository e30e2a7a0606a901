/* whiten.c -- see whiten.h. */
#include "speckle/whiten.h"

#include <math.h>
#include <string.h>

#include "speckle/matrix.h"
#include "math/linalg.h"

static const double TOLERANCE = 1e-13;

size_t fit_whitener_room(size_t n)
{
    return 2 * n * n + n;
}

/* lower <- L^-1, upper <- L^-T of the factor L in Ct, a column of L^-1 at a time. */
static void invert(size_t n, const double *L, double *lower, double *upper)
{
    for (size_t k = 0; k < n; k++) {
        double *column = upper + k * n;
        memset(column, 0, n * sizeof *column);
        column[k] = 1;
        fit_lower_solve(n, L, column);
    }
    fit_matrix_transpose(n, upper, lower);
}

/* The factor of the free part of Ct^-1 o Ct^-1; room: n x n. */
static int factor_free(struct fit_whitener *w, double *room)
{
    const size_t n = w->n, m = w->nfree;
    fit_matrix_product(n, w->lower, w->lower, room);
    for (size_t a = 0; a < m; a++)
        for (size_t b = 0; b < m; b++) {
            const double c = room[w->free_[a] * n + w->free_[b]];
            w->factor[a * m + b] = c * c;
        }
    return m == 0 || fit_cholesky(m, w->factor, TOLERANCE) == 0;
}

int fit_whitener_new(size_t n, double *Ct, const unsigned char *measured, struct fit_whitener *w)
{
    *w = (struct fit_whitener){.n = n};
    FIT_TAKE_DOUBLES(&w->storage_, n * n, &w->lower, &w->upper, &w->factor);
    w->free_ = fit_take(&w->storage_, n, sizeof *w->free_);
    if (w->storage_.failed)
        return 0;
    for (size_t k = 0; k < n; k++)
        if (!measured[k])
            w->free_[w->nfree++] = k;
    if (fit_cholesky(n, Ct, TOLERANCE) != 0)
        return 0;
    invert(n, Ct, w->lower, w->upper);
    return factor_free(w, Ct);
}

void fit_whitener_free(struct fit_whitener *w)
{
    fit_arena_free(&w->storage_);
    *w = (struct fit_whitener){0};
}

double fit_whitener_log_determinant(const struct fit_whitener *w)
{
    double sum = 0, free_ = 0;
    for (size_t k = 0; k < w->n; k++)
        sum -= log(w->lower[k * (w->n + 1)]);
    for (size_t k = 0; k < w->nfree; k++)
        free_ += log(w->factor[k * (w->nfree + 1)]);
    return 2 * (double)(w->n + 1) * sum + 2 * free_;
}

/* X += L^-1 diag(d) L^-T with the d that makes the weights 0 at unmeasured elements. */
static void add_free(const struct fit_whitener *w, double *room, double *X)
{
    const size_t n = w->n, m = w->nfree;
    double *Z = room, *scaled = Z + n * n, *d = scaled + n * n;
    fit_matrix_product(n, X, w->lower, Z);
    fit_matrix_transpose(n, Z, scaled);
    for (size_t a = 0; a < m; a++)
        d[a] = -fit_matrix_dot(n, w->upper + w->free_[a] * n, scaled + w->free_[a] * n);
    fit_cholesky_solve(m, w->factor, d);
    memset(scaled, 0, n * n * sizeof *scaled);
    for (size_t a = 0; a < m; a++) {
        const size_t k = w->free_[a];
        for (size_t j = k; j < n; j++)
            scaled[k * n + j] = d[a] * w->upper[k * n + j];
    }
    fit_matrix_product(n, w->upper, scaled, Z);
    for (size_t k = 0; k < n * n; k++)
        X[k] += Z[k];
}

void fit_whiten(const struct fit_whitener *w, const double *R, double *room, double *X)
{
    const size_t n = w->n;
    double *T = room, *turned = T + n * n;
    fit_matrix_product(n, w->upper, R, T);
    fit_matrix_transpose(n, T, turned);
    fit_matrix_product(n, w->upper, turned, X);
    if (w->nfree)
        add_free(w, room, X);
}

void fit_whitened_weights(const struct fit_whitener *w, const double *X, double *room, double *W)
{
    const size_t n = w->n;
    fit_matrix_product(n, X, w->lower, room);
    fit_matrix_product(n, w->lower, room, W);
}
