/* covariance.c -- covariance of weighted sums of two-time values; see noise.h.
 *
 * With symmetric matrices P, Q, half the weight of each pair, the terms of the covariance are
 *
 *     second moments   2 tr(Ct P Ct Q) = 2 tr(T U),  T = P Ct, U = Q Ct
 *     cycles 1, 2      2 b^3 2 tr(g P' g Q'),        P' = P o g  (o: elementwise)
 *     cycle 3          2 b^3 sum_st P_st w^T Q w,    w = g_s o g_t
 *     means            -e_q.d_p - e_p.d_q + e_p^T Ct e_q,   e_p = 2 rowsums(P o C), d_p = 2 b^2 diag(g P' g)
 *     photons          8 b^2 sum_s s2_s ((P' g) o Q') 1 + 2 sum_st s2_s s2_t (P o Q o C) - 2 sum_s s2_s e_p e_q
 *
 * so that two products of n x n matrices for each field suffice, and a part of one for fields that are mostly zero.
 * Cycle 3 would take n^4 steps: g is smooth, and frames are combined for it (`coarse`).
 */
#include "speckle/noise.h"

#include <string.h>

#include "speckle/matrix.h"

static const double SMALL = 1e-3; /* of w: cycle 3 leaves it out */

/* out[p][q] += factor tr(T_p T_q), p <= q; T: nfield matrices. */
static void add_traces(const struct fit_speckle_fields *f, const double *T, double factor, double *turned, double *out)
{
    const size_t nn = f->n * f->n, K = f->nfield;
    for (size_t q = 0; q < K; q++) {
        fit_matrix_transpose(f->n, T + q * nn, turned);
        for (size_t p = 0; p <= q; p++)
            out[p * K + q] += factor * fit_matrix_dot(nn, T + p * nn, turned);
    }
}

/* ---- the third cycle -------------------------------------------------------------------------------------- */

/* Combined frames: sums of the fields, mean of g. */
static void shrink(const struct fit_speckle_fields *f, size_t n, double *g, double *field)
{
    const size_t nn = n * n;
    memset(g, 0, nn * sizeof *g);
    memset(field, 0, f->nfield * nn * sizeof *field);
    for (size_t a = 0; a < f->n; a++)
        for (size_t b = 0; b < f->n; b++) {
            const size_t at = a / f->coarse * n + b / f->coarse;
            g[at] += f->g[a * f->n + b];
            for (size_t k = 0; k < f->nfield; k++)
                field[k * nn + at] += f->field[k * f->n * f->n + a * f->n + b];
        }
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            const size_t i = a + 1 < n ? f->coarse : f->n - a * f->coarse,
                         j = b + 1 < n ? f->coarse : f->n - b * f->coarse;
            g[a * n + b] /= (double)(i * j);
        }
}

/* w^T Q w over w[lo .. hi) */
static double form(size_t n, const double *Q, const double *w, size_t lo, size_t hi)
{
    double sum = 0;
    for (size_t u = lo; u < hi; u++)
        sum += w[u] * fit_matrix_dot(hi - lo, Q + u * n + lo, w + lo);
    return sum;
}

static void add_third(const struct fit_speckle_fields *f, double factor, double *room, double *out)
{
    const size_t K = f->nfield, n = (f->n + f->coarse - 1) / f->coarse, nn = n * n;
    double *g = room, *field = g + nn, *w = field + K * nn, *value = w + n;
    shrink(f, n, g, field);
    for (size_t s = 0; s < n; s++)
        for (size_t t = s; t < n; t++) {
            size_t lo = n, hi = 0;
            for (size_t u = 0; u < n; u++) {
                w[u] = g[s * n + u] * g[t * n + u];
                if (w[u] > SMALL) {
                    lo = u < lo ? u : lo;
                    hi = u + 1;
                }
            }
            if (lo >= hi)
                continue;
            for (size_t q = 0; q < K; q++)
                value[q] = (s == t ? 0.5 : 1) * factor * form(n, field + q * nn, w, lo, hi);
            for (size_t p = 0; p < K; p++) /* (s,t) and (t,s); symmetric in p and q but for rounding */
                for (size_t q = p; q < K; q++)
                    out[p * K + q] += field[p * nn + s * n + t] * value[q] + field[q * nn + s * n + t] * value[p];
        }
}

