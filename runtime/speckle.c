/* speckle.c -- two-time correlation functions of finitely many speckles; see speckle.h.
 *
 * Fields are E = R z with R R^T = g1 from eigenvectors, z independent complex normal numbers. */
#include "speckle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg.h"
#include "rng.h"

struct work {
    double *root; /* n x n: V sqrt(w), column k of the k-th direction */
    double *vector, *value, *eigen;
    double *sum;       /* n x n: sum of I I^T, upper half */
    double *intensity; /* n: of a speckle; its sum behind */
    double *z; /* 2 n */
};

/* root <- a square root of g1 with unit diagonal; returns the largest change of |g1|^2, or -1. */
static double take_root(struct work *w, size_t n, const double *square)
{
    double change = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            w->vector[i * n + j] = w->vector[j * n + i] = i == j ? 1 : sqrt(fmax(square[i * n + j], 0));
    if (fit_eigen(n, w->vector, w->value, w->eigen))
        return -1;
    for (size_t i = 0; i < n; i++) {
        double norm = 0;
        for (size_t k = 0; k < n; k++) {
            w->root[i * n + k] = w->vector[k * n + i] * sqrt(fmax(w->value[k], 0));
            norm += w->root[i * n + k] * w->root[i * n + k];
        }
        for (size_t k = 0; k < n; k++)
            w->root[i * n + k] /= sqrt(norm);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            double g = 0;
            for (size_t k = 0; k < n; k++)
                g += w->root[i * n + k] * w->root[j * n + k];
            change = fmax(change, fabs(g * g - fmax(square[i * n + j], 0)));
        }
    return change;
}

static void add_speckle(struct work *w, size_t n, uint64_t seed, uint64_t stream, uint64_t index)
{
    for (size_t k = 0; k < n; k++)
        fit_rng_normal(seed, stream, index * n + k, w->z + 2 * k);
    for (size_t i = 0; i < n; i++) {
        double re = 0, im = 0;
        const double *row = w->root + i * n;
        for (size_t k = 0; k < n; k++) {
            re += row[k] * w->z[2 * k];
            im += row[k] * w->z[2 * k + 1];
        }
        w->intensity[i] = 0.5 * (re * re + im * im);
        w->intensity[n + i] += w->intensity[i];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            w->sum[i * n + j] += w->intensity[i] * w->intensity[j];
}

enum fit_status fit_speckle(size_t n, size_t speckles, uint64_t seed, uint64_t stream, double *square, double *change,
                            struct fit_error *err)
{
    size_t numbers = 3 * n * n + n + fit_eigen_work(n) + 4 * n;
    double *all = calloc(numbers + 1, sizeof *all), m = (double)speckles;
    if (!all)
        return fit_fail(err, FIT_ERR_MEMORY, "speckles: out of memory for %zu frames", n);
    struct work w = {.root = all, .vector = all + n * n, .sum = all + 2 * n * n, .value = all + 3 * n * n};
    w.intensity = w.value + n;
    w.z = w.intensity + 2 * n;
    w.eigen = w.z + 2 * n;
    *change = take_root(&w, n, square);
    for (uint64_t s = 0; *change >= 0 && s < speckles; s++)
        add_speckle(&w, n, seed, stream, s);
    for (size_t i = 0; *change >= 0 && i < n; i++)
        for (size_t j = i; j < n; j++)
            square[i * n + j] = m * w.sum[i * n + j] / (w.intensity[n + i] * w.intensity[n + j]) - 1;
    enum fit_status st = *change >= 0 ? FIT_OK
                                      : fit_fail(err, FIT_ERR_NUMERIC, "speckles: the correlation is not finite");
    free(all);
    return st;
}