/* ---- all -------------------------------------------------------------------------------------------------- */

/* e_p of all fields */
static void row_sums(const struct fit_speckle_fields *f, double *e)
{
    const size_t n = f->n;
    for (size_t p = 0; p < f->nfield; p++)
        for (size_t i = 0; i < n; i++)
            e[p * n + i] = 2 * fit_matrix_dot(n, f->field + p * n * n + i * n, f->C + i * n);
}

static void add_means(const struct fit_speckle_fields *f, const double *Ct, const double *e, const double *d, double *y,
                      double *out)
{
    const size_t n = f->n, K = f->nfield;
    for (size_t q = 0; q < K; q++) {
        for (size_t i = 0; i < n; i++)
            y[i] = fit_matrix_dot(n, Ct + i * n, e + q * n);
        for (size_t p = 0; p <= q; p++)
            out[p * K + q] += fit_matrix_dot(n, e + p * n, y) - fit_matrix_dot(n, e + p * n, d + q * n) -
                              fit_matrix_dot(n, e + q * n, d + p * n);
    }
}

/* Contribution of a variance of photons proportional to the intensity. T: nfield products P' g; e: of add_means(). */
static void add_photons(const struct fit_speckle_fields *f, const double *T, const double *e, double *row, double *out)
{
    const size_t n = f->n, nn = n * n, K = f->nfield;
    const double factor = 8 * f->contrast * f->contrast;
    for (size_t q = 0; q < K; q++)
        for (size_t s = 0; s < n; s++) {
            const double *Q = f->field + q * nn + s * n, *C = f->C + s * n, *g = f->g + s * n;
            const double shot = f->shot[s];
            for (size_t p = 0; p <= q; p++) {
                const double *P = f->field + p * nn + s * n, *Tp = T + p * nn + s * n;
                for (size_t t = 0; t < n; t++)
                    row[t] = factor * Tp[t] * g[t] + 2 * f->shot[t] * P[t] * C[t];
                out[p * K + q] += shot * (fit_matrix_dot(n, row, Q) - 2 * e[p * n + s] * e[q * n + s]);
            }
        }
}

size_t fit_speckle_covariance_room(size_t n, size_t nfield)
{
    return (nfield + 3) * n * n + (2 * nfield + 2) * n + nfield;
}

void fit_speckle_covariance(const struct fit_speckle_fields *f, double *room, double *out)
{
    const size_t n = f->n, nn = n * n, K = f->nfield;
    const double b = f->contrast;
    double *T = room, *Ct = T + K * nn, *turned = Ct + nn, *e = turned + nn, *d = e + K * n, *y = d + K * n;
    memset(out, 0, K * K * sizeof *out);
    memcpy(Ct, f->C, nn * sizeof *Ct);
    for (size_t i = 0; i < n; i++)
        Ct[i * (n + 1)] += f->shot[i];
    for (size_t p = 0; p < K; p++)
        fit_matrix_product(n, f->field + p * nn, Ct, T + p * nn);
    add_traces(f, T, 2, turned, out);
    for (size_t p = 0; p < K; p++) {
        for (size_t k = 0; k < nn; k++)
            turned[k] = f->field[p * nn + k] * f->g[k];
        fit_matrix_product(n, turned, f->g, T + p * nn);
        fit_matrix_transpose(n, T + p * nn, turned);
        for (size_t i = 0; i < n; i++)
            d[p * n + i] = 2 * b * b * fit_matrix_dot(n, turned + i * n, f->g + i * n);
    }
    add_traces(f, T, 4 * b * b * b, turned, out);
    row_sums(f, e);
    add_means(f, Ct, e, d, y, out);
    add_photons(f, T, e, y, out);
    add_third(f, 2 * b * b * b, room, out);
    for (size_t p = 0; p < K; p++)
        for (size_t q = 0; q < p; q++)
            out[p * K + q] = out[q * K + p];
}
